/* The rows of a database, with which every command that reads results begins. */
#ifndef DSE_CLI_RESULTS_H
#define DSE_CLI_RESULTS_H

#include "cli/command.h"
#include "store/store.h"

/* Which rows; NULL: any. Models and systems are named as `sweep` takes them. */
typedef struct {
    const char *model, *system;
    const char *engine;        /* "native-1", or "native" for all versions of it */
    const char *settings;      /* as rows have them: "batch=256 layers=4"; "none": rows without */
    const char *configuration; /* the first digits of the study's hash, as `best` shows them */

    /* Not of the options: */
    const strategy *point;                       /* this one alone, without looking at other rows */
    bool (*has)(void *user, const store_row *r); /* asked of each row that is selected otherwise */
    void *user;
    bool one_config; /* results_select: only the first row of a study has its config */
} results_selection;

option_group results_group;

/* The selected rows, in the order of store_list. There may be none. In the arena. DSE_E_USAGE: a
 * configuration that is not one. */
dse_status results_select(const char *db, const results_selection *which, dse_arena *a, store_row **rows,
                          size_t *n, dse_error *err);

/* Calls `visit` with each of these rows in its turn; a row lasts until it returns (store_each). */
dse_status results_each(const char *db, const results_selection *which, store_row_visit *visit, void *user,
                        dse_error *err);

/* A database in one state, from results_open to results_close, whatever a sweep writes meanwhile; it stays where it
 * is. What one wants to know of a row, store_read reads from `store`. */
typedef struct {
    store *store;
    store_filter filter; /* of the selected rows */
    results_selection which;
    dse_arena names;
} results_reader;

dse_status results_open(const char *db, const results_selection *which, results_reader *out, dse_error *err);
void results_close(results_reader *r); /* accepts one that could not be opened */

/* Calls `visit` with the figures of each of these rows in its turn (store_each_figures). */
dse_status results_each_figures(results_reader *r, const store_column *by, store_row_visit *visit, void *user,
                                dse_error *err);

/* Whether a sweep with --prune skipped this point of one of the studies of the rows. */
dse_status results_find_skipped(const char *db, const store_row *rows, size_t n, const strategy *point,
                                bool *found, dse_error *err);

/* Points that were skipped of studies without any result; `asked`: by the last sweep. */
dse_status results_count_unlisted(results_reader *r, bool asked, store_unlisted *out, dse_error *err);

/* What the search noted whose points are asked for (store_get_searched), of the selected model and system. */
dse_status results_searched(results_reader *r, dse_arena *a, store_searched **out, size_t *n, dse_error *err);

/* Whether rows may have costs. */
dse_status results_have_prices(const char *db, bool *out, dse_error *err);

/* The column of a metric, by its name; `ranked`: one of which less or more is better. DSE_E_USAGE. */
dse_status results_column(const char *name, bool ranked, const store_column **out, dse_error *err);

/* Fails with "'r.db' has no results for model 'm' ..."; DSE_E_CONFIG. */
dse_status results_none(const char *db, const results_selection *which, dse_error *err);

#endif
