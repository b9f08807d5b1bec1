/* The answers that a sweep takes from its workers, and those it does not. */
#include "driver/worker.h"
#include "unit/unit.h"

#define STEP                                                                                                 \
    "\"step_compute_bound\":1,\"step_memory_bound\":2,\"step_compute_other\":0,\"step_comm_dp\":3,"          \
    "\"step_comm_tp\":0,\"step_comm_sp\":0,\"step_comm_pp\":0,\"step_comm_mixed\":0,\"step_idle\":4"
#define COUNTS                                                                                               \
    "\"wall_time\":10,\"exposed_comm\":1,\"gpu_time\":2,\"comm_time\":3,\"wall_time_rank0\":9,\"nodes\":4,"  \
    "\"messages\":5," STEP ",\"undercharged_messages\":12,\"flat_ring_collectives\":0"

static dse_arena arena;
static dse_error err;
static store_row row;

static dse_status read_answer(const char *line)
{
    dse_arena_reset(&arena);
    err = (dse_error)DSE_ERROR_INIT;
    row = (store_row){0};
    return drv_answer_read(line, &arena, &row, &err);
}

CLAIM(a_result_has_every_count)
{
    assert_ok(
        read_answer("{\"seconds\":0.5,\"metrics\":{" COUNTS ",\"peak_memory\":18446744073709551614,"
                    "\"peak_memory_rank0\":7,\"peak_layer\":3,\"peak_node\":\"n\",\"mem_util\":99.5,"
                    "\"op_intensity\":\"inf\",\"busiest_link_util\":81.25,\"busiest_link\":\"3 -> 7\"}}"),
        &err);
    assert_true(row.done);
    assert_double(row.seconds, 0.5);
    assert_u64(row.metrics.wall_time, 10);
    assert_u64(row.metrics.wall_time_rank0, 9);
    assert_u64(row.metrics.peak_memory, UINT64_MAX - 1);
    assert_u64(row.metrics.step_comm_dp, 3);
    assert_u64(row.metrics.step_idle, 4);
    assert_u64(row.metrics.peak_layer, 3);
    assert_string_equal(row.metrics.peak_node, "n");
    assert_u64(row.metrics.undercharged_messages, 12);
    assert_double(row.metrics.busiest_link_util, 81.25);
    assert_string_equal(row.metrics.busiest_link, "3 -> 7");
    assert_double(row.metrics.mem_util, 99.5);
    assert_double(row.metrics.op_intensity, INFINITY);
}

CLAIM(what_is_not_there_is_unknown_and_not_zero)
{
    assert_ok(read_answer("{\"seconds\":1,\"metrics\":{" COUNTS "}}"), &err);
    assert_u64(row.metrics.peak_memory, STORE_ABSENT);
    assert_double(row.metrics.compute_util, NAN);
    assert_u64(row.metrics.peak_time, STORE_ABSENT);
    assert_null(row.metrics.peak_node);
    assert_double(row.metrics.busiest_link_util, NAN);
    assert_null(row.metrics.busiest_link);
}

/* The reference subtracts the time of compute from the end of rank 0: 9 - 10 wraps to the number for what is unknown,
 * and the answer is as good as any. */
CLAIM(an_exposed_communication_of_minus_one_is_no_broken_answer)
{
    dse_strbuf line;
    dse_json j;

    assert_ok(read_answer("{\"seconds\":1,\"metrics\":{" COUNTS "}}"), &err);
    row.metrics.exposed_comm = (uint64_t)9 - 10;
    dse_strbuf_init(&line);
    dse_strbuf_adds(&line, "{\"seconds\":1,\"metrics\":");
    dse_json_init(&j, &line);
    drv_answer_write_metrics(&row.metrics, &j);
    dse_strbuf_addc(&line, '}');
    assert_ok(read_answer(line.data), &err);
    assert_u64(row.metrics.exposed_comm, STORE_ABSENT);
    assert_u64(row.metrics.wall_time, 10);
    assert_u64(row.metrics.step_idle, 4);
    dse_strbuf_free(&line);
}

CLAIM(a_failure_has_its_reason)
{
    assert_ok(read_answer("{\"seconds\":1,\"error\":\"rank 0 waits\"}"), &err);
    assert_false(row.done);
    assert_string_equal(row.error, "rank 0 waits");
}

CLAIM(anything_else_is_refused)
{
    static const char *const lines[] = {
        "{}",
        "[]",
        "{\"seconds\":1}",
        "{\"seconds\":{\"wall_time\":1},\"error\":\"x\"}",
        "{\"seconds\":1,\"error\":\"\"}",
        "{\"seconds\":1,\"error\":[\"x\"]}",
        "{\"seconds\":1,\"metrics\":[]}",
        "{\"seconds\":1,\"metrics\":{\"wall_time\":10}}",
        "{\"seconds\":1,\"metrics\":{" COUNTS "},\"error\":\"x\"}",
        "{\"seconds\":1,\"metrics\":{" COUNTS ",\"mem_util\":[]}}",
        "{\"seconds\":1,\"metrics\":{" COUNTS ",\"mem_util\":\"high\"}}",
        "{\"seconds\":1,\"metrics\":{" COUNTS ",\"peak_memory\":-1}}",
        "{\"seconds\":1,\"metrics\":{" COUNTS ",\"peak_node\":[]}}",
        "{\"seconds\":1,\"metrics\":{" COUNTS ",\"peak_memory\":1.5}}",
    };

    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        char shown[201]; /* of a long line its beginning */

        snprintf(shown, sizeof shown, "%s", lines[i]);
        assert_says(read_answer(lines[i]), &err, DSE_E_CHILD, shown);
    }
    assert_says(read_answer("half a li"), &err, DSE_E_SYNTAX, "invalid token");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_result_has_every_count),
        cmocka_unit_test(what_is_not_there_is_unknown_and_not_zero),
        cmocka_unit_test(an_exposed_communication_of_minus_one_is_no_broken_answer),
        cmocka_unit_test(a_failure_has_its_reason),
        cmocka_unit_test(anything_else_is_refused),
    };
    int failures;

    dse_arena_init(&arena);
    failures = RUN_TESTS(tests);
    dse_arena_free(&arena);
    return failures;
}
