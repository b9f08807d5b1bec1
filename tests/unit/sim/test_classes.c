/* Which ranks are alike, and why a workload has no classes. Ranks of a world that execute the same share a graph. */
#include "sim/classes.h"
#include "unit/sim/world.h"

static sim_classes c;

static sim_fallback find(bool symmetry)
{
    dse_arena_init(&world.arena);
    world.err = (dse_error)DSE_ERROR_INIT;
    world_make(&world.arena);
    return sim_classes_find(&world.net, &world.w, symmetry, &world.arena, &c);
}

/* Text: the class of each rank. */
static void check_classes(const char *expected, const char *file, int line)
{
    char seen[4 * WORLD_MAX_RANKS] = "";
    size_t len = 0;

    for (uint32_t r = 0; r < world.w.n_ranks; r++)
        len += (size_t)snprintf(seen + len, sizeof seen - len, "%s%u", r ? " " : "", c.of[r]);
    if (strcmp(seen, expected)) {
        print_error("classes '%s', expected '%s'\n", seen, expected);
        _fail(file, line);
    }
    for (uint32_t i = 0; i < c.n; i++) {
        uint32_t first = DSE_NONE, n = 0;

        for (uint32_t r = world.w.n_ranks; r-- > 0;) {
            n += c.of[r] == i;
            first = c.of[r] == i ? r : first;
        }
        assert_int_equal(c.first[i], first);
        assert_int_equal(c.n_alike[i], n);
    }
    world_end();
}
/* Finds them; numbered in the order of their lowest ranks. */
#define assert_classes(expected)                                                                             \
    (assert_int_equal(find(true), SIM_FALLBACK_NONE), check_classes((expected), __FILE__, __LINE__))

#define assert_no_classes(why)                                                                               \
    do {                                                                                                     \
        assert_int_equal(find(true), SIM_FALLBACK_##why);                                                    \
        world_end();                                                                                         \
    } while (0)

/* Groups of `width` ranks, `stride` apart, of which each rank gathers in its own. */
static void gather_in_groups(uint32_t width, uint32_t stride)
{
    for (uint32_t r = 0; r < world.net.n_npus; r++) {
        uint32_t lowest = r - r / stride % width * stride, ranks[WORLD_MAX_RANKS], g = r;

        for (uint32_t i = 0; i < width; i++)
            ranks[i] = lowest + i * stride;
        if (r == lowest)
            world_group("g", width, ranks);
        for (g = 1; world.member[g][0] != lowest; g++)
            ;
        world_coll(r, "gather", WL_ALL_GATHER, 1000, g);
    }
}

/* ---- how many ------------------------------------------------------------------------------------ */

CLAIM(ranks_that_meet_nobody_are_alike_if_they_do_the_same)
{
    world_begin("Ring", 4, 50, "ring");
    for (uint32_t r = 0; r < 4; r++)
        world_comp(r, "c", r == 2 ? 2 * MIB : MIB, MIB);
    assert_classes("0 0 1 0");
}

CLAIM(a_ring_along_one_dimension_is_one_class)
{
    world_begin("Ring", 2, 50, "ring");
    world_dimension("Ring", 8, 50, "ring");
    gather_in_groups(8, 2);
    assert_classes("0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0");
}

/* Of a ring of eight, ranks 0..3 in their order: one link each from 0 to 3, and three back to 0. So 0 differs; then 1,
 * that comes after it; then 2; and 3. */
CLAIM(an_arc_of_a_ring_has_as_many_classes_as_ranks)
{
    world_begin("Ring", 8, 50, "ring");
    gather_in_groups(4, 1);
    assert_classes("0 1 2 3 0 1 2 3");
}

/* Over a switch all are equally far. */
CLAIM(a_part_of_a_switch_is_one_class)
{
    world_begin("Switch", 8, 50, "ring");
    gather_in_groups(4, 1);
    assert_classes("0 0 0 0 0 0 0 0");
}

/* Groups 0..3 and 4..7 of 2 x 4: [0,0] [1,0] [0,1] [1,1] and back. To odd ranks messages come along dimension 0, to even
 * ones along both. If the lowest alone is paid, that is one link of dimension 0 for all. */
static void across_two_dimensions(bool full_multi_hop)
{
    world_begin("Ring", 2, 50, "ring");
    world_dimension("Ring", 4, 700, "ring");
    world.net.full_multi_hop = full_multi_hop;
    gather_in_groups(4, 1);
}

CLAIM(a_group_across_two_dimensions_is_one_class_if_the_lowest_alone_is_paid)
{
    across_two_dimensions(false);
    assert_classes("0 0 0 0 0 0 0 0");
}

/* To 1 and 3 the way is one link of dimension 0; to 0 (from 3) and 2 (from 1) one link of each. */
CLAIM(a_group_across_two_dimensions_is_two_classes_if_both_are_paid)
{
    across_two_dimensions(true);
    assert_classes("0 1 0 1 0 1 0 1");
}

/* 0, 1, 3, 2: to 0 and 3 along dimension 1, to 1 and 2 along dimension 0. */
CLAIM(dimensions_make_classes_by_the_way_that_messages_come)
{
    static const uint32_t square[] = {0, 1, 3, 2};
    uint32_t g;

    world_begin("FullyConnected", 2, 50, "ring");
    world_dimension("FullyConnected", 4, 50, "ring");
    g = world_group("g", 4, square);
    for (uint32_t r = 0; r < 8; r++)
        if (r < 4)
            world_coll(r, "c", WL_ALL_GATHER, 1000, g);
        else
            world_comp(r, "c", MIB, MIB);
    assert_classes("0 1 1 0 2 2 2 2");
}

/* Two groups of three: 0 does something else, which 1 feels first, then 2. Those of the other group are alike. */
CLAIM(who_comes_after_a_rank_that_differs_differs)
{
    world_begin("Switch", 6, 50, "ring");
    gather_in_groups(3, 1);
    world_comp(0, "more", MIB, MIB);
    assert_classes("0 1 2 3 3 3");
}

CLAIM(groups_of_other_sizes_are_told_apart)
{
    static const uint32_t two[] = {0, 1}, three[] = {2, 3, 4};
    uint32_t g, h;

    world_begin("Switch", 5, 50, "ring");
    g = world_group("g", 2, two);
    h = world_group("h", 3, three);
    for (uint32_t r = 0; r < 5; r++)
        world_coll(r, "c", WL_ALL_GATHER, 1000, r < 2 ? g : h);
    assert_classes("0 0 1 1 1");
}

/* Its ranks are alike all the same: it is checked while it runs (lockstep.h). */
CLAIM(a_group_of_all_ranks_is_no_ring)
{
    world_begin("Ring", 4, 50, "ring");
    for (uint32_t r = 0; r < 4; r++)
        world_coll(r, "c", WL_ALL_GATHER, 1000, 0);
    assert_int_equal(find(true), SIM_FALLBACK_NONE);
    for (uint32_t r = 0; r < 4; r++)
        assert_int_equal(c.before[r][0], DSE_NONE);
    assert_int_equal(c.n, 1);
    world_end();
}

/* ---- messages -------------------------------------------------------------------------------------- */

/* Of pairs (0, 2), (1, 3), ... the lower sends to the upper. */
static void pairs_of_senders(uint32_t n)
{
    for (uint32_t r = 0; r < n; r++)
        if (r / 2 % 2 == 0)
            world_message(r, "send", true, r + 2, 1000, 7 + r);
        else
            world_message(r, "recv", false, r - 2, 1000, 7 + r - 2);
}

CLAIM(senders_are_a_class_and_receivers_another)
{
    world_begin("Ring", 8, 50, "ring");
    pairs_of_senders(8);
    assert_classes("0 0 1 1 0 0 1 1");
}

/* On a ring of eight 0 sends to 3, three links; 1, 2 to 4, 5; 6 to 7, one link. */
CLAIM(messages_of_another_way_make_other_classes)
{
    static const uint32_t pairs[][2] = {{0, 3}, {1, 4}, {2, 5}, {6, 7}};

    world_begin("Ring", 8, 50, "ring");
    for (uint32_t i = 0; i < 4; i++) {
        world_message(pairs[i][0], "send", true, pairs[i][1], 1000, i);
        world_message(pairs[i][1], "recv", false, pairs[i][0], 1000, i);
    }
    assert_classes("0 0 0 1 1 1 2 3");
}

/* 0 sends to 1, 1 to 2, 2 to 3, all over a switch; 4 to 7 the same. */
static void pipelines(const char *const names[4])
{
    world_begin("Switch", 8, 50, "ring");
    for (uint32_t r = 0; r < 8; r++) {
        if (r % 4 > 0)
            world_message(r, names[r % 4], false, r - 1, 1000, 1);
        if (r % 4 < 3)
            world_message(r, names[r % 4], true, r + 1, 1000, 1);
    }
}

CLAIM(a_pipeline_has_a_class_for_each_stage)
{
    pipelines((const char *const[]){"a", "b", "c", "d"});
    assert_classes("0 1 2 3 0 1 2 3");
}

/* Stages 1 and 2 share a graph: its second message goes to a rank of that graph from 1, and not so from 2. */
CLAIM(peers_of_a_graph_s_ranks_must_share_a_graph)
{
    pipelines((const char *const[]){"a", "b", "b", "d"});
    assert_no_classes(UNPAIRED_MESSAGE);
}

/* Peers of messages are classes; both ends have the sender's tag, and no other message has it. Classes 0 and 1 have two
 * slots each: tags 0 and 1 are the sends of class 0. Slots are met by their tags: 0's second message is 2's first. */
CLAIM(the_workload_of_classes_sends_between_classes)
{
    world_begin("Switch", 4, 50, "ring");
    for (uint32_t r = 0; r < 2; r++) {
        world_message(r, "a", true, r + 2, 1000, 5);
        world_message(r, "b", true, r + 2, 1000, 6);
        world_message(r + 2, "b", false, r, 1000, 6);
        world_message(r + 2, "a", false, r, 1000, 5);
    }
    assert_int_equal(find(true), SIM_FALLBACK_NONE);
    assert_int_equal(c.n, 2);
    assert_int_equal(c.w.n_ranks, 2);
    assert_ptr_equal(c.w.graph, world.w.graph);
    assert_int_equal(c.w.rank[0].graph, world.w.rank[0].graph);
    assert_int_equal(c.w.rank[1].graph, world.w.rank[2].graph);
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(c.w.rank[0].p2p[i].peer, 1);
        assert_int_equal(c.w.rank[1].p2p[i].peer, 0);
        assert_int_equal(c.w.rank[0].p2p[i].tag, i);
        assert_int_equal(c.w.rank[1].p2p[i].tag, 1 - i);
        assert_int_equal(c.mate[0][i], 1 - i);
        assert_int_equal(c.mate[1][i], 1 - i);
        assert_int_equal(c.peer_no[0][i], 0);
        assert_int_equal(c.of_slot[0][i], i);
    }
    assert_u64(c.w.rank[0].p2p[1].id, 2); /* the node's */
    world_end();
}

/* ---- what is left out ------------------------------------------------------------------------------ */

/* Each rank of 2 x 4 is in a group of four that goes 0 1 2 3: those that come from an odd rank to the next even one differ
 * in both dimensions. Two ranks of each group, and there are two groups. */
CLAIM(rings_count_the_ranks_whose_messages_are_undercharged)
{
    across_two_dimensions(false);
    assert_int_equal(find(true), SIM_FALLBACK_NONE);
    assert_int_equal(c.n, 1);
    assert_int_equal(c.n_undercharged_rings[0][0], 4);
    world_end();
    across_two_dimensions(true); /* pays for all */
    assert_int_equal(find(true), SIM_FALLBACK_NONE);
    assert_int_equal(c.n_undercharged_rings[0][0] + c.n_undercharged_rings[1][0], 0);
    world_end();
    across_two_dimensions(false);
    assert_int_equal(find(false), SIM_FALLBACK_NONE);
    for (uint32_t r = 0; r < 8; r++)
        assert_int_equal(c.n_undercharged_rings[r][0], r % 2 == 0);
    world_end();
}

/* 0 = [0,0] to 3 = [1,1], 4 = [0,2] to 5 = [1,2]: one link of dimension 0 either way, and one pays for it all. */
CLAIM(sends_count_the_ranks_that_are_undercharged)
{
    static const uint32_t pairs[][2] = {{0, 3}, {4, 5}};

    world_begin("Ring", 2, 50, "ring");
    world_dimension("Ring", 4, 700, "ring");
    for (uint32_t i = 0; i < 2; i++) {
        world_message(pairs[i][0], "send", true, pairs[i][1], 1000, 1);
        world_message(pairs[i][1], "recv", false, pairs[i][0], 1000, 1);
    }
    assert_int_equal(find(true), SIM_FALLBACK_NONE);
    assert_int_equal(c.of[0], c.of[4]);
    assert_int_equal(c.n_undercharged_sends[c.of[0]][0], 1);
    world_end();
}

/* ---- without symmetry ------------------------------------------------------------------------------- */

CLAIM(without_symmetry_each_rank_is_a_class)
{
    world_begin("Switch", 8, 50, "ring");
    gather_in_groups(4, 1);
    assert_int_equal(find(false), SIM_FALLBACK_NONE);
    check_classes("0 1 2 3 4 5 6 7", __FILE__, __LINE__);
    world_begin("Switch", 8, 50, "ring");
    pairs_of_senders(8);
    assert_int_equal(find(false), SIM_FALLBACK_NONE);
    assert_int_equal(c.n, 8);
    assert_int_equal(c.w.rank[4].p2p[0].peer, 6);
    assert_int_equal(c.w.rank[4].p2p[0].tag, 4);
    assert_int_equal(c.w.rank[6].p2p[0].tag, 4);
    world_end();
}

/* ---- no classes -------------------------------------------------------------------------------------- */

CLAIM(a_message_needs_a_counterpart)
{
    world_begin("Switch", 4, 50, "ring");
    world_message(0, "send", true, 1, 1000, 7);
    assert_no_classes(UNPAIRED_MESSAGE);
    for (int what = 0; what < 4; what++) { /* the peer has the slot, but of another tag, size, kind, peer */
        world_begin("Switch", 4, 50, "ring");
        world_message(0, "send", true, 1, 1000, 7);
        world_message(1, "recv", what == 2, what == 3 ? 2 : 0, what == 1 ? 999 : 1000, what ? 7 : 8);
        assert_no_classes(UNPAIRED_MESSAGE);
    }
}

/* 0 and 2 share a graph: what 0 sends is received, what 2 sends is not. */
CLAIM(each_rank_of_a_graph_needs_a_counterpart)
{
    world_begin("Switch", 4, 50, "ring");
    world_message(0, "send", true, 1, 1000, 7);
    world_message(2, "send", true, 3, 1000, 7);
    world_message(1, "recv", false, 0, 1000, 7);
    world_message(3, "recv", false, 2, 1000, 8);
    assert_no_classes(UNPAIRED_MESSAGE);
}

CLAIM(a_message_needs_a_peer)
{
    world_begin("Switch", 4, 50, "ring");
    world_message(0, "send", true, 0, 1000, 7);
    assert_no_classes(UNPAIRED_MESSAGE);
    world_begin("Switch", 4, 50, "ring");
    world_message(0, "send", true, 4, 1000, 7);
    assert_no_classes(UNPAIRED_MESSAGE);
}

CLAIM(messages_of_one_peer_and_tag_are_not_told_apart)
{
    world_begin("Switch", 4, 50, "ring");
    for (int i = 0; i < 2; i++) {
        world_message(0, "send", true, 1, 1000, 7);
        world_message(1, "recv", false, 0, 1000, 7);
    }
    assert_no_classes(SHARED_TAG);
}

/* Messages know tags modulo 500,000,000. */
CLAIM(tags_are_compared_as_messages_know_them)
{
    for (uint32_t more = 0; more < 2; more++) {
        world_begin("Switch", 4, 50, "ring");
        for (uint32_t i = 0; i < 2; i++) {
            world_message(0, "send", true, 1, 1000, 5 + i * (500000000 + more));
            world_message(1, "recv", false, 0, 1000, 5 + i * (500000000 + more));
        }
        if (more)
            assert_classes("0 1 2 2");
        else
            assert_no_classes(SHARED_TAG);
    }
}

/* The tag tells messages of one direction between two ranks apart, and no others. */
CLAIM(a_tag_may_be_that_of_another_peer_or_direction)
{
    world_begin("Switch", 4, 50, "ring");
    world_message(0, "send", true, 1, 1000, 7);
    world_message(0, "send", true, 2, 1000, 7);
    world_message(0, "recv", false, 1, 1000, 7);
    world_message(1, "recv", false, 0, 1000, 7);
    world_message(1, "send", true, 0, 1000, 7);
    world_message(2, "recv", false, 0, 1000, 7);
    assert_classes("0 1 2 3");
}

/* Two nodes with one binding. */
CLAIM(nodes_may_not_share_a_message)
{
    world_begin("Switch", 4, 50, "ring");
    world_message(0, "send", true, 1, 1000, 7);
    world_message(0, "send", true, 1, 1000, 8);
    world_message(1, "recv", false, 0, 1000, 7);
    world.rank[0].node[1].slot = 0;
    assert_no_classes(UNPAIRED_MESSAGE);
}

/* 0 and 1 share a graph of two sends; 2, 4 and 5 one of two receives. 0 sends both to 2, 1 one each to 4 and 5. */
CLAIM(ranks_of_a_graph_must_have_their_peers_alike)
{
    static const uint32_t senders[] = {0, 1, 1}, receivers[] = {2, 4, 5};

    world_begin("Switch", 6, 50, "ring");
    for (uint32_t tag = 0; tag < 2; tag++) {
        world_message(0, "send", true, 2, 1000, tag);
        world_message(1, "send", true, 4 + tag, 1000, tag);
        for (int i = 0; i < 3; i++)
            world_message(receivers[i], "recv", false, senders[i], 1000, tag);
    }
    assert_no_classes(UNLIKE_PEERS);
}

CLAIM(a_rank_may_not_be_in_a_group_twice)
{
    static const uint32_t twice[] = {0, 1, 0};
    uint32_t g;

    world_begin("Switch", 4, 50, "ring");
    g = world_group("g", 3, twice);
    world_coll(0, "c", WL_ALL_GATHER, 1000, g);
    world_coll(1, "c", WL_ALL_GATHER, 1000, g);
    assert_no_classes(NOT_A_MEMBER);
}

CLAIM(a_rank_must_be_in_its_own_groups)
{
    static const uint32_t others[] = {1, 2};
    uint32_t g;

    world_begin("Switch", 4, 50, "ring");
    g = world_group("g", 2, others);
    world_coll(0, "c", WL_ALL_GATHER, 1000, g);
    assert_no_classes(NOT_A_MEMBER);
}

/* 2 is listed and runs nothing: the others' ring would lead through it. A group that nobody runs is none. */
CLAIM(a_group_is_run_by_all_its_ranks_or_by_none)
{
    static const uint32_t three[] = {0, 1, 2};

    for (uint32_t n = 0; n < 4; n++) {
        uint32_t g;

        world_begin("Switch", 4, 50, "ring");
        g = world_group("g", 3, three);
        for (uint32_t r = 0; r < n; r++)
            world_coll(r, "c", WL_BROADCAST, 1000, g);
        if (n == 0)
            assert_classes("0 0 0 0");
        else if (n == 3)
            assert_classes("0 0 0 1");
        else
            assert_no_classes(IDLE_MEMBER);
    }
}

/* 0 sends to 1 in both groups: 1 could take a message of one for one of the other. */
CLAIM(groups_may_not_have_the_same_neighbours)
{
    static const uint32_t two[] = {0, 1}, three[] = {0, 1, 2}, other[] = {1, 0, 2};
    uint32_t g, h;

    world_begin("Switch", 4, 50, "ring");
    g = world_group("g", 2, two);
    h = world_group("h", 3, three);
    for (uint32_t r = 0; r < 2; r++)
        world_coll(r, "c", WL_ALL_GATHER, 1000, g);
    for (uint32_t r = 0; r < 3; r++)
        world_coll(r, "d", WL_ALL_GATHER, 1000, h);
    assert_no_classes(SHARED_PREDECESSOR);
    world_begin("Switch", 4, 50,
                "ring"); /* 0 1 2 and 1 0 2: after 0 come 1, 2; after 1 come 2, 0; after 2 come 0, 1 */
    g = world_group("g", 3, three);
    h = world_group("h", 3, other);
    for (uint32_t r = 0; r < 3; r++) {
        world_coll(r, "c", WL_ALL_GATHER, 1000, g);
        world_coll(r, "d", WL_ALL_GATHER, 1000, h);
    }
    assert_int_equal(find(true), SIM_FALLBACK_NONE);
    world_end();
}

/* A way of 64 links does not fit where all dimensions are charged: ranks 0 and 64 of a ring of 128. */
CLAIM(ways_that_have_no_class_have_no_classes)
{
    static const uint32_t two[] = {0, 64};
    wl_p2p p2p[2] = {{64, 1, 1}, {0, 1, 1}};
    wl_node node[2] = {{.type = WL_NODE_SEND, .comm_size = 8}, {.type = WL_NODE_RECV, .comm_size = 8}};
    wl_node coll = {.type = WL_NODE_COLL, .comm_size = 8};
    wl_graph graph[3] = {{.n_nodes = 1, .node = &node[0], .n_p2p_slots = 1},
                         {.n_nodes = 1, .node = &node[1], .n_p2p_slots = 1},
                         {0}};
    uint32_t members[2] = {0, 64}, slot_group[1] = {0};
    wl_group group = {.name = "g", .n = 2, .rank = members};
    wl_rank rank[128];
    wl_workload w = {
        .n_ranks = 128, .rank = rank, .n_graphs = 3, .graph = graph, .n_groups = 1, .group = &group};

    world_begin("Ring", 128, 50, "ring");
    world.net.full_multi_hop = true;
    for (uint32_t r = 0; r < 128; r++)
        rank[r] = (wl_rank){.graph = 2};
    for (int i = 0; i < 2; i++)
        rank[two[i]] = (wl_rank){.graph = (uint32_t)i, .p2p = &p2p[i], .group = slot_group};
    dse_arena_init(&world.arena);
    world.err = (dse_error)DSE_ERROR_INIT;
    assert_int_equal(sim_classes_find(&world.net, &w, true, &world.arena, &c), SIM_FALLBACK_LONG_PATH);
    graph[0] = graph[1] = (wl_graph){.n_nodes = 1, .node = &coll, .n_group_slots = 1};
    world.err = (dse_error)DSE_ERROR_INIT;
    assert_int_equal(sim_classes_find(&world.net, &w, true, &world.arena, &c), SIM_FALLBACK_LONG_PATH);
    world.net.full_multi_hop = false;
    world.err = (dse_error)DSE_ERROR_INIT;
    assert_int_equal(sim_classes_find(&world.net, &w, true, &world.arena, &c), SIM_FALLBACK_NONE);
    assert_int_equal(c.n, 3); /* 0, 64, and those that do nothing */
    world_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_that_meet_nobody_are_alike_if_they_do_the_same),
        cmocka_unit_test(a_ring_along_one_dimension_is_one_class),
        cmocka_unit_test(an_arc_of_a_ring_has_as_many_classes_as_ranks),
        cmocka_unit_test(a_part_of_a_switch_is_one_class),
        cmocka_unit_test(a_group_across_two_dimensions_is_one_class_if_the_lowest_alone_is_paid),
        cmocka_unit_test(a_group_across_two_dimensions_is_two_classes_if_both_are_paid),
        cmocka_unit_test(dimensions_make_classes_by_the_way_that_messages_come),
        cmocka_unit_test(who_comes_after_a_rank_that_differs_differs),
        cmocka_unit_test(groups_of_other_sizes_are_told_apart),
        cmocka_unit_test(a_group_of_all_ranks_is_no_ring),
        cmocka_unit_test(senders_are_a_class_and_receivers_another),
        cmocka_unit_test(messages_of_another_way_make_other_classes),
        cmocka_unit_test(a_pipeline_has_a_class_for_each_stage),
        cmocka_unit_test(peers_of_a_graph_s_ranks_must_share_a_graph),
        cmocka_unit_test(the_workload_of_classes_sends_between_classes),
        cmocka_unit_test(rings_count_the_ranks_whose_messages_are_undercharged),
        cmocka_unit_test(sends_count_the_ranks_that_are_undercharged),
        cmocka_unit_test(without_symmetry_each_rank_is_a_class),
        cmocka_unit_test(a_message_needs_a_counterpart),
        cmocka_unit_test(each_rank_of_a_graph_needs_a_counterpart),
        cmocka_unit_test(a_message_needs_a_peer),
        cmocka_unit_test(messages_of_one_peer_and_tag_are_not_told_apart),
        cmocka_unit_test(tags_are_compared_as_messages_know_them),
        cmocka_unit_test(a_tag_may_be_that_of_another_peer_or_direction),
        cmocka_unit_test(nodes_may_not_share_a_message),
        cmocka_unit_test(ranks_of_a_graph_must_have_their_peers_alike),
        cmocka_unit_test(a_rank_may_not_be_in_a_group_twice),
        cmocka_unit_test(a_rank_must_be_in_its_own_groups),
        cmocka_unit_test(a_group_is_run_by_all_its_ranks_or_by_none),
        cmocka_unit_test(groups_may_not_have_the_same_neighbours),
        cmocka_unit_test(ways_that_have_no_class_have_no_classes),
    };
    return RUN_TESTS(tests);
}
