/* Reports of Nsight Systems as CSV. */

#include "trace/reader.h"
#include "unit/unit.h"

#include <inttypes.h>

extern const trace_reader trace_reader_nsys_csv;

/* Reads a report and compares its totals with "name count ns" lines. */
static void check_totals(const char *csv, const char *expected)
{
    dse_error err = DSE_ERROR_INIT;
    trace_record r = {0};
    dse_strbuf seen;

    assert_true(trace_reader_nsys_csv.is(csv, strlen(csv)));
    assert_ok(trace_nsys_csv_parse("k.csv", csv, strlen(csv), &r, &err), &err);
    assert_int_equal(r.n_ranks, 1);
    assert_int_equal(r.rank[0].kind, TRACE_NSYS_CSV);
    dse_strbuf_init(&seen);
    for (size_t i = 0; i < r.rank[0].n_totals; i++) {
        const trace_total *t = &r.rank[0].total[i];
        dse_strbuf_addf(&seen, "%s %" PRIu64 " %" PRId64 "\n", r.rank[0].names.text[t->name], t->count,
                        t->total_ns);
    }
    for (size_t i = 0; i < r.n_warnings; i++)
        dse_strbuf_addf(&seen, "! %s\n", r.warning[i].text);
    assert_string_equal(seen.data ? seen.data : "", expected);
    dse_strbuf_free(&seen);
    trace_record_free(&r);
}

CLAIM(columns_are_found_by_name_in_any_order_with_units_in_the_heading)
{
    check_totals(
        "Time (%),Total Time (ns),Instances,Avg (ns),Name\n60.0,600,2,300.0,gemm\n40.0,400,1,400.0,copy\n",
        "gemm 2 600\ncopy 1 400\n");
    check_totals("Name,Instances,Total Time (us)\r\ngemm,2,0.6\r\n", "gemm 2 600\n");
    check_totals("\xef\xbb\xbfname,instances,total time (ms)\ngemm,1,1\n", "gemm 1 1000000\n");
}

/* The window of Nsight Systems copies numbers with their units: 75.794 ms are 75,794,000 ns. */
CLAIM(units_may_stand_in_the_cells)
{
    check_totals("Time,Total Time,Instances,Name\n0.00%,75.794 ms,13024,a\n48.30%,102.664 s,2,b\n0%,5.819 "
                 "\xce\xbcs,1,c\n"
                 "0%,243 ns,1,d\n0%,1.5 \xc2\xb5s,1,e\n",
                 "a 13024 75794000\nb 2 102664000000\nc 1 5819\nd 1 243\ne 1 1500\n");
}

CLAIM(quotes_hide_commas_quotes_and_newlines_and_thousands_are_separated)
{
    check_totals("Total Time (ns),Instances,Name\n\"1,234,567\",\"1,000\",\"f<int, \"\"a\"\">(x)\ny\"\n",
                 "f<int, \"a\">(x)\ny 1000 1234567\n");
}

CLAIM(a_tenth_of_a_nanosecond_is_rounded)
{
    check_totals("Total Time (ns),Instances,Name\n10.49,1,a\n10.50,1,b\n10.949,1,c\n",
                 "a 1 10\nb 1 11\nc 1 11\n");
}

/* As `nsys stats` prints several reports; the names of a kernel with two grids are one kernel. */
CLAIM(only_the_first_table_of_kernels_counts)
{
    check_totals("Processing [x.sqlite] with [cuda_api_sum.py]...\n\n"
                 "Time (%),Total Time (ns),Num Calls,Name\n100.0,99,9,cudaLaunchKernel\n\n"
                 "Time (%),Total Time (ns),Instances,GridXYZ,Name\n50.0,5,1,1 1 1,k\n50.0,7,2,2 1 1,k\n\n"
                 "Time (%),Total Time (ns),Count,Operation\n100.0,50,1,[CUDA memcpy HtoD]\n\n"
                 "Time (%),Total Time (ns),Instances,Name\n100.0,12,3,k\n",
                 "k 3 12\n! k.csv: line 13: a second table of kernels; it is not added to the first\n");
}

CLAIM(copies_are_no_kernels)
{
    check_totals("Time (%),Total Time (ns),Instances,Category,Operation\n90,9,1,CUDA_KERNEL,k\n"
                 "10,1,1,MEMORY_OPER,[CUDA memcpy HtoD]\n",
                 "k 1 9\n");
    check_totals("Start (ns),Duration (ns),CorrId,GrdX,GrdY,Name\n5,10,1,8,1,k\n20,30,2,,,[CUDA "
                 "memset]\n60,11,3,4,1,k\n",
                 "k 2 21\n");
}

CLAIM(a_row_cut_off_at_the_end_is_left_out_with_a_warning)
{
    check_totals("Total Time (ns),Instances,Name\n5,1,a\n7,1",
                 "a 1 5\n! k.csv: line 3: the file is cut off in this row, which is left out\n");
    check_totals("Total Time (ns),Instances,Name\n5,1,a\n7,1,\"b(",
                 "a 1 5\n! k.csv: line 3: the file is cut off in this row, which is left out\n");
    check_totals("Total Time (ns),Instances,Name\n5,1,a\n7,1,b", /* of bgemm */
                 "a 1 5\n! k.csv: line 3: the file is cut off in this row, which is left out\n");
    check_totals("Total Time (ns),Instances,Name\n5,1,a\n7",
                 "a 1 5\n! k.csv: line 3: the file is cut off in this row, which is left out\n");
}

static void refuse(const char *csv, const char *where, const char *says)
{
    dse_error err = DSE_ERROR_INIT;
    trace_record r = {0};

    assert_failure(trace_nsys_csv_parse("k.csv", csv, strlen(csv), &r, &err), &err, DSE_E_SYNTAX, where,
                   says);
    trace_record_free(&r);
}

CLAIM(what_is_no_report_is_refused_with_its_line)
{
    refuse(
        "a,b\n1,2\n", "k.csv",
        "there is no table of kernels: no line names columns Name, Total Time and Instances; write one with "
        "nsys stats --report cuda_gpu_kern_sum --format csv");
    refuse("Total Time,Instances,Name\n5,1,a\n", "k.csv:2",
           "'5' is no time: there must be a number, and ns, us, ms or s behind it or in the heading");
    refuse("Total Time (ns),Instances,Name\n-5,1,a\n", "k.csv:2",
           "'-5' is no time: there must be a number, and ns, us, ms or s behind it or in the heading");
    refuse("Total Time (ns),Instances,Name\n5 days,1,a\n", "k.csv:2",
           "'5 days' is no time: there must be a number, and ns, us, ms or s behind it or in the heading");
    refuse(
        "Total Time (s),Instances,Name\n99999999999,1,a\n", "k.csv:2",
        "'99999999999' is no time: there must be a number, and ns, us, ms or s behind it or in the heading");
    refuse("Total Time (ns),Instances,Name\n5,one,a\n", "k.csv:2", "'one' is no count of instances");
    refuse("Total Time (ns),Instances,Name\n5,1.5,a\n", "k.csv:2", "'1.5' is no count of instances");
    refuse("Total Time (ns),Instances,Name\n5,1\n6,1,b\n", "k.csv:2",
           "this row has 2 fields, and the heading 3");
    /* 2^63 - 1 ns, and 2^63 - 1 ps in two kernels, rounded up */
    refuse("Total Time (ns),Instances,Name\n1,1,a\n9223372036854775807,1,a\n", "k.csv:3",
           "the totals up to kernel 'a' are beyond what 64 bits hold");
    refuse("Total Time (ns),Instances,Name\n9223372036854775,1,a\n1,1,b\n", "k.csv:3",
           "the totals up to kernel 'b' are beyond what 64 bits hold");
}

CLAIM(other_texts_are_no_report)
{
    assert_false(trace_reader_nsys_csv.is("", 0));
    assert_false(trace_reader_nsys_csv.is("{\"traceEvents\": [\"", 18));
    assert_false(trace_reader_nsys_csv.is("metric,value\niter_time,5\n", 25));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_are_found_by_name_in_any_order_with_units_in_the_heading),
        cmocka_unit_test(units_may_stand_in_the_cells),
        cmocka_unit_test(quotes_hide_commas_quotes_and_newlines_and_thousands_are_separated),
        cmocka_unit_test(a_tenth_of_a_nanosecond_is_rounded),
        cmocka_unit_test(only_the_first_table_of_kernels_counts),
        cmocka_unit_test(copies_are_no_kernels),
        cmocka_unit_test(a_row_cut_off_at_the_end_is_left_out_with_a_warning),
        cmocka_unit_test(what_is_no_report_is_refused_with_its_line),
        cmocka_unit_test(other_texts_are_no_report),
    };
    return RUN_TESTS(tests);
}
