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

static bool is_selected(void *user, const store_row *r)
{
    const results_selection *which = user;

    return (!which->engine || is_engine(r, which->engine)) &&
           (!which->settings || has_settings(r, which->settings)) &&
           (!which->configuration || is_configuration(r, which->configuration)) &&
           (!which->has || which->has(which->user, r));
}

/* The names of a model and a system as rows have them. */
static dse_status row_names(const results_selection *which, dse_arena *a, const char **model,
                            const char **system, dse_error *err)
{
    dse_status st = DSE_OK;

    *model = which->model;
    *system = which->system;
    if (*model)
        st = card_name(*model, a, model, err);
    return st == DSE_OK && *system ? card_name(*system, a, system, err) : st;
}

/* Opens the database, and says which of its rows; names go into the arena. */
static dse_status open_selection(const char *db, results_selection *which, dse_arena *a, store **s,
                                 store_filter *out, dse_error *err)
{
    dse_status st;

    *out = (store_filter){
        .point = which->point, .has = is_selected, .user = which, .one_config = which->one_config};
    if ((which->configuration && (st = check_configuration(which->configuration, err)) != DSE_OK) ||
        (st = row_names(which, a, &out->model, &out->system, err)) != DSE_OK)
        return st;
    return store_open(db, STORE_READ, s, err);
}

dse_status results_select(const char *db, const results_selection *which, dse_arena *a, store_row **rows,
                          size_t *n, dse_error *err)
{
    results_selection w = *which;
    store_filter filter;
    store *s;
    dse_status st = open_selection(db, &w, a, &s, &filter, err);

    if (st != DSE_OK)
        return st;
    st = store_select(s, &filter, a, rows, n, err);
    store_close(s);
    if (st == DSE_OK)
        report_sizes_read(*rows, *n);
    return st;
}

dse_status results_open(const char *db, const results_selection *which, results_reader *out, dse_error *err)
{
    dse_status st;

    *out = (results_reader){.which = *which};
    dse_arena_init(&out->names);
    if ((st = open_selection(db, &out->which, &out->names, &out->store, &out->filter, err)) == DSE_OK)
        st = store_begin_reading(out->store, err);
    return st;
}

void results_close(results_reader *r)
{
    if (r->store)
        store_end_reading(r->store);
    store_close(r->store);
    dse_arena_free(&r->names);
}

dse_status results_each_figures(results_reader *r, const store_column *by, store_row_visit *visit, void *user,
                                dse_error *err)
{
    return store_each_figures(r->store, &r->filter, by, visit, user, err);
}

typedef struct {
    store_row_visit *visit;
    void *user;
    bool any; /* then these are the study and the sizes of the row before */
    uint64_t study;
    store_sizes sizes;
} sized_visit;

static dse_status visit_with_sizes(void *user, const store_row *r, dse_error *err)
{
    sized_visit *v = user;
    store_row row = *r;

    if (!v->any || v->study != row.study)
        report_sizes_read(&row, 1);
    else
        row.sizes = v->sizes;
    v->any = true;
    v->study = row.study;
    v->sizes = row.sizes;
    return v->visit(v->user, &row, err);
}

dse_status results_each(const char *db, const results_selection *which, store_row_visit *visit, void *user,
                        dse_error *err)
{
    results_selection w = *which;
    sized_visit v = {.visit = visit, .user = user};
    store_filter filter;
    dse_arena a;
    store *s;
    dse_status st;

    dse_arena_init(&a);
    if ((st = open_selection(db, &w, &a, &s, &filter, err)) == DSE_OK) {
        st = store_each(s, &filter, visit_with_sizes, &v, err);
        store_close(s);
    }
    dse_arena_free(&a);
    return st;
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

dse_status results_count_unlisted(results_reader *r, bool asked, store_unlisted *out, dse_error *err)
{
    return store_count_unlisted(r->store, asked, out, err);
}

dse_status results_searched(results_reader *r, dse_arena *a, store_searched **out, size_t *n, dse_error *err)
{
    const char *model = r->filter.model, *system = r->filter.system;
    size_t n_all = 0;
    dse_status st = store_get_searched(r->store, a, out, &n_all, err);

    *n = 0;
    for (size_t i = 0; i < n_all; i++)
        if ((!model || !strcmp((*out)[i].model, model)) && (!system || !strcmp((*out)[i].system, system)))
            (*out)[(*n)++] = (*out)[i];
    return st;
}

dse_status results_have_prices(const char *db, bool *out, dse_error *err)
{
    store *s = NULL;
    dse_status st = store_open(db, STORE_READ, &s, err);

    if (st == DSE_OK)
        st = store_has_prices(s, out, err);
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
