/* Chrome traces: PyTorch's profiler (Kineto), XLA's and JAX's, and our own timelines; JSON, plain or gzip.
 *
 * The file is read once, front to back, and only the record is kept. If it ends early, or is not JSON from
 * some byte on, all complete events before that byte are used, and a warning names the byte. */
#include "trace/chrome.h"
#include "base/array.h"
#include "trace/json_fields.h"
#include "trace/reader.h"
#include "trace/xla_gpu.h"

#include <inttypes.h>

/* ---- keys beside the events ------------------------------------------------------------------ */

static void read_devices(trace_json *j, trace_rank *rank)
{
    static const trace_json_key_row rows[] = {
        {"name", TRACE_FIELD_NAME, offsetof(trace_device, name)},
        {"totalGlobalMem", TRACE_FIELD_WHOLE, offsetof(trace_device, memory_bytes)},
        {"numSms", TRACE_FIELD_SMALL, offsetof(trace_device, n_sms)},
        {"computeMajor", TRACE_FIELD_SMALL, offsetof(trace_device, major)},
        {"computeMinor", TRACE_FIELD_SMALL, offsetof(trace_device, minor)}};

    while (trace_json_next_object(j)) {
        trace_device d = {.name = DSE_NONE};

        trace_json_fields(j, &rank->names, rows, DSE_COUNT(rows), &d);
        DSE_GROW(rank->device, rank->cap_devices, rank->n_devices + 1);
        rank->device[rank->n_devices++] = d;
    }
}

static void read_distributed_info(trace_json *j, trace_rank *rank)
{
    uint64_t v;

    while (trace_json_key(j))
        if (trace_json_is(j, "rank")) {
            v = trace_json_whole(j, DSE_NONE - 1);
            rank->has_rank = v != UINT64_MAX;
            rank->rank = v != UINT64_MAX ? (uint32_t)v : 0;
        } else if (trace_json_is(j, "world_size")) {
            rank->world_size = trace_json_small(j);
        } else if (!trace_json_is(j, "pg_config")) {
            trace_json_skip(j);
        } else if (trace_json_enter(j, TRACE_JSON_ARRAY)) {
            trace_json_groups(j, rank);
        }
}

/* ---- the file -------------------------------------------------------------------------------- */

static void read_peaks(chrome_reader *r)
{
    while (trace_json_item(&r->json)) {
        DSE_GROW(r->peak, r->cap_peaks, r->n_peaks + 1);
        r->peak[r->n_peaks++] = trace_json_whole(&r->json, UINT64_MAX - 1); /* UINT64_MAX is TRACE_UNKNOWN */
    }
}

enum { T_EVENTS, T_INFO, T_DEVICES, T_BASE, T_SIMULATOR, T_WORLD, T_SIZES, T_PEAKS, T_PROFILE };

static const trace_json_key_row top_rows[] = {
    {"traceEvents", T_EVENTS, 0},
    {"distributedInfo", T_INFO, 0},
    {"deviceProperties", T_DEVICES, 0},
    {"baseTimeNanoseconds", T_BASE, 0},
    {"simulator", T_SIMULATOR, 0},
    {"world_size", T_WORLD, 0},
    {"sizes", T_SIZES, 0},
    {"peak_memory", T_PEAKS, 0},
    {"profile", T_PROFILE, 0},
};

static void read_key(chrome_reader *r, const trace_json_key_row *row)
{
    trace_json *j = &r->json;
    uint64_t v;

    switch (row ? row->what : UINT8_MAX) {
    case T_EVENTS:
        if (trace_json_enter(j, TRACE_JSON_ARRAY))
            chrome_read_events(r);
        break;
    case T_INFO:
        if (trace_json_enter(j, TRACE_JSON_OBJECT))
            read_distributed_info(j, r->rank);
        break;
    case T_DEVICES:
        if (trace_json_enter(j, TRACE_JSON_ARRAY))
            read_devices(j, r->rank);
        break;
    case T_BASE:
        v = trace_json_whole(j, UINT64_MAX - 1);
        r->base_time_ns = v == UINT64_MAX ? 0 : v > TRACE_MAX_NS ? TRACE_MAX_NS + 1 : (int64_t)v;
        break;
    case T_SIMULATOR:
        r->is_simulated = trace_json_enter(j, TRACE_JSON_STRING) && trace_json_is(j, "ccldse");
        break;
    case T_PROFILE: r->is_step = trace_json_enter(j, TRACE_JSON_STRING) && trace_json_is(j, "train"); break;
    case T_WORLD: r->world_size = trace_json_small(j); break;
    case T_SIZES: r->in_bytes = trace_json_enter(j, TRACE_JSON_STRING) && trace_json_is(j, "bytes"); break;
    case T_PEAKS:
        if (trace_json_enter(j, TRACE_JSON_ARRAY))
            read_peaks(r);
        break;
    default: trace_json_skip(j);
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
    } faults[] = {
        {r->backwards.n, r->backwards.first, "events left out because their duration is negative"},
        {r->open.n, r->open.first,
         "events left out because they say their begin alone (\"ph\": \"B\", and \"E\" for the end)"},
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
    for (size_t i = 0; i < DSE_COUNT(faults); i++)
        if (faults[i].n)
            trace_warn(r->record, path, "byte %" PRIu64 ": %s: %" PRIu64 " (this is the first)", faults[i].at,
                       faults[i].what, faults[i].n);
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
        while (trace_json_key(&r->json))
            read_key(r, trace_json_row(&r->json, top_rows, DSE_COUNT(top_rows)));
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
    if (r->is_simulated && r->is_step)
        return dse_fail_at(
            err, DSE_E_CONFIG, path,
            "a step of profile train has passes of micro-batches and no kernels, so there is nothing to "
            "compute metrics from; 'ccldse simulate --json' gives its figures");
    rank->kind = r->is_simulated ? TRACE_SIMULATED : r->is_xla ? TRACE_XLA : TRACE_KINETO;
    rank->base_ns += r->base_time_ns; /* each at most TRACE_MAX_NS */
    if (rank->base_ns > TRACE_MAX_NS)
        return dse_fail_at(err, DSE_E_RANGE, path,
                           "'baseTimeNanoseconds' and the events' times together are out of range");
    chrome_name_lanes(r);
    if (rank->kind == TRACE_KINETO)
        trace_adopt_device_events(rank);
    tighten(rank);
    warn(r, path);
    if (r->is_simulated)
        chrome_split_ranks(r, path);
    else if (r->is_xla)
        trace_xla_split_gpus(r->record, path);
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

static bool is_chrome(const char *head, size_t n)
{
    return n &&
           (strstr(head, "\"traceEvents\"") || strstr(head, "\"ph\"") || strstr(head, "\"schemaVersion\""));
}

extern const trace_reader trace_reader_chrome;
const trace_reader trace_reader_chrome = {"chrome", TRACE_FAMILY_TIMELINES,
                                          "Chrome trace (Kineto, XLA, simulated)", is_chrome,
                                          .stream = trace_chrome_parse};
