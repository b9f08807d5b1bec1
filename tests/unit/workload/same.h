/* Two workloads are the same: field by field, whatever memory they share. */
#ifndef UNIT_WORKLOAD_SAME_H
#define UNIT_WORKLOAD_SAME_H

#include "unit/unit.h"

#include "workload/graph.h"

static inline void assert_same_node(const wl_node *a, const wl_node *b)
{
    assert_string_equal(a->name, b->name);
    assert_u64(a->id, b->id);
    assert_u64(a->num_ops, b->num_ops);
    assert_u64(a->tensor_size, b->tensor_size);
    assert_u64(a->comm_size, b->comm_size);
    assert_u64(a->y_size, b->y_size);
    assert_u64(a->duration_us, b->duration_us);
    assert_int_equal(a->slot, b->slot);
    assert_int_equal(a->involved_dims, b->involved_dims);
    assert_int_equal(a->n_involved_dims, b->n_involved_dims);
    assert_int_equal(a->type, b->type);
    assert_int_equal(a->coll, b->coll);
    assert_int_equal(a->is_cpu_op, b->is_cpu_op);
    assert_int_equal(a->has_io, b->has_io);
    assert_int_equal(a->tensor_kind, b->tensor_kind);
    assert_int_equal(a->layer, b->layer);
    assert_true(!a->lacks && !b->lacks);
}

static inline void assert_same_numbers(const uint32_t *a, const uint32_t *b, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        assert_int_equal(a[i], b[i]);
}

static inline void assert_same_lists(const wl_csr *a, const wl_csr *b, uint32_t n)
{
    assert_same_numbers(a->start, b->start, n + 1);
    assert_same_numbers(a->item, b->item, a->start[n]);
}

static inline void assert_same_io(const wl_io_csr *a, const wl_io_csr *b, uint32_t n)
{
    assert_same_numbers(a->start, b->start, n + 1);
    for (uint32_t i = 0; i < a->start[n]; i++) {
        assert_int_equal(a->item[i].tensor, b->item[i].tensor);
        assert_u64(a->item[i].size, b->item[i].size);
    }
}

static inline void assert_same_graph(const wl_graph *a, const wl_graph *b)
{
    const uint32_t n = a->n_nodes;

    assert_int_equal(n, b->n_nodes);
    for (uint32_t i = 0; i < n; i++)
        assert_same_node(&a->node[i], &b->node[i]);
    assert_same_numbers(a->by_id, b->by_id, n);
    assert_same_lists(&a->data_deps, &b->data_deps, n);
    assert_same_lists(&a->ctrl_deps, &b->ctrl_deps, n);
    assert_same_lists(&a->parents, &b->parents, n);
    assert_same_lists(&a->children, &b->children, n);
    assert_same_io(&a->inputs, &b->inputs, n);
    assert_same_io(&a->outputs, &b->outputs, n);
    assert_int_equal(a->n_tensors, b->n_tensors);
    for (uint32_t i = 0; i < a->n_tensors; i++) {
        assert_string_equal(a->tensor[i].name, b->tensor[i].name);
        assert_double(a->tensor[i].elements, b->tensor[i].elements);
        assert_int_equal(a->tensor[i].kind, b->tensor[i].kind);
    }
    for (int kind = 0; kind < WL_N_TENSOR_KINDS; kind++)
        assert_u64(a->resident[kind], b->resident[kind]);
    assert_int_equal(a->n_group_slots, b->n_group_slots);
    assert_int_equal(a->n_p2p_slots, b->n_p2p_slots);
}

static inline void assert_same_workload(const wl_workload *a, const wl_workload *b)
{
    assert_int_equal(a->in_bytes, b->in_bytes);
    assert_int_equal(a->n_ranks, b->n_ranks);
    assert_int_equal(a->n_graphs, b->n_graphs);
    assert_int_equal(a->n_groups, b->n_groups);
    for (uint32_t i = 0; i < a->n_graphs; i++)
        assert_same_graph(&a->graph[i], &b->graph[i]);
    for (uint32_t i = 0; i < a->n_groups; i++) {
        assert_string_equal(a->group[i].name, b->group[i].name);
        assert_int_equal(a->group[i].n, b->group[i].n);
        assert_same_numbers(a->group[i].rank, b->group[i].rank, a->group[i].n);
    }
    for (uint32_t r = 0; r < a->n_ranks; r++) {
        const wl_rank *x = &a->rank[r], *y = &b->rank[r];

        assert_int_equal(x->graph, y->graph);
        assert_u64(x->id_base, y->id_base);
        assert_same_numbers(x->group, y->group, a->graph[x->graph].n_group_slots);
        for (uint32_t i = 0; i < a->graph[x->graph].n_p2p_slots; i++) {
            assert_int_equal(x->p2p[i].peer, y->p2p[i].peer);
            assert_int_equal(x->p2p[i].tag, y->p2p[i].tag);
            assert_u64(x->p2p[i].id, y->p2p[i].id);
        }
    }
}

#endif
