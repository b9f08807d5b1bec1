/* report_validated -- tables of measured runs against the simulator: nothing fitted, and fitted with whole
 * models left out; whether it would have chosen right; what others published of the same rows. As Markdown
 * and JSON. */
#ifndef DSE_REPORT_VALIDATED_H
#define DSE_REPORT_VALIDATED_H

#include "compare/rank.h"
#include "report/left.h"

typedef struct {
    const char *name, *model, *point;
    unsigned profile; /* of the point: a bit of STRATEGY_PROFILE_.. */
    uint64_t n_devices;
    double measured_s, simulated_s;
    double left_out_s; /* by the fit to the others; NaN: none */
} report_validated_run;

/* Of the strategies of one job, over groups of two and more; NaN: there are none. */
typedef struct {
    size_t groups, runs;
    double kendall; /* tau-b over all pairs within groups */
    double regret,
        worst_regret; /* how much slower our choice was measured than the truly fastest: mean, and largest */
} report_validated_choice;

typedef struct {
    const char *name, *source;
    double mean, worst; /* fractions; NaN: not published */
} report_validated_peer;

typedef struct {
    const char *title, *measured, *system;
    const char *absent; /* why nothing was compared: the table is not there; NULL */
    size_t n;
    const report_validated_run *run;
    cmp_spread unfitted, fitted; /* fitted: of the runs that were left out */
    const char *fit;             /* "compute.peak_perf 0.93 x"; NULL: there is no fit */
    const char *left_out;        /* "model", "run" */
    const char *why_no_fit;
    report_validated_choice choice, fitted_choice;
    bool by_tokens; /* the choices are ranked by the time of a sequence, as their batches differ */
    cmp_repeats repeats;
    size_t n_peers;
    const report_validated_peer *peer;
    size_t n_left;
    const report_left *left;
} report_validated_table;

/* The runs of a device, and how many lie in the error bands that runs of other models give: of those bands
 * that are to hold nine of ten. */
typedef struct {
    const char *device;
    size_t runs, with_band, inside;
    double *width; /* of the band of each run with one, ascending: share of the step time */
} report_validated_cover;

typedef struct {
    size_t n;
    const report_validated_table *table;
    size_t n_covers;
    report_validated_cover *cover;
    bool rows; /* each run, too */
} report_validated;

void report_validated_markdown(const report_validated *v, dse_strbuf *out);
void report_validated_json(const report_validated *v, dse_strbuf *out);

#endif
