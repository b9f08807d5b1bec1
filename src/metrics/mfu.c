/* Model FLOPs utilisation: what the model's arithmetic needs, over what the devices could do in that time.
 *
 * A token costs 6(N - E) + 12 L H Q S in training and 2(N - E) + 4 L H Q S in inference: N parameters that
 * are active, E of embeddings, L layers, Q heads of H, S tokens to attend to. That is full attention; causal
 * attention needs half of the second term (--attention causal). In inference S and the tokens of a pass are
 * its own: a prefill has the prompt's, a decode one a sequence, and the two are reported apart. Source: spec
 * of the metrics, section 4.1. */
#include "metrics/latency.h"
#include "metrics/metric.h"
#include "metrics/numbers.h"
#include "metrics/peak.h"
#include "metrics/pick.h"
#include "metrics/steps.h"
#include "trace/sidefiles.h"

#include <math.h>

#define RECORD_DEPTH 8 /* of folders below the trace's that are searched */

/* ---- the card ------------------------------------------------------------------------------------ */

static double parameters(const trace_card *c)
{
    double n = isnan(c->num_params_active) ? c->num_params : c->num_params_active;

    return n - (isnan(c->num_params_embedding) ? 0 : c->num_params_embedding);
}

static double token_flops(const trace_card *c, bool training, double attended, bool causal)
{
    double attention = (double)c->num_layers * (double)c->head_dim * (double)c->num_heads * attended;

    return training ? 6 * parameters(c) + 12 * attention / (causal ? 2 : 1)
                    : 2 * parameters(c) + 4 * attention / (causal ? 2 : 1);
}

static dse_status lacks(const char *key, dse_error *err)
{
    return metric_absent(err, "the workload card does not give workload.data.%s", key);
}

/* ---- what ran ------------------------------------------------------------------------------------ */

/* Tokens that went through the model in some time. */
typedef struct {
    double seconds, tokens, flops_per_token;
} work;

static double pct(const work *w, double peak)
{
    return 100 * w->flops_per_token * w->tokens / w->seconds / peak;
}

static void put_work(const char *name, const work *w, double peak, metric_value *out)
{
    metric_value *part;

    if (!(w->seconds > 0) || !(w->tokens > 0)) {
        metric_put_absent(out, name, "the trace has no such pass");
        return;
    }
    part = metric_put_object(out, name);
    metric_put_number(part, "mfu", pct(w, peak));
    metric_put_number(part, "time_s", w->seconds);
    metric_put_number(part, "tokens", w->tokens);
    metric_put_number(part, "flops_per_token", w->flops_per_token);
}

static dse_status train(const metric_context *x, double peak, metric_value *out, dse_error *err)
{
    const trace_card *c = x->card;
    work w;

    if (c->batch_size == TRACE_CARD_NONE || c->seq_len == TRACE_CARD_NONE)
        return lacks(c->batch_size == TRACE_CARD_NONE ? "batch_size" : "seq_len", err);
    w = (work){metric_step_mean_s(x, x->options->trim), (double)c->batch_size * (double)c->seq_len,
               token_flops(c, true, (double)c->seq_len, x->options->causal)};
    if (!(w.seconds > 0))
        return metric_absent(err, METRIC_NO_STEPS);
    metric_put_number(out, "mfu", pct(&w, peak));
    metric_put_number(out, "step_time_s", w.seconds);
    metric_put_number(out, "tokens_per_s", w.tokens / w.seconds);
    metric_put_number(out, "flops_per_token", w.flops_per_token);
    return DSE_OK;
}

static double given(int64_t v, int64_t otherwise)
{
    return v != TRACE_CARD_NONE ? (double)v : otherwise != TRACE_CARD_NONE ? (double)otherwise : NAN;
}

/* Sums over ranks of prefill and decode passes, as means over ranks. vLLM writes the tokens of each pass of
 * its own engine, and each replica has an engine; without them a prefill has the batch's prompts, and a
 * decode has one token per sequence. */
static void add_passes(const metric_context *x, const metric_passes *by_rank, work *prefill, work *decode)
{
    const trace_card *c = x->card;
    double prompt = given(c->input_len, c->seq_len), batch = given(c->batch_size, TRACE_CARD_NONE);
    double replicas =
        (c->dp_shard > 0 ? (double)c->dp_shard : 1) * (c->dp_replicate > 0 ? (double)c->dp_replicate : 1);
    uint32_t ranks = 0;

    for (uint32_t i = 0; i < x->n_views; i++)
        ranks += by_rank[i].n > 0;
    for (uint32_t i = 0; i < x->n_views; i++) {
        uint32_t first = metric_passes_prefill(&by_rank[i]), n = by_rank[i].n;

        n -= n > 2 && n - 1 > first; /* as TPOT leaves out the last */
        for (uint32_t p = 0; p < n; p++) {
            const metric_pass *pass = &by_rank[i].pass[p];
            bool is_prefill = pass->counted ? pass->n_context > 0 : p < first;
            work *w = is_prefill ? prefill : decode;

            w->seconds += (double)pass->dur_ps / TRACE_PS_PER_S / ranks;
            w->tokens += pass->counted
                             ? (double)(pass->context_tokens + pass->generated_tokens) * replicas / ranks
                             : batch * (is_prefill ? prompt : 1) / ranks;
        }
    }
}

/* Without markers each step counts as a pass, which must be a prefill because nothing is generated. */
static dse_status add_steps(const metric_context *x, work *prefill, dse_error *err)
{
    const trace_card *c = x->card;

    if (c->output_len != TRACE_CARD_NONE && c->output_len > 1)
        return metric_absent(
            err, "nothing tells prefill from decode: there are no forward markers (execute_context_*, "
                 "run_batch)");
    *prefill = (work){.seconds = metric_step_mean_s(x, x->options->trim),
                      .tokens = given(c->batch_size, TRACE_CARD_NONE) * given(c->input_len, c->seq_len)};
    return prefill->seconds > 0 ? DSE_OK : metric_absent(err, METRIC_NO_STEPS);
}

/* A prefill attends to its prompt; a decode to the prompt and, in the mean, half of the output. */
static dse_status infer(const metric_context *x, double peak, metric_value *out, dse_error *err)
{
    const trace_card *c = x->card;
    double prompt = given(c->input_len, c->seq_len), context = given(c->seq_len, c->input_len), seconds;
    work prefill = {0}, decode = {0};
    metric_passes *by_rank;
    const char *marker;
    dse_status st;

    metric_passes_of(x, &by_rank, &marker);
    if (marker)
        add_passes(x, by_rank, &prefill, &decode);
    else if ((st = add_steps(x, &prefill, err)) != DSE_OK)
        return st;
    if (isnan(prefill.tokens + decode.tokens) && c->batch_size == TRACE_CARD_NONE)
        return lacks("batch_size", err);
    if (isnan(prefill.tokens + decode.tokens) || isnan(prompt))
        return lacks("input_len (or seq_len)", err);
    if (c->input_len != TRACE_CARD_NONE && c->output_len != TRACE_CARD_NONE)
        context = (double)c->input_len + (double)c->output_len / 2;
    prefill.flops_per_token = token_flops(c, false, prompt, x->options->causal);
    decode.flops_per_token = token_flops(c, false, context, false);
    seconds = prefill.seconds + decode.seconds;
    metric_put_ratio(
        out, "mfu",
        100 * (prefill.flops_per_token * prefill.tokens + decode.flops_per_token * decode.tokens) / peak,
        seconds, "the passes last no time");
    put_work("prefill", &prefill, peak, out);
    put_work("decode", &decode, peak, out);
    metric_put_text(out, "marker", marker ? marker : METRIC_STEP_PREFIX);
    return DSE_OK;
}

/* ---- what XLA counted ----------------------------------------------------------------------------- */

/* Sum of model_flops, over the union of the times of events that have it; all ranks. NaN: none has. */
static double active_tflops(const metric_context *x)
{
    double flops = 0;
    int64_t time = 0;

    for (uint32_t i = 0; i < x->n_views; i++) {
        const trace_rank *r = x->view[i].rank;
        metric_span *span = DSE_ARENA_NEW(metric_scratch(x), metric_span, r->n_events);
        metric_spans busy;
        size_t n = 0;

        for (size_t e = 0; e < r->n_events; e++) {
            const trace_event *ev = &r->event[e];

            if (ev->args == DSE_NONE || !(r->args[ev->args].model_flops > 0))
                continue;
            flops += r->args[ev->args].model_flops;
            if (ev->dur_ps > 0)
                span[n++] = (metric_span){ev->start_ps, metric_end(ev)};
        }
        busy = metric_spans_merge_any(span, n);
        time += metric_spans_length(&busy);
    }
    return time > 0 ? flops / 1e12 / ((double)time / TRACE_PS_PER_S) : NAN;
}

static void put_device(const trace_card *c, double tflops, metric_value *out)
{
    metric_put_text(out, "device", c->xpu_model);
    metric_put_text(out, "precision", c->precision);
    metric_put_number(out, "peak_tflops", tflops);
    metric_put_integer(out, "num_devices", c->total_count);
}

static dse_status mfu(const metric_context *x, metric_value *out, dse_error *err)
{
    const trace_card *c = x->card;
    bool inference = metric_phase_of(x) == TRACE_PHASE_INFERENCE;
    double tflops, peak;
    dse_status st = metric_peak_tflops(c->xpu_model, c->precision, &tflops, err);

    if (st != DSE_OK)
        return st;
    peak = tflops * 1e12 * (double)c->total_count;
    if ((st = inference ? infer(x, peak, out, err) : train(x, peak, out, err)) != DSE_OK)
        return st;
    put_device(c, tflops, out);
    metric_put_text(out, "attention", x->options->causal ? "causal" : "full");
    return DSE_OK;
}

/* The peak of a device by the original tool's table. */
static dse_status compat_device(const trace_card *c, double *tflops, dse_error *err)
{
    const char *known = "^nvidia_a100$|^nvidia_h100$|^tpu_v6e$";

    if (c && c->xpu_model && metric_says(c->xpu_model, known))
        return metric_peak_tflops(c->xpu_model, "bf16", tflops, err);
    return metric_absent(err, "the original tool knows nvidia_a100, nvidia_h100 and tpu_v6e only, by "
                              "the workload card's xpu_spec.model");
}

/* The FLOP/s that XLA counted while it computed, over the devices' peak. */
static dse_status mfu_xla(const metric_context *x, metric_value *out, dse_error *err)
{
    const bool compat = x->options->compat;
    const trace_card *c = x->card;
    double peak, tflops;
    dse_status st =
        compat ? compat_device(c, &peak, err) : metric_peak_tflops(c->xpu_model, c->precision, &peak, err);

    if (st != DSE_OK)
        return st;
    if (c->total_count == TRACE_CARD_NONE)
        return metric_absent(err, "the workload card does not give workload.hardware.xpu_spec.total_count");
    tflops = active_tflops(x);
    if (isnan(tflops))
        return metric_absent(err, "no event has model_flops");
    if (compat) {
        metric_put_number(out, "mfu", metric_round(tflops / (peak * (double)c->total_count) * 100, 4));
        return DSE_OK;
    }
    metric_put_number(out, "mfu", 100 * tflops / peak / (double)c->total_count);
    metric_put_number(out, "active_tflops", tflops);
    put_device(c, peak, out);
    return DSE_OK;
}

/* ---- as the original tool has it -------------------------------------------------------------------- */

/* avg_latency of the first "*.latency.json" in the folder of the trace or below it, which vLLM's latency
 * benchmark writes; NaN if there is none. Files of another format are skipped, as the tool does. */
static dse_status latency_of_record(const char *folder, int depth, dse_arena *a, double *out, dse_error *err)
{
    trace_paths files = {0}, below = {0};
    dse_status st = trace_paths_add(&files, folder, "*.latency.json", false, a, err);

    *out = NAN;
    for (size_t i = 0; st == DSE_OK && isnan(*out) && i < files.n; i++) {
        cfg_doc doc;

        if (cfg_load(files.path[i], a, &doc, NULL) == DSE_OK && doc.root && doc.root->kind == CFG_MAP)
            trace_json_number(&doc, doc.root, "avg_latency", out, NULL);
    }
    if (st == DSE_OK && depth < RECORD_DEPTH)
        st = trace_paths_add(&below, folder, "*", true, a, err);
    for (size_t i = 0; st == DSE_OK && isnan(*out) && i < below.n; i++)
        st = latency_of_record(below.path[i], depth + 1, a, out, err);
    return st;
}

/* The mean time of the markers ProfilerStep#<number> in the lower-case category, by number, without the first
 * and the last if there are more than two; mean over the ranks that have any. */
static const metric_pick annotations = METRIC_PICK(0, {0, .words = "user_annotation"});

/* That record's latency, else the mean step. */
static dse_status compat_seconds(const metric_context *x, double *out, dse_error *err)
{
    const char *path = x->record->path ? x->record->path : x->record->rank[0].path;
    const char *folder = path ? trace_folder_of(path, x->arena) : NULL;
    dse_status st = folder ? latency_of_record(folder, 0, x->arena, out, err) : DSE_OK;
    double sum = 0;
    uint32_t ranks = 0;

    if (st != DSE_OK || (folder && !isnan(*out)))
        return st;
    for (const metric_view *v = x->view; v < x->view + x->n_views; v++) {
        const metric_picker annotation = metric_picker_of(v->rank, &annotations, x->arena);
        bool literal = false;

        for (int w = 0; w < 256; w++)
            literal = literal || annotation.by_word[w];
        if (!literal || !v->n_steps)
            continue;
        sum += metric_step_mean_ps(v, true);
        ranks++;
    }
    *out = sum / ranks / TRACE_PS_PER_S;
    return ranks ? DSE_OK : metric_absent(err, METRIC_NO_STEPS);
}

static int64_t or_one(int64_t v) { return v == TRACE_CARD_NONE || v == 0 ? 1 : v; }

static dse_status mfu_compat(const metric_context *x, metric_value *out, dse_error *err)
{
    const trace_card *c = x->card;
    double peak, step, flops, v;
    dse_status st = compat_device(c, &peak, err);

    if (st != DSE_OK)
        return st;
    if (isnan(c->num_params) || c->num_layers == TRACE_CARD_NONE || c->head_dim == TRACE_CARD_NONE ||
        c->num_heads == TRACE_CARD_NONE)
        return metric_absent(
            err, "the workload card's model_arch lacks num_params, num_layers, head_dim or num_heads");
    if ((st = metric_original_batch(x, err)) != DSE_OK || (st = compat_seconds(x, &step, err)) != DSE_OK)
        return st;
    flops = token_flops(c, c->phase != TRACE_PHASE_INFERENCE, (double)or_one(c->seq_len), false);
    v = flops * ((double)or_one(c->batch_size) * (double)or_one(c->seq_len) / step);
    metric_put_number(out, "mfu", metric_round(v / (peak * 1e12 * (double)or_one(c->total_count)) * 100, 4));
    return DSE_OK;
}

static const metric_entry entries[] = {{"mfu", "%", METRIC_HIGHER, METRIC_STEP_TOLERANCE}};

static const metric rows[] = {
    {METRIC_ROW("mfu", "kineto", "%", METRIC_ON_GPU, METRIC_NEEDS_MODEL,
                "model FLOPs utilisation: the model's arithmetic over the devices' peak; inference: prefill "
                "and decode apart"),
     .compute = mfu, METRIC_ENTRIES(entries), .compat = mfu_compat,
     .compat_kinds = METRIC_ON_HOST, /* the original does not read databases */
     .headline = "mfu"},
    {METRIC_ROW(
         "mfu", "tpu", "%", METRIC_ON(TRACE_XLA), METRIC_NEEDS_CARD,
         "model FLOPs utilisation: the FLOPs that XLA counts while it computes, over the devices' peak"),
     .compute = mfu_xla, METRIC_ENTRIES(entries), .compat = mfu_xla, .headline = "mfu"},
};

METRIC_FAMILY(mfu);
