/* Everything that a stored result says, for people; but for its configuration, which is driver/reproduce.h's. */
#ifndef DSE_REPORT_DETAILS_H
#define DSE_REPORT_DETAILS_H

#include "base/strbuf.h"
#include "store/store.h"

/* The strategy, who gave the result how, and every figure with its unit and meaning; or why it failed. */
void report_details_print(const store_row *r, dse_strbuf *out);

#endif
