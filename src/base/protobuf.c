#include "base/protobuf.h"

#include <string.h>

void pb_put_varint(dse_strbuf *b, uint64_t v)
{
    unsigned char bytes[10];
    size_t n = 0;

    while (v >= 0x80) {
        bytes[n++] = (unsigned char)(v | 0x80);
        v >>= 7;
    }
    bytes[n++] = (unsigned char)v;
    dse_strbuf_add(b, bytes, n);
}

void pb_put_tag(dse_strbuf *b, uint32_t field, uint32_t wire) { pb_put_varint(b, field << 3 | wire); }

void pb_put_uint(dse_strbuf *b, uint32_t field, uint64_t v)
{
    pb_put_tag(b, field, PB_VARINT);
    pb_put_varint(b, v);
}

void pb_put_bytes(dse_strbuf *b, uint32_t field, const void *bytes, size_t n)
{
    pb_put_tag(b, field, PB_BYTES);
    pb_put_varint(b, n);
    dse_strbuf_add(b, bytes, n);
}

void pb_put_string(dse_strbuf *b, uint32_t field, const char *s) { pb_put_bytes(b, field, s, strlen(s)); }

bool pb_get_long_varint(pb_range *r, uint64_t *out)
{
    uint64_t v = 0;

    for (int shift = 0; shift < 70 && r->p < r->end; shift += 7) {
        unsigned char byte = *r->p++;

        if (shift < 64)
            v |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80)) {
            *out = v;
            return true;
        }
    }
    return false;
}

static bool get_fixed(pb_range *r, size_t n, uint64_t *out)
{
    if ((size_t)(r->end - r->p) < n)
        return false;
    *out = 0;
    for (size_t i = 0; i < n; i++)
        *out |= (uint64_t)r->p[i] << (8 * i);
    r->p += n;
    return true;
}

int pb_get_field(pb_range *r, pb_field *out)
{
    uint64_t tag, n;

    if (r->p == r->end)
        return 0;
    if (!pb_get_varint(r, &tag) || tag >> 3 == 0 || tag >> 3 > 536870911u)
        return -1;
    out->field = (uint32_t)(tag >> 3);
    out->wire = (uint32_t)(tag & 7);
    out->at = r->p;
    switch (out->wire) {
    case PB_VARINT: return pb_get_varint(r, &out->value) ? 1 : -1;
    case PB_FIXED64: return get_fixed(r, 8, &out->value) ? 1 : -1;
    case PB_FIXED32: return get_fixed(r, 4, &out->value) ? 1 : -1;
    case PB_BYTES:
        if (!pb_get_varint(r, &n) || n > (uint64_t)(r->end - r->p))
            return -1;
        out->bytes = (pb_range){r->p, r->p + n};
        r->p += n;
        return 1;
    default: return -1;
    }
}
