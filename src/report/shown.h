/* report_shown -- which of many points are shown, found as they come one after another: nobody reads a million.
 *
 * Of no more than so many all; of more the best by the ranking, those that do not fit behind those that do. A page
 * has besides the best of each study, and the points of the Pareto front of step time and memory. */
#ifndef DSE_REPORT_SHOWN_H
#define DSE_REPORT_SHOWN_H

#include "report/ranking.h"

typedef struct report_shown_point report_shown_point;
typedef struct {
    size_t most;
    bool
        steps_alone; /* only points that fit and whose step is known in parts; then no front, no study's best */
    uint64_t n_places;
    report_shown_point *best; /* a heap whose first is the worst */
    size_t n_best, cap_best;
    report_shown_point *front; /* by time, and so by falling memory */
    size_t n_front, cap_front;
    report_shown_point *of_study; /* the best of each that was added to, the last one's so far */
    size_t n_studies, cap_studies;
    uint64_t *place; /* once all were added: those that are shown, ascending */
    size_t n, cap;
} report_shown; /* all zero but `most` and `steps_alone`: none were added */

/* The next point, done or not, of the study with this number; `is` as report_rank_row says. */
void report_shown_add(report_shown *s, const report_study *study, size_t index, const store_row *r,
                      unsigned is);

/* Once all were added. */
void report_shown_end(report_shown *s);

/* Whether the point that was added as the place-th is shown; asked in their order, with *at 0 before the first. */
bool report_shown_has(const report_shown *s, uint64_t place, size_t *at);

void report_shown_free(report_shown *s);

#endif
