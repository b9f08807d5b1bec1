/* metric_view -- the common knowledge about one rank, worked out once: which events are kernels, which
 * communicate and how, the unions of their times, the steps.
 *
 * Kernels without duration are in the lists and count, but are in no union. Everything is in the view's
 * arena. */
#ifndef DSE_METRICS_VIEW_H
#define DSE_METRICS_VIEW_H

#include "metrics/events.h"
#include "metrics/kinds.h"
#include "metrics/tpu_ops.h"

/* The layer of a trace that reports its collectives; the same call appears in several. */
typedef enum {
    METRIC_LAYER_NONE,
    METRIC_LAYER_KERNEL,
    METRIC_LAYER_GPU_ANNOTATION,
    METRIC_LAYER_ANNOTATION
} metric_layer;

/* "gpu_user_annotation" */
extern const char *const metric_layer_name[METRIC_LAYER_ANNOTATION + 1];

typedef struct {
    int64_t number; /* of ProfilerStep#<number>; of Nsight Systems: of iteration*, step* too, or counted */
    metric_span span;
    uint32_t lane; /* of picked events (steps.h) */
} metric_step;

typedef struct {
    uint32_t n;
    metric_step *step;
} metric_steps;

/* By number, then start. */
void metric_sort_steps(metric_step *step, uint32_t n);

/* Keeps the steps that are in no other of their lane; by lane and start. */
void metric_steps_keep_outermost(metric_steps *s);

typedef struct {
    const trace_rank *rank;
    dse_arena arena;
    metric_events kernels;    /* all kernels */
    metric_events compute;    /* those that do not communicate */
    metric_events comm;       /* communications, of one layer; nodes of an execution trace */
    metric_events memory_ops; /* copies and sets of memory */
    metric_layer comm_layer;
    uint8_t *comm_type; /* metric_comm_type of comm.event[i] */
    uint8_t *work;      /* metric_work by name id; valid for names of kernels */
    metric_spans kernel_time, compute_time, comm_time,
        memory_time;       /* unions; equal ones may be the same spans */
    metric_spans gpu_time; /* of kernels and memory operations */
    metric_span gpu_span;  /* first start to last end of those; empty (end <= start) if there are none */
    uint32_t n_steps;
    metric_step *step;    /* host side, by number */
    uint32_t n_gpu_steps; /* those that newer traces repeat on the GPU's side */
    metric_step *gpu_step;
    /* By place in kernels, in memory_ops: the host event that launched it (same correlation); DSE_NONE. */
    uint32_t *launch, *memory_launch;
    /* by place in comm: its place in kernels. NULL unless comm_layer is METRIC_LAYER_KERNEL */
    uint32_t *comm_at;
    tpu_rank tpu; /* the devices of a TRACE_XLA; none of others */
} metric_view;

/* Works it out. The rank is borrowed. */
void metric_view_init(metric_view *v, const trace_rank *rank);
void metric_view_free(metric_view *v);

/* Union of the communication kernels alone: empty where the communications are annotations, which are no GPU
 * time. */
static inline metric_spans metric_comm_kernel_time(const metric_view *v)
{
    return v->comm_layer == METRIC_LAYER_KERNEL ? v->comm_time : (metric_spans){0, NULL};
}

static inline metric_events metric_comm_kernels(const metric_view *v)
{
    return v->comm_layer == METRIC_LAYER_KERNEL ? v->comm : (metric_events){0, NULL};
}

/* The name by which kernels are told apart: of Nsight Systems the demangled one, since all of CUTLASS's are a
 * "Kernel2". Its kind of work. */
uint32_t metric_kernel_name(const trace_rank *r, const trace_event *e);
metric_work metric_kernel_work(const metric_view *v, const trace_event *e);

/* The last part of its path; "" if it has none. */
const char *metric_file_name(const trace_rank *rank);

#endif
