#include "unit/network/shape.h"

/* 5 = 101 and 14 = 1110 differ in 1011: bits 0, 1 and 3, the lowest first. */
CLAIM(the_lowest_bit_that_differs_is_corrected_first)
{
    net_shape s = shape_line("Hypercube", 16);

    assert_route("Hypercube", &s, 5, 14, "5 4 6 14");
    assert_route("Hypercube", &s, 14, 5, "14 15 13 5");
    assert_route("Hypercube", &s, 0, 15, "0 1 3 7 15");
    assert_route("Hypercube", &s, 8, 9, "8 9");
}

CLAIM(of_2_to_the_k_npus_each_has_k_links)
{
    for (uint32_t k = 1; k <= 8; k++) {
        net_shape s = shape_line("Hypercube", 1u << k);

        for (uint32_t npu = 0; npu < s.n; npu++)
            assert_int_equal(shape_degree("Hypercube", &s, npu), k);
    }
}

CLAIM(port_i_leads_to_the_npu_whose_bit_i_differs)
{
    net_shape s = shape_line("Hypercube", 8);

    assert_string_equal(shape_ports("Hypercube", &s, 0), "1 2 4");
    assert_string_equal(shape_ports("Hypercube", &s, 6), "7 4 2");
}

/* An axis of two per bit: the cube and the 2 x 2 x 2 mesh are the same. */
CLAIM(a_cube_is_the_mesh_of_2_by_2_by_2)
{
    const net_topology *cube = net_topology_find("Hypercube"), *mesh = net_topology_find("Mesh3D");
    net_shape line = shape_line("Hypercube", 8), box = shape_of("Mesh3D", 2, 2, 2, "");

    for (uint32_t src = 0; src < 8; src++) {
        for (uint32_t dst = 0; dst < 8; dst++) {
            uint32_t a[SHAPE_MAX_ROUTE], b[SHAPE_MAX_ROUTE], n;

            if (src == dst)
                continue;
            n = shape_route(cube, &line, src, dst, a);
            assert_int_equal(shape_route(mesh, &box, src, dst, b), n);
            assert_memory_equal(a, b, n * sizeof *a);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_lowest_bit_that_differs_is_corrected_first),
        cmocka_unit_test(of_2_to_the_k_npus_each_has_k_links),
        cmocka_unit_test(port_i_leads_to_the_npu_whose_bit_i_differs),
        cmocka_unit_test(a_cube_is_the_mesh_of_2_by_2_by_2),
    };
    return RUN_TESTS(tests);
}
