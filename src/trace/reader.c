#include "trace/reader.h"

#include "base/alloc.h"
#include "base/array.h"
#include "base/strbuf.h"
#include "trace/reader_list.h"

#include <errno.h>
#include <zlib.h>

#define ROW(name) extern const trace_reader trace_reader_##name;
TRACE_READER_LIST(ROW)
#undef ROW

#define ROW(name) &trace_reader_##name,
static const trace_reader *const readers[] = {TRACE_READER_LIST(ROW)};
#undef ROW

static dse_status read_stream(trace_stream_parser *parse, const char *path, trace_record *out, dse_error *err)
{
    trace_source source;
    dse_status st = trace_source_open(&source, path, err);

    if (st == DSE_OK)
        st = parse(&source, path, out, err);
    trace_source_close(&source);
    return st;
}

static dse_status read_all(gzFile f, const char *path, size_t max_bytes, dse_strbuf *out, dse_error *err)
{
    char chunk[65536];
    const char *why;
    int n = 0, code;

    while (out->len <= max_bytes && (n = gzread(f, chunk, sizeof chunk)) > 0)
        dse_strbuf_add(out, chunk, (size_t)n);
    if (out->len > max_bytes)
        return dse_fail_at(err, DSE_E_RANGE, path, "is larger than %zu MiB, decompressed", max_bytes >> 20);
    why = gzerror(f, &code); /* Z_BUF_ERROR: the last member has no end, which gzread alone does not say */
    if (code == Z_MEM_ERROR)
        dse_out_of_memory();
    if (n < 0 || code == Z_BUF_ERROR)
        return code == Z_ERRNO
                   ? dse_fail_errno(err, DSE_E_IO, "cannot read '%s'", path)
                   : dse_fail_at(err, DSE_E_IO, path,
                                 "the gzip file is broken or cut off after %zu bytes of its text: %s",
                                 out->len, code == Z_BUF_ERROR ? "unexpected end of file" : why);
    return DSE_OK;
}

static dse_status read_whole(const trace_reader *r, const char *path, trace_record *out, dse_error *err)
{
    dse_strbuf bytes;
    dse_status st;
    gzFile f;

    errno = 0;
    if (!(f = gzopen(path, "rb"))) {
        if (!errno)
            dse_out_of_memory();
        return dse_fail_errno(err, DSE_E_IO, "cannot open '%s'", path);
    }
    dse_strbuf_init(&bytes);
    st = read_all(f, path, r->max_bytes, &bytes, err);
    gzclose_r(f);
    if (st == DSE_OK)
        st = r->whole(path, bytes.data, bytes.len, out, err);
    dse_strbuf_free(&bytes);
    return st;
}

dse_status trace_read(const trace_reader *r, const char *path, trace_record *out, dse_error *err)
{
    return r->stream  ? read_stream(r->stream, path, out, err)
           : r->whole ? read_whole(r, path, out, err)
                      : r->file(path, out, err);
}

dse_status trace_reader_find(const char *path, const trace_reader **out, dse_error *err)
{
    trace_source source;
    dse_status st = trace_source_open(&source, path, err);
    size_t n;

    *out = NULL;
    if (st == DSE_OK) {
        n = source.n < TRACE_HEAD_BYTES ? source.n : TRACE_HEAD_BYTES;
        source.window[n] = '\0';
        for (size_t i = 0; i < DSE_COUNT(readers) && !*out; i++)
            if (readers[i]->is(source.window, n))
                *out = readers[i];
        if (!*out && *source.broken)
            st = dse_fail(err, DSE_E_IO, "cannot read '%s': %s", path, source.broken);
    }
    trace_source_close(&source);
    return st;
}
