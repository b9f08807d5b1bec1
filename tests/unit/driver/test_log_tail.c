/* What is quoted of a failed tool's log, and what is said of ASTRA-sim's own sentences. */
#include "driver/log_tail.h"

#include "unit/unit.h"

#define LOGS TEST_DATA "/astra_log/"

static char folder[64], log_path[80];
static dse_strbuf out;

static int begin(void **state)
{
    (void)state;
    unit_make_folder(folder);
    snprintf(log_path, sizeof log_path, "%s/a.log", folder);
    dse_strbuf_init(&out);
    return 0;
}

static int end(void **state)
{
    (void)state;
    dse_strbuf_free(&out);
    unit_remove_folder(folder);
    return 0;
}

static void start_again(void)
{
    dse_strbuf_free(&out);
    dse_strbuf_init(&out);
}

static const char *tail_of(const char *text)
{
    unit_write_text(log_path, text);
    start_again();
    drv_log_tail_add(log_path, "it", &out);
    return out.data;
}

static const char *meaning_of(const char *path)
{
    start_again();
    drv_log_meaning_add(path, &out);
    return out.data;
}

CLAIM(the_last_four_lines_are_quoted)
{
    assert_string_equal(tail_of("a\nb\n\nc\nd\n \ne\n\n"), "; it ends: b | c | d | e");
    assert_string_equal(tail_of("a\nb"), "; it ends: a | b");
    assert_string_equal(tail_of("a"), "; it ends: a");
}

CLAIM(a_log_that_says_nothing_is_empty)
{
    assert_string_equal(tail_of(""), "; it is empty");
    assert_string_equal(tail_of("\n \n\t\n---\n"), "; it is empty");
    start_again();
    drv_log_tail_add("/nonexistent", "it", &out);
    assert_string_equal(out.data, "; it is empty");
}

/* A traceback of Python 3.11 with its frames indented and the place of the error underlined. */
CLAIM(a_traceback_is_quoted_without_its_underlines)
{
    assert_string_equal(
        tail_of("Traceback (most recent call last):\n"
                "  File \"main.py\", line 156, in <module>\n"
                "    main()\n"
                "  File \"main.py\", line 450, in main\n"
                "    assert not matched_rank is None\n"
                "           ^^^^^^^^^^^^^^^^^^^^^^^^\n"
                "AssertionError\n"),
        "; it ends: main() | File \"main.py\", line 450, in main | assert not matched_rank is None | "
        "AssertionError");
}

/* Of 240 characters at most: lines of 100 count two, with the newline between them 201, and a third is one too many.
 * A line that alone is too long loses its beginning. */
CLAIM(lines_are_quoted_whole_unless_one_is_too_long)
{
    char line[301], text[1000], expected[400];

    memset(line, 'x', 300);
    line[300] = '\0';
    snprintf(text, sizeof text, "%.100s\n%.100s\n%.100s\n", line, line, line);
    snprintf(expected, sizeof expected, "; it ends: %.100s | %.100s", line, line);
    assert_string_equal(tail_of(text), expected);
    snprintf(text, sizeof text, "a\n%.240s\n", line);
    snprintf(expected, sizeof expected, "; it ends: %.240s", line);
    assert_string_equal(tail_of(text), expected);
    snprintf(text, sizeof text, "a\n%.241s\n", line);
    snprintf(expected, sizeof expected, "; it ends: ...%.240s", line);
    assert_string_equal(tail_of(text), expected);
}

/* What stands before the last 1200 bytes is not even read. */
CLAIM(a_large_log_is_quoted_as_a_small_one)
{
    char text[3000];

    memset(text, 'x', sizeof text);
    strcpy(text + sizeof text - 8, "\nb\nlast");
    assert_string_equal(tail_of(text), "; it ends: b | last");
}

CLAIM(what_is_no_text_is_quoted_as_question_marks)
{
    assert_string_equal(tail_of("a\033[1m\303\251\tb\r\n"), "; it ends: a?[1m?? b");
}

CLAIM(ranks_that_wait_are_named_as_the_cause)
{
    assert_string_equal(meaning_of(LOGS "unfinished.log"),
                        "; it ended with ranks that wait for each other, or for what never comes");
}

CLAIM(traces_without_tensors_are_named_as_the_cause)
{
    static const char cause[] =
        "; STAGE's traces do not name the tensors that memory is made of: set with_comm_info to True in its "
        "symbolic_tensor_graph/graph/convert_chakra.py, or scheduler.track_local_mem to false";

    assert_string_equal(meaning_of(LOGS "no_tensors.log"), cause);
    /* Also where ranks are left waiting because of it, whatever is said first. */
    unit_write_text(log_path, "x has unreleased nodes\nAttribute 'inputs' not found in node 4\n");
    assert_string_equal(meaning_of(log_path), cause);
}

CLAIM(other_logs_explain_themselves)
{
    assert_string_equal(meaning_of(LOGS "eight_ranks.log"), "");
    assert_string_equal(meaning_of("/nonexistent"), "");
}

#define TEST(claim) cmocka_unit_test_setup_teardown(claim, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_last_four_lines_are_quoted),
        TEST(a_log_that_says_nothing_is_empty),
        TEST(a_traceback_is_quoted_without_its_underlines),
        TEST(lines_are_quoted_whole_unless_one_is_too_long),
        TEST(a_large_log_is_quoted_as_a_small_one),
        TEST(what_is_no_text_is_quoted_as_question_marks),
        TEST(ranks_that_wait_are_named_as_the_cause),
        TEST(traces_without_tensors_are_named_as_the_cause),
        TEST(other_logs_explain_themselves),
    };
    return RUN_TESTS(tests);
}
