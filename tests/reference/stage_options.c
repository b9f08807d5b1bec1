#include "reference/stage_options.h"

#include "workload/dialect.h"

#include <stdlib.h>
#include <string.h>

#define FIELD(f) offsetof(wl_main_options, f)
static const struct {
    const char *name;
    size_t offset;
    int64_t fallback;
} numbers[] = {{"dp", FIELD(dp), 1},
               {"tp", FIELD(tp), 1},
               {"sp", FIELD(sp), 1},
               {"ep", FIELD(ep), 1},
               {"pp", FIELD(pp), 1},
               {"dvocal", FIELD(dvocal), 32000},
               {"dmodel", FIELD(dmodel), 8192},
               {"dff", FIELD(dff), 28672},
               {"batch", FIELD(batch), 64},
               {"micro_batch", FIELD(micro_batch), -1},
               {"seq", FIELD(seq), 1024},
               {"head", FIELD(head), 64},
               {"kvhead", FIELD(kvhead), 8},
               {"num_stacks", FIELD(num_stacks), 80},
               {"experts", FIELD(experts), 8},
               {"kexperts", FIELD(kexperts), 2}};
static const struct {
    const char *name;
    size_t offset;
    bool fallback;
} switches[] = {{"weight_sharded", FIELD(weight_sharded), false},
                {"tpsp", FIELD(tpsp), true},
                {"mixed_precision", FIELD(mixed_precision), false}};
/* Without effect, or no part of a workload. */
static const char *const others[] = {"activation_recompute", "chakra_schema_version", "print_gpu_vram"};
static const char *const models[] = {[WL_MAIN_DENSE] = "dense",
                                     [WL_MAIN_LLAMA] = "llama",
                                     [WL_MAIN_GPT] = "gpt",
                                     [WL_MAIN_MOE] = "moe",
                                     [WL_MAIN_DEBUG] = "debug"};

static bool set_option(wl_main_options *o, const char *name, const char *value)
{
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (!strcmp(name, numbers[i].name)) {
            *(int64_t *)(void *)((char *)o + numbers[i].offset) = strtoll(value, NULL, 10);
            return true;
        }
    for (size_t i = 0; i < sizeof switches / sizeof *switches; i++)
        if (!strcmp(name, switches[i].name)) {
            *((bool *)((char *)o + switches[i].offset)) = *value == 't' || *value == 'T';
            return true;
        }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (!strcmp(name, others[i]))
            return true;
    for (uint32_t i = 0; i < sizeof models / sizeof *models && !strcmp(name, "model_type"); i++)
        if (!strcmp(value, models[i])) {
            o->model_type = i;
            return true;
        }
    return false;
}

static bool read_all(const cfg_node *stage, wl_main_options *o)
{
    *o = (wl_main_options){.tag_base = WL_TAG_BASE};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        *(int64_t *)(void *)((char *)o + numbers[i].offset) = numbers[i].fallback;
    for (size_t i = 0; i < sizeof switches / sizeof *switches; i++)
        *((bool *)((char *)o + switches[i].offset)) = switches[i].fallback;
    for (uint32_t i = 0; i < stage->n; i++)
        if (!set_option(o, stage->key[i]->text, stage->item[i]->text))
            return false;
    if (o->micro_batch < 0)
        o->micro_batch = o->batch;
    return true;
}

bool stage_options_read(const cfg_node *c, wl_main_options *o, const wl_schema **schema)
{
    const cfg_node *env = cfg_get(c, "env");

    if ((env && cfg_get(env, "STAGE_OPTIMIZED")) || !read_all(cfg_get(c, "stage"), o))
        return false;
    o->copies_nodes = env && cfg_get(env, "STAGE_MICROBATCH_OPTIMIZE"); /* the case has "1" */
    o->merges_collectives = env && cfg_get(env, "STAGE_MERGE_COMMS");
    *schema = env && cfg_get(env, "STAGE_LEGACY_ATTR") ? &wl_schema_v004_legacy : &wl_schema_v004;
    return true;
}
