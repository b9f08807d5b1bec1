#include "base/fs.h"
#include "trace/timeline.h"
#include "unit/unit.h"

#include <zlib.h>

static char folder[64], path[128];

/* Two ranks. Rank 0 computes from 0 to 1,500 ns, gathers 8 bytes in a group of two from 1,000 to 3,000 while it scatters
 * 7 of nobody's group from 2,000 to 2,500, and sends 5 bytes to rank 1, which waits for them from 0 to 4,001. */
enum { COMPUTE, GATHER, SCATTER, SEND, RECV, N };

static uint32_t rank[N] = {0, 0, 0, 0, 1}, with[N] = {DSE_NONE, 0, DSE_NONE, 1, 0};
static uint64_t id[N] = {1, 2, 3, 4, 5}, bytes[N] = {0, 8, 7, 5, 5};
static dse_time start[N] = {0, 1000, 2000, 3000, 0}, end[N] = {1500, 3000, 2500, 4000, 4001};
static uint8_t category[N] = {TRACE_TICKS_COMPUTE, TRACE_TICKS_COLLECTIVE, TRACE_TICKS_COLLECTIVE,
                              TRACE_TICKS_SEND, TRACE_TICKS_RECV};
static uint8_t type[N] = {4, 7, 7, 5, 6}, collective[N] = {0, 2, 7, 0, 0};
static const char *name[N] = {"a", "say \"b\"", "c", "d", "e"};

static const trace_ticks ticks = {.n_ranks = 2,
                                  .n = N,
                                  .rank = rank,
                                  .id = id,
                                  .start = start,
                                  .end = end,
                                  .category = category,
                                  .type = type,
                                  .bytes = bytes,
                                  .collective = collective,
                                  .with = with,
                                  .name = name};

static const uint32_t members[] = {0, 1};
static const trace_timeline_group group = {"7", "mesh_tp", 2, members};
static const trace_timeline_groups groups = {1, &group, "mesh_pp"};
static const uint64_t peak_memory[] = {12, 0};
static const trace_timeline_sizes sizes = {true, peak_memory, NULL};

/* Of the collective without a group only what comes in is known. The second collective at a time takes a stream of its
 * own; ticks are ns, ts and dur us. */
static const char expected[] =
    "{\"simulator\":\"ccldse\",\"world_size\":2,\"sizes\":\"bytes\",\"peak_memory\":[12,0],\"traceEvents\":["
    "\n"
    "{\"ph\":\"M\",\"pid\":0,\"tid\":0,\"name\":\"process_name\",\"args\":{\"name\":\"rank 0\"}},\n"
    "{\"ph\":\"M\",\"pid\":0,\"tid\":0,\"name\":\"process_sort_index\",\"args\":{\"sort_index\":0}},\n"
    "{\"ph\":\"X\",\"pid\":0,\"tid\":0,\"cat\":\"user_annotation\",\"name\":\"ProfilerStep#0\",\"ts\":0.000,"
    "\"dur\":4.000,\"args\":{}},\n"
    "{\"ph\":\"X\",\"pid\":0,\"tid\":7,\"cat\":\"kernel\",\"name\":\"a\",\"ts\":0.000,\"dur\":1.500,"
    "\"args\":{\"node\":1,\"device\":0,\"stream\":7}},\n"
    "{\"ph\":\"X\",\"pid\":0,\"tid\":20,\"cat\":\"kernel\",\"name\":\"say "
    "\\\"b\\\"\",\"ts\":1.000,\"dur\":2.000,"
    "\"args\":{\"node\":2,\"device\":0,\"stream\":20,\"Collective name\":\"all_gather\",\"In msg nelems\":8,"
    "\"Out msg nelems\":16,\"dtype\":\"Byte\",\"Group size\":2,\"Process Group Name\":\"7\","
    "\"Process Group Description\":\"mesh_tp\",\"Process Group Ranks\":\"[0, 1]\"}},\n"
    "{\"ph\":\"X\",\"pid\":0,\"tid\":21,\"cat\":\"kernel\",\"name\":\"c\",\"ts\":2.000,\"dur\":0.500,"
    "\"args\":{\"node\":3,\"device\":0,\"stream\":21,\"Collective name\":\"reduce_scatter\",\"In msg "
    "nelems\":7,"
    "\"dtype\":\"Byte\"}},\n"
    "{\"ph\":\"X\",\"pid\":0,\"tid\":40,\"cat\":\"kernel\",\"name\":\"d\",\"ts\":3.000,\"dur\":1.000,"
    "\"args\":{\"node\":4,\"device\":0,\"stream\":40,\"Collective name\":\"send\",\"In msg nelems\":5,"
    "\"Out msg nelems\":5,\"dtype\":\"Byte\",\"Group size\":2,\"Process Group Description\":\"mesh_pp\","
    "\"Process Group Ranks\":\"[0, 1]\"}},\n"
    "{\"ph\":\"M\",\"pid\":0,\"tid\":7,\"name\":\"thread_name\",\"args\":{\"name\":\"compute 7\"}},\n"
    "{\"ph\":\"M\",\"pid\":0,\"tid\":20,\"name\":\"thread_name\",\"args\":{\"name\":\"collectives 20\"}},\n"
    "{\"ph\":\"M\",\"pid\":0,\"tid\":21,\"name\":\"thread_name\",\"args\":{\"name\":\"collectives 21\"}},\n"
    "{\"ph\":\"M\",\"pid\":0,\"tid\":40,\"name\":\"thread_name\",\"args\":{\"name\":\"send and receive "
    "40\"}},\n"
    "{\"ph\":\"M\",\"pid\":1,\"tid\":0,\"name\":\"process_name\",\"args\":{\"name\":\"rank 1\"}},\n"
    "{\"ph\":\"M\",\"pid\":1,\"tid\":0,\"name\":\"process_sort_index\",\"args\":{\"sort_index\":1}},\n"
    "{\"ph\":\"X\",\"pid\":1,\"tid\":0,\"cat\":\"user_annotation\",\"name\":\"ProfilerStep#0\",\"ts\":0.000,"
    "\"dur\":4.001,\"args\":{}},\n"
    "{\"ph\":\"X\",\"pid\":1,\"tid\":40,\"cat\":\"kernel\",\"name\":\"e\",\"ts\":0.000,\"dur\":4.001,"
    "\"args\":{\"node\":5,\"device\":1,\"stream\":40,\"Collective name\":\"recv\",\"In msg nelems\":5,"
    "\"Out msg nelems\":5,\"dtype\":\"Byte\",\"Group size\":2,\"Process Group Description\":\"mesh_pp\","
    "\"Process Group Ranks\":\"[0, 1]\"}},\n"
    "{\"ph\":\"M\",\"pid\":1,\"tid\":40,\"name\":\"thread_name\",\"args\":{\"name\":\"send and receive "
    "40\"}}\n"
    "]}\n";

static const char *in_folder(const char *file)
{
    snprintf(path, sizeof path, "%s/%s", folder, file);
    return path;
}

CLAIM(every_node_is_an_event_on_a_stream_of_its_kind)
{
    dse_error err = DSE_ERROR_INIT;
    dse_strbuf b;

    unit_make_folder(folder);
    dse_strbuf_init(&b);
    assert_ok(trace_timeline_save(&ticks, &groups, &sizes, in_folder("t.json"), &err), &err);
    assert_ok(dse_read_file(path, 0, &b, &err), &err);
    assert_string_equal(b.data, expected);
    assert_int_equal(unit_count_files(folder), 1);
    dse_strbuf_free(&b);
    unit_remove_folder(folder);
}

CLAIM(a_name_that_ends_in_gz_is_compressed)
{
    dse_error err = DSE_ERROR_INIT;
    char text[sizeof expected + 1] = "";
    gzFile f;

    unit_make_folder(folder);
    assert_ok(trace_timeline_save(&ticks, &groups, &sizes, in_folder("t.json.gz"), &err), &err);
    f = gzopen(path, "rb");
    assert_int_equal(gzread(f, text, sizeof text), sizeof expected - 1);
    assert_int_equal(gzdirect(f), 0);
    gzclose(f);
    assert_string_equal(text, expected);
    unit_remove_folder(folder);
}

/* Of 32 ranks, two more than are written out: the first 29, and the last. */
CLAIM(of_a_large_group_the_first_ranks_and_the_last_are_listed)
{
    uint32_t many[32];
    trace_timeline_group large = {"7", NULL, 32, many};
    dse_error err = DSE_ERROR_INIT;
    dse_strbuf b;

    for (uint32_t i = 0; i < 32; i++)
        many[i] = i;
    unit_make_folder(folder);
    dse_strbuf_init(&b);
    assert_ok(trace_timeline_save(&ticks, &(trace_timeline_groups){1, &large, NULL},
                                  &(trace_timeline_sizes){0}, in_folder("t"), &err),
              &err);
    assert_ok(dse_read_file(path, 0, &b, &err), &err);
    assert_non_null(strstr(b.data, "\"[0, 1, 2, "));
    assert_non_null(strstr(b.data, ", 27, 28, ..., 31]\""));
    assert_non_null(strstr(b.data, "\"Out msg nelems\":256")); /* 8 bytes from each of 32 */
    assert_null(strstr(b.data, "Description"));
    dse_strbuf_free(&b);
    unit_remove_folder(folder);
}

CLAIM(a_folder_that_is_not_there_is_named)
{
    dse_error err = DSE_ERROR_INIT;

    assert_failure(trace_timeline_save(&ticks, &groups, &sizes, "/tmp/ccldse-unit-none/t", &err), &err,
                   DSE_E_IO, "", "cannot write '/tmp/ccldse-unit-none/t': No such file or directory");
}

CLAIM(a_full_disk_is_a_failure)
{
    dse_error err = DSE_ERROR_INIT;

    assert_failure(trace_timeline_save(&ticks, &groups, &sizes, "/dev/full", &err), &err, DSE_E_IO, "",
                   "cannot write '/dev/full': No space left on device");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_node_is_an_event_on_a_stream_of_its_kind),
        cmocka_unit_test(a_name_that_ends_in_gz_is_compressed),
        cmocka_unit_test(of_a_large_group_the_first_ranks_and_the_last_are_listed),
        cmocka_unit_test(a_folder_that_is_not_there_is_named),
        cmocka_unit_test(a_full_disk_is_a_failure),
    };
    return RUN_TESTS(tests);
}
