/* msr_runs -- measured runs, of traces and of tables, each as the point that it is on one machine.
 *
 * A trace is in memory only while `see` is called with it. */
#ifndef DSE_MEASURED_RUNS_H
#define DSE_MEASURED_RUNS_H

#include "driver/recording.h"
#include "measured/plan.h"
#include "report/left.h"

typedef struct {
    msr_job job;
    msr_plan plan;
    drv_study study;
    bool is_trace;
    /* runs of one are choices for the same work: model, batch, sequence, devices, precision, recipe,
     * framework and whether it is an older one */
    uint32_t group;
    /* what stands in for what, what was assumed, of which ranks there are traces; a sentence each */
    size_t n_notes;
    const char **note;
} msr_run;

/* Called for the i-th run that has a trace and can be simulated; its traces are freed afterwards. */
typedef dse_status msr_run_see(void *user, size_t i, msr_run *r, const drv_recording *traces, dse_error *err);

typedef struct {
    const char *system; /* the machine: a card by name or path */
    size_t n_traces, n_tables, n_only;
    const char *const *trace; /* directories, or files */
    const char *const *table; /* measured tables, by name or path */
    const char *const *only;  /* rows of them, as msr_jobs_read takes them */
    size_t n_stated;
    const msr_stated *stated; /* what their sources say elsewhere */
    bool may_lack;            /* a table may have none of them, or none that can be used */
    bool kind_must_be_said;   /* rows that do not say that they were measured are left */
    msr_plan_options plan;
    drv_recording_options read; /* its card is for the only trace */
    msr_run_see *see;
    void *seer;
    void (*warn)(const char *text); /* of a trace or its card; NULL */
} msr_runs_options;

typedef struct {
    card_system machine;
    const char *machine_name;
    size_t n;
    msr_run **run; /* that can be simulated: traces first, as given; then rows */
    size_t n_left, cap_left;
    report_left *left; /* in the order of the input */
} msr_runs;

/* The reason of rows whose figures are no measurement. */
#define MSR_UNMEASURED "not of kind 'measured'"

/* A run that the machine cannot be cut to is left, too, as is a row of another kind than "measured".
 * DSE_E_USAGE: no run was given, a card for several traces. DSE_E_CONFIG: a trace without a workload card, or
 * with one of another number of ranks. And as drv_system_load, drv_recording_load, msr_jobs_read,
 * msr_plan_make and msr_plan_study fail. All in the arena. */
dse_status msr_runs_load(const msr_runs_options *o, dse_arena *a, msr_runs *out, dse_error *err);

/* Whether two runs are choices for the same work, as those of a group; any_batch: or for works that differ in
 * the batch alone. */
bool msr_runs_same_work(const msr_job *a, const msr_job *b, bool any_batch);

/* Whether a simulation failed because of what was to be simulated, which is then left or said to have failed;
 * else all fail. */
bool msr_runs_is_own_failure(dse_status st);

/* One more that cannot be simulated, as was found out later. */
void msr_runs_leave(msr_runs *r, const msr_job *job, const char *reason, const char *text, dse_arena *a);

/* What the models of all these runs have in common beside their sizes, as options: "--set
 * precision=mixed --placement tp-sp-dp-pp". A simulation on a machine fitted to the runs needs the same:
 * a card of ours counts and places as STAGE does unless told. What the runs differ in is left out, and a
 * precision in numbers of its own. "" if nothing is left. */
const char *msr_runs_settings(const msr_run *const *run, size_t n, dse_arena *a);

#endif
