/* run_step FOLDER: the collectives of every recorded step of the reference, as files of JSON lines in
 * FOLDER/comm: each list must be equal, in order. Where a random router decided how many tokens came to a
 * rank, that number is read off the first exchange of each layer, and must explain all other sizes of it. And
 * the messages of the pipelines in FOLDER/schedules/megatron.jsonl.gz. Exit code 0: all agree; 1: some
 * differ; 77: the folder is not there. */
#include "step/cases.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <zlib.h>

typedef struct {
    const char *file;
    case_state (*read)(step_case *c);  /* the case, to list its collectives; or */
    case_state (*check)(step_case *c); /* checks it by other means */
    const char *skipped;               /* what the cases that are skipped have */
} source;

static const source sources[] = {
    {"comm/megatron_step.jsonl.gz", read_megatron, NULL, "experts"},
    {"comm/fsdp2_step.jsonl.gz", read_fsdp2, NULL, "experts"},
    {"comm/ddp_and_dtensor_tp.jsonl.gz", read_ddp_or_dtensor, NULL, "experts"},
    {"comm/cp_ring.jsonl.gz", read_ring, NULL, "experts"},
    {"schedules/megatron.jsonl.gz", NULL, check_passes, "refusals, no actions, or messages under way"},
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

static void add_entry(const json_t *e, dse_strbuf *out)
{
    dse_strbuf_addf(out, "%s %s %lld %lld %s %lld x %lld\n", json_string_value(json_object_get(e, "phase")),
                    json_string_value(json_object_get(e, "op")),
                    (long long)json_integer_value(json_object_get(e, "in_bytes")),
                    (long long)json_integer_value(json_object_get(e, "out_bytes")),
                    json_string_value(json_object_get(e, "dtype")),
                    (long long)json_integer_value(json_object_get(e, "group")),
                    (long long)json_integer_value(json_object_get(e, "times")));
}

static void add_recorded(const json_t *log, dse_strbuf *out)
{
    const json_t *e;
    size_t i;

    json_array_foreach(log, i, e) add_entry(e, out);
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

/* ---- sizes that routing decides ------------------------------------------------------------------ */

/* The n-th such size of a list is that of a layer: all passes of a layer have as many. */
typedef struct {
    const step_case *case_of;
    json_int_t *received; /* of each layer of the last forward pass: its tokens, 0: none known */
    uint32_t n_forward, n_backward, of_forward, of_backward; /* sizes seen, and those of a layer */
    bool is_backward;
} routing;

static bool is_routed(const step_collective *c) { return c->in_is_routed || c->out_is_routed; }

/* Sizes of a layer in each direction; with recomputation the backward pass has both. */
static void count_sizes(const step_list *list, uint32_t n_layers, routing *r)
{
    uint32_t n[2] = {0};

    for (size_t i = 0; i < list->n && !(n[1] && list->entry[i].phase == STEP_PHASE_FORWARD); i++)
        if (is_routed(&list->entry[i].call))
            n[list->entry[i].phase == STEP_PHASE_BACKWARD] += (uint32_t)list->entry[i].times;
    r->of_forward = n[0] / n_layers;
    r->of_backward = n[1] / n_layers;
}

/* The layer whose size comes next. */
static uint32_t next_layer(routing *r, bool is_backward)
{
    const uint32_t n_layers = r->case_of->model.n_layers;

    if (is_backward != r->is_backward)
        r->n_forward = r->n_backward = 0;
    r->is_backward = is_backward;
    return is_backward ? n_layers - 1 - r->n_backward++ / r->of_backward : r->n_forward++ / r->of_forward;
}

/* Of even sizes `even` the recorded ones must be those of so many tokens, which the first of a layer says. */
static bool is_explained(routing *r, uint32_t layer, bool is_first, uint64_t even, json_int_t recorded)
{
    const uint64_t tokens =
        r->case_of->options.micro_batch * r->case_of->model.sequence / r->case_of->options.tp;
    const json_int_t mean = (json_int_t)tokens * r->received[r->case_of->model.n_layers];

    if (is_first)
        r->received[layer] = recorded * mean / (json_int_t)even;
    return recorded * mean == r->received[layer] * (json_int_t)even;
}

/* Two lists, call by call. */
static bool check_routed(step_case *c, const step_list *list, const json_t *log)
{
    json_int_t received[65] = {0};
    routing r = {.case_of = c, .received = received};
    size_t at = 0;
    json_int_t times = 0;
    uint32_t line = 0;

    received[c->model.n_layers] =
        json_integer_value(json_object_get(json_object_get(c->row, "args"), "topk"));
    count_sizes(list, c->model.n_layers, &r);
    for (size_t i = 0; i < list->n; i++) {
        for (uint64_t k = 0; k < list->entry[i].times; k++, line++) {
            const step_entry *e = &list->entry[i];
            const json_t *with = json_array_get(log, at);
            const json_int_t in = json_integer_value(json_object_get(with, "in_bytes")),
                             out = json_integer_value(json_object_get(with, "out_bytes"));
            const bool is_backward = e->phase == STEP_PHASE_BACKWARD;
            const bool is_first = is_routed(&e->call) && !is_backward && r.n_forward % r.of_forward == 0;
            const uint32_t layer = is_routed(&e->call) ? next_layer(&r, is_backward) : 0;
            step_entry recorded = *e;
            dse_strbuf seen, line_of;
            bool agrees = with != NULL;

            if (e->call.out_is_routed)
                agrees &= is_explained(&r, layer, is_first && !e->call.in_is_routed, e->call.out_bytes, out);
            if (e->call.in_is_routed)
                agrees &= is_explained(&r, layer, false, e->call.in_bytes, in);
            if (e->call.in_is_routed)
                recorded.call.in_bytes = (uint64_t)in;
            if (e->call.out_is_routed)
                recorded.call.out_bytes = (uint64_t)out;
            recorded.times = (uint64_t)json_integer_value(json_object_get(with, "times"));
            dse_strbuf_init(&seen);
            dse_strbuf_init(&line_of);
            add_seen(&recorded, c, 0, &seen);
            if (with)
                add_entry(with, &line_of);
            agrees &= strcmp(seen.data, line_of.data) == 0;
            if (!agrees)
                printf("%s: call %u is '%s' %s, recorded '%s'\n", c->id, line, seen.data,
                       is_routed(&e->call) ? "of routed tokens" : "", line_of.data);
            dse_strbuf_free(&seen);
            dse_strbuf_free(&line_of);
            if (!agrees)
                return false;
            if (++times == json_integer_value(json_object_get(with, "times")))
                at++, times = 0;
        }
    }
    if (at != json_array_size(log))
        printf("%s: fewer calls than recorded\n", c->id);
    return at == json_array_size(log);
}

static bool is_any_routed(const step_list *list)
{
    bool is = false;

    for (size_t i = 0; i < list->n; i++)
        is |= is_routed(&list->entry[i].call);
    return is;
}

static bool check_list(step_case *c)
{
    dse_strbuf seen, recorded;
    bool agree = false, is_uneven = false;

    dse_strbuf_init(&seen);
    dse_strbuf_init(&recorded);
    for (uint32_t step = 0; step < c->n_steps; step++) {
        step_list list;

        if (c->n_steps > 1)
            c->of.step = step;
        step_list_make(&c->model, &c->options, &c->plan, &c->of, &list);
        for (size_t i = 0; i < list.n; i++)
            add_seen(&list.entry[i], c, step, &seen);
        if ((is_uneven = is_any_routed(&list)))
            agree = check_routed(c, &list, json_object_get(c->row, "log"));
        step_list_free(&list);
    }
    add_recorded(json_object_get(c->row, "log"), &recorded);
    if (!is_uneven && !(agree = strcmp(seen.data, recorded.data) == 0))
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
    if (s->check)
        state = s->check(&c);
    else if ((state = s->read(&c)) == CASE_READY && !check_list(&c))
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
    printf("%s: %zu steps agree, %zu differ, %zu with %s are skipped\n", s->file, n[CASE_READY],
           n[CASE_FAILED], n[CASE_SKIPPED], s->skipped);
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
