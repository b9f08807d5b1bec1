/* wl_dim, wl_shape -- tensor shapes over named symbols.
 *
 * A dimension is a product of powers of symbols: "Batch/dp", "Dmodel/(Head*sp)". Symbols are indexes
 * into a wl_symbols; a dimension stores one small exponent per symbol, so multiplying dimensions is
 * adding exponents and comparing them is comparing bytes. */
#ifndef DSE_WORKLOAD_EXPR_H
#define DSE_WORKLOAD_EXPR_H

#include "base/alloc.h"
#include "base/strbuf.h"

#define WL_MAX_SYMBOLS 24
#define WL_MAX_RANK    6 /* dimensions of a tensor */

typedef struct {
    uint32_t n;
    const char *name[WL_MAX_SYMBOLS];
    int64_t value[WL_MAX_SYMBOLS]; /* at least 1 */
} wl_symbols;

typedef struct {
    int8_t power[WL_MAX_SYMBOLS];
} wl_dim;

typedef struct {
    uint32_t n; /* 0: a scalar */
    wl_dim dim[WL_MAX_RANK];
} wl_shape;

/* "; did you mean 'Batch'?" if one of the known names is near, else "": the end of a message about a name
 * that nothing has. Into `out`, which it returns. */
#define WL_HINT_SIZE 100
const char *wl_hint(char out[WL_HINT_SIZE], const char *name, const char *const *known, size_t n);

/* Index of a symbol, or -1. */
int wl_symbol_find(const wl_symbols *s, const char *name);

/* Parses "Batch/dp" or "Din/(dp*sp)": factors joined by '*', at most one '/' with a factor or a
 * parenthesised product behind it. DSE_E_CONFIG for anything else and for unknown symbols. */
dse_status wl_dim_parse(const wl_symbols *s, const char *text, wl_dim *out, dse_error *err);

bool wl_dim_equal(const wl_dim *a, const wl_dim *b);
bool wl_dim_has(const wl_dim *d, int symbol);
void wl_dim_multiply(wl_dim *a, const wl_dim *b);

/* The product of all dimensions of a shape: its number of elements. */
wl_dim wl_shape_elements(const wl_shape *s);

/* Spelt as sympy prints it, symbols in ASCII order: "Dmodel/(Head*sp)", "1/dp", "1". */
void wl_dim_print(const wl_symbols *s, const wl_dim *d, dse_strbuf *out);
/* The dimensions joined by commas; "1" for a scalar. */
void wl_shape_print(const wl_symbols *s, const wl_shape *shape, dse_strbuf *out);

/* The value of scale * d in the arithmetic of the reference, for any degrees, also such that do not
 * divide.
 *
 * The reference evaluates the product by sympy's evalf and makes a Python float of it. evalf works
 * with a target of 57 bits: it takes the reciprocal of each symbol below the fraction bar to 62 + n
 * bits, rounded down (n is the number of factors), multiplies exactly, and rounds to nearest twice, to
 * 57 and then to 53 bits. For degrees that divide, all of this is exact and the result is the plain
 * integer. Source: sympy/core/evalf.py (evalf_mul, evalf_pow) and mpmath's libmpf.py; checked against
 * traces with degrees 3, 6 and 7. */
double wl_dim_value(const wl_symbols *s, const wl_dim *d, double scale);

/* The value of the sum of scale[i] * term[i], times `over` (a power of one symbol, NULL: 1), in the same
 * arithmetic. evalf works out the terms with 10 bits more than the sum, adds exactly, and rounds. Source:
 * evalf_add and add_terms. */
double wl_sum_value(const wl_symbols *s, const wl_dim *term, const double *scale, uint32_t n,
                    const wl_dim *over);

/* The plain value of d, truncated, but at least 1. */
uint64_t wl_dim_whole(const wl_symbols *s, const wl_dim *d);

/* A size written as Python's repr and read back by the reference simulator, which takes the digits up to
 * the first other character: 699050666.67 is 699050666, but 1e+16 is 1. */
uint64_t wl_size_as_read(double elements);

#endif
