/* A run and what metrics say of it. It is made by hand, of ranks, events and a card (times are microseconds);
 * or read, from tests/data/traces or from text. */
#ifndef UNIT_METRICS_RUN_H
#define UNIT_METRICS_RUN_H

#include "unit/unit.h"

#include "metrics/registry.h"
#include "trace/reader.h"

#define RUN_MAX_RANKS 8

typedef struct {
    trace_record rec;
    metric_view view[RUN_MAX_RANKS];
    trace_card card;
    bool has_card;
    metric_options options;
    dse_arena arena;
    dse_error err;
} run;

/* ---- a run ----------------------------------------------------------------------------------- */

static inline void run_init(run *r)
{
    memset(r, 0, sizeof *r);
    dse_arena_init(&r->arena);
    r->options.model_params = 7e9;
    r->err = (dse_error)DSE_ERROR_INIT;
    r->card.iteration = r->card.num_layers = r->card.num_heads = r->card.head_dim = r->card.batch_size =
        r->card.seq_len = r->card.input_len = r->card.output_len = r->card.total_count =
            r->card.count_per_node = r->card.dp_replicate = r->card.dp_shard = r->card.tp = r->card.pp =
                r->card.cp = r->card.ep = r->card.pp_mb = r->card.moe = TRACE_CARD_NONE;
    r->card.num_params = r->card.num_params_embedding = r->card.num_params_active = NAN;
    r->card.path = "card.yaml";
}

static inline void run_free(run *r)
{
    for (uint32_t i = 0; i < r->rec.n_ranks; i++)
        metric_view_free(&r->view[i]);
    trace_record_free(&r->rec);
    dse_arena_free(&r->arena);
}

/* ---- by hand ---------------------------------------------------------------------------------- */

/* Rank `number`; ranks are added in ascending order, and filled one after the other. */
static inline trace_rank *run_rank(run *r, uint32_t number)
{
    trace_rank *rank = trace_record_add_rank(&r->rec);

    assert_non_null(rank);
    assert_true(r->rec.n_ranks <= RUN_MAX_RANKS);
    rank->rank = number;
    rank->has_rank = true;
    rank->kind = TRACE_KINETO;
    rank->base_ns = 1000000000;
    return rank;
}

static inline uint32_t run_name(trace_rank *rank, const char *text)
{
    return text ? trace_names_add(&rank->names, text, strlen(text)) : DSE_NONE;
}

/* One event of a category as the file spells it, from start to end; args may be NULL. */
static inline void run_event(trace_rank *rank, const char *category, const char *name, int64_t start,
                             int64_t end, const trace_args *args)
{
    trace_event e = {.start_ps = start * TRACE_PS_PER_US, .dur_ps = (end - start) * TRACE_PS_PER_US};

    e.name = run_name(rank, name);
    e.lane = trace_add_lane(rank, run_name(rank, "1"), run_name(rank, category));
    e.args = args ? trace_add_args(rank, args) : DSE_NONE;
    e.category = (uint8_t)trace_category_of(category, strlen(category));
    e.word = (uint8_t)trace_add_word(rank, run_name(rank, category));
    trace_extend(rank, e.start_ps, e.start_ps + e.dur_ps, true);
    trace_add_event(rank, &e);
}

static inline void run_kernel(trace_rank *rank, const char *name, int64_t start, int64_t end)
{
    run_event(rank, "kernel", name, start, end, NULL);
}

/* A communication kernel of a group that the arguments describe; bytes of one element each. */
static inline void run_comm(trace_rank *rank, const char *name, int64_t start, int64_t end, uint64_t in,
                            uint64_t out, const char *desc, const char *ranks)
{
    trace_args a;

    trace_args_clear(&a);
    a.in_elements = in;
    a.out_elements = out;
    a.dtype = run_name(rank, "Byte");
    a.group_desc = run_name(rank, desc);
    a.group_ranks = run_name(rank, ranks);
    run_event(rank, "kernel", name, start, end, &a);
}

static inline void run_step(trace_rank *rank, int number, int64_t start, int64_t end)
{
    char name[32];

    snprintf(name, sizeof name, "ProfilerStep#%d", number);
    run_event(rank, "user_annotation", name, start, end, NULL);
}

/* ---- from files ------------------------------------------------------------------------------- */

/* Adds the ranks of a file. */
static inline void run_read(run *r, const char *path)
{
    const trace_reader *reader;
    trace_record one = {0};

    assert_ok(trace_reader_find(path, &reader, &r->err), &r->err);
    assert_non_null(reader);
    assert_ok(trace_read(reader, path, &one, &r->err), &r->err);
    trace_record_take(&r->rec, &one);
    assert_true(r->rec.n_ranks <= RUN_MAX_RANKS);
    trace_record_free(&one);
}

/* rank0_trace.json to rank<n - 1>_trace.json of a folder of tests/data/traces. */
static inline void run_load(run *r, const char *folder, unsigned n)
{
    run_init(r);
    for (unsigned i = 0; i < n; i++) {
        char path[512];

        snprintf(path, sizeof path, TEST_DATA "/traces/%s/rank%u_trace.json", folder, i);
        run_read(r, path);
    }
}

/* n files, each the events of one rank: the inside of "traceEvents". */
static inline void run_of(run *r, const char *const *events, unsigned n)
{
    char folder[64];

    run_init(r);
    unit_make_folder(folder);
    for (unsigned i = 0; i < n; i++) {
        char path[128];
        dse_strbuf text;

        dse_strbuf_init(&text);
        dse_strbuf_addf(&text,
                        "{\"distributedInfo\": {\"rank\": %u, \"world_size\": %u}, \"traceEvents\": [%s]}", i,
                        n, events[i]);
        snprintf(path, sizeof path, "%s/rank%u_trace.json", folder, i);
        unit_write(path, text.data, text.len);
        dse_strbuf_free(&text);
        run_read(r, path);
    }
    unit_remove_folder(folder);
}

/* ---- what a metric says ------------------------------------------------------------------------ */

/* Looks all ranks through. */
static inline void run_look(run *r)
{
    for (uint32_t i = 0; i < r->rec.n_ranks; i++) {
        metric_view_free(&r->view[i]);
        metric_view_init(&r->view[i], &r->rec.rank[i]);
    }
}

/* After that. */
static inline metric_context run_context(run *r)
{
    return (metric_context){.record = &r->rec,
                            .view = r->view,
                            .n_views = r->rec.n_ranks,
                            .card = r->has_card ? &r->card : NULL,
                            .options = &r->options,
                            .arena = &r->arena};
}

/* By the rule that r->options ask for. */
static inline dse_status run_ask(run *r, const char *name, metric_value **out, dse_error *err)
{
    metric_context x;
    const metric *m;

    run_look(r);
    x = run_context(r);
    assert_ok(metric_find(name, r->rec.rank[0].kind, r->options.compat, &m, err), err);
    return metric_compute(m, &x, out, err);
}

/* NULL if it fails, then r->err says why. */
static inline const metric_value *run_metric(run *r, const char *name)
{
    metric_value *v = NULL;

    r->err = (dse_error)DSE_ERROR_INIT;
    return run_ask(r, name, &v, &r->err) == DSE_OK ? v : NULL;
}

static inline const metric_value *run_compat(run *r, const char *name)
{
    const metric_value *v;

    r->options.compat = true;
    v = run_metric(r, name);
    r->options.compat = false;
    return v;
}

/* The entry at a path, "per_rank/0/num_iterations"; a number in a list is a place. */
static inline const metric_value *run_get(const metric_value *v, const char *path)
{
    char key[64];
    size_t n;

    for (; v && *path; path += n + (path[n] == '/')) {
        n = strcspn(path, "/");
        assert_true(n < sizeof key);
        memcpy(key, path, n);
        key[n] = '\0';
        if (v->kind != METRIC_LIST) {
            v = metric_get(v, key);
            continue;
        }
        v = v->first;
        for (unsigned long i = strtoul(key, NULL, 10); v && i; i--)
            v = v->next;
    }
    return v;
}

/* NaN: it is absent. */
static inline double run_number(const metric_value *v, const char *path)
{
    const metric_value *at = run_get(v, path);

    if (!at) {
        print_error("there is no %s\n", path);
        fail();
        return NAN;
    }
    return at->kind == METRIC_NUMBER                               ? at->number
           : at->kind == METRIC_INTEGER || at->kind == METRIC_BOOL ? (double)at->integer
                                                                   : NAN;
}

static inline void run_near(const char *path, double seen, double expected, const char *file, int line)
{
    if (fabs(seen - expected) <= 1e-12 * fabs(expected))
        return;
    print_error("%s is %.17g, not %.17g\n", path, seen, expected);
    _fail(file, line);
}
/* Equal but for the last digits: derivations are decimal, sums are binary. */
#define assert_value(v, path, expected)                                                                      \
    run_near((path), run_number((v), (path)), (expected), __FILE__, __LINE__)
#define assert_absent(v, path)         assert_true(isnan(run_number((v), (path))))
#define assert_word(v, path, expected) assert_string_equal(run_get((v), (path))->text, (expected))

/* It is there, absent, and says why. */
#define assert_absent_because(v, path, part)                                                                 \
    do {                                                                                                     \
        const metric_value *at_ = run_get((v), (path));                                                      \
        assert_non_null(at_);                                                                                \
        assert_int_equal(at_->kind, METRIC_ABSENT);                                                          \
        assert_non_null(at_->text);                                                                          \
        assert_non_null(strstr(at_->text, (part)));                                                          \
    } while (0)

static inline void run_check(run *r, const char *name, const char *path, double expected, const char *file,
                             int line)
{
    const metric_value *v = run_metric(r, name);

    if (!v) {
        print_error("%s: %s\n", name, r->err.text);
        _fail(file, line);
    }
    run_near(path, run_number(v, path), expected, file, line);
}
/* What a metric of a run says at a path. */
#define assert_metric(r, name, path, expected) run_check((r), (name), (path), (expected), __FILE__, __LINE__)

#endif
