/* Small tables: times of kernels by shape, shares of experts (of a model of 8 experts in 4 layers), and a list of what to
 * validate. What is accepted is in its range. */
#include "cards/imbalance.h"
#include "cards/kernel_table.h"
#include "fuzz/fuzz.h"
#include "measured/validate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void check_kernels(const uint8_t *data, size_t size, dse_arena *a)
{
    dse_error err = DSE_ERROR_INIT;
    char *text = fuzz_string(data, size);
    sim_table *table;

    if (fuzz_ok(card_table_parse("k.csv", text, a, &table, &err), &err))
        for (uint64_t m = 1; m < 100000; m = m * 7 + 1) {
            const wl_kernel k = {.extent = {m, 3 * m, 5, 2}};
            const double r = sim_table_ratio(table, &k);

            ENSURE(isfinite(r) && r > 0);
        }
    free(text);
}

/* Its name has to end in .csv. */
static void check_shares(const char *path, dse_arena *a)
{
    card_model m = {.experts = 8, .layers = 4};
    dse_error err = DSE_ERROR_INIT;
    const double *const *share = NULL;
    char name[80];

    snprintf(name, sizeof name, "%s.csv", path);
    ENSURE(!rename(path, name));
    ENSURE(strlen(name) < sizeof m.imbalance);
    strcpy(m.imbalance, name);
    if (fuzz_ok(card_imbalance_read(&m, a, &share, &err), &err))
        for (int l = 0; share && l < 4; l++) {
            double sum = 0, worst;

            for (int e = 0; share[l] && e < 8; e++) {
                ENSURE(share[l][e] >= 0 && share[l][e] <= 1);
                sum += share[l][e];
            }
            if (!share[l])
                continue;
            worst = card_imbalance_of(share[l], 8, 4);
            ENSURE(fabs(sum - 1) < 1e-9 && worst > 0.999 && worst < 4.001);
        }
    ENSURE(!rename(name, path));
}

static void check_list(const char *path, dse_arena *a)
{
    dse_error err = DSE_ERROR_INIT;
    msr_validate_table *table;
    size_t n;

    if (fuzz_ok(msr_validate_list_read(path, a, &table, &n, &err), &err))
        for (size_t i = 0; i < n; i++)
            ENSURE(table[i].title && table[i].measured && table[i].system);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *path;
    dse_arena arena;

    if (size > FUZZ_MAX_BYTES)
        return 0;
    dse_arena_init(&arena);
    check_kernels(data, size, &arena);
    path = fuzz_file(0, data, size);
    check_shares(path, &arena);
    check_list(path, &arena);
    dse_arena_free(&arena);
    return 0;
}
