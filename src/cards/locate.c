#include "cards/locate.h"

#include "base/array.h"
#include "base/fs.h"
#include "base/names.h"
#include "base/order.h"
#include "exec/pool.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct {
    const char *folder, *what, *file, *entry, *where, *extension;
} kinds[] = {
    [CARD_MODELS] = {"models", "model", "model card", "card", "list them with 'ccldse models'", ".yaml"},
    [CARD_SYSTEMS] = {"systems", "system", "system card", "card", "list them with 'ccldse systems'", ".yaml"},
    [CARD_OPERATORS] = {"operators", "operator file", "operator file", "card",
                        "they are in configs/operators", ".yaml"},
    [CARD_LAYERS] = {"layers", "family", "file of layers", "card", "they are in configs/layers", ".yaml"},
    [CARD_SPACES] = {"spaces", "space", "space file", "space", "they are in configs/spaces", ".yaml"},
    [CARD_SCORES] = {"scores", "weights", "file of weights", "file", "they are in configs/scores", ".yaml"},
    [CARD_MEASURED] = {"measured", "measured table", "measured table", "table",
                       "they are in configs/measured", ".json"},
    [CARD_DEVICES] = {"devices", "device", "device file", "file", "they are in configs/devices", ".yaml"},
    [CARD_ERRORS] = {"errors", "file of errors", "file of errors", "file", "they are in configs/errors",
                     ".yaml"},
};

/* The file name of a Hugging Face model in its folder. */
static const char hf_config[] = "config.json";

static dse_status find_folder(card_kind kind, dse_arena *a, const char **out, dse_error *err)
{
    const char *env = getenv("CCLDSE_CONFIGS");
    char program[4096], *slash;
    const char *candidates[5];

    if (exec_self(program, sizeof program, NULL) != DSE_OK)
        program[0] = '\0';
    if ((slash = strrchr(program, '/')))
        *slash = '\0';
    candidates[0] = env && *env ? dse_arena_printf(a, "%s/%s", env, kinds[kind].folder) : NULL;
    candidates[1] = dse_arena_printf(a, "configs/%s", kinds[kind].folder);
    candidates[2] = dse_arena_printf(a, "%s/configs/%s", program, kinds[kind].folder);
    candidates[3] = dse_arena_printf(a, "%s/../configs/%s", program, kinds[kind].folder);
    candidates[4] = dse_arena_printf(a, "%s/../share/ccldse/configs/%s", program, kinds[kind].folder);
    for (size_t i = 0; i < DSE_COUNT(candidates); i++) {
        if (candidates[i] && dse_is_dir(candidates[i])) {
            *out = candidates[i];
            return DSE_OK;
        }
    }
    return dse_fail(err, DSE_E_CONFIG,
                    "cannot find the folder configs/%s; set CCLDSE_CONFIGS to where configs is",
                    kinds[kind].folder);
}

/* Bytes of a file's name, or of what may be one, without its extension. */
static size_t stem_length(card_kind kind, const char *name, size_t n)
{
    const char *extension = kinds[kind].extension;
    const size_t e = strlen(extension);

    return n > e && !strncmp(name + n - e, extension, e) ? n - e : n;
}

dse_status card_list(card_kind kind, dse_arena *a, const char ***names, size_t *n, const char **folder,
                     dse_error *err)
{
    const char **list, *env = getenv("CCLDSE_CONFIGS");
    size_t n_files;
    dse_status st;

    if (env && *env && !dse_is_dir(env))
        return dse_fail(err, DSE_E_CONFIG, "CCLDSE_CONFIGS is '%s', and there is no such folder", env);
    if ((st = find_folder(kind, a, folder, err)) != DSE_OK ||
        (st = dse_list_names(*folder, a, &list, &n_files, err)) != DSE_OK)
        return st;
    *n = 0;
    for (size_t i = 0; i < n_files; i++) {
        size_t len = strlen(list[i]), stem = stem_length(kind, list[i], len);

        if (stem < len)
            list[(*n)++] = dse_arena_strndup(a, list[i], stem);
    }
    if (*n) /* "llama" is before "llama-3", but "llama.yaml" is not */
        qsort(list, *n, sizeof *list, dse_by_text);
    *names = list;
    return DSE_OK;
}

/* The config in a folder that is given as a model; NULL if it has none. */
static const char *find_in_folder(const char *folder, dse_arena *a)
{
    size_t n = strlen(folder);
    const char *file = dse_arena_printf(a, "%s%s%s", folder, folder[n - 1] == '/' ? "" : "/", hf_config);

    return dse_is_file(file) ? file : NULL;
}

/* <folder>/<name>.json or <folder>/<name>/config.json; NULL if neither is there. */
static const char *find_hf_config(const char *folder, const char *name, dse_arena *a)
{
    const char *const candidates[] = {dse_arena_printf(a, "%s/%s.json", folder, name),
                                      dse_arena_printf(a, "%s/%s/%s", folder, name, hf_config)};

    for (int i = 0; i < 2; i++)
        if (dse_is_file(candidates[i]))
            return candidates[i];
    return NULL;
}

/* Whether what is at a path is taken for the card itself. */
static bool is_card(card_kind kind, const char *path, bool is_folder)
{
    return dse_is_file(path) || (kind == CARD_SYSTEMS && is_folder) ||
           (kind == CARD_SPACES && !is_folder && access(path, F_OK) == 0);
}

dse_status card_locate(card_kind kind, const char *name, dse_arena *a, const char **path, dse_error *err)
{
    const char **names, *folder, *nearest;
    bool is_folder = dse_is_dir(name);
    const char *stem;
    size_t n;
    dse_status st;

    if (is_card(kind, name, is_folder)) {
        *path = dse_arena_strdup(a, name);
        return DSE_OK;
    }
    if (kind == CARD_MODELS && is_folder && (*path = find_in_folder(name, a)))
        return DSE_OK;
    if (strchr(name, '/') && kind == CARD_MODELS && is_folder)
        return dse_fail(err, DSE_E_CONFIG, "the folder '%s' has no %s", name, hf_config);
    if (strchr(name, '/'))
        return dse_fail(err, DSE_E_CONFIG, "cannot find the %s '%s'", kinds[kind].file, name);
    st = card_list(kind, a, &names, &n, &folder, err);
    if (st != DSE_OK)
        return st;
    stem = dse_arena_strndup(a, name, stem_length(kind, name, strlen(name)));
    for (size_t i = 0; i < n; i++) {
        if (!strcmp(names[i], stem)) {
            *path = dse_arena_printf(a, "%s/%s%s", folder, stem, kinds[kind].extension);
            return DSE_OK;
        }
    }
    if (kind == CARD_MODELS && (*path = find_hf_config(folder, stem, a)))
        return DSE_OK;
    if (kind == CARD_MODELS && is_folder)
        return dse_fail(err, DSE_E_CONFIG, "the folder '%s' has no %s, and no card has that name; %s", name,
                        hf_config, kinds[kind].where);
    nearest = dse_nearest(stem, names, n);
    if (nearest)
        return dse_fail(err, DSE_E_CONFIG, "unknown %s '%s'; did you mean '%s'? %s", kinds[kind].what, name,
                        nearest, kinds[kind].where);
    return dse_fail(err, DSE_E_CONFIG, "unknown %s '%s': no such file, and no %s of that name in %s",
                    kinds[kind].what, name, kinds[kind].entry, folder);
}

/* The last part of a path: its length, and where it starts. */
static size_t last_part(const char *path, size_t end, size_t *start)
{
    while (end > 1 && path[end - 1] == '/')
        end--;
    for (*start = end; *start && path[*start - 1] != '/'; --*start)
        ;
    return end - *start;
}

/* The name of the folder that a path's file is in; out holds PATH_MAX bytes. "" if it cannot be known. */
static void folder_name(const char *path, size_t start, char *out)
{
    size_t at = 0, n = start ? last_part(path, start, &at) : 0;
    char folder[PATH_MAX];

    if (n && n < PATH_MAX && strspn(path + at, ".") < n) {
        snprintf(out, PATH_MAX, "%.*s", (int)n, path + at);
        return;
    }
    /* "", "." or "..": the system knows its name. */
    snprintf(folder, sizeof folder, "%.*s", start ? (int)start : 1, start ? path : ".");
    if (!realpath(folder, out))
        *out = '\0';
    n = last_part(out, strlen(out), &at);
    memmove(out, out + at, n);
    out[n] = '\0';
}

/* Bytes of a file's name without the extension that a card may have. */
static size_t name_length(const char *name, size_t n)
{
    return n > 5 && !strncmp(name + n - 5, ".json", 5) ? n - 5 : stem_length(CARD_MODELS, name, n);
}

dse_status card_name(const char *argument, dse_arena *a, const char **out, dse_error *err)
{
    size_t start, n = last_part(argument, strlen(argument), &start);
    char folder[PATH_MAX];

    if (n == sizeof hf_config - 1 && !strncmp(argument + start, hf_config, n)) { /* its folder says more */
        folder_name(argument, start, folder);
        *out = dse_arena_strdup(a, folder);
    } else {
        *out = dse_arena_strndup(a, argument + start, name_length(argument + start, n));
    }
    return **out && dse_is_printable(*out)
               ? DSE_OK
               : dse_fail(err, DSE_E_CONFIG, "results cannot be kept under the name of '%s'; rename it",
                          argument);
}
