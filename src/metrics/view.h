/* metric_view -- what most metrics ask of one rank, worked out once: which events are kernels, which communicate and how,
 * the unions of their times, the steps.
 *
 * Event lists hold indexes into rank->event in the order of start (ties: of the file). Kernels that last
 * no time are in the lists and count, but are in no union. Everything is in the view's arena. */
#ifndef DSE_METRICS_VIEW_H
#define DSE_METRICS_VIEW_H

#include "metrics/kinds.h"
#include "metrics/spans.h"
#include "metrics/tpu_ops.h"
#include "trace/record.h"

typedef struct {
    uint32_t n;
    uint32_t *event;
} metric_events;

/* Which layer of a trace reports its collectives: one and the same call shows in several. */
typedef enum {
    METRIC_LAYER_NONE,
    METRIC_LAYER_KERNEL,
    METRIC_LAYER_GPU_ANNOTATION,
    METRIC_LAYER_ANNOTATION
} metric_layer;

/* "gpu_user_annotation" */
const char *metric_layer_name(metric_layer l);

typedef struct {
    int64_t number; /* of ProfilerStep#<number>; of Nsight Systems: of iteration*, step* too, or counted */
    metric_span span;
} metric_step;

typedef struct {
    const trace_rank *rank;
    dse_arena arena;
    metric_events kernels;    /* all kernels */
    metric_events compute;    /* those that do not communicate */
    metric_events comm;       /* communications, of one layer */
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
    uint32_t *launch; /* by place in kernels: the host event that launched it (same correlation); DSE_NONE */
    uint32_t
        *comm_at; /* by place in comm: its place in kernels. NULL unless comm_layer is METRIC_LAYER_KERNEL */
    tpu_rank tpu; /* the devices of a TRACE_XLA; none of others */
} metric_view;

/* Puts event indexes into the order of start. */
void metric_sort_by_start(const trace_rank *rank, metric_events *e, dse_arena *scratch);

/* Union of the times of a list by start, in the arena. */
metric_spans metric_union_of(const trace_rank *rank, const metric_events *e, dse_arena *a);

/* The same of those of one class, as which are numbered the events at the same places of the list. */
metric_spans metric_union_of_class(const trace_rank *rank, const metric_events *e, const uint8_t *class_of,
                                   uint8_t class, dse_arena *a);

/* How long the union of each class is, of a list by start. In one pass. */
void metric_class_lengths(const trace_rank *rank, const metric_events *e, const uint8_t *class_of,
                          uint8_t n_classes, int64_t *ps);

/* Works it out. The rank is borrowed. */
void metric_view_init(metric_view *v, const trace_rank *rank);
void metric_view_free(metric_view *v);

/* Union of the communication kernels alone: empty where the communications are annotations, which are no GPU time. */
static inline metric_spans metric_comm_kernel_time(const metric_view *v)
{
    return v->comm_layer == METRIC_LAYER_KERNEL ? v->comm_time : (metric_spans){0, NULL};
}

static inline metric_events metric_comm_kernels(const metric_view *v)
{
    return v->comm_layer == METRIC_LAYER_KERNEL ? v->comm : (metric_events){0, NULL};
}

static inline int64_t metric_start(const trace_event *e) { return e->start_ps; }
static inline int64_t metric_end(const trace_event *e) { return e->start_ps + e->dur_ps; }

/* The last part of its path; "" if it has none. */
const char *metric_file_name(const trace_rank *rank);

#define METRIC_TEXT_OF(rank, e) ((e)->name == DSE_NONE ? "" : (rank)->names.text[(e)->name])

#endif
