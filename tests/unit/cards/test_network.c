/* The network of a card: shapes in every way of writing them, and every refusal with its place. */
#include "cards/system.h"
#include "unit/unit.h"

#define CARD(network)                                                                                        \
    "network:\n" network "collectives: {all: [oneRing]}\n"                                                   \
    "compute: {peak_perf: 450}\nmemory: {bandwidth: 3000}\n"
#define RATES  "  bandwidth: 50\n  latency: 500\n"
#define RATES2 "  bandwidth: [50, 25]\n  latency: [500, 1]\n"

static dse_error err;
static card_system card;
static net_network net;

static dse_status load(const char *text, const cfg_settings *settings)
{
    sim_settings sim;
    dse_arena arena;
    cfg_doc doc;
    dse_status st;

    dse_arena_init(&arena);
    err = (dse_error)DSE_ERROR_INIT;
    st = cfg_parse_yaml("s.yaml", text, strlen(text), &arena, &doc, &err);
    if (st == DSE_OK)
        st = card_system_read(&doc, settings, &card, &err);
    if (st == DSE_OK)
        st = card_system_build(&card, &net, &sim, &err);
    dse_arena_free(&arena);
    return st;
}

static void assert_shape(uint32_t dim, uint32_t n, uint32_t width, uint32_t height, uint32_t depth)
{
    const net_shape *s = &net.dim[dim].shape;

    assert_int_equal(s->n, n);
    assert_int_equal(s->extent[0], width);
    assert_int_equal(s->extent[1], height);
    assert_int_equal(s->extent[2], depth);
}

static void refuse(const char *text, dse_status status, const char *where, const char *why)
{
    assert_failure(load(text, NULL), &err, status, where, why);
}

/* ---- shapes -------------------------------------------------------------------------------- */

CLAIM(a_square_or_cube_needs_its_count_alone)
{
    assert_ok(load(CARD("  topology: Mesh2D\n  npus_count: 16\n" RATES), NULL), &err);
    assert_shape(0, 16, 4, 4, 1);
    assert_ok(load(CARD("  topology: Torus3D\n  npus_count: 27\n" RATES), NULL), &err);
    assert_shape(0, 27, 3, 3, 3);
}

CLAIM(extents_say_the_count)
{
    assert_ok(load(CARD("  topology: [Mesh2D]\n  width: [5]\n  height: [3]\n" RATES), NULL), &err);
    assert_shape(0, 15, 5, 3, 1);
    assert_ok(load(CARD("  topology: Mesh3D\n  width: 2\n  height: 3\n  depth: 4\n" RATES), NULL), &err);
    assert_shape(0, 24, 2, 3, 4);
    /* and may agree with it */
    assert_ok(load(CARD("  topology: Mesh2D\n  npus_count: 15\n  width: 5\n  height: 3\n" RATES), NULL),
              &err);
    assert_shape(0, 15, 5, 3, 1);
}

/* A list of one is that of the only dimension with such an axis; a whole list has null for the others. */
CLAIM(one_extent_is_for_the_only_dimension_that_has_it)
{
    static const char *const forms[] = {
        CARD("  topology: [Switch, Mesh2D]\n  npus_count: [4, ~]\n  width: 5\n  height: 3\n" RATES2),
        CARD("  topology: [Switch, Mesh2D]\n  npus_count: [4, 15]\n  width: [5]\n  height: [~, 3]\n" RATES2),
        CARD("  topology: [Switch, Mesh2D]\n  npus_count: [4, null]\n  width: [null, 5]\n  height: "
             "3\n" RATES2),
    };

    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        assert_ok(load(forms[i], NULL), &err);
        assert_shape(0, 4, 4, 1, 1);
        assert_shape(1, 15, 5, 3, 1);
        assert_int_equal(net.n_npus, 60);
        assert_u64(card_system_npus(&card), 60);
    }
    /* depth is for the one of three axes, though both have a width */
    assert_ok(
        load(CARD("  topology: [Mesh2D, Mesh3D]\n  width: [2, 3]\n  height: [2, 3]\n  depth: 4\n" RATES2),
             NULL),
        &err);
    assert_shape(1, 36, 3, 3, 4);
}

CLAIM(routing_orders_the_axes)
{
    assert_ok(load(CARD("  topology: Mesh3D\n  npus_count: 8\n  routing: zxy\n" RATES), NULL), &err);
    assert_int_equal(net.dim[0].shape.order[0], 2);
    assert_int_equal(net.dim[0].shape.order[1], 0);
    assert_int_equal(net.dim[0].shape.order[2], 1);
    assert_ok(
        load(CARD("  topology: [Ring, Mesh2D]\n  npus_count: [2, 4]\n  routing: [~, yx]\n" RATES2), NULL),
        &err);
    assert_int_equal(net.dim[1].shape.order[0], 1);
    assert_ok(load(CARD("  topology: Mesh2D\n  npus_count: 4\n" RATES), NULL), &err);
    assert_int_equal(net.dim[0].shape.order[0], 0);
}

CLAIM(the_model_is_the_reference_s_unless_the_card_says_otherwise)
{
    assert_ok(load(CARD("  topology: Ring\n  npus_count: 8\n" RATES), NULL), &err);
    assert_false(net.congestion);
    assert_false(net.full_multi_hop);
    assert_ok(
        load(
            CARD("  topology: Ring\n  npus_count: 8\n  backend: congestion_aware\n  multi_hop: full\n" RATES),
            NULL),
        &err);
    assert_true(net.congestion);
    assert_true(net.full_multi_hop);
}

/* ---- refusals ------------------------------------------------------------------------------ */

CLAIM(sizes_that_do_not_agree_are_refused_where_they_stand)
{
    refuse(CARD("  topology: Mesh2D\n  npus_count: 8\n  width: 3\n  height: 2\n" RATES), DSE_E_RANGE,
           "s.yaml:4:10",
           "dimension 0: width * height of the Mesh2D is 6, but npus_count is 8; leave one out, or make them "
           "agree");
    refuse(CARD("  topology: Mesh2D\n  npus_count: 8\n" RATES), DSE_E_RANGE, "s.yaml:3:15",
           "dimension 0: npus_count 8 of the Mesh2D is no square; give width and height");
    refuse(CARD("  topology: Mesh3D\n  npus_count: 9\n" RATES), DSE_E_RANGE, "s.yaml:3:15",
           "dimension 0: npus_count 9 of the Mesh3D is no cube; give width, height and depth");
    refuse(CARD("  topology: Hypercube\n  npus_count: 12\n" RATES), DSE_E_RANGE, "s.yaml:3:15",
           "dimension 0: a Hypercube has a power of two of NPUs; npus_count is 12");
    refuse(CARD("  topology: Mesh2D\n  height: 4\n" RATES), DSE_E_RANGE, "s.yaml:3:11",
           "dimension 0: the Mesh2D has no width; give it, or npus_count");
    refuse(CARD("  topology: Mesh2D\n  width: 1\n  height: 1\n" RATES), DSE_E_RANGE, "s.yaml:3:10",
           "dimension 0: width * height of the Mesh2D is 1; it must be larger than 1");
    /* 70000 * 70000 is more than 2^32 */
    refuse(CARD("  topology: Mesh2D\n  width: 70000\n  height: 70000\n" RATES), DSE_E_RANGE, "s.yaml:3:10",
           "dimension 0: the Mesh2D has too many NPUs");
    refuse(CARD("  topology: [Ring, Mesh2D]\n  npus_count: [8, 6]\n" RATES2), DSE_E_RANGE, "s.yaml:3:15",
           "dimension 1: npus_count 6 of the Mesh2D is no square; give width and height");
}

CLAIM(a_size_that_is_missing_is_named)
{
    refuse(CARD("  topology: Ring\n" RATES), DSE_E_CONFIG, "s.yaml", "dimension 0: npus_count is missing");
    refuse(CARD("  topology: Mesh2D\n" RATES), DSE_E_CONFIG, "s.yaml",
           "dimension 0: npus_count is missing, or width and height");
    refuse(CARD("  topology: Torus3D\n" RATES), DSE_E_CONFIG, "s.yaml",
           "dimension 0: npus_count is missing, or width, height and depth");
    refuse(CARD("  topology: [Ring, Ring]\n  npus_count: [8, ~]\n" RATES2), DSE_E_CONFIG, "s.yaml:3:15",
           "dimension 1: npus_count is missing");
    refuse(CARD("  topology: []\n  npus_count: []\n  bandwidth: []\n  latency: []\n"), DSE_E_CONFIG,
           "s.yaml:2:13", "the network has no dimensions: topology is empty");
}

CLAIM(an_axis_that_a_topology_lacks_is_refused)
{
    refuse(CARD("  topology: Ring\n  width: 8\n" RATES), DSE_E_CONFIG, "s.yaml:3:10",
           "dimension 0: a Ring has no width");
    refuse(CARD("  topology: Mesh2D\n  width: 4\n  height: 2\n  depth: 1\n" RATES), DSE_E_CONFIG,
           "s.yaml:5:10", "dimension 0: a Mesh2D has no depth");
    refuse(CARD("  topology: Ring\n  npus_count: 8\n  routing: xy\n" RATES), DSE_E_CONFIG, "s.yaml:4:12",
           "dimension 0: a Ring has no routing to choose; leave it out, or null");
}

CLAIM(a_routing_names_each_axis_once)
{
    static const char *const wrong[] = {"x", "xx", "xyz", "yz"};

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        char text[400], why[160];

        snprintf(text, sizeof text, CARD("  topology: Mesh2D\n  npus_count: 4\n  routing: %s\n" RATES),
                 wrong[i]);
        snprintf(why, sizeof why,
                 "dimension 0: routing '%s' of a Mesh2D; it must be 'xy' or these letters in another order",
                 wrong[i]);
        refuse(text, DSE_E_CONFIG, "s.yaml:4:12", why);
    }
}

/* Whatever the topology: what is read of ASTRA-sim's files is written as it is, without quotes. */
CLAIM(a_routing_is_of_the_letters_of_axes)
{
    refuse(CARD("  topology: Mesh3D\n  npus_count: 8\n  routing: zx[]y\n" RATES), DSE_E_CONFIG, "s.yaml:4:12",
           "network.routing: 'zx[]y' is no order of axes; it must be 'xy', 'xyz', or these letters in "
           "another order");
    refuse(CARD("  topology: Mesh2D\n  npus_count: 4\n  routing: XY\n" RATES), DSE_E_CONFIG, "s.yaml:4:12",
           "network.routing: 'XY' is no order of axes; it must be 'xy', 'xyz', or these letters in another "
           "order");
}

CLAIM(lists_of_another_length_than_topology_are_refused)
{
    refuse(CARD("  topology: [Ring, Ring]\n  npus_count: [4]\n" RATES2), DSE_E_CONFIG, "s.yaml:3:15",
           "npus_count has 1 entry, but topology has 2; each dimension needs one of each: write [A, B]; or set network.npus_count[1] for one of them");
    refuse(CARD("  topology: Ring\n  npus_count: 8\n" RATES2), DSE_E_CONFIG, "s.yaml:4:14",
           "bandwidth has 2 entries, but topology has 1; each dimension needs one of each");
    /* one extent for two meshes says neither's */
    refuse(CARD("  topology: [Mesh2D, Mesh2D]\n  width: 2\n  height: [2, 2]\n" RATES2), DSE_E_CONFIG,
           "s.yaml:3:10", "width has 1 entry, but topology has 2; each dimension needs one of each: write [A, B]; or set network.width[1] for one of them");
    refuse(CARD("  topology: [Ring, Mesh2D]\n  npus_count: [2, 4]\n  routing: [~, xy, ~]\n" RATES2),
           DSE_E_CONFIG, "s.yaml:4:12",
           "routing has 3 entries, but topology has 2; each dimension needs one of each");
}

CLAIM(an_implementation_too_many_stands_where_it_is_listed)
{
    refuse("network: {topology: Ring, npus_count: 8, bandwidth: 50, latency: 1}\nmemory: {bandwidth: 1}\n"
           "compute: {peak_perf: 1}\ncollectives:\n  all: [ring]\n  all_gather: [ring, ring]\n",
           DSE_E_CONFIG, "s.yaml:6:15",
           "all-gather lists 2 implementations, but the network has 1 dimension");
    refuse("network: {topology: Ring, npus_count: 8, bandwidth: 50, latency: 1}\nmemory: {bandwidth: 1}\n"
           "compute: {peak_perf: 1}\ncollectives:\n  all: [ring, ring]\n",
           DSE_E_CONFIG, "s.yaml:5:8", "all-reduce lists 2 implementations, but the network has 1 dimension");
}

/* What is wrong may be what was set: then the card alone is named. */
CLAIM(a_setting_takes_the_place_away_if_it_is_of_the_system)
{
    static const char text[] = CARD("  topology: Mesh2D\n  npus_count: 8\n  width: 4\n  height: 2\n" RATES);
    static const char wrong[] = CARD("  topology: Mesh2D\n  npus_count: 8\n  width: 3\n  height: 2\n" RATES);
    const cfg_setting width = {"network.width", "3"}, layers = {"layers", "2"};
    static const char why[] = "dimension 0: width * height of the Mesh2D is 6, but npus_count is 8; leave "
                              "one out, or make them agree";

    assert_failure(load(text, &(cfg_settings){1, &width}), &err, DSE_E_RANGE, "s.yaml", why);
    assert_failure(load(wrong, &(cfg_settings){1, &layers}), &err, DSE_E_RANGE, "s.yaml:4:10", why);
}

/* ---- the resolved text --------------------------------------------------------------------- */

static void write_json(dse_strbuf *out)
{
    dse_json j;

    dse_strbuf_init(out);
    dse_json_init(&j, out);
    cfg_table_write_json(&card_system_table, &card, &j);
}

/* Results are found again by the hash of this text: what an old card does not say must not be in it. */
CLAIM(an_old_card_has_the_text_it_had)
{
    dse_strbuf b;

    assert_ok(
        load(CARD("  topology: [Ring]\n  npus_count: [8]\n  bandwidth: [50]\n  latency: [500]\n"), NULL),
        &err);
    write_json(&b);
    assert_string_equal(
        b.data,
        "{\"network.topology\":[\"Ring\"],\"network.npus_count\":[8],\"network.bandwidth\":[50],"
        "\"network.latency\":[500],\"collectives.all_reduce\":[\"oneRing\"],"
        "\"collectives.all_gather\":[\"oneRing\"],\"collectives.reduce_scatter\":[\"oneRing\"],"
        "\"collectives.all_to_all\":[\"oneRing\"],\"compute.peak_perf\":450,\"memory.bandwidth\":3000,"
        "\"scheduler.scheduling_policy\":\"LIFO\",\"scheduler.endpoint_delay\":10,"
        "\"scheduler.active_chunks_per_dimension\":4,\"scheduler.preferred_dataset_splits\":10,"
        "\"scheduler.boost_mode\":0,\"scheduler.collective_optimization\":\"localBWAware\","
        "\"scheduler.track_local_mem\":true,\"scheduler.trace_enabled\":true,"
        "\"scheduler.roofline_enabled\":true,\"scheduler.replay_only\":false,"
        "\"memory_bus.shared\":false}");
    dse_strbuf_free(&b);
}

CLAIM(the_resolved_text_of_a_mesh_reads_back_to_the_same)
{
    dse_strbuf first, second;

    assert_ok(load(CARD("  topology: [Ring, Mesh2D]\n  npus_count: [2, ~]\n  width: 5\n  height: [~, 3]\n"
                        "  routing: yx\n  backend: congestion_aware\n" RATES2),
                   NULL),
              &err);
    write_json(&first);
    assert_non_null(strstr(first.data,
                           "{\"network.topology\":[\"Ring\",\"Mesh2D\"],\"network.npus_count\":[2,null],"
                           "\"network.width\":[5],\"network.height\":[null,3],\"network.bandwidth\":[50,25],"
                           "\"network.latency\":[500,1],\"network.backend\":\"congestion_aware\","
                           "\"network.routing\":[\"yx\"],"));
    assert_ok(load(first.data, NULL), &err); /* JSON is YAML */
    write_json(&second);
    assert_string_equal(second.data, first.data);
    dse_strbuf_free(&first);
    dse_strbuf_free(&second);
}

/* ---- ASTRA-sim's files --------------------------------------------------------------------- */

static const char system_json[] =
    "{\"scheduling-policy\": \"LIFO\", \"collective-optimization\": \"localBWAware\", \"local-mem-bw\": 1600,"
    " \"preferred-dataset-splits\": 4, \"all-reduce-implementation\": [\"ring\"]}";

typedef dse_status reader(const cfg_doc *, const cfg_doc *, card_system *, dse_error *);

static dse_status read_files(reader *read, const char *network)
{
    dse_arena arena;
    cfg_doc system, doc;
    dse_status st;

    dse_arena_init(&arena);
    err = (dse_error)DSE_ERROR_INIT;
    assert_ok(cfg_parse_json("system.json", system_json, strlen(system_json), &arena, &system, &err), &err);
    st = cfg_parse_yaml("network.yml", network, strlen(network), &arena, &doc, &err);
    if (st == DSE_OK)
        st = read(&system, &doc, &card, &err);
    if (st == DSE_OK)
        st = card_system_check(&card, &(card_places){&system, &doc}, &err);
    dse_arena_free(&arena);
    return st;
}

CLAIM(errors_of_two_files_stand_in_the_one_that_has_the_key)
{
    assert_failure(
        read_files(card_system_read_astra,
                   "topology: [Mesh2D]\nwidth: 3\nnpus_count: [8]\nbandwidth: [1]\nlatency: [1]\n"),
        &err, DSE_E_RANGE, "network.yml:2:8",
        "dimension 0: npus_count 8 of the Mesh2D leaves no whole height");
    assert_failure(read_files(card_system_read_astra,
                              "topology: [Ring]\nbandwidth: [1]\nlatency: [1]\nnpus_count: [8, 2]\n"),
                   &err, DSE_E_CONFIG, "network.yml:4:13",
                   "npus_count has 2 entries, but topology has 1; each dimension needs one of each");
}

/* The reference never looks at our keys, whatever they say; it has three topologies, and takes lists alone. */
CLAIM(the_released_program_reads_its_own_keys_alone)
{
    static const char ours[] = "topology: [Ring]\nnpus_count: [8]\nbandwidth: [1]\nlatency: [1]\n"
                               "backend: congestion_aware\nmulti_hop: full\nwidth: 8\n";
    static const char nonsense[] = "topology: [Ring]\nnpus_count: [8]\nbandwidth: [1]\nlatency: [1]\n"
                                   "backend: 7\nrouting: {}\nwidth: many\n";

    assert_failure(read_files(card_system_read_astra, ours), &err, DSE_E_CONFIG, "network.yml:7:8",
                   "dimension 0: a Ring has no width");
    assert_ok(read_files(card_system_read_released, ours), &err);
    assert_string_equal(card.backend, "congestion_unaware");
    assert_string_equal(card.multi_hop, "lowest");
    assert_int_equal(card.width.n, 0);
    assert_ok(read_files(card_system_read_released, nonsense), &err);
    assert_failure(
        read_files(card_system_read_released,
                   "topology: [Ring, Mesh2D]\nnpus_count: [2, 6]\nbandwidth: [1, 1]\nlatency: [1, 1]\n"),
        &err, DSE_E_RANGE, "network.yml:1:11",
        "ASTRA-sim has no Mesh2D, and stops; it has Ring, Switch and FullyConnected");
    assert_failure(read_files(card_system_read_released,
                              "topology: [Ring]\nnpus_count: 8\nbandwidth: [1]\nlatency: [1]\n"),
                   &err, DSE_E_CONFIG, "network.yml:2:13",
                   "ASTRA-sim takes 'npus_count' as a list alone; write [8]");
}

/* What is written for ASTRA-sim has a list everywhere, and is read back. */
CLAIM(a_network_file_is_read_back)
{
    dse_strbuf file;

    assert_ok(load(CARD("  topology: [Ring, Mesh2D]\n  npus_count: [2, ~]\n  width: 5\n  height: 3\n"
                        "  backend: congestion_aware\n  routing: [~, yx]\n" RATES2),
                   NULL),
              &err);
    dse_strbuf_init(&file);
    card_system_write_astra_network(&card, &file);
    assert_string_equal(file.data, "topology: [Ring,Mesh2D]\nnpus_count: [2,null]\nwidth: [5]\nheight: [3]\n"
                                   "bandwidth: [50,25]  # GiB/s\nlatency: [500,1]  # ns\n"
                                   "backend: \"congestion_aware\"\nrouting: [~,yx]\n");
    assert_ok(read_files(card_system_read_astra, file.data), &err);
    assert_int_equal(card.npus_count.v[1], 0);
    assert_int_equal(card.width.v[0], 5);
    assert_string_equal(card.routing.v[1], "yx");
    assert_string_equal(card.backend, "congestion_aware");
    dse_strbuf_free(&file);
}

/* ---- chunks -------------------------------------------------------------------------------- */

/* Several that travel at once would be faster than their link; profile stage keeps ASTRA-sim's 4 of 10. */
CLAIM(a_collective_of_profile_train_is_one_chunk_unless_the_card_says_otherwise)
{
    assert_ok(load(CARD("  topology: Ring\n  npus_count: 8\n" RATES), NULL), &err);
    card_system_settle_profile(&card, false);
    assert_int_equal(card.active_chunks, 4);
    card_system_settle_profile(&card, true);
    card_system_settle_profile(&card, true);
    assert_int_equal(card.active_chunks, 1);
    assert_int_equal(card.splits, 1);
    card_system_settle_profile(&card, false);
    assert_int_equal(card.active_chunks, 4);
    assert_int_equal(card.splits, 10);
    assert_ok(load(CARD("  topology: Ring\n  npus_count: 8\n" RATES) "scheduler: {active_chunks_per_dimension: 2}\n", NULL),
              &err);
    card_system_settle_profile(&card, true);
    assert_int_equal(card.active_chunks, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_square_or_cube_needs_its_count_alone),
        cmocka_unit_test(extents_say_the_count),
        cmocka_unit_test(one_extent_is_for_the_only_dimension_that_has_it),
        cmocka_unit_test(routing_orders_the_axes),
        cmocka_unit_test(the_model_is_the_reference_s_unless_the_card_says_otherwise),
        cmocka_unit_test(sizes_that_do_not_agree_are_refused_where_they_stand),
        cmocka_unit_test(a_size_that_is_missing_is_named),
        cmocka_unit_test(an_axis_that_a_topology_lacks_is_refused),
        cmocka_unit_test(a_routing_names_each_axis_once),
        cmocka_unit_test(a_routing_is_of_the_letters_of_axes),
        cmocka_unit_test(lists_of_another_length_than_topology_are_refused),
        cmocka_unit_test(an_implementation_too_many_stands_where_it_is_listed),
        cmocka_unit_test(a_setting_takes_the_place_away_if_it_is_of_the_system),
        cmocka_unit_test(an_old_card_has_the_text_it_had),
        cmocka_unit_test(the_resolved_text_of_a_mesh_reads_back_to_the_same),
        cmocka_unit_test(errors_of_two_files_stand_in_the_one_that_has_the_key),
        cmocka_unit_test(the_released_program_reads_its_own_keys_alone),
        cmocka_unit_test(a_network_file_is_read_back),
        cmocka_unit_test(a_collective_of_profile_train_is_one_chunk_unless_the_card_says_otherwise),
    };
    return RUN_TESTS(tests);
}
