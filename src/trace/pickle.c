#include "trace/pickle.h"

#include "base/strbuf.h"
#include "base/units.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define MAX_STACK      (1u << 26) /* values: PyTorch's own pickler pushes all of a list before it appends them */
#define MAX_MEMO       (1u << 26) /* entries, 1 GiB: few bytes, compressed, can ask for any number of them */
#define MAX_CONTAINERS (1u << 27) /* 1 GiB */
#define MAX_LINE       255        /* bytes of a line that is a number or the name of a class */
#define UNSET          UINT32_MAX /* kind of a memo entry that was passed over */

typedef struct {
    uint32_t mine; /* the listener's number */
    uint8_t kind;
    bool closed;
} container;

typedef struct machine machine;

typedef struct {
    const char *name; /* as pickletools spells it */
    dse_status (*run)(machine *m);
    uint8_t size; /* bytes of the argument, or of the length in front of it */
} opcode;

/* On the stack and in the memo a container's id is its index in `all`; the listener sees `mine`. */
struct machine {
    const char *path;
    const trace_plain_listener *to;
    dse_error *err;
    trace_source *source;
    const uint8_t *p, *end; /* of its window: what is next, and its end */
    const opcode *op;
    uint64_t at; /* byte of the opcode */
    uint8_t code;
    bool done;
    uint64_t frame_end;
    trace_plain *stack, *memo;
    size_t n_stack, cap_stack, n_memo, cap_memo;
    size_t *mark; /* heights of the stack */
    size_t n_marks, cap_marks;
    container *all;
    size_t n_all, cap_all;
    dse_strbuf text; /* of a line, or of what crosses the end of a chunk */
};

static uint64_t position(const machine *m)
{
    return m->source->offset + (uint64_t)((const char *)m->p - m->source->window);
}

/* Gives the error its place, unless it has one. */
static dse_status placed(machine *m, dse_status st)
{
    char where[256];

    if (st == DSE_OK || !m->err)
        return st;
    snprintf(where, sizeof where, "%.200s: byte %" PRIu64, m->path, m->at);
    dse_error_set_where(m->err, where);
    return st;
}

#define fail(m, ...) placed((m), dse_fail((m)->err, DSE_E_SYNTAX, __VA_ARGS__))

/* ---- bytes ---------------------------------------------------------------------------------- */

static dse_status truncated(machine *m)
{
    m->at = position(m);
    return fail(
        m,
        "the pickle ends here, after %s and without STOP; it was cut off, and nothing of it can be trusted",
        m->op && m->op->name ? m->op->name : "nothing");
}

/* At least one byte more. */
static dse_status more(machine *m)
{
    trace_source *from = m->source;

    if (m->p < m->end)
        return DSE_OK;
    if (!trace_source_more(from, (size_t)((const char *)m->p - from->window))) {
        m->p = m->end = (const uint8_t *)from->window + from->n;
        if (!*from->broken)
            return truncated(m);
        m->at = position(m);
        return placed(m, dse_fail(m->err, DSE_E_IO, "cannot read on: %s", from->broken));
    }
    m->p = (const uint8_t *)from->window;
    m->end = m->p + from->n;
    return DSE_OK;
}

/* An unsigned number of up to 8 bytes, the lowest first. */
static dse_status take_number(machine *m, unsigned size, uint64_t *out)
{
    *out = 0;
    if ((size_t)(m->end - m->p) >= size) {
        for (unsigned i = 0; i < size; i++)
            *out |= (uint64_t)m->p[i] << (8 * i);
        m->p += size;
        return DSE_OK;
    }
    for (unsigned i = 0; i < size; i++) {
        dse_status st = more(m);

        if (st != DSE_OK)
            return st;
        *out |= (uint64_t)*m->p++ << (8 * i);
    }
    return DSE_OK;
}

/* Passes n bytes, of which the first `keep` are added to m->text. Only what really comes is kept. */
static dse_status take_bytes(machine *m, uint64_t n, uint64_t keep)
{
    dse_strbuf_clear(&m->text);
    while (n) {
        dse_status st = more(m);
        uint64_t here = (uint64_t)(m->end - m->p);

        if (st != DSE_OK)
            return st;
        here = here < n ? here : n;
        if (keep)
            dse_strbuf_add(&m->text, m->p, (size_t)(here < keep ? here : keep));
        keep -= here < keep ? here : keep;
        m->p += here;
        n -= here;
    }
    return m->text.failed ? dse_fail_nomem(m->err) : DSE_OK;
}

/* A line without its end into m->text, which keeps at most `keep` bytes and one more as a sign that there were. */
static dse_status take_line(machine *m, size_t keep)
{
    dse_strbuf_clear(&m->text);
    for (;;) {
        dse_status st = more(m);
        uint8_t c;

        if (st != DSE_OK)
            return st;
        if ((c = *m->p++) == '\n')
            break;
        if (m->text.len <= keep)
            dse_strbuf_addc(&m->text, (char)c);
    }
    if (m->text.len && m->text.data[m->text.len - 1] == '\r')
        m->text.data[--m->text.len] = '\0';
    return m->text.failed ? dse_fail_nomem(m->err) : DSE_OK;
}

/* ---- the stack ------------------------------------------------------------------------------ */

static size_t floor_of(const machine *m) { return m->n_marks ? m->mark[m->n_marks - 1] : 0; }

static dse_status need(machine *m, size_t n)
{
    if (m->n_stack - floor_of(m) < n)
        return fail(m, "%s finds fewer than %zu values on the stack", m->op->name, n);
    return DSE_OK;
}

static dse_status push(machine *m, trace_plain v)
{
    if (m->n_stack == MAX_STACK)
        return fail(m, "more than %u values wait on the stack", MAX_STACK);
    if (!DSE_GROW(m->stack, m->cap_stack, m->n_stack + 1))
        return dse_fail_nomem(m->err);
    m->stack[m->n_stack++] = v;
    return DSE_OK;
}

static dse_status push_integer(machine *m, trace_plain_kind kind, int64_t v)
{
    return push(m, (trace_plain){.kind = kind, .id = DSE_NONE, .v.integer = v});
}

static dse_status push_container(machine *m, trace_plain_kind kind)
{
    if (m->n_all == MAX_CONTAINERS)
        return fail(m, "more than %u lists, tuples and dictionaries", MAX_CONTAINERS);
    if (!DSE_GROW(m->all, m->cap_all, m->n_all + 1))
        return dse_fail_nomem(m->err);
    m->all[m->n_all] = (container){DSE_NONE, (uint8_t)kind, false};
    return push(m, (trace_plain){.kind = kind, .id = (uint32_t)m->n_all++});
}

static dse_status push_text(machine *m, const char *text, size_t n)
{
    uint32_t id = DSE_NONE;

    if (n <= TRACE_PLAIN_MAX_TEXT && (id = trace_names_add(m->to->names, text, n)) == DSE_NONE)
        return dse_fail_nomem(m->err);
    return push(m, (trace_plain){.kind = TRACE_PLAIN_TEXT, .id = id});
}

/* A value as the listener sees it: a container is complete from now on. */
static dse_status give(machine *m, const trace_plain *v, trace_plain *out)
{
    container *c;

    *out = *v;
    if (!trace_plain_is_container(v))
        return DSE_OK;
    c = &m->all[v->id];
    if (!c->closed) {
        dse_status st = m->to->close(m->to->to, (trace_plain_kind)c->kind, &c->mine, m->err);

        if (st != DSE_OK)
            return placed(m, st);
        c->closed = true;
    }
    out->id = c->mine;
    return DSE_OK;
}

/* The values from stack[from] on become items of the container `into`, in pairs if it is a dictionary. */
static dse_status fill(machine *m, uint32_t into, size_t from)
{
    trace_plain_kind kind = (trace_plain_kind)m->all[into].kind;
    size_t step = kind == TRACE_PLAIN_DICT ? 2 : 1;
    trace_plain key, value;
    dse_status st = DSE_OK;

    if ((m->n_stack - from) % step)
        return fail(m, "%s finds a key without a value", m->op->name);
    if (m->all[into].closed)
        return fail(m, "%s fills a container that stands in another place already: it would contain itself",
                    m->op->name);
    for (size_t i = from; st == DSE_OK && i < m->n_stack; i += step) {
        if (step == 2)
            st = give(m, &m->stack[i], &key);
        if (st == DSE_OK)
            st = give(m, &m->stack[i + step - 1], &value);
        if (st == DSE_OK)
            st = placed(
                m, m->to->item(m->to->to, kind, &m->all[into].mine, step == 2 ? &key : NULL, &value, m->err));
    }
    m->n_stack = from;
    return st;
}

/* The container under the values from stack[from] on, if it is of the kind; else *into is DSE_NONE. */
static dse_status under(machine *m, size_t from, trace_plain_kind kind, uint32_t *into)
{
    if (from == floor_of(m) || m->stack[from - 1].kind != kind)
        return fail(m, "%s finds no %s to add to", m->op->name,
                    kind == TRACE_PLAIN_DICT ? "dictionary" : "list");
    *into = m->stack[from - 1].id;
    return DSE_OK;
}

static dse_status pop_mark(machine *m, size_t *from)
{
    if (!m->n_marks)
        return fail(m, "%s finds no mark on the stack", m->op->name);
    *from = m->mark[--m->n_marks];
    return DSE_OK;
}

/* ---- opcodes -------------------------------------------------------------------------------- */

static dse_status op_proto(machine *m)
{
    uint64_t v;
    dse_status st = take_number(m, 1, &v);

    if (st == DSE_OK && v > 5)
        return fail(m, "protocol %" PRIu64 " of pickle is not known; known: 0 to 5", v);
    return st;
}

static dse_status op_frame(machine *m)
{
    uint64_t n;
    dse_status st = take_number(m, 8, &n);

    if (st == DSE_OK && n > UINT64_MAX / 2)
        return fail(m, "a frame of %" PRIu64 " bytes is longer than any file", n);
    m->frame_end = position(m) + n;
    return st;
}

static dse_status op_stop(machine *m)
{
    if (m->n_marks || m->n_stack != 1)
        return fail(m, "STOP finds %zu values on the stack instead of one", m->n_stack);
    if (position(m) < m->frame_end)
        return fail(m, "STOP stands within a frame that goes on to byte %" PRIu64, m->frame_end);
    m->done = true;
    return DSE_OK;
}

static dse_status op_mark(machine *m)
{
    if (m->n_marks == MAX_STACK)
        return fail(m, "more than %u marks on the stack", MAX_STACK);
    if (!DSE_GROW(m->mark, m->cap_marks, m->n_marks + 1))
        return dse_fail_nomem(m->err);
    m->mark[m->n_marks++] = m->n_stack;
    return DSE_OK;
}

static dse_status op_pop(machine *m)
{
    if (m->n_marks && m->n_stack == floor_of(m)) {
        m->n_marks--;
        return DSE_OK;
    }
    if (!m->n_stack)
        return need(m, 1);
    m->n_stack--;
    return DSE_OK;
}

static dse_status op_pop_mark(machine *m) { return pop_mark(m, &m->n_stack); }

/* A container that is taken a second time is complete, in every pickle of plain data but those where one contains itself:
 * filling it after this is refused. */
static dse_status push_again(machine *m, const trace_plain *v)
{
    trace_plain seen, copy = *v;
    dse_status st = give(m, v, &seen);

    return st == DSE_OK ? push(m, copy) : st;
}

static dse_status op_dup(machine *m)
{
    dse_status st = need(m, 1);

    return st == DSE_OK ? push_again(m, &m->stack[m->n_stack - 1]) : st;
}

static dse_status op_none(machine *m) { return push_integer(m, TRACE_PLAIN_NONE, 0); }

static dse_status op_bool(machine *m) { return push_integer(m, TRACE_PLAIN_BOOL, m->code == 0x88); }

static dse_status op_unsigned(machine *m)
{
    uint64_t v;
    dse_status st = take_number(m, m->op->size, &v);

    return st == DSE_OK ? push_integer(m, TRACE_PLAIN_INT, (int64_t)v) : st;
}

static dse_status op_signed(machine *m)
{
    uint64_t v;
    dse_status st = take_number(m, 4, &v);

    return st == DSE_OK ? push_integer(m, TRACE_PLAIN_INT, (int32_t)(uint32_t)v) : st;
}

/* Two's complement, the lowest byte first, in as many bytes as there are. */
static dse_status op_long(machine *m)
{
    uint64_t n, v = 0;
    dse_status st = take_number(m, m->op->size, &n);

    if (st != DSE_OK)
        return st;
    if (n > 8) {
        st = take_bytes(m, n, 0);
        return st == DSE_OK ? push_integer(m, TRACE_PLAIN_HUGE, 0) : st;
    }
    st = take_number(m, (unsigned)n, &v);
    if (n && n < 8 && v >> (8 * n - 1))
        v |= UINT64_MAX << (8 * n);
    return st == DSE_OK ? push_integer(m, TRACE_PLAIN_INT, (int64_t)v) : st;
}

static dse_status push_float(machine *m, double v)
{
    return push(m, (trace_plain){.kind = TRACE_PLAIN_FLOAT, .id = DSE_NONE, .v.number = v});
}

static dse_status op_float(machine *m)
{
    uint64_t bits = 0, byte;
    double v;

    for (int i = 0; i < 8; i++) {
        dse_status st = take_number(m, 1, &byte);

        if (st != DSE_OK)
            return st;
        bits = bits << 8 | byte;
    }
    memcpy(&v, &bits, sizeof v);
    return push_float(m, v);
}

static dse_status op_float_line(machine *m)
{
    dse_status st = take_line(m, MAX_LINE);
    double v;

    if (st == DSE_OK && dse_parse_double(m->text.data, &v, NULL) != DSE_OK)
        return fail(m, "FLOAT '%.40s' is no number", m->text.data);
    return st == DSE_OK ? push_float(m, v) : st;
}

/* "12", "12L"; 00 and 01 are how protocol 0 spells False and True. */
static dse_status op_integer_line(machine *m)
{
    dse_status st = take_line(m, MAX_LINE);
    size_t n = m->text.len, digits;
    const char *text;
    int64_t v;

    if (st != DSE_OK)
        return st;
    if (n && m->text.data[n - 1] == 'L')
        m->text.data[--n] = '\0';
    text = m->text.data;
    if (m->code == 'I' && n == 2 && text[0] == '0' && (text[1] == '0' || text[1] == '1'))
        return push_integer(m, TRACE_PLAIN_BOOL, text[1] == '1');
    if (dse_parse_int(text, &v, NULL) == DSE_OK)
        return push_integer(m, TRACE_PLAIN_INT, v);
    digits = strspn(text + (*text == '-'), "0123456789");
    if (!digits || digits + (*text == '-') != n)
        return fail(m, "%s '%.40s' is no number", m->op->name, text);
    return push_integer(m, TRACE_PLAIN_HUGE, 0);
}

static dse_status op_text(machine *m)
{
    uint64_t n;
    dse_status st = take_number(m, m->op->size, &n);
    const char *here = (const char *)m->p;

    if (st != DSE_OK)
        return st;
    if (n <= (uint64_t)(m->end - m->p)) {
        m->p += n;
        return push_text(m, here, (size_t)n);
    }
    st = take_bytes(m, n, n <= TRACE_PLAIN_MAX_TEXT ? n : 0);
    return st == DSE_OK ? push_text(m, m->text.data, (size_t)n) : st;
}

static dse_status op_bytes(machine *m)
{
    uint64_t n;
    dse_status st = take_number(m, m->op->size, &n);

    if (st == DSE_OK)
        st = take_bytes(m, n, 0);
    return st == DSE_OK ? push_integer(m, TRACE_PLAIN_BYTES, 0) : st;
}

static dse_status op_text_line(machine *m)
{
    dse_status st = take_line(m, TRACE_PLAIN_MAX_TEXT);
    const char *text = m->text.data;
    size_t n = m->text.len;

    if (st != DSE_OK)
        return st;
    if (m->code == 'S') {
        if (n < 2 || (*text != '\'' && *text != '"') || text[n - 1] != *text)
            return fail(m, "STRING without quotes");
        text++;
        n -= 2;
    }
    return push_text(m, text, n);
}

static dse_status op_empty(machine *m)
{
    return push_container(m, m->code == '}'   ? TRACE_PLAIN_DICT
                             : m->code == ')' ? TRACE_PLAIN_TUPLE
                                              : TRACE_PLAIN_LIST);
}

/* A container of the values from stack[from] on. */
static dse_status collect(machine *m, trace_plain_kind kind, size_t from)
{
    dse_status st = push_container(m, kind);
    trace_plain made;

    if (st != DSE_OK)
        return st;
    made = m->stack[--m->n_stack];
    st = fill(m, made.id, from);
    return st == DSE_OK ? push(m, made) : st;
}

static dse_status op_collect(machine *m)
{
    trace_plain_kind kind = m->code == 'd'   ? TRACE_PLAIN_DICT
                            : m->code == 't' ? TRACE_PLAIN_TUPLE
                                             : TRACE_PLAIN_LIST;
    size_t from = 0;
    dse_status st = pop_mark(m, &from);

    return st == DSE_OK ? collect(m, kind, from) : st;
}

static dse_status op_tuple(machine *m)
{
    size_t n = (size_t)(m->code - 0x84);
    dse_status st = need(m, n);

    return st == DSE_OK ? collect(m, TRACE_PLAIN_TUPLE, m->n_stack - n) : st;
}

/* APPEND, SETITEM: size is how many values; 0: those above the mark. */
static dse_status op_add(machine *m)
{
    trace_plain_kind kind = m->code == 's' || m->code == 'u' ? TRACE_PLAIN_DICT : TRACE_PLAIN_LIST;
    size_t from = 0;
    uint32_t into = DSE_NONE;
    dse_status st = m->op->size ? need(m, m->op->size) : pop_mark(m, &from);

    if (m->op->size)
        from = m->n_stack - m->op->size;
    if (st == DSE_OK)
        st = under(m, from, kind, &into);
    return st == DSE_OK ? fill(m, into, from) : st;
}

/* ---- the memo ------------------------------------------------------------------------------- */

/* The number of an entry, as bytes or (size 0) as a line. */
static dse_status take_index(machine *m, uint64_t *out)
{
    dse_status st;

    if (m->op->size)
        return take_number(m, m->op->size, out);
    st = take_line(m, MAX_LINE);
    if (st == DSE_OK && dse_parse_u64(m->text.data, out, NULL) != DSE_OK)
        return fail(m, "%s '%.40s' is no number", m->op->name, m->text.data);
    return st;
}

/* Every entry takes a byte at least, so a number beyond the bytes so far belongs to no honest pickle. */
static dse_status put(machine *m, uint64_t index)
{
    dse_status st = need(m, 1);

    if (st != DSE_OK)
        return st;
    if (index > m->at)
        return fail(m, "%s to memo entry %" PRIu64 " of a memo of %zu", m->op->name, index, m->n_memo);
    if (index >= MAX_MEMO)
        return fail(m, "more than %u entries of the memo", MAX_MEMO);
    if (!DSE_GROW(m->memo, m->cap_memo, (size_t)index + 1))
        return dse_fail_nomem(m->err);
    while (m->n_memo <= index)
        m->memo[m->n_memo++].kind = UNSET;
    m->memo[index] = m->stack[m->n_stack - 1];
    return DSE_OK;
}

static dse_status op_put(machine *m)
{
    uint64_t index;
    dse_status st = take_index(m, &index);

    return st == DSE_OK ? put(m, index) : st;
}

static dse_status op_memoize(machine *m) { return put(m, m->n_memo); }

static dse_status op_get(machine *m)
{
    uint64_t index;
    dse_status st = take_index(m, &index);

    if (st != DSE_OK)
        return st;
    if (index >= m->n_memo || m->memo[index].kind == UNSET)
        return fail(m, "%s of memo entry %" PRIu64 ", which was never put there", m->op->name, index);
    return push_again(m, &m->memo[index]);
}

/* ---- what is refused ------------------------------------------------------------------------ */

static dse_status refuse(machine *m, const char *what)
{
    return fail(m,
                "%s%s would run code; only pickles of plain data are read, and nothing of this one was run",
                m->op->name, what);
}

static dse_status op_refuse(machine *m) { return refuse(m, ""); }

/* GLOBAL, INST: the module and the name stand in two lines. */
static dse_status op_refuse_global(machine *m)
{
    char what[2 * MAX_LINE + 16];
    dse_status st = take_line(m, MAX_LINE);
    int n = snprintf(what, sizeof what, " '%s", m->text.data);

    if (st == DSE_OK)
        st = take_line(m, MAX_LINE);
    if (st == DSE_OK)
        snprintf(what + n, sizeof what - (size_t)n, " %s'", m->text.data);
    return st == DSE_OK ? refuse(m, what) : st;
}

static const char *text_below(const machine *m, size_t depth)
{
    const trace_plain *v = m->n_stack >= depth ? &m->stack[m->n_stack - depth] : NULL;

    return v && v->kind == TRACE_PLAIN_TEXT && v->id != DSE_NONE ? m->to->names->text[v->id] : "?";
}

static dse_status op_refuse_stack_global(machine *m)
{
    char what[2 * MAX_LINE + 16];

    snprintf(what, sizeof what, " '%.*s %.*s'", MAX_LINE, text_below(m, 2), MAX_LINE, text_below(m, 1));
    return refuse(m, what);
}

static dse_status op_refuse_buffer(machine *m)
{
    return fail(m, "%s takes bytes from outside of the file", m->op->name);
}

static const opcode opcodes[256] = {
    ['('] = {"MARK", op_mark, 0},
    ['.'] = {"STOP", op_stop, 0},
    ['0'] = {"POP", op_pop, 0},
    ['1'] = {"POP_MARK", op_pop_mark, 0},
    ['2'] = {"DUP", op_dup, 0},
    ['B'] = {"BINBYTES", op_bytes, 4},
    ['C'] = {"SHORT_BINBYTES", op_bytes, 1},
    ['F'] = {"FLOAT", op_float_line, 0},
    ['G'] = {"BINFLOAT", op_float, 0},
    ['I'] = {"INT", op_integer_line, 0},
    ['J'] = {"BININT", op_signed, 0},
    ['K'] = {"BININT1", op_unsigned, 1},
    ['L'] = {"LONG", op_integer_line, 0},
    ['M'] = {"BININT2", op_unsigned, 2},
    ['N'] = {"NONE", op_none, 0},
    ['P'] = {"PERSID", op_refuse, 0},
    ['Q'] = {"BINPERSID", op_refuse, 0},
    ['R'] = {"REDUCE", op_refuse, 0},
    ['S'] = {"STRING", op_text_line, 0},
    ['T'] = {"BINSTRING", op_text, 4},
    ['U'] = {"SHORT_BINSTRING", op_text, 1},
    ['V'] = {"UNICODE", op_text_line, 0},
    ['X'] = {"BINUNICODE", op_text, 4},
    [']'] = {"EMPTY_LIST", op_empty, 0},
    ['a'] = {"APPEND", op_add, 1},
    ['b'] = {"BUILD", op_refuse, 0},
    ['c'] = {"GLOBAL", op_refuse_global, 0},
    ['d'] = {"DICT", op_collect, 0},
    ['e'] = {"APPENDS", op_add, 0},
    ['g'] = {"GET", op_get, 0},
    ['h'] = {"BINGET", op_get, 1},
    ['i'] = {"INST", op_refuse_global, 0},
    ['j'] = {"LONG_BINGET", op_get, 4},
    ['l'] = {"LIST", op_collect, 0},
    ['o'] = {"OBJ", op_refuse, 0},
    ['p'] = {"PUT", op_put, 0},
    ['q'] = {"BINPUT", op_put, 1},
    ['r'] = {"LONG_BINPUT", op_put, 4},
    ['s'] = {"SETITEM", op_add, 2},
    ['t'] = {"TUPLE", op_collect, 0},
    ['u'] = {"SETITEMS", op_add, 0},
    ['}'] = {"EMPTY_DICT", op_empty, 0},
    [')'] = {"EMPTY_TUPLE", op_empty, 0},
    [0x80] = {"PROTO", op_proto, 0},
    [0x81] = {"NEWOBJ", op_refuse, 0},
    [0x82] = {"EXT1", op_refuse, 0},
    [0x83] = {"EXT2", op_refuse, 0},
    [0x84] = {"EXT4", op_refuse, 0},
    [0x85] = {"TUPLE1", op_tuple, 0},
    [0x86] = {"TUPLE2", op_tuple, 0},
    [0x87] = {"TUPLE3", op_tuple, 0},
    [0x88] = {"NEWTRUE", op_bool, 0},
    [0x89] = {"NEWFALSE", op_bool, 0},
    [0x8a] = {"LONG1", op_long, 1},
    [0x8b] = {"LONG4", op_long, 4},
    [0x8c] = {"SHORT_BINUNICODE", op_text, 1},
    [0x8d] = {"BINUNICODE8", op_text, 8},
    [0x8e] = {"BINBYTES8", op_bytes, 8},
    [0x8f] = {"EMPTY_SET", op_empty, 0},
    [0x90] = {"ADDITEMS", op_add, 0},
    [0x91] = {"FROZENSET", op_collect, 0},
    [0x92] = {"NEWOBJ_EX", op_refuse, 0},
    [0x93] = {"STACK_GLOBAL", op_refuse_stack_global, 0},
    [0x94] = {"MEMOIZE", op_memoize, 0},
    [0x95] = {"FRAME", op_frame, 0},
    [0x96] = {"BYTEARRAY8", op_bytes, 8},
    [0x97] = {"NEXT_BUFFER", op_refuse_buffer, 0},
    [0x98] = {"READONLY_BUFFER", op_refuse_buffer, 0},
};

/* ---- the whole ------------------------------------------------------------------------------ */

static dse_status run(machine *m, trace_plain *root)
{
    dse_status st = DSE_OK;

    m->p = (const uint8_t *)m->source->window;
    m->end = m->p + m->source->n;
    dse_strbuf_init(&m->text);
    while (st == DSE_OK && !m->done) {
        if ((st = more(m)) != DSE_OK)
            break;
        m->at = position(m);
        m->code = *m->p++;
        m->op = &opcodes[m->code];
        st = m->op->run ? m->op->run(m) : fail(m, "0x%02x is no opcode of a pickle", m->code);
    }
    if (st == DSE_OK)
        st = give(m, &m->stack[0], root);
    dse_free(m->stack);
    dse_free(m->memo);
    dse_free(m->mark);
    dse_free(m->all);
    dse_strbuf_free(&m->text);
    return st;
}

dse_status trace_pickle_read(trace_source *source, const char *path, const trace_plain_listener *to,
                             trace_plain *root, dse_error *err)
{
    machine m = {.path = path, .source = source, .to = to, .err = err};

    return run(&m, root);
}

/* A line of a dotted name; NULL if it is none. Otherwise what follows it. */
static const char *name_line(const char *p)
{
    size_t n = strspn(p, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.");

    return n && p[n] == '\n' ? p + n + 1 : NULL;
}

bool trace_is_pickle(const char *head, size_t n)
{
    const char *p;

    if (n < 2)
        return false;
    switch (head[0]) {
    case '\x80':
        return head[1] >= 0 && head[1] < ' '; /* of protocols to come, too: they are refused by number */
    case '}': return head[1] == 'q' || head[1] == '.';
    case '(':
        return head[1] == 'd' || head[1] == 'l' || (head[1] == 'S' && (head[2] == '\'' || head[2] == '"')) ||
               (head[1] == 'c' && (p = name_line(head + 2)) && name_line(p));
    case 'c': return (p = name_line(head + 1)) && (p = name_line(p)) && (*p == '(' || *p == 'p' || *p == 'q');
    default: return false;
    }
}
