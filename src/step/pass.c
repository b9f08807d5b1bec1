#include "step/pass.h"

#include "base/array.h"
#include "step/issue.h"
#include "step/memory.h"
#include "step/module.h"
#include "step/pair.h"

#include <string.h>

/* Stages that do the same. */
typedef struct kind_of_stage kind_of_stage;

/* A pass that has been made: for these items of this kind of stage. */
typedef struct made {
    sched_kind kind;
    step_items items;
    uint32_t pass;
    struct made *next;
} made;

/* What decides the items of a pass while parameters are sharded, as bytes, and what it leaves: of each unit
 * whether its parameters are here, and near. */
typedef struct told {
    uint8_t kind, is_first, is_last, is_at_first;
    bool *before, *after; /* is_here of all units, then is_near */
    uint32_t pass;
    struct told *next;
} told;

struct kind_of_stage {
    step_stage stage;
    bool overlaps;
    made *made;
    told *told;
    /* by whether it is the first, the last; while parameters are not sharded */
    const made *latest[SCHED_KINDS][2][2];
    kind_of_stage *next;
};

/* Two passes that are run as one. */
typedef struct pair {
    uint32_t forward, backward, pass;
    struct pair *next;
} pair;

typedef struct {
    const step_model *model;
    const step_options *options;
    step_clock *clock;
    dse_arena *arena;
    dse_error *err;
    dse_status status;
    step_passes *out;
    step_programs programs;
    step_chunk *chunk;    /* per stage */
    bool *is_reduced;     /* per stage: within the passes of its rank */
    kind_of_stage **kind; /* per stage */
    kind_of_stage *kinds;
    pair *pairs;
    step_items items; /* of the pass at hand */
    size_t cap_passes;

    /* The pass that is being made. */
    step_pass_operation *operation;
    uint32_t n, *need, n_needs, first_need;
    size_t cap, cap_needs;
    uint32_t *place; /* of an operation of the block's program */
    size_t cap_places;
    uint32_t *gathered;     /* per block: the last gathering for it; DSE_NONE */
    double *gathered_bytes; /* per block: of its gatherings that were not copied to their places yet */
    bool has_shard;
} maker;

/* ---- operations -------------------------------------------------------------------------------- */

static void needs(maker *m, uint32_t operation)
{
    if (operation == DSE_NONE)
        return;
    DSE_GROW(m->need, m->cap_needs, m->n_needs + 1);
    m->need[m->n_needs++] = operation;
}

/* Adds an operation with the needs that were told since the one before it. */
static uint32_t put(maker *m, const step_pass_operation *op)
{
    step_pass_operation *new;

    DSE_GROW(m->operation, m->cap, m->n + 1);
    new = &m->operation[m->n];
    *new = *op;
    new->first_need = m->first_need;
    new->n_needs = m->n_needs - m->first_need;
    m->first_need = m->n_needs;
    return m->n++;
}

static uint32_t put_joint(maker *m) { return put(m, &(step_pass_operation){.name = "joint"}); }

static sim_alone time_of(maker *m, const step_collective *c)
{
    sim_alone alone = {.is_even = true};

    if (m->status == DSE_OK)
        m->status = step_clock_collective(m->clock, &m->out->ranks, c, m->arena, &alone, m->err);
    m->out->is_even &= alone.is_even;
    return alone;
}

/* Of the pass itself, not of a block's program. */
static uint32_t put_collective(maker *m, const step_collective *c, step_unit unit)
{
    const sim_alone alone = time_of(m, c);

    return put(m, &(step_pass_operation){.name = wl_coll_type_name(c->type),
                                         .collective = dse_arena_copy(m->arena, c, 1, sizeof *c),
                                         .ticks = alone.ticks,
                                         .compute_share = alone.compute_share,
                                         .unit = (uint8_t)unit});
}

/* Of gradients or parameters. DSE_NONE: nothing is sent. */
static uint32_t put_shard(maker *m, const step_collective *c, uint32_t after)
{
    if (!step_clock_takes_time(&m->out->ranks, c))
        return DSE_NONE;
    m->has_shard = true;
    needs(m, after);
    return put_collective(m, c, STEP_UNIT_SHARD);
}

/* ---- blocks ------------------------------------------------------------------------------------ */

/* The program of a block, with the times of its operations. */
static const step_program *program_of(maker *m, const step_chunk *c, uint32_t block, sched_kind kind)
{
    step_program *p = step_block_program(&m->programs, c, block, kind, m->arena);

    for (uint32_t i = 0; i < p->n && !p->is_timed; i++) {
        step_operation *op = &p->operation[i];

        if (op->unit == STEP_UNIT_COMPUTE) {
            op->ticks = step_clock_kernel(m->clock, &op->kernel);
        } else {
            const sim_alone alone = time_of(m, &op->collective);

            op->ticks = alone.ticks;
            op->compute_share = alone.compute_share;
        }
    }
    p->is_timed = true;
    return p;
}

static step_work work_of(const step_program *p)
{
    step_work work = {0};

    for (uint32_t i = 0; i < p->n; i++) {
        const step_operation *op = &p->operation[i];

        if (!wl_kernel_multiplies(op->kernel.class))
            continue;
        work.all += op->counted;
        work.again += op->is_again ? op->counted : 0;
    }
    return work;
}

/* An operation of a block that begins with `begin`. */
static uint32_t put_operation(maker *m, const step_operation *op, uint32_t begin)
{
    step_pass_operation new = {.name = op->module->name,
                               .ticks = op->ticks,
                               .compute_share = op->compute_share,
                               .unit = (uint8_t)op->unit};

    if (op->unit == STEP_UNIT_COMPUTE)
        new.kernel = op->kernel.bytes ? &op->kernel : NULL;
    else if (step_clock_takes_time(&m->out->ranks, &op->collective))
        new.collective = &op->collective;
    for (size_t k = 0; k < DSE_COUNT(op->needs); k++)
        if (op->needs[k] != DSE_NONE)
            needs(m, m->place[op->needs[k]]);
    if (m->first_need == m->n_needs)
        needs(m, begin);
    return put(m, &new);
}

/* How far a block is. */
typedef struct {
    uint32_t begin;              /* the joint with which it begins */
    uint32_t last[STEP_N_UNITS]; /* DSE_NONE */
} progress;

static void note(progress *p, const maker *m, uint32_t operation)
{
    const step_pass_operation *op = &m->operation[operation];

    if (op->kernel || op->collective)
        p->last[op->unit] = operation;
}

static uint32_t last_kernel(const progress *p)
{
    return p->last[STEP_UNIT_COMPUTE] != DSE_NONE ? p->last[STEP_UNIT_COMPUTE] : p->begin;
}

static uint32_t put_end(maker *m, const progress *p)
{
    needs(m, last_kernel(p));
    needs(m, p->last[STEP_UNIT_LAYER]);
    return put_joint(m);
}

/* What a block takes at least, as the host issues its kernels no faster. It runs ahead of the device, so that
 * the block's collectives go on beside it: where they last longer than the host needs, the step waits for
 * them alone (on Perlmutter DeepSeek-V2-Lite over sockets, whose exchanges take as long as the profiled host
 * of a layer: 6.8 % off, 24.0 if both are added). */
static dse_time floor_of(const maker *m, const step_chunk *c, uint32_t block, sched_kind kind)
{
    const dse_time floor = step_clock_layer_floor(m->clock);
    const bool is_whole = kind == SCHED_F || kind == SCHED_B;
    const bool is_again =
        kind != SCHED_F && kind != SCHED_W && step_stage_recomputes(&c->stage, m->options, block);

    if (!step_is_layer(step_stage_block(&c->stage, block)))
        return 0;
    return (is_whole ? floor : floor / 2) + (is_again ? floor : 0);
}

/* The block of item `at`, with the reductions behind its modules. Returns the joint with which it is over;
 * *at: the last item that has been put. */
static uint32_t put_block(maker *m, const step_chunk *c, sched_kind kind, uint32_t begin, uint32_t *at)
{
    const step_items *items = &m->items;
    const step_program *p = program_of(m, c, items->item[*at].block, kind);
    progress so_far = {.begin = begin};
    uint32_t first = *at, next = *at + 1, end;

    memset(so_far.last, 0xff, sizeof so_far.last); /* DSE_NONE */
    DSE_GROW(m->place, m->cap_places, p->n);
    for (uint32_t i = 0; i <= p->n; i++) {
        for (; next < items->n && items->item[next].module != DSE_NONE &&
               p->end_of[items->item[next].module] <= i;
             next++)
            put_shard(m, &items->item[next].collective, last_kernel(&so_far));
        if (i == p->n)
            break;
        m->place[i] = put_operation(m, &p->operation[i], begin);
        note(&so_far, m, m->place[i]);
    }
    *at = next - 1;
    end = put_end(m, &so_far);
    m->operation[end].least = floor_of(m, c, items->item[first].block, kind);
    m->operation[end].since = begin;
    return end;
}

/* ---- copies ------------------------------------------------------------------------------------ */

/* A kernel that only copies so many bytes, read and written. */
static uint32_t put_copy(maker *m, double bytes, uint32_t after)
{
    const wl_kernel k = {.class = WL_KERNEL_ELEMENTWISE,
                         .extent = {(uint64_t)bytes, 1, 1, 1},
                         .element_bytes = m->options->weight_bytes,
                         .operations = 1,
                         .bytes = (uint64_t)bytes};

    needs(m, after);
    return put(m, &(step_pass_operation){.name = "copy",
                                         .kernel = dse_arena_copy(m->arena, &k, 1, sizeof k),
                                         .ticks = step_clock_kernel(m->clock, &k),
                                         .unit = STEP_UNIT_COMPUTE});
}

/* What ZeRO-3 gathered for a block is copied to where the block's parameters are (torch,
 * _fsdp_collectives.py, foreach_all_gather_copy_out). */
static uint32_t put_copy_out(maker *m, uint32_t block, uint32_t begin)
{
    const double bytes = 2 * m->gathered_bytes[block];

    m->gathered_bytes[block] = 0;
    return m->options->zero == 3 && bytes > 0 ? put_copy(m, bytes, begin) : begin;
}

/* Gradients that are to be reduced are copied to where the collective reads them, in its type (chunk_cat). */
static uint32_t put_copy_in(maker *m, const step_collective *c, uint32_t over)
{
    if (m->options->zero != 3 || c->type != WL_REDUCE_SCATTER || !step_clock_takes_time(&m->out->ranks, c))
        return over;
    return put_copy(m, (double)c->in_bytes * (1 + m->options->weight_bytes / c->element_bytes), over);
}

/* ---- passes ------------------------------------------------------------------------------------ */

static bool is_gathering(const step_item *item)
{
    return !item->is_block && item->collective.type == WL_ALL_GATHER;
}

static void put_gathering(maker *m, const step_item *item, uint32_t after)
{
    uint32_t put = put_shard(m, &item->collective, after);

    if (put == DSE_NONE)
        return;
    m->gathered[item->block] = put;
    m->gathered_bytes[item->block] += (double)item->collective.out_bytes;
}

static uint32_t next_block(const step_items *items, uint32_t at)
{
    while (at < items->n && !items->item[at].is_block)
        at++;
    return at;
}

/* Gatherings from item `from` on, before the next block: those for it, or those for others. */
static void put_gatherings(maker *m, uint32_t from, bool for_next, uint32_t after)
{
    const step_item *item = m->items.item;
    uint32_t next = next_block(&m->items, from);

    for (uint32_t i = from; i < next; i++)
        if (is_gathering(&item[i]) && (next < m->items.n && item[i].block == item[next].block) == for_next)
            put_gathering(m, &item[i], after);
}

/* What came from another stage in shares is joined before anything else. DSE_NONE: nothing is. */
static uint32_t put_joining(maker *m, const step_chunk *c, sched_kind kind)
{
    const bool comes_in = kind == SCHED_F ? !c->stage.has_embedding : kind != SCHED_W && !c->stage.has_head;
    const step_collective joining = step_joining_of(m->model, m->options);

    return comes_in && joining.in_bytes ? put_collective(m, &joining, STEP_UNIT_LAYER) : DSE_NONE;
}

/* Parameters for the first block of a pass are gathered as it begins. */
static uint32_t put_pass(maker *m, const step_chunk *c, sched_kind kind)
{
    const step_items *items = &m->items;
    uint32_t over, from = 0; /* the first item behind the block before */

    put_gatherings(m, 0, true, DSE_NONE);
    over = put_joining(m, c, kind);
    for (uint32_t i = next_block(items, 0); i < items->n; i = next_block(items, from)) {
        uint32_t begin, at = i;

        needs(m, over);
        needs(m, m->gathered[items->item[i].block]);
        begin = put_joint(m);
        put_gatherings(m, from, false, begin);
        put_gatherings(m, i + 1, true, begin);
        begin = put_copy_out(m, items->item[i].block, begin);
        over = put_block(m, c, kind, begin, &at);
        from = at + 1;
        for (uint32_t k = from; k < items->n && !items->item[k].is_block; k++) {
            if (is_gathering(&items->item[k]))
                continue;
            over = put_copy_in(m, &items->item[k].collective, over);
            put_shard(m, &items->item[k].collective, over);
        }
    }
    return over;
}

static uint32_t add_pass(maker *m, step_pass pass)
{
    DSE_GROW(m->out->pass, m->cap_passes, m->out->n_passes + 1);
    m->out->pass[m->out->n_passes] = pass;
    return m->out->n_passes++;
}

static uint32_t make_pass(maker *m, const step_chunk *c, sched_kind kind)
{
    uint32_t over;
    dse_time ahead = 0;

    m->n = m->n_needs = m->first_need = 0;
    m->has_shard = false;
    memset(m->gathered, 0xff, (c->stage.n_blocks + 1) * sizeof *m->gathered); /* DSE_NONE */
    memset(m->gathered_bytes, 0, (c->stage.n_blocks + 1) * sizeof *m->gathered_bytes);
    over = put_pass(m, c, kind);
    for (uint32_t i = 0; i < m->n; i++)
        ahead += step_pass_is_ahead(&m->operation[i]) ? m->operation[i].ticks : 0;
    return add_pass(
        m, (step_pass){.n = m->n,
                       .operation = dse_arena_copy(m->arena, m->operation, m->n, sizeof *m->operation),
                       .need = dse_arena_copy(m->arena, m->need, m->n_needs, sizeof *m->need),
                       .over = over,
                       .ahead = ahead,
                       .has_shard = m->has_shard});
}

static bool is_same_item(const step_item *x, const step_item *y)
{
    return x->is_block == y->is_block && x->block == y->block &&
           (x->is_block ||
            (x->module == y->module && x->collective.type == y->collective.type &&
             x->collective.group == y->collective.group && x->collective.in_bytes == y->collective.in_bytes));
}

static bool is_same(const step_items *x, const step_items *y)
{
    if (x->n != y->n)
        return false;
    for (uint32_t i = 0; i < x->n; i++)
        if (!is_same_item(&x->item[i], &y->item[i]))
            return false;
    return true;
}

/* The pass with the items at hand, made if there is none yet. */
static const made *find_pass(maker *m, const step_chunk *c, kind_of_stage *stage, sched_kind kind)
{
    made *p = stage->made;

    while (p && !(p->kind == kind && is_same(&p->items, &m->items)))
        p = p->next;
    if (p)
        return p;
    p = DSE_ARENA_NEW(m->arena, made, 1);
    *p = (made){.kind = kind, .items = m->items, .pass = make_pass(m, c, kind), .next = stage->made};
    p->items.item = dse_arena_copy(m->arena, m->items.item, m->items.n, sizeof *m->items.item);
    stage->made = p;
    return p;
}

static bool *units_of(maker *m, const step_chunk *c)
{
    const uint32_t n = c->buckets.n;
    bool *units = DSE_ARENA_RAW(m->arena, bool, (size_t)2 * n);

    memcpy(units, c->is_here, n * sizeof *units);
    memcpy(units + n, c->is_near, n * sizeof *units);
    return units;
}

/* A pass of a chunk whose parameters are sharded. Micro-batches find the chunk in few states. */
static uint32_t sharded_pass(maker *m, step_chunk *c, kind_of_stage *stage, sched_kind kind, bool is_first,
                             bool is_last)
{
    const uint32_t n = c->buckets.n;
    const bool is_at_first = step_chunk_is_at_first(c);
    told *t = stage->told;

    while (t && !(t->kind == kind && t->is_first == is_first && t->is_last == is_last &&
                  t->is_at_first == is_at_first && !memcmp(t->before, c->is_here, n * sizeof *c->is_here) &&
                  !memcmp(t->before + n, c->is_near, n * sizeof *c->is_near)))
        t = t->next;
    if (t) {
        memcpy(c->is_here, t->after, n * sizeof *c->is_here);
        memcpy(c->is_near, t->after + n, n * sizeof *c->is_near);
        step_chunk_count(c, kind, is_last);
        return t->pass;
    }
    t = DSE_ARENA_NEW(m->arena, told, 1);
    *t = (told){.kind = (uint8_t)kind,
                .is_first = is_first,
                .is_last = is_last,
                .is_at_first = is_at_first,
                .before = units_of(m, c),
                .next = stage->told};
    step_chunk_pass(c, kind, is_last, &m->items);
    t->after = units_of(m, c);
    t->pass = find_pass(m, c, stage, kind)->pass;
    stage->told = t;
    return t->pass;
}

/* Unless parameters are sharded only the first and the last pass of a kind differ from the others, and those
 * behind which `reduced`, a chunk, is reduced; NULL: none is. */
static uint32_t pass_of(maker *m, const sched_action *a, bool is_first, bool is_last,
                        const step_chunk *reduced)
{
    kind_of_stage *stage = m->kind[a->stage];
    const made **latest = &stage->latest[a->kind][is_first][is_last], *pass;
    step_chunk *c = &m->chunk[a->stage];

    c->n_passes = is_first ? 0 : 1;
    if (m->options->zero == 3) /* whose gradients are never reduced behind a pass (step_aligns) */
        return sharded_pass(m, c, stage, (sched_kind)a->kind, is_first, is_last);
    if (!reduced && *latest)
        return (*latest)->pass;
    c->n_open = c->n_recorded = a->kind == SCHED_F ? 0 : 1; /* passes in between have not been asked for */
    c->open[0] = 0;
    step_chunk_pass(c, (sched_kind)a->kind, is_last, &m->items);
    if (reduced)
        step_chunk_reduce(reduced, &m->items);
    pass = find_pass(m, c, stage, (sched_kind)a->kind);
    if (!reduced)
        *latest = pass;
    return pass->pass;
}

/* The pass of both; made if there is none yet. */
static uint32_t find_pair(maker *m, uint32_t forward, uint32_t backward)
{
    step_pass both;
    pair **link = &m->pairs, *p;

    while ((p = *link) && !(p->forward == forward && p->backward == backward))
        link = &p->next;
    if (!p) {
        step_pair_make(&m->out->pass[forward], &m->out->pass[backward], m->arena, &both);
        p = DSE_ARENA_NEW(m->arena, pair, 1);
        *p = (pair){.forward = forward, .backward = backward, .pass = add_pass(m, both)};
    } else {
        *link = p->next;
    }
    p->next = m->pairs; /* the next to ask for it is soon */
    m->pairs = p;
    return p->pass;
}

/* What overlaps, if there are exchanges that can hide beside the other pass. */
static void join_pairs(maker *m, uint32_t rank)
{
    const sched_plan *p = m->out->plan;
    uint32_t nothing = DSE_NONE;

    if (step_group_size(m->options, STEP_GROUP_EP_ETP) == 1)
        return;
    for (uint32_t i = p->first[rank]; i < p->first[rank + 1] && m->status == DSE_OK; i++) {
        if (!p->action[i].with_next)
            continue;
        if (nothing == DSE_NONE)
            nothing = add_pass(m, (step_pass){.over = DSE_NONE});
        m->out->pass_of[i] = find_pair(m, m->out->pass_of[i], m->out->pass_of[i + 1]);
        m->out->pass_of[i + 1] = nothing;
    }
}

/* Nearly all passes are neither first nor last, nor is anything reduced behind them: they are looked up by
 * stage and kind. */
static void make_rank(maker *m, uint32_t rank)
{
    const sched_plan *p = m->out->plan;
    const sched_action *action = &p->action[p->first[rank]];
    const uint32_t n = p->first[rank + 1] - p->first[rank];
    uint32_t *pass = &m->out->pass_of[p->first[rank]];
    const uint32_t n_stages = p->n_directions * p->n_stages;
    uint32_t(*middle)[SCHED_KINDS] = dse_arena_raw(m->arena, n_stages, sizeof *middle);
    bool *begun = DSE_ARENA_NEW(m->arena, bool, n_stages), *is_last = sched_last_gradients(p, rank, m->arena);
    uint32_t *reduced = step_aligns(m->options) ? step_aligned_reductions(p, rank, is_last, m->arena) : NULL;

    memset(middle, 0xff, n_stages * sizeof *middle); /* DSE_NONE */
    for (uint32_t i = 0; i < n && m->status == DSE_OK; i++) {
        const sched_action *a = &action[i];
        uint32_t *same = &middle[a->stage][a->kind];
        bool is_first;
        step_chunk *c = NULL;

        if (reduced && reduced[i] != DSE_NONE) {
            c = step_chunk_overlaps(&m->chunk[reduced[i]]) ? NULL : &m->chunk[reduced[i]];
            m->is_reduced[reduced[i]] |= c != NULL;
        } else if (*same != DSE_NONE && !is_last[i]) { /* nearly all */
            pass[i] = *same;
            continue;
        }
        is_first = a->kind == SCHED_F && !begun[a->stage];
        begun[a->stage] |= is_first;
        pass[i] = pass_of(m, a, is_first, is_last[i], c);
        if (m->options->zero != 3 && !is_first && !is_last[i] && !c)
            *same = pass[i];
    }
}

/* ---- stages ------------------------------------------------------------------------------------ */

static kind_of_stage *kind_of(maker *m, const step_chunk *c)
{
    const step_stage *s = &c->stage;
    kind_of_stage *k = m->kinds;

    while (k && !(step_stage_is_same(&k->stage, s) && k->overlaps == step_chunk_overlaps(c)))
        k = k->next;
    if (k)
        return k;
    k = DSE_ARENA_NEW(m->arena, kind_of_stage, 1);
    *k = (kind_of_stage){.stage = *s, .overlaps = step_chunk_overlaps(c), .next = m->kinds};
    return m->kinds = k;
}

/* A later step than the second, in which torch's ranks agree on buckets. */
#define STEP 2

static void make_stages(maker *m)
{
    const sched_plan *p = m->out->plan;
    const uint32_t n_stages = p->n_directions * p->n_stages;
    uint32_t most = 0;

    m->chunk = DSE_ARENA_RAW(m->arena, step_chunk, n_stages);
    m->kind = DSE_ARENA_RAW(m->arena, kind_of_stage *, n_stages);
    m->is_reduced = DSE_ARENA_NEW(m->arena, bool, n_stages);
    for (uint32_t i = 0; i < n_stages; i++) {
        step_stage s = step_stage_of(m->model, i % p->n_stages, p->n_stages);

        step_chunk_init(&m->chunk[i], m->model, m->options, &s, p->stage_rank[i], STEP, m->arena);
        m->kind[i] = kind_of(m, &m->chunk[i]);
        most = s.n_blocks > most ? s.n_blocks : most;
        /* a micro-batch passes the stages of one direction */
        for (uint32_t k = 0; k < s.n_blocks && i < p->n_stages; k++) {
            static const sched_kind both[] = {SCHED_F, SCHED_B};

            for (int d = 0; d < 2; d++) {
                step_work w = work_of(program_of(m, &m->chunk[i], k, both[d]));

                m->out->work.all += w.all;
                m->out->work.again += w.again;
            }
        }
    }
    m->gathered = DSE_ARENA_RAW(m->arena, uint32_t, most + 1);
    m->gathered_bytes = DSE_ARENA_RAW(m->arena, double, most + 1);
}

/* ---- the end of the step ----------------------------------------------------------------------- */

/* Of the parameters on a rank, `whole` of them, and those that it updates. A buffer of gradients is set to
 * zero, and divided before its sum. Those of fp16 are divided by the scale of the loss: read and written
 * (optimizer.py, _unscale_main_grads_and_check_for_nan). Gradients are read for their norm, and clipped: read
 * and written. Then
 * Adam reads the gradient and the state, and writes the state: two moments, and a master copy, which a kernel
 * of its own copies to the weight; or else the weight is read and written itself. (Megatron-LM,
 * optimizer/clip_grads.py and optimizer.py, _copy_main_params_to_model_params; torch, nn/utils/clip_grad.py.
 * A norm below the limit is not clipped by Megatron-LM: at the begin of a training it is above.) */
static wl_kernel update(const step_options *o, uint64_t whole, uint64_t updated, bool is_summed)
{
    const bool has_copy = o->kept_weight_bytes < 4 && o->optimizer_bytes >= 12;
    const double g = o->gradient_bytes, weight = has_copy ? 4 + o->weight_bytes : 2 * o->kept_weight_bytes;
    const double of_whole = o->keeps_gradients ? g + (is_summed ? 2 * g : 0) : 0;
    const double unscaled = o->unscales_gradients ? 2 * g : 0;
    const double of_updated = unscaled + g + 2 * g + g + 2 * o->optimizer_bytes + weight;

    return (wl_kernel){.class = WL_KERNEL_OPTIMIZER,
                       .extent = {updated, 1, 1, 1},
                       .element_bytes = g,
                       .operations = 12 * updated,
                       .bytes = (uint64_t)(of_whole * (double)whole + of_updated * (double)updated)};
}

/* Moved to cast the matrices of a stage's layers to fewer bits, if that is done once a step: all of them, as
 * each rank multiplies by all. */
static uint64_t cast_bytes(const maker *m, const step_chunk *c)
{
    const step_options *o = m->options;
    uint64_t elements = 0;

    if (!wl_kernel_is_low(o->low.class) || o->low.casts_weights_in_passes)
        return 0;
    for (uint32_t i = 0; i < c->stage.n_blocks; i++) {
        const step_block_kind block = step_stage_block(&c->stage, i);

        elements +=
            step_is_layer(block) ? step_matrix_elements(&m->model->block[block], step_split_of(o)) : 0;
    }
    return (uint64_t)(o->low.cast_weight * (double)elements);
}

/* Adds the collectives of the items that send something. */
static void add_items(const maker *m, step_collective **list, uint32_t *n)
{
    step_collective *longer = DSE_ARENA_RAW(m->arena, step_collective, *n + m->items.n);

    if (*n)
        memcpy(longer, *list, *n * sizeof *longer);
    for (uint32_t i = 0; i < m->items.n; i++)
        if (step_clock_takes_time(&m->out->ranks, &m->items.item[i].collective))
            longer[(*n)++] = m->items.item[i].collective;
    *list = longer;
}

static void make_ending(maker *m, uint32_t rank)
{
    const step_options *o = m->options;
    step_ending *e = &m->out->ending[rank];
    const sched_plan *p = m->out->plan;
    const uint32_t n_stages = p->n_directions * p->n_stages;
    step_chunk *chunk = DSE_ARENA_RAW(m->arena, step_chunk, n_stages);
    uint32_t n = 0;
    uint64_t elements = 0, cast = 0, updated = 0, of_experts = 0;

    for (uint32_t i = 0; i < n_stages; i++) {
        const uint32_t s = sched_nth_stage(p, i);
        const step_chunk *c = &m->chunk[s];

        if (p->stage_rank[s] != rank)
            continue;
        chunk[n++] = *c;
        cast += cast_bytes(m, c);
        for (uint32_t k = 0; k < c->buckets.n; k++)
            *(c->buckets.bucket[k].is_expert ? &of_experts : &elements) += c->buckets.bucket[k].elements;
        if (!step_chunk_overlaps(c) && !m->is_reduced[s]) {
            m->items.n = 0;
            step_chunk_reduce(c, &m->items);
            add_items(m, &e->reduction, &e->n_reductions);
        }
        if (!step_chunk_gathers(c)) {
            step_chunk_gather(c, &m->items);
            add_items(m, &e->gather, &e->n_gathers);
        }
    }
    step_finish(chunk, n, &m->items);
    for (uint32_t i = 0; i < m->items.n; i++) {
        const step_collective *sum = &m->items.item[i].collective;

        *(sum->group == STEP_GROUP_TP ? &e->tp_sum : &e->ends_sum) = *sum;
    }
    e->norm = step_collective_of(WL_ALL_REDUCE, o->zero ? STEP_GROUP_WORLD : STEP_GROUP_MODEL, 1, 1, 4);
    updated = elements + of_experts;
    if (o->zero)
        updated = elements / m->out->ranks.size[STEP_GROUP_SHARD] +
                  of_experts / m->out->ranks.size[STEP_GROUP_EXPERT_SHARD];
    e->optimizer = update(o, elements + of_experts, updated, m->out->ranks.size[STEP_GROUP_SHARD] > 1);
    e->optimizer.bytes += cast;
    e->optimizer_ticks = step_clock_kernel(m->clock, &e->optimizer);
}

dse_status step_passes_make(const step_model *model, const step_options *o, const sched_ordered *ordered,
                            step_clock *clock, dse_arena *a, step_passes *out, dse_error *err)
{
    const sched_plan *plan = &ordered->plan;
    maker m = {.model = model, .options = o, .clock = clock, .arena = a, .err = err, .out = out};

    *out = (step_passes){.plan = plan,
                         .tensors = ordered->tensors,
                         .ranks = step_ranks_of(o, a),
                         .transfer = step_transfer_of(model, o),
                         .waits_for_sends = o->waits_for_sends,
                         .has_laws = step_clock_has_laws(clock) || step_clock_lags(clock) ||
                                     wl_kernel_is_low(o->low.class),
                         .is_even = true};
    out->pass_of = DSE_ARENA_RAW(a, uint32_t, sched_n_actions(plan));
    out->ending = DSE_ARENA_NEW(a, step_ending, plan->n_ranks);
    m.items.arena = a;
    make_stages(&m);
    for (uint32_t r = 0; r < plan->n_ranks && m.status == DSE_OK; r++) {
        make_rank(&m, r);
        join_pairs(&m, r);
        make_ending(&m, r);
    }
    m.items.arena = NULL;
    if (out->n_passes) {
        step_pass *own = out->pass;

        out->pass = dse_arena_copy(a, own, out->n_passes, sizeof *own);
        dse_free(own);
    }
    dse_free(m.operation);
    dse_free(m.need);
    dse_free(m.place);
    return m.status;
}
