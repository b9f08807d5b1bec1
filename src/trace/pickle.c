/* A stack machine, as Python's own: the state, the values on its stack, then one function for each family of
 * opcodes. Functions that return bool return false once the error is set. */
#include "trace/pickle.h"

#include "base/strbuf.h"
#include "base/units.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define MAX_STACK                                                                                            \
    (1u << 26) /* values: PyTorch's own pickler pushes a whole list before it appends the items */
#define MAX_CONTAINERS (1u << 27) /* 1 GiB */
#define MAX_MEMO       (1u << 26) /* entries, 1 GiB: a few compressed bytes can ask for any number */
#define MAX_LINE       255        /* bytes of a line that is a number or the name of a class */
#define UNSET          UINT32_MAX /* kind of a memo entry that was never set */

typedef struct {
    uint32_t mine; /* the listener's id */
    uint8_t kind;
    bool closed;
} container;

typedef struct machine machine;

typedef struct {
    const char *name; /* as pickletools spells it */
    bool (*run)(machine *m);
    uint8_t size; /* bytes of the argument, or of the length in front of it */
} opcode;

/* On the stack and in the memo a container's id is its index in `all`; the listener sees `mine`. */
struct machine {
    const char *path;
    const trace_plain_listener *to;
    dse_error *err;
    dse_status status; /* of the first failure */
    trace_source *source;
    const uint8_t *p, *end; /* of the window: the next byte, and the end */
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
    dse_strbuf text; /* a line, or bytes across the end of the window */
};

/* Adds the byte of the opcode to an error. */
static bool stop(machine *m, dse_status st)
{
    char where[256];

    snprintf(where, sizeof where, "%.200s: byte %" PRIu64, m->path, m->at);
    if (m->err)
        dse_error_set_where(m->err, where);
    m->status = st;
    return false;
}

#define fail(m, ...) stop((m), dse_fail((m)->err, DSE_E_SYNTAX, __VA_ARGS__))

/* ---- bytes ----------------------------------------------------------------------------------- */

/* Offset of the next byte of the file. */
static uint64_t position(const machine *m)
{
    return m->source->offset + (uint64_t)((const char *)m->p - m->source->window);
}

static bool refill(machine *m)
{
    trace_source *from = m->source;

    if (trace_source_more(from, (size_t)((const char *)m->p - from->window))) {
        m->p = (const uint8_t *)from->window;
        m->end = m->p + from->n;
        return true;
    }
    m->p = m->end = (const uint8_t *)from->window + from->n;
    m->at = position(m);
    if (*from->broken)
        return stop(m, dse_fail(m->err, DSE_E_IO, "cannot read on: %s", from->broken));
    return fail(
        m,
        "the pickle ends here, after %s and without STOP; it was cut off, and nothing of it can be trusted",
        m->op && m->op->name ? m->op->name : "nothing");
}

/* Makes at least one byte available. */
static inline bool has_byte(machine *m) { return m->p < m->end || refill(m); }

static bool take_byte(machine *m, uint8_t *out)
{
    if (!has_byte(m))
        return false;
    *out = *m->p++;
    return true;
}

/* An unsigned number of up to 8 bytes, the lowest first. */
static inline bool take_number(machine *m, unsigned size, uint64_t *out)
{
    bool here = (size_t)(m->end - m->p) >= size;
    uint8_t byte;

    *out = 0;
    for (unsigned i = 0; i < size; i++) {
        if (here)
            byte = *m->p++;
        else if (!take_byte(m, &byte))
            return false;
        *out |= (uint64_t)byte << (8 * i);
    }
    return true;
}

/* Skips n bytes and keeps the first `keep` of them in m->text. */
static bool take_bytes(machine *m, uint64_t n, uint64_t keep)
{
    dse_strbuf_clear(&m->text);
    while (n) {
        uint64_t here;

        if (!has_byte(m))
            return false;
        here = (uint64_t)(m->end - m->p);
        here = here < n ? here : n;
        if (keep)
            dse_strbuf_add(&m->text, m->p, (size_t)(here < keep ? here : keep));
        keep -= here < keep ? here : keep;
        m->p += here;
        n -= here;
    }
    return true;
}

/* Reads a line, without its end, into m->text: at most `keep` bytes, and one more if it is longer. */
static bool take_line(machine *m, size_t keep)
{
    uint8_t c;

    dse_strbuf_clear(&m->text);
    for (;;) {
        if (!take_byte(m, &c))
            return false;
        if (c == '\n')
            break;
        if (m->text.len <= keep)
            dse_strbuf_addc(&m->text, (char)c);
    }
    if (m->text.len && m->text.data[m->text.len - 1] == '\r')
        m->text.data[--m->text.len] = '\0';
    return true;
}

/* ---- the stack ------------------------------------------------------------------------------- */

/* The height of the stack at the last mark. */
static size_t floor_of(const machine *m) { return m->n_marks ? m->mark[m->n_marks - 1] : 0; }

/* Checks that there are n values above the last mark. */
static bool need(machine *m, size_t n)
{
    return m->n_stack - floor_of(m) >= n ||
           fail(m, "%s finds fewer than %zu values on the stack", m->op->name, n);
}

static bool push(machine *m, trace_plain v)
{
    if (m->n_stack == MAX_STACK)
        return fail(m, "more than %u values wait on the stack", MAX_STACK);
    DSE_GROW(m->stack, m->cap_stack, m->n_stack + 1);
    m->stack[m->n_stack++] = v;
    return true;
}

static bool push_integer(machine *m, trace_plain_kind kind, int64_t v)
{
    return push(m, (trace_plain){.kind = kind, .id = DSE_NONE, .v.integer = v});
}

static bool push_float(machine *m, double v)
{
    return push(m, (trace_plain){.kind = TRACE_PLAIN_FLOAT, .id = DSE_NONE, .v.number = v});
}

static bool push_text(machine *m, const char *text, size_t n)
{
    uint32_t id = n <= TRACE_PLAIN_MAX_TEXT ? trace_names_add_bytes(m->to->names, text, n) : DSE_NONE;

    return push(m, (trace_plain){.kind = TRACE_PLAIN_TEXT, .id = id});
}

/* A new container, empty. */
static bool push_container(machine *m, trace_plain_kind kind)
{
    if (m->n_all == MAX_CONTAINERS)
        return fail(m, "more than %u lists, tuples and dictionaries", MAX_CONTAINERS);
    DSE_GROW(m->all, m->cap_all, m->n_all + 1);
    m->all[m->n_all] = (container){DSE_NONE, (uint8_t)kind, false};
    return push(m, (trace_plain){.kind = kind, .id = (uint32_t)m->n_all++});
}

static bool pop_mark(machine *m, size_t *from)
{
    if (!m->n_marks)
        return fail(m, "%s finds no mark on the stack", m->op->name);
    *from = m->mark[--m->n_marks];
    return true;
}

/* Sets *out to the value as the listener sees it; a container is complete from now on. */
static bool give(machine *m, const trace_plain *v, trace_plain *out)
{
    container *c;
    dse_status st;

    *out = *v;
    if (!trace_plain_is_container(v))
        return true;
    c = &m->all[v->id];
    if (!c->closed && (st = m->to->close(m->to->to, (trace_plain_kind)c->kind, &c->mine, m->err)) != DSE_OK)
        return stop(m, st);
    c->closed = true;
    out->id = c->mine;
    return true;
}

/* Moves the values from stack[from] on into a container, in pairs if it is a dictionary. */
static bool fill(machine *m, uint32_t into, size_t from)
{
    trace_plain_kind kind = (trace_plain_kind)m->all[into].kind;
    size_t step = kind == TRACE_PLAIN_DICT ? 2 : 1;
    trace_plain key, value;

    if ((m->n_stack - from) % step)
        return fail(m, "%s finds a key without a value", m->op->name);
    if (m->all[into].closed)
        return fail(m, "%s fills a container that stands in another place already: it would contain itself",
                    m->op->name);
    for (size_t i = from; i < m->n_stack; i += step) {
        if ((step == 2 && !give(m, &m->stack[i], &key)) || !give(m, &m->stack[i + step - 1], &value))
            return false;
        m->to->item(m->to->to, kind, &m->all[into].mine, step == 2 ? &key : NULL, &value);
    }
    m->n_stack = from;
    return true;
}

/* Makes a container of the values from stack[from] on. */
static bool collect(machine *m, trace_plain_kind kind, size_t from)
{
    trace_plain made;

    if (!push_container(m, kind))
        return false;
    made = m->stack[--m->n_stack];
    return fill(m, made.id, from) && push(m, made);
}

/* A container that is used a second time is taken as complete: only one that contains itself would be filled
 * afterwards, and that is refused. */
static bool push_again(machine *m, const trace_plain *v)
{
    trace_plain seen, copy = *v;

    return give(m, v, &seen) && push(m, copy);
}

/* ---- opcodes --------------------------------------------------------------------------------- */

static bool op_proto(machine *m)
{
    uint64_t v;

    return take_number(m, 1, &v) &&
           (v <= 5 || fail(m, "protocol %" PRIu64 " of pickle is not known; known: 0 to 5", v));
}

static bool op_frame(machine *m)
{
    uint64_t n;

    if (!take_number(m, 8, &n))
        return false;
    if (n > UINT64_MAX / 2)
        return fail(m, "a frame of %" PRIu64 " bytes is longer than any file", n);
    m->frame_end = position(m) + n;
    return true;
}

static bool op_stop(machine *m)
{
    if (m->n_marks || m->n_stack != 1)
        return fail(m, "STOP finds %zu values on the stack instead of one", m->n_stack);
    if (position(m) < m->frame_end)
        return fail(m, "STOP stands within a frame that goes on to byte %" PRIu64, m->frame_end);
    m->done = true;
    return true;
}

static bool op_mark(machine *m)
{
    if (m->n_marks == MAX_STACK)
        return fail(m, "more than %u marks on the stack", MAX_STACK);
    DSE_GROW(m->mark, m->cap_marks, m->n_marks + 1);
    m->mark[m->n_marks++] = m->n_stack;
    return true;
}

static bool op_pop(machine *m)
{
    if (m->n_marks && m->n_stack == floor_of(m))
        m->n_marks--;
    else if (need(m, 1))
        m->n_stack--;
    return m->status == DSE_OK;
}

static bool op_pop_mark(machine *m) { return pop_mark(m, &m->n_stack); }

static bool op_dup(machine *m) { return need(m, 1) && push_again(m, &m->stack[m->n_stack - 1]); }

static bool op_none(machine *m) { return push_integer(m, TRACE_PLAIN_NONE, 0); }

static bool op_bool(machine *m) { return push_integer(m, TRACE_PLAIN_BOOL, m->code == 0x88); }

static bool op_unsigned(machine *m)
{
    uint64_t v;

    return take_number(m, m->op->size, &v) && push_integer(m, TRACE_PLAIN_INT, (int64_t)v);
}

static bool op_signed(machine *m)
{
    uint64_t v;

    return take_number(m, 4, &v) && push_integer(m, TRACE_PLAIN_INT, (int32_t)(uint32_t)v);
}

/* Two's complement, lowest byte first, of any length. */
static bool op_long(machine *m)
{
    uint64_t n, v;

    if (!take_number(m, m->op->size, &n))
        return false;
    if (n > 8)
        return take_bytes(m, n, 0) && push_integer(m, TRACE_PLAIN_HUGE, 0);
    if (!take_number(m, (unsigned)n, &v))
        return false;
    if (n && n < 8 && v >> (8 * n - 1))
        v |= UINT64_MAX << (8 * n);
    return push_integer(m, TRACE_PLAIN_INT, (int64_t)v);
}

/* Eight bytes, the highest first. */
static bool op_float(machine *m)
{
    uint64_t bits = 0;
    uint8_t byte;
    double v;

    for (int i = 0; i < 8; i++) {
        if (!take_byte(m, &byte))
            return false;
        bits = bits << 8 | byte;
    }
    memcpy(&v, &bits, sizeof v);
    return push_float(m, v);
}

static bool op_float_line(machine *m)
{
    double v;

    if (!take_line(m, MAX_LINE))
        return false;
    if (dse_parse_double(m->text.data, &v, NULL) != DSE_OK)
        return fail(m, "FLOAT '%.40s' is no number", m->text.data);
    return push_float(m, v);
}

/* "12", "12L"; protocol 0 writes False and True as 00 and 01. */
static bool op_integer_line(machine *m)
{
    size_t n, digits;
    char *text;
    int64_t v;

    if (!take_line(m, MAX_LINE))
        return false;
    n = m->text.len;
    text = m->text.data;
    if (n && text[n - 1] == 'L')
        text[--n] = '\0';
    if (m->code == 'I' && n == 2 && text[0] == '0' && (text[1] == '0' || text[1] == '1'))
        return push_integer(m, TRACE_PLAIN_BOOL, text[1] == '1');
    if (dse_parse_int(text, &v, NULL) == DSE_OK)
        return push_integer(m, TRACE_PLAIN_INT, v);
    digits = strspn(text + (*text == '-'), "0123456789");
    if (!digits || digits + (*text == '-') != n)
        return fail(m, "%s '%.40s' is no number", m->op->name, text);
    return push_integer(m, TRACE_PLAIN_HUGE, 0);
}

static bool op_text(machine *m)
{
    const char *here;
    uint64_t n;

    if (!take_number(m, m->op->size, &n))
        return false;
    here = (const char *)m->p;
    if (n <= (uint64_t)(m->end - m->p)) {
        m->p += n;
        return push_text(m, here, (size_t)n);
    }
    return take_bytes(m, n, n <= TRACE_PLAIN_MAX_TEXT ? n : 0) && push_text(m, m->text.data, (size_t)n);
}

static bool op_bytes(machine *m)
{
    uint64_t n;

    return take_number(m, m->op->size, &n) && take_bytes(m, n, 0) && push_integer(m, TRACE_PLAIN_BYTES, 0);
}

static bool op_text_line(machine *m)
{
    const char *text;
    size_t n;

    if (!take_line(m, TRACE_PLAIN_MAX_TEXT))
        return false;
    text = m->text.data;
    n = m->text.len;
    if (m->code != 'S')
        return push_text(m, text, n);
    if (n < 2 || (*text != '\'' && *text != '"') || text[n - 1] != *text)
        return fail(m, "STRING without quotes");
    return push_text(m, text + 1, n - 2);
}

static bool op_empty(machine *m)
{
    return push_container(m, m->code == '}'   ? TRACE_PLAIN_DICT
                             : m->code == ')' ? TRACE_PLAIN_TUPLE
                                              : TRACE_PLAIN_LIST);
}

static bool op_collect(machine *m)
{
    trace_plain_kind kind = m->code == 'd'   ? TRACE_PLAIN_DICT
                            : m->code == 't' ? TRACE_PLAIN_TUPLE
                                             : TRACE_PLAIN_LIST;
    size_t from;

    return pop_mark(m, &from) && collect(m, kind, from);
}

static bool op_tuple(machine *m)
{
    size_t n = (size_t)(m->code - 0x84);

    return need(m, n) && collect(m, TRACE_PLAIN_TUPLE, m->n_stack - n);
}

/* `size` of APPEND and SETITEM is the number of values; 0: all above the mark. */
static bool op_add(machine *m)
{
    trace_plain_kind kind = m->code == 's' || m->code == 'u' ? TRACE_PLAIN_DICT : TRACE_PLAIN_LIST;
    size_t from = 0;

    if (!(m->op->size ? need(m, m->op->size) : pop_mark(m, &from)))
        return false;
    if (m->op->size)
        from = m->n_stack - m->op->size;
    if (from == floor_of(m) || m->stack[from - 1].kind != kind)
        return fail(m, "%s finds no %s to add to", m->op->name,
                    kind == TRACE_PLAIN_DICT ? "dictionary" : "list");
    return fill(m, m->stack[from - 1].id, from);
}

/* ---- the memo -------------------------------------------------------------------------------- */

/* The number of an entry, as bytes or (size 0) as a line. */
static bool take_index(machine *m, uint64_t *out)
{
    if (m->op->size)
        return take_number(m, m->op->size, out);
    return take_line(m, MAX_LINE) && (dse_parse_u64(m->text.data, out, NULL) == DSE_OK ||
                                      fail(m, "%s '%.40s' is no number", m->op->name, m->text.data));
}

/* Every entry takes at least a byte, so an index beyond the bytes so far is corrupt. */
static bool put(machine *m, uint64_t index)
{
    if (!need(m, 1))
        return false;
    if (index > m->at)
        return fail(m, "%s to memo entry %" PRIu64 " of a memo of %zu", m->op->name, index, m->n_memo);
    if (index >= MAX_MEMO)
        return fail(m, "more than %u entries of the memo", MAX_MEMO);
    DSE_GROW(m->memo, m->cap_memo, (size_t)index + 1);
    while (m->n_memo <= index)
        m->memo[m->n_memo++].kind = UNSET;
    m->memo[index] = m->stack[m->n_stack - 1];
    return true;
}

static bool op_put(machine *m)
{
    uint64_t index;

    return take_index(m, &index) && put(m, index);
}

static bool op_memoize(machine *m) { return put(m, m->n_memo); }

static bool op_get(machine *m)
{
    uint64_t index;

    if (!take_index(m, &index))
        return false;
    if (index >= m->n_memo || m->memo[index].kind == UNSET)
        return fail(m, "%s of memo entry %" PRIu64 ", which was never put there", m->op->name, index);
    return push_again(m, &m->memo[index]);
}

/* ---- refused opcodes ------------------------------------------------------------------------- */

static bool refuse(machine *m, const char *what)
{
    return fail(m,
                "%s%s would run code; only pickles of plain data are read, and nothing of this one was run",
                m->op->name, what);
}

static bool op_refuse(machine *m) { return refuse(m, ""); }

/* GLOBAL, INST: the module and the name stand in two lines. */
static bool op_refuse_global(machine *m)
{
    char what[2 * MAX_LINE + 16];
    int n;

    if (!take_line(m, MAX_LINE))
        return false;
    n = snprintf(what, sizeof what, " '%s", m->text.data);
    if (!take_line(m, MAX_LINE))
        return false;
    snprintf(what + n, sizeof what - (size_t)n, " %s'", m->text.data);
    return refuse(m, what);
}

static const char *text_below(const machine *m, size_t depth)
{
    const trace_plain *v = m->n_stack >= depth ? &m->stack[m->n_stack - depth] : NULL;

    return v && v->kind == TRACE_PLAIN_TEXT && v->id != DSE_NONE ? m->to->names->text[v->id] : "?";
}

static bool op_refuse_stack_global(machine *m)
{
    char what[2 * MAX_LINE + 16];

    snprintf(what, sizeof what, " '%.*s %.*s'", MAX_LINE, text_below(m, 2), MAX_LINE, text_below(m, 1));
    return refuse(m, what);
}

static bool op_refuse_buffer(machine *m)
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

/* ---- the file -------------------------------------------------------------------------------- */

static bool step(machine *m)
{
    if (!has_byte(m))
        return false;
    m->at = position(m);
    m->code = *m->p++;
    m->op = &opcodes[m->code];
    return m->op->run ? m->op->run(m) : fail(m, "0x%02x is no opcode of a pickle", m->code);
}

dse_status trace_pickle_read(trace_source *source, const char *path, const trace_plain_listener *to,
                             trace_plain *root, dse_error *err)
{
    machine m = {.path = path, .source = source, .to = to, .err = err};

    m.p = (const uint8_t *)source->window;
    m.end = m.p + source->n;
    dse_strbuf_init(&m.text);
    while (!m.done && step(&m))
        ;
    if (m.done)
        give(&m, &m.stack[0], root);
    dse_free(m.stack);
    dse_free(m.memo);
    dse_free(m.mark);
    dse_free(m.all);
    dse_strbuf_free(&m.text);
    return m.status;
}

/* Skips a line with a dotted name; NULL if there is none. */
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
    case '\x80': return (unsigned char)head[1] < ' '; /* also of future protocols: op_proto refuses them */
    case '}': return head[1] == 'q' || head[1] == '.';
    case '(':
        return head[1] == 'd' || head[1] == 'l' || (head[1] == 'S' && (head[2] == '\'' || head[2] == '"')) ||
               (head[1] == 'c' && (p = name_line(head + 2)) && name_line(p));
    case 'c': return (p = name_line(head + 1)) && (p = name_line(p)) && (*p == '(' || *p == 'p' || *p == 'q');
    default: return false;
    }
}
