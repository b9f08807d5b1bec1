/* Remote memory: what a MEM_LOAD or MEM_STORE node takes.
 *
 * Each access costs latency + bytes / bandwidth. A memory of its own per NPU serves at once; one per node, or
 * one pool for all, serves one access at a time, first come first served. Source: AnalyticalRemoteMemory.cc
 * of astra-memory-analytical (bb12dd5); its per-node form reads freed memory when an access ends, and is done
 * here as its documentation describes it. */
#include "sim/engine.h"

#include <inttypes.h>

typedef struct {
    uint32_t rank, node, next;
} request;

struct sim_remote {
    uint32_t n_memories;
    struct {
        bool busy;
        dse_list requests;
    } * memory;
    request *waiting; /* two places a rank: a node of the communication unit, a node of the CPU */
};

void sim_remote_init(sim_engine *e)
{
    const sim_remote_memory *m = &e->set->remote;
    struct sim_remote *r;

    if (m->kind != SIM_REMOTE_POOL && m->kind != SIM_REMOTE_PER_NODE)
        return;
    r = DSE_ARENA_NEW(e->arena, struct sim_remote, 1);
    r->n_memories = m->kind == SIM_REMOTE_POOL ? 1 : (e->net->n_npus - 1) / m->npus_per_node + 1;
    r->memory = dse_arena_zero(e->arena, r->n_memories, sizeof *r->memory);
    r->waiting = DSE_ARENA_NEW(e->arena, request, 2 * (size_t)e->net->n_npus);
    for (uint32_t i = 0; i < r->n_memories; i++)
        r->memory[i].requests = DSE_LIST_EMPTY;
    e->remote = r;
}

static dse_time access_ticks(const sim_engine *e, uint32_t rank, uint32_t node)
{
    const sim_remote_memory *m = &e->set->remote;
    uint64_t bytes = e->rank[rank].graph->graph->node[node].tensor_size;

    return m->latency_ns + dse_ticks((double)bytes / (double)m->bytes_per_ns);
}

static void serve(sim_engine *e, uint32_t memory, uint32_t rank, uint32_t node)
{
    dse_time ticks = access_ticks(e, rank, node);

    e->remote->memory[memory].busy = true;
    sim_register(e, rank, SIM_RE_NODE_DONE, node, 0, ticks);
    sim_register(e, rank, SIM_RE_REMOTE_NEXT, memory, 0, ticks);
}

void sim_remote_issue(sim_engine *e, uint32_t rank, uint32_t node)
{
    const sim_remote_memory *m = &e->set->remote;
    uint32_t memory = m->kind == SIM_REMOTE_PER_NODE ? rank / m->npus_per_node : 0;

    if (m->kind == SIM_REMOTE_NONE) {
        sim_fail(e, DSE_E_WORKLOAD,
                 "%s accesses remote memory, but the system has none (NO_MEMORY_EXPANSION)",
                 sim_where(e, rank, node).text);
    } else if (m->kind == SIM_REMOTE_PER_NPU) {
        e->backend->end_node(e, rank, node, access_ticks(e, rank, node));
    } else if (e->remote->memory[memory].busy) {
        uint32_t at = 2 * rank + e->rank[rank].graph->graph->node[node].is_cpu_op;

        e->remote->waiting[at] = (request){.rank = rank, .node = node};
        DSE_LIST_ADD(&e->remote->memory[memory].requests, e->remote->waiting, at, request, next);
    } else {
        serve(e, memory, rank, node);
    }
}

void sim_remote_next(sim_engine *e, uint32_t memory)
{
    dse_list *requests = &e->remote->memory[memory].requests;
    request r;

    if (requests->head == DSE_NONE) {
        e->remote->memory[memory].busy = false;
        return;
    }
    r = e->remote->waiting[requests->head];
    DSE_LIST_DROP_HEAD(requests, e->remote->waiting, next);
    serve(e, memory, r.rank, r.node);
}
