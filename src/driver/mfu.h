/* Operations of training that programs count when they report what a GPU achieves: each by its own formula,
 * whatever is executed. Ours counts the products that the step executes (step/run.h). */
#ifndef DSE_DRIVER_MFU_H
#define DSE_DRIVER_MFU_H

#include "cards/model.h"
#include "step/model.h"

typedef struct drv_mfu drv_mfu;

/* Words of `mfu_like`, and of NeMo's formulas "nemo:llama3", ...; NULL: there is no such word. */
const drv_mfu *drv_mfu_find(const char *word);

/* What a card's `mfu_like` stands for; NULL: ours. NeMo has a formula for each family, and looks for it in
 * the name of the model. */
const drv_mfu *drv_mfu_of(const card_model *m, const char *model_name);

/* "Megatron-LM", "NeMo (llama3)". */
const char *drv_mfu_say(const drv_mfu *f);

/* Of one sequence, all passes. `s` is the model of the card as modules, for its sequence; with tp ranks of
 * tensor parallelism, to which Megatron-LM pads the vocabulary. */
double drv_mfu_operations(const drv_mfu *f, const card_model *m, const step_model *s, uint32_t tp);

#endif
