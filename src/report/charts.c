#include "report/charts.h"

#include "base/array.h"
#include "base/order.h"
#include "draw/chart.h"
#include "report/parts.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The unit in which numbers up to `most` read best, of ns and of bytes. */
typedef struct {
    const char *name;
    double per;
} unit;

static unit unit_of(const store_column *c, double most)
{
    static const unit times[] = {{"ns", 1}, {"µs", 1e3}, {"ms", 1e6}, {"s", 1e9}};
    static const unit bytes[] = {{"B", 1}, {"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}};
    const bool is_time = !strcmp(c->unit, "ns");
    unit found = {c->unit, 1};

    for (size_t i = 0; is_time && i < DSE_COUNT(times); i++)
        found = i == 0 || most >= times[i].per ? times[i] : found;
    for (size_t i = 0; c->type == STORE_BYTES && i < DSE_COUNT(bytes); i++)
        found = i == 0 || most >= bytes[i].per ? bytes[i] : found;
    return found;
}

static const char *label_with(const char *label, unit u, dse_arena *a)
{
    return *u.name ? dse_arena_printf(a, "%s (%s)", label, u.name) : label;
}

static double largest(const report_points *p, const store_column *c)
{
    double most = 0;

    for (size_t i = 0; i < p->n; i++)
        most = fmax(most, store_value(&p->row[i]->metrics, c));
    return most;
}

/* ---- step time against memory ----------------------------------------------------------------- */

#define SPREAD 20 /* of the largest to the smallest value: then an axis is logarithmic */

typedef struct {
    double time, memory;
    uint32_t study;
} dot;

static int by_time(const void *x, const void *y)
{
    const dot *a = x, *b = y;

    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    return (a->memory > b->memory) - (a->memory < b->memory);
}

static draw_series series_of(const char *name, draw_mark mark, size_t n, dse_arena *a, double **x, double **y)
{
    *x = DSE_ARENA_NEW(a, double, n + 1);
    *y = DSE_ARENA_NEW(a, double, n + 1);
    return (draw_series){.name = name, .mark = mark, .x = *x, .y = *y};
}

/* Studies beyond the colours share the last one. */
static size_t add_studies(const report_points *p, const dot *d, size_t n, dse_arena *a, draw_series *out)
{
    const size_t groups = p->n_studies < DRAW_COLOURS - 1 ? p->n_studies : DRAW_COLOURS - 1;

    for (size_t g = 0; g < groups; g++) {
        const bool others = g + 1 == groups && p->n_studies > groups;
        double *x, *y;

        out[g] = series_of(others ? "other studies" : p->name[g], DRAW_DOTS, n, a, &x, &y);
        for (size_t i = 0; i < n; i++)
            if (d[i].study == g || (others && d[i].study > g)) {
                x[out[g].n] = d[i].time;
                y[out[g].n++] = d[i].memory;
            }
    }
    return groups;
}

/* `d` by time. */
static draw_series front_of(const dot *d, size_t n, dse_arena *a)
{
    double *x, *y, least = INFINITY;
    draw_series front = series_of("best for their memory (Pareto front)", DRAW_STEPS, n, a, &x, &y);

    for (size_t i = 0; i < n; i++)
        if (d[i].memory < least) {
            x[front.n] = d[i].time;
            y[front.n++] = least = d[i].memory;
        }
    return front;
}

/* That all studies have; NaN if they differ. */
static double common_limit(const report_points *p)
{
    for (size_t s = 1; s < p->n_studies; s++)
        if (!(p->study[s].hbm_bytes == p->study[0].hbm_bytes))
            return NAN;
    return p->n_studies ? p->study[0].hbm_bytes : NAN;
}

dse_status report_chart_tradeoff(const report_points *p, dse_arena *a, dse_strbuf *out, dse_error *err)
{
    const store_column *time = store_column_find("wall_time"), *memory = store_column_find("peak_memory");
    const unit t = unit_of(time, largest(p, time));
    const double limit = common_limit(p);
    dot *d = DSE_ARENA_NEW(a, dot, p->n + 1);
    draw_series series[DRAW_COLOURS];
    size_t n = 0, n_series;
    double least = INFINITY, most = 0;
    bool log_y;
    unit b;
    draw_xy c;

    for (size_t i = 0; i < p->n; i++) {
        const double x = store_value(&p->row[i]->metrics, time), y = store_value(&p->row[i]->metrics, memory);

        if (!isnan(x) && !isnan(y)) {
            d[n++] = (dot){x / t.per, y, p->of[i]};
            least = fmin(least, y);
            most = fmax(most, y);
        }
    }
    if (!n)
        return dse_fail(err, DSE_E_CONFIG, "no point has a known step time and memory");
    log_y = most > SPREAD * least && least > 0;
    b = unit_of(memory, log_y ? sqrt(least * most) : most); /* of the middle of the axis */
    for (size_t i = 0; i < n; i++)
        d[i].memory /= b.per;
    qsort(d, n, sizeof *d, by_time);
    n_series = add_studies(p, d, n, a, series);
    series[n_series++] = front_of(d, n, a);
    c = (draw_xy){.title = "Step time against memory",
                  .x_label = label_with("step time", t, a),
                  .y_label = label_with("memory of the NPU that needs most", b, a),
                  .log_x = d[n - 1].time > SPREAD * d[0].time && d[0].time > 0,
                  .log_y = log_y,
                  .n_series = n_series,
                  .series = series,
                  .limit = limit / b.per,
                  .limit_label = isnan(limit)
                                     ? ""
                                     : dse_arena_printf(a, "memory of an NPU, %s", report_size(limit).text)};
    draw_xy_svg(&c, out);
    return DSE_OK;
}

/* ---- where the step goes ---------------------------------------------------------------------- */

static bool any_has_part(const report_points *p, const uint32_t *at, size_t n, const report_part *part)
{
    for (size_t i = 0; i < n; i++)
        if (report_part_of(&p->row[at[i]]->metrics, part))
            return true;
    return false;
}

dse_status report_chart_parts(const report_points *p, const store_column *by, size_t top, dse_arena *a,
                              dse_strbuf *out, dse_error *err)
{
    uint32_t *ranked;
    const size_t n_ranked = report_points_rank(p, by, a, &ranked);
    const char **bar = DSE_ARENA_NEW(a, const char *, n_ranked + 1), *part[REPORT_N_STEP_PARTS];
    double *value = DSE_ARENA_NEW(a, double, (n_ranked + 1) * REPORT_N_STEP_PARTS), most = 0;
    const store_column *time = store_column_find("wall_time");
    report_points shown = *p; /* names say what differs among the bars */
    uint32_t colour[REPORT_N_STEP_PARTS];
    size_t n = 0, n_parts = 0;
    unit u;

    for (size_t i = 0; i < n_ranked && n < top; i++)
        if (store_has_step(&p->row[ranked[i]]->metrics)) {
            most = fmax(most, (double)p->row[ranked[i]]->metrics.wall_time);
            ranked[n++] = ranked[i];
        }
    if (!n)
        return dse_fail(err, DSE_E_CONFIG, "of no point that fits in memory it is known where its step goes");
    u = unit_of(time, most);
    shown.varied = report_points_varied(p, ranked, n);
    for (size_t i = 0; i < n; i++)
        bar[i] = report_points_say(&shown, ranked[i], a);
    for (uint32_t k = 0; k < REPORT_N_STEP_PARTS; k++)
        if (any_has_part(p, ranked, n, &report_step_parts[k])) {
            part[n_parts] = report_part_label(&report_step_parts[k], &p->row[ranked[0]]->metrics);
            colour[n_parts++] = k;
        }
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n_parts; k++)
            value[i * n_parts + k] =
                (double)report_part_of(&p->row[ranked[i]]->metrics, &report_step_parts[colour[k]]) / u.per;
    draw_bars_svg(&(draw_bars){.title = "Where the step goes",
                               .label = label_with("step time", u, a),
                               .n_bars = n,
                               .n_parts = n_parts,
                               .bar = bar,
                               .part = part,
                               .value = value,
                               .colour = colour},
                  out);
    return DSE_OK;
}

/* ---- heat map --------------------------------------------------------------------------------- */

/* The values of a parameter that points have, ascending. */
typedef struct {
    uint32_t parameter;
    size_t n;
    uint32_t *value;
    const char **name;
} heat_axis;

static heat_axis axis_of(const report_points *p, uint32_t parameter, dse_arena *a)
{
    heat_axis axis = {.parameter = parameter, .value = DSE_ARENA_NEW(a, uint32_t, p->n + 1)};
    size_t kept = 0;

    for (size_t i = 0; i < p->n; i++)
        axis.value[axis.n++] = strategy_get(&p->row[i]->strategy, parameter);
    qsort(axis.value, axis.n, sizeof *axis.value, dse_by_u32);
    for (size_t i = 0; i < axis.n; i++)
        if (!kept || axis.value[i] != axis.value[kept - 1])
            axis.value[kept++] = axis.value[i];
    axis.n = kept;
    axis.name = DSE_ARENA_NEW(a, const char *, kept + 1);
    for (size_t i = 0; i < kept; i++) {
        char text[STRATEGY_VALUE_MAX];

        axis.name[i] =
            dse_arena_strdup(a, strategy_print(&strategy_parameters[parameter], axis.value[i], text));
    }
    return axis;
}

static size_t place_in(const heat_axis *axis, const strategy *s)
{
    const uint32_t v = strategy_get(s, axis->parameter);
    const uint32_t *found = bsearch(&v, axis->value, axis->n, sizeof v, dse_by_u32);

    return (size_t)(found - axis->value);
}

/* The parameter of a name, or the first that varies but `other`. */
static dse_status find_axis(const report_points *p, const char *name, uint32_t preferred, uint32_t other,
                            uint32_t *out, dse_error *err)
{
    *out = STRATEGY_N;
    if (name) {
        *out = strategy_find(name);
        if (*out == STRATEGY_N)
            return dse_fail(err, DSE_E_USAGE, "no parameter is named '%.40s'; known: %s", name,
                            strategy_names());
        return p->varied >> *out & 1
                   ? DSE_OK
                   : dse_fail(err, DSE_E_USAGE,
                              "%s is the same in all points: a heat map needs one that varies", name);
    }
    if (preferred != other && p->varied >> preferred & 1)
        *out = preferred;
    for (uint32_t k = 0; *out == STRATEGY_N && k < STRATEGY_N; k++)
        if (k != other && p->varied >> k & 1)
            *out = k;
    return *out < STRATEGY_N
               ? DSE_OK
               : dse_fail(err, DSE_E_CONFIG, "a heat map needs two parameters that vary among the points");
}

dse_status report_chart_heat(const report_points *p, const store_column *by, const char *x_name,
                             const char *y_name, dse_arena *a, dse_strbuf *out, dse_error *err)
{
    const uint32_t given_y = y_name ? strategy_find(y_name) : STRATEGY_N;
    const unit u = unit_of(by, largest(p, by));
    uint32_t *ranked, x_parameter, y_parameter;
    size_t n_ranked;
    heat_axis x, y;
    double *value;
    const char *label;
    dse_status st;

    if ((st = find_axis(p, x_name, STRATEGY_tp, given_y, &x_parameter, err)) != DSE_OK ||
        (st = find_axis(p, y_name, STRATEGY_pp, x_parameter, &y_parameter, err)) != DSE_OK)
        return st;
    x = axis_of(p, x_parameter, a);
    y = axis_of(p, y_parameter, a);
    value = DSE_ARENA_NEW(a, double, x.n *y.n + 1);
    for (size_t i = 0; i < x.n * y.n; i++)
        value[i] = NAN;
    n_ranked = report_points_rank(p, by, a, &ranked);
    for (size_t i = 0; i < n_ranked; i++) { /* the best of a cell comes first */
        const store_row *r = p->row[ranked[i]];
        double *cell = &value[place_in(&y, &r->strategy) * x.n + place_in(&x, &r->strategy)];

        if (isnan(*cell))
            *cell = store_value(&r->metrics, by) / u.per;
    }
    label = label_with(report_figure_label(by, p->profiles & STRATEGY_PROFILE_TRAIN, a), u, a);
    draw_heat_svg(
        &(draw_heat){.title = dse_arena_printf(a, "Best by %s and %s", strategy_heading(x_parameter),
                                               strategy_heading(y_parameter)),
                     .x_label = dse_arena_printf(a, "%s, across", strategy_heading(x_parameter)),
                     .y_label = strategy_heading(y_parameter),
                     .label = dse_arena_printf(a, "%s of the best that fits; yellow is best", label),
                     .n_x = x.n,
                     .n_y = y.n,
                     .x = x.name,
                     .y = y.name,
                     .value = value,
                     .less_is_better = by->better != STORE_HIGHER},
        out);
    return DSE_OK;
}

/* ---- simulated against measured --------------------------------------------------------------- */

/* A number of a run; NaN: null or not there. */
static double number_of(const cfg_node *run, const char *key)
{
    const cfg_node *v = cfg_get(run, key);

    return v && v->kind == CFG_SCALAR && !v->quoted && strcmp(v->text, "null") ? strtod(v->text, NULL) : NAN;
}

static const char *text_of(const cfg_node *run, const char *key)
{
    const cfg_node *v = cfg_get(run, key);

    return v && v->kind == CFG_SCALAR ? v->text : "";
}

dse_status report_chart_compared(const cfg_doc *doc, dse_arena *a, dse_strbuf *out, dse_error *err)
{
    const cfg_node *runs = cfg_get(doc->root, "runs");
    const size_t most = runs && runs->kind == CFG_LIST ? runs->n : 0;
    double *x, *y, *low = DSE_ARENA_NEW(a, double, most + 1), *high = DSE_ARENA_NEW(a, double, most + 1);
    const char **tooltip = DSE_ARENA_NEW(a, const char *, most + 1);
    draw_series series = series_of(NULL, DRAW_DOTS, most, a, &x, &y);
    bool has_bands = false;

    if (!runs || runs->kind != CFG_LIST)
        return cfg_fail(err, doc, doc->root, "has no list 'runs': give what 'ccldse compare --json' wrote");
    for (size_t i = 0; i < most; i++) {
        const cfg_node *run = runs->item[i], *band = cfg_get(run, "step_time_band");
        const double simulated = number_of(run, "simulated_s"), measured = number_of(run, "measured_s");

        if (!(simulated > 0) || !(measured > 0))
            continue;
        x[series.n] = measured;
        y[series.n] = simulated;
        low[series.n] = band ? number_of(band, "low_s") : NAN;
        high[series.n] = band ? number_of(band, "high_s") : NAN;
        has_bands = has_bands || !isnan(low[series.n]);
        tooltip[series.n++] = dse_arena_printf(a, "%s, %s: measured %s, simulated %s (%s)",
                                               text_of(run, "model"), text_of(run, "point"),
                                               report_seconds(measured).text, report_seconds(simulated).text,
                                               report_signed_percent(simulated / measured - 1).text);
    }
    if (!series.n)
        return cfg_fail(err, doc, runs, "no run has both a simulated and a measured step time");
    series.low = low;
    series.high = high;
    series.tooltip = tooltip;
    draw_xy_svg(
        &(draw_xy){.title = dse_arena_printf(a, "Simulated against measured step time, %zu run%s%s", series.n,
                                             series.n == 1 ? "" : "s", has_bands ? ", with error bands" : ""),
                   .x_label = "measured step time (s)",
                   .y_label = "simulated step time (s)",
                   .log_x = true,
                   .log_y = true,
                   .n_series = 1,
                   .series = &series,
                   .limit = NAN,
                   .has_diagonal = true},
        out);
    return DSE_OK;
}
