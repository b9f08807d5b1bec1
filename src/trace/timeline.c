#include "trace/timeline.h"

#include "base/fs.h"
#include "base/json_writer.h"
#include "trace/node_event.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#define CHUNK_BYTES (1u << 20)

typedef struct {
    gzFile file;
    dse_strbuf text; /* not written yet */
    trace_node_walk walk;
    const trace_timeline_sizes *sizes;
    bool begun; /* an event was written */
} writer;

/* ---- fields of an event ---------------------------------------------------------------------- */

static void add_us(dse_strbuf *b, dse_time ns)
{
    dse_strbuf_addf(b, "%" PRIu64 ".%03u", ns / 1000, (unsigned)(ns % 1000));
}

static void add_elements(const char *key, uint64_t n, dse_strbuf *b)
{
    if (n != TRACE_TICKS_UNKNOWN)
        dse_strbuf_addf(b, ",\"%s\":%" PRIu64, key, n);
}

static void add_word(const char *key, const char *word, dse_strbuf *b)
{
    if (!word)
        return;
    dse_strbuf_addf(b, ",\"%s\":", key);
    dse_json_quote(b, word);
}

static void add_communication(const trace_node_event *e, dse_strbuf *b)
{
    add_word("Collective name", e->collective, b);
    add_elements("In msg nelems", e->in, b);
    add_elements("Out msg nelems", e->out, b);
    add_word("dtype", TRACE_NODE_DTYPE, b);
    if (!e->group)
        return;
    dse_strbuf_addf(b, ",\"Group size\":%" PRIu32, e->group->size);
    add_word("Process Group Name", e->group->name, b);
    add_word("Process Group Description", e->group->desc, b);
    add_word("Process Group Ranks", e->group->ranks, b);
}

/* ---- events ---------------------------------------------------------------------------------- */

static void begin(writer *w, char ph, uint32_t pid, uint32_t tid)
{
    dse_strbuf_adds(&w->text, w->begun ? ",\n" : "\n");
    dse_strbuf_addf(&w->text, "{\"ph\":\"%c\",\"pid\":%" PRIu32 ",\"tid\":%" PRIu32, ph, pid, tid);
    w->begun = true;
}

static void add_times(writer *w, dse_time start, dse_time end)
{
    dse_strbuf_adds(&w->text, ",\"ts\":");
    add_us(&w->text, start);
    dse_strbuf_adds(&w->text, ",\"dur\":");
    add_us(&w->text, end - start);
}

static void add_event(writer *w, uint32_t rank, const trace_node_event *e)
{
    begin(w, 'X', rank, e->stream);
    dse_strbuf_addf(&w->text, ",\"cat\":\"%s\",\"name\":", e->word);
    dse_json_quote(&w->text, e->name);
    add_times(w, e->start, e->end);
    dse_strbuf_addf(&w->text, ",\"args\":{\"node\":%" PRIu64, e->node);
    if (e->on_device)
        dse_strbuf_addf(&w->text, ",\"device\":%" PRIu32 ",\"stream\":%" PRIu32, rank, e->stream);
    if (e->kernel && e->on_device)
        dse_strbuf_addf(&w->text,
                        ",\"kernel_class\":\"%s\",\"m\":%" PRIu64 ",\"n\":%" PRIu64 ",\"k\":%" PRIu64
                        ",\"batch\":%" PRIu64,
                        e->kernel->class, e->kernel->m, e->kernel->n, e->kernel->k, e->kernel->batch);
    if (e->collective)
        add_communication(e, &w->text);
    dse_strbuf_adds(&w->text, "}}");
}

static void add_label(writer *w, const char *what, uint32_t pid, uint32_t tid, const char *text,
                      uint32_t number)
{
    begin(w, 'M', pid, tid);
    dse_strbuf_addf(&w->text, ",\"name\":\"%s\",\"args\":{\"name\":\"%s %" PRIu32 "\"}}", what, text, number);
}

static void add_rank(writer *w, uint32_t rank, dse_time wall)
{
    add_label(w, "process_name", rank, 0, "rank", rank);
    begin(w, 'M', rank, 0);
    dse_strbuf_addf(&w->text, ",\"name\":\"process_sort_index\",\"args\":{\"sort_index\":%" PRIu32 "}}",
                    rank);
    begin(w, 'X', rank, 0);
    dse_strbuf_adds(&w->text, ",\"cat\":\"" TRACE_STEP_WORD "\",\"name\":\"" TRACE_STEP_NAME "\"");
    add_times(w, 0, wall);
    dse_strbuf_adds(&w->text, ",\"args\":{}}");
}

static void add_streams(writer *w, uint32_t rank)
{
    const char *is;
    uint32_t stream;

    for (size_t k = 0; trace_node_stream(&w->walk, k, &stream, &is); k++)
        add_label(w, "thread_name", rank, stream, is, stream);
}

/* ---- the file -------------------------------------------------------------------------------- */

static dse_status flush(writer *w, const char *path, dse_error *err)
{
    const char *at = w->text.data;
    size_t left = w->text.len;

    while (left) {
        unsigned part = left < CHUNK_BYTES ? (unsigned)left : CHUNK_BYTES;

        if (gzwrite(w->file, at, part) != (int)part)
            return dse_fail_errno(err, DSE_E_IO, "cannot write '%s'", path);
        at += part;
        left -= part;
    }
    dse_strbuf_clear(&w->text);
    return DSE_OK;
}

static dse_status write_rank(writer *w, uint32_t rank, const char *path, dse_error *err)
{
    trace_node_event e;
    dse_time wall;
    dse_status st;

    trace_node_walk_rank(&w->walk, rank, &wall);
    add_rank(w, rank, w->sizes->wall ? w->sizes->wall[rank] : wall);
    while (trace_node_next(&w->walk, &e)) {
        add_event(w, rank, &e);
        if (w->text.len >= CHUNK_BYTES && (st = flush(w, path, err)) != DSE_OK)
            return st;
    }
    add_streams(w, rank);
    return DSE_OK;
}

/* The keys before the events. */
static void add_heading(writer *w)
{
    const trace_timeline_sizes *s = w->sizes;

    dse_strbuf_addf(&w->text, "{\"simulator\":\"ccldse\",\"world_size\":%" PRIu32 ",\"sizes\":\"%s\"",
                    w->walk.t->n_ranks, s->in_bytes ? "bytes" : "elements");
    for (uint32_t i = 0; s->peak_memory && i < w->walk.t->n_ranks; i++)
        dse_strbuf_addf(&w->text, "%s%" PRIu64, i ? "," : ",\"peak_memory\":[", s->peak_memory[i]);
    dse_strbuf_adds(&w->text, s->peak_memory && w->walk.t->n_ranks ? "]" : "");
    dse_strbuf_adds(&w->text, ",\"traceEvents\":[");
}

static dse_status write_all(writer *w, const char *path, dse_error *err)
{
    dse_status st = DSE_OK;

    add_heading(w);
    for (uint32_t rank = 0; st == DSE_OK && rank < w->walk.t->n_ranks; rank++)
        st = write_rank(w, rank, path, err);
    if (st != DSE_OK)
        return st;
    dse_strbuf_adds(&w->text, "\n]}\n");
    return flush(w, path, err);
}

/* zlib also writes plain text ("T"), so one path serves both. It gets a descriptor of its own, which it
 * closes. */
static dse_status open_file(writer *w, int fd, const char *path, dse_error *err)
{
    size_t n = strlen(path);
    bool compressed = n > 3 && strcmp(path + n - 3, ".gz") == 0;
    int own = dup(fd);

    if (own < 0)
        return dse_fail_errno(err, DSE_E_IO, "cannot write '%s'", path);
    if (!(w->file = gzdopen(own, compressed ? "wb" : "wbT")))
        dse_out_of_memory();
    return DSE_OK;
}

dse_status trace_timeline_save(const trace_ticks *t, const trace_timeline_groups *g,
                               const trace_timeline_sizes *sizes, const char *path, dse_error *err)
{
    writer w = {.sizes = sizes};
    dse_replacement r;
    dse_status st = dse_replacement_open(&r, path, err);

    if (st != DSE_OK)
        return st;
    dse_strbuf_init(&w.text);
    trace_node_walk_init(&w.walk, t, g);
    st = open_file(&w, r.fd, path, err);
    if (st == DSE_OK)
        st = write_all(&w, path, err);
    if (w.file && gzclose(w.file) != Z_OK && st == DSE_OK)
        st = dse_fail_errno(err, DSE_E_IO, "cannot write '%s'", path);
    if (st == DSE_OK)
        st = dse_replacement_commit(&r, err);
    else
        dse_replacement_give_up(&r);
    trace_node_walk_free(&w.walk);
    dse_strbuf_free(&w.text);
    return st;
}
