/* Paths of a shape (paths.h), without sizes. Private to workload/. */
#ifndef DSE_WORKLOAD_PATHS_SHAPE_H
#define DSE_WORKLOAD_PATHS_SHAPE_H

#include "workload/generator.h"
#include "workload/paths.h"

typedef struct {
    uint32_t type, coll; /* as of wl_node */
    uint32_t figures;    /* of the shape */
    uint32_t stage, to;
    mesh_set axes;
} gen_path_kind;

typedef struct {
    bool is_known;    /* it was made */
    uint32_t n_nodes; /* as in wl_paths, as what follows */
    uint32_t *kind_of;
    wl_csr before;
    uint32_t n_jumps, *first_jump;
    wl_path_jump *jump;
    uint32_t n_work;
    wl_path_work *work;
    uint32_t n_kinds;
    gen_path_kind *kind;
} gen_paths;

/* What is kept goes into `keep`, all else into `scratch`. */
void gen_paths_find(const gen_shape *shape, dse_arena *keep, dse_arena *scratch, gen_paths *out);

#endif
