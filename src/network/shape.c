#include "network/topology.h"

#include <inttypes.h>
#include <string.h>

static const char *const axis_names[NET_MAX_AXES] = {"width", "height", "depth"};
static const char axis_letters[] = "xyz";

/* By the number of axes. */
static const struct {
    const char *extents, *product, *power;
} words[NET_MAX_AXES + 1] = {
    [0] = {"", "", ""},
    [2] = {"width and height", "width * height", "square"},
    [3] = {"width, height and depth", "width * height * depth", "cube"},
};

const char *net_axis_name(uint32_t axis) { return axis_names[axis]; }
const char *net_axis_names(const net_topology *t) { return words[t->n_axes].extents; }

static uint64_t power(uint64_t base, uint32_t exponent)
{
    uint64_t v = 1;

    while (exponent--)
        v *= base;
    return v;
}

/* The side of a square (cube) of n, or 0. */
static uint32_t side_of(uint32_t n, uint32_t n_axes)
{
    uint64_t side = 1;

    while (power(side, n_axes) < n)
        side++;
    return power(side, n_axes) == n ? (uint32_t)side : 0;
}

/* Computes the one missing extent from the count and the other extents. */
static dse_status find_extent(const net_topology *t, net_shape *s, uint32_t missing, dse_error *err)
{
    uint64_t others = 1;

    for (uint32_t i = 0; i < t->n_axes; i++)
        others *= i == missing ? 1 : s->extent[i];
    if (!s->n)
        return dse_fail(err, DSE_E_RANGE, "the %s has no %s; give it, or npus_count", t->name,
                        axis_names[missing]);
    if (s->n % others)
        return dse_fail(err, DSE_E_RANGE, "npus_count %" PRIu32 " of the %s leaves no whole %s", s->n,
                        t->name, axis_names[missing]);
    s->extent[missing] = (uint32_t)(s->n / others);
    return DSE_OK;
}

static dse_status check_extents(const net_topology *t, net_shape *s, dse_error *err)
{
    uint32_t missing = NET_MAX_AXES, n_missing = 0;
    uint64_t n = 1;
    dse_status st = DSE_OK;

    for (uint32_t i = 0; i < t->n_axes; i++)
        if (!s->extent[i]) {
            missing = i;
            n_missing++;
        }
    if (n_missing > 1)
        return dse_fail(err, DSE_E_RANGE, "the %s has no %s; give it too, or npus_count alone", t->name,
                        axis_names[missing]);
    if (n_missing && (st = find_extent(t, s, missing, err)) != DSE_OK)
        return st;
    for (uint32_t i = 0; i < t->n_axes; i++) {
        n *= s->extent[i];
        if (n > UINT32_MAX)
            return dse_fail(err, DSE_E_RANGE, "the %s has too many NPUs", t->name);
    }
    if (s->n && n != s->n)
        return dse_fail(err, DSE_E_RANGE,
                        "%s of the %s is %" PRIu64 ", but npus_count is %" PRIu32
                        "; leave one out, or make them agree",
                        words[t->n_axes].product, t->name, n, s->n);
    if (n < 2)
        return dse_fail(err, DSE_E_RANGE, "%s of the %s is 1; it must be larger than 1",
                        words[t->n_axes].product, t->name);
    s->n = (uint32_t)n;
    return DSE_OK;
}

dse_status net_shape_finish(const net_topology *t, net_shape *s, dse_error *err)
{
    bool given = false;
    dse_status st = DSE_OK;

    for (uint32_t i = 0; i < t->n_axes; i++)
        given |= s->extent[i] != 0;
    if (given)
        st = check_extents(t, s, err);
    if (st != DSE_OK)
        return st;
    if (s->n < 2)
        return dse_fail(err, DSE_E_RANGE, "npus_count is %" PRIu32 "; it must be larger than 1", s->n);
    if (t->power_of_two && (s->n & (s->n - 1)))
        return dse_fail(err, DSE_E_RANGE, "a %s has a power of two of NPUs; npus_count is %" PRIu32, t->name,
                        s->n);
    if (!given && t->n_axes) {
        uint32_t side = side_of(s->n, t->n_axes);

        if (!side)
            return dse_fail(err, DSE_E_RANGE, "npus_count %" PRIu32 " of the %s is no %s; give %s", s->n,
                            t->name, words[t->n_axes].power, net_axis_names(t));
        for (uint32_t i = 0; i < t->n_axes; i++)
            s->extent[i] = side;
    }
    for (uint32_t i = t->n_axes; i < NET_MAX_AXES; i++)
        s->extent[i] = i ? 1 : s->n;
    s->wraps = t->wraps;
    if (!s->order[0] && !s->order[1]) /* the first axis twice: never set */
        return net_shape_route(t, "", s, err);
    return DSE_OK;
}

dse_status net_routing_check(const char *order, dse_error *err)
{
    if (order[strspn(order, axis_letters)] == '\0')
        return DSE_OK;
    return dse_fail(err, DSE_E_CONFIG,
                    "'%.20s' is no order of axes; it must be 'xy', 'xyz', or these letters in another order",
                    order);
}

dse_status net_shape_route(const net_topology *t, const char *order, net_shape *s, dse_error *err)
{
    uint8_t axes[NET_MAX_AXES] = {0, 1, 2};
    uint32_t seen = 0;

    if (*order && !t->n_axes)
        return dse_fail(err, DSE_E_CONFIG, "a %s has no routing to choose; leave it out, or null", t->name);
    for (uint32_t i = 0; i < NET_MAX_AXES && order[i]; i++) {
        const char *letter = strchr(axis_letters, order[i]);

        if (!letter)
            break;
        axes[i] = (uint8_t)(letter - axis_letters);
        seen |= 1u << axes[i];
    }
    if (*order && (strlen(order) != t->n_axes || seen != (1u << t->n_axes) - 1))
        return dse_fail(err, DSE_E_CONFIG,
                        "routing '%.20s' of a %s; it must be '%.*s' or these letters in another order", order,
                        t->name, (int)t->n_axes, axis_letters);
    memcpy(s->order, axes, sizeof axes);
    return DSE_OK;
}
