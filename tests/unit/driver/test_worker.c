/* The answers that a sweep takes from its workers, and those it does not; and the worker itself. */
#define _GNU_SOURCE /* fopencookie */
#include "driver/study.h"
#include "driver/worker.h"
#include "unit/point.h"
#include "unit/unit.h"

#include <malloc.h>

#define STEP                                                                                                 \
    "\"step_compute_bound\":1,\"step_memory_bound\":2,\"step_compute_other\":0,\"step_comm_dp\":3,"          \
    "\"step_comm_tp\":0,\"step_comm_sp\":0,\"step_comm_pp\":0,\"step_comm_cp\":0,\"step_comm_mixed\":0,\"step_idle\":4"
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
    assert_u64(row.metrics.step_comm[STRATEGY_AXIS_dp], 3);
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

/* Answers as workers write them are read without a reader of JSON, those with a blank in front are not. Any figures;
 * one in four of what may be left out is. */
CLAIM(an_answer_is_read_the_same_however_it_is_spelt)
{
    uint64_t seed = 7;
    size_t n;
    const store_column *c = store_columns(&n);

    for (int i = 0; i < 500; i++) {
        store_metrics m;
        dse_strbuf line;
        dse_json j;

        for (size_t k = 0; k < n; k++) {
            void *field = (char *)&m + c[k].offset;
            uint64_t r = unit_random(&seed);
            bool absent = r % 4 == 0;

            if (c[k].type == STORE_REAL)
                *(double *)field = absent        ? (double)NAN
                                   : r % 16 == 1 ? INFINITY
                                                 : ldexp((double)r, -(int)(r >> 58) - 20);
            else if (c[k].type == STORE_TEXT)
                *(const char **)field = absent       ? NULL
                                        : r % 8 == 1 ? "a \"b\" \\ \xc3\xa9"
                                                     : "stack_0_x@1_COMP";
            else
                *(uint64_t *)field = absent && c[k].type != STORE_U64 ? STORE_ABSENT : r >> (r & 63);
        }
        dse_strbuf_init(&line);
        dse_strbuf_adds(&line, " {\"seconds\":0.012345,\"metrics\":");
        dse_json_init(&j, &line);
        drv_answer_write_metrics(&m, &j);
        dse_strbuf_addc(&line, '}');
        for (int blank = 0; blank < 2; blank++) {
            assert_ok(read_answer(line.data + !blank), &err);
            assert_true(row.done);
            assert_double(row.seconds, 0.012345);
            for (size_t k = 0; k < n; k++) {
                assert_true(store_has(&row.metrics, &c[k]) == store_has(&m, &c[k]));
                assert_double(store_value(&row.metrics, &c[k]), store_value(&m, &c[k]));
                if (c[k].type == STORE_TEXT && store_has(&m, &c[k]))
                    assert_string_equal(store_text(&row.metrics, &c[k]), store_text(&m, &c[k]));
            }
        }
        dse_strbuf_free(&line);
    }
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
        "{\"seconds\":\"one\",\"metrics\":{" COUNTS "}}",
    };

    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        char shown[201]; /* of a long line its beginning */

        snprintf(shown, sizeof shown, "%s", lines[i]);
        assert_says(read_answer(lines[i]), &err, DSE_E_CHILD, shown);
    }
    assert_says(read_answer("half a li"), &err, DSE_E_SYNTAX, "invalid token");
    assert_says(read_answer("{\"seconds\":01,\"metrics\":{" COUNTS "}}"), &err, DSE_E_SYNTAX, "");
    assert_says(read_answer("{\"seconds\":1e999,\"metrics\":{" COUNTS "}}"), &err, DSE_E_SYNTAX, "");
    assert_says(read_answer("{\"seconds\":1.,\"metrics\":{" COUNTS "}}"), &err, DSE_E_SYNTAX, "");
    assert_says(read_answer("{\"seconds\":1,\"metrics\":{" COUNTS "}} x"), &err, DSE_E_SYNTAX, "");
    assert_says(read_answer("{\"seconds\":1,\"metrics\":{" COUNTS "}"), &err, DSE_E_SYNTAX, "");
}

/* ---- serving ----------------------------------------------------------------------------------------- */

#define MAX_LINES 64

/* Requests and configurations of two studies, and some that are none, so that each study comes again after another. */
static size_t make_requests(const char *request[MAX_LINES])
{
    static const char *const system[] = {"ring8", "boxes8"}, *const setting = "layers=1";
    cfg_settings settings;
    dse_strbuf text;
    size_t n = 0;

    setenv("CCLDSE_CONFIGS", TEST_DATA "/cards", 1);
    dse_arena_reset(&arena);
    err = (dse_error)DSE_ERROR_INIT;
    dse_strbuf_init(&text);
    assert_ok(drv_settings_parse(&setting, 1, &arena, &settings, &err), &err);
    for (uint32_t i = 0; i < 24; i++) {
        const strategy p = unit_point("%u_%u_1_1_%d", 8u >> i % 4, 1u << i % 4, i % 3 == 0);
        drv_study study;

        assert_ok(drv_study_load("small", system[i / 2 % 2], &settings, &arena, &study, &err), &err);
        if (i % 7 < 4) {
            dse_strbuf study_text;

            dse_strbuf_init(&study_text);
            dse_strbuf_clear(&text);
            drv_study_write_config(&study, NULL, &study_text);
            drv_study_write_request(&study_text, &p, &text);
            request[n++] = dse_arena_strdup(&arena, text.data);
            dse_strbuf_free(&study_text);
        }
        dse_strbuf_clear(&text);
        drv_study_write_config(&study, &p, &text);
        request[n++] = dse_arena_strdup(&arena, text.data);
        if (i % 5 == 4)
            request[n++] = i % 2 ? "{}" : dse_arena_printf(&arena, "%.*s", (int)text.len - 1, text.data);
    }
    dse_strbuf_free(&text);
    return n;
}

/* What a worker that is given n lines answers to each, without the time it took. */
static void serve(const char *const *request, size_t n, const char **answer)
{
    char *bytes = NULL, *rest, *line;
    FILE *in = tmpfile(), *out;
    size_t size = 0;

    assert_non_null(in);
    for (size_t i = 0; i < n; i++)
        fprintf(in, "%s\n", request[i]);
    rewind(in);
    assert_non_null(out = open_memstream(&bytes, &size));
    assert_ok(drv_worker_serve(in, out, SIM_ALL_SHORTCUTS, &err), &err);
    fclose(out);
    fclose(in);
    rest = bytes;
    for (size_t i = 0; i < n; i++) {
        assert_non_null(line = strsep(&rest, "\n"));
        assert_memory_equal(line, "{\"seconds\":", 11);
        assert_non_null(answer[i] = dse_arena_strdup(&arena, strchr(line, ',')));
    }
    assert_string_equal(rest, "");
    free(bytes);
}

CLAIM(requests_that_cannot_be_read_are_no_end_of_them)
{
    FILE *in = fopen("/dev/null", "w"), *out = tmpfile();

    assert_non_null(in);
    assert_non_null(out);
    err = (dse_error)DSE_ERROR_INIT;
    assert_says(drv_worker_serve(in, out, SIM_ALL_SHORTCUTS, &err), &err, DSE_E_IO, "cannot read the requests");
    err = (dse_error)DSE_ERROR_INIT;
    fclose(in);
    fclose(out);
}

CLAIM(a_worker_answers_each_line_as_one_that_has_had_no_other)
{
    const char *request[MAX_LINES], *together[MAX_LINES], *alone;
    size_t n;

    n = make_requests(request);
    serve(request, n, together);
    for (size_t i = 0; i < n; i++) {
        serve(&request[i], 1, &alone);
        assert_string_equal(together[i], alone);
    }
}

static struct {
    size_t n_answers, first_bytes, most_bytes;
} seen;

#define WARM 200

/* What is in use of the heap; 0: not known, as with musl, or under a sanitizer, which finds leaks itself. */
static size_t heap_bytes(void)
{
#ifdef __GLIBC__
    struct mallinfo2 m = mallinfo2();

    return m.uordblks + m.hblkhd;
#else
    return 0;
#endif
}

/* After each answer. */
static ssize_t measure(void *cookie, const char *bytes, size_t n)
{
    size_t used = heap_bytes();

    (void)cookie, (void)bytes;
    if (++seen.n_answers == WARM)
        seen.first_bytes = used;
    else if (seen.n_answers > WARM && used > seen.most_bytes)
        seen.most_bytes = used;
    return (ssize_t)n;
}

/* After as many lines as there are different ones, and some, nothing is new: memory stays what it is. How much that is
 * depends by some kB on where the heap's blocks happen to lie; a leak of 20 bytes a line would be seen. */
CLAIM(a_worker_holds_as_much_after_a_thousand_lines_as_after_some)
{
    const char *request[MAX_LINES];
    FILE *in = tmpfile(), *out = fopencookie(NULL, "w", (cookie_io_functions_t){.write = measure});
    size_t n;

    assert_true(in && out);
    n = make_requests(request);
    for (size_t i = 0; i < 1000; i++)
        fprintf(in, "%s\n", request[i % n]);
    rewind(in);
    memset(&seen, 0, sizeof seen);
    assert_ok(drv_worker_serve(in, out, SIM_ALL_SHORTCUTS, &err), &err);
    assert_int_equal(seen.n_answers, 1000);
    assert_true(seen.most_bytes <= seen.first_bytes + 20 * (1000 - WARM));
    fclose(out);
    fclose(in);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_result_has_every_count),
        cmocka_unit_test(what_is_not_there_is_unknown_and_not_zero),
        cmocka_unit_test(an_exposed_communication_of_minus_one_is_no_broken_answer),
        cmocka_unit_test(an_answer_is_read_the_same_however_it_is_spelt),
        cmocka_unit_test(a_failure_has_its_reason),
        cmocka_unit_test(anything_else_is_refused),
        cmocka_unit_test(requests_that_cannot_be_read_are_no_end_of_them),
        cmocka_unit_test(a_worker_answers_each_line_as_one_that_has_had_no_other),
        cmocka_unit_test(a_worker_holds_as_much_after_a_thousand_lines_as_after_some),
    };
    int failures;

    dse_arena_init(&arena);
    failures = RUN_TESTS(tests);
    dse_arena_free(&arena);
    return failures;
}
