#include "base/alloc.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static dse_status fill(dse_error *err, dse_status st, const char *where, int errnum, const char *fmt,
                       va_list ap)
{
    if (!err || err->status != DSE_OK)
        return st;
    err->status = st;
    snprintf(err->where, sizeof err->where, "%s", where ? where : "");
    vsnprintf(err->text, sizeof err->text, fmt, ap);
    if (errnum) {
        size_t used = strlen(err->text);
        snprintf(err->text + used, sizeof err->text - used, ": %s", strerror(errnum));
    }
    return st;
}

#ifdef __clang_analyzer__ /* for which they are macros, too */
#undef dse_fail
#undef dse_fail_at
#undef dse_fail_errno
#endif

dse_status dse_fail(dse_error *err, dse_status st, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    fill(err, st, NULL, 0, fmt, ap);
    va_end(ap);
    return st;
}

dse_status dse_fail_at(dse_error *err, dse_status st, const char *where, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    fill(err, st, where, 0, fmt, ap);
    va_end(ap);
    return st;
}

dse_status dse_fail_errno(dse_error *err, dse_status st, const char *fmt, ...)
{
    int errnum = errno;
    va_list ap;

    if (errnum == ENOMEM)
        dse_out_of_memory();
    va_start(ap, fmt);
    fill(err, st, NULL, errnum, fmt, ap);
    va_end(ap);
    return st;
}

dse_error_line dse_error_say(const dse_error *err)
{
    dse_error_line line;

    snprintf(line.text, sizeof line.text, "%s%s%s", err->where, *err->where ? ": " : "", err->text);
    return line;
}

void dse_error_set_where(dse_error *err, const char *where)
{
    if (err && err->status != DSE_OK && !err->where[0])
        snprintf(err->where, sizeof err->where, "%s", where);
}
