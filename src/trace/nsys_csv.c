/* Reports of Nsight Systems as CSV (RFC 4180): `nsys stats --format csv`, or what its window copies.
 *
 * Reads tables of kernels, recognised by their columns in any order: the summaries cuda_gpu_kern_sum and
 * cuda_gpu_kern_gb_sum (Name, Total Time, Instances), cuda_gpu_sum (Operation, Category, Total Time,
 * Instances; rows of category CUDA_KERNEL), and cuda_gpu_trace (Name, Duration, GrdX; a row is one launch,
 * and a kernel if it has a grid). Lines before a table and other tables are skipped; a second table of
 * kernels is skipped with a warning, since it most likely repeats the same kernels. The unit is in the
 * column's heading ("Total Time (ns)") or after the number ("75.794 ms"); a time without a unit is
 * refused. */
#include "base/array.h"
#include "base/strbuf.h"
#include "trace/reader.h"

#include <stdarg.h>
#include <string.h>
#include <strings.h>

#define MAX_FIELDS 64  /* further ones are ignored */
#define MAX_LINES  200 /* searched for a first table to recognise the format */

/* ---- CSV ------------------------------------------------------------------------------------- */

typedef struct {
    const char *p, *end;
    size_t line, next_line; /* of the record, of what follows it */
    size_t n;
    size_t start[MAX_FIELDS]; /* of each field in text, where it ends with a NUL */
    dse_strbuf text;
    bool is_open; /* the file ends within quotes */
} csv;

static void csv_init(csv *c, const char *bytes, size_t n)
{
    *c = (csv){.p = bytes, .end = bytes + n, .next_line = 1};
    dse_strbuf_init(&c->text);
    if (n >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0)
        c->p += 3;
}

/* The rest of a field in quotes, after the opening quote; a doubled quote stands for one. */
static void read_quoted(csv *c)
{
    for (; c->p < c->end; c->p++) {
        if (*c->p == '"') {
            if (++c->p == c->end || *c->p != '"')
                return;
        }
        c->next_line += *c->p == '\n';
        dse_strbuf_addc(&c->text, *c->p);
    }
    c->is_open = true;
}

static bool ends_field(char ch) { return ch == ',' || ch == '\n' || ch == '\r'; }

/* The next record; false at the end. A blank line is a record of one empty field. */
static bool next_record(csv *c)
{
    if (c->p == c->end)
        return false;
    dse_strbuf_clear(&c->text);
    c->line = c->next_line;
    for (c->n = 0;; c->p++) {
        if (c->n < MAX_FIELDS)
            c->start[c->n++] = c->text.len;
        if (c->p < c->end && *c->p == '"') {
            c->p++;
            read_quoted(c);
        }
        while (c->p < c->end && !ends_field(*c->p))
            dse_strbuf_addc(&c->text, *c->p++);
        dse_strbuf_addc(&c->text, '\0');
        if (c->p == c->end || *c->p != ',')
            break;
    }
    if (c->p < c->end && *c->p == '\r')
        c->p++;
    if (c->p < c->end && *c->p == '\n')
        c->p++;
    c->next_line++;
    return true;
}

/* Up to its first NUL, if the file has one. */
static const char *field(const csv *c, size_t i) { return c->text.data + c->start[i]; }

/* ---- numbers --------------------------------------------------------------------------------- */

static const struct {
    const char *text;
    int power; /* of ten nanoseconds */
} units[] = {{"ns", 0},        {"nsec", 0}, {"nanoseconds", 0}, {"us", 3},   {"\xce\xbcs", 3},
             {"\xc2\xb5s", 3}, {"usec", 3}, {"ms", 6},          {"msec", 6}, {"milliseconds", 6},
             {"s", 9},         {"sec", 9},  {"seconds", 9}};

#define NO_UNIT (-1)

/* The power of ten of a unit, in ns. */
static int unit_of(const char *text, size_t n)
{
    for (size_t i = 0; i < DSE_COUNT(units); i++)
        if (strlen(units[i].text) == n && strncasecmp(units[i].text, text, n) == 0)
            return units[i].power;
    return NO_UNIT;
}

/* Digits with thousands separators and decimals, times ten to the `power`, rounded to a whole number. *end is
 * after the number. False: not a number, or it does not fit. */
static bool read_number(const char *text, int power, uint64_t *out, const char **end)
{
    bool fraction = false, any = false, round = false, rounded = false;

    for (*out = 0; (*text >= '0' && *text <= '9') || *text == ',' || (*text == '.' && !fraction); text++) {
        if (*text == '.') {
            fraction = true;
        } else if (*text != ',') {
            any = true;
            if (fraction && power == 0) {
                round = round || (!rounded && *text >= '5');
                rounded = true;
                continue;
            }
            if (__builtin_mul_overflow(*out, 10, out) ||
                __builtin_add_overflow(*out, (uint64_t)(*text - '0'), out))
                return false;
            power -= fraction;
        }
    }
    for (; power > 0; power--)
        if (__builtin_mul_overflow(*out, 10, out))
            return false;
    *out += round;
    *end = text;
    return any && *out <= INT64_MAX;
}

/* "75.794 ms", or "75794" in the unit of the column. */
static bool read_time(const char *text, int column_unit, int64_t *ns)
{
    const char *unit = text + strspn(text, "0123456789,. ");
    int power = *unit ? unit_of(unit, strlen(unit)) : column_unit;
    uint64_t value;
    const char *end;

    if (power == NO_UNIT || !read_number(text, power, &value, &end) || end + strspn(end, " ") != unit)
        return false;
    *ns = (int64_t)value;
    return true;
}

/* ---- tables ---------------------------------------------------------------------------------- */

enum {
    COLUMN_NAME,
    COLUMN_TOTAL,
    COLUMN_COUNT,
    COLUMN_DURATION,
    COLUMN_GRID,
    COLUMN_CATEGORY,
    COLUMN_OPERATION,
    COLUMNS
};
static const char *const headings[COLUMNS] = {"Name", "Total Time", "Instances", "Duration",
                                              "GrdX", "Category",   "Operation"};
#define HAS(column) (1u << (column))

/* A kind of report, recognised by its columns. */
typedef struct {
    unsigned has;
    int name, time, count, kernel; /* columns; count, kernel: COLUMNS if there is none */
    const char *kernel_is;         /* value of column `kernel` in a row of a kernel; NULL: any text */
} report;

static const report reports[] = {
    {HAS(COLUMN_NAME) | HAS(COLUMN_TOTAL) | HAS(COLUMN_COUNT), COLUMN_NAME, COLUMN_TOTAL, COLUMN_COUNT,
     COLUMNS, NULL},
    {HAS(COLUMN_OPERATION) | HAS(COLUMN_CATEGORY) | HAS(COLUMN_TOTAL) | HAS(COLUMN_COUNT), COLUMN_OPERATION,
     COLUMN_TOTAL, COLUMN_COUNT, COLUMN_CATEGORY, "CUDA_KERNEL"},
    {HAS(COLUMN_NAME) | HAS(COLUMN_DURATION) | HAS(COLUMN_GRID), COLUMN_NAME, COLUMN_DURATION, COLUMNS,
     COLUMN_GRID, NULL},
};

typedef struct {
    const report *report; /* NULL: not within a table of kernels */
    size_t at[COLUMNS];   /* field of a column */
    size_t width;         /* fields of the heading */
    int unit;             /* of the time; NO_UNIT */
} table;

/* The column that a field heads, and the unit it names: "Total Time (ns)". */
static int column_of(const char *text, int *unit)
{
    const char *bracket = strrchr(text, '(');
    size_t n = bracket ? (size_t)(bracket - text) : strlen(text);

    while (n && text[n - 1] == ' ')
        n--;
    for (int c = 0; c < COLUMNS; c++)
        if (strlen(headings[c]) == n && strncasecmp(headings[c], text, n) == 0) {
            *unit = bracket ? unit_of(bracket + 1, strcspn(bracket + 1, ")")) : NO_UNIT;
            return c;
        }
    return COLUMNS;
}

/* Whether the record is the heading of a table of kernels. */
static bool read_heading(const csv *c, table *t)
{
    unsigned has = 0;
    int unit[COLUMNS];

    *t = (table){.width = c->n};
    for (size_t i = 0; i < c->n; i++) {
        int one, column = column_of(field(c, i), &one);

        if (column == COLUMNS || (has & HAS(column)))
            continue;
        has |= HAS(column);
        t->at[column] = i;
        unit[column] = one;
    }
    for (size_t i = 0; i < DSE_COUNT(reports) && !t->report; i++)
        if ((has & reports[i].has) == reports[i].has)
            t->report = &reports[i];
    if (t->report)
        t->unit = unit[t->report->time];
    return t->report != NULL;
}

/* ---- the report ------------------------------------------------------------------------------ */

typedef struct {
    csv csv;
    const char *path;
    trace_record *out;
    trace_rank *r;
    uint32_t *total_of; /* by name id; DSE_NONE */
    size_t n_total_of, cap_total_of;
    int64_t ns; /* of all kernels */
    table table;
    bool done; /* a table of kernels was read */
    dse_error *err;
} report_import;

static dse_status fail_line(report_import *x, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static dse_status fail_line(report_import *x, const char *fmt, ...)
{
    char where[256], text[512];
    va_list ap;

    snprintf(where, sizeof where, "%s:%zu", x->path, x->csv.line);
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    return dse_fail_at(x->err, DSE_E_SYNTAX, where, "%s", text);
}

/* Metrics count the sum of all in picoseconds. */
static dse_status add_total(report_import *x, const char *name, uint64_t count, int64_t ns)
{
    trace_rank *r = x->r;
    uint32_t id = trace_names_add(&r->names, name, strlen(name));
    trace_total *t;

    DSE_GROW(x->total_of, x->cap_total_of, (size_t)r->names.n);
    while (x->n_total_of < r->names.n)
        x->total_of[x->n_total_of++] = DSE_NONE;
    if (x->total_of[id] == DSE_NONE) {
        DSE_GROW(r->total, r->cap_totals, r->n_totals + 1);
        x->total_of[id] = (uint32_t)r->n_totals;
        r->total[r->n_totals++] = (trace_total){.name = id};
    }
    t = &r->total[x->total_of[id]];
    if (__builtin_add_overflow(t->count, count, &t->count) || __builtin_add_overflow(x->ns, ns, &x->ns) ||
        x->ns > INT64_MAX / TRACE_PS_PER_NS)
        return fail_line(x, "the totals up to kernel '%.200s' are beyond what 64 bits hold", name);
    t->total_ns += ns;
    return DSE_OK;
}

/* A row of the current table. */
static dse_status read_row(report_import *x)
{
    const csv *c = &x->csv;
    const table *t = &x->table;
    const report *p = t->report;
    const char *kernel = p->kernel == COLUMNS ? "" : field(c, t->at[p->kernel]), *end;
    uint64_t count = 1;
    int64_t ns;

    if (p->kernel != COLUMNS && (p->kernel_is ? strcmp(kernel, p->kernel_is) != 0 : !*kernel))
        return DSE_OK; /* a copy */
    if (!read_time(field(c, t->at[p->time]), t->unit, &ns))
        return fail_line(
            x, "'%.100s' is no time: there must be a number, and ns, us, ms or s behind it or in the heading",
            field(c, t->at[p->time]));
    if (p->count != COLUMNS && (!read_number(field(c, t->at[p->count]), 0, &count, &end) || *end ||
                                strchr(field(c, t->at[p->count]), '.')))
        return fail_line(x, "'%.100s' is no count of instances", field(c, t->at[p->count]));
    return add_total(x, field(c, t->at[p->name]), count, ns);
}

/* One record. */
static dse_status read_line(report_import *x)
{
    table heading;
    const csv *c = &x->csv;

    if (read_heading(c, &heading)) {
        if (x->done)
            trace_warn(x->out, x->path, "line %zu: a second table of kernels; it is not added to the first",
                       c->line);
        x->table = x->done ? (table){0} : heading;
        x->done = true;
        return DSE_OK;
    }
    if (!x->table.report)
        return DSE_OK;
    if (c->n == x->table.width && !c->is_open && c->p[-1] == '\n')
        return read_row(x);
    if (c->p == c->end && (c->n > 1 || c->p[-1] != '\n'))
        trace_warn(x->out, x->path, "line %zu: the file is cut off in this row, which is left out", c->line);
    else if (c->n > 1)
        return fail_line(x, "this row has %zu fields, and the heading %zu", c->n, x->table.width);
    x->table = (table){0}; /* a blank line, or the title of the next report */
    return DSE_OK;
}

dse_status trace_nsys_csv_parse(const char *path, const void *bytes, size_t n, trace_record *out,
                                dse_error *err)
{
    report_import x = {
        .path = path, .out = out, .r = trace_record_add_file(out, TRACE_NSYS_CSV, path), .err = err};
    dse_status st = DSE_OK;

    csv_init(&x.csv, bytes, n);
    while (st == DSE_OK && next_record(&x.csv))
        st = read_line(&x);
    dse_strbuf_free(&x.csv.text);
    dse_free(x.total_of);
    if (st == DSE_OK && !x.done)
        st =
            dse_fail_at(err, DSE_E_SYNTAX, path,
                        "there is no table of kernels: no line names columns Name, Total Time and Instances; "
                        "write one with nsys stats --report cuda_gpu_kern_sum --format csv");
    return st;
}

static bool is_nsys_csv(const char *head, size_t n)
{
    bool found = false;
    table t;
    csv c;

    csv_init(&c, head, n);
    while (!found && c.next_line <= MAX_LINES && next_record(&c))
        found = read_heading(&c, &t);
    dse_strbuf_free(&c.text);
    return found;
}

extern const trace_reader trace_reader_nsys_csv;
const trace_reader trace_reader_nsys_csv = {
    "nsys_csv",  TRACE_FAMILY_REPORTS,          "Nsight Systems report (CSV)",
    is_nsys_csv, .whole = trace_nsys_csv_parse, .max_bytes = (size_t)1 << 30};
