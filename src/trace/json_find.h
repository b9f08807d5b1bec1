/* Finds the next byte of interest: sixteen bytes at a time with SSE2, one at a time without. Both may read
 * the zero bytes after the last one (trace/source.h); a 0 is always of interest, so every search ends.
 *
 * A search is a condition on a byte, and with SSE2 the same condition on sixteen. */
#ifndef DSE_TRACE_JSON_FIND_H
#define DSE_TRACE_JSON_FIND_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

typedef bool trace_json_stop(unsigned char c);

static inline const char *trace_json_find_plain(const char *p, trace_json_stop *stop)
{
    while (!stop((unsigned char)*p))
        p++;
    return p;
}

/* The end of a run of plain text in a string: a quote, a backslash, a 0, or a byte that is not ASCII. */
static inline bool trace_json_stop_special(unsigned char c)
{
    return c == '"' || c == '\\' || c == 0 || c >= 0x80;
}

/* The end of what is skipped in a string: a quote, a backslash, or a 0. */
static inline bool trace_json_stop_quote(unsigned char c) { return c == '"' || c == '\\' || c == 0; }

/* The next byte that may change the depth: a bracket, a brace, the quote of a string, or a 0. */
static inline bool trace_json_stop_bracket(unsigned char c)
{
    return c == '"' || c == '[' || c == ']' || c == '{' || c == '}' || c == 0;
}

/* The end of a run of bytes that occur in numbers. */
static inline bool trace_json_stop_number_end(unsigned char c)
{
    return (unsigned char)(c - '0') > 9 && c != '.' && c != '-' && c != '+' && (c | 0x20) != 'e';
}

/* The end of a run of blanks, and of all other control characters but 0. */
static inline bool trace_json_stop_nonblank(unsigned char c) { return c > ' ' || c == 0; }

/* How many digits stand here, up to eight; always reads eight bytes. *less: these, a digit being its
 * value. */
static inline unsigned trace_json_digits_at(const char *p, uint64_t *less)
{
    uint64_t v, other;

    memcpy(&v, p, sizeof v);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    v = __builtin_bswap64(v);
#endif
    v ^= 0x3030303030303030u;                                      /* a digit is below 10 now */
    other = ((v + 0x7676767676767676u) | v) & 0x8080808080808080u; /* the first of these bits is right */
    *less = v;
    return other ? (unsigned)__builtin_ctzll(other) / 8 : 8;
}

static inline unsigned trace_json_digits(const char *p)
{
    uint64_t less;

    return trace_json_digits_at(p, &less);
}

#ifdef __SSE2__
#include <emmintrin.h>

typedef __m128i trace_json_hits(__m128i v);

__attribute__((always_inline)) static inline const char *trace_json_find16(const char *p,
                                                                           trace_json_hits *hits)
{
    for (;; p += 16) {
        int mask = _mm_movemask_epi8(hits(_mm_loadu_si128((const __m128i *)(const void *)p)));

        if (mask)
            return p + __builtin_ctz((unsigned)mask);
    }
}

static inline __m128i trace_json_equal(__m128i v, char c) { return _mm_cmpeq_epi8(v, _mm_set1_epi8(c)); }

static inline __m128i trace_json_hits_special(__m128i v)
{
    /* As signed bytes, 0 and all that is not ASCII are below 1. */
    return _mm_or_si128(_mm_or_si128(trace_json_equal(v, '"'), trace_json_equal(v, '\\')),
                        _mm_cmplt_epi8(v, _mm_set1_epi8(1)));
}

static inline __m128i trace_json_hits_quote(__m128i v)
{
    return _mm_or_si128(_mm_or_si128(trace_json_equal(v, '"'), trace_json_equal(v, '\\')),
                        trace_json_equal(v, 0));
}

static inline __m128i trace_json_hits_bracket(__m128i v)
{
    __m128i w = _mm_or_si128(v, _mm_set1_epi8(0x20)); /* [ and ] become { and } */

    return _mm_or_si128(_mm_or_si128(trace_json_equal(w, '{'), trace_json_equal(w, '}')),
                        _mm_or_si128(trace_json_equal(v, '"'), trace_json_equal(v, 0)));
}

static inline __m128i trace_json_hits_number_end(__m128i v)
{
    __m128i from_low = _mm_sub_epi8(v, _mm_set1_epi8('+'));
    __m128i in = _mm_cmpeq_epi8(_mm_min_epu8(from_low, _mm_set1_epi8('9' - '+')), from_low); /* + to 9 */
    __m128i out = _mm_or_si128(trace_json_equal(v, ','), trace_json_equal(v, '/'));
    __m128i good =
        _mm_or_si128(_mm_andnot_si128(out, in), trace_json_equal(_mm_or_si128(v, _mm_set1_epi8(0x20)), 'e'));

    return _mm_xor_si128(good, _mm_set1_epi8(-1));
}

static inline __m128i trace_json_hits_nonblank(__m128i v)
{
    return _mm_or_si128(_mm_cmpeq_epi8(_mm_max_epu8(v, _mm_set1_epi8(' ' + 1)), v), trace_json_equal(v, 0));
}

#define TRACE_JSON_FIND(what, p) trace_json_find16((p), trace_json_hits_##what)
#else
#define TRACE_JSON_FIND(what, p) trace_json_find_plain((p), trace_json_stop_##what)
#endif

static inline const char *trace_json_find_special(const char *p) { return TRACE_JSON_FIND(special, p); }
static inline const char *trace_json_find_quote(const char *p) { return TRACE_JSON_FIND(quote, p); }
static inline const char *trace_json_find_bracket(const char *p) { return TRACE_JSON_FIND(bracket, p); }
static inline const char *trace_json_find_number_end(const char *p) { return TRACE_JSON_FIND(number_end, p); }
static inline const char *trace_json_find_nonblank(const char *p) { return TRACE_JSON_FIND(nonblank, p); }

#endif
