/* A snapshot written by json.dump: the same structure as JSON. */
#include "trace/snapshot.h"

#include "trace/json_scan.h"

#include <inttypes.h>
#include <math.h>

typedef struct {
    trace_json json;
    const trace_plain_listener *to;
    dse_error *err;
} reader;

static dse_status read_value(reader *r, trace_plain *out, int depth);

/* The scanner's fault, if there is one. */
static dse_status stopped(const reader *r)
{
    const trace_json *s = &r->json;

    if (s->fault == TRACE_JSON_FINE)
        return DSE_OK;
    if (*s->source->broken)
        return dse_fail(r->err, DSE_E_IO, "cannot read on: %s", s->source->broken);
    return dse_fail(r->err, DSE_E_SYNTAX, "%s",
                    s->fault == TRACE_JSON_ENDED
                        ? "the file ends here; it was cut off, and nothing of it can be trusted"
                        : s->why);
}

static void text_of(reader *r, trace_plain *out)
{
    *out = (trace_plain){.kind = TRACE_PLAIN_TEXT, .id = DSE_NONE};
    if (r->json.length <= TRACE_PLAIN_MAX_TEXT)
        out->id = trace_names_add(r->to->names, r->json.text, r->json.length);
}

/* Whole numbers of up to 64 bits are exact, in any spelling. */
static dse_status number_of(reader *r, trace_plain *out)
{
    const trace_json *s = &r->json;
    trace_decimal d;

    if (trace_decimal_of(s->text, s->length, &d) && d.millionths == 0) {
        double near = trace_double_of(s->text, s->length);

        if (near == (double)d.whole) {
            *out = (trace_plain){.kind = TRACE_PLAIN_INT, .id = DSE_NONE, .v.integer = d.whole};
            return DSE_OK;
        }
    }
    *out = (trace_plain){
        .kind = TRACE_PLAIN_FLOAT, .id = DSE_NONE, .v.number = trace_double_of(s->text, s->length)};
    return isnan(out->v.number) ? dse_fail(r->err, DSE_E_SYNTAX, "'%.*s' is no number of use here",
                                           (int)(s->length < 40 ? s->length : 40), s->text)
                                : DSE_OK;
}

static void word_of(const reader *r, trace_plain *out)
{
    char c = *r->json.text;

    *out = (trace_plain){.kind = c == 't' || c == 'f' ? TRACE_PLAIN_BOOL : TRACE_PLAIN_NONE,
                         .id = DSE_NONE,
                         .v.integer = c == 't'};
}

static dse_status read_container(reader *r, trace_plain_kind kind, trace_plain *out, int depth)
{
    const trace_plain_listener *to = r->to;
    dse_status st = DSE_OK;
    trace_plain key, value;

    *out = (trace_plain){.kind = kind, .id = DSE_NONE};
    while (st == DSE_OK &&
           (kind == TRACE_PLAIN_DICT ? trace_json_key(&r->json) : trace_json_item(&r->json))) {
        if (kind == TRACE_PLAIN_DICT)
            text_of(r, &key);
        st = read_value(r, &value, depth + 1);
        if (st == DSE_OK)
            to->item(to->to, kind, &out->id, kind == TRACE_PLAIN_DICT ? &key : NULL, &value);
    }
    if (st == DSE_OK)
        st = stopped(r);
    return st == DSE_OK ? to->close(to->to, kind, &out->id, r->err) : st;
}

/* Recursion ends at TRACE_JSON_MAX_DEPTH. */
static dse_status read_value(reader *r, trace_plain *out, int depth)
{
    trace_json_kind kind = trace_json_value(&r->json);

    *out = (trace_plain){.kind = TRACE_PLAIN_NONE, .id = DSE_NONE};
    if (depth == TRACE_JSON_MAX_DEPTH)
        return dse_fail(r->err, DSE_E_SYNTAX, "values are nested deeper than %d", TRACE_JSON_MAX_DEPTH);
    switch (kind) {
    case TRACE_JSON_OBJECT: return read_container(r, TRACE_PLAIN_DICT, out, depth);
    case TRACE_JSON_ARRAY: return read_container(r, TRACE_PLAIN_LIST, out, depth);
    case TRACE_JSON_STRING: text_of(r, out); return DSE_OK;
    case TRACE_JSON_NUMBER: return number_of(r, out);
    case TRACE_JSON_WORD: word_of(r, out); return DSE_OK;
    default: return stopped(r);
    }
}

dse_status trace_snapshot_read_json(trace_source *source, const char *path, const trace_plain_listener *to,
                                    trace_plain *root, dse_error *err)
{
    reader r = {.to = to, .err = err};
    char where[256];
    dse_status st;

    trace_json_init(&r.json, source);
    st = read_value(&r, root, 0);
    if (st == DSE_OK && trace_json_follows(&r.json))
        st = dse_fail(err, DSE_E_SYNTAX, "something follows the snapshot");
    snprintf(where, sizeof where, "%.200s: byte %" PRIu64, path,
             r.json.fault == TRACE_JSON_FINE ? trace_json_offset(&r.json) : r.json.fault_at);
    if (st != DSE_OK && err)
        dse_error_set_where(err, where);
    trace_json_free(&r.json);
    return st;
}
