/* ASTRA-sim's simulators: it has a program for each of its network models. */
#ifndef DSE_DRIVER_SIMULATORS_H
#define DSE_DRIVER_SIMULATORS_H

#include "cards/system.h"

typedef enum { DRV_UNAWARE, DRV_AWARE, DRV_N_SIMULATORS } drv_simulator;

#define DRV_UNAWARE_PROGRAM "AstraSim_Analytical_Congestion_Unaware"
#define DRV_AWARE_PROGRAM   "AstraSim_Analytical_Congestion_Aware"

typedef struct {
    const char *backend; /* value of network.backend */
    const char *program; /* its name, where PATH is all there is to go by */
    const char *option;  /* by which commands are told of it */
} drv_simulator_row;

extern const drv_simulator_row drv_simulators[DRV_N_SIMULATORS];

/* The one that a system needs. */
drv_simulator drv_simulator_of(const card_system *s);

/* Whether it can simulate the system: DSE_E_CONFIG, DSE_E_RANGE with the reason if it cannot, or if the system cannot be
 * built. */
dse_status drv_simulator_check(const card_system *s, dse_error *err);

#endif
