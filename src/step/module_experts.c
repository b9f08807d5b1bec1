/* A mixture of experts: a router, the exchange that brings tokens to the ranks of their experts and back, and
 * the experts' matrices, each a product for each expert in one kernel (grouped GEMM).
 *
 * Megatron-LM, transformer/moe: router.py, token_dispatcher.py, experts.py. E experts of which a token takes
 * k; a rank routes N tokens, its experts compute R:
 *
 *              all-to-all                          all-gather                  deepep
 *   dispatch   all-gather of the counts of E       all-gathers of the map of   all-to-all between nodes, a
 *              experts over ep x etp (the host     N E, of N E probabilities   token once a node; then
 *              waits), all-to-alls of tokens and   and of N tokens over ep x   within the node
 *              probabilities over ep, all-gathers  etp
 *              of both over etp
 *   combine    reduce-scatter over etp,            reduce-scatter over         the same the other way round
 *              all-to-all over ep                  ep x etp
 *
 * backward each is the mirror image, probabilities before tokens. With a limit whose buffers are padded all
 * sizes are known, and no counts are exchanged. Before and after, tokens are put into the order of the
 * experts: a kernel that reads and writes them (moe_utils.py, permute, unpermute; sort_chunks_by_idxs where a
 * rank has several experts).
 *
 * DeepEP (deepseek-ai/DeepEP; DeepSeek-V3 report, section 3.2.2): a token goes to each node at most once, to
 * the rank with its sender's place there, which hands it on within the node, once to each rank that has
 * experts of it (deep_ep/buffer.py: is_token_in_rank): the copies for several experts of a rank are made
 * there, and added up there before they are sent back. Of E experts on D nodes, or ranks, drawn without
 * regard to these k lie on D (1 - C(E - E/D, k) / C(E, k)) of them; a router with groups draws from its best
 * groups, and reaches no more than the places that hold them. Both ways are exchanged one after the other
 * here, where its kernel overlaps them in part. DeepSeek's own program dispatches tokens in 8 bits with a
 * scale for each 128 features where the layer's matrices are multiplied with scales of blocks
 * (step_low.is_dispatched), Megatron-LM in the activations' type (moe/fused_a2a.py); both combine in that. */
#include "step/module.h"

#include <math.h>

static uint64_t divided(uint64_t n, uint64_t by) { return (n + by - 1) / by; }

/* Experts of a rank. */
static uint64_t experts_here(const step_module *m, const step_options *o)
{
    return divided(m->n_experts, step_ep(o));
}

/* What comes to the most loaded rank, for each token of the mean one. One rank alone has all; and none can
 * have more than all. Ranks have experts that stand beside each other. */
static double most_of(const step_module *m, const step_options *o)
{
    const uint64_t here = experts_here(m, o);
    double most = o->imbalance > 1 ? o->imbalance : 1;

    for (uint64_t rank = 0; m->share && rank < step_ep(o); rank++) {
        double sum = 0;

        for (uint64_t i = rank * here; i < (rank + 1) * here && i < m->n_experts; i++)
            sum += m->share[i];
        most = rank && most > sum * step_ep(o) ? most : sum * step_ep(o);
    }
    return most < step_ep(o) ? most : step_ep(o);
}

step_routed step_routed_of(const step_module *m, const step_shape *s)
{
    const step_options *o = s->options;
    const uint64_t even = s->split_tokens * m->top_k;
    const uint64_t limit = m->n_experts * divided(even * o->capacity_percent, 100 * m->n_experts);
    step_routed r = {.tokens = s->split_tokens, .sent = even};
    uint64_t rows;

    r.received = (uint64_t)ceil((double)even * most_of(m, o));
    if (o->capacity == STEP_CAPACITY_PAD) {
        r.sent = r.received = limit;
    } else if (o->capacity == STEP_CAPACITY_DROP) {
        r.sent = r.sent < limit ? r.sent : limit;
        r.received = r.received < limit ? r.received : limit;
    }
    r.computed = r.received * step_etp(o);
    rows = experts_here(m, o) * divided(r.computed, experts_here(m, o));
    r.mean = (double)(even * step_etp(o)) / (double)rows;
    return r;
}

static double element_bytes(const step_builder *b) { return b->shape->options->activation_bytes; }

static void copy(step_builder *b, double elements)
{
    step_add_elementwise(b, WL_KERNEL_ELEMENTWISE, (uint64_t)elements, 0, element_bytes(b));
}

/* ---- router ------------------------------------------------------------------------------------ */

/* Without a number of tokens that each takes it is the gate of an expert that all tokens take. */
static uint32_t router_parameters(const step_module *m, step_parameter out[STEP_MAX_PARAMETERS])
{
    out[0] = (step_parameter){.rows = m->out[0], .columns = m->in};
    out[1] = (step_parameter){.rows = m->out[0], .columns = 1};
    return m->has_bias ? 2 : 1;
}

/* Scores and the choice of experts: read, written in 32 bits, and a map. */
#define ROUTER_BYTES 5

static void choose(step_builder *b, const step_module *m)
{
    step_add_elementwise(b, WL_KERNEL_ELEMENTWISE, b->shape->split_tokens * m->out[0], 8,
                         element_bytes(b) + ROUTER_BYTES);
}

static void route(step_builder *b, const step_module *m)
{
    step_add_product(b, b->shape->split_tokens, m->out[0], m->in);
    choose(b, m);
}

static void route_backward(step_builder *b, const step_module *m)
{
    const uint64_t n = b->shape->split_tokens;

    if (b->parts & STEP_PART_INPUT) {
        choose(b, m);
        step_add_product(b, n, m->in, m->out[0]);
    }
    if (b->parts & STEP_PART_WEIGHT) {
        step_add_product(b, m->out[0], m->in, n);
        step_add_gradient(b, m->out[0] * m->in);
    }
}

static void keep_scores(step_keeper *k, const step_module *m)
{
    step_keep_input(k, m->in, STEP_KEPT_HIDDEN);
    step_keep_bytes(k, ROUTER_BYTES * (double)(k->shape->split_tokens * m->out[0]));
}

static void defer_scores(step_keeper *k, const step_module *m)
{
    step_keep_input(k, m->in, STEP_KEPT_HIDDEN);
    step_keep_input(k, m->out[0], STEP_KEPT_HIDDEN);
}

const step_module_kind step_module_router = {.name = "router",
                                             .parameters = router_parameters,
                                             .forward = route,
                                             .backward = route_backward,
                                             .keep = keep_scores,
                                             .defer = defer_scores};

/* ---- dispatch and combine ---------------------------------------------------------------------- */

static step_collective exchange(uint32_t type, step_group group, uint64_t in, uint64_t out,
                                double bytes_of_element)
{
    return step_collective_of(type, group, in, out, bytes_of_element);
}

/* Elements whose number routing decides, at the end named. */
static void send_routed(step_builder *b, uint32_t type, step_group group, uint64_t in, uint64_t out,
                        bool in_is_routed, bool out_is_routed)
{
    const step_options *o = b->shape->options;
    const bool is_fixed = o->capacity == STEP_CAPACITY_PAD || step_ep(o) == 1;
    step_collective c = exchange(type, group, in, out, element_bytes(b));

    c.in_is_routed = in_is_routed && !is_fixed;
    c.out_is_routed = out_is_routed && !is_fixed;
    step_add_collective(b, &c, true);
}

/* So many elements of each token to the experts' ranks. */
static void scatter(step_builder *b, const step_routed *r, uint64_t elements)
{
    send_routed(b, WL_ALL_TO_ALL, STEP_GROUP_EP, r->sent * elements, r->received * elements, false, true);
}

static void collect(step_builder *b, const step_routed *r, uint64_t elements)
{
    send_routed(b, WL_ALL_TO_ALL, STEP_GROUP_EP, r->received * elements, r->sent * elements, true, false);
}

/* Among the ranks that split an expert, which compute the tokens of all of them. */
static void gather_parts(step_builder *b, const step_routed *r, uint64_t elements)
{
    send_routed(b, WL_ALL_GATHER, STEP_GROUP_ETP, r->received * elements, r->computed * elements, true, true);
}

static void sum_parts(step_builder *b, const step_routed *r, uint64_t elements)
{
    send_routed(b, WL_REDUCE_SCATTER, STEP_GROUP_ETP, r->computed * elements, r->received * elements, true,
                true);
}

static void exchange_counts(step_builder *b, const step_module *m)
{
    const uint32_t n = step_group_size(b->shape->options, STEP_GROUP_EP_ETP);
    step_collective c = exchange(WL_ALL_GATHER, STEP_GROUP_EP_ETP, m->n_experts, m->n_experts * n, 8);

    c.is_integer = true;
    if (b->shape->options->capacity != STEP_CAPACITY_PAD)
        step_add_collective(b, &c, true);
}

/* Of what each rank has of its tokens to all ranks, or back, added up. */
static void share(step_builder *b, uint32_t type, uint64_t elements, double bytes_of_element)
{
    const uint64_t part = b->shape->split_tokens * elements,
                   whole = part * step_group_size(b->shape->options, STEP_GROUP_EP_ETP);
    const bool gathers = type == WL_ALL_GATHER;
    step_collective c =
        exchange(type, STEP_GROUP_EP_ETP, gathers ? part : whole, gathers ? whole : part, bytes_of_element);

    c.is_integer = bytes_of_element < 2; /* the map */
    step_add_collective(b, &c, true);
}

/* Tokens between the order in which they came and that of the experts. */
static void permute(step_builder *b, const step_module *m, uint64_t from, uint64_t to)
{
    copy(b, (double)(from + to) * (double)m->in);
}

/* Those that have come from several ranks lie rank by rank. */
static void sort(step_builder *b, const step_module *m, const step_routed *r)
{
    const step_options *o = b->shape->options;

    if (experts_here(m, o) > 1 && step_group_size(o, STEP_GROUP_EP_ETP) > 1)
        permute(b, m, r->computed, r->computed);
}

/* To how many of so many places, nodes or ranks, a token goes, which have as many experts each. */
static double places_of(const step_module *m, double places)
{
    const bool is_grouped = m->top_groups && m->n_expert_groups;
    const double best = is_grouped ? (double)m->top_groups / (double)m->n_expert_groups : 1;
    const double reached =
        fmin(is_grouped ? ceil(places * best) : places, places); /* places of the best groups */
    const double e = fmax((double)m->n_experts * best, (double)m->top_k);
    double none = 1;

    for (uint64_t i = 0; i < m->top_k; i++) /* that none of its experts is on one of them */
        none *= fmax(e - e / reached - (double)i, 0) / (e - (double)i);
    return reached * (1 - none);
}

/* Tokens that come to a rank with DeepEP, each once, of so many ranks with other experts. */
static uint64_t distinct_of(const step_module *m, const step_options *o, const step_routed *r)
{
    const double mean = (double)r->tokens * places_of(m, step_ep(o));
    const double most = (double)r->received / (double)r->sent;

    return (uint64_t)ceil(fmin(mean * most, (double)r->tokens * step_ep(o)));
}

/* An element of what DeepEP dispatches, with its share of the scales. */
static double dispatched_bytes(const step_builder *b)
{
    return b->shape->options->low.is_dispatched ? 1 + 4.0 / 128 : element_bytes(b);
}

/* The one way between nodes, the other within them; `out`: to the experts. */
static void relay(step_builder *b, const step_module *m, const step_routed *r, bool out)
{
    const step_options *o = b->shape->options;
    const double element = out ? dispatched_bytes(b) : element_bytes(b);
    const uint64_t once =
        (uint64_t)((double)(r->tokens * m->in) * places_of(m, step_group_size(o, STEP_GROUP_EP_FAR)));
    const uint64_t all = distinct_of(m, o, r) * m->in;
    const step_collective far = exchange(WL_ALL_TO_ALL, STEP_GROUP_EP_FAR, once, once, element),
                          near = exchange(WL_ALL_TO_ALL, STEP_GROUP_EP_NEAR, all, all, element);

    step_add_collective(b, out ? &far : &near, true);
    step_add_collective(b, out ? &near : &far, true);
}

/* What DeepEP brought, among the ranks that split an expert. */
static void gather_distinct(step_builder *b, const step_module *m, const step_routed *r)
{
    const step_options *o = b->shape->options;
    const uint64_t part = distinct_of(m, o, r) * m->in;

    send_routed(b, WL_ALL_GATHER, STEP_GROUP_ETP, part, part * step_etp(o), true, true);
}

static void sum_distinct(step_builder *b, const step_module *m, const step_routed *r)
{
    const step_options *o = b->shape->options;
    const uint64_t part = distinct_of(m, o, r) * m->in;

    send_routed(b, WL_REDUCE_SCATTER, STEP_GROUP_ETP, part * step_etp(o), part, true, true);
}

/* Tokens to the experts: dispatch, and backward what combine makes. `with_weights`: probabilities, too. */
static void bring(step_builder *b, const step_module *m, bool with_weights)
{
    const step_options *o = b->shape->options;
    const step_routed r = step_routed_of(m, b->shape);

    switch (o->dispatch) {
    case STEP_DISPATCH_ALL_GATHER:
        if (with_weights) {
            share(b, WL_ALL_GATHER, m->n_experts, 1);
            share(b, WL_ALL_GATHER, m->n_experts, element_bytes(b));
        }
        share(b, WL_ALL_GATHER, m->in, element_bytes(b));
        permute(b, m, r.computed, r.computed);
        return;
    case STEP_DISPATCH_DEEPEP:
        relay(b, m, &r, true);
        gather_distinct(b, m, &r);
        permute(b, m, distinct_of(m, o, &r) * step_etp(o), r.computed);
        return;
    default:
        permute(b, m, r.tokens, r.sent);
        scatter(b, &r, m->in);
        if (with_weights)
            scatter(b, &r, 1);
        gather_parts(b, &r, m->in);
        if (with_weights)
            gather_parts(b, &r, 1);
        sort(b, m, &r);
    }
}

/* And back. */
static void bring_back(step_builder *b, const step_module *m, bool with_weights)
{
    const step_options *o = b->shape->options;
    const step_routed r = step_routed_of(m, b->shape);

    switch (o->dispatch) {
    case STEP_DISPATCH_ALL_GATHER:
        permute(b, m, r.computed, r.tokens * step_group_size(o, STEP_GROUP_EP_ETP));
        share(b, WL_REDUCE_SCATTER, m->in, element_bytes(b));
        if (with_weights)
            share(b, WL_REDUCE_SCATTER, m->n_experts, element_bytes(b));
        return;
    case STEP_DISPATCH_DEEPEP:
        permute(b, m, r.computed, distinct_of(m, o, &r) * step_etp(o));
        sum_distinct(b, m, &r);
        relay(b, m, &r, false);
        return;
    default:
        sort(b, m, &r);
        if (with_weights)
            sum_parts(b, &r, 1);
        sum_parts(b, &r, m->in);
        if (with_weights)
            collect(b, &r, 1);
        collect(b, &r, m->in);
        permute(b, m, r.sent, r.tokens);
    }
}

static void dispatch(step_builder *b, const step_module *m)
{
    if (b->shape->options->dispatch == STEP_DISPATCH_ALL_TO_ALL)
        exchange_counts(b, m);
    bring(b, m, true);
}

static void dispatch_backward(step_builder *b, const step_module *m)
{
    if (b->parts & STEP_PART_INPUT)
        bring_back(b, m, true);
}

static void combine(step_builder *b, const step_module *m) { bring_back(b, m, false); }

static void combine_backward(step_builder *b, const step_module *m)
{
    if (b->parts & STEP_PART_INPUT)
        bring(b, m, false);
}

/* Where each token goes, and comes from: 8 bytes. Its probability is kept with the experts' activation. */
static void keep_places(step_keeper *k, const step_module *m)
{
    const step_routed r = step_routed_of(m, k->shape);

    step_keep_bytes(k, 8.0 * (double)r.sent + 4.0 * (double)r.computed);
}

/* Besides what comes in and goes out: what was put into order to be sent, and what came and is not yet in
 * order. */
static double copies(const step_module *m, const step_shape *s)
{
    const step_options *o = s->options;
    const step_routed r = step_routed_of(m, s);
    const double rows = o->dispatch == STEP_DISPATCH_ALL_GATHER
                            ? (double)(r.tokens * step_group_size(o, STEP_GROUP_EP_ETP))
                        : step_group_size(o, STEP_GROUP_EP_ETP) > 1 ? (double)(r.sent + r.computed)
                                                                    : 0;

    return o->activation_bytes * rows * (double)m->in;
}

static uint64_t computed_input(const step_module *m, const step_shape *s)
{
    return step_routed_of(m, s).computed * m->in;
}

const step_module_kind step_module_dispatch = {.name = "dispatch",
                                               .forward = dispatch,
                                               .backward = dispatch_backward,
                                               .keep = keep_places,
                                               .copies = copies};
const step_module_kind step_module_combine = {.name = "combine",
                                              .forward = combine,
                                              .backward = combine_backward,
                                              .input = computed_input,
                                              .copies = copies};

/* ---- matrices of experts ----------------------------------------------------------------------- */

static uint64_t outputs(const step_module *m)
{
    uint64_t n = 0;

    for (uint32_t i = 0; i < m->n_parts; i++)
        n += m->out[i];
    return n;
}

static uint32_t grouped_parameters(const step_module *m, step_parameter out[STEP_MAX_PARAMETERS])
{
    out[0] = (step_parameter){.rows = outputs(m),
                              .columns = m->in,
                              .is_split = m->split != STEP_SPLIT_NONE,
                              .is_by_columns = m->split == STEP_SPLIT_ROW,
                              .n_experts = m->n_experts};
    out[1] = (step_parameter){.rows = outputs(m),
                              .columns = 1,
                              .is_split = m->split == STEP_SPLIT_COLUMN,
                              .n_experts = m->n_experts};
    return m->has_bias ? 2 : 1;
}

/* The matrices on a rank, and the rows of each. */
typedef struct {
    uint64_t n, in, out, rows;
    step_routed routed;
} matrices;

static matrices matrices_of(const step_module *m, const step_shape *s)
{
    const uint32_t etp = step_etp(s->options);
    matrices x = {.n = experts_here(m, s->options), .routed = step_routed_of(m, s)};

    x.in = m->split == STEP_SPLIT_ROW ? divided(m->in, etp) : m->in;
    x.out = m->split == STEP_SPLIT_COLUMN ? divided(outputs(m), etp) : outputs(m);
    x.rows = divided(x.routed.computed, x.n);
    return x;
}

static void cast(step_builder *b, const step_module *m, uint64_t elements, double bytes)
{
    if (step_is_low(b->shape->options, m) && bytes > 0)
        step_add_elementwise(b, WL_KERNEL_ELEMENTWISE, elements, 1, bytes);
}

static void cast_weights(step_builder *b, const step_module *m, const matrices *x)
{
    if (b->shape->options->low.casts_weights_in_passes)
        cast(b, m, x->n * x->in * x->out, b->shape->options->low.cast_weight);
}

static void multiply(step_builder *b, const step_module *m)
{
    const matrices x = matrices_of(m, b->shape);

    cast(b, m, x.routed.computed * x.in, b->shape->options->low.cast_input);
    cast_weights(b, m, &x);
    step_add_products(b, x.n, x.rows, x.out, x.in, x.routed.mean);
}

/* As of a matrix that all tokens pass (module_linear.c). */
static void multiply_backward(step_builder *b, const step_module *m)
{
    const step_options *o = b->shape->options;
    const matrices x = matrices_of(m, b->shape);
    const double more = o->adds_gradients ? 2 * o->gradient_bytes - o->activation_bytes : 0;

    if (b->parts & STEP_PART_INPUT) {
        cast(b, m, x.routed.computed * x.out, o->low.cast_gradient);
        cast_weights(b, m, &x);
        step_add_products(b, x.n, x.rows, x.in, x.out, x.routed.mean);
    }
    if (!(b->parts & STEP_PART_WEIGHT))
        return;
    cast(b, m, x.routed.computed * x.in, o->low.cast_input_again);
    step_add_products(b, x.n, x.out, x.in, x.rows, x.routed.mean);
    b->program->operation[b->ready].kernel.bytes +=
        more > 0 ? (uint64_t)(more * (double)(x.n * x.in * x.out)) : 0;
    if (!o->adds_gradients)
        step_add_gradient(b, x.n * x.in * x.out);
    if (m->has_bias)
        copy(b, (double)(x.routed.computed * x.out));
}

static double operand_bytes(const step_keeper *k, const step_module *m)
{
    const step_options *o = k->shape->options;

    return step_is_low(o, m) ? o->low.bytes : o->activation_bytes;
}

static void keep_rows(step_keeper *k, const step_module *m)
{
    const matrices x = matrices_of(m, k->shape);

    if (!k->has_input)
        step_keep_bytes(k, operand_bytes(k, m) * (double)(x.routed.computed * x.in));
}

static void defer_rows(step_keeper *k, const step_module *m)
{
    const matrices x = matrices_of(m, k->shape);

    step_keep_bytes(k, operand_bytes(k, m) * (double)(x.routed.computed * (x.in + x.out)));
}

static uint64_t grouped_input(const step_module *m, const step_shape *s)
{
    const matrices x = matrices_of(m, s);

    return x.routed.computed * x.in;
}

const step_module_kind step_module_grouped = {.name = "grouped",
                                              .parameters = grouped_parameters,
                                              .forward = multiply,
                                              .backward = multiply_backward,
                                              .keep = keep_rows,
                                              .defer = defer_rows,
                                              .input = grouped_input};
