/* What kernels achieve, by class and shape: TFLOP/s of products of matrices and of attention, GB/s of kernels
 * that are bound by memory.
 *
 * A kernel belongs to the operator that launched it: the innermost of the launching thread that has sizes
 * (Kineto's "Input Dims", which torch.profiler writes with record_shapes) when its launch begins. All kernels
 * of one call of an operator add up: a product may be split over k and added up by a second kernel. Operators
 * without a row here are left out; `attributed` says how much of the time of kernels that compute is in the
 * rows. Of a simulated run the kernels have classes and shapes themselves.
 *
 * Operations: 2 m n k for a product, 4 s_q s_k d for each head of attention (half of that with --attention
 * causal), 2.5 times that backward. Bytes: operands and result, each once; the result is as large as the
 * largest operand. What a cache keeps is counted all the same. */
#include "metrics/kernel_shapes.h"

#include "base/array.h"
#include "metrics/metric.h"
#include "metrics/nest.h"
#include "metrics/numbers.h"
#include "trace/pairs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const metric_shape_class_name[METRIC_SHAPE_CLASSES] = {
    "unknown",           "matmul",      "attention",     "attention_backward",
    "attention_product", "elementwise", "normalisation", "lookup"};

static bool multiplies(metric_shape_class c) { return c <= METRIC_SHAPE_ATTENTION_PRODUCT; }

/* ---- operators ------------------------------------------------------------------------------- */

/* Which inputs a shape is read from, the first of them: two matrices; two batches of them; q and k, heads
 * before tokens or behind; all, with a result beside them or in the first of them; a table and the rows that
 * are taken. */
typedef enum {
    FORM_PRODUCT,
    FORM_BATCHES,
    FORM_HEADS_TOKENS,
    FORM_TOKENS_HEADS,
    FORM_ALL,
    FORM_INTO,
    FORM_ROWS
} op_form;

static const struct {
    const char *names; /* between bars */
    metric_shape_class class;
    op_form form;
    uint32_t first;
} ops[] = {
    {"aten::mm", METRIC_SHAPE_MATMUL, FORM_PRODUCT, 0},
    {"aten::addmm", METRIC_SHAPE_MATMUL, FORM_PRODUCT, 1},
    {"aten::bmm", METRIC_SHAPE_ATTENTION_PRODUCT, FORM_BATCHES, 0},
    {"aten::baddbmm", METRIC_SHAPE_ATTENTION_PRODUCT, FORM_BATCHES, 1},
    {"aten::_scaled_dot_product_flash_attention|aten::_scaled_dot_product_cudnn_attention",
     METRIC_SHAPE_ATTENTION, FORM_HEADS_TOKENS, 0},
    {"aten::_flash_attention_forward|flash_attn::_flash_attn_forward", METRIC_SHAPE_ATTENTION,
     FORM_TOKENS_HEADS, 0},
    {"aten::_scaled_dot_product_flash_attention_backward|aten::_scaled_dot_product_cudnn_attention_backward",
     METRIC_SHAPE_ATTENTION_BACKWARD, FORM_HEADS_TOKENS, 1},
    {"aten::_flash_attention_backward|flash_attn::_flash_attn_backward", METRIC_SHAPE_ATTENTION_BACKWARD,
     FORM_TOKENS_HEADS, 1},
    {"aten::add|aten::add_|aten::sub|aten::mul|aten::mul_|aten::div|aten::div_|aten::neg|aten::gelu|"
     "aten::gelu_backward|aten::silu|aten::silu_backward|aten::relu|aten::threshold_backward|"
     "aten::masked_fill_|aten::native_dropout",
     METRIC_SHAPE_ELEMENTWISE, FORM_ALL, 0},
    {"aten::copy_|aten::fill_|aten::zero_", METRIC_SHAPE_ELEMENTWISE, FORM_INTO, 0},
    {"aten::_softmax|aten::_softmax_backward_data|aten::native_layer_norm|aten::native_layer_norm_backward|"
     "aten::_fused_rms_norm",
     METRIC_SHAPE_NORMALISATION, FORM_ALL, 0},
    {"aten::embedding|aten::index_select", METRIC_SHAPE_LOOKUP, FORM_ROWS, 0},
};
#define N_OPS DSE_COUNT(ops)

static const metric_element_type types[] = {{"c10::Half", "float16", 2},
                                            {"c10::BFloat16", "bfloat16", 2},
                                            {"float", "float32", 4},
                                            {"double", "float64", 8},
                                            {"long", "int64", 8},
                                            {"long int", "int64", 8},
                                            {"int", "int32", 4},
                                            {"unsigned char", "uint8", 1},
                                            {"bool", "bool", 1},
                                            {"c10::Float8_e4m3fn", "float8", 1},
                                            {"c10::Float8_e5m2", "float8", 1}};

/* ---- sizes of an operator's inputs ----------------------------------------------------------- */

#define MOST_INPUTS 8
#define MOST_DIMS   6

typedef struct {
    uint32_t n; /* dimensions; 0: it is no tensor */
    double dim[MOST_DIMS];
    double elements;
    const metric_element_type *type; /* NULL: another */
} input;

typedef struct {
    uint32_t n;
    input of[MOST_INPUTS];
} inputs;

static bool parse_dims(const char *text, inputs *out)
{
    const char *p = text + 1;

    out->n = 0;
    while (*p == '[' && out->n < MOST_INPUTS) {
        input *in = &out->of[out->n++];

        *in = (input){.elements = 1};
        p++;
        while (*p && *p != ']') {
            char *end;
            const double v = strtod(p, &end);

            if (end == p || in->n == MOST_DIMS)
                return false; /* a list of tensors */
            in->dim[in->n++] = v;
            in->elements *= v;
            p = *end == ',' ? end + 1 : end;
        }
        p += *p == ']';
        p += *p == ',';
    }
    return out->n > 0;
}

/* The words between ", " and the brackets. */
static void parse_types(const char *text, inputs *out)
{
    const char *p = text + (*text == '[');

    for (uint32_t i = 0; i < out->n && *p && *p != ']'; i++) {
        size_t n = strcspn(p, ",]");

        for (size_t t = 0; t < DSE_COUNT(types); t++)
            if (strlen(types[t].type) == n && !memcmp(types[t].type, p, n))
                out->of[i].type = &types[t];
        p += n;
        p += strspn(p, ", ");
    }
}

/* ---- shapes ---------------------------------------------------------------------------------- */

typedef struct {
    metric_kernel_shape of;
    size_t n, cap;
    double *ps; /* of each call */
    double sum_ps;
} samples;

typedef struct {
    size_t n, cap;
    trace_names keys; /* of shapes */
    samples *item;
    double attributed_ps, all_ps;
} collected;

static bool product_of(const inputs *in, uint32_t first, bool batches, metric_kernel_shape *s)
{
    const input *a = &in->of[first], *b = &in->of[first + 1];
    const uint32_t dims = batches ? 3 : 2;

    if (first + 1 >= in->n || a->n != dims || b->n != dims)
        return false;
    s->batch = batches ? a->dim[0] : 1;
    s->m = a->dim[dims - 2];
    s->k = a->dim[dims - 1];
    s->n = b->dim[dims - 1];
    s->operations = 2 * s->m * s->n * s->k * s->batch;
    s->bytes = s->batch * (s->m * s->k + s->k * s->n + s->m * s->n) * s->type->bytes;
    return true;
}

static bool attention_of(const inputs *in, uint32_t first, bool heads_first, bool backward, bool causal,
                         metric_kernel_shape *s)
{
    const input *q = &in->of[first], *k = &in->of[first + 1];
    const uint32_t tokens = heads_first ? 2 : 1, heads = heads_first ? 1 : 2;

    if (first + 1 >= in->n || q->n != 4 || k->n != 4)
        return false;
    s->batch = q->dim[0] * q->dim[heads];
    s->m = q->dim[tokens];
    s->n = k->dim[tokens];
    s->k = q->dim[3];
    s->operations = (causal ? 2 : 4) * s->m * s->n * s->k * s->batch * (backward ? 2.5 : 1);
    s->bytes = 2 * (q->elements + k->elements) * s->type->bytes * (backward ? 2 : 1);
    return true;
}

static bool all_of(const inputs *in, bool into, metric_kernel_shape *s)
{
    const input *largest = NULL;

    s->bytes = 0;
    for (uint32_t i = 0; i < in->n; i++) {
        const input *v = &in->of[i];

        if (!v->n || !v->type)
            continue;
        s->bytes += v->elements * v->type->bytes;
        largest = !largest || v->elements > largest->elements ? v : largest;
    }
    if (!largest)
        return false;
    s->m = largest->elements;
    s->type = largest->type;
    s->bytes += into ? 0 : largest->elements * s->type->bytes;
    return true;
}

/* A row is read and written; its number is read. */
static bool rows_of(const inputs *in, metric_kernel_shape *s)
{
    const input *table = &in->of[0], *at = in->n > 2 && !in->of[1].n ? &in->of[2] : &in->of[1];

    if (in->n < 2 || table->n != 2 || !at->n)
        return false;
    s->m = at->elements * table->dim[1];
    s->bytes = 2 * s->m * s->type->bytes + 8 * at->elements;
    return true;
}

/* False: its sizes are not those that the operator has. */
static bool shape_of(const char *dims, const char *kinds, size_t op, bool causal, metric_kernel_shape *s)
{
    const uint32_t first = ops[op].first;
    const op_form form = ops[op].form;
    inputs in;

    *s = (metric_kernel_shape){
        .class = ops[op].class, .n = 1, .k = 1, .batch = 1, .operations = NAN, .bytes = NAN};
    if (!parse_dims(dims, &in) || first >= in.n)
        return false;
    parse_types(kinds, &in);
    s->type = in.of[first].type;
    if (form == FORM_ALL || form == FORM_INTO)
        return all_of(&in, form == FORM_INTO, s);
    if (!s->type)
        return false;
    if (form == FORM_ROWS)
        return rows_of(&in, s);
    if (form == FORM_PRODUCT || form == FORM_BATCHES)
        return product_of(&in, first, form == FORM_BATCHES, s);
    return attention_of(&in, first, form == FORM_HEADS_TOKENS, s->class == METRIC_SHAPE_ATTENTION_BACKWARD,
                        causal, s);
}

/* Its place; a new one for a new shape. */
static size_t place_of(collected *c, const metric_kernel_shape *s)
{
    char key[256];
    int n = snprintf(key, sizeof key, "%d|%s|%.17g|%.17g|%.17g|%.17g|%.17g", s->class,
                     s->type ? s->type->type : "", s->m, s->n, s->k, s->batch, s->bytes);
    size_t place = trace_names_add(&c->keys, key, (size_t)n);

    if (place == c->n) {
        DSE_GROW(c->item, c->cap, c->n + 1);
        c->item[c->n++] = (samples){.of = *s};
    }
    return place;
}

static void add_sample(collected *c, size_t place, int64_t ps)
{
    samples *to = &c->item[place];

    DSE_GROW(to->ps, to->cap, to->n + 1);
    to->ps[to->n++] = (double)ps;
    to->sum_ps += (double)ps;
    c->attributed_ps += (double)ps;
}

/* ---- a rank ---------------------------------------------------------------------------------- */

/* The operators' calls that have sizes. */
static metric_nest list_calls(const trace_rank *r, dse_arena *a)
{
    metric_events calls = {0};

    metric_room(&calls, (uint32_t)r->n_events, a);
    for (size_t i = 0; i < r->n_events; i++)
        if (r->event[i].args != DSE_NONE && r->args[r->event[i].args].input_dims != DSE_NONE)
            calls.event[calls.n++] = (uint32_t)i;
    return metric_nest_of(r, &calls, a);
}

static size_t op_of(const char *name)
{
    size_t i = 0;

    while (i < N_OPS && !metric_is_among(ops[i].names, name))
        i++;
    return i;
}

/* The shape of an operator's call; false: it has no row, or not the sizes that the row is of. */
static bool shape_of_call(const trace_rank *r, const trace_event *e, bool causal, metric_kernel_shape *s)
{
    const trace_args *a = &r->args[e->args];
    const size_t op = op_of(METRIC_TEXT_OF(r, e));

    return op < N_OPS &&
           shape_of(TRACE_NAME(r, a->input_dims),
                    a->input_types == DSE_NONE ? "" : TRACE_NAME(r, a->input_types), op, causal, s);
}

/* The place of the call that launched the i-th kernel; DSE_NONE. */
static uint32_t call_of(const metric_nest *calls, const metric_view *v, uint32_t i)
{
    const trace_event *launch = v->launch[i] == DSE_NONE ? NULL : &v->rank->event[v->launch[i]];

    return launch ? metric_nest_at(calls, launch->lane, launch->start_ps) : DSE_NONE;
}

/* Adds the calls that have kernels, whose times these are; -1: none. What operators and arguments come to is
 * asked once for each two: they are a few thousand, and the calls millions. */
static void add_calls(const trace_rank *r, const metric_nest *calls, const int64_t *kernels_ps, bool causal,
                      collected *out)
{
    trace_pairs places = {0};

    for (uint32_t i = 0; i < calls->n; i++) {
        const trace_event *e = &r->event[calls->item[i].event];
        metric_kernel_shape s;
        uint32_t *place;
        bool is_new;

        if (kernels_ps[i] < 0)
            continue;
        place = trace_pairs_at(&places, e->args, e->name, &is_new);
        if (is_new)
            *place = shape_of_call(r, e, causal, &s) ? (uint32_t)place_of(out, &s) : DSE_NONE;
        if (*place != DSE_NONE)
            add_sample(out, *place, kernels_ps[i]);
    }
    trace_pairs_free(&places);
}

/* A simulated kernel, which says its class and shape; its bytes are not known. */
static bool simulated_shape(const trace_rank *r, const trace_args *a, metric_kernel_shape *s)
{
    const char *name = a ? TRACE_NAME(r, a->kernel_class) : NULL;

    *s = (metric_kernel_shape){.n = 1, .k = 1, .batch = 1, .operations = NAN, .bytes = NAN};
    for (int c = METRIC_SHAPE_MATMUL; name && c < METRIC_SHAPE_CLASSES; c++) {
        if (strcmp(name, metric_shape_class_name[c]) != 0 || a->m == TRACE_UNKNOWN)
            continue;
        s->class = (metric_shape_class)c;
        s->m = (double)a->m;
        if (multiplies(s->class) && a->n != TRACE_UNKNOWN && a->k != TRACE_UNKNOWN) {
            s->n = (double)a->n;
            s->k = (double)a->k;
            s->batch = a->batch == TRACE_UNKNOWN ? 1 : (double)a->batch;
            s->operations = 2 * s->m * s->n * s->k * s->batch;
        }
        return true;
    }
    return false;
}

static void collect(const metric_view *v, bool causal, dse_arena *scratch, collected *out)
{
    const trace_rank *r = v->rank;
    const metric_nest calls = list_calls(r, scratch);
    int64_t *kernels_ps = DSE_ARENA_NEW(scratch, int64_t, calls.n);

    for (uint32_t i = 0; i < calls.n; i++)
        kernels_ps[i] = -1;
    for (uint32_t i = 0; i < v->kernels.n; i++) {
        const trace_event *e = &r->event[v->kernels.event[i]];
        const uint32_t of = call_of(&calls, v, i);
        metric_kernel_shape s;

        if (of != DSE_NONE) {
            kernels_ps[of] = (kernels_ps[of] < 0 ? 0 : kernels_ps[of]) + e->dur_ps;
        } else if (simulated_shape(r, metric_args_of(r, e), &s)) {
            add_sample(out, place_of(out, &s), e->dur_ps);
        }
    }
    add_calls(r, &calls, kernels_ps, causal, out);
    for (uint32_t i = 0; i < v->compute.n; i++)
        out->all_ps += (double)r->event[v->compute.event[i]].dur_ps;
}

metric_kernel_shape *metric_kernel_shapes_of(const metric_view *v, dse_arena *a)
{
    const trace_rank *r = v->rank;
    const metric_nest calls = list_calls(r, a);
    metric_kernel_shape *out = DSE_ARENA_NEW(a, metric_kernel_shape, (size_t)v->kernels.n + 1);

    for (uint32_t i = 0; i < v->kernels.n; i++) {
        const uint32_t of = call_of(&calls, v, i);
        metric_kernel_shape s;

        if (of != DSE_NONE && shape_of_call(r, &r->event[calls.item[of].event], false, &s))
            out[i] = s;
    }
    return out;
}

/* ---- what is said ---------------------------------------------------------------------------- */

/* By class, then the one that takes most time first. */
static int by_class_and_time(const void *a, const void *b)
{
    const samples *x = a, *y = b;

    if (x->of.class != y->of.class)
        return x->of.class < y->of.class ? -1 : 1;
    if (x->sum_ps < y->sum_ps || x->sum_ps > y->sum_ps)
        return x->sum_ps > y->sum_ps ? -1 : 1;
    return (x->of.bytes < y->of.bytes) - (x->of.bytes > y->of.bytes);
}

static void put_rates(metric_value *to, double operations, double bytes, double ps)
{
    if (!isnan(operations))
        metric_put_ratio(to, "tflops_per_s", operations, ps, "it takes no time");
    if (!isnan(bytes))
        metric_put_ratio(to, "gb_per_s", bytes * 1e3, ps, "it takes no time");
}

static void put_shape(samples *s, metric_value *list)
{
    metric_value *to = metric_put_object(list, NULL);
    double median;

    metric_sort(s->ps, s->n);
    median = metric_quantile(s->ps, s->n, 0.5);
    if (s->of.type)
        metric_put_text(to, "dtype", s->of.type->word);
    metric_put_count(to, multiplies(s->of.class) ? "m" : "elements", (uint64_t)s->of.m);
    if (multiplies(s->of.class)) {
        metric_put_count(to, "n", (uint64_t)s->of.n);
        metric_put_count(to, "k", (uint64_t)s->of.k);
        metric_put_count(to, "batch", (uint64_t)s->of.batch);
    }
    metric_put_count(to, "calls", s->n);
    metric_put_number(to, "median_us", median / TRACE_PS_PER_US);
    if (!isnan(s->of.operations))
        metric_put_number(to, "operations", s->of.operations);
    if (!isnan(s->of.bytes))
        metric_put_number(to, "bytes", s->of.bytes);
    put_rates(to, s->of.operations, s->of.bytes, median);
}

static void put_class(samples *s, size_t n, metric_value *classes)
{
    metric_value *to = metric_put_object(classes, metric_shape_class_name[s->of.class]), *list;
    double operations = multiplies(s->of.class) ? 0 : NAN, bytes = 0, ps = 0;
    size_t calls = 0;

    for (size_t i = 0; i < n; i++) {
        operations += s[i].of.operations * (double)s[i].n;
        bytes += s[i].of.bytes * (double)s[i].n;
        ps += s[i].sum_ps;
        calls += s[i].n;
    }
    metric_put_count(to, "calls", calls);
    metric_put_number(to, "time_ms", ps / TRACE_PS_PER_MS);
    put_rates(to, operations, bytes, ps);
    list = metric_put_list(to, "shapes");
    for (size_t i = 0; i < n; i++)
        put_shape(&s[i], list);
}

static void put_all(collected *c, metric_value *out)
{
    metric_value *classes;
    double operations = 0, ps = 0;

    qsort(c->item, c->n, sizeof *c->item, by_class_and_time);
    for (size_t i = 0; i < c->n; i++)
        if (multiplies(c->item[i].of.class)) {
            operations += c->item[i].of.operations * (double)c->item[i].n;
            ps += c->item[i].sum_ps;
        }
    metric_put_ratio(out, "tflops_per_s", operations, ps,
                     "no operator of the trace multiplies matrices whose sizes it says");
    metric_put_ratio(out, "attributed", c->attributed_ps, c->all_ps, "kernels take no time");
    classes = metric_put_object(out, "classes");
    for (size_t i = 0, n; i < c->n; i += n) {
        n = 1;
        while (i + n < c->n && c->item[i + n].of.class == c->item[i].of.class)
            n++;
        put_class(&c->item[i], n, classes);
    }
}

static dse_status kernel_shapes(const metric_context *x, metric_value *out, dse_error *err)
{
    collected c = {0};
    dse_status st = DSE_OK;

    for (uint32_t i = 0; i < x->n_views; i++)
        collect(&x->view[i], x->options->causal, metric_scratch(x), &c);
    if (c.n)
        put_all(&c, out);
    else
        st = metric_absent(
            err, "no operator that launched a kernel says the sizes of its inputs (torch.profiler writes "
                 "them with record_shapes)");
    for (size_t i = 0; i < c.n; i++)
        dse_free(c.item[i].ps);
    dse_free(c.item);
    trace_names_free(&c.keys);
    return st;
}

static const metric rows[] = {
    {METRIC_ROW("kernel_shapes", "kineto", "TFLOP/s", METRIC_ON_HOST, METRIC_NEEDS_GPU,
                "achieved TFLOP/s of products and attention, and GB/s of other kernels, by class and shape"),
     .compute = kernel_shapes, .headline = "tflops_per_s"},
};

METRIC_FAMILY(kernel_shapes);
