#include "cards/imbalance.h"

#include "base/fs.h"
#include "base/hash.h"
#include "base/python_random.h"
#include "base/units.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ZIPF       "zipf:"
#define FILE_END   ".csv"
#define HASH_MARK  "#"
#define HASH_CHARS 17 /* of the mark and the hash */
#define MOST_BYTES (1u << 26)

/* factor 0: drawn, with the exponent and the seed. */
typedef struct {
    double factor, exponent;
    int64_t seed;
} imbalance;

/* The length of a file's name, without its hash; 0: it is none. */
static size_t file_name(const char *text)
{
    const size_t n = strcspn(text, HASH_MARK), end = strlen(FILE_END);

    return n > end && !strncmp(text + n - end, FILE_END, end) ? n : 0;
}

static bool parse(const char *text, imbalance *out)
{
    char number[64];
    const char *colon;

    *out = (imbalance){.factor = 1};
    if (!*text || !strcmp(text, "even") || file_name(text))
        return true;
    if (strncmp(text, ZIPF, strlen(ZIPF)) != 0)
        return dse_parse_double(text, &out->factor, NULL) == DSE_OK && out->factor >= 1 &&
               isfinite(out->factor);
    text += strlen(ZIPF);
    colon = strchr(text, ':');
    if (colon && dse_parse_int(colon + 1, &out->seed, NULL) != DSE_OK)
        return false;
    if (strlen(text) >= sizeof number)
        return false;
    strcpy(number, text);
    number[strcspn(number, ":")] = '\0';
    out->factor = 0;
    return dse_parse_double(number, &out->exponent, NULL) == DSE_OK && out->exponent >= 0 &&
           out->exponent <= 10;
}

dse_status card_imbalance_check(const char *text, dse_error *err)
{
    imbalance i;

    return parse(text, &i)
               ? DSE_OK
               : dse_fail(err, DSE_E_CONFIG,
                          "'%.40s' is no imbalance; give even, a number from 1 on (what the most loaded "
                          "rank gets over the mean), zipf:S, for example zipf:0.5, or a file FILE.csv",
                          text);
}

/* Shares of experts by their place, of which none is above 1/k: what is beyond is spread over the others. */
static void set_shares(double *share, uint32_t n, double exponent, double most)
{
    double left = 1, rest = 0;
    uint32_t first = 0;

    for (uint32_t i = 0; i < n; i++)
        rest += share[i] = pow(i + 1, -exponent);
    while (first < n && share[first] / rest * left > most) {
        rest -= share[first];
        left -= most;
        share[first++] = most;
    }
    for (uint32_t i = first; i < n; i++)
        share[i] *= left / rest;
}

/* What comes to the most loaded of `ep` ranks over the mean one, where each has n / ep experts that stand
 * beside each other: place[i], or i (NULL), is the expert at i. */
static double most_of_ranks(const double *share, const uint32_t *place, uint32_t n, uint32_t ep)
{
    double most = 0;

    for (uint32_t rank = 0; rank < ep; rank++) {
        double sum = 0;

        for (uint32_t i = rank * (n / ep); i < (rank + 1) * (n / ep); i++)
            sum += share[place ? place[i] : i];
        most = fmax(most, sum);
    }
    return most * ep;
}

#define MOST_EXPERTS 65536
#define DRAWS        64 /* layers; the mean of more is the same */

double card_imbalance(const card_model *m, uint32_t ep)
{
    dse_python_random random;
    imbalance i;
    double *share, sum = 0;
    uint32_t *place;
    const uint32_t n_draws = m->layers < DRAWS ? (uint32_t)m->layers : DRAWS;
    const uint32_t n = (uint32_t)(m->experts < MOST_EXPERTS ? m->experts : 0);

    if (!parse(m->imbalance, &i) || i.factor >= 1)
        return fmin(i.factor >= 1 ? i.factor : 1, ep);
    if (ep < 2 || !n || n % ep)
        return 1;
    share = dse_calloc(n, sizeof *share);
    place = dse_calloc(n, sizeof *place);
    set_shares(share, n, i.exponent, 1.0 / (double)m->experts_per_token);
    dse_python_random_seed(&random, i.seed);
    for (uint32_t layer = 0; layer < n_draws; layer++) { /* whose experts are drawn anew */
        dse_python_random_sample(&random, n, n, place);
        sum += most_of_ranks(share, place, n, ep);
    }
    dse_free(place);
    dse_free(share);
    return sum / n_draws;
}

/* ---- a file ------------------------------------------------------------------------------------- */

typedef struct {
    const card_model *model;
    const char *path;
    uint32_t line;
    double **share; /* by layer */
    dse_arena *arena;
    dse_error *err;
} reader;

static dse_status fail(const reader *r, const char *what, uint64_t number)
{
    char where[CFG_NAME_MAX + 16], text[200];

    snprintf(where, sizeof where, "%s:%" PRIu32, r->path, r->line);
    snprintf(text, sizeof text, what, number);
    return dse_fail_at(r->err, DSE_E_CONFIG, where, "%s", text);
}

static bool read_whole(const char **at, uint64_t *out)
{
    char *end;

    if (**at < '0' || **at > '9')
        return false;
    *out = strtoull(*at, &end, 10);
    *at = end + (*end == ',');
    return *end == ',';
}

static dse_status read_share(reader *r, const char *text)
{
    const uint64_t layers = (uint64_t)r->model->layers, experts = (uint64_t)r->model->experts;
    uint64_t layer, expert;
    double share;
    char *end;

    if (!read_whole(&text, &layer) || !read_whole(&text, &expert) ||
        ((share = strtod(text, &end)), end == text) || *end || !(share >= 0) || !isfinite(share))
        return fail(r, "a layer, an expert and a share that is not negative are expected: 3,17,0.012", 0);
    if (layer >= layers)
        return fail(r, "the model has layers 0 to %" PRIu64, layers - 1);
    if (expert >= experts)
        return fail(r, "the model has experts 0 to %" PRIu64, experts - 1);
    if (!card_model_has_experts_in(r->model, (int64_t)layer))
        return fail(r, "layer %" PRIu64 " of the model has no experts", layer);
    if (!r->share[layer]) {
        r->share[layer] = DSE_ARENA_RAW(r->arena, double, experts);
        for (uint64_t i = 0; i < experts; i++)
            r->share[layer][i] = -1; /* not listed */
    }
    if (r->share[layer][expert] >= 0)
        return fail(r, "layer %" PRIu64 " has this expert twice", layer);
    r->share[layer][expert] = share;
    return DSE_OK;
}

/* Parts of the sum. None is above 1/k: a token takes an expert once. */
static dse_status settle(reader *r, uint64_t layer)
{
    const uint64_t experts = (uint64_t)r->model->experts;
    double *share = r->share[layer], sum = 0;

    for (uint64_t i = 0; i < experts; i++)
        sum += share[i] = share[i] > 0 ? share[i] : 0;
    if (!(sum > 0))
        return fail(r, "layer %" PRIu64 " gives no expert a token", layer);
    for (uint64_t i = 0; i < experts; i++) {
        share[i] /= sum;
        if (share[i] * (double)r->model->experts_per_token > 1 + 1e-6)
            return fail(r, "layer %" PRIu64 " gives an expert more tokens than there are: each takes it once",
                        layer);
    }
    return DSE_OK;
}

static dse_status read_lines(reader *r, char *rest)
{
    bool has_head = false;
    dse_status st = DSE_OK;

    while (st == DSE_OK && *rest) {
        char *line = rest;

        rest += strcspn(rest, "\n");
        if (*rest)
            *rest++ = '\0';
        r->line++;
        line[strcspn(line, "\r")] = '\0';
        if (!*line || *line == '#')
            continue;
        if (!has_head && strcmp(line, "layer,expert,share") != 0)
            return fail(r, "the first line is to be layer,expert,share", 0);
        st = has_head ? read_share(r, line) : DSE_OK;
        has_head = true;
    }
    for (uint64_t i = 0; st == DSE_OK && i < (uint64_t)r->model->layers; i++)
        st = r->share[i] ? settle(r, i) : DSE_OK;
    return st;
}

/* Puts the hash behind the name, or compares it with the one that is there. */
static dse_status mark(card_model *m, const char *path, uint64_t hash, dse_error *err)
{
    const size_t n = strlen(path);

    if (m->imbalance[n] && strtoull(m->imbalance + n + 1, NULL, 16) != hash)
        return dse_fail_at(err, DSE_E_CONFIG, path,
                           "this file has changed since the configuration was written, which has the hash %s",
                           m->imbalance + n + 1);
    if (n + HASH_CHARS >= sizeof m->imbalance)
        return dse_fail(err, DSE_E_CONFIG, "the name of the file '%s' is too long; it may have %d characters",
                        path, (int)(sizeof m->imbalance - 1 - HASH_CHARS));
    snprintf(m->imbalance + n, HASH_CHARS + 1, HASH_MARK "%016" PRIx64, hash);
    return DSE_OK;
}

dse_status card_imbalance_read(card_model *m, dse_arena *a, const double *const **out, dse_error *err)
{
    const size_t n = file_name(m->imbalance);
    reader r = {.model = m, .arena = a, .err = err};
    dse_strbuf text;
    dse_status st;

    *out = NULL;
    if (!n || !m->experts)
        return DSE_OK;
    r.path = dse_arena_strndup(a, m->imbalance, n);
    r.share = DSE_ARENA_NEW(a, double *, (size_t)m->layers);
    dse_strbuf_init(&text);
    if ((st = dse_read_file(r.path, MOST_BYTES, &text, err)) == DSE_OK &&
        (st = mark(m, r.path, dse_hash_bytes(text.data, text.len), err)) == DSE_OK)
        st = read_lines(&r, text.data);
    dse_strbuf_free(&text);
    *out = (const double *const *)r.share;
    return st;
}

double card_imbalance_of(const double *share, uint32_t n_experts, uint32_t ep)
{
    return most_of_ranks(share, NULL, n_experts, ep);
}
