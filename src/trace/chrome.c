/* Chrome traces by way of a DOM: right, and slow. */
#include "base/strbuf.h"
#include "trace/reader.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* A number, or its decimal text, of `digits` decimals below the point as an integer. jansson keeps no text: doubles of
 * whole microseconds are exact, others are rounded to a nanosecond here. */
static int64_t ps_of(const json_t *v, int64_t base_ns)
{
    double whole, part = modf(json_number_value(v), &whole);

    return ((int64_t)whole * 1000 - base_ns) * TRACE_PS_PER_NS +
           (int64_t)llround(part * 1e3) * TRACE_PS_PER_NS;
}

static uint32_t name_of(trace_rank *r, const json_t *v)
{
    char text[40];

    if (json_is_string(v))
        return trace_names_add(&r->names, json_string_value(v), json_string_length(v));
    if (json_is_integer(v)) {
        snprintf(text, sizeof text, "%" JSON_INTEGER_FORMAT, json_integer_value(v));
        return trace_names_add(&r->names, text, strlen(text));
    }
    return DSE_NONE;
}

static uint64_t count_of(const json_t *v)
{
    if (json_is_integer(v) && json_integer_value(v) >= 0)
        return (uint64_t)json_integer_value(v);
    return json_is_string(v) ? strtoull(json_string_value(v), NULL, 10) : TRACE_UNKNOWN;
}

static double number_of(const json_t *v)
{
    return json_is_number(v)   ? json_number_value(v)
           : json_is_string(v) ? strtod(json_string_value(v), NULL)
                               : NAN;
}

static uint32_t args_of(trace_rank *r, const json_t *o)
{
    trace_args a, none;

    trace_args_clear(&a);
    trace_args_clear(&none);
    a.collective = name_of(r, json_object_get(o, "Collective name"));
    a.dtype = name_of(r, json_object_get(o, "dtype"));
    a.group_name = name_of(r, json_object_get(o, "Process Group Name"));
    a.group_desc = name_of(r, json_object_get(o, "Process Group Description"));
    a.group_ranks = name_of(r, json_object_get(o, "Process Group Ranks"));
    if (json_is_integer(json_object_get(o, "Group size")))
        a.group_size = (uint32_t)json_integer_value(json_object_get(o, "Group size"));
    a.in_elements = count_of(json_object_get(o, "In msg nelems"));
    a.out_elements = count_of(json_object_get(o, "Out msg nelems"));
    a.bytes = count_of(json_object_get(o, "bytes"));
    a.blocks_per_sm = number_of(json_object_get(o, "blocks per SM"));
    a.occupancy_pct = number_of(json_object_get(o, "est. achieved occupancy %"));
    if (json_is_integer(json_object_get(o, "stream")))
        a.stream = (uint32_t)json_integer_value(json_object_get(o, "stream"));
    if (json_is_integer(json_object_get(o, "device")))
        a.device = (uint32_t)json_integer_value(json_object_get(o, "device"));
    a.hlo_category = name_of(r, json_object_get(o, "hlo_category"));
    a.long_name = name_of(r, json_object_get(o, "long_name"));
    a.shape = name_of(r, json_object_get(o, "shape_with_layout"));
    a.bytes_accessed = count_of(json_object_get(o, "bytes_accessed"));
    a.raw_bytes_accessed = count_of(json_object_get(o, "raw_bytes_accessed"));
    a.model_flops = number_of(json_object_get(o, "model_flops"));
    return memcmp(&a, &none, sizeof a) == 0 ? DSE_NONE : trace_add_args(r, &a);
}

static void add(trace_rank *r, const json_t *v)
{
    const char *ph = json_string_value(json_object_get(v, "ph"));
    const json_t *args = json_object_get(v, "args"), *ts = json_object_get(v, "ts"),
                 *device = json_object_get(args, "device_duration_ps");
    uint32_t lane =
        trace_add_lane(r, name_of(r, json_object_get(v, "pid")), name_of(r, json_object_get(v, "tid")));
    const char *cat = json_string_value(json_object_get(v, "cat"));
    const char *name = json_string_value(json_object_get(v, "name"));
    trace_event e = {.lane = lane, .args = DSE_NONE};

    if (!ph)
        return;
    if (*ph == 'M' && name && strcmp(name, "process_name") == 0) {
        for (uint32_t i = 0; i < r->n_lanes; i++)
            if (r->lane[i].pid == r->lane[lane].pid)
                r->lane[i].process_name = name_of(r, json_object_get(args, "name"));
    } else if (*ph == 'M' && name && strcmp(name, "thread_name") == 0) {
        r->lane[lane].thread = name_of(r, json_object_get(args, "name"));
    }
    if (!json_is_number(ts))
        return;
    e.start_ps = ps_of(ts, r->base_ns);
    e.dur_ps = json_is_number(json_object_get(v, "dur")) ? ps_of(json_object_get(v, "dur"), 0) : 0;
    if (json_number_value(ts) > 0) {
        r->all_first_ps = e.start_ps < r->all_first_ps ? e.start_ps : r->all_first_ps;
        r->all_last_ps = e.start_ps + e.dur_ps > r->all_last_ps ? e.start_ps + e.dur_ps : r->all_last_ps;
    }
    if (*ph != 'X' && *ph != 'i' && *ph != 'I')
        return;
    e.instant = *ph != 'X';
    e.name = name_of(r, json_object_get(v, "name"));
    e.category = (uint8_t)trace_category_of(cat ? cat : "", cat ? strlen(cat) : 0);
    e.word = (uint8_t)trace_add_word(r, trace_names_add(&r->names, cat ? cat : "", cat ? strlen(cat) : 0));
    e.correlation = (uint32_t)json_integer_value(json_object_get(args, "correlation"));
    e.args = args_of(r, args);
    trace_add_event(r, &e);
    if (device)
        trace_set_device_time(
            r, r->n_events - 1,
            (trace_device_time){(int64_t)count_of(json_object_get(args, "device_offset_ps")),
                                (int64_t)count_of(device)});
}

static dse_status chrome_read(const char *path, trace_record *out, dse_error *err)
{
    dse_strbuf text;
    char *chunk = malloc(1 << 20);
    gzFile f = gzopen(path, "rb");
    trace_rank *r = trace_record_add_rank(out);
    json_error_t je;
    json_t *root, *events, *v;
    size_t i;
    int n;

    dse_strbuf_init(&text);
    while ((n = gzread(f, chunk, 1 << 20)) > 0)
        dse_strbuf_add(&text, chunk, (size_t)n);
    gzclose(f);
    free(chunk);
    root = json_loadb(text.data, text.len, 0, &je);
    if (!root) {
        dse_strbuf_free(&text);
        return dse_fail_at(err, DSE_E_SYNTAX, path, "%s", je.text);
    }
    r->kind = strstr(text.data, "/device:TPU:") || strstr(text.data, "device_duration_ps") ? TRACE_XLA
                                                                                           : TRACE_KINETO;
    events = json_is_array(root) ? root : json_object_get(root, "traceEvents");
    json_array_foreach(events, i, v) if (json_is_number(json_object_get(v, "ts")))
    {
        r->base_ns = (int64_t)json_number_value(json_object_get(v, "ts")) / 1000000 * 1000000000;
        break;
    }
    json_array_foreach(events, i, v) add(r, v);
    v = json_object_get(root, "distributedInfo");
    if (json_object_get(v, "rank")) {
        r->rank = (uint32_t)json_integer_value(json_object_get(v, "rank"));
        r->has_rank = true;
        r->world_size = (uint32_t)json_integer_value(json_object_get(v, "world_size"));
    }
    json_array_foreach(json_object_get(root, "deviceProperties"), i, v)
    {
        if (!DSE_GROW(r->device, r->cap_devices, r->n_devices + 1))
            break;
        r->device[r->n_devices++] =
            (trace_device){name_of(r, json_object_get(v, "name")),
                           (uint64_t)json_integer_value(json_object_get(v, "totalGlobalMem")),
                           (uint32_t)json_integer_value(json_object_get(v, "numSms")),
                           (uint32_t)json_integer_value(json_object_get(v, "computeMajor")),
                           (uint32_t)json_integer_value(json_object_get(v, "computeMinor"))};
    }
    r->path = strdup(path);
    json_decref(root);
    dse_strbuf_free(&text);
    return DSE_OK;
}

static bool is_chrome(const char *head, size_t n)
{
    return n &&
           (strstr(head, "\"traceEvents\"") || strstr(head, "\"ph\"") || strstr(head, "\"schemaVersion\""));
}

extern const trace_reader trace_reader_chrome;
const trace_reader trace_reader_chrome = {"chrome", "Chrome trace (Kineto, XLA, simulated)", is_chrome,
                                          chrome_read};
