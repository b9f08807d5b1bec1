/* Chunks of lines, and answers that are cut, flipped, or written by several. */
#include "base/fs.h"
#include "exec/chunk.h"
#include "unit/unit.h"

#include <stdlib.h>
#include <unistd.h>

#define N_LINES 12
#define ECHO    "while read l; do echo \"got $l\"; done"

static char folder[64], prefix[100], path[120];
static dse_error err;

static struct {
    uint32_t n, failed;
    uint64_t hash[100];
    char text[100][60];
} took;

static const char *line_of(uint32_t i)
{
    static char text[48];

    snprintf(text, sizeof text, "a study of many words %u %s", i / 4, i % 4 == 3 ? "" : "and a point");
    snprintf(text + strlen(text), sizeof text - strlen(text), "%u", i);
    return text;
}

static dse_status take(void *user, uint64_t hash, bool failed, const char *text, dse_error *e)
{
    (void)e;
    assert_ptr_equal(user, &took);
    assert_true(took.n < 100);
    took.hash[took.n] = hash;
    took.failed += failed;
    snprintf(took.text[took.n++], sizeof took.text[0], "%s", text);
    return DSE_OK;
}

static int begin(void **state)
{
    exec_chunk_writer w;

    (void)state;
    unit_make_folder(folder);
    snprintf(prefix, sizeof prefix, "%s/1.0", folder);
    snprintf(path, sizeof path, "%s.lines", prefix);
    err = (dse_error)DSE_ERROR_INIT;
    memset(&took, 0, sizeof took);
    assert_ok(exec_chunk_open(&w, path, &err), &err);
    for (uint32_t i = 0; i < N_LINES; i++)
        assert_ok(exec_chunk_add(&w, line_of(i), &err), &err);
    assert_ok(exec_chunk_close(&w, &err), &err);
    return 0;
}

static int end(void **state)
{
    (void)state;
    unit_remove_folder(folder);
    return 0;
}

static dse_status serve(const char *script, uint32_t workers)
{
    const char *const argv[] = {"/bin/sh", "-c", script, NULL};

    return exec_chunk_serve(prefix, argv, workers, 0, "--limit", &err);
}

/* The answers of all attempts, in the order of their names; returns how many lines are damaged. */
static uint64_t read_all(uint32_t *n_files)
{
    const char **name;
    uint64_t damaged = 0;
    dse_arena a;
    size_t n;

    *n_files = 0;
    took.n = took.failed = 0;
    dse_arena_init(&a);
    assert_ok(dse_list_names(folder, &a, &name, &n, &err), &err);
    for (size_t i = 0; i < n; i++) {
        exec_answers read = {0};
        char file[200];

        if (!strstr(name[i], ".answers"))
            continue;
        ++*n_files;
        snprintf(file, sizeof file, "%s/%s", folder, name[i]);
        assert_ok(exec_answers_read(file, &read, take, &took, &err), &err);
        damaged += read.damaged;
    }
    dse_arena_free(&a);
    return damaged;
}

/* Every answer is the right one of some line. */
static void assert_right(void)
{
    for (uint32_t k = 0; k < took.n; k++) {
        char expected[60] = "";

        for (uint32_t i = 0; i < N_LINES; i++)
            if (exec_line_hash(line_of(i)) == took.hash[k])
                snprintf(expected, sizeof expected, "got %s", line_of(i));
        assert_string_equal(took.text[k], expected);
    }
}

CLAIM(every_line_is_answered_by_its_own_hash)
{
    uint32_t n_files;

    assert_ok(serve(ECHO, 2), &err);
    assert_int_equal(read_all(&n_files), 0);
    assert_int_equal(n_files, 1);
    assert_int_equal(took.n, N_LINES);
    assert_right();
}

/* Words of several lines arrive as they are. */
CLAIM(a_line_that_fails_says_why)
{
    uint32_t n_files;

    assert_ok(serve("read l; echo first >&2; echo second >&2; exit 1", 1), &err);
    assert_int_equal(read_all(&n_files), 0);
    assert_int_equal(took.failed, N_LINES);
    assert_non_null(strstr(took.text[0], "its worker ended with exit code 1"));
}

/* The answers' file of the one attempt, and its bytes. */
static char answers[200];
static dse_strbuf whole;

static void answer_once(void)
{
    const char **name;
    dse_arena a;
    size_t n;

    assert_ok(serve(ECHO, 1), &err);
    dse_arena_init(&a);
    assert_ok(dse_list_names(folder, &a, &name, &n, &err), &err);
    for (size_t i = 0; i < n; i++)
        if (strstr(name[i], ".answers"))
            snprintf(answers, sizeof answers, "%s/%s", folder, name[i]);
    dse_arena_free(&a);
    dse_strbuf_init(&whole);
    assert_ok(dse_read_file(answers, 0, &whole, &err), &err);
}

static void write_answers(size_t n) { unit_write(answers, whole.data, n); }

static uint32_t lines_in(size_t n)
{
    uint32_t count = 0;

    for (size_t i = 0; i < n; i++)
        count += whole.data[i] == '\n';
    return count;
}

CLAIM(what_another_attempt_has_answered_is_not_answered_again)
{
    uint32_t n_files;

    answer_once();
    write_answers(whole.len * 2 / 5);
    assert_ok(serve(ECHO, 2), &err);
    assert_int_equal(read_all(&n_files), 0);
    assert_int_equal(n_files, 2);
    assert_int_equal(took.n, N_LINES); /* none lost, none twice */
    assert_right();
    dse_strbuf_free(&whole);
}

CLAIM(of_a_file_that_is_cut_at_any_byte_the_whole_lines_are_taken)
{
    answer_once();
    for (size_t cut = 0; cut <= whole.len; cut++) {
        exec_answers read = {0};

        took.n = 0;
        write_answers(cut);
        assert_ok(exec_answers_read(answers, &read, take, &took, &err), &err);
        assert_int_equal(took.n, lines_in(cut));
        assert_u64(read.damaged, 0);
        assert_true(cut == 0 || (read.at == cut) == (whole.data[cut - 1] == '\n')); /* a rest is seen */
        write_answers(whole.len);
        assert_ok(exec_answers_read(answers, &read, take, &took, &err),
                  &err); /* and the rest, when it has come */
        assert_int_equal(took.n, N_LINES);
        assert_right();
    }
    dse_strbuf_free(&whole);
}

CLAIM(a_flipped_bit_costs_a_line_and_gives_no_other_answer)
{
    answer_once();
    for (size_t at = 0; at < whole.len; at++)
        for (unsigned bit = 0; bit < 8; bit++) {
            exec_answers read = {0};

            took.n = 0;
            whole.data[at] = (char)((unsigned char)whole.data[at] ^ 1u << bit);
            write_answers(whole.len);
            assert_ok(exec_answers_read(answers, &read, take, &took, &err), &err);
            whole.data[at] = (char)((unsigned char)whole.data[at] ^ 1u << bit);
            assert_true(took.n >= N_LINES - 2);                                    /* a newline joins two */
            assert_true(took.n == N_LINES || read.damaged || at == whole.len - 1); /* the last one: a rest */
            assert_right();
        }
    dse_strbuf_free(&whole);
}

CLAIM(garbage_without_an_end_is_one_damaged_line)
{
    const size_t n = 40u << 20;
    char *garbage = dse_realloc(NULL, n);
    exec_answers read = {0};
    FILE *f;

    answer_once();
    memset(garbage, 'x', n);
    f = fopen(answers, "a");
    assert_int_equal(fwrite(garbage, 1, n, f), n);
    assert_int_equal(fwrite("\n", 1, 1, f), 1);
    assert_int_equal(fwrite(whole.data, 1, whole.len, f), whole.len);
    assert_int_equal(fclose(f), 0);
    assert_ok(exec_answers_read(answers, &read, take, &took, &err), &err);
    assert_u64(read.damaged, 1);
    assert_int_equal(took.n, 2 * N_LINES);
    assert_right();
    dse_free(garbage);
    dse_strbuf_free(&whole);
}

CLAIM(a_damaged_line_of_the_chunk_is_not_run)
{
    dse_strbuf chunk;
    uint32_t n_files;

    dse_strbuf_init(&chunk);
    assert_ok(dse_read_file(path, 0, &chunk, &err), &err);
    *strstr(strchr(chunk.data, '\n'), " 1") = '2'; /* what the second line does not share with the first */
    unit_write(path, chunk.data, chunk.len);
    assert_int_equal(serve(ECHO, 1), DSE_E_SYNTAX);
    assert_non_null(strstr(err.text, "is damaged"));
    err = (dse_error)DSE_ERROR_INIT;
    assert_int_equal(read_all(&n_files), 0);
    assert_true(took.n < N_LINES);
    assert_right();
    dse_strbuf_free(&chunk);
}

CLAIM(a_chunk_that_is_not_there_is_told)
{
    unlink(path);
    assert_int_equal(serve(ECHO, 1), DSE_E_IO);
    assert_non_null(strstr(err.text, "cannot read"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_line_is_answered_by_its_own_hash, begin, end),
        cmocka_unit_test_setup_teardown(a_line_that_fails_says_why, begin, end),
        cmocka_unit_test_setup_teardown(what_another_attempt_has_answered_is_not_answered_again, begin, end),
        cmocka_unit_test_setup_teardown(of_a_file_that_is_cut_at_any_byte_the_whole_lines_are_taken, begin,
                                        end),
        cmocka_unit_test_setup_teardown(a_flipped_bit_costs_a_line_and_gives_no_other_answer, begin, end),
        cmocka_unit_test_setup_teardown(garbage_without_an_end_is_one_damaged_line, begin, end),
        cmocka_unit_test_setup_teardown(a_damaged_line_of_the_chunk_is_not_run, begin, end),
        cmocka_unit_test_setup_teardown(a_chunk_that_is_not_there_is_told, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
