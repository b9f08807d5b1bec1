#include "trace/listing.h"

#include "unit/unit.h"

/* ---- what a directory might hold ----------------------------------------------------------- */

static const trace_reader chrome = {.family = TRACE_FAMILY_TIMELINES},
                          xplane = {.family = TRACE_FAMILY_TIMELINES},
                          nsys = {.family = TRACE_FAMILY_EXPORTS}, csv = {.family = TRACE_FAMILY_REPORTS},
                          et = {.family = TRACE_FAMILY_EXECUTION_TRACES},
                          pickle = {.family = TRACE_FAMILY_SNAPSHOTS},
                          json = {.family = TRACE_FAMILY_SNAPSHOTS};

typedef struct {
    dse_arena arena;
    trace_record notes;
    trace_listing holds;
} folder;

static void add(folder *f, const char *path, const trace_reader *reader)
{
    trace_file_list *l = &f->holds.of[reader->family];

    DSE_GROW(l->file, l->cap, l->n + 1);
    l->file[l->n++] = (trace_file){path, reader};
}

/* The paths that are taken: traces, a bar, snapshots. */
static void taken(folder *f, trace_profiles which, const char *expected)
{
    trace_search s = {.which = which, .arena = &f->arena, .notes = &f->notes};
    trace_found found = {0};
    dse_strbuf seen;

    trace_record_free(&f->notes);
    trace_take(&s, &f->holds, &found);
    dse_strbuf_init(&seen);
    for (size_t i = 0; i < found.n_traces; i++)
        dse_strbuf_addf(&seen, "%s ", found.trace[i].path);
    dse_strbuf_adds(&seen, "|");
    for (size_t i = 0; i < found.n_snapshots; i++)
        dse_strbuf_addf(&seen, " %s", found.snapshot[i].path);
    assert_string_equal(seen.data, expected);
    dse_strbuf_free(&seen);
}

static void finish(folder *f)
{
    trace_listing_free(&f->holds);
    trace_record_free(&f->notes);
    dse_arena_free(&f->arena);
}

/* ---- families ------------------------------------------------------------------------------ */

CLAIM(of_all_kinds_timelines_are_taken_and_snapshots_beside_them)
{
    folder f = {0};

    add(&f, "a.json", &chrome);
    add(&f, "b.sqlite", &nsys);
    add(&f, "c.csv", &csv);
    add(&f, "d.json", &et);
    add(&f, "e.pickle", &pickle);
    add(&f, "f.json", &json);
    taken(&f, TRACE_PROFILES_AUTO, "a.json | e.pickle f.json");
    assert_int_equal(f.notes.n_warnings, 1);
    assert_string_equal(f.notes.warning[0].text,
                        "b.sqlite: is left out beside the traces of PyTorch's profiler; "
                        "--profile-mode nsys takes it");
    taken(&f, TRACE_PROFILES_TORCH, "a.json | e.pickle f.json");
    assert_int_equal(f.notes.n_warnings, 0);
    taken(&f, TRACE_PROFILES_NSYS, "b.sqlite |");
    finish(&f);
}

CLAIM(execution_traces_are_taken_alone)
{
    folder f = {0};

    add(&f, "d.json", &et);
    taken(&f, TRACE_PROFILES_AUTO, "d.json |");
    taken(&f, TRACE_PROFILES_NSYS, "|");
    add(&f, "c.csv", &csv);
    taken(&f, TRACE_PROFILES_AUTO, "c.csv |");
    taken(&f, TRACE_PROFILES_TORCH, "d.json |");
    add(&f, "b.sqlite", &nsys);
    taken(&f, TRACE_PROFILES_AUTO, "b.sqlite |");
    finish(&f);
}

CLAIM(snapshots_may_be_all_there_is)
{
    folder f = {0};

    add(&f, "e.pickle", &pickle);
    taken(&f, TRACE_PROFILES_AUTO, "| e.pickle");
    taken(&f, TRACE_PROFILES_NSYS, "|");
    finish(&f);
}

/* ---- copies -------------------------------------------------------------------------------- */

CLAIM(a_profile_is_left_out_beside_the_timeline_made_of_it)
{
    folder f = {0};

    add(&f, "p/h0.trace.json.gz", &chrome);
    add(&f, "p/h0.xplane.pb", &xplane);
    add(&f, "p/h1.trace.json", &chrome);
    add(&f, "p/h1.xplane.pb", &xplane);
    add(&f, "p/h10.xplane.pb", &xplane); /* of another host */
    add(&f, "p/perfetto_trace.json.gz", &chrome);
    trace_drop_copies(&f.holds.of[TRACE_FAMILY_TIMELINES]);
    taken(&f, TRACE_PROFILES_AUTO, "p/h0.trace.json.gz p/h1.trace.json p/h10.xplane.pb |");
    finish(&f);
}

CLAIM(a_timeline_of_a_name_like_a_profiles_is_kept)
{
    folder f = {0};

    add(&f, "p/a.trace.json", &chrome);
    add(&f, "p/a.json", &chrome);
    trace_drop_copies(&f.holds.of[TRACE_FAMILY_TIMELINES]);
    taken(&f, TRACE_PROFILES_AUTO, "p/a.trace.json p/a.json |");
    finish(&f);
}

/* ---- files of no format -------------------------------------------------------------------- */

CLAIM(the_first_bytes_say_what_else_a_file_is)
{
    static const struct {
        const char *bytes;
        size_t n;
        const char *what;
    } files[] = {{"", 0, "empty"},
                 {"hello", 5, "of no known format"},
                 {"PK\003\004x", 5, "a zip archive; unpack it"},
                 {"BZh9", 4, "compressed by bzip2; unpack it"},
                 {"\x28\xb5\x2f\xfd", 4, "compressed by zstd; unpack it"},
                 {"version https://git-lfs.x", 25, "a pointer of git-lfs; fetch the file itself"}};
    char path[64], name[128];

    unit_make_folder(path);
    snprintf(name, sizeof name, "%s/file", path);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        unit_write(name, files[i].bytes, files[i].n);
        assert_string_equal(trace_what_else(name), files[i].what);
    }
    unit_remove_folder(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_all_kinds_timelines_are_taken_and_snapshots_beside_them),
        cmocka_unit_test(execution_traces_are_taken_alone),
        cmocka_unit_test(snapshots_may_be_all_there_is),
        cmocka_unit_test(a_profile_is_left_out_beside_the_timeline_made_of_it),
        cmocka_unit_test(a_timeline_of_a_name_like_a_profiles_is_kept),
        cmocka_unit_test(the_first_bytes_say_what_else_a_file_is),
    };
    return RUN_TESTS(tests);
}
