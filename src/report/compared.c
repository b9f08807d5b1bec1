#include "report/compared.h"

#include "base/array.h"
#include "base/names.h"
#include "report/band.h"
#include "report/compared_parts.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define NAME_WIDTH 30 /* of a metric */

/* ---- figures -------------------------------------------------------------------------------- */

double compared_simulated(const report_compared_run *r) { return r->n_pairs ? r->pair[0].simulated : NAN; }
double compared_measured(const report_compared_run *r) { return r->n_pairs ? r->pair[0].measured : NAN; }

double compared_error(const report_compared_run *r)
{
    return cmp_error(compared_simulated(r), compared_measured(r));
}

const char compared_no_error[] = "nothing is relative to a measured 0";

bool compared_lacks_error(const cmp_pair *p)
{
    return !isnan(p->simulated) && !isnan(p->measured) && isnan(cmp_error(p->simulated, p->measured));
}

const report_compared_run *compared_worst_run(const report_compared *c)
{
    const report_compared_run *worst = NULL;

    for (size_t i = 0; i < c->n_runs; i++) {
        double error = compared_error(&c->run[i]);

        if (!isnan(error) && (!worst || fabs(error) > fabs(compared_error(worst))))
            worst = &c->run[i];
    }
    return worst;
}

double report_compared_worst(const report_compared *c)
{
    const report_compared_run *worst = compared_worst_run(c);

    return worst ? fabs(compared_error(worst)) : NAN;
}

static report_text percent(double fraction, bool sign)
{
    const double v = fraction * 100;

    if (isnan(v))
        return report_format("-");
    if (fabs(v) < 0.05) /* neither "+0.0%" nor "-0.0%" */
        return report_format("0.0%%");
    return report_format(fabs(v) < 1e6 ? "%s%.1f%%" : "%s%.3g%%", sign && v > 0 ? "+" : "", v);
}

report_text compared_signed_percent(double fraction) { return percent(fraction, true); }
report_text compared_percent(double fraction) { return percent(fraction, false); }

/* "5%", "0.5%" */
static report_text tolerance_text(double fraction) { return report_format("%g%%", fraction * 100); }

report_text compared_value(double v, const char *unit)
{
    static const struct {
        const char *unit;
        double scale;
        report_text (*format)(double v);
    } scaled[] = {{"s", 1, report_seconds},     {"ms", 1e-3, report_seconds}, {"us", 1e-6, report_seconds},
                  {"ns", 1e-9, report_seconds}, {"B", 1, report_size},        {"bytes", 1, report_size},
                  {"GB", 1e9, report_size}};
    const bool whole = fabs(v) < 1e15 && (fabs(v) >= 1000 || v == floor(v));

    if (isnan(v))
        return report_format("-");
    for (size_t i = 0; v != 0 && i < DSE_COUNT(scaled); i++)
        if (strcmp(unit, scaled[i].unit) == 0) /* these format sizes, without a sign */
            return report_format("%s%.300s", v < 0 ? "-" : "",
                                 scaled[i].format(fabs(v) * scaled[i].scale).text);
    /* Four digits, or all before the point. */
    return report_format(whole ? "%.0f%s%s" : "%.4g%s%s", v, *unit ? " " : "", unit);
}

/* ---- names ---------------------------------------------------------------------------------- */

static bool is_continuation(char c) { return ((unsigned char)c & 0xC0) == 0x80; }

compared_name compared_short(const char *name, size_t width)
{
    compared_name n;
    size_t length = strlen(name), head, tail;

    width = width < sizeof n.text ? width : sizeof n.text - 1;
    if (length <= width) {
        memcpy(n.text, name, length + 1);
    } else {
        head = (width - 1) / 2;
        tail = length - (width - 2 - head);
        while (head && is_continuation(name[head])) /* no character is cut in two */
            head--;
        while (tail < length && is_continuation(name[tail]))
            tail++;
        snprintf(n.text, sizeof n.text, "%.*s..%s", (int)head, name, name + tail);
    }
    dse_mask_controls(n.text, strlen(n.text), DSE_ONE_LINE);
    return n;
}

/* ---- reasons -------------------------------------------------------------------------------- */

void compared_reason(compared_reasons *r, const char *about, const char *text, dse_strbuf *cell)
{
    size_t i = 0;

    if (!text)
        return;
    while (i < r->n && (strcmp(r->item[i].text, text) != 0 || strcmp(r->item[i].about, about) != 0))
        i++;
    if (i == r->n) {
        DSE_GROW(r->item, r->cap, r->n + 1);
        r->item[r->n].about = about;
        r->item[r->n++].text = text;
    }
    dse_strbuf_addf(cell, "%s(%zu)", cell->len ? " " : "", i + 1);
}

void compared_pair_reasons(compared_reasons *r, const cmp_pair *p, dse_strbuf *cell)
{
    const char *simulated = isnan(p->simulated) ? p->why_simulated : NULL;
    const char *measured = isnan(p->measured) ? p->why_measured : NULL;

    if (simulated && measured && strcmp(simulated, measured) == 0) {
        compared_reason(r, "both", simulated, cell);
        return;
    }
    compared_reason(r, "simulated", simulated, cell);
    compared_reason(r, "measured", measured, cell);
}

void compared_reasons_print(compared_reasons *r, dse_strbuf *out)
{
    dse_strbuf line;

    dse_strbuf_init(&line);
    for (size_t i = 0; i < r->n; i++) {
        dse_strbuf_clear(&line);
        dse_strbuf_addf(&line, "%s%s%s", r->item[i].about, *r->item[i].about ? ": " : "", r->item[i].text);
        dse_strbuf_addf(out, "%*s(%zu) ", i < 9, "", i + 1);
        dse_strbuf_add_wrapped(out, line.data, 5, COMPARED_WIDTH);
        dse_strbuf_addc(out, '\n');
    }
    dse_strbuf_free(&line);
    dse_free(r->item);
    *r = (compared_reasons){0};
}

/* ---- one run -------------------------------------------------------------------------------- */

void compared_line(const char *label, const char *text, dse_strbuf *out)
{
    dse_strbuf_addf(out, "%-9s", label);
    dse_strbuf_add_wrapped(out, text, 9, COMPARED_WIDTH);
    dse_strbuf_addc(out, '\n');
}

static void add_heading(const report_compared *c, const report_compared_run *r, dse_strbuf *out)
{
    compared_line("run", r->name, out);
    compared_line("measured", r->where, out);
    compared_line("system", c->system, out);
    compared_line("model", r->model, out);
    if (*c->settings)
        compared_line("with", c->settings, out);
    compared_line("point", r->point, out);
    compared_line("devices", report_format("%" PRIu64, r->n_devices).text, out);
    compared_line("sizes", r->sizes, out);
    for (size_t i = 0; i < r->n_notes; i++)
        compared_line("note", r->note[i], out);
    if (r->failed)
        compared_line("failed", r->failed, out);
    dse_strbuf_addc(out, '\n');
}

/* Whether the simulation makes the machine look better than it is, or worse. */
static const char *direction(const cmp_pair *p, double error)
{
    if (p->better == CMP_NEITHER)
        return "";
    return (error < 0) == (p->better == CMP_LOWER) ? ", optimistic" : ", pessimistic";
}

static report_text verdict(const cmp_pair *p, double error)
{
    const report_text tolerance = tolerance_text(p->tolerance);

    if (isnan(error) || isnan(p->tolerance))
        return report_format("-");
    if (p->tolerance == 0)
        return report_format("%s", error == 0 ? "equal" : "differs");
    return fabs(error) <= p->tolerance ? report_format("within %s", tolerance.text)
                                       : report_format("beyond %s%s", tolerance.text, direction(p, error));
}

static void add_metric(const cmp_pair *p, compared_reasons *reasons, dse_strbuf *why, report_node *list)
{
    const double error = cmp_error(p->simulated, p->measured);

    dse_strbuf_clear(why);
    compared_pair_reasons(reasons, p, why);
    if (compared_lacks_error(p))
        compared_reason(reasons, "error", compared_no_error, why);
    report_row(list, V_NOTE("metric", compared_short(p->name, NAME_WIDTH).text),
               V_CELL("simulated", compared_value(p->simulated, p->unit).text),
               V_CELL("measured", compared_value(p->measured, p->unit).text),
               V_CELL("error", compared_signed_percent(error).text),
               V_NOTE("tolerance", verdict(p, error).text), V_NOTE("", why->data));
}

static void add_metrics(const report_compared_run *r, dse_strbuf *out)
{
    compared_reasons reasons = {0};
    report_tree t;
    report_node *list = report_tree_begin(&t);
    dse_strbuf why;

    if (!r->n_pairs)
        return;
    dse_strbuf_init(&why);
    for (size_t i = 0; i < r->n_pairs; i++)
        add_metric(&r->pair[i], &reasons, &why, list);
    report_table_end(&t, out);
    compared_reasons_print(&reasons, out);
    dse_strbuf_free(&why);
    dse_strbuf_addc(out, '\n');
}

static void add_score(const report_compared *c, const report_compared_run *r, dse_strbuf *out)
{
    if (isnan(r->score))
        dse_strbuf_addf(out, "score    none: no metric has both a weight and an error\n         (%s)\n",
                        c->weights);
    else
        dse_strbuf_addf(out,
                        "score    %s, the weighted mean of the errors of %zu of %zu metrics\n         (%s)\n",
                        compared_percent(r->score).text, r->n_scored, r->n_pairs, c->weights);
}

void compared_print_limit(const report_compared *c, dse_strbuf *out)
{
    const report_compared_run *worst = compared_worst_run(c);
    const report_text limit = tolerance_text(c->max_error);

    if (isnan(c->max_error))
        return;
    if (!worst)
        dse_strbuf_addf(out, "limit    %s, but no step time has an error\n", limit.text);
    else
        dse_strbuf_addf(out, "limit    %s of the step time: %s, the worst is %s\n", limit.text,
                        fabs(compared_error(worst)) <= c->max_error ? "kept" : "not kept",
                        compared_signed_percent(compared_error(worst)).text);
}

static void add_band(const report_compared_run *r, dse_strbuf *out)
{
    dse_strbuf text;

    if (isnan(compared_simulated(r)) || (r->band.level == CMP_BAND_NONE && !r->why_no_band))
        return;
    dse_strbuf_init(&text);
    if (r->band.level == CMP_BAND_NONE)
        dse_strbuf_addf(&text, "not known: %s", r->why_no_band);
    else
        report_band_say(&r->band, r->device, compared_simulated(r), &text);
    compared_line("band", text.data, out);
    dse_strbuf_free(&text);
}

static void print_run(const report_compared *c, dse_strbuf *out)
{
    add_heading(c, &c->run[0], out);
    add_metrics(&c->run[0], out);
    add_score(c, &c->run[0], out);
    add_band(&c->run[0], out);
    compared_print_limit(c, out);
    if (c->n_left)
        dse_strbuf_addc(out, '\n');
    report_left_print(c->left, c->n_left, out);
}

void report_compared_print(const report_compared *c, dse_strbuf *out)
{
    size_t begin = out->len;

    if (c->n_runs == 1)
        print_run(c, out);
    else
        compared_print_runs(c, out);
    /* Names come from other people's files, and this goes to a terminal. */
    if (out->len > begin)
        dse_mask_controls(out->data + begin, out->len - begin, DSE_LINES);
}
