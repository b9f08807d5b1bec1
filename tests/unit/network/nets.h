/* Networks in a line of text, for tests: "Mesh2D 4x3, Switch 2". */
#ifndef UNIT_NETWORK_NETS_H
#define UNIT_NETWORK_NETS_H

#include "network/graph.h"
#include "unit/unit.h"

#include <inttypes.h>

/* Bandwidths 50, 25, 12.5, ... GiB/s and latencies 500, 510, 520, ... ns, so that dimensions can be told apart. */
static inline net_network nets_make(const char *text)
{
    net_network net = {0};
    dse_error err = DSE_ERROR_INIT;

    while (*text) {
        net_dimension *d = &net.dim[net.n_dims];
        char name[32];
        int n, used = 0;

        n = sscanf(text, "%31s %" SCNu32 "x%" SCNu32 "x%" SCNu32, name, &d->shape.extent[0],
                   &d->shape.extent[1], &d->shape.extent[2]);
        assert_true(n >= 2);
        d->topology = net_topology_find(name);
        assert_non_null(d->topology);
        if (!d->topology->n_axes) {
            d->shape.n = d->shape.extent[0];
            d->shape.extent[0] = 0;
        }
        assert_ok(net_shape_route(d->topology, "", &d->shape, &err), &err);
        d->gib_per_s = 50.0 / (1 << net.n_dims);
        d->latency_ns = 500 + 10.0 * net.n_dims++;
        used = (int)strcspn(text, ",");
        text += used + (text[used] == ',' ? 2 : 0);
    }
    assert_ok(net_network_finish(&net, &err), &err);
    return net;
}

#endif
