#include "workload/expr.h"

#include "base/names.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *wl_hint(char out[WL_HINT_SIZE], const char *name, const char *const *known, size_t n)
{
    /* One edit makes any letter into any other. */
    const char *nearest = strlen(name) > 1 ? dse_nearest(name, known, n) : NULL;

    out[0] = '\0';
    if (nearest)
        snprintf(out, WL_HINT_SIZE, "; did you mean '%s'?", nearest);
    return out;
}

int wl_symbol_find(const wl_symbols *s, const char *name)
{
    for (uint32_t i = 0; i < s->n; i++)
        if (!strcmp(s->name[i], name))
            return (int)i;
    return -1;
}

/* ---- parsing ------------------------------------------------------------------------------- */

static dse_status parse_factor(const wl_symbols *s, const char **p, int sign, wl_dim *out, dse_error *err)
{
    char name[64], hint[WL_HINT_SIZE];
    size_t n = 0;
    int i;

    while (isspace((unsigned char)**p))
        (*p)++;
    while ((isalnum((unsigned char)**p) || **p == '_') && n + 1 < sizeof name)
        name[n++] = *(*p)++;
    name[n] = '\0';
    while (isspace((unsigned char)**p))
        (*p)++;
    if (!strcmp(name, "1"))
        return DSE_OK;
    if (!n)
        return dse_fail(err, DSE_E_CONFIG, "a symbol is missing");
    i = wl_symbol_find(s, name);
    if (i < 0)
        return dse_fail(err, DSE_E_CONFIG, "unknown symbol '%s'%s", name, wl_hint(hint, name, s->name, s->n));
    if (abs(out->power[i] + sign) > 8)
        return dse_fail(err, DSE_E_RANGE, "too high a power of '%s'", name);
    out->power[i] = (int8_t)(out->power[i] + sign);
    return DSE_OK;
}

static dse_status parse_product(const wl_symbols *s, const char **p, int sign, wl_dim *out, dse_error *err)
{
    dse_status st = parse_factor(s, p, sign, out, err);

    while (st == DSE_OK && **p == '*') {
        (*p)++;
        st = parse_factor(s, p, sign, out, err);
    }
    return st;
}

dse_status wl_dim_parse(const wl_symbols *s, const char *text, wl_dim *out, dse_error *err)
{
    const char *p = text;
    dse_error why = DSE_ERROR_INIT;
    wl_dim d = {{0}};
    dse_status st = parse_product(s, &p, 1, &d, &why);

    if (st == DSE_OK && *p == '/') {
        p++;
        while (isspace((unsigned char)*p))
            p++;
        if (*p == '(') {
            p++;
            st = parse_product(s, &p, -1, &d, &why);
            if (st == DSE_OK && *p != ')')
                st = dse_fail(&why, DSE_E_CONFIG, "a ')' is missing");
            p += *p == ')';
            while (isspace((unsigned char)*p))
                p++;
        } else {
            st = parse_factor(s, &p, -1, &d, &why);
        }
    }
    if (st == DSE_OK && *p)
        st = dse_fail(&why, DSE_E_CONFIG, "unexpected '%c'", *p);
    if (st != DSE_OK)
        return dse_fail(err, st, "'%.80s' is not a dimension: %s", text, why.text);
    *out = d;
    return DSE_OK;
}

/* ---- algebra ------------------------------------------------------------------------------- */

bool wl_dim_equal(const wl_dim *a, const wl_dim *b) { return !memcmp(a->power, b->power, sizeof a->power); }

bool wl_dim_has(const wl_dim *d, int symbol) { return symbol >= 0 && d->power[symbol] != 0; }

void wl_dim_multiply(wl_dim *a, const wl_dim *b)
{
    for (int i = 0; i < WL_MAX_SYMBOLS; i++)
        a->power[i] = (int8_t)(a->power[i] + b->power[i]);
}

wl_dim wl_shape_elements(const wl_shape *s)
{
    wl_dim product = {{0}};

    for (uint32_t i = 0; i < s->n; i++)
        wl_dim_multiply(&product, &s->dim[i]);
    return product;
}

/* ---- printing ------------------------------------------------------------------------------ */

static int count_factors(const wl_symbols *s, const wl_dim *d, int sign)
{
    int count = 0;

    for (uint32_t i = 0; i < s->n; i++)
        count += d->power[i] * sign > 0;
    return count;
}

/* Symbols with a power of the given sign, ASCII order, joined by '*'. */
static void print_factors(const wl_symbols *s, const wl_dim *d, int sign, dse_strbuf *out)
{
    const char *last = NULL;

    for (int left = count_factors(s, d, sign); left; left--) {
        int next = -1;

        for (uint32_t i = 0; i < s->n; i++)
            if (d->power[i] * sign > 0 && (!last || strcmp(s->name[i], last) > 0) &&
                (next < 0 || strcmp(s->name[i], s->name[next]) < 0))
                next = (int)i;
        if (last)
            dse_strbuf_addc(out, '*');
        last = s->name[next];
        dse_strbuf_adds(out, last);
        if (abs(d->power[next]) > 1)
            dse_strbuf_addf(out, "**%d", abs(d->power[next]));
    }
}

void wl_dim_print(const wl_symbols *s, const wl_dim *d, dse_strbuf *out)
{
    const int above = count_factors(s, d, 1), below = count_factors(s, d, -1);

    if (above)
        print_factors(s, d, 1, out);
    else
        dse_strbuf_addc(out, '1');
    if (!below)
        return;
    dse_strbuf_adds(out, below > 1 ? "/(" : "/");
    print_factors(s, d, -1, out);
    if (below > 1)
        dse_strbuf_addc(out, ')');
}

void wl_shape_print(const wl_symbols *s, const wl_shape *shape, dse_strbuf *out)
{
    for (uint32_t i = 0; i < shape->n; i++) {
        if (i)
            dse_strbuf_addc(out, ',');
        wl_dim_print(s, &shape->dim[i], out);
    }
    if (!shape->n)
        dse_strbuf_addc(out, '1');
}

/* ---- evaluation ---------------------------------------------------------------------------- */

typedef unsigned __int128 u128;

/* man * 2^exp; man has at most 128 bits and is odd unless zero. */
typedef struct {
    u128 man;
    int exp;
} factor;

static int bit_count(u128 v)
{
    uint64_t high = (uint64_t)(v >> 64), low = (uint64_t)v;

    if (high)
        return 128 - __builtin_clzll(high);
    return low ? 64 - __builtin_clzll(low) : 0;
}

static factor normalise(u128 man, int exp)
{
    while (man && !(man & 1)) {
        man >>= 1;
        exp++;
    }
    return (factor){man, exp};
}

/* Keeps the top `bits` bits of man; `up` rounds away from zero instead of truncating. */
static factor limit_bits(factor f, int bits, bool up)
{
    int extra = bit_count(f.man) - bits;
    u128 kept;

    if (extra <= 0)
        return f;
    kept = f.man >> extra;
    if (up && kept << extra != f.man)
        kept++;
    return normalise(kept, f.exp + extra);
}

static factor integer_factor(uint64_t v, int bits) { return limit_bits(normalise(v, 0), bits, false); }

/* 1 / f to `bits` bits, truncated: long division, one bit at a time. */
static factor reciprocal(factor f, int bits)
{
    u128 rest = 1, quotient = 0;
    int exp = -f.exp;

    if (f.man == 1)
        return (factor){1, exp};
    while (bit_count(quotient) < bits) {
        rest <<= 1;
        quotient <<= 1;
        exp--;
        if (rest >= f.man) {
            rest -= f.man;
            quotient |= 1;
        }
    }
    return normalise(quotient, exp);
}

/* v^power as evalf_pow computes it; |power| up to 8 and intermediate mantissas of at most 128 bits. */
static factor power_factor(uint64_t v, int power, int bits)
{
    int n = abs(power), inner = power < -1 ? bits + 5 : bits;
    factor base = integer_factor(v, 64), f = base;

    for (int i = 1; i < n; i++) {
        if (bit_count(f.man) + bit_count(base.man) > 128)
            f = limit_bits(f, 128 - bit_count(base.man), power < 0);
        f = normalise(f.man * base.man, f.exp + base.exp);
    }
    f = limit_bits(f, n == 1 ? 128 : inner, power < -1);
    return power < 0 ? reciprocal(f, bits) : limit_bits(f, bits, false);
}

/* A product of factors: up to LIMBS * 64 bits, little endian. */
#define LIMBS      8
#define EVALF_BITS 57 /* what evalf aims at for 15 digits */
typedef struct {
    uint64_t limb[LIMBS];
    int exp;
} product;

static int product_bits(const product *p)
{
    for (int i = LIMBS - 1; i >= 0; i--)
        if (p->limb[i])
            return 64 * (i + 1) - __builtin_clzll(p->limb[i]);
    return 0;
}

static bool product_bit(const product *p, int i) { return p->limb[i / 64] >> (i % 64) & 1; }

static void product_shift_right(product *p, int bits)
{
    int words = bits / 64, rest = bits % 64;

    for (int i = 0; i < LIMBS; i++) {
        uint64_t low = i + words < LIMBS ? p->limb[i + words] : 0;
        uint64_t high = i + words + 1 < LIMBS ? p->limb[i + words + 1] : 0;

        p->limb[i] = rest ? low >> rest | high << (64 - rest) : low;
    }
    p->exp += bits;
}

static void product_multiply(product *p, const factor *f)
{
    uint64_t m[2] = {(uint64_t)f->man, (uint64_t)(f->man >> 64)}, out[LIMBS] = {0};

    for (int i = 0; i < LIMBS; i++) {
        uint64_t carry = 0;

        for (int k = 0; k < 2 && i + k < LIMBS; k++) {
            u128 t = (u128)p->limb[i] * m[k] + out[i + k] + carry;
            out[i + k] = (uint64_t)t;
            carry = (uint64_t)(t >> 64);
        }
        if (i + 2 < LIMBS)
            out[i + 2] += carry;
    }
    memcpy(p->limb, out, sizeof out);
    p->exp += f->exp;
}

/* Round half to even, to `bits` bits. */
static void product_round(product *p, int bits)
{
    int extra = product_bits(p) - bits;
    bool half, sticky = false;

    if (extra <= 0)
        return;
    half = product_bit(p, extra - 1);
    for (int i = 0; i < extra - 1 && !sticky; i++)
        sticky = product_bit(p, i);
    product_shift_right(p, extra);
    if (half && (sticky || (p->limb[0] & 1)))
        for (int i = 0; i < LIMBS && !++p->limb[i]; i++)
            ;
}

/* scale * d to `target` bits. */
static product dim_product(const wl_symbols *s, const wl_dim *d, double scale, int target)
{
    product p = {.limb = {1}};
    int n_factors = scale != 1.0, bits, total_bits = 1;

    for (uint32_t i = 0; i < s->n; i++)
        n_factors += d->power[i] != 0;
    bits = n_factors > 1 ? target + n_factors + 5 : target;
    for (uint32_t i = 0; i < s->n; i++) {
        factor f;

        if (!d->power[i])
            continue;
        f = power_factor((uint64_t)s->value[i], d->power[i], bits);
        product_multiply(&p, &f);
        total_bits += bit_count(f.man);
        while (total_bits > 3 * bits) {
            product_shift_right(&p, bits);
            total_bits -= bits;
        }
    }
    if (scale != 1.0) {
        int exp;
        double man = frexp(scale, &exp);
        factor f = normalise((u128)ldexp(man, 53), exp - 53);

        product_multiply(&p, &f);
    }
    product_round(&p, target);
    return p;
}

/* What Python makes of a value that was rounded to EVALF_BITS. */
static double product_value(product p)
{
    product_round(&p, 53);
    return ldexp((double)(((u128)p.limb[1] << 64) | p.limb[0]), p.exp);
}

double wl_dim_value(const wl_symbols *s, const wl_dim *d, double scale)
{
    return product_value(dim_product(s, d, scale, EVALF_BITS));
}

/* The same value with a lower exponent. */
static void product_lower(product *p, int exp)
{
    while (p->exp > exp) {
        const int k = p->exp - exp < 127 ? p->exp - exp : 127;
        const factor f = {(u128)1 << k, -k};

        product_multiply(p, &f);
    }
}

/* Exact: terms have less than 100 bits, and their exponents do not differ by hundreds. */
static void product_add(product *a, product b)
{
    u128 carry = 0;

    product_lower(a, b.exp);
    product_lower(&b, a->exp);
    for (int i = 0; i < LIMBS; i++) {
        carry += (u128)a->limb[i] + b.limb[i];
        a->limb[i] = (uint64_t)carry;
        carry >>= 64;
    }
}

double wl_sum_value(const wl_symbols *s, const wl_dim *term, const double *scale, uint32_t n,
                    const wl_dim *over)
{
    const int target = over ? EVALF_BITS + 2 + 5 : EVALF_BITS; /* a product of two is worked out with more */
    product sum = dim_product(s, &term[0], scale[0], target + 10);

    for (uint32_t i = 1; i < n; i++)
        product_add(&sum, dim_product(s, &term[i], scale[i], target + 10));
    product_round(&sum, target);
    for (uint32_t i = 0; over && i < s->n; i++)
        if (over->power[i]) {
            const factor f = power_factor((uint64_t)s->value[i], over->power[i], target);

            product_multiply(&sum, &f);
        }
    product_round(&sum, EVALF_BITS);
    return product_value(sum);
}

uint64_t wl_dim_whole(const wl_symbols *s, const wl_dim *d)
{
    double above = 1, below = 1;

    for (uint32_t i = 0; i < s->n; i++)
        for (int k = 0; k < abs(d->power[i]); k++)
            *(d->power[i] > 0 ? &above : &below) *= (double)s->value[i];
    above /= below;
    return above < 1 ? 1 : above < 9223372036854775808.0 ? (uint64_t)above : INT64_MAX;
}

uint64_t wl_size_as_read(double elements)
{
    char repr[40];

    if (elements >= 1e-4 && elements < 1e16)
        return (uint64_t)elements;
    /* Spelt with an exponent: the one digit before the point, of the shortest spelling that reads back. */
    for (int precision = 0; precision < 17; precision++) {
        snprintf(repr, sizeof repr, "%.*e", precision, elements);
        if (strtod(repr, NULL) == elements)
            break;
    }
    return strtoull(repr, NULL, 10);
}
