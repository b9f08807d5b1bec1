/* The opcodes of a pickle. */
#include "trace/pickle_machine.h"

#include "base/units.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define MAX_MEMO (1u << 26) /* entries, 1 GiB: a few compressed bytes can ask for any number */
#define MAX_LINE 255        /* bytes of a line that is a number or the name of a class */
#define UNSET    UINT32_MAX /* kind of a memo entry that was never set */

/* ---- opcodes --------------------------------------------------------------------------------- */

static dse_status op_proto(pickle_machine *m)
{
    uint64_t v;
    dse_status st = pickle_take_number(m, 1, &v);

    if (st == DSE_OK && v > 5)
        return pickle_fail(m, "protocol %" PRIu64 " of pickle is not known; known: 0 to 5", v);
    return st;
}

static dse_status op_frame(pickle_machine *m)
{
    uint64_t n;
    dse_status st = pickle_take_number(m, 8, &n);

    if (st == DSE_OK && n > UINT64_MAX / 2)
        return pickle_fail(m, "a frame of %" PRIu64 " bytes is longer than any file", n);
    m->frame_end = pickle_position(m) + n;
    return st;
}

static dse_status op_stop(pickle_machine *m)
{
    if (m->n_marks || m->n_stack != 1)
        return pickle_fail(m, "STOP finds %zu values on the stack instead of one", m->n_stack);
    if (pickle_position(m) < m->frame_end)
        return pickle_fail(m, "STOP stands within a frame that goes on to byte %" PRIu64, m->frame_end);
    m->done = true;
    return DSE_OK;
}

static dse_status op_mark(pickle_machine *m)
{
    if (m->n_marks == PICKLE_MAX_STACK)
        return pickle_fail(m, "more than %u marks on the stack", PICKLE_MAX_STACK);
    DSE_GROW(m->mark, m->cap_marks, m->n_marks + 1);
    m->mark[m->n_marks++] = m->n_stack;
    return DSE_OK;
}

static dse_status op_pop(pickle_machine *m)
{
    if (m->n_marks && m->n_stack == pickle_floor_of(m)) {
        m->n_marks--;
        return DSE_OK;
    }
    if (!m->n_stack)
        return pickle_need(m, 1);
    m->n_stack--;
    return DSE_OK;
}

static dse_status op_pop_mark(pickle_machine *m) { return pickle_pop_mark(m, &m->n_stack); }

/* A container that is used a second time is taken as complete: only one that contains itself would be filled
 * afterwards, and that is refused. */
static dse_status push_again(pickle_machine *m, const trace_plain *v)
{
    trace_plain seen, copy = *v;
    dse_status st = pickle_give(m, v, &seen);

    return st == DSE_OK ? pickle_push(m, copy) : st;
}

static dse_status op_dup(pickle_machine *m)
{
    dse_status st = pickle_need(m, 1);

    return st == DSE_OK ? push_again(m, &m->stack[m->n_stack - 1]) : st;
}

static dse_status op_none(pickle_machine *m) { return pickle_push_integer(m, TRACE_PLAIN_NONE, 0); }

static dse_status op_bool(pickle_machine *m)
{
    return pickle_push_integer(m, TRACE_PLAIN_BOOL, m->code == 0x88);
}

static dse_status op_unsigned(pickle_machine *m)
{
    uint64_t v;
    dse_status st = pickle_take_number(m, m->op->size, &v);

    return st == DSE_OK ? pickle_push_integer(m, TRACE_PLAIN_INT, (int64_t)v) : st;
}

static dse_status op_signed(pickle_machine *m)
{
    uint64_t v;
    dse_status st = pickle_take_number(m, 4, &v);

    return st == DSE_OK ? pickle_push_integer(m, TRACE_PLAIN_INT, (int32_t)(uint32_t)v) : st;
}

/* Two's complement, lowest byte first, of any length. */
static dse_status op_long(pickle_machine *m)
{
    uint64_t n, v = 0;
    dse_status st = pickle_take_number(m, m->op->size, &n);

    if (st != DSE_OK)
        return st;
    if (n > 8) {
        st = pickle_take_bytes(m, n, 0);
        return st == DSE_OK ? pickle_push_integer(m, TRACE_PLAIN_HUGE, 0) : st;
    }
    st = pickle_take_number(m, (unsigned)n, &v);
    if (n && n < 8 && v >> (8 * n - 1))
        v |= UINT64_MAX << (8 * n);
    return st == DSE_OK ? pickle_push_integer(m, TRACE_PLAIN_INT, (int64_t)v) : st;
}

static dse_status push_float(pickle_machine *m, double v)
{
    return pickle_push(m, (trace_plain){.kind = TRACE_PLAIN_FLOAT, .id = DSE_NONE, .v.number = v});
}

static dse_status op_float(pickle_machine *m)
{
    uint64_t bits = 0, byte;
    double v;

    for (int i = 0; i < 8; i++) {
        dse_status st = pickle_take_number(m, 1, &byte);

        if (st != DSE_OK)
            return st;
        bits = bits << 8 | byte;
    }
    memcpy(&v, &bits, sizeof v);
    return push_float(m, v);
}

static dse_status op_float_line(pickle_machine *m)
{
    dse_status st = pickle_take_line(m, MAX_LINE);
    double v;

    if (st == DSE_OK && dse_parse_double(m->text.data, &v, NULL) != DSE_OK)
        return pickle_fail(m, "FLOAT '%.40s' is no number", m->text.data);
    return st == DSE_OK ? push_float(m, v) : st;
}

/* "12", "12L"; protocol 0 writes False and True as 00 and 01. */
static dse_status op_integer_line(pickle_machine *m)
{
    dse_status st = pickle_take_line(m, MAX_LINE);
    size_t n = m->text.len, digits;
    const char *text;
    int64_t v;

    if (st != DSE_OK)
        return st;
    if (n && m->text.data[n - 1] == 'L')
        m->text.data[--n] = '\0';
    text = m->text.data;
    if (m->code == 'I' && n == 2 && text[0] == '0' && (text[1] == '0' || text[1] == '1'))
        return pickle_push_integer(m, TRACE_PLAIN_BOOL, text[1] == '1');
    if (dse_parse_int(text, &v, NULL) == DSE_OK)
        return pickle_push_integer(m, TRACE_PLAIN_INT, v);
    digits = strspn(text + (*text == '-'), "0123456789");
    if (!digits || digits + (*text == '-') != n)
        return pickle_fail(m, "%s '%.40s' is no number", m->op->name, text);
    return pickle_push_integer(m, TRACE_PLAIN_HUGE, 0);
}

static dse_status op_text(pickle_machine *m)
{
    uint64_t n;
    dse_status st = pickle_take_number(m, m->op->size, &n);
    const char *here = (const char *)m->p;

    if (st != DSE_OK)
        return st;
    if (n <= (uint64_t)(m->end - m->p)) {
        m->p += n;
        return pickle_push_text(m, here, (size_t)n);
    }
    st = pickle_take_bytes(m, n, n <= TRACE_PLAIN_MAX_TEXT ? n : 0);
    return st == DSE_OK ? pickle_push_text(m, m->text.data, (size_t)n) : st;
}

static dse_status op_bytes(pickle_machine *m)
{
    uint64_t n;
    dse_status st = pickle_take_number(m, m->op->size, &n);

    if (st == DSE_OK)
        st = pickle_take_bytes(m, n, 0);
    return st == DSE_OK ? pickle_push_integer(m, TRACE_PLAIN_BYTES, 0) : st;
}

static dse_status op_text_line(pickle_machine *m)
{
    dse_status st = pickle_take_line(m, TRACE_PLAIN_MAX_TEXT);
    const char *text = m->text.data;
    size_t n = m->text.len;

    if (st != DSE_OK)
        return st;
    if (m->code == 'S') {
        if (n < 2 || (*text != '\'' && *text != '"') || text[n - 1] != *text)
            return pickle_fail(m, "STRING without quotes");
        text++;
        n -= 2;
    }
    return pickle_push_text(m, text, n);
}

static dse_status op_empty(pickle_machine *m)
{
    return pickle_push_container(m, m->code == '}'   ? TRACE_PLAIN_DICT
                                    : m->code == ')' ? TRACE_PLAIN_TUPLE
                                                     : TRACE_PLAIN_LIST);
}

/* Makes a container of the values from stack[from] on. */
static dse_status collect(pickle_machine *m, trace_plain_kind kind, size_t from)
{
    dse_status st = pickle_push_container(m, kind);
    trace_plain made;

    if (st != DSE_OK)
        return st;
    made = m->stack[--m->n_stack];
    st = pickle_fill(m, made.id, from);
    return st == DSE_OK ? pickle_push(m, made) : st;
}

static dse_status op_collect(pickle_machine *m)
{
    trace_plain_kind kind = m->code == 'd'   ? TRACE_PLAIN_DICT
                            : m->code == 't' ? TRACE_PLAIN_TUPLE
                                             : TRACE_PLAIN_LIST;
    size_t from = 0;
    dse_status st = pickle_pop_mark(m, &from);

    return st == DSE_OK ? collect(m, kind, from) : st;
}

static dse_status op_tuple(pickle_machine *m)
{
    size_t n = (size_t)(m->code - 0x84);
    dse_status st = pickle_need(m, n);

    return st == DSE_OK ? collect(m, TRACE_PLAIN_TUPLE, m->n_stack - n) : st;
}

/* `size` of APPEND and SETITEM is the number of values; 0: all above the mark. */
static dse_status op_add(pickle_machine *m)
{
    trace_plain_kind kind = m->code == 's' || m->code == 'u' ? TRACE_PLAIN_DICT : TRACE_PLAIN_LIST;
    size_t from = 0;
    uint32_t into = DSE_NONE;
    dse_status st = m->op->size ? pickle_need(m, m->op->size) : pickle_pop_mark(m, &from);

    if (m->op->size)
        from = m->n_stack - m->op->size;
    if (st == DSE_OK)
        st = pickle_under(m, from, kind, &into);
    return st == DSE_OK ? pickle_fill(m, into, from) : st;
}

/* ---- the memo -------------------------------------------------------------------------------- */

/* The number of an entry, as bytes or (size 0) as a line. */
static dse_status take_index(pickle_machine *m, uint64_t *out)
{
    dse_status st;

    if (m->op->size)
        return pickle_take_number(m, m->op->size, out);
    st = pickle_take_line(m, MAX_LINE);
    if (st == DSE_OK && dse_parse_u64(m->text.data, out, NULL) != DSE_OK)
        return pickle_fail(m, "%s '%.40s' is no number", m->op->name, m->text.data);
    return st;
}

/* Every entry takes at least a byte, so an index beyond the bytes so far is corrupt. */
static dse_status put(pickle_machine *m, uint64_t index)
{
    dse_status st = pickle_need(m, 1);

    if (st != DSE_OK)
        return st;
    if (index > m->at)
        return pickle_fail(m, "%s to memo entry %" PRIu64 " of a memo of %zu", m->op->name, index, m->n_memo);
    if (index >= MAX_MEMO)
        return pickle_fail(m, "more than %u entries of the memo", MAX_MEMO);
    DSE_GROW(m->memo, m->cap_memo, (size_t)index + 1);
    while (m->n_memo <= index)
        m->memo[m->n_memo++].kind = UNSET;
    m->memo[index] = m->stack[m->n_stack - 1];
    return DSE_OK;
}

static dse_status op_put(pickle_machine *m)
{
    uint64_t index;
    dse_status st = take_index(m, &index);

    return st == DSE_OK ? put(m, index) : st;
}

static dse_status op_memoize(pickle_machine *m) { return put(m, m->n_memo); }

static dse_status op_get(pickle_machine *m)
{
    uint64_t index;
    dse_status st = take_index(m, &index);

    if (st != DSE_OK)
        return st;
    if (index >= m->n_memo || m->memo[index].kind == UNSET)
        return pickle_fail(m, "%s of memo entry %" PRIu64 ", which was never put there", m->op->name, index);
    return push_again(m, &m->memo[index]);
}

/* ---- refused opcodes ------------------------------------------------------------------------- */

static dse_status refuse(pickle_machine *m, const char *what)
{
    return pickle_fail(
        m, "%s%s would run code; only pickles of plain data are read, and nothing of this one was run",
        m->op->name, what);
}

static dse_status op_refuse(pickle_machine *m) { return refuse(m, ""); }

/* GLOBAL, INST: the module and the name stand in two lines. */
static dse_status op_refuse_global(pickle_machine *m)
{
    char what[2 * MAX_LINE + 16];
    dse_status st = pickle_take_line(m, MAX_LINE);
    int n = snprintf(what, sizeof what, " '%s", m->text.data);

    if (st == DSE_OK)
        st = pickle_take_line(m, MAX_LINE);
    if (st == DSE_OK)
        snprintf(what + n, sizeof what - (size_t)n, " %s'", m->text.data);
    return st == DSE_OK ? refuse(m, what) : st;
}

static const char *text_below(const pickle_machine *m, size_t depth)
{
    const trace_plain *v = m->n_stack >= depth ? &m->stack[m->n_stack - depth] : NULL;

    return v && v->kind == TRACE_PLAIN_TEXT && v->id != DSE_NONE ? m->to->names->text[v->id] : "?";
}

static dse_status op_refuse_stack_global(pickle_machine *m)
{
    char what[2 * MAX_LINE + 16];

    snprintf(what, sizeof what, " '%.*s %.*s'", MAX_LINE, text_below(m, 2), MAX_LINE, text_below(m, 1));
    return refuse(m, what);
}

static dse_status op_refuse_buffer(pickle_machine *m)
{
    return pickle_fail(m, "%s takes bytes from outside of the file", m->op->name);
}

static const pickle_opcode opcodes[256] = {
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

/* ---- the whole ------------------------------------------------------------------------------- */

static dse_status run(pickle_machine *m, trace_plain *root)
{
    dse_status st = DSE_OK;

    m->p = (const uint8_t *)m->source->window;
    m->end = m->p + m->source->n;
    dse_strbuf_init(&m->text);
    while (st == DSE_OK && !m->done) {
        if ((st = pickle_more(m)) != DSE_OK)
            break;
        m->at = pickle_position(m);
        m->code = *m->p++;
        m->op = &opcodes[m->code];
        st = m->op->run ? m->op->run(m) : pickle_fail(m, "0x%02x is no opcode of a pickle", m->code);
    }
    if (st == DSE_OK)
        st = pickle_give(m, &m->stack[0], root);
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
    pickle_machine m = {.path = path, .source = source, .to = to, .err = err};

    return run(&m, root);
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
    case '\x80': return head[1] >= 0 && head[1] < ' '; /* also of future protocols: op_proto refuses them */
    case '}': return head[1] == 'q' || head[1] == '.';
    case '(':
        return head[1] == 'd' || head[1] == 'l' || (head[1] == 'S' && (head[2] == '\'' || head[2] == '"')) ||
               (head[1] == 'c' && (p = name_line(head + 2)) && name_line(p));
    case 'c': return (p = name_line(head + 1)) && (p = name_line(p)) && (*p == '(' || *p == 'p' || *p == 'q');
    default: return false;
    }
}
