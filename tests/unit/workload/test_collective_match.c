#include "unit/unit.h"

#include "strategy/strategy.h"
#include "workload/collective_match.h"
#include "workload/graph.h"

static const wl_symbols symbols = {
    .n = 7, .name = {"B", "S", "M", "H", "dp", "tp", "sp"}, .value = {1, 1, 1, 1, 2, 3, 4}};
static const char *axis_name[] = {"dp", "tp", "sp"};
static int axis_symbol[] = {4, 5, 6};
static const wl_axes axes = {.n = 3, .name = axis_name, .symbol = axis_symbol, .sharding = 7};
static const mesh_set all_sharded = 7;

/* "B/dp,S" as a shape; "" is a scalar. */
static wl_shape shape(const char *text)
{
    wl_shape s = {.n = 0};

    while (*text) {
        char one[40];
        size_t n = strcspn(text, ",");

        snprintf(one, sizeof one, "%.*s", (int)n, text);
        assert_int_equal(wl_dim_parse(&symbols, one, &s.dim[s.n++], NULL), DSE_OK);
        text += n + (text[n] == ',');
    }
    return s;
}

/* "AG:tp AR:dp" for what is matched. */
static void assert_match(const wl_axes *x, mesh_set split, const char *have, const char *reduced,
                         const char *need, const char *expected)
{
    static const char *const dims[] = {"dp", "tp", "sp"};
    wl_shape h = shape(have), r = shape(reduced), n = shape(need);
    dse_error err = DSE_ERROR_INIT;
    wl_match out[3];
    uint32_t count = 99;
    char text[64] = "";

    assert_ok(wl_match_collectives(x, split, &h, &r, &n, NULL, out, &count, &err), &err);
    for (uint32_t i = 0; i < count; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s:%s", i ? " " : "",
                 out[i].coll == WL_ALL_REDUCE       ? "AR"
                 : out[i].coll == WL_ALL_GATHER     ? "AG"
                 : out[i].coll == WL_REDUCE_SCATTER ? "RS"
                 : out[i].coll == WL_ALL_TO_ALL     ? "A2A"
                                                    : "?",
                 dims[__builtin_ctzll(out[i].axes)]);
    assert_string_equal(text, expected);
}

/* ---- the table in the header, row by row ---------------------------------------------------- */

CLAIM(the_same_sharding_needs_nothing)
{
    assert_match(&axes, all_sharded, "B/dp,S/sp,M/tp", "", "B/dp,S/sp,M/tp", "");
    assert_match(&axes, all_sharded, "B,S", "", "B,S", "");
    assert_match(&axes, all_sharded, "", "", "", "");
}

CLAIM(another_tensor_dimension_of_the_same_degree_needs_an_all_to_all)
{
    assert_match(&axes, all_sharded, "B,S/sp,H", "", "B,S,H/sp", "A2A:sp");
}

CLAIM(sharded_to_whole_is_an_all_gather)
{
    assert_match(&axes, all_sharded, "B/dp,M/tp", "", "B/dp,M", "AG:tp");
}

CLAIM(partial_sums_to_sharded_are_a_reduce_scatter)
{
    assert_match(&axes, all_sharded, "B,S", "M/tp", "B,S/tp", "RS:tp");
}

CLAIM(partial_sums_to_whole_are_an_all_reduce)
{
    assert_match(&axes, all_sharded, "M,H/tp", "B/dp,S/sp", "M,H/tp", "AR:dp AR:sp");
}

/* ---- several at once ------------------------------------------------------------------------ */

CLAIM(collectives_run_in_the_order_dp_tp_sp)
{
    assert_match(&axes, all_sharded, "S/sp,M/tp,B/dp", "", "S,M,B", "AG:dp AG:tp AG:sp");
    assert_match(&axes, all_sharded, "M/tp", "S/sp,B/dp", "M", "AR:dp AG:tp AR:sp");
}

CLAIM(a_degree_of_one_shards_nothing)
{
    assert_match(&axes, mesh_only(0), "B/dp,M/tp", "S/sp", "B,M", "AG:dp");
}

CLAIM(a_degree_that_is_no_symbol_shards_nothing)
{
    static int only_dp[] = {4, -1, -1};
    const wl_axes x = {.n = 3, .name = axis_name, .symbol = only_dp, .sharding = 7};

    assert_match(&x, all_sharded, "B/dp,M/tp", "S/sp", "B,M", "AG:dp");
}

/* M/(dp*sp) is taken for dp; sp, which comes second, is not seen, as in STAGE's coll_comm_matcher.py. */
CLAIM(of_two_degrees_in_one_dimension_the_first_counts)
{
    assert_match(&axes, all_sharded, "M/(dp*sp)", "", "M", "AG:dp");
    assert_match(&axes, all_sharded, "M", "B/dp,S/sp", "M/(dp*sp)", "RS:dp AR:sp");
    assert_match(&axes, all_sharded, "M/(dp*sp)", "", "M/dp", "A2A:dp"); /* other dimensions carry dp */
}

/* B/dp takes dp, so that M/(dp*sp) is left for sp. */
CLAIM(a_degree_that_is_taken_leaves_the_next_one)
{
    assert_match(&axes, all_sharded, "B/dp,M/(dp*sp)", "", "B/dp,M", "AG:sp");
}

CLAIM(sharding_what_is_whole_is_refused)
{
    wl_shape have = shape("B,M"), none = shape(""), need = shape("B,M/tp");
    dse_error err = DSE_ERROR_INIT;
    wl_match out[3];
    uint32_t n;

    assert_failure(wl_match_collectives(&axes, all_sharded, &have, &none, &need, NULL, out, &n, &err), &err,
                   DSE_E_CONFIG, "", "no collective shards along tp what every rank holds whole");
}

/* Summed over M/tp and B/dp: the reader asks for the sum over dp, and takes partial sums along tp. */
CLAIM(partial_sums_that_are_taken_as_such_need_nothing)
{
    const wl_shape have = shape("S,H"), reduced = shape("M/tp,B/dp"), unsummed = shape("M/tp"),
                   none = {.n = 0};
    dse_error err = DSE_ERROR_INIT;
    wl_match out[3];
    uint32_t n = 99;

    assert_ok(wl_match_collectives(&axes, all_sharded, &have, &reduced, &have, &unsummed, out, &n, &err),
              &err);
    assert_int_equal(n, 1);
    assert_int_equal(out[0].coll, WL_ALL_REDUCE);
    assert_u64(out[0].axes, mesh_only(0));
    assert_failure(wl_match_collectives(&axes, all_sharded, &have, &none, &have, &unsummed, out, &n, &err),
                   &err, DSE_E_CONFIG, "", "it is taken as partial sums along tp, and is none");
}

/* Others, as the pipeline's, shard no tensor and have no symbol. */
CLAIM(axes_that_shard_tensors_have_symbols)
{
    wl_symbols s = {.n = 1, .name = {"B"}};
    dse_arena arena;
    wl_axes x;

    dse_arena_init(&arena);
    wl_axes_add_symbols(&s);
    x = wl_axes_of(&s, &arena);
    assert_int_equal(s.n, 4);
    for (uint32_t k = 0; k < x.n; k++) {
        assert_int_equal(mesh_has(x.sharding, k), strategy_parameters[strategy_axes[k]].shards_tensors);
        assert_int_equal(x.symbol[k], wl_symbol_find(&s, x.name[k]));
    }
    assert_false(mesh_has(x.sharding, x.pipeline));
    assert_string_equal(x.name[x.pipeline], "pp");
    dse_arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_sharding_needs_nothing),
        cmocka_unit_test(another_tensor_dimension_of_the_same_degree_needs_an_all_to_all),
        cmocka_unit_test(sharded_to_whole_is_an_all_gather),
        cmocka_unit_test(partial_sums_to_sharded_are_a_reduce_scatter),
        cmocka_unit_test(partial_sums_to_whole_are_an_all_reduce),
        cmocka_unit_test(collectives_run_in_the_order_dp_tp_sp),
        cmocka_unit_test(a_degree_of_one_shards_nothing),
        cmocka_unit_test(a_degree_that_is_no_symbol_shards_nothing),
        cmocka_unit_test(of_two_degrees_in_one_dimension_the_first_counts),
        cmocka_unit_test(a_degree_that_is_taken_leaves_the_next_one),
        cmocka_unit_test(sharding_what_is_whole_is_refused),
        cmocka_unit_test(partial_sums_that_are_taken_as_such_need_nothing),
        cmocka_unit_test(axes_that_shard_tensors_have_symbols),
    };
    return RUN_TESTS(tests);
}
