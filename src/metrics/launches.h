/* Within the view: which call launched a kernel, and which collective a communication is. */
#ifndef DSE_METRICS_LAUNCHES_H
#define DSE_METRICS_LAUNCHES_H

#include "metrics/sieve.h"

/* Fills v->launch, of v->kernels. */
void metric_launches_init(metric_view *v, const metric_sieve *s);

/* Fills v->comm_type, of v->comm; after the launches. */
void metric_comm_types_init(metric_view *v, const metric_sieve *s);

#endif
