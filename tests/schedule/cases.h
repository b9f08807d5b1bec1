/* One case of the reference: a row of a file in reference/training/schedules, checked against the library. */
#ifndef TESTS_SCHEDULE_CASES_H
#define TESTS_SCHEDULE_CASES_H

#include "schedule/compose.h"

#include <jansson.h>

typedef struct {
    size_t n_accepted, n_refused, n_files, n_makespans, n_starts, n_forms, n_different;
} tally;

void check_pytorch(const json_t *row, tally *t);
void check_megatron(const json_t *row, tally *t);
void check_dualpipe(const json_t *row, tally *t);
void check_zero_bubble(const json_t *row, tally *t);

/* A plan with its times under each of the reference's cost sets. */
enum { SET_U, SET_N, SET_C, SET_S, N_SETS };
typedef struct {
    const char *id;
    const sched_plan *plan;
    sched_times times[N_SETS];
    uint32_t *peak_i, *peak_w;
} outcome;

/* What holds of an accepted plan of this name whatever the reference says of it: the formulas of
 * spec/training_step.md where they are exact. */
void check_closed_forms(const char *name, const sched_options *o, const outcome *seen, tally *t);

void differs(tally *t, const char *id, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

#endif
