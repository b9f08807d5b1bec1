/* XLA's xplane.pb: planes (devices, the host), their lines, events on these; one file is one rank.
 *
 * Schema: openxla/xla third_party/tsl/tsl/profiler/protobuf/xplane.proto; the numbers below are its fields. Fields that
 * are not listed, or come with another wire type, are skipped as protobuf does. The metadata of a plane, which name its
 * events, stand behind its lines: a plane is walked twice.
 *
 * The result is what XLA's own conversion to a Chrome trace says: the name is the display name if there is one, the
 * arguments are the statistics of the metadata and those of the event, the latter first. The HLO text is the metadata's
 * name. Device times are the statistics device_offset_ps and device_duration_ps, not the event's own. */
#include "trace/xplane.h"

#include "base/protobuf.h"
#include "trace/reader.h"
#include "trace/whole.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define MAX_BYTES ((size_t)2 << 30) /* of a protobuf message, by its own rules */
#define NOT_READ  (DSE_NONE - 1)    /* of a name: its metadata were not asked for yet */

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
    LINE_ID = FIELD(1, PB_VARINT),
    LINE_NAME = FIELD(2, PB_BYTES),
    LINE_TIMESTAMP_NS = FIELD(3, PB_VARINT),
    LINE_EVENT = FIELD(4, PB_BYTES),
    LINE_DISPLAY_NAME = FIELD(11, PB_BYTES),
    EVENT_METADATA_ID = FIELD(1, PB_VARINT),
    EVENT_OFFSET_PS = FIELD(2, PB_VARINT),
    EVENT_DURATION_PS = FIELD(3, PB_VARINT),
    EVENT_STAT = FIELD(4, PB_BYTES),
    EVENT_OCCURRENCES = FIELD(5, PB_VARINT),
    METADATA_NAME = FIELD(2, PB_BYTES),
    METADATA_DISPLAY_NAME = FIELD(4, PB_BYTES),
    METADATA_STAT = FIELD(5, PB_BYTES),
    STAT_METADATA_ID = FIELD(1, PB_VARINT),
    STAT_DOUBLE = FIELD(2, PB_FIXED64),
    STAT_UINT64 = FIELD(3, PB_VARINT),
    STAT_INT64 = FIELD(4, PB_VARINT),
    STAT_TEXT = FIELD(5, PB_BYTES),
    STAT_REFERENCE = FIELD(7, PB_VARINT)
};

/* Messages of a map by their key; of two with one key the last counts. */
typedef struct {
    size_t n, cap_id, cap_message;
    int64_t *id;
    pb_range *message;
    dse_idtable table;
} id_map;

/* What a statistic is about. */
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

typedef struct {
    const char *path;
    const unsigned char *begin; /* of the file */
    trace_record *out;
    trace_rank *r;
    dse_error *err;
    uint64_t n_left_out;
    const unsigned char *first_left_out;
    /* The plane under way. */
    id_map events, stats;
    uint32_t *name, *args; /* of the event metadata; NOT_READ */
    uint8_t *key;          /* stat_key of the statistic metadata */
    size_t cap_name, cap_args, cap_key;
    pb_range plane_name;
    uint32_t lane;
} xplane;

/* ---- the wire ------------------------------------------------------------------------------ */

/* The next field: 1, or 0 at the end of the message. -1: it is none, and the error says where. */
static int next(xplane *x, pb_range *message, pb_field *f)
{
    const unsigned char *at = message->p;
    int got = pb_get_field(message, f);

    if (got < 0)
        dse_fail_at(x->err, DSE_E_SYNTAX, x->path,
                    "byte %td: no field of a protobuf message ends within the %td bytes that are left of it; "
                    "is the file cut off, or was it changed by a copy as text?",
                    at - x->begin, message->end - at);
    return got;
}

static bool nomem(xplane *x)
{
    dse_fail_nomem(x->err);
    return false;
}

static bool add_name(xplane *x, pb_range text, uint32_t *out)
{
    *out = trace_names_add_bytes(&x->r->names, text.p, (size_t)(text.end - text.p));
    return *out != DSE_NONE || nomem(x);
}

static bool is_empty(pb_range r) { return r.p == r.end; }

/* ---- metadata ------------------------------------------------------------------------------ */

static bool same_id(const void *records, uint32_t id, const void *key)
{
    return ((const id_map *)records)->id[id] == *(const int64_t *)key;
}

static uint32_t find_id(const id_map *m, int64_t id)
{
    return m->n ? dse_idtable_find(&m->table, (uint32_t)dse_hash_u64((uint64_t)id), same_id, m, &id)->id
                : DSE_NONE;
}

static bool put_id(xplane *x, id_map *m, int64_t id, pb_range message)
{
    uint32_t hash = (uint32_t)dse_hash_u64((uint64_t)id);
    dse_idslot *slot;

    if (m->n >= DSE_NONE || !dse_idtable_reserve(&m->table) || !DSE_GROW(m->id, m->cap_id, m->n + 1) ||
        !DSE_GROW(m->message, m->cap_message, m->n + 1))
        return nomem(x);
    slot = dse_idtable_find(&m->table, hash, same_id, m, &id);
    if (slot->id != DSE_NONE) {
        m->message[slot->id] = message;
        return true;
    }
    m->id[m->n] = id;
    m->message[m->n] = message;
    dse_idtable_put(&m->table, slot, hash, (uint32_t)m->n++);
    return true;
}

static void clear_ids(id_map *m)
{
    m->n = 0;
    dse_idtable_free(
        &m->table); /* clearing that of a large plane for each of many small ones would take for ever */
}

static void free_ids(id_map *m)
{
    dse_free(m->id);
    dse_free(m->message);
    dse_idtable_free(&m->table);
}

static bool read_map_entry(xplane *x, id_map *m, pb_range entry)
{
    pb_range value = {entry.p, entry.p};
    int64_t id = 0;
    pb_field f;
    int got;

    while ((got = next(x, &entry, &f)) > 0) {
        if (FIELD_OF(f) == MAP_KEY)
            id = (int64_t)f.value;
        else if (FIELD_OF(f) == MAP_VALUE)
            value = f.bytes;
    }
    return got == 0 && put_id(x, m, id, value);
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

/* Leaves of each statistic's metadata its name, and finds what it is about. */
static bool name_stats(xplane *x)
{
    if (!DSE_GROW(x->key, x->cap_key, x->stats.n))
        return nomem(x);
    for (size_t i = 0; i < x->stats.n; i++) {
        pb_range message = x->stats.message[i], name = {message.p, message.p};
        pb_field f;
        int got;

        while ((got = next(x, &message, &f)) > 0)
            if (FIELD_OF(f) == METADATA_NAME)
                name = f.bytes;
        if (got < 0)
            return false;
        x->stats.message[i] = name;
        x->key[i] = (uint8_t)key_of(name);
    }
    return true;
}

static bool read_metadata(xplane *x, pb_range plane)
{
    pb_field f;
    int got;

    clear_ids(&x->events);
    clear_ids(&x->stats);
    x->plane_name = (pb_range){plane.p, plane.p};
    while ((got = next(x, &plane, &f)) > 0) {
        if (FIELD_OF(f) == PLANE_NAME)
            x->plane_name = f.bytes;
        else if (FIELD_OF(f) == PLANE_EVENT_METADATA && !read_map_entry(x, &x->events, f.bytes))
            return false;
        else if (FIELD_OF(f) == PLANE_STAT_METADATA && !read_map_entry(x, &x->stats, f.bytes))
            return false;
    }
    if (got < 0 || !name_stats(x))
        return false;
    if (!DSE_GROW(x->name, x->cap_name, x->events.n) || !DSE_GROW(x->args, x->cap_args, x->events.n))
        return nomem(x);
    for (size_t i = 0; i < x->events.n; i++)
        x->name[i] = NOT_READ;
    return true;
}

/* ---- statistics ---------------------------------------------------------------------------- */

typedef struct {
    enum { VALUE_NONE, VALUE_TEXT, VALUE_COUNT, VALUE_DOUBLE } kind;
    pb_range text;
    uint64_t count; /* of an int64: VALUE_NONE if it is negative */
    double number;
} stat_value;

static bool read_stat(xplane *x, pb_range stat, stat_key *key, stat_value *v)
{
    uint32_t at;
    pb_field f;
    int got;

    *key = KEY_OTHER;
    *v = (stat_value){.kind = VALUE_NONE};
    while ((got = next(x, &stat, &f)) > 0)
        switch (FIELD_OF(f)) {
        case STAT_METADATA_ID:
            at = find_id(&x->stats, (int64_t)f.value);
            *key = at == DSE_NONE ? KEY_OTHER : (stat_key)x->key[at];
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
            at = find_id(&x->stats, (int64_t)f.value);
            if (at != DSE_NONE)
                *v = (stat_value){.kind = VALUE_TEXT, .text = x->stats.message[at]};
            break;
        default: break;
        }
    return got == 0;
}

/* Of a number, or a text of digits as the Chrome trace has it; TRACE_UNKNOWN. */
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

/* Statistics of one message, laid over *a and *t; *any if one of them is kept. */
static bool apply_stat(xplane *x, pb_range stat, trace_args *a, trace_device_time *t, bool *any)
{
    stat_value v;
    stat_key key;
    uint32_t *text = NULL;

    if (!read_stat(x, stat, &key, &v))
        return false;
    switch (key) {
    case KEY_HLO_CATEGORY: text = &a->hlo_category; break;
    case KEY_LONG_NAME: text = &a->long_name; break;
    case KEY_SHAPE: text = &a->shape; break;
    case KEY_MODEL_FLOPS: a->model_flops = number_of(&v); break;
    case KEY_BYTES_ACCESSED: a->bytes_accessed = count_of(&v); break;
    case KEY_RAW_BYTES_ACCESSED: a->raw_bytes_accessed = count_of(&v); break;
    case KEY_DEVICE_OFFSET: t->offset_ps = count_of(&v) > INT64_MAX ? -1 : (int64_t)count_of(&v); return true;
    case KEY_DEVICE_DURATION: t->dur_ps = count_of(&v) > INT64_MAX ? -1 : (int64_t)count_of(&v); return true;
    default: return true;
    }
    *any = true;
    return !text || v.kind != VALUE_TEXT || add_name(x, v.text, text);
}

/* ---- events -------------------------------------------------------------------------------- */

/* Whether a metadata name is an operation's HLO text: "%add.1 = f32[8]{0} add(...)". */
static bool is_hlo(pb_range name)
{
    for (const unsigned char *p = name.p; name.end - p >= 3; p++)
        if (memcmp(p, " = ", 3) == 0)
            return true;
    return false;
}

/* The name and the arguments that metadata give their events, once. */
static bool describe(xplane *x, uint32_t at)
{
    pb_range message = x->events.message[at], name = {message.p, message.p}, display = name;
    trace_device_time unused = {-1, -1};
    bool any = false;
    trace_args a;
    pb_field f;
    int got;

    trace_args_clear(&a);
    while ((got = next(x, &message, &f)) > 0) {
        if (FIELD_OF(f) == METADATA_NAME)
            name = f.bytes;
        else if (FIELD_OF(f) == METADATA_DISPLAY_NAME)
            display = f.bytes;
        else if (FIELD_OF(f) == METADATA_STAT && !apply_stat(x, f.bytes, &a, &unused, &any))
            return false;
    }
    if (got < 0 || !add_name(x, is_empty(display) ? name : display, &x->name[at]))
        return false;
    if (a.long_name == DSE_NONE && is_hlo(name)) {
        any = true;
        if (!add_name(x, name, &a.long_name))
            return false;
    }
    x->args[at] = any ? trace_add_args(x->r, &a) : DSE_NONE;
    return !any || x->args[at] != DSE_NONE || nomem(x);
}

static bool read_event_stats(xplane *x, pb_range event, trace_event *e, trace_device_time *t)
{
    bool any = false;
    trace_args a;
    pb_field f;

    if (e->args == DSE_NONE)
        trace_args_clear(&a);
    else
        memcpy(&a, &x->r->args[e->args], sizeof a);
    while (next(x, &event, &f) > 0) /* it was read before: it does not fail */
        if (FIELD_OF(f) == EVENT_STAT && !apply_stat(x, f.bytes, &a, t, &any))
            return false;
    if (any && (e->args = trace_add_args(x->r, &a)) == DSE_NONE)
        return nomem(x);
    return true;
}

static bool add_event(xplane *x, const trace_event *e, trace_device_time t)
{
    trace_rank *r = x->r;
    int64_t end = e->start_ps + e->dur_ps;

    if (!trace_add_event(r, e) ||
        (t.dur_ps >= 0 && t.offset_ps >= 0 && !trace_set_device_time(r, r->n_events - 1, t)))
        return nomem(x);
    r->all_first_ps = e->start_ps < r->all_first_ps ? e->start_ps : r->all_first_ps;
    r->all_last_ps = end > r->all_last_ps ? end : r->all_last_ps;
    return true;
}

/* The start from the line's timestamp and the event's offset; false if it is not to be held. */
static bool place(const xplane *x, int64_t line_ns, int64_t offset_ps, trace_event *e)
{
    int64_t ps, end;

    return e->dur_ps >= 0 && !__builtin_sub_overflow(line_ns, x->r->base_ns, &ps) &&
           !__builtin_mul_overflow(ps, TRACE_PS_PER_NS, &ps) &&
           !__builtin_add_overflow(ps, offset_ps, &e->start_ps) &&
           !__builtin_add_overflow(e->start_ps, e->dur_ps, &end);
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

    while ((got = next(x, &event, &f)) > 0)
        switch (FIELD_OF(f)) {
        case EVENT_METADATA_ID: at = find_id(&x->events, (int64_t)f.value); break;
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
        if (x->name[at] == NOT_READ && !describe(x, at))
            return false;
        e.name = x->name[at];
        e.args = x->args[at];
    }
    return (!has_stats || read_event_stats(x, again, &e, &t)) && add_event(x, &e, t);
}

/* ---- lines and planes ---------------------------------------------------------------------- */

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
    while ((got = next(x, &line, &f)) > 0)
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

static uint32_t add_number(xplane *x, int64_t v)
{
    char text[32];
    int n = snprintf(text, sizeof text, "%" PRId64, v);

    return trace_names_add(&x->r->names, text, (size_t)n);
}

/* A line is a lane of its own, even if a damaged or foreign file uses its number twice. */
static bool add_lane(xplane *x, uint32_t plane, const line_head *h)
{
    trace_rank *r = x->r;
    trace_lane lane = {.pid = add_number(x, plane), .tid = add_number(x, h->id)};

    if (lane.pid == DSE_NONE || lane.tid == DSE_NONE ||
        !DSE_GROW(r->lane, r->cap_lanes, (size_t)r->n_lanes + 1))
        return nomem(x);
    if (!add_name(x, x->plane_name, &lane.process_name) ||
        !add_name(x, is_empty(h->name) ? h->display_name : h->name, &lane.thread))
        return false;
    x->lane = r->n_lanes;
    r->lane[r->n_lanes++] = lane;
    return true;
}

static bool read_line(xplane *x, uint32_t plane, pb_range line)
{
    line_head h;
    pb_field f;

    if (!read_line_head(x, line, &h))
        return false;
    if (!h.has_events)
        return true;
    if (!add_lane(x, plane, &h))
        return false;
    while (next(x, &line, &f) > 0) /* it was read before: it does not fail */
        if (FIELD_OF(f) == LINE_EVENT && !read_event(x, f.bytes, h.timestamp_ns))
            return false;
    return true;
}

static bool read_plane(xplane *x, uint32_t plane, pb_range message)
{
    pb_field f;

    if (!read_metadata(x, message))
        return false;
    while (next(x, &message, &f) > 0) /* it was read before: it does not fail */
        if (FIELD_OF(f) == PLANE_LINE && !read_line(x, plane, f.bytes))
            return false;
    return true;
}

/* ---- the file ------------------------------------------------------------------------------ */

/* The earliest line of a plane: devices may count from their start and the host since 1970, so that a number for both
 * is found only around one of them. */
static bool earliest_line(xplane *x, pb_range plane, bool *is_device, int64_t *ns)
{
    static const char device[] = "/device:";
    pb_field f;
    int got;

    *ns = INT64_MAX;
    *is_device = false;
    while ((got = next(x, &plane, &f)) > 0) {
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

    while ((got = next(x, &space, &f)) > 0) {
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
    x->r->base_ns = ns == INT64_MAX ? 0 : ns;
    return got == 0;
}

static bool read_space(xplane *x, pb_range space)
{
    uint32_t n_planes = 0;
    pb_field f;

    if (!find_base(x, space))
        return false;
    if (trace_add_word(x->r, trace_names_add(&x->r->names, "", 0)) != 0 || x->r->word[0] == DSE_NONE)
        return nomem(x);
    while (next(x, &space, &f) > 0) /* it was read before: it does not fail */
        if (FIELD_OF(f) == SPACE_PLANE && !read_plane(x, n_planes++, f.bytes))
            return false;
    if (x->n_left_out)
        trace_warn(x->out, x->path,
                   "byte %td: %" PRIu64
                   " events without a time, of a negative duration or more than 106 days "
                   "from the first are left out; this is the first of them",
                   x->first_left_out - x->begin, x->n_left_out);
    return true;
}

dse_status trace_xplane_parse(const char *path, const void *bytes, size_t n, trace_record *out,
                              dse_error *err)
{
    dse_error first = DSE_ERROR_INIT;
    xplane x = {.path = path, .begin = bytes, .out = out, .err = &first};
    pb_range space = {bytes, (const unsigned char *)bytes + n};
    bool ok = (x.r = trace_record_add_rank(out)) != NULL;

    if (ok) {
        x.r->kind = TRACE_XLA;
        ok = (x.r->path = dse_realloc(NULL, strlen(path) + 1)) != NULL;
    }
    if (ok)
        strcpy(x.r->path, path);
    ok = ok ? read_space(&x, space) : nomem(&x);
    free_ids(&x.events);
    free_ids(&x.stats);
    dse_free(x.name);
    dse_free(x.args);
    dse_free(x.key);
    return ok ? DSE_OK : dse_fail_at(err, first.status, first.where, "%s", first.text);
}

static dse_status xplane_read(const char *path, trace_record *out, dse_error *err)
{
    dse_strbuf bytes;
    dse_status st;

    dse_strbuf_init(&bytes);
    st = trace_read_whole(path, MAX_BYTES, &bytes, err);
    if (st == DSE_OK)
        st = trace_xplane_parse(path, bytes.data, bytes.len, out, err);
    dse_strbuf_free(&bytes);
    return st;
}

/* Begins with a plane, and this with its number or its name, as XLA writes them: no other format here begins so. */
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
