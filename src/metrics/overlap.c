/* Communication that compute covers. */
#include "metrics/metric.h"
#include "metrics/numbers.h"
#include "metrics/pick.h"
#include "metrics/steps.h"

/* The overlap of one rank, or sums over ranks. */
typedef struct {
    int64_t comm, compute, both; /* ps */
    uint64_t n_comm, n_compute;
} overlap;

static void put(const overlap *o, metric_value *out)
{
    metric_put_ms(out, "comm_time_ms", o->comm);
    metric_put_ms(out, "comp_time_ms", o->compute);
    metric_put_ms(out, "overlap_time_ms", o->both);
    metric_put_ms(out, "exposed_comm_time_ms", o->comm - o->both);
    metric_put_count(out, "num_comm_kernels", o->n_comm);
    metric_put_count(out, "num_comp_kernels", o->n_compute);
}

static void put_ratios(const overlap *o, metric_value *out)
{
    metric_put_ratio(out, "overlap_ratio_of_comm", (double)o->both, (double)o->comm, "no communication");
    metric_put_ratio(out, "overlap_ratio_of_comp", (double)o->both, (double)o->compute, "no compute kernels");
}

/* How many of the events, which ascend, begin in the spans. */
static uint64_t begin_in(const metric_view *v, const metric_events *list, const metric_spans *spans)
{
    uint64_t n = 0;
    size_t s = 0;

    for (uint32_t i = 0; i < list->n; i++) {
        int64_t at = v->rank->event[list->event[i]].start_ps;

        while (s < spans->n && spans->span[s].end <= at)
            s++;
        n += s < spans->n && spans->span[s].start <= at;
    }
    return n;
}

/* The steps but the first and the last, or all if there are only two; kernels are counted that begin
 * there. */
static void within_steps(const metric_view *v, dse_arena *a, overlap *o)
{
    metric_spans steps = metric_steps_time(v, true, a), comm_time = metric_comm_kernel_time(v), comm, compute;
    metric_events kernels = metric_comm_kernels(v);

    comm = metric_spans_intersect(&comm_time, &steps, a);
    compute = metric_spans_intersect(&v->compute_time, &steps, a);
    *o = (overlap){metric_spans_length(&comm), metric_spans_length(&compute),
                   metric_spans_overlap(&comm, &compute), begin_in(v, &kernels, &steps),
                   begin_in(v, &v->compute, &steps)};
}

static dse_status overlap_of(const metric_context *x, const metric_view *v, overlap *o, dse_error *err)
{
    metric_spans comm = metric_comm_kernel_time(v);

    if (x->options->inner_steps && !v->n_steps)
        return metric_absent(err,
                             "rank %u has no step markers (ProfilerStep#) to look within; leave out "
                             "--steps inner",
                             v->rank->rank);
    if (x->options->inner_steps)
        within_steps(v, x->arena, o);
    else
        *o = (overlap){metric_spans_length(&comm), metric_spans_length(&v->compute_time),
                       metric_spans_overlap(&comm, &v->compute_time), metric_comm_kernels(v).n, v->compute.n};
    return DSE_OK;
}

static dse_status comm_comp_overlap(const metric_context *x, metric_value *out, dse_error *err)
{
    overlap sum = {0}, *of = DSE_ARENA_NEW(x->arena, overlap, x->n_views);
    double of_comm = 0, of_compute = 0;
    uint32_t n_comm = 0, n_compute = 0;
    dse_status st = DSE_OK;
    metric_value *ranks;

    for (uint32_t i = 0; st == DSE_OK && i < x->n_views; i++) {
        st = overlap_of(x, &x->view[i], &of[i], err);
        sum = (overlap){sum.comm + of[i].comm, sum.compute + of[i].compute, sum.both + of[i].both,
                        sum.n_comm + of[i].n_comm, sum.n_compute + of[i].n_compute};
        if (of[i].comm) {
            of_comm += (double)of[i].both / (double)of[i].comm;
            n_comm++;
        }
        if (of[i].compute) {
            of_compute += (double)of[i].both / (double)of[i].compute;
            n_compute++;
        }
    }
    if (st != DSE_OK)
        return st;
    metric_put_ratio(out, "overlap_ratio_of_comm", of_comm, n_comm, "no communication");
    metric_put_ratio(out, "overlap_ratio_of_comp", of_compute, n_compute, "no compute kernels");
    put(&sum, out);
    ranks = metric_put_object(out, "per_rank");
    for (uint32_t i = 0; i < x->n_views; i++) {
        metric_value *rank = metric_put_rank(ranks, x->view[i].rank);

        put(&of[i], rank);
        put_ratios(&of[i], rank);
    }
    return DSE_OK;
}

/* ---- as the original tool has it: events of all layers, durations added up ------------------- */

enum { COMM, COMPUTE };
static const metric_pick work = METRIC_PICK(
    METRIC_LASTING | METRIC_TIMED, {COMM, .names = "nccl|c10d::"},
    {METRIC_NOT_PICKED, .names = "memcpy|memset"},
    {COMPUTE,
     .names = "matmul|gemm|cutlass|sgemm|dgemm|hgemm|mma|attention|softmax|layernorm|linear|conv|relu|gelu|"
              "aten::|ampere|volta|sm80|sm90"},
    {COMPUTE, .words = "kernel"});

static double ratio(int64_t part, int64_t whole)
{
    double v = whole > 0 ? (double)part / (double)whole : 0;

    return v > 1 ? 1 : v;
}

static void comm_comp_overlap_compat(const metric_context *x, metric_value *out)
{
    metric_sums sums[2] = {{0}};
    metric_spans comm, compute;
    uint32_t first = 0;
    metric_picked p;
    int64_t both;

    /* The first file that has any, of whatever kind. */
    while (first + 1 < x->n_views &&
           x->view[first].rank->any_first_ps > x->view[first].rank->any_last_start_ps)
        first++;
    p = metric_pick_of(x->view[first].rank, NULL, &work, x->arena);
    metric_picked_sum(&p, sums);
    comm = metric_picked_time(&p, COMM, x->arena);
    compute = metric_picked_time(&p, COMPUTE, x->arena);
    both = metric_spans_overlap(&comm, &compute);
    metric_put_ms(out, "comm_time_ms", sums[COMM].sum_ps);
    metric_put_ms(out, "comp_time_ms", sums[COMPUTE].sum_ps);
    metric_put_ms(out, "overlap_time_ms", both);
    metric_put_number(out, "overlap_ratio_of_comm", ratio(both, sums[COMM].sum_ps));
    metric_put_number(out, "overlap_ratio_of_comp", ratio(both, sums[COMPUTE].sum_ps));
    metric_put_integer(out, "num_comm_kernels", sums[COMM].n);
    metric_put_integer(out, "num_comp_kernels", sums[COMPUTE].n);
}

static const metric_entry entries[] = {{"comp_time_ms", "ms", METRIC_LOWER, METRIC_STEP_TOLERANCE},
                                       {"comm_time_ms", "ms", METRIC_LOWER, METRIC_WAIT_TOLERANCE},
                                       {"exposed_comm_time_ms", "ms", METRIC_LOWER, METRIC_WAIT_TOLERANCE},
                                       {"overlap_ratio_of_comm", "", METRIC_HIGHER, METRIC_WAIT_TOLERANCE}};

static const metric rows[] = {
    {METRIC_ROW("comm_comp_overlap", "kineto", "", METRIC_ON_GPU, METRIC_NEEDS_GPU,
                "how much of the communication compute kernels cover: mean ratio over ranks, and times "
                "(unions); --steps inner: within the steps but the first and the last"),
     .sums =
         "comm_time_ms|comp_time_ms|overlap_time_ms|exposed_comm_time_ms|num_comm_kernels|num_comp_kernels",
     .compute = comm_comp_overlap, METRIC_ENTRIES(entries), .compat_put = comm_comp_overlap_compat,
     .compat_kinds = METRIC_ON_HOST},
};

METRIC_FAMILY(overlap);
