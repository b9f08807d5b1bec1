#include "trace/source.h"

#include "unit/unit.h"

#include <zlib.h>

/* All that a source gives, in pieces of at most `cap` bytes; to be freed with dse_strbuf_free. */
static void read_all(trace_source *s, dse_strbuf *out)
{
    dse_strbuf_init(out);
    do {
        assert_u64(s->offset, out->len);
        dse_strbuf_add(out, s->window, s->n);
        for (size_t i = 0; i < TRACE_WINDOW_BEHIND; i++)
            assert_int_equal(s->window[s->n + i], 0);
    } while (trace_source_more(s, s->n) > 0);
    assert_true(s->ended);
}

/* A gzip member of a text. */
static size_t compress_text(const char *text, size_t n, unsigned char *to, size_t room)
{
    z_stream z = {0};

    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    z.next_in = (unsigned char *)(uintptr_t)text;
    z.avail_in = (unsigned)n;
    z.next_out = to;
    z.avail_out = (unsigned)room;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    deflateEnd(&z);
    return z.total_out;
}

/* What is read of these bytes through windows of several sizes: always the same text, and the same complaint. */
static void expect(const void *bytes, size_t n, const char *text, size_t length, const char *broken)
{
    static const size_t caps[] = {16, 17, 100, 65536, 300000};

    for (size_t i = 0; i < sizeof caps / sizeof caps[0]; i++) {
        trace_source s;
        dse_strbuf seen;

        trace_source_open_bytes(&s, bytes, n, caps[i]);
        read_all(&s, &seen);
        assert_int_equal(seen.len, length);
        assert_memory_equal(seen.data, text, length);
        assert_string_equal(s.broken, broken);
        dse_strbuf_free(&seen);
        trace_source_close(&s);
    }
}

/* 100,000 bytes that do not compress to nothing. */
static char *long_text(size_t *n)
{
    uint64_t state = 1;
    char *text = malloc(*n = 100000);

    assert_non_null(text);
    for (size_t i = 0; i < *n; i++)
        text[i] = (char)('a' + unit_random(&state) % 20);
    return text;
}

CLAIM(plain_bytes_come_as_they_are)
{
    size_t n;
    char *text = long_text(&n);

    expect(text, n, text, n, "");
    expect("x", 1, "x", 1, "");
    expect("", 0, "", 0, "");
    expect("\x1f", 1, "\x1f", 1, ""); /* too short to be gzip */
    free(text);
}

CLAIM(gzip_is_told_by_its_first_bytes)
{
    unsigned char bytes[150000];
    size_t n, m;
    char *text = long_text(&n);

    m = compress_text(text, n, bytes, sizeof bytes);
    expect(bytes, m, text, n, "");
    m = compress_text("", 0, bytes, sizeof bytes);
    expect(bytes, m, "", 0, "");
    free(text);
}

CLAIM(members_are_one_text)
{
    unsigned char bytes[1000];
    size_t n = compress_text("one, ", 5, bytes, sizeof bytes);

    n += compress_text("", 0, bytes + n, sizeof bytes - n);
    n += compress_text("two", 3, bytes + n, sizeof bytes - n);
    expect(bytes, n, "one, two", 8, "");
    memset(bytes + n, 0, 100); /* as from a tape */
    expect(bytes, n + 100, "one, two", 8, "");
}

CLAIM(what_came_before_a_fault_is_used)
{
    unsigned char bytes[1000];
    size_t n = compress_text("one, ", 5, bytes, sizeof bytes), all;
    char broken[160];

    all = n + compress_text("two", 3, bytes + n, sizeof bytes - n);
    memcpy(bytes + all, "PK", 2);
    snprintf(broken, sizeof broken,
             "the gzip data are broken at byte %zu of the file (what follows a member is none)", all);
    expect(bytes, all + 2, "one, two", 8, broken);
    /* The trailer is four bytes of checksum and four of length; it is looked at behind the text. */
    bytes[all - 8] ^= 1;
    snprintf(broken, sizeof broken, "the gzip data are broken at byte %zu of the file (incorrect data check)",
             all - 4);
    expect(bytes, all, "one, two", 8, broken);
    bytes[all - 8] ^= 1;
    snprintf(broken, sizeof broken, "the gzip data are broken at byte %zu of the file (it is cut off)",
             all - 3);
    expect(bytes, all - 3, "one, two", 8, broken);
    snprintf(broken, sizeof broken, "the gzip data are broken at byte %zu of the file (it is cut off)",
             n + 4);
    expect(bytes, n + 4, "one, ", 5, broken);
}

CLAIM(text_that_had_no_room_is_not_lost)
{
    /* Its last bytes mean more text than small windows have room for. */
    static const char cut[] = "\x1f\x8b\x08\0\0\0\0\0\0\x03\xcb\xcf\x4b\xd5\x51\x4b\xd5\x51\xa3\0\x03";

    expect(cut, sizeof cut - 1, "one,&e,&&e,&&e,&&e,&&e,&&e,&&e,&&e,&&e,&&e,&&e,&&e,&&e,&&e,&&e,&&e,", 67,
           "the gzip data are broken at byte 21 of the file (it is cut off)");
}

CLAIM(files_are_read_as_bytes_are)
{
    unsigned char bytes[150000];
    dse_error err = DSE_ERROR_INIT;
    char folder[64], path[80];
    trace_source s;
    dse_strbuf seen;
    size_t n, m;
    char *text = long_text(&n);

    unit_make_folder(folder);
    snprintf(path, sizeof path, "%s/t", folder);
    m = compress_text(text, n, bytes, sizeof bytes);
    for (int gzip = 0; gzip < 2; gzip++) {
        unit_write(path, gzip ? (const void *)bytes : text, gzip ? m : n);
        assert_ok(trace_source_open(&s, path, &err), &err);
        read_all(&s, &seen);
        assert_int_equal(seen.len, n);
        assert_memory_equal(seen.data, text, n);
        dse_strbuf_free(&seen);
        trace_source_close(&s);
    }
    assert_says(trace_source_open(&s, folder, &err), &err, DSE_E_IO, "cannot read '/tmp/");
    trace_source_close(&s);
    err = (dse_error)DSE_ERROR_INIT;
    snprintf(path, sizeof path, "%s/none", folder);
    assert_says(trace_source_open(&s, path, &err), &err, DSE_E_IO, "No such file or directory");
    trace_source_close(&s);
    unit_remove_folder(folder);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_bytes_come_as_they_are),
        cmocka_unit_test(gzip_is_told_by_its_first_bytes),
        cmocka_unit_test(members_are_one_text),
        cmocka_unit_test(what_came_before_a_fault_is_used),
        cmocka_unit_test(text_that_had_no_room_is_not_lost),
        cmocka_unit_test(files_are_read_as_bytes_are),
    };
    return RUN_TESTS(tests);
}
