#include "report/calibrated.h"

#include "base/array.h"
#include "base/names.h"
#include "compare/score.h"

#include <inttypes.h>
#include <math.h>

#define MOST_CORRELATED 15 /* columns of the table of correlations */

/* ---- errors ---------------------------------------------------------------------------------------- */

static double error_of(const report_calibrated *c, const double *predicted, size_t i)
{
    return predicted ? predicted[i] / c->run[i].measured_s - 1 : NAN;
}

static cmp_spread errors_of(const report_calibrated *c, const double *predicted)
{
    double *error = dse_calloc(c->n + 1, sizeof *error);
    cmp_spread s;

    for (size_t i = 0; i < c->n; i++)
        error[i] = error_of(c, predicted, i);
    s = cmp_spread_of(error, c->n);
    dse_free(error);
    return s;
}

/* ---- words ----------------------------------------------------------------------------------------- */

typedef struct {
    const char *word, *sentence; /* for programs; for people */
} state_row;

static const state_row states[] = {
    [CMP_FITTED] = {"fitted", "fitted"},
    [CMP_AT_BOUND] = {"at_bound", "at its bound: the runs want it beyond"},
    [CMP_NO_EFFECT] = {"no_effect", "stays: no run shows it"},
    [CMP_INSEPARABLE] = {"inseparable", "stays: acts like"},
};

static bool is_one_sided(const cmp_fitted *f) { return f->state == CMP_FITTED && isnan(f->error); }

static const char *say_state(const report_calibrated *c, const cmp_fitted *f, dse_arena *a)
{
    if (f->state == CMP_INSEPARABLE)
        return dse_arena_printf(a, "%s %s", states[f->state].sentence, c->parameter[f->with].name);
    return is_one_sided(f) ? "fitted from one side: it is not beyond" : states[f->state].sentence;
}

static report_text figure(double v, int digits) { return report_format(isnan(v) ? "-" : "%.*g", digits, v); }
static report_text percent(double v) { return report_format(isnan(v) ? "-" : "%+.2f%%", v * 100); }

/* Names come from other people's files, and this goes to a terminal, a line each. */
static void add_name(dse_strbuf *out, const char *name)
{
    size_t begin = out->len;

    dse_strbuf_adds(out, name);
    if (out->len > begin)
        dse_mask_controls(out->data + begin, out->len - begin, DSE_ONE_LINE);
}

/* ---- text ------------------------------------------------------------------------------------------ */

static void print_parameters(const report_calibrated *c, dse_strbuf *out)
{
    report_tree t;
    report_node *list = report_tree_begin(&t);

    for (size_t j = 0; j < c->p; j++) {
        const cmp_fitted *f = &c->fit->parameter[j];
        const cmp_parameter *p = &c->parameter[j];

        report_row(list, V_NOTE("parameter", p->name), V_NOTE("unit", p->unit),
                   V_CELL("card", figure(c->card[j], 6).text), V_CELL("start", figure(p->start, 6).text),
                   V_CELL("fitted", figure(f->value, 6).text), V_CELL("std. error", figure(f->error, 2).text),
                   V_NOTE("", say_state(c, f, list->arena)));
    }
    report_table_end(&t, out);
}

static size_t known_errors(const report_calibrated *c)
{
    size_t n = 0;

    for (size_t j = 0; j < c->p; j++)
        n += isnan(c->fit->correlation[j * c->p + j]) ? 0 : 1;
    return n;
}

/* The parameters that have a standard error, numbered, as their names are long. A table has 15 of them: the
 * others are in the JSON. */
static void print_correlation(const report_calibrated *c, dse_strbuf *out)
{
    const size_t known = known_errors(c), n = known < MOST_CORRELATED ? known : MOST_CORRELATED;
    report_tree t;
    report_node *list = report_tree_begin(&t);

    for (size_t j = 0, row = 0; known > 1 && j < c->p && row < n; j++) {
        report_node *cells;
        size_t shown = 0;

        if (isnan(c->fit->correlation[j * c->p + j]))
            continue;
        cells = report_row(list, V_NOTE("correlation", dse_arena_printf(list->arena, "%zu  %s", ++row,
                                                                        c->parameter[j].name)));
        for (size_t k = 0; k < c->p && shown < n; k++)
            if (!isnan(c->fit->correlation[k * c->p + k]))
                report_put(cells,
                           V_CELL(dse_arena_printf(list->arena, "%zu", ++shown),
                                  report_format("%.2f", c->fit->correlation[j * c->p + k] + 0.0).text));
    }
    if (known > 1)
        dse_strbuf_addc(out, '\n');
    report_table_end(&t, out);
    if (known > n)
        dse_strbuf_addf(out, "and %zu more, in the JSON\n", known - n);
}

static void print_runs(const report_calibrated *c, dse_strbuf *out)
{
    const struct {
        const char *heading;
        const double *predicted;
    } by[] = {{"before", c->fit->before}, {"after", c->fit->after}, {"by the\nothers", c->fit->left_out}};
    report_tree t;
    report_node *list = report_tree_begin(&t);

    for (size_t i = 0; i < c->n; i++) {
        report_node *row = report_row(list, V_NOTE("run", c->run[i].name),
                                      V_CELL("measured", report_seconds(c->run[i].measured_s).text));

        for (size_t k = 0; k < DSE_COUNT(by) && by[k].predicted; k++)
            report_put(row, V_CELL(by[k].heading, report_seconds(by[k].predicted[i]).text),
                       V_CELL("error", percent(error_of(c, by[k].predicted, i)).text));
    }
    dse_strbuf_addc(out, '\n');
    report_table_end(&t, out);
}

static void print_error(const report_calibrated *c, const char *what, const double *predicted,
                        dse_strbuf *out)
{
    const cmp_spread e = errors_of(c, predicted);

    if (!e.n)
        return;
    dse_strbuf_addf(out, "%s: mean %.2f%%, worst %+.2f%% (", what, e.mean * 100, e.worst * 100);
    add_name(out, c->run[e.which].name);
    dse_strbuf_addf(out, "); median %.2f%%, p90 %.2f%%, bias %+.2f%%, %.0f%% within 10%%", e.median * 100,
                    e.p90 * 100, e.bias * 100, e.within * 100);
    if (e.n < c->n)
        dse_strbuf_addf(out, "; %zu run%s could not be predicted", c->n - e.n, c->n - e.n == 1 ? "" : "s");
    dse_strbuf_addc(out, '\n');
}

static void print_errors(const report_calibrated *c, dse_strbuf *out)
{
    dse_strbuf_addc(out, '\n');
    print_error(c, "Error before", c->fit->before, out);
    print_error(c, "Error after", c->fit->after, out);
    print_error(c,
                c->leaves_models_out ? "Error of each model by the fit to the others"
                                     : "Error of each run by the fit to the others",
                c->fit->left_out, out);
    if (c->starts > 1)
        dse_strbuf_addf(
            out, "%" PRIu32 " of %" PRIu32 " starts ended at the same sum of squares (seed %" PRIu64 ").\n",
            c->fit->starts_agreed, c->starts, c->seed);
}

static void print_hockney(const report_calibrated *c, dse_strbuf *out)
{
    if (c->n_hockney)
        dse_strbuf_adds(out, "\nAll-reduces of the traces (Hockney: a step takes alpha + beta * bytes):\n");
    for (size_t i = 0; i < c->n_hockney; i++) {
        const report_calibrated_hockney *h = &c->hockney[i];

        dse_strbuf_adds(out, "  ");
        add_name(out, h->run);
        dse_strbuf_adds(out, ": ");
        if (h->members)
            dse_strbuf_addf(out,
                            "alpha %.4g us, 1/beta %.4g GB/s (%zu samples of %zu sizes, %" PRIu32 " ranks)%s",
                            h->alpha_s * 1e6, 1e-9 / h->beta_s_per_byte, h->samples, h->sizes, h->members,
                            h->why ? "; no start: " : "");
        if (h->why)
            dse_strbuf_adds(out, h->why);
        else
            dse_strbuf_addf(out, "; dimension %" PRIu32 " starts at %.4g GiB/s and %.4g ns", h->dim,
                            h->bandwidth, h->latency);
        dse_strbuf_addc(out, '\n');
    }
}

static bool same_note_before(const report_calibrated *c, size_t run, size_t note)
{
    for (size_t i = 0; i < run; i++)
        for (size_t k = 0; k < c->run[i].n_notes; k++)
            if (report_same_note(c->run[i].note[k], c->run[run].note[note]))
                return true;
    return false;
}

/* Each once, with the first run that has it, and what it says of that. */
static void print_notes(const report_calibrated *c, dse_strbuf *out)
{
    bool any = false;

    for (size_t i = 0; i < c->n; i++)
        for (size_t k = 0; k < c->run[i].n_notes; k++) {
            if (same_note_before(c, i, k))
                continue;
            dse_strbuf_addf(out, "%s  ", any ? "" : "\nTaken as given:\n");
            add_name(out, c->run[i].note[k]);
            dse_strbuf_adds(out, " (");
            add_name(out, c->run[i].name);
            dse_strbuf_adds(out, ")\n");
            any = true;
        }
}

void report_calibrated_print(const report_calibrated *c, dse_strbuf *out)
{
    dse_strbuf_addf(out, "%s, fitted to %zu run%s: %zu of %zu parameters\n\n", c->system, c->n,
                    c->n == 1 ? "" : "s", c->fit->n_fitted, c->p);
    print_parameters(c, out);
    print_correlation(c, out);
    print_runs(c, out);
    print_errors(c, out);
    print_hockney(c, out);
    print_notes(c, out);
    report_left_print(c->left, c->n_left, out);
    if (c->output)
        dse_strbuf_addf(out, "\n%s\n", c->output);
    if (c->output && *c->settings)
        dse_strbuf_addf(out, "To simulate with it as the runs were simulated:\n  %s\n", c->settings);
}

/* ---- JSON ------------------------------------------------------------------------------------------ */

static void put_parameters(const report_calibrated *c, report_node *to)
{
    report_node *list = report_lines(to, "parameters");

    for (size_t k = 0; k < c->p; k++) {
        const cmp_fitted *f = &c->fit->parameter[k];
        const cmp_parameter *p = &c->parameter[k];
        report_node *row, *correlation;

        row =
            report_row(list, V_TEXT("name", p->name), V_TEXT("unit", p->unit), V_REAL("card", c->card[k]),
                       V_REAL("start", p->start), V_REAL("min", p->min), V_REAL("max", p->max),
                       V_REAL("value", f->value), V_REAL("standard_error", f->error),
                       V_TEXT("state", is_one_sided(f) ? "one_sided" : states[f->state].word),
                       V_GIVEN(f->state == CMP_INSEPARABLE, V_TEXT("acts_like", c->parameter[f->with].name)));
        correlation = report_list(row, "correlation");
        for (size_t i = 0; i < c->p; i++)
            report_put(correlation, V_REAL(NULL, c->fit->correlation[k * c->p + i]));
    }
}

static void put_runs(const report_calibrated *c, report_node *to)
{
    const double *before = c->fit->before, *after = c->fit->after, *left_out = c->fit->left_out;
    report_node *list = report_lines(to, "runs");

    for (size_t i = 0; i < c->n; i++) {
        const report_calibrated_run *r = &c->run[i];
        report_node *row = report_row(
            list, V_TEXT("name", r->name), V_TEXT("where", r->where), V_REAL("measured_s", r->measured_s),
            V_REAL("before_s", before[i]), V_REAL("after_s", after[i]),
            V_REAL("left_out_s", left_out ? left_out[i] : NAN),
            V_REAL("before_error", error_of(c, before, i)), V_REAL("after_error", error_of(c, after, i)),
            V_REAL("left_out_error", error_of(c, left_out, i)));

        report_texts(row, "notes", r->note, r->n_notes);
    }
}

static void put_error(const report_calibrated *c, const char *key, const double *predicted, report_node *to)
{
    const cmp_spread e = errors_of(c, predicted);

    report_put(report_object(to, key), V_COUNT("runs", e.n), V_REAL("mean", e.mean), V_REAL("worst", e.worst),
               V_TEXT("worst_run", e.n ? c->run[e.which].name : NULL), V_REAL("median", e.median),
               V_REAL("p90", e.p90), V_REAL("bias", e.bias), V_REAL("within_a_tenth", e.within));
}

static void put_hockney(const report_calibrated *c, report_node *to)
{
    report_node *list = report_lines(to, "hockney");

    for (size_t i = 0; i < c->n_hockney; i++) {
        const report_calibrated_hockney *h = &c->hockney[i];
        report_node *row = report_row(list, V_TEXT("run", h->run), V_TEXT("no_start", h->why));

        if (h->members)
            report_put(row, V_COUNT("ranks", h->members), V_COUNT("samples", h->samples),
                       V_COUNT("sizes", h->sizes), V_REAL("alpha_s", h->alpha_s),
                       V_REAL("beta_s_per_byte", h->beta_s_per_byte));
        if (!h->why)
            report_put(row, V_COUNT("dimension", h->dim), V_REAL("bandwidth", h->bandwidth),
                       V_REAL("latency", h->latency));
    }
}

void report_calibrated_json(const report_calibrated *c, dse_strbuf *out)
{
    report_tree t;
    report_node *root = report_tree_begin(&t);

    report_put(root, V_TEXT("system", c->system), V_TEXT("output", c->output),
               V_TEXT("settings", c->settings), V_COUNT("fitted", c->fit->n_fitted), V_COUNT("seed", c->seed),
               V_COUNT("starts", c->starts), V_COUNT("starts_agreed", c->fit->starts_agreed),
               V_REAL("rms", c->fit->rms));
    report_put(root, V_GIVEN(c->fit->left_out, V_TEXT("left_out", c->leaves_models_out ? "model" : "run")));
    put_error(c, "error_before", c->fit->before, root);
    put_error(c, "error_after", c->fit->after, root);
    put_error(c, "error_left_out", c->fit->left_out, root);
    put_parameters(c, root);
    put_runs(c, root);
    put_hockney(c, root);
    report_put_left(c->left, c->n_left, root);
    report_tree_end(&t, out);
}

/* ---- Markdown -------------------------------------------------------------------------------------- */

static void markdown_error(const report_calibrated *c, const char *what, const double *predicted,
                           dse_strbuf *out)
{
    const cmp_spread e = errors_of(c, predicted);

    if (e.n)
        dse_strbuf_addf(
            out,
            "%s: mean %.1f%%, worst %+.1f%% of %zu runs; median %.1f%%, p90 %.1f%%, bias %+.1f%%, "
            "%.0f%% within 10%%.  \n",
            what, e.mean * 100, e.worst * 100, e.n, e.median * 100, e.p90 * 100, e.bias * 100,
            e.within * 100);
}

void report_calibrated_markdown(const report_calibrated *c, dse_strbuf *out)
{
    unsigned profiles = 0;
    report_tree t;
    report_node *list = report_tree_begin(&t);

    for (size_t i = 0; i < c->n; i++)
        profiles |= c->run[i].profile;
    for (size_t i = 0; i < c->n; i++) {
        const report_calibrated_run *r = &c->run[i];
        const double after = c->fit->left_out ? c->fit->left_out[i] : NAN;
        report_node *row =
            report_row(list, V_NOTE("run", r->name), V_AS("devices", V_COUNT(NULL, r->n_devices)));

        report_put_degrees(r->point, r->profile, profiles, row);
        report_put(row, V_CELL("measured", report_seconds(r->measured_s).text),
                   V_CELL("card", report_seconds(c->fit->before[i]).text),
                   V_CELL("error", report_signed_percent(error_of(c, c->fit->before, i)).text),
                   V_CELL("fitted to the others", report_seconds(after).text),
                   V_CELL("error", report_signed_percent(error_of(c, c->fit->left_out, i)).text));
    }
    report_markdown_end(&t, out);
    dse_strbuf_addc(out, '\n');
    markdown_error(c, "Card as it is", c->fit->before, out);
    if (c->fit->left_out)
        markdown_error(c, c->leaves_models_out ? "Fitted to the other models" : "Fitted to the other runs",
                       c->fit->left_out, out);
    report_left_markdown(c->left, c->n_left, out);
}
