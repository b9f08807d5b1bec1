/* drv_import -- results that others made, from the keyed format (report/keyed.h), as rows for the database.
 *
 * Both forms are read: the points of one model and system, and objects within objects, which name them. Every
 * figure must be there; null says that it is not known, which a step time must be, and more than 0. The
 * degrees beside the figures must be those of the key. Other fields are passed over, and counted. An imported
 * row has no cards: its configuration is
 *
 *   {"engine":"imported","model_name":"m","system_name":"s","point":{"dp":32,...}}
 *
 * so that the same point, imported again, takes the place of the first. */
#ifndef DSE_DRIVER_IMPORT_H
#define DSE_DRIVER_IMPORT_H

#include "base/idtable.h"
#include "store/store.h"

typedef struct {
    const char *model, *system; /* NULL: the files name them themselves */
    const char *engine;         /* the name of who made the results */
} drv_import_as;

typedef struct {
    store_row *row;     /* n, in the order of the files; what they refer to is the arena's */
    const char **place; /* of each row: "results.json:3:1" */
    size_t n, cap, cap_places;
    dse_idtable by_config; /* so that no point is imported twice */

    uint32_t n_unknown;  /* fields that the format does not have, */
    const char *unknown; /* and the first, with its place; or NULL */
} drv_import;

/* A name for who made the results: letters, digits, '.', '_', '+', '-', and not the one of the engine here.
 * DSE_E_USAGE. */
dse_status drv_import_check_engine(const char *name, dse_error *err);

/* Adds the rows of a text; `path` is its name in messages. DSE_E_SYNTAX, DSE_E_CONFIG and DSE_E_RANGE with
 * file, line and column; what had been added before the failure is then of no use. */
dse_status drv_import_parse(const char *path, const char *text, size_t n, const drv_import_as *as,
                            dse_arena *a, drv_import *io, dse_error *err);

/* The same of a file. */
dse_status drv_import_file(const char *path, const drv_import_as *as, dse_arena *a, drv_import *io,
                           dse_error *err);

/* Puts the rows into the order of model, system and point; their places stay as they are. */
void drv_import_sort(drv_import *io);

void drv_import_free(drv_import *io); /* accepts one that was only zeroed */

#endif
