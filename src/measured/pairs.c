/* Each pair is an entry of a metric's result. Where traces of another kind have the same quantity from
 * another metric (XLA has no kernels, but operations of devices), that one stands behind it. */
#include "measured/pairs.h"

#include "base/array.h"
#include "driver/measure.h"
#include "metrics/registry.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

_Static_assert((int)METRIC_NEITHER == (int)CMP_NEITHER && (int)METRIC_LOWER == (int)CMP_LOWER &&
                   (int)METRIC_HIGHER == (int)CMP_HIGHER,
               "directions are handed on as they are");

#define REASON 128 /* bytes of a reason, with its numbers */

typedef enum {
    PAIR_AS_IT_IS,
    PAIR_PER_STEP, /* a sum over ranks and steps: divided by all steps of all ranks */
    PAIR_OF_BYTES, /* the same, of sizes, which every communication must say, in bytes */
} pair_rule;

typedef struct {
    const char *metric, *entry; /* the row, and what of its result */
    const char *member;         /* of an entry that is an object; NULL: it is none */
    pair_rule rule;
} pair_source;

/* A generated stage posts all its receives at the first tick: their union says nothing of how long messages
 * take. A rank that records them does so when it comes to wait for them. */
typedef enum { PAIR_ANYHOW, PAIR_UNLESS_POSTED } pair_condition;

typedef struct {
    const char *name, *unit;
    pair_condition condition;
    /* the second: of XLA traces, for which the first is not defined; metric NULL: none */
    pair_source source[2];
    const char *help;
} pair_row;

/* Metrics that a table of pairs asks for, at most; pairs.c asserts it. */
#define MAX_METRICS 64

/* A metric of the recording, once computed. */
typedef struct {
    const char *name;
    report_measured of;
} asked_metric;

typedef struct {
    const drv_recording *recording;
    dse_arena scratch; /* of what metrics say */
    dse_arena *a;      /* of what stays */
    size_t n;
    asked_metric asked[MAX_METRICS];
} pair_side;

/* A figure of one side, or why it has none. */
typedef struct {
    double value; /* NaN: it has none */
    bool none;    /* there is nothing of the kind, which is 0 */
    const char *why;
    const metric_entry *entry;
} figure;

/* ---- what is compared ----------------------------------------------------------------------- */

#define A_STEP " of a rank in a step"

#define ROW(name, unit, condition, metric, entry, rule, help)                                                \
    {                                                                                                        \
        name, unit, condition, {{metric, entry, NULL, rule}}, help                                           \
    }
#define CALLS(type)                                                                                          \
    {                                                                                                        \
        "calls." type, "calls", PAIR_ANYHOW, {{"coll_call_num", "calls_by_type", type, PAIR_PER_STEP}},      \
            "calls of " type A_STEP                                                                          \
    }
#define BYTES(type)                                                                                          \
    {                                                                                                        \
        "bytes." type, "bytes", PAIR_ANYHOW, {{"communication", "bytes_by_type", type, PAIR_OF_BYTES}},      \
            "whole buffers of " type A_STEP                                                                  \
    }
#define TYPES(X)                                                                                             \
    X("AllReduce"), X("ReduceScatter"), X("AllGather"), X("AllToAll"), X("Broadcast"), X("SendRecv")
#define TRAFFIC(degree)                                                                                      \
    ROW("traffic." degree, "bytes", PAIR_ANYHOW, "traffic_distribution", degree "_bytes", PAIR_OF_BYTES,     \
        "bytes of communication along " degree A_STEP)
#define TIME(degree, condition)                                                                              \
    ROW("comm_time." degree, "s", condition, "traffic_distribution", degree "_time_ms", PAIR_PER_STEP,       \
        "union of communication along " degree A_STEP)

/* cp is sp here. */
static const pair_row rows[] = {
    {"step_time",
     "s",
     PAIR_ANYHOW,
     {{"iter_time", "avg_iter_time_ms", NULL, PAIR_AS_IT_IS},
      {"avg_step_time", "avg_step_time", NULL, PAIR_AS_IT_IS}},
     "time of a step, mean over ranks of their means"},
    ROW("throughput", "tokens/s", PAIR_ANYHOW, "throughput_tokens", "throughput_tokens_per_s", PAIR_AS_IT_IS,
        "tokens of a step over its time"),
    ROW("mfu", "%", PAIR_ANYHOW, "mfu", "mfu", PAIR_AS_IT_IS,
        "the model's arithmetic over the devices' peak"),
    ROW("compute_time", "s", PAIR_ANYHOW, "comm_comp_overlap", "comp_time_ms", PAIR_PER_STEP,
        "union of compute kernels" A_STEP),
    ROW("comm_time", "s", PAIR_UNLESS_POSTED, "comm_comp_overlap", "comm_time_ms", PAIR_PER_STEP,
        "union of communication kernels" A_STEP ", waiting in them included"),
    ROW("exposed_comm", "s", PAIR_ANYHOW, "comm_comp_overlap", "exposed_comm_time_ms", PAIR_PER_STEP,
        "communication that no compute covers," A_STEP),
    {"overlap_ratio",
     "",
     PAIR_UNLESS_POSTED,
     {{"comm_comp_overlap", "overlap_ratio_of_comm", NULL, PAIR_AS_IT_IS},
      {"compute_comm_overlap", "compute_comm_overlap", NULL, PAIR_AS_IT_IS}},
     "share of communication that compute covers, mean over ranks"},
    TYPES(CALLS),
    TYPES(BYTES),
    TRAFFIC("dp"),
    TRAFFIC("tp"),
    TRAFFIC("pp"),
    TRAFFIC("ep"),
    TRAFFIC("cp"),
    TIME("dp", PAIR_ANYHOW),
    TIME("tp", PAIR_ANYHOW),
    TIME("pp", PAIR_UNLESS_POSTED),
    TIME("ep", PAIR_ANYHOW),
    TIME("cp", PAIR_ANYHOW),
    ROW("pipeline_bubble", "", PAIR_ANYHOW, "pipeline_bubble", "bubble_ratio", PAIR_AS_IT_IS,
        "share of a stage's time in which it does nothing or waits for another"),
    ROW("straggler_lag", "s", PAIR_ANYHOW, "straggler_lag", "mean_lag_us", PAIR_AS_IT_IS,
        "how much later than the first the last rank begins a collective, mean"),
    ROW("peak_memory", "bytes", PAIR_ANYHOW, "peak_memory", "peak_memory", PAIR_AS_IT_IS,
        "the most that tensors take at a time, of the fullest rank"),
    ROW("hockney_alpha", "s", PAIR_ANYHOW, "hockney_alpha_s", "hockney_alpha_s", PAIR_AS_IT_IS,
        "latency of a step of a ring all-reduce, fitted to all calls"),
    ROW("hockney_beta", "s/byte", PAIR_ANYHOW, "hockney_beta_s_per_byte", "hockney_beta_s_per_byte",
        PAIR_AS_IT_IS, "time of a byte in a ring all-reduce, fitted to all calls"),
};

#define N_ROWS DSE_COUNT(rows)
_Static_assert(N_ROWS <= MAX_METRICS, "each row may ask for a metric of its own");

const size_t msr_n_pair_kinds = N_ROWS;

msr_pair_kind msr_pair_kind_at(size_t i) { return (msr_pair_kind){rows[i].name, rows[i].help}; }

/* ---- one side -------------------------------------------------------------------------------- */

/* Converts an entry's unit to the pair's. */
static double factor(const char *from, const char *to)
{
    static const struct {
        const char *from, *to;
        double factor;
    } units[] = {{"ms", "s", 1e-3}, {"us", "s", 1e-6}, {"%", "", 0.01}};

    if (strcmp(from, to) == 0)
        return 1;
    for (size_t i = 0; i < DSE_COUNT(units); i++)
        if (strcmp(units[i].from, from) == 0 && strcmp(units[i].to, to) == 0)
            return units[i].factor;
    assert(0 && "a pair has a unit that its metric's cannot be told in");
    return NAN;
}

static dse_status metric_of(pair_side *s, const char *name, const report_measured **out, dse_error *err)
{
    static const metric_options plain;
    const metric *m;
    dse_status st;

    for (size_t i = 0; i < s->n; i++)
        if (strcmp(s->asked[i].name, name) == 0) {
            *out = &s->asked[i].of;
            return DSE_OK;
        }
    if ((st = drv_measure_find(s->recording, name, false, &m, err)) != DSE_OK ||
        (st = drv_measure(s->recording, m, name, &plain, &s->scratch, &s->asked[s->n].of, err)) != DSE_OK)
        return st;
    s->asked[s->n].name = name;
    *out = &s->asked[s->n++].of;
    return DSE_OK;
}

static const metric_entry *entry_of(const metric *m, const char *path)
{
    for (size_t i = 0; i < m->n_entries; i++)
        if (strcmp(m->entry[i].path, path) == 0)
            return &m->entry[i];
    return NULL;
}

static void set_absent(const pair_side *s, figure *f, const char *why)
{
    const char *remedy = strstr(why, "; --"); /* an option of `metrics`: it is none here */

    f->value = NAN;
    f->none = false;
    f->why = dse_arena_strndup(s->a, why, remedy ? (size_t)(remedy - why) : strlen(why));
}

/* Steps of all ranks that the metric takes; 0: *why one has none. */
static double steps_of(const pair_side *s, const metric *m, char why[REASON])
{
    const drv_recording *r = s->recording;
    double n = 0;

    snprintf(why, REASON, "there is no rank");

    for (uint32_t i = 0; i < r->n_views; i++) {
        if (!(m->kinds & METRIC_ON(r->view[i].rank->kind)))
            continue;
        if (!r->view[i].n_steps) {
            snprintf(why, REASON,
                     "rank %" PRIu32 " has no step markers (%s), so that it cannot be said per step",
                     r->view[i].rank->rank, METRIC_STEP_PREFIX);
            return 0;
        }
        n += r->view[i].n_steps;
    }
    return n;
}

static bool is_in_elements(const drv_recording *r)
{
    for (uint32_t i = 0; i < r->record.n_ranks; i++)
        if (r->record.rank[i].kind == TRACE_SIMULATED && r->record.rank[i].in_elements)
            return true;
    return false;
}

/* NaN: the metric has no value, or that says nothing of it. */
static double number_in(const report_measured *m, const char *key)
{
    return metric_number(metric_get(m->value, key));
}

/* Whether every communication says its size; a sum over some of them would be too small. */
static dse_status check_sizes(pair_side *s, char why[REASON], bool *good, dse_error *err)
{
    const report_measured *m;
    double incomplete, calls;
    dse_status st = metric_of(s, "traffic_distribution", &m, err);

    *good = false;
    if (st != DSE_OK)
        return st;
    incomplete = number_in(m, "calls_without_size") + number_in(m, "calls_of_unknown_dtype");
    calls = number_in(m, "total_comm_calls");
    if (is_in_elements(s->recording))
        snprintf(why, REASON,
                 "the simulation counts elements, not bytes: its model card has no section 'precision'");
    else if (incomplete > 0 && !isnan(calls))
        snprintf(why, REASON, "%.0f of %.0f communications do not say their size (In msg nelems, dtype)",
                 incomplete, calls);
    else
        *good = true; /* or there is no communication */
    return DSE_OK;
}

/* The number that a source names, as it stands in the metric's result. */
static void look_up(const pair_side *s, const pair_source *source, const report_measured *m, figure *f)
{
    const metric_value *v = metric_get(m->value, source->entry);

    if (v && v->kind == METRIC_OBJECT && source->member) {
        v = metric_get(v, source->member);
        f->none = !v;
    }
    f->value = f->none ? 0 : metric_number(v);
    if (isnan(f->value))
        set_absent(s, f, v && v->text ? v->text : "the trace does not say it");
}

/* Its entries exist for every degree; without communication along a degree they are 0. */
static bool is_degree(const pair_row *row)
{
    return strcmp(row->source[0].metric, "traffic_distribution") == 0;
}

/* Whether the trace or its card say which degree every communication is along; a guess by the kind of
 * collective is no measurement. */
static bool knows_degrees(const report_measured *m, char why[REASON])
{
    double low = number_in(m, "low_confidence_calls"), unknown_ms = number_in(m, "unknown_time_ms"),
           calls = number_in(m, "total_comm_calls");

    if (isnan(low + unknown_ms + calls))
        snprintf(why, REASON, "the trace does not say it");
    else if (unknown_ms > 0)
        snprintf(why, REASON, "neither trace nor card say which ranks %.6g ms of communication are between",
                 unknown_ms);
    else if (low > 0)
        snprintf(why, REASON, "of %.0f of %.0f communications the parallel dimension could only be guessed",
                 low, calls);
    else
        return true;
    return false;
}

static dse_status scale(pair_side *s, const pair_row *row, pair_rule rule, const report_measured *m,
                        figure *f, dse_error *err)
{
    char why[REASON];
    double steps = 0;
    bool good = true;
    dse_status st;

    f->value *= factor(f->entry->unit, row->unit);
    f->none = f->none || (is_degree(row) && f->value == 0);
    if (rule == PAIR_AS_IT_IS)
        return DSE_OK;
    if (rule == PAIR_OF_BYTES && (st = check_sizes(s, why, &good, err)) != DSE_OK)
        return st;
    if (good && (!is_degree(row) || knows_degrees(m, why)))
        steps = steps_of(s, m->row, why);
    if (steps > 0)
        f->value /= steps;
    else
        set_absent(s, f, why);
    return DSE_OK;
}

static bool has_posted_receives(const drv_recording *r)
{
    for (uint32_t i = 0; i < r->record.n_ranks; i++) {
        const trace_rank *rank = &r->record.rank[i];

        for (uint32_t k = 0; k < rank->n_args && rank->kind == TRACE_SIMULATED; k++) {
            const char *what = TRACE_NAME(rank, rank->args[k].collective);

            if (what && strcmp(what, "recv") == 0)
                return true;
        }
    }
    return false;
}

static dse_status measure_source(pair_side *s, const pair_row *row, const pair_source *source, figure *f,
                                 dse_error *err)
{
    const report_measured *m;
    dse_status st = metric_of(s, source->metric, &m, err);

    if (st != DSE_OK)
        return st;
    *f = (figure){.entry = entry_of(m->row, source->entry)};
    if (!m->value)
        set_absent(s, f, m->why);
    else if (!f->entry) /* a row of the same name, of reports */
        set_absent(s, f, "these traces have totals alone, no steps");
    else
        look_up(s, source, m, f);
    if (isnan(f->value))
        return DSE_OK;
    if (row->condition == PAIR_UNLESS_POSTED && has_posted_receives(s->recording)) {
        set_absent(s, f, "simulated stages post their receives at the start, which covers all else");
        return DSE_OK;
    }
    return scale(s, row, source->rule, m, f, err);
}

static bool is_xla(const drv_recording *r)
{
    return r->record.n_ranks && r->record.rank[0].kind == TRACE_XLA;
}

/* The figure of one recording; of XLA traces by the second source if there is one. */
static dse_status measure(pair_side *s, const pair_row *row, figure *f, dse_error *err)
{
    bool second = is_xla(s->recording) && row->source[1].metric;

    return measure_source(s, row, &row->source[second], f, err);
}

/* ---- both ----------------------------------------------------------------------------------- */

/* Two zeros because neither side has any such event are not counted as agreement. */
static void drop_nothing(const pair_row *row, figure f[2])
{
    if (!f[0].none || !f[1].none)
        return;
    for (int i = 0; i < 2; i++) {
        f[i].value = NAN;
        f[i].why = row->source[0].rule == PAIR_OF_BYTES ? "no call moves any" : "there are none";
    }
}

/* Name, unit, direction and tolerance: those of the metric that a simulated run has. */
static dse_status begin_pair(const pair_row *row, cmp_pair *out, dse_error *err)
{
    const metric *m;
    const metric_entry *e;
    dse_status st = metric_find(row->source[0].metric, TRACE_SIMULATED, false, &m, err);

    if (st != DSE_OK)
        return st;
    e = entry_of(m, row->source[0].entry);
    *out = (cmp_pair){.name = row->name,
                      .unit = row->unit,
                      .better = (cmp_better)e->better,
                      .tolerance = e->tolerance,
                      .simulated = NAN,
                      .measured = NAN};
    return DSE_OK;
}

/* The stored figures of a step that are the same quantity as a pair, of its slowest rank. */
static const struct {
    const char *pair, *column;
    double factor; /* to the pair's unit */
} of_step[] = {{"step_time", "wall_time", 1e-9},
               {"throughput", "tokens_per_s", 1},
               {"mfu", "mfu", 1},
               {"compute_time", "gpu_time", 1e-9},
               {"exposed_comm", "exposed_comm", 1e-9},
               {"peak_memory", "peak_memory", 1}};

static figure figure_of_step(const store_metrics *m, const pair_row *row)
{
    figure f = {.value = NAN,
                .why = "the training step is not recorded kernel by kernel; --set profile=stage simulates "
                       "STAGE's, which is"};

    for (size_t i = 0; i < DSE_COUNT(of_step); i++)
        if (strcmp(of_step[i].pair, row->name) == 0)
            f.value = store_value(m, store_column_find(of_step[i].column)) * of_step[i].factor;
    return f;
}

static void set_values(cmp_pair *p, const figure f[2])
{
    p->simulated = f[0].value;
    p->measured = f[1].value;
    p->why_simulated = isnan(f[0].value) ? f[0].why : NULL;
    p->why_measured = isnan(f[1].value) ? f[1].why : NULL;
}

/* `step` (NULL: none) is what the simulated side has in the place of a recording. */
static dse_status make(pair_side both[2], const store_metrics *step, const pair_row *row, cmp_pair *out,
                       dse_error *err)
{
    figure f[2] = {{.value = NAN}, {.value = NAN}};
    dse_status st = begin_pair(row, out, err);

    if (st == DSE_OK && step)
        f[0] = figure_of_step(step, row);
    else if (st == DSE_OK)
        st = measure(&both[0], row, &f[0], err);
    if (st == DSE_OK)
        st = measure(&both[1], row, &f[1], err);
    if (st != DSE_OK)
        return st;
    drop_nothing(row, f);
    set_values(out, f);
    return DSE_OK;
}

dse_status msr_pairs_make(const drv_recording *simulated, const store_metrics *step,
                          const drv_recording *measured, dse_arena *a, cmp_pair **out, size_t *n,
                          dse_error *err)
{
    pair_side both[2] = {{.recording = simulated, .a = a}, {.recording = measured, .a = a}};
    cmp_pair *pair = DSE_ARENA_NEW(a, cmp_pair, N_ROWS);
    dse_status st = DSE_OK;

    for (int i = 0; i < 2; i++)
        dse_arena_init(&both[i].scratch);
    for (size_t i = 0; st == DSE_OK && i < N_ROWS; i++)
        st = make(both, step, &rows[i], &pair[i], err);
    for (int i = 0; i < 2; i++)
        dse_arena_free(&both[i].scratch);
    if (st != DSE_OK)
        return st;
    *out = pair;
    *n = N_ROWS;
    return DSE_OK;
}

/* ---- step times alone ----------------------------------------------------------------------- */

dse_status msr_pairs_step_time(const drv_recording *r, dse_arena *a, double *out, const char **why,
                               dse_error *err)
{
    pair_side side = {.recording = r, .a = a};
    figure f = {.value = NAN};
    dse_status st;

    dse_arena_init(&side.scratch);
    st = measure(&side, &rows[0], &f, err);
    dse_arena_free(&side.scratch);
    *out = f.value;
    *why = isnan(f.value) ? f.why : NULL;
    return st;
}

/* ---- how much of a job is there ------------------------------------------------------------- */

#define LISTED 4 /* ranks that are named; of more, their number */

const char *msr_pairs_reach(const drv_recording *measured, dse_arena *a)
{
    const trace_record *r = &measured->record;
    uint32_t world = 0, n = 0;
    dse_strbuf b = dse_strbuf_in(a);

    for (uint32_t i = 0; i < r->n_ranks; i++) {
        if (!(METRIC_ON(r->rank[i].kind) & METRIC_ON_GPU))
            continue;
        world = r->rank[i].world_size ? r->rank[i].world_size : world;
        dse_strbuf_addf(&b, "%s%" PRIu32, n++ ? ", " : "", r->rank[i].rank);
    }
    if (!world && measured->has_card && measured->card.total_count > 0 &&
        measured->card.total_count < (int64_t)DSE_NONE)
        world = (uint32_t)measured->card.total_count;
    if (n && n < world && n <= LISTED)
        return dse_arena_printf(a, "of %" PRIu32 " ranks only rank%s %s %s there: measured figures are %s",
                                world, n == 1 ? "" : "s", b.data, n == 1 ? "is" : "are",
                                n == 1 ? "that rank's" : "theirs");
    if (n && n < world)
        return dse_arena_printf(
            a, "of %" PRIu32 " ranks only %" PRIu32 " are there: measured figures are theirs", world, n);
    return NULL;
}

/* ---- rows of tables ------------------------------------------------------------------------- */

static const pair_row *row_of(const char *name)
{
    size_t i = 0;

    while (strcmp(rows[i].name, name) != 0)
        i++;
    return &rows[i];
}

static figure time_of(const msr_figures *f)
{
    return (figure){.value = f->step_time_s, .why = "the step was not timed"};
}

static figure memory_of(const msr_figures *f)
{
    return (figure){.value = f->peak_memory_bytes,
                    .why = f->why_no_memory ? f->why_no_memory : "it was not measured"};
}

dse_status msr_pairs_of_figures(const msr_figures *simulated, const msr_figures *measured, dse_arena *a,
                                cmp_pair **out, size_t *n, dse_error *err)
{
    cmp_pair *p = DSE_ARENA_NEW(a, cmp_pair, 2);
    dse_status st;

    if ((st = begin_pair(row_of("step_time"), &p[0], err)) != DSE_OK ||
        (st = begin_pair(row_of("peak_memory"), &p[1], err)) != DSE_OK)
        return st;
    set_values(&p[0], (const figure[]){time_of(simulated), time_of(measured)});
    set_values(&p[1], (const figure[]){memory_of(simulated), memory_of(measured)});
    *out = p;
    *n = 2;
    return DSE_OK;
}
