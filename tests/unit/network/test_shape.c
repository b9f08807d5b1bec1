#include "unit/network/shape.h"

static net_shape given(uint32_t n, uint32_t width, uint32_t height, uint32_t depth)
{
    return (net_shape){.n = n, .extent = {width, height, depth}};
}

static void assert_shape(const char *topology, net_shape s, uint32_t n, uint32_t width, uint32_t height,
                         uint32_t depth)
{
    const uint32_t expected[NET_MAX_AXES] = {width, height, depth};
    dse_error err = DSE_ERROR_INIT;

    for (int twice = 0; twice < 2; twice++) { /* what is finished can be finished again */
        assert_ok(net_shape_finish(net_topology_find(topology), &s, &err), &err);
        assert_int_equal(s.n, n);
        for (int axis = 0; axis < NET_MAX_AXES; axis++)
            assert_int_equal(s.extent[axis], expected[axis]);
    }
}

static void refuse(const char *topology, net_shape s, const char *message)
{
    dse_error err = DSE_ERROR_INIT;

    assert_failure(net_shape_finish(net_topology_find(topology), &s, &err), &err, DSE_E_RANGE, "", message);
}

/* ---- sizes --------------------------------------------------------------------------------- */

CLAIM(a_count_alone_is_a_square_or_a_cube)
{
    assert_shape("Mesh2D", given(16, 0, 0, 0), 16, 4, 4, 1);
    assert_shape("Torus2D", given(4, 0, 0, 0), 4, 2, 2, 1);
    assert_shape("Mesh2D", given(1u << 24, 0, 0, 0), 1u << 24, 4096, 4096, 1);
    assert_shape("Mesh3D", given(27, 0, 0, 0), 27, 3, 3, 3);
    assert_shape("Torus3D", given(1u << 24, 0, 0, 0), 1u << 24, 256, 256, 256);
}

CLAIM(extents_alone_make_the_count)
{
    assert_shape("Mesh2D", given(0, 3, 5, 0), 15, 3, 5, 1);
    assert_shape("Torus2D", given(0, 1, 7, 0), 7, 1, 7, 1);
    assert_shape("Mesh3D", given(0, 2, 3, 4), 24, 2, 3, 4);
}

CLAIM(extents_and_a_count_may_be_given_if_they_agree)
{
    assert_shape("Mesh2D", given(15, 3, 5, 0), 15, 3, 5, 1);
    assert_shape("Torus3D", given(24, 2, 3, 4), 24, 2, 3, 4);
}

CLAIM(a_topology_without_axes_is_one_line)
{
    assert_shape("Ring", given(6, 0, 0, 0), 6, 6, 1, 1);
    assert_shape("Switch", given(2, 0, 0, 0), 2, 2, 1, 1);
    assert_shape("Hypercube", given(32, 0, 0, 0), 32, 32, 1, 1);
}

CLAIM(fewer_than_two_npus_are_refused)
{
    refuse("Ring", given(0, 0, 0, 0), "npus_count is 0; it must be larger than 1");
    refuse("Ring", given(1, 0, 0, 0), "npus_count is 1; it must be larger than 1");
    refuse("Mesh2D", given(1, 0, 0, 0), "npus_count is 1; it must be larger than 1");
    refuse("Mesh2D", given(0, 1, 1, 0), "width * height of the Mesh2D is 1; it must be larger than 1");
    refuse("Torus3D", given(0, 1, 1, 1),
           "width * height * depth of the Torus3D is 1; it must be larger than 1");
    refuse("Hypercube", given(1, 0, 0, 0), "npus_count is 1; it must be larger than 1");
}

CLAIM(a_count_that_is_no_square_cube_or_power_of_two_is_refused)
{
    refuse("Mesh2D", given(15, 0, 0, 0), "npus_count 15 of the Mesh2D is no square; give width and height");
    refuse("Torus2D", given(2, 0, 0, 0), "npus_count 2 of the Torus2D is no square; give width and height");
    refuse("Mesh3D", given(16, 0, 0, 0),
           "npus_count 16 of the Mesh3D is no cube; give width, height and depth");
    refuse("Hypercube", given(12, 0, 0, 0), "a Hypercube has a power of two of NPUs; npus_count is 12");
}

CLAIM(sizes_that_do_not_agree_are_refused)
{
    refuse("Mesh2D", given(16, 4, 5, 0),
           "width * height of the Mesh2D is 20, but npus_count is 16; leave one out, or make them agree");
    refuse(
        "Mesh3D", given(16, 2, 2, 2),
        "width * height * depth of the Mesh3D is 8, but npus_count is 16; leave one out, or make them agree");
}

/* 16 / 8 = 2, 64 / (4 * 2) = 8. */
CLAIM(an_extent_that_is_missing_follows_from_the_count)
{
    net_shape s = given(16, 8, 0, 0);

    assert_int_equal(net_shape_finish(net_topology_find("Mesh2D"), &s, NULL), DSE_OK);
    assert_int_equal(s.extent[1], 2);
    s = given(64, 4, 0, 2);
    assert_int_equal(net_shape_finish(net_topology_find("Torus3D"), &s, NULL), DSE_OK);
    assert_int_equal(s.extent[1], 8);
}

CLAIM(an_extent_that_is_missing_is_named)
{
    refuse("Mesh2D", given(0, 4, 0, 0), "the Mesh2D has no height; give it, or npus_count");
    refuse("Mesh2D", given(16, 5, 0, 0), "npus_count 16 of the Mesh2D leaves no whole height");
    refuse("Mesh3D", given(64, 4, 0, 0), "the Mesh3D has no depth; give it too, or npus_count alone");
    refuse("Torus2D", given(0, 0, 4, 0), "the Torus2D has no width; give it, or npus_count");
    refuse("Mesh3D", given(0, 4, 4, 0), "the Mesh3D has no depth; give it, or npus_count");
}

/* 65536 * 65536 = 2^32 and 2^32 - 1 cubed do not fit the count. */
CLAIM(sizes_that_overflow_are_refused)
{
    refuse("Mesh2D", given(0, 65536, 65536, 0), "the Mesh2D has too many NPUs");
    refuse("Torus3D", given(0, UINT32_MAX, UINT32_MAX, UINT32_MAX), "the Torus3D has too many NPUs");
    refuse("Mesh2D", given(UINT32_MAX, 0, 0, 0),
           "npus_count 4294967295 of the Mesh2D is no square; give width and height");
}

/* ---- the order of the axes ----------------------------------------------------------------- */

static void assert_order(const char *topology, const char *text, uint8_t first, uint8_t second, uint8_t third)
{
    net_shape s = given(64, 0, 0, 0);
    dse_error err = DSE_ERROR_INIT;

    assert_ok(net_shape_finish(net_topology_find(topology), &s, &err), &err);
    assert_ok(net_shape_route(net_topology_find(topology), text, &s, &err), &err);
    assert_int_equal(s.order[0], first);
    assert_int_equal(s.order[1], second);
    assert_int_equal(s.order[2], third);
}

CLAIM(an_order_names_each_axis_once)
{
    assert_order("Mesh2D", "xy", 0, 1, 2);
    assert_order("Mesh2D", "yx", 1, 0, 2);
    assert_order("Torus3D", "zyx", 2, 1, 0);
    assert_order("Mesh3D", "yzx", 1, 2, 0);
}

CLAIM(without_an_order_it_is_x_y_z)
{
    assert_order("Mesh2D", "", 0, 1, 2);
    assert_order("Mesh3D", "", 0, 1, 2);
    assert_order("Ring", "", 0, 1, 2);
}

CLAIM(a_finished_shape_has_an_order)
{
    net_shape plain = given(16, 0, 0, 0), turned = given(16, 0, 0, 0);
    const net_topology *t = net_topology_find("Mesh2D");
    dse_error err = DSE_ERROR_INIT;

    assert_ok(net_shape_finish(t, &plain, &err), &err);
    assert_route("Mesh2D", &plain, 1, 7, "1 2 3 7");
    assert_ok(net_shape_route(t, "yx", &turned, &err), &err);
    assert_ok(net_shape_finish(t, &turned, &err), &err);
    assert_route("Mesh2D", &turned, 1, 7, "1 5 6 7");
}

static void refuse_order(const char *topology, const char *order, const char *message)
{
    net_shape s = given(64, 0, 0, 0);
    dse_error err = DSE_ERROR_INIT;

    assert_ok(net_shape_finish(net_topology_find(topology), &s, &err), &err);
    assert_failure(net_shape_route(net_topology_find(topology), order, &s, &err), &err, DSE_E_CONFIG, "",
                   message);
    for (uint8_t i = 0; i < NET_MAX_AXES; i++) /* as it was */
        assert_int_equal(s.order[i], i);
}

CLAIM(any_other_order_is_refused)
{
    static const char *const wrong_2[] = {"x", "xx", "xz", "xyz", "XY", "zx", "y x"};
    static const char *const wrong_3[] = {"xy", "xyx", "xyzz", "abc", "zzz"};
    char message[200];

    for (size_t i = 0; i < sizeof wrong_2 / sizeof wrong_2[0]; i++) {
        snprintf(message, sizeof message,
                 "routing '%s' of a Mesh2D; it must be 'xy' or these letters in another order", wrong_2[i]);
        refuse_order("Mesh2D", wrong_2[i], message);
    }
    for (size_t i = 0; i < sizeof wrong_3 / sizeof wrong_3[0]; i++) {
        snprintf(message, sizeof message,
                 "routing '%s' of a Torus3D; it must be 'xyz' or these letters in another order", wrong_3[i]);
        refuse_order("Torus3D", wrong_3[i], message);
    }
}

CLAIM(an_order_has_the_letters_of_axes_alone)
{
    dse_error err = DSE_ERROR_INIT;

    assert_ok(net_routing_check("yx", &err), &err);
    assert_ok(net_routing_check("zyx", &err), &err);
    assert_failure(net_routing_check("zx[]y", &err), &err, DSE_E_CONFIG, "",
                   "'zx[]y' is no order of axes; it must be 'xy', 'xyz', or these letters in another order");
}

CLAIM(axes_have_names_for_messages)
{
    assert_string_equal(net_axis_names(net_topology_find("Ring")), "");
    assert_string_equal(net_axis_names(net_topology_find("Torus2D")), "width and height");
    assert_string_equal(net_axis_names(net_topology_find("Mesh3D")), "width, height and depth");
}

CLAIM(a_topology_without_axes_takes_no_order)
{
    refuse_order("Ring", "x", "a Ring has no routing to choose; leave it out, or null");
    refuse_order("Hypercube", "xy", "a Hypercube has no routing to choose; leave it out, or null");
}

CLAIM(axes_are_called_as_in_cards)
{
    assert_string_equal(net_axis_name(0), "width");
    assert_string_equal(net_axis_name(1), "height");
    assert_string_equal(net_axis_name(2), "depth");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_count_alone_is_a_square_or_a_cube),
        cmocka_unit_test(extents_alone_make_the_count),
        cmocka_unit_test(extents_and_a_count_may_be_given_if_they_agree),
        cmocka_unit_test(a_topology_without_axes_is_one_line),
        cmocka_unit_test(fewer_than_two_npus_are_refused),
        cmocka_unit_test(a_count_that_is_no_square_cube_or_power_of_two_is_refused),
        cmocka_unit_test(sizes_that_do_not_agree_are_refused),
        cmocka_unit_test(an_extent_that_is_missing_follows_from_the_count),
        cmocka_unit_test(an_extent_that_is_missing_is_named),
        cmocka_unit_test(sizes_that_overflow_are_refused),
        cmocka_unit_test(an_order_names_each_axis_once),
        cmocka_unit_test(without_an_order_it_is_x_y_z),
        cmocka_unit_test(a_finished_shape_has_an_order),
        cmocka_unit_test(any_other_order_is_refused),
        cmocka_unit_test(an_order_has_the_letters_of_axes_alone),
        cmocka_unit_test(axes_have_names_for_messages),
        cmocka_unit_test(a_topology_without_axes_takes_no_order),
        cmocka_unit_test(axes_are_called_as_in_cards),
    };
    return RUN_TESTS(tests);
}
