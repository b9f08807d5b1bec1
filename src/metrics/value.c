#include "metrics/value.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static metric_value *new_value(dse_arena *a, metric_value_kind kind)
{
    metric_value *v = DSE_ARENA_NEW(a, metric_value, 1);

    v->kind = kind;
    v->arena = a;
    return v;
}

metric_value *metric_object_new(dse_arena *a) { return new_value(a, METRIC_OBJECT); }

static metric_value *put(metric_value *to, const char *key, metric_value_kind kind)
{
    metric_value *v = new_value(to->arena, kind);

    if (key)
        v->key = dse_arena_strdup(to->arena, key);
    *(to->last ? &to->last->next : &to->first) = v;
    return to->last = v;
}

void metric_take(metric_value *to, metric_value *from)
{
    if (!from->first)
        return;
    *(to->last ? &to->last->next : &to->first) = from->first;
    to->last = from->last;
    from->first = from->last = NULL;
}

metric_value *metric_put_number(metric_value *to, const char *key, double number)
{
    metric_value *v = put(to, key, isfinite(number) ? METRIC_NUMBER : METRIC_ABSENT);

    v->number = number;
    return v;
}

metric_value *metric_put_number_or(metric_value *to, const char *key, double v, const char *why)
{
    return isfinite(v) ? metric_put_number(to, key, v) : metric_put_absent(to, key, why);
}

metric_value *metric_put_integer(metric_value *to, const char *key, int64_t integer)
{
    metric_value *v = put(to, key, METRIC_INTEGER);

    v->integer = integer;
    return v;
}

metric_value *metric_put_count(metric_value *to, const char *key, uint64_t n)
{
    return n <= INT64_MAX ? metric_put_integer(to, key, (int64_t)n) : metric_put_number(to, key, (double)n);
}

metric_value *metric_put_bool(metric_value *to, const char *key, bool yes)
{
    metric_value *v = put(to, key, METRIC_BOOL);

    v->integer = yes;
    return v;
}

metric_value *metric_put_text(metric_value *to, const char *key, const char *text)
{
    metric_value *v = put(to, key, METRIC_TEXT);

    v->text = dse_arena_strdup(to->arena, text);
    return v;
}

void metric_make_absent(metric_value *v, const char *why)
{
    v->kind = METRIC_ABSENT;
    v->first = v->last = NULL;
    v->text = why ? dse_arena_strdup(v->arena, why) : NULL;
}

metric_value *metric_put_absent(metric_value *to, const char *key, const char *why)
{
    metric_value *v = put(to, key, METRIC_ABSENT);

    metric_make_absent(v, why);
    return v;
}

metric_value *metric_put_object(metric_value *to, const char *key) { return put(to, key, METRIC_OBJECT); }

metric_value *metric_put_list(metric_value *to, const char *key) { return put(to, key, METRIC_LIST); }

metric_value *metric_put_ms(metric_value *to, const char *key, int64_t ps)
{
    return metric_put_number(to, key, (double)ps / 1e9);
}

metric_value *metric_put_us(metric_value *to, const char *key, int64_t ps)
{
    return metric_put_number(to, key, (double)ps / 1e6);
}

metric_value *metric_put_s(metric_value *to, const char *key, int64_t ps)
{
    return metric_put_number(to, key, (double)ps / 1e12);
}

const metric_value *metric_get(const metric_value *v, const char *key)
{
    const metric_value *i = v ? v->first : NULL;

    while (i && (!i->key || strcmp(i->key, key) != 0))
        i = i->next;
    return i;
}

double metric_number(const metric_value *v)
{
    return v && v->kind == METRIC_NUMBER    ? v->number
           : v && v->kind == METRIC_INTEGER ? (double)v->integer
                                            : NAN;
}

/* ---- text ---------------------------------------------------------------------------------- */

static void indent(int depth, dse_strbuf *out)
{
    dse_strbuf_addc(out, '\n');
    for (int i = 0; i < depth; i++)
        dse_strbuf_adds(out, "  ");
}

void metric_write_json(const metric_value *v, int depth, dse_strbuf *out)
{
    switch (v->kind) {
    case METRIC_NUMBER: dse_strbuf_add_repr(out, v->number); return;
    case METRIC_INTEGER: dse_strbuf_addf(out, "%" PRId64, v->integer); return;
    case METRIC_BOOL: dse_strbuf_adds(out, v->integer ? "true" : "false"); return;
    case METRIC_TEXT: dse_json_quote(out, v->text); return;
    case METRIC_ABSENT: dse_strbuf_adds(out, "null"); return;
    case METRIC_OBJECT:
    case METRIC_LIST: break;
    }
    dse_strbuf_addc(out, v->kind == METRIC_OBJECT ? '{' : '[');
    for (const metric_value *i = v->first; i; i = i->next) {
        indent(depth + 1, out);
        if (i->key) {
            dse_json_quote(out, i->key);
            dse_strbuf_adds(out, ": ");
        }
        metric_write_json(i, depth + 1, out);
        if (i->next)
            dse_strbuf_addc(out, ',');
    }
    if (v->first)
        indent(depth, out);
    dse_strbuf_addc(out, v->kind == METRIC_OBJECT ? '}' : ']');
}

void metric_write_scalar(const metric_value *v, dse_strbuf *out)
{
    if (v->kind == METRIC_ABSENT)
        dse_strbuf_adds(out, "nan");
    else if (v->kind == METRIC_TEXT)
        dse_strbuf_adds(out, v->text);
    else
        metric_write_json(v, 0, out);
}
