/* Explains a run whose events ran out before all ranks finished: which ranks, where they wait, and for what.
 * The reference ends such a run with exit code 0 and does not mention these ranks. */
#include "sim/engine.h"
#include "sim/figures.h"

#include <inttypes.h>
#include <string.h>

#define MAX_RANKS_DESCRIBED 2u
#define MAX_RANKS_SEARCHED  1024u /* for causes, each of which looks at its whole group */
#define MAX_RANKS_NAMED     34u   /* in all, the others as rank:node: as many as fit the message */

/* The size of the first dimension in which the collective runs an algorithm for powers of two on another
 * count; *name is the algorithm's. 0: there is none. */
static uint32_t unfit_dimension(const sim_engine *e, sim_collective coll, const char **name)
{
    for (uint32_t i = 0; i < e->logical[coll].n_dims; i++) {
        const sim_algorithm *a = e->logical[coll].dim[i].how.algorithm;
        uint32_t n = e->logical[coll].dim[i].n;

        if (a->power_of_two && (n & (n - 1))) {
            *name = a->name;
            return n;
        }
    }
    return 0;
}

/* The same of a group; NULL: of all ranks. */
static uint32_t unfit_size(const sim_engine *e, const wl_group *g, sim_collective coll, const char **name)
{
    const sim_algorithm *a;

    if (!g || g->n == e->net->n_npus)
        return unfit_dimension(e, coll, name);
    a = sim_group_implementation(e->set, coll)->algorithm;
    *name = a->name;
    return a->power_of_two && (g->n & (g->n - 1)) ? g->n : 0;
}

/* The node that holds up the rank: a collective or a send, of which it runs one at a time, before a receive,
 * which may have been posted long ago. *issued is false for a node that is ready but has not begun. DSE_NONE:
 * no node does. */
static uint32_t waiting_node(const sim_engine *e, uint32_t rank, bool *issued)
{
    const sim_rank *r = &e->rank[rank];
    const wl_graph *g = r->graph->graph;
    uint32_t found = DSE_NONE;

    *issued = true;
    for (uint32_t i = 0; i < r->n_issued; i++) {
        uint32_t node = r->issued[i];

        if (r->end[node] != DSE_TIME_NONE)
            continue;
        if (sim_unit_of(&g->node[node]) == SIM_UNIT_COMM)
            return node;
        found = found == DSE_NONE ? node : found;
    }
    if (found != DSE_NONE)
        return found;
    *issued = false;
    for (uint32_t i = 0; i < g->n_nodes; i++)
        if (r->start[g->by_id[i]] == DSE_TIME_NONE && !r->left[g->by_id[i]])
            return g->by_id[i];
    return DSE_NONE;
}

static bool is_same_collective(const sim_engine *e, uint32_t a, const wl_node *of_a, uint32_t b,
                               const wl_node *of_b)
{
    const uint32_t group_a = of_a->slot == DSE_NONE ? 0 : e->w->rank[a].group[of_a->slot];
    const uint32_t group_b = of_b->slot == DSE_NONE ? 0 : e->w->rank[b].group[of_b->slot];

    return group_a == group_b && of_a->coll == of_b->coll && of_a->comm_size == of_b->comm_size &&
           !strcmp(of_a->name, of_b->name);
}

static const wl_group *group_of(const sim_engine *e, uint32_t rank, const wl_node *n)
{
    return n->slot == DSE_NONE ? NULL : &e->w->group[e->w->rank[rank].group[n->slot]];
}

/* The first other member that is in another collective meanwhile, what a different order looks like, and its
 * node; DSE_NONE: there is none. */
static uint32_t find_other_order(const sim_engine *e, uint32_t rank, const wl_node *n, uint32_t *node)
{
    const wl_group *g = group_of(e, rank, n);

    for (uint32_t i = 0; i < (g ? g->n : e->w->n_ranks); i++) {
        const uint32_t other = g ? g->rank[i] : i;
        bool issued;
        const wl_node *of_other;

        *node = e->rank[other].finished ? DSE_NONE : waiting_node(e, other, &issued);
        of_other = *node == DSE_NONE ? NULL : &e->rank[other].graph->graph->node[*node];
        if (of_other && issued && of_other->type == WL_NODE_COLL &&
            !is_same_collective(e, rank, n, other, of_other))
            return other;
    }
    return DSE_NONE;
}

static void describe_other_order(const sim_engine *e, uint32_t rank, const wl_node *n, dse_strbuf *out)
{
    uint32_t node;
    const uint32_t other = find_other_order(e, rank, n, &node);
    const wl_node *of_other = other == DSE_NONE ? NULL : &e->rank[other].graph->graph->node[node];

    if (!of_other)
        return;
    dse_strbuf_addf(out, ": %s", sim_where(e, other, node).text);
    if (of_other->slot != DSE_NONE)
        dse_strbuf_addf(out, " of group '%s'", group_of(e, other, of_other)->name);
}

static void describe_collective(const sim_engine *e, uint32_t rank, const wl_node *n, dse_strbuf *out)
{
    const wl_group *g = group_of(e, rank, n);
    const char *name = NULL;
    sim_collective coll;
    uint32_t unfit = sim_collective_of(n->coll, &coll) ? unfit_size(e, g, coll, &name) : 0;

    dse_strbuf_addf(out, " (%s", wl_coll_type_name(n->coll));
    if (g)
        dse_strbuf_addf(out, " of %" PRIu32 " ranks%s%s%s", g->n, *g->name ? ", group '" : "", g->name,
                        *g->name ? "'" : "");
    if (e->rank[rank].custom.custom && e->rank[rank].coll_streams > 1)
        dse_strbuf_adds(out,
                        "; its algorithm, as Chakra files, is one chunk, and preferred-dataset-splits makes "
                        "the collective wait for more: give 1)");
    else if (unfit)
        dse_strbuf_addf(out, "; %s needs a power of two of ranks, not %" PRIu32 ")", name, unfit);
    else {
        dse_strbuf_adds(out, "; the others are not in it, or " SIM_OTHER_ORDER);
        describe_other_order(e, rank, n, out);
        dse_strbuf_addc(out, ')');
    }
}

static void describe_node(const sim_engine *e, uint32_t rank, uint32_t node, dse_strbuf *out)
{
    const wl_node *n = &e->rank[rank].graph->graph->node[node];

    dse_strbuf_adds(out, sim_where(e, rank, node).text);
    if (n->type == WL_NODE_RECV || n->type == WL_NODE_SEND) {
        const wl_p2p *p = &e->w->rank[rank].p2p[n->slot];

        dse_strbuf_addf(out,
                        n->type == WL_NODE_RECV ? " (a message of %" PRIu64 " bytes with tag %" PRIu32
                                                  " that rank %" PRIu32 " never sends)"
                                                : " (sends %" PRIu64 " bytes with tag %" PRIu32
                                                  " to rank %" PRIu32 ", which never receives them)",
                        n->comm_size, p->tag, p->peer);
    } else if (n->type == WL_NODE_COLL) {
        describe_collective(e, rank, n, out);
    }
}

/* In full, or as "rank:id". */
static void describe_rank(const sim_engine *e, uint32_t rank, bool full, dse_strbuf *out)
{
    bool issued;
    uint32_t node = waiting_node(e, rank, &issued);

    if (node == DSE_NONE)
        return;
    if (!full)
        dse_strbuf_addf(out, " %" PRIu32 ":%" PRIu64, rank, wl_node_id(e->w, rank, node));
    else if (issued)
        describe_node(e, rank, node, out);
    else
        dse_strbuf_addf(out, "%s (ready, but nothing wakes the rank: it follows a node that moves no data)",
                        sim_where(e, rank, node).text);
}

/* Whether the rank waits in a collective while another member is in another one: a cause, which holds up
 * others. */
static bool is_cause(const sim_engine *e, uint32_t rank)
{
    bool issued;
    const uint32_t node = e->rank[rank].finished ? DSE_NONE : waiting_node(e, rank, &issued);
    const wl_node *n = node == DSE_NONE ? NULL : &e->rank[rank].graph->graph->node[node];
    uint32_t other;

    return n && issued && n->type == WL_NODE_COLL && find_other_order(e, rank, n, &other) != DSE_NONE;
}

static bool is_listed(const uint32_t *list, uint32_t n, uint32_t rank)
{
    for (uint32_t i = 0; i < n; i++)
        if (list[i] == rank)
            return true;
    return false;
}

/* Ranks that never finish, causes first; at most `max`. Returns how many. */
static uint32_t list_ranks(const sim_engine *e, uint32_t max, uint32_t *out)
{
    const uint32_t searched = e->w->n_ranks < MAX_RANKS_SEARCHED ? e->w->n_ranks : MAX_RANKS_SEARCHED;
    uint32_t n = 0, n_causes;

    for (uint32_t r = 0; r < searched && n < MAX_RANKS_DESCRIBED; r++)
        if (is_cause(e, r))
            out[n++] = r;
    n_causes = n;
    for (uint32_t r = 0; r < e->w->n_ranks && n < max; r++)
        if (!e->rank[r].finished && !is_listed(out, n_causes, r))
            out[n++] = r;
    return n;
}

dse_status sim_deadlock(sim_engine *e)
{
    uint32_t rank[MAX_RANKS_NAMED], named = list_ranks(e, MAX_RANKS_NAMED, rank);
    const uint32_t left = e->w->n_ranks - e->n_finished;
    dse_strbuf text;
    dse_status st;

    dse_strbuf_init(&text);
    for (uint32_t i = 0; i < named; i++) {
        if (i == MAX_RANKS_DESCRIBED)
            dse_strbuf_adds(&text, "; and, as rank:node,");
        else if (i && i < MAX_RANKS_DESCRIBED)
            dse_strbuf_adds(&text, "; ");
        describe_rank(e, rank[i], i < MAX_RANKS_DESCRIBED, &text);
    }
    st =
        dse_fail(e->err, DSE_E_SIM,
                 "deadlock at tick %" PRIu64 ": %" PRIu32 " of %" PRIu32 " ranks never finish; waiting: %s%s",
                 e->now, left, e->w->n_ranks, text.data, left > named ? " ..." : "");
    dse_strbuf_free(&text);
    return st;
}
