#include "workload/operators.h"

#include "base/names.h"
#include "base/units.h"
#include "workload/axes.h"
#include "workload/pass.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *const link_names[WL_N_LINK_KINDS] = {
    [WL_LINK_WITHIN_LAYER] = "within_layer",
    [WL_LINK_FIRST_LAYER] = "first_layer",
    [WL_LINK_NEXT_LAYER] = "next_layer",
    [WL_LINK_LAST_LAYER] = "last_layer",
    [WL_LINK_LOSS] = "loss",
};

typedef struct {
    const cfg_doc *doc;
    dse_arena *arena;
    wl_operators *out;
    dse_error *err;
    const wl_dim (*rename)[2]; /* from, to: single symbols */
    uint32_t n_renames;
} resolver;

static dse_status fail(const resolver *r, const cfg_node *at, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

static dse_status fail(const resolver *r, const cfg_node *at, const char *fmt, ...)
{
    char text[400];
    cfg_place place;
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    return dse_fail_at(r->err, DSE_E_CONFIG, cfg_where(r->doc, at, &place), "%s", text);
}

static dse_status get_map(const resolver *r, const cfg_node *parent, const char *key, const cfg_node **out)
{
    const cfg_node *node = cfg_get(parent, key);

    *out = NULL;
    if (!node)
        return fail(r, parent, "'%s' is missing", key);
    if (node->kind != CFG_MAP)
        return fail(r, node, "'%s' must be a mapping", key);
    *out = node;
    return DSE_OK;
}

/* Every key of map must be one of the known ones. */
static dse_status only_keys(const resolver *r, const cfg_node *map, const char *const *known, size_t n)
{
    const cfg_node *other = cfg_other_key(map, 0, known, n);
    char list[256];

    if (!other)
        return DSE_OK;
    dse_join(list, sizeof list, known, n);
    return fail(r, other, "unknown key '%s'; known: %s", other->text, list);
}
#define ONLY_KEYS(r, map, ...)                                                                               \
    only_keys((r), (map), (const char *const[]){__VA_ARGS__},                                                \
              sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

/* No entry of `map` (NULL: there is none at all) of this name is of use. */
static dse_status fail_not_a_key(const resolver *r, const cfg_node *at, const char *what, const char *name,
                                 const cfg_node *map)
{
    uint32_t n_keys = map && map->kind == CFG_MAP ? map->n : 0, n = 0;
    const char **known = DSE_ARENA_NEW(r->arena, const char *, n_keys);
    char hint[WL_HINT_SIZE];

    for (uint32_t i = 0; i < n_keys; i++)
        if (strcmp(map->key[i]->text, name) != 0)
            known[n++] = map->key[i]->text;
    return fail(r, at, "no %s is called '%.60s'%s", what, name, wl_hint(hint, name, known, n));
}

/* ---- symbols and shapes -------------------------------------------------------------------- */

static dse_status read_symbols(resolver *r)
{
    wl_operators *o = r->out;
    const cfg_node *map;
    wl_symbols axes = {0};
    dse_status st = get_map(r, r->doc->root, "symbols", &map);
    uint32_t n_axes;

    if (st != DSE_OK)
        return st;
    wl_axes_add_symbols(&axes);
    n_axes = axes.n;
    if (map->n + n_axes > WL_MAX_SYMBOLS)
        return fail(r, map, "at most %" PRIu32 " symbols", WL_MAX_SYMBOLS - n_axes);
    for (uint32_t i = 0; i < map->n; i++) {
        const char *parameter; /* which size of a model card it is: for who fills in the values */

        if ((st = cfg_string(r->doc, map->item[i], "a symbol's parameter", &parameter, r->err)) != DSE_OK)
            return st;
        o->symbols.name[i] = map->key[i]->text;
    }
    o->symbols.n = map->n;
    wl_axes_add_symbols(&o->symbols);
    return DSE_OK;
}

static void apply_renames(const resolver *r, wl_dim *d)
{
    for (uint32_t k = 0; k < r->n_renames; k++) {
        for (int i = 0; i < WL_MAX_SYMBOLS; i++) {
            int8_t power = d->power[i];

            if (!power || !r->rename[k][0].power[i])
                continue;
            d->power[i] = 0;
            for (int j = 0; j < WL_MAX_SYMBOLS; j++)
                if (r->rename[k][1].power[j])
                    d->power[j] = (int8_t)(d->power[j] + power);
            break;
        }
    }
}

static dse_status read_dim(const resolver *r, const cfg_node *node, wl_dim *out)
{
    dse_error why = DSE_ERROR_INIT;

    if (node->kind != CFG_SCALAR)
        return fail(r, node, "a dimension must be a product of symbols");
    if (wl_dim_parse(&r->out->symbols, node->text, out, &why) != DSE_OK)
        return fail(r, node, "%s", why.text);
    apply_renames(r, out);
    return DSE_OK;
}

/* A list of dimensions, or the name of an entry of `shapes`. */
static dse_status read_shape(const resolver *r, const cfg_node *node, wl_shape *out)
{
    if (node->kind == CFG_SCALAR) {
        const cfg_node *shapes = cfg_get(r->doc->root, "shapes"), *named = cfg_get(shapes, node->text);

        if (!named || named->kind != CFG_LIST)
            return fail_not_a_key(r, node, "shape", node->text, shapes);
        node = named;
    }
    if (node->kind != CFG_LIST || node->n == 0 || node->n > WL_MAX_RANK)
        return fail(r, node, "a shape is a list of 1 to %d dimensions", WL_MAX_RANK);
    *out = (wl_shape){.n = node->n};
    for (uint32_t i = 0; i < node->n; i++) {
        dse_status st = read_dim(r, node->item[i], &out->dim[i]);
        if (st != DSE_OK)
            return st;
    }
    return DSE_OK;
}

/* ---- operators ----------------------------------------------------------------------------- */

/* A tensor that does not exist with these passes alone. */
static dse_status fail_absent(const resolver *r, const wl_block *b, const cfg_node *at, const wl_operator *op,
                              wl_passes with)
{
    uint32_t pass = 0;

    while (!(op->exists_with & ~with & WL_PASS_BIT(pass)))
        pass++;
    return fail(r, at, "the tensor '%.60s' of block '%.60s' is only there with %s", op->name, b->name,
                wl_pass_table[pass].name);
}

/* For a reader that exists with the passes in `with`. */
static dse_status find_tensor(const resolver *r, const wl_block *b, const cfg_node *at, const char *name,
                              wl_passes with, uint32_t *out)
{
    const char **known;
    char hint[WL_HINT_SIZE];
    uint32_t n = 0;

    for (*out = 0; *out < b->n; (*out)++)
        if (!strcmp(b->op[*out].name, name))
            return b->op[*out].exists_with & ~with ? fail_absent(r, b, at, &b->op[*out], with) : DSE_OK;
    known = DSE_ARENA_NEW(r->arena, const char *, b->n);
    for (uint32_t i = 0; i < b->n; i++)
        if (!(b->op[i].exists_with & ~with))
            known[n++] = b->op[i].name;
    return fail(r, at, "no tensor '%.60s' in block '%.60s'%s", name, b->name, wl_hint(hint, name, known, n));
}

/* "name[letters]" from *p on; letters of at most WL_MAX_RANK. */
static dse_status read_operand(const resolver *r, const wl_block *b, const cfg_node *at, const char **p,
                               wl_passes with, uint32_t *tensor, char letters[WL_MAX_RANK + 1])
{
    char name[64];
    size_t n = 0;

    while (**p == ' ')
        (*p)++;
    while ((isalnum((unsigned char)**p) || **p == '_') && n + 1 < sizeof name)
        name[n++] = *(*p)++;
    name[n] = '\0';
    if (!n || **p != '[')
        return fail(r, at, "an einsum reads \"x[bsm] w[mn] -> bsn\"");
    (*p)++;
    for (n = 0; islower((unsigned char)**p) && n < WL_MAX_RANK; n++)
        letters[n] = *(*p)++;
    letters[n] = '\0';
    if (!n || **p != ']')
        return fail(r, at, "an einsum reads \"x[bsm] w[mn] -> bsn\"");
    (*p)++;
    return find_tensor(r, b, at, name, with, tensor);
}

static dse_status letters_to_shape(const resolver *r, const cfg_node *at, const cfg_node *over,
                                   const char *letters, wl_shape *out)
{
    *out = (wl_shape){.n = (uint32_t)strlen(letters)};
    for (uint32_t i = 0; i < out->n; i++) {
        char key[2] = {letters[i], '\0'};
        const cfg_node *dim = cfg_get(over, key);
        dse_status st = dim ? read_dim(r, dim, &out->dim[i])
                            : fail(r, at, "'over' gives no dimension to the letter '%s'", key);
        if (st != DSE_OK)
            return st;
    }
    return DSE_OK;
}

/* Adds to the dimensions summed over those of the letters of an operand that neither the result nor `also`
 * has. */
static dse_status sum_over(const resolver *r, const cfg_node *at, const char *letters, const wl_shape *shape,
                           const char *result, const char *also, wl_operator *op)
{
    for (const char *c = letters; *c; c++) {
        if (strchr(result, *c) || strchr(also, *c))
            continue;
        if (op->y_reduced.n == WL_MAX_RANK)
            return fail(r, at, "more than %d letters are summed over", WL_MAX_RANK);
        op->y_reduced.dim[op->y_reduced.n++] = shape->dim[c - letters];
    }
    return DSE_OK;
}

/* The letters of two operands and the result, and what tells the forms that are written so apart. */
typedef struct {
    const cfg_node *text;
    char in1[WL_MAX_RANK + 1], in2[WL_MAX_RANK + 1];
    const char *result;
    bool is_lookup; /* which may have a letter in the result alone */
} contraction;

/* kernel.h says which letter belongs to which extent. */
static void measure_contraction(const contraction *c, wl_operator *op)
{
    for (const char *l = c->in1; *l; l++) {
        bool in_result = strchr(c->result, *l);
        int extent = !in_result ? WL_EXTENT_K : strchr(c->in2, *l) ? WL_EXTENT_BATCH : WL_EXTENT_M;

        wl_dim_multiply(&op->extent[extent], &op->x1_shape.dim[l - c->in1]);
    }
    for (const char *l = c->in2; *l; l++)
        if (!strchr(c->in1, *l))
            wl_dim_multiply(&op->extent[strchr(c->result, *l) ? WL_EXTENT_N : WL_EXTENT_K],
                            &op->x2_shape.dim[l - c->in2]);
}

/* Letters summed over are in both operands. */
static dse_status check_einsum(const resolver *r, const contraction *c, wl_operator *op)
{
    for (const char *l = c->in1; *l; l++)
        if (!strchr(c->result, *l) && !strchr(c->in2, *l))
            return fail(r, c->text, "the letter '%c' is summed over but only in one operand", *l);
    return sum_over(r, c->text, c->in1, &op->x1_shape, c->result, "", op);
}

/* A letter that one operand alone has may be summed over as well. */
static dse_status sum_over_both(const resolver *r, const contraction *c, wl_operator *op)
{
    dse_status st = sum_over(r, c->text, c->in1, &op->x1_shape, c->result, "", op);

    return st == DSE_OK ? sum_over(r, c->text, c->in2, &op->x2_shape, c->result, c->in1, op) : st;
}

/* The first operand has numbers of rows. Rows are a letter that it lacks and that of the second operand and
 * the result one has: rows are taken, or added up. */
static dse_status check_lookup(const resolver *r, const contraction *c, wl_operator *op)
{
    uint32_t taken = 0, added = 0;

    for (const char *l = c->in2; *l; l++)
        taken += !strchr(c->in1, *l) && !strchr(c->result, *l);
    for (const char *l = c->result; *l; l++)
        added += !strchr(c->in1, *l) && !strchr(c->in2, *l);
    if (taken + added != 1)
        return fail(r, c->text, "a lookup reads \"ids[bs] w[vm] -> bsm\" or \"ids[bs] dy[bsm] -> vm\"");
    op->rows = taken ? op->y_shape : op->x2_shape;
    return sum_over_both(r, c, op);
}

static dse_status read_contraction(const resolver *r, const wl_block *b, const cfg_node *map, wl_operator *op,
                                   contraction *c)
{
    const cfg_node *over;
    const char *p;
    dse_status st;

    if ((st = cfg_string(r->doc, c->text, "an einsum", &p, r->err)) != DSE_OK ||
        (st = get_map(r, map, "over", &over)) != DSE_OK ||
        (st = read_operand(r, b, c->text, &p, op->exists_with, &op->x1, c->in1)) != DSE_OK ||
        (st = read_operand(r, b, c->text, &p, op->exists_with, &op->x2, c->in2)) != DSE_OK)
        return st;
    while (*p == ' ')
        p++;
    if (strncmp(p, "-> ", 3) || !p[3] || strlen(p + 3) > WL_MAX_RANK)
        return fail(r, c->text, "an einsum reads \"x[bsm] w[mn] -> bsn\"");
    c->result = p + 3;
    for (const char *l = c->result; *l && !c->is_lookup; l++)
        if (!strchr(c->in1, *l) && !strchr(c->in2, *l))
            return fail(r, c->text, "the result's letter '%c' is in neither operand", *l);
    if ((st = letters_to_shape(r, c->text, over, c->in1, &op->x1_shape)) != DSE_OK ||
        (st = letters_to_shape(r, c->text, over, c->in2, &op->x2_shape)) != DSE_OK ||
        (st = letters_to_shape(r, c->text, over, c->result, &op->y_shape)) != DSE_OK)
        return st;
    measure_contraction(c, op);
    return DSE_OK;
}

static dse_status read_tensor_name(const resolver *r, const wl_block *b, const cfg_node *node, wl_passes with,
                                   uint32_t *out)
{
    const char *name;
    dse_status st = cfg_string(r->doc, node, "a tensor", &name, r->err);

    return st == DSE_OK ? find_tensor(r, b, node, name, with, out) : st;
}

/* A positive number under a key that need not be there. */
static dse_status read_factor(const resolver *r, const cfg_node *map, const char *key, double *out)
{
    const cfg_node *node = cfg_get(map, key);

    if (node &&
        (node->kind != CFG_SCALAR || dse_parse_double(node->text, out, NULL) != DSE_OK || !(*out > 0)))
        return fail(r, node, "'%s' must be a positive number", key);
    return DSE_OK;
}

/* ---- the forms of an operator: each reads what stands under its key ----------------------------- */

static dse_status read_input(const resolver *r, const wl_block *b, const cfg_node *map, const cfg_node *node,
                             wl_operator *op)
{
    dse_status st = read_shape(r, node, &op->x1_shape);

    (void)b, (void)map;
    op->y_shape = op->x1_shape;
    return st;
}

static dse_status read_weight(const resolver *r, const wl_block *b, const cfg_node *map, const cfg_node *node,
                              wl_operator *op)
{
    const cfg_node *sharded = cfg_get(map, "sharded");
    wl_shape *shape;
    dse_status st;

    op->is_weight = true;
    if ((st = read_input(r, b, map, node, op)) != DSE_OK || !sharded)
        return st;
    op->sharded = shape = DSE_ARENA_NEW(r->arena, wl_shape, 1);
    return read_shape(r, sharded, shape);
}

static dse_status read_contracted(const resolver *r, const wl_block *b, const cfg_node *map,
                                  const cfg_node *text, wl_operator *op)
{
    contraction c = {.text = text};
    dse_status st = read_contraction(r, b, map, op, &c);

    return st == DSE_OK ? check_einsum(r, &c, op) : st;
}

/* The einsum that stands under `key` in the place of op, whose form is not read yet, with more passes. */
static dse_status read_alternative(const resolver *r, const wl_block *b, const cfg_node *map, const char *key,
                                   wl_passes with, const wl_operator *op, const wl_operator **out)
{
    const cfg_node *text = cfg_get(map, key);
    wl_operator *other;

    if (!text)
        return DSE_OK;
    *out = other = dse_arena_copy(r->arena, op, 1, sizeof *op);
    other->exists_with |= with;
    return read_contracted(r, b, map, text, other);
}

static dse_status read_einsum(const resolver *r, const wl_block *b, const cfg_node *map, const cfg_node *node,
                              wl_operator *op)
{
    const wl_passes recompute = WL_PASS_BIT(WL_PASS_RECOMPUTE), sharded = WL_PASS_BIT(WL_PASS_WEIGHT_SHARD);
    const wl_operator without_form = *op;
    dse_status st;

    if ((st = read_contracted(r, b, map, node, op)) != DSE_OK ||
        (st = read_alternative(r, b, map, "recompute", recompute, &without_form, &op->recomputed)) != DSE_OK)
        return st;
    return read_alternative(r, b, map, "recompute_sharded", recompute | sharded, &without_form,
                            &op->recomputed_sharded);
}

static dse_status read_fused(const resolver *r, const wl_block *b, const cfg_node *map, const cfg_node *node,
                             wl_operator *op)
{
    contraction c = {.text = node};
    dse_status st = read_contraction(r, b, map, op, &c);

    if (st == DSE_OK)
        st = sum_over_both(r, &c, op);
    return st == DSE_OK ? read_factor(r, map, "by", &op->scale) : st;
}

static dse_status read_lookup(const resolver *r, const wl_block *b, const cfg_node *map, const cfg_node *node,
                              wl_operator *op)
{
    contraction c = {.text = node, .is_lookup = true};
    dse_status st = read_contraction(r, b, map, op, &c);

    return st == DSE_OK ? check_lookup(r, &c, op) : st;
}

static dse_status read_elementwise(const resolver *r, const wl_block *b, const cfg_node *map,
                                   const cfg_node *operand, wl_operator *op)
{
    const cfg_node *shape = cfg_get(map, "shape");
    dse_status st;

    if (!shape)
        return fail(r, map, "'shape' is missing");
    if ((st = read_tensor_name(r, b, operand, op->exists_with, &op->x1)) != DSE_OK ||
        (st = read_shape(r, shape, &op->x1_shape)) != DSE_OK)
        return st;
    op->y_shape = op->x1_shape;
    return DSE_OK;
}

static dse_status read_pair(const resolver *r, const wl_block *b, const cfg_node *map, const char *form,
                            const cfg_node *node, wl_operator *op)
{
    dse_status st;

    if (node->kind != CFG_LIST || node->n != 2)
        return fail(r, node, "'%s' takes two tensors", form);
    if ((st = read_elementwise(r, b, map, node->item[0], op)) != DSE_OK)
        return st;
    op->x2_shape = op->x1_shape;
    return read_tensor_name(r, b, node->item[1], op->exists_with, &op->x2);
}

static dse_status read_add(const resolver *r, const wl_block *b, const cfg_node *map, const cfg_node *node,
                           wl_operator *op)
{
    const cfg_node *partial = cfg_get(map, "partial");
    dse_status st = read_pair(r, b, map, "add", node, op);

    if (st != DSE_OK || !partial)
        return st;
    st = read_shape(r, partial, &op->unsummed);
    op->y_reduced = op->unsummed;
    return st;
}

static dse_status read_product(const resolver *r, const wl_block *b, const cfg_node *map,
                               const cfg_node *node, wl_operator *op)
{
    dse_status st = read_pair(r, b, map, "product", node, op);

    return st == DSE_OK ? read_factor(r, map, "by", &op->scale) : st;
}

static dse_status read_scale(const resolver *r, const wl_block *b, const cfg_node *map, const cfg_node *node,
                             wl_operator *op)
{
    dse_status st;

    if (!cfg_get(map, "by"))
        return fail(r, map, "'by' must be a positive number");
    if ((st = read_factor(r, map, "by", &op->scale)) != DSE_OK ||
        (st = read_factor(r, map, "stored", &op->stored)) != DSE_OK)
        return st;
    return read_elementwise(r, b, map, node, op);
}

static dse_status read_copy(const resolver *r, const wl_block *b, const cfg_node *map, const cfg_node *node,
                            wl_operator *op)
{
    return read_elementwise(r, b, map, node, op);
}

static dse_status read_reshape(const resolver *r, const wl_block *b, const cfg_node *map,
                               const cfg_node *node, wl_operator *op)
{
    const cfg_node *from = cfg_get(map, "from"), *to = cfg_get(map, "to");
    dse_status st;

    if (!from || !to)
        return fail(r, map, "'reshape' needs 'from' and 'to'");
    if ((st = read_tensor_name(r, b, node, op->exists_with, &op->x1)) != DSE_OK ||
        (st = read_shape(r, from, &op->x1_shape)) != DSE_OK ||
        (st = read_shape(r, to, &op->x2_shape)) != DSE_OK)
        return st;
    op->y_shape = op->x2_shape;
    return DSE_OK;
}

static const struct {
    const char *key;
    wl_op_kind kind;
    dse_status (*read)(const resolver *r, const wl_block *b, const cfg_node *map, const cfg_node *node,
                       wl_operator *op);
} forms[] = {
    {"input", WL_OP_INPUT, read_input},    {"weight", WL_OP_INPUT, read_weight},
    {"einsum", WL_OP_EINSUM, read_einsum}, {"fused", WL_OP_EINSUM, read_fused},
    {"lookup", WL_OP_LOOKUP, read_lookup}, {"add", WL_OP_ADD, read_add},
    {"product", WL_OP_ADD, read_product},  {"scale", WL_OP_SCALE, read_scale},
    {"copy", WL_OP_COPY, read_copy},       {"reshape", WL_OP_RESHAPE, read_reshape},
};
#define N_FORMS (sizeof forms / sizeof forms[0])

static dse_status read_operator(const resolver *r, const wl_block *b, const cfg_node *map, wl_operator *op)
{
    const char *known[N_FORMS];
    const cfg_node *node;
    char list[128];
    dse_status st;

    if ((st = ONLY_KEYS(r, map, "input", "weight", "sharded", "einsum", "recompute", "recompute_sharded",
                        "fused", "lookup", "over", "add", "partial", "product", "scale", "by", "stored",
                        "copy", "reshape", "from", "to", "shape", "gradient_of", "when", "after")) != DSE_OK)
        return st;
    if ((node = cfg_get(map, "gradient_of")) &&
        (st = read_tensor_name(r, b, node, op->exists_with, &op->gradient_of)) != DSE_OK)
        return st;
    if ((node = cfg_get(map, "after")) &&
        (st = read_tensor_name(r, b, node, op->exists_with, &op->after)) != DSE_OK)
        return st;
    for (size_t i = 0; i < N_FORMS; i++) {
        known[i] = forms[i].key;
        op->kind = forms[i].kind;
        if ((node = cfg_get(map, forms[i].key)))
            return forms[i].read(r, b, map, node, op);
    }
    dse_join(list, sizeof list, known, N_FORMS);
    return fail(r, map, "an operator is one of %s", list);
}

static wl_tensor_kind made_by(const wl_block *b, const wl_operator *op)
{
    const uint32_t operand[] = {op->x1, op->x2};

    if (op->is_weight)
        return WL_TENSOR_WEIGHT;
    if (op->after != DSE_NONE)
        return WL_TENSOR_RECOMPUTED;
    if (op->gradient_of != DSE_NONE)
        return b->op[op->gradient_of].is_weight ? WL_TENSOR_WEIGHT_GRADIENT : WL_TENSOR_GRADIENT;
    if (op->kind == WL_OP_INPUT)
        return WL_TENSOR_INPUT;
    for (int k = 0; k < 2; k++)
        if (operand[k] != DSE_NONE && b->op[operand[k]].makes >= WL_TENSOR_GRADIENT)
            return WL_TENSOR_GRADIENT; /* part of one, such as the summands of dx */
    return WL_TENSOR_ACTIVATION;
}

/* What is made of a gradient is one, too, wherever in the block its operands stand: again until nothing
 * changes. */
static void tell_kinds(wl_block *b)
{
    bool changed = true;

    for (uint32_t i = 0; i < b->n; i++)
        b->op[i].makes = WL_TENSOR_UNKNOWN;
    while (changed) {
        changed = false;
        for (uint32_t i = 0; i < b->n; i++) {
            wl_tensor_kind kind = made_by(b, &b->op[i]);

            changed |= kind != b->op[i].makes;
            b->op[i].makes = kind;
        }
    }
}

void wl_block_describe(wl_block *b)
{
    tell_kinds(b);
    wl_block_classify(b);
}

/* The passes without which an operator does not exist. */
static dse_status read_when(const resolver *r, const cfg_node *map, wl_passes *out)
{
    const cfg_node *when = cfg_get(map, "when");

    if (!when)
        return DSE_OK;
    if (when->kind != CFG_SCALAR || strcmp(when->text, "recompute"))
        return fail(r, when, "'when' knows only 'recompute'");
    *out = WL_PASS_BIT(WL_PASS_RECOMPUTE);
    return DSE_OK;
}

/* `recompute` names, for a block, the tensor after which its forward pass is made again. */
static dse_status read_again_after(const resolver *r, wl_block *b)
{
    const cfg_node *node = cfg_get(cfg_get(r->doc->root, "recompute"), b->name);

    b->again_after = DSE_NONE;
    return node ? read_tensor_name(r, b, node, WL_PASS_BIT(WL_PASS_RECOMPUTE), &b->again_after) : DSE_OK;
}

static dse_status read_block(const resolver *r, const char *name, const cfg_node *at, const wl_block **out)
{
    const cfg_node *blocks, *map;
    wl_block *b = dse_arena_zero(r->arena, 1, sizeof *b);
    dse_status st = get_map(r, r->doc->root, "blocks", &blocks);

    if (st != DSE_OK)
        return st;
    map = cfg_get(blocks, name);
    if (!map || map->kind != CFG_MAP)
        return fail_not_a_key(r, at, "block", name, blocks);
    b->op = dse_arena_zero(r->arena, map->n, sizeof *b->op);
    b->name = name;
    /* Names first: an operator may refer to tensors that come later. */
    for (uint32_t i = 0; i < map->n; i++) {
        if (map->item[i]->kind != CFG_MAP)
            return fail(r, map->item[i], "an operator is a mapping");
        b->op[i] = (wl_operator){.name = map->key[i]->text,
                                 .x1 = DSE_NONE,
                                 .x2 = DSE_NONE,
                                 .gradient_of = DSE_NONE,
                                 .after = DSE_NONE,
                                 .scale = 1.0,
                                 .stored = 1.0};
        if ((st = read_when(r, map->item[i], &b->op[i].exists_with)) != DSE_OK)
            return st;
    }
    b->n = map->n;
    for (uint32_t i = 0; i < b->n; i++)
        if ((st = read_operator(r, b, map->item[i], &b->op[i])) != DSE_OK)
            return st;
    wl_block_describe(b);
    *out = b;
    return read_again_after(r, b);
}

/* ---- the model ----------------------------------------------------------------------------- */

static dse_status read_renames(resolver *r, const cfg_node *map, wl_dim (*pairs)[2])
{
    r->n_renames = 0;
    if (!map)
        return DSE_OK;
    if (map->kind != CFG_MAP || map->n > WL_MAX_SYMBOLS)
        return fail(r, map, "'rename' maps symbols to symbols");
    for (uint32_t i = 0; i < map->n; i++) {
        dse_status st = read_dim(r, map->key[i], &pairs[i][0]);
        if (st == DSE_OK)
            st = read_dim(r, map->item[i], &pairs[i][1]);
        if (st != DSE_OK)
            return st;
    }
    r->rename = (const wl_dim(*)[2])pairs;
    r->n_renames = map->n;
    return DSE_OK;
}

static dse_status read_part(resolver *r, const char *prefix, const cfg_node *block, wl_part *out)
{
    const char *name;
    dse_status st = cfg_string(r->doc, block, "a block", &name, r->err);

    out->prefix = prefix;
    return st == DSE_OK ? read_block(r, name, block, &out->block) : st;
}

static dse_status read_entry(resolver *r, const char *name, const cfg_node *map, wl_entry *out)
{
    const cfg_node *blocks = cfg_get(map, "blocks"), *block = cfg_get(map, "block"), *node;
    wl_dim pairs[WL_MAX_SYMBOLS][2];
    dse_status st;

    if (map->kind != CFG_MAP || (!blocks) == (!block))
        return fail(r, map, "an entry of 'model' has either 'block' or 'blocks'");
    if ((st = ONLY_KEYS(r, map, "block", "blocks", "place", "rename", "prefix")) != DSE_OK ||
        (st = read_renames(r, cfg_get(map, "rename"), pairs)) != DSE_OK)
        return st;
    out->is_layers = blocks != NULL;
    out->prefix = name;
    if ((node = cfg_get(map, "prefix")) &&
        (st = cfg_string(r->doc, node, "'prefix'", &out->prefix, r->err)) != DSE_OK)
        return st;
    if ((node = cfg_get(map, "place"))) {
        if (node->kind != CFG_SCALAR || (strcmp(node->text, "first") && strcmp(node->text, "last")))
            return fail(r, node, "'place' is first or last");
        out->is_last = !strcmp(node->text, "last");
    }
    if (blocks && blocks->kind != CFG_MAP)
        return fail(r, blocks, "'blocks' must be a mapping");
    out->n_parts = blocks ? blocks->n : 1;
    out->part = dse_arena_zero(r->arena, out->n_parts, sizeof *out->part);
    if (block)
        st = read_part(r, name, block, &out->part[0]);
    for (uint32_t i = 0; blocks && st == DSE_OK && i < blocks->n; i++)
        st = read_part(r, blocks->key[i]->text, blocks->item[i], &out->part[i]);
    r->n_renames = 0;
    return st;
}

static dse_status read_links(resolver *r)
{
    const cfg_node *links;
    dse_status st = get_map(r, r->doc->root, "links", &links);

    if (st != DSE_OK || (st = only_keys(r, links, link_names, WL_N_LINK_KINDS)) != DSE_OK)
        return st;
    for (int kind = 0; kind < WL_N_LINK_KINDS; kind++) {
        const cfg_node *map = cfg_get(links, link_names[kind]);
        wl_link *link;

        r->out->min_layers[kind] = 1;
        if (!map)
            continue;
        if (map->kind != CFG_MAP)
            return fail(r, map, "'%s' must be a mapping", link_names[kind]);
        link = dse_arena_zero(r->arena, map->n, sizeof *link);
        r->out->link[kind] = link;
        for (uint32_t i = 0; i < map->n; i++) {
            if (!strcmp(map->key[i]->text, "min_layers")) {
                st = cfg_int(r->doc, map->item[i], "'min_layers'", 0, 1000000, &r->out->min_layers[kind],
                             r->err);
            } else {
                wl_link *l = &link[r->out->n_links[kind]++];
                const char *name;

                *l = (wl_link){map->key[i], map->item[i]};
                st = cfg_string(r->doc, l->to, "a link's target", &name, r->err);
            }
            if (st != DSE_OK)
                return st;
        }
    }
    return DSE_OK;
}

dse_status wl_operators_read(const cfg_doc *doc, dse_arena *a, wl_operators *out, dse_error *err)
{
    resolver r = {.doc = doc, .arena = a, .out = out, .err = err};
    const cfg_node *model;
    dse_status st;

    *out = (wl_operators){.doc = *doc};
    if (doc->root->kind != CFG_MAP)
        return fail(&r, doc->root, "an operator file is a mapping");
    if ((st = ONLY_KEYS(&r, doc->root, "symbols", "shapes", "blocks", "recompute", "model", "links")) !=
            DSE_OK ||
        (st = read_symbols(&r)) != DSE_OK || (st = get_map(&r, doc->root, "model", &model)) != DSE_OK)
        return st;
    out->entry = dse_arena_zero(a, model->n, sizeof *out->entry);
    for (uint32_t i = 0; i < model->n; i++) {
        if ((st = read_entry(&r, model->key[i]->text, model->item[i], &out->entry[i])) != DSE_OK)
            return st;
        out->n_entries++;
    }
    return read_links(&r);
}

dse_status wl_operators_resolve(const cfg_doc *doc, wl_passes passes, dse_arena *a, wl_operators *out,
                                dse_error *err)
{
    dse_status st = wl_operators_read(doc, a, out, err);

    if (st == DSE_OK)
        wl_operators_apply(out, passes, a);
    return st;
}
