/* What selective recomputation makes again, part by part: what is kept without it, and which modules run twice. */
#include "base/array.h"
#include "step/module.h"
#include "unit/step/small.h"

/* A layer of latents and experts, and one of plain attention and a network: 4 tokens of 8 features. */
static const char text[] = "hidden: H\n"
                           "sequence: S\n"
                           "blocks:\n"
                           "  embedding:\n"
                           "    token: {embedding: [V, H]}\n"
                           "  sparse:\n"
                           "    norm1: {norm: H}\n"
                           "    query_down: {linear: [H, Q]}\n"
                           "    query_norm: {norm: Q}\n"
                           "    query_up: {linear: [Q, A*T], split: column}\n"
                           "    key_down: {linear: [H, K, S], keys: yes, shared: yes}\n"
                           "    key_norm: {norm: K}\n"
                           "    key_up: {linear: [K, H*T, H*T], split: column, keys: yes}\n"
                           "    rotary: {rotary: [T, 1, S]}\n"
                           "    attention: {attention: [T, T, A], value: H, cached: [K, S], again: yes}\n"
                           "    projection: {linear: [H*T, H], split: row}\n"
                           "    residual1: {add: [query_down]}\n"
                           "    norm2: {norm: H}\n"
                           "    shared_up: {linear: [H, W], split: column, shared: yes, shared_expert: yes}\n"
                           "    shared_activation: {activation: W}\n"
                           "    shared_down: {linear: [W, H], split: row, shared_expert: yes}\n"
                           "    router: {router: [H, S], top_k: T}\n"
                           "    dispatch: {dispatch: H, experts: S, top_k: T}\n"
                           "    up: {grouped: [H, E], split: column, experts: S, top_k: T}\n"
                           "    activation: {activation: E, experts: S, top_k: T}\n"
                           "    down: {grouped: [E, H], split: row, experts: S, top_k: T}\n"
                           "    combine: {combine: H, experts: S, top_k: T}\n"
                           "    residual2: {add: [router]}\n"
                           "  dense:\n"
                           "    norm1: {norm: H}\n"
                           "    qkv: {linear: [H, H, H, H], split: column, kv_heads: T}\n"
                           "    attention: {attention: [T, T, H/T], again: yes}\n"
                           "    projection: {linear: [H, H], split: row}\n"
                           "    residual1: {add: [qkv]}\n"
                           "    norm2: {norm: H}\n"
                           "    up: {linear: [H, F], split: column}\n"
                           "    activation: {activation: F}\n"
                           "    down: {linear: [F, H], split: row}\n"
                           "    residual2: {add: [up]}\n"
                           "  head:\n"
                           "    norm: {norm: H}\n"
                           "    output: {linear: [H, V], split: column}\n"
                           "    loss: {loss: V}\n"
                           "pattern: {repeat: [sparse, dense]}\n";

enum { SPARSE = STEP_LAYER, DENSE };

typedef struct {
    dse_arena arena;
    step_model model;
    step_options options;
} fixture;

static void begin(fixture *f, unsigned modules)
{
    static const wl_symbols symbols = {
        10, {"H", "S", "V", "T", "F", "Q", "K", "A", "E", "W"}, {8, 4, 40, 2, 16, 6, 5, 12, 10, 3}};
    dse_error err = {0};
    cfg_doc doc;

    dse_arena_init(&f->arena);
    assert_ok(cfg_parse_yaml("layers", text, strlen(text), &f->arena, &doc, &err), &err);
    assert_ok(step_model_read(&doc, &symbols, 2, &f->arena, &f->model, &err), &err);
    f->options = small_options();
    f->options.fused_attention = f->options.fused_activation = true;
    f->options.recompute = modules ? STEP_RECOMPUTE_SELECTIVE : STEP_RECOMPUTE_NONE;
    f->options.recompute_modules = modules;
}

/* Bytes that a layer keeps less than without recomputation. */
static uint64_t saved(unsigned modules, uint32_t block)
{
    uint64_t kept[2];

    for (int i = 0; i < 2; i++) {
        fixture f;
        step_shape s;

        begin(&f, i ? modules : 0);
        s = step_shape_of(&f.model, &f.options);
        kept[i] = step_kept_bytes(&f.model.block[block], &s, false);
        dse_arena_free(&f.arena);
    }
    return kept[0] - kept[1];
}

/* The modules that run again in a layer's backward pass, in order. */
static const char *named(fixture *f, uint32_t block)
{
    const bool is_whole = f->options.recompute == STEP_RECOMPUTE_FULL;
    const step_shape s = step_shape_of(&f->model, &f->options);
    const char *last = "";
    dse_strbuf out;
    step_program p;

    step_program_backward(&f->model.block[block], &s, STEP_PART_BOTH, is_whole, &f->arena, &p);
    dse_strbuf_init(&out);
    dse_strbuf_adds(&out, "");
    for (uint32_t i = 0; i < p.n; i++) {
        const char *name = p.operation[i].module->name;

        if (!p.operation[i].is_again || !strcmp(last, name))
            continue;
        dse_strbuf_addf(&out, "%s%s", *last ? " " : "", name);
        last = name;
    }
    return dse_strbuf_take(&out, &f->arena);
}

static void assert_again(unsigned modules, uint32_t block, const char *names)
{
    fixture f;

    begin(&f, modules);
    assert_string_equal(named(&f, block), names);
    dse_arena_free(&f.arena);
}

static void assert_whole(bool leaves_unread, uint32_t block, const char *names)
{
    fixture f;

    begin(&f, 0);
    f.options.recompute = STEP_RECOMPUTE_FULL;
    f.options.stops_early = f.options.leaves_unread = leaves_unread;
    assert_string_equal(named(&f, block), names);
    dse_arena_free(&f.arena);
}

/* Nobody reads the result of the last product, but of experts, whose results are weighed. */
CLAIM(what_stops_early_leaves_out_the_last_product)
{
    assert_whole(false, DENSE, "norm1 qkv attention projection residual1 norm2 up activation down residual2");
    assert_whole(true, DENSE, "norm1 qkv attention projection residual1 norm2 up activation");
    assert_whole(true, SPARSE,
                 "norm1 query_down query_norm query_up key_down key_norm key_up rotary attention projection residual1 "
                 "norm2 shared_up shared_activation shared_down router dispatch up activation down");
}

/* So are networks that run again alone; attention, after which nothing does, stays. */
CLAIM(networks_that_stop_early_leave_out_the_last_product)
{
    static const struct {
        unsigned modules;
        uint32_t block;
        const char *names;
    } rows[] = {{STEP_AGAIN_MLP, DENSE, "norm2 up activation"},
                {STEP_AGAIN_CORE | STEP_AGAIN_MLP, DENSE, "attention norm2 up activation"},
                {STEP_AGAIN_CORE | STEP_AGAIN_MLP, SPARSE, "attention"},
                {STEP_AGAIN_CORE, DENSE, "attention"}};
    fixture f;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        begin(&f, rows[i].modules);
        f.options.stops_early = f.options.leaves_unread = true;
        assert_string_equal(named(&f, rows[i].block), rows[i].names);
        dse_arena_free(&f.arena);
    }
}

/* A product in pieces is left out with all of them, and with the sum beside them. */
CLAIM(what_stops_early_leaves_out_all_pieces)
{
    fixture f;

    begin(&f, 0);
    f.options.recompute = STEP_RECOMPUTE_FULL;
    f.options.stops_early = f.options.leaves_unread = true;
    f.options.tp = 2;
    f.options.sequence_parallel = true;
    f.options.tensor = STEP_TENSOR_PIECES;
    assert_string_equal(named(&f, DENSE), "norm1 qkv attention projection residual1 norm2 up activation");
    dse_arena_free(&f.arena);
}

CLAIM(each_part_runs_again)
{
    assert_again(STEP_AGAIN_CORE, SPARSE, "attention");
    assert_again(STEP_AGAIN_NORMS, SPARSE, "norm1 norm2");
    assert_again(STEP_AGAIN_EXPERT_ACTIVATION, SPARSE, "activation");
    assert_again(STEP_AGAIN_UP, SPARSE, "query_norm query_up key_norm key_up rotary");
    assert_again(STEP_AGAIN_MLP, SPARSE, "");
    assert_again(STEP_AGAIN_EXPERTS, SPARSE,
                 "shared_up shared_activation shared_down router dispatch up activation down combine");
    assert_again(STEP_AGAIN_SHARED, SPARSE, "shared_up shared_activation shared_down");
    assert_again(STEP_AGAIN_SHARED | STEP_AGAIN_NORMS, SPARSE,
                 "norm1 norm2 shared_up shared_activation shared_down");
}

/* Norms are within the matrix that follows, and run again with the network. */
CLAIM(a_layer_without_experts_has_a_network_alone)
{
    assert_again(STEP_AGAIN_NORMS | STEP_AGAIN_UP | STEP_AGAIN_EXPERTS, DENSE, "");
    assert_again(STEP_AGAIN_MLP, DENSE, "norm2 up activation down");
    assert_int_equal(saved(STEP_AGAIN_NORMS, DENSE), 0);
}

/* Tokens 4, elements 2 bytes, and 4 of each norm's tokens; 8 rows come to the experts. */
CLAIM(what_is_made_again_is_not_kept)
{
    const uint64_t norm = 4 * 4, experts = 2 * (8 * 8 + 8 * 10 + 8 * 10);
    const uint64_t places = 8 * 8 + 4 * 8, shared = 2 * 4 * (3 + 3);
    const uint64_t norms = 2 * (norm + 2 * 4 * 8); /* and what reads them */

    assert_int_equal(saved(STEP_AGAIN_CORE, SPARSE), 0); /* fused attention makes its scores again anyway */
    assert_int_equal(saved(STEP_AGAIN_NORMS, SPARSE), norms);
    assert_int_equal(saved(STEP_AGAIN_EXPERT_ACTIVATION, SPARSE), 2 * 8 * 10);
    /* latents after their norms, queries, keys and values; the rotated key is kept */
    assert_int_equal(saved(STEP_AGAIN_UP, SPARSE),
                     2 * norm + 2 * 4 * (6 + 5) + 2 * 4 * (2 * 12 + 2 * 12 + 2 * 8) - 2 * 4 * 4);
    assert_int_equal(saved(STEP_AGAIN_SHARED, SPARSE), shared);
    assert_true(saved(STEP_AGAIN_EXPERTS, SPARSE) > experts + places + shared); /* and the router's scores */
    assert_int_equal(saved(STEP_AGAIN_EXPERTS | STEP_AGAIN_SHARED | STEP_AGAIN_EXPERT_ACTIVATION, SPARSE),
                     saved(STEP_AGAIN_EXPERTS, SPARSE));
    assert_int_equal(saved(STEP_AGAIN_EXPERTS | STEP_AGAIN_NORMS, SPARSE),
                     saved(STEP_AGAIN_EXPERTS, SPARSE) + norms);
    assert_int_equal(saved(STEP_AGAIN_MLP, SPARSE), 0);
    assert_int_equal(saved(STEP_AGAIN_MLP, DENSE), norm + 2 * 4 * 8 + 2 * 4 * (16 + 16));
}

/* From the module behind which they are made on: results of the norms for a half of the layer. */
CLAIM(what_is_made_again_lasts_until_it_is_read)
{
    const step_block *b;
    fixture f;

    begin(&f, STEP_AGAIN_NORMS | STEP_AGAIN_UP | STEP_AGAIN_EXPERT_ACTIVATION);
    b = &f.model.block[SPARSE];
    assert_string_equal(b->module[step_made_until(&f.options, b, 1)].name, "projection"); /* query_down */
    assert_string_equal(b->module[step_made_until(&f.options, b, 3)].name, "attention");  /* query_up */
    assert_string_equal(b->module[step_made_until(&f.options, b, 15)].name, "combine");   /* router */
    assert_string_equal(b->module[step_made_until(&f.options, b, 19)].name, "down");
    dse_arena_free(&f.arena);
}

CLAIM(a_model_has_the_parts_of_its_layers)
{
    fixture f;

    begin(&f, 0);
    assert_true(step_model_has_part(&f.model, STEP_AGAIN_MLP));
    f.model.n_blocks = SPARSE + 1;
    assert_false(step_model_has_part(&f.model, STEP_AGAIN_MLP));
    assert_true(step_model_has_part(&f.model, STEP_AGAIN_UP));
    dse_arena_free(&f.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_part_runs_again),
        cmocka_unit_test(a_layer_without_experts_has_a_network_alone),
        cmocka_unit_test(what_stops_early_leaves_out_the_last_product),
        cmocka_unit_test(networks_that_stop_early_leave_out_the_last_product),
        cmocka_unit_test(what_stops_early_leaves_out_all_pieces),
        cmocka_unit_test(what_is_made_again_is_not_kept),
        cmocka_unit_test(what_is_made_again_lasts_until_it_is_read),
        cmocka_unit_test(a_model_has_the_parts_of_its_layers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
