/* One figure of a result, as people and programs get to see it. */
#ifndef DSE_REPORT_VALUE_H
#define DSE_REPORT_VALUE_H

#include "base/json_writer.h"
#include "store/store.h"

/* Without loss, but for the STORE_REALs: three decimals, as the reference prints percentages. null if it is
 * not known. */
void report_value_json(const store_metrics *m, const store_column *c, dse_json *j);

/* The same as text: "3206889878", "92.803", "-". */
#define REPORT_VALUE_MAX 352 /* a double may have 309 digits before the point */
void report_value_exact(const store_metrics *m, const store_column *c, char out[REPORT_VALUE_MAX]);

/* With its unit, in the size of it that reads best: "3.207 s", "143.9 GB", "92.803 %", "-". */
void report_value_readable(const store_metrics *m, const store_column *c, char out[REPORT_VALUE_MAX]);

#endif
