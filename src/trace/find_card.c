/* Which file of a directory is its workload card. */
#include "base/array.h"
#include "base/fs.h"
#include "trace/card.h"
#include "trace/listing.h"

#include <string.h>
#include <unistd.h>

/* ---- cards ----------------------------------------------------------------------------------- */

/* Whether a file of another name is a card; a file that is not YAML is not. */
static bool is_card(const char *path, dse_arena *a)
{
    dse_error err = DSE_ERROR_INIT;
    cfg_doc doc = {0};

    return cfg_load(path, a, &doc, &err) == DSE_OK && trace_card_is(&doc);
}

static dse_status only_card(const char *dir, const char *const *name, size_t n, dse_arena *a,
                            const char **out, dse_error *err)
{
    static const char *const patterns[] = {"*.yaml", "*.yml", NULL};

    for (size_t i = 0; i < n; i++) {
        const char *path;

        if (name[i][0] == '.' || !trace_matches_any(name[i], patterns))
            continue;
        path = dse_arena_printf(a, "%s/%s", dir, name[i]);
        if (!dse_is_file(path) || !is_card(path, a))
            continue;
        if (*out)
            return dse_fail(err, DSE_E_CONFIG,
                            "'%.200s' and '%.200s' both are workload cards; name one with --card", *out,
                            name[i]);
        *out = path;
    }
    return DSE_OK;
}

dse_status trace_find_card(const char *path, dse_arena *a, const char **out, dse_error *err)
{
    static const char *const names[] = {"workload_card.yaml",       "workload_card_tp.yaml",
                                        "workload_card_pp.yaml",    "workload_card_dp_tp.yaml",
                                        "workload_card_dp_pp.yaml", "workload_card_3d.yaml"};
    const char *slash = strrchr(path, '/'), *dir = path, **name;
    size_t n;
    dse_status st;

    *out = NULL;
    if (!dse_is_dir(path))
        dir = slash ? dse_arena_strndup(a, path, slash == path ? 1 : (size_t)(slash - path)) : ".";
    for (size_t i = 0; i < DSE_COUNT(names); i++) {
        const char *card = dse_arena_printf(a, "%s/%s", dir, names[i]);

        if (dse_is_file(card)) {
            *out = card;
            return DSE_OK;
        }
    }
    /* The directory of a named file need not be readable. */
    if (dir != path && access(dir, R_OK) != 0)
        return DSE_OK;
    st = dse_list_names(dir, a, &name, &n, err);
    return st == DSE_OK ? only_card(dir, name, n, a, out, err) : st;
}
