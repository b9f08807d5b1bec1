/* ASTRA-sim's programs, one for each of its network models. */
#ifndef DSE_DRIVER_SIMULATORS_H
#define DSE_DRIVER_SIMULATORS_H

#include "cards/system.h"

typedef enum { DRV_UNAWARE, DRV_AWARE, DRV_N_SIMULATORS } drv_simulator;

#define DRV_UNAWARE_PROGRAM "AstraSim_Analytical_Congestion_Unaware"
#define DRV_AWARE_PROGRAM   "AstraSim_Analytical_Congestion_Aware"

typedef struct {
    const char *backend; /* value of network.backend */
    const char *program; /* its name in PATH */
    const char *option;  /* the commands' option for another path */
} drv_simulator_row;

extern const drv_simulator_row drv_simulators[DRV_N_SIMULATORS];

/* The program that a system needs. */
drv_simulator drv_simulator_of(const card_system *s);

/* Whether it reports the peak memory. */
bool drv_reports_memory(const card_system *s);

/* Whether that program can simulate the system: DSE_E_CONFIG, DSE_E_RANGE with the reason if it cannot, or if
 * the system is invalid. */
dse_status drv_simulator_check(const card_system *s, dse_error *err);

#endif
