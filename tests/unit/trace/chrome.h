/* Chrome traces for tests: a text is read, and looked at. */
#ifndef UNIT_TRACE_CHROME_H
#define UNIT_TRACE_CHROME_H

#include "trace/reader.h"

#include "unit/unit.h"

static inline dse_status parse_bytes(const char *text, size_t n, size_t cap, trace_record *out,
                                     dse_error *err)
{
    trace_source source;
    dse_status st;

    trace_source_open_bytes(&source, text, n, cap);
    *out = (trace_record){0};
    st = trace_chrome_parse(&source, "t.json", out, err);
    trace_source_close(&source);
    return st;
}

static inline dse_status parse(const char *text, trace_record *out, dse_error *err)
{
    return parse_bytes(text, strlen(text), TRACE_WINDOW_BYTES, out, err);
}

static inline void read_trace(const char *text, trace_record *out)
{
    dse_error err = DSE_ERROR_INIT;

    assert_ok(parse(text, out, &err), &err);
    assert_true(out->n_ranks >= 1);
    assert_string_equal(out->rank[0].path, "t.json");
}

/* An event with everything, for the head of a list. */
#define EVENT(name, ts, dur)                                                                                 \
    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"" name "\",\"pid\":0,\"tid\":7,\"ts\":" ts ",\"dur\":" dur  \
    "}"

static inline const char *text_of(const trace_rank *r, uint32_t id)
{
    const char *text = TRACE_NAME(r, id);

    return text ? text : "(none)";
}

static inline void expect_event(const trace_rank *r, size_t i, const char *name, int64_t start_ps,
                                int64_t dur_ps)
{
    assert_true(i < r->n_events);
    assert_string_equal(text_of(r, r->event[i].name), name);
    assert_int_equal(r->event[i].start_ps, start_ps);
    assert_int_equal(r->event[i].dur_ps, dur_ps);
}

#endif
