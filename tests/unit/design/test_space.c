#include "design/space.h"
#include "support/point_order.h"
#include "unit/unit.h"

static dse_arena arena;
static dse_error err;
static strategy *points;
static size_t n;

/* As a sweep does without constraints. */
static dse_status enumerate(const design_axes *axes, uint64_t npus, uint32_t layers)
{
    const strategy base = strategy_default();
    dse_status st;

    dse_arena_init(&arena);
    err = (dse_error)DSE_ERROR_INIT;
    points = NULL;
    n = 0;
    st = design_enumerate(axes, &base, npus, &arena, &points, &n, &err);
    return st == DSE_OK ? design_check_values(axes, STRATEGY_PROFILE_STAGE, npus, layers, points, n, &err) : st;
}

/* What the command line gives if nothing is asked for. */
static design_axes defaults(void) { return (design_axes){0}; }

/* ---- counts -------------------------------------------------------------------------------------- */

/* 64 = 2^6: three degrees share six factors in C(8, 2) = 28 ways, with recomputation on and off. */
CLAIM(sixty_four_npus_have_56_points)
{
    design_axes axes = defaults();

    assert_ok(enumerate(&axes, 64, 80), &err);
    assert_int_equal(n, 56);
    dse_arena_free(&arena);
}

/* For a product of primes p^a q^b ... the ways multiply: C(a + 2, 2) C(b + 2, 2) ... */
CLAIM(counts_are_those_of_ordered_factorisations)
{
    static const struct {
        uint64_t npus;
        size_t ways;
    } cases[] = {{1, 1}, {2, 3}, {6, 9}, {12, 18}, {16, 15}, {36, 36}, {2048, 78}, {97, 3}};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        design_axes axes = defaults();

        assert_ok(enumerate(&axes, cases[i].npus, 80), &err);
        assert_int_equal(n, 2 * cases[i].ways);
        dse_arena_free(&arena);
    }
}

CLAIM(switches_double_the_points)
{
    design_axes axes = {.of[STRATEGY_recompute] = {1, {0}}, .of[STRATEGY_weight_sharded] = {1, {0}}};

    assert_ok(enumerate(&axes, 64, 80), &err);
    assert_int_equal(n, 28);
    dse_arena_free(&arena);
    axes.of[STRATEGY_weight_sharded] = (design_axis){2, {0, 1}};
    axes.of[STRATEGY_recompute] = (design_axis){2, {0, 1}};
    assert_ok(enumerate(&axes, 64, 80), &err);
    assert_int_equal(n, 112);
    dse_arena_free(&arena);
    axes.of[STRATEGY_weight_sharded] = (design_axis){1, {1}};
    axes.of[STRATEGY_recompute] = (design_axis){1, {1}};
    assert_ok(enumerate(&axes, 64, 80), &err);
    assert_int_equal(n, 28);
    for (size_t i = 0; i < n; i++)
        assert_true(points[i].weight_sharded && points[i].recompute);
    dse_arena_free(&arena);
}

CLAIM(pipelines_share_the_npus)
{
    design_axes axes = defaults();

    axes.of[STRATEGY_pp] = (design_axis){2, {4, 1}};
    assert_ok(enumerate(&axes, 64, 80), &err);
    assert_int_equal(n, 2 * (28 + 15)); /* 64 and 16 NPUs for the other three */
    dse_arena_free(&arena);
}

CLAIM(degrees_that_are_given_narrow_the_space)
{
    design_axes axes = defaults();

    axes.of[STRATEGY_tp] = (design_axis){1, {1}};
    axes.of[STRATEGY_dp] = (design_axis){2, {8, 2}};
    assert_ok(enumerate(&axes, 64, 80), &err);
    assert_int_equal(n, 4);
    assert_int_equal(points[0].dp, 2); /* in ascending order, whatever was typed */
    assert_int_equal(points[0].sp, 32);
    assert_int_equal(points[2].dp, 8);
    dse_arena_free(&arena);
}

CLAIM(every_point_fills_the_npus_and_stands_once_in_order)
{
    design_axes axes = {.of[STRATEGY_recompute] = {2, {0, 1}},
                        .of[STRATEGY_weight_sharded] = {2, {0, 1}},
                        .of[STRATEGY_pp] = {3, {1, 2, 3}}};

    assert_ok(enumerate(&axes, 72, 80), &err);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal((uint64_t)points[i].dp * points[i].tp * points[i].sp * points[i].pp, 72);
        if (i)
            assert_true(compare_points(&points[i - 1], &points[i]) < 0);
    }
    dse_arena_free(&arena);
}

/* pp, dp, tp, sp, weight sharding, recomputation. */
/* ---- refusals ------------------------------------------------------------------------------------- */

static void refuse(const design_axes *axes, uint64_t npus, uint32_t layers, const char *message)
{
    assert_failure(enumerate(axes, npus, layers), &err, DSE_E_RANGE, "", message);
    dse_arena_free(&arena);
}

CLAIM(a_value_that_is_in_no_point_is_refused)
{
    design_axes axes = defaults();

    axes.of[STRATEGY_dp] = (design_axis){2, {2, 3}};
    refuse(&axes, 64, 80, "dp 3 does not divide the 64 NPUs of the system");
    axes = defaults();
    axes.of[STRATEGY_dp] = (design_axis){1, {8}};
    axes.of[STRATEGY_tp] = (design_axis){1, {8}};
    axes.of[STRATEGY_sp] = (design_axis){1, {8}};
    refuse(&axes, 64, 80, "no combination with dp 8 has dp * tp * sp * pp = 64 NPUs");
    axes = defaults();
    axes.of[STRATEGY_tp] = (design_axis){2, {1, 64}};
    axes.of[STRATEGY_dp] = (design_axis){1, {2}};
    refuse(&axes, 64, 80, "no combination with tp 64 has dp * tp * sp * pp = 64 NPUs");
}

CLAIM(more_stages_than_layers_and_embeddings_are_refused)
{
    design_axes axes = defaults();

    axes.of[STRATEGY_pp] = (design_axis){1, {4}};
    assert_ok(enumerate(&axes, 64, 2), &err);
    dse_arena_free(&arena);
    axes.of[STRATEGY_pp] = (design_axis){1, {8}};
    refuse(&axes, 64, 2, "pp 8 is more than the 4 stages that 2 layers and two embeddings can fill");
}

CLAIM(numbers_with_too_many_divisors_are_refused)
{
    design_axes axes = defaults();

    /* 7560 = 2^3 3^3 5 7 has 4 * 4 * 2 * 2 = 64 divisors, 10080 = 2^5 3^2 5 7 has 72. */
    assert_int_equal(enumerate(&axes, 10080, 80), DSE_E_RANGE);
    assert_non_null(strstr(err.text, "10080 NPUs have more than 64 divisors; give --dp, --tp and --sp"));
    dse_arena_free(&arena);
}

/* ---- axes ------------------------------------------------------------------------------------------ */

CLAIM(an_axis_is_a_list_of_positive_numbers)
{
    design_axis a;

    err = (dse_error)DSE_ERROR_INIT;
    assert_ok(design_axis_parse(STRATEGY_dp, "--dp", "8", &a, &err), &err);
    assert_int_equal(a.n, 1);
    assert_int_equal(a.value[0], 8);
    assert_ok(design_axis_parse(STRATEGY_dp, "--dp", "4,1,2", &a, &err), &err);
    assert_int_equal(a.n, 3);
    assert_int_equal(a.value[0], 4);
    assert_int_equal(a.value[2], 2);
    assert_ok(design_axis_parse(STRATEGY_dp, "--dp", "16777216", &a, &err), &err);
    assert_int_equal(a.value[0], 1 << 24);
}

static void refuse_axis(const char *text, const char *message)
{
    design_axis a;

    err = (dse_error)DSE_ERROR_INIT;
    assert_failure(design_axis_parse(STRATEGY_dp, "--dp", text, &a, &err), &err, DSE_E_USAGE, "", message);
}

CLAIM(other_axes_are_refused)
{
    static const char *const texts[] = {
        "", "0", "-1", "1,", ",1", "1,,2", "1;2", "two", "1.5", "16777217", "123456789012345678901234567890"};

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        char message[200];

        snprintf(message, sizeof message, "--dp takes positive whole numbers such as 1,2,4, not '%s'",
                 texts[i]);
        refuse_axis(texts[i], message);
    }
    refuse_axis("1,2,1", "--dp names 1 twice");
}

CLAIM(an_axis_has_at_most_64_values)
{
    dse_strbuf b;
    design_axis a;

    dse_strbuf_init(&b);
    for (int i = 1; i <= 64; i++)
        dse_strbuf_addf(&b, "%s%d", i > 1 ? "," : "", i);
    err = (dse_error)DSE_ERROR_INIT;
    assert_ok(design_axis_parse(STRATEGY_dp, "--dp", b.data, &a, &err), &err);
    assert_int_equal(a.n, 64);
    dse_strbuf_adds(&b, ",65");
    refuse_axis(b.data, "--dp takes at most 64 values");
    dse_strbuf_free(&b);
}

static void check_switch(const char *text, uint32_t n_values, uint32_t first)
{
    design_axis a;

    err = (dse_error)DSE_ERROR_INIT;
    assert_ok(design_axis_parse(STRATEGY_recompute, "--recompute", text, &a, &err), &err);
    assert_int_equal(a.n, n_values);
    assert_int_equal(a.value[0], first);
    assert_true(n_values == 1 || a.value[1] == 1);
}

CLAIM(a_switch_is_yes_no_or_both)
{
    static const char *const bad[] = {"maybe", "both,no", "yes,yes", "no,yes,no"};
    design_axis a;

    check_switch("both", 2, 0);
    check_switch("yes", 1, 1);
    check_switch("true", 1, 1);
    check_switch("false", 1, 0);
    check_switch("yes,no", 2, 0);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        err = (dse_error)DSE_ERROR_INIT;
        assert_says(design_axis_parse(STRATEGY_recompute, "--recompute", bad[i], &a, &err), &err, DSE_E_USAGE,
                    "--recompute takes yes, no or both");
    }
}

/* ---- names ----------------------------------------------------------------------------------------- */

CLAIM(names_are_dp_tp_sp_pp_recompute)
{
    strategy p = strategy_default(), q;
    char name[STRATEGY_NAME_MAX];

    p.dp = 8;
    p.sp = 4;
    p.pp = 2;
    p.recompute = true;
    strategy_name(&p, NULL, name);
    assert_string_equal(name, "8_1_4_2_1");
    q = p;
    q.recompute = false;
    q.weight_sharded = true;
    strategy_name(&q, NULL, name);
    assert_string_equal(name, "8_1_4_2_0_ws");
}

CLAIM(every_point_is_read_back_from_its_name)
{
    design_axes axes = {.of[STRATEGY_recompute] = {2, {0, 1}},
                        .of[STRATEGY_weight_sharded] = {2, {0, 1}},
                        .of[STRATEGY_pp] = {2, {1, 2}}};

    assert_ok(enumerate(&axes, 96, 80), &err);
    for (size_t i = 0; i < n; i++) {
        char name[STRATEGY_NAME_MAX];
        strategy p;

        strategy_name(&points[i], NULL, name);
        assert_ok(strategy_parse_name(name, NULL, &p, NULL, &err), &err);
        assert_int_equal(compare_points(&p, &points[i]), 0);
    }
    dse_arena_free(&arena);
}

CLAIM(other_names_are_refused)
{
    static const char *const texts[] = {
        "",           "8_1_4_2",           "8_1_4_2_2",  "8_1_4_2_1_", "8_1_4_2_1_x",     "8_1_4_2_01",
        "08_1_4_2_1", "0_1_4_2_1",         "-8_1_4_2_1", " 8_1_4_2_1", "8_1_4_2_1_ws_ws", "8-1-4-2-1",
        "8_1_4_2_1 ", "123456789_1_1_1_1", "a_b_c_d_e"};

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        char message[200];
        strategy p;

        err = (dse_error)DSE_ERROR_INIT;
        snprintf(message, sizeof message,
                 "'%s' is not a point; write dp_tp_sp_pp_recompute, for example 8_1_8_1_1", texts[i]);
        assert_failure(strategy_parse_name(texts[i], NULL, &p, NULL, &err), &err, DSE_E_USAGE, "", message);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sixty_four_npus_have_56_points),
        cmocka_unit_test(counts_are_those_of_ordered_factorisations),
        cmocka_unit_test(switches_double_the_points),
        cmocka_unit_test(pipelines_share_the_npus),
        cmocka_unit_test(degrees_that_are_given_narrow_the_space),
        cmocka_unit_test(every_point_fills_the_npus_and_stands_once_in_order),
        cmocka_unit_test(a_value_that_is_in_no_point_is_refused),
        cmocka_unit_test(more_stages_than_layers_and_embeddings_are_refused),
        cmocka_unit_test(numbers_with_too_many_divisors_are_refused),
        cmocka_unit_test(an_axis_is_a_list_of_positive_numbers),
        cmocka_unit_test(other_axes_are_refused),
        cmocka_unit_test(an_axis_has_at_most_64_values),
        cmocka_unit_test(a_switch_is_yes_no_or_both),
        cmocka_unit_test(names_are_dp_tp_sp_pp_recompute),
        cmocka_unit_test(every_point_is_read_back_from_its_name),
        cmocka_unit_test(other_names_are_refused),
    };
    return RUN_TESTS(tests);
}
