/* A recorded step: a row of a file in reference/training/comm, and what the library takes to list the
 * same. */
#ifndef TESTS_STEP_CASES_H
#define TESTS_STEP_CASES_H

#include "step/list.h"

#include <jansson.h>

typedef struct {
    const json_t *row;
    const char *id;
    dse_arena *arena;
    step_model model;
    step_options options;
    sched_plan plan;
    step_list_of of;
    uint32_t n_steps; /* recorded one after the other */
} step_case;

typedef enum { CASE_READY, CASE_SKIPPED, CASE_FAILED } case_state;

/* Fills in the case from its row; prints why if it fails. */
case_state read_megatron(step_case *c);
case_state read_fsdp2(step_case *c);
case_state read_ddp_or_dtensor(step_case *c);
case_state read_ring(step_case *c);

#endif
