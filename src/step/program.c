#include "step/program.h"

#include "base/array.h"
#include "step/module.h"

const step_module_kind *const step_module_kinds[] = {
    &step_module_embedding, &step_module_positions, &step_module_norm,    &step_module_head_norm,
    &step_module_linear,    &step_module_attention, &step_module_rotary,  &step_module_activation,
    &step_module_dropout,   &step_module_add,       &step_module_loss,    &step_module_router,
    &step_module_dispatch,  &step_module_grouped,   &step_module_combine, NULL};

step_shape step_shape_of(const step_model *m, const step_options *o)
{
    step_shape s = {.options = o, .whole_sequence = m->sequence, .sequence = m->sequence / o->cp};

    s.tokens = o->micro_batch * s.sequence;
    s.split_tokens = o->sequence_parallel ? s.tokens / o->tp : s.tokens;
    return s;
}

step_collective step_collective_of(uint32_t type, step_group group, uint64_t in, uint64_t out,
                                   double element_bytes)
{
    return (step_collective){.type = type,
                             .group = group,
                             .in_bytes = (uint64_t)(element_bytes * (double)in),
                             .out_bytes = (uint64_t)(element_bytes * (double)out),
                             .element_bytes = element_bytes};
}

static uint64_t hidden_elements(const step_model *m, const step_options *o)
{
    return step_shape_of(m, o).split_tokens * m->hidden;
}

uint64_t step_hidden_bytes(const step_model *m, const step_options *o)
{
    return (uint64_t)(o->activation_bytes * (double)hidden_elements(m, o));
}

static bool is_sent_in_shares(const step_options *o)
{
    return o->splits_messages && !o->sequence_parallel && o->tp > 1;
}

step_collective step_transfer_of(const step_model *m, const step_options *o)
{
    const uint64_t n = hidden_elements(m, o) / (is_sent_in_shares(o) ? o->tp : 1);

    return step_collective_of(STEP_SEND, STEP_GROUP_PP, n, n, o->activation_bytes);
}

step_collective step_joining_of(const step_model *m, const step_options *o)
{
    const uint64_t n = is_sent_in_shares(o) ? hidden_elements(m, o) : 0;

    return step_collective_of(WL_ALL_GATHER, STEP_GROUP_TP, n / o->tp, n, o->activation_bytes);
}

/* ---- operations -------------------------------------------------------------------------------- */

static step_operation *add(step_builder *b)
{
    step_program *p = b->program;
    step_operation *op;

    DSE_ARENA_GROW(b->arena, p->operation, p->cap, p->n + 1);
    op = &p->operation[p->n++];
    *op = (step_operation){
        .module = b->module, .is_again = b->is_again, .needs = {b->ready, b->joined, DSE_NONE, DSE_NONE}};
    return op;
}

/* What comes next waits for the operation that was added last. */
static void advance(step_builder *b)
{
    b->ready = b->program->n - 1;
    b->joined = DSE_NONE;
}

static void make_again(step_builder *b);

void step_add_kernel(step_builder *b, const wl_kernel *k)
{
    step_operation *op;

    if (b->unmade && b->module->kind->keep) /* the first that reads what the forward pass would have kept */
        make_again(b);
    op = add(b);
    op->unit = STEP_UNIT_COMPUTE;
    op->kernel = *k;
    if (!op->kernel.operations) /* the roofline divides by them; a copy lasts as long as its bytes take */
        op->kernel.operations = 1;
    op->counted = (double)op->kernel.operations;
    advance(b);
}

step_split_over step_split_of(const step_options *o)
{
    return (step_split_over){o->tp, step_ep(o), step_etp(o)};
}

/* Neighbours are the ranks that split an expert, then those with other experts. */
uint32_t step_near_experts(const step_options *o)
{
    uint32_t near = o->near_ranks / step_etp(o);

    while (near > 1 && step_ep(o) % near)
        near--;
    return near ? near < step_ep(o) ? near : step_ep(o) : 1;
}

uint32_t step_group_size(const step_options *o, step_group g)
{
    uint32_t shards = o->cp * (o->dp / o->replicas);
    uint32_t with_experts = o->tp * o->cp * o->dp / (step_ep(o) * step_etp(o)); /* with the same */
    uint32_t near = step_near_experts(o);

    switch (g) {
    case STEP_GROUP_TP: return o->tp;
    case STEP_GROUP_CP: return o->cp;
    case STEP_GROUP_SHARD: return shards;
    case STEP_GROUP_SHARD_NEAR: return o->reshard_ranks ? o->reshard_ranks : shards;
    case STEP_GROUP_REPLICAS: return o->replicas;
    case STEP_GROUP_COPIES: return step_has_copies(o) ? 2 : 1;
    case STEP_GROUP_EXPERT_SHARD: return with_experts / o->replicas;
    case STEP_GROUP_EXPERT_REPLICAS: return o->replicas;
    case STEP_GROUP_EP: return step_ep(o);
    case STEP_GROUP_EP_NEAR: return near;
    case STEP_GROUP_EP_FAR: return step_ep(o) / near;
    case STEP_GROUP_ETP: return step_etp(o);
    case STEP_GROUP_EP_ETP: return step_ep(o) * step_etp(o);
    case STEP_GROUP_PP: return o->pp;
    case STEP_GROUP_EMBEDDING: return o->pp > 1 ? 2 : 1;
    case STEP_GROUP_MODEL: return o->tp * o->pp;
    case STEP_GROUP_WORLD: return o->tp * o->cp * o->dp * o->pp;
    default: return 1;
    }
}

uint32_t step_add_collective(step_builder *b, const step_collective *c, bool waits)
{
    step_operation *op;

    if (step_group_size(b->shape->options, c->group) == 1 && !c->even_alone)
        return DSE_NONE;
    op = add(b);
    op->unit = STEP_UNIT_LAYER;
    op->collective = *c;
    if (waits)
        advance(b);
    return b->program->n - 1;
}

void step_join(step_builder *b, uint32_t operation)
{
    if (operation == DSE_NONE)
        return;
    if (b->ready == DSE_NONE)
        b->ready = operation;
    else
        b->joined = operation; /* kinds of modules join one operation at a time */
}

static wl_kernel_class class_of_product(const step_builder *b)
{
    return step_is_low(b->shape->options, b->module) ? b->shape->options->low.class : WL_KERNEL_MATMUL;
}

static wl_kernel_class class_of_experts(const step_builder *b)
{
    const wl_kernel_class c = class_of_product(b);

    return c == WL_KERNEL_MATMUL ? WL_KERNEL_EXPERTS : c == WL_KERNEL_MATMUL_FP8 ? WL_KERNEL_EXPERTS_FP8 : c;
}

static void multiply(step_builder *b, wl_kernel_class class, uint64_t batch, uint64_t m, uint64_t n,
                     uint64_t k)
{
    const step_options *o = b->shape->options;
    const double operand = step_is_low(o, b->module) ? o->low.bytes : o->activation_bytes;
    wl_kernel kernel = {
        .class = class,
        .extent = {[WL_EXTENT_M] = m, [WL_EXTENT_N] = n, [WL_EXTENT_K] = k, [WL_EXTENT_BATCH] = batch},
        .element_bytes = operand};
    const wl_product_work work = wl_product_of(kernel.extent, operand, o->activation_bytes);

    kernel.operations = (uint64_t)work.operations;
    kernel.bytes = (uint64_t)work.bytes;
    step_add_kernel(b, &kernel);
}

void step_add_product(step_builder *b, uint64_t m, uint64_t n, uint64_t k)
{
    multiply(b, class_of_product(b), 1, m, n, k);
}

void step_add_products(step_builder *b, uint64_t batch, uint64_t m, uint64_t n, uint64_t k, double mean)
{
    multiply(b, class_of_experts(b), batch, m, n, k);
    b->program->operation[b->ready].counted *= mean;
}

void step_add_elementwise(step_builder *b, wl_kernel_class class, uint64_t elements, double operations,
                          double bytes)
{
    wl_kernel kernel = {
        .class = class,
        .extent = {[WL_EXTENT_M] = elements, [WL_EXTENT_N] = 1, [WL_EXTENT_K] = 1, [WL_EXTENT_BATCH] = 1},
        .element_bytes = b->shape->options->activation_bytes,
        .operations = (uint64_t)(operations * (double)elements),
        .bytes = (uint64_t)(bytes * (double)elements)};

    step_add_kernel(b, &kernel);
}

void step_add_gradient(step_builder *b, uint64_t elements)
{
    const step_options *o = b->shape->options;

    if (o->n_micro_batches > 1 && o->zero < 2)
        step_add_elementwise(b, WL_KERNEL_ELEMENTWISE, elements, 1,
                             o->activation_bytes + 2 * o->gradient_bytes);
}

uint32_t step_gather_tokens(step_builder *b, uint64_t features, bool waits)
{
    const step_shape *s = b->shape;
    const step_collective c = step_collective_of(WL_ALL_GATHER, STEP_GROUP_TP, s->split_tokens * features,
                                                 s->tokens * features, s->options->activation_bytes);

    return step_add_collective(b, &c, waits);
}

uint32_t step_reduce_tokens(step_builder *b, uint64_t features, bool waits)
{
    const step_shape *s = b->shape;
    const step_collective c =
        step_collective_of(s->options->sequence_parallel ? WL_REDUCE_SCATTER : WL_ALL_REDUCE, STEP_GROUP_TP,
                           s->tokens * features, s->split_tokens * features, s->options->activation_bytes);

    return step_add_collective(b, &c, waits);
}

/* ---- pieces ------------------------------------------------------------------------------------ */

static step_builder begin(const step_shape *s, unsigned parts, dse_arena *a, step_program *out)
{
    *out = (step_program){0};
    return (step_builder){
        .shape = s, .program = out, .arena = a, .parts = parts, .ready = DSE_NONE, .joined = DSE_NONE};
}

static void forward(step_builder *b, const step_block *block, bool all)
{
    const uint32_t first = b->program->n;

    for (uint32_t i = 0; i < block->n; i++) {
        b->module = &block->module[i];
        if (all || step_is_made_again(b->shape->options, b->module))
            b->module->kind->forward(b, b->module);
    }
    if (all && b->shape->options->overlaps_shared)
        step_overlap_shared(block, first, false, b->arena, b->program);
}

/* Backward modules are over when all of their operations are. */
static void find_ends(const step_block *block, uint32_t first, step_program *p)
{
    uint32_t end = first;

    for (uint32_t m = block->n; m-- > 0;) {
        for (uint32_t i = end; i < p->n; i++)
            end = p->operation[i].module == &block->module[m] ? i + 1 : end;
        p->end_of[m] = end;
    }
}

void step_program_forward(const step_block *block, const step_shape *s, dse_arena *a, step_program *out)
{
    step_builder b = begin(s, STEP_PART_BOTH, a, out);

    forward(&b, block, true);
}

/* Takes an operation that none after it waits for out of a program. */
static void drop_operation(step_program *p, uint32_t at)
{
    p->n--;
    for (uint32_t i = at; i < p->n; i++) {
        p->operation[i] = p->operation[i + 1];
        for (size_t k = 0; k < DSE_COUNT(p->operation[i].needs); k++)
            if (p->operation[i].needs[k] != DSE_NONE && p->operation[i].needs[k] > at)
                p->operation[i].needs[k]--;
    }
}

static bool is_scattered_sum(const step_operation *o)
{
    return o->unit == STEP_UNIT_LAYER && o->collective.type == WL_REDUCE_SCATTER;
}

static bool is_product(const step_operation *o)
{
    return o->unit == STEP_UNIT_COMPUTE && wl_kernel_is_product(o->kernel.class);
}

/* Leaves out what comes after the last matrix product of the forward pass that was made again from operation
 * `first` on, and the sum that goes on beside it: nothing that is kept depends on it. Nor does it on that
 * product, which options may leave out, too, in pieces or not, unless it is of experts, whose results are
 * weighed. */
static void drop_end(step_builder *b, uint32_t first)
{
    step_program *p = b->program;
    bool leaves_product = b->shape->options->leaves_unread;
    const step_module *last;

    while (p->n > first && p->operation[p->n - 1].unit == STEP_UNIT_COMPUTE &&
           !is_product(&p->operation[p->n - 1]))
        p->n--;
    if (p->n > first && p->operation[p->n - 1].unit == STEP_UNIT_LAYER)
        p->n--;
    last = p->n > first ? p->operation[p->n - 1].module : NULL;
    leaves_product = leaves_product && last && last->kind == &step_module_linear;
    for (uint32_t i = p->n; i-- > first && p->operation[i].module == last;) {
        const bool is_sum = is_scattered_sum(&p->operation[i]);

        if (is_sum || (leaves_product && is_product(&p->operation[i])))
            drop_operation(p, i);
        if (is_sum && !leaves_product)
            break;
    }
    b->ready = p->n ? p->n - 1 : DSE_NONE;
    b->joined = DSE_NONE;
}

/* torch's non-reentrant checkpoint makes a block again when the backward pass first reads something that was
 * kept, so after the collective of the gradient that comes in, and stops as soon as all that is kept is
 * made: autograd keeps the operands of a product before it multiplies (torch/utils/checkpoint.py,
 * _recomputation_hook). Compilers come to the same, XLA among them: what nobody reads is not computed. */
static void make_again(step_builder *b)
{
    const step_module *module = b->module;
    const step_block *block = b->unmade;
    uint32_t first = b->program->n;

    b->unmade = NULL;
    b->is_again = true;
    forward(b, block, true);
    drop_end(b, first);
    b->is_again = false;
    b->module = module;
}

void step_program_backward(const step_block *block, const step_shape *s, unsigned parts, bool again,
                           dse_arena *a, step_program *out)
{
    step_builder b = begin(s, parts, a, out);
    uint32_t first;

    out->end_of = DSE_ARENA_NEW(a, uint32_t, block->n);
    if (parts & STEP_PART_INPUT && again && s->options->stops_early) {
        b.unmade = block;
    } else if (parts & STEP_PART_INPUT && (again || s->options->recompute == STEP_RECOMPUTE_SELECTIVE)) {
        b.is_again = true;
        forward(&b, block, again);
        if (!again && s->options->leaves_unread && out->n &&
            out->operation[out->n - 1].module->parts & step_again_parts(s->options) & STEP_AGAIN_MLP)
            drop_end(&b, 0);
        b.is_again = false;
    }
    first = out->n;
    for (uint32_t i = block->n; i-- > 0;) {
        b.module = &block->module[i];
        b.module->kind->backward(&b, b.module);
        out->end_of[i] = out->n;
    }
    if (!s->options->overlaps_shared || s->options->stops_early)
        return;
    step_overlap_shared(block, first, true, a, out);
    find_ends(block, first, out);
}
