/* The activations that a layer keeps for its backward pass, against a published formula; and what a peak consists of. */
#include "unit/unit.h"

#include "sim/sim.h"
#include "support/wl_strategy.h"
#include "workload/generate.h"

#define TRANSFORMER TEST_SOURCE "/configs/operators/transformer.yaml"

static dse_arena arena;
static dse_error err;
static cfg_doc doc;

static int set_up(void **state)
{
    (void)state;
    dse_arena_init(&arena);
    err = (dse_error)DSE_ERROR_INIT;
    assert_ok(cfg_load(TRANSFORMER, &arena, &doc, &err), &err);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    dse_arena_free(&arena);
    return 0;
}

typedef struct {
    int64_t b, s, h, a; /* batch of a replica, sequence, d_model, heads; d_ff is 4 h */
} model;

static const model gpt22b = {4, 2048, 6144, 64}, gpt175b = {1, 2048, 12288, 96};

/* Of the one rank of its largest. */
static sim_peak peak_of(const model *m, uint32_t layers, wl_strategy s, uint64_t *peak)
{
    static const sim_settings settings = {.splits = 1,
                                          .active_chunks = 1,
                                          .queues_per_dim = 1,
                                          .roofline = true,
                                          .peak_ops_per_s = 312e12,
                                          .memory_bytes_per_s = 2039e9,
                                          .track_memory = true};
    const wl_symbols symbols = {.n = 7,
                                .name = {"Batch", "Seq", "Din", "Dout", "Dmodel", "Dff", "Head"},
                                .value = {m->b * s.dp, m->s, 51200, 51200, m->h, 4 * m->h, m->a}};
    const uint32_t n = s.dp * s.tp * s.sp * s.pp;
    sim_settings set = settings;
    net_network net = {0};
    sim_result result;
    wl_workload w;

    net.n_dims = 1;
    net.dim[0] = (net_dimension){
        .topology = net_topology_find("Ring"), .shape = {.n = n}, .gib_per_s = 100, .latency_ns = 500};
    assert_ok(net_network_finish(&net, &err), &err);
    for (int c = 0; c < SIM_N_COLLECTIVES; c++) {
        set.implementations[c].n_dims = 1;
        assert_int_equal(sim_implementation_parse("ring", &set.implementations[c].dim[0], NULL), DSE_OK);
    }
    s.tag_base = WL_TAG_BASE;
    assert_ok(wl_generate(&doc, &symbols, layers, &s, &arena, &w, &err), &err);
    assert_ok(sim_run(&set, &net, &w, SIM_ALL_SHORTCUTS, &arena, &result, NULL, &err), &err);
    *peak = result.rank[result.peak.rank].peak_memory;
    return result.peak;
}

/* A network has two NPUs at least: two replicas. */
#define REPLICAS                                                                                             \
    WL_STRATEGY(.dp = 2, .tp = 1, .sp = 1, .pp = 1,                                                          \
                .precision = {                                                                               \
                    .weights = 2, .activations = 2, .gradients = 2, .optimizer = 12, .messages = 2})

/* What one layer more adds to the activations at the peak, which is in the last layer either way. */
static uint64_t activations_of_a_layer(const model *m)
{
    uint64_t peak;
    const sim_peak more = peak_of(m, 3, REPLICAS, &peak), less = peak_of(m, 2, REPLICAS, &peak);

    assert_string_equal(less.node->name, "stack_1_mha_d_qk@0_COMP");
    assert_string_equal(more.node->name, "stack_2_mha_d_qk@0_COMP");
    return more.held[WL_TENSOR_ACTIVATION] - less.held[WL_TENSOR_ACTIVATION];
}

/* Korthikanti et al. 2022 (arXiv 2205.05198), section 4.1, equation 1: a layer keeps s b h (34 + 5 a s / h) bytes in 16-bit
 * precision without recomputation, tp 1. Term by term, in bytes, and what of it the operator file has:
 *
 *   formula                                   s b h  a s^2 b   ours
 *   input of q, k, v                              2            x, which is the norm of the layer before
 *   q and k                                       4            q, k
 *   output of the softmax                                 2    qk: there is no softmax, its output takes qk's place
 *   mask of the softmax's dropout                         1    -: no dropout
 *   output of that dropout                                2    -
 *   v                                             2            v
 *   input of the projection                       2            -: no projection
 *   mask of the attention's dropout               1            -
 *   input of the first linear layer               2            norm of the attention
 *   input of the GeLU                             8            -: no activation function
 *   input of the second linear layer              8            x1
 *   mask of the MLP's dropout                     1            -
 *   inputs of two layer norms                     4            -: the backward pass of a norm reads its gradient replicas
 *   sum                                          34       5    18 and 2; the rest is 16 and 3
 */
static void assert_terms(const model *m)
{
    const uint64_t sbh = (uint64_t)(m->s * m->b * m->h), as2b = (uint64_t)(m->a * m->s * m->s * m->b);
    const uint64_t formula = 34 * sbh + 5 * as2b, no_tensor_of_ours = 16 * sbh + 3 * as2b;

    assert_u64(activations_of_a_layer(m), formula - no_tensor_of_ours);
}

/* s b h = 2,048 * 4 * 6,144 = 50,331,648; a s^2 b = 64 * 2,048^2 * 4 = 1,073,741,824. The formula gives 7,079,985,152. */
CLAIM(a_layer_of_22B_keeps_the_terms_of_the_formula_that_it_has_tensors_for)
{
    assert_terms(&gpt22b);
    assert_u64(activations_of_a_layer(&gpt22b), UINT64_C(18) * 50331648 + UINT64_C(2) * 1073741824);
}

/* s b h = 2,048 * 12,288 = 25,165,824; a s^2 b = 96 * 2,048^2 = 402,653,184. The formula gives 2,868,903,936. */
CLAIM(a_layer_of_175B_does_too)
{
    assert_terms(&gpt175b);
    assert_u64(activations_of_a_layer(&gpt175b), UINT64_C(18) * 25165824 + UINT64_C(2) * 402653184);
}

/* Elements are half as many, and no state is there but the weights, which are tensors. */
CLAIM(without_a_precision_it_is_half_of_that)
{
    wl_strategy s = REPLICAS;
    uint64_t peak;
    sim_peak more, less;

    s.precision = (wl_precision){0};
    more = peak_of(&gpt22b, 3, s, &peak);
    less = peak_of(&gpt22b, 2, s, &peak);
    assert_u64(more.held[WL_TENSOR_ACTIVATION] - less.held[WL_TENSOR_ACTIVATION],
               UINT64_C(9) * 50331648 + 1073741824);
    assert_u64(more.held[WL_TENSOR_OPTIMIZER], 0);
}

/* The state of 2 layers of 12,288: 2 * 51,200 * 12,288 + 2 * (3 + 8) * 12,288^2 parameters, over tp 4 and, if weights are
 * sharded, dp 2. */
CLAIM(a_peak_has_the_whole_state_and_its_parts_add_up)
{
    const uint64_t parameters = UINT64_C(2) * 51200 * 12288 + UINT64_C(22) * 12288 * 12288;

    for (int sharded = 0; sharded < 2; sharded++) {
        wl_strategy s = REPLICAS;
        uint64_t peak, sum = 0, each = parameters / (sharded ? 8 : 4);
        sim_peak p;

        s.tp = 4;
        s.weight_sharded = sharded != 0;
        p = peak_of(&(model){1, 2048, 12288, 96}, 2, s, &peak);
        for (int kind = 0; kind < WL_N_TENSOR_KINDS; kind++)
            sum += p.held[kind];
        assert_u64(sum, peak);
        assert_u64(p.held[WL_TENSOR_WEIGHT], 2 * each);
        assert_u64(p.held[WL_TENSOR_WEIGHT_GRADIENT], 2 * each);
        assert_u64(p.held[WL_TENSOR_OPTIMIZER], 12 * each);
        assert_u64(p.held[WL_TENSOR_UPDATED_WEIGHT], 0);
        assert_int_equal(p.held[WL_TENSOR_WHOLE] > 0, sharded);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_layer_of_22B_keeps_the_terms_of_the_formula_that_it_has_tensors_for),
        TEST(a_layer_of_175B_does_too),
        TEST(without_a_precision_it_is_half_of_that),
        TEST(a_peak_has_the_whole_state_and_its_parts_add_up),
    };

    return RUN_TESTS(tests);
}
