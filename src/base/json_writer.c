#include "base/json_writer.h"

#include "base/array.h"
#include "base/names.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>

void dse_json_init(dse_json *j, dse_strbuf *out) { *j = (dse_json){.out = out}; }

static void before_value(dse_json *j)
{
    if (j->after_key) {
        j->after_key = false;
        return;
    }
    if (j->has_value[j->depth])
        dse_strbuf_addc(j->out, ',');
    if (j->newline)
        dse_strbuf_addc(j->out, '\n');
    j->newline = false;
    j->has_value[j->depth] = true;
}

static void open_scope(dse_json *j, char c)
{
    before_value(j);
    dse_strbuf_addc(j->out, c);
    assert(j->depth + 1 < (int)DSE_COUNT(j->has_value));
    j->has_value[++j->depth] = false;
}

static void close_scope(dse_json *j, char c)
{
    assert(j->depth > 0);
    j->depth--;
    dse_strbuf_addc(j->out, c);
}

void dse_json_begin_object(dse_json *j) { open_scope(j, '{'); }
void dse_json_end_object(dse_json *j) { close_scope(j, '}'); }
void dse_json_begin_array(dse_json *j) { open_scope(j, '['); }
void dse_json_end_array(dse_json *j) { close_scope(j, ']'); }

void dse_json_quote(dse_strbuf *b, const char *s)
{
    dse_strbuf_addc(b, '"');
    for (; *s; s++) {
        unsigned char c = (unsigned char)*s;

        if (c == '"' || c == '\\') {
            dse_strbuf_addc(b, '\\');
            dse_strbuf_addc(b, (char)c);
        } else if (c == '\n') {
            dse_strbuf_adds(b, "\\n");
        } else if (c == '\t') {
            dse_strbuf_adds(b, "\\t");
        } else if (c < 0x20) {
            dse_strbuf_addf(b, "\\u%04x", c);
        } else if (c < 0x80) {
            dse_strbuf_addc(b, (char)c);
        } else {
            size_t n = dse_utf8_length(s);

            if (n)
                dse_strbuf_add(b, s, n);
            else
                dse_strbuf_adds(b, "\\ufffd");
            s += n ? n - 1 : 0;
        }
    }
    dse_strbuf_addc(b, '"');
}

void dse_json_key(dse_json *j, const char *key)
{
    before_value(j);
    dse_json_quote(j->out, key);
    dse_strbuf_addc(j->out, ':');
    j->after_key = true;
}

void dse_json_string(dse_json *j, const char *s)
{
    before_value(j);
    dse_json_quote(j->out, s);
}

void dse_json_uint(dse_json *j, uint64_t v)
{
    before_value(j);
    dse_strbuf_addu(j->out, v);
}

void dse_json_key_uint(dse_json *j, const char *key, uint64_t v)
{
    dse_json_key(j, key);
    dse_json_uint(j, v);
}

void dse_json_key_fixed(dse_json *j, const char *key, double v, int decimals)
{
    dse_json_key(j, key);
    dse_json_fixed(j, v, decimals);
}

void dse_json_key_double(dse_json *j, const char *key, double v)
{
    dse_json_key(j, key);
    if (isfinite(v))
        dse_json_double(j, v);
    else
        dse_json_null(j);
}

void dse_json_key_string(dse_json *j, const char *key, const char *s)
{
    dse_json_key(j, key);
    if (s)
        dse_json_string(j, s);
    else
        dse_json_null(j);
}

void dse_json_int(dse_json *j, int64_t v)
{
    before_value(j);
    dse_strbuf_addf(j->out, "%lld", (long long)v);
}

void dse_json_bool(dse_json *j, bool v)
{
    before_value(j);
    dse_strbuf_adds(j->out, v ? "true" : "false");
}

void dse_json_null(dse_json *j)
{
    before_value(j);
    dse_strbuf_adds(j->out, "null");
}

void dse_json_double(dse_json *j, double v)
{
    before_value(j);
    if (isfinite(v))
        dse_strbuf_add_repr(j->out, v);
    else
        dse_strbuf_addf(j->out, "\"%f\"", v);
}

void dse_json_fixed(dse_json *j, double v, int decimals)
{
    before_value(j);
    dse_strbuf_addf(j->out, isfinite(v) ? "%.*f" : "\"%.*f\"", decimals, v);
}

void dse_json_newline(dse_json *j) { j->newline = true; }

void dse_json_key_object(dse_json *j, const char *key)
{
    dse_json_key(j, key);
    dse_json_begin_object(j);
}

void dse_json_open(dse_json *j, dse_strbuf *out)
{
    dse_json_init(j, out);
    dse_json_begin_object(j);
}

void dse_json_close(dse_json *j)
{
    dse_json_end_object(j);
    dse_strbuf_addc(j->out, '\n');
}

void dse_json_raw(dse_json *j) { before_value(j); }
