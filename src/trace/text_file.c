#include "trace/text_file.h"

#include "base/alloc.h"
#include "base/names.h"

#include <unistd.h>
#include <zlib.h>

#define CHUNK_BYTES (1u << 20)

/* zlib also writes plain text ("T"), so one path serves both. It gets a descriptor of its own, which it
 * closes. */
static dse_status open_file(trace_text_file *f, dse_error *err)
{
    bool compressed = dse_ends(f->path, ".gz");
    int own = dup(f->replacement.fd);

    if (own < 0)
        return dse_fail_errno(err, DSE_E_IO, "cannot write '%s'", f->path);
    if (!(f->file = gzdopen(own, compressed ? "wb" : "wbT")))
        dse_out_of_memory();
    return DSE_OK;
}

dse_status trace_text_file_open(trace_text_file *f, const char *path, dse_error *err)
{
    dse_status st;

    *f = (trace_text_file){.path = path};
    if ((st = dse_replacement_open(&f->replacement, path, err)) != DSE_OK)
        return st;
    dse_strbuf_init(&f->text);
    st = open_file(f, err);
    return st == DSE_OK ? st : trace_text_file_close(f, st, err);
}

static dse_status write_text(trace_text_file *f, dse_error *err)
{
    const char *at = f->text.data;
    size_t left = f->text.len;

    while (left) {
        unsigned part = left < CHUNK_BYTES ? (unsigned)left : CHUNK_BYTES;

        if (gzwrite(f->file, at, part) != (int)part)
            return dse_fail_errno(err, DSE_E_IO, "cannot write '%s'", f->path);
        at += part;
        left -= part;
    }
    dse_strbuf_clear(&f->text);
    return DSE_OK;
}

dse_status trace_text_file_flush(trace_text_file *f, dse_error *err)
{
    return f->text.len < CHUNK_BYTES ? DSE_OK : write_text(f, err);
}

dse_status trace_text_file_close(trace_text_file *f, dse_status st, dse_error *err)
{
    if (st == DSE_OK)
        st = write_text(f, err);
    if (f->file && gzclose(f->file) != Z_OK && st == DSE_OK)
        st = dse_fail_errno(err, DSE_E_IO, "cannot write '%s'", f->path);
    if (st == DSE_OK)
        st = dse_replacement_commit(&f->replacement, err);
    else
        dse_replacement_give_up(&f->replacement);
    dse_strbuf_free(&f->text);
    return st;
}
