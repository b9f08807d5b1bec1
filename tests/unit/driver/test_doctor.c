/* What the doctor finds with no tools in PATH, and with tools that are made for it. */
#include "base/fs.h"
#include "driver/doctor.h"
#include "unit/unit.h"

static char folder[64];
static dse_arena arena;
static dse_error err;
static drv_finding finding[DRV_N_CHECKS];

static int set_up(void **state)
{
    (void)state;
    unit_make_folder(folder);
    assert_int_equal(setenv("PATH", folder, 1), 0);
    assert_int_equal(setenv("CCLDSE_CONFIGS", TEST_DATA "/cards", 1), 0);
    assert_int_equal(setenv("TMPDIR", folder, 1), 0);
    dse_arena_init(&arena);
    err = (dse_error)DSE_ERROR_INIT;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    dse_arena_free(&arena);
    unit_remove_folder(folder);
    return 0;
}

static const char *in_folder(const char *name) { return dse_arena_printf(&arena, "%s/%s", folder, name); }

/* A program in PATH. */
static void make_program(const char *name, const char *script)
{
    const char *path = in_folder(name);

    unit_write_text(path, script);
    assert_int_equal(chmod(path, 0755), 0);
}

static void look(const char *stage, const char *astrasim, double timeout_seconds)
{
    const drv_doctor_inputs in = {in_folder("results/r.db"), stage, {astrasim}, timeout_seconds};

    assert_ok(drv_doctor(&in, &arena, finding, &err), &err);
}

static void check(drv_check c, drv_state state, const char *found)
{
    if (finding[c].state != state || strcmp(finding[c].found, found) != 0)
        fail_msg("%s: state %d, '%s'; expected %d, '%s'", finding[c].name, (int)finding[c].state,
                 finding[c].found, (int)state, found);
}

CLAIM(an_empty_path_has_no_tools)
{
    look(NULL, NULL, 5);
    check(DRV_CHECK_PYTHON, DRV_ABSENT, "no python3 in PATH");
    check(DRV_CHECK_STAGE, DRV_UNTRIED, "not tried; say --stage-cmd \"python3 PATH/main.py\"");
    check(DRV_CHECK_ASTRASIM, DRV_ABSENT, DRV_UNAWARE_PROGRAM " is not in PATH");
    check(DRV_CHECK_AWARE, DRV_ABSENT, DRV_AWARE_PROGRAM " is not in PATH");
    check(DRV_CHECK_SLURM, DRV_ABSENT, "no sbatch, srun, sinfo in PATH");
    check(DRV_CHECK_DATABASE, DRV_ABSENT,
          dse_arena_printf(&arena, "no %s/results/r.db yet; a sweep makes it", folder));
    assert_int_equal(finding[DRV_CHECK_CARDS].state, DRV_THERE);
    assert_int_equal(finding[DRV_CHECK_RESULTS].state, DRV_THERE);
    assert_int_equal(unit_count_files(folder), 0);
}

CLAIM(tools_that_answer_are_there)
{
    make_program("python3", "#!/bin/sh\necho 3.11.2\necho\n");
    make_program("sbatch", "#!/bin/sh\necho slurm-wlm 22.05.8\n");
    make_program("srun", "#!/bin/sh\n");
    make_program("sinfo", "#!/bin/sh\n");
    make_program("stage", "#!/bin/sh\n[ \"$1 $2\" = \"x --help\" ]\n");
    /* as the simulator ends when its options are missing: exit(-1) */
    make_program(DRV_UNAWARE_PROGRAM, "#!/bin/sh\necho Error parsing options >&2\nexit 255\n");
    make_program(DRV_AWARE_PROGRAM, "#!/bin/sh\nexit 255\n");
    look("stage x", NULL, 5);
    check(DRV_CHECK_PYTHON, DRV_THERE, "3.11.2, with what STAGE imports");
    check(DRV_CHECK_SLURM, DRV_THERE, "slurm-wlm 22.05.8");
    check(DRV_CHECK_STAGE, DRV_THERE, "'stage x' answers");
    check(DRV_CHECK_ASTRASIM, DRV_THERE,
          dse_arena_printf(&arena, "%s/" DRV_UNAWARE_PROGRAM " starts", folder));
    check(DRV_CHECK_AWARE, DRV_THERE, dse_arena_printf(&arena, "%s/" DRV_AWARE_PROGRAM " starts", folder));
    /* what the tools said is not left behind: the seven programs alone */
    assert_int_equal(unit_count_files(folder), 7);
}

/* STAGE's packages are where the python is that runs it. */
CLAIM(the_python_that_stage_runs_in_is_looked_at)
{
    make_program("python3", "#!/bin/sh\necho 3.9.2\necho sympy\n");
    make_program("python3.12", "#!/bin/sh\necho 3.12.1\necho\n");
    look("python3.12 main.py", NULL, 5);
    check(DRV_CHECK_PYTHON, DRV_THERE, "3.12.1, with what STAGE imports");
    look(dse_arena_printf(&arena, "'%s/python3.12' main.py", folder), NULL, 5);
    check(DRV_CHECK_PYTHON, DRV_THERE, "3.12.1, with what STAGE imports");
    look("env python3.12 main.py", NULL, 5); /* which it is cannot be seen */
    check(DRV_CHECK_PYTHON, DRV_BROKEN, "3.9.2, without sympy");
    look("python2 main.py", NULL, 5);
    check(DRV_CHECK_PYTHON, DRV_ABSENT, "no python2 in PATH");
}

CLAIM(tools_that_do_not_answer_are_broken)
{
    make_program("python3", "#!/bin/sh\necho 3.9.2\necho sympy, pandas\n");
    make_program("srun", "#!/bin/sh\n");
    make_program("stage",
                 "#!/bin/sh\necho Traceback\nprintf \"No module named 'sympy'\\033\\n\\n\" >&2\nexit 1\n");
    make_program("simulator", "#!/bin/sh\necho libprotobuf.so.32: cannot open >&2\nexit 127\n");
    look("stage", "simulator", 5);
    check(DRV_CHECK_PYTHON, DRV_BROKEN, "3.9.2, without sympy, pandas");
    check(DRV_CHECK_SLURM, DRV_ABSENT, "no sbatch, sinfo in PATH");
    check(DRV_CHECK_STAGE, DRV_BROKEN, "exited with code 1: No module named 'sympy'?");
    check(DRV_CHECK_ASTRASIM, DRV_BROKEN, "exited with code 127: libprotobuf.so.32: cannot open");
}

CLAIM(a_tool_that_hangs_is_stopped)
{
    make_program("stage", "#!/bin/sh\nwhile :; do :; done\n");
    look("stage", NULL, 0.2);
    check(DRV_CHECK_STAGE, DRV_BROKEN, "was stopped after its timeout of 0.2 s");
}

CLAIM(a_tool_that_talks_without_end_is_stopped)
{
    make_program("stage", "#!/bin/sh\nwhile :; do echo 0123456789012345678901234567890123456789; done\n");
    look("stage", NULL, 0.5);
    assert_int_equal(finding[DRV_CHECK_STAGE].state, DRV_BROKEN);
}

CLAIM(a_tool_that_is_not_there_is_absent)
{
    look("nowhere", "  ", 5);
    check(DRV_CHECK_STAGE, DRV_ABSENT, "cannot be started: no such file or directory");
    check(DRV_CHECK_ASTRASIM, DRV_ABSENT, "its command line is empty");
}

CLAIM(a_quote_that_is_not_closed_is_refused)
{
    const drv_doctor_inputs in = {"r.db", "python3 'main.py", {NULL}, 5};

    assert_says(drv_doctor(&in, &arena, finding, &err), &err, DSE_E_USAGE, "quote");
}

CLAIM(what_is_no_database_is_broken)
{
    const char *path = in_folder("results/r.db");

    assert_ok(dse_mkdirs(in_folder("results"), &err), &err);
    unit_write_text(path,
                    "this is text, and long enough for SQLite to see that it is no database of its own\n");
    look(NULL, NULL, 5);
    check(DRV_CHECK_DATABASE, DRV_BROKEN,
          dse_arena_printf(&arena, "%s: this is not a results database", path));
}

CLAIM(a_database_without_a_folder_is_in_the_current_one)
{
    const drv_doctor_inputs in = {"no-such.db", NULL, {NULL}, 5};

    assert_ok(drv_doctor(&in, &arena, finding, &err), &err);
    assert_memory_equal(finding[DRV_CHECK_RESULTS].found, ". can be ", 9);
}

CLAIM(a_file_is_no_folder_for_results)
{
    unit_write_text(in_folder("results"), "in the way");
    look(NULL, NULL, 5);
    check(DRV_CHECK_RESULTS, DRV_BROKEN,
          dse_arena_printf(&arena, "%1$s/results cannot be made: %1$s/results is no folder", folder));
}

CLAIM(cards_that_are_not_found_are_absent)
{
    assert_int_equal(setenv("CCLDSE_CONFIGS", in_folder("configs"), 1), 0);
    look(NULL, NULL, 5);
    check(DRV_CHECK_CARDS, DRV_ABSENT,
          dse_arena_printf(&arena, "CCLDSE_CONFIGS is '%s/configs', and there is no such folder", folder));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(an_empty_path_has_no_tools),
                                       TEST(tools_that_answer_are_there),
                                       TEST(the_python_that_stage_runs_in_is_looked_at),
                                       TEST(tools_that_do_not_answer_are_broken),
                                       TEST(a_tool_that_hangs_is_stopped),
                                       TEST(a_tool_that_talks_without_end_is_stopped),
                                       TEST(a_tool_that_is_not_there_is_absent),
                                       TEST(a_quote_that_is_not_closed_is_refused),
                                       TEST(what_is_no_database_is_broken),
                                       TEST(a_database_without_a_folder_is_in_the_current_one),
                                       TEST(a_file_is_no_folder_for_results),
                                       TEST(cards_that_are_not_found_are_absent),
};

    return RUN_TESTS(tests);
}
