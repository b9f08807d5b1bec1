/* Figures over several runs, and the reasons for missing ones. */
#include "report/compared_parts.h"

#include <math.h>
#include <stddef.h>

static report_text three_decimals(double v) { return report_format(isnan(v) ? "-" : "%.3f", v); }

static const char no_errors[] = "no run has both step times";

#define AT(member) offsetof(cmp_summary, member)
const compared_figure compared_figures[COMPARED_FIGURES] = {
    {"mape", "mean absolute error (MAPE)", no_errors, compared_percent, AT(mape)},
    {"geometric", "geometric mean error", no_errors, compared_percent, AT(geometric)},
    {"bias", "bias", no_errors, compared_signed_percent, AT(bias)},
    {"r2", "R2", "fewer than three runs, or all measured equal", three_decimals, AT(r2)},
    {"spearman", "Spearman rank correlation",
     "no three runs that differ on both sides are choices for the same work", three_decimals, AT(spearman)},
    {"kendall", "Kendall rank correlation",
     "no two runs that differ on both sides are choices for the same work", three_decimals, AT(kendall)},
    {"top_1", "top-1 regret", "no two runs are choices for the same work", compared_percent, AT(regret[0])},
    {"top_3", "top-3 regret", "no four runs are choices for the same work", compared_percent, AT(regret[1])},
    {"top_5", "top-5 regret", "no six runs are choices for the same work", compared_percent, AT(regret[2])},
};

const cmp_estimate *compared_estimate(const cmp_summary *s, const compared_figure *f)
{
    return (const cmp_estimate *)(const void *)((const char *)s + f->place);
}

int compared_regret(const compared_figure *f)
{
    return (int)(f - compared_figures) - (COMPARED_FIGURES - CMP_TOPS);
}

const char *compared_no_interval(const report_compared *c)
{
    if (!c->bootstrap.resamples)
        return "no resamples were asked for";
    return c->summary.n < 2 ? "there is one run" : "too many resamples of so few runs lack the figure";
}

bool compared_groups(const cmp_summary *s, const compared_figure *f, size_t *n)
{
    int regret = compared_regret(f);

    if (regret >= 0)
        *n = s->regret_groups[regret];
    else if (f->place == AT(spearman))
        *n = s->spearman_groups;
    else if (f->place == AT(kendall))
        *n = s->n_groups;
    else
        return false;
    return true;
}

static report_text basis(const cmp_summary *s, const compared_figure *f)
{
    size_t n = s->n;

    if (isnan(compared_estimate(s, f)->value))
        return report_format("-");
    if (compared_groups(s, f, &n))
        return report_format(n == 1 ? "%zu group" : "%zu groups", n);
    return report_format(n == 1 ? "%zu run" : "%zu runs", n);
}

static void add_figure(const report_compared *c, const compared_figure *f, compared_reasons *reasons,
                       dse_strbuf *why, report_node *list)
{
    const cmp_estimate *e = compared_estimate(&c->summary, f);
    const int regret = compared_regret(f);
    const double worst = regret >= 0 ? c->summary.worst_regret[regret] : NAN;
    const char *interval =
        dse_arena_printf(list->arena, "%s to %s", f->format(e->low).text, f->format(e->high).text);

    dse_strbuf_clear(why);
    if (isnan(e->value))
        compared_reason(reasons, "", f->why, why);
    else if (isnan(e->low))
        compared_reason(reasons, "no interval", compared_no_interval(c), why);
    report_row(list, V_NOTE("step time", f->words), V_CELL("value", f->format(e->value).text),
               V_CELL("95 % interval", isnan(e->low) ? "-" : interval),
               V_CELL("worst", compared_percent(worst).text), V_CELL("rests on", basis(&c->summary, f).text),
               V_NOTE("", why->data));
}

static void add_explanation(const report_compared *c, dse_strbuf *out)
{
    dse_strbuf text;

    dse_strbuf_init(&text);
    dse_strbuf_adds(
        &text,
        "An error is (simulated - measured) / measured: positive where the simulation is too slow. Ranks and "
        "regret compare choices for the same work (model, batch, sequence, devices, precision); top-k regret "
        "is how much slower than the truly best the best of the k simulated-best was measured.");
    if (c->bootstrap.resamples)
        dse_strbuf_addf(&text, " Intervals: bootstrap, %u resamples, seed %llu.", c->bootstrap.resamples,
                        (unsigned long long)c->bootstrap.seed);
    dse_strbuf_add_wrapped(out, text.data, 0, COMPARED_WIDTH);
    dse_strbuf_addc(out, '\n');
    dse_strbuf_free(&text);
}

static void add_worst(const report_compared *c, dse_strbuf *out)
{
    const report_compared_run *worst = compared_worst_run(c);

    if (worst)
        dse_strbuf_addf(out, "worst    %s: %s\n", compared_signed_percent(compared_error(worst)).text,
                        worst->name);
}

/* How many of the measured step times lie in the band of their prediction. */
static void add_bands(const report_compared *c, dse_strbuf *out)
{
    const char *why = NULL;
    size_t n = 0, inside = 0, unknown = 0;

    for (size_t i = 0; i < c->n_runs; i++) {
        const report_compared_run *r = &c->run[i];
        const double simulated = compared_simulated(r), measured = compared_measured(r);

        if (isnan(compared_error(r)))
            continue;
        if (r->band.level == CMP_BAND_NONE) {
            unknown += r->why_no_band != NULL;
            why = why ? why : r->why_no_band;
            continue;
        }
        n++;
        inside += cmp_band_holds(&r->band, measured, simulated);
    }
    if (n)
        dse_strbuf_addf(
            out, "bands    %zu of %zu measured step times lie in the error bands of their predictions\n",
            inside, n);
    if (why)
        dse_strbuf_addf(out, "%-8s none is known of %zu predictions (the first: %s)\n", n ? "" : "bands",
                        unknown, why);
}

void compared_print_summary(const report_compared *c, dse_strbuf *out)
{
    compared_reasons reasons = {0};
    report_tree t;
    report_node *list = report_tree_begin(&t);
    dse_strbuf why;

    dse_strbuf_init(&why);
    for (size_t i = 0; i < COMPARED_FIGURES; i++)
        add_figure(c, &compared_figures[i], &reasons, &why, list);
    report_table_end(&t, out);
    compared_reasons_print(&reasons, out);
    dse_strbuf_free(&why);
    dse_strbuf_addc(out, '\n');
    add_worst(c, out);
    add_bands(c, out);
    compared_print_limit(c, out);
    dse_strbuf_addc(out, '\n');
    add_explanation(c, out);
}
