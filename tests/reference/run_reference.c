/* Runs cases of the reference data and compares every figure with what the upstream tools printed.
 *
 * usage: run_reference [-v] [-t TRACE_DIR] [-n FOLDER] FILE.jsonl [CASE_ID_PREFIX]
 *
 * Each line of the file is a case (tests/data/reference/README.md). A case with `stage` is generated, its
 * traces compared with their SHA-256, its groups with the group file; then it is simulated from memory and, up
 * to 16 ranks, from the written traces read back. A case with `workload` is written as traces and read back. Each
 * simulation runs three times: with all shortcuts, without symmetry, without any. Integers must be equal,
 * percentages equal as printed, and with TRACE_DIR the ticks of every node where the case has a `trace`. The bounds of
 * a generated case must not be above its result. With -n the cases are those of the newest tools, and FOLDER has their
 * et/ (its README.md tells the rest): they are simulated as master does, a case of STAGE from its traces in et/, or it
 * is skipped. Where upstream failed the run must fail, for a reason of the same
 * kind. */
#include "base/fs.h"
#include "base/protobuf.h"
#include "base/units.h"
#include "cards/locate.h"
#include "cards/system.h"
#include "driver/custom.h"
#include "reference/reference.h"
#include "reference/stage_options.h"
#include "sim/bound.h"
#include "sim/sim.h"
#include "support/sha256.h"
#include "support/wl_strategy.h"
#include "workload/chakra.h"
#include "workload/generate.h"
#include "workload/pass.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- workloads given as nodes: written as traces, so that the reader is tested too --------- */

enum { INT32 = 7, INT64 = 9, UINT32 = 11, UINT64 = 13, STRING = 29, STRING_LIST = 30, BOOL_LIST = 28 };

static const struct {
    const char *name;
    uint32_t field;
} attribute_types[] = {
    {"comm_size", INT64},     {"comm_type", INT64},        {"num_ops", INT64},
    {"tensor_size", UINT64},  {"is_cpu_op", INT32},        {"comm_tag", INT32},
    {"comm_src", INT32},      {"comm_dst", INT32},         {"comm_priority", UINT32},
    {"pg_name", STRING},      {"involve_dims", BOOL_LIST}, {"inputs", STRING_LIST},
    {"outputs", STRING_LIST}, {"involved_dim", BOOL_LIST},
};

static uint64_t enum_value(const char *text, const char *(*name)(uint32_t))
{
    for (uint32_t i = 0; i < 10; i++)
        if (!strcmp(name(i), text))
            return i;
    fprintf(stderr, "unknown name '%s' in the reference data\n", text);
    exit(70);
}

static void put_attribute(dse_strbuf *node, const char *name, const cfg_node *value)
{
    uint32_t field = 0;
    dse_strbuf attr, list;

    for (size_t i = 0; i < sizeof attribute_types / sizeof attribute_types[0]; i++)
        if (!strcmp(attribute_types[i].name, name))
            field = attribute_types[i].field;
    dse_strbuf_init(&attr);
    dse_strbuf_init(&list);
    pb_put_string(&attr, 1, name);
    for (uint32_t i = 0; i < value->n; i++) {
        if (field == STRING_LIST)
            pb_put_string(&list, 1, value->item[i]->text);
        else
            pb_put_varint(&list, !strcmp(value->item[i]->text, "true") || !strcmp(value->item[i]->text, "1"));
    }
    if (field == STRING_LIST && value->n)
        pb_put_bytes(&attr, field, list.data, list.len);
    else if (field == BOOL_LIST) {
        dse_strbuf packed;
        dse_strbuf_init(&packed);
        pb_put_bytes(&packed, 1, list.data, list.len);
        pb_put_bytes(&attr, field, packed.data, packed.len);
        dse_strbuf_free(&packed);
    } else if (field == STRING)
        pb_put_string(&attr, field, value->text);
    else if (field != STRING_LIST)
        pb_put_uint(&attr, field,
                    !strcmp(name, "comm_type") ? enum_value(value->text, wl_coll_type_name)
                                               : (uint64_t)number(value));
    pb_put_bytes(node, 10, attr.data, attr.len);
    dse_strbuf_free(&attr);
    dse_strbuf_free(&list);
}

static void put_deps(dse_strbuf *node, uint32_t field, const cfg_node *list)
{
    dse_strbuf packed;

    dse_strbuf_init(&packed);
    for (uint32_t i = 0; list && i < list->n; i++)
        pb_put_varint(&packed, (uint64_t)number(list->item[i]));
    if (packed.len)
        pb_put_bytes(node, field, packed.data, packed.len);
    dse_strbuf_free(&packed);
}

/* <folder>/<name>.<rank>.et */
static void write_trace(const run *r, const char *name, uint32_t rank, const cfg_node *nodes)
{
    dse_strbuf file, node;
    char path[256];
    dse_error err = DSE_ERROR_INIT;

    dse_strbuf_init(&file);
    dse_strbuf_init(&node);
    pb_put_varint(&file, 0);
    for (uint32_t i = 0; i < nodes->n; i++) {
        const cfg_node *n = nodes->item[i], *attrs = at(n, "attrs");

        dse_strbuf_clear(&node);
        pb_put_uint(&node, 1, (uint64_t)number(at(n, "id")));
        pb_put_string(&node, 2, at(n, "name")->text);
        pb_put_uint(&node, 3, enum_value(at(n, "type")->text, wl_node_type_name));
        put_deps(&node, 4, at(n, "ctrl_deps"));
        put_deps(&node, 5, at(n, "data_deps"));
        if (at(n, "duration_micros"))
            pb_put_uint(&node, 7, (uint64_t)number(at(n, "duration_micros")));
        for (uint32_t k = 0; k < attrs->n; k++)
            put_attribute(&node, attrs->key[k]->text, attrs->item[k]);
        pb_put_varint(&file, node.len);
        dse_strbuf_add(&file, node.data, node.len);
    }
    snprintf(path, sizeof path, "%s/%s.%" PRIu32 ".et", r->folder, name, rank);
    if (dse_write_file(path, file.data, file.len, &err) != DSE_OK) {
        fprintf(stderr, "%s\n", err.text);
        exit(70);
    }
    dse_strbuf_free(&file);
    dse_strbuf_free(&node);
}

/* The group file's text, or NULL if the case has none; written in the order of the case. */
static const char *write_groups(const run *r, const cfg_node *groups)
{
    static char path[256];
    dse_strbuf text;
    dse_json j;
    dse_error err = DSE_ERROR_INIT;

    if (!groups)
        return NULL;
    dse_strbuf_init(&text);
    dse_json_init(&j, &text);
    dse_json_begin_object(&j);
    for (uint32_t i = 0; i < groups->n; i++) {
        dse_json_key(&j, groups->key[i]->text);
        dse_json_begin_array(&j);
        for (uint32_t k = 0; k < groups->item[i]->n; k++)
            dse_json_int(&j, number(groups->item[i]->item[k]));
        dse_json_end_array(&j);
    }
    dse_json_end_object(&j);
    snprintf(path, sizeof path, "%s/groups.json", r->folder);
    if (dse_write_file(path, text.data, text.len, &err) != DSE_OK)
        exit(70);
    dse_strbuf_free(&text);
    return path;
}

static dse_status read_back(run *r, const char *groups, uint32_t n_ranks, wl_workload *w, dse_error *err)
{
    wl_reading how = {.numbered_groups = r->newest != NULL};
    char prefix[256];

    snprintf(prefix, sizeof prefix, "%s/w", r->folder);
    return wl_chakra_read(prefix, groups, n_ranks, &how, r->arena, w, err);
}

static void remove_traces(const run *r, uint32_t n_ranks)
{
    char path[256];

    for (uint32_t i = 0; i < n_ranks; i++) {
        snprintf(path, sizeof path, "%s/w.%" PRIu32 ".et", r->folder, i);
        unlink(path);
    }
}

static dse_status load_nodes(run *r, uint32_t n_npus, wl_workload *w, dse_error *err)
{
    const cfg_node *workload = at(r->doc.root, "workload"), *nodes = at(workload, "nodes");
    uint32_t ranks = (uint32_t)number(at(workload, "ranks"));
    const char *groups;
    dse_status st;

    for (uint32_t i = 0; i < ranks; i++) {
        char name[16];
        const cfg_node *own;

        snprintf(name, sizeof name, "%" PRIu32, i);
        own = at(nodes, name);
        write_trace(r, "w", i, own ? own : at(nodes, "*"));
    }
    groups = write_groups(r, at(workload, "comm_groups"));
    if (!strncmp(r->id, "N3_path_empty", 13))
        groups = NULL; /* a path with "empty" in it is no group file */
    st = read_back(r, groups, n_npus, w, err);
    remove_traces(r, ranks);
    return st;
}

/* ---- cases of the newest tools -------------------------------------------------------------- */

static void write_text(const char *path, const dse_strbuf *text)
{
    dse_error err = DSE_ERROR_INIT;

    if (dse_write_file(path, text->data, text->len, &err) != DSE_OK) {
        fprintf(stderr, "%s\n", err.text);
        exit(70);
    }
}

/* What `ccldse stage --stage-version main` writes; run_stage_main holds it to the bytes of upstream. */
static dse_status write_stage(run *r, const wl_main_options *o, const wl_schema *schema, uint32_t *n_ranks,
                              const char *groups, dse_error *err)
{
    char path[256];
    wl_workload w;
    dse_strbuf text;
    dse_status st = wl_stage_main_generate(o, r->arena, &w, NULL, err);

    *n_ranks = st == DSE_OK ? w.n_ranks : 0;
    if (st != DSE_OK)
        return st;
    dse_strbuf_init(&text);
    for (uint32_t i = 0; i < w.n_ranks; i++) {
        dse_strbuf_clear(&text);
        wl_chakra_write(&w, schema, i, &text);
        snprintf(path, sizeof path, "%s/w.%" PRIu32 ".et", r->folder, i);
        write_text(path, &text);
    }
    dse_strbuf_clear(&text);
    wl_groups_write(&w, &text);
    write_text(groups, &text);
    dse_strbuf_free(&text);
    return st;
}

/* Of a case whose traces the data does not have. False: STAGE refuses it. */
static bool make_traces(run *r, uint32_t n_npus, wl_workload *w, dse_status *st, dse_error *err)
{
    const wl_schema *schema;
    wl_main_options o;
    char groups[256];
    uint32_t n_ranks;

    if (!stage_options_read(r->doc.root, &o, &schema))
        return false;
    snprintf(groups, sizeof groups, "%s/groups.json", r->folder);
    if ((*st = write_stage(r, &o, schema, &n_ranks, groups, err)) == DSE_OK)
        *st = read_back(r, groups, n_npus, w, err);
    remove_traces(r, n_ranks);
    return true;
}

/* STAGE's traces, of the data where it has them; false: STAGE refuses the case. */
static bool load_traces(run *r, uint32_t n_npus, wl_workload *w, dse_status *st, dse_error *err)
{
    const cfg_node *folder = at(r->doc.root, "et_dir");
    char from[512], to[256];

    for (uint32_t i = 0; folder && i < n_npus; i++) {
        snprintf(from, sizeof from, "%s/%s/%" PRIu32 ".et", r->newest, folder->text, i);
        snprintf(to, sizeof to, "%s/w.%" PRIu32 ".et", r->folder, i);
        if (symlink(from, to) != 0) {
            fprintf(stderr, "cannot link '%s'\n", to);
            exit(70);
        }
    }
    if (folder) {
        snprintf(from, sizeof from, "%s/%s/comm_group.json", r->newest, folder->text);
        *st = read_back(r, dse_is_file(from) ? from : NULL, n_npus, w, err);
        remove_traces(r, n_npus);
    }
    return folder || make_traces(r, n_npus, w, st, err);
}

/* The folder of the case's custom algorithms in the place of @ALGO, as the settings of its system have it. */
static void name_folder(const run *r, cfg_node *system)
{
    for (uint32_t i = 0; i < system->n; i++) {
        cfg_node *value = system->item[i];

        if (value->kind == CFG_LIST && value->n == 1)
            value = value->item[0];
        if (value->kind == CFG_SCALAR && !strncmp(value->text, "@ALGO", 5))
            value->text = dse_arena_printf(r->arena, "%s%s", r->folder, value->text + 5);
    }
}

static void write_custom(const run *r)
{
    const cfg_node *custom = at(r->doc.root, "custom"), *by_node = at(r->doc.root, "per_node");
    char path[256];
    dse_error err = DSE_ERROR_INIT;
    dse_strbuf map;

    dse_strbuf_init(&map);
    for (uint32_t i = 0; custom && i < custom->n; i++)
        for (uint32_t k = 0; k < custom->item[i]->n; k++)
            write_trace(r, custom->key[i]->text, (uint32_t)number(custom->item[i]->key[k]),
                        custom->item[i]->item[k]);
    for (uint32_t i = 0; by_node && i < by_node->n; i++)
        dse_strbuf_addf(&map, "%s: %s/%s\n", by_node->key[i]->text, r->folder, by_node->item[i]->text);
    snprintf(path, sizeof path, "%s/nodes.yml", r->folder);
    if (by_node && dse_write_file(path, map.data, map.len, &err) != DSE_OK)
        exit(70);
    dse_strbuf_free(&map);
}

static void remove_custom(const run *r)
{
    const cfg_node *custom = at(r->doc.root, "custom");
    char path[256];

    for (uint32_t i = 0; custom && i < custom->n; i++) {
        for (uint32_t k = 0; k < custom->item[i]->n; k++) {
            snprintf(path, sizeof path, "%s/%s.%s.et", r->folder, custom->key[i]->text,
                     custom->item[i]->key[k]->text);
            unlink(path);
        }
    }
    snprintf(path, sizeof path, "%s/nodes.yml", r->folder);
    unlink(path);
}

/* An exception that upstream logs without another exit code: ranks that finish, and print no statistics. */
static bool lacks_statistics(const run *r, const sim_result *result)
{
    const cfg_node *expect = at(r->doc.root, "expect"), *finished = at(expect, "finished_sys");

    if (!at(expect, "error") || !strstr(at(expect, "error")->text, "without statistics"))
        return false;
    for (uint32_t i = 0; i < result->n_ranks; i++)
        if (!result->rank[i].lacks_statistics)
            return false;
    return finished && finished->n == result->n_ranks;
}

/* ---- workloads generated by STAGE ---------------------------------------------------------- */

typedef struct {
    wl_symbols symbols;
    wl_strategy strategy;
    uint32_t layers;
} stage_options;

static stage_options read_options(const run *r)
{
    static const char *const names[] = {"Din", "Dout", "Dmodel", "Dff", "Batch", "Seq", "Head"};
    static const char *const keys[] = {"din", "dout", "dmodel", "dff", "batch", "seq", "head"};
    const cfg_node *s = at(r->doc.root, "stage");
    stage_options o = {.symbols = {.n = 7},
                       .strategy = WL_STRATEGY(.dp = (uint32_t)number(at(s, "dp")),
                                               .tp = (uint32_t)number(at(s, "tp")),
                                               .sp = (uint32_t)number(at(s, "sp")),
                                               .pp = (uint32_t)number(at(s, "pp")),
                                               .recompute = number(at(s, "activation_recompute")) != 0,
                                               .weight_sharded = number(at(s, "weight_sharded")) != 0,
                                               .tag_base = WL_TAG_BASE),
                       .layers = (uint32_t)number(at(s, "num_stacks"))};

    for (int i = 0; i < 7; i++) {
        o.symbols.name[i] = names[i];
        o.symbols.value[i] = number(at(s, keys[i]));
    }
    return o;
}

static dse_status generate(run *r, wl_workload *w, dse_error *err)
{
    stage_options o = read_options(r);

    return wl_generate(&r->operators, &o.symbols, o.layers, &o.strategy, r->arena, w, err);
}

/* What is bounded without a simulation is not above its result. */
static dse_status check_bound(run *r, const sim_settings *set, const net_network *net,
                              const sim_result *result, dse_error *err)
{
    stage_options o = read_options(r);
    const wl_outline *outline;
    dse_time wall = 0;
    uint64_t peak = 0;
    sim_bounds *bounds = NULL;
    sim_bound bound;
    wl_totals totals;
    dse_status st;

    if ((st = wl_outline_make(&r->operators, wl_passes_of(&o.strategy.strategy),
                              o.layers, r->arena, &outline, err)) == DSE_OK &&
        (st = wl_totals_of(outline, &o.symbols, &o.strategy, r->arena, &totals, err)) == DSE_OK &&
        (st = sim_bounds_make(set, net, r->arena, &bounds, err)) == DSE_OK)
        sim_bounds_of(bounds, &totals, NULL, &bound);
    sim_bounds_free(bounds);
    for (uint32_t i = 0; st == DSE_OK && i < result->n_ranks; i++) {
        const sim_rank_stats *s = &result->rank[i];

        wall = s->wall > wall ? s->wall : wall;
        peak = s->has_memory && s->peak_memory > peak ? s->peak_memory : peak;
    }
    if (st == DSE_OK && (bound.wall > wall || bound.held > peak))
        PROBLEM(r,
                "bounds of %" PRIu64 " ns and %" PRIu64 " bytes are above the %" PRIu64 " ns and %" PRIu64
                " bytes of the result",
                bound.wall, bound.held, wall, peak);
    return st;
}

static void check_traces(run *r, const wl_workload *w)
{
    const cfg_node *expected = at(r->doc.root, "et_sha256");
    dse_strbuf bytes;
    uint64_t total = 0;

    if (!expected) {
        PROBLEM(r, "generated, but the case has no SHA-256 of its traces");
        return;
    }
    dse_strbuf_init(&bytes);
    if (expected->n != w->n_ranks)
        PROBLEM(r, "%" PRIu32 " ranks, expected %" PRIu32, w->n_ranks, expected->n);
    for (uint32_t i = 0; i < w->n_ranks; i++) {
        char name[16], hex[65];

        snprintf(name, sizeof name, "%" PRIu32, i);
        dse_strbuf_clear(&bytes);
        wl_chakra_write(w, &wl_schema_v004, i, &bytes);
        sha256_hex(bytes.data, bytes.len, hex);
        total += bytes.len;
        if (!at(expected, name) || strcmp(at(expected, name)->text, hex))
            PROBLEM(r, "the trace of rank %" PRIu32 " has another SHA-256", i);
    }
    if ((uint64_t)number(at(r->doc.root, "et_bytes")) != total)
        PROBLEM(r, "%" PRIu64 " bytes of traces, expected %s", total, at(r->doc.root, "et_bytes")->text);
    dse_strbuf_free(&bytes);
}

static void check_groups(run *r, const wl_workload *w)
{
    const cfg_node *expected = at(r->doc.root, "comm_groups");

    if (!expected)
        return;
    if (expected->n + 1 != w->n_groups)
        PROBLEM(r, "%" PRIu32 " groups, expected %" PRIu32, w->n_groups - 1, expected->n);
    for (uint32_t i = 1; i < w->n_groups && i <= expected->n; i++) {
        const cfg_node *members = expected->item[i - 1];
        bool same = !strcmp(expected->key[i - 1]->text, w->group[i].name) && members->n == w->group[i].n;

        for (uint32_t k = 0; same && k < members->n; k++)
            same = number(members->item[k]) == (int64_t)w->group[i].rank[k];
        if (!same)
            PROBLEM(r, "group %s differs", w->group[i].name);
    }
}

/* ---- runs ---------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    sim_shortcuts shortcuts;
} ways[] = {
    {"all shortcuts", {.memo = true, .symmetry = true}}, {"memo alone", {.memo = true}}, {"plain", {0}}};
#define N_WAYS (sizeof ways / sizeof ways[0])

/* They must fail for the same reason, too. */
static void check_error(run *r, const char *how, const dse_error *first, const dse_error *err)
{
    if (err->status != first->status || strcmp(err->where, first->where) || strcmp(err->text, first->text))
        PROBLEM(r, "%s: status %d: %s: %s; with %s status %d: %s: %s", how, (int)err->status, err->where,
                err->text, ways[0].name, (int)first->status, first->where, first->text);
}

static dse_status simulate(run *r, const char *what, const sim_settings *set, const net_network *net,
                           const wl_workload *w, dse_error *err)
{
    for (size_t i = 0; i < N_WAYS; i++) {
        dse_error own = DSE_ERROR_INIT;
        sim_result result;
        trace_ticks record;
        char how[64];
        dse_status st;

        snprintf(how, sizeof how, "%s, %s", what, ways[i].name);
        dse_arena_reset(r->scratch);
        st = sim_run(set, net, w, ways[i].shortcuts, r->scratch, &result, &record, &own);
        if (st == DSE_OK && at(at(r->doc.root, "expect"), "sys")) {
            check_result(r, how, &result);
            check_ticks(r, how, &record);
        }
        if (st == DSE_OK && i == 0 && at(r->doc.root, "stage") && !r->newest)
            st = check_bound(r, set, net, &result, &own);
        if (st == DSE_OK && lacks_statistics(r, &result))
            r->as_expected = true;
        if (i == 0)
            *err = own;
        check_error(r, how, err, &own);
    }
    return err->status;
}

/* From memory, and from the traces written and read back. */
static dse_status simulate_twice(run *r, const sim_settings *set, const net_network *net,
                                 const wl_workload *w, dse_error *err)
{
    wl_workload again;
    char pattern[256], groups[256];
    dse_strbuf text;
    dse_status st = simulate(r, "generated", set, net, w, err);

    if (st != DSE_OK || w->n_ranks > 16)
        return st;
    snprintf(pattern, sizeof pattern, "%s/w.%%d.et", r->folder);
    snprintf(groups, sizeof groups, "%s/groups.json", r->folder);
    dse_strbuf_init(&text);
    wl_groups_write(w, &text);
    if ((st = dse_write_file(groups, text.data, text.len, err)) == DSE_OK &&
        (st = wl_chakra_write_files(w, &wl_schema_v004, pattern, err)) == DSE_OK &&
        (st = read_back(r, groups, w->n_ranks, &again, err)) == DSE_OK)
        st = simulate(r, "read back", set, net, &again, err);
    dse_strbuf_free(&text);
    remove_traces(r, w->n_ranks);
    return st;
}

/* What upstream got on its command line. */
static void apply_arguments(const cfg_node *arguments, sim_settings *set)
{
    for (uint32_t i = 0; arguments && i < arguments->n; i++) {
        const cfg_node *value = arguments->item[i];

        if (!strcmp(arguments->key[i]->text, "num-queues-per-dim")) {
            set->queues_per_dim = (uint32_t)number(value);
        } else if (!strcmp(arguments->key[i]->text, "rendezvous-protocol")) {
            set->rendezvous = !strcmp(value->text, "true");
        } else {
            fprintf(stderr, "unknown argument '%s' in the reference data\n", arguments->key[i]->text);
            exit(70);
        }
    }
}

static dse_status run_case(run *r, dse_error *err)
{
    cfg_doc system = {"system.json", (cfg_node *)at(r->doc.root, "system")};
    cfg_doc network = {"network.yml", (cfg_node *)at(r->doc.root, "network")};
    bool generated = at(r->doc.root, "stage") != NULL && !r->newest;
    bool released = at(r->doc.root, "branch") == NULL; /* of the network's backend */
    card_system card;
    sim_settings set;
    net_network net;
    wl_workload w;
    dse_status st;

    if (generated) {
        if ((st = generate(r, &w, err)) != DSE_OK)
            return st;
        check_traces(r, &w);
        check_groups(r, &w);
    }
    if (!system.root) { /* STAGE itself failed */
        r->skipped = true;
        return DSE_OK;
    }
    name_folder(r, (cfg_node *)system.root);
    if ((st = card_system_read_version(&system, &network, false, r->newest ? "master" : NULL, &card, err)) !=
        DSE_OK)
        return st;
    snprintf(card.backend, sizeof card.backend, "%s", at(r->doc.root, "backend")->text);
    if ((st = card_system_build(&card, &net, &set, err)) != DSE_OK ||
        (released && (st = net_released_check(&net, err)) != DSE_OK))
        return st;
    apply_arguments(at(r->doc.root, "arguments"), &set);
    if (generated)
        return simulate_twice(r, &set, &net, &w, err);
    if (!at(r->doc.root, "stage"))
        st = load_nodes(r, net.n_npus, &w, err);
    else if ((r->skipped = !load_traces(r, net.n_npus, &w, &st, err)))
        return DSE_OK;
    write_custom(r);
    if (st == DSE_OK)
        st = drv_custom_load(&card, &w, r->arena, &set, err);
    if (st == DSE_OK)
        st = simulate(r, "read", &set, &net, &w, err);
    remove_custom(r);
    return st;
}

/* ---- files --------------------------------------------------------------------------------- */

/* It fails where upstream did, and only there. */
static void check_end(run *r, dse_status st, const dse_error *err, bool verbose)
{
    const cfg_node *error = at(at(r->doc.root, "expect"), "error");

    if (st != DSE_OK && !error)
        PROBLEM(r, "failed: %s: %s", err->where, err->text);
    if (st != DSE_OK && error)
        check_failure(r, error->text, err);
    if (st == DSE_OK && error && !r->as_expected)
        PROBLEM(r, "succeeded, but upstream failed: %.200s", error->text);
    if (!error && !at(at(r->doc.root, "expect"), "sys"))
        PROBLEM(r, "has neither figures nor an error to compare with");
    if (st != DSE_OK && error && verbose)
        printf("%s\n    upstream: %.160s\n    here:     %s\n", r->id, error->text, err->text);
}

int main(int argc, char **argv)
{
    char folder[] = "/tmp/ccldse-reference.XXXXXX";
    bool verbose = false;
    const char *traces = NULL, *newest = NULL, *operators_path;
    uint64_t passed = 0, refused = 0, skipped = 0, failed = 0, trace_files = 0;
    dse_error err = DSE_ERROR_INIT;
    dse_arena study, arena, scratch;
    cfg_doc operators;
    dse_strbuf text;
    dse_status st;
    int opt;

    while ((opt = getopt(argc, argv, "vt:n:")) != -1) {
        verbose |= opt == 'v';
        if (opt == 'n')
            newest = optarg;
        if (opt == 't')
            traces = optarg;
    }
    if (newest && !dse_is_dir(newest)) {
        printf("%s is not there\n", newest);
        return 77;
    }
    if (optind == argc || !mkdtemp(folder)) {
        fprintf(stderr, "usage: run_reference [-v] [-t TRACE_DIR] [-n FOLDER] FILE.jsonl [CASE_ID_PREFIX]\n");
        return 2;
    }
    dse_arena_init(&study);
    dse_arena_init(&arena);
    dse_arena_init(&scratch);
    dse_strbuf_init(&text);
    if (card_locate(CARD_OPERATORS, "transformer", &study, &operators_path, &err) != DSE_OK ||
        cfg_load(operators_path, &study, &operators, &err) != DSE_OK ||
        dse_read_file(argv[optind], 0, &text, &err) != DSE_OK) {
        fprintf(stderr, "%s: %s\n", err.where, err.text);
        return 70;
    }
    for (char *line = text.data, *end; line < text.data + text.len; line = end + 1) {
        run r = {.arena = &arena,
                 .scratch = &scratch,
                 .folder = folder,
                 .trace_folder = traces,
                 .newest = newest,
                 .operators = operators};

        end = strchr(line, '\n') ? strchr(line, '\n') : text.data + text.len;
        dse_arena_reset(&arena);
        err = (dse_error)DSE_ERROR_INIT;
        if (cfg_parse_json(argv[optind], line, (size_t)(end - line), &arena, &r.doc, &err) != DSE_OK) {
            fprintf(stderr, "%s: %s\n", err.where, err.text);
            return 70;
        }
        r.id = at(r.doc.root, "id")->text;
        if (optind + 1 < argc && strncmp(r.id, argv[optind + 1], strlen(argv[optind + 1])))
            continue;
        dse_strbuf_init(&r.problems);
        st = run_case(&r, &err);
        if (r.skipped) {
            skipped++;
            continue;
        }
        check_end(&r, st, &err, verbose);
        if (r.problems.len)
            printf("FAIL %s\n%s", r.id, r.problems.data);
        trace_files += r.ticks_compared;
        refused += !r.problems.len && at(at(r.doc.root, "expect"), "error");
        failed += r.problems.len != 0;
        passed += r.problems.len == 0;
        dse_strbuf_free(&r.problems);
    }
    dse_strbuf_clear(&text);
    dse_strbuf_addf(&text, "%s/groups.json", folder);
    unlink(text.data);
    rmdir(folder);
    dse_strbuf_free(&text);
    dse_arena_free(&scratch);
    dse_arena_free(&arena);
    dse_arena_free(&study);
    printf("%s: %" PRIu64 " cases passed, %" PRIu64 " of them because both fail, %" PRIu64 " failed, %" PRIu64
           " skipped; ticks compared with %" PRIu64 " trace files\n",
           argv[optind], passed, refused, failed, skipped, trace_files);
    return failed ? 1 : passed ? 0 : 2;
}
