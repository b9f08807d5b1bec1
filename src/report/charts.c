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

/* ---- step time against memory ----------------------------------------------------------------- */

#define SPREAD 20 /* of the largest to the smallest value: then an axis is logarithmic */

void report_dots_add(report_dots *d, const store_metrics *m, uint32_t study)
{
    if (m->wall_time == STORE_ABSENT)
        return;
    d->most_time = m->wall_time > d->most_time ? m->wall_time : d->most_time;
    if (m->peak_memory == STORE_ABSENT)
        return;
    DSE_GROW(d->dot, d->cap, d->n + 1);
    d->dot[d->n++] = (report_dot){m->wall_time, m->peak_memory, study};
}

void report_dots_free(report_dots *d)
{
    dse_free(d->dot);
    *d = (report_dots){0};
}

static int by_time(const void *x, const void *y)
{
    const report_dot *a = x, *b = y;

    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    return (a->memory > b->memory) - (a->memory < b->memory);
}

static draw_series series_of(const char *name, draw_mark mark, size_t n, dse_arena *a, double **x, double **y)
{
    *x = DSE_ARENA_RAW(a, double, n + 1);
    *y = DSE_ARENA_RAW(a, double, n + 1);
    return (draw_series){.name = name, .mark = mark, .x = *x, .y = *y};
}

/* The units of both axes. */
typedef struct {
    unit time, memory;
} dot_units;

static bool is_in(const report_dot *d, size_t group, bool others)
{
    return d->study == group || (others && d->study > group);
}

/* Studies beyond the colours share the last one. */
static size_t add_studies(const report_points *p, const report_dots *d, dot_units u, dse_arena *a,
                          draw_series *out)
{
    const size_t groups = p->n_studies < DRAW_COLOURS - 1 ? p->n_studies : DRAW_COLOURS - 1;

    for (size_t g = 0; g < groups; g++) {
        const bool others = g + 1 == groups && p->n_studies > groups;
        size_t n = 0;
        double *x, *y;

        for (size_t i = 0; i < d->n; i++)
            n += is_in(&d->dot[i], g, others);
        out[g] = series_of(others ? "other studies" : p->name[g], DRAW_DOTS, n, a, &x, &y);
        for (size_t i = 0; i < d->n; i++)
            if (is_in(&d->dot[i], g, others)) {
                x[out[g].n] = (double)d->dot[i].time / u.time.per;
                y[out[g].n++] = (double)d->dot[i].memory / u.memory.per;
            }
    }
    return groups;
}

/* Dots by time. */
static size_t count_front(const report_dots *d)
{
    uint64_t least = STORE_ABSENT;
    size_t n = 0;

    for (size_t i = 0; i < d->n; i++)
        if (d->dot[i].memory < least) {
            least = d->dot[i].memory;
            n++;
        }
    return n;
}

static draw_series front_of(const report_dots *d, dot_units u, dse_arena *a)
{
    uint64_t least = STORE_ABSENT;
    double *x, *y;
    draw_series front =
        series_of("best for their memory (Pareto front)", DRAW_STEPS, count_front(d), a, &x, &y);

    for (size_t i = 0; i < d->n; i++)
        if (d->dot[i].memory < least) {
            least = d->dot[i].memory;
            x[front.n] = (double)d->dot[i].time / u.time.per;
            y[front.n++] = (double)least / u.memory.per;
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

dse_status report_chart_tradeoff(const report_points *p, report_dots *d, dse_arena *a, dse_strbuf *out,
                                 dse_error *err)
{
    const double limit = common_limit(p);
    draw_series series[DRAW_COLOURS];
    size_t n_series;
    double least = INFINITY, most = 0, first, last;
    bool log_y;
    dot_units u = {.time = unit_of(store_column_find("wall_time"), (double)d->most_time)};
    draw_xy c;

    if (!d->n)
        return dse_fail(err, DSE_E_CONFIG, "no point has a known step time and memory");
    for (size_t i = 0; i < d->n; i++) {
        least = fmin(least, (double)d->dot[i].memory);
        most = fmax(most, (double)d->dot[i].memory);
    }
    log_y = most > SPREAD * least && least > 0;
    u.memory =
        unit_of(store_column_find("peak_memory"), log_y ? sqrt(least * most) : most); /* of the middle */
    qsort(d->dot, d->n, sizeof *d->dot, by_time);
    first = (double)d->dot[0].time / u.time.per;
    last = (double)d->dot[d->n - 1].time / u.time.per;
    n_series = add_studies(p, d, u, a, series);
    series[n_series++] = front_of(d, u, a);
    c = (draw_xy){.title = "Step time against memory",
                  .x_label = label_with("step time", u.time, a),
                  .y_label = label_with("memory of the NPU that needs most", u.memory, a),
                  .log_x = last > SPREAD * first && first > 0,
                  .log_y = log_y,
                  .n_series = n_series,
                  .series = series,
                  .limit = limit / u.memory.per,
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

struct report_heat_cell {
    uint32_t x, y; /* values of the parameters */
    double best;   /* of the points that fit; NaN: none does */
};

/* The parameter of a name, or the first that varies but `other`. */
static dse_status find_axis(uint64_t varied, const char *name, uint32_t preferred, uint32_t other,
                            uint32_t *out, dse_error *err)
{
    *out = STRATEGY_N;
    if (name) {
        *out = strategy_find(name);
        if (*out == STRATEGY_N)
            return dse_fail(err, DSE_E_USAGE, "no parameter is named '%.40s'; known: %s", name,
                            strategy_names());
        return varied >> *out & 1
                   ? DSE_OK
                   : dse_fail(err, DSE_E_USAGE,
                              "%s is the same in all points: a heat map needs one that varies", name);
    }
    if (preferred != other && varied >> preferred & 1)
        *out = preferred;
    for (uint32_t k = 0; *out == STRATEGY_N && k < STRATEGY_N; k++)
        if (k != other && varied >> k & 1)
            *out = k;
    return *out < STRATEGY_N
               ? DSE_OK
               : dse_fail(err, DSE_E_CONFIG, "a heat map needs two parameters that vary among the points");
}

dse_status report_heat_begin(report_heat *h, uint64_t varied, const store_column *by, const char *x,
                             const char *y, dse_error *err)
{
    const uint32_t given_y = y ? strategy_find(y) : STRATEGY_N;
    dse_status st;

    *h = (report_heat){.by = by};
    if ((st = find_axis(varied, x, STRATEGY_tp, given_y, &h->x, err)) == DSE_OK)
        st = find_axis(varied, y, STRATEGY_pp, h->x, &h->y, err);
    return st;
}

static bool is_pair(const void *cells, uint32_t i, const void *pair)
{
    const report_heat_cell *c = &((const report_heat_cell *)cells)[i], *of = pair;

    return c->x == of->x && c->y == of->y;
}

void report_heat_add(report_heat *h, const store_row *r, bool fits)
{
    const double value = store_value(&r->metrics, h->by);
    const report_heat_cell pair = {strategy_get(&r->strategy, h->x), strategy_get(&r->strategy, h->y), NAN};
    const uint64_t hash = dse_hash_u64((uint64_t)pair.x << 32 | pair.y);
    const uint32_t at =
        dse_idtable_intern(&h->table, (uint32_t)hash, is_pair, h->cell, &pair, (uint32_t)h->n);

    if (at == h->n) {
        DSE_GROW(h->cell, h->cap, h->n + 1);
        h->cell[h->n++] = pair;
    }
    h->most = fmax(h->most, value);
    if (fits && !(h->by->better == STORE_HIGHER ? value <= h->cell[at].best : value >= h->cell[at].best))
        h->cell[at].best = value;
}

void report_heat_free(report_heat *h)
{
    dse_idtable_free(&h->table);
    dse_free(h->cell);
    *h = (report_heat){0};
}

/* The values of a parameter that points have, ascending. */
typedef struct {
    size_t n;
    uint32_t *value;
    const char **name;
} heat_axis;

static heat_axis axis_of(const report_heat *h, bool down, dse_arena *a)
{
    const strategy_parameter *p = &strategy_parameters[down ? h->y : h->x];
    heat_axis axis = {.value = DSE_ARENA_NEW(a, uint32_t, h->n + 1)};
    char text[STRATEGY_VALUE_MAX];
    size_t kept = 0;

    for (size_t i = 0; i < h->n; i++)
        axis.value[axis.n++] = down ? h->cell[i].y : h->cell[i].x;
    qsort(axis.value, axis.n, sizeof *axis.value, dse_by_u32);
    for (size_t i = 0; i < axis.n; i++)
        if (!kept || axis.value[i] != axis.value[kept - 1])
            axis.value[kept++] = axis.value[i];
    axis.n = kept;
    axis.name = DSE_ARENA_NEW(a, const char *, kept + 1);
    for (size_t i = 0; i < kept; i++)
        axis.name[i] = dse_arena_strdup(a, strategy_print(p, axis.value[i], text));
    return axis;
}

static size_t place_in(const heat_axis *axis, uint32_t v)
{
    const uint32_t *found = bsearch(&v, axis->value, axis->n, sizeof v, dse_by_u32);

    return (size_t)(found - axis->value);
}

void report_heat_svg(const report_heat *h, bool trains, dse_arena *a, dse_strbuf *out)
{
    const unit u = unit_of(h->by, h->most);
    const heat_axis x = axis_of(h, false, a), y = axis_of(h, true, a);
    double *value = DSE_ARENA_NEW(a, double, x.n *y.n + 1);
    const char *label = label_with(report_figure_label(h->by, trains, a), u, a);

    for (size_t i = 0; i < x.n * y.n; i++)
        value[i] = NAN;
    for (size_t i = 0; i < h->n; i++)
        value[place_in(&y, h->cell[i].y) * x.n + place_in(&x, h->cell[i].x)] = h->cell[i].best / u.per;
    draw_heat_svg(
        &(draw_heat){
            .title = dse_arena_printf(a, "Best by %s and %s", strategy_heading(h->x), strategy_heading(h->y)),
            .x_label = dse_arena_printf(a, "%s, across", strategy_heading(h->x)),
            .y_label = strategy_heading(h->y),
            .label = dse_arena_printf(a, "%s of the best that fits; yellow is best", label),
            .n_x = x.n,
            .n_y = y.n,
            .x = x.name,
            .y = y.name,
            .value = value,
            .less_is_better = h->by->better != STORE_HIGHER},
        out);
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
