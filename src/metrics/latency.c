#include "metrics/latency.h"
#include "base/array.h"
#include "metrics/metric.h"

#include "metrics/order.h"
#include "metrics/pick.h"
#include "metrics/steps.h"
#include "trace/benchmark.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- markers --------------------------------------------------------------------------------- */

typedef struct {
    const char *name;
    unsigned kinds;
    metric_mark mark, compat;
} marker;

static const marker markers[] = {
    {"execute_context_*", METRIC_ON_GPU, METRIC_MARK_VLLM, METRIC_MARK_VLLM},
    {"run_batch", METRIC_ON_GPU, METRIC_MARK_SGLANG, METRIC_MARK_SGLANG},
    {"$core.py step", METRIC_ON(TRACE_XLA), METRIC_MARK_ENGINE, METRIC_MARK_ENGINE_LINE},
};

#define N_MARKERS DSE_COUNT(markers)

/* ---- passes ---------------------------------------------------------------------------------- */

/* "<requests>(<tokens>": what vLLM writes of either kind; newer versions go on after the tokens. */
static const char *counts_of(const char *text, uint64_t *requests, uint64_t *tokens)
{
    char *end;

    if (!isdigit((unsigned char)*text))
        return NULL;
    *requests = strtoull(text, &end, 10);
    if (*end != '(' || !isdigit((unsigned char)end[1]))
        return NULL;
    *tokens = strtoull(end + 1, &end, 10);
    return strchr(end, ')');
}

static void read_counts(const char *name, metric_pass *p)
{
    static const char generation[] = ")_generation_";
    const char *at = metric_begins(name, METRIC_VLLM_PREFIX)
                         ? counts_of(name + strlen(METRIC_VLLM_PREFIX), &p->n_context, &p->context_tokens)
                         : NULL;

    p->counted = at && metric_begins(at, generation) &&
                 counts_of(at + sizeof generation - 1, &p->n_generation, &p->generated_tokens);
}

METRIC_COMPARE(by_start, metric_step, {x->span.start, y->span.start}, {y->span.end, x->span.end})

static void passes_of(const metric_view *v, const marker *m, bool compat, dse_arena *a, metric_passes *out)
{
    metric_steps s;

    *out = (metric_passes){0, NULL};
    if (!(m->kinds & METRIC_ON(v->rank->kind)))
        return;
    s = metric_marked_steps(v->rank, compat ? m->compat : m->mark, a);
    for (uint32_t i = 0; i < s.n; i++)
        s.step[i].lane = 0; /* a pass within another is a part of it, on whatever thread */
    if (compat) {
        qsort(s.step, s.n, sizeof *s.step, by_start);
    } else {
        metric_steps_keep_outermost(&s);
        metric_steps_drop_polls(&s, v, a);
    }
    *out = (metric_passes){s.n, DSE_ARENA_NEW(a, metric_pass, s.n)};
    for (uint32_t i = 0; i < s.n; i++) {
        out->pass[i] = (metric_pass){.dur_ps = s.step[i].span.end - s.step[i].span.start};
        read_counts(METRIC_TEXT_OF(v->rank, &v->rank->event[s.step[i].number]), &out->pass[i]);
    }
}

void metric_passes_of(const metric_context *x, metric_passes **by_rank, const char **name)
{
    bool any = false;

    *name = NULL;
    *by_rank = DSE_ARENA_NEW(x->arena, metric_passes, x->n_views);
    for (size_t m = 0; m < N_MARKERS && !any; m++) {
        for (uint32_t i = 0; i < x->n_views; i++) {
            passes_of(&x->view[i], &markers[m], x->options->compat, x->arena, &(*by_rank)[i]);
            any = any || (*by_rank)[i].n;
        }
        *name = any ? markers[m].name : NULL;
    }
}

/* With counts: a prompt in chunks takes several passes that generate nothing, and the first token comes out
 * of the last of them; if nothing at all is generated, each pass is a prompt of its own. Without counts the
 * first pass is it. */
uint32_t metric_passes_prefill(const metric_passes *p)
{
    uint32_t n = 0;

    if (!p->n || !p->pass[0].counted)
        return p->n != 0;
    if (p->pass[0].n_generation)
        return p->pass[0].n_context != 0;
    while (n < p->n && !p->pass[n].n_generation)
        n++;
    return n == p->n ? 1 : n;
}

/* ---- TTFT and TPOT ---------------------------------------------------------------------------- */

/* Mean over ranks of the time of their passes: the sum of the first, or the mean of the others, the last of
 * which is left out where there are more than two. The original takes the first pass alone for prefill. */
static double mean_of(const metric_context *x, const metric_passes *by_rank, bool first)
{
    double sum = 0;
    uint32_t ranks = 0;

    for (uint32_t i = 0; i < x->n_views; i++) {
        const metric_passes *p = &by_rank[i];
        uint32_t prefill = x->options->compat ? p->n != 0 : metric_passes_prefill(p), end = p->n;
        double time = 0;

        end -= end > 2 && end - 1 > prefill;
        for (uint32_t k = first ? 0 : prefill; k < (first ? prefill : end); k++)
            time += (double)p->pass[k].dur_ps;
        if (first ? !prefill : end <= prefill)
            continue;
        sum += first ? time : time / (end - prefill);
        ranks++;
    }
    return ranks ? sum / ranks / TRACE_PS_PER_S : NAN;
}

dse_status metric_latency_of(const metric_context *x, metric_latency *out, dse_error *err)
{
    const char *path = x->record->path ? x->record->path : x->record->rank[0].path;
    trace_benchmark b = {0};
    dse_status st = path ? trace_benchmark_load(path, x->arena, &b, err) : DSE_OK;
    metric_passes *by_rank;

    *out = (metric_latency){b.ttft_s,
                            b.tpot_s,
                            b.output_tokens_per_s,
                            "benchmark",
                            b.path,
                            "the benchmark's record has no time to the first token",
                            "the benchmark's record has no time per output token"};
    if (st != DSE_OK || b.found)
        return st;
    *out = (metric_latency){.output_tokens_per_s = NAN,
                            .source = "trace",
                            .no_ttft = "the recording begins in decode: its first pass has no prompt",
                            .no_tpot = "there is no pass after the first token"};
    metric_passes_of(x, &by_rank, &out->from);
    if (!out->from)
        return metric_absent(err,
                             "there is neither a benchmark's record beside the trace nor a marker of forward "
                             "passes in it (execute_context_*, run_batch, or the engine core's steps)");
    out->ttft_s = mean_of(x, by_rank, true);
    out->tpot_s = mean_of(x, by_rank, false);
    return DSE_OK;
}

/* The first token's latency or that of the others, as the row says. */
typedef struct {
    const char *key;
    bool first;
} latency_rule;

/* The original tool reads the trace only. */
static dse_status compat_latency_of(const metric_context *x, metric_latency *out, dse_error *err)
{
    static const char few[] =
        "there are too few forward markers (execute_context_*, run_batch, " METRIC_ENGINE_LINE ")";
    metric_passes *by_rank;

    *out = (metric_latency){.no_ttft = few, .no_tpot = few};
    if (!x->card || x->card->phase != TRACE_PHASE_INFERENCE)
        return metric_absent(err, "the workload card does not say that the phase is inference");
    metric_passes_of(x, &by_rank, &out->from);
    out->ttft_s = mean_of(x, by_rank, true);
    out->tpot_s = mean_of(x, by_rank, false);
    return DSE_OK;
}

static dse_status latency(const metric_context *x, metric_value *out, dse_error *err)
{
    const latency_rule *rule = x->row->rule;
    metric_latency l = {0};
    dse_status st;
    double v;

    if (!rule->first && x->card && x->card->output_len != TRACE_CARD_NONE && x->card->output_len <= 1)
        return metric_absent(err, "the card's output_len is %lld: there is no token after the first",
                             (long long)x->card->output_len);
    st = (x->options->compat ? compat_latency_of : metric_latency_of)(x, &l, err);
    if (st != DSE_OK)
        return st;
    v = rule->first ? l.ttft_s : l.tpot_s;
    if (isnan(v))
        return metric_absent(err, "%s", rule->first ? l.no_ttft : l.no_tpot);
    metric_put_number(out, rule->key, v);
    if (l.source) {
        metric_put_text(out, "source", l.source);
        metric_put_text(out, strcmp(l.source, "trace") == 0 ? "marker" : "file", l.from);
    }
    return DSE_OK;
}

/* lower "_group_6": what the leaderboard calls another group's tool of the same. */
#define ROW(id, lower, of_first, text)                                                                       \
    METRIC_ROW(id, "kineto", "s", METRIC_ON_GPU | METRIC_ON(TRACE_XLA) | METRIC_ON_NONE,                     \
               METRIC_NEEDS_INFERENCE, text),                                                                \
        .compute = latency, .compat = latency, .headline = (lower), .alias = lower "|" lower "_group_6",     \
        METRIC_RULE(latency_rule, lower, of_first)

static const metric rows[] = {
    {ROW("TTFT", "ttft", true,
         "inference: time to the first token, of a benchmark's record beside the trace, else of the "
         "first forward passes")},
    {ROW("TPOT", "tpot", false,
         "inference: time per output token after the first, of a benchmark's record, else of the "
         "forward passes")},
};

METRIC_FAMILY(latency);
