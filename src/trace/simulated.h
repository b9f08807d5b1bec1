/* trace_simulated -- a simulated run as a record, without a file in between: equal, except for the path, to
 * the record that reading its timeline (timeline.h) gives. */
#ifndef DSE_TRACE_SIMULATED_H
#define DSE_TRACE_SIMULATED_H

#include "trace/record.h"
#include "trace/timeline.h"

/* Adds the ranks of a run to *out. DSE_E_RANGE: it lasts longer than a record can say, 53 days. *out holds
 * what was added before then; free it in any case. */
dse_status trace_simulated_read(const trace_ticks *t, const trace_timeline_groups *g,
                                const trace_timeline_sizes *sizes, trace_record *out, dse_error *err);

#endif
