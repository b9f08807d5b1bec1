/* dse_status, dse_error -- how every function of this program reports failure.
 *
 * What can fail returns a dse_status (0 is success) and takes `dse_error *err` last; err may be NULL.
 * The error owns no memory: copy it, return it, put it on the stack. The first failure wins: filling
 * an error that already holds one changes nothing, so a caller may report its own view without
 * hiding the cause. Wording as in git: lower case, the problem first, the subject quoted, the remedy
 * after a semicolon. Only cli/ prints an error or turns it into an exit code. */
#ifndef DSE_BASE_STATUS_H
#define DSE_BASE_STATUS_H

#include <stdbool.h>

typedef enum {
    DSE_OK = 0,
    DSE_E_IO,       /* the operating system refused: open, read, write, rename */
    DSE_E_SYNTAX,   /* a file is not what its format says: YAML, JSON, protobuf */
    DSE_E_CONFIG,   /* well-formed, but a key or value is wrong */
    DSE_E_RANGE,    /* a number outside of what the model admits */
    DSE_E_WORKLOAD, /* a workload that cannot be run: dangling dependency, cycle, unknown group */
    DSE_E_ABSENT,   /* a quantity that cannot be computed from this input; the text says why */
    DSE_E_SIM,      /* the simulated system cannot finish: deadlock, unmatched receive */
    DSE_E_STORE,    /* the results database */
    DSE_E_CHILD,    /* a worker or an external tool failed */
    DSE_E_USAGE,    /* the command line */
    DSE_E_INTERRUPT /* stopped by the user; what was finished is kept */
} dse_status;

typedef struct {
    dse_status status;
    char where[256]; /* "configs/mesh.yaml:14:7", or empty */
    char text[1024]; /* "unknown topology 'mesh3d'; known: Ring, Switch" */
} dse_error;

#define DSE_ERROR_INIT                                                                                       \
    {                                                                                                        \
        DSE_OK, "", ""                                                                                       \
    }

/* Fill err (if it is not NULL and still empty) and return st, so that
 * `return dse_fail(err, DSE_E_RANGE, "...")` is the whole error path. */
dse_status dse_fail(dse_error *err, dse_status st, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* The same with a place in front: a file, "file:line:column", "rank 3, node 17". */
dse_status dse_fail_at(dse_error *err, dse_status st, const char *where, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* The same with strerror(errno) appended after ": ". ENOMEM is no failure of the file or the folder: the
 * program ends (base/alloc.h), so that nobody takes a card for unreadable, or a point for one that cannot be
 * simulated. */
dse_status dse_fail_errno(dse_error *err, dse_status st, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

#ifdef __clang_analyzer__ /* what it cannot see: they return what they are given, which is not DSE_OK */
#define dse_fail(err, st, ...)           (dse_fail(err, st, __VA_ARGS__), (st))
#define dse_fail_at(err, st, where, ...) (dse_fail_at(err, st, where, __VA_ARGS__), (st))
#define dse_fail_errno(err, st, ...)     (dse_fail_errno(err, st, __VA_ARGS__), (st))
#endif

/* All that an error says: "where: text", or the text alone. */
typedef struct {
    char text[sizeof((dse_error *)0)->where + sizeof((dse_error *)0)->text + 2];
} dse_error_line;
dse_error_line dse_error_say(const dse_error *err);

/* Adds a place to an error that has none yet; used by the layer that knows the file. */
void dse_error_set_where(dse_error *err, const char *where);

#endif
