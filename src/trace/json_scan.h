/* trace_json -- a pull parser of JSON: reads a trace_source value by value and never holds the whole text.
 *
 *     if (trace_json_value(&s) == TRACE_JSON_OBJECT)
 *         while (trace_json_key(&s))
 *             if (trace_json_is(&s, "name") && trace_json_value(&s) == TRACE_JSON_STRING)
 *                 ... s.text, s.length ...
 *             else
 *                 trace_json_skip(&s);
 *
 * After a key the caller calls trace_json_value or trace_json_skip exactly once, and after an object or array
 * it loops over that or calls trace_json_leave. After the first fault, and at the end of the bytes, all
 * functions return false or TRACE_JSON_NONE: loops need no checks, and the caller checks `fault` once at the
 * end.
 *
 * It accepts a little more than JSON, as writers of traces produce it: a comma before a closing bracket, raw
 * control characters in strings, and the words NaN and Infinity. Skipped values are checked for matching
 * brackets and depth only.
 *
 * Texts are valid UTF-8 without NUL: invalid bytes, lone surrogates and NUL become U+FFFD and are counted. A
 * text longer than the window is cut to that length and counted; skipped texts may have any length. */
#ifndef DSE_TRACE_JSON_SCAN_H
#define DSE_TRACE_JSON_SCAN_H

#include "base/strbuf.h"
#include "trace/json_find.h"
#include "trace/names.h"
#include "trace/source.h"

#include <string.h>

#define TRACE_JSON_MAX_DEPTH 64 /* of what is skipped */

typedef enum {
    TRACE_JSON_NONE, /* no value: a fault */
    TRACE_JSON_OBJECT,
    TRACE_JSON_ARRAY,
    TRACE_JSON_STRING,
    TRACE_JSON_NUMBER,
    TRACE_JSON_WORD /* true, false, null, NaN, Infinity, -Infinity */
} trace_json_kind;

typedef enum {
    TRACE_JSON_FINE,
    TRACE_JSON_ENDED, /* the bytes end within a value */
    TRACE_JSON_BROKEN /* they are not JSON */
} trace_json_fault;

typedef struct {
    trace_source *source;
    const char *at, *end; /* of the window: what is next, and its end */
    /* of the last key, string, number or word, until the next call: not NUL-terminated, but 16 more bytes
     * may be read behind it */
    const char *text;
    size_t length;
    bool fresh; /* just after an opening bracket: no comma is due */
    trace_json_fault fault;
    uint64_t fault_at;              /* byte of the text */
    char why[96];                   /* "expected ',' or '}'" */
    uint64_t n_invalid, invalid_at; /* texts that were not valid; the byte of the first */
    uint64_t n_cut, cut_at;         /* texts that were too long */
    char *decoded;                  /* a text that differs from its bytes in the file */
    size_t n_decoded, cap_decoded;
    dse_strbuf list; /* of trace_json_list_name */
} trace_json;

/* Begins at the source's first byte and skips a byte order mark. The source is borrowed. */
void trace_json_init(trace_json *s, trace_source *source);
void trace_json_free(trace_json *s);

/* Offset of the next byte, in the uncompressed text. */
static inline uint64_t trace_json_offset(const trace_json *s)
{
    return s->source->offset + (uint64_t)(s->at - s->source->window);
}

/* ---- values ---------------------------------------------------------------------------------- */

/* Reads the next key of the current object into text; false after the last one. */
static inline bool trace_json_key(trace_json *s);

/* Whether the current array has another item. */
static inline bool trace_json_item(trace_json *s);

/* Reads a string, number or word into text, or enters an object or array. */
static inline trace_json_kind trace_json_value(trace_json *s);

/* Skips a value. */
static inline void trace_json_skip(trace_json *s);

/* Skips the rest of the current object or array. */
void trace_json_leave(trace_json *s, trace_json_kind container);

/* Whether a value that was just read is a string or a number; leaves an object or array. */
static inline bool trace_json_scalar(trace_json *s, trace_json_kind kind)
{
    if (kind == TRACE_JSON_OBJECT || kind == TRACE_JSON_ARRAY)
        trace_json_leave(s, kind);
    return kind == TRACE_JSON_STRING || kind == TRACE_JSON_NUMBER;
}

/* Reads a value and says whether it is of this kind; leaves an object or array that is not. */
static inline bool trace_json_enter(trace_json *s, trace_json_kind wanted);

/* The rest of an array of scalars as a name, spelt as Python prints a list: "[0, 1]". Ends after
 * max_bytes. */
uint32_t trace_json_list_name(trace_json *s, size_t max_bytes, trace_names *names);

/* Whether anything but blanks follows the outermost value. */
bool trace_json_follows(trace_json *s);

/* Whether text is this word. */
static inline bool trace_json_is(const trace_json *s, const char *word)
{
    size_t n = strlen(word);

    return s->length == n && memcmp(s->text, word, n) == 0;
}

/* ---- numbers --------------------------------------------------------------------------------- */

/* A decimal number, truncated after the sixth decimal. Both parts have its sign. */
typedef struct {
    int64_t whole;
    int32_t millionths;
} trace_decimal;

/* Parses decimal text, with an exponent or without. False: not a number, or the whole part does not fit. */
bool trace_decimal_of(const char *text, size_t n, trace_decimal *out);

/* Reads the next value, without blanks before it, if it is a decimal of up to 18 digits and 6 decimals,
 * without sign or exponent, and not at the window's end, as nearly all times are. Otherwise false, and
 * nothing is read. */
bool trace_json_decimal(trace_json *s, trace_decimal *out);

/* A whole number from 0 to max, such as "12", "12.0" or "1.2e1"; UINT64_MAX for any other text. */
uint64_t trace_whole_of(const char *text, size_t n, uint64_t max);

/* The nearest double; NaN if the text is not a number, is out of range, or is longer than 127 bytes. */
double trace_double_of(const char *text, size_t n);

/* ---- internals ------------------------------------------------------------------------------- */

/* Moves the window to begin at s->at and reads more bytes. False: there are none, or no room. */
bool trace_json_more(trace_json *s);

/* Sets the fault at the next byte, unless there is one already; returns false. */
bool trace_json_fail(trace_json *s, trace_json_fault fault, const char *why);

/* "expected ',' or '}'", or that the bytes ended. */
bool trace_json_unexpected(trace_json *s, const char *why);

bool trace_json_string_slow(trace_json *s);
bool trace_json_colon_slow(trace_json *s);
void trace_json_skip_slow(trace_json *s);
trace_json_kind trace_json_bare(trace_json *s); /* a number or a word */

/* The next byte that is not blank; 0 at the end. A 0 in the file is returned as 1, which no caller
 * expects. */
static inline unsigned char trace_json_peek(trace_json *s)
{
    unsigned char c = (unsigned char)*s->at;

    if (c > ' ')
        return c;
    for (;;) {
        s->at = trace_json_find_nonblank(s->at);
        if ((c = (unsigned char)*s->at))
            return c;
        if (s->at < s->end)
            return 1;
        if (!trace_json_more(s))
            return 0;
    }
}

static inline bool trace_json_string(trace_json *s)
{
    const char *from = s->at + 1, *p = trace_json_find_special(from);

    if (*p != '"')
        return trace_json_string_slow(s);
    s->text = from;
    s->length = (size_t)(p - from);
    s->at = p + 1;
    return true;
}

static inline bool trace_json_key(trace_json *s)
{
    unsigned char c = trace_json_peek(s);

    if (!s->fresh) {
        if (c != ',' && c != '}')
            return trace_json_unexpected(s, "expected ',' or '}'");
        if (c == ',') {
            s->at++;
            c = trace_json_peek(s);
        }
    }
    s->fresh = false;
    if (c == '}') {
        s->at++;
        return false;
    }
    if (c != '"')
        return trace_json_unexpected(s, "expected a key");
    if (!trace_json_string(s))
        return false;
    if (*s->at != ':')
        return trace_json_colon_slow(s);
    s->at++;
    return true;
}

static inline bool trace_json_item(trace_json *s)
{
    unsigned char c = trace_json_peek(s);

    if (!s->fresh) {
        if (c != ',' && c != ']')
            return trace_json_unexpected(s, "expected ',' or ']'");
        if (c == ',') {
            s->at++;
            c = trace_json_peek(s);
        }
    }
    s->fresh = false;
    if (c == ']')
        s->at++;
    else if (!c)
        return trace_json_unexpected(s, "expected a value");
    return c != ']';
}

static inline trace_json_kind trace_json_value(trace_json *s)
{
    unsigned char c = trace_json_peek(s);

    if (c == '"')
        return trace_json_string(s) ? TRACE_JSON_STRING : TRACE_JSON_NONE;
    if (c != '{' && c != '[') {
        const unsigned n = trace_json_digits(s->at);

        if (!n || (s->at[n] != ',' && s->at[n] != ']' && s->at[n] != '}'))
            return trace_json_bare(s);
        s->text = s->at; /* most are whole numbers of a few digits */
        s->length = n;
        s->at += n;
        return TRACE_JSON_NUMBER;
    }
    s->at++;
    s->fresh = true;
    return c == '{' ? TRACE_JSON_OBJECT : TRACE_JSON_ARRAY;
}

/* Most of what is skipped are whole numbers of a few digits. */
static inline void trace_json_skip(trace_json *s)
{
    const unsigned n = trace_json_digits(s->at);

    if (n && (s->at[n] == ',' || s->at[n] == '}' || s->at[n] == '\n'))
        s->at += n;
    else
        trace_json_skip_slow(s);
}

static inline bool trace_json_enter(trace_json *s, trace_json_kind wanted)
{
    trace_json_kind kind = trace_json_value(s);

    if (kind != wanted)
        trace_json_scalar(s, kind);
    return kind == wanted;
}

#endif
