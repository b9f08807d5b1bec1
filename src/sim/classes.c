#include "sim/classes.h"

#include "base/idtable.h"
#include "sim/messages.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* What the search needs of each rank beyond what it leaves behind. */
typedef struct {
    sim_classes *c;
    dse_arena *arena;
    dse_error *err;
    bool **in_use;               /* per graph and group slot: a collective takes it */
    uint32_t *n_peers;           /* per graph */
    uint32_t *leader;            /* per graph: its lowest rank */
    uint32_t **peer;             /* per rank: its peers */
    uint64_t **path_from_peer;   /* per rank and peer: net_path_class */
    uint64_t **path_from_before; /* per rank and group slot */
    uint32_t *color, *next_color;
    uint32_t *example; /* per color: a rank */
} finder;

static dse_status give_up(finder *f, const char *why) { return dse_fail(f->err, DSE_E_SIM, "%s", why); }

static const wl_graph *graph_of(const finder *f, uint32_t rank) { return wl_rank_graph(f->c->full, rank); }

static bool is_message(const wl_node *n) { return n->type == WL_NODE_SEND || n->type == WL_NODE_RECV; }

/* ---- graphs --------------------------------------------------------------------------------- */

static dse_status look_at_graph(finder *f, uint32_t i)
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
                return give_up(f, "two nodes share a message");
            f->c->of_slot[i][n->slot] = k;
        }
    }
    return DSE_OK;
}

static dse_status look_at_graphs(finder *f)
{
    const wl_workload *w = f->c->full;
    dse_status st = DSE_OK;

    f->in_use = DSE_ARENA_NEW(f->arena, bool *, w->n_graphs);
    f->c->peer_no = DSE_ARENA_NEW(f->arena, uint32_t *, w->n_graphs);
    f->n_peers = DSE_ARENA_NEW(f->arena, uint32_t, w->n_graphs);
    f->leader = DSE_ARENA_NEW(f->arena, uint32_t, w->n_graphs);
    f->c->of_slot = DSE_ARENA_NEW(f->arena, uint32_t *, w->n_graphs);
    f->c->mate = DSE_ARENA_NEW(f->arena, uint32_t *, w->n_graphs);
    memset(f->leader, 0xff, w->n_graphs * sizeof *f->leader); /* DSE_NONE */
    for (uint32_t r = w->n_ranks; r-- > 0;)
        f->leader[w->rank[r].graph] = r;
    for (uint32_t i = 0; st == DSE_OK && i < w->n_graphs; i++)
        st = look_at_graph(f, i);
    return st;
}

/* ---- links between ranks -------------------------------------------------------------------- */

/* For each rank so many ranks that it meets, none yet, and the paths from there. */
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
static bool takes(const finder *f, uint32_t rank, uint32_t group)
{
    uint32_t k = rank < f->c->full->n_ranks ? sim_classes_slot(f->c->full, rank, group) : DSE_NONE;

    return k != DSE_NONE && f->in_use[f->c->full->rank[rank].graph][k];
}

static dse_status link_ring(finder *f, uint32_t group)
{
    const wl_group *g = &f->c->full->group[group];
    uint32_t n_takers = 0;

    for (uint32_t i = 0; i < g->n; i++)
        n_takers += takes(f, g->rank[i], group);
    if (n_takers && n_takers < g->n)
        return give_up(f, "a member of a group takes no part in it");
    for (uint32_t i = 0; n_takers && i < g->n; i++) {
        uint32_t r = g->rank[i], before = g->rank[i ? i - 1 : g->n - 1];
        uint32_t k = sim_classes_slot(f->c->full, r, group);

        if (f->c->before[r][k] != DSE_NONE)
            return give_up(f, "a rank is in a group twice");
        f->c->before[r][k] = before;
        if (!net_path_class(f->c->net, before, r, &f->path_from_before[r][k]))
            return give_up(f, "a path of a ring has no class");
    }
    return DSE_OK;
}

/* Ranks that receive from one rank in two rings could meet messages of the wrong one. */
static dse_status check_rings(finder *f, uint32_t r)
{
    const wl_workload *w = f->c->full;
    const uint32_t *before = f->c->before[r];
    uint32_t n = graph_of(f, r)->n_group_slots;

    for (uint32_t k = 0; k < n; k++) {
        const wl_group *g = &w->group[w->rank[r].group[k]];

        if (f->in_use[w->rank[r].graph][k] && g->n < w->n_ranks && before[k] == DSE_NONE)
            return give_up(f, "a rank is not in its own group");
        for (uint32_t i = 0; i < k && before[k] != DSE_NONE; i++)
            if (before[i] == before[k])
                return give_up(f, "a rank comes after another in two groups");
    }
    return DSE_OK;
}

static uint32_t count_slots(const finder *f, uint32_t r) { return graph_of(f, r)->n_group_slots; }

static dse_status link_rings(finder *f)
{
    const wl_workload *w = f->c->full;
    dse_status st = DSE_OK;

    allocate_links(f, count_slots, &f->c->before, &f->path_from_before);
    for (uint32_t i = 0; st == DSE_OK && i < w->n_groups; i++)
        if (w->group[i].n > 1 && w->group[i].n < w->n_ranks)
            st = link_ring(f, i);
    for (uint32_t r = 0; st == DSE_OK && r < w->n_ranks; r++)
        st = check_rings(f, r);
    return st;
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
static bool meet(const finder *f, uint32_t rank, uint32_t slot, uint32_t mate)
{
    const wl_node *a = node_of_slot(f, rank, slot);
    const wl_node *b = node_of_slot(f, f->c->full->rank[rank].p2p[slot].peer, mate);

    return name_each_other(f, rank, slot, mate) && a && b && a->type != b->type &&
           a->comm_size == b->comm_size;
}

/* Of the lowest rank of a graph: its peers, numbered, and the mates of its slots. Those of its neighbour
 * slots are often neighbours, too. */
static dse_status look_at_leader(finder *f, uint32_t graph)
{
    const wl_workload *w = f->c->full;
    uint32_t n = w->graph[graph].n_p2p_slots, r = f->leader[graph], n_peers = 0, next = 0;
    uint32_t *peers = DSE_ARENA_NEW(f->arena, uint32_t, n);

    f->c->peer_no[graph] = DSE_ARENA_NEW(f->arena, uint32_t, n);
    f->c->mate[graph] = DSE_ARENA_NEW(f->arena, uint32_t, n);
    for (uint32_t s = 0; r != DSE_NONE && s < n; s++) {
        uint32_t peer = w->rank[r].p2p[s].peer, i = 0, tried = 0, n_mates;

        if (peer >= w->n_ranks || peer == r)
            return give_up(f, "a message without a peer");
        while (i < n_peers && peers[i] != peer)
            i++;
        if (i == n_peers)
            peers[n_peers++] = peer;
        f->c->peer_no[graph][s] = i;
        n_mates = graph_of(f, peer)->n_p2p_slots;
        for (; tried < n_mates && !meet(f, r, s, (next + tried) % n_mates); tried++)
            ;
        if (tried == n_mates)
            return give_up(f, "a message without a counterpart");
        f->c->mate[graph][s] = (next + tried) % n_mates;
        next = f->c->mate[graph][s] + 1;
    }
    f->n_peers[graph] = n_peers;
    return DSE_OK;
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

/* Messages know tags modulo SIM_TAG_SPAN. Generated tags ascend; those of other workloads are sorted. Two
 * sizes under one tag are left alone, too. */
static dse_status check_tags(finder *f, uint32_t r)
{
    const wl_p2p *p = f->c->full->rank[r].p2p;
    uint32_t n = graph_of(f, r)->n_p2p_slots, ascending = 1;
    message_key *keys;
    dse_status st = DSE_OK;

    while (ascending < n && p[ascending - 1].tag < p[ascending].tag)
        ascending++;
    if (ascending >= n && (!n || p[n - 1].tag - p[0].tag < SIM_TAG_SPAN))
        return DSE_OK;
    keys = dse_calloc(n, sizeof *keys);
    for (uint32_t s = 0; s < n; s++)
        keys[s] = (message_key){p[s].peer, p[s].tag % SIM_TAG_SPAN, node_of_slot(f, r, s)->type};
    qsort(keys, n, sizeof *keys, compare_keys);
    for (uint32_t s = 1; st == DSE_OK && s < n; s++)
        if (!compare_keys(&keys[s - 1], &keys[s]))
            st = give_up(f, "two messages with one tag");
    dse_free(keys);
    return st;
}

static dse_status list_peers(finder *f, uint32_t r)
{
    const wl_workload *w = f->c->full;
    const wl_rank *rank = &w->rank[r], *leader = &w->rank[f->leader[rank->graph]];
    uint32_t n = graph_of(f, r)->n_p2p_slots, n_peers = 0;

    for (uint32_t s = 0; s < n; s++) {
        uint32_t peer = rank->p2p[s].peer, i = f->c->peer_no[rank->graph][s];

        /* Nodes are those of the leader and its peer, if the graphs are. */
        if (peer >= w->n_ranks || peer == r || w->rank[peer].graph != w->rank[leader->p2p[s].peer].graph ||
            !name_each_other(f, r, s, f->c->mate[rank->graph][s]))
            return give_up(f, "a message without a counterpart");
        if (i == n_peers) {
            f->peer[r][n_peers++] = peer;
            if (!net_path_class(f->c->net, peer, r, &f->path_from_peer[r][i]))
                return give_up(f, "a path has no class");
        } else if (f->peer[r][i] != peer) {
            return give_up(f, "ranks of one graph differ in who their peers are");
        }
    }
    return check_tags(f, r);
}

static uint32_t count_peers(const finder *f, uint32_t r) { return f->n_peers[f->c->full->rank[r].graph]; }

static dse_status link_messages(finder *f)
{
    const wl_workload *w = f->c->full;
    dse_status st = DSE_OK;

    for (uint32_t i = 0; st == DSE_OK && i < w->n_graphs; i++)
        st = look_at_leader(f, i);
    if (st == DSE_OK)
        allocate_links(f, count_peers, &f->peer, &f->path_from_peer);
    for (uint32_t r = 0; st == DSE_OK && r < w->n_ranks; r++)
        st = list_peers(f, r);
    return st;
}

/* ---- splitting ------------------------------------------------------------------------------- */

/* What tells ranks apart at first sight. */
static uint64_t first_look(const finder *f, uint32_t r)
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

static bool same_at_first_look(const void *finder_of, uint32_t color, const void *key)
{
    const finder *f = finder_of;
    const wl_workload *w = f->c->full;
    uint32_t a = f->example[color], b = *(const uint32_t *)key, graph = w->rank[a].graph;

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

/* And then: the colors of those they meet. */
static uint64_t second_look(const finder *f, uint32_t r)
{
    uint64_t h = f->color[r];

    for (uint32_t k = 0; k < graph_of(f, r)->n_group_slots; k++)
        if (f->c->before[r][k] != DSE_NONE)
            h = dse_hash_u64(h * 0x9e3779b97f4a7c15u + f->color[f->c->before[r][k]]);
    for (uint32_t i = 0; i < f->n_peers[f->c->full->rank[r].graph]; i++)
        h = dse_hash_u64(h * 0x9e3779b97f4a7c15u + f->color[f->peer[r][i]]);
    return h;
}

static bool same_at_second_look(const void *finder_of, uint32_t color, const void *key)
{
    const finder *f = finder_of;
    uint32_t a = f->example[color], b = *(const uint32_t *)key;

    if (f->color[a] != f->color[b])
        return false;
    for (uint32_t k = 0; k < graph_of(f, a)->n_group_slots; k++)
        if (f->c->before[a][k] != DSE_NONE && f->color[f->c->before[a][k]] != f->color[f->c->before[b][k]])
            return false;
    for (uint32_t i = 0; i < f->n_peers[f->c->full->rank[a].graph]; i++)
        if (f->color[f->peer[a][i]] != f->color[f->peer[b][i]])
            return false;
    return true;
}

/* Colors in the order of their lowest ranks; returns how many there are. */
static uint32_t paint(finder *f, uint64_t (*look)(const finder *f, uint32_t r), dse_id_equal *same)
{
    dse_idtable table = {0};
    uint32_t n = 0;

    for (uint32_t r = 0; r < f->c->full->n_ranks; r++) {
        uint32_t hash = (uint32_t)(look(f, r) >> 32);
        dse_idslot *slot;

        dse_idtable_reserve(&table);
        slot = dse_idtable_find(&table, hash, same, f, &r);
        if (slot->id == DSE_NONE) {
            f->example[n] = r;
            dse_idtable_put(&table, slot, hash, n++);
        }
        f->next_color[r] = slot->id;
    }
    dse_idtable_free(&table);
    return n;
}

static void split(finder *f)
{
    uint32_t n_ranks = f->c->full->n_ranks, before = 0, n;

    f->color = DSE_ARENA_NEW(f->arena, uint32_t, n_ranks);
    f->next_color = DSE_ARENA_NEW(f->arena, uint32_t, n_ranks);
    n = paint(f, first_look, same_at_first_look);
    while (n != before) {
        uint32_t *t = f->color;

        f->color = f->next_color;
        f->next_color = t;
        before = n;
        n = paint(f, second_look, same_at_second_look);
    }
    f->c->of = f->next_color;
    f->c->n = n;
}

static void tell_all_apart(finder *f)
{
    f->c->n = f->c->full->n_ranks;
    f->c->of = DSE_ARENA_NEW(f->arena, uint32_t, f->c->n);
    for (uint32_t r = 0; r < f->c->n; r++)
        f->c->of[r] = f->example[r] = r;
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

dse_status sim_classes_find(const net_network *net, const wl_workload *w, bool symmetry, dse_arena *a,
                            sim_classes *out, dse_error *err)
{
    finder f = {.c = out, .arena = a, .err = err};
    dse_status st;

    *out = (sim_classes){.net = net, .full = w};
    f.example = DSE_ARENA_NEW(a, uint32_t, w->n_ranks);
    if ((st = look_at_graphs(&f)) != DSE_OK || (st = link_rings(&f)) != DSE_OK ||
        (st = link_messages(&f)) != DSE_OK)
        return st;
    if (symmetry)
        split(&f);
    else
        tell_all_apart(&f);
    out->first = f.example;
    out->n_alike = DSE_ARENA_NEW(a, uint32_t, out->n);
    for (uint32_t r = 0; r < w->n_ranks; r++)
        out->n_alike[out->of[r]]++;
    count_undercharged(&f);
    make_workload(&f);
    return DSE_OK;
}
