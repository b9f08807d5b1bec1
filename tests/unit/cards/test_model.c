/* Model cards: what a precision, a placement and grouped keys may be, and what is stored of them. */
#include "cards/model.h"
#include "unit/unit.h"

static dse_arena arena;
static dse_error err;
static card_model m;

#define SIZES "vocabulary: 100\nd_model: 8\nd_ff: 32\nheads: 2\nlayers: 1\nbatch: 2\nsequence: 4\n"

static int set_up(void **state)
{
    (void)state;
    dse_arena_init(&arena);
    err = (dse_error)DSE_ERROR_INIT;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    dse_arena_free(&arena);
    return 0;
}

static dse_status read_set(const char *precision, const cfg_setting *set, size_t n)
{
    const cfg_settings settings = {n, set};
    char text[512];
    cfg_doc doc;
    dse_status st;

    snprintf(text, sizeof text, SIZES "%s", precision);
    err = (dse_error)DSE_ERROR_INIT;
    st = cfg_parse_yaml("m.yaml", text, strlen(text), &arena, &doc, &err);
    return st == DSE_OK ? card_model_read(&doc, &settings, &m, &err) : st;
}

static dse_status read_card(const char *precision) { return read_set(precision, NULL, 0); }

static void assert_numbers(double weights, double activations, double gradients, double optimizer,
                           double messages)
{
    const wl_precision p = card_model_precision(&m);

    assert_double(p.weights, weights);
    assert_double(p.activations, activations);
    assert_double(p.gradients, gradients);
    assert_double(p.optimizer, optimizer);
    assert_double(p.messages, messages);
}

/* As it is stored; in the arena. */
static const char *stored(void)
{
    const card_model out = card_model_spelled_out(&m);
    const char *text;
    dse_strbuf b;
    dse_json j;

    dse_strbuf_init(&b);
    dse_json_init(&j, &b);
    cfg_table_write_json(&card_model_table, &out, &j);
    text = dse_arena_strdup(&arena, b.data);
    dse_strbuf_free(&b);
    return text;
}

CLAIM(none_is_the_default_and_leaves_no_trace)
{
    const char *before;

    assert_ok(read_card(""), &err);
    assert_numbers(0, 0, 0, 0, 0);
    before = stored();
    assert_null(strstr(before, "precision"));
    assert_ok(read_card("precision: none\n"), &err);
    assert_numbers(0, 0, 0, 0, 0);
    assert_string_equal(stored(), before);
    assert_ok(read_card("precision:\n"), &err); /* its lines are all comments */
    assert_string_equal(stored(), before);
}

/* Adam's two moments, of 4 bytes or, in bf16, of 2; and with mixed precision a copy of the weights of 4. */
CLAIM(a_word_stands_for_five_numbers)
{
    assert_ok(read_card("precision: mixed\n"), &err);
    assert_numbers(2, 2, 2, 4 + 4 + 4, 2);
    assert_ok(read_card("precision: bf16\n"), &err);
    assert_numbers(2, 2, 2, 2 + 2, 2);
    assert_ok(read_card("precision: fp32\n"), &err);
    assert_numbers(4, 4, 4, 4 + 4, 4);
    assert_failure(read_card("precision: fp8\n"), &err, DSE_E_CONFIG, "m.yaml:8:12",
                   "precision: unknown 'fp8'; known: none, mixed, bf16, fp32");
}

CLAIM(a_mapping_has_all_of_them_and_half_a_byte_is_one)
{
    assert_ok(
        read_card("precision: {weights: 0.5, activations: 2, gradients: 1, optimizer: 0, messages: 4}\n"),
        &err);
    assert_numbers(0.5, 2, 1, 0, 4);
    assert_ok(read_card("precision.weights: 1\nprecision.activations: 2\nprecision.gradients: 3\n"
                        "precision.optimizer: 4\nprecision.messages: 5\n"),
              &err);
    assert_numbers(1, 2, 3, 4, 5);
}

CLAIM(a_mapping_that_lacks_one_is_refused_and_names_it)
{
    assert_failure(
        read_card("precision: {weights: 2, activations: 2, optimizer: 12, messages: 2}\n"), &err,
        DSE_E_CONFIG, "m.yaml",
        "the model card lacks 'precision.gradients' (bytes of an element of the gradients of weights); no "
        "default is invented: give all five numbers, or a word: precision: mixed, bf16 or fp32");
    assert_failure(
        read_card("precision: {weights: 0, activations: 2, gradients: 2, optimizer: 12, messages: 2}\n"),
        &err, DSE_E_RANGE, "m.yaml:8:22", "precision.weights is 0; it must be between 0.125 and 64 B");
    assert_failure(read_card("precision: [2, 2]\n"), &err, DSE_E_CONFIG, "m.yaml:8:12",
                   "precision must be a name, not a list");
    assert_failure(read_card("precision: {weight: 2}\n"), &err, DSE_E_CONFIG, "m.yaml:8:13",
                   "unknown key 'precision.weight' in a model card; did you mean 'precision.weights'?");
}

CLAIM(a_number_is_set_over_a_word_and_a_word_over_all_numbers)
{
    static const cfg_setting number[] = {{"precision.optimizer", "6"}}, word[] = {{"precision", "bf16"}},
                             both[] = {{"precision", "mixed"}, {"precision.messages", "4"}},
                             none[] = {{"precision", "none"}};
    static const char mapping[] =
        "precision: {weights: 1, activations: 1, gradients: 1, optimizer: 1, messages: 1}\n";

    assert_ok(read_set("precision: mixed\n", number, 1), &err);
    assert_numbers(2, 2, 2, 6, 2);
    assert_ok(read_set(mapping, number, 1), &err);
    assert_numbers(1, 1, 1, 6, 1);
    assert_ok(read_set(mapping, word, 1), &err);
    assert_numbers(2, 2, 2, 4, 2);
    assert_ok(read_set("precision: fp32\n", both, 2), &err);
    assert_numbers(2, 2, 2, 12, 4);
    assert_ok(read_set(mapping, none, 1), &err);
    assert_numbers(0, 0, 0, 0, 0);
    assert_null(strstr(stored(), "precision"));
    assert_failure(
        read_set("", number, 1), &err, DSE_E_CONFIG, "m.yaml",
        "the model card lacks 'precision.weights' (bytes of an element of the weights); no default is "
        "invented: give all five numbers, or a word: precision: mixed, bf16 or fp32");
}

CLAIM(what_is_stored_are_the_numbers_and_reads_back_as_itself)
{
    const char *text;
    cfg_doc doc;

    assert_ok(read_card("precision: mixed\n"), &err);
    text = stored();
    assert_non_null(strstr(text,
                           "\"precision.weights\":2,\"precision.activations\":2,\"precision.gradients\":2,"
                           "\"precision.optimizer\":12,\"precision.messages\":2}"));
    assert_ok(cfg_parse_json("stored", text, strlen(text), &arena, &doc, &err), &err);
    assert_ok(card_model_read(&doc, NULL, &m, &err), &err);
    assert_numbers(2, 2, 2, 12, 2);
    assert_string_equal(stored(), text);
}

CLAIM(grouped_keys_are_stored_unless_they_are_the_default)
{
    assert_ok(read_card("kv_heads: 0\n"), &err);
    assert_null(strstr(stored(), "kv_heads"));
    assert_ok(read_card("kv_heads: 1\n"), &err);
    assert_non_null(strstr(stored(), "\"kv_heads\":1"));
}

/* They are part of each point, and of no model's text. */
CLAIM(a_card_may_still_say_parameters_of_the_strategy)
{
    char order[STRATEGY_VALUE_MAX];
    strategy p;

    assert_ok(read_card(""), &err);
    assert_int_equal(card_model_strategy(&m).placement, 0);
    assert_int_equal(card_model_strategy(&m).stages, 0);
    assert_ok(read_card("placement: tp,sp,dp,pp\nstages: neighbours\n"), &err);
    p = card_model_strategy(&m);
    assert_string_equal(strategy_print(&strategy_parameters[STRATEGY_placement], p.placement, order),
                        "tp-sp-dp-pp");
    assert_int_equal(p.stages, 1);
    assert_null(strstr(stored(), "placement"));
    assert_null(strstr(stored(), "stages"));
    assert_failure(read_card("placement: tp,sp,dp\n"), &err, DSE_E_CONFIG, "m.yaml:8:12",
                   "placement: it takes an order such as dp-tp-sp-pp: each axis once, the innermost first; "
                   "not 'tp,sp,dp'");
}

/* Of an operator file with the symbols H: heads and G: kv_heads; there are 2 heads. */
CLAIM(without_grouped_keys_there_is_one_for_each_head)
{
    static const char text[] = "symbols: {H: heads, G: kv_heads}\n";
    wl_symbols symbols;
    cfg_doc operators;

    assert_ok(cfg_parse_yaml("o.yaml", text, strlen(text), &arena, &operators, &err), &err);
    assert_ok(read_card(""), &err);
    assert_ok(card_model_symbols(&m, &operators, &symbols, &err), &err);
    assert_int_equal(symbols.value[1], 2);
    assert_ok(read_card("kv_heads: 1\n"), &err);
    assert_ok(card_model_symbols(&m, &operators, &symbols, &err), &err);
    assert_int_equal(symbols.value[0], 2);
    assert_int_equal(symbols.value[1], 1);
    assert_ok(read_card("kv_heads: 3\n"), &err);
    assert_failure(card_model_symbols(&m, &operators, &symbols, &err), &err, DSE_E_CONFIG, "",
                   "kv_heads 3 does not divide heads 2; each key and value is shared by as many heads");
}

/* Published counts, 1e9 (of the papers and releases that the cards name; of most also counted in ../shared/reference/models):
 * with their embeddings, without biases, norms and positions, which are less than two hundredths. */
CLAIM(shipped_models_have_as_many_parameters_as_published)
{
    static const struct {
        const char *name;
        double parameters;
    } models[] = {
        {"llama-2-7b", 6.74},       {"llama-2-13b", 13.02}, {"llama-2-34b", 33.74},
        {"llama-2-70b", 68.98},     {"llama-3.2-1b", 1.24}, {"llama-3.2-3b", 3.21},
        {"gpt3-126m", 0.124},       {"gpt3-1.3b", 1.31},    {"gpt3-5b", 5.04},
        {"gpt3-6.7b", 6.65},        {"gpt3-13b", 12.85},    {"gpt3-20b", 20.2},
        {"nemotron-8b", 8.5},       {"nemotron-15b", 15.6}, {"nemotron-22b", 21.3},
        {"nemotron-340b", 341},     {"mistral-7b", 7.24},   {"mistral-nemo-12b", 12.25},
        {"qwen2.5-7b", 7.62},       {"qwen2.5-14b", 14.77}, {"qwen2.5-32b", 32.76},
        {"qwen2.5-72b", 72.7},      {"qwen3-4b", 4.02},     {"qwen3-8b", 8.19},
        {"qwen3-14b", 14.77},       {"qwen3-32b", 32.76},   {"gemma-2b", 2.51},
        {"gemma-7b", 8.54},         {"gemma-2-9b", 9.24},   {"gemma-2-27b", 27.2},
        {"gemma-2-2b", 2.61},       {"gemma-3-4b", 3.88},   {"gemma-3-12b", 11.77},
        {"gemma-3-27b", 27.01},     {"phi-4", 14.66},       {"olmo-2-13b", 13.7},
        {"llama-65b", 65.2},        {"qwen2.5-1.5b", 1.54}, {"qwen2.5-3b", 3.09},
        {"qwen3-0.6b", 0.596},      {"qwen3-1.7b", 1.72},
        {"falcon-40b", 41.3},       {"falcon-180b", 178.6}, {"mpt-125m", 0.124},
        {"mpt-350m", 0.355},        {"mpt-760m", 0.76},     {"mpt-1b", 1.32},
        {"mpt-3b", 2.65},           {"mpt-7b", 6.66},       {"mpt-13b", 12.86},
        {"mpt-30b", 29.98},         {"mpt-70b", 64.86},     {"bloom-7b1", 7.07},
        {"bloom-176b", 176.25},     {"internlm-7b", 7.32},  {"palm-62b", 62.5},
        {"palm-540b", 540.35},      {"llama-3.1-8b", 8.03}, {"llama-3.1-70b", 70.55},
        {"llama-3.1-405b", 405.85}, {"gpt3-175b", 174.6},   {"turing-530b", 529.6},
        {"megatron-22b", 22.07},    {"megatron-1t", 1008},
    };

    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++) {
        char path[512];
        double d, head, heads, kv, attention, n, matrices;
        cfg_doc doc;

        snprintf(path, sizeof path, TEST_SOURCE "/configs/models/%s.yaml", models[i].name);
        assert_ok(cfg_load(path, &arena, &doc, &err), &err);
        assert_ok(card_model_read(&doc, NULL, &m, &err), &err);
        matrices = m.gate || !strcmp(m.operators, "llama") ? 3 : 2;
        d = (double)m.d_model;
        heads = (double)m.heads;
        kv = m.kv_heads ? (double)m.kv_heads : heads;
        head = m.head_dim ? (double)m.head_dim : d / heads;
        attention = 2 * d * head * (heads + kv);
        n = (double)m.layers * (attention + matrices * d * (double)m.d_ff);
        n += (double)m.vocabulary * d * (m.tied_embeddings ? 1 : 2);
        if (!strncmp(models[i].name, "megatron-", 9)) /* as Megatron-LM has it by default, and the reference counts it */
            assert_true(m.tied_embeddings);
        if (!(fabs(n / 1e9 / models[i].parameters - 1) < 0.02))
            fail_msg("%s has %g", models[i].name, n / 1e9);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(none_is_the_default_and_leaves_no_trace),
        TEST(a_word_stands_for_five_numbers),
        TEST(a_mapping_has_all_of_them_and_half_a_byte_is_one),
        TEST(a_mapping_that_lacks_one_is_refused_and_names_it),
        TEST(a_number_is_set_over_a_word_and_a_word_over_all_numbers),
        TEST(what_is_stored_are_the_numbers_and_reads_back_as_itself),
        TEST(grouped_keys_are_stored_unless_they_are_the_default),
        TEST(a_card_may_still_say_parameters_of_the_strategy),
        TEST(without_grouped_keys_there_is_one_for_each_head),
        TEST(shipped_models_have_as_many_parameters_as_published),
    };

    return RUN_TESTS(tests);
}
