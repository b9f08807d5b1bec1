/* JSON into a document: the values are jansson's, the places are found by walking beside it. A scalar that
 * is not a string must be found where its place says. */
#include "config/doc.h"
#include "fuzz/fuzz.h"

#include <string.h>

typedef struct {
    const char *text;
    size_t n;
} source;

/* The bytes at a line and a column. */
static const char *at(const source *s, uint32_t line, uint32_t column, size_t *left)
{
    const char *p = s->text;

    for (uint32_t i = 1; i < line; i++) {
        p = memchr(p, '\n', s->n - (size_t)(p - s->text));
        ENSURE(p != NULL);
        p++;
    }
    ENSURE((size_t)(p - s->text) + column - 1 < s->n);
    p += column - 1;
    *left = s->n - (size_t)(p - s->text);
    return p;
}

static void check_tree(const source *s, const cfg_node *n, int depth)
{
    size_t left;
    const char *p = at(s, n->line, n->column, &left);

    ENSURE(depth <= CFG_MAX_DEPTH);
    if (n->kind == CFG_SCALAR) {
        ENSURE(n->text && !n->n);
        ENSURE(n->quoted ? *p == '"' : strlen(n->text) <= left && !memcmp(p, n->text, strlen(n->text)));
        return;
    }
    ENSURE(*p == (n->kind == CFG_MAP ? '{' : '['));
    for (uint32_t i = 0; i < n->n; i++) {
        if (n->kind == CFG_MAP)
            check_tree(s, n->key[i], depth + 1);
        check_tree(s, n->item[i], depth + 1);
        ENSURE(n->kind == CFG_LIST || cfg_get(n, n->key[i]->text) == n->item[i]);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const source s = {(const char *)data, size};
    dse_error err = DSE_ERROR_INIT;
    cfg_doc doc = {0};
    dse_arena arena;

    if (size > FUZZ_MAX_BYTES)
        return 0;
    dse_arena_init(&arena);
    if (fuzz_ok(cfg_parse_json("file.json", s.text, size, &arena, &doc, &err), &err))
        check_tree(&s, doc.root, 0);
    dse_arena_free(&arena);
    return 0;
}
