#include "unit/network/shape.h"

CLAIM(topologies_are_found_by_the_reference_s_names)
{
    assert_string_equal(net_topology_find("Ring")->name, "Ring");
    assert_string_equal(net_topology_find("Switch")->name, "Switch");
    assert_string_equal(net_topology_find("FullyConnected")->name, "FullyConnected");
    assert_null(net_topology_find("ring")); /* case matters, as there */
    assert_null(net_topology_find(""));
}

CLAIM(the_list_is_complete_and_in_order)
{
    size_t n;
    const net_topology *const *rows = net_topologies(&n);

    assert_int_equal(n, 8);
    assert_string_equal(rows[0]->name, "Ring");
    assert_string_equal(rows[1]->name, "Switch");
    assert_string_equal(rows[2]->name, "FullyConnected");
    assert_string_equal(rows[3]->name, "Mesh2D");
    for (size_t i = 0; i < n; i++) {
        assert_ptr_equal(net_topology_find(rows[i]->name), rows[i]);
        assert_true(*rows[i]->summary != '\0');
    }
}

CLAIM(an_unknown_name_is_refused_with_the_known_ones)
{
    dse_error err = DSE_ERROR_INIT;

    assert_ok(net_topology_check("Switch", &err), &err);
    assert_failure(net_topology_check("Dragonfly", &err), &err, DSE_E_CONFIG, "",
                   "unknown topology 'Dragonfly'; known: Ring, Switch, FullyConnected, Mesh2D, Torus2D, "
                   "Mesh3D, Torus3D, "
                   "Hypercube");
    err = (dse_error)DSE_ERROR_INIT;
    assert_failure(
        net_topology_check("switch", &err), &err, DSE_E_CONFIG, "",
        "unknown topology 'switch'; did you mean 'Switch'? known: Ring, Switch, FullyConnected, Mesh2D, "
        "Torus2D, Mesh3D, Torus3D, Hypercube");
}

/* ---- what must hold for every row ---------------------------------------------------------- */

/* Whether a port of `from` leads to `to`; at most one does. */
static bool is_linked(const net_topology *t, const net_shape *s, uint32_t from, uint32_t to)
{
    uint32_t n = 0;

    for (uint32_t port = 0; port < t->n_ports(s); port++)
        n += t->neighbour(s, from, port) == to;
    assert_true(n <= 1);
    return n == 1;
}

/* A switch leads back to each of its NPUs; all other links must have their reverse among the ports. */
static void check_links(const net_topology *t, const net_shape *s)
{
    for (uint32_t npu = 0; npu < s->n; npu++) {
        for (uint32_t port = 0; port < t->n_ports(s); port++) {
            uint32_t to = t->neighbour(s, npu, port);

            assert_true(to == DSE_NONE || to < s->n || (t->has_switch && to == s->n));
            assert_true(to != npu);
            assert_true(to >= s->n || is_linked(t, s, to, npu));
        }
    }
}

static void check_routes(const net_topology *t, const net_shape *s)
{
    for (uint32_t src = 0; src < s->n; src++) {
        for (uint32_t dst = 0; dst < s->n; dst++) {
            uint32_t at[SHAPE_MAX_ROUTE], n;

            if (src == dst)
                continue;
            n = shape_route(t, s, src, dst, at);
            assert_int_equal(n - 1, t->hops(s, src, dst));
            for (uint32_t i = 0; i < n; i++) {
                assert_true(!i || at[i - 1] == s->n || is_linked(t, s, at[i - 1], at[i]));
                for (uint32_t k = 0; k < i; k++)
                    assert_int_not_equal(at[k], at[i]); /* nothing is passed twice */
            }
        }
    }
}

static void check_shape(const net_topology *t, const uint32_t extent[NET_MAX_AXES])
{
    static const char *const orders[][6] = {
        {""}, {""}, {"xy", "yx"}, {"xyz", "xzy", "yxz", "yzx", "zxy", "zyx"}};
    static const int n_orders[] = {1, 1, 2, 6};

    for (int i = 0; i < n_orders[t->n_axes]; i++) {
        net_shape s = shape_of(t->name, extent[0], extent[1], extent[2], orders[t->n_axes][i]);

        check_links(t, &s);
        check_routes(t, &s);
    }
}

CLAIM(every_link_has_its_reverse_and_every_route_is_made_of_links)
{
    static const uint32_t extents[][NET_MAX_AXES] = {{2, 1, 1}, {1, 2, 1}, {1, 1, 2}, {3, 1, 1}, {1, 3, 1},
                                                     {1, 1, 4}, {2, 2, 1}, {2, 1, 2}, {4, 4, 1}, {5, 3, 1},
                                                     {3, 5, 2}, {2, 2, 2}, {3, 4, 3}, {8, 2, 3}, {16, 1, 1}};
    size_t n;
    const net_topology *const *rows = net_topologies(&n);

    for (size_t i = 0; i < n; i++) {
        const net_topology *t = rows[i];

        for (size_t k = 0; k < sizeof extents / sizeof extents[0]; k++) {
            const uint32_t *e = extents[k];
            uint32_t npus = e[0] * (t->n_axes > 1 ? e[1] : 1) * (t->n_axes > 2 ? e[2] : 1);

            if (npus >= 2 && !(t->power_of_two && (npus & (npus - 1))))
                check_shape(t, e);
        }
    }
}

/* Links between NPUs that are so far apart one way round the circle of their ids: the same from everywhere, and as many
 * for those that are as far apart the other way round. */
static bool looks_cyclic(const net_topology *t, const net_shape *s)
{
    for (uint32_t apart = 1; apart < s->n; apart++) {
        uint32_t hops = t->hops(s, 0, apart);

        if (t->hops(s, 0, s->n - apart) != hops)
            return false;
        for (uint32_t a = 1; a < s->n; a++)
            if (t->hops(s, a, (a + apart) % s->n) != hops)
                return false;
    }
    return true;
}

/* All pairs of all shapes of up to 130, 9 x 9 and 5 x 5 x 5. Those that are not cyclic are not so in some shape: a
 * mesh of 2 x 1 is a circle, too. */
CLAIM(rows_are_cyclic_if_and_only_if_they_say_so)
{
    size_t n;
    const net_topology *const *rows = net_topologies(&n);

    for (size_t i = 0; i < n; i++) {
        const net_topology *t = rows[i];
        static const uint32_t most[][NET_MAX_AXES] = {{130, 1, 1}, {0}, {9, 9, 1}, {5, 5, 5}};
        const uint32_t *to = most[t->n_axes];
        bool always = true;

        for (uint32_t x = 1; x <= to[0]; x++)
            for (uint32_t y = 1; y <= to[1]; y++)
                for (uint32_t z = 1; z <= to[2]; z++) {
                    net_shape s;

                    if (x * y * z < 2 || (t->power_of_two && (x & (x - 1))))
                        continue;
                    s = shape_of(t->name, x, y, z, "");
                    always = always && looks_cyclic(t, &s);
                }
        if (always != t->cyclic)
            fail_msg("%s is%s cyclic", t->name, always ? "" : " not");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(topologies_are_found_by_the_reference_s_names),
        cmocka_unit_test(the_list_is_complete_and_in_order),
        cmocka_unit_test(an_unknown_name_is_refused_with_the_known_ones),
        cmocka_unit_test(every_link_has_its_reverse_and_every_route_is_made_of_links),
        cmocka_unit_test(rows_are_cyclic_if_and_only_if_they_say_so),
    };
    return RUN_TESTS(tests);
}
