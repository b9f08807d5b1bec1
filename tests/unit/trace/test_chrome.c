/* Chrome traces: what becomes of events, of what stands beside them, and of the window through which they are read. */
#include "unit/trace/chrome.h"

/* ---- events -------------------------------------------------------------------------------- */

CLAIM(a_kernel_has_all_that_the_trace_says)
{
    trace_record t;
    const trace_rank *r;
    const trace_args *a;

    read_trace(
        "{\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"ncclDevKernel\",\"pid\":0,\"tid\":7,"
        "\"ts\":5123456789012.345,\"dur\":12.5,\"args\":{\"External "
        "id\":3,\"stream\":7,\"device\":1,\"correlation\":99,\"blocks per SM\":2.5,\"est. achieved occupancy "
        "%\":31,\"grid\":[1,2,3],\"Collective name\":\"allreduce\",\"In msg nelems\":1024,\"Out msg "
        "nelems\":2048,\"Group size\":8,\"dtype\":\"BFloat16\",\"Process Group Name\":\"0\",\"Process Group "
        "Description\":\"default_pg\",\"Process Group Ranks\":\"[0, 1]\",\"bytes\":4096}}]}",
        &t);
    r = &t.rank[0];
    assert_int_equal(r->kind, TRACE_KINETO);
    assert_int_equal(r->n_events, 1);
    assert_int_equal(r->base_ns, 5123456000000000); /* the second that the first time is in */
    expect_event(r, 0, "ncclDevKernel", 789012345000, 12500000);
    assert_int_equal(r->event[0].category, TRACE_KERNEL);
    assert_string_equal(text_of(r, r->word[r->event[0].word]), "kernel");
    assert_int_equal(r->event[0].correlation, 99);
    assert_false(r->event[0].instant);
    assert_string_equal(text_of(r, r->lane[r->event[0].lane].pid), "0");
    assert_string_equal(text_of(r, r->lane[r->event[0].lane].tid), "7");
    a = &r->args[r->event[0].args];
    assert_int_equal(a->stream, 7);
    assert_int_equal(a->device, 1);
    assert_double(a->blocks_per_sm, 2.5);
    assert_double(a->occupancy_pct, 31);
    assert_string_equal(text_of(r, a->collective), "allreduce");
    assert_string_equal(text_of(r, a->dtype), "BFloat16");
    assert_string_equal(text_of(r, a->group_name), "0");
    assert_string_equal(text_of(r, a->group_desc), "default_pg");
    assert_string_equal(text_of(r, a->group_ranks), "[0, 1]");
    assert_int_equal(a->group_size, 8);
    assert_u64(a->in_elements, 1024);
    assert_u64(a->out_elements, 2048);
    assert_u64(a->bytes, 4096);
    assert_int_equal(a->long_name, DSE_NONE);
    assert_true(isnan(a->model_flops));
    assert_int_equal(r->all_first_ps, 789012345000);
    assert_int_equal(r->all_last_ps, 789024845000);
    assert_int_equal(t.n_warnings, 0);
    trace_record_free(&t);
}

CLAIM(keys_stand_in_any_order)
{
    static const char *const texts[] = {
        "{\"traceEvents\":[{\"args\":{\"stream\":3,\"correlation\":5},\"dur\":2,\"ts\":1,"
        "\"tid\":7,\"pid\":\"p\",\"name\":\"k\",\"cat\":\"kernel\",\"ph\":\"X\"}],"
        "\"distributedInfo\":{\"world_size\":4,\"rank\":2}}",
        "{\"distributedInfo\":{\"rank\":2,\"backend\":{\"a\":[]},\"world_size\":4},"
        "\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":\"p\","
        "\"tid\":7,\"ts\":1,\"dur\":2,\"args\":{\"correlation\":5,\"other\":{\"stream\":9},"
        "\"stream\":3}}]}",
        "{\"traceEvents\" : [\n {\"ph\" : \"X\" , \"ph\":\"X\", \"ts\":7, "
        "\"cat\":\"kernel\",\"name\":\"x\", "
        "\"name\":\"k\",\"pid\":\"p\",\"tid\":7,\"ts\":1.0,\"dur\":2e0,\"args\":{"
        "\"correlation\":5,\"stream\":3}}],\"distributedInfo\":{\"rank\":\"2\",\"world_"
        "size\":4}}"}; /* twice: the last counts */

    for (size_t i = 0; i < 3; i++) {
        trace_record t;
        const trace_rank *r;

        read_trace(texts[i], &t);
        r = &t.rank[0];
        assert_int_equal(r->n_events, 1);
        expect_event(r, 0, "k", 1000000, 2000000);
        assert_int_equal(r->event[0].correlation, 5);
        assert_int_equal(r->args[r->event[0].args].stream, 3);
        assert_string_equal(text_of(r, r->lane[r->event[0].lane].pid), "p");
        assert_true(r->has_rank);
        assert_int_equal(r->rank, 2);
        assert_int_equal(r->world_size, 4);
        trace_record_free(&t);
    }
}

CLAIM(values_that_come_again_are_told_apart)
{
    static const char *const said[] = {
        "7", "77", "7.5", "\"a\\u0062\"", "\"ab \"", "\"t 12345678901234567890\""};
    char text[4096] = "[";
    trace_record t;

    for (size_t i = 0; i < 18; i++)
        snprintf(text + strlen(text), 99, "%s{\"ph\":\"X\",\"ts\":1,\"pid\":%s,\"tid\":%s}", i ? "," : "",
                 said[i % 6], said[i % 6]);
    read_trace(strcat(text, "]"), &t);
    for (size_t i = 0; i < 18; i++)
        assert_int_equal(t.rank[0].event[i].lane, i % 6);
    assert_string_equal(text_of(&t.rank[0], t.rank[0].lane[3].tid), "ab");
    trace_record_free(&t);
}

CLAIM(a_bare_list_is_a_trace)
{
    trace_record t;

    read_trace("[" EVENT("a", "1", "2") "," EVENT("b", "3", "4") "]", &t);
    assert_int_equal(t.rank[0].n_events, 2);
    assert_false(t.rank[0].has_rank);
    expect_event(&t.rank[0], 1, "b", 3000000, 4000000);
    trace_record_free(&t);
    read_trace("[]", &t);
    assert_int_equal(t.rank[0].n_events, 0);
    trace_record_free(&t);
}

CLAIM(which_phases_are_events)
{
    trace_record t;
    const trace_rank *r;

    read_trace("[{\"ph\":\"i\",\"name\":\"mark\",\"ts\":10,\"s\":\"g\"},{\"ph\":\"I\",\"name\":\"old "
               "mark\",\"ts\":11,\"dur\":5},{\"ph\":\"s\",\"name\":\"flow\",\"id\":3,\"ts\":5},{\"ph\":\"f\","
               "\"name\":\"flow\",\"ts\":99},{\"ph\":\"X\",\"name\":\"no "
               "time\"},{\"ph\":\"X\",\"ts\":20},{\"name\":\"no "
               "phase\",\"ts\":500},{},7,{\"ph\":\"X\",\"name\":\"k\",\"ts\":0,\"dur\":1}]",
               &t);
    r = &t.rank[0];
    assert_int_equal(r->n_events, 4);
    expect_event(r, 0, "mark", 10000000, 0);
    assert_true(r->event[0].instant);
    expect_event(r, 1, "old mark", 11000000, 0);
    expect_event(r, 2, "(none)", 20000000, 0); /* neither name nor duration */
    assert_false(r->event[2].instant);
    assert_true(r->event[2].endless);
    expect_event(r, 3, "k", 0, 1000000);
    assert_false(r->event[3].endless);
    /* Flows count for the length, and what begins at 0 does not: 5 to 99 us. */
    assert_int_equal(r->all_first_ps, 5000000);
    assert_int_equal(r->all_last_ps, 99000000);
    assert_int_equal(t.n_warnings, 0);
    trace_record_free(&t);
}

CLAIM(what_says_the_same_is_stored_once)
{
    trace_record t;
    const trace_event *e;

    read_trace("[{\"ph\":\"X\",\"ts\":1,\"args\":{\"stream\":7,\"correlation\":1}},{\"ph\":\"X\",\"ts\":2,"
               "\"args\":{\"correlation\":2,\"stream\":7}},{\"ph\":\"X\",\"ts\":3,\"args\":{\"stream\":8}},{"
               "\"ph\":\"X\",\"ts\":4,\"args\":{\"stream\":-1}},{\"ph\":\"X\",\"ts\":5,\"args\":{\"x\":1}},{"
               "\"ph\":\"X\",\"ts\":6,\"args\":[1]}]",
               &t);
    e = t.rank[0].event;
    assert_int_equal(t.rank[0].n_args, 2);
    assert_int_equal(e[0].args, e[1].args);
    assert_int_equal(e[0].correlation, 1);
    assert_int_equal(e[1].correlation, 2);
    assert_int_not_equal(e[2].args, e[0].args);
    assert_int_equal(e[3].args, DSE_NONE);
    assert_int_equal(e[4].args, DSE_NONE);
    assert_int_equal(e[5].args, DSE_NONE);
    trace_record_free(&t);
}

CLAIM(metadata_hold_wherever_they_stand)
{
    trace_record t;
    const trace_rank *r;
    const trace_lane *lane;

    read_trace("[{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":1,\"args\":{\"name\":\"python\"}},{\"ph\":"
               "\"X\",\"pid\":1,\"tid\":2,\"ts\":1},{\"ph\":\"X\",\"pid\":3,\"tid\":2,\"ts\":1},{\"args\":{"
               "\"name\":\"stream "
               "2\"},\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":3,\"tid\":2},{\"ph\":\"M\",\"name\":"
               "\"process_sort_index\",\"pid\":1,\"args\":{\"sort_index\":3}},{\"ph\":\"M\",\"name\":"
               "\"process_name\",\"pid\":1,\"args\":{\"name\":\"python 3\"}}]",
               &t);
    r = &t.rank[0];
    lane = &r->lane[r->event[0].lane];
    assert_string_equal(text_of(r, lane->process_name), "python 3"); /* the last */
    assert_string_equal(text_of(r, lane->thread), "(none)");
    lane = &r->lane[r->event[1].lane];
    assert_string_equal(text_of(r, lane->process_name), "(none)");
    assert_string_equal(text_of(r, lane->thread), "stream 2");
    assert_int_equal(r->kind, TRACE_KINETO);
    trace_record_free(&t);
}

/* ---- beside the events --------------------------------------------------------------------- */

CLAIM(devices_groups_and_the_base_time_are_read)
{
    trace_record t;
    const trace_rank *r;

    read_trace("{\"schemaVersion\":1,\"deviceProperties\":[{\"id\":0,\"name\":\"H100\",\"totalGlobalMem\":"
               "85017755648,\"computeMajor\":9,\"computeMinor\":0,\"numSms\":132},{\"name\":\"B\"}],"
               "\"distributedInfo\":{\"rank\":1,\"world_size\":2,\"pg_config\":[{\"pg_name\":\"0\",\"pg_"
               "desc\":\"default_pg\",\"pg_size\":2,\"ranks\":[0, "
               "1]},{\"pg_name\":7,\"ranks\":\"[1]\"},\"odd\"]},\"traceEvents\":[" EVENT(
                   "k", "2000001", "1") "],\"baseTimeNanoseconds\":1727743122000000000}",
               &t);
    r = &t.rank[0];
    assert_int_equal(r->n_devices, 2);
    assert_string_equal(text_of(r, r->device[0].name), "H100");
    assert_u64(r->device[0].memory_bytes, 85017755648u);
    assert_int_equal(r->device[0].n_sms, 132);
    assert_int_equal(r->device[0].major, 9);
    assert_int_equal(r->device[1].n_sms, 0);
    assert_int_equal(r->n_groups, 2);
    assert_string_equal(text_of(r, r->group[0].name), "0");
    assert_string_equal(text_of(r, r->group[0].desc), "default_pg");
    assert_string_equal(text_of(r, r->group[0].ranks), "[0, 1]");
    assert_int_equal(r->group[0].size, 2);
    assert_string_equal(text_of(r, r->group[1].name), "7");
    assert_string_equal(text_of(r, r->group[1].ranks), "[1]");
    assert_int_equal(r->group[1].size, 0);
    /* Two seconds behind what the times count from. */
    assert_int_equal(r->base_ns, 1727743124000000000);
    expect_event(r, 0, "k", 1000000, 1000000);
    trace_record_free(&t);
}

CLAIM(a_tpu_says_when_and_how_long_itself)
{
    trace_record t;
    const trace_rank *r;
    trace_device_time d;

    read_trace("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[{\"ph\":\"M\",\"pid\":3,\"name\":\"process_"
               "name\",\"args\":{\"name\":\"/"
               "device:TPU:0\"}},{\"ph\":\"X\",\"pid\":3,\"tid\":3,\"ts\":1217969.0464019999,\"dur\":4.5,"
               "\"name\":\"fusion\",\"args\":{\"device_duration_ps\":\"4530612\",\"device_offset_ps\":"
               "\"1218072366146\",\"hlo_category\":\"loop fusion\",\"long_name\":\"%f = f32[8]{0} fusion(), "
               "metadata={op=\\\"x\\\"}\",\"shape_with_layout\":\"f32[8]{0}\",\"bytes_accessed\":\"64\","
               "\"raw_bytes_accessed\":32,\"model_flops\":\"128\"}},{\"ph\":\"X\",\"pid\":4,\"tid\":1,\"ts\":"
               "1217970,\"dur\":1,\"name\":\"host\"},{\"ph\":\"X\",\"pid\":3,\"tid\":3,\"ts\":1217971,"
               "\"dur\":1,\"name\":\"b\",\"args\":{\"device_duration_ps\":7}},{}]}",
               &t);
    r = &t.rank[0];
    assert_int_equal(r->kind, TRACE_XLA);
    expect_event(r, 0, "fusion", 217969046401, 4500000); /* since second 1; cut at the picosecond */
    d = trace_device_time_of(r, 0);
    assert_int_equal(d.offset_ps, 1218072366146);
    assert_int_equal(d.dur_ps, 4530612);
    assert_int_equal(trace_device_time_of(r, 1).dur_ps, -1);
    d = trace_device_time_of(r, 2);
    assert_int_equal(d.offset_ps, -1);
    assert_int_equal(d.dur_ps, 7);
    assert_string_equal(text_of(r, r->args[r->event[0].args].hlo_category), "loop fusion");
    assert_string_equal(text_of(r, r->args[r->event[0].args].long_name),
                        "%f = f32[8]{0} fusion(), metadata={op=\"x\"}");
    assert_string_equal(text_of(r, r->args[r->event[0].args].shape), "f32[8]{0}");
    assert_u64(r->args[r->event[0].args].bytes_accessed, 64);
    assert_u64(r->args[r->event[0].args].raw_bytes_accessed, 32);
    assert_double(r->args[r->event[0].args].model_flops, 128);
    trace_record_free(&t);
}

/* As JAX writes it: what ran stands on the streams, and again on the lines of modules and operations; the host's
 * names ("gemm_rs") are no kernels. */
CLAIM(gpus_of_xla_are_ranks_with_kernels_on_their_streams)
{
    trace_record t;
    const trace_rank *r;

    read_trace("{\"displayTimeUnit\":\"ns\",\"traceEvents\":["
               "{\"ph\":\"M\",\"pid\":2,\"name\":\"process_name\",\"args\":{\"name\":\"/device:GPU:1\"}},"
               "{\"ph\":\"M\",\"pid\":2,\"tid\":9,\"name\":\"thread_name\",\"args\":{\"name\":\"Stream "
               "#9(Compute)\"}},"
               "{\"ph\":\"M\",\"pid\":1,\"name\":\"process_name\",\"args\":{\"name\":\"/device:GPU:0\"}},"
               "{\"ph\":\"M\",\"pid\":1,\"tid\":7,\"name\":\"thread_name\",\"args\":{\"name\":"
               "\"Stream #7(Compute,MemcpyD2D)\"}},"
               "{\"ph\":\"M\",\"pid\":1,\"tid\":8,\"name\":\"thread_name\",\"args\":{\"name\":\"XLA Ops\"}},"
               "{\"ph\":\"M\",\"pid\":701,\"name\":\"process_name\",\"args\":{\"name\":\"/host:CPU\"}},"
               "{\"ph\":\"X\",\"pid\":2,\"tid\":9,\"ts\":3,\"dur\":2,\"name\":\"loop_add_fusion\"},"
               "{\"ph\":\"X\",\"pid\":1,\"tid\":7,\"ts\":1,\"dur\":2,\"name\":\"nvjet_tst_64x8\",\"args\":"
               "{\"correlation_id\":\"5\"}},"
               "{\"ph\":\"X\",\"pid\":1,\"tid\":7,\"ts\":3,\"dur\":1,\"name\":\"MemcpyD2D\"},"
               "{\"ph\":\"X\",\"pid\":1,\"tid\":7,\"ts\":4,\"dur\":1,\"name\":\"Memset\"},"
               "{\"ph\":\"X\",\"pid\":1,\"tid\":8,\"ts\":1,\"dur\":2,\"name\":\"custom-call.3\"},"
               "{\"ph\":\"X\",\"pid\":701,\"tid\":1,\"ts\":1,\"dur\":9,\"name\":\"gemm_rs\"}]}",
               &t);
    assert_int_equal(t.n_ranks, 2); /* by number */
    r = &t.rank[0];
    assert_int_equal(r->kind, TRACE_XLA_GPU);
    assert_int_equal(r->rank, 0);
    assert_int_equal(r->n_events, 5); /* three of the stream, one of XLA Ops, one of the host */
    assert_int_equal(r->event[0].category, TRACE_KERNEL);
    assert_int_equal(r->event[0].correlation, 5);
    assert_int_equal(r->event[1].category, TRACE_MEMCPY);
    assert_int_equal(r->event[2].category, TRACE_MEMSET);
    assert_int_equal(r->event[3].category, TRACE_OTHER);
    assert_int_equal(r->event[4].category, TRACE_OTHER);
    r = &t.rank[1];
    assert_int_equal(r->rank, 1);
    assert_int_equal(r->n_events, 2);
    expect_event(r, 0, "loop_add_fusion", 3000000, 2000000);
    assert_int_equal(r->event[0].category, TRACE_KERNEL);
    trace_record_free(&t);
}

/* XLA's profiler names the host's process so, with a device or without. */
CLAIM(a_trace_of_xla_s_host_alone_is_not_kineto_s)
{
    trace_record t;

    read_trace("{\"traceEvents\":["
               "{\"ph\":\"M\",\"pid\":7,\"name\":\"process_name\",\"args\":{\"name\":\"/host:CPU\"}},"
               "{\"ph\":\"X\",\"pid\":7,\"tid\":1,\"name\":\"PjitFunction(f)\",\"ts\":1,\"dur\":1}]}",
               &t);
    assert_int_equal(t.rank[0].kind, TRACE_XLA);
    trace_record_free(&t);
}

/* Kineto's words of MTIA: what the device did, and the calls of the host. */
CLAIM(events_of_an_accelerator_that_is_no_gpu_are_its_kernels)
{
    static const char events[] =
        "{\"ph\":\"X\",\"cat\":\"mtia_runtime\",\"name\":\"runtimeFunctionCall\",\"ts\":1,\"dur\":1},"
        "{\"ph\":\"X\",\"cat\":\"mtia_ccp_events\",\"name\":\"fbgemm_fc\",\"ts\":2,\"dur\":3}";
    char text[512];
    trace_record t;

    snprintf(text, sizeof text, "{\"traceEvents\":[%s]}", events);
    read_trace(text, &t);
    assert_int_equal(t.rank[0].event[0].category, TRACE_RUNTIME);
    assert_int_equal(t.rank[0].event[1].category, TRACE_KERNEL);
    assert_string_equal(trace_accelerator_of(&t.rank[0])->name, "MTIA");
    trace_record_free(&t);
    /* Beside kernels they are something else. */
    snprintf(text, sizeof text,
             "{\"traceEvents\":[%s,{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"ts\":2,\"dur\":3}]}",
             events);
    read_trace(text, &t);
    assert_int_equal(t.rank[0].event[1].category, TRACE_OTHER);
    trace_record_free(&t);
}

CLAIM(a_count_of_a_tpu_is_a_number_or_digits)
{
    static const struct {
        const char *json;
        int64_t ps;
    } rows[] = {{"\"12\"", 12},  {"12", 12},      {"12.75", 12},  {"1.2e1", 12}, {"0", 0},
                {"\"1e3\"", -1}, {"\"1.5\"", -1}, {"\"+4\"", -1}, {"\"\"", -1},  {"-5", -1},
                {"null", -1},    {"[3]", -1},     {"\"007\"", 7}, {"9.3e18", -1}};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[256];
        trace_record t;

        snprintf(text, sizeof text,
                 "[{\"ph\":\"X\",\"ts\":1,\"dur\":1,\"name\":\"a\",\"args\":{\"device_duration_ps\":%s,"
                 "\"device_offset_ps\":%s,\"bytes_accessed\":\"8\"}}]",
                 rows[i].json, rows[i].json);
        read_trace(text, &t);
        assert_int_equal(trace_device_time_of(&t.rank[0], 0).dur_ps, rows[i].ps);
        if (rows[i].ps >= 0)
            assert_int_equal(trace_device_time_of(&t.rank[0], 0).offset_ps, rows[i].ps);
        trace_record_free(&t);
    }
}

CLAIM(each_pid_of_a_simulated_run_is_a_rank)
{
    trace_record t;

    read_trace(
        "{\"traceEvents\":[" EVENT(
            "a", "1", "2") ",{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"b\",\"pid\":12,\"tid\":\"comm\","
                           "\"ts\":5,\"dur\":6,\"args\":{\"Collective "
                           "name\":\"allreduce\",\"stream\":1}},{\"ph\":\"X\",\"cat\":\"user_annotation\","
                           "\"name\":\"ProfilerStep#0\",\"pid\":0,\"tid\":7,\"ts\":0,\"dur\":9},{\"ph\":"
                           "\"M\",\"name\":\"process_name\",\"pid\":12,\"args\":{\"name\":\"NPU "
                           "12\"}},{\"ph\":\"X\",\"name\":\"c\",\"pid\":\"host\",\"ts\":1}],\"simulator\":"
                           "\"ccldse\",\"world_size\":16}",
        &t);
    assert_int_equal(t.n_ranks, 2);
    assert_int_equal(t.rank[0].kind, TRACE_SIMULATED);
    assert_int_equal(t.rank[0].rank, 0);
    assert_true(t.rank[0].has_rank);
    assert_int_equal(t.rank[0].world_size, 16);
    assert_int_equal(t.rank[0].n_events, 2);
    expect_event(&t.rank[0], 0, "a", 1000000, 2000000);
    expect_event(&t.rank[0], 1, "ProfilerStep#0", 0, 9000000);
    assert_int_equal(t.rank[0].event[1].category, TRACE_ANNOTATION);
    assert_int_equal(t.rank[0].names.n, 6); /* a, kernel, 0, 7, ProfilerStep#0, user_annotation */
    assert_int_equal(t.rank[0].all_first_ps, 1000000);
    assert_int_equal(t.rank[0].all_last_ps, 3000000); /* of a: what begins at 0 does not count */
    assert_int_equal(t.rank[1].rank, 12);
    expect_event(&t.rank[1], 0, "b", 5000000, 6000000);
    assert_string_equal(text_of(&t.rank[1], t.rank[1].lane[0].tid), "comm");
    assert_string_equal(text_of(&t.rank[1], t.rank[1].lane[0].process_name), "NPU 12");
    assert_string_equal(text_of(&t.rank[1], t.rank[1].args[t.rank[1].event[0].args].collective), "allreduce");
    assert_string_equal(t.rank[1].path, "t.json");
    assert_int_equal(t.n_warnings, 1);
    assert_string_equal(
        t.warning[0].text,
        "t.json: events of a simulated run left out because their pid is no number of a rank: 1");
    trace_record_free(&t);
}

/* ---- the window, and memory ---------------------------------------------------------------- */

static const char all_sorts[] =
    "{\"schemaVersion\":1,\"deviceProperties\":[{\"name\":\"H100\",\"numSms\":132}],\"distributedInfo\":{"
    "\"rank\":1,\"pg_config\":[{\"pg_name\":\"0\",\"ranks\":[0,1,2]}]},\n  \"traceEvents\": [\n  {\"ph\": "
    "\"M\", \"name\": \"process_name\", \"pid\": 0, \"args\": {\"name\": \"python\"}},\n  {\"ph\": \"X\", "
    "\"cat\": \"cpu_op\", \"name\": \"aten::mm\", \"pid\": 0, \"tid\": 9, \"ts\": 1000.5, \"dur\": 2, "
    "\"args\": {\"Input Dims\": [[1, 2], []], \"note\": \"a\\\"b\"}},\n  {\"ph\": \"X\", \"cat\": "
    "\"cuda_runtime\", \"name\": \"cudaLaunchKernel\", \"pid\": 0, \"tid\": 9, \"ts\": 1001, \"dur\": 1, "
    "\"args\": {\"correlation\": 5}},\n  {\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"gemm \\u00e9\", "
    "\"pid\": 0, \"tid\": 7, \"ts\": 1010, \"dur\": 20, \"args\": {\"correlation\": 5, \"stream\": 7, "
    "\"device_duration_ps\": \"19000\", \"Collective name\": \"x\"}},\n  {\"ph\": \"X\", \"cat\": "
    "\"cpu_op\", \"name\": \"aten::mm\", \"pid\": 0, \"tid\": 9, \"ts\": 1100.5, \"dur\": 2, \"args\": "
    "{\"Input Dims\": [[1, 2], []], \"note\": \"a\\\"b\"}}\n  ], \"simulator\":\"other\"}";

static bool same_event(const trace_event *a, const trace_event *b)
{
    return a->start_ps == b->start_ps && a->dur_ps == b->dur_ps && a->name == b->name && a->lane == b->lane &&
           a->args == b->args && a->correlation == b->correlation && a->category == b->category &&
           a->word == b->word && a->instant == b->instant;
}

CLAIM(the_window_changes_nothing)
{
    dse_error err = DSE_ERROR_INIT;
    trace_record whole;

    read_trace(all_sorts, &whole);
    assert_int_equal(whole.rank[0].n_events, 4);
    for (size_t cap = 24; cap < sizeof all_sorts; cap++) {
        trace_record t;
        const trace_rank *a = &whole.rank[0], *b;

        assert_ok(parse_bytes(all_sorts, sizeof all_sorts - 1, cap, &t, &err), &err);
        b = &t.rank[0];
        assert_int_equal(b->n_events, a->n_events);
        for (size_t i = 0; i < a->n_events; i++)
            assert_true(same_event(&a->event[i], &b->event[i]));
        assert_int_equal(b->names.n, a->names.n);
        for (uint32_t i = 0; i < a->names.n; i++)
            assert_string_equal(b->names.text[i], a->names.text[i]);
        assert_int_equal(b->n_args, a->n_args);
        assert_memory_equal(b->args, a->args, a->n_args * sizeof *a->args);
        assert_int_equal(t.n_warnings, 0);
        trace_record_free(&t);
    }
    trace_record_free(&whole);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kernel_has_all_that_the_trace_says),
        cmocka_unit_test(keys_stand_in_any_order),
        cmocka_unit_test(values_that_come_again_are_told_apart),
        cmocka_unit_test(a_bare_list_is_a_trace),
        cmocka_unit_test(which_phases_are_events),
        cmocka_unit_test(what_says_the_same_is_stored_once),
        cmocka_unit_test(metadata_hold_wherever_they_stand),
        cmocka_unit_test(devices_groups_and_the_base_time_are_read),
        cmocka_unit_test(a_tpu_says_when_and_how_long_itself),
        cmocka_unit_test(gpus_of_xla_are_ranks_with_kernels_on_their_streams),
        cmocka_unit_test(a_trace_of_xla_s_host_alone_is_not_kineto_s),
        cmocka_unit_test(events_of_an_accelerator_that_is_no_gpu_are_its_kernels),
        cmocka_unit_test(a_count_of_a_tpu_is_a_number_or_digits),
        cmocka_unit_test(each_pid_of_a_simulated_run_is_a_rank),
        cmocka_unit_test(the_window_changes_nothing),
    };
    return RUN_TESTS(tests);
}
