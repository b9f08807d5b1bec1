/* Every format: a file src/trace/<name>.c with its trace_reader trace_reader_<name>, and a word here. The
 * first one that recognises a file reads it. */
#ifndef DSE_TRACE_READER_LIST_H
#define DSE_TRACE_READER_LIST_H

#define TRACE_READER_LIST(X)                                                                                 \
    X(chrome)                                                                                                \
    X(et)                                                                                                    \
    X(nsys)                                                                                                  \
    X(nsys_csv)                                                                                              \
    X(snapshot)                                                                                              \
    X(snapshot_json)                                                                                         \
    X(xplane)

#endif
