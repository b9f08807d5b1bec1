#include "cli/slurm.h"

#include "base/array.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const executors[] = {"local", "slurm", NULL};

#define FIELD(f)           .offset = offsetof(slurm_options, f)
#define DEFAULT_ARRAY_SIZE "64" /* Slurm begins some two tasks a second */

static const option options[] = {
    {"--executor", OPT_STRING, "NAME", "local",
     "where workers run: on this machine, or in job arrays of Slurm, whose nodes must see the database's "
     "folder and this program by the same names; for an account, a QOS, memory: SBATCH_ACCOUNT, SBATCH_QOS, "
     "SBATCH_MEM_PER_CPU and others that sbatch reads",
     .choices = executors, FIELD(executor)},
    {"--partition", OPT_STRING, "NAME", "", "with --executor slurm: the partition, if not Slurm's default",
     FIELD(partition)},
    {"--time", OPT_STRING, "TIME", "",
     "the same: limit of a task, as sbatch takes it: 30 (minutes), 2:00:00, 1-0", FIELD(time)},
    {"--array-size", OPT_INT, "N", DEFAULT_ARRAY_SIZE,
     "the same: tasks of a job array, among which the points are dealt out", .min = 1, .max = 4000000,
     FIELD(array_size)},
    {"--at-once", OPT_INT, "N", "0",
     "the same: so many tasks of them side by side; 0: as many as Slurm can run", .min = 0, .max = 4000000,
     FIELD(at_once)},
    {"--detach", OPT_FLAG, NULL, "false", "the same: submit and leave; --attach collects", FIELD(detach)},
    {"--attach", OPT_FLAG, NULL, "false", "the same: go on with what an earlier run has submitted",
     FIELD(attach)},
};

OPTION_ROWS(slurm_group)

/* What stands in a line of a script as it is. */
static dse_status check_word(const char *name, const char *text, dse_error *err)
{
    static const char legal[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.,:+@/";

    return !text || (*text && text[strspn(text, legal)] == '\0')
               ? DSE_OK
               : dse_fail(err, DSE_E_USAGE, "%s takes a word of letters, digits and _-.,:+@/; not '%.60s'",
                          name, text);
}

/* Over a line of progress, which is drawn again. */
static void say(void *user, const char *words)
{
    (void)user;
    if (isatty(STDERR_FILENO))
        fputs("\r\033[2K", stderr);
    report_note("%s", words);
}

dse_status slurm_choose(const slurm_options *o, const char *db, int64_t jobs, dse_arena *a,
                        const exec_slurm **out, dse_error *err)
{
    const struct {
        const char *option;
        bool given;
    } said[] = {{"--partition", o->partition != NULL},
                {"--time", o->time != NULL},
                {"--array-size", o->array_size != strtoll(DEFAULT_ARRAY_SIZE, NULL, 10)},
                {"--at-once", o->at_once != 0},
                {"--detach", o->detach},
                {"--attach", o->attach}};
    const bool local = !strcmp(o->executor, executors[0]);
    char cwd[PATH_MAX] = "";
    exec_slurm *s = DSE_ARENA_NEW(a, exec_slurm, 1);
    dse_status st;

    *out = NULL;
    for (size_t i = 0; local && i < DSE_COUNT(said); i++)
        if (said[i].given)
            return dse_fail(err, DSE_E_USAGE, "%s needs --executor slurm", said[i].option);
    if (local)
        return DSE_OK;
    if ((st = check_word("--partition", o->partition, err)) != DSE_OK ||
        (st = check_word("--time", o->time, err)) != DSE_OK)
        return st;
    if (*db != '/' && !getcwd(cwd, sizeof cwd))
        return dse_fail_errno(err, DSE_E_IO, "cannot find the current folder");
    *s = (exec_slurm){.folder = dse_arena_printf(a, "%s%s%s.slurm", cwd, *db == '/' ? "" : "/", db),
                      .partition = o->partition,
                      .time = o->time,
                      .array_size = (uint32_t)o->array_size,
                      .at_once = (uint32_t)o->at_once,
                      .jobs = jobs ? (uint32_t)jobs : 1,
                      .attach = o->attach,
                      .detach = o->detach,
                      .say = say};
    *out = s;
    return DSE_OK;
}
