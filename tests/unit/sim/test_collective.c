#include "sim/collective.h"
#include "unit/unit.h"

static void parse(const char *text, const char *name, bool over_all, int window)
{
    sim_implementation i = {0};
    dse_error err = DSE_ERROR_INIT;

    assert_ok(sim_implementation_parse(text, &i, &err), &err);
    assert_string_equal(i.algorithm->name, name);
    assert_int_equal(i.over_all, over_all);
    assert_int_equal(i.window, window);
    assert_ok(sim_implementation_parse(text, NULL, &err), &err);
}

CLAIM(algorithms_are_found_by_the_reference_s_names)
{
    parse("ring", "ring", false, 0);
    parse("direct", "direct", false, 0);
    parse("halvingDoubling", "halvingDoubling", false, 0);
    parse("doubleBinaryTree", "doubleBinaryTree", false, 0);
    parse("oneRing", "ring", true, 0);
    parse("oneDirect", "direct", true, 0);
    parse("oneHalvingDoubling", "halvingDoubling", true, 0);
}

CLAIM(direct_may_carry_a_window)
{
    parse("direct4", "direct", false, 4);
    parse("direct12345", "direct", false, 12345);
    parse("oneDirect3", "direct", true, 3);
}

static void refuse(const char *text, const char *message)
{
    dse_error err = DSE_ERROR_INIT;

    assert_failure(sim_implementation_parse(text, NULL, &err), &err, DSE_E_CONFIG, "", message);
}

#define KNOWN "ring, oneRing, direct, oneDirect, halvingDoubling, oneHalvingDoubling, doubleBinaryTree " \
              "(direct and oneDirect may carry a window: direct4)"

CLAIM(unknown_names_are_refused_with_the_known_ones)
{
    refuse("tree", "unknown collective implementation 'tree'; did you mean 'doubleBinaryTree'? known: " KNOWN);
    refuse("Ring", "unknown collective implementation 'Ring'; did you mean 'ring'? known: " KNOWN);
    refuse(
        "halvingdoubling",
        "unknown collective implementation 'halvingdoubling'; did you mean 'halvingDoubling'? known: " KNOWN);
    refuse("", "unknown collective implementation ''; known: " KNOWN);
}

CLAIM(a_window_must_be_a_number_above_zero_and_only_with_direct)
{
    refuse("direct0", "unknown collective implementation 'direct0'; did you mean 'direct'? known: " KNOWN);
    refuse("direct4x", "unknown collective implementation 'direct4x'; did you mean 'direct'? known: " KNOWN);
    refuse("direct-1", "unknown collective implementation 'direct-1'; did you mean 'direct'? known: " KNOWN);
    refuse("ring4", "unknown collective implementation 'ring4'; did you mean 'ring'? known: " KNOWN);
    refuse("direct123456", "unknown collective implementation 'direct123456'; did you mean 'direct'? known: " KNOWN);
    refuse("oneDoubleBinaryTree", "unknown collective implementation 'oneDoubleBinaryTree'; did you mean "
                                  "'doubleBinaryTree'? known: " KNOWN);
}

/* ---- dimensions --------------------------------------------------------------------------------- */

static net_network two_dimensions(void)
{
    net_network net = {.n_dims = 2};

    for (int i = 0; i < 2; i++)
        net.dim[i] = (net_dimension){
            .topology = net_topology_find("Ring"), .shape.n = 4 + 4 * (uint32_t)i, .gib_per_s = 1};
    assert_int_equal(net_network_finish(&net, NULL), DSE_OK);
    return net;
}

static sim_implementations list_of(uint32_t n, const char *const *names)
{
    sim_implementations impl = {.n_dims = n};

    for (uint32_t i = 0; i < n; i++)
        assert_int_equal(sim_implementation_parse(names[i], &impl.dim[i], NULL), DSE_OK);
    return impl;
}

CLAIM(an_implementation_is_for_the_dimension_of_its_place)
{
    static const char *const names[] = {"ring", "direct"};
    sim_implementations impl = list_of(2, names);
    net_network net = two_dimensions();
    sim_logical l;

    assert_int_equal(sim_logical_init(&impl, &net, &l, NULL), DSE_OK);
    assert_int_equal(l.n_dims, 2);
    assert_int_equal(l.dim[0].n, 4);
    assert_int_equal(l.dim[0].stride, 1);
    assert_int_equal(l.dim[1].n, 8);
    assert_int_equal(l.dim[1].stride, 4);
    assert_string_equal(l.dim[1].how.algorithm->name, "direct");
}

CLAIM(a_shorter_list_leaves_dimensions_out)
{
    static const char *const names[] = {"ring"};
    sim_implementations impl = list_of(1, names);
    net_network net = two_dimensions();
    sim_logical l;

    assert_int_equal(sim_logical_init(&impl, &net, &l, NULL), DSE_OK);
    assert_int_equal(l.n_dims, 1);
}

CLAIM(a_longer_list_is_refused)
{
    static const char *const names[] = {"ring", "ring", "ring"};
    sim_implementations impl = list_of(3, names);
    net_network net = two_dimensions();
    dse_error err = DSE_ERROR_INIT;
    sim_logical l;

    assert_failure(sim_logical_init(&impl, &net, &l, &err), &err, DSE_E_CONFIG, "",
                   "a list of 3 collective implementations for a network of 2 dimensions");
}

CLAIM(one_of_all_takes_all_npus_and_ends_the_list)
{
    static const char *const names[] = {"oneRing", "direct"};
    sim_implementations impl = list_of(2, names);
    net_network net = two_dimensions();
    sim_logical l;

    assert_int_equal(sim_logical_init(&impl, &net, &l, NULL), DSE_OK);
    assert_int_equal(l.n_dims, 1);
    assert_int_equal(l.dim[0].n, 32);
    assert_int_equal(l.dim[0].stride, 1);
}

/* ---- rings ------------------------------------------------------------------------------------- */

CLAIM(peers_are_counted_around_the_ring)
{
    static const uint32_t members[] = {7, 3, 5};
    const sim_ring regular = {.n = 4, .index = 1, .base = 2, .stride = 8}; /* 2, 10, 18, 26; this is 10 */
    const sim_ring listed = {.n = 3, .index = 2, .member = members};

    assert_int_equal(sim_ring_peer(&regular, 1, true), 18);
    assert_int_equal(sim_ring_peer(&regular, 1, false), 2);
    assert_int_equal(sim_ring_peer(&regular, 3, true), 2);
    assert_int_equal(sim_ring_peer(&regular, 2, false), 26);
    assert_int_equal(sim_ring_peer(&regular, 4, true), 10);
    assert_int_equal(sim_ring_peer(&listed, 1, true), 7);
    assert_int_equal(sim_ring_peer(&listed, 1, false), 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(algorithms_are_found_by_the_reference_s_names),
        cmocka_unit_test(direct_may_carry_a_window),
        cmocka_unit_test(unknown_names_are_refused_with_the_known_ones),
        cmocka_unit_test(a_window_must_be_a_number_above_zero_and_only_with_direct),
        cmocka_unit_test(an_implementation_is_for_the_dimension_of_its_place),
        cmocka_unit_test(a_shorter_list_leaves_dimensions_out),
        cmocka_unit_test(a_longer_list_is_refused),
        cmocka_unit_test(one_of_all_takes_all_npus_and_ends_the_list),
        cmocka_unit_test(peers_are_counted_around_the_ring),
    };
    return RUN_TESTS(tests);
}
