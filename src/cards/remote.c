#include "cards/remote.h"

#include "base/array.h"
#include "base/names.h"

#include <string.h>

static const char *const kinds[] = {
    [SIM_REMOTE_NONE] = "NO_MEMORY_EXPANSION",
    [SIM_REMOTE_PER_NPU] = "PER_NPU_MEMORY_EXPANSION",
    [SIM_REMOTE_PER_NODE] = "PER_NODE_MEMORY_EXPANSION",
    [SIM_REMOTE_POOL] = "MEMORY_POOL",
};
#define N_KINDS DSE_COUNT(kinds)

static dse_status read_number(const cfg_doc *doc, const char *key, int64_t min, uint64_t *out, dse_error *err)
{
    const cfg_node *node = cfg_get(doc->root, key);
    int64_t v = 0;
    dse_status st;

    if (!node)
        return dse_fail_at(err, DSE_E_CONFIG, doc->path,
                           "the key '%s' is missing; this kind of remote memory needs it", key);
    st = cfg_int(doc, node, key, min, INT64_MAX, &v, err);
    *out = (uint64_t)v;
    return st;
}

dse_status card_remote_read(const cfg_doc *doc, sim_remote_memory *out, dse_error *err)
{
    const cfg_node *type = cfg_get(doc->root, "memory-type");
    uint64_t npus = 1;
    size_t kind = 0;
    dse_status st;

    *out = (sim_remote_memory){0};
    if (!type || type->kind != CFG_SCALAR)
        return dse_fail_at(err, DSE_E_CONFIG, doc->path, "the key 'memory-type' is missing");
    while (kind < N_KINDS && strcmp(kinds[kind], type->text))
        kind++;
    if (kind == N_KINDS)
        return dse_fail_unknown(err, DSE_E_CONFIG, cfg_at(doc, type).text, "memory-type", type->text, kinds,
                                N_KINDS);
    out->kind = (sim_remote_kind)kind;
    if (out->kind == SIM_REMOTE_NONE)
        return DSE_OK;
    st = read_number(doc, "remote-mem-latency", 0, &out->latency_ns, err);
    if (st == DSE_OK)
        st = read_number(doc, "remote-mem-bw", 1, &out->bytes_per_ns, err);
    if (st == DSE_OK && out->kind == SIM_REMOTE_PER_NODE)
        st = read_number(doc, "num-npus-per-node", 1, &npus, err);
    out->npus_per_node = npus < UINT32_MAX ? (uint32_t)npus : UINT32_MAX;
    return st;
}
