#include "driver/astra_log.h"

#include "base/array.h"
#include "base/units.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* The longest number; 2^64 has 20 digits. */
#define MAX_DIGITS 24
/* The largest memory that a double counts exactly. */
#define MAX_BYTES 9007199254740992.0 /* 2^53 */

typedef enum { TICKS, REAL, MEMORY } kind;

/* One row a statistic: its name after "sys[0], " and in messages. */
static const struct {
    const char *label;
    kind kind;
    const char *inner; /* the number follows these words, not the label */
} fields[DRV_LOG_N] = {
    [DRV_LOG_EXPOSED_COMM] = {"finished", TICKS, "exposed communication"},
    [DRV_LOG_WALL_TIME] = {"Wall time", TICKS, NULL},
    [DRV_LOG_GPU_TIME] = {"GPU time", TICKS, NULL},
    [DRV_LOG_COMM_TIME] = {"Comm time", TICKS, NULL},
    [DRV_LOG_CPU_TIME] = {"CPU time", TICKS, NULL},
    [DRV_LOG_REMOTE_TIME] = {"Remote mem time", TICKS, NULL},
    [DRV_LOG_COMPUTE_BOUND] = {"Compute bound percentage", REAL, NULL},
    [DRV_LOG_COMPUTE_UTIL] = {"Average compute utilization", REAL, NULL},
    [DRV_LOG_MEM_UTIL] = {"Average memory utilization", REAL, NULL},
    [DRV_LOG_OP_INTENSITY] = {"Average operation intensity", REAL, NULL},
    [DRV_LOG_PEAK_MEMORY] = {"peak memory usage", MEMORY, NULL},
};

/* In the order of drv_log_value.unit. */
static const char *const units[][3] = {
    {"B", "bytes", "byte"}, {"KB", "KiB", "K"}, {"MB", "MiB", "M"}, {"GB", "GiB", "G"}, {"TB", "TiB", "T"}};
#define N_UNITS DSE_COUNT(units)

/* ---- a line -------------------------------------------------------------------------------- */

/* The unread part of a line. */
typedef struct {
    const char *at, *end;
} rest;

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static void skip_blanks(rest *r)
{
    while (r->at < r->end && is_blank(*r->at))
        r->at++;
}

static bool skip_word(rest *r, const char *word)
{
    size_t n = strlen(word);

    if ((size_t)(r->end - r->at) < n || strncasecmp(r->at, word, n) != 0)
        return false;
    r->at += n;
    return true;
}

/* Skips to the end of the first `word` of the line. */
static bool skip_to(rest *r, const char *word)
{
    for (rest try = *r; try.at < r->end; try.at++) {
        rest behind = try;

        if (skip_word(&behind, word)) {
            *r = behind;
            return true;
        }
    }
    return false;
}

static bool skip_one_of(rest *r, const char *characters)
{
    if (r->at == r->end || !*r->at || !strchr(characters, *r->at))
        return false;
    r->at++;
    return true;
}

/* Skips "sys[12]" and the separator after it. False if the line has none. */
static bool find_rank(rest *r, uint64_t *rank)
{
    char digits[MAX_DIGITS];
    size_t n = 0;

    if (!skip_to(r, "sys["))
        return false;
    while (r->at < r->end && is_digit(*r->at) && n + 1 < sizeof digits)
        digits[n++] = *r->at++;
    digits[n] = '\0';
    if (dse_parse_u64(digits, rank, NULL) != DSE_OK || !skip_one_of(r, "]"))
        return false;
    while (skip_one_of(r, ",.:= \t"))
        ;
    return true;
}

/* The field whose name comes next; DRV_LOG_N: none that is known. Leaves r behind the separator. */
static drv_log_field find_field(rest *r)
{
    for (int i = 0; i < DRV_LOG_N; i++) {
        rest behind = *r;

        if (!skip_word(&behind, fields[i].label) || (fields[i].inner && !skip_to(&behind, fields[i].inner)))
            continue;
        skip_blanks(&behind);
        if (!skip_one_of(&behind, ":=") && !fields[i].inner)
            continue;
        skip_blanks(&behind);
        *r = behind;
        return (drv_log_field)i;
    }
    return DRV_LOG_N;
}

/* ---- a number ------------------------------------------------------------------------------ */

typedef struct {
    char text[MAX_DIGITS + 1];
    size_t whole; /* digits before the point */
    uint8_t decimals;
} number;

/* Digits, and perhaps a point and digits: no sign, no exponent, no "nan". */
static bool read_number(rest *r, number *out)
{
    size_t n = 0;

    *out = (number){.whole = 0};
    while (r->at < r->end && n < MAX_DIGITS &&
           (is_digit(*r->at) || (*r->at == '.' && !strchr(out->text, '.')))) {
        if (*r->at == '.')
            out->whole = n;
        out->text[n++] = *r->at++;
    }
    if (!strchr(out->text, '.'))
        out->whole = n;
    else
        out->decimals = (uint8_t)(n - out->whole - 1);
    return out->whole > 0 && !(r->at < r->end && (is_digit(*r->at) || *r->at == '.'));
}

/* A whole number; "512.00" is one. */
static bool to_count(const number *v, uint64_t *out)
{
    char whole[MAX_DIGITS + 1];

    snprintf(whole, sizeof whole, "%.*s", (int)v->whole, v->text);
    return strspn(v->text + v->whole, ".0") == strlen(v->text + v->whole) &&
           dse_parse_u64(whole, out, NULL) == DSE_OK;
}

static bool to_real(const number *v, double *out)
{
    return dse_parse_double(v->text, out, NULL) == DSE_OK && isfinite(*out);
}

static uint8_t read_unit(rest *r)
{
    for (size_t i = 0; i < N_UNITS; i++)
        for (int k = 0; k < 3; k++) {
            rest behind = *r;

            if (!skip_word(&behind, units[i][k]))
                continue;
            skip_blanks(&behind);
            if (behind.at < r->end)
                continue;
            *r = behind;
            return (uint8_t)i;
        }
    return 0;
}

static bool read_ticks(rest *r, drv_log_value *out)
{
    number v;

    if (!read_number(r, &v) || v.decimals || !to_count(&v, &out->count))
        return false;
    skip_blanks(r);
    skip_word(r, "cycles");
    skip_one_of(r, ".");
    return true;
}

/* The result of a division by 0, as ASTRA-sim prints it: "nan", "-nan", "inf", "-inf". */
static bool read_not_finite(rest *r, double *out)
{
    bool negative = r->at < r->end && *r->at == '-';
    rest word = {r->at + negative, r->end};

    if (skip_word(&word, "nan"))
        *out = NAN;
    else if (skip_word(&word, "inf"))
        *out = negative ? -INFINITY : INFINITY;
    else
        return false;
    *r = word;
    return true;
}

static bool read_real(rest *r, drv_log_value *out)
{
    number v;

    if (!read_not_finite(r, &out->real)) {
        if (!read_number(r, &v) || !to_real(&v, &out->real))
            return false;
        out->decimals = v.decimals;
    }
    skip_blanks(r);
    if (r->at < r->end && (*r->at == '%' || *r->at == '$'))
        out->sign = *r->at++;
    return true;
}

static bool read_memory(rest *r, drv_log_value *out)
{
    double bytes;
    number v;

    if (!read_number(r, &v) || !to_real(&v, &out->real))
        return false;
    skip_blanks(r);
    out->unit = read_unit(r);
    out->decimals = v.decimals;
    if (out->unit == 0)
        return to_count(&v, &out->count);
    bytes = ldexp(out->real, 10 * out->unit);
    out->count = bytes <= MAX_BYTES ? (uint64_t)llround(bytes) : 0;
    return bytes <= MAX_BYTES;
}

static bool read_value(rest r, kind what, drv_log_value *out)
{
    static bool (*const readers[])(rest *, drv_log_value *) = {
        [TICKS] = read_ticks, [REAL] = read_real, [MEMORY] = read_memory};

    *out = (drv_log_value){.present = true};
    if (!readers[what](&r, out))
        return false;
    skip_blanks(&r);
    return r.at == r.end;
}

/* ---- the log ------------------------------------------------------------------------------- */

typedef struct {
    const char *name;
    uint64_t line;
    const drv_log_wants *wants;
    uint32_t *seen; /* n_ranks: bit i: field i */
    drv_astra_log *out;
} parser;

static dse_status fail(const parser *p, dse_error *err, const char *what, uint64_t rank, drv_log_field field)
{
    char where[sizeof err->where];

    snprintf(where, sizeof where, "%.200s:%" PRIu64, p->name, p->line);
    return dse_fail_at(err, DSE_E_SYNTAX, where, "%s sys[%" PRIu64 "] '%s'", what, rank, fields[field].label);
}

static dse_status parse_line(parser *p, rest r, dse_error *err)
{
    drv_log_value v, *worst;
    drv_log_field field;
    uint64_t rank;

    if (!find_rank(&r, &rank) || (field = find_field(&r)) == DRV_LOG_N)
        return DSE_OK;
    if (rank >= p->wants->n_ranks)
        return fail(p, err, "the workload has no such rank:", rank, field);
    if (!read_value(r, fields[field].kind, &v))
        return fail(p, err, "no number, or one that cannot be, of", rank, field);
    if (p->seen[rank] & 1u << field)
        return fail(p, err, "a second", rank, field);
    p->seen[rank] |= 1u << field;
    if (rank == 0)
        p->out->rank0[field] = v;
    worst = field == DRV_LOG_WALL_TIME     ? &p->out->longest_wall
            : field == DRV_LOG_PEAK_MEMORY ? &p->out->largest_peak
                                           : NULL;
    if (worst && (!worst->present || v.count > worst->count))
        *worst = v;
    return DSE_OK;
}

static dse_status check_rank(const parser *p, uint32_t rank, dse_error *err)
{
    const struct {
        drv_log_field field;
        bool wanted;
    } needs[] = {
        {DRV_LOG_WALL_TIME, true},
        {DRV_LOG_COMPUTE_BOUND, p->wants->utilisation},
        {DRV_LOG_COMPUTE_UTIL, p->wants->utilisation},
        {DRV_LOG_MEM_UTIL, p->wants->utilisation},
        {DRV_LOG_OP_INTENSITY, p->wants->utilisation},
        {DRV_LOG_PEAK_MEMORY, p->wants->memory},
    };

    for (size_t i = 0; i < DSE_COUNT(needs); i++)
        if (needs[i].wanted && !(p->seen[rank] & 1u << needs[i].field))
            return dse_fail_at(err, DSE_E_CHILD, p->name, "not complete: sys[%" PRIu32 "] has no '%s'", rank,
                               fields[needs[i].field].label);
    return DSE_OK;
}

static dse_status check_reports(const parser *p, dse_error *err)
{
    uint32_t n = 0;
    dse_status st = DSE_OK;

    for (uint32_t i = 0; i < p->wants->n_ranks; i++)
        n += p->seen[i] != 0;
    p->out->n_reporting = n;
    if (n && !p->seen[0])
        return dse_fail_at(err, DSE_E_CHILD, p->name, "not complete: sys[0] does not report");
    for (uint32_t i = 0; st == DSE_OK && i < p->wants->n_ranks; i++)
        if (p->seen[i])
            st = check_rank(p, i, err);
    if (st == DSE_OK && n > 1 && n < p->wants->n_ranks)
        return dse_fail_at(err, DSE_E_CHILD, p->name,
                           "not complete: only %" PRIu32 " of %" PRIu32 " ranks report", n,
                           p->wants->n_ranks);
    return st;
}

dse_status drv_astra_log_parse(const char *name, const char *text, size_t n, const drv_log_wants *wants,
                               dse_arena *scratch, drv_astra_log *out, dse_error *err)
{
    drv_astra_log log = {0};
    parser p = {name, 0, wants, DSE_ARENA_NEW(scratch, uint32_t, wants->n_ranks), &log};
    rest r = {text, text};
    dse_status st = DSE_OK;

    while (st == DSE_OK && n && (r.end = memchr(r.at, '\n', (size_t)(text + n - r.at)))) {
        p.line++;
        st = parse_line(&p, r, err);
        r.at = r.end + 1;
        if (r.at == text + n)
            break;
    }
    if (st == DSE_OK)
        st = check_reports(&p, err);
    if (st == DSE_OK)
        *out = log;
    return st;
}

/* ---- values -------------------------------------------------------------------------------- */

static const struct {
    const char *column;
    drv_log_field field;
    bool of_all; /* the largest of the ranks, not rank 0's */
} columns[] = {
    {"wall_time", DRV_LOG_WALL_TIME, true},
    {"wall_time_rank0", DRV_LOG_WALL_TIME, false},
    {"gpu_time", DRV_LOG_GPU_TIME, false},
    {"comm_time", DRV_LOG_COMM_TIME, false},
    {"exposed_comm", DRV_LOG_EXPOSED_COMM, false},
    {"compute_bound", DRV_LOG_COMPUTE_BOUND, false},
    {"compute_util", DRV_LOG_COMPUTE_UTIL, false},
    {"mem_util", DRV_LOG_MEM_UTIL, false},
    {"op_intensity", DRV_LOG_OP_INTENSITY, false},
    {"peak_memory", DRV_LOG_PEAK_MEMORY, true},
    {"peak_memory_rank0", DRV_LOG_PEAK_MEMORY, false},
};

static const drv_log_value *value_of(const drv_astra_log *log, drv_log_field field, bool of_all)
{
    static const drv_log_value none = {.present = true};

    if (of_all)
        return field == DRV_LOG_WALL_TIME ? &log->longest_wall : &log->largest_peak;
    if (!log->rank0[field].present && (field == DRV_LOG_GPU_TIME || field == DRV_LOG_COMM_TIME) &&
        (log->rank0[DRV_LOG_OP_INTENSITY].present || log->rank0[DRV_LOG_PEAK_MEMORY].present))
        return &none;
    return &log->rank0[field];
}

const drv_log_value *drv_astra_log_value(const drv_astra_log *log, const char *column)
{
    for (size_t i = 0; i < DSE_COUNT(columns); i++) {
        const drv_log_value *v;

        if (strcmp(columns[i].column, column) != 0)
            continue;
        v = value_of(log, columns[i].field, columns[i].of_all);
        /* An exposed communication of -1 is a count that the database cannot hold. */
        return v->present && v->count != STORE_ABSENT ? v : NULL;
    }
    return NULL;
}

void drv_astra_log_metrics(const drv_astra_log *log, store_metrics *out, bool *memory_rounded)
{
    size_t n;
    const store_column *c = store_columns(&n);

    store_metrics_clear(out);
    for (size_t i = 0; i < n; i++) {
        const drv_log_value *v = drv_astra_log_value(log, c[i].name);
        void *field = (char *)out + c[i].offset;

        if (v && c[i].type == STORE_REAL)
            *(double *)field = v->real;
        else if (v)
            *(uint64_t *)field = v->count;
    }
    *memory_rounded = log->largest_peak.unit > 0;
}

void drv_log_format(const drv_log_value *v, const store_column *c, char out[DRV_LOG_TEXT])
{
    if (c->type == STORE_REAL && isnan(v->real)) /* not stored either */
        snprintf(out, DRV_LOG_TEXT, "none");
    else if (c->type == STORE_REAL)
        snprintf(out, DRV_LOG_TEXT, "%.*f", v->decimals, v->real);
    else if (v->unit)
        snprintf(out, DRV_LOG_TEXT, "%.*f %s", v->decimals, v->real, units[v->unit][0]);
    else
        snprintf(out, DRV_LOG_TEXT, "%" PRIu64, v->count);
}

void drv_log_format_stored(const store_metrics *m, const store_column *c, const drv_log_value *like,
                           char out[DRV_LOG_TEXT])
{
    drv_log_value v = *like;

    if (isnan(store_value(m, c))) {
        snprintf(out, DRV_LOG_TEXT, "none");
        return;
    }
    if (c->type == STORE_REAL)
        v.real = store_value(m, c);
    else
        v.count = store_count(m, c);
    if (v.unit) /* ASTRA-sim divides in float, too: above 2^24 the last digit may differ from a double's */
        v.real = (double)ldexpf((float)v.count, -10 * v.unit);
    drv_log_format(&v, c, out);
}
