#include "trace/snapshot.h"

#include "trace/pickle.h"
#include "trace/reader.h"

#include <string.h>

typedef dse_status load_fn(const char *path, const trace_plain_listener *to, trace_plain *root,
                           dse_error *err);

static dse_status read_by(load_fn *load, const char *path, trace_record *out, dse_error *err)
{
    trace_snapshot *s = trace_snapshot_new();
    trace_plain_listener to;
    trace_plain root;
    dse_status st;

    if (!s)
        return dse_fail_nomem(err);
    to = trace_snapshot_listener(s);
    st = load(path, &to, &root, err);
    if (st == DSE_OK)
        st = trace_snapshot_finish(s, path, &root, out, err);
    trace_snapshot_free(s);
    return st;
}

static dse_status read_pickle(const char *path, trace_record *out, dse_error *err)
{
    return read_by(trace_pickle_load, path, out, err);
}

extern const trace_reader trace_reader_snapshot;
const trace_reader trace_reader_snapshot = {"snapshot", "PyTorch memory snapshot (pickle)", trace_is_pickle,
                                            read_pickle};
