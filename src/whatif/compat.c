#include "whatif/compat.h"

#include "base/array.h"
#include "whatif/compat_parts.h"
#include "workload/chakra_v004.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

const char *const whatif_compat_names[WHATIF_COMPATS + 1] = {
    "gap", "pg-gap", "kernels", "kernels-stream", "full", "full-unpruned", "tpu-gap", "tpu-kernels", NULL};

uint32_t compat_add_compute(whatif_et *et, dse_arena *a, const char *name, double us)
{
    const whatif_attr attrs[] = {{"is_cpu_op", ATTR_BOOL, 0, NULL}, {"num_ops", ATTR_INT64, 0, NULL}};
    whatif_node n = {.name = dse_arena_printf(a, "%s_%u", name, et->n),
                     .type = WL_NODE_COMP,
                     .duration_us = us < 1 ? 1 : (uint64_t)us};

    whatif_et_set_attrs(&n, a, attrs, DSE_COUNT(attrs));
    return whatif_et_add(et, a, n);
}

uint32_t compat_add_collective(whatif_et *et, dse_arena *a, const char *name, size_t length, uint8_t coll,
                               uint64_t bytes, uint32_t group)
{
    const whatif_attr attrs[] = {{"is_cpu_op", ATTR_BOOL, 0, NULL},
                                 {"comm_type", ATTR_INT64, coll, NULL},
                                 {"comm_size", ATTR_INT64, (int64_t)bytes, NULL},
                                 {"pg_name", ATTR_STRING, 0, dse_arena_printf(a, "%u", group)}};
    whatif_node n = {.name = dse_arena_printf(a, "%.*s_%u", (int)length, name, et->n),
                     .type = WL_NODE_COLL,
                     .coll = coll,
                     .bytes = bytes};

    whatif_et_set_attrs(&n, a, attrs, DSE_COUNT(attrs) - !group);
    return whatif_et_add(et, a, n);
}

char *compat_lower(dse_arena *a, const char *text)
{
    char *copy = dse_arena_strdup(a, text);

    for (char *c = copy; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    return copy;
}

bool compat_has(const char *text, const char *word)
{
    for (size_t n = strlen(word); *text; text++)
        if (!strncasecmp(text, word, n))
            return true;
    return false;
}

dse_status whatif_compat_convert(const whatif_compat_job *job, dse_arena *a, whatif_files *out,
                                 dse_error *err)
{
    *out = (whatif_files){.n_ranks = job->n_ranks, .et = DSE_ARENA_NEW(a, whatif_et, job->n_ranks)};
    return (job->mode >= WHATIF_COMPAT_TPU_GAP ? compat_convert_tpu
            : job->mode >= WHATIF_COMPAT_FULL  ? compat_convert_full
                                               : compat_convert_comm)(job, a, out, err);
}
