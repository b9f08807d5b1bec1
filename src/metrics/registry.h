/* All metrics, by their names; and computing one of them. */
#ifndef DSE_METRICS_REGISTRY_H
#define DSE_METRICS_REGISTRY_H

#include "metrics/metric.h"

/* All, sorted by name, then group; *n of them. The list belongs to the arena. */
const metric *const *metric_all(dse_arena *a, size_t *n);

/* Whether a row is called so: by its name or its alias, plain or with its group. */
bool metric_is_named(const metric *m, const char *name);

/* The row of a name for a trace of this kind: "iter_time", "tpu.wall_time_s". DSE_E_USAGE with the nearest
 * known name and all names. */
dse_status metric_find(const char *name, trace_kind kind, bool compat, const metric **out, dse_error *err);

/* Leaves out ranks of kinds that the row does not take, checks what it needs, then computes. *out is a new
 * object in the arena of the context. DSE_E_ABSENT with the reason. */
dse_status metric_compute(const metric *m, const metric_context *x, metric_value **out, dse_error *err);

#endif
