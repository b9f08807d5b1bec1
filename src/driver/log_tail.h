/* drv_log_tail -- what a tool that failed said last, and what it means. */
#ifndef DSE_DRIVER_LOG_TAIL_H
#define DSE_DRIVER_LOG_TAIL_H

#include "base/strbuf.h"

/* "; NAME ends: first | second": the log's last lines, at most four, without the blanks around them and without
 * lines that have no letter or digit, as Python underlines its errors; printable ASCII. What is too long begins with
 * "...". A log that is empty, or cannot be read, is called empty. */
void drv_log_tail_add(const char *path, const char *name, dse_strbuf *out);

/* "; what it means and what to do": if ASTRA-sim's log has a sentence that leaves both open. Otherwise nothing. */
void drv_log_meaning_add(const char *path, dse_strbuf *out);

#endif
