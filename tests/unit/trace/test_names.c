#include "trace/names.h"

#include "unit/unit.h"

CLAIM(texts_have_one_id_each)
{
    trace_names t = {0};

    assert_int_equal(trace_names_find(&t, "a"), DSE_NONE);
    assert_int_equal(trace_names_add(&t, "aten::mm", 8), 0);
    assert_int_equal(trace_names_add(&t, "aten::mmx", 8), 0);
    assert_int_equal(trace_names_add(&t, "", 0), 1);
    assert_int_equal(trace_names_add(&t, "", 0), 1);
    assert_string_equal(t.text[0], "aten::mm");
    assert_int_equal(t.length[0], 8);
    for (uint32_t i = 0; i < 1000; i++) {
        char text[16];
        int n = snprintf(text, sizeof text, "k%u", i);
        assert_int_equal(trace_names_add(&t, text, (size_t)n), i + 2);
    }
    assert_int_equal(trace_names_find(&t, "k999"), 1001);
    assert_int_equal(trace_names_find(&t, "k1000"), DSE_NONE);
    trace_names_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_have_one_id_each),
    };
    return RUN_TESTS(tests);
}
