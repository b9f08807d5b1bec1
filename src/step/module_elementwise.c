/* Element-wise modules: rotary positions, activations, dropout, additions. Bytes are those of what is read
 * and written, each in a kernel of its own but for the forward pass of a dropout with the addition after it
 * (Megatron-LM, fusions/fused_bias_dropout.py; no other program here drops hidden states). */
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

/* An angle for each position and feature in 32 bits (Megatron-LM, rotary_pos_embedding.py), or a complex
 * number for each two features (torchtitan, freqs_cis). */
static double angles(const step_module *m, const step_shape *s)
{
    return 4.0 * (double)s->whole_sequence * (double)m->head_size;
}

const step_module_kind step_module_rotary = {.name = "rotary",
                                             .forward = rotary,
                                             .backward = backward_as_forward,
                                             .input = step_heads_input,
                                             .table = angles};

/* ---- activations: split by features ------------------------------------------------------------ */

static uint64_t activated(const step_shape *s, const step_module *m)
{
    if (m->n_experts)
        return step_routed_of(m, s).computed * ((m->in + step_etp(s->options) - 1) / step_etp(s->options));
    return s->tokens * (m->in / s->options->tp);
}

/* Not fused, the function is a kernel, and so is the product of its result with the other input; backward
 * each of the two gradients of that product is one, too (TorchTitan, F.silu(w1 x) * w3 x). */
static bool is_divided(const step_builder *b, const step_module *m)
{
    return m->is_gated && !b->shape->options->fused_activation;
}

static void multiply(step_builder *b, const step_module *m)
{
    step_add_elementwise(b, WL_KERNEL_ELEMENTWISE, activated(b->shape, m), 1, 3 * element_bytes(b));
}

static void activation(step_builder *b, const step_module *m)
{
    if (is_divided(b, m)) {
        step_add_elementwise(b, WL_KERNEL_ELEMENTWISE, activated(b->shape, m), m->operations,
                             2 * element_bytes(b));
        multiply(b, m);
        return;
    }
    step_add_elementwise(b, WL_KERNEL_ELEMENTWISE, activated(b->shape, m), m->operations,
                         (m->is_gated ? 3 : 2) * element_bytes(b));
}

static void activation_backward(step_builder *b, const step_module *m)
{
    if (!(b->parts & STEP_PART_INPUT))
        return;
    if (is_divided(b, m)) {
        multiply(b, m);
        multiply(b, m);
    }
    step_add_elementwise(b, WL_KERNEL_ELEMENTWISE, activated(b->shape, m), 2 * m->operations,
                         (m->is_gated && !is_divided(b, m) ? 5 : 3) * element_bytes(b));
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

static void drop(step_builder *b, const step_module *m)
{
    step_add_elementwise(b, WL_KERNEL_ELEMENTWISE, b->shape->split_tokens * m->in, 1,
                         2 * element_bytes(b) + 1);
}

static void dropout(step_builder *b, const step_module *m)
{
    if (!m->is_added) /* else with the addition */
        drop(b, m);
}

static void dropout_backward(step_builder *b, const step_module *m)
{
    if (b->parts & STEP_PART_INPUT)
        drop(b, m);
}

static void keep_mask(step_keeper *k, const step_module *m)
{
    step_keep_bytes(k, (double)(k->shape->split_tokens * m->in));
}

const step_module_kind step_module_dropout = {
    .name = "dropout", .forward = dropout, .backward = dropout_backward, .keep = keep_mask};

/* ---- additions of the input of a module before ------------------------------------------------- */

static void add(step_builder *b, const step_module *m, double bytes)
{
    step_add_elementwise(b, WL_KERNEL_ELEMENTWISE, b->shape->split_tokens * m->in, 1, bytes);
}

static void addition(step_builder *b, const step_module *m)
{
    add(b, m, 3 * element_bytes(b) + (m->is_dropped ? 1 : 0)); /* and the mask */
}

/* The gradients of both ways add up. */
static void addition_backward(step_builder *b, const step_module *m)
{
    if (b->parts & STEP_PART_INPUT)
        add(b, m, 3 * element_bytes(b));
}

const step_module_kind step_module_add = {.name = "add", .forward = addition, .backward = addition_backward};
