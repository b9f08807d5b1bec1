#include "unit/network/shape.h"

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

/* Of the two ways from 0 to 4 on eight it is the one up, as in the reference. */
CLAIM(of_two_equal_ways_it_is_the_way_up)
{
    net_shape s = shape_line("Ring", 8);

    assert_route("Ring", &s, 0, 4, "0 1 2 3 4");
    assert_route("Ring", &s, 4, 0, "4 5 6 7 0");
    assert_route("Ring", &s, 6, 2, "6 7 0 1 2");
}

CLAIM(routes_run_both_ways)
{
    net_shape s = shape_line("Ring", 5);

    assert_route("Ring", &s, 0, 3, "0 4 3");
    assert_route("Ring", &s, 3, 0, "3 4 0");
    assert_route("Ring", &s, 1, 0, "1 0");
}

/* Ports: up, down. */
CLAIM(every_npu_has_two_neighbours)
{
    net_shape s = shape_line("Ring", 4);

    assert_string_equal(shape_ports("Ring", &s, 0), "1 3");
    assert_string_equal(shape_ports("Ring", &s, 2), "3 1");
    assert_string_equal(shape_ports("Ring", &s, 3), "0 2");
}

CLAIM(a_ring_of_two_has_one_link_each_way)
{
    net_shape s = shape_line("Ring", 2);

    assert_string_equal(shape_ports("Ring", &s, 0), "1 -");
    assert_string_equal(shape_ports("Ring", &s, 1), "- 0");
    assert_route("Ring", &s, 0, 1, "0 1");
    assert_route("Ring", &s, 1, 0, "1 0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_ring_of_two_is_one_link),
        cmocka_unit_test(the_shorter_way_round_is_taken),
        cmocka_unit_test(every_pair_has_the_distance_of_the_circle),
        cmocka_unit_test(of_two_equal_ways_it_is_the_way_up),
        cmocka_unit_test(routes_run_both_ways),
        cmocka_unit_test(every_npu_has_two_neighbours),
        cmocka_unit_test(a_ring_of_two_has_one_link_each_way),
    };
    return RUN_TESTS(tests);
}
