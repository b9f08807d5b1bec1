/* The order in which ranks count the parallel dimensions. */
#include "unit/unit.h"

#include "workload/placement.h"

static dse_error err;

CLAIM(placement_0_is_stages_order)
{
    char text[WL_PLACEMENT_TEXT];
    wl_placement p = 7;

    wl_placement_print(0, text);
    assert_string_equal(text, WL_PLACEMENT_DEFAULT);
    assert_ok(wl_placement_parse(WL_PLACEMENT_DEFAULT, &p, &err), &err);
    assert_int_equal(p, 0);
}

/* 4! of them. */
CLAIM(each_order_has_a_number_of_its_own)
{
    char seen[WL_N_PLACEMENTS][WL_PLACEMENT_TEXT];

    for (wl_placement p = 0; p < WL_N_PLACEMENTS; p++) {
        wl_placement again = WL_N_PLACEMENTS;

        wl_placement_print(p, seen[p]);
        for (wl_placement q = 0; q < p; q++)
            assert_string_not_equal(seen[p], seen[q]);
        assert_ok(wl_placement_parse(seen[p], &again, &err), &err);
        assert_int_equal(again, p);
    }
}

/* dp 2, tp 4, sp 3, pp 5 with tp innermost, then sp: tp counts in ones, sp in 4s, dp in 4 * 3, stages in 4 * 3 * 2. */
CLAIM(each_dimension_counts_in_the_product_of_those_inside_it)
{
    const uint32_t degree[] = {[WL_DP] = 2, [WL_TP] = 4, [WL_SP] = 3, [WL_PP] = 5};
    uint32_t stride[WL_N_DEGREES];
    wl_placement p = 0;

    wl_placement_strides(0, degree, stride);
    assert_int_equal(stride[WL_DP], 1);
    assert_int_equal(stride[WL_TP], 2);
    assert_int_equal(stride[WL_SP], 8);
    assert_int_equal(stride[WL_PP], 24);
    assert_ok(wl_placement_parse("tp,sp,dp,pp", &p, &err), &err);
    wl_placement_strides(p, degree, stride);
    assert_int_equal(stride[WL_TP], 1);
    assert_int_equal(stride[WL_SP], 4);
    assert_int_equal(stride[WL_DP], 12);
    assert_int_equal(stride[WL_PP], 24);
    assert_ok(wl_placement_parse("pp,tp,dp,sp", &p, &err), &err);
    wl_placement_strides(p, degree, stride);
    assert_int_equal(stride[WL_PP], 1);
    assert_int_equal(stride[WL_TP], 5);
    assert_int_equal(stride[WL_DP], 20);
    assert_int_equal(stride[WL_SP], 40);
}

CLAIM(what_is_no_order_is_refused)
{
    static const char *const wrong[] = {"",
                                        "tp",
                                        "tp,sp,dp",
                                        "tp,tp,dp,pp",
                                        "tp-sp-dp-pp",
                                        "tp,cp,dp,pp",
                                        "TP,SP,DP,PP",
                                        "tp, sp, dp, pp",
                                        "dp,tp,sp,pp,ep"};
    char expected[256];
    wl_placement p = 3;

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        err = (dse_error)DSE_ERROR_INIT;
        snprintf(
            expected, sizeof expected,
            "'%s' is no order of dp, tp, sp and pp; write each once, the innermost first, without blanks: "
            "tp,sp,dp,pp",
            wrong[i]);
        assert_failure(wl_placement_parse(wrong[i], &p, &err), &err, DSE_E_CONFIG, "", expected);
        assert_int_equal(p, 3);
    }
}

static void assert_stages(wl_stages how, uint32_t layers, uint32_t pp, const char *expected)
{
    char seen[32] = "";

    assert_true(layers + 2 < sizeof seen && pp < 10);
    for (uint32_t place = 0; place < layers + 2; place++)
        seen[place] = (char)('0' + wl_stage_of(how, place, layers, pp));
    assert_string_equal(seen, expected);
}

/* The embedding, the layers, the head. */
CLAIM(stages_in_turn_are_places_modulo_pp)
{
    assert_stages(WL_STAGES_TURNS, 4, 1, "000000");
    assert_stages(WL_STAGES_TURNS, 6, 3, "01201201");
}

/* Layer l, from 0, is on stage l * pp / layers: 5 layers on 3 stages are 2 + 2 + 1. */
CLAIM(stages_of_neighbours_are_pieces_with_the_embedding_first_and_the_head_last)
{
    assert_stages(WL_STAGES_NEIGHBOURS, 4, 1, "000000");
    assert_stages(WL_STAGES_NEIGHBOURS, 6, 3, "00011222");
    assert_stages(WL_STAGES_NEIGHBOURS, 5, 3, "0001122");
    assert_stages(WL_STAGES_NEIGHBOURS, 4, 4, "001233");
    assert_stages(WL_STAGES_NEIGHBOURS, 0, 2, "01");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(placement_0_is_stages_order),
        cmocka_unit_test(each_order_has_a_number_of_its_own),
        cmocka_unit_test(each_dimension_counts_in_the_product_of_those_inside_it),
        cmocka_unit_test(what_is_no_order_is_refused),
        cmocka_unit_test(stages_in_turn_are_places_modulo_pp),
        cmocka_unit_test(stages_of_neighbours_are_pieces_with_the_embedding_first_and_the_head_last),
    };

    err = (dse_error)DSE_ERROR_INIT;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
