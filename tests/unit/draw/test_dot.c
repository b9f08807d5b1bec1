#include "unit/draw/picture.h"

/* 4 + 4 connections of two rings, and one of each NPU to its switch: 16 edges; 8 NPUs and 4 switches. */
CLAIM(each_connection_is_one_edge)
{
    picture p;

    picture_begin(&p, "Ring 4, Switch 2");
    draw_dot(&p.graph, "n", &p.arena, &p.text);
    assert_int_equal(picture_count(p.text.data, " -- "), 4 + 4 + 8);
    assert_int_equal(picture_count(p.text.data, " -- "), p.graph.n_links / 2);
    assert_int_equal(picture_count(p.text.data, "pos=\""), 12);
    assert_int_equal(picture_count(p.text.data, "[label=\"switch "), 4);
    assert_non_null(strstr(p.text.data, "  3 -- 11 [color=darkorange]\n"));
    picture_end(&p);
}

CLAIM(a_name_may_hold_quotes)
{
    picture p;

    picture_begin(&p, "Ring 2");
    draw_dot(&p.graph, "a\"b\\c", &p.arena, &p.text);
    assert_non_null(strstr(p.text.data, "graph \"a\\\"b\\\\c\" {"));
    picture_end(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_connection_is_one_edge),
        cmocka_unit_test(a_name_may_hold_quotes),
    };
    return RUN_TESTS(tests);
}
