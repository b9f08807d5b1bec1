#include "step/issue.h"

#include "step/module.h"

static bool is_sharded(const step_chunk *c) { return c->options->zero == 3; }

/* A pass goes over its blocks, and must not look at all units for each. */
static step_units_of units_by(const step_chunk *c, bool by_last, dse_arena *a)
{
    const step_units_of of = {DSE_ARENA_NEW(a, uint32_t, c->stage.n_blocks + 1),
                              DSE_ARENA_RAW(a, uint32_t, c->buckets.n)};
    uint32_t n = 0;

    for (uint32_t u = 0; u < c->buckets.n; u++) {
        const step_bucket *b = &c->buckets.bucket[u];

        of.start[by_last ? b->last_block : b->first_block]++;
    }
    for (uint32_t block = 0; block <= c->stage.n_blocks; block++) { /* counts become ends of */
        n += of.start[block];
        of.start[block] = n;
    }
    for (uint32_t u = c->buckets.n; u-- > 0;) { /* and beginnings */
        const step_bucket *b = &c->buckets.bucket[u];

        of.unit[--of.start[by_last ? b->last_block : b->first_block]] = u;
    }
    return of;
}

void step_chunk_init(step_chunk *c, const step_model *m, const step_options *o, const step_stage *stage,
                     uint32_t rank, uint32_t step, dse_arena *a)
{
    *c = (step_chunk){.model = m, .options = o, .stage = *stage, .rank = rank, .step = step};
    step_buckets_make(m, o, stage, step, a, &c->buckets);
    if (is_sharded(c)) {
        c->begun = units_by(c, false, a);
        c->ended = units_by(c, true, a);
    }
    c->is_here = DSE_ARENA_NEW(a, bool, c->buckets.n);
    c->is_near = DSE_ARENA_NEW(a, bool, c->buckets.n);
    c->open = DSE_ARENA_RAW(a, uint32_t, o->n_micro_batches);
}

static step_item *add(step_items *out)
{
    DSE_ARENA_GROW(out->arena, out->item, out->cap, out->n + 1);
    return &out->item[out->n++];
}

static void add_block(step_items *out, uint32_t block)
{
    *add(out) = (step_item){.is_block = true, .block = block, .module = DSE_NONE};
}

static void add_collective(step_items *out, uint32_t block, uint32_t module, const step_collective *c)
{
    *add(out) = (step_item){.block = block, .module = module, .collective = *c};
}

static void add_reductions(step_items *out, const step_bucket *b, uint32_t module)
{
    for (uint32_t i = 0; i < b->n_reductions; i++)
        add_collective(out, b->ready_block, module, &b->reduction[i]);
}

/* ---- units: FSDP2 ------------------------------------------------------------------------------- */

static void gather_unit(step_chunk *c, uint32_t u, step_items *out)
{
    const step_bucket *b = &c->buckets.bucket[u];

    if (!c->is_here[u] && b->is_gathered)
        add_collective(out, b->first_block, DSE_NONE, c->is_near[u] ? &b->gathering_again : &b->gathering);
    c->is_here[u] = true;
}

static void shard_unit(step_chunk *c, uint32_t u, bool near)
{
    c->is_here[u] = false;
    c->is_near[u] = near;
}

/* The root, if there is one, is unit 0: its passes begin before and end after those of the others. */
static void begin_units(step_chunk *c, uint32_t block, step_items *out)
{
    for (uint32_t i = c->begun.start[block]; i < c->begun.start[block + 1]; i++)
        gather_unit(c, c->begun.unit[i], out);
}

static void end_units(step_chunk *c, uint32_t block)
{
    const step_options *o = c->options;

    for (uint32_t i = c->ended.start[block]; i < c->ended.start[block + 1]; i++)
        if (o->reshard_after_forward && !c->buckets.bucket[c->ended.unit[i]].is_kept)
            shard_unit(c, c->ended.unit[i], o->reshard_ranks);
}

/* The unit whose forward pass ended before this one's; of the first, the last of the recorded pass before,
 * even if its backward pass is over and nothing will read its parameters. */
static uint32_t unit_before(const step_chunk *c, uint32_t u, uint32_t pass)
{
    bool has_root = c->options->shards_root;
    uint32_t last = c->buckets.n - 1, first = has_root && last ? 1 : 0;

    if (has_root && u == 0)
        return last ? last : DSE_NONE;
    if (u > first)
        return u - 1;
    if (pass == 0)
        return DSE_NONE;
    return has_root ? 0 : last;
}

/* A block's unit, and that of its experts, which stands behind it. */
static void gather_both(step_chunk *c, uint32_t u, step_items *out)
{
    u -= c->buckets.bucket[u].is_expert;
    gather_unit(c, u, out);
    if (u + 1 < c->buckets.n && c->buckets.bucket[u + 1].is_expert)
        gather_unit(c, u + 1, out);
}

static void begin_units_backward(step_chunk *c, uint32_t block, uint32_t pass, step_items *out)
{
    for (uint32_t i = c->ended.start[block]; i < c->ended.start[block + 1]; i++) {
        const uint32_t u = c->ended.unit[i];
        uint32_t before;

        if (c->buckets.bucket[u].is_expert)
            continue;
        gather_both(c, u, out);
        before = unit_before(c, u, pass);
        if (before != DSE_NONE)
            gather_both(c, before, out);
    }
}

static void end_units_backward(step_chunk *c, uint32_t block, bool is_last, step_items *out)
{
    for (uint32_t i = c->begun.start[block + 1]; i-- > c->begun.start[block];) {
        const uint32_t u = c->begun.unit[i];

        if (is_last || step_resharded_by_pass(c->options))
            shard_unit(c, u, false);
        if (c->options->sync == STEP_SYNC_EACH || (is_last && c->options->sync != STEP_SYNC_STAGE))
            add_reductions(out, &c->buckets.bucket[u], DSE_NONE);
    }
}

/* The whole stage, before its first block. */
static void gather_stage(step_chunk *c, step_items *out)
{
    for (uint32_t u = 0; u < c->buckets.n; u++) {
        if (!c->is_here[u] && c->buckets.bucket[u].is_gathered)
            add_collective(out, 0, DSE_NONE, &c->buckets.bucket[u].gathering);
        c->is_here[u] = true;
    }
}

static void reduce_stage(const step_chunk *c, step_items *out)
{
    for (uint32_t u = c->buckets.n; u-- > 0;)
        add_reductions(out, &c->buckets.bucket[u], DSE_NONE);
}

/* ---- buckets ----------------------------------------------------------------------------------- */

bool step_chunk_overlaps(const step_chunk *c)
{
    const step_options *o = c->options;

    if (o->zero >= 2) /* there is no buffer for whole gradients */
        return true;
    return o->overlaps_gradients && (!o->aligns_gradients || (o->vp <= 1 && c->rank == 0));
}

static bool reduces_in(const step_chunk *c, bool is_last)
{
    return !is_sharded(c) && step_chunk_overlaps(c) && (is_last || c->options->zero == 2);
}

static void reduce_block(const step_chunk *c, uint32_t block, step_items *out)
{
    for (uint32_t i = 0; i < c->buckets.n; i++) {
        const step_bucket *b = &c->buckets.bucket[c->buckets.launch[i]];

        if (b->ready_block == block)
            add_reductions(out, b, b->ready_module);
    }
}

void step_chunk_reduce(const step_chunk *c, step_items *out)
{
    for (uint32_t i = 0; i < c->buckets.n; i++)
        add_reductions(out, &c->buckets.bucket[i], DSE_NONE);
}

/* A chunk whose last backward pass is the rank's k-th is reduced after the (k + rank)-th. */
uint32_t *step_aligned_reductions(const sched_plan *p, uint32_t rank, const bool *is_last, dse_arena *a)
{
    const sched_action *action = &p->action[p->first[rank]];
    const uint32_t n = p->first[rank + 1] - p->first[rank];
    uint32_t *stage = DSE_ARENA_RAW(a, uint32_t, n), left = 0, behind = 0;

    for (uint32_t i = 0; i < n; i++) {
        stage[i] = DSE_NONE;
        left += is_last[i];
    }
    /* Backward from the end, where they are: `to` is `rank` backward passes behind `at`. */
    for (uint32_t at = n, to = n; left; left -= is_last[at]) {
        while (!sched_makes_gradients(action[--at].kind))
            ;
        if (behind++ < rank)
            continue;
        while (!sched_makes_gradients(action[--to].kind))
            ;
        if (is_last[at])
            stage[to] = action[at].stage;
    }
    return stage;
}

/* Updated parameters are gathered before the first pass that needs them, and the next bucket's as soon as a
 * bucket is used for the first time. What is ready last in the backward pass is used first. */
static void gather_block(step_chunk *c, uint32_t block, step_items *out)
{
    const step_buckets *b = &c->buckets;
    uint32_t n_used = 0;

    while (n_used < b->n && b->bucket[b->launch[b->n - 1 - n_used]].ready_block <= block)
        n_used++;
    for (; c->n_gathered < b->n && c->n_gathered <= n_used; c->n_gathered++) {
        const step_bucket *next = &b->bucket[b->launch[b->n - 1 - c->n_gathered]];

        if (next->is_gathered)
            add_collective(out, next->ready_block, DSE_NONE, &next->gathering);
    }
}

bool step_chunk_gathers(const step_chunk *c)
{
    const step_options *o = c->options;

    return is_sharded(c) || (o->overlaps_parameters && !(o->aligns_parameters && o->vp > 1));
}

void step_chunk_gather(const step_chunk *c, step_items *out)
{
    out->n = 0;
    for (uint32_t i = 0; i < c->buckets.n; i++)
        if (c->buckets.bucket[i].is_gathered)
            add_collective(out, c->buckets.bucket[i].ready_block, DSE_NONE, &c->buckets.bucket[i].gathering);
}

/* torch's ranks agree on the buckets of the second step: the parameters' order, and the buckets' sizes. */
static void agree_on_buckets(const step_chunk *c, step_items *out)
{
    const uint32_t count[2] = {c->buckets.n_parameters + 1, c->buckets.n};

    for (int i = 0; i < 2 && (c->options->calls_alone || step_group_size(c->options, STEP_GROUP_SHARD) > 1);
         i++) {
        step_collective agree = step_collective_of(WL_BROADCAST, STEP_GROUP_SHARD, count[i], count[i], 4);

        agree.is_integer = true;
        add_collective(out, 0, DSE_NONE, &agree);
    }
}

/* ---- passes ------------------------------------------------------------------------------------ */

static void forward(step_chunk *c, step_items *out)
{
    const step_options *o = c->options;

    if (o->buckets_by_readiness && c->step == 1 && c->n_passes == 0)
        agree_on_buckets(c, out);
    if (is_sharded(c) && o->sync == STEP_SYNC_STAGE)
        gather_stage(c, out);
    for (uint32_t i = 0; i < c->stage.n_blocks; i++) {
        if (is_sharded(c))
            begin_units(c, i, out);
        else if (c->n_passes == 0 && step_chunk_gathers(c))
            gather_block(c, i, out);
        add_block(out, i);
        if (is_sharded(c))
            end_units(c, i);
    }
}

/* The pass that torch recorded last is the first to be followed back. */
static void backward(step_chunk *c, sched_kind kind, bool is_last, step_items *out)
{
    uint32_t pass = c->open[c->n_open - 1];
    bool makes_gradients = sched_makes_gradients(kind);

    for (uint32_t i = c->stage.n_blocks; i-- > 0;) {
        if (is_sharded(c))
            begin_units_backward(c, i, pass, out);
        add_block(out, i);
        if (is_sharded(c) && makes_gradients)
            end_units_backward(c, i, is_last, out);
        else if (makes_gradients && reduces_in(c, is_last))
            reduce_block(c, i, out);
    }
    if (makes_gradients && is_sharded(c) && is_last && c->options->sync == STEP_SYNC_STAGE)
        reduce_stage(c, out);
}

void step_chunk_count(step_chunk *c, sched_kind kind, bool is_last)
{
    if (kind == SCHED_F) {
        c->n_passes++;
        c->open[c->n_open++] = c->n_recorded++;
    } else if (sched_makes_gradients(kind)) {
        c->n_open--;
        if (!c->n_open && (is_last || step_resharded_by_pass(c->options)))
            c->n_recorded = 0;
    }
}

bool step_chunk_is_at_first(const step_chunk *c) { return c->n_open && c->open[c->n_open - 1] == 0; }

void step_chunk_pass(step_chunk *c, sched_kind kind, bool is_last, step_items *out)
{
    out->n = 0;
    if (kind == SCHED_F)
        forward(c, out);
    else
        backward(c, kind, is_last, out);
    step_chunk_count(c, kind, is_last);
}

step_program *step_block_program(step_programs *made, const step_chunk *c, uint32_t position, sched_kind kind,
                                 dse_arena *a)
{
    static const unsigned part[SCHED_KINDS] = {
        [SCHED_B] = STEP_PART_BOTH, [SCHED_I] = STEP_PART_INPUT, [SCHED_W] = STEP_PART_WEIGHT};
    step_block_kind block = step_stage_block(&c->stage, position);
    bool again = step_is_layer(block) && step_stage_recomputes(&c->stage, c->options, position);
    step_shape shape = step_shape_of(c->model, c->options);
    step_program **p;

    if (!made->of)
        made->of = dse_arena_zero(a, c->model->n_blocks, sizeof *made->of);
    p = &made->of[block][kind][again];
    if (*p)
        return *p;
    *p = DSE_ARENA_NEW(a, step_program, 1);
    if (kind == SCHED_F)
        step_program_forward(&c->model->block[block], &shape, a, *p);
    else
        step_program_backward(&c->model->block[block], &shape, part[kind], again, a, *p);
    return *p;
}

/* ---- after the passes -------------------------------------------------------------------------- */

static void add_sum(step_items *out, const step_options *o, step_group group, uint64_t elements)
{
    const step_collective sum = step_collective_of(WL_ALL_REDUCE, group, elements, elements, o->reduce_bytes);

    add_collective(out, 0, DSE_NONE, &sum);
}

void step_finish(const step_chunk *chunk, uint32_t n, step_items *out)
{
    const step_options *o = chunk->options;
    uint64_t whole = 0;
    uint32_t n_ends = 0;

    out->n = 0;
    for (uint32_t i = 0; i < n; i++) {
        whole += step_whole_elements(chunk[i].model, &chunk[i].stage);
        n_ends += chunk[i].stage.has_embedding + chunk[i].stage.has_head;
    }
    if (o->sums_whole_gradients && o->sequence_parallel && o->tp > 1 && whole)
        add_sum(out, o, STEP_GROUP_TP, whole);
    /* else one rank has both */
    if ((chunk->model->is_tied || chunk->model->n_mtp) && n_ends == 1)
        add_sum(out, o, STEP_GROUP_EMBEDDING, step_tied_elements(chunk->model, o));
}
