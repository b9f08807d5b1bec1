#include "trace/discover.h"

#include "unit/unit.h"

/* What is taken for a timeline: recognised, and never read here. */
#define TIMELINE "{\"traceEvents\": []}"

/* ---- a folder to look in ------------------------------------------------------------------- */

typedef struct {
    char folder[64];
    dse_arena arena;
    trace_found found;
    trace_record notes;
    dse_error err;
    dse_status st;
} place;

static place begin(void)
{
    place p = {.err = DSE_ERROR_INIT};

    unit_make_folder(p.folder);
    dse_arena_init(&p.arena);
    return p;
}

static const char *path_in(place *p, const char *name)
{
    return dse_arena_printf(&p->arena, "%s/%s", p->folder, name);
}

static void add(place *p, const char *name, const char *text) { unit_write_text(path_in(p, name), text); }

static void add_folder(place *p, const char *name) { assert_int_equal(mkdir(path_in(p, name), 0777), 0); }

static void look(place *p, const char *name, trace_profiles which)
{
    trace_record_free(&p->notes);
    p->err = (dse_error)DSE_ERROR_INIT;
    p->st =
        trace_discover(*name ? path_in(p, name) : p->folder, which, &p->arena, &p->found, &p->notes, &p->err);
}

static void finish(place *p)
{
    trace_record_free(&p->notes);
    dse_arena_free(&p->arena);
    unit_remove_folder(p->folder);
}

static void has(place *p, const char *names)
{
    dse_strbuf seen;

    assert_ok(p->st, &p->err);
    dse_strbuf_init(&seen);
    for (size_t i = 0; i < p->found.n_traces; i++)
        dse_strbuf_addf(&seen, "%s%s", i ? " " : "", p->found.trace[i].path + strlen(p->folder) + 1);
    assert_string_equal(seen.data, names);
    dse_strbuf_free(&seen);
}

/* The folder's name stands between the two parts. */
static void says(place *p, dse_status st, const char *before, const char *after)
{
    assert_failure(p->st, &p->err, st, "", dse_arena_printf(&p->arena, "%s%s%s", before, p->folder, after));
}

/* ---- what is taken ------------------------------------------------------------------------- */

CLAIM(traces_are_found_by_content_and_sorted_by_name)
{
    place p = begin();

    add(&p, "rank10.json", TIMELINE);
    add(&p, "rank2.whatever", TIMELINE);
    add(&p, "config.json", "{\"a\": 1}");
    add(&p, "b.csv", "x,y\n");
    look(&p, "", TRACE_PROFILES_AUTO);
    has(&p, "rank10.json rank2.whatever");
    assert_int_equal(p.notes.n_warnings, 0);
    finish(&p);
}

CLAIM(what_no_profiler_writes_is_not_opened)
{
    place p = begin();

    add(&p, "a.json", TIMELINE);
    add(&p, ".hidden.json", TIMELINE);
    add(&p, "workload_card.yaml", TIMELINE);
    add(&p, "report.html", TIMELINE);
    add(&p, "run.log", TIMELINE);
    add(&p, "chakra.0.et", TIMELINE);
    assert_int_equal(mkfifo(path_in(&p, "trace.json"), 0666), 0); /* would never return */
    look(&p, "", TRACE_PROFILES_AUTO);
    has(&p, "a.json");
    finish(&p);
}

CLAIM(what_is_named_like_a_trace_and_is_none_is_warned_of)
{
    place p = begin();

    add(&p, "a.json", TIMELINE);
    add(&p, "rank1_trace.json", "");
    add(&p, "rank2_trace.json", "hello");
    add(&p, "rank3.json.gz", "version https://git-lfs.github.com/spec/v1\noid 1\n");
    add(&p, "rank4.nsys-rep", "?");
    assert_int_equal(symlink("nowhere.json", path_in(&p, "z.json")), 0);
    look(&p, "", TRACE_PROFILES_AUTO);
    has(&p, "a.json");
    assert_int_equal(p.notes.n_warnings, 5);
    assert_non_null(strstr(p.notes.warning[0].text, "/rank1_trace.json: is left out: it is empty"));
    assert_non_null(
        strstr(p.notes.warning[1].text, "/rank2_trace.json: is left out: it is of no known format"));
    assert_non_null(strstr(p.notes.warning[2].text, "it is a pointer of git-lfs; fetch the file itself"));
    assert_non_null(strstr(p.notes.warning[3].text, "convert it: nsys export --type sqlite"));
    assert_non_null(strstr(p.notes.warning[4].text, "/z.json: is a link to nothing that can be reached"));
    finish(&p);
}

CLAIM(a_file_that_may_not_be_read_is_left_out_with_a_warning)
{
    place p = begin();

    add(&p, "a.json", TIMELINE);
    add(&p, "b.json", TIMELINE);
    assert_int_equal(chmod(path_in(&p, "b.json"), 0), 0);
    look(&p, "", TRACE_PROFILES_AUTO);
    if (access(path_in(&p, "b.json"), R_OK) != 0) { /* whoever may read all sees no such file */
        has(&p, "a.json");
        assert_non_null(strstr(p.notes.warning[0].text, "/b.json: may not be read, and is left out"));
    }
    finish(&p);
}

CLAIM(links_are_followed)
{
    place p = begin();

    add_folder(&p, "far");
    add(&p, "far/a.json", TIMELINE);
    add_folder(&p, "near");
    assert_int_equal(symlink("../far/a.json", path_in(&p, "near/rank0.json")), 0);
    look(&p, "near", TRACE_PROFILES_AUTO);
    has(&p, "near/rank0.json");
    finish(&p);
}

CLAIM(a_thousand_files_are_found)
{
    place p = begin();
    char name[32];

    for (int i = 0; i < 1000; i++) {
        snprintf(name, sizeof name, "rank%d.json", i);
        add(&p, name, TIMELINE);
    }
    look(&p, "", TRACE_PROFILES_AUTO);
    assert_ok(p.st, &p.err);
    assert_int_equal(p.found.n_traces, 1000);
    finish(&p);
}

CLAIM(one_of_two_that_say_the_same_is_taken)
{
    place p = begin();

    add(&p, "host.trace.json.gz", TIMELINE); /* plain, which is read as well */
    add(&p, "other.trace.json", TIMELINE);
    add(&p, "perfetto_trace.json.gz", TIMELINE);
    look(&p, "", TRACE_PROFILES_AUTO);
    has(&p, "host.trace.json.gz other.trace.json");
    unlink(path_in(&p, "host.trace.json.gz"));
    unlink(path_in(&p, "other.trace.json"));
    look(&p, "", TRACE_PROFILES_AUTO);
    has(&p, "perfetto_trace.json.gz"); /* alone it is all there is */
    finish(&p);
}

/* ---- where --------------------------------------------------------------------------------- */

CLAIM(the_directory_comes_before_those_below_it)
{
    place p = begin();

    add_folder(&p, "profile_traces");
    add(&p, "profile_traces/rank1.json", TIMELINE);
    add(&p, "rank0.json", TIMELINE);
    look(&p, "", TRACE_PROFILES_AUTO);
    has(&p, "rank0.json");
    unlink(path_in(&p, "rank0.json"));
    look(&p, "", TRACE_PROFILES_AUTO);
    has(&p, "profile_traces/rank1.json");
    finish(&p);
}

CLAIM(a_directory_and_its_profile_trace_are_searched_together)
{
    place p = begin();

    add_folder(&p, "profile_trace");
    add(&p, "profile_trace/rank0.json", TIMELINE);
    add(&p, "rank1.json", TIMELINE);
    look(&p, "", TRACE_PROFILES_AUTO);
    has(&p, "rank1.json profile_trace/rank0.json");
    finish(&p);
}

CLAIM(known_layouts_come_before_any_directory)
{
    place p = begin();

    add_folder(&p, "traces");
    add_folder(&p, "traces/profile_traces");
    add_folder(&p, "aaa");
    add_folder(&p, "plugins");
    add_folder(&p, "plugins/profile");
    add_folder(&p, "plugins/profile/2025_01_01");
    add(&p, "aaa/rank0.json", TIMELINE);
    look(&p, "", TRACE_PROFILES_AUTO);
    has(&p, "aaa/rank0.json");
    add(&p, "plugins/profile/2025_01_01/host.trace.json", TIMELINE);
    look(&p, "", TRACE_PROFILES_AUTO);
    has(&p, "plugins/profile/2025_01_01/host.trace.json");
    add(&p, "traces/profile_traces/rank0.json", TIMELINE);
    look(&p, "", TRACE_PROFILES_AUTO);
    has(&p, "traces/profile_traces/rank0.json");
    add(&p, "traces/rank0.json", TIMELINE);
    look(&p, "", TRACE_PROFILES_AUTO);
    has(&p, "traces/rank0.json");
    finish(&p);
}

CLAIM(an_iteration_of_the_guides_layout_is_taken_if_it_is_the_only_one)
{
    place p = begin();

    add_folder(&p, "traces");
    add_folder(&p, "traces/profile_traces");
    add_folder(&p, "traces/profile_traces/iteration_5");
    add_folder(&p, "traces/profile_traces/iteration_10");
    add(&p, "traces/profile_traces/iteration_5/rank0_trace.json", TIMELINE);
    look(&p, "", TRACE_PROFILES_AUTO);
    has(&p, "traces/profile_traces/iteration_5/rank0_trace.json");
    add(&p, "traces/profile_traces/iteration_10/rank0_trace.json", TIMELINE);
    look(&p, "", TRACE_PROFILES_AUTO);
    says(&p, DSE_E_CONFIG, "'",
         "' has traces in 2 directories: traces/profile_traces/iteration_10, "
         "traces/profile_traces/iteration_5; give one "
         "of them, or one with the files of all ranks");
    finish(&p);
}

CLAIM(several_runs_are_refused)
{
    place p = begin();

    add_folder(&p, "b");
    add_folder(&p, "a");
    add_folder(&p, "empty");
    add(&p, "b/rank0.json", TIMELINE);
    add(&p, "a/rank0.json", TIMELINE);
    look(&p, "", TRACE_PROFILES_AUTO);
    says(&p, DSE_E_CONFIG, "'",
         "' has traces in 2 directories: a, b; give one of them, or one with the files of all ranks");
    finish(&p);
}

CLAIM(a_directory_that_holds_itself_ends)
{
    place p = begin();

    assert_int_equal(symlink(".", path_in(&p, "again")), 0);
    add_folder(&p, "a");
    assert_int_equal(symlink("..", path_in(&p, "a/up")), 0);
    add(&p, "a/rank0.json", TIMELINE);
    look(&p, "", TRACE_PROFILES_AUTO);
    has(&p, "a/rank0.json");
    look(&p, "again/again/again/", TRACE_PROFILES_AUTO);
    assert_ok(p.st, &p.err);
    assert_int_equal(p.found.n_traces, 1);
    finish(&p);
}

/* ---- nothing ------------------------------------------------------------------------------- */

#define LOOKED "looked for Kineto or XLA traces, execution traces, memory snapshots, Nsight Systems exports"

CLAIM(nothing_is_said_with_what_is_there_instead)
{
    place p = begin();

    look(&p, "", TRACE_PROFILES_AUTO);
    says(&p, DSE_E_IO, "no trace in '", "': the directory is empty; " LOOKED);
    add(&p, "b.txt", "x");
    add_folder(&p, "a");
    look(&p, "", TRACE_PROFILES_AUTO);
    says(&p, DSE_E_IO, "no trace in '", "': " LOOKED "; found a, b.txt, none of which is one");
    for (char name[] = "c.txt"; name[0] < 'h'; name[0]++)
        add(&p, name, "x");
    look(&p, "", TRACE_PROFILES_NSYS);
    says(&p, DSE_E_IO, "no trace in '",
         "': looked for Nsight Systems exports (.sqlite) or reports (.csv); found a, b.txt, "
         "c.txt, d.txt, e.txt, ..., none of which is one");
    add(&p, "x_trace.json.zip", "PK\003\004....");
    look(&p, "", TRACE_PROFILES_AUTO);
    says(&p, DSE_E_IO, "no trace in '", "': 'x_trace.json.zip' is a zip archive; unpack it");
    finish(&p);
}

CLAIM(a_path_that_is_not_there_is_said)
{
    place p = begin();

    look(&p, "nowhere", TRACE_PROFILES_AUTO);
    says(&p, DSE_E_IO, "cannot open '", "/nowhere': No such file or directory");
    finish(&p);
}

/* Nobody writes to it: opening it would wait for ever. Within a directory it is passed over. */
CLAIM(pipes_and_devices_are_not_opened)
{
#define IS_NO_FILE                                                                                           \
    "' is no file: a trace is looked at more than once, which a pipe or a device does not allow; write it "  \
    "into a file"
    place p = begin();

    assert_int_equal(mkfifo(path_in(&p, "trace.json"), 0600), 0);
    look(&p, "trace.json", TRACE_PROFILES_AUTO);
    says(&p, DSE_E_IO, "'", "/trace.json" IS_NO_FILE);
    assert_int_equal(symlink("/dev/zero", path_in(&p, "zero.json")), 0);
    look(&p, "zero.json", TRACE_PROFILES_AUTO);
    says(&p, DSE_E_IO, "'", "/zero.json" IS_NO_FILE);
    add(&p, "rank0.json", TIMELINE);
    look(&p, "", TRACE_PROFILES_AUTO);
    has(&p, "rank0.json");
    finish(&p);
#undef IS_NO_FILE
}

CLAIM(side_files_alone_are_no_error)
{
    static const char *const folders[] = {"x_gates_logs", "results_json"};
    static const char *const files[] = {"bench_results.jsonl", "run.latency.json", "gate_logs_0.json"};

    for (size_t i = 0; i < 5; i++) {
        place p = begin();

        if (i < 2)
            add_folder(&p, folders[i]);
        else
            add(&p, files[i - 2], "{}");
        look(&p, "", TRACE_PROFILES_AUTO);
        has(&p, "");
        assert_true(p.found.has_side_files);
        finish(&p);
    }
}

/* ---- one file ------------------------------------------------------------------------------ */

CLAIM(one_file_is_taken_whatever_its_name)
{
    place p = begin();

    add(&p, ".hidden.yaml", TIMELINE);
    look(&p, ".hidden.yaml", TRACE_PROFILES_AUTO);
    has(&p, ".hidden.yaml");
    finish(&p);
}

CLAIM(one_file_of_no_format_is_refused)
{
    place p = begin();

    add(&p, "a.json", "[1, 2]");
    look(&p, "a.json", TRACE_PROFILES_TORCH);
    assert_failure(
        p.st, &p.err, DSE_E_SYNTAX, path_in(&p, "a.json"),
        "this is no trace, it is of no known format; looked for Kineto or XLA traces, execution traces, "
        "memory snapshots");
    finish(&p);
}

CLAIM(one_file_of_another_profiler_is_refused)
{
    place p = begin();

    add(&p, "a.json", TIMELINE);
    look(&p, "a.json", TRACE_PROFILES_NSYS);
    assert_failure(
        p.st, &p.err, DSE_E_CONFIG, path_in(&p, "a.json"),
        "Chrome trace (Kineto, XLA, simulated) is not what --profile-mode asks for: Nsight Systems exports "
        "(.sqlite) or reports (.csv)");
    finish(&p);
}

/* ---- cards --------------------------------------------------------------------------------- */

static void card_is(place *p, const char *from, const char *name)
{
    dse_error err = DSE_ERROR_INIT;
    const char *card;

    assert_ok(trace_find_card(*from ? path_in(p, from) : p->folder, &p->arena, &card, &err), &err);
    if (!name)
        assert_null(card);
    else
        assert_string_equal(card, path_in(p, name));
}

CLAIM(the_card_is_found_by_its_name_first)
{
    place p = begin();

    card_is(&p, "", NULL);
    add(&p, "hydra.yaml", "a: 1\n");
    add(&p, "broken.yaml", "a: [\n");
    card_is(&p, "", NULL);
    add(&p, "llama.yml", "workload:\n");
    card_is(&p, "", "llama.yml");
    add(&p, "workload_card_3d.yaml", "?");
    card_is(&p, "", "workload_card_3d.yaml");
    add(&p, "workload_card_tp.yaml", "?");
    card_is(&p, "", "workload_card_tp.yaml");
    add(&p, "workload_card.yaml", "?");
    card_is(&p, "", "workload_card.yaml");
    card_is(&p, "a_trace_beside.json", "workload_card.yaml");
    finish(&p);
}

/* A file can be named in a directory that cannot be listed; for whoever may list all, the card is there. */
CLAIM(a_file_in_a_directory_that_cannot_be_listed_has_no_card_of_another_name)
{
    place p = begin();

    add(&p, "a.json", TIMELINE);
    add(&p, "llama.yml", "workload:\n");
    assert_int_equal(chmod(p.folder, 0300), 0);
    card_is(&p, "a.json", access(p.folder, R_OK) != 0 ? NULL : "llama.yml");
    assert_int_equal(chmod(p.folder, 0700), 0);
    finish(&p);
}

CLAIM(several_cards_of_other_names_are_refused)
{
    place p = begin();
    dse_error err = DSE_ERROR_INIT;
    const char *card;

    add(&p, "b.yaml", "workload:\n");
    add(&p, "a.yaml", "workload:\n");
    p.st = trace_find_card(p.folder, &p.arena, &card, &err);
    p.err = err;
    says(&p, DSE_E_CONFIG, "'", "/a.yaml' and 'b.yaml' both are workload cards; name one with --card");
    finish(&p);
}

/* ---- memory -------------------------------------------------------------------------------- */

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(traces_are_found_by_content_and_sorted_by_name),
        cmocka_unit_test(what_no_profiler_writes_is_not_opened),
        cmocka_unit_test(what_is_named_like_a_trace_and_is_none_is_warned_of),
        cmocka_unit_test(a_file_that_may_not_be_read_is_left_out_with_a_warning),
        cmocka_unit_test(links_are_followed),
        cmocka_unit_test(a_thousand_files_are_found),
        cmocka_unit_test(one_of_two_that_say_the_same_is_taken),
        cmocka_unit_test(the_directory_comes_before_those_below_it),
        cmocka_unit_test(a_directory_and_its_profile_trace_are_searched_together),
        cmocka_unit_test(known_layouts_come_before_any_directory),
        cmocka_unit_test(an_iteration_of_the_guides_layout_is_taken_if_it_is_the_only_one),
        cmocka_unit_test(several_runs_are_refused),
        cmocka_unit_test(a_directory_that_holds_itself_ends),
        cmocka_unit_test(nothing_is_said_with_what_is_there_instead),
        cmocka_unit_test(a_path_that_is_not_there_is_said),
        cmocka_unit_test(pipes_and_devices_are_not_opened),
        cmocka_unit_test(side_files_alone_are_no_error),
        cmocka_unit_test(one_file_is_taken_whatever_its_name),
        cmocka_unit_test(one_file_of_no_format_is_refused),
        cmocka_unit_test(one_file_of_another_profiler_is_refused),
        cmocka_unit_test(the_card_is_found_by_its_name_first),
        cmocka_unit_test(a_file_in_a_directory_that_cannot_be_listed_has_no_card_of_another_name),
        cmocka_unit_test(several_cards_of_other_names_are_refused),
    };
    return RUN_TESTS(tests);
}
