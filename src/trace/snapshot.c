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

static dse_status parse_pickle(trace_source *source, const char *path, trace_record *out, dse_error *err)
{
    return trace_snapshot_parse(trace_pickle_read, source, path, out, err);
}

static dse_status read_pickle(const char *path, trace_record *out, dse_error *err)
{
    return trace_read_stream(parse_pickle, path, out, err);
}

static dse_status parse_json(trace_source *source, const char *path, trace_record *out, dse_error *err)
{
    return trace_snapshot_parse(trace_snapshot_read_json, source, path, out, err);
}

static dse_status read_json(const char *path, trace_record *out, dse_error *err)
{
    return trace_read_stream(parse_json, path, out, err);
}

/* A trace that contains a snapshot's keys has traceEvents before them. */
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
