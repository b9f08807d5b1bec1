#include "workload/chakra_alike.h"

#include "base/array.h"
#include "workload/chakra_v004.h"

#include <string.h>

void wl_alike_init(wl_alike *m)
{
    *m = (wl_alike){0};
    for (int i = 0; i < WL_ALIKE_MAX; i++)
        wl_template_init(&m->known[i].common);
}

void wl_alike_free(wl_alike *m)
{
    for (int i = 0; i < WL_ALIKE_MAX; i++)
        wl_template_free(&m->known[i].common);
    dse_free(m->has_id);
    dse_free(m->p2p);
    dse_free(m->group_name);
}

/* ---- the template of a file ---------------------------------------------------------------- */

typedef struct {
    const wl_trace *trace;
    const wl_graph *g; /* its own */
    wl_template *out;
    const unsigned char *kept; /* up to here the file is in the template */
    const wl_node *node;       /* the one at hand */
    uint32_t seen;             /* bit per attribute with a hole: the first of a name counts */
    uint32_t n_data, n_ctrl;   /* dependencies so far, of all nodes */
} draft;

/* What a rank has for itself, by the node it stands in. */
static const struct {
    const char *name;
    uint8_t node_type, hole;
} open_attribute[] = {
    {"pg_name", WL_NODE_COLL, WL_HOLE_GROUP_NAME}, {"comm_tag", WL_NODE_SEND, WL_HOLE_TAG},
    {"comm_dst", WL_NODE_SEND, WL_HOLE_PEER},      {"comm_src", WL_NODE_SEND, WL_HOLE_RANK},
    {"comm_tag", WL_NODE_RECV, WL_HOLE_TAG},       {"comm_src", WL_NODE_RECV, WL_HOLE_PEER},
    {"comm_dst", WL_NODE_RECV, WL_HOLE_RANK},
};
enum { N_OPEN = DSE_COUNT(open_attribute) };

/* The file up to `from` as it is; what the hole takes in ends at `to`. */
static void keep(draft *d, const unsigned char *from, const unsigned char *to)
{
    dse_strbuf_add(&d->out->text, d->kept, (size_t)(from - d->kept));
    d->kept = to;
}

static void add_hole(draft *d, const unsigned char *from, const unsigned char *to, wl_hole_kind kind,
                     uint64_t value)
{
    keep(d, from, to);
    wl_template_hole(d->out, kind, value);
}

static void begin(draft *d, const pb_field *f) { add_hole(d, f->at, f->bytes.p, WL_HOLE_BEGIN, 0); }
static void end(draft *d, const pb_field *f) { add_hole(d, f->bytes.end, f->bytes.end, WL_HOLE_END, 0); }

static void add_id(draft *d, const unsigned char *from, const unsigned char *to, const wl_node *n)
{
    keep(d, from, to);
    wl_template_id(d->out, n);
}

/* The k-th dependency of the file is the k-th of the graph. */
static void add_deps(draft *d, const pb_field *f, const unsigned char *after, const wl_csr *deps, uint32_t *n)
{
    pb_range list = f->bytes;
    uint64_t v;

    if (f->wire == PB_VARINT) {
        add_id(d, f->at, after, &d->g->node[deps->item[(*n)++]]);
        return;
    }
    begin(d, f);
    for (const unsigned char *at = list.p; pb_get_varint(&list, &v); at = list.p)
        add_id(d, at, list.p, &d->g->node[deps->item[(*n)++]]);
    end(d, f);
}

static int find_open(uint32_t node_type, pb_range name)
{
    size_t n = (size_t)(name.end - name.p);

    for (int i = 0; i < N_OPEN; i++)
        if (open_attribute[i].node_type == node_type && strlen(open_attribute[i].name) == n &&
            !memcmp(open_attribute[i].name, name.p, n))
            return i;
    return -1;
}

/* Types whose low 32 bits are the value. */
static bool is_plain_integer(const pb_field *f)
{
    return f->wire == PB_VARINT && (f->field == ATTR_INT32 || f->field == ATTR_INT64 ||
                                    f->field == ATTR_UINT32 || f->field == ATTR_UINT64);
}

/* False if it is not a name and at most one value. */
static bool add_attribute(draft *d, const pb_field *f)
{
    pb_range rest = f->bytes;
    uint32_t slot = d->node->slot;
    pb_field name, value;
    int open;

    if (pb_get_field(&rest, &name) <= 0 || name.field != ATTR_NAME || name.wire != PB_BYTES)
        return false;
    open = find_open(d->node->type, name.bytes);
    if (rest.p == rest.end)
        return open < 0;
    if (pb_get_field(&rest, &value) <= 0 || rest.p < rest.end || value.field <= 2)
        return false;
    if (open < 0 || d->seen >> open & 1)
        return true;
    d->seen |= 1u << open;
    if (open_attribute[open].hole == WL_HOLE_GROUP_NAME) {
        /* By dimensions, the group is not looked at; and a node without pg_name means "", too. */
        if (slot == DSE_NONE || !*d->trace->group_name[slot])
            return true;
        begin(d, f);
        begin(d, &value);
        add_hole(d, value.bytes.p, value.bytes.end, WL_HOLE_GROUP_NAME, slot);
        end(d, &value);
    } else if (is_plain_integer(&value)) {
        begin(d, f);
        add_hole(d, value.at, rest.p, open_attribute[open].hole, slot);
    } else {
        return false;
    }
    end(d, f);
    return true;
}

static bool add_node(draft *d, pb_range bytes)
{
    uint32_t n_ids = 0;
    pb_field f;

    d->seen = 0;
    while (pb_get_field(&bytes, &f) > 0) {
        if (f.field == NODE_ID && f.wire == PB_VARINT) {
            add_id(d, f.at, bytes.p, d->node);
            n_ids++;
        } else if (f.field == NODE_CTRL_DEPS) {
            add_deps(d, &f, bytes.p, &d->g->ctrl_deps, &d->n_ctrl);
        } else if (f.field == NODE_DATA_DEPS) {
            add_deps(d, &f, bytes.p, &d->g->data_deps, &d->n_data);
        } else if (f.field == NODE_ATTR && f.wire == PB_BYTES && !add_attribute(d, &f)) {
            return false;
        }
    }
    return n_ids == 1;
}

/* The length-prefixed message at *file, which has been parsed before. */
static pb_field next_message(pb_range *file)
{
    pb_field f = {.wire = PB_BYTES, .at = file->p};
    uint64_t n = 0;

    pb_get_varint(file, &n);
    f.bytes = (pb_range){file->p, file->p + n};
    file->p = f.bytes.end;
    return f;
}

static bool draft_trace(pb_range file, const wl_trace *t, wl_template *out)
{
    const wl_graph *g = &t->graph;
    draft d = {.trace = t, .g = g, .out = out, .kept = file.p};

    next_message(&file); /* the metadata stays as it is */
    for (uint32_t i = 0; i < g->n_nodes; i++) {
        pb_field message = next_message(&file);

        d.node = &g->node[i];
        begin(&d, &message);
        if (!add_node(&d, message.bytes))
            return false;
        end(&d, &message);
    }
    keep(&d, file.end, file.end);
    return true;
}

/* ---- finding ------------------------------------------------------------------------------- */

void wl_alike_add(wl_alike *m, pb_range file, const wl_trace *t, uint32_t graph)
{
    bool full = m->n == WL_ALIKE_MAX;
    uint32_t i = full ? m->oldest : m->n;
    wl_template *common = &m->known[i].common;
    size_t n_p2p = t->graph.n_p2p_slots, n_names = t->graph.n_group_slots;

    if (n_names > WL_ALIKE_MAX_GROUP_SLOTS || m->n_single == WL_ALIKE_MAX)
        return;
    m->n_single++;
    DSE_GROW(m->has_id, m->cap_has_id, n_p2p + 1);
    DSE_GROW(m->p2p, m->cap_p2p, n_p2p + 1);
    DSE_GROW(m->group_name, m->cap_names, n_names + 1);
    wl_template_clear(common);
    if (!draft_trace(file, t, common)) {
        wl_template_clear(common);
        m->known[i].graph = DSE_NONE;
    } else {
        m->known[i].graph = graph;
        m->last = i;
    }
    m->n += !full;
    m->oldest = (m->oldest + full) % WL_ALIKE_MAX;
}

/* The simulator tries nodes in the order of their ids. */
static bool is_same_order(const wl_graph *g, const wl_binding *b)
{
    uint64_t id, before = 0;

    for (uint32_t i = 0; i < g->n_nodes; i++, before = id) {
        const wl_node *n = &g->node[g->by_id[i]];

        id = n->type == WL_NODE_SEND || n->type == WL_NODE_RECV ? b->p2p[n->slot].id : b->id_base + n->id;
        if (i && id <= before)
            return false;
    }
    return true;
}

/* Parsing gives a slot to each name, and refuses a NUL in one. */
static bool are_distinct_names(const pb_range *name, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        size_t length = (size_t)(name[i].end - name[i].p);

        if (length && memchr(name[i].p, '\0', length))
            return false;
        for (uint32_t k = 0; k < i; k++)
            if ((size_t)(name[k].end - name[k].p) == length &&
                (!length || !memcmp(name[i].p, name[k].p, length)))
                return false;
    }
    return true;
}

static void keep_trace(const wl_graph *g, const wl_binding *b, dse_arena *a, wl_trace *out)
{
    *out = (wl_trace){.graph = *g, .id_base = b->id_base};
    out->p2p = dse_arena_copy(a, b->p2p, g->n_p2p_slots, sizeof *out->p2p);
    out->group_name = DSE_ARENA_RAW(a, const char *, g->n_group_slots);
    for (uint32_t i = 0; i < g->n_group_slots; i++) {
        pb_range name = b->group_name[i];

        /* A slot without a hole is that of the group of all ranks. */
        out->group_name[i] =
            dse_arena_strndup(a, name.p ? (const char *)name.p : "", (size_t)(name.end - name.p));
    }
}

uint32_t wl_alike_find(wl_alike *m, pb_range file, uint32_t rank, const wl_graph *graphs, dse_arena *a,
                       wl_trace *out)
{
    /* Bytes compared with other graphs; of small files it is no matter. */
    size_t in_vain = 0, enough = 4096 + (size_t)(file.end - file.p) / 4;

    for (uint32_t i = 0; i < m->n && in_vain <= enough; i++) {
        uint32_t k = (m->last + i) % m->n;
        const wl_graph *g = m->known[k].graph == DSE_NONE ? NULL : &graphs[m->known[k].graph];
        wl_binding b = {.p2p = m->p2p, .has_id = m->has_id, .group_name = m->group_name};

        if (!g)
            continue;
        memset(m->has_id, 0, g->n_p2p_slots * sizeof *m->has_id);
        memset(m->group_name, 0, g->n_group_slots * sizeof *m->group_name);
        if (!wl_template_match(&m->known[k].common, file, rank, &b) || !is_same_order(g, &b) ||
            !are_distinct_names(b.group_name, g->n_group_slots)) {
            in_vain += (size_t)(b.reached - file.p);
            continue;
        }
        m->last = k;
        m->n_single = 0;
        keep_trace(g, &b, a, out);
        return m->known[k].graph;
    }
    return DSE_NONE;
}
