#include "unit/schedule/plans.h"

static void check_read(const char *csv, const char *const *rows)
{
    made m;

    read_plan(&m, csv);
    check_rows(&m, rows);
}

static void check_refused(const char *csv, dse_status st, const char *where, const char *text)
{
    made m;

    read_plan(&m, csv);
    assert_failure(m.status, &m.err, st, where, text);
    dse_arena_free(&m.arena);
}

#define WHAT_AN_ACTION_IS                                                                                    \
    " is no action; one is a stage, F, B, I or W, and a micro-batch, like 3F0, or a pair, like "             \
    "(3F1;2B0)OVERLAP_F_B"

CLAIM(bubbles_line_ends_quotes_and_blanks_do_not_matter)
{
    check_read("0F0,,0F1,0B0,0B1\r\n,1F0,1B0,1F1, 1B1,\r\n\r\n", ROWS("0F0,0F1,0B0,0B1", "1F0,1B0,1F1,1B1"));
    check_read("\"0F0\",\"0B0\"", ROWS("0F0,0B0"));
}

CLAIM(pairs_and_directions_are_read_as_they_are_printed)
{
    const char *rows[] = {"a0F0,b1F0,a0F1,b1B0,(b1F1;a0B0)OVERLAP_F_B,b1B1,a0I1,a0W1",
                          "b0F0,a1F0,b0F1,a1B0,(a1F1;b0B0)OVERLAP_F_B,a1B1,b0I1,b0W1", NULL};
    char text[256];

    snprintf(text, sizeof text, "%s\n%s\n", rows[0], rows[1]);
    check_read(text, rows);
}

CLAIM(what_is_no_computation_is_counted)
{
    made m;

    read_plan(&m, "0UNSHARD,0F0,0SEND_F0,0RECV_B0,0B0,0REDUCE_GRAD,0RESHARD\n1RECV_F0,1F0,1B0,1SEND_B0");
    assert_ok(m.status, &m.err);
    assert_int_equal(m.plan.n_skipped, 7);
    check_rows(&m, ROWS("0F0,0B0", "1F0,1B0"));
}

CLAIM(a_cell_that_is_no_action_is_named_with_its_place)
{
    check_refused("0F0,0B0\n1F0,1X0", DSE_E_SYNTAX, "f.csv:2:5", "'1X0'" WHAT_AN_ACTION_IS);
    check_refused("F0", DSE_E_SYNTAX, "f.csv:1:1", "'F0'" WHAT_AN_ACTION_IS);
    check_refused("0F", DSE_E_SYNTAX, "f.csv:1:1", "'0F'" WHAT_AN_ACTION_IS);
    check_refused("0F0x", DSE_E_SYNTAX, "f.csv:1:1", "'0F0x'" WHAT_AN_ACTION_IS);
    check_refused("65536F0", DSE_E_SYNTAX, "f.csv:1:1", "'65536F0'" WHAT_AN_ACTION_IS);
    check_refused("0F99999999999999999999", DSE_E_SYNTAX, "f.csv:1:1",
                  "'0F99999999999999999999'" WHAT_AN_ACTION_IS);
    check_refused("(0F0;0F1)OVERLAP_F_B", DSE_E_SYNTAX, "f.csv:1:1",
                  "'(0F0;0F1)OVERLAP_F_B'" WHAT_AN_ACTION_IS);
    check_refused("(0F0", DSE_E_SYNTAX, "f.csv:1:1", "'(0F0'" WHAT_AN_ACTION_IS);
    check_refused("0SEND_Fx", DSE_E_SYNTAX, "f.csv:1:1", "'0SEND_Fx'" WHAT_AN_ACTION_IS);
}

CLAIM(every_line_is_a_rank_that_computes)
{
    check_refused("", DSE_E_SYNTAX, "f.csv",
                  "there are no actions; each line is a rank's, like 0F0,0F1,0B0,0B1");
    check_refused("0F0,0B0\n\n1F0,1B0\n", DSE_E_CONFIG, "f.csv:2:1",
                  "'the line' has no action; each line is a rank, and each rank computes");
    check_refused("0F0,0B0\n,,\n", DSE_E_CONFIG, "f.csv:2:1",
                  "'the line' has no action; each line is a rank, and each rank computes");
}

CLAIM(an_action_is_there_once)
{
    check_refused("0F0,0F0,0B0", DSE_E_CONFIG, "f.csv:1:5", "micro-batch 0 has its forward in stage 0 twice");
    check_refused("0F0,0B0,0B0", DSE_E_CONFIG, "f.csv:1:9",
                  "micro-batch 0 has its backward in stage 0 twice");
    check_refused("0F0,0B0,0W0", DSE_E_CONFIG, "f.csv:1:9",
                  "micro-batch 0 has both B, and I or W, in stage 0; B is I and W in one");
    check_refused("0F0,0I0,0B0", DSE_E_CONFIG, "f.csv:1:9",
                  "micro-batch 0 has both B, and I or W, in stage 0; B is I and W in one");
}

CLAIM(nothing_is_missing)
{
    check_refused(
        "0F0,0B0\n1F0", DSE_E_CONFIG, "f.csv",
        "the backward of micro-batch 0 in stage 1 is missing; there are 2 stages and 1 micro-batches, by "
        "the largest numbers in the file");
    check_refused(
        "0F0,0I0", DSE_E_CONFIG, "f.csv",
        "the weight gradient of micro-batch 0 in stage 0 is missing; there are 1 stages and 1 micro-batches, "
        "by the largest numbers in the file");
    check_refused(
        "0F0,0W0", DSE_E_CONFIG, "f.csv",
        "the input gradient of micro-batch 0 in stage 0 is missing; there are 1 stages and 1 micro-batches, "
        "by the largest numbers in the file");
    check_refused(
        "0F0,0B0,2F0,2B0", DSE_E_CONFIG, "f.csv",
        "the forward of micro-batch 0 in stage 1 is missing; there are 3 stages and 1 micro-batches, by the "
        "largest numbers in the file");
    check_refused(
        "a0F0,a0B0", DSE_E_CONFIG, "f.csv",
        "the forward of micro-batch 0 in stage 0 of direction b is missing; there are 1 stages and 1 "
        "micro-batches, by the largest numbers in the file");
}

CLAIM(a_stage_is_on_one_rank)
{
    check_refused("0F0,0B0\n0F1,0B1", DSE_E_CONFIG, "f.csv:2:1",
                  "stage 0 is on rank 0 already; a stage is on one rank");
    check_refused("0F0,a0B0", DSE_E_CONFIG, "f.csv:1:5",
                  "either all actions have a direction, a or b, or none has");
}

/* 65535 stages times 2^20 micro-batches are not allocated. */
CLAIM(absurd_numbers_are_refused)
{
    check_refused("65535F1048575", DSE_E_RANGE, "f.csv",
                  "65536 stages with 1048576 micro-batches are more than a plan can have");
}

CLAIM(given_sizes_must_be_the_files)
{
    made m;

    read_plan(&m, "0F0,2F0,2B0,0B0\n1F0,3F0,3B0,1B0");
    assert_ok(sched_check_sizes(&m.plan, &(sched_options){.pp = 2, .micro_batches = 1, .vp = 2}, "f", &m.err),
              &m.err);
    assert_failure(sched_check_sizes(&m.plan, &(sched_options){.pp = 3}, "f", &m.err), &m.err, DSE_E_RANGE,
                   "f", "there are 2 ranks, not --pp 3");
    m.err = (dse_error)DSE_ERROR_INIT;
    assert_failure(sched_check_sizes(&m.plan, &(sched_options){.micro_batches = 2}, "f", &m.err), &m.err,
                   DSE_E_RANGE, "f", "there are 1 micro-batches, not --micro-batches 2");
    m.err = (dse_error)DSE_ERROR_INIT;
    assert_failure(sched_check_sizes(&m.plan, &(sched_options){.vp = 3}, "f", &m.err), &m.err, DSE_E_RANGE,
                   "f", "there are 4 stages on 2 ranks, not --vp 3 on each");
    dse_arena_free(&m.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bubbles_line_ends_quotes_and_blanks_do_not_matter),
        cmocka_unit_test(pairs_and_directions_are_read_as_they_are_printed),
        cmocka_unit_test(what_is_no_computation_is_counted),
        cmocka_unit_test(a_cell_that_is_no_action_is_named_with_its_place),
        cmocka_unit_test(every_line_is_a_rank_that_computes),
        cmocka_unit_test(an_action_is_there_once),
        cmocka_unit_test(nothing_is_missing),
        cmocka_unit_test(a_stage_is_on_one_rank),
        cmocka_unit_test(absurd_numbers_are_refused),
        cmocka_unit_test(given_sizes_must_be_the_files),
    };

    return RUN_TESTS(tests);
}
