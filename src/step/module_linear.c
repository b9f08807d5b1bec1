/* Products with a matrix, split over tp by its outputs (column) or its inputs (row), or on every rank.
 *
 * Megatron-LM, tensor_parallel/layers.py (ColumnParallelLinear, RowParallelLinear,
 * LinearWithGradAccumulationAndAsyncCommunication.backward):
 *
 *            forward                             backward
 *   column   [gather tokens], product            [gather saved tokens, beside the next product], product for
 *                                                the input's gradient, its sum over tp beside the next,
 *                                                product for the weight's gradient
 *   row      product, sum over tp                [gather the gradient's tokens], two products
 *
 * "Beside": where `tensor` of the options has it so (step_tensor); else each is waited for, and the gradient
 * of the input is summed after both products. In brackets: with sequence parallelism, where "sum" is a
 * reduce-scatter. Programs that keep the gathered input do not gather it again (DTensor:
 * torch/distributed/tensor/parallel/style.py). With fewer heads of keys and values than tp, the products for
 * queries, keys and values are gathered over tp (attention.py, get_query_key_value_tensors). Of the keys and
 * values of latent attention the part that is rotated is gathered over tp with sequence parallelism
 * (multi_latent_attention.py, the same function).
 *
 * In fewer bits (step_low) the input is cast before the product, and the output's gradient before the
 * backward products, each in one kernel that also makes the transposed copy which the weight's gradient
 * reads; an input is kept as it was cast. Gathered tokens travel as activations do, or are cast before
 * (step_low.is_gathered); with scales of rows an input is cast once more for the weight's gradient.
 *
  * In pieces (STEP_TENSOR_PIECES) a product is one of a piece of the tokens for each rank: that of the rank's
  * own tokens needs nothing from others, and the gather of the others' goes on beside all but the last; a sum
  * begins with the result of the first. So Transformer Engine's ring exchange and pipeline do it
  * (ub_tp_comm_overlap_cfg), and torch's _symmetric_memory. */
#include "step/module.h"

static uint64_t outputs(const step_module *m)
{
    uint64_t n = 0;

    for (uint32_t i = 0; i < m->n_parts; i++)
        n += m->out[i];
    return n;
}

static uint32_t parameters(const step_module *m, step_parameter out[STEP_MAX_PARAMETERS])
{
    bool is_split = m->split != STEP_SPLIT_NONE;

    out[0] = (step_parameter){.rows = outputs(m),
                              .columns = m->in,
                              .is_split = is_split,
                              .is_by_columns = m->split == STEP_SPLIT_ROW};
    out[1] = (step_parameter){.rows = outputs(m), .columns = 1, .is_split = m->split == STEP_SPLIT_COLUMN};
    return m->has_bias ? 2 : 1;
}

/* The matrix on a rank. */
static void share(const step_builder *b, const step_module *m, uint64_t *in, uint64_t *out)
{
    uint32_t tp = b->shape->options->tp;

    *in = m->split == STEP_SPLIT_ROW ? m->in / tp : m->in;
    *out = m->split == STEP_SPLIT_COLUMN ? (outputs(m) + tp - 1) / tp : outputs(m);
}

/* Tokens of a matrix that every rank has are split as the hidden state is. */
static uint64_t tokens(const step_builder *b, const step_module *m)
{
    return m->split == STEP_SPLIT_NONE ? b->shape->split_tokens : b->shape->tokens;
}

static bool lacks_kv_heads(const step_builder *b, const step_module *m)
{
    return m->kv_heads && m->kv_heads < b->shape->options->tp;
}

static void exchange_heads(step_builder *b, const step_module *m, uint32_t type)
{
    const step_options *o = b->shape->options;
    uint64_t whole = (uint64_t)(o->activation_bytes * (double)(b->shape->tokens * outputs(m))),
             part = whole / o->tp;
    bool gathers = type == WL_ALL_GATHER;
    step_collective c = {.type = type,
                         .group = STEP_GROUP_TP,
                         .in_bytes = gathers ? part : whole,
                         .out_bytes = gathers ? whole : part,
                         .element_bytes = o->activation_bytes};

    step_add_collective(b, &c, true);
}

/* A kernel that casts so many elements, if the module's products have fewer bits. */
static void cast(step_builder *b, const step_module *m, uint64_t elements, double bytes)
{
    if (step_is_low(b->shape->options, m) && bytes > 0)
        step_add_elementwise(b, WL_KERNEL_ELEMENTWISE, elements, 1, bytes);
}

static void cast_weight(step_builder *b, const step_module *m, uint64_t elements)
{
    if (b->shape->options->low.casts_weights_in_passes)
        cast(b, m, elements, b->shape->options->low.cast_weight);
}

/* Tokens that sequence parallelism has split. */
static uint32_t gather_operand(step_builder *b, const step_module *m, uint64_t features, bool waits)
{
    const step_shape *s = b->shape;
    const step_options *o = s->options;
    const bool is_cast = o->low.is_gathered && step_is_low(o, m);
    const step_collective c =
        step_collective_of(WL_ALL_GATHER, STEP_GROUP_TP, s->split_tokens * features, s->tokens * features,
                           is_cast ? o->low.bytes : o->activation_bytes);

    return step_add_collective(b, &c, waits);
}

/* Elements that a rank casts of so many of a token: of its own tokens, where these are gathered afterwards. */
static uint64_t cast_elements(const step_builder *b, const step_module *m, bool is_gathered,
                              uint64_t features)
{
    const step_options *o = b->shape->options;
    const bool is_before = is_gathered && o->sequence_parallel && o->low.is_gathered;

    return (is_before ? b->shape->split_tokens : tokens(b, m)) * features;
}

static bool is_in_pieces(const step_builder *b)
{
    const step_options *o = b->shape->options;

    return o->tensor == STEP_TENSOR_PIECES && o->sequence_parallel && o->tp > 1;
}

/* Products of the next `n` of the pieces of a rank's tokens. */
static void add_pieces(step_builder *b, uint32_t n, uint64_t columns, uint64_t depth)
{
    while (n--)
        step_add_product(b, b->shape->split_tokens, columns, depth);
}

/* The product of all tokens, which `gathered` brings (STEP_TENSOR_PIECES; DSE_NONE: they are here). */
static void multiply(step_builder *b, const step_module *m, uint32_t gathered, uint64_t columns,
                     uint64_t depth)
{
    if (!is_in_pieces(b) || gathered == DSE_NONE) {
        step_add_product(b, tokens(b, m), columns, depth);
        return;
    }
    add_pieces(b, b->shape->options->tp - 1, columns, depth);
    step_join(b, gathered);
    add_pieces(b, 1, columns, depth);
}

/* The product of a row-parallel matrix, and its sum over tp. */
static void multiply_and_sum(step_builder *b, const step_module *m, uint64_t columns, uint64_t depth)
{
    uint32_t reduced;

    if (!is_in_pieces(b)) {
        step_add_product(b, tokens(b, m), columns, depth);
        step_reduce_tokens(b, outputs(m), true);
        return;
    }
    add_pieces(b, 1, columns, depth);
    reduced = step_reduce_tokens(b, outputs(m), false);
    add_pieces(b, b->shape->options->tp - 1, columns, depth);
    step_join(b, reduced);
}

static void forward(step_builder *b, const step_module *m)
{
    uint32_t gathered = DSE_NONE;
    uint64_t in, out;

    share(b, m, &in, &out);
    if (m->split == STEP_SPLIT_COLUMN && b->shape->options->sequence_parallel)
        gathered = gather_operand(b, m, m->in, !is_in_pieces(b));
    cast(b, m, cast_elements(b, m, m->split == STEP_SPLIT_COLUMN, in), b->shape->options->low.cast_input);
    cast_weight(b, m, in * out);
    if (m->split == STEP_SPLIT_ROW)
        multiply_and_sum(b, m, out, in);
    else
        multiply(b, m, gathered, out, in);
    if (lacks_kv_heads(b, m))
        exchange_heads(b, m, WL_ALL_GATHER);
    if (m->gathered && b->shape->options->sequence_parallel)
        step_gather_tokens(b, m->gathered, true);
}

/* The gradient of the bias, a sum over tokens. Forward it is added by the kernel that comes next: the
 * activation, dropout and addition (Megatron-LM, bias_gelu_fusion, bias_dropout_fusion), or the product's
 * own. */
static void sum_bias(step_builder *b, const step_module *m, uint64_t out)
{
    uint64_t n = m->split == STEP_SPLIT_ROW ? b->shape->split_tokens : tokens(b, m);

    step_add_elementwise(b, WL_KERNEL_ELEMENTWISE, n * out, 1, b->shape->options->activation_bytes);
}

/* The product for the gradient of the weight. Where it adds to the buffer it reads and writes that, and not a
 * gradient of its own. */
static void make_gradient(step_builder *b, const step_module *m, uint64_t in, uint64_t out)
{
    const step_options *o = b->shape->options;
    const double more = o->adds_gradients ? 2 * o->gradient_bytes - o->activation_bytes : 0;

    step_add_product(b, out, in, tokens(b, m));
    b->program->operation[b->ready].kernel.bytes += more > 0 ? (uint64_t)(more * (double)(in * out)) : 0;
    if (!o->adds_gradients)
        step_add_gradient(b, in * out);
}

static void backward(step_builder *b, const step_module *m)
{
    const step_options *o = b->shape->options;
    const bool waits = o->tensor == STEP_TENSOR_WAITS;
    uint32_t gathered = DSE_NONE, saved = DSE_NONE, reduced = DSE_NONE;
    uint64_t in, out;

    share(b, m, &in, &out);
    if (b->parts & STEP_PART_INPUT) {
        if (m->gathered && o->sequence_parallel)
            step_reduce_tokens(b, m->gathered, true);
        if (lacks_kv_heads(b, m))
            exchange_heads(b, m, WL_REDUCE_SCATTER);
        if (m->split == STEP_SPLIT_ROW && o->sequence_parallel)
            gathered = gather_operand(b, m, outputs(m), !is_in_pieces(b));
    }
    if (b->parts & STEP_PART_WEIGHT && m->split == STEP_SPLIT_COLUMN && o->sequence_parallel &&
        o->gathers_again)
        saved = step_gather_tokens(b, m->in, waits);
    if (b->parts & STEP_PART_INPUT) {
        cast(b, m, cast_elements(b, m, m->split == STEP_SPLIT_ROW, out), o->low.cast_gradient);
        cast_weight(b, m, in * out);
        multiply(b, m, gathered, in, out);
        if (m->split == STEP_SPLIT_COLUMN && !waits)
            reduced = step_reduce_tokens(b, m->in, false);
    }
    step_join(b, waits ? DSE_NONE : saved);
    if (b->parts & STEP_PART_WEIGHT) {
        cast(b, m, tokens(b, m) * in, o->low.cast_input_again);
        make_gradient(b, m, in, out);
    }
    if (b->parts & STEP_PART_WEIGHT && m->has_bias)
        sum_bias(b, m, out);
    if (b->parts & STEP_PART_INPUT && m->split == STEP_SPLIT_COLUMN && waits)
        step_reduce_tokens(b, m->in, true);
    step_join(b, reduced);
}

static void keep_operand(step_keeper *k, const step_module *m, uint64_t features, step_layout layout)
{
    const step_options *o = k->shape->options;

    step_keep_tensor(k, features, layout, step_is_low(o, m) ? o->low.bytes : o->activation_bytes);
}

static void keep(step_keeper *k, const step_module *m)
{
    const step_options *o = k->shape->options;

    if (m->split == STEP_SPLIT_ROW)
        keep_operand(k, m, m->in, STEP_KEPT_SPLIT);
    else if (m->split == STEP_SPLIT_COLUMN && o->sequence_parallel && !o->gathers_again)
        keep_operand(k, m, m->in, STEP_KEPT_WHOLE);
    else
        keep_operand(k, m, m->in, STEP_KEPT_HIDDEN);
}

/* The gradient of the output; that of tokens which sequence parallelism had split is there whole. */
static void defer(step_keeper *k, const step_module *m)
{
    step_layout layout = STEP_KEPT_HIDDEN;

    keep(k, m);
    if (m->split != STEP_SPLIT_NONE)
        layout = m->split == STEP_SPLIT_COLUMN ? STEP_KEPT_SPLIT : STEP_KEPT_WHOLE;
    keep_operand(k, m, outputs(m), layout);
}

static uint64_t input(const step_module *m, const step_shape *s)
{
    return m->split == STEP_SPLIT_ROW ? s->tokens * (m->in / s->options->tp) : s->split_tokens * m->in;
}

const step_module_kind step_module_linear = {.name = "linear",
                                             .parameters = parameters,
                                             .forward = forward,
                                             .backward = backward,
                                             .keep = keep,
                                             .defer = defer,
                                             .input = input};
