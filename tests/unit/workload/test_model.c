#include "unit/unit.h"

#include "workload/model.h"

static dse_arena arena;
static dse_error err;
static wl_operators ops;
static wl_model model;

/* A layer of two parts, and a part before and behind: small enough to count by hand.
 *
 *   in:  x w y dy dw          (5)
 *   out: the same             (5)
 *   layer: p: x y             (2)   q: x w dw (3) */
#define BLOCKS                                                                                               \
    "symbols: {B: batch}\n"                                                                                  \
    "blocks:\n"                                                                                              \
    "  emb: {x: {input: [B]}, w: {weight: [B]}, y: {scale: x, by: 1, shape: [B]}, dy: {input: [B]},\n"       \
    "        dw: {copy: dy, shape: [B], gradient_of: w}}\n"                                                  \
    "  pb: {x: {input: [B]}, y: {add: [x, x], shape: [B]}}\n"                                                \
    "  qb: {x: {input: [B]}, w: {weight: [B]}, dw: {scale: x, by: 2, shape: [B], gradient_of: w}}\n"         \
    "model:\n"                                                                                               \
    "  in: {block: emb, place: first}\n"                                                                     \
    "  out: {block: emb, place: last}\n"                                                                     \
    "  layer: {prefix: stack, blocks: {p: pb, q: qb}}\n"

static dse_status build(const char *text, uint32_t layers)
{
    cfg_doc doc;

    dse_arena_init(&arena);
    err = (dse_error)DSE_ERROR_INIT;
    assert_ok(cfg_parse_yaml("f.yaml", text, strlen(text), &arena, &doc, &err), &err);
    assert_ok(wl_operators_resolve(&doc, 0, &arena, &ops, &err), &err);
    return wl_model_build(&ops, layers, &arena, &model, &err);
}

static const wl_tensor *find(const char *name, uint32_t revision)
{
    for (uint32_t i = 0; i < model.n; i++)
        if (!strcmp(model.tensor[i].name, name) && model.tensor[i].revision == revision)
            return &model.tensor[i];
    fail_msg("no tensor %s@%u", name, revision);
    return NULL;
}

static void assert_linked(const char *to, const char *from)
{
    const wl_tensor *t = find(to, 0);

    assert_int_equal(t->kind, WL_OP_COPY);
    assert_string_equal(model.tensor[t->x1].name, from);
}

/* Two embeddings of 5, two layers of 2 + 3, and an update for each of the 2 + 2 weights. */
CLAIM(blocks_are_instantiated_layers_stacked_and_weights_updated)
{
    static const char *const names[] = {
        "in_x",        "in_w",         "in_y",         "in_dy",       "in_dw",       "out_x",
        "out_w",       "out_y",        "out_dy",       "out_dw",      "stack_0_p_x", "stack_0_p_y",
        "stack_0_q_x", "stack_0_q_w",  "stack_0_q_dw", "stack_1_p_x", "stack_1_p_y", "stack_1_q_x",
        "stack_1_q_w", "stack_1_q_dw", "in_w",         "out_w",       "stack_0_q_w", "stack_1_q_w"};

    assert_ok(build(BLOCKS "links: {}\n", 2), &err);
    assert_int_equal(model.n, sizeof names / sizeof names[0]);
    for (uint32_t i = 0; i < model.n; i++) {
        assert_string_equal(model.tensor[i].name, names[i]);
        assert_int_equal(model.tensor[i].revision, i >= 20);
    }
    dse_arena_free(&arena);
}

/* Place 0 is the first stage's, layer l has place l + 1, `last` place layers + 1. */
CLAIM(places_are_those_of_the_pipeline)
{
    assert_ok(build(BLOCKS "links: {}\n", 2), &err);
    assert_int_equal(find("in_x", 0)->place, 0);
    assert_int_equal(find("out_x", 0)->place, 3);
    assert_int_equal(find("stack_0_p_x", 0)->place, 1);
    assert_int_equal(find("stack_1_q_dw", 0)->place, 2);
    assert_int_equal(find("stack_1_q_w", 1)->place, 2); /* an update is with its weight */
    dse_arena_free(&arena);
}

CLAIM(operands_are_shifted_to_their_instance)
{
    const wl_tensor *t;

    assert_ok(build(BLOCKS "links: {}\n", 2), &err);
    t = find("stack_1_p_y", 0);
    assert_string_equal(model.tensor[t->x1].name, "stack_1_p_x");
    assert_string_equal(model.tensor[t->x2].name, "stack_1_p_x");
    t = find("stack_1_q_dw", 0);
    assert_string_equal(model.tensor[t->gradient_of].name, "stack_1_q_w");
    assert_int_equal(find("in_x", 0)->x1, DSE_NONE);
    dse_arena_free(&arena);
}

CLAIM(an_update_adds_the_gradient_in_the_shape_of_the_weight)
{
    const wl_tensor *t;

    assert_ok(build(BLOCKS "links: {}\n", 1), &err);
    t = find("stack_0_q_w", 1);
    assert_int_equal(t->kind, WL_OP_ADD);
    assert_string_equal(model.tensor[t->x1].name, "stack_0_q_w");
    assert_int_equal(model.tensor[t->x1].revision, 0);
    assert_string_equal(model.tensor[t->x2].name, "stack_0_q_dw");
    assert_int_equal(t->op->x2_shape.n, 1);
    assert_true(wl_dim_equal(&t->op->x2_shape.dim[0], &find("stack_0_q_w", 0)->op->y_shape.dim[0]));
    dse_arena_free(&arena);
}

CLAIM(a_model_may_have_no_layers)
{
    assert_ok(build(BLOCKS "links: {loss: {out_y: out_dy}}\n", 0), &err);
    assert_int_equal(model.n, 12); /* 5 + 5 and two updates */
    assert_int_equal(find("out_x", 0)->place, 1);
    assert_linked("out_dy", "out_y");
    dse_arena_free(&arena);
}

/* However long: nothing is cut off. */
CLAIM(long_prefixes_are_kept)
{
#define LONG "l0123456789012345678901234567890123456789012345678901234567890123456789"
    static const char text[] = "symbols: {B: batch}\nblocks: {t: {x: {input: [B]}}}\n"
                               "model: {layer: {prefix: " LONG ", blocks: {" LONG ": t}}}\nlinks: {}\n";

    assert_ok(build(text, 2), &err);
    assert_string_equal(model.tensor[1].name, LONG "_1_" LONG "_x");
    dse_arena_free(&arena);
}

/* ---- links --------------------------------------------------------------------------------- */

CLAIM(links_turn_inputs_into_copies)
{
    assert_ok(build(BLOCKS "links:\n"
                           "  within_layer: {p_y: q_x}\n"
                           "  first_layer: {in_y: p_x}\n"
                           "  next_layer: {q_dw: next_p_x}\n"
                           "  last_layer: {q_dw: out_x}\n"
                           "  loss: {out_y: out_dy}\n",
                    3),
              &err);
    assert_linked("stack_0_q_x", "stack_0_p_y");
    assert_linked("stack_1_q_x", "stack_1_p_y");
    assert_linked("stack_2_q_x", "stack_2_p_y");
    assert_linked("stack_0_p_x", "in_y");
    assert_linked("stack_1_p_x", "stack_0_q_dw");
    assert_linked("stack_2_p_x", "stack_1_q_dw");
    assert_linked("out_x", "stack_2_q_dw");
    assert_linked("out_dy", "out_y");
    assert_int_equal(find("in_dy", 0)->kind, WL_OP_INPUT); /* linked by nobody */
    dse_arena_free(&arena);
}

CLAIM(links_of_few_layers_are_left_out)
{
    static const char text[] = BLOCKS "links: {last_layer: {min_layers: 2, q_dw: out_x}}\n";

    assert_ok(build(text, 1), &err);
    assert_int_equal(find("out_x", 0)->kind, WL_OP_INPUT);
    dse_arena_free(&arena);
    assert_ok(build(text, 2), &err);
    assert_linked("out_x", "stack_1_q_dw");
    dse_arena_free(&arena);
}

/* BLOCKS and a line of links: what the error must name stands at `column` of it. */
static void refuse_links(const char *links, uint32_t layers, int column, const char *message)
{
    char text[2000], where[40];
    int line = 1;

    snprintf(text, sizeof text, "%s%s", BLOCKS, links);
    for (const char *p = BLOCKS; *p; p++)
        line += *p == '\n';
    snprintf(where, sizeof where, "f.yaml:%d:%d", line, column);
    assert_failure(build(text, layers), &err, DSE_E_CONFIG, where, message);
    dse_arena_free(&arena);
}

CLAIM(links_to_tensors_that_do_not_exist_are_refused)
{
    refuse_links("links: {loss: {out_z: out_dy}}\n", 1, 16,
                 "links: no tensor is called 'out_z'; did you mean 'out_x'?");
    refuse_links("links: {within_layer: {p_y: nothing_x}}\n", 1, 29,
                 "links: no tensor is called 'nothing_x'");
    refuse_links("links: {loss: {next_: out_dy}}\n", 1, 16, "links: no tensor is called 'next_'");
    /* It is the name behind the "next_" that is misspelt. */
    refuse_links("links: {next_layer: {q_dw: next_p_xx}}\n", 2, 28,
                 "links: no tensor is called 'next_p_xx'; did you mean 'p_x'?");
}

CLAIM(links_beyond_the_last_layer_are_refused)
{
    refuse_links("links: {last_layer: {q_dw: next_p_x}}\n", 2, 28,
                 "links: no tensor is called 'next_p_x' here: the model has 2 layers");
    refuse_links("links: {last_layer: {q_dw: next_next_next_p_x}}\n", 2, 28,
                 "links: no tensor is called 'next_next_next_p_x' here: the model has 2 layers");
    refuse_links("links: {first_layer: {next_p_y: out_x}}\n", 1, 23,
                 "links: no tensor is called 'next_p_y' here: the model has 1 layer");
    refuse_links("links: {within_layer: {p_y: next_q_x}}\n", 2, 29,
                 "links: no tensor is called 'next_q_x' here: the model has 2 layers");
    refuse_links("links: {loss: {out_y: p_x}}\n", 0, 23,
                 "links: no tensor is called 'p_x' here: the model has 0 layers");
}

CLAIM(links_may_go_on_by_several_layers)
{
    assert_ok(build(BLOCKS "links: {first_layer: {p_y: next_next_p_x}, loss: {next_p_y: q_x}}\n", 3), &err);
    assert_linked("stack_2_p_x", "stack_0_p_y");
    assert_linked("stack_0_q_x", "stack_1_p_y");
    dse_arena_free(&arena);
}

CLAIM(only_a_free_input_can_be_linked)
{
    refuse_links("links: {loss: {out_y: out_w}}\n", 1, 23,
                 "links: 'out_w' is not a free input"); /* a weight */
    refuse_links("links: {loss: {out_dy: out_y}}\n", 1, 24,
                 "links: 'out_y' is not a free input"); /* somebody makes it */
    refuse_links("links: {loss: {out_y: out_dy, in_y: out_dy}}\n", 1, 37,
                 "links: 'out_dy' is not a free input"); /* linked already */
}

CLAIM(a_weight_without_a_gradient_is_refused)
{
    assert_failure(
        build("symbols: {B: batch}\nblocks: {t: {w: {weight: [B]}}}\nmodel: {a: {block: t}}\nlinks: {}\n", 1),
        &err, DSE_E_CONFIG, "f.yaml", "the weight 'a_w' has no gradient");
    dse_arena_free(&arena);
}

/* A layer makes 5 tensors and an update: a tenth of 2^32 of them is too many. */
CLAIM(too_many_layers_are_refused)
{
    assert_failure(build(BLOCKS "links: {}\n", UINT32_MAX), &err, DSE_E_RANGE, "",
                   "4294967295 layers make too many tensors");
    dse_arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_instantiated_layers_stacked_and_weights_updated),
        cmocka_unit_test(places_are_those_of_the_pipeline),
        cmocka_unit_test(operands_are_shifted_to_their_instance),
        cmocka_unit_test(an_update_adds_the_gradient_in_the_shape_of_the_weight),
        cmocka_unit_test(a_model_may_have_no_layers),
        cmocka_unit_test(long_prefixes_are_kept),
        cmocka_unit_test(links_turn_inputs_into_copies),
        cmocka_unit_test(links_of_few_layers_are_left_out),
        cmocka_unit_test(links_to_tensors_that_do_not_exist_are_refused),
        cmocka_unit_test(links_beyond_the_last_layer_are_refused),
        cmocka_unit_test(links_may_go_on_by_several_layers),
        cmocka_unit_test(only_a_free_input_can_be_linked),
        cmocka_unit_test(a_weight_without_a_gradient_is_refused),
        cmocka_unit_test(too_many_layers_are_refused),
    };
    return RUN_TESTS(tests);
}
