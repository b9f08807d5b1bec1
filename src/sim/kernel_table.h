/* sim_table -- measured times of a class of kernels by shape, as the ratio of each to a law.
 *
 * A grid over up to three extents. Between its points the ratio is linear in the logarithm of each extent
 * (multilinear), beyond them it is that of the border: what the law leaves out, tiles that do not fill the
 * device among it, is a matter of the shape, and how it goes on outside is not known. Points of the grid
 * that nobody measured take the mean of their measured neighbours along the axes, and so on until all have
 * one. A time is then the ratio times the law of the class (sim_law), so that it follows the device's peak
 * and bandwidth as the law does. */
#ifndef DSE_SIM_KERNEL_TABLE_H
#define DSE_SIM_KERNEL_TABLE_H

#include "base/alloc.h"
#include "workload/kernel.h"

#define SIM_TABLE_AXES 3

typedef struct sim_table {
    wl_kernel_class class;           /* whose times they are; of sim_table_make none: WL_KERNEL_OTHER */
    uint32_t extent[SIM_TABLE_AXES]; /* WL_EXTENT_M, ...: of each axis */
    uint32_t n[SIM_TABLE_AXES];      /* points along each; 1: no such axis */
    uint32_t stride[SIM_TABLE_AXES]; /* of a step along each, in `ratio` */
    double *at[SIM_TABLE_AXES];      /* natural logarithms, ascending */
    double *ratio;                   /* n[0] x n[1] x n[2], the last axis fastest */
    bool *is_measured;               /* of each; else it was made of its neighbours */
    uint32_t n_measured;
} sim_table;

typedef struct {
    uint64_t extent[WL_N_EXTENTS];
    double ratio;
} sim_table_point;

/* A grid of the values that occur along each of n_axes extents; of several points of one place the last
 * counts. At least one point. In the arena. */
sim_table *sim_table_make(const uint32_t *extent, uint32_t n_axes, const sim_table_point *point, size_t n,
                          dse_arena *a);

/* The ratio at a kernel's shape; some 60 ns (test_tables.c). */
double sim_table_ratio(const sim_table *t, const wl_kernel *k);

/* Whether a shape lies beyond the grid. */
bool sim_table_is_beyond(const sim_table *t, const wl_kernel *k);

/* The points of the grid that the ratio of a shape is made of, at most 8; returns how many. */
typedef struct {
    uint64_t at[SIM_TABLE_AXES]; /* along each axis */
    double ratio;
    bool is_measured;
} sim_table_corner;

uint32_t sim_table_corners(const sim_table *t, const wl_kernel *k, sim_table_corner out[8]);

#endif
