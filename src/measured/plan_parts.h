/* Shared by plan*.c: building a plan, and the model of a job. */
#ifndef DSE_MEASURED_PLAN_PARTS_H
#define DSE_MEASURED_PLAN_PARTS_H

#include "measured/plan.h"

/* Adds a gap, or something assumed, with its text. */
void msr_plan_gap(msr_plan *p, msr_gap_kind kind, dse_arena *a, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
void msr_plan_assume(msr_plan *p, dse_arena *a, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* A fact that a point is made of, under the name that a table and a card have for it. */
typedef struct {
    const char *text;
    int64_t v;
} msr_fact;

/* A gap for each that is not given. */
void msr_plan_unknown(msr_plan *p, const msr_fact *facts, size_t n, dse_arena *a);

/* The point of a job whose degrees, batch and sequence are given, of either profile; adds the gaps that
 * the profile has. DSE_E_CONFIG: a rank order that is none. */
dse_status msr_plan_stage(msr_plan *p, const card_model *m, const msr_plan_options *o, dse_arena *a,
                          dse_error *err);
dse_status msr_plan_train(msr_plan *p, const msr_plan_options *o, dse_arena *a, dse_error *err);

/* What a rank order that is none is refused with. */
dse_status msr_plan_refuse_order(const msr_job *j, dse_error *err);

/* p->model and its name: the card that the options name, or that of the job's family, or one of the job's own
 * sizes; with the job's batch, sequence and precision. DSE_E_CONFIG: the family is none of ours and a size is
 * missing, or a size of the job is another than the family's. */
dse_status msr_plan_model(msr_plan *p, const msr_plan_options *o, dse_arena *a, dse_error *err);

/* Adds to p->model, whose card is `m`, what follows its layers and how they are shared by stages, where the
 * job or the recipes of its program say so. A layout that does not fit the model is a gap. */
void msr_plan_stages(msr_plan *p, const card_model *m, dse_arena *a);

/* Whether the card that the options name, or that of the job's family, says how many experts there are. */
bool msr_plan_knows_experts(const msr_job *j, const msr_plan_options *o, dse_arena *a);

/* The strategy's recompute_modules of a job whose program has Megatron's; false: its parts are none of
 * these. */
bool msr_recompute_modules(const msr_job *j, uint32_t *out);

/* The card's word for a precision, "mixed"; NULL: none that is known. */
const char *msr_precision_word(const char *text);

/* Whether a text says floating point of 8 or 4 bits. */
bool msr_precision_is_low(const char *text);

/* The strategy's word for its recipe, "delayed"; "": the text says no more than 8 bits. NULL: none that is
 * known. */
const char *msr_recipe_word(const char *text);

/* The name of a device whatever it is written like: "NVIDIA A100 80GB" and "nvidia_a100" are "a100". */
void msr_device_form(const char *text, char *out, size_t size);

/* Whether the host of a device, however that is written, is near enough for activations to wait there. */
bool msr_device_has_fast_host(const char *text);

/* The placement (strategy/parameters.h) of a workload card's rank order (NULL: the usual one); false: it is
 * none. */
bool msr_placement_of(const char *rank_order, uint32_t *out);

#endif
