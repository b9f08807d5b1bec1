#include "sim/alone.h"

#include "sim/circle.h"
#include "sim/collective.h"
#include "sim/engine.h"
#include "sim/sim.h"

#include <string.h>

/* One collective of all groups as a workload. A group of all ranks goes through the dimensions. */
static dse_status run_workload(const sim_settings *set, const net_network *net, const sim_groups *groups,
                               uint32_t collective, uint64_t bytes, dse_arena *a, sim_alone *out,
                               dse_error *err)
{
    static const uint64_t id = 1;
    static uint32_t no_item;
    wl_node node = {.name = "collective",
                    .id = id,
                    .type = WL_NODE_COLL,
                    .coll = (uint8_t)collective,
                    .comm_size = bytes};
    uint32_t start[2] = {0, 0};
    const wl_graph one = {.n_nodes = 1,
                          .node = &node,
                          .data_deps = {start, &no_item},
                          .ctrl_deps = {start, &no_item},
                          .inputs = {start, NULL},
                          .outputs = {start, NULL},
                          .n_group_slots = 1};
    wl_graph graph[] = {one, one}; /* of the groups' ranks; of others, which do nothing */
    wl_workload w = {.n_ranks = net->n_npus, .n_graphs = 2, .graph = graph, .n_groups = groups->n_groups};
    uint32_t *group_of = DSE_ARENA_NEW(a, uint32_t, w.n_ranks), *member,
             n_members = groups->n_groups * groups->n;
    sim_settings without_memory = *set;
    sim_result result;
    dse_status st;

    graph[1].n_nodes = 0;
    if ((st = wl_graph_finish(&graph[0], &id, "collective", a, err)) != DSE_OK ||
        (st = wl_graph_finish(&graph[1], &id, "nothing", a, err)) != DSE_OK)
        return st;

    without_memory.track_memory = false;
    without_memory.step_overhead = 0;
    w.rank = DSE_ARENA_NEW(a, wl_rank, w.n_ranks);
    w.group = DSE_ARENA_RAW(a, wl_group, w.n_groups);
    member = dse_arena_copy(a, groups->member, n_members, sizeof *member);
    for (uint32_t r = 0; r < w.n_ranks; r++)
        w.rank[r] = (wl_rank){.graph = 1, .group = &group_of[r]};
    for (uint32_t i = 0; i < n_members; i++) {
        w.rank[member[i]].graph = 0;
        group_of[member[i]] = i / groups->n;
    }
    for (uint32_t g = 0; g < w.n_groups; g++)
        w.group[g] = (wl_group){"group", groups->n, member + (size_t)g * groups->n};
    if ((st = sim_run(&without_memory, net, &w, SIM_ALL_SHORTCUTS, a, &result, NULL, err)) != DSE_OK)
        return st;
    for (uint32_t i = 0; i < n_members; i++)
        sim_alone_add(out, result.rank[member[i]].wall, i == 0);
    return DSE_OK;
}

/* All places of a group's ring; `member` in its order. */
static sim_circle circle_of(const uint32_t *member, uint32_t n, dse_arena *a)
{
    sim_circle c = {.n_places = n, .n_here = n};

    c.place = DSE_ARENA_NEW(a, sim_circle_place, n);
    c.begin = DSE_ARENA_NEW(a, dse_time, n);
    c.scratch = DSE_ARENA_NEW(a, int64_t, 2 * (size_t)n + 1);
    for (uint32_t i = 0; i < n; i++)
        c.place[i] = (sim_circle_place){.rank = member[i], .before = member[i ? i - 1 : n - 1]};
    return c;
}

/* Adds the ends of a group's ranks. False: the collective has no closed form. */
static bool run_group(sim_engine *e, const sim_cut *cut, uint32_t collective, uint64_t bytes, bool is_first,
                      sim_alone *out)
{
    sim_circle circle = circle_of(cut->group->rank, cut->group->n, e->arena);

    circle.current = sim_circle_add_cost(e, &circle, collective, bytes, cut);
    if (circle.current == DSE_NONE || !sim_circle_run(&circle))
        return false;
    for (uint32_t i = 0; i < circle.n_places; i++)
        sim_alone_add(out, circle.begin[i], is_first && i == 0);
    return true;
}

/* Whether all groups have a closed form. */
static bool run_groups(const sim_settings *set, const net_network *net, const sim_groups *groups,
                       uint32_t collective, uint64_t bytes, dse_arena *a, sim_alone *out)
{
    wl_group group = {.name = "group", .n = groups->n};
    sim_engine engine = {.arena = a, .net = net, .set = set}; /* all that the costs of a circle read of it */
    sim_cut cut = {.group = &group};
    sim_chunks chunks;

    if (!sim_collective_of(collective, &cut.collective))
        return false;
    cut.how = sim_group_implementation(set, cut.collective);
    chunks = sim_cut_chunks(set, net->n_npus, cut.collective, bytes);
    cut.chunk_bytes = chunks.bytes;
    cut.n_chunks = chunks.n;
    group.rank = DSE_ARENA_RAW(a, uint32_t, groups->n);
    for (uint32_t g = 0; g < groups->n_groups; g++) {
        memcpy(group.rank, groups->member + (size_t)g * groups->n, groups->n * sizeof *group.rank);
        if (!run_group(&engine, &cut, collective, bytes, g == 0, out))
            return false;
    }
    return true;
}

uint64_t sim_alone_bytes(const sim_settings *set, const net_network *net, uint32_t collective, uint64_t bytes)
{
    const sim_implementations *impl = &set->implementations[SIM_ALL_REDUCE];
    uint64_t least = set->splits;

    if (collective == WL_ALL_REDUCE)
        for (uint32_t i = 0; i < impl->n_dims; i++)
            if (impl->dim[i].algorithm == &sim_algorithm_halving_doubling)
                least = 2 * (uint64_t)set->splits * net->n_npus;
    return bytes > least ? bytes : least;
}

dse_status sim_alone_groups(const sim_settings *set, const net_network *net, const sim_groups *groups,
                            uint32_t collective, uint64_t bytes, dse_arena *a, sim_alone *out, dse_error *err)
{
    *out = (sim_alone){.is_even = true};
    bytes = sim_alone_bytes(set, net, collective, bytes);
    if (groups->n < net->n_npus && run_groups(set, net, groups, collective, bytes, a, out))
        return DSE_OK;
    *out = (sim_alone){.is_even = true};
    return run_workload(set, net, groups, collective, bytes, a, out, err);
}

sim_pairs sim_pairs_to_next(const mesh *m, uint32_t axis, dse_arena *a)
{
    uint32_t n_ranks = (uint32_t)mesh_size(m, mesh_all(m)), degree = m->axis[axis].degree;
    sim_pairs pairs = {.n = degree > 1 ? n_ranks : 0};

    pairs.pair = DSE_ARENA_RAW(a, sim_pair, pairs.n);
    for (uint32_t r = 0; r < pairs.n; r++) {
        uint32_t at = mesh_coordinate(m, axis, r), next = r - at * m->axis[axis].stride;

        pairs.pair[r] = (sim_pair){r, next + (at + 1) % degree * m->axis[axis].stride};
    }
    return pairs;
}

sim_pairs sim_pairs_between(const mesh *m, uint32_t axis, uint32_t from, uint32_t to, dse_arena *a)
{
    mesh_set beside = mesh_all(m) & ~mesh_only(axis);
    uint32_t stride = m->axis[axis].stride;
    sim_pairs pairs = {.n = (uint32_t)mesh_size(m, beside)};

    pairs.pair = DSE_ARENA_RAW(a, sim_pair, pairs.n);
    for (uint32_t i = 0; i < pairs.n; i++) {
        uint32_t first = mesh_member(m, beside, 0, i);

        pairs.pair[i] = (sim_pair){first + from * stride, first + to * stride};
    }
    return pairs;
}

sim_alone sim_alone_messages(const net_network *net, const sim_pairs *pairs, uint64_t bytes)
{
    sim_alone all = {.is_even = true};

    for (uint32_t i = 0; i < pairs->n; i++)
        sim_alone_add(&all, net_delay(net, pairs->pair[i].from, pairs->pair[i].to, bytes), i == 0);
    return all;
}
