#include "trace/json_guess.h"
#include "trace/json_scan.h"

#include "unit/unit.h"

#include <sys/mman.h>

typedef struct {
    trace_source source;
    trace_json json;
} scanner;

static void open_bytes(scanner *s, const char *text, size_t n, size_t cap)
{
    trace_source_open_bytes(&s->source, text, n, cap);
    trace_json_init(&s->json, &s->source);
}

static void close_scanner(scanner *s)
{
    trace_json_free(&s->json);
    trace_source_close(&s->source);
}

static const size_t caps[] = {16, 17, 19, 23, 32, 64, 1000, TRACE_WINDOW_BYTES};
#define N_CAPS (sizeof caps / sizeof caps[0])

/* What a walk through the whole of a text sees: "{name=Stext,[N12,Wtrue,],}". */
static void walk(trace_json *j, dse_strbuf *out, int depth)
{
    trace_json_kind kind = trace_json_value(j);

    if (depth > 30)
        fail();
    if (kind == TRACE_JSON_OBJECT) {
        dse_strbuf_addc(out, '{');
        while (trace_json_key(j)) {
            dse_strbuf_add(out, j->text, j->length);
            dse_strbuf_addc(out, '=');
            walk(j, out, depth + 1);
        }
        dse_strbuf_addc(out, '}');
    } else if (kind == TRACE_JSON_ARRAY) {
        dse_strbuf_addc(out, '[');
        while (trace_json_item(j))
            walk(j, out, depth + 1);
        dse_strbuf_addc(out, ']');
    } else if (kind != TRACE_JSON_NONE) {
        dse_strbuf_addc(out, kind == TRACE_JSON_STRING ? 'S' : kind == TRACE_JSON_NUMBER ? 'N' : 'W');
        dse_strbuf_add(out, j->text, j->length);
    }
    dse_strbuf_addc(out, ',');
}

/* Whatever the window, and by skipping too. */
static void expect(const char *text, const char *seen)
{
    for (size_t i = 0; i < N_CAPS; i++) {
        scanner s;
        dse_strbuf out;

        open_bytes(&s, text, strlen(text), caps[i]);
        dse_strbuf_init(&out);
        walk(&s.json, &out, 0);
        assert_int_equal(s.json.fault, TRACE_JSON_FINE);
        assert_string_equal(out.data, seen);
        assert_false(trace_json_follows(&s.json));
        dse_strbuf_free(&out);
        close_scanner(&s);
        open_bytes(&s, text, strlen(text), caps[i]);
        trace_json_skip(&s.json);
        assert_int_equal(s.json.fault, TRACE_JSON_FINE);
        assert_false(trace_json_follows(&s.json));
        close_scanner(&s);
    }
}

static void expect_fault(const char *text, trace_json_fault fault, uint64_t at, const char *why)
{
    for (size_t i = 0; i < N_CAPS; i++) {
        scanner s;
        dse_strbuf out;

        open_bytes(&s, text, strlen(text), caps[i]);
        dse_strbuf_init(&out);
        walk(&s.json, &out, 0);
        assert_int_equal(s.json.fault, fault);
        assert_string_equal(s.json.why, why);
        assert_u64(s.json.fault_at, at);
        assert_false(trace_json_key(&s.json)); /* it stays so */
        assert_false(trace_json_item(&s.json));
        assert_int_equal(trace_json_value(&s.json), TRACE_JSON_NONE);
        trace_json_skip(&s.json);
        dse_strbuf_free(&out);
        close_scanner(&s);
    }
}

CLAIM(values_are_pulled_one_by_one)
{
    expect("{}", "{},");
    expect("[]", "[],");
    expect(" [ ] ", "[],");
    expect("\xef\xbb\xbf{\"a\":1}", "{a=N1,},");
    expect("{\"a\":1,\"b\":[true,null,{}],\"c\":\"x\"}", "{a=N1,b=[Wtrue,Wnull,{},],c=Sx,},");
    expect("{ \"a\" : 1 ,\n\t \"b\"\n:\r\n[ 1 , 2 ] }", "{a=N1,b=[N1,N2,],},");
    expect("[-1.5e+10, 0, NaN, -Infinity]", "[N-1.5e+10,N0,WNaN,W-Infinity,],");
    expect("[1,]", "[N1,],"); /* as old writers of traces end their lists */
    expect("12", "N12,");
}

CLAIM(escapes_become_what_they_mean)
{
    expect("[\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"]", "[S\"\\/\b\f\n\r\t,],");
    expect("[\"\\u0041\\u00e9\\u20ac\"]", "[SA\xc3\xa9\xe2\x82\xac,],");
    expect("[\"\\ud83d\\ude00!\"]", "[S\xf0\x9f\x98\x80!,],"); /* U+1F600 */
    expect("{\"a\\u0062\":1}", "{ab=N1,},");
    expect("[\"\xc3\xa9\xf0\x9f\x98\x80\"]", "[S\xc3\xa9\xf0\x9f\x98\x80,],");
    expect("[\"a\nb\"]", "[Sa\nb,],"); /* raw, as some writers do */
}

CLAIM(what_is_not_valid_becomes_a_replacement_and_is_counted)
{
#define BAD "\xef\xbf\xbd"
    static const struct {
        const char *text, *seen;
    } cases[] = {
        {"[\"a\xff\"]", "[Sa" BAD ",],"},
        {"[\"\xc0\xaf\"]", "[S" BAD BAD ",],"},                 /* overlong */
        {"[\"\xed\xa0\x80\"]", "[S" BAD BAD BAD ",],"},         /* a surrogate */
        {"[\"\xf4\x90\x80\x80\"]", "[S" BAD BAD BAD BAD ",],"}, /* beyond U+10FFFF */
        {"[\"\xe2\x82\"]", "[S" BAD BAD ",],"},                 /* incomplete */
        {"[\"\\ud83d\"]", "[S" BAD ",],"},                      /* half of a pair */
        {"[\"\\ud83d\\u0041\"]", "[S" BAD "A,],"},
        {"[\"\\ude00\"]", "[S" BAD ",],"},
        {"[\"\\u0000\"]", "[S" BAD ",],"}, /* texts hold no NUL */
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        scanner s;

        expect(cases[i].text, cases[i].seen);
        open_bytes(&s, cases[i].text, strlen(cases[i].text), 64);
        trace_json_value(&s.json);
        assert_true(trace_json_item(&s.json));
        trace_json_value(&s.json);
        assert_u64(s.json.n_invalid, 1);
        assert_u64(s.json.invalid_at, 1);
        close_scanner(&s);
    }
}

CLAIM(a_nul_in_a_string_is_no_end)
{
    static const char text[] = "[\"a\0b\"]";

    for (size_t i = 0; i < N_CAPS; i++) {
        scanner s;

        open_bytes(&s, text, sizeof text - 1, caps[i]);
        assert_int_equal(trace_json_value(&s.json), TRACE_JSON_ARRAY);
        assert_true(trace_json_item(&s.json));
        assert_int_equal(trace_json_value(&s.json), TRACE_JSON_STRING);
        assert_true(trace_json_is(&s.json, "a" BAD "b"));
        assert_false(trace_json_item(&s.json));
        close_scanner(&s);
        open_bytes(&s, text, sizeof text - 1, caps[i]);
        trace_json_skip(&s.json);
        assert_int_equal(s.json.fault, TRACE_JSON_FINE);
        close_scanner(&s);
        open_bytes(&s, "[1\0]", 4, caps[i]);
        trace_json_value(&s.json);
        assert_true(trace_json_item(&s.json));
        trace_json_value(&s.json);
        assert_false(trace_json_item(&s.json));
        assert_int_equal(s.json.fault, TRACE_JSON_BROKEN);
        close_scanner(&s);
    }
}

CLAIM(a_fault_names_its_byte)
{
    expect_fault("", TRACE_JSON_ENDED, 0, "the text ends within a value");
    expect_fault("[1, 2", TRACE_JSON_ENDED, 5, "the text ends within a value");
    expect_fault("[1, ", TRACE_JSON_ENDED, 4, "the text ends within a value");
    expect_fault("{\"a\":", TRACE_JSON_ENDED, 5, "the text ends within a value");
    expect_fault("{\"a\"", TRACE_JSON_ENDED, 4, "the text ends within a value");
    expect_fault("[\"abc", TRACE_JSON_ENDED, 5, "the text ends within a string");
    expect_fault("[\"abc\\", TRACE_JSON_ENDED, 5, "the text ends within a string");
    expect_fault("[tru", TRACE_JSON_ENDED, 1, "expected a value");
    expect_fault("[\"\\u12", TRACE_JSON_ENDED, 2, "an escape is incomplete");
    expect_fault("[1 2]", TRACE_JSON_BROKEN, 3, "expected ',' or ']'");
    expect_fault("{\"a\":1 \"b\":2}", TRACE_JSON_BROKEN, 7, "expected ',' or '}'");
    expect_fault("{\"a\" 1}", TRACE_JSON_BROKEN, 5, "expected ':'");
    expect_fault("{1:2}", TRACE_JSON_BROKEN, 1, "expected a key");
    expect_fault("[,1]", TRACE_JSON_BROKEN, 1, "expected a value");
    expect_fault("[True]", TRACE_JSON_BROKEN, 1, "expected a value");
    expect_fault("[\"\\x\"]", TRACE_JSON_BROKEN, 2, "there is no such escape");
    expect_fault("[\"\\u12g4 \"]", TRACE_JSON_BROKEN, 2, "an escape is incomplete");
    expect_fault("[1}", TRACE_JSON_BROKEN, 2, "expected ',' or ']'");
}

static void skip_fault(const char *text, trace_json_fault fault, uint64_t at, const char *why)
{
    for (size_t i = 0; i < N_CAPS; i++) {
        scanner s;

        open_bytes(&s, text, strlen(text), caps[i]);
        trace_json_skip(&s.json);
        assert_int_equal(s.json.fault, fault);
        assert_string_equal(s.json.why, why);
        assert_u64(s.json.fault_at, at);
        close_scanner(&s);
    }
}

CLAIM(what_is_skipped_must_close_what_it_opens)
{
    char deep[200];

    skip_fault("{\"a\":[1,2}", TRACE_JSON_BROKEN, 9, "a bracket closes what it did not open");
    skip_fault("[[1,2]", TRACE_JSON_ENDED, 6, "the text ends within a value");
    skip_fault("[\"abc\\\"", TRACE_JSON_ENDED, 7, "the text ends within a string");
    memset(deep, '[', sizeof deep);
    deep[199] = '\0';
    skip_fault(deep, TRACE_JSON_BROKEN, 64, "values are nested more than 64 deep");
    memset(deep + 64, ']', 64);
    deep[128] = '\0';
    expect("[]", "[],");
    {
        scanner s;
        open_bytes(&s, deep, 128, 64);
        trace_json_skip(&s.json);
        assert_int_equal(s.json.fault, TRACE_JSON_FINE);
        close_scanner(&s);
    }
}

CLAIM(the_rest_of_a_container_can_be_left)
{
    scanner s;

    open_bytes(&s, "[{\"a\":[1,2],\"b\":{\"c\":\"}\"}},5]", 29, 16);
    trace_json_value(&s.json);
    assert_true(trace_json_item(&s.json));
    assert_int_equal(trace_json_value(&s.json), TRACE_JSON_OBJECT);
    assert_true(trace_json_key(&s.json));
    trace_json_skip(&s.json);
    trace_json_leave(&s.json, TRACE_JSON_OBJECT);
    assert_true(trace_json_item(&s.json));
    assert_int_equal(trace_json_value(&s.json), TRACE_JSON_NUMBER);
    assert_true(trace_json_is(&s.json, "5"));
    assert_false(trace_json_item(&s.json));
    assert_int_equal(s.json.fault, TRACE_JSON_FINE);
    close_scanner(&s);
}

/* ["aaaa..., of 2 GB and more, "]: one piece of memory, mapped as often as it takes. */
static char *two_gigabytes(size_t *n)
{
    const size_t piece = 1u << 20, pieces = 2049;
    FILE *f = tmpfile();
    char *all, *part;

    assert_non_null(f);
    assert_int_equal(ftruncate(fileno(f), (off_t)piece), 0);
    part = mmap(NULL, piece, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(f), 0);
    assert_true(part != MAP_FAILED);
    memset(part, 'a', piece);
    munmap(part, piece);
    all = mmap(NULL, pieces * piece, PROT_READ, MAP_PRIVATE, fileno(f), 0);
    assert_true(all != MAP_FAILED);
    for (size_t i = 0; i < pieces; i++)
        assert_true(mmap(all + i * piece, piece,
                         i == 0 || i + 1 == pieces ? PROT_READ | PROT_WRITE : PROT_READ,
                         MAP_PRIVATE | MAP_FIXED, fileno(f), 0) != MAP_FAILED);
    fclose(f);
    *n = pieces * piece;
    memcpy(all, "[\"", 2);
    memcpy(all + *n - 4, "\",7]", 4);
    return all;
}

CLAIM(a_string_of_two_gigabytes_takes_a_window)
{
    size_t n;
    char *text = two_gigabytes(&n);

    for (int skip = 0; skip < 2; skip++) {
        scanner s;

        open_bytes(&s, text, n, TRACE_WINDOW_BYTES);
        assert_int_equal(trace_json_value(&s.json), TRACE_JSON_ARRAY);
        assert_true(trace_json_item(&s.json));
        if (skip) {
            trace_json_skip(&s.json);
            assert_u64(s.json.n_cut, 0);
        } else {
            assert_int_equal(trace_json_value(&s.json), TRACE_JSON_STRING);
            assert_int_equal(s.json.length, TRACE_WINDOW_BYTES);
            assert_u64(s.json.n_cut, 1);
            assert_u64(s.json.cut_at, 1);
            assert_true(s.json.cap_decoded <= 2 * TRACE_WINDOW_BYTES);
        }
        assert_true(trace_json_item(&s.json));
        assert_int_equal(trace_json_value(&s.json), TRACE_JSON_NUMBER);
        assert_true(trace_json_is(&s.json, "7"));
        assert_u64(trace_json_offset(&s.json), n - 1);
        close_scanner(&s);
    }
    munmap(text, n);
}

CLAIM(a_text_is_cut_between_characters)
{
    static const char text[] =
        "\"0123456789abcd\xe2\x82\xac tail\""; /* 14 bytes, three, five: the window has 16 */
    scanner s;

    open_bytes(&s, text, sizeof text - 1, 16);
    assert_int_equal(trace_json_value(&s.json), TRACE_JSON_STRING);
    assert_true(trace_json_is(&s.json, "0123456789abcd"));
    assert_u64(s.json.n_cut, 1);
    assert_u64(s.json.n_invalid, 0);
    close_scanner(&s);
}

CLAIM(a_number_longer_than_the_window_is_refused)
{
    char text[40];
    scanner s;

    memset(text, '1', sizeof text);
    open_bytes(&s, text, sizeof text, 16);
    assert_int_equal(trace_json_value(&s.json), TRACE_JSON_NONE);
    assert_string_equal(s.json.why, "a number is too long");
    close_scanner(&s);
}

CLAIM(searches_by_sixteen_find_what_searches_by_one_find)
{
    static const char some[] = "\"\\[]{}az09.,-+eE \n\t\x01\x7f\x80\xff/";
    uint64_t seed = 7;

    for (int round = 0; round < 20000; round++) {
        char text[64 + TRACE_WINDOW_BEHIND] = {0};
        size_t n = unit_random(&seed) % 64, same = unit_random(&seed) % 3;

        for (size_t i = 0; i < n; i++)
            text[i] = same && i ? text[i - 1] : some[unit_random(&seed) % (sizeof some - 1)];
        assert_ptr_equal(trace_json_find_special(text), trace_json_find_plain(text, trace_json_stop_special));
        assert_ptr_equal(trace_json_find_quote(text), trace_json_find_plain(text, trace_json_stop_quote));
        assert_ptr_equal(trace_json_find_bracket(text), trace_json_find_plain(text, trace_json_stop_bracket));
        assert_ptr_equal(trace_json_find_number_end(text), trace_json_find_plain(text, trace_json_stop_number_end));
        assert_ptr_equal(trace_json_find_nonblank(text), trace_json_find_plain(text, trace_json_stop_nonblank));
    }
}

/* ---- numbers ------------------------------------------------------------------------------- */

static void decimal(const char *text, int64_t whole, int32_t millionths)
{
    trace_decimal d;

    assert_true(trace_decimal_of(text, strlen(text), &d));
    assert_int_equal(d.whole, whole);
    assert_int_equal(d.millionths, millionths);
}

CLAIM(decimals_are_exact_to_the_sixth_place)
{
    trace_decimal d;
    static const char *const none[] = {
        "", "-", ".", "1.2.3", "1e", "e5", "1-2", "0x1", "1 ", "nan", "9223372036854775808", "1e19", "1e400"};

    decimal("0", 0, 0);
    decimal("1706850122815539", 1706850122815539, 0);
    decimal("4458676436732.766", 4458676436732, 766000);
    decimal("1365627899758.38", 1365627899758, 380000);
    decimal("12.3456789", 12, 345678); /* cut, not rounded */
    decimal("1215328.9080000001", 1215328, 908000);
    decimal("4.3758999999999997", 4, 375899);
    decimal("0.000001", 0, 1);
    decimal("0.0000009", 0, 0);
    decimal("-1.5", -1, -500000);
    decimal("-0.25", 0, -250000);
    decimal("1.5e3", 1500, 0);
    decimal("1.706850122815539e15", 1706850122815539, 0);
    decimal("15E-1", 1, 500000);
    decimal("123456789e-6", 123, 456789);
    decimal("123456789e-12", 0, 123);
    decimal("1e-400", 0, 0);
    decimal("0e400", 0, 0);
    decimal("5.", 5, 0);
    decimal("9223372036854775807", INT64_MAX, 0);
    decimal("00000000000000000000000012", 12, 0);
    decimal("123456789012345678.5", 123456789012345678, 500000);
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
        assert_false(trace_decimal_of(none[i], strlen(none[i]), &d));
}

CLAIM(decimals_of_any_length_are_right)
{
    uint64_t seed = 3;

    for (int i = 0; i < 20000; i++) {
        int64_t whole = (int64_t)(unit_random(&seed) >> (unit_random(&seed) % 60 + 1));
        int32_t part = (int32_t)(unit_random(&seed) % 1000000);
        char text[64];

        snprintf(text, sizeof text, "%lld.%06d", (long long)whole, part);
        decimal(text, whole, part);
        snprintf(text, sizeof text, "%lld", (long long)whole);
        decimal(text, whole, 0);
    }
}

/* The quick way reads what the slow one does, or leaves it alone. */
CLAIM(the_quick_way_to_a_decimal_is_right)
{
    static const char *const left[] = {"-1,", "1e3,", "1.5e3,", "1.1234567,", "1234567890123456789,",
                                       "1.,", "x,",   "1",      "1.5"};
    uint64_t seed = 11;
    trace_decimal d;
    scanner s;

    for (int i = 0; i < 20000; i++) {
        int64_t whole = (int64_t)(unit_random(&seed) % 1000000000000000000u) >> (unit_random(&seed) % 60);
        int places = (int)(unit_random(&seed) % 7);
        int32_t part = (int32_t)(unit_random(&seed) % 1000000);
        char text[64];
        int n;

        for (int k = places; k < 6; k++)
            part /= 10;
        n = places ? snprintf(text, sizeof text, "%lld.%0*d", (long long)whole, places, part)
                   : snprintf(text, sizeof text, "%lld", (long long)whole);
        text[n] = ",} \n"[i % 4];
        text[n + 1] = '\0';
        for (int k = places; k < 6; k++)
            part *= 10;
        open_bytes(&s, text, (size_t)n + 1, 64);
        assert_true(trace_json_decimal(&s.json, &d));
        assert_int_equal(d.whole, whole);
        assert_int_equal(d.millionths, places ? part : 0);
        assert_u64(trace_json_offset(&s.json), (uint64_t)n);
        close_scanner(&s);
    }
    for (size_t i = 0; i < sizeof left / sizeof left[0]; i++) {
        open_bytes(&s, left[i], strlen(left[i]), 64);
        assert_false(trace_json_decimal(&s.json, &d));
        assert_u64(trace_json_offset(&s.json), 0);
        close_scanner(&s);
    }
}

CLAIM(whole_numbers_keep_to_their_range)
{
    assert_u64(trace_whole_of("0", 1, 10), 0);
    assert_u64(trace_whole_of("10", 2, 10), 10);
    assert_u64(trace_whole_of("11", 2, 10), UINT64_MAX);
    assert_u64(trace_whole_of("12.0", 4, 100), 12);
    assert_u64(trace_whole_of("1.2e1", 5, 100), 12);
    assert_u64(trace_whole_of("12.5", 4, 100), UINT64_MAX);
    assert_u64(trace_whole_of("-1", 2, 100), UINT64_MAX);
    assert_u64(trace_whole_of("", 0, 100), UINT64_MAX);
    assert_u64(trace_whole_of("x", 1, 100), UINT64_MAX);
    assert_u64(trace_whole_of("18446744073709551614", 20, UINT64_MAX - 1), UINT64_MAX - 1);
    assert_u64(trace_whole_of("18446744073709551616", 20, UINT64_MAX - 1), UINT64_MAX);
}

CLAIM(doubles_are_those_of_strtod)
{
    static const char *const texts[] = {"0",
                                        "-0.0",
                                        "2.370370",
                                        "36.148148",
                                        "1e22",
                                        "123456789012345",
                                        "0.1",
                                        "1e-5",
                                        "1.7976931348623157e308",
                                        "28084351000",
                                        "-7.25",
                                        "123456789.0123456789",
                                        "0.000000000000001"};

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        assert_double(trace_double_of(texts[i], strlen(texts[i])), strtod(texts[i], NULL));
    assert_double(trace_double_of("1e400", 5), NAN);
    assert_double(trace_double_of("Infinity", 8), NAN);
    assert_double(trace_double_of("1 ", 2), NAN);
    assert_double(trace_double_of("", 0), NAN);
}

/* ---- keys ---------------------------------------------------------------------------------- */

static const trace_json_key_row rows[] = {
    {"a", 0, 0}, {"ab", 0, 0}, {"a key that is long", 0, 0}, {"", 0, 0}};

CLAIM(keys_are_told_apart)
{
    char text[64] = "ab";
    trace_json_keys k;

    trace_json_keys_init(&k, rows, 4);
    assert_ptr_equal(trace_json_keys_find(&k, text, 1), &rows[0]);
    assert_ptr_equal(trace_json_keys_find(&k, text, 2), &rows[1]);
    assert_ptr_equal(trace_json_keys_find(&k, text, 0), &rows[3]);
    assert_null(trace_json_keys_find(&k, text, 3)); /* "ab\0" */
    strcpy(text, "a key that is long");
    assert_ptr_equal(trace_json_keys_find(&k, text, 18), &rows[2]);
    text[17] = 'x';
    assert_null(trace_json_keys_find(&k, text, 18));
}

/* "0=N1,2=Sx,?=N5,." per object. */
static void walk_guessing(const char *text, size_t cap, dse_strbuf *out, trace_json_fault *fault,
                          uint64_t *at)
{
    static trace_json_guess g;
    scanner s;
    uint8_t row;

    open_bytes(&s, text, strlen(text), cap);
    trace_json_guess_init(&g, rows, 4);
    trace_json_value(&s.json);
    while (trace_json_item(&s.json) && trace_json_value(&s.json) == TRACE_JSON_OBJECT) {
        trace_json_guess_begin(&g, 3);
        while ((row = trace_json_guess_key(&g, &s.json)) != TRACE_JSON_NO_KEY) {
            dse_strbuf_addc(out, row == TRACE_JSON_OTHER_KEY ? '?' : (char)('0' + row));
            trace_json_value(&s.json);
            dse_strbuf_add(out, s.json.text, s.json.length);
        }
        dse_strbuf_addc(out, '.');
    }
    *fault = s.json.fault;
    *at = s.json.fault_at;
    close_scanner(&s);
}

static void expect_guessed(const char *text, const char *seen, trace_json_fault fault, uint64_t at)
{
    for (size_t i = 0; i < N_CAPS; i++) {
        trace_json_fault met;
        dse_strbuf out;
        uint64_t met_at;

        dse_strbuf_init(&out);
        walk_guessing(text, caps[i], &out, &met, &met_at);
        assert_string_equal(out.data, seen);
        assert_int_equal(met, fault);
        if (fault)
            assert_u64(met_at, at);
        dse_strbuf_free(&out);
    }
}

CLAIM(a_guess_changes_nothing)
{
    /* Rows: 0 is "a", 1 is "ab". The second and third object go on as the first did, the fourth and fifth do not. */
    expect_guessed(
        "[{\"a\":7, \"ab\":8},{\"a\":7, \"ab\":8},{\"a\":6, \"ab\":5},{\"ab\":1, \"a\":2},{},{\"a\":7}]",
        "0718.0718.0615.1102..07.", TRACE_JSON_FINE, 0);
    expect_guessed("[{\"a\":7, \"x\":8},{\"a\":7, \"x\":9},{\"a\":7, \"y\":8}]", "07?8.07?9.07?8.",
                   TRACE_JSON_FINE, 0);
    /* Gaps too long to be remembered. */
    expect_guessed("[{\"a\":7,                                                        \"ab\":8},"
                   "{\"a\":7,                                                        \"ab\":8}]",
                   "0718.0718.", TRACE_JSON_FINE, 0);
}

CLAIM(a_guess_lets_nothing_pass)
{
    /* The comma is missing behind what was read with one; a comma stands where none was; the end is missing. */
    expect_guessed("[{\"a\":7,\"ab\":8},{\"a\":7\"ab\":8}]", "0718.07.", TRACE_JSON_BROKEN, 22);
    expect_guessed("[{\"a\":7,\"a\":8},{,\"a\":8}]", "0708..", TRACE_JSON_BROKEN, 16);
    expect_guessed("[{\"a\":7,\"ab\":8},{\"a\":7,\"ab\":8", "0718.0718.", TRACE_JSON_ENDED, 29);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_pulled_one_by_one),
        cmocka_unit_test(escapes_become_what_they_mean),
        cmocka_unit_test(what_is_not_valid_becomes_a_replacement_and_is_counted),
        cmocka_unit_test(a_nul_in_a_string_is_no_end),
        cmocka_unit_test(a_fault_names_its_byte),
        cmocka_unit_test(what_is_skipped_must_close_what_it_opens),
        cmocka_unit_test(the_rest_of_a_container_can_be_left),
        cmocka_unit_test(a_string_of_two_gigabytes_takes_a_window),
        cmocka_unit_test(a_text_is_cut_between_characters),
        cmocka_unit_test(a_number_longer_than_the_window_is_refused),
        cmocka_unit_test(searches_by_sixteen_find_what_searches_by_one_find),
        cmocka_unit_test(decimals_are_exact_to_the_sixth_place),
        cmocka_unit_test(decimals_of_any_length_are_right),
        cmocka_unit_test(the_quick_way_to_a_decimal_is_right),
        cmocka_unit_test(whole_numbers_keep_to_their_range),
        cmocka_unit_test(doubles_are_those_of_strtod),
        cmocka_unit_test(keys_are_told_apart),
        cmocka_unit_test(a_guess_changes_nothing),
        cmocka_unit_test(a_guess_lets_nothing_pass),
    };
    return RUN_TESTS(tests);
}
