/* run_step FOLDER: the collectives of every recorded step of the reference, as files of JSON lines in FOLDER.
 * Each list must be equal, in order. Steps of models with experts are skipped and counted.
 * Exit code 0: all agree; 1: some differ; 77: the folder is not there. */
#include "step/cases.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <zlib.h>

typedef struct {
    const char *file;
    case_state (*read)(step_case *c);
} source;

static const source sources[] = {
    {"megatron_step.jsonl.gz", read_megatron},
    {"fsdp2_step.jsonl.gz", read_fsdp2},
    {"ddp_and_dtensor_tp.jsonl.gz", read_ddp_or_dtensor},
    {"cp_ring.jsonl.gz", read_ring},
};

/* One entry as a line: phase, operation, bytes in and out, element type, group size, times. */
static void add_seen(const step_entry *e, const step_case *c, uint32_t step, dse_strbuf *out)
{
    if (c->n_steps > 1)
        dse_strbuf_addf(out, "it%u.", step);
    step_phase_name(e, out);
    dse_strbuf_addf(out, " %s %llu %llu %s %u x %llu\n", step_call_name(&e->call),
                    (unsigned long long)e->call.in_bytes, (unsigned long long)e->call.out_bytes,
                    step_element_name(&e->call), e->group_size, (unsigned long long)e->times);
}

static void add_recorded(const json_t *log, dse_strbuf *out)
{
    const json_t *e;
    size_t i;

    json_array_foreach(log, i, e) dse_strbuf_addf(
        out, "%s %s %lld %lld %s %lld x %lld\n", json_string_value(json_object_get(e, "phase")),
        json_string_value(json_object_get(e, "op")),
        (long long)json_integer_value(json_object_get(e, "in_bytes")),
        (long long)json_integer_value(json_object_get(e, "out_bytes")),
        json_string_value(json_object_get(e, "dtype")),
        (long long)json_integer_value(json_object_get(e, "group")),
        (long long)json_integer_value(json_object_get(e, "times")));
}

/* The line in which two texts first differ. */
static void print_difference(const char *id, const char *seen, const char *recorded)
{
    unsigned line = 1;

    while (*seen && *recorded) {
        size_t n = strcspn(seen, "\n"), m = strcspn(recorded, "\n");

        if (n != m || strncmp(seen, recorded, n) != 0)
            break;
        seen += n + 1;
        recorded += m + 1;
        line++;
    }
    printf("%s: entry %u is '%.*s', recorded '%.*s'\n", id, line, (int)strcspn(seen, "\n"), seen,
           (int)strcspn(recorded, "\n"), recorded);
}

static bool check_list(step_case *c)
{
    dse_strbuf seen, recorded;
    bool agree;

    dse_strbuf_init(&seen);
    dse_strbuf_init(&recorded);
    for (uint32_t step = 0; step < c->n_steps; step++) {
        step_list list;

        if (c->n_steps > 1)
            c->of.step = step;
        step_list_make(&c->model, &c->options, &c->plan, &c->of, &list);
        for (size_t i = 0; i < list.n; i++)
            add_seen(&list.entry[i], c, step, &seen);
        step_list_free(&list);
    }
    add_recorded(json_object_get(c->row, "log"), &recorded);
    agree = strcmp(seen.data, recorded.data) == 0;
    if (!agree)
        print_difference(c->id, seen.data, recorded.data);
    dse_strbuf_free(&seen);
    dse_strbuf_free(&recorded);
    return agree;
}

/* A line of any length; false at the end. */
static bool read_line(gzFile f, dse_strbuf *line)
{
    char part[65536];

    dse_strbuf_clear(line);
    while (gzgets(f, part, sizeof part)) {
        dse_strbuf_adds(line, part);
        if (line->data[line->len - 1] == '\n')
            return true;
    }
    return line->len > 0;
}

static case_state check_row(const source *s, const char *text, dse_arena *a)
{
    json_error_t error;
    json_t *row = json_loads(text, 0, &error);
    step_case c = {.row = row, .arena = a, .n_steps = 1};
    case_state state;

    if (!row) {
        printf("%s: %s\n", s->file, error.text);
        return CASE_FAILED;
    }
    c.id = json_string_value(json_object_get(row, "id"));
    state = s->read(&c);
    if (state == CASE_READY && !check_list(&c))
        state = CASE_FAILED;
    json_decref(row);
    return state;
}

static bool check_file(const char *folder, const source *s)
{
    size_t n[CASE_FAILED + 1] = {0};
    char path[4096];
    dse_arena arena;
    dse_strbuf line;
    gzFile f;

    snprintf(path, sizeof path, "%s/%s", folder, s->file);
    if (!(f = gzopen(path, "rb"))) {
        printf("%s: cannot be opened\n", path);
        return false;
    }
    dse_strbuf_init(&line);
    dse_arena_init(&arena);
    while (read_line(f, &line)) {
        n[check_row(s, line.data, &arena)]++;
        dse_arena_reset(&arena);
    }
    gzclose(f);
    dse_arena_free(&arena);
    dse_strbuf_free(&line);
    printf("%s: %zu steps agree, %zu differ, %zu with experts are skipped\n", s->file, n[CASE_READY],
           n[CASE_FAILED], n[CASE_SKIPPED]);
    return n[CASE_READY] && !n[CASE_FAILED];
}

int main(int argc, char **argv)
{
    bool agree = true;

    if (argc != 2)
        return 2;
    if (access(argv[1], R_OK) != 0) {
        printf("there is no reference of recorded steps at '%s'\n", argv[1]);
        return 77;
    }
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++)
        if (!check_file(argv[1], &sources[i]))
            agree = false;
    return !agree;
}
