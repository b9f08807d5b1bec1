/* The lines of a chunk, as a task of Slurm reads them, which gives each to a worker; this one says what it hears. Every
 * line that is given is answered with itself, and one that is damaged is told. */
#include "base/hash.h"
#include "exec/chunk.h"
#include "fuzz/fuzz.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[64], lines[96];

static void remove_folder(void)
{
    unlink(lines);
    rmdir(folder);
}

static void make_folder(void)
{
    if (*folder)
        return;
    snprintf(folder, sizeof folder, "%s/ccldse-served-XXXXXX",
             access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
    ENSURE(mkdtemp(folder));
    snprintf(lines, sizeof lines, "%s/1.0.lines", folder);
    atexit(remove_folder);
}

static dse_status take(void *user, uint64_t hash, bool failed, const char *text, dse_error *err)
{
    (void)err;
    ENSURE(!failed && hash == dse_hash_bytes(text, strlen(text)));
    ++*(uint64_t *)user;
    return DSE_OK;
}

/* What was answered; removed. */
static uint64_t read_answers(void)
{
    DIR *d = opendir(folder);
    uint64_t n = 0;

    ENSURE(d);
    for (const struct dirent *e; (e = readdir(d));) {
        dse_error err = DSE_ERROR_INIT;
        exec_answers a = {0};
        char path[400];

        if (!strstr(e->d_name, ".answers"))
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        ENSURE(fuzz_ok(exec_answers_read(path, &a, take, &n, &err), &err) && !a.damaged);
        unlink(path);
    }
    closedir(d);
    return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const argv[] = {"/bin/cat", NULL};
    dse_error err = DSE_ERROR_INIT;
    uint64_t n_lines = 0;
    char prefix[80];
    bool whole;
    FILE *f;

    if (size > 4096 || memchr(data, '\r', size))
        return 0;
    make_folder();
    f = fopen(lines, "wb");
    ENSURE(f && fwrite(data, 1, size, f) == size);
    ENSURE(!fclose(f));
    for (size_t i = 0; i < size; i++)
        n_lines += data[i] == '\n';
    snprintf(prefix, sizeof prefix, "%s/1.0", folder);
    whole = fuzz_ok(exec_chunk_serve(prefix, argv, 1, 0, "--limit", &err), &err);
    ENSURE(whole || err.status == DSE_E_SYNTAX);
    ENSURE(whole ? read_answers() == n_lines : read_answers() <= n_lines);
    return 0;
}
