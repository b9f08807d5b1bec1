#include "driver/simulators.h"

#include <string.h>

const drv_simulator_row drv_simulators[DRV_N_SIMULATORS] = {
    [DRV_UNAWARE] = {"congestion_unaware", DRV_UNAWARE_PROGRAM, "--astrasim-bin"},
    [DRV_AWARE] = {"congestion_aware", DRV_AWARE_PROGRAM, "--astrasim-aware-bin"},
};

drv_simulator drv_simulator_of(const card_system *s)
{
    drv_simulator i = DRV_UNAWARE;

    while (i + 1 < DRV_N_SIMULATORS && strcmp(drv_simulators[i].backend, s->backend) != 0)
        i++;
    return i;
}

bool drv_reports_memory(const card_system *s)
{
    return s->track_local_mem &&
           (s->trace_enabled || sim_versions[sim_version_find(s->version)].prints_memory_untraced);
}

dse_status drv_simulator_check(const card_system *s, dse_error *err)
{
    net_network net;
    dse_status st = card_network_build(s, NULL, &net, err);

    if (st == DSE_OK)
        st = net_released_check(&net, err);
    return st == DSE_OK ? card_system_released_check(s, err) : st;
}
