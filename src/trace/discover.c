#include "trace/discover.h"

#include "base/fs.h"
#include "base/names.h"
#include "trace/card.h"
#include "trace/ranks.h"

#include <dirent.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

/* ---- which formats are taken together ------------------------------------------------------- */

typedef enum { TIMELINES, EXPORTS, REPORTS, EXECUTION_TRACES, SNAPSHOTS, FAMILIES } family;

/* By the name of the reader; a format that is not here is a timeline. */
static const struct {
    const char *reader;
    family family;
} families[] = {{"nsys", EXPORTS}, {"nsys_csv", REPORTS}, {"et", EXECUTION_TRACES}, {"snapshot", SNAPSHOTS}};

static family family_of(const trace_reader *r)
{
    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++)
        if (strcmp(r->name, families[i].reader) == 0)
            return families[i].family;
    return TIMELINES;
}

static const struct {
    const char *what; /* that it looks for */
    bool takes[FAMILIES];
} profiles[] = {
    [TRACE_PROFILES_AUTO] =
        {"Kineto or XLA traces, execution traces, memory snapshots, Nsight Systems exports",
         {true, true, true, true, true}},
    [TRACE_PROFILES_TORCH] = {"Kineto or XLA traces, execution traces, memory snapshots",
                              {true, false, false, true, true}},
    [TRACE_PROFILES_NSYS] = {"Nsight Systems exports (.sqlite) or reports (.csv)",
                             {false, true, true, false, false}},
};

/* ---- one directory ------------------------------------------------------------------------- */

typedef struct {
    trace_profiles which;
    dse_arena *arena;
    trace_record *notes;
    const char *odd, *why; /* the first file that is named like a trace and has no known format; what it is */
} search;

typedef struct {
    size_t n, cap;
    trace_file *file;
} file_list;

/* What a directory holds, by family. */
typedef struct {
    file_list of[FAMILIES];
} listing;

static void listing_free(listing *l)
{
    for (int f = 0; f < FAMILIES; f++)
        dse_free(l->of[f].file);
}

static bool matches_any(const char *name, const char *const *patterns)
{
    for (; *patterns; patterns++)
        if (fnmatch(*patterns, name, 0) == 0)
            return true;
    return false;
}

/* Without a look inside. Chakra's .et is a workload, no profile. */
static bool is_no_trace(const char *name)
{
    static const char *const patterns[] = {".*",    "*.yaml", "*.yml", "*.md",  "*.txt", "*.log", "*.html",
                                           "*.htm", "*.py",   "*.sh",  "*.js",  "*.css", "*.png", "*.svg",
                                           "*.pdf", "*.et",   "*.out", "*.err", NULL};

    return matches_any(name, patterns);
}

static bool is_named_like_a_trace(const char *name)
{
    static const char *const patterns[] = {"*trace*",  "*snapshot*", "*.gz", "*.pickle", "*.pkl",
                                           "*.sqlite", "*.nsys-rep", "*.pb", NULL};

    return matches_any(name, patterns);
}

/* What a file without a known format is, where its first bytes tell. */
static const char *what_else(const char *path)
{
    static const struct {
        size_t at;
        const char *bytes, *what;
    } marks[] = {
        {257, "ustar", "a tar archive; unpack it"},
        {0, "PK\003\004", "a zip archive; unpack it"},
        {0, "version https://git-lfs", "a pointer of git-lfs; fetch the file itself"},
        {0, "/annex/objects", "a pointer of git-annex; fetch the file itself"},
        {0, "BZh", "compressed by bzip2; unpack it"},
        {0,
         "\xfd"
         "7zXZ",
         "compressed by xz; unpack it"},
        {0, "\x28\xb5\x2f\xfd", "compressed by zstd; unpack it"},
        {0, "NVIDIA", "a recording of Nsight Systems; convert it: nsys export --type sqlite"},
    };
    char head[512] = "";
    gzFile f = gzopen(path, "rb");
    int n = f ? gzread(f, head, sizeof head - 1) : 0;
    const char *dot = strrchr(path, '.');

    if (f)
        gzclose(f);
    if (dot && (strcmp(dot, ".nsys-rep") == 0 || strcmp(dot, ".qdrep") == 0))
        return "a recording of Nsight Systems; convert it: nsys export --type sqlite";
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        size_t length = strlen(marks[i].bytes);

        if (n >= 0 && marks[i].at + length <= (size_t)n &&
            memcmp(head + marks[i].at, marks[i].bytes, length) == 0)
            return marks[i].what;
    }
    return n ? "of no known format" : "empty";
}

static dse_status add_file(search *s, const char *path, const char *name, listing *out, dse_error *err)
{
    const trace_reader *reader;
    dse_status st;
    file_list *to;

    if (access(path, R_OK) != 0) {
        trace_warn(s->notes, path, "may not be read, and is left out");
        return DSE_OK;
    }
    if ((st = trace_reader_find(path, &reader, err)) != DSE_OK)
        return st;
    if (!reader) {
        if (is_named_like_a_trace(name)) {
            s->why = s->odd ? s->why : what_else(path);
            s->odd = s->odd ? s->odd : path;
            trace_warn(s->notes, path, "is left out: it is %s", what_else(path));
        }
        return DSE_OK;
    }
    to = &out->of[family_of(reader)];
    if (!DSE_GROW(to->file, to->cap, to->n + 1))
        return dse_fail_nomem(err);
    to->file[to->n++] = (trace_file){path, reader};
    return DSE_OK;
}

static dse_status add_entry(search *s, const char *dir, const char *name, listing *out, dse_error *err)
{
    const char *path;
    struct stat sb;

    if (is_no_trace(name))
        return DSE_OK;
    if (!(path = dse_arena_printf(s->arena, "%s/%s", dir, name)))
        return dse_fail_nomem(err);
    if (stat(path, &sb) != 0) {
        trace_warn(s->notes, path, "is a link to nothing that can be reached, and is left out");
        return DSE_OK;
    }
    return S_ISREG(sb.st_mode) ? add_file(s, path, name, out, err) : DSE_OK;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The names in a directory, in the order of their bytes, in the arena. */
static dse_status list_names(const char *dir, dse_arena *a, const char ***out, size_t *n, dse_error *err)
{
    const char **name = NULL;
    size_t cap = 0;
    struct dirent *e;
    DIR *d = opendir(dir);
    dse_status st = DSE_OK;

    *n = 0;
    *out = NULL;
    if (!d)
        return dse_fail_errno(err, DSE_E_IO, "cannot read the directory '%s'", dir);
    while (st == DSE_OK && (e = readdir(d))) {
        char *copy;

        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        copy = dse_arena_strdup(a, e->d_name);
        if (!copy || !DSE_GROW(name, cap, *n + 1))
            st = dse_fail_nomem(err);
        else
            name[(*n)++] = copy;
    }
    closedir(d);
    if (st == DSE_OK && *n) {
        qsort(name, *n, sizeof *name, by_text);
        if (!(*out = DSE_ARENA_NEW(a, const char *, *n)))
            st = dse_fail_nomem(err);
        else
            memcpy(*out, name, *n * sizeof *name);
    }
    dse_free(name);
    return st;
}

static dse_status list_dir(search *s, const char *dir, listing *out, dse_error *err)
{
    const char **name;
    size_t n;
    dse_status st = list_names(dir, s->arena, &name, &n, err);

    for (size_t i = 0; st == DSE_OK && i < n; i++)
        st = add_entry(s, dir, name[i], out, err);
    return st;
}

/* ---- copies of a timeline ------------------------------------------------------------------ */

static bool ends(const char *text, size_t n, const char *end)
{
    size_t e = strlen(end);

    return n >= e && memcmp(text + n - e, end, e) == 0;
}

/* Bytes of the path before an ending that a profiler gives to one and the same run; 0: it has none. */
static size_t run_of(const char *path)
{
    static const char *const endings[] = {".trace.json.gz", ".trace.json", ".xplane.pb"};
    size_t n = strlen(path);

    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++)
        if (ends(path, n, endings[i]))
            return n - strlen(endings[i]);
    return 0;
}

/* XLA's profiler writes a run as x.xplane.pb and, made from that, x.trace.json.gz and perfetto_trace.json.gz. The original
 * tools read the second. */
static bool is_copy(const file_list *l, size_t i)
{
    const char *path = l->file[i].path;
    size_t run = run_of(path);

    if (strstr(path, "/perfetto_trace.json"))
        return l->n > 1;
    for (size_t j = 0; run && ends(path, strlen(path), ".xplane.pb") && j < l->n; j++)
        if (j != i && run_of(l->file[j].path) == run && memcmp(path, l->file[j].path, run) == 0)
            return true;
    return false;
}

static void drop_copies(file_list *l)
{
    size_t n = 0;

    for (size_t i = 0; i < l->n; i++) /* each is compared with all that were there */
        if (is_copy(l, i))
            l->file[i].reader = NULL;
    for (size_t i = 0; i < l->n; i++)
        if (l->file[i].reader)
            l->file[n++] = l->file[i];
    l->n = n;
}

/* ---- places -------------------------------------------------------------------------------- */

static dse_status keep(const file_list *l, dse_arena *a, trace_file **to, size_t *n, dse_error *err)
{
    if (!(*to = DSE_ARENA_NEW(a, trace_file, l->n)))
        return dse_fail_nomem(err);
    if (l->n)
        memcpy(*to, l->file, l->n * sizeof *l->file);
    *n = l->n;
    return DSE_OK;
}

/* Takes the first family that is there, and snapshots beside it. */
static dse_status take(search *s, listing *l, trace_found *out, dse_error *err)
{
    if (profiles[s->which].takes[SNAPSHOTS] &&
        keep(&l->of[SNAPSHOTS], s->arena, &out->snapshot, &out->n_snapshots, err) != DSE_OK)
        return DSE_E_NOMEM;
    drop_copies(&l->of[TIMELINES]);
    for (int f = 0; f < SNAPSHOTS; f++) {
        if (!profiles[s->which].takes[f] || !l->of[f].n)
            continue;
        if (f == TIMELINES && l->of[EXPORTS].n && s->which == TRACE_PROFILES_AUTO)
            trace_warn(s->notes, l->of[EXPORTS].file[0].path,
                       "is left out beside the traces of PyTorch's profiler; --profile-mode nsys takes it");
        return keep(&l->of[f], s->arena, &out->trace, &out->n_traces, err);
    }
    return DSE_OK;
}

/* The directories of a pattern below another, sorted. */
static dse_status expand(search *s, const char *dir, const char *pattern, const char ***out, size_t *n,
                         dse_error *err)
{
    const char *last = strrchr(pattern, '/'), *parent = dir, **name;
    size_t n_names;
    dse_status st;

    *n = 0;
    if (pattern[strlen(pattern) - 1] != '*') {
        if (!(*out = DSE_ARENA_NEW(s->arena, const char *, 1)) ||
            !((*out)[0] = dse_arena_printf(s->arena, "%s/%s", dir, pattern)))
            return dse_fail_nomem(err);
        *n = dse_is_dir((*out)[0]);
        return DSE_OK;
    }
    if (last && !(parent = dse_arena_printf(s->arena, "%s/%.*s", dir, (int)(last - pattern), pattern)))
        return dse_fail_nomem(err);
    if (!dse_is_dir(parent) || access(parent, R_OK | X_OK) != 0)
        return DSE_OK;
    if ((st = list_names(parent, s->arena, &name, &n_names, err)) != DSE_OK)
        return st;
    *out = name;
    for (size_t i = 0; i < n_names; i++) {
        const char *path = dse_arena_printf(s->arena, "%s/%s", parent, name[i]);

        if (!path)
            return dse_fail_nomem(err);
        if (name[i][0] != '.' && strcmp(name[i], "analysis_output") != 0 && dse_is_dir(path))
            name[(*n)++] = path;
    }
    return DSE_OK;
}

static dse_status several(const char *dir, const char *const *place, size_t n, dse_error *err)
{
    const char *name[6];
    char list[600];

    for (size_t i = 0; i < n && i < 6; i++)
        name[i] = place[i] + strlen(dir) + 1;
    dse_join(list, sizeof list, name, n < 6 ? n : 6);
    return dse_fail(err, DSE_E_CONFIG, "'%.200s' has traces in %zu directories: %s%s; give one of them", dir,
                    n, list, n > 6 ? ", ..." : "");
}

/* Takes the traces of the one directory among these that has some. */
static dse_status look_in(search *s, const char *dir, const char **place, size_t n, trace_found *out,
                          dse_error *err)
{
    dse_status st = DSE_OK;
    size_t n_with = 0;

    for (size_t i = 0; st == DSE_OK && i < n; i++) {
        trace_found here = {0};
        listing l = {0};

        if (access(place[i], R_OK | X_OK) != 0)
            trace_warn(s->notes, place[i], "may not be read, and is left out");
        else
            st = list_dir(s, place[i], &l, err);
        if (st == DSE_OK)
            st = take(s, &l, &here, err);
        listing_free(&l);
        if (!here.n_traces)
            continue;
        out->trace = here.trace;
        out->n_traces = here.n_traces;
        if (here.n_snapshots && !out->n_snapshots) {
            out->snapshot = here.snapshot;
            out->n_snapshots = here.n_snapshots;
        }
        place[n_with++] = place[i];
    }
    return st == DSE_OK && n_with > 1 ? several(dir, place, n_with, err) : st;
}

static dse_status find_below(search *s, const char *dir, trace_found *out, dse_error *err)
{
    static const char *const places[] = {"profile_trace",         "profile_traces",    "traces",
                                         "traces/profile_traces", "plugins/profile/*", "*"};
    dse_status st = DSE_OK;

    for (size_t i = 0; st == DSE_OK && !out->n_traces && i < sizeof places / sizeof places[0]; i++) {
        const char **place;
        size_t n;

        st = expand(s, dir, places[i], &place, &n, err);
        if (st == DSE_OK)
            st = look_in(s, dir, place, n, out, err);
    }
    return st;
}

static dse_status find_snapshots(search *s, const char *dir, trace_found *out, dse_error *err)
{
    static const struct {
        const char *below;
        bool named; /* a directory of the same name in it */
    } places[] = {{"memory_snapshot", false},
                  {"../memory_snapshot", true},
                  {"../memory_snapshot", false},
                  {"../../memory_snapshot", true}};
    const char *slash = strrchr(dir, '/'), *name = slash ? slash + 1 : dir;
    dse_status st = DSE_OK;

    for (size_t i = 0; st == DSE_OK && !out->n_snapshots && i < sizeof places / sizeof places[0]; i++) {
        listing l = {0};
        const char *place = dse_arena_printf(s->arena, "%s/%s%s%s", dir, places[i].below,
                                             places[i].named ? "/" : "", places[i].named ? name : "");

        if (!place)
            st = dse_fail_nomem(err);
        else if (dse_is_dir(place) && access(place, R_OK | X_OK) == 0)
            st = list_dir(s, place, &l, err);
        if (st == DSE_OK)
            st = keep(&l.of[SNAPSHOTS], s->arena, &out->snapshot, &out->n_snapshots, err);
        listing_free(&l);
    }
    return st;
}

/* ---- what is there instead ----------------------------------------------------------------- */

static bool is_side_file(const char *name)
{
    static const char *const patterns[] = {"*gates_logs*", "gate_logs_*.json", "bench_results.jsonl",
                                           "results_json", "*.latency.json",   NULL};

    return matches_any(name, patterns);
}

static dse_status no_trace(const search *s, const char *dir, const char *const *name, size_t n,
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

static dse_status look_beside(search *s, const char *dir, trace_found *out, dse_error *err)
{
    const char **name;
    size_t n;
    dse_status st = list_names(dir, s->arena, &name, &n, err);

    for (size_t i = 0; st == DSE_OK && i < n; i++)
        out->has_side_files = out->has_side_files || is_side_file(name[i]);
    if (st == DSE_OK && !out->n_traces && !out->n_snapshots && !out->has_side_files)
        st = no_trace(s, dir, name, n, err);
    return st;
}

static dse_status discover_file(search *s, const char *path, trace_found *out, dse_error *err)
{
    listing l = {0};
    const trace_reader *reader;
    dse_status st = trace_reader_find(path, &reader, err);

    if (st == DSE_OK && !reader)
        return dse_fail_at(err, DSE_E_SYNTAX, path, "this is no trace, it is %s; looked for %s",
                           what_else(path), profiles[s->which].what);
    if (st == DSE_OK && !profiles[s->which].takes[family_of(reader)])
        return dse_fail_at(err, DSE_E_CONFIG, path, "this is a %s; --profile-mode asks for %s", reader->what,
                           profiles[s->which].what);
    if (st == DSE_OK)
        st = add_file(s, path, path, &l, err);
    if (st == DSE_OK)
        st = take(s, &l, out, err);
    listing_free(&l);
    return st;
}

static dse_status discover_dir(search *s, const char *dir, trace_found *out, dse_error *err)
{
    listing l = {0};
    dse_status st = list_dir(s, dir, &l, err);

    if (st == DSE_OK)
        st = take(s, &l, out, err);
    listing_free(&l);
    if (st == DSE_OK && !out->n_traces && !out->n_snapshots)
        st = find_below(s, dir, out, err);
    if (st == DSE_OK && !out->n_snapshots && profiles[s->which].takes[SNAPSHOTS])
        st = find_snapshots(s, dir, out, err);
    if (st == DSE_OK)
        st = look_beside(s, dir, out, err);
    return st;
}

/* Without slashes at its end. */
static const char *tidy(dse_arena *a, const char *path)
{
    size_t n = strlen(path);

    while (n > 1 && path[n - 1] == '/')
        n--;
    return dse_arena_strndup(a, path, n);
}

dse_status trace_discover(const char *path, trace_profiles which, dse_arena *a, trace_found *out,
                          trace_record *notes, dse_error *err)
{
    search s = {.which = which, .arena = a, .notes = notes};
    struct stat sb;

    *out = (trace_found){0};
    if (!(path = tidy(a, path)))
        return dse_fail_nomem(err);
    if (stat(path, &sb) != 0)
        return dse_fail_errno(err, DSE_E_IO, "cannot open '%s'", path);
    return S_ISDIR(sb.st_mode) ? discover_dir(&s, path, out, err) : discover_file(&s, path, out, err);
}

/* ---- cards --------------------------------------------------------------------------------- */

/* Whether a file of another name is a card; what cannot be read as YAML is none. */
static bool is_card(const char *path, dse_arena *a)
{
    dse_error err = DSE_ERROR_INIT;
    cfg_doc doc = {0};

    return cfg_load(path, a, &doc, &err) == DSE_OK && trace_card_is(&doc);
}

static dse_status only_card(const char *dir, const char *const *name, size_t n, dse_arena *a,
                            const char **out, dse_error *err)
{
    static const char *const patterns[] = {"*.yaml", "*.yml", NULL};

    for (size_t i = 0; i < n; i++) {
        const char *path;

        if (name[i][0] == '.' || !matches_any(name[i], patterns))
            continue;
        if (!(path = dse_arena_printf(a, "%s/%s", dir, name[i])))
            return dse_fail_nomem(err);
        if (!dse_is_file(path) || !is_card(path, a))
            continue;
        if (*out)
            return dse_fail(err, DSE_E_CONFIG,
                            "'%.200s' and '%.200s' both are workload cards; name one with --card", *out,
                            name[i]);
        *out = path;
    }
    return DSE_OK;
}

dse_status trace_find_card(const char *path, dse_arena *a, const char **out, dse_error *err)
{
    static const char *const names[] = {"workload_card.yaml",       "workload_card_tp.yaml",
                                        "workload_card_pp.yaml",    "workload_card_dp_tp.yaml",
                                        "workload_card_dp_pp.yaml", "workload_card_3d.yaml"};
    const char *slash = strrchr(path, '/'), *dir = path, **name;
    size_t n;
    dse_status st;

    *out = NULL;
    if (!dse_is_dir(path))
        dir = slash ? dse_arena_strndup(a, path, slash == path ? 1 : (size_t)(slash - path)) : ".";
    if (!dir || !(dir = tidy(a, dir)))
        return dse_fail_nomem(err);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *card = dse_arena_printf(a, "%s/%s", dir, names[i]);

        if (!card)
            return dse_fail_nomem(err);
        if (dse_is_file(card)) {
            *out = card;
            return DSE_OK;
        }
    }
    st = list_names(dir, a, &name, &n, err);
    return st == DSE_OK ? only_card(dir, name, n, a, out, err) : st;
}

/* ---- a rank before reading ----------------------------------------------------------------- */

/* The number behind "rank" in the object distributedInfo, which Kineto writes before the events. */
static uint32_t rank_in(const char *head)
{
    const char *at = strstr(head, "\"distributedInfo\""), *end;
    unsigned long v;
    char *stop;

    if (!at || !(end = strchr(at, '}')) || !(at = strstr(at, "\"rank\"")) || at > end)
        return DSE_NONE;
    at += strlen("\"rank\"");
    at += strspn(at, " \t\r\n:");
    v = strtoul(at, &stop, 10);
    return stop != at && stop - at < 10 && *at != '-' ? (uint32_t)v : DSE_NONE;
}

uint32_t trace_peek_rank(const char *path)
{
    char *head = dse_realloc(NULL, TRACE_HEAD_BYTES + 1);
    gzFile f = head ? gzopen(path, "rb") : NULL;
    int n = f ? gzread(f, head, TRACE_HEAD_BYTES) : -1;
    uint32_t v = DSE_NONE;

    if (n >= 0) {
        head[n] = '\0';
        v = rank_in(head);
    }
    if (f)
        gzclose(f);
    dse_free(head);
    return v != DSE_NONE ? v : trace_rank_of_name(path, TRACE_KINETO);
}
