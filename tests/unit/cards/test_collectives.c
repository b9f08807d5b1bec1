/* Collectives of the machines in configs/systems against NCCL's own times, where the tables lie beside the repository
 * (../shared/kernels, ../shared/measured): all of them that the cards were not made of, too, other sizes and numbers of
 * GPUs, and other sources. */
#include "cards/resize.h"
#include "config/doc.h"
#include "sim/collective_time.h"
#include "unit/unit.h"
#include "workload/graph.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define SYSTEMS TEST_SOURCE "/configs/systems"
#define KERNELS TEST_SOURCE "/../shared/kernels/"

static dse_error err;
static card_system card;
static net_network net;
static dse_arena arena;

static void load(const char *name, uint32_t npus)
{
    char path[512];
    card_system machine;
    sim_settings settings;
    cfg_doc doc;

    snprintf(path, sizeof path, "%s/%s.yaml", SYSTEMS, name);
    err = (dse_error)DSE_ERROR_INIT;
    assert_ok(cfg_load(path, &arena, &doc, &err), &err);
    assert_ok(card_system_read(&doc, NULL, &machine, &err), &err);
    assert_ok(card_system_resize(&machine, npus, &card, &err), &err);
    assert_ok(card_system_build(&card, &net, &settings, &err), &err);
    assert_true(net.is_measured);
}

/* Of a collective that the table's row has; its size as nccl-tests count, of an all-gather the result. */
static double simulated_us(const char *kind, uint32_t n, double bytes)
{
    static const struct {
        const char *name;
        uint32_t type;
    } kinds[] = {{"all_reduce", WL_ALL_REDUCE},
                 {"all_gather", WL_ALL_GATHER},
                 {"reduce_scatter", WL_REDUCE_SCATTER},
                 {"alltoall", WL_ALL_TO_ALL},
                 {"all_to_all", WL_ALL_TO_ALL}};
    uint32_t member[16];
    const sim_groups group = {1, n, member};

    for (uint32_t i = 0; i < n; i++)
        member[i] = i;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (!strcmp(kind, kinds[i].name))
            return (double)sim_collective_time(&net, &group, kinds[i].type,
                                               (uint64_t)(kinds[i].type == WL_ALL_GATHER ? bytes / n : bytes),
                                               &arena)
                       .ticks /
                   1e3;
    return 0;
}

/* Mean error in percent of the rows with so many GPUs, from 1 MiB on; of vidur those of a system, in one node. */
static double mean_error(const char *file, const char *format, const char *system, uint32_t n)
{
    char path[512], line[256], first[64], kind[32];
    FILE *f;
    double sum = 0;
    uint32_t rows = 0;

    snprintf(path, sizeof path, KERNELS "%s", file);
    if (!(f = fopen(path, "r")))
        return 0;
    while (fgets(line, sizeof line, f)) {
        unsigned gpus, node = 0;
        double bytes, us, seen;
        const bool is_vidur = *system != '\0';
        const int got = is_vidur ? sscanf(line, format, first, kind, &gpus, &node, &bytes, &us)
                                 : sscanf(line, format, first, kind, &gpus, &bytes, &us);

        if (got != (is_vidur ? 6 : 5) || gpus != n || bytes < 1 << 20 ||
            (is_vidur && (strcmp(first, system) || node != n || strcmp(kind, "all_reduce"))))
            continue;
        seen = simulated_us(kind, n, bytes);
        assert_true(seen > 0);
        sum += fabs(seen / us - 1);
        rows++;
    }
    fclose(f);
    assert_true(rows > 0);
    return 100 * sum / rows;
}

/* The figures beside the tables in the cards: rows of all versions of NCCL's tables, so that their spread is in it. */
CLAIM(collectives_in_a_node_last_as_long_as_nccls)
{
    static const struct {
        const char *card, *file;
        double pair, node; /* percent */
    } of[] = {{"selene_a100_80gb", "nccl_a100_sxm.csv", 11, 1.5},
              {"hgx_h100", "nccl_h100_sxm.csv", 11, 5},
              {"h200", "nccl_h200_sxm.csv", 12, 3},
              {"hgx_b200", "nccl_b200_sxm.csv", 23, 3}};

    (void)state;
    for (size_t i = 0; i < sizeof of / sizeof of[0]; i++) {
        double pair, node;

        load(of[i].card, 8);
        pair = mean_error(of[i].file, "%63[^,],%*[^,],%31[^,],%u,%lf,%lf", "", 2);
        node = mean_error(of[i].file, "%63[^,],%*[^,],%31[^,],%u,%lf,%lf", "", 8);
        print_message("%s: %.1f %% of 2 GPUs, %.1f %% of 8\n", of[i].card, pair, node);
        assert_true(pair < of[i].pair && node < of[i].node);
    }
}

/* Machines whose tables have one number of GPUs: a tray of GB200 and GB300, a pair of L40S. */
CLAIM(so_do_those_of_a_table_with_one_number_of_gpus)
{
    static const struct {
        const char *card, *file;
        uint32_t npus, n;
        double most; /* percent */
    } of[] = {{"gb200", "nccl_gb200.csv", 64, 4, 3}, {"gb300", "nccl_gb300.csv", 64, 4, 3}, {"l40s", "nccl_l40s.csv", 8, 2, 3}};

    (void)state;
    for (size_t i = 0; i < sizeof of / sizeof of[0]; i++) {
        double error;

        load(of[i].card, of[i].npus);
        error = mean_error(of[i].file, "%63[^,],%*[^,],%31[^,],%u,%lf,%lf", "", of[i].n);
        print_message("%s: %.1f %% of %u GPUs\n", of[i].card, error, of[i].n);
        assert_true(error < of[i].most);
    }
}

/* Another source, other machines; 4 GPUs are in no table that the cards were made of. */
CLAIM(they_last_as_long_as_those_of_another_source)
{
    static const struct {
        const char *card, *system;
        uint32_t n;
        double most;
    } of[] = {{"selene_a100_80gb", "a100_dgx", 4, 20},
              {"selene_a100_80gb", "a100_dgx", 8, 20},
              {"hgx_h100", "h100_dgx", 4, 20},
              {"hgx_h100", "h100_dgx", 8, 20}};

    (void)state;
    for (size_t i = 0; i < sizeof of / sizeof of[0]; i++) {
        double error;

        load(of[i].card, 8);
        error = mean_error("vidur_network.csv", "%63[^,],%31[^,],%u,%u,%lf,%lf", of[i].system, of[i].n);
        print_message("%s, %u GPUs of %s: %.1f %%\n", of[i].card, of[i].n, of[i].system, error);
        assert_true(error < of[i].most);
    }
}

/* A third one, of all-reduces of 2 to 8 A100, 1 MiB to 1 GiB; with what 2 and 8 reach the factor in between is checked. */
CLAIM(so_do_those_of_every_number_of_gpus)
{
    const char *path = TEST_SOURCE "/../shared/measured/vtrain_allreduce_lut.json";
    const cfg_node *rows;
    cfg_doc doc;

    (void)state;
    if (cfg_load(path, &arena, &doc, &err) != DSE_OK)
        return;
    load("selene_a100_80gb", 8);
    rows = cfg_get(doc.root, "rows");
    for (uint32_t i = 0; i < rows->n; i++) {
        const cfg_node *sizes = cfg_get(rows->item[i], "size_bytes");
        const cfg_node *times = cfg_get(rows->item[i], "time_ns_out_of_place");
        const uint32_t n = (uint32_t)atoi(cfg_get(rows->item[i], "n_gpus")->text);
        double sum = 0;

        if (strcmp(cfg_get(rows->item[i], "gpu")->text, "A100"))
            continue;
        for (uint32_t k = 0; k < sizes->n; k++)
            sum += fabs(1e3 * simulated_us("all_reduce", n, atof(sizes->item[k]->text)) /
                            atof(times->item[k]->text) -
                        1);
        print_message("%u GPUs of vTrain's A100: %.1f %%\n", n, 100 * sum / sizes->n);
        assert_true(100 * sum / sizes->n < 10);
    }
}

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(collectives_in_a_node_last_as_long_as_nccls, begin, end),
        cmocka_unit_test_setup_teardown(so_do_those_of_a_table_with_one_number_of_gpus, begin, end),
        cmocka_unit_test_setup_teardown(they_last_as_long_as_those_of_another_source, begin, end),
        cmocka_unit_test_setup_teardown(so_do_those_of_every_number_of_gpus, begin, end),
    };

    return RUN_TESTS(tests);
}
