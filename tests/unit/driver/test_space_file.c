#include "unit/driver/spaces.h"
#include "unit/point.h"

static dse_arena arena;
static dse_error err;
static drv_space_file file;

static dse_status parse(const char *text)
{
    dse_arena_reset(&arena);
    err = (dse_error)DSE_ERROR_INIT;
    return drv_space_file_parse("s.yaml", text, strlen(text), &arena, &file, &err);
}

/* The values of the only axis of a card, "1 2 4". */
static const char *values(const char *axis)
{
    static char out[2000];
    char text[600];

    snprintf(text, sizeof text, "axes:\n  %s\n", axis);
    assert_ok(parse(text), &err);
    assert_int_equal(file.space.n_axes, 1);
    out[0] = '\0';
    for (uint32_t i = 0; i < file.space.axis[0].n; i++)
        snprintf(out + strlen(out), sizeof out - strlen(out), "%s%s", i ? " " : "",
                 file.space.axis[0].value[i]);
    return out;
}

/* The values of the degree dp. */
static const char *degrees(const char *dp)
{
    static char out[2000];
    char text[600];

    snprintf(text, sizeof text, "axes: {dp: %s}\n", dp);
    assert_ok(parse(text), &err);
    assert_int_equal(file.space.n_axes, 0);
    out[0] = '\0';
    for (uint32_t i = 0; i < file.space.strategy.of[STRATEGY_dp].n; i++)
        snprintf(out + strlen(out), sizeof out - strlen(out), "%s%u", i ? " " : "",
                 file.space.strategy.of[STRATEGY_dp].value[i]);
    return out;
}

/* ---- what a file says ---------------------------------------------------------------------- */

CLAIM(a_file_has_five_sections)
{
    assert_ok(parse("models: [small, ./my cards/big.yaml]\n"
                    "systems: ring8\n"
                    "axes:\n"
                    "  tp: [1, 2]\n"
                    "  layers: [2, 4]\n"
                    "  network.topology: [[Ring], [Switch]]\n"
                    "constraints:\n"
                    "  - tp <= 8\n"
                    "  - heads % tp == 0\n"
                    "set:\n"
                    "  sequence: 128\n"
                    "  batch: 64\n"),
              &err);
    assert_int_equal(file.n_models, 2);
    assert_string_equal(file.model[1], "./my cards/big.yaml"); /* names keep their spaces */
    assert_int_equal(file.n_systems, 1);
    assert_string_equal(file.system[0], "ring8");
    assert_int_equal(file.space.strategy.of[STRATEGY_tp].n, 2);
    assert_int_equal(file.space.n_axes, 2);
    assert_string_equal(file.space.axis[0].path, "layers");
    assert_string_equal(file.space.axis[1].path, "network.topology");
    assert_string_equal(file.space.axis[1].value[1], "[Switch]");
    assert_int_equal(file.space.n_constraints, 2);
    assert_string_equal(file.space.constraint[1].expr.text, "heads % tp == 0");
    assert_string_equal(file.space.constraint[1].where, "s.yaml:9:5");
    assert_int_equal(file.settings.n, 2);
    assert_string_equal(file.settings.item[0].path, "batch"); /* in the order of settings */
    assert_string_equal(file.settings.item[1].value, "128");
}

CLAIM(an_axis_may_be_an_entry_of_any_list_of_a_system)
{
    assert_ok(parse("axes: {'network.efficiency[1]': [0.8, 0.9], 'network.rails[1]': [4], 'network.measured_sizes[2]': [1MB]}\n"),
              &err);
    assert_int_equal(file.space.n_axes, 3);
}

CLAIM(what_is_not_said_is_as_on_the_command_line)
{
    assert_ok(parse("axes:\n# none yet\nmodels:\n"), &err);
    assert_int_equal(file.n_models, 0);
    assert_int_equal(file.space.n_axes, 0);
    assert_int_equal(file.space.n_constraints, 0);
    assert_int_equal(file.space.strategy.of[STRATEGY_dp].n, 0);
    assert_int_equal(file.space.strategy.of[STRATEGY_recompute].n, 0); /* not given */
    assert_int_equal(file.space.strategy.of[STRATEGY_weight_sharded].n, 0);
}

CLAIM(carriage_returns_and_byte_order_marks_change_nothing)
{
    assert_ok(parse("\xef\xbb\xbf"
                    "models: [small]\r\naxes:\r\n  layers: [1, 2]\r\nconstraints:\r\n  - tp <= 8\r\n"),
              &err);
    assert_string_equal(file.model[0], "small");
    assert_string_equal(file.space.axis[0].value[1], "2");
    assert_string_equal(file.space.constraint[0].expr.text, "tp <= 8");
}

/* ---- values -------------------------------------------------------------------------------- */

CLAIM(values_are_lists_ranges_and_powers)
{
    assert_string_equal(values("batch: 5"), "5");
    assert_string_equal(values("batch: [5, '6', 16]"), "5 6 16");
    assert_string_equal(values("batch: {from: 8, to: 12}"), "8 9 10 11 12");
    assert_string_equal(values("batch: {from: 8, to: 64, step: 24}"), "8 32 56");
    assert_string_equal(values("batch: {from: 8, to: 8}"), "8");
    assert_string_equal(values("batch: {powers_of: 2, from: 1, to: 64}"), "1 2 4 8 16 32 64");
    assert_string_equal(values("batch: {powers_of: 2, from: 3, to: 25}"), "3 6 12 24");
    assert_string_equal(values("batch: {powers_of: 10, from: 1, to: 1000000000000}"),
                        "1 10 100 1000 10000 100000 1000000 10000000 100000000 1000000000 10000000000 "
                        "100000000000 1000000000000");
    assert_string_equal(values("batch: {powers_of: 10, from: 1e14, to: 1e15}"),
                        "100000000000000 1000000000000000");
    assert_string_equal(values("batch: {powers_of: 3, from: 1, to: 14348907}"), /* 3^15 */
                        "1 3 9 27 81 243 729 2187 6561 19683 59049 177147 531441 1594323 4782969 14348907");
}

/* Neither 0.1 nor its multiples are doubles: added up, 1.0 would be missed. */
CLAIM(steps_that_are_no_doubles_reach_the_end)
{
    assert_string_equal(values("'network.latency[0]': {from: 0.1, to: 1, step: 0.1}"),
                        "0.1 0.2 0.3 0.4 0.5 0.6 0.7 0.8 0.9 1");
    assert_string_equal(values("'network.latency[0]': {from: 0, to: 0.3, step: 0.1, unit: us}"),
                        "0us 0.1us 0.2us 0.3us");
    assert_string_equal(values("'network.latency[0]': {from: 1, to: 1.25, step: 0.1}"), "1 1.1 1.2");
    assert_string_equal(values("'network.bandwidth[0]': {powers_of: 1.5, from: 0.5, to: 2.6, unit: GB/s}"),
                        "0.5GB/s 0.75GB/s 1.125GB/s 1.6875GB/s 2.53125GB/s");
}

CLAIM(values_of_cards_have_units_and_no_spaces)
{
    assert_string_equal(values("'network.bandwidth[1]': [50 GB/s, '25GiB/s', 12.5]"), "50GB/s 25GiB/s 12.5");
    assert_string_equal(values("network.bandwidth: [[50 GB/s, 25], [1, 2]]"), "[50GB/s,25] [1,2]");
    assert_string_equal(values("network.npus_count: [[8], [4, 2]]"), "[8] [4,2]");
    assert_string_equal(values("collectives.all: [[ring], [direct, halvingDoubling]]"),
                        "[ring] [direct,halvingDoubling]");
    assert_string_equal(values("scheduler.roofline_enabled: [yes, no]"), "yes no");
}

CLAIM(degrees_are_values_too)
{
    assert_string_equal(degrees("4"), "4");
    assert_string_equal(degrees("[8, 1, 2]"), "8 1 2");
    assert_string_equal(degrees("{powers_of: 2, from: 1, to: 1024}"), "1 2 4 8 16 32 64 128 256 512 1024");
    assert_string_equal(degrees("{from: 2, to: 10, step: 4}"), "2 6 10");
}

CLAIM(switches_are_one_word_or_two)
{
    static const struct {
        const char *text;
        uint32_t n, first;
    } rows[] = {{"yes", 1, 1},      {"no", 1, 0},        {"both", 2, 0},    {"[yes]", 1, 1},
                {"[no, yes]", 2, 0}, {"[true, false]", 2, 0}, {"'false'", 1, 0}, {"true", 1, 1}};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const design_axis *axis = &file.space.strategy.of[STRATEGY_recompute];
        char text[80];

        snprintf(text, sizeof text, "axes: {recompute: %s}\n", rows[i].text);
        assert_ok(parse(text), &err);
        assert_int_equal(axis->n, rows[i].n);
        assert_int_equal(axis->value[0], rows[i].first);
        assert_true(rows[i].n == 1 || axis->value[1] == 1);
    }
}

/* ---- refusals ------------------------------------------------------------------------------ */

typedef struct {
    const char *text, *where, *message;
} refusal;

static void refuse(const refusal *rows, size_t n, dse_status status)
{
    for (size_t i = 0; i < n; i++)
        assert_failure(parse(rows[i].text), &err, status, rows[i].where,
                       unit_with_parameters(rows[i].message));
}
#define REFUSE(rows, status) refuse((rows), sizeof(rows) / sizeof((rows)[0]), (status))

CLAIM(sections_that_are_not_as_they_should_be_are_refused)
{
    static const refusal rows[] = {
        {"- models\n", "s.yaml", "a space maps models, systems, axes, constraints and set to what they are"},
        {"axis: {tp: 1}\n", "s.yaml:1:1",
         "unknown key of a space 'axis'; did you mean 'axes'? known: models, systems, axes, constraints, "
         "set"},
        {"models: {from: 1, to: 2}\n", "s.yaml:1:9", "'models' are names, or one name"},
        {"models: []\n", "s.yaml:1:9", "'models' has no values"},
        {"models: [small, small]\n", "s.yaml:1:17", "'models' has this value twice"},
        {"models: [small, '']\n", "s.yaml:1:17", "'models' takes values, and this is none"},
        {"models: [{a: b}]\n", "s.yaml:1:10", "'models' takes values, and this is none"},
        {"axes: [tp]\n", "s.yaml:1:7", "'axes' maps names to values, for example tp: [1, 2, 4]"},
        {"axes: 3\n", "s.yaml:1:7", "'axes' maps names to values, for example tp: [1, 2, 4]"},
        {"constraints: tp <= 8\n", "s.yaml:1:14",
         "'constraints' is a list of expressions, for example - tp <= 8"},
        {"constraints: [tp: 8]\n", "s.yaml:1:15", "a constraint is an expression, for example tp <= 8"},
        {"constraints: ['']\n", "s.yaml:1:15", "a constraint is an expression, for example tp <= 8"},
        {"constraints:\n  - tp <= 8\n  - tp <=\n", "s.yaml:3:5", "in 'tp <=': expected a value at its end"},
        {"set: [layers]\n", "s.yaml:1:6", "'set' maps keys of cards to values"},
        {"set: {layers: }\n", "s.yaml:1:15", "'layers' takes values, and this is none"},
    };

    REFUSE(rows, DSE_E_CONFIG);
}

CLAIM(what_is_no_yaml_of_ours_is_refused)
{
    static const refusal rows[] = {
        {"", "s.yaml:1:1", "the file is empty"},
        {"axes:\n\ttp: 1\n", "s.yaml:2:1", "found character that cannot start any token"},
        {"axes:\n  tp: [1]\n  tp: [2]\n", "s.yaml:3:3", "the key 'tp' stands twice"},
        {"axes: {}\naxes: {}\n", "s.yaml:2:1", "the key 'axes' stands twice"},
        {"axes: {tp: &a [1], sp: *b}\n", "s.yaml:1:24", "*b has no &b before it"},
        {"constraints:\n  - !recompute\n", "s.yaml:2:5", "tags are not supported; write the value alone"},
        {"models: [small]\n---\nmodels: [small]\n", "s.yaml:2:1", "a second document in one file"},
        {"models: [small\n", "s.yaml:2:1", "did not find expected ',' or ']'"},
    };

    REFUSE(rows, DSE_E_SYNTAX);
}

CLAIM(axes_that_are_none_are_refused)
{
    static const refusal rows[] = {
        {"axes: {layer: [1]}\n", "s.yaml:1:8",
         "'layer' is none of PARAMETERS, and no card has 'layer'; did you "
         "mean "
         "'layers'?"},
        {"axes: {colour: [red]}\n", "s.yaml:1:8",
         "'colour' is none of PARAMETERS, and no card has 'colour'; 'ccldse "
         "models "
         "--keys' and 'ccldse systems --keys' list what they have"},
        {"axes: {'layers[0]': [1]}\n", "s.yaml:1:8",
         "'layers[0]' is none of PARAMETERS, and 'layers[0]' is not a value "
         "of a "
         "card: only lists have elements"},
        {"axes: {'network.bandwidth[00]': [1]}\n", "s.yaml:1:8",
         "'network.bandwidth[00]' is none of PARAMETERS, and "
         "'network.bandwidth[00]' "
         "is not an element; write 'network.bandwidth[0]'"},
        {"axes: {npus: [8]}\n", "s.yaml:1:8",
         "'npus' is none of PARAMETERS, and no card has 'npus'; did you mean 'network.npus_count'?"},
        {"axes: {cores: [8]}\n", "s.yaml:1:8",
         "'cores' is none of PARAMETERS, and no card has 'cores'; 'ccldse "
         "models --keys' "
         "and 'ccldse systems --keys' list what they have"},
        {"set: {layer: 1}\n", "s.yaml:1:7", "no card has 'layer'; did you mean 'layers'?"},
        {"set: {dp: 8}\n", "s.yaml:1:7",
         "no card has 'dp'; 'ccldse models --keys' and 'ccldse systems --keys' list what they have"},
    };

    REFUSE(rows, DSE_E_CONFIG);
}

CLAIM(values_are_refused_where_they_stand)
{
    static const refusal rows[] = {
        {"axes:\n  layers: [2,\n    none]\n", "s.yaml:3:5",
         "cannot set 'layers' to 'none': layers: 'none' is not a whole number"},
        {"axes: {layers: [2, ~]}\n", "s.yaml:1:20",
         "cannot set 'layers' to '~': layers: '~' is not a whole number"},
        {"axes: {layers: [2, 0]}\n", "s.yaml:1:20",
         "cannot set 'layers' to '0': layers is 0; it must be between 1 and 100000"},
        {"axes: {layers: [[2, 3]]}\n", "s.yaml:1:17",
         "cannot set 'layers' to '[2,3]': layers: '[2,3]' is not a whole number"},
        {"axes: {layers: {from: 1, to: 2, step: 0.5}}\n", "s.yaml:1:16",
         "cannot set 'layers' to '1.5': layers: '1.5' is not a whole number"},
        {"axes: {layers: {from: -1, to: 2}}\n", "s.yaml:1:16",
         "cannot set 'layers' to '-1': layers is -1; it must be between 1 and 100000"},
        {"axes: {scheduler.scheduling_policy: [FIFO, LIFE]}\n", "s.yaml:1:44",
         "cannot set 'scheduler.scheduling_policy' to 'LIFE': scheduler.scheduling_policy: unknown 'LIFE'; "
         "did you mean 'LIFO'? known: LIFO, FIFO, EXPLICIT"},
        {"axes: {collectives.all: [ring, direct]}\n", "s.yaml:1:26",
         "cannot set 'collectives.all' to 'ring': collectives.all must be a list of names, not 'ring'; write "
         "[ring]"},
        {"axes: {'network.bandwidth[0]': [5GB]}\n", "s.yaml:1:33",
         "cannot set 'network.bandwidth[0]' to '5GB': network.bandwidth: unknown unit 'GB' in '5GB'; "
         "expected a rate "
         "such as 100GB/s (10^9), 100GiB/s (2^30) or 400Gb/s (bits)"},
        {"set: {layers: 0}\n", "s.yaml:1:15",
         "cannot set 'layers' to '0': layers is 0; it must be between 1 and 100000"},
        {"axes: {collectives.all: [[ring, '']]}\n", "s.yaml:1:33",
         "'collectives.all': not an entry of a list of values"},
        {"axes: {collectives.all: [[ring, 'direct,ring']]}\n", "s.yaml:1:33",
         "'collectives.all': not an entry of a list of values"},
        {"axes: {network.npus_count: [[[8]]]}\n", "s.yaml:1:30",
         "'network.npus_count': a list within a list of values"},
        {"axes: {layers: []}\n", "s.yaml:1:16", "'layers' has no values"},
        {"axes: {layers: [1, 2, 1]}\n", "s.yaml:1:23", "'layers' has this value twice"},
        {"axes: {'network.bandwidth[0]': [50GB/s, 50 GB/s]}\n", "s.yaml:1:41",
         "'network.bandwidth[0]' has this value twice"},
        {"axes: {network.bandwidth: [[1, 2], [ 1,2 ]]}\n", "s.yaml:1:36",
         "'network.bandwidth' has this value twice"},
        {"axes: {cost.per_device_hour: [1, 2]}\n", "s.yaml:1:30",
         "'cost.per_device_hour' takes one value here: no step depends on it"},
        {"axes: {layers: }\n", "s.yaml:1:16", "'layers' takes values, and this is none"},
        {"axes: {dp: [1, 0]}\n", "s.yaml:1:12", "dp takes positive whole numbers such as 1,2,4, not '0'"},
        {"axes: {dp: [1, 2.5]}\n", "s.yaml:1:12",
         "dp takes positive whole numbers such as 1,2,4, not '2.5'"},
        {"axes: {dp: {from: 1, to: 65}}\n", "s.yaml:1:12", "dp takes at most 64 values"},
        {"axes: {recompute: maybe}\n", "s.yaml:1:19", "recompute takes yes, no or both, not 'maybe'"},
        {"axes: {recompute: [yes, true]}\n", "s.yaml:1:19", "recompute takes yes, no or both"},
        {"axes: {weight_sharded: [yes, no, both]}\n", "s.yaml:1:24", "weight_sharded takes yes, no or both"},
    };

    REFUSE(rows, DSE_E_CONFIG);
}

CLAIM(ranges_that_are_none_are_refused)
{
    static const refusal rows[] = {
        {"axes: {batch: {from: 1}}\n", "s.yaml:1:15", "the range of 'batch' needs from and to"},
        {"axes: {batch: {to: 1}}\n", "s.yaml:1:15", "the range of 'batch' needs from and to"},
        {"axes: {batch: {}}\n", "s.yaml:1:15", "the range of 'batch' needs from and to"},
        {"axes: {batch: {from: 2, to: 1}}\n", "s.yaml:1:15",
         "the range of 'batch' goes from its least value up, by a step above 0"},
        {"axes: {batch: {from: 1, to: 2, step: 0}}\n", "s.yaml:1:15",
         "the range of 'batch' goes from its least value up, by a step above 0"},
        {"axes: {batch: {from: 1, to: 2, step: -1}}\n", "s.yaml:1:15",
         "the range of 'batch' goes from its least value up, by a step above 0"},
        {"axes: {batch: {powers_of: 1, from: 1, to: 2}}\n", "s.yaml:1:15",
         "the powers of 'batch' are of a number above 1, from a number above 0, without a step"},
        {"axes: {batch: {powers_of: 2, from: 0, to: 2}}\n", "s.yaml:1:15",
         "the powers of 'batch' are of a number above 1, from a number above 0, without a step"},
        {"axes: {batch: {powers_of: 2, from: 1, to: 2, step: 1}}\n", "s.yaml:1:15",
         "the powers of 'batch' are of a number above 1, from a number above 0, without a step"},
        {"axes: {batch: {fron: 1, to: 2}}\n", "s.yaml:1:16",
         "unknown key of a range 'fron'; did you mean 'from'? known: from, to, step, powers_of, unit"},
        {"axes: {batch: {from: 1GB, to: 2}}\n", "s.yaml:1:22", "'from' takes a number"},
        {"axes: {batch: {from: nan, to: 2}}\n", "s.yaml:1:22", "'from' takes a number"},
        {"axes: {batch: {from: [1], to: 2}}\n", "s.yaml:1:22", "'from' takes a number"},
        {"axes: {batch: {from: 1, to: 2, unit: [B]}}\n", "s.yaml:1:38", "'unit' takes a name"},
        {"axes: {batch: {from: -1e308, to: 1e308}}\n", "s.yaml:1:15",
         "'batch' has more values than can be counted"},
        {"axes: {batch: {from: 1, to: 1e300}}\n", "s.yaml:1:15",
         "'batch' has more values than can be counted"},
        {"axes: {'network.latency[0]': {from: 1e14, to: 100000000000001, step: 0.01}}\n", "s.yaml:1:30",
         "the values of 'network.latency[0]' cannot be told apart in 15 digits"},
    };
    static const refusal large[] = {
        {"axes: {batch: {from: 1, to: 1000001}}\n", "s.yaml:1:15",
         "'batch' has 1000001 values; an axis may have 1000000"},
        {"axes: {'network.latency[0]': {from: 0, to: 1, step: 1e-9}}\n", "s.yaml:1:30",
         "'network.latency[0]' has 1000000001 values; an axis may have 1000000"},
    };

    REFUSE(rows, DSE_E_CONFIG);
    REFUSE(large, DSE_E_RANGE);
}

CLAIM(a_file_that_is_not_there_is_refused)
{
    err = (dse_error)DSE_ERROR_INIT;
    assert_says(drv_space_file_read("no/such/file", &arena, &file, &err), &err, DSE_E_IO, "no/such/file");
}

/* ---- memory -------------------------------------------------------------------------------- */

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_has_five_sections),
        cmocka_unit_test(an_axis_may_be_an_entry_of_any_list_of_a_system),
        cmocka_unit_test(what_is_not_said_is_as_on_the_command_line),
        cmocka_unit_test(carriage_returns_and_byte_order_marks_change_nothing),
        cmocka_unit_test(values_are_lists_ranges_and_powers),
        cmocka_unit_test(steps_that_are_no_doubles_reach_the_end),
        cmocka_unit_test(values_of_cards_have_units_and_no_spaces),
        cmocka_unit_test(degrees_are_values_too),
        cmocka_unit_test(switches_are_one_word_or_two),
        cmocka_unit_test(sections_that_are_not_as_they_should_be_are_refused),
        cmocka_unit_test(what_is_no_yaml_of_ours_is_refused),
        cmocka_unit_test(axes_that_are_none_are_refused),
        cmocka_unit_test(values_are_refused_where_they_stand),
        cmocka_unit_test(ranges_that_are_none_are_refused),
        cmocka_unit_test(a_file_that_is_not_there_is_refused),
    };
    int failures;

    dse_arena_init(&arena);
    failures = RUN_TESTS(tests);
    dse_arena_free(&arena);
    return failures;
}
