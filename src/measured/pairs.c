/* Each pair is an entry of a metric's result. Where traces of another kind have the same quantity from
 * another metric (XLA has no kernels, but operations of devices), that one stands behind it. */
#include "measured/pairs.h"

#include "measured/pairs_parts.h"
#include "metrics/registry.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

_Static_assert((int)METRIC_NEITHER == (int)CMP_NEITHER && (int)METRIC_LOWER == (int)CMP_LOWER &&
                   (int)METRIC_HIGHER == (int)CMP_HIGHER,
               "directions are handed on as they are");

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
static const msr_pair_row rows[] = {
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

#define N_ROWS (sizeof rows / sizeof rows[0])
_Static_assert(N_ROWS <= MSR_PAIR_METRICS, "each row may ask for a metric of its own");

const size_t msr_n_pair_kinds = N_ROWS;

msr_pair_kind msr_pair_kind_at(size_t i) { return (msr_pair_kind){rows[i].name, rows[i].help}; }

/* ---- both ----------------------------------------------------------------------------------- */

/* What neither side has, of a kind that each could have, is no agreement to be counted. */
static void drop_nothing(const msr_pair_row *row, msr_pair_figure f[2])
{
    if (!f[0].none || !f[1].none)
        return;
    for (int i = 0; i < 2; i++) {
        f[i].value = NAN;
        f[i].why = row->source[0].rule == PAIR_OF_BYTES ? "no call moves any" : "there are none";
    }
}

/* Name, unit, direction and tolerance: those of the metric that a simulated run has. */
static dse_status begin_pair(const msr_pair_row *row, cmp_pair *out, dse_error *err)
{
    const metric *m;
    const metric_entry *e;
    dse_status st = metric_find(row->source[0].metric, TRACE_SIMULATED, false, &m, err);

    if (st != DSE_OK)
        return st;
    e = msr_pair_entry(m, row->source[0].entry);
    *out = (cmp_pair){.name = row->name,
                      .unit = row->unit,
                      .better = (cmp_better)e->better,
                      .tolerance = e->tolerance,
                      .simulated = NAN,
                      .measured = NAN};
    return DSE_OK;
}

static dse_status make(msr_pair_side both[2], const msr_pair_row *row, cmp_pair *out, dse_error *err)
{
    msr_pair_figure f[2] = {{.value = NAN}, {.value = NAN}};
    dse_status st = begin_pair(row, out, err);

    if (st == DSE_OK)
        st = msr_pair_measure(&both[0], row, &f[0], err);
    if (st == DSE_OK)
        st = msr_pair_measure(&both[1], row, &f[1], err);
    if (st != DSE_OK)
        return st;
    drop_nothing(row, f);
    out->simulated = f[0].value;
    out->measured = f[1].value;
    out->why_simulated = isnan(f[0].value) ? f[0].why : NULL;
    out->why_measured = isnan(f[1].value) ? f[1].why : NULL;
    return DSE_OK;
}

dse_status msr_pairs_make(const drv_recording *simulated, const drv_recording *measured,
                          const metric_options *o, dse_arena *a, cmp_pair **out, size_t *n, dse_error *err)
{
    metric_options own = *o;
    msr_pair_side both[2] = {{.recording = simulated, .o = &own, .a = a},
                             {.recording = measured, .o = &own, .a = a}};
    cmp_pair *pair = DSE_ARENA_NEW(a, cmp_pair, N_ROWS);
    dse_status st = DSE_OK;

    own.compat = false;
    for (int i = 0; i < 2; i++)
        dse_arena_init(&both[i].scratch);
    for (size_t i = 0; st == DSE_OK && i < N_ROWS; i++)
        st = make(both, &rows[i], &pair[i], err);
    for (int i = 0; i < 2; i++)
        dse_arena_free(&both[i].scratch);
    if (st != DSE_OK)
        return st;
    *out = pair;
    *n = N_ROWS;
    return DSE_OK;
}

dse_status msr_pairs_step_time(const drv_recording *r, dse_arena *a, double *out, const char **why,
                               dse_error *err)
{
    const metric_options plain = {0};
    msr_pair_side side = {.recording = r, .o = &plain, .a = a};
    msr_pair_figure f = {.value = NAN};
    dse_status st;

    dse_arena_init(&side.scratch);
    st = msr_pair_measure(&side, &rows[0], &f, err);
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
    const char *reach = NULL;
    uint32_t world = 0, n = 0;
    dse_strbuf b;

    dse_strbuf_init(&b);
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
        reach = dse_arena_printf(a, "of %" PRIu32 " ranks only rank%s %s %s there: measured figures are %s",
                                 world, n == 1 ? "" : "s", b.data, n == 1 ? "is" : "are",
                                 n == 1 ? "that rank's" : "theirs");
    else if (n && n < world)
        reach = dse_arena_printf(
            a, "of %" PRIu32 " ranks only %" PRIu32 " are there: measured figures are theirs", world, n);
    dse_strbuf_free(&b);
    return reach;
}

/* ---- rows of tables ------------------------------------------------------------------------- */

static const msr_pair_row *row_of(const char *name)
{
    size_t i = 0;

    while (strcmp(rows[i].name, name) != 0)
        i++;
    return &rows[i];
}

static const char *why_no_memory(const msr_figures *f)
{
    return f->why_no_memory ? f->why_no_memory : "it was not measured";
}

dse_status msr_pairs_of_figures(const msr_figures *simulated, const msr_figures *measured, dse_arena *a,
                                cmp_pair **out, size_t *n, dse_error *err)
{
    static const char no_time[] = "the step was not timed";
    cmp_pair *p = DSE_ARENA_NEW(a, cmp_pair, 2);
    dse_status st;

    if ((st = begin_pair(row_of("step_time"), &p[0], err)) != DSE_OK ||
        (st = begin_pair(row_of("peak_memory"), &p[1], err)) != DSE_OK)
        return st;
    p[0].simulated = simulated->step_time_s;
    p[0].measured = measured->step_time_s;
    p[0].why_simulated = isnan(p[0].simulated) ? no_time : NULL;
    p[0].why_measured = isnan(p[0].measured) ? no_time : NULL;
    p[1].simulated = simulated->peak_memory_bytes;
    p[1].measured = measured->peak_memory_bytes;
    p[1].why_simulated = isnan(p[1].simulated) ? why_no_memory(simulated) : NULL;
    p[1].why_measured = isnan(p[1].measured) ? why_no_memory(measured) : NULL;
    *out = p;
    *n = 2;
    return DSE_OK;
}
