/* memory_devices -- a memory snapshot's devices: what each holds, and what its history says it held at most.
 *
 * A snapshot is the state at one moment, and the history that led there; the peak lies in the history. It
 * is walked backwards from the snapshot, undoing each entry. History sizes are requested sizes, so the
 * start is what the blocks requested: those that are allocated, for memory that tensors hold; all active
 * ones, for memory that is freed but still waits for a stream, too. Source: spec of the metrics, section
 * 5.3; PyTorch's CUDACachingAllocator for the meaning of the actions. Checked against the recordings of
 * the reference set. */
#ifndef DSE_METRICS_MEMORY_DEVICES_H
#define DSE_METRICS_MEMORY_DEVICES_H

#include "base/alloc.h"
#include "trace/allocator.h"

/* The levels that are followed through time. */
enum { MEMORY_RESERVED, MEMORY_ALLOCATED, MEMORY_ACTIVE, MEMORY_LEVELS };

typedef struct {
    uint32_t device;
    uint64_t reserved, allocated, active, requested; /* sums over the segments at the snapshot */
    uint64_t n_segments, n_blocks;
    uint64_t allocated_requested, active_requested; /* of the blocks, by what they are */
    bool has_requested;
    bool has_history;
    int64_t peak[MEMORY_LEVELS], start[MEMORY_LEVELS]; /* start: before the oldest entry */
    uint64_t actions[TRACE_ACTIONS];
    uint64_t oom_bytes, oom_free; /* of the largest request that failed */
} memory_device;

typedef struct {
    size_t n;
    memory_device *device; /* ascending */
} memory_devices;

/* Adds what a segment holds. */
void memory_add_segment(memory_device *d, const trace_segment *s);

/* Whether the history does not reach back to where nothing was held: the peak may lie before it. */
bool memory_is_lower_bound(const memory_device *d);

/* The devices with segments or a history, in the arena. */
memory_devices memory_devices_of(const trace_allocator *a, dse_arena *arena);

#endif
