#include "unit/network/shape.h"

/* Up to the switch and down again. */
CLAIM(every_message_over_a_switch_takes_two_links)
{
    const net_topology *t = net_topology_find("Switch");

    assert_int_equal(t->hops(&(net_shape){.n = 2}, 0, 1), 2);
    assert_int_equal(t->hops(&(net_shape){.n = 2}, 1, 0), 2);
    assert_int_equal(t->hops(&(net_shape){.n = 64}, 0, 63), 2);
    assert_int_equal(t->hops(&(net_shape){.n = 64}, 17, 18), 2);
}

/* Its local id is one behind the last NPU. */
CLAIM(the_only_neighbour_is_the_switch)
{
    net_shape s = shape_line("Switch", 6);

    assert_true(net_topology_find("Switch")->has_switch);
    for (uint32_t npu = 0; npu < 6; npu++)
        assert_string_equal(shape_ports("Switch", &s, npu), "6");
    assert_route("Switch", &s, 0, 5, "0 6 5");
    assert_route("Switch", &s, 3, 2, "3 6 2");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_message_over_a_switch_takes_two_links),
        cmocka_unit_test(the_only_neighbour_is_the_switch),
    };
    return RUN_TESTS(tests);
}
