/* Parts of machines: which dimensions are left, and every list with them; what cannot be had. */
#include "cards/resize.h"
#include "unit/unit.h"

#define REST "compute: {peak_perf: 450}\nmemory: {bandwidth: 3000}\n"
/* 4 nodes of 8, in 3 halls, with another implementation in each. */
#define HALLS                 "network:\n" HALLS_NETWORK
#define HALLS_NETWORK                                                                                        \
    "  topology: [Switch, Ring, FullyConnected]\n  npus_count: [8, 4, 3]\n"                        \
    "  bandwidth: [300, 25, 5]\n  latency: [1, 20, 300]\n"                                                   \
    "collectives: {all: [direct, ring, direct2], all_to_all: [oneRing]}\n" REST

static dse_error err;
static card_system machine, part;

static void load(const char *text)
{
    dse_arena arena;
    cfg_doc doc;

    dse_arena_init(&arena);
    err = (dse_error)DSE_ERROR_INIT;
    assert_ok(cfg_parse_yaml("m.yaml", text, strlen(text), &arena, &doc, &err), &err);
    assert_ok(card_system_read(&doc, NULL, &machine, &err), &err);
    dse_arena_free(&arena);
}

static void resize(uint64_t npus)
{
    err = (dse_error)DSE_ERROR_INIT;
    assert_ok(card_system_resize(&machine, npus, &part, &err), &err);
    assert_u64(card_system_npus(&part), npus);
}

static void refuse(uint64_t npus, const char *why)
{
    card_system before;

    memset(&part, 0x55, sizeof part);
    before = part;
    err = (dse_error)DSE_ERROR_INIT;
    assert_failure(card_system_resize(&machine, npus, &part, &err), &err, DSE_E_CONFIG, "", why);
    assert_memory_equal(&part, &before, sizeof part);
}

/* As cfg_table_write_json has it, from topology to all_to_all. */
static void assert_network(const char *expected)
{
    dse_strbuf b;
    dse_json j;

    dse_strbuf_init(&b);
    dse_json_init(&j, &b);
    cfg_table_write_json(&card_system_table, &part, &j);
    assert_non_null(b.data);
    if (strncmp(b.data, expected, strlen(expected)) != 0)
        fail_msg("%s\nis not\n%s", b.data, expected);
    dse_strbuf_free(&b);
}

CLAIM(few_npus_are_part_of_the_innermost_dimension)
{
    load(HALLS);
    resize(4);
    assert_network(
        "{\"network.topology\":[\"Switch\"],\"network.npus_count\":[4],\"network.bandwidth\":[300],"
        "\"network.latency\":[1],\"collectives.all_reduce\":[\"direct\"],"
        "\"collectives.all_gather\":[\"direct\"],\"collectives.reduce_scatter\":[\"direct\"],"
        "\"collectives.all_to_all\":[\"oneRing\"],");
}

CLAIM(a_whole_node_is_one_dimension)
{
    load(HALLS);
    resize(8);
    assert_int_equal(part.topology.n, 1);
    assert_int_equal(part.npus_count.v[0], 8);
}

CLAIM(whole_inner_parts_come_before_a_further_outer_one)
{
    load(HALLS);
    resize(16);
    assert_network("{\"network.topology\":[\"Switch\",\"Ring\"],\"network.npus_count\":[8,2],"
                   "\"network.bandwidth\":[300,25],\"network.latency\":[1,20],"
                   "\"collectives.all_reduce\":[\"direct\",\"ring\"],"
                   "\"collectives.all_gather\":[\"direct\",\"ring\"],"
                   "\"collectives.reduce_scatter\":[\"direct\",\"ring\"],"
                   "\"collectives.all_to_all\":[\"oneRing\"],");
    resize(24); /* 3 nodes, no power of two */
    assert_int_equal(part.npus_count.v[1], 3);
    resize(64);
    assert_int_equal(part.topology.n, 3);
    assert_int_equal(part.npus_count.v[0], 8);
    assert_int_equal(part.npus_count.v[1], 4);
    assert_int_equal(part.npus_count.v[2], 2);
}

CLAIM(all_of_the_machine_is_the_machine)
{
    load(HALLS);
    resize(96);
    assert_memory_equal(&part, &machine, sizeof part);
}

CLAIM(the_part_may_be_put_over_the_machine)
{
    load(HALLS);
    assert_ok(card_system_resize(&machine, 32, &machine, &err), &err);
    assert_u64(card_system_npus(&machine), 32);
    assert_ok(card_system_resize(&machine, 2, &machine, &err), &err);
    assert_u64(card_system_npus(&machine), 2);
}

CLAIM(what_is_no_part_is_refused)
{
    load(HALLS);
    refuse(0, "a system has 2 NPUs at least, not 0");
    refuse(1, "a system has 2 NPUs at least, not 1");
    refuse(12, "12 NPUs do not fill whole parts of 8 of the machine; take 8 or 16");
    refuse(
        40,
        "40 NPUs do not fill whole parts of 32 of the machine; take 32 or 64"); /* 5 nodes: a hall and one */
    refuse(97, "97 NPUs are more than the machine has: 96; set network.npus_count if there are more of it");
    refuse(UINT64_MAX,
           "18446744073709551615 NPUs are more than the machine has: 96; set network.npus_count if there "
           "are more of it");
}

/* Extents are given for the only dimension that has them, in a list of one or of all. */
CLAIM(a_torus_is_taken_whole_or_not_at_all)
{
    static const char *const forms[] = {"  width: 2\n  height: 4\n  routing: yx\n",
                                        "  width: [2, ~]\n  height: [4, ~]\n  routing: [yx, ~]\n"};
    char text[512];

    for (int i = 0; i < 2; i++) {
        snprintf(text, sizeof text,
                 "network:\n  topology: [Torus2D, Switch]\n  npus_count: [~, 6]\n%s"
                 "  bandwidth: [50, 5]\n  latency: [1, 2]\ncollectives: {all: [ring, ring]}\n" REST,
                 forms[i]);
        load(text);
        resize(8);
        assert_network(
            "{\"network.topology\":[\"Torus2D\"],\"network.npus_count\":[null],\"network.width\":[2],"
            "\"network.height\":[4],\"network.bandwidth\":[50],\"network.latency\":[1],"
            "\"network.routing\":[\"yx\"],");
        resize(24);
        assert_int_equal(part.npus_count.v[1], 3);
        refuse(4, "dimension 0, Torus2D 2x4, cannot be cut to 4 NPUs: what is left has other links; take it "
                  "whole, or "
                  "describe the part in a card of its own");
    }
}

CLAIM(an_outer_mesh_goes_with_its_extents)
{
    static const char *const forms[] = {"  width: 2\n  height: 3\n  routing: [yx]\n",
                                        "  width: [~, 2]\n  height: [~, 3]\n  routing: [~, yx]\n"};
    char text[512];

    for (int i = 0; i < 2; i++) {
        snprintf(text, sizeof text,
                 "network:\n  topology: [Switch, Mesh2D]\n  npus_count: [4, ~]\n%s"
                 "  bandwidth: [50, 5]\n  latency: [1, 2]\ncollectives: {all: [ring, ring]}\n" REST,
                 forms[i]);
        load(text);
        resize(2);
        assert_network(
            "{\"network.topology\":[\"Switch\"],\"network.npus_count\":[2],\"network.bandwidth\":[50],"
            "\"network.latency\":[1],\"collectives.all_reduce\":[\"ring\"],");
        resize(24);
        assert_int_equal(part.width.n, machine.width.n);
        refuse(12, "dimension 1, Mesh2D 2x3, cannot be cut to 3 NPUs: what is left has other links; take it "
                   "whole, or "
                   "describe the part in a card of its own");
    }
}

CLAIM(a_depth_goes_with_the_torus_that_has_one)
{
    load("network:\n  topology: [Mesh2D, Torus3D]\n  npus_count: [4, 8]\n  width: [2, 2]\n  depth: 2\n"
         "  bandwidth: [50, 5]\n  latency: [1, 2]\ncollectives: {all: [ring, ring]}\n" REST);
    resize(4);
    assert_int_equal(part.depth.n, 0);
    assert_int_equal(part.width.n, 1);
    resize(32);
    assert_int_equal(part.depth.n, 1);
}

CLAIM(a_part_that_cannot_be_built_says_why)
{
    load("network: {topology: Hypercube, npus_count: 8, bandwidth: 50, latency: 1}\ncollectives: {all: "
         "[ring]}\n" REST);
    resize(4);
    refuse(6, "a part of 6 NPUs: dimension 0: a Hypercube has a power of two of NPUs; npus_count is 6");
}

/* ASTRA-sim takes lists that are shorter than the network; nothing of them is cut before its time. */
CLAIM(lists_that_are_short_stay_as_they_are)
{
    load(HALLS);
    machine.short_lists = true;
    machine.collective[SIM_ALL_GATHER].n = 1;
    resize(64);
    assert_int_equal(part.collective[SIM_ALL_GATHER].n, 1);
    assert_int_equal(part.collective[SIM_ALL_REDUCE].n, 3);
    resize(16);
    assert_int_equal(part.collective[SIM_ALL_GATHER].n, 1);
    assert_int_equal(part.collective[SIM_ALL_REDUCE].n, 2);
}

CLAIM(a_size_is_of_the_last_dimension_or_a_part)
{
    static const struct {
        uint64_t npus;
        const char *setting;
    } rows[] = {{96, "network.npus_count[2]=3"},    {192, "network.npus_count[2]=6"}, {32, "network.part=32"},
                {16, "network.part=16"},            {4, "network.part=4"}};
    dse_arena arena;
    const char *setting = NULL;

    dse_arena_init(&arena);
    load(HALLS);
    assert_u64(card_system_inner(&machine), 32);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_ok(card_system_size(&machine, rows[i].npus, &arena, &setting, &err), &err);
        assert_string_equal(setting, rows[i].setting);
    }
    assert_failure(card_system_size(&machine, 100, &arena, &setting, &err), &err, DSE_E_CONFIG, "",
                   "100 NPUs are more than the machine has: 96; set network.npus_count if there are more of it");
    dse_arena_free(&arena);
}

CLAIM(a_card_may_be_a_part_of_what_it_lists)
{
    load(HALLS);
    resize(16);
    load("network:\n  part: 16\n" HALLS_NETWORK);
    assert_memory_equal(&machine.npus_count, &part.npus_count, sizeof part.npus_count);
    assert_memory_equal(&machine.bandwidth, &part.bandwidth, sizeof part.bandwidth);
    assert_int_equal(machine.part, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_npus_are_part_of_the_innermost_dimension),
        cmocka_unit_test(a_whole_node_is_one_dimension),
        cmocka_unit_test(whole_inner_parts_come_before_a_further_outer_one),
        cmocka_unit_test(all_of_the_machine_is_the_machine),
        cmocka_unit_test(the_part_may_be_put_over_the_machine),
        cmocka_unit_test(what_is_no_part_is_refused),
        cmocka_unit_test(a_torus_is_taken_whole_or_not_at_all),
        cmocka_unit_test(an_outer_mesh_goes_with_its_extents),
        cmocka_unit_test(a_depth_goes_with_the_torus_that_has_one),
        cmocka_unit_test(a_part_that_cannot_be_built_says_why),
        cmocka_unit_test(lists_that_are_short_stay_as_they_are),
        cmocka_unit_test(a_size_is_of_the_last_dimension_or_a_part),
        cmocka_unit_test(a_card_may_be_a_part_of_what_it_lists),
    };
    return RUN_TESTS(tests);
}
