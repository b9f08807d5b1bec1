/* What the shipped operator files compute, keep and communicate, against hand and paper. */
#include "unit/unit.h"

#include "sim/sim.h"
#include "support/wl_strategy.h"
#include "workload/generate.h"

enum { DP, TP, SP }; /* communicator slots */

#define GPT   TEST_SOURCE "/configs/operators/gpt.yaml"
#define LLAMA TEST_SOURCE "/configs/operators/llama.yaml"

static dse_arena arena;
static dse_error err;

static int set_up(void **state)
{
    (void)state;
    dse_arena_init(&arena);
    err = (dse_error)DSE_ERROR_INIT;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    dse_arena_free(&arena);
    return 0;
}

/* batch of a replica, sequence, d_model, d_ff, heads, kv_heads */
typedef struct {
    const char *operators;
    int64_t b, s, h, f, a, g;
} model;

static const model gpt22b = {GPT, 4, 2048, 6144, 4 * 6144, 64, 64};
static const model gpt175b = {GPT, 1, 2048, 12288, 4 * 12288, 96, 96};
static const model llama8b = {LLAMA, 2, 8192, 4096, 14336, 32, 8}; /* a fourth as many keys as heads */

static const wl_precision mixed = {
    .weights = 2, .activations = 2, .gradients = 2, .optimizer = 12, .messages = 2};
#define REPLICAS WL_STRATEGY(.dp = 2, .tp = 1, .sp = 1, .pp = 1, .tag_base = WL_TAG_BASE)

static void generate(const model *m, uint32_t layers, const wl_strategy *s, wl_workload *out)
{
    const wl_symbols symbols = {.n = 7,
                                .name = {"Batch", "Seq", "Vocab", "Dmodel", "Dff", "Head", "KvHead"},
                                .value = {m->b * s->dp, m->s, 51200, m->h, m->f, m->a, m->g}};
    cfg_doc doc;

    assert_ok(cfg_load(m->operators, &arena, &doc, &err), &err);
    assert_ok(wl_generate(&doc, &symbols, layers, s, &arena, out, &err), &err);
}

/* ---- memory -------------------------------------------------------------------------------- */

static sim_peak peak_of(const model *m, uint32_t layers, const wl_strategy *s)
{
    sim_settings set = {.splits = 1,
                        .endpoint_delay = 10,
                        .active_chunks = 1,
                        .queues_per_dim = 1,
                        .roofline = true,
                        .peak_ops_per_s = 312e12,
                        .memory_bytes_per_s = 2039e9,
                        .track_memory = true};
    net_network net = {.n_dims = 1};
    sim_result result;
    wl_workload w;

    net.dim[0] = (net_dimension){
        .topology = net_topology_find("Switch"), .shape = {.n = s->dp * s->tp}, .gib_per_s = 100};
    assert_ok(net_network_finish(&net, &err), &err);
    for (int c = 0; c < SIM_N_COLLECTIVES; c++) {
        set.implementations[c].n_dims = 1;
        assert_int_equal(sim_implementation_parse("ring", &set.implementations[c].dim[0], NULL), DSE_OK);
    }
    generate(m, layers, s, &w);
    assert_ok(sim_run(&set, &net, &w, SIM_ALL_SHORTCUTS, &arena, &result, NULL, &err), &err);
    return result.peak;
}

/* What a layer more adds to the bytes at the peak, which is at the same place of the backward pass either way. */
static uint64_t kept_by_a_layer(const model *m, uint32_t tp, bool recompute)
{
    wl_strategy s = REPLICAS;

    s.tp = tp;
    s.precision = mixed;
    s.recompute = recompute;
    return peak_of(m, 4, &s).held[WL_TENSOR_ACTIVATION] - peak_of(m, 3, &s).held[WL_TENSOR_ACTIVATION];
}

/* Korthikanti et al. 2022 (arXiv 2205.05198): equation 1, s b h (34 + 5 a s / h) bytes a layer, and equation 2 with tensor
 * parallelism t, s b h (10 + 24 / t + 5 a s / (h t)). gpt.yaml's head has the tensors that these are. */
CLAIM(a_layer_of_gpt_keeps_what_the_published_formula_says)
{
    const model *models[] = {&gpt22b, &gpt175b};

    for (int i = 0; i < 2; i++) {
        const model *m = models[i];
        const uint64_t sbh = (uint64_t)(m->s * m->b * m->h), as2b = (uint64_t)(m->a * m->s * m->s * m->b);

        assert_u64(kept_by_a_layer(m, 1, false), 34 * sbh + 5 * as2b);
        assert_u64(kept_by_a_layer(m, 8, false), 10 * sbh + 24 * sbh / 8 + 5 * as2b / 8);
    }
}

/* 2 s b h, whatever tp: "full activation recomputation" of the same paper, table 2. */
CLAIM(with_recomputation_a_layer_keeps_its_input)
{
    const model *models[] = {&gpt22b, &gpt175b, &llama8b};

    for (int i = 0; i < 3; i++) {
        const uint64_t sbh = (uint64_t)(models[i]->s * models[i]->b * models[i]->h);

        assert_u64(kept_by_a_layer(models[i], 1, true), 2 * sbh);
        assert_u64(kept_by_a_layer(models[i], 8, true), 2 * sbh);
    }
}

/* Updates come last, as they have the highest ids; a gradient's shard is in the state, and its whole is not needed after its
 * reduce-scatter. Were it kept for the update, each layer would add its 436 MB of whole gradients to the end of the step, which
 * would be the peak of sixteen layers. */
CLAIM(a_whole_gradient_is_gone_once_it_is_reduced)
{
    wl_strategy s = REPLICAS;

    s.precision = mixed;
    s.recompute = s.weight_sharded = true;
    assert_u64(peak_of(&llama8b, 16, &s).held[WL_TENSOR_WHOLE],
               peak_of(&llama8b, 12, &s).held[WL_TENSOR_WHOLE]);
}

/* x, norm1, q, c, res and norm2 of h a token; k and v of h / 4; gate, up, silu and their product of f. 2 bytes each. */
CLAIM(a_layer_of_llama_keeps_no_scores)
{
    const model *m = &llama8b;

    assert_u64(kept_by_a_layer(m, 1, false),
               (uint64_t)(2 * m->b * m->s * (6 * m->h + 2 * m->h / 4 + 4 * m->f)));
    assert_u64(kept_by_a_layer(m, 2, false),
               (uint64_t)(2 * m->b * m->s * (4 * m->h + (2 * m->h + 2 * m->h / 4 + 4 * m->f) / 2)));
}

/* ---- operations ---------------------------------------------------------------------------- */

static uint64_t operations(const model *m, wl_strategy s)
{
    uint64_t n = 0;
    wl_workload w;

    generate(m, 1, &s, &w);
    for (uint32_t i = 0; i < w.graph[0].n_nodes; i++)
        if (w.graph[0].node[i].layer == 0)
            n += w.graph[0].node[i].num_ops;
    return n;
}

/* Multiply-adds of a layer's products, on a rank: with a precision they count twice, and nothing else does. */
static uint64_t multiply_adds(const model *m, bool recompute)
{
    wl_strategy s = REPLICAS, in_bytes;

    s.recompute = recompute;
    in_bytes = s;
    in_bytes.precision = mixed;
    return operations(m, in_bytes) - operations(m, s);
}

/* Three of 2 operations for each parameter and token, forward and for two gradients: 6 P T in all, with P = 4 h^2 of
 * attention and 2 h f of the feed-forward network; and each score twice (q k, p v) forward and four times back.
 * Recomputation adds the forward pass. */
CLAIM(a_layer_of_gpt_computes_6_P_T_and_its_scores)
{
    const model *m = &gpt22b;
    const uint64_t p = (uint64_t)(4 * m->h * m->h + 2 * m->h * m->f), t = (uint64_t)(m->b * m->s);
    const uint64_t score = (uint64_t)(m->b * m->s * m->s * m->h);

    assert_u64(2 * multiply_adds(m, false), 6 * p * t + 12 * score);
    assert_u64(multiply_adds(m, true), 4 * p * t + 8 * score);
}

/* P = h^2 (1 + 1/4 + 1/4 + 1) + 3 h f. Half of the scores: two products forward, five back. Recomputation stops in front of
 * w_down, whose result nothing reads. */
CLAIM(a_layer_of_llama_computes_half_of_the_scores)
{
    const model *m = &llama8b;
    const uint64_t p = (uint64_t)(m->h * m->h * 5 / 2 + 3 * m->h * m->f), t = (uint64_t)(m->b * m->s);
    const uint64_t half = (uint64_t)(m->b * m->s * m->s * m->h) / 2;

    assert_u64(2 * multiply_adds(m, false), 6 * p * t + 14 * half);
    assert_u64(multiply_adds(m, true), 4 * p * t - (uint64_t)(m->h * m->f) * t + 9 * half);
}

/* A row of the table for each token, twice forward (the dropout, too) and back; the logits' products are the only ones. */
CLAIM(an_embedding_is_no_product)
{
    const wl_strategy replicas = REPLICAS;
    const uint64_t tokens = (uint64_t)(gpt22b.b * gpt22b.s), rows = tokens * 6144;
    wl_workload w;

    generate(&gpt22b, 1, &replicas, &w);
    for (uint32_t i = 0; i < w.graph[0].n_nodes; i++) {
        const wl_node *n = &w.graph[0].node[i];

        if (!strcmp(n->name, "in_emb_e@0_COMP")) {
            assert_u64(n->num_ops, rows);
            assert_u64(n->tensor_size, 2 * rows + tokens);
        }
        if (!strcmp(n->name, "in_emb_d_w@0_COMP")) {
            assert_u64(n->num_ops, rows);
            assert_u64(n->tensor_size, UINT64_C(51200) * 6144 + rows + tokens);
        }
    }
}

/* ---- collectives --------------------------------------------------------------------------- */

/* Of one layer; of those that all have one size. */
static uint32_t count(const wl_workload *w, uint32_t coll, uint32_t slot, uint64_t size)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < w->graph[0].n_nodes; i++) {
        const wl_node *k = &w->graph[0].node[i];

        n += k->type == WL_NODE_COLL && k->coll == coll && k->slot == slot && k->layer == 0 &&
             (!size || k->comm_size == size);
    }
    return n;
}

/* Megatron-LM: two all-reduces of the hidden state forward, two backward; recomputing gpt repeats both, llama but the one
 * whose result is read again. In front of llama's first layer is that of the embedding, too. */
CLAIM(tensor_parallelism_is_four_all_reduces_of_the_hidden_state)
{
    const model *models[] = {&gpt22b, &llama8b};

    for (int i = 0; i < 2; i++) {
        const uint64_t hidden = (uint64_t)(models[i]->b * models[i]->s * models[i]->h);
        wl_strategy s = REPLICAS;
        wl_workload w;

        s.tp = 8;
        generate(models[i], 1, &s, &w);
        assert_int_equal(count(&w, WL_ALL_REDUCE, TP, hidden), 4 + i);
        assert_int_equal(count(&w, WL_ALL_REDUCE, TP, 0), 4 + i);
        assert_int_equal(count(&w, WL_ALL_GATHER, TP, 0) + count(&w, WL_REDUCE_SCATTER, TP, 0), 0);
        assert_int_equal(count(&w, WL_ALL_REDUCE, DP, 0), i == 0 ? 6 : 7); /* a gradient of each weight */
        s.recompute = true;
        generate(models[i], 1, &s, &w);
        assert_int_equal(count(&w, WL_ALL_REDUCE, TP, hidden), i == 0 ? 6 : 5 + 1);
    }
}

/* Each weight is gathered forward and, whatever is recomputed, once more; its gradient is scattered. */
CLAIM(sharded_weights_are_gathered_twice)
{
    const model *models[] = {&gpt22b, &llama8b};

    for (int i = 0; i < 4; i++) {
        const uint32_t n_weights = i / 2 == 0 ? 6 : 7;
        wl_strategy s = REPLICAS;
        wl_workload w;

        s.weight_sharded = true;
        s.recompute = i % 2 != 0;
        generate(models[i / 2], 1, &s, &w);
        assert_int_equal(count(&w, WL_ALL_GATHER, DP, 0), 2 * n_weights);
        assert_int_equal(count(&w, WL_REDUCE_SCATTER, DP, 0), n_weights);
        assert_int_equal(count(&w, WL_ALL_REDUCE, DP, 0), 0);
    }
}

/* Keys and values are gathered where they are read, and their gradients scattered; queries stay. The weights' gradients are
 * added up. */
CLAIM(context_parallelism_gathers_keys_and_values)
{
    const uint64_t keys =
        (uint64_t)(llama8b.b * llama8b.s * llama8b.h) / 4; /* a fourth of the heads have them */
    wl_strategy s = REPLICAS;
    wl_workload w;

    s.sp = 4;
    generate(&llama8b, 1, &s, &w);
    assert_int_equal(count(&w, WL_ALL_GATHER, SP, keys / 4), 5); /* what a rank has: k and v; v, k, k */
    assert_int_equal(count(&w, WL_ALL_GATHER, SP, 0), 5);
    assert_int_equal(count(&w, WL_REDUCE_SCATTER, SP, keys), 2);
    assert_int_equal(count(&w, WL_REDUCE_SCATTER, SP, 0), 2);
    assert_int_equal(count(&w, WL_ALL_REDUCE, SP, 0), 7);
    generate(&gpt22b, 1, &s, &w);
    assert_int_equal(count(&w, WL_ALL_GATHER, SP, 0), 4);
    assert_int_equal(count(&w, WL_REDUCE_SCATTER, SP, 0), 2);
    assert_int_equal(count(&w, WL_ALL_TO_ALL, SP, 0), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_layer_of_gpt_keeps_what_the_published_formula_says),
        TEST(with_recomputation_a_layer_keeps_its_input),
        TEST(a_whole_gradient_is_gone_once_it_is_reduced),
        TEST(a_layer_of_llama_keeps_no_scores),
        TEST(a_layer_of_gpt_computes_6_P_T_and_its_scores),
        TEST(a_layer_of_llama_computes_half_of_the_scores),
        TEST(an_embedding_is_no_product),
        TEST(tensor_parallelism_is_four_all_reduces_of_the_hidden_state),
        TEST(sharded_weights_are_gathered_twice),
        TEST(context_parallelism_gathers_keys_and_values),
    };

    return RUN_TESTS(tests);
}
