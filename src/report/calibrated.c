#include "report/calibrated.h"

#include "base/names.h"
#include "base/units.h"
#include "report/table.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- errors ---------------------------------------------------------------------------------------- */

static double error_of(const report_calibrated *c, const double *predicted, size_t i)
{
    return predicted ? predicted[i] / c->run[i].measured_s - 1 : NAN;
}

report_calibrated_error report_calibrated_error_of(const report_calibrated *c, const double *predicted)
{
    report_calibrated_error e = {.mean = NAN, .worst = NAN};
    double sum = 0;

    for (size_t i = 0; i < c->n; i++) {
        double x = error_of(c, predicted, i);

        if (isnan(x))
            continue;
        if (!e.n || fabs(x) > fabs(e.worst)) {
            e.worst = x;
            e.which = i;
        }
        e.n++;
        sum += fabs(x);
    }
    if (e.n)
        e.mean = sum / (double)e.n;
    return e;
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

static void state_cell(const report_calibrated *c, size_t j, report_table *t)
{
    const cmp_fitted *f = &c->fit->parameter[j];

    if (f->state == CMP_INSEPARABLE)
        report_table_cell(t, "%s %s", states[f->state].sentence, c->parameter[f->with].name);
    else
        report_table_cell(
            t, "%s", is_one_sided(f) ? "fitted from one side: it is not beyond" : states[f->state].sentence);
}

static void figure_cell(report_table *t, double v, int digits)
{
    report_table_known(t, !isnan(v), "%.*g", digits, v);
}

static void percent_cell(report_table *t, double v)
{
    report_table_known(t, !isnan(v), "%+.2f%%", v * 100);
}

/* Names come from other people's files, and this goes to a terminal, a line each. */
static void add_name(dse_strbuf *out, const char *name)
{
    size_t begin = out->len;

    dse_strbuf_adds(out, name);
    if (out->len > begin)
        dse_mask_controls(out->data + begin, out->len - begin, DSE_ONE_LINE);
}

static void columns(report_table *t, const char *const *heading, size_t n, size_t n_left)
{
    report_table_init(t);
    for (size_t i = 0; i < n; i++)
        report_table_column(t, heading[i], i < n_left);
}

/* ---- text ------------------------------------------------------------------------------------------ */

static void print_parameters(const report_calibrated *c, dse_strbuf *out)
{
    static const char *const headings[] = {"parameter", "unit", "card", "start", "fitted", "std. error"};
    report_table t;

    columns(&t, headings, sizeof headings / sizeof headings[0], 2);
    report_table_column(&t, "", true);
    for (size_t j = 0; j < c->p; j++) {
        const cmp_fitted *f = &c->fit->parameter[j];

        report_table_cell(&t, "%s", c->parameter[j].name);
        report_table_cell(&t, "%s", c->parameter[j].unit);
        figure_cell(&t, c->card[j], 6);
        figure_cell(&t, c->parameter[j].start, 6);
        figure_cell(&t, f->value, 6);
        figure_cell(&t, f->error, 2);
        state_cell(c, j, &t);
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

/* Of those that have a standard error; numbered, as their names are long. A table has 16 columns: what is
 * beyond is in the JSON. */
static void print_correlation(const report_calibrated *c, dse_strbuf *out)
{
    char number[REPORT_MAX_COLUMNS][16];
    report_table t;
    uint32_t n = 0;

    if (known_errors(c) < 2)
        return;
    report_table_begin(&t, "l", "correlation");
    for (size_t j = 0; j < c->p && n + 1 < REPORT_MAX_COLUMNS; j++) {
        if (isnan(c->fit->correlation[j * c->p + j]))
            continue;
        snprintf(number[n], sizeof number[n], "%" PRIu32, n + 1);
        report_table_column(&t, number[n++], false);
    }
    for (size_t j = 0, row = 0; j < c->p && row < n; j++) {
        size_t shown = 0;

        if (isnan(c->fit->correlation[j * c->p + j]))
            continue;
        report_table_cell(&t, "%s  %s", number[row++], c->parameter[j].name);
        for (size_t k = 0; k < c->p && shown < n; k++)
            if (!isnan(c->fit->correlation[k * c->p + k])) {
                shown++;
                report_table_cell(&t, "%.2f", c->fit->correlation[j * c->p + k] + 0.0);
            }
    }
    dse_strbuf_addc(out, '\n');
    report_table_end(&t, out);
    if (known_errors(c) > n)
        dse_strbuf_addf(out, "and %zu more, in the JSON\n", known_errors(c) - n);
}

static void print_runs(const report_calibrated *c, dse_strbuf *out)
{
    static const char *const headings[] = {"run",   "measured", "before",         "error",
                                           "after", "error",    "by the\nothers", "error"};
    const double *left_out = c->fit->left_out;
    report_table t;

    columns(&t, headings, left_out ? 8 : 6, 1);
    for (size_t i = 0; i < c->n; i++) {
        const double *const predicted[] = {c->fit->before, c->fit->after, left_out};
        char text[32];

        report_table_cell(&t, "%s", c->run[i].name);
        dse_format_seconds(text, sizeof text, c->run[i].measured_s);
        report_table_cell(&t, "%s", text);
        for (int k = 0; k < (left_out ? 3 : 2); k++) {
            dse_format_seconds(text, sizeof text, predicted[k][i]);
            report_table_cell(&t, "%s", isnan(predicted[k][i]) ? "-" : text);
            percent_cell(&t, error_of(c, predicted[k], i));
        }
    }
    dse_strbuf_addc(out, '\n');
    report_table_end(&t, out);
}

static void print_error(const report_calibrated *c, const char *what, const double *predicted,
                        dse_strbuf *out)
{
    report_calibrated_error e = report_calibrated_error_of(c, predicted);

    if (!e.n)
        return;
    dse_strbuf_addf(out, "%s: mean %.2f%%, worst %+.2f%% (", what, e.mean * 100, e.worst * 100);
    add_name(out, c->run[e.which].name);
    dse_strbuf_addc(out, ')');
    if (e.n < c->n)
        dse_strbuf_addf(out, "; %zu run%s could not be predicted", c->n - e.n, c->n - e.n == 1 ? "" : "s");
    dse_strbuf_addc(out, '\n');
}

static void print_errors(const report_calibrated *c, dse_strbuf *out)
{
    dse_strbuf_addc(out, '\n');
    print_error(c, "Error before", c->fit->before, out);
    print_error(c, "Error after", c->fit->after, out);
    print_error(c, "Error of each run by the fit to the others", c->fit->left_out, out);
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

static void json_parameters(const report_calibrated *c, dse_json *j)
{
    dse_json_key_array(j, "parameters");
    for (size_t k = 0; k < c->p; k++) {
        const cmp_fitted *f = &c->fit->parameter[k];
        const cmp_parameter *p = &c->parameter[k];

        dse_json_begin_line(j);
        dse_json_key_string(j, "name", p->name);
        dse_json_key_string(j, "unit", p->unit);
        dse_json_key_double(j, "card", c->card[k]);
        dse_json_key_double(j, "start", p->start);
        dse_json_key_double(j, "min", p->min);
        dse_json_key_double(j, "max", p->max);
        dse_json_key_double(j, "value", f->value);
        dse_json_key_double(j, "standard_error", f->error);
        dse_json_key_string(j, "state", is_one_sided(f) ? "one_sided" : states[f->state].word);
        if (f->state == CMP_INSEPARABLE)
            dse_json_key_string(j, "acts_like", c->parameter[f->with].name);
        dse_json_key_array(j, "correlation");
        for (size_t i = 0; i < c->p; i++)
            if (isnan(c->fit->correlation[k * c->p + i]))
                dse_json_null(j);
            else
                dse_json_double(j, c->fit->correlation[k * c->p + i]);
        dse_json_end_array(j);
        dse_json_end_object(j);
    }
    dse_json_end_array(j);
}

static void json_runs(const report_calibrated *c, dse_json *j)
{
    dse_json_key_array(j, "runs");
    for (size_t i = 0; i < c->n; i++) {
        const report_calibrated_run *r = &c->run[i];

        dse_json_begin_line(j);
        dse_json_key_string(j, "name", r->name);
        dse_json_key_string(j, "where", r->where);
        dse_json_key_double(j, "measured_s", r->measured_s);
        dse_json_key_double(j, "before_s", c->fit->before[i]);
        dse_json_key_double(j, "after_s", c->fit->after[i]);
        dse_json_key_double(j, "left_out_s", c->fit->left_out ? c->fit->left_out[i] : NAN);
        dse_json_key_double(j, "before_error", error_of(c, c->fit->before, i));
        dse_json_key_double(j, "after_error", error_of(c, c->fit->after, i));
        dse_json_key_double(j, "left_out_error", error_of(c, c->fit->left_out, i));
        dse_json_key_strings(j, "notes", r->note, r->n_notes);
        dse_json_end_object(j);
    }
    dse_json_end_array(j);
}

static void json_error(const report_calibrated *c, const char *key, const double *predicted, dse_json *j)
{
    report_calibrated_error e = report_calibrated_error_of(c, predicted);

    dse_json_key_object(j, key);
    dse_json_key_uint(j, "runs", e.n);
    dse_json_key_double(j, "mean", e.mean);
    dse_json_key_double(j, "worst", e.worst);
    dse_json_key_string(j, "worst_run", e.n ? c->run[e.which].name : NULL);
    dse_json_end_object(j);
}

static void json_hockney(const report_calibrated *c, dse_json *j)
{
    dse_json_key_array(j, "hockney");
    for (size_t i = 0; i < c->n_hockney; i++) {
        const report_calibrated_hockney *h = &c->hockney[i];

        dse_json_begin_line(j);
        dse_json_key_string(j, "run", h->run);
        dse_json_key_string(j, "no_start", h->why);
        if (h->members) {
            dse_json_key_uint(j, "ranks", h->members);
            dse_json_key_uint(j, "samples", h->samples);
            dse_json_key_uint(j, "sizes", h->sizes);
            dse_json_key_double(j, "alpha_s", h->alpha_s);
            dse_json_key_double(j, "beta_s_per_byte", h->beta_s_per_byte);
        }
        if (!h->why) {
            dse_json_key_uint(j, "dimension", h->dim);
            dse_json_key_double(j, "bandwidth", h->bandwidth);
            dse_json_key_double(j, "latency", h->latency);
        }
        dse_json_end_object(j);
    }
    dse_json_end_array(j);
}

void report_calibrated_json(const report_calibrated *c, dse_strbuf *out)
{
    dse_json j;

    dse_json_open(&j, out);
    dse_json_key_string(&j, "system", c->system);
    dse_json_key_string(&j, "output", c->output);
    dse_json_key_string(&j, "settings", c->settings);
    dse_json_key_uint(&j, "fitted", c->fit->n_fitted);
    dse_json_key_uint(&j, "seed", c->seed);
    dse_json_key_uint(&j, "starts", c->starts);
    dse_json_key_uint(&j, "starts_agreed", c->fit->starts_agreed);
    dse_json_key_double(&j, "rms", c->fit->rms);
    json_error(c, "error_before", c->fit->before, &j);
    json_error(c, "error_after", c->fit->after, &j);
    json_error(c, "error_left_out", c->fit->left_out, &j);
    json_parameters(c, &j);
    json_runs(c, &j);
    json_hockney(c, &j);
    report_left_json(c->left, c->n_left, &j);
    dse_json_newline(&j);
    dse_json_close(&j);
}
