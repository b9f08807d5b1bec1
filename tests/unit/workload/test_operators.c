#include "unit/unit.h"

#include "workload/pass.h"

static dse_arena arena;
static dse_error err;
static wl_operators ops;
static cfg_doc doc;

static const wl_passes plain = 0, recompute = WL_PASS_BIT(WL_PASS_RECOMPUTE),
                       sharded = WL_PASS_BIT(WL_PASS_WEIGHT_SHARD), both = recompute | sharded;

static dse_status resolve(const char *text, wl_passes passes)
{
    dse_arena_init(&arena);
    err = (dse_error)DSE_ERROR_INIT;
    assert_ok(cfg_parse_yaml("f.yaml", text, strlen(text), &arena, &doc, &err), &err);
    return wl_operators_resolve(&doc, passes, &arena, &ops, &err);
}

/* `marked` is a file with a '^' in front of what is wrong: that is the place the error must name. */
static void refuse_in(const char *marked, wl_passes passes, const char *message)
{
    char text[2000], where[40];
    size_t n = strcspn(marked, "^");
    int line = 1, column = 1;

    assert_true(marked[n] == '^' && strlen(marked) < sizeof text);
    for (size_t i = 0; i < n; i++) {
        column = marked[i] == '\n' ? 1 : column + 1;
        line += marked[i] == '\n';
    }
    snprintf(text, sizeof text, "%.*s%s", (int)n, marked, marked + n + 1);
    snprintf(where, sizeof where, "f.yaml:%d:%d", line, column);
    assert_failure(resolve(text, passes), &err, DSE_E_CONFIG, where, message);
    dse_arena_free(&arena);
}

static void refuse(const char *marked, const char *message) { refuse_in(marked, plain, message); }

#define HEAD                                                                                                 \
    "symbols: {B: batch, M: model, N: other}\n"                                                              \
    "shapes: {act: [B/dp, M/tp]}\n"                                                                          \
    "model: {a: {block: t}}\n"                                                                               \
    "links: {}\n"                                                                                            \
    "blocks:\n"                                                                                              \
    "  t:\n"                                                                                                 \
    "    x: {input: act}\n"                                                                                  \
    "    w: {weight: [M, N/tp], sharded: [M/dp, N/tp]}\n"

/* The one operator behind x and w is wrong. */
#define OP(line) HEAD "    " line "\n"

static const wl_operator *op(uint32_t entry, uint32_t part, uint32_t i)
{
    return &ops.entry[entry].part[part].block->op[i];
}

static void assert_shape(const wl_shape *s, const char *expected)
{
    dse_strbuf b;

    dse_strbuf_init(&b);
    wl_shape_print(&ops.symbols, s, &b);
    assert_string_equal(b.data, expected);
    dse_strbuf_free(&b);
}

/* ---- what is read -------------------------------------------------------------------------- */

CLAIM(symbols_are_followed_by_dp_tp_sp)
{
    assert_ok(resolve(HEAD, plain), &err);
    assert_int_equal(ops.symbols.n, 6);
    assert_string_equal(ops.symbols.name[0], "B");
    assert_string_equal(ops.symbols.name[2], "N");
    assert_string_equal(ops.symbols.name[3], "dp");
    assert_string_equal(ops.symbols.name[4], "tp");
    assert_string_equal(ops.symbols.name[5], "sp");
    assert_string_equal(ops.doc.path, "f.yaml");
    dse_arena_free(&arena);
}

CLAIM(weights_have_another_shape_when_sharded)
{
    assert_ok(resolve(HEAD, plain), &err);
    assert_int_equal(op(0, 0, 1)->kind, WL_OP_INPUT);
    assert_true(op(0, 0, 1)->is_weight);
    assert_shape(&op(0, 0, 1)->y_shape, "M,N/tp");
    dse_arena_free(&arena);
    assert_ok(resolve(HEAD, sharded), &err);
    assert_shape(&op(0, 0, 1)->y_shape, "M/dp,N/tp");
    assert_false(op(0, 0, 0)->is_weight);
    assert_shape(&op(0, 0, 0)->y_shape, "B/dp,M/tp"); /* by the name of a shape */
    dse_arena_free(&arena);
}

/* y[bn] = sum over m of x[bm] w[mn]: what is summed over leaves partial sums if it is sharded. */
CLAIM(an_einsum_needs_and_leaves_the_shapes_of_its_letters)
{
    assert_ok(resolve(OP("y: {einsum: \"x[bm] w[mn] -> bn\", over: {b: B/dp, m: M/tp, n: N}}"), plain), &err);
    assert_int_equal(op(0, 0, 2)->kind, WL_OP_EINSUM);
    assert_int_equal(op(0, 0, 2)->x1, 0);
    assert_int_equal(op(0, 0, 2)->x2, 1);
    assert_shape(&op(0, 0, 2)->x1_shape, "B/dp,M/tp");
    assert_shape(&op(0, 0, 2)->x2_shape, "M/tp,N");
    assert_shape(&op(0, 0, 2)->y_shape, "B/dp,N");
    assert_shape(&op(0, 0, 2)->y_reduced, "M/tp");
    dse_arena_free(&arena);
}

CLAIM(elementwise_operators_need_what_they_leave)
{
    assert_ok(
        resolve(OP("y: {add: [x, w], shape: act}\n    z: {scale: y, by: 5, shape: act, gradient_of: x}\n    "
                   "c: {copy: z, shape: [B]}\n    r: {reshape: c, from: [B], to: [M/tp, N]}"),
                plain),
        &err);
    assert_int_equal(op(0, 0, 2)->kind, WL_OP_ADD);
    assert_int_equal(op(0, 0, 2)->x2, 1);
    assert_shape(&op(0, 0, 2)->x1_shape, "B/dp,M/tp");
    assert_shape(&op(0, 0, 2)->x2_shape, "B/dp,M/tp");
    assert_shape(&op(0, 0, 2)->y_shape, "B/dp,M/tp");
    assert_int_equal(op(0, 0, 3)->kind, WL_OP_SCALE);
    assert_double(op(0, 0, 3)->scale, 5);
    assert_int_equal(op(0, 0, 3)->x1, 2);
    assert_int_equal(op(0, 0, 3)->x2, DSE_NONE);
    assert_int_equal(op(0, 0, 3)->gradient_of, 0);
    assert_int_equal(op(0, 0, 4)->kind, WL_OP_COPY);
    assert_int_equal(op(0, 0, 5)->kind, WL_OP_RESHAPE);
    assert_shape(&op(0, 0, 5)->x1_shape, "B");
    assert_shape(&op(0, 0, 5)->x2_shape, "M/tp,N");
    assert_shape(&op(0, 0, 5)->y_shape, "M/tp,N");
    dse_arena_free(&arena);
}

CLAIM(operands_may_come_later_in_the_block)
{
    assert_ok(resolve(OP("y: {scale: z, by: 1, shape: act}\n    z: {input: act}"), plain), &err);
    assert_int_equal(op(0, 0, 2)->x1, 3);
    dse_arena_free(&arena);
}

/* The operator between x and v exists only with recomputation; indexes behind it shift. */
#define VARIANTS                                                                                             \
    HEAD "    extra: {when: recompute, after: v, einsum: \"x[bm] w[mn] -> bn\", over: {b: B, m: M, n: N}}\n" \
         "    u: {input: act}\n"                                                                             \
         "    v: {einsum: \"x[bm] w[mn] -> bn\", recompute: \"u[bm] w[mn] -> bn\",\n"                        \
         "        recompute_sharded: \"w[mn] u[bm] -> bn\", over: {b: B, m: M, n: N}}\n"

CLAIM(recomputation_adds_operators_and_replaces_einsums)
{
    assert_ok(resolve(VARIANTS, plain), &err);
    assert_int_equal(ops.entry[0].part[0].block->n, 4);
    assert_string_equal(op(0, 0, 3)->name, "v");
    assert_int_equal(op(0, 0, 3)->x1, 0);
    dse_arena_free(&arena);
    assert_ok(resolve(VARIANTS, recompute), &err);
    assert_int_equal(ops.entry[0].part[0].block->n, 5);
    assert_string_equal(op(0, 0, 2)->name, "extra");
    assert_int_equal(op(0, 0, 2)->after, 4);
    assert_int_equal(op(0, 0, 4)->x1, 3); /* u */
    assert_int_equal(op(0, 0, 4)->x2, 1);
    dse_arena_free(&arena);
    assert_ok(resolve(VARIANTS, sharded), &err);
    assert_int_equal(op(0, 0, 3)->x1, 0); /* recompute_sharded needs both */
    dse_arena_free(&arena);
    assert_ok(resolve(VARIANTS, both), &err);
    assert_int_equal(op(0, 0, 4)->x1, 1);
    assert_int_equal(op(0, 0, 4)->x2, 3);
    dse_arena_free(&arena);
}

/* dy is marked as a gradient, dz is not; what is made of either is one, also where it stands before them. `y` is made
 * of nothing of the kind, `extra` is made again, whatever of. */
CLAIM(what_is_made_of_a_gradient_is_one)
{
    static const char text[] = OP("sum: {add: [dz, y], shape: act}\n"
                                  "    y: {scale: x, by: 1, shape: act}\n"
                                  "    extra: {when: recompute, after: dy, scale: x, by: 1, shape: act}\n"
                                  "    dy: {input: act, gradient_of: y}\n"
                                  "    dz: {scale: dy, by: 1, shape: act}\n"
                                  "    dw: {einsum: \"dy[bn] x[bm] -> mn\", recompute: \"dy[bn] extra[bm] -> "
                                  "mn\", over: {b: B, m: M, n: N}, gradient_of: w}");
    static const struct {
        const char *name;
        wl_tensor_kind makes;
    } expected[] = {{"x", WL_TENSOR_INPUT},          {"w", WL_TENSOR_WEIGHT},
                    {"sum", WL_TENSOR_GRADIENT},     {"y", WL_TENSOR_ACTIVATION},
                    {"extra", WL_TENSOR_RECOMPUTED}, {"dy", WL_TENSOR_GRADIENT},
                    {"dz", WL_TENSOR_GRADIENT},      {"dw", WL_TENSOR_WEIGHT_GRADIENT}};

    assert_ok(resolve(text, recompute), &err);
    assert_int_equal(ops.entry[0].part[0].block->n, 8);
    for (uint32_t i = 0; i < 8; i++) {
        assert_string_equal(op(0, 0, i)->name, expected[i].name);
        assert_int_equal(op(0, 0, i)->makes, expected[i].makes);
    }
    dse_arena_free(&arena);
}

CLAIM(entries_of_the_model_keep_their_order_and_places)
{
    assert_ok(resolve("symbols: {B: batch, M: model}\n"
                      "blocks: {t: {x: {input: [B, M]}}, u: {y: {input: [M/B]}}}\n"
                      "model:\n"
                      "  first: {block: t, place: first, rename: {M: B}}\n"
                      "  last: {block: u, place: last}\n"
                      "  body: {prefix: stack, blocks: {p: t, q: u}, rename: {B: M}}\n"
                      "links: {}\n",
                      plain),
              &err);
    assert_int_equal(ops.n_entries, 3);
    assert_string_equal(ops.entry[0].prefix, "first");
    assert_false(ops.entry[0].is_layers);
    assert_false(ops.entry[0].is_last);
    assert_true(ops.entry[1].is_last);
    assert_true(ops.entry[2].is_layers);
    assert_string_equal(ops.entry[2].prefix, "stack");
    assert_int_equal(ops.entry[2].n_parts, 2);
    assert_string_equal(ops.entry[2].part[0].prefix, "p");
    assert_string_equal(ops.entry[2].part[1].prefix, "q");
    assert_shape(&op(0, 0, 0)->y_shape, "B,B"); /* renamed */
    assert_shape(&op(1, 0, 0)->y_shape, "M/B"); /* not renamed: each entry has its own */
    assert_shape(&op(2, 0, 0)->y_shape, "M,M");
    assert_shape(&op(2, 1, 0)->y_shape, "1"); /* M/B with B for M is 1 */
    dse_arena_free(&arena);
}

CLAIM(links_are_listed_by_kind)
{
    assert_ok(resolve("symbols: {B: batch}\nblocks: {t: {x: {input: [B]}}}\nmodel: {a: {block: t}}\n"
                      "links:\n  within_layer: {u: v, w: x}\n  last_layer: {min_layers: 2, y: z}\n",
                      plain),
              &err);
    assert_int_equal(ops.n_links[WL_LINK_WITHIN_LAYER], 2);
    assert_string_equal(ops.link[WL_LINK_WITHIN_LAYER][1].from->text, "w");
    assert_string_equal(ops.link[WL_LINK_WITHIN_LAYER][1].to->text, "x");
    assert_int_equal(ops.n_links[WL_LINK_LAST_LAYER], 1);
    assert_string_equal(ops.link[WL_LINK_LAST_LAYER][0].from->text, "y");
    assert_int_equal(ops.min_layers[WL_LINK_LAST_LAYER], 2);
    assert_int_equal(ops.min_layers[WL_LINK_WITHIN_LAYER], 1);
    assert_int_equal(ops.n_links[WL_LINK_LOSS], 0);
    dse_arena_free(&arena);
}

CLAIM(the_transformer_resolves_with_all_passes)
{
    /* Counted in configs/operators/transformer.yaml: embedding 6, feed_forward 16, attention 30; with recomputation 1 and 4 more. */
    static const uint32_t n[][2] = {{16, 30}, {17, 34}};

    for (wl_passes passes = 0; passes <= WL_ALL_PASSES; passes++) {
        const uint32_t v = passes & recompute ? 1 : 0;

        dse_arena_init(&arena);
        err = (dse_error)DSE_ERROR_INIT;
        assert_ok(cfg_load(TEST_SOURCE "/configs/operators/transformer.yaml", &arena, &doc, &err), &err);
        assert_ok(wl_operators_resolve(&doc, passes, &arena, &ops, &err), &err);
        assert_int_equal(ops.n_entries, 3);
        assert_int_equal(ops.entry[0].part[0].block->n, 6);
        assert_int_equal(ops.entry[2].part[1].block->n, n[v][0]);
        assert_int_equal(ops.entry[2].part[0].block->n, n[v][1]);
        dse_arena_free(&arena);
    }
}

/* A kernel of attention: w is in the keys alone, and is summed over inside; half of it is masked. */
CLAIM(a_fused_kernel_sums_over_letters_of_one_operand)
{
    assert_ok(
        resolve(OP("y: {fused: \"x[bm] w[mn] -> bm\", by: 0.5, over: {b: B/dp, m: M, n: N/tp}}"), plain),
        &err);
    assert_int_equal(op(0, 0, 2)->kind, WL_OP_EINSUM);
    assert_double(op(0, 0, 2)->scale, 0.5);
    assert_shape(&op(0, 0, 2)->y_shape, "B/dp,M");
    assert_shape(&op(0, 0, 2)->y_reduced, "N/tp");
    dse_arena_free(&arena);
}

/* Taken from a table w[mn] by x[b], rows leave partial sums where the table is split; added up in one, those over b. */
CLAIM(a_lookup_takes_rows_or_adds_them_up)
{
    assert_ok(resolve(OP("y: {lookup: \"x[b] w[mn] -> bn\", over: {b: B/dp, m: M/tp, n: N}}\n"
                         "    dw: {lookup: \"x[b] y[bn] -> mn\", over: {b: B/dp, m: M/tp, n: N}}"),
                      plain),
              &err);
    assert_int_equal(op(0, 0, 2)->kind, WL_OP_LOOKUP);
    assert_shape(&op(0, 0, 2)->rows, "B/dp,N");
    assert_shape(&op(0, 0, 2)->y_shape, "B/dp,N");
    assert_shape(&op(0, 0, 2)->y_reduced, "M/tp");
    assert_shape(&op(0, 0, 3)->rows, "B/dp,N");
    assert_shape(&op(0, 0, 3)->y_shape, "M/tp,N");
    assert_shape(&op(0, 0, 3)->y_reduced, "B/dp");
    dse_arena_free(&arena);
}

CLAIM(products_adds_of_partial_sums_and_masks_have_figures_of_their_own)
{
    assert_ok(resolve(OP("y: {product: [x, x], by: 8, shape: act}\n    z: {product: [x, y], shape: act}\n"
                         "    a: {add: [x, y], shape: [B], partial: [M/tp]}\n"
                         "    m: {scale: x, by: 1, shape: act, stored: 0.5}"),
                      plain),
              &err);
    assert_int_equal(op(0, 0, 2)->kind, WL_OP_ADD);
    assert_double(op(0, 0, 2)->scale, 8);
    assert_double(op(0, 0, 3)->scale, 1);
    assert_shape(&op(0, 0, 4)->unsummed, "M/tp");
    assert_shape(&op(0, 0, 4)->y_reduced, "M/tp");
    assert_double(op(0, 0, 5)->stored, 0.5);
    assert_double(op(0, 0, 4)->stored, 1);
    dse_arena_free(&arena);
}

CLAIM(the_shipped_models_resolve_with_all_passes)
{
    /* Counted in the files: gpt 9, 59, 9; llama 5, 57, 9. With recomputation, of gpt's layer norm1, q, k, v, qk, p, mask_p, pd,
     * c, o, o_sum, mask_o, od, res, norm2, u, g, z, z_sum and mask_z; of llama's norm1, q0, k0, v, q, k, qk, c, o, res, norm2,
     * gate, up, silu and h. With sharded weights besides, gathered once for both, of gpt wq, wk, wv, wo, w1 and w2; of llama
     * all but the last of its matrices: z is not made again. */
    static const struct {
        const char *path;
        uint32_t n[3], recomputed, gathered;
    } models[] = {{TEST_SOURCE "/configs/operators/gpt.yaml", {9, 59, 9}, 20, 6},
                  {TEST_SOURCE "/configs/operators/llama.yaml", {5, 57, 9}, 15, 6}};

    for (wl_passes i = 0; i < 2 * (WL_ALL_PASSES + 1); i++) {
        const wl_passes passes = i & WL_ALL_PASSES;
        const uint32_t k = i / (WL_ALL_PASSES + 1);
        const uint32_t more =
            passes & recompute ? models[k].recomputed + (passes & sharded ? models[k].gathered : 0) : 0;

        dse_arena_init(&arena);
        err = (dse_error)DSE_ERROR_INIT;
        assert_ok(cfg_load(models[k].path, &arena, &doc, &err), &err);
        assert_ok(wl_operators_resolve(&doc, passes, &arena, &ops, &err), &err);
        assert_int_equal(ops.entry[0].part[0].block->n, models[k].n[0]);
        assert_int_equal(ops.entry[1].part[0].block->n, models[k].n[2]);
        assert_int_equal(ops.entry[2].part[0].block->n, models[k].n[1] + more);
        dse_arena_free(&arena);
    }
}

/* ---- refusals: the file ---------------------------------------------------------------------- */

CLAIM(an_operator_file_is_a_mapping_of_known_sections)
{
    refuse("^[1]\n", "an operator file is a mapping");
    refuse("^x: 1\n", "unknown key 'x'; known: symbols, shapes, blocks, recompute, model, links");
    refuse("^blocks: {}\n", "'symbols' is missing");
    refuse("symbols: ^[B]\n", "'symbols' must be a mapping");
    refuse("^symbols: {B: batch}\n", "'model' is missing");
    refuse("^symbols: {B: batch}\nmodel: {}\n", "'links' is missing");
    refuse("^symbols: {B: batch}\nmodel: {a: {block: t}}\n", "'blocks' is missing");
}

CLAIM(symbols_stand_for_parameters)
{
    refuse("symbols: {B: ^[x]}\nmodel: {}\nlinks: {}\n", "a symbol's parameter must be a name, not a list");
    /* 24 symbols in all, three of them dp, tp, sp. */
    refuse("symbols: ^{a: p, b: p, c: p, d: p, e: p, f: p, g: p, h: p, i: p, j: p, k: p, l: p, m: p, n: p, o: p, q: p, "
           "r: p, s: p, t: p, u: p, v: p, w: p}\n",
           "at most 21 symbols");
}

/* ---- refusals: blocks ------------------------------------------------------------------------ */

CLAIM(unknown_keys_of_an_operator_are_refused)
{
    refuse(OP("y: {input: act, ^colour: red}"),
           "unknown key 'colour'; known: input, weight, sharded, einsum, recompute, recompute_sharded, "
           "fused, lookup, over, add, partial, product, scale, by, stored, copy, reshape, from, to, shape, "
           "gradient_of, when, after");
    refuse(OP("y: ^{shape: act}"), "an operator is one of input, weight, einsum, fused, lookup, "
                                   "add, product, scale, copy, reshape");
    refuse(OP("y: ^act"), "an operator is a mapping");
}

CLAIM(lookups_products_and_partial_sums_are_checked)
{
    refuse(OP("y: {lookup: ^\"x[bm] w[mn] -> bn\", over: {b: B, m: M, n: N}}"),
           "a lookup reads \"ids[bs] w[vm] -> bsm\" or \"ids[bs] dy[bsm] -> vm\"");
    refuse(OP("y: {lookup: ^\"x[b] w[mn] -> b\", over: {b: B, m: M, n: N}}"),
           "a lookup reads \"ids[bs] w[vm] -> bsm\" or \"ids[bs] dy[bsm] -> vm\"");
    refuse(
        OP("y: {fused: ^\"x[abcdef] w[ghijkl] -> a\", over: {a: B, b: B, c: B, d: B, e: B, f: B, g: B, h: B, "
           "i: B, j: B, k: B, l: B}}"),
        "more than 6 letters are summed over");
    refuse(OP("y: {fused: \"x[bm] w[mn] -> bm\", by: ^half, over: {b: B, m: M, n: N}}"),
           "'by' must be a positive number");
    refuse(OP("y: {product: ^x, shape: act}"), "'product' takes two tensors");
    refuse(OP("y: {product: [x, x], by: ^0, shape: act}"), "'by' must be a positive number");
    refuse(OP("y: {scale: x, by: 1, stored: ^-1, shape: act}"), "'stored' must be a positive number");
    refuse(OP("y: {add: [x, x], shape: act, partial: ^5}"), "no shape is called '5'");
}

CLAIM(unknown_blocks_are_refused)
{
    refuse("symbols: {B: batch}\nblocks: {t: {}}\nmodel: {a: {block: ^u}}\nlinks: {}\n",
           "no block is called 'u'");
    refuse("symbols: {B: batch}\nblocks: {t: 5}\nmodel: {a: {block: ^t}}\nlinks: {}\n",
           "no block is called 't'");
    refuse("symbols: {B: batch}\nblocks: ^[t]\nmodel: {a: {block: t}}\nlinks: {}\n",
           "'blocks' must be a mapping");
}

CLAIM(unknown_tensors_are_refused)
{
    refuse(OP("y: {add: [x, ^q], shape: act}"), "no tensor 'q' in block 't'");
    refuse(OP("y: {scale: ^q, by: 5, shape: act}"), "no tensor 'q' in block 't'");
    refuse(OP("y: {copy: ^q, shape: act}"), "no tensor 'q' in block 't'");
    refuse(OP("y: {reshape: ^q, from: act, to: act}"), "no tensor 'q' in block 't'");
    refuse(OP("y: {einsum: ^\"q[bm] w[mn] -> bn\", over: {b: B, m: M, n: N}}"), "no tensor 'q' in block 't'");
    refuse(OP("y: {input: act, gradient_of: ^q}"), "no tensor 'q' in block 't'");
    refuse(OP("y: {input: act, after: ^q}"), "no tensor 'q' in block 't'");
}

/* `extra` is there with recomputation only: even then, an operator that always is may not read it. */
CLAIM(tensors_of_a_pass_are_refused_without_it)
{
    static const char text[] = OP("extra: {when: recompute, input: act}\n    y: {copy: ^extra, shape: act}");

    for (wl_passes passes = 0; passes <= WL_ALL_PASSES; passes++)
        refuse_in(text, passes, "the tensor 'extra' of block 't' is only there with recomputation");
    refuse_in(OP("extra: {input: act, gradient_of: ^later}\n    later: {when: recompute, input: act}"), both,
              "the tensor 'later' of block 't' is only there with recomputation");
    assert_ok(
        resolve(OP("extra: {when: recompute, input: act}\n    y: {when: recompute, copy: extra, shape: act}"),
                recompute),
        &err);
    dse_arena_free(&arena);
}

/* What is there for a pass alone is read whatever passes there are. */
CLAIM(errors_in_what_a_pass_replaces_are_found_without_it)
{
    refuse(
        OP("y: {einsum: \"x[bm] w[mn] -> bn\", recompute: ^\"q[bm] w[mn] -> bn\", over: {b: B, m: M, n: N}}"),
        "no tensor 'q' in block 't'");
    refuse(OP("y: {einsum: \"x[bm] w[mn] -> bn\", recompute_sharded: ^\"x[bm] -> bn\", over: {b: B, m: M, n: "
              "N}}"),
           "an einsum reads \"x[bsm] w[mn] -> bsn\"");
    refuse(OP("y: {weight: act, sharded: ^nothing}"), "no shape is called 'nothing'");
    refuse(OP("y: {when: recompute, input: ^nothing}"), "no shape is called 'nothing'");
}

CLAIM(shapes_are_checked)
{
    refuse(OP("y: {input: ^nothing}"), "no shape is called 'nothing'");
    refuse(OP("y: {input: ^[]}"), "a shape is a list of 1 to 6 dimensions");
    refuse(OP("y: {input: ^[B, B, B, B, B, B, B]}"), "a shape is a list of 1 to 6 dimensions");
    refuse(OP("y: {input: ^{B: M}}"), "a shape is a list of 1 to 6 dimensions");
    refuse(OP("y: {input: [B, ^[M]]}"), "a dimension must be a product of symbols");
    refuse(OP("y: {input: [B, ^Q/dp]}"), "'Q/dp' is not a dimension: unknown symbol 'Q'");
    refuse(OP("y: {input: [B, ^B+M]}"), "'B+M' is not a dimension: unexpected '+'");
    refuse(OP("y: ^{scale: x, by: 5}"), "'shape' is missing");
    refuse(OP("y: ^{reshape: x, from: act}"), "'reshape' needs 'from' and 'to'");
    refuse(OP("y: {weight: ^nothing}"), "no shape is called 'nothing'");
}

/* Letters are left alone: one edit makes any letter into any other. */
CLAIM(misspelt_names_get_the_nearest_one)
{
    refuse(OP("out: {input: act}\n    y: {copy: ^outt, shape: act}"),
           "no tensor 'outt' in block 't'; did you mean 'out'?");
    refuse(OP("y: {input: ^akt}"), "no shape is called 'akt'; did you mean 'act'?");
    refuse(OP("y: {input: [B, ^M/dq]}"),
           "'M/dq' is not a dimension: unknown symbol 'dq'; did you mean 'dp'?");
    refuse("symbols: {B: batch}\nblocks: {mlp: 5}\nmodel: {a: {block: ^mlp}}\nlinks: {}\n",
           "no block is called 'mlp'"); /* not itself */
    refuse(
        "symbols: {B: batch}\nblocks: {mlp: {}, attention: {}}\nmodel: {a: {block: ^atention}}\nlinks: {}\n",
        "no block is called 'atention'; did you mean 'attention'?");
}

CLAIM(einsums_are_checked)
{
    static const char reads[] = "an einsum reads \"x[bsm] w[mn] -> bsn\"";

#define EINSUM(text) OP("y: {einsum: ^\"" text "\", over: {b: B, m: M, n: N}}")
    refuse(EINSUM("x[bm]"), reads);
    refuse(EINSUM("x w -> bn"), reads);
    refuse(EINSUM("x[] w[mn] -> n"), reads);
    refuse(EINSUM("x[bm w[mn] -> bn"), reads);
    refuse(EINSUM("x[Bm] w[mn] -> bn"), reads);
    refuse(EINSUM("x[bm] w[mn] = bn"), reads);
    refuse(EINSUM("x[bm] w[mn] ->"), reads);
    refuse(EINSUM("x[bm] w[mn] -> "), reads);
    refuse(EINSUM("x[bmbmbmb] w[mn] -> bn"), reads);
    refuse(EINSUM("x[bm] w[mn] -> bnbnbnb"), reads);
    refuse(EINSUM("x[bm] w[mn] -> bz"), "the result's letter 'z' is in neither operand");
    refuse(EINSUM("x[bm] w[mn] -> b n"), "the result's letter ' ' is in neither operand");
    refuse(EINSUM("x[bm] w[nz] -> bn"), "'over' gives no dimension to the letter 'z'");
    refuse(EINSUM("x[bm] w[bn] -> bn"), "the letter 'm' is summed over but only in one operand");
#undef EINSUM
    refuse(OP("y: ^{einsum: \"x[bm] w[mn] -> bn\"}"), "'over' is missing");
    refuse(OP("y: {einsum: \"x[bm] w[mn] -> bn\", over: ^[b]}"), "'over' must be a mapping");
    refuse(OP("y: {einsum: \"x[bm] w[mn] -> bn\", over: {b: ^Q, m: M, n: N}}"),
           "'Q' is not a dimension: unknown symbol 'Q'");
    refuse(OP("y: {einsum: ^[x], over: {b: B}}"), "an einsum must be a name, not a list");
}

CLAIM(other_operators_are_checked)
{
    refuse(OP("y: {add: ^[x], shape: act}"), "'add' takes two tensors");
    refuse(OP("y: {add: ^x, shape: act}"), "'add' takes two tensors");
    refuse(OP("y: {add: [x, ^[w]], shape: act}"), "a tensor must be a name, not a list");
    refuse(OP("y: ^{scale: x, shape: act}"), "'by' must be a positive number");
    refuse(OP("y: {scale: x, by: ^0, shape: act}"), "'by' must be a positive number");
    refuse(OP("y: {scale: x, by: ^five, shape: act}"), "'by' must be a positive number");
    refuse(OP("y: {input: act, when: ^always}"), "'when' knows only 'recompute'");
    refuse(OP("y: {input: act, when: ^[recompute]}"), "'when' knows only 'recompute'");
}

/* ---- refusals: model and links ---------------------------------------------------------------- */

#define MODEL(text)                                                                                          \
    "symbols: {B: batch, M: model}\nblocks: {t: {x: {input: [B]}}}\nlinks: {}\nmodel: " text "\n"

CLAIM(entries_of_the_model_are_checked)
{
    refuse(MODEL("^[t]"), "'model' must be a mapping");
    refuse(MODEL("{a: ^t}"), "an entry of 'model' has either 'block' or 'blocks'");
    refuse(MODEL("{a: ^{place: first}}"), "an entry of 'model' has either 'block' or 'blocks'");
    refuse(MODEL("{a: ^{block: t, blocks: {b: t}}}"), "an entry of 'model' has either 'block' or 'blocks'");
    refuse(MODEL("{a: {blocks: ^[t]}}"), "'blocks' must be a mapping");
    refuse(MODEL("{a: {block: ^[t]}}"), "a block must be a name, not a list");
    refuse(MODEL("{a: {block: t, place: ^middle}}"), "'place' is first or last");
    refuse(MODEL("{a: {block: t, ^colour: red}}"),
           "unknown key 'colour'; known: block, blocks, place, rename, prefix");
    refuse(MODEL("{a: {block: t, rename: ^[B]}}"), "'rename' maps symbols to symbols");
    refuse(MODEL("{a: {block: t, rename: {^Q: B}}}"), "'Q' is not a dimension: unknown symbol 'Q'");
    refuse(MODEL("{a: {block: t, rename: {B: ^Q}}}"), "'Q' is not a dimension: unknown symbol 'Q'");
    refuse(MODEL("{a: {block: t, prefix: ^[x]}}"), "'prefix' must be a name, not a list");
}

#define LINKS(text)                                                                                          \
    "symbols: {B: batch}\nblocks: {t: {x: {input: [B]}}}\nmodel: {a: {block: t}}\nlinks: " text "\n"

CLAIM(links_are_checked)
{
    refuse(LINKS("^[x]"), "'links' must be a mapping");
    refuse(LINKS("{^middle_layer: {}}"),
           "unknown key 'middle_layer'; known: within_layer, first_layer, next_layer, last_layer, loss");
    refuse(LINKS("{loss: ^[x]}"), "'loss' must be a mapping");
    refuse(LINKS("{loss: {x: ^[y]}}"), "a link's target must be a name, not a list");
    refuse(LINKS("{loss: {min_layers: ^two}}"), "'min_layers' must be a whole number, not 'two'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(symbols_are_followed_by_dp_tp_sp),
        cmocka_unit_test(weights_have_another_shape_when_sharded),
        cmocka_unit_test(an_einsum_needs_and_leaves_the_shapes_of_its_letters),
        cmocka_unit_test(elementwise_operators_need_what_they_leave),
        cmocka_unit_test(operands_may_come_later_in_the_block),
        cmocka_unit_test(recomputation_adds_operators_and_replaces_einsums),
        cmocka_unit_test(what_is_made_of_a_gradient_is_one),
        cmocka_unit_test(entries_of_the_model_keep_their_order_and_places),
        cmocka_unit_test(links_are_listed_by_kind),
        cmocka_unit_test(the_transformer_resolves_with_all_passes),
        cmocka_unit_test(a_fused_kernel_sums_over_letters_of_one_operand),
        cmocka_unit_test(a_lookup_takes_rows_or_adds_them_up),
        cmocka_unit_test(products_adds_of_partial_sums_and_masks_have_figures_of_their_own),
        cmocka_unit_test(the_shipped_models_resolve_with_all_passes),
        cmocka_unit_test(an_operator_file_is_a_mapping_of_known_sections),
        cmocka_unit_test(symbols_stand_for_parameters),
        cmocka_unit_test(unknown_keys_of_an_operator_are_refused),
        cmocka_unit_test(lookups_products_and_partial_sums_are_checked),
        cmocka_unit_test(unknown_blocks_are_refused),
        cmocka_unit_test(unknown_tensors_are_refused),
        cmocka_unit_test(tensors_of_a_pass_are_refused_without_it),
        cmocka_unit_test(errors_in_what_a_pass_replaces_are_found_without_it),
        cmocka_unit_test(shapes_are_checked),
        cmocka_unit_test(misspelt_names_get_the_nearest_one),
        cmocka_unit_test(einsums_are_checked),
        cmocka_unit_test(other_operators_are_checked),
        cmocka_unit_test(entries_of_the_model_are_checked),
        cmocka_unit_test(links_are_checked),
    };
    return RUN_TESTS(tests);
}
