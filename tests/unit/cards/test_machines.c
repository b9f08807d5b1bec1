/* The cards that ship in configs/systems: every one can be built, and those of real machines give the parts that measured
 * runs had. */
#include "cards/resize.h"
#include "unit/unit.h"

#define SYSTEMS TEST_SOURCE "/configs/systems"
#define MAX_RUN 9

/* Measured runs of the machine: by how many devices; 0 ends the list. */
static const struct {
    const char *name, *device;
    uint32_t node; /* NPUs of the innermost dimension; a host of tpu_v6e has two */
    uint64_t runs[MAX_RUN];
} machines[] = {
    {"dgx_spark", "nvidia_dgx_spark", 2, {2}},
    {"dgx_v100", "nvidia_v100", 8, {2, 4, 8}},
    {"h100_torchtitan", "nvidia_h100", 8, {8, 64, 128, 256, 512}},
    {"h200", "nvidia_h200", 8, {32, 64}},
    {"hgx_b200", "nvidia_b200", 8, {8}},
    {"hgx_h100", "nvidia_h100", 8, {2, 8, 64, 256}},
    {"hgx_h100_astra", "nvidia_h100", 8, {2, 4, 8}},
    {"hgx_h800", "nvidia_h800", 8, {64, 2048}},
    {"mi300x", "amd_mi300x", 8, {2, 8}},
    {"perlmutter_a100_40gb", "nvidia_a100", 4, {2, 4, 8, 12, 16, 32, 64, 128, 256}},
    {"selene_a100_80gb", "nvidia_a100", 8, {2, 8, 16, 64, 280, 512, 1024, 2240}},
    {"tpu_v6e", "tpu_v6e", 2, {2, 4, 8}},
    {"vtrain_a100", "nvidia_a100", 8, {2, 4, 8, 16, 64, 128, 256, 512}},
};
#define N_MACHINES (sizeof machines / sizeof machines[0])

static dse_error err;
static card_system card;
static net_network net;
static sim_settings settings;

static void load(const char *name)
{
    char path[512];
    dse_arena arena;
    cfg_doc doc;

    snprintf(path, sizeof path, "%s/%s", SYSTEMS, name);
    dse_arena_init(&arena);
    err = (dse_error)DSE_ERROR_INIT;
    assert_ok(cfg_load(path, &arena, &doc, &err), &err);
    assert_ok(card_system_read(&doc, NULL, &card, &err), &err);
    dse_arena_free(&arena);
    assert_ok(card_system_build(&card, &net, &settings, &err), &err);
}

static void load_machine(size_t i)
{
    char file[64];

    snprintf(file, sizeof file, "%s.yaml", machines[i].name);
    load(file);
}

CLAIM(every_card_can_be_built)
{
    DIR *d = opendir(SYSTEMS);
    uint32_t n = 0, n_real = 0;

    assert_non_null(d);
    for (struct dirent *f; (f = readdir(d));) {
        if (!strstr(f->d_name, ".yaml"))
            continue;
        load(f->d_name);
        n++;
        n_real += *card.device != '\0';
    }
    closedir(d);
    assert_true(n > N_MACHINES);
    assert_int_equal(n_real, N_MACHINES); /* those of a device are all in the table above */
}

CLAIM(a_machine_says_what_it_is_and_where_its_figures_are_from)
{
    for (size_t i = 0; i < N_MACHINES; i++) {
        load_machine(i);
        assert_string_equal(card.device, machines[i].device);
        assert_true(*card.source != '\0');
        assert_int_equal(net.dim[0].shape.n, machines[i].node);
        assert_true(card.peak_perf > 0);
        /* data sheets know of no fixed costs */
        assert_double(card.per_kernel, 0);
        assert_double(card.per_step, 0);
        /* what crosses nodes pays for the network */
        assert_true(net.n_dims == 1 || net.full_multi_hop);
    }
}

CLAIM(a_machine_has_the_parts_that_runs_had)
{
    for (size_t i = 0; i < N_MACHINES; i++) {
        load_machine(i);
        for (int k = 0; k < MAX_RUN && machines[i].runs[k]; k++) {
            uint64_t npus = machines[i].runs[k];
            card_system part;

            assert_ok(card_system_resize(&card, npus, &part, &err), &err);
            assert_ok(card_system_build(&part, &net, &settings, &err), &err);
            assert_u64(net.n_npus, npus);
            assert_int_equal(net.dim[0].shape.n, npus < machines[i].node ? npus : machines[i].node);
            assert_string_equal(part.device, card.device);
        }
    }
}

/* 200 Gb/s of a GPU are 25 * 10^9 bytes per second, in units of 2^30: 23.283064365386963. */
CLAIM(rates_of_links_are_those_of_data_sheets)
{
    load_machine(9);
    assert_string_equal(machines[9].name, "perlmutter_a100_40gb");
    assert_double(card.bandwidth.v[1], 25e9 / 1073741824);
    assert_double(card.bandwidth.v[0], 300e9 / 1073741824);
    assert_double(card.memory_bandwidth, 1555);
    assert_double(card.memory_capacity, 40e9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_card_can_be_built),
        cmocka_unit_test(a_machine_says_what_it_is_and_where_its_figures_are_from),
        cmocka_unit_test(a_machine_has_the_parts_that_runs_had),
        cmocka_unit_test(rates_of_links_are_those_of_data_sheets),
    };
    return RUN_TESTS(tests);
}
