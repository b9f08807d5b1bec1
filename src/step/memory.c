/* The sizes of a stage are found once: what it holds always, what a forward pass leaves, and for each kind of
 * action the moment at which it needs most. A walk then adds and takes away, and looks at one moment for each
 * action. */
#include "step/memory_parts.h"

#include <string.h>

const step_holds_def step_holds_defs[STEP_N_HOLDS] = {
    [STEP_HOLDS_PARAMETERS] = {"parameters", "weights as they are stored; with ZeRO-3 the rank's shard"},
    [STEP_HOLDS_GRADIENTS] = {"gradients",
                              "the buffer that gradients add up in; from ZeRO-2 on the rank's shard"},
    [STEP_HOLDS_OPTIMIZER] = {"optimizer", "master weights and moments; from ZeRO-1 on the rank's shard"},
    [STEP_HOLDS_BUCKETS] = {"buckets", "copies of the gradients that are reduced in their place"},
    [STEP_HOLDS_GATHERED_TOKENS] = {"gathered_tokens", "the buffer into which sequence parallelism gathers"},
    [STEP_HOLDS_TABLES] = {"tables", "angles of rotary positions"},
    [STEP_HOLDS_WORKSPACE] = {"workspace", "what the matrix library reserves"},
    [STEP_HOLDS_ACTIVATIONS] = {"activations", "what forward passes keep for the backward passes to come"},
    [STEP_HOLDS_LOGITS] = {"logits", "logits, their copies in 32 bits and their gradient"},
    [STEP_HOLDS_DEFERRED] = {"deferred",
                             "inputs and output gradients that wait for the gradients of weights (W)"},
    [STEP_HOLDS_WHOLE_GRADIENTS] = {"whole_gradients",
                                    "unsharded gradients that wait for the last micro-batch"},
    [STEP_HOLDS_GATHERED_PARAMETERS] = {"gathered_parameters", "parameters of ZeRO-3 that are gathered now"},
    [STEP_HOLDS_RECOMPUTED] = {"recomputed", "activations that are made again for the layer that runs"},
    [STEP_HOLDS_WORKING] = {"working", "results and gradients of the module that runs, not kept"},
    [STEP_HOLDS_UNREDUCED] = {"unreduced", "gradients of a unit and what is being reduced of them"},
    [STEP_HOLDS_CONTEXT] = {"context", "receive buffers of context parallelism"},
    [STEP_HOLDS_TRANSFERS] = {"transfers", "tensors received from and sent to other stages"},
};

/* ---- what all ranks have ----------------------------------------------------------------------- */

/* Megatron-LM gathers tokens into one buffer for all modules (core/utils.py, GlobalMemoryBuffer). */
static int64_t gathered_tokens(const step_memory *s)
{
    const step_options *o = s->options;
    uint64_t features = 0;

    if (!o->sequence_parallel || o->tp == 1 || !o->gathers_again)
        return 0;
    for (uint32_t k = 0; k < s->model->n_blocks; k++) {
        const step_block *b = &s->model->block[k];

        for (uint32_t i = 0; i < b->n; i++)
            if (b->module[i].split == STEP_SPLIT_COLUMN && b->module[i].in > features)
                features = b->module[i].in;
    }
    return (int64_t)(o->activation_bytes * (double)(s->shape.tokens * features));
}

static int64_t tables(const step_memory *s)
{
    double most = 0; /* one for all layers */

    for (uint32_t k = STEP_LAYER; k < s->model->n_blocks; k++) {
        const step_block *b = &s->model->block[k];

        for (uint32_t i = 0; i < b->n; i++) {
            const step_module *m = &b->module[i];
            const double bytes = m->kind->table ? m->kind->table(m, &s->shape) : 0;

            most = bytes > most ? bytes : most;
        }
    }
    return (int64_t)most;
}

/* The output embedding's matrix counts with its block; on the rank that has the input embedding it is
 * that. Likewise the embedding of a last stage that predicts further tokens. */
static mem_held tied_of(const step_memory *s)
{
    const bool is_tied = s->model->is_tied;
    const step_block *b = &s->model->block[is_tied ? STEP_HEAD : STEP_EMBEDDING];
    const bool has_one_stage = s->n_stages == 1; /* and its own embedding */
    mem_unit u = {0};

    for (uint32_t i = 0; (is_tied || (s->model->n_mtp && !has_one_stage)) && i < b->n_parameters; i++)
        if (!is_tied || step_is_output(b, &b->parameter[i]))
            mem_add_parameter(&u, &b->parameter[i], s->options);
    return mem_state_of(s, &u);
}

/* The sizes of stage n: those of an equal one before it, if there is one. */
static mem_stage *stage_of(step_memory *s, uint32_t n)
{
    const step_stage stage = step_stage_of(s->model, n, s->n_stages);
    mem_stage *g;

    for (uint32_t i = n; i-- > 0;) /* the one before it, nearly always */
        if (step_stage_is_same(&s->stage[i]->of, &stage))
            return s->stage[i];
    g = DSE_ARENA_NEW(s->arena, mem_stage, 1);
    g->of = stage;
    mem_make_stage(s, g);
    return g;
}

step_memory *step_memory_new(const step_model *m, const step_options *o, uint32_t n_stages, dse_arena *a)
{
    step_memory *s = DSE_ARENA_NEW(a, step_memory, 1);

    *s = (step_memory){
        .model = m, .options = o, .shape = step_shape_of(m, o), .arena = a, .n_stages = n_stages};
    s->unit = DSE_ARENA_NEW(a, mem_unit, (size_t)2 * m->n_blocks);
    s->hidden = (int64_t)step_hidden_bytes(m, o);
    for (uint32_t k = 0; k < m->n_blocks; k++) {
        mem_make_unit(s, mem_unit_of((step_block_kind)k, false));
        if (step_is_layer((step_block_kind)k) && o->recompute == STEP_RECOMPUTE_FULL)
            mem_make_unit(s, mem_unit_of((step_block_kind)k, true));
    }
    s->stage = DSE_ARENA_RAW(a, mem_stage *, n_stages);
    for (uint32_t n = 0; n < n_stages; n++)
        s->stage[n] = stage_of(s, n);
    s->tied = tied_of(s);
    s->always.of[STEP_HOLDS_GATHERED_TOKENS] = gathered_tokens(s);
    s->always.of[STEP_HOLDS_TABLES] = tables(s);
    s->always.of[STEP_HOLDS_WORKSPACE] = (int64_t)o->workspace_bytes;
    if (o->pp > 1)
        s->always.of[STEP_HOLDS_TRANSFERS] = (int64_t)o->receives_ahead * s->hidden;
    return s;
}

/* ---- the walk ---------------------------------------------------------------------------------- */

/* What a stage holds besides what is fixed, as counts: the bytes follow, and are added up kind by kind only
 * where the peak is. */
typedef struct {
    const mem_stage *stage;
    mem_open open;
    uint32_t n_gradients;       /* passes that made gradients of weights */
    int64_t n_kept, n_deferred; /* micro-batches after F, after I */
    bool is_whole;              /* gradients wait unsharded */
} progress;

typedef struct {
    const step_memory *s;
    const sched_plan *plan;
    mem_held fixed;
    int64_t now, live; /* bytes of all, and of what waits for backward passes */
    int64_t peak;
    progress *of; /* per stage of the plan */
    step_rank_memory *out;
    uint64_t *during, *after; /* of step_memory_over; NULL */
} walk;

static const mem_stage *stage_at(const walk *w, uint32_t number) { return w->of[number].stage; }

static bool reduces(const walk *w, const sched_action *a)
{
    const step_options *o = w->s->options;

    return sched_makes_gradients(a->kind) && (o->zero < 3 || o->sync == STEP_SYNC_EACH ||
                                              w->of[a->stage].n_gradients + 1 == w->plan->n_micro_batches);
}

static const mem_moment *moment_of(const walk *w, const sched_action *a)
{
    return &stage_at(w, a->stage)->moment[a->kind][w->of[a->stage].open][reduces(w, a)];
}

static int64_t gathered_bytes(const progress *p)
{
    return p->open == OPEN_ALL ? p->stage->gathered : p->open == OPEN_LAST ? p->stage->gathered_last : 0;
}

/* Of the stages of all ranks those of others are untouched. */
static mem_held held_now(const walk *w)
{
    mem_held held = w->fixed;

    for (uint32_t n = 0; n < w->plan->n_directions * w->plan->n_stages; n++) {
        const progress *p = &w->of[n];

        if (p->n_kept)
            mem_add(&held, &p->stage->kept, p->n_kept);
        if (p->n_deferred)
            mem_add(&held, &p->stage->deferred, p->n_deferred);
        held.of[STEP_HOLDS_GATHERED_PARAMETERS] += gathered_bytes(p);
        held.of[STEP_HOLDS_WHOLE_GRADIENTS] += p->is_whole ? p->stage->whole : 0;
    }
    return held;
}

/* The same while an action runs, or a pair. */
static mem_held held_at(const walk *w, uint32_t at)
{
    mem_held held = held_now(w);

    for (uint32_t i = at; i <= at + w->plan->action[at].with_next; i++)
        mem_add(&held, &moment_of(w, &w->plan->action[i])->more, 1);
    return held;
}

/* An action, and the other one of a pair, which runs beside it and may need most at the same time. */
static void look_at(walk *w, uint32_t at, bool is_pair)
{
    const mem_moment *m = moment_of(w, &w->plan->action[at]);
    const mem_moment *other = is_pair ? moment_of(w, &w->plan->action[at + 1]) : NULL;
    int64_t bytes = w->now + m->bytes + (other ? other->bytes : 0);

    if (w->during)
        w->during[0] = w->during[is_pair] = (uint64_t)bytes;
    if (w->out->at != DSE_NONE && bytes <= w->peak)
        return;
    w->peak = bytes;
    w->out->at = at;
    w->out->block = m->block;
}

static void set_open(walk *w, progress *p, mem_open open)
{
    w->now -= gathered_bytes(p);
    p->open = open;
    w->now += gathered_bytes(p);
}

static void set_whole(walk *w, progress *p, bool is_whole)
{
    w->now += (is_whole - p->is_whole) * p->stage->whole;
    p->is_whole = is_whole;
}

static void keep(walk *w, progress *p, int64_t micro_batches)
{
    p->n_kept += micro_batches;
    w->now += micro_batches * p->stage->kept_bytes;
    w->live += micro_batches * p->stage->kept_live;
}

static void defer(walk *w, progress *p, int64_t micro_batches)
{
    p->n_deferred += micro_batches;
    w->now += micro_batches * p->stage->deferred_bytes;
    w->live += micro_batches * p->stage->deferred_live;
}

/* What becomes of parameters and gradients that are sharded. */
static void apply_shards(walk *w, progress *p, const sched_action *a)
{
    const step_options *o = w->s->options;

    if (a->kind == SCHED_F) {
        set_open(w, p, o->reshard_after_forward ? OPEN_LAST : OPEN_ALL);
        return;
    }
    if (a->kind != SCHED_W)
        set_open(w, p, mem_closes_each(o) ? OPEN_NONE : OPEN_ALL);
    if (!sched_makes_gradients(a->kind))
        return;
    set_whole(w, p, !reduces(w, a));
    p->n_gradients++;
    if (p->n_gradients == w->plan->n_micro_batches)
        set_open(w, p, OPEN_NONE);
}

static void apply(walk *w, const sched_action *a)
{
    progress *p = &w->of[a->stage];

    if (a->kind == SCHED_F)
        keep(w, p, 1);
    else if (a->kind != SCHED_W)
        keep(w, p, -1);
    if (a->kind == SCHED_I || a->kind == SCHED_W)
        defer(w, p, a->kind == SCHED_I ? 1 : -1);
    if ((uint64_t)w->live > w->out->kept)
        w->out->kept = (uint64_t)w->live;
    if (w->s->options->zero == 3)
        apply_shards(w, p, a);
}

/* What the stages of the rank hold always. */
static void add_fixed(walk *w, uint32_t rank)
{
    const sched_plan *p = w->plan;

    w->fixed = w->s->always;
    for (uint32_t n = 0; n < p->n_directions * p->n_stages; n++)
        if (p->stage_rank[n] == rank)
            mem_add(&w->fixed, &stage_at(w, n)->fixed, 1);
    for (uint32_t d = 0; d < p->n_directions; d++) { /* of two directions the other's end */
        const uint32_t end = p->n_stages - 1 + (p->n_directions - 1 - d) * p->n_stages;

        if (p->stage_rank[(size_t)d * p->n_stages] == rank && p->stage_rank[end] == rank)
            mem_add(&w->fixed, &w->s->tied, -1);
    }
}

/* Does a rank's actions before `end`, and looks for the one at which it holds most. */
static void walk_to(walk *w, uint32_t rank, uint32_t end, bool looks)
{
    const sched_plan *p = w->plan;

    for (uint32_t n = 0; n < p->n_directions * p->n_stages; n++)
        w->of[n] = (progress){.stage = w->of[n].stage};
    w->now = mem_total(&w->fixed);
    for (uint32_t i = p->first[rank]; i < end; i++) {
        bool is_pair = p->action[i].with_next;

        if (looks)
            look_at(w, i, is_pair);
        apply(w, &p->action[i]);
        if (is_pair)
            apply(w, &p->action[++i]);
        if (w->during) {
            w->after[0] = w->after[is_pair] = (uint64_t)w->now;
            w->during += 1 + is_pair;
            w->after += 1 + is_pair;
        }
    }
}

static walk walk_of(const step_memory *s, const sched_plan *p, uint32_t rank, dse_arena *a,
                    step_rank_memory *out)
{
    walk w = {.s = s, .plan = p, .out = out};

    *out = (step_rank_memory){.at = DSE_NONE};
    w.of = DSE_ARENA_NEW(a, progress, (size_t)p->n_directions * p->n_stages);
    for (uint32_t n = 0; n < p->n_directions * p->n_stages; n++)
        w.of[n].stage = s->stage[n % p->n_stages];
    add_fixed(&w, rank);
    return w;
}

void step_memory_of(const step_memory *s, const sched_plan *p, uint32_t rank, dse_arena *a,
                    step_rank_memory *out)
{
    walk w = walk_of(s, p, rank, a, out);
    mem_held most;

    walk_to(&w, rank, p->first[rank + 1], true);
    out->fixed = (uint64_t)mem_total(&w.fixed);
    out->left = (uint64_t)w.now;
    most = w.fixed;
    if (out->at != DSE_NONE) { /* once more, to add it up kind by kind */
        walk_to(&w, rank, out->at, false);
        most = held_at(&w, out->at);
    }
    for (int k = 0; k < STEP_N_HOLDS; k++)
        out->held[k] = (uint64_t)most.of[k];
    out->peak = (uint64_t)mem_total(&most);
}

void step_memory_over(const step_memory *s, const sched_plan *p, uint32_t rank, dse_arena *a,
                      uint64_t *during, uint64_t *after)
{
    step_rank_memory peak;
    walk w = walk_of(s, p, rank, a, &peak);

    w.during = during;
    w.after = after;
    walk_to(&w, rank, p->first[rank + 1], true);
}

/* Adds what the stages hold before an action, besides what is fixed, and the action's own moment. */
static void add_moment(const walk *w, uint32_t at, int64_t *sum)
{
    for (uint32_t n = 0; n < w->plan->n_stages; n++) {
        const progress *p = &w->of[n];

        sum[n] += p->n_kept * p->stage->kept_bytes + p->n_deferred * p->stage->deferred_bytes +
                  gathered_bytes(p) + (p->is_whole ? p->stage->whole : 0);
    }
    for (uint32_t i = at; i <= at + w->plan->action[at].with_next; i++)
        sum[w->plan->action[i].stage] += moment_of(w, &w->plan->action[i])->bytes;
}

/* How many micro-batches are open, what of their stages is gathered and what waits unsharded follows from the
 * plan alone, so that each moment's bytes are a sum over stages. */
void step_memory_between(const step_memory *s, const sched_plan *p, uint32_t rank, dse_arena *a,
                         uint64_t *bytes, int64_t *always)
{
    step_rank_memory none;
    walk w = walk_of(s, p, rank, a, &none);
    int64_t *sum = DSE_ARENA_NEW(a, int64_t, p->n_stages), n = 0, n_most = 0, moments = 0;

    for (uint32_t i = p->first[rank], end; i < p->first[rank + 1]; i = end) {
        end = i + 1 + p->action[i].with_next;
        if (n > n_most) {
            n_most = n;
            moments = 0;
            memset(sum, 0, p->n_stages * sizeof *sum);
        }
        if (n == n_most) {
            moments++;
            add_moment(&w, i, sum);
        }
        for (uint32_t k = i; k < end; k++) {
            n += p->action[k].kind == SCHED_F;
            n -= p->action[k].kind == SCHED_B || p->action[k].kind == SCHED_I;
            apply(&w, &p->action[k]);
        }
    }
    *always = mem_total(&s->always);
    if (p->stage_rank[0] == rank && p->stage_rank[p->n_stages - 1] == rank)
        *always -= mem_total(&s->tied);
    for (uint32_t k = 0; k < p->n_stages; k++)
        if (p->stage_rank[k] == rank)
            bytes[k] = (uint64_t)(mem_total(&s->stage[k]->fixed) + sum[k] / (moments + !moments));
}
