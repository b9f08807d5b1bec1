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

#endif
