#include "metrics/memory_devices.h"

#include "metrics/order.h"

#include <stdlib.h>

/* The change of each level by an entry; walking backwards subtracts it. */
static const int8_t adds[TRACE_ACTIONS][MEMORY_LEVELS] = {
    [TRACE_ALLOC] = {[MEMORY_ALLOCATED] = 1, [MEMORY_ACTIVE] = 1},
    [TRACE_FREE_REQUESTED] = {[MEMORY_ALLOCATED] = -1},
    [TRACE_FREE_COMPLETED] = {[MEMORY_ACTIVE] = -1},
    [TRACE_SEGMENT_ALLOC] = {[MEMORY_RESERVED] = 1},
    [TRACE_SEGMENT_MAP] = {[MEMORY_RESERVED] = 1},
    [TRACE_SEGMENT_FREE] = {[MEMORY_RESERVED] = -1},
    [TRACE_SEGMENT_UNMAP] = {[MEMORY_RESERVED] = -1}};

/* ---- one device ----------------------------------------------------------------------------- */

void memory_add_segment(memory_device *d, const trace_segment *s)
{
    d->reserved += s->total_size;
    d->allocated += s->allocated_size;
    d->active += s->active_size;
    d->requested += s->requested_size;
    d->n_segments++;
    d->n_blocks += s->n_other_blocks;
    for (int i = 0; i < TRACE_BLOCK_STATES; i++)
        d->n_blocks += s->n_blocks[i];
    d->allocated_requested += s->requested[TRACE_ACTIVE_ALLOCATED];
    d->active_requested += s->requested[TRACE_ACTIVE_ALLOCATED] + s->requested[TRACE_ACTIVE_PENDING_FREE];
    d->has_requested &= s->has_requested;
}

/* In unsigned arithmetic, which wraps where a made-up file overflows. */
static void replay(memory_device *d, const trace_history *h)
{
    uint64_t level[MEMORY_LEVELS] = {[MEMORY_RESERVED] = d->reserved,
                                     [MEMORY_ALLOCATED] = d->allocated_requested,
                                     [MEMORY_ACTIVE] = d->active_requested};

    d->has_history = h->n > 0;
    for (int i = 0; i < MEMORY_LEVELS; i++)
        d->peak[i] = (int64_t)level[i];
    for (size_t e = h->n; e-- > 0;) {
        const trace_allocation *a = &h->entry[e];

        d->actions[a->action]++;
        if (a->action == TRACE_OOM && a->size >= d->oom_bytes) {
            d->oom_bytes = a->size;
            d->oom_free = a->address;
        }
        for (int i = 0; i < MEMORY_LEVELS; i++) {
            level[i] -= (uint64_t)(int64_t)adds[a->action][i] * a->size;
            if ((int64_t)level[i] > d->peak[i])
                d->peak[i] = (int64_t)level[i];
        }
    }
    for (int i = 0; i < MEMORY_LEVELS; i++)
        d->start[i] = (int64_t)level[i];
}

bool memory_is_lower_bound(const memory_device *d)
{
    return d->start[MEMORY_RESERVED] || (d->has_requested && d->start[MEMORY_ACTIVE]);
}

/* ---- the devices of a rank ------------------------------------------------------------------ */

METRIC_COMPARE(by_device, memory_device, {x->device, y->device})

static memory_device *find(const memory_devices *all, uint32_t number)
{
    const memory_device key = {.device = number};

    return bsearch(&key, all->device, all->n, sizeof key, by_device);
}

memory_devices memory_devices_of(const trace_allocator *a, dse_arena *arena)
{
    memory_devices all = {0, DSE_ARENA_NEW(arena, memory_device, a->n_segments + a->n_histories + 1)};
    size_t n = 0;

    for (size_t i = 0; i < a->n_segments; i++)
        all.device[n++].device = a->segment[i].device;
    for (size_t i = 0; i < a->n_histories; i++)
        if (a->history[i].n)
            all.device[n++].device = a->history[i].device;
    qsort(all.device, n, sizeof *all.device, by_device);
    for (size_t i = 0; i < n; i++)
        if (!all.n || all.device[all.n - 1].device != all.device[i].device)
            all.device[all.n++] = (memory_device){.device = all.device[i].device, .has_requested = true};
    for (size_t i = 0; i < a->n_segments; i++)
        memory_add_segment(find(&all, a->segment[i].device), &a->segment[i]);
    for (size_t i = 0; i < a->n_histories; i++)
        if (a->history[i].n)
            replay(find(&all, a->history[i].device), &a->history[i]);
    return all;
}
