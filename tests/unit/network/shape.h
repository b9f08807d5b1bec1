/* Shapes of one dimension, and the ways of messages over them as text: "1 2 3 7". */
#ifndef UNIT_NETWORK_SHAPE_H
#define UNIT_NETWORK_SHAPE_H

#include "network/topology.h"
#include "unit/unit.h"

#include <inttypes.h>

#define SHAPE_MAX_ROUTE 64

/* a is the number of NPUs of a topology without axes; else a, b and c are width, height and depth, as far as the
 * topology has them. `order` as in cards: "yx", or "". */
static inline net_shape shape_of(const char *topology, uint32_t a, uint32_t b, uint32_t c, const char *order)
{
    const net_topology *t = net_topology_find(topology);
    const uint32_t extent[NET_MAX_AXES] = {a, b, c};
    dse_error err = DSE_ERROR_INIT;
    net_shape s = {.n = t->n_axes ? 0 : a};

    for (uint32_t i = 0; i < t->n_axes; i++)
        s.extent[i] = extent[i];
    assert_ok(net_shape_finish(t, &s, &err), &err);
    assert_ok(net_shape_route(t, order, &s, &err), &err);
    return s;
}

/* A row of n NPUs, of a topology that has n alone. */
static inline net_shape shape_line(const char *topology, uint32_t n)
{
    return shape_of(topology, n, 1, 1, "");
}

/* What a message passes from src to dst, both included; local ids, the switch is n. Yields how many. */
static inline uint32_t shape_route(const net_topology *t, const net_shape *s, uint32_t src, uint32_t dst,
                                   uint32_t at[SHAPE_MAX_ROUTE])
{
    uint32_t n = 1;

    at[0] = src;
    for (; at[n - 1] != dst; n++) {
        assert_true(n < SHAPE_MAX_ROUTE);
        if (at[n - 1] == s->n) { /* the switch has a link to each NPU */
            at[n] = dst;
            continue;
        }
        at[n] = t->neighbour(s, at[n - 1], t->port(s, at[n - 1], dst));
        assert_true(at[n] < s->n || (t->has_switch && at[n] == s->n));
    }
    return n;
}

/* Between all pairs of NPUs, both shapes have the same routes. */
static inline void shape_same_routes(const char *topology_a, const net_shape *a, const char *topology_b,
                                     const net_shape *b)
{
    const net_topology *t = net_topology_find(topology_a), *u = net_topology_find(topology_b);

    assert_int_equal(a->n, b->n);
    for (uint32_t i = 0; i < a->n * a->n; i++) {
        uint32_t src = i / a->n, dst = i % a->n, p[SHAPE_MAX_ROUTE], q[SHAPE_MAX_ROUTE], n;

        if (src == dst)
            continue;
        n = shape_route(t, a, src, dst, p);
        assert_int_equal(shape_route(u, b, src, dst, q), n);
        assert_memory_equal(p, q, n * sizeof *p);
    }
}

static inline const char *shape_text(const uint32_t *at, uint32_t n)
{
    static char text[SHAPE_MAX_ROUTE * 12];
    size_t len = 0;

    for (uint32_t i = 0; i < n; i++)
        len += (size_t)snprintf(text + len, sizeof text - len, "%s%" PRIu32, i ? " " : "", at[i]);
    return text;
}

static inline void shape_check_route(const char *topology, const net_shape *s, uint32_t src, uint32_t dst,
                                     const char *expected, const char *file, int line)
{
    const net_topology *t = net_topology_find(topology);
    uint32_t at[SHAPE_MAX_ROUTE], n = shape_route(t, s, src, dst, at);

    if (!strcmp(shape_text(at, n), expected) && t->hops(s, src, dst) == n - 1)
        return;
    print_error("from %u to %u: '%s' (%u hops), expected '%s'\n", src, dst, shape_text(at, n),
                t->hops(s, src, dst), expected);
    _fail(file, line);
}
/* The route passes these places and has as many hops as the topology says. */
#define assert_route(topology, shape, src, dst, expected)                                                    \
    shape_check_route((topology), (shape), (src), (dst), (expected), __FILE__, __LINE__)

/* Links that leave an NPU. */
static inline uint32_t shape_degree(const char *topology, const net_shape *s, uint32_t npu)
{
    const net_topology *t = net_topology_find(topology);
    uint32_t degree = 0;

    for (uint32_t port = 0; port < t->n_ports(s); port++)
        degree += t->neighbour(s, npu, port) != DSE_NONE;
    return degree;
}

/* Links of all NPUs. */
static inline uint32_t shape_links(const char *topology, const net_shape *s)
{
    uint32_t links = 0;

    for (uint32_t npu = 0; npu < s->n; npu++)
        links += shape_degree(topology, s, npu);
    return links;
}

/* What is behind the ports of an NPU in their order, "-" for nothing: "1 - 4 -". */
static inline const char *shape_ports(const char *topology, const net_shape *s, uint32_t npu)
{
    static char text[256];
    const net_topology *t = net_topology_find(topology);
    size_t len = 0;

    for (uint32_t port = 0; port < t->n_ports(s); port++) {
        uint32_t to = t->neighbour(s, npu, port);

        len += (size_t)snprintf(text + len, sizeof text - len, to == DSE_NONE ? "%s-" : "%s%" PRIu32,
                                port ? " " : "", to);
    }
    return text;
}

#endif
