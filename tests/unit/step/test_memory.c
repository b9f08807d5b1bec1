/* Memory of the step, of a model that is small enough to count by hand: hidden 4, two heads of 2,
 * feed-forward 8, 16 words, 8 tokens. Bytes that a forward pass keeps, 16 bits each where nothing else is
 * said:
 *
 *   layer      norm 64 + 32 (a number a token in 32 bits), queries' input 64, queries, keys and values 192,
 *              result 64, norm 96, input 64, activation 128, its result 128: 832
 *   embedding  numbers of tokens: 64
 *   head       norm 96, input 64, softmax 512, labels 64: 736. Logits: 256
 *
 * Elements: embedding 64; layer 4 + 48 + 16 + 4 + 32 + 32 = 136; head 4 + 64 = 68. */
#include "unit/unit.h"

#include "config/doc.h"
#include "schedule/schedule.h"
#include "step/memory.h"
#include "step/module.h"

static const char text[] =
    "hidden: Hidden\nsequence: Seq\nblocks:\n"
    "  embedding:\n    token: {embedding: [Vocab, Hidden]}\n"
    "  layer:\n"
    "    norm1: {norm: Hidden}\n"
    "    qkv: {linear: [Hidden, Hidden, Hidden, Hidden], split: column}\n"
    "    attention: {attention: [Heads, Heads, Hidden/Heads], again: yes}\n"
    "    projection: {linear: [Hidden, Hidden], split: row}\n"
    "    residual1: {add: norm1}\n"
    "    norm2: {norm: Hidden}\n"
    "    fc1: {linear: [Hidden, Ffn], split: column}\n"
    "    gelu: {activation: Ffn}\n"
    "    fc2: {linear: [Ffn, Hidden], split: row}\n"
    "    residual2: {add: norm2}\n"
    "  head:\n    norm: {norm: Hidden}\n    output: {linear: [Hidden, Vocab], split: column}\n"
    "    loss: {loss: Vocab}\n";

enum { LAYER = 832, EMBEDDING = 64, HEAD = 736, LOGITS = 256, HIDDEN = 64 };

typedef struct {
    dse_arena arena;
    step_model model;
    step_options options;
    sched_plan plan;
    step_rank_memory seen;
    uint64_t between; /* bytes; of one direction */
} fixture;

static void begin(fixture *f, uint32_t n_layers, int64_t tokens)
{
    const wl_symbols symbols = {5, {"Seq", "Vocab", "Hidden", "Ffn", "Heads"}, {tokens, 16, 4, 8, 2}};
    dse_error err = DSE_ERROR_INIT;
    cfg_doc doc;

    *f = (fixture){.options = {.dp = 1,
                               .tp = 1,
                               .cp = 1,
                               .pp = 1,
                               .vp = 1,
                               .micro_batch = 1,
                               .n_micro_batches = 1,
                               .recompute = STEP_RECOMPUTE_SELECTIVE,
                               .replicas = 1,
                               .reshard_after_forward = true,
                               .activation_bytes = 2,
                               .weight_bytes = 2,
                               .kept_weight_bytes = 2,
                               .gradient_bytes = 4,
                               .reduce_bytes = 4,
                               .optimizer_bytes = 12,
                               .logits_copies = 1}};
    assert_int_equal(cfg_parse_yaml("model", text, sizeof text - 1, &f->arena, &doc, &err), DSE_OK);
    assert_int_equal(step_model_read(&doc, &symbols, n_layers, &f->arena, &f->model, &err), DSE_OK);
}

/* Over time the rank holds at most its peak, there, and after its last action what is left. */
static void look_over(fixture *f, const step_memory *s, uint32_t rank)
{
    const uint32_t first = f->plan.first[rank], n = f->plan.first[rank + 1] - first;
    uint64_t *during = dse_calloc(n, sizeof *during), *after = dse_calloc(n, sizeof *after), most = 0;

    step_memory_over(s, &f->plan, rank, &f->arena, during, after);
    for (uint32_t i = 0; i < n; i++)
        most = during[i] > most ? during[i] : most;
    assert_u64(most, f->seen.peak);
    assert_u64(during[f->seen.at - first], f->seen.peak);
    assert_u64(after[n - 1], f->seen.left);
    dse_free(during);
    dse_free(after);
}

/* What it holds between passes, stage by stage, is no more than its peak. */
static uint64_t look_between(fixture *f, const step_memory *s, uint32_t rank)
{
    uint64_t *bytes = dse_calloc(f->plan.n_stages, sizeof *bytes), sum;
    int64_t always;

    step_memory_between(s, &f->plan, rank, &f->arena, bytes, &always);
    sum = (uint64_t)always;
    for (uint32_t i = 0; i < f->plan.n_stages; i++)
        sum += bytes[i];
    dse_free(bytes);
    assert_true(sum <= f->seen.peak);
    return sum;
}

static void look(fixture *f, uint32_t rank)
{
    const step_memory *s = step_memory_new(&f->model, &f->options, f->plan.n_stages, &f->arena);
    uint64_t sum = 0;

    step_memory_of(s, &f->plan, rank, &f->arena, &f->seen);
    for (int i = 0; i < STEP_N_HOLDS; i++)
        sum += f->seen.held[i];
    assert_u64(sum, f->seen.peak);
    look_over(f, s, rank);
    f->between = f->plan.n_directions == 1 ? look_between(f, s, rank) : 0;
}

static void run(fixture *f, const char *schedule, uint32_t micro_batches, uint32_t rank)
{
    const sched_options order = {.pp = f->options.pp, .micro_batches = micro_batches, .vp = f->options.vp};

    assert_int_equal(sched_make(sched_find(schedule), &order, &f->arena, &f->plan, NULL), DSE_OK);
    look(f, rank);
}

/* Actions of one rank that has the only stage: "F0 I0 W0", with "&" before an action that overlaps with the
 * one before it. */
static void run_actions(fixture *f, const char *actions, uint32_t micro_batches)
{
    static const char kinds[] = "FBIW";
    sched_action *a = DSE_ARENA_NEW(&f->arena, sched_action, strlen(actions));
    uint32_t n = 0, *first = DSE_ARENA_NEW(&f->arena, uint32_t, 2);

    for (const char *c = actions; *c; c++) {
        const char *kind = strchr(kinds, *c);

        if (*c == '&')
            a[n - 1].with_next = true;
        else if (kind)
            a[n++] = (sched_action){.kind = (uint8_t)(kind - kinds), .micro_batch = (uint32_t)(c[1] - '0')};
    }
    first[1] = n;
    f->plan = (sched_plan){.n_ranks = 1,
                           .n_directions = 1,
                           .n_stages = 1,
                           .n_micro_batches = micro_batches,
                           .stage_rank = DSE_ARENA_NEW(&f->arena, uint32_t, 1),
                           .action = a,
                           .first = first};
    look(f, 0);
}

static uint64_t held(const fixture *f, step_holds kind) { return f->seen.held[kind]; }

/* ---- what lasts the whole step ------------------------------------------------------------------ */

static void check_state(fixture *f, uint32_t zero, uint64_t parameters, uint64_t gradients,
                        uint64_t optimizer)
{
    f->options.zero = zero;
    run(f, "1f1b", 1, 0);
    assert_u64(held(f, STEP_HOLDS_PARAMETERS), parameters);
    assert_u64(held(f, STEP_HOLDS_GRADIENTS), gradients);
    assert_u64(held(f, STEP_HOLDS_OPTIMIZER), optimizer);
    assert_u64(f->seen.fixed, parameters + gradients + optimizer);
    assert_u64(f->seen.left, f->seen.fixed);
}

CLAIM(each_stage_of_zero_shards_one_more)
{
    fixture f;

    begin(&f, 2, 8); /* 64 + 2 x 136 + 68 = 404 elements */
    f.options.dp = 4;
    check_state(&f, 0, 2 * 404, 4 * 404, 12 * 404);
    check_state(&f, 1, 2 * 404, 4 * 404, 12 * 101);
    check_state(&f, 2, 2 * 404, 4 * 101, 12 * 101);
    check_state(&f, 3, 2 * 101, 4 * 101, 12 * 101);
    f.options.replicas = 2; /* of shards over two ranks */
    check_state(&f, 3, 2 * 202, 4 * 202, 12 * 202);
    dse_arena_free(&f.arena);
}

CLAIM(shares_are_rounded_up_by_the_tensor_or_by_all_of_them)
{
    fixture f;

    begin(&f, 1, 8); /* 268 elements */
    f.options.dp = 3;
    check_state(&f, 2, 2 * 268, 4 * 90, 12 * 90);
    /* Rows of 16, 4, 12, 4, 4, 8, 4, 4 and 16 over 3: 6, 2, 4, 2, 2, 3, 2, 2, 6, times the columns. */
    check_state(&f, 3, 2 * (24 + 2 + 16 + 8 + 2 + 12 + 16 + 2 + 24), 4 * 106, 12 * 106);
    f.options.pads_parameters = 64; /* each: 64 64 64 64 64 64 64 64 64 */
    check_state(&f, 1, 2 * 576, 4 * 576, 12 * 192);
    dse_arena_free(&f.arena);
}

CLAIM(a_tied_embedding_is_there_twice_with_a_pipeline_unless_it_comes_back)
{
    fixture f;

    begin(&f, 4, 8);
    f.model.is_tied = true;
    run(&f, "1f1b", 1, 0);
    assert_u64(held(&f, STEP_HOLDS_PARAMETERS), 2 * (64 + 4 * 136 + 4));
    f.options.pp = 2;
    run(&f, "1f1b", 2, 1);
    assert_u64(held(&f, STEP_HOLDS_PARAMETERS), 2 * (2 * 136 + 68));
    f.options.vp = 2;
    run(&f, "zbv", 4, 0); /* the first and the last stage */
    assert_u64(held(&f, STEP_HOLDS_PARAMETERS), 2 * (64 + 2 * 136 + 4));
    dse_arena_free(&f.arena);
}

CLAIM(layers_that_do_not_divide_are_on_the_first_stages)
{
    fixture f;

    begin(&f, 3, 8);
    f.options.pp = 2;
    run(&f, "1f1b", 2, 0);
    assert_u64(held(&f, STEP_HOLDS_PARAMETERS), 2 * (64 + 2 * 136));
    run(&f, "1f1b", 2, 1);
    assert_u64(held(&f, STEP_HOLDS_PARAMETERS), 2 * (136 + 68));
    dse_arena_free(&f.arena);
}

CLAIM(options_add_buffers)
{
    fixture f;
    uint64_t before;

    begin(&f, 2, 8);
    f.options.pp = 2;
    run(&f, "1f1b", 2, 0);
    before = f.seen.fixed;
    f.options.copies_buckets = true;
    f.options.workspace_bytes = 1000;
    f.options.receives_ahead = 2;
    run(&f, "1f1b", 2, 0);
    assert_u64(held(&f, STEP_HOLDS_BUCKETS), 4 * (64 + 136));
    assert_u64(held(&f, STEP_HOLDS_WORKSPACE), 1000);
    assert_u64(f.seen.fixed, before + 4 * (64 + 136) + 1000 + 2 * HIDDEN);
    f.options.tp = 2;
    f.options.sequence_parallel = f.options.gathers_again = true;
    run(&f, "1f1b", 2, 0);
    assert_u64(held(&f, STEP_HOLDS_GATHERED_TOKENS), HIDDEN); /* all tokens */
    dse_arena_free(&f.arena);
}

/* ---- micro-batches ------------------------------------------------------------------------------ */

CLAIM(live_micro_batches_follow_the_schedule)
{
    fixture f;

    begin(&f, 2, 8);
    f.options.pp = 2;
    run(&f, "1f1b", 4, 0);
    assert_u64(f.seen.kept, 2 * (EMBEDDING + LAYER));
    run(&f, "1f1b", 4, 1);
    assert_u64(f.seen.kept, LAYER + HEAD);
    run(&f, "gpipe", 4, 0);
    assert_u64(f.seen.kept, 4 * (EMBEDDING + LAYER));
    run(&f, "gpipe", 4, 1);
    assert_u64(f.seen.kept, 4 * (LAYER + HEAD));
    dse_arena_free(&f.arena);
}

CLAIM(scores_are_kept_unless_they_are_made_again)
{
    fixture f;

    begin(&f, 1, 8);
    f.options.recompute = STEP_RECOMPUTE_NONE;
    run_actions(&f, "F0 B0", 1); /* 2 heads x 64 pairs: twice 2 bytes and a mask */
    assert_u64(f.seen.kept, EMBEDDING + LAYER + 5 * 128 + HEAD);
    f.options.fused_attention = true; /* a number a head and token, and two seeds */
    run_actions(&f, "F0 B0", 1);
    assert_u64(f.seen.kept, EMBEDDING + LAYER + 4 * 16 + 16 + HEAD);
    dse_arena_free(&f.arena);
}

CLAIM(tensor_parallel_ranks_share_what_they_keep)
{
    fixture f;

    begin(&f, 1, 8);
    f.options.tp = 2;
    run_actions(&f, "F0 B0", 1); /* norms and inputs of column-parallel products are whole */
    assert_u64(f.seen.kept, EMBEDDING + (LAYER + 2 * 96 + 2 * 64) / 2 + 96 + 64 + 256 + 64);
    f.options.sequence_parallel = true;
    f.options.gathers_again = true;
    run_actions(&f, "F0 B0", 1);
    assert_u64(f.seen.kept, EMBEDDING + LAYER / 2 + (96 + 64) / 2 + 256 + 64);
    f.options.gathers_again = false; /* three of those inputs are whole */
    run_actions(&f, "F0 B0", 1);
    assert_u64(f.seen.kept, EMBEDDING + LAYER / 2 + (96 + 64) / 2 + 256 + 64 + 3 * 32);
    dse_arena_free(&f.arena);
}

/* 4 tokens a rank: keys and values are 32 elements, and queries 16. */
CLAIM(context_parallelism_has_receive_buffers)
{
    fixture f;
    const step_module *attention;
    step_shape s;

    begin(&f, 1, 8);
    f.options.cp = 2;
    attention = &f.model.block[STEP_LAYER].module[2];
    s = step_shape_of(&f.model, &f.options);
    assert_double(attention->kind->receives(attention, &s, false), 2 * 32 * 2);
    assert_double(attention->kind->receives(attention, &s, true), 2 * 32 * (2 + 4));
    f.options.reduce_bytes = 2; /* of data parallelism alone: what goes around the ring stays in 32 bits */
    assert_double(attention->kind->receives(attention, &s, true), 2 * 32 * (2 + 4));
    f.options.context = STEP_CONTEXT_ALL_GATHER_RING;
    assert_double(attention->kind->receives(attention, &s, true), 2 * 32 * 2 + 2 * 32 * 4);
    f.options.context = STEP_CONTEXT_ALL_GATHER;
    assert_double(attention->kind->receives(attention, &s, false), 2 * 32 * 2);
    assert_double(attention->kind->receives(attention, &s, true), 2 * 2 * 32 * 2);
    f.options.context = STEP_CONTEXT_ALL_TO_ALL;
    assert_double(attention->kind->receives(attention, &s, true), 48 * 2);
    f.options.cp = 1;
    assert_double(attention->kind->receives(attention, &s, true), 0);
    dse_arena_free(&f.arena);
}

CLAIM(layers_that_are_made_again_keep_their_input)
{
    fixture f;

    begin(&f, 4, 8);
    f.options.fused_attention = true;
    f.options.recompute = STEP_RECOMPUTE_FULL;
    run_actions(&f, "F0 B0", 1);
    assert_u64(f.seen.kept, EMBEDDING + 4 * HIDDEN + HEAD);
    f.options.recompute_every = 2;
    run_actions(&f, "F0 B0", 1);
    assert_u64(f.seen.kept, EMBEDDING + 2 * HIDDEN + 2 * (LAYER + 80) + HEAD);
    f.options.recompute_every = 0;
    f.options.recompute_layers = 1;
    run_actions(&f, "F0 B0", 1);
    assert_u64(f.seen.kept, EMBEDDING + HIDDEN + 3 * (LAYER + 80) + HEAD);
    f.options.recompute_layers = 0;
    f.options.recompute_together = 2;
    run_actions(&f, "F0 B0", 1);
    assert_u64(f.seen.kept, EMBEDDING + 2 * HIDDEN + HEAD);
    assert_u64(f.seen.left, f.seen.fixed);
    dse_arena_free(&f.arena);
}

CLAIM(backward_makes_a_layer_again_on_top_of_the_inputs)
{
    fixture f;

    begin(&f, 4, 8);
    f.options.fused_attention = true;
    f.options.recompute = STEP_RECOMPUTE_FULL;
    f.options.logits_copies = 0;
    f.model.block[STEP_HEAD].n = 0; /* so that the layers have the peak */
    f.model.block[STEP_HEAD].n_parameters = 0;
    run_actions(&f, "F0 B0", 1);
    assert_int_equal(f.seen.at, 1);
    assert_int_equal(f.seen.block, STEP_LAYER);
    assert_u64(held(&f, STEP_HOLDS_ACTIVATIONS), EMBEDDING + 4 * HIDDEN);
    assert_u64(held(&f, STEP_HOLDS_RECOMPUTED), LAYER + 80 - HIDDEN);
    /* The product behind the activation: gradients of its result, of its input, and of the residual. */
    assert_u64(held(&f, STEP_HOLDS_WORKING), HIDDEN + 128 + HIDDEN);
    f.options.recompute_together = 2; /* the layer before it, too */
    run_actions(&f, "F0 B0", 1);
    assert_u64(held(&f, STEP_HOLDS_ACTIVATIONS), EMBEDDING + 2 * HIDDEN);
    assert_u64(held(&f, STEP_HOLDS_RECOMPUTED), 2 * (LAYER + 80) - HIDDEN);
    dse_arena_free(&f.arena);
}

CLAIM(gradients_of_weights_that_wait_keep_inputs_and_gradients)
{
    fixture f;
    /* Inputs and gradients of results: queries 64 + 192, projection 64 + 64, 64 + 128, 128 + 64. */
    const uint64_t layer = 768, embedding = EMBEDDING + HIDDEN, head = 64 + LOGITS;

    begin(&f, 2, 8);
    run_actions(&f, "F0 I0 F1 I1 W0 W1", 2);
    assert_u64(f.seen.kept, 2 * layer + embedding + head + 2 * LAYER + EMBEDDING + HEAD);
    assert_u64(f.seen.left, f.seen.fixed);
    run_actions(&f, "F0 I0 W0 F1 I1 W1", 2);
    assert_u64(f.seen.kept, 2 * LAYER + EMBEDDING + HEAD);
    dse_arena_free(&f.arena);
}

CLAIM(logits_count_in_their_type_and_in_32_bits)
{
    fixture f;

    begin(&f, 1, 8);
    run_actions(&f, "F0 B0", 1);
    assert_int_equal(f.seen.block, STEP_HEAD);
    assert_u64(held(&f, STEP_HOLDS_LOGITS), LOGITS + 2 * LOGITS + 64); /* labels */
    f.options.logits_copies = 2;
    run_actions(&f, "F0 B0", 1);
    assert_u64(held(&f, STEP_HOLDS_LOGITS), LOGITS + 4 * LOGITS + 64);
    f.options.keeps_outputs = true; /* of both micro-batches */
    run_actions(&f, "F0 F1 B0 B1", 2);
    assert_u64(f.seen.kept, 2 * (EMBEDDING + LAYER + HEAD + LOGITS));
    dse_arena_free(&f.arena);
}

CLAIM(matrices_of_8_bits_are_copied_and_transposed)
{
    fixture f;
    uint64_t stored_in_8_bits;

    begin(&f, 1, 1);
    f.options.activation_bytes = f.options.kept_weight_bytes = 1;
    f.model.block[STEP_HEAD].n = f.model.block[STEP_HEAD].n_parameters = 0;
    run_actions(&f, "F0 B0", 1);
    assert_int_equal(f.seen.block, STEP_LAYER);
    stored_in_8_bits = held(&f, STEP_HOLDS_WORKING);
    assert_true(stored_in_8_bits > 128);
    f.options.kept_weight_bytes = 2;
    run_actions(&f, "F0 B0", 1); /* 48 + 16 + 32 + 32 elements */
    assert_u64(held(&f, STEP_HOLDS_WORKING), stored_in_8_bits + 128);
    dse_arena_free(&f.arena);
}

CLAIM(products_of_8_bits_keep_their_inputs_in_8_bits)
{
    fixture f;
    uint64_t working, parameters;

    begin(&f, 1, 8);
    run_actions(&f, "F0 B0", 1);
    assert_u64(f.seen.kept, EMBEDDING + LAYER + HEAD);
    f.options.low = (step_low){.class = WL_KERNEL_MATMUL_FP8, .bytes = 1};
    run_actions(&f, "F0 B0", 1);
    /* Half of the inputs of four matrices, 64 + 64 + 64 + 128; the head's stays. */
    assert_u64(f.seen.kept, EMBEDDING + LAYER - 160 + HEAD);
    f.options.fused_attention = true;
    run_actions(&f, "F0 B0", 1);
    /* The kernel's own result, 64, and what it keeps besides: 4 bytes a token and head, and its seeds. */
    assert_u64(f.seen.kept, EMBEDDING + LAYER - 160 + HEAD + 64 + 4 * 8 * 2 + 16);
    dse_arena_free(&f.arena);

    begin(&f, 1, 1);
    f.model.block[STEP_HEAD].n = f.model.block[STEP_HEAD].n_parameters = 0;
    run_actions(&f, "F0 B0", 1);
    working = held(&f, STEP_HOLDS_WORKING);
    parameters = held(&f, STEP_HOLDS_PARAMETERS);
    f.options.low = (step_low){.class = WL_KERNEL_MATMUL_FP8, .bytes = 1, .casts_weights_in_passes = true};
    run_actions(&f, "F0 B0", 1); /* a copy and its transpose of 48 + 16 + 32 + 32 elements */
    assert_int_equal(f.seen.block, STEP_LAYER);
    assert_u64(held(&f, STEP_HOLDS_WORKING), working + 2 * 128);
    /* Kept in 8 bits: 1 byte of 2 of each element, and only the transpose is made. */
    f.options.low.has_parameters = true;
    run_actions(&f, "F0 B0", 1);
    assert_u64(held(&f, STEP_HOLDS_PARAMETERS), parameters - 128);
    assert_u64(held(&f, STEP_HOLDS_WORKING), working + 128);
    dse_arena_free(&f.arena);
}

/* Weights that are cast once a step have their copies all the time, and in each layer. */
CLAIM(copies_that_are_cast_once_a_step_stay)
{
    for (uint32_t layers = 1; layers <= 3; layers++) {
        fixture f;
        uint64_t working, parameters;

        begin(&f, layers, 1);
        f.model.block[STEP_HEAD].n = f.model.block[STEP_HEAD].n_parameters = 0;
        run_actions(&f, "F0 B0", 1);
        working = held(&f, STEP_HOLDS_WORKING);
        parameters = held(&f, STEP_HOLDS_PARAMETERS);
        f.options.low = (step_low){.class = WL_KERNEL_MATMUL_FP8, .bytes = 1};
        run_actions(&f, "F0 B0", 1); /* twice 48 + 16 + 32 + 32 elements a layer, of which no pass makes more */
        assert_u64(held(&f, STEP_HOLDS_PARAMETERS), parameters + 2 * 128 * layers);
        assert_u64(held(&f, STEP_HOLDS_WORKING), working);
        f.options.low.has_parameters = true; /* the copy is the parameter: of 2 bytes an element 1, and the transpose */
        run_actions(&f, "F0 B0", 1);
        assert_u64(held(&f, STEP_HOLDS_PARAMETERS), parameters);
        dse_arena_free(&f.arena);
    }
}

CLAIM(a_pair_needs_what_both_need)
{
    fixture f;
    uint64_t alone;

    begin(&f, 1, 8);
    run_actions(&f, "F0 F1 B0 B1", 2);
    alone = f.seen.peak;
    run_actions(&f, "F0 F1 &B0 B1", 2);
    assert_true(f.seen.peak > alone - LAYER);
    assert_int_equal(f.seen.at, 1);
    assert_u64(f.seen.left, f.seen.fixed);
    dse_arena_free(&f.arena);
}

/* ---- fully sharded parameters ------------------------------------------------------------------- */

CLAIM(forward_gathers_a_unit_beside_the_buffer_of_the_one_before)
{
    fixture f;

    begin(&f, 2, 1);
    f.options.zero = 3;
    run_actions(&f, "F0", 1);
    assert_u64(held(&f, STEP_HOLDS_GATHERED_PARAMETERS), 3 * 272); /* bytes of a layer: 272 */
    assert_int_equal(f.seen.block, STEP_LAYER);
    assert_u64(f.seen.left - f.seen.fixed - f.seen.kept, 136); /* the head stays */
    f.options.reshard_after_forward = false;
    run_actions(&f, "F0", 1); /* all that came before, and the head twice; or the second layer */
    assert_u64(held(&f, STEP_HOLDS_GATHERED_PARAMETERS), 128 + 272 + 3 * 272);
    assert_u64(f.seen.left - f.seen.fixed - f.seen.kept, 128 + 2 * 272 + 136);
    dse_arena_free(&f.arena);
}

CLAIM(backward_gathers_the_next_unit_and_reduces_the_one_before)
{
    fixture f;

    begin(&f, 2, 1);
    f.options.zero = 3;
    run_actions(&f, "F0 B0", 1);
    assert_int_equal(f.seen.at, 1);
    /* The first layer runs: its parameters, the embedding's; its gradients, and those of the second in 32
     * bits. */
    assert_u64(held(&f, STEP_HOLDS_GATHERED_PARAMETERS), 272 + 128);
    assert_u64(held(&f, STEP_HOLDS_UNREDUCED), 272 + 544);
    assert_u64(f.seen.left, f.seen.fixed);
    dse_arena_free(&f.arena);
}

CLAIM(zero_2_reduces_gradients_from_a_bucket)
{
    fixture f;

    begin(&f, 2, 1);
    f.options.zero = 2;
    run_actions(&f, "F0 B0", 1);
    assert_int_equal(f.seen.block, STEP_LAYER);
    assert_u64(held(&f, STEP_HOLDS_UNREDUCED), 272 + 4 * 404); /* one bucket of all */
    f.options.bucket_elements = 100;
    run_actions(&f, "F0 B0", 1);
    assert_u64(held(&f, STEP_HOLDS_UNREDUCED), 272 + 4 * 100);
    f.options.zero = 1; /* they are added to the buffer, which is reduced in its place */
    run_actions(&f, "F0 B0", 1);
    assert_u64(held(&f, STEP_HOLDS_UNREDUCED), 0);
    dse_arena_free(&f.arena);
}

CLAIM(gradients_are_whole_until_the_last_micro_batch_if_that_one_reduces)
{
    fixture f;

    begin(&f, 2, 1);
    f.options.zero = 3;
    f.options.sync = STEP_SYNC_LAST;
    run_actions(&f, "F0 B0 F1 B1", 2);
    assert_int_equal(f.seen.at, 3);
    assert_u64(held(&f, STEP_HOLDS_WHOLE_GRADIENTS), 4 * 404);
    assert_u64(f.seen.left, f.seen.fixed);
    f.options.sync = STEP_SYNC_LAST_NO_RESHARD;
    run_actions(&f, "F0 B0 F1 B1", 2);
    assert_u64(held(&f, STEP_HOLDS_WHOLE_GRADIENTS), 4 * 404);
    assert_u64(f.seen.left, f.seen.fixed);
    f.options.sync = STEP_SYNC_EACH;
    run_actions(&f, "F0 B0 F1 B1", 2);
    assert_u64(held(&f, STEP_HOLDS_WHOLE_GRADIENTS), 0);
    dse_arena_free(&f.arena);
}

/* ---- everything --------------------------------------------------------------------------------- */

CLAIM(nothing_is_left_behind_and_nothing_is_negative)
{
    static const uint32_t chunks[] = {1, 1, 2, 2, 1, 2, 2, 2}; /* of sched_names */

    for (int i = 0; sched_names[i]; i++) {
        for (uint32_t k = 0; k < 4 * 3 * 2 * 2 * 3; k++) {
            fixture f;

            begin(&f, 16, 8);
            f.options.pp = 4;
            f.options.vp = chunks[i];
            f.options.dp = 2;
            f.options.zero = k % 4;
            f.options.sync = (step_sync)(k / 4 % 3);
            f.options.reshard_after_forward = k / 12 % 2;
            f.options.keeps_outputs = k / 24 % 2;
            f.options.recompute = (step_recompute)(k / 48 % 3);
            f.options.recompute_together = k % 3;
            for (uint32_t rank = 0; rank < 4; rank++) {
                run(&f, sched_names[i], 8, rank);
                assert_u64(f.seen.left, f.seen.fixed);
                assert_true(f.seen.peak >= f.seen.fixed + f.seen.kept);
                for (int kind = 0; kind < STEP_N_HOLDS; kind++)
                    assert_true((int64_t)f.seen.held[kind] >= 0);
            }
            dse_arena_free(&f.arena);
        }
    }
}

/* Gradients of ZeRO-3 wait whole for the last micro-batch, and parameters are gathered meanwhile. */
CLAIM(what_stages_hold_adds_up_to_most_of_the_peak)
{
    for (uint32_t zero = 0; zero < 4; zero++)
        for (uint32_t rank = 0; rank < 4; rank++) {
            fixture f;

            begin(&f, 32, 8);
            f.options.pp = 4;
            f.options.vp = 2;
            f.options.dp = 4;
            f.options.zero = zero;
            run(&f, "interleaved", 8, rank);
            assert_true(f.between >= f.seen.peak * 9 / 10);
            dse_arena_free(&f.arena);
        }
}

CLAIM(each_kind_has_a_name_and_a_text)
{
    for (int i = 0; i < STEP_N_HOLDS; i++) {
        assert_non_null(step_holds_defs[i].name);
        assert_non_null(step_holds_defs[i].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_stage_of_zero_shards_one_more),
        cmocka_unit_test(shares_are_rounded_up_by_the_tensor_or_by_all_of_them),
        cmocka_unit_test(a_tied_embedding_is_there_twice_with_a_pipeline_unless_it_comes_back),
        cmocka_unit_test(layers_that_do_not_divide_are_on_the_first_stages),
        cmocka_unit_test(options_add_buffers),
        cmocka_unit_test(live_micro_batches_follow_the_schedule),
        cmocka_unit_test(scores_are_kept_unless_they_are_made_again),
        cmocka_unit_test(tensor_parallel_ranks_share_what_they_keep),
        cmocka_unit_test(context_parallelism_has_receive_buffers),
        cmocka_unit_test(layers_that_are_made_again_keep_their_input),
        cmocka_unit_test(backward_makes_a_layer_again_on_top_of_the_inputs),
        cmocka_unit_test(gradients_of_weights_that_wait_keep_inputs_and_gradients),
        cmocka_unit_test(logits_count_in_their_type_and_in_32_bits),
        cmocka_unit_test(matrices_of_8_bits_are_copied_and_transposed),
        cmocka_unit_test(products_of_8_bits_keep_their_inputs_in_8_bits),
        cmocka_unit_test(copies_that_are_cast_once_a_step_stay),
        cmocka_unit_test(a_pair_needs_what_both_need),
        cmocka_unit_test(forward_gathers_a_unit_beside_the_buffer_of_the_one_before),
        cmocka_unit_test(backward_gathers_the_next_unit_and_reduces_the_one_before),
        cmocka_unit_test(zero_2_reduces_gradients_from_a_bucket),
        cmocka_unit_test(gradients_are_whole_until_the_last_micro_batch_if_that_one_reduces),
        cmocka_unit_test(nothing_is_left_behind_and_nothing_is_negative),
        cmocka_unit_test(what_stages_hold_adds_up_to_most_of_the_peak),
        cmocka_unit_test(each_kind_has_a_name_and_a_text),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
