/* A recorded step as Chakra execution traces, for a simulator that computes its collectives. */
#ifndef DSE_WHATIF_EMIT_H
#define DSE_WHATIF_EMIT_H

#include "whatif/build.h"
#include "whatif/et.h"

#define WHATIF_NO_COLLECTIVE UINT8_MAX

/* A collective as the workload has it: wl_coll_type, WHATIF_NO_COLLECTIVE for others (send and receive);
 * bytes as ASTRA-sim takes them: what a rank gives to an all-gather, the whole of all others; 0: unknown. */
uint8_t whatif_collective_type(const whatif_collective *c);
uint64_t whatif_collective_bytes(const whatif_graph *g, const whatif_recording *from,
                                 const whatif_collective *c);

/* Of each rank of the run its trace. A node of the host (is_cpu_op) is the time that a thread takes up to a
 * launch, or after what a call waited for; a node of the GPU an operation, with the launch or the gap before
 * it if that is what it waited for last. So a chain of nodes takes as long as the points of the graph that it
 * stands for. Collectives that all their ranks recorded, of a type and size that the format has, are such
 * nodes, without a duration; all others are computation as long as recorded. DSE_E_ABSENT: some of several
 * ranks are to be replicated. DSE_E_RANGE: too many ranks. */
dse_status whatif_emit(const whatif_recorded *r, const whatif_recording *from, dse_arena *a,
                       whatif_files *out, dse_error *err);

#endif
