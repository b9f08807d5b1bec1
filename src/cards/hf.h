/* A Hugging Face config.json as a model card.
 *
 * One table says which of its keys is which key of a card, under all the spellings that its models have;
 * another what an architecture has that its configs do not say; two more what is refused, and what is left
 * out of the simulation. A model of text and images is read from its `text_config`. batch and sequence are
 * properties of a training run, which no config.json has (max_position_embeddings is what the weights could
 * take, not what they are trained with). */
#ifndef DSE_CARDS_HF_H
#define DSE_CARDS_HF_H

#include "base/strbuf.h"
#include "cards/model.h"

#define CARD_HF_MAX_NOTES 32 /* more than hf.c has, of a config and of its text_config */

/* Features of the model that are not simulated. */
typedef struct {
    const cfg_node *key; /* of the config */
    const char *text;    /* "the cap of scores" */
} card_hf_note;

typedef struct {
    uint32_t n;
    card_hf_note item[CARD_HF_MAX_NOTES];
} card_hf_notes;

/* By its content: it says which model it is of. */
bool card_hf_is_config(const cfg_doc *doc);

/* The part of a config that describes the model of text: its `text_config`, or the whole. */
const cfg_node *card_hf_text(const cfg_doc *doc);

/* The key of a model card that a key of a config.json gives, or NULL. `card` is what card_hf_card made of the
 * config; NULL: it refused it. */
const char *card_hf_card_key(const cfg_doc *card, const cfg_node *key);

/* The config as a card of ours: the same places, the keys of a model card; those that the config lacks are
 * missing, batch and sequence among them. In the arena. DSE_E_CONFIG with the place for models of another
 * kind (experts, latent attention, an encoder and a decoder), and for a size that two keys say differently.
 * `notes` may be NULL. */
dse_status card_hf_card(const cfg_doc *doc, dse_arena *a, cfg_doc *out, card_hf_notes *notes, dse_error *err);

/* DSE_E_CONFIG if a card made of a config lacks a size, and so does the model that was read from it, with
 * what has been set over it by now (NULL: nothing has been): one line that names all of them, and the
 * remedy. */
dse_status card_hf_check(const cfg_doc *card, const card_model *m, dse_error *err);

/* Turns the document of a model into a card of ours if it is a config, which may lack sizes; leaves a card as
 * it is. *note becomes a line about what the model is simulated without, or NULL. */
dse_status card_hf_resolve(cfg_doc *doc, dse_arena *a, const char **note, dse_error *err);

/* The card of a config as a file: its keys after a comment that says where it is from, what is not simulated,
 * and how many parameters the model has. Appended. */
void card_hf_write(const cfg_doc *config, const cfg_doc *card, const card_hf_notes *notes,
                   uint64_t parameters, dse_strbuf *out);

#endif
