#include "unit/unit.h"

#include "config/doc.h"

static dse_arena arena;
static dse_error err;
static cfg_doc doc;

static void parse(const char *text)
{
    dse_arena_init(&arena);
    err = (dse_error)DSE_ERROR_INIT;
    assert_ok(cfg_parse_yaml("dir/f.yaml", text, strlen(text), &arena, &doc, &err), &err);
}

CLAIM(a_key_is_looked_up_in_a_mapping_only)
{
    parse("a: 1\nb: [1]\n");
    assert_string_equal(cfg_get(doc.root, "a")->text, "1");
    assert_null(cfg_get(doc.root, "c"));
    assert_null(cfg_get(cfg_get(doc.root, "a"), "x"));
    assert_null(cfg_get(cfg_get(doc.root, "b"), "x"));
    assert_null(cfg_get(NULL, "x"));
    dse_arena_free(&arena);
}

CLAIM(a_place_is_file_line_and_column)
{
    parse("a: 1\nb: [1]\n");
    assert_string_equal(cfg_at(&doc, cfg_get(doc.root, "b")).text, "dir/f.yaml:2:4");
    assert_string_equal(cfg_at(&doc, NULL).text, "dir/f.yaml");
    dse_arena_free(&arena);
}

CLAIM(nodes_are_described_for_messages)
{
    parse("a: 1\nb: [1]\nc: {}\nd: ''\n");
    assert_string_equal(cfg_seen(cfg_get(doc.root, "a")).text, "'1'");
    assert_string_equal(cfg_seen(cfg_get(doc.root, "b")).text, "a list");
    assert_string_equal(cfg_seen(cfg_get(doc.root, "c")).text, "a mapping");
    assert_string_equal(cfg_seen(cfg_get(doc.root, "d")).text, "''");
    dse_arena_free(&arena);
}

CLAIM(a_string_is_a_scalar_that_is_not_empty)
{
    const char *s = NULL;

    parse("a: x y\nb: [1]\nc: ''\n");
    assert_ok(cfg_string(&doc, cfg_get(doc.root, "a"), "the name", &s, &err), &err);
    assert_string_equal(s, "x y");
    assert_failure(cfg_string(&doc, cfg_get(doc.root, "b"), "the name", &s, &err), &err, DSE_E_CONFIG,
                   "dir/f.yaml:2:4", "the name must be a name, not a list");
    err = (dse_error)DSE_ERROR_INIT;
    assert_failure(cfg_string(&doc, cfg_get(doc.root, "c"), "the name", &s, &err), &err, DSE_E_CONFIG,
                   "dir/f.yaml:3:4", "the name must be a name, not ''");
    assert_string_equal(s, "x y");
    dse_arena_free(&arena);
}

CLAIM(an_integer_is_checked_for_its_range)
{
    int64_t v = 17;

    parse("a: 5\nb: 5.0\nc: '5'\nd: {}\n");
    assert_ok(cfg_int(&doc, cfg_get(doc.root, "a"), "it", 5, 5, &v, &err), &err);
    assert_int_equal(v, 5);
    assert_failure(cfg_int(&doc, cfg_get(doc.root, "a"), "it", 6, 9, &v, &err), &err, DSE_E_RANGE,
                   "dir/f.yaml:1:4", "it is 5; it must be between 6 and 9");
    err = (dse_error)DSE_ERROR_INIT;
    assert_failure(cfg_int(&doc, cfg_get(doc.root, "b"), "it", 0, 9, &v, &err), &err, DSE_E_CONFIG,
                   "dir/f.yaml:2:4", "it must be a whole number, not '5.0'");
    err = (dse_error)DSE_ERROR_INIT;
    assert_failure(cfg_int(&doc, cfg_get(doc.root, "c"), "it", 0, 9, &v, &err), &err, DSE_E_CONFIG,
                   "dir/f.yaml:3:4", "it must be a whole number, not '5'");
    err = (dse_error)DSE_ERROR_INIT;
    assert_failure(cfg_int(&doc, cfg_get(doc.root, "d"), "it", 0, 9, &v, &err), &err, DSE_E_CONFIG,
                   "dir/f.yaml:4:4", "it must be a whole number, not a mapping");
    assert_int_equal(v, 5);
    dse_arena_free(&arena);
}

/* ---- files --------------------------------------------------------------------------------- */

/* {1: 2} is YAML (the key is the word 1) but not JSON. */
CLAIM(the_extension_decides_what_a_file_is)
{
    char folder[64], yaml[80], json[80], where[128];

    unit_make_folder(folder);
    snprintf(yaml, sizeof yaml, "%s/f.yml", folder);
    snprintf(json, sizeof json, "%s/f.json", folder);
    unit_write_text(yaml, "{1: 2}");
    unit_write_text(json, "{1: 2}");
    dse_arena_init(&arena);
    err = (dse_error)DSE_ERROR_INIT;
    assert_ok(cfg_load(yaml, &arena, &doc, &err), &err);
    assert_string_equal(doc.path, yaml);
    assert_string_equal(cfg_get(doc.root, "1")->text, "2");
    assert_says(cfg_load(json, &arena, &doc, &err), &err, DSE_E_SYNTAX, "string or '}' expected near '1'");
    snprintf(where, sizeof where, "%s:1:2", json);
    assert_string_equal(err.where, where);
    dse_arena_free(&arena);
    unit_remove_folder(folder);
}

CLAIM(a_missing_file_is_an_io_error)
{
    dse_arena_init(&arena);
    err = (dse_error)DSE_ERROR_INIT;
    assert_failure(cfg_load("/tmp/ccldse-unit-none.yaml", &arena, &doc, &err), &err, DSE_E_IO, "",
                   "cannot open '/tmp/ccldse-unit-none.yaml': No such file or directory");
    dse_arena_free(&arena);
}

CLAIM(a_folder_is_an_io_error)
{
    dse_arena_init(&arena);
    err = (dse_error)DSE_ERROR_INIT;
    assert_failure(cfg_load("/tmp", &arena, &doc, &err), &err, DSE_E_IO, "",
                   "'/tmp' is a folder, not a file");
    dse_arena_free(&arena);
}

CLAIM(the_document_does_not_borrow_the_path)
{
    char folder[64], path[80];

    unit_make_folder(folder);
    snprintf(path, sizeof path, "%s/f.yaml", folder);
    unit_write_text(path, "a: 1\n");
    dse_arena_init(&arena);
    assert_int_equal(cfg_load(path, &arena, &doc, NULL), DSE_OK);
    memset(path, 'x', strlen(path));
    assert_memory_equal(doc.path, folder, strlen(folder));
    dse_arena_free(&arena);
    unit_remove_folder(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_key_is_looked_up_in_a_mapping_only),
        cmocka_unit_test(a_place_is_file_line_and_column),
        cmocka_unit_test(nodes_are_described_for_messages),
        cmocka_unit_test(a_string_is_a_scalar_that_is_not_empty),
        cmocka_unit_test(an_integer_is_checked_for_its_range),
        cmocka_unit_test(the_extension_decides_what_a_file_is),
        cmocka_unit_test(a_missing_file_is_an_io_error),
        cmocka_unit_test(a_folder_is_an_io_error),
        cmocka_unit_test(the_document_does_not_borrow_the_path),
    };
    return RUN_TESTS(tests);
}
