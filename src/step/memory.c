/* The sizes of a stage are found once: what it holds always, what a forward pass leaves, and for each kind of
 * action the moment at which it needs most. A walk then adds and takes away, and looks at one moment for each
 * action. */
#include "step/memory_parts.h"

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
    for (int k = 0; k < STEP_N_BLOCKS; k++) {
        const step_block *b = &s->model->block[k];

        for (uint32_t i = 0; i < b->n; i++)
            if (b->module[i].split == STEP_SPLIT_COLUMN && b->module[i].in > features)
                features = b->module[i].in;
    }
    return (int64_t)(o->activation_bytes * (double)(s->shape.tokens * features));
}

static int64_t tables(const step_memory *s)
{
    const step_block *b = &s->model->block[STEP_LAYER];
    double bytes = 0;

    for (uint32_t i = 0; i < b->n; i++)
        if (b->module[i].kind->table)
            bytes = b->module[i].kind->table(&b->module[i], &s->shape); /* one for all layers */
    return (int64_t)bytes;
}

/* The output embedding's matrix counts with its block; on the rank that has the input embedding it is
 * that. */
static mem_held tied_of(const step_memory *s)
{
    const step_block *b = &s->model->block[STEP_HEAD];
    mem_unit u = {0};

    for (uint32_t i = 0; s->model->is_tied && i < b->n_parameters; i++)
        if (b->module[b->parameter[i].module].kind == &step_module_linear)
            mem_add_parameter(&u, &b->parameter[i], s->options);
    return mem_state_of(s, u.elements, u.padded, u.share);
}

static uint32_t class_of(const step_memory *s, const step_stage *stage)
{
    return (stage->has_embedding ? 1u : 0) + (stage->has_head ? 2u : 0) +
           (stage->n_layers > s->model->n_layers / s->n_stages ? 4u : 0);
}

step_memory *step_memory_new(const step_model *m, const step_options *o, uint32_t n_stages, dse_arena *a)
{
    step_memory *s = DSE_ARENA_NEW(a, step_memory, 1);

    *s = (step_memory){
        .model = m, .options = o, .shape = step_shape_of(m, o), .arena = a, .n_stages = n_stages};
    s->hidden = (int64_t)step_transfer_of(m, o).in_bytes;
    for (int k = 0; k < N_UNITS; k++)
        mem_make_unit(s, (mem_unit_kind)k);
    for (uint32_t n = 0; n < n_stages; n++) {
        step_stage stage = step_stage_of(m, n, n_stages);
        mem_stage *g = &s->class[class_of(s, &stage)];

        if (!g->chain)
            mem_make_stage(s, g, &stage);
    }
    s->tied = tied_of(s);
    s->always.of[STEP_HOLDS_GATHERED_TOKENS] = gathered_tokens(s);
    s->always.of[STEP_HOLDS_TABLES] = tables(s);
    s->always.of[STEP_HOLDS_WORKSPACE] = (int64_t)o->workspace_bytes;
    if (o->pp > 1)
        s->always.of[STEP_HOLDS_TRANSFERS] = (int64_t)o->receives_ahead * s->hidden;
    return s;
}

/* ---- the walk ---------------------------------------------------------------------------------- */

typedef struct {
    const mem_stage *stage;
    mem_open open;
    uint32_t n_gradients; /* passes that made gradients of weights */
    bool is_whole;        /* they wait unsharded */
} progress;

typedef struct {
    const step_memory *s;
    const sched_plan *plan;
    mem_held now;
    mem_held most;
    int64_t peak; /* bytes of it */
    progress *of; /* per stage of the plan */
    step_rank_memory *out;
} walk;

static const mem_stage *stage_at(const walk *w, uint32_t number) { return w->of[number].stage; }

static bool reduces(const walk *w, const sched_action *a)
{
    const step_options *o = w->s->options;
    bool is_last = w->of[a->stage].n_gradients + 1 == w->plan->n_micro_batches;

    return sched_makes_gradients(a->kind) && (o->zero < 3 || o->sync == STEP_SYNC_EACH || is_last);
}

static const mem_moment *moment_of(const walk *w, const sched_action *a)
{
    return &stage_at(w, a->stage)->moment[a->kind][w->of[a->stage].open][reduces(w, a)];
}

/* An action, and the other one of a pair, which runs beside it and may need most at the same time. */
static void look_at(walk *w, uint32_t at, bool is_pair)
{
    const mem_moment *m = moment_of(w, &w->plan->action[at]);
    const mem_moment *other = is_pair ? moment_of(w, &w->plan->action[at + 1]) : NULL;
    int64_t bytes = mem_total(&w->now) + m->bytes + (other ? other->bytes : 0);

    if (w->out->at != DSE_NONE && bytes <= w->peak)
        return;
    w->peak = bytes;
    w->most = w->now;
    mem_add(&w->most, &m->more, 1);
    if (other)
        mem_add(&w->most, &other->more, 1);
    w->out->at = at;
    w->out->block = m->block;
}

static void set_open(walk *w, const mem_stage *g, progress *p, mem_open open)
{
    const int64_t bytes[N_OPEN] = {0, g->gathered_last, g->gathered};

    if (w->s->options->zero < 3)
        return;
    w->now.of[STEP_HOLDS_GATHERED_PARAMETERS] += bytes[open] - bytes[p->open];
    p->open = open;
}

static void set_whole(walk *w, const mem_stage *g, progress *p, bool is_whole)
{
    w->now.of[STEP_HOLDS_WHOLE_GRADIENTS] += (is_whole - p->is_whole) * g->whole;
    p->is_whole = is_whole;
}

static void apply(walk *w, const sched_action *a)
{
    const step_options *o = w->s->options;
    const mem_stage *g = stage_at(w, a->stage);
    progress *p = &w->of[a->stage];
    bool reduced = reduces(w, a);

    switch ((sched_kind)a->kind) {
    case SCHED_F:
        mem_add(&w->now, &g->kept, 1);
        if (p->open != OPEN_ALL)
            set_open(w, g, p, o->reshard_after_forward ? OPEN_LAST : OPEN_ALL);
        break;
    case SCHED_I:
        mem_add(&w->now, &g->kept, -1);
        mem_add(&w->now, &g->deferred, 1);
        break;
    case SCHED_W: mem_add(&w->now, &g->deferred, -1); break;
    default: mem_add(&w->now, &g->kept, -1); break;
    }
    if (a->kind == SCHED_F)
        return;
    if (a->kind != SCHED_W && mem_closes_each(o))
        set_open(w, g, p, OPEN_NONE);
    if (!sched_makes_gradients(a->kind))
        return;
    p->n_gradients++;
    set_whole(w, g, p, o->zero == 3 && !reduced);
    if (p->n_gradients == w->plan->n_micro_batches)
        set_open(w, g, p, OPEN_NONE);
}

static void note_kept(walk *w)
{
    int64_t kept =
        w->now.of[STEP_HOLDS_ACTIVATIONS] + w->now.of[STEP_HOLDS_LOGITS] + w->now.of[STEP_HOLDS_DEFERRED];

    if ((uint64_t)kept > w->out->kept)
        w->out->kept = (uint64_t)kept;
}

/* What the stages of the rank hold always. */
static void add_fixed(walk *w, uint32_t rank)
{
    const sched_plan *p = w->plan;

    w->now = w->s->always;
    for (uint32_t n = 0; n < p->n_directions * p->n_stages; n++)
        if (p->stage_rank[n] == rank)
            mem_add(&w->now, &stage_at(w, n)->fixed, 1);
    for (uint32_t d = 0; d < p->n_directions; d++) {
        const uint32_t *ranks = &p->stage_rank[d * p->n_stages];

        if (ranks[0] == rank && ranks[p->n_stages - 1] == rank)
            mem_add(&w->now, &w->s->tied, -1);
    }
}

void step_memory_of(const step_memory *s, const sched_plan *p, uint32_t rank, dse_arena *a,
                    step_rank_memory *out)
{
    walk w = {.s = s, .plan = p, .out = out};

    *out = (step_rank_memory){.at = DSE_NONE};
    w.of = DSE_ARENA_NEW(a, progress, p->n_directions * p->n_stages);
    for (uint32_t n = 0; n < p->n_directions * p->n_stages; n++) {
        step_stage stage = step_stage_of(s->model, n % p->n_stages, p->n_stages);

        w.of[n].stage = &s->class[class_of(s, &stage)];
    }
    add_fixed(&w, rank);
    w.most = w.now;
    out->fixed = (uint64_t)mem_total(&w.now);
    for (uint32_t i = p->first[rank]; i < p->first[rank + 1]; i++) {
        bool is_pair = p->action[i].with_next;

        look_at(&w, i, is_pair);
        apply(&w, &p->action[i]);
        note_kept(&w);
        if (is_pair) {
            apply(&w, &p->action[++i]);
            note_kept(&w);
        }
    }
    out->left = (uint64_t)mem_total(&w.now);
    for (int k = 0; k < STEP_N_HOLDS; k++)
        out->held[k] = (uint64_t)w.most.of[k];
    out->peak = (uint64_t)mem_total(&w.most); /* w.peak, or what is fixed */
}
