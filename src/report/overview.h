/* report_overview -- which settings over the cards are best: the best point of each study, side by side.
 *
 * A space that varies the cards makes a study of each combination of values, and each has a ranking of its
 * own; this ranks their winners. Those of different models of the network, with and without congestion, are
 * ranked apart: the times of two models say nothing about which configuration is faster. */
#ifndef DSE_REPORT_OVERVIEW_H
#define DSE_REPORT_OVERVIEW_H

#include "report/ranking.h"

/* The studies are ranked, in the order of report_split. For each model and system with several of them by one
 * engine and one model of the network, a table of all and an empty line; only settings that differ are shown.
 * `a` is for scratch. */
void report_overview_print(const report_study *studies, size_t n, dse_arena *a, dse_strbuf *out);

/* The words of settings that all of the n studies have, "layers=4 batch=8"; in the arena. */
const char *report_settings_in_common(const report_study *group, size_t n, dse_arena *a);

/* Adds those of a study's words that are not among these; returns how many. */
size_t report_settings_that_differ(const report_study *of, const char *common, dse_strbuf *out);

/* Of each of the n studies whether another one has the same settings; in the arena. *any: whether one has. */
const bool *report_settings_again(const report_study *group, size_t n, dse_arena *a, bool *any);

/* Configurations of profile train may have batches of different sizes: instead of the time of a step that of
 * a token counts, and so for costs. What rows of several are ranked by. */
const store_column *report_ranked_by(const report_study *s);

/* Calls `take` with the studies of each model and system by one engine and one model of the network, in the
 * order in which they come; a group lasts until it returns. `a` is for scratch. */
typedef void report_take_group(const report_study *group, size_t n, void *user);
void report_each_group(const report_study *studies, size_t n, dse_arena *a, report_take_group *take,
                       void *user);

/* Whether steps of two studies may be ranked against each other: not with and without congestion, nor by
 * different profiles. */
bool report_comparable(const report_study *a, const report_study *b);

#endif
