#include "support/wl_strategy.h"
#include "unit/unit.h"
#include "unit/workload/linear.h"

#include "strategy/order.h"
#include "workload/generate.h"

#include <sys/resource.h>

enum { DP, TP, SP, N_SLOTS, PP = N_SLOTS }; /* communicator slots, and axes of the mesh */

static dse_arena arena;
static dse_error err;
static wl_workload w;
static cfg_doc doc;

static const wl_symbols b8_m16 = {.n = 2, .name = {"B", "M"}, .value = {8, 16}};

static dse_status generate(const char *text, const wl_symbols *symbols, uint32_t layers, wl_strategy s)
{
    dse_arena_init(&arena);
    err = (dse_error)DSE_ERROR_INIT;
    assert_ok(cfg_parse_yaml("f.yaml", text, strlen(text), &arena, &doc, &err), &err);
    return wl_generate(&doc, symbols, layers, &s, &arena, &w, &err);
}

static wl_strategy spread(uint32_t dp, uint32_t tp, uint32_t sp, uint32_t pp)
{
    wl_strategy s = WL_STRATEGY(.tag_base = WL_TAG_BASE);

    s.dp = dp;
    s.tp = tp;
    s.sp = sp;
    s.pp = pp;
    return s;
}

static const wl_node *node(const wl_graph *g, const char *name)
{
    for (uint32_t i = 0; i < g->n_nodes; i++)
        if (!strcmp(g->node[i].name, name))
            return &g->node[i];
    fail_msg("no node '%s'", name);
    return NULL;
}

static void assert_deps(const wl_graph *g, const wl_csr *deps, const char *name, const char *expected)
{
    uint32_t i = (uint32_t)(node(g, name) - g->node);
    char text[400] = "";

    for (uint32_t k = deps->start[i]; k < deps->start[i + 1]; k++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", *text ? " " : "",
                 g->node[deps->item[k]].name);
    assert_string_equal(text, expected);
}

static void assert_io(const wl_graph *g, const wl_io_csr *io, const char *name, const char *expected)
{
    uint32_t i = (uint32_t)(node(g, name) - g->node);
    char text[400] = "";

    for (uint32_t k = io->start[i]; k < io->start[i + 1]; k++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s=%llu", *text ? " " : "",
                 g->tensor[io->item[k].tensor].name, (unsigned long long)io->item[k].size);
    assert_string_equal(text, expected);
}

static void assert_group(uint32_t i, const char *name, const uint32_t *ranks, uint32_t n)
{
    assert_string_equal(w.group[i].name, name);
    assert_int_equal(w.group[i].n, n);
    for (uint32_t k = 0; k < n; k++)
        assert_int_equal(w.group[i].rank[k], ranks[k]);
}

/* ---- one linear layer on dp 2, tp 2 ---------------------------------------------------------- */

/* Tensors in order: x w y dy dw dx w@1. Each takes a number for its computation, then one for each collective:
 *
 *   x 0    input, no cost: dropped, but uses up a number
 *   w 1    the same
 *   y 2    y[bn] = x[bm] w[mn]; x is M/tp, needed whole: all-gather along tp (3)
 *   dy 4   a copy of y: dropped
 *   dw 5   dy[bn] x[bm]; x again: all-gather along tp (6)
 *   dx 7   dy[bn] w[mn]; nothing to bring together, but leaves partial sums along tp that nobody asks for
 *   w@1 8  w + dw; dw was summed over b = B/dp: all-reduce along dp (9)
 *
 * Ids are numbers + 1; a rank has 10, so rank r starts at 10 r. */
CLAIM(a_linear_layer_is_laid_out_as_by_hand)
{
    static const struct {
        const char *name;
        uint64_t id;
        uint32_t type, coll, slot;
        uint64_t num_ops, tensor_size, comm_size;
    } expected[] = {
        /* 4 x 8 results of 16 operations; x 4 x 16, w 16 x 8, y 4 x 8 elements */
        {"a_y@0_COMP", 3, WL_NODE_COMP, 0, DSE_NONE, 512, 32 + 64 + 128, 0},
        {"a_y@0_X1COMM", 4, WL_NODE_COLL, WL_ALL_GATHER, TP, 0, 0, 32},       /* what a rank has: 4 x 8 */
        {"a_dw@0_COMP", 6, WL_NODE_COMP, 0, DSE_NONE, 512, 128 + 32 + 64, 0}, /* 16 x 8 results of 4 */
        {"a_dw@0_X2_COMM", 7, WL_NODE_COLL, WL_ALL_GATHER, TP, 0, 0, 32},
        {"a_dx@0_COMP", 8, WL_NODE_COMP, 0, DSE_NONE, 512, 64 + 32 + 128, 0}, /* 4 x 16 results of 8 */
        {"a_w@1_COMP", 9, WL_NODE_COMP, 0, DSE_NONE, 128, 3 * 128, 0},
        {"a_w@1_X2_COMM", 10, WL_NODE_COLL, WL_ALL_REDUCE, DP, 0, 0, 128},
    };
    const wl_graph *g;

    assert_ok(generate(ONE_LINEAR, &b8_m16, 0, spread(2, 2, 1, 1)), &err);
    assert_int_equal(w.n_ranks, 4);
    assert_int_equal(w.n_graphs, 1);
    g = &w.graph[0];
    assert_int_equal(g->n_nodes, sizeof expected / sizeof expected[0]);
    for (uint32_t i = 0; i < g->n_nodes; i++) {
        assert_string_equal(g->node[i].name, expected[i].name);
        assert_int_equal(g->node[i].type, expected[i].type);
        assert_int_equal(g->node[i].coll, expected[i].coll);
        assert_int_equal(g->node[i].slot, expected[i].slot);
        assert_u64(g->node[i].num_ops, expected[i].num_ops);
        assert_u64(g->node[i].tensor_size, expected[i].tensor_size);
        assert_u64(g->node[i].comm_size, expected[i].comm_size);
        for (uint32_t r = 0; r < 4; r++)
            assert_u64(wl_node_id(&w, r, i), 10 * r + expected[i].id);
    }
    dse_arena_free(&arena);
}

/* x and w cost nothing, so nothing waits for them; what waited for dy waits for y. */
CLAIM(dropped_nodes_hand_on_what_they_waited_for)
{
    const wl_graph *g;

    assert_ok(generate(ONE_LINEAR, &b8_m16, 0, spread(2, 2, 1, 1)), &err);
    g = &w.graph[0];
    assert_deps(g, &g->data_deps, "a_y@0_COMP", "a_y@0_X1COMM");
    assert_deps(g, &g->data_deps, "a_y@0_X1COMM", "");
    assert_deps(g, &g->data_deps, "a_dw@0_COMP", "a_dw@0_X2_COMM a_y@0_COMP");
    assert_deps(g, &g->data_deps, "a_dw@0_X2_COMM", "");
    assert_deps(g, &g->data_deps, "a_dx@0_COMP", "a_y@0_COMP");
    assert_deps(g, &g->data_deps, "a_w@1_COMP", "a_w@1_X2_COMM");
    assert_deps(g, &g->data_deps, "a_w@1_X2_COMM", "a_dw@0_COMP");
    assert_int_equal(g->ctrl_deps.start[g->n_nodes],
                     0); /* two communications wait for nothing: not chained */
    dse_arena_free(&arena);
}

/* A copy goes by the name of what it copies. */
CLAIM(nodes_name_the_tensors_they_read_and_write)
{
    const wl_graph *g;

    assert_ok(generate(ONE_LINEAR, &b8_m16, 0, spread(2, 2, 1, 1)), &err);
    g = &w.graph[0];
    assert_io(g, &g->inputs, "a_y@0_COMP", "a_x@0B/dp,M/tp=32 a_w@0M,M/tp=128");
    assert_io(g, &g->outputs, "a_y@0_COMP", "a_y@0B/dp,M/tp=32");
    assert_io(g, &g->inputs, "a_y@0_X1COMM", "a_x@0B/dp,M/tp=32");
    assert_io(g, &g->outputs, "a_y@0_X1COMM", "");
    assert_io(g, &g->inputs, "a_dw@0_COMP", "a_y@0B/dp,M/tp=32 a_x@0B/dp,M/tp=32");
    assert_io(g, &g->inputs, "a_w@1_COMP", "a_w@0M,M/tp=128 a_dw@0M,M/tp=128");
    assert_io(g, &g->outputs, "a_w@1_COMP", "a_w@1M,M/tp=128");
    dse_arena_free(&arena);
}

static wl_tensor_kind kind_of(const wl_graph *g, const char *tensor)
{
    for (uint32_t i = 0; i < g->n_tensors; i++)
        if (!strncmp(g->tensor[i].name, tensor, strlen(tensor)))
            return g->tensor[i].kind;
    fail_msg("no tensor '%s'", tensor);
    return WL_TENSOR_UNKNOWN;
}

/* b_x and b_dy are inputs that links feed; b's y is on its stage, a shadow is of the kind of what it stands for. A
 * node is of the kind of what it makes, a communication of what it is needed for. */
CLAIM(tensors_and_nodes_know_what_they_are)
{
    const wl_graph *a, *b;

    assert_ok(generate(TWO_LINEARS, &b8_m16, 0, spread(2, 2, 1, 2)), &err);
    a = &w.graph[0];
    b = &w.graph[1];
    assert_int_equal(kind_of(a, "a_x@0"), WL_TENSOR_INPUT);
    assert_int_equal(kind_of(a, "a_w@0"), WL_TENSOR_WEIGHT);
    assert_int_equal(kind_of(a, "a_w@1"), WL_TENSOR_UPDATED_WEIGHT);
    assert_int_equal(kind_of(a, "a_y@0"), WL_TENSOR_ACTIVATION);
    assert_int_equal(kind_of(a, "a_dw@0"), WL_TENSOR_WEIGHT_GRADIENT);
    assert_int_equal(kind_of(a, "shadow_b_dx@0"), WL_TENSOR_GRADIENT);
    assert_int_equal(kind_of(b, "shadow_a_y@0"), WL_TENSOR_ACTIVATION);
    assert_int_equal(node(a, "a_w@1_X2_COMM")->tensor_kind, WL_TENSOR_UPDATED_WEIGHT);
    assert_int_equal(node(a, "a_dw@0_COMP")->tensor_kind, WL_TENSOR_WEIGHT_GRADIENT);
    assert_int_equal(node(a, "shadow_b_dx@0_Y_RECV")->tensor_kind, WL_TENSOR_GRADIENT);
    assert_int_equal(node(b, "b_y@0_COMP")->tensor_kind, WL_TENSOR_ACTIVATION);
    assert_int_equal(node(a, "a_y@0_COMP")->layer, DSE_NONE);
    dse_arena_free(&arena);
}

/* ---- ranks and groups ------------------------------------------------------------------------ */

/* rank = dp + 2 tp + 4 sp. Along dp, tp and sp in this order, numbered from 1 by the other two coordinates. */
CLAIM(ranks_count_dp_fastest_then_tp_then_sp)
{
    static const uint32_t members[][2] = {
        {0, 1}, {4, 5}, {2, 3}, {6, 7}, /* dp: (tp, sp) = 00, 01, 10, 11 */
        {0, 2}, {4, 6}, {1, 3}, {5, 7}, /* tp: (dp, sp) */
        {0, 4}, {2, 6}, {1, 5}, {3, 7}, /* sp: (dp, tp) */
    };
    static const uint32_t everybody[] = {0, 1, 2, 3, 4, 5, 6, 7};

    assert_ok(generate(ONE_LINEAR, &b8_m16, 0, spread(2, 2, 2, 1)), &err);
    assert_int_equal(w.n_groups, 13);
    assert_group(0, "", everybody, 8);
    for (uint32_t i = 0; i < 12; i++) {
        char name[4];

        snprintf(name, sizeof name, "%u", i + 1);
        assert_group(i + 1, name, members[i], 2);
    }
    /* Rank 5 is dp 1, tp 0, sp 1. */
    assert_int_equal(w.rank[5].group[DP], 2);
    assert_int_equal(w.rank[5].group[TP], 8);
    assert_int_equal(w.rank[5].group[SP], 11);
    dse_arena_free(&arena);
}

/* 1 + (4/2 + 4/2 + 4/1): along sp every rank is alone. */
CLAIM(a_degree_of_one_makes_groups_of_one)
{
    assert_ok(generate(ONE_LINEAR, &b8_m16, 0, spread(2, 2, 1, 1)), &err);
    assert_int_equal(w.n_groups, 9);
    for (uint32_t i = 5; i < 9; i++)
        assert_int_equal(w.group[i].n, 1);
    assert_int_equal(w.group[5].rank[0], 0); /* by (dp, tp): 00, 01, 10, 11 */
    assert_int_equal(w.group[6].rank[0], 2);
    assert_int_equal(w.group[7].rank[0], 1);
    assert_int_equal(w.group[8].rank[0], 3);
    dse_arena_free(&arena);
}

/* Every rank is in one group of each dimension, and the group knows it. */
CLAIM(groups_partition_the_ranks)
{
    assert_ok(generate(TWO_LINEARS, &b8_m16, 0, spread(3, 2, 4, 2)), &err);
    assert_int_equal(w.n_ranks, 48);
    for (uint32_t r = 0; r < w.n_ranks; r++) {
        for (int k = 0; k < 3; k++) {
            const wl_group *g = &w.group[w.rank[r].group[k]];
            uint32_t found = 0;

            for (uint32_t i = 0; i < g->n; i++)
                found += g->rank[i] == r;
            assert_int_equal(found, 1);
        }
    }
    for (uint32_t i = 1, total = 0; i < w.n_groups; i++) {
        total += w.group[i].n;
        if (i + 1 == w.n_groups)
            assert_int_equal(total, 3 * 48);
    }
    dse_arena_free(&arena);
}

/* dp 2, tp 2, sp 3 and two stages: what a rank of the default is, the rank that has its coordinates is in any other
 * placement: same graph, ids, groups and tags; members and peers by their new numbers. */
CLAIM(a_placement_renumbers_ranks_and_nothing_else)
{
    wl_strategy s = spread(2, 2, 3, 2);
    wl_workload def;
    dse_arena first;

    assert_ok(generate(TWO_LINEARS, &b8_m16, 0, s), &err);
    def = w;
    first = arena;
    for (s.placement = 1; s.placement < order_count(STRATEGY_N_AXES); s.placement++) {
        uint32_t to[24];
        mesh m;

        assert_ok(generate(TWO_LINEARS, &b8_m16, 0, s), &err);
        m = w.mesh;
        for (uint32_t r = 0; r < 24; r++)
            to[r] = r % 2 * m.axis[DP].stride + r / 2 % 2 * m.axis[TP].stride +
                    r / 4 % 3 * m.axis[SP].stride + r / 12 * m.axis[PP].stride;
        assert_int_equal(w.n_groups, def.n_groups);
        for (uint32_t i = 1; i < w.n_groups; i++) {
            assert_int_equal(w.group[i].n, def.group[i].n);
            assert_string_equal(w.group[i].name, def.group[i].name);
            for (uint32_t k = 0; k < w.group[i].n; k++)
                assert_int_equal(w.group[i].rank[k], to[def.group[i].rank[k]]);
        }
        for (uint32_t r = 0; r < 24; r++) {
            const wl_rank *a = &def.rank[r], *b = &w.rank[to[r]];

            assert_int_equal(w.group[0].rank[r], r);
            assert_int_equal(b->graph, a->graph);
            assert_u64(b->id_base, a->id_base);
            for (int k = 0; k < N_SLOTS; k++)
                assert_int_equal(b->group[k], a->group[k]);
            for (uint32_t k = 0; k < def.graph[a->graph].n_p2p_slots; k++) {
                assert_int_equal(b->p2p[k].peer, to[a->p2p[k].peer]);
                assert_int_equal(b->p2p[k].tag, a->p2p[k].tag);
                assert_u64(b->p2p[k].id, a->p2p[k].id);
            }
        }
        dse_arena_free(&arena);
    }
    dse_arena_free(&first);
}

/* ---- pipeline stages -------------------------------------------------------------------------- */

/* `a` is on stage 0, `b` on stage 1: y of a and dx of b cross the border, each as a send, a shadow and a receive. */
CLAIM(what_is_needed_on_another_stage_is_sent_there)
{
    const wl_graph *a, *b;

    assert_ok(generate(TWO_LINEARS, &b8_m16, 0, spread(1, 1, 1, 2)), &err);
    assert_int_equal(w.n_graphs, 2);
    a = &w.graph[0];
    b = &w.graph[1];
    assert_int_equal(a->n_p2p_slots, 2);
    assert_int_equal(b->n_p2p_slots, 2);
    assert_int_equal(node(a, "a_y@0_Y_SEND")->type, WL_NODE_SEND);
    assert_int_equal(node(b, "shadow_a_y@0_Y_RECV")->type, WL_NODE_RECV);
    assert_int_equal(node(b, "b_dx@0_Y_SEND")->type, WL_NODE_SEND);
    assert_int_equal(node(a, "shadow_b_dx@0_Y_RECV")->type, WL_NODE_RECV);
    assert_u64(node(a, "a_y@0_Y_SEND")->comm_size, 128); /* 8 x 16 */
    assert_u64(node(b, "shadow_a_y@0_Y_RECV")->comm_size, 128);
    assert_deps(a, &a->data_deps, "a_y@0_Y_SEND", "a_y@0_COMP");
    assert_deps(b, &b->data_deps, "b_y@0_COMP", "shadow_a_y@0_Y_RECV");
    assert_deps(a, &a->data_deps, "a_dx@0_COMP", "shadow_b_dx@0_Y_RECV");
    assert_io(b, &b->outputs, "shadow_a_y@0_Y_RECV", "shadow_a_y@0B/dp,M/tp=128");
    assert_io(b, &b->inputs, "b_y@0_COMP", "shadow_a_y@0B/dp,M/tp=128 b_w@0M,M/tp=256");
    dse_arena_free(&arena);
}

/* Every send has its receive: same tag, same size, each the other's peer; tags count up by one from the base;
 * no two nodes of any ranks have one id, and those of messages are above all others. */
CLAIM(messages_come_in_pairs_with_tags_of_their_own)
{
    wl_strategy s = spread(2, 1, 3, 2);
    uint64_t seen[1000] = {0}, highest = 0, lowest_message = UINT64_MAX;
    uint32_t tags[64] = {0}, pairs = 0;

    s.tag_base = 1000;
    assert_ok(generate(TWO_LINEARS, &b8_m16, 0, s), &err);
    assert_int_equal(w.n_ranks, 12);
    for (uint32_t r = 0; r < w.n_ranks; r++) {
        const wl_graph *g = wl_rank_graph(&w, r);

        for (uint32_t i = 0; i < g->n_nodes; i++) {
            uint64_t id = wl_node_id(&w, r, i);
            const wl_p2p *p;

            assert_true(id < 1000 && !seen[id]);
            seen[id] = 1;
            if (g->node[i].type == WL_NODE_SEND || g->node[i].type == WL_NODE_RECV)
                lowest_message = id < lowest_message ? id : lowest_message;
            else
                highest = id > highest ? id : highest;
            if (g->node[i].type != WL_NODE_SEND)
                continue;
            p = &w.rank[r].p2p[g->node[i].slot];
            assert_true(p->tag >= 1000 && p->tag < 1064);
            assert_int_equal(tags[p->tag - 1000]++, 0);
            pairs++;
            for (uint32_t k = 0, found = 0;; k++) {
                const wl_graph *pg = wl_rank_graph(&w, p->peer);
                const wl_node *n = &pg->node[k];

                if (k == pg->n_nodes) {
                    assert_int_equal(found, 1);
                    break;
                }
                if (n->type != WL_NODE_RECV || w.rank[p->peer].p2p[n->slot].tag != p->tag)
                    continue;
                found++;
                assert_int_equal(w.rank[p->peer].p2p[n->slot].peer, r);
                assert_u64(n->comm_size, g->node[i].comm_size);
            }
        }
    }
    assert_int_equal(pairs, 2 * 6); /* two links, 6 ranks a stage */
    for (uint32_t t = 0; t < 12; t++)
        assert_int_equal(tags[t], 1);
    assert_true(lowest_message > highest);
    dse_arena_free(&arena);
}

CLAIM(as_many_stages_as_places_are_possible)
{
    assert_ok(generate(TWO_LINEARS, &b8_m16, 0, spread(1, 1, 1, 2)), &err);
    dse_arena_free(&arena);
    assert_failure(generate(TWO_LINEARS, &b8_m16, 0, spread(1, 1, 1, 3)), &err, DSE_E_RANGE, "",
                   "pp is 3, but 0 layers and two embeddings fill at most 2 pipeline stages");
    dse_arena_free(&arena);
}

CLAIM(stages_without_a_tensor_are_refused)
{
    assert_failure(generate(ONE_LINEAR, &b8_m16, 0, spread(1, 1, 1, 2)), &err, DSE_E_RANGE, "",
                   "pp is 2, but only 1 stages get a tensor");
    dse_arena_free(&arena);
}

/* ---- the chain of first communications --------------------------------------------------------- */

/* The four all-gathers wait for nothing at all; they are chained in file order. */
CLAIM(more_than_two_communications_that_wait_for_nothing_are_chained)
{
    static const char text[] =
        "symbols: {B: batch, M: model}\n"
        "blocks:\n"
        "  t:\n"
        "    x: {input: [B/dp]}\n"
        "    p: {copy: x, shape: [B]}\n" /* each needs x whole: an all-gather in front of it */
        "    q: {scale: x, by: 1, shape: [B]}\n"
        "    r: {scale: x, by: 1, shape: [B]}\n"
        "    s: {scale: x, by: 1, shape: [B]}\n"
        "model: {a: {block: t}}\nlinks: {}\n";
    const wl_graph *g;

    assert_ok(generate(text, &b8_m16, 0, spread(2, 1, 1, 1)), &err);
    g = &w.graph[0];
    assert_deps(g, &g->ctrl_deps, "a_p@0_X1COMM", "");
    assert_deps(g, &g->ctrl_deps, "a_q@0_X1COMM", "a_p@0_X1COMM");
    assert_deps(g, &g->ctrl_deps, "a_r@0_X1COMM", "a_q@0_X1COMM");
    assert_deps(g, &g->ctrl_deps, "a_s@0_X1COMM", "a_r@0_X1COMM");
    dse_arena_free(&arena);
}

/* ---- recomputation ----------------------------------------------------------------------------- */

CLAIM(a_recomputation_waits_for_the_tensor_it_comes_after)
{
    static const char text[] = "symbols: {B: batch, M: model}\n"
                               "blocks:\n"
                               "  t:\n"
                               "    x: {input: [B]}\n"
                               "    y: {scale: x, by: 1, shape: [B]}\n"
                               "    again: {when: recompute, after: y, scale: x, by: 1, shape: [B]}\n"
                               "model: {a: {block: t}}\nlinks: {}\n";
    wl_strategy s = spread(1, 1, 1, 1);
    const wl_graph *g;

    assert_ok(generate(text, &b8_m16, 0, s), &err);
    assert_int_equal(w.graph[0].n_nodes, 1);
    dse_arena_free(&arena);
    s.recompute = true;
    assert_ok(generate(text, &b8_m16, 0, s), &err);
    g = &w.graph[0];
    assert_int_equal(g->n_nodes, 2);
    assert_deps(g, &g->ctrl_deps, "a_again@0_COMP", "a_y@0_COMP");
    assert_deps(g, &g->data_deps, "a_again@0_COMP", "");
    dse_arena_free(&arena);
}

CLAIM(waiting_for_a_tensor_that_nothing_makes_is_refused)
{
    static const char text[] = "symbols: {B: batch}\n"
                               "blocks: {t: {x: {input: [B]}, y: {scale: x, by: 1, shape: [B], after: x}}}\n"
                               "model: {a: {block: t}}\nlinks: {}\n";

    assert_failure(generate(text, &b8_m16, 0, spread(1, 1, 1, 1)), &err, DSE_E_CONFIG, "f.yaml",
                   "'a_y' cannot wait for 'a_x', which nothing makes");
    dse_arena_free(&arena);
}

/* ---- refusals ---------------------------------------------------------------------------------- */

CLAIM(degrees_and_ranks_are_checked)
{
    assert_failure(generate(ONE_LINEAR, &b8_m16, 0, spread(2, 0, 1, 1)), &err, DSE_E_RANGE, "",
                   "a degree of parallelism is 0; it must be at least 1");
    dse_arena_free(&arena);
    assert_failure(generate(ONE_LINEAR, &b8_m16, 0, spread(1024, 1024, 2, 1)), &err, DSE_E_RANGE, "",
                   "dp * tp * sp * pp is more than 1048576 ranks");
    dse_arena_free(&arena);
    assert_failure(generate(ONE_LINEAR, &b8_m16, 0, spread(UINT32_MAX, UINT32_MAX, UINT32_MAX, 1)), &err,
                   DSE_E_RANGE, "", "dp * tp * sp * pp is more than 1048576 ranks");
    dse_arena_free(&arena);
}

CLAIM(symbols_must_have_values)
{
    const wl_symbols none = {.n = 1, .name = {"B"}, .value = {8}};
    const wl_symbols zero = {.n = 2, .name = {"M", "B"}, .value = {0, 8}};

    assert_failure(generate(ONE_LINEAR, &none, 0, spread(1, 1, 1, 1)), &err, DSE_E_CONFIG, "f.yaml",
                   "the symbol 'M' has no value");
    dse_arena_free(&arena);
    assert_failure(generate(ONE_LINEAR, &zero, 0, spread(1, 1, 1, 1)), &err, DSE_E_RANGE, "",
                   "M is 0; it must be at least 1");
    dse_arena_free(&arena);
}

CLAIM(what_no_collective_can_do_is_refused_with_both_tensors)
{
    static const char text[] = "symbols: {B: batch}\n"
                               "blocks: {t: {x: {input: [B]}, y: {scale: x, by: 1, shape: [B/dp]}}}\n"
                               "model: {a: {block: t}}\nlinks: {}\n";

    assert_failure(generate(text, &b8_m16, 0, spread(2, 1, 1, 1)), &err, DSE_E_CONFIG, "f.yaml",
                   "'a_x' into 'a_y': no collective shards along dp what every rank holds whole");
    dse_arena_free(&arena);
}

/* 2^63 does not fit in the 63 bits of protobuf's int64. */
CLAIM(sizes_beyond_63_bits_are_refused)
{
    const wl_symbols huge = {.n = 2, .name = {"B", "M"}, .value = {1000000000000000, 1000000}};

    assert_failure(generate(ONE_LINEAR, &huge, 0, spread(1, 1, 1, 1)), &err, DSE_E_RANGE, "",
                   "the size of 'a_x@0_COMP' does not fit in 63 bits");
    dse_arena_free(&arena);
}

/* ---- the transformer --------------------------------------------------------------------------- */

static dse_status transformer(const int64_t sizes[7], uint32_t layers, wl_strategy s)
{
    wl_symbols symbols = {.n = 7, .name = {"Din", "Dout", "Dmodel", "Dff", "Batch", "Seq", "Head"}};

    memcpy(symbols.value, sizes, 7 * sizeof *sizes);
    dse_arena_init(&arena);
    err = (dse_error)DSE_ERROR_INIT;
    assert_ok(cfg_load(TEST_SOURCE "/configs/operators/transformer.yaml", &arena, &doc, &err), &err);
    return wl_generate(&doc, &symbols, layers, &s, &arena, &w, &err);
}

static const int64_t llama70b[] = {32000, 32000, 8192, 28672, 512, 1024, 64};

/* STAGE's own count: reference/README.md, "Rank 0 has 4892 nodes at 80 stacks (3448 compute, 1444 collective)". */
CLAIM(llama70b_has_as_many_nodes_as_stage_writes)
{
    wl_strategy s = spread(8, 1, 8, 1);
    uint32_t compute = 0, collective = 0;

    s.recompute = true;
    assert_ok(transformer(llama70b, 80, s), &err);
    assert_int_equal(w.n_ranks, 64);
    assert_int_equal(w.graph[0].n_nodes, 4892);
    for (uint32_t i = 0; i < w.graph[0].n_nodes; i++) {
        compute += w.graph[0].node[i].type == WL_NODE_COMP;
        collective += w.graph[0].node[i].type == WL_NODE_COLL;
    }
    assert_int_equal(compute, 3448);
    assert_int_equal(collective, 1444);
    dse_arena_free(&arena);
}

CLAIM(nodes_know_their_layer)
{
    wl_strategy s = spread(8, 1, 8, 1);

    s.recompute = true;
    assert_ok(transformer(llama70b, 3, s), &err);
    assert_int_equal(node(&w.graph[0], "in_emb_y@0_COMP")->layer, DSE_NONE);
    assert_int_equal(node(&w.graph[0], "stack_0_mha_q@0_COMP")->layer, 0);
    assert_int_equal(node(&w.graph[0], "stack_2_ffn_x1_recomp@0_COMP")->layer, 2);
    assert_int_equal(node(&w.graph[0], "stack_2_ffn_x1_recomp@0_COMP")->tensor_kind, WL_TENSOR_RECOMPUTED);
    assert_int_equal(node(&w.graph[0], "out_emb_y@0_COMP")->layer, DSE_NONE);
    dse_arena_free(&arena);
}

static long peak_kib(void)
{
    struct rusage u;

    assert_int_equal(getrusage(RUSAGE_SELF, &u), 0);
    return u.ru_maxrss;
}

/* Some 37 KB a layer, whatever its stage: 75 MB (under the address sanitizer 180). Room on every stage for the
 * shadows of all would make it 420 MB. */
CLAIM(memory_grows_with_the_stages_and_not_with_their_square)
{
    long before = peak_kib();

    assert_ok(transformer(llama70b, 2000, spread(1, 1, 1, 2000)), &err);
    assert_in_range(peak_kib() - before, 0, 250 * 1024);
    dse_arena_free(&arena);
}

/* 82 places: 80 layers and two embeddings. STAGE fails above that, too. */
CLAIM(pp_may_be_layers_plus_2_and_no_more)
{
    assert_ok(transformer(llama70b, 2, spread(1, 1, 1, 4)), &err);
    assert_int_equal(w.n_graphs, 4);
    dse_arena_free(&arena);
    assert_failure(transformer(llama70b, 2, spread(1, 1, 1, 5)), &err, DSE_E_RANGE, "",
                   "pp is 5, but 2 layers and two embeddings fill at most 4 pipeline stages");
    dse_arena_free(&arena);
}

/* A pass forward costs as much on one rank as on all of them together: with degrees that divide, no
 * recomputation and nothing replicated, the operations of the einsums of all ranks add up. Attention's einsums
 * are made along the whole sequence by every rank of sp; so dp and tp alone are varied. */
CLAIM(parallelism_along_dp_and_tp_neither_makes_nor_loses_work)
{
    static const int64_t sizes[] = {1000, 1000, 512, 2048, 16, 128, 8};
    static const uint32_t degrees[][2] = {{1, 1}, {2, 1}, {1, 2}, {4, 2}, {2, 8}};
    uint64_t first = 0;

    for (size_t i = 0; i < sizeof degrees / sizeof degrees[0]; i++) {
        uint64_t total = 0;
        const wl_graph *g;

        assert_ok(transformer(sizes, 2, spread(degrees[i][0], degrees[i][1], 1, 1)), &err);
        g = &w.graph[0];
        for (uint32_t k = 0; k < g->n_nodes; k++)
            if (g->node[k].type == WL_NODE_COMP &&
                !strstr(g->node[k].name, "@1")) /* updates are replicated */
                total += g->node[k].num_ops;
        total *= w.n_ranks;
        first = i ? first : total;
        assert_u64(total, first);
        dse_arena_free(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_linear_layer_is_laid_out_as_by_hand),
        cmocka_unit_test(dropped_nodes_hand_on_what_they_waited_for),
        cmocka_unit_test(nodes_name_the_tensors_they_read_and_write),
        cmocka_unit_test(tensors_and_nodes_know_what_they_are),
        cmocka_unit_test(ranks_count_dp_fastest_then_tp_then_sp),
        cmocka_unit_test(a_degree_of_one_makes_groups_of_one),
        cmocka_unit_test(groups_partition_the_ranks),
        cmocka_unit_test(a_placement_renumbers_ranks_and_nothing_else),
        cmocka_unit_test(what_is_needed_on_another_stage_is_sent_there),
        cmocka_unit_test(messages_come_in_pairs_with_tags_of_their_own),
        cmocka_unit_test(as_many_stages_as_places_are_possible),
        cmocka_unit_test(stages_without_a_tensor_are_refused),
        cmocka_unit_test(more_than_two_communications_that_wait_for_nothing_are_chained),
        cmocka_unit_test(a_recomputation_waits_for_the_tensor_it_comes_after),
        cmocka_unit_test(waiting_for_a_tensor_that_nothing_makes_is_refused),
        cmocka_unit_test(degrees_and_ranks_are_checked),
        cmocka_unit_test(symbols_must_have_values),
        cmocka_unit_test(what_no_collective_can_do_is_refused_with_both_tensors),
        cmocka_unit_test(sizes_beyond_63_bits_are_refused),
        cmocka_unit_test(llama70b_has_as_many_nodes_as_stage_writes),
        cmocka_unit_test(nodes_know_their_layer),
        cmocka_unit_test(memory_grows_with_the_stages_and_not_with_their_square),
        cmocka_unit_test(pp_may_be_layers_plus_2_and_no_more),
        cmocka_unit_test(parallelism_along_dp_and_tp_neither_makes_nor_loses_work),
    };
    return RUN_TESTS(tests);
}
