#include "whatif/compat_host.h"

#include "base/array.h"
#include "base/strbuf.h"
#include "trace/json_scan.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

const char *const compat_host_number[HOST_NUMBERS] = {"rf_id", "fw_parent", "seq_id",
                                                      "scope", "tid",       "fw_tid"};

/* What one of a node's inputs would be if it were a tensor, or a list of tensors: their bytes. */
typedef struct {
    uint64_t tensor, list;
} input_bytes;

enum { NO_TENSOR, TENSOR, TENSORS };

typedef struct {
    trace_json json;
    dse_arena *arena;
    dse_strbuf text;
    /* of the current node */
    size_t n_values, cap_values, n_types, cap_types;
    input_bytes *value;
    uint8_t *type;
    unsigned given; /* bits: of the attributes' numbers, then of the rest */
} reader;

enum { GIVEN_ID = HOST_NUMBERS, GIVEN_PARENT, GIVEN_NAME, GIVEN_SCHEMA, GIVEN_SIDE };
#define GIVEN_ALL ((1u << (GIVEN_SIDE + HOST_SIDES)) - 1)

/* ---- values as Python prints them -------------------------------------------------------------- */

/* In single quotes, unless the text has these and no double ones. Of what Python does not take for printable
 * beyond ASCII only the blank and the controls of Latin-1 are known here. */
static void add_quoted(dse_strbuf *b, const char *text, size_t n)
{
    char quote = memchr(text, '\'', n) && !memchr(text, '"', n) ? '"' : '\'';

    dse_strbuf_addc(b, quote);
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)text[i], next = i + 1 < n ? (unsigned char)text[i + 1] : 0;

        if (c == '\\' || c == (unsigned char)quote)
            dse_strbuf_addf(b, "\\%c", c);
        else if (c == '\n' || c == '\r' || c == '\t')
            dse_strbuf_addf(b, "\\%c", c == '\n' ? 'n' : c == '\r' ? 'r' : 't');
        else if (c < ' ' || c == 0x7f)
            dse_strbuf_addf(b, "\\x%02x", c);
        else if (c == 0xc2 && next <= 0xa0 && i + 1 < n)
            dse_strbuf_addf(b, "\\x%02x", (unsigned char)text[++i]);
        else
            dse_strbuf_addc(b, (char)c);
    }
    dse_strbuf_addc(b, quote);
}

static void add_number(dse_strbuf *b, const char *text, size_t n)
{
    bool is_whole = true;

    for (size_t i = 0; i < n; i++)
        is_whole = is_whole && text[i] != '.' && text[i] != 'e' && text[i] != 'E';
    if (!is_whole)
        dse_strbuf_add_repr(b, trace_double_of(text, n));
    else if (n == 2 && !memcmp(text, "-0", 2))
        dse_strbuf_addc(b, '0');
    else
        dse_strbuf_add(b, text, n);
}

static void add_word(dse_strbuf *b, const trace_json *j)
{
    static const struct {
        const char *json, *python;
    } words[] = {{"true", "True"}, {"false", "False"},  {"null", "None"},
                 {"NaN", "nan"},   {"Infinity", "inf"}, {"-Infinity", "-inf"}};

    for (size_t i = 0; i < DSE_COUNT(words); i++)
        if (trace_json_is(j, words[i].json))
            dse_strbuf_adds(b, words[i].python);
}

static void add_container(reader *r, trace_json_kind kind, unsigned depth, input_bytes *bytes);

/* A value, and its bytes if it is a tensor, [id, storage, offset, elements, bytes of one, device], or a list
 * of them. */
static void add_value(reader *r, unsigned depth, input_bytes *bytes, uint64_t *whole)
{
    trace_json *j = &r->json;
    trace_json_kind kind = trace_json_value(j);

    *bytes = (input_bytes){0};
    *whole = 0;
    switch (kind) {
    case TRACE_JSON_STRING: add_quoted(&r->text, j->text, j->length); break;
    case TRACE_JSON_NUMBER:
        add_number(&r->text, j->text, j->length);
        *whole = trace_whole_of(j->text, j->length, UINT64_MAX - 1);
        break;
    case TRACE_JSON_WORD: add_word(&r->text, j); break;
    case TRACE_JSON_NONE: break;
    default: add_container(r, kind, depth, bytes);
    }
}

static void add_container(reader *r, trace_json_kind kind, unsigned depth, input_bytes *bytes)
{
    bool is_list = kind == TRACE_JSON_ARRAY;
    trace_json *j = &r->json;
    uint64_t elements = 0, whole;
    input_bytes inner;

    if (depth == TRACE_JSON_MAX_DEPTH) {
        trace_json_fail(j, TRACE_JSON_BROKEN, "lists are nested too deeply");
        return;
    }
    dse_strbuf_addc(&r->text, is_list ? '[' : '{');
    for (size_t i = 0; is_list ? trace_json_item(j) : trace_json_key(j); i++) {
        dse_strbuf_adds(&r->text, i ? ", " : "");
        if (!is_list) {
            add_quoted(&r->text, j->text, j->length);
            dse_strbuf_adds(&r->text, ": ");
        }
        add_value(r, depth + 1, &inner, &whole);
        bytes->list += inner.tensor;
        elements = i == 3 ? whole : elements;
        if (i == 4 && __builtin_mul_overflow(elements, whole, &bytes->tensor))
            bytes->tensor = 0;
    }
    dse_strbuf_addc(&r->text, is_list ? ']' : '}');
}

/* ---- a node ------------------------------------------------------------------------------------- */

static const char *take_text(reader *r) { return dse_arena_copy(r->arena, r->text.data, r->text.len + 1, 1); }

static const char *text_of(reader *r)
{
    const trace_json *j = &r->json;

    dse_strbuf_clear(&r->text);
    dse_strbuf_add(&r->text, j->text, j->length);
    return take_text(r);
}

static uint8_t type_of(const trace_json *j)
{
    static const char list[] = "GenericList[Tensor";

    if (j->length >= sizeof list - 1 && !memcmp(j->text, list, sizeof list - 1))
        return TENSORS;
    for (size_t i = 0; i + 6 <= j->length; i++)
        if (!memcmp(j->text + i, "Tensor", 6))
            return TENSOR;
    return NO_TENSOR;
}

/* One of a node's six lists. Of the inputs' values and types it is kept what each may be. */
static void read_list(reader *r, compat_host_node *n, unsigned side)
{
    trace_json *j = &r->json;
    uint64_t whole;
    input_bytes bytes;

    dse_strbuf_clear(&r->text);
    if (!trace_json_enter(j, TRACE_JSON_ARRAY)) {
        trace_json_fail(j, TRACE_JSON_BROKEN, "expected a list");
        return;
    }
    dse_strbuf_addc(&r->text, '[');
    for (size_t i = 0; trace_json_item(j); i++) {
        dse_strbuf_adds(&r->text, i ? ", " : "");
        add_value(r, 1, &bytes, &whole);
        if (side == 0) {
            DSE_GROW(r->value, r->cap_values, r->n_values + 1);
            r->value[r->n_values++] = bytes;
        } else if (side == 2) {
            DSE_GROW(r->type, r->cap_types, r->n_types + 1);
            r->type[r->n_types++] = type_of(j);
        }
    }
    dse_strbuf_addc(&r->text, ']');
    n->side[side] = take_text(r);
    r->given |= 1u << (GIVEN_SIDE + side);
}

/* {"values": [...], "shapes": [...], "types": [...]}, or the values alone, as in 1.0.1. */
static void read_side(reader *r, compat_host_node *n, unsigned first, bool is_list)
{
    static const char *const keys[] = {"values", "shapes", "types"};
    trace_json *j = &r->json;

    if (is_list) {
        read_list(r, n, first);
        return;
    }
    if (!trace_json_enter(j, TRACE_JSON_OBJECT))
        return;
    while (trace_json_key(j)) {
        unsigned i = 0;

        while (i < DSE_COUNT(keys) && !trace_json_is(j, keys[i]))
            i++;
        if (i < DSE_COUNT(keys))
            read_list(r, n, first + i);
        else
            trace_json_skip(j);
    }
}

static int64_t integer_of(const trace_json *j)
{
    char text[32] = "";

    memcpy(text, j->text, j->length < sizeof text ? j->length : sizeof text - 1);
    return text[0] == '-' ? strtoll(text, NULL, 10) : (int64_t)strtoull(text, NULL, 10);
}

/* What a name of a node's attributes, or in 1.0.1 of its members, is; HOST_NUMBERS and more: a text. */
enum { ATTR_OP_SCHEMA = HOST_NUMBERS, ATTR_GROUP, ATTR_OTHER };

static unsigned attr_of(const trace_json *j)
{
    for (unsigned i = 0; i < HOST_NUMBERS; i++)
        if (trace_json_is(j, compat_host_number[i]))
            return i;
    return trace_json_is(j, "op_schema") ? ATTR_OP_SCHEMA
           : trace_json_is(j, "pg_name") ? ATTR_GROUP
                                         : ATTR_OTHER;
}

static void read_attr_value(reader *r, compat_host_node *n, unsigned attr)
{
    trace_json *j = &r->json;
    trace_json_kind kind = trace_json_value(j);

    if (!trace_json_scalar(j, kind) || attr == ATTR_OTHER)
        return;
    if (attr < HOST_NUMBERS) {
        n->number[attr] = integer_of(j);
        r->given |= 1u << attr;
    } else if (attr == ATTR_OP_SCHEMA) {
        n->op_schema = text_of(r);
        r->given |= 1u << GIVEN_SCHEMA;
    } else {
        n->group = text_of(r);
    }
}

/* {"name": "rf_id", "type": "uint64", "value": 0}: the name comes first. */
static void read_attrs(reader *r, compat_host_node *n)
{
    trace_json *j = &r->json;

    if (!trace_json_enter(j, TRACE_JSON_ARRAY))
        return;
    while (trace_json_item(j)) {
        unsigned attr = ATTR_OTHER;

        if (!trace_json_enter(j, TRACE_JSON_OBJECT))
            continue;
        while (trace_json_key(j))
            if (trace_json_is(j, "name") && trace_json_enter(j, TRACE_JSON_STRING))
                attr = attr_of(j);
            else if (trace_json_is(j, "value"))
                read_attr_value(r, n, attr);
            else
                trace_json_skip(j);
    }
}

static void read_number(reader *r, uint64_t *to, unsigned given)
{
    if (!trace_json_enter(&r->json, TRACE_JSON_NUMBER))
        return;
    *to = (uint64_t)integer_of(&r->json);
    r->given |= 1u << given;
}

static void read_member(reader *r, compat_host_node *n, bool is_old)
{
    static const char *const lists[HOST_SIDES] = {"inputs",  "input_shapes",  "input_types",
                                                  "outputs", "output_shapes", "output_types"};
    trace_json *j = &r->json;

    for (unsigned i = 0; i < HOST_SIDES; i++)
        if (trace_json_is(j, lists[i]) && (is_old || i % 3 == 0)) {
            read_side(r, n, i, is_old);
            return;
        }
    if (trace_json_is(j, "id"))
        read_number(r, &n->id, GIVEN_ID);
    else if (trace_json_is(j, is_old ? "parent" : "ctrl_deps"))
        read_number(r, &n->parent, GIVEN_PARENT);
    else if (trace_json_is(j, "attrs") && !is_old)
        read_attrs(r, n);
    else if (trace_json_is(j, "name")) {
        if (trace_json_enter(j, TRACE_JSON_STRING)) {
            n->name = text_of(r);
            r->given |= 1u << GIVEN_NAME;
        }
    } else if (is_old)
        read_attr_value(r, n, attr_of(j));
    else
        trace_json_skip(j);
}

static void read_nodes(reader *r, bool is_old, compat_host *out)
{
    trace_json *j = &r->json;

    while (trace_json_item(j) && trace_json_enter(j, TRACE_JSON_OBJECT)) {
        compat_host_node n = {.op_schema = ""};

        r->n_values = r->n_types = 0;
        r->given = is_old ? 1u << GIVEN_SCHEMA : 0;
        while (trace_json_key(j))
            read_member(r, &n, is_old);
        if (r->given != GIVEN_ALL) {
            trace_json_fail(j, TRACE_JSON_BROKEN, "the node before this lacks an attribute or a list");
            return;
        }
        for (size_t i = 0; i < r->n_values && i < r->n_types; i++)
            n.tensor_bytes += r->type[i] == TENSORS  ? r->value[i].list
                              : r->type[i] == TENSOR ? r->value[i].tensor
                                                     : 0;
        DSE_ARENA_GROW(r->arena, out->node, out->cap, out->n + 1u);
        out->node[out->n++] = n;
    }
}

/* ---- the file ----------------------------------------------------------------------------------- */

static dse_status check_schema(const compat_host *h, const char *path, dse_error *err)
{
    static const char *const known[] = {"1.0.1", "1.0.2-chakra.0.0.4", "1.0.3-chakra.0.0.4",
                                        "1.1.0-chakra.0.0.4", "1.1.1-chakra.0.0.4"};

    for (size_t i = 0; i < DSE_COUNT(known); i++)
        if (h->schema && !strcmp(h->schema, known[i]))
            return DSE_OK;
    return dse_fail_at(err, DSE_E_ABSENT, path,
                       "schema '%.40s' of an execution trace: Chakra's converter reads 1.0.2, 1.0.3, 1.1.0 "
                       "and 1.1.1 with '-chakra.0.0.4'; record with a PyTorch that writes one of these",
                       h->schema ? h->schema : "");
}

/* The schema comes before the nodes, as PyTorch writes it. */
static dse_status read_top(reader *r, const char *path, compat_host *out, dse_error *err)
{
    trace_json *j = &r->json;
    bool has_nodes = false;
    dse_status st = DSE_OK;

    if (trace_json_value(j) != TRACE_JSON_OBJECT)
        return DSE_OK;
    while (st == DSE_OK && trace_json_key(j)) {
        const char **text = trace_json_is(j, "schema") ? &out->schema
                            : trace_json_is(j, "time") ? &out->time
                                                       : NULL;
        uint64_t *number = trace_json_is(j, "pid")         ? &out->pid
                           : trace_json_is(j, "start_ts")  ? &out->start_ts
                           : trace_json_is(j, "finish_ts") ? &out->finish_ts
                                                           : NULL;

        if (text)
            *text = trace_json_enter(j, TRACE_JSON_STRING) ? text_of(r) : "";
        else if (number)
            *number = trace_json_enter(j, TRACE_JSON_NUMBER) ? (uint64_t)integer_of(j) : 0;
        else if (!trace_json_is(j, "nodes"))
            trace_json_skip(j);
        else if (trace_json_enter(j, TRACE_JSON_ARRAY) && (st = check_schema(out, path, err)) == DSE_OK) {
            has_nodes = true;
            read_nodes(r, !strcmp(out->schema, "1.0.1"), out);
        }
    }
    if (st == DSE_OK && !j->fault && !has_nodes)
        return dse_fail_at(err, DSE_E_SYNTAX, path, "not an execution trace: it has no list 'nodes'");
    return st;
}

static int by_id(const void *a, const void *b)
{
    const compat_host_node *x = a, *y = b;

    return (x->id > y->id) - (x->id < y->id);
}

uint32_t compat_host_find(const compat_host *h, uint64_t id)
{
    const compat_host_node key = {.id = id},
                           *at = h->n ? bsearch(&key, h->node, h->n, sizeof key, by_id) : NULL;

    return at ? (uint32_t)(at - h->node) : DSE_NONE;
}

static int by_id_then_place(const void *a, const void *b)
{
    const compat_host_node *const *x = a, *const *y = b;
    int order = by_id(*x, *y);

    return order ? order : (*x > *y) - (*x < *y);
}

/* By id; of equal ids the last. */
static void settle(compat_host *h, dse_arena *a)
{
    const compat_host_node **list = DSE_ARENA_RAW(a, const compat_host_node *, h->n + 1u);
    compat_host_node *sorted = DSE_ARENA_RAW(a, compat_host_node, h->n + 1u);
    uint32_t n = 0;

    for (uint32_t i = 0; i < h->n; i++)
        list[i] = &h->node[i];
    qsort(list, h->n, sizeof *list, by_id_then_place);
    for (uint32_t i = 0; i < h->n; i++)
        if (i + 1 == h->n || list[i + 1]->id != list[i]->id)
            sorted[n++] = *list[i];
    h->node = sorted;
    h->cap = h->n + 1u;
    h->n = n;
}

dse_status compat_read_host(const char *path, dse_arena *a, compat_host *out, dse_error *err)
{
    trace_source source = {0};
    reader r = {.arena = a};
    dse_status st = trace_source_open(&source, path, err);

    *out = (compat_host){.time = ""};
    if (st == DSE_OK) {
        trace_json_init(&r.json, &source);
        dse_strbuf_init(&r.text);
        st = read_top(&r, path, out, err);
        if (st == DSE_OK && (source.broken[0] || r.json.fault != TRACE_JSON_FINE))
            st = dse_fail_at(err, DSE_E_SYNTAX, path, "byte %" PRIu64 ": %s", r.json.fault_at,
                             source.broken[0] ? source.broken : r.json.why);
        dse_free(r.value);
        dse_free(r.type);
        dse_strbuf_free(&r.text);
        trace_json_free(&r.json);
    }
    trace_source_close(&source);
    if (st == DSE_OK)
        settle(out, a);
    return st;
}
