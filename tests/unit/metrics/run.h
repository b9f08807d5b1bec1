/* A run made by hand: ranks, events, a card; and what a metric says of it. Times are microseconds. */
#ifndef UNIT_METRICS_RUN_H
#define UNIT_METRICS_RUN_H

#include "unit/unit.h"

#include "metrics/metric.h"

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

static inline void run_init(run *r)
{
    memset(r, 0, sizeof *r);
    dse_arena_init(&r->arena);
    r->options.model_params = 7e9;
    r->err = (dse_error)DSE_ERROR_INIT;
    r->card.epochs = r->card.iteration = r->card.num_layers = r->card.num_heads = r->card.head_dim =
        r->card.batch_size = r->card.seq_len = r->card.input_len = r->card.output_len = r->card.total_count =
            r->card.count_per_node = r->card.dp_replicate = r->card.dp_shard = r->card.tp = r->card.pp =
                r->card.cp = r->card.ep = r->card.pp_mb = r->card.moe = TRACE_CARD_NONE;
    r->card.num_params = r->card.num_params_embedding = r->card.num_params_active = NAN;
    r->card.path = "card.yaml";
}

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
    assert_true(trace_add_event(rank, &e));
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

/* What a metric says; NULL if it fails, then r->err says why. */
static inline const metric_value *run_metric(run *r, const char *name)
{
    metric_context x = {.record = &r->rec,
                        .view = r->view,
                        .n_views = r->rec.n_ranks,
                        .card = r->has_card ? &r->card : NULL,
                        .options = &r->options,
                        .arena = &r->arena};
    metric_value *v = NULL;
    const metric *m;

    r->err = (dse_error)DSE_ERROR_INIT;
    for (uint32_t i = 0; i < r->rec.n_ranks; i++) {
        metric_view_free(&r->view[i]);
        assert_ok(metric_view_init(&r->view[i], &r->rec.rank[i], &r->err), &r->err);
    }
    assert_ok(metric_find(name, r->rec.rank[0].kind, r->options.compat, &m, &r->err), &r->err);
    return metric_compute(m, &x, &v, &r->err) == DSE_OK ? v : NULL;
}

static inline const metric_value *run_compat(run *r, const char *name)
{
    const metric_value *v;

    r->options.compat = true;
    v = run_metric(r, name);
    r->options.compat = false;
    return v;
}

/* The entry at a path, "per_rank/0/num_iterations". */
static inline const metric_value *run_get(const metric_value *v, const char *path)
{
    char key[64];
    size_t n;

    for (; v && *path; path += n + (path[n] == '/')) {
        n = strcspn(path, "/");
        assert_true(n < sizeof key);
        memcpy(key, path, n);
        key[n] = '\0';
        v = metric_get(v, key);
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
    return at->kind == METRIC_INTEGER ? (double)at->integer : at->kind == METRIC_NUMBER ? at->number : NAN;
}

static inline void run_near(double seen, double expected, const char *file, int line)
{
    if (fabs(seen - expected) <= 1e-12 * fabs(expected))
        return;
    print_error("%.17g is not %.17g\n", seen, expected);
    _fail(file, line);
}
/* Equal but for the last digits. */
#define assert_value(v, path, expected) run_near(run_number((v), (path)), (expected), __FILE__, __LINE__)
#define assert_absent(v, path)          assert_true(isnan(run_number((v), (path))))
#define assert_word(v, path, expected)  assert_string_equal(run_get((v), (path))->text, (expected))

static inline void run_free(run *r)
{
    for (uint32_t i = 0; i < r->rec.n_ranks; i++)
        metric_view_free(&r->view[i]);
    trace_record_free(&r->rec);
    dse_arena_free(&r->arena);
}

#endif
