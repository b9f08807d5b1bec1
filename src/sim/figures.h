/* What a run leaves behind: the figures of its ranks, the record of its nodes, or why it could not end.
 * Private to sim/. */
#ifndef DSE_SIM_FIGURES_H
#define DSE_SIM_FIGURES_H

#include "sim/classes.h"
#include "sim/rank.h"
#include "sim/sim.h"

/* While the run goes on: a node has just ended (memory.c); a rank has finished (stats.c). */
void sim_memory_record(sim_engine *e, uint32_t rank, uint32_t node);
void sim_stats_collect(sim_engine *e, uint32_t rank, sim_rank_stats *out);

/* Of a rank that has finished. sim_memory_peak may be called once. */
void sim_memory_peak(const sim_rank *r, uint64_t *bytes, dse_time *at);
void sim_memory_held(const sim_engine *e, uint32_t rank, dse_time at, uint64_t held[WL_N_TENSOR_KINDS]);

/* Of a run that has ended (breakdown.c, result.c); in its arena. */
void sim_breakdown_of_slowest(const sim_engine *e, sim_breakdown *out);
void sim_peak_of_largest(const sim_engine *e, sim_peak *out);

/* The same of all ranks: if the engine's are classes (NULL: they are not), of the ranks in them; those that
 * finish in one tick are then in ascending order. */
void sim_fill_record(const sim_engine *e, const sim_classes *c, trace_ticks *out);
void sim_fill_result(const sim_engine *e, const sim_classes *c, sim_result *out);

/* Of a run whose events ran out before all ranks finished: says which ranks, and why (deadlock.c). */
dse_status sim_deadlock(sim_engine *e);

#endif
