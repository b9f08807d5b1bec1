#include "sim/collective_time.h"

#include "sim/collective.h"
#include "workload/graph.h"

#define MOST(x, y)  ((x) > (y) ? (x) : (y))
#define LEAST(x, y) ((x) < (y) ? (x) : (y))

/* ---- where a group lies ------------------------------------------------------------------------ */

/* Of a group, by dimension; one more for the box of all dimensions. Boxes of dimension 0 are the members. */
typedef struct {
    uint32_t boxes[NET_MAX_DIMS + 1];  /* with members */
    uint32_t fewest[NET_MAX_DIMS + 1]; /* members in one of them */
} span;

static uint32_t stride_of(const net_network *net, uint32_t dim)
{
    return dim < net->n_dims ? net->dim[dim].stride : net->n_npus;
}

/* How many of the members from the first on are in its box. */
static uint32_t count_box(const uint32_t *member, uint32_t n, uint32_t stride)
{
    uint32_t i = 1;

    while (i < n && member[i] / stride == member[0] / stride)
        i++;
    return i;
}

static span span_of(const net_network *net, const uint32_t *member, uint32_t n)
{
    span s = {.boxes = {n}, .fewest = {1}};

    for (uint32_t d = 1; d <= net->n_dims; d++) {
        s.fewest[d] = n;
        for (uint32_t i = 0, in_box; i < n; i += in_box) {
            in_box = count_box(member + i, n - i, stride_of(net, d));
            s.boxes[d]++;
            s.fewest[d] = LEAST(s.fewest[d], in_box);
        }
    }
    return s;
}

static bool crosses(const span *s, uint32_t dim) { return s->boxes[dim] > s->boxes[dim + 1]; }

static uint32_t highest(const net_network *net, const span *s)
{
    uint32_t d = net->n_dims - 1;

    while (d && !crosses(s, d))
        d--;
    return d;
}

/* ---- rates ------------------------------------------------------------------------------------- */

/* What leaves the boxes of each dimension at the same time: rails that are used, by box. NULL: every NPU has
 * its own. */
typedef struct {
    double *used[NET_MAX_DIMS];
} sharing;

static double rails_of(const net_dimension *d) { return d->reach.rails ? d->reach.rails : d->stride; }

/* Rails that so many members of a group use in a box. */
static double rails_used(const net_dimension *d, uint32_t members)
{
    const double rails = rails_of(d), used = LEAST(rails, members * MOST(1, rails / d->stride));

    return d->reach.rails_per_group ? LEAST(used, d->reach.rails_per_group) : used;
}

static sharing no_sharing(const net_network *net, dse_arena *a)
{
    sharing s = {{NULL}};

    for (uint32_t d = 1; d < net->n_dims; d++)
        if (net->dim[d].reach.rails)
            s.used[d] = DSE_ARENA_NEW(a, double, net->n_npus / net->dim[d].stride);
    return s;
}

static void share(const net_network *net, sharing *s, uint32_t dim, uint32_t npu, uint32_t members)
{
    if (s->used[dim])
        s->used[dim][npu / net->dim[dim].stride] += rails_used(&net->dim[dim], members);
}

/* In one direction. */
static double one_way(const net_reach *r) { return r->efficiency > 1 ? r->efficiency / 2 : r->efficiency; }

/* Bytes per ns that so many members of a group send out of the box of a NPU, one way. */
static double rate_of(const net_network *net, const sharing *s, uint32_t dim, uint32_t npu, uint32_t members)
{
    const net_dimension *d = &net->dim[dim];
    const double rails = rails_of(d), used = s->used[dim] ? s->used[dim][npu / d->stride] : rails;

    return one_way(&d->reach) * d->bytes_per_ns * d->stride / rails * rails_used(d, members) *
           LEAST(1, rails / used);
}

/* The slowest of the group's boxes. */
static double rate_of_group(const net_network *net, const sharing *s, uint32_t dim, const uint32_t *member,
                            uint32_t n, uint32_t fewest)
{
    double rate = rate_of(net, s, dim, member[0], fewest);

    for (uint32_t i = 1; s->used[dim] && i < n; i++)
        rate = LEAST(rate, rate_of(net, s, dim, member[i], fewest));
    return rate;
}

static sharing sharing_of_groups(const net_network *net, const sim_groups *groups, dse_arena *a)
{
    sharing s = no_sharing(net, a);

    for (uint32_t d = 1; d < net->n_dims; d++) {
        for (uint32_t g = 0; s.used[d] && g < groups->n_groups; g++) {
            const uint32_t *member = groups->member + (size_t)g * groups->n;
            const span at = span_of(net, member, groups->n);

            for (uint32_t i = 0, in_box; crosses(&at, d) && i < groups->n; i += in_box) {
                in_box = count_box(member + i, groups->n - i, net->dim[d].stride);
                share(net, &s, d, member[i], in_box);
            }
        }
    }
    return s;
}

/* ---- collectives ------------------------------------------------------------------------------- */

/* Of the bandwidth that is left to a tree's two directions (NCCL 01afd20, src/graph/tuning.cc: busBw*.9). */
#define TREE 0.9

static double log2_up(double v) { return ceil(log2(v) - 1e-9); }

static double latency_of(const net_network *net, const span *s, bool is_tree)
{
    double ns = 0;

    for (uint32_t d = 0; d < net->n_dims; d++) {
        double steps = s->boxes[d] - s->boxes[d + 1];

        if (is_tree) {
            const double joined = (double)s->boxes[d] / s->boxes[d + 1];

            steps = d ? log2_up(joined) : joined - 1;
        }
        ns += steps * net->dim[d].reach.step_ns;
    }
    return ns;
}

/* An axis of a torus, along which collectives go both ways at once. */
static bool is_axis(const net_dimension *d) { return d->reach.efficiency > 1; }

/* Bytes that leave a box of the dimension, of an all-to-all of `bytes` on each. Along an axis those count too that
 * pass by: of j boxes in a line floor(j/2) x ceil(j/2) pairs are on either side of its middle, and of a ring
 * half as many for either way, by the shorter one. Messages go along the axes one after another, so that all
 * whose way crosses an axis are on it, wherever they end on the others above. */
static double all_to_all_bytes(const net_network *net, const span *s, uint32_t dim, double bytes)
{
    const double n = s->boxes[0], inside = n / s->boxes[dim], joined = n / s->boxes[dim + 1],
                 j = joined / inside;
    double along = joined;

    if (!is_axis(&net->dim[dim]))
        return inside * bytes * (joined - inside) / n;
    for (uint32_t d = dim; d < net->n_dims && is_axis(&net->dim[d]); d++)
        along = n / s->boxes[d + 1];
    return inside * bytes * along / n * floor(j * j / 4) / j;
}

/* A group that has all of a ring sends both ways; the ends of a line get all through one link, and two NPUs
 * have one. */
static double ways(const net_network *net, const span *s, uint32_t dim)
{
    const net_dimension *d = &net->dim[dim];

    return d->reach.efficiency > 1 && d->shape.n > 2 && s->boxes[dim] == s->boxes[dim + 1] * d->shape.n ? 2
                                                                                                        : 1;
}

/* Of what leaves a box of an axis the higher ones that the group crosses take their part: bytes per ns that
 * its members bring along these. Such axes have no rails to share. */
static double rate_of_higher_axes(const net_network *net, const span *s, uint32_t dim)
{
    double rate = 0;

    for (uint32_t d = dim + 1; is_axis(&net->dim[dim]) && d < net->n_dims; d++)
        if (is_axis(&net->dim[d]) && crosses(s, d))
            rate += ways(net, s, d) * one_way(&net->dim[d].reach) * net->dim[d].bytes_per_ns * s->fewest[dim];
    return rate;
}

/* The longest that any dimension takes, if `bytes` leave each of its boxes; of an all-to-all, if each NPU has
 * them. */
static double transfer_of(const net_network *net, const sharing *shared, const span *s,
                          const uint32_t *member, bool is_all_to_all, double bytes)
{
    double ns = 0, rate;

    for (uint32_t d = 0; d < net->n_dims; d++) {
        if (!crosses(s, d))
            continue;
        rate = ways(net, s, d) * rate_of_group(net, shared, d, member, s->boxes[0], s->fewest[d]);
        ns = MOST(ns, is_all_to_all ? all_to_all_bytes(net, s, d, bytes) / rate
                                    : bytes / (rate + rate_of_higher_axes(net, s, d)));
    }
    return ns;
}

/* From the network's table; negative: it does not have it. `bytes`: of the whole buffer. */
static double from_table(const net_network *net, sim_collective kind, uint32_t n, double bytes)
{
    const net_table *t = &net->table;
    const double slower = isnan(t->gib_per_s) ? 1 : t->gib_per_s / net->dim[0].gib_per_s;
    const double *ns = t->ns[kind], *size = t->bytes, m = t->npus, below = 4 / (m * m);
    const double factor = m > 2 ? 1 - (1 - t->pair) * (4.0 / n / n - below) / (1 - below) : 1;
    double whole;
    uint32_t i = 0;

    if (!t->n || !(ns[0] > 0))
        return -1;
    while (i < t->n && bytes > size[i])
        i++;
    if (i == 0)
        whole = ns[0];
    else if (i == t->n)
        whole = ns[i - 1] * bytes / size[i - 1];
    else
        whole = ns[i - 1] + (ns[i] - ns[i - 1]) * (bytes - size[i - 1]) / (size[i] - size[i - 1]);
    whole = ns[0] + (whole - ns[0]) * slower;
    return whole * ((n - 1.0) / n) / ((m - 1) / m) / factor;
}
_Static_assert(NET_N_KINDS == SIM_N_COLLECTIVES, "the table's kinds are those of sim_collective");

/* *share: at least what it takes of the compute. */
static double time_of(const net_network *net, const sharing *shared, const uint32_t *member, uint32_t n,
                      sim_collective kind, double bytes, double *share)
{
    const span s = span_of(net, member, n);
    const uint32_t top = highest(net, &s);
    const double fixed = net->dim[top].reach.latency_ns, passes = kind == SIM_ALL_REDUCE ? 2 : 1;
    const double part = (n - 1.0) / n;
    const double measured = top ? -1 : from_table(net, kind, n, bytes);
    double ring, tree;

    *share = MOST(*share, net->dim[top].reach.compute_share);
    if (measured >= 0)
        return measured;
    if (kind == SIM_ALL_TO_ALL)
        return fixed + latency_of(net, &s, false) + transfer_of(net, shared, &s, member, true, bytes);
    ring = fixed + passes * latency_of(net, &s, false) +
           transfer_of(net, shared, &s, member, false, passes * part * bytes);
    if (kind != SIM_ALL_REDUCE || !top)
        return ring;
    tree = fixed + passes * latency_of(net, &s, true) +
           transfer_of(net, shared, &s, member, false, passes * bytes / TREE);
    return LEAST(ring, tree);
}

sim_alone sim_collective_time(const net_network *net, const sim_groups *groups, uint32_t collective,
                              uint64_t bytes, dse_arena *a)
{
    const sharing shared = sharing_of_groups(net, groups, a);
    const double whole = (double)bytes * (collective == WL_ALL_GATHER ? groups->n : 1);
    sim_collective kind = SIM_ALL_GATHER; /* of a kind that is none of the four, as of a broadcast */
    sim_alone all = {.is_even = true};

    sim_collective_of(collective, &kind);
    for (uint32_t g = 0; g < groups->n_groups; g++) {
        const uint32_t *member = groups->member + (size_t)g * groups->n;

        sim_alone_add(&all,
                      dse_ticks(time_of(net, &shared, member, groups->n, kind, whole, &all.compute_share)),
                      g == 0);
    }
    return all;
}

/* ---- messages ---------------------------------------------------------------------------------- */

static uint32_t differ_in(const net_network *net, const sim_pair *p)
{
    uint32_t d = net->n_dims - 1;

    while (d && p->from / net->dim[d].stride == p->to / net->dim[d].stride)
        d--;
    return d;
}

sim_alone sim_message_time(const net_network *net, const sim_pairs *pairs, uint64_t bytes, dse_arena *a)
{
    sharing shared = no_sharing(net, a);
    sim_alone all = {.is_even = true};

    for (uint32_t i = 0; i < pairs->n; i++)
        share(net, &shared, differ_in(net, &pairs->pair[i]), pairs->pair[i].from, 1);
    for (uint32_t i = 0; i < pairs->n; i++) {
        const uint32_t d = differ_in(net, &pairs->pair[i]);
        const net_reach *r = &net->dim[d].reach;

        sim_alone_add(&all,
                      dse_ticks(r->latency_ns + r->step_ns +
                                (double)bytes / rate_of(net, &shared, d, pairs->pair[i].from, 1)),
                      i == 0);
    }
    return all;
}
