/* Passes: which ones a strategy asks for, in which order they run, and what recomputation makes of a block. */
#include "unit/unit.h"

#include "workload/pass.h"

static dse_arena arena;
static dse_error err;
static cfg_doc doc;
static wl_operators ops;

/* y = f(g(x w)), and r, which no gradient reads; x comes from elsewhere. */
#define BLOCK                                                                                                \
    "symbols: {B: batch, M: model}\n"                                                                        \
    "model: {a: {block: t}}\n"                                                                               \
    "links: {}\n"                                                                                            \
    "blocks:\n"                                                                                              \
    "  t:\n"                                                                                                 \
    "    x: {input: [B/dp, M]}\n"                                                                            \
    "    w: {weight: [M, M], sharded: [M/dp, M]}\n"                                                          \
    "    u: {einsum: \"x[bm] w[mn] -> bn\", over: {b: B/dp, m: M, n: M}}\n"                                  \
    "    g: {scale: u, by: 2, shape: [B/dp, M]}\n"                                                           \
    "    y: {scale: g, by: 3, shape: [B/dp, M]}\n"                                                           \
    "    r: {copy: y, shape: [B/dp, M]}\n"                                                                   \
    "    d_y: {input: [B/dp, M], gradient_of: y}\n"                                                          \
    "    d_g: {product: [d_y, g], shape: [B/dp, M], gradient_of: g}\n"                                       \
    "    d_w: {einsum: \"x[bm] d_g[bn] -> mn\", over: {b: B/dp, m: M, n: M}, gradient_of: w}\n"              \
    "    d_x: {einsum: \"d_g[bn] w[mn] -> bm\", over: {b: B/dp, m: M, n: M}, gradient_of: x}\n"
#define AGAIN BLOCK "recompute: {t: d_y}\n"

static void resolve(const char *text, bool recompute, bool sharded)
{
    dse_arena_init(&arena);
    err = (dse_error)DSE_ERROR_INIT;
    assert_ok(cfg_parse_yaml("f.yaml", text, strlen(text), &arena, &doc, &err), &err);
    assert_ok(wl_operators_resolve(&doc,
                                   (recompute ? WL_PASS_BIT(WL_PASS_RECOMPUTE) : 0) |
                                       (sharded ? WL_PASS_BIT(WL_PASS_WEIGHT_SHARD) : 0),
                                   &arena, &ops, &err),
              &err);
}

static const char *name_of(uint32_t i)
{
    return i == DSE_NONE ? "-" : ops.entry[0].part[0].block->op[i].name;
}

/* "d_g=d_y,g": each tensor with its operands, but for inputs. */
static void assert_block(const char *expected)
{
    const wl_block *b = ops.entry[0].part[0].block;
    dse_strbuf text;

    dse_strbuf_init(&text);
    for (uint32_t i = 0; i < b->n; i++)
        if (b->op[i].kind != WL_OP_INPUT)
            dse_strbuf_addf(&text, "%s%s=%s,%s", text.len ? " " : "", b->op[i].name, name_of(b->op[i].x1),
                            name_of(b->op[i].x2));
    assert_string_equal(text.data, expected);
    dse_strbuf_free(&text);
}

static const wl_operator *find(const char *name)
{
    const wl_block *b = ops.entry[0].part[0].block;

    for (uint32_t i = 0; i < b->n; i++)
        if (!strcmp(b->op[i].name, name))
            return &b->op[i];
    fail_msg("no tensor '%s'", name);
    return NULL;
}

/* Weights are sharded before the forward pass is made again of them. */
CLAIM(a_strategy_asks_for_the_passes_of_its_parameters)
{
    strategy s = strategy_default();

    assert_int_equal(wl_passes_of(&s), 0);
    for (uint32_t i = 0; i < WL_N_PASSES; i++) {
        s = strategy_default();
        strategy_set(&s, wl_pass_table[i].parameter, 1);
        assert_int_equal(wl_passes_of(&s), WL_PASS_BIT(i));
    }
    s.recompute = s.weight_sharded = 1;
    assert_int_equal(wl_passes_of(&s), WL_ALL_PASSES);
    assert_true(WL_PASS_WEIGHT_SHARD < WL_PASS_RECOMPUTE);
}

CLAIM(a_pass_leaves_the_block_that_it_is_given)
{
    const wl_block *read;

    resolve(AGAIN, false, false);
    assert_ok(wl_operators_read(&doc, &arena, &ops, &err), &err);
    read = ops.entry[0].part[0].block;
    for (uint32_t i = 0; i < WL_N_PASSES; i++) {
        const wl_block *made = wl_pass_table[i].apply(read, &arena);

        assert_ptr_not_equal(made, read);
        assert_ptr_not_equal(made->op, read->op);
    }
    assert_block("u=x,w g=u,- y=g,- r=y,- d_g=d_y,g d_w=x,d_g d_x=d_g,w");
    assert_false(find("w")->is_sharded);
    dse_arena_free(&arena);
}

CLAIM(without_recomputation_nothing_changes)
{
    resolve(AGAIN, false, true);
    assert_block("u=x,w g=u,- y=g,- r=y,- d_g=d_y,g d_w=x,d_g d_x=d_g,w");
    dse_arena_free(&arena);
    resolve(BLOCK, true, true); /* the file names no tensor */
    assert_block("u=x,w g=u,- y=g,- r=y,- d_g=d_y,g d_w=x,d_g d_x=d_g,w");
    dse_arena_free(&arena);
}

/* d_g reads g, which is made of u; y and r are read by no gradient; x and w are kept. */
CLAIM(what_gradients_read_is_made_again_of_inputs_and_weights)
{
    resolve(AGAIN, true, false);
    assert_block(
        "u=x,w g=u,- y=g,- r=y,- u_recomp=x,w g_recomp=u_recomp,- d_g=d_y,g_recomp d_w=x,d_g d_x=d_g,w");
    assert_int_equal(find("g_recomp")->makes, WL_TENSOR_RECOMPUTED);
    assert_string_equal(name_of(find("u_recomp")->after), "d_y");
    assert_string_equal(name_of(find("g_recomp")->after), "-"); /* it waits for u_recomp */
    assert_string_equal(name_of(find("d_y")->gradient_of), "y");
    assert_string_equal(name_of(find("d_w")->gradient_of), "w");
    assert_int_equal(find("d_g")->makes, WL_TENSOR_GRADIENT);
    assert_double(find("g_recomp")->scale, 2);
    dse_arena_free(&arena);
}

/* The copy of w is whole: the gathering in front of it serves u_recomp and d_x. */
CLAIM(a_sharded_weight_is_gathered_once_for_both)
{
    resolve(AGAIN, true, true);
    assert_block(
        "u=x,w g=u,- y=g,- r=y,- w_recomp=w,- u_recomp=x,w_recomp g_recomp=u_recomp,- d_g=d_y,g_recomp "
        "d_w=x,d_g d_x=d_g,w_recomp");
    assert_int_equal(find("w_recomp")->kind, WL_OP_COPY);
    assert_false(find("w_recomp")->is_weight);
    assert_true(wl_dim_equal(&find("w_recomp")->y_shape.dim[0], &find("u")->x2_shape.dim[0]));
    assert_string_equal(name_of(find("w_recomp")->after), "-");
    dse_arena_free(&arena);
}

CLAIM(the_tensor_that_it_waits_for_must_be_there)
{
    static const char text[] = BLOCK "recompute: {t: d_z}\n";

    dse_arena_init(&arena);
    err = (dse_error)DSE_ERROR_INIT;
    assert_ok(cfg_parse_yaml("f.yaml", text, strlen(text), &arena, &doc, &err), &err);
    assert_failure(wl_operators_read(&doc, &arena, &ops, &err), &err, DSE_E_CONFIG, "f.yaml:16:16",
                   "no tensor 'd_z' in block 't'; did you mean 'd_y'?");
    dse_arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_strategy_asks_for_the_passes_of_its_parameters),
        cmocka_unit_test(a_pass_leaves_the_block_that_it_is_given),
        cmocka_unit_test(without_recomputation_nothing_changes),
        cmocka_unit_test(what_gradients_read_is_made_again_of_inputs_and_weights),
        cmocka_unit_test(a_sharded_weight_is_gathered_once_for_both),
        cmocka_unit_test(the_tensor_that_it_waits_for_must_be_there),
    };

    return RUN_TESTS(tests);
}
