#include "trace/snapshot.h"

#include "trace/pickle.h"
#include "trace/reader.h"

#include <string.h>

dse_status trace_snapshot_parse(trace_snapshot_reader *read, trace_source *source, const char *path,
                                trace_record *out, dse_error *err)
{
    trace_snapshot *s = trace_snapshot_new();
    trace_plain_listener to = trace_snapshot_listener(s);
    trace_plain root;
    dse_status st = read(source, path, &to, &root, err);

    if (st == DSE_OK)
        st = trace_snapshot_finish(s, path, &root, out, err);
    trace_snapshot_free(s);
    return st;
}

static dse_status read_by(trace_snapshot_reader *read, const char *path, trace_record *out, dse_error *err)
{
    trace_source source = {0};
    dse_status st = trace_source_open(&source, path, err);

    if (st == DSE_OK)
        st = trace_snapshot_parse(read, &source, path, out, err);
    trace_source_close(&source);
    return st;
}

static dse_status read_pickle(const char *path, trace_record *out, dse_error *err)
{
    return read_by(trace_pickle_read, path, out, err);
}

static dse_status read_json(const char *path, trace_record *out, dse_error *err)
{
    return read_by(trace_snapshot_read_json, path, out, err);
}

/* Traces that carry a snapshot's words begin with theirs. */
static bool is_json(const char *head, size_t n)
{
    const char *p = head + strspn(head, " \t\r\n");

    return n && *p == '{' && (strstr(p, "\"segments\"") || strstr(p, "\"device_traces\"")) &&
           !strstr(p, "\"traceEvents\"");
}

extern const trace_reader trace_reader_snapshot;
const trace_reader trace_reader_snapshot = {"snapshot", "PyTorch memory snapshot (pickle)", trace_is_pickle,
                                            read_pickle};

extern const trace_reader trace_reader_snapshot_json;
const trace_reader trace_reader_snapshot_json = {"snapshot_json", "PyTorch memory snapshot (JSON)", is_json,
                                                 read_json};
