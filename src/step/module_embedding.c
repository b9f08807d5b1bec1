/* Embeddings: rows of a table by token, split over tp by the vocabulary; and by position, on every rank.
 *
 * A rank looks up the tokens that it has and sums over tp (Megatron-LM, tensor_parallel/layers.py,
 * VocabParallelEmbedding). Backward adds up rows; the gradient of tokens that sequence parallelism had split
 * is gathered first. Positions are added to all tokens before sequence parallelism splits them, so that their
 * gradients need no sum (core/models/common/embeddings/language_model_embedding.py). */
#include "step/module.h"

static uint32_t table(const step_module *m, bool is_split, step_parameter *out)
{
    out[0] = (step_parameter){.rows = m->in, .columns = m->out[0], .is_split = is_split};
    return 1;
}

static uint32_t embedding_parameters(const step_module *m, step_parameter out[STEP_MAX_PARAMETERS])
{
    return table(m, true, out);
}

static uint32_t positions_parameters(const step_module *m, step_parameter out[STEP_MAX_PARAMETERS])
{
    return table(m, false, out);
}

static void look_up(step_builder *b, uint64_t tokens, const step_module *m)
{
    double e = b->shape->options->activation_bytes;

    step_add_elementwise(b, WL_KERNEL_LOOKUP, tokens * m->out[0], 0, 2 * e);
}

static void sum_all_tokens(step_builder *b, const step_module *m)
{
    uint64_t n = b->shape->tokens * m->out[0];
    const step_collective c =
        step_collective_of(WL_ALL_REDUCE, STEP_GROUP_TP, n, n, b->shape->options->activation_bytes);

    step_add_collective(b, &c, true);
}

/* Of the last table; those before it find it gathered. */
static void gather_gradient(step_builder *b, const step_module *m)
{
    if (b->shape->options->sequence_parallel && !m->before_positions)
        step_gather_tokens(b, m->out[0], true);
}

static void embedding_forward(step_builder *b, const step_module *m)
{
    look_up(b, b->shape->tokens, m);
    if (m->before_positions)
        sum_all_tokens(b, m);
    else
        step_reduce_tokens(b, m->out[0], true);
}

/* Adds up rows of the gradient, each of which moves so many elements. */
static void add_rows(step_builder *b, const step_module *m, wl_kernel_class class, double moved)
{
    if (!(b->parts & STEP_PART_WEIGHT))
        return;
    gather_gradient(b, m);
    step_add_elementwise(b, class, b->shape->tokens * m->out[0], 1,
                         moved * b->shape->options->activation_bytes);
}

/* Rows add up in a gradient of the whole table, which is 0 before, and then goes to the buffer of
 * gradients. */
static void embedding_backward(step_builder *b, const step_module *m)
{
    const step_options *o = b->shape->options;
    const uint64_t table = m->in / o->tp * m->out[0];

    if (b->parts & STEP_PART_WEIGHT)
        step_add_elementwise(b, WL_KERNEL_ELEMENTWISE, table, 0, o->activation_bytes);
    add_rows(b, m, WL_KERNEL_LOOKUP, 3);
    if (b->parts & STEP_PART_WEIGHT)
        step_add_gradient(b, table);
}

static uint64_t no_input(const step_module *m, const step_shape *s)
{
    (void)m, (void)s;
    return 0;
}

/* Numbers of the tokens, as 64-bit integers. */
static void keep_tokens(step_keeper *k, const step_module *m)
{
    (void)m;
    step_keep_bytes(k, 8.0 * (double)k->shape->tokens);
}

/* Positions read the same gradient, so that it counts here alone. */
static void defer_tokens(step_keeper *k, const step_module *m)
{
    keep_tokens(k, m);
    step_keep_input(k, m->out[0], STEP_KEPT_HIDDEN);
}

static uint64_t positions_input(const step_module *m, const step_shape *s)
{
    return s->split_tokens * m->out[0];
}

static void positions_forward(step_builder *b, const step_module *m)
{
    double e = b->shape->options->activation_bytes;

    step_add_elementwise(b, WL_KERNEL_ELEMENTWISE, b->shape->tokens * m->out[0], 1, 3 * e);
}

static void positions_backward(step_builder *b, const step_module *m)
{
    add_rows(b, m, WL_KERNEL_ELEMENTWISE, 2);
}

const step_module_kind step_module_embedding = {
    .name = "embedding",
    .parameters = embedding_parameters,
    .forward = embedding_forward,
    .backward = embedding_backward,
    .keep = keep_tokens,
    .defer = defer_tokens,
    .input = no_input,
};

const step_module_kind step_module_positions = {
    .name = "positions",
    .parameters = positions_parameters,
    .forward = positions_forward,
    .backward = positions_backward,
    .input = positions_input,
};
