#include "unit/unit.h"

#include "config/doc.h"

static dse_arena arena;
static dse_error err;
static cfg_doc doc;

static dse_status parse_n(const char *text, size_t n)
{
    dse_arena_init(&arena);
    err = (dse_error)DSE_ERROR_INIT;
    doc = (cfg_doc){0};
    return cfg_parse_json("f.json", text, n, &arena, &doc, &err);
}

static dse_status parse(const char *text) { return parse_n(text, strlen(text)); }

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

CLAIM(keys_and_values_know_where_they_stand)
{
    const cfg_node *b;

    assert_ok(parse("{\n"                            /* 1 */
                    "  \"a\" : 1,\n"                 /* 2 */
                    "\t\"b\": [true, null,\n"        /* 3: a tab is one column */
                    "     {\"c\": \"x\\\"y\"}  ],\n" /* 4 */
                    "  \"d\":{} , \"e\":[ ]\n"       /* 5 */
                    "}\n"),
              &err);
    assert_string_equal(doc.path, "f.json");
    assert_at(doc.root, 1, 1);
    assert_at(doc.root->key[0], 2, 3);
    assert_at(cfg_get(doc.root, "a"), 2, 9);
    assert_at(doc.root->key[1], 3, 2);
    b = cfg_get(doc.root, "b");
    assert_at(b, 3, 7);
    assert_at(b->item[0], 3, 8);
    assert_at(b->item[1], 3, 14);
    assert_at(b->item[2], 4, 6);
    assert_at(b->item[2]->key[0], 4, 7);
    assert_at(cfg_get(b->item[2], "c"), 4, 12);
    assert_at(cfg_get(doc.root, "d"), 5, 7);
    assert_at(cfg_get(doc.root, "e"), 5, 16);
    assert_int_equal(cfg_get(doc.root, "d")->kind, CFG_MAP);
    assert_int_equal(cfg_get(doc.root, "e")->kind, CFG_LIST);
    assert_int_equal(cfg_get(doc.root, "e")->n, 0);
    dse_arena_free(&arena);
}

CLAIM(numbers_keep_their_spelling)
{
    assert_ok(parse("[0.10, 1e3, -0, 92.800, 1E+2, 12345678901234567890123456789]"), &err);
    assert_scalar(doc.root->item[0], "0.10", false);
    assert_scalar(doc.root->item[1], "1e3", false);
    assert_scalar(doc.root->item[2], "-0", false);
    assert_scalar(doc.root->item[3], "92.800", false);
    assert_scalar(doc.root->item[4], "1E+2", false);
    assert_scalar(doc.root->item[5], "12345678901234567890123456789", false);
    dse_arena_free(&arena);
}

CLAIM(strings_are_decoded_and_quoted)
{
    assert_ok(parse("[\"a\\n\\t\\\"\\\\\\/\", \"\\u00e9\\u20ac\", \"5\", \"\", \"\xc3\xa9\", \"],}\"]"),
              &err);
    assert_scalar(doc.root->item[0], "a\n\t\"\\/", true);
    assert_scalar(doc.root->item[1], "\xc3\xa9\xe2\x82\xac", true); /* U+E9, U+20AC in UTF-8 */
    assert_scalar(doc.root->item[2], "5", true);
    assert_scalar(doc.root->item[3], "", true);
    assert_scalar(doc.root->item[4], "\xc3\xa9", true);
    assert_scalar(doc.root->item[5], "],}", true);
    dse_arena_free(&arena);
}

CLAIM(words_are_scalars_without_quotes)
{
    assert_ok(parse("[true, false, null]"), &err);
    assert_scalar(doc.root->item[0], "true", false);
    assert_scalar(doc.root->item[1], "false", false);
    assert_scalar(doc.root->item[2], "null", false);
    dse_arena_free(&arena);
}

CLAIM(a_document_may_be_one_scalar)
{
    assert_ok(parse(" 17 "), &err);
    assert_scalar(doc.root, "17", false);
    assert_at(doc.root, 1, 2);
    dse_arena_free(&arena);
}

CLAIM(mappings_keep_the_order_of_the_file)
{
    dse_strbuf b;

    dse_strbuf_init(&b);
    dse_strbuf_addc(&b, '{');
    for (int i = 0; i < 500; i++)
        dse_strbuf_addf(&b, "%s\"%d\":%d", i ? "," : "", i * 7919 % 500, i);
    dse_strbuf_addc(&b, '}');
    assert_ok(parse(b.data), &err);
    assert_int_equal(doc.root->n, 500);
    for (int i = 0; i < 500; i++) {
        char key[12], value[12];

        snprintf(key, sizeof key, "%d", i * 7919 % 500);
        snprintf(value, sizeof value, "%d", i);
        assert_string_equal(doc.root->key[i]->text, key);
        assert_string_equal(doc.root->item[i]->text, value);
    }
    dse_arena_free(&arena);
    dse_strbuf_free(&b);
}

CLAIM(the_text_need_not_end_with_a_nul)
{
    char text[4] = {'[', '1', '2', ']'}; /* the sanitizer sees a read beyond */

    assert_ok(parse_n(text, sizeof text), &err);
    assert_scalar(doc.root->item[0], "12", false);
    dse_arena_free(&arena);
    text[0] = '7';
    assert_ok(parse_n(text, 1), &err);
    assert_scalar(doc.root, "7", false);
    dse_arena_free(&arena);
}

/* ---- refusals: the texts are jansson's ------------------------------------------------------ */

static void refuse(const char *text, const char *where, const char *message)
{
    assert_says(parse(text), &err, DSE_E_SYNTAX, message);
    assert_string_equal(err.where, where);
    assert_null(doc.root);
    assert_null(doc.path);
    dse_arena_free(&arena);
}

CLAIM(a_key_that_stands_twice_is_refused)
{
    refuse("{\"a\": 1,\n \"a\": 2}", "f.json:2:4", "duplicate object key");
}

CLAIM(truncated_documents_are_refused)
{
    static const char whole[] = "{\"a\": [1, {\"b\": \"c\\u00e9\"}], \"d\": -1.5e3}";

    assert_ok(parse(whole), &err);
    dse_arena_free(&arena);
    for (size_t n = 0; n + 1 < sizeof whole; n++) {
        assert_int_equal(parse_n(whole, n), DSE_E_SYNTAX);
        assert_int_equal(err.status, DSE_E_SYNTAX);
        assert_non_null(strstr(err.where, "f.json:1:"));
        dse_arena_free(&arena);
    }
}

CLAIM(columns_of_errors_count_from_1)
{
    refuse("", "f.json:1:1", "near end of file");
    refuse("[1,\n", "f.json:2:1", "near end of file");
    refuse("[1,\n2", "f.json:2:1", "near end of file");
}

CLAIM(more_than_2_gib_are_refused)
{
    dse_arena_init(&arena);
    err = (dse_error)DSE_ERROR_INIT;
    assert_failure(cfg_parse_json("f.json", "[]", (size_t)INT32_MAX + 1, &arena, &doc, &err), &err,
                   DSE_E_RANGE, "f.json", "the JSON is larger than 2147483647 bytes");
    dse_arena_free(&arena);
}

CLAIM(what_follows_the_document_is_refused) { refuse("{} x", "f.json:1:4", "end of file expected"); }

CLAIM(yaml_is_not_json)
{
    refuse("a: 1", "f.json:1:1", "invalid token near 'a'");
    refuse("{'a': 1}", "f.json:1:2", "string or '}' expected near '''");
    refuse("[1,]", "f.json:1:4", "unexpected token near ']'");
    refuse("[01]", "f.json:1:2", "invalid token near '0'");
    refuse("[NaN]", "f.json:1:4", "invalid token near 'NaN'");
}

CLAIM(a_nul_in_a_string_is_refused)
{
    refuse("[\"a\\u0000b\"]", "f.json:1:11", "\\u0000 is not allowed without JSON_ALLOW_NUL");
}

CLAIM(bytes_that_are_not_utf8_are_refused)
{
    assert_int_equal(parse("[\"\xff\"]"), DSE_E_SYNTAX);
    dse_arena_free(&arena);
}

CLAIM(nesting_ends_at_the_limit)
{
    char text[2 * 3000 + 2];

    for (int levels = CFG_MAX_DEPTH; levels <= CFG_MAX_DEPTH + 1; levels++) {
        memset(text, '[', (size_t)levels);
        memset(text + levels, ']', (size_t)levels);
        assert_int_equal(parse_n(text, 2 * (size_t)levels), levels > CFG_MAX_DEPTH ? DSE_E_SYNTAX : DSE_OK);
        assert_string_equal(err.text, levels > CFG_MAX_DEPTH ? "nested too deeply" : "");
        dse_arena_free(&arena);
    }
    memset(text, '[', 3000); /* beyond jansson's own limit of 2048 */
    memset(text + 3000, ']', 3000);
    assert_int_equal(parse_n(text, 6000), DSE_E_SYNTAX);
    dse_arena_free(&arena);
}

/* ---- memory -------------------------------------------------------------------------------- */

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_and_values_know_where_they_stand),
        cmocka_unit_test(numbers_keep_their_spelling),
        cmocka_unit_test(strings_are_decoded_and_quoted),
        cmocka_unit_test(words_are_scalars_without_quotes),
        cmocka_unit_test(a_document_may_be_one_scalar),
        cmocka_unit_test(mappings_keep_the_order_of_the_file),
        cmocka_unit_test(the_text_need_not_end_with_a_nul),
        cmocka_unit_test(a_key_that_stands_twice_is_refused),
        cmocka_unit_test(truncated_documents_are_refused),
        cmocka_unit_test(columns_of_errors_count_from_1),
        cmocka_unit_test(more_than_2_gib_are_refused),
        cmocka_unit_test(what_follows_the_document_is_refused),
        cmocka_unit_test(yaml_is_not_json),
        cmocka_unit_test(a_nul_in_a_string_is_refused),
        cmocka_unit_test(bytes_that_are_not_utf8_are_refused),
        cmocka_unit_test(nesting_ends_at_the_limit),
    };
    return RUN_TESTS(tests);
}
