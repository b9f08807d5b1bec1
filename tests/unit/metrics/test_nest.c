#include "unit/metrics/run.h"

#include "metrics/nest.h"

/* Of one thread, in the order of the file: b [20,40], a [10,90], c [20,30], d [50,60]; of another: e [0,100]. */
static metric_nest make(run *r)
{
    static const struct {
        const char *name, *thread;
        int64_t start, end;
    } ranges[] = {{"b", "cpu_op", 20, 40},
                  {"a", "cpu_op", 10, 90},
                  {"c", "cpu_op", 20, 30},
                  {"d", "cpu_op", 50, 60},
                  {"e", "user_annotation", 0, 100}};
    trace_rank *rank;
    metric_events all = {0};

    run_init(r);
    rank = run_rank(r, 0);
    metric_room(&all, 5, &r->arena);
    for (uint32_t i = 0; i < 5; i++) {
        run_event(rank, ranges[i].thread, ranges[i].name, ranges[i].start, ranges[i].end, NULL);
        all.event[all.n++] = i;
    }
    return metric_nest_of(rank, &all, &r->arena);
}

static const char *name_of(const run *r, const metric_nest *nest, uint32_t at)
{
    const trace_rank *rank = &r->rec.rank[0];

    return at == DSE_NONE ? "-" : METRIC_TEXT_OF(rank, &rank->event[nest->item[at].event]);
}

CLAIM(the_innermost_and_the_outermost_range_hold_a_time)
{
    static const struct {
        int64_t at;
        const char *inner, *outer;
    } times[] = {{5, "-", "-"},  {10, "a", "a"}, {20, "c", "a"}, {35, "b", "a"},
                 {45, "a", "a"}, {55, "d", "a"}, {90, "a", "a"}, {91, "-", "-"}};
    run r;
    const metric_nest nest = make(&r);
    const uint32_t lane = r.rec.rank[0].event[0].lane;

    assert_int_equal(nest.n, 5);
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        const int64_t at = times[i].at * TRACE_PS_PER_US;

        assert_string_equal(name_of(&r, &nest, metric_nest_at(&nest, lane, at)), times[i].inner);
        assert_string_equal(name_of(&r, &nest, metric_nest_around(&nest, lane, at)), times[i].outer);
    }
    assert_string_equal(name_of(&r, &nest, metric_nest_at(&nest, r.rec.rank[0].event[4].lane, 0)), "e");
    assert_int_equal(metric_nest_at(&nest, 99, 0), DSE_NONE);
    run_free(&r);
}

CLAIM(nothing_holds_a_time_without_ranges)
{
    const metric_nest nest = {0};

    assert_int_equal(metric_nest_at(&nest, 0, 0), DSE_NONE);
    assert_int_equal(metric_nest_around(&nest, 0, 0), DSE_NONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_innermost_and_the_outermost_range_hold_a_time),
        cmocka_unit_test(nothing_holds_a_time_without_ranges),
    };
    return RUN_TESTS(tests);
}
