/* Scaled dot-product attention: heads are split over tp, tokens over cp.
 *
 * Forward two products for each pair of a query and a key, backward four. Fused they are one kernel, which
 * makes the scores again in the backward pass, a fifth product (Dao 2023, FlashAttention-2, arXiv
 * 2307.08691). A causal mask hides half of the pairs from it; with context parallelism each rank has a piece
 * of the front and one of the back of a sequence, so that all have the same work. Else each product is a
 * kernel, of all pairs, and so are the masked softmax and the dropout of the scores between them (Megatron-LM
 * before 2023: CoreAttention, with its fused scale, mask and softmax).
 *
 * Around it queries, keys, values and the result are copied from one layout to another, their gradients
 * likewise (Megatron-LM, split and permuted; torch, keys and values for each head).
 *
 *   ring         cp - 1 exchanges of keys and values, each under the attention of the step before; backward
 *                the same, and cp exchanges of their gradients (torch, _context_parallel/_attention.py)
 *   all_gather   keys and values are gathered first; backward again, then their gradients are
 *                reduce-scattered (Megatron-LM)
 *   all_gather_ring  parts as of a ring, of keys and values that are gathered under the attention of a rank's
 *                own; their gradients go around a ring (torch)
 *   all_to_all   queries, keys, values and the result change from split tokens to split heads
 *                (DeepSpeed Ulysses) */
#include "step/module.h"

/* Gradients of keys and values go around a ring as sums of 32 bits, whatever the type of the activations and
 * of what data parallelism reduces (torch, _context_parallel/_attention.py). */
#define KV_GRADIENT_BYTES 4.0

/* What torch moves to merge the parts of attention, in bytes of an element of the result on a rank, each
 * operation a kernel that reads and writes in full (_templated_ring_attention, _SDPAMerger): forward a part
 * is cast to 32 bits (6) and, but for the first, merged by a subtraction, a product and a subtraction (12 + 8
 * + 12); the result is cast back (6). Backward the parts of three gradients are added up in 32 bits (10
 * each), and those of keys and values copied into one tensor to send them (16); in the end all three are cast
 * back. Counted are the parts with all of a rank's queries and half of the keys; others have half of the
 * queries. */
#define CAST_BYTES     6.0
#define MERGE_BYTES    32.0
#define GRADIENT_BYTES 46.0

/* Products of all pairs: of queries with keys, and with values. */
typedef struct {
    double keys, values;
} products;

/* A kernel of attention: `of` all pairs, with a part of the keys. A product with values counts as much as
 * values are longer than keys. */
static wl_kernel kernel_of(const step_builder *b, const step_module *m, wl_kernel_class class, products of,
                           double pairs, double part)
{
    const double n = of.keys + of.values * (double)m->value_size / (double)m->head_size;
    const step_shape *s = b->shape;
    const step_options *o = s->options;
    double heads_here = (double)step_heads(o, m), size = (double)m->head_size, e = o->activation_bytes;
    double queries = 2.0 * (double)s->tokens * heads_here * size;
    double keys =
        2.0 * (double)o->micro_batch * (double)s->whole_sequence * part * (double)step_kv_heads(o, m) * size;
    wl_kernel k = {.class = class,
                   .extent = {[WL_EXTENT_M] = s->sequence,
                              [WL_EXTENT_N] = (uint64_t)((double)s->whole_sequence * part),
                              [WL_EXTENT_K] = m->head_size,
                              [WL_EXTENT_BATCH] = o->micro_batch * step_heads(o, m)},
                   .element_bytes = e};

    k.operations = (uint64_t)(2.0 * n * pairs * heads_here * size);
    k.bytes = (uint64_t)(e * (queries + keys) * n / 2);
    return k;
}

static void fused(step_builder *b, const step_module *m, double pairs, double part, bool is_backward)
{
    static const wl_kernel_class classes[2][2] = {
        {WL_KERNEL_ATTENTION, WL_KERNEL_ATTENTION_BACKWARD},
        {WL_KERNEL_ATTENTION_FLASH2, WL_KERNEL_ATTENTION_FLASH2_BACKWARD}};
    const products of = is_backward ? (products){3, 2} : (products){1, 1};
    wl_kernel k =
        kernel_of(b, m, classes[b->shape->options->flash_attention_2][is_backward], of, pairs, part);

    step_add_kernel(b, &k);
}

/* Of queries and keys, or of scores and values, with the scores written or read. */
static void product(step_builder *b, const step_module *m, products of, double pairs, double part)
{
    wl_kernel k = kernel_of(b, m, WL_KERNEL_ATTENTION_PRODUCT, of, pairs, part);

    k.bytes += (uint64_t)(k.element_bytes * pairs * (double)step_heads(b->shape->options, m));
    step_add_kernel(b, &k);
}

/* The softmax reads and writes scores, backward its result and two gradients; the dropout reads and writes
 * them, and a mask of a byte an element. */
static void unfused(step_builder *b, const step_module *m, double pairs, double part, bool is_backward)
{
    const products with_keys = {.keys = 1}, with_values = {.values = 1};
    const products first = is_backward ? with_values : with_keys,
                   last = is_backward ? with_keys : with_values;
    uint64_t scores = (uint64_t)(pairs * (double)step_heads(b->shape->options, m));
    double e = b->shape->options->activation_bytes;

    product(b, m, first, pairs, part);
    if (is_backward)
        product(b, m, first, pairs, part);
    step_add_elementwise(b, WL_KERNEL_ELEMENTWISE, scores, is_backward ? 1 : 5,
                         is_backward ? 2 * e + 1 : 2 * e);
    step_add_elementwise(b, WL_KERNEL_ELEMENTWISE, scores, is_backward ? 5 : 1,
                         is_backward ? 3 * e : 2 * e + 1);
    product(b, m, last, pairs, part);
    if (is_backward)
        product(b, m, last, pairs, part);
}

/* Of all pairs, those that a kernel which skips hidden ones makes: half of them if tokens attend to those
 * before them alone; with a window W of a sequence S those of W S - W^2 / 2, with chunks of W
 * those of W S / 2. */
static double visible(const step_module *m, const step_shape *s, double pairs)
{
    const double share = s->whole_sequence ? (double)m->window / (double)s->whole_sequence : 0;
    const double all = m->is_causal ? pairs / 2 : pairs;

    if (!m->window || share >= 1 || !m->is_causal)
        return all;
    return m->is_chunked ? pairs * share / 2 : pairs * (share - share * share / 2);
}

/* With a part of the keys. */
static void attend(step_builder *b, const step_module *m, bool is_backward, double part)
{
    const step_shape *s = b->shape;
    double pairs = (double)s->tokens * (double)s->whole_sequence * part;

    if (s->options->fused_attention)
        fused(b, m, visible(m, s, pairs), part, is_backward);
    else
        unfused(b, m, pairs, part, is_backward);
}

/* Of so many features of a token, from one layout to another. */
static void copy(step_builder *b, uint64_t features)
{
    step_add_elementwise(b, WL_KERNEL_ELEMENTWISE, b->shape->tokens * features, 0,
                         2 * b->shape->options->activation_bytes);
}

/* Programs that copy keys and values for each head do so before they exchange them (TorchTitan). */
static uint64_t exchanged_heads(const step_options *o, const step_module *m)
{
    return o->expands_kv ? step_heads(o, m) : step_kv_heads(o, m);
}

/* Features of a token's queries, keys and values on a rank; and of its result. */
static uint64_t features_in(const step_options *o, const step_module *m)
{
    return step_heads(o, m) * m->head_size + exchanged_heads(o, m) * (m->head_size + m->value_size);
}

static uint64_t features_out(const step_options *o, const step_module *m)
{
    return step_heads(o, m) * m->value_size;
}

static step_collective of_kv(const step_builder *b, const step_module *m, uint32_t type, double element_bytes)
{
    const step_options *o = b->shape->options;
    uint64_t n = b->shape->tokens * exchanged_heads(o, m) * (m->head_size + m->value_size);

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

static void merge(step_builder *b, const step_module *m, double bytes)
{
    const step_options *o = b->shape->options;

    if (o->merges_parts)
        step_add_elementwise(b, WL_KERNEL_ELEMENTWISE, b->shape->tokens * features_out(o, m), 1, bytes);
}

/* Part i of the keys, added to what the parts before gave. */
static void attend_part(step_builder *b, const step_module *m, bool is_backward, uint32_t i)
{
    const uint32_t n = b->shape->options->cp;
    const double last = i + 1 < n ? 0 : is_backward ? 3 * CAST_BYTES : CAST_BYTES;

    attend(b, m, is_backward, 1.0 / n);
    if (is_backward)
        merge(b, m, GRADIENT_BYTES + last);
    else
        merge(b, m, CAST_BYTES + (i ? MERGE_BYTES : 0) + last);
}

/* A ring's steps: while one is computed, the keys and values of the next come in. */
static void ring(step_builder *b, const step_module *m, bool is_backward)
{
    const step_options *o = b->shape->options;
    step_collective kv = of_kv(b, m, WL_ALL_TO_ALL, o->activation_bytes);
    uint32_t next = DSE_NONE, gradient = DSE_NONE;

    kv.to_next = true;
    for (uint32_t i = 0; i < o->cp; i++) {
        step_join(b, next);
        next = i + 1 < o->cp ? step_add_collective(b, &kv, false) : DSE_NONE;
        attend_part(b, m, is_backward, i);
        if (is_backward)
            gradient = pass_gradient_on(b, m);
    }
    step_join(b, gradient);
}

/* Keys and values of all ranks come in while those of the rank are computed; the gradients of one part go on
 * while the next part is. */
static void gathered_ring(step_builder *b, const step_module *m, bool is_backward)
{
    const step_options *o = b->shape->options;
    const step_collective kv = of_kv(b, m, WL_ALL_GATHER, o->activation_bytes);
    const uint32_t gathered = step_add_collective(b, &kv, false);
    uint32_t gradient = DSE_NONE;

    for (uint32_t i = 0; i < o->cp; i++) {
        step_join(b, i == 1 ? gathered : DSE_NONE);
        attend_part(b, m, is_backward, i);
        if (is_backward)
            gradient = pass_gradient_on(b, m);
    }
    step_join(b, gradient);
}

static void change_split(step_builder *b, uint64_t features)
{
    uint64_t n = b->shape->tokens * features;
    const step_collective c =
        step_collective_of(WL_ALL_TO_ALL, STEP_GROUP_CP, n, n, b->shape->options->activation_bytes);

    step_add_collective(b, &c, true);
}

/* The result, or queries, keys and values. */
static void all_to_all(step_builder *b, const step_module *m, bool is_result)
{
    const step_options *o = b->shape->options;

    if (is_result) {
        change_split(b, features_out(o, m));
        return;
    }
    change_split(b, step_heads(o, m) * m->head_size);
    change_split(b, step_kv_heads(o, m) * m->head_size);
    change_split(b, step_kv_heads(o, m) * m->value_size);
}

static void pass(step_builder *b, const step_module *m, bool is_backward)
{
    const step_options *o = b->shape->options;

    if (o->cp > 1 && o->context == STEP_CONTEXT_RING) {
        ring(b, m, is_backward);
        return;
    }
    if (o->cp > 1 && o->context == STEP_CONTEXT_ALL_TO_ALL) {
        all_to_all(b, m, is_backward);
        attend(b, m, is_backward, 1);
        all_to_all(b, m, !is_backward);
        return;
    }
    if (o->cp > 1 && o->context == STEP_CONTEXT_ALL_GATHER_RING) {
        gathered_ring(b, m, is_backward);
        return;
    }
    if (o->cp > 1) {
        const step_collective gather = of_kv(b, m, WL_ALL_GATHER, o->activation_bytes);

        step_add_collective(b, &gather, true);
    }
    attend(b, m, is_backward, 1);
    if (o->cp > 1 && is_backward) {
        const step_collective reduce = of_kv(b, m, WL_REDUCE_SCATTER, o->activation_bytes);

        step_add_collective(b, &reduce, true);
    }
}

static void forward(step_builder *b, const step_module *m)
{
    copy(b, features_in(b->shape->options, m));
    pass(b, m, false);
    copy(b, features_out(b->shape->options, m));
}

static void backward(step_builder *b, const step_module *m)
{
    if (!(b->parts & STEP_PART_INPUT))
        return;
    pass(b, m, true);
    copy(b, features_in(b->shape->options, m) + features_out(b->shape->options, m));
}

/* Queries, keys, values; of a fused kernel also the logarithm of each token's sum in 32 bits and two 64-bit
 * seeds, else the probabilities, a mask of those that are dropped, and what is left (Korthikanti et al. 2022,
 * arXiv 2205.05198, section 4: 5 a s^2 b), unless they are made again. The result is the next module's input;
 * where that is kept in fewer bits, a fused kernel keeps its own. */
static void keep(step_keeper *k, const step_module *m)
{
    const step_shape *s = k->shape;
    const step_options *o = s->options;
    double tokens = (double)s->tokens, e = o->activation_bytes;

    if (!k->has_input)
        step_keep_bytes(k, e * tokens * (double)features_in(o, m));
    if (o->fused_attention && step_is_low(o, m))
        step_keep_bytes(k, e * tokens * (double)features_out(o, m));
    if (o->fused_attention)
        step_keep_bytes(k, 4.0 * tokens * (double)step_heads(o, m) + 16);
    else if (!step_is_made_again(o, m))
        step_keep_bytes(k, (2 * e + 1) * tokens * (double)s->whole_sequence * (double)step_heads(o, m));
}

uint64_t step_heads_input(const step_module *m, const step_shape *s)
{
    return s->tokens * (step_heads(s->options, m) * m->head_size +
                        step_kv_heads(s->options, m) * (m->head_size + m->value_size));
}

/* A ring has two buffers of keys and values, one that is read and one that comes in, and in the backward pass
 * two of their gradients. Gathered ones are there whole; what changes its split is there in both. */
static double receives(const step_module *m, const step_shape *s, bool is_backward)
{
    const step_options *o = s->options;
    double kv = (double)s->tokens * (double)(exchanged_heads(o, m) * (m->head_size + m->value_size));

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

/* A sink takes part in the softmax of its head (gpt-oss): it adds to the sum of the exponentials. */
static uint32_t parameters(const step_module *m, step_parameter out[STEP_MAX_PARAMETERS])
{
    out[0] = (step_parameter){.rows = m->heads, .columns = 1, .is_split = true};
    return m->has_sinks ? 1 : 0;
}

const step_module_kind step_module_attention = {.name = "attention",
                                                .parameters = parameters,
                                                .forward = forward,
                                                .backward = backward,
                                                .keep = keep,
                                                .input = step_heads_input,
                                                .receives = receives};
