/* One kernel on a system: how long it lasts in a training step, and what says so. */
#ifndef DSE_DRIVER_KERNEL_H
#define DSE_DRIVER_KERNEL_H

#include "cards/system.h"
#include "sim/kernel_table.h"

typedef enum { DRV_BY_ROOFLINE, DRV_BY_LAW, DRV_BY_TABLE } drv_kernel_source;

typedef struct {
    wl_kernel_class class;
    uint64_t extent[WL_N_EXTENTS]; /* of a product, or attention; m 0: as n, of attention */
    double bytes;                  /* of another class */
} drv_kernel_query;

/* A point of the table's grid beside the shape. */
typedef struct {
    uint64_t extent[WL_N_EXTENTS]; /* of the table's axes; else 0 */
    double ratio, us;              /* to the law; on this system */
    bool is_measured;              /* else the mean of its neighbours */
} drv_kernel_neighbour;

#define DRV_MOST_NEIGHBOURS 8

typedef struct {
    const char *class_name;
    wl_kernel kernel;
    drv_kernel_source by;
    const char *table;              /* its file; NULL: none */
    double us, law_us, roofline_us; /* at the clock that the system sustains; NaN: no law */
    double ratio;                   /* of the table; NaN: none */
    bool is_beyond;                 /* the table's grid: the border's ratio was taken */
    double tflops, peak_tflops; /* achieved (NaN: in no ns), and of the type of elements; 0: no operations */
    uint32_t n_neighbours;
    drv_kernel_neighbour neighbour[DRV_MOST_NEIGHBOURS];
} drv_kernel;

/* `name` is a class of kernels of profile train. DSE_E_USAGE: there is none of that name; a size is missing,
 * or is none of the class. DSE_E_RANGE: the device does not multiply in that type; too large to count. */
dse_status drv_kernel_class(const char *name, wl_kernel_class *out, dse_error *err);
dse_status drv_kernel_time(const card_system *system, const drv_kernel_query *q, dse_arena *a,
                           drv_kernel *out, dse_error *err);

#endif
