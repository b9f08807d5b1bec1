/* Chrome traces: PyTorch's profiler (Kineto), XLA's and JAX's, and our own timelines; JSON, plain or gzip.
 *
 * The file is read once, front to back, and only the record is kept. If it ends early, or is not JSON from
 * some byte on, all complete events before that byte are used, and a warning names the byte. */
#include "trace/chrome.h"
#include "trace/reader.h"

#include <inttypes.h>

/* ---- keys beside the events ------------------------------------------------------------------ */

#define SKIP UINT8_MAX /* of a key that is in no row of a table */

static uint8_t what_of(const chrome_reader *r, const trace_json_key_row *row, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (trace_json_is(&r->json, row[i].key))
            return row[i].what;
    return SKIP;
}

#define WHAT_OF(r, rows) what_of(r, rows, sizeof rows / sizeof rows[0])

/* Enters the next object of an array; skips other items. */
static bool next_object(chrome_reader *r)
{
    while (trace_json_item(&r->json))
        if (trace_json_enter(&r->json, TRACE_JSON_OBJECT))
            return true;
    return false;
}

/* 0: unknown. */
static uint32_t small_of(chrome_reader *r)
{
    uint64_t v = chrome_whole_of(r, DSE_NONE - 1);

    return v == UINT64_MAX ? 0 : (uint32_t)v;
}

enum { D_NAME, D_MEMORY, D_SMS, D_MAJOR, D_MINOR };

static const trace_json_key_row device_rows[] = {{"name", D_NAME, 0},
                                                 {"totalGlobalMem", D_MEMORY, 0},
                                                 {"numSms", D_SMS, 0},
                                                 {"computeMajor", D_MAJOR, 0},
                                                 {"computeMinor", D_MINOR, 0}};

static trace_device read_device(chrome_reader *r)
{
    trace_device d = {.name = DSE_NONE};

    while (trace_json_key(&r->json)) {
        uint64_t v;

        switch (WHAT_OF(r, device_rows)) {
        case D_NAME: d.name = chrome_name_of(r); break;
        case D_MEMORY:
            v = chrome_whole_of(r, UINT64_MAX - 1);
            d.memory_bytes = v == UINT64_MAX ? 0 : v;
            break;
        case D_SMS: d.n_sms = small_of(r); break;
        case D_MAJOR: d.major = small_of(r); break;
        case D_MINOR: d.minor = small_of(r); break;
        default: trace_json_skip(&r->json);
        }
    }
    return d;
}

static void read_devices(chrome_reader *r)
{
    trace_rank *rank = r->rank;

    if (!trace_json_enter(&r->json, TRACE_JSON_ARRAY))
        return;
    while (next_object(r)) {
        DSE_GROW(rank->device, rank->cap_devices, rank->n_devices + 1);
        rank->device[rank->n_devices++] = read_device(r);
    }
}

enum { G_NAME, G_DESC, G_SIZE, G_RANKS };

static const trace_json_key_row group_rows[] = {
    {"pg_name", G_NAME, 0}, {"pg_desc", G_DESC, 0}, {"pg_size", G_SIZE, 0}, {"ranks", G_RANKS, 0}};

static trace_group read_group(chrome_reader *r)
{
    trace_group g = {DSE_NONE, DSE_NONE, DSE_NONE, 0};

    while (trace_json_key(&r->json))
        switch (WHAT_OF(r, group_rows)) {
        case G_NAME: g.name = chrome_name_of(r); break;
        case G_DESC: g.desc = chrome_name_of(r); break;
        case G_SIZE: g.size = small_of(r); break;
        case G_RANKS: g.ranks = chrome_name_of(r); break;
        default: trace_json_skip(&r->json);
        }
    return g;
}

static void read_groups(chrome_reader *r)
{
    trace_rank *rank = r->rank;

    if (!trace_json_enter(&r->json, TRACE_JSON_ARRAY))
        return;
    while (next_object(r)) {
        DSE_GROW(rank->group, rank->cap_groups, rank->n_groups + 1);
        rank->group[rank->n_groups++] = read_group(r);
    }
}

enum { I_RANK, I_WORLD, I_GROUPS };

static const trace_json_key_row info_rows[] = {
    {"rank", I_RANK, 0}, {"world_size", I_WORLD, 0}, {"pg_config", I_GROUPS, 0}};

static void read_distributed_info(chrome_reader *r)
{
    uint64_t v;

    if (!trace_json_enter(&r->json, TRACE_JSON_OBJECT))
        return;
    while (trace_json_key(&r->json))
        switch (WHAT_OF(r, info_rows)) {
        case I_RANK:
            v = chrome_whole_of(r, DSE_NONE - 1);
            r->rank->has_rank = v != UINT64_MAX;
            r->rank->rank = v != UINT64_MAX ? (uint32_t)v : 0;
            break;
        case I_WORLD: r->rank->world_size = small_of(r); break;
        case I_GROUPS: read_groups(r); break;
        default: trace_json_skip(&r->json);
        }
}

/* ---- the file -------------------------------------------------------------------------------- */

enum { T_EVENTS, T_INFO, T_DEVICES, T_BASE, T_SIMULATOR, T_WORLD, T_SIZES, T_PEAKS };

static const trace_json_key_row top_rows[] = {
    {"traceEvents", T_EVENTS, 0},
    {"distributedInfo", T_INFO, 0},
    {"deviceProperties", T_DEVICES, 0},
    {"baseTimeNanoseconds", T_BASE, 0},
    {"simulator", T_SIMULATOR, 0},
    {"world_size", T_WORLD, 0},
    {"sizes", T_SIZES, 0},
    {"peak_memory", T_PEAKS, 0},
};

static void read_peaks(chrome_reader *r)
{
    if (!trace_json_enter(&r->json, TRACE_JSON_ARRAY))
        return;
    while (trace_json_item(&r->json)) {
        DSE_GROW(r->peak, r->cap_peaks, r->n_peaks + 1);
        r->peak[r->n_peaks++] = chrome_whole_of(r, UINT64_MAX - 1); /* UINT64_MAX is TRACE_UNKNOWN */
    }
}

static void read_top(chrome_reader *r)
{
    uint64_t v;

    while (trace_json_key(&r->json))
        switch (WHAT_OF(r, top_rows)) {
        case T_EVENTS:
            if (trace_json_enter(&r->json, TRACE_JSON_ARRAY))
                chrome_read_events(r);
            break;
        case T_INFO: read_distributed_info(r); break;
        case T_DEVICES: read_devices(r); break;
        case T_BASE:
            v = chrome_whole_of(r, UINT64_MAX - 1);
            r->base_time_ns = v == UINT64_MAX ? 0 : v > TRACE_MAX_NS ? TRACE_MAX_NS + 1 : (int64_t)v;
            break;
        case T_SIMULATOR:
            r->is_simulated =
                trace_json_enter(&r->json, TRACE_JSON_STRING) && trace_json_is(&r->json, "ccldse");
            break;
        case T_WORLD: r->world_size = small_of(r); break;
        case T_SIZES:
            r->in_bytes = trace_json_enter(&r->json, TRACE_JSON_STRING) && trace_json_is(&r->json, "bytes");
            break;
        case T_PEAKS: read_peaks(r); break;
        default: trace_json_skip(&r->json);
        }
}

#define USED "complete events before it, which are used: %" PRIu64

static void warn_of_fault(chrome_reader *r, const char *path)
{
    const trace_json *j = &r->json;

    if (*j->source->broken)
        trace_warn(r->record, path, "byte %" PRIu64 ": %s; " USED, j->fault_at, j->source->broken, r->n_read);
    else if (j->fault == TRACE_JSON_ENDED)
        trace_warn(r->record, path, "byte %" PRIu64 ": the file is cut off (%s); " USED, j->fault_at, j->why,
                   r->n_read);
    else
        trace_warn(r->record, path, "byte %" PRIu64 ": %s; " USED, j->fault_at, j->why, r->n_read);
}

/* Warns of everything that was left out or replaced. */
static void warn(chrome_reader *r, const char *path)
{
    const trace_json *j = &r->json;
    const struct {
        uint64_t n, at;
        const char *what;
    } met[] = {
        {r->backwards.n, r->backwards.first, "events left out because their duration is negative"},
        {r->out_of_range.n, r->out_of_range.first,
         "events left out because their times are no numbers, or more than 53 days from the first"},
        {r->device_times.n, r->device_times.first,
         "device times left out because they are no whole numbers of picoseconds, or more than 26 days"},
        {r->correlations.n, r->correlations.first,
         "events whose correlation is left out because it is no number of 32 bits"},
        {j->n_invalid, j->invalid_at, "texts that are not valid UTF-8, and have U+FFFD where they are not"},
        {j->n_cut, j->cut_at, "texts that are too long, and were cut"},
    };

    if (j->fault)
        warn_of_fault(r, path);
    else if (*j->source->broken)
        trace_warn(r->record, path, "%s; " USED, j->source->broken, r->n_read);
    for (size_t i = 0; i < sizeof met / sizeof met[0]; i++)
        if (met[i].n)
            trace_warn(r->record, path, "byte %" PRIu64 ": %s: %" PRIu64 " (this is the first)", met[i].at,
                       met[i].what, met[i].n);
}

/* The error of a file without any usable event. */
static dse_status refuse(const chrome_reader *r, const char *path, dse_error *err)
{
    const trace_json *j = &r->json;
    dse_error where = DSE_ERROR_INIT;

    snprintf(where.where, sizeof where.where, "%.200s: byte %" PRIu64, path,
             j->fault ? j->fault_at : trace_json_offset(j));
    if (*j->source->broken)
        return dse_fail_at(err, DSE_E_IO, where.where, "%s, before the first event", j->source->broken);
    if (j->fault == TRACE_JSON_ENDED)
        return dse_fail_at(err, DSE_E_SYNTAX, where.where, "the file ends before the first event");
    if (j->fault)
        return dse_fail_at(err, DSE_E_SYNTAX, where.where, "not a Chrome trace: %s", j->why);
    return dse_fail_at(err, DSE_E_SYNTAX, path, "not a Chrome trace: it has no list 'traceEvents'");
}

static void read_all(chrome_reader *r, const char *path)
{
    trace_json_kind kind = trace_json_value(&r->json);

    if (kind == TRACE_JSON_ARRAY)
        chrome_read_events(r);
    else if (kind == TRACE_JSON_OBJECT)
        read_top(r);
    if (trace_json_follows(&r->json))
        trace_warn(r->record, path, "byte %" PRIu64 ": something follows the end of the trace; it is ignored",
                   trace_json_offset(&r->json));
}

/* Frees the unused capacity of the events. */
static void tighten(trace_rank *rank)
{
    if (rank->device_time || rank->n_events == rank->cap_events)
        return; /* trace_device_time_of looks at the capacity */
    rank->event = dse_realloc(rank->event, rank->n_events * sizeof *rank->event);
    rank->cap_events = rank->n_events;
}

static dse_status finish(chrome_reader *r, const char *path, dse_error *err)
{
    trace_rank *rank = r->rank;

    if (!r->has_events || (r->json.fault && !r->n_read))
        return refuse(r, path, err);
    rank->kind = r->is_simulated ? TRACE_SIMULATED : r->is_xla ? TRACE_XLA : TRACE_KINETO;
    rank->base_ns += r->base_time_ns; /* each at most TRACE_MAX_NS */
    if (rank->base_ns > TRACE_MAX_NS)
        return dse_fail_at(err, DSE_E_RANGE, path,
                           "'baseTimeNanoseconds' and the events' times together are out of range");
    chrome_name_lanes(r);
    tighten(rank);
    warn(r, path);
    if (r->is_simulated)
        chrome_split_ranks(r, path);
    return DSE_OK;
}

dse_status trace_chrome_parse(trace_source *source, const char *path, trace_record *out, dse_error *err)
{
    chrome_reader r = {.record = out, .rank = trace_record_add_file(out, TRACE_KINETO, path)};
    dse_status st;

    trace_json_init(&r.json, source);
    chrome_events_init(&r);
    read_all(&r, path);
    st = finish(&r, path, err);
    chrome_events_free(&r);
    trace_json_free(&r.json);
    return st;
}

static dse_status chrome_read(const char *path, trace_record *out, dse_error *err)
{
    return trace_read_stream(trace_chrome_parse, path, out, err);
}

static bool is_chrome(const char *head, size_t n)
{
    return n &&
           (strstr(head, "\"traceEvents\"") || strstr(head, "\"ph\"") || strstr(head, "\"schemaVersion\""));
}

extern const trace_reader trace_reader_chrome;
const trace_reader trace_reader_chrome = {"chrome", "Chrome trace (Kineto, XLA, simulated)", is_chrome,
                                          chrome_read};
