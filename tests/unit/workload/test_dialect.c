/* A second dialect beside STAGE's: each member of wl_dialect does what its contract says. test_generate.c
 * has the same models in STAGE's. */
#include "support/wl_strategy.h"
#include "unit/unit.h"
#include "unit/workload/linear.h"

#include "workload/generator.h"

static dse_arena arena;
static wl_workload w;

static const wl_symbols b8_m16 = {.n = 2, .name = {"B", "M"}, .value = {8, 16}};

static void print_rank(const wl_symbols *s, const wl_shape *shape, dse_strbuf *out)
{
    (void)s;
    dse_strbuf_addf(out, "/%u", shape->n);
}

static uint64_t message_id(uint64_t next, uint64_t pair, bool receives)
{
    (void)receives;
    return next + pair;
}

static uint32_t message_tag(uint32_t base, uint64_t pair) { return base + 10 * (uint32_t)pair; }

static dse_status match_nothing(const wl_axes *x, mesh_set split, const wl_shape *have,
                                const wl_shape *reduced, const wl_shape *need, const wl_shape *unsummed,
                                wl_match *out, uint32_t *n, dse_error *err)
{
    (void)x, (void)split, (void)have, (void)reduced, (void)need, (void)unsummed, (void)out, (void)err;
    *n = 0;
    return DSE_OK;
}

static const wl_dialect other = {
    .shadow = WL_PIECE("far "),
    .revision = {WL_PIECE(""), WL_PIECE("'")},
    .suffix = {[WL_ROLE_COMPUTE] = WL_PIECE(""),
               [WL_ROLE_X1_COLL] = WL_PIECE(" 1"),
               [WL_ROLE_X2_COLL] = WL_PIECE(" 2"),
               [WL_ROLE_SEND] = WL_PIECE(" out"),
               [WL_ROLE_RECV] = WL_PIECE(" in")},
    .print_shape = print_rank,
    .shows_result = {[WL_ROLE_X1_COLL] = true, [WL_ROLE_SEND] = true},
    .message_id = message_id,
    .message_tag = message_tag,
    .file_order = {WL_ROLE_RECV, WL_ROLE_X2_COLL, WL_ROLE_X1_COLL, WL_ROLE_COMPUTE, WL_ROLE_SEND},
    .least_chained = 2,
    .group = WL_PIECE("group"),
    .match = wl_match_collectives,
};

static void generate(const wl_dialect *dialect, const char *text, wl_strategy s)
{
    dse_error err = DSE_ERROR_INIT;
    gen_variant variant;
    gen_shape shape;
    gen_sizes sizes;
    gen_key key;
    cfg_doc doc;
    mesh m;

    dse_arena_init(&arena);
    w = (wl_workload){0};
    assert_ok(cfg_parse_yaml("f.yaml", text, strlen(text), &arena, &doc, &err), &err);
    m = strategy_mesh(&s.strategy, &arena);
    assert_ok(gen_variant_init(&variant, &doc, 0, dialect, &arena, &err), &err);
    assert_ok(gen_sizes_evaluate(&variant, &b8_m16, &m, &s.precision, &arena, &sizes, &err), &err);
    key = (gen_key){.variant = &variant,
                    .pp = s.pp,
                    .stages = s.stages,
                    .split = gen_split(&variant.axes, &m),
                    .is_free = sizes.is_free};
    assert_ok(gen_shape_build(&key, &arena, &arena, &shape, &err), &err);
    assert_ok(gen_workload_fill(&key, &shape, &sizes, true, &arena, &w, &err), &err);
    gen_workload_bind(&key, &shape, &m, 1000, &arena, &w);
}

/* "id name, ..." of a rank's nodes in file order. */
static void assert_nodes(uint32_t rank, const char *expected)
{
    const wl_graph *g = wl_rank_graph(&w, rank);
    char text[400] = "";

    for (uint32_t i = 0; i < g->n_nodes; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%u %s", i ? ", " : "",
                 (unsigned)wl_node_id(&w, rank, i), g->node[i].name);
    assert_string_equal(text, expected);
}

/* Seven nodes remain of x w y dy dw dx w' (test_generate.c): y, its all-gather, dw, its all-gather, dx,
 * w', its all-reduce. They have the ids 0 .. 6 in this order, on each rank, and collectives stand in
 * front. */
CLAIM(ids_without_gaps_begin_anew_on_each_rank)
{
    static const char nodes[] = "1 a_y 1, 0 a_y, 3 a_dw 2, 2 a_dw, 4 a_dx, 6 a_w' 2, 5 a_w'";

    generate(&other, ONE_LINEAR, WL_STRATEGY(.dp = 2, .tp = 2, .sp = 1, .pp = 1));
    assert_int_equal(w.n_ranks, 4);
    for (uint32_t r = 0; r < 4; r++)
        assert_nodes(r, nodes);
    for (uint32_t i = 0; i < 7; i++)
        assert_u64(w.graph[0].node[w.graph[0].by_id[i]].id, i);
    dse_arena_free(&arena);
}

/* y's and dw's all-gather wait for nothing. */
CLAIM(two_first_collectives_are_chained_if_two_are_enough)
{
    const wl_graph *g;

    generate(&other, ONE_LINEAR, WL_STRATEGY(.dp = 2, .tp = 2, .sp = 1, .pp = 1));
    g = &w.graph[0];
    assert_int_equal(g->ctrl_deps.start[7], 1);
    assert_int_equal(g->ctrl_deps.start[3] - g->ctrl_deps.start[2], 1); /* "a_dw 2" */
    assert_int_equal(g->ctrl_deps.item[0], 0);                          /* on "a_y 1" */
    dse_arena_free(&arena);
}

/* x is 8/2 x 16, gathered. */
CLAIM(tensors_and_results_are_spelt_by_the_dialect)
{
    const wl_graph *g;

    generate(&other, ONE_LINEAR, WL_STRATEGY(.dp = 2, .tp = 2, .sp = 1, .pp = 1));
    g = &w.graph[0];
    assert_string_equal(g->tensor[g->inputs.item[0].tensor].name, "a_x/2");
    assert_u64(g->node[0].y_size, 64); /* "a_y 1" */
    for (uint32_t i = 1; i < g->n_nodes; i++)
        assert_u64(g->node[i].y_size, 0);
    dse_arena_free(&arena);
}

/* Four nodes of each stage have the ids 0 .. 3. Message 0 carries dx of b to stage 0, message 1 y of a to
 * stage 1. */
CLAIM(messages_are_numbered_and_tagged_by_the_dialect)
{
    generate(&other, TWO_LINEARS, WL_STRATEGY(.dp = 1, .tp = 1, .sp = 1, .pp = 2));
    assert_nodes(0, "0 a_y, 5 a_y out, 1 a_dw, 2 a_dx, 3 a_w', 4 far b_dx in");
    assert_nodes(1, "0 b_y, 1 b_dw, 2 b_dx, 4 b_dx out, 3 b_w', 5 far a_y in");
    for (uint32_t r = 0; r < 2; r++) {
        assert_int_equal(w.rank[r].p2p[0].tag, 1000);
        assert_int_equal(w.rank[r].p2p[1].tag, 1010);
    }
    dse_arena_free(&arena);
}

/* The first tensors of this model are on the last stage. */
CLAIM(stages_have_ranks_by_first_tensor_or_by_coordinate)
{
    static const char text[] = LINEAR "model: {b: {block: lin, place: last}, a: {block: lin, place: first}}\n"
                                      "links: {loss: {a_y: b_x, b_y: b_dy, b_dx: a_dy}}\n";
    const wl_strategy s = WL_STRATEGY(.dp = 1, .tp = 1, .sp = 1, .pp = 2);

    generate(&other, text, s);
    assert_string_equal(w.graph[0].node[0].name, "a_y");
    dse_arena_free(&arena);
    generate(&wl_dialect_stage, text, s);
    assert_string_equal(w.graph[0].node[0].name, "b_y@0_COMP");
    dse_arena_free(&arena);
}

/* rank = dp + 2 tp + 4 sp; the groups of dp by (tp, sp) = 00, 10, 01, 11. */
CLAIM(groups_are_named_and_ordered_by_the_dialect)
{
    static const char *const name[] = {"", "group1", "group2", "group3", "group4"};

    generate(&other, ONE_LINEAR, WL_STRATEGY(.dp = 2, .tp = 2, .sp = 2, .pp = 1));
    assert_int_equal(w.n_groups, 13);
    for (uint32_t i = 0; i < 5; i++) {
        assert_string_equal(w.group[i].name, name[i]);
        assert_int_equal(w.group[i].rank[0], i ? 2 * (i - 1) : 0);
    }
    assert_string_equal(w.group[12].name, "group12");
    dse_arena_free(&arena);
}

CLAIM(the_dialect_says_which_collectives_there_are)
{
    wl_dialect none = other;

    none.match = match_nothing;
    generate(&none, ONE_LINEAR, WL_STRATEGY(.dp = 2, .tp = 2, .sp = 1, .pp = 1));
    assert_nodes(0, "0 a_y, 1 a_dw, 2 a_dx, 3 a_w'");
    dse_arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_without_gaps_begin_anew_on_each_rank),
        cmocka_unit_test(two_first_collectives_are_chained_if_two_are_enough),
        cmocka_unit_test(tensors_and_results_are_spelt_by_the_dialect),
        cmocka_unit_test(messages_are_numbered_and_tagged_by_the_dialect),
        cmocka_unit_test(stages_have_ranks_by_first_tensor_or_by_coordinate),
        cmocka_unit_test(groups_are_named_and_ordered_by_the_dialect),
        cmocka_unit_test(the_dialect_says_which_collectives_there_are),
    };
    return RUN_TESTS(tests);
}
