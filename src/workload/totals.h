/* wl_totals -- what a rank of each pipeline stage executes, counted and not built.
 *
 * For bounds: the nodes of a generated workload (generate.h) as kinds and how many there are of each, without
 * a graph. A model is looked at once (wl_outline); then a strategy costs some tens of microseconds, whatever
 * its NPUs, and a few nanoseconds a layer. Both follow generate*.c; that they agree with it, node for node,
 * is tested.
 *
 * Memory: some of the tensors that a rank must hold together. All that stand before the step and are read in
 * it are there at tick 0. And when the rank, or the one that has its place on the stage of the loss, begins
 * to compute the loss, it holds whatever was made on the way there and is read on the way back. With a precision the
 * state of the training is there at both. */
#ifndef DSE_WORKLOAD_TOTALS_H
#define DSE_WORKLOAD_TOTALS_H

#include "workload/collective_match.h"
#include "workload/generate.h"

typedef struct wl_outline wl_outline;

/* The outline of so many layers after a set of passes, whatever the values of the symbols. It belongs to the arena,
 * and borrows from doc. Fails as wl_operators_resolve and wl_model_build do. */
dse_status wl_outline_make(const cfg_doc *doc, wl_passes passes, uint32_t layers, dse_arena *a,
                           const wl_outline **out, dse_error *err);

/* Nodes of one kind. Sizes are those of wl_node. */
typedef struct {
    uint8_t type;       /* WL_NODE_COMP or WL_NODE_COLL */
    uint8_t coll;       /* COLL: wl_coll_type, */
    mesh_set axes;      /* and along which axes */
    wl_kernel kernel;   /* COMP */
    uint64_t comm_size; /* COLL */
} wl_total;

/* Sends from each rank of a stage to the rank of the same place on another. */
typedef struct {
    uint32_t from, to; /* stages */
    uint32_t n;
    uint64_t comm_size;
} wl_total_sends;

/* What one piece of the chain runs on a rank. */
typedef struct {
    uint32_t first, n; /* in wl_totals.segment_kind */
} wl_segment;

/* Bytes (upstream: elements) that each rank of a stage holds at least. 0: nothing is claimed. */
typedef struct {
    uint64_t at_start; /* at tick 0 */
    uint64_t at_loss;  /* when the loss begins, if that takes a tick or more */
} wl_held;

/* Stages are in rank order, as in a generated workload: a rank of stage s has the coordinate s along the pipeline axis. */
typedef struct {
    uint32_t n_stages, ranks_per_stage;
    mesh mesh;
    uint32_t pipeline; /* the axis along which stages lie */
    uint32_t n_kinds;
    wl_total *kind;
    uint32_t *count; /* [stage * n_kinds + kind]: on each rank of the stage */
    uint32_t n_sends;
    wl_total_sends *sends;
    /* Pieces of a chain of dependencies (outline_chain.c): none begins before the one before it has ended, on
     * ranks of the same place of whatever stages. In which order they come is not said. */
    uint32_t n_segments;
    wl_segment *segment;
    uint32_t *segment_kind;  /* of all segments, one after the other; a kind may be there several times */
    uint32_t *segment_count; /* [stage * n_segments + segment] */
    uint32_t loss;           /* the kind that computes the loss, or DSE_NONE: unknown */
    wl_held *held;           /* per stage */
} wl_totals;

/* `symbols` as for wl_generate; s->recompute and s->weight_sharded are the outline's business. Everything in
 * *out belongs to the arena. Fails as wl_generate does, but not for all that it refuses. */
dse_status wl_totals_of(const wl_outline *o, const wl_symbols *symbols, const wl_strategy *s, dse_arena *a,
                        wl_totals *out, dse_error *err);

#endif
