/* Points in this program, without files or a database: generation and simulation. */
#include "bench/bench.h"

#include "driver/study.h"

#include <stdio.h>
#include <string.h>

typedef struct {
    const char *model, *system;
    const char *settings; /* over the cards, one word; NULL: none */
    const char *const *points;
    size_t n;
    const sim_shortcuts *shortcuts; /* NULL: all */
} point_run;

/* Seconds for each point: loading the cards, which only the first has to, generating, simulating. */
typedef struct {
    double load, generate, simulate;
} point_cost;
#define MAX_POINTS (MEASURE_MAX_RESULTS / 3)

static dse_status run_point(const drv_study *study, const char *name, dse_arena *a, point_cost *cost,
                            dse_error *err)
{
    double start = cpu_seconds(), generated;
    store_metrics metrics;
    strategy point;
    sim_result result;
    wl_workload w;
    dse_status st;

    if ((st = strategy_parse_name(name, NULL, &point, NULL, err)) != DSE_OK ||
        (st = drv_point_generate(study, &point, a, &w, err)) != DSE_OK)
        return st;
    generated = cpu_seconds();
    if ((st = drv_point_simulate(study, &w, a, &result, NULL, err)) != DSE_OK)
        return st;
    drv_metrics_of(&w, &result, &metrics);
    cost->generate = generated - start;
    cost->simulate = cpu_seconds() - generated;
    return DSE_OK;
}

static dse_status run_all(const point_run *p, dse_arena *study_arena, dse_arena *a, point_cost *cost,
                          dse_error *err)
{
    const char *word = p->settings;
    double start = cpu_seconds();
    cfg_settings settings;
    drv_study study;
    dse_status st = drv_settings_parse(&word, word != NULL, study_arena, &settings, err);

    if (st == DSE_OK)
        st = drv_study_load(p->model, p->system, &settings, study_arena, &study, err);
    if (st != DSE_OK)
        return st;
    if (p->shortcuts)
        study.shortcuts = *p->shortcuts;
    study.generator = wl_generator_new(&study.operators); /* as workers have one */
    cost[0].load = cpu_seconds() - start;
    for (size_t i = 0; st == DSE_OK && i < p->n; i++) {
        dse_arena_reset(a);
        st = run_point(&study, p->points[i], a, &cost[i], err);
    }
    wl_generator_free(study.generator);
    return st;
}

static bool run_points(const void *arg, double *result)
{
    point_cost cost[MAX_POINTS] = {0};
    dse_error err = DSE_ERROR_INIT;
    dse_arena study_arena, a;

    dse_arena_init(&study_arena);
    dse_arena_init(&a);
    if (run_all(arg, &study_arena, &a, cost, &err) != DSE_OK) {
        fprintf(stderr, "bench: %s: %s\n", err.where, err.text);
        return false;
    }
    memcpy(result, cost, sizeof cost);
    dse_arena_free(&a);
    dse_arena_free(&study_arena);
    return true;
}

static void measure(const point_run *p, double limit, measurement *m, point_cost cost[MAX_POINTS])
{
    measure_function(run_points, p, limit, m);
    memcpy(cost, m->result, MAX_POINTS * sizeof *cost);
}

static double total(const point_cost *c) { return c->generate + c->simulate; }

/* ---- one point ----------------------------------------------------------------------------- */

/* Each in a process that has done nothing before; the slowest, of as many as the time allows. */
static void measure_cold(bench *b, const char *const *points)
{
    double slowest = 0, spent = 0;
    measurement m = {.done = true};
    point_cost cost[MAX_POINTS], of_slowest = {0};
    size_t i = 0, which = 0;

    for (; m.done && i < BENCH_POINTS && spent < b->limit / 4; i++) {
        measure(&(point_run){"llama70b", "system1", NULL, &points[i], 1, NULL}, b->limit, &m, cost);
        spent += m.wall;
        if (total(&cost[0]) > slowest) {
            slowest = total(&cost[0]);
            of_slowest = cost[0];
            which = i;
        }
    }
    if (m.done)
        bench_say("slowest, first of its process",
                  "%s of %zu: generate %.2f ms, simulate %.2f ms; cards %.2f ms", points[which], i,
                  of_slowest.generate * 1e3, of_slowest.simulate * 1e3, of_slowest.load * 1e3);
    bench_at_most(b, "one point, generation included", &m, slowest * 1e3, 10, "ms");
}

/* The points of a sweep one after the other; the first is not counted. */
static void measure_warm(const bench *b, const char *const *points)
{
    double sum = 0, slowest = 0;
    point_cost cost[MAX_POINTS];
    measurement m;
    size_t which = 0;

    measure(&(point_run){"llama70b", "system1", NULL, points, BENCH_POINTS, NULL}, b->limit, &m, cost);
    for (size_t i = 1; i < BENCH_POINTS; i++) {
        sum += total(&cost[i]);
        if (total(&cost[i]) > slowest) {
            slowest = total(&cost[i]);
            which = i;
        }
    }
    if (m.done)
        bench_say("next points of a sweep", "mean %.2f ms of %d, slowest %.2f ms (%s); peak %.1f MB",
                  sum / (BENCH_POINTS - 1) * 1e3, BENCH_POINTS - 1, slowest * 1e3, points[which], m.peak_mb);
    else
        bench_say("next points of a sweep", "%s", m.why);
}

static void measure_process(bench *b, const bench_recorded *r)
{
    const char *const argv[] = {b->ccldse, "simulate", "--model", "llama70b", "--system",
                                "system1", "--point",  r->point,  NULL};
    measurement m;

    bench_run(b, argv, 5, &m);
    if (m.done)
        bench_say(r->point, "%.2f ms, %.1f MB; upstream %.0f + %.0f s of CPU (recorded): %.0f x",
                  m.wall * 1e3, m.peak_mb, r->stage_s, r->astrasim_s, (r->stage_s + r->astrasim_s) / m.cpu);
    bench_at_most(b, "CPU of ccldse simulate", &m, m.cpu * 1e3, 10, "ms");
}

void bench_point(bench *b)
{
    measure_cold(b, bench_points());
    measure_warm(b, bench_points());
    for (int i = 0; i < 2; i++)
        measure_process(b, &bench_upstream[i]);
}

/* ---- shortcuts ----------------------------------------------------------------------------- */

void bench_shortcuts(bench *b)
{
    static const sim_shortcuts none = {0}, memo = {.memo = true};
    static const sim_shortcuts *const ways[] = {&none, &memo, NULL};
    static const char *const points[] = {"64_1_1_1_0", "32_1_2_1_0", "8_1_8_1_1", "4_4_4_1_1", "2_4_2_4_1"};

    for (size_t i = 0; i < sizeof points / sizeof points[0]; i++) {
        point_cost cost[MAX_POINTS];
        measurement m[3];
        double s[3];

        for (int k = 0; k < 3; k++) {
            measure(&(point_run){"llama70b", "system1", NULL, &points[i], 1, ways[k]}, b->limit, &m[k], cost);
            s[k] = cost[0].simulate;
        }
        if (m[0].done && m[1].done && m[2].done)
            bench_say(points[i],
                      "simulate: plain %.1f ms; memo alone %.2f ms: %.0f x; symmetry too %.2f ms: %.0f x",
                      s[0] * 1e3, s[1] * 1e3, s[0] / s[1], s[2] * 1e3, s[0] / s[2]);
        else
            bench_say(points[i], "%s%s%s", m[0].why, m[1].why, m[2].why);
    }
}

/* ---- curves -------------------------------------------------------------------------------- */

/* From its first size to the last that was done. */
typedef struct {
    unsigned from, to;  /* 0: none */
    double first, last; /* seconds */
} curve;

/* One point of a curve; false if it was not done, and larger ones will not be either. */
static bool measure_size(const bench *b, const char *label, const point_run *p, unsigned size, curve *c)
{
    point_cost cost[MAX_POINTS];
    measurement m;

    measure(p, b->limit, &m, cost);
    if (m.done) {
        c->last = total(&cost[0]);
        c->to = size;
        c->first = c->from ? c->first : c->last;
        c->from = c->from ? c->from : size;
        bench_say(label, "generate %9.2f ms, simulate %9.2f ms, peak %7.1f MB", cost[0].generate * 1e3,
                  cost[0].simulate * 1e3, m.peak_mb);
    } else {
        bench_say(label, "%s", m.why);
    }
    return m.done;
}

static void say_growth(const char *what, const curve *c)
{
    if (c->to > c->from)
        bench_say("", "%u times the %s: %.2f times the time; to be close to constant", c->to / c->from, what,
                  c->last / c->first);
}

void bench_layers(bench *b)
{
    static const char *const points[] = {"8_1_8_1_1", "8_2_2_2_0"};

    for (size_t i = 0; i < sizeof points / sizeof points[0]; i++) {
        curve c = {0};

        for (unsigned layers = 4; layers <= (b->quick ? 64 : 512); layers *= 2) {
            char setting[32], label[64];

            snprintf(setting, sizeof setting, "layers=%u", layers);
            snprintf(label, sizeof label, "%s, %u layers", points[i], layers);
            if (!measure_size(b, label, &(point_run){"llama70b", "system1", setting, &points[i], 1, NULL},
                              layers, &c))
                break;
        }
        say_growth("layers", &c);
    }
}

/* So many NPUs: boxes of 8 on a switch. */
static const char *write_system(const bench *b, unsigned npus)
{
    const char *path;
    char name[40];
    dse_strbuf text;

    dse_strbuf_init(&text);
    dse_strbuf_addf(
        &text,
        "network: {topology: [FullyConnected, Switch], npus_count: [8, %u], bandwidth: [400, 50],\n"
        "          latency: [20, 500]}\n"
        "collectives: {all: [direct, ring]}\ncompute: {peak_perf: 450}\nmemory: {bandwidth: 3000}\n",
        npus / 8);
    snprintf(name, sizeof name, "npus%u.yaml", npus);
    path = bench_write(b, name, &text);
    dse_strbuf_free(&text);
    return path;
}

/* The degree that is 0 grows with the NPUs. */
static void name_point(const strategy *fixed, unsigned npus, char out[STRATEGY_NAME_MAX])
{
    strategy p = *fixed;
    uint32_t *degree[] = {&p.dp, &p.tp, &p.sp, &p.pp};

    for (int i = 0; i < 4; i++)
        if (!*degree[i])
            *degree[i] = npus / 64;
    strategy_name(&p, NULL, out);
}

void bench_npus(bench *b)
{
    static const struct {
        const char *fixed;
        strategy point;
        unsigned max;
    } curves[] = {{"tp 8, pp 8 fixed, dp grows", {.dp = 0, .tp = 8, .sp = 1, .pp = 8}, 65536},
                  {"dp 8, pp 8 fixed, tp grows", {.dp = 8, .tp = 0, .sp = 1, .pp = 8}, 65536},
                  {"dp 8, tp 8 fixed, pp grows", {.dp = 8, .tp = 8, .sp = 1, .pp = 0}, 4096}}; /* 80 layers */

    for (size_t i = 0; i < sizeof curves / sizeof curves[0]; i++) {
        unsigned max = b->quick && curves[i].max > 1024 ? 1024 : curves[i].max;
        curve c = {0};

        for (unsigned npus = 64; npus <= max; npus *= 4) {
            char point[STRATEGY_NAME_MAX], label[64];
            const char *name = point;

            name_point(&curves[i].point, npus, point);
            snprintf(label, sizeof label, "%s: %u", curves[i].fixed, npus);
            if (!measure_size(b, label, &(point_run){"llama70b", write_system(b, npus), NULL, &name, 1, NULL},
                              npus, &c))
                break;
        }
        say_growth("NPUs", &c);
    }
}
