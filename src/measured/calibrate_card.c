#include "measured/calibrate_card.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define WIDTH 100 /* of comments */

/* ---- what it was fitted to ------------------------------------------------------------------------- */

static double mean_error(const msr_calibrated_about *about, const double *predicted, double *worst)
{
    double sum = 0;
    size_t n = 0;

    *worst = 0;
    for (size_t i = 0; i < about->n_runs; i++) {
        double e = fabs(predicted[i] / about->run[i].measured_s - 1);

        if (isnan(e))
            continue;
        sum += e;
        n++;
        *worst = fmax(*worst, e);
    }
    return n ? sum / (double)n : NAN;
}

static void add_error(const msr_calibrated_about *about, const char *what, const double *predicted,
                      dse_strbuf *out)
{
    double worst = NAN, mean = predicted ? mean_error(about, predicted, &worst) : NAN;

    if (!isnan(mean))
        dse_strbuf_addf(out, "#   %s: mean %.2f%%, worst %.2f%%\n", what, mean * 100, worst * 100);
}

static void add_list(const char *head, const char *const *item, size_t n, dse_strbuf *out)
{
    size_t column = 0;

    for (size_t i = 0; i < n; i++) {
        size_t length = strlen(item[i]) + 2;

        if (!i || column + length > WIDTH) {
            dse_strbuf_addf(out, "%s# %s", i ? "\n" : "", i ? "  " : head);
            column = 2 + (i ? 2 : strlen(head));
        }
        /* A name may hold anything; what would end the comment does not get into it. */
        for (const char *p = item[i]; *p; p++)
            dse_strbuf_addc(out, (unsigned char)*p < ' ' ? '?' : *p);
        dse_strbuf_adds(out, i + 1 < n ? ", " : "\n");
        column += length;
    }
}

static void add_head(const msr_calibrated *c, const msr_calibrated_about *about, dse_strbuf *out)
{
    dse_strbuf_addf(out,
                    "# %s, fitted by 'ccldse calibrate' to %zu measured run%s (seed %" PRIu64 ", %" PRIu32
                    " start%s).\n# Errors of step time:\n",
                    about->system, about->n_runs, about->n_runs == 1 ? "" : "s", about->seed, about->starts,
                    about->starts == 1 ? "" : "s");
    add_error(about, "before", c->fit.before, out);
    add_error(about, "after", c->fit.after, out);
    add_error(about, "of each run by the others", c->fit.left_out, out);
    if (*about->source_before)
        add_list("The card's figures: ", &about->source_before, 1, out);
    add_list("From: ", about->source, about->n_sources, out);
    for (size_t i = 0; i < about->n_runs; i++)
        add_list(i ? "  " : "Runs: ", &about->run[i].name, 1, out);
    if (*about->settings)
        add_list("To simulate as they were: ", &about->settings, 1, out);
}

/* ---- values ---------------------------------------------------------------------------------------- */

static const char *state_word(const cmp_fitted *f)
{
    static const char *const words[] = {[CMP_FITTED] = "fitted",
                                        [CMP_AT_BOUND] = "at its bound",
                                        [CMP_NO_EFFECT] = "not fitted: no run shows it",
                                        [CMP_INSEPARABLE] = "not fitted: acts as another one"};

    return words[f->state];
}

/* "# GiB/s; [0] fitted, was 100, +- 2". */
static void add_comment(const msr_calibrated *c, const cfg_param *row, dse_strbuf *out)
{
    bool any = *row->unit_name != '\0';

    if (any)
        dse_strbuf_addf(out, "  # %s", row->unit_name);
    for (size_t j = 0; j < c->p; j++) {
        const char *name = c->parameter[j].name;
        const cmp_fitted *f = &c->fit.parameter[j];

        if (!cfg_path_covers(row->key, name))
            continue;
        dse_strbuf_addf(out, "%s%s%s%s", any ? "; " : "  # ", name + strlen(row->key),
                        name[strlen(row->key)] ? " " : "", state_word(f));
        any = true;
        if (f->state == CMP_FITTED || f->state == CMP_AT_BOUND)
            dse_strbuf_addf(out, ", was %.6g", c->card[j]);
        if (!isnan(f->error))
            dse_strbuf_addf(out, ", +- %.2g", f->error);
    }
}

/* Values in JSON are YAML too. */
static void add_value(const msr_calibrated *c, const cfg_param *row, const char *indent, const char *key,
                      dse_strbuf *out)
{
    dse_json j;

    dse_strbuf_addf(out, "%s%s: ", indent, key);
    dse_json_init(&j, out);
    cfg_param_write_json(row, &c->fitted, &j);
    add_comment(c, row, out);
    dse_strbuf_addc(out, '\n');
}

static void add_row(const msr_calibrated *c, const cfg_param *row, dse_strbuf *section, dse_strbuf *out)
{
    const char *dot = strchr(row->key, '.');

    if (!dot) {
        add_value(c, row, "", row->key, out);
        return;
    }
    if (section->len != (size_t)(dot - row->key) || strncmp(section->data, row->key, section->len) != 0) {
        dse_strbuf_clear(section);
        dse_strbuf_add(section, row->key, (size_t)(dot - row->key));
        dse_strbuf_addf(out, "\n%s:\n", section->data);
    }
    add_value(c, row, "  ", dot + 1, out);
}

/* A key that ASTRA-sim never reads is written only if the card gave it: lint would say to remove it. */
static bool is_written(const cfg_param *row, const card_system *s)
{
    return !cfg_param_is_absent(row, s) &&
           (!row->astra_ignores || cfg_is_given(&card_system_table, s, row->key));
}

/* A table's rows of one section stand together. */
void msr_calibrated_card(const msr_calibrated *c, const msr_calibrated_about *about, dse_strbuf *out)
{
    dse_strbuf section;

    dse_strbuf_init(&section);
    add_head(c, about, out);
    for (uint32_t i = 0; i < card_system_table.n; i++)
        if (is_written(&card_system_table.rows[i], &c->fitted))
            add_row(c, &card_system_table.rows[i], &section, out);
    dse_strbuf_free(&section);
}
