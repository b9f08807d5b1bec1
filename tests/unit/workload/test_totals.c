/* What is counted of a strategy is what is generated for it. */
#include "unit/unit.h"

#include "support/wl_strategy.h"
#include "workload/pass.h"
#include "workload/totals.h"

#define TRANSFORMER TEST_SOURCE "/configs/operators/transformer.yaml"

static dse_arena study, arena;
static dse_error err;
static cfg_doc doc;

/* Of the shipped files; the values are set by the tests. */
static wl_symbols symbols = {
    .n = 9, .name = {"Batch", "Seq", "Din", "Dout", "Dmodel", "Dff", "Head", "Vocab", "KvHead"}};

static void set_sizes(int64_t batch, int64_t seq, int64_t vocabulary, int64_t d_model, int64_t d_ff,
                      int64_t heads)
{
    const int64_t value[] = {batch, seq,   vocabulary, vocabulary,     d_model,
                             d_ff,  heads, vocabulary, (heads + 1) / 2};

    memcpy(symbols.value, value, sizeof value);
}

/* Sorted, two multisets are equal if their items are. */
typedef struct {
    uint64_t type, coll, axes, ops, moved, sent, to;
} item;

static int compare_items(const void *a, const void *b) { return memcmp(a, b, sizeof(item)); }

static uint32_t items_of_graph(const wl_workload *w, uint32_t stage, uint32_t ranks_per_stage, item *out)
{
    const wl_graph *g = &w->graph[stage];
    uint32_t n = 0;

    for (uint32_t i = 0; i < g->n_nodes; i++) {
        const wl_node *k = &g->node[i];
        uint32_t peer = k->type == WL_NODE_SEND ? w->rank[stage * ranks_per_stage].p2p[k->slot].peer : 0;

        if (k->type == WL_NODE_RECV)
            continue;
        out[n++] = k->type == WL_NODE_COMP
                       ? (item){.type = k->type, .ops = k->num_ops, .moved = k->tensor_size}
                   : k->type == WL_NODE_COLL
                       ? (item){.type = k->type,
                                .coll = k->coll,
                                .axes = g->slot_axes[k->slot],
                                .sent = k->comm_size}
                       : (item){.type = k->type, .sent = k->comm_size, .to = peer / ranks_per_stage};
    }
    qsort(out, n, sizeof *out, compare_items);
    return n;
}

static uint32_t items_of_totals(const wl_totals *t, uint32_t stage, item *out)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < t->n_kinds; i++)
        for (uint32_t k = 0; k < t->count[stage * t->n_kinds + i]; k++)
            out[n++] = (item){.type = t->kind[i].type,
                              .coll = t->kind[i].coll,
                              .axes = t->kind[i].axes,
                              .ops = t->kind[i].kernel.operations,
                              .moved = t->kind[i].kernel.bytes,
                              .sent = t->kind[i].comm_size};
    for (uint32_t i = 0; i < t->n_sends; i++)
        for (uint32_t k = 0; t->sends[i].from == stage && k < t->sends[i].n; k++)
            out[n++] = (item){.type = WL_NODE_SEND, .sent = t->sends[i].comm_size, .to = t->sends[i].to};
    qsort(out, n, sizeof *out, compare_items);
    return n;
}

static void assert_same(const wl_workload *w, const wl_totals *t)
{
    for (uint32_t s = 0; s < w->n_graphs; s++) {
        item *a = DSE_ARENA_NEW(&arena, item, w->graph[s].n_nodes), *b;
        uint32_t n = items_of_graph(w, s, t->ranks_per_stage, a), m = 0;

        for (uint32_t i = 0; i < t->n_kinds; i++)
            m += t->count[s * t->n_kinds + i];
        for (uint32_t i = 0; i < t->n_sends; i++)
            m += t->sends[i].from == s ? t->sends[i].n : 0;
        assert_int_equal(m, n);
        b = DSE_ARENA_NEW(&arena, item, m);
        assert_int_equal(items_of_totals(t, s, b), n);
        assert_memory_equal(a, b, n * sizeof *a);
    }
}

/* Every set of passes of every strategy up to so many ranks; how many there were that can be generated. */
static uint32_t compare_strategies(uint32_t layers, uint32_t max_ranks)
{
    static const wl_precision none = {0}, uneven = {.weights = 4,
                                                    .activations = 2,
                                                    .gradients = 1,
                                                    .optimizer = 12,
                                                    .messages = 0.5};
    uint32_t seen = 0;

    for (wl_passes passes = 0; passes <= WL_ALL_PASSES; passes++) {
        const wl_outline *outline;

        assert_ok(wl_outline_make(&doc, passes, layers, &study, &outline, &err), &err);
        for (uint32_t dp = 1; dp <= max_ranks; dp++)
            for (uint32_t tp = 1; dp * tp <= max_ranks; tp++)
                for (uint32_t sp = 1; dp * tp * sp <= max_ranks; sp++)
                    for (uint32_t pp = 1; dp * tp * sp * pp <= max_ranks && pp <= layers + 2; pp++) {
                        wl_strategy s =
                            WL_STRATEGY(.dp = dp, .tp = tp, .sp = sp, .pp = pp, .tag_base = WL_TAG_BASE,
                                        .precision = sp & 1 ? none : uneven,
                                        .stages = dp & 1 ? WL_STAGES_NEIGHBOURS : WL_STAGES_TURNS);
                        wl_workload w;
                        wl_totals t;

                        for (uint32_t i = 0; i < WL_N_PASSES; i++)
                            strategy_set(&s.strategy, wl_pass_table[i].parameter, passes >> i & 1);
                        dse_arena_reset(&arena);
                        if (wl_generate(&doc, &symbols, layers, &s, &arena, &w, &err) != DSE_OK) {
                            err = (dse_error)DSE_ERROR_INIT; /* for reasons that no count shows */
                            continue;
                        }
                        assert_ok(wl_totals_of(outline, &symbols, &s, &arena, &t, &err), &err);
                        assert_int_equal(t.n_stages, w.n_graphs);
                        assert_same(&w, &t);
                        seen++;
                    }
    }
    return seen;
}

static int set_up(void **state)
{
    (void)state;
    dse_arena_init(&study);
    dse_arena_init(&arena);
    err = (dse_error)DSE_ERROR_INIT;
    assert_ok(cfg_load(TRANSFORMER, &study, &doc, &err), &err);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    dse_arena_free(&study);
    dse_arena_free(&arena);
    return 0;
}

/* 130 layers are more than pp ever is here; with one layer the output embedding is not linked. */
CLAIM(every_node_is_counted)
{
    set_sizes(96, 4096, 32000, 8192, 28672, 64);
    for (uint32_t layers = 0; layers <= 7; layers++)
        assert_true(compare_strategies(layers, 12) > 100);
    assert_true(compare_strategies(130, 2) > 10);
}

/* With sizes that truncate to 0 operations lose their nodes, and collectives their bytes. */
CLAIM(in_tiny_models_too)
{
    set_sizes(1, 1, 3, 2, 1, 2);
    for (uint32_t layers = 1; layers <= 4; layers++)
        assert_true(compare_strategies(layers, 12) > 10);
    set_sizes(3, 5, 7, 6, 2, 1);
    assert_true(compare_strategies(3, 12) > 100);
}

/* Lookups, fused kernels, adds of partial sums, whole blocks made again. */
CLAIM(every_node_of_the_other_models_is_counted)
{
    static const char *const paths[] = {TEST_SOURCE "/configs/operators/gpt.yaml",
                                        TEST_SOURCE "/configs/operators/llama.yaml"};

    for (int i = 0; i < 2; i++) {
        assert_ok(cfg_load(paths[i], &study, &doc, &err), &err);
        set_sizes(96, 4096, 32000, 8192, 28672, 64);
        for (uint32_t layers = 1; layers <= 4; layers++)
            assert_true(compare_strategies(layers, 12) > 100);
        set_sizes(3, 5, 7, 6, 2, 1);
        assert_true(compare_strategies(3, 12) > 100);
    }
}

CLAIM(a_symbol_without_a_value_and_a_size_beyond_63_bits_are_refused)
{
    const wl_strategy s = WL_STRATEGY(.dp = 1, .tp = 1, .sp = 1, .pp = 1);
    wl_symbols few = symbols;
    const wl_outline *outline;
    wl_totals t;

    assert_ok(wl_outline_make(&doc, 0, 2, &study, &outline, &err), &err);
    few.n = 3;
    assert_failure(wl_totals_of(outline, &few, &s, &arena, &t, &err), &err, DSE_E_CONFIG, TRANSFORMER,
                   "the symbol 'Dout' has no value");
    err = (dse_error)DSE_ERROR_INIT;
    set_sizes(1 << 30, 1 << 30, 1 << 10, 1 << 10, 1, 1);
    assert_failure(wl_totals_of(outline, &symbols, &s, &arena, &t, &err), &err, DSE_E_RANGE, "",
                   "a size does not fit in 63 bits");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_node_is_counted, set_up, tear_down),
        cmocka_unit_test_setup_teardown(in_tiny_models_too, set_up, tear_down),
        cmocka_unit_test_setup_teardown(every_node_of_the_other_models_is_counted, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_symbol_without_a_value_and_a_size_beyond_63_bits_are_refused,
                                        set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
