/* sim_distances -- the summed delays of messages between many pairs of NPUs. Private to the bounds.
 *
 * Most pairs of a pattern are equally far apart: a pattern is traversed once, and stored as a few distances
 * with the number of pairs of each. */
#ifndef DSE_SIM_DISTANCES_H
#define DSE_SIM_DISTANCES_H

#include "base/idtable.h"
#include "network/network.h"

/* Sums over all ranks and steps can exceed 64 bits. */
typedef unsigned __int128 sim_sum;

typedef enum {
    /* Each with the member `distance` places after it in a circle of n, members `stride` apart; */
    SIM_PAIRS_RING,
    SIM_PAIRS_EXCHANGE, /* the same, but with the place that differs in the bit `distance`; */
    SIM_PAIRS_OFFSET    /* each with the NPU `distance` after it, modulo 2^32 */
} sim_pairing;

/* `count` NPUs: `piece` of them one after the other from `first` on, then from `first + period` on, and so
 * forth. */
typedef struct {
    uint32_t first, count, piece, period;
} sim_ranks;

/* One pair for each of the senders. No NPU is receiver of two. */
typedef struct {
    uint32_t pairing; /* sim_pairing */
    sim_ranks senders;
    uint32_t stride, n, distance;
} sim_pairs;

/* n pairs are as far apart as these two. */
typedef struct {
    uint32_t src, dst, n;
} sim_distance;

typedef struct {
    sim_pairs pairs;
    uint32_t first, n; /* in `distance` */
} sim_pattern;

typedef struct {
    const net_network *net;
    sim_pattern *pattern;
    size_t n_patterns, cap_patterns;
    sim_distance *distance;
    size_t n_distances, cap_distances;
    dse_idtable by_pairs;
} sim_distances;

void sim_distances_init(sim_distances *d, const net_network *net); /* borrowed */
void sim_distances_free(sim_distances *d);

/* The ticks that a message of `bytes` takes at least between each of the pairs, added up. Without congestion
 * it takes just that, with it that if it never waits for a link. */
sim_sum sim_distances_sum(sim_distances *d, const sim_pairs *pairs, uint64_t bytes);

#endif
