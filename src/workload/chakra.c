#include "workload/chakra.h"

#include "base/fs.h"
#include "base/json_writer.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const wl_schema *const schemas[] = {&wl_schema_v004, &wl_schema_v001, &wl_schema_json};
#define N_SCHEMAS (sizeof schemas / sizeof schemas[0])

const wl_schema *wl_schema_find(const char *name)
{
    for (size_t i = 0; i < N_SCHEMAS; i++)
        if (!strcmp(schemas[i]->name, name))
            return schemas[i];
    return NULL;
}

dse_status wl_chakra_write_files(const wl_workload *w, const wl_schema *schema, const char *pattern,
                                 dse_error *err)
{
    const char *slash = strrchr(pattern, '/'), *base = slash ? slash + 1 : pattern,
               *mark = strstr(base, "%d");
    char path[4096];
    dse_strbuf bytes;
    dse_status st = DSE_OK;

    if (!mark)
        return dse_fail(err, DSE_E_USAGE, "the file name '%s' lacks %%d, the place of the rank", base);
    if (slash) {
        snprintf(path, sizeof path, "%.*s", (int)(slash - pattern), pattern);
        if (*path && (st = dse_mkdirs(path, err)) != DSE_OK)
            return st;
    }
    dse_strbuf_init(&bytes);
    for (uint32_t rank = 0; st == DSE_OK && rank < w->n_ranks; rank++) {
        dse_strbuf_clear(&bytes);
        schema->write(w, rank, &bytes);
        if (snprintf(path, sizeof path, "%.*s%" PRIu32 "%s", (int)(mark - pattern), pattern, rank,
                     mark + 2) >= (int)sizeof path)
            st = dse_fail(err, DSE_E_IO, "the path '%.80s...' is too long", pattern);
        else if (bytes.failed)
            st = dse_fail_nomem(err);
        else
            st = dse_write_file(path, bytes.data, bytes.len, err);
    }
    dse_strbuf_free(&bytes);
    return st;
}

void wl_groups_write(const wl_workload *w, dse_strbuf *out)
{
    dse_strbuf_addc(out, '{');
    for (uint32_t i = 1; i < w->n_groups; i++) {
        dse_strbuf_adds(out, i > 1 ? ", " : "");
        dse_json_quote(out, w->group[i].name);
        dse_strbuf_adds(out, ": [");
        for (uint32_t k = 0; k < w->group[i].n; k++) {
            if (k)
                dse_strbuf_adds(out, ", ");
            dse_strbuf_addu(out, w->group[i].rank[k]);
        }
        dse_strbuf_addc(out, ']');
    }
    dse_strbuf_addc(out, '}');
}
