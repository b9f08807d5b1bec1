#include "unit/unit.h"

#include "base/fs.h"

#include <fcntl.h>

static char folder[64];
static char path[128];

static const char *in_folder(const char *name)
{
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

/* ---- reading ------------------------------------------------------------------------------- */

CLAIM(a_file_is_read_whole_and_appended)
{
    char content[100001], *p = content;
    dse_strbuf b;

    unit_make_folder(folder);
    for (size_t i = 0; i < sizeof content; i++)
        *p++ = (char)(i * 7); /* NULs too; more than one read of 64 KiB */
    unit_write(in_folder("f"), content, sizeof content);
    dse_strbuf_init(&b);
    dse_strbuf_adds(&b, "before");
    assert_int_equal(dse_read_file(path, 0, &b, NULL), DSE_OK);
    assert_int_equal(b.len, 6 + sizeof content);
    assert_memory_equal(b.data, "before", 6);
    assert_memory_equal(b.data + 6, content, sizeof content);
    dse_strbuf_free(&b);
    unit_remove_folder(folder);
}

CLAIM(an_empty_file_is_success)
{
    dse_strbuf b;

    unit_make_folder(folder);
    unit_write_text(in_folder("f"), "");
    dse_strbuf_init(&b);
    assert_int_equal(dse_read_file(path, 1, &b, NULL), DSE_OK);
    assert_int_equal(b.len, 0);
    dse_strbuf_free(&b);
    unit_remove_folder(folder);
}

CLAIM(a_missing_file_names_the_path_and_the_reason)
{
    dse_error err = DSE_ERROR_INIT;
    dse_strbuf b;

    dse_strbuf_init(&b);
    assert_failure(dse_read_file("/tmp/ccldse-unit-none/f", 0, &b, &err), &err, DSE_E_IO, "",
                   "cannot open '/tmp/ccldse-unit-none/f': No such file or directory");
    dse_strbuf_free(&b);
}

CLAIM(a_folder_is_not_a_file)
{
    dse_error err = DSE_ERROR_INIT;
    dse_strbuf b;

    dse_strbuf_init(&b);
    assert_failure(dse_read_file("/tmp", 0, &b, &err), &err, DSE_E_IO, "", "'/tmp' is a folder, not a file");
    dse_strbuf_free(&b);
}

CLAIM(the_limit_of_bytes_is_inclusive)
{
    dse_error err = DSE_ERROR_INIT;
    char text[160];
    dse_strbuf b;

    unit_make_folder(folder);
    unit_write_text(in_folder("f"), "12345");
    dse_strbuf_init(&b);
    assert_ok(dse_read_file(path, 5, &b, &err), &err);
    snprintf(text, sizeof text, "'%s' is larger than 4 bytes", path);
    assert_failure(dse_read_file(path, 4, &b, &err), &err, DSE_E_RANGE, "", text);
    dse_strbuf_free(&b);
    unit_remove_folder(folder);
}

/* ---- folders ------------------------------------------------------------------------------- */

CLAIM(mkdirs_makes_all_parents_and_accepts_what_is_there)
{
    dse_error err = DSE_ERROR_INIT;

    unit_make_folder(folder);
    assert_ok(dse_mkdirs(in_folder("a/b/c"), &err), &err);
    assert_true(dse_is_dir(path));
    assert_ok(dse_mkdirs(path, &err), &err);
    assert_ok(dse_mkdirs(in_folder("a//d/"), &err), &err);
    assert_true(dse_is_dir(in_folder("a/d")));
    assert_ok(dse_mkdirs("/", &err), &err);
    unit_remove_folder(folder);
}

CLAIM(mkdirs_over_a_file_is_refused)
{
    dse_error err = DSE_ERROR_INIT;
    char text[256];

    unit_make_folder(folder);
    unit_write_text(in_folder("f"), "x");
    snprintf(text, sizeof text, "cannot make the folder '%s': a file of that name exists", path);
    assert_failure(dse_mkdirs(path, &err), &err, DSE_E_IO, "", text);
    unit_remove_folder(folder);
}

CLAIM(mkdirs_below_a_file_is_refused)
{
    dse_error err = DSE_ERROR_INIT;
    char text[256];

    unit_make_folder(folder);
    unit_write_text(in_folder("f"), "x");
    snprintf(text, sizeof text, "cannot make the folder '%s/f/sub': Not a directory", folder);
    assert_failure(dse_mkdirs(in_folder("f/sub"), &err), &err, DSE_E_IO, "", text);
    unit_remove_folder(folder);
}

CLAIM(a_path_too_long_is_refused)
{
    char *longer = malloc(5001);
    dse_error err = DSE_ERROR_INIT;

    memset(longer, 'a', 5000);
    longer[5000] = '\0';
    assert_says(dse_mkdirs(longer, &err), &err, DSE_E_IO, "is too long");
    err = (dse_error)DSE_ERROR_INIT;
    assert_says(dse_write_file(longer, "x", 1, &err), &err, DSE_E_IO, "is too long");
    free(longer);
}

/* ---- writing ------------------------------------------------------------------------------- */

static void assert_content(const char *name, const char *expected)
{
    dse_strbuf b;

    dse_strbuf_init(&b);
    assert_int_equal(dse_read_file(name, 0, &b, NULL), DSE_OK);
    assert_string_equal(b.data, expected);
    dse_strbuf_free(&b);
}

CLAIM(writing_replaces_the_file_and_leaves_nothing_else_behind)
{
    dse_error err = DSE_ERROR_INIT;

    unit_make_folder(folder);
    unit_write_text(in_folder("f"), "a longer content than the new one");
    assert_ok(dse_write_file(path, "new", 3, &err), &err);
    assert_content(path, "new");
    assert_ok(dse_write_file(path, "", 0, &err), &err);
    assert_content(path, "");
    assert_int_equal(unit_count_files(folder), 1);
    unit_remove_folder(folder);
}

/* Written in place, a reader that had the file open would see it change; renamed over, it keeps the old one. */
CLAIM(who_has_the_old_file_open_keeps_reading_it)
{
    char seen[8] = {0};
    int fd;

    unit_make_folder(folder);
    unit_write_text(in_folder("f"), "old");
    fd = open(path, O_RDONLY);
    assert_int_equal(dse_write_file(path, "new", 3, NULL), DSE_OK);
    assert_int_equal(read(fd, seen, sizeof seen), 3);
    assert_string_equal(seen, "old");
    assert_content(path, "new");
    close(fd);
    unit_remove_folder(folder);
}

CLAIM(a_written_file_has_the_permissions_of_the_umask)
{
    struct stat sb;
    mode_t mask = umask(027);

    unit_make_folder(folder);
    assert_int_equal(dse_write_file(in_folder("f"), "x", 1, NULL), DSE_OK);
    umask(mask);
    assert_int_equal(stat(path, &sb), 0);
    assert_int_equal(sb.st_mode & 0777, 0640); /* 0666 & ~027 */
    unit_remove_folder(folder);
}

CLAIM(writing_over_a_folder_fails_and_cleans_up)
{
    dse_error err = DSE_ERROR_INIT;
    char text[256];

    unit_make_folder(folder);
    assert_int_equal(dse_mkdirs(in_folder("d/inner"), NULL), DSE_OK);
    in_folder("d");
    snprintf(text, sizeof text, "cannot write '%s': Is a directory", path);
    assert_failure(dse_write_file(path, "x", 1, &err), &err, DSE_E_IO, "", text);
    assert_int_equal(unit_count_files(folder), 1);
    unit_remove_folder(folder);
}

CLAIM(a_symbolic_link_stays_one)
{
    char link[4096];
    struct stat sb;

    unit_make_folder(folder);
    strcpy(link, in_folder("link"));
    assert_int_equal(symlink("f", link), 0);
    unit_write_text(in_folder("f"), "old");
    assert_int_equal(dse_write_file(link, "new", 3, NULL), DSE_OK);
    assert_int_equal(lstat(link, &sb), 0);
    assert_true(S_ISLNK(sb.st_mode));
    assert_int_equal(stat(in_folder("f"), &sb), 0);
    assert_int_equal(sb.st_size, 3);
    assert_int_equal(unit_count_files(folder), 2);
    unit_remove_folder(folder);
}

CLAIM(a_pipe_is_written_to)
{
    char bytes[8];
    struct stat sb;
    int fd;

    unit_make_folder(folder);
    assert_int_equal(mkfifo(in_folder("pipe"), 0600), 0);
    fd = open(path, O_RDWR); /* its reader */
    assert_true(fd >= 0);
    assert_int_equal(dse_write_file(path, "new", 3, NULL), DSE_OK);
    assert_int_equal(read(fd, bytes, sizeof bytes), 3);
    assert_int_equal(stat(path, &sb), 0);
    assert_true(S_ISFIFO(sb.st_mode));
    assert_int_equal(unit_count_files(folder), 1);
    close(fd);
    unit_remove_folder(folder);
}

CLAIM(what_is_written_bit_by_bit_replaces_the_file_when_it_is_committed)
{
    dse_error err = DSE_ERROR_INIT;
    dse_replacement r;
    dse_strbuf b;

    unit_make_folder(folder);
    unit_write_text(in_folder("f"), "old");
    assert_ok(dse_replacement_open(&r, path, &err), &err);
    assert_int_equal(write(r.fd, "ne", 2), 2);
    assert_int_equal(write(r.fd, "w", 1), 1);
    dse_strbuf_init(&b);
    assert_ok(dse_read_file(path, 0, &b, &err), &err);
    assert_string_equal(b.data, "old");
    assert_ok(dse_replacement_commit(&r, &err), &err);
    dse_strbuf_clear(&b);
    assert_ok(dse_read_file(path, 0, &b, &err), &err);
    assert_string_equal(b.data, "new");
    assert_int_equal(unit_count_files(folder), 1);
    dse_strbuf_free(&b);
    unit_remove_folder(folder);
}

CLAIM(what_is_given_up_leaves_the_file_as_it_was)
{
    dse_replacement r;

    unit_make_folder(folder);
    assert_int_equal(dse_replacement_open(&r, in_folder("f"), NULL), DSE_OK);
    assert_int_equal(write(r.fd, "new", 3), 3);
    dse_replacement_give_up(&r);
    assert_int_equal(unit_count_files(folder), 0);
    unit_remove_folder(folder);
}

CLAIM(a_program_that_ends_leaves_no_temporary_files)
{
    dse_replacement kept, left;
    dse_error err = DSE_ERROR_INIT;

    unit_make_folder(folder);
    assert_ok(dse_replacement_open(&kept, in_folder("kept"), &err), &err);
    assert_ok(dse_replacement_open(&left, in_folder("left"), &err), &err);
    assert_ok(dse_replacement_commit(&kept, &err), &err);
    dse_replacements_leave();
    assert_int_equal(access(left.temporary, F_OK), -1);
    assert_int_equal(access(kept.target, F_OK), 0);
    dse_replacement_give_up(&left);
    unit_remove_folder(folder);
}

CLAIM(writing_into_a_missing_folder_names_the_path)
{
    dse_error err = DSE_ERROR_INIT;

    assert_failure(dse_write_file("/tmp/ccldse-unit-none/f", "x", 1, &err), &err, DSE_E_IO, "",
                   "cannot write '/tmp/ccldse-unit-none/f': No such file or directory");
}

CLAIM(names_of_a_folder_are_sorted_by_their_bytes)
{
    dse_error err = DSE_ERROR_INIT;
    dse_arena arena = {0};
    const char **name;
    size_t n;

    unit_make_folder(folder);
    assert_int_equal(dse_list_names(folder, &arena, &name, &n, NULL), DSE_OK);
    assert_int_equal(n, 0);
    unit_write_text(in_folder("b"), "");
    unit_write_text(in_folder("a.yaml"), "");
    unit_write_text(in_folder("a-2.yaml"), ""); /* '-' is 0x2d, '.' 0x2e */
    unit_write_text(in_folder(".hidden"), "");
    assert_int_equal(dse_list_names(folder, &arena, &name, &n, NULL), DSE_OK);
    assert_int_equal(n, 4);
    assert_string_equal(name[0], ".hidden");
    assert_string_equal(name[1], "a-2.yaml");
    assert_string_equal(name[2], "a.yaml");
    assert_string_equal(name[3], "b");
    assert_failure(dse_list_names("/tmp/ccldse-unit-none", &arena, &name, &n, &err), &err, DSE_E_IO, "",
                   "cannot read the directory '/tmp/ccldse-unit-none': No such file or directory");
    assert_int_equal(n, 0);
    dse_arena_free(&arena);
    unit_remove_folder(folder);
}

CLAIM(files_and_folders_are_told_apart)
{
    unit_make_folder(folder);
    unit_write_text(in_folder("f"), "x");
    assert_true(dse_is_file(path));
    assert_false(dse_is_dir(path));
    assert_true(dse_is_dir(folder));
    assert_false(dse_is_file(folder));
    assert_false(dse_is_file(in_folder("none")));
    assert_false(dse_is_dir(path));
    unit_remove_folder(folder);
}

CLAIM(a_tree_is_removed_and_what_its_links_point_to_is_not)
{
    dse_error err = DSE_ERROR_INIT;

    unit_make_folder(folder);
    unit_write_text(in_folder("kept"), "x");
    assert_ok(dse_mkdirs(in_folder("tree/a/b"), &err), &err);
    unit_write_text(in_folder("tree/a/b/f"), "x");
    assert_int_equal(symlink("../kept", in_folder("tree/link")), 0);
    assert_ok(dse_remove_tree(in_folder("tree"), &err), &err);
    assert_false(dse_is_dir(path));
    assert_true(dse_is_file(in_folder("kept")));
    assert_ok(dse_remove_tree(in_folder("kept"), &err), &err);
    assert_int_equal(unit_count_files(folder), 0);
    unit_remove_folder(folder);
}

CLAIM(removing_what_is_not_there_is_success)
{
    dse_error err = DSE_ERROR_INIT;

    assert_ok(dse_remove_tree("/tmp/ccldse-unit-none/tree", &err), &err);
}

CLAIM(what_cannot_be_removed_is_named)
{
    dse_error err = DSE_ERROR_INIT;

    unit_make_folder(folder);
    unit_write_text(in_folder("f"), "x");
    assert_says(dse_remove_tree(in_folder("f/below"), &err), &err, DSE_E_IO, "/f/below': Not a directory");
    unit_remove_folder(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_is_read_whole_and_appended),
        cmocka_unit_test(an_empty_file_is_success),
        cmocka_unit_test(a_missing_file_names_the_path_and_the_reason),
        cmocka_unit_test(a_folder_is_not_a_file),
        cmocka_unit_test(the_limit_of_bytes_is_inclusive),
        cmocka_unit_test(mkdirs_makes_all_parents_and_accepts_what_is_there),
        cmocka_unit_test(mkdirs_over_a_file_is_refused),
        cmocka_unit_test(mkdirs_below_a_file_is_refused),
        cmocka_unit_test(a_path_too_long_is_refused),
        cmocka_unit_test(writing_replaces_the_file_and_leaves_nothing_else_behind),
        cmocka_unit_test(who_has_the_old_file_open_keeps_reading_it),
        cmocka_unit_test(a_written_file_has_the_permissions_of_the_umask),
        cmocka_unit_test(writing_over_a_folder_fails_and_cleans_up),
        cmocka_unit_test(a_symbolic_link_stays_one),
        cmocka_unit_test(a_pipe_is_written_to),
        cmocka_unit_test(what_is_written_bit_by_bit_replaces_the_file_when_it_is_committed),
        cmocka_unit_test(what_is_given_up_leaves_the_file_as_it_was),
        cmocka_unit_test(a_program_that_ends_leaves_no_temporary_files),
        cmocka_unit_test(writing_into_a_missing_folder_names_the_path),
        cmocka_unit_test(names_of_a_folder_are_sorted_by_their_bytes),
        cmocka_unit_test(files_and_folders_are_told_apart),
        cmocka_unit_test(a_tree_is_removed_and_what_its_links_point_to_is_not),
        cmocka_unit_test(removing_what_is_not_there_is_success),
        cmocka_unit_test(what_cannot_be_removed_is_named),
    };
    return RUN_TESTS(tests);
}
