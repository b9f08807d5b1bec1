#include "whatif/compat_events.h"

#include "base/array.h"
#include "trace/json_fields.h"

#include <math.h>

enum { E_NAME, E_NUMBER, E_PS, E_DIMS, E_TYPES, E_ARGS };

#define AT(f) offsetof(compat_event, f)

static const trace_json_key_row event_rows[] = {
    {"ph", E_NAME, AT(phase)},  {"name", E_NAME, AT(name)}, {"cat", E_NAME, AT(cat)},
    {"pid", E_NAME, AT(pid)},   {"tid", E_NAME, AT(tid)},   {"ts", E_NUMBER, AT(ts)},
    {"dur", E_NUMBER, AT(dur)}, {"args", E_ARGS, 0},
};

static const trace_json_key_row args_rows[] = {
    {"name", E_NAME, AT(process)},
    {"Collective name", E_NAME, AT(collective)},
    {"dtype", E_NAME, AT(dtype)},
    {"Process Group Ranks", E_NAME, AT(group)},
    {"Process Group Name", E_NAME, AT(group_name)},
    {"External id", E_NAME, AT(external)},
    {"correlation", E_NAME, AT(correlation)},
    {"Record function id", E_NUMBER, AT(function)},
    {"stream", E_NAME, AT(stream[0])},
    {"stream id", E_NAME, AT(stream[1])},
    {"stream_id", E_NAME, AT(stream[2])},
    {"cuda_stream", E_NAME, AT(stream[3])},
    {"In msg nelems", E_NUMBER, AT(in)},
    {"Out msg nelems", E_NUMBER, AT(out)},
    {"Input Dims", E_DIMS, AT(dims)},
    {"Input type", E_TYPES, AT(type)},
    {"device_duration_ps", E_PS, AT(device_us)},
    {"hlo_category", E_NAME, AT(hlo_category)},
    {"hlo_op", E_NAME, AT(hlo_op)},
    {"long_name", E_NAME, AT(long_name)},
    {"global_device_id", E_NAME, AT(device[0])},
    {"chip_id", E_NAME, AT(device[1])},
    {"device", E_NAME, AT(device[2])},
    {"device_id", E_NAME, AT(device[3])},
    {"replica", E_NAME, AT(device[4])},
    {"core", E_NAME, AT(device[5])},
    {"bytes", E_NUMBER, AT(bytes[0])},
    {"Bytes", E_NUMBER, AT(bytes[1])},
    {"size_bytes", E_NUMBER, AT(bytes[2])},
    {"message_size", E_NUMBER, AT(bytes[3])},
    {"comm_size", E_NUMBER, AT(bytes[4])},
    {"send_bytes", E_NUMBER, AT(bytes[5])},
    {"recv_bytes", E_NUMBER, AT(bytes[6])},
};

static double number_of(trace_json *j)
{
    return trace_json_scalar(j, trace_json_value(j)) ? trace_double_of(j->text, j->length) : NAN;
}

/* Elements of an input: 0 of one that is no tensor, or a list of tensors. */
static double elements_of(trace_json *j)
{
    double n = 1;
    bool any = false;

    if (!trace_json_enter(j, TRACE_JSON_ARRAY))
        return 0;
    while (trace_json_item(j)) {
        n *= number_of(j);
        any = true;
    }
    return any && n > 0 ? n : 0;
}

static void read_dims(trace_json *j, double dims[2])
{
    uint32_t i = 0;

    if (!trace_json_enter(j, TRACE_JSON_ARRAY))
        return;
    for (; trace_json_item(j); i++)
        if (i < 2)
            dims[i] = elements_of(j);
        else
            trace_json_skip(j);
}

static void read_types(trace_json *j, trace_names *names, uint32_t type[2])
{
    uint32_t i = 0;

    if (!trace_json_enter(j, TRACE_JSON_ARRAY))
        return;
    for (; trace_json_item(j); i++)
        if (i < 2)
            type[i] = trace_json_name(j, names);
        else
            trace_json_skip(j);
}

static void read_object(trace_json *j, trace_names *names, const trace_json_key_row *row, size_t n,
                        compat_event *e)
{
    while (trace_json_key(j)) {
        const trace_json_key_row *found = trace_json_row(j, row, n);
        void *field = found ? (char *)e + found->offset : NULL;

        switch (found ? found->what : UINT8_MAX) {
        case E_NAME: *(uint32_t *)field = trace_json_name(j, names); break;
        case E_NUMBER: *(double *)field = number_of(j); break;
        case E_PS: *(double *)field = number_of(j) / 1e6; break;
        case E_DIMS: read_dims(j, field); break;
        case E_TYPES: read_types(j, names, field); break;
        case E_ARGS:
            if (trace_json_enter(j, TRACE_JSON_OBJECT))
                read_object(j, names, args_rows, DSE_COUNT(args_rows), e);
            break;
        default: trace_json_skip(j);
        }
    }
}

/* Nothing is given. */
static void clear(compat_event *e)
{
    static const compat_event none = {.ts = NAN,
                                      .dur = NAN,
                                      .device_us = NAN,
                                      .phase = DSE_NONE,
                                      .name = DSE_NONE,
                                      .cat = DSE_NONE,
                                      .pid = DSE_NONE,
                                      .tid = DSE_NONE,
                                      .process = DSE_NONE,
                                      .collective = DSE_NONE,
                                      .dtype = DSE_NONE,
                                      .group = DSE_NONE,
                                      .group_name = DSE_NONE,
                                      .external = DSE_NONE,
                                      .correlation = DSE_NONE,
                                      .function = NAN,
                                      .stream = {DSE_NONE, DSE_NONE, DSE_NONE, DSE_NONE},
                                      .in = NAN,
                                      .out = NAN,
                                      .dims = {NAN, NAN},
                                      .type = {DSE_NONE, DSE_NONE},
                                      .hlo_category = DSE_NONE,
                                      .hlo_op = DSE_NONE,
                                      .long_name = DSE_NONE,
                                      .device = {DSE_NONE, DSE_NONE, DSE_NONE, DSE_NONE, DSE_NONE, DSE_NONE},
                                      .bytes = {NAN, NAN, NAN, NAN, NAN, NAN, NAN}};

    *e = none;
}

static void read_list(trace_json *j, bool (*keep)(const compat_event *, const trace_names *),
                      compat_events *out)
{
    while (trace_json_next_object(j)) {
        compat_event *e;

        DSE_GROW(out->event, out->cap, out->n + 1);
        e = &out->event[out->n];
        clear(e);
        read_object(j, out->names, event_rows, DSE_COUNT(event_rows), e);
        out->n += keep(e, out->names);
    }
}

dse_status compat_read_events(const char *path, bool (*keep)(const compat_event *, const trace_names *),
                              compat_events *out, dse_error *err)
{
    trace_source source = {0};
    trace_json j;
    trace_json_kind kind;
    dse_status st = trace_source_open(&source, path, err);

    if (st != DSE_OK) {
        trace_source_close(&source);
        return st;
    }
    trace_json_init(&j, &source);
    kind = trace_json_value(&j);
    if (kind == TRACE_JSON_ARRAY)
        read_list(&j, keep, out);
    while (kind == TRACE_JSON_OBJECT && trace_json_key(&j))
        if (!trace_json_is(&j, "traceEvents"))
            trace_json_skip(&j);
        else if (trace_json_enter(&j, TRACE_JSON_ARRAY))
            read_list(&j, keep, out);
    if (source.broken[0] || j.fault != TRACE_JSON_FINE)
        st = dse_fail_at(err, DSE_E_SYNTAX, path, "byte %llu: %s", (unsigned long long)trace_json_offset(&j),
                         source.broken[0] ? source.broken : j.why);
    trace_json_free(&j);
    trace_source_close(&source);
    return st;
}
