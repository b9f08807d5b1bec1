/* The law of a class of kernels: each term by hand. */
#include "sim/kernel_time.h"
#include "unit/unit.h"

#include <math.h>

/* A peak of 100 operations a ns, and 10 bytes a ns. */
static const sim_device device = {.peak_ops_per_s = 100e9, .memory_bytes_per_s = 10e9};

static const wl_kernel kernel = {
    .class = WL_KERNEL_ATTENTION, .extent = {64, 500, 8, 1}, .operations = 200000, .bytes = 3000};

static dse_time ticks(sim_law law)
{
    law.is_given = true;
    return sim_kernel_law(&kernel, &device, &law);
}

CLAIM(the_terms_add_up)
{
    /* 200000 / 100 = 2000 ns of operations, 3000 / 10 = 300 of bytes. */
    assert_u64(ticks((sim_law){.flop_factor = 1}), 2000);
    assert_true(fabs(sim_kernel_law_ns(&kernel, &device, &(sim_law){.byte_factor = 1}) - 300) < 1e-9);
    assert_u64(ticks((sim_law){.flop_factor = 1.25, .byte_factor = 0.5, .overhead_ns = 7.9}), 2500 + 150 + 7);
}

CLAIM(attention_reaches_half_at_the_half_length)
{
    /* 500 keys: 1 + 500 / 500 = 2, and 1 + 250 / 500 = 1.5 times as long as with very many. */
    assert_u64(ticks((sim_law){.flop_factor = 1, .half_length = 500}), 4000);
    assert_u64(ticks((sim_law){.flop_factor = 2, .half_length = 250, .overhead_ns = 1}), 6001);
}

/* 500 elements of 2 bytes are 62.5 times 16 bytes, of 4 bytes 125 times. */
CLAIM(a_product_of_unaligned_rows_is_slower)
{
    const sim_law law = {.is_given = true, .flop_factor = 1, .byte_factor = 1, .unaligned = 8};
    wl_kernel k = kernel;

    k.element_bytes = 2;
    assert_u64(sim_kernel_law(&k, &device, &law), 16300);
    k.element_bytes = 4;
    assert_u64(sim_kernel_law(&k, &device, &law), 2300);
}

CLAIM(the_fixed_cost_of_a_system_comes_on_top)
{
    sim_device slow = device;
    const sim_law law = {.is_given = true, .flop_factor = 1, .overhead_ns = 5};

    slow.overhead_ns = 30;
    assert_u64(sim_kernel_law(&kernel, &slow, &law), 2035);
}

/* 2000 ns at the peak. Of 40,000 bytes 4000 at the bandwidth; the device's fixed cost comes on top once. */
CLAIM(no_law_is_faster_than_the_roofline)
{
    sim_device slow = device;
    wl_kernel k = kernel;
    const sim_law law = {.is_given = true, .flop_factor = 0.5, .byte_factor = 0.5, .overhead_ns = 5};

    assert_u64(sim_kernel_law(&k, &device, &law), 2000);
    k.bytes = 40000;
    slow.overhead_ns = 30;
    assert_u64(sim_kernel_law(&k, &slow, &law), 4030);
    assert_u64(sim_kernel_time(&k, &slow).ticks, 4030);
}

CLAIM(a_type_of_elements_has_its_peak)
{
    const sim_law law = {.is_given = true, .flop_factor = 1, .peak_ops_per_s = 200e9};
    const sim_device own = sim_device_for(&device, &law, 1), same = sim_device_for(&device, &(sim_law){0}, 1);

    assert_u64(sim_kernel_law(&kernel, &own, &law), 1000);
    assert_u64(sim_kernel_time(&kernel, &own).ticks, 1000); /* the roofline: bytes take 300 */
    assert_u64(sim_kernel_time(&kernel, &same).ticks, 2000);
}

CLAIM(products_in_32_bits_have_a_peak_of_their_own)
{
    const sim_law law = {.is_given = true, .flop_factor = 1, .peak32_ops_per_s = 20e9};
    const sim_device half = sim_device_for(&device, &law, 2), whole = sim_device_for(&device, &law, 4);

    assert_u64(sim_kernel_law(&kernel, &half, &law), 2000);
    assert_u64(sim_kernel_law(&kernel, &whole, &law), 10000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_terms_add_up),
        cmocka_unit_test(attention_reaches_half_at_the_half_length),
        cmocka_unit_test(a_product_of_unaligned_rows_is_slower),
        cmocka_unit_test(the_fixed_cost_of_a_system_comes_on_top),
        cmocka_unit_test(no_law_is_faster_than_the_roofline),
        cmocka_unit_test(a_type_of_elements_has_its_peak),
        cmocka_unit_test(products_in_32_bits_have_a_peak_of_their_own),
    };

    return RUN_TESTS(tests);
}
