/* The metadata of a plane: names of events, and statistics of all events with that name; see xplane.c. */
#include "trace/xplane_parts.h"

#include <math.h>
#include <string.h>

#define NOT_READ (DSE_NONE - 1) /* of a name: its metadata are not read yet */

enum {
    PLANE_NAME = FIELD(2, PB_BYTES),
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
    STAT_REFERENCE = FIELD(7, PB_VARINT)
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

/* ---- the wire -------------------------------------------------------------------------------- */

int xplane_next(xplane *x, pb_range *message, pb_field *f)
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

uint32_t xplane_add_name(xplane *x, pb_range text)
{
    return trace_names_add_bytes(&x->r->names, text.p, (size_t)(text.end - text.p));
}

/* ---- metadata -------------------------------------------------------------------------------- */

static bool same_id(const void *records, uint32_t id, const void *key)
{
    return ((const xplane_ids *)records)->id[id] == *(const int64_t *)key;
}

uint32_t xplane_find_id(const xplane_ids *m, int64_t id)
{
    return m->n ? dse_idtable_find(&m->table, (uint32_t)dse_hash_u64((uint64_t)id), same_id, m, &id)->id
                : DSE_NONE;
}

static void put_id(xplane_ids *m, int64_t id, pb_range message)
{
    uint32_t hash = (uint32_t)dse_hash_u64((uint64_t)id);
    dse_idslot *slot;

    dse_idtable_reserve(&m->table); /* n is below 2^31, as the file's bytes are */
    DSE_GROW(m->id, m->cap_id, m->n + 1);
    DSE_GROW(m->message, m->cap_message, m->n + 1);
    slot = dse_idtable_find(&m->table, hash, same_id, m, &id);
    if (slot->id != DSE_NONE) {
        m->message[slot->id] = message;
        return;
    }
    m->id[m->n] = id;
    m->message[m->n] = message;
    dse_idtable_put(&m->table, slot, hash, (uint32_t)m->n++);
}

static void clear_ids(xplane_ids *m)
{
    m->n = 0;
    dse_idtable_free(&m->table); /* clearing a large plane's table for each of many small planes is slow */
}

static void free_ids(xplane_ids *m)
{
    dse_free(m->id);
    dse_free(m->message);
    dse_idtable_free(&m->table);
}

static bool read_map_entry(xplane *x, xplane_ids *m, pb_range entry)
{
    pb_range value = {entry.p, entry.p};
    int64_t id = 0;
    pb_field f;
    int got;

    while ((got = xplane_next(x, &entry, &f)) > 0) {
        if (FIELD_OF(f) == MAP_KEY)
            id = (int64_t)f.value;
        else if (FIELD_OF(f) == MAP_VALUE)
            value = f.bytes;
    }
    if (got == 0)
        put_id(m, id, value);
    return got == 0;
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
static bool name_stats(xplane *x)
{
    DSE_GROW(x->key, x->cap_key, x->stats.n);
    for (size_t i = 0; i < x->stats.n; i++) {
        pb_range message = x->stats.message[i], name = {message.p, message.p};
        pb_field f;
        int got;

        while ((got = xplane_next(x, &message, &f)) > 0)
            if (FIELD_OF(f) == METADATA_NAME)
                name = f.bytes;
        if (got < 0)
            return false;
        x->stats.message[i] = name;
        x->key[i] = (uint8_t)key_of(name);
    }
    return true;
}

bool xplane_read_metadata(xplane *x, pb_range plane)
{
    pb_field f;
    int got;

    clear_ids(&x->events);
    clear_ids(&x->stats);
    x->plane_name = (pb_range){plane.p, plane.p};
    while ((got = xplane_next(x, &plane, &f)) > 0) {
        if (FIELD_OF(f) == PLANE_NAME)
            x->plane_name = f.bytes;
        else if (FIELD_OF(f) == PLANE_EVENT_METADATA && !read_map_entry(x, &x->events, f.bytes))
            return false;
        else if (FIELD_OF(f) == PLANE_STAT_METADATA && !read_map_entry(x, &x->stats, f.bytes))
            return false;
    }
    if (got < 0 || !name_stats(x))
        return false;
    DSE_GROW(x->name, x->cap_name, x->events.n);
    DSE_GROW(x->args, x->cap_args, x->events.n);
    for (size_t i = 0; i < x->events.n; i++)
        x->name[i] = NOT_READ;
    return true;
}

/* ---- statistics ------------------------------------------------------------------------------ */

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
    while ((got = xplane_next(x, &stat, &f)) > 0)
        switch (FIELD_OF(f)) {
        case STAT_METADATA_ID:
            at = xplane_find_id(&x->stats, (int64_t)f.value);
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
            at = xplane_find_id(&x->stats, (int64_t)f.value);
            if (at != DSE_NONE)
                *v = (stat_value){.kind = VALUE_TEXT, .text = x->stats.message[at]};
            break;
        default: break;
        }
    return got == 0;
}

/* The count in a number or a text of digits, as in the Chrome trace; TRACE_UNKNOWN if it is neither. */
static uint64_t count_of(const stat_value *v)
{
    uint64_t count = 0;

    if (v->kind == VALUE_COUNT)
        return v->count;
    if (v->kind == VALUE_DOUBLE)
        return v->number >= 0 && v->number < 0x1p63 ? (uint64_t)v->number : TRACE_UNKNOWN;
    if (v->kind == VALUE_NONE || xplane_is_empty(v->text))
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

bool xplane_apply_stat(xplane *x, pb_range stat, trace_args *a, trace_device_time *t, bool *any)
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
    case KEY_DEVICE_OFFSET:
        t->offset_ps = count_of(&v) > TRACE_MAX_PS ? -1 : (int64_t)count_of(&v);
        return true;
    case KEY_DEVICE_DURATION:
        t->dur_ps = count_of(&v) > TRACE_MAX_PS ? -1 : (int64_t)count_of(&v);
        return true;
    default: return true;
    }
    *any = true;
    if (text && v.kind == VALUE_TEXT)
        *text = xplane_add_name(x, v.text);
    return true;
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

bool xplane_describe(xplane *x, uint32_t at)
{
    pb_range message = x->events.message[at], name = {message.p, message.p}, display = name;
    trace_device_time unused = {-1, -1};
    bool any = false;
    trace_args a;
    pb_field f;
    int got;

    if (x->name[at] != NOT_READ)
        return true;
    trace_args_clear(&a);
    while ((got = xplane_next(x, &message, &f)) > 0) {
        if (FIELD_OF(f) == METADATA_NAME)
            name = f.bytes;
        else if (FIELD_OF(f) == METADATA_DISPLAY_NAME)
            display = f.bytes;
        else if (FIELD_OF(f) == METADATA_STAT && !xplane_apply_stat(x, f.bytes, &a, &unused, &any))
            return false;
    }
    if (got < 0)
        return false;
    x->name[at] = xplane_add_name(x, xplane_is_empty(display) ? name : display);
    if (a.long_name == DSE_NONE && is_hlo(name)) {
        any = true;
        a.long_name = xplane_add_name(x, name);
    }
    x->args[at] = any ? trace_add_args(x->r, &a) : DSE_NONE;
    return true;
}

void xplane_free_metadata(xplane *x)
{
    free_ids(&x->events);
    free_ids(&x->stats);
    dse_free(x->name);
    dse_free(x->args);
    dse_free(x->key);
}
