/* The load of links as text, JSON and CSV. */
#include "base/fs.h"
#include "driver/links.h"
#include "unit/unit.h"

#define BYTE_PER_NS (1953125.0 / 2097152) /* GiB/s */

static dse_arena arena;
static dse_error err;
static dse_strbuf out;
static dse_queue queue;
static net_network net;
static net_graph graph;
static net_traffic traffic;

/* n NPUs, all linked, a byte a ns and no latency. The first of them sends i * 100 bytes to the i-th, for the first
 * `messages`: these links are busy for so many ns of the 4000 of the run. */
static const net_load *fully_connected(uint32_t n, uint32_t messages)
{
    dse_arena_init(&arena);
    dse_strbuf_init(&out);
    dse_queue_init(&queue);
    err = (dse_error)DSE_ERROR_INIT;
    net = (net_network){
        .n_dims = 1,
        .congestion = true,
        .dim = {{.topology = net_topology_find("FullyConnected"), .shape.n = n, .gib_per_s = BYTE_PER_NS}}};
    assert_ok(net_network_finish(&net, &err), &err);
    assert_ok(net_graph_init(&graph, &net, &arena, &err), &err);
    net_traffic_init(&traffic, &graph, &queue, &arena);
    for (uint32_t i = 1; i <= messages; i++)
        assert_ok(net_traffic_send(&traffic, 0, 0, i, i * 100, 0, &err), &err);
    return net_load_of(&traffic, 4000, &arena);
}

static void end(void)
{
    net_traffic_free(&traffic);
    dse_queue_free(&queue);
    dse_strbuf_free(&out);
    dse_arena_free(&arena);
}

static const char *print(const net_load *l)
{
    dse_strbuf_clear(&out);
    drv_links_print(l, &arena, &out);
    return out.data;
}

static const char *json(const net_load *l)
{
    report_tree t;

    dse_strbuf_clear(&out);
    drv_links_put(l, &arena, report_tree_begin(&t));
    report_tree_write(&t, &out);
    return out.data;
}

static void assert_has(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("'%s' is not in\n%s", part, text);
}

/* Of 26 * 25 = 650 links 25 were used, of which 20 are shown, from 2500 bytes (2500 / 4000 = 62.5 %) down to 600. The mean is
 * (100 + ... + 2500) / 4000 / 650 = 32500 / 4000 / 650 = 1.25 %. */
CLAIM(the_twenty_busiest_links_are_shown)
{
    const char *text = print(fully_connected(26, 25));

    assert_has(text, "0, FullyConnected    650    25        25  32.5 kB  1.2%  62.5%\n");
    assert_has(text, "bottleneck: link 0 -> 25 (dimension 0), busy 62.5 % of the run, 2.5 kB\n");
    assert_has(text, "0 -> 25          0         1  2.5 kB  2.500 us  62.5%\n0 -> 24 ");
    assert_has(text, "0 -> 6           0         1   600 B    600 ns  15.0%\n"
                     "5 more were used; --links-csv FILE writes all of them\n"
                     "625 of 650 links were never used\n");
    end();
}

CLAIM(where_all_links_are_shown_no_more_are_promised)
{
    const char *text = print(fully_connected(2, 1));

    assert_null(strstr(text, "more were used"));
    assert_has(text, "0 -> 1          0         1  100 B  100 ns  2.5%\n1 of 2 links were never used\n");
    end();
}

CLAIM(where_no_message_was_sent_there_is_no_bottleneck)
{
    const net_load *l = fully_connected(3, 0);

    assert_has(print(l), "bottleneck: none, no message was sent\n6 of 6 links were never used\n");
    assert_has(json(l), "\"bottleneck\":null,\"links\":[{\"source\":0,\"destination\":1,");
    end();
}

CLAIM(programs_get_every_link)
{
    assert_string_equal(
        json(fully_connected(2, 1)),
        "{\"run_time_ns\":4000,\"total\":2,\"used\":1,\"dimensions\":[{\"dimension\":0,\"topology\":"
        "\"FullyConnected\","
        "\"links\":2,\"used\":1,\"messages\":1,\"bytes\":100,\"mean_utilisation_pct\":1.250,"
        "\"max_utilisation_pct\":2.500}],"
        "\"bottleneck\":{\"source\":0,\"destination\":1,\"dimension\":0,\"messages\":1,\"bytes\":100,\"busy_"
        "ns\":"
        "100,"
        "\"utilisation_pct\":2.500},"
        "\"links\":[{\"source\":0,\"destination\":1,\"dimension\":0,\"messages\":1,\"bytes\":100,\"busy_ns\":"
        "100,"
        "\"utilisation_pct\":2.500},"
        "{\"source\":1,\"destination\":0,\"dimension\":0,\"messages\":0,\"bytes\":0,\"busy_ns\":0,"
        "\"utilisation_pct\":0.000}]}");
    end();
}

CLAIM(a_network_without_congestion_is_refused_with_the_remedy)
{
    card_system s = {0};

    err = (dse_error)DSE_ERROR_INIT;
    strcpy(s.backend, "congestion_unaware");
    assert_failure(drv_links_check(&s, "give this", &err), &err, DSE_E_USAGE, "",
                   "without congestion there are no links: each message has a delay of its own; give this");
    err = (dse_error)DSE_ERROR_INIT;
    strcpy(s.backend, "congestion_aware");
    assert_ok(drv_links_check(&s, "give this", &err), &err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_twenty_busiest_links_are_shown),
        cmocka_unit_test(where_all_links_are_shown_no_more_are_promised),
        cmocka_unit_test(where_no_message_was_sent_there_is_no_bottleneck),
        cmocka_unit_test(programs_get_every_link),
        cmocka_unit_test(a_network_without_congestion_is_refused_with_the_remedy),
    };
    return RUN_TESTS(tests);
}
