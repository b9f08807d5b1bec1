/* later_tpu -- how the later tools read a TPU's Chrome trace: the duration events of every line of the device
 * processes, each with its device duration if it has one. All of the first file; the definitions read
 * tpu_ops.h instead. */
#ifndef DSE_METRICS_LATER_TPU_H
#define DSE_METRICS_LATER_TPU_H

#include "metrics/context.h"
#include "metrics/pick.h"

typedef struct {
    const trace_rank *rank;
    const bool *lane; /* those of devices */
    metric_picker collectives;
} later_tpu;

/* Whether the process of each lane has "/device:TPU:" in its name, SparseCores included; all if none has. */
bool *later_tpu_lanes(const trace_rank *r, dse_arena *a);

later_tpu later_tpu_of(const metric_context *x);

/* By its exact name, or its category. */
bool later_tpu_communicates(later_tpu *t, const trace_event *e);

/* Whether the event is a duration event of a device. */
static inline bool later_tpu_has(const later_tpu *t, const trace_event *e)
{
    return !e->instant && t->lane[e->lane];
}

/* Its device duration, else its own, whose microseconds the tools add to the others' nanoseconds as they
 * are. */
static inline double later_tpu_ps(const later_tpu *t, size_t event)
{
    trace_device_time d = trace_device_time_of(t->rank, event);

    return d.dur_ps >= 0 ? (double)d.dur_ps : (double)t->rank->event[event].dur_ps / 1000;
}

/* Texts of an event's args; "" if not given. */
static inline const char *later_tpu_category(const trace_rank *r, const trace_event *e)
{
    const char *text = e->args == DSE_NONE ? NULL : TRACE_NAME(r, r->args[e->args].hlo_category);

    return text ? text : "";
}

/* An asynchronous copy, copy-start.<n> to copy-done.<n>, by the device's clock. */
typedef struct {
    metric_span span;
    double bytes; /* accessed, of the start; 0: unknown */
} later_copy;

typedef struct {
    size_t n;
    later_copy *copy; /* in the order of the file */
} later_copies;

/* Whose copies: by lanes (NULL: all), by process (DSE_NONE: all), and whether copies without a number count. A
 * done belongs to the last start of its number, so without a process, devices that interleave are mixed up. */
typedef struct {
    const trace_rank *rank;
    const bool *lane;
    uint32_t pid;
    bool bare;
} later_copiers;

/* In the arena of the context, whose scratch memory it uses. */
later_copies later_copies_of(const metric_context *x, const later_copiers *by);

#endif
