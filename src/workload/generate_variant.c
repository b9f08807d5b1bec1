/* The operators after a set of passes, the distinct sizes in them, and what these are for a strategy.
 *
 * A model has some forty distinct sizes, however many layers: each is evaluated once for a point. */
#include "workload/generator.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

/* An operator has five sizes at most. */
#define SIZES_PER_OPERATOR 5u

static uint32_t find_size(gen_variant *v, const wl_dim *product, double scale)
{
    uint32_t i = 0;

    while (i < v->n_sizes && (v->size[i].scale != scale || !wl_dim_equal(&v->size[i].product, product)))
        i++;
    if (i == v->n_sizes)
        v->size[v->n_sizes++] = (gen_size){.product = *product, .scale = scale};
    return i;
}

static uint32_t find_extent(gen_variant *v, const wl_dim *d)
{
    uint32_t i = 0;

    while (i < v->n_extents && !wl_dim_equal(&v->extent[i], d))
        i++;
    if (i == v->n_extents)
        v->extent[v->n_extents++] = *d;
    return i;
}

/* `stored`: what an element takes, of one of an activation. */
static uint32_t find_elements(gen_variant *v, const wl_shape *s, double stored)
{
    wl_dim elements = wl_shape_elements(s);

    return s->n ? find_size(v, &elements, stored) : DSE_NONE;
}

static uint32_t find_operations(gen_variant *v, const wl_operator *op)
{
    wl_dim elements = wl_shape_elements(&op->y_shape);
    uint32_t i;

    switch (op->kind) {
    case WL_OP_EINSUM:
        for (uint32_t k = 0; k < op->y_reduced.n; k++)
            wl_dim_multiply(&elements, &op->y_reduced.dim[k]);
        i = find_size(v, &elements, op->scale);
        break;
    case WL_OP_LOOKUP:
        elements = wl_shape_elements(&op->rows);
        i = find_size(v, &elements, 1.0);
        break;
    case WL_OP_RESHAPE: i = find_size(v, &elements, 1.0); break;
    case WL_OP_ADD:
    case WL_OP_SCALE: i = find_size(v, &elements, op->scale); break;
    default: return DSE_NONE;
    }
    v->size[i].counts_operations = true;
    return i;
}

/* Inputs count as the activations that a link may feed them with (precision.h). */
static uint32_t kind_of(const wl_operator *op)
{
    return op->makes == WL_TENSOR_INPUT || op->makes == WL_TENSOR_RECOMPUTED ? WL_TENSOR_ACTIVATION
                                                                             : op->makes;
}

static double stored_of(const wl_block *b, uint32_t operand)
{
    return operand == DSE_NONE ? 1.0 : b->op[operand].stored;
}

static uint32_t operand_kind(const wl_block *b, uint32_t operand)
{
    return operand == DSE_NONE ? WL_TENSOR_UNKNOWN : kind_of(&b->op[operand]);
}

/* An update is made of the weight and its gradient, which are not among its operands yet. */
static gen_work work_of(gen_variant *v, const wl_block *b, const wl_operator *op, const gen_operator *sizes)
{
    const bool updates = op->makes == WL_TENSOR_UPDATED_WEIGHT;
    const wl_dim elements = wl_shape_elements(op->rows.n ? &op->rows : &op->y_shape);
    const bool contracts = op->kind == WL_OP_EINSUM;

    return (gen_work){
        .class = op->class,
        .extent = {find_extent(v, contracts ? &op->extent[WL_EXTENT_M] : &elements),
                   contracts ? find_extent(v, &op->extent[WL_EXTENT_N]) : DSE_NONE,
                   contracts ? find_extent(v, &op->extent[WL_EXTENT_K]) : DSE_NONE,
                   contracts ? find_extent(v, &op->extent[WL_EXTENT_BATCH]) : DSE_NONE},
        .operations = find_operations(v, op),
        .moved = {sizes->y, sizes->x1, op->rows.n ? find_elements(v, &op->rows, 1.0) : sizes->x2},
        .kind = {kind_of(op), updates ? WL_TENSOR_WEIGHT : operand_kind(b, op->x1),
                 updates ? WL_TENSOR_WEIGHT_GRADIENT : operand_kind(b, op->x2)}};
}

static void measure_operator(gen_variant *v, const wl_block *b, const wl_operator *op, dse_strbuf *text,
                             dse_arena *a)
{
    gen_operator *out = &v->op[op->number];

    out->y = find_elements(v, &op->y_shape, op->stored);
    out->x1 = find_elements(v, &op->x1_shape, stored_of(b, op->x1));
    out->x2 = find_elements(v, &op->x2_shape, stored_of(b, op->x2));
    out->work = work_of(v, b, op, out);
    assert(out->y != DSE_NONE); /* a result has dimensions */
    dse_strbuf_clear(text);
    v->dialect->print_shape(&v->ops.symbols, &op->y_shape, text);
    out->y_text = (wl_piece){dse_arena_strdup(a, text->data), text->len};
    if (op->update)
        measure_operator(v, b, op->update, text, a);
}

static void measure_entry(gen_variant *v, const wl_entry *e, dse_strbuf *text, dse_arena *a)
{
    for (uint32_t k = 0; k < e->n_parts; k++)
        for (uint32_t i = 0; i < e->part[k].block->n; i++)
            measure_operator(v, e->part[k].block, &e->part[k].block->op[i], text, a);
}

dse_status gen_variant_init(gen_variant *v, const cfg_doc *operators, wl_passes passes,
                            const wl_dialect *dialect, dse_arena *a, dse_error *err)
{
    dse_strbuf text;
    dse_status st;

    *v = (gen_variant){.dialect = dialect};
    if ((st = wl_operators_resolve(operators, passes, a, &v->ops, err)) != DSE_OK)
        return st;
    v->axes = wl_axes_of(&v->ops.symbols, a);
    v->op = DSE_ARENA_RAW(a, gen_operator, v->ops.n_ops);
    v->size = DSE_ARENA_RAW(a, gen_size, (size_t)v->ops.n_ops * SIZES_PER_OPERATOR);
    v->extent = DSE_ARENA_RAW(a, wl_dim, (size_t)v->ops.n_ops * WL_N_EXTENTS);
    dse_strbuf_init(&text);
    for (uint32_t i = 0; i < v->ops.n_entries; i++)
        measure_entry(v, &v->ops.entry[i], &text, a);
    dse_strbuf_free(&text);
    return DSE_OK;
}

/* ---- for a strategy ------------------------------------------------------------------------ */

/* The axis that shards tensors under this name; DSE_NONE. */
static uint32_t sharding_axis(const gen_variant *v, const mesh *m, const char *name)
{
    uint32_t axis = mesh_find(m, name);

    return axis != DSE_NONE && mesh_has(v->axes.sharding, axis) ? axis : DSE_NONE;
}

/* The operators' symbols with values: of axes their degrees, all others from `values`. */
static dse_status bind_symbols(const gen_variant *v, const wl_symbols *values, const mesh *m, wl_symbols *out,
                               dse_error *err)
{
    const wl_operators *ops = &v->ops;

    *out = ops->symbols;
    for (uint32_t i = 0; i < out->n; i++) {
        uint32_t axis = sharding_axis(v, m, out->name[i]);
        int given = wl_symbol_find(values, out->name[i]);

        if (axis != DSE_NONE)
            out->value[i] = m->axis[axis].degree;
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

dse_status gen_sizes_evaluate(const gen_variant *v, const wl_symbols *symbols, const mesh *m,
                              const wl_precision *precision, dse_arena *a, gen_sizes *out, dse_error *err)
{
    wl_symbols bound;
    dse_status st = bind_symbols(v, symbols, m, &bound, err);

    if (st != DSE_OK)
        return st;
    out->value = DSE_ARENA_RAW(a, double, v->n_sizes);
    out->is_free = DSE_ARENA_RAW(a, bool, v->n_sizes);
    out->extent = DSE_ARENA_RAW(a, uint64_t, v->n_extents);
    out->precision = *precision;
    for (uint32_t i = 0; i < v->n_sizes; i++) {
        out->value[i] = wl_dim_value(&bound, &v->size[i].product, v->size[i].scale);
        /* What is left of it as a number of operations: whole ones. */
        out->is_free[i] = v->size[i].counts_operations && out->value[i] < 1.0;
    }
    for (uint32_t i = 0; i < v->n_extents; i++)
        out->extent[i] = wl_dim_whole(&bound, &v->extent[i]);
    return DSE_OK;
}

/* ---- by a precision -------------------------------------------------------------------------- */

bool gen_count(double v, uint64_t *out)
{
    if (!(v < 9223372036854775808.0))
        return false;
    *out = (uint64_t)v;
    return true;
}

bool gen_kernel_of(const gen_sizes *sizes, const gen_work *w, wl_kernel *out)
{
    const wl_precision *p = &sizes->precision;
    const bool in_bytes = wl_in_bytes(p);
    double operations = gen_value(sizes, w->operations), moved = 0;

    *out = (wl_kernel){.class = (wl_kernel_class)w->class};
    for (int i = 0; i < WL_N_EXTENTS; i++)
        out->extent[i] = w->extent[i] == DSE_NONE ? 1 : sizes->extent[w->extent[i]];
    for (int i = 0; i < 3; i++)
        if (!in_bytes || w->kind[i] != WL_TENSOR_UNKNOWN) /* STAGE counts a second operand of a reshape */
            moved += gen_value(sizes, w->moved[i]) * wl_element_bytes(p, (wl_tensor_kind)w->kind[i]);
    if (in_bytes) {
        out->element_bytes = wl_element_bytes(p, (wl_tensor_kind)w->kind[1]);
        if (w->class == WL_KERNEL_MATMUL || w->class == WL_KERNEL_ATTENTION)
            operations *= 2;
        if (w->class == WL_KERNEL_OPTIMIZER) /* read and written */
            moved += gen_value(sizes, w->moved[0]) * p->optimizer * 2;
    }
    return gen_count(operations, &out->operations) && gen_count(moved, &out->bytes);
}

double gen_message(const gen_sizes *sizes, uint32_t size)
{
    return gen_value(sizes, size) * (wl_in_bytes(&sizes->precision) ? sizes->precision.messages : 1.0);
}

uint64_t gen_state(const gen_sizes *sizes, uint32_t size, wl_tensor_kind kind)
{
    return (uint64_t)(gen_value(sizes, size) * wl_element_bytes(&sizes->precision, kind));
}

/* Elements of the largest piece of weight w that an operator of its block needs. */
static double largest_piece(const gen_variant *v, const gen_sizes *sizes, const wl_block *b, uint32_t w)
{
    double largest = gen_value(sizes, gen_operator_of(v, &b->op[w])->y);

    for (uint32_t i = 0; i < b->n; i++) {
        const gen_operator *op = gen_operator_of(v, &b->op[i]);
        const uint32_t operand[] = {b->op[i].x1, b->op[i].x2}, size[] = {op->x1, op->x2};

        for (int k = 0; k < 2; k++)
            if (operand[k] == w && gen_value(sizes, size[k]) > largest)
                largest = gen_value(sizes, size[k]);
    }
    return largest;
}

uint64_t gen_gathered(const gen_variant *v, const gen_sizes *sizes, const wl_entry *e)
{
    uint64_t bytes = 0;

    for (uint32_t k = 0; k < e->n_parts; k++) {
        const wl_block *b = e->part[k].block;

        for (uint32_t w = 0; w < b->n; w++) {
            double piece = b->op[w].is_weight ? largest_piece(v, sizes, b, w) : 0;

            if (b->op[w].is_weight && piece > gen_value(sizes, gen_operator_of(v, &b->op[w])->y))
                bytes += (uint64_t)(piece * sizes->precision.weights);
        }
    }
    return bytes;
}
