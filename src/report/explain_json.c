/* The explanation for programs: the rows by what they are, the differences, the trends. */
#include "report/explain.h"

#include "report/parts.h"

#include <math.h>

/* The point, its step and its memory; null where there is none. Returns the object, or NULL. */
static report_node *put_point(const char *key, const store_row *r, report_node *to)
{
    report_node *point;

    if (!r) {
        report_put(to, V_UNKNOWN(key));
        return NULL;
    }
    point = report_object(to, key);
    report_put_strategy(point, &r->strategy);
    return report_put(
        point, V_COUNT("wall_time", r->metrics.wall_time),
        V_GIVEN(r->metrics.peak_memory != STORE_ABSENT, V_COUNT("peak_memory", r->metrics.peak_memory)));
}

static int64_t difference(uint64_t a, uint64_t b) { return (int64_t)(a - b); }

/* The point with its parts, and how much more each part is than the winner's. */
static void put_role(const char *key, const store_row *r, const store_row *winner, report_node *to)
{
    report_node *role = put_point(key, r, to), *more;

    if (!r)
        return;
    report_put_parts(&r->metrics, role);
    if (!winner)
        return;
    more = report_object(role, "more_than_winner");
    report_put(more, V_INTEGER("wall_time", difference(r->metrics.wall_time, winner->metrics.wall_time)));
    if (!store_has_step(&r->metrics) || !store_has_step(&winner->metrics))
        return;
    for (size_t i = 0; i < REPORT_N_STEP_PARTS; i++) {
        const report_part *p = &report_step_parts[i];
        const store_column *c = store_column_find(p->column);

        if (store_has(&r->metrics, c) || store_has(&winner->metrics, c)) /* else it is of another profile */
            report_put(more, V_INTEGER(p->column, difference(report_part_of(&r->metrics, p),
                                                             report_part_of(&winner->metrics, p))));
    }
}

static void put_trend(const report_study *s, const report_trend *t, report_node *trends)
{
    const strategy_parameter *p = &strategy_parameters[t->axis];
    report_node *list = report_list(trends, p->name);

    for (size_t i = 0; i < t->n; i++) {
        report_node *point = report_object(list, NULL);

        report_put_parameter(point, "value", p, t->point[i].value);
        put_point("best", t->point[i].best, point);
        if (!isnan(s->hbm_bytes))
            put_point("best_that_fits", t->point[i].best_fits, point);
    }
}

void report_put_explanation(const report_study *s, const report_explanation *e, report_node *to)
{
    report_node *trends;

    put_role("winner", e->winner, NULL, to);
    put_role("runner_up", e->runner_up, e->winner, to);
    put_role("without_limit", e->unlimited, e->winner, to);
    put_point("smallest_change_that_fits", e->nearest, to);
    if (e->nearest)
        report_put(to, V_COUNT("changes", e->n_changes));
    trends = report_object(to, "trends");
    for (size_t i = 0; i < e->n_trends; i++)
        put_trend(s, &e->trend[i], trends);
}
