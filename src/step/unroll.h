/* step_unroll -- a whole step as the workload of a simulator: every operation of all micro-batches on all
 * ranks.
 *
 * The ranks of one place in the pipeline have one graph. Its nodes are the operations of the rank's passes
 * (pass.h) in the order in which the rank executes them, between them the tensors' sends and receives, and
 * the end of the step. A node depends on what its operation waits for, on the node before it of its unit, and
 * there is one unit of compute and one of communication, as a rank of ASTRA-sim has (STEP_ONE_UNIT). Each
 * rank of a ring's exchange sends to the next one and receives from the one before.
 *
 * It is the same step as run.h's, written down instead of added up; what is simulated of it is an independent
 * answer. */
#ifndef DSE_STEP_UNROLL_H
#define DSE_STEP_UNROLL_H

#include "step/pass.h"

/* Nodes of all graphs, at most; without making them. */
uint64_t step_unrolled_nodes(const step_passes *p);

/* Everything belongs to the arena. Where kernels last as laws say (step_passes.has_laws), they are kernels of
 * STEP_OPERATIONS_OF(ticks) operations, and the simulator's settings must be those of step_time_by_ticks;
 * else they are the program's, whose roofline is the simulator's. DSE_E_RANGE: too many nodes or messages for
 * the tags of a workload. */
dse_status step_unroll(const step_passes *p, dse_arena *a, wl_workload *out, dse_error *err);

/* Only what ranks of different places in the pipeline do together, and what comes after it: from the sum of
 * tied embeddings on. `begin`, per place: when it gets there. For step_clock_run. */
dse_status step_unroll_ending(const step_passes *p, const dse_time *begin, dse_arena *a, wl_workload *out,
                              dse_error *err);

#endif
