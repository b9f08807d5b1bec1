#include "unit/schedule/plans.h"

static void compose(made *m, const char *costs, sched_times *t)
{
    sched_order order;
    sched_costs c;

    assert_ok(m->status, &m->err);
    assert_ok(sched_order_make(&m->plan, &m->arena, &order, &m->err), &m->err);
    assert_ok(sched_costs_parse(costs, &m->plan, &m->arena, &c, &m->err), &m->err);
    sched_times_init(t, &m->plan, &m->arena);
    sched_compose(&order, &c, t);
}

/* Rank 0: F0 0-10, F1 10-20. Rank 1: F0 from 10+3 to 23, B0 to 43, F1 to 53, B1 to 73. Rank 0 has the
 * gradients 3 later: B0 46-66, B1 76-96. */
CLAIM(a_transfer_delays_the_other_rank)
{
    const uint64_t start[] = {0, 10, 46, 76, 13, 23, 43, 53};
    sched_times t;
    made m;

    make_plan(&m, "1f1b", (sched_options){.pp = 2, .micro_batches = 2});
    compose(&m, "C", &t);
    for (size_t i = 0; i < 8; i++)
        assert_u64(t.start[i], start[i]);
    assert_u64(t.makespan, 96);
    assert_u64(t.first[1], 13);
    assert_u64(t.last[1], 73);
    assert_u64(t.busy[0], 60);
    assert_u64(t.end[7], 73);
    dse_arena_free(&m.arena);
}

/* F0 F0 I W F I W F I W I W of one rank: nothing is sent, so that a transfer of 100 costs nothing. */
CLAIM(neighbours_on_one_rank_hand_over_locally)
{
    sched_times t;
    made m;

    make_plan(&m, "zbv", (sched_options){.pp = 1, .micro_batches = 2});
    compose(&m, "10,11,9,100", &t);
    assert_u64(t.makespan, 4 * 30);
    dse_arena_free(&m.arena);
}

/* Stages 0 and 1 have F 10 and 11, I 11 and 13, W 9 and 10; a transfer takes 2. m = 1: 10 + 2 + 11 + 13 +
 * 2 + 11, as W of rank 1 is beside I of rank 0, and then W of rank 0. */
CLAIM(stages_may_differ)
{
    sched_times t;
    made m;

    make_plan(&m, "zero_bubble", (sched_options){.pp = 2, .micro_batches = 1});
    compose(&m, "S", &t);
    assert_u64(t.makespan, 10 + 2 + 11 + 13 + 2 + 11 + 9);
    assert_u64(t.busy[1], 11 + 13 + 10);
    dse_arena_free(&m.arena);
}

/* Rank 0 has a pair of 0F1 and 0B0. Its F could start at 1, but its B needs 1B0, which is over at 4: both
 * start at 4, F is over at 5 and B at 7. */
CLAIM(a_pair_starts_when_both_can)
{
    sched_times t;
    made m;

    read_plan(&m, "0F0,(0F1;0B0)OVERLAP_F_B,0B1\n1F0,1B0,1F1,1B1\n");
    compose(&m, "U", &t);
    assert_u64(t.start[1], 4);
    assert_u64(t.end[1], 5);
    assert_u64(t.start[2], 5);
    assert_u64(t.end[2], 7);
    dse_arena_free(&m.arena);
}

/* One rank, F0 F1 F2 B2 B1 B0. The first F takes 100, the last B 1000, whatever its micro-batch; the
 * others 1. */
CLAIM(first_and_last_of_a_stage_go_by_the_order_of_execution)
{
    sched_costs c;
    sched_order order;
    sched_times t;
    made m;

    make_plan(&m, "looped_bfs", (sched_options){.pp = 1, .micro_batches = 3});
    assert_ok(sched_order_make(&m.plan, &m.arena, &order, &m.err), &m.err);
    assert_ok(sched_costs_parse("1,1,0,0", &m.plan, &m.arena, &c, &m.err), &m.err);
    c.duration[sched_duration_at(0, SCHED_F, SCHED_FIRST)] = 100;
    c.duration[sched_duration_at(0, SCHED_B, SCHED_LAST)] = 1000;
    sched_times_init(&t, &m.plan, &m.arena);
    sched_compose(&order, &c, &t);
    assert_u64(t.start[1], 100);
    assert_u64(t.start[5], 104);
    assert_u64(t.makespan, 1104);
    dse_arena_free(&m.arena);
}

CLAIM(of_one_micro_batch_the_first_is_the_last)
{
    sched_costs c;
    sched_order order;
    sched_times t;
    made m;

    make_plan(&m, "gpipe", (sched_options){.pp = 1, .micro_batches = 1});
    assert_ok(sched_order_make(&m.plan, &m.arena, &order, &m.err), &m.err);
    sched_costs_init(&c, &m.plan, &m.arena);
    c.duration[sched_duration_at(0, SCHED_F, SCHED_ONLY)] = 7;
    c.duration[sched_duration_at(0, SCHED_B, SCHED_ONLY)] = 8;
    sched_times_init(&t, &m.plan, &m.arena);
    sched_compose(&order, &c, &t);
    assert_u64(t.makespan, 15);
    dse_arena_free(&m.arena);
}

/* Transfers of activations to stage 1 take 5, of gradients to stage 0 take 50. */
CLAIM(each_direction_of_an_edge_has_its_transfer)
{
    sched_costs c;
    sched_order order;
    sched_times t;
    made m;

    make_plan(&m, "gpipe", (sched_options){.pp = 2, .micro_batches = 1});
    assert_ok(sched_order_make(&m.plan, &m.arena, &order, &m.err), &m.err);
    assert_ok(sched_costs_parse("U", &m.plan, &m.arena, &c, &m.err), &m.err);
    c.transfer[1 * 2 + 0] = 5;
    c.transfer[0 * 2 + 1] = 50;
    sched_times_init(&t, &m.plan, &m.arena);
    sched_compose(&order, &c, &t);
    assert_u64(t.makespan, 1 + 5 + 1 + 2 + 50 + 2);
    dse_arena_free(&m.arena);
}

/* 0F0 0F1 0I0 0F2 0W0 0I1 0W1 0I2 0W2: until I: 2, 3 - 1 = 2; until W: 3 before 0W0. */
CLAIM(activations_live_until_i_or_until_w)
{
    uint32_t i, w;
    made m;

    read_plan(&m, "0F0,0F1,0I0,0F2,0W0,0I1,0W1,0I2,0W2");
    assert_ok(m.status, &m.err);
    sched_peak_live(&m.plan, &i, &w);
    assert_int_equal(i, 2);
    assert_int_equal(w, 3);
    dse_arena_free(&m.arena);
}

CLAIM(costs_are_four_whole_numbers_or_a_set)
{
    static const char *const wrong[] = {"",         "V",      "1,2,3",           "1,2,3,4,5",
                                        "1,2,3,4,", "1,,3,4", "-1,2,3,4",        "1.5,2,3,4",
                                        "1,2,3,x",  "u",      "1,2,3,1000000001"};
    sched_costs c;
    made m;

    make_plan(&m, "gpipe", (sched_options){.pp = 2, .micro_batches = 1});
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        m.err = (dse_error)DSE_ERROR_INIT;
        assert_says(sched_costs_parse(wrong[i], &m.plan, &m.arena, &c, &m.err), &m.err, DSE_E_USAGE,
                    "--costs takes U, N, C, S, or four whole numbers");
    }
    dse_arena_free(&m.arena);
}

/* ---- deadlock ------------------------------------------------------------------------------ */

static void check_deadlock(const char *csv, const char *text)
{
    sched_order order;
    made m;

    read_plan(&m, csv);
    assert_ok(m.status, &m.err);
    assert_failure(sched_order_make(&m.plan, &m.arena, &order, &m.err), &m.err, DSE_E_SIM, "", text);
    dse_arena_free(&m.arena);
}

CLAIM(a_deadlock_names_the_ranks_that_wait)
{
    check_deadlock("0B0,0F0", "deadlock: rank 0 waits at 0B0 for 0F0, which comes later on this rank");
    check_deadlock("0F0,0W0,0I0", "deadlock: rank 0 waits at 0W0 for 0I0, which comes later on this rank");
    /* Rank 0 wants the gradient before it sends what rank 1 needs for it; rank 2 waits for them. */
    check_deadlock("0F0,0B0,0F1,0B1\n1F0,1F1,1B0,1B1\n2F0,2B0,2F1,2B1",
                   "deadlock: rank 0 waits at 0B0 for 1B0 of rank 1, which waits at 1F1 for 0F1 of rank 0");
    /* The B of a pair cannot use what its F has not finished. */
    check_deadlock("(0F0;0B0)OVERLAP_F_B",
                   "deadlock: rank 0 waits at (0F0;0B0)OVERLAP_F_B for 0F0, which comes later on this rank");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_transfer_delays_the_other_rank),
        cmocka_unit_test(neighbours_on_one_rank_hand_over_locally),
        cmocka_unit_test(stages_may_differ),
        cmocka_unit_test(a_pair_starts_when_both_can),
        cmocka_unit_test(first_and_last_of_a_stage_go_by_the_order_of_execution),
        cmocka_unit_test(of_one_micro_batch_the_first_is_the_last),
        cmocka_unit_test(each_direction_of_an_edge_has_its_transfer),
        cmocka_unit_test(activations_live_until_i_or_until_w),
        cmocka_unit_test(costs_are_four_whole_numbers_or_a_set),
        cmocka_unit_test(a_deadlock_names_the_ranks_that_wait),
    };

    return RUN_TESTS(tests);
}
