/* What ccldse costs, beside the bars it was built to.
 *
 * usage: bench [-q] [-t SECONDS] [-u ASTRA_SIM] [-g STAGE] [ROW...]
 *
 * Each row is measured in processes of its own, one after the other, in a folder that is removed at the end; programs
 * are those of the folder that this one stands in. -q: a sample of the large space, and what is reckoned from it says
 * so, and shorter curves; -t: what takes longer than so many seconds is stopped. What the upstream tools take was
 * recorded on another machine, unless one's own are given: -u a program, -g a command ("python3 stage/main.py"); then
 * they run side by side with ours. The answer is text: it asserts nothing, and ends with 0 whatever the figures are. */
#include "bench/bench.h"

#include "base/fs.h"
#include "base/units.h"
#include "design/space.h"

#include <libgen.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct {
    const char *name, *what;
    void (*run)(bench *b);
} rows[] = {
    {"point", "one full-size point: llama70b on system1, 80 layers, 64 NPUs", bench_point},
    {"shortcuts", "the same with and without shortcuts", bench_shortcuts},
    {"sweep", "112 full-size points, the whole process, 2 workers", bench_sweep},
    {"space", "a space of 100,000 points, 2 workers", bench_space},
    {"worker", "a worker on all points of 64 NPUs", bench_worker},
    {"large", "126 layers on 16,384 NPUs: tp 8, pp 16, dp 128", bench_large},
    {"layers", "cost against layers: llama70b on system1", bench_layers},
    {"npus", "cost against NPUs: llama70b, 80 layers", bench_npus},
    {"stage", "ccldse stage: all ranks of a full-size point", bench_stage},
    {"astrasim", "ccldse astrasim on these files", bench_astrasim},
    {"metrics", "all metrics of a trace of 1 GB, one core", bench_metrics},
    {"schedule", "pipeline schedules of 16 ranks", bench_schedule},
    {"step", "training steps: GPT-3 175B, tp 8, pp 16, vp 6, 192 micro-batches", bench_step},
};
#define N_ROWS (sizeof rows / sizeof rows[0])

/* id "L5_llama70b_s80_<point>" of the reference data. */
const bench_recorded bench_upstream[2] = {{"32_1_2_1_0", 134.02, 219.57}, {"8_1_8_1_1", 160.83, 95.55}};

/* ---- lines --------------------------------------------------------------------------------- */

void bench_say(const char *what, const char *fmt, ...)
{
    va_list ap;

    printf("  %-36s ", what);
    va_start(ap, fmt);
    vprintf(fmt, ap);
    va_end(ap);
    printf("\n");
    fflush(stdout);
}

static void judge(bench *b, const char *what, const measurement *m, double v, const char *sign, double bar,
                  const char *unit, bool holds)
{
    b->n_bars++;
    b->n_hold += m->done && holds;
    if (m->done)
        bench_say(what, "%10.4g %-8s %s %g %s: %s", v, unit, sign, bar, unit,
                  holds ? "holds" : "DOES NOT HOLD");
    else
        bench_say(what, "not measured (%s)   %s %g %s: DOES NOT HOLD", m->why, sign, bar, unit);
}

void bench_at_most(bench *b, const char *what, const measurement *m, double v, double bar, const char *unit)
{
    judge(b, what, m, v, "at most", bar, unit, v <= bar);
}

void bench_at_least(bench *b, const char *what, const measurement *m, double v, double bar, const char *unit)
{
    judge(b, what, m, v, "at least", bar, unit, v >= bar);
}

/* ---- files and programs -------------------------------------------------------------------- */

static void fail(const char *what)
{
    fprintf(stderr, "bench: %s\n", what);
    exit(70);
}

const char *bench_text(const bench *b, const char *fmt, ...)
{
    char text[4096];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    return dse_arena_strdup(b->arena, text);
}

const char *bench_path(const bench *b, const char *name) { return bench_text(b, "%s/%s", b->folder, name); }

const char *bench_write(const bench *b, const char *name, const dse_strbuf *text)
{
    const char *path = bench_path(b, name);
    dse_error err = DSE_ERROR_INIT;

    if (dse_write_file(path, text->data, text->len, &err) != DSE_OK)
        fail(err.text);
    return path;
}

void bench_run(const bench *b, const char *const *argv, int times, measurement *out)
{
    const measured_program p = {argv, b->folder, NULL, bench_path(b, "stdout"), b->messages, b->limit};

    measure_fastest(&p, times, out);
}

const char *const *bench_points(void)
{
    static char text[BENCH_POINTS][STRATEGY_NAME_MAX];
    static const char *names[BENCH_POINTS];
    const strategy base = strategy_default();
    design_axes axes = {.of[STRATEGY_pp] = {1, {1}}, .of[STRATEGY_recompute] = {2, {0, 1}}};
    strategy *points;
    size_t n = 0;
    dse_arena a;

    if (names[0])
        return names;
    dse_arena_init(&a);
    if (design_enumerate(&axes, &base, 64, &a, &points, &n, NULL) != DSE_OK || n != BENCH_POINTS)
        fail("the default space on 64 NPUs has not 56 points");
    for (size_t i = 0; i < n; i++) {
        strategy_name(&points[i], NULL, text[i]);
        names[i] = text[i];
    }
    dse_arena_free(&a);
    return names;
}

/* ---- main ---------------------------------------------------------------------------------- */

static void print_machine(void)
{
    char line[256], name[200] = "unknown processor";
    FILE *f = fopen("/proc/cpuinfo", "r");

    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "model name : %199[^\n]", name) == 1)
            break;
    if (f)
        fclose(f);
    printf("machine: %ld cores, %s, %.0f GB\n", sysconf(_SC_NPROCESSORS_ONLN), name,
           (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE) * 1e-9);
}

static bool is_wanted(const char *name, char **words, int n)
{
    for (int i = 0; i < n; i++)
        if (!strcmp(words[i], name))
            return true;
    return n == 0;
}

static bool are_rows(char **words, int n)
{
    for (int i = 0; i < n; i++) {
        size_t k = 0;

        while (k < N_ROWS && strcmp(rows[k].name, words[i]))
            k++;
        if (k == N_ROWS)
            return false;
    }
    return true;
}

static bool parse(int argc, char **argv, bench *b)
{
    int opt;

    while ((opt = getopt(argc, argv, "qt:u:g:")) != -1) {
        switch (opt) {
        case 'q': b->quick = true; break;
        case 'u': b->upstream = optarg; break;
        case 'g': b->stage = optarg; break;
        case 't':
            if (dse_parse_double(optarg, &b->limit, NULL) != DSE_OK || b->limit <= 0)
                return false;
            break;
        default: return false;
        }
    }
    return are_rows(argv + optind, argc - optind);
}

static void print_usage(void)
{
    fprintf(stderr, "usage: bench [-q] [-t SECONDS] [-u ASTRA_SIM] [-g STAGE] [ROW...]\n");
    for (size_t i = 0; i < N_ROWS; i++)
        fprintf(stderr, "  %-10s %s\n", rows[i].name, rows[i].what);
}

int main(int argc, char **argv)
{
    char folder[] = "/tmp/ccldse-bench.XXXXXX", self[4096], program[4200], upstream[4096];
    dse_arena arena;
    bench b = {.arena = &arena};

    if (!parse(argc, argv, &b)) {
        print_usage();
        return 2;
    }
    if (b.limit <= 0) /* none is given */
        b.limit = b.quick ? 60 : 600;
    if (b.upstream && !realpath(b.upstream, upstream))
        fail("there is no such ASTRA-sim");
    if (!realpath("/proc/self/exe", self) || !mkdtemp(folder))
        fail("cannot make a folder in /tmp");
    snprintf(program, sizeof program, "%s/ccldse", dirname(self));
    b.ccldse = program;
    b.folder = folder;
    b.upstream = b.upstream ? upstream : NULL;
    dse_arena_init(&arena);
    b.messages = bench_path(&b, "messages");
    print_machine();
    for (size_t i = 0; i < N_ROWS; i++) {
        if (!is_wanted(rows[i].name, argv + optind, argc - optind))
            continue;
        printf("\n%s: %s\n", rows[i].name, rows[i].what);
        fflush(stdout);
        rows[i].run(&b);
    }
    printf("\n%d of %d bars hold\n", b.n_hold, b.n_bars);
    bench_run(&b, (const char *const[]){"rm", "-rf", folder, NULL}, 1, &(measurement){0});
    dse_arena_free(&arena);
    return 0;
}
