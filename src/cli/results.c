#include "cli/results.h"

#include "base/array.h"
#include "base/hash.h"
#include "base/names.h"
#include "base/strbuf.h"
#include "cards/locate.h"
#include "driver/study.h"
#include "report/sizes.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define HASH_DIGITS 16

#define FIELD(f) .offset = offsetof(results_selection, f)

static const option options[] = {
    {"--model", OPT_STRING, "NAME", "", "only this model", FIELD(model)},
    {"--system", OPT_STRING, "NAME", "", "only this system", FIELD(system)},
    {"--engine", OPT_STRING, "NAME", "", "only what this engine gave: native, imported, ...", FIELD(engine)},
    {"--settings", OPT_STRING, "TEXT", "",
     "only results with just these settings over the cards, as 'best' and 'show' print them; "
     "none: without any",
     FIELD(settings)},
    {"--configuration", OPT_STRING, "DIGITS", "",
     "only this configuration of model, system and engine, by the digits that 'best' and 'show' print",
     FIELD(configuration)},
};

OPTION_ROWS(results_group)

/* "native" is every version of it: "native-1". */
static bool is_engine(const store_row *r, const char *name)
{
    size_t n = strlen(name);

    return !strncmp(r->engine, name, n) &&
           (!r->engine[n] || (r->engine[n] == '-' && isdigit((unsigned char)r->engine[n + 1])));
}

static bool has_settings(const store_row *r, const char *settings)
{
    return !strcmp(r->settings, strcmp(settings, "none") ? settings : "");
}

static bool is_configuration(const store_row *r, const char *digits)
{
    char hash[HASH_DIGITS + 1];

    snprintf(hash, sizeof hash, "%016" PRIx64, r->study);
    return !strncmp(hash, digits, strlen(digits));
}

static dse_status check_configuration(const char *digits, dse_error *err)
{
    size_t n = strspn(digits, "0123456789abcdef");

    return n && n <= HASH_DIGITS && !digits[n]
               ? DSE_OK
               : dse_fail(err, DSE_E_USAGE,
                          "--configuration takes the digits that 'best' and 'show' print, such as 1f00ba44, "
                          "not '%.40s'",
                          digits);
}

dse_status results_select(const char *db, const results_selection *which, dse_arena *a, store_row **rows,
                          size_t *n, dse_error *err)
{
    const struct {
        const char *value;
        bool (*has)(const store_row *r, const char *value);
    } wanted[] = {{which->engine, is_engine},
                  {which->settings, has_settings},
                  {which->configuration, is_configuration}};
    const char *model = which->model, *system = which->system;
    size_t kept = 0;
    store *s;
    dse_status st;

    if ((which->configuration && (st = check_configuration(which->configuration, err)) != DSE_OK) ||
        (model && (st = card_name(model, a, &model, err)) != DSE_OK) ||
        (system && (st = card_name(system, a, &system, err)) != DSE_OK) ||
        (st = store_open(db, STORE_READ, &s, err)) != DSE_OK)
        return st;
    st = store_list(s, model, system, a, rows, n, err);
    store_close(s);
    if (st != DSE_OK)
        return st;
    for (size_t i = 0; i < *n; i++) {
        bool keep = true;

        for (size_t k = 0; k < DSE_COUNT(wanted); k++)
            keep = keep && (!wanted[k].value || wanted[k].has(&(*rows)[i], wanted[k].value));
        if (keep)
            (*rows)[kept++] = (*rows)[i];
    }
    *n = kept;
    report_sizes_read(*rows, kept);
    return DSE_OK;
}

/* The first row of each study is enough: the others differ in the point alone. */
static dse_status find_among(store *s, const store_row *rows, size_t n, const strategy *point, bool *found,
                             dse_error *err)
{
    dse_strbuf config;
    dse_status st = DSE_OK;

    dse_strbuf_init(&config);
    *found = false;
    for (size_t i = 0; st == DSE_OK && !*found && i < n; i++) {
        dse_strbuf_clear(&config);
        if ((i && rows[i].study == rows[i - 1].study) || !rows[i].skipped_of_study ||
            !drv_config_of_point(rows[i].config, point, &config))
            continue;
        st = store_is_skipped(s, dse_hash_bytes(config.data, config.len), found, err);
    }
    dse_strbuf_free(&config);
    return st;
}

dse_status results_find_skipped(const char *db, const store_row *rows, size_t n, const strategy *point,
                                bool *found, dse_error *err)
{
    store *s = NULL;
    dse_status st = store_open(db, STORE_READ, &s, err);

    if (st == DSE_OK)
        st = find_among(s, rows, n, point, found, err);
    store_close(s);
    return st;
}

dse_status results_count_unlisted(const char *db, bool asked, store_unlisted *out, dse_error *err)
{
    store *s = NULL;
    dse_status st = store_open(db, STORE_READ, &s, err);

    if (st == DSE_OK)
        st = store_count_unlisted(s, asked, out, err);
    store_close(s);
    return st;
}

dse_status results_column(const char *name, bool ranked, const store_column **out, dse_error *err)
{
    const char *known[64];
    size_t n, n_known = 0;
    const store_column *c = store_columns(&n);

    static const struct {
        const char *word, *column;
    } words[] = {{"tokens", "tokens_per_s"}, {"cost", "cost_per_step"}, {"energy", "energy_per_step"}};

    *out = store_column_find(name);
    for (size_t i = 0; !*out && i < DSE_COUNT(words); i++)
        if (!strcmp(name, words[i].word))
            *out = store_column_find(words[i].column);
    if (*out && !(ranked && (*out)->better == STORE_NEITHER))
        return DSE_OK;
    for (size_t i = 0; i < n && n_known < DSE_COUNT(known); i++)
        if (!ranked || c[i].better != STORE_NEITHER)
            known[n_known++] = c[i].name;
    return dse_fail_unknown(err, DSE_E_USAGE, "", "metric", name, known, n_known);
}

dse_status results_none(const char *db, const results_selection *which, dse_error *err)
{
    const struct {
        const char *before, *value;
    } words[] = {{"for model", which->model},
                 {"on system", which->system},
                 {"by engine", which->engine},
                 {"with settings", which->settings},
                 {"of configuration", which->configuration}};
    char text[300] = "";
    size_t used = 0;

    for (size_t i = 0; i < DSE_COUNT(words) && used < sizeof text; i++)
        if (words[i].value)
            used += (size_t)snprintf(text + used, sizeof text - used, " %s '%.60s'", words[i].before,
                                     words[i].value);
    return dse_fail(err, DSE_E_CONFIG, "'%.150s' has no results%s%s", db, text,
                    used ? "" : "; run 'ccldse sweep' first");
}
