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
    assert_string_equal(out.data, expected);
    dse_strbuf_free(&out);
}

CLAIM(a_configuration_with_a_precision_counts_bytes)
{
    report_sizes s = {0};

    assert_true(report_in_bytes(MIXED));
    assert_string_equal(report_sizes_word(MIXED), "bytes");
    report_sizes_add(&s, MIXED);
    report_sizes_add(&s, MIXED);
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
    report_sizes_add(&s, "{}");
    report_sizes_add(&s, quoted);
    assert_string_equal(report_sizes_key(&s), "elements");
    assert_string_equal(report_sizes_word(quoted), "elements");
    assert_sentence(&s, elements);
}

CLAIM(results_that_count_otherwise_are_said_not_to_compare)
{
    static const char other[] = "{\"precision.weights\":4}";
    report_sizes a = {0}, b = {0};

    report_sizes_add(&a, "{}");
    report_sizes_add(&a, MIXED);
    assert_string_equal(report_sizes_key(&a), "differs");
    assert_sentence(
        &a, "Memory counts bytes in some of these results, and elements or other bytes in others: that does "
            "not compare.");
    report_sizes_add(&b, MIXED);
    report_sizes_add(&b, other);
    assert_true(b.differ);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_configuration_with_a_precision_counts_bytes),
        cmocka_unit_test(all_others_count_elements_imported_ones_among_them),
        cmocka_unit_test(results_that_count_otherwise_are_said_not_to_compare),
    };

    return RUN_TESTS(tests);
}
