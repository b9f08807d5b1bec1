/* The cards that ship in configs/systems: every one can be built, and those of real machines give the parts that measured
 * runs had. */
#include "cards/resize.h"
#include "unit/sim/world.h"

#define SYSTEMS TEST_SOURCE "/configs/systems"
#define MAX_RUN 9

/* Measured runs of the machine: by how many devices; 0 ends the list. */
static const struct {
    const char *name, *device;
    uint32_t node; /* NPUs of the innermost dimension; a host of TPU v6e has two */
    uint64_t runs[MAX_RUN];
} machines[] = {
    {"dgx_spark", "nvidia_dgx_spark", 2, {2}},
    {"dgx_v100", "nvidia_v100", 8, {2, 4, 8}},
    {"h100_torchtitan", "nvidia_h100", 8, {8, 64, 128, 256, 512}},
    {"h200", "nvidia_h200", 8, {32, 64}},
    {"hgx_b200", "nvidia_b200", 8, {8, 64, 256, 1024}},
    {"hgx_h100", "nvidia_h100", 8, {2, 8, 64, 256, 2304, 6144}},
    {"hgx_h100_astra", "nvidia_h100", 8, {2, 4, 8}},
    {"hgx_h800", "nvidia_h800", 8, {64, 2048}},
    {"mi300x", "amd_mi300x", 8, {2, 8}},
    {"perlmutter_a100_40gb", "nvidia_a100", 4, {2, 4, 8, 12, 16, 32, 64, 128, 256}},
    {"selene_a100_80gb", "nvidia_a100", 8, {2, 8, 16, 64, 280, 512, 1024, 2240}},
    {"tpu_v6e", "tpu_v6e", 16, {2, 4, 8, 32, 64, 256, 512}},
    {"vtrain_a100", "nvidia_a100", 8, {2, 4, 8, 16, 64, 128, 256, 512}},
    {"tpu_v6e_host", "tpu_v6e", 2, {2, 4, 8}},
    {"tpu_v5e", "tpu_v5e", 16, {256, 512, 8192}},
    {"tpu_v5p", "tpu_v5p", 4, {64, 128, 256, 512, 1024, 2048, 4096}},
    {"tpu_ironwood", "tpu_ironwood", 4, {64, 128, 256, 2048}},
    {"gb200", "nvidia_gb200", 64, {4, 8, 64, 128, 256, 512}},
    {"gb300", "nvidia_gb300", 64, {8, 64, 128, 256, 512}},
    {"hgx_b300", "nvidia_b300", 8, {8, 64, 256}},
    {"hgx_h200", "nvidia_h200", 8, {8, 64, 512}},
    {"dgx_a100", "nvidia_a100", 8, {8, 64, 512, 1024}},
    {"dgx_a100_40gb", "nvidia_a100", 8, {8, 64, 128}},
    {"jean_zay_a100_80gb", "nvidia_a100", 8, {8, 320, 336, 352, 360, 384}},
    {"internevo_a100_80gb", "nvidia_a100", 8, {8, 16, 512, 1024}},
    {"vela_a100_80gb", "nvidia_a100", 8, {128}},
    {"gcp_a3_high", "nvidia_h100", 8, {8, 16, 64, 128}},
    {"gcp_a3_mega", "nvidia_h100", 8, {8, 64, 1024}},
    {"l40s", "nvidia_l40s", 8, {2, 4, 8}},
    {"vela_h100_80gb", "nvidia_h100", 8, {96}},
    {"hgx_b200_node", "nvidia_b200", 8, {8}},
    {"gb200_nvl72", "nvidia_gb200", 72, {4, 8, 64, 72}},
    {"gb300_nvl72", "nvidia_gb300", 72, {4, 8, 64, 72}},
    {"perlmutter_a100_40gb_sockets", "nvidia_a100", 4, {4, 8, 12, 16, 128, 256}},
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

/* Machines of one chip give one answer: what NCCL's kernels take of it is in all of their cards. */
CLAIM(collectives_take_compute_on_every_machine_of_a_chip_where_the_share_is_known)
{
    for (size_t i = 0; i < N_MACHINES; i++) {
        const char *device = machines[i].device;
        const bool is_known = !strcmp(device, "nvidia_a100") || !strcmp(device, "nvidia_h100") ||
                              !strcmp(device, "nvidia_h200") || !strcmp(device, "nvidia_h800");

        load_machine(i);
        assert_int_equal(card.compute_share.n, is_known && strcmp(machines[i].name, "hgx_h100_astra") != 0 ? 2 : 0);
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
    assert_double(card.hbm_bytes, 40e9);
}

/* ---- collectives --------------------------------------------------------------------------- */

/* Of a message between neighbours in a node: what its links take (two of a switch), ns; rate of a link and of the memory,
 * bytes per ns, as the data sheets have them. */
static const struct {
    const char *name;
    uint64_t n;
    double links_ns, link, memory;
} nodes[] = {
    {"dgx_spark", 2, 4000, 25, 273},
    {"dgx_v100", 8, 1872.5, 150, 900},
    {"h100_torchtitan", 8, 1872.5, 450, 2400},
    {"h200", 8, 1872.5, 450, 4800},
    {"hgx_b200", 8, 1872.5, 900, 8000},
    {"hgx_h100", 8, 1872.5, 450, 3350},
    {"hgx_h800", 8, 1872.5, 200, 3350},
    {"mi300x", 8, 1872.5, 448, 5300},
    {"perlmutter_a100_40gb", 4, 1872.5, 300, 1555},
    {"selene_a100_80gb", 8, 1872.5, 300, 2039},
    {"tpu_v6e", 2, 1000, 100, 1640},
    {"vtrain_a100", 8, 1872.5, 150, 1555},
    {"tpu_v6e_host", 2, 1000, 100, 1640},
    {"tpu_v5e", 2, 1000, 50, 819},
    {"tpu_v5p", 2, 1000, 100, 2765},
    {"tpu_ironwood", 2, 1000, 100, 7380},
    {"gb200", 4, 1872.5, 900, 8000},
    {"gb300", 8, 1872.5, 900, 8000},
    {"hgx_b300", 8, 1872.5, 900, 8000},
    {"hgx_h200", 8, 1872.5, 450, 4800},
    {"dgx_a100", 8, 1872.5, 300, 2039},
    {"dgx_a100_40gb", 8, 1872.5, 300, 1555},
    {"jean_zay_a100_80gb", 8, 1872.5, 300, 2039},
    {"internevo_a100_80gb", 8, 1872.5, 300, 2039},
    {"vela_a100_80gb", 8, 1872.5, 300, 2039},
    {"gcp_a3_high", 8, 1872.5, 450, 3350},
    {"gcp_a3_mega", 8, 1872.5, 450, 3350},
    {"l40s", 8, 1900, 32, 864},
    {"vela_h100_80gb", 8, 1872.5, 450, 3350},
    {"hgx_b200_node", 8, 1872.5, 900, 8000},
    {"gb200_nvl72", 8, 1872.5, 900, 8000},
    {"gb300_nvl72", 8, 1872.5, 900, 8000},
    {"perlmutter_a100_40gb_sockets", 4, 1872.5, 300, 1555},
};
#define N_NODES (sizeof nodes / sizeof nodes[0])
_Static_assert(N_NODES + 1 == N_MACHINES, "all but hgx_h100_astra, which is as its authors have it");

/* Bytes; no division below comes out near a whole ns, where rounding would decide. */
#define MESSAGE 10000030u

/* How long an all-reduce of the first `n` NPUs of the card takes, with messages of MESSAGE bytes. */
static dse_time all_reduce(uint64_t n)
{
    run_outcome own;
    card_system part;
    dse_time wall;

    assert_ok(card_system_resize(&card, n, &part, &err), &err);
    world_empty();
    assert_ok(card_system_build(&part, &world.net, &world.set, &err), &err);
    world.set.track_memory = false; /* there are no tensors */
    for (uint32_t r = 0; r < n; r++)
        world_coll(r, "c", WL_ALL_REDUCE, n * MESSAGE, 0);
    assert_ok(world_run_alone(&own), &world.err);
    wall = world_stats(0)->wall;
    world_end();
    return wall;
}

/* Hockney's ring, 2(n-1)(latency + size / (n bandwidth)), where a message waits for its endpoint (10 ns) and its links; the
 * first for the endpoint alone. Each of the n-1 messages that are added to what is there costs two reads and a write of the
 * memory besides, which Hockney's formula has not. By hand for dgx_v100: a message takes 1872.5 + 10000030 / 150 = 68539.4
 * ns, its addition 3 times 10000030 / 900 = 11111.1: 10 + 14 (68539 + 10) + 7 * 3 * 11111 = 1193027. */
CLAIM(an_all_reduce_in_a_node_is_a_ring_of_one_chunk)
{
    for (size_t i = 0; i < N_NODES; i++) {
        dse_time message = (dse_time)(nodes[i].links_ns + MESSAGE / nodes[i].link);
        dse_time addition = 3 * (dse_time)(MESSAGE / nodes[i].memory);
        char file[64];

        snprintf(file, sizeof file, "%s.yaml", nodes[i].name);
        load(file);
        assert_u64(all_reduce(nodes[i].n),
                   10 + 2 * (nodes[i].n - 1) * (message + 10) + (nodes[i].n - 1) * addition);
    }
    load("dgx_v100.yaml");
    assert_u64(all_reduce(8), 1193027);
}

/* Why it is one: of two at a time each has the link as if alone, and as much passes as two links could carry. The link needs
 * 14 * 10000030 / 150 = 933336.1 ns for its bytes alone. */
CLAIM(chunks_that_travel_together_are_faster_than_the_link)
{
    load("dgx_v100.yaml");
    assert_true(all_reduce(8) > 933337);
    card.splits = 4;
    card.active_chunks = 2;
    assert_true(all_reduce(8) < 933336);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_card_can_be_built),
        cmocka_unit_test(a_machine_says_what_it_is_and_where_its_figures_are_from),
        cmocka_unit_test(a_machine_has_the_parts_that_runs_had),
        cmocka_unit_test(collectives_take_compute_on_every_machine_of_a_chip_where_the_share_is_known),
        cmocka_unit_test(rates_of_links_are_those_of_data_sheets),
        cmocka_unit_test(an_all_reduce_in_a_node_is_a_ring_of_one_chunk),
        cmocka_unit_test(chunks_that_travel_together_are_faster_than_the_link),
    };
    return RUN_TESTS(tests);
}
