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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_program_may_wait_for_each),
        cmocka_unit_test(a_sum_of_the_backward_pass_goes_on_beside_the_next_product),
        cmocka_unit_test(products_are_cut_beside_what_gathers_and_sums),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
