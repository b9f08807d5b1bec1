#include "base/words.h"
#include "unit/unit.h"

static dse_arena arena;
static dse_error err;

/* The words of a text, each in brackets. */
static const char *split(const char *text)
{
    static char out[500];
    const char **words;
    size_t n;

    dse_arena_reset(&arena);
    err = (dse_error)DSE_ERROR_INIT;
    assert_ok(dse_split_words(text, &arena, &words, &n, &err), &err);
    assert_null(words[n]);
    out[0] = '\0';
    for (size_t i = 0; i < n; i++)
        snprintf(out + strlen(out), sizeof out - strlen(out), "[%s]", words[i]);
    return out;
}

CLAIM(blanks_separate_words)
{
    assert_string_equal(split("python3 main.py"), "[python3][main.py]");
    assert_string_equal(split("  a\t b\n"), "[a][b]");
    assert_string_equal(split("a"), "[a]");
}

CLAIM(a_text_of_blanks_has_no_words)
{
    assert_string_equal(split(""), "");
    assert_string_equal(split(" \t"), "");
}

CLAIM(quotes_keep_blanks)
{
    assert_string_equal(split("'a b' c"), "[a b][c]");
    assert_string_equal(split("\"a b\" c"), "[a b][c]");
    assert_string_equal(split("/opt/'my tools'/\"x y\"z"), "[/opt/my tools/x yz]");
    assert_string_equal(split("'' \"\""), "[][]");
}

CLAIM(a_backslash_takes_the_next_character_as_a_shell_does)
{
    assert_string_equal(split("a\\ b \\'c\\\\"), "[a b]['c\\]");
    assert_string_equal(split("\"\\\"\\\\\\$\\n\""), "[\"\\$\\n]"); /* of the others it is itself */
    assert_string_equal(split("'\\'"), "[\\]");
    assert_string_equal(split("a\\"), "[a\\]");
}

CLAIM(nothing_is_expanded)
{
    assert_string_equal(split("$HOME ~ *.c `id` a;b|c"), "[$HOME][~][*.c][`id`][a;b|c]");
}

CLAIM(an_open_quote_is_refused)
{
    static const char *const texts[] = {"'", "a \"b", "a'b\"", "\"\\\""};
    const char **words;
    size_t n;

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        err = (dse_error)DSE_ERROR_INIT;
        assert_says(dse_split_words(texts[i], &arena, &words, &n, &err), &err, DSE_E_USAGE,
                    "a quote is not closed in '");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blanks_separate_words),
        cmocka_unit_test(a_text_of_blanks_has_no_words),
        cmocka_unit_test(quotes_keep_blanks),
        cmocka_unit_test(a_backslash_takes_the_next_character_as_a_shell_does),
        cmocka_unit_test(nothing_is_expanded),
        cmocka_unit_test(an_open_quote_is_refused),
    };
    int failed = RUN_TESTS(tests);

    dse_arena_free(&arena);
    return failed;
}
