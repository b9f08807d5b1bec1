/* Nodes of STAGE's main branch: a computation for each tensor, the collectives of its operands, messages
 * between stages; then the computations without operations leave the graph.
 *
 * Source: convert_chakra.py and coll_comm_matcher.py (CommunicationMatcherV2). Ids count up through all
 * stages; ids of computations that leave stay unused, and sends and receives come after all others, in
 * pairs. */
#include "workload/stage_main_parts.h"

#include <string.h>

static inline const sm_kind *kind_of(const sm_step *s, uint32_t tensor)
{
    return &s->t->kind[s->tensor[tensor].kind];
}

/* ---- collectives ----------------------------------------------------------------------------- */

typedef enum { DUPLICATED, PARTITIONED, PARTIAL } spread;

/* How a tensor lies along an axis, and the dimension that says so. */
static spread spread_along(uint32_t axis, const wl_shape *shape, const wl_shape *hidden, wl_dim *dim)
{
    const int symbol = SM_AXES + (int)axis;
    const wl_shape *all[] = {shape, hidden};

    for (int part = 0; part < 2; part++)
        for (uint32_t i = 0; i < all[part]->n; i++)
            if (wl_dim_has(&all[part]->dim[i], symbol)) {
                *dim = all[part]->dim[i];
                for (int other = 0; other < SM_N_AXES; other++)
                    if (SM_AXES + other != symbol)
                        dim->power[SM_AXES + other] = 0;
                return part ? PARTIAL : PARTITIONED;
            }
    return DUPLICATED;
}

/* What turns `from` into an operand of this shape. A duplicated tensor is cut without a collective. */
static dse_status match(const sm_template *t, const sm_kind *from, const sm_shape *shape,
                        const wl_shape *hidden, sm_met *out, dse_error *err)
{
    out->n = 0;
    for (uint32_t axis = 0; axis < t->n_axes; axis++) {
        wl_dim have = {{0}}, need = {{0}};
        spread was, is;
        uint8_t coll;

        if (t->degree[axis] == 1)
            continue;
        was = spread_along(axis, &from->y.shape, &from->hidden, &have);
        is = spread_along(axis, &shape->shape, hidden, &need);
        if (is == PARTIAL && was != PARTIAL)
            return dse_fail(err, DSE_E_CONFIG,
                            "'%s' is taken as partial sums, and is none; STAGE fails by an assertion",
                            from->name);
        if (was == is && (was != PARTITIONED || wl_dim_equal(&have, &need)))
            continue;
        if (was == DUPLICATED)
            continue;
        if (was == PARTITIONED)
            coll = is == PARTITIONED ? WL_ALL_TO_ALL : WL_ALL_GATHER;
        else
            coll = is == PARTITIONED ? WL_REDUCE_SCATTER : WL_ALL_REDUCE;
        out->match[out->n++] = (sm_match){coll, (uint8_t)axis};
    }
    return DSE_OK;
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static uint32_t add_node(sm_nodes *g, uint32_t tensor, wl_role role)
{
    DSE_ARENA_GROW(g->arena, g->node, g->cap, g->n + 1);
    g->node[g->n] =
        (sm_node){.tensor = tensor, .role = (uint8_t)role, .id = (uint32_t)g->n + 1, .next = DSE_NONE};
    return (uint32_t)g->n++;
}

static void add_dep(sm_nodes *g, uint32_t node, uint32_t dep)
{
    sm_deps *d = &g->node[node].deps;

    if (d->n == d->cap) {
        const uint32_t cap = d->cap ? 2 * d->cap : 4, first = (uint32_t)g->n_dep;

        DSE_ARENA_GROW(g->arena, g->dep, g->cap_dep, g->n_dep + cap);
        memcpy(g->dep + first, g->dep + d->first, d->n * sizeof *g->dep);
        g->n_dep += cap;
        d->first = first;
        d->cap = cap;
    }
    g->dep[d->first + d->n++] = dep;
}

/* The collectives of an operand, one after the other. */
static dse_status add_collectives(sm_nodes *g, uint32_t tensor, int operand, uint32_t *first, uint32_t *n,
                                  dse_error *err)
{
    sm_step *s = g->step;
    const sm_tensor *t = &s->tensor[tensor];
    const uint32_t x = operand ? t->x2 : t->x1;
    sm_kind *k = &s->t->kind[t->kind];
    sm_met *met = &k->met[operand];
    dse_status st;

    *n = 0;
    *first = (uint32_t)g->n;
    if (x == DSE_NONE || t->is_shadow)
        return DSE_OK;
    if (met->from != s->tensor[x].kind) {
        if ((st = match(s->t, kind_of(s, x), operand ? &k->x2_shape : &k->x1_shape,
                        operand ? &k->x2_hidden : &k->x1_hidden, met, err)) != DSE_OK)
            return st;
        met->from = s->tensor[x].kind;
    }
    for (uint32_t i = 0; i < met->n; i++) {
        const uint32_t node = add_node(g, tensor, operand ? WL_ROLE_X2_COLL : WL_ROLE_X1_COLL);

        g->node[node].coll = met->match[i].coll;
        g->node[node].axis = met->match[i].axis;
        g->node[node].comm_size = kind_of(s, x)->elements;
        if (i)
            add_dep(g, node, node - 1);
    }
    *n = met->n;
    return DSE_OK;
}

static dse_status add_nodes(sm_nodes *g, uint32_t tensor, dse_error *err)
{
    sm_nodes_of *of = &g->of[tensor];
    dse_status st;

    *of = (sm_nodes_of){.recv = DSE_NONE, .first_send = DSE_NONE, .last_send = DSE_NONE};
    of->comp = add_node(g, tensor, WL_ROLE_COMPUTE);
    if ((st = add_collectives(g, tensor, 0, &of->first_x1, &of->n_x1, err)) != DSE_OK ||
        (st = add_collectives(g, tensor, 1, &of->first_x2, &of->n_x2, err)) != DSE_OK)
        return st;
    if (of->n_x1)
        add_dep(g, of->comp, of->first_x1 + of->n_x1 - 1);
    if (of->n_x2)
        add_dep(g, of->comp, of->first_x2 + of->n_x2 - 1);
    return DSE_OK;
}

/* The node that others wait for. */
static uint32_t output_of(const sm_nodes *g, uint32_t tensor)
{
    return g->of[tensor].recv != DSE_NONE ? g->of[tensor].recv : g->of[tensor].comp;
}

static void add_message(sm_nodes *g, uint32_t shadow)
{
    const uint32_t from = g->step->tensor[shadow].shadow_of;
    const uint32_t send = add_node(g, from, WL_ROLE_SEND), recv = add_node(g, shadow, WL_ROLE_RECV);

    add_dep(g, send, g->of[from].comp);
    g->node[send].comm_size = g->node[recv].comm_size = kind_of(g->step, shadow)->elements;
    if (g->of[from].first_send == DSE_NONE)
        g->of[from].first_send = send;
    else
        g->node[g->of[from].last_send].next = send;
    g->of[from].last_send = send;
    g->of[shadow].recv = recv;
    DSE_ARENA_GROW(g->arena, g->link, g->cap_links, g->n_links + 1);
    g->link[g->n_links++] = (sm_link){from, shadow, send, recv};
}

static void connect(sm_nodes *g, uint32_t tensor)
{
    const sm_tensor *t = &g->step->tensor[tensor];
    const sm_nodes_of *of = &g->of[tensor];

    if (t->x1 != DSE_NONE)
        add_dep(g, of->n_x1 ? of->first_x1 : of->comp, output_of(g, t->x1));
    if (t->x2 != DSE_NONE)
        add_dep(g, of->n_x2 ? of->first_x2 : of->comp, output_of(g, t->x2));
    for (uint32_t i = 0; i < t->n_deps; i++)
        add_dep(g, of->comp, output_of(g, t->deps[i]));
}

/* ---- computations without operations --------------------------------------------------------- */

static bool is_empty(const sm_nodes *g, uint32_t node)
{
    const sm_node *n = &g->node[node];

    return n->role == WL_ROLE_COMPUTE &&
           (g->step->tensor[n->tensor].is_shadow || !(kind_of(g->step, n->tensor)->operations > 0));
}

static bool waits_for_empty(const sm_nodes *g, uint32_t node)
{
    const sm_deps *d = &g->node[node].deps;

    for (uint32_t i = 0; i < d->n; i++)
        if (is_empty(g, g->dep[d->first + i]))
            return true;
    return false;
}

/* In place of its first mention, the dependencies of the node go to the end of the child's list. */
static void pass_on(sm_nodes *g, uint32_t node, uint32_t child)
{
    const uint32_t n = g->node[node].deps.n;
    sm_deps *d = &g->node[child].deps;
    uint32_t *at = g->dep + d->first, i = 0;

    while (at[i] != node)
        i++;
    memmove(at + i, at + i + 1, (d->n - i - 1) * sizeof *at);
    d->n--;
    for (i = 0; i < n; i++)
        add_dep(g, child, g->dep[g->node[node].deps.first + i]);
}

/* As STAGE does it, since the order of dependencies shows: in rounds, each in the order of the file, of the
 * nodes that wait for no other empty one. A child may be there twice. */
static void remove_empty(sm_nodes *g, const uint32_t *order, uint32_t n)
{
    uint32_t *left = DSE_ARENA_RAW(g->arena, uint32_t, n), n_left = 0;
    uint32_t *start = DSE_ARENA_RAW(g->arena, uint32_t, g->n + 1), *child = NULL;
    size_t cap = 0;

    for (uint32_t i = 0; i < n; i++)
        if (is_empty(g, order[i]))
            left[n_left++] = order[i];
    while (n_left) {
        uint32_t total = 0, kept = 0;

        /* children of each, as they are at the beginning of the round: in the order of the file */
        memset(start, 0, (g->n + 1) * sizeof *start);
        for (uint32_t i = 0; i < n; i++)
            for (uint32_t k = 0; !g->node[order[i]].is_gone && k < g->node[order[i]].deps.n; k++, total++)
                start[g->dep[g->node[order[i]].deps.first + k] + 1]++;
        for (size_t i = 0; i < g->n; i++)
            start[i + 1] += start[i];
        DSE_ARENA_GROW(g->arena, child, cap, total);
        for (uint32_t i = n; i-- > 0;)
            for (uint32_t k = g->node[order[i]].is_gone ? 0 : g->node[order[i]].deps.n; k-- > 0;)
                child[--start[g->dep[g->node[order[i]].deps.first + k] + 1]] = order[i];
        for (uint32_t i = 0; i < n_left; i++) {
            const uint32_t node = left[i];

            if (waits_for_empty(g, node)) {
                left[kept++] = node;
                continue;
            }
            g->node[node].is_gone = true;
            for (uint32_t k = start[node + 1]; k < (node + 2 <= g->n ? start[node + 2] : total); k++)
                pass_on(g, node, child[k]);
        }
        n_left = kept;
    }
}

/* ---- merged collectives ---------------------------------------------------------------------- */

static bool waits_for(const sm_nodes *g, uint32_t node, uint32_t dep)
{
    const sm_deps *d = &g->node[node].deps;

    for (uint32_t i = 0; i < d->n; i++)
        if (g->dep[d->first + i] == dep)
            return true;
    return false;
}

bool sm_nodes_merge(sm_nodes *g, const uint32_t *order, uint32_t n, bool *left_out)
{
    bool any = false;

    for (uint32_t i = 0; i < n; i++) { /* each dependency once, where it is first */
        sm_deps *d = &g->node[order[i]].deps;
        const uint32_t all = d->n;

        left_out[order[i]] = false;
        d->n = 0;
        for (uint32_t k = 0; k < all; k++)
            if (!waits_for(g, order[i], g->dep[d->first + k]))
                g->dep[d->first + d->n++] = g->dep[d->first + k];
    }
    for (uint32_t i = 0; i < n; i++) {
        const sm_node *node = &g->node[order[i]];
        const bool is_coll = node->role == WL_ROLE_X1_COLL || node->role == WL_ROLE_X2_COLL;

        for (uint32_t k = 0, own = node->deps.n; is_coll && k < own; k++) {
            const uint32_t taken = g->dep[node->deps.first + k];

            if ((g->node[taken].role != WL_ROLE_X1_COLL && g->node[taken].role != WL_ROLE_X2_COLL) ||
                g->node[taken].coll != node->coll)
                continue;
            any = left_out[taken] = true;
            for (uint32_t j = 0; j < g->node[taken].deps.n; j++)
                if (!waits_for(g, order[i], g->dep[g->node[taken].deps.first + j]))
                    add_dep(g, order[i], g->dep[g->node[taken].deps.first + j]);
        }
    }
    for (uint32_t i = 0; i < n; i++) { /* what is left out keeps what it waited for, for the next file */
        sm_deps *d = &g->node[order[i]].deps;
        const uint32_t all = d->n;

        if (left_out[order[i]])
            continue;
        d->n = 0;
        for (uint32_t k = 0; k < all; k++)
            if (!left_out[g->dep[d->first + k]])
                g->dep[d->first + d->n++] = g->dep[d->first + k];
    }
    return any;
}

/* ---- all ------------------------------------------------------------------------------------- */

uint32_t sm_nodes_in_order(const sm_nodes *g, uint32_t stage, uint32_t *out)
{
    const sm_step *s = g->step;
    uint32_t n = 0;

    for (uint32_t i = s->start[stage]; i < s->start[stage + 1]; i++) {
        const sm_nodes_of *of = &g->of[s->of_stage[i]];

        if (!g->node[of->comp].is_gone)
            out[n++] = of->comp;
        for (uint32_t k = 0; k < of->n_x1; k++)
            out[n++] = of->first_x1 + k;
        for (uint32_t k = 0; k < of->n_x2; k++)
            out[n++] = of->first_x2 + k;
        for (uint32_t k = of->first_send; k != DSE_NONE; k = g->node[k].next)
            out[n++] = k;
        if (of->recv != DSE_NONE)
            out[n++] = of->recv;
    }
    return n;
}

dse_status sm_nodes_build(sm_step *s, dse_arena *a, sm_nodes *out, dse_error *err)
{
    sm_nodes *g = out;
    uint32_t *order;
    dse_status st;

    *g = (sm_nodes){.step = s, .arena = a};
    g->of = DSE_ARENA_RAW(a, sm_nodes_of, s->n);
    for (uint32_t i = 0; i < s->start[s->n_stages]; i++)
        if ((st = add_nodes(g, s->of_stage[i], err)) != DSE_OK)
            return st;
    for (uint32_t i = 0; i < s->start[s->n_stages]; i++)
        if (s->tensor[s->of_stage[i]].is_shadow)
            add_message(g, s->of_stage[i]);
    order = DSE_ARENA_RAW(a, uint32_t, g->n);
    for (uint32_t i = 0; i < s->start[s->n_stages]; i++)
        connect(g, s->of_stage[i]);
    for (uint32_t stage = 0; stage < s->n_stages; stage++)
        remove_empty(g, order, sm_nodes_in_order(g, stage, order));
    return DSE_OK;
}
