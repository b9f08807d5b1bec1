/* pickle_machine -- a pickle being read: its bytes, the stack of values, the containers under way. Private to pickle.c, which
 * has the opcodes.
 *
 * What fails has filled the error, with the byte of the opcode. */
#ifndef DSE_TRACE_PICKLE_MACHINE_H
#define DSE_TRACE_PICKLE_MACHINE_H

#include "base/strbuf.h"
#include "trace/pickle.h"

/* Values: PyTorch's own pickler pushes all of a list before it appends them. */
#define PICKLE_MAX_STACK (1u << 26)

typedef struct {
    uint32_t mine; /* the listener's number */
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
    const uint8_t *p, *end; /* of its window: what is next, and its end */
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
    dse_strbuf text; /* of a line, or of what crosses the end of a chunk */
};

#define pickle_fail(m, ...) pickle_placed((m), dse_fail((m)->err, DSE_E_SYNTAX, __VA_ARGS__))

/* Gives the error its place, unless it has one; st again. */
dse_status pickle_placed(pickle_machine *m, dse_status st);

/* ---- bytes --------------------------------------------------------------------------------- */

/* The next byte of the file. */
static inline uint64_t pickle_position(const pickle_machine *m)
{
    return m->source->offset + (uint64_t)((const char *)m->p - m->source->window);
}

/* At least one byte more; DSE_E_SYNTAX at the end of the file. */
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

/* Passes n bytes, of which the first `keep` become m->text. Only what really comes is kept. */
dse_status pickle_take_bytes(pickle_machine *m, uint64_t n, uint64_t keep);

/* A line without its end into m->text, which keeps at most `keep` bytes and one more as a sign that there were. */
dse_status pickle_take_line(pickle_machine *m, size_t keep);

/* ---- the stack ----------------------------------------------------------------------------- */

/* The height of the stack at the last mark. */
static inline size_t pickle_floor_of(const pickle_machine *m)
{
    return m->n_marks ? m->mark[m->n_marks - 1] : 0;
}

/* That so many values stand above the last mark. */
dse_status pickle_need(pickle_machine *m, size_t n);

dse_status pickle_push(pickle_machine *m, trace_plain v);
dse_status pickle_push_integer(pickle_machine *m, trace_plain_kind kind, int64_t v);
dse_status pickle_push_container(pickle_machine *m, trace_plain_kind kind); /* a new one, empty */
dse_status pickle_push_text(pickle_machine *m, const char *text, size_t n);
dse_status pickle_pop_mark(pickle_machine *m, size_t *from);

/* A value as the listener sees it: a container is complete from now on. */
dse_status pickle_give(pickle_machine *m, const trace_plain *v, trace_plain *out);

/* The values from stack[from] on become items of the container `into`, in pairs if it is a dictionary. */
dse_status pickle_fill(pickle_machine *m, uint32_t into, size_t from);

/* The container under the values from stack[from] on, if it is of the kind. */
dse_status pickle_under(pickle_machine *m, size_t from, trace_plain_kind kind, uint32_t *into);

#endif
