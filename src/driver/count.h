/* What a model has and does as mathematics, of a card. */
#ifndef DSE_DRIVER_COUNT_H
#define DSE_DRIVER_COUNT_H

#include "cards/model.h"
#include "step/count.h"
#include "step/model.h"

/* The model of a card whose operators are a file of configs/layers; at this many tokens a sequence, whatever
 * it says of batch and sequence. DSE_E_CONFIG. */
dse_status drv_model_of(const cfg_doc *card, int64_t sequence, dse_arena *a, card_model *out_card,
                        step_model *out, dse_error *err);

/* The same, counted. */
dse_status drv_model_count(const cfg_doc *card, int64_t sequence, dse_arena *a, step_count *out,
                           dse_error *err);

#endif
