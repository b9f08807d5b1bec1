#include "driver/study.h"

#include "base/array.h"
#include "base/fs.h"
#include "base/hash.h"
#include "base/names.h"
#include "cards/hf.h"
#include "cards/locate.h"
#include "driver/custom.h"
#include "driver/stage_main.h"
#include "driver/training.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- loading ------------------------------------------------------------------------------- */

dse_status drv_study_load_operators(drv_study *s, dse_arena *a, dse_error *err)
{
    const char *path;
    dse_strbuf text = dse_strbuf_in(a);
    dse_status st;

    if (card_model_is_main(&s->model)) {
        s->operators_hash = dse_hash_bytes(DRV_STAGE_MAIN_OPERATORS, strlen(DRV_STAGE_MAIN_OPERATORS));
        s->operators = (cfg_doc){.path = DRV_STAGE_MAIN_OPERATORS};
        s->generator = NULL;
        return DSE_OK;
    }
    if (!card_model_trains(&s->model) &&
        card_locate(CARD_OPERATORS, s->model.operators, a, &path, NULL) != DSE_OK &&
        card_locate(CARD_LAYERS, s->model.operators, a, &path, NULL) == DSE_OK)
        return dse_fail_at(err, DSE_E_CONFIG, s->model_name,
                           "the operators '%s' are of profile train alone, as STAGE has none for them; "
                           "--set operators=llama takes it for a Llama",
                           s->model.operators);
    st = card_locate(card_model_trains(&s->model) ? CARD_LAYERS : CARD_OPERATORS, s->model.operators, a,
                     &path, err);
    if (st != DSE_OK)
        dse_error_set_where(err, s->model_name); /* its card asks for it */
    if (st != DSE_OK || (st = dse_read_file(path, CFG_MAX_BYTES, &text, err)) != DSE_OK)
        return st;
    s->operators_hash = dse_hash_bytes(text.data, text.len);
    s->generator = NULL;
    return cfg_parse_yaml(path, text.data, text.len, a, &s->operators, err);
}

static dse_status read_system(const char *path, const cfg_settings *settings, dse_arena *a, card_system *out,
                              dse_error *err)
{
    cfg_doc doc, network;
    dse_status st;

    if (dse_is_dir(path)) {
        const char *system_json = dse_arena_printf(a, "%s/system.json", path);
        const char *network_yml = dse_arena_printf(a, "%s/network.yml", path);

        if ((st = cfg_load(system_json, a, &doc, err)) != DSE_OK ||
            (st = cfg_load(network_yml, a, &network, err)) != DSE_OK ||
            (st = card_system_read_astra(&doc, &network, out, err)) != DSE_OK)
            return st;
        st = card_system_has_any(settings) ? card_system_set(out, settings, err)
                                           : card_system_check(out, &(card_places){&doc, &network}, err);
        dse_error_set_where(err, path);
        return st;
    }
    st = cfg_load(path, a, &doc, err);
    return st == DSE_OK ? card_system_read(&doc, settings, out, err) : st;
}

dse_status drv_system_load(const char *name, const cfg_settings *settings, dse_arena *a, card_system *out,
                           const char **stem, dse_error *err)
{
    const char *path;
    dse_status st;

    if ((st = card_locate(CARD_SYSTEMS, name, a, &path, err)) != DSE_OK ||
        (st = read_system(path, settings, a, out, err)) != DSE_OK)
        return st;
    return card_name(path, a, stem, err);
}

/* Of cards that have their profile. `fills`: the laws of kernels are not yet the card's. */
static dse_status make_training(drv_study *s, bool fills, dse_arena *a, dse_error *err)
{
    const bool trains = card_model_trains(&s->model);
    dse_status st = DSE_OK;

    s->training = NULL;
    card_system_settle_profile(&s->system, trains);
    if (trains && card_system_has_custom(&s->system))
        return dse_fail(
            err, DSE_E_CONFIG,
            "collectives as Chakra files (collectives.all_reduce_custom, ...) have no effect in profile "
            "train; take them out of %s, or give --set profile=stage",
            s->system_name);
    if ((st = drv_custom_settle(&s->system, err)) != DSE_OK)
        return st;
    if (trains && fills)
        st = card_system_fill_laws(&s->system, &s->tables, a, err);
    return trains && st == DSE_OK ? drv_training_make(s, a, err) : st;
}

/* The file must make sense and its symbols must have their parameters, whatever the point. */
static dse_status check_operators(drv_study *s, dse_arena *a, dse_error *err)
{
    wl_operators read;
    wl_symbols symbols;
    dse_status st = make_training(s, true, a, err);

    s->engine = card_model_trains(&s->model) ? DRV_STEP_ENGINE : DRV_ENGINE;
    if (card_model_trains(&s->model))
        return st;
    card_system_drop_laws(&s->system); /* of a study of profile train that this one varies */
    if (card_model_is_main(&s->model))
        return st;
    st = wl_operators_read(&s->operators, a, &read, err);
    return st == DSE_OK ? card_model_symbols(&s->model, &s->operators, &symbols, err) : st;
}

/* ---- settings ------------------------------------------------------------------------------ */

static bool is_list(const char *key)
{
    char first[96];

    snprintf(first, sizeof first, "%.80s[0]", key);
    return cfg_table_has(&card_model_table, first) || cfg_table_has(&card_system_table, first);
}

const char *drv_nearest_key(const char *path, const char *const *also, size_t n_also)
{
    const cfg_table *tables[] = {&card_model_table, &card_system_table};
    const char *known[256];
    const size_t max = DSE_COUNT(known);
    char key[80];
    size_t n = 0;

    assert(n_also + tables[0]->n + tables[1]->n <= max);
    for (; n < n_also && n < max; n++)
        known[n] = also[n];
    for (int t = 0; t < 2; t++)
        for (uint32_t k = 0; k < tables[t]->n && n < max; k++)
            known[n++] = tables[t]->rows[k].key;
    snprintf(key, sizeof key, "%.*s", (int)strcspn(path, "["), path);
    return dse_nearest(key, known, n);
}

/* "'network.bandwidth' or 'memory.bandwidth'" of "bandwidth": the keys of sections that end in this word.
 * Returns how many. */
static size_t say_last_words(const char *path, char *out, size_t size)
{
    const size_t length = strcspn(path, "[");
    size_t used = 0, found = 0;

    for (uint32_t k = 0; k < card_system_table.n; k++) {
        const char *key = card_system_table.rows[k].key, *dot = strrchr(key, '.');

        if (dot && !strncmp(dot + 1, path, length) && !dot[1 + length] && used < size)
            used += (size_t)snprintf(out + used, size - used, "%s'%s'", found++ ? " or " : "", key);
    }
    return found;
}

dse_status drv_path_check(const char *path, dse_error *err)
{
    const char *nearest;
    char words[400];
    size_t n = strcspn(path, "[");

    if (cfg_table_has(&card_model_table, path) || cfg_table_has(&card_system_table, path))
        return DSE_OK;
    nearest = drv_nearest_key(path, NULL, 0);
    if (nearest && !strncmp(nearest, path, n) && !nearest[n])
        return is_list(nearest)
                   ? dse_fail(err, DSE_E_CONFIG, "'%.80s' is not an element; write '%s[0]'", path, nearest)
                   : dse_fail(err, DSE_E_CONFIG, "'%.80s' is not a value of a card: only lists have elements",
                              path);
    if (say_last_words(path, words, sizeof words) > 0)
        return dse_fail(err, DSE_E_CONFIG, "no card has '%.80s'; did you mean %s?", path, words);
    if (nearest)
        return dse_fail(err, DSE_E_CONFIG, "no card has '%.80s'; did you mean '%s'?", path, nearest);
    return dse_fail(
        err, DSE_E_CONFIG,
        "no card has '%.80s'; 'ccldse models --keys' and 'ccldse systems --keys' list what they have", path);
}

/* "placement=tp,sp,dp,pp", as parameters of the strategy were once set over a card: they are part of each
 * point, and no setting of its study. Nor is a price, on which no result depends. */
static bool is_of_study(const char *path)
{
    const cfg_param *p = cfg_param_find(&card_system_table, path);

    return strategy_find(path) == STRATEGY_N && !(p && p->unhashed);
}

static dse_status check_paths(const cfg_settings *settings, dse_error *err)
{
    dse_status st = DSE_OK;

    for (size_t i = 0; st == DSE_OK && i < settings->n; i++)
        st = drv_path_check(settings->item[i].path, err);
    return st;
}

/* Without those that a later setting of this path takes the place of. */
static size_t drop_covered(cfg_setting *items, size_t n, const char *path)
{
    size_t kept = 0;

    for (size_t i = 0; i < n; i++)
        if (!cfg_path_covers(path, items[i].path))
            items[kept++] = items[i];
    return kept;
}

dse_status drv_settings_parse(const char *const *words, size_t n, dse_arena *a, cfg_settings *out,
                              dse_error *err)
{
    cfg_setting *items = DSE_ARENA_NEW(a, cfg_setting, n);
    size_t n_items = 0;
    dse_status st = DSE_OK;

    for (size_t i = 0; st == DSE_OK && i < n; i++) {
        cfg_setting last;

        if ((st = cfg_setting_parse(words[i], a, &last, err)) != DSE_OK)
            break;
        n_items = drop_covered(items, n_items, last.path);
        items[n_items++] = last;
    }
    if (st == DSE_OK)
        st = cfg_settings_sort(items, n_items, err);
    *out = (cfg_settings){n_items, items};
    return st == DSE_OK ? check_paths(out, err) : st;
}

/* By path, as settings are ordered: the first word of a text against a setting. */
static int compare_word(const char *word, const cfg_setting *s)
{
    size_t n = strcspn(word, "=");
    int c = strncmp(word, s->path, n);

    return c ? c : s->path[n] ? -1 : 0;
}

/* The first from i on that is a setting of the study. */
static size_t next_setting(const cfg_settings *s, size_t i)
{
    while (i < s->n && !is_of_study(s->item[i].path))
        i++;
    return i;
}

void drv_settings_print(const char *before, const cfg_settings *more, dse_strbuf *out)
{
    size_t i = next_setting(more, 0), start = out->len;

    while (*before || i < more->n) {
        if (out->len > start)
            dse_strbuf_addc(out, ' ');
        if (*before && (i == more->n || compare_word(before, &more->item[i]) <= 0)) {
            size_t n = strcspn(before, " ");

            dse_strbuf_addf(out, "%.*s", (int)n, before);
            before += n + (before[n] == ' ');
        } else {
            dse_strbuf_addf(out, "%s=%s", more->item[i].path, more->item[i].value);
            i = next_setting(more, i + 1);
        }
    }
}

static const char *print_settings(const char *before, const cfg_settings *settings, dse_arena *a)
{
    const cfg_settings none = {0};
    dse_strbuf text = dse_strbuf_in(a);

    drv_settings_print(before, settings ? settings : &none, &text);
    return text.data;
}

/* Whatever it may still lack. */
static dse_status read_model(const char *name, const cfg_settings *settings, dse_arena *a, drv_study *out,
                             dse_error *err)
{
    cfg_doc *card = &out->model_card;
    const char *path;
    dse_status st;

    if ((st = card_locate(CARD_MODELS, name, a, &path, err)) != DSE_OK ||
        (st = cfg_load(path, a, card, err)) != DSE_OK)
        return st;
    out->model_is_hf = card_hf_is_config(card);
    if ((st = card_hf_resolve(card, a, &out->model_note, err)) != DSE_OK ||
        (st = card_model_read_part(card, settings, &out->model, err)) != DSE_OK)
        return st;
    st = card_model_settle_profile(&out->model, a, err);
    return st == DSE_OK ? card_name(path, a, &out->model_name, err) : st;
}

static dse_status check_model(const drv_study *s, dse_error *err)
{
    return s->model_is_hf ? card_hf_check(&s->model_card, &s->model, err)
                          : card_model_check(&s->model, s->model_card.path, err);
}

/* An empty study with these settings. */
static dse_status begin_study(const cfg_settings *settings, dse_arena *a, drv_study *out, dse_error *err)
{
    *out = (drv_study){.engine = DRV_ENGINE,
                       .settings = print_settings("", settings, a),
                       .tag_base = WL_TAG_BASE,
                       .tables = {.arena = a},
                       .shortcuts = SIM_ALL_SHORTCUTS};
    return settings ? check_paths(settings, err) : DSE_OK;
}

static dse_status load_operators(drv_study *s, dse_arena *a, dse_error *err)
{
    dse_status st = drv_study_load_operators(s, a, err);

    return st == DSE_OK ? check_operators(s, a, err) : st;
}

dse_status drv_study_load_part(const char *model, const char *system, const cfg_settings *settings,
                               dse_arena *a, drv_study *out, dse_error *err)
{
    dse_status st;

    st = begin_study(settings, a, out, err);
    out->model_path = model;
    out->system_path = system;
    if (st != DSE_OK || (st = read_model(model, settings, a, out, err)) != DSE_OK ||
        (st = drv_system_load(system, settings, a, &out->system, &out->system_name, err)) != DSE_OK)
        return st;
    return load_operators(out, a, err);
}

dse_status drv_study_load(const char *model, const char *system, const cfg_settings *settings, dse_arena *a,
                          drv_study *out, dse_error *err)
{
    dse_status st = drv_study_load_part(model, system, settings, a, out, err);

    return st == DSE_OK ? check_model(out, err) : st;
}

dse_status drv_study_of(const cfg_doc *model, const char *model_name, const card_system *system,
                        const char *system_name, const cfg_settings *settings, dse_arena *a, drv_study *out,
                        dse_error *err)
{
    dse_status st = begin_study(settings, a, out, err);

    if (st != DSE_OK)
        return st;
    out->model_name = model_name;
    out->system_name = system_name;
    out->model_card = *model;
    out->system = *system;
    if ((st = card_model_read(model, settings, &out->model, err)) != DSE_OK)
        return st;
    if ((st = card_model_settle_profile(&out->model, a, err)) != DSE_OK)
        return st;
    return load_operators(out, a, err);
}

bool drv_path_covers(const char *path, const char *other)
{
    static const char all[] = "collectives.all", one[] = "collectives.all_";

    return cfg_path_covers(path, other) || (!strcmp(path, all) && !strncmp(other, one, sizeof one - 1));
}

/* What is set over a study already, and would be lost if a path were set over it as well. */
static bool find_covered(const char *settings, const char *path, char *out, size_t size)
{
    for (const char *p = settings; *p; p += strspn(p, " ")) {
        snprintf(out, size, "%.*s", (int)strcspn(p, "="), p);
        if (drv_path_covers(path, out))
            return true;
        p += strcspn(p, " ");
    }
    return false;
}

dse_status drv_study_vary(const drv_study *s, const cfg_settings *settings, dse_arena *a, drv_study *out,
                          dse_error *err)
{
    char covered[96];
    bool of_system = false, of_laws = false;
    dse_status st = DSE_OK;

    *out = *s;
    out->tables.arena = a;
    for (size_t i = 0; i < settings->n; i++)
        if (find_covered(s->settings, settings->item[i].path, covered, sizeof covered))
            return dse_fail(err, DSE_E_CONFIG, "'%s' varies, and '%s' is set over the cards already",
                            settings->item[i].path, covered);
    for (size_t i = 0; st == DSE_OK && i < settings->n; i++)
        if (cfg_table_has(&card_model_table, settings->item[i].path)) {
            st = cfg_table_set(&card_model_table, &settings->item[i], &out->model, err);
        } else {
            of_system = true;
            of_laws |= card_laws_depend_on(settings->item[i].path);
        }
    if (st == DSE_OK)
        st = card_model_settle_profile(&out->model, a, err);
    if (st == DSE_OK)
        st = check_model(out, err);
    if (st == DSE_OK && of_system) /* without: it was checked when it was loaded */
        st = card_system_set(&out->system, settings, err);
    if (st != DSE_OK)
        return st;
    out->settings = print_settings(s->settings, settings, a);
    if (strcmp(out->model.operators, s->model.operators) != 0 ||
        card_model_profile(&out->model) != card_model_profile(&s->model))
        return load_operators(out, a, err);
    return make_training(out, of_laws, a, err); /* else its laws are those of the study that it varies */
}

/* ---- a point ------------------------------------------------------------------------------- */

dse_status drv_point_check(const drv_study *s, const strategy *p, dse_error *err)
{
    const bool is_main = card_model_is_main(&s->model);
    uint64_t ranks = strategy_ranks(p), npus = card_system_npus(&s->system);
    wl_main_options o;
    dse_status st = is_main ? drv_stage_main_options(s, p, &o, err)
                            : strategy_check(p, card_model_profile(&s->model), err);

    if (st != DSE_OK)
        return st;
    if (s->training && (st = drv_training_check_ranks(s, p, err)) != DSE_OK)
        return st;
    if (ranks != npus) {
        dse_strbuf product;

        dse_strbuf_init(&product);
        strategy_print_product(p, &product);
        dse_fail(err, DSE_E_RANGE, "%s is %s%" PRIu64 ", but %s has %" PRIu64 " NPUs", product.data,
                 ranks == UINT64_MAX ? "more than " : "", ranks, s->system_name, npus);
        dse_strbuf_free(&product);
        return DSE_E_RANGE;
    }
    if (s->training)
        return drv_training_check(s, p, err);
    if (!is_main && p->pp > DESIGN_MAX_STAGES(s->model.layers))
        return dse_fail(err, DSE_E_RANGE,
                        "pp %" PRIu32 " is more than the %" PRId64
                        " stages that the layers and embeddings of %s can fill",
                        p->pp, DESIGN_MAX_STAGES(s->model.layers), s->model_name);
    return DSE_OK;
}

dse_status drv_need_workload(const drv_study *s, const char *what, dse_error *err)
{
    if (!s->training)
        return DSE_OK;
    return dse_fail(err, DSE_E_CONFIG, "%s of %s needs profile stage: give --set profile=stage", what,
                    s->model_name);
}

wl_strategy drv_point_request(const drv_study *s, const strategy *p)
{
    return (wl_strategy){
        .strategy = *p, .tag_base = s->tag_base, .precision = card_model_precision(&s->model)};
}

dse_status drv_point_generate(const drv_study *s, const strategy *p, dse_arena *a, wl_workload *out,
                              dse_error *err)
{
    const wl_strategy request = drv_point_request(s, p);
    wl_symbols symbols;
    dse_status st;

    if ((st = drv_need_workload(s, "a workload", err)) != DSE_OK ||
        (st = drv_point_check(s, p, err)) != DSE_OK)
        return st;
    if (card_model_is_main(&s->model))
        return drv_stage_main_generate(s, p, a, out, err);
    if ((st = card_model_symbols(&s->model, &s->operators, &symbols, err)) != DSE_OK)
        return st;
    if (s->generator)
        return wl_generator_make(s->generator, &symbols, (uint32_t)s->model.layers, &request, a, out, err);
    return wl_generate(&s->operators, &symbols, (uint32_t)s->model.layers, &request, a, out, err);
}

dse_status drv_point_simulate(const drv_study *s, const wl_workload *w, dse_arena *a, sim_result *out,
                              trace_ticks *record, dse_error *err)
{
    sim_settings settings;
    net_network net;
    dse_status st = card_system_build(&s->system, &net, &settings, err);

    if (st == DSE_OK)
        st = drv_custom_load(&s->system, w, a, &settings, err);
    return st == DSE_OK ? sim_run(&settings, &net, w, s->shortcuts, a, out, record, err) : st;
}

dse_status drv_point_run(const drv_study *s, const strategy *p, dse_arena *a, store_metrics *out,
                         dse_error *err)
{
    wl_workload w;
    sim_result result;
    dse_status st;

    if (s->training)
        return drv_training_run(s, p, a, out, err);
    if ((st = drv_point_generate(s, p, a, &w, err)) != DSE_OK ||
        (st = drv_point_simulate(s, &w, a, &result, NULL, err)) != DSE_OK)
        return st;
    drv_metrics_of(&w, &result, out);
    store_add_costs(strategy_ranks(p), s->system.price, s->system.power, out);
    return DSE_OK;
}
