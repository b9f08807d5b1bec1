#include "unit/unit.h"

#include "network/topology.h"

CLAIM(every_pair_has_a_link_of_its_own)
{
    const net_topology *t = net_topology_find("FullyConnected");

    assert_int_equal(t->hops(&(net_shape){.n = 2}, 0, 1), 1);
    assert_int_equal(t->hops(&(net_shape){.n = 64}, 63, 0), 1);
    assert_int_equal(t->hops(&(net_shape){.n = 64}, 17, 40), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_pair_has_a_link_of_its_own),
    };
    return RUN_TESTS(tests);
}
