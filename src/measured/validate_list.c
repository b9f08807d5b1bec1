#include "base/array.h"
#include "base/units.h"
#include "measured/validate.h"

#include <math.h>
#include <string.h>

static dse_status read_text(const cfg_doc *doc, const cfg_node *map, const char *key, const char **out,
                            dse_error *err)
{
    const cfg_node *node = cfg_get(map, key);

    return node ? cfg_string(doc, node, key, out, err) : cfg_fail(err, doc, map, "'%s' is missing", key);
}

/* Without the key *n and *out stay. */
static dse_status read_texts(const cfg_doc *doc, const cfg_node *map, const char *key, dse_arena *a,
                             const char ***out, size_t *n, dse_error *err)
{
    const cfg_node *list = cfg_get(map, key);
    dse_status st = DSE_OK;

    if (!list)
        return DSE_OK;
    if (list->kind != CFG_LIST)
        return cfg_fail(err, doc, list, "'%s' must be a list", key);
    *out = DSE_ARENA_NEW(a, const char *, list->n);
    *n = list->n;
    for (uint32_t i = 0; st == DSE_OK && i < list->n; i++)
        st = cfg_string(doc, list->item[i], key, &(*out)[i], err);
    return st;
}

/* A percentage as a fraction; NaN without the key. */
static dse_status read_percent(const cfg_doc *doc, const cfg_node *map, const char *key, double *out,
                               dse_error *err)
{
    const cfg_node *node = cfg_get(map, key);

    *out = NAN;
    if (!node)
        return DSE_OK;
    if (node->kind != CFG_SCALAR || dse_parse_double(node->text, out, NULL) != DSE_OK)
        return cfg_fail(err, doc, node, "'%s' must be a number of percent, not %s", key, cfg_seen(node).text);
    *out /= 100;
    return DSE_OK;
}

static dse_status read_peers(const cfg_doc *doc, const cfg_node *row, dse_arena *a, msr_validate_table *t,
                             dse_error *err)
{
    static const char *const known[] = {"name", "mean", "worst", "source"};
    const cfg_node *list = cfg_get(row, "peers");
    dse_status st = DSE_OK;

    if (!list)
        return DSE_OK;
    t->peer = DSE_ARENA_NEW(a, report_validated_peer, list->n);
    for (uint32_t i = 0; i < list->n; i++) {
        report_validated_peer *p = &t->peer[t->n_peers++];

        if ((st = cfg_only_keys(doc, list->item[i], "a peer", known, DSE_COUNT(known), err)) != DSE_OK ||
            (st = read_text(doc, list->item[i], "name", &p->name, err)) != DSE_OK ||
            (st = read_text(doc, list->item[i], "source", &p->source, err)) != DSE_OK ||
            (st = read_percent(doc, list->item[i], "mean", &p->mean, err)) != DSE_OK ||
            (st = read_percent(doc, list->item[i], "worst", &p->worst, err)) != DSE_OK)
            return st;
    }
    return DSE_OK;
}

/* "stated: [{only: [tag=v25.04], fields: {interleaving: 12}, source: ...}]". */
static dse_status read_stated(const cfg_doc *doc, const cfg_node *row, dse_arena *a, msr_validate_table *t,
                              dse_error *err)
{
    static const char *const known[] = {"only", "fields", "source"};
    const cfg_node *list = cfg_get(row, "stated");
    dse_status st;

    if (!list)
        return DSE_OK;
    if (list->kind != CFG_LIST)
        return cfg_fail(err, doc, list, "'stated' must be a list");
    t->stated = DSE_ARENA_NEW(a, msr_stated, list->n);
    for (uint32_t i = 0; i < list->n; i++) {
        msr_stated *s = &t->stated[t->n_stated++];

        if ((st = cfg_only_keys(doc, list->item[i], "what is stated", known, DSE_COUNT(known), err)) !=
                DSE_OK ||
            (st = read_texts(doc, list->item[i], "only", a, &s->only, &s->n_only, err)) != DSE_OK ||
            (st = read_text(doc, list->item[i], "source", &s->source, err)) != DSE_OK)
            return st;
        s->fields = cfg_get(list->item[i], "fields");
        if (!s->n_only || !s->fields || s->fields->kind != CFG_MAP)
            return cfg_fail(err, doc, list->item[i],
                            "what is stated needs 'only', rows, and 'fields', a mapping");
        for (uint32_t k = 0; k < s->fields->n; k++)
            if (s->fields->item[k]->kind != CFG_SCALAR)
                return cfg_fail(err, doc, s->fields->item[k], "'%s' must be a value, not %s",
                                s->fields->key[k]->text, cfg_seen(s->fields->item[k]).text);
    }
    return DSE_OK;
}

/* "choose: tokens", "profiled: true". */
static dse_status read_word(const cfg_doc *doc, const cfg_node *row, const char *key, const char *word,
                            bool *out, dse_error *err)
{
    const cfg_node *node = cfg_get(row, key);

    *out = node != NULL;
    return !node || (node->kind == CFG_SCALAR && !strcmp(node->text, word))
               ? DSE_OK
               : cfg_fail(err, doc, node, "'%s' is '%s' or not there, not %s", key, word,
                          cfg_seen(node).text);
}

static dse_status read_table(const cfg_doc *doc, const cfg_node *row, dse_arena *a, msr_validate_table *t,
                             dse_error *err)
{
    static const char *const known[] = {"title", "measured", "system",   "only",   "set",    "fit", "choose",
                                        "peers", "profiled", "evidence", "except", "stated", "kind"};
    dse_status st;

    if ((st = cfg_only_keys(doc, row, "a table", known, DSE_COUNT(known), err)) != DSE_OK ||
        (st = read_text(doc, row, "title", &t->title, err)) != DSE_OK ||
        (st = read_text(doc, row, "measured", &t->measured, err)) != DSE_OK ||
        (st = read_text(doc, row, "system", &t->system, err)) != DSE_OK ||
        (st = read_texts(doc, row, "only", a, &t->only, &t->n_only, err)) != DSE_OK ||
        (st = read_texts(doc, row, "set", a, &t->set, &t->n_set, err)) != DSE_OK ||
        (st = read_texts(doc, row, "fit", a, &t->fit, &t->n_fit, err)) != DSE_OK ||
        (st = read_word(doc, row, "choose", "tokens", &t->by_tokens, err)) != DSE_OK ||
        (st = read_word(doc, row, "profiled", "true", &t->is_profiled, err)) != DSE_OK ||
        (st = read_word(doc, row, "evidence", "false", &t->no_evidence, err)) != DSE_OK ||
        (st = read_word(doc, row, "kind", "measured", &t->is_measured, err)) != DSE_OK ||
        (st = read_texts(doc, row, "except", a, &t->except, &t->n_except, err)) != DSE_OK)
        return st;
    t->ships = !strchr(t->measured, '.');
    if ((st = read_stated(doc, row, a, t, err)) != DSE_OK)
        return st;
    return read_peers(doc, row, a, t, err);
}

dse_status msr_validate_list_read(const char *path, dse_arena *a, msr_validate_table **out, size_t *n,
                                  dse_error *err)
{
    static const char *const known[] = {"fit", "tables"};
    const cfg_node *list;
    const char **fit = NULL;
    size_t n_fit = 0;
    cfg_doc doc;
    dse_status st;

    if ((st = cfg_load(path, a, &doc, err)) != DSE_OK ||
        (st = cfg_only_keys(&doc, doc.root, "a list of tables", known, DSE_COUNT(known), err)) != DSE_OK ||
        (st = read_texts(&doc, doc.root, "fit", a, &fit, &n_fit, err)) != DSE_OK)
        return st;
    if (!(list = cfg_get(doc.root, "tables")) || list->kind != CFG_LIST)
        return cfg_fail(err, &doc, list ? list : doc.root, "'tables' must be a list of tables");
    *out = DSE_ARENA_NEW(a, msr_validate_table, list->n);
    *n = list->n;
    for (uint32_t i = 0; st == DSE_OK && i < list->n; i++) {
        (*out)[i] = (msr_validate_table){.fit = fit, .n_fit = n_fit};
        st = read_table(&doc, list->item[i], a, &(*out)[i], err);
    }
    return st;
}
