/* glance -- a run at a glance: where the time of each device goes, the kernels and collectives that take
 * most of it, what it waited for, and which operators launched its work. The first page of `ccldse metrics`
 * shows it.
 *
 * A device is a rank of a GPU trace, or a device of an XLA trace of TPUs. Its window is that of its steps,
 * or from its first to its last event where it has none (as a TPU, whose clock has no steps). Of the
 * window, each instant counts once: compute, communication that no compute covers, copies that neither
 * covers, idle. Kernels and collectives are sums over all of the recording and all devices. */
#ifndef DSE_METRICS_GLANCE_H
#define DSE_METRICS_GLANCE_H

#include "metrics/context.h"
#include "metrics/tally.h"

typedef enum {
    GLANCE_COMPUTE,
    GLANCE_EXPOSED, /* communication */
    GLANCE_COPIES,
    GLANCE_IDLE,
    GLANCE_PARTS
} glance_part;

/* Why a GPU was idle: before each gap's next kernel, copy or fill the call that launched it had not ended
 * yet, because a call blocked the launching thread or for any other reason; it was launched in the gap and
 * had not begun; it had been launched before the gap and waited in its stream, for an event or for its turn
 * in a graph. The launch may not be in the file. */
typedef enum {
    GLANCE_HOST,
    GLANCE_BLOCKED,
    GLANCE_LAUNCH,
    GLANCE_STREAM,
    GLANCE_UNTOLD,
    GLANCE_CAUSES
} glance_cause;

typedef struct {
    const trace_rank *rank;
    uint32_t number;   /* of the rank, or of the TPU */
    int64_t window_ps; /* 0: it did nothing */
    int64_t span_ps;   /* from its first to its last event, in steps or not */
    int64_t part_ps[GLANCE_PARTS];
    int64_t cause_ps[GLANCE_CAUSES]; /* their sum is the idle part; of a TPU untold */
    int64_t gap_ps;                  /* the longest that a GPU was idle at a time */
    uint32_t n_steps;
    double step_ps, least_ps, most_ps; /* mean, least and most of its steps; NaN without */
} glance_device;

/* A kernel, a copy, a collective or an operator over all devices, most time first. */
typedef tally_row glance_row;
typedef tally_rows glance_rows;

typedef struct {
    size_t n_devices;
    glance_device *device; /* in the order of the ranks */
    glance_device all;     /* their sums; the longest gap; mean, least and most of all steps */
    glance_rows kernels, collectives;
    glance_rows copies;   /* and fills of memory, by their names, which say from where to where */
    glance_rows blocking; /* calls in which the host waited for a GPU */
    bool of_tpu;
    const char *program; /* "Megatron-LM", by names in the trace; NULL */
    const char *gpu;     /* "NVIDIA A100-SXM4-40GB"; "MTIA"; NULL: not said */
} glance;

/* In the context's arena. _kinds: those kernels by their kind of work. */
glance glance_of(const metric_context *x);
glance_rows glance_kinds(const glance_rows *kernels, dse_arena *a);

/* The operators of the host that launched the kernels of GPUs, the outermost of each thread: the module is
 * the class of the innermost "nn.Module: ..." around the launch. "(not recorded)" has what no operator in
 * the file launched. */
glance_rows glance_operators(const metric_context *x);

#endif
