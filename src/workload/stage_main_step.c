/* The tensors of a step of STAGE's main branch, and the pipeline stages that have them.
 *
 * A micro-batch is a copy of all layers, embeddings and the loss, except for the weights, which all copies
 * share; behind them stand the sums of the gradients, the weights, and the updated weights. */
#include "workload/stage_main_parts.h"

#include <stdio.h>
#include <string.h>

#define MAX_TENSORS (1 << 26)

typedef struct {
    sm_step *s;
    uint32_t micro_batches, layers, of_each; /* tensors of a micro-batch, its weights among them */
    uint32_t *weights;                       /* of layers, then in_emb and out_emb: their tensors */
} builder;

/* ---- numbers of tensors ---------------------------------------------------------------------- */

static uint32_t in_layer(const builder *b, uint32_t mb, uint32_t layer, uint32_t kind)
{
    return mb * b->of_each + layer * b->s->t->n_layer + kind;
}

static uint32_t at_edge(const builder *b, uint32_t mb, uint32_t kind)
{
    return mb * b->of_each + b->layers * b->s->t->n_layer + (kind - b->s->t->n_layer);
}

/* A kind of a layer in the layer, of an edge where it is; its weight in the one place that has it. */
static uint32_t beside(const builder *b, uint32_t mb, uint32_t layer, uint32_t kind)
{
    const sm_template *t = b->s->t;

    if (kind == DSE_NONE)
        return DSE_NONE;
    for (uint32_t i = 0; i < t->n_weights; i++)
        if (t->weight[i].weight == kind)
            return b->weights[kind < t->n_layer ? layer : b->layers + (kind != t->in_emb + SM_EMB_W)];
    return kind < t->n_layer ? in_layer(b, mb, layer, kind) : at_edge(b, mb, kind);
}

/* What feeds a tensor from another layer or edge, or DSE_NONE. */
static uint32_t linked(const builder *b, uint32_t mb, uint32_t layer, uint32_t kind)
{
    const sm_template *t = b->s->t;

    if (t->options->model_type == WL_MAIN_DEBUG)
        return DSE_NONE;
    if (kind == t->layer_in)
        return layer ? in_layer(b, mb, layer - 1, t->layer_out) : at_edge(b, mb, t->in_emb + SM_EMB_Y);
    if (kind == t->layer_dout)
        return layer + 1 < b->layers ? in_layer(b, mb, layer + 1, t->layer_din)
                                     : at_edge(b, mb, t->out_emb + SM_EMB_DX);
    if (kind == t->in_emb + SM_EMB_DY)
        return in_layer(b, mb, 0, t->layer_din);
    if (kind == t->out_emb + SM_EMB_X)
        return in_layer(b, mb, b->layers - 1, t->layer_out);
    if (kind == t->out_emb + SM_EMB_DY)
        return at_edge(b, mb, t->loss + SM_LOSS_DY);
    if (kind == t->loss + SM_LOSS_Y)
        return at_edge(b, mb, t->out_emb + SM_EMB_Y);
    return DSE_NONE;
}

/* ---- stages ---------------------------------------------------------------------------------- */

/* Layers are spread evenly, the first stages have one more. */
static uint32_t stage_of_layer(const sm_template *t, uint32_t layer)
{
    const uint32_t pp = (uint32_t)t->options->pp, n = (uint32_t)t->options->num_stacks, each = n / pp,
                   more = n % pp;

    return layer < more * (each + 1) ? layer / (each + 1) : more + (layer - more * (each + 1)) / each;
}

/* The output embedding and the loss: without mixed precision on a stage that is the last one only if it
 * divides the layers. */
static uint32_t stage_of_end(const sm_template *t)
{
    const wl_main_options *o = t->options;

    return (uint32_t)(o->mixed_precision ? o->pp - 1 : (o->num_stacks - 1) % o->pp);
}

static uint32_t stage_of(const sm_template *t, uint32_t layer, uint32_t kind)
{
    if (kind < t->n_layer)
        return stage_of_layer(t, layer);
    return kind < t->in_emb + SM_N_EMB || t->options->model_type == WL_MAIN_DEBUG ? 0 : stage_of_end(t);
}

/* ---- tensors --------------------------------------------------------------------------------- */

static sm_tensor *add_tensor(builder *b, uint32_t index, uint32_t kind, uint32_t stage)
{
    sm_step *s = b->s;
    sm_tensor *t = &s->tensor[index];

    *t = (sm_tensor){.kind = kind, .stage = stage, .x1 = DSE_NONE, .x2 = DSE_NONE, .shadow_of = DSE_NONE};
    return t;
}

/* [mb0.][transformer.3.]name@revision */
static void name_tensor(builder *b, sm_tensor *t, uint32_t mb, uint32_t layer, bool is_updated)
{
    const sm_kind *k = &b->s->t->kind[t->kind];
    char batch[16] = "", stack[32] = "";
    wl_piece piece[4] = {
        {batch, 0}, {stack, 0}, {k->name, strlen(k->name)}, wl_dialect_stage.revision[is_updated]};

    if (mb != DSE_NONE)
        piece[0].n = (size_t)snprintf(batch, sizeof batch, "mb%u.", mb);
    if (layer != DSE_NONE)
        piece[1].n = (size_t)snprintf(stack, sizeof stack, "transformer.%u.", layer);
    t->name = wl_name_join(&b->s->names, piece, 4, &t->name_len);
}

static void add_of_template(builder *b, uint32_t index, uint32_t mb, uint32_t layer, uint32_t kind)
{
    const sm_template *t = b->s->t;
    const sm_kind *k = &t->kind[kind];
    sm_tensor *out = add_tensor(b, index, kind, stage_of(t, layer, kind));

    name_tensor(b, out, sm_is_plain(t) ? DSE_NONE : mb, kind < t->n_layer ? layer : DSE_NONE, false);
    out->x1 = linked(b, mb, layer, kind);
    if (out->x1 == DSE_NONE)
        out->x1 = beside(b, mb, layer, k->x1);
    out->x2 = beside(b, mb, layer, k->x2);
    if (k->n_deps) {
        uint32_t *deps = DSE_ARENA_RAW(b->s->arena, uint32_t, k->n_deps);

        for (uint32_t i = 0; i < k->n_deps; i++)
            deps[i] = beside(b, mb, layer, k->deps[i]);
        out->deps = deps;
        out->n_deps = k->n_deps;
    }
}

/* Takes its places in the list of numbered tensors. */
static void number(sm_step *s, uint32_t *n, uint32_t tensor) { s->of_stage[(*n)++] = tensor; }

static bool is_shared(const sm_template *t, uint32_t kind)
{
    for (uint32_t i = 0; i < t->n_weights; i++)
        if (t->weight[i].weight == kind)
            return true;
    return false;
}

/* The place, of layers or an edge, of the i-th weight of the model. */
static const sm_weight *weight_of(const builder *b, uint32_t i, uint32_t *layer)
{
    *layer = i < b->layers ? i : DSE_NONE;
    return &b->s->t->weight[b->layers ? (i < b->layers ? 0 : 1 + i - b->layers) : i];
}

static uint32_t add_sum(builder *b, uint32_t index, uint32_t i)
{
    uint32_t layer, *deps;
    const sm_weight *w = weight_of(b, i, &layer);
    sm_tensor *t = add_tensor(b, index, w->merged, stage_of(b->s->t, layer, w->gradient));

    name_tensor(b, t, DSE_NONE, layer, false);
    t->x1 = beside(b, 0, layer, w->gradient);
    t->n_deps = b->micro_batches - 1;
    t->deps = deps = DSE_ARENA_RAW(b->s->arena, uint32_t, b->micro_batches);
    for (uint32_t mb = 1; mb < b->micro_batches; mb++)
        deps[mb - 1] = beside(b, mb, layer, w->gradient);
    return index;
}

static void build(builder *b)
{
    sm_step *s = b->s;
    const sm_template *t = s->t;
    const bool is_plain = sm_is_plain(t);
    const uint32_t n_weights = b->layers + (t->options->model_type == WL_MAIN_DEBUG ? 1 : 2),
                   beyond = b->micro_batches * b->of_each;
    uint32_t n = 0, layer;

    b->weights = DSE_ARENA_NEW(s->arena, uint32_t, n_weights);
    for (uint32_t i = 0; i < n_weights; i++) {
        const uint32_t kind = weight_of(b, i, &layer)->weight;

        b->weights[i] = !is_plain           ? beyond + n_weights + i
                        : layer == DSE_NONE ? at_edge(b, 0, kind)
                                            : in_layer(b, 0, layer, kind);
    }
    for (uint32_t mb = 0; mb < b->micro_batches; mb++) {
        for (uint32_t l = 0; l < b->layers; l++)
            for (uint32_t k = 0; k < t->n_layer; k++)
                if (is_plain || !is_shared(t, k)) {
                    add_of_template(b, in_layer(b, mb, l, k), mb, l, k);
                    number(s, &n, in_layer(b, mb, l, k));
                }
        for (uint32_t k = t->n_layer; k < t->beyond; k++)
            if (is_plain || !is_shared(t, k)) {
                add_of_template(b, at_edge(b, mb, k), mb, DSE_NONE, k);
                number(s, &n, at_edge(b, mb, k));
            }
    }
    for (uint32_t i = 0; !is_plain && i < n_weights; i++)
        number(s, &n, add_sum(b, beyond + i, i));
    for (uint32_t i = 0; !is_plain && i < n_weights; i++) {
        const sm_weight *w = weight_of(b, i, &layer);
        sm_tensor *out = add_tensor(b, b->weights[i], w->weight, stage_of(t, layer, w->weight));

        name_tensor(b, out, DSE_NONE, layer, false);
        number(s, &n, b->weights[i]);
    }
    for (uint32_t i = 0; i < n_weights; i++) {
        const sm_weight *w = weight_of(b, i, &layer);
        const uint32_t index = beyond + 2 * n_weights + i;
        sm_tensor *out = add_tensor(b, index, w->update, stage_of(t, layer, w->weight));

        name_tensor(b, out, DSE_NONE, layer, true);
        out->x1 = b->weights[i];
        out->x2 = is_plain ? beside(b, 0, layer, w->gradient) : beyond + i;
        number(s, &n, index);
    }
    s->n = n;
}

/* ---- pipeline -------------------------------------------------------------------------------- */

/* What a stage needs of another is a shadow there, one for all who need it. `shadow` is by tensor. */
static uint32_t shadow_of(builder *b, uint32_t stage, uint32_t remote, uint32_t *shadow)
{
    sm_step *s = b->s;
    sm_tensor *t;

    if (remote == DSE_NONE || s->tensor[remote].stage == stage)
        return remote;
    /* a later stage than the last that asked has none of its own yet */
    if (shadow[remote] == DSE_NONE || s->tensor[shadow[remote]].stage != stage) {
        const wl_piece piece[] = {wl_dialect_stage.shadow,
                                  {s->tensor[remote].name, s->tensor[remote].name_len}};

        shadow[remote] = (uint32_t)s->n++;
        DSE_ARENA_GROW(s->arena, s->tensor, s->cap, s->n);
        t = &s->tensor[shadow[remote]];
        *t = (sm_tensor){.kind = s->tensor[remote].kind,
                         .is_shadow = true,
                         .stage = stage,
                         .x1 = DSE_NONE,
                         .x2 = DSE_NONE,
                         .shadow_of = remote};
        t->name = wl_name_join(&s->names, piece, 2, &t->name_len);
    }
    return shadow[remote];
}

static void put_on_stages(builder *b, const uint32_t *all, uint32_t n)
{
    sm_step *s = b->s;
    uint32_t *shadow = DSE_ARENA_RAW(s->arena, uint32_t, s->cap), at = 0;
    size_t room = 2 * (size_t)n; /* no tensor is needed on more than one other stage */

    memset(shadow, 0xff, s->cap * sizeof *shadow);
    s->start = DSE_ARENA_NEW(s->arena, uint32_t, s->n_stages + 1);
    s->of_stage = DSE_ARENA_RAW(s->arena, uint32_t, room);
    for (uint32_t stage = 0; stage < s->n_stages; stage++) {
        const uint32_t first_shadow = (uint32_t)s->n;

        s->start[stage] = at;
        for (uint32_t i = 0; i < n; i++) {
            sm_tensor *t = &s->tensor[all[i]];
            uint32_t x1, x2;

            if (t->stage != stage)
                continue;
            x1 = shadow_of(b, stage, t->x1, shadow);
            x2 = shadow_of(b, stage, s->tensor[all[i]].x2, shadow);
            s->tensor[all[i]].x1 = x1;
            s->tensor[all[i]].x2 = x2;
            s->of_stage[at++] = all[i];
        }
        for (uint32_t i = first_shadow; i < s->n; i++)
            s->of_stage[at++] = i;
    }
    s->start[s->n_stages] = at;
}

dse_status sm_step_build(sm_template *t, dse_arena *a, sm_step *out, dse_error *err)
{
    const wl_main_options *o = t->options;
    builder b = {.s = out,
                 .micro_batches = sm_is_plain(t) ? 1 : (uint32_t)(o->batch / o->micro_batch),
                 .layers = o->model_type == WL_MAIN_DEBUG ? 0 : (uint32_t)o->num_stacks};
    const uint32_t *all;
    uint32_t n;

    if ((!sm_is_plain(t) && o->batch / o->micro_batch > MAX_TENSORS) ||
        (uint64_t)b.micro_batches * (b.layers + 1) * (t->beyond + 4) > MAX_TENSORS)
        return dse_fail(err, DSE_E_RANGE, "%lld layers and %lld micro-batches are more than %d tensors",
                        (long long)b.layers, (long long)(o->batch / o->micro_batch), MAX_TENSORS);
    *out = (sm_step){.t = t, .arena = a, .names = {.arena = a}, .n_stages = (uint32_t)o->pp};
    b.of_each = b.layers * t->n_layer + (t->beyond - t->n_layer);
    out->cap = (size_t)b.micro_batches * b.of_each + 3 * ((size_t)b.layers + 2);
    out->tensor = DSE_ARENA_RAW(a, sm_tensor, out->cap);
    out->of_stage = DSE_ARENA_RAW(a, uint32_t, out->cap);
    build(&b);
    all = out->of_stage;
    n = (uint32_t)out->n;
    out->n = out->cap; /* shadows come behind them all */
    put_on_stages(&b, all, n);
    return DSE_OK;
}
