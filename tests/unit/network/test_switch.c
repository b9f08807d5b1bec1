#include "unit/unit.h"

#include "network/topology.h"

/* Up to the switch and down again. */
CLAIM(every_message_over_a_switch_takes_two_links)
{
    const net_topology *t = net_topology_find("Switch");

    assert_int_equal(t->hops(&(net_shape){.n = 2}, 0, 1), 2);
    assert_int_equal(t->hops(&(net_shape){.n = 2}, 1, 0), 2);
    assert_int_equal(t->hops(&(net_shape){.n = 64}, 0, 63), 2);
    assert_int_equal(t->hops(&(net_shape){.n = 64}, 17, 18), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_message_over_a_switch_takes_two_links),
    };
    return RUN_TESTS(tests);
}
