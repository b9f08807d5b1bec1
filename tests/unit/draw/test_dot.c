#include "unit/network/nets.h"

#include "draw/draw.h"

typedef struct {
    dse_arena arena;
    net_network net;
    net_graph graph;
    dse_strbuf text;
} world;

static void setup(world *w, const char *network)
{
    dse_error err = DSE_ERROR_INIT;

    w->net = nets_make(network);
    dse_arena_init(&w->arena);
    dse_strbuf_init(&w->text);
    assert_ok(net_graph_init(&w->graph, &w->net, &w->arena, &err), &err);
}

static void teardown(world *w)
{
    dse_strbuf_free(&w->text);
    dse_arena_free(&w->arena);
}

static uint32_t count(const char *text, const char *part)
{
    uint32_t n = 0;

    for (const char *p = text; (p = strstr(p, part)); p += strlen(part))
        n++;
    return n;
}

/* 4 + 4 connections of two rings, and one of each NPU to its switch: 16 edges; 8 NPUs and 4 switches. */
CLAIM(each_connection_is_one_edge)
{
    dse_error err = DSE_ERROR_INIT;
    world w;

    setup(&w, "Ring 4, Switch 2");
    assert_ok(draw_dot(&w.graph, "n", &w.arena, &w.text, &err), &err);
    assert_int_equal(count(w.text.data, " -- "), 4 + 4 + 8);
    assert_int_equal(count(w.text.data, " -- "), w.graph.n_links / 2);
    assert_int_equal(count(w.text.data, "pos=\""), 12);
    assert_int_equal(count(w.text.data, "[label=\"switch "), 4);
    assert_non_null(strstr(w.text.data, "  3 -- 11 [color=darkorange]\n"));
    teardown(&w);
}

CLAIM(a_name_may_hold_quotes)
{
    dse_error err = DSE_ERROR_INIT;
    world w;

    setup(&w, "Ring 2");
    assert_ok(draw_dot(&w.graph, "a\"b\\c", &w.arena, &w.text, &err), &err);
    assert_non_null(strstr(w.text.data, "graph \"a\\\"b\\\\c\" {"));
    teardown(&w);
}

static dse_status make(void *what, dse_arena *a, dse_error *err)
{
    world *w = what;
    dse_status st = net_graph_init(&w->graph, &w->net, a, err);

    dse_strbuf_init(&w->text);
    if (st == DSE_OK)
        st = draw_dot(&w->graph, "n", a, &w->text, err);
    dse_strbuf_free(&w->text);
    return st;
}

CLAIM(every_allocation_may_fail)
{
    world w;

    w.net = nets_make("Torus2D 3x3, Switch 2");
    assert_true(unit_fail_each_allocation(make, &w, 64) > 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_connection_is_one_edge),
        cmocka_unit_test(a_name_may_hold_quotes),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return RUN_TESTS(tests);
}
