/* What links carried: by hand, and what must be so of any traffic. */
#include "network/load.h"
#include "unit/network/wire.h"

/* A byte a ns. */
static void begin(uint32_t n_dims, const char *const *topologies, const uint32_t *sizes, double latency)
{
    wire_begin();
    for (uint32_t i = 0; i < n_dims; i++)
        wire_dimension(topologies[i], (net_shape){.n = sizes[i]}, BYTE_PER_NS, latency);
    wire_finish();
}

/* Until nothing is under way; the load by the last event. */
static const net_load *run(void)
{
    const net_load *load;

    wire_run();
    load = net_load_of(&wire.traffic, wire.now, &wire.arena);
    return load;
}

/* A ring of four, 10 ns, a byte a ns. 100 bytes 0 -> 1 take the link until 100; 50 bytes 0 -> 2 then until 150, are at 1
 * at 160, take 1 -> 2 until 210 and arrive at 220, the end. */
CLAIM(a_link_is_busy_while_a_message_takes_it)
{
    const net_load *l;
    const uint32_t *sorted;

    begin(1, (const char *const[]){"Ring"}, (const uint32_t[]){4}, 10);
    wire_send(0, 0, 1, 100);
    wire_send(0, 0, 2, 50);
    l = run();
    assert_u64(l->end, 220);
    assert_u64(l->link[wire_link(0, 1)].busy, 150);
    assert_u64(l->link[wire_link(0, 1)].bytes, 150);
    assert_u64(l->link[wire_link(0, 1)].n_messages, 2);
    assert_u64(l->link[wire_link(1, 2)].busy, 50);
    assert_u64(l->link[wire_link(1, 0)].n_messages, 0);
    assert_double(net_load_util(l, wire_link(0, 1)), 150.0 / 220);
    assert_u64(l->busiest, wire_link(0, 1));
    assert_u64(l->n_as_busy, 0);
    assert_string_equal(l->busiest_name, "0 -> 1");
    assert_u64(l->n_used, 2);
    assert_u64(l->dim[0].n_links, 8);
    assert_u64(l->dim[0].n_used, 2);
    assert_u64(l->dim[0].n_messages, 3);
    assert_u64(l->dim[0].bytes, 200);
    assert_double(l->dim[0].max_util, 150.0 / 220);
    assert_double(l->dim[0].mean_util, (150.0 / 220 + 50.0 / 220) / 8);
    sorted = net_load_sort(l, &wire.arena);
    assert_u64(sorted[0], wire_link(0, 1));
    assert_u64(sorted[1], wire_link(1, 2));
    for (uint32_t i = 3; i < wire.graph.n_links; i++)
        assert_true(sorted[i] > sorted[i - 1]);
    wire_end();
}

/* Without latency the link is free just when the run ends. 2 -> 3 is as busy, and later. */
CLAIM(a_link_that_never_rests_is_used_wholly)
{
    const net_load *l;

    begin(1, (const char *const[]){"FullyConnected"}, (const uint32_t[]){4}, 0);
    wire_send(0, 2, 3, 700);
    wire_send(0, 1, 2, 300);
    wire_send(0, 1, 2, 400);
    l = run();
    assert_double(net_load_util(l, wire_link(1, 2)), 1);
    assert_double(net_load_util(l, wire_link(2, 3)), 1);
    assert_u64(l->busiest, wire_link(1, 2));
    assert_u64(l->n_as_busy, 1);
    wire_end();
}

/* At two bytes a ns a byte's time is truncated to none. A link can be used, and not busy. */
CLAIM(a_link_that_was_used_comes_before_one_that_was_not)
{
    const net_load *l;
    const uint32_t *sorted;

    begin(1, (const char *const[]){"Switch"}, (const uint32_t[]){2}, 10);
    wire.net.dim[0].bytes_per_ns = 2;
    wire_send(5, 1, 0, 1);
    l = run();
    assert_u64(l->n_used, 2);
    assert_double(l->dim[0].max_util, 0);
    assert_string_equal(l->busiest_name, "1 -> switch 2");
    sorted = net_load_sort(l, &wire.arena);
    assert_u64(sorted[0], wire_link(1, 2));
    assert_u64(sorted[1], wire_link(2, 0));
    assert_u64(sorted[2], wire_link(0, 2));
    wire_end();
}

CLAIM(where_nothing_was_sent_nothing_is_busiest)
{
    const net_load *l;

    begin(1, (const char *const[]){"Ring"}, (const uint32_t[]){4}, 10);
    l = run();
    assert_u64(l->busiest, DSE_NONE);
    assert_u64(l->n_used, 0);
    assert_u64(l->dim[0].n_links, 8);
    assert_double(l->dim[0].mean_util, 0);
    wire_end();
}

/* Routes are dimension-ordered, so a message takes the hops of each dimension there: the bytes of the links of a
 * dimension are the sum over messages of bytes x hops in it. */
CLAIM(links_carry_bytes_times_hops)
{
    static const struct {
        uint32_t n;
        const char *topology[3];
        uint32_t size[3];
    } nets[] = {{1, {"Mesh2D"}, {16}},
                {1, {"Switch"}, {9}},
                {1, {"Hypercube"}, {32}},
                {2, {"Torus2D", "Switch"}, {9, 3}},
                {3, {"Ring", "FullyConnected", "Switch"}, {5, 3, 2}},
                {3, {"Switch", "Mesh2D", "Torus3D"}, {2, 4, 8}}};
    uint64_t seed = 1;

    for (size_t k = 0; k < sizeof nets / sizeof nets[0]; k++) {
        uint64_t bytes[3] = {0}, hops[3] = {0}, n_hops = 0;
        const net_load *l;

        begin(nets[k].n, nets[k].topology, nets[k].size, 7);
        for (int i = 0; i < 500; i++) {
            uint32_t src = (uint32_t)(unit_random(&seed) % wire.net.n_npus);
            uint32_t dst =
                (uint32_t)((src + 1 + unit_random(&seed) % (wire.net.n_npus - 1)) % wire.net.n_npus);
            uint64_t size = 1 + unit_random(&seed) % 5000;

            wire_send(0, src, dst, size);
            for (uint32_t d = 0; d < wire.net.n_dims; d++) {
                uint32_t a = net_place(&wire.net.dim[d], src), b = net_place(&wire.net.dim[d], dst);
                uint32_t h = a == b ? 0 : wire.net.dim[d].topology->hops(&wire.net.dim[d].shape, a, b);

                bytes[d] += size * h;
                hops[d] += h;
            }
        }
        l = run();
        for (uint32_t d = 0; d < wire.net.n_dims; d++) {
            assert_u64(l->dim[d].bytes, bytes[d]);
            assert_u64(l->dim[d].n_messages, hops[d]);
            assert_true(l->dim[d].mean_util > 0 && l->dim[d].mean_util <= l->dim[d].max_util);
            n_hops += hops[d];
        }
        assert_u64(wire.traffic.n_hops, n_hops);
        for (uint32_t slot = 0; slot < wire.graph.n_slots; slot++)
            assert_true(net_load_util(l, slot) >= 0 && net_load_util(l, slot) <= 1);
        wire_end();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_link_is_busy_while_a_message_takes_it),
        cmocka_unit_test(a_link_that_never_rests_is_used_wholly),
        cmocka_unit_test(a_link_that_was_used_comes_before_one_that_was_not),
        cmocka_unit_test(where_nothing_was_sent_nothing_is_busiest),
        cmocka_unit_test(links_carry_bytes_times_hops),
    };
    return RUN_TESTS(tests);
}
