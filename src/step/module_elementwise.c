/* Element-wise modules: rotary positions, activations, dropout, additions. Bytes are those of what is read and
 * written, each in a kernel of its own. */
#include "step/module.h"

static double element_bytes(const step_builder *b) { return b->shape->options->activation_bytes; }

/* The gradient of the input takes what the forward pass does. */
static void backward_as_forward(step_builder *b, const step_module *m)
{
    if (b->parts & STEP_PART_INPUT)
        m->kind->forward(b, m);
}

/* ---- rotary: of queries and keys --------------------------------------------------------------- */

static uint64_t rotated(const step_builder *b, const step_module *m)
{
    const step_options *o = b->shape->options;

    return b->shape->tokens * (step_heads(o, m) + step_kv_heads(o, m)) * m->head_size;
}

static void rotary(step_builder *b, const step_module *m)
{
    step_add_elementwise(b, WL_KERNEL_ELEMENTWISE, rotated(b, m), 3, 2 * element_bytes(b));
}

/* An angle for each position and feature in 32 bits (Megatron-LM, rotary_pos_embedding.py), or a complex number
 * for each two features (torchtitan, freqs_cis). */
static double angles(const step_module *m, const step_shape *s)
{
    return 4.0 * (double)s->whole_sequence * (double)m->head_size;
}

const step_module_kind step_module_rotary = {
    .name = "rotary", .forward = rotary, .backward = backward_as_forward, .input = step_heads_input, .table = angles};

/* ---- activations: split by features ------------------------------------------------------------ */

static uint64_t activated(const step_shape *s, const step_module *m) { return s->tokens * (m->in / s->options->tp); }

static void activation(step_builder *b, const step_module *m)
{
    step_add_elementwise(b, WL_KERNEL_ELEMENTWISE, activated(b->shape, m), m->operations,
                         (m->is_gated ? 3 : 2) * element_bytes(b));
}

static void activation_backward(step_builder *b, const step_module *m)
{
    if (b->parts & STEP_PART_INPUT)
        step_add_elementwise(b, WL_KERNEL_ELEMENTWISE, activated(b->shape, m), 2 * m->operations,
                             (m->is_gated ? 5 : 3) * element_bytes(b));
}

/* Its input; a gated one has two, and where it is not one kernel keeps the function's result, too. */
static void keep_activation(step_keeper *k, const step_module *m)
{
    double of_each = k->shape->options->activation_bytes * (double)activated(k->shape, m);

    step_keep_bytes(k, of_each * (!m->is_gated ? 1 : k->shape->options->fused_activation ? 2 : 3));
}

static uint64_t activation_input(const step_module *m, const step_shape *s)
{
    return activated(s, m) * (m->is_gated ? 2 : 1);
}

const step_module_kind step_module_activation = {.name = "activation",
                                                 .forward = activation,
                                                 .backward = activation_backward,
                                                 .keep = keep_activation,
                                                 .input = activation_input};

/* ---- dropout: of the hidden state, keeps a mask of a byte an element ---------------------------- */

static void dropout(step_builder *b, const step_module *m)
{
    step_add_elementwise(b, WL_KERNEL_ELEMENTWISE, b->shape->split_tokens * m->in, 1, 2 * element_bytes(b) + 1);
}

static void keep_mask(step_keeper *k, const step_module *m)
{
    step_keep_bytes(k, (double)(k->shape->split_tokens * m->in));
}

const step_module_kind step_module_dropout = {
    .name = "dropout", .forward = dropout, .backward = backward_as_forward, .keep = keep_mask};

/* ---- additions of the input of a module before ------------------------------------------------- */

static void addition(step_builder *b, const step_module *m)
{
    step_add_elementwise(b, WL_KERNEL_ELEMENTWISE, b->shape->split_tokens * m->in, 1, 3 * element_bytes(b));
}

/* Backward the gradients of both ways add up. */
const step_module_kind step_module_add = {.name = "add", .forward = addition, .backward = backward_as_forward};
