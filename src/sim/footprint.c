#include "sim/footprint.h"

#include "sim/engine.h"

/* Memory of a packet under way: a message, its channel and an idle channel, hash slots of both, a rank's
 * event with its batch, an event with its tick. */
#define HASH_BYTES    (4 * sizeof(dse_idslot))
#define MESSAGE_BYTES (sizeof(sim_message) + 2 * (sizeof(sim_channel) + HASH_BYTES))
#define EVENT_BYTES                                                                                          \
    (sizeof(sim_rank_event) + sizeof(sim_batch) + HASH_BYTES + sizeof(dse_queue_cell) +                      \
     sizeof(dse_queue_tick))
#define PACKET_BYTES    (MESSAGE_BYTES + EVENT_BYTES)
#define ARENA_WASTE     16u /* of an array, by its alignment */
#define ARRAYS_OF_RANKS 20u

static uint64_t add(uint64_t a, uint64_t b) { return a + b < a ? UINT64_MAX : a + b; }

static uint64_t times(uint64_t a, uint64_t b)
{
    uint64_t product;

    return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

/* ---- graphs and ranks ---------------------------------------------------------------------- */

static uint64_t graph_bytes(const wl_graph *g)
{
    return times(g->n_nodes, sizeof(sim_cost) + sizeof(uint32_t) + 2 * sizeof(uint8_t));
}

static uint64_t rank_bytes(const sim_settings *set, const wl_graph *g)
{
    uint64_t per_node = 2 * sizeof(dse_time) + 4 * sizeof(uint32_t);
    uint64_t lanes = (uint64_t)NET_MAX_DIMS * (set->queues_per_dim * sizeof(sim_lane) + 64);

    if (set->track_memory)
        per_node += sizeof(uint32_t);
    return sizeof(sim_rank) + sizeof(sim_rank_stats) + lanes + (uint64_t)ARRAYS_OF_RANKS * ARENA_WASTE +
           times(g->n_nodes, per_node) + g->n_group_slots * sizeof(uint32_t) +
           (set->track_memory ? times(g->n_tensors, sizeof(sim_tensor)) : 0);
}

uint64_t sim_footprint_ranks(const sim_settings *set, const wl_workload *w)
{
    uint64_t bytes = 0;

    for (uint32_t i = 0; i < w->n_graphs; i++)
        bytes = add(bytes, graph_bytes(&w->graph[i]));
    for (uint32_t r = 0; r < w->n_ranks; r++)
        bytes = add(bytes, rank_bytes(set, wl_rank_graph(w, r)));
    return bytes;
}

/* ---- collectives and messages -------------------------------------------------------------- */

/* For each rank of a graph: what it has under way at most, and the messages that it sends. */
typedef struct {
    uint64_t streams, packets, messages;
} rank_load;

typedef struct {
    const sim_settings *set;
    const net_network *net;
    sim_logical logical[SIM_N_COLLECTIVES];
    uint32_t **largest; /* per graph and group slot: members of the largest group there */
    uint32_t *n_ranks;  /* per graph */
} estimate;

/* Packets beyond a rank's width wait because the next rank is behind: around a ring, no more than one packet
 * per rank in all. */
static void add_phase(const sim_phase *p, uint64_t at_once, sim_chunks c, rank_load *of)
{
    bool in_steps = p->steps > 0; /* a double binary tree sends two or three messages */
    uint64_t under_way = times(c.n < at_once ? c.n : at_once, in_steps ? p->width + UINT64_C(1) : 4);

    of->messages = add(of->messages, times(c.n, in_steps ? p->steps : 3));
    of->packets = under_way > of->packets ? under_way : of->packets;
}

static void add_collective(const estimate *x, const wl_node *n, uint32_t members, rank_load *of)
{
    uint64_t at_once = (uint64_t)sim_queue_places(x->set) * x->set->queues_per_dim;
    sim_dim_phase phase[2 * NET_MAX_DIMS];
    sim_collective coll;
    sim_chunks c;
    sim_phase p = {0};

    if (!sim_collective_of(n->coll, &coll))
        return;
    c = sim_cut_chunks(x->set, x->net->n_npus, coll, n->comm_size);
    of->streams = c.n > of->streams ? c.n : of->streams;
    if (members < x->net->n_npus) {
        const sim_ring ring = {.n = members};

        const sim_implementation *how = sim_group_implementation(x->set, coll);

        if (members > 1 && !sim_group_phase(how, &ring, coll, c.bytes, &p))
            add_phase(&p, at_once, c, of);
        return;
    }
    for (uint32_t i = 0, k = sim_order_phases(x->set, &x->logical[coll], coll, UINT32_MAX, phase); i < k;
         i++) {
        const sim_implementation *how = &x->logical[coll].dim[phase[i].dim].how;

        p = (sim_phase){.algorithm = how->algorithm, .coll = (uint8_t)phase[i].coll, .bytes = c.bytes};
        p.ring = (sim_ring){.n = x->logical[coll].dim[phase[i].dim].n, .stride = 1};
        if (!how->algorithm->plan(how, true, 0, &p))
            add_phase(&p, at_once * x->net->n_dims, c, of);
    }
}

static rank_load load_of(const estimate *x, const wl_graph *g, const uint32_t *largest)
{
    rank_load load = {0};
    uint64_t receives = 0;

    for (uint32_t i = 0; i < g->n_nodes; i++) {
        const wl_node *n = &g->node[i];

        if (n->type == WL_NODE_COLL)
            add_collective(x, n, n->slot == DSE_NONE ? x->net->n_npus : largest[n->slot], &load);
        load.messages += n->type == WL_NODE_SEND;
        receives += n->type == WL_NODE_RECV;
    }
    load.packets = add(load.packets, receives);
    return load;
}

static void find_largest(estimate *x, const wl_workload *w, dse_arena *a)
{
    x->largest = DSE_ARENA_NEW(a, uint32_t *, w->n_graphs);
    x->n_ranks = DSE_ARENA_NEW(a, uint32_t, w->n_graphs);
    for (uint32_t i = 0; i < w->n_graphs; i++)
        x->largest[i] = DSE_ARENA_NEW(a, uint32_t, w->graph[i].n_group_slots);
    for (uint32_t r = 0; r < w->n_ranks; r++) {
        uint32_t *largest = x->largest[w->rank[r].graph];

        x->n_ranks[w->rank[r].graph]++;
        for (uint32_t k = 0; k < wl_rank_graph(w, r)->n_group_slots; k++) {
            uint32_t n = w->group[w->rank[r].group[k]].n;

            largest[k] = n > largest[k] ? n : largest[k];
        }
    }
}

static uint64_t link_bytes(const net_network *net)
{
    uint64_t slots = 0;

    for (uint32_t i = 0; net->congestion && i < net->n_dims; i++) {
        const net_dimension *d = &net->dim[i];

        slots += (uint64_t)net->n_npus * (d->topology->n_ports(&d->shape) + d->topology->has_switch);
    }
    return slots * (sizeof(net_link) + sizeof(net_link_state));
}

dse_status sim_footprint_of(const sim_settings *set, const net_network *net, const wl_workload *w,
                            sim_footprint *out, dse_error *err)
{
    estimate x = {.set = set, .net = net};
    uint64_t stream = sizeof(sim_stream) + (uint64_t)2 * net->n_dims * sizeof(sim_phase);
    uint64_t packet = PACKET_BYTES + (net->congestion ? sizeof(net_transfer) : 0);
    dse_status st = sim_logicals_init(set, net, x.logical, err);
    dse_arena scratch;

    if (st != DSE_OK)
        return st;
    dse_arena_init(&scratch);
    find_largest(&x, w, &scratch);
    *out = (sim_footprint){.bytes = add(sim_footprint_ranks(set, w), link_bytes(net))};
    for (uint32_t i = 0; i < w->n_graphs; i++) {
        rank_load load = load_of(&x, &w->graph[i], x.largest[i]);
        uint64_t pools = add(times(load.streams, stream), times(load.packets, packet));

        out->bytes = add(out->bytes, times(2 * (uint64_t)x.n_ranks[i], pools));
        out->messages = add(out->messages, times(x.n_ranks[i], load.messages));
    }
    dse_arena_free(&scratch);
    return DSE_OK;
}
