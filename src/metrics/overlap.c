/* Communication that compute covers: comm_comp_overlap, the guide's overlap, and the later tools'
 * compute_comm_overlap and communication_overlap_ratio.
 *
 * All of them intersect the union of communication with that of compute; they differ in what they take for
 * either, in the time that they look at, and in how ranks are put together. */
#include "base/array.h"
#include "metrics/guide.h"
#include "metrics/later.h"
#include "metrics/steps.h"

#include <math.h>

enum { COMM, COMPUTE, WORKS };

/* The unions of a rank's work, by kind and of all, and how many events they are of. */
typedef struct {
    metric_spans time[WORKS], all;
    uint64_t n[WORKS];
} work;

static work work_of(const metric_view *v)
{
    return (work){{metric_comm_kernel_time(v), v->compute_time},
                  v->kernel_time,
                  {metric_comm_kernels(v).n, v->compute.n}};
}

/* As an original tool finds it: of the events of a list (NULL: of all) that it picks; their sums. */
static work work_picked(const trace_rank *r, const metric_events *list, const metric_pick *pick, dse_arena *a,
                        metric_sums sums[WORKS])
{
    metric_picked p = metric_pick_of(r, list, pick, a);

    metric_picked_sum(&p, sums);
    return (work){{metric_picked_time(&p, COMM, a), metric_picked_time(&p, COMPUTE, a)},
                  metric_picked_time(&p, METRIC_ANY_CLASS, a),
                  {(uint64_t)sums[COMM].n, (uint64_t)sums[COMPUTE].n}};
}

/* ---- comm_comp_overlap ------------------------------------------------------------------------- */

/* What is measured of a rank, and summed over ranks: times in ps, and kernels. */
enum { COMM_PS, COMPUTE_PS, BOTH_PS, N_COMM, N_COMPUTE, AMOUNTS };

static void put(const int64_t of[AMOUNTS], metric_value *out)
{
    metric_put_ms(out, "comm_time_ms", of[COMM_PS]);
    metric_put_ms(out, "comp_time_ms", of[COMPUTE_PS]);
    metric_put_ms(out, "overlap_time_ms", of[BOTH_PS]);
    metric_put_ms(out, "exposed_comm_time_ms", of[COMM_PS] - of[BOTH_PS]);
    metric_put_integer(out, "num_comm_kernels", of[N_COMM]);
    metric_put_integer(out, "num_comp_kernels", of[N_COMPUTE]);
}

/* Of sums over n_comm ranks that communicate, and n_compute that compute. */
static void put_ratios(double of_comm, double n_comm, double of_compute, double n_compute, metric_value *out)
{
    metric_put_ratio(out, "overlap_ratio_of_comm", of_comm, n_comm, "no communication");
    metric_put_ratio(out, "overlap_ratio_of_comp", of_compute, n_compute, "no compute kernels");
}

/* How many of the events begin in the spans. */
static uint64_t begin_in(const metric_view *v, const metric_events *list, const metric_spans *spans)
{
    uint64_t n = 0;

    for (uint32_t i = 0; i < list->n; i++)
        n += metric_spans_at(spans, v->rank->event[list->event[i]].start_ps) != NULL;
    return n;
}

/* The steps but the first and the last, or all if there are only two; kernels are counted that begin
 * there. */
static void keep_inner_steps(const metric_view *v, dse_arena *a, work *w)
{
    metric_spans steps = metric_steps_time(v, true, a);
    metric_events kernels = metric_comm_kernels(v);

    for (int i = 0; i < WORKS; i++)
        w->time[i] = metric_spans_intersect(&w->time[i], &steps, a);
    w->n[COMM] = begin_in(v, &kernels, &steps);
    w->n[COMPUTE] = begin_in(v, &v->compute, &steps);
}

static dse_status comm_comp_overlap(const metric_context *x, metric_value *out, dse_error *err)
{
    metric_value *ranks = metric_object_new(out->arena);
    double of_comm = 0, of_compute = 0;
    uint32_t n_comm = 0, n_compute = 0;
    int64_t sum[AMOUNTS] = {0};

    for (const metric_view *v = x->view; v < x->view + x->n_views; v++) {
        metric_value *rank = metric_put_rank(ranks, v->rank);
        work w = work_of(v);
        const int64_t *of;
        double both;

        if (x->options->inner_steps && !v->n_steps)
            return metric_absent(err,
                                 "rank %u has no step markers (ProfilerStep#) to look within; leave out "
                                 "--steps inner",
                                 v->rank->rank);
        if (x->options->inner_steps)
            keep_inner_steps(v, x->arena, &w);
        of = (const int64_t[AMOUNTS]){
            metric_spans_length(&w.time[COMM]), metric_spans_length(&w.time[COMPUTE]),
            metric_spans_overlap(&w.time[COMM], &w.time[COMPUTE]), (int64_t)w.n[COMM], (int64_t)w.n[COMPUTE]};
        both = (double)of[BOTH_PS];
        put(of, rank);
        put_ratios(both, (double)of[COMM_PS], both, (double)of[COMPUTE_PS], rank);
        for (int i = 0; i < AMOUNTS; i++)
            sum[i] += of[i];
        of_comm += of[COMM_PS] ? both / (double)of[COMM_PS] : 0;
        of_compute += of[COMPUTE_PS] ? both / (double)of[COMPUTE_PS] : 0;
        n_comm += of[COMM_PS] != 0;
        n_compute += of[COMPUTE_PS] != 0;
    }
    put_ratios(of_comm, n_comm, of_compute, n_compute, out);
    put(sum, out);
    metric_take(metric_put_object(out, "per_rank"), ranks);
    return DSE_OK;
}

/* As the original tool has it: events of all layers, durations added up. */
static const metric_pick all_layers = METRIC_PICK(
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
    metric_sums sums[WORKS] = {{0}};
    uint32_t first = 0;
    int64_t both;
    work w;

    /* The first file that has any, of whatever kind. */
    while (first + 1 < x->n_views &&
           x->view[first].rank->any_first_ps > x->view[first].rank->any_last_start_ps)
        first++;
    w = work_picked(x->view[first].rank, NULL, &all_layers, x->arena, sums);
    both = metric_spans_overlap(&w.time[COMM], &w.time[COMPUTE]);
    metric_put_ms(out, "comm_time_ms", sums[COMM].sum_ps);
    metric_put_ms(out, "comp_time_ms", sums[COMPUTE].sum_ps);
    metric_put_ms(out, "overlap_time_ms", both);
    metric_put_number(out, "overlap_ratio_of_comm", ratio(both, sums[COMM].sum_ps));
    metric_put_number(out, "overlap_ratio_of_comp", ratio(both, sums[COMPUTE].sum_ps));
    metric_put_integer(out, "num_comm_kernels", sums[COMM].n);
    metric_put_integer(out, "num_comp_kernels", sums[COMPUTE].n);
}

/* ---- overlap ----------------------------------------------------------------------------------- */

/* How much compute hides, and how long the GPU runs no kernel at all. The guide's tool is right as it
 * stands, but for compute kernels with "broadcast" in their name, which it takes for communication. Copies
 * of memory are idle time here; gpu_utilization counts them as work. */

static const metric_pick guide_work =
    METRIC_PICK(METRIC_LASTING, {COMM, "kernel", .names = "nccl|allgather|allreduce|reducescatter|broadcast"},
                {COMPUTE, .words = "kernel"});

/* Puts what unions of compute, communication and both come to; the originals say times in microseconds,
 * too. */
static bool measure(const metric_context *x, const guide_rank *r, dse_arena *scratch)
{
    static const char nothing[] = "no kernels";
    const bool compat = x->options->compat;
    metric_sums sums[WORKS] = {{0}};
    const work w =
        compat ? work_picked(r->rank, &r->view->kernels, &guide_work, scratch, sums) : work_of(r->view);
    const int64_t span = w.all.n ? w.all.span[w.all.n - 1].end - w.all.span[0].start : 0;
    const double span_us = guide_us(span);
    const struct {
        const char *name;
        double us;
    } times[] = {{"compute", guide_us(metric_spans_length(&w.time[COMPUTE]))},
                 {"communication", guide_us(metric_spans_length(&w.time[COMM]))},
                 {"overlap", guide_us(metric_spans_overlap(&w.time[COMPUTE], &w.time[COMM]))},
                 {"bubble", guide_us(span - metric_spans_length(&w.all))}};
    const double compute_us = times[0].us, comm_us = times[1].us, overlap_us = times[2].us;

    for (size_t i = 0; i < DSE_COUNT(times); i++) {
        if (compat)
            metric_put_number(r->out, dse_arena_printf(x->arena, "%s_time_us", times[i].name), times[i].us);
        metric_put_number(r->out, dse_arena_printf(x->arena, "%s_time_ms", times[i].name),
                          times[i].us / 1000);
    }
    metric_put_number(r->out, "total_kernel_time_ms", guide_us(metric_spans_length(&w.all)) / 1000);
    if (!compat) {
        metric_put_number(r->out, "kernel_span_ms", span_us / 1000);
        metric_put_number(r->aside, "overlap_efficiency", comm_us > 0 ? overlap_us / comm_us * 100 : NAN);
    }
    guide_put_share(x, r->out, "overlap_efficiency", overlap_us, comm_us, "no communication");
    guide_put_share(x, r->out, "compute_percentage", compute_us, span_us, nothing);
    guide_put_share(x, r->out, "comm_percentage", comm_us, span_us, nothing);
    guide_put_share(x, r->out, "bubble_percentage", times[3].us, span_us, nothing);
    metric_put_count(r->out, "num_compute_kernels", w.n[COMPUTE]);
    metric_put_count(r->out, "num_comm_kernels", w.n[COMM]);
    return true;
}

static void overlap(const metric_context *x, metric_value *out)
{
    guide_ranks ranks = guide_measure(x, out, measure, 0);

    guide_put_mean(&ranks, "overlap_efficiency", "no communication", out);
    guide_put_mean(&ranks, "compute_time_ms", NULL, out);
    guide_put_mean(&ranks, "communication_time_ms", NULL, out);
    guide_put_mean(&ranks, "overlap_time_ms", NULL, out);
    guide_put_mean(&ranks, "bubble_time_ms", NULL, out);
    metric_put_integer(out, "total_compute_kernels", (int64_t)guide_sum(&ranks, "num_compute_kernels"));
    metric_put_integer(out, "total_comm_kernels", (int64_t)guide_sum(&ranks, "num_comm_kernels"));
    guide_put_ranks(&ranks, "per_rank_stats", out);
}

/* ---- compute_comm_overlap, communication_overlap_ratio ------------------------------------------ */

static void add_covered(const metric_context *x, const later_kernels *k, later_result *r)
{
    metric_spans comm = later_union(k, true, x->arena), compute = later_union(k, false, x->arena);

    later_add(r, later_rank_of(k), (double)metric_spans_overlap(&comm, &compute),
              (double)metric_spans_length(&comm));
}

/* Adds what the inner steps hold of communication, and of that which is covered. */
static void add_steps(const metric_spans *comm, const metric_spans *compute, const metric_steps *all,
                      const trace_rank *rank, dse_arena *a, later_result *r)
{
    const metric_steps inner = metric_steps_inner(all);
    const metric_spans both = metric_spans_intersect(comm, compute, a);

    later_add(r, rank, metric_steps_hold(&inner, &both), metric_steps_hold(&inner, comm));
}

static void add_covered_steps(const metric_context *x, const later_kernels *k, later_result *r)
{
    const metric_spans comm = later_union(k, true, x->arena), compute = later_union(k, false, x->arena);
    metric_steps steps = {0};

    for (metric_mark mark = 0; mark < LATER_MARKS && !steps.n; mark++)
        steps = later_steps_of(
            x, k->index, x->options->compat && mark == METRIC_MARK_SGLANG ? METRIC_MARK_RUN_BATCH : mark);
    add_steps(&comm, &compute, &steps, k->rank, x->arena, r);
}

static double length_of(const metric_step *s) { return (double)(s->span.end - s->span.start); }

/* The engine's steps; without any, step markers that last more than a tenth of the longest. */
static metric_steps xla_steps(const metric_context *x)
{
    metric_steps s = later_steps_of(x, 0, METRIC_MARK_ENGINE_LINE);
    const bool marked = s.n == 0;
    double most_ps = 0;
    uint32_t kept = 0;

    if (marked)
        s = later_steps_of(x, 0, METRIC_MARK_STEP_MARKER);
    for (uint32_t i = 0; i < s.n && marked; i++)
        most_ps = fmax(length_of(&s.step[i]), most_ps);
    for (uint32_t i = 0; i < s.n; i++)
        if (most_ps <= 0 || length_of(&s.step[i]) > most_ps * 0.1)
            s.step[kept++] = s.step[i];
    s.n = kept;
    return s;
}

static const metric_pick xla_work =
    METRIC_PICK(0, {COMM, .names = LATER_COMM_XLA}, {COMPUTE, .names = LATER_COMPUTE_XLA});

static void xla_upstream_overlap(const metric_context *x, later_result *out)
{
    const metric_steps steps = xla_steps(x);
    metric_sums sums[WORKS] = {{0}};
    const work w = work_picked(&x->record->rank[0], NULL, &xla_work, x->arena, sums);

    add_steps(&w.time[COMM], &w.time[COMPUTE], &steps, NULL, x->arena, out);
}

static const metric_entry entries[] = {{"comp_time_ms", "ms", METRIC_LOWER, METRIC_STEP_TOLERANCE},
                                       {"comm_time_ms", "ms", METRIC_LOWER, METRIC_WAIT_TOLERANCE},
                                       {"exposed_comm_time_ms", "ms", METRIC_LOWER, METRIC_WAIT_TOLERANCE},
                                       {"overlap_ratio_of_comm", "", METRIC_HIGHER, METRIC_WAIT_TOLERANCE}};

/* An Nsight Systems export names no steps, and the clock of a TPU's device has none of the host: all of it
 * counts there; the devices of an export are pooled. */
static const metric rows[] = {
    {METRIC_ROW("comm_comp_overlap", "kineto", "", METRIC_ON_GPU, METRIC_NEEDS_GPU,
                "how much of the communication compute kernels cover: mean ratio over ranks, and times "
                "(unions); --steps inner: within the steps but the first and the last"),
     .sums =
         "comm_time_ms|comp_time_ms|overlap_time_ms|exposed_comm_time_ms|num_comm_kernels|num_comp_kernels",
     .compute = comm_comp_overlap, METRIC_ENTRIES(entries), .compat_put = comm_comp_overlap_compat,
     .compat_kinds = METRIC_ON_HOST},
    {METRIC_ROW("overlap", "guide", "", METRIC_ON_GPU, METRIC_NEEDS_GPU,
                "time of compute and of communication kernels, what they share, and when no kernel runs: "
                "means over ranks"),
     .put = overlap, .compat_put = overlap, .compat_kinds = METRIC_ON_HOST},
    {LATER_VALUE("communication_overlap_ratio", "", METRIC_ON_GPU,
                 "communication that compute covers, 0 to 1, whole trace, mean over ranks"),
     LATER_RULE(.fold = add_covered, .words = LATER_COMM_PLAIN, .nsys = add_covered,
                .nsys_words = LATER_COMM_NSYS, .mean = METRIC_ON_HOST, .scale = 1,
                .why = "the trace has no communication kernels")},
    {LATER_VALUE("compute_comm_overlap", "%", LATER_ON_ALL,
                 "communication that compute covers, within the inner steps"),
     LATER_RULE(.fold = add_covered_steps, .words = LATER_COMM_OVERLAP, .nsys = add_covered,
                .tpu = add_covered, .tpu_compat = xla_upstream_overlap, .mean = METRIC_ON_HOST, .scale = 100,
                .why = "no step has both a marker and communication"),
     METRIC_ENTRY("compute_comm_overlap", "%", METRIC_HIGHER, METRIC_WAIT_TOLERANCE)},
};

METRIC_FAMILY(overlap);
