/* What the files share that read a Hugging Face config (cards/hf.h). `root` is the part of the config that
 * describes the model of text. A key whose value is null says nothing. */
#ifndef DSE_CARDS_HF_PARTS_H
#define DSE_CARDS_HF_PARTS_H

#include "cards/hf.h"

/* Which layers have the window: the last so many; or all but each so many-th, 0: all. */
typedef struct {
    int64_t last, full_every;
} card_hf_windows;

/* Which products add a bias. */
enum { BIAS_QKV = 1, BIAS_PROJECTION = 2, BIAS_FEED_FORWARD = 4, BIAS_HEAD = 8, BIAS_ALL_BUT_HEAD = 7 };

typedef enum {
    WINDOW_OF_ALL,   /* every layer has the window of the config */
    WINDOW_SWITCHED, /* use_sliding_window: layers from max_window_layers on */
    WINDOW_IF_BELOW  /* every layer, if it is below max_position_embeddings */
} card_hf_window_rule;

/* Architectures, as words of a card (NULL: the card's default) and what a config means that leaves a key
 * out. */
typedef struct {
    const char *model_type, *norm, *norms, *block, *qk_norm, *position;
    bool gate, is_tied, embedding_norm, drops;
    unsigned biases, never; /* where no key says so; that a key does not mean */
    int64_t head_dim;       /* 0: hidden size / heads */
    card_hf_window_rule rule;
    int64_t window, every;  /* every nth layer has none; 0: see rule */
    int64_t more_positions; /* rows of the table of positions beyond the key's */
    /* Of experts: one that all tokens take, with a gate or not; scores by a sigmoid; biases. */
    bool has_shared_expert, has_shared_gate, is_sigmoid, router_bias, expert_bias;
    bool has_sinks;
} card_hf_family;

/* What a config is read into: the card, the place to name where nothing else says so, and the family. */
typedef struct {
    const cfg_node *root, *at;
    card_hf_family of;
    int64_t d_model, heads, layers; /* 0: not known */
    cfg_node *card;
    bool has_choices; /* that decoder alone has */
    bool is_latent;   /* its attention */
    dse_arena *arena;
    card_hf_notes *notes;
} card_hf_reading;

/* ---- the config (hf_config.c) ---- */

/* The entry of a key that says something; DSE_NONE otherwise. */
uint32_t card_hf_find(const cfg_node *root, const char *key);

bool card_hf_says(const cfg_node *root, const char *key, const char *value);

bool card_hf_number(const cfg_node *node, int64_t *out);

/* The value of a key that says something, in a section of the config, or in itself (NULL); NULL: there is
 * none. *key (unless NULL) is where it stands. */
const cfg_node *card_hf_value(const cfg_node *root, const char *section, const char *name,
                              const cfg_node **key);

/* The number of a key, or what the config means that does not have it. No size is beyond what a card
 * takes. */
int64_t card_hf_number_or(const cfg_node *root, const char *key, int64_t otherwise);

bool card_hf_is_windowed(const cfg_node *type);

/* The list of the kinds of attention of the layers; NULL: there is none. */
const cfg_node *card_hf_layer_types(const cfg_node *root);

/* The windows of such a list; false: no card can say which layers have them. */
bool card_hf_find_windows(const cfg_node *types, card_hf_windows *out);

/* ---- the family (hf_families.c) ---- */

/* One of no known model_type has an empty one. *at is the place to name. */
card_hf_family card_hf_find_family(const cfg_doc *doc, const cfg_node *root, const cfg_node **at);

/* ---- refusals and notes (hf_refuse.c) ---- */

/* DSE_E_CONFIG with the place: an architecture that is not simulated. */
dse_status card_hf_check_architecture(const cfg_doc *doc, const cfg_node *root, dse_error *err);

void card_hf_add_note(card_hf_notes *notes, const cfg_node *key, const char *text);

/* Notes what the config says and the card does not. */
void card_hf_note_ignored(const cfg_node *root, const cfg_node *card, card_hf_notes *notes);

/* ---- experts and latent attention (hf_experts.c) ---- */

/* DSE_E_CONFIG with the place: experts that a card cannot describe. */
dse_status card_hf_check_experts(const cfg_doc *doc, const cfg_node *root, dse_error *err);

void card_hf_read_latents(card_hf_reading *r);
void card_hf_read_experts(card_hf_reading *r);

/* ---- the card (hf.c) ---- */

/* An entry of the card; `at` is its place in the config. */
void card_hf_add_text(cfg_node *card, const char *key, const cfg_node *at, const char *text, dse_arena *a);

/* A choice of a decoder, unless it is the card's default. `key`: of the config, which says so; NULL. */
void card_hf_choose(card_hf_reading *r, const char *name, const char *value, const char *key);
void card_hf_choose_number(card_hf_reading *r, const char *name, int64_t n, const char *key);

#endif
