/* A shape: tensors placed on pipeline stages, then nodes, messages, dependencies and graphs. */
#include "workload/generator.h"

#include <inttypes.h>
#include <string.h>

/* The rank order of the stages, by their coordinates. */
static void number_stages(gen_build *b, uint32_t *stage_of_value)
{
    const gen_key *key = b->key;

    memset(stage_of_value, 0xff, key->pp * sizeof *stage_of_value); /* DSE_NONE */
    for (uint32_t i = 0; i < b->model.n; i++) {
        uint32_t value = wl_stage_of(key->stages, b->model.tensor[i].place, key->layers, key->pp);

        if (stage_of_value[value] == DSE_NONE)
            stage_of_value[value] = b->n_stages++;
    }
    for (uint32_t v = 0; !gen_by_first_tensor(b->v, key->stages) && v < key->pp; v++)
        stage_of_value[v] = v;
}

static dse_status split_stages(gen_build *b)
{
    uint32_t n = b->model.n, pp = b->key->pp, *stage_of_value;

    b->stage_of = DSE_ARENA_RAW(b->scratch, uint32_t, n);
    b->local = DSE_ARENA_RAW(b->scratch, uint32_t, n);
    b->shadow = DSE_ARENA_NEW(b->scratch, uint32_t, n);
    b->stages = DSE_ARENA_NEW(b->scratch, gen_stage, pp);
    stage_of_value = DSE_ARENA_RAW(b->scratch, uint32_t, pp);
    number_stages(b, stage_of_value);
    if (b->n_stages < pp)
        return dse_fail(b->err, DSE_E_RANGE, "pp is %" PRIu32 ", but only %" PRIu32 " stages get a tensor",
                        pp, b->n_stages);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t value = wl_stage_of(b->key->stages, b->model.tensor[i].place, b->key->layers, pp);
        uint32_t st = stage_of_value[value];

        b->stages[st].value = value;
        b->stage_of[i] = st;
        b->local[i] = b->stages[st].n_tensors++;
    }
    return DSE_OK;
}

/* The operand as a tensor of the stage; a shadow is made when another stage owns it. Shadows follow
 * the stage's own tensors, in the order in which they are first needed. */
static uint32_t localise(gen_build *b, uint32_t st, uint32_t *n_shadows, uint32_t operand)
{
    gen_stage *s = &b->stages[st];
    uint32_t end = s->n_tensors + *n_shadows, known;

    if (operand == DSE_NONE || b->stage_of[operand] == st)
        return operand == DSE_NONE ? DSE_NONE : b->local[operand];
    /* The last shadow of it, whichever stage has that. */
    known = b->shadow[operand];
    if (known >= s->n_tensors && known < end && s->tensor[known].model == operand)
        return known;
    s->tensor[end] = (gen_tensor){.model = operand, .kind = WL_OP_SHADOW, .x1 = DSE_NONE, .x2 = DSE_NONE};
    b->links[b->n_links++] = (gen_link){.from_stage = b->stage_of[operand],
                                        .from_tensor = b->local[operand],
                                        .to_stage = st,
                                        .to_tensor = end};
    ++*n_shadows;
    return b->shadow[operand] = end;
}

static void allocate_stages(gen_build *b)
{
    uint32_t crossings = 0;

    for (uint32_t i = 0; i < b->model.n; i++) {
        const wl_tensor *t = &b->model.tensor[i];
        uint32_t st = b->stage_of[i], n = 0;

        n += t->x1 != DSE_NONE && b->stage_of[t->x1] != st;
        n += t->x2 != DSE_NONE && b->stage_of[t->x2] != st;
        b->stages[st].n_crossings += n;
        crossings += n;
    }
    b->links = DSE_ARENA_RAW(b->scratch, gen_link, crossings);
    for (uint32_t st = 0; st < b->n_stages; st++) {
        gen_stage *s = &b->stages[st];

        s->tensor = DSE_ARENA_RAW(b->scratch, gen_tensor, s->n_tensors + s->n_crossings);
    }
}

static void fill_stages(gen_build *b)
{
    allocate_stages(b);
    for (uint32_t i = 0; i < b->model.n; i++)
        b->stages[b->stage_of[i]].tensor[b->local[i]] =
            (gen_tensor){.model = i, .kind = b->model.tensor[i].kind};
    /* Stage by stage: the order of the links is the order of the tags. */
    for (uint32_t stage = 0; stage < b->n_stages; stage++) {
        gen_stage *s = &b->stages[stage];
        uint32_t n_shadows = 0;

        for (uint32_t i = 0; i < s->n_tensors; i++) {
            const wl_tensor *t = gen_model_tensor(b, &s->tensor[i]);

            s->tensor[i].x1 = localise(b, stage, &n_shadows, t->x1);
            s->tensor[i].x2 = localise(b, stage, &n_shadows, t->x2);
        }
        s->n_tensors += n_shadows;
        for (uint32_t i = 0; i < s->n_tensors; i++) {
            gen_tensor *t = &s->tensor[i];
            t->comp = t->x1_in = t->x2_in = t->recv = t->first_send = t->last_send = t->info = DSE_NONE;
        }
    }
}

/* Who sends what to whom, by slot. */
static void list_messages(gen_build *b)
{
    for (uint32_t st = 0; st < b->n_stages; st++)
        b->out->graph[st].p2p = DSE_ARENA_RAW(b->keep, gen_p2p, b->stages[st].n_p2p);
    for (uint32_t i = 0; i < b->n_links; i++) {
        const gen_link *l = &b->links[i];

        b->out->graph[l->from_stage].p2p[l->send_slot] = (gen_p2p){i, l->to_stage, false};
        b->out->graph[l->to_stage].p2p[l->recv_slot] = (gen_p2p){i, l->from_stage, true};
    }
}

/* Every axis that shards tensors has a communicator of its own, in the order of the axes. */
static void list_slots(const wl_axes *x, dse_arena *keep, gen_shape *out)
{
    out->slot = DSE_ARENA_RAW(keep, mesh_set, x->n);
    for (uint32_t k = 0; k < x->n; k++)
        if (mesh_has(x->sharding, k))
            out->slot[out->n_slots++] = mesh_only(k);
}

static void prepare(gen_build *b)
{
    const uint32_t n_ops = b->v->ops.n_ops;

    b->used = dse_arena_alloc(b->scratch, n_ops * sizeof *b->used);
    b->met = dse_arena_zero(b->scratch, n_ops, sizeof *b->met);
    memset(b->used, 0xff, n_ops * sizeof *b->used); /* DSE_NONE */
}

dse_status gen_shape_build(const gen_key *key, dse_arena *keep, dse_arena *scratch, gen_shape *out,
                           dse_error *err)
{
    gen_build b = {.key = key,
                   .v = key->variant,
                   .keep = keep,
                   .scratch = scratch,
                   .names = {.arena = keep},
                   .err = err,
                   .out = out};
    dse_status st;

    *out = (gen_shape){0};
    list_slots(&key->variant->axes, keep, out);
    prepare(&b);
    if ((st = wl_model_build(&b.v->ops, key->layers, scratch, &b.model, err)) != DSE_OK ||
        (st = split_stages(&b)) != DSE_OK)
        return st;
    fill_stages(&b);
    out->n_graphs = b.n_stages;
    out->graph = DSE_ARENA_NEW(keep, gen_graph, b.n_stages);
    for (uint32_t i = 0; st == DSE_OK && i < b.n_stages; i++)
        st = gen_add_nodes(&b, &b.stages[i]);
    if (st == DSE_OK)
        gen_add_messages(&b);
    for (uint32_t i = 0; st == DSE_OK && i < b.n_stages; i++)
        if ((st = gen_add_dependencies(&b, &b.stages[i])) == DSE_OK)
            st = gen_finish_stage(&b, &b.stages[i], &out->graph[i]);
    if (st == DSE_OK)
        list_messages(&b);
    return st;
}
