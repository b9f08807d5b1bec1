#include "unit/network/shape.h"

/* ---- properties of the routes over random grids --------------------------------------------------- */

static const char *const grid_orders_2[] = {"xy", "yx"};
static const char *const grid_orders_3[] = {"xyz", "xzy", "yxz", "yzx", "zxy", "zyx"};

static void grid_place(const net_shape *s, uint32_t npu, uint32_t place[NET_MAX_AXES])
{
    for (uint32_t axis = 0; axis < NET_MAX_AXES; axis++) {
        place[axis] = npu % s->extent[axis];
        npu /= s->extent[axis];
    }
}

/* The axis along which two NPUs are neighbours; DSE_NONE: they are not. */
static uint32_t grid_step(const net_shape *s, bool torus, uint32_t from, uint32_t to)
{
    uint32_t a[NET_MAX_AXES], b[NET_MAX_AXES], found = DSE_NONE;

    grid_place(s, from, a);
    grid_place(s, to, b);
    for (uint32_t axis = 0; axis < NET_MAX_AXES; axis++) {
        uint32_t n = s->extent[axis];
        bool next = a[axis] + 1 == b[axis] || b[axis] + 1 == a[axis];
        bool around = torus && ((a[axis] + 1) % n == b[axis] || (b[axis] + 1) % n == a[axis]);

        if (a[axis] == b[axis])
            continue;
        if (found != DSE_NONE || !(next || around))
            return DSE_NONE;
        found = axis;
    }
    return found;
}

/* The least number of steps from one NPU to another. */
static uint32_t grid_distance(const net_shape *s, bool torus, uint32_t from, uint32_t to)
{
    uint32_t a[NET_MAX_AXES], b[NET_MAX_AXES], sum = 0;

    grid_place(s, from, a);
    grid_place(s, to, b);
    for (uint32_t axis = 0; axis < NET_MAX_AXES; axis++) {
        uint32_t apart = a[axis] > b[axis] ? a[axis] - b[axis] : b[axis] - a[axis];

        sum += torus && s->extent[axis] - apart < apart ? s->extent[axis] - apart : apart;
    }
    return sum;
}

/* The route is minimal, each step is one between neighbours, and the axes come in the order of the shape. */
static void grid_check_route(const net_topology *t, const net_shape *s, bool torus, uint32_t src,
                             uint32_t dst)
{
    uint32_t at[SHAPE_MAX_ROUTE], n = shape_route(t, s, src, dst, at), turn = 0;

    assert_int_equal(n - 1, grid_distance(s, torus, src, dst));
    assert_int_equal(n - 1, t->hops(s, src, dst));
    for (uint32_t i = 1; i < n; i++) {
        uint32_t axis = grid_step(s, torus, at[i - 1], at[i]);

        assert_true(axis != DSE_NONE);
        while (turn < NET_MAX_AXES && s->order[turn] != axis)
            turn++;
        assert_true(turn < NET_MAX_AXES); /* else an axis came up that was done already */
    }
}

/* Random extents, 1 among them, random orders and random pairs. */
static void grid_check_random(const char *topology, bool torus, uint64_t seed)
{
    const net_topology *t = net_topology_find(topology);

    for (int i = 0; i < 400; i++) {
        uint32_t extent[NET_MAX_AXES], order = (uint32_t)(unit_random(&seed) % (t->n_axes == 2 ? 2 : 6));
        net_shape s;

        for (int axis = 0; axis < NET_MAX_AXES; axis++)
            extent[axis] = 1 + (uint32_t)(unit_random(&seed) % (t->n_axes == 2 ? 12 : 7));
        if (extent[0] * extent[1] * (t->n_axes == 3 ? extent[2] : 1) < 2)
            continue;
        s = shape_of(topology, extent[0], extent[1], extent[2],
                     t->n_axes == 2 ? grid_orders_2[order] : grid_orders_3[order]);
        for (int pair = 0; pair < 20; pair++) {
            uint32_t src = (uint32_t)(unit_random(&seed) % s.n);
            uint32_t dst = (src + 1 + (uint32_t)(unit_random(&seed) % (s.n - 1))) % s.n;

            grid_check_route(t, &s, torus, src, dst);
        }
    }
}

/* ---- Mesh2D ------------------------------------------------------------------------------------- */

/* y: 0   0  1  2  3
 *    1   4  5  6  7
 *    2   8  9 10 11
 *    3  12 13 14 15 */
CLAIM(in_mesh2d_xy_goes_to_the_column_and_then_to_the_row)
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

CLAIM(in_mesh2d_yx_goes_to_the_row_and_then_to_the_column)
{
    net_shape s = shape_of("Mesh2D", 4, 4, 0, "yx");

    assert_route("Mesh2D", &s, 1, 7, "1 5 6 7");
    assert_route("Mesh2D", &s, 14, 5, "14 10 6 5");
    assert_route("Mesh2D", &s, 15, 4, "15 11 7 6 5 4");
}

CLAIM(in_mesh2d_a_corner_has_two_links_an_edge_three_an_inner_npu_four)
{
    static const uint32_t degree[] = {2, 3, 3, 2, 3, 4, 4, 3, 3, 4, 4, 3, 2, 3, 3, 2};
    net_shape s = shape_of("Mesh2D", 4, 4, 0, "");

    for (uint32_t npu = 0; npu < 16; npu++)
        assert_int_equal(shape_degree("Mesh2D", &s, npu), degree[npu]);
}

/* Ports: up and down x, up and down y. */
CLAIM(in_mesh2d_nothing_wraps_around)
{
    net_shape s = shape_of("Mesh2D", 4, 4, 0, "");

    assert_string_equal(shape_ports("Mesh2D", &s, 0), "1 - 4 -");
    assert_string_equal(shape_ports("Mesh2D", &s, 3), "- 2 7 -");
    assert_string_equal(shape_ports("Mesh2D", &s, 4), "5 - 8 0");
    assert_string_equal(shape_ports("Mesh2D", &s, 10), "11 9 14 6");
    assert_string_equal(shape_ports("Mesh2D", &s, 15), "- 14 - 11");
}

/* y * width + x with a width of 3: 0 1 2 / 3 4 5; and with a width of 2: 0 1 / 2 3 / 4 5. */
CLAIM(in_mesh2d_width_and_height_may_differ)
{
    net_shape flat = shape_of("Mesh2D", 3, 2, 0, ""), tall = shape_of("Mesh2D", 2, 3, 0, "");

    assert_int_equal(flat.n, 6);
    assert_route("Mesh2D", &flat, 0, 5, "0 1 2 5");
    assert_route("Mesh2D", &tall, 0, 5, "0 1 3 5");
    assert_string_equal(shape_ports("Mesh2D", &flat, 4), "5 3 - 1");
    assert_string_equal(shape_ports("Mesh2D", &tall, 2), "3 - 4 0");
}

/* Each of the `height` rows has width - 1 connections, each of the columns height - 1, and each is two links. */
CLAIM(in_mesh2d_there_are_two_links_for_each_pair_of_neighbours)
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

CLAIM(in_mesh2d_one_row_and_one_column_are_lines)
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
CLAIM(in_mesh2d_yx_is_xy_of_the_transposed_mesh)
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

CLAIM(in_mesh2d_routes_over_random_meshes_are_minimal_and_along_one_axis_after_the_other)
{
    grid_check_random("Mesh2D", false, 20);
}

/* ---- Mesh3D ------------------------------------------------------------------------------------- */

/* 3 x 2 x 4, id = x + 3 * (y + 2 * z): a layer is 0 1 2 / 3 4 5, the next begins with 6. */
CLAIM(in_mesh3d_a_message_goes_along_x_then_y_then_z)
{
    net_shape s = shape_of("Mesh3D", 3, 2, 4, "");

    assert_int_equal(s.n, 24);
    assert_route("Mesh3D", &s, 0, 23, "0 1 2 5 11 17 23"); /* [2, 1, 3] */
    assert_route("Mesh3D", &s, 23, 0, "23 22 21 18 12 6 0");
    assert_route("Mesh3D", &s, 4, 6, "4 3 0 6");
}

CLAIM(in_mesh3d_the_axes_come_in_the_order_asked_for)
{
    net_shape zyx = shape_of("Mesh3D", 3, 2, 4, "zyx"), yzx = shape_of("Mesh3D", 3, 2, 4, "yzx");

    assert_route("Mesh3D", &zyx, 0, 23, "0 6 12 18 21 22 23");
    assert_route("Mesh3D", &yzx, 0, 23, "0 3 9 15 21 22 23");
}

/* Ports: up and down x, y, z. */
CLAIM(in_mesh3d_corners_have_three_links_and_the_inside_six)
{
    net_shape s = shape_of("Mesh3D", 3, 3, 3, "");

    assert_int_equal(shape_degree("Mesh3D", &s, 0), 3);
    assert_int_equal(shape_degree("Mesh3D", &s, 26), 3);
    assert_int_equal(shape_degree("Mesh3D", &s, 1), 4);  /* an edge */
    assert_int_equal(shape_degree("Mesh3D", &s, 4), 5);  /* the middle of a face */
    assert_int_equal(shape_degree("Mesh3D", &s, 13), 6); /* the centre */
    assert_string_equal(shape_ports("Mesh3D", &s, 13), "14 12 16 10 22 4");
    assert_string_equal(shape_ports("Mesh3D", &s, 26), "- 25 - 23 - 17");
}

/* A line of n has n - 1 connections; there are height * depth lines along x. */
CLAIM(in_mesh3d_there_are_two_links_for_each_pair_of_neighbours)
{
    for (uint32_t w = 1; w <= 4; w++) {
        for (uint32_t h = 1; h <= 4; h++) {
            for (uint32_t d = 2; d <= 4; d++) {
                net_shape s = shape_of("Mesh3D", w, h, d, "");

                assert_int_equal(shape_links("Mesh3D", &s),
                                 2 * ((w - 1) * h * d + (h - 1) * w * d + (d - 1) * w * h));
            }
        }
    }
}

CLAIM(in_mesh3d_of_depth_one_it_is_a_mesh_of_two_axes)
{
    net_shape flat = shape_of("Mesh2D", 4, 3, 0, ""), deep = shape_of("Mesh3D", 4, 3, 1, "");

    shape_same_routes("Mesh2D", &flat, "Mesh3D", &deep);
}

CLAIM(in_mesh3d_routes_over_random_meshes_are_minimal_and_along_one_axis_after_the_other)
{
    grid_check_random("Mesh3D", false, 30);
}

/* ---- Torus2D ------------------------------------------------------------------------------------ */

/* y: 0   0  1  2  3
 *    1   4  5  6  7
 *    2   8  9 10 11
 *    3  12 13 14 15, and the borders meet. */
CLAIM(in_torus2d_the_shorter_way_round_is_taken_along_each_axis)
{
    net_shape s = shape_of("Torus2D", 4, 4, 0, "");

    assert_route("Torus2D", &s, 0, 3, "0 3");
    assert_route("Torus2D", &s, 0, 12, "0 12");
    assert_route("Torus2D", &s, 0, 15, "0 3 15");
    assert_route("Torus2D", &s, 15, 4, "15 12 0 4"); /* one up x; up y from 3 to 1 is as far as down */
    assert_route("Torus2D", &s, 1, 7, "1 2 3 7");
}

/* From 0 to 2 on four it is two either way. */
CLAIM(in_torus2d_of_two_equal_ways_it_is_the_way_up)
{
    net_shape s = shape_of("Torus2D", 4, 4, 0, "");

    assert_route("Torus2D", &s, 0, 2, "0 1 2");
    assert_route("Torus2D", &s, 2, 0, "2 3 0");
    assert_route("Torus2D", &s, 0, 10, "0 1 2 6 10");
    assert_route("Torus2D", &s, 10, 0, "10 11 8 12 0");
}

CLAIM(in_torus2d_yx_goes_along_y_first)
{
    net_shape s = shape_of("Torus2D", 4, 4, 0, "yx");

    assert_route("Torus2D", &s, 0, 15, "0 12 15");
    assert_route("Torus2D", &s, 1, 7, "1 5 6 7");
}

CLAIM(in_torus2d_every_npu_has_four_links)
{
    net_shape s = shape_of("Torus2D", 3, 5, 0, "");

    for (uint32_t npu = 0; npu < 15; npu++)
        assert_int_equal(shape_degree("Torus2D", &s, npu), 4);
    assert_string_equal(shape_ports("Torus2D", &s, 0), "1 2 3 12");
    assert_string_equal(shape_ports("Torus2D", &s, 14), "12 13 2 11");
}

/* Up and down lead to the same NPU: one connection, by the port that does not wrap. */
CLAIM(in_torus2d_an_axis_of_two_has_one_link_each_way_and_an_axis_of_one_none)
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
CLAIM(in_torus2d_a_torus_of_one_row_or_column_is_a_ring)
{
    for (uint32_t n = 2; n <= 9; n++) {
        net_shape line = shape_line("Ring", n), row = shape_of("Torus2D", n, 1, 0, ""),
                  column = shape_of("Torus2D", 1, n, 0, "");

        shape_same_routes("Ring", &line, "Torus2D", &row);
        shape_same_routes("Ring", &line, "Torus2D", &column);
    }
}

CLAIM(in_torus2d_routes_over_random_tori_are_minimal_and_along_one_axis_after_the_other)
{
    grid_check_random("Torus2D", true, 21);
}

/* ---- Torus3D ------------------------------------------------------------------------------------ */

/* 4 x 3 x 5, id = x + 4 * (y + 3 * z): a layer has 12. */
CLAIM(in_torus3d_the_shorter_way_round_is_taken_along_each_axis)
{
    net_shape s = shape_of("Torus3D", 4, 3, 5, "");

    assert_int_equal(s.n, 60);
    assert_route("Torus3D", &s, 0, 59, "0 3 11 59"); /* [3, 2, 4]: one down each */
    assert_route("Torus3D", &s, 59, 0, "59 56 48 0");
    assert_route("Torus3D", &s, 0, 30, "0 1 2 6 18 30"); /* [2, 1, 2]: of two equal ways the one up */
}

CLAIM(in_torus3d_the_axes_come_in_the_order_asked_for)
{
    net_shape s = shape_of("Torus3D", 4, 3, 5, "zxy");

    assert_route("Torus3D", &s, 0, 59, "0 48 51 59");
    assert_route("Torus3D", &s, 0, 30, "0 12 24 25 26 30");
}

/* Ports: up and down x, y, z. */
CLAIM(in_torus3d_every_npu_has_six_links)
{
    net_shape s = shape_of("Torus3D", 4, 3, 5, "");

    for (uint32_t npu = 0; npu < 60; npu++)
        assert_int_equal(shape_degree("Torus3D", &s, npu), 6);
    assert_string_equal(shape_ports("Torus3D", &s, 0), "1 3 4 8 12 48");
}

/* A ring of two is one connection: two NPUs, two links. */
CLAIM(in_torus3d_axes_of_two_have_one_link_each_way)
{
    const net_topology *torus = net_topology_find("Torus3D"), *mesh = net_topology_find("Mesh3D");
    net_shape cube = shape_of("Torus3D", 2, 2, 2, "");

    for (uint32_t npu = 0; npu < 8; npu++)
        for (uint32_t port = 0; port < 6; port++)
            assert_int_equal(torus->neighbour(&cube, npu, port), mesh->neighbour(&cube, npu, port));
    assert_int_equal(shape_links("Torus3D", &cube), 24);
}

CLAIM(in_torus3d_routes_over_random_tori_are_minimal_and_along_one_axis_after_the_other)
{
    grid_check_random("Torus3D", true, 31);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(in_mesh2d_xy_goes_to_the_column_and_then_to_the_row),
        cmocka_unit_test(in_mesh2d_yx_goes_to_the_row_and_then_to_the_column),
        cmocka_unit_test(in_mesh2d_a_corner_has_two_links_an_edge_three_an_inner_npu_four),
        cmocka_unit_test(in_mesh2d_nothing_wraps_around),
        cmocka_unit_test(in_mesh2d_width_and_height_may_differ),
        cmocka_unit_test(in_mesh2d_there_are_two_links_for_each_pair_of_neighbours),
        cmocka_unit_test(in_mesh2d_one_row_and_one_column_are_lines),
        cmocka_unit_test(in_mesh2d_yx_is_xy_of_the_transposed_mesh),
        cmocka_unit_test(in_mesh2d_routes_over_random_meshes_are_minimal_and_along_one_axis_after_the_other),
        cmocka_unit_test(in_mesh3d_a_message_goes_along_x_then_y_then_z),
        cmocka_unit_test(in_mesh3d_the_axes_come_in_the_order_asked_for),
        cmocka_unit_test(in_mesh3d_corners_have_three_links_and_the_inside_six),
        cmocka_unit_test(in_mesh3d_there_are_two_links_for_each_pair_of_neighbours),
        cmocka_unit_test(in_mesh3d_of_depth_one_it_is_a_mesh_of_two_axes),
        cmocka_unit_test(in_mesh3d_routes_over_random_meshes_are_minimal_and_along_one_axis_after_the_other),
        cmocka_unit_test(in_torus2d_the_shorter_way_round_is_taken_along_each_axis),
        cmocka_unit_test(in_torus2d_of_two_equal_ways_it_is_the_way_up),
        cmocka_unit_test(in_torus2d_yx_goes_along_y_first),
        cmocka_unit_test(in_torus2d_every_npu_has_four_links),
        cmocka_unit_test(in_torus2d_an_axis_of_two_has_one_link_each_way_and_an_axis_of_one_none),
        cmocka_unit_test(in_torus2d_a_torus_of_one_row_or_column_is_a_ring),
        cmocka_unit_test(in_torus2d_routes_over_random_tori_are_minimal_and_along_one_axis_after_the_other),
        cmocka_unit_test(in_torus3d_the_shorter_way_round_is_taken_along_each_axis),
        cmocka_unit_test(in_torus3d_the_axes_come_in_the_order_asked_for),
        cmocka_unit_test(in_torus3d_every_npu_has_six_links),
        cmocka_unit_test(in_torus3d_axes_of_two_have_one_link_each_way),
        cmocka_unit_test(in_torus3d_routes_over_random_tori_are_minimal_and_along_one_axis_after_the_other),
    };
    return RUN_TESTS(tests);
}
