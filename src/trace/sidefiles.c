#include "trace/sidefiles.h"

#include "base/fs.h"
#include "base/units.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void add(trace_paths *to, const char *path, dse_arena *a)
{
    if (to->n == to->cap) {
        const char **v = DSE_ARENA_RAW(a, const char *, to->cap ? to->cap * 2 : 16);

        if (to->n)
            memcpy(v, to->path, to->n * sizeof *v);
        to->path = v;
        to->cap = to->cap ? to->cap * 2 : 16;
    }
    to->path[to->n++] = path;
}

dse_status trace_paths_add(trace_paths *to, const char *dir, const char *pattern, bool folders, dse_arena *a,
                           dse_error *err)
{
    size_t first = to->n;
    struct dirent *e;
    DIR *d;

    if (!dse_is_dir(dir))
        return DSE_OK;
    if (!(d = opendir(dir)))
        return dse_fail_errno(err, DSE_E_IO, "cannot read folder '%s'", dir);
    while ((e = readdir(d))) {
        const char *path;

        if (fnmatch(pattern, e->d_name, FNM_PERIOD) != 0)
            continue;
        path = dse_arena_printf(a, "%s/%s", dir, e->d_name);
        if (folders ? dse_is_dir(path) : dse_is_file(path))
            add(to, path, a);
    }
    closedir(d);
    if (to->n > first)
        qsort(to->path + first, to->n - first, sizeof *to->path, by_name);
    return DSE_OK;
}

const char *trace_folder_of(const char *path, dse_arena *a)
{
    const char *slash = strrchr(path, '/');

    if (dse_is_dir(path) || !dse_is_file(path))
        return path;
    return slash ? dse_arena_strndup(a, path, (size_t)(slash - path)) : ".";
}

dse_status trace_json_number(const cfg_doc *doc, const cfg_node *object, const char *key, double *out,
                             dse_error *err)
{
    const cfg_node *v = cfg_get(object, key);
    cfg_place place, what;

    *out = NAN;
    if (!v || (v->kind == CFG_SCALAR && !v->quoted && strcmp(v->text, "null") == 0))
        return DSE_OK;
    if (v->kind != CFG_SCALAR || v->quoted || dse_parse_double(v->text, out, NULL) != DSE_OK ||
        !isfinite(*out))
        return dse_fail_at(err, DSE_E_CONFIG, cfg_where(doc, v, &place), "%s is to be a number, not %s", key,
                           cfg_describe(v, &what));
    return DSE_OK;
}
