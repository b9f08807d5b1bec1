#include "cards/resize.h"

#include <inttypes.h>
#include <string.h>

static dse_status refuse_uneven(uint64_t npus, uint64_t part, dse_error *err)
{
    uint64_t below = npus - npus % part;

    return dse_fail(err, DSE_E_CONFIG,
                    "%" PRIu64 " NPUs do not fill whole parts of %" PRIu64 " of the machine; take %" PRIu64
                    " or %" PRIu64,
                    npus, part, below, below + part);
}

static dse_status refuse_cut(const net_dimension *d, uint32_t dim, uint64_t left, dse_error *err)
{
    char name[NET_DIMENSION_NAME];

    net_dimension_name(d, name, sizeof name);
    return dse_fail(
        err, DSE_E_CONFIG,
        "dimension %" PRIu32 ", %s, cannot be cut to %" PRIu64
        " NPUs: what is left has other links; take it whole, or describe the part in a card of its own",
        dim, name, left);
}

/* How many dimensions are left, and how many NPUs the last of them has. */
static dse_status find_part(const net_network *net, uint64_t npus, uint32_t *n_dims, uint64_t *last,
                            dse_error *err)
{
    uint64_t part = 1;

    if (npus < 2)
        return dse_fail(err, DSE_E_CONFIG, "a system has 2 NPUs at least, not %" PRIu64, npus);
    if (npus > net->n_npus)
        return dse_fail(err, DSE_E_CONFIG,
                        "%" PRIu64 " NPUs are more than the machine has: %" PRIu32
                        "; set network.npus_count if there are more of it",
                        npus, net->n_npus);
    for (uint32_t i = 0; i < net->n_dims; i++) {
        const net_dimension *d = &net->dim[i];
        uint64_t left = npus / part;

        *n_dims = i + 1;
        *last = left;
        if (left < d->shape.n && d->topology->n_axes)
            return refuse_cut(d, i, left, err);
        if (left <= d->shape.n)
            return DSE_OK;
        part *= d->shape.n;
        if (npus % part)
            return refuse_uneven(npus, part, err);
    }
    return DSE_OK; /* not reached: the machine has as many */
}

/* Lists of one entry a dimension keep those of the inner ones. */
static void keep(uint32_t *n, uint32_t n_dims)
{
    if (*n > n_dims)
        *n = n_dims;
}

/* The dimension that a list of one entry is for, in a card of several: the only one with axes that many
 * (network.c). */
static bool is_for_outer(const net_network *net, uint32_t axis, uint32_t n_dims)
{
    for (uint32_t i = 0; i < n_dims; i++)
        if (net->dim[i].topology->n_axes > axis)
            return false;
    return true;
}

/* Extents, and the order of axes: entries may be null, and one alone is for the only dimension that can have
 * it. */
static void keep_of_axis(uint32_t *n, const net_network *net, uint32_t axis, uint32_t n_dims)
{
    keep(n, is_for_outer(net, axis, n_dims) ? 0 : n_dims);
}

static void cut_lists(card_system *s, const net_network *net, uint32_t n_dims)
{
    keep(&s->topology.n, n_dims);
    keep(&s->npus_count.n, n_dims);
    keep(&s->bandwidth.n, n_dims);
    keep(&s->latency.n, n_dims);
#define KEEP(member) keep(&s->member.n, n_dims);
    CARD_REACHED(KEEP)
#undef KEEP
    keep_of_axis(&s->width.n, net, 0, n_dims);
    keep_of_axis(&s->height.n, net, 1, n_dims);
    keep_of_axis(&s->depth.n, net, 2, n_dims);
    keep_of_axis(&s->routing.n, net, 0, n_dims);
    for (int i = 0; i < SIM_N_COLLECTIVES; i++)
        keep(&s->collective[i].n, n_dims);
}

dse_status card_system_resize(const card_system *machine, uint64_t npus, card_system *out, dse_error *err)
{
    card_system s = *machine;
    dse_error why = DSE_ERROR_INIT;
    net_network net;
    uint32_t n_dims = 0;
    uint64_t last = 0;
    dse_status st = card_network_build(machine, NULL, &net, err);

    if (st != DSE_OK || (st = find_part(&net, npus, &n_dims, &last, err)) != DSE_OK)
        return st;
    cut_lists(&s, &net, n_dims);
    if (last < net.dim[n_dims - 1].shape.n)
        s.npus_count.v[n_dims - 1] = (int64_t)last;
    if (card_system_check(&s, NULL, &why) != DSE_OK)
        return dse_fail(err, DSE_E_CONFIG, "a part of %" PRIu64 " NPUs: %s", npus, why.text);
    *out = s;
    return DSE_OK;
}

uint64_t card_system_inner(const card_system *s)
{
    uint64_t inner = 1;

    for (uint32_t i = 0; i + 1 < s->npus_count.n; i++)
        inner *= (uint64_t)s->npus_count.v[i];
    return inner;
}

dse_status card_system_size(const card_system *machine, uint64_t npus, dse_arena *a, const char **out,
                            dse_error *err)
{
    const uint64_t inner = card_system_inner(machine);
    card_system part;
    dse_status st;

    /* Of a real machine; one without a device may be of any size. */
    if (machine->npus_count.n == 1 && *machine->device && npus > (uint64_t)machine->npus_count.v[0])
        return dse_fail(err, DSE_E_CONFIG,
                        "%" PRIu64 " NPUs are more than the %" PRId64
                        " that the card has, which says of no links beyond them; describe a machine of "
                        "several nodes: ccldse systems new --device %.*s --npus-per-node %" PRId64
                        " --link RATE --nodes N --nics N --nic RATE -o FILE",
                        npus, machine->npus_count.v[0], (int)strcspn(machine->device, "#"), machine->device,
                        machine->npus_count.v[0]);
    if (npus % inner == 0 && (npus / inner > 1 || inner == 1)) {
        *out = dse_arena_printf(a, "network.npus_count[%" PRIu32 "]=%" PRIu64, machine->npus_count.n - 1,
                                npus / inner);
        return DSE_OK;
    }
    if ((st = card_system_resize(machine, npus, &part, err)) == DSE_OK)
        *out = dse_arena_printf(a, "network.part=%" PRIu64, npus);
    return st;
}
