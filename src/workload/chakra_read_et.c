/* Reading Chakra schema v0.0.4: a length-prefixed GlobalMetadata, then length-prefixed Nodes.
 *
 * Attributes are taken in any of protobuf's integer types, as Chakra's feeder takes them; of two with one
 * name the first counts. */
#include "base/protobuf.h"
#include "workload/chakra_builder.h"
#include "workload/chakra_v004.h"

#include <string.h>

typedef struct {
    pb_range name;
    uint32_t field; /* of the value; 0: none */
    bool is_integer;
    uint64_t integer;
    pb_range bytes; /* strings and lists */
} attribute;

typedef struct {
    wl_builder b;
    uint64_t id;
    wl_node node;
    wl_node_facts facts;
    const unsigned char *begin; /* of the file, for offsets */
} reader;

static dse_status malformed(reader *r, const unsigned char *at, const char *what)
{
    return dse_fail_at(r->b.err, DSE_E_SYNTAX, r->b.path, "%s at byte %td; the file is corrupt or truncated",
                       what, at - r->begin);
}

/* ---- attributes ---------------------------------------------------------------------------- */

/* The integer as Chakra's feeder sees it before it converts to the type it wants. */
static bool to_integer(uint32_t field, uint32_t wire, uint64_t v, uint64_t *out)
{
    switch (field) {
    case 7: /* int32 */ *out = (uint64_t)(int64_t)(int32_t)(uint32_t)v; return wire == PB_VARINT;
    case 9: /* int64 */
    case 13: /* uint64 */ *out = v; return wire == PB_VARINT;
    case 11: /* uint32 */ *out = (uint32_t)v; return wire == PB_VARINT;
    case 15: /* sint32 */
    case 17: /* sint64 */ *out = v >> 1 ^ (0 - (v & 1)); return wire == PB_VARINT;
    case 19: /* fixed32 */ *out = v; return wire == PB_FIXED32;
    case 23: /* sfixed32 */ *out = (uint64_t)(int64_t)(int32_t)(uint32_t)v; return wire == PB_FIXED32;
    case 21: /* fixed64 */
    case 25: /* sfixed64 */ *out = v; return wire == PB_FIXED64;
    case 27: /* bool */ *out = v != 0; return wire == PB_VARINT;
    default: return false;
    }
}

static dse_status read_attribute(reader *r, pb_range bytes, attribute *out)
{
    pb_field f;
    int got;

    *out = (attribute){0};
    while ((got = pb_get_field(&bytes, &f)) > 0) {
        if (f.field == ATTR_NAME && f.wire == PB_BYTES) {
            out->name = f.bytes;
        } else if (f.field > 2) {
            out->field = f.field;
            out->is_integer = to_integer(f.field, f.wire, f.value, &out->integer);
            out->bytes = f.wire == PB_BYTES ? f.bytes : (pb_range){0};
        }
    }
    return got < 0 ? malformed(r, bytes.p, "a malformed attribute") : DSE_OK;
}

static dse_status read_tensors(reader *r, const attribute *a, bool output)
{
    pb_range list = a->bytes, name = {0};
    bool have_name = false;
    pb_field f;
    int got;

    if (a->field != ATTR_STRING_LIST)
        return DSE_OK; /* no value: no tensors */
    while ((got = pb_get_field(&list, &f)) > 0) {
        dse_status st;

        if (f.field != 1 || f.wire != PB_BYTES)
            continue;
        if (!have_name) {
            name = f.bytes;
            have_name = true;
            continue;
        }
        have_name = false;
        st = wl_builder_add_io(&r->b, output, (const char *)name.p, (size_t)(name.end - name.p),
                               (const char *)f.bytes.p, (size_t)(f.bytes.end - f.bytes.p));
        if (st != DSE_OK)
            return st;
    }
    if (got < 0)
        return malformed(r, list.p, "a malformed list");
    return have_name ? wl_builder_fail(&r->b, r->id, "the list of %s has a name without a size",
                                       output ? "outputs" : "inputs")
                     : DSE_OK;
}

/* packed or not, by protobuf's rules for repeated scalars */
static dse_status read_involved_dims(reader *r, const attribute *a)
{
    pb_range list = a->bytes;
    pb_field f;
    int got;

    if (a->field != ATTR_BOOL_LIST)
        return wl_builder_fail(&r->b, r->id, "%s is not a list of booleans",
                               wl_fact_names[wl_builder_dims(&r->b)].text);
    while ((got = pb_get_field(&list, &f)) > 0) {
        pb_range values = f.bytes;
        uint64_t v = f.value;
        bool more = f.wire == PB_VARINT || (f.wire == PB_BYTES && values.p < values.end);

        if (f.field != 1)
            continue;
        while (more) {
            if (f.wire == PB_BYTES && !pb_get_varint(&values, &v))
                return malformed(r, values.p, "a malformed list");
            if (r->node.n_involved_dims == WL_MAX_INVOLVED_DIMS)
                return wl_builder_fail(&r->b, r->id, "%s has more than %d entries",
                                       wl_fact_names[wl_builder_dims(&r->b)].text, WL_MAX_INVOLVED_DIMS);
            r->node.involved_dims |= (uint16_t)((v != 0) << r->node.n_involved_dims++);
            more = f.wire == PB_BYTES && values.p < values.end;
        }
    }
    return got < 0 ? malformed(r, list.p, "a malformed list") : DSE_OK;
}

static int find_attribute(pb_range name)
{
    size_t n = (size_t)(name.end - name.p);

    for (int i = 0; i < WL_N_FACTS; i++)
        if (wl_fact_names[i].n == n && !memcmp(wl_fact_names[i].text, name.p, n))
            return i;
    return -1;
}

static dse_status set_string(reader *r, pb_range s, const char **out)
{
    size_t n = (size_t)(s.end - s.p);

    if (n && memchr(s.p, '\0', n))
        return wl_builder_fail(&r->b, r->id, "a NUL character in a name");
    *out = dse_arena_strndup(r->b.arena, n ? (const char *)s.p : "", n);
    return DSE_OK;
}

static dse_status set_attribute(reader *r, pb_range bytes)
{
    attribute a;
    dse_status st = read_attribute(r, bytes, &a);
    int which = st == DSE_OK ? find_attribute(a.name) : -1;

    if (st != DSE_OK || which < 0 || r->facts.has >> which & 1)
        return st;
    r->facts.has |= 1u << which;
    switch (which) {
    case WL_FACT_INPUTS:
    case WL_FACT_OUTPUTS: return read_tensors(r, &a, which == WL_FACT_OUTPUTS);
    case WL_FACT_INVOLVE_DIMS:
    case WL_FACT_INVOLVED_DIM:
        return which == (int)wl_builder_dims(&r->b) ? read_involved_dims(r, &a) : DSE_OK;
    case WL_FACT_PG_NAME:
        if (a.field != ATTR_STRING)
            return wl_builder_fail(&r->b, r->id, "pg_name is not a string");
        return set_string(r, a.bytes, &r->facts.group);
    default: break;
    }
    if (!a.is_integer)
        return wl_builder_fail(&r->b, r->id, "%s is not an integer", wl_fact_names[which].text);
    r->facts.value[which] = a.integer;
    return DSE_OK;
}

/* ---- nodes --------------------------------------------------------------------------------- */

static dse_status read_deps(reader *r, const pb_field *f, const unsigned char *at, bool control)
{
    pb_range list = f->bytes;
    uint64_t v;

    if (f->wire == PB_VARINT)
        return wl_builder_add_dep(&r->b, control, f->value);
    if (f->wire != PB_BYTES)
        return malformed(r, at, "a malformed dependency list");
    while (list.p < list.end) {
        dse_status st;

        if (!pb_get_varint(&list, &v))
            return malformed(r, list.p, "a malformed dependency list");
        if ((st = wl_builder_add_dep(&r->b, control, v)) != DSE_OK)
            return st;
    }
    return DSE_OK;
}

/* The id first, so that every message about the node can name it. */
static dse_status read_id(reader *r, pb_range bytes)
{
    pb_field f;
    int got;

    r->id = 0;
    while ((got = pb_get_field(&bytes, &f)) > 0)
        if (f.field == NODE_ID && f.wire == PB_VARINT)
            r->id = f.value;
    return got < 0 ? malformed(r, bytes.p, "a malformed node") : DSE_OK;
}

static dse_status read_node(reader *r, pb_range bytes)
{
    pb_field f;
    dse_status st = read_id(r, bytes);

    if (st == DSE_OK)
        st = wl_builder_begin_node(&r->b);
    r->node = (wl_node){0};
    r->facts = (wl_node_facts){0};
    while (st == DSE_OK) {
        const unsigned char *at = bytes.p;

        if (pb_get_field(&bytes, &f) <= 0)
            break;
        if (f.field == NODE_NAME && f.wire == PB_BYTES)
            st = set_string(r, f.bytes, &r->node.name);
        else if (f.field == NODE_TYPE && f.wire == PB_VARINT)
            r->node.type = f.value < 255 ? (uint8_t)f.value : 255;
        else if (f.field == NODE_DURATION && f.wire == PB_VARINT)
            r->node.duration_us = f.value;
        else if (f.field == NODE_CTRL_DEPS || f.field == NODE_DATA_DEPS)
            st = read_deps(r, &f, at, f.field == NODE_CTRL_DEPS);
        else if (f.field == NODE_ATTR && f.wire == PB_BYTES)
            st = set_attribute(r, f.bytes);
    }
    return st == DSE_OK ? wl_builder_end_node(&r->b, r->id, r->node, &r->facts) : st;
}

/* The next length-prefixed message; false with *st unset at the end of the file. */
static bool next_message(reader *r, pb_range *file, pb_range *out, dse_status *st)
{
    const unsigned char *at = file->p;
    uint64_t n;

    *st = DSE_OK;
    if (file->p == file->end)
        return false;
    if (!pb_get_varint(file, &n) || n > (uint64_t)(file->end - file->p)) {
        *st = malformed(r, at, "a message that is longer than the file");
        return false;
    }
    *out = (pb_range){file->p, file->p + n};
    file->p += n;
    return true;
}

/* GlobalMetadata begins with a string or an attribute, a node with a number. */
static dse_status check_metadata(reader *r, pb_range bytes)
{
    pb_field f;
    int got;

    while ((got = pb_get_field(&bytes, &f)) > 0)
        if (f.field == 1 && f.wire == PB_VARINT)
            return dse_fail_at(r->b.err, DSE_E_SYNTAX, r->b.path,
                               "the file begins with a node, not with metadata: it is not of schema v0.0.4");
    return got < 0 ? malformed(r, bytes.p, "malformed metadata") : DSE_OK;
}

dse_status wl_chakra_parse_et(const char *path, const unsigned char *bytes, size_t n, uint32_t rank,
                              wl_reading *how, dse_arena *a, wl_trace *out, dse_error *err)
{
    reader r = {.begin = bytes};
    pb_range file = {bytes, bytes + n}, message;
    dse_status st;

    wl_builder_init(&r.b, path, rank, how, a, err);
    if (!next_message(&r, &file, &message, &st)) {
        if (st == DSE_OK)
            st = dse_fail_at(err, DSE_E_SYNTAX, path, "the file is empty");
    } else {
        st = check_metadata(&r, message);
    }
    while (st == DSE_OK && next_message(&r, &file, &message, &st))
        st = read_node(&r, message);
    if (st == DSE_OK)
        st = wl_builder_finish(&r.b, out);
    wl_builder_free(&r.b);
    return st;
}
