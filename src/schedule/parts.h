/* What a schedule consists of: one constant sched_def_<name> in a file of its own, named in
 * schedule_list.h. */
#ifndef DSE_SCHEDULE_PARTS_H
#define DSE_SCHEDULE_PARTS_H

#include "schedule/schedule.h"
#include "schedule/schedule_list.h"

/* Which rank holds stage s. */
typedef enum {
    SCHED_LOOP,      /* s mod p */
    SCHED_V,         /* up and back: s, and from p on 2p-1-s */
    SCHED_DIRECTIONS /* s in direction a, p-1-s in direction b */
} sched_placement;

/* A condition that refuses; it sees options whose vp and group_size are filled in. `imposed_by`: bits 1 <<
 * sched_like; what cannot be executed is SCHED_LIKE_ANY's, and refuses whatever o->like is. `vary`: offset
 * in sched_options of the number to change if it does not hold. */
typedef struct {
    unsigned imposed_by;
    bool (*holds)(const sched_options *o);
    size_t vary;
    const char *rule;
} sched_condition;

/* sched_queue -- the actions of the rank that is being filled, in their order. */
typedef struct {
    sched_plan *plan;
    sched_placement placement;
    uint32_t rank, n_actions;
} sched_queue;

struct sched_def {
    const char *name, *summary;
    const char *pytorch; /* its class; NULL: PyTorch does not have it */
    unsigned programs;   /* that have it besides: bits 1 << sched_like */
    sched_placement placement;
    uint32_t default_vp;
    bool has_groups;                          /* --group-size and overlap_moe mean something */
    const sched_condition *const *conditions; /* NULL-terminated */
    /* Appends the actions of q->rank. */
    void (*fill)(const sched_options *o, sched_queue *q);
};

#define SCHED_BIT(like)   (1u << SCHED_LIKE_##like)
#define SCHED_VARY(field) offsetof(sched_options, field)

#define SCHED_DECLARE(id) extern const sched_def sched_def_##id;
SCHED_LIST(SCHED_DECLARE)

/* Appends one action of the rank's chunk `chunk`. With two directions chunk 0 is the direction that starts
 * in the rank's half of the pipeline. */
void sched_put(sched_queue *q, sched_kind kind, uint32_t chunk, uint32_t micro_batch);
/* Appends an F and a B that overlap. */
void sched_put_pair(sched_queue *q, uint32_t f_chunk, uint32_t f_micro_batch, uint32_t b_chunk,
                    uint32_t b_micro_batch);

/* The action that was put last and the next one are a pair, if `overlaps`. */
static inline void sched_mark_pair(sched_queue *q, bool overlaps)
{
    q->plan->action[q->n_actions - 1].with_next = overlaps;
}

/* ---- what several schedules share -------------------------------------------------------------- */

extern const sched_condition sched_one_chunk, sched_two_chunks; /* of a rank */

/* Interleaved schedules take the micro-batches of a rank in groups: a group passes chunk 0, then chunk 1,
 * and so on; the last group may be smaller. This is the k-th of the m * v virtual micro-batches in that
 * order. */
typedef struct {
    uint32_t chunk, micro_batch;
} sched_virtual;
sched_virtual sched_virtual_at(const sched_options *o, uint32_t k);
uint32_t sched_default_group(const sched_options *o);
/* Every group, the last one too, has pp micro-batches or more, or there is one group: then no rank waits
 * for ever (tests/unit/schedule/test_random.c). Smaller ones do with some sizes and not with others. */
bool sched_groups_are_full(const sched_options *o);
/* That the group is possible, and is what PyTorch makes it; the last one says that the plan has a
 * deadlock. */
extern const sched_condition sched_group_possible, sched_group_pytorch, sched_rounds_pytorch,
    sched_groups_wait;

static inline uint32_t sched_min(uint32_t a, uint32_t b) { return a < b ? a : b; }

#endif
