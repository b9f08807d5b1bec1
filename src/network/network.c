#include "network/network.h"

#include <inttypes.h>

#define MAX_NPUS (1u << 24)

dse_status net_network_finish(net_network *net, dse_error *err)
{
    uint64_t npus = 1;

    for (uint32_t i = 0; i < net->n_dims; i++) {
        net_dimension *d = &net->dim[i];

        if (d->n < 2)
            return dse_fail(err, DSE_E_RANGE,
                            "dimension %" PRIu32 " has npus_count %" PRIu32 "; it must be larger than 1", i,
                            d->n);
        if (!(d->gib_per_s > 0))
            return dse_fail(err, DSE_E_RANGE, "dimension %" PRIu32 " has bandwidth %g; it must be positive",
                            i, d->gib_per_s);
        if (!(d->latency_ns >= 0))
            return dse_fail(err, DSE_E_RANGE, "dimension %" PRIu32 " has latency %g; it must not be negative",
                            i, d->latency_ns);
        d->stride = (uint32_t)npus;
        /* The reference's GB is 2^30 bytes here, and only here: memory bandwidth counts in 10^9. */
        d->bytes_per_ns = d->gib_per_s * 1073741824.0 / 1e9;
        npus *= d->n;
        if (npus > MAX_NPUS)
            return dse_fail(err, DSE_E_RANGE, "the network has more than %u NPUs", MAX_NPUS);
    }
    net->n_npus = (uint32_t)npus;
    return DSE_OK;
}

dse_time net_delay(const net_network *net, uint32_t src, uint32_t dst, uint64_t bytes)
{
    for (uint32_t i = 0; i < net->n_dims; i++) {
        const net_dimension *d = &net->dim[i];
        uint32_t a = src / d->stride % d->n, b = dst / d->stride % d->n;

        if (a != b) {
            double links_ns = (double)d->topology->hops(d->n, a, b) * d->latency_ns;
            return dse_ticks(links_ns + (double)bytes / d->bytes_per_ns);
        }
    }
    return 0;
}
