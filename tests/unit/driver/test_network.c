#include "driver/network.h"
#include "driver/study.h"
#include "unit/unit.h"

static char folder[64], file[96];
static dse_arena arena;
static dse_error err;
static drv_network network;

static int set_up(void **state)
{
    (void)state;
    unit_make_folder(folder);
    snprintf(file, sizeof file, "%s/two.yaml", folder);
    unit_write_text(file, "topology: [Ring, Mesh2D]\nnpus_count: [4, 6]\nwidth: 3\nheight: 2\n"
                          "bandwidth: [50, 25]\nlatency: [500, 600]\n");
    assert_int_equal(setenv("CCLDSE_CONFIGS", TEST_DATA "/cards", 1), 0);
    dse_arena_init(&arena);
    err = (dse_error)DSE_ERROR_INIT;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    dse_arena_free(&arena);
    unit_remove_folder(folder);
    return 0;
}

static cfg_settings set(const char *word)
{
    cfg_settings settings;

    assert_ok(drv_settings_parse(&word, 1, &arena, &settings, &err), &err);
    return settings;
}

CLAIM(the_network_of_a_system_comes_by_its_name)
{
    assert_ok(drv_network_load("boxes8", NULL, NULL, &arena, &network, &err), &err);
    assert_string_equal(network.name, "boxes8");
    assert_int_equal(network.net.n_npus, 8);
    assert_string_equal(network.net.dim[1].topology->name, "Switch");
}

CLAIM(a_network_file_needs_no_system)
{
    assert_ok(drv_network_load(NULL, file, NULL, &arena, &network, &err), &err);
    assert_string_equal(network.name, "two");
    assert_int_equal(network.net.n_dims, 2);
    assert_int_equal(network.net.n_npus, 4 * 3 * 2);
    assert_double(network.net.dim[1].latency_ns, 600);
}

CLAIM(settings_go_over_either)
{
    cfg_settings settings = set("network.latency[0]=1us");

    assert_ok(drv_network_load("boxes8", NULL, &settings, &arena, &network, &err), &err);
    assert_double(network.net.dim[0].latency_ns, 1000);
    assert_ok(drv_network_load(NULL, file, &settings, &arena, &network, &err), &err);
    assert_double(network.net.dim[0].latency_ns, 1000);
}

CLAIM(a_setting_that_is_none_of_it_is_refused)
{
    cfg_settings of_model = set("layers=4"), of_system = set("memory.bandwidth=4");

    assert_failure(drv_network_load("boxes8", NULL, &of_model, &arena, &network, &err), &err, DSE_E_CONFIG,
                   "", "'layers' is a setting of a model; a network has none");
    err = (dse_error)DSE_ERROR_INIT;
    assert_failure(drv_network_load(NULL, file, &of_system, &arena, &network, &err), &err, DSE_E_CONFIG, "",
                   "'memory.bandwidth' is not a setting of a network; those begin with 'network.'");
}

CLAIM(a_card_is_no_network_file)
{
    assert_failure(
        drv_network_load(NULL, TEST_DATA "/cards/systems/ring8.yaml", NULL, &arena, &network, &err), &err,
        DSE_E_CONFIG, TEST_DATA "/cards/systems/ring8.yaml",
        "this is a system card, not a network.yml; give it as --system");
}

#define ROW(claim) cmocka_unit_test_setup_teardown(claim, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ROW(the_network_of_a_system_comes_by_its_name),
        ROW(a_network_file_needs_no_system),
        ROW(settings_go_over_either),
        ROW(a_setting_that_is_none_of_it_is_refused),
        ROW(a_card_is_no_network_file),
    };
    return RUN_TESTS(tests);
}
