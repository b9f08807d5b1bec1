/* Finds the next byte of interest: sixteen bytes at a time with SSE2, one at a time without. Both may read
 * the zero bytes after the last one (trace/source.h); a 0 is always of interest, so every search ends. */
#ifndef DSE_TRACE_JSON_FIND_H
#define DSE_TRACE_JSON_FIND_H

#include <stdbool.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* The end of a run of plain text in a string: a quote, a backslash, a 0, or a byte that is not ASCII. */
static inline const char *trace_json_find_special_plain(const char *p)
{
    for (;; p++) {
        unsigned char c = (unsigned char)*p;

        if (c == '"' || c == '\\' || c == 0 || c >= 0x80)
            return p;
    }
}

/* The end of what is skipped in a string: a quote, a backslash, or a 0. */
static inline const char *trace_json_find_quote_plain(const char *p)
{
    while (*p != '"' && *p != '\\' && *p)
        p++;
    return p;
}

/* The next byte that may change the depth: a bracket, a brace, the quote of a string, or a 0. */
static inline const char *trace_json_find_bracket_plain(const char *p)
{
    while (*p != '"' && *p != '[' && *p != ']' && *p != '{' && *p != '}' && *p)
        p++;
    return p;
}

/* The end of a run of bytes that occur in numbers. */
static inline const char *trace_json_find_number_end_plain(const char *p)
{
    for (;; p++) {
        unsigned char c = (unsigned char)*p;

        if ((unsigned char)(c - '0') > 9 && c != '.' && c != '-' && c != '+' && (c | 0x20) != 'e')
            return p;
    }
}

/* The end of a run of blanks, and of all other control characters but 0. */
static inline const char *trace_json_find_nonblank_plain(const char *p)
{
    while (*p && (unsigned char)*p <= ' ')
        p++;
    return p;
}

#ifdef __SSE2__

static inline const char *trace_json_find_special(const char *p)
{
    const __m128i quote = _mm_set1_epi8('"'), slash = _mm_set1_epi8('\\'), one = _mm_set1_epi8(1);

    for (;; p += 16) {
        __m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
        /* As signed bytes, 0 and all that is not ASCII are below 1. */
        __m128i hit = _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(v, quote), _mm_cmpeq_epi8(v, slash)),
                                   _mm_cmplt_epi8(v, one));
        int mask = _mm_movemask_epi8(hit);

        if (mask)
            return p + __builtin_ctz((unsigned)mask);
    }
}

static inline const char *trace_json_find_quote(const char *p)
{
    const __m128i quote = _mm_set1_epi8('"'), slash = _mm_set1_epi8('\\'), zero = _mm_setzero_si128();

    for (;; p += 16) {
        __m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
        __m128i hit = _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(v, quote), _mm_cmpeq_epi8(v, slash)),
                                   _mm_cmpeq_epi8(v, zero));
        int mask = _mm_movemask_epi8(hit);

        if (mask)
            return p + __builtin_ctz((unsigned)mask);
    }
}

static inline const char *trace_json_find_bracket(const char *p)
{
    const __m128i quote = _mm_set1_epi8('"'), open = _mm_set1_epi8('{'), close = _mm_set1_epi8('}'),
                  zero = _mm_setzero_si128(), bit = _mm_set1_epi8(0x20);

    for (;; p += 16) {
        __m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
        __m128i w = _mm_or_si128(v, bit); /* [ and ] become { and } */
        __m128i hit = _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(w, open), _mm_cmpeq_epi8(w, close)),
                                   _mm_or_si128(_mm_cmpeq_epi8(v, quote), _mm_cmpeq_epi8(v, zero)));
        int mask = _mm_movemask_epi8(hit);

        if (mask)
            return p + __builtin_ctz((unsigned)mask);
    }
}

static inline const char *trace_json_find_number_end(const char *p)
{
    const __m128i low = _mm_set1_epi8('+'), span = _mm_set1_epi8('9' - '+'), comma = _mm_set1_epi8(','),
                  slash = _mm_set1_epi8('/'), bit = _mm_set1_epi8(0x20), letter = _mm_set1_epi8('e');

    for (;; p += 16) {
        __m128i v = _mm_loadu_si128((const __m128i *)(const void *)p), from_low = _mm_sub_epi8(v, low);
        __m128i in = _mm_cmpeq_epi8(_mm_min_epu8(from_low, span), from_low); /* + , - . / 0 to 9 */
        __m128i out = _mm_or_si128(_mm_cmpeq_epi8(v, comma), _mm_cmpeq_epi8(v, slash));
        __m128i good = _mm_or_si128(_mm_andnot_si128(out, in), _mm_cmpeq_epi8(_mm_or_si128(v, bit), letter));
        int mask = ~_mm_movemask_epi8(good) & 0xffff;

        if (mask)
            return p + __builtin_ctz((unsigned)mask);
    }
}

static inline const char *trace_json_find_nonblank(const char *p)
{
    const __m128i above = _mm_set1_epi8(' ' + 1), zero = _mm_setzero_si128();

    for (;; p += 16) {
        __m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
        int mask = _mm_movemask_epi8(
            _mm_or_si128(_mm_cmpeq_epi8(_mm_max_epu8(v, above), v), _mm_cmpeq_epi8(v, zero)));

        if (mask)
            return p + __builtin_ctz((unsigned)mask);
    }
}

#else

#define trace_json_find_nonblank   trace_json_find_nonblank_plain
#define trace_json_find_number_end trace_json_find_number_end_plain
#define trace_json_find_special    trace_json_find_special_plain
#define trace_json_find_quote      trace_json_find_quote_plain
#define trace_json_find_bracket    trace_json_find_bracket_plain

#endif

#endif
