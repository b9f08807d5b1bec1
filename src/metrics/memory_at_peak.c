/* In what the memory was allocated that tensors hold at the peak: in the calls of modules, in the backward
 * pass, in the optimizer's step, or elsewhere (where a program makes its model and loads its data).
 *
 * A snapshot does not say what a tensor is for, but its allocations have stacks, which say what the program
 * was doing (trace_caller). What an optimizer's step allocates and is held outside of it is its state; a
 * backward pass makes gradients and temporary tensors, modules activations (of FSDP gathered parameters,
 * too). What was allocated before the history is told by its block, if that is still held at the snapshot,
 * and else not.
 *
 * The peak is that of what tensors requested (peak_memory), of the device with the largest one. */
#include "metrics/metric.h"
#include "metrics/numbers.h"
#include "trace/allocator.h"
#include "trace/pairs.h"

typedef struct {
    int64_t bytes[TRACE_CALLERS], sum;
    bool is_known;
} callers_sum;

static void add(callers_sum *s, uint8_t caller, int64_t bytes)
{
    s->bytes[caller] += bytes;
    s->sum += bytes;
}

/* Walks through a history; what is held at its end stays in *live, its sum is returned, and the peak's sums go
 * to *peak. Memory that is freed but not in *live was there before. */
static int64_t walk(const trace_history *h, callers_sum now, trace_pairs *live, callers_sum *peak)
{
    *peak = now;
    for (size_t i = 0; i < h->n; i++) {
        const trace_allocation *e = &h->entry[i];
        uint32_t *held;
        bool is_new;

        if (e->action != TRACE_ALLOC && e->action != TRACE_FREE_REQUESTED)
            continue;
        held = trace_pairs_at(live, (int64_t)e->address, 0, &is_new);
        if (e->action == TRACE_ALLOC) {
            *held = (uint32_t)i;
            add(&now, e->caller, (int64_t)e->size);
        } else {
            add(&now, *held == DSE_NONE ? TRACE_BY_UNTOLD : h->entry[*held].caller, -(int64_t)e->size);
            *held = DSE_NONE;
        }
        if (now.sum > peak->sum)
            *peak = now;
    }
    return now.sum;
}

/* What is held at the snapshot and is not of the history, which holds `change` more at its end, was there before
 * it; unknown if blocks do not say what was requested. */
static callers_sum held_before(const trace_allocator *a, const trace_history *h, const trace_pairs *live,
                               int64_t change)
{
    callers_sum before = {.is_known = true};
    int64_t at_end = 0;

    for (size_t i = 0; i < a->n_segments; i++)
        if (a->segment[i].device == h->device) {
            at_end += (int64_t)a->segment[i].requested[TRACE_ACTIVE_ALLOCATED];
            before.is_known &= a->segment[i].has_requested;
        }
    for (size_t i = 0; i < a->n_held; i++) {
        const trace_held *b = &a->held[i];

        if (b->device == h->device && trace_pairs_find(live, (int64_t)b->address, 0) == DSE_NONE)
            add(&before, b->caller, (int64_t)b->requested);
    }
    add(&before, TRACE_BY_UNTOLD, at_end - change - before.sum);
    return before;
}

/* Of a rank's fullest device. */
static callers_sum peak_of(const trace_allocator *a)
{
    callers_sum most = {.is_known = false};

    for (const trace_history *h = a->history; h < a->history + a->n_histories; h++) {
        trace_pairs live = {0}, again = {0};
        callers_sum peak, before;

        if (!h->n)
            continue;
        before = held_before(a, h, &live, walk(h, (callers_sum){0}, &live, &peak));
        walk(h, before, &again, &peak);
        for (int c = 0; c < TRACE_CALLERS; c++)
            peak.is_known &= peak.bytes[c] >= 0; /* else blocks and history contradict each other */
        if (peak.is_known && (!most.is_known || peak.sum > most.sum))
            most = peak;
        trace_pairs_free(&live);
        trace_pairs_free(&again);
    }
    return most;
}

static void put(metric_value *to, const callers_sum *s)
{
    static const char *const keys[TRACE_CALLERS] = {[TRACE_BY_UNTOLD] = "untold_bytes",
                                                    [TRACE_BY_OPTIMIZER] = "optimizer_bytes",
                                                    [TRACE_BY_BACKWARD] = "backward_bytes",
                                                    [TRACE_BY_MODULE] = "modules_bytes",
                                                    [TRACE_BY_OTHER] = "elsewhere_bytes"};

    metric_put_integer(to, "memory_at_peak", s->sum);
    for (int c = 1; c <= TRACE_CALLERS; c++)
        metric_put_integer(to, keys[c % TRACE_CALLERS], s->bytes[c % TRACE_CALLERS]);
}

static dse_status memory_at_peak(const metric_context *x, metric_value *out, dse_error *err)
{
    callers_sum *of = DSE_ARENA_NEW(x->arena, callers_sum, (size_t)x->record->n_ranks + 1), *most = NULL;
    metric_value *ranks;

    for (uint32_t i = 0; i < x->record->n_ranks; i++) {
        if (!x->record->rank[i].allocator)
            continue;
        of[i] = peak_of(x->record->rank[i].allocator);
        if (of[i].is_known && (!most || of[i].sum > most->sum))
            most = &of[i];
    }
    if (!most)
        return metric_absent(
            err, "no snapshot has a history with what was requested that fits its blocks; record one with "
                 "torch.cuda.memory._record_memory_history()");
    if (most->bytes[TRACE_BY_UNTOLD] == most->sum)
        return metric_absent(err, "no allocation of the snapshot has a stack; "
                                  "torch.cuda.memory._record_memory_history(stacks='all') records them");
    put(out, most);
    ranks = metric_put_object(out, "per_rank");
    for (uint32_t i = 0; i < x->record->n_ranks; i++)
        if (of[i].is_known)
            put(metric_put_rank(ranks, &x->record->rank[i]), &of[i]);
    return DSE_OK;
}

static const metric rows[] = {
    {METRIC_ROW("memory_at_peak", "guide", "bytes", METRIC_ON(TRACE_SNAPSHOT), METRIC_NEEDS_SNAPSHOT,
                "what tensors hold at the peak, by what allocated it: modules, backward pass, optimizer"),
     .compute = memory_at_peak, .headline = "memory_at_peak"},
};

METRIC_FAMILY(memory_at_peak);
