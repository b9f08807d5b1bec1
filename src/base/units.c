#include "base/units.h"

#include "base/array.h"
#include "base/names.h"

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
    {'K', 1e3, 1024.0},           {'M', 1e6, 1048576.0},           {'G', 1e9, 1073741824.0},
    {'T', 1e12, 1099511627776.0}, {'P', 1e15, 1125899906842624.0}, {'E', 1e18, 1152921504606846976.0},
};

static const struct {
    const char *name;
    double ns;
} time_units[] = {{"ns", 1.0}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"min", 60e9}, {"h", 3600e9}};

static const char *const expected[] = {
    [DSE_UNIT_NONE] = "a number",
    [DSE_UNIT_BYTES] = "a size such as 80GB (10^9) or 80GiB (2^30)",
    [DSE_UNIT_BYTES_PER_S] = "a rate such as 100GB/s (10^9), 100GiB/s (2^30) or 400Gb/s (bits)",
    [DSE_UNIT_FLOPS] = "a rate such as 450TFLOPS",
    [DSE_UNIT_NS] = "a time such as 50ns, 1.5us, 3ms or 2s",
    [DSE_UNIT_WATTS] = "a power such as 700W or 1.2kW",
};

/* The factor of "GB", "GiB", "GB/s", "TFLOPS", ...: 0 if it is none of them. The case of the prefix says
 * nothing, as no size or rate counts thousandths; that of the base is the caller's to check. */
static double scaled_unit(const char *s, const char *base, bool binary_allowed)
{
    if (!strcasecmp(s, base))
        return 1.0;
    for (size_t i = 0; i < DSE_COUNT(prefixes); i++) {
        if (toupper((unsigned char)s[0]) != prefixes[i].letter)
            continue;
        if (!strcasecmp(s + 1, base))
            return prefixes[i].decimal;
        if (binary_allowed && tolower((unsigned char)s[1]) == 'i' && !strcasecmp(s + 2, base))
            return prefixes[i].binary;
    }
    return 0.0;
}

/* "80gb" are bytes, as nobody says a memory in bits; "80Gb" may be bits. */
static double size_factor(const char *s)
{
    const bool may_be_bits = strchr(s, 'b') && isupper((unsigned char)s[0]);

    return may_be_bits ? 0.0 : scaled_unit(s, "B", true);
}

/* "GB/s", "GBps"; and in bits "Gb/s", "Gbps", "Gbit/s". A link is sold in either, so that the case of the B
 * decides, and "gb/s" or "GBPS", whose letters are all of one case, say nothing (kb/s does: k has no other
 * case). */
static double rate_factor(const char *s)
{
    const size_t n = strlen(s), n_per = n > 1 && s[n - 2] == '/' ? 2 : dse_ends(s, "ps") ? 2 : 0;
    const bool bits = strchr(s, 'b') != NULL;
    char unit[8];

    if (!n_per || n - n_per >= sizeof unit || tolower((unsigned char)s[n - 1]) != 's')
        return 0.0;
    snprintf(unit, sizeof unit, "%.*s", (int)(n - n_per), s);
    if (!bits)
        return scaled_unit(unit, "B", true);
    if (dse_ends(unit, "bit"))
        return scaled_unit(unit, "bit", true) / 8;
    return islower((unsigned char)s[0]) && s[0] != 'b' && s[0] != 'k' ? 0.0
                                                                      : scaled_unit(unit, "b", true) / 8;
}

static double time_factor(const char *s)
{
    if (!strcmp(s, "\u00b5s") || !strcmp(s, "\u03bcs")) /* the sign of micro, and the Greek letter */
        return 1e3;
    for (size_t i = 0; i < DSE_COUNT(time_units); i++)
        if (!strcasecmp(s, time_units[i].name))
            return time_units[i].ns;
    return 0.0;
}

static double unit_factor(const char *s, dse_unit unit)
{
    double f;

    switch (unit) {
    case DSE_UNIT_BYTES: return size_factor(s);
    case DSE_UNIT_BYTES_PER_S: return rate_factor(s);
    case DSE_UNIT_FLOPS:
        f = scaled_unit(s, "FLOPS", false);
        return f > 0 ? f : scaled_unit(s, "FLOP/s", false);
    case DSE_UNIT_NS: return time_factor(s);
    case DSE_UNIT_WATTS: return *s == 'm' ? 0.0 : scaled_unit(s, "W", false); /* mW are none of a device's */
    case DSE_UNIT_NONE: break;
    }
    return 0.0;
}

/* What somebody probably meant who wrote a unit that there is not, and what to write instead. */
static dse_status unknown_unit(const char *text, double value, const char *rest, dse_unit unit,
                               dse_error *err)
{
    const char prefix = (char)toupper((unsigned char)*rest);

    if (unit == DSE_UNIT_BYTES_PER_S && !strcasecmp(rest + (*rest != '\0'), "T/s"))
        return dse_fail(
            err, DSE_E_CONFIG,
            "'%.80s' counts the transfers of one lane; write the rate of the link: of 16 lanes some %g%cB/s",
            text, value * 16 / 8, prefix);
    if (unit == DSE_UNIT_BYTES_PER_S && (!strcasecmp(rest + 1, "b/s") || !strcasecmp(rest + 1, "bps")))
        return dse_fail(err, DSE_E_CONFIG,
                        "'%.40s' in '%.80s' may be bits or bytes; write %g%cb/s or %g%cB/s", rest, text,
                        value, prefix, value, prefix);
    return dse_fail(err, DSE_E_CONFIG, "unknown unit '%.40s' in '%.80s'; expected %s", rest, text,
                    expected[unit]);
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
    if (!(factor > 0))
        return unknown_unit(text, value, rest, unit, err);
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
