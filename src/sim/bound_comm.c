/* The least time of a collective, added up over its members.
 *
 * Why it may be added up. A rank that comes last may find all messages there and be done almost at once; so
 * nothing but the sum over the members is known. In a ring of n, let s(i) be when rank i comes, e(i) when it
 * is done, E the endpoint's delay, d(i) that of a message from i to the next, r what the reductions of a rank
 * take. Step k of rank i begins when step k - 1 of the rank before has begun, its message has arrived, and
 * has passed the endpoint. Going back all S steps,
 *
 *     e(i + S) >= s(i) + E + d(i) + E + d(i + 1) + E + ... and the reductions passed on the way.
 *
 * i -> i + S is one to one, and over all i each delay and each reduction is met equally often: added up over
 * the members,
 *
 *     sum (e - s) >= S sum d + n (S + 1) E + sum r,
 *
 * whenever they come, and with messages that wait for links. The same holds wherever each step goes to one
 * rank and each rank gets one: halving-doubling; a message of `direct` to the member at one distance. Phases
 * of a chunk, and collectives of a rank, follow each other, so that their sums add up. This needs that
 * messages meet only those of the same group, as those of generated workloads do: two ranks share one group
 * at most.
 *
 * Chunks. A rank has a number of places for them. It is busy for at least as long as they are all in a place
 * together, divided by the places. Of a single phase without congestion more is known: all chunks have the
 * same delays, so they end in the order in which they start, and one starts when the one so many places
 * before it has ended: full rounds.
 *
 * Where all chunks go the same ways (one queue in each dimension, no trees), rounds are full also of
 * several phases, and with congestion. On rank i let S(m) be the m-th of the times at which its chunks
 * begin a phase, in ascending order, and E(m) the m-th of those at which they end it; not of the same
 * chunk. Of numbers that are not above others in pairs, the m-th is not above the m-th. So
 *
 *     S(m) >= E(m) of the phase before, as each chunk begins the one when it has ended the other;
 *     S(m) >= E(m - P), P the places, as of the m - 1 that began before at most P - 1 are under way;
 *     E(m) of rank j >= S(m) of rank i + D(i), if of each chunk e(j) >= s(i) + D(i), as above, i -> j one
 *     to one.
 *
 * Along any path of these from S(1) of the first phase to E(N) of the last, the D(i) of a phase add up,
 * over all i, to what the phase takes: each phase once, and one of them, the longest, once more for every
 * further P chunks. */
#include "base/array.h"
#include "sim/bound_parts.h"
#include "sim/collective_list.h"

/* Beyond 128 bits there is no result to be above of: claims nothing. */
static sim_sum times(sim_sum a, uint64_t b)
{
    sim_sum r;

    return __builtin_mul_overflow(a, b, &r) ? 0 : r;
}

static sim_sum largest(sim_sum a, sim_sum b) { return a > b ? a : b; }

/* ---- a phase ------------------------------------------------------------------------------- */

/* A phase of all ranks of `groups`, planned for one of them. */
typedef struct {
    sim_bounds *b;
    const bound_groups *groups;
    const sim_phase *phase;
    dse_time endpoint;
} phase_of;

static dse_time reduction(const phase_of *p, uint64_t bytes) { return sim_reduction_ticks(p->b->set, bytes); }

/* Of the packets of a phase of width 1, from the first to the one after the last step: which are reduced
 * (steps.c). */
static bool is_reduced(const sim_phase *p, uint32_t k)
{
    uint32_t round = k / (1 + p->cycle);

    return k % (1 + p->cycle) &&
           (p->coll == SIM_REDUCE_SCATTER || (p->coll == SIM_ALL_REDUCE && round % 2 == 0));
}

static sim_pairs pairs_of(const phase_of *p, sim_pairing pairing, uint32_t distance)
{
    const bound_groups *g = p->groups;

    return (sim_pairs){pairing, g->ranks, g->stride, g->n, distance};
}

static sim_sum endpoints(const phase_of *p, uint64_t n)
{
    return times(p->groups->ranks.count, n * p->endpoint);
}

/* All of whose messages are of one size. A message of nothing is refused. */
static sim_sum ring_phase(const phase_of *p)
{
    const sim_phase *phase = p->phase;
    sim_pairs next = pairs_of(p, SIM_PAIRS_RING, 1);
    uint64_t n_reduced = sim_ring_reductions(phase);

    if (!phase->message_bytes)
        return 0;
    return times(sim_distances_sum(&p->b->distances, &next, phase->message_bytes), phase->steps) +
           endpoints(p, phase->steps + 1u) +
           times(p->groups->ranks.count, n_reduced * reduction(p, phase->message_bytes));
}

/* The message from the member at some distance: of the first and the middle one the later. An all-reduce
 * gathers when all has been scattered. With a window it depends on the order of messages which of them are
 * reduced. */
static sim_sum direct_phase(const phase_of *p)
{
    const sim_phase *phase = p->phase;
    const uint32_t distances[] = {1, p->groups->n / 2};
    bool reduces = phase->coll == SIM_REDUCE_SCATTER && phase->width == p->groups->n - 1;
    sim_sum latest = 0;

    if (!phase->message_bytes)
        return 0;
    for (int i = 0; i < 2; i++) {
        sim_pairs at = pairs_of(p, SIM_PAIRS_RING, distances[i]);
        sim_sum sum = sim_distances_sum(&p->b->distances, &at, phase->message_bytes);

        latest = largest(latest, times(sum, phase->coll == SIM_ALL_REDUCE ? 2 : 1));
    }
    return latest + endpoints(p, 2) +
           times(p->groups->ranks.count, reduces ? reduction(p, phase->message_bytes) : 0);
}

static sim_sum halving_doubling_phase(const phase_of *p)
{
    const sim_phase *phase = p->phase;
    sim_sum sum = 0;

    if (phase->ring.n & (phase->ring.n - 1)) /* partners do not meet */
        return 0;
    for (uint32_t k = 0; k < phase->steps; k++) {
        sim_pairs partners;
        sim_packet of;

        phase->algorithm->packet(phase, k, &of); /* of the ring's first member, which is NPU 0 */
        partners = pairs_of(p, SIM_PAIRS_EXCHANGE, of.to / p->groups->stride);
        sum += sim_distances_sum(&p->b->distances, &partners, of.bytes) +
               times(p->groups->ranks.count, is_reduced(phase, k) ? reduction(p, of.bytes) : 0);
    }
    return sum + endpoints(p, phase->steps + 1u);
}

/* What a rank hears is the sum of all, its own part among it: that has gone up to the root and down again. Of
 * n = 2^L ranks, 2^k are at depth k + 1 below the root: (L - 1) n + 1 levels in all. Each takes a link at
 * least. */
static sim_sum double_binary_tree_phase(const phase_of *p)
{
    const net_network *net = p->b->net;
    uint32_t n = p->phase->ring.n, levels = (uint32_t)__builtin_ctz(n), dim = 0;
    uint64_t depths = (levels - 1) * (uint64_t)n + 1;

    while (dim + 1 < net->n_dims && net->dim[dim].stride != p->groups->stride)
        dim++;
    return times(times(p->groups->ranks.count / n, 2 * depths),
                 p->endpoint + net_link_delay(&net->dim[dim], p->phase->bytes));
}

#define DECLARE(id) extern const sim_algorithm sim_algorithm_##id;
SIM_ALGORITHM_LIST(DECLARE)

/* Of an algorithm without a row nothing is known. */
static sim_sum phase_time(const phase_of *p)
{
    static const struct {
        const sim_algorithm *algorithm;
        sim_sum (*time)(const phase_of *p);
    } rows[] = {{&sim_algorithm_ring, ring_phase},
                {&sim_algorithm_direct, direct_phase},
                {&sim_algorithm_halving_doubling, halving_doubling_phase},
                {&sim_algorithm_double_binary_tree, double_binary_tree_phase}};

    for (size_t i = 0; i < DSE_COUNT(rows); i++)
        if (rows[i].algorithm == p->phase->algorithm)
            return rows[i].time(p);
    return 0;
}

/* ---- chunks -------------------------------------------------------------------------------- */

/* Places that a rank has for chunks in the queues of a dimension. */
static uint64_t places(const sim_bounds *b, sim_queue_use use)
{
    return (uint64_t)sim_queues_for(b->set, use).n * sim_queue_places(b->set);
}

/* Whether the chunks of a phase all go the same way: several queues have different directions, and so do
 * trees. */
static bool all_go_alike(const sim_bounds *b, const sim_algorithm *algorithm)
{
    return b->set->queues_per_dim == 1 && algorithm != &sim_algorithm_double_binary_tree;
}

/* ---- a group smaller than the system ------------------------------------------------------- */

static sim_sum group_time(sim_bounds *b, const bound_groups *g, sim_collective coll, sim_chunks c)
{
    const sim_ring ring = {.n = g->n, .stride = g->stride};
    const sim_implementation *how = sim_group_implementation(b->set, coll);
    uint64_t at_once = places(b, sim_group_queue_use(b->set, coll));
    sim_phase phase;
    const phase_of p = {b, g, &phase, SIM_GROUP_ENDPOINT_DELAY};
    sim_sum one;

    if (sim_group_phase(how, &ring, coll, c.bytes, &phase) || how->algorithm != &sim_algorithm_ring)
        return 0; /* nothing is known of other algorithms in a group, which is a bound, too */
    one = phase_time(&p);
    if (!b->net->congestion || all_go_alike(b, how->algorithm))
        return times(one, (c.n + at_once - 1) / at_once);
    return c.n > at_once ? times(one, c.n) / at_once : one;
}

/* ---- the whole system ---------------------------------------------------------------------- */

typedef struct {
    sim_bounds *b;
    sim_chunks c;
    uint64_t bytes;               /* that come into the next phase */
    sim_sum in_row;               /* phases so far, one after the other */
    sim_sum in_dim[NET_MAX_DIMS]; /* those of each dimension */
    sim_sum busiest;              /* all chunks in the places of a dimension and its queues */
    sim_sum rounds;               /* of the longest phase, all but the first of its chunks */
    bool all_alike, refused;
} system_plan;

static void add_phase(system_plan *s, const sim_logical *l, const sim_dim_phase *of)
{
    sim_bounds *b = s->b;
    const sim_ranks all = {0, b->net->n_npus, b->net->n_npus, b->net->n_npus};
    const bound_groups g = {all, l->dim[of->dim].stride, l->dim[of->dim].n};
    const sim_implementation *how = &l->dim[of->dim].how;
    sim_phase phase = {.algorithm = how->algorithm, .coll = (uint8_t)of->coll, .bytes = s->bytes};
    const phase_of p = {b, &g, &phase, b->set->bus.shared ? 0 : b->set->endpoint_delay};
    sim_sum time, *in_dim = &s->in_dim[of->dim];

    phase.ring = (sim_ring){.n = g.n, .stride = g.stride};
    s->refused = s->refused || phase.algorithm->plan(how, true, 0, &phase) != NULL;
    if (s->refused)
        return;
    time = phase_time(&p);
    s->bytes = phase.final_bytes;
    s->in_row += time;
    *in_dim += time;
    s->busiest = largest(s->busiest, times(time, s->c.n) / places(b, of->use));
    s->rounds = largest(s->rounds, times(time, (s->c.n - 1) / places(b, of->use)));
    s->all_alike = s->all_alike && all_go_alike(b, how->algorithm);
    s->busiest = largest(s->busiest, times(*in_dim, s->c.n) / places(b, SIM_QUEUE_ANY));
}

static sim_sum system_time(sim_bounds *b, sim_collective coll, sim_chunks c)
{
    const sim_logical *l = &b->logical[coll];
    sim_dim_phase phase[2 * NET_MAX_DIMS];
    uint32_t n = sim_order_phases(b->set, l, coll, UINT32_MAX, phase);
    system_plan s = {.b = b, .c = c, .bytes = c.bytes, .all_alike = true};

    for (uint32_t i = 0; i < n; i++)
        add_phase(&s, l, &phase[i]);
    return s.refused ? 0 : largest(s.in_row + (s.all_alike ? s.rounds : 0), s.busiest);
}

/* ---- the whole ----------------------------------------------------------------------------- */

sim_sum bound_collective(sim_bounds *b, const bound_groups *g, uint32_t coll, uint64_t bytes)
{
    sim_collective c;
    sim_chunks chunks;

    if (!sim_collective_of(coll, &c) || g->n < 2 || b->set->may_be_custom[c])
        return 0;
    chunks = sim_cut_chunks(b->set, b->net->n_npus, c, bytes);
    if (!chunks.bytes)
        return 0;
    return g->n == b->net->n_npus ? system_time(b, c, chunks) : group_time(b, g, c, chunks);
}
