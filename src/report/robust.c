#include "report/robust.h"

#include "report/prose.h"
#include "report/rows.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* The name of a candidate's point; of CMP_NOBODY "none fits". */
static report_name name_of(const report_robust *r, size_t candidate)
{
    return candidate == CMP_NOBODY ? (report_name){"none fits"} : report_point_name(r->candidate[candidate]);
}

/* The same for people. */
static report_name text_of(const report_robust *r, size_t candidate)
{
    return candidate == CMP_NOBODY ? name_of(r, candidate) : report_point_text(r->candidate[candidate]);
}

/* ---- the winners ---------------------------------------------------------------------------- */

/* The candidates that win most draws, of equals the one that is ranked first; how many are listed. */
static size_t list_winners(const report_robust *r, size_t out[REPORT_ROBUST_WINNERS])
{
    const uint32_t *wins = r->result.wins;
    size_t n = 0;

    for (size_t i = 0; i < r->n; i++) {
        size_t at = n;

        if (!wins[i])
            continue;
        for (; at > 0 && wins[out[at - 1]] < wins[i]; at--)
            if (at < REPORT_ROBUST_WINNERS)
                out[at] = out[at - 1];
        if (at < REPORT_ROBUST_WINNERS)
            out[at] = i;
        n += n < REPORT_ROBUST_WINNERS;
    }
    return n;
}

static size_t count_winners(const report_robust *r)
{
    size_t n = 0;

    for (size_t i = 0; i < r->n; i++)
        n += r->result.wins[i] > 0;
    return n;
}

/* "*" behind a point that the limit on memory drops on the unchanged system; a footnote explains it. */
static const char *mark(const report_study *s, const report_robust *r, size_t candidate)
{
    return candidate == CMP_NOBODY || store_fits(r->candidate[candidate]->metrics.peak_memory, s->hbm_bytes)
               ? ""
               : "*";
}

static bool any_marked(const report_study *s, const report_robust *r)
{
    bool any = false;

    for (size_t i = 0; i < r->n; i++)
        any |= r->result.wins[i] && *mark(s, r, i);
    for (size_t k = 0; k < r->n_parameters; k++)
        any |= *mark(s, r, r->result.below[k].by) || *mark(s, r, r->result.above[k].by);
    return any;
}

/* ---- text ----------------------------------------------------------------------------------- */

/* Says which points were compared, unless all that are ranked were. */
static void say_compared(const report_study *s, const report_robust *r, const report_name *winner,
                         dse_strbuf *p)
{
    const char *engine = s->row[0].engine;
    bool other = r->candidate[r->result.winner] != s->ranked[0];

    if (r->n_ranked < s->n_ranked)
        dse_strbuf_addf(p, " Only the %zu best of the %zu points are compared.", r->n_ranked, s->n_ranked);
    if (r->n_left)
        dse_strbuf_addf(
            p,
            " Of those above the limit on memory %zu more might fit elsewhere; they need more than the "
            "%zu that are compared.",
            r->n_left, r->n - r->n_ranked);
    if (s->n_skipped)
        dse_strbuf_adds(p, " Points that a sweep with --prune skipped are not among those compared.");
    if (!store_is_native(engine))
        dse_strbuf_addf(p, " All of it is simulated by ccldse itself, not by %s%s%s%s.", engine,
                        other ? "; there " : "", other ? winner->text : "", other ? " is the best" : "");
}

static void say_worst(const report_robust *r, dse_strbuf *p)
{
    for (size_t k = 0; k < r->n_parameters; k++)
        dse_strbuf_addf(p, "%s" REPORT_UNBROKEN "%+.1f%%%s", r->parameter[k].key,
                        (r->result.worst_factor[k] - 1) * 100, report_separator(k, r->n_parameters));
}

static void say_regret(const report_robust *r, dse_strbuf *p)
{
    const cmp_robust_result *x = &r->result;

    if (x->dropped)
        dse_strbuf_addf(p, " In %" PRIu32 " it does not fit%s.", x->dropped, r->n_failed ? ", or fails" : "");
    if (x->nobody)
        dse_strbuf_addf(p, " In %" PRIu32 " no point fits.", x->nobody);
    if (!(x->worst_regret > 0))
        return;
    dse_strbuf_addf(
        p, " On average it takes %.2f%% longer than the best of the draw, and at worst %.2f%%, with ",
        x->mean_regret * 100, x->worst_regret * 100);
    say_worst(r, p);
    dse_strbuf_addc(p, '.');
}

static void say_trust(const report_study *s, const report_robust *r, dse_strbuf *p)
{
    const cmp_robust_result *x = &r->result;
    report_name winner = text_of(r, x->winner);
    uint32_t stays = x->wins[x->winner];

    dse_strbuf_addf(p,
                    "How far to trust this: each of the parameters below is up to %g%% off, independently of "
                    "the others, in %" PRIu32 " draw%s (seed %" PRIu64 ").",
                    r->spread * 100, x->draws, x->draws == 1 ? "" : "s", r->seed);
    say_compared(s, r, &winner, p);
    dse_strbuf_addf(p, " %s%s stays the best in ", winner.text,
                    report_trains(s) ? "" : " (dp_tp_sp_pp_recompute)");
    if (stays == x->draws) {
        dse_strbuf_adds(p, "all of them.");
        return;
    }
    dse_strbuf_addf(p, "%" PRIu32 " (%s).", stays, report_say_share(stays, x->draws).text);
    say_regret(r, p);
}

/* The name of a candidate with its mark. */
static const char *marked(const report_study *s, const report_robust *r, size_t candidate, dse_arena *a)
{
    return dse_arena_printf(a, "%s%s", text_of(r, candidate).text, mark(s, r, candidate));
}

/* How many are listed. */
static size_t put_winners(const report_study *s, const report_robust *r, report_node *list)
{
    size_t best[REPORT_ROBUST_WINNERS], n = list_winners(r, best);

    for (size_t i = 0; i < n; i++) {
        uint32_t wins = r->result.wins[best[i]];

        report_row(list, V_TEXT("point", name_of(r, best[i]).text), V_AS("best in", V_COUNT("draws", wins)),
                   V_CELL("share", report_percent((double)wins / r->result.draws * 100).text),
                   V_NOTE("point", marked(s, r, best[i], list->arena)),
                   V_CELL("step time now", report_seconds(r->result.value[best[i]] * 1e-9).text));
    }
    return n;
}

static void print_winners(const report_study *s, const report_robust *r, dse_strbuf *out)
{
    report_tree t;
    const size_t n = put_winners(s, r, report_tree_begin(&t)), all = count_winners(r);

    report_table_end(&t, out);
    if (all > n)
        dse_strbuf_addf(out, "and %zu more\n", all - n);
    dse_strbuf_addc(out, '\n');
}

/* Four digits, as for a time, without an exponent where possible. The unit stands with the current value of
 * the parameter. */
static report_text parameter_value(double v, const char *unit)
{
    return report_format(fabs(v) < 9999.5 ? "%.4g%s%s" : "%.0f%s%s", v, *unit ? " " : "", unit);
}

/* A number of six digits, more than the precision of a crossover. */
static report_value rounded(const char *key, double v)
{
    return V_REAL(key, isnan(v) ? NAN : strtod(report_format("%.6g", v).text, NULL));
}

static void put_point(const char *key, const report_robust *r, size_t candidate, report_node *to)
{
    report_put(to, V_TEXT(key, candidate == CMP_NOBODY ? NULL : name_of(r, candidate).text));
}

static void put_crossover(const char *key, const char *heading, const report_study *s, const report_robust *r,
                          const report_robust_parameter *p, const cmp_crossover *c, report_node *row)
{
    const double value = p->value * c->factor;
    report_node *object;

    if (isnan(c->factor)) {
        report_put(row, V_UNKNOWN(key), V_CELL(heading, "never"), V_NOTE("then best", "-"));
        return;
    }
    object = report_object(row, key);
    report_put(object, rounded("value", value), rounded("factor", c->factor));
    put_point("best", r, c->by, object);
    report_put(row, V_CELL(heading, parameter_value(value, "").text),
               V_NOTE("then best", marked(s, r, c->by, row->arena)));
}

static void put_parameters(const report_study *s, const report_robust *r, report_node *list)
{
    for (size_t k = 0; k < r->n_parameters; k++) {
        const report_robust_parameter *p = &r->parameter[k];
        report_node *row =
            report_row(list, V_AS("parameter", V_TEXT("parameter", p->key)), V_TEXT("unit", p->unit),
                       rounded("value", p->value), V_CELL("now", parameter_value(p->value, p->unit).text),
                       rounded("worst_factor", r->result.worst_factor[k]));

        put_crossover("below", "at most", s, r, p, &r->result.below[k], row);
        put_crossover("above", "at least", s, r, p, &r->result.above[k], row);
    }
}

void report_robust_print(const report_study *s, const report_robust *r, dse_strbuf *out)
{
    report_tree t;
    dse_strbuf p;

    if (r->why_not) {
        report_paragraph(out, "How far to trust this is not known: %s.", r->why_not);
        return;
    }
    dse_strbuf_init(&p);
    say_trust(s, r, &p);
    report_end_paragraph(&p, out);
    dse_strbuf_free(&p);
    if (r->result.wins[r->result.winner] < r->result.draws)
        print_winners(s, r, out);
    report_paragraph(
        out, "Where a parameter alone, changed by up to %g times, makes another point the best:", r->reach);
    put_parameters(s, r, report_tree_begin(&t));
    report_table_end(&t, out);
    dse_strbuf_addc(out, '\n');
    if (any_marked(s, r))
        report_paragraph(out,
                         "* needs more than %s as the system is: what a point holds depends on when its "
                         "communication ends.",
                         report_say_bytes(s->hbm_bytes).text);
    if (r->failure)
        report_paragraph(out,
                         "%" PRIu64 " of %" PRIu64
                         " simulations failed, and count as points that do not fit. The first, %s: %s.",
                         r->n_failed, r->n_simulated, text_of(r, r->failed_first).text, r->failure);
}

/* ---- JSON ----------------------------------------------------------------------------------- */

void report_put_robust(const report_study *s, const report_robust *r, report_node *to)
{
    const cmp_robust_result *x = &r->result;

    if (r->why_not) {
        report_put(to, V_TEXT("why_not", r->why_not));
        return;
    }
    report_put(to, rounded("spread", r->spread), V_COUNT("draws", x->draws), V_COUNT("seed", r->seed),
               rounded("reach", r->reach), V_COUNT("compared", r->n), V_COUNT("simulations", r->n_simulated),
               V_COUNT("failed", r->n_failed), V_GIVEN(r->failure, V_TEXT("first_failure", r->failure)));
    put_point("winner", r, x->winner, to);
    report_put(to, V_COUNT("stays_best", x->wins[x->winner]), V_COUNT("does_not_fit", x->dropped),
               rounded("mean_regret", x->mean_regret), rounded("worst_regret", x->worst_regret));
    put_winners(s, r, report_list(to, "best_in_draws"));
    put_parameters(s, r, report_list(to, "parameters"));
}
