#include "draw/schedule.h"
#include "unit/unit.h"

typedef struct {
    dse_arena arena;
    sched_plan plan;
    sched_times times;
    dse_strbuf text;
} picture;

static void draw(picture *p, const char *name, sched_options o, const char *costs, const char *title)
{
    dse_error err = DSE_ERROR_INIT;
    sched_order order;
    sched_costs c;

    dse_arena_init(&p->arena);
    dse_strbuf_init(&p->text);
    assert_ok(sched_make(sched_find(name), &o, &p->arena, &p->plan, &err), &err);
    assert_ok(sched_order_make(&p->plan, &p->arena, &order, &err), &err);
    assert_ok(sched_costs_parse(costs, &p->plan, &p->arena, &c, &err), &err);
    sched_times_init(&p->times, &p->plan, &p->arena);
    sched_compose(&order, &c, &p->times);
    assert_ok(draw_schedule_svg(&p->plan, &p->times, title, &p->text, &err), &err);
}

static void end(picture *p)
{
    dse_strbuf_free(&p->text);
    dse_arena_free(&p->arena);
}

static size_t count(const picture *p, const char *part)
{
    size_t n = 0;

    for (const char *s = p->text.data; (s = strstr(s, part)); s++)
        n++;
    return n;
}

CLAIM(each_action_has_a_box_and_a_text)
{
    picture p;

    draw(&p, "1f1b", (sched_options){.pp = 2, .micro_batches = 3}, "C", "t");
    assert_int_equal(count(&p, "<g>"), 2 * 3 * 2);
    assert_int_equal(count(&p, "<text class=\"n\""), 2 * 3 * 2);
    assert_non_null(
        strstr(p.text.data, "<title>1B0: backward of micro-batch 0 in stage 1, 23 to 43</title>"));
    end(&p);
}

/* Makespan 4 + 1 = 5 times 3 on two ranks: at 640 pixels a unit has 42.7. Rank 1's F0 begins at 1: 20 + 64
 * + 42.7. */
CLAIM(time_goes_to_the_right)
{
    picture p;

    draw(&p, "gpipe", (sched_options){.pp = 2, .micro_batches = 4}, "U", "t");
    assert_non_null(strstr(p.text.data, "<title>1F0: forward of micro-batch 0 in stage 1, 1 to 2</title>"
                                        "<rect class=\"f0\" x=\"126.7\""));
    end(&p);
}

/* Micro-batch 100 in a box of 16 pixels: its number does not fit; that of 99 does not, either: 2 * 6 + 2
 * is 14, it does. */
CLAIM(numbers_are_where_they_fit)
{
    picture p;

    draw(&p, "gpipe", (sched_options){.pp = 1, .micro_batches = 101}, "1,1,0,0", "t");
    assert_non_null(strstr(p.text.data, ">99</text>"));
    assert_null(strstr(p.text.data, ">100</text></g>"));
    end(&p);
}

/* Part 4 has m - 2p + r + 1 = 3 rounds of two pairs, of which the very first is none: 5; parts 5 and 6
 * have none. */
CLAIM(pairs_have_a_frame)
{
    picture p;

    draw(&p, "dualpipev", (sched_options){.pp = 1, .micro_batches = 4}, "U", "t");
    assert_int_equal(count(&p, "<rect class=\"pair\""), 5 + 1); /* and the legend's */
    end(&p);
}

CLAIM(titles_may_hold_anything)
{
    picture p;

    draw(&p, "gpipe", (sched_options){.pp = 1, .micro_batches = 1}, "0,0,0,0", "a<b>&c");
    assert_non_null(strstr(p.text.data, "<title>a&lt;b&gt;&amp;c</title>"));
    end(&p);
}

CLAIM(what_nobody_can_read_is_refused)
{
    dse_error err = DSE_ERROR_INIT;
    sched_options o = {.pp = 16, .micro_batches = 1024};
    dse_strbuf out;
    sched_plan plan;
    dse_arena a;

    dse_arena_init(&a);
    dse_strbuf_init(&out);
    assert_ok(sched_make(sched_find("1f1b"), &o, &a, &plan, &err), &err);
    assert_says(draw_schedule_svg(&plan, &(sched_times){0}, "t", &out, &err), &err, DSE_E_RANGE,
                "a picture of 32768 actions cannot be read; at most 20000 are drawn");
    assert_int_equal(out.len, 0);
    dse_strbuf_free(&out);
    dse_arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_action_has_a_box_and_a_text), cmocka_unit_test(time_goes_to_the_right),
        cmocka_unit_test(numbers_are_where_they_fit),       cmocka_unit_test(pairs_have_a_frame),
        cmocka_unit_test(titles_may_hold_anything),         cmocka_unit_test(what_nobody_can_read_is_refused),
    };

    return RUN_TESTS(tests);
}
