#include "trace/listing.h"

#include "base/array.h"
#include "base/fs.h"
#include "base/names.h"
#include "trace/source.h"

#include <fnmatch.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- one directory --------------------------------------------------------------------------- */

void trace_listing_free(trace_listing *l)
{
    for (int f = 0; f < TRACE_FAMILIES; f++)
        dse_free(l->of[f].file);
}

bool trace_matches_any(const char *name, const char *const *patterns)
{
    for (; *patterns; patterns++)
        if (fnmatch(*patterns, name, 0) == 0)
            return true;
    return false;
}

/* Decided by the name alone. Chakra's .et is a workload, not a profile. */
static bool is_no_trace(const char *name)
{
    static const char *const patterns[] = {".*",    "*.yaml", "*.yml", "*.md",  "*.txt", "*.log", "*.html",
                                           "*.htm", "*.py",   "*.sh",  "*.js",  "*.css", "*.png", "*.svg",
                                           "*.pdf", "*.et",   "*.out", "*.err", NULL};

    return trace_matches_any(name, patterns);
}

static bool is_named_like_a_trace(const char *name)
{
    static const char *const patterns[] = {"*trace*",  "*snapshot*", "*.gz", "*.pickle", "*.pkl",
                                           "*.sqlite", "*.nsys-rep", "*.pb", NULL};

    return trace_matches_any(name, patterns);
}

/* Guesses from its first bytes what a file of no known format is. */
const char *trace_what_else(const char *path)
{
    static const struct {
        size_t at;
        const char *bytes, *what;
    } marks[] = {
        {257, "ustar", "a tar archive; unpack it"},
        {0, "PK\003\004", "a zip archive; unpack it"},
        {0, "version https://git-lfs", "a pointer of git-lfs; fetch the file itself"},
        {0, "/annex/objects", "a pointer of git-annex; fetch the file itself"},
        {0, "\x1f\x8b", "compressed twice; unpack it once"},
        {0, "BZh", "compressed by bzip2; unpack it"},
        {0,
         "\xfd"
         "7zXZ",
         "compressed by xz; unpack it"},
        {0, "\x28\xb5\x2f\xfd", "compressed by zstd; unpack it"},
        {0, "NVIDIA", "a recording of Nsight Systems; convert it: nsys export --type sqlite"},
    };
    char head[512];
    size_t n = trace_source_head(path, head, sizeof head);
    const char *dot = strrchr(path, '.');

    if (dot && (strcmp(dot, ".nsys-rep") == 0 || strcmp(dot, ".qdrep") == 0))
        return "a recording of Nsight Systems; convert it: nsys export --type sqlite";
    for (size_t i = 0; i < DSE_COUNT(marks); i++) {
        size_t length = strlen(marks[i].bytes);

        if (marks[i].at + length <= n && memcmp(head + marks[i].at, marks[i].bytes, length) == 0)
            return marks[i].what;
    }
    return n ? "of no known format" : "empty";
}

dse_status trace_list_file(trace_search *s, const char *path, trace_listing *out, dse_error *err)
{
    const char *slash = strrchr(path, '/');
    const trace_reader *reader;
    dse_status st;
    trace_file_list *to;

    if (access(path, R_OK) != 0) {
        trace_warn(s->notes, path, "may not be read, and is left out");
        return DSE_OK;
    }
    if ((st = trace_reader_find(path, &reader, err)) != DSE_OK)
        return st;
    if (!reader) {
        if (is_named_like_a_trace(slash ? slash + 1 : path)) {
            s->why = s->odd ? s->why : trace_what_else(path);
            s->odd = s->odd ? s->odd : path;
            trace_warn(s->notes, path, "is left out: it is %s", trace_what_else(path));
        }
        return DSE_OK;
    }
    to = &out->of[reader->family];
    DSE_GROW(to->file, to->cap, to->n + 1);
    to->file[to->n++] = (trace_file){path, reader};
    return DSE_OK;
}

static dse_status add_entry(trace_search *s, const char *dir, const char *name, trace_listing *out,
                            dse_error *err)
{
    const char *path;
    struct stat sb;

    if (is_no_trace(name))
        return DSE_OK;
    path = dse_arena_printf(s->arena, "%s/%s", dir, name);
    if (stat(path, &sb) != 0) {
        trace_warn(s->notes, path, "is a link to nothing that can be reached, and is left out");
        return DSE_OK;
    }
    return S_ISREG(sb.st_mode) ? trace_list_file(s, path, out, err) : DSE_OK;
}

/* ---- copies of a timeline -------------------------------------------------------------------- */

/* Bytes of the path before an ending that XLA's profiler uses; 0: another ending. */
static size_t run_of(const char *path)
{
    static const char *const endings[] = {".trace.json.gz", ".trace.json", ".xplane.pb"};

    for (size_t i = 0; i < DSE_COUNT(endings); i++)
        if (dse_ends(path, endings[i]))
            return strlen(path) - strlen(endings[i]);
    return 0;
}

/* XLA's profiler writes a run as x.xplane.pb, and derives x.trace.json.gz and perfetto_trace.json.gz from it.
 * The original tools read x.trace.json.gz. */
static bool is_copy(const trace_file_list *l, size_t i)
{
    const char *path = l->file[i].path;
    size_t run = run_of(path);

    if (strstr(path, "/perfetto_trace.json"))
        return l->n > 1;
    for (size_t j = 0; run && dse_ends(path, ".xplane.pb") && j < l->n; j++)
        if (j != i && run_of(l->file[j].path) == run && memcmp(path, l->file[j].path, run) == 0)
            return true;
    return false;
}

void trace_drop_copies(trace_file_list *l)
{
    size_t n = 0;

    for (size_t i = 0; i < l->n; i++) /* each is compared with all files of the list */
        if (is_copy(l, i))
            l->file[i].reader = NULL;
    for (size_t i = 0; i < l->n; i++)
        if (l->file[i].reader)
            l->file[n++] = l->file[i];
    l->n = n;
}

/* ---- a directory ----------------------------------------------------------------------------- */

dse_status trace_list_dir(trace_search *s, const char *dir, trace_listing *out, dse_error *err)
{
    const char **name;
    size_t n;
    dse_status st = dse_list_names(dir, s->arena, &name, &n, err);

    for (size_t i = 0; st == DSE_OK && i < n; i++)
        st = add_entry(s, dir, name[i], out, err);
    trace_drop_copies(&out->of[TRACE_FAMILY_TIMELINES]);
    return st;
}
