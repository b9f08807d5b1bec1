#include "network/network.h"

#include <inttypes.h>
#include <stdio.h>

#define MAX_NPUS (1u << 24)

dse_status net_network_finish(net_network *net, dse_error *err)
{
    uint64_t npus = 1;

    for (uint32_t i = 0; i < net->n_dims; i++) {
        net_dimension *d = &net->dim[i];
        dse_error why = DSE_ERROR_INIT;

        if (net_shape_finish(d->topology, &d->shape, &why) != DSE_OK)
            return dse_fail(err, why.status, "dimension %" PRIu32 ": %s", i, why.text);
        if (!(d->gib_per_s > 0))
            return dse_fail(err, DSE_E_RANGE, "dimension %" PRIu32 " has bandwidth %g; it must be positive",
                            i, d->gib_per_s);
        if (!(d->latency_ns >= 0))
            return dse_fail(err, DSE_E_RANGE, "dimension %" PRIu32 " has latency %g; it must not be negative",
                            i, d->latency_ns);
        d->stride = (uint32_t)npus;
        /* The reference's GB is 2^30 bytes here, and only here: memory bandwidth counts in 10^9. */
        d->bytes_per_ns = d->gib_per_s * 1073741824.0 / 1e9;
        npus *= d->shape.n;
        if (npus > MAX_NPUS)
            return dse_fail(err, DSE_E_RANGE, "the network has more than %u NPUs", MAX_NPUS);
    }
    net->n_npus = (uint32_t)npus;
    return DSE_OK;
}

void net_dimension_name(const net_dimension *d, char *out, size_t n)
{
    const net_shape *s = &d->shape; /* without axes, a line of n */
    size_t len = (size_t)snprintf(out, n, "%s %" PRIu32, d->topology->name, s->extent[0]);

    for (uint32_t i = 1; i < d->topology->n_axes && len < n; i++)
        len += (size_t)snprintf(out + len, n - len, "x%" PRIu32, s->extent[i]);
}

bool net_differ_in_several(const net_network *net, uint32_t a, uint32_t b)
{
    for (uint32_t i = 0; i + 1 < net->n_dims; i++) { /* above the last there is nothing to differ in */
        uint32_t n = net->dim[i].shape.n, a_above = a / n, b_above = b / n;

        if (a - a_above * n != b - b_above * n)
            return a_above != b_above;
        a = a_above;
        b = b_above;
    }
    return false;
}

#define PATH_BITS 6 /* for the links in each of NET_MAX_DIMS dimensions, where all charge */
_Static_assert(PATH_BITS *NET_MAX_DIMS <= 64, "a path's class has the links of all dimensions");
_Static_assert(NET_MAX_DIMS <= 16, "a dimension has four bits of a path's class");

bool net_path_class(const net_network *net, uint32_t src, uint32_t dst, uint64_t *out)
{
    uint64_t class = 0;

    for (uint32_t i = 0; i < net->n_dims; i++) {
        const net_dimension *d = &net->dim[i];
        uint32_t a = net_place(d, src), b = net_place(d, dst), hops;

        if (a == b)
            continue;
        hops = d->topology->hops(&d->shape, a, b);
        if (!net->full_multi_hop) {
            *out = (uint64_t)hops << 4 | i;
            return true;
        }
        if (hops >> PATH_BITS)
            return false;
        class |= (uint64_t)hops << (PATH_BITS * i);
    }
    *out = class;
    return true;
}

dse_time net_delay(const net_network *net, uint32_t src, uint32_t dst, uint64_t bytes)
{
    dse_time delay = 0;

    for (uint32_t i = 0; i < net->n_dims; i++) {
        const net_dimension *d = &net->dim[i];
        uint32_t a = net_place(d, src), b = net_place(d, dst);

        if (a != b) {
            double links_ns = (double)d->topology->hops(&d->shape, a, b) * d->latency_ns;

            delay += dse_ticks(links_ns + (double)bytes / d->bytes_per_ns);
            if (!net->full_multi_hop)
                break;
        }
    }
    return delay;
}
