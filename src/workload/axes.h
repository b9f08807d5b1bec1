/* wl_axes -- the axes of every mesh, in its order (strategy/parameters.h), as the generator sees them. */
#ifndef DSE_WORKLOAD_AXES_H
#define DSE_WORKLOAD_AXES_H

#include "strategy/mesh.h"
#include "workload/expr.h"

typedef struct {
    uint32_t n;
    const char **name;
    int *symbol;       /* per axis: its symbol, where it shards tensors; -1: none */
    mesh_set sharding; /* axes that may stand under a tensor's dimension */
    uint32_t pipeline; /* the axis along which stages lie */
} wl_axes;

/* `symbols` end with those that wl_axes_add_symbols added. */
wl_axes wl_axes_of(const wl_symbols *symbols, dse_arena *a);

/* A symbol for each axis that shards tensors: "dp", "tp", "sp". There must be room for them. */
void wl_axes_add_symbols(wl_symbols *symbols);

#endif
