/* trace_json -- pulls JSON out of a trace_source, value by value, without ever holding the text as a whole.
 *
 *     if (trace_json_value(&s) == TRACE_JSON_OBJECT)
 *         while (trace_json_key(&s))
 *             if (trace_json_is(&s, "name") && trace_json_value(&s) == TRACE_JSON_STRING)
 *                 ... s.text, s.length ...
 *             else
 *                 trace_json_skip(&s);
 *
 * After a key comes exactly one trace_json_value or trace_json_skip, and after a value that is an object or an array the
 * loop over it, or trace_json_leave. At the first fault, and at the end of the bytes, everything returns false or
 * TRACE_JSON_NONE from then on: so no loop needs to ask, and whoever started asks once, by `fault`.
 *
 * It takes a little more than JSON: a comma before a closing bracket, raw control characters in strings, and the words
 * NaN and Infinity, since writers of traces do. What it skips is checked for matching brackets and depth alone.
 *
 * Texts are valid UTF-8 without NUL, whatever the file holds: what is not valid, a lone surrogate and a NUL become U+FFFD
 * and are counted. A text longer than the window is cut to that length, and counted; a skipped one may be of any. */
#ifndef DSE_TRACE_JSON_SCAN_H
#define DSE_TRACE_JSON_SCAN_H

#include "trace/json_find.h"
#include "trace/source.h"

#include <string.h>

#define TRACE_JSON_MAX_DEPTH 64 /* of what is skipped */

typedef enum {
    TRACE_JSON_NONE, /* there is none: a fault */
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
    const char
        *text; /* of the last key, string, number or word, until the next call: not NUL-terminated, but 16
                           * more bytes may be read behind it */
    size_t length;
    bool fresh; /* just behind an opening bracket: no comma is due */
    trace_json_fault fault;
    uint64_t fault_at;              /* byte of the text */
    char why[96];                   /* "expected ',' or '}'" */
    uint64_t n_invalid, invalid_at; /* texts that were not valid; the byte of the first */
    uint64_t n_cut, cut_at;         /* texts that were too long */
    char *decoded;                  /* a text that does not stand in the file as it is */
    size_t n_decoded, cap_decoded;
} trace_json;

/* Begins at the source's first byte (a byte order mark is passed over). The source is borrowed. */
void trace_json_init(trace_json *s, trace_source *source);
void trace_json_free(trace_json *s);

/* Byte of the text, uncompressed, that is next. */
static inline uint64_t trace_json_offset(const trace_json *s)
{
    return s->source->offset + (uint64_t)(s->at - s->source->window);
}

/* ---- values -------------------------------------------------------------------------------- */

/* The next key of the object that one is in, into text; false behind its last. */
static inline bool trace_json_key(trace_json *s);

/* Whether the array that one is in has another item, which is next. */
static inline bool trace_json_item(trace_json *s);

/* Reads a string, number or word whole, into text; steps into an object or array. */
static inline trace_json_kind trace_json_value(trace_json *s);

/* Passes over a value. */
void trace_json_skip(trace_json *s);

/* Passes over the rest of the object or array that one is in. */
void trace_json_leave(trace_json *s, trace_json_kind container);

/* Whether anything but blanks follows: asked behind the outermost value. */
bool trace_json_follows(trace_json *s);

/* Whether text is this word. */
static inline bool trace_json_is(const trace_json *s, const char *word)
{
    size_t n = strlen(word);

    return s->length == n && memcmp(s->text, word, n) == 0;
}

/* ---- numbers ------------------------------------------------------------------------------- */

/* A decimal number, exact up to its sixth decimal and cut there. Both parts have its sign. */
typedef struct {
    int64_t whole;
    int32_t millionths;
} trace_decimal;

/* Of decimal text, with an exponent or without. False: it is none, or its whole part does not fit. */
bool trace_decimal_of(const char *text, size_t n, trace_decimal *out);

/* The decimal that is the next value (no blanks before it), if it is one of up to 18 digits and 6 decimals, without sign or
 * exponent, and not at the window's end: nearly every time is. Else false, and nothing has been read. */
bool trace_json_decimal(trace_json *s, trace_decimal *out);

/* A whole number from 0 to max; UINT64_MAX if the text is none. "12", "12.0" and "1.2e1" are. */
uint64_t trace_whole_of(const char *text, size_t n, uint64_t max);

/* The nearest double; NaN if the text is no number, one beyond the range of doubles, or longer than 127 bytes. */
double trace_double_of(const char *text, size_t n);

/* ---- within -------------------------------------------------------------------------------- */

/* More bytes behind the window, which begins at s->at then. False: there are none, or no room. */
bool trace_json_more(trace_json *s);

/* Sets the fault, unless there is one, at the next byte; false. */
bool trace_json_fail(trace_json *s, trace_json_fault fault, const char *why);

/* "expected ',' or '}'", or that the bytes ended. */
bool trace_json_unexpected(trace_json *s, const char *why);

bool trace_json_string_slow(trace_json *s);
bool trace_json_colon_slow(trace_json *s);
trace_json_kind trace_json_bare(trace_json *s); /* a number or a word */

/* The next byte that is no blank; 0 if there is none. A 0 in the file is 1: nothing that anybody expects. */
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
    if (c != '{' && c != '[')
        return trace_json_bare(s);
    s->at++;
    s->fresh = true;
    return c == '{' ? TRACE_JSON_OBJECT : TRACE_JSON_ARRAY;
}

#endif
