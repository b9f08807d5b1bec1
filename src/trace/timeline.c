#include "trace/timeline.h"

#include "base/json_writer.h"
#include "trace/node_event.h"
#include "trace/text_file.h"

#include <inttypes.h>

typedef struct {
    trace_text_file file;
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
    dse_strbuf_adds(&w->file.text, w->begun ? ",\n" : "\n");
    dse_strbuf_addf(&w->file.text, "{\"ph\":\"%c\",\"pid\":%" PRIu32 ",\"tid\":%" PRIu32, ph, pid, tid);
    w->begun = true;
}

static void add_times(writer *w, dse_time start, dse_time end)
{
    dse_strbuf_adds(&w->file.text, ",\"ts\":");
    add_us(&w->file.text, start);
    dse_strbuf_adds(&w->file.text, ",\"dur\":");
    add_us(&w->file.text, end - start);
}

static void add_event(writer *w, uint32_t rank, const trace_node_event *e)
{
    begin(w, 'X', rank, e->stream);
    dse_strbuf_addf(&w->file.text, ",\"cat\":\"%s\",\"name\":", e->word);
    dse_json_quote(&w->file.text, e->name);
    add_times(w, e->start, e->end);
    dse_strbuf_addf(&w->file.text, ",\"args\":{\"node\":%" PRIu64, e->node);
    if (e->on_device)
        dse_strbuf_addf(&w->file.text, ",\"device\":%" PRIu32 ",\"stream\":%" PRIu32, rank, e->stream);
    if (e->kernel && e->on_device)
        dse_strbuf_addf(&w->file.text,
                        ",\"kernel_class\":\"%s\",\"m\":%" PRIu64 ",\"n\":%" PRIu64 ",\"k\":%" PRIu64
                        ",\"batch\":%" PRIu64,
                        e->kernel->class, e->kernel->m, e->kernel->n, e->kernel->k, e->kernel->batch);
    if (e->collective)
        add_communication(e, &w->file.text);
    dse_strbuf_adds(&w->file.text, "}}");
}

static void add_label(writer *w, const char *what, uint32_t pid, uint32_t tid, const char *text,
                      uint32_t number)
{
    begin(w, 'M', pid, tid);
    dse_strbuf_addf(&w->file.text, ",\"name\":\"%s\",\"args\":{\"name\":\"%s %" PRIu32 "\"}}", what, text,
                    number);
}

static void add_rank(writer *w, uint32_t rank, dse_time wall)
{
    add_label(w, "process_name", rank, 0, "rank", rank);
    begin(w, 'M', rank, 0);
    dse_strbuf_addf(&w->file.text, ",\"name\":\"process_sort_index\",\"args\":{\"sort_index\":%" PRIu32 "}}",
                    rank);
    begin(w, 'X', rank, 0);
    dse_strbuf_adds(&w->file.text, ",\"cat\":\"" TRACE_STEP_WORD "\",\"name\":\"" TRACE_STEP_NAME "\"");
    add_times(w, 0, wall);
    dse_strbuf_adds(&w->file.text, ",\"args\":{}}");
}

static void add_streams(writer *w, uint32_t rank)
{
    const char *is;
    uint32_t stream;

    for (size_t k = 0; trace_node_stream(&w->walk, k, &stream, &is); k++)
        add_label(w, "thread_name", rank, stream, is, stream);
}

/* ---- the file -------------------------------------------------------------------------------- */

static dse_status write_rank(writer *w, uint32_t rank, dse_error *err)
{
    trace_node_event e;
    dse_time wall;
    dse_status st;

    trace_node_walk_rank(&w->walk, rank, &wall);
    add_rank(w, rank, w->sizes->wall ? w->sizes->wall[rank] : wall);
    while (trace_node_next(&w->walk, &e)) {
        add_event(w, rank, &e);
        if ((st = trace_text_file_flush(&w->file, err)) != DSE_OK)
            return st;
    }
    add_streams(w, rank);
    return DSE_OK;
}

/* The keys before the events. */
static void add_heading(writer *w)
{
    const trace_timeline_sizes *s = w->sizes;

    dse_strbuf_addf(&w->file.text, "{\"simulator\":\"ccldse\",\"world_size\":%" PRIu32 ",\"sizes\":\"%s\"",
                    w->walk.t->n_ranks, s->in_bytes ? "bytes" : "elements");
    for (uint32_t i = 0; s->peak_memory && i < w->walk.t->n_ranks; i++)
        dse_strbuf_addf(&w->file.text, "%s%" PRIu64, i ? "," : ",\"peak_memory\":[", s->peak_memory[i]);
    dse_strbuf_adds(&w->file.text, s->peak_memory && w->walk.t->n_ranks ? "]" : "");
    dse_strbuf_adds(&w->file.text, ",\"traceEvents\":[");
}

static dse_status write_all(writer *w, dse_error *err)
{
    dse_status st = DSE_OK;

    add_heading(w);
    for (uint32_t rank = 0; st == DSE_OK && rank < w->walk.t->n_ranks; rank++)
        st = write_rank(w, rank, err);
    dse_strbuf_adds(&w->file.text, "\n]}\n");
    return st;
}

dse_status trace_timeline_save(const trace_ticks *t, const trace_timeline_groups *g,
                               const trace_timeline_sizes *sizes, const char *path, dse_error *err)
{
    writer w = {.sizes = sizes};
    dse_status st = trace_text_file_open(&w.file, path, err);

    if (st != DSE_OK)
        return st;
    trace_node_walk_init(&w.walk, t, g);
    st = trace_text_file_close(&w.file, write_all(&w, err), err);
    trace_node_walk_free(&w.walk);
    return st;
}
