#include "base/array.h"
#include "lint/parts.h"

#include "base/fs.h"
#include "base/names.h"
#include "cards/hf.h"
#include "cards/locate.h"
#include "cards/model.h"

#include <inttypes.h>
#include <string.h>

/* ---- kinds of files ------------------------------------------------------------------------ */

static bool any(const char *key)
{
    (void)key;
    return true;
}

static bool in_model_card(const char *key) { return cfg_param_find(&card_model_table, key) != NULL; }

static bool in_system_card(const char *key)
{
    return cfg_is_section(&card_system_table, key) || cfg_param_find(&card_system_table, key);
}

static bool in_system_json(const char *key)
{
    return card_astra_find(key, false) || lint_find(&lint_system_keys, key);
}

static bool in_network_yml(const char *key)
{
    return card_astra_find(key, true) || lint_find(&lint_network_keys, key);
}

static bool in_remote_memory(const char *key) { return lint_find(&lint_remote_keys, key) != NULL; }

/* The kind with the most keys of the file has it; what decides by itself comes first, what takes any key
 * last. */
static const struct {
    const char *name;
    bool (*is_it)(const cfg_doc *doc); /* decides; NULL: by the keys */
    bool (*has)(const char *key);
    void (*lint)(lint *l, const cfg_doc *doc);
} kinds[] = {
    {"Hugging Face config", card_hf_is_config, any, lint_hf_config},
    {"model card", NULL, in_model_card, lint_model_card},
    {"system card", NULL, in_system_card, lint_system_card},
    {"ASTRA-sim system configuration", NULL, in_system_json, lint_astra_system},
    {"ASTRA-sim network configuration", NULL, in_network_yml, lint_astra_network},
    {"ASTRA-sim remote memory configuration", NULL, in_remote_memory, lint_remote},
    {"communicator groups", lint_is_group_file, any, lint_groups},
};
#define N_KINDS DSE_COUNT(kinds)

static const char not_understood[] = "not understood";

static size_t kind_of(const cfg_doc *doc)
{
    uint32_t best_n = 0;
    size_t best = N_KINDS;

    if (doc->root->kind != CFG_MAP)
        return N_KINDS;
    for (size_t i = 0; i < N_KINDS; i++) {
        uint32_t n = 0;

        if (kinds[i].is_it && (best_n || !kinds[i].is_it(doc)))
            continue;
        for (uint32_t k = 0; k < doc->root->n; k++)
            n += kinds[i].has(doc->root->key[k]->text);
        if (kinds[i].is_it && n)
            return i;
        if (n > best_n) {
            best_n = n;
            best = i;
        }
    }
    return best;
}

void lint_document(lint *l, const cfg_doc *doc)
{
    size_t kind = kind_of(doc);

    lint_add_file(l, doc->path, kind < N_KINDS ? kinds[kind].name : not_understood);
    if (kind == N_KINDS)
        lint_add(l, LINT_ERROR, doc->path, "",
                 "neither a card, nor a configuration of ASTRA-sim, nor communicator groups: it has none of "
                 "their keys");
    else
        kinds[kind].lint(l, doc);
}

static bool load(lint *l, const char *path, const char *kind, cfg_doc *out)
{
    dse_error why = DSE_ERROR_INIT;

    if (cfg_load(path, l->arena, out, &why) == DSE_OK)
        return true;
    lint_add_file(l, path, kind);
    lint_add_failure(l, path, &why);
    return false;
}

static void lint_path(lint *l, const char *path)
{
    cfg_doc doc;

    if (load(l, path, not_understood, &doc))
        lint_document(l, &doc);
}

/* Its names are anything: "g" may be a group, and a key of system.json. */
static void lint_group_path(lint *l, const char *path)
{
    static const char kind[] = "communicator groups";
    cfg_doc doc;

    if (!load(l, path, kind, &doc))
        return;
    lint_add_file(l, path, kind);
    if (!lint_is_group_file(&doc))
        lint_add(l, LINT_ERROR, path, "", "communicator groups map names to lists of ranks: {\"1\": [0, 1]}");
    else
        lint_groups(l, &doc);
}

/* ---- names --------------------------------------------------------------------------------- */

/* The files that a folder may hold; each is optional. */
static const char *const folder_files[] = {"system.json", "network.yml", "remote_memory.json", "config.json"};

/* A folder of cards: every .yaml in it, by name. */
static dse_status lint_cards(lint *l, const char *folder, dse_error *err)
{
    const char **name;
    size_t n, found = 0;
    dse_status st = dse_list_names(folder, l->arena, &name, &n, err);

    for (size_t i = 0; i < n; i++) {
        size_t len = strlen(name[i]);

        if (len < 6 || strcmp(name[i] + len - 5, ".yaml"))
            continue;
        lint_path(l, dse_arena_printf(l->arena, "%s/%s", folder, name[i]));
        found++;
    }
    if (st == DSE_OK && !found)
        return dse_fail(err, DSE_E_CONFIG,
                        "the folder '%s' has no system.json, network.yml, remote_memory.json or config.json, "
                        "and no cards",
                        folder);
    return st;
}

static dse_status lint_folder(lint *l, const char *name, dse_error *err)
{
    size_t n = strlen(name);
    bool found = false;
    const char *folder;

    while (n > 1 && name[n - 1] == '/')
        n--;
    folder = dse_arena_strndup(l->arena, name, n);
    lint_astra_alone(l); /* those of another folder do not belong to these */
    for (size_t i = 0; i < DSE_COUNT(folder_files); i++) {
        const char *path = dse_arena_printf(l->arena, "%s/%s", folder, folder_files[i]);

        if (!dse_is_file(path))
            continue;
        found = true;
        lint_path(l, path);
    }
    return found ? DSE_OK : lint_cards(l, folder, err);
}

/* A card that ships, of a model or of a system. */
static dse_status find_card(const char *name, dse_arena *a, const char **path, dse_error *err)
{
    static const card_kind kinds_of_cards[] = {CARD_MODELS, CARD_SYSTEMS};
    const char **names[2], *folder, **all, *nearest;
    size_t n[2];

    for (int k = 0; k < 2; k++) {
        dse_status st;

        if (card_locate(kinds_of_cards[k], name, a, path, NULL) == DSE_OK)
            return DSE_OK;
        if ((st = card_list(kinds_of_cards[k], a, &names[k], &n[k], &folder, err)) != DSE_OK)
            return st;
    }
    all = DSE_ARENA_RAW(a, const char *, n[0] + n[1]);
    memcpy(all, names[0], n[0] * sizeof *all);
    memcpy(all + n[0], names[1], n[1] * sizeof *all);
    nearest = dse_nearest(name, all, n[0] + n[1]);
    return dse_fail(err, DSE_E_CONFIG, "there is no file, folder or card '%s'%s%s%s", name,
                    nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
}

static dse_status lint_name(lint *l, const char *name, dse_error *err)
{
    const char *path = name;
    dse_status st = DSE_OK;

    if (dse_is_dir(name))
        return lint_folder(l, name, err);
    if (!dse_is_file(name))
        st = find_card(name, l->arena, &path, err);
    if (st == DSE_OK)
        lint_path(l, path);
    return st;
}

/* ---- all of it ----------------------------------------------------------------------------- */

static dse_status lint_runs(lint *l, const lint_inputs *in, dse_error *err)
{
    if (in->workload && (l->n_networks > 1 || !in->n_names))
        return dse_fail(
            err, DSE_E_USAGE,
            "a workload needs the one system it is for (a card, or system.json and network.yml), not "
            "%" PRIu32,
            l->n_networks);
    if (in->groups)
        lint_group_path(l, in->groups);
    if (in->workload && l->n_networks)
        lint_workload(l, in->workload, in->groups);
    else if (in->workload)
        lint_add(
            l, LINT_ERROR, in->workload, "",
            "not looked at: it needs a system that can be used (a card, or system.json and network.yml)");
    return DSE_OK;
}

dse_status lint_run(const lint_inputs *in, dse_arena *a, lint_result *out, dse_error *err)
{
    lint l = {.out = out, .arena = a};
    dse_status st = DSE_OK;

    *out = (lint_result){0};
    for (size_t i = 0; i < in->n_names && st == DSE_OK; i++)
        st = lint_name(&l, in->names[i], err);
    lint_astra_alone(&l);
    if (st == DSE_OK && in->arguments)
        lint_arguments(&l, in->arguments);
    return st == DSE_OK ? lint_runs(&l, in, err) : st;
}
