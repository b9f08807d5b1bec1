#include "trace/json_scan.h"

#include "base/array.h"

void trace_json_init(trace_json *s, trace_source *source)
{
    *s = (trace_json){.source = source, .at = source->window, .end = source->window + source->n};
    dse_strbuf_init(&s->list);
    if (source->n >= 3 && memcmp(s->at, "\xef\xbb\xbf", 3) == 0)
        s->at += 3;
}

void trace_json_free(trace_json *s)
{
    dse_free(s->decoded);
    s->decoded = NULL;
    dse_strbuf_free(&s->list);
}

/* ---- the window, and faults ------------------------------------------------------------------ */

bool trace_json_more(trace_json *s)
{
    size_t got;

    if (s->fault)
        return false;
    got = trace_source_more(s->source, (size_t)(s->at - s->source->window));
    s->at = s->source->window;
    s->end = s->at + s->source->n;
    return got > 0;
}

/* From now on the next byte is always the 0 after the window. */
bool trace_json_fail(trace_json *s, trace_json_fault fault, const char *why)
{
    if (!s->fault) {
        s->fault = fault;
        s->fault_at = trace_json_offset(s);
        strncpy(s->why, why, sizeof s->why - 1);
    }
    s->at = s->end;
    s->fresh = false;
    return false;
}

bool trace_json_unexpected(trace_json *s, const char *why)
{
    return trace_json_peek(s) ? trace_json_fail(s, TRACE_JSON_BROKEN, why)
                              : trace_json_fail(s, TRACE_JSON_ENDED, "the text ends within a value");
}

/* Reads on until n bytes are in the window; returns how many there are. */
static size_t ensure(trace_json *s, size_t n)
{
    while ((size_t)(s->end - s->at) < n && trace_json_more(s))
        ;
    return (size_t)(s->end - s->at);
}

bool trace_json_follows(trace_json *s) { return !s->fault && trace_json_peek(s) != 0; }

uint32_t trace_json_list_name(trace_json *s, size_t max_bytes, trace_names *names)
{
    dse_strbuf *text = &s->list;

    dse_strbuf_clear(text);
    while (trace_json_item(s))
        if (trace_json_scalar(s, trace_json_value(s)) && text->len < max_bytes) {
            dse_strbuf_adds(text, text->len ? ", " : "[");
            dse_strbuf_add(text, s->text, s->length);
        }
    dse_strbuf_adds(text, text->len ? "]" : "[]");
    return trace_names_add(names, text->data, text->len);
}

/* ---- strings --------------------------------------------------------------------------------- */

/* A string being decoded: invalid bytes become U+FFFD. */
typedef struct {
    bool invalid, cut;
    uint64_t from;
} decoding;

static void grow_decoded(trace_json *s, size_t n)
{
    size_t known = s->cap_decoded;

    DSE_GROW(s->decoded, s->cap_decoded, n + 16); /* readers may load words past the end */
    memset(s->decoded + known, 0, s->cap_decoded - known);
}

/* Cuts the text at the size of the window; `whole` bytes are added all or not at all. */
static void append(trace_json *s, decoding *d, const char *bytes, size_t n, bool whole)
{
    size_t room = s->source->cap - s->n_decoded;

    if (d->cut)
        return;
    if (n > room) {
        d->cut = true;
        n = whole ? 0 : room;
    }
    grow_decoded(s, s->n_decoded + n);
    if (n)
        memcpy(s->decoded + s->n_decoded, bytes, n);
    s->n_decoded += n;
}

static void append_invalid(trace_json *s, decoding *d)
{
    d->invalid = true;
    append(s, d, "\xef\xbf\xbd", 3, true);
}

/* A code point as UTF-8: the first byte says how many follow, each of which has six of its bits. */
static void append_code(trace_json *s, decoding *d, uint32_t c)
{
    static const unsigned char first[] = {0, 0xc0, 0xe0, 0xf0};
    size_t more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    char b[4];

    for (size_t i = more; i > 0; i--, c >>= 6)
        b[i] = (char)(0x80 | (c & 0x3f));
    b[0] = (char)(first[more] | c);
    append(s, d, b, more + 1, true);
}

/* The code of \uXXXX at p; -1: it is not that. */
static int32_t code_at(const char *p, size_t n)
{
    int32_t c = 0;

    if (n < 6 || p[0] != '\\' || p[1] != 'u')
        return -1;
    for (int i = 2; i < 6; i++) {
        static const char digits[] = "0123456789abcdef0123456789ABCDEF";
        const char *d = p[i] ? strchr(digits, p[i]) : NULL;

        if (!d)
            return -1;
        c = c * 16 + (int32_t)((d - digits) & 15);
    }
    return c;
}

static bool decode_unicode(trace_json *s, decoding *d, size_t n)
{
    int32_t c = code_at(s->at, n), low;

    if (c < 0)
        return trace_json_fail(s, n < 6 ? TRACE_JSON_ENDED : TRACE_JSON_BROKEN, "an escape is incomplete");
    s->at += 6;
    if (c >= 0xd800 && c < 0xdc00) {
        low = code_at(s->at, n - 6);
        if (low >= 0xdc00 && low <= 0xdfff) {
            s->at += 6;
            c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
        }
    }
    if (c == 0 || (c >= 0xd800 && c < 0xe000))
        append_invalid(s, d);
    else
        append_code(s, d, (uint32_t)c);
    return true;
}

static bool decode_escape(trace_json *s, decoding *d)
{
    static const char letters[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    size_t n = ensure(s, 12); /* two of \uXXXX */
    const char *letter;

    if (n < 2)
        return trace_json_fail(s, TRACE_JSON_ENDED, "the text ends within a string");
    if (s->at[1] == 'u')
        return decode_unicode(s, d, n);
    letter = s->at[1] ? strchr(letters, s->at[1]) : NULL;
    if (!letter)
        return trace_json_fail(s, TRACE_JSON_BROKEN, "there is no such escape");
    s->at += 2;
    append(s, d, &meant[letter - letters], 1, true);
    return true;
}

/* Length of the valid UTF-8 sequence at p; 0. Table 3-7 of the Unicode standard. */
static size_t sequence_at(const unsigned char *p, size_t n)
{
    static const struct {
        unsigned char first, last, low, high; /* of the first byte; of the second */
        size_t length;
    } forms[] = {{0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3}, {0xe1, 0xec, 0x80, 0xbf, 3},
                 {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3}, {0xf0, 0xf0, 0x90, 0xbf, 4},
                 {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4}};

    for (size_t i = 0; i < DSE_COUNT(forms); i++) {
        if (*p < forms[i].first || *p > forms[i].last)
            continue;
        if (n < forms[i].length || p[1] < forms[i].low || p[1] > forms[i].high)
            return 0;
        for (size_t k = 2; k < forms[i].length; k++)
            if ((p[k] & 0xc0) != 0x80)
                return 0;
        return forms[i].length;
    }
    return 0;
}

static bool decode_special(trace_json *s, decoding *d)
{
    size_t n;

    if (*s->at == '\\')
        return decode_escape(s, d);
    n = ensure(s, 4);
    n = sequence_at((const unsigned char *)s->at, n);
    s->at += n ? n : 1;
    if (n)
        append(s, d, s->at - n, n, true);
    else
        append_invalid(s, d);
    return true;
}

/* A string with escapes or other than ASCII, or across the end of the window. s->at is its opening quote. */
static bool decode(trace_json *s)
{
    decoding d = {.from = trace_json_offset(s)};

    s->n_decoded = 0;
    s->at++;
    for (;;) {
        const char *p = trace_json_find_special(s->at), *from = s->at;

        s->at = p;
        append(s, &d, from, (size_t)(p - from), false);
        if (*p == '"')
            break;
        if (p != s->end) {
            if (!decode_special(s, &d))
                return false;
        } else if (!trace_json_more(s)) {
            return trace_json_fail(s, TRACE_JSON_ENDED, "the text ends within a string");
        }
    }
    s->at++;
    if (d.invalid && !s->n_invalid++)
        s->invalid_at = d.from;
    if (d.cut && !s->n_cut++)
        s->cut_at = d.from;
    s->text = s->decoded;
    s->length = s->n_decoded;
    return true;
}

bool trace_json_string_slow(trace_json *s)
{
    const char *p;

    while ((p = trace_json_find_special(s->at + 1)) == s->end && trace_json_more(s))
        ;
    p = trace_json_find_special(s->at + 1); /* reading more may have moved it */
    if (*p != '"')
        return decode(s);
    s->text = s->at + 1;
    s->length = (size_t)(p - s->at - 1);
    s->at = p + 1;
    return true;
}

/* Blanks before the colon, or the end of the window: the key is copied, as the window may move. */
bool trace_json_colon_slow(trace_json *s)
{
    if (s->text != s->decoded) {
        grow_decoded(s, s->length);
        memcpy(s->decoded, s->text, s->length);
        s->text = s->decoded;
    }
    if (trace_json_peek(s) != ':')
        return trace_json_unexpected(s, "expected ':'");
    s->at++;
    return true;
}

/* ---- numbers and words ----------------------------------------------------------------------- */

static bool is_letter(unsigned char c) { return (unsigned char)((c | 0x20) - 'a') < 26; }

static trace_json_kind word(trace_json *s, const char *p)
{
    static const char *const words[] = {"true", "false",    "null",      "NaN", "-NaN",
                                        "nan",  "Infinity", "-Infinity", "inf", "-inf"};

    s->text = s->at;
    s->length = (size_t)(p - s->at);
    for (size_t i = 0; i < DSE_COUNT(words); i++)
        if (trace_json_is(s, words[i])) {
            s->at = p;
            return TRACE_JSON_WORD;
        }
    trace_json_fail(s, p == s->end ? TRACE_JSON_ENDED : TRACE_JSON_BROKEN, "expected a value");
    return TRACE_JSON_NONE;
}

static const char *bare_end(const trace_json *s, bool *is_number)
{
    const char *p = trace_json_find_number_end(s->at);

    *is_number = !is_letter((unsigned char)*p);
    while (is_letter((unsigned char)*p))
        p++;
    return p;
}

/* A word, or a value at the end of the window. */
static trace_json_kind bare_slow(trace_json *s)
{
    bool is_number;
    const char *p = bare_end(s, &is_number);

    while (p == s->end && trace_json_more(s))
        p = bare_end(s, &is_number);
    p = bare_end(s, &is_number); /* reading more may have moved it */
    if (p == s->at) {
        trace_json_unexpected(s, "expected a value");
        return TRACE_JSON_NONE;
    }
    if (p == s->end && !s->source->ended) {
        trace_json_fail(s, TRACE_JSON_BROKEN, "a number is too long");
        return TRACE_JSON_NONE;
    }
    if (!is_number)
        return word(s, p);
    s->text = s->at;
    s->length = (size_t)(p - s->at);
    s->at = p;
    return TRACE_JSON_NUMBER;
}

trace_json_kind trace_json_bare(trace_json *s)
{
    const char *p = trace_json_find_number_end(s->at);

    if (p == s->at || p == s->end || is_letter((unsigned char)*p))
        return bare_slow(s);
    s->text = s->at;
    s->length = (size_t)(p - s->at);
    s->at = p;
    return TRACE_JSON_NUMBER;
}

/* ---- skipping -------------------------------------------------------------------------------- */

/* Skips a string, from its opening quote. */
static void skip_string(trace_json *s)
{
    const char *p = s->at + 1;

    for (;;) {
        p = trace_json_find_quote(p);
        if (*p == '"') {
            s->at = p + 1;
            return;
        }
        if (p + 1 < s->end) { /* an escape, or a 0 in the file */
            p += *p == '\\' ? 2 : 1;
            continue;
        }
        s->at = p;
        if (!trace_json_more(s)) {
            trace_json_fail(s, TRACE_JSON_ENDED, "the text ends within a string");
            return;
        }
        p = s->at;
    }
}

/* Skips to the end of a container; `stack` has a bit for each open bracket, set for a brace. */
static void skip_container(trace_json *s, const char *p, uint64_t stack, unsigned depth)
{
    while (depth) {
        p = trace_json_find_bracket(p);
        if (*p == '"') {
            s->at = p;
            skip_string(s);
            p = s->at;
        } else if (p == s->end) {
            s->at = p;
            if (!trace_json_more(s)) {
                trace_json_fail(s, TRACE_JSON_ENDED, "the text ends within a value");
                return;
            }
            p = s->at;
        } else if (*p == '{' || *p == '[') {
            stack = stack << 1 | (*p == '{');
            if (depth++ == TRACE_JSON_MAX_DEPTH) {
                s->at = p;
                trace_json_fail(s, TRACE_JSON_BROKEN, "values are nested more than 64 deep");
                return;
            }
            p++;
        } else if (*p) {
            if ((stack & 1) != (*p == '}')) {
                s->at = p;
                trace_json_fail(s, TRACE_JSON_BROKEN, "a bracket closes what it did not open");
                return;
            }
            stack >>= 1;
            depth--;
            p++;
        } else {
            p++; /* a 0 in the file */
        }
    }
    s->at = p;
}

void trace_json_skip_slow(trace_json *s)
{
    unsigned char c = trace_json_peek(s);

    if (c == '"')
        skip_string(s);
    else if (c == '{' || c == '[')
        skip_container(s, s->at + 1, c == '{', 1);
    else
        trace_json_bare(s);
}

void trace_json_leave(trace_json *s, trace_json_kind container)
{
    if (!s->fault)
        skip_container(s, s->at, container == TRACE_JSON_OBJECT, 1);
    s->fresh = false;
}
