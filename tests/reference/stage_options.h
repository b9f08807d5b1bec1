/* The options of STAGE's main branch as the reference data of the newest tools has them. */
#ifndef TEST_STAGE_OPTIONS_H
#define TEST_STAGE_OPTIONS_H

#include "config/doc.h"
#include "workload/chakra.h"
#include "workload/stage_main.h"

/* Of a case, with its environment; *schema is what it writes. False: what upstream's command line, or an
 * environment variable of it, refuses. */
bool stage_options_read(const cfg_node *c, wl_main_options *o, const wl_schema **schema);

#endif
