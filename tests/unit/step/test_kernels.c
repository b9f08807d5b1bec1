/* The kernels of modules: which there are, and the bytes that they move; by hand from the table of src/step/README.md. */
#include "step/program.h"
#include "unit/step/small.h"

static dse_arena arena;

/* 4 tokens of 8 features in elements of 2 bytes; two heads of 4; f 16. */
static const char gpt_text[] = "hidden: H\n"
                               "sequence: S\n"
                               "blocks:\n"
                               "  embedding:\n"
                               "    token: {embedding: [V, H]}\n"
                               "  layer:\n"
                               "    norm: {norm: H, mean: yes}\n"
                               "    attention: {attention: [T, T, H/T], causal: yes}\n"
                               "    fc: {linear: [H, F], split: column, bias: yes}\n"
                               "    act: {activation: F}\n"
                               "    glu: {activation: F, gated: yes}\n"
                               "    drop: {dropout: H}\n"
                               "    sum: {add: norm}\n"
                               "    plain: {add: norm}\n"
                               "  head:\n"
                               "    loss: {loss: V}\n";

static const char *kernels_of_text(const char *model, const step_options *o, step_block_kind block,
                                   bool is_backward)
{
    const step_model m = small_model_of(model, 1, &arena);
    const step_shape s = step_shape_of(&m, o);
    step_program p;
    dse_strbuf text;

    if (is_backward)
        step_program_backward(&m.block[block], &s, STEP_PART_BOTH, false, &arena, &p);
    else
        step_program_forward(&m.block[block], &s, &arena, &p);
    dse_strbuf_init(&text);
    for (uint32_t i = 0; i < p.n; i++)
        if (p.operation[i].unit == STEP_UNIT_COMPUTE)
            dse_strbuf_addf(&text, "%s%s %s %llu", i ? ", " : "", p.operation[i].module->name,
                            wl_kernel_class_name(p.operation[i].kernel.class),
                            (unsigned long long)p.operation[i].kernel.bytes);
    return dse_strbuf_take(&text, &arena);
}

static const char *kernels_of(const step_options *o, step_block_kind block, bool is_backward)
{
    return kernels_of_text(gpt_text, o, block, is_backward);
}

static step_options megatron(void)
{
    step_options o = small_options();

    o.fused_attention = o.fused_activation = true;
    o.logits_copies = 1;
    return o;
}

CLAIM(a_layer_moves_what_its_modules_read_and_write)
{
    const step_options o = megatron();

    dse_arena_init(&arena);
    /* 4 h = 32 a token: 128. Copies: 4 tokens x (8 + 16) x 4 = 384, and 4 x 8 x 4 = 128. Attention: 2 bytes of queries and
     * result, 2 x 32 elements, keys and values, 2 x 32. fc: 2 (4 x 8 + 8 x 16 + 4 x 16) = 448. act: 4 x 16 x 4; glu x 6.
     * The dropout is in the sum: 7 h = 4 x 8 x 7 = 224; without one 6 h = 192. */
    assert_string_equal(
        kernels_of(&o, STEP_LAYER, false),
        "norm normalisation 128, attention elementwise 384, attention attention 256, attention elementwise "
        "128, fc matmul 448, act elementwise 256, glu elementwise 384, sum elementwise 224, plain "
        "elementwise 192");
    /* Of 5 products where forward has 2: 640. Products for the gradients of input and weight, and the bias: 4 x 16 x 2. */
    assert_string_equal(
        kernels_of(&o, STEP_LAYER, true),
        "plain elementwise 192, sum elementwise 192, drop elementwise 160, glu elementwise 640, act "
        "elementwise 384, fc matmul 448, fc matmul 448, fc elementwise 128, attention attention_backward "
        "640, attention elementwise 512, norm normalisation 256");
    dse_arena_free(&arena);
}

/* Of 8 x 16 weights. Products: 448, as above; the one for the weights moves 4 + 4 instead of 2 for each of them. */
CLAIM(gradients_are_added_to_those_of_the_micro_batches_before)
{
    step_options o = megatron();

    dse_arena_init(&arena);
    o.gradient_bytes = 4;
    o.n_micro_batches = 2;
    o.adds_gradients = true;
    assert_non_null(strstr(kernels_of(&o, STEP_LAYER, true),
                           "fc matmul 448, fc matmul 1216, fc elementwise 128, attention"));
    o.adds_gradients = false;
    assert_non_null(
        strstr(kernels_of(&o, STEP_LAYER, true),
               "fc matmul 448, fc matmul 448, fc elementwise 1280, fc elementwise 128, attention"));
    /* A table of 40 x 8: set to 0, then 4 tokens of 8, then added. */
    assert_string_equal(kernels_of(&o, STEP_EMBEDDING, true),
                        "token elementwise 640, token lookup 192, token elementwise 3200");
    o.zero = 3;
    assert_string_equal(kernels_of(&o, STEP_EMBEDDING, true), "token elementwise 640, token lookup 192");
    dse_arena_free(&arena);
}

CLAIM(unfused_attention_has_its_scores_in_memory)
{
    step_options o = megatron();

    dse_arena_init(&arena);
    o.fused_attention = false;
    /* 4 tokens x 4 keys x 2 heads = 32 scores, none of them hidden: a product moves 128 of operands and 64 of scores. */
    assert_non_null(strstr(
        kernels_of(&o, STEP_LAYER, false),
        "norm normalisation 128, attention elementwise 384, attention attention_product 192, attention "
        "elementwise 128, attention elementwise 160, attention attention_product 192, attention "
        "elementwise 128, fc"));
    assert_non_null(strstr(
        kernels_of(&o, STEP_LAYER, true),
        "fc elementwise 128, attention attention_product 192, attention attention_product 192, attention "
        "elementwise 160, attention elementwise 192, attention attention_product 192, attention "
        "attention_product 192, attention elementwise 512, norm"));
    dse_arena_free(&arena);
}

/* Latent attention: values half as long as keys of 4. Copies of 2 x 4 + 2 x (4 + 2) = 20 features of a token, 4 x 20 x 4 =
 * 320, and of 2 x 2, 64. Of the two products of forward the one with values is half: 128 x 1.5 = 192; of the five of
 * backward two are, 128 x 4 = 512. */
CLAIM(values_may_be_of_another_size_than_keys)
{
    static const char text[] = "hidden: H\n"
                               "sequence: S\n"
                               "blocks:\n"
                               "  embedding:\n"
                               "    token: {embedding: [V, H]}\n"
                               "  layer:\n"
                               "    attention: {attention: [T, T, H/T], value: H/S, causal: yes}\n"
                               "  head:\n"
                               "    loss: {loss: V}\n";
    const step_options o = megatron();

    dse_arena_init(&arena);
    assert_string_equal(kernels_of_text(text, &o, STEP_LAYER, false),
                        "attention elementwise 320, attention attention 192, attention elementwise 64");
    assert_string_equal(kernels_of_text(text, &o, STEP_LAYER, true),
                        "attention attention_backward 512, attention elementwise 384");
    dse_arena_free(&arena);
}

/* As much as any fused one does. */
CLAIM(flash_attention_2_is_a_class_of_its_own)
{
    step_options o = megatron();

    dse_arena_init(&arena);
    o.flash_attention_2 = true;
    assert_non_null(strstr(kernels_of(&o, STEP_LAYER, false), "attention attention_flash2 256, "));
    assert_non_null(strstr(kernels_of(&o, STEP_LAYER, true), "attention attention_flash2_backward 640, "));
    dse_arena_free(&arena);
}

CLAIM(a_gated_activation_that_is_not_fused_is_several_kernels)
{
    step_options o = megatron();

    dse_arena_init(&arena);
    o.fused_activation = false;
    assert_non_null(
        strstr(kernels_of(&o, STEP_LAYER, false), "glu elementwise 256, glu elementwise 384, sum"));
    assert_non_null(strstr(kernels_of(&o, STEP_LAYER, true),
                           "glu elementwise 384, glu elementwise 384, glu elementwise 384, act"));
    dse_arena_free(&arena);
}

CLAIM(a_layers_matrices_are_cast_and_multiplied_in_8_bits)
{
    step_options o = megatron();

    dse_arena_init(&arena);
    o.low = (step_low){WL_KERNEL_MATMUL_FP8, 1, 2, 4, 4, false, false, false, false, 0};
    /* fc: a cast of 4 x 8 inputs at 2 bytes, then operands of 1 byte and a result of 2: 4 x 8 + 8 x 16 + 2 x 4 x 16 = 288. */
    assert_non_null(
        strstr(kernels_of(&o, STEP_LAYER, false),
               "attention elementwise 128, fc elementwise 64, fc matmul_fp8 288, act elementwise 256"));
    /* The output's gradient, 4 x 16, at 4 bytes. That of the input: 4 x 16 + 16 x 8 + 2 x 4 x 8 = 256, of the weight: 4 x 16 +
     * 4 x 8 + 2 x 16 x 8 = 352. */
    assert_non_null(
        strstr(kernels_of(&o, STEP_LAYER, true),
               "act elementwise 384, fc elementwise 256, fc matmul_fp8 256, fc matmul_fp8 352, fc "
               "elementwise 128, attention attention_backward 640"));
    /* torchao casts the 8 x 16 weights in both passes, too. */
    o.low.casts_weights_in_passes = true;
    assert_non_null(strstr(kernels_of(&o, STEP_LAYER, false),
                           "fc elementwise 64, fc elementwise 512, fc matmul_fp8 288, act"));
    assert_non_null(
        strstr(kernels_of(&o, STEP_LAYER, true),
               "fc elementwise 256, fc elementwise 512, fc matmul_fp8 256, fc matmul_fp8 352, fc"));
    dse_arena_free(&arena);
}

/* Scales of rows: the 4 x 8 inputs are cast once more, at 5 bytes, for the product that the weight's gradient is. */
CLAIM(an_input_scaled_by_rows_is_cast_again)
{
    step_options o = megatron();

    dse_arena_init(&arena);
    o.low = (step_low){WL_KERNEL_MATMUL_FP8, 1, 3, 10, 5, false, false, false, false, 5};
    assert_non_null(strstr(kernels_of(&o, STEP_LAYER, true),
                           "fc elementwise 640, fc matmul_fp8 256, fc elementwise 160, fc matmul_fp8 352, fc"));
    dse_arena_free(&arena);
}

CLAIM(logits_stay_in_16_bits)
{
    step_options o = megatron();
    const step_model m = (dse_arena_init(&arena), small_model(1, &arena));
    const step_shape s = step_shape_of(&m, &o);
    step_program p;

    o.low = (step_low){WL_KERNEL_MATMUL_FP8, 1, 2, 4, 4, true, false, false, false, 0};
    step_program_forward(&m.block[STEP_HEAD], &s, &arena, &p);
    assert_int_equal(p.operation[1].kernel.class, WL_KERNEL_MATMUL);
    /* 2 (4 x 8 + 8 x 40 + 4 x 40). */
    assert_u64(p.operation[1].kernel.bytes, 1024);
    dse_arena_free(&arena);
}

/* 4 tokens x 40 words = 160 logits. */
CLAIM(a_loss_goes_over_its_logits_several_times)
{
    step_options o = megatron();

    dse_arena_init(&arena);
    assert_string_equal(
        kernels_of(&o, STEP_HEAD, false),
        "loss elementwise 960, loss elementwise 640, loss elementwise 1280, loss elementwise 1280, loss "
        "elementwise 640, loss elementwise 1280");
    assert_string_equal(kernels_of(&o, STEP_HEAD, true), "loss elementwise 1280, loss elementwise 960");
    o.logits_copies = 2; /* torch's own */
    assert_string_equal(kernels_of(&o, STEP_HEAD, false), "loss elementwise 960, loss elementwise 1280");
    dse_arena_free(&arena);
}

/* 4 tokens of 8 features that take two of 8 experts on 4 ranks, in 2 nodes. */
static const char *messages_of(const char *groups, const step_options *o)
{
    const char *head = strstr(small_text, "  head:");
    const char *text = dse_arena_printf(&arena, "%.*s    dispatch: {dispatch: H, experts: H, top_k: T%s}\n%s",
                                        (int)(head - small_text), small_text, groups, head);
    const step_model m = small_model_of(text, 1, &arena);
    const step_shape s = step_shape_of(&m, o);
    step_program p;
    dse_strbuf said;

    step_program_forward(&m.block[STEP_LAYER], &s, &arena, &p);
    dse_strbuf_init(&said);
    for (uint32_t i = 0; i < p.n; i++)
        if (p.operation[i].unit == STEP_UNIT_LAYER)
            dse_strbuf_addf(&said, "%s%s %llu", said.len ? ", " : "",
                            p.operation[i].collective.group == STEP_GROUP_EP_FAR ? "far" : "near",
                            (unsigned long long)p.operation[i].collective.in_bytes);
    return dse_strbuf_take(&said, &arena);
}

/* A token's second expert is with the first on 1 of 7 places of its rank, and 3 of 7 of its node: it goes to 2 - 1/7 = 13/7 ranks
 * and 2 - 3/7 = 11/7 nodes. So 4 x 8 x 11/7 = 50 elements go far, and 4 x 13/7 = 7.4, 8 tokens of 8 elements come to a rank.
 * Of the best of two groups of 4 experts, one node, the second is with the first on 1 of 3 places: 5/3 ranks, 7 tokens. */
CLAIM(deepep_brings_a_token_once_to_each_node_and_rank)
{
    step_options o = megatron();

    dse_arena_init(&arena);
    o.dp = o.ep = 4;
    o.near_ranks = 2;
    o.dispatch = STEP_DISPATCH_DEEPEP;
    assert_string_equal(messages_of("", &o), "far 100, near 128");
    assert_string_equal(messages_of(", expert_groups: T, top_groups: 1", &o), "far 64, near 112");
    o.low = (step_low){WL_KERNEL_MATMUL_FP8_BLOCK, 1, 2, 4, 4, false, false, true, false, 0};
    assert_string_equal(messages_of("", &o), "far 51, near 66"); /* 1 + 4 / 128 bytes an element */
    o.imbalance = 1.5; /* 4 x 13/7 x 1.5 = 11.1, 12 tokens come to the most loaded rank */
    assert_string_equal(messages_of("", &o), "far 51, near 99");
    dse_arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_layer_moves_what_its_modules_read_and_write),
        cmocka_unit_test(gradients_are_added_to_those_of_the_micro_batches_before),
        cmocka_unit_test(unfused_attention_has_its_scores_in_memory),
        cmocka_unit_test(values_may_be_of_another_size_than_keys),
        cmocka_unit_test(flash_attention_2_is_a_class_of_its_own),
        cmocka_unit_test(a_gated_activation_that_is_not_fused_is_several_kernels),
        cmocka_unit_test(a_layers_matrices_are_cast_and_multiplied_in_8_bits),
        cmocka_unit_test(an_input_scaled_by_rows_is_cast_again),
        cmocka_unit_test(logits_stay_in_16_bits),
        cmocka_unit_test(a_loss_goes_over_its_logits_several_times),
        cmocka_unit_test(deepep_brings_a_token_once_to_each_node_and_rank),
    };
    return RUN_TESTS(tests);
}
