#include "step/count.h"

#include "step/module.h"

/* Whether a module of a layer is of its attention: up to the matrix behind it. */
static bool is_of_attention(const step_block *b, uint32_t module)
{
    uint32_t i = module ? module - 1 : 0;

    while (i < b->n && b->module[i].kind != &step_module_attention)
        i++;
    return i < b->n;
}

static step_count_group group_of(step_block_kind kind, const step_block *b, uint32_t module)
{
    const step_module *m = &b->module[module];

    if (m->kind == &step_module_norm || m->kind == &step_module_head_norm)
        return STEP_COUNT_NORMS;
    if (m->kind == &step_module_embedding)
        return STEP_COUNT_EMBEDDING;
    if (m->kind == &step_module_positions)
        return STEP_COUNT_POSITIONS;
    if (kind == STEP_HEAD && module + 1 < b->n && b->module[module + 1].kind == &step_module_loss)
        return STEP_COUNT_HEAD;
    if (!step_is_layer(kind))
        return STEP_COUNT_OTHER;
    if (m->kind == &step_module_grouped)
        return STEP_COUNT_EXPERTS;
    if (m->kind == &step_module_router && m->top_k)
        return STEP_COUNT_ROUTER;
    if (m->is_shared_expert || m->kind == &step_module_router)
        return STEP_COUNT_SHARED_EXPERTS;
    return is_of_attention(b, module) ? STEP_COUNT_ATTENTION : STEP_COUNT_FEED_FORWARD;
}

static uint64_t pairs_of(uint64_t sequence, uint64_t window)
{
    return window && window < sequence ? window * (window + 1) / 2 + (sequence - window) * window
                                       : sequence * (sequence + 1) / 2;
}

static uint64_t pairs_in(const step_module *m, uint64_t sequence)
{
    if (!m->is_causal)
        return sequence * sequence;
    if (m->is_chunked && m->window)
        return sequence / m->window * pairs_of(m->window, 0) + pairs_of(sequence % m->window, 0);
    return pairs_of(sequence, m->window);
}

static void count_attention(const step_module *m, uint64_t sequence, uint64_t times, step_count *c)
{
    const uint64_t pairs = 2 * m->heads * times * pairs_in(m, sequence);

    c->scores += pairs * m->head_size;
    c->values += pairs * m->value_size;
    *(m->window ? &c->cached_in_window : &c->cached) += times * m->cached;
}

/* `is_before`: of the matrices of attention those that make queries, keys and values. */
static void count_products(const step_module *m, step_count_group group, bool is_before, uint64_t times,
                           step_count *c)
{
    for (uint32_t i = 0; i < m->n_parts; i++) {
        const uint64_t n = 2 * times * m->in * m->out[i] * (m->kind == &step_module_grouped ? m->top_k : 1);

        c->operations[group] += n;
        if (is_before)
            *(i || m->makes_keys ? &c->keys : &c->queries) += n;
    }
}

step_count step_count_of(const step_model *m)
{
    step_count c = {0};
    uint64_t idle = 0; /* parameters of experts that a token does not take */

    for (uint32_t kind = 0; kind < m->n_blocks; kind++) {
        const step_block *b = &m->block[kind];
        const uint64_t times = step_block_times(m, (step_block_kind)kind);

        for (uint32_t i = 0; i < b->n_parameters; i++) {
            const step_parameter *p = &b->parameter[i];

            if (m->is_tied && kind == STEP_HEAD && step_is_output(b, p))
                continue;
            c.parameters[group_of((step_block_kind)kind, b, p->module)] +=
                step_parameter_times(m, (step_block_kind)kind, p) * step_parameter_elements(p);
            if (p->n_experts)
                idle += times * p->rows * p->columns * (p->n_experts - b->module[p->module].top_k);
        }
        for (uint32_t i = 0; i < b->n; i++) {
            const step_module *of = &b->module[i];
            const step_count_group group = group_of((step_block_kind)kind, b, i);
            const bool is_before =
                group == STEP_COUNT_ATTENTION && !(i && b->module[i - 1].kind == &step_module_attention);

            if (of->kind == &step_module_linear || of->kind == &step_module_router ||
                of->kind == &step_module_grouped)
                count_products(of, group, is_before, times + (kind == STEP_HEAD ? m->n_mtp : 0), &c);
            else if (of->kind == &step_module_attention)
                count_attention(of, m->sequence, times, &c);
        }
    }
    for (int i = 0; i < STEP_N_COUNTS; i++)
        c.total += c.parameters[i];
    c.active = c.total - idle;
    return c;
}
