/* Buckets of gradients and units of sharded parameters, of models small enough to count by hand. */
#include "unit/step/small.h"

#include "step/buckets.h"

static dse_arena arena;

static int begin(void **state)
{
    (void)state;
    dse_arena_init(&arena);
    return 0;
}

static int end(void **state)
{
    (void)state;
    dse_arena_free(&arena);
    return 0;
}

static step_buckets make(const step_model *m, const step_options *o, uint32_t stage, uint32_t n_stages,
                         uint32_t step)
{
    step_stage s = step_stage_of(m, stage, n_stages);
    step_buckets b;

    step_buckets_make(m, o, &s, step, &arena, &b);
    return b;
}

static void assert_elements(const step_buckets *b, uint32_t n, const uint64_t *elements)
{
    assert_int_equal(b->n, n);
    for (uint32_t i = 0; i < n; i++)
        assert_u64(b->bucket[i].elements, elements[i]);
}

static void assert_stages(uint32_t n_layers, const uint32_t layers[3])
{
    const step_model m = small_model(n_layers, &arena);

    for (uint32_t i = 0; i < 3; i++) {
        step_stage s = step_stage_of(&m, i, 3);

        assert_int_equal(s.n_layers, layers[i]);
        assert_int_equal(s.n_blocks, layers[i] + (i != 1));
        assert_int_equal(step_stage_block(&s, 0), i == 0 ? STEP_EMBEDDING : STEP_LAYER);
        assert_int_equal(step_stage_block(&s, s.n_blocks - 1), i == 2 ? STEP_HEAD : STEP_LAYER);
    }
}

CLAIM(layers_that_do_not_divide_go_to_the_first_stages)
{
    (void)state;
    assert_stages(8, (const uint32_t[3]){3, 3, 2});
}

/* 7 layers, the embedding and the head are three times 3. */
CLAIM(the_embedding_and_the_head_count_as_layers_where_that_divides)
{
    const step_model seven = small_model(7, &arena), eight = small_model(8, &arena);

    (void)state;
    assert_stages(7, (const uint32_t[3]){2, 3, 2});
    for (int is_virtual = 0; is_virtual < 2; is_virtual++)
        assert_true(step_stages_fit(&seven, 3, is_virtual) && step_stages_fit(&seven, 7, is_virtual) &&
                    step_stages_fit(&seven, 9, is_virtual));
    assert_false(step_stages_fit(&seven, 2, true) || step_stages_fit(&eight, 3, true));
}

/* DeepSeek-V3 on 16: of 63 blocks 15 stages have 4 and the last one 3. 13 blocks on 4 are 4, 3, 3, 3; 14 would be 4, 4, 3, 3. */
CLAIM(the_first_and_the_last_stage_may_differ)
{
    const step_model deep = small_model(61, &arena), eleven = small_model(11, &arena), fourteen = small_model(14, &arena);
    uint32_t sum = 0;

    (void)state;
    assert_true(step_stages_fit(&deep, 16, false) && step_stages_fit(&eleven, 4, false));
    assert_false(step_stages_fit(&deep, 16, true) || step_stages_fit(&fourteen, 6, false));
    for (uint32_t i = 0; i < 16; i++) {
        const uint32_t n = step_stage_of(&deep, i, 16).n_layers;

        assert_int_equal(n, i == 0 ? 3 : i == 15 ? 2 : 4);
        sum += n;
    }
    assert_int_equal(sum, 61);
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(step_stage_of(&eleven, i, 4).n_layers, i == 3 ? 2 : 3);
}

CLAIM(stages_follow_the_pattern_of_the_layers)
{
    const step_model m = small_mixed_model("{first: [layer, layer], repeat: [wide, layer]}", 7, &arena);
    step_stage s[3];

    (void)state;
    for (uint32_t i = 0; i < 3; i++) /* 2, 3 and 2 layers: layer layer | wide layer wide | layer wide */
        s[i] = step_stage_of(&m, i, 3);
    assert_int_equal(step_stage_block(&s[0], 1), STEP_LAYER);
    assert_int_equal(step_stage_block(&s[0], 2), STEP_LAYER);
    assert_int_equal(step_stage_block(&s[1], 0), STEP_LAYER + 1);
    assert_int_equal(step_stage_block(&s[1], 1), STEP_LAYER);
    assert_int_equal(step_stage_block(&s[1], 2), STEP_LAYER + 1);
    assert_int_equal(step_stage_block(&s[2], 0), STEP_LAYER);
    assert_int_equal(step_stage_block(&s[2], 1), STEP_LAYER + 1);
    assert_int_equal(step_stage_block(&s[2], 2), STEP_HEAD);
    assert_false(step_stage_is_same(&s[0], &s[1]) || step_stage_is_same(&s[0], &s[2]));
}

/* Two stages of two layers each, alike but for the pattern. */
CLAIM(stages_are_the_same_if_their_layers_are)
{
    const step_model turns = small_mixed_model("{repeat: [layer, wide]}", 8, &arena);
    const step_model blocks = small_mixed_model("{first: [layer, layer, layer, layer], repeat: [wide]}", 8, &arena);
    const step_stage a = step_stage_of(&turns, 1, 4), b = step_stage_of(&turns, 2, 4);
    const step_stage c = step_stage_of(&blocks, 1, 4), d = step_stage_of(&blocks, 2, 4);

    (void)state;
    assert_true(step_stage_is_same(&a, &b));
    assert_false(step_stage_is_same(&c, &d));
}

CLAIM(without_overlap_there_is_one_bucket)
{
    const step_model m = small_model(2, &arena);
    step_options o = small_options();
    step_buckets b;

    (void)state;
    o.dp = 2;
    o.bucket_elements = 10;
    b = make(&m, &o, 0, 1, 2);
    assert_elements(&b, 1, (uint64_t[]){320 + 2 * 200 + 328});
    assert_int_equal(b.bucket[0].n_reductions, 1);
    assert_int_equal(b.bucket[0].reduction[0].type, WL_ALL_REDUCE);
    assert_u64(b.bucket[0].reduction[0].in_bytes, 4 * 1048);
    assert_false(b.bucket[0].is_gathered);
}

/* From the end: output 320, norm 8, down 128 | qkv 64, norm 8, down 128, qkv 64 | norm 8, embedding 320. */
CLAIM(buckets_are_closed_as_soon_as_they_are_full)
{
    const step_model m = small_model(2, &arena);
    step_options o = small_options();
    step_buckets b;

    (void)state;
    o.dp = 2;
    o.overlaps_gradients = true;
    o.bucket_elements = 260;
    b = make(&m, &o, 0, 1, 2);
    assert_elements(&b, 3, (uint64_t[]){320, 8 + 128 + 64 + 8 + 128, 64 + 8 + 320});
    assert_int_equal(b.bucket[0].ready_block, 3);
    assert_int_equal(b.bucket[0].ready_module, 1);
    assert_int_equal(b.bucket[1].ready_block, 1);
    assert_int_equal(b.bucket[1].ready_module, 3);
    assert_int_equal(b.bucket[2].ready_block, 0);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(b.launch[i], i);
}

CLAIM(the_first_stage_alone_may_have_several_buckets)
{
    const step_model m = small_model(2, &arena);
    step_options o = small_options();
    step_buckets b;

    (void)state;
    o.dp = o.pp = 2;
    o.overlaps_gradients = o.buckets_first_stage = true;
    o.bucket_elements = 100;
    b = make(&m, &o, 0, 2, 2);
    assert_elements(&b, 2, (uint64_t[]){128, 64 + 8 + 320});
    b = make(&m, &o, 1, 2, 2);
    assert_elements(&b, 1, (uint64_t[]){200 + 328});
}

/* Each parameter begins at a multiple of 64, a bucket ends at one of 128 (and of the shards). */
CLAIM(a_distributed_optimizer_pads)
{
    const step_model m = small_model(1, &arena);
    step_options o = small_options();
    step_buckets b;

    (void)state;
    o.dp = 4;
    o.zero = 1;
    o.pads_parameters = 64;
    b = make(&m, &o, 0, 1, 2);
    /* output 320, norm 8 -> 384, down -> 512, qkv -> 576, norm 8 -> 640, embedding -> 960 */
    assert_elements(&b, 1, (uint64_t[]){1024});
    assert_int_equal(b.bucket[0].reduction[0].type, WL_REDUCE_SCATTER);
    assert_u64(b.bucket[0].reduction[0].out_bytes, 4 * 256);
    assert_true(b.bucket[0].is_gathered);
    assert_u64(b.bucket[0].gathering.in_bytes, 2 * 256);
    assert_u64(b.bucket[0].gathering.out_bytes, 2 * 1024);
}

CLAIM(a_tied_embedding_is_a_bucket_alone_if_it_is_sharded)
{
    step_model m = small_model(2, &arena);
    step_options o = small_options();
    step_buckets b;

    (void)state;
    m.is_tied = true;
    o.dp = o.pp = 2;
    b = make(&m, &o, 1, 2, 2);
    assert_elements(&b, 1, (uint64_t[]){200 + 328});
    o.zero = 1;
    b = make(&m, &o, 1, 2, 2);
    assert_elements(&b, 2, (uint64_t[]){320, 208});
    b = make(&m, &o, 0, 1, 2); /* on one stage it is one parameter */
    assert_elements(&b, 1, (uint64_t[]){320 + 400 + 8});
}

CLAIM(torch_fills_one_bucket_in_the_first_step)
{
    const step_model m = small_model(1, &arena);
    step_options o = small_options();
    step_buckets b;

    (void)state;
    o.dp = 2;
    o.overlaps_gradients = o.buckets_by_readiness = true;
    o.bucket_elements = 300;
    o.first_bucket_elements = 400;
    b = make(&m, &o, 0, 1, 0);
    assert_elements(&b, 1, (uint64_t[]){848});
    b = make(&m, &o, 0, 1, 1);
    assert_elements(&b, 2, (uint64_t[]){320 + 8 + 128, 64 + 8 + 320});
}

/* Of 3 shards: 40 rows become 42, 8 become 9, and 16 of the last product's input stay columns. */
CLAIM(units_pad_the_rows_of_each_parameter)
{
    const step_model m = small_model(1, &arena);
    step_options o = small_options();
    step_buckets b;

    (void)state;
    o.dp = 6;
    o.replicas = 2;
    o.zero = 3;
    b = make(&m, &o, 0, 1, 2);
    assert_elements(&b, 3, (uint64_t[]){42 * 8, 9 + 9 * 8 + 9 * 16, 9 + 42 * 8});
    assert_u64(b.bucket[1].gathering.in_bytes, 2 * 75);
    assert_u64(b.bucket[1].reduction[0].in_bytes, 4 * 225);
    assert_int_equal(b.bucket[1].n_reductions, 2);
    assert_int_equal(b.bucket[1].reduction[1].group, STEP_GROUP_REPLICAS);
    assert_u64(b.bucket[1].reduction[1].in_bytes, 4 * 75);
    assert_true(b.bucket[2].is_kept);
    o.shards_root = true;
    b = make(&m, &o, 0, 1, 2);
    assert_elements(&b, 2, (uint64_t[]){42 * 8 + 9 + 42 * 8, 225});
    assert_int_equal(b.bucket[0].last_block, 2);
}

/* A layer has 8 elements of a norm, and 64 + 128 of matrices. */
CLAIM(parameters_in_8_bits_are_gathered_as_such)
{
    const step_model m = small_model(1, &arena);
    step_options o = small_options();
    step_buckets b;

    (void)state;
    o.dp = 2;
    o.zero = 3;
    o.low = (step_low){.class = WL_KERNEL_MATMUL_FP8, .bytes = 1};
    b = make(&m, &o, 0, 1, 2);
    assert_u64(b.bucket[1].gathering.out_bytes, 2 * 200);
    o.low.has_parameters = true;
    b = make(&m, &o, 0, 1, 2);
    assert_u64(b.bucket[1].gathering.out_bytes, 2 * 8 + 192);
    assert_u64(b.bucket[1].gathering.in_bytes, (2 * 8 + 192) / 2);
    assert_u64(b.bucket[1].reduction[0].in_bytes, 4 * 200);     /* gradients as before */
    assert_u64(b.bucket[2].gathering.out_bytes, 2 * (8 + 320)); /* so is the head */
    o.zero = 1;
    b = make(&m, &o, 0, 1, 2);
    assert_u64(b.bucket[0].gathering.out_bytes, 2 * (848 - 192) + 192);
}

CLAIM(a_group_of_one_is_called_only_by_programs_that_do)
{
    const step_model m = small_model(1, &arena);
    step_options o = small_options();
    step_buckets b;

    (void)state;
    b = make(&m, &o, 0, 1, 2);
    assert_int_equal(b.bucket[0].n_reductions, 0);
    o.calls_alone = true;
    b = make(&m, &o, 0, 1, 2);
    assert_int_equal(b.bucket[0].n_reductions, 1);
}

CLAIM(whole_and_tied_elements_are_counted)
{
    step_model m = small_model(3, &arena);
    step_options o = small_options();
    step_stage s = step_stage_of(&m, 0, 1);

    (void)state;
    assert_u64(step_whole_elements(&m, &s), 3 * 8 + 8);
    assert_u64(step_tied_elements(&m, &o), 0);
    m.is_tied = true;
    o.tp = 4;
    assert_u64(step_tied_elements(&m, &o), 80);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(layers_that_do_not_divide_go_to_the_first_stages, begin, end),
        cmocka_unit_test_setup_teardown(the_embedding_and_the_head_count_as_layers_where_that_divides, begin, end),
        cmocka_unit_test_setup_teardown(the_first_and_the_last_stage_may_differ, begin, end),
        cmocka_unit_test_setup_teardown(stages_follow_the_pattern_of_the_layers, begin, end),
        cmocka_unit_test_setup_teardown(stages_are_the_same_if_their_layers_are, begin, end),
        cmocka_unit_test_setup_teardown(without_overlap_there_is_one_bucket, begin, end),
        cmocka_unit_test_setup_teardown(buckets_are_closed_as_soon_as_they_are_full, begin, end),
        cmocka_unit_test_setup_teardown(the_first_stage_alone_may_have_several_buckets, begin, end),
        cmocka_unit_test_setup_teardown(a_distributed_optimizer_pads, begin, end),
        cmocka_unit_test_setup_teardown(a_tied_embedding_is_a_bucket_alone_if_it_is_sharded, begin, end),
        cmocka_unit_test_setup_teardown(torch_fills_one_bucket_in_the_first_step, begin, end),
        cmocka_unit_test_setup_teardown(units_pad_the_rows_of_each_parameter, begin, end),
        cmocka_unit_test_setup_teardown(parameters_in_8_bits_are_gathered_as_such, begin, end),
        cmocka_unit_test_setup_teardown(a_group_of_one_is_called_only_by_programs_that_do, begin, end),
        cmocka_unit_test_setup_teardown(whole_and_tied_elements_are_counted, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
