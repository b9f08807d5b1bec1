/* A workload from files: one trace per rank, and the communicator groups. */
#include "base/fs.h"
#include "base/idtable.h"
#include "base/units.h"
#include "config/doc.h"
#include "workload/chakra_alike.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#define MAX_TRACE_BYTES ((size_t)4 << 30)

/* What the ranks' files are read with, one after the other. */
typedef struct {
    const char *prefix;
    wl_reading *how;
    wl_workload *w;
    dse_idtable group_by_name;
    dse_strbuf text; /* the file at hand */
    wl_alike alike;
    dse_arena *arena;
    dse_error *err;
} reader;

static dse_status inflate_file(const char *path, dse_strbuf *out, dse_error *err)
{
    char chunk[65536];
    gzFile f = gzopen(path, "rb");
    dse_status st = DSE_OK;
    const char *why;
    int n, code;

    if (!f)
        return dse_fail_errno(err, DSE_E_IO, "cannot open '%s'", path);
    while ((n = gzread(f, chunk, sizeof chunk)) > 0) {
        dse_strbuf_add(out, chunk, (size_t)n);
        if (out->len > MAX_TRACE_BYTES)
            break;
    }
    why = gzerror(f, &code);
    if (code == Z_MEM_ERROR)
        dse_out_of_memory();
    if (n < 0 || code == Z_BUF_ERROR)
        st = dse_fail_at(err, DSE_E_SYNTAX, path, "cannot read: %s",
                         n < 0 ? why : "unexpected end of the compressed data");
    else if (out->len > MAX_TRACE_BYTES)
        st = dse_fail_at(err, DSE_E_RANGE, path, "the trace is larger than %zu bytes", MAX_TRACE_BYTES);
    gzclose(f);
    return st;
}

static dse_status read_maybe_gzip(const char *path, dse_strbuf *out, dse_error *err)
{
    dse_status st;

    if (!dse_is_file(path))
        return dse_fail_at(err, DSE_E_IO, path, "the workload file does not exist");
    dse_strbuf_clear(out);
    st = dse_read_file(path, MAX_TRACE_BYTES, out, err);
    if (st != DSE_OK || out->len < 2 || memcmp(out->data, "\x1f\x8b", 2) != 0)
        return st;
    dse_strbuf_clear(out);
    return inflate_file(path, out, err);
}

/* STAGE writes its JSON under the name of a trace, so the content decides. A protobuf file may begin with
 * '{' too (its first byte is a length), but then it does not end with '}' as well. */
static bool looks_like_json(const dse_strbuf *text)
{
    size_t first = strspn(text->data, " \t\r\n"), last = text->len;

    if (first >= text->len || text->data[first] != '{')
        return false;
    first += 1 + strspn(text->data + first + 1, " \t\r\n");
    while (last > first && strchr(" \t\r\n", text->data[last - 1]))
        last--;
    return first < last && text->data[first] == '"' && text->data[last - 1] == '}';
}

/* <prefix>.<rank>.et, or .json if that exists instead, which sets *json. */
static dse_status find_file(reader *r, uint32_t rank, const char **out, bool *json)
{
    char path[4096], other[4096];

    if (snprintf(path, sizeof path, "%s.%" PRIu32 ".et", r->prefix, rank) >= (int)sizeof path - 2)
        return dse_fail(r->err, DSE_E_IO, "the path '%.80s...' is too long", r->prefix);
    if (!dse_is_file(path)) {
        snprintf(other, sizeof other, "%.*sjson", (int)strlen(path) - 2, path);
        if ((*json = dse_is_file(other)))
            strcpy(path, other);
    }
    *out = dse_arena_strdup(r->arena, path);
    return DSE_OK;
}

/* Parses the file at hand; its graph is a new one. */
static dse_status parse_rank(reader *r, const char *path, bool json, uint32_t rank, wl_trace *out)
{
    const unsigned char *bytes = (const unsigned char *)r->text.data;
    size_t n = r->text.len;
    const uint64_t dropped = r->how->n_dropped;
    dse_status st;

    if (json)
        st = wl_chakra_parse_json(path, r->text.data, n, rank, r->how, r->arena, out, r->err);
    else
        st = wl_chakra_parse_et(path, bytes, n, rank, r->how, r->arena, out, r->err);
    if (st != DSE_OK)
        return st;
    r->w->rank[rank].graph = r->w->n_graphs;
    r->w->graph[r->w->n_graphs++] = out->graph;
    /* wl_alike_add wants the file's dependencies to be the graph's. */
    if (!json && rank + 1 < r->w->n_ranks && r->how->n_dropped == dropped)
        wl_alike_add(&r->alike, (pb_range){bytes, bytes + n}, out, r->w->rank[rank].graph);
    return DSE_OK;
}

static dse_status read_rank(reader *r, uint32_t rank, wl_trace *out)
{
    const char *path = NULL;
    bool json = false;
    dse_status st = find_file(r, rank, &path, &json);

    if (st != DSE_OK || (st = read_maybe_gzip(path, &r->text, r->err)) != DSE_OK)
        return st;
    if (!json && !(json = looks_like_json(&r->text))) {
        const unsigned char *bytes = (const unsigned char *)r->text.data;
        pb_range file = {bytes, bytes + r->text.len};
        uint32_t graph = wl_alike_find(&r->alike, file, rank, r->w->graph, r->arena, out);

        if (graph != DSE_NONE) {
            r->w->rank[rank].graph = graph;
            out->path = path;
            return DSE_OK;
        }
    }
    return parse_rank(r, path, json, rank, out);
}

/* ---- groups -------------------------------------------------------------------------------- */

static dse_status group_members(const cfg_doc *doc, const cfg_node *key, const cfg_node *list,
                                uint32_t n_ranks, dse_arena *a, wl_group *out, dse_error *err)
{
    if (!*key->text)
        return cfg_fail(err, doc, key, "a group without a name; \"\" is the group of all ranks");
    if (list->kind != CFG_LIST || !list->n)
        return cfg_fail(err, doc, list, "group '%.60s' must be a list of ranks", key->text);
    *out = (wl_group){.name = key->text, .n = list->n, .rank = DSE_ARENA_NEW(a, uint32_t, list->n)};
    for (uint32_t i = 0; i < list->n; i++) {
        int64_t v;
        dse_status st = cfg_int(doc, list->item[i], "a rank", 0, (int64_t)n_ranks - 1, &v, err);

        if (st != DSE_OK)
            return st;
        out->rank[i] = (uint32_t)v;
    }
    return DSE_OK;
}

static dse_status check_unique(const wl_workload *w, uint32_t n_ranks, const char *path, dse_arena *a,
                               dse_error *err)
{
    uint32_t *seen = DSE_ARENA_NEW(a, uint32_t, n_ranks);

    for (uint32_t i = 1; i < w->n_groups; i++) {
        for (uint32_t k = 0; k < w->group[i].n; k++) {
            if (seen[w->group[i].rank[k]] == i)
                return dse_fail_at(err, DSE_E_CONFIG, path, "group '%.60s' names rank %" PRIu32 " twice",
                                   w->group[i].name, w->group[i].rank[k]);
            seen[w->group[i].rank[k]] = i;
        }
    }
    return DSE_OK;
}

dse_status wl_groups_parse(const char *path, const char *text, size_t n_text, uint32_t n_ranks, dse_arena *a,
                           wl_workload *w, dse_error *err)
{
    cfg_doc doc = {0};
    uint32_t n = 0;
    dse_status st = text ? cfg_parse_json(path, text, n_text, a, &doc, err) : DSE_OK;

    if (st != DSE_OK)
        return st;
    if (text && doc.root->kind != CFG_MAP)
        return dse_fail_at(err, DSE_E_CONFIG, path, "a group file maps names to lists of ranks");
    n = text ? doc.root->n : 0;
    w->group = DSE_ARENA_NEW(a, wl_group, n + 1u);
    w->group[0].rank = DSE_ARENA_RAW(a, uint32_t, n_ranks);
    w->group[0].name = "";
    w->group[0].n = n_ranks;
    for (uint32_t i = 0; i < n_ranks; i++)
        w->group[0].rank[i] = i;
    w->n_groups = n + 1;
    for (uint32_t i = 0; st == DSE_OK && i < n; i++)
        st = group_members(&doc, doc.root->key[i], doc.root->item[i], n_ranks, a, &w->group[i + 1], err);
    return st == DSE_OK ? check_unique(w, n_ranks, path, a, err) : st;
}

static dse_status read_groups(const char *path, uint32_t n_ranks, dse_arena *a, wl_workload *w,
                              dse_error *err)
{
    dse_strbuf text;
    dse_status st;

    if (!path)
        return wl_groups_parse(NULL, NULL, 0, n_ranks, a, w, err);
    dse_strbuf_init(&text);
    st = dse_read_file(path, CFG_MAX_BYTES, &text, err);
    if (st == DSE_OK)
        st = wl_groups_parse(path, text.data, text.len, n_ranks, a, w, err);
    dse_strbuf_free(&text);
    return st;
}

/* Without leading zeros, so that numbers are equal where names are. */
static dse_status check_numbers(const wl_workload *w, const char *path, dse_error *err)
{
    for (uint32_t i = 1; i < w->n_groups; i++) {
        const char *name = w->group[i].name;
        int64_t v = 0;

        if (*name < '1' || *name > '9' || dse_parse_int(name, &v, NULL) != DSE_OK || v > INT32_MAX)
            return dse_fail_at(err, DSE_E_CONFIG, path,
                               "group '%.60s': the newest ASTRA-sim takes whole numbers above 0 as names of "
                               "groups, and ends with an assertion otherwise",
                               name);
    }
    return DSE_OK;
}

/* ---- binding ------------------------------------------------------------------------------- */

static bool is_member(const wl_group *g, uint32_t rank)
{
    for (uint32_t i = 0; i < g->n; i++)
        if (g->rank[i] == rank)
            return true;
    return false;
}

static bool group_has_name(const void *groups, uint32_t id, const void *name)
{
    return !strcmp(((const wl_group *)groups)[id].name, name);
}

/* The node that uses a slot, for a message. */
static uint64_t user_of_slot(const wl_trace *t, uint32_t slot)
{
    for (uint32_t i = 0; i < t->graph.n_nodes; i++)
        if (t->graph.node[i].type == WL_NODE_COLL && t->graph.node[i].slot == slot)
            return t->id_base + t->graph.node[i].id;
    return 0;
}

static dse_status bind_rank(reader *rd, uint32_t rank, const wl_trace *t)
{
    const wl_group *group = rd->w->group;
    wl_rank *r = &rd->w->rank[rank];

    r->id_base = t->id_base;
    r->p2p = t->p2p;
    r->group = DSE_ARENA_NEW(rd->arena, uint32_t, t->graph.n_group_slots);
    for (uint32_t i = 0; i < t->graph.n_group_slots; i++) {
        const char *name = t->group_name[i];
        const dse_idslot *slot =
            dse_idtable_find(&rd->group_by_name, (uint32_t)dse_hash_u64(dse_hash_bytes(name, strlen(name))),
                             group_has_name, group, name);

        if (slot->id == DSE_NONE)
            return dse_fail_at(rd->err, DSE_E_WORKLOAD, t->path,
                               "node %" PRIu64
                               ": unknown communicator group '%.60s'; it is not in the group file",
                               user_of_slot(t, i), name);
        if (!is_member(&group[slot->id], rank))
            return dse_fail_at(rd->err, DSE_E_WORKLOAD, t->path,
                               "node %" PRIu64 ": rank %" PRIu32 " is not a member of group '%.60s'",
                               user_of_slot(t, i), rank, name);
        r->group[i] = slot->id;
    }
    return DSE_OK;
}

static dse_status index_groups(const wl_workload *w, const char *path, dse_idtable *t, dse_error *err)
{
    for (uint32_t i = 0; i < w->n_groups; i++) {
        const char *name = w->group[i].name;

        if (dse_idtable_intern(t, (uint32_t)dse_hash_u64(dse_hash_bytes(name, strlen(name))), group_has_name,
                               w->group, name, i) != i)
            return dse_fail_at(err, DSE_E_CONFIG, path, "group '%.60s' stands twice", name);
    }
    return DSE_OK;
}

dse_status wl_chakra_read(const char *prefix, const char *groups_path, uint32_t n_ranks, wl_reading *how,
                          dse_arena *a, wl_workload *out, dse_error *err)
{
    wl_reading as_stage = {0};
    reader r = {.prefix = prefix, .how = how ? how : &as_stage, .w = out, .arena = a, .err = err};
    dse_status st;

    *out = (wl_workload){.n_ranks = n_ranks};
    out->rank = DSE_ARENA_NEW(a, wl_rank, n_ranks);
    out->graph = DSE_ARENA_NEW(a, wl_graph, n_ranks);
    dse_strbuf_init(&r.text);
    wl_alike_init(&r.alike);
    st = read_groups(groups_path, n_ranks, a, out, err);
    if (st == DSE_OK)
        st = index_groups(out, groups_path, &r.group_by_name, err);
    if (st == DSE_OK && r.how->numbered_groups)
        st = check_numbers(out, groups_path, err);
    for (uint32_t rank = 0; st == DSE_OK && rank < n_ranks; rank++) {
        wl_trace t;

        st = read_rank(&r, rank, &t);
        if (st == DSE_OK)
            st = bind_rank(&r, rank, &t);
    }
    dse_idtable_free(&r.group_by_name);
    dse_strbuf_free(&r.text);
    wl_alike_free(&r.alike);
    return st;
}

const char *wl_zlib_version(void) { return zlibVersion(); }
