#include "driver/points_file.h"
#include "unit/driver/spaces.h"

static spaces s;
static char folder[64], path[100];

typedef struct {
    dse_arena arena;
    dse_error err;
    drv_space space;
    drv_points points;
} list;
static list l;

static const char *const small[] = {"small"}, *const both[] = {"small", "deep"}, *const ring8[] = {"ring8"};
static const drv_points_context nothing = {0};

static dse_status read_bytes(const char *text, size_t n, const drv_points_context *c)
{
    dse_arena_reset(&l.arena);
    l.err = (dse_error)DSE_ERROR_INIT;
    unit_write(path, text, n);
    return drv_points_file_read(path, c, &l.arena, &l.space, &l.points, &l.err);
}

static dse_status read_text(const char *text, const drv_points_context *c)
{
    return read_bytes(text, strlen(text), c);
}

static const drv_study *study_of(const list *from, size_t i, drv_study *out)
{
    assert_ok(drv_points_study(&from->points, from->points.point[i].variant,
                               (dse_arena *)(uintptr_t)&from->arena, out, (dse_error *)(uintptr_t)&from->err),
              &from->err);
    return out;
}

static void check_point(size_t i, const char *name, const char *model, const char *settings)
{
    char seen[STRATEGY_NAME_MAX];
    drv_study study;

    strategy_name(&l.points.point[i].point, NULL, seen);
    assert_string_equal(seen, name);
    assert_string_equal(study_of(&l, i, &study)->model_name, model);
    assert_string_equal(study.settings, settings);
}

/* ---- lines --------------------------------------------------------------------------------- */

CLAIM(a_line_names_its_cards_or_takes_those_of_the_command)
{
    const drv_points_context c = {both, ring8, 2, 1, NULL};

    assert_ok(read_text("# a study\n"
                        "8_1_1_1_0\n"
                        "\n"
                        "  small\tboxes8 1_8_1_1_1   layers=4 batch=32  # more\n"
                        "small ring8 2_4_1_1_0_ws",
                        &c),
              &l.err);
    assert_int_equal(l.points.n, 4);
    check_point(0, "8_1_1_1_0", "small", "");
    check_point(1, "8_1_1_1_0", "deep", "");
    check_point(2, "1_8_1_1_1", "small", "batch=32 layers=4");
    check_point(3, "2_4_1_1_0_ws", "small", "");
    assert_int_equal(l.space.n_studies, 3); /* two of the command, and small on boxes8 */
    assert_string_equal(l.space.study[2].system_path, "boxes8");
}

CLAIM(settings_of_the_command_hold_for_every_line)
{
    const cfg_setting item = {"layers", "7"};
    const cfg_settings settings = {1, &item};
    const drv_points_context c = {small, ring8, 1, 1, &settings};
    drv_study study;

    assert_ok(read_text("8_1_1_1_0\nsmall boxes8 8_1_1_1_0 batch=32\n", &c), &l.err);
    check_point(0, "8_1_1_1_0", "small", "layers=7");
    check_point(1, "8_1_1_1_0", "small", "batch=32 layers=7");
    assert_int_equal(study_of(&l, 1, &study)->model.layers, 7);
    assert_says(read_text("8_1_1_1_0\nsmall ring8 8_1_1_1_1 layers=3\n", &c), &l.err, DSE_E_CONFIG,
                "'layers' varies, and 'layers' is set over the cards already");
}

CLAIM(line_ends_of_any_kind_and_a_byte_order_mark_change_nothing)
{
    const drv_points_context c = {small, ring8, 1, 1, NULL};

    assert_ok(read_text("\xef\xbb\xbf"
                        "8_1_1_1_0\r\n\r\nsmall ring8 4_2_1_1_0 layers=2\r\n",
                        &c),
              &l.err);
    assert_int_equal(l.points.n, 2);
    check_point(1, "4_2_1_1_0", "small", "layers=2");
}

CLAIM(a_word_with_spaces_stands_in_quotes)
{
    char text[400];

    snprintf(text, sizeof text,
             "\"" TEST_DATA
             "/cards/models/small.yaml\" \"ring8\" 8_1_1_1_0 # \"\n\"%s/my \\\"best\\\" #1.yaml\" ring8 "
             "4_2_1_1_0\n",
             folder);
    snprintf(path, sizeof path, "%s/my \"best\" #1.yaml", folder);
    unit_write_text(path,
                    "vocabulary: 10\nd_model: 8\nd_ff: 8\nheads: 8\nlayers: 1\nbatch: 8\nsequence: 8\n");
    snprintf(path, sizeof path, "%s/points", folder);
    assert_ok(read_text(text, &nothing), &l.err);
    check_point(0, "8_1_1_1_0", "small", "");
    check_point(1, "4_2_1_1_0", "my \"best\" #1", "");
}

CLAIM(a_line_may_give_what_its_model_lacks)
{
    char card[120], text[300];
    drv_study study;

    snprintf(card, sizeof card, "%s/lacks.yaml", folder);
    unit_write_text(card, "vocabulary: 10\nd_model: 8\nd_ff: 8\nheads: 8\nlayers: 1\nsequence: 8\n");
    snprintf(text, sizeof text, "%s ring8 8_1_1_1_0 batch=8\n%s ring8 8_1_1_1_0 batch=16\n", card, card);
    assert_ok(read_text(text, &nothing), &l.err);
    assert_int_equal(study_of(&l, 0, &study)->model.batch, 8);
    assert_int_equal(study_of(&l, 1, &study)->model.batch, 16);
    /* not that of the line before */
    snprintf(text, sizeof text, "%s ring8 8_1_1_1_0 batch=8\n%s ring8 8_1_1_1_1\n", card, card);
    assert_says(read_text(text, &nothing), &l.err, DSE_E_CONFIG,
                "the model card lacks 'batch' (sequences in a training step, over all ranks)");
}

/* ---- there and back ------------------------------------------------------------------------ */

static void write_points(const drv_points *p, dse_strbuf *out)
{
    dse_error err = DSE_ERROR_INIT;

    dse_strbuf_init(out);
    dse_strbuf_addf(out, "# %zu points\n", p->n);
    for (size_t i = 0; i < p->n; i++) {
        assert_ok(drv_point_write_line(p, &p->point[i], out, &err), &err);
        dse_strbuf_addc(out, '\n');
    }
}

static void write_config(const drv_points *p, size_t i, dse_arena *a, dse_strbuf *out)
{
    dse_error err = DSE_ERROR_INIT;
    drv_study study;

    dse_strbuf_init(out);
    assert_ok(drv_points_study(p, p->point[i].variant, a, &study, &err), &err);
    drv_study_write_config(&study, &p->point[i].point, out);
}

/* Their configurations are the same to the last byte, so that a result of the one is one of the other. */
CLAIM(what_is_written_reads_back_to_the_same_points)
{
    static const char *const texts[] = {
        SMALL_ON_RING8,
        "models: [small, deep]\nsystems: [ring8, boxes8]\naxes: {recompute: no, weight_sharded: both}\n",
        SMALL_ON_RING8 "set: {sequence: 64, d_ff: 512, 'network.latency[0]': 1.5 us}\n"
                       "axes: {layers: [1, 2], 'network.bandwidth[0]': [25 GB/s, 50], dp: [8, 2]}\n",
        SMALL_ON_RING8 "axes: {network.topology: [[Switch], [ Ring ]], 'network.npus_count[0]': [4, 8]}\n",
        SMALL_ON_RING8
        "set: {collectives.all: [direct]}\naxes: {collectives.all_reduce: [[direct4], [ring]]}\n",
    };

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        dse_strbuf first, second;

        assert_ok(spaces_make(&s, texts[i]), &s.err);
        write_points(&s.points, &first);
        assert_ok(read_text(first.data, &nothing), &l.err);
        assert_int_equal(l.points.n, s.points.n);
        for (size_t k = 0; k < s.points.n; k++) {
            dse_strbuf a, b;

            write_config(&s.points, k, &s.arena, &a);
            write_config(&l.points, k, &l.arena, &b);
            assert_string_equal(a.data, b.data);
            dse_strbuf_free(&a);
            dse_strbuf_free(&b);
        }
        write_points(&l.points, &second);
        assert_string_equal(first.data, second.data);
        dse_strbuf_free(&first);
        dse_strbuf_free(&second);
    }
}

/* ---- refusals ------------------------------------------------------------------------------ */

static void refuse(const char *text, const drv_points_context *c, dse_status status, int line,
                   const char *message)
{
    char where[120];

    snprintf(where, sizeof where, line ? "%s:%d" : "%s", path, line);
    assert_failure(read_text(text, c), &l.err, status, where, message);
}

CLAIM(lines_that_are_no_points_are_refused)
{
    const drv_points_context c = {small, ring8, 1, 1, NULL};

    refuse("", &c, DSE_E_CONFIG, 0, "there is no point in the file");
    refuse("# nothing\n\n", &c, DSE_E_CONFIG, 0, "there is no point in the file");
    refuse("8_1_1_1_0\n8_1_1_1\n", &c, DSE_E_CONFIG, 2,
           "'8_1_1_1' is not a point; write dp_tp_sp_pp_recompute, for example 8_1_8_1_1");
    refuse("small ring8\n", &c, DSE_E_CONFIG, 1, "a line is POINT, or MODEL SYSTEM POINT [KEY=VALUE...]");
    refuse("small ring8 8_1_1_1_0 layers\n", &c, DSE_E_CONFIG, 1,
           "'layers' sets nothing; write KEY=VALUE, for example batch=256");
    refuse("small ring8 8_1_1_1_0 layer=3\n", &c, DSE_E_CONFIG, 1,
           "no card has 'layer'; did you mean 'layers'?");
    refuse("small ring8 8_1_1_1_0 layers=x\n", &c, DSE_E_CONFIG, 1,
           "cannot set 'layers' to 'x': layers: 'x' is not a whole number");
    refuse("small ring8 8_1_1_1_0 layers=3 layers=4\n", &c, DSE_E_CONFIG, 1, "'layers' is set twice");
    refuse("8_1_1_1_0\n", &nothing, DSE_E_CONFIG, 1,
           "the line names no model and system; give --model and --system");
    refuse("\"small ring8 8_1_1_1_0\n", &c, DSE_E_CONFIG, 1, "a quote without its other half");
    refuse("\"small\"ring8 8_1_1_1_0\n", &c, DSE_E_CONFIG, 1, "no space behind a quote");
    refuse("\"small\\", &c, DSE_E_CONFIG, 1, "a quote without its other half");
}

CLAIM(points_that_do_not_fit_are_refused)
{
    const drv_points_context c = {small, ring8, 1, 1, NULL};

    refuse("8_2_1_1_0\n", &c, DSE_E_RANGE, 1, "dp 8 * tp 2 * sp 1 * pp 1 is 16, but ring8 has 8 NPUs");
    refuse("1_1_1_8_0\n", &c, DSE_E_RANGE, 1,
           "pp 8 is more than the 5 stages that the layers and embeddings of small can fill");
    assert_ok(
        read_text("small ring8 1_1_1_8_0 layers=6\nsmall ring8 8_2_1_1_0 network.npus_count[0]=16\n", &c),
        &l.err);
}

CLAIM(a_point_that_stands_twice_is_refused)
{
    const drv_points_context c = {small, ring8, 1, 1, NULL};

    refuse("8_1_1_1_0\n4_2_1_1_0\n8_1_1_1_0\n", &c, DSE_E_CONFIG, 3,
           "the point 8_1_1_1_0 stands in line 1 already");
    refuse("8_1_1_1_0\nsmall ring8 8_1_1_1_0\n", &c, DSE_E_CONFIG, 2,
           "the point 8_1_1_1_0 stands in line 1 already");
    refuse("small ring8 8_1_1_1_0 layers=2 batch=8\nsmall ring8 8_1_1_1_0 batch=8 layers=2\n", &c,
           DSE_E_CONFIG, 2, "the point 8_1_1_1_0 stands in line 1 already");
    assert_ok(read_text("8_1_1_1_0\n8_1_1_1_1\nsmall ring8 8_1_1_1_0 layers=2\nsmall boxes8 8_1_1_1_0\n", &c),
              &l.err);
}

CLAIM(what_is_no_text_is_refused)
{
    const drv_points_context c = {small, ring8, 1, 1, NULL};

    assert_failure(read_bytes("8_1_1_1_0\n\0\n8_1_1_1_1\n", 22, &c), &l.err, DSE_E_SYNTAX, path,
                   "a NUL character: this is not a text");
    l.err = (dse_error)DSE_ERROR_INIT;
    assert_says(drv_points_file_read("no/such/file", &c, &l.arena, &l.space, &l.points, &l.err), &l.err,
                DSE_E_IO, "no/such/file");
}

/* 256: the cards, the point, and 253 settings; whatever they are, none is dropped. */
CLAIM(a_line_of_too_many_words_is_refused)
{
    dse_strbuf text;

    dse_strbuf_init(&text);
    dse_strbuf_adds(&text, "small ring8 8_1_1_1_0");
    for (int i = 0; i < 254; i++)
        dse_strbuf_adds(&text, " layers=2");
    refuse(text.data, &nothing, DSE_E_CONFIG, 1, "a line of more than 256 words");
    text.data[text.len - strlen(" layers=2")] = '\0';
    refuse(text.data, &nothing, DSE_E_CONFIG, 1, "'layers' is set twice");
    dse_strbuf_free(&text);
}

/* ---- memory -------------------------------------------------------------------------------- */

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_names_its_cards_or_takes_those_of_the_command),
        cmocka_unit_test(settings_of_the_command_hold_for_every_line),
        cmocka_unit_test(line_ends_of_any_kind_and_a_byte_order_mark_change_nothing),
        cmocka_unit_test(a_word_with_spaces_stands_in_quotes),
        cmocka_unit_test(a_line_may_give_what_its_model_lacks),
        cmocka_unit_test(what_is_written_reads_back_to_the_same_points),
        cmocka_unit_test(lines_that_are_no_points_are_refused),
        cmocka_unit_test(points_that_do_not_fit_are_refused),
        cmocka_unit_test(a_point_that_stands_twice_is_refused),
        cmocka_unit_test(what_is_no_text_is_refused),
        cmocka_unit_test(a_line_of_too_many_words_is_refused),
    };
    int failures;

    spaces_use(TEST_DATA "/cards");
    unit_make_folder(folder);
    snprintf(path, sizeof path, "%s/points", folder);
    dse_arena_init(&s.arena);
    dse_arena_init(&l.arena);
    failures = RUN_TESTS(tests);
    dse_arena_free(&s.arena);
    dse_arena_free(&l.arena);
    unit_remove_folder(folder);
    return failures;
}
