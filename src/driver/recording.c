#include "driver/recording.h"

#include "base/fs.h"
#include "trace/reader.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

static int by_rank(const void *a, const void *b)
{
    const trace_rank *x = a, *y = b;

    return (x->rank > y->rank) - (x->rank < y->rank);
}

static dse_status read_file(const char *path, drv_recording *out, dse_error *err)
{
    const trace_reader *reader;
    trace_record one = {0};
    dse_status st = trace_reader_find(path, &reader, err);

    if (st == DSE_OK && reader)
        st = reader->read(path, &one, err);
    if (st == DSE_OK && !trace_record_take(&out->record, &one))
        st = dse_fail_nomem(err);
    trace_record_free(&one);
    return st;
}

static int ends_json(const struct dirent *d) { return strstr(d->d_name, ".json") != NULL; }

dse_status drv_recording_load(const char *path, const drv_recording_options *o, drv_recording *out,
                              dse_error *err)
{
    struct dirent **file = NULL;
    dse_status st = DSE_OK;
    int n = 0;

    (void)o;
    *out = (drv_recording){0};
    dse_arena_init(&out->arena);
    if (!dse_is_dir(path)) {
        st = read_file(path, out, err);
    } else {
        n = scandir(path, &file, ends_json, alphasort);
        for (int i = 0; i < n; i++) {
            char *name = dse_arena_printf(&out->arena, "%s/%s", path, file[i]->d_name);

            free(file[i]);
            if (st == DSE_OK)
                st = read_file(name, out, err);
        }
        free(file);
    }
    if (st != DSE_OK)
        return st;
    if (!out->record.n_ranks)
        return dse_fail(err, DSE_E_IO, "no trace in '%s'", path);
    qsort(out->record.rank, out->record.n_ranks, sizeof *out->record.rank, by_rank);
    out->view = dse_calloc(out->record.n_ranks, sizeof *out->view);
    for (uint32_t i = 0; st == DSE_OK && i < out->record.n_ranks; i++) {
        st = metric_view_init(&out->view[i], &out->record.rank[i], err);
        out->n_views = i + 1;
    }
    return st;
}

void drv_recording_free(drv_recording *r)
{
    for (uint32_t i = 0; i < r->n_views; i++)
        metric_view_free(&r->view[i]);
    dse_free(r->view);
    trace_record_free(&r->record);
    dse_arena_free(&r->arena);
}
