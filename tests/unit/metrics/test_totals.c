/* Metrics of a report of Nsight Systems: totals per kernel.
 *
 * The report: an all-reduce of 3 calls, 40 us; a matrix product of 10, 50 us; a top-k of experts of 5, 10 us.
 * Together 18 launches, 100 us: communication 40 %, the greatest 50 %, experts 10 %. */
#include "metrics/registry.h"

#include "trace/reader.h"
#include "unit/unit.h"

static const char report[] =
    "Total Time (us),Instances,Name\n40,3,ncclDevKernel_AllReduce_Sum_f16_RING_LL(args)\n"
    "50,10,ampere_gemm\n10,5,topk_gating\n";

/* Computes a metric of the report as JSON. */
static dse_status compute(const char *csv, const char *name, dse_strbuf *json, dse_error *err)
{
    metric_options options = {0};
    trace_record record = {0};
    const metric *m;
    metric_value *v;
    metric_view view;
    dse_arena arena;
    dse_status st;

    dse_arena_init(&arena);
    assert_ok(trace_nsys_csv_parse("k.csv", csv, strlen(csv), &record, err), err);
    metric_view_init(&view, &record.rank[0]);
    assert_ok(metric_find(name, TRACE_NSYS_CSV, false, &m, err), err);
    st = metric_compute(
        m,
        &(metric_context){
            .record = &record, .view = &view, .n_views = 1, .options = &options, .arena = &arena},
        &v, err);
    if (st == DSE_OK)
        metric_write_json(v, 0, json);
    metric_view_free(&view);
    trace_record_free(&record);
    dse_arena_free(&arena);
    return st;
}

static void check(const char *name, const char *expected)
{
    dse_error err = DSE_ERROR_INIT;
    dse_strbuf json;

    dse_strbuf_init(&json);
    assert_ok(compute(report, name, &json, &err), &err);
    assert_string_equal(json.data, expected);
    dse_strbuf_free(&json);
}

CLAIM(shares_are_of_the_time_of_all_kernels)
{
    check("total_kernel_time", "{\n  \"total_kernel_time\": 0.0001\n}");
    check("communication_ratio",
          "{\n  \"communication_ratio\": 40.0,\n  \"time_s\": 4e-05,\n  \"total_kernel_time_s\": 0.0001\n}");
    check("moe_fraction",
          "{\n  \"moe_fraction\": 10.0,\n  \"time_s\": 1e-05,\n  \"total_kernel_time_s\": 0.0001\n}");
    check("dominant_kernel_concentration",
          "{\n  \"dominant_kernel_concentration\": 50.0,\n  \"kernel\": \"ampere_gemm\"\n}");
}

CLAIM(calls_are_instances_of_communication_kernels)
{
    check("coll_call_num", "{\n  \"total_calls\": 3,\n  \"calls_by_type\": {\n    \"AllReduce\": 3\n  },\n"
                           "  \"calls_per_iteration\": null,\n  \"num_traces\": 1\n}");
}

CLAIM(kernels_are_listed_by_kind_of_work_and_by_time)
{
    check(
        "kernel",
        "{\n  \"total_kernel_time_ms_sum\": 0.1,\n  \"launches\": 18,\n  \"unique_names\": 3,\n"
        "  \"by_type\": {\n"
        "    \"nccl\": {\n      \"count\": 3,\n      \"time_ms_sum\": 0.04,\n      \"percentage\": 40.0\n    "
        "},\n"
        "    \"gemm\": {\n      \"count\": 10,\n      \"time_ms_sum\": 0.05,\n      \"percentage\": 50.0\n   "
        " },\n"
        "    \"other\": {\n      \"count\": 5,\n      \"time_ms_sum\": 0.01,\n      \"percentage\": 10.0\n   "
        " }\n"
        "  },\n  \"top_kernels\": [\n"
        "    {\n      \"name\": \"ampere_gemm\",\n      \"count\": 10,\n      \"total_time_ms\": 0.05,\n"
        "      \"avg_time_us\": 5.0,\n      \"percentage\": 50.0,\n      \"type\": \"gemm\"\n    },\n"
        "    {\n      \"name\": \"ncclDevKernel_AllReduce_Sum_f16_RING_LL(args)\",\n      \"count\": 3,\n"
        "      \"total_time_ms\": 0.04,\n      \"avg_time_us\": 13.333333333333334,\n"
        "      \"percentage\": 40.0,\n      \"type\": \"nccl\"\n    },\n"
        "    {\n      \"name\": \"topk_gating\",\n      \"count\": 5,\n      \"total_time_ms\": 0.01,\n"
        "      \"avg_time_us\": 2.0,\n      \"percentage\": 10.0,\n      \"type\": \"other\"\n    }\n  ]\n}");
}

CLAIM(a_report_without_time_has_no_shares)
{
    dse_error err = DSE_ERROR_INIT;
    dse_strbuf json;

    dse_strbuf_init(&json);
    assert_failure(compute("Total Time (ns),Instances,Name\n", "kernel", &json, &err), &err, DSE_E_ABSENT, "",
                   "the report has no kernel that took any time");
    err = (dse_error)DSE_ERROR_INIT;
    assert_says(compute(report, "iter_time", &json, &err), &err, DSE_E_ABSENT, "it is not defined for a");
    dse_strbuf_free(&json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_are_of_the_time_of_all_kernels),
        cmocka_unit_test(calls_are_instances_of_communication_kernels),
        cmocka_unit_test(kernels_are_listed_by_kind_of_work_and_by_time),
        cmocka_unit_test(a_report_without_time_has_no_shares),
    };
    return RUN_TESTS(tests);
}
