/* Words of a job in the words of our cards: precisions, devices, the order of ranks. */
#include "base/array.h"
#include "measured/job_row.h"
#include "measured/plan_parts.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define WORD_MAX 160

/* ---- precision ----------------------------------------------------------------------------- */

/* Training in a 16-bit format keeps a copy of the weights in 32: that is what `mixed` counts. */
static const struct {
    const char *name, *word; /* in normal form, first in a text: "bf16 compute, fp32 parameters" */
} precisions[] = {{"bf16", "mixed"},  {"bfloat16", "mixed"}, {"fp16", "mixed"}, {"float16", "mixed"},
                  {"half", "mixed"},  {"mixed", "mixed"},    {"fp32", "fp32"},  {"float32", "fp32"},
                  {"single", "fp32"}, {"tf32", "fp32"}};

static const char *const low[] = {"fp8", "mxfp8", "float8", "e4m3", "e5m2", "nvfp4"};

/* In normal form. Current scaling ("FP8-CS" of Megatron-Bridge's tables) is one of tensors; its sub-channels
 * are blocks. A text that says more than its recipe, "NVFP4 in layers 0-26", is none of them. */
static const struct {
    const char *spelling, *recipe;
} recipes[] = {{"fp8", ""},
               {"float8", ""},
               {"fp8hybrid", ""},
               {"fp8full", ""}, /* MaxText's quantization: fp8_full */
               {"fp8delayed", "delayed"},
               {"fp8delayedscaling", "delayed"},
               {"fp8delayedscalingassumed", "delayed"},
               {"fp8hybriddelayedscaling", "delayed"},
               {"fp8cs", "tensorwise"},
               {"fp8currentscaling", "tensorwise"},
               {"fp8tensorwise", "tensorwise"},
               {"float8tensorwise", "tensorwise"},
               {"float8rowwise", "rowwise"},
               {"fp8rowwise", "rowwise"},
               {"fp8blockwise", "blockwise"},
               {"fp8sc", "blockwise"},
               {"fp8subchannel", "blockwise"},
               {"mxfp8", "mxfp8"},
               {"fp8mx", "mxfp8"},
               {"nvfp4", "nvfp4"}};

/* The first word: letters and digits. */
static void first_word(const char *text, char out[WORD_MAX])
{
    size_t n = 0;

    while (*text && !isalnum((unsigned char)*text))
        text++;
    for (; n + 1 < WORD_MAX && isalnum((unsigned char)text[n]); n++)
        out[n] = (char)tolower((unsigned char)text[n]);
    out[n] = '\0';
}

const char *msr_precision_word(const char *text)
{
    char word[WORD_MAX];

    first_word(text, word);
    for (size_t i = 0; i < DSE_COUNT(precisions); i++)
        if (!strcmp(word, precisions[i].name))
            return precisions[i].word;
    return NULL;
}

bool msr_precision_is_low(const char *text)
{
    char word[WORD_MAX];

    first_word(text, word);
    for (size_t i = 0; i < DSE_COUNT(low); i++)
        if (!strcmp(word, low[i]))
            return true;
    return false;
}

const char *msr_recipe_word(const char *text)
{
    char form[WORD_MAX];

    msr_normal_form(text, form, sizeof form);
    for (size_t i = 0; i < DSE_COUNT(recipes); i++)
        if (!strcmp(form, recipes[i].spelling))
            return recipes[i].recipe;
    return NULL;
}

/* ---- devices ------------------------------------------------------------------------------- */

/* In a text in normal form; longer names first, as "gh200" has "h200" in it. A device of several names has
 * the one of its card. */
static const struct {
    const char *part, *name; /* NULL: the same */
} devices[] = {
    {"gh200", NULL},
    {"gb200", NULL},
    {"gb300", NULL},
    {"mi300a", NULL},
    {"mi300x", NULL},
    {"mi325x", NULL},
    {"mi355x", NULL},
    {"mi250x", NULL},
    {"dgxspark", NULL},
    {"ironwood", "tpuironwood"},
    {"tpu7x", "tpuironwood"},
    {"tpuv7", "tpuironwood"},
    {"trillium", "tpuv6e"},
    {"tpuv5p", NULL},
    {"tpuv5e", NULL},
    {"tpuv5lite", "tpuv5e"},
    {"tpuv6", "tpuv6e"},
    {"v6e", "tpuv6e"},
    {"v5p", "tpuv5p"},
    {"v5e", "tpuv5e"},
    {"v5lite", "tpuv5e"},
    {"tpuv4", NULL},
    {"tpuv3", NULL},
    {"a100", NULL},
    {"a800", NULL},
    {"h100", NULL},
    {"h200", NULL},
    {"h800", NULL},
    {"h20", NULL},
    {"b200", NULL},
    {"b300", NULL},
    {"v100", NULL},
    {"a10g", NULL},
    {"a40", NULL},
    {"l40s", NULL},
    {"p100", NULL},
};

void msr_device_form(const char *text, char *out, size_t size)
{
    char form[WORD_MAX];

    msr_normal_form(text, form, sizeof form);
    for (size_t i = 0; i < DSE_COUNT(devices); i++)
        if (strstr(form, devices[i].part)) {
            snprintf(out, size, "%s", devices[i].name ? devices[i].name : devices[i].part);
            return;
        }
    snprintf(out, size, "%s", form);
}

/* Of a superchip, whose CPU is on the same NVLink-C2C (NVIDIA's data sheets: "NVLink-C2C 900 GB/s", of one GPU
 * or two, both directions together). */
bool msr_device_has_fast_host(const char *text)
{
    static const char *const superchips[] = {"gh200", "gb200", "gb300"};
    char form[WORD_MAX];

    msr_device_form(text, form, sizeof form);
    for (size_t i = 0; i < DSE_COUNT(superchips); i++)
        if (!strcmp(form, superchips[i]))
            return true;
    return false;
}

/* ---- recomputation ------------------------------------------------------------------------- */

/* "(mla_up_proj, mlp)" is "mla_up_proj+mlp". */
bool msr_recompute_modules(const msr_job *j, uint32_t *out)
{
    const msr_framework *program = msr_framework_find(j->framework);
    char set[WORD_MAX] = "";
    size_t n = 0;

    if (!j->recompute_parts || !program || (!program->has_policies && strcmp(program->like, "megatron") != 0))
        return false;
    for (const char *c = j->recompute_parts; *c && n + 1 < sizeof set; c++)
        if (*c == ',')
            set[n++] = '+';
        else if (!strchr("() ", *c))
            set[n++] = *c;
    return strategy_parse(&strategy_parameters[STRATEGY_recompute_modules], "", set, out, NULL) == DSE_OK;
}

/* ---- the order of ranks -------------------------------------------------------------------- */

/* The names in a workload card and in a model card. Both parts of dp are one dimension, so they must be
 * neighbours. */
static const struct {
    const char *job, *ours;
} dimensions[] = {{"tp", "tp"},           {"cp", "sp"}, {"dp_shard", "dp"},
                  {"dp_replicate", "dp"}, {"dp", "dp"}, {"pp", "pp"}};

/* The usual one: a node is tensor parallel, stages are far apart. Source: Megatron-LM's parallel_state,
 * TorchTitan's device mesh (pp, dp_replicate, dp_shard, cp, tp from the outermost). */
static const char usual_order[] = "tp,cp,dp_shard,dp_replicate,pp";

static const char *ours_of(const char *word, size_t n)
{
    for (size_t i = 0; i < DSE_COUNT(dimensions); i++)
        if (strlen(dimensions[i].job) == n && !strncmp(dimensions[i].job, word, n))
            return dimensions[i].ours;
    return NULL;
}

/* strategy_parse refuses an order in which an axis is missing or stands twice. */
bool msr_placement_of(const char *rank_order, uint32_t *out)
{
    const char *p = rank_order && *rank_order ? rank_order : usual_order, *last = "";
    char axes[STRATEGY_VALUE_MAX] = "";
    size_t n = 0;

    while (*p) {
        const size_t length = strcspn(p, ", ");
        const char *axis = ours_of(p, length);

        if (!axis || n + strlen(axis) + 2 > sizeof axes)
            return false;
        if (strcmp(axis, last) != 0)
            n += (size_t)snprintf(axes + n, sizeof axes - n, "%s%s", n ? "," : "", axis);
        last = axis;
        p += length + strspn(p + length, ", ");
    }
    return strategy_parse(&strategy_parameters[STRATEGY_placement], "", axes, out, NULL) == DSE_OK;
}
