/* msr_gather -- the runs that a calibration can use, of traces and of tables of measured step times; what is
 * left out, by reason; and what the collectives of the traces say of the network themselves. */
#ifndef DSE_MEASURED_CALIBRATE_GATHER_H
#define DSE_MEASURED_CALIBRATE_GATHER_H

#include "measured/calibrate.h"
#include "measured/runs.h"
#include "report/calibrated.h"

/* A run that can be used, and its part of the runs it came from. */
typedef struct {
    size_t n;
    msr_calibrate_run *run;
    const msr_run **of; /* n: what each was made of */
    double *step_s;     /* n: as simulated on the machine as it is, s; of the slowest rank */
    size_t n_hockney;
    report_calibrated_hockney *hockney; /* one a trace */
    size_t n_starts;
    /* of those without `why`; of several for one dimension that of the most samples */
    msr_calibrate_start *start;
    msr_runs runs; /* all, and what is left of them by reason */
} msr_gathered;

/* Fails as msr_runs_load does; `o` is without `see`. A run whose simulation fails, or that has no step time,
 * is left. That none can be used is no failure here. All in the arena. */
dse_status msr_gather(const msr_runs_options *o, dse_arena *a, msr_gathered *out, dse_error *err);

/* Fits the all-reduces of a recording, which has a card. */
dse_status msr_hockney_of(const drv_recording *r, const char *run, const card_system *machine, dse_arena *a,
                          report_calibrated_hockney *out, dse_error *err);

/* A dimension that a group of ranks 0, stride, 2 stride, ... lies in; false if it lies in several, or beyond
 * the machine. */
bool msr_group_dimension(const card_system *machine, uint32_t members, uint32_t stride, uint32_t *dim);

#endif
