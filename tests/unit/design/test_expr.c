#include "design/expr.h"
#include "unit/unit.h"

static dse_arena arena;
static dse_error err;

static const struct {
    const char *name;
    design_value value;
} known[] = {
    {"dp", {DESIGN_INT, {2}}},
    {"tp", {DESIGN_INT, {8}}},
    {"heads", {DESIGN_INT, {-60}}},
    {"least", {DESIGN_INT, {INT64_MIN}}},
    {"most", {DESIGN_INT, {INT64_MAX}}},
    {"x", {.kind = DESIGN_REAL, .real = 2.5}},
    {"y", {.kind = DESIGN_REAL, .real = -0.3}},
    {"network.topology[0]", {.kind = DESIGN_TEXT, .text = "Ring"}},
    {"model", {.kind = DESIGN_TEXT, .text = "small"}},
};

static dse_status holds(const char *text, bool *out)
{
    design_value value[16];
    design_expr e;
    dse_status st;

    dse_arena_reset(&arena);
    err = (dse_error)DSE_ERROR_INIT;
    if ((st = design_expr_parse(text, &arena, &e, &err)) != DSE_OK)
        return st;
    for (uint32_t i = 0; i < e.n_names; i++) {
        size_t k = 0;

        while (k < sizeof known / sizeof known[0] && strcmp(known[k].name, e.name[i]) != 0)
            k++;
        assert_true(k < sizeof known / sizeof known[0] && i < 16);
        value[i] = known[k].value;
    }
    return design_expr_holds(&e, value, out, &err);
}

typedef struct {
    const char *text;
    bool expected;
} row;

static void check(const row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        bool seen = !rows[i].expected;

        assert_ok(holds(rows[i].text, &seen), &err);
        if (seen != rows[i].expected)
            fail_msg("'%s' is %s", rows[i].text, seen ? "true" : "false");
    }
}
#define CHECK(rows) check((rows), sizeof(rows) / sizeof((rows)[0]))

/* ---- values -------------------------------------------------------------------------------- */

/* What Python makes of the same text, with dp = 2, tp = 8, heads = -60, x = 2.5, y = -0.3. */
CLAIM(expressions_mean_what_they_mean_in_python)
{
    static const row rows[] = {
        /* how tightly operators bind */
        {"1 + 2 * 3 == 7", true},
        {"2 * 3 % 4 == 2", true}, /* from the left: 6 % 4 */
        {"20 // 3 // 2 == 3", true},
        {"2 - 3 - 4 == -5", true},
        {"-dp * 3 == -6", true},
        {"- -dp == 2", true},
        {"-(dp + 1) * 2 == -6", true},
        {"7 - -2 == 9", true},
        {"dp == 2 or dp == 3 and tp == 9", true}, /* 'and' binds tighter */
        {"(dp == 2 or dp == 3) and tp == 9", false},
        {"not dp == 3", true}, /* not (dp == 3) */
        {"not dp == 2 or tp == 8", true},
        {"not dp == 2 and tp == 8", false},
        {"not not tp", true},
        {"dp + 1 < tp - 1 and tp % dp == 0", true},
        /* chains */
        {"1 < tp <= 8", true},
        {"1 < tp < 8", false},
        {"1 < 3 > 2", true},
        {"3 > 2 > 2", false},
        {"dp < tp > 4 == 4", true},
        {"1 == 1 == 1 != 2", true},
        {"(3 > 2) > 0", true}, /* no chain: a truth value is 0 or 1 */
        {"3 > 2 == 1", false}, /* one: 3 > 2 and 2 == 1 */
        /* // and % round down */
        {"heads // 7 == -9", true},
        {"heads % 7 == 3", true},
        {"60 // -7 == -9", true},
        {"60 % -7 == -3", true},
        {"heads // -7 == 8", true},
        {"heads % -7 == -4", true},
        {"heads // 1 == heads", true},
        {"7 // 2 * 2 + 7 % 2 == 7", true},
        {"x // 1 == 2", true},
        {"y // 1 == -1", true},
        {"y % 1 == 0.7", true},
        {"y % -1 == -0.3", true},
        {"1 // 0.1 == 9", true}, /* of the exact quotient, not of 1 / 0.1, which is 10 */
        {"1 % 0.1 == 0.09999999999999995", true},
        {"0.3 % 0.1 == 0.09999999999999998", true},
        {"-1 % 0.1 < 0.1", true},
        {"1e-300 // 1 == 0", true},
        {"-1e-300 // 1 == -1", true},
        /* / is real */
        {"1 / 2 == 0.5", true},
        {"7 / 2 * 2 == 7", true},
        {"8 / 2 == 4", true},
        {"heads / 7 < -8.57 < heads / 8", true},
        {"0.1 + 0.2 == 0.3", false},
        {"x * 2 == 5", true},
        {"tp - 0.5 >= 7.5", true},
        {"2e3 == 2000", true},
        {"1.5e-3 * 1e3 == 1.5", true},
        {".5 + 3. == 3.5", true},
        /* integers are not doubles: 2^53 + 1 is none */
        {"9007199254740993 == 9007199254740992", false},
        {"9007199254740993 > 9007199254740992.0", true},
        {"9007199254740993 == 9007199254740992.0", false},
        {"9007199254740992.0 < 9007199254740993", true},
        {"9223372036854775807 < 9223372036854775808.0", true},
        {"most < 1e19", true},
        {"least == -9223372036854775808.0", true},
        {"least > -1e19", true},
        {"2 < x < 3", true},
        {"-1 < y < 0", true},
        /* truth values */
        {"tp", true},
        {"tp - 8", false},
        {"0.0", false},
        {"y and x", true},
        {"True and not False", true},
        {"(tp == 8) + (dp == 2) == 2", true},
        {"model == 'small' and model != \"large\"", true},
        {"network.topology[0] == 'Ring'", true},
        {"network.topology[0] == 'ring'", false},
    };

    CHECK(rows);
}

CLAIM(other_languages_spellings_mean_the_same)
{
    static const row rows[] = {
        {"dp == 2 && tp == 8 || 0", true},
        {"!(dp == 2)", false},
        {"!dp == 3", true}, /* as 'not': of the comparison, where C would negate dp */
        {"1!=2", true},
        {"true and yes", true},
        {"false or no", false},
        {"\ttp\n<=\r8 ", true},
    };

    CHECK(rows);
}

/* In a name, a word is none: "order" is not "or der". */
CLAIM(names_are_listed_once_in_their_order)
{
    static const char *const names[] = {"tp",   "network.bandwidth[1]", "order",       "android",
                                        "nott", "network.bandwidth[0]", "_x.y[12345]", "trueish"};
    design_expr e;

    dse_arena_reset(&arena);
    err = (dse_error)DSE_ERROR_INIT;
    assert_ok(design_expr_parse("tp < network.bandwidth[1] and order + android == nott - tp and "
                                "network.bandwidth[0] * _x.y[12345] > network.bandwidth[1] or trueish",
                                &arena, &e, &err),
              &err);
    assert_int_equal(e.n_names, 8);
    for (int i = 0; i < 8; i++)
        assert_string_equal(e.name[i], names[i]);
}

/* What is behind a decided 'or', 'and' or chain would fail, and is not looked at. */
CLAIM(what_is_decided_is_not_evaluated)
{
    static const row rows[] = {
        {"dp == 3 and 1 / 0", false},
        {"dp == 2 or 1 / 0", true},
        {"3 < 2 < 1 / 0", false},
        {"tp != 8 and heads % (tp - 8) == 0 or dp == 2", true},
    };

    CHECK(rows);
}

/* ---- refusals ------------------------------------------------------------------------------ */

static void refuse(const char *text, const char *message)
{
    bool unchanged = true;

    assert_failure(holds(text, &unchanged), &err, DSE_E_CONFIG, "", message);
    assert_true(unchanged);
}

CLAIM(what_is_no_expression_is_refused_with_its_place)
{
    refuse("", "in '': expected a value at its end");
    refuse("  ", "in '  ': expected a value at its end");
    refuse("tp <=", "in 'tp <=': expected a value at its end");
    refuse("tp <= <= 8", "in 'tp <= <= 8': expected a value at '<= 8'");
    refuse("tp = 8", "in 'tp = 8': expected an operator at '= 8'");
    refuse("tp dp", "in 'tp dp': expected an operator at 'dp'");
    refuse("tp ** 2", "in 'tp ** 2': expected a value at '* 2'");
    refuse("(tp", "in '(tp': expected ')' at its end");
    refuse("tp)", "in 'tp)': expected an operator at ')'");
    refuse("()", "in '()': expected a value at ')'");
    refuse("tp[0", "in 'tp[0': expected the number of an element at 'tp[0'");
    refuse("tp[dp]", "in 'tp[dp]': expected the number of an element at 'tp[dp]'");
    refuse("model == 'small", "in 'model == 'small': a quote without its other half at 'small'");
    refuse("8tp == 1", "in '8tp == 1': expected a number at '8tp == 1'");
    refuse("0x10 == 16", "in '0x10 == 16': expected a number at '0x10 == 16'");
    refuse("1e == 1", "in '1e == 1': expected a number at '1e == 1'");
    refuse("1.2.3", "in '1.2.3': expected a number at '1.2.3'");
    refuse("tp & 1", "in 'tp & 1': expected an operator at '& 1'");
    refuse("tp <= 8;", "in 'tp <= 8;': expected an operator at ';'");
    refuse("!= 3", "in '!= 3': expected a value at '!= 3'");
    refuse("$tp", "in '$tp': expected a value at '$tp'");
    refuse("tp <= \xc3\xa9", "in 'tp <= \xc3\xa9': expected a value at '\xc3\xa9'");
}

CLAIM(numbers_that_do_not_fit_are_refused)
{
    refuse("9223372036854775808 > 0", "in '9223372036854775808 > 0': a number that does not fit 64 bits at "
                                      "'9223372036854775808 > 0'");
    refuse("1e400 > 0", "in '1e400 > 0': expected a number at '1e400 > 0'");
    refuse("most + 1", "'most + 1': a number does not fit 64 bits");
    refuse("least - 1", "'least - 1': a number does not fit 64 bits");
    refuse("most * dp", "'most * dp': a number does not fit 64 bits");
    refuse("-least", "'-least': a number does not fit 64 bits");
    refuse("least // -1", "'least // -1': a number does not fit 64 bits");
    refuse("1e308 * 10", "'1e308 * 10': a number is too large");
    refuse("1e308 / 1e-308", "'1e308 / 1e-308': a number is too large");
}

/* least / -1 would trap in C. */
CLAIM(the_least_integer_can_be_divided)
{
    static const row rows[] = {
        {"least % -1 == 0", true},
        {"least // 1 == least", true},
        {"least // dp * dp == least", true},
        {"least % most == most - 1", true}, /* -2^63 + 2 (2^63 - 1) */
        {"most % -2 == -1", true},          /* 2^63 - 1 = -2^62 * -2 - 1, and 2^63 does not fit */
        {"most // -2 == -4611686018427387904", true},
    };

    CHECK(rows);
}

CLAIM(a_division_by_zero_is_refused)
{
    refuse("1 / 0", "'1 / 0': a division by 0");
    refuse("tp // (dp - 2)", "'tp // (dp - 2)': a division by 0");
    refuse("tp % 0", "'tp % 0': a division by 0");
    refuse("x % 0.0", "'x % 0.0': a division by 0");
    refuse("tp / -0.0", "'tp / -0.0': a division by 0");
}

CLAIM(texts_are_only_equal_or_not)
{
    refuse("model == 1", "'model == 1': a text is compared with a number");
    refuse("8 < model", "'8 < model': a text is compared with a number");
    refuse("model < 'z'", "'model < 'z'': texts are equal or not, but none is larger");
    refuse("model + 'x' == 'smallx'", "'model + 'x' == 'smallx'': a text is not a number");
    refuse("-model", "'-model': a text is not a number");
    refuse("model", "'model': a text is neither true nor false");
    refuse("model and 1", "'model and 1': a text is neither true nor false");
    refuse("not model", "'not model': a text is neither true nor false");
    refuse("0 or 'x'", "'0 or 'x'': a text is neither true nor false");
}

/* ---- limits -------------------------------------------------------------------------------- */

static const char *repeat(const char *part, int n, const char *middle, const char *after)
{
    static char text[4000];

    text[0] = '\0';
    for (int i = 0; i < n; i++)
        strcat(text, part);
    strcat(text, middle);
    for (int i = 0; i < n; i++)
        strcat(text, after);
    return text;
}

CLAIM(depth_is_limited)
{
    bool out = false;

    assert_ok(holds(repeat("(", 48, "1", ")"), &out), &err);
    assert_true(out);
    assert_says(holds(repeat("(", 49, "1", ")"), &out), &err, DSE_E_CONFIG, "too deep");
    assert_ok(holds(repeat("-", 48, "1", ""), &out), &err);
    assert_says(holds(repeat("-", 50, "1", ""), &out), &err, DSE_E_CONFIG, "too deep");
    assert_says(holds(repeat("not ", 50, "1", ""), &out), &err, DSE_E_CONFIG, "too deep");
    assert_says(holds(repeat("!(", 400, "1", ")"), &out), &err, DSE_E_CONFIG,
                "is longer than 1000 characters");
}

/* "1+" 499 times and "1" are 999 characters. */
CLAIM(length_is_limited_and_a_long_sum_is_not_deep)
{
    bool out = false;

    assert_ok(holds(repeat("1+", 499, "1", ""), &out), &err);
    assert_true(out);
    assert_says(holds(repeat("1+", 500, "1", ""), &out), &err, DSE_E_CONFIG,
                "is longer than 1000 characters");
}

/* Each link of a chain evaluates what it shares with the next again: 2^n for n within each other. */
CLAIM(chains_within_chains_end)
{
    bool out = false;

    assert_ok(holds(repeat("0<=(", 8, "1", ")<=1"), &out), &err);
    assert_true(out);
    assert_says(holds(repeat("0<=(", 40, "1", ")<=1"), &out), &err, DSE_E_CONFIG, "it takes too many steps");
}

/* ---- ranges ---------------------------------------------------------------------------- */

static bool may_hold(const char *text, const design_range *range)
{
    design_expr e;

    dse_arena_reset(&arena);
    err = (dse_error)DSE_ERROR_INIT;
    assert_ok(design_expr_parse(text, &arena, &e, &err), &err);
    return design_expr_may_hold(&e, range);
}

static design_range between(double low, double high)
{
    return (design_range){true, {.kind = DESIGN_REAL, .real = low}, {.kind = DESIGN_REAL, .real = high}};
}

static void a_range_excludes_what_none_of_its_values_can_make_true(void **state)
{
    const design_range ab[] = {between(1, 4), between(2, 3)};
    const design_range texts[] = {{true, {.kind = DESIGN_TEXT, .text = "Ring"}, {.kind = DESIGN_TEXT, .text = "Ring"}}};

    (void)state;
    assert_true(may_hold("a + b <= 3", ab));
    assert_false(may_hold("a + b < 3", ab));
    assert_false(may_hold("a * b > 12", ab));
    assert_false(may_hold("a / b > 2 or a - b > 2", ab));
    assert_true(may_hold("a // b == 2", ab));
    assert_false(may_hold("a % b >= 3.5", ab));
    assert_false(may_hold("not (a >= 1 and b != 7)", ab));
    assert_false(may_hold("1 > a or -b > 0", ab));
    assert_true(may_hold("x == 'Ring'", texts));
    assert_false(may_hold("x != 'Ring'", texts));
    assert_true(may_hold("x == 'Ring'", &(design_range){0}));
    assert_true(may_hold("1 / a > 5", (design_range[]){between(-1, 1)})); /* a division by 0 is left to the point */
}

/* What holds at some values may hold in each range with them. */
static void no_range_excludes_a_value_with_which_it_holds(void **state)
{
    static const char *const texts[] = {"a * b - c <= 7",  "a // b > c",       "a % b == c or a < b",   "(a + b) / c >= 2",
                                        "-a < b % c",      "not (a <= b < c)", "a * 2 != b and c > -3", "a % c + b // c == 1",
                                        "(a > b) + c > 1", "a % 2.5 > b % -2"};
    uint64_t seed = 3;

    (void)state;
    err = (dse_error)DSE_ERROR_INIT;
    for (uint32_t i = 0; i < 20000; i++) {
        design_range range[3];
        design_value value[3];
        design_expr e;
        bool holds = false;

        for (int k = 0; k < 3; k++) {
            const int64_t low = (int64_t)(unit_random(&seed) % 21) - 10, high = low + (int64_t)(unit_random(&seed) % 6);

            value[k] = (design_value){DESIGN_INT, {low + (int64_t)(unit_random(&seed) % (uint64_t)(high - low + 1))}};
            range[k] = (design_range){true, {DESIGN_INT, {low}}, {DESIGN_INT, {high}}};
        }
        dse_arena_reset(&arena);
        assert_ok(design_expr_parse(texts[i % 10], &arena, &e, &err), &err);
        if (design_expr_holds(&e, value, &holds, NULL) == DSE_OK && holds)
            assert_true(design_expr_may_hold(&e, range));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(expressions_mean_what_they_mean_in_python),
        cmocka_unit_test(other_languages_spellings_mean_the_same),
        cmocka_unit_test(names_are_listed_once_in_their_order),
        cmocka_unit_test(what_is_decided_is_not_evaluated),
        cmocka_unit_test(what_is_no_expression_is_refused_with_its_place),
        cmocka_unit_test(numbers_that_do_not_fit_are_refused),
        cmocka_unit_test(the_least_integer_can_be_divided),
        cmocka_unit_test(a_division_by_zero_is_refused),
        cmocka_unit_test(texts_are_only_equal_or_not),
        cmocka_unit_test(depth_is_limited),
        cmocka_unit_test(length_is_limited_and_a_long_sum_is_not_deep),
        cmocka_unit_test(chains_within_chains_end),
        cmocka_unit_test(a_range_excludes_what_none_of_its_values_can_make_true),
        cmocka_unit_test(no_range_excludes_a_value_with_which_it_holds),
    };
    int failures;

    dse_arena_init(&arena);
    failures = RUN_TESTS(tests);
    dse_arena_free(&arena);
    return failures;
}
