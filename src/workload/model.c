#include "workload/model.h"

#include "base/array.h"
#include "workload/name_pool.h"

#include <inttypes.h>
#include <string.h>

typedef struct {
    const wl_operators *o;
    uint32_t layers;
    dse_arena *arena;
    wl_name_pool names;
    wl_model *out;
    dse_error *err;
} builder;

static uint32_t entry_size(const wl_entry *e)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < e->n_parts; i++)
        n += e->part[i].block->n;
    return n;
}

static uint32_t count_weights(const wl_entry *e)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < e->n_parts; i++)
        for (uint32_t k = 0; k < e->part[i].block->n; k++)
            n += e->part[i].block->op[k].is_weight;
    return n;
}

static uint32_t shifted(uint32_t index, uint32_t by) { return index == DSE_NONE ? DSE_NONE : index + by; }

static void add_part(builder *b, const char *prefix, const wl_part *part, uint32_t place)
{
    uint32_t first = b->out->n;
    size_t prefix_len = strlen(prefix);

    for (uint32_t i = 0; i < part->block->n; i++) {
        const wl_operator *op = &part->block->op[i];
        const wl_piece name[] = {{prefix, prefix_len}, WL_PIECE("_"), {op->name, strlen(op->name)}};
        wl_tensor *t = &b->out->tensor[b->out->n++];

        *t = (wl_tensor){.kind = op->kind,
                         .op = op,
                         .place = place,
                         .x1 = shifted(op->x1, first),
                         .x2 = shifted(op->x2, first),
                         .after = shifted(op->after, first),
                         .gradient_of = shifted(op->gradient_of, first)};
        t->name = wl_name_join(&b->names, name, 3, &t->name_len);
    }
}

static void add_layers(builder *b, const wl_entry *e)
{
    for (uint32_t l = 0; l < b->layers; l++) {
        for (uint32_t i = 0; i < e->n_parts; i++) {
            const char *prefix =
                dse_arena_printf(b->arena, "%s_%" PRIu32 "_%s", e->prefix, l, e->part[i].prefix);

            add_part(b, prefix, &e->part[i], l + 1);
        }
    }
}

/* ---- links --------------------------------------------------------------------------------- */

/* "<part>_<tensor>" of the block: its index, or DSE_NONE. */
static uint32_t find_in_part(const wl_part *part, const char *name)
{
    size_t n = strlen(part->prefix);

    if (!strncmp(name, part->prefix, n) && name[n] == '_')
        for (uint32_t t = 0; t < part->block->n; t++)
            if (!strcmp(name + n + 1, part->block->op[t].name))
                return t;
    return DSE_NONE;
}

static dse_status fail_no_tensor(const builder *b, const cfg_node *at, const char *name)
{
    const wl_operators *o = b->o;
    const char **known;
    uint32_t n = 0;
    char hint[WL_HINT_SIZE];

    for (uint32_t i = 0; i < o->n_entries; i++)
        n += entry_size(&o->entry[i]);
    known = DSE_ARENA_NEW(b->arena, const char *, n);
    n = 0;
    for (uint32_t i = 0; i < o->n_entries; i++) {
        for (uint32_t k = 0; k < o->entry[i].n_parts; k++) {
            const wl_part *part = &o->entry[i].part[k];

            for (uint32_t t = 0; t < part->block->n; t++)
                known[n++] = dse_arena_printf(b->arena, "%s_%s", part->prefix, part->block->op[t].name);
        }
    }
    return cfg_fail(b->err, &o->doc, at, "links: no tensor is called '%.80s'%s", at->text,
                    wl_hint(hint, name, known, n));
}

/* What a link's name means: "<part>_<tensor>" of the layer where the link is applied, with "next_" in front
 * of the layer after, or of a single part. */
typedef struct {
    const cfg_node *name;
    bool is_layered;
    uint32_t first; /* tensor, of layer 0 */
    uint32_t step;  /* tensors of a layer */
    uint32_t ahead; /* layers */
} end;

static dse_status find_end(const builder *b, const cfg_node *link, end *out)
{
    const char *name = link->text;
    uint32_t first = 0, ahead = 0;

    for (; !strncmp(name, "next_", 5); name += 5)
        ahead++;
    for (uint32_t i = 0; i < b->o->n_entries; i++) {
        const wl_entry *e = &b->o->entry[i];
        uint32_t at = first;

        for (uint32_t k = 0; k < e->n_parts; k++) {
            uint32_t t = find_in_part(&e->part[k], name);

            if (t != DSE_NONE) {
                *out = (end){link, e->is_layers, at + t, e->is_layers ? entry_size(e) : 0, ahead};
                return DSE_OK;
            }
            at += e->part[k].block->n;
        }
        first += e->is_layers ? b->layers * entry_size(e) : entry_size(e);
    }
    return fail_no_tensor(b, link, name);
}

static dse_status tensor_at(const builder *b, const end *e, uint32_t layer, uint32_t *out)
{
    layer += e->ahead;
    if (e->is_layered && layer >= b->layers)
        return cfg_fail(b->err, &b->o->doc, e->name,
                        "links: no tensor is called '%.80s' here: the model has %" PRIu32 " layer%s",
                        e->name->text, b->layers, b->layers == 1 ? "" : "s");
    *out = e->first + layer * e->step;
    return DSE_OK;
}

static dse_status apply_link(builder *b, const end ends[2], uint32_t layer)
{
    uint32_t from = 0, to = 0;
    dse_status st;

    if ((st = tensor_at(b, &ends[0], layer, &from)) != DSE_OK ||
        (st = tensor_at(b, &ends[1], layer, &to)) != DSE_OK)
        return st;
    if (b->out->tensor[to].kind != WL_OP_INPUT || b->out->tensor[to].op->is_weight)
        return cfg_fail(b->err, &b->o->doc, ends[1].name, "links: '%.80s' is not a free input",
                        ends[1].name->text);
    b->out->tensor[to].kind = WL_OP_COPY;
    b->out->tensor[to].x1 = from;
    return DSE_OK;
}

/* At so many layers from `layer` on. */
static dse_status apply_links(builder *b, wl_link_kind kind, uint32_t layer, uint32_t n)
{
    uint32_t n_links = b->o->n_links[kind];
    end(*ends)[2];

    if (!n || ((int64_t)b->layers < b->o->min_layers[kind] && kind != WL_LINK_LOSS))
        return DSE_OK;
    ends = dse_arena_alloc(b->arena, n_links * sizeof *ends);
    for (uint32_t l = layer; l < layer + n; l++) {
        for (uint32_t i = 0; i < n_links; i++) {
            const wl_link *link = &b->o->link[kind][i];
            dse_status st = DSE_OK;

            if (l == layer && (st = find_end(b, link->from, &ends[i][0])) == DSE_OK)
                st = find_end(b, link->to, &ends[i][1]);
            if (st != DSE_OK || (st = apply_link(b, ends[i], l)) != DSE_OK)
                return st;
        }
    }
    return DSE_OK;
}

static dse_status link_model(builder *b)
{
    const uint32_t n = b->layers, last = n ? n - 1 : 0;
    const struct {
        wl_link_kind kind;
        uint32_t layer, n;
    } in_order[] = {
        {WL_LINK_WITHIN_LAYER, 0, n},  {WL_LINK_FIRST_LAYER, 0, n > 0},
        {WL_LINK_NEXT_LAYER, 0, last}, {WL_LINK_LAST_LAYER, last, n > 0},
        {WL_LINK_LOSS, 0, 1},
    };
    dse_status st = DSE_OK;

    for (size_t i = 0; st == DSE_OK && i < DSE_COUNT(in_order); i++)
        st = apply_links(b, in_order[i].kind, in_order[i].layer, in_order[i].n);
    return st;
}

/* ---- weight updates ------------------------------------------------------------------------ */

static dse_status add_updates(builder *b)
{
    uint32_t n = b->out->n, *gradient = DSE_ARENA_NEW(b->arena, uint32_t, n);
    wl_tensor *tensors = b->out->tensor;

    memset(gradient, 0xff, n * sizeof *gradient); /* DSE_NONE */
    for (uint32_t i = 0; i < n; i++)
        if (tensors[i].gradient_of != DSE_NONE)
            gradient[tensors[i].gradient_of] = i;
    for (uint32_t i = 0; i < n; i++) {
        if (!tensors[i].op->is_weight)
            continue;
        if (gradient[i] == DSE_NONE)
            return dse_fail_at(b->err, DSE_E_CONFIG, b->o->doc.path, "the weight '%.80s' has no gradient",
                               tensors[i].name);
        tensors[b->out->n++] = (wl_tensor){.name = tensors[i].name,
                                           .name_len = tensors[i].name_len,
                                           .revision = 1,
                                           .kind = WL_OP_ADD,
                                           .op = tensors[i].op->update,
                                           .x1 = i,
                                           .x2 = gradient[i],
                                           .gradient_of = DSE_NONE,
                                           .after = DSE_NONE,
                                           .place = tensors[i].place};
    }
    return DSE_OK;
}

dse_status wl_model_build(const wl_operators *o, uint32_t layers, dse_arena *a, wl_model *out, dse_error *err)
{
    builder b = {.o = o, .layers = layers, .arena = a, .names = {.arena = a}, .out = out, .err = err};
    uint64_t total = 0;
    dse_status st;

    *out = (wl_model){0};
    for (uint32_t i = 0; i < o->n_entries; i++) {
        uint64_t copies = o->entry[i].is_layers ? layers : 1;
        total += copies * (entry_size(&o->entry[i]) + count_weights(&o->entry[i]));
    }
    if (total > UINT32_MAX / 8)
        return dse_fail(err, DSE_E_RANGE, "%" PRIu32 " layers make too many tensors", layers);
    out->tensor = DSE_ARENA_NEW(a, wl_tensor, total);
    for (uint32_t i = 0; i < o->n_entries; i++) {
        const wl_entry *e = &o->entry[i];

        if (e->is_layers)
            add_layers(&b, e);
        else
            add_part(&b, e->part[0].prefix, &e->part[0], e->is_last ? layers + 1 : 0);
    }
    st = link_model(&b);
    return st == DSE_OK ? add_updates(&b) : st;
}
