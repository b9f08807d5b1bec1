#include "base/queue.h"
#include "unit/unit.h"

static dse_queue q;

static void add(dse_time at, uint32_t subject)
{
    dse_queue_add(&q, at, (dse_event){7, subject});
}

static void expect(dse_time at, uint32_t subject)
{
    dse_event e = {0, 0};
    dse_time t = 0;

    assert_true(dse_queue_take(&q, &t, &e));
    assert_u64(t, at);
    assert_int_equal(e.subject, subject);
    assert_int_equal(e.kind, 7);
}

static void expect_empty(void)
{
    dse_event e;
    dse_time t;

    assert_false(dse_queue_take(&q, &t, &e));
    assert_false(dse_queue_take(&q, &t, &e));
}

CLAIM(an_empty_queue_has_no_event)
{
    dse_queue_init(&q);
    expect_empty();
    dse_queue_free(&q);
}

CLAIM(events_run_in_the_order_of_time)
{
    static const dse_time times[] = {50, 10, 40, 0, 30, UINT64_MAX, 20};
    static const uint32_t order[] = {3, 1, 6, 4, 2, 0, 5};

    dse_queue_init(&q);
    for (uint32_t i = 0; i < 7; i++)
        add(times[i], i);
    for (uint32_t i = 0; i < 7; i++)
        expect(times[order[i]], order[i]);
    expect_empty();
    assert_u64(q.n_events, 7);
    dse_queue_free(&q);
}

CLAIM(equal_times_run_in_schedule_order)
{
    dse_queue_init(&q);
    for (uint32_t i = 0; i < 100; i++)
        add(5 + i % 3, i);
    for (uint32_t t = 0; t < 3; t++)
        for (uint32_t i = t; i < 100; i += 3)
            expect(5 + t, i);
    expect_empty();
    dse_queue_free(&q);
}

/* What an event schedules for its own tick runs in this tick, behind what is there, even if it was the last. */
CLAIM(events_for_the_running_tick_still_run_in_it)
{
    dse_queue_init(&q);
    add(5, 1);
    add(5, 2);
    add(6, 10);
    expect(5, 1);
    add(5, 3);
    add(6, 11);
    expect(5, 2);
    expect(5, 3);
    add(5, 4); /* the tick has run dry, but has not ended */
    expect(5, 4);
    expect(6, 10);
    add(6, 12);
    expect(6, 11);
    expect(6, 12);
    expect_empty();
    add(6, 13); /* not earlier than the latest taken */
    expect(6, 13);
    expect_empty();
    dse_queue_free(&q);
}

/* The model: all events in one array, searched for the earliest (time, number). */
static void random_against_model(uint64_t seed, uint64_t spread, int steps)
{
    static struct {
        dse_time at;
        bool in;
    } model[20000];
    uint32_t n = 0, left = 0;
    dse_time now = 0;

    assert_true(steps <= 20000);
    dse_queue_init(&q);
    for (int step = 0; step < steps || left; step++) {
        bool take = left && (step >= steps || unit_random(&seed) % 100 < (step < steps / 2 ? 45 : 55));

        if (!take) {
            model[n].at = now + unit_random(&seed) % spread;
            model[n].in = true;
            add(model[n].at, n);
            n++;
            left++;
        } else {
            uint32_t best = n;

            for (uint32_t i = 0; i < n; i++)
                if (model[i].in && (best == n || model[i].at < model[best].at))
                    best = i;
            expect(model[best].at, best);
            now = model[best].at;
            model[best].in = false;
            left--;
        }
    }
    expect_empty();
    dse_queue_free(&q);
}

CLAIM(random_events_agree_with_a_plain_array) { random_against_model(41, 1000, 6000); }

CLAIM(the_same_with_few_distinct_ticks) { random_against_model(42, 3, 6000); }

CLAIM(the_same_with_far_apart_ticks) { random_against_model(43, (uint64_t)1 << 40, 3000); }

/* So many that each is forgotten before it comes again: then a tick has several lists. */
CLAIM(the_same_with_more_ticks_than_are_remembered) { random_against_model(44, 4 * DSE_QUEUE_RECENT, 15000); }

/* Two thousand ticks one after the other, one event at a time. */
CLAIM(memory_is_reused)
{
    dse_queue_init(&q);
    for (uint32_t i = 0; i < 2000; i++) {
        add(i, i);
        expect(i, i);
    }
    assert_true(q.n_cells <= 2);
    assert_true(q.n_ticks <= 2);
    dse_queue_free(&q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_queue_has_no_event),
        cmocka_unit_test(events_run_in_the_order_of_time),
        cmocka_unit_test(equal_times_run_in_schedule_order),
        cmocka_unit_test(events_for_the_running_tick_still_run_in_it),
        cmocka_unit_test(random_events_agree_with_a_plain_array),
        cmocka_unit_test(the_same_with_few_distinct_ticks),
        cmocka_unit_test(the_same_with_far_apart_ticks),
        cmocka_unit_test(the_same_with_more_ticks_than_are_remembered),
        cmocka_unit_test(memory_is_reused),
    };
    return RUN_TESTS(tests);
}
