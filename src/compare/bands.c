#include "compare/bands.h"

#include "base/array.h"
#include "base/fs.h"
#include "base/order.h"
#include "base/units.h"
#include "compare/groups.h"

#include <inttypes.h>
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

enum { TABLE, DEVICE, PROGRAM, FRAMEWORK, MODEL, SIZE, SEQUENCE, ELEMENTS, EXPERTS, RATIOS, N_COLUMNS };

typedef struct {
    const char *path;
    uint32_t line;
    dse_arena *arena;
    dse_error *err;
} reader;

static dse_status fail(const reader *r, const char *what, const char *text)
{
    char where[600];

    snprintf(where, sizeof where, "%s:%u", r->path, (unsigned)r->line);
    return dse_fail_at(r->err, DSE_E_CONFIG, where, "%s, not '%.40s'", what, text);
}

/* The place of a word in a list; n: it is none of them. */
static size_t place_of(const char *const *list, size_t n, const char *word)
{
    size_t i = 0;

    while (i < n && strcmp(list[i], word) != 0)
        i++;
    return i;
}

/* The numbers of the last column, between blanks. */
static dse_status read_ratios(const reader *r, const char *text, cmp_evidence *out)
{
    size_t cap = 0;
    char *end;

    for (const char *at = text; *at; at = end + strspn(end, " ")) {
        const double ratio = strtod(at, &end);

        if (end == at || (*end && *end != ' ') || !(ratio > 0) || !isfinite(ratio))
            return fail(r, "a ratio must be a number above 0", at);
        DSE_ARENA_GROW(r->arena, out->ratio, cap, out->n + 1);
        out->ratio[out->n++] = ratio;
    }
    return out->n ? DSE_OK
                  : fail(r,
                         "the last column has ratios of measured to simulated step times, with blanks "
                         "between them",
                         text);
}

static dse_status read_row(const reader *r, char *line, cmp_evidence *out)
{
    static const char *const elements[] = {"4", "8", "16"}, *const experts[] = {"no", "yes"};
    char *field[N_COLUMNS];
    size_t n = 0, at;

    for (char *rest = line; rest && n < N_COLUMNS; n++) {
        field[n] = rest;
        rest += strcspn(rest, n == RATIOS ? "" : ",");
        rest = *rest ? (*rest = '\0', rest + 1) : NULL;
    }
    if (n < N_COLUMNS)
        return fail(r, "a kind of run has a field for each column, with commas between them", field[n - 1]);
    *out = (cmp_evidence){.table = field[TABLE],
                          .device = field[DEVICE],
                          .program = field[PROGRAM],
                          .framework = field[FRAMEWORK],
                          .model = field[MODEL]};
    if ((at = place_of(cmp_size_name, CMP_SIZES, field[SIZE])) == CMP_SIZES)
        return fail(r, "the size must be 'below 10e9', '10e9 to 100e9' or 'above 100e9'", field[SIZE]);
    out->size = (cmp_size)at;
    if (*field[SEQUENCE] &&
        (dse_parse_int(field[SEQUENCE], &out->sequence, NULL) != DSE_OK || out->sequence <= 0))
        return fail(r, "'sequence' must be a number of tokens above 0, or nothing", field[SEQUENCE]);
    if ((at = place_of(elements, DSE_COUNT(elements), field[ELEMENTS])) == DSE_COUNT(elements))
        return fail(r, "'elements' must be 16, 8 or 4 bits", field[ELEMENTS]);
    out->bits = 4 << at;
    if ((at = place_of(experts, DSE_COUNT(experts), field[EXPERTS])) == DSE_COUNT(experts))
        return fail(r, "'experts' must be yes or no", field[EXPERTS]);
    out->has_experts = at;
    return read_ratios(r, field[RATIOS], out);
}

static dse_status read_columns(const reader *r, const char *line)
{
    return strcmp(line, CMP_BANDS_COLUMNS) == 0
               ? DSE_OK
               : fail(r,
                      "a file of errors begins with its columns, " CMP_BANDS_COLUMNS
                      "; 'ccldse validate --errors FILE' writes one",
                      line);
}

dse_status cmp_bands_parse(const char *path, const char *text, dse_arena *a, cmp_bands *out, dse_error *err)
{
    reader r = {.path = path, .arena = a, .err = err};
    char *rest = dse_arena_strdup(a, text);
    cmp_bands b = {0};
    size_t cap = 0;
    bool has_columns = false;
    dse_status st = DSE_OK;

    while (st == DSE_OK && *rest) {
        char *line = rest;

        r.line++;
        rest += strcspn(rest, "\n");
        if (!*rest) {
            st = fail(&r, "a line ends with a newline; the file is cut here", line);
            break;
        }
        *rest++ = '\0';
        if (*line && rest[-2] == '\r')
            rest[-2] = '\0';
        if (!*line || *line == '#')
            continue;
        if (has_columns) {
            DSE_ARENA_GROW(a, b.of, cap, b.n + 1);
            st = read_row(&r, line, &b.of[b.n++]);
        } else {
            st = read_columns(&r, line);
        }
        has_columns = true;
    }
    if (st == DSE_OK && !has_columns)
        st = read_columns(&r, "");
    if (st == DSE_OK)
        *out = b;
    return st;
}

dse_status cmp_bands_load(const char *path, dse_arena *a, cmp_bands *out, dse_error *err)
{
    dse_strbuf text = dse_strbuf_in(a);
    dse_status st = dse_read_file(path, 0, &text, err);

    if (st == DSE_OK && text.len && memchr(text.data, '\0', text.len))
        return dse_fail_at(err, DSE_E_CONFIG, path, "the file has a byte 0, so it is damaged");
    return st == DSE_OK ? cmp_bands_parse(path, text.data ? text.data : "", a, out, err) : st;
}

static void put_name(const char *name, dse_strbuf *out)
{
    for (; *name; name++)
        dse_strbuf_addc(out, *name == ',' || *name == '\n' || *name == '\r' ? ' ' : *name);
    dse_strbuf_addc(out, ',');
}

void cmp_bands_write(const cmp_bands *b, dse_strbuf *out)
{
    dse_strbuf_adds(out, CMP_BANDS_COLUMNS "\n");
    for (size_t i = 0; i < b->n; i++) {
        const cmp_evidence *e = &b->of[i];
        const char *const names[] = {e->table, e->device, e->program, e->framework, e->model};

        for (size_t k = 0; k < DSE_COUNT(names); k++)
            put_name(names[k], out);
        dse_strbuf_addf(out, "%s,", cmp_size_name[e->size]);
        if (e->sequence)
            dse_strbuf_addf(out, "%" PRId64, e->sequence);
        dse_strbuf_addf(out, ",%d,%s,", e->bits, e->has_experts ? "yes" : "no");
        for (size_t k = 0; k < e->n; k++)
            dse_strbuf_addf(out, "%.*g%s", CMP_RATIO_DIGITS, e->ratio[k], k + 1 < e->n ? " " : "\n");
    }
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
