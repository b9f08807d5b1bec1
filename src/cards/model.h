/* The description of a model: a card, and what the generator takes of it. */
#ifndef DSE_CARDS_MODEL_H
#define DSE_CARDS_MODEL_H

#include "config/param.h"
#include "strategy/strategy.h"
#include "workload/expr.h"
#include "workload/precision.h"

/* A word, and numbers that are set over its own; NaN: the word's. */
typedef struct {
    cfg_name word; /* "none", "mixed", ...; of a mapping "none" */
    wl_precision bytes;
} card_precision;

typedef struct {
    cfg_given given;
    int64_t vocabulary, d_model, d_ff, heads, layers, batch, sequence;
    int64_t kv_heads;                               /* 0: as many as heads */
    int64_t head_dim;                               /* 0: d_model / heads */
    bool tied_embeddings;                           /* the output embedding is the input embedding */
    bool gate, dropout, embedding_norm, final_norm; /* of operators: decoder, as all to `bias` */
    cfg_name norm, norms, block, qk_norm, position;
    cfg_name activation;             /* "unknown", "silu", "gelu", "squared-relu"; simulated alike */
    int64_t positions;               /* 0: as many as the sequence has */
    int64_t embedding_width;         /* 0: d_model */
    int64_t window, windowed_layers; /* 0: none; 0: all layers, else the last so many; */
    int64_t full_attention_every;    /* or all but each so many-th */
    bool window_chunks;              /* it is a chunk of the sequence */
    bool attention_sinks;
    int64_t q_lora_rank, kv_lora_rank; /* kv_lora_rank 0: no latent attention; q_lora_rank 0: plain queries */
    int64_t qk_nope_head_dim, qk_rope_head_dim, v_head_dim;
    struct {
        bool qkv, projection, mlp, head;
    } bias;
    int64_t experts, experts_per_token;       /* 0: none */
    int64_t d_ff_expert;                      /* 0: d_ff */
    int64_t first_dense_layers, expert_every; /* which layers have experts; 0: all */
    cfg_name pipeline_layout;                 /* "": not given; step/layout.c */
    cfg_name recompute_layout;                /* likewise */
    int64_t mtp_layers;                       /* behind the last one */
    int64_t shared_experts;
    int64_t d_ff_shared;                            /* 0: shared_experts times that of an expert */
    int64_t router_groups, router_groups_per_token; /* 0: one */
    bool shared_expert_gate, router_bias, expert_bias;
    cfg_name router, imbalance; /* imbalance.h */
    cfg_name operators;         /* a name in configs/operators, or a path */
    cfg_name mfu_like;          /* whose operations MFU counts; "ours" */
    card_precision precision;
    cfg_name profile;           /* "train"; "" or "stage": STAGE's step */
    cfg_name stage_version;     /* STAGE's branch: "recomp", "main" */
    int64_t stage_micro_batch;  /* of main, over all ranks; 0: the batch */
    cfg_name placement, stages; /* as the strategy's table spells them; "": not given */
} card_model;

extern const cfg_table card_model_table;
extern const char *const card_mfu_words[]; /* of mfu_like, ended by NULL; ours first */

/* `settings` (NULL: none) are set over the card. */
dse_status card_model_read(const cfg_doc *doc, const cfg_settings *settings, card_model *out, dse_error *err);

/* The same of a card that may lack what is set over it later; and whether all of it is given by now, the
 * numbers of a precision among it: DSE_E_CONFIG, with the card's path. */
dse_status card_model_read_part(const cfg_doc *doc, const cfg_settings *settings, card_model *out,
                                dse_error *err);
dse_status card_model_check(const card_model *m, const char *path, dse_error *err);

/* The last of this alone: a precision that is no word has all its numbers. */
dse_status card_model_check_precision(const card_model *m, const char *path, dse_error *err);

/* The numbers of the precision, whose word it may be; all 0: none. */
wl_precision card_model_precision(const card_model *m);

/* Whether the numbers are those of the word mixed. */
bool card_model_is_mixed(const card_model *m);

/* The strategy of a point that gives none: the defaults, with the values of the card. */
strategy card_model_strategy(const card_model *m);

/* Whether the model is trained as programs do it (profile: train), or as STAGE writes it. */
bool card_model_trains(const card_model *m);
unsigned card_model_profile(const card_model *m); /* the same as bits of STRATEGY_PROFILE_.. */

/* Whether STAGE's step is that of its branch main. */
bool card_model_is_main(const card_model *m);

/* A card that says no profile has train if its operators are a family's name, one of configs/layers, and it
 * says no version of STAGE. DSE_E_CONFIG if that folder cannot be read, or the card has keys that its
 * profile passes over: such a version, or layers by stage and of further tokens in profile stage. */
dse_status card_model_settle_profile(card_model *m, dse_arena *a, dse_error *err);

/* A copy that says the precision in numbers, for what is stored: the words of another version may mean
 * others. Profile stage is left empty, as it was before there were profiles. */
card_model card_model_spelled_out(const card_model *m);

/* Whether a layer, from 0 on, has experts. */
bool card_model_has_experts_in(const card_model *m, int64_t layer);

/* The operators of a model: of a file with `conditions`, modules for which those that they name do not hold
 * are left out, and names of conditions in what is said of a module are replaced by yes, no or the card's
 * number (configs/layers/decoder.yaml). Where the card's layers differ, the block `layer` becomes one for
 * each kind of them, and a pattern (step/model.h) says which is which; a file with a pattern keeps that.
 * What lies in the arena; a file without conditions is left as it is. DSE_E_CONFIG if the card gives what
 * only such a file has. */
dse_status card_model_layers(const card_model *m, const cfg_doc *operators, dse_arena *a, cfg_doc *out,
                             dse_error *err);

/* DSE_E_CONFIG: a token takes more experts than there are, or than its groups have; groups that do not divide
 * them. */
dse_status card_model_check_experts(const card_model *m, dse_error *err);

/* The value of every symbol that the operator file's `symbols` maps to a parameter of the card. DSE_E_CONFIG
 * if it names a parameter that the card does not have. */
dse_status card_model_symbols(const card_model *m, const cfg_doc *operators, wl_symbols *out, dse_error *err);

#endif
