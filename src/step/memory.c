/* The sizes of a stage are found once: what it holds always, what a forward pass leaves, and for each kind of action the
 * moment at which it needs most. A walk then adds and takes away, and looks at one moment for each action. */
#include "step/memory.h"

#include "step/module.h"

#include <string.h>

const step_holds_def step_holds_defs[STEP_N_HOLDS] = {
    [STEP_HOLDS_PARAMETERS] = {"parameters", "weights as they are stored; with ZeRO-3 the rank's shard"},
    [STEP_HOLDS_GRADIENTS] = {"gradients", "the buffer that gradients add up in; from ZeRO-2 on the rank's shard"},
    [STEP_HOLDS_OPTIMIZER] = {"optimizer", "master weights and moments; from ZeRO-1 on the rank's shard"},
    [STEP_HOLDS_BUCKETS] = {"buckets", "copies of the gradients that are reduced in their place"},
    [STEP_HOLDS_GATHERED_TOKENS] = {"gathered_tokens", "the buffer into which sequence parallelism gathers"},
    [STEP_HOLDS_TABLES] = {"tables", "angles of rotary positions"},
    [STEP_HOLDS_WORKSPACE] = {"workspace", "what the matrix library reserves"},
    [STEP_HOLDS_ACTIVATIONS] = {"activations", "what forward passes keep for the backward passes to come"},
    [STEP_HOLDS_LOGITS] = {"logits", "logits, their copies in 32 bits and their gradient"},
    [STEP_HOLDS_DEFERRED] = {"deferred", "inputs and output gradients that wait for the gradients of weights (W)"},
    [STEP_HOLDS_WHOLE_GRADIENTS] = {"whole_gradients", "unsharded gradients that wait for the last micro-batch"},
    [STEP_HOLDS_GATHERED_PARAMETERS] = {"gathered_parameters", "parameters of ZeRO-3 that are gathered now"},
    [STEP_HOLDS_RECOMPUTED] = {"recomputed", "activations that are made again for the layer that runs"},
    [STEP_HOLDS_WORKING] = {"working", "results and gradients of the module that runs, not kept"},
    [STEP_HOLDS_UNREDUCED] = {"unreduced", "gradients of a unit and what is being reduced of them"},
    [STEP_HOLDS_CONTEXT] = {"context", "receive buffers of context parallelism"},
    [STEP_HOLDS_TRANSFERS] = {"transfers", "tensors received from and sent to other stages"},
};

/* Bytes by kind; of a difference also negative. */
typedef struct {
    int64_t of[STEP_N_HOLDS];
} held;

static int64_t total(const held *h)
{
    int64_t sum = 0;

    for (int i = 0; i < STEP_N_HOLDS; i++)
        sum += h->of[i];
    return sum;
}

static void add(held *h, const held *other, int64_t times)
{
    for (int i = 0; i < STEP_N_HOLDS; i++)
        h->of[i] += times * other->of[i];
}

static void keep_largest(held *most, const held *h)
{
    if (total(h) > total(most))
        *most = *h;
}

/* What a stage is a chain of. */
typedef enum { UNIT_EMBEDDING, UNIT_LAYER, UNIT_LAYER_AGAIN, UNIT_HEAD, N_UNITS } unit_kind;

static const step_block_kind block_of[N_UNITS] = {STEP_EMBEDDING, STEP_LAYER, STEP_LAYER, STEP_HEAD};

/* A block of modules. Parameters of ZeRO-3 are gathered and gradients reduced by it. */
typedef struct {
    uint64_t elements, share; /* of its parameters on a rank of a tensor parallel group; of them its shard */
    uint64_t padded;          /* and as a distributed optimizer lays them out */
    int64_t gathered;         /* bytes of its parameters, whole */
    held kept, deferred;      /* after F; after I */
    int64_t remade;           /* all that recomputation of the block makes, but its input */
    /* The moment of each kind of action that needs most: forward, above what was there before; backward, above
     * what was there when the units behind it had ended, this one's `kept` included. */
    held moment[SCHED_KINDS];
    held loss[SCHED_KINDS];   /* the same of the module that takes the loss, if there is one */
} unit;

/* Which parameters of a stage are gathered between two actions. */
typedef enum { OPEN_NONE, OPEN_LAST, OPEN_ALL, N_OPEN } open_kind;

typedef struct {
    held more; /* above what is held before the action */
    step_block_kind block;
} moment;

typedef struct {
    uint32_t n_units, n_layers;
    uint8_t *chain;    /* unit_kind of each, in the order of the forward pass */
    uint8_t *place;    /* of a recomputed layer in its piece; only the first keeps its input */
    held fixed, kept, deferred;
    int64_t gathered, gathered_last, whole;
    moment moment[SCHED_KINDS][N_OPEN][2]; /* the last: whether gradients are reduced */
} stage;

#define N_CLASSES 8 /* is it the first, is it the last, has it one layer more */

struct step_memory {
    const step_model *model;
    const step_options *options;
    step_shape shape;
    dse_arena *arena;
    uint32_t n_stages, shards;
    int64_t hidden;    /* bytes of the tensor between two stages */
    unit unit[N_UNITS];
    stage class[N_CLASSES];
    held tied;         /* the output embedding, where it is the input embedding of the same rank */
    held always;       /* of each rank, whatever its stages */
};

/* ---- parameters -------------------------------------------------------------------------------- */

static uint64_t round_up(uint64_t n, uint64_t of) { return of > 1 ? (n + of - 1) / of * of : n; }

/* Fully sharded parameters are split by rows, each (torch, fsdp/_fully_shard/_fsdp_param.py); a distributed optimizer
 * lays all out one after the other and splits that (Megatron-LM, distrib_optimizer.py). */
static void add_parameter(unit *u, const step_parameter *p, const step_options *o, uint32_t shards)
{
    uint64_t n = step_parameter_share(p, o->tp), rows = p->rows;

    if (p->is_split && !p->is_by_columns)
        rows = (rows + o->tp - 1) / o->tp;
    u->elements += n;
    u->padded += round_up(n, o->zero && o->zero < 3 ? o->pads_parameters : 1);
    u->share += rows ? (rows + shards - 1) / shards * (n / rows) : 0;
}

void step_memory_state(const step_options *o, uint64_t elements, uint64_t share, uint64_t out[STEP_N_HOLDS])
{
    memset(out, 0, STEP_N_HOLDS * sizeof *out);
    out[STEP_HOLDS_PARAMETERS] = (uint64_t)(o->kept_weight_bytes * (double)(o->zero == 3 ? share : elements));
    out[STEP_HOLDS_GRADIENTS] = (uint64_t)(o->gradient_bytes * (double)(o->zero >= 2 ? share : elements));
    out[STEP_HOLDS_OPTIMIZER] = (uint64_t)(o->optimizer_bytes * (double)(o->zero >= 1 ? share : elements));
}

static held state_of(const step_memory *s, uint64_t elements, uint64_t padded, uint64_t share)
{
    const step_options *o = s->options;
    uint64_t bytes[STEP_N_HOLDS];
    held h;

    if (o->zero < 3)
        share = (padded + s->shards - 1) / s->shards;
    step_memory_state(o, padded, share, bytes);
    for (int i = 0; i < STEP_N_HOLDS; i++)
        h.of[i] = (int64_t)bytes[i];
    if (o->copies_buckets)
        h.of[STEP_HOLDS_BUCKETS] = (int64_t)(o->gradient_bytes * (double)elements);
    return h;
}

/* ---- units ------------------------------------------------------------------------------------- */

/* What selective recomputation makes again for a module. */
static int64_t made_again(const step_module *m, const step_shape *s)
{
    step_options o = *s->options;
    step_shape whole = *s;

    if (o.recompute != STEP_RECOMPUTE_SELECTIVE || !m->is_again)
        return 0;
    o.recompute = STEP_RECOMPUTE_NONE;
    whole.options = &o;
    return (int64_t)(step_module_kept(m, &whole) - step_module_kept(m, s));
}

static int64_t output_bytes(const step_memory *s, const step_block *b, uint32_t i)
{
    return i + 1 < b->n ? (int64_t)step_module_input(&b->module[i + 1], &s->shape) : s->hidden;
}

static int64_t receives(const step_module *m, const step_shape *s, bool is_backward)
{
    return m->kind->receives ? (int64_t)m->kind->receives(m, s, is_backward) : 0;
}

/* Forward, module by module: what was kept so far, and the result. Nothing but the input is kept of a block that is
 * made again, so that a module's input lasts no longer than the module, and the block's own waits for an addition. */
static void pass_forward(const step_memory *s, const step_block *b, bool again, unit *u)
{
    held kept = {{0}};

    if (again)
        kept.of[STEP_HOLDS_ACTIVATIONS] = u->kept.of[STEP_HOLDS_ACTIVATIONS];
    for (uint32_t i = 0; i < b->n; i++) {
        const step_module *m = &b->module[i];
        int64_t in = (int64_t)step_module_input(m, &s->shape), bytes = (int64_t)step_module_kept(m, &s->shape);
        held now;

        if (m->kind == &step_module_loss)
            break;
        if (!again)
            kept.of[STEP_HOLDS_ACTIVATIONS] += bytes;
        now = kept;
        now.of[STEP_HOLDS_WORKING] = output_bytes(s, b, i) + made_again(m, &s->shape);
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

/* Backward, from the last module: gradients of the result and of the input, and where a residual goes around the module
 * its gradient; what the modules behind it had kept is free, but for what the gradients of weights wait for. */
static void pass_backward(const step_memory *s, const step_block *b, bool again, sched_kind kind, unit *u)
{
    held now = {{0}};

    now.of[STEP_HOLDS_RECOMPUTED] = again ? u->remade : 0;
    for (uint32_t i = b->n; i-- > 0;) {
        const step_module *m = &b->module[i];
        int64_t kept = (int64_t)step_module_kept(m, &s->shape);
        held here = now;

        if (m->kind == &step_module_loss) {
            now.of[STEP_HOLDS_LOGITS] -= kept;
            continue;
        }
        here.of[STEP_HOLDS_WORKING] = (int64_t)step_module_input(m, &s->shape) + output_bytes(s, b, i) +
                                      (i && i + 1 < b->n ? s->hidden : 0);
        here.of[STEP_HOLDS_RECOMPUTED] += made_again(m, &s->shape);
        here.of[STEP_HOLDS_CONTEXT] = receives(m, &s->shape, true);
        keep_largest(&u->moment[kind], &here);
        if (i || !again)
            now.of[again ? STEP_HOLDS_RECOMPUTED : STEP_HOLDS_ACTIVATIONS] -= kept;
        if (kind == SCHED_I)
            now.of[STEP_HOLDS_DEFERRED] += (int64_t)step_module_deferred(m, &s->shape);
    }
}

/* The logits that the matrix product made, or their gradient in its place, and copies in 32 bits besides the one that
 * is kept. */
static void take_loss(const step_memory *s, const step_module *m, unit *u)
{
    const step_options *o = s->options;
    int64_t logits = (int64_t)step_module_input(m, &s->shape);
    int64_t copy = (int64_t)(4.0 * (double)logits / o->activation_bytes);
    int64_t copies = o->logits_copies > 1 ? o->logits_copies - 1 : 0;

    u->loss[SCHED_F].of[STEP_HOLDS_LOGITS] = logits + copy * copies;
    u->loss[SCHED_B] = u->loss[SCHED_I] = u->loss[SCHED_F];
    add(&u->loss[SCHED_F], &u->kept, 1);
    if (o->keeps_outputs)
        u->kept.of[STEP_HOLDS_LOGITS] += logits;
}

static void make_unit(step_memory *s, unit_kind kind)
{
    const step_block *b = &s->model->block[block_of[kind]];
    const step_options *o = s->options;
    bool again = kind == UNIT_LAYER_AGAIN;
    unit *u = &s->unit[kind];

    for (uint32_t i = 0; i < b->n_parameters; i++)
        add_parameter(u, &b->parameter[i], o, s->shards);
    u->gathered = (int64_t)(o->weight_bytes * (double)u->elements);
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
    /* Matrices of 8 bits are copied for each use, and once more transposed. */
    for (int k = SCHED_F; o->activation_bytes == 1 && k < SCHED_KINDS; k++)
        u->moment[k].of[STEP_HOLDS_WORKING] += (int64_t)u->elements * (o->kept_weight_bytes > 1 ? 2 : 1);
}

/* ---- stages ------------------------------------------------------------------------------------ */

static void make_chain(step_memory *s, stage *g, bool is_first, bool is_last)
{
    uint32_t n = 0, together = s->options->recompute_together > 1 ? s->options->recompute_together : 1, run = 0;

    g->chain = DSE_ARENA_NEW(s->arena, uint8_t, g->n_layers + 2);
    g->place = DSE_ARENA_NEW(s->arena, uint8_t, g->n_layers + 2);
    if (is_first)
        g->chain[n++] = UNIT_EMBEDDING;
    for (uint32_t i = 0; i < g->n_layers; i++, n++) {
        bool again = step_layer_is_again(s->options, i);

        g->chain[n] = again ? UNIT_LAYER_AGAIN : UNIT_LAYER;
        g->place[n] = (uint8_t)(again ? run++ % together : 0);
        run = again ? run : 0;
    }
    if (is_last)
        g->chain[n++] = UNIT_HEAD;
    g->n_units = n;
}

static held kept_of(const step_memory *s, const stage *g, uint32_t i)
{
    static const held nothing = {{0}};

    return g->place[i] ? nothing : s->unit[g->chain[i]].kept; /* its input is made again by the layer before it */
}

/* What a moment of the running unit needs besides: of parameters that are gathered, and gradients that are reduced. */
typedef struct {
    sched_kind kind;
    open_kind open;
    bool reduces;
} situation;

static int64_t gathered_of(const step_memory *s, const stage *g, uint32_t i) { return s->unit[g->chain[i]].gathered; }

static bool closes_each(const step_options *o)
{
    return o->reshard_after_forward || (o->pp == 1 && o->sync != STEP_SYNC_LAST_NO_RESHARD);
}

/* While the parameters of a unit are copied out of the flat buffer that they were gathered into: both, and the buffer
 * of the unit before it (spec: torch 2.x, FSDPParamGroup.wait_for_unshard). `was`: of the units before, which stay
 * gathered. */
static int64_t copied_out(const step_memory *s, const stage *g, const situation *w, uint32_t i, int64_t was)
{
    int64_t before = i ? gathered_of(s, g, i - 1) : 0;

    if (w->open == OPEN_ALL || (w->open == OPEN_LAST && i + 1 == g->n_units))
        return 0;
    return 2 * gathered_of(s, g, i) + before + was;
}

static void look(moment *m, const held *now, step_block_kind block)
{
    if (total(now) > total(&m->more)) {
        m->more = *now;
        m->block = block;
    }
}

static void look_forward(const step_memory *s, const stage *g, const situation *w, moment *out)
{
    const step_options *o = s->options;
    bool gathers = o->zero == 3 && w->open != OPEN_ALL;
    held before = {{0}}, now;
    int64_t was = 0; /* parameters of units before, not freed */

    for (uint32_t i = 0; i < g->n_units; i++) {
        const unit *u = &s->unit[g->chain[i]];
        step_block_kind block = block_of[g->chain[i]];
        bool is_open = !gathers || (w->open == OPEN_LAST && i + 1 == g->n_units);
        held kept = kept_of(s, g, i);

        now = before;
        now.of[STEP_HOLDS_GATHERED_PARAMETERS] = gathers ? copied_out(s, g, w, i, was) : 0;
        look(out, &now, block);
        now = before;
        add(&now, &u->moment[SCHED_F], 1);
        if (g->place[i])
            now.of[STEP_HOLDS_ACTIVATIONS] -= u->kept.of[STEP_HOLDS_ACTIVATIONS];
        now.of[STEP_HOLDS_GATHERED_PARAMETERS] = is_open ? was : 2 * u->gathered + was;
        look(out, &now, block);
        now = before;
        add(&now, &u->loss[SCHED_F], 1);
        now.of[STEP_HOLDS_GATHERED_PARAMETERS] = is_open ? was : u->gathered + was;
        look(out, &now, block);
        add(&before, &kept, 1);
        was += gathers && !o->reshard_after_forward ? u->gathered : 0;
    }
    if (g->chain[g->n_units - 1] != UNIT_HEAD) { /* all is computed, and the result is being sent */
        now = before;
        now.of[STEP_HOLDS_TRANSFERS] = s->hidden;
        now.of[STEP_HOLDS_GATHERED_PARAMETERS] = gathers ? (o->reshard_after_forward ? g->gathered_last : was) : 0;
        look(out, &now, block_of[g->chain[g->n_units - 1]]);
    }
}

/* Gradients of the unit that runs, and of the one behind it as they are being reduced. */
static int64_t unreduced(const step_memory *s, const stage *g, const situation *w, uint32_t i, bool has_ended)
{
    const step_options *o = s->options;
    int64_t own = (int64_t)(o->weight_bytes * (double)s->unit[g->chain[i]].elements);
    uint32_t reduced = has_ended ? i : i + 1;

    if (o->zero < 2 || w->kind == SCHED_I)
        return 0; /* added to the gradients at once, or as bucket copies */
    if (!w->reduces)
        return own;
    if (o->zero == 2) {
        uint64_t bucket = o->bucket_elements ? o->bucket_elements : UINT64_MAX, all = 0;

        for (uint32_t k = 0; k < g->n_units; k++)
            all += s->unit[g->chain[k]].elements;
        return own + (int64_t)(o->reduce_bytes * (double)(bucket < all ? bucket : all));
    }
    return own + (reduced < g->n_units
                      ? (int64_t)(o->reduce_bytes * (double)s->unit[g->chain[reduced]].elements) : 0);
}

/* Parameters that are gathered while unit i is passed backward, above those before the action. The unit before it is
 * gathered already; units behind it have been freed. `has_ended`: so has this one. */
static int64_t gathered_backward(const step_memory *s, const stage *g, const situation *w, uint32_t i, int64_t behind,
                                 bool has_ended)
{
    int64_t own = gathered_of(s, g, i), next = i ? gathered_of(s, g, i - 1) : 0;

    if (s->options->zero < 3 || w->kind == SCHED_W)
        return 0;
    if (w->open == OPEN_ALL)
        return closes_each(s->options) ? -behind - (has_ended ? own : 0) : 0;
    if (w->open == OPEN_LAST && i + 1 == g->n_units)
        return next - (has_ended ? own : 0);
    return (w->open == OPEN_LAST ? -g->gathered_last : 0) + next + (has_ended ? 0 : own);
}

static void look_backward(const step_memory *s, const stage *g, const situation *w, moment *out)
{
    held after = {{0}}, now; /* what the units behind have freed, and left */
    int64_t behind = 0;

    if (g->chain[g->n_units - 1] != UNIT_HEAD && w->kind != SCHED_W)
        after.of[STEP_HOLDS_TRANSFERS] = s->hidden; /* the gradient that came in */
    for (uint32_t i = g->n_units; i-- > 0;) {
        const unit *u = &s->unit[g->chain[i]];
        step_block_kind block = block_of[g->chain[i]];
        held kept = kept_of(s, g, i);

        now = after;
        add(&now, &u->loss[w->kind], 1); /* before the unit's own backward pass gathers anything */
        look(out, &now, block);
        now = after;
        add(&now, &u->moment[w->kind], 1);
        now.of[STEP_HOLDS_RECOMPUTED] += g->place[i] * (u->remade + u->kept.of[STEP_HOLDS_ACTIVATIONS]);
        now.of[STEP_HOLDS_GATHERED_PARAMETERS] = gathered_backward(s, g, w, i, behind, false);
        now.of[STEP_HOLDS_UNREDUCED] = unreduced(s, g, w, i, false);
        look(out, &now, block);
        if (w->kind == SCHED_W) {
            add(&after, &u->deferred, -1);
        } else {
            add(&after, &kept, -1);
            add(&after, &u->deferred, w->kind == SCHED_I);
        }
        now = after;
        now.of[STEP_HOLDS_GATHERED_PARAMETERS] = gathered_backward(s, g, w, i, behind, true);
        now.of[STEP_HOLDS_UNREDUCED] = unreduced(s, g, w, i, true);
        look(out, &now, block);
        behind += u->gathered;
    }
}

static void make_stage(step_memory *s, stage *g, bool is_first, bool is_last)
{
    const step_options *o = s->options;
    uint64_t elements = 0, padded = 0, share = 0;

    make_chain(s, g, is_first, is_last);
    if (!g->n_units)
        return;
    for (uint32_t i = 0; i < g->n_units; i++) {
        const unit *u = &s->unit[g->chain[i]];
        held kept = kept_of(s, g, i);

        elements += u->elements;
        padded += u->padded;
        share += u->share;
        g->gathered += u->gathered;
        add(&g->kept, &kept, 1);
        add(&g->deferred, &u->deferred, 1);
    }
    g->fixed = state_of(s, elements, padded, share);
    g->gathered_last = gathered_of(s, g, g->n_units - 1);
    g->whole = (int64_t)(o->reduce_bytes * (double)elements);
    if (o->keeps_outputs && !is_last)
        g->kept.of[STEP_HOLDS_TRANSFERS] += s->hidden;
    for (int open = 0; open < N_OPEN; open++) {
        for (int reduces = 0; reduces < 2; reduces++) {
            for (int kind = 0; kind < SCHED_KINDS; kind++) {
                const situation w = {(sched_kind)kind, (open_kind)open, reduces};
                moment *m = &g->moment[kind][open][reduces];

                m->block = block_of[g->chain[0]];
                if (kind == SCHED_F)
                    look_forward(s, g, &w, m);
                else
                    look_backward(s, g, &w, m);
            }
        }
    }
}

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

/* The output embedding's matrix counts with its block; on the rank that has the input embedding it is that. */
static held tied_of(const step_memory *s)
{
    const step_block *b = &s->model->block[STEP_HEAD];
    unit u = {0};

    for (uint32_t i = 0; s->model->is_tied && i < b->n_parameters; i++)
        if (b->module[b->parameter[i].module].kind == &step_module_linear)
            add_parameter(&u, &b->parameter[i], s->options, s->shards);
    return state_of(s, u.elements, u.padded, u.share);
}

static uint32_t class_of(const step_memory *s, uint32_t n)
{
    return (n == 0 ? 1u : 0) + (n + 1 == s->n_stages ? 2u : 0) + (n < s->model->n_layers % s->n_stages ? 4u : 0);
}

step_memory *step_memory_new(const step_model *m, const step_options *o, uint32_t n_stages, dse_arena *a)
{
    step_memory *s = DSE_ARENA_NEW(a, step_memory, 1);

    *s = (step_memory){.model = m, .options = o, .shape = step_shape_of(m, o), .arena = a, .n_stages = n_stages};
    s->shards = o->dp * o->cp / (o->replicas ? o->replicas : 1);
    s->hidden = (int64_t)(o->activation_bytes * (double)(s->shape.split_tokens * m->hidden));
    for (int k = 0; k < N_UNITS; k++)
        make_unit(s, (unit_kind)k);
    for (uint32_t n = 0; n < n_stages; n++) {
        stage *g = &s->class[class_of(s, n)];

        if (g->chain)
            continue;
        g->n_layers = m->n_layers / n_stages + (n < m->n_layers % n_stages);
        make_stage(s, g, n == 0, n + 1 == n_stages);
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
    open_kind open;
    uint32_t n_gradients; /* passes that made gradients of weights */
    bool is_whole;        /* they wait unsharded */
} progress;

typedef struct {
    const step_memory *s;
    const sched_plan *plan;
    held now;
    held most;
    progress *of; /* per stage of the plan */
    step_rank_memory *out;
} walk;

static const stage *stage_at(const walk *w, uint32_t number)
{
    return &w->s->class[class_of(w->s, number % w->plan->n_stages)];
}

static bool makes_gradients(const sched_action *a) { return a->kind == SCHED_B || a->kind == SCHED_W; }

static bool reduces(const walk *w, const sched_action *a)
{
    const step_options *o = w->s->options;
    bool is_last = w->of[a->stage].n_gradients + 1 == w->plan->n_micro_batches;

    return makes_gradients(a) && (o->zero < 3 || o->sync == STEP_SYNC_EACH || is_last);
}

static const moment *moment_of(const walk *w, const sched_action *a)
{
    return &stage_at(w, a->stage)->moment[a->kind][w->of[a->stage].open][reduces(w, a)];
}

/* An action, and the other one of a pair, which runs beside it and may need most at the same time. */
static void look_at(walk *w, uint32_t at, bool is_pair)
{
    const moment *m = moment_of(w, &w->plan->action[at]);
    held here = w->now;

    add(&here, &m->more, 1);
    if (is_pair)
        add(&here, &moment_of(w, &w->plan->action[at + 1])->more, 1);
    if (w->out->at == DSE_NONE || total(&here) > total(&w->most)) {
        w->most = here;
        w->out->at = at;
        w->out->block = m->block;
    }
}

static void set_open(walk *w, const stage *g, progress *p, open_kind open)
{
    const int64_t bytes[N_OPEN] = {0, g->gathered_last, g->gathered};

    if (w->s->options->zero < 3)
        return;
    w->now.of[STEP_HOLDS_GATHERED_PARAMETERS] += bytes[open] - bytes[p->open];
    p->open = open;
}

static void set_whole(walk *w, const stage *g, progress *p, bool is_whole)
{
    w->now.of[STEP_HOLDS_WHOLE_GRADIENTS] += (is_whole - p->is_whole) * g->whole;
    p->is_whole = is_whole;
}

static void apply(walk *w, const sched_action *a)
{
    const step_options *o = w->s->options;
    const stage *g = stage_at(w, a->stage);
    progress *p = &w->of[a->stage];
    bool reduced = reduces(w, a);

    switch ((sched_kind)a->kind) {
    case SCHED_F:
        add(&w->now, &g->kept, 1);
        if (p->open != OPEN_ALL)
            set_open(w, g, p, o->reshard_after_forward ? OPEN_LAST : OPEN_ALL);
        break;
    case SCHED_I:
        add(&w->now, &g->kept, -1);
        add(&w->now, &g->deferred, 1);
        break;
    case SCHED_W: add(&w->now, &g->deferred, -1); break;
    default: add(&w->now, &g->kept, -1); break;
    }
    if (a->kind == SCHED_F)
        return;
    if (a->kind != SCHED_W && closes_each(o))
        set_open(w, g, p, OPEN_NONE);
    if (!makes_gradients(a))
        return;
    p->n_gradients++;
    set_whole(w, g, p, o->zero == 3 && !reduced);
    if (p->n_gradients == w->plan->n_micro_batches)
        set_open(w, g, p, OPEN_NONE);
}

static void note_kept(walk *w)
{
    int64_t kept = w->now.of[STEP_HOLDS_ACTIVATIONS] + w->now.of[STEP_HOLDS_LOGITS] + w->now.of[STEP_HOLDS_DEFERRED];

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
            add(&w->now, &stage_at(w, n)->fixed, 1);
    for (uint32_t d = 0; d < p->n_directions; d++) {
        const uint32_t *ranks = &p->stage_rank[d * p->n_stages];

        if (ranks[0] == rank && ranks[p->n_stages - 1] == rank)
            add(&w->now, &w->s->tied, -1);
    }
}

void step_memory_of(const step_memory *s, const sched_plan *p, uint32_t rank, dse_arena *a, step_rank_memory *out)
{
    walk w = {.s = s, .plan = p, .out = out};

    *out = (step_rank_memory){.at = DSE_NONE};
    w.of = DSE_ARENA_NEW(a, progress, p->n_directions * p->n_stages);
    add_fixed(&w, rank);
    w.most = w.now;
    out->fixed = (uint64_t)total(&w.now);
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
    out->left = (uint64_t)total(&w.now);
    for (int k = 0; k < STEP_N_HOLDS; k++)
        out->held[k] = (uint64_t)w.most.of[k];
    out->peak = (uint64_t)total(&w.most);
}
