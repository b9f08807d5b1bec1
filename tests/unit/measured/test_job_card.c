/* Workload cards as jobs. */
#include "measured/job.h"
#include "unit/unit.h"

#define NONE MSR_JOB_NONE

static dse_arena arena;
static dse_error err;
static msr_job job;

static dse_status read_job(const char *text)
{
    trace_card card;
    trace_record notes = {0};
    cfg_doc doc;
    dse_status st;

    dse_arena_reset(&arena);
    err = (dse_error)DSE_ERROR_INIT;
    st = cfg_parse_yaml("card.yaml", text, strlen(text), &arena, &doc, &err);
    if (st == DSE_OK)
        st = trace_card_read(&doc, &arena, &card, &notes, &err);
    assert_ok(st, &err);
    trace_record_free(&notes);
    return msr_job_of_card(&card, "run", &job, &err);
}

#define DEGREES "{dp_replicate: 2, dp_shard: 3, tp: 4, pp: 5, cp: 6, pp_mb: 7, rank_order: \"tp,pp,dp\"}"

CLAIM(a_card_is_a_job)
{
    assert_ok(
        read_job(
            "workload:\n"
            "  model: {phase: training, moe: false, granularity: model_fwd_bwd_pass, model_family: f,\n"
            "    precision: bf16, model_arch: {num_params: 1000, num_params_embedding: 10, num_layers: 3,\n"
            "    num_heads: 8, head_dim: 16}}\n"
            "  data: {batch_size: 12, seq_len: 64}\n"
            "  hardware: {xpu_spec: {type: GPU, model: nvidia_a100, total_count: 720, count_per_node: 8}}\n"
            "Model-executor:\n  framework: {name: torchtitan}\n  model_plan_parallelization: " DEGREES "\n"),
        &err);
    assert_string_equal(job.name, "run");
    assert_string_equal(job.where, "card.yaml");
    assert_string_equal(job.family, "f");
    assert_string_equal(job.precision, "bf16");
    assert_string_equal(job.device, "nvidia_a100");
    assert_string_equal(job.rank_order, "tp,pp,dp");
    assert_true(job.dp == 6 && job.dp_replicate == 2 && job.dp_shard == 3 && job.tp == 4 && job.pp == 5 &&
                job.cp == 6);
    assert_true(job.ep == NONE && job.micro_batches == 7 && job.micro_batch == NONE);
    assert_true(job.batch == 12 && job.sequence == 64 && job.layers == 3 && job.heads == 8 &&
                job.head_dim == 16);
    assert_true(job.n_devices == 720 && job.devices_per_node == 8 && job.moe == 0);
    assert_double(job.num_params, 1000);
    assert_double(job.num_params_embedding, 10);
    assert_double(job.step_time_s, NAN);
    assert_true(job.phase == TRACE_PHASE_TRAINING && job.recompute == MSR_RECOMPUTE_UNKNOWN);
    assert_null(job.not_measured);
}

CLAIM(what_the_card_leaves_out_is_absent)
{
    assert_ok(
        read_job("Model-executor:\n  model_plan_parallelization: {dp_replicate: 1, dp_shard: 1, tp: 1, pp: "
                 "1, cp: 1}\n"),
        &err);
    assert_true(job.batch == NONE && job.sequence == NONE && job.layers == NONE && job.n_devices == NONE);
    assert_null(job.family);
    assert_null(job.precision);
    assert_null(job.device);
    assert_double(job.num_params, NAN);
}

/* Each degree in turn. */
CLAIM(a_card_that_lacks_a_degree_is_refused)
{
    static const char *const degrees[] = {"dp_replicate", "dp_shard", "tp", "pp", "cp"};

    for (size_t missing = 0; missing < 5; missing++) {
        char text[256] = "Model-executor:\n  model_plan_parallelization: {pp_mb: 1", message[256];
        dse_status st;

        for (size_t i = 0; i < 5; i++)
            if (i != missing)
                snprintf(text + strlen(text), sizeof text - strlen(text), ", %s: 1", degrees[i]);
        strcat(text, "}\n");
        snprintf(
            message, sizeof message,
            "the card lacks '%s' (Model-executor.model_plan_parallelization); add it, 1 if it is not used",
            degrees[missing]);
        st = read_job(text);
        assert_failure(st, &err, DSE_E_CONFIG, "card.yaml", message);
    }
}

static int close_arena(void **state)
{
    (void)state;
    dse_arena_free(&arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_card_is_a_job),
        cmocka_unit_test(what_the_card_leaves_out_is_absent),
        cmocka_unit_test(a_card_that_lacks_a_degree_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, close_arena);
}
