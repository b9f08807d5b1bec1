/* Nsight Systems exports, made by SQL. */
#include "trace/reader.h"
#include "unit/unit.h"

#include <inttypes.h>
#include <sqlite3.h>

extern const trace_reader trace_reader_nsys;

static char folder[64], path[128];

static int set_up(void **state)
{
    (void)state;
    unit_make_folder(folder);
    snprintf(path, sizeof path, "%s/run.sqlite", folder);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    unit_remove_folder(folder);
    return 0;
}

static void make(const char *sql)
{
    sqlite3 *db;
    char *text = NULL;

    unlink(path);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    if (sqlite3_exec(db, sql, NULL, NULL, &text) != SQLITE_OK)
        fail_msg("%s", text);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

/* The tables that every export has, as nsys 2023 and later make them, less columns that are of no interest. */
#define STRINGS "CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);"
#define KERNELS                                                                                              \
    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId "       \
    "INTEGER NOT "                                                                                           \
    "NULL, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, demangledName INTEGER NOT "  \
    "NULL, "                                                                                                 \
    "shortName INTEGER NOT NULL, gridX INTEGER NOT NULL, gridY INTEGER NOT NULL, gridZ INTEGER NOT NULL);"
#define CALLS                                                                                                \
    "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER NOT NULL, globalTid "     \
    "INTEGER, "                                                                                              \
    "correlationId INTEGER, nameId INTEGER NOT NULL);"
#define RANGES                                                                                               \
    "CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, text TEXT, " \
    "globalTid "                                                                                             \
    "INTEGER, textId INTEGER);"

/* Process 5 is 5 << 24 = 83886080, its thread 9 is 83886089; process 6 is 100663296, its thread 9 is 100663305. */
static const char two_devices[] = STRINGS KERNELS CALLS RANGES
    "INSERT INTO StringIds VALUES (1, 'gemm'), (2, 'void gemm<float>(int)'), (3, 'ncclDevKernel_SendRecv'), "
    "(4, "
    "'cudaLaunchKernel_v7000'), (5, 'cudaDeviceSynchronize'), (6, 'nccl:all_to_all, op_id = 12'), (7, "
    "'python');"
    "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (2000000100, 2000000300, 0, 7, 41, 83886080, 2, 1, 4, 3, "
    "2);"
    "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (2000000400, 2000000450, 1, 9, 41, 100663296, 3, 3, 2, 1, "
    "1);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER, end INTEGER, deviceId INTEGER, streamId "
    "INTEGER, "
    "correlationId INTEGER, globalPid INTEGER, bytes INTEGER, copyKind INTEGER);"
    "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (2000000500, 2000000600, 0, 7, 42, 83886080, 4096, 1);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (start INTEGER, end INTEGER, deviceId INTEGER, streamId "
    "INTEGER, "
    "correlationId INTEGER, globalPid INTEGER, bytes INTEGER);"
    "INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES (2000000700, 2000000710, 1, 9, 43, 100663296, 64);"
    "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (2000000010, 2000000020, 83886089, 41, 4);"
    "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (2000000030, 2000000035, 100663305, 41, 4);"
    "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (2000000800, 2000000900, 100663305, 99, 5);"
    "INSERT INTO NVTX_EVENTS VALUES (2000000000, 2000001000, 59, 'step 3, seq = 8, op_id = 9', 83886089, "
    "NULL);"
    "INSERT INTO NVTX_EVENTS VALUES (2000000025, 2000000040, 59, NULL, 100663305, 6);"
    "INSERT INTO NVTX_EVENTS VALUES (2000000001, NULL, 34, 'a mark', 83886089, NULL);"
    "INSERT INTO NVTX_EVENTS VALUES (2000000002, 2000000003, 59, 'of a launcher', 117440513, NULL);"
    "CREATE TABLE TARGET_INFO_GPU (id INTEGER, name TEXT, totalMemory INTEGER, smCount INTEGER, computeMajor "
    "INTEGER, "
    "computeMinor INTEGER);"
    "INSERT INTO TARGET_INFO_GPU VALUES (0, 'NVIDIA H100', 85899345920, 132, 9, 0), (1, 'NVIDIA H100', "
    "85899345920, "
    "66, 9, 0);"
    "CREATE TABLE ThreadNames (nameId INTEGER, globalTid INTEGER);"
    "INSERT INTO ThreadNames VALUES (7, 83886089);"
    "CREATE TABLE PROCESSES (globalPid INTEGER, pid INTEGER, name TEXT);"
    "INSERT INTO PROCESSES VALUES (83886080, 5, 'train.py'), (117440512, 7, 'torchrun');";

/* What a rank holds, an event a line: "kernel gemm +100 200 lane c1". */
static void describe(const trace_rank *r, dse_strbuf *out)
{
    for (size_t i = 0; i < r->n_events; i++) {
        const trace_event *e = &r->event[i];
        const trace_lane *l = &r->lane[e->lane];

        dse_strbuf_addf(out, "%s %s +%" PRId64 " %" PRId64 " %s/%s", r->names.text[r->word[e->word]],
                        r->names.text[e->name], e->start_ps / 1000, e->dur_ps / 1000, r->names.text[l->pid],
                        r->names.text[l->tid]);
        if (e->correlation)
            dse_strbuf_addf(out, " launch %" PRIu32, e->correlation);
        dse_strbuf_addc(out, '\n');
    }
}

static void check_rank(const trace_rank *r, const char *expected)
{
    dse_strbuf seen;

    dse_strbuf_init(&seen);
    describe(r, &seen);
    assert_string_equal(seen.data, expected);
    dse_strbuf_free(&seen);
}

static void read_it(trace_record *r)
{
    dse_error err = DSE_ERROR_INIT;
    const trace_reader *reader;

    *r = (trace_record){0};
    assert_ok(trace_reader_find(path, &reader, &err), &err);
    assert_ptr_equal(reader, &trace_reader_nsys);
    assert_ok(trace_read(reader, path, r, &err), &err);
}

/* Correlation 41 is a launch of either process. The synchronisation launched nothing and goes where its thread
 * launched; the launcher, process 7, has no device. */
CLAIM(a_device_has_its_kernels_and_what_the_threads_that_use_it_say)
{
    trace_record r;

    make(two_devices);
    read_it(&r);
    assert_int_equal(r.n_ranks, 2);
    assert_int_equal(r.rank[0].rank, 0);
    assert_int_equal(r.rank[1].rank, 1);
    assert_true(r.rank[0].has_rank);
    assert_int_equal(r.rank[0].kind, TRACE_NSYS);
    assert_int_equal(r.rank[0].base_ns, 2000000000);
    check_rank(&r.rank[0], "kernel gemm +100 200 0/stream 7 launch 1\n"
                           "gpu_memcpy Memcpy HtoD +500 100 0/stream 7 launch 3\n"
                           "cuda_runtime cudaLaunchKernel_v7000 +10 10 5/9 launch 1\n"
                           "user_annotation step 3 +0 1000 5/9\n");
    check_rank(&r.rank[1], "kernel ncclDevKernel_SendRecv +400 50 1/stream 9 launch 2\n"
                           "gpu_memset Memset +700 10 1/stream 9 launch 4\n"
                           "cuda_runtime cudaLaunchKernel_v7000 +30 5 6/9 launch 2\n"
                           "cuda_runtime cudaDeviceSynchronize +800 100 6/9\n"
                           "user_annotation nccl:all_to_all +25 15 6/9\n");
    assert_int_equal(r.n_warnings, 0);
    trace_record_free(&r);
}

/* 4 * 3 * 2 = 24 blocks on 132 processors; 2 on 66. The span of all kernels: 100 to 450 ns. */
CLAIM(arguments_hold_the_grid_the_bytes_and_the_long_name)
{
    trace_record r;
    const trace_args *a;

    make(two_devices);
    read_it(&r);
    a = &r.rank[0].args[r.rank[0].event[0].args];
    assert_u64(a->blocks, 24);
    assert_double(a->blocks_per_sm, 24.0 / 132);
    assert_string_equal(r.rank[0].names.text[a->long_name], "void gemm<float>(int)");
    assert_int_equal(a->stream, 7);
    assert_int_equal(a->device, 0);
    assert_double(r.rank[1].args[r.rank[1].event[0].args].blocks_per_sm, 2.0 / 66);
    assert_u64(r.rank[0].args[r.rank[0].event[1].args].bytes, 4096);
    assert_int_equal(r.rank[0].n_devices, 1);
    assert_string_equal(r.rank[0].names.text[r.rank[0].device[0].name], "NVIDIA H100");
    assert_int_equal(r.rank[0].device[0].n_sms, 132);
    assert_int_equal(r.rank[1].device[0].n_sms, 66);
    assert_u64(r.rank[0].device[0].memory_bytes, 85899345920);
    assert_string_equal(r.rank[0].names.text[r.rank[0].lane[1].thread], "python");
    assert_string_equal(r.rank[0].names.text[r.rank[0].lane[1].process_name], "train.py");
    assert_string_equal(r.rank[0].names.text[r.rank[0].lane[0].process_name], "NVIDIA H100");
    assert_int_equal(r.rank[1].lane[1].process_name, DSE_NONE);
    for (int i = 0; i < 2; i++)
        assert_int_equal(r.rank[i].all_last_ps - r.rank[i].all_first_ps, 350000);
    trace_record_free(&r);
}

/* Each of two processes sees one GPU, as number 0; TARGET_INFO_CUDA_DEVICE knows that they are 2 and 3. */
CLAIM(two_gpus_of_one_number_are_two_ranks)
{
    trace_record r;

    make(STRINGS KERNELS
         "INSERT INTO StringIds VALUES (1, 'k');"
         "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (10, 20, 0, 7, 1, 83886080, 1, 1, 5, 1, 1);"
         "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (15, 30, 0, 7, 1, 100663296, 1, 1, 5, 1, 1);"
         "CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId INTEGER, cudaId INTEGER, pid INTEGER, "
         "numMultiprocessors INTEGER);"
         "INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (2, 0, 5, 10), (3, 0, 6, 20);");
    read_it(&r);
    assert_int_equal(r.n_ranks, 2);
    assert_int_equal(r.rank[0].rank, 2);
    assert_int_equal(r.rank[1].rank, 3);
    assert_double(r.rank[0].args[r.rank[0].event[0].args].blocks_per_sm, 0.5);
    assert_double(r.rank[1].args[r.rank[1].event[0].args].blocks_per_sm, 0.25);
    trace_record_free(&r);
}

/* Without processes, correlations are the file's; names as texts; neither grid nor processors. */
CLAIM(older_tables_have_fewer_columns)
{
    trace_record r;

    make("CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, "
         "correlationId INTEGER, "
         "shortName TEXT);"
         "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (10, 20, 3, 8, 'k'), (30, 30, 3, 9, NULL);"
         "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, globalTid INTEGER, "
         "correlationId INTEGER, "
         "nameId TEXT);"
         "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1, 2, 83886089, 8, 'launch');"
         "CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, text TEXT);"
         "INSERT INTO NVTX_EVENTS VALUES (0, 50, 'iteration 1');");
    read_it(&r);
    assert_int_equal(r.n_ranks, 1);
    assert_int_equal(r.rank[0].rank, 3);
    assert_false(r.rank[0].has_rank);
    assert_true(isnan(r.rank[0].args[r.rank[0].event[0].args].blocks_per_sm));
    assert_u64(r.rank[0].args[r.rank[0].event[0].args].blocks, TRACE_UNKNOWN);
    check_rank(&r.rank[0], "kernel k +10 10 3/stream 0 launch 1\n"
                           "kernel Unknown +30 0 3/stream 0 launch 2\n"
                           "cuda_runtime launch +1 1 5/9 launch 1\n"
                           "user_annotation iteration 1 +0 50 0/0\n");
    trace_record_free(&r);
}

CLAIM(rows_without_a_sensible_time_are_left_out_with_a_warning)
{
    trace_record r;
    char expected[512];

    make(STRINGS KERNELS
         "INSERT INTO StringIds VALUES (1, 'k');"
         "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (10, 20, 0, 7, 1, 1, 1, 1, 1, 1, 1);"
         "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (20, 10, 0, 7, 2, 1, 1, 1, 1, 1, 1);"
         "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (9200000000000000000, 9200000000000000001, 0, 7, "
         "3, 1, 1, 1, 1, 1, 1);");
    read_it(&r);
    assert_int_equal(r.rank[0].n_events, 1);
    assert_int_equal(r.n_warnings, 1);
    snprintf(expected, sizeof expected,
             "%s: table CUPTI_ACTIVITY_KIND_KERNEL: 2 rows without numbers where the times and the device "
             "are to be, "
             "of a negative duration, or more than 53 days from the first kernel, are left out; row 2 is "
             "the first "
             "of them",
             path);
    assert_string_equal(r.warning[0].text, expected);
    trace_record_free(&r);
}

CLAIM(graphs_recorded_as_a_whole_are_told)
{
    trace_record r;

    make(STRINGS KERNELS "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (10, 20, 0, 7, 1, 1, 1, 1, 1, 1, 1);"
                         "CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start INTEGER);"
                         "INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (1), (2);");
    read_it(&r);
    assert_int_equal(r.n_warnings, 1);
    assert_non_null(strstr(r.warning[0].text, "2 launches of CUDA graphs were recorded as a whole"));
    trace_record_free(&r);
}

static void refuse(dse_status status, const char *says)
{
    dse_error err = DSE_ERROR_INIT;
    trace_record r = {0};

    assert_says(trace_read(&trace_reader_nsys, path, &r, &err), &err, status, says);
    assert_string_equal(err.where, path);
    trace_record_free(&r);
}

CLAIM(what_is_no_export_is_refused_by_table)
{
    make("CREATE TABLE points (id INTEGER);");
    refuse(DSE_E_SYNTAX,
           "there is no table CUPTI_ACTIVITY_KIND_KERNEL: this is no export of Nsight Systems, or of a "
           "recording without CUDA kernels; record with nsys profile --trace=cuda,nvtx");
    make(
        "CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS SELECT 1 AS start;"); /* it would run what its author likes */
    refuse(DSE_E_SYNTAX, "there is no table CUPTI_ACTIVITY_KIND_KERNEL");
    make(KERNELS);
    refuse(DSE_E_SYNTAX, "table CUPTI_ACTIVITY_KIND_KERNEL is empty: no CUDA kernel was recorded");
    make("CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER); INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL "
         "VALUES (1);");
    refuse(DSE_E_SYNTAX,
           "table CUPTI_ACTIVITY_KIND_KERNEL has no column end: not what Nsight Systems exports");
    make(STRINGS KERNELS "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1, 2, -1, 0, 0, 0, 0, 0, 0, 0, 0);");
    refuse(DSE_E_SYNTAX, "device -1 is none, or one of more than 64");
    make(KERNELS "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1, 2, 0, 0, 0, 0, 1, 1, 0, 0, 0);");
    refuse(DSE_E_SYNTAX, "there is no table StringIds, which has the names of kernels");
}

/* Columns have no types of their own in SQLite: a NULL is no 0, and no text is a number. */
CLAIM(rows_without_a_number_for_a_time_or_a_device_are_left_out)
{
    trace_record r;

    make(STRINGS "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId);"
                 "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (10, 20, 0), (NULL, 5, 0), (12, NULL, 0),"
                 "  (13, 14, NULL), ('x', 15, 0), (16, x'17', 0), (18, 19, 'gpu');");
    read_it(&r);
    assert_int_equal(r.n_ranks, 1);
    check_rank(&r.rank[0], "kernel Unknown +10 10 0/stream 0\n");
    assert_int_equal(r.n_warnings, 1);
    assert_non_null(strstr(r.warning[0].text, ": 6 rows without numbers"));
    assert_non_null(strstr(r.warning[0].text, "row 2 is the first of them"));
    trace_record_free(&r);
    make(STRINGS "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId);"
                 "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES ('x', 'y', 'z');");
    refuse(DSE_E_SYNTAX, "no row of table CUPTI_ACTIVITY_KIND_KERNEL has a start, an end and a device");
}

/* 2^62 ps, 53 days and some, are 4611686018427387.9 ns: a copy that is so much before the kernel and a kernel so long are left out,
 * one ns less is not. A first kernel at -2^63 ns is no base. */
CLAIM(times_are_so_near_that_their_differences_do_not_overflow)
{
    static const char copies[] =
        "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start, end, deviceId);"
        "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (-4611686018427387, 0, 0), (-4611686018427388, 0, 0);";
    static const char kernels[] =
        "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId);"
        "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (0, 4611686018427387, 0), (0, 4611686018427388, 0);";
    char sql[1024];
    trace_record r;

    snprintf(sql, sizeof sql, "%s%s%s", STRINGS, kernels, copies);
    make(sql);
    read_it(&r);
    assert_int_equal(r.rank[0].n_events, 2);
    assert_int_equal(r.n_warnings, 2);
    assert_non_null(strstr(r.warning[0].text, "row 2 is the first of them"));
    assert_non_null(strstr(r.warning[1].text, "row 2 is the first of them"));
    trace_record_free(&r);
    make(STRINGS "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId);"
                 "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (-9223372036854775807 - 1, "
                 "-9223372036854775806, 0), (0, 9223372036854775807, 0);");
    refuse(DSE_E_SYNTAX, "no row of table CUPTI_ACTIVITY_KIND_KERNEL has a start, an end and a device");
}

/* Either would run for ever. */
CLAIM(names_that_a_view_or_a_column_computes_are_refused)
{
    static const char kernel[] =
        KERNELS "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1, 2, 0, 0, 0, 0, 7, 7, 0, 0, 0);";
    char sql[2048];

    snprintf(sql, sizeof sql,
             "%s CREATE VIEW StringIds AS WITH RECURSIVE c(x) AS (SELECT 10 UNION ALL SELECT x + 1 FROM c) "
             "SELECT x AS id, 'k' AS value FROM c;",
             kernel);
    make(sql);
    refuse(DSE_E_SYNTAX, "there is no table StringIds");
    snprintf(sql, sizeof sql,
             "%s CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value AS (hex(zeroblob(20000000))));",
             kernel);
    make(sql);
    refuse(DSE_E_SYNTAX, "table StringIds has no column value: not what Nsight Systems exports");
}

/* As a tool writes it that knows nothing of keys; 'other' has no number. */
CLAIM(strings_without_a_key_are_found)
{
    trace_record r;

    make("CREATE TABLE StringIds (id, value);" KERNELS
         "INSERT INTO StringIds VALUES ('x', 'other'), (8, 'first'), (7, 'gemm'), (7, 'again');"
         "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1, 2, 0, 0, 0, 0, 8, 7, 0, 0, 0);");
    read_it(&r);
    check_rank(&r.rank[0], "kernel gemm +1 1 0/stream 0\n");
    trace_record_free(&r);
}

CLAIM(broken_files_are_refused)
{
    char bytes[4096] = "SQLite format 3";
    struct stat sb;

    unit_write(path, "\x1f\x8b\x08 and so on", 14);
    refuse(DSE_E_SYNTAX, "a database cannot be read while it is compressed; unpack it first (gunzip)");
    unit_write_text(path, "hello");
    refuse(DSE_E_SYNTAX, "this is not a SQLite database");
    unit_write(path, bytes, sizeof bytes);
    refuse(DSE_E_SYNTAX, "file is not a database");
    make(two_devices);
    assert_int_equal(truncate(path, 3 * 4096), 0);
    refuse(DSE_E_SYNTAX, "malformed");
    make(two_devices);
    assert_int_equal(stat(path, &sb), 0);
    assert_int_equal(truncate(path, sb.st_size - 1), 0);
    refuse(DSE_E_SYNTAX, "the file is cut off in its last page");
}

CLAIM(thousands_of_other_tables_do_not_matter)
{
    dse_strbuf sql;
    trace_record r;

    dse_strbuf_init(&sql);
    dse_strbuf_adds(&sql, "BEGIN;");
    for (int i = 0; i < 3000; i++)
        dse_strbuf_addf(&sql, "CREATE TABLE t%d (a, b);", i);
    dse_strbuf_addf(&sql, "%s COMMIT;", two_devices);
    make(sql.data);
    read_it(&r);
    assert_int_equal(r.n_ranks, 2);
    trace_record_free(&r);
    dse_strbuf_free(&sql);
}

/* A path is no URI: these would be its query, its fragment, an escape. */
CLAIM(any_path_will_do)
{
    char odd[160];
    dse_error err = DSE_ERROR_INIT;
    trace_record r = {0};

    make(two_devices);
    snprintf(odd, sizeof odd, "%s/a?b#c%%20d e.sqlite", folder);
    assert_int_equal(rename(path, odd), 0);
    assert_ok(trace_read(&trace_reader_nsys, odd, &r, &err), &err);
    assert_int_equal(r.n_ranks, 2);
    trace_record_free(&r);
}

#define TEST(claim) cmocka_unit_test_setup_teardown(claim, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_device_has_its_kernels_and_what_the_threads_that_use_it_say),
        TEST(arguments_hold_the_grid_the_bytes_and_the_long_name),
        TEST(two_gpus_of_one_number_are_two_ranks),
        TEST(older_tables_have_fewer_columns),
        TEST(rows_without_a_sensible_time_are_left_out_with_a_warning),
        TEST(graphs_recorded_as_a_whole_are_told),
        TEST(what_is_no_export_is_refused_by_table),
        TEST(rows_without_a_number_for_a_time_or_a_device_are_left_out),
        TEST(times_are_so_near_that_their_differences_do_not_overflow),
        TEST(names_that_a_view_or_a_column_computes_are_refused),
        TEST(strings_without_a_key_are_found),
        TEST(broken_files_are_refused),
        TEST(thousands_of_other_tables_do_not_matter),
        TEST(any_path_will_do),
    };
    return RUN_TESTS(tests);
}
