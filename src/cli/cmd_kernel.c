/* How long one kernel of a training step lasts on a system, and which of table, law and roofline says so. */
#include "cli/command.h"
#include "driver/kernel.h"
#include "driver/study.h"
#include "report/tree.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

typedef struct {
    const char *system, *class;
    int64_t m, n, k, heads;
    double bytes;
    option_list set;
    bool json;
} kernel_options;

#define FIELD(f) .offset = offsetof(kernel_options, f)

#define MOST (1 << 18)

static const option options[] = {
    {"--system", OPT_STRING, "NAME", NULL, "system card: a name in configs/systems, or a path",
     FIELD(system)},
    {"--class", OPT_STRING, "NAME", "matmul",
     "matmul, matmul_fp8, matmul_fp8_block, matmul_nvfp4, attention, attention_backward, attention_product; "
     "or, by bytes, elementwise, normalisation, lookup, optimizer",
     FIELD(class)},
    {"--m", OPT_INT, "N", "",
     "rows of a product's first operand and result; of attention queries (default: --n)", .min = 1,
     .max = MOST, FIELD(m)},
    {"--n", OPT_INT, "N", "", "columns of its second operand and result; of attention keys", .min = 1,
     .max = MOST, FIELD(n)},
    {"--k", OPT_INT, "N", "", "what is summed over; of attention the size of a head", .min = 1, .max = MOST,
     FIELD(k)},
    {"--heads", OPT_INT, "N", "1", "products at once; of attention heads of all sequences", .min = 1,
     .max = 1 << 20, FIELD(heads)},
    {"--bytes", OPT_SIZE, "SIZE", "", "what a kernel that is bound by memory reads and writes", FIELD(bytes)},
    OPTION_SET,
    {"--json", OPT_FLAG, NULL, "false", "print JSON", FIELD(json)},
};

static const char *const extents[WL_N_EXTENTS] = {
    [WL_EXTENT_M] = "m", [WL_EXTENT_N] = "n", [WL_EXTENT_K] = "k", [WL_EXTENT_BATCH] = "heads"};

static const char *const sources[] = {
    [DRV_BY_ROOFLINE] = "roofline", [DRV_BY_LAW] = "law", [DRV_BY_TABLE] = "table"};

/* "8192 x 4096 x 4096", "2048 keys, 32 heads of 128", "1.0 GB". */
static void add_shape(const drv_kernel *k, dse_strbuf *out)
{
    const uint64_t *e = k->kernel.extent;
    const bool is_fused = wl_kernel_is_fused_attention(k->kernel.class);

    if (!(k->peak_tflops > 0))
        dse_strbuf_adds(out, report_bytes(k->kernel.bytes).text);
    else if (is_fused)
        dse_strbuf_addf(out, "%" PRIu64 " queries, %" PRIu64 " keys, %" PRIu64 " heads of %" PRIu64,
                        e[WL_EXTENT_M], e[WL_EXTENT_N], e[WL_EXTENT_BATCH], e[WL_EXTENT_K]);
    else
        dse_strbuf_addf(out, "%" PRIu64 " x %" PRIu64 " x %" PRIu64, e[WL_EXTENT_M], e[WL_EXTENT_N],
                        e[WL_EXTENT_K]);
    if (e[WL_EXTENT_BATCH] > 1 && !is_fused)
        dse_strbuf_addf(out, ", %" PRIu64 " at once", e[WL_EXTENT_BATCH]);
}

static void add_json(const drv_kernel *k, const char *system, dse_strbuf *out)
{
    report_tree t;
    report_node *root = report_tree_begin(&t), *list;

    report_put(root, V_TEXT("system", system), V_TEXT("class", k->class_name));
    for (uint32_t e = 0; k->peak_tflops > 0 && e < WL_N_EXTENTS; e++)
        report_add(root, V_COUNT(extents[e], k->kernel.extent[e]));
    report_put(root, V_COUNT("bytes", k->kernel.bytes), V_REAL("time_us", k->us),
               V_TEXT("by", sources[k->by]), V_REAL("law_us", k->law_us),
               V_REAL("roofline_us", k->roofline_us),
               V_GIVEN(k->peak_tflops > 0, V_REAL("tflops", k->tflops)),
               V_GIVEN(k->peak_tflops > 0, V_REAL("peak_tflops", k->peak_tflops)), V_TEXT("table", k->table),
               V_REAL("ratio", k->ratio), V_BOOL("beyond_table", k->is_beyond));
    list = report_lines(root, "neighbours");
    for (uint32_t i = 0; i < k->n_neighbours; i++) {
        report_node *row = report_object(list, NULL);

        for (uint32_t e = 0; e < WL_N_EXTENTS; e++)
            if (k->neighbour[i].extent[e])
                report_add(row, V_COUNT(extents[e], k->neighbour[i].extent[e]));
        report_put(row, V_REAL("time_us", k->neighbour[i].us), V_REAL("ratio", k->neighbour[i].ratio),
                   V_BOOL("measured", k->neighbour[i].is_measured));
    }
    report_tree_end(&t, out);
}

static void add_neighbours(const drv_kernel *k, dse_strbuf *out)
{
    report_tree t;
    report_node *list = report_tree_begin(&t);

    for (uint32_t i = 0; i < k->n_neighbours; i++) {
        const drv_kernel_neighbour *at = &k->neighbour[i];
        report_node *row = report_object(list, NULL);

        for (uint32_t e = 0; e < WL_N_EXTENTS; e++)
            if (at->extent[e])
                report_add(row, V_AS(extents[e], V_COUNT(NULL, at->extent[e])));
        report_put(row, V_CELL("time us", report_format("%.2f", at->us).text),
                   V_CELL("of the law", report_format("%.3f", at->ratio).text),
                   V_NOTE("", at->is_measured ? "measured" : "the mean of its neighbours"));
    }
    report_rows_table(list, out);
    report_tree_free(&t);
}

static void add_text(const drv_kernel *k, const char *system, dse_strbuf *out)
{
    dse_strbuf_addf(out, "%s of ", k->class_name);
    add_shape(k, out);
    dse_strbuf_addf(out, " on %s\n  time      %.2f us by the %s", system, k->us, sources[k->by]);
    if (k->by == DRV_BY_ROOFLINE && !isnan(k->law_us))
        dse_strbuf_addf(out, ", below which the %s%s", k->table ? "table falls: " : "law falls",
                        k->table ? k->table : "");
    else if (k->table)
        dse_strbuf_addf(out, " %s: %.3f of the law%s", k->table, k->ratio,
                        k->is_beyond ? ", as at the border of its grid" : "");
    dse_strbuf_addc(out, '\n');
    if (!(k->us > 0))
        dse_strbuf_adds(out, "  achieved  less than the ns in which a step counts\n");
    else if (k->peak_tflops > 0)
        dse_strbuf_addf(out, "  achieved  %.1f TFLOP/s, %.1f %% of %g\n", k->tflops,
                        100 * k->tflops / k->peak_tflops, k->peak_tflops);
    else
        dse_strbuf_addf(out, "  achieved  %.1f GB/s\n", (double)k->kernel.bytes / k->us / 1e3);
    if (!isnan(k->law_us))
        dse_strbuf_addf(out, "  law       %.2f us\n", k->law_us);
    dse_strbuf_addf(out, "  roofline  %.2f us\n", k->roofline_us);
    if (k->n_neighbours) {
        dse_strbuf_adds(out, "\nPoints of the table around it, as this system has them:\n");
        add_neighbours(k, out);
    }
}

static dse_status run(const void *opts, command_run *r, dse_error *err)
{
    const kernel_options *o = opts;
    drv_kernel_query q = {.extent = {(uint64_t)o->m, (uint64_t)o->n, (uint64_t)o->k, (uint64_t)o->heads},
                          .bytes = o->bytes};
    cfg_settings settings;
    card_system system;
    drv_kernel k;
    const char *name;
    dse_status st;

    if ((st = drv_kernel_class(o->class, &q.class, err)) != DSE_OK ||
        (st = drv_settings_parse(o->set.item, o->set.n, r->arena, &settings, err)) != DSE_OK ||
        (st = drv_system_load(o->system, &settings, r->arena, &system, &name, err)) != DSE_OK ||
        (st = drv_kernel_time(&system, &q, r->arena, &k, err)) != DSE_OK)
        return st;
    (o->json ? add_json : add_text)(&k, name, r->out);
    return DSE_OK;
}

const command command_kernel = {
    .name = "kernel",
    .summary = "say how long a kernel of a training step lasts on a system, and by which law or table",
    .details = "Kernels of profile train last as the table of their class and device says, else as its law, "
               "else as the roofline "
               "(configs/devices). A product is m x k by k x n; attention is causal, n keys, heads of k.",
    .example = "ccldse kernel --system hgx_h100 --class matmul_fp8 --m 8192 --n 14336 --k 4096",
    COMMAND_OPTIONS(options, kernel_options),
    .run = run,
};
