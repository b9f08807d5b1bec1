/* Looking at a config, whatever its family. */
#include "cards/hf_parts.h"

#include <string.h>

static bool is_null(const cfg_node *node)
{
    return node->kind == CFG_SCALAR && !node->quoted && !strcmp(node->text, "null");
}

uint32_t card_hf_find(const cfg_node *root, const char *key)
{
    for (uint32_t i = 0; i < root->n; i++)
        if (!strcmp(root->key[i]->text, key))
            return is_null(root->item[i]) ? DSE_NONE : i;
    return DSE_NONE;
}

bool card_hf_says(const cfg_node *root, const char *key, const char *value)
{
    uint32_t i = card_hf_find(root, key);

    return i != DSE_NONE && root->item[i]->kind == CFG_SCALAR && !strcmp(root->item[i]->text, value);
}

bool card_hf_number(const cfg_node *node, int64_t *out)
{
    return node->kind == CFG_SCALAR && !node->quoted && dse_parse_int(node->text, out, NULL) == DSE_OK;
}

const cfg_node *card_hf_value(const cfg_node *root, const char *section, const char *name,
                              const cfg_node **key)
{
    const cfg_node *map = section ? cfg_get(root, section) : root;
    uint32_t i = map && map->kind == CFG_MAP ? card_hf_find(map, name) : DSE_NONE;

    if (i == DSE_NONE)
        return NULL;
    if (key)
        *key = map->key[i];
    return map->item[i];
}

int64_t card_hf_number_or(const cfg_node *root, const char *key, int64_t otherwise)
{
    const int64_t most = 1000000000000000;
    uint32_t i = card_hf_find(root, key);
    int64_t n;

    return i != DSE_NONE && card_hf_number(root->item[i], &n) && n >= 0 && n <= most ? n : otherwise;
}

const cfg_node *card_hf_text(const cfg_doc *doc)
{
    const cfg_node *text = cfg_get(doc->root, "text_config");

    return text && text->kind == CFG_MAP ? text : doc->root;
}

bool card_hf_is_windowed(const cfg_node *type)
{
    return !strcmp(type->text, "sliding_attention") || !strcmp(type->text, "chunked_attention");
}

const cfg_node *card_hf_layer_types(const cfg_node *root)
{
    const cfg_node *types = cfg_get(root, "layer_types");

    return types && types->kind == CFG_LIST && types->n ? types : NULL;
}

static bool has_window(const card_hf_windows *w, int64_t layers, int64_t i)
{
    return i >= layers - w->last && !(w->full_every && (i + 1) % w->full_every == 0);
}

/* A list of the layers, if it is one of the two. */
bool card_hf_find_windows(const cfg_node *types, card_hf_windows *out)
{
    const int64_t n = types->n;
    int64_t n_full = 0, first_full = 0;
    bool fits = true;

    for (int64_t i = n; i-- > 0;)
        if (!card_hf_is_windowed(types->item[i]))
            n_full++, first_full = i + 1;
    *out = (card_hf_windows){.last = n_full < n ? n : 0, .full_every = first_full};
    if (first_full == 1)
        *out = (card_hf_windows){.last = n - n_full};
    for (int64_t i = 0; i < n; i++)
        fits &= has_window(out, n, i) == card_hf_is_windowed(types->item[i]);
    return fits;
}
