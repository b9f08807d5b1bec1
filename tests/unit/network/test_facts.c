#include "unit/network/nets.h"

#include "network/facts.h"

#define MOST_HALVED 25 /* NPUs of which all halves are tried: 5.2 million */

static const char *const networks[] = {
    "Ring 2",
    "Ring 3",
    "Ring 7",
    "Ring 8",
    "Switch 2",
    "Switch 5",
    "Switch 8",
    "FullyConnected 2",
    "FullyConnected 5",
    "FullyConnected 8",
    "Mesh2D 4x4",
    "Mesh2D 3x3",
    "Mesh2D 5x5",
    "Mesh2D 4x3",
    "Mesh2D 3x6",
    "Mesh2D 5x3",
    "Mesh2D 1x7",
    "Mesh2D 8x1",
    "Torus2D 4x4",
    "Torus2D 3x3",
    "Torus2D 5x5",
    "Torus2D 4x3",
    "Torus2D 2x5",
    "Torus2D 5x3",
    "Torus2D 2x2",
    "Torus2D 1x7",
    "Mesh3D 2x2x2",
    "Mesh3D 3x3x2",
    "Mesh3D 3x2x4",
    "Mesh3D 1x3x5",
    "Torus3D 2x2x2",
    "Torus3D 3x3x2",
    "Torus3D 3x2x4",
    "Torus3D 1x3x5",
    "Hypercube 2",
    "Hypercube 4",
    "Hypercube 8",
    "Hypercube 16",
    "Ring 4, Ring 4",
    "Ring 3, Ring 4",
    "Ring 3, Ring 3",
    "Ring 5, Ring 3",
    "Ring 2, Ring 8",
    "Ring 4, Switch 4",
    "Switch 4, Ring 4",
    "FullyConnected 8, Switch 2",
    "Switch 3, Switch 5",
    "FullyConnected 3, FullyConnected 5",
    "Mesh2D 3x3, Switch 2",
    "Mesh2D 2x3, FullyConnected 3",
    "Switch 3, Mesh2D 2x3",
    "Ring 2, Switch 3, FullyConnected 3",
    "Hypercube 4, Torus2D 2x2",
    "Ring 3, Mesh2D 3x2",
    "Torus2D 3x3, Hypercube 2",
    "Mesh2D 5x2, Switch 2",
    "Torus2D 3x4, Ring 2",
};
#define N_NETWORKS (sizeof networks / sizeof networks[0])

typedef struct {
    dse_arena arena;
    net_network net;
    net_graph graph;
    net_facts facts;
} world;

static void setup(world *w, const char *text)
{
    dse_error err = DSE_ERROR_INIT;

    w->net = nets_make(text);
    dse_arena_init(&w->arena);
    assert_ok(net_graph_init(&w->graph, &w->net, &w->arena, &err), &err);
    net_facts_of(&w->graph, &w->facts);
}

/* ---- without the structure ----------------------------------------------------------------- */

/* Links on the shortest way to the farthest NPU, over whatever devices: breadth first. */
static uint32_t farthest(const net_graph *g, uint32_t from)
{
    uint32_t *hops = malloc(g->n_devices * sizeof *hops), *queue = malloc(g->n_devices * sizeof *queue);
    uint32_t head = 0, tail = 0, most = 0;

    assert_true(hops && queue);
    memset(hops, 0xff, g->n_devices * sizeof *hops);
    hops[from] = 0;
    for (queue[tail++] = from; head < tail; head++) {
        uint32_t first, n = net_graph_ports(g, queue[head], &first);

        if (queue[head] < g->net->n_npus && hops[queue[head]] > most)
            most = hops[queue[head]];
        for (uint32_t i = first; i < first + n; i++) {
            uint32_t to = g->link[i].to;

            if (to == DSE_NONE || hops[to] != UINT32_MAX)
                continue;
            hops[to] = hops[queue[head]] + 1;
            queue[tail++] = to;
        }
    }
    assert_int_equal(tail, g->n_devices); /* everything is connected */
    free(hops);
    free(queue);
    return most;
}

/* GiB/s from the NPUs of `half` to the others: of a switch the side with fewer links is the other one. */
static double cut(const net_graph *g, const uint32_t (*neighbours)[NET_MAX_DIMS], uint32_t half, uint32_t all)
{
    double total = 0;

    for (uint32_t i = 0; i < g->net->n_dims; i++) {
        uint32_t links = 0;

        for (uint32_t device = 0; device < g->n_devices; device++) {
            uint32_t inside = (uint32_t)__builtin_popcount(neighbours[device][i] & half);
            uint32_t outside = (uint32_t)__builtin_popcount(neighbours[device][i] & ~half & all);

            if (device >= g->net->n_npus)
                links += inside < outside ? inside : outside;
            else if (half >> device & 1)
                links += outside;
        }
        total += links * g->net->dim[i].gib_per_s;
    }
    return total;
}

/* The smallest of all halves: the next number with as many bits, by Gosper. */
static double smallest_cut(const net_graph *g)
{
    uint32_t n = g->net->n_npus, all = (1u << n) - 1, end = 1u << n;
    uint32_t(*neighbours)[NET_MAX_DIMS] = calloc(g->n_devices, sizeof *neighbours);
    double least = INFINITY;

    assert_non_null(neighbours);
    for (uint32_t i = 0; i < g->n_slots; i++)
        if (g->link[i].to != DSE_NONE && g->link[i].to < n)
            neighbours[g->link[i].from][g->link[i].dim] |= 1u << g->link[i].to;
    for (uint32_t half = (1u << n / 2) - 1; half < end;) {
        uint32_t low = half & -half, next = half + low;

        least = fmin(least, cut(g, (const uint32_t(*)[NET_MAX_DIMS])neighbours, half, all));
        half = next | ((half ^ next) >> 2) / low;
    }
    free(neighbours);
    return least;
}

CLAIM(no_route_is_longer_than_the_diameter_and_no_way_is_shorter_for_all)
{
    for (size_t i = 0; i < N_NETWORKS; i++) {
        uint32_t longest = 0, apart = 0;
        world w;

        setup(&w, networks[i]);
        for (uint32_t src = 0; src < w.net.n_npus; src++) {
            uint32_t far = farthest(&w.graph, src);

            apart = far > apart ? far : apart;
            for (uint32_t dst = 0; dst < w.net.n_npus; dst++) {
                uint32_t hops = src == dst ? 0 : net_graph_hops(&w.graph, src, dst);

                longest = hops > longest ? hops : longest;
            }
        }
        if (w.facts.diameter != apart || longest != apart)
            fail_msg("%s: diameter %u, longest route %u, but %u apart", networks[i], w.facts.diameter,
                     longest, apart);
        dse_arena_free(&w.arena);
    }
}

CLAIM(no_half_is_cut_off_by_less_than_the_bisection)
{
    for (size_t i = 0; i < N_NETWORKS; i++) {
        double least;
        world w;

        setup(&w, networks[i]);
        assert_true(w.net.n_npus <= MOST_HALVED);
        least = smallest_cut(&w.graph);
        if (w.facts.bisection_is_bound ? w.facts.bisection_gib_per_s < least
                                       : w.facts.bisection_gib_per_s != least)
            fail_msg("%s: bisection %g, but there is a cut of %g", networks[i], w.facts.bisection_gib_per_s,
                     least);
        dse_arena_free(&w.arena);
    }
}

/* The bisection of two dimensions, of 50 GiB/s and of so many, and the smallest cut of all halves. */
static void check_bound(const char *text, double second, double bisection, double smallest)
{
    net_network net = nets_make(text);
    dse_error err = DSE_ERROR_INIT;
    dse_arena arena;
    net_graph graph;
    net_facts facts;

    net.dim[1].gib_per_s = second;
    assert_ok(net_network_finish(&net, &err), &err);
    dse_arena_init(&arena);
    assert_ok(net_graph_init(&graph, &net, &arena, &err), &err);
    net_facts_of(&graph, &facts);
    assert_true(facts.bisection_is_bound);
    assert_double(facts.bisection_gib_per_s, bisection);
    assert_double(smallest_cut(&graph), smallest);
    dse_arena_free(&arena);
}

/* Three Switches of four NPUs in a line, all links of 50 GiB/s. Along whole dimensions: each switch in its middle, 3 * 2
 * links. But three NPUs each of the first two switches are a half as well: one link of each of the two, for the fourth NPU,
 * and three of the line to the last switch: 5. */
CLAIM(a_dimension_that_is_odd_makes_it_a_bound) { check_bound("Mesh2D 1x3, Switch 4", 50, 6 * 50, 5 * 50); }

/* Two layers of 5 x 2, joined by ten switches. A layer is cut at its third column, 2 links, which is cut across, 1: in both
 * layers 6 of 50 GiB/s. But the third column may go to a side a layer: 2 * 2 of 50, and its two switches' 40. */
CLAIM(an_axis_that_is_odd_makes_it_a_bound_though_the_dimension_is_even)
{
    check_bound("Mesh2D 5x2, Switch 2", 40, 6 * 50, 4 * 50 + 2 * 40);
}

/* 4x4: the corners have 2 links, 8 at the edges 3, 4 inside 4: 2 * 4 + 3 * 8 + 4 * 4 = 48. Halved between two columns:
 * 4 links one way. */
CLAIM(a_mesh_of_4_by_4_has_48_links_of_which_4_cross_the_middle)
{
    world w;

    setup(&w, "Mesh2D 4x4");
    assert_int_equal(w.graph.n_links, 48);
    assert_int_equal(w.facts.npu_degree.least, 2);
    assert_int_equal(w.facts.npu_degree.most, 4);
    assert_int_equal(w.facts.n_switches, 0);
    assert_int_equal(w.facts.switch_degree.most, 0);
    assert_int_equal(w.facts.diameter, 3 + 3);
    assert_u64(w.facts.bisection_links, 4);
    assert_double(w.facts.bisection_gib_per_s, 4 * 50);
    assert_double(w.facts.total_gib_per_s, 48 * 50);
    dse_arena_free(&w.arena);
}

/* 8 switches of 2 NPUs between two groups in which everybody is linked to the 7 others: an NPU has 7 + 1 links, and all
 * have 16 * 7 of 50 GiB/s, 16 + 16 of 25. Cut at the switches: one link each. Through the groups: 4 * 4 * 2 at 50. */
CLAIM(switches_between_groups_are_where_they_are_halved)
{
    world w;

    setup(&w, "FullyConnected 8, Switch 2");
    assert_int_equal(w.facts.n_switches, 8);
    assert_int_equal(w.facts.npu_degree.least, 8);
    assert_int_equal(w.facts.npu_degree.most, 8);
    assert_int_equal(w.facts.switch_degree.least, 2);
    assert_int_equal(w.facts.switch_degree.most, 2);
    assert_int_equal(w.facts.diameter, 1 + 2);
    assert_u64(w.facts.bisection_links, 8);
    assert_double(w.facts.bisection_gib_per_s, 8 * 25);
    assert_double(w.facts.total_gib_per_s, 16 * 7 * 50 + 32 * 25);
    assert_false(w.facts.bisection_is_bound);
    dse_arena_free(&w.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_route_is_longer_than_the_diameter_and_no_way_is_shorter_for_all),
        cmocka_unit_test(no_half_is_cut_off_by_less_than_the_bisection),
        cmocka_unit_test(a_dimension_that_is_odd_makes_it_a_bound),
        cmocka_unit_test(an_axis_that_is_odd_makes_it_a_bound_though_the_dimension_is_even),
        cmocka_unit_test(a_mesh_of_4_by_4_has_48_links_of_which_4_cross_the_middle),
        cmocka_unit_test(switches_between_groups_are_where_they_are_halved),
    };
    return RUN_TESTS(tests);
}
