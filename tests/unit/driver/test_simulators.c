/* Which program of ASTRA-sim a system needs. */
#include "driver/simulators.h"
#include "unit/unit.h"

static dse_error err;

static card_system system_of(const char *backend, const char *topology)
{
    card_system s = {
        .topology = {.n = 1}, .npus_count = {1, {4}}, .bandwidth = {1, {50}}, .latency = {1, {500}}};

    strcpy(s.backend, backend);
    strcpy(s.multi_hop, "lowest");
    strcpy(s.topology.v[0], topology);
    err = (dse_error)DSE_ERROR_INIT;
    return s;
}

CLAIM(each_backend_is_a_program)
{
    const card_system unaware = system_of("congestion_unaware", "Ring"),
                      aware = system_of("congestion_aware", "Ring");

    assert_int_equal(drv_simulator_of(&unaware), DRV_UNAWARE);
    assert_int_equal(drv_simulator_of(&aware), DRV_AWARE);
    assert_string_equal(drv_simulators[DRV_AWARE].program, "AstraSim_Analytical_Congestion_Aware");
    for (drv_simulator i = 0; i < DRV_N_SIMULATORS; i++) /* the table has every backend that cards have */
        assert_string_equal(cfg_param_find(&card_system_table, "network.backend")->choices[i],
                            drv_simulators[i].backend);
}

CLAIM(what_it_cannot_simulate_is_refused)
{
    const card_system ring = system_of("congestion_aware", "Ring"),
                      mesh = system_of("congestion_aware", "Mesh2D");
    card_system broken = system_of("congestion_aware", "Ring");

    assert_ok(drv_simulator_check(&ring, &err), &err);
    assert_failure(drv_simulator_check(&mesh, &err), &err, DSE_E_RANGE, "",
                   "ASTRA-sim has no Mesh2D, and stops; it has Ring, Switch and FullyConnected");
    err = (dse_error)DSE_ERROR_INIT;
    broken.npus_count.v[0] = 1;
    assert_failure(drv_simulator_check(&broken, &err), &err, DSE_E_RANGE, "",
                   "dimension 0: npus_count is 1; it must be larger than 1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_backend_is_a_program),
        cmocka_unit_test(what_it_cannot_simulate_is_refused),
    };
    return RUN_TESTS(tests);
}
