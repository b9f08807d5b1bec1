#include "config/doc.h"

#include "base/fs.h"
#include "base/names.h"
#include "base/units.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

dse_status cfg_load(const char *path, dse_arena *a, cfg_doc *out, dse_error *err)
{
    size_t n = strlen(path);
    const char *name = dse_arena_strdup(a, path);
    dse_strbuf text;
    dse_status st;

    dse_strbuf_init(&text);
    st = dse_read_file(path, CFG_MAX_BYTES, &text, err);
    if (st == DSE_OK) {
        if (n > 5 && !strcmp(path + n - 5, ".json"))
            st = cfg_parse_json(name, text.data, text.len, a, out, err);
        else
            st = cfg_parse_yaml(name, text.data, text.len, a, out, err);
    }
    dse_strbuf_free(&text);
    return st;
}

const cfg_node *cfg_get(const cfg_node *node, const char *key)
{
    if (!node || node->kind != CFG_MAP)
        return NULL;
    for (uint32_t i = 0; i < node->n; i++)
        if (!strcmp(node->key[i]->text, key))
            return node->item[i];
    return NULL;
}

cfg_place cfg_at(const cfg_doc *doc, const cfg_node *node)
{
    cfg_place at;

    if (node)
        snprintf(at.text, sizeof at.text, "%.200s:%" PRIu32 ":%" PRIu32, doc->path, node->line, node->column);
    else
        snprintf(at.text, sizeof at.text, "%.200s", doc->path);
    return at;
}

dse_status cfg_fail(dse_error *err, const cfg_doc *doc, const cfg_node *node, const char *fmt, ...)
{
    char text[sizeof err->text];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    return dse_fail_at(err, DSE_E_CONFIG, cfg_at(doc, node).text, "%s", text);
}

cfg_place cfg_seen(const cfg_node *node)
{
    cfg_place seen;

    if (node->kind == CFG_SCALAR)
        snprintf(seen.text, sizeof seen.text, "'%.80s'", node->text);
    else
        snprintf(seen.text, sizeof seen.text, "%s", node->kind == CFG_LIST ? "a list" : "a mapping");
    return seen;
}

dse_status cfg_only_keys(const cfg_doc *doc, const cfg_node *map, const char *what, const char *const *known,
                         size_t n, dse_error *err)
{
    if (map->kind != CFG_MAP)
        return cfg_fail(err, doc, map, "%s must be a mapping, not %s", what, cfg_seen(map).text);
    for (uint32_t i = 0; i < map->n; i++) {
        const cfg_node *key = map->key[i];
        size_t k = 0;

        while (k < n && strcmp(key->text, known[k]) != 0)
            k++;
        if (k == n)
            return dse_fail_unknown(err, DSE_E_CONFIG, cfg_at(doc, key).text, "key", key->text, known, n);
    }
    return DSE_OK;
}

dse_status cfg_string(const cfg_doc *doc, const cfg_node *node, const char *what, const char **out,
                      dse_error *err)
{
    if (node->kind != CFG_SCALAR || !node->text[0])
        return cfg_fail(err, doc, node, "%s must be a name, not %s", what, cfg_seen(node).text);
    *out = node->text;
    return DSE_OK;
}

dse_status cfg_int(const cfg_doc *doc, const cfg_node *node, const char *what, int64_t min, int64_t max,
                   int64_t *out, dse_error *err)
{
    int64_t v;

    if (node->kind != CFG_SCALAR || node->quoted || dse_parse_int(node->text, &v, NULL) != DSE_OK)
        return cfg_fail(err, doc, node, "%s must be a whole number, not %s", what, cfg_seen(node).text);
    if (v < min || v > max)
        return dse_fail_at(err, DSE_E_RANGE, cfg_at(doc, node).text,
                           "%s is %" PRId64 "; it must be between %" PRId64 " and %" PRId64, what, v, min,
                           max);
    *out = v;
    return DSE_OK;
}

void cfg_write_json(const cfg_node *node, dse_json *j)
{
    if (node->kind == CFG_SCALAR && node->quoted) {
        dse_json_string(j, node->text);
    } else if (node->kind == CFG_SCALAR) {
        dse_json_raw(j);
        dse_strbuf_adds(j->out, *node->text ? node->text : "null");
    } else {
        bool map = node->kind == CFG_MAP;

        map ? dse_json_begin_object(j) : dse_json_begin_array(j);
        for (uint32_t i = 0; i < node->n; i++) {
            if (map)
                dse_json_key(j, node->key[i]->text);
            cfg_write_json(node->item[i], j);
        }
        map ? dse_json_end_object(j) : dse_json_end_array(j);
    }
}
