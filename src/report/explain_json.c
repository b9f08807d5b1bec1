/* The explanation for programs: the rows by what they are, the differences, the trends. */
#include "report/explain.h"

#include "report/parts.h"

#include <math.h>

/* The point, its step and its memory; null where there is none. */
static void begin_point(const char *key, const store_row *r, dse_json *j)
{
    dse_json_key(j, key);
    if (!r) {
        dse_json_null(j);
        return;
    }
    dse_json_begin_object(j);
    strategy_write_fields(&r->strategy, j);
    dse_json_key_uint(j, "wall_time", r->metrics.wall_time);
    if (r->metrics.peak_memory != STORE_ABSENT)
        dse_json_key_uint(j, "peak_memory", r->metrics.peak_memory);
}

static void point_json(const char *key, const store_row *r, dse_json *j)
{
    begin_point(key, r, j);
    if (r)
        dse_json_end_object(j);
}

static int64_t difference(uint64_t a, uint64_t b) { return (int64_t)(a - b); }

/* With its parts and, against the winner, how much more each is. */
static void role_json(const char *key, const store_row *r, const store_row *winner, dse_json *j)
{
    begin_point(key, r, j);
    if (!r)
        return;
    report_parts_json(&r->metrics, j);
    if (winner) {
        dse_json_key_object(j, "more_than_winner");
        dse_json_key_int(j, "wall_time", difference(r->metrics.wall_time, winner->metrics.wall_time));
        for (size_t i = 0;
             i < REPORT_N_STEP_PARTS && store_has_step(&r->metrics) && store_has_step(&winner->metrics);
             i++) {
            const store_column *c = store_column_find(report_step_parts[i].column);

            if (!store_has(&r->metrics, c) && !store_has(&winner->metrics, c))
                continue; /* of another profile */
            dse_json_key_int(j, report_step_parts[i].column,
                             difference(report_part_of(&r->metrics, &report_step_parts[i]),
                                        report_part_of(&winner->metrics, &report_step_parts[i])));
        }
        dse_json_end_object(j);
    }
    dse_json_end_object(j);
}

static void trend_json(const report_study *s, const report_trend *t, dse_json *j)
{
    const strategy_parameter *p = &strategy_parameters[t->axis];

    dse_json_key_array(j, p->name);
    for (size_t i = 0; i < t->n; i++) {
        dse_json_begin_object(j);
        dse_json_key(j, "value");
        strategy_write_value(p, t->point[i].value, j);
        point_json("best", t->point[i].best, j);
        if (!isnan(s->hbm_bytes))
            point_json("best_that_fits", t->point[i].best_fits, j);
        dse_json_end_object(j);
    }
    dse_json_end_array(j);
}

void report_explain_json(const report_study *s, const report_explanation *e, dse_json *j)
{
    dse_json_begin_object(j);
    role_json("winner", e->winner, NULL, j);
    role_json("runner_up", e->runner_up, e->winner, j);
    role_json("without_limit", e->unlimited, e->winner, j);
    point_json("smallest_change_that_fits", e->nearest, j);
    if (e->nearest)
        dse_json_key_uint(j, "changes", e->n_changes);
    dse_json_key_object(j, "trends");
    for (size_t i = 0; i < e->n_trends; i++)
        trend_json(s, &e->trend[i], j);
    dse_json_end_object(j);
    dse_json_end_object(j);
}
