/* sim_circle -- one period of a group's ring, and when a collective on it ends. Private to sim/.
 *
 * Along the ring of a group, the classes of its ranks and the slots under which they have the group repeat
 * with a period. A circle is one period of places. A closed form gives the end of a collective from when its
 * ranks begin it; see circle.c. */
#ifndef DSE_SIM_CIRCLE_H
#define DSE_SIM_CIRCLE_H

#include "sim/classes.h"
#include "sim/stream.h"

typedef struct {
    uint32_t class, slot;  /* the slot under which its ranks have the group */
    uint32_t rank, before; /* representatives of this place and the one before */
} sim_circle_place;

/* The cost of a collective of one kind and size. */
typedef struct {
    uint32_t coll; /* wl_coll_type */
    uint64_t size;
    uint64_t n_chunks;
    bool is_flat;
    uint64_t rounds;  /* chunks that run one after the other */
    uint64_t steps;   /* messages that a rank sends for each chunk */
    dse_time own;     /* ticks of a rank for a chunk, besides the messages */
    dse_time last;    /* from the registration of its last event to the end */
    dse_time longest; /* how far ahead its other events are registered at most */
    dse_time *offset; /* per place: delay of messages from the first place to it; [n_places]: once round */
    bool even;        /* all messages have the same delay */
    /* Of an algorithm that is no ring, for ranks that begin together alone (lockstep.h); of the rest only
     * `longest` is used then. */
    bool is_together;
    dse_time ticks;
    uint64_t n_messages; /* that a rank sends */
} sim_circle_cost;

typedef struct {
    uint32_t n_places;
    sim_circle_place *place; /* in the direction of the messages */
    size_t n_costs, cap_costs;
    sim_circle_cost *cost;
    bool is_checked, is_uniform; /* all members of its groups have equal delays (abridged.c) */

    /* The collective under way. */
    uint32_t n_here;  /* places whose ranks have begun */
    uint32_t current; /* cost */
    dse_time *begin;  /* per place; end: after sim_circle_run */
    int64_t *scratch; /* of sim_circle_run: two per place, and one */
} sim_circle;

/* The circle of the group that `class` has under `slot`. *place is the class's own. False if the group does
 * not repeat. */
bool sim_circle_init(const sim_classes *c, uint32_t class, uint32_t slot, dse_arena *a, sim_circle *out);

/* Adds the cost of a collective as `cut`; an index. DSE_NONE: the engine has failed, or it has no closed
 * form. */
uint32_t sim_circle_add_cost(sim_engine *e, sim_circle *circle, uint32_t coll, uint64_t size,
                             const sim_cut *cut);

/* All ranks have begun: replaces their begins by their ends. False: there is no closed form, because ticks
 * become too large. */
bool sim_circle_run(sim_circle *circle);

#endif
