#include "unit/unit.h"

#include "workload/graph.h"

/* Graphs written as edges "child<parent": finish takes them in the order of the children. */
typedef struct {
    uint32_t child, parent;
    bool control;
} edge;

static dse_arena arena;
static dse_error err;
static wl_graph g;
static wl_node nodes[64];
static uint64_t ids[64];

static dse_status finish(uint32_t n, const edge *edges, size_t n_edges)
{
    wl_csr *deps[] = {&g.data_deps, &g.ctrl_deps};

    dse_arena_init(&arena);
    err = (dse_error)DSE_ERROR_INIT;
    g = (wl_graph){.n_nodes = n, .node = nodes};
    for (uint32_t i = 0; i < n; i++)
        nodes[i].name = dse_arena_printf(&arena, "n%u", i);
    for (int kind = 0; kind < 2; kind++) {
        uint32_t at = 0;

        deps[kind]->start = DSE_ARENA_NEW(&arena, uint32_t, n + 1);
        deps[kind]->item = DSE_ARENA_NEW(&arena, uint32_t, n_edges);
        for (uint32_t i = 0; i < n; i++) {
            for (size_t k = 0; k < n_edges; k++)
                if (edges[k].child == i && edges[k].control == (kind == 1))
                    deps[kind]->item[at++] = edges[k].parent;
            deps[kind]->start[i + 1] = at;
        }
    }
    return wl_graph_finish(&g, ids, "f.et", &arena, &err);
}

static void number(uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        ids[i] = i;
}

static bool has(const wl_csr *c, uint32_t node, uint32_t item)
{
    for (uint32_t k = c->start[node]; k < c->start[node + 1]; k++)
        if (c->item[k] == item)
            return true;
    return false;
}

CLAIM(nodes_are_ordered_by_id_not_by_place)
{
    ids[0] = 30;
    ids[1] = UINT64_MAX;
    ids[2] = 5;
    ids[3] = 10;
    assert_ok(finish(4, NULL, 0), &err);
    assert_int_equal(g.by_id[0], 2);
    assert_int_equal(g.by_id[1], 3);
    assert_int_equal(g.by_id[2], 0);
    assert_int_equal(g.by_id[3], 1);
    dse_arena_free(&arena);
}

CLAIM(an_id_that_stands_twice_is_refused)
{
    ids[0] = 7;
    ids[1] = 8;
    ids[2] = 7;
    assert_failure(finish(3, NULL, 0), &err, DSE_E_WORKLOAD, "f.et", "node id 7 stands twice");
    dse_arena_free(&arena);
}

CLAIM(data_and_control_dependencies_become_parents_each_once)
{
    const edge edges[] = {{2, 0, false}, {2, 1, false}, {2, 0, false}, {2, 1, true}, {2, 3, true}};

    number(4);
    assert_ok(finish(4, edges, 5), &err);
    assert_int_equal(wl_n_parents(&g, 2), 3);
    assert_int_equal(g.parents.item[g.parents.start[2]], 0); /* in the order in which they stand */
    assert_int_equal(g.parents.item[g.parents.start[2] + 1], 1);
    assert_int_equal(g.parents.item[g.parents.start[2] + 2], 3);
    assert_int_equal(wl_n_parents(&g, 0), 0);
    assert_true(has(&g.children, 0, 2) && has(&g.children, 1, 2) && has(&g.children, 3, 2));
    assert_int_equal(g.children.start[4], 3);
    dse_arena_free(&arena);
}

/* Random acyclic graphs: an edge only from a node to one drawn before it. */
CLAIM(children_are_the_parents_edges_from_the_other_end)
{
    uint64_t seed = 21;

    number(40);
    for (int round = 0; round < 50; round++) {
        edge edges[120];

        for (int k = 0; k < 120; k++) {
            edges[k].child = 1 + (uint32_t)(unit_random(&seed) % 39);
            edges[k].parent = (uint32_t)(unit_random(&seed) % edges[k].child);
            edges[k].control = unit_random(&seed) % 3 == 0;
        }
        assert_ok(finish(40, edges, 120), &err);
        for (uint32_t i = 0; i < 40; i++)
            for (uint32_t k = 0; k < 40; k++)
                assert_int_equal(has(&g.parents, i, k), has(&g.children, k, i));
        assert_int_equal(g.parents.start[40], g.children.start[40]);
        dse_arena_free(&arena);
    }
}

CLAIM(a_node_that_waits_for_itself_is_a_cycle)
{
    const edge edges[] = {{1, 1, false}};

    number(3);
    assert_failure(finish(3, edges, 1), &err, DSE_E_WORKLOAD, "f.et",
                   "node 1 'n1' is on a dependency cycle; 1 of 3 nodes can never start");
    dse_arena_free(&arena);
}

/* 4 and 5 stand behind the cycle 1-2-3, 0 before it: five can never start, but only 1, 2 and 3 are named. */
CLAIM(the_node_named_is_on_the_cycle_not_behind_it)
{
    const edge edges[] = {{1, 0, false}, {1, 3, true},  {2, 1, false},
                          {3, 2, false}, {4, 3, false}, {5, 4, false}};
    unsigned long long id, stuck, all;

    number(6);
    assert_int_equal(finish(6, edges, 6), DSE_E_WORKLOAD);
    assert_int_equal(sscanf(err.text,
                            "node %llu 'n%*u' is on a dependency cycle; %llu of %llu nodes can never start",
                            &id, &stuck, &all),
                     3);
    assert_true(id >= 1 && id <= 3);
    assert_int_equal(stuck, 5);
    assert_int_equal(all, 6);
    dse_arena_free(&arena);
    /* The same with the nodes behind the cycle in front of it in the file. */
    {
        const edge other[] = {{0, 1, false}, {1, 5, false}, {5, 4, false}, {4, 5, true}};

        assert_int_equal(finish(6, other, 4), DSE_E_WORKLOAD);
        assert_int_equal(sscanf(err.text, "node %llu", &id), 1);
        assert_true(id == 4 || id == 5);
        dse_arena_free(&arena);
    }
}

CLAIM(types_have_chakra_s_names)
{
    assert_string_equal(wl_node_type_name(WL_NODE_COMP), "COMP_NODE");
    assert_string_equal(wl_node_type_name(WL_NODE_SEND), "COMM_SEND_NODE");
    assert_string_equal(wl_node_type_name(WL_NODE_RECV), "COMM_RECV_NODE");
    assert_string_equal(wl_node_type_name(WL_NODE_COLL), "COMM_COLL_NODE");
    assert_string_equal(wl_node_type_name(WL_NODE_MEM_LOAD), "MEM_LOAD_NODE");
    assert_string_equal(wl_node_type_name(8), "unknown");
    assert_string_equal(wl_coll_type_name(WL_ALL_REDUCE), "ALL_REDUCE");
    assert_string_equal(wl_coll_type_name(WL_ALL_GATHER), "ALL_GATHER");
    assert_string_equal(wl_coll_type_name(WL_BROADCAST), "BROADCAST");
    assert_string_equal(wl_coll_type_name(WL_ALL_TO_ALL), "ALL_TO_ALL");
    assert_string_equal(wl_coll_type_name(WL_REDUCE_SCATTER), "REDUCE_SCATTER");
    assert_string_equal(wl_coll_type_name(10), "unknown");
    assert_string_equal(wl_coll_type_name(UINT32_MAX), "unknown");
}

CLAIM(a_node_s_id_is_the_rank_s_unless_it_is_a_message)
{
    wl_node two[] = {{.type = WL_NODE_COMP, .id = 3}, {.type = WL_NODE_SEND, .slot = 1}};
    wl_graph graph = {.n_nodes = 2, .node = two};
    wl_p2p p2p[] = {{0, 0, 77}, {0, 0, 78}};
    wl_rank rank = {.graph = 0, .id_base = 100, .p2p = p2p};
    wl_workload w = {.n_ranks = 1, .rank = &rank, .n_graphs = 1, .graph = &graph};

    assert_u64(wl_node_id(&w, 0, 0), 103);
    assert_u64(wl_node_id(&w, 0, 1), 78);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes_are_ordered_by_id_not_by_place),
        cmocka_unit_test(an_id_that_stands_twice_is_refused),
        cmocka_unit_test(data_and_control_dependencies_become_parents_each_once),
        cmocka_unit_test(children_are_the_parents_edges_from_the_other_end),
        cmocka_unit_test(a_node_that_waits_for_itself_is_a_cycle),
        cmocka_unit_test(the_node_named_is_on_the_cycle_not_behind_it),
        cmocka_unit_test(types_have_chakra_s_names),
        cmocka_unit_test(a_node_s_id_is_the_rank_s_unless_it_is_a_message),
    };
    return RUN_TESTS(tests);
}
