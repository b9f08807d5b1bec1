/* report_compared -- simulated against measured, as text, JSON, CSV and Markdown.
 *
 * As text a single run is a table of its metrics, several are a line each and a summary; only a line with a
 * long name or path exceeds 100 columns. JSON and CSV have everything, for one run as for many: errors,
 * scores and tolerances are fractions, step times are in seconds, and an absent value is null or empty. Equal
 * input gives equal output. */
#ifndef DSE_REPORT_COMPARED_H
#define DSE_REPORT_COMPARED_H

#include "compare/bands.h"
#include "compare/score.h"
#include "report/left.h"

typedef struct {
    const char *name, *where; /* of the run; file and row */
    const char *model;        /* "llama-3.1-8b" */
    const char *point;        /* "4_2_1_1_0_ws" */
    unsigned profile;         /* of the point: a bit of STRATEGY_PROFILE_.. */
    uint64_t n_devices;
    const char *sizes; /* which sizes count: "bytes (bf16 mixed)" or "elements" */
    uint32_t group;    /* runs of one are choices for the same work */
    size_t n_notes;
    const char **note; /* substitutions and assumptions, a sentence each */
    size_t n_pairs;
    cmp_pair *pair;          /* the first is the step time */
    double score;            /* NaN: none */
    size_t n_scored;         /* metrics that it is the mean of */
    const char *failed;      /* why it could not be simulated; NULL */
    cmp_band band;           /* of the simulated step time, by errors of runs of other models */
    const char *why_no_band; /* NULL: it is known, or of profile stage */
    const char *device;      /* whose runs these are */
} report_compared_run;

typedef struct {
    const char *system;
    const char *weights;  /* path of the file */
    const char *settings; /* of the model cards, common to all runs: "--placement tp-sp-dp-pp"; "" */
    size_t n_runs;
    report_compared_run *run;
    size_t n_left;
    report_left *left;
    bool has_summary;        /* two runs or more */
    cmp_summary summary;     /* of the runs of which both step times are known */
    cmp_bootstrap bootstrap; /* which gives its intervals */
    double max_error;        /* fraction; NaN: none was given */
} report_compared;

/* The largest |relative error| of step times; NaN: none is known. */
double report_compared_worst(const report_compared *c);

void report_compared_print(const report_compared *c, dse_strbuf *out);
void report_compared_json(const report_compared *c, dse_strbuf *out);

/* One row per run (RFC 4180, lines end with \n): fixed columns, then three for each metric that any run
 * has. */
void report_compared_csv(const report_compared *c, dse_strbuf *out);

/* The rows of a README's table: run, model, devices, degrees, step times, error. */
void report_compared_markdown(const report_compared *c, dse_strbuf *out);

#endif
