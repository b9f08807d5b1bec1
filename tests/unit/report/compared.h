/* Comparisons for the tests of their reports. */
#ifndef UNIT_REPORT_COMPARED_H
#define UNIT_REPORT_COMPARED_H

#include "report/compared.h"
#include "unit/unit.h"

#define MOST_RUNS 16

/* A comparison with room for runs, each of a step time alone. */
typedef struct {
    report_compared c;
    report_compared_run run[MOST_RUNS];
    cmp_pair step[MOST_RUNS];
    char name[MOST_RUNS][16];
} comparison;

static const char *one_note[] = {"no recomputation: the card does not say"};

static inline void begin_comparison(comparison *x)
{
    memset(x, 0, sizeof *x);
    x->c = (report_compared){.system = "cluster",
                             .settings = "",
                             .weights = "configs/scores/default.yaml",
                             .run = x->run,
                             .bootstrap = {.seed = 7},
                             .max_error = NAN};
}

/* Names are "run-1", "run-2", ... */
static inline report_compared_run *add_run(comparison *x, double simulated, double measured, uint32_t group)
{
    double error = fabs(cmp_error(simulated, measured));
    size_t i = x->c.n_runs++;

    snprintf(x->name[i], sizeof x->name[i], "run-%zu", i + 1);
    x->step[i] = (cmp_pair){.name = "step_time",
                            .unit = "s",
                            .better = CMP_LOWER,
                            .tolerance = 0.05,
                            .simulated = simulated,
                            .measured = measured};
    x->run[i] = (report_compared_run){.name = x->name[i],
                                      .where = "m.json: row 3",
                                      .model = "gpt-22b",
                                      .point = "4_2_1_1_0_ws",
                                      .n_devices = 8,
                                      .sizes = "elements",
                                      .group = group,
                                      .n_notes = 0,
                                      .note = one_note,
                                      .n_pairs = 1,
                                      .pair = &x->step[i],
                                      .score = error,
                                      .n_scored = error >= 0 ? 1 : 0};
    return &x->run[i];
}

/* The summary of the runs that have both step times. */
static inline void summarize(comparison *x)
{
    cmp_run runs[MOST_RUNS];
    dse_arena arena;
    size_t n = 0;

    dse_arena_init(&arena);
    for (size_t i = 0; i < x->c.n_runs; i++)
        if (x->step[i].simulated > 0 && x->step[i].measured > 0)
            runs[n++] = (cmp_run){x->step[i].simulated, x->step[i].measured, x->run[i].group};
    x->c.summary = cmp_summarize(runs, n, &x->c.bootstrap, &arena);
    x->c.has_summary = true;
    dse_arena_free(&arena);
}

typedef void compared_report(const report_compared *c, dse_strbuf *out);

static inline void check_report(compared_report *report, const report_compared *c, const char *expected,
                                const char *file, int line)
{
    dse_strbuf out;
    bool same;

    dse_strbuf_init(&out);
    report(c, &out);
    same = !strcmp(out.data, expected);
    if (!same)
        print_error("%s\nis not\n%s\n", out.data, expected);
    dse_strbuf_free(&out);
    if (!same)
        _fail(file, line);
}
#define assert_report(report, c, expected) check_report((report), (c), (expected), __FILE__, __LINE__)

#endif
