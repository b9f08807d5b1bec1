/* What the view makes of an Nsight Systems export: steps from NVTX ranges, communication from either name of
 * a kernel. */
#include "metrics/view.h"

#include "unit/unit.h"

static uint32_t name(trace_rank *r, const char *text)
{
    return trace_names_add(&r->names, text, strlen(text));
}

static void add(trace_rank *r, trace_category category, const char *text, int64_t start, int64_t end)
{
    trace_event e = {.start_ps = start,
                     .dur_ps = end - start,
                     .name = name(r, text),
                     .lane = trace_add_lane(r, name(r, "1"), name(r, "1")),
                     .args = DSE_NONE,
                     .category = (uint8_t)category};

    trace_add_event(r, &e);
}

static void add_kernel(trace_rank *r, const char *short_name, const char *long_name, int64_t start,
                       int64_t end)
{
    trace_args a;

    trace_args_clear(&a);
    a.long_name = name(r, long_name);
    add(r, TRACE_KERNEL, short_name, start, end);
    r->event[r->n_events - 1].args = trace_add_args(r, &a);
}

/* "number:start-end" of each step. */
static void check_steps(trace_record *record, const char *expected)
{
    dse_strbuf seen;
    metric_view v;

    dse_strbuf_init(&seen);
    metric_view_init(&v, &record->rank[0]);
    for (uint32_t i = 0; i < v.n_steps; i++)
        dse_strbuf_addf(&seen, "%s%d:%d-%d", i ? " " : "", (int)v.step[i].number, (int)v.step[i].span.start,
                        (int)v.step[i].span.end);
    assert_string_equal(seen.data ? seen.data : "", expected);
    dse_strbuf_free(&seen);
    metric_view_free(&v);
    trace_record_free(record);
}

static trace_rank *begin(trace_record *record)
{
    trace_rank *r;

    *record = (trace_record){0};
    assert_non_null(r = trace_record_add_rank(record));
    r->kind = TRACE_NSYS;
    return r;
}

CLAIM(steps_are_the_first_of_three_markers_by_number)
{
    trace_record record;
    trace_rank *r = begin(&record);

    add(r, TRACE_ANNOTATION, "step 1", 0, 5);
    add(r, TRACE_ANNOTATION, "iteration 12", 20, 30);
    add(r, TRACE_ANNOTATION, "iteration_11", 10, 20);
    check_steps(&record, "11:10-20 12:20-30");
    r = begin(&record);
    add(r, TRACE_ANNOTATION, "step 1", 0, 5);
    add(r, TRACE_ANNOTATION, "ProfilerStep#7", 0, 9);
    check_steps(&record, "7:0-9");
    r = begin(&record);
    add(r, TRACE_ANNOTATION, "aten::step", 0, 5);
    check_steps(&record, "");
}

CLAIM(ranges_without_numbers_are_counted_and_those_within_another_are_part_of_it)
{
    trace_record record;
    trace_rank *r = begin(&record);

    add(r, TRACE_ANNOTATION, "step_fn", 12, 18);
    add(r, TRACE_ANNOTATION, "step", 10, 20);
    add(r, TRACE_ANNOTATION, "step", 0, 10);
    add(r, TRACE_ANNOTATION, "step 9", 0, 10);
    check_steps(&record, "0:0-10 1:10-20");
}

CLAIM(other_traces_have_the_profilers_steps_alone)
{
    trace_record record;
    trace_rank *r = begin(&record);

    r->kind = TRACE_KINETO;
    add(r, TRACE_ANNOTATION, "iteration 1", 0, 5);
    check_steps(&record, "");
}

/* DeepEP's dispatch is known by its namespace; a Kernel2 by what CUTLASS it is. */
CLAIM(a_long_name_tells_what_a_short_one_does_not)
{
    trace_record record;
    trace_rank *r = begin(&record);
    metric_view v;

    add_kernel(r, "Kernel2", "void cutlass::Kernel2<gemm>(int)", 0, 5);
    add_kernel(r, "dispatch", "void deep_ep::intranode::dispatch<8>(int)", 5, 9);
    add_kernel(r, "softmax", "void softmax<gemm>(int)", 9, 10);
    add_kernel(r, "dispatch", "void deep_ep::intranode::dispatch<4>(int)", 10, 11);
    metric_view_init(&v, r);
    assert_int_equal(v.kernels.n, 4);
    assert_int_equal(v.comm.n, 2);
    assert_int_equal(v.compute.n, 2);
    assert_int_equal(v.comm_type[0], METRIC_ALL_TO_ALL);
    assert_int_equal(v.work[name(r, "Kernel2")], METRIC_WORK_GEMM);
    assert_int_equal(v.work[name(r, "dispatch")], METRIC_WORK_COMM);
    assert_int_equal(v.work[name(r, "softmax")], METRIC_WORK_ATTENTION);
    metric_view_free(&v);
    trace_record_free(&record);
}

/* Two of CUTLASS's kernels of one short name: a product and attention. */
CLAIM(kernels_of_one_short_name_are_told_apart_by_the_long_one)
{
    trace_record record;
    trace_rank *r = begin(&record);
    metric_view v;

    add_kernel(r, "device_kernel", "void cutlass::device_kernel<cutlass::gemm::kernel::GemmUniversal>()", 0,
               5);
    add_kernel(r, "device_kernel", "void cutlass::device_kernel<cutlass::fmha::kernel::Sm100Fmha>()", 5, 9);
    metric_view_init(&v, r);
    assert_int_not_equal(metric_kernel_name(r, &r->event[0]), metric_kernel_name(r, &r->event[1]));
    assert_int_equal(metric_kernel_work(&v, &r->event[0]), METRIC_WORK_GEMM);
    assert_int_equal(metric_kernel_work(&v, &r->event[1]), METRIC_WORK_ATTENTION);
    metric_view_free(&v);
    trace_record_free(&record);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_are_the_first_of_three_markers_by_number),
        cmocka_unit_test(ranges_without_numbers_are_counted_and_those_within_another_are_part_of_it),
        cmocka_unit_test(other_traces_have_the_profilers_steps_alone),
        cmocka_unit_test(a_long_name_tells_what_a_short_one_does_not),
        cmocka_unit_test(kernels_of_one_short_name_are_told_apart_by_the_long_one),
    };
    return RUN_TESTS(tests);
}
