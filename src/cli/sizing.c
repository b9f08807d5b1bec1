#include "cli/sizing.h"

#include "base/array.h"
#include "cards/model.h"
#include "cards/resize.h"
#include "driver/study.h"

#include <inttypes.h>
#include <string.h>

#define FIELD(f) .offset = offsetof(sizing_options, f)
#define COUNT    .min = 1, .max = 1e9

static const option options[] = {
    {"--nodes", OPT_INT, "N", "", "size of the system: so many nodes", COUNT, FIELD(nodes)},
    {"--npus", OPT_INT, "N", "", "size of the system: so many NPUs", COUNT, FIELD(npus)},
    {"--batch", OPT_INT, "N", "", "sequences of a training step, over all ranks", COUNT, FIELD(batch)},
    {"--sequence", OPT_INT, "N", "", "tokens of a sequence", COUNT, FIELD(sequence)},
    {"--mtp", OPT_INT, "N", "", "layers that predict further tokens, behind the last one", .min = 0,
     .max = 16, FIELD(mtp)},
    {"--pipeline-layout", OPT_STRING, "LAYOUT", "", "layers by stage: 7,8x6,5, or Megatron's letters",
     FIELD(pipeline_layout)},
    {"--mfu-like", OPT_STRING, "WHICH", "", "by whose formula MFU is counted", .choices = card_mfu_words,
     FIELD(mfu_like)},
    {"--imbalance", OPT_STRING, "X", "",
     "of experts: even, the most over the mean, zipf:S, or a file of "
     "measured shares, FILE.csv",
     FIELD(imbalance)},
};

OPTION_ROWS(sizing_group)

const option *size_group(size_t *n)
{
    *n = 2; /* the size of the system */
    return options;
}

const option *run_size_group(size_t *n)
{
    *n = 6; /* and of the run */
    return options;
}

/* The setting that gives a system so many nodes or NPUs. */
static dse_status size_system(const sizing_options *o, const char *name, dse_arena *a, const char **out,
                              dse_error *err)
{
    card_system system;
    const char *stem;
    uint64_t inner, npus;
    bool is_nodes;
    dse_status st = drv_system_load(name, NULL, a, &system, &stem, err);

    if (st != DSE_OK)
        return st;
    inner = card_system_inner(&system);
    is_nodes = system.npus_count.n == 2;
    if (o->nodes && system.npus_count.n < 2 && !*system.device)
        return dse_fail(err, DSE_E_USAGE, "%s has no nodes, as its network is one dimension; give --npus",
                        stem);
    npus = system.npus_count.n < 2 ? (uint64_t)system.npus_count.v[0] : inner; /* of a node */
    npus = o->npus ? (uint64_t)o->npus : (uint64_t)o->nodes * npus;
    if (npus > inner && npus % inner && card_system_size(&system, npus, a, out, NULL) != DSE_OK)
        return dse_fail(err, DSE_E_RANGE,
                        "--npus %" PRIu64 " is no multiple of the %" PRIu64 " NPUs %s of %s%s; take %" PRIu64
                        " or %" PRIu64,
                        npus, inner, is_nodes ? "of a node" : "that the last dimension", stem,
                        is_nodes ? "" : " joins", npus - npus % inner, npus - npus % inner + inner);
    return card_system_size(&system, npus, a, out, err);
}

static const char *number_text(int64_t n, dse_arena *a)
{
    return n ? dse_arena_printf(a, "%" PRId64, n) : NULL;
}

/* Whether a word of --set is "key=...". */
static bool sets(const char *word, const char *key)
{
    const size_t n = strlen(key);

    return !strncmp(word, key, n) && word[n] == '=';
}

dse_status sizing_settings(const sizing_options *o, const char *const *systems, size_t n_systems,
                           const option_list *set, dse_arena *a, option_list *out, dse_error *err)
{
    const struct {
        const char *option, *key, *value; /* value NULL: not given */
    } keys[] = {{"--batch", "batch", number_text(o->batch, a)},
                {"--sequence", "sequence", number_text(o->sequence, a)},
                {"--mfu-like", "mfu_like", o->mfu_like && *o->mfu_like ? o->mfu_like : NULL},
                {"--mtp", "mtp_layers", number_text(o->mtp, a)},
                {"--pipeline-layout", "pipeline_layout",
                 o->pipeline_layout && *o->pipeline_layout ? o->pipeline_layout : NULL},
                {"--imbalance", "imbalance", o->imbalance && *o->imbalance ? o->imbalance : NULL}};
    const char **item = DSE_ARENA_NEW(a, const char *, set->n + 1 + DSE_COUNT(keys));
    const char *size = NULL;
    size_t n = 0;

    for (; n < set->n; n++)
        item[n] = set->item[n];
    if (o->nodes && o->npus)
        return dse_fail(err, DSE_E_USAGE, "give either --nodes or --npus, not both");
    for (size_t i = 0; (o->nodes || o->npus) && i < n_systems; i++) {
        const char *own;
        dse_status st = size_system(o, systems[i], a, &own, err);

        if (st != DSE_OK)
            return st;
        if (size && strcmp(size, own) != 0)
            return dse_fail(err, DSE_E_USAGE,
                            "the systems differ in the size of their nodes; size one at a time");
        size = own;
    }
    for (size_t i = 0; size && i < n; i++)
        if (!strncmp(item[i], "network.part=", 13))
            return dse_fail(err, DSE_E_USAGE, "give either %s or --set %s, not both",
                            o->nodes ? "--nodes" : "--npus", item[i]);
    /* else the option, which is appended, would hold whatever came last */
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < DSE_COUNT(keys); k++)
            if (keys[k].value && sets(item[i], keys[k].key))
                return dse_fail(err, DSE_E_USAGE, "give either %s or --set %s, not both", keys[k].option,
                                item[i]);
    if (size)
        item[n++] = size;
    for (size_t k = 0; k < DSE_COUNT(keys); k++)
        if (keys[k].value)
            item[n++] = dse_arena_printf(a, "%s=%s", keys[k].key, keys[k].value);
    *out = (option_list){n, item};
    return DSE_OK;
}
