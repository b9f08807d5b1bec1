#include "unit/unit.h"

#include "network/topology.h"

CLAIM(topologies_are_found_by_the_reference_s_names)
{
    assert_string_equal(net_topology_find("Ring")->name, "Ring");
    assert_string_equal(net_topology_find("Switch")->name, "Switch");
    assert_string_equal(net_topology_find("FullyConnected")->name, "FullyConnected");
    assert_null(net_topology_find("ring")); /* case matters, as there */
    assert_null(net_topology_find(""));
}

CLAIM(the_list_is_complete_and_in_order)
{
    size_t n;
    const net_topology *const *rows = net_topologies(&n);

    assert_int_equal(n, 8);
    assert_string_equal(rows[0]->name, "Ring");
    assert_string_equal(rows[1]->name, "Switch");
    assert_string_equal(rows[2]->name, "FullyConnected");
    assert_string_equal(rows[3]->name, "Mesh2D");
    for (size_t i = 0; i < n; i++) {
        assert_ptr_equal(net_topology_find(rows[i]->name), rows[i]);
        assert_true(*rows[i]->summary != '\0');
    }
}

CLAIM(an_unknown_name_is_refused_with_the_known_ones)
{
    dse_error err = DSE_ERROR_INIT;

    assert_ok(net_topology_check("Switch", &err), &err);
    assert_failure(net_topology_check("Dragonfly", &err), &err, DSE_E_CONFIG, "",
                   "unknown topology 'Dragonfly'; known: Ring, Switch, FullyConnected, Mesh2D, Torus2D, Mesh3D, Torus3D, "
                   "Hypercube");
    err = (dse_error)DSE_ERROR_INIT;
    assert_failure(net_topology_check("switch", &err), &err, DSE_E_CONFIG, "",
                   "unknown topology 'switch'; did you mean 'Switch'? known: Ring, Switch, FullyConnected, Mesh2D, "
                   "Torus2D, Mesh3D, Torus3D, Hypercube");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(topologies_are_found_by_the_reference_s_names),
        cmocka_unit_test(the_list_is_complete_and_in_order),
        cmocka_unit_test(an_unknown_name_is_refused_with_the_known_ones),
    };
    return RUN_TESTS(tests);
}
