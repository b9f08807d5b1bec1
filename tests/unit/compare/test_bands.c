/* Bands of a small file of errors; every figure is derived above its check. */
#include "compare/bands.h"
#include "unit/unit.h"

#include <math.h>
#include <string.h>

static dse_arena arena;

static int begin(void **state)
{
    (void)state;
    dse_arena_init(&arena);
    return 0;
}

static int end(void **state)
{
    (void)state;
    dse_arena_free(&arena);
    return 0;
}

static dse_status parse(const char *text, cmp_bands *out, dse_error *err)
{
    return cmp_bands_parse("errors.csv", text, &arena, out, err);
}

#define KIND(table, device, program, framework, size)                                                        \
    table "," device "," program "," framework "," MODEL "," size ",,16,no,"
#define MODEL "4x64"
#define HEAD  CMP_BANDS_COLUMNS "\n"

/* On device a: megatron small 5 runs, megatron large 4, deepspeed large 11; on b one run. */
static const char text[] =
    HEAD KIND("t", "a", "megatron", "Megatron-LM", "below 10e9") "1.1 0.9 1.0 1.2 1.3\n" KIND(
        "t", "a", "megatron", "NeMo",
        "above 100e9") "2 2.1 2.2 2.3\n" KIND("u", "a", "deepspeed", "DeepSpeed",
                                                    "above 100e9") "3 3 3 3 3 3 3 3 3 3 "
                                                                   "3\n" KIND("u", "b", "deepspeed",
                                                                                "DeepSpeed",
                                                                                "above 100e9") "1\n";

static const char *const *kin;

static cmp_band band_of(const char *device, const char *program, double parameters)
{
    const cmp_band_key key = {.device = device, .program = program, .kin = kin, .model = MODEL, .size = cmp_size_of(parameters), .bits = 16};
    cmp_bands b;

    assert_int_equal(parse(text, &b, NULL), DSE_OK);
    assert_int_equal(b.n, 4);
    return cmp_band_of(&b, &key, &arena);
}

CLAIM(runs_of_the_device_the_program_and_the_size_come_first)
{
    cmp_band b = band_of("a", "megatron", 8e9);

    assert_int_equal(b.level, CMP_BAND_ALIKE);
    assert_int_equal(b.runs, 5);
    assert_true(b.is_worst);
    assert_double(b.low, 0.9);
    assert_double(b.high, 1.3);
    assert_string_equal(b.whom, "5 of Megatron-LM");
}

/* Four large ones of Megatron are too few: with the small ones they are 9. */
CLAIM(of_too_few_runs_a_wider_kind_is_taken)
{
    cmp_band b = band_of("a", "megatron", 175e9);

    assert_int_equal(b.level, CMP_BAND_PROGRAM);
    assert_int_equal(b.runs, 9);
    assert_double(b.low, 0.9);
    assert_double(b.high, 2.3);
    assert_string_equal(b.whom, "5 of Megatron-LM, 4 of NeMo");
}

/* Without a program: 15 large ones; a program without runs, and a size without them: all 20. They are of the model, but of
 * programs that the prediction is not of, and of that model alone. */
CLAIM(without_a_program_the_size_counts_and_then_the_device)
{
    cmp_band b = band_of("a", "any", 175e9);

    assert_int_equal(b.level, CMP_BAND_SIZE);
    assert_int_equal(b.runs, 15);
    assert_double(b.low, 2);
    assert_double(b.high, 3);
    assert_string_equal(b.whom, "11 of DeepSpeed, 4 of NeMo");
    b = band_of("a", "torchtitan", 20e9);
    assert_int_equal(b.level, CMP_BAND_DEVICE);
    assert_int_equal(b.runs, 20);
    assert_int_equal(b.models, 1);
    assert_true(b.is_new && b.is_worst);
    assert_true(isnan(cmp_band_share(&b)));
    assert_double(b.low, 0.9);
    assert_double(b.high, 3);
}

/* Ascending 0.9 1.0 ..: the place 0.05 x 19 = 0.95 is 0.9 + 0.95 x 0.1 = 0.995; 0.95 x 19 = 18.05 is 3. */
CLAIM(from_twenty_runs_of_a_known_model_on_a_twentieth_is_left_out_on_either_side)
{
    static const char twenty[] =
        HEAD KIND("t", "a", "p", "f", "below 10e9") "0.9 1 1.1 1.2 1.3 2 2.1 2.2 2.3 3 3 3 3 3 3 3 "
                                                         "3 3 3 3\n";
    const cmp_band_key key = {.device = "a", .program = "p", .model = MODEL, .size = CMP_SIZE_SMALL, .bits = 16};
    cmp_bands of;
    cmp_band b;

    assert_int_equal(parse(twenty, &of, NULL), DSE_OK);
    b = cmp_band_of(&of, &key, &arena);
    assert_int_equal(b.runs, 20);
    assert_false(b.is_new || b.is_worst);
    assert_double(cmp_band_share(&b), 0.9);
    assert_true(fabs(b.low - 0.995) < 1e-12);
    assert_double(b.high, 3);
}

#define OF(program, model, ratios)                                                                           \
    "t,a," program ",f," model ",below 10e9,,16,no," ratios "\n"

/* Models at 1/1.1, 1 and 1.1, without differences within: logarithms -d, 0, d with d = ln 1.1, so s_b = d^2, V = 4/3 d^2 with
 * 2 degrees of freedom: 2.919986 x sqrt(4/3) = 3.371709 times d on either side of 0. The number of their runs is nothing. */
CLAIM(a_new_model_has_the_interval_by_models)
{
    static const char three[] = HEAD OF("p", "1x1", "0.909090909090909") OF("p", "2x2", "1 1 1")
        OF("p", "3x3", "1.1") OF("q", "4x4", "9 9 9 9 9");
    cmp_band_key key = {.device = "a", .program = "p", .model = "9x9", .size = CMP_SIZE_SMALL, .bits = 16};
    const double half = 3.371709 * log(1.1);
    cmp_bands of;
    cmp_band b;

    assert_int_equal(parse(three, &of, NULL), DSE_OK);
    b = cmp_band_of(&of, &key, &arena);
    assert_int_equal(b.level, CMP_BAND_ALIKE);
    assert_int_equal(b.models, 3);
    assert_true(b.is_new && !b.is_worst);
    assert_double(cmp_band_share(&b), 0.9);
    assert_true(fabs(b.low - exp(-half)) < 1e-6);
    assert_true(fabs(b.high - exp(half)) < 1e-6);
    /* Known of its own program, it has the runs; of another's it is as new as others. */
    key.model = "3x3";
    b = cmp_band_of(&of, &key, &arena);
    assert_true(!b.is_new && b.is_worst);
    assert_double(b.high, 1.1);
    key.model = "4x4";
    assert_true(cmp_band_of(&of, &key, &arena).is_new);
}

/* Two of the program's size, four of the device's. */
CLAIM(a_new_model_takes_the_nearest_kind_with_three_others)
{
    static const char four[] = HEAD OF("p", "1x1", "1 1 1") OF("p", "2x2", "2 2 2") OF("q", "3x3", "3")
        OF("q", "4x4", "4");
    cmp_band_key key = {.device = "a", .program = "p", .model = "9x9", .size = CMP_SIZE_LARGE, .bits = 16};
    cmp_bands of;
    cmp_band b;

    assert_int_equal(parse(four, &of, NULL), DSE_OK);
    b = cmp_band_of(&of, &key, &arena);
    assert_int_equal(b.level, CMP_BAND_DEVICE);
    assert_int_equal(b.models, 4);
    /* Without two of them the program's two are the nearest again; of two one in three orders has the next between them. */
    of.n = 2;
    b = cmp_band_of(&of, &key, &arena);
    assert_int_equal(b.level, CMP_BAND_PROGRAM);
    assert_true(b.is_new && b.is_worst);
    assert_double(b.low, 1);
    assert_double(b.high, 2);
    assert_true(fabs(cmp_band_share(&b) - 1.0 / 3) < 1e-12);
}

/* Before a size alone, and after a program's own runs; four large ones of Megatron are too few, and with its small ones enough. */
CLAIM(programs_with_the_same_habits_come_before_others)
{
    static const char *const megatron[] = {"megatron", "bridge", NULL}, *const deepspeed[] = {"deepspeed", NULL},
                             *const none[] = {NULL};
    cmp_band b;

    kin = megatron;
    b = band_of("a", "any", 8e9);
    assert_int_equal(b.level, CMP_BAND_KIN);
    assert_string_equal(b.whom, "5 of Megatron-LM");
    assert_int_equal(band_of("a", "bridge", 8e9).level, CMP_BAND_KIN);
    b = band_of("a", "any", 175e9);
    assert_int_equal(b.level, CMP_BAND_KIN_OF_ANY_SIZE);
    assert_int_equal(b.runs, 9);
    assert_false(b.is_new);
    kin = deepspeed;
    assert_int_equal(band_of("a", "any", 20e9).level, CMP_BAND_KIN_OF_ANY_SIZE);
    kin = none;
    assert_int_equal(band_of("a", "any", 175e9).level, CMP_BAND_SIZE);
    kin = NULL;
}

CLAIM(without_evidence_there_is_no_band)
{
    assert_int_equal(band_of("b", "deepspeed", 175e9).level, CMP_BAND_NONE); /* of one run */
    assert_int_equal(band_of("c", "any", 8e9).level, CMP_BAND_NONE);
    assert_int_equal(band_of("", "any", 8e9).level, CMP_BAND_NONE);
}

/* 1.0004996 of the end of a band was rounded away with three digits: it is the run itself. */
CLAIM(the_run_at_the_end_of_a_band_lies_in_it)
{
    const cmp_band b = {.level = CMP_BAND_ALIKE, .low = 0.333333, .high = 1.00050};

    assert_true(cmp_band_holds(&b, 1, 3));
    assert_true(cmp_band_holds(&b, 1.0004996, 1));
    assert_false(cmp_band_holds(&b, 1.00051, 1));
    assert_false(cmp_band_holds(&b, 0.99999, 3));
}

/* Of 5 small ones of model 4x64 none is of another model, and 15 of others are left for the device. */
CLAIM(runs_of_the_own_model_can_be_left_out)
{
    static const char of_two[] =
        HEAD KIND("t", "a", "megatron", "Megatron-LM", "below 10e9") "1.1 0.9 1.0 1.2 1.3\n"
        "u,a,deepspeed,DeepSpeed,96x128,above 100e9,,16,no,2 2 2 2 3\n";
    cmp_band_key key = {.device = "a", .program = "megatron", .model = MODEL, .size = CMP_SIZE_SMALL, .bits = 16};
    cmp_band band;
    cmp_bands b;

    assert_int_equal(parse(of_two, &b, NULL), DSE_OK);
    assert_int_equal(cmp_band_of(&b, &key, &arena).level, CMP_BAND_ALIKE);
    key.others_only = true;
    band = cmp_band_of(&b, &key, &arena);
    assert_int_equal(band.level, CMP_BAND_DEVICE);
    assert_int_equal(band.runs, 5);
    assert_true(band.others_only);
    assert_double(band.low, 2);
}

/* 8 bits were measured on device a, of whatever else; 4 were not. */
CLAIM(bits_that_were_not_measured_on_the_device_give_no_band)
{
    static const char in_8[] =
        HEAD KIND("t", "a", "megatron", "Megatron-LM", "below 10e9") "1.1 0.9 1.0 1.2 1.3\n"
        "t,a,megatron,NeMo,9x9,above 100e9,,8,no,2\n";
    cmp_band_key key = {.device = "a", .program = "megatron", .model = MODEL, .size = CMP_SIZE_SMALL, .bits = 8};
    cmp_bands b;

    assert_int_equal(parse(in_8, &b, NULL), DSE_OK);
    assert_int_equal(b.of[0].bits, 16);
    assert_int_equal(b.of[1].bits, 8);
    assert_int_equal(cmp_band_of(&b, &key, &arena).level, CMP_BAND_ALIKE);
    key.bits = 4;
    assert_int_equal(cmp_band_of(&b, &key, &arena).level, CMP_BAND_NONE);
}

/* Models with experts err by themselves, and those without by theirs. */
CLAIM(experts_are_evidence_for_experts_alone)
{
    static const char both[] =
        HEAD KIND("t", "a", "megatron", "Megatron-LM", "below 10e9") "1.1 0.9 1.0 1.2 1.3\n"
        "t,a,megatron,NeMo,9x9,below 10e9,,16,yes,2 2 2 2 3\n"
        "t,b,megatron,NeMo,9x9,below 10e9,,16,no,2 2 2 2 3\n";
    cmp_band_key key = {.device = "a", .program = "megatron", .model = MODEL, .size = CMP_SIZE_SMALL, .bits = 16};
    cmp_bands b;

    assert_int_equal(parse(both, &b, NULL), DSE_OK);
    assert_int_equal(cmp_band_of(&b, &key, &arena).runs, 5);
    assert_double(cmp_band_of(&b, &key, &arena).high, 1.3);
    key.has_experts = true;
    assert_double(cmp_band_of(&b, &key, &arena).low, 2);
    assert_double(cmp_band_of(&b, &key, &arena).high, 3);
    key.device = "b";
    assert_int_equal(cmp_band_of(&b, &key, &arena).level, CMP_BAND_NONE);
}
#define LONG(tokens, model, ratios)                                                                          \
    "t,a,p,f," model ",below 10e9," tokens ",16,no," ratios "\n"

static void refuse(const char *file, const char *where, const char *why)
{
    dse_error err = DSE_ERROR_INIT;
    cmp_bands b;

    assert_failure(parse(file, &b, &err), &err, DSE_E_CONFIG, where, why);
}

CLAIM(what_is_wrong_is_named_with_its_place)
{
    refuse("runs:\n", "errors.csv:1",
           "a file of errors begins with its columns, " CMP_BANDS_COLUMNS
           "; 'ccldse validate --errors FILE' writes one, not 'runs:'");
    refuse("", "errors.csv:0",
           "a file of errors begins with its columns, " CMP_BANDS_COLUMNS
           "; 'ccldse validate --errors FILE' writes one, not ''");
    refuse(HEAD "t,a,p\n", "errors.csv:2", "a kind of run has a field for each column, with commas between them, not 'p'");
    refuse("# of today\n\n" HEAD KIND("t", "a", "p", "f", "tiny") "1\n", "errors.csv:4",
           "the size must be 'below 10e9', '10e9 to 100e9' or 'above 100e9', not 'tiny'");
    refuse(HEAD KIND("t", "a", "p", "f", "below 10e9") "0\n", "errors.csv:2", "a ratio must be a number above 0, not '0'");
    refuse(HEAD KIND("t", "a", "p", "f", "below 10e9") "1 1,1\n", "errors.csv:2", "a ratio must be a number above 0, not '1,1'");
    refuse(HEAD KIND("t", "a", "p", "f", "below 10e9") "1 inf\n", "errors.csv:2", "a ratio must be a number above 0, not 'inf'");
    refuse(HEAD LONG("2k", "1x1", "1"), "errors.csv:2", "'sequence' must be a number of tokens above 0, or nothing, not '2k'");
    refuse(HEAD KIND("t", "a", "p", "f", "below 10e9") "\n", "errors.csv:2",
           "the last column has ratios of measured to simulated step times, with blanks between them, not ''");
    refuse(HEAD "t,a,p,f,1x1,below 10e9,,32,no,1\n", "errors.csv:2", "'elements' must be 16, 8 or 4 bits, not '32'");
    refuse(HEAD "t,a,p,f,1x1,below 10e9,,16,,1\n", "errors.csv:2", "'experts' must be yes or no, not ''");
}

/* But for what has no place in it: digits beyond those of a ratio, a comma in a name. */
CLAIM(what_is_written_is_read)
{
    static const char all[] = HEAD "t,a,p,f,1x1,below 10e9,,4,no,0.5 1.12346\n"
                                   "t,a,p,g 2,2x2,above 100e9,8192,8,yes,1e-05 2\n";
    dse_strbuf out = dse_strbuf_in(&arena);
    cmp_bands b;

    assert_int_equal(parse(all, &b, NULL), DSE_OK);
    b.of[0].ratio[1] = 1.12345999999;
    b.of[1].framework = "g,2";
    cmp_bands_write(&b, &out);
    assert_string_equal(out.data, all);
}

/* Models with sequences of 2,048, 32,768 and 524,288 tokens, and a factor of 16: near 32,768 are all of them, near 2,048 all
 * but the last, near 8,388,608 the last alone, near one more none. */
CLAIM(runs_with_other_sequences_count_within_a_factor)
{
    static const char lengths[] = HEAD LONG("2048", "1x1", "1 1 1 1 1")
        LONG("32768", "2x2", "1.1 1.1 1.1 1.1 1.1") LONG("524288", "3x3", "2 2 2 2 2");
    const struct {
        int64_t sequence;
        size_t runs;
    } near[] = {{32768, 15}, {2048, 10}, {8388608, 5}, {8388609, 0}, {128, 5}, {127, 0}, {0, 15}};
    cmp_bands of;

    assert_int_equal(parse(lengths, &of, NULL), DSE_OK);
    assert_int_equal(of.of[2].sequence, 524288);
    for (size_t i = 0; i < sizeof near / sizeof near[0]; i++) {
        const cmp_band_key key = {.device = "a", .program = "p", .model = "9x9", .size = CMP_SIZE_SMALL, .sequence = near[i].sequence, .bits = 16};
        const cmp_band b = cmp_band_of(&of, &key, &arena);

        assert_int_equal(b.level == CMP_BAND_NONE ? 0 : b.runs, near[i].runs);
    }
}

CLAIM(a_run_that_does_not_say_its_sequence_is_near_to_all)
{
    static const char unsaid[] = HEAD OF("p", "1x1", "1 1 1 1 1");
    const cmp_band_key key = {.device = "a", .program = "p", .model = "9x9", .size = CMP_SIZE_SMALL, .sequence = 2048, .bits = 16};
    cmp_bands of;

    assert_int_equal(parse(unsaid, &of, NULL), DSE_OK);
    assert_int_equal(cmp_band_of(&of, &key, &arena).runs, 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_of_the_device_the_program_and_the_size_come_first),
        cmocka_unit_test(of_too_few_runs_a_wider_kind_is_taken),
        cmocka_unit_test(without_a_program_the_size_counts_and_then_the_device),
        cmocka_unit_test(from_twenty_runs_of_a_known_model_on_a_twentieth_is_left_out_on_either_side),
        cmocka_unit_test(a_new_model_has_the_interval_by_models),
        cmocka_unit_test(a_new_model_takes_the_nearest_kind_with_three_others),
        cmocka_unit_test(programs_with_the_same_habits_come_before_others),
        cmocka_unit_test(without_evidence_there_is_no_band),
        cmocka_unit_test(the_run_at_the_end_of_a_band_lies_in_it),
        cmocka_unit_test(runs_of_the_own_model_can_be_left_out),
        cmocka_unit_test(bits_that_were_not_measured_on_the_device_give_no_band),
        cmocka_unit_test(runs_with_other_sequences_count_within_a_factor),
        cmocka_unit_test(a_run_that_does_not_say_its_sequence_is_near_to_all),
        cmocka_unit_test(experts_are_evidence_for_experts_alone),
        cmocka_unit_test(what_is_wrong_is_named_with_its_place),
        cmocka_unit_test(what_is_written_is_read),
    };

    return cmocka_run_group_tests(tests, begin, end);
}
