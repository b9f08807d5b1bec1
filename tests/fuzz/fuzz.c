#include "fuzz/fuzz.h"

#include "sim/sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_NODES 300

void fuzz_ensure(bool holds, const char *text, const char *file, int line)
{
    if (holds)
        return;
    fprintf(stderr, "%s:%d: this claim does not hold: %s\n", file, line, text);
    abort();
}

bool fuzz_ok(dse_status st, const dse_error *err)
{
    ENSURE((st == DSE_OK) == (err->status == DSE_OK));
    ENSURE((st == DSE_OK) == !err->text[0]);
    ENSURE(memchr(err->where, '\0', sizeof err->where) && memchr(err->text, '\0', sizeof err->text));
    return st == DSE_OK;
}

char *fuzz_string(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);

    if (!text)
        abort();
    if (size)
        memcpy(text, data, size);
    text[size] = '\0';
    return text;
}

/* ---- a small simulation -------------------------------------------------------------------- */

typedef struct {
    uint32_t n_dims, n; /* of as many NPUs each */
    const char *topology[2];
    const char *implementation[2];
    bool local_bw_aware, roofline, rendezvous, congestion;
    uint32_t queues_per_dim;
    sim_bus_settings bus;
} small_system;

static const small_system systems[] = {
    {.n_dims = 1,
     .n = 2,
     .topology = {"Ring"},
     .implementation = {"ring"},
     .local_bw_aware = true,
     .roofline = true,
     .queues_per_dim = 1},
    {.n_dims = 2,
     .n = 2,
     .topology = {"Switch", "FullyConnected"},
     .implementation = {"halvingDoubling", "direct2"},
     .local_bw_aware = true,
     .roofline = true,
     .queues_per_dim = 2},
    {.n_dims = 2,
     .n = 2,
     .topology = {"Ring", "Ring"},
     .implementation = {"direct", "doubleBinaryTree"},
     .rendezvous = true,
     .queues_per_dim = 3,
     .bus = {true, 3, 2, 4, 0.5, 1}},
    {.n_dims = 1,
     .n = 4,
     .topology = {"Mesh2D"},
     .implementation = {"direct"},
     .local_bw_aware = true,
     .roofline = true,
     .congestion = true,
     .queues_per_dim = 2},
    {.n_dims = 2,
     .n = 2,
     .topology = {"Switch", "Ring"},
     .implementation = {"ring", "direct"},
     .rendezvous = true,
     .congestion = true,
     .queues_per_dim = 1},
};

void fuzz_make_system(size_t which, net_network *net, sim_settings *set)
{
    const small_system *s = &systems[which];
    dse_error err = DSE_ERROR_INIT;

    *net = (net_network){.n_dims = s->n_dims, .congestion = s->congestion};
    *set = (sim_settings){.local_bw_aware = s->local_bw_aware,
                          .splits = 3,
                          .active_chunks = 2,
                          .queues_per_dim = s->queues_per_dim,
                          .endpoint_delay = 10,
                          .bus = s->bus,
                          .roofline = s->roofline,
                          .peak_ops_per_s = 1e12,
                          .memory_bytes_per_s = 1e11,
                          .track_memory = s->roofline,
                          .rendezvous = s->rendezvous,
                          .remote = {SIM_REMOTE_POOL, 5, 2, 1}};
    for (uint32_t d = 0; d < s->n_dims; d++) {
        net->dim[d] = (net_dimension){.topology = net_topology_find(s->topology[d]),
                                      .shape.n = s->n,
                                      .gib_per_s = 50,
                                      .latency_ns = 20};
        for (int c = 0; c < SIM_N_COLLECTIVES; c++) {
            ENSURE(sim_implementation_parse(s->implementation[d], &set->implementations[c].dim[d], &err) ==
                   DSE_OK);
            set->implementations[c].n_dims = d + 1;
        }
    }
    ENSURE(net_network_finish(net, &err) == DSE_OK);
}

/* Groups: all ranks, and each pair of neighbours. */
static void bind(const wl_trace *t, wl_workload *w, dse_arena *a)
{
    w->n_groups = 1 + w->n_ranks / 2;
    w->group = DSE_ARENA_NEW(a, wl_group, w->n_groups);
    w->rank = DSE_ARENA_NEW(a, wl_rank, w->n_ranks);
    for (uint32_t g = 0; g < w->n_groups; g++) {
        w->group[g] = (wl_group){.name = g ? "pair" : "", .n = g ? 2 : w->n_ranks};
        w->group[g].rank = DSE_ARENA_NEW(a, uint32_t, w->group[g].n);
        for (uint32_t i = 0; i < w->group[g].n; i++)
            w->group[g].rank[i] = g ? 2 * (g - 1) + i : i;
    }
    for (uint32_t r = 0; r < w->n_ranks; r++) {
        w->rank[r].group = DSE_ARENA_NEW(a, uint32_t, t->graph.n_group_slots);
        w->rank[r].p2p = DSE_ARENA_NEW(a, wl_p2p, t->graph.n_p2p_slots);
        for (uint32_t i = 0; i < t->graph.n_group_slots; i++)
            w->rank[r].group[i] = *t->group_name[i] ? 1 + r / 2 : 0;
        for (uint32_t i = 0; i < t->graph.n_p2p_slots; i++) {
            w->rank[r].p2p[i] = t->p2p[i];
            if (t->p2p[i].peer < w->n_ranks)
                w->rank[r].p2p[i].peer = t->p2p[i].peer ^ r;
        }
    }
}

void fuzz_simulate(const wl_trace *t, dse_arena *a)
{
    wl_graph graph = t->graph;

    if (graph.n_nodes > MAX_NODES)
        return;
    for (size_t i = 0; i < sizeof systems / sizeof systems[0]; i++) {
        wl_workload w = {.n_graphs = 1, .graph = &graph};
        dse_error err = DSE_ERROR_INIT;
        sim_settings settings;
        net_network net;
        sim_result result;
        trace_ticks record;
        dse_strbuf csv;

        fuzz_make_system(i, &net, &settings);
        w.n_ranks = net.n_npus;
        bind(t, &w, a);
        if (!fuzz_ok(sim_run(&settings, &net, &w, SIM_ALL_SHORTCUTS, a, &result, &record, &err), &err))
            continue;
        ENSURE(!result.load == !net.congestion);
        ENSURE(result.n_ranks == w.n_ranks && record.n == (uint64_t)graph.n_nodes * w.n_ranks);
        dse_strbuf_init(&csv);
        trace_ticks_write_csv(&record, &csv);
        dse_strbuf_free(&csv);
    }
}

static char fuzz_path[2][64];

static void remove_files(void)
{
    for (int i = 0; i < 2; i++)
        if (fuzz_path[i][0])
            unlink(fuzz_path[i]);
}

const char *fuzz_file(unsigned number, const uint8_t *data, size_t size)
{
    FILE *f;

    if (!fuzz_path[0][0] && !fuzz_path[1][0])
        atexit(remove_files);
    snprintf(fuzz_path[number], sizeof fuzz_path[number], "%s/ccldse-fuzz-%ld-%u.json",
             access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm", (long)getpid(), number);
    f = fopen(fuzz_path[number], "wb");
    ENSURE(f);
    ENSURE(fwrite(data, 1, size, f) == size);
    ENSURE(!fclose(f));
    return fuzz_path[number];
}
