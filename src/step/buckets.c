#include "step/buckets.h"

#include "step/module.h"

#include <string.h>

/* Where the stages are not equal, the embedding and the head count as a layer each: Megatron-LM's
 * account_for_embedding_in_pipeline_split and _loss_, DeepSpeed's partition by "type:transformer|embedding",
 * and TorchTitan's input_weight and output_weight of 1. */
static bool ends_count(const step_model *m, uint32_t n_stages)
{
    return m->n_layers % n_stages && (m->n_layers + 2) % n_stages == 0;
}

/* The same, where what is left over goes to the first stages (TorchTitan, generate_llm_fqn_per_model_part),
 * and no stage but the first and the last differs from the others by that (Megatron-LM,
 * decoder_first_pipeline_num_layers and _last_). */
static bool ends_differ(const step_model *m, uint32_t n_stages)
{
    const uint32_t over = (m->n_layers + 2) % n_stages;

    return m->n_layers % n_stages && (over <= 1 || over + 1 == n_stages);
}

bool step_stages_fit(const step_model *m, uint32_t n_stages, bool is_virtual)
{
    if (m->n_laid_out)
        return n_stages == m->n_laid_out;
    return m->n_layers % n_stages == 0 || (is_virtual ? ends_count(m, n_stages) : ends_differ(m, n_stages));
}

step_stage step_stage_of(const step_model *m, uint32_t number, uint32_t n_stages)
{
    const uint32_t each = m->n_layers / n_stages, more = m->n_layers % n_stages;
    step_stage s = {.n_layers = each + (number < more),
                    .has_embedding = number == 0,
                    .has_head = number + 1 == n_stages,
                    .n_recomputed = m->n_recomputed == n_stages ? m->recomputed[number] : DSE_NONE};
    uint32_t first = number * each + (number < more ? number : more);

    if (m->n_laid_out == n_stages) {
        s.n_layers = m->laid_out[number];
        first = 0;
        for (uint32_t i = 0; i < number; i++)
            first += m->laid_out[i];
    } else if (ends_differ(m, n_stages)) {
        const uint32_t blocks = (m->n_layers + 2) / n_stages, over = (m->n_layers + 2) % n_stages;

        s.n_layers = blocks + (number < over) - (s.has_embedding ? 1 : 0) - (s.has_head ? 1 : 0);
        first = number ? number * blocks + (number < over ? number : over) - 1 : 0;
    }
    s.layer = m->layer ? m->layer + first : NULL;
    s.n_blocks = s.has_embedding + s.n_layers + s.has_head;
    if (s.has_head && m->n_mtp) {
        s.n_mtp = m->n_mtp;
        s.mtp_block = m->mtp_block;
        s.n_blocks += 1 + 2 * s.n_mtp;
    }
    return s;
}

step_block_kind step_stage_block(const step_stage *s, uint32_t position)
{
    if (s->has_embedding && position == 0)
        return STEP_EMBEDDING;
    if (position >= s->has_embedding + s->n_layers) {
        const uint32_t behind =
            position - s->has_embedding - s->n_layers; /* the head, the embedding, and so on */

        return behind == 1 ? STEP_EMBEDDING : behind % 2 ? STEP_HEAD : behind ? s->mtp_block : STEP_HEAD;
    }
    return s->layer ? (step_block_kind)s->layer[position - s->has_embedding] : STEP_LAYER;
}

bool step_stage_recomputes(const step_stage *s, const step_options *o, uint32_t position)
{
    const uint32_t layer = position - s->has_embedding, first = s->n_recomputed != DSE_NONE ? s->n_recomputed
                                                                : o->recompute_layers ? o->recompute_layers
                                                                                      : DSE_NONE;

    if (o->recompute != STEP_RECOMPUTE_FULL || layer >= first)
        return false;
    return o->recompute_every < 2 || (layer + 1) % o->recompute_every == 0;
}

bool step_stage_is_same(const step_stage *a, const step_stage *b)
{
    return a->n_recomputed == b->n_recomputed && a->has_embedding == b->has_embedding &&
           a->has_head == b->has_head && a->n_layers == b->n_layers && a->n_mtp == b->n_mtp &&
           (a->layer == b->layer || memcmp(a->layer, b->layer, a->n_layers * sizeof *a->layer) == 0);
}

/* ---- parameters of a stage --------------------------------------------------------------------- */

typedef struct {
    uint32_t block;
    step_parameter here; /* on a rank of a tensor parallel group */
    bool is_tied;        /* another stage has it, too */
    bool is_low;         /* it is gathered in fewer bits */
    bool is_expert;      /* it is reduced apart from others */
} parameter;

typedef struct {
    uint32_t n;
    parameter *item;
} parameters;

static bool is_table(const step_block *b, uint32_t module)
{
    return b->module[module].kind == &step_module_embedding;
}

/* Of experts those of each. */
static uint64_t parameters_of_block(const step_block *b, const step_options *o)
{
    uint64_t n = 0;

    for (uint32_t i = 0; i < b->n_parameters; i++) {
        const uint64_t experts = step_parameter_on(&b->parameter[i], step_split_of(o)).n_experts;

        n += experts ? experts : 1;
    }
    return n;
}

/* Adds one of a block; of experts that of each, or with `in_turn`, of all that stand beside each other, those
 * of the first expert, then those of the next. Returns how many of the block's it has added. */
static uint32_t add_parameters(const step_options *o, const step_block *b, uint32_t from, parameter first,
                               parameters *all)
{
    const uint32_t n_experts = (uint32_t)first.here.n_experts;
    uint32_t n = 1;

    while (n_experts && o->experts_in_turn && from + n < b->n_parameters &&
           b->parameter[from + n].n_experts == b->parameter[from].n_experts)
        n++;
    first.is_expert = n_experts && step_experts_apart(o);
    for (uint32_t e = 0; e < (n_experts ? n_experts : 1); e++)
        for (uint32_t i = from; i < from + n; i++) {
            parameter *p = &all->item[all->n++];

            *p = first;
            p->here = step_parameter_on(&b->parameter[i], step_split_of(o));
            p->here.n_experts = 0;
        }
    return n;
}

/* The table of the embedding, or the matrix that makes the logits. */
static bool is_end_of(step_block_kind kind, const step_block *b, const step_parameter *p)
{
    return (kind == STEP_EMBEDDING && is_table(b, p->module)) || (kind == STEP_HEAD && step_is_output(b, p));
}

bool step_is_defined(const step_model *m, const step_stage *s, uint32_t position, const step_parameter *p)
{
    const step_block_kind kind = step_stage_block(s, position);
    const bool is_end = is_end_of(kind, &m->block[kind], p),
               is_mtp = position > s->has_embedding + s->n_layers;

    if (kind == STEP_HEAD)
        return is_end && (is_mtp || (m->is_tied && s->has_embedding));
    return kind == STEP_EMBEDDING && is_mtp && (s->has_embedding || (m->is_tied && is_end));
}

/* In the order of definition. A tied embedding is defined once on a stage. */
static parameters parameters_of(const step_model *m, const step_options *o, const step_stage *s, dse_arena *a)
{
    parameters all = {0};
    uint64_t most = 0;

    for (uint32_t i = 0; i < s->n_blocks; i++)
        most += parameters_of_block(&m->block[step_stage_block(s, i)], o);
    all.item = DSE_ARENA_RAW(a, parameter, most);
    for (uint32_t i = 0; i < s->n_blocks; i++) {
        step_block_kind kind = step_stage_block(s, i);
        const step_block *b = &m->block[kind];

        for (uint32_t j = 0, n = 1; j < b->n_parameters; j += n) {
            const step_parameter *p = &b->parameter[j];
            const bool is_shared =
                is_end_of(kind, b, p) && (m->is_tied || (m->n_mtp && kind == STEP_EMBEDDING));

            n = 1;
            if (step_is_defined(m, s, i, p))
                continue;
            n = add_parameters(o, b, j,
                               (parameter){.block = i,
                                           .here = step_parameter_on(p, step_split_of(o)),
                                           .is_low = step_is_low_parameter(o, b, p),
                                           .is_tied = is_shared && !(s->has_embedding && s->has_head)},
                               &all);
        }
    }
    return all;
}

/* Whether the backward pass comes to `a` before `b`. */
static bool is_earlier(uint32_t block_a, uint32_t module_a, uint32_t block_b, uint32_t module_b)
{
    return block_a != block_b ? block_a > block_b : module_a > module_b;
}

static void reverse(parameters *all)
{
    for (uint32_t i = 0, j = all->n; i + 1 < j; i++) {
        parameter p = all->item[i];

        all->item[i] = all->item[--j];
        all->item[j] = p;
    }
}

/* Stable, and nearly sorted before. */
static void sort_by_readiness(parameters *all)
{
    for (uint32_t i = 1; i < all->n; i++) {
        parameter p = all->item[i];
        uint32_t j = i;

        for (; j && is_earlier(p.block, p.here.module, all->item[j - 1].block, all->item[j - 1].here.module);
             j--)
            all->item[j] = all->item[j - 1];
        all->item[j] = p;
    }
}

/* ---- collectives ------------------------------------------------------------------------------- */

static bool is_called(const step_options *o, step_group group)
{
    return o->calls_alone || step_group_size(o, group) > 1;
}

static void reductions_of(const step_options *o, step_bucket *b)
{
    const step_group group = step_shards_of(b),
                     replicas = b->is_expert ? STEP_GROUP_EXPERT_REPLICAS : STEP_GROUP_REPLICAS;
    const uint64_t shard = b->elements / step_group_size(o, group), summed = o->zero ? shard : b->elements;

    if (is_called(o, group) && o->zero)
        b->reduction[b->n_reductions++] =
            step_collective_of(WL_REDUCE_SCATTER, group, b->elements, shard, o->reduce_bytes);
    else if (is_called(o, group))
        b->reduction[b->n_reductions++] =
            step_collective_of(WL_ALL_REDUCE, group, b->elements, b->elements, o->reduce_bytes);
    if (o->replicas > 1)
        b->reduction[b->n_reductions++] =
            step_collective_of(WL_ALL_REDUCE, replicas, summed, summed, o->reduce_bytes);
    if (step_has_copies(o))
        b->reduction[b->n_reductions++] =
            step_collective_of(WL_ALL_REDUCE, STEP_GROUP_COPIES, summed, summed, o->reduce_bytes);
}

static step_collective gathering_over(const step_options *o, const step_bucket *b, step_group group)
{
    step_collective c = step_collective_of(WL_ALL_GATHER, group, b->elements / step_group_size(o, group),
                                           b->elements, o->weight_bytes);

    if (b->low_elements) {
        c.out_bytes = (uint64_t)(o->weight_bytes * (double)(b->elements - b->low_elements) +
                                 o->low.bytes * (double)b->low_elements);
        c.in_bytes = c.out_bytes / step_group_size(o, group);
    }
    return c;
}

static void complete(const step_options *o, step_bucket *b)
{
    if (!b->elements)
        return;
    reductions_of(o, b);
    b->is_gathered = o->zero && is_called(o, step_shards_of(b));
    b->gathering = gathering_over(o, b, step_shards_of(b));
    b->gathering_again = b->is_expert ? b->gathering : gathering_over(o, b, STEP_GROUP_SHARD_NEAR);
}

/* ---- buckets ----------------------------------------------------------------------------------- */

static uint64_t common_multiple(uint64_t a, uint64_t b)
{
    uint64_t x = a, y = b;

    while (y) {
        uint64_t rest = x % y;

        x = y;
        y = rest;
    }
    return a / x * b;
}

/* Shards of a bucket are equal; of Megatron-LM they also begin at a multiple of 256 bytes of 16 bits. */
static uint64_t bucket_end(const step_options *o, const step_bucket *b)
{
    uint64_t shards = step_group_size(o, step_shards_of(b));

    if (!o->zero)
        return b->elements;
    return step_round_up(b->elements, o->pads_parameters > 1 ? common_multiple(shards, 128) : shards);
}

/* The number of elements that closes a bucket; 0: none does. */
static uint64_t bucket_limit(const step_options *o, const step_stage *s, uint32_t number, uint32_t step)
{
    if (!o->overlaps_gradients || (o->buckets_first_stage && !s->has_embedding) ||
        (o->buckets_by_readiness && !step))
        return 0;
    return number == 0 && o->first_bucket_elements ? o->first_bucket_elements : o->bucket_elements;
}

/* With a distributed optimizer, both stages of a tied embedding shard it alike, so it is a bucket alone. */
static bool is_alone(const step_options *o, const parameter *p) { return o->zero && p->is_tied; }

/* Those of experts, or the others. */
static void fill_buckets(const step_options *o, const step_stage *s, const parameters *all, uint32_t step,
                         bool experts, step_buckets *out)
{
    const uint32_t first = out->n;
    step_bucket *b = NULL;

    for (uint32_t i = 0; i < all->n; i++) {
        const parameter *p = &all->item[i];
        uint64_t limit;

        if (p->is_expert != experts)
            continue;
        if (b && is_alone(o, p))
            b = NULL;
        if (!b) {
            b = &out->bucket[out->n++];
            *b = (step_bucket){.is_expert = experts, .ready_block = p->block, .ready_module = p->here.module};
        }
        if (o->zero)
            b->elements = step_round_up(b->elements, o->pads_parameters);
        b->elements += step_parameter_elements(&p->here);
        b->low_elements += p->is_low ? step_parameter_elements(&p->here) : 0;
        if (is_earlier(b->ready_block, b->ready_module, p->block, p->here.module)) {
            b->ready_block = p->block;
            b->ready_module = p->here.module;
        }
        limit = bucket_limit(o, s, out->n - 1 - first, step);
        if ((limit && b->elements >= limit) || is_alone(o, p))
            b = NULL;
    }
    for (uint32_t i = first; i < out->n; i++)
        out->bucket[i].elements = bucket_end(o, &out->bucket[i]);
}

/* ---- units ------------------------------------------------------------------------------------- */

/* A parameter is sharded by its rows, those of the last shards are padded. */
static uint64_t sharded_elements(const step_options *o, const parameter *p)
{
    const step_group group = p->is_expert ? STEP_GROUP_EXPERT_SHARD : STEP_GROUP_SHARD;

    return step_round_up(p->here.rows, step_group_size(o, group)) * p->here.columns;
}

/* The experts of a block are a unit behind that of the block itself (TorchTitan,
 * llama4/infra/parallelize.py). */
static bool has_expert_unit(const step_options *o, const step_model *m, step_block_kind kind)
{
    bool has = false;

    for (uint32_t i = 0; i < m->block[kind].n_parameters; i++)
        has |= m->block[kind].parameter[i].n_experts > 0;
    return has && step_experts_apart(o);
}

static void fill_units(const step_model *m, const step_options *o, const step_stage *s, const parameters *all,
                       step_buckets *out)
{
    uint32_t *unit_of = out->launch; /* per block; free until the launches are written */

    if (o->shards_root) /* its forward pass is that of all */
        out->bucket[out->n++] = (step_bucket){.last_block = s->n_blocks - 1, .is_kept = true};
    for (uint32_t i = 0; i < s->n_blocks; i++) {
        step_block_kind kind = step_stage_block(s, i);

        if (o->shards_root && !step_is_layer(kind)) {
            unit_of[i] = 0;
            continue;
        }
        unit_of[i] = out->n++;
        out->bucket[unit_of[i]] =
            (step_bucket){.first_block = i, .last_block = i, .is_kept = kind == STEP_HEAD};
        if (has_expert_unit(o, m, kind))
            out->bucket[out->n++] = (step_bucket){.is_expert = true, .first_block = i, .last_block = i};
    }
    for (uint32_t i = 0; i < all->n; i++) {
        step_bucket *b = &out->bucket[unit_of[all->item[i].block] + all->item[i].is_expert];

        b->elements += sharded_elements(o, &all->item[i]);
        b->low_elements += all->item[i].is_low ? sharded_elements(o, &all->item[i]) : 0;
    }
    for (uint32_t i = 0; i < out->n; i++) {
        out->bucket[i].ready_block = out->bucket[i].first_block;
        out->bucket[i].ready_module = 0;
    }
}

/* ---- both -------------------------------------------------------------------------------------- */

static void sort_launches(step_buckets *b)
{
    for (uint32_t i = 0; i < b->n; i++) {
        const step_bucket *new = &b->bucket[i];
        uint32_t j = i;

        for (; j; j--) {
            const step_bucket *had = &b->bucket[b->launch[j - 1]];

            if (!is_earlier(new->ready_block, new->ready_module, had->ready_block, had->ready_module))
                break;
            b->launch[j] = b->launch[j - 1];
        }
        b->launch[j] = i;
    }
}

void step_buckets_make(const step_model *m, const step_options *o, const step_stage *s, uint32_t step,
                       dse_arena *a, step_buckets *out)
{
    parameters all = parameters_of(m, o, s, a);
    uint32_t most = all.n > s->n_blocks ? all.n + s->n_blocks : 2 * s->n_blocks + 1;

    *out = (step_buckets){.n_parameters = all.n,
                          .bucket = DSE_ARENA_RAW(a, step_bucket, most),
                          .launch = DSE_ARENA_RAW(a, uint32_t, most)};
    if (o->zero == 3) {
        fill_units(m, o, s, &all, out);
    } else {
        reverse(&all);
        if (o->buckets_by_readiness)
            sort_by_readiness(&all);
        fill_buckets(o, s, &all, step, false, out);
        fill_buckets(o, s, &all, step, true, out);
    }
    for (uint32_t i = 0; i < out->n; i++)
        complete(o, &out->bucket[i]);
    sort_launches(out);
}

uint64_t step_whole_elements(const step_model *m, const step_stage *s)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < s->n_blocks; i++) {
        const step_block *b = &m->block[step_stage_block(s, i)];

        for (uint32_t j = 0; j < b->n_parameters; j++) {
            const step_module *of = &b->module[b->parameter[j].module];
            bool is_norm = of->kind == &step_module_norm || of->kind == &step_module_head_norm;
            /* of a layer, a matrix that all ranks have: those that make latents */
            bool is_shared =
                of->kind == &step_module_linear && of->split == STEP_SPLIT_NONE && of->is_of_layer;
            bool is_whole = (is_norm || is_shared || of->kind == &step_module_router ||
                             (of->split == STEP_SPLIT_ROW && !of->n_experts)) &&
                            !b->parameter[j].is_split;

            sum += is_whole ? step_parameter_elements(&b->parameter[j]) : 0;
        }
    }
    return sum;
}

uint64_t step_tied_elements(const step_model *m, const step_options *o)
{
    const step_block *b = &m->block[STEP_EMBEDDING];

    for (uint32_t i = 0; (m->is_tied || m->n_mtp) && i < b->n_parameters; i++)
        if (is_table(b, b->parameter[i].module))
            return step_parameter_share(&b->parameter[i], step_split_of(o));
    return 0;
}
