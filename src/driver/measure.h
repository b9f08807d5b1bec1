/* drv_measure -- metrics of a recording: one by its name, or all, each with its value or the reason why there is none. */
#ifndef DSE_DRIVER_MEASURE_H
#define DSE_DRIVER_MEASURE_H

#include "driver/recording.h"
#include "report/measured.h"

/* The name by which all metrics can be told apart: with the group in front where several have the plain one. `all` as
 * metric_all returns it. */
const char *drv_metric_name(const metric *const *all, size_t n, size_t i, dse_arena *a);

/* The kinds of traces (METRIC_ON) that rows of these names take: others need not be read for them. */
unsigned drv_measure_kinds(const char *const *name, size_t n, bool compat, dse_arena *a);

/* The row of a name for the first of the recording's kinds of traces that it takes, else any row of that name.
 * DSE_E_USAGE: there is none. */
dse_status drv_measure_find(const drv_recording *r, const char *name, bool compat, const metric **out,
                            dse_error *err);

/* Computes one; `name` is what it is to be called. That it is absent is success. What the original tools print as absent
 * (compat) is a value with an absent headline. */
dse_status drv_measure(const drv_recording *r, const metric *m, const char *name, const metric_options *o,
                       dse_arena *a, report_measured *out, dse_error *err);

/* All there are, ascending by name. Of several rows of one name that take the recording, the one that the name finds has it,
 * and the others have their full names. */
dse_status drv_measure_all(const drv_recording *r, const metric_options *o, dse_arena *a,
                           report_measured **out, size_t *n, dse_error *err);

#endif
