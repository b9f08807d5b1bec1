/* A table of its own with every type of row; the tables of driver/ are tested there. */
#include "unit/unit.h"

#include "config/param.h"

typedef struct {
    cfg_given given;
    int64_t count, optional_count;
    double rate, delay, optional_rate;
    bool on;
    cfg_name mode, free_name, checked;
    cfg_int_list sizes;
    cfg_double_list rates;
    cfg_name_list names;
} values;

static dse_status starts_with_x(const char *name, dse_error *err)
{
    return name[0] == 'x' ? DSE_OK : dse_fail(err, DSE_E_CONFIG, "'%s' does not start with x", name);
}

static const char *const modes[] = {"fast", "exact", NULL};

#define AT(f) .offset = offsetof(values, f)

static const cfg_param rows[] = {
    {.key = "count", .type = CFG_T_INT, .unit_name = "", .min = 1, .max = 8, AT(count), .help = "how many"},
    {.key = "a.rate",
     .type = CFG_T_DOUBLE,
     .unit = DSE_UNIT_BYTES_PER_S,
     .unit_scale = 1073741824.0,
     .unit_name = "GiB/s",
     .min = 0.5,
     .max = 1000,
     AT(rate),
     .fallback = "2",
     .help = "how fast",
     .astra_key = "bw"},
    {.key = "a.delay",
     .type = CFG_T_DOUBLE,
     .unit = DSE_UNIT_NS,
     .unit_scale = 1,
     .unit_name = "ns",
     .min = 0,
     .max = INFINITY,
     AT(delay),
     .fallback = "10",
     .help = "how late"},
    {.key = "a.optional_rate",
     .type = CFG_T_DOUBLE,
     .unit_name = "",
     .min = 0,
     .max = 10,
     AT(optional_rate),
     .fallback = "",
     .help = "perhaps"},
    {.key = "b.on", .type = CFG_T_BOOL, .unit_name = "", AT(on), .fallback = "yes", .help = "a switch"},
    {.key = "b.mode",
     .type = CFG_T_NAME,
     .unit_name = "",
     .choices = modes,
     AT(mode),
     .fallback = "exact",
     .help = "one of two"},
    {.key = "b.free_name", .type = CFG_T_NAME, .unit_name = "", AT(free_name), .fallback = "", .help = "any"},
    {.key = "b.checked",
     .type = CFG_T_NAME,
     .unit_name = "",
     .check = starts_with_x,
     AT(checked),
     .fallback = "x1",
     .help = "with an x"},
    {.key = "c.sizes",
     .type = CFG_T_INT_LIST,
     .unit_name = "",
     .min = 2,
     .max = 64,
     AT(sizes),
     .help = "ints"},
    {.key = "c.rates",
     .type = CFG_T_DOUBLE_LIST,
     .unit = DSE_UNIT_BYTES_PER_S,
     .unit_scale = 1073741824.0,
     .unit_name = "GiB/s",
     .min = 0,
     .max = 1e12,
     AT(rates),
     .fallback = "",
     .help = "doubles"},
    {.key = "c.names",
     .type = CFG_T_NAME_LIST,
     .unit_name = "",
     .check = starts_with_x,
     AT(names),
     .fallback = "",
     .help = "names"},
    {.key = "optional_count",
     .type = CFG_T_INT,
     .unit_name = "",
     .min = 0,
     .max = 8,
     AT(optional_count),
     .fallback = "3",
     .help = "has a default"},
};
static const cfg_table table = {rows, sizeof rows / sizeof rows[0], "test card"};

static dse_error err;
static values v;

static dse_status read_text(const char *text)
{
    dse_arena arena;
    cfg_doc doc;
    dse_status st;

    dse_arena_init(&arena);
    err = (dse_error)DSE_ERROR_INIT;
    memset(&v, 0x55, sizeof v); /* every value must be set by the reader */
    st = cfg_parse_yaml("f.yaml", text, strlen(text), &arena, &doc, &err);
    if (st == DSE_OK)
        st = cfg_table_read(&table, &doc, NULL, &v, &err);
    dse_arena_free(&arena); /* nothing of the document is needed any more */
    return st;
}

#define LEAST "count: 3\nc: {sizes: [4]}\n"

static void refuse(const char *text, dse_status status, const char *where, const char *message)
{
    assert_failure(read_text(text), &err, status, where, message);
}

/* ---- values -------------------------------------------------------------------------------- */

CLAIM(what_is_not_given_takes_its_default)
{
    assert_ok(read_text(LEAST), &err);
    assert_int_equal(v.count, 3);
    assert_double(v.rate, 2);
    assert_double(v.delay, 10);
    assert_true(isnan(v.optional_rate));
    assert_true(v.on);
    assert_string_equal(v.mode, "exact");
    assert_string_equal(v.free_name, "");
    assert_string_equal(v.checked, "x1");
    assert_int_equal(v.sizes.n, 1);
    assert_int_equal(v.sizes.v[0], 4);
    assert_int_equal(v.rates.n, 0);
    assert_int_equal(v.names.n, 0);
    assert_int_equal(v.optional_count, 3);
}

CLAIM(what_is_given_is_known_to_be_given)
{
    assert_ok(read_text(LEAST "a: {rate: 2}\n"), &err);
    assert_true(cfg_is_given(&table, &v, "count"));
    assert_true(cfg_is_given(&table, &v, "c.sizes"));
    assert_true(cfg_is_given(&table, &v, "a.rate")); /* also if it equals the default */
    assert_false(cfg_is_given(&table, &v, "a.delay"));
    assert_false(cfg_is_given(&table, &v, "no.such.key"));
}

CLAIM(sections_may_be_nested_or_dotted)
{
    assert_ok(read_text("count: 1\nc.sizes: [2]\na:\n  delay: 5\nb.mode: fast\n"), &err);
    assert_int_equal(v.sizes.v[0], 2);
    assert_double(v.delay, 5);
    assert_string_equal(v.mode, "fast");
}

CLAIM(values_of_every_type_are_read)
{
    assert_ok(read_text("count: 8\n"
                        "a: {rate: 0.5, delay: 1e3, optional_rate: 0}\n"
                        "b: {on: off, mode: fast, free_name: any thing, checked: xyz}\n"
                        "c: {sizes: [2, 64], rates: [0.25, 7], names: [x, \"x2\"]}\n"),
              &err);
    assert_int_equal(v.count, 8);
    assert_double(v.rate, 0.5);
    assert_double(v.delay, 1000);
    assert_double(v.optional_rate, 0);
    assert_false(v.on);
    assert_string_equal(v.mode, "fast");
    assert_string_equal(v.free_name, "any thing");
    assert_string_equal(v.checked, "xyz");
    assert_int_equal(v.sizes.n, 2);
    assert_int_equal(v.sizes.v[1], 64);
    assert_int_equal(v.rates.n, 2);
    assert_double(v.rates.v[0], 0.25);
    assert_int_equal(v.names.n, 2);
    assert_string_equal(v.names.v[1], "x2");
}

/* A bare rate counts 2^30 bytes per second: 100 GB/s is 100e9 / 2^30 = 93.13... of them. */
CLAIM(a_value_with_a_unit_is_the_number_that_a_bare_one_would_be)
{
    assert_ok(read_text(LEAST "a: {rate: 100GiB/s, delay: 50ns}\n"), &err);
    assert_double(v.rate, 100);
    assert_double(v.delay, 50);
    assert_ok(read_text("count: 3\nc: {sizes: [4], rates: [100GB/s, \"1GiB/s\", 3]}\na: {delay: 1.5 us}\n"),
              &err);
    assert_double(v.rates.v[0], 100e9 / 1073741824.0);
    assert_true(fabs(v.rates.v[0] - 93.13225746154785) < 1e-13);
    assert_double(v.rates.v[1], 1);
    assert_double(v.rates.v[2], 3);
    assert_double(v.delay, 1500);
}

/* ---- refusals ------------------------------------------------------------------------------ */

CLAIM(an_unknown_key_names_the_nearest)
{
    refuse(LEAST "a:\n  rates: 5\n", DSE_E_CONFIG, "f.yaml:4:3",
           "unknown key 'a.rates' in a test card; did you mean 'a.rate'?");
    refuse("coun: 3\n", DSE_E_CONFIG, "f.yaml:1:1",
           "unknown key 'coun' in a test card; did you mean 'count'?");
}

CLAIM(a_key_in_the_wrong_section_is_shown_the_right_one)
{
    refuse(LEAST "b: {delay: 5}\n", DSE_E_CONFIG, "f.yaml:3:5",
           "unknown key 'b.delay' in a test card; did you mean 'a.delay'?");
    refuse(LEAST "optional_rate: 5\n", DSE_E_CONFIG, "f.yaml:3:1",
           "unknown key 'optional_rate' in a test card; did you mean 'a.optional_rate'?");
}

CLAIM(a_key_like_no_other_is_sent_to_the_list)
{
    refuse(LEAST "colour: red\n", DSE_E_CONFIG, "f.yaml:3:1",
           "unknown key 'colour' in a test card; list the keys with 'ccldse systems --keys'");
}

CLAIM(a_section_must_be_a_mapping)
{
    assert_int_equal(read_text("count: 3\nc: 5\n"), DSE_E_CONFIG);
    assert_string_equal(err.where, "f.yaml:2:1");
}

CLAIM(a_card_must_be_a_mapping)
{
    refuse("[1, 2]\n", DSE_E_CONFIG, "f.yaml:1:1", "a test card is a mapping of keys to values");
}

CLAIM(a_required_key_that_is_missing_is_named_with_its_meaning)
{
    refuse("count: 3\n", DSE_E_CONFIG, "f.yaml", "the test card lacks 'c.sizes' (ints)");
}

CLAIM(a_required_key_may_be_given_later)
{
    const cfg_setting sizes = {"c.sizes", "[4]"};
    dse_arena arena;
    cfg_doc doc;

    dse_arena_init(&arena);
    err = (dse_error)DSE_ERROR_INIT;
    v = (values){0};
    assert_ok(cfg_parse_yaml("f.yaml", "count: 3\n", 9, &arena, &doc, &err), &err);
    assert_ok(cfg_table_read_part(&table, &doc, NULL, &v, &err), &err);
    assert_int_equal(v.count, 3);
    assert_double(v.rate, 2); /* the default */
    assert_failure(cfg_table_check(&table, "f.yaml", &v, &err), &err, DSE_E_CONFIG, "f.yaml",
                   "the test card lacks 'c.sizes' (ints)");
    err = (dse_error)DSE_ERROR_INIT;
    assert_ok(cfg_table_set(&table, &sizes, &v, &err), &err);
    assert_ok(cfg_table_check(&table, "f.yaml", &v, &err), &err);
    dse_arena_free(&arena);
}

CLAIM(values_of_another_type_are_refused_where_they_stand)
{
    refuse("count: three\n", DSE_E_CONFIG, "f.yaml:1:8", "count: 'three' is not a whole number");
    refuse("count: 3.5\n", DSE_E_CONFIG, "f.yaml:1:8", "count: '3.5' is not a whole number");
    refuse("count: '3'\n", DSE_E_CONFIG, "f.yaml:1:8", "count must be an integer, not '3'");
    refuse("count: [3]\n", DSE_E_CONFIG, "f.yaml:1:8", "count must be an integer, not a list");
    refuse("count:\n", DSE_E_CONFIG, "f.yaml:1:7", "count must be an integer, not ''");
    refuse(LEAST "a: {rate: {x: 1}}\n", DSE_E_CONFIG, "f.yaml:3:11",
           "a.rate must be a number, not a mapping");
    refuse(LEAST "a: {optional_rate: fast}\n", DSE_E_CONFIG, "f.yaml:3:20",
           "a.optional_rate: 'fast' is not a number");
    refuse(LEAST "b: {on: maybe}\n", DSE_E_CONFIG, "f.yaml:3:9", "b.on: 'maybe' is neither true nor false");
    refuse(LEAST "b: {mode: [fast]}\n", DSE_E_CONFIG, "f.yaml:3:11", "b.mode must be a name, not a list");
    refuse("count: 3\nc: {sizes: 4}\n", DSE_E_CONFIG, "f.yaml:2:12",
           "c.sizes must be a list of integers, not '4'; write [4]");
    refuse("count: 3\nc: {sizes: [4, [5]]}\n", DSE_E_CONFIG, "f.yaml:2:16",
           "c.sizes must be a list of integers, not a list");
}

CLAIM(a_wrong_unit_is_refused_with_the_right_ones)
{
    refuse(LEAST "a: {delay: 5GB}\n", DSE_E_CONFIG, "f.yaml:3:12",
           "a.delay: unknown unit 'GB' in '5GB'; expected a time such as 50ns, 1.5us, 3ms or 2s");
    refuse(LEAST "a: {optional_rate: 5GB}\n", DSE_E_CONFIG, "f.yaml:3:20",
           "a.optional_rate: unknown unit 'GB' in '5GB'; expected a number");
}

CLAIM(values_out_of_range_are_refused_with_the_range)
{
    refuse("count: 0\n", DSE_E_RANGE, "f.yaml:1:8", "count is 0; it must be between 1 and 8");
    refuse("count: 9\n", DSE_E_RANGE, "f.yaml:1:8", "count is 9; it must be between 1 and 8");
    refuse(LEAST "a: {rate: 0.25}\n", DSE_E_RANGE, "f.yaml:3:11",
           "a.rate is 0.25; it must be between 0.5 and 1000 GiB/s");
    refuse(LEAST "a: {rate: 1001GiB/s}\n", DSE_E_RANGE, "f.yaml:3:11",
           "a.rate is 1001GiB/s; it must be between 0.5 and 1000 GiB/s");
    refuse(LEAST "a: {delay: -1}\n", DSE_E_RANGE, "f.yaml:3:12", "a.delay is -1; it must be at least 0 ns");
    refuse("count: 3\nc: {sizes: [2, 65]}\n", DSE_E_RANGE, "f.yaml:2:16",
           "c.sizes is 65; it must be between 2 and 64");
}

CLAIM(a_list_longer_than_ten_dimensions_is_refused)
{
    assert_ok(read_text("count: 3\nc: {sizes: [2,2,2,2,2,2,2,2,2,2]}\n"), &err);
    assert_int_equal(v.sizes.n, 10);
    refuse("count: 3\nc: {sizes: [2,2,2,2,2,2,2,2,2,2,2]}\n", DSE_E_RANGE, "f.yaml:2:12",
           "c.sizes has 11 entries; at most 10 dimensions are possible");
}

CLAIM(names_are_checked)
{
    refuse(LEAST "b: {mode: fats}\n", DSE_E_CONFIG, "f.yaml:3:11",
           "b.mode: unknown 'fats'; did you mean 'fast'? known: fast, exact");
    refuse(LEAST "b: {mode: exakt}\n", DSE_E_CONFIG, "f.yaml:3:11",
           "b.mode: unknown 'exakt'; did you mean 'exact'? known: fast, exact");
    refuse(LEAST "b: {checked: abc}\n", DSE_E_CONFIG, "f.yaml:3:14",
           "b.checked: 'abc' does not start with x");
    refuse("count: 3\nc: {sizes: [4], names: [x, y]}\n", DSE_E_CONFIG, "f.yaml:2:28",
           "c.names: 'y' does not start with x");
}

/* CFG_NAME_MAX is 64: 63 characters fit. */
CLAIM(a_name_too_long_is_refused)
{
    char text[200], name[65];

    memset(name, 'n', 64);
    name[63] = '\0';
    snprintf(text, sizeof text, LEAST "b: {free_name: %s}\n", name);
    assert_ok(read_text(text), &err);
    assert_string_equal(v.free_name, name);
    name[63] = 'n';
    name[64] = '\0';
    snprintf(text, sizeof text, LEAST "b: {free_name: %s}\n", name);
    refuse(text, DSE_E_CONFIG, "f.yaml:3:16",
           "b.free_name: the name 'nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn...' is too long");
}

/* ---- out again ----------------------------------------------------------------------------- */

static void write_json(const values *from, dse_strbuf *out)
{
    dse_json j;

    dse_strbuf_init(out);
    dse_json_init(&j, out);
    cfg_table_write_json(&table, from, &j);
}

CLAIM(the_resolved_values_are_written_in_the_order_of_the_table)
{
    dse_strbuf b;

    assert_ok(read_text(LEAST "a: {delay: 1.5us}\nb: {on: no}\n"), &err);
    write_json(&v, &b);
    /* Absent rows are left out; numbers without a fraction have no point. */
    assert_string_equal(b.data,
                        "{\"count\":3,\"a.rate\":2,\"a.delay\":1500,\"b.on\":false,\"b.mode\":\"exact\","
                        "\"b.checked\":\"x1\",\"c.sizes\":[4],\"optional_count\":3}");
    dse_strbuf_free(&b);
}

CLAIM(the_resolved_values_read_back_to_the_same)
{
    static const char *const texts[] = {
        LEAST,
        "count: 8\na: {rate: 93.13225746154785, delay: 0.1, optional_rate: 1e-7}\nb: {on: off, mode: fast, "
        "free_name: \"a \\\"b\\\" \\\\ c\", checked: xyz}\n"
        "c: {sizes: [2, 64], rates: [100GB/s, 0.1, 123456789012], names: [x, x2]}\noptional_count: 0\n",
        "count: 1\nc: {sizes: [4]}\na: {delay: 1e15}\n",
        "count: 1\nc: {sizes: [4]}\na: {delay: 1e300}\n",
    };

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        dse_strbuf first, second;
        values before;
        dse_arena arena;
        cfg_doc doc;

        assert_ok(read_text(texts[i]), &err);
        before = v;
        write_json(&v, &first);
        dse_arena_init(&arena);
        assert_ok(cfg_parse_json("f.json", first.data, first.len, &arena, &doc, &err), &err);
        memset(&v, 0x55, sizeof v);
        assert_ok(cfg_table_read(&table, &doc, NULL, &v, &err), &err);
        dse_arena_free(&arena);
        assert_double(v.rate, before.rate);
        assert_double(v.delay, before.delay);
        assert_double(v.optional_rate, before.optional_rate);
        for (uint32_t k = 0; k < before.rates.n; k++)
            assert_double(v.rates.v[k], before.rates.v[k]);
        assert_string_equal(v.free_name, before.free_name);
        write_json(&v, &second);
        assert_string_equal(second.data, first.data);
        dse_strbuf_free(&first);
        dse_strbuf_free(&second);
    }
}

CLAIM(absent_values_are_told_from_zeros)
{
    assert_ok(read_text(LEAST "a: {optional_rate: 0}\n"), &err);
    assert_false(cfg_param_is_absent(&rows[3], &v)); /* a.optional_rate: 0 is a value */
    assert_true(cfg_param_is_absent(&rows[6], &v));  /* b.free_name */
    assert_true(cfg_param_is_absent(&rows[9], &v));  /* c.rates */
    assert_true(cfg_param_is_absent(&rows[10], &v)); /* c.names */
    assert_false(cfg_param_is_absent(&rows[8], &v)); /* c.sizes */
    assert_false(cfg_param_is_absent(&rows[4], &v)); /* a switch always has a value */
    assert_ok(read_text(LEAST), &err);
    assert_true(cfg_param_is_absent(&rows[3], &v));
}

CLAIM(one_row_can_be_set_and_written_by_itself)
{
    dse_strbuf b;
    dse_json j;

    err = (dse_error)DSE_ERROR_INIT;
    assert_ok(cfg_param_default(&rows[2], "3us", &v, &err), &err); /* as it would stand in a card */
    assert_double(v.delay, 3000);
    assert_failure(cfg_param_default(&rows[2], "3GB", &v, &err), &err, DSE_E_CONFIG, "",
                   "a.delay: unknown unit 'GB' in '3GB'; expected a time such as 50ns, 1.5us, 3ms or 2s");
    dse_strbuf_init(&b);
    dse_json_init(&j, &b);
    cfg_param_write_json(&rows[2], &v, &j);
    assert_string_equal(b.data, "3000");
    dse_strbuf_free(&b);
}

CLAIM(settings_take_the_place_of_what_a_card_says)
{
    const cfg_setting items[] = {
        {"a.rate", "5"}, {"c.rates", "[1,2]"}, {"c.rates[1]", "1GiB/s"}, {"count", "8"}};
    const cfg_settings settings = {4, items};
    const char *text = "c: {sizes: [4]}\na: {rate: 7}\n"; /* without the required count: it is set */
    dse_arena arena;
    cfg_doc doc;

    dse_arena_init(&arena);
    err = (dse_error)DSE_ERROR_INIT;
    assert_ok(cfg_parse_yaml("f.yaml", text, strlen(text), &arena, &doc, &err), &err);
    assert_ok(cfg_table_read(&table, &doc, &settings, &v, &err), &err);
    dse_arena_free(&arena);
    assert_int_equal(v.count, 8);
    assert_double(v.rate, 5);
    assert_int_equal(v.rates.n, 2);
    assert_double(v.rates.v[0], 1);
    assert_double(v.rates.v[1], 1); /* 1 GiB/s is 1 of the row's GiB/s, over the 2 that the whole list had */
    assert_true(cfg_is_given(&table, &v, "count"));
    assert_true(cfg_is_given(&table, &v, "c.rates"));
}

static void refuse_setting(const char *path, const char *value, dse_status status, const char *why)
{
    err = (dse_error)DSE_ERROR_INIT;
    assert_failure(cfg_table_set(&table, &(cfg_setting){path, value}, &v, &err), &err, status, "", why);
}

CLAIM(a_setting_without_a_place_or_a_value_is_refused)
{
    assert_ok(read_text(LEAST), &err);
    assert_true(cfg_table_has(&table, "c.sizes[0]"));
    assert_true(cfg_table_has(&table, "c.sizes[9]")); /* whether it is there depends on the card */
    assert_false(cfg_table_has(&table, "c.sizes[-1]"));
    assert_false(cfg_table_has(&table, "c.sizes[1"));
    assert_false(cfg_table_has(&table, "c.sizes[]"));
    assert_false(cfg_table_has(&table, "c.sizes[0]x"));
    assert_false(cfg_table_has(&table, "c.sizes[01]")); /* one spelling for one element */
    assert_false(cfg_table_has(&table, "c.sizes[+1]"));
    assert_false(cfg_table_has(&table, "c.sizes[ 1]"));
    assert_false(cfg_table_has(&table, "c.sizes[10000]"));
    assert_false(cfg_table_has(&table, "count[0]"));
    assert_false(cfg_table_has(&table, "c"));
    refuse_setting("nothing", "1", DSE_E_CONFIG, "a test card has no 'nothing'");
    refuse_setting(
        "c.sizes[1]", "4", DSE_E_CONFIG,
        "cannot set 'c.sizes[1]' to '4': 'c.sizes[1]' is not there: c.sizes has 1 entries, counted "
        "from 0");
    refuse_setting("c.sizes[0]", "1", DSE_E_RANGE,
                   "cannot set 'c.sizes[0]' to '1': c.sizes is 1; it must be between 2 and 64");
    refuse_setting("c.sizes", "4", DSE_E_CONFIG,
                   "cannot set 'c.sizes' to '4': c.sizes must be a list of integers, not '4'; "
                   "write [4]");
}

CLAIM(settings_are_words_in_an_order_of_their_own)
{
    cfg_setting s[3];
    dse_arena arena;

    dse_arena_init(&arena);
    err = (dse_error)DSE_ERROR_INIT;
    assert_ok(cfg_setting_parse("count = 3", &arena, &s[0], &err), &err);
    assert_ok(cfg_setting_parse("c.rates[1]=50 GiB/s", &arena, &s[1], &err), &err);
    assert_ok(cfg_setting_parse("c.rates=[1, 2]", &arena, &s[2], &err), &err);
    assert_ok(cfg_settings_sort(s, 3, &err), &err);
    assert_string_equal(s[0].path, "c.rates"); /* the whole list before an element of it */
    assert_string_equal(s[0].value, "[1,2]");
    assert_string_equal(s[1].path, "c.rates[1]");
    assert_string_equal(s[1].value, "50GiB/s");
    assert_string_equal(s[2].path, "count");
    assert_string_equal(s[2].value, "3");
    assert_failure(cfg_setting_parse("count", &arena, &s[0], &err), &err, DSE_E_USAGE, "",
                   "'count' sets nothing; write KEY=VALUE, for example batch=256");
    err = (dse_error)DSE_ERROR_INIT;
    s[0] = s[2];
    assert_failure(cfg_settings_sort(s, 3, &err), &err, DSE_E_USAGE, "", "'count' is set twice");
    dse_arena_free(&arena);
}

/* "50 GB/s" is one value; "my file" would be "myfile", which may be another one. */
CLAIM(a_blank_stands_between_words_and_units_alone)
{
    static const char *const good[] = {" c.rates [1] = .5 GiB/s ", "c.names = [ Ring , Switch ]", "a=1 \t"};
    static const char *const expected[] = {".5GiB/s", "[Ring,Switch]", "1"};
    static const char *const bad[] = {"a=my file.yaml", "a=./my file.yaml", "a b=1", "a=[Ring, Full Mesh]"};
    dse_arena arena;
    cfg_setting s;

    dse_arena_init(&arena);
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        err = (dse_error)DSE_ERROR_INIT;
        assert_ok(cfg_setting_parse(good[i], &arena, &s, &err), &err);
        assert_string_equal(s.value, expected[i]);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        err = (dse_error)DSE_ERROR_INIT;
        assert_int_equal(cfg_setting_parse(bad[i], &arena, &s, &err), DSE_E_USAGE);
        assert_non_null(strstr(err.text, "a blank within a word of '"));
    }
    dse_arena_free(&arena);
}

CLAIM(a_list_covers_its_elements_and_a_section_its_rows)
{
    assert_true(cfg_path_covers("c.rates", "c.rates"));
    assert_true(cfg_path_covers("c.rates", "c.rates[1]"));
    assert_true(cfg_path_covers("c.rates[1]", "c.rates[1]"));
    assert_false(cfg_path_covers("c.rates[1]", "c.rates"));
    assert_false(cfg_path_covers("c.rates[1]", "c.rates[10]"));
    assert_false(cfg_path_covers("c.rate", "c.rates"));
    assert_true(cfg_path_covers("c", "c.rates"));
    assert_false(cfg_path_covers("c.rates", "c"));
}

static cfg_value get(const char *path)
{
    cfg_value out;

    assert_true(cfg_table_get(&table, &v, path, &out));
    return out;
}

CLAIM(a_value_is_got_in_the_unit_of_its_row)
{
    assert_ok(read_text("count: 8\na: {rate: 100GiB/s, delay: 1.5us}\nb: {on: no, mode: fast}\n"
                        "c: {sizes: [2, 64], rates: [0.25], names: [x, x2]}\n"),
              &err);
    assert_int_equal(get("count").type, CFG_T_INT);
    assert_int_equal(get("count").integer, 8);
    assert_int_equal(get("a.rate").type, CFG_T_DOUBLE);
    assert_double(get("a.rate").number, 100);
    assert_double(get("a.delay").number, 1500);
    assert_int_equal(get("b.on").type, CFG_T_INT); /* a switch is 0 or 1 */
    assert_int_equal(get("b.on").integer, 0);
    assert_int_equal(get("b.mode").type, CFG_T_NAME);
    assert_string_equal(get("b.mode").name, "fast");
    assert_int_equal(get("c.sizes[1]").integer, 64);
    assert_double(get("c.rates[0]").number, 0.25);
    assert_string_equal(get("c.names[1]").name, "x2");
    assert_int_equal(get("optional_count").integer, 3); /* its default */
}

CLAIM(what_has_no_value_is_not_got)
{
    static const char *const paths[] = {
        "c.sizes",         "c.sizes[2]",  "c.sizes[9999]", "c.rates[0]", "a.optional_rate",
        "b.free_name",     "no.such.key", "count[0]",      "c",          "",
        "c.sizes[1].more", "c.sizes[",    "c.sizes[-1]"};
    cfg_value unchanged = {.type = CFG_T_NAME};

    assert_ok(read_text("count: 3\nc: {sizes: [4, 8]}\n"), &err);
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++)
        assert_false(cfg_table_get(&table, &v, paths[i], &unchanged));
    assert_int_equal(unchanged.type, CFG_T_NAME);
}

CLAIM(the_table_describes_itself)
{
    dse_strbuf b;

    dse_strbuf_init(&b);
    cfg_table_describe(&table, &b);
    assert_non_null(strstr(b.data, "count\n    how many\n    integer, 1 .. 8, required\n"));
    assert_non_null(
        strstr(b.data, "a.rate\n    how fast\n    number, GiB/s, 0.5 .. 1000, default 2; ASTRA-sim: bw\n"));
    assert_non_null(strstr(b.data, "a.delay\n    how late\n    number, ns, >= 0, default 10\n"));
    assert_non_null(strstr(b.data, "b.on\n    a switch\n    true/false, default yes\n"));
    assert_non_null(strstr(b.data, "b.mode\n    one of two\n    name, fast|exact, default exact\n"));
    assert_non_null(strstr(b.data, "c.names\n    names\n    names, optional\n"));
    dse_strbuf_free(&b);
}

/* ---- lists with a bare or an empty entry; rows that are told of only if they are set ------------ */

typedef struct {
    cfg_given given;
    cfg_int_list extents, strict;
    cfg_name_list orders;
    cfg_name mode;
    double cost;
} forms;

#define IN_FORMS(f) .offset = offsetof(forms, f)

static const cfg_param form_rows[] = {
    {.key = "extents",
     .type = CFG_T_INT_LIST,
     .unit_name = "",
     .min = 1,
     .max = 64,
     IN_FORMS(extents),
     .fallback = "",
     .bare = true,
     .sparse = true,
     .help = "ints"},
    {.key = "strict",
     .type = CFG_T_INT_LIST,
     .unit_name = "",
     .min = 0,
     .max = 64,
     IN_FORMS(strict),
     .fallback = "",
     .bare = true,
     .help = "ints"},
    {.key = "orders",
     .type = CFG_T_NAME_LIST,
     .unit_name = "",
     IN_FORMS(orders),
     .fallback = "",
     .sparse = true,
     .help = "names"},
    {.key = "mode",
     .type = CFG_T_NAME,
     .unit_name = "",
     .choices = modes,
     IN_FORMS(mode),
     .fallback = "exact",
     .omit_default = true,
     .help = "one of two"},
    {.key = "cost",
     .type = CFG_T_DOUBLE,
     .unit_name = "",
     .max = 10,
     IN_FORMS(cost),
     .fallback = "0",
     .omit_default = true,
     .help = "a number"},
};
static const cfg_table form_table = {form_rows, sizeof form_rows / sizeof form_rows[0], "form"};

static forms f;

static dse_status read_form(const char *text)
{
    dse_arena arena;
    cfg_doc doc;
    dse_status st;

    dse_arena_init(&arena);
    err = (dse_error)DSE_ERROR_INIT;
    memset(&f, 0x55, sizeof f);
    st = cfg_parse_yaml("f.yaml", text, strlen(text), &arena, &doc, &err);
    if (st == DSE_OK)
        st = cfg_table_read(&form_table, &doc, NULL, &f, &err);
    dse_arena_free(&arena);
    return st;
}

static void assert_form(const char *text, const char *expected)
{
    dse_strbuf b;
    dse_json j;

    assert_ok(read_form(text), &err);
    dse_strbuf_init(&b);
    dse_json_init(&j, &b);
    cfg_table_write_json(&form_table, &f, &j);
    assert_string_equal(b.data, expected);
    dse_strbuf_free(&b);
}

CLAIM(a_bare_value_is_a_list_of_one_where_the_row_says_so)
{
    assert_form("extents: 4\n", "{\"extents\":[4]}");
    assert_form("extents: [4]\n", "{\"extents\":[4]}");
    assert_failure(read_form("orders: xy\n"), &err, DSE_E_CONFIG, "f.yaml:1:9",
                   "orders must be a list of names, not 'xy'; write [xy]");
    assert_failure(read_form("extents: {a: 4}\n"), &err, DSE_E_CONFIG, "f.yaml:1:10",
                   "extents must be a list of integers, not a mapping; write [...]");
    assert_failure(read_form("extents: 65\n"), &err, DSE_E_RANGE, "f.yaml:1:10",
                   "extents is 65; it must be between 1 and 64");
}

CLAIM(an_entry_may_be_null_where_the_row_says_so)
{
    assert_form("extents: [~, 4, null]\norders: [xy, ~]\n",
                "{\"extents\":[null,4,null],\"orders\":[\"xy\",null]}");
    assert_int_equal(f.extents.n, 3);
    assert_int_equal(f.extents.v[0], 0);
    assert_string_equal(f.orders.v[1], "");
    assert_failure(read_form("strict: [~]\n"), &err, DSE_E_CONFIG, "f.yaml:1:10",
                   "strict: '~' is not a whole number");
    /* a word in quotes is a name */
    assert_ok(read_form("orders: [\"null\"]\n"), &err);
    assert_string_equal(f.orders.v[0], "null");
}

CLAIM(what_is_omitted_by_default_leaves_the_text_as_if_there_were_no_such_row)
{
    assert_form("{}\n", "{}");
    assert_form("mode: exact\n", "{}");
    assert_true(cfg_is_given(&form_table, &f, "mode"));
    assert_true(cfg_param_is_absent(&form_rows[3], &f));
    assert_form("mode: fast\n", "{\"mode\":\"fast\"}");
    assert_false(cfg_param_is_absent(&form_rows[3], &f));
    assert_form("cost: 0\n", "{}");
    assert_form("cost: 0.5\n", "{\"cost\":0.5}");
}

CLAIM(a_number_that_is_omitted_is_got_all_the_same)
{
    cfg_value got;

    assert_ok(read_form("{}\n"), &err);
    assert_true(cfg_table_get(&form_table, &f, "cost", &got));
    assert_double(got.number, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_not_given_takes_its_default),
        cmocka_unit_test(what_is_given_is_known_to_be_given),
        cmocka_unit_test(sections_may_be_nested_or_dotted),
        cmocka_unit_test(values_of_every_type_are_read),
        cmocka_unit_test(a_value_with_a_unit_is_the_number_that_a_bare_one_would_be),
        cmocka_unit_test(an_unknown_key_names_the_nearest),
        cmocka_unit_test(a_key_in_the_wrong_section_is_shown_the_right_one),
        cmocka_unit_test(a_key_like_no_other_is_sent_to_the_list),
        cmocka_unit_test(a_section_must_be_a_mapping),
        cmocka_unit_test(a_card_must_be_a_mapping),
        cmocka_unit_test(a_required_key_that_is_missing_is_named_with_its_meaning),
        cmocka_unit_test(a_required_key_may_be_given_later),
        cmocka_unit_test(values_of_another_type_are_refused_where_they_stand),
        cmocka_unit_test(a_wrong_unit_is_refused_with_the_right_ones),
        cmocka_unit_test(values_out_of_range_are_refused_with_the_range),
        cmocka_unit_test(a_list_longer_than_ten_dimensions_is_refused),
        cmocka_unit_test(names_are_checked),
        cmocka_unit_test(a_name_too_long_is_refused),
        cmocka_unit_test(the_resolved_values_are_written_in_the_order_of_the_table),
        cmocka_unit_test(the_resolved_values_read_back_to_the_same),
        cmocka_unit_test(absent_values_are_told_from_zeros),
        cmocka_unit_test(one_row_can_be_set_and_written_by_itself),
        cmocka_unit_test(settings_take_the_place_of_what_a_card_says),
        cmocka_unit_test(a_setting_without_a_place_or_a_value_is_refused),
        cmocka_unit_test(settings_are_words_in_an_order_of_their_own),
        cmocka_unit_test(a_blank_stands_between_words_and_units_alone),
        cmocka_unit_test(a_list_covers_its_elements_and_a_section_its_rows),
        cmocka_unit_test(a_value_is_got_in_the_unit_of_its_row),
        cmocka_unit_test(what_has_no_value_is_not_got),
        cmocka_unit_test(the_table_describes_itself),
        cmocka_unit_test(a_bare_value_is_a_list_of_one_where_the_row_says_so),
        cmocka_unit_test(an_entry_may_be_null_where_the_row_says_so),
        cmocka_unit_test(what_is_omitted_by_default_leaves_the_text_as_if_there_were_no_such_row),
        cmocka_unit_test(a_number_that_is_omitted_is_got_all_the_same),
    };
    return RUN_TESTS(tests);
}
