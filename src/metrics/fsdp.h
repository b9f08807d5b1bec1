/* fsdp -- what the ranges of fully sharded data parallelism are called: "FSDP::all_gather (layers.26)".
 *
 * Source: PyTorch's FSDP2 ranges, and CCL-Bench's tools/fsdp/metric.py at 33ae115 for the classes and their
 * order. */
#ifndef DSE_METRICS_FSDP_H
#define DSE_METRICS_FSDP_H

#include "metrics/guide.h"
#include "metrics/metric.h"

/* In the order of the tests. */
typedef enum {
    FSDP_ALL_GATHER,
    FSDP_REDUCE_SCATTER,
    FSDP_RESHARD,
    FSDP_PREFETCH,
    FSDP_COPY_IN,
    FSDP_COPY_OUT,
    FSDP_PRE_FORWARD,
    FSDP_POST_FORWARD,
    FSDP_PRE_BACKWARD,
    FSDP_POST_BACKWARD,
    FSDP_ACCUMULATE,
    FSDP_OTHER,
    FSDP_CLASSES
} fsdp_class;

/* "all_gather" */
extern const char *const fsdp_class_name[FSDP_CLASSES];

/* Ranges of the host by class; as the original finds them. */
extern const metric_pick fsdp_ranges, fsdp_ranges_compat;

/* Times of layers, which are named by the text in the first parentheses that hold any: "layers.26". On the
 * heap; starts zeroed but for the rank. */
typedef struct {
    const trace_rank *rank;
    uint32_t *of; /* layer by name id, plus 2; 1: none; 0: not asked */
    trace_names names;
    size_t cap;
    struct fsdp_layer {
        uint32_t n;
        int64_t time_ps;
    } * layer; /* by id of names */
} fsdp_layers;

void fsdp_layers_free(fsdp_layers *l);

/* Adds a range of this name. */
void fsdp_layers_add(fsdp_layers *l, uint32_t name, int64_t time_ps);

/* Ids in the order of reports: layers.<n> by number, then the others by text; n of them, in the arena. */
const uint32_t *fsdp_layers_sorted(const fsdp_layers *l, dse_arena *a);

/* The means over ranks with which both results begin. */
void fsdp_put_means(const guide_ranks *ranks, metric_value *out);

/* fsdp_compat.c: as the original tool. */
metric_put_fn fsdp_compat;

#endif
