#include "unit/network/nets.h"

#include "network/routes.h"
#include "network/traffic.h"

#define MIB 1048576

typedef struct {
    dse_arena arena;
    net_network net;
    net_graph graph;
    net_routes routes;
} world;

static void setup(world *w, const char *text)
{
    dse_error err = DSE_ERROR_INIT;

    w->net = nets_make(text);
    dse_arena_init(&w->arena);
    assert_ok(net_graph_init(&w->graph, &w->net, &w->arena, &err), &err);
}

static void send(world *w, const uint32_t *pair, uint32_t n, uint64_t bytes)
{
    dse_error err = DSE_ERROR_INIT;

    assert_ok(net_routes_send(&w->graph, pair, n, bytes, &w->arena, &w->routes, &err), &err);
}

static const net_route_hop *hop(const world *w, uint32_t message, uint32_t i)
{
    assert_true(i < w->routes.route[message].n_hops);
    return &w->routes.hop[w->routes.route[message].first_hop + i];
}

static void check_way(const world *w, uint32_t message, const uint32_t *devices, uint32_t n)
{
    assert_int_equal(w->routes.route[message].n_hops, n - 1);
    for (uint32_t i = 0; i + 1 < n; i++) {
        const net_link *l = &w->graph.link[hop(w, message, i)->slot];

        assert_int_equal(l->from, devices[i]);
        assert_int_equal(l->to, devices[i + 1]);
    }
}

/* A link takes 1 MiB in 500 ns + 2^20 / (50 * 2^30 / 10^9) ns = 500 + 19531.25: 20031 when it is whole, free after 19531.
 * Nobody meets anybody: 3 links are 60093, 5 are 100155. Without congestion it is 1 x 19531.25 + hops x 500. */
CLAIM(four_messages_on_a_mesh_that_do_not_meet)
{
    static const uint32_t pair[] = {1, 7, 5, 14, 11, 5, 15, 4};
    static const uint32_t ways[4][6] = {{1, 2, 3, 7}, {5, 6, 10, 14}, {11, 10, 9, 5}, {15, 14, 13, 12, 8, 4}};
    static const uint32_t n[] = {4, 4, 4, 6};
    world w;

    setup(&w, "Mesh2D 4x4");
    send(&w, pair, 4, MIB);
    for (uint32_t i = 0; i < 4; i++) {
        const net_route *r = &w.routes.route[i];

        check_way(&w, i, ways[i], n[i]);
        assert_u64(r->alone, (n[i] - 1) * 20031);
        assert_u64(r->together, (n[i] - 1) * 20031);
        assert_u64(r->waited, 0);
        assert_u64(r->unaware, 19531 + (n[i] - 1) * 500);
    }
    assert_int_equal(w.routes.n_shared, 0);
    dse_arena_free(&w.arena);
}

/* On a ring of 8, all at tick 0: 0 -> 2 and 1 -> 3 and 1 -> 2. Message 1 takes 1 -> 2 at once; message 2 waits there until
 * 19531, and message 0, which comes at 20031, until 2 * 19531 = 39062. */
CLAIM(who_comes_later_waits_for_whom_is_before)
{
    static const uint32_t pair[] = {0, 2, 1, 3, 1, 2};
    world w;

    setup(&w, "Ring 8");
    send(&w, pair, 3, MIB);
    assert_u64(w.routes.route[0].together, 39062 + 20031);
    assert_u64(w.routes.route[0].waited, 39062 - 20031);
    assert_u64(w.routes.route[0].alone, 2 * 20031);
    assert_u64(w.routes.route[1].together, 2 * 20031);
    assert_u64(w.routes.route[2].together, 19531 + 20031);
    assert_u64(w.routes.route[2].waited, 19531);
    assert_int_equal(hop(&w, 0, 1)->behind, 2);
    assert_u64(hop(&w, 0, 1)->asked, 20031);
    assert_u64(hop(&w, 0, 1)->taken, 39062);
    assert_int_equal(hop(&w, 2, 0)->behind, 1);
    assert_true(hop(&w, 1, 0)->behind == DSE_NONE);
    assert_int_equal(w.routes.n_shared, 1);
    assert_int_equal(w.graph.link[w.routes.shared[0].slot].from, 1);
    assert_int_equal(w.graph.link[w.routes.shared[0].slot].to, 2);
    assert_int_equal(w.routes.shared[0].n_messages, 3);
    assert_int_equal(w.routes.shared[0].most_waiting, 1); /* message 2 has left when message 0 comes */
    assert_u64(w.routes.shared[0].busy, 3 * 19531);
    dse_arena_free(&w.arena);
}

/* Switch 8 is the device behind the NPUs 0 to 7: all to NPU 0 at once. Each has its own link up; the one down takes them
 * one after the other, in their order: 20031 + i * 19531 + 20031. Six wait while the first goes. */
CLAIM(all_to_one_queue_at_the_switch)
{
    uint32_t pair[14];
    world w;

    setup(&w, "Switch 8");
    for (uint32_t i = 0; i < 7; i++) {
        pair[2 * i] = i + 1;
        pair[2 * i + 1] = 0;
    }
    send(&w, pair, 7, MIB);
    for (uint32_t i = 0; i < 7; i++) {
        assert_u64(w.routes.route[i].together, 20031 + i * 19531 + 20031);
        assert_true(hop(&w, i, 1)->behind == (i ? i - 1 : DSE_NONE));
    }
    assert_int_equal(w.routes.n_shared, 1);
    assert_int_equal(w.graph.link[w.routes.shared[0].slot].from, 8);
    assert_int_equal(w.routes.shared[0].most_waiting, 6);
    dse_arena_free(&w.arena);
}

/* Dimension 0 first: 50 GiB/s, 500 ns; then the switch of dimension 1 with NPUs 3 and 7, which is device 8 + 3: 25 GiB/s,
 * 510 ns, 39062.5 + 510 a link. The model without congestion pays for dimension 0 alone. */
CLAIM(a_way_through_two_dimensions)
{
    static const uint32_t pair[] = {0, 7}, way[] = {0, 3, 11, 7};
    world w;

    setup(&w, "FullyConnected 4, Switch 2");
    send(&w, pair, 1, MIB);
    check_way(&w, 0, way, 4);
    assert_u64(w.routes.route[0].alone, 20031 + 2 * 39572);
    assert_u64(w.routes.route[0].together, 20031 + 2 * 39572);
    assert_u64(w.routes.route[0].unaware, 20031);
    dse_arena_free(&w.arena);
}

/* However they meet: a message takes as long as it does alone, and what it waits; no link has two at a time; busiest first. */
CLAIM(times_add_up_on_any_network)
{
    static const char *const networks[] = {"Mesh2D 4x4", "Torus3D 3x2x4", "Hypercube 16",
                                           "Ring 3, Switch 4, Mesh2D 2x3", "Switch 5"};
    uint64_t seed = 1;

    for (size_t i = 0; i < sizeof networks / sizeof networks[0]; i++) {
        uint32_t pair[400];
        world w;

        setup(&w, networks[i]);
        for (uint32_t k = 0; k < 200; k++) {
            pair[2 * k] = (uint32_t)(unit_random(&seed) % w.net.n_npus);
            pair[2 * k + 1] =
                (pair[2 * k] + 1 + (uint32_t)(unit_random(&seed) % (w.net.n_npus - 1))) % w.net.n_npus;
        }
        send(&w, pair, 200, 1 + unit_random(&seed) % MIB);
        for (uint32_t k = 0; k < 200; k++)
            assert_u64(w.routes.route[k].together, w.routes.route[k].alone + w.routes.route[k].waited);
        for (uint32_t k = 0; k < w.routes.n_hops; k++) {
            const net_route_hop *h = &w.routes.hop[k];

            assert_true(h->asked <= h->taken && h->taken < h->there);
            assert_true((h->behind == DSE_NONE) == (h->asked == h->taken));
        }
        for (uint32_t k = 1; k < w.routes.n_shared; k++)
            assert_true(w.routes.shared[k - 1].busy >= w.routes.shared[k].busy);
        dse_arena_free(&w.arena);
    }
}

CLAIM(what_time_cannot_hold_is_refused)
{
    static const uint32_t pair[] = {0, 1};
    dse_error err = DSE_ERROR_INIT;
    world w;

    setup(&w, "Ring 4");
    w.net.dim[0].gib_per_s = 1e-9;
    assert_ok(net_network_finish(&w.net, &err), &err);
    /* 2^53 bytes / (1.073741824e-9 bytes a ns) = 8.39e24 ns */
    assert_failure(
        net_routes_send(&w.graph, pair, 1, (uint64_t)1 << 53, &w.arena, &w.routes, &err), &err, DSE_E_SIM, "",
        "a message of 9007199254740992 bytes from NPU 0 to 1 takes 8.39e+24 ns; time ends at 2^63 ns");
    dse_arena_free(&w.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(four_messages_on_a_mesh_that_do_not_meet),
        cmocka_unit_test(who_comes_later_waits_for_whom_is_before),
        cmocka_unit_test(all_to_one_queue_at_the_switch),
        cmocka_unit_test(a_way_through_two_dimensions),
        cmocka_unit_test(times_add_up_on_any_network),
        cmocka_unit_test(what_time_cannot_hold_is_refused),
    };
    return RUN_TESTS(tests);
}
