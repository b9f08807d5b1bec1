#include "trace/benchmark.h"

#include "base/fs.h"
#include "base/order.h"
#include "base/units.h"
#include "trace/sidefiles.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_RECORD_BYTES (256u << 20) /* a record may list every token of every request */

/* ---- numbers of the requests ----------------------------------------------------------------- */

/* Sorts the n > 0 values. */
static double median(double *v, size_t n)
{
    qsort(v, n, sizeof *v, dse_by_double);
    return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

/* A scalar, or the mean of a list of scalars; NaN if the list is empty. */
static dse_status request_of(const cfg_doc *doc, const cfg_node *v, const char *what, double *out,
                             dse_error *err)
{
    double sum = 0, one;
    uint32_t n = v->kind == CFG_LIST ? v->n : 1;

    for (uint32_t i = 0; i < n; i++) {
        const cfg_node *x = v->kind == CFG_LIST ? v->item[i] : v;

        if (x->kind != CFG_SCALAR || x->quoted || dse_parse_double(x->text, &one, NULL) != DSE_OK)
            return cfg_fail(err, doc, x, "%s is to hold numbers, seconds", what);
        sum += one;
    }
    *out = n ? sum / n : NAN;
    return DSE_OK;
}

/* The median over requests of record[key][i], in seconds; NaN without requests. */
static dse_status median_of_requests(const cfg_doc *doc, const char *key, dse_arena *a, double *out,
                                     dse_error *err)
{
    const cfg_node *list = cfg_get(doc->root, key);
    size_t n = 0;
    double *v;

    *out = NAN;
    if (!list || list->kind != CFG_LIST)
        return DSE_OK;
    v = DSE_ARENA_NEW(a, double, (size_t)list->n + 1);
    for (uint32_t i = 0; i < list->n; i++) {
        dse_status st = request_of(doc, list->item[i], key, &v[n], err);

        if (st != DSE_OK)
            return st;
        if (!isnan(v[n]))
            n++;
    }
    if (n)
        *out = median(v, n);
    return DSE_OK;
}

static dse_status throughput_of(const cfg_doc *doc, double *out, dse_error *err)
{
    double tokens, seconds;
    dse_status st = trace_json_number(doc, doc->root, "total_output_tokens", &tokens, err);

    if (st == DSE_OK)
        st = trace_json_number(doc, doc->root, "duration", &seconds, err);
    if (st == DSE_OK)
        *out = seconds > 0 ? tokens / seconds : NAN;
    return st;
}

/* ---- SGLang ---------------------------------------------------------------------------------- */

/* `key`, given in milliseconds, in seconds; without it the median over the requests. */
static dse_status median_time(const cfg_doc *doc, const char *key, const char *requests, dse_arena *a,
                              double *out, dse_error *err)
{
    dse_status st = trace_json_number(doc, doc->root, key, out, err);

    *out /= 1e3;
    return st == DSE_OK && isnan(*out) ? median_of_requests(doc, requests, a, out, err) : st;
}

/* Sets *line, *n to the only line of the text that is not blank. */
static dse_status single_line(const char *path, const dse_strbuf *text, const char **line, size_t *n,
                              dse_error *err)
{
    const char *p = text->data, *end = p + text->len;
    size_t found = 0;

    while (p < end) {
        const char *stop = memchr(p, '\n', (size_t)(end - p));
        size_t length = (size_t)((stop ? stop : end) - p);

        if (strspn(p, " \t\r") < length) {
            *line = p;
            *n = length;
            found++;
        }
        p += length + 1;
    }
    if (found != 1)
        return dse_fail_at(err, DSE_E_CONFIG, path,
                           "a benchmark's results are to be one line, one record; there are %zu", found);
    return DSE_OK;
}

static dse_status load_sglang(const char *path, dse_arena *a, trace_benchmark *out, dse_error *err)
{
    trace_benchmark b = {.found = true, .path = path, .n_files = 1};
    const char *line = NULL;
    cfg_doc doc = {0};
    dse_strbuf text;
    dse_status st;
    size_t n = 0;

    dse_strbuf_init(&text);
    st = dse_read_file(path, MAX_RECORD_BYTES, &text, err);
    if (st == DSE_OK)
        st = single_line(path, &text, &line, &n, err);
    if (st == DSE_OK)
        st = cfg_parse_json(path, line, n, a, &doc, err);
    if (st == DSE_OK)
        st = median_time(&doc, "median_ttft_ms", "ttfts", a, &b.ttft_s, err);
    if (st == DSE_OK)
        st = median_time(&doc, "median_tpot_ms", "itls", a, &b.tpot_s, err);
    if (st == DSE_OK)
        st = throughput_of(&doc, &b.output_tokens_per_s, err);
    if (st == DSE_OK)
        *out = b;
    dse_strbuf_free(&text);
    return st;
}

/* ---- vLLM ------------------------------------------------------------------------------------ */

typedef struct {
    double sum;
    uint32_t n;
} mean;

static void mean_add(mean *m, double v)
{
    if (isnan(v))
        return;
    m->sum += v;
    m->n++;
}

static double mean_value(const mean *m) { return m->n ? m->sum / m->n : NAN; }

static dse_status load_vllm(const char *folder, dse_arena *a, trace_benchmark *out, dse_error *err)
{
    trace_benchmark b = {.path = folder};
    mean ttft = {0}, tpot = {0}, rate = {0};
    trace_paths files = {0};
    dse_status st = trace_paths_add(&files, folder, "*.json", false, a, err);

    for (size_t i = 0; st == DSE_OK && i < files.n; i++) {
        double ttft_ms, tpot_ms, per_s;
        cfg_doc doc;

        st = cfg_load(files.path[i], a, &doc, err);
        if (st == DSE_OK)
            st = trace_json_number(&doc, doc.root, "mean_ttft_ms", &ttft_ms, err);
        if (st == DSE_OK)
            st = trace_json_number(&doc, doc.root, "mean_tpot_ms", &tpot_ms, err);
        if (st == DSE_OK)
            st = throughput_of(&doc, &per_s, err);
        if (st != DSE_OK)
            break;
        mean_add(&ttft, ttft_ms / 1e3);
        mean_add(&tpot, tpot_ms / 1e3);
        mean_add(&rate, per_s);
    }
    if (st != DSE_OK)
        return st;
    b.n_files = (uint32_t)files.n;
    b.found = files.n > 0;
    b.ttft_s = mean_value(&ttft);
    b.tpot_s = mean_value(&tpot);
    b.output_tokens_per_s = mean_value(&rate);
    *out = b;
    return DSE_OK;
}

dse_status trace_benchmark_load(const char *trace, dse_arena *a, trace_benchmark *out, dse_error *err)
{
    const char *beside = trace_folder_of(trace, a);
    const char *record = dse_arena_printf(a, "%s/bench_results.jsonl", beside);
    const char *folder = dse_arena_printf(a, "%s/results_json", beside);

    return dse_is_file(record) ? load_sglang(record, a, out, err) : load_vllm(folder, a, out, err);
}
