/* Whether two traces say the same: one that was parsed, and one that shares another file's graph. */
#ifndef SUPPORT_SAME_TRACE_H
#define SUPPORT_SAME_TRACE_H

#include "workload/chakra.h"

#include <string.h>

static inline bool same_text(const char *a, const char *b) { return a == b || (a && b && !strcmp(a, b)); }

static inline bool same_csr(const wl_csr *a, const wl_csr *b, uint32_t n)
{
    return !memcmp(a->start, b->start, (n + 1u) * sizeof *a->start) &&
           (!a->start[n] || !memcmp(a->item, b->item, a->start[n] * sizeof *a->item));
}

static inline bool same_io(const wl_graph *a, const wl_io_csr *x, const wl_graph *b, const wl_io_csr *y)
{
    if (memcmp(x->start, y->start, (a->n_nodes + 1u) * sizeof *x->start) != 0)
        return false;
    for (uint32_t k = 0; k < x->start[a->n_nodes]; k++)
        if (x->item[k].tensor != y->item[k].tensor || x->item[k].size != y->item[k].size ||
            !same_text(a->tensor[x->item[k].tensor].name, b->tensor[y->item[k].tensor].name))
            return false;
    return true;
}

static inline uint64_t trace_id(const wl_trace *t, uint32_t node)
{
    const wl_node *n = &t->graph.node[node];

    return n->type == WL_NODE_SEND || n->type == WL_NODE_RECV ? t->p2p[n->slot].id : t->id_base + n->id;
}

static inline bool same_node(const wl_trace *s, const wl_trace *t, uint32_t i)
{
    const wl_node *a = &s->graph.node[i], *b = &t->graph.node[i];

    return same_text(a->name, b->name) && trace_id(s, i) == trace_id(t, i) && a->num_ops == b->num_ops &&
           a->tensor_size == b->tensor_size && a->comm_size == b->comm_size &&
           a->duration_us == b->duration_us && a->slot == b->slot && a->involved_dims == b->involved_dims &&
           a->n_involved_dims == b->n_involved_dims && a->type == b->type && a->coll == b->coll &&
           a->is_cpu_op == b->is_cpu_op && a->has_io == b->has_io && same_text(a->lacks, b->lacks);
}

static inline bool same_trace(const wl_trace *s, const wl_trace *t)
{
    const wl_graph *a = &s->graph, *b = &t->graph;

    if (a->n_nodes != b->n_nodes || a->n_tensors != b->n_tensors || a->n_group_slots != b->n_group_slots ||
        a->n_p2p_slots != b->n_p2p_slots || memcmp(a->by_id, b->by_id, a->n_nodes * sizeof *a->by_id) != 0)
        return false;
    for (uint32_t i = 0; i < a->n_nodes; i++)
        if (!same_node(s, t, i))
            return false;
    for (uint32_t i = 0; i < a->n_group_slots; i++)
        if (!same_text(s->group_name[i], t->group_name[i]))
            return false;
    for (uint32_t i = 0; i < a->n_p2p_slots; i++)
        if (s->p2p[i].peer != t->p2p[i].peer || s->p2p[i].tag != t->p2p[i].tag ||
            s->p2p[i].id != t->p2p[i].id)
            return false;
    return same_csr(&a->data_deps, &b->data_deps, a->n_nodes) &&
           same_csr(&a->ctrl_deps, &b->ctrl_deps, a->n_nodes) &&
           same_csr(&a->parents, &b->parents, a->n_nodes) &&
           same_csr(&a->children, &b->children, a->n_nodes) && same_io(a, &a->inputs, b, &b->inputs) &&
           same_io(a, &a->outputs, b, &b->outputs);
}

#endif
