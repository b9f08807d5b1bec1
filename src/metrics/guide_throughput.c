/* Tokens per second of training: the tokens of a step over the time of a step.
 *
 * The original divides one step's tokens by the length of the whole recording, start-up and all its steps.
 * In inference a step is not a batch of tokens: throughput_tokens counts forward passes. */
#include "metrics/guide.h"
#include "metrics/metric.h"
#include "metrics/steps.h"

#include <math.h>
#include <string.h>

/* ---- the definition ------------------------------------------------------------------------ */

typedef struct {
    double step_s;   /* mean time of a step */
    double window_s; /* from the first step's start to the last one's end, for each step in it */
} rank_steps;

static rank_steps measure(const metric_view *v, bool trim)
{
    metric_span window = metric_steps_window(v, trim);

    return (rank_steps){.step_s = metric_step_mean_ps(v, trim) / TRACE_PS_PER_S,
                        .window_s = (double)(window.end - window.start) / TRACE_PS_PER_S /
                                    metric_steps_kept(v, trim).n};
}

static dse_status tokens_of(const metric_context *x, double *out, dse_error *err)
{
    const trace_card *c = x->card;

    if (metric_phase_of(x) == TRACE_PHASE_INFERENCE)
        return metric_absent(err, "it is defined for training; ask for throughput_tokens");
    *out = (double)c->batch_size * (double)c->seq_len;
    return DSE_OK;
}

static void put_rank(const rank_steps *s, double tokens, metric_value *to)
{
    metric_put_number(to, "throughput_tokens_per_sec", tokens / s->step_s);
    metric_put_number(to, "window_throughput_tokens_per_sec", tokens / s->window_s);
    metric_put_number(to, "iteration_time_sec", s->step_s);
}

static dse_status throughput(const metric_context *x, metric_value *out, dse_error *err)
{
    guide_ranks ranks;
    rank_steps *s;
    metric_value *per_rank;
    double tokens = 0, least = INFINITY, most = 0, mean;
    dse_status st = tokens_of(x, &tokens, err);

    if (st != DSE_OK)
        return st;
    ranks = guide_ranks_of(x);
    s = DSE_ARENA_NEW(x->arena, rank_steps, ranks.n);
    for (uint32_t i = 0; i < ranks.n; i++) {
        s[i] = measure(ranks.rank[i].view, x->options->trim);
        least = s[i].step_s < least ? s[i].step_s : least;
        most = s[i].step_s > most ? s[i].step_s : most;
    }
    mean = GUIDE_MEAN(s, ranks.n, step_s);
    metric_put_number(out, "throughput_tokens_per_sec", tokens / mean);
    metric_put_number(out, "window_throughput_tokens_per_sec", tokens / GUIDE_MEAN(s, ranks.n, window_s));
    metric_put_number(out, "tokens_per_step", tokens);
    metric_put_number(out, "iteration_time_sec", mean);
    metric_put_number(out, "min_iteration_time", least);
    metric_put_number(out, "max_iteration_time", most);
    metric_put_integer(out, "num_ranks", ranks.n);
    per_rank = metric_put_object(out, "per_rank");
    for (uint32_t i = 0; i < ranks.n; i++)
        put_rank(&s[i], tokens, metric_put_rank(per_rank, ranks.rank[i].rank));
    return DSE_OK;
}

/* ---- as the original ----------------------------------------------------------------------- */

enum { IS_START = 1, IS_END = 2 };

static uint8_t marker_of(const char *name)
{
    if (metric_has(name, "iteration") && metric_has(name, "start"))
        return IS_START;
    if ((metric_has(name, "iteration") && metric_has(name, "end")) || strstr(name, "Record Window End"))
        return IS_END;
    return 0;
}

/* The time from the last start marker to the last end marker, in seconds; without both, from the first to the
 * last start of all events. A result of 0 or less is not usable. */
static double iteration_s(const trace_rank *r, metric_classes *markers)
{
    int64_t start = 0, end = 0;
    int seen = 0;

    for (size_t i = 0; i < r->n_events; i++) {
        const trace_event *e = &r->event[i];
        uint8_t marker = metric_class_of(markers, e);

        seen |= marker;
        if (marker == IS_START)
            start = e->start_ps;
        else if (marker == IS_END)
            end = e->start_ps;
    }
    if (seen != (IS_START | IS_END)) {
        start = r->any_first_ps;
        end = r->any_last_start_ps;
    }
    return end > start ? guide_us(end - start) / 1000000 : 0;
}

/* The defaults are the original's. */
static double tokens_compat(const trace_card *c)
{
    if (!c)
        return 8192;
    return (c->batch_size == TRACE_CARD_NONE ? 8 : (double)c->batch_size) *
           (c->seq_len == TRACE_CARD_NONE ? 1024 : (double)c->seq_len);
}

static void times_compat(const guide_ranks *ranks, double *s, uint32_t *n)
{
    dse_arena scratch;

    *n = 0;
    dse_arena_init(&scratch);
    for (uint32_t i = 0; i < ranks->n; i++) {
        const trace_rank *r = ranks->rank[i].rank;
        metric_classes markers;

        dse_arena_reset(&scratch);
        markers = metric_classes_of(r, marker_of, &scratch);
        s[*n] = iteration_s(r, &markers);
        *n += s[*n] > 0;
    }
    dse_arena_free(&scratch);
}

static dse_status throughput_compat(const metric_context *x, metric_value *out, dse_error *err)
{
    metric_value *list;
    metric_summary all;
    uint32_t n;
    double *s, tokens = tokens_compat(x->card);
    guide_ranks ranks = guide_ranks_compat(x);

    s = DSE_ARENA_NEW(x->arena, double, (size_t)ranks.n + 1);
    times_compat(&ranks, s, &n);
    if (!n)
        return metric_absent(err, "no trace here lasts any time");
    all = metric_summarise(s, n);
    metric_put_number(out, "throughput_tokens_per_sec", tokens / all.mean);
    metric_put_number(out, "tokens_per_step", tokens);
    metric_put_number(out, "iteration_time_sec", all.mean);
    metric_put_integer(out, "num_ranks", n);
    list = metric_put_list(out, "per_rank_throughput");
    for (uint32_t i = 0; i < n; i++)
        metric_put_number(list, NULL, tokens / s[i]);
    list = metric_put_list(out, "per_rank_iteration_time");
    for (uint32_t i = 0; i < n; i++)
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
