/* How the best step and its memory change along each axis, the other axes following. */
#include "report/explain.h"

#include "report/prose.h"
#include "report/rows.h"

/* ---- the table ------------------------------------------------------------------------------ */

/* Along the axis the best points fit, or those that fit are others. */
static bool limit_matters(const report_trend *t)
{
    for (size_t i = 0; i < t->n; i++)
        if (t->point[i].best != t->point[i].best_fits)
            return true;
    return false;
}

static void put_best(const char *heading, const store_row *r, bool named, report_node *row)
{
    report_put(row, V_CELL(heading, r ? report_time(r->metrics.wall_time).text : "none"),
               V_CELL("peak\nmemory", r ? report_bytes(r->metrics.peak_memory).text : "-"),
               V_GIVEN(named, V_NOTE("point", r ? report_point_text(r).text : "-")));
}

/* `limited`: with the best points that fit beside the best. With profile train only they are named then,
 * as its points have long names. */
static void print_table(const report_study *s, const report_explanation *e, bool limited, dse_strbuf *out)
{
    const bool both = !limited || !report_trains(s);
    report_tree t;
    report_node *list = report_tree_begin(&t);

    for (size_t i = 0; i < e->n_trends; i++) {
        const uint32_t axis = e->trend[i].axis;

        for (size_t k = 0; k < e->trend[i].n; k++) {
            const report_trend_point *p = &e->trend[i].point[k];
            char value[STRATEGY_VALUE_MAX];
            report_node *row;

            strategy_print(&strategy_parameters[axis], p->value, value);
            row = report_row(list, V_NOTE("", report_format("%s %s", strategy_heading(axis), value).text));
            put_best("best\nstep", p->best, both, row);
            if (limited)
                put_best("that\nfits", p->best_fits, true, row);
        }
    }
    report_table_end(&t, out);
    dse_strbuf_addc(out, '\n');
}

/* ---- sentences ------------------------------------------------------------------------------ */

/* Values along an axis, in its order: of the best point, or of the best that fits; its step, or its
 * memory. */
typedef struct {
    const report_trend *trend;
    bool fits, time;

    size_t n;                  /* values that are there, */
    size_t first, last, least; /* places of some of them */
    bool rises, falls;         /* at no value it gets smaller (larger) */
} series;

static bool value_at(const series *s, size_t i, uint64_t *out)
{
    const report_trend_point *p = &s->trend->point[i];
    const store_row *r = s->fits ? p->best_fits : p->best;

    if (r)
        *out = s->time ? r->metrics.wall_time : r->metrics.peak_memory;
    return r && *out != STORE_ABSENT;
}

static series make_series(const report_trend *t, bool fits, bool time)
{
    series s = {.trend = t, .fits = fits, .time = time, .rises = true, .falls = true};
    uint64_t v, before = 0, least = 0;

    for (size_t i = 0; i < t->n; i++) {
        if (!value_at(&s, i, &v))
            continue;
        if (!s.n++) {
            s.first = s.least = i;
            least = before = v;
        }
        s.rises &= v >= before;
        s.falls &= v <= before;
        if (v < least) {
            s.least = i;
            least = v;
        }
        before = v;
        s.last = i;
    }
    return s;
}

static report_text value_text(const series *s, size_t i)
{
    uint64_t v = 0;

    value_at(s, i, &v);
    return s->time ? report_say_time(v) : report_say_bytes((double)v);
}

static void say_axis_value(const report_trend *t, size_t i, dse_strbuf *p)
{
    char text[STRATEGY_VALUE_MAX];

    dse_strbuf_addf(p, "%s" REPORT_UNBROKEN "%s", report_axis_name(t->axis),
                    strategy_print(&strategy_parameters[t->axis], t->point[i].value, text));
}

static void say_value_at(const series *s, size_t i, dse_strbuf *p)
{
    dse_strbuf_addf(p, "%s at ", value_text(s, i).text);
    say_axis_value(s->trend, i, p);
}

/* "falls from 9.512 s at dp 1 to 3.180 s at dp 64", or where it is least and what it is at the ends. */
static void say_shape(const series *s, dse_strbuf *p)
{
    if (s->n == 1) {
        dse_strbuf_adds(p, "is ");
        say_value_at(s, s->first, p);
    } else if (s->rises && s->falls) {
        dse_strbuf_addf(p, "stays %s", value_text(s, s->first).text);
    } else if (s->rises || s->falls) {
        dse_strbuf_adds(p, s->rises ? "rises from " : "falls from ");
        say_value_at(s, s->first, p);
        dse_strbuf_adds(p, " to ");
        say_value_at(s, s->last, p);
    } else {
        dse_strbuf_adds(p, "is least, ");
        say_value_at(s, s->least, p);
        dse_strbuf_adds(p, ", against ");
        if (s->least != s->first)
            say_value_at(s, s->first, p);
        dse_strbuf_adds(p, s->least != s->first && s->least != s->last ? " and " : "");
        if (s->least != s->last)
            say_value_at(s, s->last, p);
    }
}

/* "9.512 s instead of 3.180 s (+199.1%)" */
static void say_change(const series *s, dse_strbuf *p)
{
    uint64_t off = 0, on = 0;

    value_at(s, 0, &off);
    value_at(s, 1, &on);
    dse_strbuf_addf(p, "%s instead of %s", value_text(s, 1).text, value_text(s, 0).text);
    if (off)
        dse_strbuf_addf(p, " (%+.1f%%)", ((double)on - (double)off) / (double)off * 100);
}

/* Names the values of the axis at which nothing fits. */
static void say_where_none_fits(const report_trend *t, bool skipped, dse_strbuf *p)
{
    size_t n = 0, k = 0;

    for (size_t i = 0; i < t->n; i++)
        n += !t->point[i].best_fits;
    if (!n)
        return;
    dse_strbuf_addf(p, "; nothing %sfits at ", skipped ? "that was run " : "");
    for (size_t i = 0; i < t->n; i++)
        if (!t->point[i].best_fits) {
            say_axis_value(t, i, p);
            dse_strbuf_adds(p, report_separator(k++, n));
        }
}

static void say_degree(const report_trend *t, bool skipped, dse_strbuf *p)
{
    const series step = make_series(t, false, true), memory = make_series(t, false, false);
    const series fits = make_series(t, true, true);

    dse_strbuf_addf(p, "Along %s the best point's step ", report_axis_name(t->axis));
    say_shape(&step, p);
    if (memory.n) {
        dse_strbuf_adds(p, "; its memory ");
        say_shape(&memory, p);
    }
    dse_strbuf_addc(p, '.');
    if (!fits.n || !limit_matters(t))
        return;
    dse_strbuf_adds(p, " Of the points that fit, the best one's step ");
    say_shape(&fits, p);
    say_where_none_fits(t, skipped, p);
    dse_strbuf_addc(p, '.');
}

static void say_switch(const report_trend *t, bool skipped, dse_strbuf *p)
{
    const char *name = report_axis_name(t->axis);
    const series step = make_series(t, false, true), memory = make_series(t, false, false);
    const series fits = make_series(t, true, true);

    dse_strbuf_addf(p, "With %s the best point's step is ", name);
    say_change(&step, p);
    if (memory.n == 2) {
        dse_strbuf_adds(p, ", its memory ");
        say_change(&memory, p);
    }
    dse_strbuf_addc(p, '.');
    if (!fits.n || !limit_matters(t))
        return;
    if (fits.n == 2) {
        dse_strbuf_adds(p, " Of the points that fit, the best one's step is ");
        say_change(&fits, p);
    } else {
        dse_strbuf_addf(p, " Nothing %sfits %s %s", skipped ? "that was run " : "",
                        t->point[fits.first].value ? "without" : "with", name);
    }
    dse_strbuf_addc(p, '.');
}

void report_trends_print(const report_study *s, const report_explanation *e, dse_strbuf *p, dse_strbuf *out)
{
    bool limited = false;

    if (!e->n_trends)
        return;
    for (size_t i = 0; i < e->n_trends; i++)
        limited |= s->n_ranked && limit_matters(&e->trend[i]);
    report_paragraph(out, "The best point by %s at each value of an axis%s; the other axes follow.",
                     s->by->name, report_has_others(s) ? ", of those that were run" : "");
    print_table(s, e, limited, out);
    for (size_t i = 0; i < e->n_trends; i++) {
        const bool is_switch = strategy_parameters[e->trend[i].axis].kind == STRATEGY_SWITCH;

        (is_switch ? say_switch : say_degree)(&e->trend[i], report_has_others(s), p);
        report_end_paragraph(p, out);
    }
}
