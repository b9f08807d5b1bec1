/* Host and GPU of PyTorch as one graph, as Chakra's converter has it.
 *
 * Every operator of the host is a node, and behind it the kernels that it launched. A node waits for the one
 * before it on its thread, in the order of calls; a kernel waits for its launch alone. So nothing waits for a
 * GPU, and a collective never lengthens the run: a flaw that is kept here, as a figure of theirs has it.
 *
 * Source: mlcommons/chakra 21585d8, chakra_converter; spec of what-if, section 5. */
#include "base/array.h"
#include "whatif/compat_link.h"
#include "whatif/compat_parts.h"
#include "whatif/emit.h"
#include "workload/chakra_v004.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A node in the order of ids: of the host, or a kernel behind it. */
typedef struct {
    uint32_t host;   /* its place; of a kernel, that of what launched it; DSE_NONE: none has this id */
    uint32_t event;  /* of a kernel; DSE_NONE */
    uint32_t parent; /* id */
} item;

typedef struct {
    const compat_link *l;
    dse_arena *arena;
    const char *path;
    uint32_t n;
    item *item;   /* by id */
    uint32_t *id; /* by place in the host's trace */
    uint32_t *first_child, *child;
    whatif_et *et;
} graph;

/* ---- ids ----------------------------------------------------------------------------------------- */

/* In the order of the host's ids; each kernel follows what launched it. A parent that is not in the file has
 * an id of its own, behind all others. */
static void number_nodes(graph *g)
{
    const compat_host *h = &g->l->host;
    uint64_t *absent = DSE_ARENA_RAW(g->arena, uint64_t, h->n + 1u);
    uint32_t n = 0, n_absent = 0;

    for (uint32_t i = 0; i < h->n; i++)
        n += 1 + g->l->node[i].n_gpu;
    g->item = DSE_ARENA_RAW(g->arena, item, n + 1u);
    g->id = DSE_ARENA_RAW(g->arena, uint32_t, h->n + 1u);
    for (uint32_t i = 0; i < h->n; i++) {
        g->id[i] = g->n;
        g->item[g->n++] = (item){i, DSE_NONE, DSE_NONE};
        for (uint32_t k = 0; k < g->l->node[i].n_gpu; k++)
            g->item[g->n++] = (item){i, g->l->node[i].gpu[k], g->id[i]};
    }
    for (uint32_t i = 0; i < h->n; i++) {
        uint32_t parent = compat_host_find(h, h->node[i].parent), k = 0;

        if (parent != DSE_NONE) {
            g->item[g->id[i]].parent = g->id[parent];
            continue;
        }
        while (k < n_absent && absent[k] != h->node[i].parent)
            k++;
        if (k == n_absent)
            absent[n_absent++] = h->node[i].parent;
        g->item[g->id[i]].parent = g->n + k;
    }
}

static void list_children(graph *g)
{
    uint32_t *at = DSE_ARENA_NEW(g->arena, uint32_t, g->n + 2u);

    for (uint32_t i = 0; i < g->n; i++)
        if (g->item[i].parent < g->n)
            at[g->item[i].parent + 2]++;
    for (uint32_t i = 0; i < g->n; i++)
        at[i + 2] += at[i + 1];
    g->child = DSE_ARENA_RAW(g->arena, uint32_t, g->n + 1u);
    for (uint32_t i = 0; i < g->n; i++)
        if (g->item[i].parent < g->n)
            g->child[at[g->item[i].parent + 1]++] = i;
    g->first_child = at;
}

/* ---- nodes ---------------------------------------------------------------------------------------- */

static const char *name_of(const graph *g, const item *t)
{
    return t->event == DSE_NONE ? g->l->host.node[t->host].name
                                : compat_text(&g->l->names, g->l->events.event[t->event].name);
}

/* What launched a kernel of send and receive says which it is; between it and the kernel there may be a node
 * that only records the arguments. */
static const char *launcher_name(const graph *g, const item *t)
{
    const char *name = g->l->host.node[t->host].name;
    uint32_t parent = g->item[t->parent].parent;

    if (strcmp(name, "record_param_comms"))
        return name;
    return parent < g->n ? name_of(g, &g->item[parent]) : "";
}

static uint8_t type_of(const graph *g, const item *t)
{
    const char *name = name_of(g, t);

    if (strstr(name, "process_group:init"))
        return WL_NODE_METADATA;
    if (t->event == DSE_NONE)
        return WL_NODE_COMP;
    if (strstr(name, "ncclDevKernel_SendRecv")) {
        const char *launcher = launcher_name(g, t);

        if (strstr(launcher, "send"))
            return WL_NODE_SEND;
        if (strstr(launcher, "recv"))
            return WL_NODE_RECV;
    }
    return strstr(name, "ncclKernel") || strstr(name, "ncclDevKernel") ? WL_NODE_COLL : WL_NODE_COMP;
}

static uint8_t collective_of(const char *kernel)
{
    static const struct {
        const char *word;
        uint8_t coll;
    } words[] = {{"allreduce", WL_ALL_REDUCE},
                 {"alltoall", WL_ALL_TO_ALL},
                 {"allgather", WL_ALL_GATHER},
                 {"reducescatter", WL_REDUCE_SCATTER},
                 {"broadcast", WL_BROADCAST}};
    char plain[256];
    size_t n = 0;

    for (const char *c = kernel; *c && n + 1 < sizeof plain; c++)
        if (*c != '_' && *c != '-')
            plain[n++] = *c;
    plain[n] = '\0';
    for (size_t i = 0; i < DSE_COUNT(words); i++)
        if (compat_has(plain, words[i].word))
            return words[i].coll;
    return strstr(kernel, "ncclDevKernel_SendRecv") ? WL_ALL_TO_ALL : WHATIF_NO_COLLECTIVE;
}

/* The group of an operator's attributes goes before that of the event, which counts of NCCL's kernels. */
static const char *group_of(const graph *g, const item *t)
{
    const compat_event *e = &g->l->events.event[t->event];
    const compat_host_node *h = &g->l->host.node[t->host];

    if (h->group)
        return h->group;
    return strstr(compat_text(&g->l->names, e->name), "ncclDevKernel")
               ? compat_text(&g->l->names, e->group_name)
               : "";
}

#define MAX_ATTRS (HOST_NUMBERS + 6)

static dse_status add_node(graph *g, uint32_t id, dse_error *err)
{
    const item *t = &g->item[id];
    const compat_host_node *h = &g->l->host.node[t->host];
    const compat_event *e = t->event == DSE_NONE ? NULL : &g->l->events.event[t->event];
    const char *stream = e ? compat_text(&g->l->names, e->stream[0]) : "0", *name = name_of(g, t), *group;
    double us = e ? e->dur : g->l->node[t->host].own_us;
    whatif_node n = {.name = name,
                     .type = type_of(g, t),
                     .duration_us = us > 0 && us < 1e18 && !strstr(name, "Optimizer.step") ? (uint64_t)us : 0,
                     .side = h->side};
    whatif_attr attr[MAX_ATTRS];
    uint32_t k = 0;

    for (; k < HOST_NUMBERS; k++)
        attr[k] = (whatif_attr){compat_host_number[k], ATTR_INT64, h->number[k], NULL};
    attr[k++] = (whatif_attr){"op_schema", ATTR_STRING, 0, h->op_schema};
    attr[k++] = (whatif_attr){"is_cpu_op", ATTR_BOOL, !e, NULL};
    if (stream[0])
        attr[k++] = (whatif_attr){"stream", ATTR_INT64, strtoll(stream, NULL, 10), NULL};
    if (n.type == WL_NODE_COLL) {
        n.coll = collective_of(name);
        if (n.coll == WHATIF_NO_COLLECTIVE)
            return dse_fail_at(err, DSE_E_WORKLOAD, g->path,
                               "the collective of kernel '%.120s' is unknown to Chakra's converter", name);
        attr[k++] = (whatif_attr){"comm_type", ATTR_INT64, n.coll, NULL};
    }
    if (n.type == WL_NODE_COLL || n.type == WL_NODE_SEND || n.type == WL_NODE_RECV) {
        n.bytes = h->tensor_bytes;
        attr[k++] = (whatif_attr){"comm_size", ATTR_INT64, (int64_t)n.bytes, NULL};
        if ((group = group_of(g, t))[0])
            attr[k++] = (whatif_attr){"pg_name", ATTR_STRING, 0, dse_arena_strdup(g->arena, group)};
    }
    n.name = dse_arena_strdup(g->arena, name);
    whatif_et_set_attrs(&n, g->arena, attr, k);
    whatif_et_add(g->et, g->arena, n);
    /* A parent counts that is already there: the host's of smaller ids, and what launched a kernel. */
    if (t->parent < id)
        whatif_et_depend(g->et, g->arena, id, t->parent);
    return DSE_OK;
}

/* ---- order ---------------------------------------------------------------------------------------- */

static bool is_root(const char *name)
{
    return !strcmp(name, "[pytorch|profiler|execution_graph|thread]") ||
           !strcmp(name, "[pytorch|profiler|execution_trace|thread]");
}

/* Depth first, children by id: what the host does in the order of its calls. */
static void order_below(graph *g, uint32_t root, uint32_t *stack, uint32_t *visited_by)
{
    uint32_t n = 0, last_host = DSE_NONE, last = DSE_NONE;

    stack[n++] = root;
    while (n) {
        uint32_t id = stack[--n];
        const item *t = &g->item[id];

        if (visited_by[id] == root)
            continue;
        visited_by[id] = root;
        if (t->event != DSE_NONE) {
            whatif_et_depend_on_data(g->et, g->arena, id, last);
            last = last_host;
        } else {
            uint32_t after = g->l->node[t->host].after;

            if (after != DSE_NONE && g->id[after])
                whatif_et_depend_on_data(g->et, g->arena, id, g->id[after]);
            whatif_et_depend_on_data(g->et, g->arena, id, last_host);
            last = last_host = id;
        }
        for (uint32_t k = g->first_child[id + 1]; k-- > g->first_child[id];)
            if (visited_by[g->child[k]] != root)
                stack[n++] = g->child[k];
    }
}

/* Nodes that wait for nothing and that nothing waits for are left out. */
static void remove_alone(whatif_et *et, dse_arena *a)
{
    bool *is_parent = DSE_ARENA_NEW(a, bool, et->n + 1u);

    for (uint32_t i = 0; i < et->n; i++)
        for (uint32_t k = 0; k < et->node[i].n_data; k++)
            is_parent[et->node[i].data[k]] = true;
    for (uint32_t i = 0; i < et->n; i++)
        if (!is_parent[i] && !et->node[i].n_data)
            et->node[i].type = WL_NODE_INVALID;
}

/* Takes out the references to nodes that are not there, with which no simulator runs; their number. */
static uint32_t remove_references(whatif_et *et)
{
    uint32_t n_removed = 0;

    for (uint32_t i = 0; i < et->n; i++) {
        whatif_node *n = &et->node[i];
        uint32_t kept = 0;

        if (n->type == WL_NODE_INVALID)
            continue;
        for (uint32_t k = 0; k < n->n_ctrl; k++)
            if (et->node[n->ctrl[k]].type != WL_NODE_INVALID)
                n->ctrl[kept++] = n->ctrl[k];
        n_removed += n->n_ctrl - kept;
        n->n_ctrl = kept;
    }
    return n_removed;
}

/* A node on a circle of data dependencies; DSE_NONE: there is none. */
static uint32_t find_circle(const whatif_et *et, dse_arena *a)
{
    enum { NEW, OPEN, DONE };
    uint8_t *state = DSE_ARENA_NEW(a, uint8_t, et->n + 1u);
    uint32_t *stack = DSE_ARENA_RAW(a, uint32_t, et->n + 1u), *next = DSE_ARENA_NEW(a, uint32_t, et->n + 1u);

    for (uint32_t i = 0; i < et->n; i++) {
        uint32_t n = 0;

        if (state[i] != NEW)
            continue;
        stack[n++] = i;
        state[i] = OPEN;
        while (n) {
            uint32_t at = stack[n - 1], on;

            if (next[at] == et->node[at].n_data) {
                state[at] = DONE;
                n--;
                continue;
            }
            on = et->node[at].data[next[at]++];
            if (state[on] == OPEN)
                return on;
            if (state[on] == NEW) {
                state[on] = OPEN;
                stack[n++] = on;
            }
        }
    }
    return DSE_NONE;
}

static void describe(graph *g)
{
    const compat_host *h = &g->l->host;
    bool is_old = !strcmp(h->schema, "1.0.1");
    const whatif_attr about[] = {{"schema", ATTR_STRING, 0, is_old ? "1.0.2-chakra.0.0.4" : h->schema},
                                 {"pid", ATTR_UINT64, (int64_t)h->pid, NULL},
                                 {"time", ATTR_STRING, 0, h->time},
                                 {"start_ts", ATTR_UINT64, (int64_t)h->start_ts, NULL},
                                 {"finish_ts", ATTR_UINT64, (int64_t)h->finish_ts, NULL}};

    g->et->about = dse_arena_copy(g->arena, about, DSE_COUNT(about), sizeof *about);
    g->et->n_about = DSE_COUNT(about);
}

static dse_status make_graph(graph *g, dse_error *err)
{
    uint32_t *stack, *visited_by, circle;
    dse_status st = DSE_OK;

    number_nodes(g);
    list_children(g);
    for (uint32_t i = 0; i < g->n && st == DSE_OK; i++)
        st = add_node(g, i, err);
    if (st != DSE_OK)
        return st;
    stack = DSE_ARENA_RAW(g->arena, uint32_t, g->n + 1u); /* a node is the child of one other */
    visited_by = DSE_ARENA_RAW(g->arena, uint32_t, g->n + 1u);
    memset(visited_by, 0xff, (g->n + 1u) * sizeof *visited_by); /* DSE_NONE */
    for (uint32_t i = 0; i < g->n; i++)
        if (is_root(name_of(g, &g->item[i])))
            order_below(g, i, stack, visited_by);
    remove_alone(g->et, g->arena);
    if ((circle = find_circle(g->et, g->arena)) != DSE_NONE)
        return dse_fail_at(
            err, DSE_E_WORKLOAD, g->path,
            "operators wait for each other in a circle, on which is '%.80s'; Chakra's converter "
            "refuses such traces",
            g->et->node[circle].name);
    describe(g);
    return DSE_OK;
}

/* ---- all ranks ------------------------------------------------------------------------------------ */

/* What was done that the original does not, and what it could not do; of all ranks. */
typedef struct {
    uint32_t n_operators, n_linked, n_kernels, n_orphans, n_references, n_aligned, n_renamed, n_old;
} counts;

static dse_status convert_rank(const whatif_compat_job *job, uint32_t rank, dse_arena *a, whatif_et *et,
                               counts *c, dse_error *err)
{
    compat_link link;
    graph g = {.l = &link, .arena = a, .path = job->host_path[rank], .et = et};
    dse_status st = compat_link_load(job->host_path[rank], job->path[rank], a, &link, err);

    if (st == DSE_OK && (st = make_graph(&g, err)) == DSE_OK) {
        c->n_operators += link.n_operators;
        c->n_linked += link.n_linked;
        c->n_kernels += link.n_kernels;
        c->n_orphans += link.n_orphans;
        c->n_aligned += link.is_aligned;
        c->n_renamed += link.is_renamed;
        c->n_old += !strcmp(link.host.schema, "1.0.1");
        if (job->mode == WHATIF_COMPAT_FULL)
            c->n_references += remove_references(et);
    }
    compat_link_free(&link);
    return st;
}

static void add_notes(const counts *c, dse_arena *a, whatif_files *out)
{
    dse_strbuf b = dse_strbuf_in(a);

#define NOTE(...) out->note[out->n_notes++] = dse_arena_printf(a, __VA_ARGS__)
    NOTE("%u of %u operators are linked to events; %u of %u kernels have no launching operator and are left "
         "out",
         c->n_linked, c->n_operators, c->n_orphans, c->n_kernels);
    if (c->n_references)
        NOTE("%u references to absent nodes are left out, with which no simulator runs; full-unpruned keeps "
             "them, as Chakra's converter does",
             c->n_references);
    if (c->n_old)
        dse_strbuf_addf(&b, "schema 1.0.1 as 1.0.2 (%u ranks)", c->n_old);
    if (c->n_aligned)
        dse_strbuf_addf(&b,
                        "%soperators and events linked by the order of their names, as events have no "
                        "'Record function id' (%u ranks)",
                        b.len ? "; " : "", c->n_aligned);
    if (c->n_renamed)
        dse_strbuf_addf(&b, "%skernels ncclKernel_* as ncclDevKernel_* (%u ranks)", b.len ? "; " : "",
                        c->n_renamed);
    if (b.len)
        NOTE("read although Chakra's linker and converter do not: %s", b.data);
#undef NOTE
}

dse_status compat_convert_full(const whatif_compat_job *job, dse_arena *a, whatif_files *out, dse_error *err)
{
    counts c = {0};

    for (uint32_t i = 0; i < job->n_ranks; i++) {
        uint32_t same = 0; /* a rank that is taken to do what another does */
        dse_status st;

        while (same < i && (job->host_path[same] != job->host_path[i] || job->path[same] != job->path[i]))
            same++;
        if (same < i) {
            out->et[i] = out->et[same];
            continue;
        }
        if ((st = convert_rank(job, i, a, &out->et[i], &c, err)) != DSE_OK)
            return st;
    }
    add_notes(&c, a, out);
    return DSE_OK;
}
