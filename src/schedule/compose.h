/* compose -- the times of a plan's actions.
 *
 * The model: a rank executes its actions one after the other in the plan's order. An action starts when its
 * rank is free and its tensor is there: F of a stage needs F of the stage before it, B and I need B or I of
 * the stage behind it, both for the same micro-batch. Between ranks the tensor takes a time, on one rank
 * none. Transfers neither wait for each other nor keep a rank busy. A pair of overlapping actions starts when
 * both can, and its F is first. This is the reference's own simulator; README.md says what it leaves out.
 *
 * The order in which actions can be computed depends on the plan alone, so it is found once
 * (sched_order_make, which also finds deadlocks); sched_compose is then one pass over arrays, for as many
 * costs as there are. */
#ifndef DSE_SCHEDULE_COMPOSE_H
#define DSE_SCHEDULE_COMPOSE_H

#include "schedule/schedule.h"

/* Where an action is in its stage: the first or last one of its kind that the rank executes there,
 * whatever its micro-batch. A step may do more in these: gather parameters, reduce gradients. */
typedef enum {
    SCHED_MIDDLE,
    SCHED_FIRST,
    SCHED_LAST,
    SCHED_ONLY, /* first and last */
    SCHED_PLACES
} sched_place;

typedef struct {
    uint32_t action;   /* index in the plan */
    uint32_t producer; /* index of the action on another rank whose tensor it needs, or DSE_NONE */
    uint32_t duration; /* index into the durations: sched_duration_at */
    uint16_t rank;
    bool with_next;
} sched_step;
_Static_assert(sizeof(sched_step) == 16, "sched_compose reads one for each action");

/* The actions of a plan, each behind what it needs. */
typedef struct {
    const sched_plan *plan;
    sched_step *step; /* [sched_n_actions] */
} sched_order;

/* Index of a duration; `stage` counts both directions. */
static inline uint32_t sched_duration_at(uint32_t stage, sched_kind kind, sched_place place)
{
    return (stage * SCHED_KINDS + (uint32_t)kind) * SCHED_PLACES + (uint32_t)place;
}

/* All times in one unit of the caller's. The sum of all durations and transfers must be below 2^64. */
typedef struct {
    uint64_t *duration; /* [n_directions * n_stages * SCHED_KINDS * SCHED_PLACES] */
    /* [n_directions * n_stages * 2] to a stage: of its input from the stage before it, of its output's
     * gradient from the stage behind it. Not used where both are on one rank */
    uint64_t *transfer;
} sched_costs;

typedef struct {
    uint64_t makespan;
    uint64_t *start, *end; /* [sched_n_actions] in the plan's order */
    uint64_t *busy, *first,
        *last; /* [n_ranks] sum of the durations, start of the first action, end of the last */
} sched_times;

/* DSE_E_SIM if actions wait for each other for ever: the text names them. The plan must outlive *out. */
dse_status sched_order_make(const sched_plan *p, dse_arena *a, sched_order *out, dse_error *err);

/* For each action, [sched_n_actions] in the plan's order: the one on another rank whose tensor it needs, and
 * the rank that gets its own; DSE_NONE. */
typedef struct {
    uint32_t *producer, *receiver;
} sched_tensors;

sched_tensors sched_order_tensors(const sched_order *o, dse_arena *a);

/* A plan, its order and its tensors. */
typedef struct {
    sched_plan plan;
    sched_order order;
    sched_tensors tensors;
} sched_ordered;

/* As sched_make, and DSE_E_SIM as sched_order_make. Everything belongs to the arena, and *out stays where it
 * is. */
dse_status sched_ordered_make(const sched_def *d, const sched_options *o, dse_arena *a, sched_ordered *out,
                              dse_error *err);

/* Keeps the one that was asked for last: the points of a sweep often have the same. */
typedef struct sched_keeper sched_keeper;

sched_keeper *sched_keeper_new(void);
void sched_keeper_free(sched_keeper *k); /* may be NULL */
/* *out is good until another one is asked for. */
dse_status sched_keeper_find(sched_keeper *k, const sched_def *d, const sched_options *o,
                             const sched_ordered **out, dse_error *err);

void sched_costs_init(sched_costs *c, const sched_plan *p, dse_arena *a);
void sched_times_init(sched_times *t, const sched_plan *p, dse_arena *a);

void sched_compose(const sched_order *o, const sched_costs *c, sched_times *t);

/* Fills in costs as the command line gives them: a set of the reference (U, N, C, S), or F,I,W,C, which
 * are the times of a forward, of both halves of a backward, and of a transfer; whole numbers. DSE_E_USAGE
 * otherwise. */
dse_status sched_costs_parse(const char *text, const sched_plan *p, dse_arena *a, sched_costs *out,
                             dse_error *err);

#endif
