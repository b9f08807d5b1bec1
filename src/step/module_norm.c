/* Norms over the features of a token, or of a head of it. Their parameters are on every rank of a tensor
 * parallel group; with sequence parallelism each sees a part of the tokens alone, so that their gradients are
 * summed over tp at the end of the step. */
#include "step/module.h"

static uint32_t parameters(const step_module *m, step_parameter out[STEP_MAX_PARAMETERS])
{
    out[0] = out[1] = (step_parameter){.rows = m->in, .columns = 1};
    return m->is_plain ? 0 : m->has_mean && !m->is_unbiased ? 2 : 1;
}

/* Reads and writes; a LayerNorm takes some 5 operations an element, an RMSNorm 4 (a mean, a square, a product
 * and the gain). */
static void forward(step_builder *b, const step_module *m)
{
    double e = b->shape->options->activation_bytes;

    step_add_elementwise(b, WL_KERNEL_NORMALISATION, b->shape->split_tokens * m->in, m->has_mean ? 5 : 4,
                         2 * e);
}

/* Reads the input and the gradient, and writes that of the input; and for the gradients of gain and bias
 * reads one of them again: the two kernels of Apex's LayerNorm read both again, its FastLayerNorm neither. */
static void backward(step_builder *b, const step_module *m)
{
    double e = b->shape->options->activation_bytes;

    if (b->parts & STEP_PART_INPUT)
        step_add_elementwise(b, WL_KERNEL_NORMALISATION, b->shape->split_tokens * m->in, m->has_mean ? 8 : 6,
                             4 * e);
}

/* The input, and in 32 bits what each token was divided by (and its mean). */
static void keep(step_keeper *k, const step_module *m)
{
    step_keep_input(k, m->in, STEP_KEPT_HIDDEN);
    step_keep_bytes(k, (m->has_mean ? 8.0 : 4.0) * (double)k->shape->split_tokens);
}

const step_module_kind step_module_norm = {
    .name = "norm", .parameters = parameters, .forward = forward, .backward = backward, .keep = keep};

/* ---- norms of queries and keys ------------------------------------------------------------------ */

/* One over each head with a parameter for each of its features, on every rank (Qwen3); or over all heads,
 * with one for each of all features (OLMo 2), where a rank of tensor parallelism takes the mean of its own
 * heads. */
static uint32_t head_parameters(const step_module *m, step_parameter out[STEP_MAX_PARAMETERS])
{
    const uint64_t heads[] = {m->heads, m->kv_heads};

    for (int i = 0; i < 2; i++)
        out[i] = (step_parameter){
            .rows = m->head_size * (m->is_whole ? heads[i] : 1), .columns = 1, .is_split = m->is_whole};
    return 2;
}

static uint64_t of_heads(const step_shape *s, const step_module *m)
{
    return s->tokens * (step_heads(s->options, m) + step_kv_heads(s->options, m)) * m->head_size;
}

static void head_forward(step_builder *b, const step_module *m)
{
    step_add_elementwise(b, WL_KERNEL_NORMALISATION, of_heads(b->shape, m), 4,
                         2 * b->shape->options->activation_bytes);
}

static void head_backward(step_builder *b, const step_module *m)
{
    if (b->parts & STEP_PART_INPUT)
        step_add_elementwise(b, WL_KERNEL_NORMALISATION, of_heads(b->shape, m), 6,
                             4 * b->shape->options->activation_bytes);
}

/* Queries and keys as they come in, and what each head, or all, was divided by. */
static void head_keep(step_keeper *k, const step_module *m)
{
    const uint64_t n = of_heads(k->shape, m);
    const uint64_t divisors = m->is_whole ? 2 * k->shape->tokens : n / m->head_size;

    step_keep_bytes(k, k->shape->options->activation_bytes * (double)n);
    step_keep_bytes(k, 4.0 * (double)divisors);
}

const step_module_kind step_module_head_norm = {.name = "head_norm",
                                                .parameters = head_parameters,
                                                .forward = head_forward,
                                                .backward = head_backward,
                                                .keep = head_keep,
                                                .input = step_heads_input};
