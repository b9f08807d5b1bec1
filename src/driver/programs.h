/* What training programs do: their defaults, what they refuse, and what they keep and send apart from what a
 * strategy says. One row each for the choices of `--like` (strategy/parameters.h). */
#ifndef DSE_DRIVER_PROGRAMS_H
#define DSE_DRIVER_PROGRAMS_H

#include "design/space.h"
#include "schedule/schedule.h"
#include "step/model.h"
#include "step/options.h"

typedef enum {
    DRV_ANY,
    DRV_MEGATRON,
    DRV_TORCHTITAN,
    DRV_DEEPSPEED,
    DRV_BRIDGE,
    DRV_MEGATRON_2022,
    DRV_N_PROGRAMS
} drv_program;

/* Choices of ep_overlap. */
enum { DRV_OVERLAPS_SHARED = 1, DRV_OVERLAPS_MICRO_BATCHES };

/* Sets the parameters whose bits `given` lacks to the defaults of the point's program. */
void drv_program_set_defaults(strategy *p, uint64_t given);

/* What a sweep tries of a parameter for which the program has more than its default. False: only that. */
bool drv_program_axis(drv_program program, uint32_t parameter, design_axis *out);

/* Refuses what the point's program refuses or does not have of a model, with the rule and what would do:
 * DSE_E_RANGE. */
dse_status drv_program_check(const strategy *p, const step_model *m, dse_error *err);

/* The names of the programs with the habits of the point's, its own among them; NULL is the last. */
const char *const *drv_program_kin(const strategy *p);

/* Whose conditions of a schedule count. */
sched_like drv_program_like(const strategy *p);

/* Fills in what is the program's; `is_1f1b`: the pipeline runs 1F1B. `is_mixed`: the model trains in mixed
 * precision, and its bytes of an element are set: the program says which of them are 4. */
void drv_program_set_habits(const strategy *p, bool is_1f1b, bool is_mixed, step_options *o);

#endif
