/* What the tree of a plan (plan.c) and its text (plan_text.c) share. */
#ifndef DSE_REPORT_PLAN_PARTS_H
#define DSE_REPORT_PLAN_PARTS_H

#include "report/plan.h"

/* The whole plan as values, and of these the lists that people read as tables, too. */
typedef struct {
    report_tree tree;
    report_node *ranking, *changes, *remedies;
} report_plan_tree;

/* To be freed with the tree. */
void report_plan_make_tree(const report_plan *p, size_t top, report_plan_tree *t);

/* "#3" of the ranking; of points that do not fit "a", "b" in the order in which the changes name them. */
report_text report_plan_label(const report_plan *p, const store_row *r);

/* "All have micro_batch 1, recompute none": what is the same in the first n of what was tried, and not in
 * all; appended. */
void report_plan_say_common(const report_plan *p, size_t n, dse_strbuf *out);

/* NULL: nothing fits. */
static inline const store_row *report_plan_winner(const report_plan *p) { return p->why.winner; }

/* How much shorter (negative) or longer a step is. */
static inline double report_plan_change_of(uint64_t time, uint64_t than)
{
    return (double)time / (double)than - 1;
}

/* Of a training run with such steps. */
static inline double report_plan_days(const report_plan *p, double step_s)
{
    return p->train_tokens / (double)(p->batch * p->sequence) * step_s / 86400;
}

/* What the training run costs or takes, by what 10^12 tokens do (store_metrics). NaN: not known. */
static inline double report_plan_of_run(const report_plan *p, double per_trillion_tokens)
{
    return p->train_tokens * 1e-12 * per_trillion_tokens;
}

static inline double report_plan_seconds(const store_row *r) { return (double)r->metrics.wall_time * 1e-9; }

#endif
