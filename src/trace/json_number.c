/* Parses the decimal text of JSON numbers. */
#include "trace/json_scan.h"

#include <math.h>
#include <stdlib.h>

static const uint32_t tens[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};

static bool is_digit(char c) { return (unsigned char)(c - '0') < 10; }

/* The parts of a number's text. */
typedef struct {
    bool negative;
    const char *digits; /* a '.' may stand among them */
    size_t n;           /* bytes */
    long exponent;
} number_parts;

static bool split_number(const char *text, size_t n, number_parts *out)
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

/* Reads digit by digit; a digit counts 10^power. trace_json_decimal is the fast path for times. */
bool trace_decimal_of(const char *text, size_t n, trace_decimal *out)
{
    const char *point;
    number_parts v;
    long power;

    if (!split_number(text, n, &v))
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
            out->millionths += digit * (int32_t)tens[6 + power];
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

/* The number of digits at p, up to eight, and their value. Each step joins neighbouring groups: of one digit,
 * of two, of four. */
static inline unsigned digits_at(const char *p, uint64_t *value)
{
    uint64_t v;
    const unsigned n = trace_json_digits_at(p, &v);

    if (!n)
        return 0;
    v <<= 64 - 8 * n; /* zeros before the first */
    v = (v * 10 + (v >> 8)) & 0x00ff00ff00ff00ffu;
    v = (v * 100 + (v >> 16)) & 0x0000ffff0000ffffu;
    *value = (v * 10000 + (v >> 32)) & 0xffffffffu;
    return n;
}

bool trace_json_decimal(trace_json *s, trace_decimal *out)
{
    const char *p = s->at;
    uint64_t whole = 0, some = 0;
    int32_t part = 0;
    unsigned n, all = 0;

    do {
        if ((n = digits_at(p, &some)) > 0)
            whole = whole * tens[n] + some;
        all += n;
        p += n;
    } while (n == 8 && all <= 16);
    if (!all || all > 18)
        return false;
    if (*p == '.' && (n = digits_at(p + 1, &some)) > 0 && n <= 6) {
        part = (int32_t)((uint32_t)some * tens[6 - n]);
        p += n + 1;
    }
    if (p >= s->end || (*p != ',' && *p != '}' && (unsigned char)*p > ' '))
        return false;
    *out = (trace_decimal){(int64_t)whole, part};
    s->at = p;
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
        if (!trace_decimal_of(text, n, &d) || d.whole < 0 || d.millionths)
            return UINT64_MAX;
        v = (uint64_t)d.whole;
    }
    return v <= max ? v : UINT64_MAX;
}

/* Up to fifteen digits and 10^22 are doubles exactly, so that one division rounds once (Clinger 1990). strtod
 * is exact for all, and slow. */
double trace_double_of(const char *text, size_t n)
{
    static const double powers[] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                    1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
    size_t digits = 0, places = 0;
    char copy[128];
    int64_t v = 0;
    number_parts parts;
    double d;

    if (!split_number(text, n, &parts))
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
        d = (double)v / powers[places];
        return parts.negative ? -d : d;
    }
    if (n >= sizeof copy)
        return NAN;
    memcpy(copy, text, n);
    copy[n] = '\0';
    d = strtod(copy, NULL);
    return isfinite(d) ? d : NAN;
}
