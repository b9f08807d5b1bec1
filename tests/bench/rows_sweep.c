/* Many points: whole processes, with a coordinator, workers and a database. */
#include "bench/bench.h"

#include "driver/study.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SWEEP_POINTS (2 * BENCH_POINTS)

static const struct {
    const char *model, *system;
} studies[2] = {{"llama70b", "system1"}, {"gpt175b", "system2"}};

/* A sweep with two workers into a database of its own; `more` ends with NULL. */
static void run_sweep(const bench *b, const char *const *more, measurement *m)
{
    const char *argv[16] = {b->ccldse, "sweep", "--jobs", "2", "--db", bench_path(b, "sweep.db")};
    int n = 6;

    while (*more)
        argv[n++] = *more++;
    unlink(argv[5]);
    bench_run(b, argv, 1, m);
    if (m->done)
        bench_say("memory", "coordinator %.1f MB, workers %.1f MB each", m->own_mb, m->child_mb);
}

/* ---- 112 points ---------------------------------------------------------------------------- */

/* As `sweep --points` takes them, of both studies. */
static const char *write_points(const bench *b)
{
    const char *const *points = bench_points(), *path;
    dse_strbuf text;

    dse_strbuf_init(&text);
    for (size_t i = 0; i < SWEEP_POINTS; i++)
        dse_strbuf_addf(&text, "%s %s %s\n", studies[i / BENCH_POINTS].model,
                        studies[i / BENCH_POINTS].system, points[i % BENCH_POINTS]);
    path = bench_write(b, "points", &text);
    dse_strbuf_free(&text);
    return path;
}

void bench_sweep(bench *b)
{
    measurement m;

    run_sweep(b, (const char *const[]){"--points", write_points(b), NULL}, &m);
    if (m.done)
        bench_say("points",
                  "%.0f a second; %.2f s of CPU; upstream about %.0f s of CPU a point (recorded): %.0f x",
                  SWEEP_POINTS / m.wall, m.cpu, BENCH_PAIR_S, BENCH_PAIR_S * SWEEP_POINTS / m.cpu);
    bench_at_most(b, "112 points, whole process", &m, m.wall, 2, "s");
}

/* ---- 100,000 points ------------------------------------------------------------------------ */

#define SPACE_POINTS 100800 /* 56 strategies of a model on 2 systems, times 10 * 6 * 5 * 3 values */
#define SMALL_SAMPLE 2000

static const char space_text[] =
    "models: [llama70b]\n"
    "systems: [system1, system2]\n"
    "axes:\n"
    "  network.bandwidth[0]: {from: 50, to: 500, step: 50, unit: GB/s}\n"
    "  network.bandwidth[2]: [25GB/s, 50GB/s, 100GB/s, 200GB/s, 400GB/s, 800GB/s]\n"
    "  network.latency[0]: [50ns, 100ns, 200ns, 500ns, 1000ns]\n"
    "  batch: [256, 512, 1024]\n";

static void sweep_space(const bench *b, const char *space, const char *sample, size_t n, measurement *m)
{
    run_sweep(b, (const char *const[]){"--space", space, sample ? "--sample" : NULL, sample, NULL}, m);
    if (m->done)
        bench_say("points", "%zu in %.1f s: %.0f a second; %.1f s of CPU", n, m->wall, (double)n / m->wall,
                  m->cpu);
    else
        bench_say("points", "%zu: %s", n, m->why);
}

void bench_space(bench *b)
{
    measurement small, all;
    const char *space;
    dse_strbuf text;

    dse_strbuf_init(&text);
    dse_strbuf_adds(&text, space_text);
    space = bench_write(b, "space.yaml", &text);
    dse_strbuf_free(&text);
    sweep_space(b, space, "2000", SMALL_SAMPLE, &small);
    if (b->quick || !small.done) {
        bench_say("", "%d points reckoned from %d, and nothing known of the memory they take:", SPACE_POINTS,
                  SMALL_SAMPLE);
        bench_at_most(b, "100,000 points", &small, small.wall * SPACE_POINTS / SMALL_SAMPLE, 300, "s");
        return;
    }
    sweep_space(b, space, NULL, SPACE_POINTS, &all);
    bench_at_most(b, "100,000 points", &all, all.wall, 300, "s");
    bench_at_most(b, "memory of a worker, to that of few", &all, all.child_mb / small.child_mb, 1.2, "times");
    bench_at_most(b, "memory of all but workers, likewise", &all, all.own_mb / small.own_mb, 1.2, "times");
}

/* ---- a worker ------------------------------------------------------------------------------ */

/* What a coordinator would ask it. */
static const char *write_requests(const bench *b)
{
    const char *const *points = bench_points(), *path = NULL;
    dse_error err = DSE_ERROR_INIT;
    drv_study study[2];
    strategy point;
    dse_arena a;
    dse_strbuf text;
    dse_status st = DSE_OK;

    dse_arena_init(&a);
    dse_strbuf_init(&text);
    for (size_t i = 0; st == DSE_OK && i < 2; i++)
        st = drv_study_load(studies[i].model, studies[i].system, NULL, &a, &study[i], &err);
    for (size_t i = 0; st == DSE_OK && i < SWEEP_POINTS; i++) {
        st = strategy_parse_name(points[i % BENCH_POINTS], NULL, &point, NULL, &err);
        drv_study_write_config(&study[i / BENCH_POINTS], &point, &text);
        dse_strbuf_addc(&text, '\n');
    }
    if (st == DSE_OK)
        path = bench_write(b, "requests", &text);
    else
        fprintf(stderr, "bench: %s: %s\n", err.where, err.text);
    dse_strbuf_free(&text);
    dse_arena_free(&a);
    return path;
}

void bench_worker(bench *b)
{
    const char *const argv[] = {b->ccldse, "worker", NULL};
    measurement m = {.why = "no cards"};
    const char *requests = write_requests(b);

    if (requests)
        measure_program(
            &(measured_program){argv, b->folder, requests, bench_path(b, "answers"), b->messages, b->limit},
            &m);
    if (m.done)
        bench_say("points", "%d in %.3f s of CPU: %.2f ms each", SWEEP_POINTS, m.cpu,
                  m.cpu / SWEEP_POINTS * 1e3);
    bench_at_most(b, "peak memory", &m, m.peak_mb, 100, "MB");
}
