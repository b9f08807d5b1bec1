/* The order in which the axes number ranks, and the places of stages. */
#include "unit/unit.h"

#include "support/wl_strategy.h"
#include "workload/generate.h"

static dse_error err;

static void assert_strides(const char *placement, uint32_t dp, uint32_t tp, uint32_t sp, uint32_t pp)
{
    wl_strategy s = WL_STRATEGY(.dp = 2, .tp = 4, .sp = 3, .pp = 5);
    dse_arena arena;
    mesh m;

    dse_arena_init(&arena);
    assert_ok(strategy_parse(&strategy_parameters[STRATEGY_placement], "placement", placement, &s.placement, &err),
              &err);
    m = strategy_mesh(&s.strategy, &arena);
    assert_int_equal(m.axis[mesh_find(&m, "dp")].stride, dp);
    assert_int_equal(m.axis[mesh_find(&m, "tp")].stride, tp);
    assert_int_equal(m.axis[mesh_find(&m, "sp")].stride, sp);
    assert_int_equal(m.axis[mesh_find(&m, "pp")].stride, pp);
    dse_arena_free(&arena);
}

/* dp 2, tp 4, sp 3, pp 5 with tp innermost, then sp: tp counts in ones, sp in 4s, dp in 4 * 3, stages in 4 * 3 * 2. */
CLAIM(each_axis_counts_in_the_product_of_those_inside_it)
{
    assert_strides("dp,tp,sp,pp", 1, 2, 8, 24);
    assert_strides("tp,sp,dp,pp", 12, 1, 4, 24);
    assert_strides("pp,tp,dp,sp", 20, 5, 40, 1);
}

/* The row's choices are those of the enumeration, in its order. */
CLAIM(stages_are_named_as_they_are_numbered)
{
    const strategy_parameter *p = &strategy_parameters[STRATEGY_stages];

    assert_string_equal(p->choices[WL_STAGES_TURNS], "turns");
    assert_string_equal(p->choices[WL_STAGES_NEIGHBOURS], "neighbours");
    assert_int_equal(strategy_n_values(p), 2);
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
        cmocka_unit_test(each_axis_counts_in_the_product_of_those_inside_it),
        cmocka_unit_test(stages_are_named_as_they_are_numbered),
        cmocka_unit_test(stages_in_turn_are_places_modulo_pp),
        cmocka_unit_test(stages_of_neighbours_are_pieces_with_the_embedding_first_and_the_head_last),
    };

    err = (dse_error)DSE_ERROR_INIT;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
