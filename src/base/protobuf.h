/* The protobuf wire format, as much of it as the messages of Chakra and of XLA's profiler use.
 *
 * Writing goes into a dse_strbuf. Reading walks a bounded byte range and never past it. */
#ifndef DSE_BASE_PROTOBUF_H
#define DSE_BASE_PROTOBUF_H

#include "base/strbuf.h"

enum { PB_VARINT = 0, PB_FIXED64 = 1, PB_BYTES = 2, PB_FIXED32 = 5 };

static inline size_t pb_varint_size(uint64_t v)
{
    size_t n = 1;

    while (v >= 0x80) {
        v >>= 7;
        n++;
    }
    return n;
}

void pb_put_varint(dse_strbuf *b, uint64_t v);
void pb_put_tag(dse_strbuf *b, uint32_t field, uint32_t wire);
void pb_put_uint(dse_strbuf *b, uint32_t field, uint64_t v);
void pb_put_string(dse_strbuf *b, uint32_t field, const char *s);
void pb_put_bytes(dse_strbuf *b, uint32_t field, const void *bytes, size_t n);

typedef struct {
    const unsigned char *p, *end;
} pb_range;

typedef struct {
    uint32_t field, wire;
    uint64_t value;          /* PB_VARINT, PB_FIXED64, PB_FIXED32 */
    pb_range bytes;          /* PB_BYTES */
    const unsigned char *at; /* where the value begins; of PB_BYTES, its length */
} pb_field;

/* A varint of any length; see pb_get_varint. */
bool pb_get_long_varint(pb_range *r, uint64_t *out);

/* A varint; false at the end of the range, or if it is longer than 10 bytes. Most are of one byte. */
static inline bool pb_get_varint(pb_range *r, uint64_t *out)
{
    if (r->p == r->end || *r->p & 0x80)
        return pb_get_long_varint(r, out);
    *out = *r->p++;
    return true;
}

/* The next field. 1: read one; 0: end of the range; -1: malformed. */
int pb_get_field(pb_range *r, pb_field *out);

#endif
