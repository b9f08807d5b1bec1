#include "sim/classes.h"

#include "base/idtable.h"
#include "sim/messages.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Working state of the search. */
typedef struct {
    sim_classes *c;
    dse_arena *arena;
    bool **in_use;               /* per graph and group slot: a collective takes it */
    uint32_t *n_peers;           /* per graph */
    uint32_t *leader;            /* per graph: its lowest rank */
    uint32_t **peer;             /* per rank: its peers */
    uint64_t **path_from_peer;   /* per rank and peer: net_path_class */
    uint64_t **path_from_before; /* per rank and group slot */
} finder;

static const wl_graph *graph_of(const finder *f, uint32_t rank) { return wl_rank_graph(f->c->full, rank); }

static bool is_message(const wl_node *n) { return n->type == WL_NODE_SEND || n->type == WL_NODE_RECV; }

/* ---- graphs --------------------------------------------------------------------------------- */

static sim_fallback index_graph(finder *f, uint32_t i)
{
    const wl_graph *g = &f->c->full->graph[i];

    f->in_use[i] = DSE_ARENA_NEW(f->arena, bool, g->n_group_slots);
    f->c->of_slot[i] = DSE_ARENA_NEW(f->arena, uint32_t, g->n_p2p_slots);
    memset(f->c->of_slot[i], 0xff, g->n_p2p_slots * sizeof(uint32_t)); /* DSE_NONE */
    for (uint32_t k = 0; k < g->n_nodes; k++) {
        const wl_node *n = &g->node[k];

        if (n->type == WL_NODE_COLL && n->slot != DSE_NONE) {
            f->in_use[i][n->slot] = true;
        } else if (is_message(n)) {
            if (f->c->of_slot[i][n->slot] != DSE_NONE)
                return SIM_FALLBACK_UNPAIRED_MESSAGE;
            f->c->of_slot[i][n->slot] = k;
        }
    }
    return SIM_FALLBACK_NONE;
}

static sim_fallback index_graphs(finder *f)
{
    const wl_workload *w = f->c->full;
    sim_fallback why = SIM_FALLBACK_NONE;

    f->in_use = DSE_ARENA_NEW(f->arena, bool *, w->n_graphs);
    f->c->peer_no = DSE_ARENA_NEW(f->arena, uint32_t *, w->n_graphs);
    f->n_peers = DSE_ARENA_NEW(f->arena, uint32_t, w->n_graphs);
    f->leader = DSE_ARENA_NEW(f->arena, uint32_t, w->n_graphs);
    f->c->of_slot = DSE_ARENA_NEW(f->arena, uint32_t *, w->n_graphs);
    f->c->mate = DSE_ARENA_NEW(f->arena, uint32_t *, w->n_graphs);
    memset(f->leader, 0xff, w->n_graphs * sizeof *f->leader); /* DSE_NONE */
    for (uint32_t r = w->n_ranks; r-- > 0;)
        f->leader[w->rank[r].graph] = r;
    for (uint32_t i = 0; why == SIM_FALLBACK_NONE && i < w->n_graphs; i++)
        why = index_graph(f, i);
    return why;
}

/* ---- links between ranks -------------------------------------------------------------------- */

/* Allocates `count` links for each rank: the rank at the other end, DSE_NONE for now, and the path from
 * there. */
static void allocate_links(finder *f, uint32_t (*count)(const finder *f, uint32_t r), uint32_t ***whom,
                           uint64_t ***path)
{
    uint32_t n_ranks = f->c->full->n_ranks, *all_whom;
    uint64_t *all_paths;
    size_t n = 0;

    for (uint32_t r = 0; r < n_ranks; r++)
        n += count(f, r);
    all_whom = DSE_ARENA_NEW(f->arena, uint32_t, n);
    all_paths = DSE_ARENA_NEW(f->arena, uint64_t, n);
    *whom = DSE_ARENA_NEW(f->arena, uint32_t *, n_ranks);
    *path = DSE_ARENA_NEW(f->arena, uint64_t *, n_ranks);
    memset(all_whom, 0xff, n * sizeof *all_whom); /* DSE_NONE */
    for (uint32_t r = 0; r < n_ranks; r++) {
        (*whom)[r] = all_whom;
        (*path)[r] = all_paths;
        all_whom += count(f, r);
        all_paths += count(f, r);
    }
}

/* ---- rings ---------------------------------------------------------------------------------- */

uint32_t sim_classes_slot(const wl_workload *w, uint32_t rank, uint32_t group)
{
    for (uint32_t k = 0; k < wl_rank_graph(w, rank)->n_group_slots; k++)
        if (w->rank[rank].group[k] == group)
            return k;
    return DSE_NONE;
}

/* Whether the rank has a collective in the group. */
static bool takes_part(const finder *f, uint32_t rank, uint32_t group)
{
    uint32_t k = rank < f->c->full->n_ranks ? sim_classes_slot(f->c->full, rank, group) : DSE_NONE;

    return k != DSE_NONE && f->in_use[f->c->full->rank[rank].graph][k];
}

static sim_fallback link_ring(finder *f, uint32_t group)
{
    const wl_group *g = &f->c->full->group[group];
    uint32_t n_parts = 0;

    for (uint32_t i = 0; i < g->n; i++)
        n_parts += takes_part(f, g->rank[i], group);
    if (n_parts && n_parts < g->n)
        return SIM_FALLBACK_IDLE_MEMBER;
    for (uint32_t i = 0; n_parts && i < g->n; i++) {
        uint32_t r = g->rank[i], before = g->rank[i ? i - 1 : g->n - 1];
        uint32_t k = sim_classes_slot(f->c->full, r, group);

        if (f->c->before[r][k] != DSE_NONE)
            return SIM_FALLBACK_NOT_A_MEMBER;
        f->c->before[r][k] = before;
        if (!net_path_class(f->c->net, before, r, &f->path_from_before[r][k]))
            return SIM_FALLBACK_LONG_PATH;
    }
    return SIM_FALLBACK_NONE;
}

/* Ranks that receive from one rank in two rings could meet messages of the wrong one. */
static sim_fallback check_rings(finder *f, uint32_t r)
{
    const wl_workload *w = f->c->full;
    const uint32_t *before = f->c->before[r];
    uint32_t n = graph_of(f, r)->n_group_slots;

    for (uint32_t k = 0; k < n; k++) {
        const wl_group *g = &w->group[w->rank[r].group[k]];

        if (f->in_use[w->rank[r].graph][k] && g->n < w->n_ranks && before[k] == DSE_NONE)
            return SIM_FALLBACK_NOT_A_MEMBER;
        for (uint32_t i = 0; i < k && before[k] != DSE_NONE; i++)
            if (before[i] == before[k])
                return SIM_FALLBACK_SHARED_PREDECESSOR;
    }
    return SIM_FALLBACK_NONE;
}

static uint32_t count_slots(const finder *f, uint32_t r) { return graph_of(f, r)->n_group_slots; }

static sim_fallback link_rings(finder *f)
{
    const wl_workload *w = f->c->full;
    sim_fallback why = SIM_FALLBACK_NONE;

    allocate_links(f, count_slots, &f->c->before, &f->path_from_before);
    for (uint32_t i = 0; why == SIM_FALLBACK_NONE && i < w->n_groups; i++)
        if (w->group[i].n > 1 && w->group[i].n < w->n_ranks)
            why = link_ring(f, i);
    for (uint32_t r = 0; why == SIM_FALLBACK_NONE && r < w->n_ranks; r++)
        why = check_rings(f, r);
    return why;
}

/* ---- messages between ranks ------------------------------------------------------------------ */

static const wl_node *node_of_slot(const finder *f, uint32_t rank, uint32_t slot)
{
    uint32_t graph = f->c->full->rank[rank].graph, node = f->c->of_slot[graph][slot];

    return node == DSE_NONE ? NULL : &f->c->full->graph[graph].node[node];
}

static bool name_each_other(const finder *f, uint32_t rank, uint32_t slot, uint32_t mate)
{
    const wl_p2p *p = &f->c->full->rank[rank].p2p[slot], *q = &f->c->full->rank[p->peer].p2p[mate];

    return q->peer == rank && q->tag == p->tag;
}

/* Whether the peer's slot is the other end of the rank's. */
static bool are_ends(const finder *f, uint32_t rank, uint32_t slot, uint32_t mate)
{
    const wl_node *a = node_of_slot(f, rank, slot);
    const wl_node *b = node_of_slot(f, f->c->full->rank[rank].p2p[slot].peer, mate);

    return name_each_other(f, rank, slot, mate) && a && b && a->type != b->type &&
           a->comm_size == b->comm_size;
}

/* Numbers the peers of a graph's lowest rank and finds the mates of its slots. Neighbouring slots often have
 * neighbouring mates, so the search continues behind the last one. */
static sim_fallback pair_leader(finder *f, uint32_t graph)
{
    const wl_workload *w = f->c->full;
    uint32_t n = w->graph[graph].n_p2p_slots, r = f->leader[graph], n_peers = 0, next = 0;
    uint32_t *peers = DSE_ARENA_NEW(f->arena, uint32_t, n);

    f->c->peer_no[graph] = DSE_ARENA_NEW(f->arena, uint32_t, n);
    f->c->mate[graph] = DSE_ARENA_NEW(f->arena, uint32_t, n);
    for (uint32_t s = 0; r != DSE_NONE && s < n; s++) {
        uint32_t peer = w->rank[r].p2p[s].peer, i = 0, tried = 0, n_mates;

        if (peer >= w->n_ranks || peer == r)
            return SIM_FALLBACK_UNPAIRED_MESSAGE;
        while (i < n_peers && peers[i] != peer)
            i++;
        if (i == n_peers)
            peers[n_peers++] = peer;
        f->c->peer_no[graph][s] = i;
        n_mates = graph_of(f, peer)->n_p2p_slots;
        for (; tried < n_mates && !are_ends(f, r, s, (next + tried) % n_mates); tried++)
            ;
        if (tried == n_mates)
            return SIM_FALLBACK_UNPAIRED_MESSAGE;
        f->c->mate[graph][s] = (next + tried) % n_mates;
        next = f->c->mate[graph][s] + 1;
    }
    f->n_peers[graph] = n_peers;
    return SIM_FALLBACK_NONE;
}

typedef struct {
    uint32_t peer, tag, type;
} message_key;

static int compare_keys(const void *a, const void *b)
{
    const message_key *x = a, *y = b;

    if (x->peer != y->peer)
        return x->peer < y->peer ? -1 : 1;
    if (x->tag != y->tag)
        return x->tag < y->tag ? -1 : 1;
    return x->type < y->type ? -1 : x->type > y->type;
}

/* Messages have tags modulo SIM_TAG_SPAN. Generated tags ascend; those of other workloads are sorted here.
 * Two messages of different sizes with one tag are refused too. */
static sim_fallback check_tags(finder *f, uint32_t r)
{
    const wl_p2p *p = f->c->full->rank[r].p2p;
    uint32_t n = graph_of(f, r)->n_p2p_slots, ascending = 1;
    message_key *keys;
    sim_fallback why = SIM_FALLBACK_NONE;

    while (ascending < n && p[ascending - 1].tag < p[ascending].tag)
        ascending++;
    if (ascending >= n && (!n || p[n - 1].tag - p[0].tag < SIM_TAG_SPAN))
        return SIM_FALLBACK_NONE;
    keys = dse_calloc(n, sizeof *keys);
    for (uint32_t s = 0; s < n; s++)
        keys[s] = (message_key){p[s].peer, p[s].tag % SIM_TAG_SPAN, node_of_slot(f, r, s)->type};
    qsort(keys, n, sizeof *keys, compare_keys);
    for (uint32_t s = 1; why == SIM_FALLBACK_NONE && s < n; s++)
        if (!compare_keys(&keys[s - 1], &keys[s]))
            why = SIM_FALLBACK_SHARED_TAG;
    dse_free(keys);
    return why;
}

static sim_fallback list_peers(finder *f, uint32_t r)
{
    const wl_workload *w = f->c->full;
    const wl_rank *rank = &w->rank[r], *leader = &w->rank[f->leader[rank->graph]];
    uint32_t n = graph_of(f, r)->n_p2p_slots, n_peers = 0;

    for (uint32_t s = 0; s < n; s++) {
        uint32_t peer = rank->p2p[s].peer, i = f->c->peer_no[rank->graph][s];

        /* Nodes are those of the leader and its peer, if the graphs are. */
        if (peer >= w->n_ranks || peer == r || w->rank[peer].graph != w->rank[leader->p2p[s].peer].graph ||
            !name_each_other(f, r, s, f->c->mate[rank->graph][s]))
            return SIM_FALLBACK_UNPAIRED_MESSAGE;
        if (i == n_peers) {
            f->peer[r][n_peers++] = peer;
            if (!net_path_class(f->c->net, peer, r, &f->path_from_peer[r][i]))
                return SIM_FALLBACK_LONG_PATH;
        } else if (f->peer[r][i] != peer) {
            return SIM_FALLBACK_UNLIKE_PEERS;
        }
    }
    return check_tags(f, r);
}

static uint32_t count_peers(const finder *f, uint32_t r) { return f->n_peers[f->c->full->rank[r].graph]; }

static sim_fallback link_messages(finder *f)
{
    const wl_workload *w = f->c->full;
    sim_fallback why = SIM_FALLBACK_NONE;

    for (uint32_t i = 0; why == SIM_FALLBACK_NONE && i < w->n_graphs; i++)
        why = pair_leader(f, i);
    if (why == SIM_FALLBACK_NONE)
        allocate_links(f, count_peers, &f->peer, &f->path_from_peer);
    for (uint32_t r = 0; why == SIM_FALLBACK_NONE && r < w->n_ranks; r++)
        why = list_peers(f, r);
    return why;
}

/* ---- the partition --------------------------------------------------------------------------- */

/* A hash of what distinguishes a rank by itself: its graph, the sizes of its groups, and the paths to it. */
static uint64_t initial_colour(const finder *f, uint32_t r)
{
    const wl_rank *rank = &f->c->full->rank[r];
    uint64_t h = rank->graph;

    for (uint32_t k = 0; k < graph_of(f, r)->n_group_slots; k++)
        if (f->in_use[rank->graph][k])
            h = dse_hash_u64(h ^ f->path_from_before[r][k]) + f->c->full->group[rank->group[k]].n;
    for (uint32_t i = 0; i < f->n_peers[rank->graph]; i++)
        h = dse_hash_u64(h ^ f->path_from_peer[r][i]);
    return h;
}

static bool has_initial_colour(const void *finder_of, uint32_t colour, const void *key)
{
    const finder *f = finder_of;
    const wl_workload *w = f->c->full;
    uint32_t a = f->c->first[colour], b = *(const uint32_t *)key, graph = w->rank[a].graph;

    if (graph != w->rank[b].graph)
        return false;
    for (uint32_t k = 0; k < w->graph[graph].n_group_slots; k++) {
        const uint32_t before_a = f->c->before[a][k], before_b = f->c->before[b][k];

        if (!f->in_use[graph][k])
            continue;
        if (w->group[w->rank[a].group[k]].n != w->group[w->rank[b].group[k]].n ||
            f->path_from_before[a][k] != f->path_from_before[b][k])
            return false;
        if (before_a != DSE_NONE && sim_classes_slot(w, before_a, w->rank[a].group[k]) !=
                                        sim_classes_slot(w, before_b, w->rank[b].group[k]))
            return false;
    }
    return !memcmp(f->path_from_peer[a], f->path_from_peer[b], f->n_peers[graph] * sizeof(uint64_t));
}

/* Makes a class of each initial colour. */
static void colour_ranks(finder *f)
{
    sim_classes *c = f->c;
    dse_idtable table = {0};

    for (uint32_t r = 0; r < c->full->n_ranks; r++) {
        c->of[r] = dse_idtable_intern(&table, (uint32_t)(initial_colour(f, r) >> 32), has_initial_colour, f,
                                      &r, c->n);
        if (c->of[r] == c->n)
            c->first[c->n++] = r;
    }
    dse_idtable_free(&table);
}

/* The links of a rank are numbered: the members before it by their slots, then its peers. Ranks of one
 * initial colour have the same numbers. */
typedef struct {
    uint32_t rank, link;
} backlink;

/* The ranks, class by class; the marked ranks of a class come first. */
typedef struct {
    sim_classes *c;
    uint32_t *member, *place;       /* the ranks; the index of each rank in member */
    uint32_t *begin, *end, *marked; /* per class: in member; how many are marked */
    uint32_t *touched, n_touched;   /* classes with marks */
    uint32_t *pending, n_pending;   /* classes that have yet to split others */
    uint32_t n_links, *begin_of_link;
    uint32_t *begin_of_rank;     /* n_ranks + 1: in backlink */
    backlink *backlink, *sorted; /* links that lead to a rank; those to one class, by link */
} partition;

static uint32_t n_links_of(const finder *f, uint32_t r)
{
    return graph_of(f, r)->n_group_slots + f->n_peers[f->c->full->rank[r].graph];
}

static uint32_t follow_link(const finder *f, uint32_t r, uint32_t link)
{
    uint32_t n_slots = graph_of(f, r)->n_group_slots;

    return link < n_slots ? f->c->before[r][link] : f->peer[r][link - n_slots];
}

static void find_backlinks(const finder *f, partition *p)
{
    uint32_t n_ranks = f->c->full->n_ranks, *next = DSE_ARENA_NEW(f->arena, uint32_t, n_ranks + 2u), to;

    /* next[r + 2] counts; shifted sums make next[r + 1] the place of r's next one, in the end its last. */
    for (uint32_t r = 0; r < n_ranks; r++) {
        uint32_t n = n_links_of(f, r);

        p->n_links = n > p->n_links ? n : p->n_links;
        for (uint32_t k = 0; k < n; k++)
            if ((to = follow_link(f, r, k)) != DSE_NONE)
                next[to + 2]++;
    }
    for (uint32_t r = 0; r < n_ranks; r++)
        next[r + 2] += next[r + 1];
    p->backlink = DSE_ARENA_RAW(f->arena, backlink, next[n_ranks + 1]);
    p->sorted = DSE_ARENA_RAW(f->arena, backlink, next[n_ranks + 1]);
    p->begin_of_link = DSE_ARENA_NEW(f->arena, uint32_t, p->n_links + 2u);
    for (uint32_t r = 0; r < n_ranks; r++)
        for (uint32_t k = 0, n = n_links_of(f, r); k < n; k++)
            if ((to = follow_link(f, r, k)) != DSE_NONE)
                p->backlink[next[to + 1]++] = (backlink){r, k};
    p->begin_of_rank = next;
}

/* Lays out the initial classes, all of them pending. */
static void lay_out(const finder *f, partition *p)
{
    sim_classes *c = f->c;
    uint32_t n_ranks = c->full->n_ranks;

    p->c = c;
    p->member = DSE_ARENA_RAW(f->arena, uint32_t, n_ranks);
    p->place = DSE_ARENA_RAW(f->arena, uint32_t, n_ranks);
    p->begin = DSE_ARENA_NEW(f->arena, uint32_t, n_ranks + 1u);
    p->end = DSE_ARENA_NEW(f->arena, uint32_t, n_ranks);
    p->marked = DSE_ARENA_NEW(f->arena, uint32_t, n_ranks);
    p->touched = DSE_ARENA_RAW(f->arena, uint32_t, n_ranks);
    p->pending = DSE_ARENA_RAW(f->arena, uint32_t, n_ranks);
    for (uint32_t r = 0; r < n_ranks; r++)
        p->begin[c->of[r] + 1]++;
    for (uint32_t i = 0; i < c->n; i++) {
        p->begin[i + 1] += p->begin[i];
        p->end[i] = p->begin[i];
        p->pending[p->n_pending++] = i;
    }
    for (uint32_t r = 0; r < n_ranks; r++) {
        p->place[r] = p->end[c->of[r]]++;
        p->member[p->place[r]] = r;
    }
    find_backlinks(f, p);
}

static void mark(partition *p, uint32_t r)
{
    uint32_t class = p->c->of[r], to = p->begin[class] + p->marked[class], other = p->member[to];

    p->member[p->place[r]] = other;
    p->place[other] = p->place[r];
    p->member[to] = r;
    p->place[r] = to;
    if (!p->marked[class]++)
        p->touched[p->n_touched++] = class;
}

/* The smaller part of a class of which some are marked becomes a class of its own. What the larger one
 * splits, the smaller one and the whole, which has been or is pending, split together. */
static void split(partition *p, uint32_t class)
{
    uint32_t n = p->marked[class], middle = p->begin[class] + n, new = p->c->n;

    p->marked[class] = 0;
    if (middle == p->end[class])
        return;
    p->c->n++;
    if (n <= p->end[class] - middle) {
        p->begin[new] = p->begin[class];
        p->end[new] = p->begin[class] = middle;
    } else {
        p->begin[new] = middle;
        p->end[new] = p->end[class];
        p->end[class] = middle;
    }
    for (uint32_t i = p->begin[new]; i < p->end[new]; i++)
        p->c->of[p->member[i]] = new;
    p->pending[p->n_pending++] = new;
}

/* The backlinks of a class, link by link. */
static uint32_t sort_backlinks(partition *p, uint32_t class)
{
    uint32_t *next = p->begin_of_link, n = 0;

    memset(next, 0, (p->n_links + 2u) * sizeof *next);
    for (uint32_t i = p->begin[class]; i < p->end[class]; i++)
        for (uint32_t k = p->begin_of_rank[p->member[i]]; k < p->begin_of_rank[p->member[i] + 1]; k++, n++)
            next[p->backlink[k].link + 2]++;
    for (uint32_t link = 0; link < p->n_links; link++)
        next[link + 2] += next[link + 1];
    for (uint32_t i = p->begin[class]; i < p->end[class]; i++)
        for (uint32_t k = p->begin_of_rank[p->member[i]]; k < p->begin_of_rank[p->member[i] + 1]; k++)
            p->sorted[next[p->backlink[k].link + 1]++] = p->backlink[k];
    return n;
}

/* Hopcroft (An n log n algorithm for minimizing states in a finite automaton, 1971), a rank for a state and
 * its links for letters. Whatever the order of splits, the partition is the same. */
static void refine(finder *f)
{
    partition p = {0};

    lay_out(f, &p);
    while (p.n_pending) {
        uint32_t n = sort_backlinks(&p, p.pending[--p.n_pending]);

        for (uint32_t i = 0; i < n;) {
            uint32_t link = p.sorted[i].link;

            for (; i < n && p.sorted[i].link == link; i++)
                mark(&p, p.sorted[i].rank);
            while (p.n_touched)
                split(&p, p.touched[--p.n_touched]);
        }
    }
}

/* Numbers the classes in the order of their lowest ranks. */
static void number_classes(finder *f)
{
    sim_classes *c = f->c;
    uint32_t *number = DSE_ARENA_RAW(f->arena, uint32_t, c->n), n = 0;

    memset(number, 0xff, c->n * sizeof *number); /* DSE_NONE */
    for (uint32_t r = 0; r < c->full->n_ranks; r++) {
        if (number[c->of[r]] == DSE_NONE) {
            c->first[n] = r;
            number[c->of[r]] = n++;
        }
        c->of[r] = number[c->of[r]];
    }
}

static void partition_ranks(finder *f)
{
    colour_ranks(f);
    refine(f);
    number_classes(f);
}

static void tell_all_apart(finder *f)
{
    f->c->n = f->c->full->n_ranks;
    for (uint32_t r = 0; r < f->c->n; r++)
        f->c->of[r] = f->c->first[r] = r;
}

/* ---- the workload of the classes --------------------------------------------------------------- */

/* Tags count the slots of all classes: both ends of a message have the sender's. */
static void make_workload(finder *f)
{
    sim_classes *c = f->c;
    const wl_workload *w = c->full;
    uint32_t *slots_before = DSE_ARENA_NEW(f->arena, uint32_t, c->n + 1u);
    wl_p2p *p2p;

    for (uint32_t i = 0; i < c->n; i++)
        slots_before[i + 1] = slots_before[i] + graph_of(f, c->first[i])->n_p2p_slots;
    c->w = *w;
    c->w.n_ranks = c->n;
    c->w.rank = DSE_ARENA_NEW(f->arena, wl_rank, c->n);
    p2p = DSE_ARENA_NEW(f->arena, wl_p2p, slots_before[c->n]);
    for (uint32_t i = 0; i < c->n; i++) {
        const wl_rank *rank = &w->rank[c->first[i]];
        uint32_t n = graph_of(f, c->first[i])->n_p2p_slots;

        c->w.rank[i] = *rank;
        c->w.rank[i].p2p = p2p + slots_before[i];
        for (uint32_t s = 0; s < n; s++) {
            uint32_t peer = c->of[rank->p2p[s].peer];
            bool send = node_of_slot(f, c->first[i], s)->type == WL_NODE_SEND;

            p2p[slots_before[i] + s] =
                (wl_p2p){.peer = peer,
                         .tag = send ? slots_before[i] + s : slots_before[peer] + c->mate[rank->graph][s],
                         .id = rank->p2p[s].id};
        }
    }
}

/* ---- what the network's model leaves out ------------------------------------------------------- */

static void count_undercharged(finder *f)
{
    sim_classes *c = f->c;
    const wl_workload *w = c->full;

    c->n_undercharged_rings = DSE_ARENA_NEW(f->arena, uint32_t *, c->n);
    c->n_undercharged_sends = DSE_ARENA_NEW(f->arena, uint32_t *, c->n);
    for (uint32_t i = 0; i < c->n; i++) {
        uint32_t graph = w->rank[c->first[i]].graph;

        c->n_undercharged_rings[i] = DSE_ARENA_NEW(f->arena, uint32_t, w->graph[graph].n_group_slots);
        c->n_undercharged_sends[i] = DSE_ARENA_NEW(f->arena, uint32_t, f->n_peers[graph]);
    }
    for (uint32_t r = 0; !c->net->full_multi_hop && r < w->n_ranks; r++) {
        const uint32_t *before = c->before[r];

        for (uint32_t k = 0; k < graph_of(f, r)->n_group_slots; k++)
            c->n_undercharged_rings[c->of[r]][k] +=
                before[k] != DSE_NONE && net_differ_in_several(c->net, before[k], r);
        for (uint32_t i = 0; i < f->n_peers[w->rank[r].graph]; i++)
            c->n_undercharged_sends[c->of[r]][i] += net_differ_in_several(c->net, r, f->peer[r][i]);
    }
}

sim_fallback sim_classes_find(const net_network *net, const wl_workload *w, bool symmetry, dse_arena *a,
                              sim_classes *out)
{
    finder f = {.c = out, .arena = a};
    sim_fallback why;

    *out = (sim_classes){.net = net, .full = w};
    if ((why = index_graphs(&f)) || (why = link_rings(&f)) || (why = link_messages(&f)))
        return why;
    out->of = DSE_ARENA_RAW(a, uint32_t, w->n_ranks);
    out->first = DSE_ARENA_RAW(a, uint32_t, w->n_ranks);
    if (symmetry)
        partition_ranks(&f);
    else
        tell_all_apart(&f);
    out->n_alike = DSE_ARENA_NEW(a, uint32_t, out->n);
    for (uint32_t r = 0; r < w->n_ranks; r++)
        out->n_alike[out->of[r]]++;
    count_undercharged(&f);
    make_workload(&f);
    return SIM_FALLBACK_NONE;
}
