#include "base/array.h"
#include "workload/chakra_template.h"

#include "base/fs.h"
#include "base/json_writer.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const wl_schema *const schemas[] = {&wl_schema_v004, &wl_schema_v001, &wl_schema_json};
#define N_SCHEMAS DSE_COUNT(schemas)

const wl_schema *wl_schema_find(const char *name)
{
    for (size_t i = 0; i < N_SCHEMAS; i++)
        if (!strcmp(schemas[i]->name, name))
            return schemas[i];
    return NULL;
}

/* Makes the files of a workload, one after the other. */
typedef struct {
    const wl_workload *w;
    const wl_schema *schema;
    uint32_t graph; /* whose template it is; DSE_NONE: none yet */
    wl_template common;
    unsigned char *page; /* the file stands at its end */
    size_t room, cap;
} writer;

static void writer_init(writer *r, const wl_workload *w, const wl_schema *schema)
{
    *r = (writer){.w = w, .schema = schema, .graph = DSE_NONE};
    wl_template_init(&r->common);
}

static void writer_free(writer *r)
{
    wl_template_free(&r->common);
    dse_free(r->page);
}

/* One rank's file. Consecutive ranks with the same graph share the draft. */
static pb_range write_rank(writer *r, uint32_t rank)
{
    uint32_t graph = r->w->rank[rank].graph;

    if (r->graph != graph) {
        wl_template_clear(&r->common);
        r->schema->draft(&r->w->graph[graph], &r->common);
        r->graph = graph;
        r->room = wl_template_room(&r->common, r->w);
        DSE_GROW(r->page, r->cap, r->room + 1); /* a graph may have no nodes */
    }
    return (pb_range){wl_template_fill(&r->common, r->w, rank, r->page + r->room), r->page + r->room};
}

void wl_chakra_write(const wl_workload *w, const wl_schema *schema, uint32_t rank, dse_strbuf *out)
{
    writer r;
    pb_range file;

    writer_init(&r, w, schema);
    file = write_rank(&r, rank);
    dse_strbuf_add(out, file.p, (size_t)(file.end - file.p));
    writer_free(&r);
}

dse_status wl_chakra_write_files(const wl_workload *w, const wl_schema *schema, const char *pattern,
                                 dse_error *err)
{
    const char *slash = strrchr(pattern, '/'), *base = slash ? slash + 1 : pattern,
               *mark = strstr(base, "%d");
    char path[4096];
    writer r;
    pb_range file;
    dse_status st = DSE_OK;

    if (!mark)
        return dse_fail(err, DSE_E_USAGE, "the file name '%s' lacks %%d, the place of the rank", base);
    if (slash) {
        snprintf(path, sizeof path, "%.*s", (int)(slash - pattern), pattern);
        if (*path && (st = dse_mkdirs(path, err)) != DSE_OK)
            return st;
    }
    writer_init(&r, w, schema);
    for (uint32_t rank = 0; st == DSE_OK && rank < w->n_ranks; rank++) {
        if (snprintf(path, sizeof path, "%.*s%" PRIu32 "%s", (int)(mark - pattern), pattern, rank,
                     mark + 2) >= (int)sizeof path) {
            st = dse_fail(err, DSE_E_IO, "the path '%.80s...' is too long", pattern);
        } else {
            file = write_rank(&r, rank);
            st = dse_write_file(path, file.p, (size_t)(file.end - file.p), err);
        }
    }
    writer_free(&r);
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
