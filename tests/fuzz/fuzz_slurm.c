/* What Slurm's commands say: lines of squeue, and the answer of sbatch; and the script of an array, as it is read again
 * by who attaches. */
#include "exec/slurm_commands.h"
#include "fuzz/fuzz.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check_task(const char *line, size_t n)
{
    char *text = fuzz_string((const uint8_t *)line, n), *end = text + strlen(text);
    exec_slurm_task t;

    if (exec_slurm_read_task(text, &t)) {
        char index[24];

        ENSURE(t.job == text && t.state > t.job && t.reason > t.state && t.reason <= end);
        ENSURE(!strchr(t.state, '|'));
        snprintf(index, sizeof index, "%" PRIu64, t.index);
        ENSURE(t.index == UINT64_MAX || strstr(t.job + strlen(t.job) + 1, index));
    }
    free(text);
}

static void check_tasks(const char *text, size_t n)
{
    while (n) {
        const char *end = memchr(text, '\n', n);
        const size_t k = end ? (size_t)(end - text) : n;

        check_task(text, k);
        text += k + (end != NULL);
        n -= k + (end != NULL);
    }
}

static void check_answer(const char *text, size_t n)
{
    char job[24] = "as it was";
    const char *last;
    dse_strbuf said;

    dse_strbuf_init(&said);
    dse_strbuf_add(&said, text, n);
    last = exec_slurm_last_line(&said, "sbatch");
    ENSURE(last >= said.data && last <= said.data + said.len && !strchr(last, '\n'));
    exec_slurm_read_job(&said, job);
    ENSURE(!strcmp(job, "as it was") || (*job && strspn(job, "0123456789") == strlen(job)));
    dse_strbuf_free(&said);
}

static void check_script(const char *text)
{
    uint32_t n_tasks = 7;
    const exec_slurm how = {.folder = "f", .jobs = 2};
    const char *const argv[] = {text, NULL};
    dse_strbuf script;

    ENSURE(exec_slurm_read_array(text, &n_tasks) == (n_tasks > 0));
    dse_strbuf_init(&script); /* a program of any name does not change what is read */
    exec_slurm_script(&how, argv, "ccldse-1-2", 3, 1234, &script);
    ENSURE(exec_slurm_read_array(script.data, &n_tasks) && n_tasks == 1234);
    dse_strbuf_free(&script);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text;

    if (size > FUZZ_MAX_BYTES)
        return 0;
    text = fuzz_string(data, size);
    check_tasks((const char *)data, size);
    check_answer((const char *)data, size);
    check_script(text);
    free(text);
    return 0;
}
