/* What `best` and `export` begin with: the rows of a database. */
#ifndef DSE_CLI_RESULTS_H
#define DSE_CLI_RESULTS_H

#include "base/alloc.h"
#include "store/store.h"

/* All rows, or those of a model or a system (NULL: any), named as `sweep` takes them. There may be none. In the
 * arena. */
dse_status results_read(const char *db, const char *model, const char *system, dse_arena *a, store_row **rows,
                        size_t *n, dse_error *err);

#endif
