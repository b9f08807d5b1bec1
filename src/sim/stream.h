/* Collectives of a run: how a node is cut into chunks, and how a chunk passes the endpoint. Private to
 * sim/. */
#ifndef DSE_SIM_STREAM_H
#define DSE_SIM_STREAM_H

#include "sim/collective.h"
#include "sim/rank.h"

/* The work of a collective node on one rank. */
typedef struct {
    const wl_group *group;      /* NULL: all ranks, by the dimensions involved */
    const sim_logical *logical; /* whose implementations and trees are used */
    uint32_t involved;          /* bit per dimension */
    sim_collective collective;
    const sim_custom *custom;      /* as Chakra files say; then there is nothing else here but the chunks */
    const sim_implementation *how; /* of a group smaller than the system; NULL: of the whole system */
    bool is_flat;                  /* such a group's ring, and the system's implementation is another */
    uint64_t chunk_bytes, n_chunks;
} sim_cut;

/* False: the collective cannot be run, and the engine has failed. */
bool sim_coll_cut(sim_engine *e, uint32_t rank, uint32_t node, sim_cut *out);
/* The tag of the first of n chunks; the tags of the others follow. A rank counts its chunks, and those of
 * each of its groups; the chunk of a group takes the group's count as its tag. */
uint32_t sim_take_tags(sim_rank *r, uint32_t group_slot, uint32_t n);
/* Starts the chunks of a collective node on this rank. */
void sim_coll_start(sim_engine *e, uint32_t rank, uint32_t node);
sim_stream *sim_stream_at(sim_engine *e, uint32_t stream);
void sim_stream_received(sim_engine *e, uint32_t stream); /* a packet has been received */
void sim_stream_next_phase(sim_engine *e, sim_stream *s); /* an algorithm has finished its phase */

/* The path of a packet over a shared memory bus. */
typedef enum { SIM_TO_NETWORK, SIM_FROM_NETWORK, SIM_FROM_NETWORK_AND_BACK } sim_way;

/* Lets a packet of `bytes` pass the endpoint of its rank. The algorithm's `ready` follows after the
 * endpoint's delay (or the shared memory bus) and, if the packet is reduced, after two reads and a write of
 * the local memory. */
void sim_bundle(sim_engine *e, sim_stream *s, uint64_t bytes, bool reduce, sim_way way);
/* The packet has passed the endpoint. Its reduction takes `value` ticks, unless that is SIM_NO_REDUCTION. */
void sim_bundle_passed(sim_engine *e, uint32_t rank, uint32_t stream, uint64_t value);

/* bus.c: the shared memory bus of an endpoint. ------------------------------------------------ */

void sim_bus_init(sim_engine *e, uint32_t rank);
void sim_bus_free(sim_engine *e, uint32_t rank);
/* A packet of the stream enters the bus; sim_bundle_passed(..., value) follows when it has crossed it. */
void sim_bus_enter(sim_engine *e, uint32_t rank, uint32_t stream, uint64_t bytes, uint64_t value,
                   sim_way way);
void sim_bus_event(sim_engine *e, uint32_t rank, uint32_t which, uint64_t ev);

#endif
