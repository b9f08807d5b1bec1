/* time.h has no .c: this is its mirror. The values that the language leaves undefined are those of the x86-64
 * build of the reference: cvttsd2si for the lower half, and its use of it for the upper one. */
#include "unit/unit.h"

#include "base/time.h"

CLAIM(durations_are_truncated)
{
    assert_u64(dse_ticks(0.0), 0);
    assert_u64(dse_ticks(0.999999999), 0);
    assert_u64(dse_ticks(1.0), 1);
    assert_u64(dse_ticks(2.5), 2);
    assert_u64(dse_ticks(1e9 - 0.5), 999999999);
}

CLAIM(all_of_64_bits_is_there)
{
    assert_u64(dse_ticks(9223372036854775808.0), (uint64_t)1 << 63); /* 2^63 */
    /* The largest double below 2^64 is 2^64 - 2^11. */
    assert_u64(dse_ticks(18446744073709549568.0), UINT64_MAX - 2047);
    /* And the largest below 2^63 is 2^63 - 2^10. */
    assert_u64(dse_ticks(9223372036854774784.0), ((uint64_t)1 << 63) - 1024);
}

CLAIM(what_is_too_large_becomes_0)
{
    assert_u64(dse_ticks(18446744073709551616.0), 0); /* 2^64 */
    assert_u64(dse_ticks(1e300), 0);
    assert_u64(dse_ticks(INFINITY), 0);
}

CLAIM(not_a_number_becomes_2_to_the_63)
{
    assert_u64(dse_ticks((double)NAN), (uint64_t)1 << 63);
    assert_u64(dse_ticks(-(double)NAN), (uint64_t)1 << 63);
}

CLAIM(negative_durations_wrap)
{
    assert_u64(dse_ticks(-0.0), 0);
    assert_u64(dse_ticks(-0.9), 0);
    assert_u64(dse_ticks(-1.0), UINT64_MAX);
    assert_u64(dse_ticks(-1.9), UINT64_MAX);
    assert_u64(dse_ticks(-9223372036854775808.0), (uint64_t)1 << 63);
    assert_u64(dse_ticks(-1e300), (uint64_t)1 << 63);
    assert_u64(dse_ticks(-INFINITY), (uint64_t)1 << 63);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(durations_are_truncated),     cmocka_unit_test(all_of_64_bits_is_there),
        cmocka_unit_test(what_is_too_large_becomes_0), cmocka_unit_test(not_a_number_becomes_2_to_the_63),
        cmocka_unit_test(negative_durations_wrap),
    };
    return RUN_TESTS(tests);
}
