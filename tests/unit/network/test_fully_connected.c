#include "unit/network/shape.h"

CLAIM(every_pair_has_a_link_of_its_own)
{
    const net_topology *t = net_topology_find("FullyConnected");

    assert_int_equal(t->hops(&(net_shape){.n = 2}, 0, 1), 1);
    assert_int_equal(t->hops(&(net_shape){.n = 64}, 63, 0), 1);
    assert_int_equal(t->hops(&(net_shape){.n = 64}, 17, 40), 1);
}

CLAIM(ports_count_the_other_npus)
{
    net_shape s = shape_line("FullyConnected", 4);

    assert_string_equal(shape_ports("FullyConnected", &s, 0), "1 2 3");
    assert_string_equal(shape_ports("FullyConnected", &s, 2), "0 1 3");
    assert_string_equal(shape_ports("FullyConnected", &s, 3), "0 1 2");
    assert_route("FullyConnected", &s, 3, 0, "3 0");
    assert_route("FullyConnected", &s, 0, 2, "0 2");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_pair_has_a_link_of_its_own),
        cmocka_unit_test(ports_count_the_other_npus),
    };
    return RUN_TESTS(tests);
}
