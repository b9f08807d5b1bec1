/* The statistics of a log in every spelling seen, and logs that are not whole. */
#include "driver/astra_log.h"

#include "base/fs.h"
#include "unit/unit.h"

static dse_arena arena;
static dse_error err;
static drv_astra_log seen;
static store_metrics metrics;
static bool rounded;

static drv_log_wants wants;

static dse_status parse(const char *text)
{
    dse_status st;

    err = (dse_error)DSE_ERROR_INIT;
    dse_arena_reset(&arena);
    memset(&seen, 0xee, sizeof seen);
    st = drv_astra_log_parse("a.log", text, strlen(text), &wants, &arena, &seen, &err);
    if (st == DSE_OK)
        drv_astra_log_metrics(&seen, &metrics, &rounded);
    return st;
}

/* A rank's report as af2492b logs it, of one rank or two. */
#define P "[2026-01-02T03:04:05+0000] [I] "
#define REPORT(i, wall, memory)                                                                              \
    P "<workload>: sys[" i "] finished, 900 cycles, exposed communication 75 cycles.\n" P                    \
      "<statistics>: sys[" i "]. Post statistics processing start.\n" P "<statistics>: sys[" i               \
      "]. Post statistics processing end.\n" P "<statistics>: sys[" i "], Wall time: " wall "\n" P           \
      "<statistics>: sys[" i "], Comm time: 80\n" P "<statistics>: sys[" i "], GPU time: 825\n" P            \
      "<statistics>: sys[" i "], Compute bound percentage: 100.000%\n" P "<statistics>: sys[" i              \
      "], Average compute utilization: 85.661$\n" P "<statistics>: sys[" i                                   \
      "], Average memory utilization: 7.250%\n" P "<statistics>: sys[" i                                     \
      "], Average operation intensity: 1234.500\n" P "<workload>: sys[" i "] peak memory usage: " memory     \
      "\n"

static int of_one_rank(void **state)
{
    (void)state;
    wants = (drv_log_wants){1, true, true};
    return 0;
}

static int of_two_ranks(void **state)
{
    (void)state;
    wants = (drv_log_wants){2, true, true};
    return 0;
}

static int of_no_system(void **state)
{
    (void)state;
    wants = (drv_log_wants){2, false, false};
    return 0;
}

CLAIM(every_statistic_of_a_report_is_taken)
{
    assert_ok(parse(REPORT("0", "900", "524288")), &err);
    assert_int_equal(seen.n_reporting, 1);
    assert_u64(metrics.wall_time, 900);
    assert_u64(metrics.wall_time_rank0, 900);
    assert_u64(metrics.gpu_time, 825);
    assert_u64(metrics.comm_time, 80);
    assert_u64(metrics.exposed_comm, 75);
    assert_double(metrics.compute_bound, 100);
    assert_double(metrics.compute_util, 85.661);
    assert_double(metrics.mem_util, 7.25);
    assert_double(metrics.op_intensity, 1234.5);
    assert_u64(metrics.peak_memory, 524288);
    assert_u64(metrics.peak_memory_rank0, 524288);
    assert_false(rounded);
}

CLAIM(what_a_log_never_says_is_unknown_and_not_zero)
{
    assert_ok(parse(REPORT("0", "900", "524288")), &err);
    assert_u64(metrics.nodes, STORE_ABSENT);
    assert_u64(metrics.messages, STORE_ABSENT);
    assert_null(drv_astra_log_value(&seen, "nodes"));
}

CLAIM(every_spelling_of_a_number_is_known)
{
    static const char *const lines[] = {
        "sys[0], Average compute utilization: 85.661%\n", "sys[0], Average compute utilization: 85.661$\n",
        "sys[0], Average compute utilization=85.661\n", "sys[0] Average compute utilization = 85.661 %\r\n",
        "x: sys[0]: average compute utilization:85.661$ \n"};

    of_no_system(NULL);
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        char text[200];

        snprintf(text, sizeof text, "sys[0], Wall time=1\n%s", lines[i]);
        assert_ok(parse(text), &err);
        assert_u64(metrics.wall_time, 1);
        assert_double(metrics.compute_util, 85.661);
    }
}

/* getPeakMemUsageFormatted divides by 1024 for each unit: 18.33 * 2^30 = 19681687633.92, 1.50 KB = 1536. */
CLAIM(memory_with_a_unit_is_of_1024_and_rounded)
{
    static const struct {
        const char *text;
        uint64_t bytes;
        bool rounded;
    } cases[] = {{"18.33 GB", 19681687634u, true},
                 {"18.33GiB", 19681687634u, true},
                 {"1.50 KB", 1536, true},
                 {"2.00 MB", 2097152, true},
                 {"0.50 TB", 549755813888u, true},
                 {"512.00 B", 512, false},
                 {"512", 512, false},
                 {"512 bytes", 512, false}};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[200];

        snprintf(text, sizeof text, "sys[0], Wall time: 9\nsys[0] peak memory usage: %s\n", cases[i].text);
        assert_ok(parse(text), &err);
        assert_u64(metrics.peak_memory, cases[i].bytes);
        assert_int_equal(rounded, cases[i].rounded);
    }
}

CLAIM(a_communication_longer_than_the_compute_wraps_as_upstream)
{
    of_no_system(NULL);
    assert_ok(parse("sys[0] finished, 10 cycles, exposed communication 18446744073709551611 cycles.\n"
                    "sys[0], Wall time: 10\n"),
              &err);
    assert_u64(metrics.exposed_comm, UINT64_MAX - 4); /* 10 - 15 */
}

CLAIM(other_lines_do_not_matter)
{
    assert_ok(parse("ring of dimensions: 1\nsys[0]\nsys[]\nsys[x], Wall time: 3\n"
                    "callback,sys->id=0, tick=5\nsys[0], Total compute-communication overlap: 12\n"
                    "sys[0], Wall time statistics follow\nsys[0], Network bandwidth details:\n" REPORT(
                        "0", "900", "524288") "sys[1000000], something else: 1\n"),
              &err);
    assert_u64(metrics.wall_time, 900);
}

CLAIM(a_log_without_statistics_says_so)
{
    assert_ok(parse(""), &err);
    assert_int_equal(seen.n_reporting, 0);
    assert_ok(parse("hello\n"), &err);
    assert_int_equal(seen.n_reporting, 0);
}

/* ---- ranks ---------------------------------------------------------------------------------- */

CLAIM(of_several_ranks_the_worst_counts)
{
    assert_ok(parse(REPORT("1", "950", "3.00 MB") REPORT("0", "900", "1.00 MB")), &err);
    assert_int_equal(seen.n_reporting, 2);
    assert_u64(metrics.wall_time, 950);
    assert_u64(metrics.wall_time_rank0, 900);
    assert_u64(metrics.peak_memory, 3u << 20);
    assert_u64(metrics.peak_memory_rank0, 1u << 20);
}

CLAIM(rank_0_alone_stands_for_all)
{
    assert_ok(parse(REPORT("0", "900", "7")), &err);
    assert_u64(metrics.wall_time, 900);
    assert_u64(metrics.peak_memory, 7);
}

CLAIM(some_of_the_ranks_are_not_enough)
{
    wants.n_ranks = 3;
    assert_failure(parse(REPORT("0", "900", "7") REPORT("1", "900", "7")), &err, DSE_E_CHILD, "a.log",
                   "not complete: only 2 of 3 ranks report");
    assert_failure(parse(REPORT("1", "900", "7") REPORT("2", "900", "7")), &err, DSE_E_CHILD, "a.log",
                   "not complete: sys[0] does not report");
}

CLAIM(a_rank_that_the_workload_does_not_have_is_refused)
{
    assert_failure(parse("sys[2], Wall time: 1\n"), &err, DSE_E_SYNTAX, "a.log:1",
                   "the workload has no such rank: sys[2] 'Wall time'");
}

/* ---- logs that are not whole ------------------------------------------------------------------ */

/* Wherever it is cut: a shorter log than the whole is never taken for it. */
CLAIM(a_cut_log_is_no_report)
{
    static const char whole[] = REPORT("0", "900", "524288");
    char text[sizeof whole];

    for (size_t n = 0; n < sizeof whole - 1; n++) {
        dse_status st;

        memcpy(text, whole, n);
        text[n] = '\0';
        st = parse(text);
        assert_true(st == DSE_E_CHILD || (st == DSE_OK && seen.n_reporting == 0));
    }
}

CLAIM(a_number_without_its_newline_is_none)
{
    of_no_system(NULL);
    assert_ok(parse("sys[0], Wall time: 90"), &err);
    assert_int_equal(seen.n_reporting, 0);
}

CLAIM(what_the_system_does_not_report_is_not_missed)
{
    assert_ok(parse("sys[0], Wall time: 90\n"), &err);
    assert_u64(metrics.wall_time, 90);
    assert_u64(metrics.gpu_time, STORE_ABSENT); /* nothing shows that its line would have come */
    assert_u64(metrics.peak_memory, STORE_ABSENT);
    assert_double(metrics.mem_util, NAN);
}

CLAIM(what_the_system_reports_is_missed)
{
    wants = (drv_log_wants){1, true, false};
    assert_failure(parse("sys[0], Wall time: 90\n"), &err, DSE_E_CHILD, "a.log",
                   "not complete: sys[0] has no 'Compute bound percentage'");
    wants = (drv_log_wants){1, false, true};
    assert_failure(parse("sys[0], Wall time: 90\n"), &err, DSE_E_CHILD, "a.log",
                   "not complete: sys[0] has no 'peak memory usage'");
    assert_failure(parse("sys[0], GPU time: 90\n"), &err, DSE_E_CHILD, "a.log",
                   "not complete: sys[0] has no 'Wall time'");
}

/* Without communication nodes there is no line; what follows shows that it did not get lost. */
CLAIM(a_time_without_a_line_in_a_whole_report_is_zero)
{
    wants = (drv_log_wants){1, false, true};
    assert_ok(parse("sys[0], Wall time: 90\nsys[0], GPU time: 90\nsys[0] peak memory usage: 5\n"), &err);
    assert_u64(metrics.gpu_time, 90);
    assert_u64(metrics.comm_time, 0);
}

/* ---- refusals --------------------------------------------------------------------------------- */

CLAIM(what_is_no_number_is_refused_with_its_line)
{
    static const char *const values[] = {"",
                                         "nan",
                                         "inf",
                                         "-1",
                                         "1e3",
                                         "0x10",
                                         "1 2",
                                         "1.5",
                                         "12ns",
                                         "%",
                                         "1..2",
                                         "12345678901234567890123",
                                         "18446744073709551616"};

    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        char text[100];

        snprintf(text, sizeof text, "hello\nsys[0], Wall time: %s\n", values[i]);
        assert_failure(parse(text), &err, DSE_E_SYNTAX, "a.log:2",
                       "no number, or one that cannot be, of sys[0] 'Wall time'");
    }
}

CLAIM(percentages_and_memory_are_refused_likewise)
{
    static const char *const lines[] = {
        "Average memory utilization: nanny", "Average memory utilization: --nan%",
        "Average memory utilization: in%",   "Average memory utilization: -0.100%",
        "Average memory utilization: 1%%",   "Average operation intensity: .5",
        "peak memory usage: 12.50",          "peak memory usage: 1.00 XB",
        "peak memory usage: 9000.00 TB",     "peak memory usage: -1.00 GB",
        "peak memory usage: 1.00 GB and so", "Average memory utilization: 1111111111111111111.1111111"};

    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        char text[100];

        snprintf(text, sizeof text, "sys[0], %s\n", lines[i]);
        assert_says(parse(text), &err, DSE_E_SYNTAX, "no number, or one that cannot be, of sys[0] '");
    }
}

/* A division by 0 upstream: the reference's cases have them. Nothing is known then, or it is as large as can be. */
CLAIM(what_is_no_finite_rate_is_read_as_that)
{
    assert_ok(parse("sys[0], Wall time: 9\nsys[0], Average compute utilization: -nan$\n"
                    "sys[0], Average memory utilization: nan%\nsys[0], Average operation intensity: inf\n"),
              &err);
    assert_true(isnan(metrics.compute_util));
    assert_true(isnan(metrics.mem_util));
    assert_double(metrics.op_intensity, INFINITY);
    assert_failure(parse("sys[0], Wall time: nan\n"), &err, DSE_E_SYNTAX, "a.log:1",
                   "no number, or one that cannot be, of sys[0] 'Wall time'");
}

CLAIM(a_second_report_is_refused)
{
    assert_failure(parse(REPORT("0", "900", "7") REPORT("0", "901", "7")), &err, DSE_E_SYNTAX, "a.log:12",
                   "a second sys[0] 'finished'");
    assert_failure(parse("sys[1], Wall time: 1\nsys[1], Wall time: 1\n"), &err, DSE_E_SYNTAX, "a.log:2",
                   "a second sys[1] 'Wall time'");
}

/* ---- comparing -------------------------------------------------------------------------------- */

static void assert_formats(const char *column, const char *expected, const char *stored)
{
    const store_column *c = store_column_find(column);
    const drv_log_value *v = drv_astra_log_value(&seen, column);
    char text[DRV_LOG_TEXT];

    assert_non_null(v);
    drv_log_format(v, c, text);
    assert_string_equal(text, expected);
    drv_log_format_stored(&metrics, c, v, text);
    assert_string_equal(text, stored);
}

/* 18.33 GB is what is printed of 19677657170: 19677657170 / 2^30 = 18.3262... */
CLAIM(a_stored_figure_is_printed_as_the_log_prints_its_own)
{
    assert_ok(parse(REPORT("0", "900", "18.33 GB")), &err);
    metrics.wall_time = 901;
    metrics.mem_util = 7.2504;
    metrics.compute_util = 85.6616;
    metrics.peak_memory = 19677657170u;
    metrics.peak_memory_rank0 = 19690000000u; /* 18.3377... */
    metrics.comm_time = STORE_ABSENT;
    assert_formats("wall_time", "900", "901");
    assert_formats("mem_util", "7.250", "7.250");
    assert_formats("compute_util", "85.661", "85.662");
    assert_formats("peak_memory", "18.33 GB", "18.33 GB");
    assert_formats("peak_memory_rank0", "18.33 GB", "18.34 GB");
    assert_formats("comm_time", "80", "none");
}

/* Expected: the reference case L2_A_s3_2_2_2_1_ws0_ar1, which has 8501248 bytes; 8501248 / 2^20 = 8.1074 is printed as
 * 8.11 MB, and that is 8.11 * 2^20 = 8503951.36 bytes. */
CLAIM(a_log_of_astrasim_itself_is_read_whole)
{
    dse_strbuf text;

    err = (dse_error)DSE_ERROR_INIT;
    wants = (drv_log_wants){8, true, true};
    dse_strbuf_init(&text);
    assert_ok(dse_read_file(TEST_DATA "/astra_log/eight_ranks.log", 0, &text, &err), &err);
    assert_ok(parse(text.data), &err);
    dse_strbuf_free(&text);
    assert_int_equal(seen.n_reporting, 8);
    assert_u64(metrics.wall_time, 358566);
    assert_u64(metrics.wall_time_rank0, 358566);
    assert_u64(metrics.gpu_time, 342023);
    assert_u64(metrics.comm_time, 190401);
    assert_u64(metrics.exposed_comm, 16543);
    assert_double(metrics.compute_bound, 39.179);
    assert_double(metrics.compute_util, 59.816);
    assert_double(metrics.mem_util, 89.908);
    assert_double(metrics.op_intensity, 110.287);
    assert_u64(metrics.peak_memory, 8503951);
    assert_u64(metrics.peak_memory_rank0, 8503951);
    assert_true(rounded);
}

#define ONE(claim) cmocka_unit_test_setup(claim, of_one_rank)
#define TWO(claim) cmocka_unit_test_setup(claim, of_two_ranks)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ONE(every_statistic_of_a_report_is_taken),
        ONE(what_a_log_never_says_is_unknown_and_not_zero),
        ONE(every_spelling_of_a_number_is_known),
        cmocka_unit_test_setup(memory_with_a_unit_is_of_1024_and_rounded, of_no_system),
        ONE(a_communication_longer_than_the_compute_wraps_as_upstream),
        ONE(other_lines_do_not_matter),
        ONE(a_log_without_statistics_says_so),
        TWO(of_several_ranks_the_worst_counts),
        TWO(rank_0_alone_stands_for_all),
        TWO(some_of_the_ranks_are_not_enough),
        TWO(a_rank_that_the_workload_does_not_have_is_refused),
        ONE(a_cut_log_is_no_report),
        ONE(a_number_without_its_newline_is_none),
        cmocka_unit_test_setup(what_the_system_does_not_report_is_not_missed, of_no_system),
        ONE(what_the_system_reports_is_missed),
        ONE(a_time_without_a_line_in_a_whole_report_is_zero),
        ONE(what_is_no_number_is_refused_with_its_line),
        ONE(percentages_and_memory_are_refused_likewise),
        cmocka_unit_test_setup(what_is_no_finite_rate_is_read_as_that, of_no_system),
        TWO(a_second_report_is_refused),
        ONE(a_stored_figure_is_printed_as_the_log_prints_its_own),
        cmocka_unit_test(a_log_of_astrasim_itself_is_read_whole),
    };
    int failed = RUN_TESTS(tests);

    dse_arena_free(&arena);
    return failed;
}
