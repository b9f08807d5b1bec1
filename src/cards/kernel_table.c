#include "cards/kernel_table.h"

#include "base/array.h"
#include "sim/kernel_time.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_COLUMNS (SIM_TABLE_AXES + 1)

typedef struct {
    const char *path;
    uint32_t line;
    wl_kernel_class class;
    double peak_tflops, bandwidth, flop_factor, byte_factor, half_length, overhead_us, input_bytes,
        operand_bytes;
    uint32_t n_axes, extent[SIM_TABLE_AXES];
    sim_table_point *point;
    size_t n, cap;
    dse_arena *arena;
    dse_error *err;
} reader;

static dse_status fail(reader *r, const char *what)
{
    char where[600];

    snprintf(where, sizeof where, "%s:%u", r->path, (unsigned)r->line);
    return dse_fail_at(r->err, DSE_E_CONFIG, where, "%s", what);
}

/* ---- the law that it is compared with ---------------------------------------------------------- */

static dse_status read_class(reader *r, const char *name)
{
    r->class = wl_kernel_class_find(name);
    return r->class ? DSE_OK : fail(r, "there is no class of kernels of this name");
}

static dse_status read_term(reader *r, const char *line)
{
    const struct {
        const char *name;
        double *value;
    } terms[] = {{"peak_tflops", &r->peak_tflops}, {"bandwidth_gb_per_s", &r->bandwidth},
                 {"flop_factor", &r->flop_factor}, {"byte_factor", &r->byte_factor},
                 {"half_length", &r->half_length}, {"overhead_us", &r->overhead_us},
                 {"input_bytes", &r->input_bytes}, {"operand_bytes", &r->operand_bytes}};
    const size_t length = strcspn(line, " ");
    char *end;

    for (size_t i = 0; i < DSE_COUNT(terms); i++) {
        if (strlen(terms[i].name) != length || strncmp(terms[i].name, line, length) != 0)
            continue;
        *terms[i].value = strtod(line + length, &end);
        return end > line + length && !*end && *terms[i].value >= 0 && *terms[i].value < 1e12
                   ? DSE_OK
                   : fail(r, "a number that is not negative is expected behind the name of a term");
    }
    return fail(r, "this is neither a term of the law nor the columns' names; src/cards/kernel_table.h "
                   "explains the file");
}

/* ---- columns and rows -------------------------------------------------------------------------- */

static dse_status read_columns(reader *r, char *line)
{
    static const char *const names[WL_N_EXTENTS] = {
        [WL_EXTENT_M] = "m", [WL_EXTENT_N] = "n", [WL_EXTENT_K] = "k", [WL_EXTENT_BATCH] = "batch"};
    bool ends = false;
    char *rest = line;

    for (char *name; (name = strtok_r(rest, ",", &rest));) {
        uint32_t e = 0;

        if (!strcmp(name, "time_us")) {
            ends = !rest || !*rest; /* musl leaves NULL behind the last word */
            break;
        }
        while (e < WL_N_EXTENTS && strcmp(name, names[e]) != 0)
            e++;
        if (e == WL_N_EXTENTS || r->n_axes == SIM_TABLE_AXES)
            return fail(r, "the columns are at most three of m, n, k and batch, and time_us");
        r->extent[r->n_axes++] = e;
    }
    return ends && r->n_axes ? DSE_OK : fail(r, "the last column is time_us");
}

/* The time of the law for a shape, with what the table's calls do besides; us. */
static double law_us(const reader *r, const uint64_t extent[WL_N_EXTENTS])
{
    const double m = (double)extent[WL_EXTENT_M], k = (double)extent[WL_EXTENT_K],
                 batch = (double)extent[WL_EXTENT_BATCH];
    const wl_product_work work = wl_product_of(extent, r->operand_bytes, 2);
    const sim_device device = {.peak_ops_per_s = r->peak_tflops * 1e12,
                               .memory_bytes_per_s = r->bandwidth > 0 ? r->bandwidth * 1e9 : 1};
    const sim_law law = {.flop_factor = r->flop_factor,
                         .byte_factor = r->byte_factor,
                         .half_length = r->half_length,
                         .overhead_ns = r->overhead_us * 1e3};
    wl_kernel kernel = {.operations = (uint64_t)work.operations, .bytes = (uint64_t)work.bytes};

    memcpy(kernel.extent, extent, sizeof kernel.extent);
    return (sim_kernel_law_ns(&kernel, &device, &law) +
            r->input_bytes * batch * m * k / device.memory_bytes_per_s * 1e9) /
           1e3;
}

/* Whether the simulator can count what a shape does. */
static bool can_be_counted(const reader *r, const uint64_t extent[WL_N_EXTENTS])
{
    const wl_product_work work = wl_product_of(extent, r->operand_bytes, 2);

    return work.operations < 0x1p63 && work.bytes < 0x1p63;
}

static dse_status read_row(reader *r, const char *line)
{
    sim_table_point p = {.extent = {0}};
    double value[MOST_COLUMNS];
    const char *at = line;
    char *end;

    for (uint32_t i = 0; i <= r->n_axes; i++) {
        value[i] = strtod(at, &end);
        if (end == at || *end != (i < r->n_axes ? ',' : '\0') || !(value[i] > 0 && value[i] < 1e12))
            return fail(r, "a row has a positive number for each column");
        at = end + 1;
    }
    for (uint32_t i = 0; i < r->n_axes; i++)
        p.extent[r->extent[i]] = (uint64_t)value[i];
    for (uint32_t e = WL_EXTENT_N; e < WL_N_EXTENTS; e++)
        p.extent[e] = p.extent[e] ? p.extent[e] : 1;
    if (!p.extent[WL_EXTENT_M])
        p.extent[WL_EXTENT_M] = p.extent[WL_EXTENT_N];
    if (!can_be_counted(r, p.extent))
        return fail(r, "the shape has more operations or bytes than 2^63");
    p.ratio = value[r->n_axes] / law_us(r, p.extent);
    DSE_ARENA_GROW(r->arena, r->point, r->cap, r->n + 1);
    r->point[r->n++] = p;
    return DSE_OK;
}

static dse_status check_law(reader *r)
{
    if (!(r->peak_tflops > 0) || !(r->flop_factor > 0))
        return fail(r, "peak_tflops and flop_factor are to stand before the columns");
    if (!r->class)
        return fail(r, "the class of kernels is to stand before the columns: class matmul");
    if ((r->byte_factor > 0 || r->input_bytes > 0) && !(r->bandwidth > 0))
        return fail(r, "byte_factor and input_bytes need bandwidth_gb_per_s");
    return DSE_OK;
}

dse_status card_table_parse(const char *path, const char *text, dse_arena *a, sim_table **out, dse_error *err)
{
    reader r = {.path = path, .operand_bytes = 2, .arena = a, .err = err};
    char *rest = dse_arena_strdup(a, text);
    dse_status st = DSE_OK;

    while (st == DSE_OK && *rest) {
        char *line = rest;

        rest += strcspn(rest, "\n");
        if (*rest)
            *rest++ = '\0';
        r.line++;
        line[strcspn(line, "\r")] = '\0';
        if (!*line || *line == '#')
            continue;
        if (r.n_axes)
            st = read_row(&r, line);
        else if (!strncmp(line, "class ", 6))
            st = read_class(&r, line + 6);
        else if (!strchr(line, ','))
            st = read_term(&r, line);
        else if ((st = check_law(&r)) == DSE_OK)
            st = read_columns(&r, line);
    }
    if (st == DSE_OK && !r.n)
        st = fail(&r, "the table has no row");
    if (st == DSE_OK) {
        *out = sim_table_make(r.extent, r.n_axes, r.point, r.n, a);
        (*out)->class = r.class;
    }
    return st;
}
