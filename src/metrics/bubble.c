/* Time that a pipeline's stages wait.
 *
 * A rank's window is its GPU timeline, or what of it lies in the profiled steps where the GPU's side of the
 * trace marks them. Busy is compute, memory operations, and communication that is not point-to-point: a send
 * or receive kernel that waits for its peer is bubble, one that compute covers is not. All-to-all is no
 * point-to-point, though its kernels are called SendRecv. */
#include "metrics/metric.h"
#include "metrics/numbers.h"
#include "metrics/parallel.h"
#include "metrics/pick.h"

typedef struct {
    int64_t window, bubble; /* ps */
} idle;

static void add(idle *to, idle of)
{
    to->window += of.window;
    to->bubble += of.bubble;
}

/* From the first to the last GPU event inside the steps; empty if there is none. */
static metric_span window_of(const metric_view *v)
{
    const metric_events *const lists[] = {&v->kernels, &v->memory_ops};
    metric_span window = METRIC_NO_SPAN, steps = window;

    if (!v->n_gpu_steps)
        return v->gpu_span;
    for (uint32_t i = 0; i < v->n_gpu_steps; i++)
        metric_span_extend(&steps, v->gpu_step[i].span.start, v->gpu_step[i].span.end);
    for (size_t l = 0; l < 2; l++)
        for (uint32_t i = 0; i < lists[l]->n; i++) {
            const trace_event *e = &v->rank->event[lists[l]->event[i]];

            if (metric_start(e) >= steps.start && metric_end(e) <= steps.end)
                metric_span_extend(&window, metric_start(e), metric_end(e));
        }
    return window;
}

static idle idle_of(const metric_view *v, dse_arena *scratch)
{
    const metric_events kernels = metric_comm_kernels(v);
    uint8_t *waits = DSE_ARENA_NEW(scratch, uint8_t, kernels.n);
    metric_spans work = metric_spans_unite(&v->compute_time, &v->memory_time, scratch), comm, busy;
    metric_span window = window_of(v);

    for (uint32_t i = 0; i < kernels.n; i++)
        waits[i] = v->comm_type[i] == METRIC_SEND_RECV;
    comm = metric_union_of_class(v->rank, &kernels, waits, false, scratch);
    busy = metric_spans_unite(&work, &comm, scratch);
    if (window.end <= window.start)
        return (idle){0, 0};
    return (idle){window.end - window.start,
                  window.end - window.start - metric_spans_within(&busy, window.start, window.end)};
}

/* ---- stages --------------------------------------------------------------------------------- */

/* Place in the pipeline group that the trace itself declares; DSE_NONE. */
static uint32_t stage_of_groups(const trace_rank *r, dse_arena *a)
{
    for (size_t g = 0; g < r->n_groups; g++) {
        const char *desc = TRACE_NAME(r, r->group[g].desc), *list = TRACE_NAME(r, r->group[g].ranks);
        metric_ranks ranks;

        if (!desc || !list || metric_parallel_of_description(desc) != METRIC_PP)
            continue;
        ranks = metric_ranks_of(list, r->group[g].size, a);
        for (uint32_t i = ranks.n; i-- > 0;)
            if (ranks.rank[i] == r->rank)
                return i;
    }
    return DSE_NONE;
}

/* The stages of all ranks, by the card, or else by the groups. */
static dse_status find_stages(const metric_context *x, uint32_t *stage, dse_error *err)
{
    metric_layout layout = {0};
    dse_status st = x->card ? metric_layout_of(x->card, &layout, err) : DSE_OK;

    for (uint32_t i = 0; st == DSE_OK && i < x->n_views; i++) {
        stage[i] = metric_layout_stage(&layout, x->view[i].rank->rank);
        if (stage[i] == DSE_NONE)
            stage[i] = stage_of_groups(x->view[i].rank, x->arena);
    }
    return st;
}

/* The lowest stage above one, from DSE_NONE on; DSE_NONE: there is none. */
static uint32_t next_stage(const uint32_t *stage, uint32_t n, uint32_t above)
{
    uint32_t next = DSE_NONE;

    for (uint32_t i = 0; i < n; i++)
        if ((above == DSE_NONE || stage[i] > above) && stage[i] < next)
            next = stage[i];
    return next;
}

static void put_idle(const idle *of, metric_value *to)
{
    metric_put_ms(to, "span_ms", of->window);
    metric_put_ms(to, "bubble_time_ms", of->bubble);
    metric_put_ratio(to, "bubble_ratio", (double)of->bubble, (double)of->window, "no GPU events");
}

static void put_stages(const idle *of, const uint32_t *stage, uint32_t n, metric_value *out)
{
    metric_value *stages = metric_put_object(out, "per_stage"), *one;

    for (uint32_t s = DSE_NONE; (s = next_stage(stage, n, s)) != DSE_NONE;) {
        idle sum = {0};
        uint32_t ranks = 0;

        for (uint32_t i = 0; i < n; i++)
            if (stage[i] == s) {
                add(&sum, of[i]);
                ranks++;
            }
        one = metric_put_numbered(stages, s);
        metric_put_integer(one, "num_ranks", ranks);
        put_idle(&sum, one);
    }
}

/* ---- pipeline_bubble ------------------------------------------------------------------------- */

static void put_sum(idle sum, uint32_t n_ranks, metric_value *out)
{
    metric_put_ms(out, "bubble_time_ms", sum.bubble);
    metric_put_ms(out, "total_time_ms", sum.window);
    metric_put_integer(out, "num_ranks", n_ranks);
}

static dse_status pipeline_bubble(const metric_context *x, metric_value *out, dse_error *err)
{
    const trace_card *c = x->card;
    uint32_t *stage = DSE_ARENA_NEW(x->arena, uint32_t, x->n_views);
    idle *of = DSE_ARENA_NEW(x->arena, idle, x->n_views), sum = {0};
    dse_status st = find_stages(x, stage, err);
    bool staged = true;
    metric_value *ranks;

    if (st != DSE_OK)
        return st;
    for (uint32_t i = 0; i < x->n_views; i++) {
        of[i] = idle_of(&x->view[i], metric_scratch(x));
        add(&sum, of[i]);
        staged = staged && stage[i] != DSE_NONE;
    }
    metric_put_ratio(out, "bubble_ratio", (double)sum.bubble, (double)sum.window, "no GPU events");
    put_sum(sum, x->n_views, out);
    /* Of a schedule without interleaving, with p stages and m micro-batches, it is (p - 1) / (m + p - 1). */
    if (c && c->pp > 1 && c->pp_mb > 0)
        metric_put_number(out, "ideal_bubble_ratio", (double)(c->pp - 1) / (double)(c->pp_mb + c->pp - 1));
    else
        metric_put_absent(out, "ideal_bubble_ratio", "the card does not give pp and pp_mb");
    if (staged)
        put_stages(of, stage, x->n_views, out);
    else
        metric_put_absent(out, "per_stage",
                          "neither the card nor the process groups say which rank is in which stage");
    ranks = metric_put_object(out, "per_rank");
    for (uint32_t i = 0; i < x->n_views; i++) {
        metric_value *rank = metric_put_rank(ranks, x->view[i].rank);

        put_idle(&of[i], rank);
        if (stage[i] != DSE_NONE)
            metric_put_integer(rank, "stage", stage[i]);
    }
    return DSE_OK;
}

/* ---- as the original tool has it -------------------------------------------------------------- */

#define SIGNIFICANT_GAP_PS (1000 * (int64_t)TRACE_PS_PER_US)

static const metric_pick steps =
                             METRIC_PICK(METRIC_LASTING | METRIC_TIMED, {.names = "=^" METRIC_STEP_PREFIX}),
                         markers = METRIC_PICK(METRIC_TIMED | METRIC_INSTANTS,
                                               {.names = "pp_|pipeline|stage|microbatch|p2p|send|recv"}),
                         activities =
                             METRIC_PICK(METRIC_LASTING | METRIC_TIMED, {0, .words = "kernel|cpu_op"},
                                         {0, "user_annotation", .names = METRIC_COMPAT_CALLS});

/* Of the last step marker in the file; without one that lasts, of the recording up to the end of the interval
 * that starts last, of equal starts the last in the file. */
static idle compat_idle(const trace_rank *r, dse_arena *a)
{
    const metric_picked step = metric_pick_of(r, NULL, &steps, a),
                        p = metric_pick_of(r, NULL, &activities, a);
    const metric_spans busy = metric_picked_time(&p, METRIC_ANY_CLASS, a);
    const trace_event *last = p.list.n ? metric_picked_at(&p, 0) : NULL;
    idle of = {0};

    if (!busy.n)
        return of;
    if (step.list.n) {
        of.window = metric_picked_at(&step, step.list.n - 1)->dur_ps;
        of.bubble = of.window - metric_spans_length(&busy);
        of.bubble = of.bubble > 0 ? of.bubble : 0;
        return of;
    }
    for (uint32_t i = 1; i < p.list.n; i++)
        if (metric_picked_at(&p, i)->start_ps >= last->start_ps)
            last = metric_picked_at(&p, i);
    of.window = metric_end(last) - busy.span[0].start;
    for (size_t i = 1; i < busy.n; i++)
        if (busy.span[i].start - busy.span[i - 1].end > SIGNIFICANT_GAP_PS)
            of.bubble += busy.span[i].start - busy.span[i - 1].end;
    return of;
}

static void pipeline_bubble_compat(const metric_context *x, metric_value *out)
{
    static const char *const heuristic = "Using heuristic gap-based analysis. For accurate pipeline bubble "
                                         "measurement, use NVTX ranges or Torch "
                                         "Profiler with stage tagging.";
    bool any = false, marked = false;
    idle sum = {0};

    for (uint32_t i = 0; i < x->n_views; i++) {
        const trace_rank *r = x->view[i].rank;
        const idle one = compat_idle(r, metric_scratch(x));

        if (one.window <= 0)
            continue;
        add(&sum, one);
        any = true;
        marked = marked || metric_pick_of(r, NULL, &markers, metric_scratch(x)).list.n > 0;
    }
    metric_put_number(out, "bubble_ratio", sum.window > 0 ? (double)sum.bubble / (double)sum.window : 0);
    put_sum(sum, x->n_views, out);
    metric_put_text(out, "method", !any ? "none" : marked ? "nvtx" : "heuristic");
    if (!any || !marked)
        metric_put_text(out, "warning", any ? heuristic : "Could not analyze any trace files");
    else
        metric_put_absent(out, "warning", NULL);
}

static const metric rows[] = {
    {METRIC_ROW("pipeline_bubble", "kineto", "", METRIC_ON_GPU,
                METRIC_NEEDS_GPU | METRIC_NEEDS_PIPELINE | METRIC_NEEDS_TRAINING,
                "share of the GPU's timeline in which a pipeline stage does nothing or waits in a send or "
                "receive; per stage and rank; of the ideal schedule"),
     .compute = pipeline_bubble, METRIC_ENTRY("bubble_ratio", "", METRIC_LOWER, METRIC_WAIT_TOLERANCE),
     .compat_put = pipeline_bubble_compat, .compat_kinds = METRIC_ON_HOST},
};

METRIC_FAMILY(bubble);
