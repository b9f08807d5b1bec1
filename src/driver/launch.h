/* The job that starts a strategy of a study in a training program (launch/launch.h). */
#ifndef DSE_DRIVER_LAUNCH_H
#define DSE_DRIVER_LAUNCH_H

#include "driver/study.h"
#include "launch/launch.h"

/* Of a study of profile train and one of its points, under the rules of the program, whatever the point is
 * like; texts are borrowed from the study. `per_node`: ranks of a machine; 0: as the system's network
 * says. DSE_E_CONFIG: the study has no training step, or its system TPUs. DSE_E_RANGE: the program
 * refuses the strategy, with the rule and what would do. */
dse_status drv_launch_job(const drv_study *s, const strategy *p, const launch_program *program,
                          uint32_t per_node, launch_job *out, dse_error *err);

#endif
