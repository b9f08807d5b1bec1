/* Lists of what MaxText's policy `custom` keeps of a layer, and what is then made again. Sources: MaxText's
 * configs/base.yml ("If \"custom\" remat_policy is chosen, you can select tensors from the following list to
 * offload on host memory, rematerialize or save on device memory"; all but the layer's input are "remat"),
 * layers/decoders.py, get_remat_policy, and layers/attention_op.py: residual_checkpoint_name "context" of its
 * kernels, so that who keeps the context does not run attention again. */
#include "base/array.h"
#include "measured/job_row.h"

#include <string.h>

#define LIST "maxtext_config"

static const char *const results[] = {"query_proj", "key_proj", "value_proj", "kv_proj",
                                      "qkv_proj",   "context",  "out_proj",   "mlpwi",
                                      "mlpwi_0",    "mlpwi_1",  "mlpwo",      "decoder_layer_input"};
enum { QUERY, KEY, VALUE, KV, QKV, CONTEXT, OUT, WI, WI_0, WI_1, WO, INPUT };

/* "query_proj": "device", or, as a command line was cut, "query_proj=device": "". */
static bool is_kept(const cfg_node *list, size_t i, bool *mentioned)
{
    const size_t n = strlen(results[i]);

    for (uint32_t k = 0; k < list->n; k++) {
        const char *key = list->key[k]->text, *value = "";

        if (strncmp(key, results[i], n) != 0 || (key[n] && key[n] != '='))
            continue;
        if (key[n])
            value = key + n + 1;
        else if (list->item[k]->kind == CFG_SCALAR)
            value = list->item[k]->text;
        *mentioned = true;
        if (!strcmp(value, "device") || !strcmp(value, "offload"))
            return true;
    }
    return false;
}

bool msr_kept_of(const cfg_node *row, unsigned *out)
{
    const cfg_node *list = cfg_get(row, LIST);
    bool kept[DSE_COUNT(results)], mentioned = false;

    *out = 0;
    if (!list || list->kind != CFG_MAP)
        return false;
    for (size_t i = 0; i < DSE_COUNT(results); i++)
        kept[i] = is_kept(list, i, &mentioned);
    if (kept[QKV] || (kept[QUERY] && (kept[KV] || (kept[KEY] && kept[VALUE]))))
        *out |= MSR_KEPT_QKV;
    if (kept[CONTEXT])
        *out |= MSR_KEPT_CONTEXT;
    if (kept[OUT])
        *out |= MSR_KEPT_OUT;
    if (kept[WI] || (kept[WI_0] && kept[WI_1]))
        *out |= MSR_KEPT_MLP;
    for (size_t i = 0; i < INPUT; i++)
        *out |= kept[i] ? MSR_KEPT_OTHER : 0;
    return mentioned;
}

/* The modules that a step can make again are attention itself and the feed-forward network; its projections
 * alone are none. */
msr_recompute msr_recompute_of_kept(unsigned kept, const char **parts, const char **nearest)
{
    const bool attention = !(kept & MSR_KEPT_CONTEXT), mlp = !(kept & MSR_KEPT_MLP),
               projections = !(kept & MSR_KEPT_QKV) || !(kept & MSR_KEPT_OUT);

    *parts = *nearest = NULL;
    if (!kept) /* but the layer's input */
        return MSR_RECOMPUTE_FULL;
    if (attention && !(kept & MSR_KEPT_QKV)) {
        *nearest =
            "recomputation of all of a layer, the nearest to a list that keeps neither queries nor what "
            "attention makes of them";
        return MSR_RECOMPUTE_FULL;
    }
    if (projections)
        *nearest =
            "no recomputation of attention's projections, of which the list does not keep all: they are "
            "no module of the step";
    *parts = mlp ? attention ? "(core_attn, mlp)" : "(mlp)" : NULL;
    return mlp || attention ? MSR_RECOMPUTE_SELECTIVE : MSR_RECOMPUTE_NONE;
}
