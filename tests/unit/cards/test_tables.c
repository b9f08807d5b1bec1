/* Tables of kernels by shape: the file's format, what is made of it, and, where the source lies beside the
 * repository (../shared/kernels), how far the shipped ones are off at shapes that they were not made of. */
#include "base/array.h"
#include "base/fs.h"
#include "cards/device.h"
#include "cards/kernel_table.h"
#include "sim/kernel_time.h"
#include "unit/unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define KERNELS TEST_SOURCE "/../shared/kernels/"
#define DEVICES TEST_SOURCE "/configs/devices/"

static dse_arena arena;
static dse_error err;

static dse_status parse(const char *text, sim_table **out)
{
    err = (dse_error)DSE_ERROR_INIT;
    return card_table_parse("t.csv", text, &arena, out, &err);
}

/* 1 operation a ns and 1 byte a ns: a product of m, n and k lasts 2 m n k ns. */
#define LAW "class matmul\npeak_tflops 0.001\nflop_factor 1\n"

static double ratio(const sim_table *t, uint64_t m, uint64_t n, uint64_t k)
{
    const wl_kernel kernel = {.extent = {m, n, k, 1}};

    return sim_table_ratio(t, &kernel);
}

CLAIM(a_ratio_is_linear_in_the_logarithms)
{
    sim_table *t;

    dse_arena_init(&arena);
    /* 2 x 10 x 10 x 10 = 2000 ns, measured 4 us: 2. Of 40 x 10 x 10 8000, measured 8 us: 1. */
    assert_ok(parse("# a remark\n" LAW "m,n,k,time_us\n10,10,10,4\n40,10,10,8\n", &t), &err);
    assert_true(fabs(ratio(t, 10, 10, 10) - 2) < 1e-12);
    assert_true(fabs(ratio(t, 40, 10, 10) - 1) < 1e-12);
    assert_true(fabs(ratio(t, 20, 10, 10) - 1.5) < 1e-12); /* half way from 10 to 40 */
    assert_true(fabs(ratio(t, 1, 3, 1000) - 2) < 1e-12);   /* the border's, and one value along n and k */
    assert_true(fabs(ratio(t, 4000, 10, 10) - 1) < 1e-12);
    assert_true(sim_table_is_beyond(t, &(wl_kernel){.extent = {41, 10, 10, 1}}));
    assert_false(sim_table_is_beyond(t, &(wl_kernel){.extent = {40, 7, 10, 1}}));
    dse_arena_free(&arena);
}

CLAIM(a_missing_point_is_the_mean_of_its_neighbours)
{
    sim_table *t;

    dse_arena_init(&arena);
    /* Times of 2, 4 and 6 times the law at three corners; (40, 40) has the neighbours 4 and 6. */
    assert_ok(parse(LAW "m,n,time_us\n10,10,0.4\n40,10,3.2\n10,40,4.8\n", &t), &err);
    assert_int_equal(t->n_measured, 3);
    assert_true(fabs(ratio(t, 40, 10, 1) - 4) < 1e-12);
    assert_true(fabs(ratio(t, 40, 40, 1) - 5) < 1e-12);
    assert_true(fabs(ratio(t, 20, 20, 1) - (2 + 4 + 6 + 5) / 4.0) < 1e-12);
    dse_arena_free(&arena);
}

CLAIM(the_law_of_a_table_has_what_its_calls_do_besides)
{
    sim_table *t;

    dse_arena_init(&arena);
    /* 2 x 8 x 4 x 2 = 128 ns, twice: 256; bytes: (16 + 8) x 1 + 2 x 32 = 88, half of them: 44; 3 an element
     * of 16: 48; 0.1 us. In all 448 ns. */
    assert_ok(parse("class matmul\npeak_tflops 0.001\nbandwidth_gb_per_s 1\nflop_factor 2\nbyte_factor "
                    "0.5\ninput_bytes 3\n"
                    "operand_bytes 1\noverhead_us 0.1\nm,n,k,time_us\n8,4,2,0.896\n",
                    &t),
              &err);
    assert_true(fabs(ratio(t, 8, 4, 2) - 2) < 1e-12);
    /* Attention: n queries of n keys, 3 heads of 4: 2 x 3 x 8 x 8 x 4 = 1536 ns, with half_length 8 twice. */
    assert_ok(parse(LAW "half_length 8\nn,k,batch,time_us\n8,4,3,3.072\n", &t), &err);
    assert_true(fabs(ratio(t, 8, 8, 4) - 1) < 1e-12);
    dse_arena_free(&arena);
}

CLAIM(lines_may_end_as_on_windows)
{
    sim_table *t;

    dse_arena_init(&arena);
    assert_ok(parse("# a remark\r\nclass matmul\r\npeak_tflops 0.001\r\nflop_factor "
                    "1\r\n\r\nm,n,k,time_us\r\n10,10,10,4\r\n",
                    &t),
              &err);
    assert_int_equal(t->class, WL_KERNEL_MATMUL);
    assert_true(fabs(ratio(t, 10, 10, 10) - 2) < 1e-12);
    dse_arena_free(&arena);
}

CLAIM(a_wrong_table_is_refused_with_its_line)
{
    static const struct {
        const char *text, *where, *why;
    } rows[] = {
        {LAW "m,n,k,time_us\n", "t.csv:4", "the table has no row"},
        {LAW "m,n,k,batch,time_us\n", "t.csv:4",
         "the columns are at most three of m, n, k and batch, and time_us"},
        {LAW "m,n,k\n", "t.csv:4", "the last column is time_us"},
        {LAW "m,time_us\n1,2,3\n", "t.csv:5", "a row has a positive number for each column"},
        {LAW "m,time_us\n0,2\n", "t.csv:5", "a row has a positive number for each column"},
        {LAW "m,n,k,time_us\n100000000000,100000000000,9,2\n", "t.csv:5",
         "the shape has more operations or bytes than 2^63"},
        {"m,time_us\n1,2\n", "t.csv:1", "peak_tflops and flop_factor are to stand before the columns"},
        {LAW "byte_factor 1\nm,time_us\n1,2\n", "t.csv:5",
         "byte_factor and input_bytes need bandwidth_gb_per_s"},
        {"class matmull\n", "t.csv:1", "there is no class of kernels of this name"},
        {"peak_tflops 1\nflop_factor 1\nm,time_us\n1,2\n", "t.csv:3",
         "the class of kernels is to stand before the columns: class matmul"},
        {"peak 1\n", "t.csv:1",
         "this is neither a term of the law nor the columns' names; src/cards/kernel_table.h explains the "
         "file"},
        {"flop_factor fast\n", "t.csv:1",
         "a number that is not negative is expected behind the name of a term"},
    };
    sim_table *t;

    dse_arena_init(&arena);
    for (size_t i = 0; i < DSE_COUNT(rows); i++)
        assert_failure(parse(rows[i].text, &t), &err, DSE_E_CONFIG, rows[i].where, rows[i].why);
    dse_arena_free(&arena);
}

/* ---- shapes that were left out ----------------------------------------------------------------- */

typedef struct {
    const char *table, *source, *software, *type;
    double peak, bandwidth, flop_factor, byte_factor, half_length, input_bytes, overhead_us, operand_bytes;
    double most_law, most_table; /* percent */
} shipped;

/* The figures of the file's first lines, and errors that are rounded up. */
static const shipped products[] = {
    {"nvidia_a100_matmul", "gemm_a100_sxm", "sglang", "bfloat16", 312, 2039, 1.227, 0.461, 0, 0, 7.8, 2, 4.1,
     3.4},
    {"nvidia_h100_matmul_fp8", "gemm_h100_sxm", "trtllm", "fp8", 1979, 3350, 1.325, 0.46, 0, 11.3, 13.5, 1,
     5.2, 3.8},
    {"nvidia_h100_matmul_fp8_block", "gemm_h100_sxm", "trtllm", "fp8_block", 1979, 3350, 1.624, 0.777, 0, 4.9,
     5.2, 1, 7.6, 6.1},
    {"nvidia_h200_matmul_fp8", "gemm_h200_sxm", "trtllm", "fp8", 1979, 4800, 1.289, 0.506, 0, 9.6, 12.1, 1,
     3.9, 2.8},
    {"nvidia_h200_matmul_fp8_block", "gemm_h200_sxm", "trtllm", "fp8_block", 1979, 4800, 1.541, 0.863, 0, 7.4,
     5.1, 1, 7.2, 4.9},
    {"nvidia_b200_matmul_fp8", "gemm_b200_sxm", "trtllm", "fp8", 4500, 8000, 1.363, 0.594, 0, 9.1, 14.8, 1,
     5.9, 4.3},
    {"nvidia_b200_matmul_fp8_block", "gemm_b200_sxm", "trtllm", "fp8_block", 4500, 8000, 1.391, 0.726, 0,
     13.3, 7.7, 1, 6.1, 3.4},
    {"nvidia_b200_matmul_nvfp4", "gemm_b200_sxm", "trtllm", "nvfp4", 9000, 8000, 1.836, 0.968, 0, 5.4, 7.6,
     0.5625, 7, 4.1},
    {"nvidia_gb200_matmul_fp8", "gemm_gb200", "trtllm", "fp8", 5000, 8000, 1.387, 0.638, 0, 9.5, 14.8, 1, 4.5,
     3.6},
    {"nvidia_gb200_matmul_fp8_block", "gemm_gb200", "trtllm", "fp8_block", 5000, 8000, 1.421, 0.738, 0, 14,
     7.6, 1, 4, 2.5},
    {"nvidia_gb200_matmul_nvfp4", "gemm_gb200", "trtllm", "nvfp4", 10000, 8000, 1.775, 1, 0, 5.6, 7.5, 0.5625,
     6.9, 4.8},
    {"nvidia_gb300_matmul_fp8", "gemm_gb300", "trtllm", "fp8", 5000, 8000, 1.192, 0.625, 0, 9.2, 14.6, 1, 4,
     2.9},
    {"nvidia_gb300_matmul_fp8_block", "gemm_gb300", "trtllm", "fp8_block", 5000, 8000, 1.254, 0.71, 0, 12.9,
     7.6, 1, 4.3, 2.1},
    {"nvidia_gb300_matmul_nvfp4", "gemm_gb300", "trtllm", "nvfp4", 15000, 8000, 1.914, 1.711, 0, 4.9, 10.1,
     0.5625, 9.2, 5.1},
    {"nvidia_l40s_matmul_fp8", "gemm_l40s", "trtllm", "fp8", 733, 864, 1.645, 0.519, 0, 4.7, 10.6, 1, 8.9,
     4.9},
    {"nvidia_l40s_matmul_fp8_block", "gemm_l40s", "trtllm", "fp8_block", 733, 864, 3.279, 0.271, 0, 4.5, 3.5,
     1, 10.5, 4},
};

static const shipped attentions[] = {
    {"nvidia_h100_attention", "attention_forward_h100_sxm", "trtllm", "bfloat16", 989.5, 0, 1.82, 0, 1450, 0,
     3, 2, 14, 7},
    {"nvidia_h200_attention", "attention_forward_h200_sxm", "trtllm", "bfloat16", 989.5, 0, 1.92, 0, 1210, 0,
     3, 2, 18, 7},
    {"nvidia_b200_attention", "attention_forward_b200_sxm", "trtllm", "bfloat16", 2250, 0, 1.92, 0, 2200, 0,
     3, 2, 22, 7},
    {"nvidia_gb200_attention", "attention_forward_gb200", "trtllm", "bfloat16", 2500, 0, 1.85, 0, 2480, 0, 3,
     2, 22, 7},
    {"nvidia_l40s_attention", "attention_forward_l40s", "trtllm", "bfloat16", 362.05, 0, 2.44, 0, 760, 0, 3,
     2, 12, 8},
};

static sim_table *table_of(const shipped *s)
{
    char path[512];
    dse_strbuf text;
    sim_table *t;

    snprintf(path, sizeof path, DEVICES "%s.csv", s->table);
    dse_strbuf_init(&text);
    err = (dse_error)DSE_ERROR_INIT;
    assert_ok(dse_read_file(path, 0, &text, &err), &err);
    assert_ok(card_table_parse(path, text.data, &arena, &t, &err), &err);
    dse_strbuf_free(&text);
    return t;
}

static double law_us(const shipped *s, const wl_kernel *k)
{
    const double m = (double)k->extent[WL_EXTENT_M], n = (double)k->extent[WL_EXTENT_N],
                 d = (double)k->extent[WL_EXTENT_K], batch = (double)k->extent[WL_EXTENT_BATCH];
    double us =
        s->flop_factor * (1 + s->half_length / n) * 2 * batch * m * n * d / s->peak / 1e6 + s->overhead_us;

    if (s->bandwidth > 0)
        us += (s->byte_factor * (s->operand_bytes * (m * d + d * n) + 2 * m * n) + s->input_bytes * m * d) /
              s->bandwidth / 1e3;
    return us;
}

/* Along an axis it is a point of the grid. */
static bool is_of_grid(const sim_table *t, const wl_kernel *k)
{
    for (uint32_t d = 0; d < SIM_TABLE_AXES; d++) {
        const double v = log((double)k->extent[t->extent[d]]);
        bool is = t->n[d] == 1;

        for (uint32_t i = 0; i < t->n[d]; i++)
            is |= fabs(t->at[d][i] - v) < 1e-9;
        if (!is)
            return false;
    }
    return true;
}

typedef struct {
    uint32_t n;
    double law, law_bias, table, table_bias;
} errors;

static void add(errors *e, const shipped *s, const sim_table *t, const wl_kernel *k, double us)
{
    const double law = law_us(s, k) / us - 1, table = law_us(s, k) * sim_table_ratio(t, k) / us - 1;

    e->n++;
    e->law += fabs(law);
    e->law_bias += law;
    e->table += fabs(table);
    e->table_bias += table;
}

static void assert_errors(const errors *e, const shipped *s, const sim_table *t)
{
    const double law = 100 * e->law / e->n, table = 100 * e->table / e->n;

    print_message("| %s | %u | %.1f, %+.1f | %.1f, %+.1f | %u left out\n", s->table, (unsigned)t->n_measured,
                  law, 100 * e->law_bias / e->n, table, 100 * e->table_bias / e->n, (unsigned)e->n);
    assert_true(e->n > 400);
    assert_true(law <= s->most_law && table <= s->most_table && table < law);
}

static FILE *source_of(const shipped *s)
{
    char path[512];

    snprintf(path, sizeof path, KERNELS "%s.csv", s->source);
    return fopen(path, "r");
}

/* m one more than a power of two is a shape of inference, of which a whole row of tiles is empty. */
CLAIM(products_that_were_left_out_are_nearer_to_the_table_than_to_the_law)
{
    for (size_t i = 0; i < DSE_COUNT(products); i++) {
        const shipped *s = &products[i];
        FILE *f = source_of(s);
        char line[256], software[64], type[32];
        sim_table *t;
        errors e = {0};

        if (!f)
            skip();
        dse_arena_init(&arena);
        t = table_of(s);
        while (fgets(line, sizeof line, f)) {
            unsigned m, n, k;
            double us;
            wl_kernel kernel;

            if (sscanf(line, "%63[^,],%31[^,],%u,%u,%u,%lf", software, type, &m, &n, &k, &us) != 6 ||
                strncmp(software, s->software, strlen(s->software)) != 0 || strcmp(type, s->type) != 0 ||
                m % 2)
                continue;
            kernel = (wl_kernel){.extent = {m, n, k, 1}};
            if (2.0 * m * n * k >= 1e11 && !is_of_grid(t, &kernel))
                add(&e, s, t, &kernel, us);
        }
        fclose(f);
        assert_errors(&e, s, t);
        dse_arena_free(&arena);
    }
}

CLAIM(attention_that_was_left_out_is_nearer_to_the_table_than_to_the_law)
{
    for (size_t i = 0; i < DSE_COUNT(attentions); i++) {
        const shipped *s = &attentions[i];
        FILE *f = source_of(s);
        char line[256], software[64], type[32], cache[32];
        sim_table *t;
        errors e = {0};

        if (!f)
            skip();
        dse_arena_init(&arena);
        t = table_of(s);
        while (fgets(line, sizeof line, f)) {
            unsigned batch, tokens, heads, kv_heads, size;
            double us;
            wl_kernel kernel;

            if (sscanf(line, "%63[^,],%31[^,],%31[^,],%u,%u,%u,%u,%u,%lf", software, type, cache, &batch,
                       &tokens, &heads, &kv_heads, &size, &us) != 9 ||
                strcmp(type, s->type) != 0 || strcmp(cache, s->type) != 0 ||
                (uint64_t)batch * heads * tokens < 16384)
                continue;
            kernel = (wl_kernel){.extent = {tokens, tokens, size, batch * heads}};
            if (!is_of_grid(t, &kernel))
                add(&e, s, t, &kernel, us);
        }
        fclose(f);
        assert_errors(&e, s, t);
        dse_arena_free(&arena);
    }
}

/* ---- laws without a table ---------------------------------------------------------------------- */

/* The number behind a key of a device's file. */
static double figure_of(const char *text, const char *section, const char *key)
{
    const char *at = strstr(text, section);

    assert_non_null(at);
    at = strstr(at, key);
    assert_non_null(at);
    return strtod(at + strlen(key), NULL);
}

/* The law of bf16 products in the file of a device, beside its own peak. */
static shipped law_of(const char *device, const char *source, const char *software, double bandwidth)
{
    char path[512];
    dse_strbuf text;
    shipped s = {.table = device,
                 .source = source,
                 .software = software,
                 .type = "bfloat16",
                 .bandwidth = bandwidth,
                 .operand_bytes = 2};

    snprintf(path, sizeof path, DEVICES "%s.yaml", device);
    dse_strbuf_init(&text);
    err = (dse_error)DSE_ERROR_INIT;
    assert_ok(dse_read_file(path, 0, &text, &err), &err);
    s.peak = figure_of(text.data, "compute:", "peak_perf:");
    s.flop_factor = figure_of(text.data, "\n  matmul:", "flop_factor:");
    s.byte_factor = figure_of(text.data, "\n  matmul:", "byte_factor:");
    s.overhead_us = figure_of(text.data, "\n  matmul:", "overhead:");
    dse_strbuf_free(&text);
    return s;
}

/* Calls of 10 ms and more, after which the power limit has set the clock. */
CLAIM(products_last_as_long_calls_do)
{
    static const struct {
        const char *device, *source, *software;
        double bandwidth; /* GB/s */
    } laws[] = {
        {"nvidia_h100", "gemm_h100_sxm", "", 3350},       {"nvidia_h200", "gemm_h200_sxm", "trtllm", 4800},
        {"nvidia_b200", "gemm_b200_sxm", "trtllm", 8000}, {"nvidia_gb200", "gemm_gb200", "trtllm", 8000},
        {"nvidia_gb300", "gemm_gb300", "trtllm", 8000},   {"nvidia_l40s", "gemm_l40s", "trtllm", 864}};

    for (size_t i = 0; i < DSE_COUNT(laws); i++) {
        const shipped s = law_of(laws[i].device, laws[i].source, laws[i].software, laws[i].bandwidth);
        FILE *f = source_of(&s);
        char line[256], software[64], type[32];
        double error = 0, bias = 0;
        uint32_t calls = 0;

        if (!f)
            skip();
        while (fgets(line, sizeof line, f)) {
            unsigned m, n, k;
            double us, e;
            wl_kernel kernel;

            if (sscanf(line, "%63[^,],%31[^,],%u,%u,%u,%lf", software, type, &m, &n, &k, &us) != 6 ||
                strncmp(software, s.software, strlen(s.software)) != 0 || strcmp(type, s.type) != 0 ||
                us < 1e4)
                continue;
            kernel = (wl_kernel){.extent = {m, n, k, 1}};
            e = law_us(&s, &kernel) / us - 1;
            error += fabs(e);
            bias += e;
            calls++;
        }
        fclose(f);
        print_message("| %s | %u calls of 10 ms and more | %.1f, %+.1f\n", s.table, (unsigned)calls,
                      100 * error / calls, 100 * bias / calls);
        assert_true(calls > 30);
        assert_true(error / calls < 0.05 && fabs(bias / calls) < 0.01);
    }
}

/* ---- layers of experts ------------------------------------------------------------------------- */

/* A measured layer of experts, forward: us. */
typedef struct {
    double width, ffn;     /* of an expert */
    double product, bytes; /* of its products: operations over the peak, bytes over the bandwidth */
    double rest;           /* elementwise kernels, and what the law adds for each kernel */
    double us;
} layer;

#define MOST_LAYERS 512

typedef struct {
    const char *device, *source, *type, *peak_key, *class;
    double bandwidth;     /* GB/s */
    double operand_bytes; /* of an element */
    double flop_factor;   /* at the clocks of the table: of the products of the largest experts */
    double most;          /* error of sizes left out, percent */
} measured_experts;

/* Tokens are put into the experts' order, activated, and added up: each read and written once. */
static double elementwise_bytes(double tokens, double rows, double width, double ffn, double matrices,
                                double operand)
{
    return rows * width * (2 + operand) + rows * ffn * (2 * (matrices - 1) + operand) +
           2 * (rows * width + tokens * width);
}

static size_t read_layers(FILE *f, const measured_experts *x, double peak, double overhead, layer *out)
{
    char line[256], software[64], kernel[64], type[32], spread[32];
    size_t n = 0;

    while (fgets(line, sizeof line, f)) {
        unsigned tokens, width, ffn, top_k, experts, ep;
        double us, rows, matrices, operations, weights, moved;

        if (sscanf(line, "%63[^,],%63[^,],%31[^,],%31[^,],%u,%u,%u,%u,%u,%u,%lf", software, kernel, type,
                   spread, &tokens, &width, &ffn, &top_k, &experts, &ep, &us) != 11 ||
            strcmp(type, x->type) != 0 || strcmp(spread, "balanced") != 0)
            continue;
        matrices = strstr(kernel, "nongated") ? 2 : 3;
        rows = (double)tokens * top_k / ep;
        operations = 2 * rows * width * ffn * matrices;
        if (operations < 1e12 || rows < 256.0 * (experts / ep))
            continue;
        weights = x->operand_bytes * (experts / ep) * width * ffn * matrices;
        moved = x->operand_bytes * rows * (width + ffn) + 2 * rows * ((matrices - 1) * ffn + width);
        assert_true(n < MOST_LAYERS);
        out[n++] =
            (layer){.width = width,
                    .ffn = ffn,
                    .product = operations / peak / 1e6,
                    .bytes = (weights + moved) / x->bandwidth / 1e3,
                    .rest = 1.25 * elementwise_bytes(tokens, rows, width, ffn, matrices, x->operand_bytes) /
                                x->bandwidth / 1e3 +
                            3 * 3 + 2 * overhead,
                    .us = us};
    }
    return n;
}

static bool is_of_size(const layer *l, const layer *of)
{
    return (uint64_t)l->width == (uint64_t)of->width && (uint64_t)l->ffn == (uint64_t)of->ffn;
}

/* The factor of bytes by least squares of the relative error, without layers of one size (NULL: with all). */
static double byte_factor(const layer *l, size_t n, double flop_factor, const layer *without)
{
    double above = 0, below = 0;

    for (size_t i = 0; i < n; i++) {
        const double rest = (l[i].us - l[i].rest - flop_factor * l[i].product) / l[i].us,
                     bytes = l[i].bytes / l[i].us;

        if (without && is_of_size(&l[i], without))
            continue;
        above += rest * bytes;
        below += bytes * bytes;
    }
    return above / below;
}

/* The figures of configs/devices/README.md. Weights of the table's layers are memory that nobody wrote: little of it toggles,
 * clocks stay high, and the largest layers outrun any product of the same table. So the factor of operations
 * is of these layers, and that of bytes alone goes into the device's file. */
CLAIM(the_bytes_of_experts_are_fitted_to_layers_that_were_measured)
{
    static const measured_experts rows[] = {
        {"nvidia_h100", "moe_forward_h100_sxm", "bfloat16", "peak_perf:", "\n  experts:", 3350, 2, 1.067, 9},
        {"nvidia_h100", "moe_forward_h100_sxm", "fp8", "peak_fp8:", "\n  experts_fp8:", 3350, 1, 1.122, 9.5},
        {"nvidia_h200", "moe_forward_h200_sxm", "bfloat16", "peak_perf:", "\n  experts:", 4800, 2, 1.096,
         7.9},
        {"nvidia_h200", "moe_forward_h200_sxm", "fp8", "peak_fp8:", "\n  experts_fp8:", 4800, 1, 1.141, 9.3},
        {"nvidia_b200", "moe_forward_b200_sxm", "bfloat16", "peak_perf:", "\n  experts:", 8000, 2, 1.106,
         9.4},
        {"nvidia_b200", "moe_forward_b200_sxm", "fp8", "peak_fp8:", "\n  experts_fp8:", 8000, 1, 1.186, 11.2},
        {"nvidia_gb200", "moe_forward_gb200", "bfloat16", "peak_perf:", "\n  experts:", 8000, 2, 1.12, 10.3},
        {"nvidia_gb200", "moe_forward_gb200", "fp8", "peak_fp8:", "\n  experts_fp8:", 8000, 1, 1.183, 10.9},
    };
    static layer layers[MOST_LAYERS];

    for (size_t i = 0; i < DSE_COUNT(rows); i++) {
        const measured_experts *x = &rows[i];
        const shipped s = {.source = x->source};
        FILE *f = source_of(&s);
        char path[512];
        double shipped_factor, error = 0, bias = 0;
        dse_strbuf text;
        size_t n;

        if (!f)
            skip();
        snprintf(path, sizeof path, DEVICES "%s.yaml", x->device);
        dse_strbuf_init(&text);
        assert_ok(dse_read_file(path, 0, &text, &err), &err);
        shipped_factor = figure_of(text.data, x->class, "byte_factor:");
        n = read_layers(f, x, figure_of(text.data, "compute:", x->peak_key),
                        figure_of(text.data, x->class, "overhead:"), layers);
        dse_strbuf_free(&text);
        fclose(f);
        for (size_t k = 0; k < n; k++) {
            const double without = byte_factor(layers, n, x->flop_factor, &layers[k]),
                         e = (x->flop_factor * layers[k].product + without * layers[k].bytes +
                              layers[k].rest) /
                                 layers[k].us -
                             1;

            error += fabs(e) / (double)n;
            bias += e / (double)n;
        }
        print_message("| %s | %s | %u layers | %.3f | %.1f, %+.1f\n", x->device, x->class + 3, (unsigned)n,
                      byte_factor(layers, n, x->flop_factor, NULL), 100 * error, 100 * bias);
        assert_true(n > 100);
        assert_true(fabs(byte_factor(layers, n, x->flop_factor, NULL) - shipped_factor) < 0.01);
        assert_true(100 * error < x->most && fabs(bias) < 0.012);
    }
}

/* ---- on a card --------------------------------------------------------------------------------- */

static card_tables tables;

static dse_status settings_of(const char *laws, sim_settings *set, card_system *card)
{
    static const char rest[] =
        "network: {topology: [Ring], npus_count: [4], bandwidth: [50], latency: [1]}\n"
        "collectives: {all: [ring]}\ncompute: {peak_perf: 989.5}\nmemory: {bandwidth: 3350}\n";
    char text[512];
    net_network net;
    cfg_doc doc;
    dse_status st;

    snprintf(text, sizeof text, "device: nvidia_h100\nkernels: {laws: %s}\n%s", laws, rest);
    assert_int_equal(setenv("CCLDSE_CONFIGS", TEST_SOURCE "/configs", 1), 0);
    err = (dse_error)DSE_ERROR_INIT;
    assert_ok(cfg_parse_yaml("s.yaml", text, strlen(text), &arena, &doc, &err), &err);
    assert_ok(card_system_read(&doc, NULL, card, &err), &err);
    tables = (card_tables){.arena = &arena};
    if ((st = card_system_fill_laws(card, &tables, &arena, &err)) != DSE_OK)
        return st;
    assert_ok(card_system_build(card, &net, set, &err), &err);
    return card_system_load_tables(card, &tables, set, &err);
}

CLAIM(a_card_has_the_tables_of_its_device_and_their_hashes)
{
    sim_settings set;
    card_system card;

    dse_arena_init(&arena);
    assert_ok(settings_of("device", &set, &card), &err);
    assert_non_null(set.law[WL_KERNEL_MATMUL_FP8].table);
    assert_null(set.law[WL_KERNEL_MATMUL].table);
    assert_int_equal(strlen(card.kernels[WL_KERNEL_MATMUL_FP8].table),
                     strlen("nvidia_h100_matmul_fp8.csv#") + 16);
    card.kernels[WL_KERNEL_MATMUL_FP8].table[strlen("nvidia_h100_matmul_fp8.csv#")] ^= 1; /* another text */
    assert_int_equal(card_system_load_tables(&card, &tables, &set, &err), DSE_E_CONFIG);
    assert_non_null(
        strstr(err.text, "this table has changed since the configuration was written, which has the hash "));
    err = (dse_error)DSE_ERROR_INIT;
    snprintf(card.kernels[WL_KERNEL_MATMUL_FP8].table, CFG_NAME_MAX, "none.csv");
    assert_failure(card_system_load_tables(&card, &tables, &set, &err), &err, DSE_E_CONFIG, "",
                   "there is no table of kernels 'none.csv' in configs/devices");
    err = (dse_error)DSE_ERROR_INIT;
    snprintf(card.kernels[WL_KERNEL_MATMUL_FP8].table, CFG_NAME_MAX, "nvidia_h100_attention.csv");
    assert_failure(card_system_load_tables(&card, &tables, &set, &err), &err, DSE_E_CONFIG,
                   TEST_SOURCE "/configs/devices/nvidia_h100_attention.csv",
                   "this table is of the class attention, not matmul_fp8");
    err = (dse_error)DSE_ERROR_INIT;
    set.law[WL_KERNEL_MATMUL_FP8].is_given = false;
    assert_failure(card_system_load_tables(&card, &tables, &set, &err), &err, DSE_E_CONFIG, "",
                   "kernels.matmul_fp8.table needs flop_factor: it is a factor of the law of its class");
    assert_ok(settings_of("affine", &set, &card), &err);
    assert_true(set.law[WL_KERNEL_MATMUL_FP8].is_given && !set.law[WL_KERNEL_MATMUL_FP8].table);
    assert_ok(settings_of("roofline", &set, &card), &err);
    assert_false(set.law[WL_KERNEL_MATMUL_FP8].is_given);
    assert_string_equal(card.kernels[WL_KERNEL_MATMUL_FP8].table, "");
    dse_arena_free(&arena);
}

/* At the table's own point, with its device's peak, a law with the table's terms gives the measured time:
 * 8192 x 4096 x 4096. A device of half the clock and bandwidth takes twice as long, but for the overhead. */
CLAIM(a_table_is_a_factor_of_the_law)
{
    const sim_device device = {.peak_ops_per_s = 1e12, .memory_bytes_per_s = 1e12}, slow = {5e11, 5e11, 0};
    sim_law law = {.is_given = true, .flop_factor = 1};
    const wl_kernel kernel = {.extent = {10, 10, 10, 1}, .operations = 2000000, .bytes = 600};
    sim_table *t;

    dse_arena_init(&arena);
    assert_ok(parse(LAW "m,n,k,time_us\n10,10,10,6\n", &t), &err);
    law.table = t;
    assert_u64(sim_kernel_law(&kernel, &device, &law), 3 * 2000);
    assert_u64(sim_kernel_law(&kernel, &slow, &law), 3 * 4000);
    dse_arena_free(&arena);
}

CLAIM(a_ratio_takes_tens_of_nanoseconds)
{
    enum { TIMES = 200000 };
    sim_table *t;
    clock_t begin;
    double sum = 0, ns;

    dse_arena_init(&arena);
    t = table_of(&products[1]);
    begin = clock();
    for (uint64_t i = 0; i < TIMES; i++)
        sum += ratio(t, 1000 + i % 7000, 3000 + i % 900, 5000 + i % 1300);
    ns = (double)(clock() - begin) / CLOCKS_PER_SEC * 1e9 / TIMES;
    print_message("%.0f ns a ratio, mean %.3f\n", ns, sum / TIMES);
    assert_true(sum > 0 && ns < 2000); /* some 60; sanitizers are slow */
    dse_arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_ratio_is_linear_in_the_logarithms),
        cmocka_unit_test(a_missing_point_is_the_mean_of_its_neighbours),
        cmocka_unit_test(the_law_of_a_table_has_what_its_calls_do_besides),
        cmocka_unit_test(lines_may_end_as_on_windows),
        cmocka_unit_test(a_wrong_table_is_refused_with_its_line),
        cmocka_unit_test(products_that_were_left_out_are_nearer_to_the_table_than_to_the_law),
        cmocka_unit_test(attention_that_was_left_out_is_nearer_to_the_table_than_to_the_law),
        cmocka_unit_test(products_last_as_long_calls_do),
        cmocka_unit_test(the_bytes_of_experts_are_fitted_to_layers_that_were_measured),
        cmocka_unit_test(a_card_has_the_tables_of_its_device_and_their_hashes),
        cmocka_unit_test(a_table_is_a_factor_of_the_law),
        cmocka_unit_test(a_ratio_takes_tens_of_nanoseconds),
    };

    return RUN_TESTS(tests);
}
