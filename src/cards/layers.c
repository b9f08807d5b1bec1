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

/* What cards may say for operators with conditions alone. */
static const char *const features[] = {"gate",
                                       "norm",
                                       "norms",
                                       "block",
                                       "qk_norm",
                                       "position",
                                       "positions",
                                       "embedding_width",
                                       "dropout",
                                       "embedding_norm",
                                       "final_norm",
                                       "window",
                                       "windowed_layers",
                                       "bias.qkv",
                                       "bias.projection",
                                       "bias.mlp",
                                       "bias.head",
                                       "experts",
                                       "experts_per_token",
                                       "d_ff_expert",
                                       "shared_experts",
                                       "d_ff_shared",
                                       "shared_expert_gate",
                                       "router_groups",
                                       "router_groups_per_token",
                                       "router_bias",
                                       "expert_bias"};

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

static dse_status select_blocks(const selection *s, const cfg_node *blocks, const cfg_node *define,
                                cfg_node **new_blocks, cfg_node **new_define)
{
    dse_status st = DSE_OK;

    *new_blocks = empty_like(blocks, s->arena);
    for (uint32_t i = 0; st == DSE_OK && i < blocks->n; i++) {
        cfg_node *block = blocks->item[i];

        if (block->kind == CFG_MAP)
            st = select_block(s, blocks->item[i], &block);
        if (st == DSE_OK)
            add(*new_blocks, blocks->key[i], block);
    }
    if (st != DSE_OK || !define || define->kind != CFG_MAP)
        return st;
    *new_define = empty_like(define, s->arena);
    for (uint32_t i = 0; i < define->n; i++) {
        const cfg_node *whole = cfg_get(blocks, define->key[i]->text),
                       *left = cfg_get(*new_blocks, define->key[i]->text);

        add(*new_define, define->key[i],
            whole && left ? select_order(define->item[i], whole, left, s->arena) : define->item[i]);
    }
    return DSE_OK;
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
                   *blocks = cfg_get(root, "blocks"), *define = cfg_get(root, "define");
    const selection s = {m, operators, conditions, a, err};
    cfg_node *new_blocks = NULL, *new_define = NULL, *new_root;
    dse_status st = check_features(m, operators, err);

    *out = *operators;
    if (st != DSE_OK || !conditions || !blocks || blocks->kind != CFG_MAP)
        return st;
    if ((st = select_blocks(&s, blocks, define, &new_blocks, &new_define)) != DSE_OK)
        return st;
    new_root = empty_like(root, a);
    for (uint32_t i = 0; i < root->n; i++)
        if (root->item[i] != conditions)
            add(new_root, root->key[i],
                root->item[i] == blocks                 ? new_blocks
                : root->item[i] == define && new_define ? new_define
                                                        : root->item[i]);
    out->root = new_root;
    return DSE_OK;
}
