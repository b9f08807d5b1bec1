#include "base/strbuf.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char empty[1];

void dse_strbuf_init(dse_strbuf *b) { *b = (dse_strbuf){.data = empty}; }

dse_strbuf dse_strbuf_in(dse_arena *a) { return (dse_strbuf){.data = empty, .arena = a}; }

void dse_strbuf_free(dse_strbuf *b)
{
    if (b->cap && !b->arena)
        dse_free(b->data);
    dse_strbuf_init(b);
}

void dse_strbuf_clear(dse_strbuf *b)
{
    b->len = 0;
    if (b->cap)
        b->data[0] = '\0';
}

const char *dse_strbuf_take(dse_strbuf *b, dse_arena *a)
{
    const char *text = dse_arena_strndup(a, b->data, b->len);

    dse_strbuf_free(b);
    return text;
}

static void grow(dse_strbuf *b, size_t extra)
{
    size_t need, cap = b->cap ? b->cap : 64;

    if (extra >= SIZE_MAX - b->len)
        dse_out_of_memory();
    need = b->len + extra + 1;
    while (cap < need)
        cap = cap > SIZE_MAX / 2 ? need : cap * 2;
    if (b->arena)
        b->data = memcpy(dse_arena_alloc(b->arena, cap), b->data, b->len + 1);
    else
        b->data = dse_realloc(b->cap ? b->data : NULL, cap);
    b->cap = cap;
}

/* Room for so many bytes and the NUL behind them. */
static inline void reserve(dse_strbuf *b, size_t extra)
{
    if (extra >= b->cap - b->len)
        grow(b, extra);
}

void dse_strbuf_add(dse_strbuf *b, const void *bytes, size_t n)
{
    if (!n)
        return;
    reserve(b, n);
    memcpy(b->data + b->len, bytes, n);
    b->len += n;
    b->data[b->len] = '\0';
}

void dse_strbuf_addc(dse_strbuf *b, char c)
{
    reserve(b, 1);
    b->data[b->len++] = c;
    b->data[b->len] = '\0';
}

void dse_strbuf_adds(dse_strbuf *b, const char *s) { dse_strbuf_add(b, s, strlen(s)); }

void dse_strbuf_addu(dse_strbuf *b, uint64_t v)
{
    char digits[20];
    size_t i = sizeof digits;

    do {
        digits[--i] = (char)('0' + v % 10);
        v /= 10;
    } while (v);
    dse_strbuf_add(b, digits + i, sizeof digits - i);
}

void dse_strbuf_vaddf(dse_strbuf *b, const char *fmt, va_list ap)
{
    va_list again;
    int n;

    va_copy(again, ap);
    n = vsnprintf(NULL, 0, fmt, ap);
    if (n < 0) /* more than an int can count */
        dse_out_of_memory();
    reserve(b, (size_t)n);
    vsnprintf(b->data + b->len, (size_t)n + 1, fmt, again);
    b->len += (size_t)n;
    va_end(again);
}

void dse_strbuf_addf(dse_strbuf *b, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    dse_strbuf_vaddf(b, fmt, ap);
    va_end(ap);
}

void dse_strbuf_add_repr(dse_strbuf *b, double v)
{
    char sci[40], *digits = sci, frac[24];
    int precision, exponent, n;

    if (isnan(v) || isinf(v)) {
        dse_strbuf_adds(b, isnan(v) ? "nan" : v < 0 ? "-inf" : "inf");
        return;
    }
    if (fabs(v) < 1e15 && v == floor(v)) { /* the common case, and exact */
        dse_strbuf_adds(b, signbit(v) ? "-" : "");
        dse_strbuf_addu(b, (uint64_t)fabs(v));
        dse_strbuf_adds(b, ".0");
        return;
    }
    /* A decimal of up to 15 digits comes back from a normal number as it went in: with fewer digits than
     * that, the shortest is these 15 without their zeros. */
    for (precision = isnormal(v) ? DBL_DIG - 1 : 0; precision < 17; precision++) {
        snprintf(sci, sizeof sci, "%.*e", precision, v);
        if (strtod(sci, NULL) == v)
            break;
    }
    while (precision > 0 && sci[precision + 1 + (*sci == '-')] == '0')
        precision--;
    if (*digits == '-') {
        dse_strbuf_addc(b, '-');
        digits++;
    }
    exponent = (int)strtol(strchr(digits, 'e') + 1, NULL, 10);
    n = precision + 1; /* significant digits: d[.ddd] */
    frac[0] = digits[0];
    memcpy(frac + 1, digits + 2, (size_t)precision);

    /* Python switches to the exponent form outside of 1e-4 <= |v| < 1e16. */
    if (exponent < -4 || exponent >= 16) {
        dse_strbuf_addc(b, frac[0]);
        if (n > 1) {
            dse_strbuf_addc(b, '.');
            dse_strbuf_add(b, frac + 1, (size_t)n - 1);
        }
        dse_strbuf_addf(b, "e%c%02d", exponent < 0 ? '-' : '+', abs(exponent));
    } else if (exponent < 0) {
        dse_strbuf_adds(b, "0.");
        for (int i = -1; i > exponent; i--)
            dse_strbuf_addc(b, '0');
        dse_strbuf_add(b, frac, (size_t)n);
    } else {
        for (int i = 0; i <= exponent; i++)
            dse_strbuf_addc(b, i < n ? frac[i] : '0');
        dse_strbuf_addc(b, '.');
        if (n > exponent + 1)
            dse_strbuf_add(b, frac + exponent + 1, (size_t)(n - exponent - 1));
        else
            dse_strbuf_addc(b, '0');
    }
}

void dse_strbuf_add_choices(dse_strbuf *b, const char *const *choices)
{
    for (size_t i = 0; choices[i]; i++)
        dse_strbuf_addf(b, "%s%s", i == 0 ? "" : choices[i + 1] ? ", " : " or ", choices[i]);
}

void dse_strbuf_add_wrapped(dse_strbuf *b, const char *text, size_t column, size_t width)
{
    size_t at = column;

    while (*text) {
        size_t n = strcspn(text, " ");

        if (at > column && at + 1 + n > width) {
            dse_strbuf_addf(b, "\n%*s", (int)column, "");
            at = column;
        } else if (at > column) {
            dse_strbuf_addc(b, ' ');
            at++;
        }
        dse_strbuf_add(b, text, n);
        at += n;
        text += n;
        text += strspn(text, " ");
    }
}

/* What a spreadsheet would run as a formula, and is no number. */
static bool is_formula(const char *text)
{
    char *end;

    if (!*text || !strchr("=+-@\t\r", *text))
        return false;
    strtod(text, &end);
    return end == text || *end;
}

void dse_strbuf_add_csv(dse_strbuf *b, const char *text)
{
    const char *mark = is_formula(text) ? "'" : "";

    if (!strpbrk(text, ",\"\r\n")) {
        dse_strbuf_adds(b, mark);
        dse_strbuf_adds(b, text);
        return;
    }
    dse_strbuf_addc(b, '"');
    dse_strbuf_adds(b, mark);
    for (; *text; text++) {
        if (*text == '"')
            dse_strbuf_addc(b, '"');
        dse_strbuf_addc(b, *text);
    }
    dse_strbuf_addc(b, '"');
}

void dse_strbuf_add_shell(dse_strbuf *b, const char *word)
{
    if (*word &&
        !word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:,=+-")]) {
        dse_strbuf_adds(b, word);
        return;
    }
    dse_strbuf_addc(b, '\'');
    for (; *word; word++) {
        if (*word == '\'')
            dse_strbuf_adds(b, "'\\''");
        else
            dse_strbuf_addc(b, *word);
    }
    dse_strbuf_addc(b, '\'');
}
