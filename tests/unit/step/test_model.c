/* What the file of a model may not say, with the place. */
#include "unit/step/small.h"

static dse_arena arena;

static int begin(void **state)
{
    (void)state;
    dse_arena_init(&arena);
    return 0;
}

static int end(void **state)
{
    (void)state;
    dse_arena_free(&arena);
    return 0;
}

/* The text of the small model with `what`, which it has, in place of `by`. */
static void refuse(const char *what, const char *by, const char *message)
{
    static const wl_symbols symbols = {5, {"H", "S", "V", "T", "F"}, {8, 4, 40, 2, 16}};
    const char *at = strstr(small_text, what);
    const char *text;
    dse_error err = DSE_ERROR_INIT;
    cfg_doc doc;
    step_model m;

    assert_non_null(at);
    text = dse_arena_printf(&arena, "%.*s%s%s", (int)(at - small_text), small_text, by, at + strlen(what));
    assert_ok(cfg_parse_yaml("small", text, strlen(text), &arena, &doc, &err), &err);
    assert_int_equal(step_model_read(&doc, &symbols, 1, &arena, &m, &err), DSE_E_CONFIG);
    assert_string_equal(dse_error_say(&err).text, message);
}

/* A misspelt key would else be one that is not there, which is allowed for some. */
CLAIM(unknown_keys_are_refused_wherever_they_stand)
{
    (void)state;
    refuse("sequence: S\n", "sequence: S\ndefines: {layer: [norm, qkv, down]}\n",
           "small:3:1: a model has no key 'defines'; did you mean 'define'?");
    refuse("sequence: S", "sequense: S", "small:2:1: a model has no key 'sequense'; did you mean 'sequence'?");
    refuse("  head:\n", "  tail: {norm: {norm: H}}\n  head:\n", "small:11:3: 'blocks' has no key 'tail'");
    refuse("sequence: S\n", "sequence: S\ndefine: {layers: [norm, qkv, down]}\n",
           "small:3:10: 'define' has no key 'layers'; did you mean 'layer'?");
    refuse("split: column}\n    attention", "splits: column}\n    attention",
           "small:8:27: a module has no key 'splits'; did you mean 'split'?");
}

CLAIM(what_is_missing_or_of_another_kind_is_refused)
{
    (void)state;
    refuse("hidden: H\n", "",
           "small:1:1: 'hidden' and 'sequence' are expected: the size of the hidden state and of a sequence");
    refuse("sequence: S\n", "sequence: S\ndefine: [layer]\n",
           "small:3:9: blocks are expected here, each with a list of its modules");
    refuse("sequence: S\n", "sequence: S\ndefine: {layer: qkv}\n", "small:3:17: a list of modules is expected here");
    refuse("sequence: S\n", "sequence: S\ndefine: {layer: [norm, down]}\n",
           "small:3:17: the list leaves out a module that has parameters");
    refuse("{norm: H}", "{normal: H}",
           "small:7:12: there is no such kind of module; configs/layers/gpt.yaml lists them");
    refuse("split: row", "split: rows", "small:10:35: column or row is expected here");
}

CLAIM(a_pattern_says_of_which_kind_each_layer_is)
{
    const step_model m = small_mixed_model("{first: [wide, layer], repeat: [layer, layer, wide]}", 7, &arena);
    static const uint8_t kinds[] = {0, 1, 1, 1, 0, 1, 1}; /* in the order in which they come first */

    (void)state;
    assert_int_equal(m.n_blocks, STEP_LAYER + 2);
    for (uint32_t i = 0; i < 7; i++)
        assert_int_equal(m.layer[i], STEP_LAYER + kinds[i]);
    assert_int_equal(step_block_times(&m, STEP_LAYER), 2);
    assert_int_equal(step_block_times(&m, (step_block_kind)(STEP_LAYER + 1)), 5);
    assert_u64(step_parameter_elements(&m.block[STEP_LAYER].parameter[2]), 256);
    assert_u64(step_parameter_elements(&m.block[STEP_LAYER + 1].parameter[2]), 128);
}

CLAIM(a_pattern_names_the_layers_of_the_file)
{
    (void)state;
    refuse("sequence: S\n", "sequence: S\npattern: {repeat: [layer, wide]}\n",
           "small:1:1: three blocks are expected: embedding, layer (or those of a pattern), head");
    refuse("sequence: S\n", "sequence: S\npattern: {repeat: [head]}\n", "small:3:20: this block is no layer");
    refuse("sequence: S\n", "sequence: S\npattern: {first: layer}\n",
           "small:3:18: a list of blocks is expected here, kinds of layers");
    refuse("sequence: S\n", "sequence: S\npattern: {last: [layer]}\n",
           "small:3:11: 'pattern' has no key 'last'");
    refuse("sequence: S\n", "sequence: S\npattern: [layer]\n",
           "small:3:10: lists of layers are expected here: first, repeat");
}

/* Of a model of so many layers: the layers of each stage, "2 3", or what is wrong. */
static const char *laid_out(const char *text, uint32_t n_layers, uint32_t n_mtp)
{
    step_model m = small_model(n_layers, &arena);
    dse_strbuf out = dse_strbuf_in(&arena);
    dse_error err = DSE_ERROR_INIT;

    if (n_mtp)
        step_model_add_mtp(&m, n_mtp, &arena);
    if (step_model_lay_out(&m, text, &arena, &err) != DSE_OK)
        return dse_arena_strdup(&arena, err.text);
    for (uint32_t i = 0, first = 0; i < m.n_laid_out; first += m.laid_out[i++]) {
        const step_stage s = step_stage_of(&m, i, m.n_laid_out);

        dse_strbuf_addf(&out, "%s%u", i ? " " : "", m.laid_out[i]);
        assert_int_equal(s.n_layers, m.laid_out[i]);
        assert_true(s.has_embedding == !i && s.has_head == (i + 1 == m.n_laid_out));
    }
    return out.data;
}

CLAIM(layers_by_stage_have_three_spellings)
{
    (void)state;
    assert_string_equal(laid_out("2,3", 5, 0), "2 3");
    assert_string_equal(laid_out("1,2x3,0", 7, 0), "1 2 2 2 0");
    assert_string_equal(laid_out("layers.2,layers.3", 5, 0), "2 1 2");
    assert_string_equal(laid_out("Ett|tttL", 5, 0), "2 3");
    assert_string_equal(laid_out("Et*3|(tt|)*3,tm|L", 10, 0),
                        "pipeline_layout 'Et*3|(tt|)*3,tm|L': layers that predict further tokens (m) are simulated in the "
                        "last stage alone, behind its others");
    assert_string_equal(laid_out("Et*3|(tt|)*3,tmL", 10, 1), "3 2 2 2 1");
    assert_string_equal(laid_out("E|((t|)*2,tt|)*2,L", 8, 0), "0 1 1 2 1 1 2 0");
    assert_string_equal(laid_out("2,2", 5, 0), "pipeline_layout '2,2': 4 layers in 2 stages, but the model has 5; the stages' "
                                               "layers must add up to these");
    assert_string_equal(laid_out("2,x", 5, 0), "pipeline_layout '2,x': numbers of layers by stage are expected, as 7,8x6,5");
    assert_string_equal(laid_out("Et*99999999999999999999L", 5, 0),
                        "pipeline_layout 'Et*99999999999999999999L': E, t, m, L and | are expected, with *n and groups in "
                        "brackets, as Et*3|(tt|)*6,tL");
    assert_string_equal(laid_out("((((((((((t))))))))))", 5, 0),
                        "pipeline_layout '((((((((((t))))))))))': E, t, m, L and | are expected, with *n and groups in "
                        "brackets, as Et*3|(tt|)*6,tL");
}

/* A layer that predicts further tokens has a kind of its own, and room for it behind all others. */
CLAIM(layers_with_a_spread_leave_room_for_one_that_predicts_further_tokens)
{
    static const double even[] = {0.5, 0.5};
    const double *share[STEP_MAX_KINDS];
    step_model m = small_model(STEP_MAX_KINDS, &arena), all = m;
    dse_error err = DSE_ERROR_INIT;

    (void)state;
    for (uint32_t i = 0; i < STEP_MAX_KINDS; i++)
        share[i] = even;
    assert_int_equal(step_model_spread(&all, share, &arena, &err), DSE_E_RANGE); /* and the kind that they had */
    share[0] = NULL;
    err = (dse_error)DSE_ERROR_INIT;
    assert_ok(step_model_spread(&m, share, &arena, &err), &err);
    assert_int_equal(m.n_blocks, STEP_LAYER + STEP_MAX_KINDS);
    step_model_add_mtp(&m, 1, &arena);
    assert_int_equal(m.n_blocks, STEP_MAX_BLOCKS);
    assert_int_equal(m.mtp_block, STEP_MAX_BLOCKS - 1);
}

/* Each stage has the blocks of its own layers: of layer, wide, wide, layer the first has one. */
CLAIM(a_stage_has_the_kinds_of_its_layers)
{
    step_model m = small_mixed_model("{first: [layer, wide, wide, layer]}", 4, &arena);
    step_stage s;

    (void)state;
    assert_int_equal(step_model_lay_out(&m, "1,3", &arena, NULL), DSE_OK);
    assert_true(step_stages_fit(&m, 2, false) && !step_stages_fit(&m, 4, false));
    s = step_stage_of(&m, 1, 2);
    assert_int_equal(s.n_blocks, 4);
    assert_int_equal(step_stage_block(&s, 0), STEP_LAYER + 1);
    assert_int_equal(step_stage_block(&s, 2), STEP_LAYER);
    assert_int_equal(step_stage_block(&s, 3), STEP_HEAD);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_pattern_says_of_which_kind_each_layer_is, begin, end),
        cmocka_unit_test_setup_teardown(a_pattern_names_the_layers_of_the_file, begin, end),
        cmocka_unit_test_setup_teardown(layers_by_stage_have_three_spellings, begin, end),
        cmocka_unit_test_setup_teardown(layers_with_a_spread_leave_room_for_one_that_predicts_further_tokens, begin, end),
        cmocka_unit_test_setup_teardown(a_stage_has_the_kinds_of_its_layers, begin, end),
        cmocka_unit_test_setup_teardown(unknown_keys_are_refused_wherever_they_stand, begin, end),
        cmocka_unit_test_setup_teardown(what_is_missing_or_of_another_kind_is_refused, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
