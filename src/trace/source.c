#include "trace/source.h"

#include "base/alloc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#define COMPRESSED_BYTES 65536

struct trace_gzip {
    z_stream z;
    bool between;        /* between two members */
    uint64_t read_bytes; /* compressed bytes so far */
    unsigned char in[COMPRESSED_BYTES];
};

/* ---- bytes of the file ----------------------------------------------------------------------- */

/* Returns the number of bytes read; 0 at the end or after an error. */
static size_t read_some(trace_source *s, void *to, size_t n)
{
    ssize_t got;

    if (!s->has_file) {
        n = n < (size_t)(s->bytes_end - s->bytes) ? n : (size_t)(s->bytes_end - s->bytes);
        if (n)
            memcpy(to, s->bytes, n);
        s->bytes += n;
        return n;
    }
    do
        got = read(s->file, to, n);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        snprintf(s->broken, sizeof s->broken, "the file cannot be read any further (%s)", strerror(errno));
    return got < 0 ? 0 : (size_t)got;
}

static size_t fill_plain(trace_source *s, char *to, size_t room)
{
    size_t n = 0, got;

    while (n < room && (got = read_some(s, to + n, room - n)) > 0)
        n += got;
    s->ended = n < room;
    return n;
}

/* ---- gzip ------------------------------------------------------------------------------------ */

static void end_broken(trace_source *s, const char *what)
{
    const struct trace_gzip *g = s->gzip;

    s->ended = true;
    if (!*s->broken)
        snprintf(s->broken, sizeof s->broken, "the gzip data are broken at byte %llu of the file (%s)",
                 (unsigned long long)(g->read_bytes - g->z.avail_in), what);
}

/* Reads compressed bytes if there are none; false at their end. */
static bool have_input(trace_source *s)
{
    struct trace_gzip *g = s->gzip;

    if (g->z.avail_in)
        return true;
    g->z.next_in = g->in;
    g->z.avail_in = (uInt)read_some(s, g->in, sizeof g->in);
    g->read_bytes += g->z.avail_in;
    return g->z.avail_in > 0;
}

/* Whether another member begins here. Skips the zeros that some tools pad with. */
static bool next_member(trace_source *s)
{
    struct trace_gzip *g = s->gzip;

    while (have_input(s) && *g->z.next_in == 0) {
        g->z.next_in++;
        g->z.avail_in--;
    }
    if (!g->z.avail_in) {
        s->ended = true;
        return false;
    }
    if (*g->z.next_in != 0x1f || inflateReset(&g->z) != Z_OK) {
        end_broken(s, "what follows a member is none");
        return false;
    }
    g->between = false;
    return true;
}

static size_t fill_gzip(trace_source *s, char *to, size_t room)
{
    struct trace_gzip *g = s->gzip;

    g->z.next_out = (unsigned char *)to;
    g->z.avail_out = (uInt)room;
    while (g->z.avail_out && !s->ended) {
        bool more;
        int status;

        if (g->between && !next_member(s))
            break;
        more = have_input(s); /* without input there may still be output that had no room */
        status = inflate(&g->z, Z_NO_FLUSH);
        if (status == Z_STREAM_END)
            g->between = true;
        else if (status == Z_MEM_ERROR)
            dse_out_of_memory();
        else if (status == Z_BUF_ERROR && !more)
            end_broken(s, "it is cut off");
        else if (status != Z_OK && status != Z_BUF_ERROR)
            end_broken(s, g->z.msg ? g->z.msg : "zlib");
    }
    return room - g->z.avail_out;
}

static void start_gzip(trace_source *s)
{
    struct trace_gzip *g = dse_calloc(1, sizeof *g);

    if (inflateInit2(&g->z, 15 + 16) != Z_OK) /* gzip with the largest window */
        dse_out_of_memory();
    memcpy(g->in, s->window, s->n); /* the bytes that were read to recognise it */
    g->z.next_in = g->in;
    g->z.avail_in = (uInt)s->n;
    g->read_bytes = s->n;
    s->gzip = g;
    s->n = 0;
    s->ended = false;
}

/* ---- the window ------------------------------------------------------------------------------ */

size_t trace_source_more(trace_source *s, size_t used)
{
    size_t room, got = 0;

    if (used) {
        s->n -= used;
        s->offset += used;
        memmove(s->window, s->window + used, s->n);
    }
    room = s->cap - s->n;
    if (!s->ended && room)
        got = (s->gzip ? fill_gzip : fill_plain)(s, s->window + s->n, room);
    s->n += got;
    memset(s->window + s->n, 0, TRACE_WINDOW_BEHIND);
    return got;
}

static void start(trace_source *s, size_t cap)
{
    size_t begin = 0, got;

    s->window = dse_realloc(NULL, cap + TRACE_WINDOW_BEHIND);
    while (begin < 2 && (got = read_some(s, s->window + begin, 2 - begin)) > 0)
        begin += got;
    s->n = begin;
    s->cap = cap;
    s->ended = begin < 2;
    if (begin == 2 && memcmp(s->window, "\x1f\x8b", 2) == 0)
        start_gzip(s);
    trace_source_more(s, 0);
}

dse_status trace_source_open(trace_source *s, const char *path, dse_error *err)
{
    *s = (trace_source){.file = open(path, O_RDONLY | O_CLOEXEC)};
    s->has_file = s->file >= 0;
    if (!s->has_file)
        return dse_fail_errno(err, DSE_E_IO, "cannot open '%s'", path);
    start(s, TRACE_WINDOW_BYTES);
    if (!s->n && *s->broken)
        return dse_fail(err, DSE_E_IO, "cannot read '%s': %s", path, s->broken);
    return DSE_OK;
}

void trace_source_open_bytes(trace_source *s, const char *bytes, size_t n, size_t cap)
{
    *s = (trace_source){.bytes = bytes, .bytes_end = bytes + n};
    start(s, cap);
}

size_t trace_source_head(const char *path, char *to, size_t n)
{
    trace_source s;
    size_t got = 0;

    if (trace_source_open(&s, path, NULL) == DSE_OK) {
        got = s.n < n ? s.n : n - 1;
        memcpy(to, s.window, got);
    }
    to[got] = '\0';
    trace_source_close(&s);
    return got;
}

void trace_source_close(trace_source *s)
{
    if (s->gzip)
        inflateEnd(&s->gzip->z);
    dse_free(s->gzip);
    dse_free(s->window);
    if (s->has_file)
        close(s->file);
    *s = (trace_source){0};
}
