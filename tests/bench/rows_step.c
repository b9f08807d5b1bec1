/* Points of profile train: GPT-3 175B with tp 8, pp 16, vp 6 and micro-batches of one sequence. */
#include "bench/bench.h"

#include "driver/study.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#define MODEL  "gpt3-175b"
#define SYSTEM "selene_a100_80gb"
#define POINTS 20 /* of one process, the first among them */

/* 192 micro-batches on each rank. */
typedef struct {
    uint32_t npus;
    int64_t batch;
} step_size;

static dse_status load(const step_size *size, dse_arena *a, drv_study *out, dse_error *err)
{
    const char *words[] = {dse_arena_printf(a, "network.npus_count[1]=%" PRIu32, size->npus / 8),
                           dse_arena_printf(a, "batch=%" PRId64, size->batch)};
    cfg_settings settings;
    dse_status st = drv_settings_parse(words, 2, a, &settings, err);

    return st == DSE_OK ? drv_study_load(MODEL, SYSTEM, &settings, a, out, err) : st;
}

/* Milliseconds of the first point, and of the fastest of those that follow it with other strategies. */
static bool run(const void *arg, double *result)
{
    const step_size *size = arg;
    dse_error err = DSE_ERROR_INIT;
    dse_arena study_arena, a;
    drv_study study;
    dse_status st;

    dse_arena_init(&study_arena);
    dse_arena_init(&a);
    st = load(size, &study_arena, &study, &err);
    study.orders = sched_keeper_new(); /* as workers have one */
    for (int i = 0; st == DSE_OK && i < POINTS; i++) {
        strategy p = strategy_default();
        store_metrics metrics;
        double begin = cpu_seconds(), ms;

        p.dp = size->npus / 128;
        p.tp = 8;
        p.pp = 16;
        p.vp = 6;
        p.zero = (uint32_t)i % 2;
        p.overlap = (uint32_t)i / 2 % 3;
        p.sequence_parallel = (uint32_t)i / 6 % 2;
        dse_arena_reset(&a);
        st = drv_point_run(&study, &p, &a, &metrics, &err);
        ms = (cpu_seconds() - begin) * 1e3;
        if (i == 0)
            result[0] = ms;
        else if (i == 1 || ms < result[1])
            result[1] = ms;
    }
    if (st != DSE_OK)
        fprintf(stderr, "bench: %s: %s\n", err.where, err.text);
    sched_keeper_free(study.orders);
    dse_arena_free(&a);
    dse_arena_free(&study_arena);
    return st == DSE_OK;
}

/* A space of some 10,000 points, the whole process. */
static void sweep(bench *b)
{
    const char *const argv[] = {b->ccldse, "sweep", "--jobs", "2", "--db", bench_path(b, "step.db"), "--model", MODEL,
                                "--system", SYSTEM, "--npus", "1024", "--batch", "1536", "--zero", "0,1,2,3",
                                "--recompute-granularity", "none,selective,full", "--overlap", "on,off",
                                "--sequence-parallel", "on,off", "--vp", "1,2,3,6", NULL};
    measurement m;

    unlink(argv[5]);
    bench_run(b, argv, 1, &m);
    if (m.done)
        bench_say("the sweep", "%.1f s of CPU; coordinator %.1f MB, workers %.1f MB each", m.cpu, m.own_mb, m.child_mb);
    bench_at_most(b, "a sweep of 10,000 points, 2 workers", &m, m.wall, 15, "s");
}

void bench_step(bench *b)
{
    const step_size sizes[] = {{1024, 1536}, {65536, 98304}};
    measurement m;

    measure_function(run, &sizes[0], b->limit, &m);
    bench_at_most(b, "1,024 NPUs, the first point", &m, m.result[0], 5, "ms");
    bench_at_most(b, "1,024 NPUs, a further one", &m, m.result[1], 1, "ms");
    measure_function(run, &sizes[1], b->limit, &m);
    bench_at_most(b, "65,536 NPUs, the first point", &m, m.result[0], 100, "ms");
    sweep(b);
}
