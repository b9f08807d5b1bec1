/* Algorithms of collectives as Chakra files: the YAML file that maps nodes to them, then, after a line "%%", the trace that
 * each of two ranks runs. Settled twice they have the same hash; two ranks run them. */
#include "driver/custom.h"
#include "fuzz/fuzz.h"
#include "sim/sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RANKS 2

static const char collectives[] =
    "{\"nodes\": ["
    "{\"id\": 1, \"node_type\": \"coll_comm_node\", \"comm_type\": \"ALL_REDUCE\", \"comm_size\": 65536,"
    " \"inputs\": [], \"outputs\": []},"
    "{\"id\": 2, \"node_type\": \"coll_comm_node\", \"comm_type\": \"ALL_GATHER\", \"comm_size\": 4096,"
    " \"inputs\": [], \"outputs\": [], \"data_deps\": [1]}]}";

static char place[RANKS][96];

static void remove_places(void)
{
    for (int i = 0; i < RANKS; i++)
        unlink(place[i]);
}

/* The file by the names of an algorithm's places; the prefix. */
static const char *as_places(const char *path)
{
    static char prefix[72];

    if (*prefix)
        return prefix;
    snprintf(prefix, sizeof prefix, "%s", path);
    atexit(remove_places);
    for (int i = 0; i < RANKS; i++) {
        snprintf(place[i], sizeof place[i], "%s.%d.et", prefix, i);
        ENSURE(!symlink(path, place[i]));
    }
    return prefix;
}

static void run(const card_system *s, dse_arena *a)
{
    uint32_t everybody[RANKS] = {0, 1}, group = 0;
    wl_rank ranks[RANKS] = {{.group = &group}, {.group = &group}};
    wl_group all = {.name = "", .n = RANKS, .rank = everybody};
    wl_workload w = {.n_ranks = RANKS, .n_graphs = 1, .n_groups = 1, .rank = ranks, .group = &all};
    dse_error err = DSE_ERROR_INIT;
    sim_settings settings;
    sim_result result;
    net_network net;
    wl_trace trace;

    ENSURE(fuzz_ok(wl_chakra_parse_json("w", collectives, sizeof collectives - 1, 0, NULL, a, &trace, &err),
                   &err));
    w.graph = &trace.graph;
    fuzz_make_system(0, &net, &settings);
    if (fuzz_ok(drv_custom_load(s, &w, a, &settings, &err), &err))
        fuzz_ok(sim_run(&settings, &net, &w, SIM_ALL_SHORTCUTS, a, &result, NULL, &err), &err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static card_system s;
    dse_error err = DSE_ERROR_INIT;
    dse_arena arena;
    cfg_name hash;
    size_t n = 0, skip;

    if (size > FUZZ_MAX_BYTES)
        return 0;
    while (n < size && !(size - n >= 4 && !memcmp(data + n, "\n%%\n", 4)))
        n++;
    skip = n < size ? n + 4 : size;
    s = (card_system){0};
    snprintf(s.custom[SIM_ALL_REDUCE], sizeof s.custom[0], "%s",
             as_places(fuzz_file(1, data + skip, size - skip)));
    if (n)
        snprintf(s.custom_by_node, sizeof s.custom_by_node, "%s", fuzz_file(0, data, n));
    dse_arena_init(&arena);
    if (fuzz_ok(drv_custom_settle(&s, &err), &err)) {
        memcpy(hash, s.custom_hash, sizeof hash);
        ENSURE(*hash && fuzz_ok(drv_custom_settle(&s, &err), &err) && !strcmp(hash, s.custom_hash));
        run(&s, &arena);
    }
    dse_arena_free(&arena);
    return 0;
}
