/* Texts of jobs made by hand: what goes with no shipped card. What goes with them is tests/launch's and tests/cli's. */
#include "launch/launch.h"

#include "unit/unit.h"

/* A small Llama on two machines of 8. */
static launch_job small_job(const char *program)
{
    launch_job j = {.model = "small",
                    .system = "two",
                    .layers = 14,
                    .hidden = 1024,
                    .ffn = 4096,
                    .heads = 16,
                    .kv_heads = 4,
                    .head_size = 64,
                    .vocabulary = 32768,
                    .sequence = 2048,
                    .batch = 32,
                    .activation = LAUNCH_SWIGLU,
                    .is_rms = true,
                    .is_rotary = true,
                    .rotary_base = NAN,
                    .ep = 1,
                    .etp = 1,
                    .precision = LAUNCH_MIXED,
                    .nodes = 2,
                    .per_node = 8,
                    .point = strategy_default()};

    strategy_parse(&strategy_parameters[STRATEGY_like], "like", launch_find(program)->like, &j.point.like,
                   NULL);
    return j;
}

static void assert_has(const launch_job *j, const char *program, const char *text, bool has)
{
    dse_strbuf out;

    dse_strbuf_init(&out);
    assert_int_equal(launch_write(j, launch_find(program), &out, NULL), DSE_OK);
    if ((strstr(out.data, text) != NULL) != has)
        fail_msg("%s of '%s' in\n%s", has ? "nothing" : "there is something", text, out.data);
    dse_strbuf_free(&out);
}

static void assert_refused(const launch_job *j, const char *program, const char *text)
{
    dse_error err = DSE_ERROR_INIT;
    dse_strbuf out;

    dse_strbuf_init(&out);
    dse_strbuf_adds(&out, "before");
    assert_int_equal(launch_write(j, launch_find(program), &out, &err), DSE_E_RANGE);
    assert_string_equal(err.text, text);
    assert_string_equal(out.data, "before");
    dse_strbuf_free(&out);
}

/* 14 layers on 8 stages: with the embedding and the head 16, 2 a stage; 12 layers on 4 are 3 each. */
CLAIM(ends_count_where_stages_are_not_equal)
{
    launch_job j = small_job("megatron");

    j.point.pp = 4;
    j.point.vp = 2;
    j.point.dp = 4;
    assert_has(&j, "megatron", "--num-layers-per-virtual-pipeline-stage 2 ", true);
    assert_has(&j, "megatron", "--account-for-embedding-in-pipeline-split", true);
    assert_has(&j, "megatron", "--account-for-loss-in-pipeline-split", true);
    assert_has(&j, "bridge", "model.account_for_loss_in_pipeline_split=true", true);
    j.point.zero = 3;
    assert_has(&j, "torchtitan-toml", "pipeline_parallel_layers_per_stage = 2\n", true);
    assert_has(&j, "torchtitan-toml", "pipeline_parallel_first_stage_less_layers = 1\n", true);
    j.point.vp = 1; /* 17 layers: 19 blocks are 5, 5, 5 and 4 */
    j.layers = 17;
    assert_has(&j, "torchtitan-toml", "pipeline_parallel_layers_per_stage", false);
    assert_has(&j, "torchtitan-toml", "pipeline_parallel_first_stage_less_layers = 1\n", true);
    j.point.zero = 1;
    assert_has(&j, "megatron", "--decoder-first-pipeline-num-layers 4 --decoder-last-pipeline-num-layers 3", true);
    assert_has(&j, "megatron", "--account-for", false);
    assert_has(&j, "bridge", "model.num_layers_in_first_pipeline_stage=4", true);
    j.point.zero = 3;
    j.point.vp = 2;
    j.layers = 24;
    assert_has(&j, "torchtitan-toml", "pipeline_parallel_layers_per_stage = 3\n", true);
    assert_has(&j, "torchtitan-toml", "pipeline_parallel_first_stage_less_layers = 0\n", true);
    assert_has(&j, "megatron", "--account-for", false);
}

CLAIM(experts_are_said_where_there_are)
{
    launch_job j = small_job("megatron");

    j.point.dp = 16;
    assert_has(&j, "megatron", "expert", false);
    j.experts = 8;
    j.topk = 2;
    j.ep = 4;
    assert_has(&j, "megatron", "--num-experts 8 --moe-router-topk 2 --moe-token-dispatcher-type alltoall",
               true);
    assert_has(&j, "deepspeed", "--moe-expert-parallel-size 4", true);
    assert_has(&j, "deepspeed-json", "\"autoep_size\": 4", true);
    j.first_dense = 12;
    assert_has(&j, "megatron", "--moe-layer-freq '[0,0,0,0,0,0,0,0,0,0,0,0,1,1]' ", true);
    assert_has(&j, "bridge", "'model.moe_layer_freq=[0,0,0,0,0,0,0,0,0,0,0,0,1,1]' ", true);
    j.first_dense = 0;
    j.point.dispatch = 2;
    assert_has(&j, "megatron", "--moe-token-dispatcher-type flex", true);
    assert_has(&j, "megatron", "--moe-flex-dispatcher-backend deepep", true);
    j.point.zero = 3;
    assert_has(&j, "torchtitan-toml", "expert_parallel_comm_backend = \"deepep\"", true);
    j.point.zero = 1;
    j.point.dispatch = 0;
    j.capacity_percent = 125;
    j.pads_capacity = true;
    assert_has(&j, "megatron", "--moe-expert-capacity-factor 1.25", true);
    assert_has(&j, "megatron", "--moe-pad-expert-input-to-capacity", true);
    assert_has(&j, "deepspeed", "--moe-train-capacity-factor 1.25", true);
    j.pads_capacity = false;
    assert_refused(&j, "deepspeed",
                   "DeepSpeed pads what experts take to their limit; take capacity padded, or none");
    j.capacity_percent = 0;
    j.shared_ffn = 512;
    assert_has(&j, "megatron", "--moe-shared-expert-intermediate-size 512", true);
    assert_refused(&j, "deepspeed",
                   "Megatron-DeepSpeed's experts are as wide as other feed-forward networks, in all layers, "
                   "behind a softmax, and none is shared; take --program megatron");
    j.ep = 3;
    assert_refused(&j, "megatron",
                   "ep divides the experts, and ep x etp x pp the ranks, in Megatron; take such degrees");
}

CLAIM(launches_are_ordered_before_blackwell)
{
    launch_job j = small_job("megatron");

    j.point.dp = 8;
    assert_has(&j, "megatron", "export CUDA_DEVICE_MAX_CONNECTIONS=1", false);
    j.point.tp = 2;
    assert_has(&j, "megatron", "export CUDA_DEVICE_MAX_CONNECTIONS=1", true);
    j.is_blackwell = true;
    assert_has(&j, "megatron", "export CUDA_DEVICE_MAX_CONNECTIONS=1", false);
    j.is_blackwell = false;
    j.point.zero = 3;
    assert_has(&j, "megatron", "unset CUDA_DEVICE_MAX_CONNECTIONS", true);
}

CLAIM(what_is_not_known_is_to_be_filled_in)
{
    launch_job j = small_job("megatron");

    j.point.dp = 16;
    assert_has(&j, "megatron", "--rotary-base;", true);
    assert_has(&j, "torchtitan", "from my_models import configure", true);
    j.rotary_base = 5e5;
    assert_has(&j, "megatron", "--rotary-base 500000 ", true);
    assert_has(&j, "megatron", "# Fill in the base", false);
    j.activation = LAUNCH_OTHER_ACTIVATION;
    assert_has(&j, "megatron", "# Fill in the activation function", true);
    assert_has(&j, "megatron", "--swiglu", false);
}

CLAIM(a_name_does_not_end_a_comment)
{
    launch_job j = small_job("megatron");

    j.point.dp = 16;
    j.model = "a\nrm -rf b";
    assert_has(&j, "megatron", "# a?rm -rf b on 2 x 8 ranks of two", true);
    assert_has(&j, "megatron", "\nrm", false);
}

CLAIM(recipes_have_the_names_of_the_program)
{
    launch_job j = small_job("megatron");
    static const char *const names[][3] = {
        {"delayed", "--fp8-format hybrid --fp8-recipe delayed", "bf16_with_fp8_delayed_scaling_mixed"},
        {"tensorwise", "--fp8-recipe tensorwise", "bf16_with_fp8_current_scaling_mixed"},
        {"blockwise", "--fp8-recipe blockwise", "bf16_with_fp8_subchannel_scaling_mixed"},
        {"mxfp8", "--fp8-format e4m3 --fp8-recipe mxfp8", "bf16_with_mxfp8_mixed"},
        {"nvfp4", "--fp4-format e2m1", "bf16_with_nvfp4_mixed"}};

    j.point.dp = 16;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        strategy_parse(&strategy_parameters[STRATEGY_fp8_recipe], "", names[i][0], &j.point.fp8_recipe, NULL);
        assert_has(&j, "megatron", names[i][1], true);
        assert_has(&j, "bridge", names[i][2], true);
    }
    assert_refused(
        &j, "torchtitan-toml",
        "TorchTitan v0.2.2 has no 'nvfp4' for model.converters; it has tensorwise, rowwise, mxfp8");
    assert_has(&j, "torchtitan", "NVFP4LinearConverter.Config(fqns=[\"layers\"])", true);
}

CLAIM(every_program_has_its_name_and_habits)
{
    size_t n = 0;

    for (; launch_programs[n]; n++) {
        assert_string_equal(launch_programs[n]->name, launch_names[n]);
        assert_ptr_equal(launch_find(launch_names[n]), launch_programs[n]);
    }
    assert_null(launch_names[n]);
    for (uint32_t like = 0; strategy_parameters[STRATEGY_like].choices[like]; like++)
        assert_non_null(launch_of(like));
    assert_null(launch_find("pytorch"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ends_count_where_stages_are_not_equal),
        cmocka_unit_test(experts_are_said_where_there_are),
        cmocka_unit_test(launches_are_ordered_before_blackwell),
        cmocka_unit_test(what_is_not_known_is_to_be_filled_in),
        cmocka_unit_test(a_name_does_not_end_a_comment),
        cmocka_unit_test(recipes_have_the_names_of_the_program),
        cmocka_unit_test(every_program_has_its_name_and_habits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
