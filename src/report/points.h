/* report_points -- the done points of several studies as one set, for charts and pages that show them
 * together; of many those that are shown (shown.h). */
#ifndef DSE_REPORT_POINTS_H
#define DSE_REPORT_POINTS_H

#include "report/ranking.h"

typedef struct {
    const report_study *study; /* n_studies of them, ranked, in the order of report_split; borrowed */
    size_t n_studies;
    const char *const *name; /* of each, by what tells it from the others: "gpt on fast, layers=4" */
    unsigned profiles;       /* bits of STRATEGY_PROFILE_.. of those that have a done point */
    uint64_t n_done;         /* points, of which n are shown: */
    uint64_t varied;         /* a bit for each parameter that is not the same in all n_done */
    size_t n;
    const store_row *const *row; /* done, study by study, in the order of the points */
    const uint32_t *of;          /* the study of each */
} report_points;

/* Of these studies, with none shown; n_done and varied are left to the caller. In the arena. */
report_points report_points_of(const report_study *study, size_t n, dse_arena *a);

/* A bit for each parameter that is not the same in these. */
uint64_t report_points_varied(const report_points *p, const uint32_t *at, size_t n);

/* "gpt on fast: dp 8, tp 1": the study where there are several, and what varies. */
const char *report_points_say(const report_points *p, size_t i, dse_arena *a);

/* The points that are ranked, best first, of all studies together; ties in the order of the points.
 * Returns how many. */
size_t report_points_rank(const report_points *p, const store_column *by, dse_arena *a, uint32_t **out);

/* "step time" of wall_time: how people call a figure. */
const char *report_figure_label(const store_column *c, bool trains, dse_arena *a);

#endif
