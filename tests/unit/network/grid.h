/* Properties of the routes over random grids, for the tests of meshes and tori. */
#ifndef UNIT_NETWORK_GRID_H
#define UNIT_NETWORK_GRID_H

#include "unit/network/shape.h"

static const char *const grid_orders_2[] = {"xy", "yx"};
static const char *const grid_orders_3[] = {"xyz", "xzy", "yxz", "yzx", "zxy", "zyx"};

static inline void grid_place(const net_shape *s, uint32_t npu, uint32_t place[NET_MAX_AXES])
{
    for (uint32_t axis = 0; axis < NET_MAX_AXES; axis++) {
        place[axis] = npu % s->extent[axis];
        npu /= s->extent[axis];
    }
}

/* The axis along which two NPUs are neighbours; DSE_NONE: they are not. */
static inline uint32_t grid_step(const net_shape *s, bool torus, uint32_t from, uint32_t to)
{
    uint32_t a[NET_MAX_AXES], b[NET_MAX_AXES], found = DSE_NONE;

    grid_place(s, from, a);
    grid_place(s, to, b);
    for (uint32_t axis = 0; axis < NET_MAX_AXES; axis++) {
        uint32_t n = s->extent[axis];
        bool next = a[axis] + 1 == b[axis] || b[axis] + 1 == a[axis];
        bool around = torus && ((a[axis] + 1) % n == b[axis] || (b[axis] + 1) % n == a[axis]);

        if (a[axis] == b[axis])
            continue;
        if (found != DSE_NONE || !(next || around))
            return DSE_NONE;
        found = axis;
    }
    return found;
}

/* The least number of steps from one NPU to another. */
static inline uint32_t grid_distance(const net_shape *s, bool torus, uint32_t from, uint32_t to)
{
    uint32_t a[NET_MAX_AXES], b[NET_MAX_AXES], sum = 0;

    grid_place(s, from, a);
    grid_place(s, to, b);
    for (uint32_t axis = 0; axis < NET_MAX_AXES; axis++) {
        uint32_t apart = a[axis] > b[axis] ? a[axis] - b[axis] : b[axis] - a[axis];

        sum += torus && s->extent[axis] - apart < apart ? s->extent[axis] - apart : apart;
    }
    return sum;
}

/* The route is minimal, each step is one between neighbours, and the axes come in the order of the shape. */
static inline void grid_check_route(const net_topology *t, const net_shape *s, bool torus, uint32_t src,
                                    uint32_t dst)
{
    uint32_t at[SHAPE_MAX_ROUTE], n = shape_route(t, s, src, dst, at), turn = 0;

    assert_int_equal(n - 1, grid_distance(s, torus, src, dst));
    assert_int_equal(n - 1, t->hops(s, src, dst));
    for (uint32_t i = 1; i < n; i++) {
        uint32_t axis = grid_step(s, torus, at[i - 1], at[i]);

        assert_true(axis != DSE_NONE);
        while (turn < NET_MAX_AXES && s->order[turn] != axis)
            turn++;
        assert_true(turn < NET_MAX_AXES); /* else an axis came up that was done already */
    }
}

/* Random extents, 1 among them, random orders and random pairs. */
static inline void grid_check_random(const char *topology, bool torus, uint64_t seed)
{
    const net_topology *t = net_topology_find(topology);

    for (int i = 0; i < 400; i++) {
        uint32_t extent[NET_MAX_AXES], order = (uint32_t)(unit_random(&seed) % (t->n_axes == 2 ? 2 : 6));
        net_shape s;

        for (int axis = 0; axis < NET_MAX_AXES; axis++)
            extent[axis] = 1 + (uint32_t)(unit_random(&seed) % (t->n_axes == 2 ? 12 : 7));
        if (extent[0] * extent[1] * (t->n_axes == 3 ? extent[2] : 1) < 2)
            continue;
        s = shape_of(topology, extent[0], extent[1], extent[2],
                     t->n_axes == 2 ? grid_orders_2[order] : grid_orders_3[order]);
        for (int pair = 0; pair < 20; pair++) {
            uint32_t src = (uint32_t)(unit_random(&seed) % s.n);
            uint32_t dst = (src + 1 + (uint32_t)(unit_random(&seed) % (s.n - 1))) % s.n;

            grid_check_route(t, &s, torus, src, dst);
        }
    }
}

#endif
