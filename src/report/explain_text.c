/* The explanation in tables and sentences. Every figure is one of a row, or the difference or ratio of
 * two. */
#include "report/explain.h"

#include "report/prose.h"

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

/* A row of the table; its cells come in the order of the roles. */
static report_node *begin_row(const char *label, report_node *list)
{
    return report_row(list, V_NOTE("", label));
}

static void add_cell(const role *of, const char *text, report_node *row)
{
    report_put(row, V_CELL(of->heading, text));
}

/* Whether a parameter always shows, or is not at its default in one of the columns. */
static bool is_shown(uint32_t parameter, const role *roles, size_t n)
{
    const strategy_parameter *p = &strategy_parameters[parameter];
    const unsigned profile = store_row_profile(roles[0].row);
    bool shown = !p->omit_default && strategy_has_profile(parameter, profile) &&
                 (p->is_axis || (p->in_name && profile & STRATEGY_PROFILE_STAGE));

    for (size_t i = 0; i < n; i++)
        shown |= strategy_get(&roles[i].row->strategy, parameter) != p->fallback;
    return shown;
}

/* The axes of the mesh in one row; then one for each parameter that always shows, or is not at its
 * default. */
static void strategy_rows(const role *roles, size_t n, report_node *list)
{
    report_node *row = NULL;
    dse_strbuf text = dse_strbuf_in(list->arena);

    for (size_t i = 0; i <= n; i++) { /* the names, then the values of each role */
        dse_strbuf_clear(&text);
        for (uint32_t k = 0; k < STRATEGY_N_AXES; k++) {
            if (!is_shown(strategy_axes[k], roles, n))
                continue;
            dse_strbuf_adds(&text, text.len ? ", " : "");
            if (i)
                dse_strbuf_addu(&text, strategy_get(&roles[i - 1].row->strategy, strategy_axes[k]));
            else
                dse_strbuf_adds(&text, strategy_parameters[strategy_axes[k]].name);
        }
        if (i)
            add_cell(&roles[i - 1], text.data, row);
        else
            row = begin_row(text.data, list);
    }
    for (uint32_t k = 0; k < STRATEGY_N; k++) {
        const strategy_parameter *p = &strategy_parameters[k];

        if (p->is_axis || !is_shown(k, roles, n))
            continue;
        row = begin_row(report_axis_name(k), list);
        for (size_t i = 0; i < n; i++) {
            char value[STRATEGY_VALUE_MAX];

            add_cell(&roles[i], strategy_print(p, strategy_get(&roles[i].row->strategy, k), value), row);
        }
    }
}

/* "3.207 s  100.0%" */
static report_text with_share(report_text size, uint64_t v, uint64_t whole)
{
    return whole ? report_format("%s  %5.1f%%", size.text, (double)v / (double)whole * 100) : size;
}

/* A row for each part that is something in one of the columns. */
static void part_rows(const role *roles, size_t n, const report_part *parts, size_t n_parts,
                      report_node *list)
{
    bool time = parts == report_step_parts;

    for (size_t k = 0; k < n_parts; k++) {
        bool known[MAX_ROLES], any = false;
        report_node *row;

        for (size_t i = 0; i < n; i++) {
            const store_metrics *m = &roles[i].row->metrics;

            known[i] = time ? store_has_step(m) : report_has_peak(m);
            any |= known[i] && report_part_of(m, &parts[k]);
        }
        if (!any)
            continue;
        row = begin_row(
            dse_arena_printf(list->arena, "  %s", report_part_label(&parts[k], &roles[0].row->metrics)),
            list);
        for (size_t i = 0; i < n; i++) {
            const store_metrics *m = &roles[i].row->metrics;
            uint64_t v = report_part_of(m, &parts[k]), whole = time ? m->wall_time : m->peak_memory;

            add_cell(&roles[i],
                     known[i] ? with_share((time ? report_time : report_bytes)(v), v, whole).text : "-", row);
        }
    }
}

static void print_parts(const role *roles, size_t n, dse_strbuf *out)
{
    report_tree t;
    report_node *list = report_tree_begin(&t), *row;

    strategy_rows(roles, n, list);
    row = begin_row("step", list);
    for (size_t i = 0; i < n; i++)
        add_cell(&roles[i], with_share(report_time(roles[i].row->metrics.wall_time), 1, 1).text, row);
    part_rows(roles, n, report_step_parts, REPORT_N_STEP_PARTS, list);
    row = begin_row("peak memory", list);
    for (size_t i = 0; i < n; i++) {
        const uint64_t peak = roles[i].row->metrics.peak_memory;

        add_cell(&roles[i], with_share(report_bytes(peak), 1, peak != STORE_ABSENT).text, row);
    }
    part_rows(roles, n, report_peak_parts, REPORT_N_PEAK_PARTS, list);
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
    dse_strbuf_addf(p, "%s of %s step of %s is ", largest > m->wall_time / 2 ? "Most" : "The largest part",
                    whose, report_say_time(m->wall_time).text);
    if (report_say_parts(m, report_step_parts, REPORT_N_STEP_PARTS, 0, 1, p) > 1) {
        dse_strbuf_adds(p, "; the rest is ");
        report_say_parts(m, report_step_parts, REPORT_N_STEP_PARTS, 1, SIZE_MAX, p);
    }
    dse_strbuf_adds(p, ".");
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
        dse_strbuf_adds(p, alone[report_has_others(s)][!isnan(s->hbm_bytes)]);
    report_end_paragraph(p, out);
}

/* "1.203 s (12.6%) longer than the winner's": how a step differs. */
static void say_longer(uint64_t step, uint64_t than, dse_strbuf *p)
{
    const uint64_t difference = step > than ? step - than : than - step;

    if (difference)
        dse_strbuf_addf(p, "%s (%s) %s than the winner's", report_say_time(difference).text,
                        report_say_share((double)difference, (double)than).text,
                        step > than ? "longer" : "shorter");
    else
        dse_strbuf_adds(p, "as long as the winner's");
}

/* Against the winner: the step, and where the difference is. */
static void say_against(const store_row *r, const store_row *winner, dse_strbuf *p)
{
    dse_strbuf_addf(p, "Its step of %s is ", report_say_time(r->metrics.wall_time).text);
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
        dse_strbuf_adds(p, report_has_others(s) ? "Nothing that was run fits. " : "Nothing fits. ");
    dse_strbuf_adds(p, "Without the limit ");
    report_say_point(e->unlimited, p);
    dse_strbuf_addf(p, " would win%s. ", report_has_others(s) ? " of those that were run" : "");
    if (e->winner)
        say_against(e->unlimited, e->winner, p);
    else if (store_has_step(m))
        say_step("its", m, p);
    if (m->peak_memory == STORE_ABSENT)
        dse_strbuf_adds(p, " Whether it fits is not known.");
    else
        dse_strbuf_addf(p, " It needs %s of memory, %s more than the limit of %s.",
                        report_say_bytes((double)m->peak_memory).text,
                        report_say_bytes((double)m->peak_memory - s->hbm_bytes).text,
                        report_say_bytes(s->hbm_bytes).text);
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
        if (r == e->winner || r == e->runner_up)
            dse_strbuf_addf(p, ". That is the %s", r == e->winner ? "winner" : "runner-up");
        else
            dse_strbuf_addf(p, ". Then the step takes %s and %s", report_say_time(r->metrics.wall_time).text,
                            report_say_bytes((double)r->metrics.peak_memory).text);
        dse_strbuf_adds(p, ". As it is, it");
    } else {
        dse_strbuf_adds(p, "No change that was tried makes it fit. It");
    }
    dse_strbuf_addf(p, " would take NPUs with at least %s (%" PRIu64 " bytes).",
                    report_say_bytes((double)e->unlimited->metrics.peak_memory).text,
                    e->unlimited->metrics.peak_memory);
    report_end_paragraph(p, out);
}

static void say_peak(const role *of, dse_strbuf *p, dse_strbuf *out)
{
    const store_metrics *m = &of->row->metrics;

    if (m->peak_memory == STORE_ABSENT)
        report_paragraph(out, "%s was not tracked.", of->owner);
    if (!report_has_peak(m) || !m->peak_memory)
        return;
    dse_strbuf_addf(p, "%s peaks at %s, %s into the step (%s)%s", of->owner,
                    report_say_bytes((double)m->peak_memory).text, report_say_time(m->peak_time).text,
                    report_say_share((double)m->peak_time, (double)m->wall_time).text,
                    m->peak_pass ? "," : "");
    report_peak_pass(m, p);
    if (m->peak_node)
        dse_strbuf_addf(p, ", while %s runs", m->peak_node);
    dse_strbuf_adds(p, ". It holds ");
    report_say_parts(m, report_peak_parts, REPORT_N_PEAK_PARTS, 0, SIZE_MAX, p);
    dse_strbuf_addc(p, '.');
    report_end_paragraph(p, out);
}

/* The table of the parts, and of each column's step a paragraph. */
static void print_roles(const report_study *s, const report_explanation *e, const role *roles, size_t n,
                        dse_strbuf *p, dse_strbuf *out)
{
    print_parts(roles, n, out);
    if (e->winner)
        say_winner(s, e->winner, p, out);
    if (e->runner_up)
        say_runner_up(e, p, out);
    if (e->unlimited) {
        say_unlimited(s, e, p, out);
        say_what_would_fit(e, p, out);
    }
}

void report_explain_print_roles(const report_study *s, const report_explanation *e, dse_strbuf *out)
{
    role roles[MAX_ROLES];
    size_t n = list_roles(e, roles);
    dse_strbuf p;

    dse_strbuf_init(&p);
    if (n)
        print_roles(s, e, roles, n, &p, out);
    dse_strbuf_free(&p);
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
        report_paragraph(
            out, "What follows is said of the %zu points that were run, not of the %" PRIu64 " skipped.",
            s->n, s->n_skipped);
    else if (s->is_of_search)
        report_paragraph(out, "What follows is said of the %zu point%s that the search has kept.", s->n,
                         s->n == 1 ? "" : "s");
    print_roles(s, e, roles, n, &p, out);
    for (size_t i = 0; i < n; i++)
        if (roles[i].row != e->runner_up)
            say_peak(&roles[i], &p, out);
    say_missing(roles, n, &p, out);
    report_trends_print(s, e, &p, out);
    dse_strbuf_free(&p);
}
