#include "metrics/hlo.h"

#include "base/array.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

hlo_word hlo_word_of(const char *text) { return (hlo_word){text, text ? strlen(text) : 0}; }

static bool hlo_is(hlo_word w, const char *word)
{
    return strlen(word) == w.n && memcmp(w.at, word, w.n) == 0;
}

hlo_word hlo_strip(hlo_word w, int *phase)
{
    static const struct {
        const char *end;
        int phase;
    } ends[] = {{"-start", HLO_START}, {"-done", HLO_DONE}};

    *phase = 0;
    for (size_t i = 0; i < DSE_COUNT(ends); i++) {
        size_t n = strlen(ends[i].end);

        if (w.n >= n && memcmp(w.at + w.n - n, ends[i].end, n) == 0) {
            *phase = ends[i].phase;
            w.n -= n;
            break;
        }
    }
    return w;
}

hlo_word hlo_base(hlo_word name)
{
    const char *dot = name.n ? memchr(name.at, '.', name.n) : NULL;

    if (dot)
        name.n = (size_t)(dot - name.at);
    return name;
}

/* ---- an instruction ------------------------------------------------------------------------ */

/* The end of a shape that begins here: a blank outside of brackets, or the end of the text. */
static const char *after_shape(const char *s)
{
    int depth = 0;

    for (; *s && (depth || *s != ' '); s++)
        depth += strchr("([{", *s) ? 1 : strchr(")]}", *s) && depth ? -1 : 0;
    return s;
}

static bool ends_name(char c) { return !c || strchr(" ,()=", c); }

/* The first operand of what stands in brackets: the first %name; without any, the last word before a comma or
 * the end. */
static hlo_word first_operand(const char *s)
{
    hlo_word w = {s, 0};
    int depth = 0;
    const char *end = s;

    for (; *end && (depth || *end != ')'); end++) {
        if (*end == '%') {
            w.at = end + 1;
            while (!ends_name(w.at[w.n]))
                w.n++;
            return w;
        }
        if (*end == ',' && !depth)
            break;
        depth += strchr("([{", *end) ? 1 : strchr(")]}", *end) && depth ? -1 : 0;
    }
    while (end > s && !ends_name(end[-1]))
        end--, w.n++;
    w.at = end;
    return w;
}

hlo_instruction hlo_parse(const char *text)
{
    hlo_instruction h = {0};
    const char *equals = text ? strstr(text, " = ") : NULL, *s;

    if (!equals)
        return h;
    for (s = equals; s > text && s[-1] != ' ' && s[-1] != '%'; s--)
        h.name.n++;
    h.name.at = s;
    for (s = after_shape(equals + strlen(" = ")); *s == ' '; s++)
        ;
    h.opcode.at = s;
    while (*s && *s != '(' && *s != ' ')
        s++;
    if (*s != '(')
        return h;
    h.opcode.n = (size_t)(s - h.opcode.at);
    h.operand = first_operand(s + 1);
    return h;
}

/* ---- sizes --------------------------------------------------------------------------------- */

static const struct {
    const char *type;
    unsigned bits;
    bool upstream; /* the original tools know it */
} types[] = {{"pred", 8, true},    {"s8", 8, true},      {"u8", 8, true},      {"s16", 16, true},
             {"u16", 16, true},    {"f16", 16, true},    {"bf16", 16, true},   {"s32", 32, true},
             {"u32", 32, true},    {"f32", 32, true},    {"s64", 64, true},    {"u64", 64, true},
             {"f64", 64, true},    {"c64", 64, false},   {"c128", 128, false}, {"s4", 4, false},
             {"u4", 4, false},     {"s2", 2, false},     {"u2", 2, false},     {"f4e2m1fn", 4, false},
             {"f8e5m2", 8, false}, {"f8e4m3", 8, false}, {"token", 0, false}};

/* Bits of an element; -1: unknown. All f8* are a byte. */
static int bits_of(hlo_word type, bool upstream)
{
    for (size_t i = 0; i < DSE_COUNT(types); i++)
        if (hlo_is(type, types[i].type))
            return upstream && !types[i].upstream ? -1 : (int)types[i].bits;
    return !upstream && type.n > 2 && memcmp(type.at, "f8", 2) == 0 ? 8 : -1;
}

/* What a dimension stands between. */
static bool is_between(char c) { return !c || strchr("[],", c) || isspace((unsigned char)c); }

/* Bytes of the one shape whose '[' is here; *s moves past its ']'. Upstream counts dimensions that are digits
 * alone, which that of a bound, "<=8", is not. */
static uint64_t bytes_at(hlo_word type, const char **s, bool upstream)
{
    const int bits = bits_of(type, upstream);
    uint64_t elements = 1;
    const char *at = *s + 1;

    while (*at && *at != ']') {
        const bool is_first = is_between(at[-1]);
        char *end;
        unsigned long long d;

        if (!isdigit((unsigned char)*at)) {
            at++;
            continue;
        }
        d = strtoull(at, &end, 10); /* the largest if it does not fit */
        at = end;
        if (upstream && !(is_first && is_between(*at)))
            continue;
        if (d && elements > HLO_UNKNOWN / 256 / d)
            return HLO_UNKNOWN;
        elements *= d;
    }
    if (*at != ']' || bits < 0)
        return HLO_UNKNOWN;
    *s = at + 1;
    return (elements * (uint64_t)bits + 7) / 8;
}

uint64_t hlo_shape_bytes(const char *shape)
{
    uint64_t sum = 0;
    bool any = false;

    for (const char *s = shape ? shape : ""; *s;) {
        hlo_word type = {s, 0};
        uint64_t one;

        while (isalnum((unsigned char)*s))
            s++;
        type.n = (size_t)(s - type.at);
        if (*s == '{') { /* a layout */
            while (*s && *s != '}')
                s++;
        } else if (strncmp(s, "/*", 2) == 0) { /* every fifth element has its index in a comment */
            const char *end = strstr(s, "*/");
            s = end ? end + 2 : s + strlen(s);
        } else if (*s == '[') {
            one = bytes_at(type, &s, false);
            if (one == HLO_UNKNOWN || sum > HLO_UNKNOWN - 1 - one)
                return HLO_UNKNOWN;
            sum += one;
            any = true;
        } else if (*s) {
            s++;
        }
    }
    return any ? sum : HLO_UNKNOWN;
}

uint64_t hlo_first_shape_bytes(const char *shape)
{
    const char *s = shape ? shape : "";
    hlo_word type;

    while (isspace((unsigned char)*s))
        s++;
    type.at = s;
    while (islower((unsigned char)*s) || isdigit((unsigned char)*s))
        s++;
    type.n = (size_t)(s - type.at);
    return *s == '[' ? bytes_at(type, &s, true) : HLO_UNKNOWN;
}

uint32_t hlo_group_size(const char *text)
{
    static const char key[] = "replica_groups=";
    const char *s = text ? strstr(text, key) : NULL;
    unsigned long members;
    uint32_t n = 1;

    if (!s)
        return 0;
    s += strlen(key);
    if (strncmp(s, "{{", 2) == 0) {
        if (!isdigit((unsigned char)s[2]))
            return 0;
        for (s += 2; *s && *s != '}'; s++)
            n += *s == ',';
        return *s ? n : 0;
    }
    if (*s != '[' || !(s = strchr(s, ',')))
        return 0;
    members = strtoul(s + 1, NULL, 10);
    return members < UINT32_MAX ? (uint32_t)members : 0;
}
