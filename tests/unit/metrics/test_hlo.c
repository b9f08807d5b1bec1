/* What is read from the text of an HLO instruction. */
#include "metrics/hlo.h"

#include "unit/unit.h"

static void check_word(hlo_word w, const char *expected)
{
    assert_int_equal(w.n, strlen(expected));
    assert_memory_equal(w.at, expected, w.n);
}

CLAIM(an_instruction_has_name_opcode_and_first_operand)
{
    hlo_instruction h =
        hlo_parse("%all-reduce.1 = bf16[8,128]{1,0:T(8,128)(2,1)} all-reduce(bf16[8,128]{1,0} %p, "
                  "bf16[2] %q), replica_groups={{0,1}}");

    check_word(h.name, "all-reduce.1");
    check_word(h.opcode, "all-reduce");
    check_word(h.operand, "p");
}

CLAIM(a_tuple_before_the_opcode_is_passed_over)
{
    hlo_instruction h = hlo_parse("ROOT %copy-done.2 = (f32[4]{0}, (s32[], token[])) "
                                  "copy-done((f32[4]{0}, u32[]{:S(2)}) %copy-start.2)");

    check_word(h.name, "copy-done.2");
    check_word(h.opcode, "copy-done");
    check_word(h.operand, "copy-start.2");
}

CLAIM(names_may_lack_their_percent_sign)
{
    hlo_instruction h = hlo_parse("add.1 = f32[] add(f32[] x.1, f32[] y.2)");

    check_word(h.name, "add.1");
    check_word(h.opcode, "add");
    check_word(h.operand, "x.1");
}

CLAIM(any_other_text_is_nothing)
{
    static const char *const texts[] = {"", "fusion.1", " = ", "%a = ", "%a = f32[4", "%a = f32[4] add"};

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        assert_int_equal(hlo_parse(texts[i]).opcode.n, 0);
    assert_int_equal(hlo_parse(NULL).name.n, 0);
}

CLAIM(bytes_are_elements_times_their_width)
{
    assert_u64(hlo_shape_bytes("bf16[512,1024]{1,0:T(8,128)(2,1)}"), 512 * 1024 * 2);
    assert_u64(hlo_shape_bytes("pred[]"), 1);
    assert_u64(hlo_shape_bytes("f32[0,8]{1,0}"), 0);
    assert_u64(hlo_shape_bytes("f8e4m3fn[16]{0}"), 16);
    assert_u64(hlo_shape_bytes("s4[3]{0}"), 2); /* 12 bits */
    assert_u64(hlo_shape_bytes("f32[<=8,4]"), 128);
}

/* 4 x 4 + 8 x 2 + 4 + 0 */
CLAIM(elements_of_a_tuple_add_up)
{
    assert_u64(hlo_shape_bytes("(f32[4]{0:T(256)}, /*index=1*/(bf16[8]{0}, u32[]{:S(2)}), token[])"), 36);
}

CLAIM(an_unknown_or_absurd_shape_has_no_size)
{
    assert_u64(hlo_shape_bytes(NULL), HLO_UNKNOWN);
    assert_u64(hlo_shape_bytes(""), HLO_UNKNOWN);
    assert_u64(hlo_shape_bytes("opaque[]"), HLO_UNKNOWN);
    assert_u64(hlo_shape_bytes("(f32[4], strange[4])"), HLO_UNKNOWN);
    assert_u64(hlo_shape_bytes("f32[4"), HLO_UNKNOWN);
    assert_u64(hlo_shape_bytes("f32[4294967296,4294967296,4294967296]"), HLO_UNKNOWN);
    assert_u64(hlo_shape_bytes("f32[99999999999999999999999]"), HLO_UNKNOWN);
}

CLAIM(upstream_reads_the_first_shape_and_no_tuple)
{
    assert_u64(hlo_first_shape_bytes(" bf16[8,128]{1,0}"), 2048);
    assert_u64(hlo_first_shape_bytes("(f32[4], f32[4])"), HLO_UNKNOWN);
    assert_u64(hlo_first_shape_bytes("f8e5m2[4]"), HLO_UNKNOWN);
    /* A dynamic dimension is none for upstream; its bound is what the buffer holds. */
    assert_u64(hlo_first_shape_bytes("f32[<=5,2]"), 8);
    assert_u64(hlo_first_shape_bytes("f32[2, 3 ]"), 24);
    assert_u64(hlo_shape_bytes("f32[<=5,2]"), 40);
    assert_u64(hlo_shape_bytes("f8e5m2[4]"), 4);
}

CLAIM(a_group_has_the_members_of_its_first_set)
{
    assert_int_equal(hlo_group_size("x, replica_groups={{0,1,2,3},{4,5,6,7}}, y"), 4);
    assert_int_equal(hlo_group_size("replica_groups={{0}}"), 1);
    assert_int_equal(hlo_group_size("replica_groups=[2,8]<=[16]"), 8);
    assert_int_equal(hlo_group_size("replica_groups={}"), 0);
    assert_int_equal(hlo_group_size("replica_groups={{0,1"), 0);
    assert_int_equal(hlo_group_size("channel_id=1"), 0);
    assert_int_equal(hlo_group_size(NULL), 0);
}

CLAIM(start_and_done_come_off_a_word)
{
    int phase;

    check_word(hlo_strip(hlo_word_of("all-gather-start"), &phase), "all-gather");
    assert_int_equal(phase, HLO_START);
    check_word(hlo_strip(hlo_word_of("copy-done"), &phase), "copy");
    assert_int_equal(phase, HLO_DONE);
    check_word(hlo_strip(hlo_word_of("all-reduce"), &phase), "all-reduce");
    assert_int_equal(phase, 0);
    check_word(hlo_base(hlo_word_of("psum.12")), "psum");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_instruction_has_name_opcode_and_first_operand),
        cmocka_unit_test(a_tuple_before_the_opcode_is_passed_over),
        cmocka_unit_test(names_may_lack_their_percent_sign),
        cmocka_unit_test(any_other_text_is_nothing),
        cmocka_unit_test(bytes_are_elements_times_their_width),
        cmocka_unit_test(elements_of_a_tuple_add_up),
        cmocka_unit_test(an_unknown_or_absurd_shape_has_no_size),
        cmocka_unit_test(upstream_reads_the_first_shape_and_no_tuple),
        cmocka_unit_test(a_group_has_the_members_of_its_first_set),
        cmocka_unit_test(start_and_done_come_off_a_word),
    };

    return RUN_TESTS(tests);
}
