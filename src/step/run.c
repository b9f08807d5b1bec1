#include "step/run.h"

#include "step/module.h"

#include <string.h>

/* What a stage is a chain of. */
typedef enum { UNIT_EMBEDDING, UNIT_LAYER, UNIT_LAYER_AGAIN, UNIT_HEAD, N_UNITS } unit_kind;

typedef struct {
    step_cost cost[SCHED_KINDS]; /* forward, backward and its halves */
    uint64_t elements;           /* of its parameters, on a rank of a tensor parallel group */
    dse_time gather, reduce;     /* of fully sharded parameters and their gradients */
} unit;

/* A piece: one pass of a micro-batch through a stage. */
typedef struct {
    step_cost cost;
    dse_time tail; /* gradients are still being reduced so long after its end */
} piece;

typedef struct {
    const step_model *model;
    const step_options *options;
    step_clock *clock;
    step_ranks ranks;
    step_shape shape;
    dse_arena *arena;
    dse_error *err;
    dse_status status;
    unit unit[N_UNITS];
    uint32_t n_stages, n_units; /* of a stage; the most it may have */
    uint8_t *chain;             /* unit_kind of each unit of the stage at hand */
    piece *piece;               /* by sched_duration_at */
    uint32_t *first_of, *last_of; /* per stage and kind of action: indexes into the plan */
    uint32_t *last_gradient;      /* per stage: its last B or W */
    dse_time *reduced;          /* per stage: all that its last backward pass reduces */
} runner;

static dse_time collective(runner *r, uint32_t type, step_group group, double bytes, double element_bytes)
{
    step_collective c = {.type = type, .group = group, .in_bytes = (uint64_t)bytes, .element_bytes = element_bytes};
    dse_time t = 0;

    if (r->status == DSE_OK)
        r->status = step_clock_collective(r->clock, &r->ranks, &c, r->arena, &t, r->err);
    return t;
}

/* ---- units ------------------------------------------------------------------------------------- */

/* Gradients of so many elements: summed up on every rank, or each rank gets its shard, which replicas sum up. */
static dse_time reduce_time(runner *r, uint64_t elements)
{
    const step_options *o = r->options;
    double bytes = o->reduce_bytes * (double)elements;

    if (!o->zero)
        return collective(r, WL_ALL_REDUCE, STEP_GROUP_SHARD, bytes, o->reduce_bytes);
    return collective(r, WL_REDUCE_SCATTER, STEP_GROUP_SHARD, bytes, o->reduce_bytes) +
           collective(r, WL_ALL_REDUCE, STEP_GROUP_REPLICAS, bytes / r->ranks.size[STEP_GROUP_SHARD], o->reduce_bytes);
}

static dse_time gather_time(runner *r, uint64_t elements)
{
    const step_options *o = r->options;

    return collective(r, WL_ALL_GATHER, STEP_GROUP_SHARD,
                      o->weight_bytes * (double)elements / r->ranks.size[STEP_GROUP_SHARD], o->weight_bytes);
}

static void cost_program(runner *r, const step_program *p, step_cost *out)
{
    if (r->status == DSE_OK)
        r->status = step_cost_of(r->clock, &r->ranks, p, r->arena, out, r->err);
}

static void make_unit(runner *r, unit_kind kind, const step_block *b)
{
    static const unsigned parts[SCHED_KINDS] = {
        [SCHED_B] = STEP_PART_BOTH, [SCHED_I] = STEP_PART_INPUT, [SCHED_W] = STEP_PART_WEIGHT};
    unit *u = &r->unit[kind];
    step_program p;

    step_program_forward(b, &r->shape, r->arena, &p);
    cost_program(r, &p, &u->cost[SCHED_F]);
    for (int k = SCHED_B; k < SCHED_KINDS; k++) {
        step_program_backward(b, &r->shape, parts[k], kind == UNIT_LAYER_AGAIN, r->arena, &p);
        cost_program(r, &p, &u->cost[k]);
    }
    for (uint32_t i = 0; i < b->n_parameters; i++)
        u->elements += step_parameter_share(&b->parameter[i], r->options->tp);
    if (r->options->zero == 3) {
        u->gather = gather_time(r, u->elements);
        u->reduce = reduce_time(r, u->elements);
    }
}

static void make_units(runner *r)
{
    const step_block *b = r->model->block;

    make_unit(r, UNIT_EMBEDDING, &b[STEP_EMBEDDING]);
    make_unit(r, UNIT_LAYER, &b[STEP_LAYER]);
    if (r->options->recompute == STEP_RECOMPUTE_FULL)
        make_unit(r, UNIT_LAYER_AGAIN, &b[STEP_LAYER]);
    make_unit(r, UNIT_HEAD, &b[STEP_HEAD]);
}

/* ---- pieces ------------------------------------------------------------------------------------ */

/* The units of a stage, in the order of the forward pass. */
static void make_chain(runner *r, uint32_t stage)
{
    uint32_t n = 0, layers = r->model->n_layers / r->n_stages;

    if (stage == 0)
        r->chain[n++] = UNIT_EMBEDDING;
    for (uint32_t i = 0; i < layers; i++)
        r->chain[n++] = step_layer_is_again(r->options, i) ? UNIT_LAYER_AGAIN : UNIT_LAYER;
    if (stage + 1 == r->n_stages)
        r->chain[n++] = UNIT_HEAD;
    r->n_units = n;
}

static void add_unit(piece *p, const step_cost *c, dse_time begin)
{
    p->cost.exposed[STEP_GROUP_SHARD] += begin - p->cost.ticks;
    p->cost.ticks = begin;
    step_cost_add(&p->cost, c, 1);
}

/* Parameters of a unit are gathered while the unit before it runs; `busy`: the links are taken so long. */
static piece forward(const runner *r, bool gathers, dse_time busy)
{
    piece p = {0};
    dse_time issued = 0, links = busy;

    for (uint32_t i = 0; i < r->n_units; i++) {
        const unit *u = &r->unit[r->chain[i]];
        dse_time begin = p.cost.ticks;

        if (gathers) {
            links = (links > issued ? links : issued) + u->gather;
            begin = begin > links ? begin : links;
        }
        issued = begin;
        add_unit(&p, &u->cost[SCHED_F], begin);
    }
    return p;
}

/* Backward, kind B, I or W. `gathers`: parameters were freed after the forward pass, but for those of the last unit;
 * each is gathered while the one behind it runs. `bucket`: gradients are reduced as soon as so many elements are
 * there, which then counts to `reduced`; 0: at each unit; UINT64_MAX: at the end. */
static piece backward(runner *r, sched_kind kind, bool gathers, bool reduces, uint64_t bucket, dse_time *reduced)
{
    piece p = {0};
    dse_time links = 0, gathered = 0;
    uint64_t ready = 0;

    for (uint32_t i = r->n_units; i-- > 0;) {
        const unit *u = &r->unit[r->chain[i]];
        dse_time begin = p.cost.ticks > gathered ? p.cost.ticks : gathered, t;

        if (gathers && i) {
            links = (links > begin ? links : begin) + r->unit[r->chain[i - 1]].gather;
            gathered = links;
        }
        add_unit(&p, &u->cost[kind], begin);
        ready += u->elements;
        if (!reduces || !(ready >= bucket || i == 0))
            continue;
        t = bucket ? reduce_time(r, ready) : u->reduce;
        links = (links > p.cost.ticks ? links : p.cost.ticks) + t;
        *reduced += t;
        ready = 0;
    }
    p.tail = reduces && links > p.cost.ticks ? links - p.cost.ticks : 0;
    return p;
}

static void make_pieces(runner *r, uint32_t stage)
{
    const step_options *o = r->options;
    bool sharded = o->zero == 3, frees = sharded && o->reshard_after_forward;
    /* Parameters stay gathered from one micro-batch to the next where a pipeline, or the program, says so. */
    bool always = sharded && (frees || (o->pp == 1 && o->sync != STEP_SYNC_LAST_NO_RESHARD));
    bool first = sharded || ((o->zero == 1 || o->zero == 2) && o->overlaps_parameters);
    bool each = o->zero == 2 || (sharded && o->sync == STEP_SYNC_EACH);
    uint64_t bucket = sharded ? 0 : o->overlaps_gradients && o->bucket_elements ? o->bucket_elements : UINT64_MAX;

    for (int place = 0; place < SCHED_PLACES; place++) {
        bool is_first = place == SCHED_FIRST || place == SCHED_ONLY, is_last = place == SCHED_LAST || place == SCHED_ONLY;

        for (int kind = SCHED_B; kind < SCHED_KINDS; kind++) {
            bool reduces = (each || is_last) && kind != SCHED_I;
            dse_time reduced = 0;

            r->piece[sched_duration_at(stage, (sched_kind)kind, (sched_place)place)] =
                backward(r, (sched_kind)kind, frees && kind != SCHED_W, reduces, bucket, &reduced);
            if (is_last && kind != SCHED_I)
                r->reduced[stage] = reduced;
        }
        r->piece[sched_duration_at(stage, SCHED_F, (sched_place)place)] = forward(
            r, is_first ? first : always,
            o->pp == 1 && !is_first ? r->piece[sched_duration_at(stage, SCHED_B, SCHED_MIDDLE)].tail : 0);
    }
}

/* Stages but the first and the last are alike. */
static void make_all_pieces(runner *r)
{
    const size_t of_stage = SCHED_KINDS * SCHED_PLACES;

    for (uint32_t s = 0; s < r->n_stages; s++) {
        if (s > 1 && s + 1 < r->n_stages) {
            memcpy(r->piece + s * of_stage, r->piece + of_stage, of_stage * sizeof *r->piece);
            r->reduced[s] = r->reduced[1];
            continue;
        }
        make_chain(r, s);
        make_pieces(r, s);
    }
}

/* ---- the schedule ------------------------------------------------------------------------------ */

static dse_status compose(runner *r, const sched_def *schedule, const sched_options *order, step_result *out)
{
    const step_options *o = r->options;
    uint64_t transfer_bytes = (uint64_t)(o->activation_bytes * (double)(r->shape.split_tokens * r->model->hidden));
    step_collective message = {.type = STEP_SEND,
                               .group = STEP_GROUP_PP,
                               .in_bytes = transfer_bytes,
                               .element_bytes = o->activation_bytes,
                               .to_next = true};
    dse_time transfer = 0;
    sched_order steps;
    sched_costs costs;
    dse_status st;

    if ((st = sched_make(schedule, order, r->arena, &out->plan, r->err)) != DSE_OK ||
        (st = sched_order_make(&out->plan, r->arena, &steps, r->err)) != DSE_OK ||
        (st = step_clock_collective(r->clock, &r->ranks, &message, r->arena, &transfer, r->err)) != DSE_OK)
        return st;
    sched_costs_init(&costs, &out->plan, r->arena);
    for (size_t i = 0; i < (size_t)r->n_stages * SCHED_KINDS * SCHED_PLACES; i++)
        costs.duration[i] = r->piece[i].cost.ticks;
    for (size_t i = 0; i < 2 * (size_t)r->n_stages; i++)
        costs.transfer[i] = transfer;
    sched_times_init(&out->times, &out->plan, r->arena);
    sched_compose(&steps, &costs, &out->times);
    out->pipeline = out->times.makespan;
    out->part[STEP_PART_PP] = transfer; /* until the parts are added up */
    return DSE_OK;
}

/* ---- the end of the step ----------------------------------------------------------------------- */

static void find_ends(runner *r, const sched_plan *p)
{
    r->first_of = DSE_ARENA_RAW(r->arena, uint32_t, (size_t)r->n_stages * SCHED_KINDS);
    r->last_of = DSE_ARENA_RAW(r->arena, uint32_t, (size_t)r->n_stages * SCHED_KINDS);
    r->last_gradient = DSE_ARENA_NEW(r->arena, uint32_t, r->n_stages);
    memset(r->first_of, 0xff, (size_t)r->n_stages * SCHED_KINDS * sizeof *r->first_of); /* DSE_NONE */
    for (uint32_t i = 0; i < sched_n_actions(p); i++) {
        const sched_action *a = &p->action[i];
        uint32_t at = (uint32_t)a->stage * SCHED_KINDS + a->kind;

        if (r->first_of[at] == DSE_NONE)
            r->first_of[at] = i;
        r->last_of[at] = i;
        if (a->kind == SCHED_B || a->kind == SCHED_W)
            r->last_gradient[a->stage] = i;
    }
}

static const piece *piece_of(const runner *r, const sched_plan *p, uint32_t i)
{
    const sched_action *a = &p->action[i];
    uint32_t at = (uint32_t)a->stage * SCHED_KINDS + a->kind;
    bool first = r->first_of[at] == i, last = r->last_of[at] == i;
    sched_place place = first && last ? SCHED_ONLY : first ? SCHED_FIRST : last ? SCHED_LAST : SCHED_MIDDLE;

    return &r->piece[sched_duration_at(a->stage, (sched_kind)a->kind, place)];
}

/* When the gradients of a rank's stages have been reduced: one after the other, as their last pieces end. */
static dse_time reduction_end(const runner *r, const step_result *s, uint32_t rank)
{
    const sched_plan *p = &s->plan;
    dse_time links = 0, end = s->times.last[rank], sum = 0;

    for (uint32_t i = p->first[rank]; i < p->first[rank + 1]; i++) {
        const sched_action *a = &p->action[i];
        dse_time done;

        if (r->last_gradient[a->stage] != i)
            continue;
        sum += r->reduced[a->stage];
        done = s->times.end[i] + piece_of(r, p, i)->tail;
        links = links + r->reduced[a->stage] > done ? links + r->reduced[a->stage] : done;
    }
    if (!r->options->overlaps_gradients && r->options->zero < 3)
        return end + sum;
    return end > links ? end : links;
}

/* Parameters of the stages of a rank, on a rank of a tensor parallel group. */
static uint64_t elements_of_rank(runner *r, const sched_plan *p, uint32_t rank)
{
    uint64_t n = 0;

    for (uint32_t s = 0; s < r->n_stages; s++) {
        if (p->stage_rank[s] != rank)
            continue;
        make_chain(r, s);
        for (uint32_t i = 0; i < r->n_units; i++)
            n += r->unit[r->chain[i]].elements;
    }
    return n;
}

/* The gradients of parameters that a tensor parallel group has whole, which sequence parallelism leaves as sums of a
 * part of the tokens. */
static uint64_t unsplit_elements(const step_block *b)
{
    uint64_t n = 0;

    for (uint32_t i = 0; i < b->n_parameters; i++)
        n += b->parameter[i].is_split ? 0 : step_parameter_elements(&b->parameter[i]);
    return n;
}

typedef struct {
    dse_time sums, optimizer, gather;
} ending;

static ending end_of_step(runner *r, uint64_t elements)
{
    const step_options *o = r->options;
    const step_block *layer = &r->model->block[STEP_LAYER], *first = &r->model->block[STEP_EMBEDDING];
    uint64_t shard = o->zero ? elements / r->ranks.size[STEP_GROUP_SHARD] : elements;
    /* Adam: reads the gradient, the master copy and two moments; writes all but the gradient, and the weight. */
    wl_kernel adam = {.class = WL_KERNEL_OPTIMIZER,
                      .extent = {shard, 1, 1, 1},
                      .element_bytes = o->gradient_bytes,
                      .operations = 12 * shard,
                      .bytes = (uint64_t)((o->gradient_bytes + 2 * o->optimizer_bytes + o->weight_bytes) * (double)shard)};
    ending e = {0};

    if (o->sequence_parallel)
        e.sums += collective(r, WL_ALL_REDUCE, STEP_GROUP_TP,
                             o->gradient_bytes * (double)(unsplit_elements(layer) * (r->model->n_layers / o->pp)),
                             o->gradient_bytes);
    if (r->model->is_tied)
        e.sums += collective(r, WL_ALL_REDUCE, STEP_GROUP_EMBEDDING,
                             o->gradient_bytes * (double)step_parameter_share(&first->parameter[0], o->tp),
                             o->gradient_bytes);
    e.sums += collective(r, WL_ALL_REDUCE, o->zero ? STEP_GROUP_WORLD : STEP_GROUP_MODEL, 4, 4); /* the norm */
    e.optimizer = step_clock_kernel(r->clock, &adam);
    if ((o->zero == 1 || o->zero == 2) && !o->overlaps_parameters)
        e.gather = gather_time(r, elements);
    return e;
}

/* ---- the parts --------------------------------------------------------------------------------- */

static void add_piece(const step_cost *c, step_result *out)
{
    out->compute += c->compute;
    out->part[STEP_PART_TP] += c->exposed[STEP_GROUP_TP];
    out->part[STEP_PART_CP] += c->exposed[STEP_GROUP_CP];
    out->part[STEP_PART_DP] += c->exposed[STEP_GROUP_SHARD];
}

static void add_rank(const runner *r, step_result *out, dse_time transfer)
{
    const sched_plan *p = &out->plan;
    uint32_t first = p->first[out->slowest], end = p->first[out->slowest + 1];
    dse_time free_at = 0;

    for (uint32_t i = first; i < end; i++) {
        dse_time waited = out->times.start[i] > free_at ? out->times.start[i] - free_at : 0;
        dse_time moving = waited < transfer ? waited : transfer;

        out->part[STEP_PART_PP] += moving;
        out->part[STEP_PART_BUBBLE] += waited - moving;
        add_piece(&piece_of(r, p, i)->cost, out);
        free_at = out->times.end[i];
    }
}

static void count_work(runner *r, step_result *out)
{
    const step_options *o = r->options;
    double per_pipeline = 0, again = 0, copies = (double)o->tp * o->cp * o->dp * o->n_micro_batches;

    for (uint32_t s = 0; s < r->n_stages; s++) {
        make_chain(r, s);
        for (uint32_t i = 0; i < r->n_units; i++) {
            const step_cost *c = r->unit[r->chain[i]].cost;

            per_pipeline += c[SCHED_F].operations + c[SCHED_B].operations;
            again += c[SCHED_B].operations_again;
        }
    }
    out->executed_operations = per_pipeline * copies;
    out->model_operations = (per_pipeline - again) * copies;
    out->tokens = (uint64_t)o->dp * o->micro_batch * o->n_micro_batches * r->model->sequence;
}

static void finish(runner *r, step_result *out)
{
    dse_time transfer = out->part[STEP_PART_PP], latest = 0, reduced = 0, parts = 0;
    ending worst = {0};

    out->part[STEP_PART_PP] = 0;
    for (uint32_t rank = 0; rank < out->plan.n_ranks; rank++) {
        ending e = end_of_step(r, elements_of_rank(r, &out->plan, rank));
        dse_time end = reduction_end(r, out, rank);

        if (end + e.sums > latest) {
            latest = end + e.sums;
            out->slowest = rank;
            reduced = end;
        }
        worst.optimizer = e.optimizer > worst.optimizer ? e.optimizer : worst.optimizer;
        worst.gather = e.gather > worst.gather ? e.gather : worst.gather;
    }
    add_rank(r, out, transfer);
    out->part[STEP_PART_COMPUTE] = out->compute;
    out->part[STEP_PART_OPTIMIZER] = worst.optimizer;
    out->compute += worst.optimizer;
    out->step = latest + worst.optimizer + worst.gather;
    /* Reductions that go on after the last piece, the sums, and the gathering. */
    out->part[STEP_PART_DP] += reduced - out->times.last[out->slowest] + (latest - reduced) + worst.gather;
    for (int i = 0; i < STEP_N_PARTS; i++)
        parts += out->part[i];
    /* Within a pair of overlapping pieces the second has waited for the first, which counts already. */
    out->part[STEP_PART_BUBBLE] -= parts > out->step ? parts - out->step : 0;
}

static void measure_memory(runner *r, step_result *out)
{
    step_memory *sizes = step_memory_new(r->model, r->options, r->n_stages, r->arena);

    out->memory = DSE_ARENA_NEW(r->arena, step_rank_memory, out->plan.n_ranks);
    for (uint32_t rank = 0; rank < out->plan.n_ranks; rank++) {
        step_memory_of(sizes, &out->plan, rank, r->arena, &out->memory[rank]);
        if (out->memory[rank].peak > out->memory[out->largest].peak)
            out->largest = rank;
    }
}

dse_status step_run(const step_model *m, const step_options *o, const sched_def *schedule, const sched_options *order,
                    step_clock *clock, dse_arena *a, step_result *out, dse_error *err)
{
    runner r = {.model = m,
                .options = o,
                .clock = clock,
                .ranks = step_ranks_of(o, a),
                .shape = step_shape_of(m, o),
                .arena = a,
                .err = err,
                .n_stages = o->pp * o->vp};
    dse_status st;

    *out = (step_result){0};
    r.chain = DSE_ARENA_NEW(a, uint8_t, m->n_layers / r.n_stages + 2);
    r.piece = DSE_ARENA_NEW(a, piece, (size_t)r.n_stages * SCHED_KINDS * SCHED_PLACES);
    r.reduced = DSE_ARENA_NEW(a, dse_time, r.n_stages);
    make_units(&r);
    if (r.status == DSE_OK)
        make_all_pieces(&r);
    if (r.status != DSE_OK)
        return r.status;
    if ((st = compose(&r, schedule, order, out)) != DSE_OK)
        return st;
    find_ends(&r, &out->plan);
    measure_memory(&r, out);
    count_work(&r, out);
    finish(&r, out);
    return r.status;
}
