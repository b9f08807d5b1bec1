#include "step/module.h"

void step_keep_input(step_keeper *k, uint64_t features, step_layout layout)
{
    step_keep_tensor(k, features, layout, k->shape->options->activation_bytes);
}

void step_keep_tensor(step_keeper *k, uint64_t features, step_layout layout, double element_bytes)
{
    const step_shape *s = k->shape;
    uint64_t tokens = layout == STEP_KEPT_HIDDEN ? s->split_tokens : s->tokens;

    if (k->has_input) { /* the tensor of another module */
        k->has_input = false;
        return;
    }
    if (layout == STEP_KEPT_SPLIT)
        features /= s->options->tp;
    step_keep_bytes(k, element_bytes * (double)tokens * (double)features);
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
        k.bytes += step_module_kept(&b->module[i], s);
    return k.bytes;
}

static uint64_t counted(void (*keep)(step_keeper *k, const step_module *m), const step_module *m,
                        const step_shape *s)
{
    step_keeper k = {.shape = s, .has_input = m->is_shared};

    if (keep)
        keep(&k, m);
    return k.bytes;
}

/* The input of a part that is made again. */
static uint64_t begun(const step_module *m, const step_shape *s)
{
    const step_options *o = s->options;
    uint64_t rotated;

    if (m->is_shared)
        return 0;
    if (m->kind != &step_module_rotary)
        return step_module_input(m, s);
    rotated = m->rotates + m->rotates_split / o->tp;
    return (uint64_t)(o->activation_bytes * (double)s->tokens * (double)rotated);
}

/* Nothing within a part that is made again, but for attention, which knows itself what it makes again. */
uint64_t step_module_kept(const step_module *m, const step_shape *s)
{
    const unsigned again = step_again_parts(s->options), made = m->parts & again & ~(unsigned)STEP_AGAIN_CORE;
    const bool has_input = m->is_shared || m->reads & again;
    step_keeper k = {.shape = s, .has_input = has_input};

    if (made)
        return made & ~m->begins || has_input ? 0 : begun(m, s);
    if (m->kind->keep)
        m->kind->keep(&k, m);
    return k.bytes;
}

uint64_t step_module_deferred(const step_module *m, const step_shape *s)
{
    return counted(m->kind->defer, m, s);
}

uint64_t step_module_input(const step_module *m, const step_shape *s)
{
    uint64_t elements = m->kind->input ? m->kind->input(m, s) : s->split_tokens * m->in;

    return (uint64_t)(s->options->activation_bytes * (double)elements);
}
