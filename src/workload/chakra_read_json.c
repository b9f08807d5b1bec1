/* Reading a trace as JSON, in two spellings: STAGE's {"nodes": [...]} with names for types, and that of
 * Chakra's feeder, {"workload_graph": [...]} with numbers. */
#include "workload/chakra_builder.h"

#include "base/array.h"
#include "base/units.h"
#include "config/doc.h"

#include <string.h>

typedef struct {
    wl_builder b;
    cfg_doc doc;
    const cfg_node *at; /* the node being read */
    uint64_t id;
    dse_status status; /* of what has failed: those who read return false then */
} reader;

static bool fail(reader *r, const cfg_node *at, const char *what)
{
    r->status = dse_fail_at(r->b.err, DSE_E_WORKLOAD, cfg_at(&r->doc, at).text, "%s", what);
    return false;
}

/* Of a call of the builder. */
static bool is_done(reader *r, dse_status st)
{
    r->status = st;
    return st == DSE_OK;
}

/* The first of two keys that is there, or NULL. */
static const cfg_node *either(const cfg_node *map, const char *a, const char *b)
{
    const cfg_node *n = cfg_get(map, a);

    return n || !b ? n : cfg_get(map, b);
}

/* A bare whole number. */
static bool is_whole(const cfg_node *n, int64_t *out)
{
    return n->kind == CFG_SCALAR && !n->quoted && dse_parse_int(n->text, out, NULL) == DSE_OK;
}

static bool get_uint(reader *r, const char *a, const char *b, bool *has, uint64_t *out)
{
    const cfg_node *n = either(r->at, a, b);
    int64_t v;

    *has = n != NULL;
    if (!n)
        return true;
    if (n->kind == CFG_SCALAR && (!strcmp(n->text, "true") || !strcmp(n->text, "false")))
        v = n->text[0] == 't';
    else if (!is_whole(n, &v))
        return fail(r, n, "a whole number is expected here");
    *out = (uint64_t)v;
    return true;
}

/* A number from 0 to `most`, or the place of a name; some names may be NULL. */
static bool read_choice(reader *r, const cfg_node *n, int64_t most, const char *const *names, uint8_t n_names,
                        const char *what, uint8_t *out)
{
    int64_t v;

    if (is_whole(n, &v) && v >= 0 && v <= most) {
        *out = (uint8_t)v;
        return true;
    }
    for (*out = 0; n->kind == CFG_SCALAR && *out < n_names; ++*out)
        if (names[*out] && !strcmp(n->text, names[*out]))
            return true;
    return fail(r, n, what);
}

static bool read_type(reader *r, wl_node *node)
{
    static const char *const names[] = {
        [WL_NODE_COMP] = "comp_node",         [WL_NODE_SEND] = "comm_send_node",
        [WL_NODE_RECV] = "comm_recv_node",    [WL_NODE_COLL] = "coll_comm_node",
        [WL_NODE_MEM_LOAD] = "mem_load_node", [WL_NODE_MEM_STORE] = "mem_store_node"};
    const cfg_node *n = either(r->at, "node_type", "NodeType");

    if (!n || n->kind != CFG_SCALAR)
        return fail(r, n ? n : r->at, "the node has no type");
    return read_choice(r, n, WL_NODE_COLL, names, DSE_COUNT(names), "unknown node type", &node->type);
}

static bool read_coll_type(reader *r, wl_node_facts *f)
{
    const cfg_node *n = cfg_get(r->at, "comm_type");
    const char *names[10];
    uint8_t type = 0;

    if (!n)
        return true;
    for (uint32_t i = 0; i < DSE_COUNT(names); i++)
        names[i] = wl_coll_type_name(i);
    if (!read_choice(r, n, 254, names, DSE_COUNT(names), "unknown collective type", &type))
        return false;
    f->has |= 1u << WL_FACT_COMM_TYPE;
    f->value[WL_FACT_COMM_TYPE] = type;
    return true;
}

static bool read_deps(reader *r, const char *key, bool control)
{
    const cfg_node *list = cfg_get(r->at, key);

    if (list && list->kind != CFG_LIST)
        return fail(r, list, "dependencies are a list of node ids");
    for (uint32_t i = 0; list && i < list->n; i++) {
        int64_t v;

        if (list->item[i]->kind != CFG_SCALAR || dse_parse_int(list->item[i]->text, &v, NULL) != DSE_OK ||
            v < 0)
            return fail(r, list->item[i], "a dependency is a node id");
        if (!is_done(r, wl_builder_add_dep(&r->b, control, (uint64_t)v)))
            return false;
    }
    return true;
}

static bool read_tensors(reader *r, wl_fact which, wl_node_facts *f)
{
    const cfg_node *list = cfg_get(r->at, wl_fact_names[which].text);

    f->has |= (uint32_t)(list != NULL) << which;
    if (list && list->kind != CFG_LIST)
        return fail(r, list, "inputs and outputs are lists of {name, size}");
    for (uint32_t i = 0; list && i < list->n; i++) {
        const cfg_node *name = cfg_get(list->item[i], "name"), *size = cfg_get(list->item[i], "size");

        if (!name || !size || name->kind != CFG_SCALAR || size->kind != CFG_SCALAR)
            return fail(r, list->item[i], "inputs and outputs are lists of {name, size}");
        if (!is_done(r, wl_builder_add_io(&r->b, which == WL_FACT_OUTPUTS, name->text, strlen(name->text),
                                          size->text, strlen(size->text))))
            return false;
    }
    return true;
}

static bool read_node(reader *r, const cfg_node *at)
{
    wl_node node = {0};
    wl_node_facts f = {0};
    const cfg_node *name = either(at, "name", "Name"), *group = either(at, "comm_group", "pg_name");
    bool has = false;

    r->at = at;
    if (at->kind != CFG_MAP)
        return fail(r, at, "a node is an object");
    if (!get_uint(r, "id", "Id", &has, &r->id) || !is_done(r, wl_builder_begin_node(&r->b)))
        return false;
    if (!has)
        return fail(r, at, "the node has no id");
    if (name && name->kind == CFG_SCALAR)
        node.name = name->text;
    if (group && group->kind == CFG_SCALAR)
        f.group = group->text;
    if (!read_type(r, &node) || !read_coll_type(r, &f))
        return false;
    for (int i = 0; i < WL_FACT_COMM_TYPE; i++) { /* the integers that have no other spelling */
        if (!get_uint(r, wl_fact_names[i].text, NULL, &has, &f.value[i]))
            return false;
        f.has |= (uint32_t)has << i;
    }
    return get_uint(r, "runtime", "duration_micros", &has, &node.duration_us) &&
           read_deps(r, "data_deps", false) && read_deps(r, "ctrl_deps", true) &&
           read_tensors(r, WL_FACT_INPUTS, &f) && read_tensors(r, WL_FACT_OUTPUTS, &f) &&
           is_done(r, wl_builder_end_node(&r->b, r->id, node, &f));
}

dse_status wl_chakra_parse_json(const char *path, const char *text, size_t n, uint32_t rank, wl_reading *how,
                                dse_arena *a, wl_trace *out, dse_error *err)
{
    reader r = {0};
    const cfg_node *list;
    dse_status st = cfg_parse_json(path, text, n, a, &r.doc, err);

    if (st != DSE_OK)
        return st;
    list = either(r.doc.root, "nodes", "workload_graph");
    if (!list || list->kind != CFG_LIST)
        return dse_fail_at(err, DSE_E_SYNTAX, path, "a trace in JSON has a list 'nodes' or 'workload_graph'");
    wl_builder_init(&r.b, path, rank, how, a, err);
    for (uint32_t i = 0; i < list->n && read_node(&r, list->item[i]); i++)
        ;
    if (r.status == DSE_OK)
        r.status = wl_builder_finish(&r.b, out);
    wl_builder_free(&r.b);
    return r.status;
}
