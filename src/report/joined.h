/* report_joined -- several configurations of a model on a system as one ranking: what differs between them is
 * in columns beside the strategy. */
#ifndef DSE_REPORT_JOINED_H
#define DSE_REPORT_JOINED_H

#include "report/ranking.h"

/* Joins ranked studies, in the order of report_split, as overview.h groups them: one for each model and
 * system by one engine and one model of the network. Of the ranked rows the `top` best (0: all) are there,
 * equal ones in the order of the studies; settings are those that all configurations have. Steps of batches
 * of several sizes are ranked by their tokens (report_ranked_by). In the arena. */
report_study *report_join(const report_study *studies, size_t n, size_t top, dse_arena *a, size_t *n_joined);

#endif
