#include "driver/locate.h"

#include "base/fs.h"
#include "base/names.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const folders[] = {
    [DRV_MODELS] = "models", [DRV_SYSTEMS] = "systems", [DRV_OPERATORS] = "operators"};
static const char *const singular[] = {
    [DRV_MODELS] = "model", [DRV_SYSTEMS] = "system", [DRV_OPERATORS] = "operator file"};

/* The folder the running program is in, or "". */
static void program_folder(char *out, size_t size)
{
    ssize_t n = readlink("/proc/self/exe", out, size - 1);
    char *slash;

    out[n > 0 ? n : 0] = '\0';
    slash = strrchr(out, '/');
    if (slash)
        *slash = '\0';
}

static const char *find_folder(drv_kind kind, dse_arena *a)
{
    const char *env = getenv("CCLDSE_CONFIGS");
    char program[4096];
    const char *candidates[5];

    program_folder(program, sizeof program);
    candidates[0] = env && *env ? dse_arena_printf(a, "%s/%s", env, folders[kind]) : NULL;
    candidates[1] = dse_arena_printf(a, "configs/%s", folders[kind]);
    candidates[2] = dse_arena_printf(a, "%s/../configs/%s", program, folders[kind]);
    candidates[3] = dse_arena_printf(a, "%s/../share/ccldse/configs/%s", program, folders[kind]);
    candidates[4] = dse_arena_printf(a, CCLDSE_SOURCE_CONFIGS "/%s", folders[kind]);
    for (size_t i = 0; i < sizeof candidates / sizeof candidates[0]; i++)
        if (candidates[i] && dse_is_dir(candidates[i]))
            return candidates[i];
    return NULL;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

dse_status drv_list(drv_kind kind, dse_arena *a, const char ***names, size_t *n, const char **folder,
                    dse_error *err)
{
    const char **list = NULL;
    size_t cap = 0, count = 0;
    struct dirent *entry;
    DIR *dir;
    dse_status st = DSE_OK;

    *folder = find_folder(kind, a);
    if (!*folder)
        return dse_fail(err, DSE_E_CONFIG,
                        "cannot find the folder configs/%s; set CCLDSE_CONFIGS to where configs is",
                        folders[kind]);
    dir = opendir(*folder);
    if (!dir)
        return dse_fail_errno(err, DSE_E_IO, "cannot read '%s'", *folder);
    while (st == DSE_OK && (entry = readdir(dir))) {
        size_t len = strlen(entry->d_name);

        if (len <= 5 || strcmp(entry->d_name + len - 5, ".yaml"))
            continue;
        if (!DSE_GROW(list, cap, count + 1) || !(list[count] = dse_arena_strndup(a, entry->d_name, len - 5)))
            st = dse_fail_nomem(err);
        else
            count++;
    }
    closedir(dir);
    if (st == DSE_OK) {
        qsort(list, count, sizeof *list, compare_names);
        *names = DSE_ARENA_NEW(a, const char *, count);
        if (!*names)
            st = dse_fail_nomem(err);
        else if (count)
            memcpy(*names, list, count * sizeof *list);
        *n = count;
    }
    dse_free(list);
    return st;
}

dse_status drv_locate(drv_kind kind, const char *name, dse_arena *a, const char **path, dse_error *err)
{
    const char **names, *folder, *nearest;
    char stem[128];
    size_t n;
    dse_status st;

    if (dse_is_file(name) || (kind == DRV_SYSTEMS && dse_is_dir(name))) {
        *path = dse_arena_strdup(a, name);
        return *path ? DSE_OK : dse_fail_nomem(err);
    }
    if (strchr(name, '/'))
        return dse_fail(err, DSE_E_CONFIG, "cannot find the %s card '%s'", singular[kind], name);
    st = drv_list(kind, a, &names, &n, &folder, err);
    if (st != DSE_OK)
        return st;
    snprintf(stem, sizeof stem, "%s", name);
    if (strlen(stem) > 5 && !strcmp(stem + strlen(stem) - 5, ".yaml"))
        stem[strlen(stem) - 5] = '\0';
    for (size_t i = 0; i < n; i++) {
        if (!strcmp(names[i], stem)) {
            *path = dse_arena_printf(a, "%s/%s.yaml", folder, stem);
            return *path ? DSE_OK : dse_fail_nomem(err);
        }
    }
    nearest = dse_nearest(stem, names, n);
    if (nearest)
        return dse_fail(err, DSE_E_CONFIG, "unknown %s '%s'; did you mean '%s'? list them with 'ccldse %s'",
                        singular[kind], name, nearest, folders[kind]);
    return dse_fail(err, DSE_E_CONFIG, "unknown %s '%s': no such file, and no card of that name in %s",
                    singular[kind], name, folder);
}
