/* The templates of STAGE's main branch as tables of rows: what its files list, no more. Private to
 * stage_main*.
 *
 * Rows restate the branch's tables (sharding_spreadsheets/module3: tpsp_gpt, tp_gpt, tpsp, tpsp_moe, and
 * models/stage1) in letters: a shape is "b t d", a letter for each dimension. What has no split of its own in
 * one of the tables has a letter that stands for the other's text there. The order of rows is the order of
 * ids. A row that some templates alone have says so (`only`). */
#ifndef DSE_WORKLOAD_STAGE_MAIN_ROWS_H
#define DSE_WORKLOAD_STAGE_MAIN_ROWS_H

#include "workload/stage_main_parts.h"

typedef struct {
    char letter;
    const char *text;   /* as wl_dim_parse reads it, */
    const char *tp;     /* without tpsp, */
    const char *gpt;    /* without grouped heads, */
    const char *expert; /* and of an expert's tokens, if that is different */
} sm_letter;

/* The letter 'q' with grouped heads: STAGE prints the sum of the heads as a factor, which is never multiplied
 * out. */
#define SM_SUM_OF_HEADS "(Head + 2*KVHead)"

const sm_letter *sm_letter_find(char letter);

/* What templates differ in, as bits. */
enum {
    SM_OWN_HEADS = 1, /* each head has keys and values of its own, */
    SM_GROUPED_HEADS = 2,
    SM_TWO_MATRICES = 4, /* of a feed-forward network, or of an expert */
    SM_THREE_MATRICES = 8,
    SM_NO_EXPERTS = 16,
    SM_EXPERTS = 32
};

typedef struct {
    const char *name;
    sm_op op;
    const char *x1, *x2; /* rows of the block */
    /* einsum; slice: place of the dimension and its letter; broadcast: times or divided by KExperts;
     * else operations for each element, of CUSTOM: of the operand */
    const char *how;
    const char *x1_shape, *x2_shape; /* of a CUSTOM row x2 is the result */
    const char *hidden;              /* of the result, where it does not follow; NULL */
    const char *deps[2];
    unsigned only; /* templates that have it; 0: all */
} sm_row;

typedef struct {
    const sm_row *row;
    size_t n;
} sm_rows;

/* Of the embeddings (by SM_EMB_.. of stage_main_parts.h) and the loss (SM_LOSS_..); of a layer up to its
 * second norm; of the FFN behind ffn.x0; of what routes tokens; of an expert, in front of its FFN, whose
 * ffn.x0 and ffn.dxdown take from there, and whose names get its prefix; of a layer's end. */
extern const sm_rows sm_embedding_rows, sm_loss_rows, sm_layer_rows, sm_ffn_rows, sm_router_rows,
    sm_expert_rows, sm_end_rows;

#endif
