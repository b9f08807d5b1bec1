#include "config/doc.h"

#include "base/fs.h"
#include "base/units.h"

#include <inttypes.h>
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

const cfg_node *cfg_other_key(const cfg_node *map, uint32_t first, const char *const *known, size_t n)
{
    for (uint32_t i = first; i < map->n; i++) {
        size_t k = 0;

        while (k < n && strcmp(map->key[i]->text, known[k]) != 0)
            k++;
        if (k == n)
            return map->key[i];
    }
    return NULL;
}

const char *cfg_where(const cfg_doc *doc, const cfg_node *node, cfg_place *place)
{
    if (node)
        snprintf(place->text, sizeof place->text, "%.200s:%" PRIu32 ":%" PRIu32, doc->path, node->line,
                 node->column);
    else
        snprintf(place->text, sizeof place->text, "%.200s", doc->path);
    return place->text;
}

const char *cfg_describe(const cfg_node *node, cfg_place *scratch)
{
    if (node->kind == CFG_LIST)
        return "a list";
    if (node->kind == CFG_MAP)
        return "a mapping";
    snprintf(scratch->text, sizeof scratch->text, "'%.80s'", node->text);
    return scratch->text;
}

dse_status cfg_string(const cfg_doc *doc, const cfg_node *node, const char *what, const char **out,
                      dse_error *err)
{
    cfg_place at, seen;

    if (node->kind != CFG_SCALAR || !node->text[0])
        return dse_fail_at(err, DSE_E_CONFIG, cfg_where(doc, node, &at), "%s must be a name, not %s", what,
                           cfg_describe(node, &seen));
    *out = node->text;
    return DSE_OK;
}

dse_status cfg_int(const cfg_doc *doc, const cfg_node *node, const char *what, int64_t min, int64_t max,
                   int64_t *out, dse_error *err)
{
    cfg_place at, seen;
    int64_t v;

    if (node->kind != CFG_SCALAR || node->quoted || dse_parse_int(node->text, &v, NULL) != DSE_OK)
        return dse_fail_at(err, DSE_E_CONFIG, cfg_where(doc, node, &at), "%s must be a whole number, not %s",
                           what, cfg_describe(node, &seen));
    if (v < min || v > max)
        return dse_fail_at(err, DSE_E_RANGE, cfg_where(doc, node, &at),
                           "%s is %" PRId64 "; it must be between %" PRId64 " and %" PRId64, what, v, min,
                           max);
    *out = v;
    return DSE_OK;
}
