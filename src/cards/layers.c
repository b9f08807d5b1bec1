#include "cards/model.h"

#include "base/array.h"

#include <inttypes.h>
#include <string.h>

typedef struct {
    const card_model *card;
    const cfg_doc *doc;
    const cfg_node *conditions;
    dse_arena *arena;
    dse_error *err;
} selection;

#define PATTERN "pattern"
#define LAYER   "layer" /* the block that a file has for all layers */

/* What cards may say for operators with conditions alone. */
static const char *const features[] = {"gate",          "norm",
                                       "norms",         "block",
                                       "qk_norm",       "position",
                                       "positions",     "embedding_width",
                                       "dropout",       "embedding_norm",
                                       "final_norm",    "window",
                                       "window_chunks", "attention_sinks",
                                       "kv_lora_rank",  "q_lora_rank",
                                       "bias.qkv",      "bias.projection",
                                       "bias.mlp",      "bias.head",
                                       "experts",       "experts_per_token",
                                       "d_ff_expert",   "shared_experts",
                                       "d_ff_shared",   "shared_expert_gate",
                                       "router_groups", "router_groups_per_token",
                                       "router_bias",   "expert_bias"};

/* ---- layers that differ --------------------------------------------------------------------------- */

/* What one layer has and another may not have: bits. Layers with the same are of one kind. */
enum { LAYER_WINDOW = 1, LAYER_EXPERTS = 2, LAYER_N_FACTS = 4 };

bool card_model_has_experts_in(const card_model *m, int64_t layer)
{
    return m->experts && layer >= m->first_dense_layers &&
           !(m->expert_every && (layer + 1) % m->expert_every);
}

static unsigned facts_of(const card_model *m, int64_t layer)
{
    const bool is_last = !m->windowed_layers || layer >= m->layers - m->windowed_layers;
    const bool is_full = m->full_attention_every && (layer + 1) % m->full_attention_every == 0;

    return (m->window && is_last && !is_full ? LAYER_WINDOW : 0) |
           (card_model_has_experts_in(m, layer) ? LAYER_EXPERTS : 0);
}

/* The card as it is for such a layer: of what that has not there is nothing. Conditions read it. */
static card_model card_of(const card_model *m, unsigned facts)
{
    card_model of = *m;

    if (!(facts & LAYER_WINDOW))
        of.window = 0;
    if (!(facts & LAYER_EXPERTS))
        of.experts = 0;
    return of;
}

/* The kinds of a model's layers, in the order in which they come first. */
typedef struct {
    uint32_t n;
    unsigned facts[LAYER_N_FACTS];
    const char *name[LAYER_N_FACTS]; /* of their blocks; of the first "layer" */
    cfg_node *pattern;               /* lists the layers; NULL: all are of one kind */
} layer_kinds;

static uint32_t find_kind(const layer_kinds *k, unsigned facts)
{
    uint32_t i = 0;

    while (i < k->n && k->facts[i] != facts)
        i++;
    return i;
}

static cfg_node *scalar_at(const cfg_node *at, const char *text, dse_arena *a)
{
    const cfg_node node = {.kind = CFG_SCALAR, .line = at->line, .column = at->column, .text = text};

    return dse_arena_copy(a, &node, 1, sizeof node);
}

static cfg_node *pattern_of(const layer_kinds *k, const card_model *m, const cfg_node *at, dse_arena *a)
{
    cfg_node *list = DSE_ARENA_NEW(a, cfg_node, 1), *pattern = DSE_ARENA_NEW(a, cfg_node, 1);
    cfg_node *name[LAYER_N_FACTS] = {0};

    for (uint32_t i = 0; i < k->n; i++)
        name[i] = scalar_at(at, k->name[i], a);
    *list = (cfg_node){.kind = CFG_LIST, .line = at->line, .column = at->column, .n = (uint32_t)m->layers};
    list->item = DSE_ARENA_RAW(a, cfg_node *, list->n);
    for (uint32_t i = 0; i < list->n; i++)
        list->item[i] = name[find_kind(k, facts_of(m, i))];
    *pattern = (cfg_node){.kind = CFG_MAP, .line = at->line, .column = at->column, .n = 1};
    pattern->key = DSE_ARENA_NEW(a, cfg_node *, 1);
    pattern->item = DSE_ARENA_NEW(a, cfg_node *, 1);
    pattern->key[0] = scalar_at(at, "repeat", a);
    pattern->item[0] = list;
    return pattern;
}

/* `at`: the block of the layer. */
static layer_kinds kinds_of(const card_model *m, const cfg_node *at, dse_arena *a)
{
    layer_kinds k = {0};

    for (int64_t i = 0; i < m->layers; i++) {
        const unsigned facts = facts_of(m, i);

        if (find_kind(&k, facts) < k.n)
            continue;
        k.name[k.n] = k.n ? dse_arena_printf(a, "layer_%" PRIu32, k.n + 1) : LAYER;
        k.facts[k.n++] = facts;
    }
    if (k.n > 1)
        k.pattern = pattern_of(&k, m, at, a);
    return k;
}

/* ---- conditions: key, or key=word|word of the card ------------------------------------------------ */

static bool is_one_of(const char *word, const char *words)
{
    size_t n = strlen(word);

    for (const char *p = words; *p; p += strcspn(p, "|"), p += *p == '|')
        if (strcspn(p, "|") == n && !strncmp(p, word, n))
            return true;
    return false;
}

static bool reads(const char *condition, const char *key)
{
    size_t n = strcspn(condition, "=");

    return strlen(key) == n && !strncmp(condition, key, n);
}

/* "yes", "no", or a number; of a number that words name, yes or no. */
static dse_status value_of(const selection *s, const cfg_node *condition, const char **out)
{
    const char *text = condition->kind == CFG_SCALAR ? condition->text : "";
    const char *words = text + strcspn(text, "=");
    const char *key = dse_arena_printf(s->arena, "%.*s", (int)(words - text), text);
    const cfg_param *p = cfg_param_find(&card_model_table, key);
    const void *field = p ? (const char *)(const void *)s->card + p->offset : NULL;

    if (!p || (p->type != CFG_T_INT && p->type != CFG_T_BOOL && p->type != CFG_T_NAME))
        return cfg_fail(s->err, s->doc, condition,
                        "'%.60s' is no condition: a key of the model card is expected, or key=word|word",
                        text);
    if (p->type == CFG_T_INT)
        *out = dse_arena_printf(s->arena, "%" PRId64, *(const int64_t *)field);
    if (p->type == CFG_T_INT && *words)
        *out = is_one_of(*out, words + 1) ? "yes" : "no";
    else if (p->type == CFG_T_INT)
        return DSE_OK;
    else if (p->type == CFG_T_NAME)
        *out = is_one_of(field, words + (*words == '=')) ? "yes" : "no";
    else
        *out = *(const bool *)field == (!*words || is_one_of("true", words + 1)) ? "yes" : "no";
    return DSE_OK;
}

/* NULL: no such condition. */
static dse_status look_up(const selection *s, const cfg_node *name, const char **out)
{
    const cfg_node *condition = name->kind == CFG_SCALAR ? cfg_get(s->conditions, name->text) : NULL;

    *out = NULL;
    return condition ? value_of(s, condition, out) : DSE_OK;
}

/* `when: name`, or a list of names that all hold. */
static dse_status holds(const selection *s, const cfg_node *when, bool *out)
{
    const uint32_t n = when->kind == CFG_LIST ? when->n : 1;
    dse_status st = DSE_OK;

    *out = true;
    for (uint32_t i = 0; st == DSE_OK && i < n; i++) {
        const cfg_node *name = when->kind == CFG_LIST ? when->item[i] : when;
        const char *value;

        st = look_up(s, name, &value);
        if (st == DSE_OK && !value)
            return cfg_fail(s->err, s->doc, name, "a name of 'conditions' is expected here");
        *out = *out && st == DSE_OK && strcmp(value, "no") != 0 && strcmp(value, "0") != 0;
    }
    return st;
}

/* ---- the file without what does not hold ---------------------------------------------------------- */

static cfg_node *empty_like(const cfg_node *map, dse_arena *a)
{
    cfg_node *out = dse_arena_copy(a, map, 1, sizeof *map);

    out->n = 0;
    out->key = DSE_ARENA_NEW(a, cfg_node *, map->n);
    out->item = DSE_ARENA_NEW(a, cfg_node *, map->n);
    return out;
}

static void add(cfg_node *map, cfg_node *key, cfg_node *item)
{
    map->key[map->n] = key;
    map->item[map->n++] = item;
}

/* A module with its values; NULL where it is left out. */
static dse_status select_module(const selection *s, cfg_node *module, cfg_node **out)
{
    const cfg_node *when = cfg_get(module, "when");
    bool is_there = true;
    dse_status st = when ? holds(s, when, &is_there) : DSE_OK;

    *out = NULL;
    if (st != DSE_OK || !is_there || module->kind != CFG_MAP) {
        *out = module->kind == CFG_MAP ? NULL : module;
        return st;
    }
    *out = empty_like(module, s->arena);
    for (uint32_t i = 0; st == DSE_OK && i < module->n; i++) {
        cfg_node *item = module->item[i];
        const char *value = NULL;

        if (!strcmp(module->key[i]->text, "when"))
            continue;
        if (i && (st = look_up(s, item, &value)) == DSE_OK && value) {
            item = dse_arena_copy(s->arena, item, 1, sizeof *item);
            item->text = value;
        }
        add(*out, module->key[i], item);
    }
    return st;
}

static dse_status select_block(const selection *s, const cfg_node *block, cfg_node **out)
{
    dse_status st = DSE_OK;

    *out = empty_like(block, s->arena);
    for (uint32_t i = 0; st == DSE_OK && i < block->n; i++) {
        cfg_node *module;

        st = select_module(s, block->item[i], &module);
        if (module)
            add(*out, block->key[i], module);
    }
    return st;
}

/* The order of definition without the modules that are left out. */
static cfg_node *select_order(const cfg_node *order, const cfg_node *whole, const cfg_node *block,
                              dse_arena *a)
{
    cfg_node *out = dse_arena_copy(a, order, 1, sizeof *order);

    if (order->kind != CFG_LIST)
        return out;
    out->n = 0;
    out->item = DSE_ARENA_NEW(a, cfg_node *, order->n);
    for (uint32_t i = 0; i < order->n; i++) {
        const char *name = order->item[i]->kind == CFG_SCALAR ? order->item[i]->text : "";

        if (!cfg_get(whole, name) || cfg_get(block, name))
            out->item[out->n++] = order->item[i];
    }
    return out;
}

/* Where blocks and orders of definition are collected. */
typedef struct {
    cfg_node *blocks, *define; /* NULL: the file has no orders */
    const cfg_node *of_blocks, *of_define;
} selected;

/* A block of the file as one with this name, for what the card of `s` says. */
static dse_status add_block(const selection *s, uint32_t i, const char *name, selected *out)
{
    cfg_node *key = dse_arena_copy(s->arena, out->of_blocks->key[i], 1, sizeof *key);
    cfg_node *whole = out->of_blocks->item[i], *block = whole;
    const uint32_t n = out->of_define ? out->of_define->n : 0;
    dse_status st = whole->kind == CFG_MAP ? select_block(s, whole, &block) : DSE_OK;

    key->text = name;
    if (st == DSE_OK)
        add(out->blocks, key, block);
    for (uint32_t k = 0; st == DSE_OK && k < n; k++)
        if (!strcmp(out->of_define->key[k]->text, out->of_blocks->key[i]->text))
            add(out->define, key, select_order(out->of_define->item[k], whole, block, s->arena));
    return st;
}

/* The block `layer` once for each kind. */
static dse_status add_layers(const selection *s, uint32_t i, const layer_kinds *kinds, selected *out)
{
    dse_status st = DSE_OK;

    for (uint32_t k = 0; st == DSE_OK && k < kinds->n; k++) {
        const card_model card = card_of(s->card, kinds->facts[k]);
        const selection of = {&card, s->doc, s->conditions, s->arena, s->err};

        st = add_block(&of, i, kinds->name[k], out);
    }
    return st;
}

/* A mapping of one entry more for each further kind of layer. */
static cfg_node *room_for(const cfg_node *map, dse_arena *a)
{
    cfg_node *out = empty_like(map, a);

    out->key = DSE_ARENA_NEW(a, cfg_node *, map->n + LAYER_N_FACTS);
    out->item = DSE_ARENA_NEW(a, cfg_node *, map->n + LAYER_N_FACTS);
    return out;
}

/* An order of definition of a block that there is not stays, as the reader refuses it. */
static void keep_unknown_orders(selected *out)
{
    for (uint32_t k = 0; out->define && k < out->of_define->n; k++)
        if (!cfg_get(out->of_blocks, out->of_define->key[k]->text))
            add(out->define, out->of_define->key[k], out->of_define->item[k]);
}

static dse_status select_blocks(const selection *s, const layer_kinds *kinds, selected *out)
{
    dse_status st = DSE_OK;

    out->blocks = room_for(out->of_blocks, s->arena);
    if (out->of_define && out->of_define->kind == CFG_MAP)
        out->define = room_for(out->of_define, s->arena);
    else
        out->of_define = NULL;
    for (uint32_t i = 0; st == DSE_OK && i < out->of_blocks->n; i++) {
        const char *name = out->of_blocks->key[i]->text;

        st = kinds->n && !strcmp(name, LAYER) ? add_layers(s, i, kinds, out) : add_block(s, i, name, out);
    }
    keep_unknown_orders(out);
    return st;
}

/* What a card says beyond its family would be without effect. */
static dse_status check_features(const card_model *m, const cfg_doc *operators, dse_error *err)
{
    const cfg_node *lists[] = {cfg_get(operators->root, "symbols"), cfg_get(operators->root, "conditions")};

    for (size_t i = 0; i < DSE_COUNT(features); i++) {
        const cfg_param *p = cfg_param_find(&card_model_table, features[i]);
        bool is_read = cfg_param_is_absent(p, m);

        for (size_t k = 0; k < DSE_COUNT(lists); k++)
            for (uint32_t j = 0; lists[k] && lists[k]->kind == CFG_MAP && j < lists[k]->n; j++)
                is_read |=
                    lists[k]->item[j]->kind == CFG_SCALAR && reads(lists[k]->item[j]->text, features[i]);
        if (!is_read)
            return dse_fail(err, DSE_E_CONFIG,
                            "the operators '%s' have no '%s'; give --set operators=decoder", m->operators,
                            features[i]);
    }
    return DSE_OK;
}

dse_status card_model_layers(const card_model *m, const cfg_doc *operators, dse_arena *a, cfg_doc *out,
                             dse_error *err)
{
    const cfg_node *root = operators->root, *conditions = cfg_get(root, "conditions"),
                   *blocks = cfg_get(root, "blocks"), *define = cfg_get(root, "define"),
                   *layer = cfg_get(blocks, LAYER);
    const selection s = {m, operators, conditions, a, err};
    selected new = {.of_blocks = blocks, .of_define = define};
    layer_kinds kinds = {0};
    cfg_node *new_root;
    dse_status st = check_features(m, operators, err);

    *out = *operators;
    if (st != DSE_OK || !conditions || !blocks || blocks->kind != CFG_MAP)
        return st;
    if (layer && !cfg_get(root, PATTERN))
        kinds = kinds_of(m, layer, a);
    if ((st = select_blocks(&s, &kinds, &new)) != DSE_OK)
        return st;
    new_root = room_for(root, a);
    for (uint32_t i = 0; i < root->n; i++)
        if (root->item[i] != conditions)
            add(new_root, root->key[i],
                root->item[i] == blocks                ? new.blocks
                : root->item[i] == define &&new.define ? new.define
                                                       : root->item[i]);
    if (kinds.pattern)
        add(new_root, scalar_at(layer, PATTERN, a), kinds.pattern);
    out->root = new_root;
    return DSE_OK;
}
