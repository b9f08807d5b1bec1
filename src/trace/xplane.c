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
#include "base/protobuf.h"
#include "trace/pairs.h"
#include "trace/reader.h"
#include "trace/xla_gpu.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define MAX_BYTES ((size_t)2 << 30) /* of a protobuf message, by its own rules */
#define NOT_READ  (DSE_NONE - 1)    /* of a name: its metadata are not read yet */

/* A field and its wire type in one number. */
#define FIELD(number, wire) ((uint32_t)(number) << 3 | (wire))
#define FIELD_OF(f)         FIELD((f).field, (f).wire)

enum {
    SPACE_PLANE = FIELD(1, PB_BYTES),
    SPACE_ERROR = FIELD(2, PB_BYTES),
    SPACE_WARNING = FIELD(3, PB_BYTES),
    PLANE_NAME = FIELD(2, PB_BYTES),
    PLANE_LINE = FIELD(3, PB_BYTES),
    PLANE_EVENT_METADATA = FIELD(4, PB_BYTES),
    PLANE_STAT_METADATA = FIELD(5, PB_BYTES),
    MAP_KEY = FIELD(1, PB_VARINT),
    MAP_VALUE = FIELD(2, PB_BYTES),
    METADATA_NAME = FIELD(2, PB_BYTES),
    METADATA_DISPLAY_NAME = FIELD(4, PB_BYTES),
    METADATA_STAT = FIELD(5, PB_BYTES),
    STAT_METADATA_ID = FIELD(1, PB_VARINT),
    STAT_DOUBLE = FIELD(2, PB_FIXED64),
    STAT_UINT64 = FIELD(3, PB_VARINT),
    STAT_INT64 = FIELD(4, PB_VARINT),
    STAT_TEXT = FIELD(5, PB_BYTES),
    STAT_REFERENCE = FIELD(7, PB_VARINT),
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

/* The statistics that are read. */
typedef enum {
    KEY_OTHER,
    KEY_HLO_CATEGORY,
    KEY_LONG_NAME,
    KEY_SHAPE,
    KEY_MODEL_FLOPS,
    KEY_BYTES_ACCESSED,
    KEY_RAW_BYTES_ACCESSED,
    KEY_DEVICE_OFFSET,
    KEY_DEVICE_DURATION,
    KEYS
} stat_key;

/* Messages of a map by their key; the last one of a key counts. */
typedef struct {
    trace_pairs index; /* 0, id -> its place is the message's */
    pb_range *message;
    size_t cap;
} metadata_map;

typedef struct {
    const char *path;
    const unsigned char *begin; /* of the file */
    trace_record *out;
    trace_rank *r;
    dse_error *err;
    bool failed; /* a field is invalid: err says where, and all loops over fields end */
    uint64_t n_left_out;
    const unsigned char *first_left_out;
    /* The current plane. */
    metadata_map events, stats;
    uint32_t *name, *args; /* by index of the event metadata */
    uint8_t *key;          /* by index of the statistic metadata: stat_key */
    size_t cap_name, cap_args, cap_key;
    pb_range plane_name;
    uint32_t lane;
} xplane;

/* ---- the wire -------------------------------------------------------------------------------- */

/* Reads the next field; false at the end of the message, and after any invalid field. */
static bool next(xplane *x, pb_range *message, pb_field *f)
{
    const unsigned char *at = message->p;
    int got = x->failed ? 0 : pb_get_field(message, f);

    if (got < 0) {
        x->failed = true;
        dse_fail_at(x->err, DSE_E_SYNTAX, x->path,
                    "byte %td: no field of a protobuf message ends within the %td bytes that are left of it; "
                    "is the file cut off, or was it changed by a copy as text?",
                    at - x->begin, message->end - at);
    }
    return got > 0;
}

static bool is_empty(pb_range r) { return r.p == r.end; }

static uint32_t add_name(xplane *x, pb_range text)
{
    return trace_names_add_bytes(&x->r->names, text.p, (size_t)(text.end - text.p));
}

/* ---- metadata -------------------------------------------------------------------------------- */

static void read_map_entry(xplane *x, metadata_map *m, pb_range entry)
{
    pb_range value = {entry.p, entry.p};
    int64_t id = 0;
    uint32_t place;
    pb_field f;
    bool is_new;

    while (next(x, &entry, &f)) {
        if (FIELD_OF(f) == MAP_KEY)
            id = (int64_t)f.value;
        else if (FIELD_OF(f) == MAP_VALUE)
            value = f.bytes;
    }
    place = trace_pairs_place(&m->index, trace_pairs_at(&m->index, 0, id, &is_new));
    DSE_GROW(m->message, m->cap, m->index.n);
    m->message[place] = value;
}

static stat_key key_of(pb_range name)
{
    static const char *const keys[KEYS] = {[KEY_OTHER] = "",
                                           [KEY_HLO_CATEGORY] = "hlo_category",
                                           [KEY_LONG_NAME] = "long_name",
                                           [KEY_SHAPE] = "shape_with_layout",
                                           [KEY_MODEL_FLOPS] = "model_flops",
                                           [KEY_BYTES_ACCESSED] = "bytes_accessed",
                                           [KEY_RAW_BYTES_ACCESSED] = "raw_bytes_accessed",
                                           [KEY_DEVICE_OFFSET] = "device_offset_ps",
                                           [KEY_DEVICE_DURATION] = "device_duration_ps"};
    size_t n = (size_t)(name.end - name.p);

    for (stat_key k = KEY_OTHER + 1; k < KEYS; k++)
        if (strlen(keys[k]) == n && memcmp(keys[k], name.p, n) == 0)
            return k;
    return KEY_OTHER;
}

/* Replaces the metadata of each statistic by its name, and finds its key. */
static void name_stats(xplane *x)
{
    DSE_GROW(x->key, x->cap_key, x->stats.index.n);
    for (size_t i = 0; i < x->stats.index.n; i++) {
        pb_range message = x->stats.message[i], name = {message.p, message.p};
        pb_field f;

        while (next(x, &message, &f))
            if (FIELD_OF(f) == METADATA_NAME)
                name = f.bytes;
        x->stats.message[i] = name;
        x->key[i] = (uint8_t)key_of(name);
    }
}

/* Reads the name and the metadata of a plane; those of events are only located. */
static void read_metadata(xplane *x, pb_range plane)
{
    pb_field f;

    /* Clearing the large tables of one plane for each of many small planes would be slow. */
    trace_pairs_free(&x->events.index);
    trace_pairs_free(&x->stats.index);
    x->plane_name = (pb_range){plane.p, plane.p};
    while (next(x, &plane, &f))
        switch (FIELD_OF(f)) {
        case PLANE_NAME: x->plane_name = f.bytes; break;
        case PLANE_EVENT_METADATA: read_map_entry(x, &x->events, f.bytes); break;
        case PLANE_STAT_METADATA: read_map_entry(x, &x->stats, f.bytes); break;
        default: break;
        }
    name_stats(x);
    DSE_GROW(x->name, x->cap_name, x->events.index.n);
    DSE_GROW(x->args, x->cap_args, x->events.index.n);
    for (size_t i = 0; i < x->events.index.n; i++)
        x->name[i] = NOT_READ;
}

/* ---- statistics ------------------------------------------------------------------------------ */

typedef struct {
    enum { VALUE_NONE, VALUE_TEXT, VALUE_COUNT, VALUE_DOUBLE } kind;
    pb_range text;
    uint64_t count; /* of an int64: VALUE_NONE if it is negative */
    double number;
} stat_value;

static stat_key read_stat(xplane *x, pb_range stat, stat_value *v)
{
    stat_key key = KEY_OTHER;
    uint32_t at;
    pb_field f;

    *v = (stat_value){.kind = VALUE_NONE};
    while (next(x, &stat, &f))
        switch (FIELD_OF(f)) {
        case STAT_METADATA_ID:
            at = trace_pairs_find_place(&x->stats.index, 0, (int64_t)f.value);
            key = at == DSE_NONE ? KEY_OTHER : (stat_key)x->key[at];
            break;
        case STAT_DOUBLE:
            v->kind = VALUE_DOUBLE;
            memcpy(&v->number, &f.value, sizeof v->number);
            break;
        case STAT_UINT64: *v = (stat_value){.kind = VALUE_COUNT, .count = f.value}; break;
        case STAT_INT64:
            *v = (stat_value){.kind = (int64_t)f.value < 0 ? VALUE_NONE : VALUE_COUNT, .count = f.value};
            break;
        case STAT_TEXT: *v = (stat_value){.kind = VALUE_TEXT, .text = f.bytes}; break;
        case STAT_REFERENCE:
            at = trace_pairs_find_place(&x->stats.index, 0, (int64_t)f.value);
            if (at != DSE_NONE)
                *v = (stat_value){.kind = VALUE_TEXT, .text = x->stats.message[at]};
            break;
        default: break;
        }
    return key;
}

/* The count in a number or a text of digits, as in the Chrome trace; TRACE_UNKNOWN if it is neither. */
static uint64_t count_of(const stat_value *v)
{
    uint64_t count = 0;

    if (v->kind == VALUE_COUNT)
        return v->count;
    if (v->kind == VALUE_DOUBLE)
        return v->number >= 0 && v->number < 0x1p63 ? (uint64_t)v->number : TRACE_UNKNOWN;
    if (v->kind == VALUE_NONE || is_empty(v->text))
        return TRACE_UNKNOWN;
    for (const unsigned char *p = v->text.p; p < v->text.end; p++)
        if (*p < '0' || *p > '9' || __builtin_mul_overflow(count, 10, &count) ||
            __builtin_add_overflow(count, *p - '0', &count))
            return TRACE_UNKNOWN;
    return count;
}

static double number_of(const stat_value *v)
{
    uint64_t count;

    if (v->kind == VALUE_DOUBLE)
        return v->number;
    count = count_of(v);
    return count == TRACE_UNKNOWN ? NAN : (double)count;
}

static int64_t device_ps_of(const stat_value *v)
{
    uint64_t ps = count_of(v);

    return ps > TRACE_MAX_PS ? -1 : (int64_t)ps;
}

static void set_text(xplane *x, const stat_value *v, uint32_t *text)
{
    if (v->kind == VALUE_TEXT)
        *text = add_name(x, v->text);
}

/* Adds a statistic to *a or *t; true if it went into *a. */
static bool apply_stat(xplane *x, pb_range stat, trace_args *a, trace_device_time *t)
{
    stat_value v;

    switch (read_stat(x, stat, &v)) {
    case KEY_HLO_CATEGORY: set_text(x, &v, &a->hlo_category); return true;
    case KEY_LONG_NAME: set_text(x, &v, &a->long_name); return true;
    case KEY_SHAPE: set_text(x, &v, &a->shape); return true;
    case KEY_MODEL_FLOPS: a->model_flops = number_of(&v); return true;
    case KEY_BYTES_ACCESSED: a->bytes_accessed = count_of(&v); return true;
    case KEY_RAW_BYTES_ACCESSED: a->raw_bytes_accessed = count_of(&v); return true;
    case KEY_DEVICE_OFFSET: t->offset_ps = device_ps_of(&v); return false;
    case KEY_DEVICE_DURATION: t->dur_ps = device_ps_of(&v); return false;
    default: return false;
    }
}

/* ---- metadata of events ---------------------------------------------------------------------- */

/* Whether a metadata name is an operation's HLO text: "%add.1 = f32[8]{0} add(...)". */
static bool is_hlo(pb_range name)
{
    for (const unsigned char *p = name.p; name.end - p >= 3; p++)
        if (memcmp(p, " = ", 3) == 0)
            return true;
    return false;
}

/* Reads the event metadata at an index into x->name and x->args, once. */
static void describe(xplane *x, uint32_t at)
{
    pb_range message = x->events.message[at], name = {message.p, message.p}, display = name;
    trace_device_time unused = {-1, -1};
    bool any = false;
    trace_args a;
    pb_field f;

    if (x->name[at] != NOT_READ)
        return;
    trace_args_clear(&a);
    while (next(x, &message, &f))
        switch (FIELD_OF(f)) {
        case METADATA_NAME: name = f.bytes; break;
        case METADATA_DISPLAY_NAME: display = f.bytes; break;
        case METADATA_STAT: any = apply_stat(x, f.bytes, &a, &unused) || any; break;
        default: break;
        }
    x->name[at] = add_name(x, is_empty(display) ? name : display);
    if (a.long_name == DSE_NONE && is_hlo(name)) {
        any = true;
        a.long_name = add_name(x, name);
    }
    x->args[at] = any ? trace_add_args(x->r, &a) : DSE_NONE;
}

/* ---- events ---------------------------------------------------------------------------------- */

static void read_event_stats(xplane *x, pb_range event, trace_event *e, trace_device_time *t)
{
    bool any = false;
    trace_args a;
    pb_field f;

    if (e->args == DSE_NONE)
        trace_args_clear(&a);
    else
        memcpy(&a, &x->r->args[e->args], sizeof a);
    while (next(x, &event, &f))
        if (FIELD_OF(f) == EVENT_STAT)
            any = apply_stat(x, f.bytes, &a, t) || any;
    if (any)
        e->args = trace_add_args(x->r, &a);
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

static void read_event(xplane *x, pb_range event, int64_t line_ns)
{
    trace_event e = {.name = DSE_NONE, .lane = x->lane, .args = DSE_NONE, .category = TRACE_OTHER, .word = 0};
    trace_device_time t = {-1, -1};
    pb_range again = event;
    bool has_stats = false, is_sum = false;
    int64_t offset_ps = 0;
    uint32_t at = DSE_NONE;
    pb_field f;

    while (next(x, &event, &f))
        switch (FIELD_OF(f)) {
        case EVENT_METADATA_ID: at = trace_pairs_find_place(&x->events.index, 0, (int64_t)f.value); break;
        case EVENT_OFFSET_PS: offset_ps = (int64_t)f.value; break;
        case EVENT_DURATION_PS: e.dur_ps = (int64_t)f.value; break;
        case EVENT_STAT: has_stats = true; break;
        case EVENT_OCCURRENCES: is_sum = true; break;
        default: break;
        }
    if (x->failed)
        return;
    if (is_sum || !place(x, line_ns, offset_ps, &e)) {
        if (!x->n_left_out++)
            x->first_left_out = again.p;
        return;
    }
    if (at != DSE_NONE) {
        describe(x, at);
        e.name = x->name[at];
        e.args = x->args[at];
    }
    if (has_stats)
        read_event_stats(x, again, &e, &t);
    add_event(x, &e, t);
}

/* ---- lines and planes ------------------------------------------------------------------------ */

typedef struct {
    int64_t id, timestamp_ns;
    pb_range name, display_name;
    bool has_events;
} line_head;

static line_head read_line_head(xplane *x, pb_range line)
{
    line_head h = {.name = {line.p, line.p}, .display_name = {line.p, line.p}};
    pb_field f;

    while (next(x, &line, &f))
        switch (FIELD_OF(f)) {
        case LINE_ID: h.id = (int64_t)f.value; break;
        case LINE_NAME: h.name = f.bytes; break;
        case LINE_TIMESTAMP_NS: h.timestamp_ns = (int64_t)f.value; break;
        case LINE_EVENT: h.has_events = true; break;
        case LINE_DISPLAY_NAME: h.display_name = f.bytes; break;
        default: break;
        }
    return h;
}

/* Every line is a lane of its own, even if a damaged file uses its id twice. */
static void add_lane(xplane *x, uint32_t plane, const line_head *h)
{
    trace_rank *r = x->r;
    uint32_t pid = trace_names_addf(&r->names, "%" PRIu32, plane); /* names count in this order */
    uint32_t tid = trace_names_addf(&r->names, "%" PRId64, h->id);
    uint32_t process_name = add_name(x, x->plane_name);
    uint32_t thread = add_name(x, is_empty(h->name) ? h->display_name : h->name);

    DSE_GROW(r->lane, r->cap_lanes, (size_t)r->n_lanes + 1);
    x->lane = r->n_lanes;
    r->lane[r->n_lanes++] = (trace_lane){pid, tid, process_name, thread};
}

static void read_line(xplane *x, uint32_t plane, pb_range line)
{
    line_head h = read_line_head(x, line);
    pb_field f;

    if (x->failed || !h.has_events)
        return;
    add_lane(x, plane, &h);
    while (next(x, &line, &f))
        if (FIELD_OF(f) == LINE_EVENT)
            read_event(x, f.bytes, h.timestamp_ns);
}

static void read_plane(xplane *x, uint32_t plane, pb_range message)
{
    pb_field f;

    read_metadata(x, message);
    while (next(x, &message, &f))
        if (FIELD_OF(f) == PLANE_LINE)
            read_line(x, plane, f.bytes);
}

/* ---- the file -------------------------------------------------------------------------------- */

/* The earliest line of a plane. Devices may count from their start and the host since 1970, so one base suits
 * only one of them. */
static int64_t earliest_line(xplane *x, pb_range plane, bool *is_device)
{
    static const char device[] = "/device:";
    int64_t ns = INT64_MAX;
    pb_field f;

    *is_device = false;
    while (next(x, &plane, &f)) {
        line_head h;

        if (FIELD_OF(f) == PLANE_NAME)
            *is_device = f.bytes.end - f.bytes.p >= (ptrdiff_t)strlen(device) &&
                         memcmp(f.bytes.p, device, strlen(device)) == 0;
        if (FIELD_OF(f) != PLANE_LINE)
            continue;
        h = read_line_head(x, f.bytes);
        if (h.has_events && h.timestamp_ns < ns)
            ns = h.timestamp_ns;
    }
    return ns;
}

static void note(xplane *x, const char *what, pb_range text)
{
    int n = text.end - text.p > 300 ? 300 : (int)(text.end - text.p);

    trace_warn(x->out, x->path, "the profiler noted %s: %.*s", what, n, (const char *)text.p);
}

static void find_base(xplane *x, pb_range space)
{
    int64_t base[2] = {INT64_MAX, INT64_MAX}, ns; /* of the host, of devices */
    bool is_device;
    pb_field f;

    while (next(x, &space, &f)) {
        if (FIELD_OF(f) == SPACE_ERROR)
            note(x, "an error", f.bytes);
        else if (FIELD_OF(f) == SPACE_WARNING)
            note(x, "a warning", f.bytes);
        if (FIELD_OF(f) != SPACE_PLANE)
            continue;
        ns = earliest_line(x, f.bytes, &is_device);
        base[is_device] = ns < base[is_device] ? ns : base[is_device];
    }
    ns = base[1] == INT64_MAX ? base[0] : base[1];
    x->r->base_ns = ns == INT64_MAX ? 0 : trace_base_of(ns);
}

static void read_space(xplane *x, pb_range space)
{
    uint32_t n_planes = 0;
    pb_field f;

    find_base(x, space);
    trace_add_word(x->r, trace_names_add(&x->r->names, "", 0)); /* no event has a category */
    while (next(x, &space, &f))
        if (FIELD_OF(f) == SPACE_PLANE)
            read_plane(x, n_planes++, f.bytes);
    if (x->n_left_out && !x->failed)
        trace_warn(x->out, x->path,
                   "byte %td: %" PRIu64 " events without a time, of a negative duration or more than 53 days "
                   "from the first are left out; this is the first of them",
                   x->first_left_out - x->begin, x->n_left_out);
}

dse_status trace_xplane_parse(const char *path, const void *bytes, size_t n, trace_record *out,
                              dse_error *err)
{
    xplane x = {.path = path,
                .begin = bytes,
                .out = out,
                .r = trace_record_add_file(out, TRACE_XLA, path),
                .err = err};

    read_space(&x, (pb_range){bytes, (const unsigned char *)bytes + n});
    trace_pairs_free(&x.events.index);
    trace_pairs_free(&x.stats.index);
    dse_free(x.events.message);
    dse_free(x.stats.message);
    dse_free(x.name);
    dse_free(x.args);
    dse_free(x.key);
    if (x.failed)
        return DSE_E_SYNTAX;
    trace_xla_split_gpus(out, path);
    return DSE_OK;
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
const trace_reader trace_reader_xplane = {"xplane",  TRACE_FAMILY_TIMELINES,      "XLA profile (xplane.pb)",
                                          is_xplane, .whole = trace_xplane_parse, .max_bytes = MAX_BYTES};
