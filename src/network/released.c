/* Networks that can be simulated here, but not with the released reference (astra-network-analytical,
 * 599a047). Source: NetworkParser.cpp, Helper.cpp and Device.cpp of its congestion-aware backend,
 * MultiDimTopology.cpp of the other. */
#include "network/network.h"

#include <inttypes.h>
#include <string.h>

dse_status net_released_topology(const net_topology *t, dse_error *err)
{
    if (t->in_reference)
        return DSE_OK;
    return dse_fail(err, DSE_E_RANGE,
                    "ASTRA-sim has no %s, and stops; it has Ring, Switch and FullyConnected", t->name);
}

dse_status net_released_limit(const net_network *net, net_limit limit, dse_error *err)
{
    const bool several = net->n_dims > 1;
    dse_status st = DSE_OK;

    switch (limit) {
    case NET_LIMIT_MULTI_HOP:
        if (!net->congestion && net->full_multi_hop && several)
            st = dse_fail(
                err, DSE_E_RANGE,
                "ASTRA-sim has no multi_hop 'full': it charges a message for the lowest dimension alone, "
                "and its figures differ");
        break;
    case NET_LIMIT_DIMENSIONS:
        if (net->congestion && several)
            st = dse_fail(err, DSE_E_RANGE,
                          "with congestion ASTRA-sim takes no network of %" PRIu32
                          " dimensions ('only support 1-dim topology')",
                          net->n_dims);
        break;
    case NET_LIMIT_RING_OF_TWO:
        if (net->congestion && !several && !strcmp(net->dim[0].topology->name, "Ring") &&
            net->dim[0].shape.n == 2)
            st = dse_fail(
                err, DSE_E_RANGE,
                "with congestion ASTRA-sim fails on a Ring of two NPUs; FullyConnected has the same links");
        break;
    default:
        for (uint32_t i = 0; st == DSE_OK && i < net->n_dims; i++)
            st = net_released_topology(net->dim[i].topology, err);
    }
    return st;
}

dse_status net_released_check(const net_network *net, dse_error *err)
{
    dse_status st = DSE_OK;

    for (net_limit i = 0; st == DSE_OK && i < NET_N_LIMITS; i++)
        st = net_released_limit(net, i, err);
    return st;
}
