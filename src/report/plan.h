/* report_plan -- what to run on a cluster: the best strategies of a study, why the first of them wins, what
 * would change that, and what was assumed; or, if nothing fits, what comes nearest and what would make it
 * fit.
 *
 * Every figure is one of a stored row, or of a simulation that `ccldse simulate` repeats with the settings
 * beside it. driver/plan.h finds it. */
#ifndef DSE_REPORT_PLAN_H
#define DSE_REPORT_PLAN_H

#include "compare/bands.h"
#include "report/explain.h"

/* Of the memory, what is well left free: what drivers and allocators take is not counted. */
#define REPORT_PLAN_ROOM 0.1
/* Of a step, what is worth a word. */
#define REPORT_PLAN_WORTH 0.01

/* The system with one thing changed, and the strategy that would win then. */
typedef struct {
    const char *what;      /* "bandwidth between nodes" */
    const char *from, *to; /* "50 GB/s" */
    double factor;         /* between the two */
    size_t n_settings;
    const char **setting;  /* "network.bandwidth[1]=23.283064365386963", as `--set` takes it */
    bool less_is_better;   /* a latency */
    uint64_t wall_time;    /* of the winner, ns; STORE_ABSENT: it does not fit, or cannot run then */
    const store_row *best; /* NULL: nothing fits; with it: */
    uint64_t best_time;
    size_t n_tried; /* points that were simulated; 0: a ranking of those that are known was enough */
} report_plan_change;

/* What was tried where nothing fits. */
typedef struct {
    const char *what; /* "with --nodes 32 (256 NPUs)", "without --zero" */
    size_t n_tried;
    bool fits; /* something does; then the fastest of it, else what needs least memory */
    strategy point;
    store_metrics metrics;
} report_plan_remedy;

/* A remark: what it is about, for programs and for people. */
typedef struct {
    const char *about, *text; /* about: "data_types" */
} report_plan_remark;

typedef struct {
    const report_study *study; /* ranked by wall_time */
    report_explanation why;
    const char *model, *system; /* as they were named */
    uint64_t npus, nodes;       /* nodes 0: the network has not two dimensions */
    double parameters;
    uint64_t batch, sequence;
    bool by_roofline;    /* kernels last by no law */
    uint64_t n_refused;  /* combinations that rules refuse */
    double train_tokens; /* of a whole training run; NaN: not asked for */

    cmp_band band; /* of the winner */
    const char *why_no_band, *device;
    const char *command; /* that simulates the winner; NULL: there is none */
    /* The text that starts the winner in the program of this title, to paste; NULL: the program refuses
     * it. */
    const char *launch_program, *launch, *why_no_launch;

    /* The best that leaves REPORT_PLAN_ROOM free, where the winner does not; of the points that are faster by
     * REPORT_PLAN_WORTH, the one that needs least memory. NULL: none. */
    const store_row *roomy, *above;
    size_t n_changes;
    report_plan_change *change;

    const store_row *nearest; /* nothing fits: what needs least memory */
    size_t n_remedies;
    report_plan_remedy *remedy;

    size_t n_assumptions;
    report_plan_remark *assumption;
} report_plan;

/* Of all that is ranked the `top` best (0: all). Lines of 80 columns, but for names that are longer. */
void report_plan_print(const report_plan *p, size_t top, dse_strbuf *out);

/* The same as one JSON object on one line. */
void report_plan_json(const report_plan *p, size_t top, dse_strbuf *out);

#endif
