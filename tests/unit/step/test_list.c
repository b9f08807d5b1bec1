/* What a rank issues in a step, of models small enough to follow by hand. The hidden state of a
 * micro-batch is one of 4 tokens, 8 features and 2 bytes: 64. */
#include "step/buckets.h"
#include "step/module.h"
#include "unit/step/small.h"

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

CLAIM(a_rank_alone_calls_nothing)
{
    const step_model m = small_model(2, &arena);
    step_options o = small_options();

    (void)state;
    o.n_micro_batches = 3;
    assert_string_equal(small_list(&m, &o, "1f1b", 0, &arena), "");
}

/* Forward: the embedding, the layer's output, three of 4 tokens in 32 bits; backward: the output's and the
 * layer's input. */
CLAIM(tensor_parallelism_sums_in_and_after_a_layer)
{
    const step_model m = small_model(1, &arena);
    step_options o = small_options();

    (void)state;
    o.tp = 2;
    assert_string_equal(small_list(&m, &o, "1f1b", 0, &arena),
                        "F:all_reduce:64x2 F:all_reduce:16x3 B:all_reduce:64x2");
    o.fuses_loss = true;
    assert_string_equal(small_list(&m, &o, "1f1b", 0, &arena),
                        "F:all_reduce:64x2 F:all_reduce:16 F:all_reduce:32 B:all_reduce:64x2");
    o.gathers_logits = o.loss_after_model = true; /* 4 tokens of 20 logits */
    assert_string_equal(small_list(&m, &o, "1f1b", 0, &arena),
                        "F:all_reduce:64x2 F:all_gather:160 B:all_reduce:64x2");
}

/* All ranks make the latents of their own 2 tokens: gathered are 2 features of queries and 4 of keys and values
 * where products split over tp read them (8 and 16 bytes), and at once the 2 that are rotated (8). Backward sums
 * the gradients of the latents of 4 tokens (32 and 16), and those of the rotated features (16). */
CLAIM(latents_are_gathered_and_not_the_hidden_state)
{
    static const char text[] = "hidden: H\n"
                               "sequence: S\n"
                               "blocks:\n"
                               "  embedding:\n"
                               "    token: {embedding: [V, H]}\n"
                               "  layer:\n"
                               "    query_down: {linear: [H, T]}\n"
                               "    query_up: {linear: [T, H], split: column}\n"
                               "    key_down: {linear: [H, S, T], keys: yes, gathered: T, shared: yes}\n"
                               "    key_up: {linear: [S, H, H], split: column, keys: yes}\n"
                               "    attention: {attention: [T, T, H/T]}\n"
                               "    down: {linear: [H, H], split: row}\n"
                               "  head:\n"
                               "    output: {linear: [H, V], split: column}\n"
                               "    loss: {loss: V}\n";
    const step_model m = small_model_of(text, 1, &arena);
    step_options o = small_options();

    (void)state;
    o.tp = 2;
    o.sequence_parallel = o.gathers_again = true;
    assert_string_equal(small_list(&m, &o, "1f1b", 0, &arena),
                        "F:reduce_scatter:64 F:all_gather:8x2 F:all_gather:16 F:reduce_scatter:64 "
                        "F:all_gather:32 F:all_reduce:16x3 B:all_gather:32 B:reduce_scatter:64 "
                        "B:all_gather:32 B:all_gather:16 B:reduce_scatter:32 B:reduce_scatter:16 "
                        "B:all_gather:8 B:reduce_scatter:16 B:all_gather:32");
}

/* With sequence parallelism the embedding is reduce-scattered; if positions follow, it is all-reduced, and
 * they are added to all tokens. Backward gathers once. */
CLAIM(positions_are_added_before_tokens_are_split)
{
    static const char text[] = "hidden: H\n"
                               "sequence: S\n"
                               "blocks:\n"
                               "  embedding:\n"
                               "    token: {embedding: [V, H]}\n"
                               "    position: {positions: [S, H]}\n"
                               "    dropout: {dropout: H}\n"
                               "  layer: {dropout: {dropout: H}}\n"
                               "  head: {dropout: {dropout: H}}\n";
    step_options o = small_options();
    const step_model with = small_model_of(text, 1, &arena);
    step_model without = with;

    (void)state;
    o.tp = 2;
    o.sequence_parallel = true;
    assert_string_equal(small_list(&with, &o, "1f1b", 0, &arena), "F:all_reduce:64 B:all_gather:32");
    without.block[STEP_EMBEDDING].n = 1;
    without.block[STEP_EMBEDDING].n_parameters = 1;
    without.block[STEP_EMBEDDING].module[0].before_positions = false;
    assert_string_equal(small_list(&without, &o, "1f1b", 0, &arena), "F:reduce_scatter:64 B:all_gather:32");
}

CLAIM(a_pass_receives_before_and_sends_after)
{
    const step_model m = small_model(2, &arena);
    step_options o = small_options();

    (void)state;
    o.pp = o.n_micro_batches = 2;
    assert_string_equal(small_list(&m, &o, "1f1b", 0, &arena), "p2p:send:64x2 p2p:recv:64x2");
    assert_string_equal(small_list(&m, &o, "1f1b", 1, &arena),
                        "p2p:recv:64 p2p:send:64 p2p:recv:64 p2p:send:64");
}

/* Rank 1 has stages 1 and 2, the tip of the V, and hands over without a message. It receives an activation
 * for stage 1 and a gradient for stage 2 of each micro-batch, and sends as many. */
CLAIM(stages_of_one_rank_exchange_no_messages)
{
    const step_model m = small_model(4, &arena);
    const sched_options s = {.pp = 2, .micro_batches = 4};
    const step_list_of of[2] = {{.rank = 0}, {.rank = 1}};
    step_options o = small_options();
    dse_error err = {0};
    sched_plan plan;

    (void)state;
    o.pp = o.vp = 2;
    o.n_micro_batches = 4;
    assert_ok(sched_make(sched_find("zbv"), &s, &arena, &plan, &err), &err);
    for (int rank = 0; rank < 2; rank++) {
        uint64_t sent = 0, received = 0;
        step_list list;

        step_list_make(&m, &o, &plan, &of[rank], &list);
        for (size_t i = 0; i < list.n; i++) {
            sent += list.entry[i].call.type == STEP_SEND ? list.entry[i].times : 0;
            received += list.entry[i].call.type == STEP_RECV ? list.entry[i].times : 0;
        }
        step_list_free(&list);
        assert_u64(sent, 8);
        assert_u64(received, 8);
    }
}

/* No iteration of the interleaved schedule: all forward passes come first, so messages follow the passes. */
CLAIM(messages_are_batched_only_in_iterations)
{
    const step_model m = small_model(4, &arena);
    step_options o = small_options();
    const char *list;

    (void)state;
    o.pp = o.vp = o.n_micro_batches = o.dp = 2;
    o.zero = 1;
    o.overlaps_parameters = o.aligns_parameters = true;
    list = small_list(&m, &o, "looped_bfs", 1, &arena);
    o.batches_messages = true;
    assert_string_equal(small_list(&m, &o, "looped_bfs", 1, &arena), list);
    assert_string_equal(list, "F:all_gather:200 F:all_gather:528 p2p:recv:64 p2p:send:64 p2p:recv:64 "
                              "p2p:send:64 p2p:recv:64x2 p2p:send:64x2 p2p:recv:64 p2p:send:64 "
                              "p2p:recv:64 p2p:send:64 finalize:reduce_scatter:800 "
                              "finalize:reduce_scatter:2112");
}

/* A gradient of weights is there after W, so the bucket follows what I sends. */
CLAIM(a_bucket_is_reduced_by_the_pass_that_makes_its_gradients)
{
    const step_model m = small_model(2, &arena);
    step_options o = small_options();

    (void)state;
    o.pp = o.dp = 2;
    o.overlaps_gradients = true;
    assert_string_equal(small_list(&m, &o, "1f1b", 1, &arena), "p2p:recv:64 B:all_reduce:2112 p2p:send:64");
    assert_string_equal(small_list(&m, &o, "zero_bubble", 1, &arena),
                        "p2p:recv:64 p2p:send:64 B:all_reduce:2112");
    o.overlaps_gradients = false;
    assert_string_equal(small_list(&m, &o, "1f1b", 1, &arena),
                        "p2p:recv:64 p2p:send:64 finalize:all_reduce:2112");
}

/* Buckets of 320, 336 and 392 elements (test_buckets.c), the last one with the embedding. */
CLAIM(parameters_are_gathered_after_the_step_or_under_the_next_forward_pass)
{
    const step_model m = small_model(2, &arena);
    step_options o = small_options();

    (void)state;
    o.dp = o.n_micro_batches = 2;
    o.zero = 1;
    o.overlaps_gradients = true;
    o.bucket_elements = 260;
    assert_string_equal(small_list(&m, &o, "1f1b", 0, &arena),
                        "B:reduce_scatter:1280 B:reduce_scatter:1344 B:reduce_scatter:1568 "
                        "param_sync:all_gather:320 param_sync:all_gather:336 param_sync:all_gather:392");
    o.overlaps_parameters = true;
    assert_string_equal(small_list(&m, &o, "1f1b", 0, &arena),
                        "F:all_gather:392 F:all_gather:336 F:all_gather:320 "
                        "B:reduce_scatter:1280 B:reduce_scatter:1344 B:reduce_scatter:1568");
}

/* Of the backward pass buckets of 440, 416 and 304 elements: half a table of 160, and 8 layers of 8, 32
 * and 64. The second begins in layer 2, which lets the third one begin. */
CLAIM(the_next_bucket_is_gathered_when_one_is_first_used)
{
    const step_model m = small_model(8, &arena);
    step_options o = small_options();

    (void)state;
    o.dp = o.tp = 2;
    o.zero = 1;
    o.overlaps_gradients = o.overlaps_parameters = true;
    o.bucket_elements = 400;
    assert_memory_equal(
        small_list(&m, &o, "1f1b", 0, &arena),
        "F:all_gather:304 F:all_gather:416 F:all_reduce:64x2 F:all_gather:440 F:all_reduce:64x7 "
        "F:all_reduce:16x3 B:",
        107);
}

CLAIM(sharded_gradients_are_reduced_in_each_micro_batch)
{
    const step_model m = small_model(2, &arena);
    step_options o = small_options();

    (void)state;
    o.dp = 2;
    o.n_micro_batches = 3;
    o.zero = 2;
    o.overlaps_gradients = true;
    assert_string_equal(small_list(&m, &o, "1f1b", 0, &arena),
                        "B:reduce_scatter:4192x3 param_sync:all_gather:1048");
}

/* Rank 1 reduces one backward pass after rank 0, so after its last one, when its message is on its way. */
CLAIM(aligned_stages_reduce_together)
{
    const step_model m = small_model(4, &arena);
    step_options o = small_options();

    (void)state;
    o.pp = o.dp = o.n_micro_batches = 2;
    o.overlaps_gradients = o.aligns_gradients = true;
    assert_string_equal(small_list(&m, &o, "1f1b", 0, &arena),
                        "p2p:send:64x2 p2p:recv:64x2 B:all_reduce:2880");
    assert_string_equal(small_list(&m, &o, "1f1b", 1, &arena),
                        "p2p:recv:64 p2p:send:64 p2p:recv:64 p2p:send:64 B:all_reduce:2912");
    /* Backward passes of chunk 1, 1, 0, 0. Rank 0 reduces chunk 1 after the second, rank 1 after the
     * third. */
    o.vp = 2;
    o.batches_messages = true;
    assert_string_equal(
        small_list(&m, &o, "interleaved", 0, &arena),
        "p2p:send:64 p2p:recv:64 p2p:send:64 p2p:recv:64 p2p:send:64x2 p2p:recv:64 p2p:send:64 "
        "p2p:recv:64 B:all_reduce:800 p2p:send:64 p2p:recv:64x2 B:all_reduce:2080");
    assert_string_equal(small_list(&m, &o, "interleaved", 1, &arena),
                        "p2p:recv:64x2 p2p:send:64 p2p:recv:64 p2p:send:64x2 p2p:recv:64 p2p:send:64 "
                        "p2p:recv:64 B:all_reduce:2112 p2p:send:64 p2p:recv:64 p2p:send:64 B:all_reduce:800");
}

/* Units of 320, 200 and 328 elements. Both passes of a layer gather it; the head keeps its parameters. */
CLAIM(a_unit_before_is_gathered_before_this_one_is_reduced)
{
    const step_model m = small_model(1, &arena);
    step_options o = small_options();

    (void)state;
    o.dp = 4;
    o.replicas = 2;
    o.zero = 3;
    o.reshard_after_forward = true;
    assert_string_equal(small_list(&m, &o, "1f1b", 0, &arena),
                        "F:all_gather:320 F:all_gather:200 F:all_gather:328 B:all_gather:200 "
                        "B:reduce_scatter:1312 B:all_reduce:656 B:all_gather:320 B:reduce_scatter:800 "
                        "B:all_reduce:400 B:reduce_scatter:1280 B:all_reduce:640");
    o.reshard_after_forward = false;
    o.shards_root = true;
    assert_string_equal(small_list(&m, &o, "1f1b", 0, &arena),
                        "F:all_gather:648 F:all_gather:200 B:reduce_scatter:800 B:all_reduce:400 "
                        "B:reduce_scatter:2592 B:all_reduce:1296");
}

/* A rank has 2 of 4 tokens: 32 bytes of queries, of keys, of values, of the result. */
CLAIM(context_parallelism_exchanges_heads_or_passes_keys_and_values_on)
{
    const step_model m = small_model(1, &arena);
    step_options o = small_options();

    (void)state;
    o.cp = 2;
    o.context = STEP_CONTEXT_ALL_TO_ALL;
    assert_string_equal(small_list(&m, &o, "1f1b", 0, &arena),
                        "F:all_to_all:32x4 B:all_to_all:32x4 finalize:all_reduce:3392");
    o.context = STEP_CONTEXT_ALL_GATHER;
    assert_string_equal(small_list(&m, &o, "1f1b", 0, &arena),
                        "F:all_gather:64 B:all_gather:64 B:reduce_scatter:128 finalize:all_reduce:3392");
    o.context = STEP_CONTEXT_RING;
    assert_string_equal(small_list(&m, &o, "1f1b", 0, &arena),
                        "F:all_to_all:64 B:all_to_all:64 B:all_to_all:128x2 finalize:all_reduce:3392");
}

/* The sum of norms' gradients, then that of the tied embedding; 8 and 40 x 8 / 2 elements of 32 bits. */
CLAIM(a_step_ends_with_sums_of_what_ranks_share)
{
    step_model m = small_model(2, &arena);
    step_options o = small_options();
    const char *list;

    (void)state;
    m.is_tied = true;
    o.pp = o.tp = 2;
    o.sequence_parallel = o.gathers_again = o.sums_whole_gradients = true;
    list = small_list(&m, &o, "1f1b", 0, &arena);
    assert_non_null(strstr(list, " finalize:all_reduce:32 finalize:all_reduce:640"));
    o.sums_whole_gradients = false;
    list = small_list(&m, &o, "1f1b", 0, &arena);
    assert_null(strstr(list, "finalize:all_reduce:32"));
    assert_non_null(strstr(list, " finalize:all_reduce:640"));
}

CLAIM(layers_are_made_again_as_the_options_say)
{
    step_options o = small_options();
    step_stage stage = {.n_layers = 4, .n_recomputed = DSE_NONE};

    (void)state;
    assert_false(step_stage_recomputes(&stage, &o, 0));
    o.recompute = STEP_RECOMPUTE_FULL;
    assert_true(step_stage_recomputes(&stage, &o, 0));
    o.recompute_layers = 2;
    assert_true(step_stage_recomputes(&stage, &o, 1));
    assert_false(step_stage_recomputes(&stage, &o, 2));
    stage.n_recomputed = 3;
    assert_true(step_stage_recomputes(&stage, &o, 2));
    assert_false(step_stage_recomputes(&stage, &o, 3));
    stage.has_embedding = true;
    assert_true(step_stage_recomputes(&stage, &o, 3));
    stage = (step_stage){.n_layers = 4, .n_recomputed = DSE_NONE};
    o.recompute_layers = 0;
    o.recompute_every = 2;
    assert_false(step_stage_recomputes(&stage, &o, 0));
    assert_true(step_stage_recomputes(&stage, &o, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_rank_alone_calls_nothing, begin, end),
        cmocka_unit_test_setup_teardown(tensor_parallelism_sums_in_and_after_a_layer, begin, end),
        cmocka_unit_test_setup_teardown(latents_are_gathered_and_not_the_hidden_state, begin, end),
        cmocka_unit_test_setup_teardown(positions_are_added_before_tokens_are_split, begin, end),
        cmocka_unit_test_setup_teardown(a_pass_receives_before_and_sends_after, begin, end),
        cmocka_unit_test_setup_teardown(stages_of_one_rank_exchange_no_messages, begin, end),
        cmocka_unit_test_setup_teardown(messages_are_batched_only_in_iterations, begin, end),
        cmocka_unit_test_setup_teardown(a_bucket_is_reduced_by_the_pass_that_makes_its_gradients, begin, end),
        cmocka_unit_test_setup_teardown(parameters_are_gathered_after_the_step_or_under_the_next_forward_pass,
                                        begin, end),
        cmocka_unit_test_setup_teardown(the_next_bucket_is_gathered_when_one_is_first_used, begin, end),
        cmocka_unit_test_setup_teardown(sharded_gradients_are_reduced_in_each_micro_batch, begin, end),
        cmocka_unit_test_setup_teardown(aligned_stages_reduce_together, begin, end),
        cmocka_unit_test_setup_teardown(a_unit_before_is_gathered_before_this_one_is_reduced, begin, end),
        cmocka_unit_test_setup_teardown(context_parallelism_exchanges_heads_or_passes_keys_and_values_on,
                                        begin, end),
        cmocka_unit_test_setup_teardown(a_step_ends_with_sums_of_what_ranks_share, begin, end),
        cmocka_unit_test_setup_teardown(layers_are_made_again_as_the_options_say, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
