/* net_network -- a network of several dimensions, each a topology, and what a message costs on it.
 *
 * NPU ids count dimension 0 fastest: with sizes [2, 8, 4], NPU 47 is [1, 7, 2]. Two models, both after the
 * analytical reference (599a047):
 *
 *   congestion-unaware   net_delay, here: a fixed delay; links never fill up (MultiDimTopology.cpp)
 *   congestion-aware     graph.h, traffic.h: messages queue for the links of their routes (Link.cpp) */
#ifndef DSE_NETWORK_NETWORK_H
#define DSE_NETWORK_NETWORK_H

#include "base/time.h"
#include "network/topology.h"

#define NET_MAX_DIMS 10

/* What collectives reach in a dimension, of a program that was measured. The two models above do not know of
 * it; it is sim/collective_time.h that turns it into a time. */
typedef struct {
    /* bus bandwidth of a large collective over the links'; above 0, at most 1. Above 1, at most 2: of a
     * Ring whose collectives go both ways at once, where a group has all of it */
    double efficiency;
    double latency_ns; /* of a collective that goes no further than this dimension, whatever its size */
    double step_ns;    /* of each step of a ring, from a box of the dimensions below to the next one */
    uint32_t rails;    /* network cards of such a box, which share its bandwidth; 0: one for each NPU */
    uint32_t rails_per_group; /* that the members of a group in a box use together at most; 0: all */
    /* of a NPU's compute, which a collective as far as this takes from kernels beside it */
    double compute_share;
} net_reach;

/* Measured times of collectives of `npus` NPUs within dimension 0. Sizes are of the whole buffer, as
 * nccl-tests count them: an all-gather's is the result. Kinds: all-reduce, all-gather, reduce-scatter,
 * all-to-all (sim_collective). */
#define NET_N_KINDS   4
#define NET_MAX_SIZES 10
typedef struct {
    uint32_t npus, n;                      /* n: sizes; 0: there is no table */
    double bytes[NET_MAX_SIZES];           /* ascending */
    double ns[NET_N_KINDS][NET_MAX_SIZES]; /* 0: a kind that was not measured */
    double pair;                           /* bus bandwidth of two NPUs over that of `npus` */
    double gib_per_s;                      /* of a link of the measured machine; NaN: as here */
} net_table;

typedef struct {
    const net_topology *topology;
    net_shape shape;     /* NPUs along this dimension: shape.n, at least 2 */
    double gib_per_s;    /* bandwidth of a link, one direction, in 2^30 bytes per second */
    double latency_ns;   /* of one link */
    uint32_t stride;     /* distance of neighbouring ids: the product of the lower sizes */
    double bytes_per_ns; /* gib_per_s in the simulator's unit */
    net_reach reach;     /* of net_network.is_measured */
} net_dimension;

typedef struct {
    uint32_t n_dims, n_npus;
    net_dimension dim[NET_MAX_DIMS];
    bool congestion;     /* messages fill up links, else each has a fixed delay */
    bool full_multi_hop; /* the delay has every dimension in which two NPUs differ, else the lowest alone */
    bool is_measured; /* it is known what collectives reach: reach of all dimensions, table if it has sizes */
    net_table table;
} net_network;

/* The name of a finished network's dimension in output: "Mesh2D 4x4", "Ring 8". Cut off at n. */
#define NET_DIMENSION_NAME 64
void net_dimension_name(const net_dimension *d, char *out, size_t n);

/* Fills in stride, bytes_per_ns, n_npus and the rest of the shapes of a network whose n_dims and
 * dim[].{topology, shape, gib_per_s, latency_ns} are set. DSE_E_RANGE for what the reference refuses: a
 * dimension of fewer than two NPUs, a bandwidth that is not positive, a negative latency; for what
 * net_shape_finish refuses, and for more than 2^24 NPUs. */
dse_status net_network_finish(net_network *net, dse_error *err);

/* What works here but not with the released reference (599a047), in the order in which it is reported. */
typedef enum {
    NET_LIMIT_TOPOLOGY,  /* it has Ring, Switch and FullyConnected */
    NET_LIMIT_MULTI_HOP, /* without congestion it charges the lowest dimension alone, whatever the card has */
    NET_LIMIT_DIMENSIONS,  /* with congestion it takes one */
    NET_LIMIT_RING_OF_TWO, /* with congestion it tries to connect the two NPUs twice */
    NET_N_LIMITS
} net_limit;

/* DSE_E_RANGE, with a message, if a limit of the reference applies to a finished network; else DSE_OK. */
dse_status net_released_limit(const net_network *net, net_limit limit, dse_error *err);

/* NET_LIMIT_TOPOLOGY for one topology. */
dse_status net_released_topology(const net_topology *t, dse_error *err);

/* Checks all limits and reports the first that applies. */
dse_status net_released_check(const net_network *net, dse_error *err);

/* Place of an NPU along a dimension. */
static inline uint32_t net_place(const net_dimension *d, uint32_t npu)
{
    return npu / d->stride % d->shape.n;
}

/* With congestion: ticks for which a message takes a link of the dimension, and until it is whole at the
 * other end. */
static inline dse_time net_link_busy(const net_dimension *d, uint64_t bytes)
{
    return dse_ticks((double)bytes / d->bytes_per_ns);
}

static inline dse_time net_link_delay(const net_dimension *d, uint64_t bytes)
{
    return dse_ticks(d->latency_ns + (double)bytes / d->bytes_per_ns);
}

/* Whether two NPUs differ in several dimensions, so that the reference charges their messages too little. */
bool net_differ_in_several(const net_network *net, uint32_t a, uint32_t b);

/* Congestion-unaware: pairs with equal numbers have equal delays for messages of any size. False: this pair
 * has no such number. */
bool net_path_class(const net_network *net, uint32_t src, uint32_t dst, uint64_t *out);

/* Congestion-unaware: ticks from the sending of a message to its arrival; src != dst, bytes > 0. A dimension
 * charges hops * latency + bytes / bandwidth in double precision, truncated once. The reference charges for
 * the lowest dimension in which src and dst differ, and for no other; full_multi_hop adds the others up. */
dse_time net_delay(const net_network *net, uint32_t src, uint32_t dst, uint64_t bytes);

#endif
