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

/* ---- along one axis of this extent; a shape wraps if it is a torus -------------------------------- */

static uint32_t distance(const net_shape *s, uint32_t extent, uint32_t a, uint32_t b)
{
    uint32_t straight = a > b ? a - b : b - a;

    return s->wraps && extent - straight < straight ? extent - straight : straight;
}

/* Of two equal ways round the one up; on an axis of two, up and down are one link, which does not wrap. */
static bool goes_up(const net_shape *s, uint32_t extent, uint32_t from, uint32_t to)
{
    uint32_t up = to > from ? to - from : to + extent - from;

    return s->wraps && extent > 2 ? up <= extent - up : to > from;
}

/* ---- routes -------------------------------------------------------------------------------- */

uint32_t net_grid_hops(const net_shape *s, uint32_t src, uint32_t dst)
{
    uint32_t hops = 0;

    for (uint32_t axis = 0; axis < NET_MAX_AXES; axis++) {
        hops += distance(s, s->extent[axis], src % s->extent[axis], dst % s->extent[axis]);
        src /= s->extent[axis];
        dst /= s->extent[axis];
    }
    return hops;
}

uint32_t net_grid_neighbour(const net_shape *s, uint32_t npu, uint32_t port)
{
    uint32_t axis = port / 2, n = s->extent[axis], stride = stride_of(s, axis), at = place(s, npu, axis);
    bool down = port % 2, is_border = at == (down ? 0 : n - 1);

    if (is_border && (!s->wraps || n <= 2))
        return DSE_NONE;
    if (is_border)
        return down ? npu + (n - 1) * stride : npu - (n - 1) * stride;
    return down ? npu - stride : npu + stride;
}

uint32_t net_grid_port(const net_shape *s, uint32_t npu, uint32_t dst)
{
    for (uint32_t i = 0; i < NET_MAX_AXES; i++) {
        uint32_t axis = s->order[i], from = place(s, npu, axis), to = place(s, dst, axis);

        if (from != to)
            return 2 * axis + !goes_up(s, s->extent[axis], from, to);
    }
    return DSE_NONE;
}

uint32_t net_grid_leg(const net_shape *s, uint32_t port, uint32_t npu, uint32_t dst)
{
    uint32_t axis = port / 2;

    return distance(s, s->extent[axis], place(s, npu, axis), place(s, dst, axis));
}

/* ---- diameter, bisection ------------------------------------------------------------------- */

uint32_t net_grid_diameter(const net_shape *s)
{
    uint32_t hops = 0;

    for (uint32_t axis = 0; axis < NET_MAX_AXES; axis++)
        hops += s->wraps ? s->extent[axis] / 2 : s->extent[axis] - 1;
    return hops;
}

/* Cutting a line of an axis takes one link, a ring two, unless it is of two NPUs. */
uint64_t net_grid_bisection(const net_shape *s)
{
    net_cut_line lines[NET_MAX_AXES];
    size_t n = 0;

    for (uint32_t axis = 0; axis < NET_MAX_AXES; axis++)
        if (s->extent[axis] > 1)
            lines[n++] = (net_cut_line){s->extent[axis], s->wraps && s->extent[axis] > 2 ? 2 : 1, 1};
    return net_cut_of(lines, n).links;
}
