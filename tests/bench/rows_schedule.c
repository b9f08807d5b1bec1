/* What a pipeline schedule costs: its order, once, and its times, for each set of durations. */
#include "bench/bench.h"
#include "schedule/compose.h"

#include <stdio.h>

typedef struct {
    const char *name;
    sched_options options;
    double most_us; /* of the times */
} schedule_row;

static const schedule_row plans[] = {
    {"interleaved", {.pp = 16, .micro_batches = 192, .vp = 6}, 200},
    {"1f1b", {.pp = 16, .micro_batches = 512}, 100},
    {"zero_bubble", {.pp = 16, .micro_batches = 256}, 80},
    {"dualpipev", {.pp = 16, .micro_batches = 192}, 80},
};

/* Milliseconds of the plan with its order, microseconds of its times (the fastest of many), and its actions. */
static bool run(const void *arg, double *result)
{
    enum { BATCHES = 100, BATCH = 10 };
    const schedule_row *row = arg;
    dse_error err = DSE_ERROR_INIT;
    double begin = cpu_seconds();
    sched_order order;
    sched_costs costs;
    sched_times times;
    sched_plan plan;
    dse_arena a;

    dse_arena_init(&a);
    if (sched_make(sched_find(row->name), &row->options, &a, &plan, &err) != DSE_OK ||
        sched_order_make(&plan, &a, &order, &err) != DSE_OK ||
        sched_costs_parse("C", &plan, &a, &costs, &err) != DSE_OK) {
        fprintf(stderr, "%s\n", err.text);
        return false;
    }
    result[0] = (cpu_seconds() - begin) * 1e3;
    sched_times_init(&times, &plan, &a);
    for (int k = 0; k < BATCHES; k++) {
        double us;

        begin = cpu_seconds();
        for (int i = 0; i < BATCH; i++)
            sched_compose(&order, &costs, &times);
        us = (cpu_seconds() - begin) * 1e6 / BATCH;
        if (k == 0 || us < result[1])
            result[1] = us;
    }
    result[2] = sched_n_actions(&plan);
    dse_arena_free(&a);
    return true;
}

void bench_schedule(bench *b)
{
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
        const schedule_row *row = &plans[i];
        measurement m;

        measure_function(run, row, b->limit, &m);
        if (m.done)
            bench_say(row->name, "%.0f actions, order made in %.2f ms", m.result[2], m.result[0]);
        bench_at_most(b, bench_text(b, "%s, times", row->name), &m, m.result[1], row->most_us, "us");
    }
}
