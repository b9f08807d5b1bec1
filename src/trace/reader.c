#include "trace/reader.h"

#include "trace/reader_list.h"

#include <errno.h>
#include <zlib.h>

#define ROW(name) extern const trace_reader trace_reader_##name;
TRACE_READER_LIST(ROW)
#undef ROW

#define ROW(name) &trace_reader_##name,
static const trace_reader *const readers[] = {TRACE_READER_LIST(ROW)};
#undef ROW

dse_status trace_reader_find(const char *path, const trace_reader **out, dse_error *err)
{
    char *head = dse_realloc(NULL, TRACE_HEAD_BYTES + 1);
    dse_status st = DSE_OK;
    gzFile f = NULL;
    int n;

    *out = NULL;
    if (!head)
        return dse_fail_nomem(err);
    if (!(f = gzopen(path, "rb"))) {
        st = dse_fail_errno(err, DSE_E_IO, "cannot open '%s'", path);
        goto out;
    }
    if ((n = gzread(f, head, TRACE_HEAD_BYTES)) < 0) {
        st = dse_fail(err, DSE_E_IO, "cannot read '%s': %s", path, gzerror(f, &n));
        goto out;
    }
    head[n] = '\0';
    for (size_t i = 0; i < sizeof readers / sizeof readers[0] && !*out; i++)
        if (readers[i]->is(head, (size_t)n))
            *out = readers[i];
out:
    if (f)
        gzclose(f);
    dse_free(head);
    return st;
}
