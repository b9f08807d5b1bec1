/* Memory over time by Kineto's [memory] events. */
#include "unit/metrics/run.h"

static run r;

#define RANGE(cat, name, tid, ts, dur)                                                                       \
    "{\"ph\": \"X\", \"cat\": \"" cat "\", \"name\": \"" name "\", \"pid\": 9, \"tid\": " #tid               \
    ", \"ts\": " #ts ", \"dur\": " #dur "},"
#define HEAD(tid, ts)                                                                                        \
    "{\"ph\": \"i\", \"cat\": \"cpu_instant_event\", \"s\": \"t\", \"name\": \"[memory]\", \"pid\": 9, "     \
    "\"tid\": " #tid ", \"ts\": " #ts ", \"args\": {"
#define CHANGE(tid, ts, bytes, addr, total)                                                                  \
    HEAD(tid, ts)                                                                                            \
    "\"Total Reserved\": 4096, \"Total Allocated\": " #total ", \"Bytes\": " #bytes ", \"Addr\": " #addr     \
    ", \"Device Id\": 0, \"Device Type\": 1, \"Ev Idx\": 3}},"
#define OLD(tid, ts, bytes) HEAD(tid, ts) "\"Device Type\": 1, \"Device Id\": 0, \"Bytes\": " #bytes "}},"
#define ON_HOST(ts)         HEAD(1, ts) "\"Device Type\": 0, \"Device Id\": -1, \"Bytes\": 1000000}},"

#define RANGES                                                                                               \
    RANGE("user_annotation", "ProfilerStep#1", 1, 1000, 100)                                                 \
    RANGE("user_annotation", "ProfilerStep#2", 1, 1100, 100)                                                 \
    RANGE("cpu_op", "aten::conv2d", 1, 1010, 10)                                                             \
    RANGE("cpu_op", "aten::empty", 1, 1011, 3)                                                               \
    RANGE("cpu_op", "autograd::engine::evaluate_function: ConvolutionBackward0", 2, 1040, 30)                \
    RANGE("cpu_op", "aten::empty", 2, 1049, 3)                                                               \
    RANGE("user_annotation", "Optimizer.step#SGD.step", 1, 1080, 15)                                         \
    RANGE("cpu_op", "aten::zeros_like", 1, 1084, 5)                                                          \
    "{\"ph\": \"M\", \"name\": \"end\"}"

static int teardown(void **state)
{
    (void)state;
    run_free(&r);
    return 0;
}

/* 1,000 bytes were held before: the first total without the first change. Out of the order of the file. */
CLAIM(the_peak_is_divided_by_what_allocated_it)
{
    const metric_value *v;

    run_of(&r,
           (const char *[]){CHANGE(1, 1012, 500, 2, 1600) CHANGE(1, 1005, 100, 1, 1100) ON_HOST(1020) CHANGE(
               2, 1050, 300, 3, 1900) CHANGE(2, 1060, -500, 2, 1400) CHANGE(1, 1075, -200, 99, 1200)
                                CHANGE(1, 1085, 800, 4, 2000) CHANGE(2, 1150, -300, 3, 1700) RANGES},
           1);
    v = run_metric(&r, "memory_timeline");
    assert_non_null(v);
    assert_value(v, "peak_allocated_bytes", 2000);
    assert_value(v, "peak_is_lower_bound", 0);
    assert_value(v, "peak_reserved_bytes", 4096);
    assert_value(v, "peak_step", 1);
    assert_value(v, "peak_time_in_step_ms", 0.085);
    assert_word(v, "peak_operator", "Optimizer.step#SGD.step");
    assert_value(v, "forward_bytes", 0); /* 500, freed at 1060 */
    assert_value(v, "backward_bytes", 300);
    assert_value(v, "optimizer_bytes", 800);
    assert_value(v, "elsewhere_bytes", 100);
    assert_value(v, "earlier_bytes", 800); /* 1,000, of which 200 are freed at 1075 */
    assert_value(v, "initial_allocated_bytes", 1000);
    assert_value(v, "final_allocated_bytes", 1700);
    assert_value(v, "changes", 7);
    assert_value(v, "peak_by_step/1", 2000);
    assert_value(v, "peak_by_step/2", 2000); /* at its begin */
    assert_value(v, "per_rank/0/backward_bytes", 300);
}

/* 0, 500, 0, -100, 200: 100 at least were held before. */
CLAIM(without_totals_the_peak_is_a_lower_bound)
{
    const metric_value *v;

    run_of(&r, (const char *[]){OLD(1, 1012, 500) OLD(1, 1050, -600) OLD(1, 1085, 300) RANGES}, 1);
    v = run_metric(&r, "memory_timeline");
    assert_non_null(v);
    assert_value(v, "peak_allocated_bytes", 600);
    assert_value(v, "peak_is_lower_bound", 1);
    assert_word(v, "peak_operator", "aten::conv2d");
    assert_absent_because(v, "peak_reserved_bytes", "do not say what is reserved");
    assert_absent_because(v, "forward_bytes", "no addresses");
    assert_value(v, "initial_allocated_bytes", 100);
    assert_value(v, "final_allocated_bytes", 300);
}

CLAIM(addresses_that_contradict_the_totals_divide_nothing)
{
    const metric_value *v;

    run_of(&r, (const char *[]){CHANGE(1, 1012, 500, 2, 500) CHANGE(1, 1013, 600, 3, 700) RANGES}, 1);
    v = run_metric(&r, "memory_timeline");
    assert_non_null(v);
    assert_value(v, "peak_allocated_bytes", 700);
    assert_absent_because(v, "forward_bytes", "contradict");
}

CLAIM(of_several_devices_it_is_the_fullest)
{
    const metric_value *v;

    run_of(&r,
           (const char *[]){CHANGE(1, 1012, 500, 2, 500) HEAD(1, 1013) "\"Bytes\": 700, \"Device Type\": 1, "
                                                                       "\"Device Id\": 3}}," RANGES},
           1);
    v = run_metric(&r, "memory_timeline");
    assert_non_null(v);
    assert_value(v, "device", 3);
    assert_value(v, "peak_allocated_bytes", 700);
}

/* 500 are held, and freed: the peak is before the first change. */
CLAIM(what_was_held_before_may_be_the_peak)
{
    const metric_value *v;

    run_of(&r, (const char *[]){OLD(1, 1012, -500) OLD(1, 1013, 100) RANGES}, 1);
    v = run_metric(&r, "memory_timeline");
    assert_non_null(v);
    assert_value(v, "peak_allocated_bytes", 500);
    assert_value(v, "initial_allocated_bytes", 500);
    assert_null(metric_get(v, "peak_operator"));
}

CLAIM(events_of_the_host_alone_are_none_of_a_device)
{
    run_of(&r, (const char *[]){ON_HOST(1012) RANGES}, 1);
    assert_null(run_metric(&r, "memory_timeline"));
    assert_non_null(strstr(r.err.text, "profile_memory=True"));
}

/* Numbers that no device has, and texts, are not given; no bytes, no change. */
CLAIM(numbers_that_make_no_sense_are_left_out)
{
    run_of(&r,
           (const char *[]){OLD(1, 1012, 1e30) OLD(1, 1013, 9007199254740992) OLD(1, 1014, null)
                                OLD(1, 1015, [1]) OLD(1, 1016, "many") OLD(1, 1017, 0) RANGES},
           1);
    assert_int_equal(r.rec.rank[0].n_changes, 0);
    assert_null(run_metric(&r, "memory_timeline"));
}

#define IN(test) cmocka_unit_test_teardown(test, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN(the_peak_is_divided_by_what_allocated_it),
        IN(without_totals_the_peak_is_a_lower_bound),
        IN(addresses_that_contradict_the_totals_divide_nothing),
        IN(of_several_devices_it_is_the_fullest),
        IN(what_was_held_before_may_be_the_peak),
        IN(events_of_the_host_alone_are_none_of_a_device),
        IN(numbers_that_make_no_sense_are_left_out),
    };

    return RUN_TESTS(tests);
}
