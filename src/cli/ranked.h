/* The studies of a database, ranked without their rows being held. */
#ifndef DSE_CLI_RANKED_H
#define DSE_CLI_RANKED_H

#include "cli/results.h"
#include "report/ranking.h"

/* What is to be done with a study of which the first row is known: its limit on memory and its laws. */
typedef dse_status ranked_begin(void *user, report_study *s, dse_error *err);

/* Ranks the selected rows by a metric, as report_split and report_rank would; of the ranked rows the `top`
 * best (0: all) are there, of all others none but the first of a study and its best without the limit. In
 * the arena. */
dse_status ranked_studies(const char *db, const results_selection *which, const store_column *by, size_t top,
                          ranked_begin *begin, void *user, dse_arena *a, report_study **out, size_t *n,
                          dse_error *err);

#endif
