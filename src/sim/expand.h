/* Makes the results of all ranks from a run of their classes. Private to sim/. */
#ifndef DSE_SIM_EXPAND_H
#define DSE_SIM_EXPAND_H

#include "sim/classes.h"
#include "sim/sim.h"

typedef struct sim_engine sim_engine;

/* As sim_fill_record and sim_fill_result. Ranks that finish in one tick are in ascending order. */
void sim_expand_record(const sim_engine *e, const sim_classes *c, trace_ticks *out);
void sim_expand_result(const sim_engine *e, const sim_classes *c, uint64_t n_messages, uint64_t n_events,
                       sim_result *out);

#endif
