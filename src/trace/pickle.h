/* trace_pickle -- reads a Python pickle that holds only plain data.
 *
 * Protocols 0 to 5. Nothing of a pickle is ever run: opcodes that import, call, build or look up objects are
 * refused with their name and byte, and so is a container that contains itself. Texts of protocol 0 keep
 * their backslash escapes; a NUL in a text becomes U+FFFD.
 *
 * Memory: 16 bytes per memo entry, 8 per container, 16 per value on the stack, each at most 1 GiB; each text
 * is stored once. All lengths and indexes are bounded by the bytes that are really there. Source: CPython's
 * Lib/pickletools.py. */
#ifndef DSE_TRACE_PICKLE_H
#define DSE_TRACE_PICKLE_H

#include "trace/names.h"
#include "trace/source.h"

/* ---- plain data ------------------------------------------------------------------------------ */

/* Plain data (numbers, texts, lists, dictionaries) passed to a listener item by item, so a
 * document of gigabytes takes only the memory that the listener keeps.
 *
 * The listener is called for each item of a container, and once when the container is complete. A complete
 * container does not change, but it may be an item of several others. */
typedef enum {
    TRACE_PLAIN_NONE,
    TRACE_PLAIN_BOOL,
    TRACE_PLAIN_INT,
    TRACE_PLAIN_HUGE, /* an integer beyond 64 bits: its value is not kept */
    TRACE_PLAIN_FLOAT,
    TRACE_PLAIN_TEXT,
    TRACE_PLAIN_BYTES, /* the bytes are not kept */
    TRACE_PLAIN_TUPLE,
    TRACE_PLAIN_LIST, /* also a set */
    TRACE_PLAIN_DICT
} trace_plain_kind;

typedef struct {
    uint32_t kind; /* trace_plain_kind */
    /* of a text: in the names, DSE_NONE if it is longer than TRACE_PLAIN_MAX_TEXT; of a container: what the
     * listener called it */
    uint32_t id;
    union {
        int64_t integer; /* also of a bool */
        double number;
    } v;
} trace_plain;
_Static_assert(sizeof(trace_plain) == 16, "a pickle's memo has millions: measure before growing it");

#define TRACE_PLAIN_MAX_TEXT 65536

static inline bool trace_plain_is_container(const trace_plain *v) { return v->kind >= TRACE_PLAIN_TUPLE; }

typedef struct {
    void *to;
    trace_names *names; /* of all texts */
    /* An item of a container; key is NULL unless it is a dictionary. *mine is the listener's own id of the
     * container, initially DSE_NONE. */
    void (*item)(void *to, trace_plain_kind kind, uint32_t *mine, const trace_plain *key,
                 const trace_plain *value);
    /* The container is complete; *mine is its id from now on. */
    dse_status (*close)(void *to, trace_plain_kind kind, uint32_t *mine, dse_error *err);
} trace_plain_listener;

/* ---- pickles --------------------------------------------------------------------------------- */

/* Passes all containers to the listener, then sets *root. The source is borrowed; `path` is for messages,
 * which say "path: byte N". DSE_E_IO, DSE_E_SYNTAX (truncated, or not plain data), or what the listener
 * returned. */
dse_status trace_pickle_read(trace_source *source, const char *path, const trace_plain_listener *to,
                             trace_plain *root, dse_error *err);

/* Whether a file that begins with these bytes is a pickle: protocols 2 and above say so; of 0 and 1, a
 * dictionary, a list, or a call. The bytes end with a NUL that is not counted. */
bool trace_is_pickle(const char *head, size_t n);

#endif
