/* XLA's xplane.pb: planes (devices, the host), their lines, events on these; one file is one rank.
 *
 * Schema: openxla/xla third_party/tsl/tsl/profiler/protobuf/xplane.proto; the numbers below are its fields.
 * Fields that are not listed, or have another wire type, are skipped, as protobuf does. A plane's metadata,
 * which name its events, follow its lines, so a plane is read twice.
 *
 * The result agrees with XLA's own conversion to a Chrome trace: the name is the display name if there is
 * one; the args are the statistics of the event and those of its metadata, the former first. The HLO text is
 * the metadata's name. Device times are the statistics device_offset_ps and device_duration_ps, not the
 * event's own. */
#include "trace/xplane.h"

#include "trace/reader.h"
#include "trace/whole.h"
#include "trace/xplane_parts.h"

#include <inttypes.h>
#include <string.h>

#define MAX_BYTES ((size_t)2 << 30) /* of a protobuf message, by its own rules */

enum {
    SPACE_PLANE = FIELD(1, PB_BYTES),
    SPACE_ERROR = FIELD(2, PB_BYTES),
    SPACE_WARNING = FIELD(3, PB_BYTES),
    PLANE_NAME = FIELD(2, PB_BYTES),
    PLANE_LINE = FIELD(3, PB_BYTES),
    LINE_ID = FIELD(1, PB_VARINT),
    LINE_NAME = FIELD(2, PB_BYTES),
    LINE_TIMESTAMP_NS = FIELD(3, PB_VARINT),
    LINE_EVENT = FIELD(4, PB_BYTES),
    LINE_DISPLAY_NAME = FIELD(11, PB_BYTES),
    EVENT_METADATA_ID = FIELD(1, PB_VARINT),
    EVENT_OFFSET_PS = FIELD(2, PB_VARINT),
    EVENT_DURATION_PS = FIELD(3, PB_VARINT),
    EVENT_STAT = FIELD(4, PB_BYTES),
    EVENT_OCCURRENCES = FIELD(5, PB_VARINT)
};

/* ---- events ---------------------------------------------------------------------------------- */

static bool read_event_stats(xplane *x, pb_range event, trace_event *e, trace_device_time *t)
{
    bool any = false;
    trace_args a;
    pb_field f;

    if (e->args == DSE_NONE)
        trace_args_clear(&a);
    else
        memcpy(&a, &x->r->args[e->args], sizeof a);
    while (xplane_next(x, &event, &f) > 0) /* was read before: does not fail */
        if (FIELD_OF(f) == EVENT_STAT && !xplane_apply_stat(x, f.bytes, &a, t, &any))
            return false;
    if (any)
        e->args = trace_add_args(x->r, &a);
    return true;
}

static void add_event(xplane *x, const trace_event *e, trace_device_time t)
{
    trace_rank *r = x->r;

    trace_add_event(r, e);
    if (t.dur_ps >= 0 && t.offset_ps >= 0)
        trace_set_device_time(r, r->n_events - 1, t);
    trace_extend(r, e->start_ps, e->start_ps + e->dur_ps, true);
}

/* The start from the line's timestamp and the event's offset; false if it is out of range. */
static bool place(const xplane *x, int64_t line_ns, int64_t offset_ps, trace_event *e)
{
    int64_t ps, end;

    return e->dur_ps >= 0 && !__builtin_sub_overflow(line_ns, x->r->base_ns, &ps) &&
           !__builtin_mul_overflow(ps, TRACE_PS_PER_NS, &ps) &&
           !__builtin_add_overflow(ps, offset_ps, &e->start_ps) &&
           !__builtin_add_overflow(e->start_ps, e->dur_ps, &end) && trace_is_near(e->start_ps) &&
           trace_is_near(end);
}

static bool read_event(xplane *x, pb_range event, int64_t line_ns)
{
    trace_event e = {.name = DSE_NONE, .lane = x->lane, .args = DSE_NONE, .category = TRACE_OTHER, .word = 0};
    trace_device_time t = {-1, -1};
    pb_range again = event;
    bool has_stats = false, is_sum = false;
    int64_t offset_ps = 0;
    uint32_t at = DSE_NONE;
    pb_field f;
    int got;

    while ((got = xplane_next(x, &event, &f)) > 0)
        switch (FIELD_OF(f)) {
        case EVENT_METADATA_ID: at = xplane_find_id(&x->events, (int64_t)f.value); break;
        case EVENT_OFFSET_PS: offset_ps = (int64_t)f.value; break;
        case EVENT_DURATION_PS: e.dur_ps = (int64_t)f.value; break;
        case EVENT_STAT: has_stats = true; break;
        case EVENT_OCCURRENCES: is_sum = true; break;
        default: break;
        }
    if (got < 0)
        return false;
    if (is_sum || !place(x, line_ns, offset_ps, &e)) {
        if (!x->n_left_out++)
            x->first_left_out = again.p;
        return true;
    }
    if (at != DSE_NONE) {
        if (!xplane_describe(x, at))
            return false;
        e.name = x->name[at];
        e.args = x->args[at];
    }
    if (has_stats && !read_event_stats(x, again, &e, &t))
        return false;
    add_event(x, &e, t);
    return true;
}

/* ---- lines and planes ------------------------------------------------------------------------ */

typedef struct {
    int64_t id, timestamp_ns;
    pb_range name, display_name;
    bool has_events;
} line_head;

static bool read_line_head(xplane *x, pb_range line, line_head *h)
{
    pb_field f;
    int got;

    *h = (line_head){.name = {line.p, line.p}, .display_name = {line.p, line.p}};
    while ((got = xplane_next(x, &line, &f)) > 0)
        switch (FIELD_OF(f)) {
        case LINE_ID: h->id = (int64_t)f.value; break;
        case LINE_NAME: h->name = f.bytes; break;
        case LINE_TIMESTAMP_NS: h->timestamp_ns = (int64_t)f.value; break;
        case LINE_EVENT: h->has_events = true; break;
        case LINE_DISPLAY_NAME: h->display_name = f.bytes; break;
        default: break;
        }
    return got == 0;
}

/* Every line is a lane of its own, even if a damaged file uses its id twice. */
static void add_lane(xplane *x, uint32_t plane, const line_head *h)
{
    trace_rank *r = x->r;
    uint32_t pid = trace_names_addf(&r->names, "%" PRIu32, plane); /* names count in this order */
    uint32_t tid = trace_names_addf(&r->names, "%" PRId64, h->id);
    uint32_t process_name = xplane_add_name(x, x->plane_name);
    uint32_t thread = xplane_add_name(x, xplane_is_empty(h->name) ? h->display_name : h->name);

    DSE_GROW(r->lane, r->cap_lanes, (size_t)r->n_lanes + 1);
    x->lane = r->n_lanes;
    r->lane[r->n_lanes++] = (trace_lane){pid, tid, process_name, thread};
}

static bool read_line(xplane *x, uint32_t plane, pb_range line)
{
    line_head h;
    pb_field f;

    if (!read_line_head(x, line, &h))
        return false;
    if (!h.has_events)
        return true;
    add_lane(x, plane, &h);
    while (xplane_next(x, &line, &f) > 0) /* was read before: does not fail */
        if (FIELD_OF(f) == LINE_EVENT && !read_event(x, f.bytes, h.timestamp_ns))
            return false;
    return true;
}

static bool read_plane(xplane *x, uint32_t plane, pb_range message)
{
    pb_field f;

    if (!xplane_read_metadata(x, message))
        return false;
    while (xplane_next(x, &message, &f) > 0) /* was read before: does not fail */
        if (FIELD_OF(f) == PLANE_LINE && !read_line(x, plane, f.bytes))
            return false;
    return true;
}

/* ---- the file -------------------------------------------------------------------------------- */

/* The earliest line of a plane. Devices may count from their start and the host since 1970, so one base suits
 * only one of them. */
static bool earliest_line(xplane *x, pb_range plane, bool *is_device, int64_t *ns)
{
    static const char device[] = "/device:";
    pb_field f;
    int got;

    *ns = INT64_MAX;
    *is_device = false;
    while ((got = xplane_next(x, &plane, &f)) > 0) {
        line_head h;

        if (FIELD_OF(f) == PLANE_NAME)
            *is_device = f.bytes.end - f.bytes.p >= (ptrdiff_t)strlen(device) &&
                         memcmp(f.bytes.p, device, strlen(device)) == 0;
        if (FIELD_OF(f) != PLANE_LINE)
            continue;
        if (!read_line_head(x, f.bytes, &h))
            return false;
        if (h.has_events && h.timestamp_ns < *ns)
            *ns = h.timestamp_ns;
    }
    return got == 0;
}

static void note(xplane *x, const char *what, pb_range text)
{
    int n = text.end - text.p > 300 ? 300 : (int)(text.end - text.p);

    trace_warn(x->out, x->path, "the profiler noted %s: %.*s", what, n, (const char *)text.p);
}

static bool find_base(xplane *x, pb_range space)
{
    int64_t base[2] = {INT64_MAX, INT64_MAX}, ns; /* of the host, of devices */
    bool is_device;
    pb_field f;
    int got;

    while ((got = xplane_next(x, &space, &f)) > 0) {
        if (FIELD_OF(f) == SPACE_ERROR)
            note(x, "an error", f.bytes);
        else if (FIELD_OF(f) == SPACE_WARNING)
            note(x, "a warning", f.bytes);
        if (FIELD_OF(f) != SPACE_PLANE)
            continue;
        if (!earliest_line(x, f.bytes, &is_device, &ns))
            return false;
        base[is_device] = ns < base[is_device] ? ns : base[is_device];
    }
    ns = base[1] == INT64_MAX ? base[0] : base[1];
    x->r->base_ns = ns == INT64_MAX ? 0 : trace_base_of(ns);
    return got == 0;
}

static bool read_space(xplane *x, pb_range space)
{
    uint32_t n_planes = 0;
    pb_field f;

    if (!find_base(x, space))
        return false;
    trace_add_word(x->r, trace_names_add(&x->r->names, "", 0)); /* no event has a category */
    while (xplane_next(x, &space, &f) > 0)                      /* was read before: does not fail */
        if (FIELD_OF(f) == SPACE_PLANE && !read_plane(x, n_planes++, f.bytes))
            return false;
    if (x->n_left_out)
        trace_warn(x->out, x->path,
                   "byte %td: %" PRIu64 " events without a time, of a negative duration or more than 53 days "
                   "from the first are left out; this is the first of them",
                   x->first_left_out - x->begin, x->n_left_out);
    return true;
}

dse_status trace_xplane_parse(const char *path, const void *bytes, size_t n, trace_record *out,
                              dse_error *err)
{
    dse_error first = DSE_ERROR_INIT;
    xplane x = {.path = path,
                .begin = bytes,
                .out = out,
                .r = trace_record_add_file(out, TRACE_XLA, path),
                .err = &first};
    bool ok = read_space(&x, (pb_range){bytes, (const unsigned char *)bytes + n});

    xplane_free_metadata(&x);
    return ok ? DSE_OK : dse_fail_at(err, first.status, first.where, "%s", first.text);
}

static dse_status xplane_read(const char *path, trace_record *out, dse_error *err)
{
    return trace_read_whole(path, MAX_BYTES, trace_xplane_parse, out, err);
}

/* Begins with a plane that begins with its id or its name, as XLA writes it; no other known format does. */
static bool is_xplane(const char *head, size_t n)
{
    pb_range all = {(const unsigned char *)head, (const unsigned char *)head + n};
    uint64_t tag, length, id;

    if (!pb_get_varint(&all, &tag) || tag != SPACE_PLANE || !pb_get_varint(&all, &length) || length < 2)
        return false;
    if (!pb_get_varint(&all, &tag))
        return false;
    if (tag == FIELD(1, PB_VARINT) && (!pb_get_varint(&all, &id) || !pb_get_varint(&all, &tag)))
        return false;
    if (tag != PLANE_NAME || !pb_get_varint(&all, &length) || !length || length > (uint64_t)(all.end - all.p))
        return false;
    for (uint64_t i = 0; i < length; i++)
        if (all.p[i] < 0x20)
            return false;
    return true;
}

extern const trace_reader trace_reader_xplane;
const trace_reader trace_reader_xplane = {"xplane", "XLA profile (xplane.pb)", is_xplane, xplane_read};
