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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_index_is_called_once_by_any_number_of_threads),
        cmocka_unit_test(the_failure_of_the_lowest_index_is_returned),
        cmocka_unit_test(of_nothing_nothing_is_called),
    };
    return RUN_TESTS(tests);
}
