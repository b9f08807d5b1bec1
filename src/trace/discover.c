#include "trace/discover.h"

#include "base/array.h"
#include "base/fs.h"
#include "base/names.h"
#include "trace/listing.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct {
    const char *what; /* searched formats, for messages */
    bool takes[TRACE_FAMILIES];
} profiles[] = {
    [TRACE_PROFILES_AUTO] =
        {"Kineto or XLA traces, execution traces, memory snapshots, Nsight Systems exports",
         {true, true, true, true, true}},
    [TRACE_PROFILES_TORCH] = {"Kineto or XLA traces, execution traces, memory snapshots",
                              {true, false, false, true, true}},
    [TRACE_PROFILES_NSYS] = {"Nsight Systems exports (.sqlite) or reports (.csv)",
                             {false, true, true, false, false}},
};

/* ---- places ---------------------------------------------------------------------------------- */

static void keep(const trace_file_list *l, dse_arena *a, trace_file **to, size_t *n)
{
    *to = dse_arena_copy(a, l->file, l->n, sizeof *l->file);
    *n = l->n;
}

void trace_take(trace_search *s, const trace_listing *l, trace_found *out)
{
    if (profiles[s->which].takes[TRACE_FAMILY_SNAPSHOTS])
        keep(&l->of[TRACE_FAMILY_SNAPSHOTS], s->arena, &out->snapshot, &out->n_snapshots);
    for (int f = 0; f < TRACE_FAMILY_SNAPSHOTS; f++) {
        if (!profiles[s->which].takes[f] || !l->of[f].n)
            continue;
        if (f == TRACE_FAMILY_TIMELINES && l->of[TRACE_FAMILY_EXPORTS].n && s->which == TRACE_PROFILES_AUTO)
            trace_warn(s->notes, l->of[TRACE_FAMILY_EXPORTS].file[0].path,
                       "is left out beside the traces of PyTorch's profiler; --profile-mode nsys takes it");
        if (f != TRACE_FAMILY_EXECUTION_TRACES && profiles[s->which].takes[TRACE_FAMILY_EXECUTION_TRACES])
            keep(&l->of[TRACE_FAMILY_EXECUTION_TRACES], s->arena, &out->execution, &out->n_executions);
        keep(&l->of[f], s->arena, &out->trace, &out->n_traces);
        return;
    }
}

/* False for a link that leads back. */
static bool is_another_dir(const char *path, const char *than)
{
    struct stat a, b;

    return stat(path, &a) == 0 && S_ISDIR(a.st_mode) && stat(than, &b) == 0 &&
           (a.st_ino != b.st_ino || a.st_dev != b.st_dev);
}

/* The directories below `dir` that match a pattern, sorted. */
static dse_status expand(trace_search *s, const char *dir, const char *pattern, const char ***out, size_t *n,
                         dse_error *err)
{
    const char *last = strrchr(pattern, '/'), *parent = dir, **name;
    size_t n_names;
    dse_status st;

    *n = 0;
    if (pattern[strlen(pattern) - 1] != '*') {
        *out = DSE_ARENA_NEW(s->arena, const char *, 1);
        (*out)[0] = dse_arena_printf(s->arena, "%s/%s", dir, pattern);
        *n = dse_is_dir((*out)[0]);
        return DSE_OK;
    }
    if (last)
        parent = dse_arena_printf(s->arena, "%s/%.*s", dir, (int)(last - pattern), pattern);
    if (!dse_is_dir(parent) || access(parent, R_OK | X_OK) != 0)
        return DSE_OK;
    if ((st = dse_list_names(parent, s->arena, &name, &n_names, err)) != DSE_OK)
        return st;
    *out = name;
    for (size_t i = 0; i < n_names; i++) {
        const char *path = dse_arena_printf(s->arena, "%s/%s", parent, name[i]);

        if (name[i][0] != '.' && strcmp(name[i], "analysis_output") != 0 && is_another_dir(path, dir))
            name[(*n)++] = path;
    }
    return DSE_OK;
}

static dse_status fail_several(const char *dir, const char *const *place, size_t n, dse_error *err)
{
    const char *name[6];
    char list[600];

    for (size_t i = 0; i < n && i < 6; i++)
        name[i] = place[i] + strlen(dir) + 1;
    dse_join(list, sizeof list, name, n < 6 ? n : 6);
    return dse_fail(
        err, DSE_E_CONFIG,
        "'%.200s' has traces in %zu directories: %s%s; give one of them, or one with the files of "
        "all ranks",
        dir, n, list, n > 6 ? ", ..." : "");
}

/* Takes the traces of the only one of these directories that has some; several are an error. */
static dse_status search_dirs(trace_search *s, const char *dir, const char **place, size_t n,
                              trace_found *out, dse_error *err)
{
    dse_status st = DSE_OK;
    size_t n_with = 0;

    for (size_t i = 0; st == DSE_OK && i < n; i++) {
        trace_found here = {0};
        trace_listing l = {0};

        if (access(place[i], R_OK | X_OK) != 0)
            trace_warn(s->notes, place[i], "may not be read, and is left out");
        else
            st = trace_list_dir(s, place[i], &l, err);
        if (st == DSE_OK)
            trace_take(s, &l, &here);
        trace_listing_free(&l);
        if (!here.n_traces)
            continue;
        out->trace = here.trace;
        out->n_traces = here.n_traces;
        out->execution = here.execution;
        out->n_executions = here.n_executions;
        if (here.n_snapshots && !out->n_snapshots) {
            out->snapshot = here.snapshot;
            out->n_snapshots = here.n_snapshots;
        }
        place[n_with++] = place[i];
    }
    return st == DSE_OK && n_with > 1 ? fail_several(dir, place, n_with, err) : st;
}

static dse_status find_below(trace_search *s, const char *dir, trace_found *out, dse_error *err)
{
    static const char *const places[] = {"profile_traces",
                                         "traces",
                                         "traces/profile_traces",
                                         "traces/profile_traces/*",
                                         "profile_traces/*",
                                         "plugins/profile/*",
                                         "traces/*",
                                         "*"};
    dse_status st = DSE_OK;

    for (size_t i = 0; st == DSE_OK && !out->n_traces && i < DSE_COUNT(places); i++) {
        const char **place;
        size_t n;

        st = expand(s, dir, places[i], &place, &n, err);
        if (st == DSE_OK)
            st = search_dirs(s, dir, place, n, out, err);
    }
    return st;
}

static dse_status find_snapshots(trace_search *s, const char *dir, trace_found *out, dse_error *err)
{
    static const struct {
        const char *below;
        bool named; /* append the name of `dir` */
    } places[] = {{"memory_snapshot", false},
                  {"../memory_snapshot", true},
                  {"../memory_snapshot", false},
                  {"../../memory_snapshot", true}};
    const char *slash = strrchr(dir, '/'), *name = slash ? slash + 1 : dir;
    dse_status st = DSE_OK;

    for (size_t i = 0; st == DSE_OK && !out->n_snapshots && i < DSE_COUNT(places); i++) {
        trace_listing l = {0};
        const char *place = dse_arena_printf(s->arena, "%s/%s%s%s", dir, places[i].below,
                                             places[i].named ? "/" : "", places[i].named ? name : "");

        if (dse_is_dir(place) && access(place, R_OK | X_OK) == 0)
            st = trace_list_dir(s, place, &l, err);
        if (st == DSE_OK)
            keep(&l.of[TRACE_FAMILY_SNAPSHOTS], s->arena, &out->snapshot, &out->n_snapshots);
        trace_listing_free(&l);
    }
    return st;
}

/* Searches beside the given directory, then beside the one that has the traces. */
static dse_status find_all_snapshots(trace_search *s, const char *dir, trace_found *out, dse_error *err)
{
    dse_status st = out->n_snapshots ? DSE_OK : find_snapshots(s, dir, out, err);
    const char *trace = out->n_traces ? out->trace[0].path : NULL;

    if (st != DSE_OK || out->n_snapshots || !trace)
        return st;
    dir = dse_arena_strndup(s->arena, trace, (size_t)(strrchr(trace, '/') - trace));
    return find_snapshots(s, dir, out, err);
}

/* ---- directories without a trace ------------------------------------------------------------- */

static bool is_side_file(const char *name)
{
    static const char *const patterns[] = {"*gates_logs*", "gate_logs_*.json", "bench_results.jsonl",
                                           "results_json", "*.latency.json",   NULL};

    return trace_matches_any(name, patterns);
}

static dse_status no_trace(const trace_search *s, const char *dir, const char *const *name, size_t n,
                           dse_error *err)
{
    const char *some[5];
    char list[400];

    if (!n)
        return dse_fail(err, DSE_E_IO, "no trace in '%.200s': the directory is empty; looked for %s", dir,
                        profiles[s->which].what);
    for (size_t i = 0; i < n && i < 5; i++)
        some[i] = name[i];
    dse_join(list, sizeof list, some, n < 5 ? n : 5);
    if (s->odd)
        return dse_fail(err, DSE_E_IO, "no trace in '%.200s': '%.200s' is %s", dir, s->odd + strlen(dir) + 1,
                        s->why);
    return dse_fail(err, DSE_E_IO, "no trace in '%.200s': looked for %s; found %s%s, none of which is one",
                    dir, profiles[s->which].what, list, n > 5 ? ", ..." : "");
}

static dse_status note_side_files(trace_search *s, const char *dir, trace_found *out, dse_error *err)
{
    const char **name;
    size_t n;
    dse_status st = dse_list_names(dir, s->arena, &name, &n, err);

    for (size_t i = 0; st == DSE_OK && i < n; i++)
        out->has_side_files = out->has_side_files || is_side_file(name[i]);
    if (st == DSE_OK && !out->n_traces && !out->n_snapshots && !out->has_side_files)
        st = no_trace(s, dir, name, n, err);
    return st;
}

static dse_status discover_file(trace_search *s, const char *path, trace_found *out, dse_error *err)
{
    trace_listing l = {0};
    const trace_reader *reader;
    dse_status st = trace_reader_find(path, &reader, err);

    if (st == DSE_OK && !reader)
        return dse_fail_at(err, DSE_E_SYNTAX, path, "this is no trace, it is %s; looked for %s",
                           trace_what_else(path), profiles[s->which].what);
    if (st == DSE_OK && !profiles[s->which].takes[reader->family])
        return dse_fail_at(err, DSE_E_CONFIG, path, "%s is not what --profile-mode asks for: %s",
                           reader->what, profiles[s->which].what);
    if (st == DSE_OK)
        st = trace_list_file(s, path, &l, err);
    if (st == DSE_OK)
        trace_take(s, &l, out);
    trace_listing_free(&l);
    return st;
}

/* Lists a directory together with the profile_trace/ in it, as the original tools do. */
static dse_status list_both(trace_search *s, const char *dir, trace_listing *l, dse_error *err)
{
    const char *below = dse_arena_printf(s->arena, "%s/profile_trace", dir);
    dse_status st = trace_list_dir(s, dir, l, err);

    if (st != DSE_OK || !is_another_dir(below, dir))
        return st;
    if (access(below, R_OK | X_OK) == 0)
        return trace_list_dir(s, below, l, err);
    trace_warn(s->notes, below, "may not be read, and is left out");
    return DSE_OK;
}

static dse_status discover_dir(trace_search *s, const char *dir, trace_found *out, dse_error *err)
{
    trace_listing l = {0};
    dse_status st = list_both(s, dir, &l, err);

    if (st == DSE_OK)
        trace_take(s, &l, out);
    trace_listing_free(&l);
    if (st == DSE_OK && !out->n_traces && !out->n_snapshots)
        st = find_below(s, dir, out, err);
    if (st == DSE_OK && profiles[s->which].takes[TRACE_FAMILY_SNAPSHOTS])
        st = find_all_snapshots(s, dir, out, err);
    if (st == DSE_OK)
        st = note_side_files(s, dir, out, err);
    return st;
}

/* Removes slashes at the end. */
static const char *trim(dse_arena *a, const char *path)
{
    size_t n = strlen(path);

    while (n > 1 && path[n - 1] == '/')
        n--;
    return dse_arena_strndup(a, path, n);
}

dse_status trace_discover(const char *path, trace_profiles which, dse_arena *a, trace_found *out,
                          trace_record *notes, dse_error *err)
{
    trace_search s = {.which = which, .arena = a, .notes = notes};
    struct stat sb;

    *out = (trace_found){0};
    path = trim(a, path);
    if (stat(path, &sb) != 0)
        return dse_fail_errno(err, DSE_E_IO, "cannot open '%s'", path);
    if (!S_ISDIR(sb.st_mode) &&
        !S_ISREG(sb.st_mode)) /* opening a pipe waits for a writer, and may never end */
        return dse_fail(err, DSE_E_IO,
                        "'%s' is no file: a trace is looked at more than once, which a pipe or a device does "
                        "not allow; write it into a file",
                        path);
    return S_ISDIR(sb.st_mode) ? discover_dir(&s, path, out, err) : discover_file(&s, path, out, err);
}
