/* The explanation in tables and sentences. Every figure is one of a row, or the difference or ratio of
 * two. */
#include "report/explain.h"

#include "report/prose.h"
#include "report/table.h"

#include <inttypes.h>
#include <math.h>

enum { MAX_ROLES = 3 };

typedef struct {
    const char *heading; /* of its column */
    const char *subject; /* of a sentence */
    const char *owner;   /* "The winner's memory" */
    const store_row *row;
} role;

static size_t list_roles(const report_explanation *e, role out[MAX_ROLES])
{
    const role all[MAX_ROLES] = {{"winner", "the winner", "The winner's memory", e->winner},
                                 {"runner-up", "the runner-up", "The memory of the runner-up", e->runner_up},
                                 {"without limit", "the best without the limit",
                                  "The memory of the best without the limit", e->unlimited}};
    size_t n = 0;

    for (size_t i = 0; i < MAX_ROLES; i++)
        if (all[i].row)
            out[n++] = all[i];
    return n;
}

/* ---- the table of the parts ----------------------------------------------------------------- */

/* The axes of the mesh in one row; then one for each parameter that always shows, or is not at its
 * default. */
static void strategy_rows(report_table *t, const role *roles, size_t n)
{
    dse_strbuf text;

    dse_strbuf_init(&text);
    for (uint32_t k = 0; k < STRATEGY_N; k++)
        if (strategy_parameters[k].is_axis)
            dse_strbuf_addf(&text, "%s%s", text.len ? ", " : "", strategy_parameters[k].name);
    report_table_cell(t, "%s", text.data);
    for (size_t i = 0; i < n; i++) {
        dse_strbuf_clear(&text);
        for (uint32_t k = 0; k < STRATEGY_N; k++)
            if (strategy_parameters[k].is_axis)
                dse_strbuf_addf(&text, "%s%" PRIu32, text.len ? ", " : "",
                                strategy_get(&roles[i].row->strategy, k));
        report_table_cell(t, "%s", text.data);
    }
    for (uint32_t k = 0; k < STRATEGY_N; k++) {
        const strategy_parameter *p = &strategy_parameters[k];
        bool shown = p->in_name;

        for (size_t i = 0; i < n; i++)
            shown |= strategy_get(&roles[i].row->strategy, k) != p->fallback;
        if (p->is_axis || !shown)
            continue;
        report_table_cell(t, "%s", report_axis_name(k));
        for (size_t i = 0; i < n; i++) {
            char value[STRATEGY_VALUE_MAX];

            report_table_cell(t, "%s", strategy_print(p, strategy_get(&roles[i].row->strategy, k), value));
        }
    }
    dse_strbuf_free(&text);
}

/* A row for each part that is something in one of the columns. */
static void part_rows(report_table *t, const role *roles, size_t n, const report_part *parts, size_t n_parts)
{
    bool time = parts == report_step_parts;

    for (size_t k = 0; k < n_parts; k++) {
        bool known[MAX_ROLES], any = false;

        for (size_t i = 0; i < n; i++) {
            const store_metrics *m = &roles[i].row->metrics;

            known[i] = time ? store_has_step(m) : report_has_peak(m);
            any |= known[i] && report_part_of(m, &parts[k]);
        }
        if (!any)
            continue;
        report_table_cell(t, "  %s", parts[k].label);
        for (size_t i = 0; i < n; i++) {
            const store_metrics *m = &roles[i].row->metrics;
            uint64_t v = report_part_of(m, &parts[k]), whole = time ? m->wall_time : m->peak_memory;
            const report_text size = (time ? report_time : report_bytes)(v);

            report_table_known(t, known[i], whole ? "%s  %5.1f%%" : "%s", size.text,
                               (double)v / (double)whole * 100);
        }
    }
}

static void print_parts(const role *roles, size_t n, dse_strbuf *out)
{
    report_table t;

    report_table_begin(&t, "l", "");
    for (size_t i = 0; i < n; i++)
        report_table_column(&t, roles[i].heading, false);
    strategy_rows(&t, roles, n);
    report_table_cell(&t, "step");
    for (size_t i = 0; i < n; i++)
        report_table_cell(&t, "%s  100.0%%", report_time(roles[i].row->metrics.wall_time).text);
    part_rows(&t, roles, n, report_step_parts, REPORT_N_STEP_PARTS);
    report_table_cell(&t, "peak memory");
    for (size_t i = 0; i < n; i++) {
        const uint64_t peak = roles[i].row->metrics.peak_memory;

        report_table_known(&t, peak != STORE_ABSENT, "%s  100.0%%", report_bytes(peak).text);
    }
    part_rows(&t, roles, n, report_peak_parts, REPORT_N_PEAK_PARTS);
    report_table_end(&t, out);
    dse_strbuf_addc(out, '\n');
}

/* ---- sentences ------------------------------------------------------------------------------ */

static void say_missing(const role *roles, size_t n, dse_strbuf *p, dse_strbuf *out)
{
    for (size_t i = 0; i < n; i++) {
        const store_row *r = roles[i].row;

        if (store_has_step(&r->metrics))
            continue;
        dse_strbuf_addf(p, "Where the step of %s (", roles[i].subject);
        report_say_point(r, p);
        dse_strbuf_addf(p, ") goes%s not known: ",
                        r->metrics.peak_memory == STORE_ABSENT ? " is" : ", and what its memory holds, is");
        if (store_is_native(r->engine))
            dse_strbuf_adds(p, "it was stored by an older version; 'ccldse sweep' simulates it again.");
        else
            dse_strbuf_addf(p, "it is a result of %s, and only ccldse's own simulator tells.", r->engine);
        report_end_paragraph(p, out);
    }
}

/* "Most of the winner's step of 9.512 s is compute-bound compute (7.100 s, 74.6%); the rest is ... " */
static void say_step(const char *whose, const store_metrics *m, dse_strbuf *p)
{
    uint64_t largest = 0;

    for (size_t i = 0; i < REPORT_N_STEP_PARTS; i++) {
        uint64_t v = report_part_of(m, &report_step_parts[i]);

        largest = v > largest ? v : largest;
    }
    if (!largest)
        return;
    dse_strbuf_addf(p, "%s of %s step of ", largest > m->wall_time / 2 ? "Most" : "The largest part", whose);
    report_say_time(m->wall_time, p);
    dse_strbuf_adds(p, " is ");
    if (report_say_parts(m, report_step_parts, REPORT_N_STEP_PARTS, 0, 1, p) > 1) {
        dse_strbuf_adds(p, "; the rest is ");
        report_say_parts(m, report_step_parts, REPORT_N_STEP_PARTS, 1, SIZE_MAX, p);
    }
    dse_strbuf_adds(p, ".");
}

static void say_skipped(const report_study *s, dse_strbuf *p, dse_strbuf *out)
{
    dse_strbuf_addf(p,
                    "What follows is said of the %zu points that were run, not of the %" PRIu64 " skipped.",
                    s->n, s->n_skipped);
    report_end_paragraph(p, out);
}

static void say_winner(const report_study *s, const store_row *r, dse_strbuf *p, dse_strbuf *out)
{
    static const char *const alone[2][2] = {
        {" There is no other point.", " Nothing else fits."},
        {" No other point was run.", " Nothing else that was run fits."},
    };

    dse_strbuf_addf(p, "The winner%s is ", isnan(s->hbm_bytes) ? "" : " of what fits");
    report_say_point(r, p);
    dse_strbuf_adds(p, ". ");
    if (store_has_step(&r->metrics)) {
        say_step("its", &r->metrics, p);
        dse_strbuf_adds(p, " Communication counts where no compute covers it.");
    }
    if (s->n_ranked == 1)
        dse_strbuf_adds(p, alone[s->n_skipped != 0][!isnan(s->hbm_bytes)]);
    report_end_paragraph(p, out);
}

/* "1.203 s (12.6%) longer than the winner's": how a step differs. */
static void say_longer(uint64_t step, uint64_t than, dse_strbuf *p)
{
    if (step == than) {
        dse_strbuf_adds(p, "as long as the winner's");
        return;
    }
    report_say_time(step > than ? step - than : than - step, p);
    dse_strbuf_adds(p, " (");
    report_say_share((double)(step > than ? step - than : than - step), (double)than, p);
    dse_strbuf_addf(p, ") %s than the winner's", step > than ? "longer" : "shorter");
}

/* Against the winner: the step, and where the difference is. */
static void say_against(const store_row *r, const store_row *winner, dse_strbuf *p)
{
    dse_strbuf_adds(p, "Its step of ");
    report_say_time(r->metrics.wall_time, p);
    dse_strbuf_adds(p, " is ");
    say_longer(r->metrics.wall_time, winner->metrics.wall_time, p);
    if (store_has_step(&r->metrics) && store_has_step(&winner->metrics)) {
        size_t before = p->len;

        dse_strbuf_adds(p, ": ");
        report_say_differences(&r->metrics, &winner->metrics, p);
        if (p->len == before + 2) /* nothing differs */
            p->data[p->len = before] = '\0';
    }
    dse_strbuf_addc(p, '.');
}

static void say_runner_up(const report_explanation *e, dse_strbuf *p, dse_strbuf *out)
{
    dse_strbuf_adds(p, "The runner-up is ");
    report_say_point(e->runner_up, p);
    dse_strbuf_adds(p, ". ");
    say_against(e->runner_up, e->winner, p);
    report_end_paragraph(p, out);
}

static void say_unlimited(const report_study *s, const report_explanation *e, dse_strbuf *p, dse_strbuf *out)
{
    const store_metrics *m = &e->unlimited->metrics;

    if (!e->winner)
        dse_strbuf_adds(p, s->n_skipped ? "Nothing that was run fits. " : "Nothing fits. ");
    dse_strbuf_adds(p, "Without the limit ");
    report_say_point(e->unlimited, p);
    dse_strbuf_addf(p, " would win%s. ", s->n_skipped ? " of those that were run" : "");
    if (e->winner)
        say_against(e->unlimited, e->winner, p);
    else if (store_has_step(m))
        say_step("its", m, p);
    if (m->peak_memory == STORE_ABSENT) {
        dse_strbuf_adds(p, " Whether it fits is not known.");
    } else {
        dse_strbuf_adds(p, " It needs ");
        report_say_bytes((double)m->peak_memory, p);
        dse_strbuf_adds(p, " of memory, ");
        report_say_bytes((double)m->peak_memory - s->hbm_bytes, p);
        dse_strbuf_adds(p, " more than the limit of ");
        report_say_bytes(s->hbm_bytes, p);
        dse_strbuf_addc(p, '.');
    }
    report_end_paragraph(p, out);
}

/* "dp 8 instead of 64, sp 8 instead of 1, with recomputation" */
static void say_changes(const store_row *r, const store_row *from, dse_strbuf *p)
{
    const char *separator = "";

    for (uint32_t axis = 0; axis < STRATEGY_N; axis++) {
        const strategy_parameter *parameter = &strategy_parameters[axis];
        const uint32_t value = strategy_get(&r->strategy, axis), before = strategy_get(&from->strategy, axis);
        char now[STRATEGY_VALUE_MAX], then[STRATEGY_VALUE_MAX];

        if (value == before)
            continue;
        if (parameter->kind == STRATEGY_SWITCH)
            dse_strbuf_addf(p, "%s%s %s", separator, value ? "with" : "without", report_axis_name(axis));
        else
            dse_strbuf_addf(p, "%s%s" REPORT_UNBROKEN "%s instead of" REPORT_UNBROKEN "%s", separator,
                            report_axis_name(axis), strategy_print(parameter, value, now),
                            strategy_print(parameter, before, then));
        separator = ", ";
    }
}

static void say_what_would_fit(const report_explanation *e, dse_strbuf *p, dse_strbuf *out)
{
    const store_row *r = e->nearest;

    if (e->unlimited->metrics.peak_memory == STORE_ABSENT)
        return;
    if (r) {
        dse_strbuf_adds(p, "The smallest change (fewest axes) that makes it fit: ");
        say_changes(r, e->unlimited, p);
        dse_strbuf_adds(p, r == e->winner      ? ". That is the winner"
                           : r == e->runner_up ? ". That is the runner-up"
                                               : ". Then the step takes ");
        if (r != e->winner && r != e->runner_up) {
            report_say_time(r->metrics.wall_time, p);
            dse_strbuf_adds(p, " and ");
            report_say_bytes((double)r->metrics.peak_memory, p);
        }
        dse_strbuf_adds(p, ". As it is, it");
    } else {
        dse_strbuf_adds(p, "No change that was tried makes it fit. It");
    }
    dse_strbuf_adds(p, " would take NPUs with at least ");
    report_say_bytes((double)e->unlimited->metrics.peak_memory, p);
    dse_strbuf_addf(p, " (%" PRIu64 " bytes).", e->unlimited->metrics.peak_memory);
    report_end_paragraph(p, out);
}

static void say_peak(const role *who, dse_strbuf *p, dse_strbuf *out)
{
    const store_metrics *m = &who->row->metrics;

    if (m->peak_memory == STORE_ABSENT) {
        dse_strbuf_addf(p, "%s was not tracked.", who->owner);
        report_end_paragraph(p, out);
    }
    if (!report_has_peak(m) || !m->peak_memory)
        return;
    dse_strbuf_addf(p, "%s peaks at ", who->owner);
    report_say_bytes((double)m->peak_memory, p);
    dse_strbuf_adds(p, ", ");
    report_say_time(m->peak_time, p);
    dse_strbuf_adds(p, " into the step (");
    report_say_share((double)m->peak_time, (double)m->wall_time, p);
    dse_strbuf_adds(p, ")");
    if (m->peak_pass)
        dse_strbuf_addc(p, ',');
    report_peak_pass(m, p);
    if (m->peak_node)
        dse_strbuf_addf(p, ", while %s runs", m->peak_node);
    dse_strbuf_adds(p, ". It holds ");
    report_say_parts(m, report_peak_parts, REPORT_N_PEAK_PARTS, 0, SIZE_MAX, p);
    dse_strbuf_addc(p, '.');
    report_end_paragraph(p, out);
}

void report_explain_print(const report_study *s, const report_explanation *e, dse_strbuf *out)
{
    role roles[MAX_ROLES];
    size_t n = list_roles(e, roles);
    dse_strbuf p;

    if (!n)
        return; /* every point failed; the ranking says so */
    dse_strbuf_init(&p);
    if (s->n_skipped)
        say_skipped(s, &p, out);
    print_parts(roles, n, out);
    if (e->winner)
        say_winner(s, e->winner, &p, out);
    if (e->runner_up)
        say_runner_up(e, &p, out);
    if (e->unlimited) {
        say_unlimited(s, e, &p, out);
        say_what_would_fit(e, &p, out);
    }
    for (size_t i = 0; i < n; i++)
        if (roles[i].row != e->runner_up)
            say_peak(&roles[i], &p, out);
    say_missing(roles, n, &p, out);
    report_trends_print(s, e, &p, out);
    dse_strbuf_free(&p);
}
