/* The table of topologies, and the routes of all that are not grids (those are in grid.c).
 *
 * Ring, Switch and FullyConnected follow the files of that name in both backends of the analytical reference,
 * which always builds a ring bidirectional. The others are not in the reference, but two (three) dimensions
 * of Ring have the links of a Torus2D (Torus3D). */
#include "network/topology.h"

#include "base/array.h"
#include "base/names.h"
#include "network/grid.h"

#include <string.h>

/* ---- constants: of any shape, and any two NPUs ----------------------------------------------- */

#define CONSTANT(name, value)                                                                                \
    static uint32_t name(const net_shape *s)                                                                 \
    {                                                                                                        \
        (void)s;                                                                                             \
        return value;                                                                                        \
    }
CONSTANT(one, 1)
CONSTANT(two, 2)
CONSTANT(four, 4)
CONSTANT(six, 6)

static uint32_t one_hop(const net_shape *s, uint32_t src, uint32_t dst)
{
    (void)s, (void)src, (void)dst;
    return 1;
}

/* Each link of a route has a port of its own. */
static uint32_t leg_of_one(const net_shape *s, uint32_t port, uint32_t npu, uint32_t dst)
{
    (void)s, (void)port, (void)npu, (void)dst;
    return 1;
}

static uint64_t half_of_n(const net_shape *s) { return s->n / 2; }

/* ---- Ring: the shorter way round, of two equal ones the way up ------------------------------- */

/* No division: this runs for every message. */
static uint32_t links_up(const net_shape *s, uint32_t from, uint32_t to)
{
    return to > from ? to - from : to + s->n - from;
}

static uint32_t ring_hops(const net_shape *s, uint32_t src, uint32_t dst)
{
    uint32_t up = links_up(s, src, dst);

    return up < s->n - up ? up : s->n - up;
}

/* Each of two NPUs has one port to the other, as on a torus of one axis. */
static uint32_t ring_port(const net_shape *s, uint32_t npu, uint32_t dst)
{
    uint32_t up = links_up(s, npu, dst);

    return s->n == 2 ? dst < npu : up > s->n - up;
}

static uint32_t ring_leg(const net_shape *s, uint32_t port, uint32_t npu, uint32_t dst)
{
    (void)port;
    return ring_hops(s, npu, dst);
}

static uint32_t ring_diameter(const net_shape *s) { return s->n / 2; }

/* A circle is cut in two places; two NPUs have one link. */
static uint64_t ring_bisection(const net_shape *s) { return s->n == 2 ? 1 : 2; }

/* ---- Switch: every NPU has one link to a central switch -------------------------------------- */

static uint32_t switch_hops(const net_shape *s, uint32_t src, uint32_t dst)
{
    (void)s, (void)src, (void)dst;
    return 2;
}

static uint32_t switch_neighbour(const net_shape *s, uint32_t npu, uint32_t port)
{
    (void)npu, (void)port;
    return s->n;
}

static uint32_t switch_port(const net_shape *s, uint32_t npu, uint32_t dst)
{
    (void)s, (void)npu, (void)dst;
    return 0;
}

/* ---- FullyConnected: ports count the other NPUs ---------------------------------------------- */

static uint32_t fully_connected_ports(const net_shape *s) { return s->n - 1; }

static uint32_t fully_connected_neighbour(const net_shape *s, uint32_t npu, uint32_t port)
{
    (void)s;
    return port + (port >= npu);
}

static uint32_t fully_connected_port(const net_shape *s, uint32_t npu, uint32_t dst)
{
    (void)s;
    return dst - (dst > npu);
}

/* Every NPU of one half is linked to every NPU of the other. */
static uint64_t fully_connected_bisection(const net_shape *s)
{
    return (uint64_t)(s->n / 2) * (s->n - s->n / 2);
}

/* ---- Hypercube: port i leads to the NPU whose id differs in bit i; e-cube routing ------------- */

static uint32_t bits_of_id(const net_shape *s) { return (uint32_t)__builtin_ctz(s->n); }

static uint32_t hypercube_hops(const net_shape *s, uint32_t src, uint32_t dst)
{
    (void)s;
    return (uint32_t)__builtin_popcount(src ^ dst);
}

static uint32_t hypercube_neighbour(const net_shape *s, uint32_t npu, uint32_t port)
{
    (void)s;
    return npu ^ (uint32_t)1 << port;
}

static uint32_t hypercube_port(const net_shape *s, uint32_t npu, uint32_t dst)
{
    (void)s;
    return (uint32_t)__builtin_ctz(npu ^ dst);
}

/* ---- the table ------------------------------------------------------------------------------- */

#define GRID                                                                                                 \
    .form = NET_FORM_GRID, .hops = net_grid_hops, .neighbour = net_grid_neighbour, .port = net_grid_port,    \
    .leg = net_grid_leg, .diameter = net_grid_diameter, .bisection = net_grid_bisection

/* In the order of help texts and error messages. */
static const net_topology rows[] = {
    {
        .name = "Ring",
        .summary = "a bidirectional ring; the shorter way round",
        .form = NET_FORM_CIRCLE,
        .in_reference = true,
        .cyclic = true,
        .wraps = true,
        .hops = ring_hops,
        .n_ports = two,
        .neighbour = net_grid_neighbour,
        .port = ring_port,
        .leg = ring_leg,
        .diameter = ring_diameter,
        .bisection = ring_bisection,
    },
    {
        .name = "Switch",
        .summary = "every NPU linked to one switch; two hops",
        .form = NET_FORM_BAR,
        .has_switch = true,
        .in_reference = true,
        .cyclic = true,
        .hops = switch_hops,
        .n_ports = one,
        .neighbour = switch_neighbour,
        .port = switch_port,
        .leg = leg_of_one,
        .diameter = two,
        .bisection = half_of_n, /* the links of the smaller half; inside the switch, messages are free */
    },
    {
        .name = "FullyConnected",
        .summary = "a link between every two NPUs; one hop",
        .form = NET_FORM_CIRCLE,
        .in_reference = true,
        .cyclic = true,
        .hops = one_hop,
        .n_ports = fully_connected_ports,
        .neighbour = fully_connected_neighbour,
        .port = fully_connected_port,
        .leg = leg_of_one,
        .diameter = one,
        .bisection = fully_connected_bisection,
    },
    {
        .name = "Mesh2D",
        .summary = "width x height NPUs, linked to their neighbours; along x, then along y",
        .n_axes = 2,
        .n_ports = four,
        GRID,
    },
    {
        .name = "Torus2D",
        .summary = "a Mesh2D whose rows and columns are rings",
        .n_axes = 2,
        .n_ports = four,
        .wraps = true,
        GRID,
    },
    {
        .name = "Mesh3D",
        .summary = "width x height x depth NPUs, linked to their neighbours; along x, y, then z",
        .n_axes = 3,
        .n_ports = six,
        GRID,
    },
    {
        .name = "Torus3D",
        .summary = "a Mesh3D whose rows, columns and pillars are rings",
        .n_axes = 3,
        .n_ports = six,
        .wraps = true,
        GRID,
    },
    {
        .name = "Hypercube",
        .summary = "2^k NPUs, linked to those whose ids differ in one bit; the lowest bit first",
        .form = NET_FORM_CUBES,
        .power_of_two = true,
        .hops = hypercube_hops,
        .n_ports = bits_of_id,
        .neighbour = hypercube_neighbour,
        .port = hypercube_port,
        .leg = leg_of_one,
        .diameter = bits_of_id,
        .bisection =
            half_of_n, /* the links along one bit: Harper 1964, Optimal assignments of numbers to vertices */
    },
};
#define N_ROWS DSE_COUNT(rows)

const net_topology *net_topologies(size_t *n)
{
    *n = N_ROWS;
    return rows;
}

const net_topology *net_topology_find(const char *name)
{
    for (size_t i = 0; i < N_ROWS; i++)
        if (!strcmp(rows[i].name, name))
            return &rows[i];
    return NULL;
}

dse_status net_topology_check(const char *name, dse_error *err)
{
    const char *known[N_ROWS];

    if (net_topology_find(name))
        return DSE_OK;
    for (size_t i = 0; i < N_ROWS; i++)
        known[i] = rows[i].name;
    return dse_fail_unknown(err, DSE_E_CONFIG, "", "topology", name, known, N_ROWS);
}
