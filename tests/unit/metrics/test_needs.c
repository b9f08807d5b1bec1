#include "metrics/needs.h"
#include "metrics/registry.h"

#include "unit/unit.h"

/* Up to three ranks, each with a view of which a test says what it needs. */
typedef struct {
    dse_arena arena;
    trace_rank rank[3];
    trace_record record;
    metric_view view[3];
    trace_card card;
    metric_options options;
    metric_context x;
    dse_error err;
} world;

/* Ranks 0..n-1 of one kind, all at work from 0 to 1 us. */
static void begin(world *w, uint32_t n, trace_kind kind)
{
    memset(w, 0, sizeof *w);
    for (uint32_t i = 0; i < n; i++) {
        w->rank[i] = (trace_rank){.rank = i, .kind = kind, .path = "t/x.json", .all_last_ps = 1000000};
        w->view[i].rank = &w->rank[i];
    }
    w->record = (trace_record){.path = "t", .n_ranks = n, .rank = w->rank};
    /* Nothing given. */
    for (int64_t *v = &w->card.batch_size; v <= &w->card.output_len; v++)
        *v = TRACE_CARD_NONE;
    w->card.num_layers = w->card.num_heads = w->card.head_dim = TRACE_CARD_NONE;
    w->card.total_count = w->card.pp = TRACE_CARD_NONE;
    w->card.num_params = w->card.num_params_active = NAN;
    w->card.path = "t/card.yaml";
    w->x = (metric_context){
        .record = &w->record, .view = w->view, .n_views = n, .options = &w->options, .arena = &w->arena};
}

static dse_status check(world *w, unsigned needs)
{
    w->err = (dse_error)DSE_ERROR_INIT;
    return metric_check_needs(needs, &w->x, &w->err);
}

#define HOLDS(w, needs)        assert_ok(check((w), (needs)), &(w)->err)
#define LACKS(w, needs, words) assert_failure(check((w), (needs)), &(w)->err, DSE_E_ABSENT, "", (words))

/* ---- the trace ----------------------------------------------------------------------------- */

#define APART                                                                                                \
    "rank 0 ended before rank 1 began: they are not of one run, or their clocks differ (then --align end)"

CLAIM(ranks_are_two)
{
    world w;

    begin(&w, 1, TRACE_KINETO);
    LACKS(&w, METRIC_NEEDS_RANKS,
          "it compares ranks, and the trace has one; give a directory with a file a rank");
    w.rank[0].rank = 3;
    w.rank[0].world_size = 8;
    LACKS(&w, METRIC_NEEDS_RANKS,
          "it compares ranks, and only rank 3 of 8 is here; give the directory with the files of the others");
    begin(&w, 3, TRACE_KINETO);
    HOLDS(&w, METRIC_NEEDS_RANKS);
}

CLAIM(clocks_are_compared_unless_they_are_aligned)
{
    world w;

    begin(&w, 3, TRACE_KINETO);
    HOLDS(&w, METRIC_NEEDS_CLOCK);
    /* Rank 1 begins 1 us after its base, when the others have ended: on a clock that is 1 us ahead. */
    w.rank[1].base_ns = 1000;
    LACKS(&w, METRIC_NEEDS_CLOCK, APART);
    w.options.align = 2;
    HOLDS(&w, METRIC_NEEDS_CLOCK);
    w.options.align = 0;
    w.x.card = &w.card; /* a node each: aligned unless told otherwise */
    w.card.count_per_node = 1;
    HOLDS(&w, METRIC_NEEDS_CLOCK);
    w.options.align = 1;
    LACKS(&w, METRIC_NEEDS_CLOCK, APART);
    w.options.align = 0;
    w.card.count_per_node = 3;
    LACKS(&w, METRIC_NEEDS_CLOCK, APART);
    w.rank[1].base_ns = 999;
    HOLDS(&w, METRIC_NEEDS_CLOCK);
}

CLAIM(work_of_the_gpu_says_when_a_rank_was_at_work)
{
    world w;

    begin(&w, 2, TRACE_KINETO);
    w.view[0].gpu_span = (metric_span){0, 400000};
    w.view[1].gpu_span = (metric_span){500000, 900000};
    LACKS(&w, METRIC_NEEDS_CLOCK, APART);
}

CLAIM(steps_are_needed_on_every_rank)
{
    world w;

    begin(&w, 2, TRACE_KINETO);
    w.view[0].n_steps = 2;
    LACKS(&w, METRIC_NEEDS_STEPS,
          "rank 1 has no step markers (ProfilerStep#); record with a schedule and profiler.step(), or mark "
          "iterations "
          "with NVTX ranges for Nsight Systems");
    w.view[1].n_steps = 1;
    HOLDS(&w, METRIC_NEEDS_STEPS);
}

CLAIM(gpu_events_are_needed_on_every_rank)
{
    world w;

    begin(&w, 2, TRACE_KINETO);
    w.view[0].kernels.n = 1;
    LACKS(&w, METRIC_NEEDS_GPU,
          "rank 1 has no GPU events; record with ProfilerActivity.CUDA, or nsys --trace=cuda");
    w.rank[1].n_words = 1;
    w.rank[1].word[0] = trace_names_add(&w.rank[1].names, "mtia_runtime", strlen("mtia_runtime"));
    LACKS(&w, METRIC_NEEDS_GPU,
          "rank 1 ran on MTIA, and has no events of the device; record with ProfilerActivity.MTIA");
    trace_names_free(&w.rank[1].names);
    w.rank[1].n_words = 0;
    w.view[1].memory_ops.n = 1;
    HOLDS(&w, METRIC_NEEDS_GPU);
}

CLAIM(communication_is_needed_on_some_rank)
{
    world w;

    begin(&w, 2, TRACE_KINETO);
    LACKS(&w, METRIC_NEEDS_COMM,
          "nothing communicates: there is neither a communication kernel nor an nccl: range");
    w.view[1].comm.n = 1;
    HOLDS(&w, METRIC_NEEDS_COMM);
}

CLAIM(a_snapshot_is_one_with_an_allocator)
{
    trace_allocator a = {0};
    world w;

    begin(&w, 1, TRACE_SNAPSHOT);
    LACKS(&w, METRIC_NEEDS_SNAPSHOT,
          "there is no memory snapshot; record with torch.cuda.memory._record_memory_history() and put what "
          "_dump_snapshot() writes beside the traces");
    w.rank[0].allocator = &a;
    HOLDS(&w, METRIC_NEEDS_SNAPSHOT);
}

/* Gives a rank a lane of that process. */
static void add_lane(world *w, trace_rank *r, const char *process)
{
    r->lane = DSE_ARENA_NEW(&w->arena, trace_lane, 1);
    r->names.text = DSE_ARENA_NEW(&w->arena, const char *, 1);
    r->names.text[0] = process;
    r->lane[0] = (trace_lane){0, 0, 0, DSE_NONE};
    r->n_lanes = 1;
}

CLAIM(device_planes_say_how_many_chips_there_are)
{
    world w;

    begin(&w, 1, TRACE_XLA);
    add_lane(&w, &w.rank[0], "/host:CPU");
    w.rank[0].names.text[0] = "/device:TPU:3";
    HOLDS(&w, METRIC_NEEDS_CHIPS);
    dse_arena_free(&w.arena);
}

/* ---- the card ------------------------------------------------------------------------------ */

#define NO_CARD                                                                                              \
    "there is no workload card; write workload_card.yaml beside the traces, or name one with --card"

CLAIM(a_card_is_needed)
{
    world w;

    begin(&w, 1, TRACE_KINETO);
    LACKS(&w, METRIC_NEEDS_CARD, NO_CARD);
    w.x.card = &w.card;
    HOLDS(&w, METRIC_NEEDS_CARD);
}

CLAIM(tokens_are_a_batch_of_sequences)
{
    world w;

    begin(&w, 1, TRACE_KINETO);
    LACKS(&w, METRIC_NEEDS_TOKENS, NO_CARD " (it takes batch_size and seq_len from it)");
    w.x.card = &w.card;
    LACKS(&w, METRIC_NEEDS_TOKENS,
          "the workload card 't/card.yaml' lacks workload.data.batch_size, workload.data.seq_len");
    w.card.batch_size = 4;
    LACKS(&w, METRIC_NEEDS_TOKENS, "the workload card 't/card.yaml' lacks workload.data.seq_len");
    w.card.output_len = 128; /* of training it says nothing */
    LACKS(&w, METRIC_NEEDS_TOKENS, "the workload card 't/card.yaml' lacks workload.data.seq_len");
    w.card.phase = TRACE_PHASE_INFERENCE;
    HOLDS(&w, METRIC_NEEDS_TOKENS);
    w.card.phase = TRACE_PHASE_TRAINING;
    w.card.seq_len = 512;
    HOLDS(&w, METRIC_NEEDS_TOKENS);
}

CLAIM(a_pipeline_has_two_stages_unless_it_is_forced)
{
    world w;

    begin(&w, 1, TRACE_KINETO);
    LACKS(&w, METRIC_NEEDS_PIPELINE,
          NO_CARD " (its pp says whether there is a pipeline); --force does without");
    w.x.card = &w.card;
    LACKS(&w, METRIC_NEEDS_PIPELINE,
          "the workload card 't/card.yaml' lacks Model-executor.model_plan_parallelization.pp; --force does "
          "without");
    w.card.pp = 1;
    LACKS(&w, METRIC_NEEDS_PIPELINE,
          "there is no pipeline: pp is 1 in the workload card; --force computes it nevertheless");
    w.options.force = true;
    HOLDS(&w, METRIC_NEEDS_PIPELINE);
    w.options.force = false;
    w.card.pp = 2;
    HOLDS(&w, METRIC_NEEDS_PIPELINE);
}

CLAIM(a_count_of_nothing_needs_a_device_that_was_recorded)
{
    world w;

    begin(&w, 1, TRACE_KINETO);
    LACKS(&w, METRIC_NEEDS_EVIDENCE,
          "rank 0 has no GPU events; record with ProfilerActivity.CUDA, or nsys --trace=cuda");
    w.view[0].comm.n = 1;
    HOLDS(&w, METRIC_NEEDS_EVIDENCE);
    w.view[0].comm.n = 0;
    w.view[0].kernels.n = 1;
    HOLDS(&w, METRIC_NEEDS_EVIDENCE);
}

/* Planes whose lines mean nothing known are named; what the host says is no device's work. */
CLAIM(xla_s_operations_are_of_tpus_and_gpus)
{
    world w;

    begin(&w, 1, TRACE_XLA);
    w.rank[0].path = (char[]){"run.json"};
    add_lane(&w, &w.rank[0], "/host:CPU");
    LACKS(&w, METRIC_NEEDS_EVIDENCE,
          "'run.json' has no operations of a TPU or a GPU; record while one works");
    w.rank[0].names.text[0] = "/device:MTIA:0";
    LACKS(&w, METRIC_NEEDS_EVIDENCE,
          "'run.json' has no operations of a TPU or a GPU, but of /device:MTIA:0; record while one works");
    dse_arena_free(&w.arena);
}

CLAIM(training_is_what_is_not_said_to_be_inference)
{
    world w;

    begin(&w, 1, TRACE_KINETO);
    HOLDS(&w, METRIC_NEEDS_TRAINING);
    w.options.phase = TRACE_PHASE_INFERENCE;
    LACKS(&w, METRIC_NEEDS_TRAINING,
          "it is of training, and this is inference, as --phase says; --force computes it nevertheless");
    w.options.force = true;
    HOLDS(&w, METRIC_NEEDS_TRAINING);
}

CLAIM(a_model_has_its_size_and_its_devices)
{
    world w;

    begin(&w, 1, TRACE_KINETO);
    LACKS(&w, METRIC_NEEDS_MODEL, NO_CARD " (it takes the model's size from it)");
    w.x.card = &w.card;
    LACKS(
        &w, METRIC_NEEDS_MODEL,
        "the workload card 't/card.yaml' lacks workload.model.model_arch.num_params (or num_params_active), "
        "num_layers, num_heads, head_dim, workload.hardware.xpu_spec.total_count, "
        "workload.hardware.xpu_spec.model");
    w.card.num_params_active = 1e9;
    w.card.num_layers = w.card.num_heads = w.card.head_dim = w.card.total_count = 1;
    LACKS(&w, METRIC_NEEDS_MODEL, "the workload card 't/card.yaml' lacks workload.hardware.xpu_spec.model");
    w.card.xpu_model = "nvidia_a100";
    HOLDS(&w, METRIC_NEEDS_MODEL);
}

CLAIM(inference_is_what_the_option_or_the_card_says)
{
    world w;

    begin(&w, 1, TRACE_KINETO);
    LACKS(&w, METRIC_NEEDS_INFERENCE,
          "it is of inference, and nothing says that this is; --phase inference, or workload.model.phase of "
          "a workload "
          "card, does");
    w.options.phase = TRACE_PHASE_INFERENCE;
    HOLDS(&w, METRIC_NEEDS_INFERENCE);
    w.x.card = &w.card;
    w.card.phase = TRACE_PHASE_TRAINING;
    HOLDS(&w, METRIC_NEEDS_INFERENCE);
    w.options.phase = TRACE_PHASE_UNKNOWN;
    LACKS(&w, METRIC_NEEDS_INFERENCE, "it is of inference, and this is training, as the workload card says");
    w.options.phase = TRACE_PHASE_TRAINING;
    LACKS(&w, METRIC_NEEDS_INFERENCE, "it is of inference, and this is training, as --phase says");
    w.options.phase = TRACE_PHASE_UNKNOWN;
    w.card.phase = TRACE_PHASE_INFERENCE;
    HOLDS(&w, METRIC_NEEDS_INFERENCE);
}

CLAIM(chips_are_counted_by_the_option_the_card_or_the_planes)
{
    world w;

    begin(&w, 1, TRACE_XLA);
    LACKS(&w, METRIC_NEEDS_CHIPS,
          "neither the trace nor a workload card says how many chips there are; --n_chips does");
    w.x.card = &w.card;
    LACKS(&w, METRIC_NEEDS_CHIPS,
          "neither the trace nor a workload card says how many chips there are; --n_chips does");
    w.card.total_count = 4;
    HOLDS(&w, METRIC_NEEDS_CHIPS);
    w.x.card = NULL;
    w.options.n_chips = 4;
    HOLDS(&w, METRIC_NEEDS_CHIPS);
}

/* ---- kinds --------------------------------------------------------------------------------- */

static uint32_t seen_views, seen_ranks;
static trace_kind seen_kind;

static dse_status note(const metric_context *x, metric_value *out, dse_error *err)
{
    (void)out, (void)err;
    seen_views = x->n_views;
    seen_ranks = x->record->n_ranks;
    seen_kind = x->n_views ? x->view[0].rank->kind : TRACE_KINDS;
    assert_string_equal(x->record->path, "t");
    for (uint32_t i = 0; i < x->n_views; i++) {
        assert_ptr_equal(x->view[i].rank, &x->record->rank[i]);
        assert_int_equal(x->view[i].rank->rank, i);
    }
    return DSE_OK;
}

static dse_status compute(world *w, const metric *m)
{
    metric_value *v;

    w->err = (dse_error)DSE_ERROR_INIT;
    seen_views = seen_ranks = DSE_NONE;
    return metric_compute(m, &w->x, &v, &w->err);
}

CLAIM(a_metric_sees_the_ranks_of_its_kinds_alone)
{
    metric gpu = {.name = "gpu", .kinds = METRIC_ON_GPU, .compute = note};
    metric memory = {.name = "memory", .kinds = METRIC_ON(TRACE_SNAPSHOT), .compute = note};
    metric any = {.name = "any", .kinds = METRIC_ON_ANY, .compute = note};
    world w;

    begin(&w, 3, TRACE_KINETO);
    w.rank[2].kind = TRACE_SNAPSHOT;
    w.rank[2].rank = 0;
    assert_ok(compute(&w, &gpu), &w.err);
    assert_true(seen_views == 2 && seen_ranks == 2 && seen_kind == TRACE_KINETO);
    assert_ok(compute(&w, &memory), &w.err);
    assert_true(seen_views == 1 && seen_ranks == 1 && seen_kind == TRACE_SNAPSHOT);
    w.rank[2].rank = 2;
    assert_ok(compute(&w, &any), &w.err);
    assert_true(seen_views == 3 && seen_ranks == 3);
    dse_arena_free(&w.arena);
}

CLAIM(a_metric_refuses_other_kinds_and_says_which_it_takes)
{
    metric gpu = {.name = "gpu", .kinds = METRIC_ON_GPU, .compute = note};
    metric memory = {.name = "memory", .kinds = METRIC_ON(TRACE_SNAPSHOT), .compute = note};
    world w;

    begin(&w, 1, TRACE_NSYS_CSV);
    assert_failure(compute(&w, &gpu), &w.err, DSE_E_ABSENT, "",
                   "it is not defined for an Nsight Systems report; it takes Kineto traces, simulated runs, "
                   "GPU XLA traces, Nsight Systems exports");
    assert_int_equal(seen_views, DSE_NONE);
    w.rank[0].kind = TRACE_ET;
    assert_failure(compute(&w, &memory), &w.err, DSE_E_ABSENT, "",
                   "it is not defined for an execution trace; it takes memory snapshots");
    dse_arena_free(&w.arena);
}

CLAIM(the_original_rules_have_kinds_of_their_own)
{
    metric m = {.name = "m",
                .kinds = METRIC_ON(TRACE_XLA),
                .needs = METRIC_NEEDS_CARD, /* which they do not ask for */
                .compat_kinds = METRIC_ON(TRACE_XLA) | METRIC_ON(TRACE_KINETO),
                .compute = note,
                .compat = note};
    world w;

    begin(&w, 1, TRACE_KINETO);
    assert_failure(
        compute(&w, &m), &w.err, DSE_E_ABSENT, "",
        "it is not defined for a Kineto trace; it takes XLA traces; with --compat it is the original "
        "rule, which takes this one");
    w.options.compat = true;
    assert_ok(compute(&w, &m), &w.err);
    assert_int_equal(seen_views, 1);
    dse_arena_free(&w.arena);
}

CLAIM(without_a_trace_only_side_files_are_measured)
{
    metric gpu = {.name = "gpu", .kinds = METRIC_ON(TRACE_KINETO), .compute = note};
    metric logs = {.name = "logs", .kinds = METRIC_ON(TRACE_KINETO) | METRIC_ON_NONE, .compute = note};
    world w;

    begin(&w, 0, TRACE_KINETO);
    assert_failure(compute(&w, &gpu), &w.err, DSE_E_ABSENT, "", "no trace in 't'; it takes Kineto traces");
    assert_ok(compute(&w, &logs), &w.err);
    assert_int_equal(seen_views, 0);
    dse_arena_free(&w.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_are_two),
        cmocka_unit_test(clocks_are_compared_unless_they_are_aligned),
        cmocka_unit_test(work_of_the_gpu_says_when_a_rank_was_at_work),
        cmocka_unit_test(steps_are_needed_on_every_rank),
        cmocka_unit_test(gpu_events_are_needed_on_every_rank),
        cmocka_unit_test(communication_is_needed_on_some_rank),
        cmocka_unit_test(a_snapshot_is_one_with_an_allocator),
        cmocka_unit_test(device_planes_say_how_many_chips_there_are),
        cmocka_unit_test(a_card_is_needed),
        cmocka_unit_test(tokens_are_a_batch_of_sequences),
        cmocka_unit_test(a_pipeline_has_two_stages_unless_it_is_forced),
        cmocka_unit_test(a_count_of_nothing_needs_a_device_that_was_recorded),
        cmocka_unit_test(xla_s_operations_are_of_tpus_and_gpus),
        cmocka_unit_test(training_is_what_is_not_said_to_be_inference),
        cmocka_unit_test(a_model_has_its_size_and_its_devices),
        cmocka_unit_test(inference_is_what_the_option_or_the_card_says),
        cmocka_unit_test(chips_are_counted_by_the_option_the_card_or_the_planes),
        cmocka_unit_test(a_metric_sees_the_ranks_of_its_kinds_alone),
        cmocka_unit_test(a_metric_refuses_other_kinds_and_says_which_it_takes),
        cmocka_unit_test(the_original_rules_have_kinds_of_their_own),
        cmocka_unit_test(without_a_trace_only_side_files_are_measured),
    };
    return RUN_TESTS(tests);
}
