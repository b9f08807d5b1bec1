/* metric_kernel_shape -- what a kernel computes, by the sizes that the operator which launched it says. */
#ifndef DSE_METRICS_KERNEL_SHAPES_H
#define DSE_METRICS_KERNEL_SHAPES_H

#include "metrics/view.h"

typedef struct {
    const char *class;     /* "matmul", as workload/kernel.h spells it; NULL: not known */
    double m, n, k, batch; /* of a product; of attention tokens of queries and keys, size and number of heads;
                              else m elements */
    double element_bytes, operations, bytes; /* of the whole call, which may have several kernels */
} metric_kernel_shape;

/* Of each kernel, by its place in the view's kernels; in the arena. Attention is taken without a mask. */
metric_kernel_shape *metric_kernel_shapes_of(const metric_view *v, dse_arena *a);

#endif
