/* How fast full-size points are: llama70b on system1, 80 layers, 64 NPUs, one core, in this process.
 *
 * usage: bench_points [DP_TP_SP_PP_RECOMPUTE...]
 *
 * Prints for each point the CPU time of generation and of simulation, nodes and messages per second, and, where it
 * was recorded, what the upstream pair took (CPU seconds of STAGE and of ASTRA-sim for the same point, from the run
 * that made the reference data, on another machine: a ratio, not a measurement). Then points and nodes per second
 * over all, and the peak memory of the process. */
#include "base/alloc.h"
#include "driver/study.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

static const struct {
    const char *point;
    double stage_s, astrasim_s;
} upstream[] = {{"32_1_2_1_0", 134.02, 219.57}, {"8_1_8_1_1", 160.83, 95.55}};

static const char *const default_points[] = {"64_1_1_1_0", "32_1_2_1_0", "8_1_8_1_1", "4_4_4_1_1",
                                             "1_32_2_1_0"};

static double cpu_seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

typedef struct {
    double seconds;
    uint64_t nodes, points;
} total;

static dse_status measure(const drv_study *study, const char *name, dse_arena *a, total *sum, dse_error *err)
{
    double start = cpu_seconds(), generated, done;
    design_point point;
    wl_workload w;
    sim_result r;
    dse_status st;

    if ((st = design_point_parse(name, &point, err)) != DSE_OK ||
        (st = drv_point_generate(study, &point, a, &w, err)) != DSE_OK)
        return st;
    generated = cpu_seconds();
    if ((st = drv_point_simulate(study, &w, a, &r, NULL, err)) != DSE_OK)
        return st;
    done = cpu_seconds();
    printf("%-14s %8.1f ms %8.3f s %9.2f M/s %9.2f M/s", name, (generated - start) * 1e3, done - generated,
           (double)r.n_nodes / (done - generated) * 1e-6, (double)r.n_messages / (done - generated) * 1e-6);
    for (size_t i = 0; i < sizeof upstream / sizeof upstream[0]; i++)
        if (!strcmp(upstream[i].point, name))
            printf("   %6.0f + %.0f s: %.0f x", upstream[i].stage_s, upstream[i].astrasim_s,
                   (upstream[i].stage_s + upstream[i].astrasim_s) / (done - start));
    printf("\n");
    sum->seconds += done - start;
    sum->nodes += r.n_nodes;
    sum->points++;
    return DSE_OK;
}

int main(int argc, char **argv)
{
    const char *const *names = argc > 1 ? (const char *const *)argv + 1 : default_points;
    size_t n = argc > 1 ? (size_t)argc - 1 : sizeof default_points / sizeof default_points[0];
    dse_error err = DSE_ERROR_INIT;
    dse_arena study_arena, arena;
    drv_study study;
    struct rusage usage;
    total sum = {0};
    dse_status st;

    dse_arena_init(&study_arena);
    dse_arena_init(&arena);
    st = drv_study_load("llama70b", "system1", NULL, &study_arena, &study, &err);
    if (st == DSE_OK)
        printf("%-14s %11s %10s %13s %13s   %s\n", "point", "generate", "simulate", "nodes", "messages",
               "upstream (recorded)");
    for (size_t i = 0; st == DSE_OK && i < n; i++) {
        dse_arena_reset(&arena);
        st = measure(&study, names[i], &arena, &sum, &err);
        fflush(stdout);
    }
    dse_arena_free(&arena);
    dse_arena_free(&study_arena);
    if (st != DSE_OK) {
        fprintf(stderr, "bench_points: %s: %s\n", err.where, err.text);
        return 1;
    }
    getrusage(RUSAGE_SELF, &usage);
    printf("%" PRIu64 " points: %.2f points/s, %.2f M nodes/s on one core; peak memory %.1f MB\n", sum.points,
           (double)sum.points / sum.seconds, (double)sum.nodes / sum.seconds * 1e-6,
           (double)usage.ru_maxrss / 1024);
    return 0;
}
