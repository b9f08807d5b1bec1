/* Where a group of ranks lies on a machine: ranks are NPUs, the innermost dimension first. */
#include "measured/calibrate_gather.h"

#include "unit/unit.h"

static card_system boxes(void) /* two of four */
{
    return (card_system){.npus_count = {2, {4, 2}}, .topology = {2, {"Switch", "Switch"}}};
}

CLAIM(neighbours_of_a_box_lie_in_the_first_dimension)
{
    card_system s = boxes();
    uint32_t dim = 7;

    assert_true(msr_group_dimension(&s, 4, 1, &dim)); /* 0 1 2 3 */
    assert_int_equal(dim, 0);
    assert_true(msr_group_dimension(&s, 2, 2, &dim)); /* 0 2 */
    assert_int_equal(dim, 0);
}

CLAIM(the_same_places_of_two_boxes_lie_in_the_second)
{
    card_system s = boxes();
    uint32_t dim = 7;

    assert_true(msr_group_dimension(&s, 2, 4, &dim)); /* 0 4 */
    assert_int_equal(dim, 1);
}

CLAIM(a_group_of_several_dimensions_has_none)
{
    card_system s = boxes();
    uint32_t dim;

    assert_false(msr_group_dimension(&s, 8, 1, &dim)); /* all */
    assert_false(msr_group_dimension(&s, 4, 2, &dim)); /* 0 2 4 6 */
}

CLAIM(a_group_beyond_the_machine_has_none)
{
    card_system s = boxes();
    uint32_t dim;

    assert_false(msr_group_dimension(&s, 2, 8, &dim));  /* 0 8 */
    assert_false(msr_group_dimension(&s, 3, 4, &dim));  /* 0 4 8 */
    assert_false(msr_group_dimension(&s, 16, 1, &dim)); /* 0 to 15 */
}

/* The README of the trace: alpha 1 us, beta 2e-12 s/B between 4 members, so 5e11 B/s; fully connected that is for three links.
 * 2^30 B are a GiB. Through a Switch alpha is the latency of two links, 500 ns each. */
CLAIM(all_reduces_of_a_trace_give_the_start_of_a_dimension)
{
    card_system s = boxes();
    dse_error err = DSE_ERROR_INIT;
    report_calibrated_hockney h;
    drv_recording r = {0};
    dse_arena arena;

    dse_arena_init(&arena);
    assert_ok(drv_recording_load(TEST_DATA "/traces/tpu_hockney", &(drv_recording_options){.n_threads = 1},
                                 &r, &err),
              &err);
    r.card =
        (trace_card){.dp_replicate = 2, .dp_shard = 1, .tp = 4, .pp = 1, .cp = 1, .ep = 1, .total_count = 8};
    r.has_card = true;
    assert_ok(msr_hockney_of(&r, "run", &s, &arena, &h, &err), &err);
    assert_null(h.why);
    assert_int_equal(h.members, 4);
    assert_int_equal(h.samples, 6);
    assert_int_equal(h.dim, 0);
    assert_true(fabs(h.bandwidth / (5e11 / 1073741824) - 1) < 1e-6);
    assert_true(fabs(h.latency / 500 - 1) < 1e-6);
    s.topology = (cfg_name_list){2, {"FullyConnected", "Switch"}};
    assert_ok(msr_hockney_of(&r, "run", &s, &arena, &h, &err), &err);
    assert_true(fabs(h.latency / 1000 - 1) < 1e-6);
    assert_true(fabs(h.bandwidth / (5e11 / 3 / 1073741824) - 1) < 1e-6);
    r.card.tp = 8;
    r.card.dp_replicate = 1;
    assert_ok(msr_hockney_of(&r, "run", &s, &arena, &h, &err), &err);
    assert_string_equal(h.why, "the card's degrees do not say which ranks these groups have");
    drv_recording_free(&r);
    dse_arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(neighbours_of_a_box_lie_in_the_first_dimension),
        cmocka_unit_test(the_same_places_of_two_boxes_lie_in_the_second),
        cmocka_unit_test(a_group_of_several_dimensions_has_none),
        cmocka_unit_test(a_group_beyond_the_machine_has_none),
        cmocka_unit_test(all_reduces_of_a_trace_give_the_start_of_a_dimension),
    };

    return RUN_TESTS(tests);
}
