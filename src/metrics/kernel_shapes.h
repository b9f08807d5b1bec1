/* metric_kernel_shape -- what a kernel computes, by the sizes that the operator which launched it says. */
#ifndef DSE_METRICS_KERNEL_SHAPES_H
#define DSE_METRICS_KERNEL_SHAPES_H

#include "metrics/view.h"

typedef enum {
    METRIC_SHAPE_UNKNOWN,
    METRIC_SHAPE_MATMUL,
    METRIC_SHAPE_ATTENTION,
    METRIC_SHAPE_ATTENTION_BACKWARD,
    METRIC_SHAPE_ATTENTION_PRODUCT,
    METRIC_SHAPE_ELEMENTWISE,
    METRIC_SHAPE_NORMALISATION,
    METRIC_SHAPE_LOOKUP,
    METRIC_SHAPE_CLASSES
} metric_shape_class;

/* "matmul", as workload/kernel.h spells it. */
extern const char *const metric_shape_class_name[METRIC_SHAPE_CLASSES];

/* "c10::Half", "float16", 2. */
typedef struct {
    const char *type, *word;
    double bytes;
} metric_element_type;

typedef struct {
    metric_shape_class class;
    const metric_element_type *type; /* NULL: not known */
    double m, n, k, batch; /* of a product; of attention tokens of queries and keys, size and number of heads;
                                 else m elements */
    double operations, bytes; /* of the whole call, which may have several kernels; NaN: not known */
} metric_kernel_shape;

/* Of each kernel, by its place in the view's kernels; in the arena. Attention is taken without a mask. */
metric_kernel_shape *metric_kernel_shapes_of(const metric_view *v, dse_arena *a);

#endif
