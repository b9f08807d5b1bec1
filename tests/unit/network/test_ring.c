#include "unit/unit.h"

#include "network/topology.h"

static uint32_t hops(uint32_t n, uint32_t src, uint32_t dst)
{
    return net_topology_find("Ring")->hops(&(net_shape){.n = n}, src, dst);
}

CLAIM(a_ring_of_two_is_one_link)
{
    assert_int_equal(hops(2, 0, 1), 1);
    assert_int_equal(hops(2, 1, 0), 1);
}

/* On 0-1-2-3-4-5-6-7-0: 0 to 3 is three clockwise, 0 to 5 three the other way, 0 to 4 four either way. */
CLAIM(the_shorter_way_round_is_taken)
{
    assert_int_equal(hops(8, 0, 1), 1);
    assert_int_equal(hops(8, 0, 3), 3);
    assert_int_equal(hops(8, 0, 4), 4);
    assert_int_equal(hops(8, 0, 5), 3);
    assert_int_equal(hops(8, 6, 1), 3); /* over the end: 6-7-0-1 */
    assert_int_equal(hops(8, 1, 6), 3);
    assert_int_equal(hops(8, 7, 0), 1);
    assert_int_equal(hops(5, 4, 1), 2);
}

/* The distance on a circle is a metric: symmetric, the same all around, never above n/2. */
CLAIM(every_pair_has_the_distance_of_the_circle)
{
    for (uint32_t n = 2; n <= 33; n++) {
        for (uint32_t s = 0; s < n; s++) {
            for (uint32_t d = 0; d < n; d++) {
                uint32_t apart = s > d ? s - d : d - s;

                if (s == d)
                    continue;
                assert_int_equal(hops(n, s, d), apart < n - apart ? apart : n - apart);
                assert_int_equal(hops(n, s, d), hops(n, d, s));
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_ring_of_two_is_one_link),
        cmocka_unit_test(the_shorter_way_round_is_taken),
        cmocka_unit_test(every_pair_has_the_distance_of_the_circle),
    };
    return RUN_TESTS(tests);
}
