/* report_calibrated -- a calibration as text and JSON: each parameter with its uncertainty, the correlations
 * of the parameters, the errors before and after, and the error of each run by a fit to the others. */
#ifndef DSE_REPORT_CALIBRATED_H
#define DSE_REPORT_CALIBRATED_H

#include "compare/fit.h"
#include "report/left.h"

typedef struct {
    const char *name, *where;
    const char *point; /* "4_2_1_1_0_ws" */
    unsigned profile;  /* of the point: a bit of STRATEGY_PROFILE_.. */
    uint64_t n_devices;
    double measured_s;
    size_t n_notes;
    const char *const *note; /* substitutions and assumptions */
} report_calibrated_run;

/* Hockney's alpha and beta of a trace's all-reduces (metrics/hockney.h), as a start for the one dimension of
 * the network whose ranks they join: a link carries 1/beta, or of fully connected ranks each link an equal
 * part of it; a step takes alpha, the latency of a link, or of the two through a Switch. */
typedef struct {
    const char *run;
    const char *why;  /* they give no start; NULL: they do */
    uint32_t members; /* of the group; 0: there is no fit at all, as for all below */
    size_t samples, sizes;
    double alpha_s, beta_s_per_byte; /* of the fit */
    uint32_t dim;                    /* without `why`, as the next: of the machine */
    double bandwidth, latency;       /* GiB/s and ns, as in a card */
} report_calibrated_hockney;

typedef struct {
    const char *system;
    size_t p, n;
    const cmp_parameter *parameter;
    const double *card;               /* p: the card's values, where the start may be another */
    const cmp_fit_result *fit;        /* predictions in s */
    const report_calibrated_run *run; /* n */
    size_t n_left, n_hockney;
    const report_left *left;
    const report_calibrated_hockney *hockney;
    bool leaves_models_out; /* of predictions without a run; else its repeats alone are left out with it */
    uint32_t starts;
    uint64_t seed;
    const char *settings; /* of the models that were simulated, as options; "": none is common to all */
    const char *output;   /* the card that was written; NULL: none */
} report_calibrated;

void report_calibrated_print(const report_calibrated *c, dse_strbuf *out);
void report_calibrated_json(const report_calibrated *c, dse_strbuf *out);

/* The rows of a README's table, and the errors. */
void report_calibrated_markdown(const report_calibrated *c, dse_strbuf *out);

#endif
