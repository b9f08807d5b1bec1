/* A plan as text: sentences and the tables of its tree, at most 80 columns wide. */
#include "base/array.h"
#include "report/band.h"
#include "report/plan_parts.h"
#include "report/prose.h"
#include "report/rows.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#define ALIKE                                                                                                \
    0.02          /* of the winner's: steps that no simulation tells apart; bands are several times as wide */
#define WAITS 0.1 /* of a step in pipeline bubbles, about which something can be done */

/* ---- text: the answer ----------------------------------------------------------------------- */

static void heading(const char *text, dse_strbuf *out) { dse_strbuf_addf(out, "%s\n\n", text); }

/* "  label          text", wrapped beside the label. */
static void labelled(const char *label, const char *text, dse_strbuf *out)
{
    dse_strbuf_addf(out, "  %-14s ", label);
    dse_strbuf_add_wrapped(out, text, 17, REPORT_WIDTH);
    dse_strbuf_addc(out, '\n');
}

/* "15 trillion" */
static report_text say_count(double v)
{
    static const char *const words[] = {"", " thousand", " million", " billion", " trillion"};
    size_t i = 0;

    for (; v >= 1000 && i + 1 < DSE_COUNT(words); i++)
        v /= 1000;
    return report_format("%.4g%s", v, words[i]);
}

static void say_point(const report_plan *p, const store_row *r, dse_strbuf *out)
{
    if (store_fits(r->metrics.peak_memory, p->study->hbm_bytes))
        dse_strbuf_addf(out, "%s, ", report_plan_label(p, r).text);
    report_say_point(r, out);
}

static void print_task(const report_plan *p, dse_strbuf *out)
{
    dse_strbuf text;

    dse_strbuf_init(&text);
    dse_strbuf_addf(&text, "%s, %s parameters, on ", p->model, say_count(p->parameters).text);
    if (p->nodes)
        dse_strbuf_addf(&text, "%" PRIu64 " nodes of %s (%" PRIu64 " NPUs", p->nodes, p->system, p->npus);
    else
        dse_strbuf_addf(&text, "%" PRIu64 " NPUs of %s (", p->npus, p->system);
    dse_strbuf_addf(&text, "%s%s each): batch %" PRIu64 " x %" PRIu64 " tokens, %s a step.",
                    p->nodes ? ", " : "", report_say_bytes(p->study->hbm_bytes).text, p->batch, p->sequence,
                    say_count((double)(p->batch * p->sequence)).text);
    report_end_paragraph(&text, out);
    dse_strbuf_free(&text);
}

static void print_counts(const report_plan *p, size_t shown, dse_strbuf *out)
{
    const report_study *s = p->study;
    dse_strbuf text;

    dse_strbuf_init(&text);
    dse_strbuf_addf(&text, "%zu strateg%s tried, %zu fit%s into the memory", s->n, s->n == 1 ? "y" : "ies",
                    s->n_ranked, s->n_ranked == 1 ? "s" : "");
    if (s->n_failed)
        dse_strbuf_addf(&text, ", %zu failed ('ccldse export' shows why)", s->n_failed);
    dse_strbuf_addf(&text, shown == 1 ? ". The best:" : ". The best %zu:", shown);
    report_end_paragraph(&text, out);
    dse_strbuf_free(&text);
}

/* What the ones that are shown have in common, and how many are as good as the winner for all that is known.
 * */
static void print_alike(const report_plan *p, size_t shown, dse_strbuf *out)
{
    const report_study *s = p->study;
    const store_row *smallest = report_plan_winner(p);
    size_t n = 1;
    dse_strbuf text;

    dse_strbuf_init(&text);
    report_plan_say_common(p, shown, &text);
    for (; n < s->n_ranked && report_plan_change_of(s->ranked[n]->metrics.wall_time,
                                                    report_plan_winner(p)->metrics.wall_time) < ALIKE;
         n++)
        if (s->ranked[n]->metrics.peak_memory < smallest->metrics.peak_memory)
            smallest = s->ranked[n];
    if (n > 1)
        dse_strbuf_addf(&text, "%s%s within %.0f%% of the winner, closer than a simulation can tell",
                        text.len ? " " : "",
                        n == 2 ? "The next is" : report_format("The first %zu are", n).text, ALIKE * 100);
    if (n > 1 && smallest != report_plan_winner(p)) {
        dse_strbuf_addf(&text, "; least memory of them, %s, needs ",
                        report_say_bytes((double)smallest->metrics.peak_memory).text);
        say_point(p, smallest, &text);
    }
    dse_strbuf_adds(&text, n > 1 ? "." : "");
    if (text.len)
        report_end_paragraph(&text, out);
    dse_strbuf_free(&text);
}

/* "1f1b over 4 stages; 128 micro-batches of 1 sequence on each of 8 data parallel ranks" */
static void say_schedule(const report_plan *p, const strategy *w, dse_strbuf *out)
{
    const uint64_t each = (uint64_t)w->dp * w->micro_batch;
    char name[STRATEGY_VALUE_MAX];

    strategy_print(&strategy_parameters[STRATEGY_schedule], w->schedule, name);
    if (w->pp > 1)
        dse_strbuf_addf(out, "%s%s over %" PRIu32 " stages", w->vp > 1 && !w->schedule ? "interleaved " : "",
                        name, w->pp);
    if (w->pp > 1 && w->vp > 1)
        dse_strbuf_addf(out, " of %" PRIu32 " virtual stages", w->vp);
    dse_strbuf_addf(out,
                    "%s%" PRIu64 " micro-batch%s of %" PRIu32 " sequence%s on each of %" PRIu32
                    " data parallel rank%s",
                    w->pp > 1 ? "; " : "no pipeline; ", p->batch / each, p->batch == each ? "" : "es",
                    w->micro_batch, w->micro_batch == 1 ? "" : "s", w->dp, w->dp == 1 ? "" : "s");
}

static void say_training_run(const report_plan *p, const store_row *w, dse_strbuf *out)
{
    const double days = report_plan_days(p, report_plan_seconds(w));
    const double cost = report_plan_of_run(p, w->metrics.cost_per_trillion_tokens);
    const double energy = report_plan_of_run(p, w->metrics.energy_per_trillion_tokens);

    dse_strbuf_addf(out, "%s tokens: %.4g days, %s NPU hours", say_count(p->train_tokens).text, days,
                    say_count(days * 24 * (double)p->npus).text);
    if (p->band.level != CMP_BAND_NONE)
        dse_strbuf_addf(out, " (%.4g .. %.4g days by the error band)", days * p->band.low,
                        days * p->band.high);
    if (!isnan(cost))
        dse_strbuf_addf(out, "; the NPUs cost %s", say_count(cost).text);
    if (!isnan(energy))
        dse_strbuf_addf(out, "%s %s kWh", isnan(cost) ? "; the NPUs take" : " and take",
                        say_count(energy).text);
}

static void say_throughput(const report_plan *p, const store_metrics *m, dse_strbuf *out)
{
    dse_strbuf_addf(out, "%.0f tokens/s, %.0f on each NPU; MFU %.1f%%", m->tokens_per_s, m->tokens_per_s_npu,
                    m->mfu);
    if (p->band.level != CMP_BAND_NONE)
        dse_strbuf_addf(out, " (by the error band %.0f .. %.0f on each NPU, MFU %.1f%% .. %.1f%%)",
                        m->tokens_per_s_npu / p->band.high, m->tokens_per_s_npu / p->band.low,
                        m->mfu / p->band.high, m->mfu / p->band.low);
}

/* Stages of equal lengths wait for (pp - 1) / vp micro-batches of them, whatever their number; and where
 * there are fewer micro-batches than stages, in the turn of each virtual stage for those that are missing. */
static void print_bubble(const report_plan *p, const store_row *w, dse_strbuf *out)
{
    const strategy *s = &w->strategy;
    const double bubble = (double)w->metrics.step_idle / (double)w->metrics.wall_time;
    const double micro_batches = (double)p->batch / ((double)s->dp * s->micro_batch);
    const double turn = s->vp > 1 && micro_batches < s->pp ? s->pp : micro_batches;
    const double least = 1 - s->vp * micro_batches / ((s->pp - 1.0) + s->vp * turn);

    if (bubble <= WAITS)
        return;
    labelled("to mend",
             least > bubble / 2
                 ? report_format("%.0f%% of the step is pipeline bubble: a batch of more than %" PRIu64
                                 " sequences would have more micro-batches, and less of it",
                                 bubble * 100, p->batch)
                       .text
                 : report_format("%.0f%% of the step is pipeline bubble, most of it as stages last unequally "
                                 "(the last has the output embedding and the loss)",
                                 bubble * 100)
                       .text,
             out);
}

static void print_winner(const report_plan *p, dse_strbuf *out)
{
    const store_row *w = report_plan_winner(p);
    const store_metrics *m = &w->metrics;
    dse_strbuf text;

    dse_strbuf_init(&text);
    labelled("the winner", report_point_text(w).text, out);
    say_schedule(p, &w->strategy, &text);
    labelled("schedule", text.data, out);
    labelled("step time",
             report_format("%s%s", report_time(m->wall_time).text,
                           p->by_roofline
                               ? " or more: kernels last by the data sheet's roofline here, as none "
                                 "that was measured is at hand, and real ones take longer"
                               : "")
                 .text,
             out);
    dse_strbuf_clear(&text);
    if (p->band.level == CMP_BAND_NONE)
        dse_strbuf_addf(&text, "not known: %s", p->why_no_band ? p->why_no_band : "nothing was measured");
    else
        report_band_say(&p->band, p->device, report_plan_seconds(w), &text);
    if (p->band.level != CMP_BAND_NONE && p->band.low > 1)
        dse_strbuf_adds(&text, "; they took longer than simulated, so expect that");
    labelled("error band", text.data, out);
    dse_strbuf_clear(&text);
    say_throughput(p, m, &text);
    labelled("throughput", text.data, out);
    labelled("memory",
             report_format("%s of %s (%.1f%%)", report_bytes(m->peak_memory).text,
                           report_size(p->study->hbm_bytes).text,
                           (double)m->peak_memory / p->study->hbm_bytes * 100)
                 .text,
             out);
    if (!isnan(p->train_tokens)) {
        dse_strbuf_clear(&text);
        say_training_run(p, w, &text);
        labelled("training", text.data, out);
    }
    print_bubble(p, w, out);
    dse_strbuf_addc(out, '\n');
    dse_strbuf_free(&text);
}

/* ---- text: what would change it ------------------------------------------------------------- */

/* "58.03 s (+5.8%)" */
static void say_step(const report_plan *p, const store_row *r, dse_strbuf *out)
{
    dse_strbuf_addf(out, "%s (%s)", report_say_time(r->metrics.wall_time).text,
                    report_signed_percent(
                        report_plan_change_of(r->metrics.wall_time, report_plan_winner(p)->metrics.wall_time))
                        .text);
}

static void print_room(const report_plan *p, dse_strbuf *out)
{
    const double peak = (double)report_plan_winner(p)->metrics.peak_memory, limit = p->study->hbm_bytes;
    dse_strbuf text;

    if (peak <= limit * (1 - REPORT_PLAN_ROOM))
        return;
    dse_strbuf_init(&text);
    dse_strbuf_addf(&text,
                    "The winner leaves %s of the memory free (%s), which drivers, NCCL and fragments share. ",
                    report_say_bytes(limit - peak).text, report_say_share(limit - peak, limit).text);
    if (p->roomy) {
        dse_strbuf_addf(&text, "If it runs out of memory: the best that leaves %.0f%% free is ",
                        REPORT_PLAN_ROOM * 100);
        say_point(p, p->roomy, &text);
        dse_strbuf_adds(&text, ": ");
        say_step(p, p->roomy, &text);
        dse_strbuf_addf(&text, ", %s.", report_say_bytes((double)p->roomy->metrics.peak_memory).text);
    } else {
        dse_strbuf_addf(&text, "Nothing that fits leaves %.0f%% free.", REPORT_PLAN_ROOM * 100);
    }
    report_end_paragraph(&text, out);
    dse_strbuf_free(&text);
}

/* "twice the compute peak (-39.5%)", "half the latency between nodes (-1.2%)": how the step of the best
 * changes. */
static void say_change(const report_plan *p, const report_plan_change *c, dse_strbuf *out)
{
    dse_strbuf_addf(
        out, "%s the %s (%s)", c->factor > 1 ? "twice" : "half", c->what,
        report_signed_percent(report_plan_change_of(c->best_time, report_plan_winner(p)->metrics.wall_time))
            .text);
}

static bool is_better(const report_plan_change *c) { return (c->factor > 1) != c->less_is_better; }

/* Those of the better changes that are worth a word, the largest first; of the others, or of the worse ones
 * without effect, all. */
static size_t list_changes(const report_plan *p, bool better, bool worth, const report_plan_change **out)
{
    size_t n = 0;

    for (size_t i = 0; i < p->n_changes; i++) {
        const report_plan_change *c = &p->change[i];
        size_t at = n;

        if (is_better(c) != better || !c->best ||
            (fabs(report_plan_change_of(c->best_time, report_plan_winner(p)->metrics.wall_time)) >=
             REPORT_PLAN_WORTH) != worth)
            continue;
        for (; at && out[at - 1]->best_time > c->best_time; at--)
            out[at] = out[at - 1];
        out[at] = c;
        n++;
    }
    return n;
}

static void print_hardware(const report_plan *p, dse_strbuf *out)
{
    const report_plan_change **c = dse_calloc(p->n_changes + 1, sizeof *c);
    dse_strbuf text;
    size_t n = list_changes(p, true, true, c);

    dse_strbuf_init(&text);
    dse_strbuf_adds(&text, n ? "Worth most: " : "None of these improvements is worth 1% of the step.");
    for (size_t i = 0; i < n; i++) {
        say_change(p, c[i], &text);
        dse_strbuf_adds(&text, i + 1 < n ? report_separator(i, n) : ".");
    }
    if (p->above) {
        const double least = (double)p->above->metrics.peak_memory;

        dse_strbuf_addf(
            &text, " The smallest change of hardware that gains 1%% or more: NPUs of %s, %s more, on which ",
            report_say_bytes(least).text, report_say_bytes(least - p->study->hbm_bytes).text);
        say_point(p, p->above, &text);
        dse_strbuf_adds(&text, " takes ");
        say_step(p, p->above, &text);
        dse_strbuf_addc(&text, '.');
    }
    n = list_changes(p, false, false, c);
    for (size_t i = 0; i < n; i++)
        dse_strbuf_addf(&text, "%s%s the %s%s", i ? "" : " What could be cheaper, as it costs less than 1%: ",
                        c[i]->factor > 1 ? "twice" : "half", c[i]->what,
                        i + 1 < n ? report_separator(i, n) : ".");
    report_end_paragraph(&text, out);
    dse_strbuf_free(&text);
    dse_free(c);
}

/* Whether a change before this one has the same best point, or it is the winner. */
static bool is_named(const report_plan *p, size_t change)
{
    const store_row *best = p->change[change].best;

    for (size_t i = 0; i < change; i++)
        if (p->change[i].best == best)
            return true;
    return !best || best == report_plan_winner(p);
}

/* The points that the table names. */
static void print_named(const report_plan *p, dse_strbuf *out)
{
    size_t n = 0;

    for (size_t i = 0; i < p->n_changes; i++)
        if (!is_named(p, i)) {
            n++;
            dse_strbuf_addf(out, "  %-4s ", report_plan_label(p, p->change[i].best).text);
            dse_strbuf_add_wrapped(out, report_point_text(p->change[i].best).text, 7, REPORT_WIDTH);
            dse_strbuf_addc(out, '\n');
        }
    dse_strbuf_adds(out, n ? "\n" : "");
}

static void print_changes(const report_plan *p, const report_plan_tree *t, dse_strbuf *out)
{
    heading("WHAT WOULD CHANGE IT", out);
    print_room(p, out);
    report_paragraph(
        out,
        "The system with one thing changed: the winner's step then, and which strategy would be the best "
        "then (every one that might be was simulated again).");
    report_rows_table(t->changes, out);
    dse_strbuf_addc(out, '\n');
    print_named(p, out);
    print_hardware(p, out);
}

/* ---- text: where nothing fits --------------------------------------------------------------- */

static void print_nothing_fits(const report_plan *p, const report_plan_tree *t, dse_strbuf *out)
{
    const double limit = p->study->hbm_bytes;
    bool any = false;
    dse_strbuf text;

    dse_strbuf_init(&text);
    dse_strbuf_addf(&text, "None of the %zu strategies fits into the %s of an NPU.", p->study->n,
                    report_say_bytes(limit).text);
    if (p->nearest) {
        const double peak = (double)p->nearest->metrics.peak_memory;

        dse_strbuf_adds(&text, " Nearest comes ");
        report_say_point(p->nearest, &text);
        dse_strbuf_addf(&text, ": it needs %s, %s (%s) more, and would take %s. It holds ",
                        report_say_bytes(peak).text, report_say_bytes(peak - limit).text,
                        report_say_share(peak - limit, limit).text,
                        report_say_time(p->nearest->metrics.wall_time).text);
        report_say_parts(&p->nearest->metrics, report_peak_parts, REPORT_N_PEAK_PARTS, 0, SIZE_MAX, &text);
        dse_strbuf_addc(&text, '.');
    }
    report_end_paragraph(&text, out);
    if (p->n_remedies) {
        heading("WHAT WAS TRIED TO MAKE IT FIT", out);
        report_rows_table(t->remedies, out);
        dse_strbuf_addc(out, '\n');
    }
    for (size_t i = 0; i < p->n_remedies; i++) {
        const report_plan_remedy *r = &p->remedy[i];

        any |= r->fits;
        if (!r->fits)
            continue;
        dse_strbuf_addf(&text, "It fits %s: ", r->what);
        strategy_say(&r->point, STRATEGY_PROFILE_TRAIN, REPORT_UNBROKEN, &text);
        dse_strbuf_addf(&text, ": %s, %.0f tokens/s on each NPU, MFU %.1f%%, %s of memory.",
                        report_say_time(r->metrics.wall_time).text, r->metrics.tokens_per_s_npu,
                        r->metrics.mfu, report_say_bytes((double)r->metrics.peak_memory).text);
        report_end_paragraph(&text, out);
    }
    if (!any)
        report_paragraph(
            out,
            "None of this makes it fit: take NPUs with more memory, a smaller model, or a shorter sequence.");
    dse_strbuf_free(&text);
}

/* ---- text: all of it ------------------------------------------------------------------------ */

static void print_assumptions(const report_plan *p, dse_strbuf *out)
{
    heading("WHAT WAS ASSUMED", out);
    for (size_t i = 0; i < p->n_assumptions; i++) {
        char about[16];

        snprintf(about, sizeof about, "%s", p->assumption[i].about);
        for (char *c = about; *c; c++)
            *c = *c == '_' ? ' ' : *c;
        labelled(about, p->assumption[i].text, out);
    }
}

void report_plan_print(const report_plan *p, size_t top, dse_strbuf *out)
{
    report_plan_tree t;

    report_plan_make_tree(p, top, &t);
    print_task(p, out);
    if (p->study->n_ranked) {
        const size_t shown = top && top < p->study->n_ranked ? top : p->study->n_ranked;

        print_counts(p, shown, out);
        report_rows_table(t.ranking, out);
        dse_strbuf_addc(out, '\n');
        print_alike(p, shown, out);
        print_winner(p, out);
        heading("WHY IT WINS", out);
        report_explain_print_roles(p->study, &p->why, out);
        print_changes(p, &t, out);
    } else {
        print_nothing_fits(p, &t, out);
    }
    print_assumptions(p, out);
    report_tree_free(&t.tree);
}
