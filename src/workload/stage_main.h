/* Generates a workload as STAGE's newest branch writes it: `main` of astra-sim/stage, 9ec6c02.
 *
 * The branch has other models than `recomp`, whose dialect generate.h follows: templates of rows instead of
 * one transformer, micro-batches as copies of the whole step, the weights of a layer as one tensor, shapes
 * that are sums, no order between collectives. What the two have in common is shared: names and suffixes
 * (wl_dialect_stage), shapes and their arithmetic (expr.h), graphs, and the writer of traces.
 *
 *   stage_main_rows.c       the rows of the four models
 *   stage_main_template.c   what each makes: shape, operations, text
 *   stage_main_step.c       the tensors of a step: layers, micro-batches, updates; pipeline stages
 *   stage_main_nodes.c      computations, collectives, messages; nodes without work leave the graph
 *   stage_main.c            graphs, ranks, groups; the memory print-out
 *
 * Bytes are equal also where the branch is wrong; wl_stage_main_flaws says where it is. */
#ifndef DSE_WORKLOAD_STAGE_MAIN_H
#define DSE_WORKLOAD_STAGE_MAIN_H

#include "base/strbuf.h"
#include "workload/graph.h"

/* STAGE's branches, as --stage-version and stage.version have them; ended by NULL. */
enum { WL_STAGE_RECOMP, WL_STAGE_MAIN };
extern const char *const wl_stage_versions[];

typedef enum {
    WL_MAIN_DENSE,
    WL_MAIN_LLAMA,
    WL_MAIN_GPT,
    WL_MAIN_MOE,
    WL_MAIN_DEBUG,
    WL_MAIN_N_MODELS
} wl_main_model;
extern const char *const wl_main_models[WL_MAIN_N_MODELS + 1]; /* ended by NULL */

/* STAGE's options, by its names; sp is the degree of context parallelism. */
typedef struct {
    wl_main_model model_type;
    int64_t dp, tp, sp, ep, pp;
    int64_t dvocal, dmodel, dff, batch, micro_batch, seq, head, kvhead, num_stacks, experts, kexperts;
    bool weight_sharded, tpsp, mixed_precision;
    uint32_t tag_base; /* WL_TAG_BASE is the default */
    /* Environment variables. STAGE_MICROBATCH_OPTIMIZE: not "0" copies the nodes of one micro-batch for the
     * others, unordered and without the sum of gradients; set, and not to "1", gives views of weights for the
     * backward pass the size of all weights. STAGE_MERGE_COMMS: a collective takes up one of its type that it
     * waits for; since the first rank of a stage changes the nodes that the others share, their files still
     * have the taken ones. */
    bool copies_nodes, whole_views, merges_collectives;
} wl_main_options;

/* DSE_E_CONFIG where STAGE fails by an assertion: the batch is no multiple of the micro-batch, experts of
 * ep; a stage gets no tensor; moe without tpsp or with copied nodes, debug with a pipeline. */
dse_status wl_stage_main_check(const wl_main_options *o, dse_error *err);

/* Whether the model has the template llama, with grouped heads and three matrices, or moe's, with grouped
 * heads: dense and llama have that of gpt unless their precision is mixed. */
bool wl_stage_main_groups_heads(const wl_main_options *o);

/* Fills in *out, without a mesh; everything in it belongs to the arena. As wl_stage_main_check; DSE_E_RANGE:
 * too many ranks, or a size that 63 bits do not hold.
 *
 * `memory` (NULL: not asked for) gets the lines of --print_gpu_vram, one a rank; of debug there are none. */
dse_status wl_stage_main_generate(const wl_main_options *o, dse_arena *a, wl_workload *out,
                                  dse_strbuf *memory, dse_error *err);

/* What the branch gets wrong of a workload, which may have been read from files; one sentence each, ended by
 * NULL. Nothing if another generator wrote it, as far as names of nodes show, or of debug. */
const char *const *wl_stage_main_flaws(const wl_workload *w, dse_arena *a);

#endif
