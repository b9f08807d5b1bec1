/* What a block of modules takes: its parameters, what it keeps, and the moment at which a pass needs most. */
#include "step/memory_parts.h"

#include <string.h>

/* ---- parameters -------------------------------------------------------------------------------- */

/* Fully sharded parameters are split by rows, each (torch, fsdp/_fully_shard/_fsdp_param.py); a distributed
 * optimizer lays all out one after the other and splits that (Megatron-LM, distrib_optimizer.py). */
void mem_add_parameter(mem_unit *u, const step_parameter *p, const step_options *o)
{
    const step_parameter here = step_parameter_on(p, step_split_of(o));
    const bool is_apart = here.n_experts && step_experts_apart(o);
    const uint64_t times = here.n_experts ? here.n_experts : 1;
    uint64_t n = step_parameter_elements(&here);
    uint32_t shards = step_group_size(o, is_apart ? STEP_GROUP_EXPERT_SHARD : STEP_GROUP_SHARD);

    u->elements += n;
    *(is_apart ? &u->expert_padded : &u->padded) +=
        times * step_round_up(n / times, o->zero && o->zero < 3 ? o->pads_parameters : 1);
    u->share += times * (step_round_up(here.rows, shards) / shards * here.columns);
}

void step_memory_state(const step_options *o, uint64_t elements, uint64_t share, uint64_t out[STEP_N_HOLDS])
{
    memset(out, 0, STEP_N_HOLDS * sizeof *out);
    out[STEP_HOLDS_PARAMETERS] = (uint64_t)(o->kept_weight_bytes * (double)(o->zero == 3 ? share : elements));
    out[STEP_HOLDS_GRADIENTS] = (uint64_t)(o->gradient_bytes * (double)(o->zero >= 2 ? share : elements));
    out[STEP_HOLDS_OPTIMIZER] = (uint64_t)(o->optimizer_bytes * (double)(o->zero >= 1 ? share : elements));
}

static uint64_t padded_share(const step_options *o, uint64_t padded, step_group group)
{
    const uint32_t shards = step_group_size(o, group);

    return (padded + shards - 1) / shards;
}

mem_held mem_state_of(const step_memory *s, const mem_unit *all)
{
    const step_options *o = s->options;
    uint64_t bytes[STEP_N_HOLDS], share = all->share;
    mem_held h;

    if (o->zero < 3)
        share = padded_share(o, all->padded, STEP_GROUP_SHARD) +
                padded_share(o, all->expert_padded, STEP_GROUP_EXPERT_SHARD);
    step_memory_state(o, all->padded + all->expert_padded, share, bytes);
    for (int i = 0; i < STEP_N_HOLDS; i++)
        h.of[i] = (int64_t)bytes[i];
    if (o->copies_buckets)
        h.of[STEP_HOLDS_BUCKETS] = (int64_t)(o->gradient_bytes * (double)all->elements);
    return h;
}

/* ---- units ------------------------------------------------------------------------------------- */

static void keep_largest(mem_held *most, const mem_held *h)
{
    if (mem_total(h) > mem_total(most))
        *most = *h;
}

/* What selective recomputation makes again for a module. */
static int64_t made_again(const step_module *m, const step_shape *s)
{
    step_options o = *s->options;
    step_shape whole = *s;

    if (!((m->parts | m->reads) & step_again_parts(&o)))
        return 0;
    o.recompute = STEP_RECOMPUTE_NONE;
    whole.options = &o;
    return (int64_t)(step_module_kept(m, &whole) - step_module_kept(m, s));
}

/* What of it is there in the backward pass of module i. */
static int64_t made_by(const step_memory *s, const step_block *b, uint32_t i)
{
    int64_t bytes = 0;

    if (!step_again_parts(s->options))
        return 0;
    for (uint32_t k = 0; k <= i; k++)
        if (step_made_until(s->options, b, k) >= i)
            bytes += made_again(&b->module[k], &s->shape);
    return bytes;
}

static int64_t output_bytes(const step_memory *s, const step_block *b, uint32_t i)
{
    return i + 1 < b->n ? (int64_t)step_module_input(&b->module[i + 1], &s->shape) : s->hidden;
}

static int64_t receives(const step_module *m, const step_shape *s, bool is_backward)
{
    return m->kind->receives ? (int64_t)m->kind->receives(m, s, is_backward) : 0;
}

static int64_t copies_of(const step_module *m, const step_shape *s)
{
    return m->kind->copies ? (int64_t)m->kind->copies(m, s) : 0;
}

/* Forward, module by module: what was kept so far, and the result. Nothing but the input is kept of a block
 * that is made again, so that a module's input lasts no longer than the module, and the block's own waits for
 * an addition. */
static void pass_forward(const step_memory *s, const step_block *b, bool again, mem_unit *u)
{
    mem_held kept = {{0}};

    if (again)
        kept.of[STEP_HOLDS_ACTIVATIONS] = u->kept.of[STEP_HOLDS_ACTIVATIONS];
    for (uint32_t i = 0; i < b->n; i++) {
        const step_module *m = &b->module[i];
        int64_t in = (int64_t)step_module_input(m, &s->shape),
                bytes = (int64_t)step_module_kept(m, &s->shape);
        mem_held now;

        if (m->kind == &step_module_loss)
            break;
        if (!again)
            kept.of[STEP_HOLDS_ACTIVATIONS] += bytes;
        now = kept;
        now.of[STEP_HOLDS_WORKING] =
            output_bytes(s, b, i) + made_again(m, &s->shape) + copies_of(m, &s->shape);
        if (again && i)
            now.of[STEP_HOLDS_WORKING] += s->hidden;
        if (again && i && bytes > in)
            now.of[STEP_HOLDS_WORKING] += bytes;
        else if (again && i)
            now.of[STEP_HOLDS_WORKING] += in;
        now.of[STEP_HOLDS_CONTEXT] = receives(m, &s->shape, false);
        keep_largest(&u->moment[SCHED_F], &now);
    }
}

/* Backward, from the last module: gradients of the result and of the input, and where a residual goes around
 * the module its gradient; what the modules behind it had kept is free, but for what the gradients of weights
 * wait for. */
static void pass_backward(const step_memory *s, const step_block *b, bool again, sched_kind kind, mem_unit *u)
{
    mem_held now = {{0}};

    now.of[STEP_HOLDS_RECOMPUTED] = again ? u->remade : 0;
    for (uint32_t i = b->n; i-- > 0;) {
        const step_module *m = &b->module[i];
        int64_t kept = (int64_t)step_module_kept(m, &s->shape);
        mem_held here = now;

        if (m->kind == &step_module_loss) {
            now.of[STEP_HOLDS_LOGITS] -= kept;
            continue;
        }
        here.of[STEP_HOLDS_WORKING] = (int64_t)step_module_input(m, &s->shape) + output_bytes(s, b, i) +
                                      copies_of(m, &s->shape) + (i && i + 1 < b->n ? s->hidden : 0);
        here.of[STEP_HOLDS_RECOMPUTED] += made_by(s, b, i);
        here.of[STEP_HOLDS_CONTEXT] = receives(m, &s->shape, true);
        keep_largest(&u->moment[kind], &here);
        if (i || !again)
            now.of[again ? STEP_HOLDS_RECOMPUTED : STEP_HOLDS_ACTIVATIONS] -= kept;
        if (kind == SCHED_I)
            now.of[STEP_HOLDS_DEFERRED] += (int64_t)step_module_deferred(m, &s->shape);
    }
}

/* The logits that the matrix product made, or their gradient in its place, and copies in 32 bits besides the
 * one that is kept. */
static void take_loss(const step_memory *s, const step_module *m, mem_unit *u)
{
    const step_options *o = s->options;
    int64_t logits = (int64_t)step_module_input(m, &s->shape);
    int64_t copy = (int64_t)(4.0 * (double)logits / o->activation_bytes);
    int64_t copies = o->logits_copies > 1 ? o->logits_copies - 1 : 0;

    u->loss[SCHED_F].of[STEP_HOLDS_LOGITS] = logits + copy * copies;
    u->loss[SCHED_B] = u->loss[SCHED_I] = u->loss[SCHED_F];
    mem_add(&u->loss[SCHED_F], &u->kept, 1);
    if (o->keeps_outputs)
        u->kept.of[STEP_HOLDS_LOGITS] += logits;
}

bool step_is_low_parameter(const step_options *o, const step_block *b, const step_parameter *p)
{
    const step_module *m = &b->module[p->module];

    return o->low.has_parameters && step_is_low(o, m) && step_is_matrix(m) && p->columns > 1;
}

uint64_t step_matrix_elements(const step_block *b, step_split_over over)
{
    uint64_t elements = 0;

    for (uint32_t i = 0; i < b->n_parameters; i++)
        if (step_is_matrix(&b->module[b->parameter[i].module]) && b->parameter[i].columns > 1)
            elements += step_parameter_share(&b->parameter[i], over);
    return elements;
}

/* Matrices of 8 bits: a copy where they are stored in more, and one that is transposed. */
static int64_t copied_matrices(const step_block *b, const step_options *o)
{
    return (int64_t)step_matrix_elements(b, step_split_of(o)) * (o->kept_weight_bytes > 1 ? 2 : 1);
}

int64_t mem_low_copies(const step_block *b, const step_options *o)
{
    if (!wl_kernel_is_low(o->low.class))
        return 0;
    return (int64_t)((o->low.has_parameters ? 1 : 2) * o->low.bytes *
                     (double)step_matrix_elements(b, step_split_of(o)));
}

void mem_make_unit(step_memory *s, mem_unit_kind kind)
{
    const step_block *b = &s->model->block[mem_block_of(kind)];
    const step_options *o = s->options;
    bool again = mem_is_again(kind);
    mem_unit *u = &s->unit[kind];

    for (uint32_t i = 0; i < b->n_parameters; i++) {
        mem_add_parameter(u, &b->parameter[i], o);
        u->low_elements += step_is_low_parameter(o, b, &b->parameter[i])
                               ? step_parameter_share(&b->parameter[i], step_split_of(o))
                               : 0;
    }
    u->gathered = (int64_t)(o->weight_bytes * (double)(u->elements - u->low_elements) +
                            o->low.bytes * (double)u->low_elements);
    for (uint32_t i = 0; i < b->n; i++) {
        const step_module *m = &b->module[i];
        int64_t kept = (int64_t)step_module_kept(m, &s->shape);

        u->remade += kept;
        u->kept.of[m->kind == &step_module_loss ? STEP_HOLDS_LOGITS : STEP_HOLDS_ACTIVATIONS] += kept;
        u->deferred.of[STEP_HOLDS_DEFERRED] += (int64_t)step_module_deferred(m, &s->shape);
    }
    if (again) {
        u->kept.of[STEP_HOLDS_ACTIVATIONS] = (int64_t)step_kept_bytes(b, &s->shape, true);
        u->remade -= u->kept.of[STEP_HOLDS_ACTIVATIONS];
    }
    pass_forward(s, b, again, u);
    pass_backward(s, b, again, SCHED_B, u);
    pass_backward(s, b, again, SCHED_I, u);
    if (b->n && b->module[b->n - 1].kind == &step_module_loss)
        take_loss(s, &b->module[b->n - 1], u);
    for (int k = SCHED_F; o->activation_bytes == 1 && k < SCHED_KINDS; k++)
        u->moment[k].of[STEP_HOLDS_WORKING] += copied_matrices(b, o);
    for (int k = SCHED_F;
         o->low.casts_weights_in_passes && step_is_layer(mem_block_of(kind)) && k < SCHED_KINDS; k++)
        u->moment[k].of[STEP_HOLDS_WORKING] += mem_low_copies(b, o);
}
