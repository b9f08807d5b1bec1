/* Several runs: a line each, what was left out, what was assumed, the summary. */
#include "report/compared_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define POINT_WIDTH 20
#define MODEL_WIDTH 16 /* minimum for a model */
#define SHOWN_NOTES 12

/* ---- texts that many runs share ------------------------------------------------------------- */

typedef struct {
    const char *text;
    size_t length;   /* of the beginning that all of them share */
    size_t n, first; /* runs that have it; the first of them */
} shared;

typedef struct {
    shared *item;
    size_t n, cap;
} shared_list;

static void count_text(shared_list *l, const char *text, size_t run)
{
    size_t i = 0;

    while (i < l->n && !report_same_note(l->item[i].text, text))
        i++;
    if (i < l->n && strcmp(l->item[i].text, text) != 0)
        l->item[i].length = report_note_stem(text);
    if (i == l->n) {
        DSE_GROW(l->item, l->cap, l->n + 1);
        l->item[l->n++] = (shared){text, strlen(text), 0, run};
    }
    l->item[i].n++;
}

/* The text that most runs have first; of equals the earlier one. */
static int compare_shared(const void *a, const void *b)
{
    const shared *x = a, *y = b;
    int order = (x->n < y->n) - (x->n > y->n);

    order = order ? order : (x->first > y->first) - (x->first < y->first);
    return order ? order : strcmp(x->text, y->text);
}

/* One line per text behind a label, with the number of runs unless all have it. Frees the list. */
static void add_shared(const char *label, shared_list *l, size_t n_runs, size_t most, dse_strbuf *out)
{
    dse_strbuf line;

    dse_strbuf_init(&line);
    if (l->n)
        qsort(l->item, l->n, sizeof *l->item, compare_shared);
    for (size_t i = 0; i < l->n && i < most; i++) {
        dse_strbuf_clear(&line);
        if (l->item[i].n < n_runs)
            dse_strbuf_addf(&line, l->item[i].n == 1 ? "%zu run: " : "%zu runs: ", l->item[i].n);
        dse_strbuf_add(&line, l->item[i].text, l->item[i].length);
        compared_line(label, line.data, out);
    }
    if (l->n > most)
        dse_strbuf_addf(out, "%-9s%zu more, in the JSON and CSV\n", label, l->n - most);
    dse_strbuf_free(&line);
    dse_free(l->item);
}

/* ---- heading -------------------------------------------------------------------------------- */

static bool have_one_model(const report_compared *c)
{
    for (size_t i = 1; i < c->n_runs; i++)
        if (strcmp(c->run[i].model, c->run[0].model) != 0)
            return false;
    return c->n_runs > 0;
}

static size_t count_left(const report_compared *c)
{
    size_t n = 0;

    for (size_t i = 0; i < c->n_left; i++)
        n += c->left[i].n;
    return n;
}

static void add_heading(const report_compared *c, dse_strbuf *out)
{
    size_t left = count_left(c);
    shared_list sizes = {0}, notes = {0};

    for (size_t i = 0; i < c->n_runs; i++) {
        count_text(&sizes, c->run[i].sizes, i);
        for (size_t k = 0; k < c->run[i].n_notes; k++)
            count_text(&notes, c->run[i].note[k], i);
    }
    dse_strbuf_addf(out, "runs     %zu", c->n_runs);
    if (left)
        dse_strbuf_addf(out, ", and %zu left out", left);
    dse_strbuf_addf(out, "\nsystem   %s\n", c->system);
    if (have_one_model(c))
        dse_strbuf_addf(out, "model    %s\n", c->run[0].model);
    if (*c->settings)
        compared_line("with", c->settings, out);
    add_shared("sizes", &sizes, c->n_runs, SIZE_MAX, out);
    add_shared("note", &notes, c->n_runs, SHOWN_NOTES, out);
    dse_strbuf_addc(out, '\n');
}

/* ---- a line a run --------------------------------------------------------------------------- */

typedef struct {
    bool model, score, reason; /* whether there is such a column */
    size_t name_width, model_width;
} layout;

static size_t larger(size_t a, size_t b) { return a > b ? a : b; }
static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

/* Names and models get what the other columns leave of a line: devices, simulated, measured, error, score,
 * and the number of a reason, each with the two blanks in front of it. */
static layout make_layout(const report_compared *c)
{
    size_t name = 0, model = 0, point = 5, room;
    layout l = {.model = !have_one_model(c)};

    for (size_t i = 0; i < c->n_runs; i++) {
        name = larger(name, strlen(c->run[i].name));
        model = larger(model, strlen(c->run[i].model));
        point = larger(point, smaller(strlen(c->run[i].point), POINT_WIDTH));
        l.score |= c->run[i].n_scored > 1;
        l.reason |= isnan(compared_error(&c->run[i]));
    }
    room = COMPARED_WIDTH - (point + 2) - 9 - 11 - 10 - 9 - (l.score ? 8 : 0) - (l.reason ? 6 : 0);
    if (l.model) {
        l.model_width = smaller(model, larger(MODEL_WIDTH, room > name + 2 ? room - name - 2 : 0));
        room -= l.model_width + 2;
    }
    l.name_width = room;
    return l;
}

static void add_run(const report_compared_run *r, const layout *l, compared_reasons *reasons, dse_strbuf *why,
                    report_node *list)
{
    dse_strbuf_clear(why);
    if (r->failed)
        compared_reason(reasons, "simulated", r->failed, why);
    else if (r->n_pairs)
        compared_pair_reasons(reasons, &r->pair[0], why);
    report_row(list, V_NOTE("run", compared_short(r->name, l->name_width).text),
               V_GIVEN(l->model, V_NOTE("model", compared_short(r->model, l->model_width).text)),
               V_NOTE("point", compared_short(r->point, POINT_WIDTH).text),
               V_AS("devices", V_COUNT(NULL, r->n_devices)),
               V_CELL("simulated", compared_value(compared_simulated(r), "s").text),
               V_CELL("measured", compared_value(compared_measured(r), "s").text),
               V_CELL("error", compared_signed_percent(compared_error(r)).text),
               V_GIVEN(l->score, V_CELL("score", compared_percent(r->score).text)), V_NOTE("", why->data));
}

static void add_runs(const report_compared *c, dse_strbuf *out)
{
    compared_reasons reasons = {0};
    layout l = make_layout(c);
    report_tree t;
    report_node *list = report_tree_begin(&t);
    dse_strbuf why;

    if (!c->n_runs)
        return;
    dse_strbuf_init(&why);
    for (size_t i = 0; i < c->n_runs; i++)
        add_run(&c->run[i], &l, &reasons, &why, list);
    report_table_end(&t, out);
    compared_reasons_print(&reasons, out);
    dse_strbuf_free(&why);
    if (l.score)
        dse_strbuf_addf(out, "score: the weighted mean of the errors of all metrics (%s)\n", c->weights);
    dse_strbuf_addc(out, '\n');
}

void compared_print_runs(const report_compared *c, dse_strbuf *out)
{
    add_heading(c, out);
    add_runs(c, out);
    report_left_print(c->left, c->n_left, out);
    if (c->n_left)
        dse_strbuf_addc(out, '\n');
    compared_plot(c, out);
    if (c->has_summary)
        compared_print_summary(c, out);
    else
        compared_print_limit(c, out);
}
