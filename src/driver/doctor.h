/* drv_doctor -- checks the environment: the machine, the current folder, external tools.
 *
 * Changes nothing. Tools are run for their version or with --help, side by side and with a timeout. The
 * caller knows which task needs which of them. */
#ifndef DSE_DRIVER_DOCTOR_H
#define DSE_DRIVER_DOCTOR_H

#include "base/alloc.h"
#include "driver/simulators.h"

typedef enum {
    DRV_CHECK_CORES,
    DRV_CHECK_MEMORY,
    DRV_CHECK_CARDS,
    DRV_CHECK_DEVICES,  /* with laws of their kernels */
    DRV_CHECK_FOLDER,   /* the current one can be written to */
    DRV_CHECK_RESULTS,  /* the folder of the database can be */
    DRV_CHECK_DATABASE, /* absent before the first sweep */
    DRV_CHECK_TERMINAL, /* standard error is one */
    DRV_CHECK_PYTHON,   /* with the modules that STAGE imports */
    DRV_CHECK_STAGE,
    DRV_CHECK_ASTRASIM,
    DRV_CHECK_AWARE, /* its program with congestion */
    DRV_CHECK_SLURM,
    DRV_N_CHECKS
} drv_check;

typedef enum {
    DRV_THERE,
    DRV_ABSENT,
    DRV_BROKEN, /* present but not usable as it is */
    DRV_UNTRIED /* unknown: there was nothing to try */
} drv_state;

typedef struct {
    const char *name; /* of the check, in a word or two */
    drv_state state;
    const char *found; /* a version, a path, a number, or what is wrong; one printable line */
} drv_finding;

typedef struct {
    const char *database;
    const char *stage, *astrasim[DRV_N_SIMULATORS]; /* command lines (base/words.h); NULL: see PATH */
    double timeout_seconds;                         /* for a tool to answer; 0: none */
} drv_doctor_inputs;

/* One finding a check, in the arena; a missing tool is a finding, not a failure. DSE_E_USAGE (a quote that is
 * not closed), DSE_E_IO (no folder for the tools' output), DSE_E_CHILD, DSE_E_INTERRUPT. */
dse_status drv_doctor(const drv_doctor_inputs *in, dse_arena *a, drv_finding out[DRV_N_CHECKS],
                      dse_error *err);

#endif
