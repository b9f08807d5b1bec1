/* What the rows of the benchmark share. */
#ifndef TESTS_BENCH_BENCH_H
#define TESTS_BENCH_BENCH_H

#include "bench/measure.h"

#include "base/alloc.h"
#include "base/strbuf.h"

#define BENCH_JOBS 2 /* workers of a sweep */

typedef struct {
    const char *ccldse;   /* beside this program */
    const char *folder;   /* for files, removed at the end */
    const char *messages; /* what programs say on stderr */
    const char *upstream; /* -u: an ASTRA-sim of the reader's own, or NULL */
    const char *stage;    /* -g: a STAGE, as a shell command, or NULL */
    bool quick;
    double limit;     /* seconds for one measurement */
    dse_arena *arena; /* of the paths */
    int n_bars, n_hold;
} bench;

/* A line of figures: "  what  ...". */
void bench_say(const char *what, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Whether a figure keeps its bar; `unit` is of both. What could not be measured does not. */
void bench_at_most(bench *b, const char *what, const measurement *m, double v, double bar, const char *unit);
void bench_at_least(bench *b, const char *what, const measurement *m, double v, double bar, const char *unit);

/* A file in the folder: its path. */
const char *bench_path(const bench *b, const char *name);
const char *bench_write(const bench *b, const char *name, const dse_strbuf *text);

/* The program with arguments (the list ends with NULL), `times` times: the fastest run. */
void bench_run(const bench *b, const char *const *argv, int times, measurement *out);

/* Recorded when the reference data was made, on another machine: CPU seconds of STAGE and of ASTRA-sim for a full-size
 * point of llama70b on system1. */
typedef struct {
    const char *point;
    double stage_s, astrasim_s;
} bench_recorded;
extern const bench_recorded bench_upstream[2];
#define BENCH_PAIR_S 250.0 /* both, about, for a point of the space */

/* printf into the arena. */
const char *bench_text(const bench *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The 56 points of the default space on 64 NPUs, as words. */
#define BENCH_POINTS 56
const char *const *bench_points(void);

/* The rows. */
void bench_point(bench *b);
void bench_shortcuts(bench *b);
void bench_sweep(bench *b);
void bench_space(bench *b);
void bench_worker(bench *b);
void bench_large(bench *b);
void bench_layers(bench *b);
void bench_npus(bench *b);
void bench_stage(bench *b);
void bench_astrasim(bench *b);
void bench_metrics(bench *b);
void bench_schedule(bench *b);
void bench_step(bench *b);

#endif
