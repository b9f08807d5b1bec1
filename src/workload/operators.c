#include "workload/operators.h"

#include "base/array.h"
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
    dse_status status;         /* of what has failed: those who read return false then */
    const wl_dim (*rename)[2]; /* from, to: single symbols */
    uint32_t n_renames;
} resolver;

static bool fail(resolver *r, const cfg_node *at, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

static bool fail(resolver *r, const cfg_node *at, const char *fmt, ...)
{
    char text[400];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    r->status = cfg_fail(r->err, r->doc, at, "%s", text);
    return false;
}

static bool read_map(resolver *r, const cfg_node *parent, const char *key, const cfg_node **out)
{
    *out = cfg_get(parent, key);
    if (!*out)
        return fail(r, parent, "'%s' is missing", key);
    return (*out)->kind == CFG_MAP || fail(r, *out, "'%s' must be a mapping", key);
}

static bool read_text(resolver *r, const cfg_node *node, const char *what, const char **out)
{
    r->status = cfg_string(r->doc, node, what, out, r->err);
    return r->status == DSE_OK;
}

/* Every key of map must be one of the known ones. */
static bool only_keys(resolver *r, const cfg_node *map, const char *const *known, size_t n)
{
    r->status = cfg_only_keys(r->doc, map, "an operator", known, n, r->err);
    return r->status == DSE_OK;
}
#define ONLY_KEYS(r, map, ...)                                                                               \
    only_keys((r), (map), (const char *const[]){__VA_ARGS__}, DSE_COUNT(((const char *const[]){__VA_ARGS__})))

/* No entry of `map` (NULL: there is none at all) of this name is of use. */
static bool fail_not_a_key(resolver *r, const cfg_node *at, const char *what, const char *name,
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

static bool read_symbols(resolver *r)
{
    wl_symbols *symbols = &r->out->symbols, axes = {0};
    const cfg_node *map;

    if (!read_map(r, r->doc->root, "symbols", &map))
        return false;
    wl_axes_add_symbols(&axes);
    if (map->n + axes.n > WL_MAX_SYMBOLS)
        return fail(r, map, "at most %" PRIu32 " symbols", WL_MAX_SYMBOLS - axes.n);
    for (uint32_t i = 0; i < map->n; i++) {
        const char *parameter; /* which size of a model card it is: for who fills in the values */

        if (!read_text(r, map->item[i], "a symbol's parameter", &parameter))
            return false;
        symbols->name[symbols->n++] = map->key[i]->text;
    }
    wl_axes_add_symbols(symbols);
    return true;
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

static bool read_dim(resolver *r, const cfg_node *node, wl_dim *out)
{
    dse_error why = DSE_ERROR_INIT;

    if (node->kind != CFG_SCALAR)
        return fail(r, node, "a dimension must be a product of symbols");
    if (wl_dim_parse(&r->out->symbols, node->text, out, &why) != DSE_OK)
        return fail(r, node, "%s", why.text);
    apply_renames(r, out);
    return true;
}

/* A list of dimensions, or the name of an entry of `shapes`. */
static bool read_shape(resolver *r, const cfg_node *node, wl_shape *out)
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
    for (uint32_t i = 0; i < node->n; i++)
        if (!read_dim(r, node->item[i], &out->dim[i]))
            return false;
    return true;
}

/* ---- operators ----------------------------------------------------------------------------- */

/* A tensor that does not exist with these passes alone. */
static bool fail_absent(resolver *r, const wl_block *b, const cfg_node *at, const wl_operator *op,
                        wl_passes with)
{
    uint32_t pass = 0;

    while (!(op->exists_with & ~with & WL_PASS_BIT(pass)))
        pass++;
    return fail(r, at, "the tensor '%.60s' of block '%.60s' is only there with %s", op->name, b->name,
                wl_pass_table[pass].name);
}

/* For a reader that exists with the passes in `with`. */
static bool find_tensor(resolver *r, const wl_block *b, const cfg_node *at, const char *name, wl_passes with,
                        uint32_t *out)
{
    const char **known;
    char hint[WL_HINT_SIZE];
    uint32_t n = 0;

    for (*out = 0; *out < b->n; (*out)++)
        if (!strcmp(b->op[*out].name, name))
            return !(b->op[*out].exists_with & ~with) || fail_absent(r, b, at, &b->op[*out], with);
    known = DSE_ARENA_NEW(r->arena, const char *, b->n);
    for (uint32_t i = 0; i < b->n; i++)
        if (!(b->op[i].exists_with & ~with))
            known[n++] = b->op[i].name;
    return fail(r, at, "no tensor '%.60s' in block '%.60s'%s", name, b->name, wl_hint(hint, name, known, n));
}

static bool read_tensor(resolver *r, const wl_block *b, const cfg_node *node, wl_passes with, uint32_t *out)
{
    const char *name;

    return read_text(r, node, "a tensor", &name) && find_tensor(r, b, node, name, with, out);
}

/* A positive number under a key that need not be there. */
static bool read_factor(resolver *r, const cfg_node *map, const char *key, double *out)
{
    const cfg_node *node = cfg_get(map, key);

    return !node ||
           (node->kind == CFG_SCALAR && dse_parse_double(node->text, out, NULL) == DSE_OK && *out > 0) ||
           fail(r, node, "'%s' must be a positive number", key);
}

/* ---- contractions ------------------------------------------------------------------------------- */

/* The letters of two operands and the result. */
typedef struct {
    const cfg_node *text;
    char in1[WL_MAX_RANK + 1], in2[WL_MAX_RANK + 1];
    const char *result;
} contraction;

/* What the forms that are written so differ in: which letters may stand where, and what is summed over. */
typedef bool contraction_rule(resolver *r, const contraction *c, wl_operator *op);

static bool fail_einsum(resolver *r, const cfg_node *at)
{
    return fail(r, at, "an einsum reads \"x[bsm] w[mn] -> bsn\"");
}

/* "name[letters]" from *p on; letters of at most WL_MAX_RANK. */
static bool read_operand(resolver *r, const wl_block *b, const cfg_node *at, const char **p, wl_passes with,
                         uint32_t *tensor, char letters[WL_MAX_RANK + 1])
{
    char name[64];
    size_t n = 0;

    while (**p == ' ')
        (*p)++;
    while ((isalnum((unsigned char)**p) || **p == '_') && n + 1 < sizeof name)
        name[n++] = *(*p)++;
    name[n] = '\0';
    if (!n || **p != '[')
        return fail_einsum(r, at);
    (*p)++;
    for (n = 0; islower((unsigned char)**p) && n < WL_MAX_RANK; n++)
        letters[n] = *(*p)++;
    letters[n] = '\0';
    if (!n || **p != ']')
        return fail_einsum(r, at);
    (*p)++;
    return find_tensor(r, b, at, name, with, tensor);
}

static bool letters_to_shape(resolver *r, const cfg_node *at, const cfg_node *over, const char *letters,
                             wl_shape *out)
{
    *out = (wl_shape){.n = (uint32_t)strlen(letters)};
    for (uint32_t i = 0; i < out->n; i++) {
        char key[2] = {letters[i], '\0'};
        const cfg_node *dim = cfg_get(over, key);

        if (!(dim ? read_dim(r, dim, &out->dim[i])
                  : fail(r, at, "'over' gives no dimension to the letter '%s'", key)))
            return false;
    }
    return true;
}

/* Adds to the dimensions summed over those of the letters of an operand that neither the result nor `also`
 * has. */
static bool sum_over(resolver *r, const cfg_node *at, const char *letters, const wl_shape *shape,
                     const char *result, const char *also, wl_operator *op)
{
    for (const char *c = letters; *c; c++) {
        if (strchr(result, *c) || strchr(also, *c))
            continue;
        if (op->y_reduced.n == WL_MAX_RANK)
            return fail(r, at, "more than %d letters are summed over", WL_MAX_RANK);
        op->y_reduced.dim[op->y_reduced.n++] = shape->dim[c - letters];
    }
    return true;
}

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
static bool check_einsum(resolver *r, const contraction *c, wl_operator *op)
{
    for (const char *l = c->in1; *l; l++)
        if (!strchr(c->result, *l) && !strchr(c->in2, *l))
            return fail(r, c->text, "the letter '%c' is summed over but only in one operand", *l);
    return sum_over(r, c->text, c->in1, &op->x1_shape, c->result, "", op);
}

/* A letter that one operand alone has may be summed over as well. */
static bool sum_over_both(resolver *r, const contraction *c, wl_operator *op)
{
    return sum_over(r, c->text, c->in1, &op->x1_shape, c->result, "", op) &&
           sum_over(r, c->text, c->in2, &op->x2_shape, c->result, c->in1, op);
}

/* The first operand has numbers of rows. Rows are a letter that it lacks and that of the second operand and
 * the result one has: rows are taken, or added up. */
static bool check_lookup(resolver *r, const contraction *c, wl_operator *op)
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

static bool read_contraction(resolver *r, const wl_block *b, const cfg_node *map, const cfg_node *text,
                             contraction_rule *rule, wl_operator *op)
{
    contraction c = {.text = text};
    const cfg_node *over;
    const char *p;

    if (!read_text(r, text, "an einsum", &p) || !read_map(r, map, "over", &over) ||
        !read_operand(r, b, text, &p, op->exists_with, &op->x1, c.in1) ||
        !read_operand(r, b, text, &p, op->exists_with, &op->x2, c.in2))
        return false;
    while (*p == ' ')
        p++;
    if (strncmp(p, "-> ", 3) || !p[3] || strlen(p + 3) > WL_MAX_RANK)
        return fail_einsum(r, text);
    c.result = p + 3;
    for (const char *l = c.result; *l && rule != check_lookup; l++)
        if (!strchr(c.in1, *l) && !strchr(c.in2, *l))
            return fail(r, text, "the result's letter '%c' is in neither operand", *l);
    if (!letters_to_shape(r, text, over, c.in1, &op->x1_shape) ||
        !letters_to_shape(r, text, over, c.in2, &op->x2_shape) ||
        !letters_to_shape(r, text, over, c.result, &op->y_shape))
        return false;
    measure_contraction(&c, op);
    return rule(r, &c, op);
}

/* ---- the forms of an operator: each reads what stands under its key ----------------------------- */

static bool read_input(resolver *r, const wl_block *b, const cfg_node *map, const cfg_node *node,
                       wl_operator *op)
{
    bool ok = read_shape(r, node, &op->x1_shape);

    (void)b, (void)map;
    op->y_shape = op->x1_shape;
    return ok;
}

static bool read_weight(resolver *r, const wl_block *b, const cfg_node *map, const cfg_node *node,
                        wl_operator *op)
{
    const cfg_node *sharded = cfg_get(map, "sharded");
    wl_shape *shape;

    op->is_weight = true;
    if (!read_input(r, b, map, node, op) || !sharded)
        return r->status == DSE_OK;
    op->sharded = shape = DSE_ARENA_NEW(r->arena, wl_shape, 1);
    return read_shape(r, sharded, shape);
}

/* The einsum that stands under `key` in the place of op, whose form is not read yet, with more passes. */
static bool read_alternative(resolver *r, const wl_block *b, const cfg_node *map, const char *key,
                             wl_passes with, const wl_operator *op, const wl_operator **out)
{
    const cfg_node *text = cfg_get(map, key);
    wl_operator *other;

    if (!text)
        return true;
    *out = other = dse_arena_copy(r->arena, op, 1, sizeof *op);
    other->exists_with |= with;
    return read_contraction(r, b, map, text, check_einsum, other);
}

static bool read_einsum(resolver *r, const wl_block *b, const cfg_node *map, const cfg_node *node,
                        wl_operator *op)
{
    const wl_passes recompute = WL_PASS_BIT(WL_PASS_RECOMPUTE), sharded = WL_PASS_BIT(WL_PASS_WEIGHT_SHARD);
    const wl_operator without_form = *op;

    return read_contraction(r, b, map, node, check_einsum, op) &&
           read_alternative(r, b, map, "recompute", recompute, &without_form, &op->recomputed) &&
           read_alternative(r, b, map, "recompute_sharded", recompute | sharded, &without_form,
                            &op->recomputed_sharded);
}

static bool read_fused(resolver *r, const wl_block *b, const cfg_node *map, const cfg_node *node,
                       wl_operator *op)
{
    return read_contraction(r, b, map, node, sum_over_both, op) && read_factor(r, map, "by", &op->scale);
}

static bool read_lookup(resolver *r, const wl_block *b, const cfg_node *map, const cfg_node *node,
                        wl_operator *op)
{
    return read_contraction(r, b, map, node, check_lookup, op);
}

static bool read_elementwise(resolver *r, const wl_block *b, const cfg_node *map, const cfg_node *operand,
                             wl_operator *op)
{
    const cfg_node *shape = cfg_get(map, "shape");

    if (!shape)
        return fail(r, map, "'shape' is missing");
    if (!read_tensor(r, b, operand, op->exists_with, &op->x1) || !read_shape(r, shape, &op->x1_shape))
        return false;
    op->y_shape = op->x1_shape;
    return true;
}

static bool read_pair(resolver *r, const wl_block *b, const cfg_node *map, const char *form,
                      const cfg_node *node, wl_operator *op)
{
    if (node->kind != CFG_LIST || node->n != 2)
        return fail(r, node, "'%s' takes two tensors", form);
    if (!read_elementwise(r, b, map, node->item[0], op))
        return false;
    op->x2_shape = op->x1_shape;
    return read_tensor(r, b, node->item[1], op->exists_with, &op->x2);
}

static bool read_add(resolver *r, const wl_block *b, const cfg_node *map, const cfg_node *node,
                     wl_operator *op)
{
    const cfg_node *partial = cfg_get(map, "partial");

    if (!read_pair(r, b, map, "add", node, op) || (partial && !read_shape(r, partial, &op->unsummed)))
        return false;
    op->y_reduced = op->unsummed;
    return true;
}

static bool read_product(resolver *r, const wl_block *b, const cfg_node *map, const cfg_node *node,
                         wl_operator *op)
{
    return read_pair(r, b, map, "product", node, op) && read_factor(r, map, "by", &op->scale);
}

static bool read_scale(resolver *r, const wl_block *b, const cfg_node *map, const cfg_node *node,
                       wl_operator *op)
{
    if (!cfg_get(map, "by"))
        return fail(r, map, "'by' must be a positive number");
    return read_factor(r, map, "by", &op->scale) && read_factor(r, map, "stored", &op->stored) &&
           read_elementwise(r, b, map, node, op);
}

static bool read_reshape(resolver *r, const wl_block *b, const cfg_node *map, const cfg_node *node,
                         wl_operator *op)
{
    const cfg_node *from = cfg_get(map, "from"), *to = cfg_get(map, "to");

    if (!from || !to)
        return fail(r, map, "'reshape' needs 'from' and 'to'");
    if (!read_tensor(r, b, node, op->exists_with, &op->x1) || !read_shape(r, from, &op->x1_shape) ||
        !read_shape(r, to, &op->x2_shape))
        return false;
    op->y_shape = op->x2_shape;
    return true;
}

static const struct {
    const char *key;
    wl_op_kind kind;
    bool (*read)(resolver *r, const wl_block *b, const cfg_node *map, const cfg_node *node, wl_operator *op);
} forms[] = {
    {"input", WL_OP_INPUT, read_input},     {"weight", WL_OP_INPUT, read_weight},
    {"einsum", WL_OP_EINSUM, read_einsum},  {"fused", WL_OP_EINSUM, read_fused},
    {"lookup", WL_OP_LOOKUP, read_lookup},  {"add", WL_OP_ADD, read_add},
    {"product", WL_OP_ADD, read_product},   {"scale", WL_OP_SCALE, read_scale},
    {"copy", WL_OP_COPY, read_elementwise}, {"reshape", WL_OP_RESHAPE, read_reshape},
};

static bool read_operator(resolver *r, const wl_block *b, const cfg_node *map, wl_operator *op)
{
    const char *known[DSE_COUNT(forms)];
    const cfg_node *node;
    char list[128];

    if (!ONLY_KEYS(r, map, "input", "weight", "sharded", "einsum", "recompute", "recompute_sharded", "fused",
                   "lookup", "over", "add", "partial", "product", "scale", "by", "stored", "copy", "reshape",
                   "from", "to", "shape", "gradient_of", "when", "after") ||
        ((node = cfg_get(map, "gradient_of")) &&
         !read_tensor(r, b, node, op->exists_with, &op->gradient_of)) ||
        ((node = cfg_get(map, "after")) && !read_tensor(r, b, node, op->exists_with, &op->after)))
        return false;
    for (size_t i = 0; i < DSE_COUNT(forms); i++) {
        known[i] = forms[i].key;
        op->kind = forms[i].kind;
        if ((node = cfg_get(map, forms[i].key)))
            return forms[i].read(r, b, map, node, op);
    }
    dse_join(list, sizeof list, known, DSE_COUNT(forms));
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
static bool read_when(resolver *r, const cfg_node *map, wl_passes *out)
{
    const cfg_node *when = cfg_get(map, "when");

    if (!when)
        return true;
    *out = WL_PASS_BIT(WL_PASS_RECOMPUTE);
    return (when->kind == CFG_SCALAR && !strcmp(when->text, "recompute")) ||
           fail(r, when, "'when' knows only 'recompute'");
}

/* `recompute` names, for a block, the tensor after which its forward pass is made again. */
static bool read_again_after(resolver *r, wl_block *b)
{
    const cfg_node *node = cfg_get(cfg_get(r->doc->root, "recompute"), b->name);

    b->again_after = DSE_NONE;
    return !node || read_tensor(r, b, node, WL_PASS_BIT(WL_PASS_RECOMPUTE), &b->again_after);
}

static bool read_block(resolver *r, const char *name, const cfg_node *at, const wl_block **out)
{
    const cfg_node *blocks, *map;
    wl_block *b = dse_arena_zero(r->arena, 1, sizeof *b);

    if (!read_map(r, r->doc->root, "blocks", &blocks))
        return false;
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
        if (!read_when(r, map->item[i], &b->op[i].exists_with))
            return false;
    }
    b->n = map->n;
    for (uint32_t i = 0; i < b->n; i++)
        if (!read_operator(r, b, map->item[i], &b->op[i]))
            return false;
    wl_block_describe(b);
    *out = b;
    return read_again_after(r, b);
}

/* ---- the model ----------------------------------------------------------------------------- */

static bool read_renames(resolver *r, const cfg_node *map, wl_dim (*pairs)[2])
{
    r->n_renames = 0;
    if (!map)
        return true;
    if (map->kind != CFG_MAP || map->n > WL_MAX_SYMBOLS)
        return fail(r, map, "'rename' maps symbols to symbols");
    for (uint32_t i = 0; i < map->n; i++)
        if (!read_dim(r, map->key[i], &pairs[i][0]) || !read_dim(r, map->item[i], &pairs[i][1]))
            return false;
    r->rename = (const wl_dim(*)[2])pairs;
    r->n_renames = map->n;
    return true;
}

static bool read_part(resolver *r, const char *prefix, const cfg_node *block, wl_part *out)
{
    const char *name;

    out->prefix = prefix;
    return read_text(r, block, "a block", &name) && read_block(r, name, block, &out->block);
}

static bool read_entry(resolver *r, const char *name, const cfg_node *map, wl_entry *out)
{
    const cfg_node *blocks = cfg_get(map, "blocks"), *block = cfg_get(map, "block"), *node;
    wl_dim pairs[WL_MAX_SYMBOLS][2];
    bool ok = true;

    if (map->kind != CFG_MAP || (!blocks) == (!block))
        return fail(r, map, "an entry of 'model' has either 'block' or 'blocks'");
    *out = (wl_entry){.is_layers = blocks != NULL, .prefix = name, .n_parts = blocks ? blocks->n : 1};
    if (!ONLY_KEYS(r, map, "block", "blocks", "place", "rename", "prefix") ||
        !read_renames(r, cfg_get(map, "rename"), pairs) ||
        ((node = cfg_get(map, "prefix")) && !read_text(r, node, "'prefix'", &out->prefix)))
        return false;
    if ((node = cfg_get(map, "place"))) {
        out->is_last = node->kind == CFG_SCALAR && !strcmp(node->text, "last");
        if (!out->is_last && (node->kind != CFG_SCALAR || strcmp(node->text, "first")))
            return fail(r, node, "'place' is first or last");
    }
    if (blocks && blocks->kind != CFG_MAP)
        return fail(r, blocks, "'blocks' must be a mapping");
    out->part = dse_arena_zero(r->arena, out->n_parts, sizeof *out->part);
    if (block)
        ok = read_part(r, name, block, &out->part[0]);
    for (uint32_t i = 0; blocks && ok && i < blocks->n; i++)
        ok = read_part(r, blocks->key[i]->text, blocks->item[i], &out->part[i]);
    r->n_renames = 0;
    return ok;
}

static bool read_links_of(resolver *r, const cfg_node *map, wl_link_kind kind)
{
    wl_link *link = r->out->link[kind] = dse_arena_zero(r->arena, map->n, sizeof *link);
    const char *name;

    for (uint32_t i = 0; i < map->n; i++) {
        if (!strcmp(map->key[i]->text, "min_layers")) {
            r->status =
                cfg_int(r->doc, map->item[i], "'min_layers'", 0, 1000000, &r->out->min_layers[kind], r->err);
            if (r->status != DSE_OK)
                return false;
            continue;
        }
        link[r->out->n_links[kind]++] = (wl_link){map->key[i], map->item[i]};
        if (!read_text(r, map->item[i], "a link's target", &name))
            return false;
    }
    return true;
}

static bool read_links(resolver *r)
{
    const cfg_node *links;

    if (!read_map(r, r->doc->root, "links", &links) || !only_keys(r, links, link_names, WL_N_LINK_KINDS))
        return false;
    for (wl_link_kind kind = 0; kind < WL_N_LINK_KINDS; kind++) {
        const cfg_node *map;

        r->out->min_layers[kind] = 1;
        if (cfg_get(links, link_names[kind]) &&
            (!read_map(r, links, link_names[kind], &map) || !read_links_of(r, map, kind)))
            return false;
    }
    return true;
}

static bool read_all(resolver *r)
{
    const cfg_node *root = r->doc->root, *model;
    wl_operators *out = r->out;

    if (root->kind != CFG_MAP)
        return fail(r, root, "an operator file is a mapping");
    if (!ONLY_KEYS(r, root, "symbols", "shapes", "blocks", "recompute", "model", "links") ||
        !read_symbols(r) || !read_map(r, root, "model", &model))
        return false;
    out->entry = dse_arena_zero(r->arena, model->n, sizeof *out->entry);
    for (; out->n_entries < model->n; out->n_entries++)
        if (!read_entry(r, model->key[out->n_entries]->text, model->item[out->n_entries],
                        &out->entry[out->n_entries]))
            return false;
    return read_links(r);
}

dse_status wl_operators_read(const cfg_doc *doc, dse_arena *a, wl_operators *out, dse_error *err)
{
    resolver r = {.doc = doc, .arena = a, .out = out, .err = err};

    *out = (wl_operators){.doc = *doc};
    read_all(&r);
    return r.status;
}

dse_status wl_operators_resolve(const cfg_doc *doc, wl_passes passes, dse_arena *a, wl_operators *out,
                                dse_error *err)
{
    dse_status st = wl_operators_read(doc, a, out, err);

    if (st == DSE_OK)
        wl_operators_apply(out, passes, a);
    return st;
}
