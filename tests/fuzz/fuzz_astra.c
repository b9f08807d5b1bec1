/* ASTRA-sim's files: system.json, then network.yml, then (optional) remote_memory.json, each after a line
 * "%%". A system that is accepted is written and read again, which must give the same files; a small one
 * runs a workload of every kind of node, with and without congestion. */
#include "cards/remote.h"
#include "cards/system.h"
#include "config/doc.h"
#include "fuzz/fuzz.h"
#include "sim/sim.h"

#include <string.h>

#define MAX_NPUS   8
#define MAX_SPLITS 16

static const char marker[] = "\n%%\n";

static const char workload[] =
    "{\"nodes\": ["
    "{\"id\": 1, \"node_type\": \"comp_node\", \"num_ops\": 4096, \"tensor_size\": 1024, \"inputs\": [],"
    " \"outputs\": []},"
    "{\"id\": 2, \"node_type\": \"coll_comm_node\", \"comm_type\": \"ALL_REDUCE\", \"comm_size\": 65536,"
    " \"inputs\": [], \"outputs\": [], \"data_deps\": [1]},"
    "{\"id\": 3, \"node_type\": \"mem_load_node\", \"tensor_size\": 512, \"inputs\": [], \"outputs\": [],"
    " \"data_deps\": [2]},"
    "{\"id\": 4, \"node_type\": \"coll_comm_node\", \"comm_type\": \"ALL_GATHER\", \"comm_size\": 4096,"
    " \"inputs\": [], \"outputs\": [], \"data_deps\": [1]},"
    "{\"id\": 5, \"node_type\": \"coll_comm_node\", \"comm_type\": \"REDUCE_SCATTER\", \"comm_size\": 4096,"
    " \"inputs\": [], \"outputs\": [], \"data_deps\": [1]},"
    "{\"id\": 6, \"node_type\": \"coll_comm_node\", \"comm_type\": \"ALL_TO_ALL\", \"comm_size\": 4096,"
    " \"inputs\": [], \"outputs\": [], \"data_deps\": [1]}]}";

/* The text up to the next marker; *rest is what follows, or NULL. */
static size_t part(const char *text, size_t n, const char **rest, size_t *n_rest)
{
    *rest = NULL;
    *n_rest = 0;
    for (size_t i = 0; i + sizeof marker - 1 <= n; i++) {
        if (!memcmp(text + i, marker, sizeof marker - 1)) {
            *rest = text + i + sizeof marker - 1;
            *n_rest = n - i - (sizeof marker - 1);
            return i;
        }
    }
    return n;
}

static dse_status read(const char *system, size_t n_system, const char *network, size_t n_network,
                       dse_arena *a, card_system *out, dse_error *err)
{
    cfg_doc system_doc = {0}, network_doc = {0};
    dse_error why = DSE_ERROR_INIT;
    card_system released;
    dse_status st;

    if ((st = cfg_parse_json("system.json", system, n_system, a, &system_doc, err)) != DSE_OK ||
        (st = cfg_parse_yaml("network.yml", network, n_network, a, &network_doc, err)) != DSE_OK)
        return st;
    if (fuzz_ok(card_system_read_released(&system_doc, &network_doc, &released, &why), &why))
        ENSURE(!strcmp(released.backend, "congestion_unaware") && !released.width.n); /* not its keys */
    return card_system_read_astra(&system_doc, &network_doc, out, err);
}

static void write_and_read(const card_system *s, dse_arena *a)
{
    dse_strbuf text[4];
    dse_error err = DSE_ERROR_INIT;
    card_system again;
    dse_status st;

    for (int i = 0; i < 4; i++)
        dse_strbuf_init(&text[i]);
    card_system_write_astra_system(s, &text[0]);
    card_system_write_astra_network(s, &text[1]);
    st = read(text[0].data, text[0].len, text[1].data, text[1].len, a, &again, &err);
    ENSURE(fuzz_ok(st, &err));
    card_system_write_astra_system(&again, &text[2]);
    card_system_write_astra_network(&again, &text[3]);
    ENSURE(!strcmp(text[0].data, text[2].data));
    ENSURE(!strcmp(text[1].data, text[3].data));
    for (int i = 0; i < 4; i++)
        dse_strbuf_free(&text[i]);
}

static void run(net_network *net, sim_settings *set, dse_arena *a)
{
    wl_workload w = {.n_ranks = net->n_npus, .n_graphs = 1, .n_groups = 1};
    uint32_t everybody[MAX_NPUS], group = 0;
    wl_rank ranks[MAX_NPUS];
    wl_group all = {.name = "", .n = net->n_npus, .rank = everybody};
    dse_error err = DSE_ERROR_INIT;
    wl_trace trace;

    if (net->n_npus > MAX_NPUS || set->splits > MAX_SPLITS ||
        !fuzz_ok(wl_chakra_parse_json("w.json", workload, sizeof workload - 1, 0, NULL, a, &trace, &err),
                 &err))
        return;
    for (uint32_t r = 0; r < net->n_npus; r++) {
        everybody[r] = r;
        ranks[r] = (wl_rank){.group = &group};
    }
    w.rank = ranks;
    w.graph = &trace.graph;
    w.group = &all;
    for (uint32_t i = 0; i < 4; i++) {
        sim_result result;

        set->queues_per_dim = i % 2 ? 3 : 1;
        net->congestion = i / 2;
        err = (dse_error)DSE_ERROR_INIT;
        fuzz_ok(sim_run(set, net, &w, SIM_ALL_SHORTCUTS, a, &result, NULL, &err), &err);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *system = (const char *)data, *network, *remote, *rest;
    size_t n_system, n_network, n_remote, n_rest;
    dse_error err = DSE_ERROR_INIT;
    sim_settings settings;
    cfg_doc remote_doc = {0};
    net_network net;
    card_system s;
    dse_arena arena;

    n_system = part(system, size, &network, &n_rest);
    if (!network || size > FUZZ_MAX_BYTES)
        return 0;
    n_network = part(network, n_rest, &remote, &n_remote);
    n_remote = remote ? part(remote, n_remote, &rest, &n_rest) : 0;
    dse_arena_init(&arena);
    if (fuzz_ok(read(system, n_system, network, n_network, &arena, &s, &err), &err)) {
        write_and_read(&s, &arena);
        if (fuzz_ok(card_system_build(&s, &net, &settings, &err), &err) &&
            (!remote ||
             (fuzz_ok(cfg_parse_json("remote.json", remote, n_remote, &arena, &remote_doc, &err), &err) &&
              fuzz_ok(card_remote_read(&remote_doc, &settings.remote, &err), &err))))
            run(&net, &settings, &arena);
    }
    dse_arena_free(&arena);
    return 0;
}
