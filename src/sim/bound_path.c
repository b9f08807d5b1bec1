/* The longest path through a step (workload/paths.h).
 *
 * Why it is a bound. Take one path: nodes of which each is before the next, and jumps. Rank r of a place on
 * each stage takes for it at least what its own nodes on it take it, one after the other; so the step takes
 * that at least, and so for the ranks of every place. Hence it takes the average over the places of these
 * sums, which is the sum of the averages of what each node takes: of computations that is known, of
 * messages and collectives it is at least what bound_comm.c says, whoever waits for whom. And that is so of
 * every path, also the one with the largest sum. (Of each rank's own longest path nothing is known, as a
 * rank that comes last to a collective may be done with it at once: only one path for all may be averaged.)
 *
 * A message is a send, which lasts until it arrives, and a receive that ends then. */
#include "sim/bound_parts.h"

/* Computations that move nothing end as they are issued: then what is said of orders is not so (paths.c). */
static bool have_orders(const sim_bounds *b, const wl_paths *p)
{
    for (uint32_t i = 0; i < p->n_kinds; i++)
        if (b->set->roofline && p->kind[i].total.type == WL_NODE_COMP && !p->kind[i].total.kernel.bytes)
            return false;
    return !b->set->replay_only; /* then nobody waits for messages */
}

static sim_sum kind_time(sim_bounds *b, const wl_totals *t, const wl_path_kind *k, bool without_network)
{
    switch (k->total.type) {
    case WL_NODE_COMP: return bound_computation(b, t, &k->total);
    case WL_NODE_COLL: return without_network ? 0 : bound_collectives(b, t, k->stage, &k->total);
    case WL_NODE_SEND: return without_network ? 0 : bound_send(b, t, k->stage, k->to, k->total.comm_size);
    default: return 0;
    }
}

static sim_sum later(sim_sum a, sim_sum b) { return a > b ? a : b; }

/* When the node, or the end of the step, begins at least by its jumps. */
static sim_sum after_jumps(const sim_bounds *b, const wl_paths *p, uint32_t to)
{
    sim_sum latest = 0;

    for (uint32_t i = p->first_jump[to]; i < p->first_jump[to + 1]; i++) {
        const wl_path_jump *j = &p->jump[i];
        sim_sum end = b->path_end[j->from];

        for (uint32_t k = j->first; k < j->first + j->n; k++)
            end += p->work[k].n * b->path_time[p->work[k].kind];
        latest = later(latest, end);
    }
    return latest;
}

sim_sum bound_path(sim_bounds *b, const wl_totals *t, const wl_paths *p, bool without_network)
{
    sim_sum longest = 0;

    if (!p->n_nodes || !have_orders(b, p))
        return 0;
    DSE_GROW(b->path_time, b->cap_path_time, p->n_kinds);
    DSE_GROW(b->path_end, b->cap_path_end, p->n_nodes);
    for (uint32_t i = 0; i < p->n_kinds; i++)
        b->path_time[i] = kind_time(b, t, &p->kind[i], without_network);
    for (uint32_t i = 0; i < p->n_nodes; i++) {
        sim_sum begin = after_jumps(b, p, i);

        for (uint32_t k = p->before.start[i]; k < p->before.start[i + 1]; k++)
            begin = later(begin, b->path_end[p->before.item[k]]);
        b->path_end[i] = begin + b->path_time[p->kind_of[i]];
        longest = later(longest, b->path_end[i]);
    }
    return later(longest, after_jumps(b, p, p->n_nodes));
}
