/* YAML into a cfg_doc, by libyaml's event parser. */
#include "config/doc.h"

#include <stdio.h>
#include <string.h>
#include <yaml.h>

/* Keys are compared with all that came before; a card has a few dozen. */
#define MAX_ENTRIES 4096u

typedef struct {
    yaml_parser_t parser;
    const char *text;
    dse_arena *arena;
    cfg_doc doc;
    dse_error *err;
} reader;

static dse_status read_node(reader *r, yaml_event_t *first, int depth, cfg_node **out);

static dse_status fail(reader *r, yaml_mark_t mark, const char *problem)
{
    char where[256];

    snprintf(where, sizeof where, "%.200s:%zu:%zu", r->doc.path, mark.line + 1, mark.column + 1);
    return dse_fail_at(r->err, DSE_E_SYNTAX, where, "%s", problem);
}

/* For bytes that are no characters libyaml gives only their offset. Counts characters, as libyaml's marks do.
 * Cards in UTF-16 are rare: their error names the file alone. */
static dse_status fail_reading(reader *r)
{
    size_t end = r->parser.problem_offset, at = 0;
    yaml_mark_t mark = {0};

    if (r->parser.encoding != YAML_UTF8_ENCODING)
        return dse_fail_at(r->err, DSE_E_SYNTAX, r->doc.path, "%s", r->parser.problem);
    if (end >= 3 && !memcmp(r->text, "\xef\xbb\xbf", 3))
        at = 3; /* the byte-order mark is no character */
    for (; at < end; at++) {
        if (r->text[at] == '\n') {
            mark.line++;
            mark.column = 0;
        } else if ((r->text[at] & 0xc0) != 0x80) {
            mark.column++;
        }
    }
    return fail(r, mark, r->parser.problem);
}

static dse_status next_event(reader *r, yaml_event_t *event)
{
    if (yaml_parser_parse(&r->parser, event))
        return DSE_OK;
    if (r->parser.error == YAML_MEMORY_ERROR)
        dse_out_of_memory();
    if (r->parser.error == YAML_READER_ERROR)
        return fail_reading(r);
    return fail(r, r->parser.problem_mark, r->parser.problem ? r->parser.problem : "this is not YAML");
}

static cfg_node *new_node(reader *r, cfg_kind kind, const yaml_event_t *event)
{
    cfg_node *node = DSE_ARENA_NEW(r->arena, cfg_node, 1);

    node->kind = kind;
    node->line = (uint32_t)event->start_mark.line + 1;
    node->column = (uint32_t)event->start_mark.column + 1;
    return node;
}

static bool key_is_new(const cfg_node *const *keys, size_t n, const char *text)
{
    for (size_t i = 0; i < n; i++)
        if (!strcmp(keys[i]->text, text))
            return false;
    return true;
}

/* The entries of a list or mapping up to its end event; keys[] stays empty for a list. */
static dse_status read_entries(reader *r, cfg_node *node, yaml_event_type_t end, int depth)
{
    cfg_node **items = NULL, **keys = NULL;
    size_t item_cap = 0, key_cap = 0;
    dse_status st;
    bool map = node->kind == CFG_MAP;

    for (;;) {
        yaml_event_t event;

        if ((st = next_event(r, &event)) != DSE_OK)
            break;
        if (event.type == end) {
            yaml_event_delete(&event);
            break;
        }
        if (node->n >= MAX_ENTRIES) {
            st = fail(r, event.start_mark, "too many entries");
            yaml_event_delete(&event);
            break;
        }
        DSE_GROW(items, item_cap, node->n + 1u);
        DSE_GROW(keys, key_cap, node->n + 1u);
        if (map) {
            yaml_mark_t mark = event.start_mark;
            cfg_node *key;

            if ((st = read_node(r, &event, depth, &key)) != DSE_OK)
                break;
            if (key->kind != CFG_SCALAR) {
                st = fail(r, mark, "a key must be a plain word");
                break;
            }
            if (!key_is_new((const cfg_node *const *)keys, node->n, key->text)) {
                char text[160];
                snprintf(text, sizeof text, "the key '%.80s' stands twice", key->text);
                st = fail(r, mark, text);
                break;
            }
            keys[node->n] = key;
            if ((st = next_event(r, &event)) != DSE_OK)
                break;
        }
        if ((st = read_node(r, &event, depth, &items[node->n])) != DSE_OK)
            break;
        node->n++;
    }
    if (st == DSE_OK && node->n) {
        node->item = dse_arena_copy(r->arena, items, node->n, sizeof *items);
        node->key = map ? dse_arena_copy(r->arena, keys, node->n, sizeof *keys) : NULL;
    }
    dse_free(items);
    dse_free(keys);
    return st;
}

/* Turns `event`, which it deletes, and what belongs to it into a node. */
static dse_status read_node(reader *r, yaml_event_t *event, int depth, cfg_node **out)
{
    yaml_mark_t mark = event->start_mark;
    yaml_event_type_t type = event->type;
    dse_status st = DSE_OK;
    cfg_node *node = NULL;
    bool has_anchor = false, has_tag = false;

    if (depth > CFG_MAX_DEPTH) {
        st = fail(r, mark, "nested too deeply");
    } else if (type == YAML_SCALAR_EVENT) {
        const char *text = (const char *)event->data.scalar.value;

        has_anchor = event->data.scalar.anchor != NULL;
        has_tag = event->data.scalar.tag != NULL;
        node = new_node(r, CFG_SCALAR, event);
        node->text = dse_arena_strdup(r->arena, text);
        node->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
        if (strlen(text) != event->data.scalar.length)
            st = fail(r, mark, "a NUL character in a value");
    } else if (type == YAML_SEQUENCE_START_EVENT || type == YAML_MAPPING_START_EVENT) {
        has_anchor = type == YAML_SEQUENCE_START_EVENT ? event->data.sequence_start.anchor != NULL
                                                       : event->data.mapping_start.anchor != NULL;
        has_tag = type == YAML_SEQUENCE_START_EVENT ? event->data.sequence_start.tag != NULL
                                                    : event->data.mapping_start.tag != NULL;
        node = new_node(r, type == YAML_MAPPING_START_EVENT ? CFG_MAP : CFG_LIST, event);
    } else {
        st = fail(r, mark,
                  type == YAML_ALIAS_EVENT ? "aliases are not supported; write the value out"
                                           : "unexpected end of the document");
    }
    yaml_event_delete(event);
    if (st == DSE_OK && has_anchor)
        st = fail(r, mark, "anchors are not supported; write the value out");
    if (st == DSE_OK && has_tag)
        st = fail(r, mark, "tags are not supported; write the value alone");
    if (st == DSE_OK && node->kind != CFG_SCALAR)
        st = read_entries(r, node, node->kind == CFG_MAP ? YAML_MAPPING_END_EVENT : YAML_SEQUENCE_END_EVENT,
                          depth + 1);
    if (st == DSE_OK)
        *out = node;
    return st;
}

/* stream-start [document-start node document-end] stream-end */
static dse_status read_stream(reader *r)
{
    yaml_event_t event;
    dse_status st;
    bool seen = false;

    for (;;) {
        yaml_event_type_t type;

        if ((st = next_event(r, &event)) != DSE_OK)
            return st;
        type = event.type;
        if (type == YAML_STREAM_START_EVENT || type == YAML_DOCUMENT_END_EVENT) {
            yaml_event_delete(&event);
            continue;
        }
        if (type == YAML_STREAM_END_EVENT) {
            yaml_mark_t mark = event.start_mark;
            yaml_event_delete(&event);
            return seen ? DSE_OK : fail(r, mark, "the file is empty");
        }
        if (seen) {
            yaml_mark_t mark = event.start_mark;
            yaml_event_delete(&event);
            return fail(r, mark, "a second document in one file");
        }
        yaml_event_delete(&event); /* document start */
        if ((st = next_event(r, &event)) != DSE_OK)
            return st;
        if ((st = read_node(r, &event, 0, &r->doc.root)) != DSE_OK)
            return st;
        seen = true;
    }
}

dse_status cfg_parse_yaml(const char *path, const char *text, size_t n, dse_arena *a, cfg_doc *out,
                          dse_error *err)
{
    reader r = {.text = text, .arena = a, .doc = {.path = path}, .err = err};
    dse_status st;

    if (!yaml_parser_initialize(&r.parser))
        dse_out_of_memory();
    yaml_parser_set_input_string(&r.parser, (const unsigned char *)text, n);
    st = read_stream(&r);
    yaml_parser_delete(&r.parser);
    if (st == DSE_OK)
        *out = r.doc;
    return st;
}

const char *cfg_yaml_version(void) { return yaml_get_version_string(); }
