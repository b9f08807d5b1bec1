/* Ways of parallelism: which ranks work together in which way, by the workload card's degrees.
 *
 * Ranks are numbered with the innermost dimension changing fastest: tp, cp, dp_shard, dp_replicate, pp unless
 * the card's rank_order says otherwise. A degree that the card does not give is 1. Experts (ep) share the
 * ranks of dp_shard. */
#ifndef DSE_METRICS_PARALLEL_H
#define DSE_METRICS_PARALLEL_H

#include "trace/card.h"

typedef enum {
    METRIC_DP,
    METRIC_TP,
    METRIC_PP,
    METRIC_EP,
    METRIC_CP,
    METRIC_UNKNOWN,
    METRIC_PARALLELS
} metric_parallel;

/* "dp" */
extern const char *const metric_parallel_name[METRIC_PARALLELS];

/* Ranks of a process group, ascending. */
typedef struct {
    uint32_t n;
    uint32_t *rank;
} metric_ranks;

/* The ranks of a list, "[0, 1, 2]" or abbreviated "[0, 8, ..., 56]"; group_size 0 is unknown. n is 0 for an
 * empty list, no list, or an irregular abbreviation. */
metric_ranks metric_ranks_of(const char *text, uint32_t group_size, dse_arena *a);
bool metric_ranks_have(const metric_ranks *r, uint32_t rank);

typedef struct {
    metric_parallel parallel;
    uint32_t degree, stride;
} metric_dimension;

typedef struct {
    size_t n; /* those of a degree above 1, innermost first */
    metric_dimension dimension[5];
    uint32_t ep, ep_stride; /* 0: no experts */
} metric_layout;

/* DSE_E_CONFIG: rank_order has a word that is no dimension, or one twice. */
dse_status metric_layout_of(const trace_card *card, metric_layout *out, dse_error *err);

/* The way whose size and stride these ranks have; METRIC_UNKNOWN. Ranks that fit experts as well as data are
 * the experts' where they exchange all to all. */
metric_parallel metric_layout_class(const metric_layout *l, const metric_ranks *ranks, bool all_to_all);

/* Pipeline stage of a rank; DSE_NONE: the layout has no pipeline. */
uint32_t metric_layout_stage(const metric_layout *l, uint32_t rank);

/* The parallelism by the description of a process group: "mesh_dp_shard", "TENSOR_MODEL_PARALLEL_GROUP".
 * METRIC_UNKNOWN for others, "default_pg" included. */
metric_parallel metric_parallel_of_description(const char *text);

/* The process group of a communication: by its arguments, or else by the group of that name that the file
 * declares. NULL and 0 are not given. */
typedef struct {
    const char *desc, *ranks;
    uint32_t size;
} metric_group;
metric_group metric_group_of(const trace_rank *rank, const trace_args *args);

#endif
