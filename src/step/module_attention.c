/* Scaled dot-product attention: heads are split over tp, tokens over cp.
 *
 * Forward two products for each pair of a query and a key, backward four and, where the scores were not kept, one
 * more to make them again (Dao 2023, FlashAttention-2, arXiv 2307.08691). A causal mask hides half of the pairs;
 * with context parallelism each rank has a piece of the front and one of the back of a sequence, so that all have
 * the same work.
 *
 *   ring         cp - 1 exchanges of keys and values, each under the attention of the step before; backward the same,
 *                and cp exchanges of their gradients (torch, _context_parallel/_attention.py)
 *   all_gather   keys and values are gathered first; backward again, then their gradients are reduce-scattered
 *                (Megatron-LM), or go around a ring (torch)
 *   all_to_all   queries, keys, values and the result change from split tokens to split heads (DeepSpeed Ulysses) */
#include "step/module.h"

/* Gradients of keys and values go around a ring as sums of 32 bits, whatever the type of the activations and of
 * what data parallelism reduces (torch, _context_parallel/_attention.py). */
#define KV_GRADIENT_BYTES 4.0

/* `products` of all pairs; `part` of the keys. */
static void attend(step_builder *b, const step_module *m, double products, double part)
{
    const step_shape *s = b->shape;
    const step_options *o = s->options;
    double pairs = (double)s->tokens * (double)s->whole_sequence * (m->is_causal ? 0.5 : 1.0) * part;
    double heads_here = (double)step_heads(o, m), size = (double)m->head_size, e = o->activation_bytes;
    double queries = 2.0 * (double)s->tokens * heads_here * size;
    double keys = 2.0 * (double)o->micro_batch * (double)s->whole_sequence * part * (double)step_kv_heads(o, m) * size;
    wl_kernel k = {.class = WL_KERNEL_ATTENTION,
                   .extent = {[WL_EXTENT_M] = s->sequence, [WL_EXTENT_N] = (uint64_t)((double)s->whole_sequence * part),
                              [WL_EXTENT_K] = m->head_size, [WL_EXTENT_BATCH] = o->micro_batch * step_heads(o, m)},
                   .element_bytes = e};

    k.operations = (uint64_t)(2.0 * products * pairs * heads_here * size);
    k.bytes = (uint64_t)(e * (queries + keys) * products / 2);
    if (!o->fused_attention) /* scores are written and read, once for each product and their softmax */
        k.bytes += (uint64_t)(e * pairs * heads_here * (products + 1));
    step_add_kernel(b, &k);
}

static step_collective of_kv(const step_builder *b, const step_module *m, uint32_t type, double element_bytes)
{
    const step_options *o = b->shape->options;
    uint64_t n = 2 * b->shape->tokens * step_kv_heads(o, m) * m->head_size;

    return step_collective_of(type, STEP_GROUP_CP, type == WL_REDUCE_SCATTER ? n * o->cp : n,
                              type == WL_ALL_GATHER ? n * o->cp : n, element_bytes);
}

/* The gradient of keys and values goes to the next rank, which adds its part. */
static uint32_t pass_gradient_on(step_builder *b, const step_module *m)
{
    step_collective gradient = of_kv(b, m, WL_ALL_TO_ALL, KV_GRADIENT_BYTES);

    gradient.to_next = true;
    return step_add_collective(b, &gradient, false);
}

/* A ring's steps: while one is computed, the keys and values of the next come in. */
static void ring(step_builder *b, const step_module *m, double products, bool is_backward)
{
    const step_options *o = b->shape->options;
    step_collective kv = of_kv(b, m, WL_ALL_TO_ALL, o->activation_bytes);
    uint32_t next = DSE_NONE, gradient = DSE_NONE;

    kv.to_next = true;
    for (uint32_t i = 0; i < o->cp; i++) {
        step_join(b, next);
        next = i + 1 < o->cp ? step_add_collective(b, &kv, false) : DSE_NONE;
        attend(b, m, products, 1.0 / o->cp);
        if (is_backward)
            gradient = pass_gradient_on(b, m);
    }
    step_join(b, gradient);
}

/* Keys and values of all ranks are here. The gradients of one part go on while the next part is computed. */
static void gradients_ring(step_builder *b, const step_module *m, double products)
{
    uint32_t gradient = DSE_NONE;

    for (uint32_t i = 0; i < b->shape->options->cp; i++) {
        attend(b, m, products, 1.0 / b->shape->options->cp);
        gradient = pass_gradient_on(b, m);
    }
    step_join(b, gradient);
}

static void change_split(step_builder *b, const step_module *m, uint64_t n_heads)
{
    uint64_t n = b->shape->tokens * n_heads * m->head_size;
    const step_collective c =
        step_collective_of(WL_ALL_TO_ALL, STEP_GROUP_CP, n, n, b->shape->options->activation_bytes);

    step_add_collective(b, &c, true);
}

/* Queries (or the result), and keys and values with them. */
static void all_to_all(step_builder *b, const step_module *m, bool with_kv)
{
    const step_options *o = b->shape->options;

    change_split(b, m, step_heads(o, m));
    for (int i = 0; with_kv && i < 2; i++)
        change_split(b, m, step_kv_heads(o, m));
}

static void pass(step_builder *b, const step_module *m, double products, bool is_backward)
{
    const step_options *o = b->shape->options;

    if (o->cp > 1 && o->context == STEP_CONTEXT_RING) {
        ring(b, m, products, is_backward);
        return;
    }
    if (o->cp > 1 && o->context == STEP_CONTEXT_ALL_TO_ALL) {
        all_to_all(b, m, !is_backward);
        attend(b, m, products, 1);
        all_to_all(b, m, is_backward);
        return;
    }
    if (o->cp > 1) {
        const step_collective gather = of_kv(b, m, WL_ALL_GATHER, o->activation_bytes);

        step_add_collective(b, &gather, true);
    }
    if (o->cp > 1 && is_backward && o->context == STEP_CONTEXT_ALL_GATHER_RING) {
        gradients_ring(b, m, products);
        return;
    }
    attend(b, m, products, 1);
    if (o->cp > 1 && is_backward) {
        const step_collective reduce = of_kv(b, m, WL_REDUCE_SCATTER, o->activation_bytes);

        step_add_collective(b, &reduce, true);
    }
}

static void forward(step_builder *b, const step_module *m) { pass(b, m, 2, false); }

static void backward(step_builder *b, const step_module *m)
{
    if (b->parts & STEP_PART_INPUT)
        pass(b, m, b->shape->options->fused_attention ? 5 : 4, true);
}

/* Queries, keys, values; of a fused kernel also the logarithm of each token's sum in 32 bits and two 64-bit
 * seeds, else the probabilities, a mask of those that are dropped, and what is left (Korthikanti et al. 2022,
 * arXiv 2205.05198, section 4: 5 a s^2 b), unless they are made again. The result is the next module's input. */
static void keep(step_keeper *k, const step_module *m)
{
    const step_shape *s = k->shape;
    const step_options *o = s->options;
    double tokens = (double)s->tokens, e = o->activation_bytes;
    double of_head = e * tokens * (double)m->head_size;

    step_keep_bytes(k, of_head * (double)step_heads(o, m));
    step_keep_bytes(k, of_head * 2.0 * (double)(o->expands_kv ? step_heads(o, m) : step_kv_heads(o, m)));
    if (o->fused_attention)
        step_keep_bytes(k, 4.0 * tokens * (double)step_heads(o, m) + 16);
    else if (o->recompute != STEP_RECOMPUTE_SELECTIVE)
        step_keep_bytes(k, (2 * e + 1) * tokens * (double)s->whole_sequence * (double)step_heads(o, m));
}

uint64_t step_heads_input(const step_module *m, const step_shape *s)
{
    return s->tokens * (step_heads(s->options, m) + 2 * step_kv_heads(s->options, m)) * m->head_size;
}

/* A ring has two buffers of keys and values, one that is read and one that comes in, and in the backward pass
 * two of their gradients. Gathered ones are there whole; what changes its split is there in both. */
static double receives(const step_module *m, const step_shape *s, bool is_backward)
{
    const step_options *o = s->options;
    double kv = 2.0 * (double)s->tokens * (double)(step_kv_heads(o, m) * m->head_size);

    if (o->cp == 1)
        return 0;
    switch (o->context) {
    case STEP_CONTEXT_RING: return 2 * kv * (o->activation_bytes + (is_backward ? KV_GRADIENT_BYTES : 0));
    case STEP_CONTEXT_ALL_GATHER_RING:
        return kv * (o->cp * o->activation_bytes + (is_backward ? 2 * KV_GRADIENT_BYTES : 0));
    case STEP_CONTEXT_ALL_GATHER: return o->cp * kv * o->activation_bytes * (is_backward ? 2 : 1);
    case STEP_CONTEXT_ALL_TO_ALL: break;
    }
    return o->activation_bytes * (double)step_heads_input(m, s);
}

const step_module_kind step_module_attention = {.name = "attention",
                                                .forward = forward,
                                                .backward = backward,
                                                .keep = keep,
                                                .input = step_heads_input,
                                                .receives = receives};
