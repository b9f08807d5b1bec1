#include "network/topology.h"

#include "base/names.h"
#include "network/topology_list.h"

#include <string.h>

#define DECLARE(id) extern const net_topology net_topology_##id;
NET_TOPOLOGY_LIST(DECLARE)

#define ROW(id) &net_topology_##id,
static const net_topology *const rows[] = {NET_TOPOLOGY_LIST(ROW)};
#define N_ROWS (sizeof rows / sizeof rows[0])

const net_topology *const *net_topologies(size_t *n)
{
    *n = N_ROWS;
    return rows;
}

const net_topology *net_topology_find(const char *name)
{
    for (size_t i = 0; i < N_ROWS; i++)
        if (!strcmp(rows[i]->name, name))
            return rows[i];
    return NULL;
}

dse_status net_topology_check(const char *name, dse_error *err)
{
    const char *known[N_ROWS];

    if (net_topology_find(name))
        return DSE_OK;
    for (size_t i = 0; i < N_ROWS; i++)
        known[i] = rows[i]->name;
    return dse_fail_unknown(err, DSE_E_CONFIG, "", "topology", name, known, N_ROWS);
}
