/* What lint says of keys, and that its tables fit those that read the files. */
#include "cards/model.h"
#include "lint/parts.h"
#include "unit/unit.h"

static dse_arena arena;
static dse_error err;
static lint_result report;
static char folder[64];

static const char system_json[] =
    "{\"scheduling-policy\": \"LIFO\", \"collective-optimization\": \"localBWAware\",\n"
    " \"preferred-dataset-splits\": 4, \"local-mem-bw\": 1600,\n"
    " \"boost-mode\": 0, \"peak-perf\": 900}\n";
static const char network_yml[] = "topology: [Ring]\nnpus_count: [8]\nbandwidth: [50]\nlatency: [500]\n";

static const char *write_file(const char *name, const char *text)
{
    const char *path = dse_arena_printf(&arena, "%s/%s", folder, name);

    assert_non_null(path);
    unit_write_text(path, text);
    return path;
}

static dse_status run(const char *const *names, size_t n)
{
    const lint_inputs in = {.names = names, .n_names = n};

    err = (dse_error)DSE_ERROR_INIT;
    return lint_run(&in, &arena, &report, &err);
}

static void lint_text(const char *name, const char *text)
{
    const char *path = write_file(name, text);

    assert_ok(run(&path, 1), &err);
    assert_int_equal(report.n_files, 1);
}

static const lint_key *find_key(const char *key)
{
    for (size_t i = 0; i < report.n_keys; i++)
        if (!strcmp(report.key[i].key, key))
            return &report.key[i];
    fail_msg("no key '%s'", key);
    return NULL;
}

static const lint_finding *find_finding(const char *part)
{
    for (size_t i = 0; i < report.n_findings; i++)
        if (strstr(report.finding[i].text, part))
            return &report.finding[i];
    return NULL;
}

/* ---- the tables ---------------------------------------------------------------------------- */

CLAIM(a_key_has_one_row)
{
    const lint_rows *const files[] = {&lint_system_keys, &lint_network_keys};

    for (int f = 0; f < 2; f++)
        for (uint32_t i = 0; i < files[f]->n; i++)
            for (uint32_t k = 0; k < card_system_table.n; k++)
                if (card_system_table.rows[k].astra_key &&
                    !strcmp(card_system_table.rows[k].astra_key, files[f]->row[i].key))
                    fail_msg("'%s' is a parameter, too", files[f]->row[i].key);
    /* found by the key alone, so that it is of one kind of card */
    for (uint32_t i = 0; i < lint_parameters.n; i++) {
        const char *key = lint_parameters.row[i].key;

        assert_true(!cfg_param_find(&card_system_table, key) != !cfg_param_find(&card_model_table, key));
        assert_ptr_equal(lint_find(&lint_parameters, key), &lint_parameters.row[i]);
    }
}

CLAIM(what_has_no_effect_says_what_to_do)
{
    const lint_rows *const all[] = {&lint_parameters, &lint_system_keys, &lint_network_keys,
                                    &lint_argument_keys};

    for (size_t t = 0; t < sizeof all / sizeof all[0]; t++)
        for (uint32_t i = 0; i < all[t]->n; i++)
            assert_true(all[t]->row[i].effect == LINT_USED || all[t]->row[i].text);
}

CLAIM(every_key_that_upstream_needs_has_its_reason)
{
    for (uint32_t i = 0; i < card_system_table.n; i++)
        if (card_system_table.rows[i].astra_key && !card_system_table.rows[i].astra_fallback)
            assert_non_null(lint_why_needed(card_system_table.rows[i].key));
}

CLAIM(dependencies_are_between_parameters)
{
    for (uint32_t i = 0; i < lint_n_dependencies; i++) {
        const cfg_param *on = cfg_param_find(&card_system_table, lint_dependencies[i].on);

        assert_non_null(cfg_param_find(&card_system_table, lint_dependencies[i].key));
        assert_non_null(on);
        assert_true(on->type == CFG_T_BOOL || on->type == CFG_T_NAME);
    }
}

/* ---- files --------------------------------------------------------------------------------- */

CLAIM(files_are_known_by_their_content)
{
    static const struct {
        const char *name, *text, *kind;
    } files[] = {
        {"a.yaml", "layers: 2\n", "model card"},
        {"b.yaml", "network:\n  topology: [Ring]\n", "system card"},
        {"c.yaml", "memory.bandwidth: 5\n", "system card"},
        {"d.json", "{\"endpoint-delay\": 1}", "ASTRA-sim system configuration"},
        {"e.txt", "boost-mode: 1\n", "ASTRA-sim system configuration"},
        {"f.yml", "topology: [Ring]\n", "ASTRA-sim network configuration"},
        {"g.json", "{\"topology-name\": \"Hierarchical\"}", "ASTRA-sim network configuration"},
        {"h.json", "{\"memory-type\": \"MEMORY_POOL\"}", "ASTRA-sim remote memory configuration"},
        {"i.json", "{\"1\": [0, 1], \"2\": [2]}", "communicator groups"},
        {"j.json", "{\"model_type\": \"gpt2\", \"d_model\": 64}", "Hugging Face config"},
        {"k.json", "{}", "not understood"},
        {"l.json", "[]", "not understood"},
        {"m.json", "{\"1\": [\"a\"]}", "not understood"},
        {"n.json", "{", "not understood"},
    };

    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        lint_text(files[i].name, files[i].text);
        assert_string_equal(report.file[0].kind, files[i].kind);
        assert_int_equal(report.n_level[LINT_ERROR] > 0 && report.n_keys == 0,
                         !strcmp(files[i].kind, "not understood"));
    }
}

CLAIM(a_key_without_effect_is_noted_only_if_it_is_needed)
{
    lint_text("system.json", system_json);
    assert_int_equal(find_key("boost-mode")->effect, LINT_NEVER_READ);
    assert_int_equal(find_key("boost-mode")->line, 3);
    assert_int_equal(report.n_level[LINT_WARNING], 1); /* boost-mode, though it is 0 */
    assert_int_equal(report.n_level[LINT_NOTE], 2);    /* scheduling-policy, the unit of local-mem-bw */
    assert_int_equal(find_finding("never read")->level, LINT_WARNING);

    lint_text("system.json", "{\"scheduling-policy\": \"LIFO\", \"collective-optimization\": \"baseline\","
                             "\"preferred-dataset-splits\": 4, \"local-mem-bw\": 1600, \"boost-mode\": 1}");
    assert_int_equal(report.n_level[LINT_WARNING], 1);
    assert_int_equal(find_finding("never read")->level, LINT_WARNING);
}

CLAIM(defaults_are_those_of_upstream)
{
    lint_text("system.json", system_json);
    /* 1 there (Sys.cc: active_chunks_per_dimension = 1), 4 in a card of ours */
    assert_int_equal(find_key("active-chunks-per-dimension")->effect, LINT_DEFAULT);
    assert_string_equal(find_key("active-chunks-per-dimension")->value, "1");
    assert_string_equal(find_key("track-local-mem")->value, "0");
    assert_int_equal(find_key("active-chunks-per-dimension")->line, 0);
}

CLAIM(splits_that_are_missing_crash_upstream)
{
    lint_text("system.json", "{\"scheduling-policy\": \"LIFO\", \"collective-optimization\": \"baseline\","
                             "\"local-mem-bw\": 1600}");
    assert_int_equal(find_key("preferred-dataset-splits")->effect, LINT_MISSING);
    assert_int_equal(report.n_level[LINT_WARNING], 1);
    assert_int_equal(report.n_level[LINT_ERROR], 0);
    assert_non_null(find_finding("divides by 0 at the first collective"));
}

CLAIM(two_files_make_a_system_in_either_order)
{
    const char *names[] = {write_file("system.json", system_json), write_file("network.yml", network_yml)};
    const char *swapped[] = {names[1], names[0]};

    assert_ok(run(names, 2), &err);
    /* 50 * 2^30 / 10^9 = 53.687 */
    assert_non_null(find_finding("the links have 53.687 GB/s, the memory has 1600 GB/s"));
    /* The roofline is off by default there, and so peak-perf changes nothing. */
    assert_int_equal(find_finding("while roofline-enabled is 0")->level, LINT_WARNING);
    assert_ok(run(swapped, 2), &err);
    assert_non_null(find_finding("the links have 53.687 GB/s"));
    assert_ok(run(names, 1), &err);
    assert_null(find_finding("the links have"));
}

CLAIM(false_is_on_upstream)
{
    lint_text("system.json",
              "{\"roofline-enabled\": false, \"model-shared-bus\": false, \"endpoint-delay\": \"10ns\"}");
    assert_non_null(find_finding("false switches it on"));
    assert_non_null(find_finding("a string ends ASTRA-sim"));
    assert_int_equal(report.n_level[LINT_ERROR], 1);
    assert_int_equal(report.n_level[LINT_WARNING], 1 + 4); /* and four keys are missing */
}

CLAIM(all_errors_of_a_card_are_found)
{
    lint_text("m.yaml", "layers: 0\nheads: many\nd_modle: 5\nd_ff: 4\nd_ff: 4\n");
    assert_int_equal(report.n_level[LINT_ERROR], 1); /* YAML itself refuses the second d_ff */
    lint_text("m.yaml", "layers: 0\nheads: many\nd_modle: 5\n");
    /* three that are wrong; vocabulary, d_model, d_ff, batch and sequence are missing */
    assert_int_equal(report.n_level[LINT_ERROR], 3 + 5);
    assert_string_equal(find_finding("did you mean 'd_model'?")->key, "d_modle");
}

CLAIM(what_cannot_be_found_fails)
{
    const char *names[] = {"no_such_card_anywhere"};
    const lint_inputs in = {.workload = "w"};

    assert_says(run(names, 1), &err, DSE_E_CONFIG,
                "there is no file, folder or card 'no_such_card_anywhere'");
    err = (dse_error)DSE_ERROR_INIT;
    assert_says(lint_run(&in, &arena, &report, &err), &err, DSE_E_USAGE, "a workload needs the one system");
}

CLAIM(long_values_are_cut_between_characters)
{
    lint_text("n.yml",
              "topology: [Ring]\nnpus_count: [2]\nbandwidth: [5]\nlatency: [5]\n"
              "note: \"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\"\n");
    /* 44 letters and four of two bytes: cut at 45 bytes, which is in the middle of the first of those */
    assert_string_equal(find_key("note")->value, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa...");
}

CLAIM(nothing_that_a_terminal_obeys_is_printed)
{
    lint_text("system.json", "{\"endpoint-delay\": 1, \"a\\u001bb\": \"\\u0007\"}");
    assert_string_equal(find_key("a?b")->value, "?");
    assert_string_equal(find_finding("no such key")->key, "a?b");
}

/* ---- networks ------------------------------------------------------------------------------ */

CLAIM(the_extents_of_a_mesh_say_its_count)
{
    lint_text("network.yml", "topology: [Mesh2D]\nwidth: 4\nheight: 2\nbandwidth: [50]\nlatency: [500]\n");
    assert_int_equal(find_key("npus_count")->effect, LINT_ABSENT);
    assert_null(find_finding("missing"));
    assert_int_equal(report.n_level[LINT_ERROR], 0);
    assert_int_equal(report.n_level[LINT_WARNING], 1);
    assert_int_equal(find_finding("ASTRA-sim has no Mesh2D, and stops")->level, LINT_WARNING);
    lint_text("network.yml", "topology: [Mesh2D]\nbandwidth: [50]\nlatency: [500]\n");
    assert_int_equal(find_key("npus_count")->effect, LINT_MISSING);
}

CLAIM(our_keys_of_their_files_are_told_as_such)
{
    lint_text("network.yml", "topology: [Ring]\nnpus_count: [8]\nbandwidth: [50]\nlatency: [500]\n"
                             "backend: congestion_aware\n");
    assert_int_equal(find_key("backend")->effect, LINT_OURS_ONLY);
    assert_int_equal(find_key("topology")->effect, LINT_USED);
    assert_int_equal(find_finding("a key of ccldse, which ASTRA-sim never reads")->level, LINT_NOTE);
    lint_text("system.json", "{\"per-step-overhead\": 1000}");
    assert_int_equal(find_key("per-step-overhead")->effect, LINT_OURS_ONLY);
    assert_non_null(find_finding("a key of ccldse, which ASTRA-sim never reads"));
    for (uint32_t i = 0; i < card_system_table.n; i++) /* what they never read has a default */
        if (card_system_table.rows[i].astra_lacks)
            assert_non_null(card_system_table.rows[i].astra_fallback);
}

#define TWO_DIMENSIONS "topology: [Ring, Ring]\nnpus_count: [4, 2]\nbandwidth: [50, 50]\nlatency: [1, 1]\n"

CLAIM(the_lowest_dimension_is_noted_where_it_alone_is_charged)
{
    static const char lowest[] = "pays for the lowest of them alone";

    lint_text("network.yml", TWO_DIMENSIONS);
    assert_non_null(strstr(find_finding(lowest)->text, "multi_hop: full"));
    lint_text("network.yml", network_yml);
    assert_null(find_finding(lowest));
    lint_text("network.yml", TWO_DIMENSIONS "multi_hop: full\n");
    assert_null(find_finding(lowest));
    assert_non_null(find_finding("ASTRA-sim has no multi_hop 'full'"));
    lint_text("network.yml", TWO_DIMENSIONS "backend: congestion_aware\n");
    assert_null(find_finding(lowest));
    assert_non_null(find_finding("with congestion ASTRA-sim takes no network of 2 dimensions"));
}

CLAIM(a_network_key_without_effect_is_a_warning)
{
    lint_text("network.yml", TWO_DIMENSIONS "backend: congestion_aware\nmulti_hop: full\n");
    assert_int_equal(find_key("multi_hop")->effect, LINT_NO_EFFECT);
    assert_int_equal(find_finding("without effect while backend is congestion_aware")->level, LINT_WARNING);
    lint_text("network.yml",
              "topology: [Mesh2D]\nnpus_count: [16]\nbandwidth: [50]\nlatency: [500]\nrouting: yx\n");
    assert_int_equal(find_key("routing")->effect, LINT_NO_EFFECT);
    assert_int_equal(find_finding("without effect while backend is congestion_unaware")->level, LINT_WARNING);
}

CLAIM(a_wrong_shape_is_an_error_where_it_stands)
{
    lint_text("network.yml", "topology: [Mesh2D]\nnpus_count: [8]\nbandwidth: [50]\nlatency: [500]\n");
    assert_int_equal(report.n_level[LINT_ERROR], 1);
    assert_non_null(
        strstr(find_finding("npus_count 8 of the Mesh2D is no square")->where, "network.yml:2:13"));
}

static int set_up(void **state)
{
    (void)state;
    dse_arena_init(&arena);
    unit_make_folder(folder);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    dse_arena_free(&arena);
    unit_remove_folder(folder);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_key_has_one_row),
        cmocka_unit_test(what_has_no_effect_says_what_to_do),
        cmocka_unit_test(every_key_that_upstream_needs_has_its_reason),
        cmocka_unit_test(dependencies_are_between_parameters),
        cmocka_unit_test(files_are_known_by_their_content),
        cmocka_unit_test(a_key_without_effect_is_noted_only_if_it_is_needed),
        cmocka_unit_test(defaults_are_those_of_upstream),
        cmocka_unit_test(splits_that_are_missing_crash_upstream),
        cmocka_unit_test(two_files_make_a_system_in_either_order),
        cmocka_unit_test(false_is_on_upstream),
        cmocka_unit_test(all_errors_of_a_card_are_found),
        cmocka_unit_test(what_cannot_be_found_fails),
        cmocka_unit_test(long_values_are_cut_between_characters),
        cmocka_unit_test(nothing_that_a_terminal_obeys_is_printed),
        cmocka_unit_test(the_extents_of_a_mesh_say_its_count),
        cmocka_unit_test(our_keys_of_their_files_are_told_as_such),
        cmocka_unit_test(the_lowest_dimension_is_noted_where_it_alone_is_charged),
        cmocka_unit_test(a_network_key_without_effect_is_a_warning),
        cmocka_unit_test(a_wrong_shape_is_an_error_where_it_stands),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
