#include "measured/laws.h"

#include "compare/linear.h"
#include "driver/measure.h"
#include "driver/study.h"
#include "measured/calibrate_gather.h"
#include "workload/kernel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_SHAPES 2

/* A shape of a class. */
typedef struct {
    double operations, bytes, keys, seconds, calls;
} shape;

typedef struct {
    size_t n, cap;
    shape *item;
} shapes;

typedef struct {
    const msr_laws_options *o;
    dse_arena *arena;
    card_system machine;
    shapes of[WL_N_KERNEL_CLASSES];
    size_t n_reach;
    report_reach *reach;
} fitting;

/* ---- traces ----------------------------------------------------------------------------------------- */

static double number_of(const metric_value *v, const char *key, double otherwise)
{
    const double x = metric_number(metric_get(v, key));

    return isnan(x) ? otherwise : x;
}

static bool is_16_bit(const metric_value *v)
{
    const metric_value *dtype = metric_get(v, "dtype");

    return dtype && dtype->text && (!strcmp(dtype->text, "float16") || !strcmp(dtype->text, "bfloat16"));
}

static void add_shapes(const metric_value *class, shapes *to)
{
    const metric_value *list = metric_get(class, "shapes");

    for (const metric_value *v = list ? list->first : NULL; v; v = v->next) {
        shape s = {.operations = number_of(v, "operations", 0),
                   .bytes = number_of(v, "bytes", 0),
                   .keys = number_of(v, "n", 1),
                   .seconds = number_of(v, "median_us", 0) * 1e-6,
                   .calls = number_of(v, "calls", 0)};

        if (!is_16_bit(v) || !(s.seconds > 0))
            continue;
        DSE_GROW(to->item, to->cap, to->n + 1);
        to->item[to->n++] = s;
    }
}

/* Of a causal model, as the laws of attention are. */
static dse_status add_kernels(fitting *f, const drv_recording *r, dse_error *err)
{
    static const char name[] = "kernel_shapes";
    const metric_options options = {.causal = true};
    const metric_value *classes;
    report_measured m;
    const metric *row;
    dse_status st = drv_measure_find(r, name, false, &row, err);

    if (st == DSE_OK)
        st = drv_measure(r, row, name, &options, f->arena, &m, err);
    if (st != DSE_OK || !m.value || !(classes = metric_get(m.value, "classes")))
        return st;
    for (const metric_value *v = classes->first; v; v = v->next)
        add_shapes(v, &f->of[wl_kernel_class_find(v->key)]);
    return DSE_OK;
}

static dse_status add_reach(fitting *f, const drv_recording *r, const char *run, dse_error *err)
{
    report_reach *to = &f->reach[f->n_reach];
    report_calibrated_hockney h;
    dse_status st;

    if (!r->has_card)
        return DSE_OK;
    if ((st = msr_hockney_of(r, run, &f->machine, f->arena, &h, err)) != DSE_OK)
        return st;
    *to = (report_reach){.run = run, .why = h.why, .dim = h.dim};
    if (!h.why) {
        to->efficiency = h.bandwidth / f->machine.bandwidth.v[h.dim];
        to->step_latency_ns = h.alpha_s * 1e9;
    }
    f->n_reach++;
    return DSE_OK;
}

static dse_status add_trace(fitting *f, const char *path, dse_error *err)
{
    drv_recording r = {0};
    dse_status st = drv_recording_load(path, &f->o->read, &r, err);

    for (size_t i = 0; st == DSE_OK && f->o->warn && i < r.record.n_warnings; i++)
        f->o->warn(r.record.warning[i].text);
    if (st == DSE_OK)
        st = add_kernels(f, &r, err);
    if (st == DSE_OK)
        st = add_reach(f, &r, path, err);
    drv_recording_free(&r);
    return st;
}

/* ---- laws ------------------------------------------------------------------------------------------- */

enum { COLUMN_FLOPS, COLUMN_HALF, COLUMN_BYTES, COLUMN_OVERHEAD, COLUMNS };

/* Seconds at the peak and the full bandwidth: what factors are of. Of attention the operations over the keys,
 * too, and no bytes: what it moves is hidden. */
static void fill_row(const fitting *f, wl_kernel_class c, const shape *s, double row[COLUMNS])
{
    const double flops = s->operations / (f->machine.peak_perf * 1e12);

    row[COLUMN_FLOPS] = flops;
    row[COLUMN_HALF] = wl_kernel_is_fused_attention(c) ? flops / s->keys : 0;
    row[COLUMN_BYTES] = wl_kernel_is_fused_attention(c) ? 0 : s->bytes / (f->machine.memory_bandwidth * 1e9);
    row[COLUMN_OVERHEAD] = 1e-9;
}

static double roofline_error(const fitting *f, const shape *s)
{
    const double flops = s->operations / (f->machine.peak_perf * 1e12),
                 bytes = s->bytes / (f->machine.memory_bandwidth * 1e9);

    return fabs(fmax(flops, bytes) / s->seconds - 1);
}

static double or_nan(double v) { return v > 0 ? v : NAN; }

static void fit_class(const fitting *f, wl_kernel_class c, report_law *law)
{
    const shapes *of = &f->of[c];
    double *x = dse_calloc(of->n * COLUMNS + 1, sizeof *x), *y = dse_calloc(of->n + 1, sizeof *y), calls = 0;
    cmp_linear line;

    *law = (report_law){.class = wl_kernel_class_name(c),
                        .shapes = of->n,
                        .flop_factor = NAN,
                        .half_length = NAN,
                        .byte_factor = NAN,
                        .overhead_ns = NAN,
                        .mean = NAN,
                        .worst = NAN,
                        .roofline_mean = 0};
    for (size_t i = 0; i < of->n; i++) {
        fill_row(f, c, &of->item[i], x + i * COLUMNS);
        y[i] = of->item[i].seconds;
        calls += of->item[i].calls;
        law->roofline_mean += roofline_error(f, &of->item[i]) / (double)of->n;
    }
    law->calls = (size_t)calls;
    if (of->n < LEAST_SHAPES)
        law->why = "one shape says no law";
    else if (cmp_linear_fit(x, COLUMNS, y, of->n, &line, NULL) != DSE_OK)
        law->why = "the shapes give no line";
    if (!law->why) {
        law->flop_factor = or_nan(line.c[COLUMN_FLOPS]);
        law->half_length =
            line.c[COLUMN_FLOPS] > 0 ? or_nan(line.c[COLUMN_HALF] / line.c[COLUMN_FLOPS]) : NAN;
        law->byte_factor = or_nan(line.c[COLUMN_BYTES]);
        law->overhead_ns = or_nan(line.c[COLUMN_OVERHEAD]);
        law->mean = line.mean;
        law->worst = line.worst;
    }
    dse_free(x);
    dse_free(y);
}

static dse_status conclude(const fitting *f, const char *system, report_laws *out, dse_error *err)
{
    report_law *law = DSE_ARENA_NEW(f->arena, report_law, WL_N_KERNEL_CLASSES);
    size_t n = 0;

    for (int c = WL_KERNEL_MATMUL; c < WL_N_KERNEL_CLASSES; c++)
        if (f->of[c].n)
            fit_class(f, (wl_kernel_class)c, &law[n++]);
    if (!n)
        return dse_fail(
            err, DSE_E_CONFIG,
            "no kernel of the traces has a shape and 16-bit elements; torch.profiler writes shapes with "
            "record_shapes ('ccldse metrics --metric kernel_shapes')");
    *out = (report_laws){.system = system,
                         .device = dse_arena_strdup(f->arena, f->machine.device),
                         .peak_tflops = f->machine.peak_perf,
                         .memory_gb_per_s = f->machine.memory_bandwidth,
                         .n = n,
                         .law = law,
                         .n_reach = f->n_reach,
                         .reach = f->reach};
    return DSE_OK;
}

dse_status msr_laws(const msr_laws_options *o, dse_arena *a, report_laws *out, dse_error *err)
{
    fitting f = {.o = o, .arena = a, .reach = DSE_ARENA_NEW(a, report_reach, o->n_traces)};
    const char *name;
    dse_status st;

    if (!o->n_traces)
        return dse_fail(err, DSE_E_USAGE, "--laws needs --trace: kernels are in traces");
    if ((st = drv_system_load(o->system, o->settings, a, &f.machine, &name, err)) != DSE_OK)
        return st;
    if (isnan(f.machine.peak_perf) || isnan(f.machine.memory_bandwidth))
        return dse_fail(err, DSE_E_CONFIG,
                        "%s has no compute.peak_perf or no memory.bandwidth, of which laws are factors",
                        name);
    for (size_t i = 0; st == DSE_OK && i < o->n_traces; i++)
        st = add_trace(&f, o->trace[i], err);
    if (st == DSE_OK)
        st = conclude(&f, name, out, err);
    for (int c = 0; c < WL_N_KERNEL_CLASSES; c++)
        dse_free(f.of[c].item);
    return st;
}

/* ---- the file --------------------------------------------------------------------------------------- */

static void add_key(const char *key, double value, const char *unit, bool *any, dse_strbuf *out)
{
    if (isnan(value))
        return;
    dse_strbuf_addf(out, "%s%s: %.6g%s", *any ? ", " : "", key, value, unit);
    *any = true;
}

void msr_laws_write(const report_laws *l, const char *const *trace, size_t n, dse_strbuf *out)
{
    dse_strbuf_addf(out,
                    "# Laws of kernels of 16-bit elements, fitted by 'ccldse calibrate --laws' to kernels of "
                    "traces; factors are of\n"
                    "# %g TFLOPS and %g GB/s (%s). configs/devices/nvidia_a100.yaml explains the format.\n",
                    l->peak_tflops, l->memory_gb_per_s, l->system);
    for (size_t i = 0; i < n; i++) {
        dse_strbuf_adds(out, "#   ");
        for (const char *p = trace[i]; *p; p++) /* what would end the comment does not get into it */
            dse_strbuf_addc(out, (unsigned char)*p < ' ' ? '?' : *p);
        dse_strbuf_addc(out, '\n');
    }
    dse_strbuf_addf(out, "source: \"kernels of %zu trace%s, by ccldse calibrate\"\n\nkernels:\n", n,
                    n == 1 ? "" : "s");
    for (size_t i = 0; i < l->n; i++) {
        const report_law *w = &l->law[i];
        bool any = false;

        if (w->why)
            continue;
        dse_strbuf_addf(
            out, "  # %zu shapes, %zu calls: mean error %.1f %%, worst %.1f; a roofline %.1f.\n  %s: {",
            w->shapes, w->calls, w->mean * 100, w->worst * 100, w->roofline_mean * 100, w->class);
        add_key("flop_factor", w->flop_factor, "", &any, out);
        add_key("half_length", w->half_length, "", &any, out);
        add_key("byte_factor", w->byte_factor, "", &any, out);
        add_key("overhead", w->overhead_ns / 1e3, "us", &any, out);
        dse_strbuf_adds(out, "}\n");
    }
}
