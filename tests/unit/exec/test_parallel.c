#include "exec/parallel.h"

#include "unit/unit.h"

#include <stdatomic.h>

#define N 200

typedef struct {
    atomic_uint calls[N];
    size_t fails_from; /* indexes from here on fail, each with its own words */
    size_t told, times;
} probe;

static dse_status visit(void *user, size_t i, dse_error *err)
{
    probe *p = user;
    void *memory = dse_realloc(NULL, 100 + i);

    atomic_fetch_add(&p->calls[i], 1);
    if (!memory)
        return dse_fail_nomem(err);
    dse_free(memory);
    return i < p->fails_from ? DSE_OK : dse_fail(err, DSE_E_IO, "index %zu", i);
}

static void count(void *user, size_t done, size_t n)
{
    probe *p = user;

    assert_int_equal(n, N);
    assert_true(done > p->told && done <= N);
    p->told = done;
    p->times++;
}

CLAIM(every_index_is_called_once_by_any_number_of_threads)
{
    for (uint32_t threads = 0; threads <= 9; threads++) {
        probe p = {.fails_from = N};
        dse_error err = DSE_ERROR_INIT;

        assert_ok(exec_parallel(N, threads, visit, count, &p, &err), &err);
        for (size_t i = 0; i < N; i++)
            assert_int_equal(atomic_load(&p.calls[i]), 1);
        assert_int_equal(p.told, N);
    }
}

CLAIM(the_failure_of_the_lowest_index_is_returned)
{
    for (uint32_t threads = 1; threads <= 9; threads++) {
        probe p = {.fails_from = 57};
        dse_error err = DSE_ERROR_INIT;

        assert_failure(exec_parallel(N, threads, visit, NULL, &p, &err), &err, DSE_E_IO, "", "index 57");
        for (size_t i = 0; i <= 57; i++)
            assert_int_equal(atomic_load(&p.calls[i]), 1);
        /* Each other thread may have had one under way when the first failed. */
        for (size_t i = 57 + threads; i < N; i++)
            assert_int_equal(atomic_load(&p.calls[i]), 0);
    }
}

CLAIM(of_nothing_nothing_is_called)
{
    probe p = {.fails_from = 0};
    dse_error err = DSE_ERROR_INIT;

    assert_ok(exec_parallel(0, 4, visit, count, &p, &err), &err);
    assert_int_equal(p.times, 0);
}

/* The hook counts the allocations of all threads: with n of them left, n indexes have theirs. The threads' own array
 * is one more. */
CLAIM(failing_allocations_are_counted_over_all_threads)
{
    for (long n = 0; n < 40; n++) {
        probe p = {.fails_from = N};
        dse_error err = DSE_ERROR_INIT;
        size_t calls = 0;
        dse_status st;

        dse_alloc_fail_after(n);
        st = exec_parallel(N, 4, visit, NULL, &p, &err);
        dse_alloc_fail_after(-1);
        assert_failure(st, &err, DSE_E_NOMEM, "", "out of memory");
        for (size_t i = 0; i < N; i++)
            calls += atomic_load(&p.calls[i]);
        assert_true(n == 0 ? calls == 0 : calls >= (size_t)n && calls < (size_t)n + 4);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_index_is_called_once_by_any_number_of_threads),
        cmocka_unit_test(the_failure_of_the_lowest_index_is_returned),
        cmocka_unit_test(of_nothing_nothing_is_called),
        cmocka_unit_test(failing_allocations_are_counted_over_all_threads),
    };
    return RUN_TESTS(tests);
}
