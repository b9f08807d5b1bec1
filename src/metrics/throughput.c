/* Tokens per second: throughput_tokens, and the guide's throughput.
 *
 * Training: the sequences of a step, over all ranks, times their tokens, over the mean time of a step; and
 * over the time from the first step's start to the last step's end. Inference: output tokens only. */
#include "metrics/guide.h"
#include "metrics/latency.h"
#include "metrics/metric.h"
#include "metrics/steps.h"

#include <math.h>

/* ---- training --------------------------------------------------------------------------------- */

static double window_s(const metric_view *v, bool trim)
{
    metric_span window = metric_steps_window(v, trim);

    return (double)(window.end - window.start) / TRACE_PS_PER_S;
}

/* Puts tokens over the mean time of a step, and over the window of all. */
static void put_rates(double tokens, double step_s, double n_steps, double window, metric_value *out)
{
    metric_put_ratio(out, "throughput_tokens_per_s", tokens, step_s, "the steps last no time");
    metric_put_ratio(out, "window_throughput_tokens_per_s", tokens * n_steps, window,
                     "the steps last no time");
}

/* Means over ranks of the step's time, and of the window's time for one step. */
static void put_steps(const metric_context *x, double tokens, metric_value *out)
{
    const bool trim = x->options->trim;
    const double step = metric_step_mean_s(x, trim);
    metric_value *ranks = metric_object_new(out->arena);
    double window = 0, steps = 0;

    for (const metric_view *v = x->view; v < x->view + x->n_views; v++) {
        const uint32_t n = metric_steps_kept(v, trim).n;
        const double own = window_s(v, trim);
        metric_value *rank = metric_put_rank(ranks, v->rank);

        put_rates(tokens, metric_step_mean_ps(v, trim) / TRACE_PS_PER_S, n, own, rank);
        metric_put_integer(rank, "num_iterations", n);
        metric_put_number(rank, "measured_duration_s", own);
        window += own;
        steps += n;
    }
    put_rates(tokens, step, steps, window, out);
    metric_put_number(out, "tokens_per_step", tokens);
    metric_put_number(out, "step_time_s", step);
    metric_take(metric_put_object(out, "per_rank"), ranks);
}

static bool have_steps(const metric_context *x) { return !isnan(metric_step_mean_s(x, false)); }

static dse_status of_training(const metric_context *x, metric_value *out, dse_error *err)
{
    const trace_card *c = x->card;

    if (c->batch_size == TRACE_CARD_NONE || c->seq_len == TRACE_CARD_NONE)
        return metric_absent(err, "the card does not give workload.data.%s",
                             c->batch_size == TRACE_CARD_NONE ? "batch_size" : "seq_len");
    if (!have_steps(x))
        return metric_absent(err, METRIC_NO_STEPS);
    put_steps(x, (double)c->batch_size * (double)c->seq_len, out);
    metric_put_integer(out, "batch_size", c->batch_size);
    metric_put_integer(out, "seq_len", c->seq_len);
    return DSE_OK;
}

/* ---- inference -------------------------------------------------------------------------------- */

/* A batch takes a first token and then the others. */
static dse_status of_passes(const metric_context *x, const metric_latency *l, metric_value *out,
                            dse_error *err)
{
    double n = (double)x->card->output_len, seconds = l->ttft_s + (n > 1 ? (n - 1) * l->tpot_s : 0);

    if (isnan(seconds))
        return metric_absent(err, "%s", isnan(l->ttft_s) ? l->no_ttft : l->no_tpot);
    metric_put_ratio(out, "throughput_tokens_per_s", (double)x->card->batch_size * n, seconds,
                     "the passes last no time");
    metric_put_number(out, "measured_duration_s", seconds);
    return DSE_OK;
}

static dse_status of_inference(const metric_context *x, metric_value *out, dse_error *err)
{
    const trace_card *c = x->card;
    metric_latency l;
    dse_error none = DSE_ERROR_INIT;
    dse_status st = metric_latency_of(x, &l, &none);
    bool from_steps = st == DSE_E_ABSENT && have_steps(x);

    if (st != DSE_OK && !from_steps)
        return dse_fail_at(err, st, none.where, "%s", none.text);
    if (!from_steps && !isnan(l.output_tokens_per_s)) {
        metric_put_number(out, "throughput_tokens_per_s", l.output_tokens_per_s);
        metric_put_text(out, "source", l.source);
        metric_put_text(out, "file", l.from);
        return DSE_OK;
    }
    if (c->batch_size == TRACE_CARD_NONE || c->output_len == TRACE_CARD_NONE)
        return metric_absent(err, "inference: the card does not give workload.data.%s",
                             c->batch_size == TRACE_CARD_NONE ? "batch_size" : "output_len");
    if (from_steps)
        put_steps(x, (double)c->batch_size * (double)c->output_len, out);
    else if ((st = of_passes(x, &l, out, err)) != DSE_OK)
        return st;
    metric_put_integer(out, "batch_size", c->batch_size);
    metric_put_integer(out, "output_len", c->output_len);
    metric_put_text(out, "source", "trace");
    return DSE_OK;
}

static dse_status throughput_tokens(const metric_context *x, metric_value *out, dse_error *err)
{
    return metric_phase_of(x) == TRACE_PHASE_INFERENCE ? of_inference(x, out, err) : of_training(x, out, err);
}

/* ---- as the original tool has it -------------------------------------------------------------- */

#define DEFAULT_BATCH 4
#define DEFAULT_SEQ   8192

static int64_t or_else(bool given, int64_t v, int64_t otherwise)
{
    return given && v != TRACE_CARD_NONE ? v : otherwise;
}

/* The first file's length, of all that it holds, and how often a step is marked there; of Nsight Systems from
 * the first kernel's start to the last kernel's end, over all devices, and no steps. */
static const metric_pick step_names = METRIC_PICK(METRIC_INSTANTS, {.names = "=^" METRIC_STEP_PREFIX});

static double duration_of(const metric_context *x, int64_t *steps)
{
    metric_span all = METRIC_NO_SPAN;

    *steps = 0;
    for (uint32_t i = 0; i < x->n_views && all.start > all.end; i++) {
        const trace_rank *r = x->view[i].rank;

        if (r->kind == TRACE_NSYS)
            continue;
        all = (metric_span){r->all_first_ps, r->all_last_ps};
        if (all.start <= all.end)
            *steps += metric_pick_of(r, NULL, &step_names, x->arena).list.n;
    }
    if (all.end > all.start)
        return (double)(all.end - all.start) / TRACE_PS_PER_S;
    for (const metric_view *v = x->view; v < x->view + x->n_views; v++) {
        int64_t offset = metric_clock_offset(v->rank, x->view[0].rank);
        metric_span own = metric_span_of(v->rank, &v->kernels);

        if (v->rank->kind == TRACE_NSYS && v->kernels.n)
            metric_span_extend(&all, own.start + offset, own.end + offset);
    }
    return all.end > all.start ? (double)(all.end - all.start) / TRACE_PS_PER_S : 0;
}

static dse_status throughput_tokens_compat(const metric_context *x, metric_value *out, dse_error *err)
{
    const trace_card *c = x->card;
    int64_t steps, batch = or_else(c, c ? c->batch_size : 0, DEFAULT_BATCH),
                   seq = or_else(c, c ? c->seq_len : 0, DEFAULT_SEQ);
    double seconds = duration_of(x, &steps);
    int64_t iterations = or_else(c, c ? c->iteration : 0, steps > 0 ? steps : 1);
    int64_t tokens;
    dse_status st = metric_original_batch(x, err);

    if (st != DSE_OK)
        return st;
    if (__builtin_mul_overflow(batch, seq, &tokens) || __builtin_mul_overflow(tokens, iterations, &tokens))
        return metric_absent(err,
                             "the card's batch_size, seq_len and iteration make more tokens than can be");
    metric_put_number(out, "throughput_tokens_per_s", seconds > 0 ? (double)tokens / seconds : 0);
    metric_put_integer(out, "total_tokens", tokens);
    metric_put_number(out, "measured_duration_s", seconds > 0 ? seconds : 0);
    metric_put_integer(out, "num_iterations", iterations);
    metric_put_integer(out, "batch_size", batch);
    metric_put_integer(out, "seq_len", seq);
    return DSE_OK;
}

/* ---- the guide's throughput -------------------------------------------------------------------- */

/* Of training only: in inference a step is not a batch of tokens. The original divides one step's tokens by
 * the length of the whole recording, start-up and all its steps. */
static double tokens_of(const trace_card *c) { return (double)c->batch_size * (double)c->seq_len; }

static bool measure(const metric_context *x, const guide_rank *r, dse_arena *scratch)
{
    const bool trim = x->options->trim;
    const double tokens = tokens_of(x->card), step_s = metric_step_mean_ps(r->view, trim) / TRACE_PS_PER_S,
                 each_s = window_s(r->view, trim) / metric_steps_kept(r->view, trim).n;

    (void)scratch;
    metric_put_number(r->aside, "window_s", each_s);
    metric_put_number(r->out, "throughput_tokens_per_sec", tokens / step_s);
    metric_put_number(r->out, "window_throughput_tokens_per_sec", tokens / each_s);
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

/* As the original. */
enum { IS_START, IS_END };
static const metric_pick markers =
    METRIC_PICK(METRIC_INSTANTS, {IS_START, .names = "iteration*start|start*iteration"},
                {IS_END, .names = "iteration*end|end*iteration|=Record Window End"});

/* The time from the last start marker to the last end marker, in seconds; without both, from the first to the
 * last start of all events. A result of 0 or less is not usable. */
static bool measure_compat(const metric_context *x, const guide_rank *of, dse_arena *scratch)
{
    const trace_rank *r = of->rank;
    metric_picked p = metric_pick_of(r, NULL, &markers, scratch);
    int64_t at[2] = {0, 0};
    bool seen[2] = {false, false};

    (void)x;
    for (uint32_t i = 0; i < p.list.n; i++) {
        seen[p.class[i]] = true;
        at[p.class[i]] = metric_picked_at(&p, i)->start_ps;
    }
    if (!seen[IS_START] || !seen[IS_END]) {
        at[IS_START] = r->any_first_ps;
        at[IS_END] = r->any_last_start_ps;
    }
    if (at[IS_END] <= at[IS_START])
        return false;
    metric_put_number(of->aside, "s", guide_us(at[IS_END] - at[IS_START]) / 1000000);
    return true;
}

static dse_status throughput_compat(const metric_context *x, metric_value *out, dse_error *err)
{
    guide_ranks ranks = guide_measure(x, out, measure_compat, 0);
    const double *s = guide_figures(&ranks, "s"),
                 tokens = (double)or_else(x->card, x->card ? x->card->batch_size : 0, 8) *
                          (double)or_else(x->card, x->card ? x->card->seq_len : 0, 1024);
    metric_value *rates, *times;
    metric_summary all;
    dse_status st = metric_original_batch(x, err);

    if (st != DSE_OK)
        return st;
    if (!ranks.n)
        return metric_absent(err, "no trace here lasts any time");
    all = metric_summarise(s, ranks.n);
    metric_put_number(out, "throughput_tokens_per_sec", tokens / all.mean);
    metric_put_number(out, "tokens_per_step", tokens);
    metric_put_number(out, "iteration_time_sec", all.mean);
    metric_put_integer(out, "num_ranks", ranks.n);
    rates = metric_put_list(out, "per_rank_throughput");
    times = metric_put_list(out, "per_rank_iteration_time");
    for (uint32_t i = 0; i < ranks.n; i++) {
        metric_put_number(rates, NULL, tokens / s[i]);
        metric_put_number(times, NULL, s[i]);
    }
    metric_put_number(out, "min_iteration_time", all.min);
    metric_put_number(out, "max_iteration_time", all.max);
    return DSE_OK;
}

static const metric rows[] = {
    {METRIC_ROW("throughput", "guide", "tokens/s", METRIC_ON_GPU,
                METRIC_NEEDS_STEPS | METRIC_NEEDS_CARD | METRIC_NEEDS_TOKENS,
                "tokens of a training step over the mean time of a step, and over the window of all steps"),
     .compute = throughput, .compat = throughput_compat, .compat_kinds = METRIC_ON_HOST},
    {METRIC_ROW("throughput_tokens", "kineto", "", METRIC_ON_GPU, METRIC_NEEDS_CARD,
                "tokens per second: of a training step's mean time, of the window of all steps; inference: "
                "output tokens"),
     .alias = "throughput_group_6", .compute = throughput_tokens,
     METRIC_ENTRY("throughput_tokens_per_s", "tokens/s", METRIC_HIGHER, METRIC_STEP_TOLERANCE),
     .compat = throughput_tokens_compat},
};

METRIC_FAMILY(throughput);
