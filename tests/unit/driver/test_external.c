/* What a point costs in commands and folders, and what becomes of tools that fail; tools are shell scripts. */
#include "driver/external.h"

#include "base/fs.h"
#include "unit/point.h"
#include "unit/unit.h"

#include <limits.h>

#define SMALL TEST_DATA "/cards/models/small.yaml"
#define RING8 TEST_DATA "/cards/systems/ring8.yaml"

static char folder[64], before[PATH_MAX];
static dse_arena arena;
static dse_error err;
static drv_study study;
static drv_external tools;
static drv_external_point plan;
static strategy point;

static int begin(void **state)
{
    (void)state;
    err = (dse_error)DSE_ERROR_INIT;
    point = unit_point("4_1_2_1_1");
    assert_non_null(getcwd(before, sizeof before));
    unit_make_folder(folder);
    assert_int_equal(chdir(folder), 0);
    dse_arena_init(&arena);
    assert_ok(drv_study_load(SMALL, RING8, NULL, &arena, &study, &err), &err);
    return 0;
}

static int end(void **state)
{
    (void)state;
    dse_arena_free(&arena);
    assert_int_equal(chdir(before), 0);
    unit_remove_folder(folder);
    return 0;
}

static void init(const char *stage, const char *simulator)
{
    const drv_external_options o = {.stage = stage, .simulator = {simulator}, .timeout_seconds = 5};

    assert_ok(drv_external_init(&o, &arena, &tools, &err), &err);
}

/* The words of a command from the first on, joined. */
static const char *words(const exec_command *c)
{
    static char text[2000];

    text[0] = '\0';
    for (size_t i = 0; c->argv[i]; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", i ? " " : "", c->argv[i]);
    return text;
}

/* ---- plans ---------------------------------------------------------------------------------- */

CLAIM(a_point_is_two_commands_in_folders_of_its_name)
{
    char expected[2000];
    const char *n;

    init("python3 main.py", "astrasim");
    assert_ok(drv_external_plan(&tools, &study, &point, &arena, &plan, &err), &err);
    n = plan.name;
    assert_ptr_equal(strstr(n, "small_ring8_4_1_2_1_1_"), n);
    assert_int_equal(strlen(n), 22 + 8);
    assert_int_equal(strspn(n + 22, "0123456789abcdef"), 8);
    assert_int_equal(plan.job.n, 2);

    snprintf(expected, sizeof expected,
             "python3 main.py --output_dir workloads/%s --output_name workload --comm_group_file "
             "comm_group.json --chakra_schema_version v0.0.4 --weight_sharded false "
             "--activation_recompute true --dp 4 --tp 1 --sp 2 --pp 1 --num_stacks 3 --batch 16 --seq 128 "
             "--din 1000 --dout 1000 --dmodel 512 --dff 2048 --head 8",
             n);
    assert_string_equal(words(&plan.job.command[0]), expected);
    assert_string_equal(plan.job.command[0].folder, ".");
    assert_double(plan.job.command[0].timeout_seconds, 5);

    snprintf(expected, sizeof expected,
             "astrasim --workload-configuration=%1$s/workloads/%2$s/workload "
             "--comm-group-configuration=%1$s/workloads/%2$s/comm_group.json "
             "--system-configuration=%1$s/astrasim_configs/%2$s/system.json "
             "--network-configuration=%1$s/astrasim_configs/%2$s/network.yml "
             "--remote-memory-configuration=%1$s/astrasim_configs/%2$s/remote_memory.json",
             tools.folder, n);
    assert_string_equal(words(&plan.job.command[1]), expected);
    assert_string_equal(plan.job.command[1].folder, plan.results);
    assert_string_equal(plan.job.command[1].output, plan.simulator_log);
}

CLAIM(the_name_tells_configurations_apart)
{
    char first[100];

    init("s", "a");
    assert_ok(drv_external_plan(&tools, &study, &point, &arena, &plan, &err), &err);
    snprintf(first, sizeof first, "%s", plan.name);
    study.model.batch = 32;
    assert_ok(drv_external_plan(&tools, &study, &point, &arena, &plan, &err), &err);
    assert_string_not_equal(plan.name, first);
    study.model.batch = 16;
    study.engine = DRV_EXTERNAL_ENGINE; /* whoever asks, the name is of the external result */
    assert_ok(drv_external_plan(&tools, &study, &point, &arena, &plan, &err), &err);
    assert_string_equal(plan.name, first);
}

/* STAGE writes to its folder's name % rank, ASTRA-sim ignores groups in what has "empty" in its name. */
CLAIM(a_name_has_nothing_that_a_tool_could_misread)
{
    study.model_name = "100%d of empty \xc3\xa9";
    study.system_name = "a/b'c";
    init("s", "a");
    assert_ok(drv_external_plan(&tools, &study, &point, &arena, &plan, &err), &err);
    assert_ptr_equal(strstr(plan.name, "100-d-of--mpty---_a-b-c_4_1_2_1_1_"), plan.name);
}

CLAIM(a_program_with_a_slash_is_found_from_any_folder)
{
    char expected[200];

    unit_write_text("wrapper.py", "");
    assert_ok(dse_mkdirs("bin", &err), &err);
    unit_write_text("bin/wrapper.py", "");
    init("./stage x/y", "python3 bin/wrapper.py bin/none wrapper.py /a/b");
    snprintf(expected, sizeof expected, "%s/./stage", tools.folder);
    assert_string_equal(tools.stage.word[0], expected);
    assert_string_equal(tools.stage.word[1], "x/y"); /* it runs where we are */
    assert_string_equal(tools.simulator[DRV_UNAWARE].word[0], "python3");
    snprintf(expected, sizeof expected, "%s/bin/wrapper.py", tools.folder);
    assert_string_equal(tools.simulator[DRV_UNAWARE].word[1], expected);
    assert_string_equal(tools.simulator[DRV_UNAWARE].word[2], "bin/none");
    assert_string_equal(tools.simulator[DRV_UNAWARE].word[3], "wrapper.py");
    assert_string_equal(tools.simulator[DRV_UNAWARE].word[4], "/a/b");
}

CLAIM(a_command_without_a_program_is_refused)
{
    const drv_external_options no_stage = {.stage = " ", .simulator = {"a"}};
    const drv_external_options no_simulator = {.stage = "s", .simulator = {"'' x"}};
    const drv_external_options no_aware = {.stage = "s", .simulator = {[DRV_AWARE] = " "}};

    assert_failure(drv_external_init(&no_stage, &arena, &tools, &err), &err, DSE_E_USAGE, "",
                   "--stage-cmd names no program");
    err = (dse_error)DSE_ERROR_INIT;
    assert_failure(drv_external_init(&no_simulator, &arena, &tools, &err), &err, DSE_E_USAGE, "",
                   "--astrasim-bin names no program");
    err = (dse_error)DSE_ERROR_INIT;
    assert_failure(drv_external_init(&no_aware, &arena, &tools, &err), &err, DSE_E_USAGE, "",
                   "--astrasim-aware-bin names no program");
}

CLAIM(a_folder_in_which_astrasim_reads_no_groups_is_refused)
{
    const drv_external_options o = {.stage = "s", .simulator = {"a"}};

    assert_ok(dse_mkdirs("an_empty_one", &err), &err);
    assert_int_equal(chdir("an_empty_one"), 0);
    assert_says(drv_external_init(&o, &arena, &tools, &err), &err, DSE_E_CONFIG,
                "as there is 'empty' in it; run in another folder");
}

CLAIM(what_stage_cannot_generate_is_refused)
{
    strategy other = point;
    const strategy too_many = unit_point("8_8_1_1_0");

    init("s", "a");
    assert_says(drv_external_plan(&tools, &study, &too_many, &arena, &plan, &err), &err, DSE_E_RANGE,
                "ring8 has 8 NPUs");
    err = (dse_error)DSE_ERROR_INIT;
    study.tag_base = 7;
    assert_failure(drv_external_plan(&tools, &study, &point, &arena, &plan, &err), &err, DSE_E_CONFIG, "",
                   "STAGE draws the tags of its messages; tag base 7 cannot be given to it");
    err = (dse_error)DSE_ERROR_INIT;
    study.tag_base = WL_TAG_BASE;
    other = unit_point("4_1_2_1_1_placement=tp-sp-dp-pp");
    assert_failure(drv_external_plan(&tools, &study, &other, &arena, &plan, &err), &err, DSE_E_CONFIG, "",
                   "the point has placement tp-sp-dp-pp, and STAGE has only dp-tp-sp-pp");
    err = (dse_error)DSE_ERROR_INIT;
    other.placement = 0;
    other.stages = 1;
    assert_failure(drv_external_plan(&tools, &study, &other, &arena, &plan, &err), &err, DSE_E_CONFIG, "",
                   "the point has stages neighbours, and STAGE has only turns");
    err = (dse_error)DSE_ERROR_INIT;
    strcpy(study.model.operators, "mine.yaml");
    assert_failure(drv_external_plan(&tools, &study, &point, &arena, &plan, &err), &err, DSE_E_CONFIG, "",
                   "small has the operators 'mine.yaml', and STAGE has only those of 'transformer'");
}

/* ASTRA-sim has a program for each model. */
CLAIM(a_system_with_congestion_has_the_simulator_with_congestion)
{
    const drv_external_options both = {.stage = "s", .simulator = {"unaware", "aware x"}};

    init("s", "a");
    strcpy(study.system.backend, "congestion_aware");
    assert_failure(
        drv_external_plan(&tools, &study, &point, &arena, &plan, &err), &err, DSE_E_USAGE, "",
        "ring8 has the backend congestion_aware, for which ASTRA-sim has a program of its own; give "
        "--astrasim-aware-bin");
    err = (dse_error)DSE_ERROR_INIT;
    assert_ok(drv_external_init(&both, &arena, &tools, &err), &err);
    assert_ok(drv_external_plan(&tools, &study, &point, &arena, &plan, &err), &err);
    assert_string_equal(plan.job.command[1].argv[0], "aware");
    assert_string_equal(plan.job.command[1].argv[1], "x");
    strcpy(study.system.backend, "congestion_unaware");
    assert_ok(drv_external_plan(&tools, &study, &point, &arena, &plan, &err), &err);
    assert_string_equal(plan.job.command[1].argv[0], "unaware");
}

/* The network of ring8 in other forms; each text begins as the one before it. */
CLAIM(what_astrasim_cannot_simulate_is_refused_before_it_runs)
{
    static const struct {
        const char *topology, *backend, *why;
        int64_t npus;
        uint32_t n_dims;
    } systems[] = {
        {"Mesh2D", "congestion_unaware", "ASTRA-sim has no Mesh2D, and stops", 4, 1},
        {"Ring", "congestion_aware", "with congestion ASTRA-sim fails on a Ring of two NPUs", 2, 1},
        {"Ring", "congestion_aware", "with congestion ASTRA-sim takes no network of 2 dimensions", 2, 2},
        {"Ring", "congestion_unaware", "ASTRA-sim has no multi_hop 'full'", 2, 2},
    };

    init("s", "a");
    strcpy(study.system.multi_hop, "full");
    for (size_t i = 0; i < sizeof systems / sizeof systems[0]; i++) {
        card_system *s = &study.system;

        s->topology.n = s->npus_count.n = s->bandwidth.n = s->latency.n = systems[i].n_dims;
        for (uint32_t k = 0; k < systems[i].n_dims; k++) {
            strcpy(s->topology.v[k], systems[i].topology);
            s->npus_count.v[k] = systems[i].npus;
            s->bandwidth.v[k] = s->latency.v[k] = 50;
        }
        strcpy(s->backend, systems[i].backend);
        err = (dse_error)DSE_ERROR_INIT;
        assert_says(drv_external_plan(&tools, &study, &point, &arena, &plan, &err), &err, DSE_E_RANGE,
                    systems[i].why);
    }
}

/* ---- runs ----------------------------------------------------------------------------------- */

/* A complete report of rank 0, which stands for all. */
#define REPORT                                                                                               \
    "echo 'sys[0], Wall time: 90'; echo 'sys[0], Compute bound percentage: 1.000%';"                         \
    "echo 'sys[0], Average compute utilization: 2.000$';"                                                    \
    "echo 'sys[0], Average memory utilization: 3.000%'; "                                                    \
    "echo 'sys[0], Average operation intensity: 4.000'; echo 'sys[0] peak memory usage: 5.00 KB'"

static store_row row;
static drv_astra_log seen;

static void run_point(const char *stage, const char *simulator)
{
    unit_write_text("stage.sh", stage);
    unit_write_text("sim.sh", simulator);
    init("sh stage.sh", "sh ./sim.sh");
    assert_ok(drv_external_plan(&tools, &study, &point, &arena, &plan, &err), &err);
    assert_ok(drv_external_run_point(&tools, &study, &point, &arena, &row, &seen, &err), &err);
}

static void assert_fails(const char *format)
{
    char expected[600];

    snprintf(expected, sizeof expected, format, plan.results);
    assert_false(row.done);
    assert_string_equal(row.error, expected);
    assert_u64(row.metrics.wall_time, STORE_ABSENT);
}

CLAIM(the_log_of_the_simulator_is_the_result)
{
    run_point("echo generated", REPORT);
    assert_true(row.done);
    assert_string_equal(row.error, "");
    assert_u64(row.metrics.wall_time, 90);
    assert_u64(row.metrics.peak_memory, 5120);
    assert_true(row.memory_rounded);
    assert_u64(row.metrics.nodes, STORE_ABSENT);
    assert_true(row.seconds >= 0);
    assert_true(dse_is_file(plan.stage_log));
    assert_true(dse_is_dir(plan.workload));
}

CLAIM(without_statistics_in_what_it_prints_its_own_log_counts)
{
    run_point("", "echo starting; mkdir log; (" REPORT ") >log/log.log");
    assert_true(row.done);
    assert_u64(row.metrics.wall_time, 90);
}

CLAIM(nothing_of_an_earlier_run_is_taken_for_this_one)
{
    run_point("echo x >$2/workload.0.et", "mkdir log; (" REPORT ") >log/log.log");
    assert_true(row.done);
    run_point("[ ! -e $2/workload.0.et ]", "");
    assert_fails("ASTRA-sim reports no statistics; %s/astrasim.log is empty");
    assert_false(dse_is_file(plan.own_log));
}

CLAIM(a_failed_simulator_is_quoted_with_its_last_lines)
{
    run_point("", "for i in 1 2 3 4 5 6; do echo line $i; echo; done >&2; exit 1");
    assert_fails(
        "ASTRA-sim ('sh') exited with code 1; %s/astrasim.log ends: line 3 | line 4 | line 5 | line 6");
}

CLAIM(a_failed_generator_is_told_and_the_simulator_not_run)
{
    run_point("echo no; kill -9 $$", "echo ran >ran");
    assert_fails("STAGE ('sh') was killed by signal 9; %s/stage.log ends: no");
    assert_false(dse_is_file("ran"));
}

/* ASTRA-sim ends so, with 0, when its ranks wait for each other. */
CLAIM(a_simulator_that_ends_with_waiting_ranks_is_a_failure)
{
    run_point("", "echo '!!!Hardware Resource sys.id=0 has unreleased nodes!!!'");
    assert_fails("ASTRA-sim reports no statistics; it ended with ranks that wait for each other, or for what "
                 "never comes; %s/astrasim.log ends: !!!Hardware Resource sys.id=0 has unreleased nodes!!!");
}

CLAIM(half_a_log_is_no_result)
{
    run_point("", "echo 'sys[0], Wall time: 90'; printf 'sys[0], Compute bound percentage: 1'");
    assert_non_null(
        strstr(row.error, "/astrasim.log: not complete: sys[0] has no 'Compute bound percentage'; "));
    assert_fails("%s/astrasim.log: not complete: sys[0] has no 'Compute bound percentage'; "
                 "it ends: sys[0], Wall time: 90 | sys[0], Compute bound percentage: 1");
}

/* 300 characters without a newline; two that are no text. */
CLAIM(quoted_words_are_short_and_printable)
{
    char x[241];

    memset(x, 'x', 240);
    x[240] = '\0';
    run_point("", "i=0; while [ $i -lt 30 ]; do printf xxxxxxxxxx; i=$((i+1)); done; exit 2");
    assert_non_null(strstr(row.error, " ends: ...x"));
    assert_string_equal(row.error + strlen(row.error) - 240, x);
    assert_int_equal(row.error[strlen(row.error) - 241], '.');
    run_point("", "printf 'a\\033[1m\\303\\251\\tb\\n'; exit 2");
    assert_fails("ASTRA-sim ('sh') exited with code 2; %s/astrasim.log ends: a?[1m?? b");
}

CLAIM(a_missing_program_is_the_failure_of_its_point)
{
    unit_write_text("stage.sh", "");
    init("sh stage.sh", "/nonexistent/AstraSim");
    assert_ok(drv_external_run_point(&tools, &study, &point, &arena, &row, &seen, &err), &err);
    assert_fails("ASTRA-sim ('/nonexistent/AstraSim') cannot be started: no such file or directory");
    init("no-such-program x", "a");
    assert_ok(drv_external_run_point(&tools, &study, &point, &arena, &row, &seen, &err), &err);
    assert_fails("STAGE ('no-such-program') cannot be started: no such file or directory");
}

CLAIM(folders_that_cannot_be_made_fail_the_point)
{
    unit_write_text("workloads", "in the way");
    unit_write_text("stage.sh", "");
    init("sh stage.sh", "a");
    assert_ok(drv_external_run_point(&tools, &study, &point, &arena, &row, &seen, &err), &err);
    assert_false(row.done);
    assert_non_null(strstr(row.error, "Not a directory"));
}

CLAIM(workloads_are_discarded_only_after_success)
{
    char memory[PATH_MAX];

    run_point("", "exit 1");
    assert_true(dse_is_dir(plan.workload));
    snprintf(memory, sizeof memory, "%s/local_mem_trace.7.json",
             plan.results); /* of the last of eight ranks */
    unit_write_text("sim.sh", "echo x >local_mem_trace.7.json; exit 1");
    tools.discard_workloads = true;
    assert_ok(drv_external_run_point(&tools, &study, &point, &arena, &row, &seen, &err), &err);
    assert_true(dse_is_dir(plan.workload));
    assert_true(dse_is_file(memory));
    unit_write_text("sim.sh", "echo x >local_mem_trace.7.json; " REPORT);
    assert_ok(drv_external_run_point(&tools, &study, &point, &arena, &row, &seen, &err), &err);
    assert_true(row.done);
    assert_false(dse_is_dir(plan.workload));
    assert_false(dse_is_file(memory));
    assert_true(dse_is_file(plan.simulator_log));
}

#define TEST(claim) cmocka_unit_test_setup_teardown(claim, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_point_is_two_commands_in_folders_of_its_name),
        TEST(the_name_tells_configurations_apart),
        TEST(a_name_has_nothing_that_a_tool_could_misread),
        TEST(a_program_with_a_slash_is_found_from_any_folder),
        TEST(a_command_without_a_program_is_refused),
        TEST(a_folder_in_which_astrasim_reads_no_groups_is_refused),
        TEST(what_stage_cannot_generate_is_refused),
        TEST(a_system_with_congestion_has_the_simulator_with_congestion),
        TEST(what_astrasim_cannot_simulate_is_refused_before_it_runs),
        TEST(the_log_of_the_simulator_is_the_result),
        TEST(without_statistics_in_what_it_prints_its_own_log_counts),
        TEST(nothing_of_an_earlier_run_is_taken_for_this_one),
        TEST(a_failed_simulator_is_quoted_with_its_last_lines),
        TEST(a_failed_generator_is_told_and_the_simulator_not_run),
        TEST(a_simulator_that_ends_with_waiting_ranks_is_a_failure),
        TEST(half_a_log_is_no_result),
        TEST(quoted_words_are_short_and_printable),
        TEST(a_missing_program_is_the_failure_of_its_point),
        TEST(folders_that_cannot_be_made_fail_the_point),
        TEST(workloads_are_discarded_only_after_success),
    };
    /* A folder of it that may not be searched would turn "no such file" into "permission denied". */
    setenv("PATH", "/usr/bin:/bin", 1);
    return RUN_TESTS(tests);
}
