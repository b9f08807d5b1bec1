/* When a ring's collective ends.
 *
 * A chunk takes K steps. Let S(r, k) be the tick in which rank r sends its k-th message, d(r) the delay of
 * messages to it, and c(k) the ticks of the endpoint and the reduction before the message, the same for all
 * ranks. The ring of steps.c and ring.c is
 *
 *   S(r, 0)   = begin(r) + c(0)
 *   S(r, k+1) = max(S(r, k), S(r-1, k) + d(r)) + c(k+1)
 *
 * and the chunk ends at S(r, K). Messages have no effect on each other, so the order within a tick does not
 * matter. With D(q, r) for the delay from q to r along the ring, over as many turns as it takes, this is
 *
 *   S(r, K) = sum c + max over j = 0..K of  begin(r-j) + D(r-j, r)
 *
 * If several j stand for one rank, the largest decides, because D grows with j. K is at least n-1, so the
 * last n values decide; with classes that repeat after m places the last m, one for each class.
 *
 * All chunks of a round begin together, and end together; the next round begins, rank by rank, when one ends
 * (lanes, stream.c: as many chunks at once as a dimension may have, first come first served). */
#include "sim/circle.h"

#include "sim/engine.h"

#include <string.h>

#define TICKS_MAX (UINT64_MAX >> 3) /* sums stay signed */

bool sim_circle_init(const sim_classes *c, uint32_t class, uint32_t slot, dse_arena *a, sim_circle *out)
{
    uint32_t first = c->first[class], group = c->full->rank[first].group[slot], n = 0, r = first;
    const wl_group *g = &c->full->group[group];

    *out = (sim_circle){0};
    do { /* against the messages, until the class recurs, with the group in the same slot */
        r = c->before[r][sim_classes_slot(c->full, r, group)];
        n++;
    } while ((c->of[r] != class || sim_classes_slot(c->full, r, group) != slot) && n < g->n);
    if (c->of[r] != class || sim_classes_slot(c->full, r, group) != slot || g->n % n)
        return false;
    out->n_places = n;
    out->place = DSE_ARENA_NEW(a, sim_circle_place, n);
    out->begin = DSE_ARENA_NEW(a, dse_time, n);
    out->scratch = DSE_ARENA_NEW(a, int64_t, 2 * (size_t)n + 1);
    r = first;
    for (uint32_t i = n; i-- > 0;) {
        uint32_t k = sim_classes_slot(c->full, r, group), before = c->before[r][k];

        out->place[i] = (sim_circle_place){c->of[r], k, r, before};
        r = before;
    }
    return true;
}

/* ---- costs, which do not depend on the begins -------------------------------------------------- */

/* The delays of messages along the circle. False: a message takes no time, so that it could arrive in the
 * tick in which it is sent. */
static bool fill_offsets(sim_engine *e, const sim_circle *circle, uint64_t bytes, sim_circle_cost *out,
                         dse_time *longest_message)
{
    dse_time least = TICKS_MAX, most = 0, first = 0;
    uint32_t n = circle->n_places;

    out->offset = DSE_ARENA_NEW(e->arena, dse_time, n + 1u);
    for (uint32_t i = 0; i < n; i++) {
        dse_time d = net_delay(e->net, circle->place[i].before, circle->place[i].rank, bytes);

        if (i)
            out->offset[i] = out->offset[i - 1] + d;
        else
            first = d;
        least = d < least ? d : least;
        most = d > most ? d : most;
    }
    out->offset[n] = out->offset[n - 1] + first;
    out->even = least == most;
    *longest_message = most;
    return least > 0;
}

static bool fill_cost(sim_engine *e, const sim_circle *circle, const sim_cut *cut, sim_circle_cost *out)
{
    const sim_ring ring = {.n = cut->group->n, .member = cut->group->rank};
    uint64_t places = sim_queue_places(e->set), n_reduced;
    dse_time reduction, most;
    sim_phase p;

    if (cut->how->algorithm != &sim_algorithm_ring ||
        sim_group_phase(cut->how, &ring, cut->collective, cut->chunk_bytes, &p) || !p.message_bytes)
        return false;
    n_reduced = sim_ring_reductions(&p);
    reduction = n_reduced ? sim_reduction_ticks(e->set, p.message_bytes) : 0;
    if (reduction > TICKS_MAX / (n_reduced + 1))
        return false;
    out->n_chunks = cut->n_chunks;
    out->is_flat = cut->is_flat;
    out->rounds = (cut->n_chunks + places - 1) / places;
    out->steps = p.steps;
    out->own = ((uint64_t)p.steps + 1) * SIM_GROUP_ENDPOINT_DELAY + n_reduced * reduction;
    out->last = cut->collective == SIM_REDUCE_SCATTER ? reduction : SIM_GROUP_ENDPOINT_DELAY;
    out->longest = reduction > SIM_GROUP_ENDPOINT_DELAY ? reduction : SIM_GROUP_ENDPOINT_DELAY;
    return fill_offsets(e, circle, p.message_bytes, out, &most) && out->own < TICKS_MAX / out->rounds &&
           most < TICKS_MAX / out->rounds / (p.steps + 1);
}

uint32_t sim_circle_add_cost(sim_engine *e, sim_circle *circle, uint32_t coll, uint64_t size,
                             const sim_cut *cut)
{
    sim_circle_cost cost = {.coll = coll, .size = size};

    if (!fill_cost(e, circle, cut, &cost))
        return DSE_NONE;
    DSE_ARENA_GROW(e->arena, circle->cost, circle->cap_costs, circle->n_costs + 1);
    circle->cost[circle->n_costs] = cost;
    return (uint32_t)circle->n_costs++;
}

/* ---- the ends ---------------------------------------------------------------------------------- */

/* One round: begin[] becomes end[]. With offset(u) for places u = 0..m-1, going on below and above by what
 * once round takes, the maximum over the m places from r-K on of begin(u) - offset(u), plus offset(r). Those
 * below place w of r-K = Q m + w have gone round once less. */
static bool run_round(const sim_circle *c, const sim_circle_cost *cost, int64_t *low, int64_t *high)
{
    uint32_t m = c->n_places;
    int64_t round = (int64_t)cost->offset[m];

    for (uint32_t u = 0; u < m; u++) {
        int64_t v = (int64_t)c->begin[u] - (int64_t)cost->offset[u];

        if (c->begin[u] > TICKS_MAX)
            return false;
        low[u + 1] = u && low[u] > v ? low[u] : v; /* of places 0..u */
        high[u] = v;
    }
    for (uint32_t u = m - 1; u-- > 0;)
        high[u] = high[u + 1] > high[u] ? high[u + 1] : high[u]; /* of places u..m-1 */
    for (uint32_t r = 0; r < m; r++) {
        int64_t at = (int64_t)r - (int64_t)cost->steps;
        int64_t w = (at % (int64_t)m + (int64_t)m) % (int64_t)m, q = (at - w) / (int64_t)m;
        int64_t latest = high[w] - round * q;

        if (w && low[w] - round * (q + 1) > latest)
            latest = low[w] - round * (q + 1);
        c->begin[r] = cost->own + (dse_time)(latest + (int64_t)cost->offset[r]);
    }
    return true;
}

static bool all_begin_together(const sim_circle *c)
{
    for (uint32_t u = 1; u < c->n_places; u++)
        if (c->begin[u] != c->begin[0])
            return false;
    return true;
}

bool sim_circle_run(sim_circle *c)
{
    const sim_circle_cost *cost = &c->cost[c->current];
    int64_t *high = c->scratch + c->n_places + 1;
    bool ok = true;

    if (cost->even && all_begin_together(c)) {
        dse_time once = cost->own + cost->steps * (cost->offset[c->n_places] / c->n_places);

        if (c->begin[0] > TICKS_MAX)
            return false;
        for (uint32_t u = 0; u < c->n_places; u++)
            c->begin[u] += cost->rounds * once;
        return true;
    }
    for (uint64_t i = 0; ok && i < cost->rounds; i++)
        ok = run_round(c, cost, c->scratch, high);
    return ok;
}
