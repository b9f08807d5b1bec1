/* run_memory FOLDER [NAME...]: each case of reference/training/memory, or of the files that are named. Exit
 * code 0: all agree; 1: some differ; 77: the folder is not there. */
#include "memory/references.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/fs.h"

typedef void check(const json_t *row, const json_t *inputs, tally *t);

static const struct {
    const char *name, *inputs;
    check *check;
} files[] = {{"megatron_theoretical", NULL, check_megatron},
             {"deepspeed_estimators", NULL, check_deepspeed},
             {"calculon", "calculon_inputs", check_calculon},
             {"llm_analysis", "llm_analysis_inputs", check_llm_analysis}};

static json_t *load(const char *folder, const char *name)
{
    char path[PATH_MAX];
    json_error_t error;
    json_t *j;

    snprintf(path, sizeof path, "%s/%s.json", folder, name);
    j = json_load_file(path, 0, &error);
    if (!j)
        printf("%s: %s\n", path, error.text);
    return j;
}

static void check_file(const char *folder, size_t i, tally *t)
{
    static char line[1 << 20];
    char path[PATH_MAX];
    json_t *inputs = files[i].inputs ? load(folder, files[i].inputs) : NULL, *row;
    gzFile f;

    snprintf(path, sizeof path, "%s/%s.jsonl.gz", folder, files[i].name);
    f = gzopen(path, "rb");
    if (!f || (files[i].inputs && !inputs)) {
        printf("%s cannot be read\n", path);
        t->n_different++;
    }
    while (f && gzgets(f, line, sizeof line)) {
        row = json_loads(line, 0, NULL);
        if (row) {
            files[i].check(row, inputs, t);
        } else {
            printf("%s: a line is no JSON\n", path);
            t->n_different++;
        }
        json_decref(row);
    }
    if (f)
        gzclose(f);
    json_decref(inputs);
}

static bool wanted(const char *name, char **names, int n)
{
    for (int i = 0; i < n; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return n == 0;
}

/* Prints and returns how many differ. */
static size_t report(const char *name, const tally *t)
{
    printf("%s: %zu values, %zu differ\n", name, t->n_values, t->n_different);
    for (size_t i = 0; i < t->n_reasons; i++)
        printf("  %6zu %s\n", t->reason[i].n, t->reason[i].why);
    return t->n_different + !t->n_values;
}

int main(int argc, char **argv)
{
    size_t different = 0;
    json_t *snapshot;

    if (argc < 2)
        return 2;
    if (!dse_is_dir(argv[1])) {
        printf("there is nothing to compare with\n");
        return 77;
    }
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        tally t = {0};

        if (!wanted(files[i].name, argv + 2, argc - 2))
            continue;
        check_file(argv[1], i, &t);
        different += report(files[i].name, &t);
    }
    if (wanted("snapshot", argv + 2, argc - 2)) {
        tally t = {0};

        snapshot = load(argv[1], "snapshot_llama3_fsdp4");
        if (snapshot)
            check_snapshot(snapshot, &t);
        json_decref(snapshot);
        different += report("snapshot", &t);
    }
    return different > 0;
}
