#include "design/parts.h"
#include "unit/unit.h"

#include <string.h>

/* All sums, one after the other in their order, by trying every value. */
static uint64_t list(uint32_t whole, const design_part *part, uint32_t n, uint32_t *first)
{
    uint32_t value[4];
    uint64_t found = 0;

    for (uint32_t i = 0; i < n; i++)
        value[i] = part[i].low;
    for (;;) {
        uint32_t sum = 0, i = n;

        for (uint32_t k = 0; k < n; k++)
            sum += value[k];
        if (sum == whole && !found++)
            memcpy(first, value, n * sizeof *value);
        while (i && ++value[i - 1] == part[i - 1].high) {
            value[i - 1] = part[i - 1].low;
            i--;
        }
        if (!i)
            return found;
    }
}

/* What ranges become, how many sums they have and which is the first, of all ranges of up to four parts below 5. */
static void sums_are_those_that_trying_finds(void **state)
{
    (void)state;
    for (uint32_t code = 0; code < 10 * 10 * 10 * 10 * 14; code++) {
        static const design_part ranges[] = {{0, 1}, {0, 3}, {0, 5}, {1, 2}, {1, 4}, {1, 5}, {2, 3}, {2, 5}, {3, 4}, {3, 5}};
        const uint32_t whole = code % 14, n = 1 + code % 4;
        design_part part[4];
        uint32_t first[4] = {0}, found[4] = {0}, rest = code / 14;
        uint64_t count;

        for (uint32_t i = 0; i < n; i++, rest /= 10)
            part[i] = ranges[rest % 10];
        count = list(whole, part, n, first);
        assert_true(design_parts_count(whole, part, n) == (double)count);
        assert_int_equal(design_parts_tighten(whole, part, n), count > 0);
        if (!count)
            continue;
        assert_true(design_parts_count(whole, part, n) == (double)count);
        design_parts_first(whole, part, n, found);
        assert_memory_equal(found, first, n * sizeof *found);
        for (uint32_t i = 0; i < n; i++) { /* each end is that of a sum */
            design_part low[4], high[4];

            memcpy(low, part, sizeof low);
            memcpy(high, part, sizeof high);
            low[i].high = low[i].low + 1;
            high[i].low = high[i].high - 1;
            assert_true(list(whole, low, n, found) > 0);
            assert_true(list(whole, high, n, found) > 0);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sums_are_those_that_trying_finds)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
