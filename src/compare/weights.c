#include "compare/weights.h"

#include "base/names.h"
#include "base/units.h"

#include <string.h>

static bool is_known(const char *name, const char *const *known, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(known[i], name) == 0)
            return true;
    return false;
}

static dse_status read_weight(const cfg_doc *doc, const char *metric, const cfg_node *value, double *out,
                              dse_error *err)
{
    if (value->kind != CFG_SCALAR || value->quoted || dse_parse_double(value->text, out, NULL) != DSE_OK)
        return cfg_fail(err, doc, value, "the weight of '%s' must be a number, not %s", metric,
                        cfg_seen(value).text);
    if (!(*out >= 0 && *out <= CMP_MOST_WEIGHT))
        return cfg_fail(err, doc, value, "the weight of '%s' is %.40s; a weight is between 0 and %g", metric,
                        value->text, CMP_MOST_WEIGHT);
    return DSE_OK;
}

static dse_status read_all(const cfg_doc *doc, const char *const *known, size_t n_known, cmp_weights *w,
                           dse_error *err)
{
    double sum = 0;

    for (uint32_t i = 0; i < doc->root->n; i++) {
        const cfg_node *key = doc->root->key[i];
        dse_status st;

        if (known && !is_known(key->text, known, n_known))
            return dse_fail_unknown(err, DSE_E_CONFIG, cfg_at(doc, key).text, "metric", key->text, known,
                                    n_known);
        st = read_weight(doc, key->text, doc->root->item[i], &w->weight[i], err);
        if (st != DSE_OK)
            return st;
        w->name[i] = key->text;
        sum += w->weight[i] > 0;
    }
    if (sum > 0)
        return DSE_OK;
    return cfg_fail(err, doc, NULL, "no metric has a weight above 0; give one a weight: 'METRIC: 1'");
}

dse_status cmp_weights_read(const cfg_doc *doc, const char *const *known, size_t n_known, dse_arena *a,
                            cmp_weights *out, dse_error *err)
{
    const cfg_node *root = doc->root;
    cmp_weights w;
    dse_status st;

    if (root->kind != CFG_MAP)
        return cfg_fail(err, doc, root, "weights are lines of 'METRIC: WEIGHT', not %s", cfg_seen(root).text);
    w = (cmp_weights){.path = dse_arena_strdup(a, doc->path),
                      .n = root->n,
                      .name = DSE_ARENA_NEW(a, const char *, root->n),
                      .weight = DSE_ARENA_NEW(a, double, root->n)};
    st = read_all(doc, known, n_known, &w, err);
    if (st == DSE_OK)
        *out = w;
    return st;
}

dse_status cmp_weights_load(const char *path, const char *const *known, size_t n_known, dse_arena *a,
                            cmp_weights *out, dse_error *err)
{
    cfg_doc doc;
    dse_status st = cfg_load(path, a, &doc, err);

    return st == DSE_OK ? cmp_weights_read(&doc, known, n_known, a, out, err) : st;
}

double cmp_weight_of(const cmp_weights *w, const char *metric)
{
    for (size_t i = 0; i < w->n; i++)
        if (strcmp(w->name[i], metric) == 0)
            return w->weight[i];
    return 0;
}
