/* pickle_machine -- the state of reading a pickle: its bytes, the stack of values, the open containers.
 * Private to pickle.c, which has the opcodes.
 *
 * Functions that fail fill the error, with the byte of the opcode. */
#ifndef DSE_TRACE_PICKLE_MACHINE_H
#define DSE_TRACE_PICKLE_MACHINE_H

#include "base/strbuf.h"
#include "trace/pickle.h"

/* Values: PyTorch's own pickler pushes a whole list before it appends the items. */
#define PICKLE_MAX_STACK (1u << 26)

typedef struct {
    uint32_t mine; /* the listener's id */
    uint8_t kind;
    bool closed;
} pickle_container;

typedef struct pickle_machine pickle_machine;

typedef struct {
    const char *name; /* as pickletools spells it */
    dse_status (*run)(pickle_machine *m);
    uint8_t size; /* bytes of the argument, or of the length in front of it */
} pickle_opcode;

/* On the stack and in the memo a container's id is its index in `all`; the listener sees `mine`. */
struct pickle_machine {
    const char *path;
    const trace_plain_listener *to;
    dse_error *err;
    trace_source *source;
    const uint8_t *p, *end; /* of the window: the next byte, and the end */
    const pickle_opcode *op;
    uint64_t at; /* byte of the opcode */
    uint8_t code;
    bool done;
    uint64_t frame_end;
    trace_plain *stack, *memo;
    size_t n_stack, cap_stack, n_memo, cap_memo;
    size_t *mark; /* heights of the stack */
    size_t n_marks, cap_marks;
    pickle_container *all;
    size_t n_all, cap_all;
    dse_strbuf text; /* a line, or bytes across the end of the window */
};

#define pickle_fail(m, ...) pickle_placed((m), dse_fail((m)->err, DSE_E_SYNTAX, __VA_ARGS__))

/* Adds the place to the error, unless it has one; returns st. */
dse_status pickle_placed(pickle_machine *m, dse_status st);

/* ---- bytes ----------------------------------------------------------------------------------- */

/* Offset of the next byte of the file. */
static inline uint64_t pickle_position(const pickle_machine *m)
{
    return m->source->offset + (uint64_t)((const char *)m->p - m->source->window);
}

/* Makes at least one byte available; DSE_E_SYNTAX at the end of the file. */
dse_status pickle_refill(pickle_machine *m);
static inline dse_status pickle_more(pickle_machine *m) { return m->p < m->end ? DSE_OK : pickle_refill(m); }

/* An unsigned number of up to 8 bytes, the lowest first. */
dse_status pickle_take_long(pickle_machine *m, unsigned size, uint64_t *out);
static inline dse_status pickle_take_number(pickle_machine *m, unsigned size, uint64_t *out)
{
    *out = 0;
    if ((size_t)(m->end - m->p) < size)
        return pickle_take_long(m, size, out);
    for (unsigned i = 0; i < size; i++)
        *out |= (uint64_t)m->p[i] << (8 * i);
    m->p += size;
    return DSE_OK;
}

/* Skips n bytes and keeps the first `keep` of them in m->text. */
dse_status pickle_take_bytes(pickle_machine *m, uint64_t n, uint64_t keep);

/* Reads a line, without its end, into m->text: at most `keep` bytes, and one more if it is longer. */
dse_status pickle_take_line(pickle_machine *m, size_t keep);

/* ---- the stack ------------------------------------------------------------------------------- */

/* The height of the stack at the last mark. */
static inline size_t pickle_floor_of(const pickle_machine *m)
{
    return m->n_marks ? m->mark[m->n_marks - 1] : 0;
}

/* Checks that there are n values above the last mark. */
dse_status pickle_need(pickle_machine *m, size_t n);

dse_status pickle_push(pickle_machine *m, trace_plain v);
dse_status pickle_push_integer(pickle_machine *m, trace_plain_kind kind, int64_t v);
dse_status pickle_push_container(pickle_machine *m, trace_plain_kind kind); /* a new one, empty */
dse_status pickle_push_text(pickle_machine *m, const char *text, size_t n);
dse_status pickle_pop_mark(pickle_machine *m, size_t *from);

/* The value as the listener sees it; a container is complete from now on. */
dse_status pickle_give(pickle_machine *m, const trace_plain *v, trace_plain *out);

/* Moves the values from stack[from] on into the container `into`, in pairs if it is a dictionary. */
dse_status pickle_fill(pickle_machine *m, uint32_t into, size_t from);

/* The container under the values from stack[from] on, if it is of the kind. */
dse_status pickle_under(pickle_machine *m, size_t from, trace_plain_kind kind, uint32_t *into);

#endif
