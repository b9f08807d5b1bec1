/* Small orders of every schedule, written by hand from the rules of spec/training_step.md. */
#include "unit/schedule/plans.h"

CLAIM(gpipe_runs_all_forwards_first)
{
    made m;

    make_plan(&m, "gpipe", (sched_options){.pp = 2, .micro_batches = 2});
    check_rows(&m, ROWS("0F0,0F1,0B0,0B1", "1F0,1F1,1B0,1B1"));
}

/* The warm-up of rank r is p-1-r forwards. */
CLAIM(one_forward_one_backward_alternates_after_its_warm_up)
{
    made m;

    make_plan(&m, "1f1b", (sched_options){.pp = 2, .micro_batches = 3});
    check_rows(&m, ROWS("0F0,0F1,0B0,0F2,0B1,0B2", "1F0,1B0,1F1,1B1,1F2,1B2"));
}

CLAIM(with_fewer_micro_batches_than_ranks_the_warm_up_is_all_of_1f1b)
{
    made m;

    make_plan(&m, "1f1b", (sched_options){.pp = 3, .micro_batches = 1, .like = SCHED_LIKE_MEGATRON});
    check_rows(&m, ROWS("0F0,0B0", "1F0,1B0", "2F0,2B0"));
}

CLAIM(looped_bfs_goes_back_in_descending_order)
{
    made m;

    make_plan(&m, "looped_bfs", (sched_options){.pp = 2, .micro_batches = 2, .vp = 2});
    check_rows(&m, ROWS("0F0,0F1,2F0,2F1,2B1,2B0,0B1,0B0", "1F0,1F1,3F0,3F1,3B1,3B0,1B1,1B0"));
}

/* Warm-up 2(p-1-r) + (v-1)g: 4 and 2. */
CLAIM(interleaved_takes_groups_of_pp_through_its_chunks)
{
    made m;

    make_plan(&m, "interleaved", (sched_options){.pp = 2, .micro_batches = 4, .vp = 2});
    check_rows(&m, ROWS("0F0,0F1,2F0,2F1,0F2,2B0,0F3,2B1,2F2,0B0,2F3,0B1,2B2,2B3,0B2,0B3",
                        "1F0,1F1,3F0,3B0,3F1,3B1,1F2,1B0,1F3,1B1,3F2,3B2,3F3,3B3,1B2,1B3"));
}

/* Groups {0,1,2} and {3,4}; the warm-up of rank 1 is 3. */
CLAIM(the_last_group_may_be_smaller)
{
    made m;

    make_plan(
        &m, "interleaved",
        (sched_options){.pp = 2, .micro_batches = 5, .vp = 2, .group_size = 3, .like = SCHED_LIKE_MEGATRON});
    assert_ok(m.status, &m.err);
    check_row(&m.plan, 1, "1F0,1F1,1F2,3F0,3B0,3F1,3B1,3F2,3B2,1F3,1B0,1F4,1B1,3F3,1B2,3F4,3B3,3B4,1B3,1B4");
    dse_arena_free(&m.arena);
}

/* One more forward than in interleaved_takes_groups_of_pp_through_its_chunks. */
CLAIM(overlap_of_expert_all_to_all_warms_up_by_one_more)
{
    made m;

    make_plan(&m, "interleaved",
              (sched_options){
                  .pp = 2, .micro_batches = 4, .vp = 2, .overlap_moe = true, .like = SCHED_LIKE_MEGATRON});
    assert_ok(m.status, &m.err);
    check_row(&m.plan, 1, "1F0,1F1,3F0,3F1,3B0,1F2,3B1,1F3,1B0,3F2,1B1,3F3,3B2,3B3,1B2,1B3");
    dse_arena_free(&m.arena);
}

/* Of the steady state; a pipeline of one rank has one forward before the first backward. */
CLAIM(overlap_of_expert_all_to_all_pairs_passes)
{
    sched_options o = {.pp = 2, .micro_batches = 2, .vp = 2, .overlap_moe = true, .overlap_pairs = true};
    made m;

    make_plan(&m, "interleaved", o);
    assert_ok(m.status, &m.err);
    check_row(&m.plan, 1, "1F0,1F1,3F0,(3F1;3B0)OVERLAP_F_B,3B1,1B0,1B1");
    dse_arena_free(&m.arena);
    o.pp = o.vp = 1;
    make_plan(&m, "1f1b", o);
    assert_ok(m.status, &m.err);
    check_row(&m.plan, 0, "0F0,(0F1;0B0)OVERLAP_F_B,0B1");
    dse_arena_free(&m.arena);
}

/* Rank 0 has a W behind each I, rank 1 from its second I on. */
CLAIM(zero_bubble_with_one_chunk_is_zb_h1)
{
    made m;

    make_plan(&m, "zero_bubble", (sched_options){.pp = 2, .micro_batches = 3});
    check_rows(&m, ROWS("0F0,0F1,0I0,0W0,0F2,0I1,0W1,0I2,0W2", "1F0,1I0,1F1,1I1,1W0,1F2,1I2,1W1,1W2"));
}

/* Warm-up (p-1-r) + (v-1)g: 3 and 2. W in the order of the I. */
CLAIM(zero_bubble_interleaves_chunks)
{
    made m;

    make_plan(&m, "zero_bubble", (sched_options){.pp = 2, .micro_batches = 2, .vp = 2});
    check_rows(&m, ROWS("0F0,0F1,2F0,2F1,2I0,2W0,2I1,2W1,0I0,0W0,0I1,0W1",
                        "1F0,1F1,3F0,3I0,3F1,3I1,3W0,1I0,3W1,1I1,1W0,1W1"));
}

/* Made for 2p-1 = 3 micro-batches, without those beyond the first. */
CLAIM(zbv_leaves_out_what_a_short_step_does_not_have)
{
    made m;

    make_plan(&m, "zbv", (sched_options){.pp = 2, .micro_batches = 1});
    check_rows(&m, ROWS("0F0,3F0,3I0,3W0,0I0,0W0", "1F0,2F0,2I0,2W0,1I0,1W0"));
}

CLAIM(zbv_on_one_rank_has_both_ends)
{
    made m;

    make_plan(&m, "zbv", (sched_options){.pp = 1, .micro_batches = 2});
    check_rows(&m, ROWS("0F0,1F0,1I0,1W0,0F1,0I0,0W0,1F1,1I1,1W1,0I1,0W1"));
}

/* Parts 2 (one F0F1), 4 (one, of which rank p-1's first is no pair), 6 (one, whose second backward is an
 * I), 8. */
CLAIM(dualpipev_overlaps_forward_with_backward)
{
    made m;

    make_plan(&m, "dualpipev", (sched_options){.pp = 1, .micro_batches = 2});
    check_rows(&m, ROWS("0F0,1F0,0F1,1B0,(1F1;0B0)OVERLAP_F_B,1B1,0I1,0W1"));
}

/* The same, from both ends. */
CLAIM(dualpipe_has_a_direction_for_each_end)
{
    made m;

    make_plan(&m, "dualpipe", (sched_options){.pp = 2, .micro_batches = 4});
    check_rows(&m, ROWS("a0F0,b1F0,a0F1,b1B0,(b1F1;a0B0)OVERLAP_F_B,b1B1,a0I1,a0W1",
                        "b0F0,a1F0,b0F1,a1B0,(a1F1;b0B0)OVERLAP_F_B,a1B1,b0I1,b0W1"));
}

CLAIM(a_schedule_is_found_by_pytorchs_name_as_well)
{
    assert_string_equal(sched_name(sched_find("interleaved1f1b")), "interleaved");
    assert_string_equal(sched_name(sched_find("ZBVZeroBubble")), "zbv");
    assert_null(sched_find("vpp"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gpipe_runs_all_forwards_first),
        cmocka_unit_test(one_forward_one_backward_alternates_after_its_warm_up),
        cmocka_unit_test(with_fewer_micro_batches_than_ranks_the_warm_up_is_all_of_1f1b),
        cmocka_unit_test(looped_bfs_goes_back_in_descending_order),
        cmocka_unit_test(interleaved_takes_groups_of_pp_through_its_chunks),
        cmocka_unit_test(the_last_group_may_be_smaller),
        cmocka_unit_test(overlap_of_expert_all_to_all_warms_up_by_one_more),
        cmocka_unit_test(overlap_of_expert_all_to_all_pairs_passes),
        cmocka_unit_test(zero_bubble_with_one_chunk_is_zb_h1),
        cmocka_unit_test(zero_bubble_interleaves_chunks),
        cmocka_unit_test(zbv_leaves_out_what_a_short_step_does_not_have),
        cmocka_unit_test(zbv_on_one_rank_has_both_ends),
        cmocka_unit_test(dualpipev_overlaps_forward_with_backward),
        cmocka_unit_test(dualpipe_has_a_direction_for_each_end),
        cmocka_unit_test(a_schedule_is_found_by_pytorchs_name_as_well),
    };

    return RUN_TESTS(tests);
}
