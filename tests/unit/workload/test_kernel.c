/* What computations are, and their shapes: by hand. */
#include "unit/unit.h"

#include "support/wl_strategy.h"
#include "workload/generate.h"

static dse_arena arena;
static dse_error err;
static wl_workload made;

/* The generated workload of an operator file, of a tenth of the sizes of a real model; `layers` of it. */
static void generate(const char *file, const wl_symbols *sizes, wl_strategy s)
{
    char path[256];
    cfg_doc doc;

    dse_arena_init(&arena);
    err = (dse_error)DSE_ERROR_INIT;
    snprintf(path, sizeof path, TEST_SOURCE "/configs/operators/%s.yaml", file);
    assert_ok(cfg_load(path, &arena, &doc, &err), &err);
    assert_ok(wl_generate(&doc, sizes, 1, &s, &arena, &made, &err), &err);
}

static void done(void) { dse_arena_free(&arena); }

static wl_kernel kernel_of(const char *node)
{
    const wl_graph *g = &made.graph[0];
    uint32_t i = 0;

    while (i < g->n_nodes && strcmp(g->node[i].name, node) != 0)
        i++;
    if (i == g->n_nodes)
        fail_msg("no node is called '%s'", node);
    assert_u64(g->kernel[g->kernel_of[i]].operations, g->node[i].num_ops);
    assert_u64(g->kernel[g->kernel_of[i]].bytes, g->node[i].tensor_size);
    return wl_node_kernel(g, i);
}

static void assert_kernel(const char *node, wl_kernel_class class, uint64_t m, uint64_t n, uint64_t k,
                          uint64_t batch)
{
    const wl_kernel x = kernel_of(node);

    assert_string_equal(wl_kernel_class_name(x.class), wl_kernel_class_name(class));
    assert_u64(x.extent[WL_EXTENT_M], m);
    assert_u64(x.extent[WL_EXTENT_N], n);
    assert_u64(x.extent[WL_EXTENT_K], k);
    assert_u64(x.extent[WL_EXTENT_BATCH], batch);
}

static const wl_symbols transformer = {
    7, {"Batch", "Seq", "Din", "Dout", "Dmodel", "Dff", "Head"}, {8, 16, 100, 100, 32, 128, 4}};
static const wl_symbols llama = {
    7, {"Batch", "Seq", "Vocab", "Dmodel", "Dff", "Head", "KvHead"}, {8, 16, 100, 32, 128, 4, 2}};

/* A rank has 8 / 2 sequences, and half of 4 heads. */
CLAIM(products_have_the_extents_of_their_letters)
{
    generate("transformer", &transformer, WL_STRATEGY(.dp = 2, .tp = 2, .sp = 1, .pp = 1));
    assert_kernel("stack_0_ffn_x1@0_COMP", WL_KERNEL_MATMUL, 4 * 16, 128 / 2, 32, 1);
    assert_kernel("stack_0_ffn_dw1@0_COMP", WL_KERNEL_MATMUL, 128 / 2, 32, 4 * 16, 1);
    assert_kernel("stack_0_mha_q@0_COMP", WL_KERNEL_MATMUL, 4 * 16, 8 * 2, 32, 1);
    /* every query with every key, of each sequence and head */
    assert_kernel("stack_0_mha_qk@0_COMP", WL_KERNEL_ATTENTION, 16, 16, 8, 4 * 2);
    assert_kernel("stack_0_mha_qkv@0_COMP", WL_KERNEL_ATTENTION, 16, 8, 16, 4 * 2);
    assert_kernel("stack_0_mha_d_k@0_COMP", WL_KERNEL_ATTENTION, 16, 8, 16, 4 * 2);
    done();
}

CLAIM(what_is_no_product_has_a_number_of_elements)
{
    generate("transformer", &transformer, WL_STRATEGY(.dp = 2, .tp = 2, .sp = 1, .pp = 1));
    assert_kernel("stack_0_ffn_res@0_COMP", WL_KERNEL_ELEMENTWISE, 4 * 16 * 16, 1, 1, 1);
    assert_kernel("stack_0_ffn_norm@0_COMP", WL_KERNEL_NORMALISATION, 4 * 16 * 16, 1, 1, 1);
    assert_kernel("stack_0_ffn_dres@0_COMP", WL_KERNEL_NORMALISATION, 4 * 16 * 16, 1, 1, 1);
    assert_kernel("stack_0_ffn_w1@1_COMP", WL_KERNEL_OPTIMIZER, 32 * 64, 1, 1, 1);
    done();
    generate("llama", &llama, WL_STRATEGY(.dp = 2, .tp = 1, .sp = 1, .pp = 1));
    assert_kernel("in_emb_y@0_COMP", WL_KERNEL_LOOKUP, 4 * 16 * 32, 1, 1, 1);
    assert_kernel("stack_0_layer_norm1@0_COMP", WL_KERNEL_NORMALISATION, 4 * 16 * 32, 1, 1, 1);
    assert_kernel("stack_0_layer_d_x1@0_COMP", WL_KERNEL_NORMALISATION, 4 * 16 * 32, 1, 1, 1);
    assert_kernel("stack_0_layer_d_norm1@0_COMP", WL_KERNEL_ELEMENTWISE, 4 * 16 * 32, 1, 1, 1);
    assert_kernel("stack_0_layer_silu@0_COMP", WL_KERNEL_ELEMENTWISE, 4 * 16 * 128, 1, 1, 1);
    done();
}

/* A gathered weight is a weight still; an activation that is made again is attended to as before. */
CLAIM(recomputation_and_sharded_weights_change_no_class)
{
    generate("llama", &llama,
             WL_STRATEGY(.dp = 2, .tp = 1, .sp = 1, .pp = 1, .recompute = true, .weight_sharded = true));
    assert_kernel("stack_0_layer_gate_recomp@0_COMP", WL_KERNEL_MATMUL, 4 * 16, 128, 32, 1);
    assert_kernel("stack_0_layer_d_nq@0_COMP", WL_KERNEL_MATMUL, 4 * 16, 32, 8 * 2 * 2, 1);
    /* fused: the keys that one operand alone has are summed over */
    assert_kernel("stack_0_layer_qk_recomp@0_COMP", WL_KERNEL_ATTENTION, 16 * 2, 1, 16, 4 * 8 * 2);
    assert_kernel("stack_0_layer_norm1_recomp@0_COMP", WL_KERNEL_NORMALISATION, 4 * 16 * 32, 1, 1, 1);
    done();
}

/* With a precision elements have bytes, and a multiply-add is two operations. */
CLAIM(a_precision_gives_elements_bytes)
{
    wl_kernel plain, precise;

    generate("transformer", &transformer, WL_STRATEGY(.dp = 1, .tp = 1, .sp = 1, .pp = 1));
    plain = kernel_of("stack_0_ffn_x1@0_COMP");
    done();
    generate("transformer", &transformer,
             WL_STRATEGY(.dp = 1, .tp = 1, .sp = 1, .pp = 1, .precision = {2, 2, 2, 12, 2}));
    precise = kernel_of("stack_0_ffn_x1@0_COMP");
    done();
    assert_true(plain.element_bytes < 1 && precise.element_bytes > 1 && precise.element_bytes < 3);
    assert_u64(precise.operations, 2 * plain.operations);
    assert_u64(precise.bytes, 2 * plain.bytes);
}

/* Reading the file ends; that nothing makes the tensors is for the generator to say. */
CLAIM(copies_of_each_other_are_no_weight)
{
    static const char text[] = "symbols: {B: batch}\n"
                               "model: {a: {block: t}}\n"
                               "links: {}\n"
                               "blocks:\n"
                               "  t:\n"
                               "    a: {copy: b, shape: [B]}\n"
                               "    b: {copy: a, shape: [B]}\n"
                               "    y: {einsum: \"a[b] b[b] -> b\", over: {b: B}}\n";
    wl_operators ops;
    cfg_doc doc;

    dse_arena_init(&arena);
    err = (dse_error)DSE_ERROR_INIT;
    assert_ok(cfg_parse_yaml("f.yaml", text, strlen(text), &arena, &doc, &err), &err);
    assert_ok(wl_operators_resolve(&doc, 0, &arena, &ops, &err), &err);
    assert_int_equal(ops.entry[0].part[0].block->op[2].class, WL_KERNEL_ATTENTION);
    done();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_have_the_extents_of_their_letters),
        cmocka_unit_test(what_is_no_product_has_a_number_of_elements),
        cmocka_unit_test(recomputation_and_sharded_weights_change_no_class),
        cmocka_unit_test(a_precision_gives_elements_bytes),
        cmocka_unit_test(copies_of_each_other_are_no_weight),
    };

    return RUN_TESTS(tests);
}
