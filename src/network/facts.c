#include "network/facts.h"

#include "network/cut.h"

uint32_t net_degree(const net_graph *g, uint32_t device)
{
    uint32_t first, n = net_graph_ports(g, device, &first), links = 0;

    for (uint32_t i = 0; i < n; i++)
        links += g->link[first + i].to != DSE_NONE;
    return links;
}

static net_range range_of(const net_graph *g, uint32_t first, uint32_t end)
{
    net_range r = {first < end ? UINT32_MAX : 0, 0};

    for (uint32_t device = first; device < end; device++) {
        uint32_t links = net_degree(g, device);

        r.least = links < r.least ? links : r.least;
        r.most = links > r.most ? links : r.most;
    }
    return r;
}

/* An odd axis cannot be cut in the middle. A topology without axes is one line. */
static bool has_odd_axis(const net_shape *s)
{
    for (uint32_t axis = 0; axis < NET_MAX_AXES; axis++)
        if (s->extent[axis] > 1 && s->extent[axis] % 2)
            return true;
    return false;
}

void net_facts_of(const net_graph *g, net_facts *out)
{
    const net_network *net = g->net;
    net_cut_line lines[NET_MAX_DIMS];
    uint32_t n_links[NET_MAX_DIMS] = {0};
    net_cut cut;

    *out = (net_facts){.n_switches = g->n_devices - net->n_npus,
                       .npu_degree = range_of(g, 0, net->n_npus),
                       .switch_degree = range_of(g, net->n_npus, g->n_devices)};
    for (uint32_t i = 0; i < net->n_dims; i++) {
        const net_dimension *d = &net->dim[i];

        /* A route corrects one dimension after the other, so the longest is as long as the longest of
         * each. */
        out->diameter += d->topology->diameter(&d->shape);
        out->bisection_is_bound |= net->n_dims > 1 && has_odd_axis(&d->shape);
        lines[i] = (net_cut_line){d->shape.n, d->topology->bisection(&d->shape), d->gib_per_s};
    }
    cut = net_cut_of(lines, net->n_dims);
    out->bisection_links = cut.links;
    out->bisection_gib_per_s = cut.total;
    for (uint32_t slot = 0; slot < g->n_slots; slot++)
        if (g->link[slot].to != DSE_NONE)
            n_links[g->link[slot].dim]++;
    for (uint32_t i = 0; i < net->n_dims; i++)
        out->total_gib_per_s += n_links[i] * net->dim[i].gib_per_s;
}
