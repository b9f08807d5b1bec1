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

/* 3 boxes of 4 NPUs; the switches of dimension 1 are one bar; a ring of 4 has 4 lines, the 3 boxes have one each. */
CLAIM(each_npu_box_and_line_is_there_once)
{
    dse_error err = DSE_ERROR_INIT;
    world w;

    setup(&w, "Ring 4, Switch 3");
    assert_ok(draw_svg(&w.graph, "n", &w.arena, &w.text, &err), &err);
    assert_int_equal(count(w.text.data, "class=\"npu\""), 12);
    assert_int_equal(count(w.text.data, "class=\"box\""), 3);
    assert_int_equal(count(w.text.data, "class=\"switch\""), 1);
    assert_int_equal(count(w.text.data, "M"), 3 * 4 + 3 + 2); /* 2: the legend's */
    assert_non_null(strstr(w.text.data, ">switches 12-15<"));
    assert_non_null(strstr(w.text.data, ">NPUs 8-11<"));
    assert_non_null(
        strstr(w.text.data, "dimension 1: Switch 3, links of 25 GiB/s each way, 510 ns; a line: 4 links"));
    teardown(&w);
}

/* 3 by 3: 6 and 6 lines between neighbours, 3 and 3 around. */
CLAIM(what_wraps_is_a_curve)
{
    dse_error err = DSE_ERROR_INIT;
    world w;

    setup(&w, "Torus2D 3x3");
    assert_ok(draw_svg(&w.graph, "n", &w.arena, &w.text, &err), &err);
    assert_int_equal(count(w.text.data, "M"), 18 + 1);
    assert_int_equal(count(w.text.data, "Q"), 2 * 6);
    teardown(&w);
}

CLAIM(a_name_may_hold_anything)
{
    dse_error err = DSE_ERROR_INIT;
    world w;

    setup(&w, "Ring 2");
    assert_ok(draw_svg(&w.graph, "a<b>&\"c", &w.arena, &w.text, &err), &err);
    assert_non_null(strstr(w.text.data, "<title>a&lt;b&gt;&amp;\"c</title>"));
    teardown(&w);
}

CLAIM(what_nobody_can_read_is_refused)
{
    dse_error err = DSE_ERROR_INIT;
    world w;

    setup(&w, "Mesh2D 33x32");
    assert_says(draw_svg(&w.graph, "n", &w.arena, &w.text, &err), &err, DSE_E_RANGE,
                "a picture of 1056 NPUs cannot be read; at most 1024 are drawn");
    assert_int_equal(w.text.len, 0);
    teardown(&w);
    err = (dse_error)DSE_ERROR_INIT;
    setup(&w, "FullyConnected 201"); /* 201 * 200 / 2 */
    assert_says(draw_svg(&w.graph, "n", &w.arena, &w.text, &err), &err, DSE_E_RANGE,
                "a picture of 20100 lines cannot be read; at most 20000 are drawn");
    teardown(&w);
}

static dse_status make(void *what, dse_arena *a, dse_error *err)
{
    world *w = what;
    dse_status st = net_graph_init(&w->graph, &w->net, a, err);

    dse_strbuf_init(&w->text);
    if (st == DSE_OK)
        st = draw_svg(&w->graph, "n", a, &w->text, err);
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
        cmocka_unit_test(each_npu_box_and_line_is_there_once),
        cmocka_unit_test(what_wraps_is_a_curve),
        cmocka_unit_test(a_name_may_hold_anything),
        cmocka_unit_test(what_nobody_can_read_is_refused),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return RUN_TESTS(tests);
}
