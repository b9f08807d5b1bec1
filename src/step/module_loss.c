/* Cross-entropy of logits that are split over tp by the vocabulary: the largest, the one of the target, and
 * the sum of all are each summed over tp in 32 bits (Megatron-LM, tensor_parallel/cross_entropy.py); fused,
 * the latter two together (fusions/fused_cross_entropy.py). Megatron-LM calls these in groups of one, too. Or
 * the logits are gathered, and each rank computes the loss of all. Backward has no collective. */
#include "step/module.h"

/* Of a rank: those of all tokens that it computes the loss of. */
static uint64_t logits_of(const step_shape *s, const step_module *m)
{
    uint32_t parts = s->options->gathers_logits ? 1 : s->options->tp;

    return s->tokens * ((m->in + parts - 1) / parts);
}

static void gather(step_builder *b, const step_module *m)
{
    const step_options *o = b->shape->options;
    uint64_t part = b->shape->tokens * ((m->in + o->tp - 1) / o->tp);
    const step_collective c =
        step_collective_of(WL_ALL_GATHER, STEP_GROUP_TP, part, part * o->tp, o->activation_bytes);

    step_add_collective(b, &c, true);
}

static void reduce(step_builder *b, uint32_t values)
{
    uint64_t n = values * b->shape->tokens;
    step_collective c = step_collective_of(WL_ALL_REDUCE, STEP_GROUP_TP, n, n, 4);

    c.even_alone = b->shape->options->calls_alone;
    step_add_collective(b, &c, true);
}

static void over_logits(step_builder *b, const step_module *m, double operations, double bytes)
{
    step_add_elementwise(b, WL_KERNEL_ELEMENTWISE, logits_of(b->shape, m), operations, bytes);
}

/* torch's own, a softmax with its logarithm in one kernel, where it does not overwrite the logits. */
static bool is_fused(const step_options *o) { return o->logits_copies == 2; }

/* A copy in 32 bits; then Megatron-LM goes over it for the largest, to subtract that in place, for the
 * exponentials in place, their sum, and to divide by it in place. */
static void forward(step_builder *b, const step_module *m)
{
    const step_options *o = b->shape->options;

    if (o->gathers_logits)
        gather(b, m);
    over_logits(b, m, 0, o->activation_bytes + 4);
    if (!is_fused(o))
        over_logits(b, m, 1, 4);
    if (!o->gathers_logits)
        reduce(b, 1);
    for (int i = 0; i < (is_fused(o) ? 1 : 2); i++)
        over_logits(b, m, 2, 8);
    if (!is_fused(o)) {
        over_logits(b, m, 1, 4);
        over_logits(b, m, 1, 8);
    }
    if (o->gathers_logits)
        return;
    if (o->fuses_loss) {
        reduce(b, 2);
    } else {
        reduce(b, 1);
        reduce(b, 1);
    }
}

/* The softmax times the gradient, and that in the type of the logits. */
static void backward(step_builder *b, const step_module *m)
{
    if (!(b->parts & STEP_PART_INPUT))
        return;
    over_logits(b, m, 2, 8);
    over_logits(b, m, 0, 4 + b->shape->options->activation_bytes);
}

static uint64_t input(const step_module *m, const step_shape *s) { return logits_of(s, m); }

/* The softmax in 32 bits, and the labels as 64-bit integers. The logits that the product made are freed. */
static void keep(step_keeper *k, const step_module *m)
{
    step_keep_bytes(k, 4.0 * (double)input(m, k->shape));
    step_keep_bytes(k, 8.0 * (double)k->shape->tokens);
}

const step_module_kind step_module_loss = {
    .name = "loss", .forward = forward, .backward = backward, .keep = keep, .input = input};
