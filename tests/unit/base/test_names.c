#include "unit/unit.h"

#include "base/names.h"

static const char *const known[] = {"Ring", "Switch", "FullyConnected", "ring2"};
#define N_KNOWN 4

CLAIM(the_nearest_name_is_found_whatever_its_case)
{
    assert_string_equal(dse_nearest("Swich", known, N_KNOWN), "Switch");   /* one missing */
    assert_string_equal(dse_nearest("SWITCHH", known, N_KNOWN), "Switch"); /* one too many, case ignored */
    assert_string_equal(dse_nearest("Sxitch", known, N_KNOWN), "Switch");  /* one replaced */
    assert_string_equal(dse_nearest("Siwtch", known, N_KNOWN), "Switch");  /* swapped */
    assert_string_equal(dse_nearest("FullConnectd", known, N_KNOWN), "FullyConnected");
}

/* The limit is a third of what was written: 6 letters may have 2 edits, 5 one; never more than 3. */
CLAIM(a_name_too_far_off_has_no_nearest)
{
    assert_null(dse_nearest("Sxxtch!", known, N_KNOWN)); /* 7 letters: 2 allowed, 3 needed */
    assert_null(dse_nearest("Sxtcx", known, N_KNOWN));   /* 5 letters: 1 allowed, 3 needed */
    assert_null(dse_nearest("mesh2d", known, N_KNOWN));
    assert_null(dse_nearest("FallyConxxcxed!", known, N_KNOWN)); /* 15 letters, but at most 3 */
}

CLAIM(short_names_may_have_one_edit)
{
    static const char *const two[] = {"dp", "tp"};

    assert_string_equal(dse_nearest("p", two, 2), "dp"); /* a tie: the first */
    assert_string_equal(dse_nearest("tq", two, 2), "tp");
    assert_null(dse_nearest("xy", two, 2));
}

CLAIM(two_letters_that_changed_places_are_one_edit)
{
    static const char *const orders[] = {"gpipe", "1f1b"};

    assert_string_equal(dse_nearest("1fb1", orders, 2), "1f1b"); /* 4/3 = 1 */
    assert_null(dse_nearest("fb11", orders, 2));                 /* two */
}

/* "h100" is another machine than "h200", and one edit from neither. */
CLAIM(another_number_is_another_name)
{
    static const char *const systems[] = {"dgx_a100", "h200", "h100_torchtitan", "hgx_h100"};

    assert_string_equal(dse_nearest("h100", systems, 4), "hgx_h100"); /* the shortest with it */
    assert_string_equal(dse_nearest("h20", systems, 4), "h200");
    assert_string_equal(dse_nearest("dgx_h100", systems, 4), "hgx_h100"); /* "gx_h100" against "dgx_" and "100" */
}

CLAIM(a_part_of_a_name_is_near_to_it)
{
    static const char *const options[] = {"--set", "--sequence", "--batch", "--model"};

    assert_string_equal(dse_nearest("batchsize", (const char *const[]){"layers", "batch"}, 2), "batch");
    assert_string_equal(dse_nearest("--batch-size", options, 4), "--batch");
    assert_string_equal(dse_nearest("--sequ", options, 4), "--sequence");
    assert_null(dse_nearest("--nodes", options, 4)); /* five letters without the dashes, and "--model" needs two */
    assert_null(dse_nearest("ba", (const char *const[]){"layers", "batch"}, 2)); /* too short to tell */
}

CLAIM(ties_go_to_the_first) { assert_string_equal(dse_nearest("Ring1", known, N_KNOWN), "Ring"); }

CLAIM(an_exact_name_is_its_own_nearest)
{
    for (int i = 0; i < N_KNOWN; i++)
        assert_ptr_equal(dse_nearest(known[i], known, N_KNOWN), known[i]);
}

CLAIM(names_of_any_length_are_safe)
{
    char longer[300];

    memset(longer, 'a', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    assert_null(dse_nearest(longer, known, N_KNOWN));
    assert_null(dse_nearest("", known, N_KNOWN));
    assert_null(dse_nearest("x", known, 0));
    longer[64] = '\0'; /* as long as a name may be */
    assert_null(dse_nearest(longer, known, N_KNOWN));
}

CLAIM(names_are_joined_by_commas)
{
    char out[64];

    dse_join(out, sizeof out, known, 2);
    assert_string_equal(out, "Ring, Switch");
    dse_join(out, sizeof out, known, 1);
    assert_string_equal(out, "Ring");
    dse_join(out, sizeof out, known, 0);
    assert_string_equal(out, "");
}

CLAIM(a_joined_list_is_cut_to_fit)
{
    char out[8] = "#######";

    dse_join(out, sizeof out, known, 3);
    assert_string_equal(out, "Ring, S");
    dse_join(out, 1, known, 3);
    assert_string_equal(out, "");
    out[0] = '#';
    dse_join(out, 0, known, 3); /* nothing may be written */
    assert_int_equal(out[0], '#');
}

/* U+009B is one character of two bytes, U+00A0 behind it is none of them; a byte 0xC2 that nothing follows is left. */
CLAIM(control_characters_are_masked)
{
    char line[] = "a\tb\n\x1b[31m\x7f\xc2\x9b"
                  "1m \xc2\xa0\xc3\xa9\xc2",
         lines[] = "a\tb\n";

    dse_mask_controls(line, sizeof line - 1, DSE_ONE_LINE);
    assert_string_equal(line, "a?b??[31m???1m \xc2\xa0\xc3\xa9\xc2");
    dse_mask_controls(lines, sizeof lines - 1, DSE_LINES);
    assert_string_equal(lines, "a?b\n");
}

CLAIM(printable_is_utf8_without_control_characters)
{
    assert_true(dse_is_printable(""));
    assert_true(dse_is_printable("a b~\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80")); /* e acute, euro, a face */
    assert_false(dse_is_printable("a\nb"));
    assert_false(dse_is_printable("a\x7f"));
    assert_false(dse_is_printable("\xe2\x80\x8e")); /* left-to-right mark */
    assert_false(dse_is_printable("a\xe2\x80\xae")); /* right-to-left override */
    assert_false(dse_is_printable("\xe2\x81\xa9"));
    assert_true(dse_is_printable("\xe2\x80\x90\xe2\x80\xaf\xe2\x81\xa5\xe2\x81\xaa"));
    assert_false(dse_is_printable("a\xc2\x9b"
                                  "31m"));              /* U+009B, in place of escape and bracket */
    assert_true(dse_is_printable("\xc2\xa0"));          /* the first character behind the second controls */
    assert_false(dse_is_printable("\xe9t\xe9"));        /* Latin-1 */
    assert_false(dse_is_printable("\xc3"));             /* cut off */
    assert_false(dse_is_printable("\xf5\x80\x80\x80")); /* beyond Unicode */
    assert_false(dse_is_printable("\xf4\x90\x80\x80"));
    assert_false(dse_is_printable("\xc0\xaf")); /* overlong forms of '/' */
    assert_false(dse_is_printable("\xe0\x80\xaf"));
    assert_false(dse_is_printable("\xf0\x80\x80\xaf"));
    assert_false(dse_is_printable("\xed\xa0\x80")); /* half of a surrogate pair */
}

CLAIM(a_text_ends_with_its_last_letters_alone)
{
    assert_true(dse_ends("run.trace.json", ".json"));
    assert_true(dse_ends(".json", ".json"));
    assert_true(dse_ends("run", ""));
    assert_true(dse_ends("", ""));
    assert_false(dse_ends("json", ".json")); /* shorter */
    assert_false(dse_ends("run.json.gz", ".json"));
    assert_false(dse_ends("run.JSON", ".json"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_nearest_name_is_found_whatever_its_case),
        cmocka_unit_test(a_name_too_far_off_has_no_nearest),
        cmocka_unit_test(short_names_may_have_one_edit),
        cmocka_unit_test(two_letters_that_changed_places_are_one_edit),
        cmocka_unit_test(another_number_is_another_name),
        cmocka_unit_test(a_part_of_a_name_is_near_to_it),
        cmocka_unit_test(ties_go_to_the_first),
        cmocka_unit_test(an_exact_name_is_its_own_nearest),
        cmocka_unit_test(names_of_any_length_are_safe),
        cmocka_unit_test(names_are_joined_by_commas),
        cmocka_unit_test(a_joined_list_is_cut_to_fit),
        cmocka_unit_test(control_characters_are_masked),
        cmocka_unit_test(printable_is_utf8_without_control_characters),
        cmocka_unit_test(a_text_ends_with_its_last_letters_alone),
    };
    return RUN_TESTS(tests);
}
