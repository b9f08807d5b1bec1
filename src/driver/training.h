/* Points of profile train: the step that training programs run (step/), from a study and a strategy. */
#ifndef DSE_DRIVER_TRAINING_H
#define DSE_DRIVER_TRAINING_H

#include "driver/study.h"
#include "step/run.h"

/* What points of a study share: the model as modules, the system, and the times of its collectives. */
typedef struct drv_training {
    step_model model;
    step_model even; /* the same with tokens spread evenly over experts where a file spreads them otherwise */
    const double *const *share; /* card_imbalance_read; NULL: no file */
    sim_settings settings;
    net_network net;
    step_clock *clock;
} drv_training;

/* Sets s->training of a study whose cards and file of layers have been read, and are complete; NULL if the
 * model still lacks something that is to vary. In the arena; tables of kernels in that of s->tables.
 * DSE_E_CONFIG. */
dse_status drv_training_make(drv_study *s, dse_arena *a, dse_error *err);

/* What the generator of the step takes of a point. */
step_options drv_training_options(const drv_study *s, const strategy *p);

/* Gives dp the NPUs that the other axes leave, as programs do; leaves it if they do not divide. */
void drv_training_fill_dp(const drv_study *s, strategy *p);

/* Gives a point that can be said in several ways one of them: what profile stage calls recompute is
 * recompute_granularity full, and a parameter without effect has its default. */
void drv_training_settle(strategy *p);

/* Refuses degrees that leave no whole number of data parallel ranks, or another one than dp, with the
 * nearest that do. DSE_E_RANGE. */
dse_status drv_training_check_ranks(const drv_study *s, const strategy *p, dse_error *err);

/* Refuses a point with the rule that it breaks, and what would do. DSE_E_RANGE. */
dse_status drv_training_check(const drv_study *s, const strategy *p, dse_error *err);

/* What a sweep of the study tries of each parameter that is not given: what an engineer would try. Powers of
 * two, tensor parallelism within a node, virtual stages with a pipeline, the choices of the programs. Sets
 * the others of *axes. */
void drv_training_axes(const drv_study *s, design_axes *axes);

/* The step of a point on a machine; everything belongs to the arena, and *out stays where it is. */
dse_status drv_training_on(const drv_study *s, const strategy *p, step_machine machine, dse_arena *a,
                           step_result *out, dse_error *err);

/* What its stages take at least if each had so many layers (where 0, the first and the last, and
 * the others 1), of a point whose model says how many each has, and whose
 * layers are all of a kind; on a machine that bounds. The study has a keeper of orders. */
dse_status drv_training_floors(const drv_study *s, const strategy *p, step_machine machine, uint32_t layers,
                               dse_arena *a, step_floors *out, dse_error *err);

/* The same of the layers that its model gives each stage. */
dse_status drv_training_own_floors(const drv_study *s, const strategy *p, step_machine machine, dse_arena *a,
                                   step_floors *out, dse_error *err);

/* What the ranks of a point's pipeline hold. */
typedef struct {
    bool is_known; /* else the plan has two directions, and nothing else is set */
    uint32_t n_ranks, n_stages;
    const uint32_t *stage_rank; /* per stage */
    uint64_t *peak;             /* per rank: bytes */
    uint64_t *bytes;            /* per stage, and per rank: step_memory_between */
    int64_t *always;
} drv_held;

/* Everything belongs to the arena, but for what the study's keeper of orders has. */
dse_status drv_training_held(const drv_study *s, const strategy *p, dse_arena *a, drv_held *out,
                             dse_error *err);

/* The same as drv_training_on of a router that spreads tokens evenly, whatever the card says: what its
 * imbalance costs is the difference. */
dse_status drv_training_even(const drv_study *s, const strategy *p, dse_arena *a, step_result *out,
                             dse_error *err);

/* Tokens that come to the most loaded rank of experts, over the mean one; the mean over the layers. 1:
 * even. */
double drv_training_imbalance(const drv_study *s, const strategy *p);

/* The bytes that a rank of that step's pipeline holds over time (step_memory_over). */
void drv_training_memory(const drv_study *s, const strategy *p, const step_result *step, uint32_t rank,
                         dse_arena *a, uint64_t *during, uint64_t *after);

/* Parameters of the model of a study of profile train; NaN of another. */
double drv_training_parameters(const drv_study *s);

/* "kernels last as the laws of nvidia_h100 say", as card_system_say_laws has it. */
const char *drv_say_laws(const card_system *s, dse_arena *a);

/* The same with all units, as it is stored. */
dse_status drv_training_run(const drv_study *s, const strategy *p, dse_arena *a, store_metrics *out,
                            dse_error *err);
void drv_training_metrics(const drv_study *s, const strategy *p, const step_result *r, dse_arena *a,
                          store_metrics *out);

#endif
