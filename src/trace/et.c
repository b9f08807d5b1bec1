/* Reads a PyTorch execution trace (ExecutionTraceObserver), schemas 1.0.x and 1.1.x.
 *
 * Nodes are operators without times: each becomes an instant of TRACE_CPU_OP at time 0, in the order of the
 * file. Linked traces add "ts" and "dur" in microseconds. A node `record_param_comms` stands for a
 * collective; its args give the kind, the elements and bytes into and out of this rank, and the number of
 * ranks.
 *
 * Source: PyTorch's torch/csrc/profiler/standalone/execution_trace_observer.cpp and the arguments that
 * torch/csrc/distributed/c10d/ParamCommsUtils.hpp gives record_param_comms:
 *
 *     tensors, sequence number, group, rank, "allreduce", input splits, output splits [, start, stride]
 *     [, ranks]
 *
 * The group is a number in older versions, and a pair of texts, name and description, in newer ones. Without
 * tensors (wait, barrier) the list begins with the sequence number. The newest versions repeat all this in
 * attributes, which take precedence. A tensor is [id, storage, offset, elements, bytes of one, device]. */
#include "base/array.h"
#include "base/strbuf.h"
#include "trace/json_fields.h"
#include "trace/reader.h"

#include <inttypes.h>

/* Summary of the values of a node. */
typedef struct {
    uint64_t elements, bytes;   /* of all tensors */
    bool has_tensor, overflows; /* overflows: a sum exceeds 64 bits */
    uint32_t word;              /* the first text; a name */
    uint32_t group_name, group_desc;
    unsigned n_before;     /* numbers before the word */
    uint64_t second, last; /* of those; of all after it, 0: none */
} values;

typedef struct {
    uint32_t name, tid;
    values in, out;
    uint32_t dtype;
    trace_decimal ts, dur;
    bool has_ts, has_dur, wrong_time; /* wrong_time: present but not a usable number */
    /* Of attributes. */
    uint32_t collective, group_name, group_desc, attr_dtype;
    uint64_t in_elements, out_elements, group_size;
} node;

typedef struct {
    trace_json json;
    trace_rank *rank;
    dse_strbuf config; /* a text that declares process groups if the node's name says so */
    bool has_nodes, has_base;
    int64_t base_us;
    uint32_t pid;
    uint64_t n_out_of_range, first_out_of_range; /* byte of the first */
    trace_json_keys node_keys, attr_keys;
} reader;

static uint32_t text_of(reader *r) { return trace_names_add(&r->rank->names, r->json.text, r->json.length); }

/* ---- values ---------------------------------------------------------------------------------- */

#define MAX_NESTING 8

/* An array that may be a tensor, a pair of texts, or a list of either. */
typedef struct {
    unsigned n, n_numbers, n_texts;
    uint64_t number[5];
    uint32_t text[2];
    bool nested;
} array;

static void take_array(values *v, const array *a)
{
    if (a->nested)
        return;
    if (a->n == 6 && a->n_numbers == 5 && a->n_texts == 1 && a->number[3] != UINT64_MAX) {
        uint64_t bytes;

        v->has_tensor = true;
        if (__builtin_mul_overflow(a->number[3], a->number[4], &bytes) ||
            __builtin_add_overflow(v->bytes, bytes, &v->bytes) ||
            __builtin_add_overflow(v->elements, a->number[3], &v->elements))
            v->overflows = true;
    } else if (a->n == 2 && a->n_texts == 2 && v->group_name == DSE_NONE) {
        v->group_name = a->text[0];
        v->group_desc = a->text[1];
    }
}

/* Reads the array that the scanner is in. Recursion ends at MAX_NESTING. */
static void read_array(reader *r, values *v, unsigned depth)
{
    trace_json *j = &r->json;
    array a = {0};

    while (trace_json_item(j)) {
        trace_json_kind kind = trace_json_value(j);

        if (kind == TRACE_JSON_ARRAY && depth < MAX_NESTING) {
            a.nested = true;
            read_array(r, v, depth + 1);
        } else if (trace_json_scalar(j, kind)) {
            if (kind == TRACE_JSON_NUMBER && a.n_numbers < 5)
                a.number[a.n_numbers++] = trace_whole_of(j->text, j->length, UINT64_MAX - 1);
            else if (kind == TRACE_JSON_STRING && a.n_texts < 2)
                a.text[a.n_texts++] = text_of(r);
        }
        a.n++;
    }
    take_array(v, &a);
}

static void take_number(reader *r, values *v)
{
    uint64_t n = trace_whole_of(r->json.text, r->json.length, UINT64_MAX - 1);

    if (v->word != DSE_NONE)
        v->last = n;
    else if (v->n_before++ == 1)
        v->second = n;
}

static void keep_config(reader *r)
{
    dse_strbuf_clear(&r->config);
    dse_strbuf_add(&r->config, r->json.text, r->json.length);
}

/* Reads the list of a node's values. A text that is JSON is kept whole; the first other text is the word. */
static void read_values(reader *r, values *v)
{
    trace_json *j = &r->json;

    while (trace_json_item(j)) {
        trace_json_kind kind = trace_json_value(j);

        if (kind == TRACE_JSON_ARRAY)
            read_array(r, v, 1);
        else if (!trace_json_scalar(j, kind))
            continue;
        else if (kind == TRACE_JSON_NUMBER)
            take_number(r, v);
        else if (j->length && *j->text == '[')
            keep_config(r);
        else if (v->word == DSE_NONE)
            v->word = text_of(r);
    }
}

/* "GenericList[Tensor(c10::Half)]" is Half: the name that Kineto uses. */
static uint32_t dtype_of(reader *r)
{
    static const struct {
        const char *et, *kineto;
    } types[] = {{"float", "Float"},        {"c10::Half", "Half"},   {"c10::BFloat16", "BFloat16"},
                 {"double", "Double"},      {"int", "Int"},          {"long int", "Long"},
                 {"long", "Long"},          {"short", "Short"},      {"short int", "Short"},
                 {"unsigned char", "Byte"}, {"signed char", "Char"}, {"char", "Char"},
                 {"bool", "Bool"}};
    const char *p = r->json.text, *end = p + r->json.length, *open = NULL;
    size_t n;

    for (; p + 7 <= end && !open; p++)
        if (memcmp(p, "Tensor(", 7) == 0)
            open = p + 7;
    if (!open)
        return DSE_NONE;
    for (p = open; p < end && *p != ')';)
        p++;
    n = (size_t)(p - open);
    for (size_t i = 0; i < DSE_COUNT(types); i++)
        if (strlen(types[i].et) == n && memcmp(types[i].et, open, n) == 0)
            return trace_names_add(&r->rank->names, types[i].kineto, strlen(types[i].kineto));
    return trace_names_add(&r->rank->names, open, n);
}

static void read_types(reader *r, node *n)
{
    while (trace_json_item(&r->json))
        if (trace_json_enter(&r->json, TRACE_JSON_STRING) && n->dtype == DSE_NONE)
            n->dtype = dtype_of(r);
}

/* {"values": [...], "shapes": ..., "types": [...]}, or the values alone in older schemas. */
static void read_side(reader *r, node *n, values *v, bool types)
{
    trace_json *j = &r->json;
    trace_json_kind kind = trace_json_value(j);

    if (kind == TRACE_JSON_ARRAY)
        read_values(r, v);
    if (kind != TRACE_JSON_OBJECT)
        return;
    while (trace_json_key(j)) {
        bool is_values = trace_json_is(j, "values");

        if (!is_values && !(types && trace_json_is(j, "types")))
            trace_json_skip(j);
        else if (!trace_json_enter(j, TRACE_JSON_ARRAY))
            continue;
        else if (is_values)
            read_values(r, v);
        else
            read_types(r, n);
    }
}

/* ---- attributes ------------------------------------------------------------------------------ */

enum { TAKE_NAME, TAKE_COUNT, TAKE_TIME, TAKE_INPUTS, TAKE_OUTPUTS, TAKE_TYPES, TAKE_ATTRS };

#define IN_NODE(f) (uint16_t) offsetof(node, f)

static const trace_json_key_row attr_rows[] = {
    {"tid", TAKE_NAME, IN_NODE(tid)},
    {"collective_name", TAKE_NAME, IN_NODE(collective)},
    {"dtype", TAKE_NAME, IN_NODE(attr_dtype)},
    {"pg_name", TAKE_NAME, IN_NODE(group_name)},
    {"pg_desc", TAKE_NAME, IN_NODE(group_desc)},
    {"pg_size", TAKE_COUNT, IN_NODE(group_size)},
    {"in_msg_nelems", TAKE_COUNT, IN_NODE(in_elements)},
    {"out_msg_nelems", TAKE_COUNT, IN_NODE(out_elements)},
    {"ts", TAKE_TIME, IN_NODE(ts)},
    {"dur", TAKE_TIME, IN_NODE(dur)},
};

static const trace_json_key_row node_rows[] = {
    {"name", TAKE_NAME, IN_NODE(name)}, {"tid", TAKE_NAME, IN_NODE(tid)}, {"ts", TAKE_TIME, IN_NODE(ts)},
    {"dur", TAKE_TIME, IN_NODE(dur)},   {"inputs", TAKE_INPUTS, 0},       {"outputs", TAKE_OUTPUTS, 0},
    {"input_types", TAKE_TYPES, 0},     {"attrs", TAKE_ATTRS, 0},
};

/* Reads a scalar into a field of the node. */
static void take_scalar(reader *r, node *n, const trace_json_key_row *row)
{
    trace_json *j = &r->json;
    trace_json_kind kind = trace_json_value(j);
    char *field = (char *)n + row->offset;
    trace_decimal d;

    if (!trace_json_scalar(j, kind))
        return;
    if (row->what == TAKE_NAME) {
        *(uint32_t *)(void *)field = text_of(r);
    } else if (row->what == TAKE_COUNT) {
        *(uint64_t *)(void *)field = trace_whole_of(j->text, j->length, UINT64_MAX - 1);
    } else if (trace_decimal_of(j->text, j->length, &d)) {
        *(trace_decimal *)(void *)field = d;
        *(row->offset == IN_NODE(ts) ? &n->has_ts : &n->has_dur) = true;
    } else {
        n->wrong_time = n->wrong_time || kind == TRACE_JSON_NUMBER;
    }
}

/* {"name": "pg_size", "type": "uint64", "value": 8}: every version writes the name before the value. */
static void read_attr(reader *r, node *n)
{
    const trace_json_key_row *row = NULL;
    trace_json *j = &r->json;

    while (trace_json_key(j)) {
        if (trace_json_is(j, "name")) {
            if (trace_json_enter(j, TRACE_JSON_STRING))
                row = trace_json_keys_find(&r->attr_keys, j->text, j->length);
        } else if (row && trace_json_is(j, "value")) {
            take_scalar(r, n, row);
        } else {
            trace_json_skip(j);
        }
    }
}

static void read_attrs(reader *r, node *n)
{
    trace_json *j = &r->json;

    if (!trace_json_enter(j, TRACE_JSON_ARRAY))
        return;
    while (trace_json_item(j))
        if (trace_json_enter(j, TRACE_JSON_OBJECT))
            read_attr(r, n);
}

/* ---- one node ----------------------------------------------------------------------------------- */

static void init_keys(reader *r)
{
    trace_json_keys_init(&r->node_keys, node_rows, DSE_COUNT(node_rows));
    trace_json_keys_init(&r->attr_keys, attr_rows, DSE_COUNT(attr_rows));
}

static void read_node(reader *r, node *n)
{
    static const values none = {.word = DSE_NONE, .group_name = DSE_NONE, .group_desc = DSE_NONE};
    trace_json *j = &r->json;

    *n = (node){.name = DSE_NONE,
                .tid = DSE_NONE,
                .in = none,
                .out = none,
                .dtype = DSE_NONE,
                .collective = DSE_NONE,
                .group_name = DSE_NONE,
                .group_desc = DSE_NONE,
                .attr_dtype = DSE_NONE,
                .in_elements = UINT64_MAX,
                .out_elements = UINT64_MAX,
                .group_size = UINT64_MAX};
    dse_strbuf_clear(&r->config);
    while (trace_json_key(j)) {
        const trace_json_key_row *row = trace_json_keys_find(&r->node_keys, j->text, j->length);

        switch (row ? row->what : UINT8_MAX) {
        case UINT8_MAX: trace_json_skip(j); break;
        case TAKE_INPUTS: read_side(r, n, &n->in, true); break;
        case TAKE_OUTPUTS: read_side(r, n, &n->out, false); break;
        case TAKE_ATTRS: read_attrs(r, n); break;
        case TAKE_TYPES:
            if (trace_json_enter(j, TRACE_JSON_ARRAY))
                read_types(r, n);
            break;
        default: take_scalar(r, n, row);
        }
    }
}

static uint64_t given(uint64_t first, uint64_t otherwise) { return first != UINT64_MAX ? first : otherwise; }

static uint32_t named(uint32_t first, uint32_t otherwise) { return first != DSE_NONE ? first : otherwise; }

/* Older versions give only a number for the group; 0 is none. */
static uint32_t group_of(reader *r, const node *n)
{
    const values *v = &n->in;

    if (n->group_name != DSE_NONE || v->group_name != DSE_NONE || v->n_before != 3 || !v->second)
        return named(n->group_name, v->group_name);
    return trace_names_addf(&r->rank->names, "%" PRIu64, v->second);
}

static uint64_t elements_of(const values *v)
{
    return v->has_tensor && !v->overflows ? v->elements : TRACE_UNKNOWN;
}

/* Bytes of so many elements, which may be a part of the tensors. */
static uint64_t bytes_of(const values *v, uint64_t elements)
{
    uint64_t bytes;

    if (!v->has_tensor || v->overflows)
        return TRACE_UNKNOWN;
    if (!v->elements || elements == v->elements)
        return v->bytes;
    return __builtin_mul_overflow(v->bytes / v->elements, elements, &bytes) ? TRACE_UNKNOWN : bytes;
}

static uint32_t comm_args(reader *r, const node *n)
{
    const values *in = &n->in, *out = &n->out;
    uint64_t size = given(n->group_size, in->last);
    trace_args a;

    trace_args_clear(&a);
    a.collective = named(n->collective, in->word);
    a.dtype = named(n->attr_dtype, n->dtype);
    a.group_name = group_of(r, n);
    a.group_desc = named(n->group_desc, in->group_desc);
    a.group_size = size < UINT32_MAX ? (uint32_t)size : 0;
    a.in_elements = given(n->in_elements, elements_of(in));
    a.out_elements = given(n->out_elements, elements_of(out));
    a.bytes = bytes_of(in, a.in_elements);
    return trace_add_args(r->rank, &a);
}
/* ---- process groups -------------------------------------------------------------------------- */

/* A list of groups as the text of a node. Any other text declares no groups. */
static void read_groups(reader *r)
{
    trace_source source;
    trace_json j;
    size_t n = r->config.len;

    trace_source_open_bytes(&source, r->config.data, n, n > 16 ? n : 16);
    trace_json_init(&j, &source);
    if (trace_json_value(&j) == TRACE_JSON_ARRAY)
        trace_json_groups(&j, r->rank);
    trace_json_free(&j);
    trace_source_close(&source);
}

/* The group of all ranks gives the world size. */
static void note_world(trace_rank *rank)
{
    for (size_t i = 0; i < rank->n_groups; i++) {
        const trace_group *g = &rank->group[i];
        const char *desc = TRACE_NAME(rank, g->desc);

        if (desc && strcmp(desc, "default_pg") == 0 && g->size)
            rank->world_size = g->size;
    }
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static bool ps_of(trace_decimal us, int64_t base_us, int64_t *ps)
{
    int64_t whole;

    return !__builtin_sub_overflow(us.whole, base_us, &whole) &&
           !__builtin_mul_overflow(whole, TRACE_PS_PER_US, ps) &&
           !__builtin_add_overflow(*ps, us.millionths, ps);
}

/* Times count from the second in which the first node starts. */
static bool set_times(reader *r, const node *n, trace_event *e)
{
    trace_rank *rank = r->rank;
    int64_t end;

    e->instant = true;
    if (n->wrong_time)
        return false;
    if (!n->has_ts || !n->has_dur)
        return true;
    if (!r->has_base) {
        if (n->ts.whole > TRACE_MAX_NS / 1000 || n->ts.whole < -TRACE_MAX_NS / 1000)
            return false;
        r->base_us = n->ts.whole / 1000000 * 1000000;
        rank->base_ns = r->base_us * 1000;
        r->has_base = true;
    }
    if (!ps_of(n->ts, r->base_us, &e->start_ps) || !ps_of(n->dur, 0, &e->dur_ps) || e->dur_ps < 0 ||
        __builtin_add_overflow(e->start_ps, e->dur_ps, &end) || !trace_is_near(e->start_ps) ||
        !trace_is_near(end))
        return false;
    e->instant = false;
    trace_extend(rank, e->start_ps, end, true);
    return true;
}

/* `at` is the byte where the node begins. */
static void add_node(reader *r, const node *n, uint64_t at)
{
    const char *name = TRACE_NAME(r->rank, n->name);
    trace_event e = {.name = n->name, .args = DSE_NONE, .category = TRACE_CPU_OP};

    if (!set_times(r, n, &e)) {
        if (!r->n_out_of_range++)
            r->first_out_of_range = at;
        return;
    }
    e.lane = trace_add_lane(r->rank, r->pid, n->tid);
    if (name && strcmp(name, TRACE_ET_COLLECTIVE) == 0)
        e.args = comm_args(r, n);
    trace_add_event(r->rank, &e);
    if (name && strstr(name, "process_group:init") && r->config.len)
        read_groups(r);
}

/* A node that is cut off is ignored. */
static void read_nodes(reader *r)
{
    trace_json *j = &r->json;
    node n;

    r->has_nodes = true;
    while (trace_json_item(j)) {
        uint64_t at = trace_json_offset(j);

        if (!trace_json_enter(j, TRACE_JSON_OBJECT))
            continue;
        read_node(r, &n);
        if (!j->fault)
            add_node(r, &n, at);
    }
}

/* ---- the file -------------------------------------------------------------------------------- */

static void read_top(reader *r)
{
    trace_json *j = &r->json;

    while (trace_json_key(j)) {
        if (trace_json_is(j, "nodes")) {
            if (trace_json_enter(j, TRACE_JSON_ARRAY))
                read_nodes(r);
        } else if (!trace_json_is(j, "pid")) {
            trace_json_skip(j);
        } else if (trace_json_enter(j, TRACE_JSON_NUMBER)) {
            r->pid = text_of(r);
        }
    }
}

static const char *reason(const trace_json *j)
{
    return *j->source->broken             ? j->source->broken
           : j->fault == TRACE_JSON_ENDED ? "the file ends here; it was cut off"
                                          : j->why;
}

static dse_status finish(reader *r, const char *path, trace_record *out, dse_error *err)
{
    const trace_json *j = &r->json;
    trace_rank *rank = r->rank;
    char where[256];

    snprintf(where, sizeof where, "%.200s: byte %" PRIu64, path, j->fault_at);
    if (j->fault && !rank->n_events)
        return dse_fail_at(err, *j->source->broken ? DSE_E_IO : DSE_E_SYNTAX, where,
                           "no node comes before this: %s", reason(j));
    if (!r->has_nodes)
        return dse_fail_at(err, DSE_E_SYNTAX, path, "not an execution trace: it has no list 'nodes'");
    if (j->fault)
        trace_warn(out, where, "%s; the %zu nodes before it are used", reason(j), rank->n_events);
    if (r->n_out_of_range)
        trace_warn(
            out, path,
            "byte %" PRIu64 ": %" PRIu64
            " nodes are left out because their durations are negative, or their times too large; this is the "
            "first",
            r->first_out_of_range, r->n_out_of_range);
    note_world(rank);
    return DSE_OK;
}

dse_status trace_et_parse(trace_source *source, const char *path, trace_record *out, dse_error *err)
{
    reader r = {.rank = trace_record_add_file(out, TRACE_ET, path), .pid = DSE_NONE};
    dse_status st;

    trace_json_init(&r.json, source);
    dse_strbuf_init(&r.config);
    init_keys(&r);
    trace_add_word(r.rank, trace_names_add(&r.rank->names, "", 0)); /* all nodes have no category */
    if (trace_json_value(&r.json) == TRACE_JSON_OBJECT)
        read_top(&r);
    st = finish(&r, path, out, err);
    dse_strbuf_free(&r.config);
    trace_json_free(&r.json);
    return st;
}

static bool is_et(const char *head, size_t n)
{
    const char *p = head + strspn(head, " \t\r\n");

    return n && *p == '{' && strstr(p, "\"schema\"") && strstr(p, "\"nodes\"") &&
           !strstr(p, "\"traceEvents\"");
}

extern const trace_reader trace_reader_et;
const trace_reader trace_reader_et = {"et", TRACE_FAMILY_EXECUTION_TRACES, "PyTorch execution trace (JSON)",
                                      is_et, .stream = trace_et_parse};
