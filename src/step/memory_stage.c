/* What a stage takes: its chain of units, in each situation in which an action may find it. */
#include "step/memory_parts.h"

static void make_chain(step_memory *s, mem_stage *g)
{
    const uint32_t together = s->options->recompute_together > 1 ? s->options->recompute_together : 1;
    uint32_t run = 0;

    g->n_units = g->of.n_blocks;
    g->chain = DSE_ARENA_NEW(s->arena, mem_unit_kind, g->n_units);
    g->place = DSE_ARENA_NEW(s->arena, uint16_t, g->n_units);
    for (uint32_t i = 0; i < g->n_units; i++) {
        const step_block_kind block = step_stage_block(&g->of, i);
        const bool again = step_is_layer(block) && step_stage_recomputes(&g->of, s->options, i);

        g->chain[i] = mem_unit_of(block, again);
        g->place[i] = (uint16_t)(again ? run++ % together : 0);
        run = again ? run : 0;
    }
}

static mem_held kept_of(const step_memory *s, const mem_stage *g, uint32_t i)
{
    static const mem_held nothing = {{0}};

    return g->place[i] ? nothing
                       : s->unit[g->chain[i]].kept; /* its input is made again by the layer before it */
}

/* What a moment of the running unit needs besides: of parameters that are gathered, and gradients that are
 * reduced. */
typedef struct {
    sched_kind kind;
    mem_open open;
    bool reduces;
} situation;

static int64_t gathered_of(const step_memory *s, const mem_stage *g, uint32_t i)
{
    return s->unit[g->chain[i]].gathered;
}

bool mem_closes_each(const step_options *o)
{
    return step_resharded_by_pass(o) && (o->reshard_after_forward || o->pp == 1);
}

/* While the parameters of a unit are copied out of the flat buffer that they were gathered into: both, and
 * the buffer of the unit before it (spec: torch 2.x, FSDPParamGroup.wait_for_unshard). `was`: of the units
 * before, which stay gathered. */
static int64_t copied_out(const step_memory *s, const mem_stage *g, const situation *w, uint32_t i,
                          int64_t was)
{
    int64_t before = i ? gathered_of(s, g, i - 1) : 0;

    if (w->open == OPEN_ALL || (w->open == OPEN_LAST && i + 1 == g->n_units))
        return 0;
    return 2 * gathered_of(s, g, i) + before + was;
}

static void look(mem_moment *m, const mem_held *now, step_block_kind block)
{
    int64_t bytes = mem_total(now);

    if (bytes > m->bytes) {
        m->bytes = bytes;
        m->more = *now;
        m->block = block;
    }
}

static void look_forward(const step_memory *s, const mem_stage *g, const situation *w, mem_moment *out)
{
    const step_options *o = s->options;
    bool gathers = o->zero == 3 && w->open != OPEN_ALL;
    mem_held before = {{0}}, now;
    int64_t was = 0; /* parameters of units before, not freed */

    for (uint32_t i = 0; i < g->n_units; i++) {
        const mem_unit *u = &s->unit[g->chain[i]];
        step_block_kind block = mem_block_of(g->chain[i]);
        bool is_open = !gathers || (w->open == OPEN_LAST && i + 1 == g->n_units);
        mem_held kept = kept_of(s, g, i);

        now = before;
        now.of[STEP_HOLDS_GATHERED_PARAMETERS] = gathers ? copied_out(s, g, w, i, was) : 0;
        look(out, &now, block);
        now = before;
        mem_add(&now, &u->moment[SCHED_F], 1);
        if (g->place[i])
            now.of[STEP_HOLDS_ACTIVATIONS] -= u->kept.of[STEP_HOLDS_ACTIVATIONS];
        now.of[STEP_HOLDS_GATHERED_PARAMETERS] = is_open ? was : 2 * u->gathered + was;
        look(out, &now, block);
        now = before;
        mem_add(&now, &u->loss[SCHED_F], 1);
        now.of[STEP_HOLDS_GATHERED_PARAMETERS] = is_open ? was : u->gathered + was;
        look(out, &now, block);
        mem_add(&before, &kept, 1);
        was += gathers && !o->reshard_after_forward ? u->gathered : 0;
    }
    if (!g->of.has_head) { /* all is computed, and the result is being sent */
        now = before;
        now.of[STEP_HOLDS_TRANSFERS] = s->hidden;
        now.of[STEP_HOLDS_GATHERED_PARAMETERS] =
            gathers ? (o->reshard_after_forward ? g->gathered_last : was) : 0;
        look(out, &now, mem_block_of(g->chain[g->n_units - 1]));
    }
}

/* Gradients of the unit that runs, and of the one behind it as they are being reduced. */
static int64_t unreduced(const step_memory *s, const mem_stage *g, const situation *w, uint32_t i,
                         bool has_ended)
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
                      ? (int64_t)(o->reduce_bytes * (double)s->unit[g->chain[reduced]].elements)
                      : 0);
}

/* Parameters that are gathered while unit i is passed backward, above those before the action. The unit
 * before it is gathered already; units behind it have been freed. `has_ended`: so has this one. */
static int64_t gathered_backward(const step_memory *s, const mem_stage *g, const situation *w, uint32_t i,
                                 int64_t behind, bool has_ended)
{
    int64_t own = gathered_of(s, g, i), next = i ? gathered_of(s, g, i - 1) : 0;

    if (s->options->zero < 3 || w->kind == SCHED_W)
        return 0;
    if (!mem_closes_each(s->options)) /* what is gathered stays */
        return w->open == OPEN_ALL ? 0 : behind + own + next - (w->open == OPEN_LAST ? g->gathered_last : 0);
    if (w->open == OPEN_ALL)
        return -behind - (has_ended ? own : 0);
    if (w->open == OPEN_LAST && i + 1 == g->n_units)
        return next - (has_ended ? own : 0);
    return (w->open == OPEN_LAST ? -g->gathered_last : 0) + next + (has_ended ? 0 : own);
}

static void look_backward(const step_memory *s, const mem_stage *g, const situation *w, mem_moment *out)
{
    mem_held after = {{0}}, now; /* what the units behind have freed, and left */
    int64_t behind = 0;

    if (!g->of.has_head && w->kind != SCHED_W)
        after.of[STEP_HOLDS_TRANSFERS] = s->hidden; /* the gradient that came in */
    for (uint32_t i = g->n_units; i-- > 0;) {
        const mem_unit *u = &s->unit[g->chain[i]];
        step_block_kind block = mem_block_of(g->chain[i]);
        mem_held kept = kept_of(s, g, i);

        now = after;
        mem_add(&now, &u->loss[w->kind], 1); /* before the unit's own backward pass gathers anything */
        look(out, &now, block);
        now = after;
        mem_add(&now, &u->moment[w->kind], 1);
        now.of[STEP_HOLDS_RECOMPUTED] += g->place[i] * (u->remade + u->kept.of[STEP_HOLDS_ACTIVATIONS]);
        now.of[STEP_HOLDS_GATHERED_PARAMETERS] = gathered_backward(s, g, w, i, behind, false);
        now.of[STEP_HOLDS_UNREDUCED] = unreduced(s, g, w, i, false);
        look(out, &now, block);
        if (w->kind == SCHED_W) {
            mem_add(&after, &u->deferred, -1);
        } else {
            mem_add(&after, &kept, -1);
            mem_add(&after, &u->deferred, w->kind == SCHED_I);
        }
        now = after;
        now.of[STEP_HOLDS_GATHERED_PARAMETERS] = gathered_backward(s, g, w, i, behind, true);
        now.of[STEP_HOLDS_UNREDUCED] = unreduced(s, g, w, i, true);
        look(out, &now, block);
        behind += u->gathered;
    }
}

/* Whether an action can be in this situation. */
static bool may_be(const step_options *o, const situation *w)
{
    bool is_sharded = o->zero == 3;

    if (w->open == OPEN_LAST && !(is_sharded && o->reshard_after_forward))
        return false;
    if (w->open == OPEN_ALL && !(is_sharded && !(o->reshard_after_forward && mem_closes_each(o))))
        return false;
    if (!sched_makes_gradients(w->kind))
        return !w->reduces;
    return w->reduces || (is_sharded && o->sync != STEP_SYNC_EACH);
}

static int64_t live_of(const mem_held *h)
{
    return h->of[STEP_HOLDS_ACTIVATIONS] + h->of[STEP_HOLDS_LOGITS] + h->of[STEP_HOLDS_DEFERRED];
}

/* Takes away what another block of the stage has, of those behind the head. A tied embedding in a stage that
 * has both ends is taken away from the rank (memory.c). */
static void drop_defined(const step_memory *s, const mem_stage *g, mem_unit *all)
{
    for (uint32_t i = g->of.has_embedding + g->of.n_layers + 1; i < g->n_units; i++) {
        const step_block *b = &s->model->block[step_stage_block(&g->of, i)];
        mem_unit u = {0};

        for (uint32_t k = 0; k < b->n_parameters; k++)
            if (step_is_defined(s->model, &g->of, i, &b->parameter[k]))
                mem_add_parameter(&u, &b->parameter[k], s->options);
        all->elements -= u.elements;
        all->padded -= u.padded;
        all->share -= u.share;
    }
}

void mem_make_stage(step_memory *s, mem_stage *g)
{
    const step_options *o = s->options;
    mem_unit all = {0};

    make_chain(s, g);
    if (!g->n_units)
        return;
    for (uint32_t i = 0; i < g->n_units; i++) {
        const mem_unit *u = &s->unit[g->chain[i]];
        mem_held kept = kept_of(s, g, i);

        all.elements += u->elements;
        all.padded += u->padded;
        all.expert_padded += u->expert_padded;
        all.share += u->share;
        all.low_elements += u->low_elements;
        g->gathered += u->gathered;
        mem_add(&g->kept, &kept, 1);
        mem_add(&g->deferred, &u->deferred, 1);
    }
    drop_defined(s, g, &all);
    g->fixed = mem_state_of(s, &all);
    if (o->kept_weight_bytes == o->weight_bytes) /* else the sharded parameters are the master copy */
        g->fixed.of[STEP_HOLDS_PARAMETERS] -=
            (int64_t)((o->kept_weight_bytes - o->low.bytes) *
                      (double)(o->zero == 3 ? all.low_elements / step_group_size(o, STEP_GROUP_SHARD)
                                            : all.low_elements));
    for (uint32_t i = 0; i < g->n_units && !o->low.casts_weights_in_passes; i++)
        if (step_is_layer(mem_block_of(g->chain[i])))
            g->fixed.of[STEP_HOLDS_PARAMETERS] +=
                mem_low_copies(&s->model->block[mem_block_of(g->chain[i])], o);
    g->gathered_last = gathered_of(s, g, g->n_units - 1);
    g->whole = (int64_t)(o->reduce_bytes * (double)all.elements);
    if (o->keeps_outputs && !g->of.has_head)
        g->kept.of[STEP_HOLDS_TRANSFERS] += s->hidden;
    g->kept_bytes = mem_total(&g->kept);
    g->deferred_bytes = mem_total(&g->deferred);
    g->kept_live = live_of(&g->kept);
    g->deferred_live = live_of(&g->deferred);
    for (int open = 0; open < N_OPEN; open++) {
        for (int reduces = 0; reduces < 2; reduces++) {
            for (int kind = 0; kind < SCHED_KINDS; kind++) {
                const situation w = {(sched_kind)kind, (mem_open)open, reduces};
                mem_moment *m = &g->moment[kind][open][reduces];

                if (!may_be(o, &w))
                    continue;
                m->block = mem_block_of(g->chain[0]);
                if (kind == SCHED_F)
                    look_forward(s, g, &w, m);
                else
                    look_backward(s, g, &w, m);
            }
        }
    }
}
