/* Layers of DeepSeek-V3 with experts on 64 H800 as DeepSeek recorded them, beside the simulated ones: calls, tokens that
 * come to a rank, durations by class of kernels. The recording has a forward and a backward pass of four layers at the same
 * time (DualPipe), so that collectives go on beside kernels, which lack the multiprocessors that they hold. Skipped where
 * it does not lie beside the repository. */
#include "base/array.h"
#include "base/fs.h"
#include "driver/study.h"
#include "driver/training.h"
#include "step/clock.h"
#include "step/module.h"
#include "trace/reader.h"
#include "unit/point.h"
#include "unit/unit.h"

#include <math.h>
#include <stdlib.h>

#define RECORDING TEST_SOURCE "/../shared/traces/kineto_deepseek_v3_train_h800_ep64/train.json.gz"
#define LAYERS    4

typedef enum {
    EXPERTS,  /* products of the rank's experts in one kernel, forward and for their inputs' gradients */
    PRODUCTS, /* the same of a layer's other matrices in 8 bits */
    WEIGHTS,  /* products for gradients of weights, one for each expert */
    ROUTER,   /* of 16 bits */
    ATTENTION,
    ATTENTION_BACKWARD,
    DISPATCH, /* and what combine's backward pass sends */
    COMBINE,
    ELEMENTWISE,
    N_CLASSES
} class;

static const char *const class_name[N_CLASSES] = {"experts",  "products",  "gradients of weights",
                                                  "router",   "attention", "attention, backward",
                                                  "dispatch", "combine",   "elementwise"};

typedef struct {
    double calls, us;     /* of a layer */
    int64_t *start, *end; /* of the calls; ps */
    size_t n;
} sum;

#define H800_SMS 132

static dse_arena arena;
static dse_error err;

/* ---- as recorded ------------------------------------------------------------------------------- */

/* The first that a kernel's name has in it. Of FlashAttention-3's backward pass two further kernels are elementwise; so is
 * what DeepEP does besides (notify, layout), which waits for other ranks. */
static class recorded_class(const char *name)
{
    static const struct {
        const char *part;
        class is;
    } parts[] = {{"m_grouped_fp8", EXPERTS},
                 {"fp8_dptp128c_acc", WEIGHTS},
                 {"fp8_ptp128c", PRODUCTS},
                 {"sm90_xmma_gemm", ROUTER},
                 {"flash::compute_attn_ws", ATTENTION},
                 {"flash::FlashAttnBwdP", ELEMENTWISE},
                 {"flash::FlashAttnBwd<", ATTENTION_BACKWARD},
                 {"internode::dispatch", DISPATCH},
                 {"internode::combine", COMBINE}};

    for (size_t i = 0; i < DSE_COUNT(parts); i++)
        if (strstr(name, parts[i].part))
            return parts[i].is;
    return ELEMENTWISE;
}

static bool is_waiting(const char *name)
{
    return strstr(name, "notify") || strstr(name, "get_dispatch_layout");
}

/* What at least one of the calls takes: DeepSeek issues gradients of weights on two streams. */
static double covered_us(const sum *of)
{
    double us = 0;
    int64_t until = INT64_MIN;

    for (size_t i = 0; i < of->n; i++) { /* events of a rank are in the order of their starts */
        const int64_t from = of->start[i] > until ? of->start[i] : until;

        assert_true(!i || of->start[i] >= of->start[i - 1]);
        us += of->end[i] > from ? (double)(of->end[i] - from) / 1e6 : 0;
        until = of->end[i] > until ? of->end[i] : until;
    }
    return us;
}

static int by_start(const void *a, const void *b)
{
    const trace_event *const *x = a, *const *y = b;

    return ((*x)->start_ps > (*y)->start_ps) - ((*x)->start_ps < (*y)->start_ps);
}

/* *tokens: that came to the rank, in the mean of its calls: the kernel that adds up their copies has a block for
 * each. */
static void add_recorded(const trace_rank *r, sum out[N_CLASSES], double *tokens)
{
    const trace_event **event = DSE_ARENA_NEW(&arena, const trace_event *, r->n_events);
    uint32_t n = 0;

    *tokens = 0;
    for (int c = 0; c < N_CLASSES; c++) {
        out[c].start = DSE_ARENA_NEW(&arena, int64_t, r->n_events);
        out[c].end = DSE_ARENA_NEW(&arena, int64_t, r->n_events);
    }
    for (size_t i = 0; i < r->n_events; i++)
        event[i] = &r->event[i];
    qsort(event, r->n_events, sizeof *event, by_start);
    for (size_t i = 0; i < r->n_events; i++) {
        const trace_event *e = event[i];
        const char *name = r->names.text[e->name];
        sum *to = &out[recorded_class(name)];

        if (e->category != TRACE_KERNEL || is_waiting(name))
            continue;
        to->start[to->n] = e->start_ps;
        to->end[to->n++] = e->start_ps + e->dur_ps;
        if (strstr(name, "reduce_fused_impl") && e->args != DSE_NONE) {
            *tokens += round(r->args[e->args].blocks_per_sm * H800_SMS);
            n++;
        }
    }
    for (int c = 0; c < N_CLASSES; c++) {
        out[c].calls = (double)out[c].n / LAYERS;
        out[c].us = covered_us(&out[c]) / LAYERS;
    }
    assert_int_equal(n, 2 * LAYERS); /* before what combine sends, forward, and dispatch's backward pass */
    *tokens /= n;
}

/* ---- as simulated ------------------------------------------------------------------------------ */

static class simulated_class(const step_operation *op, bool is_of_weights)
{
    if (op->unit == STEP_UNIT_LAYER) /* of both ways, far and near; a class of its own by its module */
        return op->module->kind == &step_module_dispatch ? DISPATCH : COMBINE;
    if (wl_kernel_is_fused_attention(op->kernel.class))
        return op->kernel.class == WL_KERNEL_ATTENTION ? ATTENTION : ATTENTION_BACKWARD;
    if (!wl_kernel_is_product(op->kernel.class))
        return ELEMENTWISE;
    return op->module->kind == &step_module_router    ? ROUTER
           : is_of_weights                            ? WEIGHTS
           : op->module->kind == &step_module_grouped ? EXPERTS
                                                      : PRODUCTS;
}

static void add_simulated(const drv_training *t, const step_options *o, const step_program *p,
                          bool is_backward, bool is_of_weights, sum out[N_CLASSES])
{
    const step_ranks ranks = step_ranks_of(o, &arena);

    for (uint32_t i = 0; i < p->n; i++) {
        const step_operation *op = &p->operation[i];
        class c = simulated_class(op, is_of_weights);
        sim_alone alone = {.ticks = 0};

        if (op->unit == STEP_UNIT_LAYER) {
            assert_ok(step_clock_collective(t->clock, &ranks, &op->collective, &arena, &alone, &err), &err);
            if (is_backward) /* of dispatch the tokens come back, as of combine forward */
                c = c == DISPATCH ? COMBINE : DISPATCH;
            out[c].calls += op->collective.group == STEP_GROUP_EP_FAR;
        } else {
            alone.ticks = step_clock_kernel(t->clock, &op->kernel);
            out[c].calls++;
        }
        out[c].us += (double)alone.ticks / 1e3;
    }
}

/* *tokens: that come to a rank. */
static void simulate(sum out[N_CLASSES], double *tokens)
{
    cfg_setting npus = {"network.npus_count[1]", "8"};
    const cfg_settings settings = {1, &npus};
    strategy point = unit_point("64_1_1_1_0_micro_batch=1_zero=1_ep=64_dispatch=deepep_fp8_recipe=blockwise");
    drv_study study;
    step_options o;
    step_shape shape;
    step_program p;
    const step_block *block;

    assert_int_equal(setenv("CCLDSE_CONFIGS", TEST_SOURCE "/configs", 1), 0);
    assert_ok(drv_study_load("deepseek-v3", "hgx_h800", &settings, &arena, &study, &err), &err);
    o = drv_training_options(&study, &point);
    shape = step_shape_of(&study.training->model, &o);
    block = &study.training->model.block[study.training->model.layer[study.model.layers - 1]];
    step_program_forward(block, &shape, &arena, &p);
    for (uint32_t i = 0; i < p.n; i++)
        if (p.operation[i].unit == STEP_UNIT_LAYER && p.operation[i].collective.group == STEP_GROUP_EP_NEAR &&
            p.operation[i].module->kind == &step_module_combine)
            *tokens = (double)p.operation[i].collective.in_bytes / 2 / (double)study.model.d_model;
    add_simulated(study.training, &o, &p, false, false, out);
    step_program_backward(block, &shape, STEP_PART_INPUT, false, &arena, &p);
    add_simulated(study.training, &o, &p, true, false, out);
    step_program_backward(block, &shape, STEP_PART_WEIGHT, false, &arena, &p);
    add_simulated(study.training, &o, &p, true, true, out);
}

/* ---- both -------------------------------------------------------------------------------------- */

/* Errors of durations that are not exceeded, percent. Recorded products lack the 20 of 132 multiprocessors that DeepEP holds;
 * FlashAttention-3's kernels are faster than those that attention's law was fitted to; torch's casts, transposes and
 * copies are far more kernels than the step has. */
static const double most[N_CLASSES] = {[EXPERTS] = 8,  [PRODUCTS] = 22,  [WEIGHTS] = 30,
                                       [ROUTER] = 40,  [ATTENTION] = 32, [ATTENTION_BACKWARD] = 40,
                                       [DISPATCH] = 6, [COMBINE] = 15,   [ELEMENTWISE] = 45};

/* What is recorded more: up-projections of queries, keys and values made again; gradients expert by expert, of 4 for 2
 * matrices. */
static const double more_calls[N_CLASSES] = {[PRODUCTS] = 2, [WEIGHTS] = 2 * 4 - 2};

CLAIM(a_layer_of_deepseek_v3_is_as_recorded)
{
    sum recorded[N_CLASSES] = {{0}}, simulated[N_CLASSES] = {{0}};
    double came, comes = 0, all_recorded = 0, all_simulated = 0;
    const trace_reader *reader;
    trace_record record = {0};

    if (!dse_is_file(RECORDING))
        skip();
    dse_arena_init(&arena);
    err = (dse_error)DSE_ERROR_INIT;
    assert_ok(trace_reader_find(RECORDING, &reader, &err), &err);
    assert_ok(trace_read(reader, RECORDING, &record, &err), &err);
    assert_int_equal(record.n_ranks, 1);
    add_recorded(&record.rank[0], recorded, &came);
    simulate(simulated, &comes);
    print_message("tokens to a rank: %.0f recorded, %.0f simulated\n", came, comes);
    print_message(
        "| of a layer, forward and backward | calls recorded | simulated | us recorded | simulated |\n");
    for (int i = 0; i < N_CLASSES; i++) {
        const double off = 100 * (simulated[i].us / recorded[i].us - 1);

        print_message("| %s | %.0f | %.0f | %.0f | %.0f | %+.0f %%\n", class_name[i], recorded[i].calls,
                      simulated[i].calls, recorded[i].us, simulated[i].us, off);
        all_recorded += recorded[i].us;
        all_simulated += simulated[i].us;
        assert_true(fabs(off) < most[i]);
        if (i != ELEMENTWISE)
            assert_true(fabs(recorded[i].calls - simulated[i].calls - more_calls[i]) < 1e-9);
    }
    print_message("| all | | | %.0f | %.0f | %+.1f %%\n", all_recorded, all_simulated,
                  100 * (all_simulated / all_recorded - 1));
    assert_true(fabs(all_simulated / all_recorded - 1) < 0.1);
    assert_true(fabs(comes / came - 1) < 0.01);
    trace_record_free(&record);
    dse_arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_layer_of_deepseek_v3_is_as_recorded)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
