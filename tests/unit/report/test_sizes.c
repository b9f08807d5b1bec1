/* What the memory of results counts, by their configurations. */
#include "report/sizes.h"
#include "unit/unit.h"

#define MIXED                                                                                                \
    "{\"model\":{\"precision.weights\":2,\"precision.activations\":2,\"precision.gradients\":2,"             \
    "\"precision.optimizer\":12,\"precision.messages\":0.5}}"

static const char elements[] = "Memory counts elements, as ASTRA-sim does, not bytes.";

static void assert_sentence(const report_sizes *s, const char *expected)
{
    dse_strbuf out;

    dse_strbuf_init(&out);
    report_sizes_print(s, &out);
    assert_int_equal(out.data[out.len - 1], '\n');
    out.data[out.len - 1] = '\0';
    assert_string_equal(out.data, expected);
    dse_strbuf_free(&out);
}

static void add(report_sizes *s, const char *config)
{
    store_row row = {.config = config};

    report_sizes_read(&row, 1);
    report_sizes_add(s, &row.sizes);
}

CLAIM(rows_of_a_study_are_read_once)
{
    store_row rows[] = {{.study = 1, .config = MIXED}, {.study = 1}, {.study = 2, .config = "{}"}};

    report_sizes_read(rows, 3);
    assert_string_equal(report_sizes_word(&rows[1].sizes), "bytes");
    assert_string_equal(report_sizes_word(&rows[2].sizes), "elements");
}

/* A step's own options say how many. */
CLAIM(a_training_step_counts_bytes)
{
    static const char bf16[] = "{\"model\":{\"profile\":\"train\",\"precision.weights\":2}}";
    static const char fp32[] = "{\"model\":{\"profile\":\"train\",\"precision.weights\":4}}";
    report_sizes s = {0};

    add(&s, bf16);
    add(&s, fp32);
    assert_string_equal(report_sizes_key(&s), "bytes");
    assert_sentence(&s, "Memory counts bytes.");
    add(&s, MIXED);
    assert_string_equal(report_sizes_key(&s), "differs");
}

CLAIM(a_configuration_with_a_precision_counts_bytes)
{
    report_sizes s = {0};

    add(&s, MIXED);
    add(&s, MIXED);
    assert_string_equal(report_sizes_key(&s), "bytes");
    assert_sentence(
        &s, "Memory counts bytes (weights 2, activations 2, gradients 2, optimizer 12, messages 0.5 an "
            "element).");
}

CLAIM(all_others_count_elements_imported_ones_among_them)
{
    static const char quoted[] = "{\"settings\":\"\\\"precision.weights\\\":2 precision=none\"}";
    report_sizes s = {0};

    assert_sentence(&s, elements);
    add(&s, "{}");
    add(&s, NULL);
    add(&s, "no JSON");
    add(&s, quoted);
    assert_string_equal(report_sizes_key(&s), "elements");
    assert_sentence(&s, elements);
}

CLAIM(results_that_count_otherwise_are_said_not_to_compare)
{
    static const char other[] = "{\"model\":{\"precision.weights\":4}}";
    report_sizes a = {0}, b = {0};

    add(&a, "{}");
    add(&a, MIXED);
    assert_string_equal(report_sizes_key(&a), "differs");
    assert_sentence(
        &a, "Memory counts bytes in some of these results, and elements or other bytes in others: that does "
            "not compare.");
    add(&b, MIXED);
    add(&b, other);
    assert_true(b.differ);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_of_a_study_are_read_once),
        cmocka_unit_test(a_training_step_counts_bytes),
        cmocka_unit_test(a_configuration_with_a_precision_counts_bytes),
        cmocka_unit_test(all_others_count_elements_imported_ones_among_them),
        cmocka_unit_test(results_that_count_otherwise_are_said_not_to_compare),
    };

    return RUN_TESTS(tests);
}
