/* One stored figure as text. */
#ifndef DSE_REPORT_VALUE_H
#define DSE_REPORT_VALUE_H

#include "report/tree.h"

/* Without loss, but for the STORE_REALs: three decimals, as the reference prints percentages. "3206889878",
 * "92.803", "-". */
report_text report_value_exact(const store_metrics *m, const store_column *c);

/* With its unit, in the size of it that reads best: "3.207 s", "143.9 GB", "92.803 %", "-". */
report_text report_value_readable(const store_metrics *m, const store_column *c);

#endif
