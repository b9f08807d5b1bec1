#include "strategy/order.h"
#include "unit/unit.h"

static const char *const names[] = {"dp", "tp", "sp", "pp"};

CLAIM(orders_are_counted_as_permutations)
{
    assert_int_equal(order_count(1), 1);
    assert_int_equal(order_count(4), 24);
    assert_int_equal(order_count(12), 479001600);
}

CLAIM(the_first_order_is_the_one_of_the_names_and_the_last_its_reverse)
{
    char text[40];

    order_print(0, names, 4, 4, text, sizeof text);
    assert_string_equal(text, "dp-tp-sp-pp");
    order_print(23, names, 4, 4, text, sizeof text);
    assert_string_equal(text, "pp-sp-tp-dp");
}

/* Lexicographic: dp first takes 3! = 6 orders; tp, sp, dp, pp is the third of those that begin with tp. */
CLAIM(every_order_is_read_back_with_dashes_or_commas)
{
    uint32_t number;
    char text[40];

    assert_true(order_parse("tp,sp,dp,pp", names, 4, 4, &number));
    assert_int_equal(number, 6 + 2);
    for (uint32_t i = 0; i < 24; i++) {
        order_print(i, names, 4, 4, text, sizeof text);
        assert_true(order_parse(text, names, 4, 4, &number));
        assert_int_equal(number, i);
    }
}

CLAIM(what_lacks_a_name_or_has_it_twice_is_no_order)
{
    static const char *const bad[] = {"",         "dp",          "dp-tp-sp", "dp-tp-sp-sp", "dp-tp-sp-pp-",
                                      "dp tp sp", "dp-tp-sp-xp", "-dp-tp-sp-pp"};
    uint32_t number;

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(order_parse(bad[i], names, 4, 4, &number));
}

/* Of pp, which came later than the others. */
CLAIM(names_at_the_end_may_be_left_out)
{
    uint32_t number;
    char text[40];

    assert_true(order_parse("tp-sp-dp", names, 4, 3, &number));
    assert_int_equal(number, 6 + 2);
    order_print(number, names, 4, 3, text, sizeof text);
    assert_string_equal(text, "tp-sp-dp");
    assert_true(order_parse("tp-sp-pp-dp", names, 4, 3, &number));
    order_print(number, names, 4, 3, text, sizeof text);
    assert_string_equal(text, "tp-sp-pp-dp");
    assert_false(order_parse("tp-sp", names, 4, 3, &number));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(orders_are_counted_as_permutations),
        cmocka_unit_test(the_first_order_is_the_one_of_the_names_and_the_last_its_reverse),
        cmocka_unit_test(every_order_is_read_back_with_dashes_or_commas),
        cmocka_unit_test(names_at_the_end_may_be_left_out),
        cmocka_unit_test(what_lacks_a_name_or_has_it_twice_is_no_order),
    };
    return RUN_TESTS(tests);
}
