#include "exec/slurm_commands.h"

#include "base/array.h"
#include "base/units.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_TASKS 10000000u /* of an array; Slurm's own limit (MaxArraySize) is 4,000,001 */

void exec_slurm_quote(dse_strbuf *b, const char *text)
{
    dse_strbuf_addc(b, '\'');
    for (const char *c = text; *c; c++)
        if (*c == '\'')
            dse_strbuf_adds(b, "'\\''");
        else
            dse_strbuf_addc(b, *c);
    dse_strbuf_addc(b, '\'');
}

int exec_slurm_command(const char *command, dse_strbuf *out)
{
    FILE *f = popen(command, "r"); /* NOLINT(cert-env33-c): made of words quoted as above */
    char piece[4096];
    size_t n;
    int status;

    if (!f)
        return 126;
    while ((n = fread(piece, 1, sizeof piece, f)) > 0)
        dse_strbuf_add(out, piece, n);
    status = pclose(f);
    while (out->len && strchr("\r\n ", out->data[out->len - 1]))
        out->data[--out->len] = '\0';
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

const char *exec_slurm_last_line(const dse_strbuf *said, const char *name)
{
    const char *newline = strrchr(said->data, '\n'), *text = newline ? newline + 1 : said->data;
    static const char *const kinds[] = {": error: ", ": fatal: "};
    const size_t n = strlen(name);

    for (size_t i = 0; i < DSE_COUNT(kinds); i++)
        if (!strncmp(text, name, n) && !strncmp(text + n, kinds[i], strlen(kinds[i])))
            return text + n + strlen(kinds[i]);
    return text;
}

bool exec_slurm_read_task(char *line, exec_slurm_task *out)
{
    char *word[4] = {line};

    for (int k = 1; k < 4; k++) {
        if (!(word[k] = strchr(word[k - 1], '|')))
            return false;
        *word[k]++ = '\0';
    }
    *out = (exec_slurm_task){word[0], word[2], word[3], UINT64_MAX};
    dse_parse_u64(word[1], &out->index, NULL);
    return true;
}

void exec_slurm_read_job(dse_strbuf *said, char job[24])
{
    char *rest = NULL;

    for (char *l = said->len ? strtok_r(said->data, "\n", &rest) : NULL; l; l = strtok_r(NULL, "\n", &rest))
        if (strspn(l, "0123456789"))
            snprintf(job, 24, "%.*s", (int)strspn(l, "0123456789"), l);
}

bool exec_slurm_read_array(const char *script, uint32_t *n_tasks)
{
    static const char option[] = "--array=0-";
    const char *array = strstr(script, option);
    const uint64_t last = array ? strtoull(array + strlen(option), NULL, 10) : UINT64_MAX;

    *n_tasks = last < MAX_TASKS ? (uint32_t)last + 1 : 0;
    return *n_tasks > 0;
}

void exec_slurm_script(const exec_slurm *how, const char *const *argv, const char *name, uint32_t round,
                       size_t n_tasks, dse_strbuf *out)
{
    char cwd[PATH_MAX];

    dse_strbuf_addf(out, "#!/bin/sh\n#SBATCH --job-name=%s-%" PRIu32 "\n#SBATCH --array=0-%zu", name, round,
                    n_tasks - 1);
    if (how->at_once)
        dse_strbuf_addf(out, "%%%" PRIu32, how->at_once);
    dse_strbuf_addf(out, "\n#SBATCH --nodes=1\n#SBATCH --ntasks=1\n#SBATCH --cpus-per-task=%" PRIu32 "\n",
                    how->jobs);
    if (how->partition)
        dse_strbuf_addf(out, "#SBATCH --partition=%s\n", how->partition);
    if (how->time)
        dse_strbuf_addf(out, "#SBATCH --time=%s\n", how->time);
    dse_strbuf_addf(
        out, "#SBATCH --requeue\n#SBATCH --open-mode=append\n#SBATCH --output=%" PRIu32 ".%%a.log\n", round);
    dse_strbuf_adds(out, "cd ");
    exec_slurm_quote(out, getcwd(cwd, sizeof cwd) ? cwd : ".");
    dse_strbuf_adds(out, " || exit\nexec");
    for (const char *const *word = argv; *word; word++) {
        dse_strbuf_addc(out, ' ');
        exec_slurm_quote(out, *word);
    }
    /* What is submitted again runs one line at a time, so that it is known at which one a task ends. */
    dse_strbuf_addf(out, " --jobs %" PRIu32 " --chunk ", round > 1 ? 1 : how->jobs);
    exec_slurm_quote(out, how->folder);
    dse_strbuf_addf(out, "/%" PRIu32 ".\"$SLURM_ARRAY_TASK_ID\"\n", round);
}

dse_status exec_slurm_sbatch(const char *folder, const char *script, char job[24], dse_error *err)
{
    dse_strbuf command, said;
    dse_status st = DSE_OK;
    int code;

    dse_strbuf_init(&command);
    dse_strbuf_init(&said);
    dse_strbuf_adds(&command, "cd ");
    exec_slurm_quote(&command, folder);
    dse_strbuf_adds(&command, " && sbatch --parsable ");
    exec_slurm_quote(&command, script);
    dse_strbuf_adds(&command, " 2>&1");
    code = exec_slurm_command(command.data, &said);
    if (code == 127)
        st = dse_fail(
            err, DSE_E_CHILD,
            "there is no sbatch on PATH: --executor slurm needs Slurm's commands (Debian: slurm-client); "
            "without Slurm, take --shard on each machine and 'ccldse merge'");
    else if (code)
        st = dse_fail(
            err, DSE_E_CHILD,
            "sbatch refuses the job: %.300s; 'sinfo' lists partitions and their limits for --partition "
            "and --time, 'scontrol show config' MaxArraySize for --array-size",
            exec_slurm_last_line(&said, "sbatch"));
    else
        exec_slurm_read_job(&said, job);
    dse_strbuf_free(&command);
    dse_strbuf_free(&said);
    return st;
}
