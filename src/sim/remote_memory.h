/* Nodes that load from or store to remote memory. Private to sim/. */
#ifndef DSE_SIM_REMOTE_MEMORY_H
#define DSE_SIM_REMOTE_MEMORY_H

#include "sim/collective.h"

void sim_remote_init(sim_engine *e);
void sim_remote_issue(sim_engine *e, uint32_t rank, uint32_t node);
void sim_remote_next(sim_engine *e, uint32_t memory); /* an access has ended: serves the next one */

#endif
