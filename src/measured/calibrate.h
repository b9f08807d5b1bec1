/* msr_calibrate -- the parameters of a machine card fitted to step times that were measured on it.
 *
 * One table in calibrate.c lists what may be fitted: rates (compute, memory, the links of each network
 * dimension) and fixed costs (latencies, overheads). Which of them the runs identify, compare/fit.h finds
 * out; the others stay. A prediction simulates every run on the card with the values in question, cut to the
 * run's size (card_system_resize). */
#ifndef DSE_MEASURED_CALIBRATE_H
#define DSE_MEASURED_CALIBRATE_H

#include "compare/fit.h"
#include "driver/study.h"

typedef struct {
    const char *name;       /* for messages; not empty */
    const drv_study *study; /* model, operators; its system is not looked at */
    strategy point;
    double measured_s; /* > 0 */
    bool is_mean;      /* over the ranks, as metrics of a trace are; else of the slowest, as a table's */
} msr_calibrate_run;

/* A value that is known better than the card's, such as from a trace: there the fit begins. */
typedef struct {
    const char *name; /* "network.bandwidth[1]" */
    double value;
} msr_calibrate_start;

typedef struct {
    size_t n_fit,
        n_fix; /* words for parameters: "network.latency" is all of a list, "network.latency[1]" one of it */
    const char *const *fit, *const *fix; /* n_fit 0: all there are; then without n_fix */
    size_t n_starts_known;
    const msr_calibrate_start *start_known;
    /* by the mean of absolute errors (cmp_fit_one): one rate alone; of_one: if there is one alone, else by
     * squares */
    bool absolute, absolute_of_one;
    double max_rate; /* times the card's: a rate is at most that. 1: the card says what nothing can exceed */
    uint32_t starts;
    uint64_t seed;
    bool leave_one_out;
    /* what is left out is all runs of a model, and not a run with its repeats. A model is known by its width
     * (d_model): one that is deeper or shallower is no other model */
    bool leave_models_out;
    uint32_t n_threads; /* that simulate; 0: as many as there are cores. No result depends on it */
    void (*progress)(void *user, size_t done, size_t total); /* fits; NULL */
    void *user;
} msr_calibrate_options;

typedef struct {
    size_t p;
    cmp_parameter *parameter;
    double *card;         /* p: what the card says; parameter[].start may be another value (start_known) */
    cmp_fit_result fit;   /* predictions in s */
    card_system fitted;   /* the card with the fitted values */
    size_t *same_as;      /* n: the first run of the same configuration */
    uint64_t n_simulated; /* points; what was simulated before is not simulated again */
} msr_calibrated;

/* A rate may be fitted down to this part of the card's. */
#define MSR_CALIBRATE_LEAST 100

/* DSE_E_USAGE: `fit` or `fix` names what is no parameter of the card; DSE_E_CONFIG: one that is asked for has
 * no value on the card to begin with, or a run does not fit the machine; whatever generation and simulation
 * fail with, after the run's name; cmp_fit's errors. All in the arena. */
dse_status msr_calibrate(const card_system *machine, const msr_calibrate_run *run, size_t n,
                         const msr_calibrate_options *o, dse_arena *a, msr_calibrated *out, dse_error *err);

#endif
