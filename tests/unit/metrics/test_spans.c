#include "metrics/spans.h"

#include "metrics/view.h"
#include "unit/metrics/run.h"

/* [10, 20) and [30, 40): the end is not in it. */
CLAIM(a_span_holds_its_start_and_not_its_end)
{
    metric_span span[] = {{10, 20}, {30, 40}};
    const metric_spans s = {2, span};

    assert_null(metric_spans_at(&s, 9));
    assert_ptr_equal(metric_spans_at(&s, 10), &span[0]);
    assert_ptr_equal(metric_spans_at(&s, 19), &span[0]);
    assert_null(metric_spans_at(&s, 20));
    assert_null(metric_spans_at(&s, 29));
    assert_ptr_equal(metric_spans_at(&s, 39), &span[1]);
    assert_null(metric_spans_at(&s, 40));
    assert_null(metric_spans_at(&(metric_spans){0, NULL}, 0));
}

/* 5-7, 1-3, 2-6: one of 1-7. An empty one at 9 is dropped. */
CLAIM(spans_in_any_order_are_merged)
{
    metric_span span[] = {{5, 7}, {1, 3}, {9, 9}, {2, 6}};
    metric_spans s = metric_spans_merge_any(span, 4);

    assert_int_equal(s.n, 1);
    assert_int_equal(s.span[0].start, 1);
    assert_int_equal(s.span[0].end, 7);
}

CLAIM(a_span_extends_over_what_it_is_shown)
{
    metric_span s = METRIC_NO_SPAN;

    assert_true(s.end <= s.start);
    metric_span_extend(&s, 5, 6);
    metric_span_extend(&s, 1, 2);
    assert_int_equal(s.start, 1);
    assert_int_equal(s.end, 6);
}

/* Class 0: 0-10, 5-8 inside it, 8-12: 12 us. Class 1: 2-4, 6-7: 3 us. Class 2 has one that lasts no time.
 * Class 3 has none. The unions of each class have these lengths. */
CLAIM(lengths_by_class_are_those_of_the_unions)
{
    static const int64_t at[][2] = {{0, 10}, {2, 4}, {5, 8}, {6, 7}, {8, 12}, {9, 9}};
    static const uint8_t class_of[] = {0, 1, 0, 1, 0, 2};
    static const int64_t us[] = {12, 3, 0, 0};
    int64_t ps[4];
    trace_rank *rank;
    run r;

    run_init(&r);
    rank = run_rank(&r, 0);
    for (size_t i = 0; i < sizeof at / sizeof at[0]; i++)
        run_kernel(rank, "gemm", at[i][0], at[i][1]);
    run_look(&r);
    assert_int_equal(r.view[0].kernels.n, 6);
    metric_class_lengths(rank, &r.view[0].kernels, class_of, 4, ps);
    for (uint8_t c = 0; c < 4; c++) {
        metric_spans s;

        assert_int_equal(ps[c], us[c] * TRACE_PS_PER_US);
        s = metric_union_of_class(rank, &r.view[0].kernels, class_of, c, &r.arena);
        assert_int_equal(metric_spans_length(&s), us[c] * TRACE_PS_PER_US);
    }
    run_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_span_holds_its_start_and_not_its_end),
        cmocka_unit_test(spans_in_any_order_are_merged),
        cmocka_unit_test(a_span_extends_over_what_it_is_shown),
        cmocka_unit_test(lengths_by_class_are_those_of_the_unions),
    };

    return RUN_TESTS(tests);
}
