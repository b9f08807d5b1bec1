#include "unit/draw/picture.h"

/* 3 boxes of 4 NPUs; the switches of dimension 1 are one bar; a ring of 4 has 4 lines, the 3 boxes have one each. */
CLAIM(each_npu_box_and_line_is_there_once)
{
    dse_error err = DSE_ERROR_INIT;
    picture p;

    picture_begin(&p, "Ring 4, Switch 3");
    assert_ok(draw_svg(&p.graph, "n", &p.arena, &p.text, &err), &err);
    assert_int_equal(picture_count(p.text.data, "class=\"npu\""), 12);
    assert_int_equal(picture_count(p.text.data, "class=\"box\""), 3);
    assert_int_equal(picture_count(p.text.data, "class=\"switch\""), 1);
    assert_int_equal(picture_count(p.text.data, "M"), 3 * 4 + 3 + 2); /* 2: the legend's */
    assert_non_null(strstr(p.text.data, ">switches 12-15<"));
    assert_non_null(strstr(p.text.data, ">NPUs 8-11<"));
    assert_non_null(
        strstr(p.text.data, "dimension 1: Switch 3, links of 25 GiB/s each way, 510 ns; a line: 4 links"));
    picture_end(&p);
}

/* 3 by 3: 6 and 6 lines between neighbours, 3 and 3 around. */
CLAIM(what_wraps_is_a_curve)
{
    dse_error err = DSE_ERROR_INIT;
    picture p;

    picture_begin(&p, "Torus2D 3x3");
    assert_ok(draw_svg(&p.graph, "n", &p.arena, &p.text, &err), &err);
    assert_int_equal(picture_count(p.text.data, "M"), 18 + 1);
    assert_int_equal(picture_count(p.text.data, "Q"), 2 * 6);
    picture_end(&p);
}

CLAIM(a_name_may_hold_anything)
{
    dse_error err = DSE_ERROR_INIT;
    picture p;

    picture_begin(&p, "Ring 2");
    assert_ok(draw_svg(&p.graph, "a<b>&\"c", &p.arena, &p.text, &err), &err);
    assert_non_null(strstr(p.text.data, "<title>a&lt;b&gt;&amp;\"c</title>"));
    picture_end(&p);
}

CLAIM(what_nobody_can_read_is_refused)
{
    dse_error err = DSE_ERROR_INIT;
    picture p;

    picture_begin(&p, "Mesh2D 33x32");
    assert_says(draw_svg(&p.graph, "n", &p.arena, &p.text, &err), &err, DSE_E_RANGE,
                "a picture of 1056 NPUs cannot be read; at most 1024 are drawn");
    assert_int_equal(p.text.len, 0);
    picture_end(&p);
    err = (dse_error)DSE_ERROR_INIT;
    picture_begin(&p, "FullyConnected 201"); /* 201 * 200 / 2 */
    assert_says(draw_svg(&p.graph, "n", &p.arena, &p.text, &err), &err, DSE_E_RANGE,
                "a picture of 20100 lines cannot be read; at most 20000 are drawn");
    picture_end(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_npu_box_and_line_is_there_once),
        cmocka_unit_test(what_wraps_is_a_curve),
        cmocka_unit_test(a_name_may_hold_anything),
        cmocka_unit_test(what_nobody_can_read_is_refused),
    };
    return RUN_TESTS(tests);
}
