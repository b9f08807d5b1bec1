#include "trace/pickle.h"

#include "unit/unit.h"

/* A listener that writes containers down as text: what each one is, when it is complete. */
typedef struct {
    trace_names names;
    dse_strbuf text[64];
    uint32_t n;
} writer;

static void add_value(writer *w, dse_strbuf *to, const trace_plain *v)
{
    switch ((trace_plain_kind)v->kind) {
    case TRACE_PLAIN_NONE: dse_strbuf_adds(to, "None"); break;
    case TRACE_PLAIN_BOOL: dse_strbuf_adds(to, v->v.integer ? "True" : "False"); break;
    case TRACE_PLAIN_INT: dse_strbuf_addf(to, "%lld", (long long)v->v.integer); break;
    case TRACE_PLAIN_HUGE: dse_strbuf_adds(to, "huge"); break;
    case TRACE_PLAIN_FLOAT: dse_strbuf_addf(to, "%g", v->v.number); break;
    case TRACE_PLAIN_BYTES: dse_strbuf_adds(to, "bytes"); break;
    case TRACE_PLAIN_TEXT:
        dse_strbuf_addf(to, "'%s'", v->id == DSE_NONE ? "..." : w->names.text[v->id]);
        break;
    default: dse_strbuf_adds(to, v->id == DSE_NONE ? "empty" : w->text[v->id].data);
    }
}

static void on_item(void *to, trace_plain_kind kind, uint32_t *mine, const trace_plain *key,
                    const trace_plain *value)
{
    writer *w = to;
    dse_strbuf *s;

    if (*mine == DSE_NONE) {
        *mine = w->n++;
        assert_true(w->n <= 64);
        dse_strbuf_init(&w->text[*mine]);
        dse_strbuf_addc(&w->text[*mine], "([{"[kind - TRACE_PLAIN_TUPLE]);
    } else {
        dse_strbuf_adds(&w->text[*mine], ", ");
    }
    s = &w->text[*mine];
    if (key) {
        add_value(w, s, key);
        dse_strbuf_adds(s, ": ");
    }
    add_value(w, s, value);
}

static dse_status on_close(void *to, trace_plain_kind kind, uint32_t *mine, dse_error *err)
{
    writer *w = to;

    (void)err;
    if (*mine != DSE_NONE)
        dse_strbuf_addc(&w->text[*mine], ")]}"[kind - TRACE_PLAIN_TUPLE]);
    return DSE_OK;
}

/* With a window of `window` bytes, so that values cross its end. */
static dse_status read_in(const void *bytes, size_t n, size_t window, dse_strbuf *out, dse_error *err)
{
    writer w = {0};
    trace_plain_listener to = {&w, &w.names, on_item, on_close};
    trace_source source;
    trace_plain root;
    dse_status st;

    trace_source_open_bytes(&source, bytes, n, window);
    st = trace_pickle_read(&source, "p.pickle", &to, &root, err);
    if (st == DSE_OK)
        add_value(&w, out, &root);
    trace_source_close(&source);
    for (uint32_t i = 0; i < w.n; i++)
        dse_strbuf_free(&w.text[i]);
    trace_names_free(&w.names);
    return st;
}

#define BYTES(text) (text), sizeof(text) - 1

static void reads_as(const char *bytes, size_t n, const char *expected)
{
    for (size_t window = 16; window <= 4096; window *= 16) {
        dse_error err = DSE_ERROR_INIT;
        dse_strbuf text;

        dse_strbuf_init(&text);
        assert_ok(read_in(bytes, n, window, &text, &err), &err);
        assert_string_equal(text.data, expected);
        dse_strbuf_free(&text);
    }
}

static void refused(const char *bytes, size_t n, const char *where, const char *message)
{
    dse_error err = DSE_ERROR_INIT;
    dse_strbuf text;

    dse_strbuf_init(&text);
    assert_failure(read_in(bytes, n, 64, &text, &err), &err, DSE_E_SYNTAX, where, message);
    dse_strbuf_free(&text);
}

#define CODE " would run code; only pickles of plain data are read, and nothing of this one was run"
#define CUT  " and without STOP; it was cut off, and nothing of it can be trusted"

/* ---- what is read ---------------------------------------------------------------------------- */

/* Numbers by hand: BININT ff ff ff ff is -1; BININT2 00 01 is 256; LONG1 of 1 byte ff is -1, of 2 bytes ff 00 is 255, of 0
 * bytes 0; BINFLOAT 3f f8 0.. is 1.5. */
CLAIM(numbers_of_every_width_are_read)
{
    reads_as(BYTES("\x80\x02]("
                   "K\x07"
                   "M\x00\x01"
                   "J\xff\xff\xff\xff"
                   "\x8a\x01\xff"
                   "\x8a\x02\xff\x00"
                   "\x8a\x00"
                   "\x8a\x09\x01\x01\x01\x01\x01\x01\x01\x01\x01"
                   "G\x3f\xf8\x00\x00\x00\x00\x00\x00"
                   "\x88\x89Ne."),
             "[7, 256, -1, -1, 255, 0, huge, 1.5, True, False, None]");
}

CLAIM(texts_and_bytes_cross_the_end_of_a_window)
{
    reads_as(BYTES("\x80\x04]("
                   "\x8c\x1a"
                   "abcdefghijklmnopqrstuvwxyz"
                   "X\x03\x00\x00\x00xyz"
                   "\x8d\x01\x00\x00\x00\x00\x00\x00\x00q"
                   "C\x14"
                   "01234567890123456789"
                   "e."),
             "['abcdefghijklmnopqrstuvwxyz', 'xyz', 'q', bytes]");
}

/* As in JSON. In one text, and in one that crosses the end of a window; U+FFFD is ef bf bd. */
CLAIM(a_nul_in_a_text_is_read_as_a_replacement_character)
{
    reads_as(BYTES("\x80\x04\x8c\x03"
                   "a\x00"
                   "b."),
             "'a\xef\xbf\xbd"
             "b'");
    reads_as(BYTES("\x80\x04\x8c\x14"
                   "0123456789012345678\x00."),
             "'0123456789012345678\xef\xbf\xbd'");
}

/* {"a": [1, 2], "b": (3, [1, 2])}, the list by the memo. */
CLAIM(a_shared_list_is_the_same_in_both_places)
{
    reads_as(BYTES("\x80\x04}\x94(\x8c\x01"
                   "a]\x94(K\x01K\x02"
                   "e\x8c\x01"
                   "bK\x03h\x01\x86u."),
             "{'a': [1, 2], 'b': (3, [1, 2])}");
}

/* An item that is complete but waits on the stack for its APPENDS. */
CLAIM(a_container_that_waits_may_be_taken_again)
{
    reads_as(BYTES("\x80\x02](}q\x01U\x01kK\x01sh\x01"
                   "e."),
             "[{'k': 1}, {'k': 1}]");
}

CLAIM(protocol_0_is_read)
{
    reads_as(BYTES("(dp0\nVkey\np1\n(lp2\nI12\naL5L\naF2.5\naI01\nag1\nas."),
             "{'key': [12, 5, 2.5, True, 'key']}");
}

CLAIM(pop_and_dup_and_marks_are_what_they_are)
{
    reads_as(BYTES("\x80\x02](K\x01K\x02"
                   "0"
                   "K\x03"
                   "2(K\x09"
                   "1e."),
             "[1, 3, 3]");
}

/* ---- what is refused -------------------------------------------------------------------------- */

CLAIM(a_call_of_the_system_is_refused_by_its_name)
{
    refused(BYTES("cos\nsystem\n(S'echo hi'\ntR."), "p.pickle: byte 0", "GLOBAL 'os system'" CODE);
    refused(BYTES("\x80\x04\x8c\x05posix\x8c\x06system\x93."), "p.pickle: byte 17",
            "STACK_GLOBAL 'posix system'" CODE);
    refused(BYTES("(ios\nsystem\n."), "p.pickle: byte 1", "INST 'os system'" CODE);
}

CLAIM(whatever_builds_objects_is_refused)
{
    static const struct {
        char code;
        const char *name;
    } all[] = {{'R', "REDUCE"},       {'b', "BUILD"},    {'o', "OBJ"},     {'\x81', "NEWOBJ"},
               {'\x92', "NEWOBJ_EX"}, {'\x82', "EXT1"},  {'\x83', "EXT2"}, {'\x84', "EXT4"},
               {'P', "PERSID"},       {'Q', "BINPERSID"}};

    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        char bytes[] = {'N', all[i].code, '.', '\0'}, message[128];

        snprintf(message, sizeof message, "%s" CODE, all[i].name);
        refused(bytes, 3, "p.pickle: byte 1", message);
    }
}

CLAIM(a_list_that_contains_itself_is_refused)
{
    refused(BYTES("\x80\x02]q\x00h\x00"
                  "a."),
            "p.pickle: byte 7",
            "APPEND fills a container that stands in another place already: it would contain itself");
}

CLAIM(a_pickle_that_was_cut_off_says_where)
{
    refused(BYTES(""), "p.pickle: byte 0", "the pickle ends here, after nothing" CUT);
    refused(BYTES("\x80\x04]"), "p.pickle: byte 3", "the pickle ends here, after EMPTY_LIST" CUT);
    refused(BYTES("\x80\x04\x8c\x05"
                  "ab"),
            "p.pickle: byte 6", "the pickle ends here, after SHORT_BINUNICODE" CUT);
}

/* 2^62 bytes of text, 2^31 - 1 of a number, are not waited for and take no memory. */
CLAIM(absurd_lengths_take_no_memory)
{
    refused(BYTES("\x80\x04\x8d\x00\x00\x00\x00\x00\x00\x00\x40"
                  "x"),
            "p.pickle: byte 12", "the pickle ends here, after BINUNICODE8" CUT);
    refused(BYTES("\x80\x02\x8b\xff\xff\xff\x7f"
                  "x"),
            "p.pickle: byte 8", "the pickle ends here, after LONG4" CUT);
    refused(BYTES("\x80\x02}r\xff\xff\xff\x7f."), "p.pickle: byte 3",
            "LONG_BINPUT to memo entry 2147483647 of a memo of 0");
    refused(BYTES("\x80\x04\x95\x05\x00\x00\x00\x00\x00\x00\x80}."), "p.pickle: byte 2",
            "a frame of 9223372036854775813 bytes is longer than any file");
    refused(BYTES("\x80\x04\x95\x09\x00\x00\x00\x00\x00\x00\x00N."), "p.pickle: byte 12",
            "STOP stands within a frame that goes on to byte 20");
}

CLAIM(a_stack_that_does_not_hold_what_is_asked_is_refused)
{
    refused(BYTES("a."), "p.pickle: byte 0", "APPEND finds fewer than 1 values on the stack");
    refused(BYTES("Na."), "p.pickle: byte 1", "APPEND finds no list to add to");
    refused(BYTES("]u."), "p.pickle: byte 1", "SETITEMS finds no mark on the stack");
    refused(BYTES("}(Nu."), "p.pickle: byte 3", "SETITEMS finds a key without a value");
    refused(BYTES("](N\x86."), "p.pickle: byte 3", "TUPLE2 finds fewer than 2 values on the stack");
    refused(BYTES("NN."), "p.pickle: byte 2", "STOP finds 2 values on the stack instead of one");
    refused(BYTES("h\x05."), "p.pickle: byte 0", "BINGET of memo entry 5, which was never put there");
    refused(BYTES("\xff"), "p.pickle: byte 0", "0xff is no opcode of a pickle");
    refused(BYTES("\x80\x06N."), "p.pickle: byte 0", "protocol 6 of pickle is not known; known: 0 to 5");
    refused(BYTES("\x97."), "p.pickle: byte 0", "NEXT_BUFFER takes bytes from outside of the file");
}

/* ---- recognition, memory --------------------------------------------------------------------- */

CLAIM(a_pickle_is_known_by_its_first_bytes)
{
    assert_true(trace_is_pickle(BYTES("\x80\x04\x95")));
    assert_true(trace_is_pickle(BYTES("(dp0\n")));
    assert_true(trace_is_pickle(BYTES("}q\x00")));
    assert_true(trace_is_pickle(BYTES("cos\nsystem\n(")));
    assert_true(trace_is_pickle(BYTES("\x80\x09"))); /* of a protocol to come: reading it says so */
    assert_true(trace_is_pickle(BYTES("(S'touch x'\nios\nsystem\n.")));
    assert_true(trace_is_pickle(BYTES("(cos\nsystem\nS'touch x'\no.")));
    assert_false(trace_is_pickle(BYTES("(Summary), count\n")));
    assert_false(trace_is_pickle(BYTES("(count,\nname\n")));
    assert_false(trace_is_pickle(BYTES("\x80\x80")));
    assert_false(trace_is_pickle(BYTES("{\"traceEvents\": []}")));
    assert_false(trace_is_pickle(BYTES("count,name\n1,x\n")));
    assert_false(trace_is_pickle(BYTES("\x80")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_of_every_width_are_read),
        cmocka_unit_test(texts_and_bytes_cross_the_end_of_a_window),
        cmocka_unit_test(a_nul_in_a_text_is_read_as_a_replacement_character),
        cmocka_unit_test(a_shared_list_is_the_same_in_both_places),
        cmocka_unit_test(a_container_that_waits_may_be_taken_again),
        cmocka_unit_test(protocol_0_is_read),
        cmocka_unit_test(pop_and_dup_and_marks_are_what_they_are),
        cmocka_unit_test(a_call_of_the_system_is_refused_by_its_name),
        cmocka_unit_test(whatever_builds_objects_is_refused),
        cmocka_unit_test(a_list_that_contains_itself_is_refused),
        cmocka_unit_test(a_pickle_that_was_cut_off_says_where),
        cmocka_unit_test(absurd_lengths_take_no_memory),
        cmocka_unit_test(a_stack_that_does_not_hold_what_is_asked_is_refused),
        cmocka_unit_test(a_pickle_is_known_by_its_first_bytes),
    };

    return RUN_TESTS(tests);
}
