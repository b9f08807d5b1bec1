/* Why a run took as long as it did, and why it held as much: the time of the slowest rank in parts that add
 * up to it, and the memory of the rank that holds most at its peak. Neither is in the reference; both follow
 * from the ticks that are equal to the reference's. Which part a tick counts in, when several things are
 * under way: sim.h. */
#include "base/array.h"
#include "sim/engine.h"
#include "sim/figures.h"

#include <stdlib.h>

/* What a rank's unit did: intervals in the order of their start, none of which overlap. */
typedef struct {
    dse_time start, end;
    uint32_t part;
} interval;

typedef struct {
    interval *item;
    uint32_t n, at;
} track;

/* The first that is under way decides. */
static const sim_unit precedence[] = {SIM_UNIT_COMPUTE, SIM_UNIT_CPU, SIM_UNIT_COMM, SIM_UNIT_RECV};
_Static_assert(DSE_COUNT(precedence) == SIM_N_UNITS, "every unit has its place");

static bool is_by_roofline(const sim_engine *e, const sim_rank *r, uint32_t node)
{
    return r->graph->type[node] == WL_NODE_COMP && r->graph->unit[node] != SIM_UNIT_CPU && e->set->roofline &&
           !e->set->replay_only;
}

static uint32_t part_of_compute(const sim_engine *e, const sim_rank *r, uint32_t node)
{
    if (!is_by_roofline(e, r, node))
        return SIM_PART_COMPUTE_OTHER;
    return r->graph->cost[node].memory_bound ? SIM_PART_MEMORY_BOUND : SIM_PART_COMPUTE_BOUND;
}

static uint32_t part_of(const sim_engine *e, const sim_rank *r, uint32_t node)
{
    uint32_t slot;

    switch (r->graph->type[node]) {
    case WL_NODE_COMP: return part_of_compute(e, r, node);
    case WL_NODE_SEND:
    case WL_NODE_RECV: return SIM_PART_MESSAGES;
    case WL_NODE_COLL:
        slot = r->graph->graph->node[node].slot;
        return slot == DSE_NONE ? SIM_PART_DIMENSIONS : SIM_PART_GROUPS + slot;
    default: return SIM_PART_OTHER;
    }
}

static void append(track *t, interval i)
{
    if (i.end > i.start)
        t->item[t->n++] = i;
}

/* ---- messages that come in ------------------------------------------------------------------ */

typedef struct {
    uint32_t peer, tag;
    uint64_t size;
    uint32_t order; /* of issue */
    dse_time start, end;
} message;

static int compare_messages(const void *a, const void *b)
{
    const message *x = a, *y = b;

    if (x->peer != y->peer)
        return x->peer < y->peer ? -1 : 1;
    if (x->tag != y->tag)
        return x->tag < y->tag ? -1 : 1;
    if (x->size != y->size)
        return x->size < y->size ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

/* The sends (or receives) of `rank` to (or from) `peer`, DSE_NONE: all, by key and, within one, by issue. A
 * message that is marked as a CPU operation, which only a replay takes, is the CPU's. */
static uint32_t list_messages(const sim_engine *e, uint32_t rank, uint32_t type, uint32_t peer, message *out)
{
    const sim_rank *r = &e->rank[rank];
    uint32_t n = 0;

    for (uint32_t i = 0; i < r->n_issued; i++) {
        uint32_t node = r->issued[i];
        const wl_node *w = &r->graph->graph->node[node];
        const wl_p2p *p = w->type == type && !w->is_cpu_op ? &e->w->rank[rank].p2p[w->slot] : NULL;

        if (p && (peer == DSE_NONE || p->peer == peer))
            out[n++] =
                (message){p->peer, p->tag % SIM_TAG_SPAN, w->comm_size, i, r->start[node], r->end[node]};
    }
    qsort(out, n, sizeof *out, compare_messages);
    return n;
}

/* Makes the receives from one peer begin when their sends are issued. The nth receive of a key meets its nth
 * send, as in sim/messages.h; `sends` has room for those of the peer. */
static void begin_when_sent(const sim_engine *e, uint32_t rank, message *receives, uint32_t n, message *sends)
{
    uint32_t n_sends = list_messages(e, receives[0].peer, WL_NODE_SEND, rank, sends);

    for (uint32_t i = 0, k = 0; i < n && k < n_sends;) {
        message key = sends[k];
        int order;

        key.peer = receives[i].peer;
        key.order = receives[i].order;
        order = compare_messages(&receives[i], &key);
        if (order == 0 && sends[k].start > receives[i].start)
            receives[i].start = sends[k].start;
        i += order <= 0;
        k += order >= 0;
    }
}

static int compare_starts(const void *a, const void *b)
{
    const message *x = a, *y = b;

    return x->start < y->start ? -1 : x->start > y->start;
}

/* What the receives of a rank cover. They overlap, and are all of one part: joined they are a track like
 * others. */
static void join(const message *m, uint32_t n, track *t)
{
    for (uint32_t i = 0; i < n; i++) {
        interval *last = t->n ? &t->item[t->n - 1] : NULL;

        if (last && m[i].start <= last->end)
            last->end = m[i].end > last->end ? m[i].end : last->end;
        else
            append(t, (interval){m[i].start, m[i].end, SIM_PART_MESSAGES});
    }
}

/* Replayed nodes last as long as recorded, whatever is sent. */
static void add_receives(const sim_engine *e, uint32_t rank, track *t)
{
    uint32_t n_sends = 0, n;
    message *receives = dse_calloc(e->rank[rank].n_issued, sizeof *receives), *sends;

    for (uint32_t i = 0; i < e->w->n_ranks; i++)
        n_sends = e->rank[i].n_issued > n_sends ? e->rank[i].n_issued : n_sends;
    sends = dse_calloc(n_sends, sizeof *sends);
    n = list_messages(e, rank, WL_NODE_RECV, DSE_NONE, receives);
    for (uint32_t i = 0, next; i < n && !e->set->replay_only; i = next) {
        for (next = i; next < n && receives[next].peer == receives[i].peer; next++)
            ;
        begin_when_sent(e, rank, receives + i, next - i, sends);
    }
    qsort(receives, n, sizeof *receives, compare_starts);
    join(receives, n, t);
    dse_free(receives);
    dse_free(sends);
}

/* ---- the whole ------------------------------------------------------------------------------ */

static void count_parts(track tracks[SIM_N_UNITS], dse_time wall, dse_time *part)
{
    for (dse_time now = 0; now < wall;) {
        dse_time until = wall;
        uint32_t what = SIM_PART_IDLE;

        for (int k = 0; k < SIM_N_UNITS; k++) {
            track *t = &tracks[precedence[k]];
            const interval *i;

            while (t->at < t->n && t->item[t->at].end <= now)
                t->at++;
            if (t->at == t->n)
                continue;
            i = &t->item[t->at];
            if (i->start <= now) {
                what = i->part;
                until = i->end < until ? i->end : until;
                break;
            }
            until = i->start < until ? i->start : until;
        }
        part[what] += until - now;
        now = until;
    }
}

/* Room in one array for what each unit may have: of a kernel its fixed cost, and its work. */
static uint32_t room_of(const sim_rank *r, int unit)
{
    return r->graph->n_of_unit[unit] * (unit == SIM_UNIT_COMPUTE ? 2 : 1);
}

static void lay_out(const sim_rank *r, interval *items, track tracks[SIM_N_UNITS])
{
    for (int u = 0; u < SIM_N_UNITS; items += room_of(r, u++))
        tracks[u] = (track){.item = items};
}

/* A kernel is launched, and then works. */
static void append_node(const sim_engine *e, const sim_rank *r, uint32_t node, track *t)
{
    interval i = {r->start[node], r->end[node], part_of(e, r, node)};

    if (is_by_roofline(e, r, node)) {
        dse_time launched = i.start + r->graph->cost[node].overhead;

        append(t, (interval){i.start, launched, SIM_PART_COMPUTE_OTHER});
        i.start = launched;
    }
    append(t, i);
}

static void break_down(const sim_engine *e, uint32_t rank, interval *items, dse_time *part)
{
    const sim_rank *r = &e->rank[rank];
    track tracks[SIM_N_UNITS];
    bool receives = false;

    lay_out(r, items, tracks);
    for (uint32_t i = 0; i < r->n_issued; i++) {
        uint32_t node = r->issued[i];
        uint8_t unit = r->graph->unit[node];

        if (unit == SIM_UNIT_RECV)
            receives = true;
        else
            append_node(e, r, node, &tracks[unit]);
    }
    if (receives)
        add_receives(e, rank, &tracks[SIM_UNIT_RECV]);
    count_parts(tracks, e->stats[rank].wall - e->set->step_overhead, part);
    part[SIM_PART_COMPUTE_OTHER] += e->set->step_overhead;
}

void sim_breakdown_of_slowest(const sim_engine *e, sim_breakdown *out)
{
    uint32_t slowest = 0;
    interval *items;
    uint32_t room = 0;

    for (uint32_t i = 1; i < e->w->n_ranks; i++)
        if (e->stats[i].wall > e->stats[slowest].wall)
            slowest = i;
    for (int u = 0; u < SIM_N_UNITS; u++)
        room += room_of(&e->rank[slowest], u);
    *out = (sim_breakdown){.rank = slowest,
                           .n_parts = SIM_PART_GROUPS + wl_rank_graph(e->w, slowest)->n_group_slots};
    out->part = DSE_ARENA_NEW(e->arena, dse_time, out->n_parts);
    items = dse_calloc(room, sizeof *items);
    break_down(e, slowest, items, out->part);
    dse_free(items);
}

/* The node under way at a tick, by the same precedence; of several receives the one issued first. */
static const wl_node *node_at(const sim_rank *r, dse_time at)
{
    const wl_node *found[SIM_N_UNITS] = {NULL};

    for (uint32_t i = 0; i < r->n_issued; i++) {
        uint32_t node = r->issued[i];

        if (r->start[node] <= at && at < r->end[node] && !found[r->graph->unit[node]])
            found[r->graph->unit[node]] = &r->graph->graph->node[node];
    }
    for (int k = 0; k < SIM_N_UNITS; k++)
        if (found[precedence[k]])
            return found[precedence[k]];
    return NULL;
}

void sim_peak_of_largest(const sim_engine *e, sim_peak *out)
{
    uint32_t largest = 0;

    for (uint32_t i = 1; i < e->w->n_ranks; i++)
        if (e->stats[i].peak_memory > e->stats[largest].peak_memory)
            largest = i;
    out->rank = largest;
    out->node = node_at(&e->rank[largest], e->stats[largest].peak_time);
    sim_memory_held(e, largest, e->stats[largest].peak_time, out->held);
}
