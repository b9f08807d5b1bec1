/* YAML into a cfg_doc, by libyaml's event parser. */
#include "config/doc.h"

#include <stdio.h>
#include <string.h>
#include <yaml.h>

/* Keys are compared with all that came before; a card has a few dozen. */
#define MAX_ENTRIES 4096u

/* Values of a document that uses an alias, each counted as often as it stands for: an alias of a list of
 * aliases of lists of aliases takes a few bytes for millions of them. */
#define MAX_EXPANDED 1000000u

/* A value with a name, &name, which *name stands for later on. */
typedef struct {
    const char *name;
    cfg_node *node;
    uint64_t n_nodes; /* itself and all below it, aliases written out */
    int height;
} anchor;

typedef struct {
    yaml_parser_t parser;
    const char *text;
    dse_arena *arena;
    cfg_doc doc;
    anchor *anchor; /* in the arena */
    size_t n_anchors, cap_anchors;
    uint64_t n_nodes; /* so far, aliases written out */
    int deepest;      /* of the value that is being read */
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

/* `<<: *name` and `<<: [*name, *other]`: of those mappings the keys that this one does not have, the first's
 * before the second's. Source: YAML's type "merge", as PyYAML's safe loader reads it. */
static dse_status merge(reader *r, cfg_node *map)
{
    cfg_node **items = NULL, **keys = NULL, *from = NULL;
    size_t item_cap = 0, key_cap = 0;
    uint32_t n = 0;
    dse_status st = DSE_OK;

    for (uint32_t i = 0; i < map->n; i++)
        if (!strcmp(map->key[i]->text, "<<") && !map->key[i]->quoted)
            from = map->item[i];
    if (!from)
        return DSE_OK;
    for (uint32_t i = 0; i < map->n; i++) {
        DSE_GROW(items, item_cap, n + 1u);
        DSE_GROW(keys, key_cap, n + 1u);
        keys[n] = map->key[i];
        items[n] = map->item[i];
        n += map->item[i] != from || map->key[i]->quoted || strcmp(map->key[i]->text, "<<") != 0;
    }
    for (uint32_t k = 0; st == DSE_OK && k < (from->kind == CFG_LIST ? from->n : 1); k++) {
        const cfg_node *m = from->kind == CFG_LIST ? from->item[k] : from;

        if (m->kind != CFG_MAP)
            st = cfg_fail(r->err, &r->doc, from, "<< takes a mapping, or a list of some, not %s",
                          cfg_seen(m).text);
        for (uint32_t i = 0; st == DSE_OK && i < m->n; i++) {
            if (!key_is_new((const cfg_node *const *)keys, n, m->key[i]->text))
                continue;
            if (n >= MAX_ENTRIES)
                st = cfg_fail(r->err, &r->doc, from, "too many entries");
            DSE_GROW(items, item_cap, n + 1u);
            DSE_GROW(keys, key_cap, n + 1u);
            keys[n] = m->key[i];
            items[n++] = m->item[i];
        }
    }
    map->n = n;
    map->item = dse_arena_copy(r->arena, items, n, sizeof *items);
    map->key = dse_arena_copy(r->arena, keys, n, sizeof *keys);
    dse_free(items);
    dse_free(keys);
    return st;
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
        st = map ? merge(r, node) : DSE_OK;
    }
    dse_free(items);
    dse_free(keys);
    return st;
}

/* The value that an alias stands for. A value cannot stand for itself: its name is known from its end on. */
static dse_status read_alias(reader *r, yaml_mark_t mark, const char *name, int depth, cfg_node **out)
{
    const anchor *a = NULL;
    char text[160];

    for (size_t i = r->n_anchors; i-- > 0 && !a;) /* the latest of a name */
        if (!strcmp(r->anchor[i].name, name))
            a = &r->anchor[i];
    snprintf(text, sizeof text, "*%.80s has no &%.40s before it", name, name);
    if (!a)
        return fail(r, mark, text);
    if (depth + a->height > CFG_MAX_DEPTH)
        return fail(r, mark, "nested too deeply");
    if ((r->n_nodes += a->n_nodes) > MAX_EXPANDED)
        return fail(r, mark, "aliases stand for more than a million values; write out what is meant");
    if (depth + a->height > r->deepest)
        r->deepest = depth + a->height;
    *out = a->node;
    return DSE_OK;
}

static void keep_anchor(reader *r, const char *name, cfg_node *node, uint64_t n_before, int height)
{
    DSE_ARENA_GROW(r->arena, r->anchor, r->cap_anchors, r->n_anchors + 1);
    r->anchor[r->n_anchors++] = (anchor){name, node, r->n_nodes - n_before, height};
}

/* Turns `event`, which it deletes, and what belongs to it into a node. */
static dse_status read_node(reader *r, yaml_event_t *event, int depth, cfg_node **out)
{
    yaml_mark_t mark = event->start_mark;
    yaml_event_type_t type = event->type;
    uint64_t n_before = r->n_nodes++;
    int deepest = r->deepest;
    dse_status st = DSE_OK;
    cfg_node *node = NULL;
    const yaml_char_t *name = NULL;
    bool has_tag = false;

    r->deepest = depth;
    if (depth > CFG_MAX_DEPTH) {
        st = fail(r, mark, "nested too deeply");
    } else if (type == YAML_SCALAR_EVENT) {
        const char *text = (const char *)event->data.scalar.value;

        name = event->data.scalar.anchor;
        has_tag = event->data.scalar.tag != NULL;
        node = new_node(r, CFG_SCALAR, event);
        node->text = dse_arena_strdup(r->arena, text);
        node->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
        if (strlen(text) != event->data.scalar.length)
            st = fail(r, mark, "a NUL character in a value");
    } else if (type == YAML_SEQUENCE_START_EVENT) {
        name = event->data.sequence_start.anchor;
        has_tag = event->data.sequence_start.tag != NULL;
        node = new_node(r, CFG_LIST, event);
    } else if (type == YAML_MAPPING_START_EVENT) {
        name = event->data.mapping_start.anchor;
        has_tag = event->data.mapping_start.tag != NULL;
        node = new_node(r, CFG_MAP, event);
    } else if (type == YAML_ALIAS_EVENT) {
        r->n_nodes = n_before;
        st = read_alias(r, mark, (const char *)event->data.alias.anchor, depth, &node);
    } else {
        st = fail(r, mark, "unexpected end of the document");
    }
    name = name ? (const yaml_char_t *)dse_arena_strdup(r->arena, (const char *)name) : NULL;
    yaml_event_delete(event);
    if (st == DSE_OK && has_tag)
        st = fail(r, mark, "tags are not supported; write the value alone");
    if (st == DSE_OK && (type == YAML_MAPPING_START_EVENT || type == YAML_SEQUENCE_START_EVENT))
        st = read_entries(r, node,
                          type == YAML_MAPPING_START_EVENT ? YAML_MAPPING_END_EVENT : YAML_SEQUENCE_END_EVENT,
                          depth + 1);
    if (st == DSE_OK && name)
        keep_anchor(r, (const char *)name, node, n_before, r->deepest - depth);
    if (deepest > r->deepest)
        r->deepest = deepest;
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
