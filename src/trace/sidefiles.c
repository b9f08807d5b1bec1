#include "trace/sidefiles.h"

#include "base/fs.h"
#include "base/units.h"

#include <fnmatch.h>
#include <math.h>
#include <string.h>

dse_status trace_paths_add(trace_paths *to, const char *dir, const char *pattern, bool folders, dse_arena *a,
                           dse_error *err)
{
    const char **name, **path;
    size_t n;
    dse_status st;

    if (!dse_is_dir(dir))
        return DSE_OK;
    if ((st = dse_list_names(dir, a, &name, &n, err)) != DSE_OK)
        return st;
    path = DSE_ARENA_RAW(a, const char *, to->n + n);
    if (to->n)
        memcpy(path, to->path, to->n * sizeof *path);
    to->path = path;
    for (size_t i = 0; i < n; i++) {
        if (fnmatch(pattern, name[i], FNM_PERIOD) != 0)
            continue;
        path[to->n] = dse_arena_printf(a, "%s/%s", dir, name[i]);
        to->n += folders ? dse_is_dir(path[to->n]) : dse_is_file(path[to->n]);
    }
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

    *out = NAN;
    if (!v || (v->kind == CFG_SCALAR && !v->quoted && strcmp(v->text, "null") == 0))
        return DSE_OK;
    if (v->kind != CFG_SCALAR || v->quoted || dse_parse_double(v->text, out, NULL) != DSE_OK ||
        !isfinite(*out))
        return cfg_fail(err, doc, v, "%s is to be a number, not %s", key, cfg_seen(v).text);
    return DSE_OK;
}
