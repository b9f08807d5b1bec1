#include "report/diff.h"

#include "base/array.h"
#include "report/rows.h"
#include "report/tree.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- pairs --------------------------------------------------------------------------------- */

typedef struct {
    const store_row *row;
    bool in_b;
} entry;

typedef int compare_rows(const store_row *a, const store_row *b);

/* Length of an engine's name without its version: 6 of "native-1". */
static size_t name_length(const char *engine)
{
    const char *dash = strrchr(engine, '-');

    return dash && isdigit((unsigned char)dash[1]) ? (size_t)(dash - engine) : strlen(engine);
}

/* Versions of one engine count as one engine, so that a diff shows what a new version changes. */
static int compare_engines(const store_row *a, const store_row *b)
{
    size_t n_a = name_length(a->engine), n_b = name_length(b->engine);
    int c = memcmp(a->engine, b->engine, n_a < n_b ? n_a : n_b);

    return c ? c : (n_a > n_b) - (n_a < n_b);
}

static int compare_studies(const store_row *a, const store_row *b)
{
    return a->study < b->study ? -1 : a->study > b->study;
}

/* Each level distinguishes rows of which the earlier levels leave several on one side. */
static compare_rows *const levels[] = {report_compare, compare_engines, compare_studies};
enum { N_LEVELS = DSE_COUNT(levels) };

static int compare_entries(const void *x, const void *y)
{
    const entry *a = x, *b = y;
    int c = 0;

    for (int i = 0; !c && i < N_LEVELS; i++)
        c = levels[i](a->row, b->row);
    return c ? c : a->in_b - b->in_b;
}

typedef struct {
    report_pair *pair;
    size_t n;
} pairing;

/* Entries that are equal on all levels below this one: one pair, if no side has several; else split by this
 * one. */
static void pair_up(const entry *e, size_t n, int level, pairing *out)
{
    size_t n_b = 0;

    for (size_t i = 0; i < n; i++)
        n_b += e[i].in_b;
    if (level && n == 2 && n_b == 1) {
        out->pair[out->n++] =
            e[0].in_b ? (report_pair){e[1].row, e[0].row} : (report_pair){e[0].row, e[1].row};
        return;
    }
    if (n == 1 || level == N_LEVELS) {
        for (size_t i = 0; i < n; i++)
            out->pair[out->n++] = e[i].in_b ? (report_pair){NULL, e[i].row} : (report_pair){e[i].row, NULL};
        return;
    }
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && !levels[level](e[i].row, e[end].row);)
            end++;
        pair_up(&e[i], end - i, level + 1, out);
    }
}

report_pair *report_diff_pair(const store_row *a, size_t n_a, const store_row *b, size_t n_b,
                              dse_arena *arena, size_t *n)
{
    entry *e = DSE_ARENA_NEW(arena, entry, n_a + n_b);
    pairing out = {DSE_ARENA_NEW(arena, report_pair, n_a + n_b), 0};

    for (size_t i = 0; i < n_a; i++)
        e[i] = (entry){&a[i], false};
    for (size_t i = 0; i < n_b; i++)
        e[n_a + i] = (entry){&b[i], true};
    qsort(e, n_a + n_b, sizeof *e, compare_entries);
    if (n_a + n_b)
        pair_up(e, n_a + n_b, 0, &out);
    *n = out.n;
    return out.pair;
}

/* ---- figures ------------------------------------------------------------------------------- */

bool report_is_known(const store_row *r, const store_column *c)
{
    return r->done && !isnan(store_value(&r->metrics, c));
}

/* ASTRA-sim prints memory as "{:.2f} GB" and so on, with units of 1024, computed in single precision
 * (LocalMemUsageTracker.cc, getPeakMemUsageFormatted): half of a hundredth of the unit, and a float's
 * rounding. */
static double rounding_of(double bytes)
{
    double unit = 1;

    while (bytes / unit >= 1024 && unit < 1024.0 * 1024 * 1024 * 1024)
        unit *= 1024;
    return unit / 200 + bytes * 0x1p-23;
}

bool report_diff_equal(const store_row *a, const store_row *b, const store_column *c, double tolerance)
{
    double x = store_value(&a->metrics, c), y = store_value(&b->metrics, c), allowed = tolerance * fabs(x);

    if (!report_is_known(a, c) || !report_is_known(b, c))
        return false;
    if (c->type == STORE_BYTES && (a->memory_rounded || b->memory_rounded))
        allowed = fmax(allowed, rounding_of(fmax(x, y)));
    return !strcmp(report_value_exact(&a->metrics, c).text, report_value_exact(&b->metrics, c).text) ||
           (allowed > 0 && fabs(x - y) <= allowed);
}

bool report_diff_changed(const report_pair *p, const store_column *c, double tolerance)
{
    return p->a && p->b && report_is_known(p->a, c) && report_is_known(p->b, c) &&
           !report_diff_equal(p->a, p->b, c, tolerance);
}

bool report_diff_differs(const report_pair *p, const report_diff_options *o)
{
    if (!p->a || !p->b || p->a->done != p->b->done)
        return true;
    for (size_t i = 0; i < o->n_columns; i++)
        if (report_diff_changed(p, o->columns[i], o->tolerance))
            return true;
    return false;
}

bool report_diff_same(const report_pair *pairs, size_t n, const report_diff_options *o)
{
    for (size_t i = 0; i < n; i++)
        if (report_diff_differs(&pairs[i], o))
            return false;
    return true;
}
