/* Calculon (Isaev et al. 2023, arXiv 2305.15965; llm/llm.py, llm/layers.py): what a block of a GPT without
 * biases takes.
 *
 * Weights, gradients (in the type of the weights) and optimizer state (12 bytes, or 8 and a master copy) are
 * ours. Of what a block saves for the backward pass these terms differ, each of which is a formula below:
 *
 *   statistics of norms     ours: 8 bytes a token and norm
 *   gathered tokens         with sequence parallelism Calculon saves the shard and the gathered tensor,
 *                           unless it is told to gather again; ours is one of both
 *   input of the queries    with attn_only Calculon does not save it whole, also where nothing gathers it
 *                           again
 *   overlapped all-reduce   Calculon saves no input of a row-parallel product that overlaps with an
 *                           all-reduce, and with one head of keys and values their input twice
 *   fused activation        Calculon saves nothing of it; ours its input, as backward reads it
 *   checkpoints             Calculon's are whole, also with sequence parallelism
 *
 * Gradients of activations: Calculon adds up those of a whole block, ours are those of the module that
 * runs. */
#include "memory/references.h"

#include <math.h>
#include <string.h>

typedef struct {
    const json_t *exe, *stats;
    const char *id;
    double hidden, ffn, width, heads; /* width: heads x size of one */
    double tp, tokens, sequence, e;
    bool splits, overlaps, redoes, selects, fuses, shares_kv;
    double blocks; /* of a rank */
} block;

typedef struct {
    const char *why;
    double bytes; /* that ours has more */
} term;

static block block_of(const json_t *row, const json_t *model)
{
    const json_t *exe = json_object_get(row, "exe");
    block b = {.exe = exe, .stats = json_object_get(row, "stats"), .id = text_of(row, "id")};

    b.hidden = number_of(model, "hidden"), b.ffn = number_of(model, "feedforward");
    b.heads = number_of(model, "attn_heads"), b.width = b.heads * number_of(model, "attn_size");
    b.sequence = number_of(model, "seq_size");
    b.tp = number_of(exe, "tensor_par");
    b.tokens = b.sequence * number_of(exe, "microbatch_size");
    b.e = strcmp(text_of(exe, "datatype"), "float8") == 0 ? 1 : 2;
    b.splits = strcmp(text_of(exe, "tensor_par_comm_type"), "rs_ag") == 0;
    b.overlaps = strcmp(text_of(exe, "tensor_par_overlap"), "none") != 0;
    b.redoes = flag_of(exe, "seq_par_ag_redo");
    b.selects = strcmp(text_of(exe, "activation_recompute"), "attn_only") == 0;
    b.fuses = flag_of(exe, "fused_activation");
    b.shares_kv = strcmp(text_of(exe, "attention_type"), "multiquery") == 0;
    b.blocks = ceil(number_of(model, "num_blocks") / number_of(exe, "pipeline_par"));
    return b;
}

static step_options options_of(const block *b)
{
    step_options o = plain_options();

    o.tp = (uint32_t)b->tp;
    o.dp = whole_of(b->exe, "data_par");
    o.zero = flag_of(b->exe, "optimizer_sharding") ? 2 : 0;
    o.micro_batch = whole_of(b->exe, "microbatch_size");
    o.activation_bytes = o.weight_bytes = o.kept_weight_bytes = o.gradient_bytes = b->e;
    o.sequence_parallel = b->splits;
    o.gathers_again = b->redoes || b->overlaps;
    o.expands_kv = true;
    o.recompute = b->selects ? STEP_RECOMPUTE_SELECTIVE : STEP_RECOMPUTE_NONE;
    return o;
}

/* ---- what is static ---------------------------------------------------------------------------- */

static void check_state(const block *b, const step_block *layer, const step_options *o, tally *t)
{
    double more = 0, shards = o->zero ? o->dp : 1;
    uint64_t elements = 0, held[STEP_N_HOLDS];

    for (uint32_t i = 0; i < layer->n_parameters; i++)
        elements += step_parameter_share(&layer->parameter[i], (step_split_over){o->tp, 1, 1});
    if (b->shares_kv) { /* Calculon has keys and values on every rank, Megatron's product splits them too */
        double size = b->width / b->heads;

        more = b->hidden * (b->width / b->tp + 2 * size - ceil((b->width + 2 * size) / b->tp));
        count(t, "one head of keys and values: whole on each rank, ours split");
    }
    step_memory_state(o, elements, (elements + (uint64_t)shards - 1) / (uint64_t)shards, held);
    same(t, b->id, "block_weight_space", (double)held[STEP_HOLDS_PARAMETERS],
         number_of(b->stats, "block_weight_space") - b->e * more, 0);
    same(t, b->id, "block_weight_grad_space", (double)held[STEP_HOLDS_GRADIENTS],
         number_of(b->stats, "block_weight_grad_space") - b->e * more / shards, b->e);
    same(t, b->id, "block_optimizer_space", (double)held[STEP_HOLDS_OPTIMIZER],
         number_of(b->stats, "block_optimizer_space") - 12 * more / shards, 12);
    same(t, b->id, "weight_space", (double)held[STEP_HOLDS_PARAMETERS] * b->blocks,
         number_of(b->stats, "weight_space") - b->e * more * b->blocks, 0);
    same(t, b->id, "optimizer_space", (double)held[STEP_HOLDS_OPTIMIZER] * b->blocks,
         number_of(b->stats, "optimizer_space") - 12 * more / shards * b->blocks, 12 * b->blocks);
    /* Gradients of one block are there in 32 bits, of all others in the type of the weights. */
    same(t, b->id, "weight_grad_space",
         (double)held[STEP_HOLDS_GRADIENTS] * (b->blocks - 1) + 4 * (double)elements,
         number_of(b->stats, "weight_grad_space") - more * (4 + b->e / shards * (b->blocks - 1)),
         b->e * b->blocks);
}

/* ---- what a block saves ------------------------------------------------------------------------ */

static double theirs_gathered(const block *b, bool keeps_whole)
{
    double whole = b->e * b->tokens * b->hidden;

    if (b->overlaps)
        return b->splits ? whole / b->tp : whole;
    return (b->splits && b->tp > 1 ? whole / b->tp : 0) + (keeps_whole ? whole : 0);
}

static double ours_gathered(const block *b)
{
    double whole = b->e * b->tokens * b->hidden;

    return b->splits && (b->redoes || b->overlaps) ? whole / b->tp : whole;
}

/* Bytes that ours has more, term by term. */
static size_t terms_of(const block *b, term out[8])
{
    double whole = b->e * b->tokens, hidden = b->splits ? b->tokens / b->tp : b->tokens;
    bool drops_inputs = b->overlaps && !b->splits;
    size_t n = 0;

    out[n++] = (term){"statistics of norms", 16 * hidden};
    out[n++] = (term){"gathered tokens: saved twice", ours_gathered(b) - theirs_gathered(b, !b->redoes)};
    out[n++] =
        (term){"input of the queries", ours_gathered(b) - theirs_gathered(b, !(b->selects || b->redoes))};
    out[n++] = (term){"overlapped all-reduce: inputs of row-parallel products are not saved",
                      drops_inputs ? whole * (b->width + b->ffn) / b->tp : 0};
    out[n++] = (term){"overlapped, one head of keys and values: their input is saved again",
                      b->overlaps && b->shares_kv && !(b->selects || b->redoes) ? -whole * b->hidden : 0};
    out[n++] = (term){"fused activation: its input is not saved", b->fuses ? whole * b->ffn / b->tp : 0};
    return n;
}

static void check_saved(const block *b, const step_model *m, const step_options *o, tally *t)
{
    const step_shape s = step_shape_of(m, o);
    double ours = (double)step_kept_bytes(&m->block[STEP_LAYER], &s, false), more = 0;
    term named[8];
    size_t n = terms_of(b, named);
    bool is_exact = true;

    for (size_t i = 0; i < n; i++) {
        more += named[i].bytes;
        if (named[i].bytes != 0 && i) {
            count(t, named[i].why);
            is_exact = false;
        }
    }
    if (is_exact)
        count(t, "saved: equal but for the statistics of norms");
    same(t, b->id, "block_act_storage_space", ours, number_of(b->stats, "block_act_storage_space") + more, 1);
}

static void check_checkpoint(const block *b, const step_model *m, const step_options *o, tally *t)
{
    const step_shape s = step_shape_of(m, o);
    double ours = (double)step_kept_bytes(&m->block[STEP_LAYER], &s, true);

    same(t, b->id, "block_act_checkpoint_size", ours,
         number_of(b->stats, "block_act_checkpoint_size") / (b->splits ? b->tp : 1), 0);
    count(t, b->splits && b->tp > 1 ? "checkpoints: ours are split by sequence parallelism"
                                    : "checkpoints: equal");
}

/* ---- how many are live ------------------------------------------------------------------------- */

static double theirs_live(const block *b, bool is_full)
{
    double stored = number_of(b->stats, "block_act_storage_space");

    if (is_full)
        return number_of(b->stats, "act_checkpoint_size") / number_of(b->stats, "block_act_checkpoint_size");
    return (number_of(b->stats, "act_space") - number_of(b->stats, "block_act_working_space")) / stored + 1;
}

static void check_live(const block *b, bool is_full, dse_arena *a, tally *t)
{
    uint32_t pp = whole_of(b->exe, "pipeline_par"), vp = whole_of(b->exe, "pipeline_interleaving");
    uint32_t m =
        whole_of(b->exe, "batch_size") / whole_of(b->exe, "data_par") / whole_of(b->exe, "microbatch_size");
    const sched_options order = {.pp = pp, .micro_batches = m, .vp = vp, .like = SCHED_LIKE_ANY};
    uint32_t *until_i = DSE_ARENA_NEW(a, uint32_t, pp), *until_w = DSE_ARENA_NEW(a, uint32_t, pp);
    sched_plan plan;

    if (vp > 1 && (uint64_t)m * vp < (uint64_t)pp * vp + pp - 1) {
        count(t, "live: fewer micro-batches than the formula takes for granted");
        return;
    }
    if (sched_make(sched_find(vp > 1 ? "interleaved" : "1f1b"), &order, a, &plan, NULL) != DSE_OK) {
        count(t, "live: micro-batches that the schedule refuses");
        return;
    }
    sched_peak_live(&plan, until_i, until_w);
    if (vp > 1 && m % pp) {
        count(t, "live: the last group is shorter, which the formula does not see");
        return;
    }
    same(t, b->id, "live blocks", until_i[0] * b->blocks / vp, theirs_live(b, is_full),
         1e-9 * b->blocks * pp);
    count(t, "live: equal");
}

void check_calculon(const json_t *row, const json_t *inputs, tally *t)
{
    const json_t *model = json_object_get(json_object_get(inputs, "models"), text_of(row, "model"));
    block b = block_of(row, model);
    bool is_full = strcmp(text_of(b.exe, "activation_recompute"), "full") == 0;
    const dimensions d = {.hidden = (uint64_t)b.hidden,
                          .ffn = (uint64_t)b.ffn,
                          .heads = (uint64_t)b.heads,
                          .kv_heads = b.shares_kv ? 1 : (uint64_t)b.heads,
                          .head_size = (uint64_t)(b.width / b.heads),
                          .vocab = 51200,
                          .sequence = (uint64_t)b.sequence,
                          .layers = 1,
                          .has_mean = true,
                          .drops = true};
    dse_arena a = {0};
    step_options o = options_of(&b);
    step_model m;

    if (!flag_of(row, "ok")) {
        count(t, "skipped: refused");
        return;
    }
    if (!flag_of(b.exe, "training")) {
        count(t, "skipped: inference");
        return;
    }
    m = make_model(NULL, &d, &a);
    check_state(&b, &m.block[STEP_LAYER], &o, t);
    if (is_full)
        check_checkpoint(&b, &m, &o, t);
    else
        check_saved(&b, &m, &o, t);
    check_live(&b, is_full, &a, t);
    count(t, "skipped: gradients of activations of a whole block");
    dse_arena_free(&a);
}
