/* The studies of a database, ranked without their rows being held. */
#ifndef DSE_CLI_RANKED_H
#define DSE_CLI_RANKED_H

#include "cli/results.h"
#include "report/ranking.h"

/* How they are ranked, and what is done on the way; each may be NULL but `begin`. */
typedef struct {
    const store_column *by;
    size_t top;    /* so many of the best rows of a study are to be there; 0: all */
    bool is_brief; /* but the best one only until `end` returns */
    void *user;
    /* With a study whose first row alone is known: sets its limit on memory and its laws. */
    dse_status (*begin)(void *user, report_study *s, dse_error *err);
    /* With the figures of each of its rows, and what it is (report_rank_row). */
    dse_status (*row)(void *user, const report_study *s, const store_row *r, unsigned is, dse_error *err);
    /* Once it is ranked. */
    dse_status (*end)(void *user, report_study *s, dse_error *err);
} ranked_how;

/* Ranks the selected rows, as report_split and report_rank would; of the ranked rows the `top` best are there,
 * of all others none but the first of a study and its best without the limit. In the arena. */
dse_status ranked_studies(results_reader *in, const ranked_how *how, dse_arena *a, report_study **out,
                          size_t *n, dse_error *err);

/* The whole row of such figures, of a study that is ranked or being ranked; in the arena, with the texts of its
 * first row. */
dse_status ranked_read(results_reader *in, const report_study *s, const store_row *figures, bool config,
                       dse_arena *a, const store_row **out, dse_error *err);

/* Whether figures are of a study; those of others than the last are compared by name, too. */
bool ranked_is_of(const store_row *figures, const report_study *s);

#endif
