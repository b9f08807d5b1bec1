/* drv_log_tail -- the last lines in the log of a failed tool, and their explanation. */
#ifndef DSE_DRIVER_LOG_TAIL_H
#define DSE_DRIVER_LOG_TAIL_H

#include "base/strbuf.h"

/* "; NAME ends: first | second": the log's last lines, at most four, without the blanks around them and
 * without lines that have no letter or digit (Python underlines its errors), as printable ASCII. A text that
 * is too long begins with "...". A log that cannot be read is called empty. */
void drv_log_tail_add(const char *path, const char *name, dse_strbuf *out);

/* "; cause and remedy" for the messages of ASTRA-sim that name neither; otherwise nothing. */
void drv_log_meaning_add(const char *path, dse_strbuf *out);

#endif
