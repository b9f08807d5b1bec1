/* Communicator groups and traces, on the network they are for: what runs otherwise than one would think. */
#include "base/array.h"
#include "lint/parts.h"
#include "workload/chakra.h"
#include "workload/stage_main.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the group file ------------------------------------------------------------------------ */

bool lint_is_group_file(const cfg_doc *doc)
{
    if (doc->root->kind != CFG_MAP)
        return false;
    for (uint32_t i = 0; i < doc->root->n; i++) {
        const cfg_node *list = doc->root->item[i];

        if (list->kind != CFG_LIST)
            return false;
        for (uint32_t k = 0; k < list->n; k++)
            if (list->item[k]->kind != CFG_SCALAR || list->item[k]->quoted ||
                strspn(list->item[k]->text, "0123456789") != strlen(list->item[k]->text))
                return false;
    }
    return doc->root->n > 0;
}

/* How groups smaller than the system run. */
static const char *small_groups(const lint *l)
{
    return lint_version(&l->values)->groups_by_algorithm
               ? "run the algorithm of a list of one name, or else flat rings"
               : "run as flat rings";
}

static const char *group_meaning(const lint *l, uint32_t n, uint32_t n_npus)
{
    if (n == 1)
        return "a group of one: a collective in it never ends, and is refused";
    if (!n_npus)
        return "a communicator group, in the order of its ring";
    if (n < n_npus && lint_version(&l->values)->groups_by_algorithm)
        return "in this order the algorithm of a list of one name, or else a flat ring";
    return n < n_npus ? "a flat ring in this order, whatever the implementations say"
                      : "all NPUs: the implementations, dimension by dimension";
}

static int compare_ranks(const void *a, const void *b)
{
    const cfg_node *x = *(const cfg_node *const *)a, *y = *(const cfg_node *const *)b;
    size_t n = strlen(x->text), m = strlen(y->text);

    return n != m ? (n < m ? -1 : 1) : strcmp(x->text, y->text); /* digits alone */
}

static void check_twice(lint *l, const cfg_doc *doc, const cfg_node *key, const cfg_node *list)
{
    const cfg_node **sorted = dse_arena_copy(l->arena, list->item, list->n, sizeof *sorted);

    if (list->n)
        qsort(sorted, list->n, sizeof *sorted, compare_ranks);
    for (uint32_t k = 1; k < list->n; k++) {
        if (compare_ranks(&sorted[k - 1], &sorted[k]) != 0)
            continue;
        lint_add(l, LINT_ERROR, cfg_at(doc, sorted[k]).text, key->text, "the group names rank %s twice",
                 sorted[k]->text);
        return;
    }
}

static void check_ranks(lint *l, const cfg_doc *doc, const cfg_node *key, const cfg_node *list,
                        uint32_t n_npus)
{
    if (!list->n)
        lint_add(l, LINT_ERROR, cfg_at(doc, list).text, key->text,
                 "a group is a list of ranks, and this is empty");
    check_twice(l, doc, key, list);
    for (uint32_t k = 0; n_npus && k < list->n; k++) {
        dse_error why = DSE_ERROR_INIT;
        int64_t rank;

        if (cfg_int(doc, list->item[k], "a rank", 0, (int64_t)n_npus - 1, &rank, &why) != DSE_OK) {
            lint_add_error(l, key->text, "", &why);
            return; /* of a group for another system all are */
        }
    }
}

void lint_groups(lint *l, const cfg_doc *doc)
{
    uint32_t n_npus = l->n_networks == 1 ? l->net.n_npus : 0, n_small = 0, n_lonely = 0;

    for (uint32_t i = 0; i < doc->root->n; i++) {
        const cfg_node *key = doc->root->key[i], *list = doc->root->item[i];

        n_lonely += list->n == 1;
        n_small += list->n > 1 && list->n < n_npus;
        lint_add_key(l, key->text, key, list, "ranks", group_meaning(l, list->n, n_npus),
                     list->n < 2 ? LINT_REFUSED : LINT_USED);
        check_ranks(l, doc, key, list, n_npus);
    }
    if (n_small)
        lint_add(l, LINT_NOTE, doc->path, "",
                 "%" PRIu32 " of %" PRIu32 " groups are smaller than the %" PRIu32 " NPUs and %s", n_small,
                 doc->root->n, n_npus, small_groups(l));
    if (n_lonely) /* STAGE writes them and uses none */
        lint_add(l, LINT_NOTE, doc->path, "",
                 "%" PRIu32 " of %" PRIu32
                 " groups have one rank: a collective in one never ends, and is refused",
                 n_lonely, doc->root->n);
}

/* ---- counting ------------------------------------------------------------------------------ */

/* By sim_collective, which have implementations; the last is replayed from the trace. */
static const wl_coll_type types[] = {[SIM_ALL_REDUCE] = WL_ALL_REDUCE,
                                     [SIM_ALL_GATHER] = WL_ALL_GATHER,
                                     [SIM_REDUCE_SCATTER] = WL_REDUCE_SCATTER,
                                     [SIM_ALL_TO_ALL] = WL_ALL_TO_ALL,
                                     [SIM_N_COLLECTIVES] = WL_BROADCAST};
#define N_TYPES DSE_COUNT(types)

typedef struct {
    uint64_t all[N_TYPES], small[N_TYPES]; /* nodes, over all ranks: in groups of all NPUs, of fewer */
    uint64_t lonely;                       /* in groups of one */
    uint64_t starved;                      /* all-gathers of fewer bytes than chunks: they never end */
    uint64_t sends, crossing;     /* sends, and those between NPUs that differ in several dimensions */
    uint64_t hops, crossing_hops; /* the same of the steps of the rings that smaller groups are */
    uint64_t compute, timeless;   /* compute nodes, and those without a duration */
} counts;

static size_t type_index(uint8_t coll)
{
    for (size_t i = 0; i < N_TYPES; i++)
        if (types[i] == coll)
            return i;
    return N_TYPES;
}

static void count_collective(const lint *l, const wl_node *n, const wl_group *g, counts *c)
{
    size_t type = type_index(n->coll);
    bool small = g && g->n < l->net.n_npus;

    if (type == N_TYPES)
        return;
    *(small ? &c->small[type] : &c->all[type]) += 1;
    c->lonely += g && g->n == 1;
    c->starved += n->coll == WL_ALL_GATHER && n->comm_size < (uint64_t)l->values.splits;
}

static void count_rank(const lint *l, const wl_workload *w, uint32_t rank, counts *c)
{
    const wl_graph *g = wl_rank_graph(w, rank);
    const wl_rank *r = &w->rank[rank];

    for (uint32_t i = 0; i < g->n_nodes; i++) {
        const wl_node *n = &g->node[i];

        if (n->type == WL_NODE_COLL)
            count_collective(l, n, n->slot == DSE_NONE ? NULL : &w->group[r->group[n->slot]], c);
        if (n->type == WL_NODE_SEND) {
            c->sends++;
            c->crossing += net_differ_in_several(&l->net, rank, r->p2p[n->slot].peer);
        }
        if (n->type == WL_NODE_COMP) {
            c->compute++;
            c->timeless += !n->duration_us;
        }
    }
}

static void count_rings(const lint *l, const wl_workload *w, counts *c)
{
    for (uint32_t i = 1; i < w->n_groups; i++) {
        const wl_group *g = &w->group[i];

        for (uint32_t k = 0; g->n > 1 && g->n < l->net.n_npus && k < g->n; k++) {
            c->hops++;
            c->crossing_hops += net_differ_in_several(&l->net, g->rank[k], g->rank[(k + 1) % g->n]);
        }
    }
}

/* ---- findings ------------------------------------------------------------------------------ */

/* The key that says how this type runs, as the system's file calls it. */
static const char *given_name(const lint *l, const char *parameter)
{
    const cfg_param *p = cfg_param_find(&card_system_table, parameter);

    if (l->names_of_astra)
        return p->astra_key;
    return cfg_is_given(&card_system_table, &l->values, parameter) ? p->key : "collectives.all";
}

static void report_collectives(lint *l, const char *prefix, const counts *c)
{
    for (size_t i = 0; i < N_TYPES; i++) {
        const char *name = wl_coll_type_name(types[i]);
        bool is_listed;

        if (!c->all[i] && !c->small[i])
            continue;
        lint_add(l, LINT_NOTE, prefix, "",
                 "%" PRIu64 " nodes %s over all %" PRIu32 " NPUs, %" PRIu64 " in smaller groups, which %s",
                 c->all[i], name, l->net.n_npus, c->small[i],
                 lint_version(&l->values)->groups_by_algorithm ? small_groups(l) : "are flat rings");
        if (i == SIM_N_COLLECTIVES)
            continue;
        is_listed = l->values.collective[i].n > 0;
        if (c->all[i] && !is_listed)
            lint_add(l, LINT_WARNING, l->net_path, given_name(l, card_collective_keys[i]),
                     "no implementation, but the workload has an %s over all NPUs, which cannot run; add one",
                     name);
        else if (!c->all[i] && is_listed &&
                 !(lint_version(&l->values)->groups_by_algorithm && l->values.collective[i].n == 1))
            lint_add(l, LINT_WARNING, l->net_path, given_name(l, card_collective_keys[i]),
                     "without effect on this workload's %s, none of which is over all %" PRIu32
                     " NPUs: smaller groups are flat rings",
                     name, l->net.n_npus);
    }
}

/* How a message between NPUs that differ in several dimensions is simulated. */
static const char *fate_of_crossing(const net_network *net)
{
    if (net->congestion)
        return "between NPUs that differ in several dimensions, and take links of each";
    return net->full_multi_hop
               ? "between NPUs that differ in several dimensions, and pay for each"
               : "between NPUs that differ in several dimensions, and pay for the lowest of them alone";
}

static void report_counts(lint *l, const char *prefix, const counts *c)
{
    const char *fate = fate_of_crossing(&l->net);

    report_collectives(l, prefix, c);
    if (c->lonely)
        lint_add(l, LINT_WARNING, prefix, "",
                 "collective nodes in groups of one rank, which never end: %" PRIu64 "; leave them out",
                 c->lonely);
    if (c->starved)
        lint_add(l, LINT_WARNING, prefix, "",
                 "nodes ALL_GATHER of fewer bytes than preferred-dataset-splits (%" PRId64
                 "), which never end: %" PRIu64 "; split less",
                 l->values.splits, c->starved);
    if (c->sends)
        lint_add(l, LINT_NOTE, prefix, "", "%" PRIu64 " of %" PRIu64 " sends are %s", c->crossing, c->sends,
                 fate);
    if (c->hops)
        lint_add(l, LINT_NOTE, prefix, "", "%" PRIu64 " of %" PRIu64 " steps of the groups' rings are %s",
                 c->crossing_hops, c->hops, fate);
    if (c->timeless && (l->values.replay_only || !l->values.roofline_enabled))
        lint_add(l, LINT_WARNING, prefix, "",
                 "%" PRIu64 " of %" PRIu64
                 " compute nodes have no duration and last 1 ns; switch the roofline on",
                 c->timeless, c->compute);
}

void lint_workload(lint *l, const char *prefix, const char *groups)
{
    wl_reading how = {.numbered_groups = lint_version(&l->values)->numbered_groups, .drop_absent = true};
    dse_error why = DSE_ERROR_INIT;
    wl_workload w;
    counts c = {0};

    if (wl_chakra_read(prefix, groups, l->net.n_npus, &how, l->arena, &w, &why) != DSE_OK) {
        lint_add_failure(l, prefix, &why);
        return;
    }
    if (how.n_dropped)
        lint_add(l, LINT_WARNING, how.dropped_path, "",
                 "%" PRIu64
                 " dependencies on nodes that their files lack, of which the first is that of node "
                 "%" PRIu64 " on node %" PRIu64
                 ": ASTRA-sim ends with an exception; 'ccldse astrasim' drops them with a warning",
                 how.n_dropped, how.dropped_node, how.dropped_on);
    for (uint32_t r = 0; r < w.n_ranks; r++)
        count_rank(l, &w, r, &c);
    count_rings(l, &w, &c);
    report_counts(l, prefix, &c);
    for (const char *const *flaw = wl_stage_main_flaws(&w, l->arena); *flaw; flaw++)
        lint_add(l, LINT_WARNING, prefix, "",
                 "STAGE's branch main has this wrong, and profile train right: %s", *flaw);
}
