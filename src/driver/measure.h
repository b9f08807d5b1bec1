/* drv_measure -- computes metrics of a recording: one by its name, or all, each with its value or why it has
 * none. */
#ifndef DSE_DRIVER_MEASURE_H
#define DSE_DRIVER_MEASURE_H

#include "driver/recording.h"
#include "report/measured.h"

/* A unique name: with the group in front where several metrics share the plain one. `all` as metric_all
 * returns it. */
const char *drv_metric_name(const metric *const *all, size_t n, size_t i, dse_arena *a);

/* The names of the metrics of a group (NULL: of all), ascending, each once: several rows may have a name. */
const char **drv_metric_names(const char *group, dse_arena *a, size_t *n);

/* The kinds of traces (METRIC_ON) that rows of these names read; other kinds need not be loaded. */
unsigned drv_measure_kinds(const char *const *name, size_t n, bool compat, dse_arena *a);

/* The row of a name for the first of the recording's kinds of traces that it reads, else any row of that
 * name. DSE_E_USAGE: there is none. */
dse_status drv_measure_find(const drv_recording *r, const char *name, bool compat, const metric **out,
                            dse_error *err);

/* What metrics of a recording are computed of; borrows all of it. */
metric_context drv_metric_context(const drv_recording *r, const metric_options *o, dse_arena *a);

/* Computes one metric under the name `name`. An absent value is success. With compat, what the original tools
 * print as absent is a value with an absent headline. */
dse_status drv_measure(const drv_recording *r, const metric *m, const char *name, const metric_options *o,
                       dse_arena *a, report_measured *out, dse_error *err);

/* All metrics, ascending by name. If several rows of one name can read the recording, the one that
 * drv_measure_find returns has the plain name, and the others have their full names. */
dse_status drv_measure_all(const drv_recording *r, const metric_options *o, dse_arena *a,
                           report_measured **out, size_t *n, dse_error *err);

#endif
