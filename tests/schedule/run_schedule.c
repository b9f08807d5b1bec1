/* run_schedule FOLDER: every pipeline schedule of the reference, as files of JSON lines in FOLDER:
 * accepted ones must have the same actions, makespans and peaks, refused ones must be refused, and closed
 * forms must hold. Exit code 0: all agree; 1: some differ; 77: the folder is not there. */
#include "schedule/cases.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <zlib.h>

typedef struct {
    const char *file;
    void (*check)(const json_t *row, tally *t);
} source;

static const source sources[] = {
    {"pytorch.jsonl.gz", check_pytorch},
    {"megatron.jsonl.gz", check_megatron},
    {"dualpipe.jsonl.gz", check_dualpipe},
    {"zero_bubble.jsonl.gz", check_zero_bubble},
};

/* A line of any length; false at the end. */
static bool read_line(gzFile f, dse_strbuf *line)
{
    char part[65536];

    dse_strbuf_clear(line);
    while (gzgets(f, part, sizeof part)) {
        dse_strbuf_adds(line, part);
        if (line->data[line->len - 1] == '\n')
            return true;
    }
    return line->len > 0;
}

static bool check_file(const char *folder, const source *s)
{
    char path[4096];
    tally t = {0};
    dse_strbuf line;
    gzFile f;

    snprintf(path, sizeof path, "%s/%s", folder, s->file);
    if (!(f = gzopen(path, "rb"))) {
        printf("%s: cannot be opened\n", path);
        return false;
    }
    dse_strbuf_init(&line);
    while (read_line(f, &line)) {
        json_error_t error;
        json_t *row = json_loads(line.data, 0, &error);

        if (!row) {
            printf("%s: %s\n", path, error.text);
            t.n_different++;
            continue;
        }
        s->check(row, &t);
        json_decref(row);
    }
    gzclose(f);
    dse_strbuf_free(&line);
    printf(
        "%s: %zu accepted and %zu refused cases, %zu from files; %zu makespans, %zu start lists, %zu closed "
        "forms; %zu differ\n",
        s->file, t.n_accepted, t.n_refused, t.n_files, t.n_makespans, t.n_starts, t.n_forms, t.n_different);
    return t.n_accepted && !t.n_different;
}

int main(int argc, char **argv)
{
    bool agree = true;

    if (argc != 2)
        return 2;
    if (access(argv[1], R_OK) != 0) {
        printf("there is no reference of schedules at '%s'\n", argv[1]);
        return 77;
    }
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++)
        if (!check_file(argv[1], &sources[i]))
            agree = false;
    return !agree;
}
