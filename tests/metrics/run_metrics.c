/* run_metrics FOLDER_OF_REFERENCES FOLDER_OF_TRACES [NAME...]: every reference value of every trace, or of
 * those named. Exit code 0: all agree; 1: some differ; 77: the folders are not there. */
#include "metrics/metrics.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"

static int is_reference(const struct dirent *d)
{
    size_t n = strlen(d->d_name);

    return n > 5 && strcmp(d->d_name + n - 5, ".json") == 0;
}

static int is_expectation(const struct dirent *d) { return strstr(d->d_name, ".expected.json") != NULL; }

static bool wanted(const char *name, char **names, int n)
{
    for (int i = 0; i < n; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return n == 0;
}

/* One file of references: a run, or the parts of one. */
static void check_file(const char *folder, const char *file, const char *traces, char **names, int n,
                       tally *sum)
{
    char path[PATH_MAX], where[PATH_MAX], card[PATH_MAX], real[PATH_MAX];
    size_t length = strcspn(file, ".");
    const char *name;
    json_t *all, *part;
    json_error_t error;

    snprintf(where, sizeof where, "%.*s", (int)length, file);
    if (!wanted(where, names, n))
        return;
    snprintf(path, sizeof path, "%s/%s", folder, file);
    if (!(all = json_load_file(path, 0, &error))) {
        printf("%s: %s\n", path, error.text);
        sum->n_different++;
        return;
    }
    if (json_is_string(json_object_get(all, "card")))
        snprintf(card, sizeof card, "%s/%s", folder, json_string_value(json_object_get(all, "card")));
    else
        snprintf(card, sizeof card, "%s/workload_card.yaml", folder);
    if (!realpath(card, real) || !dse_is_file(real))
        *real = '\0';
    if (json_object_get(all, "parts")) {
        json_object_foreach(json_object_get(all, "parts"), name, part)
            check_run(name, traces, *real ? real : NULL, part, sum);
    } else {
        check_run(where, traces, *real ? real : NULL, all, sum);
    }
    json_decref(all);
}

int main(int argc, char **argv)
{
    char folder[PATH_MAX], traces[PATH_MAX], below[PATH_MAX + 256];
    struct dirent **file;
    tally sum = {0};
    int n;

    if (argc < 3)
        return 2;
    if (!realpath(argv[1], folder) || !realpath(argv[2], traces)) {
        printf("there are no traces to compare with\n");
        return 77;
    }
    n = scandir(folder, &file, is_reference, alphasort);
    for (int i = 0; i < n; i++) {
        snprintf(below, sizeof below, "%s/%.*s", traces, (int)strlen(file[i]->d_name) - 5, file[i]->d_name);
        check_file(folder, file[i]->d_name, below, argv + 3, argc - 3, &sum);
        free(file[i]);
    }
    if (n > 0)
        free(file);
    snprintf(below, sizeof below, "%s/constructed", folder);
    n = scandir(below, &file, is_expectation, alphasort);
    for (int i = 0; i < n; i++) {
        check_file(below, file[i]->d_name, below, argv + 3, argc - 3, &sum);
        free(file[i]);
    }
    if (n > 0)
        free(file);
    printf("%zu values, %zu differ\n", sum.n_values, sum.n_different);
    return sum.n_different || !sum.n_values;
}
