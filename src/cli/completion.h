/* What completion scripts offer, from the tables of commands and options; one file a shell writes it down. */
#ifndef DSE_CLI_COMPLETION_H
#define DSE_CLI_COMPLETION_H

#include "cli/commands.h"

typedef enum {
    OFFER_NOTHING,
    OFFER_WORDS,
    OFFER_FILES,
    OFFER_FOLDERS,
    OFFER_MODELS,
    OFFER_SYSTEMS,
    OFFER_KEYS /* of cards, with a '=' behind each; nothing goes on behind it */
} offer_source;

typedef struct {
    offer_source source;
    dse_strbuf words; /* OFFER_WORDS: separated by blanks; none holds what a shell would expand */
    bool list;        /* several, separated by commas */
} completion_offer;

/* Offers for the value of an option. */
void completion_offer_init(completion_offer *offer);
void completion_offer_set(completion_offer *offer, const option *o);
void completion_offer_free(completion_offer *offer);

/* All commands that are listed, and the topics of help: names separated by blanks, appended. */
void completion_add_commands(dse_strbuf *out);
void completion_add_topics(dse_strbuf *out);

/* All keys that can be set over a card, as words of OFFER_KEYS, appended. */
void completion_add_keys(dse_strbuf *out);

/* An option's help as far as it fits beside it: up to the first of ";:(", appended. */
void completion_add_short_help(const option *o, dse_strbuf *out);

/* A whole script, appended. */
typedef void completion_write(dse_strbuf *out);
completion_write completion_write_bash, completion_write_zsh, completion_write_fish;

#endif
