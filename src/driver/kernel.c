#include "driver/kernel.h"

#include "base/names.h"
#include "cards/device.h"
#include "driver/recipe.h"
#include "sim/kernel_time.h"

#include <math.h>
#include <string.h>

#define MOST 9223372036854775808.0 /* operations and bytes are counted in 64 bits */

dse_status drv_kernel_class(const char *name, wl_kernel_class *out, dse_error *err)
{
    const char *names[WL_N_KERNEL_CLASSES];
    size_t n = 0;

    *out = wl_kernel_class_find(name);
    for (int i = WL_KERNEL_MATMUL; i < WL_N_KERNEL_CLASSES; i++)
        names[n++] = wl_kernel_class_name((wl_kernel_class)i);
    return *out ? DSE_OK : dse_fail_unknown(err, DSE_E_USAGE, "", "class of kernels", name, names, n);
}

/* Options of the other kind of class are refused: they would change nothing. */
static dse_status check_query(const drv_kernel_query *q, dse_error *err)
{
    const uint64_t *e = q->extent;
    const char *name = wl_kernel_class_name(q->class);
    const bool is_attention =
        wl_kernel_is_fused_attention(q->class) || q->class == WL_KERNEL_ATTENTION_PRODUCT;

    if (!wl_kernel_multiplies(q->class)) {
        if (!(q->bytes > 0))
            return dse_fail(err, DSE_E_USAGE, "a kernel of class %s is given by its --bytes", name);
        if (e[WL_EXTENT_M] || e[WL_EXTENT_N] || e[WL_EXTENT_K] || e[WL_EXTENT_BATCH] > 1)
            return dse_fail(err, DSE_E_USAGE,
                            "a kernel of class %s has --bytes, and no --m, --n, --k and --heads", name);
        return DSE_OK;
    }
    if (q->bytes > 0)
        return dse_fail(err, DSE_E_USAGE, "a kernel of class %s has a shape, and no --bytes", name);
    if (!e[WL_EXTENT_N] || !e[WL_EXTENT_K] || (!e[WL_EXTENT_M] && !is_attention))
        return dse_fail(err, DSE_E_USAGE, "a kernel of class %s is given by its shape: --m, --n and --k",
                        name);
    return DSE_OK;
}

/* As the step makes them (step/program.c, step/module_attention.c): attention is causal, and its backward
 * pass has 5 products where the forward one has 2. */
static dse_status make_kernel(const drv_kernel_query *q, wl_kernel *out, dse_error *err)
{
    const uint64_t n = q->extent[WL_EXTENT_N], k = q->extent[WL_EXTENT_K],
                   m = q->extent[WL_EXTENT_M] ? q->extent[WL_EXTENT_M] : n,
                   batch = q->extent[WL_EXTENT_BATCH] ? q->extent[WL_EXTENT_BATCH] : 1;
    const double operand = wl_kernel_is_low(q->class) ? drv_recipe_operand_bytes(q->class) : 2;
    const double products = wl_kernel_general_class(q->class) == WL_KERNEL_ATTENTION_BACKWARD ? 2.5 : 1;
    wl_product_work work = {.operations = 1, .bytes = q->bytes};
    dse_status st = check_query(q, err);

    if (st != DSE_OK)
        return st;
    *out = (wl_kernel){.class = q->class, .element_bytes = operand, .extent = {1, 1, 1, 1}};
    if (wl_kernel_multiplies(q->class)) {
        memcpy(out->extent, (uint64_t[]){m, n, k, batch}, sizeof out->extent);
        work = wl_product_of(out->extent, operand, 2);
        work.operations *= products;
        if (wl_kernel_is_fused_attention(q->class))
            work.bytes = 4 * (double)batch * (double)(m * k + n * k) * products;
    }
    if (work.operations >= MOST || work.bytes >= MOST)
        return dse_fail(err, DSE_E_RANGE,
                        "a kernel of %.3g operations and %.3g bytes is too large to count: 2^63 of either",
                        work.operations, work.bytes);
    out->operations = (uint64_t)work.operations;
    out->bytes = (uint64_t)work.bytes;
    return DSE_OK;
}

/* The corners of the cell that the shape lies in; of a shape beyond the grid of the border's. */
static void add_neighbours(const sim_table *t, const wl_kernel *k, const sim_device *d, const sim_law *law,
                           double slower, drv_kernel *out)
{
    sim_table_corner corner[DRV_MOST_NEIGHBOURS];
    const uint32_t n = sim_table_corners(t, k, corner);

    for (uint32_t i = 0; i < n; i++) {
        drv_kernel_neighbour *to = &out->neighbour[out->n_neighbours++];
        drv_kernel_query q = {.class = k->class};
        wl_kernel at;

        *to = (drv_kernel_neighbour){.ratio = corner[i].ratio, .is_measured = corner[i].is_measured};
        memcpy(q.extent, k->extent, sizeof q.extent);
        for (uint32_t a = 0; a < SIM_TABLE_AXES; a++)
            if (t->n[a] > 1)
                q.extent[t->extent[a]] = to->extent[t->extent[a]] = corner[i].at[a];
        if (k->extent[WL_EXTENT_M] == k->extent[WL_EXTENT_N] && !to->extent[WL_EXTENT_M])
            q.extent[WL_EXTENT_M] = q.extent[WL_EXTENT_N]; /* attention of a whole sequence */
        if (make_kernel(&q, &at, NULL) == DSE_OK)
            to->us = slower * corner[i].ratio * sim_kernel_law_ns(&at, d, law) / 1e3;
    }
}

dse_status drv_kernel_time(const card_system *system, const drv_kernel_query *q, dse_arena *a,
                           drv_kernel *out, dse_error *err)
{
    card_tables tables = {.arena = a};
    card_system s = *system;
    sim_settings set;
    sim_device device;
    net_network net;
    const sim_law *law;
    double slower; /* by compute.clock, as all kernels of a step are */
    dse_status st;

    *out = (drv_kernel){.class_name = wl_kernel_class_name(q->class), .law_us = NAN, .ratio = NAN};
    if ((st = make_kernel(q, &out->kernel, err)) != DSE_OK ||
        (st = card_system_fill_laws(&s, &tables, a, err)) != DSE_OK ||
        (st = card_system_build(&s, &net, &set, err)) != DSE_OK ||
        (st = card_system_load_tables(&s, &tables, &set, err)) != DSE_OK)
        return st;
    law = sim_settings_law(&set, q->class);
    if (wl_kernel_is_low(q->class) && !(law->peak_ops_per_s > 0))
        return dse_fail(err, DSE_E_RANGE, "%s has no peak for %s (%s)", *s.device ? s.device : "the system",
                        out->class_name,
                        q->class == WL_KERNEL_MATMUL_NVFP4 ? "compute.peak_nvfp4" : "compute.peak_fp8");
    device = sim_device_of(&set);
    device = sim_device_for(&device, law, out->kernel.element_bytes);
    out->roofline_us = (double)sim_kernel_time(&out->kernel, &device).ticks / 1e3;
    slower = 1 + set.kernel_lag;
    out->us = out->roofline_us;
    if (law->is_given) {
        out->by = law->table ? DRV_BY_TABLE : DRV_BY_LAW;
        out->law_us = sim_kernel_law_ns(&out->kernel, &device, law) / 1e3;
        out->us = (double)sim_kernel_law(&out->kernel, &device, law) / 1e3;
    }
    if (law->table) {
        const wl_kernel_class of = set.law[q->class].is_given ? q->class : wl_kernel_general_class(q->class);
        const char *file = s.kernels[of].table;

        out->table = dse_arena_printf(a, "%.*s", (int)strcspn(file, "#"), file);
        out->ratio = sim_table_ratio(law->table, &out->kernel);
        out->is_beyond = sim_table_is_beyond(law->table, &out->kernel);
        add_neighbours(law->table, &out->kernel, &device, law, slower, out);
    }
    if (law->is_given &&
        out->law_us * 1e3 * (law->table ? out->ratio : 1) < sim_kernel_roofline_ns(&out->kernel, &device))
        out->by = DRV_BY_ROOFLINE; /* below which no law falls */
    out->us *= slower;
    out->law_us *= slower;
    out->roofline_us *= slower;
    if (wl_kernel_multiplies(q->class)) {
        out->tflops = out->us > 0 ? (double)out->kernel.operations / out->us / 1e6 : NAN;
        out->peak_tflops = device.peak_ops_per_s / 1e12;
    }
    return DSE_OK;
}
