#include "draw/chart_parts.h"
#include "unit/unit.h"

#include <math.h>

static size_t count(const dse_strbuf *text, const char *part)
{
    size_t n = 0;

    for (const char *s = text->data; (s = strstr(s, part)); s++)
        n++;
    return n;
}

/* ---- axes ------------------------------------------------------------------------------------- */

/* 0 .. 54.8 over 700 pixels: some 70 pixels a tick are 5.48, and the next round number is 10. */
static void ticks_of_a_linear_axis_are_round(void **state)
{
    const chart_axis a = {.low = 0, .high = 54.8, .from = 100, .to = 800};
    double tick[CHART_TICKS];

    (void)state;
    assert_int_equal(chart_ticks(&a, tick), 6);
    for (int i = 0; i < 6; i++)
        assert_true(fabs(tick[i] - 10 * i) < 1e-9);
    assert_string_equal(chart_tick_text(&a, tick[0]).text, "0");
    assert_string_equal(chart_tick_text(&a, tick[5]).text, "50");
    assert_true(fabs(chart_at(&a, 27.4) - 450) < 1e-9);
}

/* 0 .. 0.9: a tick is 0.1 and has one decimal. */
static void small_ticks_have_the_decimals_that_they_need(void **state)
{
    const chart_axis a = {.low = 0, .high = 0.9, .from = 0, .to = 700};
    double tick[CHART_TICKS];

    (void)state;
    assert_int_equal(chart_ticks(&a, tick), 10);
    assert_string_equal(chart_tick_text(&a, tick[3]).text, "0.3");
}

/* 3 .. 150 has 5, 10, 20, 50, 100; in the middle of 1 .. 100 is 10. */
static void ticks_of_a_logarithmic_axis(void **state)
{
    const chart_axis a = {.low = 3, .high = 150, .from = 0, .to = 700, .is_log = true};
    const chart_axis b = {.low = 1, .high = 100, .from = 0, .to = 700, .is_log = true};
    const double expected[] = {5, 10, 20, 50, 100};
    double tick[CHART_TICKS];

    (void)state;
    assert_int_equal(chart_ticks(&a, tick), 5);
    for (int i = 0; i < 5; i++)
        assert_true(fabs(tick[i] - expected[i]) < 1e-9);
    assert_true(fabs(chart_at(&b, 10) - 350) < 1e-9);
}

/* ---- dots and lines --------------------------------------------------------------------------- */

/* Four dots: two at one place are one, one is not known. The limit is near the dots, and drawn. */
static void dots_that_cover_each_other_are_drawn_once(void **state)
{
    const double x[] = {1, 1, 2, NAN}, y[] = {3, 3, 4, 5};
    const draw_series s = {.name = "a<b", .mark = DRAW_DOTS, .n = 4, .x = x, .y = y};
    draw_xy c = {.title = "t&u",
                 .x_label = "x",
                 .y_label = "y",
                 .n_series = 1,
                 .series = &s,
                 .limit = 6,
                 .limit_label = "most"};
    dse_strbuf text;

    (void)state;
    dse_strbuf_init(&text);
    draw_xy_svg(&c, &text);
    assert_int_equal(count(&text, "r=\"3\""), 2);
    assert_int_equal(count(&text, "class=\"limit\""), 1);
    assert_int_equal(count(&text, "a&lt;b"), 1);
    assert_int_equal(count(&text, "<title>t&amp;u</title>"), 1);
    dse_strbuf_clear(&text);
    c.limit = 100; /* would squeeze the dots into a corner */
    draw_xy_svg(&c, &text);
    assert_int_equal(count(&text, "class=\"limit\""), 0);
    dse_strbuf_free(&text);
}

static void a_chart_of_nothing_is_drawn(void **state)
{
    const draw_series s = {.mark = DRAW_LINE};
    dse_strbuf text;

    (void)state;
    dse_strbuf_init(&text);
    draw_xy_svg(&(draw_xy){.title = "",
                           .x_label = "",
                           .y_label = "",
                           .log_x = true,
                           .n_series = 1,
                           .series = &s,
                           .limit = NAN},
                &text);
    draw_bars_svg(&(draw_bars){.title = "", .label = ""}, &text);
    draw_heat_svg(&(draw_heat){.title = "", .x_label = "", .y_label = "", .label = ""}, &text);
    assert_int_equal(count(&text, "</svg>"), 3);
    assert_int_equal(count(&text, "nan"), 0);
    assert_int_equal(count(&text, "inf"), 0);
    dse_strbuf_free(&text);
}

/* One step time among all points: no range to begin the axis with, so 0 .. 2.1, and the dot is at 2 / 2.1
 * of 74 .. 744. */
static void a_single_dot_has_an_axis_from_0(void **state)
{
    const double x[] = {2, 2}, y[] = {1, 3};
    const draw_series s = {.mark = DRAW_DOTS, .n = 2, .x = x, .y = y};
    dse_strbuf text;

    (void)state;
    dse_strbuf_init(&text);
    draw_xy_svg(
        &(draw_xy){.title = "", .x_label = "", .y_label = "", .n_series = 1, .series = &s, .limit = NAN},
        &text);
    assert_int_equal(count(&text, "cx=\"712.1\""), 2);
    assert_int_equal(count(&text, ">0</text>") + count(&text, ">0.0</text>"), 2); /* of either axis */
    dse_strbuf_free(&text);
}

static void what_is_infinite_is_left_out(void **state)
{
    const double x[] = {1, INFINITY, 2, 3}, y[] = {1, 1, INFINITY, 2}, low[] = {0.5, 1, 1, 1},
                 high[] = {1.5, 1, 1, INFINITY};
    const draw_series s = {.mark = DRAW_DOTS, .n = 4, .x = x, .y = y, .low = low, .high = high};
    dse_strbuf text;

    (void)state;
    dse_strbuf_init(&text);
    draw_xy_svg(
        &(draw_xy){.title = "", .x_label = "", .y_label = "", .n_series = 1, .series = &s, .limit = NAN},
        &text);
    assert_int_equal(count(&text, "<circle"), 2);
    assert_int_equal(count(&text, "<path"), 1); /* a single whole error bar */
    dse_strbuf_free(&text);
}

/* Sixteen names that need a line each push the plot down by 320 pixels; its lowest dot still is one. */
static void dots_lie_below_a_legend_of_many_lines(void **state)
{
    const double x[] = {1, 3}, y[] = {0, 3};
    draw_series s[16];
    dse_strbuf text;

    (void)state;
    for (int i = 0; i < 16; i++)
        s[i] = (draw_series){.name = "a name that is so long that there is no room for another one beside it",
                             .n = 2,
                             .x = x,
                             .y = y};
    dse_strbuf_init(&text);
    draw_xy_svg(&(draw_xy){.title = "",
                           .subtitle = "",
                           .x_label = "",
                           .y_label = "",
                           .n_series = 16,
                           .series = s,
                           .limit = NAN},
                &text);
    assert_int_equal(count(&text, "cy=\"748\""), 16); /* 66 + 22 + 16 * 20 + 340 */
    dse_strbuf_free(&text);
}

/* Room for three letters, and the third is within a character of two bytes. */
static void a_long_name_is_cut_between_characters(void **state)
{
    dse_strbuf text;

    (void)state;
    dse_strbuf_init(&text);
    chart_put_short("", CHART_START, 0, 0, "ab\u00e4cd", 3.5 * CHART_LETTER, &text);
    assert_int_equal(count(&text, ">ab\u2026<"), 1);
    dse_strbuf_free(&text);
}

/* ---- bars, heat ------------------------------------------------------------------------------- */

/* Parts of 1 and 3 in a bar, 2 and 0 in another: three boxes and two entries of the legend. */
static void bars_have_a_box_for_each_part(void **state)
{
    const char *const bars[] = {"one", "two"}, *const parts[] = {"p", "q"};
    const double value[] = {1, 3, 2, 0};
    const uint32_t colour[] = {0, 9};
    dse_strbuf text;

    (void)state;
    dse_strbuf_init(&text);
    draw_bars_svg(&(draw_bars){.title = "t",
                               .label = "l",
                               .n_bars = 2,
                               .n_parts = 2,
                               .bar = bars,
                               .part = parts,
                               .value = value,
                               .colour = colour},
                  &text);
    assert_int_equal(count(&text, draw_part_colours[0]), 3);
    assert_int_equal(count(&text, draw_part_colours[9]), 2);
    assert_int_equal(count(&text, ">4.00</text>"), 1); /* the sum */
    dse_strbuf_free(&text);
}

/* 1, 10, 100 by their logarithms: the ends of the colours and their middle. The best is the brightest. */
static void heat_is_brightest_where_it_is_best(void **state)
{
    const char *const x[] = {"1", "2"}, *const y[] = {"3", "4"};
    const double value[] = {1, 10, 100, NAN};
    dse_strbuf text;

    (void)state;
    dse_strbuf_init(&text);
    draw_heat_svg(&(draw_heat){.title = "t",
                               .x_label = "x",
                               .y_label = "y",
                               .label = "l",
                               .n_x = 2,
                               .n_y = 2,
                               .x = x,
                               .y = y,
                               .value = value,
                               .less_is_better = true},
                  &text);
    assert_int_equal(count(&text, "#fde725"), 1);
    assert_int_equal(count(&text, "#21918c"), 1);
    assert_int_equal(count(&text, "#440154"), 1);
    assert_true(strstr(text.data, "#fde725") < strstr(text.data, "#440154"));
    dse_strbuf_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ticks_of_a_linear_axis_are_round),
        cmocka_unit_test(small_ticks_have_the_decimals_that_they_need),
        cmocka_unit_test(ticks_of_a_logarithmic_axis),
        cmocka_unit_test(dots_that_cover_each_other_are_drawn_once),
        cmocka_unit_test(a_chart_of_nothing_is_drawn),
        cmocka_unit_test(a_single_dot_has_an_axis_from_0),
        cmocka_unit_test(what_is_infinite_is_left_out),
        cmocka_unit_test(dots_lie_below_a_legend_of_many_lines),
        cmocka_unit_test(a_long_name_is_cut_between_characters),
        cmocka_unit_test(bars_have_a_box_for_each_part),
        cmocka_unit_test(heat_is_brightest_where_it_is_best),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
