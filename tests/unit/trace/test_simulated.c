#include "trace/reader.h"
#include "trace/simulated.h"
#include "unit/unit.h"

static char folder[64], path[128];

extern const trace_reader trace_reader_chrome;

/* ---- runs ----------------------------------------------------------------------------------- */

#define MAX_EVENTS 64

static uint32_t rank[MAX_EVENTS], with[MAX_EVENTS];
static uint64_t id[MAX_EVENTS], bytes[MAX_EVENTS];
static dse_time start[MAX_EVENTS], end[MAX_EVENTS];
static uint8_t category[MAX_EVENTS], type[MAX_EVENTS], collective[MAX_EVENTS];
static const char *name[MAX_EVENTS];
static const trace_kernel *kernel[MAX_EVENTS];
static trace_ticks ticks;

static void begin_run(uint32_t n_ranks)
{
    ticks = (trace_ticks){.n_ranks = n_ranks,
                          .rank = rank,
                          .id = id,
                          .start = start,
                          .end = end,
                          .category = category,
                          .type = type,
                          .bytes = bytes,
                          .collective = collective,
                          .with = with,
                          .name = name,
                          .kernel = kernel};
    memset(kernel, 0, sizeof kernel);
}

static void add(uint32_t of, uint8_t what, const char *called, dse_time from, dse_time to, uint64_t size,
                uint8_t kind, uint32_t partner)
{
    uint64_t i = ticks.n++;

    assert_true(i < MAX_EVENTS);
    rank[i] = of;
    id[i] = 100 + i;
    category[i] = what;
    name[i] = called;
    start[i] = from;
    end[i] = to;
    bytes[i] = size;
    collective[i] = kind;
    with[i] = partner;
}

static const uint32_t pair[] = {0, 1}, far[] = {1, 3};
static uint32_t many[32];
static const trace_timeline_group group[] = {
    {"1", "mesh_tp", 2, pair}, {"say \"2\"", NULL, 2, far}, {"3", "mesh_dp_sp", 32, many}};
static const trace_timeline_groups groups = {3, group, "mesh_pp"};

static const trace_kernel product = {"matmul", 1500, 2, 3, 4};

/* Of every type, of groups, of dimensions of the network, of a type that Chakra has and nobody runs; three at a time. */
static void run_collectives(void)
{
    static const uint8_t types[] = {0, 2, 5, 6, 7, 3};

    begin_run(4);
    for (uint32_t r = 0; r < 4; r++) {
        add(r, TRACE_TICKS_COMPUTE, "matmul", 0, 1500 + r, 0, 0, DSE_NONE);
        kernel[ticks.n - 1] = &product;
        for (uint32_t k = 0; k < sizeof types; k++)
            add(r, TRACE_TICKS_COLLECTIVE, k % 2 ? "sync" : "matmul", 1000 + 10 * k, 2000 + 7 * r, 96 + k,
                types[k], k == 4 ? DSE_NONE : k % 3);
    }
}

/* A stage that computes and sends, one that waits from the start for two messages and computes. */
static void run_pipeline(void)
{
    begin_run(2);
    add(0, TRACE_TICKS_COMPUTE, "forward", 0, 10, 0, 0, DSE_NONE);
    add(0, TRACE_TICKS_SEND, "send 0", 10, 20, 5, 0, 1);
    add(0, TRACE_TICKS_SEND, "send 1", 20, 1000001, 6, 0, DSE_NONE);
    add(1, TRACE_TICKS_RECV, "recv 0", 0, 20, 5, 0, 0);
    add(1, TRACE_TICKS_RECV, "recv 1", 0, 1000001, 6, 0, 0);
    add(1, TRACE_TICKS_COMPUTE, "forward", 20, 30, 0, 0, DSE_NONE);
}

/* What takes the other streams; a node without a name, one that lasts no time, and a rank that does nothing. */
static void run_others(void)
{
    begin_run(3);
    add(0, TRACE_TICKS_MEMORY, "load", 0, 100, 0, 0, DSE_NONE);
    add(0, TRACE_TICKS_MEMORY, "load", 50, 150, 0, 0, DSE_NONE);
    add(0, TRACE_TICKS_CPU, NULL, 60, 60, 0, 0, DSE_NONE);
    for (uint32_t i = 0; i < 8; i++)
        add(0, TRACE_TICKS_OTHER, "metadata", 60, 70 + i, 0, 0, DSE_NONE);
    add(2, TRACE_TICKS_COMPUTE, "matmul \xc3\xa9", 1, 123456789012345, 0, 0, DSE_NONE);
}

static void run_of_nothing(void) { begin_run(1); }

/* ---- the same record ------------------------------------------------------------------------ */

static void same_text(const trace_rank *a, uint32_t x, const trace_rank *b, uint32_t y)
{
    assert_int_equal(x, y); /* the number, too */
    if (x != DSE_NONE)
        assert_string_equal(a->names.text[x], b->names.text[y]);
}

static void same_event(const trace_rank *a, const trace_event *x, const trace_rank *b, const trace_event *y)
{
    assert_int_equal(x->start_ps, y->start_ps);
    assert_int_equal(x->dur_ps, y->dur_ps);
    same_text(a, x->name, b, y->name);
    assert_int_equal(x->lane, y->lane);
    assert_int_equal(x->args, y->args);
    assert_int_equal(x->correlation, y->correlation);
    assert_int_equal(x->category, y->category);
    assert_int_equal(x->word, y->word);
    assert_int_equal(x->instant, y->instant);
    assert_int_equal(x->endless, y->endless);
}

static void same_tables(const trace_rank *a, const trace_rank *b)
{
    assert_int_equal(a->names.n, b->names.n);
    for (uint32_t i = 0; i < a->names.n; i++)
        same_text(a, i, b, i);
    assert_int_equal(a->n_args, b->n_args);
    if (a->n_args)
        assert_memory_equal(a->args, b->args, a->n_args * sizeof *a->args);
    assert_int_equal(a->n_lanes, b->n_lanes);
    assert_memory_equal(a->lane, b->lane, a->n_lanes * sizeof *a->lane);
    assert_int_equal(a->n_words, b->n_words);
    assert_memory_equal(a->word, b->word, a->n_words * sizeof *a->word);
    assert_int_equal(a->n_groups, b->n_groups);
    assert_int_equal(a->n_devices, b->n_devices);
    assert_int_equal(a->n_totals, b->n_totals);
    assert_ptr_equal(a->allocator, b->allocator);
    assert_ptr_equal(a->device_time, b->device_time);
}

static void same_rank(const trace_rank *a, const trace_rank *b)
{
    assert_int_equal(a->rank, b->rank);
    assert_int_equal(a->has_rank, b->has_rank);
    assert_int_equal(a->kind, b->kind);
    assert_int_equal(a->world_size, b->world_size);
    assert_int_equal(a->base_ns, b->base_ns);
    assert_int_equal(a->in_elements, b->in_elements);
    assert_u64(a->peak_memory, b->peak_memory);
    assert_int_equal(a->all_first_ps, b->all_first_ps);
    assert_int_equal(a->all_last_ps, b->all_last_ps);
    assert_int_equal(a->any_first_ps, b->any_first_ps);
    assert_int_equal(a->any_last_start_ps, b->any_last_start_ps);
    assert_int_equal(a->any_last_ps, b->any_last_ps);
    same_tables(a, b);
    assert_int_equal(a->n_events, b->n_events);
    for (size_t i = 0; i < a->n_events; i++)
        same_event(a, &a->event[i], b, &b->event[i]);
}

static void both_ways(void (*run)(void), const trace_timeline_sizes *sizes)
{
    dse_error err = DSE_ERROR_INIT;
    trace_record at_once = {0}, through_file = {0};

    for (uint32_t i = 0; i < 32; i++)
        many[i] = i;
    run();
    unit_make_folder(folder);
    snprintf(path, sizeof path, "%s/t.json", folder);
    assert_ok(trace_timeline_save(&ticks, &groups, sizes, path, &err), &err);
    assert_ok(trace_read(&trace_reader_chrome, path, &through_file, &err), &err);
    assert_ok(trace_simulated_read(&ticks, &groups, sizes, &at_once, &err), &err);
    assert_int_equal(through_file.n_warnings, 0);
    assert_int_equal(at_once.n_warnings, 0);
    assert_int_equal(at_once.n_ranks, through_file.n_ranks);
    for (uint32_t i = 0; i < at_once.n_ranks; i++)
        same_rank(&at_once.rank[i], &through_file.rank[i]);
    assert_null(at_once.rank[0].path);
    trace_record_free(&at_once);
    trace_record_free(&through_file);
    unit_remove_folder(folder);
}

static const uint64_t peak[] = {7, 0, UINT64_MAX - 1, 12};
static const trace_timeline_sizes in_bytes = {true, peak, NULL}, in_elements = {false, peak, NULL},
                                  untracked = {true, NULL, NULL};

CLAIM(a_record_of_collectives_is_that_of_their_timeline) { both_ways(run_collectives, &in_bytes); }
CLAIM(a_record_of_a_pipeline_is_that_of_its_timeline) { both_ways(run_pipeline, &in_elements); }
CLAIM(a_record_of_copies_and_the_host_is_that_of_their_timeline) { both_ways(run_others, &untracked); }
CLAIM(a_record_of_nothing_is_that_of_its_timeline) { both_ways(run_of_nothing, &untracked); }

/* An all-gather of 96 elements in a group of two gives 192; the second of two at a time takes the next stream. */
CLAIM(an_event_says_what_its_node_was)
{
    dse_error err = DSE_ERROR_INIT;
    trace_record r = {0};
    const trace_args *a;

    begin_run(1);
    add(0, TRACE_TICKS_COLLECTIVE, "x", 1000, 3000, 90, 0, DSE_NONE);
    add(0, TRACE_TICKS_COLLECTIVE, "y", 2000, 2500, 96, 2, 0);
    assert_ok(trace_simulated_read(&ticks, &groups, &in_bytes, &r, &err), &err);
    assert_int_equal(r.rank[0].n_events, 3); /* the step is the first */
    assert_string_equal(TRACE_NAME(&r.rank[0], r.rank[0].event[0].name), "ProfilerStep#0");
    assert_int_equal(r.rank[0].event[0].dur_ps, 3000 * TRACE_PS_PER_NS);
    assert_int_equal(r.rank[0].event[2].start_ps, 2000 * TRACE_PS_PER_NS);
    a = &r.rank[0].args[r.rank[0].event[2].args];
    assert_string_equal(TRACE_NAME(&r.rank[0], a->collective), "all_gather");
    assert_string_equal(TRACE_NAME(&r.rank[0], a->group_desc), "mesh_tp");
    assert_u64(a->in_elements, 96);
    assert_u64(a->out_elements, 192);
    assert_int_equal(a->stream, 21);
    assert_u64(r.rank[0].peak_memory, 7);
    trace_record_free(&r);
}

/* 2^62 - 1 ps, in whole nanoseconds, is the most. */
CLAIM(a_run_of_more_than_53_days_is_refused)
{
    dse_error err = DSE_ERROR_INIT;
    trace_record r = {0};

    begin_run(1);
    add(0, TRACE_TICKS_COMPUTE, "x", 0, 4611686018427387, 0, 0, DSE_NONE);
    assert_ok(trace_simulated_read(&ticks, &groups, &in_bytes, &r, &err), &err);
    trace_record_free(&r);
    end[0]++;
    assert_failure(trace_simulated_read(&ticks, &groups, &in_bytes, &r, &err), &err, DSE_E_RANGE, "",
                   "rank 0 runs for 4611686 s; metrics measure runs of up to 53 days");
    trace_record_free(&r);
}

/* Peaks are by the number of the rank, whichever order the ranks have; what is no number of bytes is not known, and so is
 * what a file of before the keys leaves out. */
CLAIM(a_file_may_say_little_of_its_memory)
{
    static const char rest[] =
        "\"traceEvents\":[{\"ph\":\"X\",\"pid\":2,\"tid\":0,\"ts\":0,\"dur\":1,\"name\":\"a\"},"
        "{\"ph\":\"X\",\"pid\":1,\"tid\":0,\"ts\":0,\"dur\":1,\"name\":\"a\"},"
        "{\"ph\":\"X\",\"pid\":0,\"tid\":0,\"ts\":0,\"dur\":1,\"name\":\"a\"}]";
    static const struct {
        const char *head, *tail;
        bool in_elements;
        uint64_t peak[3];
    } files[] = {
        {"\"sizes\":\"bytes\",\"peak_memory\":[12,\"7\",-1],", "", false, {12, 7, TRACE_UNKNOWN}},
        {"\"peak_memory\":[12],\"sizes\":\"elements\",", "", true, {12, TRACE_UNKNOWN, TRACE_UNKNOWN}},
        {"\"sizes\":7,\"peak_memory\":{},", "", true, {TRACE_UNKNOWN, TRACE_UNKNOWN, TRACE_UNKNOWN}},
        {"", ",\"sizes\":\"bytes\",\"peak_memory\":[null,0]", false, {TRACE_UNKNOWN, 0, TRACE_UNKNOWN}},
        {"", "", true, {TRACE_UNKNOWN, TRACE_UNKNOWN, TRACE_UNKNOWN}},
    };

    unit_make_folder(folder);
    snprintf(path, sizeof path, "%s/t.json", folder);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        dse_error err = DSE_ERROR_INIT;
        trace_record r = {0};
        char text[512];

        snprintf(text, sizeof text, "{\"simulator\":\"ccldse\",%s%s%s}", files[i].head, rest, files[i].tail);
        unit_write_text(path, text);
        assert_ok(trace_read(&trace_reader_chrome, path, &r, &err), &err);
        assert_int_equal(r.n_ranks, 3);
        for (uint32_t k = 0; k < 3; k++) {
            assert_int_equal(r.rank[k].in_elements, files[i].in_elements);
            assert_u64(r.rank[k].peak_memory, files[i].peak[r.rank[k].rank]);
        }
        trace_record_free(&r);
    }
    unit_remove_folder(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_record_of_collectives_is_that_of_their_timeline),
        cmocka_unit_test(a_record_of_a_pipeline_is_that_of_its_timeline),
        cmocka_unit_test(a_record_of_copies_and_the_host_is_that_of_their_timeline),
        cmocka_unit_test(a_record_of_nothing_is_that_of_its_timeline),
        cmocka_unit_test(an_event_says_what_its_node_was),
        cmocka_unit_test(a_run_of_more_than_53_days_is_refused),
        cmocka_unit_test(a_file_may_say_little_of_its_memory),
    };
    return RUN_TESTS(tests);
}
