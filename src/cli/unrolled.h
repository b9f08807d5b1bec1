/* What `simulate` prints of a step of profile train that was written down whole, and simulated. */
#ifndef DSE_CLI_UNROLLED_H
#define DSE_CLI_UNROLLED_H

#include "driver/unrolled.h"
#include "report/tree.h"

void unrolled_text(const drv_unrolled *u, dse_strbuf *out);
void unrolled_put(const drv_unrolled *u, report_node *to); /* into an object */

#endif
