/* Megatron-LM, training/theoretical_memory_usage.py: the first pipeline stage.
 *
 *   weights           the formula knows no biases and no positions, and each stage a part of the last norm; of
 *                     models with experts, split over tp, ep and etp, these alone
 *   activations, SP   with selective recomputation (18 h + 4 ffn) a token and layer, of Korthikanti et al.
 *                     2022 (arXiv 2205.05198) for a GPT: no gated activation, no grouped queries, no statistics of
 *                     norms; numbers of tokens are split over tp
 *   activations       without SP: (10 + 24/tp) h, the same for ffn = 4 h, and 5 % for anything else; logits
 *                     in 16 bits
 *
 * Each of these is a term below. Micro-batches in flight are counted from the schedule; the formula has p, or
 * p (1 + (p-1)/(p v)), which is the same if there are enough. */
#include "memory/references.h"

#include <math.h>
#include <string.h>

typedef struct {
    dimensions d;
    bool is_gpt;
    double tp, pp, vp, layers, tokens; /* layers of a rank; tokens of a micro-batch */
} subject;

static bool has_experts(const json_t *args) { return whole_of(args, "num_experts") > 0; }

static const char *why_not(const json_t *args)
{
    double size = number_of(args, "kv_channels") * number_of(args, "num_attention_heads");
    uint32_t vp = whole_of(args, "virtual_pipeline_model_parallel_size");
    uint32_t stages = whole_of(args, "pipeline_model_parallel_size") * (vp ? vp : 1);

    if (flag_of(args, "multi_latent_attention"))
        return "skipped: multi-latent attention, which the formula splits over tp";
    if (has_experts(args) && flag_of(args, "use_distributed_optimizer"))
        return "skipped: experts whose optimizer the formula shards over all of dp";
    if (!has_experts(args) && size != number_of(args, "hidden_size"))
        return "skipped: heads that are not hidden/heads wide";
    if (whole_of(args, "num_layers") % stages)
        return "skipped: layers that do not divide over the chunks";
    return NULL;
}

static subject subject_of(const json_t *args)
{
    subject s = {.tp = number_of(args, "tensor_model_parallel_size"),
                 .pp = number_of(args, "pipeline_model_parallel_size"),
                 .vp = number_of(args, "virtual_pipeline_model_parallel_size"),
                 .is_gpt = !flag_of(args, "swiglu")};

    s.d = (dimensions){.hidden = whole_of(args, "hidden_size"),
                       .ffn = whole_of(args, "ffn_hidden_size"),
                       .heads = whole_of(args, "num_attention_heads"),
                       .vocab = whole_of(args, "padded_vocab_size"),
                       .sequence = whole_of(args, "seq_length"),
                       .layers = whole_of(args, "num_layers"),
                       .is_tied = !flag_of(args, "untie_embeddings_and_output_weights")};
    s.d.kv_heads = flag_of(args, "group_query_attention") ? whole_of(args, "num_query_groups") : s.d.heads;
    s.d.head_size = s.d.hidden / s.d.heads;
    if (has_experts(args)) {
        s.d.n_experts = whole_of(args, "num_experts");
        s.d.top_k = whole_of(args, "moe_router_topk");
        s.d.ffn = whole_of(args, "moe_ffn_hidden_size");
        s.d.head_size = whole_of(args, "kv_channels");
        s.d.is_gated = true;
    }
    s.vp = s.vp > 0 ? s.vp : 1;
    s.layers = s.d.layers / s.pp;
    s.tokens = number_of(args, "micro_batch_size") * (double)s.d.sequence;
    return s;
}

static step_options options_of(const json_t *args, const subject *s)
{
    step_options o = plain_options();

    o.tp = (uint32_t)s->tp, o.pp = (uint32_t)s->pp, o.vp = (uint32_t)s->vp;
    o.dp = whole_of(args, "data_parallel_size");
    o.zero = flag_of(args, "use_distributed_optimizer") ? 1 : 0;
    o.micro_batch = whole_of(args, "micro_batch_size");
    o.recompute = STEP_RECOMPUTE_SELECTIVE;
    o.gathers_again = o.sequence_parallel = true;
    o.fused_activation = true;
    if (has_experts(args)) {
        o.ep = whole_of(args, "expert_model_parallel_size");
        o.etp = whole_of(args, "expert_tensor_parallel_size");
    }
    return o;
}

/* ---- weights ----------------------------------------------------------------------------------- */

/* Elements of the first stage that the formula lacks. */
static double elements_more(const subject *s)
{
    double h = (double)s->d.hidden, ffn = (double)s->d.ffn, split = 1 / s->tp;
    double last = s->is_gpt ? 2 * h : h;
    double biases = s->is_gpt ? (3 * h + ffn) * split + 2 * h : 0; /* row-parallel ones are whole */
    double more = s->layers * biases;

    more += s->is_gpt ? (double)s->d.sequence * h : 0;
    more -= s->pp > 1 ? last / s->pp : 0; /* the last norm is on the last stage */
    return more;
}

static void check_weights(const json_t *row, const subject *s, const step_options *o,
                          const step_rank_memory *r, tally *t)
{
    double of_element = o->zero ? 6 + 12.0 / o->dp : 18;
    double ours = (double)(r->held[STEP_HOLDS_PARAMETERS] + r->held[STEP_HOLDS_GRADIENTS] +
                           r->held[STEP_HOLDS_OPTIMIZER]);

    same(t, text_of(row, "id"), "weights", ours,
         number_of(row, "weight_and_optimizer_bytes") + of_element * elements_more(s), 12);
    count(t, s->is_gpt ? "weights: + biases and positions" : "weights: equal but for the last norm");
}

/* ---- activations ------------------------------------------------------------------------------- */

typedef struct {
    double layer, embedding, head; /* bytes of a micro-batch: of a layer, ... */
} terms;

/* The formula's own. */
static terms their_terms(const subject *s, bool split)
{
    double h = (double)s->d.hidden, n = s->tokens, v = (double)s->d.vocab;

    if (split)
        return (terms){n * (18 * h + 4 * (double)s->d.ffn) / s->tp, n * (8 + h) / s->tp,
                       n * 4 * (h + v) / s->tp};
    return (terms){n * h * (10 + 24 / s->tp), n * (8 + h), n * 2 * (v / s->tp + h)};
}

/* Ours, as a formula. `split`: the tokens of what tensor parallelism leaves whole. */
static terms our_terms(const subject *s, bool split)
{
    double h = (double)s->d.hidden, ffn = (double)s->d.ffn, n = s->tokens, whole = split ? n / s->tp : n;
    double kv = fmax((double)s->d.kv_heads, s->tp) * (double)s->d.head_size;
    terms out = {.head = whole * 4 * h + n * (4 * (double)s->d.vocab / s->tp + 8)}; /* 8: labels */

    if (s->is_gpt) {
        out.layer = whole * (10 * h + 16) + n * (8 * h + 4 * ffn) / s->tp; /* 16: statistics of two norms */
        out.embedding = n * 8 + whole * h;
        out.head += whole * 8;
    } else { /* no dropout, grouped queries, a gated activation */
        out.layer = whole * (8 * h + 8) + n * (4 * h + 4 * kv + 6 * ffn) / s->tp;
        out.embedding = n * 8;
        out.head += whole * 4;
    }
    return out;
}

/* The most that live micro-batches keep on the first rank. */
static double most_kept(const subject *s, const terms *k, const sched_plan *plan)
{
    double now = 0, most = 0;

    for (uint32_t i = 0; i < plan->first[1]; i++) {
        const sched_action *a = &plan->action[i];
        double bytes = k->layer * s->layers / s->vp;

        bytes += a->stage == 0 ? k->embedding : 0;
        bytes += a->stage + 1u == plan->n_stages ? k->head : 0;
        now += a->kind == SCHED_F ? bytes : -bytes;
        most = now > most ? now : most;
    }
    return most;
}

/* The formula as it is, from its terms: that it is understood. */
static double formula(const subject *s, const terms *k, double m)
{
    double sum = k->layer * s->d.layers + k->embedding * s->pp;

    if (s->vp > 1)
        sum *= 1 + (s->pp - 1) / (s->pp * s->vp);
    else if (s->pp > 1 && m > 0 && m < s->pp)
        sum *= m / s->pp;
    return sum + (s->pp > 1 ? 0 : k->head);
}

static void check_activations(const json_t *row, const subject *s, const step_model *model, step_options *o,
                              bool split, dse_arena *a, tally *t)
{
    terms theirs = their_terms(s, split), ours = our_terms(s, split);
    double m = number_of(row, "num_microbatches"), more;
    const char *key = split ? "activation_bytes_sp_selective" : "activation_bytes_without_sp";
    step_rank_memory r;
    sched_plan plan;

    if (split && (uint64_t)s->tokens % (uint64_t)s->tp) {
        count(t, "skipped: tokens that tp does not divide");
        return;
    }
    o->sequence_parallel = split;
    o->n_micro_batches = m > 0 ? (uint32_t)m : 4 * o->pp;
    if (!run_memory(model, o, 0, a, &plan, &r)) {
        count(t, "skipped: micro-batches that the schedule refuses");
        return;
    }
    same(t, text_of(row, "id"), key, formula(s, &theirs, m) * (split ? 1 : 1.05), number_of(row, key), 1);
    same(t, text_of(row, "id"), "activations of ours", (double)r.kept, most_kept(s, &ours, &plan), 8);
    more = most_kept(s, &theirs, &plan);
    if (more >= 0.999 * formula(s, &theirs, m) && more <= 1.001 * formula(s, &theirs, m))
        count(t, "activations: as many in flight as the formula has");
    else
        count(t, "activations: fewer in flight, as the schedule has them");
    /* What is left of a layer: named, and exact. */
    more = ours.layer - theirs.layer;
    if (s->is_gpt && split) {
        same(t, text_of(row, "id"), "a layer's statistics of norms", more, 16 * s->tokens / s->tp, 1);
        count(t, "a GPT's layer: + 16 bytes a token, statistics of norms");
    } else if (s->is_gpt) {
        same(t, text_of(row, "id"), "a layer's statistics of norms, and ffn other than 4 h", more,
             s->tokens * (16 + 4 * ((double)s->d.ffn - 4 * (double)s->d.hidden) / s->tp), 1);
        count(t, "a GPT's layer: + 16 bytes a token, statistics of norms");
    } else {
        double h = (double)s->d.hidden, ffn = (double)s->d.ffn;
        double kv =
            fmax((double)s->d.kv_heads, s->tp) * (double)s->d.head_size;
        double of_token = 2 * ffn - 2 * h - 4 * (h - kv); /* the gate; two masks; keys and values */

        if (!split) /* which are not split; and ffn other than 4 h */
            of_token = 2 * ffn + 4 * (ffn - 4 * h) - 2 * h * s->tp - 4 * (h - kv);
        same(t, text_of(row, "id"), "a Llama's layer", more,
             s->tokens * (of_token / s->tp + (split ? 8 / s->tp : 8)), 1);
        count(t, "a Llama's layer: + the gate and statistics of norms, - dropout and grouped queries");
    }
}

void check_megatron(const json_t *row, const json_t *inputs, tally *t)
{
    const json_t *args = json_object_get(row, "args");
    const char *skipped = why_not(args);
    dse_arena a = {0};
    step_model m;
    subject s;
    step_options o;
    step_rank_memory r;
    sched_plan plan;

    (void)inputs;
    if (skipped) {
        count(t, skipped);
        return;
    }
    s = subject_of(args);
    o = options_of(args, &s);
    m = make_model(has_experts(args) ? NULL : s.is_gpt ? "gpt.yaml" : "llama.yaml", &s.d, &a);
    o.n_micro_batches = 4 * o.pp; /* parameters do not depend on it */
    if (run_memory(&m, &o, 0, &a, &plan, &r))
        check_weights(row, &s, &o, &r, t);
    if (has_experts(args)) { /* whose activations the formula does not know */
        dse_arena_free(&a);
        return;
    }
    check_activations(row, &s, &m, &o, true, &a, t);
    check_activations(row, &s, &m, &o, false, &a, t);
    dse_arena_free(&a);
}
