/* Tokens per second of training: the tokens of a step over the time of a step.
 *
 * The original divides one step's tokens by the length of the whole recording, start-up and all its steps.
 * In inference a step is not a batch of tokens: throughput_tokens counts forward passes. */
#include "metrics/guide.h"
#include "metrics/metric.h"
#include "metrics/steps.h"

/* ---- the definition ------------------------------------------------------------------------ */

static double tokens_of(const trace_card *c) { return (double)c->batch_size * (double)c->seq_len; }

static bool measure(const metric_context *x, const guide_rank *r, dse_arena *scratch)
{
    const bool trim = x->options->trim;
    const metric_span window = metric_steps_window(r->view, trim);
    const double tokens = tokens_of(x->card), step_s = metric_step_mean_ps(r->view, trim) / TRACE_PS_PER_S,
                 window_s = (double)(window.end - window.start) / TRACE_PS_PER_S /
                            metric_steps_kept(r->view, trim).n; /* for each step in it */

    (void)scratch;
    metric_put_number(r->aside, "window_s", window_s);
    metric_put_number(r->out, "throughput_tokens_per_sec", tokens / step_s);
    metric_put_number(r->out, "window_throughput_tokens_per_sec", tokens / window_s);
    metric_put_number(r->out, "iteration_time_sec", step_s);
    return true;
}

static dse_status throughput(const metric_context *x, metric_value *out, dse_error *err)
{
    guide_ranks ranks;
    metric_summary s;

    if (metric_phase_of(x) == TRACE_PHASE_INFERENCE)
        return metric_absent(err, "it is defined for training; ask for throughput_tokens");
    ranks = guide_measure(x, out, measure, 0);
    s = metric_summarise(guide_figures(&ranks, "iteration_time_sec"), ranks.n);
    metric_put_number(out, "throughput_tokens_per_sec", tokens_of(x->card) / s.mean);
    metric_put_number(out, "window_throughput_tokens_per_sec",
                      tokens_of(x->card) / guide_mean(&ranks, "window_s"));
    metric_put_number(out, "tokens_per_step", tokens_of(x->card));
    metric_put_number(out, "iteration_time_sec", s.mean);
    metric_put_number(out, "min_iteration_time", s.min);
    metric_put_number(out, "max_iteration_time", s.max);
    guide_put_ranks(&ranks, NULL, out);
    return DSE_OK;
}

/* ---- as the original ----------------------------------------------------------------------- */

enum { IS_START, IS_END };
static const metric_pick markers =
    METRIC_PICK(METRIC_INSTANTS, {IS_START, .names = "iteration*start|start*iteration"},
                {IS_END, .names = "iteration*end|end*iteration|=Record Window End"});

/* The time from the last start marker to the last end marker, in seconds; without both, from the first to the
 * last start of all events. A result of 0 or less is not usable. */
static double iteration_s(const trace_rank *r, dse_arena *scratch)
{
    metric_picked p = metric_pick_of(r, NULL, &markers, scratch);
    int64_t at[2] = {0, 0};
    bool seen[2] = {false, false};

    for (uint32_t i = 0; i < p.list.n; i++) {
        seen[p.class[i]] = true;
        at[p.class[i]] = metric_picked_at(&p, i)->start_ps;
    }
    if (!seen[IS_START] || !seen[IS_END]) {
        at[IS_START] = r->any_first_ps;
        at[IS_END] = r->any_last_start_ps;
    }
    return at[IS_END] > at[IS_START] ? guide_us(at[IS_END] - at[IS_START]) / 1000000 : 0;
}

/* The defaults are the original's. */
static double tokens_compat(const trace_card *c)
{
    if (!c)
        return 8192;
    return (c->batch_size == TRACE_CARD_NONE ? 8 : (double)c->batch_size) *
           (c->seq_len == TRACE_CARD_NONE ? 1024 : (double)c->seq_len);
}

static bool measure_compat(const metric_context *x, const guide_rank *r, dse_arena *scratch)
{
    const double s = iteration_s(r->rank, scratch);

    (void)x;
    metric_put_number(r->aside, "s", s);
    return s > 0;
}

static dse_status throughput_compat(const metric_context *x, metric_value *out, dse_error *err)
{
    metric_value *list;
    guide_ranks ranks = guide_measure(x, out, measure_compat, 0);
    const double *s = guide_figures(&ranks, "s"), tokens = tokens_compat(x->card);
    metric_summary all;

    if (!ranks.n)
        return metric_absent(err, "no trace here lasts any time");
    all = metric_summarise(s, ranks.n);
    metric_put_number(out, "throughput_tokens_per_sec", tokens / all.mean);
    metric_put_number(out, "tokens_per_step", tokens);
    metric_put_number(out, "iteration_time_sec", all.mean);
    metric_put_integer(out, "num_ranks", ranks.n);
    list = metric_put_list(out, "per_rank_throughput");
    for (uint32_t i = 0; i < ranks.n; i++)
        metric_put_number(list, NULL, tokens / s[i]);
    list = metric_put_list(out, "per_rank_iteration_time");
    for (uint32_t i = 0; i < ranks.n; i++)
        metric_put_number(list, NULL, s[i]);
    metric_put_number(out, "min_iteration_time", all.min);
    metric_put_number(out, "max_iteration_time", all.max);
    return DSE_OK;
}

static const metric rows[] = {
    {METRIC_ROW("throughput", "guide", "tokens/s", METRIC_ON_GPU,
                METRIC_NEEDS_STEPS | METRIC_NEEDS_CARD | METRIC_NEEDS_TOKENS,
                "tokens of a training step over the mean time of a step, and over the window of all steps"),
     .compute = throughput, .compat = throughput_compat, .compat_kinds = METRIC_ON_HOST},
};

METRIC_FAMILY(guide_throughput);
