/* Which files are taken for descriptions of one graph. What is found is compared with what parsing gives. */
#include "unit/unit.h"

#include "support/same_trace.h"
#include "unit/workload/et.h"
#include "workload/chakra_alike.h"

static dse_arena arena;
static dse_error err;
static wl_alike alike;
static wl_graph graphs[40];
static uint32_t n_graphs;

static void begin(void)
{
    dse_arena_init(&arena);
    wl_alike_init(&alike);
    err = (dse_error)DSE_ERROR_INIT;
    n_graphs = 0;
}

static void end(void)
{
    wl_alike_free(&alike);
    dse_arena_free(&arena);
}

/* What a rank has for itself, and one thing that it may not have. */
typedef struct {
    uint64_t id;              /* of the first node; the others follow */
    uint64_t send, recv;      /* ids of messages */
    uint32_t peer, tag, rank; /* rank: as the source of its send */
    const char *dp, *tp;
    uint64_t other, last; /* operations of the first and the last node */
} own;

static const own first = {
    .id = 1, .send = 100, .recv = 101, .peer = 1, .tag = 7, .dp = "1", .tp = "2", .other = 5};

/* A computation, collectives of two groups and of all, a send and a receive, which is waited for before it stands in
 * the file. */
static void make(dse_strbuf *file, const own *o)
{
    static const char *const tensors[] = {"x@0B", "32.0", NULL};
    const uint64_t of_both[] = {o->id, o->send}, late[] = {o->recv};
    dse_strbuf node;

    et_begin(file, &node);
    et_comp(&node, o->id, "comp", o->other, 8);
    et_strings_attr(&node, "inputs", tensors);
    et_message(file, &node);
    et_coll(&node, o->id + 1, "grads", WL_ALL_REDUCE, 64, o->dp);
    et_dep(&node, o->id);
    et_message(file, &node);
    et_coll(&node, o->id + 2, "shards", WL_ALL_GATHER, 64, o->tp);
    et_deps(&node, true, late, 1);
    et_message(file, &node);
    et_message_node(&node, o->send, "send", true, o->peer, 16, o->tag);
    et_attr(&node, "comm_src", ET_INT32, o->rank);
    et_message(file, &node);
    et_message_node(&node, o->recv, "recv", false, o->peer, 16, o->tag + 1);
    et_message(file, &node);
    et_coll(&node, o->id + 3, "all", WL_ALL_REDUCE, 64, NULL);
    et_deps(&node, false, of_both, 2);
    et_message(file, &node);
    et_coll(&node, o->id + 4, "grads again", WL_ALL_REDUCE, 64, o->dp);
    et_message(file, &node);
    et_comp(&node, o->id + 5, "last", o->last, 8);
    et_message(file, &node);
    dse_strbuf_free(&node);
}

static pb_range bytes_of(const dse_strbuf *file)
{
    const unsigned char *p = (const unsigned char *)file->data;

    return (pb_range){p, p + file->len};
}

static void know(const dse_strbuf *file)
{
    pb_range bytes = bytes_of(file);
    wl_trace t;

    assert_ok(wl_chakra_parse_et("w.0.et", bytes.p, file->len, 0, NULL, &arena, &t, &err), &err);
    graphs[n_graphs] = t.graph;
    wl_alike_add(&alike, bytes, &t, n_graphs++);
}

/* The graph that the file describes, too; then its trace must be what parsing gives. */
static uint32_t find(const dse_strbuf *file, uint32_t rank)
{
    pb_range bytes = bytes_of(file);
    wl_trace found, parsed;
    uint32_t graph = wl_alike_find(&alike, bytes, rank, graphs, &arena, &found);

    if (graph != DSE_NONE) {
        assert_ptr_equal(found.graph.node, graphs[graph].node); /* shared, not copied */
        assert_ok(wl_chakra_parse_et("w.1.et", bytes.p, file->len, rank, NULL, &arena, &parsed, &err), &err);
        assert_true(same_trace(&parsed, &found));
    }
    return graph;
}

static void know_own(const own *o)
{
    dse_strbuf file;

    make(&file, o);
    know(&file);
    dse_strbuf_free(&file);
}

static uint32_t find_own(const own *o, uint32_t rank)
{
    dse_strbuf file;
    uint32_t graph;

    make(&file, o);
    graph = find(&file, rank);
    dse_strbuf_free(&file);
    return graph;
}

/* ---- alike ----------------------------------------------------------------------------------- */

CLAIM(nothing_is_alike_before_a_file_is_known)
{
    begin();
    assert_int_equal(find_own(&first, 0), DSE_NONE);
    end();
}

CLAIM(a_file_is_like_itself)
{
    begin();
    know_own(&first);
    assert_int_equal(find_own(&first, 0), 0);
    end();
}

/* Ids of one byte and of several, below and above, and past the end of 64 bits: 1 + (2^64 - 1) is 0. */
CLAIM(ids_may_begin_elsewhere)
{
    static const uint64_t ids[] = {0, 2, 90, 127, 128, 300, 100000, (uint64_t)1 << 40, UINT64_MAX - 1000};

    begin();
    know_own(&first);
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
        own o = first;

        o.id = ids[i];
        o.send = ids[i] + 50;
        o.recv = ids[i] + 900;
        assert_int_equal(find_own(&o, 0), 0);
    }
    end();
}

CLAIM(groups_may_have_other_names)
{
    own o = first;

    begin();
    know_own(&first);
    o.dp = "2"; /* the other way round */
    o.tp = "1";
    assert_int_equal(find_own(&o, 0), 0);
    o.dp = "a much longer name";
    assert_int_equal(find_own(&o, 0), 0);
    end();
}

CLAIM(messages_may_have_other_peers_and_tags)
{
    own o = first;

    begin();
    know_own(&first);
    o.rank = 5;
    o.peer = 3000;
    o.tag = 2000000000;
    assert_int_equal(find_own(&o, 5), 0);
    end();
}

CLAIM(stages_may_alternate)
{
    begin();
    for (uint32_t i = 0; i < WL_ALIKE_MAX; i++) {
        own o = first;

        o.other = i;
        know_own(&o);
    }
    for (uint32_t i = 0; i < 3 * WL_ALIKE_MAX; i++) {
        own o = first;

        o.other = i * 5 % WL_ALIKE_MAX;
        o.id = i;
        assert_int_equal(find_own(&o, 0), o.other);
    }
    end();
}

CLAIM(the_oldest_is_forgotten_first)
{
    own o = first;

    begin();
    for (o.other = 0; o.other < WL_ALIKE_MAX + 2; o.other++) {
        know_own(&o);
        assert_int_equal(find_own(&o, 0), o.other);
    }
    for (o.other = 0; o.other < WL_ALIKE_MAX + 2; o.other++)
        assert_int_equal(find_own(&o, 0), o.other < 2 ? DSE_NONE : o.other);
    end();
}

/* The last node tells them apart: after a few of them comparing costs more than parsing. The one that matched last is
 * always tried. */
CLAIM(files_that_differ_late_are_not_compared_with_all)
{
    char name[5000];
    own o = first;

    begin();
    memset(name, 'n', sizeof name - 1); /* a file of some size: of small ones all are */
    name[sizeof name - 1] = '\0';
    o.dp = name;
    for (uint32_t i = 0; i < 10; i++) {
        o.last = i;
        know_own(&o);
    }
    assert_int_equal(find_own(&o, 0), 9);
    o.last = 5;
    assert_int_equal(find_own(&o, 0), DSE_NONE);
    o.last = 9;
    assert_int_equal(find_own(&o, 0), 9);
    end();
}

CLAIM(files_without_likes_are_added_no_more_after_a_while)
{
    own o = first;

    begin();
    for (o.other = 0; o.other <= WL_ALIKE_MAX; o.other++)
        know_own(&o); /* the last in vain */
    o.other = WL_ALIKE_MAX;
    assert_int_equal(find_own(&o, 0), DSE_NONE);
    o.other = WL_ALIKE_MAX - 1;
    assert_int_equal(find_own(&o, 0), WL_ALIKE_MAX - 1);
    o.other = 1000; /* one has had its like: there is new hope */
    know_own(&o);
    assert_int_equal(find_own(&o, 0), n_graphs - 1);
    end();
}

/* ---- not alike -------------------------------------------------------------------------------- */

CLAIM(a_number_that_no_rank_has_for_itself_makes_another_graph)
{
    own o = first;

    begin();
    know_own(&first);
    o.other = 6;
    assert_int_equal(find_own(&o, 0), DSE_NONE);
    end();
}

/* The simulator tries nodes in the order of their ids. */
CLAIM(ids_in_another_order_make_another_graph)
{
    own o = first;

    begin();
    know_own(&first);
    o.send = 102; /* after the receive */
    assert_int_equal(find_own(&o, 0), DSE_NONE);
    o.send = 0; /* before the computation */
    assert_int_equal(find_own(&o, 0), DSE_NONE);
    o = first;
    o.id = UINT64_MAX - 1; /* 2^64 - 2, 2^64 - 1, 0, 1, 2 */
    assert_int_equal(find_own(&o, 0), DSE_NONE);
    end();
}

/* Streams are counted by group slot: one group in two slots would count them apart. */
CLAIM(two_groups_that_become_one_make_another_graph)
{
    own o = first;

    begin();
    know_own(&first);
    o.tp = o.dp;
    assert_int_equal(find_own(&o, 0), DSE_NONE);
    o = first;
    o.tp = ""; /* which is that of the collective without a name */
    assert_int_equal(find_own(&o, 0), DSE_NONE);
    end();
}

CLAIM(one_group_that_becomes_two_makes_another_graph)
{
    own o = first;

    begin();
    o.tp = o.dp;
    know_own(&o);
    assert_int_equal(find_own(&first, 0), DSE_NONE);
    end();
}

/* The group of all ranks is one slot, whether its name stands there, empty, or not at all. */
CLAIM(a_group_without_a_name_gets_none)
{
    own o = first;

    begin();
    o.tp = "";
    know_own(&o);
    assert_int_equal(find_own(&o, 0), 0);
    assert_int_equal(find_own(&first, 0), DSE_NONE);
    end();
}

/* Parsing says what is wrong with these. */
CLAIM(a_send_of_another_rank_is_left_to_the_parser)
{
    own o = first;

    begin();
    know_own(&first);
    o.rank = 2;
    assert_int_equal(find_own(&o, 1), DSE_NONE);
    end();
}

CLAIM(a_name_with_a_nul_is_left_to_the_parser)
{
    dse_strbuf file;
    own o = first;

    begin();
    know_own(&first);
    o.dp = "zzz";
    make(&file, &o);
    for (char *at = file.data; (at = memchr(at, 'z', file.len - (size_t)(at - file.data)));)
        at[0] = at[1] = at[2] = '\0';
    assert_int_equal(find(&file, 0), DSE_NONE);
    dse_strbuf_free(&file);
    end();
}

/* Each byte changed in each bit: what is still taken for the same graph is what parsing gives (find checks it). These
 * are two peers and two tags in their seven bits, and the name of the group that stands once; ids and the other group
 * stand twice. */
CLAIM(every_change_of_a_bit_is_judged_as_parsing_judges_it)
{
    uint32_t n_alike = 0, n_other = 0;
    own o = first;
    dse_strbuf file;

    o.rank = 1;
    make(&file, &o);
    for (size_t i = 0; i < file.len; i++) {
        begin(); /* an arena for each byte */
        know_own(&first);
        for (int bit = 0; bit < 8; bit++) {
            file.data[i] = (char)(file.data[i] ^ 1 << bit);
            *(find(&file, 1) == DSE_NONE ? &n_other : &n_alike) += 1;
            file.data[i] = (char)(file.data[i] ^ 1 << bit);
        }
        end();
    }
    assert_int_equal(n_alike, 4 * 7 + 8);
    assert_int_equal(n_alike + n_other, 8 * file.len);
    dse_strbuf_free(&file);
}

/* ---- files that are not shared ----------------------------------------------------------------- */

/* Sends of a shape of their own, each with tag 5 in the end: whatever the parser takes, a file with tag 6 at either
 * place may not be mistaken for it. */
typedef void shape(dse_strbuf *node, uint32_t a, uint32_t b);

static void two_tags(dse_strbuf *node, uint32_t a, uint32_t b)
{
    et_attr(node, "comm_tag", ET_INT32, a);
    et_attr(node, "comm_tag", ET_INT32, b);
}

static void a_fixed_tag_first(dse_strbuf *node, uint32_t a, uint32_t b)
{
    dse_strbuf attr;

    dse_strbuf_init(&attr);
    pb_put_string(&attr, 1, "comm_tag");
    pb_put_tag(&attr, 19, PB_FIXED32);
    for (int i = 0; i < 4; i++)
        dse_strbuf_addc(&attr, i ? '\0' : (char)a);
    pb_put_bytes(node, ET_ATTR, attr.data, attr.len);
    dse_strbuf_free(&attr);
    et_attr(node, "comm_tag", ET_INT32, b);
}

static void two_values(dse_strbuf *node, uint32_t a, uint32_t b)
{
    dse_strbuf attr;

    dse_strbuf_init(&attr);
    pb_put_string(&attr, 1, "comm_tag");
    pb_put_uint(&attr, ET_INT32, a);
    pb_put_uint(&attr, ET_INT32, b);
    pb_put_bytes(node, ET_ATTR, attr.data, attr.len);
    dse_strbuf_free(&attr);
}

static void the_name_last(dse_strbuf *node, uint32_t a, uint32_t b)
{
    dse_strbuf attr;

    dse_strbuf_init(&attr);
    pb_put_uint(&attr, ET_INT32, a);
    pb_put_string(&attr, 1, "comm_tag");
    pb_put_bytes(node, ET_ATTR, attr.data, attr.len);
    dse_strbuf_free(&attr);
    et_attr(node, "comm_tag", ET_INT32, b);
}

static void two_ids(dse_strbuf *node, uint32_t a, uint32_t b)
{
    pb_put_uint(node, ET_ID, 100 + a);
    pb_put_uint(node, ET_ID, 100 + b);
    et_attr(node, "comm_tag", ET_INT32, 5);
}

static void make_shape(dse_strbuf *file, shape *add, uint32_t a, uint32_t b)
{
    dse_strbuf node;

    et_begin(file, &node);
    et_node(&node, 100 + b, "send", WL_NODE_SEND);
    et_attr(&node, "comm_size", ET_INT64, 8);
    et_attr(&node, "comm_dst", ET_INT32, 1);
    add(&node, a, b);
    et_message(file, &node);
    dse_strbuf_free(&node);
}

CLAIM(odd_shapes_are_never_mistaken)
{
    static shape *const shapes[] = {two_tags, a_fixed_tag_first, two_values, the_name_last, two_ids};

    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        begin();
        for (uint32_t k = 0; k < 4; k++) {
            dse_strbuf file;

            make_shape(&file, shapes[i], k & 1 ? 6 : 5, k & 2 ? 6 : 5);
            if (k == 0)
                know(&file);
            else
                find(&file, 0); /* it compares with parsing */
            dse_strbuf_free(&file);
        }
        end();
    }
}

CLAIM(a_graph_of_very_many_groups_is_not_shared)
{
    dse_strbuf file, node;

    begin();
    et_begin(&file, &node);
    for (uint32_t i = 0; i <= WL_ALIKE_MAX_GROUP_SLOTS; i++) {
        char name[16];

        snprintf(name, sizeof name, "%u", i);
        et_coll(&node, i, "c", WL_ALL_REDUCE, 8, name);
        et_message(&file, &node);
    }
    know(&file);
    assert_int_equal(find(&file, 0), DSE_NONE);
    dse_strbuf_free(&file);
    dse_strbuf_free(&node);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_alike_before_a_file_is_known),
        cmocka_unit_test(a_file_is_like_itself),
        cmocka_unit_test(ids_may_begin_elsewhere),
        cmocka_unit_test(groups_may_have_other_names),
        cmocka_unit_test(messages_may_have_other_peers_and_tags),
        cmocka_unit_test(stages_may_alternate),
        cmocka_unit_test(the_oldest_is_forgotten_first),
        cmocka_unit_test(files_that_differ_late_are_not_compared_with_all),
        cmocka_unit_test(files_without_likes_are_added_no_more_after_a_while),
        cmocka_unit_test(a_number_that_no_rank_has_for_itself_makes_another_graph),
        cmocka_unit_test(ids_in_another_order_make_another_graph),
        cmocka_unit_test(two_groups_that_become_one_make_another_graph),
        cmocka_unit_test(one_group_that_becomes_two_makes_another_graph),
        cmocka_unit_test(a_group_without_a_name_gets_none),
        cmocka_unit_test(a_send_of_another_rank_is_left_to_the_parser),
        cmocka_unit_test(a_name_with_a_nul_is_left_to_the_parser),
        cmocka_unit_test(every_change_of_a_bit_is_judged_as_parsing_judges_it),
        cmocka_unit_test(odd_shapes_are_never_mistaken),
        cmocka_unit_test(a_graph_of_very_many_groups_is_not_shared),
    };
    return RUN_TESTS(tests);
}
