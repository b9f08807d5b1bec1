#include "compare/bands.h"

#include "base/array.h"
#include "base/names.h"
#include "base/order.h"
#include "base/units.h"
#include "compare/groups.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TAIL ((1 - CMP_BAND_SHARE) / 2) /* on either side */

const char *const cmp_size_name[CMP_SIZES] = {"below 10e9", "10e9 to 100e9", "above 100e9"};

cmp_size cmp_size_of(double parameters)
{
    return parameters < 10e9 ? CMP_SIZE_SMALL : parameters <= 100e9 ? CMP_SIZE_MIDDLE : CMP_SIZE_LARGE;
}

/* ---- the file ----------------------------------------------------------------------------------- */

static const char *const keys[] = {"table", "device",   "program",  "framework", "model",
                                   "size",  "sequence", "elements", "experts",   "ratios"};

static dse_status read_size(const cfg_doc *doc, const cfg_node *row, cmp_size *out, dse_error *err)
{
    const cfg_node *node = cfg_get(row, "size");
    const char *text;
    dse_status st = cfg_string(doc, node ? node : row, "size", &text, err);

    for (int i = 0; st == DSE_OK && i < CMP_SIZES; i++)
        if (!strcmp(text, cmp_size_name[i])) {
            *out = (cmp_size)i;
            return DSE_OK;
        }
    return st == DSE_OK ? dse_fail_unknown(err, DSE_E_CONFIG, cfg_at(doc, node).text, "size", text,
                                           cmp_size_name, CMP_SIZES)
                        : st;
}

/* Without the key 0. */
static dse_status read_sequence(const cfg_doc *doc, const cfg_node *row, int64_t *out, dse_error *err)
{
    const cfg_node *node = cfg_get(row, "sequence");

    *out = 0;
    return !node || (node->kind == CFG_SCALAR && dse_parse_int(node->text, out, NULL) == DSE_OK && *out > 0)
               ? DSE_OK
               : cfg_fail(err, doc, node, "'sequence' must be a number of tokens above 0, not %s",
                          cfg_seen(node).text);
}

/* Without the key 16. */
static dse_status read_bits(const cfg_doc *doc, const cfg_node *row, int *out, dse_error *err)
{
    const cfg_node *node = cfg_get(row, "elements");

    *out = 16;
    if (!node)
        return DSE_OK;
    for (int bits = 4; bits <= 16; bits *= 2) {
        char text[16];

        snprintf(text, sizeof text, "%d", bits);
        if (node->kind == CFG_SCALAR && !strcmp(node->text, text)) {
            *out = bits;
            return DSE_OK;
        }
    }
    return cfg_fail(err, doc, node, "'elements' must be 16, 8 or 4 bits, not %s", cfg_seen(node).text);
}

/* Without the key there are none. */
static dse_status read_experts(const cfg_doc *doc, const cfg_node *row, bool *out, dse_error *err)
{
    const cfg_node *node = cfg_get(row, "experts");

    *out = node != NULL;
    return !node || (node->kind == CFG_SCALAR && !strcmp(node->text, "true"))
               ? DSE_OK
               : cfg_fail(err, doc, node, "'experts' must be true, not %s", cfg_seen(node).text);
}

static dse_status read_ratios(const cfg_doc *doc, const cfg_node *row, dse_arena *a, cmp_evidence *out,
                              dse_error *err)
{
    const cfg_node *list = cfg_get(row, "ratios");

    if (!list || list->kind != CFG_LIST || !list->n)
        return cfg_fail(err, doc, list ? list : row,
                        "'ratios' must be a list of measured over simulated step times");
    out->n = list->n;
    out->ratio = DSE_ARENA_NEW(a, double, list->n);
    for (uint32_t i = 0; i < list->n; i++) {
        const cfg_node *v = list->item[i];

        if (v->kind != CFG_SCALAR || dse_parse_double(v->text, &out->ratio[i], NULL) != DSE_OK ||
            !(out->ratio[i] > 0) || !isfinite(out->ratio[i]))
            return cfg_fail(err, doc, v, "a ratio must be a number above 0, not %s", cfg_seen(v).text);
    }
    return DSE_OK;
}

static dse_status read_row(const cfg_doc *doc, const cfg_node *row, dse_arena *a, cmp_evidence *out,
                           dse_error *err)
{
    const struct {
        const char *key, **to;
    } texts[] = {{"table", &out->table},
                 {"device", &out->device},
                 {"program", &out->program},
                 {"framework", &out->framework},
                 {"model", &out->model}};
    dse_status st = cfg_only_keys(doc, row, "a kind of run", keys, DSE_COUNT(keys), err);

    for (size_t i = 0; st == DSE_OK && i < DSE_COUNT(texts); i++) {
        const cfg_node *node = cfg_get(row, texts[i].key);

        if (!node)
            return cfg_fail(err, doc, row, "the kind of run lacks '%s'", texts[i].key);
        st = cfg_string(doc, node, texts[i].key, texts[i].to, err);
    }
    if (st != DSE_OK)
        return st;
    if (!cfg_get(row, "size"))
        return cfg_fail(err, doc, row, "the kind of run lacks 'size'");
    return read_size(doc, row, &out->size, err) == DSE_OK &&
                   read_sequence(doc, row, &out->sequence, err) == DSE_OK &&
                   read_bits(doc, row, &out->bits, err) == DSE_OK &&
                   read_experts(doc, row, &out->has_experts, err) == DSE_OK
               ? read_ratios(doc, row, a, out, err)
               : DSE_E_CONFIG;
}

dse_status cmp_bands_read(const cfg_doc *doc, dse_arena *a, cmp_bands *out, dse_error *err)
{
    const cfg_node *list = cfg_get(doc->root, "runs");
    cmp_bands b = {0};

    if (!list || list->kind != CFG_LIST)
        return cfg_fail(err, doc, doc->root,
                        "a file of errors has a list 'runs'; 'ccldse validate --errors FILE' writes one");
    b.of = DSE_ARENA_NEW(a, cmp_evidence, list->n);
    for (uint32_t i = 0; i < list->n; i++) {
        dse_status st = read_row(doc, list->item[i], a, &b.of[b.n++], err);

        if (st != DSE_OK)
            return st;
    }
    *out = b;
    return DSE_OK;
}

dse_status cmp_bands_load(const char *path, dse_arena *a, cmp_bands *out, dse_error *err)
{
    cfg_doc doc;
    dse_status st = cfg_load(path, a, &doc, err);

    return st == DSE_OK ? cmp_bands_read(&doc, a, out, err) : st;
}

/* ---- a band ------------------------------------------------------------------------------------- */

static bool is_kin(const cmp_evidence *e, const cmp_band_key *key)
{
    for (const char *const *name = key->kin; name && *name; name++)
        if (!strcmp(e->program, *name))
            return true;
    return false;
}

static bool is_as_long(const cmp_evidence *e, const cmp_band_key *key)
{
    const double ratio = (double)e->sequence / (double)key->sequence;

    return !key->sequence || !e->sequence || (ratio <= CMP_BAND_SEQUENCE && ratio * CMP_BAND_SEQUENCE >= 1);
}

static bool is_of(const cmp_evidence *e, const cmp_band_key *key, cmp_band_level level)
{
    const bool program = key->program && !strcmp(e->program, key->program);
    const bool size = e->size == key->size;

    if (strcmp(e->device, key->device) != 0 || e->has_experts != key->has_experts || !is_as_long(e, key) ||
        (key->others_only && !strcmp(e->model, key->model)))
        return false;
    switch (level) {
    case CMP_BAND_ALIKE: return program && size;
    case CMP_BAND_PROGRAM: return program;
    case CMP_BAND_KIN: return size && is_kin(e, key);
    case CMP_BAND_KIN_OF_ANY_SIZE: return is_kin(e, key);
    case CMP_BAND_SIZE: return size;
    default: return true;
    }
}

/* Of a sorted list: between two values in proportion. */
static double quantile(const double *v, size_t n, double share)
{
    const double at = share * (double)(n - 1);
    const size_t i = (size_t)at;

    return i + 1 < n ? v[i] + (at - (double)i) * (v[i + 1] - v[i]) : v[n - 1];
}

typedef struct {
    const char *framework;
    size_t n;
} counted;

static int by_count(const void *a, const void *b)
{
    const counted *x = a, *y = b;

    return x->n != y->n ? (x->n < y->n ? 1 : -1) : strcmp(x->framework, y->framework);
}

static const char *say_whom(const cmp_bands *b, const cmp_band_key *key, cmp_band_level level, dse_arena *a)
{
    counted *of = DSE_ARENA_NEW(a, counted, b->n);
    const char *text = "";
    size_t n = 0;

    for (size_t i = 0; i < b->n; i++) {
        size_t k = 0;

        if (!is_of(&b->of[i], key, level))
            continue;
        while (k < n && strcmp(of[k].framework, b->of[i].framework) != 0)
            k++;
        n += k == n;
        of[k].framework = b->of[i].framework;
        of[k].n += b->of[i].n;
    }
    qsort(of, n, sizeof *of, by_count);
    for (size_t k = 0; k < n; k++)
        text = dse_arena_printf(a, "%s%s%zu of %s", text, k ? ", " : "", of[k].n, of[k].framework);
    return text;
}

/* The runs of a level, and the model of each by number. */
typedef struct {
    size_t n;
    uint32_t models;
    bool has_own; /* of the prediction's model */
    double *ratio;
    uint32_t *model;
} level_runs;

static uint32_t model_of(const cmp_evidence **first, uint32_t *n, const cmp_evidence *e)
{
    uint32_t i = 0;

    while (i < *n && strcmp(first[i]->model, e->model) != 0)
        i++;
    if (i == *n)
        first[(*n)++] = e;
    return i;
}

static level_runs runs_at(const cmp_bands *b, const cmp_band_key *key, cmp_band_level level, dse_arena *a)
{
    const cmp_evidence **first = DSE_ARENA_NEW(a, const cmp_evidence *, b->n);
    level_runs r = {0};

    for (size_t i = 0; i < b->n; i++)
        r.n += is_of(&b->of[i], key, level) ? b->of[i].n : 0;
    r.ratio = DSE_ARENA_NEW(a, double, r.n);
    r.model = DSE_ARENA_NEW(a, uint32_t, r.n);
    r.n = 0;
    for (size_t i = 0; i < b->n; i++) {
        const cmp_evidence *e = &b->of[i];

        for (size_t k = 0; is_of(e, key, level) && k < e->n; k++) {
            r.model[r.n] = model_of(first, &r.models, e);
            r.ratio[r.n++] = e->ratio[k];
        }
        r.has_own |= is_of(e, key, level) && !strcmp(e->model, key->model);
    }
    return r;
}

static void fill_by_models(const level_runs *r, dse_arena *a, cmp_band *band)
{
    double *error = DSE_ARENA_NEW(a, double, r->n), half;
    cmp_new_group g;

    for (size_t i = 0; i < r->n; i++)
        error[i] = log(r->ratio[i]);
    g = cmp_new_group_of(error, r->model, r->n, r->models);
    half = cmp_new_group_half(&g, CMP_BAND_SHARE);
    band->low = exp(g.mean - half);
    band->high = exp(g.mean + half);
}

static void fill_by_runs(const level_runs *r, cmp_band *band)
{
    qsort(r->ratio, r->n, sizeof *r->ratio, dse_by_double);
    band->low = quantile(r->ratio, r->n, band->is_worst ? 0 : TAIL);
    band->high = quantile(r->ratio, r->n, band->is_worst ? 1 : 1 - TAIL);
}

/* The model is known by runs of its program, or of one with the same habits: what another program made of it
 * says little. `models`: that a band for a new one needs. */
static cmp_band band_at(const cmp_bands *b, const cmp_band_key *key, cmp_band_level level, size_t models,
                        dse_arena *a)
{
    const level_runs r = runs_at(b, key, level, a);
    const bool is_new = !r.has_own || level > CMP_BAND_KIN_OF_ANY_SIZE;
    cmp_band band = {.level = level,
                     .runs = r.n,
                     .models = r.models,
                     .is_new = is_new,
                     .is_worst = is_new ? r.models < CMP_BAND_MODELS : r.n < CMP_BAND_QUANTILES,
                     .others_only = key->others_only};

    if (r.n < CMP_BAND_LEAST || (is_new && r.models < models))
        return (cmp_band){.level = CMP_BAND_NONE};
    if (is_new && !band.is_worst)
        fill_by_models(&r, a, &band);
    else
        fill_by_runs(&r, &band);
    band.whom = say_whom(b, key, level, a);
    return band;
}

static bool has_bits(const cmp_bands *b, const cmp_band_key *key)
{
    for (size_t i = 0; i < b->n; i++)
        if (is_of(&b->of[i], key, CMP_BAND_DEVICE) && b->of[i].bits == key->bits)
            return true;
    return false;
}

cmp_band cmp_band_of(const cmp_bands *b, const cmp_band_key *key, dse_arena *a)
{
    const bool named = key->program && strcmp(key->program, "any") != 0;
    cmp_band band = {.level = CMP_BAND_NONE};

    if (!key->device || !*key->device || !has_bits(b, key))
        return band;
    for (size_t models = CMP_BAND_MODELS; models && band.level == CMP_BAND_NONE; models--)
        for (int level = named ? CMP_BAND_ALIKE : CMP_BAND_KIN;
             band.level == CMP_BAND_NONE && level <= CMP_BAND_DEVICE; level++)
            band = band_at(b, key, (cmp_band_level)level, models, a);
    return band;
}

/* Of n runs, or models, that come in no order the next is as likely to be in any place among them, and in two
 * of the n + 1 places it lies outside of the extremes. */
double cmp_band_share(const cmp_band *b)
{
    const double n = (double)(b->is_new ? b->models : b->runs);

    return !b->is_worst ? CMP_BAND_SHARE : n > 1 ? (n - 1) / (n + 1) : NAN;
}

bool cmp_band_holds(const cmp_band *b, double measured, double simulated)
{
    char text[32];
    double ratio;

    snprintf(text, sizeof text, "%.*g", CMP_RATIO_DIGITS, measured / simulated);
    ratio = strtod(text, NULL);
    return ratio >= b->low && ratio <= b->high;
}
