#include "step/module.h"

void step_keep_input(step_keeper *k, uint64_t features, step_layout layout)
{
    const step_shape *s = k->shape;
    uint64_t tokens = layout == STEP_KEPT_HIDDEN ? s->split_tokens : s->tokens;

    if (layout == STEP_KEPT_SPLIT)
        features /= s->options->tp;
    step_keep_bytes(k, s->options->activation_bytes * (double)tokens * (double)features);
}

void step_keep_bytes(step_keeper *k, double bytes) { k->bytes += (uint64_t)bytes; }

uint64_t step_kept_bytes(const step_block *b, const step_shape *s, bool recompute)
{
    step_keeper k = {.shape = s};

    if (recompute) {
        step_keep_input(&k, b->module[0].in, STEP_KEPT_HIDDEN);
        return k.bytes;
    }
    for (uint32_t i = 0; i < b->n; i++)
        if (b->module[i].kind->keep)
            b->module[i].kind->keep(&k, &b->module[i]);
    return k.bytes;
}
