/* The lines between a sweep and its workers, both ways. A configuration that is accepted is written and read again:
 * the texts must be equal, as the text is what finds a stored result. A worker's reader, which keeps the study of the
 * text before, must take the same texts. */
#include "driver/study.h"
#include "driver/worker.h"
#include "fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

static void check_answer(const char *line, dse_arena *a)
{
    dse_error err = DSE_ERROR_INIT;
    store_row row = {0}, same = {0};
    bool read = fuzz_ok(drv_answer_read(line, a, &row, &err), &err);
    const char *blank = dse_arena_printf(a, " %s", line); /* this one is read as any JSON is */
    dse_status st = drv_answer_read(blank, a, &same, NULL);

    ENSURE(!read || (row.error && (!row.done || !row.error[0])));
    ENSURE((st == DSE_OK) == read);
    ENSURE(!read || (same.done == row.done && same.metrics.wall_time == row.metrics.wall_time));
}

static void check_config(const char *text, size_t n, dse_arena *a)
{
    dse_error err = DSE_ERROR_INIT;
    dse_strbuf first, second;
    strategy point = {0}, same = {0};
    drv_study study, again;
    dse_status st;

    if (!fuzz_ok(drv_study_read_config(text, n, a, &study, &point, &err), &err))
        return;
    ENSURE(point.dp && point.tp && point.sp && point.pp);
    fuzz_ok(drv_point_check(&study, &point, &err), &err);
    err = (dse_error)DSE_ERROR_INIT;
    dse_strbuf_init(&first);
    dse_strbuf_init(&second);
    drv_study_write_config(&study, &point, &first);
    st = drv_study_read_config(first.data, first.len, a, &again, &same, &err);
    ENSURE(fuzz_ok(st, &err));
    drv_study_write_config(&again, &same, &second);
    ENSURE(!strcmp(first.data, second.data));
    dse_strbuf_free(&first);
    dse_strbuf_free(&second);
}

/* The second time what is kept of the first is there. */
static void read_twice(const char *text, size_t n, dse_arena *a, dse_status expected,
                       const strategy *expected_point)
{
    drv_study_reader reader;
    strategy point = {0};
    drv_study study;

    drv_study_reader_init(&reader);
    for (int i = 0; i < 2; i++) {
        dse_status st = drv_study_reader_read(&reader, text, n, a, &study, &point, NULL);

        ENSURE(st == expected);
        ENSURE(st != DSE_OK || !memcmp(&point, expected_point, sizeof point));
    }
    drv_study_reader_free(&reader);
}

/* The text as a configuration, and the request that says the same; or the text as a request, which may be right or
 * wrong. */
static void check_reader(const char *text, size_t n, dse_arena *a)
{
    dse_error err = DSE_ERROR_INIT;
    dse_strbuf study_text, request;
    strategy point = {0};
    drv_study study;
    dse_status st = drv_study_read_config(text, n, a, &study, &point, &err);

    if (memchr(text, '\x1e', n)) {
        drv_study_reader reader;

        ENSURE(st != DSE_OK);
        drv_study_reader_init(&reader);
        fuzz_ok(drv_study_reader_read(&reader, text, n, a, &study, &point, &err), &err);
        drv_study_reader_free(&reader);
        return;
    }
    read_twice(text, n, a, st, &point);
    if (st != DSE_OK)
        return;
    dse_strbuf_init(&study_text);
    dse_strbuf_init(&request);
    drv_study_write_config(&study, NULL, &study_text);
    drv_study_write_request(&study_text, &point, &request);
    read_twice(request.data, request.len, a, DSE_OK, &point);
    dse_strbuf_free(&study_text);
    dse_strbuf_free(&request);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    dse_arena arena;
    char *line;

    if (size > FUZZ_MAX_BYTES)
        return 0;
    dse_arena_init(&arena);
    line = fuzz_string(data, size);
    check_answer(line, &arena);
    check_config((const char *)data, size, &arena);
    check_reader((const char *)data, size, &arena);
    free(line);
    dse_arena_free(&arena);
    return 0;
}
