#include "network/grid.h"

#include "base/alloc.h"
#include "network/cut.h"

/* Axes that a topology lacks have extent 1. */
static uint32_t stride_of(const net_shape *s, uint32_t axis)
{
    uint32_t stride = 1;

    for (uint32_t i = 0; i < axis; i++)
        stride *= s->extent[i];
    return stride;
}

static uint32_t place(const net_shape *s, uint32_t npu, uint32_t axis)
{
    return npu / stride_of(s, axis) % s->extent[axis];
}

/* ---- along one axis ------------------------------------------------------------------------ */

static uint32_t distance(uint32_t a, uint32_t b) { return a > b ? a - b : b - a; }

static uint32_t distance_around(uint32_t extent, uint32_t a, uint32_t b)
{
    uint32_t straight = distance(a, b);

    return straight < extent - straight ? straight : extent - straight;
}

static bool is_up_around(uint32_t extent, uint32_t from, uint32_t to)
{
    uint32_t up = to > from ? to - from : to + extent - from;

    return up <= extent - up;
}

/* ---- meshes -------------------------------------------------------------------------------- */

uint32_t net_mesh_hops(const net_shape *s, uint32_t src, uint32_t dst)
{
    uint32_t hops = 0;

    for (uint32_t axis = 0; axis < NET_MAX_AXES; axis++) {
        hops += distance(src % s->extent[axis], dst % s->extent[axis]);
        src /= s->extent[axis];
        dst /= s->extent[axis];
    }
    return hops;
}

uint32_t net_mesh_neighbour(const net_shape *s, uint32_t npu, uint32_t port)
{
    uint32_t axis = port / 2, stride = stride_of(s, axis), at = place(s, npu, axis);

    if (port % 2 == 0)
        return at + 1 < s->extent[axis] ? npu + stride : DSE_NONE;
    return at > 0 ? npu - stride : DSE_NONE;
}

uint32_t net_mesh_port(const net_shape *s, uint32_t npu, uint32_t dst)
{
    for (uint32_t i = 0; i < NET_MAX_AXES; i++) {
        uint32_t axis = s->order[i], from = place(s, npu, axis), to = place(s, dst, axis);

        if (from != to)
            return 2 * axis + (to < from);
    }
    return DSE_NONE;
}

uint32_t net_mesh_leg(const net_shape *s, uint32_t port, uint32_t npu, uint32_t dst)
{
    uint32_t axis = port / 2;

    return distance(place(s, npu, axis), place(s, dst, axis));
}

/* ---- tori ---------------------------------------------------------------------------------- */

uint32_t net_torus_hops(const net_shape *s, uint32_t src, uint32_t dst)
{
    uint32_t hops = 0;

    for (uint32_t axis = 0; axis < NET_MAX_AXES; axis++) {
        hops += distance_around(s->extent[axis], src % s->extent[axis], dst % s->extent[axis]);
        src /= s->extent[axis];
        dst /= s->extent[axis];
    }
    return hops;
}

uint32_t net_torus_neighbour(const net_shape *s, uint32_t npu, uint32_t port)
{
    uint32_t axis = port / 2, n = s->extent[axis], stride = stride_of(s, axis), at = place(s, npu, axis);
    bool down = port % 2;

    /* On an axis of two, up and down are one link, which does not wrap. */
    if (n == 1 || (n == 2 && down != (at == 1)))
        return DSE_NONE;
    if (down)
        return at > 0 ? npu - stride : npu + (n - 1) * stride;
    return at + 1 < n ? npu + stride : npu - (n - 1) * stride;
}

uint32_t net_torus_port(const net_shape *s, uint32_t npu, uint32_t dst)
{
    for (uint32_t i = 0; i < NET_MAX_AXES; i++) {
        uint32_t axis = s->order[i], n = s->extent[axis], from = place(s, npu, axis),
                 to = place(s, dst, axis);

        if (from == to)
            continue;
        return 2 * axis + (n == 2 ? to < from : !is_up_around(n, from, to));
    }
    return DSE_NONE;
}

uint32_t net_torus_leg(const net_shape *s, uint32_t port, uint32_t npu, uint32_t dst)
{
    uint32_t axis = port / 2;

    return distance_around(s->extent[axis], place(s, npu, axis), place(s, dst, axis));
}

/* ---- diameter, bisection ------------------------------------------------------------------- */

uint32_t net_mesh_diameter(const net_shape *s)
{
    uint32_t hops = 0;

    for (uint32_t axis = 0; axis < NET_MAX_AXES; axis++)
        hops += s->extent[axis] - 1;
    return hops;
}

uint32_t net_torus_diameter(const net_shape *s)
{
    uint32_t hops = 0;

    for (uint32_t axis = 0; axis < NET_MAX_AXES; axis++)
        hops += s->extent[axis] / 2;
    return hops;
}

/* Cutting a line of an axis takes one link, a ring two, unless it is of two NPUs. */
static uint64_t bisection(const net_shape *s, bool around)
{
    net_cut_line lines[NET_MAX_AXES];
    size_t n = 0;

    for (uint32_t axis = 0; axis < NET_MAX_AXES; axis++)
        if (s->extent[axis] > 1)
            lines[n++] = (net_cut_line){s->extent[axis], around && s->extent[axis] > 2 ? 2 : 1, 1};
    return net_cut_of(lines, n).links;
}

uint64_t net_mesh_bisection(const net_shape *s) { return bisection(s, false); }
uint64_t net_torus_bisection(const net_shape *s) { return bisection(s, true); }
