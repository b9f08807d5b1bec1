/* Writing traces, in the three schemas, and reading back what was written. */
#include "unit/unit.h"

#include "base/fs.h"
#include "base/protobuf.h"
#include "support/wl_strategy.h"
#include "workload/chakra.h"
#include "workload/generate.h"

static dse_arena arena;
static dse_error err;
static wl_workload w;

/* Two linear layers on two pipeline stages: compute nodes, collectives, sends and receives, sizes that do not
 * divide (8/3), control dependencies by recomputation. */
static const char operators[] =
    "symbols: {B: batch, M: model}\n"
    "blocks:\n"
    "  lin:\n"
    "    x: {input: [B/dp, M/tp]}\n"
    "    w: {weight: [M, M/tp]}\n"
    "    y: {einsum: \"x[bm] w[mn] -> bn\", over: {b: B/dp, m: M, n: M/tp}}\n"
    "    again: {when: recompute, after: y, einsum: \"x[bm] w[mn] -> bn\", over: {b: B/dp, m: M, n: M/tp}}\n"
    "    dy: {input: [B/dp, M/tp], gradient_of: y}\n"
    "    dw: {einsum: \"dy[bn] x[bm] -> mn\", over: {b: B/dp, m: M, n: M/tp}, gradient_of: w}\n"
    "    dx: {einsum: \"dy[bn] w[mn] -> bm\", over: {b: B/dp, m: M, n: M/tp}, gradient_of: x}\n"
    "model: {a: {block: lin, place: first}, b: {block: lin, place: last}}\n"
    "links: {loss: {a_y: b_x, b_y: b_dy, b_dx: a_dy}}\n";

static void generate(void)
{
    const wl_symbols symbols = {.n = 2, .name = {"B", "M"}, .value = {8, 16}};
    const wl_strategy s =
        WL_STRATEGY(.dp = 3, .tp = 2, .sp = 1, .pp = 2, .recompute = true, .tag_base = 885440);
    cfg_doc doc;

    dse_arena_init(&arena);
    err = (dse_error)DSE_ERROR_INIT;
    assert_ok(cfg_parse_yaml("f.yaml", operators, strlen(operators), &arena, &doc, &err), &err);
    assert_ok(wl_generate(&doc, &symbols, 0, &s, &arena, &w, &err), &err);
}

/* ---- schemas ---------------------------------------------------------------------------------- */

CLAIM(schemas_have_stage_s_names)
{
    assert_ptr_equal(wl_schema_find("v0.0.4"), &wl_schema_v004);
    assert_ptr_equal(wl_schema_find("v0.0.1"), &wl_schema_v001);
    assert_ptr_equal(wl_schema_find("json"), &wl_schema_json);
    assert_null(wl_schema_find("v0.0.2"));
}

/* ---- round trips ------------------------------------------------------------------------------- */

static void assert_same_deps(const wl_csr *a, const wl_csr *b, uint32_t node)
{
    assert_int_equal(a->start[node + 1] - a->start[node], b->start[node + 1] - b->start[node]);
    for (uint32_t k = 0; k < a->start[node + 1] - a->start[node]; k++)
        assert_int_equal(a->item[a->start[node] + k], b->item[b->start[node] + k]);
}

static void assert_same_io(const wl_graph *a, const wl_io_csr *x, const wl_graph *b, const wl_io_csr *y,
                           uint32_t node)
{
    assert_int_equal(x->start[node + 1] - x->start[node], y->start[node + 1] - y->start[node]);
    for (uint32_t k = 0; k < x->start[node + 1] - x->start[node]; k++) {
        const wl_io *p = &x->item[x->start[node] + k], *q = &y->item[y->start[node] + k];

        assert_string_equal(a->tensor[p->tensor].name, b->tensor[q->tensor].name);
        assert_u64(p->size, q->size);
    }
}

/* Everything but what a file does not say: STAGE writes a dependency that would stand twice once. */
static void assert_reads_back(uint32_t rank, const wl_trace *t)
{
    const wl_graph *g = wl_rank_graph(&w, rank);

    assert_int_equal(t->graph.n_nodes, g->n_nodes);
    for (uint32_t i = 0; i < g->n_nodes; i++) {
        const wl_node *a = &g->node[i], *b = &t->graph.node[i];

        assert_string_equal(a->name, b->name);
        assert_int_equal(a->type, b->type);
        assert_u64(t->id[i], wl_node_id(&w, rank, i));
        assert_u64(a->num_ops, b->num_ops);
        assert_u64(a->tensor_size, b->tensor_size);
        assert_u64(a->comm_size, b->comm_size);
        assert_false(b->is_cpu_op);
        assert_true(b->has_io);
        assert_null(b->lacks);
        assert_int_equal(g->by_id[i], t->graph.by_id[i]);
        assert_same_deps(&g->parents, &t->graph.parents, i);
        assert_same_io(g, &g->inputs, &t->graph, &t->graph.inputs, i);
        assert_same_io(g, &g->outputs, &t->graph, &t->graph.outputs, i);
        if (a->type == WL_NODE_COLL) {
            assert_int_equal(a->coll, b->coll);
            assert_string_equal(w.group[w.rank[rank].group[a->slot]].name, t->group_name[b->slot]);
        } else if (a->type == WL_NODE_SEND || a->type == WL_NODE_RECV) {
            assert_int_equal(w.rank[rank].p2p[a->slot].peer, t->p2p[b->slot].peer);
            assert_int_equal(w.rank[rank].p2p[a->slot].tag, t->p2p[b->slot].tag);
        }
    }
}

CLAIM(what_is_written_as_protobuf_reads_back_the_same)
{
    generate();
    assert_int_equal(w.n_ranks, 12);
    for (uint32_t rank = 0; rank < w.n_ranks; rank++) {
        dse_strbuf b;
        wl_trace t;

        dse_strbuf_init(&b);
        wl_chakra_write(&w, &wl_schema_v004, rank, &b);
        assert_ok(
            wl_chakra_parse_et("w.et", (const unsigned char *)b.data, b.len, rank, NULL, &arena, &t, &err),
            &err);
        assert_reads_back(rank, &t);
        dse_strbuf_free(&b);
    }
    dse_arena_free(&arena);
}

CLAIM(what_is_written_as_json_reads_back_the_same)
{
    generate();
    for (uint32_t rank = 0; rank < w.n_ranks; rank++) {
        dse_strbuf b;
        wl_trace t;

        dse_strbuf_init(&b);
        wl_chakra_write(&w, &wl_schema_json, rank, &b);
        assert_ok(wl_chakra_parse_json("w.json", b.data, b.len, rank, NULL, &arena, &t, &err), &err);
        assert_reads_back(rank, &t);
        dse_strbuf_free(&b);
    }
    dse_arena_free(&arena);
}

CLAIM(a_workload_written_to_files_reads_back_the_same)
{
    char folder[64], pattern[100], prefix[100], groups[100];
    dse_strbuf b;
    wl_workload again;

    generate();
    unit_make_folder(folder);
    snprintf(pattern, sizeof pattern, "%s/sub/w.%%d.et", folder);
    snprintf(prefix, sizeof prefix, "%s/sub/w", folder);
    snprintf(groups, sizeof groups, "%s/g.json", folder);
    assert_ok(wl_chakra_write_files(&w, &wl_schema_v004, pattern, &err), &err); /* makes the folder */
    dse_strbuf_init(&b);
    wl_groups_write(&w, &b);
    unit_write(groups, b.data, b.len);
    dse_strbuf_free(&b);
    assert_ok(wl_chakra_read(prefix, groups, w.n_ranks, NULL, &arena, &again, &err), &err);
    assert_int_equal(again.n_graphs, w.n_graphs); /* one a stage, as when they were made */
    assert_int_equal(again.n_groups, w.n_groups);
    for (uint32_t i = 0; i < w.n_groups; i++) {
        assert_string_equal(again.group[i].name, w.group[i].name);
        assert_int_equal(again.group[i].n, w.group[i].n);
        assert_memory_equal(again.group[i].rank, w.group[i].rank, w.group[i].n * sizeof *w.group[i].rank);
    }
    for (uint32_t r = 0; r < w.n_ranks; r++) {
        const wl_graph *g = wl_rank_graph(&again, r);

        for (uint32_t i = 0; i < g->n_nodes; i++) {
            assert_u64(wl_node_id(&again, r, i), wl_node_id(&w, r, i));
            if (g->node[i].type == WL_NODE_COLL)
                assert_int_equal(again.rank[r].group[g->node[i].slot],
                                 w.rank[r].group[wl_rank_graph(&w, r)->node[i].slot]);
        }
    }
    unit_remove_folder(folder);
    dse_arena_free(&arena);
}

/* ---- bytes ------------------------------------------------------------------------------------- */

/* One compute node of one rank, to be checked byte by byte. */
static void one_node(wl_graph *g, wl_rank *r)
{
    static wl_node node = {.name = "n",
                           .type = WL_NODE_COMP,
                           .id = 3,
                           .num_ops = 300,
                           .tensor_size = 5,
                           .y_size = 7,
                           .has_io = true};
    static uint32_t none[] = {0, 0}, one[] = {0, 1};
    static wl_io io = {0, 32};
    static wl_tensor_info tensor = {.name = "x@0B", .elements = 32};

    *g = (wl_graph){.n_nodes = 1, .node = &node, .n_tensors = 1, .tensor = &tensor};
    g->data_deps.start = g->ctrl_deps.start = g->parents.start = none;
    g->inputs = (wl_io_csr){one, &io};
    g->outputs = (wl_io_csr){none, NULL};
    *r = (wl_rank){.graph = 0, .id_base = 10};
    w = (wl_workload){.n_ranks = 1, .rank = r, .n_graphs = 1, .graph = g};
}

/* GlobalMetadata: an attribute (field 2) named "schema" with the string (field 29) "symbolic_tensor_network".
 * Node: id 13, name "n", type 4; attributes (field 10): inputs with the string list (field 30) "x@0B", "32.0",
 * outputs without a value, num_ops as int64 (9), tensor_size as uint64 (13). A tag of field n is 8 n + wire type,
 * in two bytes from field 16 on: 29 is ea 01, 30 is f2 01. */
CLAIM(a_node_of_schema_v004_has_these_bytes)
{
    static const char expected[] = "\x24"
                                   "\x12\x22"
                                   "\x0a\x06schema"
                                   "\xea\x01\x17symbolic_tensor_network"
                                   "\x4a"
                                   "\x08\x0d"
                                   "\x12\x01n"
                                   "\x18\x04"
                                   "\x52\x17"
                                   "\x0a\x06inputs"
                                   "\xf2\x01\x0c\x0a\x04x@0B\x0a\x04"
                                   "32.0"
                                   "\x52\x09"
                                   "\x0a\x07outputs"
                                   "\x52\x0c"
                                   "\x0a\x07num_ops"
                                   "\x48\xac\x02"
                                   "\x52\x0f"
                                   "\x0a\x0btensor_size"
                                   "\x68\x05";
    wl_graph g;
    wl_rank r;
    dse_strbuf b;

    one_node(&g, &r);
    dse_strbuf_init(&b);
    wl_chakra_write(&w, &wl_schema_v004, 0, &b);
    assert_int_equal(b.len, sizeof expected - 1);
    assert_memory_equal(b.data, expected, b.len);
    dse_strbuf_free(&b);
}

/* v0.0.1 has no metadata: id, name, type 3 (computation), tensor_size (field 6), num_ops (field 12). */
CLAIM(a_node_of_schema_v001_has_these_bytes)
{
    static const char expected[] = "\x0c\x08\x0d\x12\x01n\x18\x03\x30\x05\x60\xac\x02";
    wl_graph g;
    wl_rank r;
    dse_strbuf b;

    one_node(&g, &r);
    dse_strbuf_init(&b);
    wl_chakra_write(&w, &wl_schema_v001, 0, &b);
    assert_int_equal(b.len, sizeof expected - 1);
    assert_memory_equal(b.data, expected, b.len);
    dse_strbuf_free(&b);
}

CLAIM(a_graph_without_nodes_has_no_bytes_but_the_metadata)
{
    static uint32_t none[] = {0};
    wl_graph g;
    wl_rank r;
    dse_strbuf b;

    one_node(&g, &r);
    g.n_nodes = 0;
    g.data_deps.start = g.ctrl_deps.start = g.parents.start = none;
    dse_strbuf_init(&b);
    wl_chakra_write(&w, &wl_schema_v001, 0, &b);
    assert_int_equal(b.len, 0);
    wl_chakra_write(&w, &wl_schema_v004, 0, &b);
    assert_int_equal(b.len, 37); /* 36 and their length, as above */
    dse_strbuf_clear(&b);
    wl_chakra_write(&w, &wl_schema_json, 0, &b);
    assert_string_equal(b.data, "{\"nodes\": []}");
    dse_strbuf_free(&b);
}

/* json.dump's spacing; sizes are Python floats. */
CLAIM(a_node_of_the_json_schema_is_spelt_as_python_spells_it)
{
    wl_graph g;
    wl_rank r;
    dse_strbuf b;

    one_node(&g, &r);
    dse_strbuf_init(&b);
    wl_chakra_write(&w, &wl_schema_json, 0, &b);
    assert_string_equal(
        b.data, "{\"nodes\": [{\"id\": 13, \"name\": \"n\", \"node_type\": \"comp_node\", "
                "\"y_tensor_size\": 7, \"inputs\": [{\"name\": \"x@0B\", \"size\": 32.0}], \"outputs\": [], "
                "\"data_deps\": [], \"ctrl_deps\": [], \"num_ops\": 300, \"tensor_size\": 5}]}");
    dse_strbuf_free(&b);
}

CLAIM(names_in_json_are_escaped)
{
    wl_graph g;
    wl_rank r;
    wl_node node;
    wl_tensor_info tensor = {.name = "t\"@0B", .elements = 32};
    uint32_t ranks[] = {0};
    wl_group groups[] = {{"", 1, ranks}, {"a\"b", 1, ranks}};
    wl_trace t;
    dse_strbuf b;

    one_node(&g, &r);
    node = g.node[0];
    node.name = "back\\slash \"quoted\"\n";
    g.node = &node;
    g.tensor = &tensor;
    dse_arena_init(&arena);
    err = (dse_error)DSE_ERROR_INIT;
    dse_strbuf_init(&b);
    wl_chakra_write(&w, &wl_schema_json, 0, &b);
    assert_ok(wl_chakra_parse_json("w.json", b.data, b.len, 0, NULL, &arena, &t, &err), &err);
    assert_string_equal(t.graph.node[0].name, node.name);
    assert_string_equal(t.graph.tensor[0].name, tensor.name);
    dse_strbuf_clear(&b);
    w.n_groups = 2;
    w.group = groups;
    wl_groups_write(&w, &b);
    assert_string_equal(b.data, "{\"a\\\"b\": [0]}");
    dse_strbuf_free(&b);
    dse_arena_free(&arena);
}

/* In v0.0.1 communications have fields of their own: 13 type, 14 involved dimensions (three times), 15 group,
 * 18 size; 16 source, 17 destination, 19 tag. All-reduce is 1 there, all-gather 3, reduce-scatter 4. */
CLAIM(communications_of_schema_v001_have_their_fields)
{
    uint32_t seen_coll = 0, seen_send = 0, seen_recv = 0;

    generate();
    for (uint32_t rank = 0; rank < w.n_ranks; rank += 6) {
        const wl_graph *g = wl_rank_graph(&w, rank);
        dse_strbuf b;
        pb_range file;

        dse_strbuf_init(&b);
        wl_chakra_write(&w, &wl_schema_v001, rank, &b);
        file = (pb_range){(unsigned char *)b.data, (unsigned char *)b.data + b.len};
        for (uint32_t i = 0; i < g->n_nodes; i++) {
            const wl_node *n = &g->node[i];
            uint64_t length, value[20] = {0}, count[20] = {0};
            pb_range node;
            pb_field f;

            assert_true(pb_get_varint(&file, &length));
            node = (pb_range){file.p, file.p + length};
            file.p += length;
            while (pb_get_field(&node, &f) > 0) {
                assert_true(f.field < 20);
                value[f.field] = f.value;
                count[f.field]++;
            }
            assert_u64(value[1], wl_node_id(&w, rank, i));
            assert_u64(count[4], wl_n_parents(g, i)); /* data and control in one list, each parent once */
            if (n->type == WL_NODE_COLL) {
                seen_coll++;
                assert_u64(value[3], 6);
                assert_u64(value[13], n->coll == WL_ALL_REDUCE ? 1 : n->coll == WL_ALL_GATHER ? 3 : 4);
                assert_u64(count[14], 3);
                assert_u64(value[15], w.rank[rank].group[n->slot]);
                assert_u64(value[18], n->comm_size);
            } else if (n->type == WL_NODE_SEND || n->type == WL_NODE_RECV) {
                bool send = n->type == WL_NODE_SEND;

                seen_send += send;
                seen_recv += !send;
                assert_u64(value[3], send ? 4 : 5);
                assert_u64(value[send ? 17 : 16], w.rank[rank].p2p[n->slot].peer);
                assert_u64(count[send ? 16 : 17], 0);
                assert_u64(value[18], n->comm_size);
                assert_u64(value[19], w.rank[rank].p2p[n->slot].tag);
            }
        }
        assert_ptr_equal(file.p, file.end);
        dse_strbuf_free(&b);
    }
    assert_true(seen_coll && seen_send && seen_recv);
    dse_arena_free(&arena);
}

CLAIM(groups_are_written_as_python_writes_them)
{
    uint32_t a[] = {0, 2}, b[] = {1}, all[] = {0, 1, 2};
    wl_group groups[] = {{"", 3, all}, {"1", 2, a}, {"2", 1, b}};
    dse_strbuf out;

    w = (wl_workload){.n_ranks = 3, .n_groups = 3, .group = groups};
    dse_strbuf_init(&out);
    wl_groups_write(&w, &out);
    assert_string_equal(out.data, "{\"1\": [0, 2], \"2\": [1]}");
    dse_strbuf_clear(&out);
    w.n_groups = 1;
    wl_groups_write(&w, &out);
    assert_string_equal(out.data, "{}");
    dse_strbuf_free(&out);
}

/* ---- refusals ----------------------------------------------------------------------------------- */

CLAIM(a_pattern_without_a_place_for_the_rank_is_refused)
{
    generate();
    assert_failure(wl_chakra_write_files(&w, &wl_schema_v004, "/tmp/a%d/w.et", &err), &err, DSE_E_USAGE, "",
                   "the file name 'w.et' lacks %d, the place of the rank");
    dse_arena_free(&arena);
}

CLAIM(a_folder_that_cannot_be_made_is_refused)
{
    generate();
    assert_failure(wl_chakra_write_files(&w, &wl_schema_v004, "/dev/null/x/w.%d.et", &err), &err, DSE_E_IO,
                   "", "cannot make the folder '/dev/null/x': Not a directory");
    dse_arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(schemas_have_stage_s_names),
        cmocka_unit_test(what_is_written_as_protobuf_reads_back_the_same),
        cmocka_unit_test(what_is_written_as_json_reads_back_the_same),
        cmocka_unit_test(a_workload_written_to_files_reads_back_the_same),
        cmocka_unit_test(a_node_of_schema_v004_has_these_bytes),
        cmocka_unit_test(a_node_of_schema_v001_has_these_bytes),
        cmocka_unit_test(a_graph_without_nodes_has_no_bytes_but_the_metadata),
        cmocka_unit_test(a_node_of_the_json_schema_is_spelt_as_python_spells_it),
        cmocka_unit_test(names_in_json_are_escaped),
        cmocka_unit_test(communications_of_schema_v001_have_their_fields),
        cmocka_unit_test(groups_are_written_as_python_writes_them),
        cmocka_unit_test(a_pattern_without_a_place_for_the_rank_is_refused),
        cmocka_unit_test(a_folder_that_cannot_be_made_is_refused),
    };
    return RUN_TESTS(tests);
}
