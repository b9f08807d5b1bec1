/* How certain a search is of what it found, in words. */
#ifndef DSE_REPORT_CERTIFICATE_H
#define DSE_REPORT_CERTIFICATE_H

#include "report/tree.h"

/* "no point is faster than 57.9 s, 0.8 % less than the best" */
void report_certificate(const store_searched *s, dse_strbuf *out);

/* Below a ranking of the points that it found, by a metric and with a limit on memory as they were asked for
 * (NaN: that of the system): the certificate, or that the search was for something else. */
void report_certificate_print(const store_searched *s, const store_column *by, double hbm_bytes,
                              dse_strbuf *out);
void report_certificate_put(const store_searched *s, const store_column *by, double hbm_bytes,
                            report_node *to);

/* In the place of a ranking, where it found no point. */
void report_certificate_print_none(const store_searched *s, dse_strbuf *out);
void report_certificate_put_none(const store_searched *s, report_node *list);

#endif
