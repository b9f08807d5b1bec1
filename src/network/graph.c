#include "network/graph.h"

#include <inttypes.h>
#include <stdio.h>

#define MAX_SLOTS (1u << 26)

/* Instances of a dimension, each with its own links: one for every place in the other dimensions. */
static uint32_t n_instances(const net_graph *g, uint32_t dim)
{
    return g->net->n_npus / g->net->dim[dim].shape.n;
}

/* Instance k of a dimension has the NPUs first + i * stride. */
static uint32_t instance_of(const net_dimension *d, uint32_t npu)
{
    return npu / (d->stride * d->shape.n) * d->stride + npu % d->stride;
}

static uint32_t first_npu(const net_dimension *d, uint32_t instance)
{
    return instance / d->stride * (d->stride * d->shape.n) + instance % d->stride;
}

/* ---- construction -------------------------------------------------------------------------- */

static void fill_npu(net_graph *g, uint32_t npu, uint32_t dim)
{
    const net_dimension *d = &g->net->dim[dim];
    uint32_t place = net_place(d, npu), n = d->topology->n_ports(&d->shape);
    net_link *link = &g->link[npu * g->npu_ports + g->first_port[dim]];

    for (uint32_t port = 0; port < n; port++) {
        uint32_t to = d->topology->neighbour(&d->shape, place, port);

        if (to != DSE_NONE) /* the id after the last NPU is the switch */
            to = to < d->shape.n ? npu - place * d->stride + to * d->stride
                                 : g->first_switch[dim] + instance_of(d, npu);
        link[port] = (net_link){npu, to, dim};
        g->n_links += to != DSE_NONE;
    }
}

static void fill_switches(net_graph *g, uint32_t dim)
{
    const net_dimension *d = &g->net->dim[dim];

    for (uint32_t k = 0; d->topology->has_switch && k < n_instances(g, dim); k++) {
        uint32_t device = g->first_switch[dim] + k, slot;

        net_graph_ports(g, device, &slot);
        for (uint32_t i = 0; i < d->shape.n; i++)
            g->link[slot + i] = (net_link){device, first_npu(d, k) + i * d->stride, dim};
        g->n_links += d->shape.n;
    }
}

dse_status net_graph_init(net_graph *g, const net_network *net, dse_arena *a, dse_error *err)
{
    uint64_t n_slots = 0, devices = net->n_npus;

    *g = (net_graph){.net = net};
    for (uint32_t i = 0; i < net->n_dims; i++) {
        const net_dimension *d = &net->dim[i];

        g->first_port[i] = g->npu_ports;
        g->npu_ports += d->topology->n_ports(&d->shape);
        g->first_switch[i] = (uint32_t)devices;
        if (d->topology->has_switch) {
            devices += n_instances(g, i);
            n_slots += net->n_npus; /* a switch has a link to each of its NPUs */
        }
    }
    n_slots += (uint64_t)net->n_npus * g->npu_ports;
    if (n_slots > MAX_SLOTS)
        return dse_fail(err, DSE_E_RANGE,
                        "the network has %" PRIu64 " ports; at most %u can be simulated one by one", n_slots,
                        MAX_SLOTS);
    g->n_devices = (uint32_t)devices;
    g->n_slots = (uint32_t)n_slots;
    g->link = DSE_ARENA_NEW(a, net_link, g->n_slots);
    for (uint32_t dim = 0; dim < net->n_dims; dim++) {
        for (uint32_t npu = 0; npu < net->n_npus; npu++)
            fill_npu(g, npu, dim);
        fill_switches(g, dim);
    }
    return DSE_OK;
}

/* ---- queries ------------------------------------------------------------------------------- */

uint32_t net_graph_switch_dim(const net_graph *g, uint32_t device)
{
    uint32_t dim = 0;

    while (!g->net->dim[dim].topology->has_switch || device >= g->first_switch[dim] + n_instances(g, dim))
        dim++;
    return dim;
}

void net_device_name(const net_graph *g, uint32_t device, char *out, size_t n)
{
    snprintf(out, n, "%s%" PRIu32, device < g->net->n_npus ? "" : "switch ", device);
}

uint32_t net_graph_ports(const net_graph *g, uint32_t device, uint32_t *first)
{
    uint32_t dim, slot = g->net->n_npus * g->npu_ports;

    if (device < g->net->n_npus) {
        *first = device * g->npu_ports;
        return g->npu_ports;
    }
    dim = net_graph_switch_dim(g, device);
    for (uint32_t i = 0; i < dim; i++)
        slot += g->net->dim[i].topology->has_switch ? g->net->n_npus : 0;
    *first = slot + (device - g->first_switch[dim]) * g->net->dim[dim].shape.n;
    return g->net->dim[dim].shape.n;
}

uint32_t net_graph_next(const net_graph *g, uint32_t device, uint32_t dst)
{
    uint32_t n;

    return net_graph_leg(g, device, dst, &n);
}

uint32_t net_graph_leg(const net_graph *g, uint32_t device, uint32_t dst, uint32_t *n)
{
    const net_network *net = g->net;
    uint32_t slot, port;

    *n = 1;
    if (device >= net->n_npus) {
        net_graph_ports(g, device, &slot);
        return slot + net_place(&net->dim[net_graph_switch_dim(g, device)], dst);
    }
    for (uint32_t i = 0; i < net->n_dims; i++) {
        const net_dimension *d = &net->dim[i];
        bool alone = net->n_dims == 1; /* then a place is an id, and needs no division */
        uint32_t from = alone ? device : net_place(d, device), to = alone ? dst : net_place(d, dst);

        if (from == to)
            continue;
        port = d->topology->port(&d->shape, from, to);
        *n = d->topology->leg(&d->shape, port, from, to);
        return device * g->npu_ports + g->first_port[i] + port;
    }
    return DSE_NONE;
}

uint32_t net_graph_hops(const net_graph *g, uint32_t src, uint32_t dst)
{
    uint32_t hops = 0;

    for (uint32_t at = src; at != dst; hops++)
        at = g->link[net_graph_next(g, at, dst)].to;
    return hops;
}
