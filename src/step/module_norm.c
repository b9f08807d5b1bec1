/* Norms over the features of a token. Their parameters are on every rank of a tensor parallel group; with
 * sequence parallelism each sees a part of the tokens alone, so that their gradients are summed over tp at the
 * end of the step. */
#include "step/module.h"

static uint32_t parameters(const step_module *m, step_parameter out[STEP_MAX_PARAMETERS])
{
    out[0] = out[1] = (step_parameter){.rows = m->in, .columns = 1};
    return m->has_mean ? 2 : 1;
}

/* Reads and writes; a LayerNorm takes some 5 operations an element, an RMSNorm 4 (a mean, a square, a product
 * and the gain). */
static void forward(step_builder *b, const step_module *m)
{
    double e = b->shape->options->activation_bytes;

    step_add_elementwise(b, WL_KERNEL_NORMALISATION, b->shape->split_tokens * m->in, m->has_mean ? 5 : 4, 2 * e);
}

/* Reads the input and the gradient, and writes that of the input; and for the gradients of gain and bias reads one of them
 * again: the two kernels of Apex's LayerNorm read both again, its FastLayerNorm neither. */
static void backward(step_builder *b, const step_module *m)
{
    double e = b->shape->options->activation_bytes;

    if (b->parts & STEP_PART_INPUT)
        step_add_elementwise(b, WL_KERNEL_NORMALISATION, b->shape->split_tokens * m->in, m->has_mean ? 8 : 6, 4 * e);
}

/* The input, and in 32 bits what each token was divided by (and its mean). */
static void keep(step_keeper *k, const step_module *m)
{
    step_keep_input(k, m->in, STEP_KEPT_HIDDEN);
    step_keep_bytes(k, (m->has_mean ? 8.0 : 4.0) * (double)k->shape->split_tokens);
}

const step_module_kind step_module_norm = {
    .name = "norm", .parameters = parameters, .forward = forward, .backward = backward, .keep = keep};
