/* A model that is small enough to lay out by hand. */
#ifndef UNIT_WORKLOAD_LINEAR_H
#define UNIT_WORKLOAD_LINEAR_H

/* One linear layer, y = x w, and its backward pass. */
#define LINEAR                                                                                               \
    "symbols: {B: batch, M: model}\n"                                                                        \
    "blocks:\n"                                                                                              \
    "  lin:\n"                                                                                               \
    "    x: {input: [B/dp, M/tp]}\n"                                                                         \
    "    w: {weight: [M, M/tp]}\n"                                                                           \
    "    y: {einsum: \"x[bm] w[mn] -> bn\", over: {b: B/dp, m: M, n: M/tp}}\n"                               \
    "    dy: {input: [B/dp, M/tp], gradient_of: y}\n"                                                        \
    "    dw: {einsum: \"dy[bn] x[bm] -> mn\", over: {b: B/dp, m: M, n: M/tp}, gradient_of: w}\n"             \
    "    dx: {einsum: \"dy[bn] w[mn] -> bm\", over: {b: B/dp, m: M, n: M/tp}, gradient_of: x}\n"
#define ONE_LINEAR LINEAR "model: {a: {block: lin}}\nlinks: {loss: {a_y: a_dy}}\n"
/* Two of them, at both ends of the pipeline. */
#define TWO_LINEARS                                                                                          \
    LINEAR "model: {a: {block: lin, place: first}, b: {block: lin, place: last}}\n"                          \
           "links: {loss: {a_y: b_x, b_y: b_dy, b_dx: a_dy}}\n"

#endif
