#include "workload/collective_match.h"

#include "workload/graph.h"

/* How a tensor lies on the mesh: which axes shard it, and along which it is partial sums. */
typedef struct {
    mesh_set sharded, partial;
    const wl_shape *shape;
    uint32_t axis[WL_MAX_RANK]; /* per dimension of the shape: the axis that shards it, or DSE_NONE */
} placement;

/* Each tensor dimension takes the first axis in it that is not yet taken. */
static mesh_set place(const wl_axes *x, mesh_set split, const wl_shape *shape, mesh_set taken, uint32_t *axis)
{
    mesh_set placed = 0;

    for (uint32_t i = 0; i < shape->n; i++) {
        axis[i] = DSE_NONE;
        for (uint32_t k = 0; k < x->n; k++) {
            if (mesh_has(split & ~taken & ~placed, k) && wl_dim_has(&shape->dim[i], x->symbol[k])) {
                placed |= mesh_only(k);
                axis[i] = k;
                break;
            }
        }
    }
    return placed;
}

static placement place_tensor(const wl_axes *x, mesh_set split, const wl_shape *shape,
                              const wl_shape *partial)
{
    uint32_t unused[WL_MAX_RANK];
    placement p = {.shape = shape};

    p.sharded = place(x, split, shape, 0, p.axis);
    p.partial = partial ? place(x, split, partial, p.sharded, unused) : 0;
    return p;
}

/* The tensor dimension that an axis shards. */
static const wl_dim *dimension_of(const placement *p, uint32_t axis)
{
    uint32_t i = 0;

    while (p->axis[i] != axis)
        i++;
    return &p->shape->dim[i];
}

dse_status wl_match_collectives(const wl_axes *x, mesh_set split, const wl_shape *have,
                                const wl_shape *reduced, const wl_shape *need, const wl_shape *unsummed,
                                wl_match *out, uint32_t *n, dse_error *err)
{
    const placement from = place_tensor(x, split, have, reduced), to = place_tensor(x, split, need, unsummed);

    *n = 0;
    for (uint32_t k = 0; k < x->n; k++) {
        const bool was_sharded = mesh_has(from.sharded, k), was_partial = mesh_has(from.partial, k);
        const bool is_sharded = mesh_has(to.sharded, k), is_partial = mesh_has(to.partial, k);
        uint8_t coll;

        if (was_partial == is_partial && !was_sharded && !is_sharded)
            continue;
        if (is_partial)
            return dse_fail(err, DSE_E_CONFIG, "it is taken as partial sums along %s, and is none",
                            x->name[k]);
        if (!was_sharded && !was_partial)
            return dse_fail(err, DSE_E_CONFIG, "no collective shards along %s what every rank holds whole",
                            x->name[k]);
        if (was_sharded && is_sharded) {
            if (wl_dim_equal(dimension_of(&from, k), dimension_of(&to, k)))
                continue;
            coll = WL_ALL_TO_ALL;
        } else if (was_sharded) {
            coll = WL_ALL_GATHER;
        } else {
            coll = is_sharded ? WL_REDUCE_SCATTER : WL_ALL_REDUCE;
        }
        out[(*n)++] = (wl_match){coll, mesh_only(k)};
    }
    return DSE_OK;
}
