#include "workload/generate.h"

#include "workload/generator.h"

#include <inttypes.h>
#include <string.h>

/* A model has some forty distinct sizes; each is evaluated once. */
double gen_value_of(generator *g, const wl_dim *d, double scale)
{
    double v;

    for (uint32_t i = 0; i < g->n_cached; i++)
        if (g->cache[i].scale == scale && wl_dim_equal(&g->cache[i].dim, d))
            return g->cache[i].value;
    v = wl_dim_value(&g->ops.symbols, d, scale);
    if (g->n_cached < sizeof g->cache / sizeof g->cache[0])
        g->cache[g->n_cached++] = (gen_value){*d, scale, v};
    return v;
}

double gen_shape_value(generator *g, const wl_shape *s)
{
    wl_dim elements = wl_shape_elements(s);

    return s->n ? gen_value_of(g, &elements, 1.0) : 0.0;
}

/* ---- pipeline stages ----------------------------------------------------------------------- */

static dse_status split_stages(generator *g)
{
    uint32_t n = g->model.n, pp = g->s->pp, *stage_of_value;

    g->stage_of = DSE_ARENA_NEW(g->arena, uint32_t, n);
    g->local = DSE_ARENA_NEW(g->arena, uint32_t, n);
    g->stages = DSE_ARENA_NEW(g->arena, gen_stage, pp);
    stage_of_value = DSE_ARENA_NEW(g->arena, uint32_t, pp);
    if (!g->stage_of || !g->local || !g->stages || !stage_of_value)
        return dse_fail_nomem(g->err);
    memset(stage_of_value, 0xff, pp * sizeof *stage_of_value);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t value = g->model.tensor[i].place % pp, st = stage_of_value[value];

        if (st == DSE_NONE) {
            st = stage_of_value[value] = g->n_stages++;
            g->stages[st].value = value;
        }
        g->stage_of[i] = st;
        g->local[i] = g->stages[st].n_tensors++;
    }
    return DSE_OK;
}

/* The operand as a tensor of the stage; a shadow is made when another stage owns it. Shadows follow
 * the stage's own tensors, in the order in which they are first needed. */
static uint32_t localise(generator *g, uint32_t st, uint32_t *n_shadows, uint32_t operand)
{
    gen_stage *s = &g->stages[st];

    if (operand == DSE_NONE || g->stage_of[operand] == st)
        return operand == DSE_NONE ? DSE_NONE : g->local[operand];
    for (uint32_t i = s->n_tensors; i < s->n_tensors + *n_shadows; i++)
        if (s->tensor[i].model == operand)
            return i;
    s->tensor[s->n_tensors + *n_shadows] =
        (gen_tensor){.model = operand, .kind = WL_OP_SHADOW, .x1 = DSE_NONE, .x2 = DSE_NONE};
    g->links[g->n_links++] = (gen_link){.from_stage = g->stage_of[operand],
                                        .from_tensor = g->local[operand],
                                        .to_stage = st,
                                        .to_tensor = s->n_tensors + *n_shadows};
    return s->n_tensors + (*n_shadows)++;
}

static dse_status fill_stages(generator *g)
{
    uint32_t crossings = 0;

    for (uint32_t i = 0; i < g->model.n; i++) {
        const wl_tensor *t = &g->model.tensor[i];
        uint32_t st = g->stage_of[i], n = 0;

        n += t->x1 != DSE_NONE && g->stage_of[t->x1] != st;
        n += t->x2 != DSE_NONE && g->stage_of[t->x2] != st;
        g->stages[st].n_crossings += n;
        crossings += n;
    }
    g->links = DSE_ARENA_NEW(g->arena, gen_link, crossings);
    if (!g->links)
        return dse_fail_nomem(g->err);
    for (uint32_t st = 0; st < g->n_stages; st++) {
        gen_stage *s = &g->stages[st];

        s->tensor = DSE_ARENA_NEW(g->arena, gen_tensor, s->n_tensors + s->n_crossings);
        if (!s->tensor)
            return dse_fail_nomem(g->err);
    }
    for (uint32_t i = 0; i < g->model.n; i++)
        g->stages[g->stage_of[i]].tensor[g->local[i]] =
            (gen_tensor){.model = i, .kind = g->model.tensor[i].kind};
    /* Stage by stage: the order of the links is the order of the tags. */
    for (uint32_t st = 0; st < g->n_stages; st++) {
        gen_stage *s = &g->stages[st];
        uint32_t n_shadows = 0;

        for (uint32_t i = 0; i < s->n_tensors; i++) {
            const wl_tensor *t = gen_model_tensor(g, &s->tensor[i]);

            s->tensor[i].x1 = localise(g, st, &n_shadows, t->x1);
            s->tensor[i].x2 = localise(g, st, &n_shadows, t->x2);
        }
        s->n_tensors += n_shadows;
        for (uint32_t i = 0; i < s->n_tensors; i++) {
            gen_tensor *t = &s->tensor[i];
            t->comp = t->x1_in = t->x2_in = t->recv = t->first_send = t->last_send = t->info = DSE_NONE;
        }
    }
    return DSE_OK;
}

/* ---- the whole ----------------------------------------------------------------------------- */

static dse_status check_strategy(const wl_strategy *s, uint32_t layers, uint32_t *n_ranks, dse_error *err)
{
    uint64_t ranks = 1, degree[] = {s->dp, s->tp, s->sp, s->pp};

    for (int i = 0; i < 4; i++) {
        if (!degree[i])
            return dse_fail(err, DSE_E_RANGE, "a degree of parallelism is 0; it must be at least 1");
        ranks *= degree[i];
        if (ranks > WL_MAX_RANKS)
            return dse_fail(err, DSE_E_RANGE, "dp * tp * sp * pp is more than %u ranks", WL_MAX_RANKS);
    }
    if (s->pp > layers + 2)
        return dse_fail(err, DSE_E_RANGE,
                        "pp is %" PRIu32 ", but %" PRIu32 " layers and two embeddings fill at most %" PRIu32
                        " pipeline stages",
                        s->pp, layers, layers + 2);
    *n_ranks = (uint32_t)ranks;
    return DSE_OK;
}

static dse_status bind_symbols(generator *g, const wl_symbols *values)
{
    const uint32_t degree[] = {g->s->dp, g->s->tp, g->s->sp};
    wl_symbols *symbols = &g->ops.symbols;

    for (uint32_t i = 0; i < symbols->n; i++) {
        int parallel = wl_parallel_index(symbols->name[i]);
        int given = wl_symbol_find(values, symbols->name[i]);

        if (parallel >= 0) {
            g->parallel.symbol[parallel] = (int)i;
            g->parallel.degree[parallel] = degree[parallel];
            symbols->value[i] = degree[parallel];
        } else if (given < 0) {
            return dse_fail_at(g->err, DSE_E_CONFIG, g->ops.doc.path, "the symbol '%.60s' has no value",
                               symbols->name[i]);
        } else if (values->value[given] < 1) {
            return dse_fail(g->err, DSE_E_RANGE, "%s is %" PRId64 "; it must be at least 1", symbols->name[i],
                            values->value[given]);
        } else {
            symbols->value[i] = values->value[given];
        }
    }
    return DSE_OK;
}

dse_status wl_generate(const cfg_doc *operators, const wl_symbols *symbols, uint32_t layers,
                       const wl_strategy *s, dse_arena *a, wl_workload *out, dse_error *err)
{
    generator *g = dse_arena_zero(a, 1, sizeof *g);
    wl_variant variant = {s->recompute, s->weight_sharded};
    dse_status st;

    if (!g)
        return dse_fail_nomem(err);
    g->s = s;
    g->layers = layers;
    g->arena = a;
    g->err = err;
    g->out = out;
    *out = (wl_workload){0};
    if ((st = check_strategy(s, layers, &out->n_ranks, err)) != DSE_OK ||
        (st = wl_operators_resolve(operators, variant, a, &g->ops, err)) != DSE_OK ||
        (st = bind_symbols(g, symbols)) != DSE_OK ||
        (st = wl_model_build(&g->ops, layers, a, &g->model, err)) != DSE_OK ||
        (st = split_stages(g)) != DSE_OK)
        return st;
    if (g->n_stages < s->pp)
        return dse_fail(err, DSE_E_RANGE, "pp is %" PRIu32 ", but only %" PRIu32 " stages get a tensor",
                        s->pp, g->n_stages);
    out->n_graphs = g->n_stages;
    out->graph = DSE_ARENA_NEW(a, wl_graph, g->n_stages);
    if (!out->graph)
        return dse_fail_nomem(err);
    st = fill_stages(g);
    for (uint32_t i = 0; st == DSE_OK && i < g->n_stages; i++)
        st = gen_add_nodes(g, &g->stages[i]);
    if (st == DSE_OK)
        st = gen_add_messages(g);
    for (uint32_t i = 0; st == DSE_OK && i < g->n_stages; i++)
        if ((st = gen_add_dependencies(g, &g->stages[i])) == DSE_OK)
            st = gen_finish_stage(g, &g->stages[i], &out->graph[i]);
    return st == DSE_OK ? gen_bind_ranks(g) : st;
}
