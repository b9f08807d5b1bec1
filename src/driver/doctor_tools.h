/* What doctor.c and doctor_tools.c share. */
#ifndef DSE_DRIVER_DOCTOR_TOOLS_H
#define DSE_DRIVER_DOCTOR_TOOLS_H

#include "driver/doctor.h"
#include "exec/jobs.h"

#define DOCTOR_MAX_PROBES 5

typedef struct doctor doctor;

/* A program to run, and the function that reads its output. */
typedef struct {
    drv_check check;
    const char *const *argv;
    void (*read_answer)(doctor *d, drv_check check, const exec_outcome *outcome, const char *text);
    const char *output; /* file */
} doctor_probe;

struct doctor {
    const drv_doctor_inputs *in;
    dse_arena *arena;
    drv_finding *finding; /* DRV_N_CHECKS */
    doctor_probe probe[DOCTOR_MAX_PROBES];
    uint32_t n_probes, next;
    dse_status status; /* a failure that ends the checks */
    dse_error *err;
};

/* Sets a finding. */
void doctor_found(doctor *d, drv_check check, drv_state state, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* Each sets a finding, or adds a probe that will set it. */
void doctor_check_python(doctor *d, drv_check check);
void doctor_check_stage(doctor *d, drv_check check);
void doctor_check_astrasim(doctor *d, drv_check check);
void doctor_check_aware(doctor *d, drv_check check);
void doctor_check_slurm(doctor *d, drv_check check);

/* Runs the probes, side by side. */
dse_status doctor_run_probes(doctor *d);

#endif
