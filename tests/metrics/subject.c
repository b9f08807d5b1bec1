#include "metrics/metrics.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "metrics/registry.h"

static bool link_file(const char *folder, const char *name, const char *target)
{
    char path[512];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    return symlink(target, path) == 0;
}

const metric_options subject_options = {.model_params = 7e9};

static bool same(const char *a, const char *b) { return a == b || (a && b && strcmp(a, b) == 0); }

/* The one rank of a file that is asked for alone, or that there is only. */
static const char *only_of(const subject_files *f)
{
    return json_object_size(f->files) == 1 ? json_object_iter_key(json_object_iter((json_t *)f->files))
                                           : f->only;
}

bool subject_is_of(const subject *s, const subject_files *f)
{
    return s->of.files == f->files && same(s->of.traces, f->traces) && same(s->of.format, f->format) &&
           same(only_of(&s->of), only_of(f)) && same(s->of.card, f->card) &&
           same(s->of.card_text, f->card_text);
}

bool subject_open(subject *s, const subject_files *f)
{
    dse_error err = DSE_ERROR_INIT;
    char target[1024], name[256];
    const char *rank;
    json_t *file;

    *s = (subject){.of = *f, .folder = "/tmp/ccldse-metrics-XXXXXX", .options = subject_options};
    dse_arena_init(&s->arena);
    if (!mkdtemp(s->folder))
        return false;
    json_object_foreach((json_t *)f->files, rank, file)
    {
        if (f->only && strcmp(rank, f->only) != 0)
            continue;
        snprintf(target, sizeof target, "%s/%s", f->traces, json_string_value(file));
        if (f->format)
            snprintf(name, sizeof name, "%.*s%s%s", (int)(strchr(f->format, '%') - f->format), f->format,
                     rank, strchr(f->format, '%') + 2);
        else
            snprintf(name, sizeof name, "%s", json_string_value(file));
        if (!link_file(s->folder, name, target))
            return false;
    }
    if (f->card && !link_file(s->folder, "workload_card.yaml", f->card))
        return false;
    if (f->card_text) {
        snprintf(target, sizeof target, "%s/workload_card.yaml", s->folder);
        if (dse_write_file(target, f->card_text, strlen(f->card_text), &err) != DSE_OK)
            return false;
    }
    if (drv_recording_load(s->folder, &(drv_recording_options){0}, &s->recording, &err) != DSE_OK) {
        printf("%s: %s: %s\n", f->traces, err.where, err.text);
        return false;
    }
    return true;
}

void subject_close(subject *s)
{
    drv_recording_free(&s->recording);
    dse_arena_free(&s->arena);
    dse_remove_tree(s->folder, NULL);
}

size_t subject_events(const subject *s)
{
    size_t n = 0;

    for (uint32_t i = 0; i < s->recording.record.n_ranks; i++)
        n += s->recording.record.rank[i].n_events;
    return n;
}

json_t *subject_metric(subject *s, const char *name, bool compat)
{
    drv_recording *r = &s->recording;
    metric_context x = {.record = &r->record,
                        .view = r->view,
                        .n_views = r->n_views,
                        .card = r->has_card ? &r->card : NULL,
                        .options = &s->options,
                        .arena = &s->arena};
    dse_error err = DSE_ERROR_INIT;
    const metric *m;
    metric_value *v;
    dse_strbuf text;
    json_t *json;
    dse_status st;

    s->options.compat = compat;
    if (metric_find(name, r->record.n_ranks ? r->record.rank[0].kind : TRACE_KINETO, compat, &m, &err) !=
        DSE_OK)
        return NULL;
    st = metric_compute(m, &x, &v, &err);
    if (st != DSE_OK)
        return json_pack("{s:s}", "refused", err.text);
    dse_strbuf_init(&text);
    metric_write_json(v, 0, &text);
    json = json_loadb(text.data, text.len, JSON_DECODE_ANY, NULL);
    dse_strbuf_free(&text);
    if (m->headline && json) /* beside the object, so that either can be asked for */
        json_object_set(json, "headline",
                        json_object_get(json, m->headline) ? json_object_get(json, m->headline)
                                                           : json_null());
    return json;
}
