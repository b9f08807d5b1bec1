/* How a stored result was made, and the command that makes it again. */
#ifndef DSE_DRIVER_REPRODUCE_H
#define DSE_DRIVER_REPRODUCE_H

#include "driver/study.h"

typedef struct {
    const char *command; /* a shell command that gives the result again; NULL: there is none */
    const char *note;    /* why there is none, or a remark about it; "": nothing */
} drv_reproduction;

/* If the row's cards with its settings still give the stored configuration, the command is a `simulate`;
 * otherwise it passes the configuration stored in `db` to a worker. There is none for an imported result,
 * which has no configuration, nor if the operator file has changed. In the arena. DSE_E_SYNTAX: the row's
 * configuration is no JSON. */
dse_status drv_reproduce(const store_row *r, const char *db, dse_arena *a, drv_reproduction *out,
                         dse_error *err);

/* The `simulate` that gives a point of a study that was read from files. In the arena. */
dse_status drv_simulate_command(const drv_study *s, const strategy *p, dse_arena *a, const char **out,
                                dse_error *err);

/* Whether the row's configuration can be simulated: it has cards. */
dse_status drv_has_cards(const store_row *r, dse_arena *a, bool *out, dse_error *err);

/* A configuration as lines, a group for each card, with the units of the cards' values. Appended to out. */
dse_status drv_config_print(const char *config, dse_arena *a, dse_strbuf *out, dse_error *err);

#endif
