/* What the released reference cannot simulate; each was seen with its programs. */
#include "network/network.h"
#include "unit/unit.h"

static dse_error err;

static net_network network(const char *topology, uint32_t n, uint32_t n_dims)
{
    net_network net = {.n_dims = n_dims};

    for (uint32_t i = 0; i < n_dims; i++)
        net.dim[i] = (net_dimension){
            .topology = net_topology_find(topology), .shape = {.n = n}, .gib_per_s = 50, .latency_ns = 500};
    err = (dse_error)DSE_ERROR_INIT;
    assert_ok(net_network_finish(&net, &err), &err);
    return net;
}

static void check(const net_network *net, net_limit limit, const char *why)
{
    err = (dse_error)DSE_ERROR_INIT;
    for (net_limit i = 0; i < NET_N_LIMITS; i++)
        if (i != limit)
            assert_ok(net_released_limit(net, i, &err), &err);
    if (limit == NET_N_LIMITS) {
        assert_ok(net_released_check(net, &err), &err);
        return;
    }
    assert_failure(net_released_limit(net, limit, &err), &err, DSE_E_RANGE, "", why);
    err = (dse_error)DSE_ERROR_INIT;
    assert_failure(net_released_check(net, &err), &err, DSE_E_RANGE, "", why);
}

CLAIM(three_topologies_in_one_dimension_work_in_both_models)
{
    static const char *const names[] = {"Ring", "Switch", "FullyConnected"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        net_network net = network(names[i], 4, 1);

        check(&net, NET_N_LIMITS, NULL);
        net.congestion = true;
        check(&net, NET_N_LIMITS, NULL);
    }
}

CLAIM(other_topologies_are_ours_in_both_models)
{
    size_t n;
    const net_topology *rows = net_topologies(&n);

    for (size_t i = 0; i < n; i++) {
        net_network net;
        char why[160];

        if (rows[i].in_reference)
            continue;
        net = network(rows[i].name, 64, 1);
        snprintf(why, sizeof why, "ASTRA-sim has no %s, and stops; it has Ring, Switch and FullyConnected",
                 rows[i].name);
        check(&net, NET_LIMIT_TOPOLOGY, why);
        net.congestion = true;
        check(&net, NET_LIMIT_TOPOLOGY, why);
    }
}

CLAIM(several_dimensions_work_without_congestion_alone)
{
    net_network net = network("Ring", 2, 2);

    check(&net, NET_N_LIMITS, NULL);
    net.congestion = true;
    check(&net, NET_LIMIT_DIMENSIONS,
          "with congestion ASTRA-sim takes no network of 2 dimensions ('only support 1-dim topology')");
}

CLAIM(full_charges_differ_where_there_are_several_dimensions_and_no_congestion)
{
    net_network net = network("Ring", 4, 2);

    net.full_multi_hop = true;
    check(&net, NET_LIMIT_MULTI_HOP,
          "ASTRA-sim has no multi_hop 'full': it charges a message for the lowest dimension alone, and its "
          "figures "
          "differ");
    net = network("Ring", 4, 1);
    net.full_multi_hop = true;
    check(&net, NET_N_LIMITS, NULL);
    net.congestion = true;
    check(&net, NET_N_LIMITS, NULL);
}

CLAIM(a_lone_ring_of_two_fails_with_congestion_alone)
{
    net_network net = network("Ring", 2, 1);

    check(&net, NET_N_LIMITS, NULL);
    net.congestion = true;
    check(&net, NET_LIMIT_RING_OF_TWO,
          "with congestion ASTRA-sim fails on a Ring of two NPUs; FullyConnected has the same links");
    net = network("Switch", 2, 1);
    net.congestion = true;
    check(&net, NET_N_LIMITS, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(three_topologies_in_one_dimension_work_in_both_models),
        cmocka_unit_test(other_topologies_are_ours_in_both_models),
        cmocka_unit_test(several_dimensions_work_without_congestion_alone),
        cmocka_unit_test(full_charges_differ_where_there_are_several_dimensions_and_no_congestion),
        cmocka_unit_test(a_lone_ring_of_two_fails_with_congestion_alone),
    };
    return RUN_TESTS(tests);
}
