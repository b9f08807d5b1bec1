#include "unit/network/grid.h"

/* y: 0   0  1  2  3
 *    1   4  5  6  7
 *    2   8  9 10 11
 *    3  12 13 14 15 */
CLAIM(xy_goes_to_the_column_and_then_to_the_row)
{
    net_shape s = shape_of("Mesh2D", 4, 4, 0, "");

    assert_route("Mesh2D", &s, 1, 7, "1 2 3 7");
    assert_route("Mesh2D", &s, 14, 5, "14 13 9 5");
    assert_route("Mesh2D", &s, 11, 5, "11 10 9 5");
    assert_route("Mesh2D", &s, 15, 4, "15 14 13 12 8 4");
    assert_route("Mesh2D", &s, 5, 14, "5 6 10 14");
    assert_route("Mesh2D", &s, 4, 7, "4 5 6 7");
    assert_route("Mesh2D", &s, 13, 1, "13 9 5 1");
}

CLAIM(yx_goes_to_the_row_and_then_to_the_column)
{
    net_shape s = shape_of("Mesh2D", 4, 4, 0, "yx");

    assert_route("Mesh2D", &s, 1, 7, "1 5 6 7");
    assert_route("Mesh2D", &s, 14, 5, "14 10 6 5");
    assert_route("Mesh2D", &s, 15, 4, "15 11 7 6 5 4");
}

CLAIM(a_corner_has_two_links_an_edge_three_an_inner_npu_four)
{
    static const uint32_t degree[] = {2, 3, 3, 2, 3, 4, 4, 3, 3, 4, 4, 3, 2, 3, 3, 2};
    net_shape s = shape_of("Mesh2D", 4, 4, 0, "");

    for (uint32_t npu = 0; npu < 16; npu++)
        assert_int_equal(shape_degree("Mesh2D", &s, npu), degree[npu]);
}

/* Ports: up and down x, up and down y. */
CLAIM(nothing_wraps_around)
{
    net_shape s = shape_of("Mesh2D", 4, 4, 0, "");

    assert_string_equal(shape_ports("Mesh2D", &s, 0), "1 - 4 -");
    assert_string_equal(shape_ports("Mesh2D", &s, 3), "- 2 7 -");
    assert_string_equal(shape_ports("Mesh2D", &s, 4), "5 - 8 0");
    assert_string_equal(shape_ports("Mesh2D", &s, 10), "11 9 14 6");
    assert_string_equal(shape_ports("Mesh2D", &s, 15), "- 14 - 11");
}

/* y * width + x with a width of 3: 0 1 2 / 3 4 5; and with a width of 2: 0 1 / 2 3 / 4 5. */
CLAIM(width_and_height_may_differ)
{
    net_shape flat = shape_of("Mesh2D", 3, 2, 0, ""), tall = shape_of("Mesh2D", 2, 3, 0, "");

    assert_int_equal(flat.n, 6);
    assert_route("Mesh2D", &flat, 0, 5, "0 1 2 5");
    assert_route("Mesh2D", &tall, 0, 5, "0 1 3 5");
    assert_string_equal(shape_ports("Mesh2D", &flat, 4), "5 3 - 1");
    assert_string_equal(shape_ports("Mesh2D", &tall, 2), "3 - 4 0");
}

/* Each of the `height` rows has width - 1 connections, each of the columns height - 1, and each is two links. */
CLAIM(there_are_two_links_for_each_pair_of_neighbours)
{
    for (uint32_t w = 1; w <= 6; w++) {
        for (uint32_t h = 1; h <= 6; h++) {
            net_shape s;

            if (w * h < 2)
                continue;
            s = shape_of("Mesh2D", w, h, 0, "");
            assert_int_equal(shape_links("Mesh2D", &s), 2 * (h * (w - 1) + w * (h - 1)));
        }
    }
}

CLAIM(one_row_and_one_column_are_lines)
{
    net_shape row = shape_of("Mesh2D", 5, 1, 0, ""), column = shape_of("Mesh2D", 1, 5, 0, "");

    assert_route("Mesh2D", &row, 0, 4, "0 1 2 3 4");
    assert_route("Mesh2D", &row, 4, 1, "4 3 2 1");
    assert_route("Mesh2D", &column, 0, 4, "0 1 2 3 4");
    assert_string_equal(shape_ports("Mesh2D", &row, 0), "1 - - -");
    assert_string_equal(shape_ports("Mesh2D", &row, 2), "3 1 - -");
    assert_string_equal(shape_ports("Mesh2D", &column, 2), "- - 3 1");
}

/* The mesh mirrored at its diagonal, (x, y) to (y, x), is the one of height by width. */
CLAIM(yx_is_xy_of_the_transposed_mesh)
{
    const net_topology *t = net_topology_find("Mesh2D");
    net_shape yx = shape_of("Mesh2D", 5, 3, 0, "yx"), xy = shape_of("Mesh2D", 3, 5, 0, "xy");

    for (uint32_t src = 0; src < 15; src++) {
        for (uint32_t dst = 0; dst < 15; dst++) {
            uint32_t at[SHAPE_MAX_ROUTE], mirrored[SHAPE_MAX_ROUTE], n;

            if (src == dst)
                continue;
            n = shape_route(t, &yx, src, dst, at);
            assert_int_equal(shape_route(t, &xy, src % 5 * 3 + src / 5, dst % 5 * 3 + dst / 5, mirrored), n);
            for (uint32_t i = 0; i < n; i++)
                assert_int_equal(mirrored[i], at[i] % 5 * 3 + at[i] / 5);
        }
    }
}

CLAIM(routes_over_random_meshes_are_minimal_and_along_one_axis_after_the_other)
{
    grid_check_random("Mesh2D", false, 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(xy_goes_to_the_column_and_then_to_the_row),
        cmocka_unit_test(yx_goes_to_the_row_and_then_to_the_column),
        cmocka_unit_test(a_corner_has_two_links_an_edge_three_an_inner_npu_four),
        cmocka_unit_test(nothing_wraps_around),
        cmocka_unit_test(width_and_height_may_differ),
        cmocka_unit_test(there_are_two_links_for_each_pair_of_neighbours),
        cmocka_unit_test(one_row_and_one_column_are_lines),
        cmocka_unit_test(yx_is_xy_of_the_transposed_mesh),
        cmocka_unit_test(routes_over_random_meshes_are_minimal_and_along_one_axis_after_the_other),
    };
    return RUN_TESTS(tests);
}
