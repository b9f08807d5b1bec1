/* Random models and strategies, through the generator; and what makes their ranks less alike. */
#include "cards/model.h"
#include "shortcuts/draw.h"
#include "strategy/order.h"
#include "support/wl_strategy.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const char *const draw_operators[DRAW_N_OPERATORS] = {"transformer", "gpt", "llama"};

#define ADD(c, ...) dse_strbuf_addf(&(c)->text, __VA_ARGS__)

/* A divisor of n, any with the same chance. */
static uint32_t draw_divisor(rng *r, uint32_t n)
{
    uint32_t divisors[64], count = 0;

    for (uint32_t d = 1; d <= n && count < 64; d++)
        if (n % d == 0)
            divisors[count++] = d;
    return divisors[rng_below(r, count)];
}

static wl_precision draw_precision(rng *r)
{
    static const double bytes[] = {0.5, 1, 2, 4, 8}, kept[] = {0, 4, 12};

    return (wl_precision){.weights = RNG_PICK(r, bytes),
                          .activations = RNG_PICK(r, bytes),
                          .gradients = RNG_PICK(r, bytes),
                          .optimizer = RNG_PICK(r, kept),
                          .messages = RNG_PICK(r, bytes)};
}

static wl_strategy draw_strategy(rng *r, uint32_t npus, uint32_t layers)
{
    wl_strategy s = WL_STRATEGY(.pp = 1, .tag_base = WL_TAG_BASE);
    uint32_t left = npus, *degree[] = {&s.dp, &s.tp, &s.sp}, first = rng_below(r, 3);

    if (rng_percent(r, 40))
        s.pp = draw_divisor(r, npus);
    if (s.pp > layers + 2)
        s.pp = 1;
    left /= s.pp;
    for (uint32_t i = 0; i < 3; i++) {
        *degree[(first + i) % 3] = i == 2 ? left : draw_divisor(r, left);
        left /= *degree[(first + i) % 3];
    }
    s.recompute = rng_percent(r, 50);
    s.weight_sharded = rng_percent(r, 30);
    if (rng_percent(r, 40))
        s.precision = draw_precision(r);
    s.placement = rng_percent(r, 50) ? rng_below(r, order_count(4)) : 0;
    /* Each stage has a layer; whether it also has ends is for the others to try. */
    if (s.pp <= layers && rng_percent(r, 40))
        s.stages = WL_STAGES_NEIGHBOURS;
    return s;
}

/* Small, so that sizes of messages are near latencies; now and then such as the degrees do not divide. */
static void draw_model(rng *r, const draw_limits *limits, card_model *m)
{
    static const int64_t widths[] = {8, 64, 96, 512, 1000, 8192}, batches[] = {1, 4, 16, 30, 512};
    static const int64_t sequences[] = {1, 16, 100, 1024}, heads[] = {1, 4, 8, 12};

    *m = (card_model){.vocabulary = rng_range(r, 1, 4000)};
    m->d_model = RNG_PICK(r, widths);
    m->heads = RNG_PICK(r, heads);
    m->layers = rng_range(r, limits->min_layers, limits->max_layers);
    m->batch = RNG_PICK(r, batches);
    m->sequence = RNG_PICK(r, sequences);
    m->d_ff = m->d_model * rng_range(r, 1, 5);
    m->kv_heads = rng_percent(r, 30) ? draw_divisor(r, (uint32_t)m->heads) : 0;
    if (!limits->full_size && rng_percent(r, 60)) /* most cases are small */
        m->layers = (m->layers + 1) / 2;
}

/* Some ranks, or one in so many, compute longer in some nodes: the others wait for them in their collectives. */
static void stagger(rng *r, wl_workload *w)
{
    uint32_t every = rng_range(r, 1, w->n_ranks), nodes = rng_range(r, 1, 5);

    for (uint32_t rank = rng_below(r, w->n_ranks); rank < w->n_ranks; rank += every) {
        const wl_graph *g = wl_rank_graph(w, rank);

        for (uint32_t i = 0; i < nodes; i++) {
            wl_node *n = &g->node[rng_below(r, g->n_nodes)];

            if (n->type == WL_NODE_COMP)
                n->num_ops += rng_below(r, 1000000);
        }
    }
}

/* A graph of its own for every rank: nodes may be changed by rank. */
static void unshare(wl_workload *w, dse_arena *a)
{
    wl_graph *graphs = DSE_ARENA_NEW(a, wl_graph, w->n_ranks);

    for (uint32_t rank = 0; rank < w->n_ranks; rank++) {
        const wl_graph *old = wl_rank_graph(w, rank);

        graphs[rank] = *old;
        graphs[rank].node = dse_arena_copy(a, old->node, old->n_nodes, sizeof *old->node);
        w->rank[rank].graph = rank;
    }
    w->graph = graphs;
    w->n_graphs = w->n_ranks;
}

dse_status draw_generated(rng *r, const draw_limits *limits, const cfg_doc operators[DRAW_N_OPERATORS],
                          dse_arena *a, drawn_case *c, dse_error *err)
{
    wl_strategy s;
    card_model m;
    wl_symbols symbols;
    bool unshared = rng_percent(r, 25);
    uint32_t file = rng_below(r, DRAW_N_OPERATORS);
    dse_status st;

    draw_model(r, limits, &m);
    s = draw_strategy(r, c->net.n_npus, (uint32_t)m.layers);
    ADD(c,
        "# generated, operators %s: vocabulary %" PRId64 ", d_model %" PRId64 ", d_ff %" PRId64
        ", heads %" PRId64 ", layers %" PRId64 ", batch %" PRId64 ", sequence %" PRId64 "\n# dp %" PRIu32
        ", tp %" PRIu32 ", sp %" PRIu32 ", pp %" PRIu32 ", placement %" PRIu32
        ", stages %s%s%s%s\n# bytes of weights %g, activations %g, gradients %g, optimizer %g, "
        "messages %g; 0: elements\n",
        draw_operators[file], m.vocabulary, m.d_model, m.d_ff, m.heads, m.layers, m.batch, m.sequence, s.dp,
        s.tp, s.sp, s.pp, s.placement, strategy_parameters[STRATEGY_stages].choices[s.stages], s.recompute ? ", recompute" : "",
        s.weight_sharded ? ", weights sharded" : "", unshared ? ", a graph per rank" : "",
        s.precision.weights, s.precision.activations, s.precision.gradients, s.precision.optimizer,
        s.precision.messages);
    if ((st = card_model_symbols(&m, &operators[file], &symbols, err)) != DSE_OK ||
        (st = wl_generate(&operators[file], &symbols, (uint32_t)m.layers, &s, a, &c->workload, err)) !=
            DSE_OK)
        return st;
    if (unshared)
        unshare(&c->workload, a);
    if (unshared && rng_percent(r, 50))
        stagger(r, &c->workload);
    return st;
}
