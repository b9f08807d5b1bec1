#include "unit/unit.h"

#include "network/network.h"

static net_dimension dimension(const char *topology, uint32_t n, double gib_per_s, double latency_ns)
{
    return (net_dimension){.topology = net_topology_find(topology),
                           .shape.n = n,
                           .gib_per_s = gib_per_s,
                           .latency_ns = latency_ns};
}

static net_network one(const char *topology, uint32_t n, double gib_per_s, double latency_ns)
{
    net_network net = {.n_dims = 1};

    net.dim[0] = dimension(topology, n, gib_per_s, latency_ns);
    assert_int_equal(net_network_finish(&net, NULL), DSE_OK);
    return net;
}

/* ---- addresses ----------------------------------------------------------------------------- */

/* [2, 8, 4]: dimension 0 fastest, so NPU 47 = 1 + 2 * (7 + 8 * 2) is [1, 7, 2]. Latencies of their own tell
 * which dimension a message pays for; the bandwidth is so high that bytes take no time. */
static net_network three_dimensions(void)
{
    net_network net = {.n_dims = 3};

    net.dim[0] = dimension("Ring", 2, 1e9, 1000);
    net.dim[1] = dimension("Ring", 8, 1e9, 10);
    net.dim[2] = dimension("Switch", 4, 1e9, 3);
    assert_int_equal(net_network_finish(&net, NULL), DSE_OK);
    return net;
}

CLAIM(strides_are_the_products_of_the_lower_sizes)
{
    net_network net = three_dimensions();

    assert_int_equal(net.n_npus, 64);
    assert_int_equal(net.dim[0].stride, 1);
    assert_int_equal(net.dim[1].stride, 2);
    assert_int_equal(net.dim[2].stride, 16);
}

CLAIM(npu_47_of_2_8_4_is_1_7_2)
{
    net_network net = three_dimensions();

    assert_u64(net_delay(&net, 47, 46, 1), 1000);   /* [0, 7, 2]: one link of dimension 0 */
    assert_u64(net_delay(&net, 47, 45, 1), 10);     /* [1, 6, 2] */
    assert_u64(net_delay(&net, 47, 33, 1), 10);     /* [1, 0, 2]: 7 to 0 wraps around */
    assert_u64(net_delay(&net, 47, 39, 1), 4 * 10); /* [1, 3, 2] */
    assert_u64(net_delay(&net, 47, 31, 1), 2 * 3);  /* [1, 7, 1]: over the switch */
    assert_u64(net_delay(&net, 47, 63, 1), 2 * 3);  /* [1, 7, 3] */
}

CLAIM(a_message_pays_for_the_lowest_dimension_that_differs)
{
    net_network net = three_dimensions();

    assert_u64(net_delay(&net, 47, 0, 1), 1000);   /* [1,7,2] to [0,0,0]: dimension 0 alone */
    assert_u64(net_delay(&net, 47, 1, 1), 10);     /* to [1,0,0]: dimension 1 alone */
    assert_u64(net_delay(&net, 47, 7, 1), 4 * 10); /* to [1,3,0] */
    assert_u64(net_delay(&net, 0, 47, 1), 1000);
}

/* ---- delays -------------------------------------------------------------------------------- */

/* 10^9 / 2^30 = 1953125 / 2^21 has an exact double: 10^9 bytes per second, a byte per ns. */
CLAIM(at_one_byte_per_ns_a_message_takes_its_size_and_the_latency_of_its_links)
{
    net_network net = one("Ring", 8, 1953125.0 / 2097152, 50);

    assert_double(net.dim[0].bytes_per_ns, 1);
    assert_u64(net_delay(&net, 0, 1, 1), 51);
    assert_u64(net_delay(&net, 0, 1, 12345678901), 12345678951);
    assert_u64(net_delay(&net, 0, 4, 1000), 1200);
}

/* A link's GB is 2^30: 2^30 bytes at "1" take 10^9 ns, not 1.07 * 10^9. 2^30 / 10^9 has no exact double, so the
 * quotient may come out a hair below 10^9 and be truncated, as it is in the reference. */
CLAIM(a_gib_at_one_gib_per_second_takes_a_second)
{
    net_network net = one("Ring", 8, 1, 0);

    assert_in_range(net_delay(&net, 0, 1, 1u << 30), 999999999, 1000000000);
}

/* At 100 GiB/s a byte takes 10^9 / (100 * 2^30) = 0.0093132257... ns: 1000 bytes 9.31, 10^6 bytes 9313.2257. */
CLAIM(time_is_truncated_to_whole_nanoseconds)
{
    net_network net = one("Switch", 4, 100, 0);

    assert_u64(net_delay(&net, 0, 1, 1), 0);
    assert_u64(net_delay(&net, 0, 1, 107), 0); /* 0.9965 */
    assert_u64(net_delay(&net, 0, 1, 108), 1); /* 1.0058 */
    assert_u64(net_delay(&net, 0, 1, 1000), 9);
    assert_u64(net_delay(&net, 0, 1, 1000000), 9313);
}

/* Two links of 0.6 ns and 107 bytes of 0.0093 ns are 2.196: truncated apart they would be 1. */
CLAIM(latency_and_bytes_are_truncated_together)
{
    net_network net = one("Switch", 4, 100, 0.6);

    assert_u64(net_delay(&net, 0, 1, 107), 2);
    assert_u64(net_delay(&net, 0, 1, 1), 1); /* 1.2 + 0.0093 */
}

/* The reference simulator's definition, over random networks and messages. */
CLAIM(the_delay_is_hops_times_latency_plus_bytes_over_bandwidth)
{
    uint64_t seed = 7;

    for (int i = 0; i < 2000; i++) {
        uint32_t n = 2 + (uint32_t)(unit_random(&seed) % 63), src, dst, apart;
        double gib = (double)(1 + unit_random(&seed) % 4000) / 8,
               latency = (double)(unit_random(&seed) % 5000) / 4;
        uint64_t bytes = 1 + unit_random(&seed) % (1u << 28);
        net_network ring = one("Ring", n, gib, latency), full = one("FullyConnected", n, gib, latency);
        double ns = (double)bytes / (gib * 1073741824.0 / 1e9);

        src = (uint32_t)(unit_random(&seed) % n);
        dst = (src + 1 + (uint32_t)(unit_random(&seed) % (n - 1))) % n;
        apart = src > dst ? src - dst : dst - src;
        apart = apart < n - apart ? apart : n - apart;
        assert_u64(net_delay(&ring, src, dst, bytes), (uint64_t)((double)apart * latency + ns));
        assert_u64(net_delay(&full, src, dst, bytes), (uint64_t)(latency + ns));
    }
}

CLAIM(more_bytes_never_arrive_earlier)
{
    net_network net = one("Ring", 4, 128.5714, 20);
    dse_time last = 0;

    for (uint64_t bytes = 1; bytes < 1u << 24; bytes = bytes * 3 / 2 + 1) {
        dse_time t = net_delay(&net, 0, 1, bytes);

        assert_true(t >= last);
        last = t;
    }
}

/* ---- several dimensions -------------------------------------------------------------------- */

CLAIM(a_dimension_is_named_with_its_extents)
{
    char name[NET_DIMENSION_NAME];
    net_network net = {.n_dims = 3,
                       .dim = {{.topology = net_topology_find("Ring"), .shape.n = 8, .gib_per_s = 1},
                               {.topology = net_topology_find("Mesh2D"), .shape.n = 9, .gib_per_s = 1},
                               {.topology = net_topology_find("Torus3D"), .shape.n = 8, .gib_per_s = 1}}};
    static const char *const expected[] = {"Ring 8", "Mesh2D 3x3", "Torus3D 2x2x2"};

    assert_int_equal(net_network_finish(&net, NULL), DSE_OK);
    for (size_t i = 0; i < 3; i++) {
        net_dimension_name(&net.dim[i], name, sizeof name);
        assert_string_equal(name, expected[i]);
    }
}

CLAIM(npus_differ_in_several_dimensions_or_in_one)
{
    net_network net = three_dimensions();

    assert_true(net_differ_in_several(&net, 47, 0));  /* [1,7,2], [0,0,0] */
    assert_true(net_differ_in_several(&net, 47, 44)); /* [0,6,2] */
    assert_true(net_differ_in_several(&net, 47, 1));  /* [1,0,0] */
    assert_false(net_differ_in_several(&net, 47, 46));
    assert_false(net_differ_in_several(&net, 47, 45));
    assert_false(net_differ_in_several(&net, 47, 31));
    assert_false(net_differ_in_several(&net, 47, 47));
}

/* [1,7,2] to [0,0,0]: one link of 1000, one of 10 (7 to 0 wraps around), two of 3. */
CLAIM(full_multi_hop_charges_every_dimension_that_differs)
{
    net_network net = three_dimensions();

    net.full_multi_hop = true;
    assert_u64(net_delay(&net, 47, 0, 1), 1000 + 10 + 2 * 3);
    assert_u64(net_delay(&net, 0, 47, 1), 1000 + 10 + 2 * 3);
    assert_u64(net_delay(&net, 47, 1, 1), 10 + 2 * 3);        /* [1,0,0] */
    assert_u64(net_delay(&net, 47, 6, 1), 1000 + 40 + 2 * 3); /* [0,3,0] */
    assert_u64(net_delay(&net, 47, 46, 1), 1000);             /* one alone: as without */
}

/* At 100 GiB/s 107 bytes take 0.9965 ns: 0 for each of the two dimensions, though both together are 1.993. */
CLAIM(each_dimension_is_truncated_by_itself)
{
    net_network net = {.n_dims = 2, .full_multi_hop = true};

    net.dim[0] = dimension("FullyConnected", 4, 100, 0.5);
    net.dim[1] = dimension("FullyConnected", 4, 100, 0);
    assert_int_equal(net_network_finish(&net, NULL), DSE_OK);
    assert_u64(net_delay(&net, 0, 5, 107), 1); /* 1.4965 and 0.9965 */
}

CLAIM(full_multi_hop_is_never_cheaper_than_the_lowest_dimension)
{
    net_network net = three_dimensions(), full = net;
    uint64_t seed = 11;

    full.full_multi_hop = true;
    for (int i = 0; i < 1000; i++) {
        uint32_t src = (uint32_t)(unit_random(&seed) % 64), dst = (uint32_t)(unit_random(&seed) % 64);
        uint64_t bytes = 1 + unit_random(&seed) % (1u << 28);

        if (src == dst)
            continue;
        if (net_differ_in_several(&net, src, dst))
            assert_true(net_delay(&full, src, dst, bytes) > net_delay(&net, src, dst, bytes));
        else
            assert_u64(net_delay(&full, src, dst, bytes), net_delay(&net, src, dst, bytes));
    }
}

CLAIM(a_mesh_of_npus_charges_its_steps)
{
    net_network net = {.n_dims = 1};

    net.dim[0] = dimension("Mesh2D", 16, 50, 500);
    assert_int_equal(net_network_finish(&net, NULL), DSE_OK);
    assert_u64(net_delay(&net, 15, 4, 1), 5 * 500); /* |dx| + |dy| = 3 + 2 */
    assert_u64(net_delay(&net, 1, 7, 1), 3 * 500);
}

/* ---- classes of ways ------------------------------------------------------------------------- */

static uint64_t path_class(const net_network *net, uint32_t src, uint32_t dst)
{
    uint64_t class = 0;

    assert_true(net_path_class(net, src, dst, &class));
    return class;
}

/* On 2 x 8 x 4, of which 47 is [1,7,2]: by the lowest dimension that differs and the links there. */
CLAIM(ways_of_as_many_links_of_one_dimension_are_of_one_class)
{
    net_network net = three_dimensions();

    assert_u64(path_class(&net, 47, 45), path_class(&net, 0, 2));      /* one link of dimension 1 */
    assert_u64(path_class(&net, 47, 33), path_class(&net, 45, 47));    /* 7 to 0, and 6 to 7 */
    assert_u64(path_class(&net, 47, 1), path_class(&net, 45, 47));     /* and dimension 2 for nothing */
    assert_true(path_class(&net, 47, 45) != path_class(&net, 47, 43)); /* two links */
    assert_true(path_class(&net, 47, 45) != path_class(&net, 47, 46)); /* dimension 0 */
    net.full_multi_hop = true;
    assert_true(path_class(&net, 47, 1) != path_class(&net, 45, 47));
    assert_u64(path_class(&net, 47, 1), path_class(&net, 1, 47));
}

static net_network random_network(uint64_t *seed)
{
    size_t n_rows;
    const net_topology *rows = net_topologies(&n_rows);
    net_network net = {.full_multi_hop = unit_random(seed) % 2};
    uint32_t n_dims = 1 + (uint32_t)(unit_random(seed) % 3);

    for (; net.n_dims < n_dims; net.n_dims++) {
        const net_topology *t = &rows[unit_random(seed) % n_rows];
        net_dimension *d = &net.dim[net.n_dims];

        *d = dimension(t->name, 0, (double)(1 + unit_random(seed) % 800) / 8,
                       (double)(unit_random(seed) % 2000) / 4);
        if (!t->n_axes)
            d->shape.n =
                t->power_of_two ? 2u << unit_random(seed) % 3 : 2 + (uint32_t)(unit_random(seed) % 7);
        for (uint32_t axis = 0; axis < t->n_axes; axis++)
            d->shape.extent[axis] = 2 + (uint32_t)(unit_random(seed) % (t->n_axes == 2 ? 2 : 1));
    }
    assert_int_equal(net_network_finish(&net, NULL), DSE_OK);
    return net;
}

/* All pairs of random networks: what a pair's message takes is what it takes for the first pair of its class. */
CLAIM(messages_of_one_class_take_the_same_time)
{
    enum { MAX_CLASSES = 4096 };
    static struct {
        uint64_t class;
        uint32_t src, dst;
    } known[MAX_CLASSES];
    uint64_t seed = 31;

    for (int i = 0; i < 60; i++) {
        net_network net = random_network(&seed);
        uint32_t n = 0, n_pairs = 0;

        for (uint32_t src = 0; src < net.n_npus; src++) {
            for (uint32_t dst = 0; dst < net.n_npus && src < 40; dst++) {
                uint64_t class = src == dst ? 0 : path_class(&net, src, dst);
                uint32_t k = 0;

                if (src == dst)
                    continue;
                while (k < n && known[k].class != class)
                    k++;
                n_pairs++;
                assert_true(k < MAX_CLASSES);
                if (k == n) {
                    known[n].class = class;
                    known[n].src = src;
                    known[n++].dst = dst;
                }
                for (int size = 0; size < 4; size++) {
                    uint64_t bytes = 1 + unit_random(&seed) % (1u << (8 * size + 4));

                    assert_u64(net_delay(&net, src, dst, bytes),
                               net_delay(&net, known[k].src, known[k].dst, bytes));
                }
            }
        }
        assert_true(n < n_pairs); /* and not each pair is of its own */
    }
}

/* Where all dimensions are charged there is room for 63 links in each: on a ring of 128 that is all but the NPU
 * opposite. */
CLAIM(ways_of_more_than_63_links_have_no_class_where_all_dimensions_are_charged)
{
    net_network net = one("Ring", 128, 50, 10);
    uint64_t class;

    for (int full = 0; full < 2; full++) {
        net.full_multi_hop = full;
        for (uint32_t dst = 1; dst < 128; dst++)
            assert_int_equal(net_path_class(&net, 0, dst, &class), !full || dst != 64);
    }
}

/* ---- refusals ------------------------------------------------------------------------------ */

static void refuse(net_dimension second, const char *message)
{
    net_network net = {.n_dims = 2};
    dse_error err = DSE_ERROR_INIT;

    net.dim[0] = dimension("Ring", 4, 1, 0);
    net.dim[1] = second;
    assert_failure(net_network_finish(&net, &err), &err, DSE_E_RANGE, "", message);
}

CLAIM(what_the_reference_refuses_is_refused)
{
    refuse(dimension("Ring", 1, 1, 1), "dimension 1: npus_count is 1; it must be larger than 1");
    refuse(dimension("Ring", 0, 1, 1), "dimension 1: npus_count is 0; it must be larger than 1");
    refuse(dimension("Ring", 2, 0, 1), "dimension 1 has bandwidth 0; it must be positive");
    refuse(dimension("Ring", 2, -5, 1), "dimension 1 has bandwidth -5; it must be positive");
    refuse(dimension("Ring", 2, (double)NAN, 1), "dimension 1 has bandwidth nan; it must be positive");
    refuse(dimension("Ring", 2, 1, -1), "dimension 1 has latency -1; it must not be negative");
    refuse(dimension("Ring", 2, 1, (double)NAN), "dimension 1 has latency nan; it must not be negative");
}

CLAIM(two_to_the_24_npus_are_the_most)
{
    net_network net = {.n_dims = 2};
    dse_error err = DSE_ERROR_INIT;

    net.dim[0] = dimension("Ring", 1u << 12, 1, 0);
    net.dim[1] = dimension("Ring", 1u << 12, 1, 0);
    assert_ok(net_network_finish(&net, &err), &err);
    assert_int_equal(net.n_npus, 1u << 24);
    net.dim[1].shape.n++;
    assert_failure(net_network_finish(&net, &err), &err, DSE_E_RANGE, "",
                   "the network has more than 16777216 NPUs");
}

/* 2^32 * 2^32 would wrap to 0 in 64 bits. */
CLAIM(sizes_that_overflow_are_refused)
{
    net_network net = {.n_dims = 3};
    dse_error err = DSE_ERROR_INIT;

    for (int i = 0; i < 3; i++)
        net.dim[i] = dimension("Ring", UINT32_MAX, 1, 0);
    assert_failure(net_network_finish(&net, &err), &err, DSE_E_RANGE, "",
                   "the network has more than 16777216 NPUs");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strides_are_the_products_of_the_lower_sizes),
        cmocka_unit_test(npu_47_of_2_8_4_is_1_7_2),
        cmocka_unit_test(a_message_pays_for_the_lowest_dimension_that_differs),
        cmocka_unit_test(at_one_byte_per_ns_a_message_takes_its_size_and_the_latency_of_its_links),
        cmocka_unit_test(a_gib_at_one_gib_per_second_takes_a_second),
        cmocka_unit_test(time_is_truncated_to_whole_nanoseconds),
        cmocka_unit_test(latency_and_bytes_are_truncated_together),
        cmocka_unit_test(the_delay_is_hops_times_latency_plus_bytes_over_bandwidth),
        cmocka_unit_test(more_bytes_never_arrive_earlier),
        cmocka_unit_test(a_dimension_is_named_with_its_extents),
        cmocka_unit_test(npus_differ_in_several_dimensions_or_in_one),
        cmocka_unit_test(full_multi_hop_charges_every_dimension_that_differs),
        cmocka_unit_test(each_dimension_is_truncated_by_itself),
        cmocka_unit_test(full_multi_hop_is_never_cheaper_than_the_lowest_dimension),
        cmocka_unit_test(a_mesh_of_npus_charges_its_steps),
        cmocka_unit_test(ways_of_as_many_links_of_one_dimension_are_of_one_class),
        cmocka_unit_test(messages_of_one_class_take_the_same_time),
        cmocka_unit_test(ways_of_more_than_63_links_have_no_class_where_all_dimensions_are_charged),
        cmocka_unit_test(what_the_reference_refuses_is_refused),
        cmocka_unit_test(two_to_the_24_npus_are_the_most),
        cmocka_unit_test(sizes_that_overflow_are_refused),
    };
    return RUN_TESTS(tests);
}
