/* sim_classes -- ranks that are alike, and the workload of one rank of each class. Private to sim/.
 *
 * Ranks are alike if they execute the same graph, if in each of their groups that runs as a ring the ranks
 * before them are alike and have equal delays to them, and if the ranks that they exchange messages with are
 * alike, with equal delays. The classes are the coarsest such partition, found by splitting classes until the
 * ranks of each are alike (Hopcroft, 1971; classes.c). What a rank does follows from when messages come to
 * it, so alike ranks do the same at the same ticks. */
#ifndef DSE_SIM_CLASSES_H
#define DSE_SIM_CLASSES_H

#include "network/network.h"
#include "sim/fallback.h"
#include "workload/graph.h"

typedef struct {
    const net_network *net;
    const wl_workload *full;
    uint32_t n;        /* classes */
    uint32_t *of;      /* per rank: its class */
    uint32_t *first;   /* per class: its lowest rank, which stands for it; ascending */
    uint32_t *n_alike; /* per class: ranks */
    /* A rank per class. Groups are those of `first`; the peers of messages are classes, their tags tell one
     * send of a class from all others. */
    wl_workload w;
    uint32_t **before;  /* per rank and group slot: the member before it in the ring; DSE_NONE: no ring */
    uint32_t **mate;    /* per graph and point-to-point slot: the slot of the peer at the other end */
    uint32_t **peer_no; /* per graph and point-to-point slot: which of its ranks' peers it goes to, from 0 */
    /* Ranks of a class whose messages differ in several dimensions and pay for one: per class and group slot
     * those that come to it from the member before it; per class and peer those that it sends there. */
    uint32_t **n_undercharged_rings, **n_undercharged_sends;
    uint32_t **of_slot; /* per graph and point-to-point slot: its node */
} sim_classes;

/* With `symmetry` off each rank is a class of its own. Returns why the workload does not fit, or NONE: a
 * message without exactly one counterpart, a group that lacks its own rank, or of whose members some do not
 * take part. Everything belongs to the arena. */
sim_fallback sim_classes_find(const net_network *net, const wl_workload *w, bool symmetry, dse_arena *a,
                              sim_classes *out);

/* The slot under which a rank has a group; DSE_NONE: under none. */
uint32_t sim_classes_slot(const wl_workload *w, uint32_t rank, uint32_t group);

#endif
