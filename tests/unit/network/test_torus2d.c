#include "unit/network/grid.h"

/* y: 0   0  1  2  3
 *    1   4  5  6  7
 *    2   8  9 10 11
 *    3  12 13 14 15, and the borders meet. */
CLAIM(the_shorter_way_round_is_taken_along_each_axis)
{
    net_shape s = shape_of("Torus2D", 4, 4, 0, "");

    assert_route("Torus2D", &s, 0, 3, "0 3");
    assert_route("Torus2D", &s, 0, 12, "0 12");
    assert_route("Torus2D", &s, 0, 15, "0 3 15");
    assert_route("Torus2D", &s, 15, 4, "15 12 0 4"); /* one up x; up y from 3 to 1 is as far as down */
    assert_route("Torus2D", &s, 1, 7, "1 2 3 7");
}

/* From 0 to 2 on four it is two either way. */
CLAIM(of_two_equal_ways_it_is_the_way_up)
{
    net_shape s = shape_of("Torus2D", 4, 4, 0, "");

    assert_route("Torus2D", &s, 0, 2, "0 1 2");
    assert_route("Torus2D", &s, 2, 0, "2 3 0");
    assert_route("Torus2D", &s, 0, 10, "0 1 2 6 10");
    assert_route("Torus2D", &s, 10, 0, "10 11 8 12 0");
}

CLAIM(yx_goes_along_y_first)
{
    net_shape s = shape_of("Torus2D", 4, 4, 0, "yx");

    assert_route("Torus2D", &s, 0, 15, "0 12 15");
    assert_route("Torus2D", &s, 1, 7, "1 5 6 7");
}

CLAIM(every_npu_has_four_links)
{
    net_shape s = shape_of("Torus2D", 3, 5, 0, "");

    for (uint32_t npu = 0; npu < 15; npu++)
        assert_int_equal(shape_degree("Torus2D", &s, npu), 4);
    assert_string_equal(shape_ports("Torus2D", &s, 0), "1 2 3 12");
    assert_string_equal(shape_ports("Torus2D", &s, 14), "12 13 2 11");
}

/* Up and down lead to the same NPU: one connection, by the port that does not wrap. */
CLAIM(an_axis_of_two_has_one_link_each_way_and_an_axis_of_one_none)
{
    net_shape s = shape_of("Torus2D", 2, 3, 0, ""), row = shape_of("Torus2D", 4, 1, 0, "");

    assert_string_equal(shape_ports("Torus2D", &s, 0), "1 - 2 4");
    assert_string_equal(shape_ports("Torus2D", &s, 1), "- 0 3 5");
    assert_route("Torus2D", &s, 0, 5, "0 1 5");
    assert_route("Torus2D", &s, 1, 0, "1 0");
    assert_int_equal(shape_links("Torus2D", &s), 6 + 12);
    assert_string_equal(shape_ports("Torus2D", &row, 0), "1 3 - -");
    assert_int_equal(shape_links("Torus2D", &row), 8);
}

/* The source of the Ring's routes is the reference; a torus of one row must have them. */
CLAIM(a_torus_of_one_row_or_column_is_a_ring)
{
    const net_topology *ring = net_topology_find("Ring"), *torus = net_topology_find("Torus2D");

    for (uint32_t n = 2; n <= 9; n++) {
        net_shape line = shape_line("Ring", n), row = shape_of("Torus2D", n, 1, 0, ""),
                  column = shape_of("Torus2D", 1, n, 0, "");

        for (uint32_t i = 0; i < n * n; i++) {
            uint32_t src = i / n, dst = i % n, a[SHAPE_MAX_ROUTE], b[SHAPE_MAX_ROUTE], length;

            if (src == dst)
                continue;
            length = shape_route(ring, &line, src, dst, a);
            assert_int_equal(shape_route(torus, &row, src, dst, b), length);
            assert_memory_equal(a, b, length * sizeof *a);
            assert_int_equal(shape_route(torus, &column, src, dst, b), length);
            assert_memory_equal(a, b, length * sizeof *a);
        }
    }
}

CLAIM(routes_over_random_tori_are_minimal_and_along_one_axis_after_the_other)
{
    grid_check_random("Torus2D", true, 21);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_shorter_way_round_is_taken_along_each_axis),
        cmocka_unit_test(of_two_equal_ways_it_is_the_way_up),
        cmocka_unit_test(yx_goes_along_y_first),
        cmocka_unit_test(every_npu_has_four_links),
        cmocka_unit_test(an_axis_of_two_has_one_link_each_way_and_an_axis_of_one_none),
        cmocka_unit_test(a_torus_of_one_row_or_column_is_a_ring),
        cmocka_unit_test(routes_over_random_tori_are_minimal_and_along_one_axis_after_the_other),
    };
    return RUN_TESTS(tests);
}
