#include "unit/unit.h"

#include "base/protobuf.h"

static pb_range range(const void *bytes, size_t n)
{
    return (pb_range){bytes, (const unsigned char *)bytes + n};
}

/* ---- writing: the bytes of protobuf's own documentation ------------------------------------- */

CLAIM(fields_are_encoded_as_the_specification_shows)
{
    dse_strbuf b;

    dse_strbuf_init(&b);
    pb_put_uint(&b, 1, 150); /* "message Test1 { int32 a = 1; }" with a = 150: 08 96 01 */
    assert_int_equal(b.len, 3);
    assert_memory_equal(b.data, "\x08\x96\x01", 3);
    dse_strbuf_clear(&b);
    pb_put_string(&b, 2, "testing"); /* 12 07 "testing" */
    assert_int_equal(b.len, 9);
    assert_memory_equal(b.data, "\x12\x07testing", 9);
    dse_strbuf_clear(&b);
    pb_put_bytes(&b, 3, "\x08\x96\x01", 3); /* an embedded message: 1a 03 08 96 01 */
    assert_memory_equal(b.data, "\x1a\x03\x08\x96\x01", 5);
    dse_strbuf_clear(&b);
    pb_put_tag(&b, 16, PB_VARINT); /* the first field number that takes two bytes: 80 01 */
    assert_int_equal(b.len, 2);
    assert_memory_equal(b.data, "\x80\x01", 2);
    dse_strbuf_free(&b);
}

CLAIM(a_negative_int64_takes_ten_bytes)
{
    dse_strbuf b;

    dse_strbuf_init(&b);
    pb_put_varint(&b, (uint64_t)-2); /* fe ff ... 01 */
    assert_int_equal(b.len, 10);
    assert_memory_equal(b.data, "\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10);
    dse_strbuf_free(&b);
}

/* ---- round trips --------------------------------------------------------------------------- */

CLAIM(varints_of_every_length_read_back)
{
    for (int bits = 0; bits <= 64; bits++) {
        const uint64_t top = bits < 64 ? (uint64_t)1 << bits : 0;

        for (int delta = -1; delta <= 1; delta++) {
            uint64_t v = top + (uint64_t)delta, out = ~v;
            dse_strbuf b;
            pb_range r;

            dse_strbuf_init(&b);
            pb_put_varint(&b, v);
            assert_int_equal(b.len, pb_varint_size(v));
            r = range(b.data, b.len);
            assert_true(pb_get_varint(&r, &out));
            assert_u64(out, v);
            assert_ptr_equal(r.p, r.end);
            dse_strbuf_free(&b);
        }
    }
}

/* 7 bits a byte: 127 is the last of one byte, 2^14 - 1 the last of two, 2^63 the first of ten. */
CLAIM(varint_sizes_are_known_beforehand)
{
    assert_int_equal(pb_varint_size(0), 1);
    assert_int_equal(pb_varint_size(127), 1);
    assert_int_equal(pb_varint_size(128), 2);
    assert_int_equal(pb_varint_size(16383), 2);
    assert_int_equal(pb_varint_size(16384), 3);
    assert_int_equal(pb_varint_size(((uint64_t)1 << 63) - 1), 9);
    assert_int_equal(pb_varint_size((uint64_t)1 << 63), 10);
    assert_int_equal(pb_varint_size(UINT64_MAX), 10);
}

CLAIM(fields_of_every_kind_read_back)
{
    pb_field f;
    pb_range r;
    dse_strbuf b;

    dse_strbuf_init(&b);
    pb_put_uint(&b, 1, UINT64_MAX);
    pb_put_string(&b, 536870911, "x\x01"); /* the highest field number there is */
    pb_put_bytes(&b, 3, "", 0);
    pb_put_tag(&b, 4, PB_FIXED64);
    dse_strbuf_add(&b, "\x01\x02\x03\x04\x05\x06\x07\x08", 8);
    pb_put_tag(&b, 5, PB_FIXED32);
    dse_strbuf_add(&b, "\x01\x02\x03\xff", 4);
    r = range(b.data, b.len);
    assert_int_equal(pb_get_field(&r, &f), 1);
    assert_int_equal(f.field, 1);
    assert_int_equal(f.wire, PB_VARINT);
    assert_u64(f.value, UINT64_MAX);
    assert_int_equal(pb_get_field(&r, &f), 1);
    assert_int_equal(f.field, 536870911);
    assert_int_equal(f.bytes.end - f.bytes.p, 2);
    assert_memory_equal(f.bytes.p, "x\x01", 2);
    assert_int_equal(pb_get_field(&r, &f), 1);
    assert_int_equal(f.field, 3);
    assert_ptr_equal(f.bytes.p, f.bytes.end);
    assert_int_equal(pb_get_field(&r, &f), 1);
    assert_u64(f.value, 0x0807060504030201u); /* little endian */
    assert_int_equal(pb_get_field(&r, &f), 1);
    assert_u64(f.value, 0xff030201u);
    assert_int_equal(pb_get_field(&r, &f), 0);
    assert_int_equal(pb_get_field(&r, &f), 0);
    dse_strbuf_free(&b);
}

/* ---- damage -------------------------------------------------------------------------------- */

CLAIM(a_varint_that_ends_early_is_refused)
{
    static const unsigned char bytes[] = {0x80, 0x80, 0x01};

    for (size_t n = 0; n < 3; n++) {
        pb_range r = range(bytes, n);
        uint64_t v;

        assert_false(pb_get_varint(&r, &v));
        assert_true(r.p <= r.end);
    }
}

CLAIM(a_varint_of_more_than_ten_bytes_is_refused)
{
    unsigned char bytes[11];
    uint64_t v;
    pb_range r;

    memset(bytes, 0x80, sizeof bytes);
    bytes[9] = 0x01;
    r = range(bytes, 10);
    assert_true(pb_get_varint(&r, &v));
    assert_u64(v, (uint64_t)1 << 63);
    bytes[9] = 0x80;
    bytes[10] = 0x01;
    r = range(bytes, 11);
    assert_false(pb_get_varint(&r, &v));
}

static int first_field(const void *bytes, size_t n)
{
    pb_range r = range(bytes, n);
    pb_field f;

    return pb_get_field(&r, &f);
}

CLAIM(malformed_fields_are_refused)
{
    assert_int_equal(first_field("\x80", 1), -1);                     /* an unfinished tag */
    assert_int_equal(first_field("\x00\x01", 2), -1);                 /* field number 0 */
    assert_int_equal(first_field("\x80\x80\x80\x80\x10\x01", 6), -1); /* field number 2^29: one too many */
    assert_int_equal(first_field("\x08", 1), -1);                     /* no value */
    assert_int_equal(first_field("\x08\x80", 2), -1);                 /* an unfinished value */
    assert_int_equal(first_field("\x09\x01\x02\x03\x04\x05\x06\x07", 8), -1); /* 7 of 8 bytes */
    assert_int_equal(first_field("\x0d\x01\x02\x03", 4), -1);                 /* 3 of 4 bytes */
    assert_int_equal(first_field("\x0a\x03xy", 4), -1);                       /* 2 of 3 bytes */
    assert_int_equal(first_field("\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11),
                     -1);                             /* 2^64 - 1 bytes */
    assert_int_equal(first_field("\x0b", 1), -1);     /* a group, long gone from protobuf */
    assert_int_equal(first_field("\x0f\x01", 2), -1); /* wire type 7 */
}

CLAIM(a_length_that_fits_exactly_is_read)
{
    pb_range r = range("\x0a\x02xy", 4);
    pb_field f;

    assert_int_equal(pb_get_field(&r, &f), 1);
    assert_ptr_equal(f.bytes.end, r.end);
    assert_int_equal(pb_get_field(&r, &f), 0);
}

/* Whatever the bytes, reading ends and stays inside; the sanitizer watches the heap block's ends. */
CLAIM(random_bytes_are_walked_safely)
{
    uint64_t seed = 13;

    for (int i = 0; i < 5000; i++) {
        size_t n = unit_random(&seed) % 40;
        unsigned char *bytes = malloc(n + 1);
        pb_range r;
        pb_field f;
        int got;

        for (size_t k = 0; k < n; k++)
            bytes[k] = (unsigned char)(unit_random(&seed) >> 7);
        r = (pb_range){bytes, bytes + n};
        while ((got = pb_get_field(&r, &f)) > 0) {
            assert_true(r.p <= r.end);
            if (f.wire == PB_BYTES)
                assert_true(bytes <= f.bytes.p && f.bytes.p <= f.bytes.end && f.bytes.end <= bytes + n);
        }
        free(bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_are_encoded_as_the_specification_shows),
        cmocka_unit_test(a_negative_int64_takes_ten_bytes),
        cmocka_unit_test(varints_of_every_length_read_back),
        cmocka_unit_test(varint_sizes_are_known_beforehand),
        cmocka_unit_test(fields_of_every_kind_read_back),
        cmocka_unit_test(a_varint_that_ends_early_is_refused),
        cmocka_unit_test(a_varint_of_more_than_ten_bytes_is_refused),
        cmocka_unit_test(malformed_fields_are_refused),
        cmocka_unit_test(a_length_that_fits_exactly_is_read),
        cmocka_unit_test(random_bytes_are_walked_safely),
    };
    return RUN_TESTS(tests);
}
