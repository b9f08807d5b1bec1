#include "base/units.h"

#include "base/array.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const struct {
    char letter;
    double decimal, binary;
} prefixes[] = {
    {'k', 1e3, 1024.0},
    {'K', 1e3, 1024.0},
    {'M', 1e6, 1048576.0},
    {'G', 1e9, 1073741824.0},
    {'T', 1e12, 1099511627776.0},
    {'P', 1e15, 1125899906842624.0},
    {'E', 1e18, 1152921504606846976.0},
};

static const struct {
    const char *name;
    double ns;
} time_units[] = {{"ns", 1.0}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"min", 60e9}, {"h", 3600e9}};

static const char *const expected[] = {
    [DSE_UNIT_NONE] = "a number",
    [DSE_UNIT_BYTES] = "a size such as 80GB (10^9) or 80GiB (2^30)",
    [DSE_UNIT_BYTES_PER_S] = "a rate such as 100GB/s (10^9) or 100GiB/s (2^30)",
    [DSE_UNIT_FLOPS] = "a rate such as 450TFLOPS",
    [DSE_UNIT_NS] = "a time such as 50ns, 1.5us, 3ms or 2s",
};

/* The factor of "GB", "GiB", "GB/s", "TFLOPS", ...: 0 if it is none of them. */
static double scaled_unit(const char *s, const char *base, bool binary_allowed)
{
    if (!strcmp(s, base))
        return 1.0;
    for (size_t i = 0; i < DSE_COUNT(prefixes); i++) {
        if (s[0] != prefixes[i].letter)
            continue;
        if (!strcmp(s + 1, base))
            return prefixes[i].decimal;
        if (binary_allowed && s[1] == 'i' && !strcmp(s + 2, base))
            return prefixes[i].binary;
    }
    return 0.0;
}

static double unit_factor(const char *s, dse_unit unit)
{
    double f;

    switch (unit) {
    case DSE_UNIT_BYTES: return scaled_unit(s, "B", true);
    case DSE_UNIT_BYTES_PER_S: return scaled_unit(s, "B/s", true);
    case DSE_UNIT_FLOPS:
        f = scaled_unit(s, "FLOPS", false);
        if (f == 0.0)
            f = scaled_unit(s, "FLOP/s", false);
        return f;
    case DSE_UNIT_NS:
        for (size_t i = 0; i < DSE_COUNT(time_units); i++)
            if (!strcmp(s, time_units[i].name))
                return time_units[i].ns;
        return 0.0;
    case DSE_UNIT_NONE: break;
    }
    return 0.0;
}

/* Reads the decimal number at the start of text. Hexadecimal, "nan" and "infinity", which strtod
 * would take, are not numbers a card may contain. */
static const char *read_number(const char *text, double *out)
{
    const char *p = text;
    char *end;

    if (*p == '+' || *p == '-')
        p++;
    if (!isdigit((unsigned char)*p) && !(*p == '.' && isdigit((unsigned char)p[1])))
        return NULL;
    if (p[0] == '0' && (p[1] == 'x' || p[1] == 'X'))
        return NULL;
    errno = 0;
    *out = strtod(text, &end);
    if (errno == ERANGE && isinf(*out))
        return NULL;
    return end;
}

dse_status dse_parse_quantity(const char *text, dse_unit unit, double *out, bool *had_unit, dse_error *err)
{
    double value, factor;
    const char *rest = read_number(text, &value);

    if (!rest)
        return dse_fail(err, DSE_E_CONFIG, "'%.80s' is not %s", text, expected[unit]);
    if (*rest == ' ')
        rest++;
    if (!*rest) {
        *had_unit = false;
        *out = value;
        return DSE_OK;
    }
    factor = unit_factor(rest, unit);
    if (factor == 0.0)
        return dse_fail(err, DSE_E_CONFIG, "unknown unit '%.40s' in '%.80s'; expected %s", rest, text,
                        expected[unit]);
    *had_unit = true;
    *out = value * factor;
    return DSE_OK;
}

dse_status dse_parse_int(const char *text, int64_t *out, dse_error *err)
{
    const char *p = text;
    char *end;
    long long v;

    if (*p == '+' || *p == '-')
        p++;
    errno = 0;
    v = strtoll(text, &end, 10);
    if (!isdigit((unsigned char)*p) || *end)
        return dse_fail(err, DSE_E_CONFIG, "'%.80s' is not a whole number", text);
    if (errno == ERANGE)
        return dse_fail(err, DSE_E_CONFIG, "'%.80s' does not fit in 64 bits", text);
    *out = v;
    return DSE_OK;
}

dse_status dse_parse_u64(const char *text, uint64_t *out, dse_error *err)
{
    char *end;
    unsigned long long v;

    errno = 0;
    v = strtoull(text, &end, 10);
    if (!isdigit((unsigned char)*text) || *end)
        return dse_fail(err, DSE_E_CONFIG, "'%.80s' is not a whole number without a sign", text);
    if (errno == ERANGE)
        return dse_fail(err, DSE_E_CONFIG, "'%.80s' does not fit in 64 bits", text);
    *out = v;
    return DSE_OK;
}

dse_status dse_parse_double(const char *text, double *out, dse_error *err)
{
    double v;
    const char *rest = read_number(text, &v);

    if (!rest || *rest)
        return dse_fail(err, DSE_E_CONFIG, "'%.80s' is not a number", text);
    *out = v;
    return DSE_OK;
}

dse_status dse_parse_bool(const char *text, bool *out, dse_error *err)
{
    static const char *const yes[] = {"true", "yes", "on", "t", "y", "1"};
    static const char *const no[] = {"false", "no", "off", "f", "n", "0"};

    for (size_t i = 0; i < DSE_COUNT(yes); i++) {
        *out = !strcasecmp(text, yes[i]);
        if (*out || !strcasecmp(text, no[i]))
            return DSE_OK;
    }
    return dse_fail(err, DSE_E_CONFIG, "'%.80s' is neither true nor false", text);
}

void dse_format_bytes(char *out, size_t size, double bytes)
{
    static const char *const names[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
    size_t i = 0;

    while (bytes >= 999.95 && i + 1 < DSE_COUNT(names)) {
        bytes /= 1000.0;
        i++;
    }
    snprintf(out, size, i ? "%.1f %s" : "%.0f %s", bytes, names[i]);
}

void dse_format_seconds(char *out, size_t size, double seconds)
{
    static const struct {
        double seconds;
        const char *name;
    } units[] = {{1.0, "s"}, {1e-3, "ms"}, {1e-6, "us"}};

    for (size_t i = 0; i < DSE_COUNT(units); i++) {
        double v = seconds / units[i].seconds;

        /* What rounds to the next power of ten has a digit more before the point. */
        if (v >= 0.99995) {
            snprintf(out, size, "%.*f %s",
                     v < 9.9995   ? 3
                     : v < 99.995 ? 2
                     : v < 999.95 ? 1
                                  : 0,
                     v, units[i].name);
            return;
        }
    }
    snprintf(out, size, "%.0f ns", seconds * 1e9);
}
