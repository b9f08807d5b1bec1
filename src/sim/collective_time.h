/* How long a collective or a message takes in reality, by what was measured (net_network.is_measured), if
 * nothing else is under way and all ranks begin it together: sim/alone.h's question, answered without
 * simulating messages.
 *
 * The rule, for a group of N in dimensions d = 0, 1, ... A box of d is what the dimensions below it join: a
 * NPU (d = 0), a node (d = 1). S: bytes of the whole buffer; a group crosses d if it has members in several
 * boxes of d that d joins.
 *
 *   time    = latency + the longest of d (bytes / rate), over the dimensions that the group crosses
 *   ring    bytes = 2 (N-1)/N S of an all-reduce, (N-1)/N S of an all-gather or a reduce-scatter: what leaves
 *           each box; latency = reach.latency_ns of the highest d + the sum of d of reach.step_ns x steps in
 *           d, of an all-reduce twice; steps in d = boxes of d with members - boxes of d + 1 with members.
 *           With nodes: (nodes - 1) between nodes and (N - nodes) within. The form is NCCL's
 *           (src/graph/tuning.cc, 01afd20: nInterSteps).
 *   tree    of an all-reduce between nodes, if it is faster (NCCL takes the faster): bytes = 2 S, rate x 0.9;
 *           latency with 2 (steps of a box of d = 0 + log2 of boxes) instead, ditto.
 *   all-to-all  bytes = what the members of a box send to other boxes of d; along an axis (below) also what
 *           passes by, of j boxes floor(j^2/4)/j of S for each member: a message passes a quarter of a ring;
 *           latency as a ring's, once
 *   rate    = efficiency x bandwidth of a NPU in d = 0. Above, a box has the bandwidth of all its NPUs, on
 *           its rails (network cards). Each member of the group uses rails / NPUs of the box, one at least,
 *           and at most rails_per_group together; if all groups of the kind use more than there are, each has
 *           its share. With a rail for each NPU: g/8 of the bandwidth of a node of 8 for g members. An
 *           efficiency above 1 is that of both directions of a ring (a TPU's torus, JAX's "How to Scale Your
 *           Model": an all-gather takes bytes over the bandwidth of a link in both directions): half of it
 *           for messages, for groups that have not all of the ring (a line), and for a ring of two. Such axes
 *           work together (of several "V / (W N_axes)"): but for an all-to-all, whose messages go along one axis
 *           after another, what leaves a box of one goes along the higher ones, too, that the group crosses
 *   message latency and one step of the highest dimension in which the two differ; its rate by the same rule,
 *           with all that send out of the box at the same time
 *
 * A group within d = 0 whose kind the network's table has: the measured time, linear in S between two sizes;
 * the first one's below, the last one's rate above. On links of another bandwidth than the measured ones what
 * is above the first size's time scales. Of n NPUs instead of m: times (n-1)/n : (m-1)/m, over a factor of
 * the bus bandwidth that goes with (2/n)^2 from `pair` for 2 to 1 for m. (An A100's, n = 2 to 8, from 1 GB:
 * 0.86 0.93 0.97 0.98 0.99 0.99 1; the factor is within 1 % of each.)
 *
 * While it runs its kernel holds multiprocessors, one for each channel, that other kernels then lack:
 * reach.compute_share of the highest dimension. (NCCL has 24 channels in a node of 8 A100, nccl-tests issue
 * 100, each with a multiprocessor of its own, nccl issue 1656: 24 of 108.)
 *
 * Left out: that a transfer between nodes also takes the links in the node; NCCL's slower rings at middle
 * sizes between nodes (its factor 1.9 on the latency); several collectives at once. */
#ifndef DSE_SIM_COLLECTIVE_TIME_H
#define DSE_SIM_COLLECTIVE_TIME_H

#include "sim/alone.h"

/* As sim_alone_groups; the members of a group ascend. Scratch goes into the arena. */
sim_alone sim_collective_time(const net_network *net, const sim_groups *groups, uint32_t collective,
                              uint64_t bytes, dse_arena *a);

/* As sim_alone_messages. */
sim_alone sim_message_time(const net_network *net, const sim_pairs *pairs, uint64_t bytes, dse_arena *a);

#endif
