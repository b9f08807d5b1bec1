#include "unit/unit.h"

#include "config/doc.h"

static dse_arena arena;
static dse_error err;
static cfg_doc doc;

static dse_status parse(const char *text)
{
    dse_arena_init(&arena);
    err = (dse_error)DSE_ERROR_INIT;
    doc = (cfg_doc){0};
    return cfg_parse_yaml("f.yaml", text, strlen(text), &arena, &doc, &err);
}

static void refuse(const char *text, dse_status status, const char *where, const char *message)
{
    assert_failure(parse(text), &err, status, where, message);
    assert_null(doc.root); /* *out changes only on success */
    dse_arena_free(&arena);
}

static void assert_at(const cfg_node *n, uint32_t line, uint32_t column)
{
    assert_non_null(n);
    assert_int_equal(n->line, line);
    assert_int_equal(n->column, column);
}

static void assert_scalar(const cfg_node *n, const char *text, bool quoted)
{
    assert_non_null(n);
    assert_int_equal(n->kind, CFG_SCALAR);
    assert_string_equal(n->text, text);
    assert_int_equal(n->quoted, quoted);
}

/* Lines and columns count from 1; a list stands where its bracket or its first dash does. */
CLAIM(keys_and_values_know_where_they_stand)
{
    const cfg_node *net, *list;

    assert_ok(parse("# a comment\n"     /* 1 */
                    "\n"                /* 2 */
                    "network:\n"        /* 3 */
                    "  n:   [8, 16]\n"  /* 4 */
                    "  names:\n"        /* 5 */
                    "    - Ring\n"      /* 6 */
                    "    - \"Two\"\n"), /* 7 */
              &err);
    assert_string_equal(doc.path, "f.yaml");
    assert_int_equal(doc.root->kind, CFG_MAP);
    assert_at(doc.root, 3, 1);
    assert_at(doc.root->key[0], 3, 1);
    net = cfg_get(doc.root, "network");
    assert_at(net, 4, 3);
    assert_at(net->key[0], 4, 3);
    list = cfg_get(net, "n");
    assert_int_equal(list->kind, CFG_LIST);
    assert_at(list, 4, 8);
    assert_at(list->item[0], 4, 9);
    assert_at(list->item[1], 4, 12);
    assert_at(cfg_get(net, "names"), 6, 5);
    assert_at(cfg_get(net, "names")->item[1], 7, 7);
    assert_scalar(cfg_get(net, "names")->item[0], "Ring", false);
    assert_scalar(cfg_get(net, "names")->item[1], "Two", true);
    dse_arena_free(&arena);
}

CLAIM(scalars_keep_their_spelling)
{
    assert_ok(
        parse(
            "a: 0.10\nb: 1e3\nc: 007\nd: 100GB/s\ne: 12345678901234567890123\nf: yes\ng: '50'\nh: ''\ni:\n"),
        &err);
    assert_scalar(cfg_get(doc.root, "a"), "0.10", false);
    assert_scalar(cfg_get(doc.root, "b"), "1e3", false);
    assert_scalar(cfg_get(doc.root, "c"), "007", false);
    assert_scalar(cfg_get(doc.root, "d"), "100GB/s", false);
    assert_scalar(cfg_get(doc.root, "e"), "12345678901234567890123", false);
    assert_scalar(cfg_get(doc.root, "f"), "yes", false);
    assert_scalar(cfg_get(doc.root, "g"), "50", true);
    assert_scalar(cfg_get(doc.root, "h"), "", true);
    assert_scalar(cfg_get(doc.root, "i"), "", false);
    dse_arena_free(&arena);
}

CLAIM(mappings_keep_the_order_of_the_file)
{
    assert_ok(parse("{z: 1, a: 2, m: 3}"), &err);
    assert_int_equal(doc.root->n, 3);
    assert_string_equal(doc.root->key[0]->text, "z");
    assert_string_equal(doc.root->key[1]->text, "a");
    assert_string_equal(doc.root->key[2]->text, "m");
    dse_arena_free(&arena);
}

CLAIM(empty_lists_and_mappings_have_no_entries)
{
    assert_ok(parse("a: []\nb: {}\n"), &err);
    assert_int_equal(cfg_get(doc.root, "a")->kind, CFG_LIST);
    assert_int_equal(cfg_get(doc.root, "a")->n, 0);
    assert_int_equal(cfg_get(doc.root, "b")->kind, CFG_MAP);
    assert_int_equal(cfg_get(doc.root, "b")->n, 0);
    assert_null(cfg_get(cfg_get(doc.root, "b"), "x"));
    dse_arena_free(&arena);
}

CLAIM(json_is_yaml_too)
{
    assert_ok(parse("{\"a\": [1, {\"b\": \"c\"}]}"), &err);
    assert_scalar(cfg_get(cfg_get(doc.root, "a")->item[1], "b"), "c", true);
    dse_arena_free(&arena);
}

/* ---- refusals ------------------------------------------------------------------------------ */

CLAIM(a_key_that_stands_twice_is_refused_at_the_second)
{
    refuse("a: 1\nb:\n  c: 1\n  d: 2\n  c: 3\n", DSE_E_SYNTAX, "f.yaml:5:3", "the key 'c' stands twice");
}

CLAIM(the_same_key_in_two_mappings_is_fine)
{
    assert_ok(parse("a: {x: 1}\nb: {x: 1}\n"), &err);
    dse_arena_free(&arena);
}

CLAIM(an_alias_is_the_value_of_its_anchor)
{
    assert_ok(parse("a: &x 1\nb: &y [*x, 2]\nc: {d: *y}\ne: &x 3\nf: *x\n&k g: *k\n"), &err);
    assert_scalar(cfg_get(doc.root, "b")->item[0], "1", false);
    assert_ptr_equal(cfg_get(cfg_get(doc.root, "c"), "d"), cfg_get(doc.root, "b"));
    assert_scalar(cfg_get(doc.root, "f"), "3", false); /* the latest of a name */
    assert_scalar(cfg_get(doc.root, "g"), "g", false);
    dse_arena_free(&arena);
    refuse("a: *x\nb: &x 1\n", DSE_E_SYNTAX, "f.yaml:1:4", "*x has no &x before it");
    refuse("a: &x [*x]\n", DSE_E_SYNTAX, "f.yaml:1:8", "*x has no &x before it");
    refuse("<<: *x\n", DSE_E_SYNTAX, "f.yaml:1:5", "*x has no &x before it");
}

CLAIM(a_merge_adds_the_keys_that_are_not_there)
{
    assert_ok(parse("a: &a {x: 1, y: 2}\nb: &b {x: 3, z: 4}\nc: {<<: [*a, *b], y: 5}\nd: {'<<': 6}\n"), &err);
    assert_int_equal(cfg_get(doc.root, "c")->n, 3);
    assert_scalar(cfg_get(cfg_get(doc.root, "c"), "x"), "1", false);
    assert_scalar(cfg_get(cfg_get(doc.root, "c"), "y"), "5", false);
    assert_scalar(cfg_get(cfg_get(doc.root, "c"), "z"), "4", false);
    assert_scalar(cfg_get(cfg_get(doc.root, "d"), "<<"), "6", false);
    dse_arena_free(&arena);
    assert_ok(parse("a: &a {x: 1}\nc:\n  <<: *a\n"), &err);
    assert_scalar(cfg_get(cfg_get(doc.root, "c"), "x"), "1", false);
    dse_arena_free(&arena);
    refuse("a: {<<: 1}\n", DSE_E_CONFIG, "f.yaml:1:9", "<< takes a mapping, or a list of some, not '1'");
}

/* Each level stands for nine of the one before: 9^7 values in 200 bytes. */
CLAIM(aliases_are_written_out_to_a_limit)
{
    char text[1000] = "l0: &l0 [1, 1, 1, 1, 1, 1, 1, 1, 1]\n", deep[1000] = "l0: &l0 [1]\n";
    size_t n = strlen(text), m = strlen(deep);

    for (int i = 1; i <= 6; i++)
        n += (size_t)snprintf(text + n, sizeof text - n,
                              "l%d: &l%d [*l%d, *l%d, *l%d, *l%d, *l%d, *l%d, "
                              "*l%d, *l%d, *l%d]\n",
                              i, i, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1);
    refuse(text, DSE_E_SYNTAX, "f.yaml:7:10",
           "aliases stand for more than a million values; write out what is meant");
    for (int i = 1; i <= 40; i++)
        m += (size_t)snprintf(deep + m, sizeof deep - m, "l%d: &l%d [[*l%d]]\n", i, i, i - 1);
    refuse(deep, DSE_E_SYNTAX, "f.yaml:33:13", "nested too deeply");
}

CLAIM(tags_are_refused)
{
    refuse("a: 1\nnpus_count: !!str [4,4,4]\n", DSE_E_SYNTAX, "f.yaml:2:13",
           "tags are not supported; write the value alone");
    refuse("a: !!int 5\n", DSE_E_SYNTAX, "f.yaml:1:4", "tags are not supported; write the value alone");
    refuse("a: ! 5\n", DSE_E_SYNTAX, "f.yaml:1:4", "tags are not supported; write the value alone");
    refuse("a: !card {b: 1}\n", DSE_E_SYNTAX, "f.yaml:1:4", "tags are not supported; write the value alone");
    refuse("!!str a: 5\n", DSE_E_SYNTAX, "f.yaml:1:1", "tags are not supported; write the value alone");
    refuse("--- !!map\na: 5\n", DSE_E_SYNTAX, "f.yaml:1:5", "tags are not supported; write the value alone");
    refuse("a: &x !!int 5\n", DSE_E_SYNTAX, "f.yaml:1:4", "tags are not supported; write the value alone");
}

CLAIM(an_empty_file_is_refused)
{
    refuse("", DSE_E_SYNTAX, "f.yaml:1:1", "the file is empty");
    refuse("# nothing\n\n", DSE_E_SYNTAX, "f.yaml:3:1", "the file is empty");
}

CLAIM(a_second_document_is_refused)
{
    refuse("a: 1\n---\nb: 2\n", DSE_E_SYNTAX, "f.yaml:2:1", "a second document in one file");
}

CLAIM(one_document_may_be_marked_as_such)
{
    assert_ok(parse("---\na: 1\n...\n"), &err);
    assert_scalar(cfg_get(doc.root, "a"), "1", false);
    dse_arena_free(&arena);
}

CLAIM(a_key_must_be_a_word)
{
    refuse("? [a, b]\n: 1\n", DSE_E_SYNTAX, "f.yaml:1:3", "a key must be a plain word");
    refuse("{{a: 1}: 2}\n", DSE_E_SYNTAX, "f.yaml:1:2", "a key must be a plain word");
}

/* The texts are libyaml's; the places are where a reader would look. */
CLAIM(tabs_as_indentation_are_refused)
{
    refuse("a:\n\tb: 1\n", DSE_E_SYNTAX, "f.yaml:2:1", "found character that cannot start any token");
}

CLAIM(unfinished_documents_are_refused)
{
    assert_says(parse("a: [1, 2\n"), &err, DSE_E_SYNTAX, "did not find expected ',' or ']'");
    assert_string_equal(err.where, "f.yaml:2:1");
    dse_arena_free(&arena);
    assert_says(parse("a: \"x\n"), &err, DSE_E_SYNTAX, "found unexpected end of stream");
    dse_arena_free(&arena);
    assert_says(parse("a: 1\n  b: 2\n"), &err, DSE_E_SYNTAX,
                "mapping values are not allowed in this context");
    dse_arena_free(&arena);
}

CLAIM(bytes_that_are_not_utf8_are_refused)
{
    refuse("a: \xff\xfe\n", DSE_E_SYNTAX, "f.yaml:1:4", "invalid leading UTF-8 octet");
    refuse("a: 1\nb: 2\nc: 3\nd: 4\n# e\nf: \xff\n", DSE_E_SYNTAX, "f.yaml:6:4",
           "invalid leading UTF-8 octet");
    refuse("a: 1\nb: \xc3\xa9\xc3\xa9\xff\n", DSE_E_SYNTAX, "f.yaml:2:6",
           "invalid leading UTF-8 octet"); /* behind two characters of two bytes */
    refuse("\xef\xbb\xbf"
           "a: \xff\n",
           DSE_E_SYNTAX, "f.yaml:1:4", "invalid leading UTF-8 octet");
    refuse("a: 1\nb: \xc3", DSE_E_SYNTAX, "f.yaml:2:4", "incomplete UTF-8 octet sequence");
}

CLAIM(control_characters_are_refused)
{
    refuse("a: 1\nb: x\001y\n", DSE_E_SYNTAX, "f.yaml:2:5", "control characters are not allowed");
}

/* "a" and half a surrogate pair: of UTF-16 no line is known. */
CLAIM(utf16_that_is_broken_is_refused)
{
    static const char text[] = "\xff\xfe"
                               "a\0\n\0\x00\xdc"
                               "b\0";

    dse_arena_init(&arena);
    err = (dse_error)DSE_ERROR_INIT;
    assert_failure(cfg_parse_yaml("f.yaml", text, sizeof text - 1, &arena, &doc, &err), &err, DSE_E_SYNTAX,
                   "f.yaml", "unexpected low surrogate area");
    dse_arena_free(&arena);
}

CLAIM(a_nul_in_a_value_is_refused)
{
    refuse("a: \"x\\0y\"\n", DSE_E_SYNTAX, "f.yaml:1:4", "a NUL character in a value");
}

static void nested(char *out, int levels)
{
    memset(out, '[', (size_t)levels);
    out[levels] = '1';
    memset(out + levels + 1, ']', (size_t)levels);
    out[2 * levels + 1] = '\0';
}

CLAIM(nesting_ends_at_the_limit)
{
    char text[3000];

    nested(text, CFG_MAX_DEPTH);
    assert_ok(parse(text), &err);
    dse_arena_free(&arena);
    nested(text, CFG_MAX_DEPTH + 1);
    assert_int_equal(parse(text), DSE_E_SYNTAX);
    assert_string_equal(err.text, "nested too deeply");
    dse_arena_free(&arena);
    nested(text, 1000);
    assert_int_equal(parse(text), DSE_E_SYNTAX);
    assert_string_equal(err.text, "nested too deeply");
    dse_arena_free(&arena);
}

CLAIM(thousands_of_entries_are_too_many)
{
    dse_strbuf b;

    dse_strbuf_init(&b);
    dse_strbuf_addc(&b, '[');
    for (int i = 0; i < 4097; i++)
        dse_strbuf_adds(&b, "1,");
    dse_strbuf_addc(&b, ']');
    assert_int_equal(parse(b.data), DSE_E_SYNTAX);
    assert_string_equal(err.text, "too many entries");
    dse_arena_free(&arena);
    dse_strbuf_free(&b);
}

/* ---- memory -------------------------------------------------------------------------------- */

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_and_values_know_where_they_stand),
        cmocka_unit_test(scalars_keep_their_spelling),
        cmocka_unit_test(mappings_keep_the_order_of_the_file),
        cmocka_unit_test(empty_lists_and_mappings_have_no_entries),
        cmocka_unit_test(json_is_yaml_too),
        cmocka_unit_test(a_key_that_stands_twice_is_refused_at_the_second),
        cmocka_unit_test(the_same_key_in_two_mappings_is_fine),
        cmocka_unit_test(an_alias_is_the_value_of_its_anchor),
        cmocka_unit_test(a_merge_adds_the_keys_that_are_not_there),
        cmocka_unit_test(aliases_are_written_out_to_a_limit),
        cmocka_unit_test(tags_are_refused),
        cmocka_unit_test(an_empty_file_is_refused),
        cmocka_unit_test(a_second_document_is_refused),
        cmocka_unit_test(one_document_may_be_marked_as_such),
        cmocka_unit_test(a_key_must_be_a_word),
        cmocka_unit_test(tabs_as_indentation_are_refused),
        cmocka_unit_test(unfinished_documents_are_refused),
        cmocka_unit_test(bytes_that_are_not_utf8_are_refused),
        cmocka_unit_test(control_characters_are_refused),
        cmocka_unit_test(utf16_that_is_broken_is_refused),
        cmocka_unit_test(a_nul_in_a_value_is_refused),
        cmocka_unit_test(nesting_ends_at_the_limit),
        cmocka_unit_test(thousands_of_entries_are_too_many),
    };
    return RUN_TESTS(tests);
}
