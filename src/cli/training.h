/* What `simulate` prints of a step of profile train. */
#ifndef DSE_CLI_TRAINING_H
#define DSE_CLI_TRAINING_H

#include "cli/command.h"
#include "driver/bands.h"
#include "driver/unrolled.h"

typedef struct {
    const drv_study *study;
    const strategy *point;
    step_result result;
    store_metrics metrics;
    const drv_unrolled *unrolled; /* that has been simulated besides; NULL */
    cmp_band band;                /* training_print sets these */
    const char *why_no_band;
    step_result even; /* of a router that spreads tokens unevenly: as if it did not */
} training_shown;

/* What is listed besides. */
typedef struct {
    bool collectives, memory, links; /* links: of the unrolled step */
    uint32_t rank;                   /* whose collectives */
} training_lists;

/* With the error band of the step time. DSE_E_USAGE: there is no such rank. And as drv_bands_load fails. */
dse_status training_print(training_shown *s, const training_lists *lists, bool json, command_run *r,
                          dse_error *err);

#endif
