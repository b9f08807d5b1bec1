/* What the rows of STAGE's main branch make: shapes, operations, texts, and which of them are of weights. */
#include "base/array.h"
#include "workload/stage_main_rows.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const wl_stage_versions[] = {[WL_STAGE_RECOMP] = "recomp", [WL_STAGE_MAIN] = "main", NULL};

const char *const wl_main_models[WL_MAIN_N_MODELS + 1] = {[WL_MAIN_DENSE] = "dense",
                                                          [WL_MAIN_LLAMA] = "llama",
                                                          [WL_MAIN_GPT] = "gpt",
                                                          [WL_MAIN_MOE] = "moe",
                                                          [WL_MAIN_DEBUG] = "debug"};

/* The symbols; numbers that shapes have as factors are symbols, too. */
static const char *const symbol_names[] = {
    "MicroBatch", "Seq",      "Dmodel", "Dff", "Dvocal", "Head", "KVHead", SM_SUM_OF_HEADS,
    "Experts",    "KExperts", "dp",     "tp",  "cp",     "ep",   "2",      "3"};
enum { QKV_HEADS = 7, KEXPERTS = 9, N_SYMBOLS = DSE_COUNT(symbol_names) };
_Static_assert(N_SYMBOLS <= WL_MAX_SYMBOLS && SM_AXES == KEXPERTS + 1, "the axes come after the sizes");

const char *sm_op_name(sm_op op)
{
    static const char *const names[] = {
        [SM_PLACEHOLDER] = "T", [SM_EINSUM] = "M",      [SM_ADD] = "A",     [SM_ELEMENT] = "E",
        [SM_ELEMENT2] = "E2",   [SM_IDENTICAL] = "I",   [SM_RESHAPE] = "R", [SM_SLICE] = "SLICE",
        [SM_BROADCAST] = "B",   [SM_CUSTOM] = "CUSTOM", [SM_SHADOW] = "S"};

    return names[op];
}

/* ---- shapes -------------------------------------------------------------------------------- */

/* What a block of rows stands in. */
typedef struct {
    const char *prefix;     /* of names; "" */
    uint32_t first;         /* kind with this prefix */
    const char *din, *dout; /* of an embedding */
    bool is_expert;
} place;

bool wl_stage_main_groups_heads(const wl_main_options *o)
{
    return o->model_type == WL_MAIN_MOE ||
           (o->mixed_precision && (o->model_type == WL_MAIN_DENSE || o->model_type == WL_MAIN_LLAMA));
}

/* Which rows of the tables a model has (SM_OWN_HEADS, ...). */
static unsigned traits_of(const wl_main_options *o)
{
    const bool has_experts = o->model_type == WL_MAIN_MOE, grouped = wl_stage_main_groups_heads(o);

    return (has_experts ? SM_EXPERTS : SM_NO_EXPERTS) | (grouped ? SM_GROUPED_HEADS : SM_OWN_HEADS) |
           (grouped && !has_experts ? SM_THREE_MATRICES : SM_TWO_MATRICES);
}

static bool is_tp_alone(const wl_main_options *o)
{
    return !o->tpsp && o->model_type != WL_MAIN_DEBUG && !wl_stage_main_groups_heads(o);
}

static wl_dim dim_of(const sm_template *t, const place *p, char c)
{
    const sm_letter *l = sm_letter_find(c);
    const char *text;
    char buf[64];
    wl_dim d = {{0}};
    dse_error err = DSE_ERROR_INIT;
    dse_status st;

    text = l->text;
    if (l->tp && is_tp_alone(t->options))
        text = l->tp;
    else if (l->gpt && !wl_stage_main_groups_heads(t->options))
        text = l->gpt;
    else if (l->expert && p->is_expert)
        text = l->expert;
    if (c == 'i' || c == 'o') {
        snprintf(buf, sizeof buf, "%s%s", c == 'i' ? p->din : p->dout,
                 text + strlen(c == 'i' ? "Din" : "Dout"));
        text = buf;
    } else if (c == 'q' && wl_stage_main_groups_heads(t->options)) {
        d.power[QKV_HEADS] = 1;
        d.power[SM_AXES + SM_TP] = -1;
        return d;
    }
    st = wl_dim_parse(&t->symbols, text, &d, &err);
    assert(st == DSE_OK && "the letters are dimensions");
    (void)st;
    return d;
}

static wl_shape shape_of(const sm_template *t, const place *p, const char *letters_of)
{
    wl_shape s = {.n = 0};

    for (const char *c = letters_of; c && *c; c++)
        if (*c != ' ')
            s.dim[s.n++] = dim_of(t, p, *c);
    return s;
}

/* The sum of a layer's weights, as STAGE's sympy orders its terms. */
typedef struct {
    uint32_t n;
    wl_dim term[4];
    double scale[4];
    const char *text;
} weight_sum;

static weight_sum sum_of_weights(const sm_template *t)
{
    const wl_main_options *o = t->options;
    const place p = {.prefix = ""};
    const int64_t experts = o->model_type == WL_MAIN_MOE ? o->experts / o->ep : 1;
    const bool grouped = wl_stage_main_groups_heads(o);
    const int64_t matrices = grouped && o->model_type != WL_MAIN_MOE ? 3 : 2 * experts;
    weight_sum s = {.n = 0};
    wl_shape ffn = shape_of(t, &p, "d F"), heads = shape_of(t, &p, "d n q"), whole = shape_of(t, &p, "d n h"),
             route = shape_of(t, &p, "e x");

    s.term[s.n] = wl_shape_elements(&ffn);
    s.scale[s.n++] = (double)matrices;
    s.term[s.n] = wl_shape_elements(&whole);
    s.scale[s.n++] = grouped ? 1 : 4;
    if (grouped) {
        s.term[s.n] = wl_shape_elements(&heads);
        s.scale[s.n++] = 1;
    }
    if (o->model_type == WL_MAIN_MOE) {
        s.term[s.n] = wl_shape_elements(&route);
        s.scale[s.n++] = 1;
    }
    s.text = dse_arena_printf(t->arena, "%lld*Dff*Dmodel/tp + %s%s", (long long)matrices,
                              grouped ? "Dmodel**2/tp + Dmodel**2*" SM_SUM_OF_HEADS "/(Head*tp)"
                                      : "4*Dmodel**2/tp",
                              o->model_type == WL_MAIN_MOE ? " + Dmodel*KExperts/ep" : "");
    return s;
}

static sm_shape sum_shape(const sm_template *t, sm_sum sum)
{
    sm_shape s = {.shape = {.n = 1}, .sum = sum};

    s.shape.dim[0].power[SM_AXES + SM_TP] = -1;
    if (t->options->model_type == WL_MAIN_MOE)
        s.shape.dim[0].power[SM_AXES + SM_EP] = -1;
    if (sum == SM_WEIGHT_SHARD && t->options->weight_sharded)
        s.shape.dim[0].power[SM_AXES + SM_DP] = -1;
    return s;
}

static void measure_sum(const sm_template *t, sm_kind *k)
{
    weight_sum s = sum_of_weights(t);
    wl_dim shard = {{0}};

    shard.power[SM_AXES + SM_DP] = -1;
    if (k->y.sum == SM_WEIGHT_SHARD && t->options->weight_sharded) {
        k->text = dse_arena_printf(t->arena, "(%s)/dp", s.text);
        k->elements = wl_sum_value(&t->symbols, s.term, s.scale, s.n, &shard);
    } else {
        k->text = s.text;
        k->elements = wl_sum_value(&t->symbols, s.term, s.scale, s.n, NULL);
    }
}

/* ---- what a row makes ------------------------------------------------------------------------ */

static wl_dim letter_of(const char *einsum, char c, const wl_shape *x1, const wl_shape *x2)
{
    uint32_t i = 0;

    for (; einsum[i] != ','; i++)
        if (einsum[i] == c)
            return x1->dim[i];
    einsum += i + 1;
    for (i = 0; einsum[i] != c; i++)
        assert(einsum[i] != '-' && "every letter has a dimension");
    return x2->dim[i];
}

static wl_dim contract(sm_kind *k, const char *einsum)
{
    const char *result = strchr(einsum, '>') + 1;
    wl_dim product = {{0}}, summed;

    k->hidden.n = 0;
    for (const char *c = result; *c; c++)
        k->y.shape.dim[k->y.shape.n++] = letter_of(einsum, *c, &k->x1_shape.shape, &k->x2_shape.shape);
    for (const char *c = einsum; *c != ','; c++)
        if (!strchr(result, *c))
            k->hidden.dim[k->hidden.n++] = letter_of(einsum, *c, &k->x1_shape.shape, &k->x2_shape.shape);
    product = wl_shape_elements(&k->y.shape);
    summed = wl_shape_elements(&k->hidden);
    wl_dim_multiply(&product, &summed);
    return product;
}

/* The shape and text of the result, elements and operations. */
static void work_out(const sm_template *t, const place *p, sm_kind *k, const char *how)
{
    double scale = 1;
    wl_dim counted;
    dse_strbuf text = dse_strbuf_in(t->arena);

    switch (k->op) {
    case SM_EINSUM: counted = contract(k, how); break;
    case SM_CUSTOM:
        k->y = k->x2_shape;
        scale = strtod(how, NULL);
        counted = wl_shape_elements(&k->x1_shape.shape);
        break;
    case SM_RESHAPE:
        k->y = k->x2_shape;
        counted = wl_shape_elements(&k->y.shape);
        break;
    case SM_SLICE:
        k->y = k->x1_shape;
        k->y.shape.dim[how[0] - '0'] = dim_of(t, p, how[1]);
        counted = wl_shape_elements(&k->y.shape);
        break;
    case SM_BROADCAST:
        k->y = k->x1_shape;
        k->y.shape.dim[1].power[KEXPERTS] =
            (int8_t)(k->y.shape.dim[1].power[KEXPERTS] + (*how == '*' ? 1 : -1));
        counted = wl_shape_elements(&k->y.shape);
        break;
    case SM_ELEMENT:
    case SM_ELEMENT2:
    case SM_ADD:
        k->y = k->x1_shape;
        scale = how ? strtod(how, NULL) : 1;
        counted = wl_shape_elements(&k->y.shape);
        break;
    default:
        k->y = k->x1_shape;
        scale = 0;
        counted = (wl_dim){{0}};
    }
    k->operations = scale > 0 ? wl_dim_value(&t->symbols, &counted, scale) : 0;
    if (k->y.sum != SM_PRODUCT) {
        measure_sum(t, k);
    } else {
        counted = wl_shape_elements(&k->y.shape);
        k->elements = wl_dim_value(&t->symbols, &counted, 1);
        wl_shape_print(&t->symbols, &k->y.shape, &text);
        k->text = dse_strbuf_take(&text, t->arena);
    }
}

/* What the branch says of a tensor's size: elements, those of weights with an optimizer's, and in mixed
 * precision something like bytes. */
static void measure(const sm_template *t, sm_kind *k)
{
    const wl_main_options *o = t->options;
    const bool mixed = o->mixed_precision && o->model_type != WL_MAIN_DEBUG;
    const double optimizer = k->is_weight ? k->elements * 4 : 0;
    double size = k->elements;

    if (o->weight_sharded && o->dp > 1 && k->is_transient) {
        k->stored = 0;
        k->stored_whole = true;
        return;
    }
    if (mixed)
        size = (double)(int64_t)(size * (k->is_weight ? 1.5 : 0.5)) * 4;
    k->stored = size + optimizer;
    k->stored_whole = mixed && !k->is_weight;
}

/* ---- rows to kinds --------------------------------------------------------------------------- */

/* A row by its name in the block of rows from `first` on that have this prefix, else by its whole name. */
static uint32_t find(const sm_template *t, uint32_t first, const char *prefix, const char *name)
{
    const size_t n = strlen(prefix);

    for (uint32_t i = first; i < t->n && !strncmp(t->kind[i].name, prefix, n); i++)
        if (!strcmp(t->kind[i].name + n, name))
            return i;
    for (uint32_t i = 0; i < t->n; i++)
        if (!strcmp(t->kind[i].name, name))
            return i;
    assert(false && "every operand is a row");
    return DSE_NONE;
}

static bool is_gradient_name(const char *name)
{
    const char *dot = strrchr(name, '.');

    return (dot ? dot[1] : *name) == 'd';
}

static sm_kind *add_kind(sm_template *t, const char *name, sm_op op)
{
    sm_kind *k;

    DSE_ARENA_GROW(t->arena, t->kind, t->cap, t->n + 1);
    k = &t->kind[t->n++];
    *k = (sm_kind){.name = name,
                   .op = op,
                   .x1 = DSE_NONE,
                   .x2 = DSE_NONE,
                   .is_transient =
                       is_gradient_name(name) || strstr(name, "_backward") || strstr(name, "_assembled_"),
                   .met = {{.from = DSE_NONE}, {.from = DSE_NONE}}};
    return k;
}

/* Rows waiting for their operands, which may come later. */
typedef struct {
    const sm_row *r; /* NULL: it has them */
    const char *prefix;
    uint32_t first; /* of the rows with this prefix */
} waiting;

typedef struct {
    sm_template *t;
    size_t n, cap;
    waiting *of; /* by kind, from the block's first */
} block;

static void add_rows(block *b, const place *p, const sm_rows *rows)
{
    sm_template *t = b->t;
    const unsigned traits = traits_of(t->options);

    for (size_t i = 0; i < rows->n; i++) {
        const sm_row *r = &rows->row[i];
        sm_kind *k;

        if (r->only && !(r->only & traits))
            continue;
        k = add_kind(t, *p->prefix ? dse_arena_printf(t->arena, "%s%s", p->prefix, r->name) : r->name, r->op);
        k->x1_shape.shape = shape_of(t, p, r->x1_shape);
        k->x2_shape.shape = shape_of(t, p, r->x2_shape);
        k->hidden = shape_of(t, p, r->hidden);
        if (r->op == SM_ADD)
            k->x1_hidden = k->x2_hidden = k->hidden;
        if (r->op == SM_CUSTOM && !r->x1_shape)
            k->x1_shape = sum_shape(t, SM_ALL_WEIGHTS);
        work_out(t, p, k, r->how);
        DSE_ARENA_GROW(t->arena, b->of, b->cap, b->n + 1);
        b->of[b->n++] = (waiting){r, p->prefix, p->first};
    }
}

/* Operands and weights; `weight` has room for all rows. */
static uint32_t connect_rows(block *b, uint32_t first, uint32_t *weight)
{
    sm_template *t = b->t;
    uint32_t n = 0, *deps;

    for (size_t i = 0; i < b->n; i++) {
        const waiting *w = &b->of[i];
        sm_kind *k = &t->kind[first + i];

        if (!w->r)
            continue;
        if (w->r->op == SM_CUSTOM && !w->r->x1)
            weight[n++] = first + (uint32_t)i;
        if (w->r->x1)
            k->x1 = find(t, w->first, w->prefix, w->r->x1);
        if (w->r->x2)
            k->x2 = find(t, w->first, w->prefix, w->r->x2);
        if (!w->r->deps[0])
            continue;
        k->deps = deps = DSE_ARENA_NEW(t->arena, uint32_t, 2);
        for (k->n_deps = 0; k->n_deps < 2; k->n_deps++)
            deps[k->n_deps] = find(t, w->first, w->prefix, w->r->deps[k->n_deps]);
    }
    return n;
}

/* The sum of what the experts give back, two at a time; the last alone counts operations. */
static void add_reduction(block *b, const uint32_t *from, const char *name, uint32_t n)
{
    sm_template *t = b->t;
    const place p = {.prefix = ""};
    uint32_t last = from[0];

    for (uint32_t i = 1; i < n; i++) {
        sm_kind *k = add_kind(t, dse_arena_printf(t->arena, "moe.%s_r%u", name, i), SM_ELEMENT2);

        k->x1 = last;
        k->x2 = from[i];
        k->x1_shape.shape = k->x2_shape.shape = shape_of(t, &p, "b r d");
        work_out(t, &p, k, i + 1 < n ? "0" : "1");
        DSE_ARENA_GROW(t->arena, b->of, b->cap, b->n + 1);
        b->of[b->n++] = (waiting){NULL, "", 0};
        last = t->n - 1;
    }
    t->kind[find(t, 0, "", dse_arena_printf(t->arena, "moe.%s", name))].x1 = last;
}

/* The weights of a layer as one: gathered for the forward and once more for the backward pass, and the
 * gradients put together and reduced. */
static void add_layer_weight(sm_template *t, const uint32_t *weight, uint32_t n)
{
    enum { SHARD, GATHERED, REDUCED, TOGETHER, N_WHOLE };
    static const char *const names[] = {"_sharded_weight", "_assembled_weight", "_sharded_grad",
                                        "_assembled_grad"};
    static const sm_op ops[] = {SM_PLACEHOLDER, SM_IDENTICAL, SM_IDENTICAL, SM_CUSTOM};
    const sm_shape all = sum_shape(t, SM_ALL_WEIGHTS), shard = sum_shape(t, SM_WEIGHT_SHARD);
    const place p = {.prefix = ""};
    const uint32_t first = t->n, views = first + N_WHOLE;
    uint32_t *gradient = DSE_ARENA_NEW(t->arena, uint32_t, n);

    for (uint32_t i = 0; i < n; i++) {
        const char *name = t->kind[weight[i]].name;
        const int stem = (int)(strrchr(name, '.') + 1 - name);

        gradient[i] = find(t, 0, "", dse_arena_printf(t->arena, "%.*sd%s", stem, name, name + stem));
        t->kind[weight[i]].x1 = first + GATHERED;
    }
    for (uint32_t i = 0; i < N_WHOLE; i++) {
        sm_kind *k = add_kind(t, names[i], ops[i]);
        const sm_kind *one = &t->kind[gradient[0]];

        k->is_weight = i == SHARD;
        k->x1 = i == SHARD      ? DSE_NONE
                : i == GATHERED ? first + SHARD
                : i == REDUCED  ? first + TOGETHER
                                : gradient[0];
        k->x1_shape = i == GATHERED ? all : i == TOGETHER ? one->y : shard;
        if (i == TOGETHER) {
            k->x2_shape = all;
            k->x1_hidden = k->hidden = one->hidden;
            k->deps = gradient + 1;
            k->n_deps = n - 1;
        }
        work_out(t, &p, k, "0");
    }
    for (uint32_t i = 0; i <= n; i++) {
        const char *of = i < n ? t->kind[weight[i]].name : "_assembled_weight";
        const bool is_view = i < n;
        sm_kind *k = add_kind(t, dse_arena_printf(t->arena, is_view ? "_%s_backward" : "%s_backward", of),
                              is_view ? SM_CUSTOM : SM_IDENTICAL);

        k->x1 = is_view ? views + n : first + SHARD;
        k->x1_shape = all;
        if (is_view)
            k->x2_shape = t->options->whole_views ? all : t->kind[weight[i]].y;
        work_out(t, &p, k, "0");
    }
    for (uint32_t i = 0; i < first; i++)
        for (uint32_t w = 0; w < n && is_gradient_name(t->kind[i].name); w++) {
            if (t->kind[i].x1 == weight[w])
                t->kind[i].x1 = views + w;
            if (t->kind[i].x2 == weight[w])
                t->kind[i].x2 = views + w;
        }
    t->weight[t->n_weights++] = (sm_weight){.weight = first + SHARD, .gradient = first + REDUCED};
}

static void add_experts(block *b, uint32_t n)
{
    sm_template *t = b->t;
    const place p = {.prefix = ""};
    uint32_t *dx = DSE_ARENA_NEW(t->arena, uint32_t, n), *y = DSE_ARENA_NEW(t->arena, uint32_t, n), from;

    add_rows(b, &p, &sm_router_rows);
    for (uint32_t i = 0; i < n; i++) {
        const place e = {
            .prefix = dse_arena_printf(t->arena, "moe.%u.", i), .first = t->n, .is_expert = true};

        add_rows(b, &e, &sm_expert_rows);
        add_rows(b, &e, &sm_ffn_rows);
        from = find(t, e.first, e.prefix, "ffn.dxdown"); /* of the expert, not of the layer */
        t->kind[from].x1 = find(t, e.first, e.prefix, "ldis.dy_expert");
        b->of[from].r = NULL;
        dx[i] = find(t, e.first, e.prefix, "ldis.dx");
        y[i] = find(t, e.first, e.prefix, "ldis.y");
    }
    add_reduction(b, dx, "dxrouted", n);
    add_reduction(b, y, "yrouted", n);
}

static void add_layer(sm_template *t)
{
    const wl_main_options *o = t->options;
    const place p = {.prefix = ""};
    const bool has_experts = o->model_type == WL_MAIN_MOE;
    block b = {.t = t};
    uint32_t *weight, n;

    add_rows(&b, &p, &sm_layer_rows);
    if (has_experts)
        add_experts(&b, (uint32_t)(o->experts / o->ep));
    else
        add_rows(&b, &p, &sm_ffn_rows);
    add_rows(&b, &p, &sm_end_rows);
    weight = DSE_ARENA_NEW(t->arena, uint32_t, t->n);
    n = connect_rows(&b, 0, weight);
    t->kind[find(t, 0, "", "ffn_res.x1")].x1 = find(t, 0, "", has_experts ? "moe.y" : "ffn.xdown");
    add_layer_weight(t, weight, n);
    t->n_layer = t->n;
    t->layer_in = find(t, 0, "", "input_norm.x");
    t->layer_out = find(t, 0, "", "ffn_res.y");
    t->layer_din = find(t, 0, "", "input_norm.dx");
    t->layer_dout = find(t, 0, "", "ffn_res.dy");
}

static uint32_t add_edge(sm_template *t, const sm_rows *rows, const place *where)
{
    place p = *where;
    block b = {.t = t};
    uint32_t *weight = DSE_ARENA_NEW(t->arena, uint32_t, rows->n);

    p.first = t->n;
    add_rows(&b, &p, rows);
    connect_rows(&b, p.first, weight);
    return p.first;
}

/* The tensor that adds up a weight's gradients of all micro-batches, and the updated weight. */
static void add_beyond(sm_template *t, sm_weight *w)
{
    sm_kind *k;

    if (!sm_is_plain(t)) {
        w->merged = t->n;
        k = add_kind(t, t->kind[w->gradient].name, SM_CUSTOM);
        k->y = k->x1_shape = t->kind[w->gradient].y;
        k->hidden = k->x1_hidden = t->kind[w->gradient].hidden;
        k->elements = k->operations = t->kind[w->gradient].elements;
        k->text = t->kind[w->gradient].text;
    } else {
        w->merged = w->gradient;
    }
    w->update = t->n;
    k = add_kind(t, t->kind[w->weight].name, SM_ADD);
    k->is_weight = true;
    k->y = k->x1_shape = k->x2_shape = t->kind[w->weight].y;
    k->elements = k->operations = t->kind[w->weight].elements;
    k->text = t->kind[w->weight].text;
}

dse_status wl_stage_main_check(const wl_main_options *o, dse_error *err)
{
    /* The output embedding has a stage of its own where it is on the last. */
    const int64_t most_stages = o->num_stacks + o->mixed_precision;

    if (!o->micro_batch || (o->batch % o->micro_batch && o->model_type != WL_MAIN_DEBUG && !o->copies_nodes))
        return dse_fail(
            err, DSE_E_CONFIG,
            "a batch of %lld is no multiple of the micro-batch, %lld; STAGE fails by an assertion",
            (long long)o->batch, (long long)o->micro_batch);
    if (!o->num_stacks && o->model_type != WL_MAIN_DEBUG)
        return dse_fail(err, DSE_E_CONFIG, "a model without layers, for which STAGE's branch main fails");
    if (o->model_type == WL_MAIN_MOE && !o->tpsp)
        return dse_fail(err, DSE_E_CONFIG,
                        "the model 'moe' has --tpsp true alone; STAGE fails by an assertion");
    if (o->model_type == WL_MAIN_MOE && o->copies_nodes)
        return dse_fail(err, DSE_E_CONFIG,
                        "the model 'moe' has no STAGE_MICROBATCH_OPTIMIZE; STAGE fails by an assertion");
    if (o->model_type == WL_MAIN_MOE && o->experts % o->ep)
        return dse_fail(err, DSE_E_CONFIG,
                        "%lld experts are no multiple of ep %lld; STAGE fails by an assertion",
                        (long long)o->experts, (long long)o->ep);
    if (o->model_type == WL_MAIN_DEBUG && o->pp != 1)
        return dse_fail(err, DSE_E_CONFIG,
                        "the model 'debug' has no pipeline: pp is 1, not %lld; STAGE fails by an "
                        "assertion",
                        (long long)o->pp);
    if (o->model_type != WL_MAIN_DEBUG && o->pp > most_stages)
        return dse_fail(err, DSE_E_CONFIG,
                        "pipeline stage %lld of %lld gets no layer of %lld; STAGE fails by an assertion",
                        (long long)o->num_stacks, (long long)o->pp, (long long)o->num_stacks);
    return DSE_OK;
}

/* What a tensor is to somebody who trains a model, by the branch's names. */
static wl_tensor_kind made_by(const sm_template *t, uint32_t kind)
{
    const char *name = t->kind[kind].name, *dot = strrchr(name, '.'), *last = dot ? dot + 1 : name;

    for (uint32_t i = 0; i < t->n_weights; i++)
        if (t->weight[i].update == kind)
            return WL_TENSOR_UPDATED_WEIGHT;
    if (strstr(name, "ed_grad") || !strncmp(last, "dw", 2))
        return WL_TENSOR_WEIGHT_GRADIENT;
    if (*last == 'w' || strstr(name, "ed_weight"))
        return WL_TENSOR_WEIGHT;
    if (kind == t->in_emb + SM_EMB_X)
        return WL_TENSOR_INPUT;
    return *last == 'd' ? WL_TENSOR_GRADIENT : WL_TENSOR_ACTIVATION;
}

dse_status sm_template_build(const wl_main_options *o, dse_arena *a, sm_template *out, dse_error *err)
{
    const bool is_debug = o->model_type == WL_MAIN_DEBUG, has_ep = is_debug || o->model_type == WL_MAIN_MOE;
    const int64_t tp = o->tp * (has_ep ? 1 : o->ep);
    const int64_t values[N_SYMBOLS] = {o->micro_batch, o->seq,      o->dmodel, o->dff,
                                       o->dvocal,      o->head,     o->kvhead, o->head + 2 * o->kvhead,
                                       o->experts,     o->kexperts, o->dp,     tp,
                                       o->sp,          o->ep,       2,         3};
    const place in = {
        .prefix = is_debug ? "" : "in_emb.", .din = "Dvocal", .dout = is_debug ? "Dvocal" : "Dmodel"};
    const place last = {.prefix = "out_emb.", .din = "Dmodel", .dout = "Dvocal"}, end = {.prefix = "loss."};
    sm_template *t = out;
    dse_status st = wl_stage_main_check(o, err);

    if (st != DSE_OK)
        return st;
    *t = (sm_template){.options = o, .arena = a, .symbols = {.n = N_SYMBOLS}, .n_axes = has_ep ? 4 : 3};
    memcpy(t->symbols.name, symbol_names, sizeof symbol_names);
    memcpy(t->symbols.value, values, sizeof values);
    for (int i = 0; i < SM_N_AXES; i++)
        t->degree[i] = (uint32_t)values[SM_AXES + i];
    if (!is_debug)
        add_layer(t);
    t->in_emb = add_edge(t, &sm_embedding_rows, &in);
    t->kind[t->in_emb + SM_EMB_W].is_weight = true;
    t->weight[t->n_weights++] =
        (sm_weight){.weight = t->in_emb + SM_EMB_W, .gradient = t->in_emb + SM_EMB_DW};
    if (!is_debug) {
        t->out_emb = add_edge(t, &sm_embedding_rows, &last);
        t->loss = add_edge(t, &sm_loss_rows, &end);
        t->kind[t->out_emb + SM_EMB_W].is_weight = true;
        t->kind[t->in_emb + SM_EMB_DY].op = SM_IDENTICAL;
        t->kind[t->out_emb + SM_EMB_DY].op = t->kind[t->out_emb + SM_EMB_X].op = SM_IDENTICAL;
        t->weight[t->n_weights++] =
            (sm_weight){.weight = t->out_emb + SM_EMB_W, .gradient = t->out_emb + SM_EMB_DW};
    }
    t->beyond = t->n;
    for (uint32_t i = 0; i < t->n_weights; i++)
        add_beyond(t, &t->weight[i]);
    for (uint32_t i = 0; i < t->n; i++) {
        measure(t, &t->kind[i]);
        t->kind[i].makes = (uint8_t)made_by(t, i);
    }
    return DSE_OK;
}
