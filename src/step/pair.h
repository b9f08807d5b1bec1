/* step_pair -- a forward and a backward pass of different micro-batches that a rank runs as one, so that the
 * exchanges of the one's experts go on beside the kernels of the other.
 *
 * DualPipe and DualPipeV run their overlapped pairs so (DeepSeek-V3 report, section 3.2.1), Megatron-LM those
 * of its interleaved schedule with overlap_moe_expert_parallel_comm (pipeline_parallel/combined_1f1b.py). The
 * host issues both in one order: it goes on with one pass until that has to wait for a collective and the
 * other could do something before; the backward pass is first. Of a layer this is the order that DeepSeek
 * recorded on H800: combine (B), attention (F), experts (B), dispatch (F), dispatch (B), experts (F),
 * attention (B), combine (F). Gradients of weights stay within their module, where DeepSeek's kernels put
 * them behind the exchange after it.
 *
 * The pair is over when both are; then the tensors of both leave. Floors of the host (pass.h) add up. */
#ifndef DSE_STEP_PAIR_H
#define DSE_STEP_PAIR_H

#include "step/pass.h"

/* Everything belongs to the arena. Neither pass need end before the other. */
void step_pair_make(const step_pass *forward, const step_pass *backward, dse_arena *a, step_pass *out);

#endif
