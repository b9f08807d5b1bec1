/* A job's plan on a machine: the part of it that the job has, and a text that the result can be made from again. */
#include "measured/plan.h"
#include "unit/unit.h"

static const msr_plan_options as_said = {.recompute = -1};
static dse_arena arena;
static dse_error err;
static msr_job job;
static msr_plan plan;
static card_system machine;
static drv_study study;

/* dp 2 * tp 2 on nodes of eight A100. */
static void begin(void)
{
    const char *stem;

    dse_arena_reset(&arena);
    err = (dse_error)DSE_ERROR_INIT;
    msr_job_clear(&job);
    job.name = "run";
    job.where = "m.json: row 1";
    job.layers = 2;
    job.d_model = 64;
    job.d_ff = 256;
    job.heads = 4;
    job.vocabulary = 100;
    job.batch = 8;
    job.micro_batches = 1;
    job.sequence = 32;
    job.precision = "bf16";
    job.recompute = MSR_RECOMPUTE_NONE;
    job.dp = job.dp_replicate = job.tp = 2;
    job.dp_shard = job.pp = job.cp = job.ep = 1;
    job.framework = "megatron-lm";
    job.zero_stage = 3;
    job.sequence_parallel = 0;
    job.n_devices = 4;
    job.device = "NVIDIA A100 80GB";
    assert_ok(drv_system_load("selene_a100_80gb", NULL, &arena, &machine, &stem, &err), &err);
}

/* How much was taken for granted, besides the operators that a model of mere sizes gets. */
static size_t count_assumed(void)
{
    static const char operators[] = "the operators of ";
    size_t n = 0;

    for (size_t i = 0; i < plan.n_assumed; i++)
        n += strncmp(plan.assumed[i], operators, sizeof operators - 1) != 0;
    return n;
}

static dse_status make(const msr_plan_options *o)
{
    assert_ok(msr_plan_make(&job, o, &arena, &plan, &err), &err);
    assert_true(plan.can_run);
    return msr_plan_study(&plan, &machine, "selene", o, &arena, &study, &err);
}

/* A job of sixteen in nodes of four, on a machine whose nodes have eight: fewer of its messages cross nodes. */
CLAIM(nodes_of_another_size_are_said)
{
    begin();
    job.dp = job.dp_replicate = 8;
    job.n_devices = 16;
    job.devices_per_node = 4;
    assert_ok(make(&as_said), &err);
    assert_int_equal(count_assumed(), 1);
    assert_string_equal(plan.assumed[plan.n_assumed - 1],
                        "nodes of 8 devices, as selene has; the run had nodes of 4");
    begin(); /* within a node it makes no difference */
    job.devices_per_node = 4;
    assert_ok(make(&as_said), &err);
    assert_int_equal(count_assumed(), 0);
}

CLAIM(a_job_gets_its_part_of_the_machine)
{
    begin();
    assert_ok(make(&as_said), &err);
    assert_true(plan.can_run && plan.n_gaps == 0 && count_assumed() == 0);
    assert_u64(card_system_npus(&study.system), 4);
    assert_int_equal(study.system.topology.n, 1);
    assert_string_equal(study.model_name, "2x64");
    assert_string_equal(study.system_name, "selene");
    assert_string_equal(study.settings, "");
    assert_int_equal(study.model.batch, 8);
}

/* From the text alone: the same study, the same point, the same step time. */
CLAIM(the_study_can_be_made_again_from_its_text)
{
    store_metrics first, again;
    strategy point;
    drv_study read;
    dse_strbuf text;

    begin();
    assert_ok(make(&as_said), &err);
    dse_strbuf_init(&text);
    drv_study_write_config(&study, &plan.point, &text);
    assert_ok(drv_study_read_config(text.data, text.len, &arena, &read, &point, &err), &err);
    dse_strbuf_free(&text);
    assert_ok(drv_point_run(&study, &plan.point, &arena, &first, &err), &err);
    assert_ok(drv_point_run(&read, &point, &arena, &again, &err), &err);
    assert_true(first.wall_time > 0);
    assert_u64(again.wall_time, first.wall_time);
    assert_u64(again.peak_memory, first.peak_memory);
}

/* The link between nodes is set on the machine, of which this job has one node. */
CLAIM(settings_go_over_the_model_and_the_whole_machine)
{
    const char *const words[] = {"layers=3", "compute.peak_perf=100", "network.bandwidth[1]=7"};
    cfg_settings settings;
    msr_plan_options o = {.recompute = -1, .settings = &settings};

    begin();
    assert_ok(drv_settings_parse(words, 3, &arena, &settings, &err), &err);
    assert_ok(make(&o), &err);
    assert_int_equal(study.model.layers, 3);
    assert_double(study.system.peak_perf, 100);
    assert_int_equal(study.system.bandwidth.n, 1);
    assert_string_equal(study.settings, "compute.peak_perf=100 layers=3 network.bandwidth[1]=7");
    job.dp = job.dp_replicate = 8; /* two nodes */
    job.n_devices = 16;
    assert_ok(make(&o), &err);
    assert_int_equal(study.system.bandwidth.n, 2);
    assert_double(study.system.bandwidth.v[1], 7);
}

CLAIM(another_device_is_a_gap)
{
    begin();
    job.device = "H100 SXM 96GB";
    assert_ok(make(&as_said), &err);
    assert_false(plan.can_run);
    assert_int_equal(plan.n_gaps, 1);
    assert_int_equal(plan.gap[0].kind, MSR_GAP_OTHER_DEVICE);
    assert_string_equal(plan.gap[0].text, "measured on 'H100 SXM 96GB'; selene has 'nvidia_a100'");
    assert_null(msr_gap_rows[MSR_GAP_OTHER_DEVICE].substitute);
}

CLAIM(a_device_that_is_not_said_is_taken_for_the_machines)
{
    begin();
    job.device = NULL;
    assert_ok(make(&as_said), &err);
    assert_true(plan.can_run);
    assert_int_equal(count_assumed(), 1);
    assert_string_equal(plan.assumed[plan.n_assumed - 1],
                        "the device is that of selene: the source does not say");
}

/* The job has a batch of 8 and sequences of 32. */
CLAIM(work_that_is_set_over_that_of_the_job_is_said)
{
    const char *const texts[] = {"batch=16", "sequence=32"};
    cfg_settings settings;
    msr_plan_options o = as_said;

    begin();
    assert_ok(drv_settings_parse(texts, 2, &arena, &settings, &err), &err);
    o.settings = &settings;
    assert_ok(make(&o), &err);
    assert_int_equal(study.model.batch, 16);
    assert_int_equal(count_assumed(), 1);
    assert_string_equal(plan.assumed[plan.n_assumed - 1], "batch 16 is set: the source says 8");
}

CLAIM(a_machine_that_is_too_small_is_refused)
{
    dse_status st;

    begin();
    job.dp = job.dp_replicate = 16384;
    job.batch = 16384;
    job.n_devices = 32768;
    st = make(&as_said);
    assert_int_equal(st, DSE_E_RANGE);
    assert_non_null(strstr(err.text, "32768"));
}

/* 6 layers and 2 embeddings in 4 stages. */
CLAIM(a_partition_of_the_layers_is_the_sources)
{
    begin();
    job.layers = 6;
    job.dp = job.dp_replicate = job.tp = 1;
    job.zero_stage = MSR_JOB_NONE;
    job.pp = 4;
    job.schedule = "1F1B";
    assert_ok(make(&as_said), &err);
    assert_true(plan.can_run);
    assert_string_equal(plan.assumed[plan.n_assumed - 1],
                        "one layer fewer in the first and in the last of 4 stages, as 6 layers do not divide: the source "
                        "does not say");
    job.partition = "type:transformer|embedding: each embedding counts as a layer";
    assert_ok(make(&as_said), &err);
    assert_true(plan.can_run);
    assert_string_equal(plan.assumed[plan.n_assumed - 1],
                        "one layer fewer in the first and in the last of 4 stages, as the source's partition counts each "
                        "embedding as a layer");
    job.partition = "parameters";
    assert_ok(make(&as_said), &err);
    assert_false(plan.can_run);
    assert_int_equal(plan.gap[0].kind, MSR_GAP_UNKNOWN_FACT);
    assert_string_equal(plan.gap[0].text, "what the pipeline's partition 'parameters' makes of 6 layers in 4 stages");
    job.layers = 8;
    job.partition = "uniform";
    assert_ok(make(&as_said), &err);
    assert_true(plan.can_run);
}

/* "B200 (power limited)"; but "TPU v6e (Trillium)" has two names. */
CLAIM(words_behind_a_device_are_noted)
{
    begin();
    job.device = "A100 (power limited)";
    assert_ok(make(&as_said), &err);
    assert_true(plan.can_run);
    assert_int_equal(count_assumed(), 1);
    assert_string_equal(plan.assumed[plan.n_assumed - 1], "the source says: power limited; not modelled");
    job.device = "NVIDIA A100 (a100)";
    assert_ok(make(&as_said), &err);
    assert_int_equal(count_assumed(), 0);
}

static int open_configs(void **state)
{
    (void)state;
    return setenv("CCLDSE_CONFIGS", TEST_SOURCE "/configs", 1);
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
        cmocka_unit_test(nodes_of_another_size_are_said),
        cmocka_unit_test(a_job_gets_its_part_of_the_machine),
        cmocka_unit_test(the_study_can_be_made_again_from_its_text),
        cmocka_unit_test(settings_go_over_the_model_and_the_whole_machine),
        cmocka_unit_test(another_device_is_a_gap),
        cmocka_unit_test(a_device_that_is_not_said_is_taken_for_the_machines),
        cmocka_unit_test(work_that_is_set_over_that_of_the_job_is_said),
        cmocka_unit_test(a_partition_of_the_layers_is_the_sources),
        cmocka_unit_test(words_behind_a_device_are_noted),
        cmocka_unit_test(a_machine_that_is_too_small_is_refused),
    };

    return cmocka_run_group_tests(tests, open_configs, close_arena);
}
