/* Events of a Chrome trace with what CCL-Bench's converters read of them, and as they read it: times are
 * doubles of microseconds, sizes are what is written, keys have spellings. Private to compat_*.c; everybody
 * else reads traces by trace/record.h. */
#ifndef DSE_WHATIF_COMPAT_EVENTS_H
#define DSE_WHATIF_COMPAT_EVENTS_H

#include "trace/names.h"

#define COMPAT_SPELLINGS 7

typedef struct {
    double ts, dur;            /* NaN: not given */
    double device_us;          /* device_duration_ps; NaN */
    uint32_t phase, name, cat; /* names; DSE_NONE */
    uint32_t pid, tid;
    uint32_t process; /* of metadata: "name" of its args */
    uint32_t collective, dtype, group, group_name, external, correlation;
    double function;    /* "Record function id"; NaN */
    uint32_t stream[4]; /* "stream", and three other spellings */
    double in, out;     /* elements; NaN */
    double dims[2];     /* elements of the first two inputs of an operator; NaN */
    uint32_t type[2];
    uint32_t hlo_category, hlo_op, long_name;
    uint32_t device[6];             /* "global_device_id" and five others */
    double bytes[COMPAT_SPELLINGS]; /* "bytes" and six others; NaN */
} compat_event;

typedef struct {
    trace_names *names; /* of all ranks */
    size_t n, cap;
    compat_event *event; /* in file order, on the heap */
} compat_events;

/* Reads a file, and keeps the events for which keep() holds. DSE_E_IO; DSE_E_SYNTAX: no JSON, where the
 * original stops too. */
dse_status compat_read_events(const char *path, bool (*keep)(const compat_event *e, const trace_names *names),
                              compat_events *out, dse_error *err);

static inline const char *compat_text(const trace_names *n, uint32_t id)
{
    return id == DSE_NONE ? "" : n->text[id];
}

#endif
