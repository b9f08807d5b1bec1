/* The words of tables and options, for who meets them for the first time: `ccldse help terms`. */
#ifndef DSE_CLI_TERMS_H
#define DSE_CLI_TERMS_H

#include "base/strbuf.h"

#include <stddef.h>

/* Appended, in lines of at most `width` columns. */
void terms_print(size_t width, dse_strbuf *out);

#endif
