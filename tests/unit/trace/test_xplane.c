/* xplane.pb files, built message by message. */

#include "trace/reader.h"
#include "unit/trace/xspace.h"
#include "unit/unit.h"

#include <inttypes.h>
#include <zlib.h>

extern const trace_reader trace_reader_xplane;

enum { HLO_CATEGORY = 1, MODEL_FLOPS, DEVICE_OFFSET, DEVICE_DURATION, BYTES, ALL_REDUCE_TEXT, SHAPE };

/* A device with an all-reduce of which everything is said, and one of which nothing is said but its time; the metadata
 * stand behind the lines, as protobuf writes them. */
static void put_device(dse_strbuf *space)
{
    dse_strbuf plane, line, event, meta;

    dse_strbuf_init(&plane);
    pb_put_uint(&plane, 1, 7);
    pb_put_string(&plane, 2, "/device:TPU:0");
    begin_line(&line, 3, "XLA Ops", 1000);
    begin_event(&event, 11, 500, 2000);
    put_count_stat(&event, 4, DEVICE_OFFSET, 900500);
    put_count_stat(&event, 4, DEVICE_DURATION, 1999);
    put_count_stat(&event, 4, BYTES, 64);
    put_part(&line, 4, &event);
    begin_event(&event, 11, 3000, 0);
    put_part(&line, 4, &event);
    put_part(&plane, 3, &line);
    begin_line(&line, 4, "Steps", 5); /* without events: no lane, and its time does not count */
    put_part(&plane, 3, &line);

    dse_strbuf_init(&meta);
    pb_put_string(&meta, 2, "%all-reduce.1 = f32[16]{0} all-reduce(f32[16]{0} %p)");
    pb_put_string(&meta, 4, "all-reduce.1");
    put_reference_stat(&meta, 5, HLO_CATEGORY, ALL_REDUCE_TEXT);
    put_text_stat(&meta, 5, SHAPE, "f32[16]{0}");
    put_text_stat(&meta, 5, MODEL_FLOPS, "32"); /* as text, as the Chrome trace has it */
    put_count_stat(&meta, 5, BYTES, 128);
    put_entry(&plane, 4, 11, &meta);
    put_stat_metadata(&plane, HLO_CATEGORY, "hlo_category");
    put_stat_metadata(&plane, MODEL_FLOPS, "model_flops");
    put_stat_metadata(&plane, DEVICE_OFFSET, "device_offset_ps");
    put_stat_metadata(&plane, DEVICE_DURATION, "device_duration_ps");
    put_stat_metadata(&plane, BYTES, "bytes_accessed");
    put_stat_metadata(&plane, ALL_REDUCE_TEXT, "all-reduce");
    put_stat_metadata(&plane, SHAPE, "shape_with_layout");
    put_part(space, 1, &plane);
}

static void put_host(dse_strbuf *space, uint64_t timestamp_ns)
{
    dse_strbuf plane, line, event, meta;

    dse_strbuf_init(&plane);
    pb_put_string(&plane, 2, "/host:CPU");
    begin_line(&line, 1, "python", timestamp_ns);
    begin_event(&event, 1, 0, 1000000);
    put_part(&line, 4, &event);
    put_part(&plane, 3, &line);
    dse_strbuf_init(&meta);
    pb_put_string(&meta, 2, "step");
    put_entry(&plane, 4, 1, &meta);
    put_part(space, 1, &plane);
}

static const char *text(const trace_rank *r, uint32_t id)
{
    return id == DSE_NONE ? "(none)" : r->names.text[id];
}

CLAIM(names_come_from_metadata_and_times_from_line_and_offset)
{
    dse_error err = DSE_ERROR_INIT;
    trace_record r = {0};
    const trace_rank *rank;
    dse_strbuf space;

    dse_strbuf_init(&space);
    put_device(&space);
    put_host(&space, 900);
    assert_ok(trace_xplane_parse("a.xplane.pb", space.data, space.len, &r, &err), &err);
    assert_int_equal(r.n_ranks, 1);
    rank = &r.rank[0];
    assert_int_equal(rank->kind, TRACE_XLA);
    assert_false(rank->has_rank);
    assert_string_equal(rank->path, "a.xplane.pb");
    assert_int_equal(rank->n_events, 3);
    assert_int_equal(rank->n_lanes, 2);
    assert_string_equal(text(rank, rank->lane[0].process_name), "/device:TPU:0");
    assert_string_equal(text(rank, rank->lane[0].thread), "XLA Ops");
    assert_string_equal(text(rank, rank->lane[1].process_name), "/host:CPU");
    /* The device's line is time 0, its event 500 ps behind; the host's began 100 ns before. */
    assert_int_equal(rank->base_ns, 1000);
    assert_int_equal(rank->event[0].start_ps, 500);
    assert_int_equal(rank->event[0].dur_ps, 2000);
    assert_int_equal(rank->event[2].start_ps, -100 * 1000);
    assert_string_equal(text(rank, rank->event[0].name), "all-reduce.1");
    assert_string_equal(text(rank, rank->event[2].name), "step");
    assert_int_equal(rank->event[2].lane, 1);
    assert_int_equal(rank->event[2].args, DSE_NONE);
    assert_int_equal(rank->all_first_ps, -100000);
    assert_int_equal(rank->all_last_ps, 900000); /* the host's last: -100,000 + 1,000,000 */
    trace_record_free(&r);
    dse_strbuf_free(&space);
}

CLAIM(a_gpu_s_streams_hold_its_kernels)
{
    dse_error err = DSE_ERROR_INIT;
    dse_strbuf space, plane, line, event, meta;
    trace_record r = {0};

    dse_strbuf_init(&space);
    dse_strbuf_init(&plane);
    pb_put_string(&plane, 2, "/device:GPU:0");
    begin_line(&line, 3, "Stream #3(Compute)", 1000);
    begin_event(&event, 1, 0, 2000);
    put_part(&line, 4, &event);
    put_part(&plane, 3, &line);
    dse_strbuf_init(&meta);
    pb_put_string(&meta, 2, "Cijk_Ailk_Bljk_HHS_BH_MT128x128x32");
    put_entry(&plane, 4, 1, &meta);
    put_part(&space, 1, &plane);
    put_host(&space, 1000);
    assert_ok(trace_xplane_parse("a.xplane.pb", space.data, space.len, &r, &err), &err);
    assert_int_equal(r.n_ranks, 1);
    assert_int_equal(r.rank[0].kind, TRACE_XLA_GPU);
    assert_int_equal(r.rank[0].n_events, 2);
    assert_int_equal(r.rank[0].event[0].category, TRACE_KERNEL);
    assert_int_equal(r.rank[0].event[1].category, TRACE_OTHER);
    trace_record_free(&r);
    dse_strbuf_free(&space);
}

CLAIM(statistics_of_an_event_lie_over_those_of_its_metadata)
{
    dse_error err = DSE_ERROR_INIT;
    trace_record r = {0};
    const trace_args *a, *b;
    dse_strbuf space;

    dse_strbuf_init(&space);
    put_device(&space);
    assert_ok(trace_xplane_parse("a.xplane.pb", space.data, space.len, &r, &err), &err);
    a = &r.rank[0].args[r.rank[0].event[0].args];
    b = &r.rank[0].args[r.rank[0].event[1].args];
    assert_string_equal(text(&r.rank[0], a->hlo_category), "all-reduce");
    assert_string_equal(text(&r.rank[0], a->long_name),
                        "%all-reduce.1 = f32[16]{0} all-reduce(f32[16]{0} %p)");
    assert_string_equal(text(&r.rank[0], a->shape), "f32[16]{0}");
    assert_double(a->model_flops, 32);
    assert_u64(a->bytes_accessed, 64);
    assert_u64(b->bytes_accessed, 128);
    assert_u64(b->raw_bytes_accessed, TRACE_UNKNOWN);
    assert_int_equal(trace_device_time_of(&r.rank[0], 0).offset_ps, 900500);
    assert_int_equal(trace_device_time_of(&r.rank[0], 0).dur_ps, 1999);
    assert_int_equal(trace_device_time_of(&r.rank[0], 1).dur_ps, -1);
    trace_record_free(&r);
    dse_strbuf_free(&space);
}

/* A device that counts since its start and a host that counts since 1970 are 54 years apart. */
CLAIM(what_is_53_days_from_the_device_is_left_out_with_a_warning)
{
    dse_error err = DSE_ERROR_INIT;
    trace_record r = {0};
    dse_strbuf space;

    dse_strbuf_init(&space);
    put_device(&space);
    put_host(&space, 1700000000000000000);
    assert_ok(trace_xplane_parse("a.xplane.pb", space.data, space.len, &r, &err), &err);
    assert_int_equal(r.rank[0].n_events, 2);
    assert_int_equal(r.n_warnings, 1);
    assert_non_null(strstr(r.warning[0].text, "a.xplane.pb: byte "));
    assert_non_null(strstr(r.warning[0].text,
                           "1 events without a time, of a negative duration or more than 53 "
                           "days from the first are left out"));
    trace_record_free(&r);
    dse_strbuf_free(&space);
}

CLAIM(unknown_fields_and_wrong_wire_types_are_skipped)
{
    dse_error err = DSE_ERROR_INIT;
    trace_record r = {0};
    dse_strbuf space, plane;

    dse_strbuf_init(&space);
    dse_strbuf_init(&plane);
    pb_put_uint(&plane, 3, 5);          /* lines as a number */
    pb_put_string(&plane, 99, "later"); /* of another version */
    pb_put_uint(&plane, 2, 1);          /* a name that is none */
    put_part(&space, 1, &plane);
    pb_put_string(&space, 3, "dropped 5 events");
    put_device(&space);
    assert_ok(trace_xplane_parse("a.xplane.pb", space.data, space.len, &r, &err), &err);
    assert_int_equal(r.rank[0].n_events, 2);
    assert_int_equal(r.n_warnings, 1);
    assert_string_equal(r.warning[0].text, "a.xplane.pb: the profiler noted a warning: dropped 5 events");
    trace_record_free(&r);
    dse_strbuf_free(&space);
}

static void refuse(const char *bytes, size_t n, const char *says)
{
    dse_error err = DSE_ERROR_INIT;
    trace_record r = {0};

    assert_failure(trace_xplane_parse("a.xplane.pb", bytes, n, &r, &err), &err, DSE_E_SYNTAX, "a.xplane.pb",
                   says);
    trace_record_free(&r);
}

#define ENDS "of a protobuf message ends within the"
#define ASKS "that are left of it; is the file cut off, or was it changed by a copy as text?"

CLAIM(a_message_that_is_none_is_refused_with_its_byte)
{
    /* A plane of 9 bytes of which 2 are there. */
    refuse("\x0a\x09\x12\x01", 4, "byte 0: no field " ENDS " 4 bytes " ASKS);
    /* A name of 2^63 bytes in a plane. */
    refuse("\x0a\x0b\x12\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", 13,
           "byte 2: no field " ENDS " 11 bytes " ASKS);
    /* A number that does not end, in a line's event in a plane. */
    refuse("\x0a\x06\x1a\x04\x22\x02\x08\xff", 8, "byte 6: no field " ENDS " 2 bytes " ASKS);
    /* A group, which proto3 does not have. */
    refuse("\x0b", 1, "byte 0: no field " ENDS " 1 bytes " ASKS);
}

CLAIM(every_truncation_is_refused_or_a_shorter_file)
{
    dse_strbuf space;

    dse_strbuf_init(&space);
    put_device(&space);
    for (size_t n = 1; n < space.len; n++) {
        dse_error err = DSE_ERROR_INIT;
        trace_record r = {0};

        assert_says(trace_xplane_parse("a", space.data, n, &r, &err), &err, DSE_E_SYNTAX, "byte 0: ");
        trace_record_free(&r);
    }
    dse_strbuf_free(&space);
}

CLAIM(a_file_is_told_by_its_first_plane)
{
    dse_strbuf space;

    dse_strbuf_init(&space);
    put_device(&space);
    assert_true(trace_reader_xplane.is(space.data, space.len));
    dse_strbuf_clear(&space);
    put_host(&space, 1);
    assert_true(trace_reader_xplane.is(space.data, space.len));
    assert_false(trace_reader_xplane.is("", 0));
    assert_false(trace_reader_xplane.is("\n{\"traceEvents\": []}", 20));
    assert_false(trace_reader_xplane.is("\x80\x02}q\x01", 5));
    dse_strbuf_free(&space);
}

CLAIM(gzip_is_read_too_and_half_of_it_is_refused)
{
    char folder[64], path[128];
    dse_error err = DSE_ERROR_INIT;
    const trace_reader *reader;
    trace_record r = {0};
    dse_strbuf space;
    gzFile f;

    unit_make_folder(folder);
    snprintf(path, sizeof path, "%s/a.xplane.pb.gz", folder);
    dse_strbuf_init(&space);
    put_device(&space);
    assert_non_null(f = gzopen(path, "wb"));
    assert_int_equal(gzwrite(f, space.data, (unsigned)space.len), space.len);
    assert_int_equal(gzclose(f), Z_OK);
    assert_ok(trace_reader_find(path, &reader, &err), &err);
    assert_ptr_equal(reader, &trace_reader_xplane);
    assert_ok(trace_read(reader, path, &r, &err), &err);
    assert_int_equal(r.rank[0].n_events, 2);
    trace_record_free(&r);
    assert_int_equal(truncate(path, 60), 0);
    assert_says(trace_read(reader, path, &r, &err), &err, DSE_E_IO,
                "the gzip file is broken or cut off after ");
    trace_record_free(&r);
    dse_strbuf_free(&space);
    unit_remove_folder(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_come_from_metadata_and_times_from_line_and_offset),
        cmocka_unit_test(a_gpu_s_streams_hold_its_kernels),
        cmocka_unit_test(statistics_of_an_event_lie_over_those_of_its_metadata),
        cmocka_unit_test(what_is_53_days_from_the_device_is_left_out_with_a_warning),
        cmocka_unit_test(unknown_fields_and_wrong_wire_types_are_skipped),
        cmocka_unit_test(a_message_that_is_none_is_refused_with_its_byte),
        cmocka_unit_test(every_truncation_is_refused_or_a_shorter_file),
        cmocka_unit_test(a_file_is_told_by_its_first_plane),
        cmocka_unit_test(gzip_is_read_too_and_half_of_it_is_refused),
    };
    return RUN_TESTS(tests);
}
