/* report_laws -- laws of kernels (configs/devices) fitted to kernels of traces: as text and as JSON. */
#ifndef DSE_REPORT_LAWS_H
#define DSE_REPORT_LAWS_H

#include "report/tree.h"

typedef struct {
    const char *class;                                         /* "matmul" */
    size_t shapes, calls;                                      /* of 16-bit elements, which laws are of */
    const char *why;                                           /* there is no law; NULL: there is one */
    double flop_factor, half_length, byte_factor, overhead_ns; /* NaN: not in it */
    double mean, worst;                                        /* of |relative error| over shapes */
    double roofline_mean;                                      /* the same of the roofline */
} report_law;

/* What all-reduces of a trace say of a dimension of the network (Hockney). */
typedef struct {
    const char *run, *why; /* why: they say nothing; NULL: they do */
    uint32_t dim;
    double efficiency, step_latency_ns; /* of the dimension's bandwidth; a step's */
} report_reach;

typedef struct {
    const char *system, *device; /* "": not named */
    double peak_tflops, memory_gb_per_s;
    size_t n, n_reach;
    const report_law *law;
    const report_reach *reach;
    const char *output;
} report_laws;

void report_laws_print(const report_laws *l, dse_strbuf *out);
void report_laws_json(const report_laws *l, dse_strbuf *out);

#endif
