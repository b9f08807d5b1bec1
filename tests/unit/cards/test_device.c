/* Laws of a device's kernels: from the card, from the file, and none. */
#include "cards/device.h"
#include "unit/unit.h"

#include <math.h>

#define OF_CARD                                                                                              \
    "network: {topology: [Ring], npus_count: [4], bandwidth: [50], latency: [1]}\n"                          \
    "collectives: {all: [ring]}\nmemory: {bandwidth: 2039}\n"
#define REST OF_CARD "compute: {peak_perf: 312}\n"

static dse_arena arena;
static dse_error err;
static card_system card;

static dse_status fill(const char *text)
{
    cfg_doc doc;

    dse_arena_init(&arena);
    err = (dse_error)DSE_ERROR_INIT;
    assert_ok(cfg_parse_yaml("s.yaml", text, strlen(text), &arena, &doc, &err), &err);
    if (card_system_read(&doc, NULL, &card, &err) != DSE_OK)
        return err.status;
    return card_system_fill_laws(&card, &(card_tables){.arena = &arena}, &arena, &err);
}

static void done(void) { dse_arena_free(&arena); }

static void configs(const char *folder) { assert_int_equal(setenv("CCLDSE_CONFIGS", folder, 1), 0); }

static void assert_said(const char *expected)
{
    dse_strbuf said;

    dse_strbuf_init(&said);
    card_system_say_laws(&card, &said);
    assert_string_equal(said.data, expected);
    dse_strbuf_free(&said);
}

CLAIM(a_device_fills_what_the_card_leaves_open)
{
    sim_settings set;
    net_network net;

    configs(TEST_SOURCE "/configs");
    assert_ok(fill("device: nvidia_a100\nkernels: {matmul: {flop_factor: 1.5}}\n" REST), &err);
    assert_true(card_system_has_laws(&card));
    assert_double(card.kernels[WL_KERNEL_MATMUL].flop_factor, 1.5);
    assert_double(card.kernels[WL_KERNEL_MATMUL].byte_factor, 0.461); /* the file's */
    assert_double(card.kernels[WL_KERNEL_MATMUL].overhead, 7800);     /* ns */
    assert_double(card.kernels[WL_KERNEL_ATTENTION].half_length, 750);
    assert_said("kernels last as the laws and tables of nvidia_a100 say");
    assert_ok(card_system_build(&card, &net, &set, &err), &err);
    assert_true(set.law[WL_KERNEL_OPTIMIZER].is_given);
    assert_double(set.law[WL_KERNEL_OPTIMIZER].flop_factor, 0); /* absent: no such term */
    assert_false(set.law[WL_KERNEL_OTHER].is_given);
    done();
}

CLAIM(what_was_filled_is_taken_out_again)
{
    configs(TEST_SOURCE "/configs");
    assert_ok(fill("device: nvidia_a100\nkernels: {matmul: {flop_factor: 1.5}}\n" REST), &err);
    card_system_drop_laws(&card);
    assert_double(card.kernels[WL_KERNEL_MATMUL].flop_factor, 1.5);
    assert_true(isnan(card.kernels[WL_KERNEL_MATMUL].byte_factor));
    assert_said("kernels last as the laws of nvidia_a100 say; without one, so by the roofline of the data "
                "sheet: attention, "
                "elementwise, normalisation, lookup, optimizer, attention_backward, attention_product");
    done();
}

CLAIM(without_a_file_there_is_the_roofline)
{
    configs(TEST_SOURCE "/configs");
    assert_ok(fill("device: abacus\n" REST), &err);
    assert_false(card_law_is_given(&card.kernels[WL_KERNEL_MATMUL]));
    assert_said("kernels last as long as the roofline of the data sheet says; real ones take longer "
                "(configs/devices has no "
                "abacus)");
    done();
    assert_ok(fill(REST), &err);
    assert_said("kernels last as long as the roofline of the data sheet says; real ones take longer (the "
                "system names no "
                "device)");
    done();
}

CLAIM(a_card_may_take_the_roofline)
{
    sim_settings set;
    net_network net;

    configs(TEST_SOURCE "/configs");
    assert_ok(fill("device: nvidia_a100\nkernels: {laws: roofline, matmul.flop_factor: 2}\n" REST), &err);
    assert_false(card_system_has_laws(&card));
    assert_false(card_law_is_given(&card.kernels[WL_KERNEL_ATTENTION]));
    assert_ok(card_system_build(&card, &net, &set, &err), &err);
    assert_false(set.law[WL_KERNEL_MATMUL].is_given);
    assert_said(
        "kernels last as long as the roofline of the data sheet says; real ones take longer (kernels.laws is "
        "roofline)");
    done();
}

CLAIM(peaks_of_fewer_bits_follow_the_clock)
{
    cfg_setting setting = {"compute.peak_perf", "500"};
    sim_settings set;
    net_network net;

    configs(TEST_SOURCE "/configs");
    assert_ok(fill("device: nvidia_h100\n" REST),
              &err); /* a slow one: 312 of 989.5, so 312 / 989.5 x 1979 = 624 */
    assert_double(card.peak_fp8, 624);
    assert_true(isnan(card.peak_nvfp4));
    assert_double(card_system_peak(&card, WL_KERNEL_MATMUL_FP8_BLOCK), 624);
    assert_ok(card_system_build(&card, &net, &set, &err), &err);
    assert_double(set.law[WL_KERNEL_MATMUL_FP8].peak_ops_per_s, 624e12);
    assert_true(set.law[WL_KERNEL_MATMUL_FP8].is_given);
    assert_double(set.law[WL_KERNEL_MATMUL_NVFP4].peak_ops_per_s, 0);
    assert_double(set.law[WL_KERNEL_MATMUL].peak_ops_per_s, 0); /* the system's */
    assert_ok(card_system_set(&card, &(cfg_settings){1, &setting}, &err), &err);
    assert_double(card.peak_fp8, 1000);
    card_system_drop_laws(&card);
    assert_true(isnan(card.peak_fp8));
    done();
    assert_ok(fill("device: nvidia_h100\nkernels: {laws: roofline}\n" OF_CARD
                   "compute: {peak_perf: 312, peak_fp8: 700}\n"),
              &err);
    assert_double(card.peak_fp8, 700); /* the card's own */
    done();
    assert_ok(fill("device: nvidia_b200\nkernels: {laws: roofline}\n" REST), &err);
    assert_double(card.peak_nvfp4, 4 * 312);
    assert_ok(card_system_build(&card, &net, &set, &err), &err);
    assert_double(set.law[WL_KERNEL_MATMUL_NVFP4].peak_ops_per_s, 4 * 312e12);
    assert_false(set.law[WL_KERNEL_MATMUL_NVFP4].is_given);
    done();
}

static void assert_lacks(const char *device, const char *expected, bool with_laws)
{
    dse_strbuf text;
    bool has_laws;

    dse_arena_init(&arena);
    dse_strbuf_init(&text);
    err = (dse_error)DSE_ERROR_INIT;
    assert_ok(card_device_lacks(device, &arena, &has_laws, &text, &err), &err);
    assert_string_equal(text.data ? text.data : "", expected);
    assert_int_equal(has_laws, with_laws);
    dse_strbuf_free(&text);
    done();
}

#define NETWORK                                                                                              \
    "network: {topology: [Ring], npus_count: [4], bandwidth: [50], latency: [1]}\ncollectives: {all: "       \
    "[ring]}\n"

/* Figures of AMD's data sheet, as the file derives them. */
CLAIM(a_device_has_the_data_sheet_that_a_card_leaves_open)
{
    configs(TEST_SOURCE "/configs");
    assert_ok(fill("device: amd_mi300x\n" NETWORK), &err);
    assert_double(card.peak_perf, 1307.4);
    assert_double(card.peak_fp8, 2614.9);
    assert_true(isnan(card.peak_nvfp4));
    assert_double(card.memory_bandwidth, 5300);
    assert_double(card.hbm_bytes, 192e9);
    assert_true(cfg_is_given(&card_system_table, &card, "memory.bandwidth"));
    assert_true(cfg_is_given(&card_system_table, &card, "compute.peak_fp8"));
    assert_true(card_system_has_laws(&card));
    assert_said("kernels last as the laws of amd_mi300x say; without one, so by the roofline of the data sheet: attention, "
                "elementwise, normalisation, lookup, optimizer, attention_backward, attention_product, matmul_fp8, "
                "matmul_fp8_block");
    done();
    assert_ok(fill("device: nvidia_v100\n" NETWORK), &err);
    assert_false(card_system_has_laws(&card));
    assert_said(
        "kernels last as long as the roofline of the data sheet says; real ones take longer (no measured "
        "kernels of nvidia_v100 are at hand)");
    done();
    /* A card's own words win, and a peak of its own is one of another clock. */
    assert_ok(fill("device: amd_mi300x\nmemory: {bandwidth: 5000}\ncompute: {peak_perf: 653.7}\n" NETWORK),
              &err);
    assert_double(card.memory_bandwidth, 5000);
    assert_double(card.hbm_bytes, 192e9);
    assert_double(card.peak_fp8, 1307.45);
    assert_false(cfg_is_given(&card_system_table, &card, "compute.peak_fp8"));
    done();
}

CLAIM(a_card_of_an_unknown_device_must_have_its_memory)
{
    cfg_doc doc;
    static const char text[] = "device: abacus\n" NETWORK;

    configs(TEST_SOURCE "/configs");
    dse_arena_init(&arena);
    err = (dse_error)DSE_ERROR_INIT;
    assert_ok(cfg_parse_yaml("s.yaml", text, strlen(text), &arena, &doc, &err), &err);
    assert_failure(
        card_system_read(&doc, NULL, &card, &err), &err, DSE_E_CONFIG, "s.yaml",
        "the system card lacks 'memory.bandwidth' (local memory bandwidth of an NPU; a bare number "
        "counts 10^9 bytes per second)");
    done();
}

CLAIM(a_device_file_says_which_classes_it_has_no_law_for)
{
    configs(TEST_SOURCE "/tests/data/devices");
    assert_lacks("few_laws", "optimizer, matmul_fp8, matmul_fp8_block", true); /* it has no peak of 4 bits */
    assert_lacks("abacus", "", false);
    configs(TEST_SOURCE "/configs");
    assert_lacks("nvidia_a100", "", true);
    assert_lacks("nvidia_b200", "", true);
    assert_lacks("nvidia_v100",
                 "matmul, attention, elementwise, normalisation, lookup, optimizer, attention_backward, "
                 "attention_product",
                 false);
}

CLAIM(a_device_file_has_kernels_alone)
{
    configs(TEST_SOURCE "/tests/data/devices");
    assert_failure(fill("device: with_a_network\n" REST), &err, DSE_E_CONFIG,
                   TEST_SOURCE "/tests/data/devices/devices/with_a_network.yaml",
                   "a device file has source, peaks, memory and kernels; 'network.latency' belongs in the "
                   "system card");
    done();
    assert_failure(
        fill("device: misspelt\n" REST), &err, DSE_E_CONFIG,
        TEST_SOURCE "/tests/data/devices/devices/misspelt.yaml:2:12",
        "unknown key 'kernels.matmul.flops' in a system card; list the keys with 'ccldse systems --keys'");
    done();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_device_fills_what_the_card_leaves_open),
        cmocka_unit_test(what_was_filled_is_taken_out_again),
        cmocka_unit_test(without_a_file_there_is_the_roofline),
        cmocka_unit_test(a_card_may_take_the_roofline),
        cmocka_unit_test(peaks_of_fewer_bits_follow_the_clock),
        cmocka_unit_test(a_device_has_the_data_sheet_that_a_card_leaves_open),
        cmocka_unit_test(a_card_of_an_unknown_device_must_have_its_memory),
        cmocka_unit_test(a_device_file_says_which_classes_it_has_no_law_for),
        cmocka_unit_test(a_device_file_has_kernels_alone),
    };

    return RUN_TESTS(tests);
}
