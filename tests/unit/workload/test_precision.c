/* What a precision counts, derived by hand. */
#include "unit/unit.h"

#include "support/wl_strategy.h"
#include "workload/generate.h"

#define TRANSFORMER TEST_SOURCE "/configs/operators/transformer.yaml"

static dse_arena arena;
static dse_error err;
static cfg_doc doc;
static wl_workload w;

static const wl_precision mixed = {
    .weights = 2, .activations = 2, .gradients = 2, .optimizer = 12, .messages = 2};
static const wl_precision odd = {
    .weights = 4, .activations = 2, .gradients = 1, .optimizer = 12, .messages = 0.5};

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
    int64_t batch, sequence, vocabulary, d_model, d_ff, heads;
    uint32_t layers;
} model;

static const model small = {2, 4, 8, 16, 32, 4, 3}, llama70b = {512, 1024, 32000, 8192, 28672, 64, 80};

static void generate(const model *m, wl_strategy s)
{
    const wl_symbols symbols = {
        .n = 7,
        .name = {"Batch", "Seq", "Din", "Dout", "Dmodel", "Dff", "Head"},
        .value = {m->batch, m->sequence, m->vocabulary, m->vocabulary, m->d_model, m->d_ff, m->heads}};

    assert_ok(wl_generate(&doc, &symbols, m->layers, &s, &arena, &w, &err), &err);
}

static const wl_node *node(const char *name)
{
    for (uint32_t g = 0; g < w.n_graphs; g++)
        for (uint32_t i = 0; i < w.graph[g].n_nodes; i++)
            if (!strcmp(w.graph[g].node[i].name, name))
                return &w.graph[g].node[i];
    fail_msg("there is no node %s", name);
    return NULL;
}

static wl_strategy spread(uint32_t dp, uint32_t tp, uint32_t sp, uint32_t pp, wl_precision precision)
{
    return WL_STRATEGY(.dp = dp, .tp = tp, .sp = sp, .pp = pp, .tag_base = WL_TAG_BASE,
                       .precision = precision);
}

/* ---- the state ----------------------------------------------------------------------------- */

/* Of the operator file: an embedding of vocabulary x d_model at each end; in a layer wq, wk and wv of d_model x d_model,
 * w1 of d_model x d_ff and w2 of d_ff x d_model. It has no output projection.
 *   small:    2 * 8 * 16         + 3 * (3 * 16 * 16 + 2 * 16 * 32)          = 256       + 3 * 1,792        = 5,632
 *   llama70b: 2 * 32,000 * 8,192 + 80 * (3 * 8,192^2 + 2 * 8,192 * 28,672) = 524,288,000 + 80 * 671,088,640
 *           = 54,211,379,200 */
#define SMALL_PARAMETERS    UINT64_C(5632)
#define LLAMA70B_PARAMETERS UINT64_C(54211379200)

/* What the ranks of all stages at one place hold of it. */
static uint64_t state_of(wl_tensor_kind kind)
{
    uint64_t bytes = 0;

    for (uint32_t g = 0; g < w.n_graphs; g++)
        bytes += w.graph[g].resident[kind];
    return bytes;
}

static void assert_state(uint64_t parameters)
{
    assert_true(w.in_bytes);
    assert_u64(state_of(WL_TENSOR_WEIGHT), 2 * parameters);
    assert_u64(state_of(WL_TENSOR_WEIGHT_GRADIENT), 2 * parameters);
    assert_u64(state_of(WL_TENSOR_OPTIMIZER), 12 * parameters);
}

CLAIM(mixed_precision_keeps_16_bytes_a_parameter)
{
    generate(&small, spread(1, 1, 1, 1, mixed));
    assert_state(SMALL_PARAMETERS);
    generate(&llama70b, spread(1, 1, 1, 1, mixed));
    assert_state(LLAMA70B_PARAMETERS);
    assert_u64(state_of(WL_TENSOR_WHOLE), 0);
}

CLAIM(tp_divides_the_state_and_dp_and_sp_do_not)
{
    generate(&llama70b, spread(4, 8, 2, 1, mixed));
    assert_state(LLAMA70B_PARAMETERS / 8);
    assert_u64(state_of(WL_TENSOR_WHOLE), 0);
}

CLAIM(stages_divide_it_among_them)
{
    generate(&llama70b, spread(2, 8, 1, 4, mixed));
    assert_state(LLAMA70B_PARAMETERS / 8);
    /* Place p is on stage p modulo 4; places are 0, the layers 1 .. 80, and 81. Stage 0 has the first embedding and layers
     * 4, 8, .. 80: 20 of them. */
    assert_u64(w.graph[0].resident[WL_TENSOR_WEIGHT],
               2 * (UINT64_C(32000) * 8192 + 20 * UINT64_C(671088640)) / 8);
}

/* Whatever is sharded, a layer's is gathered for use: with tp 8, 671,088,640 / 8 weights of 2 bytes. A stage with an
 * embedding alone gathers that. */
CLAIM(sharded_weights_divide_it_by_dp_and_sp_too_and_are_gathered_for_use)
{
    wl_strategy s = spread(4, 8, 2, 1, mixed);

    s.weight_sharded = true;
    generate(&llama70b, s);
    assert_state(LLAMA70B_PARAMETERS / 64);
    assert_u64(w.graph[0].resident[WL_TENSOR_WHOLE], UINT64_C(671088640) / 8 * 2);
    s = spread(4, 1, 1, 3, mixed);
    s.weight_sharded = true;
    generate(&(model){2, 4, 8, 16, 32, 4, 1}, s);
    assert_u64(w.graph[0].resident[WL_TENSOR_WHOLE], 8 * 16 * 2);
    assert_u64(w.graph[1].resident[WL_TENSOR_WHOLE], 8 * 16 * 2);
    assert_u64(w.graph[2].resident[WL_TENSOR_WHOLE], (3 * 16 * 16 + 2 * 16 * 32) * 2);
}

/* 80 layers on 4 stages: 1 .. 20 with the first embedding, ..., 61 .. 80 with the other. 2 layers on 3: the head is alone,
 * and gathers itself. */
CLAIM(stages_of_neighbours_have_what_their_pieces_have)
{
    const uint64_t layer = UINT64_C(671088640), embedding = UINT64_C(32000) * 8192;
    wl_strategy s = spread(2, 8, 1, 4, mixed);

    s.stages = WL_STAGES_NEIGHBOURS;
    generate(&llama70b, s);
    assert_state(LLAMA70B_PARAMETERS / 8);
    for (uint32_t g = 0; g < 4; g++)
        assert_u64(w.graph[g].resident[WL_TENSOR_WEIGHT],
                   2 * (20 * layer + (g == 0 || g == 3 ? embedding : 0)) / 8);
    s = spread(4, 1, 1, 3, mixed);
    s.weight_sharded = true;
    s.stages = WL_STAGES_NEIGHBOURS;
    generate(&(model){2, 4, 8, 16, 32, 4, 2}, s);
    assert_u64(w.graph[0].resident[WL_TENSOR_WHOLE], (3 * 16 * 16 + 2 * 16 * 32) * 2);
    assert_u64(w.graph[1].resident[WL_TENSOR_WHOLE], (3 * 16 * 16 + 2 * 16 * 32) * 2);
    assert_u64(w.graph[2].resident[WL_TENSOR_WHOLE], 8 * 16 * 2);
}

/* A graph's tensor of this name, and what the simulator counts of it. */
static const wl_tensor_info *tensor(const wl_io_csr *io, const char *of, uint32_t k, uint64_t *size)
{
    const wl_graph *g = &w.graph[0];
    const uint32_t n = (uint32_t)(node(of) - g->node);

    assert_true(io->start[n] + k < io->start[n + 1]);
    *size = io->item[io->start[n] + k].size;
    return &g->tensor[io->item[io->start[n] + k].tensor];
}

/* The update of wq reads the weight, and its gradient, of 16 x 16. */
CLAIM(what_is_in_the_state_is_counted_nowhere_else)
{
    uint64_t size;

    generate(&small, spread(2, 1, 1, 1, mixed));
    assert_int_equal(tensor(&w.graph[0].inputs, "stack_0_mha_wq@1_COMP", 0, &size)->kind, WL_TENSOR_WEIGHT);
    assert_u64(size, 0);
    assert_int_equal(tensor(&w.graph[0].inputs, "stack_0_mha_wq@1_COMP", 1, &size)->kind,
                     WL_TENSOR_WEIGHT_GRADIENT);
    assert_u64(size, 0);
    assert_int_equal(tensor(&w.graph[0].outputs, "stack_0_mha_wq@1_COMP", 0, &size)->kind,
                     WL_TENSOR_UPDATED_WEIGHT);
    assert_u64(size, 0);
}

/* With sharded weights the gradient is made whole, then reduced and scattered. A file has all of its bytes. */
CLAIM(a_gradient_that_is_not_in_its_weights_sharding_counts_beside_the_state)
{
    wl_strategy s = spread(2, 1, 1, 1, mixed);
    const wl_tensor_info *t;
    uint64_t size;

    s.weight_sharded = true;
    generate(&small, s);
    t = tensor(&w.graph[0].inputs, "stack_0_mha_wq@1_COMP", 1, &size);
    assert_int_equal(t->kind, WL_TENSOR_WHOLE);
    assert_u64(size, 16 * 16 * 2);
    assert_double(t->elements, 16 * 16 * 2);
    assert_double(tensor(&w.graph[0].inputs, "stack_0_mha_wq@1_COMP", 0, &size)->elements, 16 * 16 / 2 * 2);
}

/* ---- sizes --------------------------------------------------------------------------------- */

/* y = x w of the first embedding: b s = 8 rows, 8 x 16 weights. Operations: 2 * 8 * 8 * 16. Bytes: y 8 * 16 * 2, x 8 * 8 * 2,
 * w 8 * 16 * 4. */
CLAIM(a_multiply_add_is_two_operations_and_operands_have_bytes_of_their_kinds)
{
    generate(&small, spread(1, 1, 1, 1, odd));
    assert_u64(node("in_emb_y@0_COMP")->num_ops, 2048);
    assert_u64(node("in_emb_y@0_COMP")->tensor_size, 256 + 128 + 512);
    assert_u64(node("in_emb_y@0_COMP")->y_size, 8 * 16); /* STAGE's JSON: elements */
}

/* The gradient of w is made of two activations: 8 * 16 * 1, 8 * 16 * 2 and 8 * 8 * 2 bytes. */
CLAIM(the_gradient_of_a_weight_has_bytes_of_its_own)
{
    generate(&small, spread(1, 1, 1, 1, odd));
    assert_u64(node("in_emb_dw@0_COMP")->tensor_size, 128 + 256 + 128);
}

/* 8 * 16 weights of 4 bytes and their optimizer's 12 are read and written, 1 byte of gradient is read. A norm, of 8 * 16
 * elements, is 5 operations each and no multiply-adds. */
CLAIM(an_update_moves_what_the_optimizer_keeps)
{
    generate(&small, spread(1, 1, 1, 1, odd));
    assert_u64(node("in_emb_w@1_COMP")->tensor_size, 128 * (2 * 4 + 2 * 12 + 1));
    assert_u64(node("in_emb_w@1_COMP")->num_ops, 128);
    assert_u64(node("stack_0_mha_norm@0_COMP")->num_ops, 5 * 128);
}

/* STAGE counts the result of a reshape, of 8 * 16 elements here, twice. */
CLAIM(a_reshape_reads_and_writes_its_tensor_once)
{
    generate(&small, spread(1, 1, 1, 1, odd));
    assert_u64(node("stack_0_mha_qkv_reshape@0_COMP")->tensor_size, 2 * 128 * 2);
    generate(&small, spread(1, 1, 1, 1, (wl_precision){0}));
    assert_u64(node("stack_0_mha_qkv_reshape@0_COMP")->tensor_size, 3 * 128);
}

CLAIM(messages_have_the_bytes_of_messages_whatever_they_carry)
{
    generate(&small, spread(2, 1, 1, 2, odd));
    assert_u64(node("in_emb_w@1_X2_COMM")->comm_size, 8 * 16 / 2); /* a gradient, */
    assert_u64(node("in_emb_y@0_Y_SEND")->comm_size, 4 * 16 / 2);  /* and an activation of half the batch */
}

/* Byte for byte, but for the sizes; the elements of the first test of this kind. */
CLAIM(without_one_elements_are_counted_and_nothing_is_resident)
{
    uint64_t size;

    generate(&small, spread(1, 1, 1, 1, (wl_precision){0}));
    assert_false(w.in_bytes);
    for (int kind = 0; kind < WL_N_TENSOR_KINDS; kind++)
        assert_u64(state_of((wl_tensor_kind)kind), 0);
    assert_u64(node("in_emb_y@0_COMP")->num_ops, 1024);
    assert_u64(node("in_emb_y@0_COMP")->tensor_size, 128 + 64 + 128);
    assert_u64(node("in_emb_w@1_COMP")->tensor_size, 3 * 128);
    tensor(&w.graph[0].inputs, "stack_0_mha_wq@1_COMP", 0, &size);
    assert_u64(size, 16 * 16);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(mixed_precision_keeps_16_bytes_a_parameter),
        TEST(tp_divides_the_state_and_dp_and_sp_do_not),
        TEST(stages_divide_it_among_them),
        TEST(sharded_weights_divide_it_by_dp_and_sp_too_and_are_gathered_for_use),
        TEST(stages_of_neighbours_have_what_their_pieces_have),
        TEST(what_is_in_the_state_is_counted_nowhere_else),
        TEST(a_gradient_that_is_not_in_its_weights_sharding_counts_beside_the_state),
        TEST(a_multiply_add_is_two_operations_and_operands_have_bytes_of_their_kinds),
        TEST(the_gradient_of_a_weight_has_bytes_of_its_own),
        TEST(an_update_moves_what_the_optimizer_keeps),
        TEST(a_reshape_reads_and_writes_its_tensor_once),
        TEST(messages_have_the_bytes_of_messages_whatever_they_carry),
        TEST(without_one_elements_are_counted_and_nothing_is_resident),
    };

    return RUN_TESTS(tests);
}
