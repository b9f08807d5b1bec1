/* How evenly tokens are spread over the experts of a mixture of experts. Source: spec of the metrics, section
 * 4.4; its per-device form, which upstream planned, puts expert e of E on device floor(e * D / E) of D = ep
 * of the card. */
#include "trace/experts.h"

#include "metrics/metric.h"
#include "metrics/numbers.h"

#include <math.h>

typedef struct {
    double total, largest, smallest; /* smallest above 0 */
    double entropy;                  /* bits */
    double deviation, mean;          /* of the whole population */
} spread;

/* n > 0 loads whose sum is above 0. */
static spread spread_of(const double *load, size_t n)
{
    spread s = {.smallest = INFINITY};

    for (size_t i = 0; i < n; i++) {
        s.total += load[i];
        s.largest = load[i] > s.largest ? load[i] : s.largest;
        if (load[i] > 0 && load[i] < s.smallest)
            s.smallest = load[i];
    }
    s.mean = s.total / (double)n;
    for (size_t i = 0; i < n; i++) {
        double p = load[i] / s.total, d = load[i] - s.mean;

        s.entropy -= p > 0 ? p * log2(p) : 0;
        s.deviation += d * d;
    }
    s.deviation = sqrt(s.deviation / (double)n);
    return s;
}

static void put_devices(const metric_context *x, const trace_experts *e, metric_value *out)
{
    const int64_t n = x->card ? x->card->ep : TRACE_CARD_NONE;
    const char *why = NULL;
    metric_value *v, *totals;
    double *load;
    spread s;

    if (!x->card)
        why = "there is no workload card to say over how many devices (ep) the experts are spread";
    else if (n == TRACE_CARD_NONE || n < 1)
        why = "the workload card does not give Model-executor.model_plan_parallelization.ep";
    else if (n > e->n)
        why = "the workload card's ep is larger than the number of experts";
    if (why) {
        metric_put_absent(out, "per_device", why);
        return;
    }
    load = DSE_ARENA_NEW(x->arena, double, (size_t)n);
    for (uint32_t i = 0; i < e->n; i++)
        load[(uint64_t)i * (uint64_t)n / e->n] += e->load[i];
    s = spread_of(load, (size_t)n);
    v = metric_put_object(out, "per_device");
    metric_put_integer(v, "num_devices", n);
    metric_put_number(v, "max_mean_ratio", s.largest / s.mean);
    metric_put_number(v, "coefficient_of_variation", s.deviation / s.mean);
    totals = metric_put_list(v, "totals");
    for (int64_t i = 0; i < n; i++)
        metric_put_number(totals, NULL, load[i]);
}

static dse_status assignment(const metric_context *x, metric_value *out, dse_error *err)
{
    metric_value *totals, *shares, *summary;
    trace_experts e;
    spread s;
    dse_status st;

    if (!x->record->path)
        return metric_absent(
            err, "it takes gate logs beside the traces, and a run that was just simulated has no files");
    if ((st = trace_experts_load(x->record->path, x->arena, &e, err)) != DSE_OK)
        return st;
    if (!e.n_files)
        return metric_absent(err,
                             "no profiler sees which expert a token goes to: it takes gate logs, "
                             "<name>gates_logs/gates_logs_<x>/gate_logs_<y>.json, in '%s'",
                             x->record->path);
    if (!e.n)
        return metric_absent(err, "the gate logs in '%s' have no expert_loads", x->record->path);
    s = spread_of(e.load, e.n);
    if (!(s.total > 0))
        return metric_absent(err, "the gate logs in '%s' assign no token to any expert", x->record->path);
    totals = metric_put_list(out, "totals");
    shares = metric_put_list(out, "normalized");
    for (uint32_t i = 0; i < e.n; i++) {
        metric_put_number(totals, NULL, e.load[i]);
        metric_put_number(shares, NULL, e.load[i] / s.total);
    }
    summary = metric_put_object(out, "summary");
    metric_put_number(summary, "entropy", s.entropy);
    metric_put_ratio(summary, "normalized_entropy", s.entropy, log2(e.n),
                     "with one expert there is nothing to spread");
    metric_put_number(summary, "coefficient_of_variation", s.deviation / s.mean);
    metric_put_number(summary, "max_min_ratio", s.largest / s.smallest);
    metric_put_number(summary, "total_tokens", s.total);
    metric_put_integer(summary, "num_experts", e.n);
    metric_put_count(summary, "total_steps", e.n_steps);
    if (e.n_files_without)
        metric_put_count(summary, "files_without_expert_loads", e.n_files_without);
    if (!x->options->compat) /* upstream has no devices */
        put_devices(x, &e, out);
    return DSE_OK;
}

static const metric rows[] = {
    {METRIC_ROW("token_to_expert_assignment", "kineto", "", METRIC_ON_ANY, 0,
                "tokens per expert and their spread (entropy, variation), per device too, from gate logs "
                "beside the trace"),
     .compute = assignment, .compat = assignment},
};

METRIC_FAMILY(experts);
