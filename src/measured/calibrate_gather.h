/* msr_gather -- the runs that a calibration can use, of traces and of tables of measured step times; what is left out, by
 * reason; and what the collectives of the traces say of the network themselves. */
#ifndef DSE_MEASURED_CALIBRATE_GATHER_H
#define DSE_MEASURED_CALIBRATE_GATHER_H

#include "measured/calibrate.h"
#include "measured/runs.h"

/* Hockney's alpha and beta of a trace's all-reduces (metrics/hockney.h), as a start for the one dimension of the network
 * whose ranks they join: a link carries 1/beta, or of fully connected ranks each link an equal part of it; a step takes
 * alpha, the latency of a link, or of the two through a Switch. */
typedef struct {
    const char *run;
    const char *why;  /* they give no start; NULL: they do */
    uint32_t members; /* of the group; 0: there is no fit at all, as for all below */
    size_t samples, sizes;
    double alpha_s, beta_s_per_byte; /* of the fit */
    uint32_t dim;                    /* without `why`, as the next: of the machine */
    double bandwidth, latency;       /* GiB/s and ns, as in a card */
} msr_gathered_hockney;

/* A run that can be used, and its part of the runs it came from. */
typedef struct {
    size_t n;
    msr_calibrate_run *run;
    const msr_run **of; /* n: what each was made of */
    size_t n_hockney;
    msr_gathered_hockney *hockney; /* one a trace */
    size_t n_starts;
    msr_calibrate_start
        *start;    /* of those without `why`; of several for one dimension that of the most samples */
    msr_runs runs; /* all, and what is left of them by reason */
} msr_gathered;

/* Fails as msr_runs_load does; `o` is without `see`. A run whose simulation fails, or that has no step time, is left. That none
 * can be used is no failure here. All in the arena. */
dse_status msr_gather(const msr_runs_options *o, dse_arena *a, msr_gathered *out, dse_error *err);

/* What the all-reduces of a recording say; it has a card. DSE_E_NOMEM. */
dse_status msr_hockney_of(const drv_recording *r, const char *run, const card_system *machine, dse_arena *a,
                          msr_gathered_hockney *out, dse_error *err);

/* A dimension that a group of ranks 0, stride, 2 stride, ... lies in; false if it lies in several, or beyond the machine. */
bool msr_group_dimension(const card_system *machine, uint32_t members, uint32_t stride, uint32_t *dim);

#endif
