/* mesh -- the ranks of a run as a grid with one axis for each degree of parallelism.
 *
 * The rank of coordinates c is the sum of c[i] * axis[i].stride; strides follow from the degrees and from the
 * order in which axes are laid out (order.h), so that neighbours along the first of them have consecutive
 * numbers. A set of axes names a kind of group: the ranks that differ in the coordinates of the set alone. */
#ifndef DSE_STRATEGY_MESH_H
#define DSE_STRATEGY_MESH_H

#include "base/alloc.h"

typedef struct {
    const char *name;
    uint32_t degree; /* at least 1 */
    uint32_t stride; /* between ranks that are neighbours along the axis */
} mesh_axis;

typedef struct {
    uint32_t n;
    const mesh_axis *axis;
} mesh;

/* Bit i: axis i. */
typedef uint64_t mesh_set;

static inline mesh_set mesh_only(uint32_t axis) { return (mesh_set)1 << axis; }
static inline bool mesh_has(mesh_set s, uint32_t axis) { return s >> axis & 1; }

static inline uint32_t mesh_coordinate(const mesh *m, uint32_t axis, uint32_t rank)
{
    return rank / m->axis[axis].stride % m->axis[axis].degree;
}

/* The axis of a name; DSE_NONE. */
uint32_t mesh_find(const mesh *m, const char *name);

/* Ranks in a group of this kind: the product of the degrees. Of all axes: the ranks of the mesh. */
uint64_t mesh_size(const mesh *m, mesh_set s);
mesh_set mesh_all(const mesh *m);

/* The lowest rank of the group of this kind that a rank is in, and its member number i: members are counted
 * along the axes of the set in the mesh's order, the first axis fastest. */
uint32_t mesh_first(const mesh *m, mesh_set s, uint32_t rank);
uint32_t mesh_member(const mesh *m, mesh_set s, uint32_t first, uint32_t i);

/* The axes in whose coordinates n ranks differ. */
mesh_set mesh_difference(const mesh *m, const uint32_t *rank, uint32_t n);

#endif
