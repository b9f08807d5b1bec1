/* msr_calibrated_card -- a system card that was fitted, as YAML with comments: what it was fitted to, how
 * well, and of each value where it began. Reads back with the same values. The same input gives the same
 * bytes: there is no date in it. */
#ifndef DSE_MEASURED_CALIBRATE_CARD_H
#define DSE_MEASURED_CALIBRATE_CARD_H

#include "measured/calibrate.h"

typedef struct {
    const char *system;        /* whose card it was */
    const char *source_before; /* where its figures came from, as it says; "" */
    size_t n_sources;
    const char *const *source; /* traces and tables, as they were given */
    size_t n_runs;
    const msr_calibrate_run *run;
    const char *settings; /* msr_runs_settings */
    uint64_t seed;
    uint32_t starts;
} msr_calibrated_about;

/* Appended to out. */
void msr_calibrated_card(const msr_calibrated *c, const msr_calibrated_about *about, dse_strbuf *out);

#endif
