#include "step/model.h"

#include "base/array.h"
#include "step/module.h"

#include <string.h>

typedef struct {
    const cfg_doc *doc;
    const wl_symbols *symbols;
    dse_arena *arena;
    dse_error *err;
} reader;

static dse_status fail(const reader *r, const cfg_node *at, const char *what)
{
    return dse_fail(r->err, DSE_E_CONFIG, "%s: %s", cfg_at(r->doc, at).text, what);
}

static dse_status read_size(const reader *r, const cfg_node *at, uint64_t *out)
{
    const char *text;
    wl_dim d;
    dse_status st = cfg_string(r->doc, at, "a size", &text, r->err);

    if (st == DSE_OK && (st = wl_dim_parse(r->symbols, text, &d, r->err)) != DSE_OK) {
        dse_error_set_where(r->err, cfg_at(r->doc, at).text);
        return st;
    }
    if (st == DSE_OK)
        *out = wl_dim_whole(r->symbols, &d);
    return st;
}

/* One size, or a list of up to `max`. */
static dse_status read_sizes(const reader *r, const cfg_node *at, uint32_t max, uint64_t *out, uint32_t *n)
{
    dse_status st = DSE_OK;

    if (at->kind == CFG_SCALAR) {
        *n = 1;
        return read_size(r, at, out);
    }
    if (at->kind != CFG_LIST || !at->n || at->n > max)
        return fail(
            r, at,
            "a size is expected here, or a list of sizes that is not longer than the kind of module has");
    *n = at->n;
    for (uint32_t i = 0; st == DSE_OK && i < at->n; i++)
        st = read_size(r, at->item[i], &out[i]);
    return st;
}

static dse_status read_flag(const reader *r, const cfg_node *map, const char *key, bool *out)
{
    const cfg_node *at = cfg_get(map, key);

    if (!at)
        return DSE_OK;
    *out = at->kind == CFG_SCALAR && strcmp(at->text, "yes") == 0;
    if (!*out && (at->kind != CFG_SCALAR || strcmp(at->text, "no") != 0))
        return fail(r, at, "yes or no is expected here");
    return DSE_OK;
}

static const step_module_kind *find_kind(const char *name)
{
    const step_module_kind *const *k = step_module_kinds;

    while (*k && strcmp((*k)->name, name) != 0)
        k++;
    return *k;
}

static uint32_t find_module(const step_block *b, const char *name)
{
    for (uint32_t i = 0; i < b->n; i++)
        if (strcmp(b->module[i].name, name) == 0)
            return i;
    return DSE_NONE;
}

/* Of several names the first that the block has. */
static dse_status read_added(const reader *r, const cfg_node *at, const step_block *b, step_module *m)
{
    const uint32_t n = at->kind == CFG_LIST ? at->n : 1;
    uint32_t added = DSE_NONE;

    for (uint32_t i = 0; added == DSE_NONE && i < n; i++) {
        const cfg_node *name = at->kind == CFG_LIST ? at->item[i] : at;

        added = name->kind == CFG_SCALAR ? find_module(b, name->text) : DSE_NONE;
    }

    if (added == DSE_NONE)
        return fail(r, at, "the module whose input is added must stand before this one");
    m->in = m->out[0] = b->module[added].in;
    return DSE_OK;
}

/* What the sizes after the key of a kind are. */
static dse_status read_kind_sizes(const reader *r, const cfg_node *at, step_module *m)
{
    uint64_t size[1 + STEP_MAX_PARTS];
    uint32_t n = 0;
    dse_status st = read_sizes(r, at, 1 + STEP_MAX_PARTS, size, &n);

    if (st != DSE_OK)
        return st;
    m->in = size[0];
    if (m->kind == &step_module_attention || m->kind == &step_module_rotary ||
        m->kind == &step_module_head_norm) {
        if (n != 3)
            return fail(
                r, at,
                "three sizes are expected here: heads, heads of keys and values, and the size of a head");
        m->heads = size[0], m->kv_heads = size[1], m->head_size = m->value_size = size[2];
        m->cached = 2 * m->kv_heads * m->head_size;
        m->in = m->out[0] = m->heads * m->head_size;
        return DSE_OK;
    }
    if (n == 1) {
        m->out[0] = m->in;
        return DSE_OK;
    }
    m->n_parts = n - 1;
    memcpy(m->out, size + 1, m->n_parts * sizeof *size);
    return DSE_OK;
}

static dse_status read_split(const reader *r, const cfg_node *map, step_module *m)
{
    const cfg_node *at = cfg_get(map, "split");

    if (!at)
        return DSE_OK;
    if (at->kind == CFG_SCALAR && strcmp(at->text, "column") == 0)
        m->split = STEP_SPLIT_COLUMN;
    else if (at->kind == CFG_SCALAR && strcmp(at->text, "row") == 0)
        m->split = STEP_SPLIT_ROW;
    else
        return fail(r, at, "column or row is expected here");
    return DSE_OK;
}

static dse_status read_number(const reader *r, const cfg_node *map, const char *key, int64_t max,
                              uint64_t *out)
{
    const cfg_node *at = cfg_get(map, key);
    int64_t v;
    dse_status st = at ? cfg_int(r->doc, at, key, 0, max, &v, r->err) : DSE_OK;

    if (at && st == DSE_OK)
        *out = (uint64_t)v;
    return st;
}

/* The sum of a list of sizes. */
static dse_status read_cached(const reader *r, const cfg_node *at, step_module *m)
{
    uint64_t size[2] = {0};
    uint32_t n;
    dse_status st = read_sizes(r, at, 2, size, &n);

    m->cached = size[0] + size[1];
    return st;
}

/* Every key of a mapping, from item `first` on, is one of these. What is no mapping has none. */
static dse_status check_keys(const reader *r, const cfg_node *map, uint32_t first, const char *what,
                             const char *const *known, size_t n)
{
    char hint[WL_HINT_SIZE];

    for (uint32_t i = first; map && map->kind == CFG_MAP && i < map->n; i++) {
        size_t k = 0;

        while (k < n && strcmp(known[k], map->key[i]->text) != 0)
            k++;
        if (k == n)
            return dse_fail(r->err, DSE_E_CONFIG, "%s: %s has no key '%s'%s",
                            cfg_at(r->doc, map->key[i]).text, what, map->key[i]->text,
                            wl_hint(hint, map->key[i]->text, known, n));
    }
    return DSE_OK;
}
#define CHECK_KEYS(r, map, first, what, known) check_keys(r, map, first, what, known, DSE_COUNT(known))

static dse_status read_module(const reader *r, const cfg_node *map, const step_block *b, step_module *m)
{
    static const char *const keys[] = {
        "split",  "bias",          "mean",    "unbiased",   "plain",         "whole",
        "gated",  "causal",        "again",   "operations", "kv_heads",      "window",
        "shared", "shared_expert", "experts", "top_k",      "expert_groups", "top_groups",
        "value",  "gathered",      "cached",  "keys",       "sinks",         "chunked"};
    const struct {
        const char *key;
        bool *flag;
    } flags[] = {{"bias", &m->has_bias},        {"mean", &m->has_mean},
                 {"unbiased", &m->is_unbiased}, {"plain", &m->is_plain},
                 {"whole", &m->is_whole},       {"gated", &m->is_gated},
                 {"causal", &m->is_causal},     {"again", &m->is_again},
                 {"shared", &m->is_shared},     {"shared_expert", &m->is_shared_expert},
                 {"keys", &m->makes_keys},      {"sinks", &m->has_sinks},
                 {"chunked", &m->is_chunked}};
    const struct {
        const char *key;
        uint64_t *size;
    } sizes[] = {{"kv_heads", &m->kv_heads},    {"value", &m->value_size},
                 {"gathered", &m->gathered},    {"experts", &m->n_experts},
                 {"top_k", &m->top_k},          {"expert_groups", &m->n_expert_groups},
                 {"top_groups", &m->top_groups}};
    const cfg_node *at;
    uint64_t operations = 1;
    dse_status st;

    if (map->kind != CFG_MAP || !map->n)
        return fail(r, map, "a module is a mapping that begins with its kind, such as {norm: Hidden}");
    m->kind = find_kind(map->key[0]->text);
    if (!m->kind)
        return fail(r, map->key[0], "there is no such kind of module; configs/layers/gpt.yaml lists them");
    m->n_parts = 1;
    st =
        m->kind == &step_module_add ? read_added(r, map->item[0], b, m) : read_kind_sizes(r, map->item[0], m);
    if (st == DSE_OK && (st = CHECK_KEYS(r, map, 1, "a module", keys)) == DSE_OK)
        st = read_split(r, map, m);
    for (size_t i = 0; st == DSE_OK && i < DSE_COUNT(flags); i++)
        st = read_flag(r, map, flags[i].key, flags[i].flag);
    if (st == DSE_OK && (st = read_number(r, map, "window", INT64_MAX, &m->window)) == DSE_OK)
        st = read_number(r, map, "operations", 1000, &operations);
    m->operations = (double)operations;
    for (size_t i = 0; st == DSE_OK && i < DSE_COUNT(sizes); i++)
        if ((at = cfg_get(map, sizes[i].key)))
            st = read_size(r, at, sizes[i].size);
    return st == DSE_OK && (at = cfg_get(map, "cached")) ? read_cached(r, at, m) : st;
}

/* Parameters of a module are defined together; modules in the order of the forward pass, unless `define` says
 * another. */
static dse_status add_parameters(const reader *r, const cfg_node *order, step_block *b)
{
    uint32_t n = order ? order->n : b->n, n_with = 0;
    step_parameter unused[STEP_MAX_PARAMETERS];

    b->parameter = DSE_ARENA_NEW(r->arena, step_parameter, (size_t)b->n * STEP_MAX_PARAMETERS);
    if (order && order->kind != CFG_LIST)
        return fail(r, order, "a list of modules is expected here");
    for (uint32_t i = 0; i < n; i++) {
        uint32_t k = i;
        step_parameter *p = b->parameter + b->n_parameters;
        uint32_t added;

        if (order) {
            k = order->item[i]->kind == CFG_SCALAR ? find_module(b, order->item[i]->text) : DSE_NONE;
            if (k == DSE_NONE)
                return fail(r, order->item[i], "no module of the block has this name");
            for (uint32_t j = 0; j < b->n_parameters; j++)
                if (b->parameter[j].module == k)
                    return fail(r, order->item[i], "this module stands in the list twice");
        }
        if (!b->module[k].kind->parameters) {
            if (order)
                return fail(r, order->item[i], "this module has no parameters");
            continue;
        }
        added = b->module[k].kind->parameters(&b->module[k], p);
        for (uint32_t j = 0; j < added; j++)
            p[j].module = k;
        b->n_parameters += added;
    }
    for (uint32_t i = 0; i < b->n; i++) {
        const step_module *m = &b->module[i];

        n_with += m->kind->parameters && m->kind->parameters(m, unused);
    }
    return n < n_with ? fail(r, order, "the list leaves out a module that has parameters") : DSE_OK;
}

static dse_status read_block(const reader *r, const cfg_node *map, const cfg_node *order, step_block *b)
{
    dse_status st = DSE_OK;

    if (!map || map->kind != CFG_MAP)
        return fail(r, map ? map : r->doc->root,
                    "three blocks are expected: embedding, layer (or those of a pattern), head");
    b->module = DSE_ARENA_NEW(r->arena, step_module, map->n);
    for (uint32_t i = 0; st == DSE_OK && i < map->n; i++) {
        b->module[i].name = map->key[i]->text;
        st = read_module(r, map->item[i], b, &b->module[i]);
        b->n = i + 1;
        if (i && b->module[i].kind == &step_module_add && b->module[i - 1].kind == &step_module_dropout)
            b->module[i - 1].is_added = b->module[i].is_dropped = true;
        for (uint32_t j = 0; j < i && b->module[i].kind == &step_module_positions; j++)
            b->module[j].before_positions = true;
    }
    return st == DSE_OK ? add_parameters(r, order, b) : st;
}

/* ---- the layers -------------------------------------------------------------------------------- */

/* The names of a model's blocks in the order of step_block_kind, as far as they are known. */
typedef struct {
    uint32_t n;
    const char *of[STEP_MAX_BLOCKS];
} block_names;

/* The number of a kind of layer; a name that is new is the next. */
static dse_status find_layer(const reader *r, const cfg_node *at, block_names *names, uint8_t *out)
{
    uint32_t i = STEP_LAYER;

    if (at->kind != CFG_SCALAR)
        return fail(r, at, "the name of a block is expected here, a kind of layer");
    while (i < names->n && strcmp(names->of[i], at->text) != 0)
        i++;
    if (i < STEP_LAYER || !strcmp(at->text, names->of[STEP_EMBEDDING]) ||
        !strcmp(at->text, names->of[STEP_HEAD]))
        return fail(r, at, "this block is no layer");
    if (i == STEP_LAYER + STEP_MAX_KINDS)
        return dse_fail(r->err, DSE_E_CONFIG, "%s: more than %d kinds of layers", cfg_at(r->doc, at).text,
                        STEP_MAX_KINDS);
    if (i == names->n)
        names->of[names->n++] = at->text;
    *out = (uint8_t)i;
    return DSE_OK;
}

static dse_status check_list(const reader *r, const cfg_node *list)
{
    return !list || (list->kind == CFG_LIST && list->n)
               ? DSE_OK
               : fail(r, list, "a list of blocks is expected here, kinds of layers");
}

/* Which kind each layer is of: those of `first` one by one, then those of `repeat` over and over. */
static dse_status read_pattern(const reader *r, const cfg_node *pattern, step_model *out, block_names *names)
{
    static const char *const keys[] = {"first", "repeat"};
    const cfg_node *first = cfg_get(pattern, "first"), *repeat = cfg_get(pattern, "repeat");
    const uint32_t n_first = first ? first->n : 0;
    uint8_t *layer = DSE_ARENA_NEW(r->arena, uint8_t, out->n_layers), *named;
    uint32_t n_repeat;
    dse_status st;

    if (pattern->kind != CFG_MAP)
        return fail(r, pattern, "lists of layers are expected here: first, repeat");
    if ((st = CHECK_KEYS(r, pattern, 0, "'pattern'", keys)) != DSE_OK ||
        (st = check_list(r, first)) != DSE_OK || (st = check_list(r, repeat)) != DSE_OK)
        return st;
    if (!repeat && n_first < out->n_layers)
        return fail(r, pattern, "the pattern has fewer layers than the model, and no 'repeat'");
    n_repeat = repeat ? repeat->n : 0;
    named = DSE_ARENA_NEW(r->arena, uint8_t, n_first + n_repeat);
    for (uint32_t i = 0; st == DSE_OK && i < n_first + n_repeat; i++)
        st = find_layer(r, i < n_first ? first->item[i] : repeat->item[i - n_first], names, &named[i]);
    for (uint32_t i = 0; st == DSE_OK && i < out->n_layers; i++)
        layer[i] = named[i < n_first ? i : n_first + (i - n_first) % n_repeat];
    out->layer = layer;
    return st;
}

static dse_status read_blocks(const reader *r, const cfg_node *blocks, const cfg_node *define,
                              const block_names *names, step_model *out)
{
    dse_status st = DSE_OK;

    for (uint32_t i = 0; st == DSE_OK && i < names->n; i++) {
        /* As they stand in a file: the head behind the layers. */
        const uint32_t k = i == STEP_EMBEDDING ? i : i + 1 < names->n ? i + 1 : (uint32_t)STEP_HEAD;
        step_block *b = &out->block[k];

        st = read_block(r, cfg_get(blocks, names->of[k]), cfg_get(define, names->of[k]), b);
        for (uint32_t j = 0; step_is_layer((step_block_kind)k) && j < b->n; j++)
            b->module[j].is_of_layer = true;
    }
    out->n_blocks = names->n;
    return st;
}

dse_status step_model_read(const cfg_doc *doc, const wl_symbols *symbols, uint32_t n_layers, dse_arena *a,
                           step_model *out, dse_error *err)
{
    static const char *const keys[] = {"symbols", "hidden", "sequence", "blocks", "define", "pattern"};
    const reader r = {doc, symbols, a, err};
    const cfg_node *blocks = cfg_get(doc->root, "blocks"), *define = cfg_get(doc->root, "define");
    const cfg_node *sequence = cfg_get(doc->root, "sequence"), *hidden = cfg_get(doc->root, "hidden");
    const cfg_node *pattern = cfg_get(doc->root, "pattern");
    block_names names = {pattern ? STEP_LAYER : STEP_LAYER + 1, {"embedding", "head", "layer"}};
    dse_status st = DSE_OK;

    *out = (step_model){.n_layers = n_layers};
    if ((st = CHECK_KEYS(&r, doc->root, 0, "a model", keys)) != DSE_OK)
        return st;
    if (!sequence || !hidden)
        return fail(&r, doc->root,
                    "'hidden' and 'sequence' are expected: the size of the hidden state and of a sequence");
    if (define && define->kind != CFG_MAP)
        return fail(&r, define, "blocks are expected here, each with a list of its modules");
    if (pattern && (st = read_pattern(&r, pattern, out, &names)) != DSE_OK)
        return st;
    if ((st = check_keys(&r, blocks, 0, "'blocks'", names.of, names.n)) != DSE_OK ||
        (st = check_keys(&r, define, 0, "'define'", names.of, names.n)) != DSE_OK ||
        (st = read_blocks(&r, blocks, define, &names, out)) != DSE_OK)
        return st;
    if ((st = read_size(&r, sequence, &out->sequence)) != DSE_OK ||
        (st = read_size(&r, hidden, &out->hidden)) != DSE_OK)
        return st;
    for (uint32_t i = STEP_LAYER; i < out->n_blocks; i++)
        step_block_mark_parts(&out->block[i], out->hidden);
    return DSE_OK;
}

dse_status step_model_spread(step_model *m, const double *const *share, dse_arena *a, dse_error *err)
{
    uint8_t *layer = DSE_ARENA_NEW(a, uint8_t, m->n_layers);

    for (uint32_t i = 0; i < m->n_layers; i++) {
        step_block *own = &m->block[m->n_blocks];

        layer[i] = m->layer ? m->layer[i] : STEP_LAYER;
        if (!share[i])
            continue;
        if (m->n_blocks == STEP_LAYER + STEP_MAX_KINDS) /* one more is that of step_model_add_mtp */
            return dse_fail(
                err, DSE_E_RANGE,
                "tokens are spread by a file over more than %d kinds of layers; list fewer layers",
                STEP_MAX_KINDS);
        *own = m->block[layer[i]];
        own->module = dse_arena_copy(a, own->module, own->n, sizeof *own->module);
        for (uint32_t k = 0; k < own->n; k++)
            own->module[k].share = own->module[k].n_experts ? share[i] : NULL;
        layer[i] = (uint8_t)m->n_blocks++;
    }
    m->layer = layer;
    return DSE_OK;
}

uint32_t step_block_times(const step_model *m, step_block_kind block)
{
    uint32_t n = 0;

    if (!step_is_layer(block))
        return 1;
    if (m->n_mtp && block == m->mtp_block)
        return m->n_mtp;
    for (uint32_t i = 0; m->layer && i < m->n_layers; i++)
        n += m->layer[i] == block;
    return m->layer ? n : block == STEP_LAYER ? m->n_layers : 0;
}

uint32_t step_parameter_times(const step_model *m, step_block_kind block, const step_parameter *p)
{
    if (block == STEP_HEAD && !step_is_output(&m->block[block], p))
        return 1 + m->n_mtp;
    return step_block_times(m, block);
}

/* ---- layers that predict further tokens --------------------------------------------------------- */

enum { MTP_TOKEN, MTP_HIDDEN, MTP_JOINED, MTP_N };

static step_module norm_like(const step_block *layer, const char *name, uint64_t hidden)
{
    step_module norm = {.kind = &step_module_norm, .in = hidden, .n_parts = 1};

    for (uint32_t i = layer->n; i-- > 0;)
        if (layer->module[i].kind == &step_module_norm && layer->module[i].in == hidden)
            norm = layer->module[i];
    norm.name = name;
    norm.is_shared = false;
    norm.parts = norm.begins = norm.reads = 0;
    norm.is_of_layer = true;
    return norm;
}

void step_model_add_mtp(step_model *m, uint32_t n, dse_arena *a)
{
    const step_block *layer = &m->block[m->layer ? m->layer[m->n_layers - 1] : STEP_LAYER];
    step_block *b = &m->block[m->n_blocks];

    *b = (step_block){
        .n = MTP_N + layer->n,
        .module = DSE_ARENA_NEW(a, step_module, MTP_N + layer->n),
        .parameter = DSE_ARENA_NEW(a, step_parameter, MTP_N * STEP_MAX_PARAMETERS + layer->n_parameters)};
    b->module[MTP_TOKEN] = norm_like(layer, "mtp_token_norm", m->hidden);
    b->module[MTP_HIDDEN] = norm_like(layer, "mtp_hidden_norm", m->hidden);
    b->module[MTP_JOINED] = (step_module){.name = "mtp_projection",
                                          .kind = &step_module_linear,
                                          .in = 2 * m->hidden,
                                          .n_parts = 1,
                                          .out = {m->hidden},
                                          .is_of_layer = true};
    for (uint32_t i = 0; i < MTP_N; i++) {
        step_parameter *p = b->parameter + b->n_parameters;
        const uint32_t added = b->module[i].kind->parameters(&b->module[i], p);

        for (uint32_t k = 0; k < added; k++)
            p[k].module = i;
        b->n_parameters += added;
    }
    memcpy(b->module + MTP_N, layer->module, layer->n * sizeof *b->module);
    for (uint32_t i = MTP_N; i < b->n; i++)
        b->module[i].made_until += MTP_N;
    for (uint32_t i = 0; i < layer->n_parameters; i++) {
        b->parameter[b->n_parameters] = layer->parameter[i];
        b->parameter[b->n_parameters++].module += MTP_N;
    }
    m->n_mtp = n;
    m->mtp_block = (uint8_t)m->n_blocks++;
}

bool step_is_output(const step_block *b, const step_parameter *p)
{
    return b->module[p->module].kind == &step_module_linear && p->columns > 1 && p->module + 1 < b->n &&
           b->module[p->module + 1].kind == &step_module_loss;
}

step_parameter step_parameter_on(const step_parameter *p, step_split_over over)
{
    const uint32_t n = p->n_experts ? over.etp : over.tp;
    step_parameter here = *p;

    if (p->is_split && p->is_by_columns)
        here.columns = (p->columns + n - 1) / n;
    else if (p->is_split)
        here.rows = (p->rows + n - 1) / n;
    here.n_experts = p->n_experts ? (p->n_experts + over.ep - 1) / over.ep : 0;
    return here;
}

uint64_t step_parameter_elements(const step_parameter *p)
{
    return p->rows * p->columns * (p->n_experts ? p->n_experts : 1);
}

uint64_t step_parameter_share(const step_parameter *p, step_split_over over)
{
    const step_parameter here = step_parameter_on(p, over);

    return step_parameter_elements(&here);
}
