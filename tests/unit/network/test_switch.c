#include "unit/unit.h"

#include "network/graph.h"

/* Up to the switch and down again. */
CLAIM(every_message_over_a_switch_takes_two_links)
{
    const net_topology *t = net_topology_find("Switch");

    assert_int_equal(t->hops(&(net_shape){.n = 2}, 0, 1), 2);
    assert_int_equal(t->hops(&(net_shape){.n = 2}, 1, 0), 2);
    assert_int_equal(t->hops(&(net_shape){.n = 64}, 0, 63), 2);
    assert_int_equal(t->hops(&(net_shape){.n = 64}, 17, 18), 2);
}

/* [4, 2]: 8 NPUs; dimension 0 has a switch for each place along dimension 1 (2), dimension 1 one for each along dimension
 * 0 (4). Devices: 0..7 NPUs, 8 and 9 sw0.0 and sw0.1, 10..13 sw1.0 to sw1.3. */
CLAIM(a_switch_is_named_by_its_dimension_and_its_place_there)
{
    const net_topology *t = net_topology_find("Switch");
    net_network net = {.n_dims = 2,
                       .dim = {{.topology = t, .shape.n = 4, .gib_per_s = 1},
                               {.topology = t, .shape.n = 2, .gib_per_s = 1}}};
    static const struct {
        uint32_t device;
        const char *name;
    } expected[] = {{0, "0"}, {7, "7"}, {8, "sw0.0"}, {9, "sw0.1"}, {10, "sw1.0"}, {13, "sw1.3"}};
    dse_error err = DSE_ERROR_INIT;
    char name[NET_DEVICE_NAME];
    dse_arena arena;
    net_graph g;

    dse_arena_init(&arena);
    assert_ok(net_network_finish(&net, &err), &err);
    assert_ok(net_graph_init(&g, &net, &arena, &err), &err);
    assert_u64(g.n_devices, 14);
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        net_device_name(&g, expected[i].device, name, sizeof name);
        assert_string_equal(name, expected[i].name);
    }
    dse_arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_switch_is_named_by_its_dimension_and_its_place_there),
        cmocka_unit_test(every_message_over_a_switch_takes_two_links),
    };
    return RUN_TESTS(tests);
}
