/* llm-analysis (cli99; LLMAnalysis.training): weights, states and activations of a rank.
 *
 * Their layer has no biases, norms without a mean, and for most models two matrices in the feed-forward
 * network also where it is gated. These terms differ, each of which is a formula below:
 *
 *   gated activation       ours: a third matrix, and its result
 *   norms                  theirs: gradients, and of the last norm all, split over tp; activations in 32
 *                          bits, ours as the others, and 4 bytes a token of statistics
 *   keys and values        theirs: activations as many as queries; ours grouped
 *   fused attention        theirs: two results and 4 numbers a head and token more, in the type of
 *                          activations; ours one 32-bit number a head and token, and seeds
 *   attention not fused    theirs: a mask if there is dropout; ours always
 *   dropout                theirs: none after the feed-forward network
 *   checkpoints            theirs: split over tp also without sequence parallelism
 *   logits                 theirs: in the type of activations; ours in 32 bits, with labels */
#include "memory/references.h"

#include <string.h>

typedef struct {
    const json_t *out, *call;
    const char *id;
    double hidden, ffn, heads, kv_heads, vocab;
    double tp, pp, dp, layers, batch, tokens, sequence;
    double whole; /* tokens as sequence parallelism leaves them */
    double e, weight;
    bool is_gated, counts_gate; /* of its matrices, theirs has three */
    uint32_t zero;
} subject;

static subject subject_of(const json_t *row, const json_t *model)
{
    const json_t *call = json_object_get(row, "call");
    const char *zero = text_of(call, "ds_zero");
    subject s = {.out = json_object_get(row, "out"), .call = call, .id = text_of(row, "id")};

    s.hidden = number_of(model, "hidden_dim"), s.ffn = number_of(model, "ffn_embed_dim");
    s.heads = number_of(model, "n_head"), s.kv_heads = number_of(model, "num_key_value_heads");
    s.vocab = number_of(model, "vocab_size"), s.layers = number_of(model, "num_layers");
    s.tp = number_of(row, "tp"), s.pp = number_of(row, "pp"), s.dp = number_of(row, "dp");
    s.batch = number_of(s.out, "batch_size_per_gpu");
    s.sequence = number_of(s.out, "seq_len");
    s.tokens = s.batch * s.sequence;
    s.whole = s.tokens / number_of(row, "sp");
    s.e = s.weight = strcmp(text_of(row, "dtype"), "w8a8e16") == 0 ? 1 : 2;
    s.is_gated = strcmp(text_of(model, "model_type"), "llama") == 0;
    s.counts_gate = flag_of(model, "mlp_gated_linear_units");
    s.zero = strcmp(zero, "NONE") == 0 ? 0 : (uint32_t)(zero[strlen(zero) - 1] - '0');
    return s;
}

static step_options options_of(const subject *s)
{
    step_options o = plain_options();
    const char *recompute = text_of(s->call, "activation_recomputation");

    o.tp = (uint32_t)s->tp, o.dp = (uint32_t)s->dp, o.zero = s->zero;
    o.micro_batch = (uint32_t)s->batch;
    o.activation_bytes = s->e;
    o.weight_bytes = o.kept_weight_bytes = s->weight;
    o.sequence_parallel = s->whole < s->tokens;
    o.gathers_again = true;
    o.fused_attention = flag_of(s->call, "flash_attn");
    o.fused_activation = true;
    o.recompute = strcmp(recompute, "ATTN_COMPUTE") == 0 ? STEP_RECOMPUTE_SELECTIVE : STEP_RECOMPUTE_NONE;
    if (o.recompute == STEP_RECOMPUTE_SELECTIVE)
        o.fused_attention = false; /* either makes the scores again */
    return o;
}

/* ---- parameters -------------------------------------------------------------------------------- */

static double elements_of(const step_block *b, const char *first, const char *second, uint32_t tp)
{
    double sum = 0;

    for (uint32_t i = 0; i < b->n_parameters; i++) {
        const char *name = b->module[b->parameter[i].module].name;

        if (strcmp(name, first) == 0 || strcmp(name, second) == 0)
            sum += (double)step_parameter_share(&b->parameter[i], (step_split_over){tp, 1, 1});
    }
    return sum;
}

static void check_weights(const subject *s, const step_block *b, tally *t)
{
    uint32_t tp = (uint32_t)s->tp;
    double attention = elements_of(b, "qkv", "projection", tp), mlp = elements_of(b, "fc1", "fc2", tp);
    double norms = elements_of(b, "norm1", "norm2", tp),
           gate = s->is_gated && !s->counts_gate ? s->hidden * s->ffn / s->tp : 0;
    double lacking =
        s->kv_heads < s->tp ? 2 * s->hidden * s->hidden / s->heads * (1 - s->kv_heads / s->tp) : 0;
    double split = s->zero == 3 ? s->dp : 1, layers = s->layers / s->pp;
    uint64_t held[STEP_N_HOLDS], elements, all;
    step_options o = options_of(s);

    if (lacking > 0)
        count(t, "fewer heads of keys and values than tp: theirs has one on each rank");
    count(t, gate > 0 ? "weights: + the third matrix of a gated activation" : "weights: equal");
    same(t, s->id, "weights of attention", attention * s->weight * layers / split,
         number_of(s->out, "weight_memory_attn_per_gpu") - lacking * s->weight * layers / split, 1);
    same(t, s->id, "weights of the feed-forward network", mlp * s->weight * layers / split,
         number_of(s->out, "weight_memory_mlp_per_gpu") + gate * s->weight * layers / split, 1);
    same(t, s->id, "weights of norms", norms * s->weight * layers / split,
         number_of(s->out, "weight_memory_layernorm_per_gpu"), 1);
    same(t, s->id, "a layer, gathered", (attention + mlp + norms) * s->weight,
         number_of(s->out, "unsharded_weight_memory_per_layer") + (gate - lacking) * s->weight, 1);

    /* States of the layers, the embedding and the last norm. */
    elements = (uint64_t)((attention + mlp + norms) * layers + s->hidden * s->vocab / s->tp + s->hidden);
    all = o.zero ? (elements + o.dp - 1) / o.dp : elements;
    step_memory_state(&o, elements, all, held);
    same(t, s->id, "gradients", (double)held[STEP_HOLDS_GRADIENTS],
         number_of(s->out, "gradient_memory_per_gpu") +
             4 * (layers * (gate - lacking + 2 * s->hidden * (1 - 1 / s->tp)) + s->hidden * (1 - 1 / s->tp)) /
                 (s->zero >= 2 ? s->dp : 1),
         16);
    same(t, s->id, "optimizer state", (double)held[STEP_HOLDS_OPTIMIZER],
         number_of(s->out, "optimizer_state_memory_per_gpu") +
             12 * (layers * (gate - lacking) + s->hidden * (1 - 1 / s->tp)) / (s->zero >= 1 ? s->dp : 1),
         24);
}

/* ---- activations ------------------------------------------------------------------------------- */

static double kept(const step_block *b, const step_shape *s, const char *const names[4])
{
    double sum = 0;

    for (uint32_t i = 0; i < b->n; i++)
        for (int k = 0; k < 4; k++)
            if (names[k] && strcmp(b->module[i].name, names[k]) == 0)
                sum += (double)step_module_kept(&b->module[i], s);
    return sum;
}

/* Bytes of a layer that ours has more. */
static double more_of_attention(const subject *s, const step_options *o, tally *t)
{
    double kv = s->kv_heads > s->tp ? s->kv_heads / s->tp : 1, h = s->hidden / s->tp, n = s->tokens,
           heads = s->heads / s->tp;
    double more = s->e * n * (2 * kv * s->hidden / s->heads - 2 * h);
    double mask = s->batch * s->sequence * s->sequence * heads;
    bool drops = flag_of(s->call, "softmax_dropout");

    if (more != 0)
        count(t, "attention: grouped queries");
    if (o->recompute == STEP_RECOMPUTE_SELECTIVE) {
        count(t, "attention: equal with its scores made again");
        return more;
    }
    more -= drops ? mask : 0;
    if (!o->fused_attention) {
        count(t, drops ? "attention not fused: equal with dropout" : "attention not fused: + a mask");
        return more + mask;
    }
    count(t, "fused attention: one 32-bit number a head and token");
    return more + 4 * n * heads + 16 - s->e * n * (2 * h + 4 * heads);
}

static void check_activations(const subject *s, const step_model *m, tally *t)
{
    static const char *const attention[4] = {"qkv", "attention", "projection", "dropout1"};
    static const char *const mlp[4] = {"fc1", "activation", "fc2", "dropout2"};
    static const char *const norms[4] = {"norm1", "norm2"};
    const char *recompute = text_of(s->call, "activation_recomputation");
    const step_block *b = &m->block[STEP_LAYER];
    step_options o = options_of(s);
    const step_shape shape = step_shape_of(m, &o);
    double gate = s->is_gated ? s->e * s->tokens * s->ffn / s->tp : 0;

    same(t, s->id, "logits", (double)step_module_kept(&m->block[STEP_HEAD].module[2], &shape),
         number_of(s->out, "activation_memory_output_embedding_per_gpu") * 4 / s->e + 8 * s->tokens,
         4 * s->tokens);
    if (strcmp(recompute, "FULL") == 0) {
        same(t, s->id, "checkpoints", s->layers * (double)step_kept_bytes(b, &shape, true),
             number_of(s->out, "activation_memory_layernorm_per_gpu") +
                 s->layers * s->e * s->hidden * (s->whole - s->tokens / s->tp),
             1);
        count(t, s->whole < s->tokens || s->tp < 2 ? "checkpoints: equal"
                                                   : "checkpoints: ours whole without sequence parallelism");
        return;
    }
    same(t, s->id, "feed-forward network", s->layers * kept(b, &shape, mlp),
         number_of(s->out, "activation_memory_mlp_per_gpu") + s->layers * (gate + s->whole * s->hidden), 1);
    count(t, s->is_gated ? "feed-forward network: + a mask, + the gate" : "feed-forward network: + a mask");
    if (strcmp(recompute, "NORM_ATTN_NORM") == 0 || strcmp(recompute, "ATTN") == 0) {
        count(t, "skipped: recomputation of attention with its products, which no option names");
        return;
    }
    same(t, s->id, "norms", s->layers * kept(b, &shape, norms),
         number_of(s->out, "activation_memory_layernorm_per_gpu") +
             s->layers * 2 * s->whole * ((s->e - 4) * s->hidden + 4),
         1);
    same(t, s->id, "attention", s->layers * kept(b, &shape, attention),
         number_of(s->out, "activation_memory_attn_per_gpu") + s->layers * more_of_attention(s, &o, t), 1);
}

void check_llm_analysis(const json_t *row, const json_t *inputs, tally *t)
{
    const json_t *model = json_object_get(json_object_get(inputs, "models"), text_of(row, "model"));
    subject s = subject_of(row, model);
    dimensions d = {.hidden = (uint64_t)s.hidden,
                    .ffn = (uint64_t)s.ffn,
                    .heads = (uint64_t)s.heads,
                    .kv_heads = (uint64_t)s.kv_heads,
                    .head_size = (uint64_t)(s.hidden / s.heads),
                    .vocab = (uint64_t)s.vocab,
                    .sequence = (uint64_t)s.sequence,
                    .layers = (uint32_t)s.layers,
                    .is_gated = s.is_gated,
                    .drops = true};
    dse_arena a = {0};
    step_model m;

    if ((uint64_t)s.heads % (uint64_t)s.tp) {
        count(t, "skipped: heads that tp does not divide");
        return;
    }
    if ((uint64_t)s.layers % (uint64_t)s.pp) {
        count(t, "skipped: layers that pp does not divide");
        return;
    }
    m = make_model(NULL, &d, &a);
    check_weights(&s, &m.block[STEP_LAYER], t);
    check_activations(&s, &m, t);
    dse_arena_free(&a);
}
