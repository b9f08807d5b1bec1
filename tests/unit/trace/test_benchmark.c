#include "trace/benchmark.h"

#include "unit/unit.h"

typedef struct {
    char folder[64];
    dse_arena arena;
    dse_error err;
    trace_benchmark b;
} fixture;

static void start(fixture *f)
{
    *f = (fixture){0};
    unit_make_folder(f->folder);
    dse_arena_init(&f->arena);
}

static void stop(fixture *f)
{
    dse_arena_free(&f->arena);
    unit_remove_folder(f->folder);
}

static void put(const fixture *f, const char *name, const char *text)
{
    char path[160];

    snprintf(path, sizeof path, "%s/%s", f->folder, name);
    unit_write_text(path, text);
}

static dse_status load(fixture *f) { return trace_benchmark_load(f->folder, &f->arena, &f->b, &f->err); }

CLAIM(a_folder_without_results_has_none)
{
    fixture f;

    start(&f);
    f.b.found = true;
    assert_ok(load(&f), &f.err);
    assert_false(f.b.found);
    stop(&f);
}

/* 3200 tokens in 16 s are 200 a second. */
CLAIM(one_record_gives_the_medians_in_seconds)
{
    fixture f;

    start(&f);
    put(&f, "bench_results.jsonl",
        "\n{\"median_ttft_ms\": 125.5, \"median_tpot_ms\": 8, \"duration\": 16.0,"
        " \"total_output_tokens\": 3200, \"itls\": [[1, 2]]}\n\n");
    assert_ok(load(&f), &f.err);
    assert_true(f.b.found);
    assert_double(f.b.ttft_s, 0.1255);
    assert_double(f.b.tpot_s, 0.008);
    assert_double(f.b.output_tokens_per_s, 200);
    stop(&f);
}

/* Per request the mean of its gaps: 0.25, none, 0.5, 0.125; their median is 0.25. First tokens: the two in the middle
 * of 1, 2, 3, 8 have the mean 2.5. */
CLAIM(without_medians_the_requests_are_asked)
{
    fixture f;

    start(&f);
    put(&f, "bench_results.jsonl",
        "{\"ttfts\": [8, 1, 3, 2], \"itls\": [[0.125, 0.375], [], [0.5], [0.125]]}");
    assert_ok(load(&f), &f.err);
    assert_double(f.b.ttft_s, 2.5);
    assert_double(f.b.tpot_s, 0.25);
    assert_true(isnan(f.b.output_tokens_per_s));
    stop(&f);
}

CLAIM(two_records_are_refused)
{
    fixture f;
    char path[160];

    start(&f);
    put(&f, "bench_results.jsonl", "{}\n{}\n");
    snprintf(path, sizeof path, "%s/bench_results.jsonl", f.folder);
    assert_failure(load(&f), &f.err, DSE_E_CONFIG, path,
                   "a benchmark's results are to be one line, one record; there are 2");
    stop(&f);
}

CLAIM(a_word_for_a_time_is_refused)
{
    fixture f;

    start(&f);
    put(&f, "bench_results.jsonl", "{\"median_ttft_ms\": \"fast\"}");
    assert_says(load(&f), &f.err, DSE_E_CONFIG, "median_ttft_ms is to be a number, not 'fast'");
    stop(&f);
}

/* Means over the files that say: ttft (100 + 300) / 2 ms, tpot 20 ms of the one that has it; the tokens of the one with
 * a duration: 1000 / 4. */
CLAIM(several_files_are_averaged)
{
    fixture f;
    char path[160];

    start(&f);
    snprintf(path, sizeof path, "%s/results_json", f.folder);
    assert_int_equal(mkdir(path, 0700), 0);
    put(&f, "results_json/002.json", "{\"mean_ttft_ms\": 300, \"mean_tpot_ms\": null}");
    put(&f, "results_json/001.json",
        "{\"mean_ttft_ms\": 100, \"mean_tpot_ms\": 20, \"duration\": 4, \"total_output_tokens\": 1000}");
    put(&f, "results_json/notes.txt", "no");
    assert_ok(load(&f), &f.err);
    assert_int_equal(f.b.n_files, 2);
    assert_double(f.b.ttft_s, 0.2);
    assert_double(f.b.tpot_s, 0.02);
    assert_double(f.b.output_tokens_per_s, 250);
    stop(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_folder_without_results_has_none),
        cmocka_unit_test(one_record_gives_the_medians_in_seconds),
        cmocka_unit_test(without_medians_the_requests_are_asked),
        cmocka_unit_test(two_records_are_refused),
        cmocka_unit_test(a_word_for_a_time_is_refused),
        cmocka_unit_test(several_files_are_averaged),
    };

    return RUN_TESTS(tests);
}
