/* DeepSpeed's estimators, runtime/zero/stage_1_and_2.py (zero2), stage3.py (zero3) and
 * autotuning/autotuner.py. They are for the states of a model of so many parameters, in bytes for each:
 *
 *               parameters  gradients  optimizer
 *   ours        2           4          12         by default; each /n from its stage on
 *   zero2       2           6/n        12/n       gradients in 16 bits lie beside those in 32
 *   zero3       2/n         4/n        12/n       and 2 + 2 for the largest layer, and its gradients
 *   autotuner   2           2          16         each /n from its stage on; gradients in 32 bits count with
 *                                                 the optimizer. In 32 bits 4, 4, 8
 *
 * What is offloaded is not on the rank. Memory of the host is not modelled. */
#include "memory/references.h"

/* A model of one matrix of so many elements. */
static step_model matrix_model(uint64_t elements, dse_arena *a)
{
    step_model m = {.n_layers = 1, .n_blocks = STEP_LAYER + 1, .hidden = 1, .sequence = 1};
    step_block *b = &m.block[STEP_LAYER];

    *b = (step_block){.n = 1, .n_parameters = 1};
    b->module = DSE_ARENA_NEW(a, step_module, 1);
    b->module[0] = (step_module){
        .name = "matrix", .kind = &step_module_linear, .n_parts = 1, .in = 1, .out = {elements}};
    b->parameter = DSE_ARENA_NEW(a, step_parameter, 1);
    b->parameter[0] = (step_parameter){.rows = elements, .columns = 1};
    return m;
}

static double states(uint64_t elements, const step_options *o, dse_arena *a, step_rank_memory *r)
{
    step_model m = matrix_model(elements, a);
    sched_plan plan;

    run_memory(&m, o, 0, a, &plan, r);
    return (double)r->fixed;
}

static double check_zero(const json_t *row, step_options *o, dse_arena *a)
{
    bool offloads = flag_of(row, "cpu_offload"), offloads_parameters = flag_of(row, "cpu_offload_params");
    step_rank_memory r;

    o->gradient_bytes = offloads ? 0 : o->zero == 2 ? 6 : 4;
    o->optimizer_bytes = offloads ? 0 : 12;
    o->kept_weight_bytes = offloads_parameters && offloads ? 0 : 2;
    return states((uint64_t)number_of(row, "total_params"), o, a, &r);
}

void check_deepspeed(const json_t *row, const json_t *inputs, tally *t)
{
    const char *fn = text_of(row, "fn"), *id = text_of(row, "id");
    step_options o = plain_options();
    dse_arena a = {0};
    step_rank_memory r;
    double theirs, ours;
    uint64_t elements = (uint64_t)number_of(row, "total_params");

    (void)inputs;
    o.dp = whole_of(row, "gpus_per_node") * whole_of(row, "nodes");
    if (fn[0] == 'z') {
        bool is_zero2 = fn[4] == '2';
        const json_t *out = json_object_get(row, is_zero2 ? "out_cpu_gpu" : "out_cpu_gpu_largest");
        step_options usual = plain_options();

        o.zero = is_zero2 ? 2 : 3;
        theirs = json_number_value(json_array_get(out, 1));
        ours = check_zero(row, &o, &a);
        if (!is_zero2) { /* the largest layer: its parameters and their gradients, which our walk has, too */
            step_rank_memory layer;

            states((uint64_t)number_of(row, "largest_layer_params"), &o, &a, &layer);
            ours += o.weight_bytes * 2 * number_of(row, "largest_layer_params");
            same(t, id, "gathered parameters of the largest layer, copied out",
                 (double)layer.held[STEP_HOLDS_GATHERED_PARAMETERS] +
                     (double)layer.held[STEP_HOLDS_UNREDUCED] -
                     o.reduce_bytes * number_of(row, "largest_layer_params"),
                 o.weight_bytes * number_of(row, "largest_layer_params"), 0);
        }
        same(t, id, fn, ours, theirs, 18); /* a rank's share is rounded up */
        if (is_zero2 && !flag_of(row, "cpu_offload")) {
            usual.dp = o.dp, usual.zero = 2;
            same(t, id, "zero2 without gradients in 16 bits", states(elements, &usual, &a, &r),
                 theirs - 2.0 * (double)elements / o.dp, 18);
            count(t, "zero2 has 2/n bytes of 16-bit gradients more than ours by default");
        }
        count(t, "memory of the host is not modelled");
    } else {
        uint32_t mp = whole_of(row, "mp_size");

        o.zero = whole_of(row, "zero_stage");
        o.kept_weight_bytes = o.weight_bytes = o.gradient_bytes = flag_of(row, "fp16") ? 2 : 4;
        o.optimizer_bytes = flag_of(row, "fp16") ? 16 : 8;
        same(t, id, "autotuner", states(elements, &o, &a, &r) / mp, number_of(row, "bytes_per_gpu"), 24);
        if (flag_of(row, "fp16")) {
            double n = o.dp, of_gradients = o.zero >= 2 ? n : 1, of_optimizer = o.zero >= 1 ? n : 1;

            o.gradient_bytes = 4, o.optimizer_bytes = 12;
            same(t, id, "autotuner with gradients in 32 bits", states(elements, &o, &a, &r) / mp,
                 number_of(row, "bytes_per_gpu") +
                     (2.0 / of_gradients - 4.0 / of_optimizer) * (double)elements / mp,
                 24);
            count(t,
                  "autotuner counts 32-bit gradients with the optimizer: 4 there, 2 less with the gradients");
        }
    }
    dse_arena_free(&a);
}
