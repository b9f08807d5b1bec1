/* A stored result in full, as text; driver/reproduce.h adds its configuration. */
#ifndef DSE_REPORT_DETAILS_H
#define DSE_REPORT_DETAILS_H

#include "base/strbuf.h"
#include "store/store.h"

/* The strategy, the engine and its settings, and every figure with its unit and meaning; or why the point
 * failed. */
void report_details_print(const store_row *r, dse_strbuf *out);

#endif
