/* Reading a trace as JSON, in two spellings: STAGE's {"nodes": [...]} with names for types, and that of
 * Chakra's feeder, {"workload_graph": [...]} with numbers. */
#include "workload/chakra_builder.h"

#include "base/units.h"
#include "config/doc.h"

#include <string.h>

typedef struct {
    wl_builder b;
    cfg_doc doc;
    const cfg_node *at; /* the node being read */
    uint64_t id;
    dse_error *err;
} reader;

static dse_status fail(reader *r, const cfg_node *at, const char *what)
{
    cfg_place place;

    return dse_fail_at(r->err, DSE_E_WORKLOAD, cfg_where(&r->doc, at, &place), "%s", what);
}

/* The first of two keys that is there, or NULL. */
static const cfg_node *either(const cfg_node *map, const char *a, const char *b)
{
    const cfg_node *n = cfg_get(map, a);

    return n || !b ? n : cfg_get(map, b);
}

static dse_status get_uint(reader *r, const char *a, const char *b, bool *has, uint64_t *out)
{
    const cfg_node *n = either(r->at, a, b);
    int64_t v;

    *has = n != NULL;
    if (!n)
        return DSE_OK;
    if (n->kind == CFG_SCALAR && (!strcmp(n->text, "true") || !strcmp(n->text, "false"))) {
        *out = n->text[0] == 't';
        return DSE_OK;
    }
    if (n->kind != CFG_SCALAR || n->quoted || dse_parse_int(n->text, &v, NULL) != DSE_OK)
        return fail(r, n, "a whole number is expected here");
    *out = (uint64_t)v;
    return DSE_OK;
}

static dse_status read_type(reader *r, wl_node *node)
{
    static const char *const names[] = {
        [WL_NODE_COMP] = "comp_node",         [WL_NODE_SEND] = "comm_send_node",
        [WL_NODE_RECV] = "comm_recv_node",    [WL_NODE_COLL] = "coll_comm_node",
        [WL_NODE_MEM_LOAD] = "mem_load_node", [WL_NODE_MEM_STORE] = "mem_store_node"};
    const cfg_node *n = either(r->at, "node_type", "NodeType");
    int64_t v;

    if (!n || n->kind != CFG_SCALAR)
        return fail(r, n ? n : r->at, "the node has no type");
    if (!n->quoted && dse_parse_int(n->text, &v, NULL) == DSE_OK && v >= 0 && v <= WL_NODE_COLL) {
        node->type = (uint8_t)v;
        return DSE_OK;
    }
    for (uint32_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (names[i] && !strcmp(n->text, names[i])) {
            node->type = (uint8_t)i;
            return DSE_OK;
        }
    }
    return fail(r, n, "unknown node type");
}

static dse_status read_coll_type(reader *r, wl_node_facts *f)
{
    const cfg_node *n = cfg_get(r->at, "comm_type");
    uint64_t *out = &f->value[WL_FACT_COMM_TYPE];
    int64_t v;

    if (!n)
        return DSE_OK;
    f->has |= 1u << WL_FACT_COMM_TYPE;
    if (n->kind == CFG_SCALAR && !n->quoted && dse_parse_int(n->text, &v, NULL) == DSE_OK && v >= 0 &&
        v < 255) {
        *out = (uint64_t)v;
        return DSE_OK;
    }
    for (*out = 0; n->kind == CFG_SCALAR && *out <= 9; ++*out)
        if (!strcmp(n->text, wl_coll_type_name((uint32_t)*out)))
            return DSE_OK;
    return fail(r, n, "unknown collective type");
}

static dse_status read_deps(reader *r, const char *key, bool control)
{
    const cfg_node *list = cfg_get(r->at, key);

    if (!list)
        return DSE_OK;
    if (list->kind != CFG_LIST)
        return fail(r, list, "dependencies are a list of node ids");
    for (uint32_t i = 0; i < list->n; i++) {
        int64_t v;
        dse_status st;

        if (list->item[i]->kind != CFG_SCALAR || dse_parse_int(list->item[i]->text, &v, NULL) != DSE_OK ||
            v < 0)
            return fail(r, list->item[i], "a dependency is a node id");
        if ((st = wl_builder_add_dep(&r->b, control, (uint64_t)v)) != DSE_OK)
            return st;
    }
    return DSE_OK;
}

static dse_status read_tensors(reader *r, wl_fact which, wl_node_facts *f)
{
    const cfg_node *list = cfg_get(r->at, wl_fact_names[which].text);

    f->has |= (uint32_t)(list != NULL) << which;
    if (!list)
        return DSE_OK;
    if (list->kind != CFG_LIST)
        return fail(r, list, "inputs and outputs are lists of {name, size}");
    for (uint32_t i = 0; i < list->n; i++) {
        const cfg_node *name = cfg_get(list->item[i], "name"), *size = cfg_get(list->item[i], "size");
        dse_status st;

        if (!name || !size || name->kind != CFG_SCALAR || size->kind != CFG_SCALAR)
            return fail(r, list->item[i], "inputs and outputs are lists of {name, size}");
        st = wl_builder_add_io(&r->b, which == WL_FACT_OUTPUTS, name->text, strlen(name->text), size->text, strlen(size->text));
        if (st != DSE_OK)
            return st;
    }
    return DSE_OK;
}

static dse_status read_node(reader *r, const cfg_node *at)
{
    wl_node node = {0};
    wl_node_facts f = {0};
    const cfg_node *name = either(at, "name", "Name"), *group = either(at, "comm_group", "pg_name");
    bool has = false;
    dse_status st;

    r->at = at;
    if (at->kind != CFG_MAP)
        return fail(r, at, "a node is an object");
    if ((st = get_uint(r, "id", "Id", &has, &r->id)) != DSE_OK ||
        (st = wl_builder_begin_node(&r->b)) != DSE_OK)
        return st;
    if (!has)
        return fail(r, at, "the node has no id");
    if (name && name->kind == CFG_SCALAR)
        node.name = name->text;
    if (group && group->kind == CFG_SCALAR)
        f.group = group->text;
    if ((st = read_type(r, &node)) != DSE_OK || (st = read_coll_type(r, &f)) != DSE_OK)
        return st;
    for (int i = 0; i < WL_FACT_COMM_TYPE; i++) { /* the integers that have no other spelling */
        if ((st = get_uint(r, wl_fact_names[i].text, NULL, &has, &f.value[i])) != DSE_OK)
            return st;
        f.has |= (uint32_t)has << i;
    }
    if ((st = get_uint(r, "runtime", "duration_micros", &has, &node.duration_us)) != DSE_OK ||
        (st = read_deps(r, "data_deps", false)) != DSE_OK ||
        (st = read_deps(r, "ctrl_deps", true)) != DSE_OK ||
        (st = read_tensors(r, WL_FACT_INPUTS, &f)) != DSE_OK ||
        (st = read_tensors(r, WL_FACT_OUTPUTS, &f)) != DSE_OK)
        return st;
    return wl_builder_end_node(&r->b, r->id, node, &f);
}

dse_status wl_chakra_parse_json(const char *path, const char *text, size_t n, uint32_t rank, dse_arena *a,
                                wl_trace *out, dse_error *err)
{
    reader r = {.err = err};
    const cfg_node *list;
    dse_status st = cfg_parse_json(path, text, n, a, &r.doc, err);

    if (st != DSE_OK)
        return st;
    list = either(r.doc.root, "nodes", "workload_graph");
    if (!list || list->kind != CFG_LIST)
        return dse_fail_at(err, DSE_E_SYNTAX, path, "a trace in JSON has a list 'nodes' or 'workload_graph'");
    wl_builder_init(&r.b, path, rank, a, err);
    for (uint32_t i = 0; st == DSE_OK && i < list->n; i++)
        st = read_node(&r, list->item[i]);
    if (st == DSE_OK)
        st = wl_builder_finish(&r.b, out);
    wl_builder_free(&r.b);
    return st;
}
