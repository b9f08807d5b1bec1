#include "driver/recording.h"

#include "unit/unit.h"

/* ---- traces -------------------------------------------------------------------------------- */

typedef struct {
    char folder[64];
    drv_recording_options o;
    drv_recording rec;
    dse_error err;
    dse_status st;
} place;

static void write_in(const place *p, const char *name, const char *text)
{
    char path[160];

    snprintf(path, sizeof path, "%s/%s", p->folder, name);
    unit_write_text(path, text);
}

/* A rank of `world` with one kernel a microsecond from `rank` on, as many as it counts and one more; every other one
 * communicates. */
static void write_rank(const place *p, const char *name, unsigned rank, unsigned world)
{
    dse_strbuf b;

    dse_strbuf_init(&b);
    dse_strbuf_addf(
        &b,
        "{\"schemaVersion\":1,\"distributedInfo\":{\"backend\":\"nccl\",\"rank\":%u,\"world_size\":%u},"
        "\"traceEvents\":[",
        rank, world);
    for (unsigned i = 0; i <= rank; i++)
        dse_strbuf_addf(
            &b, "%s{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"%s\",\"pid\":0,\"tid\":7,\"ts\":%u,\"dur\":1}",
            i ? "," : "", i % 2 ? "ncclDevKernel_AllReduce_Sum" : "gemm", 100 + i);
    dse_strbuf_adds(&b, "]}");
    write_in(p, name, b.data);
    dse_strbuf_free(&b);
}

static place begin(void)
{
    place p = {.err = DSE_ERROR_INIT};

    unit_make_folder(p.folder);
    return p;
}

static void load(place *p)
{
    drv_recording_free(&p->rec);
    p->err = (dse_error)DSE_ERROR_INIT;
    p->st = drv_recording_load(p->folder, &p->o, &p->rec, &p->err);
}

static void finish(place *p)
{
    drv_recording_free(&p->rec);
    unit_remove_folder(p->folder);
}

/* Whether some warning has this in it. */
static bool warned(const place *p, const char *part)
{
    for (size_t i = 0; i < p->rec.record.n_warnings; i++)
        if (strstr(p->rec.record.warning[i].text, part))
            return true;
    return false;
}

/* ---- reading ------------------------------------------------------------------------------- */

CLAIM(a_directory_is_its_ranks_whatever_the_number_of_threads)
{
    place p = begin();

    for (unsigned i = 0; i < 20; i++) {
        char name[32];

        snprintf(name, sizeof name, "file%02u.json", 19 - i); /* the order of names is the other one */
        write_rank(&p, name, i, 20);
    }
    for (p.o.n_threads = 0; p.o.n_threads < 9; p.o.n_threads++) {
        load(&p);
        assert_ok(p.st, &p.err);
        assert_string_equal(p.rec.record.path, p.folder);
        assert_int_equal(p.rec.n_views, 20);
        for (unsigned i = 0; i < 20; i++) {
            const metric_view *v = &p.rec.view[i];

            assert_ptr_equal(v->rank, &p.rec.record.rank[i]);
            assert_int_equal(v->rank->rank, i);
            assert_int_equal(v->rank->world_size, 20);
            assert_int_equal(v->kernels.n, i + 1);
            assert_int_equal(v->comm.n, (i + 1) / 2);
        }
        assert_int_equal(p.rec.record.n_warnings, 0);
        assert_false(p.rec.has_card);
    }
    finish(&p);
}

CLAIM(one_file_is_a_recording_too)
{
    place p = begin();
    char path[160];

    write_rank(&p, "rank3.json", 3, 8);
    write_rank(&p, "rank4.json", 4, 8);
    snprintf(path, sizeof path, "%s/rank3.json", p.folder);
    p.st = drv_recording_load(path, &p.o, &p.rec, &p.err);
    assert_ok(p.st, &p.err);
    assert_int_equal(p.rec.n_views, 1);
    assert_int_equal(p.rec.record.rank[0].rank, 3);
    finish(&p);
}

CLAIM(execution_traces_beside_others_are_for_who_asks_for_nothing_else)
{
    place p = begin();

    write_rank(&p, "rank0.json", 0, 1);
    write_in(&p, "pytorch_et_0.json", "{\"schema\":\"1.1.0-chakra.0.0.4\",\"pid\":1,\"nodes\":[]}");
    load(&p);
    assert_ok(p.st, &p.err);
    assert_int_equal(p.rec.n_views, 1);
    assert_int_equal(p.rec.record.rank[0].kind, TRACE_KINETO);
    assert_true(warned(&p, "pytorch_et_0.json: 1 execution trace is left out"));
    p.o.kinds = METRIC_ON(TRACE_KINETO);
    load(&p);
    assert_ok(p.st, &p.err);
    assert_int_equal(p.rec.record.n_warnings, 0);
    p.o.kinds = METRIC_ON(TRACE_ET);
    load(&p);
    assert_ok(p.st, &p.err);
    assert_int_equal(p.rec.n_views, 1);
    assert_int_equal(p.rec.record.rank[0].kind, TRACE_ET);
    assert_int_equal(p.rec.record.n_warnings, 0);
    finish(&p);
}

/* Both rank1 and rank2 are no JSON behind their head; the first by name is told of. */
CLAIM(the_first_broken_file_is_told_of)
{
    place p = begin();

    write_rank(&p, "rank0.json", 0, 4);
    write_in(&p, "rank1.json", "{\"traceEvents\": 1}");
    write_in(&p, "rank2.json", "{\"traceEvents\": 2}");
    write_rank(&p, "rank3.json", 3, 4);
    for (p.o.n_threads = 1; p.o.n_threads < 6; p.o.n_threads++) {
        load(&p);
        assert_int_not_equal(p.st, DSE_OK);
        assert_true(strstr(p.err.where, "/rank1.json") || strstr(p.err.text, "/rank1.json"));
    }
    finish(&p);
}

CLAIM(two_files_of_one_rank_are_refused)
{
    place p = begin();

    write_rank(&p, "a.json", 1, 2);
    write_rank(&p, "b.json", 1, 2);
    load(&p);
    assert_says(p.st, &p.err, DSE_E_CONFIG, "/a.json' and 'b.json' both are rank 1: of several jobs");
    finish(&p);
}

CLAIM(two_jobs_are_refused)
{
    place p = begin();

    write_rank(&p, "a.json", 0, 2);
    write_rank(&p, "b.json", 1, 4);
    load(&p);
    assert_says(p.st, &p.err, DSE_E_CONFIG, "world_size is 2 in one, 4 in the other");
    finish(&p);
}

typedef struct {
    size_t times, done, n;
} told;

static void tell(void *user, size_t done, size_t n)
{
    told *t = user;

    t->times++;
    t->done = done;
    t->n = n;
}

CLAIM(progress_is_told)
{
    place p = begin();
    told t = {0};

    for (unsigned i = 0; i < 5; i++) {
        char name[32];

        snprintf(name, sizeof name, "rank%u.json", i);
        write_rank(&p, name, i, 5);
    }
    p.o.progress = tell;
    p.o.user = &t;
    load(&p);
    assert_ok(p.st, &p.err);
    assert_true(t.times > 0 && t.done == 5 && t.n == 5);
    finish(&p);
}

/* ---- some ranks ---------------------------------------------------------------------------- */

CLAIM(the_first_ranks_are_read_and_no_others)
{
    place p = begin();

    write_rank(&p, "a.json", 2, 4);
    write_rank(&p, "b.json", 1, 4);
    write_in(&p, "rank3.json", "{\"traceEvents\": 1}"); /* would stop it */
    write_rank(&p, "c.json", 0, 4);
    p.o.max_ranks = 2;
    load(&p);
    assert_ok(p.st, &p.err);
    assert_int_equal(p.rec.n_views, 2);
    assert_int_equal(p.rec.record.rank[0].rank, 0);
    assert_int_equal(p.rec.record.rank[1].rank, 1);
    p.o.max_ranks = 4;
    load(&p);
    assert_int_not_equal(p.st, DSE_OK);
    finish(&p);
}

/* rank0.json says at its end, where nobody looks before reading, that it is rank 9: then the others are read. */
CLAIM(a_file_that_is_another_rank_than_it_seemed_costs_the_reading_of_all)
{
    place p = begin();
    dse_strbuf b;

    dse_strbuf_init(&b);
    dse_strbuf_adds(&b, "{\"schemaVersion\":1,\"traceEvents\":[");
    for (unsigned i = 0; i < 2000; i++)
        dse_strbuf_addf(
            &b,
            "%s{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"gemm\",\"pid\":0,\"tid\":7,\"ts\":%u,\"dur\":1}",
            i ? "," : "", i + 1);
    dse_strbuf_adds(&b, "],\"distributedInfo\":{\"rank\":9,\"world_size\":10}}");
    assert_true(b.len > 70000);
    write_in(&p, "rank0.json", b.data);
    dse_strbuf_free(&b);
    write_rank(&p, "rank1.json", 1, 10);
    write_rank(&p, "rank2.json", 2, 10);
    p.o.max_ranks = 2;
    load(&p);
    assert_ok(p.st, &p.err);
    assert_int_equal(p.rec.n_views, 2);
    assert_int_equal(p.rec.record.rank[0].rank, 1);
    assert_int_equal(p.rec.record.rank[1].rank, 2);
    finish(&p);
}

CLAIM(files_that_may_be_any_rank_are_all_read)
{
    place p = begin();

    write_in(&p, "b.json",
             "{\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"ts\":1,\"dur\":1}]}");
    write_rank(&p, "a.json", 1, 2);
    p.o.max_ranks = 1;
    load(&p);
    assert_ok(p.st, &p.err);
    assert_int_equal(p.rec.n_views, 1);
    assert_string_equal(strrchr(p.rec.record.rank[0].path, '/'), "/b.json"); /* 1 is taken, so it is 0 */
    finish(&p);
}

/* ---- the card ------------------------------------------------------------------------------ */

#define CARD(count) "workload: {hardware: {xpu_spec: {total_count: " #count "}}}\n"

CLAIM(the_card_beside_the_traces_is_read)
{
    place p = begin();

    write_rank(&p, "rank0.json", 0, 2);
    write_rank(&p, "rank1.json", 1, 2);
    write_in(&p, "workload_card.yaml", CARD(2) "metric_source: {traces: [kineto_trace]}\n");
    load(&p);
    assert_ok(p.st, &p.err);
    assert_true(p.rec.has_card);
    assert_int_equal(p.rec.card.total_count, 2);
    assert_int_equal(p.rec.record.n_warnings, 0);
    finish(&p);
}

CLAIM(another_card_may_be_named)
{
    place p = begin();
    char path[160];

    write_rank(&p, "rank0.json", 0, 1);
    write_in(&p, "workload_card.yaml", "broken: [\n");
    write_in(&p, "other.yaml", CARD(1));
    snprintf(path, sizeof path, "%s/other.yaml", p.folder);
    p.o.card = path;
    load(&p);
    assert_ok(p.st, &p.err);
    assert_string_equal(p.rec.card.path, path);
    p.o.card = NULL;
    load(&p);
    assert_int_equal(p.st, DSE_E_SYNTAX);
    finish(&p);
}

CLAIM(a_card_that_says_otherwise_is_warned_of)
{
    place p = begin();

    write_rank(&p, "rank0.json", 0, 2);
    write_rank(&p, "rank1.json", 1, 2);
    write_in(&p, "workload_card.yaml", CARD(4) "metric_source: {traces: [nsys]}\n");
    load(&p);
    assert_ok(p.st, &p.err);
    assert_true(warned(&p, "workload_card.yaml: total_count is 4, but the traces are of a job of 2 ranks"));
    assert_true(warned(&p, "workload_card.yaml: metric_source.traces does not have a Kineto trace"));
    write_in(&p, "workload_card.yaml", CARD(1));
    load(&p);
    assert_true(warned(&p, "total_count is 1, but the traces have communication"));
    finish(&p);
}

CLAIM(fewer_files_than_devices_are_warned_of)
{
    place p = begin();

    write_rank(&p, "rank0.json", 0, 0); /* which does not say of how many it is one */
    write_in(&p, "workload_card.yaml", CARD(2));
    load(&p);
    assert_ok(p.st, &p.err);
    assert_int_equal(p.rec.record.n_warnings, 1);
    assert_true(warned(&p, "total_count is 2, but there is 1 rank here"));
    p.o.max_ranks = 1; /* who asked for fewer need not be told */
    load(&p);
    assert_int_equal(p.rec.record.n_warnings, 0);
    finish(&p);
}

/* ---- nothing ------------------------------------------------------------------------------- */

CLAIM(side_files_alone_are_an_empty_recording)
{
    place p = begin();

    write_in(&p, "bench_results.jsonl", "{}\n");
    write_in(&p, "workload_card.yaml", CARD(2));
    load(&p);
    assert_ok(p.st, &p.err);
    assert_int_equal(p.rec.record.n_ranks, 0);
    assert_int_equal(p.rec.n_views, 0);
    assert_true(p.rec.has_card);
    assert_string_equal(p.rec.record.path, p.folder);
    finish(&p);
}

CLAIM(an_empty_directory_is_refused)
{
    place p = begin();

    load(&p);
    assert_says(p.st, &p.err, DSE_E_IO, "the directory is empty");
    finish(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_directory_is_its_ranks_whatever_the_number_of_threads),
        cmocka_unit_test(one_file_is_a_recording_too),
        cmocka_unit_test(execution_traces_beside_others_are_for_who_asks_for_nothing_else),
        cmocka_unit_test(the_first_broken_file_is_told_of),
        cmocka_unit_test(two_files_of_one_rank_are_refused),
        cmocka_unit_test(two_jobs_are_refused),
        cmocka_unit_test(progress_is_told),
        cmocka_unit_test(the_first_ranks_are_read_and_no_others),
        cmocka_unit_test(a_file_that_is_another_rank_than_it_seemed_costs_the_reading_of_all),
        cmocka_unit_test(files_that_may_be_any_rank_are_all_read),
        cmocka_unit_test(the_card_beside_the_traces_is_read),
        cmocka_unit_test(another_card_may_be_named),
        cmocka_unit_test(a_card_that_says_otherwise_is_warned_of),
        cmocka_unit_test(fewer_files_than_devices_are_warned_of),
        cmocka_unit_test(side_files_alone_are_an_empty_recording),
        cmocka_unit_test(an_empty_directory_is_refused),
    };
    return RUN_TESTS(tests);
}
