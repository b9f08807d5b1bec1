/* Files with holes: what filling writes, byte by byte, and what matching takes for the same file. */
#include "unit/unit.h"

#include "workload/chakra_template.h"

static wl_template t;
static unsigned char page[1024];

/* Two ranks of one graph: a slot for a group and one for a message. */
static wl_p2p p2p[2] = {{.peer = 300, .tag = 7, .id = 1000}, {.peer = 1, .tag = 200, .id = 3}};
static uint32_t slot_of[2] = {1, 0};
static wl_group groups[2] = {{.name = "", .n = 1}, {.name = "tp", .n = 1}};
static wl_rank ranks[2] = {{.id_base = 0, .group = &slot_of[0], .p2p = &p2p[0]},
                           {.id_base = 200, .group = &slot_of[1], .p2p = &p2p[1]}};
static const wl_workload w = {.n_ranks = 2, .rank = ranks, .n_groups = 2, .group = groups};

static pb_range fill(uint32_t rank)
{
    size_t room = wl_template_room(&t, &w);

    assert_true(room <= sizeof page);
    return (pb_range){wl_template_fill(&t, &w, rank, page + room), page + room};
}

static void assert_file(uint32_t rank, const char *expected, size_t n)
{
    pb_range file = fill(rank);

    assert_int_equal(file.end - file.p, n);
    assert_memory_equal(file.p, expected, n);
}
#define IS(rank, text) assert_file((rank), (text), sizeof(text) - 1)

static bool match(const void *bytes, size_t n, uint32_t rank, wl_binding *b)
{
    static wl_p2p found[1];
    static bool has_id[1];
    static pb_range name[1];
    const unsigned char *p = bytes;

    has_id[0] = false;
    name[0] = (pb_range){0};
    *b = (wl_binding){.p2p = found, .has_id = has_id, .group_name = name};
    return wl_template_match(&t, (pb_range){p, p + n}, rank, b);
}

/* A number of each kind between letters. */
static void draft_numbers(void)
{
    static const wl_hole_kind kinds[] = {WL_HOLE_ID, WL_HOLE_MESSAGE_ID, WL_HOLE_PEER, WL_HOLE_TAG,
                                         WL_HOLE_GROUP};

    for (uint32_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        dse_strbuf_addc(&t.text, (char)('a' + i));
        wl_template_hole(&t, kinds[i], kinds[i] == WL_HOLE_ID ? 5 : 0);
    }
    dse_strbuf_addc(&t.text, 'z');
}

/* 1000 is 7 * 128 + 104, 300 is 2 * 128 + 44, 205 is 128 + 77, 200 is 128 + 72. */
CLAIM(numbers_of_protobuf_are_varints)
{
    wl_template_init(&t);
    draft_numbers();
    IS(0, "a\x05"
          "b\xe8\x07"
          "c\xac\x02"
          "d\x07"
          "e\x01z");
    IS(1, "a\xcd\x01"
          "b\x03"
          "c\x01"
          "d\xc8\x01"
          "e\x00z");
    wl_template_free(&t);
}

CLAIM(numbers_of_json_are_decimal)
{
    wl_template_init(&t);
    t.decimal = true;
    draft_numbers();
    IS(0, "a5b1000c300d7e1z");
    IS(1, "a205b3c1d200e0z");
    wl_template_free(&t);
}

/* "[" <length of all to "]"> "(" <length of the name> name ")" ... */
static void draft_nested(void)
{
    wl_template_init(&t);
    dse_strbuf_addc(&t.text, '[');
    wl_template_hole(&t, WL_HOLE_BEGIN, 0);
    dse_strbuf_addc(&t.text, '(');
    wl_template_hole(&t, WL_HOLE_BEGIN, 0);
    wl_template_hole(&t, WL_HOLE_GROUP_NAME, 0);
    wl_template_hole(&t, WL_HOLE_END, 0);
    dse_strbuf_addc(&t.text, ')');
    wl_template_hole(&t, WL_HOLE_END, 0);
    dse_strbuf_addc(&t.text, ']');
}

CLAIM(lengths_count_what_their_rank_has_between)
{
    draft_nested();
    IS(0, "[\x05(\x02tp)]");
    IS(1, "[\x03(\x00)]");
    wl_template_free(&t);
}

CLAIM(a_template_without_holes_is_its_text)
{
    wl_template_init(&t);
    IS(0, "");
    dse_strbuf_adds(&t.text, "text");
    IS(1, "text");
    wl_template_free(&t);
}

CLAIM(the_longest_name_of_a_group_has_room)
{
    const char *name = groups[1].name;

    draft_nested();
    groups[1].name = "a group with a name that is longer than every number";
    IS(0, "[\x37(\x34"
          "a group with a name that is longer than every number)]");
    groups[1].name = name;
    wl_template_free(&t);
}

CLAIM(matching_finds_what_filling_took)
{
    wl_binding b;
    pb_range file;

    wl_template_init(&t);
    wl_template_hole(&t, WL_HOLE_ID, 5);
    wl_template_hole(&t, WL_HOLE_MESSAGE_ID, 0);
    wl_template_hole(&t, WL_HOLE_PEER, 0);
    wl_template_hole(&t, WL_HOLE_TAG, 0);
    for (uint32_t rank = 0; rank < 2; rank++) {
        file = fill(rank);
        assert_true(match(file.p, (size_t)(file.end - file.p), rank, &b));
        assert_u64(b.id_base, ranks[rank].id_base);
        assert_u64(b.p2p->id, p2p[rank].id);
        assert_int_equal(b.p2p->peer, p2p[rank].peer);
        assert_int_equal(b.p2p->tag, p2p[rank].tag);
    }
    wl_template_free(&t);
    draft_nested();
    file = fill(0);
    assert_true(match(file.p, (size_t)(file.end - file.p), 0, &b));
    assert_int_equal(b.group_name->end - b.group_name->p, 2);
    assert_memory_equal(b.group_name->p, "tp", 2);
    wl_template_free(&t);
}

CLAIM(holes_of_one_thing_must_agree)
{
    wl_binding b;

    wl_template_init(&t);
    wl_template_hole(&t, WL_HOLE_ID, 5);
    wl_template_hole(&t, WL_HOLE_ID, 7);
    assert_true(match("\x0f\x11", 2, 0, &b)); /* both 10 above */
    assert_u64(b.id_base, 10);
    assert_false(match("\x0f\x12", 2, 0, &b));
    wl_template_clear(&t);
    wl_template_hole(&t, WL_HOLE_MESSAGE_ID, 0);
    wl_template_hole(&t, WL_HOLE_MESSAGE_ID, 0);
    assert_true(match("\x02\x02", 2, 0, &b));
    assert_false(match("\x02\x03", 2, 0, &b));
    wl_template_clear(&t);
    wl_template_hole(&t, WL_HOLE_RANK, 0);
    assert_true(match("\x03", 1, 3, &b));
    assert_false(match("\x03", 1, 4, &b));
    wl_template_clear(&t);
    for (int i = 0; i < 2; i++) {
        wl_template_hole(&t, WL_HOLE_BEGIN, 0);
        wl_template_hole(&t, WL_HOLE_GROUP_NAME, 0);
        wl_template_hole(&t, WL_HOLE_END, 0);
    }
    assert_true(match("\x01x\x01x", 4, 0, &b));
    assert_false(match("\x01x\x01y", 4, 0, &b));
    assert_false(match("\x01x\x02xx", 5, 0, &b));
    wl_template_free(&t);
}

CLAIM(every_other_byte_must_be_equal)
{
    static const char good[] = "[\x05(\x02tp)]";
    char bad[sizeof good];
    wl_binding b;

    draft_nested();
    for (size_t i = 0; i < sizeof good - 1; i++) {
        memcpy(bad, good, sizeof good);
        bad[i] ^= 1;
        /* A name may be any. */
        assert_int_equal(match(bad, sizeof good - 1, 0, &b), i == 4 || i == 5);
        assert_false(match(good, i, 0, &b)); /* it ends too early */
    }
    assert_false(match("[\x05(\x02tp)]]", sizeof good, 0, &b));
    assert_true(match("[\x85\x00(\x82\x00tp)]", 10, 0, &b) == false); /* 6 bytes from "(" to ")" */
    assert_true(match("[\x86\x00(\x82\x00tp)]", 10, 0, &b));
    wl_template_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_of_protobuf_are_varints),
        cmocka_unit_test(numbers_of_json_are_decimal),
        cmocka_unit_test(lengths_count_what_their_rank_has_between),
        cmocka_unit_test(a_template_without_holes_is_its_text),
        cmocka_unit_test(the_longest_name_of_a_group_has_room),
        cmocka_unit_test(matching_finds_what_filling_took),
        cmocka_unit_test(holes_of_one_thing_must_agree),
        cmocka_unit_test(every_other_byte_must_be_equal),
    };
    return RUN_TESTS(tests);
}
