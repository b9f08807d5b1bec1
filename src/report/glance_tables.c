/* The tables of a run at a glance. */
#include "report/glance_parts.h"

#include "base/array.h"
#include "metrics/peak.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BAR 26

/* ---- cells ---------------------------------------------------------------------------------- */

const char *glance_percent(double part, double whole, dse_arena *a)
{
    return whole > 0 && isfinite(part) ? dse_arena_printf(a, "%.1f%%", 100 * part / whole) : "-";
}

const char *glance_seconds(double ps, dse_arena *a)
{
    return dse_arena_strdup(a, report_seconds(ps / TRACE_PS_PER_S).text);
}

const char *glance_cut(const char *name, size_t room, dse_arena *a)
{
    dse_strbuf s = dse_strbuf_in(a);
    static const char *const prefix[] = {"void ", "at::native::", "(anonymous namespace)::"};
    char *text;
    size_t n, depth = 0;

    for (size_t i = 0; i < DSE_COUNT(prefix); i++)
        name += strncmp(name, prefix[i], strlen(prefix[i])) ? 0 : strlen(prefix[i]);
    text = dse_arena_strdup(a, name);
    for (n = 0; text[n]; n++)
        if ((unsigned char)text[n] < ' ' || text[n] == 0x7f) /* lines would break, or a terminal obey */
            text[n] = '?';

    if (n && text[n - 1] == ')') {
        do {
            n--;
            depth += text[n] == ')';
            depth -= text[n] == '(';
        } while (n && depth);
        if (n)
            text[n] = '\0';
    }
    report_add_cut(text, room, &s);
    return s.len ? s.data : "";
}

/* In GB/s; "-": unknown. */
static const char *rate_of(double bytes_per_s, dse_arena *a)
{
    const double gb = bytes_per_s / 1e9;

    return isfinite(gb) ? dse_arena_printf(a, gb < 1000 ? "%.3g" : "%.0f", gb) : "-";
}

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

const char *glance_rank_name(const report_glance *g, const glance_device *d, dse_arena *a)
{
    const bool several = g->x->n_views > 1;

    if (g->run.of_tpu && several)
        return dse_arena_printf(a, "%u:%u", d->rank->rank, d->number);
    return dse_arena_printf(a, "%u", d->number);
}

const char *glance_word(const report_glance *g) { return g->run.of_tpu ? "device" : "rank"; }

/* ---- devices -------------------------------------------------------------------------------- */

double glance_own(const glance_device *d)
{
    return (double)(d->window_ps - d->part_ps[GLANCE_EXPOSED]) / (d->n_steps ? d->n_steps : 1);
}

const glance_device *glance_slowest(const report_glance *g, double *mean)
{
    const glance_device *slowest = NULL;
    size_t n = 0;

    *mean = 0;
    for (size_t i = 0; i < g->run.n_devices; i++) {
        const glance_device *d = &g->run.device[i];

        if (!d->window_ps)
            continue;
        slowest = !slowest || glance_own(d) > glance_own(slowest) ? d : slowest;
        *mean += glance_own(d);
        n++;
    }
    *mean /= n ? (double)n : 1;
    return n > 1 && *mean > 0 ? slowest : NULL;
}

/* Each part has a sign of its own. Ends of parts are rounded, so that a bar is always as long. */
static const char *bar_of(const glance_device *d, dse_arena *a)
{
    static const char signs[GLANCE_PARTS + 1] = "#=-.";
    char *bar = dse_arena_zero(a, BAR + 1, 1);
    int64_t until = 0;
    size_t n = 0;

    for (int p = 0; p < GLANCE_PARTS && d->window_ps; p++) {
        until += d->part_ps[p];
        while (n < BAR && (double)n + 0.5 < BAR * (double)until / (double)d->window_ps)
            bar[n++] = signs[p];
    }
    return bar;
}

static int by_own(const void *a, const void *b)
{
    const double x = glance_own(*(const glance_device *const *)a),
                 y = glance_own(*(const glance_device *const *)b);

    return x < y ? 1 : x > y ? -1 : 0;
}

void glance_put_devices(const report_glance *g, size_t most, report_node *root)
{
    dse_arena *a = g->x->arena;
    const glance_device **order = DSE_ARENA_NEW(a, const glance_device *, g->run.n_devices);
    report_node *list = report_lines(root, "devices");

    for (size_t i = 0; i < g->run.n_devices; i++)
        order[i] = &g->run.device[i];
    if (g->run.n_devices > most)
        qsort(order, g->run.n_devices, sizeof *order, by_own);
    for (size_t i = 0; i < least(g->run.n_devices, most); i++) {
        const glance_device *d = order[i];
        const double whole = (double)d->window_ps;
        const int64_t *part = d->part_ps;

        report_row(
            list, V_AS(glance_word(g), V_TEXT("device", glance_rank_name(g, d, a))),
            V_NOTE(d->n_steps ? "its time in steps" : "its time", bar_of(d, a)),
            V_REAL("window_s", metric_seconds(d->window_ps)),
            V_REAL("compute_s", metric_seconds(part[GLANCE_COMPUTE])),
            V_CELL("#compute", glance_percent((double)part[GLANCE_COMPUTE], whole, a)),
            V_REAL("exposed_communication_s", metric_seconds(part[GLANCE_EXPOSED])),
            V_CELL("=commun.", glance_percent((double)part[GLANCE_EXPOSED], whole, a)),
            V_REAL("copies_s", metric_seconds(part[GLANCE_COPIES])),
            V_CELL("-copies", glance_percent((double)part[GLANCE_COPIES], whole, a)),
            V_REAL("idle_s", metric_seconds(part[GLANCE_IDLE])),
            V_CELL(".idle", glance_percent((double)part[GLANCE_IDLE], whole, a)),
            V_COUNT("steps", d->n_steps), V_REAL("step_s", d->step_ps / TRACE_PS_PER_S),
            V_CELL(d->n_steps ? "step" : "window", glance_seconds(d->n_steps ? d->step_ps : whole, a)));
    }
}

const glance_cause_text glance_causes[GLANCE_CAUSES] = {
    [GLANCE_HOST] = {"host_s", "host", "the host had not launched"},
    [GLANCE_BLOCKED] = {"blocking_call_s", "blocked", "a blocking call held up the launch"},
    [GLANCE_LAUNCH] = {"launch_s", "launch", "launched, not begun"},
    [GLANCE_STREAM] = {"stream_wait_s", "stream", "launched before, waiting in its stream"},
    [GLANCE_UNTOLD] = {"untold_s", "untold", "not explained by the file"},
};

void glance_put_idle(const report_glance *g, report_node *root)
{
    dse_arena *a = g->x->arena;
    report_node *list = report_lines(root, "idle");

    for (size_t i = 0; i < g->run.n_devices; i++) {
        const glance_device *d = &g->run.device[i];
        report_node *row = report_row(
            list, V_AS(glance_word(g), V_TEXT("device", glance_rank_name(g, d, a))),
            V_REAL("window_s", metric_seconds(d->window_ps)),
            V_REAL("idle_s", metric_seconds(d->part_ps[GLANCE_IDLE])),
            V_CELL("idle", glance_seconds((double)d->part_ps[GLANCE_IDLE], a)),
            V_CELL("of it", glance_percent((double)d->part_ps[GLANCE_IDLE], (double)d->window_ps, a)));

        for (int c = 0; c < GLANCE_CAUSES; c++)
            report_put(row, V_REAL(glance_causes[c].key, metric_seconds(d->cause_ps[c])),
                       V_CELL(glance_causes[c].heading,
                              glance_percent((double)d->cause_ps[c], (double)d->window_ps, a)));
    }
    list = report_lines(root, "blocking_calls");
    for (size_t i = 0; i < g->run.blocking.n; i++) {
        const glance_row *r = &g->run.blocking.row[i];

        report_row(list, V_AS("call", V_TEXT("name", r->name)), V_AS("calls", V_COUNT("calls", r->n)),
                   V_REAL("time_s", metric_seconds(r->ps)), V_CELL("time", glance_seconds((double)r->ps, a)),
                   V_REAL("longest_s", metric_seconds(r->most_ps)),
                   V_CELL("longest", glance_seconds((double)r->most_ps, a)));
    }
}

/* ---- kernels, collectives, operators -------------------------------------------------------- */

/* The device as cards name it; NULL: unknown. */
static const char *device_of(const report_glance *g)
{
    const char *gpu = metric_peak_device(g->run.gpu);

    return gpu || !g->x->card ? gpu : g->x->card->xpu_model;
}

/* The word of a kind of work; communication is called "nccl" among metrics. */
static const char *kind_of(const char *work) { return strcmp(work, "nccl") ? work : "comm"; }

const char *glance_kind(const glance_row *kernel) { return kind_of(kernel->of); }

void glance_put_kernels(const report_glance *g, size_t most, bool brief, size_t room, report_node *root)
{
    const glance_rows *k = &g->run.kernels;
    dse_arena *a = g->x->arena;
    report_node *list = report_lines(root, "kernels");

    for (size_t i = 0; i < least(k->n, most); i++) {
        const glance_row *r = &k->row[i];
        const bool timed = r->most_ps || !r->ps; /* each call, not in a report of totals */
        report_node *row = report_row(
            list, V_CELL("of all", glance_percent((double)r->ps, (double)k->ps, a)),
            V_REAL("time_s", metric_seconds(r->ps)), V_CELL("time", glance_seconds((double)r->ps, a)),
            V_AS("calls", V_COUNT("calls", r->n)),
            V_CELL("mean", glance_seconds((double)r->ps / (double)r->n, a)),
            V_KNOWN(timed, "least_s", V_REAL("least_s", metric_seconds(r->least_ps))),
            V_KNOWN(timed, "most_s", V_REAL("most_s", metric_seconds(r->most_ps))));

        if (!brief)
            report_put(row, V_CELL("least", timed ? glance_seconds((double)r->least_ps, a) : "-"),
                       V_CELL("most", timed ? glance_seconds((double)r->most_ps, a) : "-"));
        report_put(row, V_AS("kind", V_TEXT("kind", kind_of(r->of))), V_TEXT("name", r->name),
                   V_NOTE(g->run.of_tpu ? "category" : "kernel", glance_cut(r->name, room, a)));
    }
}

void glance_put_kinds(const report_glance *g, report_node *root)
{
    dse_arena *a = g->x->arena;
    const glance_rows kinds = glance_kinds(&g->run.kernels, a);
    report_node *list = report_lines(root, "kinds");

    for (size_t i = 0; i < kinds.n; i++) {
        const glance_row *r = &kinds.row[i];

        report_row(list, V_AS("kind", V_TEXT("kind", kind_of(r->name))),
                   V_CELL("of all", glance_percent((double)r->ps, (double)kinds.ps, a)),
                   V_REAL("time_s", metric_seconds(r->ps)), V_CELL("time", glance_seconds((double)r->ps, a)),
                   V_AS("calls", V_COUNT("calls", r->n)),
                   V_CELL("mean", glance_seconds((double)r->ps / (double)r->n, a)));
    }
}

void glance_put_copies(const report_glance *g, bool brief, report_node *root)
{
    dse_arena *a = g->x->arena;
    report_node *list = report_lines(root, "copies");

    for (size_t i = 0; i < g->run.copies.n; i++) {
        const glance_row *r = &g->run.copies.row[i];
        const bool sized = r->bytes > 0;

        report_node *row = report_row(
            list, V_AS("copy", V_TEXT("name", r->name)), V_REAL("time_s", metric_seconds(r->ps)),
            V_CELL("time", glance_seconds((double)r->ps, a)), V_AS("calls", V_COUNT("calls", r->n)),
            V_CELL("mean", glance_seconds((double)r->ps / (double)r->n, a)),
            V_REAL("longest_s", metric_seconds(r->most_ps)));

        if (!brief)
            report_put(row, V_CELL("longest", glance_seconds((double)r->most_ps, a)));
        report_put(row, V_AS("size", V_KNOWN(sized, "bytes", V_BYTES("bytes", (uint64_t)r->bytes))),
                   V_CELL("GB/s", rate_of(sized ? r->bytes / metric_seconds(r->ps) : (double)NAN, a)));
    }
}

typedef struct {
    const char *class;
    const metric_value *shape;
    double us;
} shape_row;

static int by_us(const void *a, const void *b)
{
    const shape_row *x = a, *y = b;

    return x->us < y->us ? 1 : x->us > y->us ? -1 : 0;
}

/* "2048x160x606x20": the batch if there is one, m, n, k; of others their elements. */
static const char *shape_text(const metric_value *s, dse_arena *a)
{
    static const char *const sizes[] = {"batch", "m", "n", "k", "elements"};
    dse_strbuf text = dse_strbuf_in(a);

    for (size_t i = 0; i < DSE_COUNT(sizes); i++) {
        const double v = metric_number(metric_get(s, sizes[i]));

        if (isfinite(v) && (i || v > 1))
            dse_strbuf_addf(&text, "%s%.0f", text.len ? "x" : "", v);
    }
    return text.len ? text.data : NULL;
}

double glance_of_peak(const report_glance *g, double tflops, const metric_value *dtype)
{
    double peak;

    if (!dtype || dtype->kind != METRIC_TEXT ||
        metric_peak_tflops(device_of(g), dtype->text, &peak, NULL) != DSE_OK || tflops > peak)
        return (double)NAN;
    return tflops / peak;
}

void glance_put_shapes(const report_glance *g, size_t most, report_node *root)
{
    dse_arena *a = g->x->arena;
    const metric_value *classes = metric_get(g->shapes, "classes");
    report_node *list = report_lines(root, "shapes");
    shape_row *row = NULL;
    size_t n = 0, cap = 0;

    for (const metric_value *c = classes ? classes->first : NULL; c; c = c->next)
        for (const metric_value *s = metric_get(c, "shapes") ? metric_get(c, "shapes")->first : NULL; s;
             s = s->next) {
            DSE_ARENA_GROW(a, row, cap, n + 1);
            row[n++] = (shape_row){
                c->key, s, metric_number(metric_get(s, "calls")) * metric_number(metric_get(s, "median_us"))};
        }
    if (n)
        qsort(row, n, sizeof *row, by_us);
    for (size_t i = 0; i < least(n, most); i++) {
        const metric_value *s = row[i].shape, *dtype = metric_get(s, "dtype");
        const double tflops = metric_number(metric_get(s, "tflops_per_s")),
                     gb = metric_number(metric_get(s, "gb_per_s")),
                     us = metric_number(metric_get(s, "median_us"));

        report_row(list, V_AS("operators", V_TEXT("class", row[i].class)),
                   V_AS("sizes", V_TEXT("sizes", shape_text(s, a))),
                   V_AS("dtype", V_TEXT("dtype", dtype && dtype->kind == METRIC_TEXT ? dtype->text : NULL)),
                   V_AS("calls", V_COUNT("calls", (uint64_t)metric_number(metric_get(s, "calls")))),
                   V_REAL("median_us", us), V_CELL("median", glance_seconds(us * TRACE_PS_PER_US, a)),
                   V_REAL("tflops_per_s", tflops), V_REAL("gb_per_s", gb),
                   V_CELL("achieved", isfinite(tflops)
                                          ? dse_arena_printf(a, "%.1f TFLOP/s", tflops)
                                          : dse_arena_printf(a, "%s GB/s", rate_of(gb * 1e9, a))),
                   V_CELL("of peak", glance_percent(glance_of_peak(g, tflops, dtype), 1, a)));
    }
}

/* Bytes/s of the links that a group of this size uses: the card's, or else those of the device to its
 * neighbours, of which a node has eight. 0: unknown. */
static double links_of(const report_glance *g, uint32_t members)
{
    const trace_card *c = g->x->card;
    const bool inside = members <= (c && c->count_per_node != TRACE_CARD_NONE ? c->count_per_node : 8);

    if (c && c->bandwidth_gbps[inside] > 0)
        return c->bandwidth_gbps[inside] * 1e9 / 8;
    return inside ? metric_peak_links(device_of(g)) : 0;
}

void glance_put_collectives(const report_glance *g, size_t most, report_node *root)
{
    dse_arena *a = g->x->arena;
    report_node *list = report_lines(root, "collectives");

    for (size_t i = 0; i < least(g->run.collectives.n, most); i++) {
        const glance_row *r = &g->run.collectives.row[i];
        const bool sized = r->bytes > 0;
        const double bus = r->bus_bytes_per_s, links = links_of(g, r->members);

        report_row(list, V_AS("collective", V_TEXT("collective", r->name)),
                   V_TEXT("group", *r->of ? r->of : NULL),
                   V_NOTE("group", *r->of ? glance_cut(r->of, 16, a) : NULL),
                   V_AS("ranks", V_KNOWN(r->members, "members", V_COUNT("members", r->members))),
                   V_AS("size", V_KNOWN(sized, "bytes", V_BYTES("bytes", (uint64_t)r->bytes))),
                   V_AS("calls", V_COUNT("calls", r->n)), V_REAL("time_s", metric_seconds(r->ps)),
                   V_CELL("time", glance_seconds((double)r->ps, a)), V_REAL("bus_bytes_per_s", bus),
                   V_CELL("bus GB/s", rate_of(bus, a)), V_CELL("of link", glance_percent(bus, links, a)));
    }
}

void glance_put_operators(const report_glance *g, size_t most, size_t room, size_t of_module,
                          report_node *root)
{
    dse_arena *a = g->x->arena;
    report_node *list = report_lines(root, "operators");

    for (size_t i = 0; i < least(g->operators.n, most); i++) {
        const glance_row *r = &g->operators.row[i];

        report_row(list, V_CELL("of all", glance_percent((double)r->ps, (double)g->operators.ps, a)),
                   V_REAL("time_s", metric_seconds(r->ps)), V_CELL("time", glance_seconds((double)r->ps, a)),
                   V_AS("kernels", V_COUNT("kernels", r->n)), V_TEXT("operator", r->name),
                   V_NOTE("operator", glance_cut(r->name, room, a)), V_TEXT("module", *r->of ? r->of : NULL),
                   V_NOTE("module", *r->of ? glance_cut(r->of, of_module, a) : NULL));
    }
}
