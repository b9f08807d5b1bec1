#include "trace/ranks.h"

#include "unit/unit.h"

/* ---- names --------------------------------------------------------------------------------- */

CLAIM(a_name_gives_its_rank)
{
    static const struct {
        const char *path;
        trace_kind kind;
        uint32_t rank;
    } names[] = {
        {"rank3_trace.json", TRACE_KINETO, 3},
        {"a/rank12.json.gz", TRACE_KINETO, 12},
        {"RANK_4_run_9.json", TRACE_KINETO, 4},
        {"eg.rank_1.pt.trace.json.gz", TRACE_ET, 1},
        {"job_7_rank_2_trace.json", TRACE_KINETO, 2}, /* the word before the last number */
        {"sampled_rank-5.json.gz", TRACE_KINETO, 5},
        {"kineto_trace_6.json", TRACE_KINETO, 6},
        {"megatron_8_kineto_trace.json", TRACE_KINETO, 8}, /* the last field that is a number */
        {"7.json", TRACE_KINETO, 7},
        {"rank_9/trace.json", TRACE_KINETO, DSE_NONE}, /* of the name, not of the directory */
        {"trace.json", TRACE_KINETO, DSE_NONE},
        {"worker6_step_12.1694128201545.pt.trace.json.gz", TRACE_KINETO, 6}, /* no field is a number */
        {"worker6_3.json", TRACE_KINETO, 3},
        {"coworker6.json", TRACE_KINETO, DSE_NONE},
        {"host_1694128201545.json", TRACE_KINETO, DSE_NONE}, /* a time */
        {"crank3.json", TRACE_KINETO, DSE_NONE},
        {"ranks_3d.json", TRACE_KINETO, DSE_NONE},
        {"rank", TRACE_KINETO, DSE_NONE},
        {"_", TRACE_KINETO, DSE_NONE},
        {"", TRACE_KINETO, DSE_NONE},
        {"rank3_memory_snapshot.pickle", TRACE_SNAPSHOT, 3},
        {"snapshot_2.pickle", TRACE_SNAPSHOT, 2},
        {"medium_128_training_memory_snapshot.pickle", TRACE_SNAPSHOT, DSE_NONE}, /* 128 is no rank */
        {"t1v-n-9eb622fc-w-3.trace.json.gz", TRACE_XLA, 3},
        {"tpu_inference_2.xplane.pb", TRACE_XLA, DSE_NONE},
        {"host-w-3.trace.json", TRACE_KINETO, DSE_NONE},
    };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (trace_rank_of_name(names[i].path, names[i].kind) != names[i].rank)
            fail_msg("%s: %u", names[i].path, (unsigned)trace_rank_of_name(names[i].path, names[i].kind));
}

/* ---- records ------------------------------------------------------------------------------- */

static trace_rank *add(trace_record *r, trace_kind kind, const char *path)
{
    trace_rank *rank = trace_record_add_rank(r);

    assert_non_null(rank);
    rank->kind = kind;
    rank->rank = 0; /* as a reader of one file leaves it */
    rank->path = dse_calloc(strlen(path) + 1, 1);
    assert_non_null(rank->path);
    memcpy(rank->path, path, strlen(path));
    return rank;
}

static trace_rank *add_rank(trace_record *r, trace_kind kind, const char *path, uint32_t number,
                            uint32_t world)
{
    trace_rank *rank = add(r, kind, path);

    rank->rank = number;
    rank->has_rank = true;
    rank->world_size = world;
    return rank;
}

static void add_group(trace_rank *r, uint32_t size, const char *ranks)
{
    DSE_GROW(r->group, r->cap_groups, r->n_groups + 1);
    r->group[r->n_groups++] = (trace_group){.name = DSE_NONE,
                                            .desc = DSE_NONE,
                                            .ranks = trace_names_add(&r->names, ranks, strlen(ranks)),
                                            .size = size};
}

CLAIM(what_the_file_says_comes_before_its_name)
{
    trace_record r = {0};
    dse_error err = DSE_ERROR_INIT;

    add_rank(&r, TRACE_KINETO, "rank0.json", 5, 8);
    add(&r, TRACE_KINETO, "rank2.json")->world_size = 8;
    assert_ok(trace_settle_ranks(&r, &err), &err);
    assert_int_equal(r.rank[0].rank, 2);
    assert_int_equal(r.rank[1].rank, 5);
    assert_int_equal(r.n_warnings, 0);
    trace_record_free(&r);
}

CLAIM(the_only_file_is_rank_0)
{
    trace_record r = {0};
    dse_error err = DSE_ERROR_INIT;

    add(&r, TRACE_KINETO, "trace.json");
    add(&r, TRACE_SNAPSHOT, "medium_128_memory_snapshot.pickle");
    assert_ok(trace_settle_ranks(&r, &err), &err);
    assert_int_equal(r.rank[0].rank, 0);
    assert_int_equal(r.rank[1].rank, 0);
    assert_int_equal(r.n_warnings, 0);
    trace_record_free(&r);
}

/* A number that the job has no rank for is another number. */
CLAIM(a_name_beyond_the_world_size_says_nothing)
{
    trace_record r = {0};
    dse_error err = DSE_ERROR_INIT;

    add(&r, TRACE_KINETO, "llama_70.json")->world_size = 8;
    assert_ok(trace_settle_ranks(&r, &err), &err);
    assert_int_equal(r.rank[0].rank, 0);
    trace_record_free(&r);
}

/* b is rank 1, so a is 0 and c is 2. */
CLAIM(files_without_a_rank_get_the_lowest_free_ones_with_a_warning)
{
    trace_record r = {0};
    dse_error err = DSE_ERROR_INIT;

    add(&r, TRACE_KINETO, "c.json");
    add_rank(&r, TRACE_KINETO, "b.json", 1, 0);
    add(&r, TRACE_KINETO, "a.json");
    assert_ok(trace_settle_ranks(&r, &err), &err);
    assert_string_equal(r.rank[0].path, "a.json");
    assert_string_equal(r.rank[1].path, "b.json");
    assert_string_equal(r.rank[2].path, "c.json");
    assert_int_equal(r.rank[2].rank, 2);
    assert_int_equal(r.n_warnings, 1);
    assert_string_equal(r.warning[0].text,
                        "a.json: neither this file nor its name says which rank it is (nor others "
                        "do): numbered 0 by the order of names");
    trace_record_free(&r);
}

CLAIM(names_are_ordered_as_people_count)
{
    static const char *const names[] = {"t/a.json", "t/trace2.json", "t/trace02b.json", "t/trace10.json",
                                        "t/z.json"};
    trace_record r = {0};
    dse_error err = DSE_ERROR_INIT;

    add(&r, TRACE_KINETO, "t/z.json");
    add(&r, TRACE_KINETO, "t/trace10.json");
    add(&r, TRACE_KINETO, "t/trace02b.json");
    add(&r, TRACE_KINETO, "t/trace2.json");
    add(&r, TRACE_KINETO, "t/a.json");
    assert_ok(trace_settle_ranks(&r, &err), &err);
    for (uint32_t i = 0; i < 5; i++)
        assert_string_equal(r.rank[i].path, names[i]);
    trace_record_free(&r);
}

CLAIM(devices_of_one_export_keep_their_numbers)
{
    trace_record r = {0};
    dse_error err = DSE_ERROR_INIT;

    add_rank(&r, TRACE_NSYS, "run_7.sqlite", 1, 0);
    add_rank(&r, TRACE_NSYS, "run_7.sqlite", 0, 0);
    assert_ok(trace_settle_ranks(&r, &err), &err);
    assert_int_equal(r.rank[0].rank, 0);
    assert_int_equal(r.rank[1].rank, 1);
    assert_int_equal(r.n_warnings, 0);
    trace_record_free(&r);
}

/* Two hosts of two devices each, whose devices both count 0, 1. */
CLAIM(devices_of_several_exports_are_numbered_on)
{
    trace_record r = {0};
    dse_error err = DSE_ERROR_INIT;

    add_rank(&r, TRACE_NSYS, "b.sqlite", 0, 0);
    add_rank(&r, TRACE_NSYS, "b.sqlite", 1, 0);
    add_rank(&r, TRACE_NSYS, "a.sqlite", 0, 0);
    add_rank(&r, TRACE_NSYS, "a.sqlite", 1, 0);
    assert_ok(trace_settle_ranks(&r, &err), &err);
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(r.rank[i].rank, i);
        assert_string_equal(r.rank[i].path, i < 2 ? "a.sqlite" : "b.sqlite");
    }
    assert_int_equal(r.n_warnings, 1);
    trace_record_free(&r);
}

CLAIM(an_export_a_rank_has_it_from_its_name)
{
    trace_record r = {0};
    dse_error err = DSE_ERROR_INIT;

    add_rank(&r, TRACE_NSYS, "report_rank1.sqlite", 0, 0);
    add_rank(&r, TRACE_NSYS, "report_rank0.sqlite", 0, 0);
    assert_ok(trace_settle_ranks(&r, &err), &err);
    assert_string_equal(r.rank[1].path, "report_rank1.sqlite");
    assert_int_equal(r.rank[1].rank, 1);
    trace_record_free(&r);
}

CLAIM(snapshots_lie_beside_timelines_of_the_same_ranks)
{
    trace_record r = {0};
    dse_error err = DSE_ERROR_INIT;

    add(&r, TRACE_SNAPSHOT, "rank1_memory_snapshot.pickle");
    add(&r, TRACE_SNAPSHOT, "rank0_memory_snapshot.pickle");
    add_rank(&r, TRACE_KINETO, "x.json", 1, 2);
    add_rank(&r, TRACE_KINETO, "y.json", 0, 2);
    assert_ok(trace_settle_ranks(&r, &err), &err);
    assert_string_equal(r.rank[0].path, "y.json");
    assert_string_equal(r.rank[3].path, "rank1_memory_snapshot.pickle");
    trace_record_free(&r);
}

/* ---- refusals ------------------------------------------------------------------------------ */

static void refused(trace_record *r, const char *text)
{
    dse_error err = DSE_ERROR_INIT;

    assert_failure(trace_settle_ranks(r, &err), &err, DSE_E_CONFIG, "", text);
    trace_record_free(r);
}

CLAIM(two_files_of_one_rank_are_refused)
{
    trace_record r = {0};

    add_rank(&r, TRACE_KINETO, "t/b.json", 1, 4);
    add_rank(&r, TRACE_KINETO, "t/a.json", 0, 4);
    add(&r, TRACE_KINETO, "t/rank1.json.gz")->world_size = 4;
    refused(&r, "'t/b.json' and 'rank1.json.gz' both are rank 1: of several jobs, or recorded twice; give "
                "one of them, "
                "or a directory without the other");
}

/* Two clocks that tell the date, and one that counts from the start of its machine. */
CLAIM(files_of_other_hours_are_warned_of)
{
    trace_record r = {0};
    dse_error err = DSE_ERROR_INIT;
    const int64_t hour = 3600 * INT64_C(1000000000), now = 1700000000 * INT64_C(1000000000);

    add_rank(&r, TRACE_KINETO, "t/a.json", 0, 3);
    add_rank(&r, TRACE_KINETO, "t/b.json", 1, 3);
    add_rank(&r, TRACE_KINETO, "t/c.json", 2, 3);
    r.rank[0].base_ns = now + hour;
    r.rank[1].base_ns = now;
    assert_ok(trace_settle_ranks(&r, &err), &err);
    assert_int_equal(r.n_warnings, 0);
    r.rank[0].base_ns = now + 5 * hour;
    assert_ok(trace_settle_ranks(&r, &err), &err);
    assert_int_equal(r.n_warnings, 1);
    assert_string_equal(r.warning[0].text,
                        "t/b.json: was recorded 5 hours before 'a.json': if they are of two "
                        "jobs, give one at a time");
    trace_record_free(&r);
}

CLAIM(a_number_of_one_name_alone_is_no_rank)
{
    trace_record r = {0};
    dse_error err = DSE_ERROR_INIT;

    add(&r, TRACE_KINETO, "t/llama_70_trace.json");
    assert_ok(trace_settle_ranks(&r, &err), &err);
    assert_int_equal(r.rank[0].rank, 0);
    trace_record_free(&r);
    add(&r, TRACE_KINETO, "t/kineto_trace_3.json"); /* as the original tools name them */
    assert_ok(trace_settle_ranks(&r, &err), &err);
    assert_int_equal(r.rank[0].rank, 3);
    trace_record_free(&r);
    add(&r, TRACE_KINETO, "t/llama_7_trace.json");
    add(&r, TRACE_KINETO, "t/llama_5_trace.json");
    assert_ok(trace_settle_ranks(&r, &err), &err);
    assert_int_equal(r.rank[0].rank, 5);
    assert_int_equal(r.rank[1].rank, 7);
    trace_record_free(&r);
}

CLAIM(names_that_differ_in_more_than_a_number_are_of_several_jobs)
{
    trace_record r = {0};

    add(&r, TRACE_SNAPSHOT, "t/medium_512_inference_memory_snapshot.pickle");
    add(&r, TRACE_SNAPSHOT, "t/medium_128_training_memory_snapshot.pickle");
    refused(&r,
            "'t/medium_128_training_memory_snapshot.pickle' and "
            "'medium_512_inference_memory_snapshot.pickle' are not of one job: neither says its rank, and "
            "their names differ in more than a number; give one job at a time");
}

CLAIM(other_world_sizes_are_refused)
{
    trace_record r = {0};

    add_rank(&r, TRACE_KINETO, "t/b.json", 1, 8);
    add(&r, TRACE_KINETO, "t/rank2.json");
    add_rank(&r, TRACE_KINETO, "t/a.json", 0, 4);
    refused(&r, "'t/a.json' and 'b.json' are not of one job: world_size is 4 in one, 8 in the other; give "
                "one job at a "
                "time");
}

CLAIM(other_members_of_the_group_of_all_are_refused)
{
    trace_record r = {0};

    add_group(add_rank(&r, TRACE_KINETO, "a.json", 0, 2), 2, "[0, 1]");
    add_group(add_rank(&r, TRACE_KINETO, "b.json", 1, 2), 2, "[4, 5]");
    refused(&r, "'a.json' and 'b.json' are not of one job: their process groups of all ranks have other "
                "members; give "
                "one job at a time");
}

CLAIM(groups_of_some_ranks_may_be_others)
{
    trace_record r = {0};
    dse_error err = DSE_ERROR_INIT;
    trace_rank *a = add_rank(&r, TRACE_KINETO, "a.json", 0, 4);

    add_group(a, 2, "[0, 1]");
    add_group(a, 4, "[0, 1, 2, 3]");
    add_group(add_rank(&r, TRACE_KINETO, "b.json", 2, 4), 2, "[2, 3]"); /* has not declared that of all */
    assert_ok(trace_settle_ranks(&r, &err), &err);
    trace_record_free(&r);
}

CLAIM(timelines_of_two_profilers_are_refused)
{
    trace_record r = {0};

    add(&r, TRACE_XLA, "b.json");
    add(&r, TRACE_KINETO, "a.json");
    refused(&r, "'a.json' and 'b.json' are not of one job: one is of the Kineto traces, the other of the XLA "
                "traces; give "
                "one job at a time");
}

CLAIM(nothing_is_one_job)
{
    trace_record r = {0};
    dse_error err = DSE_ERROR_INIT;

    assert_ok(trace_settle_ranks(&r, &err), &err);
}

/* ---- before reading ------------------------------------------------------------------------ */

CLAIM(a_rank_is_peeked_at)
{
    static const struct {
        const char *name, *text;
        uint32_t rank;
    } files[] = {
        {"x.json",
         "{\"schemaVersion\": 1, \"distributedInfo\": {\"backend\": \"nccl\", \"rank\": 13, \"world_size\": "
         "16}}",
         13},
        {"rank2.json", "{\"distributedInfo\":{\"rank\":5}}", 5},
        {"rank3.json", "{\"traceEvents\": [{\"args\": {\"rank\": 7}}]}", 3},
        {"rank4.json", "{\"distributedInfo\": {}, \"rank\": 7}", 4},
        {"rank6.json", "{\"distributedInfo\": {\"rank\": -1}}", 6},
        {"y.json", "{\"distributedInfo\": {\"rank\"", DSE_NONE},
        {"z.json", "", DSE_NONE},
    };
    char folder[64], path[128];

    unit_make_folder(folder);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, files[i].name);
        unit_write_text(path, files[i].text);
        assert_int_equal(trace_peek_rank(path), files[i].rank);
    }
    unit_remove_folder(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_gives_its_rank),
        cmocka_unit_test(what_the_file_says_comes_before_its_name),
        cmocka_unit_test(the_only_file_is_rank_0),
        cmocka_unit_test(a_name_beyond_the_world_size_says_nothing),
        cmocka_unit_test(files_without_a_rank_get_the_lowest_free_ones_with_a_warning),
        cmocka_unit_test(names_are_ordered_as_people_count),
        cmocka_unit_test(devices_of_one_export_keep_their_numbers),
        cmocka_unit_test(devices_of_several_exports_are_numbered_on),
        cmocka_unit_test(an_export_a_rank_has_it_from_its_name),
        cmocka_unit_test(snapshots_lie_beside_timelines_of_the_same_ranks),
        cmocka_unit_test(two_files_of_one_rank_are_refused),
        cmocka_unit_test(a_number_of_one_name_alone_is_no_rank),
        cmocka_unit_test(names_that_differ_in_more_than_a_number_are_of_several_jobs),
        cmocka_unit_test(other_world_sizes_are_refused),
        cmocka_unit_test(other_members_of_the_group_of_all_are_refused),
        cmocka_unit_test(groups_of_some_ranks_may_be_others),
        cmocka_unit_test(timelines_of_two_profilers_are_refused),
        cmocka_unit_test(files_of_other_hours_are_warned_of),
        cmocka_unit_test(nothing_is_one_job),
        cmocka_unit_test(a_rank_is_peeked_at),
    };
    return RUN_TESTS(tests);
}
