/* step_list -- the collectives and messages that a rank issues in a step, in order. */
#ifndef DSE_STEP_LIST_H
#define DSE_STEP_LIST_H

#include "step/issue.h"

typedef enum {
    STEP_PHASE_FORWARD,
    STEP_PHASE_LOSS,
    STEP_PHASE_BACKWARD,
    STEP_PHASE_MESSAGE,    /* between stages */
    STEP_PHASE_FINALIZE,   /* gradients, after the last backward pass */
    STEP_PHASE_PARAMETERS, /* after the update */
    STEP_N_PHASES
} step_phase;

typedef struct {
    step_phase phase;
    uint32_t micro_batch; /* DSE_NONE: of none in particular, or they are not told apart */
    step_collective call;
    uint32_t group_size;
    uint64_t times; /* equal calls one after the other */
} step_entry;

typedef struct {
    size_t n, cap;
    step_entry *entry; /* on the heap */
} step_list;

typedef struct {
    uint32_t rank;       /* of the pipeline */
    uint32_t step;       /* of the run, 0 the first: torch DDP makes its buckets in it */
    bool by_micro_batch; /* entries of different micro-batches stay apart */
} step_list_of;

/* `plan` is the step's schedule, with o->pp ranks. Fills in `out`, which step_list_free frees. */
void step_list_make(const step_model *m, const step_options *o, const sched_plan *plan,
                    const step_list_of *of, step_list *out);
void step_list_free(step_list *l);

/* As the recorded steps call them: "F", or "F2" of a micro-batch; "all_gather", "send"; "bfloat16". */
void step_phase_name(const step_entry *e, dse_strbuf *out);
const char *step_call_name(const step_collective *c);
const char *step_element_name(const step_collective *c);

#endif
