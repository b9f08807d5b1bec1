/* What a stored result was made from, and how to make it again. */
#ifndef DSE_DRIVER_REPRODUCE_H
#define DSE_DRIVER_REPRODUCE_H

#include "store/store.h"

#include "base/strbuf.h"

typedef struct {
    const char *command; /* a line for a shell that gives the result again; NULL: there is none */
    const char *note;    /* why there is none, or what is to be known about it; "": nothing */
} drv_reproduction;

/* If the cards of the row's names, loaded now with its settings, are what the result was made from, the command is a
 * `simulate`; else one that hands the configuration stored in `db` to a worker. None for an imported result, which has no
 * configuration, nor if the operator file is another one now. In the arena. DSE_E_SYNTAX: the row's configuration is no JSON. */
dse_status drv_reproduce(const store_row *r, const char *db, dse_arena *a, drv_reproduction *out,
                         dse_error *err);

/* Whether the row's configuration is one to simulate: it has cards. */
dse_status drv_has_cards(const store_row *r, dse_arena *a, bool *out, dse_error *err);

/* A configuration as lines, a group for each card, with the units of the cards' values. Appended to out. */
dse_status drv_config_print(const char *config, dse_arena *a, dse_strbuf *out, dse_error *err);

#endif
