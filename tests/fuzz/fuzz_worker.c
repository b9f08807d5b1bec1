/* What a worker reads: requests, one a line, if all that are right are small. Each line has one answer, which the other side
 * takes, and the answers do not depend on the requests before: in the other order they are the same. */
#include "driver/study.h"
#include "driver/worker.h"
#include "fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

#define MOST_LINES 8

typedef struct {
    char *text; /* what was answered */
    size_t n;
} said;

/* Whether a point is simulated at once: a fuzzer would find what takes long. */
static bool is_small(const drv_study *s)
{
    return card_system_npus(&s->system) <= 16 && s->model.layers <= 4 && s->model.batch <= 64 &&
           s->model.sequence <= 4096 && s->model.experts <= 16 && s->system.splits <= 64;
}

static bool are_small(const char *const *line, const size_t *length, size_t n, dse_arena *a)
{
    drv_study_reader reader;
    bool small = true;

    drv_study_reader_init(&reader);
    for (size_t i = 0; small && i < n; i++) {
        strategy point;
        drv_study study;

        if (drv_study_reader_read(&reader, line[i], length[i], a, &study, &point, NULL) == DSE_OK)
            small = is_small(&study);
    }
    drv_study_reader_free(&reader);
    return small;
}

/* The answers, one after the other. */
static said serve(char *text, size_t n)
{
    dse_error err = DSE_ERROR_INIT;
    const sim_shortcuts shortcuts = {.symmetry = true, .memo = true, .max_bytes = 64u << 20};
    said s = {0};
    FILE *in = fmemopen(text, n, "r"), *out = open_memstream(&s.text, &s.n);

    ENSURE(in && out);
    ENSURE(fuzz_ok(drv_worker_serve(in, out, shortcuts, &err), &err));
    ENSURE(!fclose(in) && !fclose(out));
    return s;
}

static size_t split(char *text, size_t n, const char **line, size_t *length)
{
    size_t n_lines = 0;

    while (n && n_lines <= MOST_LINES) {
        char *end = memchr(text, '\n', n);
        size_t k = end ? (size_t)(end - text) : n;

        line[n_lines] = text;
        length[n_lines++] = k;
        n -= end ? k + 1 : k;
        text += k + 1;
    }
    return n_lines;
}

/* An answer but for the time that it took. */
static const char *timeless(const char *answer) { return strchr(answer, ','); }

/* Each line by itself is answered as among the others. */
static void check_alone(char *line, size_t n, const char *answer, dse_arena *a)
{
    said alone = serve(line, n);
    store_row row = {0};
    dse_error err = DSE_ERROR_INIT;

    ENSURE(alone.n && alone.text[alone.n - 1] == '\n' &&
           strchr(alone.text, '\n') == alone.text + alone.n - 1);
    alone.text[alone.n - 1] = '\0';
    ENSURE(fuzz_ok(drv_answer_read(alone.text, a, &row, &err), &err));
    ENSURE(timeless(alone.text) && timeless(answer) && !strcmp(timeless(alone.text), timeless(answer)));
    free(alone.text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *line[MOST_LINES + 1];
    size_t length[MOST_LINES + 1], n;
    dse_arena arena;
    char *text;

    if (!size || size > FUZZ_MAX_BYTES)
        return 0;
    text = fuzz_string(data, size);
    n = split(text, size, line, length);
    dse_arena_init(&arena);
    if (n <= MOST_LINES && are_small(line, length, n, &arena)) {
        said all = serve(text, size);
        char *at = all.text;

        for (size_t i = 0; i < n; i++) {
            char *end = strchr(at, '\n');

            ENSURE(end);
            *end = '\0';
            if (length[i])
                check_alone(text + (line[i] - text), length[i], at, &arena);
            at = end + 1;
        }
        ENSURE(!*at);
        free(all.text);
    }
    free(text);
    dse_arena_free(&arena);
    return 0;
}
