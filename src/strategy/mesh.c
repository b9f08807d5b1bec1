#include "strategy/mesh.h"

#include <string.h>

uint32_t mesh_find(const mesh *m, const char *name)
{
    for (uint32_t i = 0; i < m->n; i++)
        if (!strcmp(m->axis[i].name, name))
            return i;
    return DSE_NONE;
}

mesh_set mesh_all(const mesh *m) { return m->n < 64 ? mesh_only(m->n) - 1 : ~(mesh_set)0; }

uint64_t mesh_size(const mesh *m, mesh_set s)
{
    uint64_t n = 1;

    for (uint32_t i = 0; i < m->n; i++)
        if (mesh_has(s, i))
            n *= m->axis[i].degree;
    return n;
}

uint32_t mesh_first(const mesh *m, mesh_set s, uint32_t rank)
{
    uint32_t first = rank;

    for (uint32_t i = 0; i < m->n; i++)
        if (mesh_has(s, i))
            first -= mesh_coordinate(m, i, rank) * m->axis[i].stride;
    return first;
}

uint32_t mesh_member(const mesh *m, mesh_set s, uint32_t first, uint32_t i)
{
    for (uint32_t k = 0; k < m->n; k++) {
        if (!mesh_has(s, k))
            continue;
        first += i % m->axis[k].degree * m->axis[k].stride;
        i /= m->axis[k].degree;
    }
    return first;
}

mesh_set mesh_difference(const mesh *m, const uint32_t *rank, uint32_t n)
{
    mesh_set differ = 0;

    for (uint32_t k = 0; k < m->n; k++)
        for (uint32_t i = 1; i < n && !mesh_has(differ, k); i++)
            if (mesh_coordinate(m, k, rank[i]) != mesh_coordinate(m, k, rank[0]))
                differ |= mesh_only(k);
    return differ;
}
