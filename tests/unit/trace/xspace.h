/* Messages of xplane.proto for tests, from the inside out: each builder returns what encloses its part. */
#ifndef UNIT_TRACE_XSPACE_H
#define UNIT_TRACE_XSPACE_H

#include "base/protobuf.h"

/* Adds `part` as field `number` of `whole`, and frees it. */
static inline void put_part(dse_strbuf *whole, uint32_t number, dse_strbuf *part)
{
    pb_put_bytes(whole, number, part->data, part->len);
    dse_strbuf_free(part);
}

/* XStat {metadata_id, one value}. */
static inline void put_count_stat(dse_strbuf *whole, uint32_t number, uint64_t metadata, uint64_t value)
{
    dse_strbuf s;

    dse_strbuf_init(&s);
    pb_put_uint(&s, 1, metadata);
    pb_put_uint(&s, 3, value);
    put_part(whole, number, &s);
}

static inline void put_text_stat(dse_strbuf *whole, uint32_t number, uint64_t metadata, const char *value)
{
    dse_strbuf s;

    dse_strbuf_init(&s);
    pb_put_uint(&s, 1, metadata);
    pb_put_string(&s, 5, value);
    put_part(whole, number, &s);
}

static inline void put_reference_stat(dse_strbuf *whole, uint32_t number, uint64_t metadata, uint64_t value)
{
    dse_strbuf s;

    dse_strbuf_init(&s);
    pb_put_uint(&s, 1, metadata);
    pb_put_uint(&s, 7, value);
    put_part(whole, number, &s);
}

/* An entry of a metadata map: {1: id, 2: message}. */
static inline void put_entry(dse_strbuf *plane, uint32_t number, uint64_t id, dse_strbuf *message)
{
    dse_strbuf e;

    dse_strbuf_init(&e);
    pb_put_uint(&e, 1, id);
    put_part(&e, 2, message);
    put_part(plane, number, &e);
}

static inline void put_stat_metadata(dse_strbuf *plane, uint64_t id, const char *name)
{
    dse_strbuf m;

    dse_strbuf_init(&m);
    pb_put_uint(&m, 1, id);
    pb_put_string(&m, 2, name);
    put_entry(plane, 5, id, &m);
}

/* An XEvent without statistics. */
static inline void begin_event(dse_strbuf *e, uint64_t metadata, uint64_t offset_ps, uint64_t dur_ps)
{
    dse_strbuf_init(e);
    pb_put_uint(e, 1, metadata);
    pb_put_uint(e, 2, offset_ps);
    pb_put_uint(e, 3, dur_ps);
}

static inline void begin_line(dse_strbuf *l, uint64_t id, const char *name, uint64_t timestamp_ns)
{
    dse_strbuf_init(l);
    pb_put_uint(l, 1, id);
    pb_put_string(l, 2, name);
    pb_put_uint(l, 3, timestamp_ns);
}

#endif
