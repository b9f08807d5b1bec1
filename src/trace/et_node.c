/* Source: PyTorch's torch/csrc/profiler/standalone/execution_trace_observer.cpp and the arguments that
 * torch/csrc/distributed/c10d/ParamCommsUtils.hpp gives record_param_comms:
 *
 *     tensors, sequence number, group, rank, "allreduce", input splits, output splits [, start, stride] [, ranks]
 *
 * The group is a number in older versions, and a pair of texts, name and description, in newer ones. Without
 * tensors (wait, barrier) the list begins with the sequence number. The newest versions repeat all this in
 * attributes, which take precedence. A tensor is [id, storage, offset, elements, bytes of one, device]. */
#include "trace/et_node.h"

#include <inttypes.h>

uint32_t et_text_of(et_reader *r) { return trace_names_add(&r->rank->names, r->json.text, r->json.length); }

/* ---- values ---------------------------------------------------------------------------------- */

#define MAX_NESTING 8

/* An array that may be a tensor, a pair of texts, or a list of either. */
typedef struct {
    unsigned n, n_numbers, n_texts;
    uint64_t number[5];
    uint32_t text[2];
    bool nested;
} et_array;

static void take_array(et_values *v, const et_array *a)
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
static void read_array(et_reader *r, et_values *v, unsigned depth)
{
    trace_json *j = &r->json;
    et_array a = {0};

    while (trace_json_item(j)) {
        trace_json_kind kind = trace_json_value(j);

        if (kind == TRACE_JSON_ARRAY && depth < MAX_NESTING) {
            a.nested = true;
            read_array(r, v, depth + 1);
        } else if (trace_json_scalar(j, kind)) {
            if (kind == TRACE_JSON_NUMBER && a.n_numbers < 5)
                a.number[a.n_numbers++] = trace_whole_of(j->text, j->length, UINT64_MAX - 1);
            else if (kind == TRACE_JSON_STRING && a.n_texts < 2)
                a.text[a.n_texts++] = et_text_of(r);
        }
        a.n++;
    }
    take_array(v, &a);
}

static void take_number(et_reader *r, et_values *v)
{
    uint64_t n = trace_whole_of(r->json.text, r->json.length, UINT64_MAX - 1);

    if (v->word == DSE_NONE && v->n_before < 4) {
        v->before[v->n_before++] = n;
    } else if (v->word != DSE_NONE) {
        if (v->n_after == 4)
            memmove(v->after, v->after + 1, 3 * sizeof *v->after);
        else
            v->n_after++;
        v->after[v->n_after - 1] = n;
    }
}

static void keep_config(et_reader *r)
{
    dse_strbuf_clear(&r->config);
    dse_strbuf_add(&r->config, r->json.text, r->json.length);
}

/* Reads the list of a node's values. A text that is JSON is kept whole; the first other text is the word. */
static void read_values(et_reader *r, et_values *v)
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
            v->word = et_text_of(r);
    }
}

/* "GenericList[Tensor(c10::Half)]" is Half: the name that Kineto uses. */
static uint32_t dtype_of(et_reader *r)
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
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (strlen(types[i].et) == n && memcmp(types[i].et, open, n) == 0)
            return trace_names_add(&r->rank->names, types[i].kineto, strlen(types[i].kineto));
    return trace_names_add(&r->rank->names, open, n);
}

static void read_types(et_reader *r, et_node *n)
{
    while (trace_json_item(&r->json))
        if (trace_json_enter(&r->json, TRACE_JSON_STRING) && n->dtype == DSE_NONE)
            n->dtype = dtype_of(r);
}

/* {"values": [...], "shapes": ..., "types": [...]}, or the values alone in older schemas. */
static void read_side(et_reader *r, et_node *n, et_values *v, bool types)
{
    trace_json *j = &r->json;
    trace_json_kind kind = trace_json_value(j);

    if (kind == TRACE_JSON_ARRAY)
        read_values(r, v);
    if (kind != TRACE_JSON_OBJECT)
        return;
    while (trace_json_key(j)) {
        bool values = trace_json_is(j, "values");

        if (!values && !(types && trace_json_is(j, "types")))
            trace_json_skip(j);
        else if (!trace_json_enter(j, TRACE_JSON_ARRAY))
            continue;
        else if (values)
            read_values(r, v);
        else
            read_types(r, n);
    }
}

/* ---- attributes ------------------------------------------------------------------------------ */

enum { TAKE_NAME, TAKE_COUNT, TAKE_TIME, TAKE_INPUTS, TAKE_OUTPUTS, TAKE_TYPES, TAKE_ATTRS };

#define IN_NODE(f) (uint16_t) offsetof(et_node, f)

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
static void take_scalar(et_reader *r, et_node *n, const trace_json_key_row *row)
{
    trace_json *j = &r->json;
    trace_json_kind kind = trace_json_value(j);
    char *field = (char *)n + row->offset;
    trace_decimal d;

    if (!trace_json_scalar(j, kind))
        return;
    if (row->what == TAKE_NAME) {
        *(uint32_t *)(void *)field = et_text_of(r);
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
static void read_attr(et_reader *r, et_node *n)
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

static void read_attrs(et_reader *r, et_node *n)
{
    trace_json *j = &r->json;

    if (!trace_json_enter(j, TRACE_JSON_ARRAY))
        return;
    while (trace_json_item(j))
        if (trace_json_enter(j, TRACE_JSON_OBJECT))
            read_attr(r, n);
}

/* ---- nodes ----------------------------------------------------------------------------------- */

void et_nodes_init(et_reader *r)
{
    trace_json_keys_init(&r->node_keys, node_rows, sizeof node_rows / sizeof node_rows[0]);
    trace_json_keys_init(&r->attr_keys, attr_rows, sizeof attr_rows / sizeof attr_rows[0]);
}

void et_read_node(et_reader *r, et_node *n)
{
    static const et_values none = {.word = DSE_NONE, .group_name = DSE_NONE, .group_desc = DSE_NONE};
    trace_json *j = &r->json;

    *n = (et_node){.name = DSE_NONE,
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
static uint32_t group_of(et_reader *r, const et_node *n)
{
    const et_values *v = &n->in;

    if (n->group_name != DSE_NONE || v->group_name != DSE_NONE || v->n_before != 3 || !v->before[1])
        return named(n->group_name, v->group_name);
    return trace_names_addf(&r->rank->names, "%" PRIu64, v->before[1]);
}

static uint64_t elements_of(const et_values *v)
{
    return v->has_tensor && !v->overflows ? v->elements : TRACE_UNKNOWN;
}

/* Bytes of so many elements, which may be a part of the tensors. */
static uint64_t bytes_of(const et_values *v, uint64_t elements)
{
    uint64_t bytes;

    if (!v->has_tensor || v->overflows)
        return TRACE_UNKNOWN;
    if (!v->elements || elements == v->elements)
        return v->bytes;
    return __builtin_mul_overflow(v->bytes / v->elements, elements, &bytes) ? TRACE_UNKNOWN : bytes;
}

uint32_t et_comm_args(et_reader *r, const et_node *n)
{
    const et_values *in = &n->in, *out = &n->out;
    uint64_t last = in->n_after ? in->after[in->n_after - 1] : 0;
    uint64_t size = given(n->group_size, last);
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
