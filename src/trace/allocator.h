/* trace_allocator -- what a PyTorch memory snapshot records of one process: the caching allocator's segments
 * and blocks at that moment, and the history of allocations before it.
 *
 * Source: torch.cuda.memory._snapshot(): segments[] with blocks[], device_traces[device][]. Sizes are
 * bytes. */
#ifndef DSE_TRACE_ALLOCATOR_H
#define DSE_TRACE_ALLOCATOR_H

#include "base/alloc.h"

typedef enum {
    TRACE_ALLOC,
    TRACE_FREE_REQUESTED,
    TRACE_FREE_COMPLETED,
    TRACE_SEGMENT_ALLOC,
    TRACE_SEGMENT_FREE,
    TRACE_SEGMENT_MAP,
    TRACE_SEGMENT_UNMAP,
    TRACE_SNAPSHOT_TAKEN,
    TRACE_OOM,
    TRACE_ACTIONS
} trace_action;

/* As PyTorch spells it: "free_requested". */
const char *trace_action_name(trace_action a);

/* In what an allocation was made, by its stack: in an optimizer's step (a function of torch/optim), in a
 * backward pass (autograd's engine is below it, torch.autograd runs it), in the call of a module, or in
 * anything else; the first of these that holds. Untold: it has no stack. */
typedef enum {
    TRACE_BY_UNTOLD,
    TRACE_BY_OPTIMIZER,
    TRACE_BY_BACKWARD,
    TRACE_BY_MODULE,
    TRACE_BY_OTHER,
    TRACE_CALLERS
} trace_caller;

/* An entry of a history. `size` is the requested size, not the size of the block. */
typedef struct {
    uint64_t address; /* TRACE_OOM: free bytes of the device */
    uint64_t size;
    int64_t time_us; /* INT64_MIN: not given */
    uint8_t action;  /* trace_action */
    uint8_t caller;  /* trace_caller; of an allocation */
} trace_allocation;

/* A block that is allocated at the moment of the snapshot, of versions that write its address. */
typedef struct {
    uint64_t address, requested;
    uint32_t device;
    uint8_t caller; /* trace_caller */
} trace_held;

typedef enum {
    TRACE_ACTIVE_ALLOCATED,
    TRACE_ACTIVE_PENDING_FREE,
    TRACE_INACTIVE,
    TRACE_BLOCK_STATES
} trace_block_state;
const char *trace_block_state_name(trace_block_state s);

typedef struct {
    uint32_t device;
    uint64_t total_size, allocated_size, active_size, requested_size;
    uint32_t n_blocks[TRACE_BLOCK_STATES];
    uint32_t n_other_blocks;                /* in an unknown state */
    uint64_t requested[TRACE_BLOCK_STATES]; /* sums of the blocks' requested_size */
    bool has_requested;                     /* every block has it; older versions do not write it */
} trace_segment;

typedef struct {
    uint32_t device;
    size_t n, cap;
    trace_allocation *entry; /* oldest first */
} trace_history;

/* A value of allocator_settings, which differ between versions: a tree with its root at entry 0 and numbers
 * and texts at the leaves. */
typedef enum {
    TRACE_SETTING_NONE,
    TRACE_SETTING_BOOL,
    TRACE_SETTING_INTEGER,
    TRACE_SETTING_NUMBER,
    TRACE_SETTING_TEXT,
    TRACE_SETTING_LIST,
    TRACE_SETTING_MAP
} trace_setting_kind;

typedef struct {
    trace_setting_kind kind;
    uint32_t key, text; /* in the rank's names; DSE_NONE */
    int64_t integer;    /* also of a bool */
    double number;
    uint32_t first, next; /* first child, next sibling; DSE_NONE ends the chain */
} trace_setting;

typedef struct {
    size_t n_segments, cap_segments;
    trace_segment *segment;
    size_t n_histories, cap_histories;
    trace_history *history; /* one per device, in the order of the file */
    size_t n_held, cap_held;
    trace_held *held;
    size_t n_settings, cap_settings;
    trace_setting *setting;
    uint64_t n_unknown_actions; /* entries with an unknown action; they are in no history */
} trace_allocator;

void trace_allocator_free(trace_allocator *a); /* accepts NULL; frees *a too */

#endif
