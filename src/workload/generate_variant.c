/* The operators of a variant, the distinct sizes in them, and what these are for a strategy.
 *
 * A model has some forty distinct sizes, however many layers: each is evaluated once for a point. */
#include "workload/generator.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

/* An operator has four sizes at most. */
#define SIZES_PER_OPERATOR 4u

static uint32_t find_size(gen_variant *v, const wl_dim *product, double scale)
{
    uint32_t i = 0;

    while (i < v->n_sizes && (v->size[i].scale != scale || !wl_dim_equal(&v->size[i].product, product)))
        i++;
    if (i == v->n_sizes)
        v->size[v->n_sizes++] = (gen_size){.product = *product, .scale = scale};
    return i;
}

static uint32_t find_elements(gen_variant *v, const wl_shape *s)
{
    wl_dim elements = wl_shape_elements(s);

    return s->n ? find_size(v, &elements, 1.0) : DSE_NONE;
}

static uint32_t find_operations(gen_variant *v, const wl_operator *op)
{
    wl_dim elements = wl_shape_elements(&op->y_shape);
    uint32_t i;

    switch (op->kind) {
    case WL_OP_EINSUM:
        for (uint32_t k = 0; k < op->y_reduced.n; k++)
            wl_dim_multiply(&elements, &op->y_reduced.dim[k]);
        i = find_size(v, &elements, 1.0);
        break;
    case WL_OP_ADD:
    case WL_OP_RESHAPE: i = find_size(v, &elements, 1.0); break;
    case WL_OP_SCALE: i = find_size(v, &elements, op->scale); break;
    default: return DSE_NONE;
    }
    v->size[i].counts_operations = true;
    return i;
}

static dse_status measure_operator(gen_variant *v, const wl_operator *op, dse_strbuf *text, dse_arena *a,
                                   dse_error *err)
{
    gen_operator *out = &v->op[op->number];

    out->y = find_elements(v, &op->y_shape);
    out->x1 = find_elements(v, &op->x1_shape);
    out->x2 = find_elements(v, &op->x2_shape);
    out->operations = find_operations(v, op);
    assert(out->y != DSE_NONE); /* a result has dimensions */
    dse_strbuf_clear(text);
    wl_shape_print(&v->ops.symbols, &op->y_shape, text);
    out->y_text = (wl_piece){text->failed ? NULL : dse_arena_strdup(a, text->data), text->len};
    if (!out->y_text.text)
        return dse_fail_nomem(err);
    return op->update ? measure_operator(v, op->update, text, a, err) : DSE_OK;
}

static dse_status measure_entry(gen_variant *v, const wl_entry *e, dse_strbuf *text, dse_arena *a,
                                dse_error *err)
{
    dse_status st = DSE_OK;

    for (uint32_t k = 0; k < e->n_parts; k++)
        for (uint32_t i = 0; st == DSE_OK && i < e->part[k].block->n; i++)
            st = measure_operator(v, &e->part[k].block->op[i], text, a, err);
    return st;
}

static wl_parallel parallel_of(const wl_symbols *symbols)
{
    wl_parallel p = {.symbol = {-1, -1, -1}};

    for (uint32_t i = 0; i < symbols->n; i++) {
        int k = wl_parallel_index(symbols->name[i]);

        if (k >= 0)
            p.symbol[k] = (int)i;
    }
    return p;
}

dse_status gen_variant_init(gen_variant *v, const cfg_doc *operators, wl_variant which, dse_arena *a,
                            dse_error *err)
{
    dse_strbuf text;
    dse_status st;

    *v = (gen_variant){0};
    if ((st = wl_operators_resolve(operators, which, a, &v->ops, err)) != DSE_OK)
        return st;
    v->parallel = parallel_of(&v->ops.symbols);
    v->op = GEN_ARRAY(a, gen_operator, v->ops.n_ops);
    v->size = GEN_ARRAY(a, gen_size, (size_t)v->ops.n_ops * SIZES_PER_OPERATOR);
    if (!v->op || !v->size)
        return dse_fail_nomem(err);
    dse_strbuf_init(&text);
    for (uint32_t i = 0; st == DSE_OK && i < v->ops.n_entries; i++)
        st = measure_entry(v, &v->ops.entry[i], &text, a, err);
    dse_strbuf_free(&text);
    return st;
}

/* ---- for a strategy ------------------------------------------------------------------------ */

/* The operators' symbols with values: degrees of dp, tp, sp (by WL_DP, ...), all others from `values`. */
static dse_status bind_symbols(const wl_operators *ops, const wl_symbols *values,
                               const uint32_t degree[WL_N_PARALLEL], wl_symbols *out, dse_error *err)
{
    *out = ops->symbols;
    for (uint32_t i = 0; i < out->n; i++) {
        int parallel = wl_parallel_index(out->name[i]);
        int given = wl_symbol_find(values, out->name[i]);

        if (parallel >= 0)
            out->value[i] = degree[parallel];
        else if (given < 0)
            return dse_fail_at(err, DSE_E_CONFIG, ops->doc.path, "the symbol '%.60s' has no value",
                               out->name[i]);
        else if (values->value[given] < 1)
            return dse_fail(err, DSE_E_RANGE, "%s is %" PRId64 "; it must be at least 1", out->name[i],
                            values->value[given]);
        else
            out->value[i] = values->value[given];
    }
    return DSE_OK;
}

dse_status gen_sizes_evaluate(const gen_variant *v, const wl_symbols *symbols, const wl_strategy *s,
                              dse_arena *a, gen_sizes *out, dse_error *err)
{
    const uint32_t degree[] = {[WL_DP] = s->dp, [WL_TP] = s->tp, [WL_SP] = s->sp};
    wl_symbols bound;
    dse_status st = bind_symbols(&v->ops, symbols, degree, &bound, err);

    if (st != DSE_OK)
        return st;
    out->value = GEN_ARRAY(a, double, v->n_sizes);
    out->is_free = GEN_ARRAY(a, bool, v->n_sizes);
    if (!out->value || !out->is_free)
        return dse_fail_nomem(err);
    for (uint32_t i = 0; i < v->n_sizes; i++) {
        out->value[i] = wl_dim_value(&bound, &v->size[i].product, v->size[i].scale);
        /* What is left of it as a number of operations: whole ones. */
        out->is_free[i] = v->size[i].counts_operations && out->value[i] < 1.0;
    }
    return DSE_OK;
}
