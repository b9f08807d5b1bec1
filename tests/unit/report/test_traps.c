/* The lines under a table: what of the model its figures met. */
#include "report/traps.h"
#include "unit/unit.h"

#define MULTI_HOP                                                                                            \
    "messages between NPUs that differ in several dimensions pay for the lowest one alone, as in "           \
    "ASTRA-sim; "                                                                                            \
    "network.multi_hop=full charges all ('ccldse help terms': multi-hop)\n"
#define FLAT_RING                                                                                            \
    "collectives of groups smaller than the system run as flat rings, as in ASTRA-sim, not as the card's "   \
    "implementations say ('ccldse help terms': flat ring)\n"

static void assert_printed(const report_traps *t, const char *system, const char *text)
{
    dse_strbuf out;

    dse_strbuf_init(&out);
    dse_strbuf_adds(&out, "");
    report_traps_print(t, system, &out);
    assert_string_equal(out.data, text);
    dse_strbuf_free(&out);
}

CLAIM(points_that_met_a_trap_are_counted)
{
    report_traps t = {0};

    report_traps_add(&t, 5, 0);
    report_traps_add(&t, 0, 7);
    report_traps_add(&t, 1, 0);
    assert_printed(&t, NULL, "note: in 2 of 3 points " MULTI_HOP "note: in 1 of 3 points " FLAT_RING);
}

CLAIM(all_points_are_said_to_be_all)
{
    report_traps t = {0};

    report_traps_add(&t, 0, 1);
    report_traps_add(&t, 0, 2);
    assert_printed(&t, NULL, "note: in all 2 points " FLAT_RING);
    assert_printed(&t, "s", "note: on s, in all 2 points " FLAT_RING);
}

CLAIM(one_point_is_not_counted)
{
    report_traps t = {0};

    report_traps_add(&t, 3, 0);
    assert_printed(&t, NULL, "note: " MULTI_HOP);
}

CLAIM(what_is_not_known_and_what_was_not_met_says_nothing)
{
    report_traps t = {0};

    assert_printed(&t, NULL, "");
    report_traps_add(&t, STORE_ABSENT, STORE_ABSENT);
    report_traps_add(&t, 0, 0);
    assert_printed(&t, NULL, "");
}

/* Of three points one is of an older database: of the two others one has a flat ring. */
CLAIM(points_that_do_not_know_are_not_among_those_that_did_not)
{
    report_traps t = {0};

    report_traps_add(&t, STORE_ABSENT, STORE_ABSENT);
    report_traps_add(&t, 0, 2);
    assert_printed(&t, NULL, "note: in 1 of 1 point (1 more does not say) " FLAT_RING);
    report_traps_add(&t, 0, 0);
    assert_printed(&t, NULL, "note: in 1 of 2 points (1 more does not say) " FLAT_RING);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(points_that_met_a_trap_are_counted),
        cmocka_unit_test(all_points_are_said_to_be_all),
        cmocka_unit_test(one_point_is_not_counted),
        cmocka_unit_test(what_is_not_known_and_what_was_not_met_says_nothing),
        cmocka_unit_test(points_that_do_not_know_are_not_among_those_that_did_not),
    };
    return RUN_TESTS(tests);
}
