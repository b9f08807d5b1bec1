/* sim_lockstep -- a collective of all ranks, or of a group's, that begin in one tick. Private to sim/.
 *
 * Where every rank of each dimension sees the same network and does the same, all of them act in the same
 * ticks: what a rank sends to the one after it, it gets at the same time from the one before. So one rank is
 * simulated, with the plain engine's algorithms, phases and queues. */
#ifndef DSE_SIM_LOCKSTEP_H
#define DSE_SIM_LOCKSTEP_H

#include "sim/stream.h"

typedef struct sim_lockstep sim_lockstep;

typedef struct {
    dse_time ticks;      /* from the beginning to the end, of every rank */
    uint64_t n_messages; /* that a rank sends */
} sim_lockstep_cost;

/* For collectives of the engine's workloads; the arena is the engine's. */
sim_lockstep *sim_lockstep_new(const sim_engine *e);
void sim_lockstep_free(sim_lockstep *l);

/* A collective node as `rank` of the engine has it. Of a group smaller than the system the messages between
 * any two members must take equally long. False: not all ranks would act alike, or the order of
 * what happens in one tick could make a difference. */
bool sim_lockstep_run(sim_lockstep *l, const sim_engine *e, uint32_t rank, uint32_t node, const sim_cut *cut,
                      sim_lockstep_cost *out);
/* Chunks of several phases have come to a queue in one tick, and not all of them could start: gives up the
 * run of the engine, which is a lockstep engine. */
void sim_lockstep_refuse(sim_engine *e);

/* The events of all runs so far; 0 for NULL. */
uint64_t sim_lockstep_events(const sim_lockstep *l);

#endif
