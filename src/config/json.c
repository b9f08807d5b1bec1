/* JSON into a cfg_doc. jansson decides what is JSON and decodes strings; it keeps no positions, so the
 * text, known to be valid by then, is walked once more beside the decoded value to find them. Numbers
 * keep their spelling: "0.10" stays "0.10". jansson reads integers as reals, since it refuses those beyond
 * 63 bits; what a number means is decided from its spelling. */
#include "config/doc.h"

#include <jansson.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

typedef struct {
    const char *p, *end;
    uint32_t line;
    const char *line_start;
    dse_arena *arena;
    const char *path;
    dse_error *err;
} walker;

static void skip_space(walker *w)
{
    while (w->p < w->end && strchr(" \t\r\n", *w->p)) {
        if (*w->p == '\n') {
            w->line++;
            w->line_start = w->p + 1;
        }
        w->p++;
    }
}

/* Past the closing quote of the string that starts here. Strings contain no raw newline. */
static void skip_string(walker *w)
{
    for (w->p++; *w->p != '"'; w->p++)
        if (*w->p == '\\')
            w->p++;
    w->p++;
}

static cfg_node *new_node(walker *w, cfg_kind kind)
{
    cfg_node *node = DSE_ARENA_NEW(w->arena, cfg_node, 1);

    node->kind = kind;
    node->line = w->line;
    node->column = (uint32_t)(w->p - w->line_start) + 1;
    return node;
}

static cfg_node *scalar(walker *w, const json_t *value)
{
    cfg_node *node = new_node(w, CFG_SCALAR);
    const char *start = w->p;

    if (json_is_string(value)) {
        skip_string(w);
        node->quoted = true;
        node->text = dse_arena_strdup(w->arena, json_string_value(value));
    } else {
        while (w->p < w->end && !strchr(",]} \t\r\n", *w->p))
            w->p++;
        node->text = dse_arena_strndup(w->arena, start, (size_t)(w->p - start));
    }
    return node;
}

static dse_status walk(walker *w, json_t *value, int depth, cfg_node **out)
{
    bool map = json_is_object(value);
    cfg_node *node;
    size_t n;
    void *it = map ? json_object_iter(value) : NULL;

    skip_space(w);
    if (!map && !json_is_array(value)) {
        *out = scalar(w, value);
        return DSE_OK;
    }
    if (depth >= CFG_MAX_DEPTH)
        return dse_fail_at(w->err, DSE_E_SYNTAX, w->path, "nested too deeply");
    n = map ? json_object_size(value) : json_array_size(value);
    node = new_node(w, map ? CFG_MAP : CFG_LIST);
    node->item = DSE_ARENA_RAW(w->arena, cfg_node *, n);
    node->key = map ? DSE_ARENA_RAW(w->arena, cfg_node *, n) : NULL;
    w->p++; /* the bracket */
    for (; node->n < n; node->n++) {
        dse_status st;

        skip_space(w);
        if (map) { /* jansson iterates in the order of the text */
            cfg_node *key = new_node(w, CFG_SCALAR);

            key->text = dse_arena_strdup(w->arena, json_object_iter_key(it));
            key->quoted = true;
            node->key[node->n] = key;
            skip_string(w);
            skip_space(w);
            w->p++; /* the colon */
        }
        st = walk(w, map ? json_object_iter_value(it) : json_array_get(value, node->n), depth + 1,
                  &node->item[node->n]);
        if (st != DSE_OK)
            return st;
        if (map)
            it = json_object_iter_next(value, it);
        skip_space(w);
        if (w->p < w->end && *w->p == ',')
            w->p++;
    }
    skip_space(w);
    w->p++; /* the closing bracket */
    *out = node;
    return DSE_OK;
}

/* jansson takes some of its allocations that failed for errors in the text, and crashes of others. */
static void *allocate(size_t n) { return dse_realloc(NULL, n); }
static void set_allocator(void) { json_set_alloc_funcs(allocate, dse_free); }

dse_status cfg_parse_json(const char *path, const char *text, size_t n, dse_arena *a, cfg_doc *out,
                          dse_error *err)
{
    walker w = {
        .p = text, .end = text + n, .line = 1, .line_start = text, .arena = a, .path = path, .err = err};
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    json_error_t je;
    json_t *value;
    dse_status st;

    pthread_once(&once, set_allocator);
    if (n > INT_MAX) /* jansson counts lines and columns in an int */
        return dse_fail_at(err, DSE_E_RANGE, path, "the JSON is larger than %d bytes", INT_MAX);
    value = json_loadb(text, n, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY | JSON_DECODE_INT_AS_REAL, &je);
    if (!value && json_error_code(&je) == json_error_out_of_memory)
        dse_out_of_memory();
    if (!value) {
        char where[256];

        /* jansson counts the characters read: none yet at the start of a line. */
        snprintf(where, sizeof where, "%.200s:%d:%d", path, je.line, je.column > 0 ? je.column : 1);
        return dse_fail_at(err, DSE_E_SYNTAX, where, "%s", je.text);
    }
    st = walk(&w, value, 0, &out->root);
    if (st == DSE_OK)
        out->path = path;
    json_decref(value);
    return st;
}

const char *cfg_json_version(void) { return jansson_version_str(); }
