/* Numbers of JSON, from their decimal text. */
#include "trace/json_scan.h"

#include <math.h>
#include <stdlib.h>

static bool is_digit(char c) { return (unsigned char)(c - '0') < 10; }

/* The parts of a number's text: digits[0..n) with the point behind the first `point` of them, exponent added. */
typedef struct {
    bool negative;
    const char *digits; /* a '.' may stand among them */
    size_t n;           /* bytes */
    long exponent;
} number_parts;

static bool take_apart(const char *text, size_t n, number_parts *out)
{
    const char *p = text, *end = text + n;
    size_t n_digits = 0, n_points = 0;

    *out = (number_parts){.negative = p < end && *p == '-'};
    p += p < end && (*p == '-' || *p == '+');
    out->digits = p;
    for (; p < end && (is_digit(*p) || *p == '.'); p++) {
        n_digits += *p != '.';
        n_points += *p == '.';
    }
    out->n = (size_t)(p - out->digits);
    if (!n_digits || n_points > 1)
        return false;
    if (p < end && (*p == 'e' || *p == 'E')) {
        bool down = ++p < end && *p == '-';

        p += p < end && (*p == '-' || *p == '+');
        if (p == end)
            return false;
        for (; p < end && is_digit(*p); p++)
            if (out->exponent < 1000000)
                out->exponent = out->exponent * 10 + (*p - '0');
        out->exponent = down ? -out->exponent : out->exponent;
    }
    return p == end;
}

/* Of any form, digit by digit: `power` is that of ten which the digit counts. */
static bool any_decimal(const char *text, size_t n, trace_decimal *out)
{
    static const int32_t tens[] = {1, 10, 100, 1000, 10000, 100000};
    const char *point;
    number_parts v;
    long power;

    if (!take_apart(text, n, &v))
        return false;
    point = memchr(v.digits, '.', v.n);
    power = (point ? (long)(point - v.digits) : (long)v.n) + v.exponent;
    *out = (trace_decimal){0};
    for (size_t i = 0; i < v.n; i++) {
        int digit = v.digits[i] - '0';

        if (v.digits[i] == '.')
            continue;
        power--;
        if (power >= 0 && (__builtin_mul_overflow(out->whole, 10, &out->whole) ||
                           __builtin_add_overflow(out->whole, digit, &out->whole)))
            return false;
        if (power < 0 && power >= -6)
            out->millionths += digit * tens[6 + power];
    }
    for (; power > 0 && out->whole; power--)
        if (__builtin_mul_overflow(out->whole, 10, &out->whole))
            return false;
    if (v.negative) {
        out->whole = -out->whole;
        out->millionths = -out->millionths;
    }
    return true;
}

/* Eight digits at a time: each step joins neighbours, of one digit, of two, of four. */
static bool eight_digits(const char *p, uint64_t *out)
{
    uint64_t v;

    memcpy(&v, p, sizeof v);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    v = __builtin_bswap64(v);
#endif
    if (((v & 0xf0f0f0f0f0f0f0f0u) | ((v + 0x0606060606060606u) & 0xf0f0f0f0f0f0f0f0u) >> 4) !=
        0x3333333333333333u)
        return false;
    v = (v & 0x0f0f0f0f0f0f0f0fu) * 2561 >> 8;
    v = (v & 0x00ff00ff00ff00ffu) * 6553601 >> 16;
    *out = (v & 0x0000ffff0000ffffu) * 42949672960001 >> 32;
    return true;
}

/* Nearly all are digits, a point, digits. */
bool trace_decimal_of(const char *text, size_t n, trace_decimal *out)
{
    const char *p = text, *end = text + n;
    uint64_t whole = 0; /* of more digits it wraps, and is not used */
    int32_t part = 0;
    int places = 0;
    uint64_t eight;

    if (n > 18 + 4 || n == 0 || !is_digit(*p)) /* 18 digits fit, whatever they are */
        return any_decimal(text, n, out);
    for (; end - p >= 8 && p - text <= 10 && eight_digits(p, &eight); p += 8)
        whole = whole * 100000000 + eight;
    for (; p < end && is_digit(*p); p++)
        whole = whole * 10 + (uint64_t)(*p - '0');
    if (p - text > 18)
        return any_decimal(text, n, out);
    if (p < end && *p == '.')
        for (p++; p < end && is_digit(*p) && places < 6; p++, places++)
            part = part * 10 + (*p - '0');
    while (p < end && is_digit(*p))
        p++;
    if (p < end)
        return any_decimal(text, n, out);
    for (; places < 6; places++)
        part *= 10;
    *out = (trace_decimal){(int64_t)whole, part};
    return true;
}

uint64_t trace_whole_of(const char *text, size_t n, uint64_t max)
{
    uint64_t v = 0;
    trace_decimal d;
    size_t i = 0;

    for (; i < n && is_digit(text[i]); i++)
        if (__builtin_mul_overflow(v, 10u, &v) || __builtin_add_overflow(v, (uint64_t)(text[i] - '0'), &v))
            return UINT64_MAX;
    if (i < n || !n) {
        if (!any_decimal(text, n, &d) || d.whole < 0 || d.millionths)
            return UINT64_MAX;
        v = (uint64_t)d.whole;
    }
    return v <= max ? v : UINT64_MAX;
}

/* Up to fifteen digits and 10^22 are doubles exactly, so that one division rounds once (Clinger 1990). strtod is exact
 * for all, and slow. */
double trace_double_of(const char *text, size_t n)
{
    static const double tens[] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                  1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
    size_t digits = 0, places = 0;
    char copy[128];
    int64_t v = 0;
    number_parts parts;
    double d;

    if (!take_apart(text, n, &parts))
        return NAN;
    for (size_t i = 0; i < parts.n && digits <= 15; i++) {
        if (parts.digits[i] == '.') {
            places = parts.n - i - 1;
        } else {
            v = v * 10 + (parts.digits[i] - '0');
            digits++;
        }
    }
    if (digits <= 15 && !parts.exponent && places <= 15) {
        d = (double)v / tens[places];
        return parts.negative ? -d : d;
    }
    if (n >= sizeof copy)
        return NAN;
    memcpy(copy, text, n);
    copy[n] = '\0';
    d = strtod(copy, NULL);
    return isfinite(d) ? d : NAN;
}
