#include "trace/whole.h"

#include "base/alloc.h"

#include <errno.h>
#include <zlib.h>

#define CHUNK_BYTES (256 * 1024)

static dse_status read_all(gzFile f, const char *path, size_t max_bytes, char *chunk, dse_strbuf *out,
                           dse_error *err)
{
    size_t total = 0;
    const char *why;
    int n, code;

    while ((n = gzread(f, chunk, CHUNK_BYTES)) > 0) {
        total += (size_t)n;
        if (total > max_bytes)
            return dse_fail_at(err, DSE_E_RANGE, path, "is larger than %zu MiB, decompressed",
                               max_bytes >> 20);
        dse_strbuf_add(out, chunk, (size_t)n);
    }
    why = gzerror(f, &code); /* Z_BUF_ERROR: the last member has no end, which gzread alone does not say */
    if (n < 0 || code == Z_BUF_ERROR)
        return code == Z_ERRNO
                   ? dse_fail_errno(err, DSE_E_IO, "cannot read '%s'", path)
                   : dse_fail_at(err, DSE_E_IO, path,
                                 "the gzip file is broken or cut off after %zu bytes of its text: %s", total,
                                 code == Z_BUF_ERROR ? "unexpected end of file" : why);
    return DSE_OK;
}

dse_status trace_read_whole(const char *path, size_t max_bytes, dse_strbuf *out, dse_error *err)
{
    char *chunk = dse_realloc(NULL, CHUNK_BYTES);
    dse_status st;
    gzFile f;

    errno = 0;
    if ((f = gzopen(path, "rb"))) {
        st = read_all(f, path, max_bytes, chunk, out, err);
        gzclose_r(f);
    } else if (errno) {
        st = dse_fail_errno(err, DSE_E_IO, "cannot open '%s'", path);
    } else {
        dse_out_of_memory();
    }
    dse_free(chunk);
    return st;
}
