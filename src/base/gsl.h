/* What GSL, in the folders that link it, does with errors: functions return them, but for want of memory,
 * without which some go on and crash. gsl_set_error_handler(dse_gsl_error). */
#ifndef DSE_BASE_GSL_H
#define DSE_BASE_GSL_H

#include "base/alloc.h"

#include <gsl/gsl_errno.h>

static inline void dse_gsl_error(const char *reason, const char *file, int line, int code)
{
    (void)reason, (void)file, (void)line;
    if (code == GSL_ENOMEM)
        dse_out_of_memory();
}

#endif
