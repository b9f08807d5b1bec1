#include "workload/generate.h"

#include "strategy/order.h"
#include "strategy/strategy.h"
#include "workload/generator.h"
#include "workload/pass.h"
#include "workload/paths_shape.h"

#include <inttypes.h>
#include <string.h>

/* Only this function turns the request's fields into axes. */
static dse_status check_mesh(const mesh *m, uint32_t pp, uint32_t layers, dse_error *err)
{
    uint64_t ranks = 1;

    for (uint32_t i = 0; i < m->n; i++) {
        if (!m->axis[i].degree)
            return dse_fail(err, DSE_E_RANGE, "a degree of parallelism is 0; it must be at least 1");
        ranks *= m->axis[i].degree;
        if (ranks > WL_MAX_RANKS)
            return dse_fail(err, DSE_E_RANGE, "%s is more than %u ranks",
                            strategy_product(STRATEGY_PROFILE_STAGE), WL_MAX_RANKS);
    }
    if (pp > layers + 2)
        return dse_fail(err, DSE_E_RANGE,
                        "pp is %" PRIu32 ", but %" PRIu32 " layers and two embeddings fill at most %" PRIu32
                        " pipeline stages",
                        pp, layers, layers + 2);
    return DSE_OK;
}

mesh_set gen_split(const wl_axes *x, const mesh *m)
{
    mesh_set split = 0;

    for (uint32_t i = 0; i < m->n; i++)
        if (mesh_has(x->sharding, i) && m->axis[i].degree > 1)
            split |= mesh_only(i);
    return split;
}

static gen_key key_of(const gen_variant *v, uint32_t layers, const wl_strategy *s, const mesh *m,
                      const gen_sizes *sizes)
{
    return (gen_key){.variant = v,
                     .layers = layers,
                     .pp = s->pp,
                     .stages = s->stages,
                     .split = gen_split(&v->axes, m),
                     .is_free = sizes->is_free};
}

dse_status wl_generate(const cfg_doc *operators, const wl_symbols *symbols, uint32_t layers,
                       const wl_strategy *s, dse_arena *a, wl_workload *out, dse_error *err)
{
    const mesh m = strategy_mesh(&s->strategy, a);
    gen_variant variant;
    gen_shape shape;
    gen_sizes sizes;
    gen_key key;
    dse_status st;

    *out = (wl_workload){0};
    if ((st = check_mesh(&m, s->pp, layers, err)) != DSE_OK ||
        (st = gen_variant_init(&variant, operators, wl_passes_of(&s->strategy), &wl_dialect_stage, a, err)) !=
            DSE_OK ||
        (st = gen_sizes_evaluate(&variant, symbols, &m, &s->precision, a, &sizes, err)) != DSE_OK)
        return st;
    key = key_of(&variant, layers, s, &m, &sizes);
    if ((st = gen_shape_build(&key, a, a, &shape, err)) != DSE_OK ||
        (st = gen_workload_fill(&key, &shape, &sizes, true, a, out, err)) != DSE_OK)
        return st;
    gen_workload_bind(&key, &shape, &m, s->tag_base, a, out);
    return DSE_OK;
}

/* ---- a kept generator ---------------------------------------------------------------------- */

typedef struct kept kept;
struct kept {
    kept *older;
    gen_key key;
    gen_shape shape;
    gen_paths paths;
    dse_arena arena; /* what these consist of */
};

typedef struct {
    bool is_made; /* it was asked for */
    gen_variant variant;
    dse_arena arena; /* what it consists of */
} known_variant;

struct wl_generator {
    cfg_doc operators;
    known_variant variant[WL_ALL_PASSES + 1]; /* by passes */
    kept *newest;                             /* by their last use */
    dse_arena scratch;
    wl_generator_use use;
};

wl_generator *wl_generator_new(const cfg_doc *operators)
{
    wl_generator *g = dse_calloc(1, sizeof *g);

    g->operators = *operators;
    dse_arena_init(&g->scratch);
    return g;
}

static void free_kept(kept *k)
{
    dse_arena_free(&k->arena);
    dse_free(k);
}

void wl_generator_free(wl_generator *g)
{
    if (!g)
        return;
    while (g->newest) {
        kept *k = g->newest;

        g->newest = k->older;
        free_kept(k);
    }
    for (wl_passes p = 0; p <= WL_ALL_PASSES; p++)
        dse_arena_free(&g->variant[p].arena);
    dse_arena_free(&g->scratch);
    dse_free(g);
}

const wl_generator_use *wl_generator_usage(const wl_generator *g) { return &g->use; }

static dse_status find_variant(wl_generator *g, wl_passes passes, const gen_variant **out, dse_error *err)
{
    known_variant *v = &g->variant[passes];
    dse_status st = DSE_OK;

    if (!v->is_made)
        st = gen_variant_init(&v->variant, &g->operators, passes, &wl_dialect_stage, &v->arena, err);
    if (st != DSE_OK)
        dse_arena_free(&v->arena);
    v->is_made = st == DSE_OK;
    *out = &v->variant;
    return st;
}

static bool same_key(const gen_key *a, const gen_key *b)
{
    return a->variant == b->variant && a->layers == b->layers && a->pp == b->pp && a->stages == b->stages &&
           a->split == b->split && !memcmp(a->is_free, b->is_free, a->variant->n_sizes * sizeof *a->is_free);
}

/* Puts the shape of this key first; false if it is not there. */
static bool find_kept(wl_generator *g, const gen_key *key)
{
    for (kept **link = &g->newest; *link; link = &(*link)->older) {
        kept *k = *link;

        if (!same_key(&k->key, key))
            continue;
        *link = k->older;
        k->older = g->newest;
        g->newest = k;
        return true;
    }
    return false;
}

/* The newest stays, however large. */
static void drop_oldest(wl_generator *g)
{
    kept **link = &g->newest->older;
    size_t bytes = g->newest->arena.total_bytes;
    uint32_t n = 1;

    for (; *link && n < WL_KEPT_SHAPES && bytes + (*link)->arena.total_bytes <= WL_KEPT_BYTES; n++) {
        bytes += (*link)->arena.total_bytes;
        link = &(*link)->older;
    }
    g->use.n_shapes = n;
    g->use.bytes = bytes;
    while (*link) {
        kept *k = *link;

        *link = k->older;
        free_kept(k);
    }
}

/* Of a giant: the next is likely none. */
static void drop_scratch(wl_generator *g)
{
    if (g->scratch.total_bytes > WL_KEPT_BYTES)
        dse_arena_free(&g->scratch);
}

static dse_status keep_new(wl_generator *g, const gen_key *key, dse_error *err)
{
    kept *k = dse_calloc(1, sizeof *k);
    dse_status st;

    dse_arena_init(&k->arena);
    dse_arena_reset(&g->scratch);
    k->key = *key;
    k->key.is_free = dse_arena_copy(&k->arena, key->is_free, key->variant->n_sizes, sizeof *key->is_free);
    st = gen_shape_build(&k->key, &k->arena, &g->scratch, &k->shape, err);
    drop_scratch(g);
    if (st != DSE_OK) {
        free_kept(k);
        return st;
    }
    k->older = g->newest;
    g->newest = k;
    g->use.n_built++;
    drop_oldest(g);
    return DSE_OK;
}

/* Makes the shape of a request the newest. */
static dse_status find_shape(wl_generator *g, const wl_symbols *symbols, uint32_t layers,
                             const wl_strategy *s, const mesh *m, dse_arena *a, gen_sizes *sizes,
                             dse_error *err)
{
    const gen_variant *variant;
    gen_key key;
    dse_status st;

    if ((st = check_mesh(m, s->pp, layers, err)) != DSE_OK ||
        (st = find_variant(g, wl_passes_of(&s->strategy), &variant, err)) != DSE_OK ||
        (st = gen_sizes_evaluate(variant, symbols, m, &s->precision, a, sizes, err)) != DSE_OK)
        return st;
    key = key_of(variant, layers, s, m, sizes);
    return find_kept(g, &key) ? DSE_OK : keep_new(g, &key, err);
}

dse_status wl_generator_make(wl_generator *g, const wl_symbols *symbols, uint32_t layers,
                             const wl_strategy *s, dse_arena *a, wl_workload *out, dse_error *err)
{
    const mesh m = strategy_mesh(&s->strategy, a);
    gen_sizes sizes;
    dse_status st;

    *out = (wl_workload){0};
    if ((st = find_shape(g, symbols, layers, s, &m, a, &sizes, err)) != DSE_OK ||
        (st = gen_workload_fill(&g->newest->key, &g->newest->shape, &sizes, false, a, out, err)) != DSE_OK)
        return st;
    gen_workload_bind(&g->newest->key, &g->newest->shape, &m, s->tag_base, a, out);
    return DSE_OK;
}

/* ---- paths --------------------------------------------------------------------------------- */

static dse_status fill_kinds(const gen_shape *shape, const gen_paths *paths, const gen_sizes *sizes,
                             wl_path_kind *out, dse_error *err)
{
    for (uint32_t i = 0; i < paths->n_kinds; i++) {
        const gen_path_kind *of = &paths->kind[i];
        const gen_figures *f = &shape->figures[of->figures];
        wl_total *total = &out[i].total;

        out[i] =
            (wl_path_kind){.total = {.type = (uint8_t)of->type, .coll = (uint8_t)of->coll, .axes = of->axes},
                           .stage = of->stage,
                           .to = of->to};
        if (!(of->type == WL_NODE_COMP ? gen_kernel_of(sizes, &f->work, &total->kernel)
                                       : gen_count(gen_message(sizes, f->communicated), &total->comm_size)))
            return dse_fail(err, DSE_E_RANGE, "the size of '%.80s' does not fit in 63 bits",
                            shape->user[of->figures]);
    }
    return DSE_OK;
}

dse_status wl_generator_paths(wl_generator *g, const wl_symbols *symbols, uint32_t layers,
                              const wl_strategy *s, dse_arena *a, wl_paths *out, dse_error *err)
{
    const mesh m = strategy_mesh(&s->strategy, a);
    wl_path_kind *kind;
    gen_sizes sizes;
    gen_paths *paths;
    dse_status st;

    *out = (wl_paths){0};
    if ((st = find_shape(g, symbols, layers, s, &m, a, &sizes, err)) != DSE_OK)
        return st;
    paths = &g->newest->paths;
    if (!paths->is_known) {
        dse_arena_reset(&g->scratch);
        gen_paths_find(&g->newest->shape, &g->newest->arena, &g->scratch, paths);
        drop_scratch(g);
        drop_oldest(g);
    }
    kind = DSE_ARENA_RAW(a, wl_path_kind, paths->n_kinds);
    if ((st = fill_kinds(&g->newest->shape, paths, &sizes, kind, err)) != DSE_OK)
        return st;
    *out = (wl_paths){.n_nodes = paths->n_nodes,
                      .kind_of = paths->kind_of,
                      .before = paths->before,
                      .first_jump = paths->first_jump,
                      .jump = paths->jump,
                      .work = paths->work,
                      .n_kinds = paths->n_kinds,
                      .kind = kind};
    return DSE_OK;
}
