/* drv_guide -- the nine metrics of the metrics guide on one iteration of a recorded workload, as report.json
 * and report.html. The original is main.py of CCL-Bench at commit 33ae115.
 *
 * A workload is a directory with traces/ and workload_card.yaml. Its iterations are
 * traces/profile_traces/iteration_<n>, then traces/iteration_<n>, each ascending by n (the original sorts by
 * text, 10 before 5); without any, traces/ itself under the name "all". The middle one (the lower of two)
 * represents them. */
#ifndef DSE_DRIVER_GUIDE_H
#define DSE_DRIVER_GUIDE_H

#include "driver/measure.h"

typedef struct {
    const char *name, *path;
} drv_iteration;

typedef struct {
    const char *workload, *traces, *card; /* paths */
    size_t n;
    const drv_iteration *iteration;
    const drv_iteration *chosen;
} drv_guide;

/* Finds the parts of a workload; everything is in the arena. DSE_E_IO: a required part is missing. */
dse_status drv_guide_find(const char *workload, dse_arena *a, drv_guide *out, dse_error *err);

/* A description of the choice: "iteration_5, the middle one of 3"; "all of it (no iteration_<n> in it)". */
const char *drv_guide_chosen(const drv_guide *g, dse_arena *a);

/* The names of the guide's metrics, ascending: those in `name`, or all if n is 0. DSE_E_USAGE: one is not a
 * metric of the guide. */
dse_status drv_guide_tools(const char *const *name, size_t n, dse_arena *a, const char *const **out,
                           size_t *n_out, dse_error *err);

/* Measures the chosen iteration, read into `rec` with the workload's card, and writes both files into
 * `output`, which is made. *out: the n metrics in the order of the tools, their values extended by
 * "iteration". DSE_E_IO. */
dse_status drv_guide_report(const drv_guide *g, const drv_recording *rec, const char *const *tool, size_t n,
                            const metric_options *o, const char *output, dse_arena *a, report_measured **out,
                            dse_error *err);

#endif
