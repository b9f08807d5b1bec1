/* The small parsers of one word: quantities, numbers, dimensions, axes, points, implementations. What is
 * accepted means what its text says when written again. */
#include "base/units.h"
#include "design/space.h"
#include "fuzz/fuzz.h"
#include "network/topology.h"
#include "sim/settings.h"
#include "support/point_order.h"
#include "workload/expr.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const wl_symbols symbols = {.n = 6,
                                   .name = {"Batch", "Seq", "Dmodel", "Head", "dp", "sp"},
                                   .value = {512, 1000, 8192, 60, 7, 1000000000000000}};

static void check_numbers(const char *text)
{
    dse_error err = DSE_ERROR_INIT;
    bool had_unit, truth;
    char out[64];
    double v;
    int64_t i;
    uint64_t count;

    for (int unit = DSE_UNIT_NONE; unit <= DSE_UNIT_NS; unit++) {
        err = (dse_error)DSE_ERROR_INIT;
        if (!fuzz_ok(dse_parse_quantity(text, (dse_unit)unit, &v, &had_unit, &err), &err))
            continue;
        ENSURE(!isnan(v));
        dse_format_bytes(out, sizeof out, v);
        dse_format_seconds(out, sizeof out, v);
    }
    err = (dse_error)DSE_ERROR_INIT;
    if (fuzz_ok(dse_parse_double(text, &v, &err), &err))
        ENSURE(isfinite(v));
    err = (dse_error)DSE_ERROR_INIT;
    if (fuzz_ok(dse_parse_int(text, &i, &err), &err)) {
        snprintf(out, sizeof out, "%" PRId64, i);
        ENSURE(strtoll(text, NULL, 10) == i && strtoll(out, NULL, 10) == i);
    }
    err = (dse_error)DSE_ERROR_INIT;
    if (fuzz_ok(dse_parse_u64(text, &count, &err), &err)) {
        snprintf(out, sizeof out, "%" PRIu64, count);
        ENSURE(strtoull(out, NULL, 10) == count && text[0] != '-');
    }
    err = (dse_error)DSE_ERROR_INIT;
    fuzz_ok(dse_parse_bool(text, &truth, &err), &err);
}

/* Printed, a dimension may have powers, which are not read; without any it must read back as itself. */
static void check_dimension(const char *text)
{
    dse_error err = DSE_ERROR_INIT;
    bool plain = true;
    dse_strbuf out;
    wl_dim d, again;

    if (!fuzz_ok(wl_dim_parse(&symbols, text, &d, &err), &err))
        return;
    dse_strbuf_init(&out);
    wl_dim_print(&symbols, &d, &out);
    for (uint32_t i = 0; i < symbols.n; i++)
        plain &= abs(d.power[i]) <= 1;
    if (plain)
        ENSURE(wl_dim_parse(&symbols, out.data, &again, NULL) == DSE_OK && wl_dim_equal(&d, &again));
    ENSURE(wl_dim_value(&symbols, &d, 1.0) > 0 && wl_dim_value(&symbols, &d, 5.0) > 0);
    wl_size_as_read(wl_dim_value(&symbols, &d, 1.0));
    dse_strbuf_free(&out);
}

static void check_design(const char *text)
{
    dse_error err = DSE_ERROR_INIT;
    char name[STRATEGY_NAME_MAX];
    design_axes axes = {.of[STRATEGY_weight_sharded] = {2, {0, 1}}};
    const strategy base = strategy_default();
    design_axis which;
    strategy p, *points;
    dse_arena arena;
    size_t n;

    if (fuzz_ok(strategy_parse_name(text, NULL, &p, NULL, &err), &err)) {
        strategy_name(&p, NULL, name);
        ENSURE(!strcmp(name, text) && p.dp && p.tp && p.sp && p.pp);
    }
    err = (dse_error)DSE_ERROR_INIT;
    fuzz_ok(design_axis_parse(STRATEGY_recompute, "--recompute", text, &which, &err), &err);
    err = (dse_error)DSE_ERROR_INIT;
    if (!fuzz_ok(design_axis_parse(STRATEGY_dp, "--dp", text, &axes.of[STRATEGY_dp], &err), &err))
        return;
    ENSURE(axes.of[STRATEGY_dp].n >= 1 && axes.of[STRATEGY_dp].n <= DESIGN_MAX_VALUES);
    dse_arena_init(&arena);
    if (fuzz_ok(design_enumerate(&axes, &base, 96, &arena, &points, &n, &err), &err)) {
        for (size_t i = 0; i < n; i++)
            ENSURE(points[i].dp * points[i].tp * points[i].sp * points[i].pp == 96 &&
                   (!i || compare_points(&points[i - 1], &points[i]) < 0));
    }
    dse_arena_free(&arena);
}

static void check_names(const char *text)
{
    dse_error err = DSE_ERROR_INIT;
    sim_implementation how;

    if (fuzz_ok(sim_implementation_parse(text, &how, &err), &err))
        ENSURE(how.algorithm && how.window >= 0);
    err = (dse_error)DSE_ERROR_INIT;
    fuzz_ok(net_topology_check(text, &err), &err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text;

    if (size > FUZZ_MAX_BYTES)
        return 0;
    text = fuzz_string(data, size);
    check_numbers(text);
    check_dimension(text);
    check_design(text);
    check_names(text);
    free(text);
    return 0;
}
