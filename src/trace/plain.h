/* trace_plain -- plain data (numbers, texts, lists, dictionaries) passed to a listener item by item, so a
 * document of gigabytes takes only the memory that the listener keeps.
 *
 * The listener is called for each item of a container, and once when the container is complete. A complete
 * container does not change, but it may be an item of several others. */
#ifndef DSE_TRACE_PLAIN_H
#define DSE_TRACE_PLAIN_H

#include "trace/names.h"

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
    uint32_t
        id; /* of a text: in the names, DSE_NONE if it is longer than TRACE_PLAIN_MAX_TEXT; of a container:
                      what the listener called it */
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

#endif
