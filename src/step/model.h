/* step_model -- a model as training programs build it: blocks of modules, each of a kind (module.h).
 *
 * Read from a file of configs/layers/, one for each family of models; gpt.yaml explains the format. All sizes
 * are those of the whole model, before anything is split over ranks.
 *
 * Layers may differ: there is a block for each kind of layer, and a pattern says of which kind each layer is.
 * What costs time or memory is found once for each kind, however many layers there are. */
#ifndef DSE_STEP_MODEL_H
#define DSE_STEP_MODEL_H

#include "config/doc.h"
#include "workload/expr.h"

typedef struct step_module_kind step_module_kind;

/* How tensor parallelism splits a matrix: by its outputs, or by its inputs. */
typedef enum { STEP_SPLIT_NONE, STEP_SPLIT_COLUMN, STEP_SPLIT_ROW } step_split;

#define STEP_MAX_PARTS      3 /* matrices side by side that a linear module multiplies by at once */
#define STEP_MAX_PARAMETERS 2 /* of a module: a weight, a bias; or of two weights */

typedef struct {
    const char *name;
    const step_module_kind *kind;
    uint64_t in;      /* features of a token that come in */
    uint32_t n_parts; /* at least 1 */
    uint64_t out[STEP_MAX_PARTS];
    step_split split;
    bool has_bias;
    bool has_mean;    /* of a norm: LayerNorm, which has a mean and a bias; else RMSNorm; */
    bool is_unbiased; /* without that bias; */
    bool is_plain;    /* without any parameter */
    /* of a norm of heads: over all heads at once, with a parameter for each of their features */
    bool is_whole;
    bool is_gated;     /* of an activation: of two inputs, the one times a function of the other */
    double operations; /* of an element-wise module, for each element of the result, forward */
    uint64_t heads, kv_heads, head_size; /* of an attention, and of what leads to one */
    uint64_t value_size;                 /* of an attention: of a value, where keys have head_size */
    uint64_t cached;                     /* of an attention: features of a token that a cache keeps */
    bool makes_keys;                     /* of a linear: keys and values, and not queries */
    uint64_t gathered;                   /* of its outputs, that sequence parallelism gathers at once */
    bool has_sinks;                      /* of an attention: a parameter for each head in its softmax */
    bool is_added;                       /* of a dropout: the next module adds to what it makes, */
    bool is_dropped;                     /* and of that addition: both are one kernel */
    /* of a table: positions are added to what it makes, before anything is split by tokens */
    bool before_positions;
    bool is_causal;  /* a token attends to those before it alone, */
    uint64_t window; /* itself and those before it, so many; 0: to all */
    bool is_chunked; /* or of its chunk of so many, those before it */
    bool is_shared;  /* another module keeps its input, which is the same tensor */
    bool is_again;   /* it is the core of attention, which selective recomputation makes again by default */
    /* Bits STEP_AGAIN_..: the parts of a layer that it is of; of these, those whose input is its own; and
     * those whose result it reads, which is not kept where they are made again. */
    unsigned parts, begins, reads;
    uint32_t made_until; /* what is made again for it is there from this module's backward pass to its own */
    /* Of a rotation, features of a token that the others of its part did not make: on every rank, and split
     * over tp. */
    uint64_t rotates, rotates_split;
    /* Of a router, of what brings tokens to experts and back, and of the experts' own modules: how many
     * experts there are, 0: it has none of these; and of how many a token takes the mean. */
    uint64_t n_experts, top_k;
    bool is_shared_expert;                /* of experts that every token takes */
    uint64_t n_expert_groups, top_groups; /* a token's experts are of so many of the groups; 0: of all */
    const double *share; /* of all tokens, what each expert gets, 1 in all; NULL: step_options.imbalance */
    bool is_of_layer;    /* and not of the embedding or the head */
} step_module;

/* A parameter of a module: a matrix of rows x columns, or a vector. */
typedef struct {
    uint32_t module; /* number in the block */
    uint64_t rows, columns;
    bool is_split;      /* tensor parallelism splits it, else each rank of a group has all of it */
    bool is_by_columns; /* and by its columns, else by its rows */
    uint64_t n_experts; /* of which each has such a matrix; 0: it is no expert's */
} step_parameter;

typedef struct {
    uint32_t n;
    step_module *module; /* in the order of the forward pass */
    uint32_t n_parameters;
    step_parameter *parameter; /* in the order in which programs define them */
} step_block;

/* Blocks of a model: from STEP_LAYER on one for each kind of layer, and with step_model_add_mtp one more. */
typedef enum { STEP_EMBEDDING, STEP_HEAD, STEP_LAYER } step_block_kind;

/* Of layers; with one of step_model_add_mtp as many as a number of 8 bits tells apart, twice
 * (memory_parts.h). */
#define STEP_MAX_KINDS  124
#define STEP_MAX_BLOCKS (STEP_LAYER + STEP_MAX_KINDS + 1)

static inline bool step_is_layer(step_block_kind block) { return block >= STEP_LAYER; }

typedef struct {
    step_block block[STEP_MAX_BLOCKS];
    uint32_t n_blocks; /* that it has */
    uint32_t n_layers;
    const uint8_t *layer; /* the block of each layer; NULL: STEP_LAYER */
    uint64_t hidden, sequence;
    bool is_tied;      /* the output embedding is the input embedding */
    uint32_t n_mtp;    /* layers behind the last one that predict further tokens, each */
    uint8_t mtp_block; /* this block, and then the head once more */
    /* layers of each stage in the order of the forward pass, if it was said; 0, NULL: as buckets.h cuts */
    uint32_t n_laid_out;
    const uint32_t *laid_out;
    /* of full recomputation, likewise: how many layers of each stage are made again, the first ones; 0,
     * NULL: as the options say of all stages */
    uint32_t n_recomputed;
    const uint32_t *recomputed;
} step_model;

/* `symbols` has a value for each symbol of the file. Everything lives in the arena. DSE_E_CONFIG with the
 * place. */
dse_status step_model_read(const cfg_doc *doc, const wl_symbols *symbols, uint32_t n_layers, dse_arena *a,
                           step_model *out, dse_error *err);

/* Adds n layers that predict further tokens (multi-token prediction: DeepSeek-V3 report, section 2.2;
 * Megatron-LM, transformer/multi_token_prediction.py). Each norms the hidden state and the embedding of a
 * further token, makes a hidden state of both, and passes it through a layer of the last one's kind; the
 * head's norm is its own, the matrix and the loss are the head's. All are on the last stage, with the
 * embedding once more. The matrix that makes one of both is not split: Megatron-LM splits its columns over
 * tp, and gathers what it makes. */
void step_model_add_mtp(step_model *m, uint32_t n, dse_arena *a);

/* Gives each layer for which `share` has a list, of as many numbers as it has experts, a kind of its own, in
 * which tokens are spread so. Lists are borrowed, the kinds in the arena. DSE_E_RANGE: too many layers. */
dse_status step_model_spread(step_model *m, const double *const *share, dse_arena *a, dse_error *err);

/* Says how many layers each stage has, in one of the spellings of layout.c; after step_model_add_mtp.
 * DSE_E_CONFIG: it is none, or its layers are not the model's. */
dse_status step_model_lay_out(step_model *m, const char *text, dse_arena *a, dse_error *err);

/* Says how many layers of each stage are made again: "3,2x6,0". DSE_E_CONFIG: it is no list of numbers. */
dse_status step_model_recompute(step_model *m, const char *text, dse_arena *a, dse_error *err);

/* Whether a layer has one of these parts (STEP_AGAIN_..). again.c */
bool step_model_has_part(const step_model *m, unsigned part);

/* How many of the layers are of a kind; of another block 1. */
uint32_t step_block_times(const step_model *m, step_block_kind block);

/* How many of a parameter of a block the model has: the matrix that makes the logits is there once, however
 * many heads there are. */
uint32_t step_parameter_times(const step_model *m, step_block_kind block, const step_parameter *p);

/* Whether it is the matrix that makes the logits; `b` is the head. */
bool step_is_output(const step_block *b, const step_parameter *p);

/* The part of a parameter that a rank has of `tp` that split it, and of an expert's of `ep` that have other
 * experts and `etp` that split each: rows, columns or experts, rounded up. */
typedef struct {
    uint32_t tp, ep, etp;
} step_split_over;

step_parameter step_parameter_on(const step_parameter *p, step_split_over over);

/* Elements of a parameter: all, with those of all experts, and of that part. */
uint64_t step_parameter_elements(const step_parameter *p);
uint64_t step_parameter_share(const step_parameter *p, step_split_over over);

#endif
