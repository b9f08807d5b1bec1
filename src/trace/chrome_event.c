/* Events of Chrome traces. Keys come in any order, so an event is interpreted only after all of them were
 * read. */
#include "base/array.h"
#include "trace/chrome.h"
#include "trace/json_fields.h"

#include <math.h>

/* An event as read. */
typedef struct {
    uint64_t at; /* byte */
    char ph;
    bool has_ts, has_dur;
    bool wrong_ts, wrong_dur; /* present but not a usable number */
    trace_decimal ts, dur;
    uint32_t name, pid, tid, cat, meta_name;
    uint32_t correlation;
    bool has_args;   /* chrome_reader.args is filled */
    bool has_change; /* chrome_reader.change is */
    bool wrong_correlation;
    trace_device_time device_time;
} chrome_event;

/* ---- values of args -------------------------------------------------------------------------- */

enum {
    A_NAME,
    A_DIMS,
    A_WHOLE,
    A_COUNT,
    A_SMALL,
    A_GROUP_SIZE,
    A_REAL,
    A_CORRELATION,
    A_DEVICE_OFFSET,
    A_DEVICE_DUR,
    A_CHANGE,
    A_META
};

#define FIELD(f)  offsetof(trace_args, f)
#define CHANGE(f) offsetof(trace_memory_change, f)

static const trace_json_key_row args_rows[] = {
    {"correlation", A_CORRELATION, 0},
    {"correlation_id", A_CORRELATION, 0}, /* of XLA */
    {"stream", A_SMALL, FIELD(stream)},
    {"device", A_SMALL, FIELD(device)},
    {"bytes", A_WHOLE, FIELD(bytes)},
    {"blocks per SM", A_REAL, FIELD(blocks_per_sm)},
    {"est. achieved occupancy %", A_REAL, FIELD(occupancy_pct)},
    {"kernel_class", A_NAME, FIELD(kernel_class)},
    {"m", A_WHOLE, FIELD(m)},
    {"n", A_WHOLE, FIELD(n)},
    {"k", A_WHOLE, FIELD(k)},
    {"batch", A_WHOLE, FIELD(batch)},
    {"Input Dims", A_DIMS, FIELD(input_dims)},
    {"Input dims", A_DIMS, FIELD(input_dims)},
    {"Input type", A_NAME, FIELD(input_types)},
    {"Input Type", A_NAME, FIELD(input_types)},
    {"Collective name", A_NAME, FIELD(collective)},
    {"dtype", A_NAME, FIELD(dtype)},
    {"Process Group Name", A_NAME, FIELD(group_name)},
    {"Process Group Description", A_NAME, FIELD(group_desc)},
    {"Process Group Ranks", A_NAME, FIELD(group_ranks)},
    {"Group size", A_GROUP_SIZE, FIELD(group_size)},
    {"In msg nelems", A_WHOLE, FIELD(in_elements)},
    {"Out msg nelems", A_WHOLE, FIELD(out_elements)},
    {"hlo_category", A_NAME, FIELD(hlo_category)},
    {"long_name", A_NAME, FIELD(long_name)},
    {"shape_with_layout", A_NAME, FIELD(shape)},
    {"bytes_accessed", A_COUNT, FIELD(bytes_accessed)},
    {"raw_bytes_accessed", A_COUNT, FIELD(raw_bytes_accessed)},
    {"model_flops", A_REAL, FIELD(model_flops)},
    {"device_offset_ps", A_DEVICE_OFFSET, 0},
    {"device_duration_ps", A_DEVICE_DUR, 0},
    {"Bytes", A_CHANGE, CHANGE(bytes)},
    {"Addr", A_CHANGE, CHANGE(address)},
    {"Total Allocated", A_CHANGE, CHANGE(allocated)},
    {"Total Reserved", A_CHANGE, CHANGE(reserved)},
    {"Device Type", A_CHANGE, CHANGE(device_type)},
    {"Device Id", A_CHANGE, CHANGE(device)},
    {"name", A_META, 0},
};

/* XLA's profiler writes a count as a number, whose fraction is dropped, or as a text of digits only (spec,
 * section 6). */
static uint64_t count_of(chrome_reader *r, uint64_t max)
{
    trace_json_kind kind = trace_json_value(&r->json);
    const char *text = r->json.text;
    size_t n = r->json.length, digits = 0;
    trace_decimal d;
    uint64_t v;

    if (!trace_json_scalar(&r->json, kind))
        return UINT64_MAX;
    while (digits < n && text[digits] >= '0' && text[digits] <= '9')
        digits++;
    if (digits == n || kind == TRACE_JSON_STRING)
        return digits == n ? trace_whole_of(text, n, max) : UINT64_MAX;
    v = trace_decimal_of(text, n, &d) && d.whole >= 0 && d.millionths >= 0 ? (uint64_t)d.whole : UINT64_MAX;
    return v <= max ? v : UINT64_MAX;
}

static double real_of(chrome_reader *r)
{
    const char *from;
    trace_decimal d;

    trace_json_peek(&r->json);
    from = r->json.at;
    if (trace_json_decimal(&r->json, &d)) {
        if (d.whole < 1000000000) /* the dividend is a double exactly, so that one division rounds once */
            return (double)(d.whole * 1000000 + d.millionths) / 1e6;
        r->json.at = from;
    }
    return trace_json_scalar(&r->json, trace_json_value(&r->json))
               ? trace_double_of(r->json.text, r->json.length)
               : NAN;
}

static uint32_t intern(chrome_reader *r, const char *text, size_t n)
{
    return trace_names_add(&r->rank->names, text, n);
}

static void count(chrome_count *c, uint64_t at)
{
    if (!c->n++)
        c->first = at;
}

static void read_correlation(chrome_reader *r, chrome_event *e)
{
    trace_decimal d;
    uint64_t v;

    e->correlation = 0;
    e->wrong_correlation = false;
    trace_json_peek(&r->json);
    if (trace_json_decimal(&r->json, &d)) {
        e->wrong_correlation = d.whole > UINT32_MAX || d.millionths;
        e->correlation = e->wrong_correlation ? 0 : (uint32_t)d.whole;
        return;
    }
    if (!trace_json_scalar(&r->json, trace_json_value(&r->json)))
        return;
    v = trace_whole_of(r->json.text, r->json.length, UINT64_MAX - 1);
    if (v <= UINT32_MAX)
        e->correlation = (uint32_t)v;
    else
        e->wrong_correlation = true;
}

#define MAX_DIMS  400 /* bytes of a text of sizes; longer ones are of lists of tensors */
#define MAX_DEPTH 4

#define MAX_CHANGE ((int64_t)1 << 50)

/* Appends an array of arrays of numbers, without blanks. */
static void append_dims(chrome_reader *r, int depth)
{
    bool any = false;

    dse_strbuf_addc(&r->dims, '[');
    while (trace_json_item(&r->json)) {
        trace_json_kind kind = trace_json_value(&r->json);

        if (any)
            dse_strbuf_addc(&r->dims, ',');
        any = true;
        if (kind == TRACE_JSON_ARRAY && depth < MAX_DEPTH && r->dims.len < MAX_DIMS)
            append_dims(r, depth + 1);
        else if (trace_json_scalar(&r->json, kind))
            dse_strbuf_add(&r->dims, r->json.text, r->json.length);
    }
    dse_strbuf_addc(&r->dims, ']');
}

/* Sizes of the inputs of an operator; DSE_NONE: it is no list, or too long. */
static uint32_t dims_of(chrome_reader *r)
{
    trace_json_kind kind = trace_json_value(&r->json);

    if (kind != TRACE_JSON_ARRAY) {
        trace_json_scalar(&r->json, kind);
        return DSE_NONE;
    }
    dse_strbuf_clear(&r->dims);
    append_dims(r, 1);
    return r->dims.len <= MAX_DIMS ? intern(r, r->dims.data, r->dims.len) : DSE_NONE;
}

/* The fields of trace_args are of four types. */
static void read_field(chrome_reader *r, const trace_json_key_row *row, chrome_event *e)
{
    char *field;

    if (!e->has_args)
        trace_args_clear(&r->args);
    e->has_args = true;
    field = (char *)&r->args + row->offset;
    switch (row->what) {
    case A_NAME: *(uint32_t *)(void *)field = trace_json_name(&r->json, &r->rank->names); break;
    case A_DIMS: *(uint32_t *)(void *)field = dims_of(r); break;
    case A_WHOLE: *(uint64_t *)(void *)field = trace_json_whole(&r->json, UINT64_MAX - 1); break;
    case A_COUNT: *(uint64_t *)(void *)field = count_of(r, UINT64_MAX - 1); break;
    case A_REAL: *(double *)(void *)field = real_of(r); break;
    default: /* UINT64_MAX becomes DSE_NONE */
        *(uint32_t *)(void *)field = (uint32_t)trace_json_whole(&r->json, DSE_NONE - 1);
        if (row->what == A_GROUP_SIZE && r->args.group_size == DSE_NONE)
            r->args.group_size = 0;
    }
}

/* The fields of trace_memory_change that the file gives are whole numbers, of which only the bytes may be
 * below 0; a petabyte is out of any device's reach. */
static void read_change(chrome_reader *r, const trace_json_key_row *row, chrome_event *e)
{
    trace_json_kind kind;
    trace_decimal d;

    if (!e->has_change)
        r->change = (trace_memory_change){
            .address = -1, .allocated = -1, .reserved = -1, .device_type = -1, .device = -1};
    e->has_change = true;
    kind = trace_json_value(&r->json);
    if (trace_json_scalar(&r->json, kind) && trace_decimal_of(r->json.text, r->json.length, &d) &&
        (row->offset == CHANGE(address) || (d.whole < MAX_CHANGE && d.whole > -MAX_CHANGE)))
        *(int64_t *)(void *)((char *)&r->change + row->offset) = d.whole;
}

static void read_args(chrome_reader *r, chrome_event *e)
{
    trace_json_kind kind = trace_json_value(&r->json);
    uint64_t v;
    uint8_t n;

    if (kind != TRACE_JSON_OBJECT) {
        trace_json_scalar(&r->json, kind);
        return;
    }
    trace_json_guess_begin(&r->args_keys, e->cat % TRACE_JSON_KINDS);
    while ((n = trace_json_guess_key(&r->args_keys, &r->json)) != TRACE_JSON_NO_KEY) {
        const trace_json_key_row *row;

        if (n == TRACE_JSON_OTHER_KEY) {
            trace_json_skip(&r->json);
            continue;
        }
        row = &args_rows[n];
        switch (row->what) {
        case A_CORRELATION: read_correlation(r, e); break;
        case A_CHANGE: read_change(r, row, e); break;
        case A_META: e->meta_name = trace_json_name(&r->json, &r->rank->names); break;
        case A_DEVICE_OFFSET:
        case A_DEVICE_DUR:
            v = count_of(r, TRACE_MAX_PS / 2); /* so that offset + duration does not overflow */
            if (v == UINT64_MAX)
                count(&r->device_times, e->at);
            *(row->what == A_DEVICE_DUR ? &e->device_time.dur_ps : &e->device_time.offset_ps) = (int64_t)v;
            break;
        default: read_field(r, row, e);
        }
    }
}

/* ---- times ----------------------------------------------------------------------------------- */

static bool read_time(chrome_reader *r, trace_decimal *out, bool *wrong)
{
    trace_json_kind kind;
    bool good;

    *wrong = false;
    trace_json_peek(&r->json);
    if (trace_json_decimal(&r->json, out))
        return true;
    kind = trace_json_value(&r->json);
    good = kind == TRACE_JSON_NUMBER && trace_decimal_of(r->json.text, r->json.length, out);
    *wrong =
        !good && kind != TRACE_JSON_NONE && !(kind == TRACE_JSON_WORD && trace_json_is(&r->json, "null"));
    trace_json_scalar(&r->json, kind);
    return good;
}

static bool relative(const trace_decimal *t, int64_t base_us, int64_t *ps)
{
    int64_t us;

    return !__builtin_sub_overflow(t->whole, base_us, &us) &&
           !__builtin_mul_overflow(us, TRACE_PS_PER_US, ps) &&
           !__builtin_add_overflow(*ps, t->millionths, ps) && trace_is_near(*ps);
}

static bool is_positive(const trace_decimal *t) { return t->whole > 0 || t->millionths > 0; }

/* Times count from the second that the first one is in. It may turn out to be nothing like the events'
 * (metadata of some writers have one of their own), so that the base moves as long as there is no event. */
static bool place(chrome_reader *r, const trace_decimal *ts, int64_t *start_ps)
{
    trace_rank *rank = r->rank;

    if (r->has_base && relative(ts, r->base_us, start_ps))
        return true;
    if (rank->n_events || ts->whole > TRACE_MAX_NS / 1000 || ts->whole < -TRACE_MAX_NS / 1000)
        return false;
    r->base_us = ts->whole / 1000000 * 1000000;
    rank->base_ns = r->base_us * 1000;
    trace_clear_extent(rank);
    r->has_base = true;
    return relative(ts, r->base_us, start_ps);
}

/* The time of an event on the rank's clock; false: it has none that is of use. */
static bool timed(chrome_reader *r, const chrome_event *e, int64_t *start_ps, int64_t *dur_ps)
{
    *dur_ps = 0;
    if (!e->has_ts && !e->wrong_ts)
        return false;
    if (e->wrong_ts || e->wrong_dur || !place(r, &e->ts, start_ps) ||
        (e->has_dur && !relative(&e->dur, 0, dur_ps)) || !trace_is_near(*start_ps + *dur_ps)) {
        count(&r->out_of_range, e->at);
        return false;
    }
    if (*dur_ps < 0) {
        count(&r->backwards, e->at);
        return false;
    }
    trace_extend(r->rank, *start_ps, *start_ps + *dur_ps, is_positive(&e->ts));
    return true;
}

/* ---- lanes ----------------------------------------------------------------------------------- */

static void keep_metadata(chrome_reader *r, const chrome_event *e)
{
    const char *what = TRACE_NAME(r->rank, e->name), *text = TRACE_NAME(r->rank, e->meta_name);
    bool process = what && strcmp(what, "process_name") == 0;
    uint32_t lane;
    bool is_new;

    if (!text || (!process && (!what || strcmp(what, "thread_name") != 0)))
        return;
    lane = trace_add_lane(r->rank, e->pid, e->tid);
    if (!process) {
        r->rank->lane[lane].thread = e->meta_name;
        return;
    }
    *trace_pairs_at(&r->processes, 0, e->pid, &is_new) = e->meta_name;
    r->is_xla = r->is_xla || strncmp(text, "/device:", strlen("/device:")) == 0 ||
                strncmp(text, "/host:", strlen("/host:")) == 0;
}

void chrome_name_lanes(chrome_reader *r)
{
    for (uint32_t i = 0; i < r->rank->n_lanes; i++) {
        uint32_t name = trace_pairs_find(&r->processes, 0, r->rank->lane[i].pid);

        if (name != DSE_NONE)
            r->rank->lane[i].process_name = name;
    }
}

/* ---- events ---------------------------------------------------------------------------------- */

/* The rows' numbers are what to do. */
enum { E_NAME, E_PH, E_CAT, E_TS, E_DUR, E_PID, E_TID, E_ARGS };

static const trace_json_key_row event_rows[] = {
    [E_NAME] = {.key = "name"}, [E_PH] = {.key = "ph"},     [E_CAT] = {.key = "cat"},
    [E_TS] = {.key = "ts"},     [E_DUR] = {.key = "dur"},   [E_PID] = {.key = "pid"},
    [E_TID] = {.key = "tid"},   [E_ARGS] = {.key = "args"},
};

void chrome_events_init(chrome_reader *r)
{
    trace_json_guess_init(&r->event_keys, event_rows, DSE_COUNT(event_rows));
    trace_json_guess_init(&r->args_keys, args_rows, DSE_COUNT(args_rows));
    trace_args_clear(&r->no_args);
    dse_strbuf_init(&r->dims);
}

void chrome_events_free(chrome_reader *r)
{
    dse_free(r->peak);
    dse_strbuf_free(&r->dims);
    trace_pairs_free(&r->processes);
}

/* As trace_json_name, and remembers what was read if its bytes are in the window, are few, and are the
 * text. */
static uint32_t read_value(chrome_reader *r, chrome_value *known)
{
    const char *from = r->json.at;
    const uint64_t window = r->json.source->offset;
    const trace_json_kind kind = trace_json_value(&r->json);
    const bool number = kind == TRACE_JSON_NUMBER;
    chrome_value v = {0};
    size_t length;

    if (!trace_json_scalar(&r->json, kind))
        return DSE_NONE;
    v.id = intern(r, r->json.text, r->json.length);
    length = r->json.source->offset == window ? (size_t)(r->json.at - from) : SIZE_MAX;
    if (length < sizeof v.word && r->json.at < r->json.end && (number || r->json.text == from + 1)) {
        v.length = (uint8_t)length;
        memcpy(v.word, from, length + number);
        memset(v.mask, 0xff, length + number);
        *known = v;
    }
    return v.id;
}

/* The same of what is mostly what it was for an event before. */
static inline uint32_t repeated(chrome_reader *r, chrome_values *known)
{
    uint64_t word[3]; /* so many bytes follow the window */
    chrome_value *v;

    memcpy(word, r->json.at, sizeof word);
    v = &known->value[word[0] * 0x9e3779b97f4a7c15u >> 58];
    if (!v->length || (((word[0] ^ v->word[0]) & v->mask[0]) | ((word[1] ^ v->word[1]) & v->mask[1]) |
                       ((word[2] ^ v->word[2]) & v->mask[2])))
        return read_value(r, v);
    r->json.at += v->length;
    return v->id;
}

static char phase_of(chrome_reader *r)
{
    const char *at = r->json.at;

    if (at[0] == '"' && at[1] > ' ' && at[1] != '\\' && at[1] != '"' && at[2] == '"') {
        r->json.at += 3;
        return at[1];
    }
    return trace_json_scalar(&r->json, trace_json_value(&r->json)) && r->json.length == 1 ? *r->json.text
                                                                                          : '\0';
}

static void read_event(chrome_reader *r, chrome_event *e)
{
    uint8_t n;

    trace_json_guess_begin(&r->event_keys, 0);
    while ((n = trace_json_guess_key(&r->event_keys, &r->json)) != TRACE_JSON_NO_KEY) {
        switch (n) {
        case E_NAME: e->name = trace_json_name(&r->json, &r->rank->names); break;
        case E_PH: e->ph = phase_of(r); break;
        case E_CAT: e->cat = repeated(r, &r->cats); break;
        case E_TS: e->has_ts = read_time(r, &e->ts, &e->wrong_ts); break;
        case E_DUR: e->has_dur = read_time(r, &e->dur, &e->wrong_dur); break;
        case E_PID: e->pid = repeated(r, &r->pids); break;
        case E_TID: e->tid = repeated(r, &r->tids); break;
        case E_ARGS: read_args(r, e); break;
        default: trace_json_skip(&r->json);
        }
    }
}

/* The number of its category's word. */
static uint8_t word_of(chrome_reader *r, uint32_t cat)
{
    trace_rank *rank = r->rank;
    uint32_t known = rank->n_words;
    uint8_t word;

    if (cat == DSE_NONE)
        cat = intern(r, "", 0);
    word = (uint8_t)trace_add_word(rank, cat);
    if (rank->n_words > known)
        r->category[word] = (uint8_t)trace_category_of(rank->names.text[cat], rank->names.length[cat]);
    return word;
}

/* Of the event that was added last, if it says that memory was allocated or freed. */
static void add_change(chrome_reader *r, const chrome_event *e)
{
    trace_rank *rank = r->rank;

    if (e->name == DSE_NONE || strcmp(rank->names.text[e->name], "[memory]") != 0 || !r->change.bytes)
        return;
    r->change.event = (uint32_t)(rank->n_events - 1);
    DSE_GROW(rank->change, rank->cap_changes, rank->n_changes + 1);
    rank->change[rank->n_changes++] = r->change;
}

static void add_event(chrome_reader *r, const chrome_event *e, int64_t start_ps, int64_t dur_ps)
{
    bool instant = e->ph != 'X',
         has_device_time = e->device_time.dur_ps >= 0 || e->device_time.offset_ps >= 0,
         /* NOLINTNEXTLINE(bugprone-suspicious-memory-comparison): no padding; a NaN is to equal itself */
        says_something = e->has_args && memcmp(&r->args, &r->no_args, sizeof r->args) != 0;
    trace_event v = {.start_ps = start_ps,
                     .dur_ps = instant ? 0 : dur_ps,
                     .name = e->name,
                     .lane = trace_add_lane(r->rank, e->pid, e->tid),
                     .args = DSE_NONE,
                     .correlation = e->correlation,
                     .word = word_of(r, e->cat),
                     .instant = instant,
                     .endless = !instant && !e->has_dur};

    v.category = r->category[v.word];
    if (says_something)
        v.args = trace_add_args(r->rank, &r->args);
    trace_add_event(r->rank, &v);
    if (e->has_change)
        add_change(r, e);
    if (has_device_time)
        trace_set_device_time(r->rank, r->rank->n_events - 1, e->device_time);
    r->is_xla = r->is_xla || e->device_time.dur_ps >= 0;
    if (e->wrong_correlation)
        count(&r->correlations, e->at);
}

void chrome_read_events(chrome_reader *r)
{
    r->has_events = true;
    while (trace_json_item(&r->json)) {
        chrome_event e = {.at = trace_json_offset(&r->json),
                          .name = DSE_NONE,
                          .pid = DSE_NONE,
                          .tid = DSE_NONE,
                          .cat = DSE_NONE,
                          .meta_name = DSE_NONE,
                          .device_time = {-1, -1}};
        trace_json_kind kind = trace_json_value(&r->json);
        int64_t start_ps, dur_ps;

        if (kind != TRACE_JSON_OBJECT) {
            trace_json_scalar(&r->json, kind);
            continue;
        }
        read_event(r, &e);
        if (r->json.fault)
            return;
        r->n_read++;
        if (e.ph == 'M')
            keep_metadata(r, &e);
        else if (e.ph == 'B')
            count(&r->open, e.at);
        if (e.ph && timed(r, &e, &start_ps, &dur_ps) && (e.ph == 'X' || e.ph == 'i' || e.ph == 'I'))
            add_event(r, &e, start_ps, dur_ps);
    }
}
