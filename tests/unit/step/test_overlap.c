/* What collectives of tensor parallelism wait for, and what waits for them (step_tensor). */
#include "base/array.h"
#include "step/program.h"
#include "unit/step/small.h"

static dse_arena arena;

/* The layer of small.h on one of two ranks, with sequence parallelism: the operations of a pass, each with the numbers, from 0,
 * of those that it needs. */
static const char *operations(step_tensor tensor, bool is_backward)
{
    step_options o = small_options();
    const step_model m = small_model(1, &arena);
    step_shape s;
    step_program p;
    dse_strbuf text;

    o.tp = 2;
    o.sequence_parallel = true;
    o.fused_attention = true;
    o.tensor = tensor;
    s = step_shape_of(&m, &o);
    if (is_backward)
        step_program_backward(&m.block[STEP_LAYER], &s, STEP_PART_BOTH, false, &arena, &p);
    else
        step_program_forward(&m.block[STEP_LAYER], &s, &arena, &p);
    dse_strbuf_init(&text);
    for (uint32_t i = 0; i < p.n; i++) {
        const step_operation *op = &p.operation[i];
        const char *name = op->unit == STEP_UNIT_COMPUTE ? wl_kernel_class_name(op->kernel.class)
                                                         : wl_coll_type_name(op->collective.type);

        dse_strbuf_addf(&text, "%s%s %s", i ? ", " : "", op->module->name, name);
        for (size_t k = 0; k < DSE_COUNT(op->needs); k++)
            if (op->needs[k] != DSE_NONE)
                dse_strbuf_addf(&text, " %u", op->needs[k]);
    }
    return dse_strbuf_take(&text, &arena);
}

CLAIM(a_program_may_wait_for_each)
{
    dse_arena_init(&arena);
    assert_string_equal(operations(STEP_TENSOR_WAITS, false),
                        "norm normalisation, qkv ALL_GATHER 0, qkv matmul 1, attention elementwise 2, "
                        "attention attention 3, attention elementwise 4, down matmul 5, down REDUCE_SCATTER 6");
    assert_string_equal(operations(STEP_TENSOR_WAITS, true),
                        "down ALL_GATHER, down matmul 0, down matmul 1, "
                        "attention attention_backward 2, attention elementwise 3, qkv matmul 4, qkv matmul 5, "
                        "qkv REDUCE_SCATTER 6, norm normalisation 7");
    dse_arena_free(&arena);
}

CLAIM(a_sum_of_the_backward_pass_goes_on_beside_the_next_product)
{
    dse_arena_init(&arena);
    assert_string_equal(operations(STEP_TENSOR_BESIDE, false),
                        "norm normalisation, qkv ALL_GATHER 0, qkv matmul 1, attention elementwise 2, "
                        "attention attention 3, attention elementwise 4, down matmul 5, down REDUCE_SCATTER 6");
    assert_string_equal(operations(STEP_TENSOR_BESIDE, true),
                        "down ALL_GATHER, down matmul 0, down matmul 1, "
                        "attention attention_backward 2, attention elementwise 3, qkv matmul 4, qkv REDUCE_SCATTER 5, "
                        "qkv matmul 5, norm normalisation 7 6");
    dse_arena_free(&arena);
}

CLAIM(products_are_cut_beside_what_gathers_and_sums)
{
    dse_arena_init(&arena);
    assert_string_equal(operations(STEP_TENSOR_PIECES, false),
                        "norm normalisation, qkv ALL_GATHER 0, qkv matmul 0, qkv matmul 2 1, attention elementwise 3, "
                        "attention attention 4, attention elementwise 5, down matmul 6, down REDUCE_SCATTER 7, down matmul 7");
    assert_string_equal(operations(STEP_TENSOR_PIECES, true),
                        "down ALL_GATHER, down matmul, down matmul 1 0, down matmul 2, "
                        "attention attention_backward 3, attention elementwise 4, qkv matmul 5, qkv REDUCE_SCATTER 6, "
                        "qkv matmul 6, norm normalisation 8 7");
    dse_arena_free(&arena);
}

/* A layer with a shared expert: its first part goes on beside dispatch, its second beside combine (spec of the training step,
 * section 4). Two ranks with other experts, without a limit: tokens and then their probabilities are exchanged. */
static const char *expert_operations(bool overlaps, bool is_backward)
{
    static const char text[] = "hidden: H\nsequence: S\nblocks:\n"
                               "  embedding:\n    token: {embedding: [V, H]}\n"
                               "  layer:\n"
                               "    norm: {norm: H}\n"
                               "    shared_up: {linear: [H, F], split: column, shared: yes, shared_expert: yes}\n"
                               "    shared_act: {activation: F, operations: 8}\n"
                               "    shared_down: {linear: [F, H], split: row, shared_expert: yes}\n"
                               "    router: {router: [H, F], top_k: T}\n"
                               "    dispatch: {dispatch: H, experts: F, top_k: T}\n"
                               "    up: {grouped: [H, F], split: column, experts: F, top_k: T}\n"
                               "    combine: {combine: H, experts: F, top_k: T}\n"
                               "    residual: {add: norm}\n"
                               "  head:\n    output: {linear: [H, V], split: column}\n    loss: {loss: V}\n";
    step_options o = small_options();
    const step_model m = small_model_of(text, 1, &arena);
    step_shape s;
    step_program p;
    dse_strbuf out;

    o.dp = o.ep = 2;
    o.adds_gradients = true;
    o.overlaps_shared = overlaps;
    s = step_shape_of(&m, &o);
    if (is_backward)
        step_program_backward(&m.block[STEP_LAYER], &s, STEP_PART_BOTH, false, &arena, &p);
    else
        step_program_forward(&m.block[STEP_LAYER], &s, &arena, &p);
    dse_strbuf_init(&out);
    for (uint32_t i = 0; i < p.n; i++) {
        const step_operation *op = &p.operation[i];

        dse_strbuf_addf(&out, "%s%s%s", i ? ", " : "", op->module->name, op->unit == STEP_UNIT_COMPUTE ? "" : "*");
        for (size_t k = 0; k < DSE_COUNT(op->needs); k++)
            if (op->needs[k] != DSE_NONE)
                dse_strbuf_addf(&out, " %u", op->needs[k]);
        for (uint32_t k = 0; is_backward && k < m.block[STEP_LAYER].n; k++)
            if (p.end_of[k] == i + 1)
                dse_strbuf_addf(&out, " (%u)", k);
    }
    return dse_strbuf_take(&out, &arena);
}

CLAIM(exchanges_go_on_beside_the_shared_expert)
{
    dse_arena_init(&arena);
    assert_string_equal(expert_operations(false, false),
                        "norm, shared_up 0, shared_act 1, shared_down 2, router 3, router 4, dispatch* 5, dispatch 6, "
                        "dispatch* 7, dispatch* 8, dispatch 9, up 10, combine 11, combine* 12, combine 13, residual 14");
    assert_string_equal(expert_operations(true, false),
                        "norm, router 0, router 1, dispatch* 2, dispatch 3, dispatch* 4, dispatch* 5, shared_up 0, "
                        "shared_act 7, dispatch 6, up 9, combine 10, combine* 11, shared_down 8, combine 12, residual 14 13");
    /* In brackets the module that is over, whose gradients may be reduced. */
    assert_string_equal(expert_operations(false, true),
                        "residual (8), combine 0, combine* 1, combine 2 (7), up 3, up 4 (6), dispatch 5, dispatch* 6, "
                        "dispatch* 7, dispatch 8 (5), router 9, router 10, router 11 (4), shared_down 12, "
                        "shared_down 13 (3), shared_act 14 (2), shared_up 15, shared_up 16 (1), norm 17 (0)");
    assert_string_equal(expert_operations(true, true),
                        "residual (8), combine 0, combine* 1, shared_down 0, shared_down 3, combine 2 (7), up 5, up 6 (6), "
                        "dispatch 7, dispatch* 8, dispatch* 9, shared_act 4, shared_up 11, shared_up 12, dispatch 10 (5), "
                        "router 14, router 15, router 16 (1) (2) (3) (4), norm 13 17 (0)");
    dse_arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_program_may_wait_for_each),
        cmocka_unit_test(a_sum_of_the_backward_pass_goes_on_beside_the_next_product),
        cmocka_unit_test(products_are_cut_beside_what_gathers_and_sums),
        cmocka_unit_test(exchanges_go_on_beside_the_shared_expert),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
