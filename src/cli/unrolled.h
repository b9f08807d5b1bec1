/* What `simulate` prints of a step of profile train that was written down whole, and simulated. */
#ifndef DSE_CLI_UNROLLED_H
#define DSE_CLI_UNROLLED_H

#include "base/json_writer.h"
#include "driver/unrolled.h"

void unrolled_text(const drv_unrolled *u, dse_strbuf *out);
void unrolled_json(const drv_unrolled *u, dse_json *j); /* the key "unrolled" of an open object */

#endif
