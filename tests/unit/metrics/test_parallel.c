#include "metrics/parallel.h"
#include "unit/unit.h"

/* The ranks that a text says, written out again; "" for none. */
static const char *ranks_of(const char *text, uint32_t size)
{
    static char out[512];
    dse_arena a;
    metric_ranks r;

    dse_arena_init(&a);
    r = metric_ranks_of(text, size, &a);
    out[0] = '\0';
    for (uint32_t i = 0; i < r.n; i++)
        snprintf(out + strlen(out), sizeof out - strlen(out), "%s%u", i ? " " : "", r.rank[i]);
    dse_arena_free(&a);
    return out;
}

CLAIM(a_list_of_ranks_may_be_abbreviated_where_it_is_regular)
{
    assert_string_equal(ranks_of("[0, 1, 2]", 3), "0 1 2");
    assert_string_equal(ranks_of("[9, 1]", 0), "1 9");
    assert_string_equal(ranks_of("[0, 8, ..., 24]", 0), "0 8 16 24");
    assert_string_equal(ranks_of("[0, 8, ..., 24]", 4), "0 8 16 24");
    assert_string_equal(ranks_of("[3, ..., 9]", 3), "3 6 9");
    assert_string_equal(ranks_of("[0, 1, ..., 3, 4]", 0), "0 1 2 3 4");
}

CLAIM(an_abbreviation_that_is_not_regular_says_nothing)
{
    assert_string_equal(ranks_of("[0, 8, ..., 25]", 0), "");
    assert_string_equal(ranks_of("[0, 8, ..., 24]", 5), "");
    assert_string_equal(ranks_of("[0, ..., 24]", 0), "");
    assert_string_equal(ranks_of("[0, 1, 3, ..., 9]", 0), "");
    assert_string_equal(ranks_of("[0, 1, ..., 4000000000]", 0), "");
    assert_string_equal(ranks_of("[..., 24]", 2), "");
    assert_string_equal(ranks_of("[0, 1, ...]", 2), "");
    assert_string_equal(ranks_of("[]", 0), "");
    assert_string_equal(ranks_of("", 0), "");
    assert_string_equal(ranks_of("all", 8), "");
    assert_string_equal(ranks_of("[99999999999]", 0), "");
}

static metric_layout layout(trace_card *c)
{
    metric_layout l;
    dse_error err = DSE_ERROR_INIT;

    assert_ok(metric_layout_of(c, &l, &err), &err);
    return l;
}

static metric_parallel class_of(const metric_layout *l, const char *text, bool all_to_all)
{
    metric_parallel p;
    metric_ranks r;
    dse_arena a;

    dse_arena_init(&a);
    r = metric_ranks_of(text, 0, &a);
    p = metric_layout_class(l, &r, all_to_all);
    dse_arena_free(&a);
    return p;
}

/* 16 ranks: tp 2, dp_shard 2, dp_replicate 2, pp 2: rank = tp + 2 shard + 4 replica + 8 stage. */
CLAIM(a_group_is_of_the_dimension_that_has_its_size_and_stride)
{
    trace_card c = {
        .tp = 2, .cp = TRACE_CARD_NONE, .dp_shard = 2, .dp_replicate = 2, .pp = 2, .ep = TRACE_CARD_NONE};
    metric_layout l = layout(&c);

    assert_int_equal(class_of(&l, "[6, 7]", false), METRIC_TP);
    assert_int_equal(class_of(&l, "[1, 3]", false), METRIC_DP);
    assert_int_equal(class_of(&l, "[1, 5]", false), METRIC_DP);
    assert_int_equal(class_of(&l, "[0, 2, 4, 6]", false), METRIC_DP); /* both of data */
    assert_int_equal(class_of(&l, "[3, 11]", false), METRIC_PP);
    assert_int_equal(class_of(&l, "[5, 6]", false), METRIC_UNKNOWN); /* across two groups of tp */
    assert_int_equal(class_of(&l, "[0, 1, 2, 3]", false), METRIC_UNKNOWN);
    assert_int_equal(class_of(&l, "[0, 1, 8]", false), METRIC_UNKNOWN);
    assert_int_equal(class_of(&l, "[]", false), METRIC_UNKNOWN);
    assert_int_equal(metric_layout_stage(&l, 7), 0);
    assert_int_equal(metric_layout_stage(&l, 13), 1);
}

/* The card may say that stages are next to each other: rank = stage + 2 tp. */
CLAIM(the_card_gives_the_order_of_ranks)
{
    trace_card c = {.tp = 4, .cp = 1, .dp_shard = 1, .dp_replicate = 1, .pp = 2, .rank_order = "pp, tp"};
    metric_layout l = layout(&c);

    assert_int_equal(class_of(&l, "[2, 3]", false), METRIC_PP);
    assert_int_equal(class_of(&l, "[1, 3, 5, 7]", false), METRIC_TP);
    assert_int_equal(metric_layout_stage(&l, 5), 1);
}

/* Experts over the 4 shards: their exchange is told from the gradients by what it is. */
CLAIM(experts_share_the_ranks_of_the_shards)
{
    trace_card c = {.tp = 1, .cp = 1, .dp_shard = 4, .dp_replicate = 2, .pp = 1, .ep = 4};
    metric_layout l = layout(&c);

    assert_int_equal(class_of(&l, "[4, 5, 6, 7]", true), METRIC_EP);
    assert_int_equal(class_of(&l, "[4, 5, 6, 7]", false), METRIC_DP);
    c.ep = 2;
    l = layout(&c);
    assert_int_equal(class_of(&l, "[2, 3]", false), METRIC_EP);
    assert_int_equal(metric_layout_stage(&l, 3), DSE_NONE);
}

CLAIM(an_order_with_a_word_that_is_no_dimension_is_refused)
{
    trace_card c = {.rank_order = "tp,dp", .path = "card.yaml"};
    dse_error err = DSE_ERROR_INIT;
    metric_layout l;

    assert_failure(
        metric_layout_of(&c, &l, &err), &err, DSE_E_CONFIG, "card.yaml",
        "rank_order has 'dp'; it takes each of tp, cp, dp_shard, dp_replicate, pp once, innermost first");
    err = (dse_error)DSE_ERROR_INIT;
    c.rank_order = "tp,tp";
    assert_says(metric_layout_of(&c, &l, &err), &err, DSE_E_CONFIG, "rank_order has 'tp'");
}

CLAIM(a_description_is_told_by_its_words)
{
    assert_int_equal(metric_parallel_of_description("mesh_dp_shard"), METRIC_DP);
    assert_int_equal(metric_parallel_of_description("mesh_dp_shard_cp"), METRIC_DP);
    assert_int_equal(metric_parallel_of_description("mesh_tp"), METRIC_TP);
    assert_int_equal(metric_parallel_of_description("PIPELINE_MODEL_PARALLEL_GROUP"), METRIC_PP);
    assert_int_equal(metric_parallel_of_description("EXPERT_MODEL_PARALLEL_GROUP"), METRIC_EP);
    assert_int_equal(metric_parallel_of_description("EXPERT_DATA_PARALLEL_GROUP"), METRIC_DP);
    assert_int_equal(metric_parallel_of_description("mesh_cp"), METRIC_CP);
    assert_int_equal(metric_parallel_of_description("mesh_sp"), METRIC_CP); /* of our own timelines */
    assert_int_equal(metric_parallel_of_description("default_pg"), METRIC_UNKNOWN);
    assert_int_equal(metric_parallel_of_description("step"),
                     METRIC_UNKNOWN); /* has "ep" in it, not as a word */
    assert_int_equal(metric_parallel_of_description(""), METRIC_UNKNOWN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_list_of_ranks_may_be_abbreviated_where_it_is_regular),
        cmocka_unit_test(an_abbreviation_that_is_not_regular_says_nothing),
        cmocka_unit_test(a_group_is_of_the_dimension_that_has_its_size_and_stride),
        cmocka_unit_test(the_card_gives_the_order_of_ranks),
        cmocka_unit_test(experts_share_the_ranks_of_the_shards),
        cmocka_unit_test(an_order_with_a_word_that_is_no_dimension_is_refused),
        cmocka_unit_test(a_description_is_told_by_its_words),
    };
    return RUN_TESTS(tests);
}
