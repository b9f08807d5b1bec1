/* Bytes of a communication, from what Kineto writes beside its kernel: "In msg nelems", "Out msg nelems",
 * "dtype", "Group size". Source: spec of the metrics, sections 1, 3.6 and 5.2. */
#ifndef DSE_METRICS_COMM_SIZE_H
#define DSE_METRICS_COMM_SIZE_H

#include "metrics/kinds.h"
#include "trace/record.h"

typedef enum {
    METRIC_SIZE_KNOWN,
    METRIC_SIZE_NOT_GIVEN,    /* no counts of elements, or no dtype */
    METRIC_SIZE_UNKNOWN_DTYPE /* counts, but the size of an element is unknown: an error of that event */
} metric_size_state;

typedef struct {
    metric_size_state state;
    uint64_t in_bytes, out_bytes; /* TRACE_UNKNOWN: that count is not given */
    /* The whole buffer S, from which bus bandwidth and volumes follow: the output of an all-gather or a
     * gather, the input of any other type; the other one if that is 0 or not given. TRACE_UNKNOWN unless the
     * state is METRIC_SIZE_KNOWN. */
    uint64_t bytes;
    uint32_t group_size; /* ranks that take part, of the event or of its declared group; 0: unknown */
} metric_comm_size;

/* Types of elements: PyTorch's plain ones, whatever their case; those that the later tools know, as they
 * are spelt; and of these the floating-point ones, which are all that one of them knows. */
typedef enum { METRIC_DTYPES, METRIC_DTYPES_LATER, METRIC_DTYPES_LATER_FLOAT } metric_dtypes;

/* Bytes of one element: 2 of "BFloat16". 0: not one of these types. */
uint32_t metric_dtype_bytes(const char *dtype, metric_dtypes known);

metric_comm_size metric_comm_size_of(const trace_rank *rank, const trace_event *e, metric_comm_type type);

/* Bytes that cross each rank's link for one byte of the buffer, by ring algorithms of n ranks: 2(n-1)/n of an
 * all-reduce; (n-1)/n of all-gather, reduce-scatter, all-to-all; 1 of others. NaN if it takes an n that is
 * unknown. */
double metric_bus_factor(metric_comm_type type, uint32_t n);

#endif
