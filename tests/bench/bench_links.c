/* How fast links are: messages on networks that fill up, one core.
 *
 * usage: bench_links [-u PROGRAM] [WORD...]     only the cases with one of the words in their names
 *
 * First the network alone: every NPU keeps a few messages under way to others at random, until so many have
 * arrived. A hop is a message over a link, and two events: the arrival at the other end, and the release of the
 * link. Then collectives over all NPUs in the simulator, with what each message needs besides: matching, the
 * endpoint, queues. With -u, a congestion-aware ASTRA-sim of your own runs the same files as `ccldse astrasim`,
 * which stands beside this program, one after the other: CPU seconds of both and the ratio. */
#include "base/fs.h"
#include "bench/measure.h"
#include "cards/system.h"
#include "sim/sim.h"
#include "workload/chakra.h"

#include <inttypes.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define UNDER_WAY     4 /* messages of an NPU at a time */
#define MESSAGE_BYTES 262144
#define MEGABYTE      1048576.0

static const struct {
    const char *name, *network;
    uint64_t messages;
} traffic_cases[] = {
    {"Switch 64", "topology: Switch, npus_count: 64, bandwidth: 50, latency: 500", 4000000},
    {"Ring 64", "topology: Ring, npus_count: 64, bandwidth: 50, latency: 500", 1000000},
    {"Mesh2D 32x32", "topology: Mesh2D, npus_count: 1024, bandwidth: 50, latency: 500", 1000000},
    {"Torus3D 16x16x16", "topology: Torus3D, npus_count: 4096, bandwidth: 50, latency: 500", 1000000},
    {"Mesh2D 8x8, Switch 16",
     "topology: [Mesh2D, Switch], npus_count: [64, 16], bandwidth: [50, 12.5], latency: [20, 500]", 2000000},
};

typedef struct {
    const char *name, *network, *algorithm;
    wl_coll_type collective;
    uint64_t bytes;
} coll_case;

#define GRID "npus_count: 1024, bandwidth: 50, latency: 500"

static const coll_case coll_cases[] = {
    {"all-reduce, Mesh2D 32x32", "topology: Mesh2D, " GRID, "ring", WL_ALL_REDUCE, 1u << 30},
    {"all-reduce, Torus2D 32x32", "topology: Torus2D, " GRID, "ring", WL_ALL_REDUCE, 1u << 30},
    {"all-to-all, Mesh2D 32x32", "topology: Mesh2D, " GRID, "direct", WL_ALL_TO_ALL, 1u << 30},
};

/* What ASTRA-sim can run as well. */
static const coll_case compared_cases[] = {
    {"all-reduce, Ring 64", "topology: Ring, npus_count: 64, bandwidth: 50, latency: 500", "ring",
     WL_ALL_REDUCE, 1u << 28},
    {"all-to-all, Ring 32", "topology: Ring, npus_count: 32, bandwidth: 50, latency: 500", "direct",
     WL_ALL_TO_ALL, 1u << 28},
    {"all-to-all, Ring 128", "topology: Ring, npus_count: 128, bandwidth: 50, latency: 500", "direct",
     WL_ALL_TO_ALL, 1u << 28},
    {"all-reduce, Ring 256", "topology: Ring, npus_count: 256, bandwidth: 50, latency: 500", "ring",
     WL_ALL_REDUCE, 1u << 28},
    {"all-to-all, Switch 64", "topology: Switch, npus_count: 64, bandwidth: 50, latency: 500", "direct",
     WL_ALL_TO_ALL, 1u << 28},
};

static int n_words;
static char **words;

static bool is_wanted(const char *name)
{
    for (int i = 0; i < n_words; i++)
        if (strstr(name, words[i]))
            return true;
    return !n_words;
}

static double peak_megabytes(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_maxrss * 1024 / MEGABYTE;
}

static dse_status load(const char *network, const char *algorithm, dse_arena *a, card_system *out,
                       dse_error *err)
{
    char *text = dse_arena_printf(a,
                                  "network: {%s, backend: congestion_aware}\ncollectives: {all: [%s]}\n"
                                  "memory: {bandwidth: 3000}\ncompute: {peak_perf: 450}\n",
                                  network, algorithm);
    cfg_doc doc;
    dse_status st = cfg_parse_yaml("bench", text, strlen(text), a, &doc, err);

    return st == DSE_OK ? card_system_read(&doc, NULL, out, err) : st;
}

/* ---- the network alone --------------------------------------------------------------------- */

static uint32_t next_random(uint64_t *state, uint32_t n)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((*state >> 33) % n);
}

/* From an NPU to any other. */
static dse_status send_one(net_traffic *t, dse_time now, uint32_t src, uint64_t *state, dse_error *err)
{
    uint32_t n = t->graph->net->n_npus, dst = (src + 1 + next_random(state, n - 1)) % n;

    return net_traffic_send(t, now, src, dst, MESSAGE_BYTES, src, err);
}

static dse_status run_traffic(net_traffic *t, dse_queue *q, uint64_t messages, dse_error *err)
{
    uint64_t state = 1, sent = 0;
    uint32_t npus = t->graph->net->n_npus, owner;
    dse_status st = DSE_OK;
    dse_event ev;
    dse_time now;

    for (; st == DSE_OK && sent < (uint64_t)npus * UNDER_WAY; sent++)
        st = send_one(t, 0, (uint32_t)(sent % npus), &state, err);
    while (st == DSE_OK && dse_queue_take(q, &now, &ev)) {
        if (ev.kind == NET_EV_LINK_FREE) {
            st = net_traffic_free_link(t, now, ev.subject, err);
            continue;
        }
        st = net_traffic_hop(t, now, ev.subject, &owner, err);
        if (st == DSE_OK && owner != DSE_NONE && sent++ < messages)
            st = send_one(t, now, owner, &state, err);
    }
    return st;
}

static dse_status measure_traffic(const char *name, const char *network, uint64_t messages, dse_arena *a,
                                  dse_error *err)
{
    card_system system;
    net_network net;
    net_graph graph;
    net_traffic t;
    dse_queue q;
    double start, seconds;
    dse_status st;

    dse_queue_init(&q);
    if ((st = load(network, "oneRing", a, &system, err)) != DSE_OK ||
        (st = card_network_build(&system, NULL, &net, err)) != DSE_OK ||
        (st = net_graph_init(&graph, &net, a, err)) != DSE_OK)
        return st;
    net_traffic_init(&t, &graph, &q, a);
    start = cpu_seconds();
    st = run_traffic(&t, &q, messages, err);
    seconds = cpu_seconds() - start;
    printf("%-28s %8.2f M %8.2f M %8.3f s %9.2f M/s %9.2f M/s %8.1f MB\n", name, (double)messages * 1e-6,
           (double)t.n_hops * 1e-6, seconds, (double)t.n_hops * 1e-6 / seconds,
           (double)q.n_events * 1e-6 / seconds, peak_megabytes());
    net_traffic_free(&t);
    dse_queue_free(&q);
    return st;
}

/* ---- collectives --------------------------------------------------------------------------- */

/* One collective over all NPUs, on every rank. */
static dse_status make_workload(const coll_case *c, uint32_t npus, dse_arena *a, wl_workload *w,
                                dse_error *err)
{
    static const uint64_t id = 1;
    uint32_t *slot_group = DSE_ARENA_NEW(a, uint32_t, 1), *everybody = DSE_ARENA_NEW(a, uint32_t, npus);
    wl_graph *g = DSE_ARENA_NEW(a, wl_graph, 1);
    wl_node *node = DSE_ARENA_NEW(a, wl_node, 1);
    wl_csr none = {DSE_ARENA_NEW(a, uint32_t, 2), NULL};
    wl_io_csr no_io = {DSE_ARENA_NEW(a, uint32_t, 2), NULL};

    *w = (wl_workload){.n_ranks = npus, .n_graphs = 1, .graph = g, .n_groups = 2};
    w->group = DSE_ARENA_NEW(a, wl_group, 2);
    w->rank = DSE_ARENA_NEW(a, wl_rank, npus);
    *node = (wl_node){.name = "collective",
                      .type = WL_NODE_COLL,
                      .id = id,
                      .coll = (uint8_t)c->collective,
                      .comm_size = c->bytes,
                      .has_io = true,
                      .layer = DSE_NONE};
    *g = (wl_graph){.n_nodes = 1,
                    .node = node,
                    .data_deps = none,
                    .ctrl_deps = none,
                    .inputs = no_io,
                    .outputs = no_io,
                    .n_group_slots = 1};
    slot_group[0] = 1;
    w->group[0] = (wl_group){"", npus, everybody};
    w->group[1] = (wl_group){"1", npus, everybody};
    for (uint32_t r = 0; r < npus; r++) {
        everybody[r] = r;
        w->rank[r] = (wl_rank){.group = slot_group};
    }
    return wl_graph_finish(g, &id, "bench", a, err);
}

static dse_status prepare(const coll_case *c, dse_arena *a, card_system *system, net_network *net,
                          sim_settings *settings, wl_workload *w, dse_error *err)
{
    dse_status st;

    if ((st = load(c->network, c->algorithm, a, system, err)) != DSE_OK ||
        (st = card_system_build(system, net, settings, err)) != DSE_OK)
        return st;
    return make_workload(c, net->n_npus, a, w, err);
}

static dse_status measure_collective(const coll_case *c, dse_arena *a, dse_error *err)
{
    sim_settings settings;
    card_system system;
    net_network net;
    sim_result r;
    wl_workload w;
    double start, seconds, hops = 0;
    dse_status st = prepare(c, a, &system, &net, &settings, &w, err);

    if (st != DSE_OK)
        return st;
    start = cpu_seconds();
    st = sim_run(&settings, &net, &w, SIM_ALL_SHORTCUTS, a, &r, NULL, err);
    seconds = cpu_seconds() - start;
    for (uint32_t i = 0; st == DSE_OK && i < net.n_dims; i++)
        hops += (double)r.load->dim[i].n_messages;
    if (st == DSE_OK)
        printf("%-28s %8.2f M %8.2f M %8.3f s %9.2f M/s %9.2f M/s %8.1f MB\n", c->name,
               (double)r.n_messages * 1e-6, hops * 1e-6, seconds, hops * 1e-6 / seconds,
               (double)r.n_events * 1e-6 / seconds, peak_megabytes());
    return st;
}

/* ---- beside ASTRA-sim ---------------------------------------------------------------------- */

static double children_seconds(void)
{
    struct rusage usage;

    getrusage(RUSAGE_CHILDREN, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

/* CPU seconds of a program on the files in this folder; its output goes nowhere. Negative: it failed. */
static double run_program(const char *program, bool ours)
{
    char *argv[] = {(char *)(uintptr_t)program,
                    "astrasim",
                    "--backend=congestion_aware",
                    "--workload-configuration=w",
                    "--comm-group-configuration=groups.json",
                    "--system-configuration=system.json",
                    "--network-configuration=network.yml",
                    "--remote-memory-configuration=remote_memory.json",
                    NULL};
    double before = children_seconds();
    int status;
    pid_t pid;

    if (!ours) /* without the first two arguments */
        argv[2] = argv[0];
    fflush(stdout);
    pid = fork();
    if (pid == 0) {
        if (freopen("/dev/null", "w", stdout))
            execv(program, ours ? argv : argv + 2);
        _exit(127);
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status))
        return -1;
    return children_seconds() - before;
}

static dse_status write_text(const char *path, dse_strbuf *text, dse_error *err)
{
    dse_status st = dse_write_text(path, text, err);

    dse_strbuf_free(text);
    return st;
}

static dse_status write_files(const coll_case *c, dse_arena *a, dse_error *err)
{
    sim_settings settings;
    card_system system;
    net_network net;
    wl_workload w;
    dse_strbuf text[4];
    static const char *const names[] = {"system.json", "network.yml", "groups.json", "remote_memory.json"};
    dse_status st = prepare(c, a, &system, &net, &settings, &w, err);

    for (int i = 0; i < 4; i++)
        dse_strbuf_init(&text[i]);
    if (st == DSE_OK) {
        card_system_write_astra_system(&system, &text[0]);
        card_system_write_astra_network(&system, &text[1]);
        wl_groups_write(&w, &text[2]);
        dse_strbuf_adds(&text[3], "{\"memory-type\": \"NO_MEMORY_EXPANSION\"}\n");
        st = wl_chakra_write_files(&w, &wl_schema_v004, "w.%d.et", err);
    }
    for (int i = 0; i < 4; i++)
        st = st == DSE_OK ? write_text(names[i], &text[i], err) : (dse_strbuf_free(&text[i]), st);
    return st;
}

static dse_status compare(const coll_case *c, const char *upstream, const char *ours, dse_arena *a,
                          dse_error *err)
{
    dse_status st = write_files(c, a, err);
    double theirs, own;

    if (st != DSE_OK)
        return st;
    theirs = run_program(upstream, false);
    own = run_program(ours, true);
    if (theirs < 0 || own < 0)
        return dse_fail(err, DSE_E_CHILD, "%s failed on '%s'", theirs < 0 ? upstream : ours, c->name);
    printf("%-28s %8.3f s %8.3f s %8.0f x\n", c->name, theirs, own, theirs / own);
    return DSE_OK;
}

/* In a folder of its own, which is left for a look. */
static dse_status compare_all(const char *self, const char *upstream, dse_arena *a, dse_error *err)
{
    char folder[] = "/tmp/bench_links.XXXXXX", program[4096], theirs[4096], path[4096];
    dse_status st = DSE_OK;

    if (!realpath(self, path) || !realpath(upstream, theirs) || !mkdtemp(folder) || chdir(folder))
        return dse_fail_errno(err, DSE_E_IO, "cannot find %s, or make a folder", upstream);
    snprintf(program, sizeof program, "%s/ccldse", dirname(path));
    printf("\n%-28s %10s %10s %10s   in %s\n", "beside ASTRA-sim, CPU time", "theirs", "ccldse", "ratio",
           folder);
    for (size_t i = 0; st == DSE_OK && i < sizeof compared_cases / sizeof compared_cases[0]; i++) {
        dse_arena_reset(a);
        if (is_wanted(compared_cases[i].name))
            st = compare(&compared_cases[i], theirs, program, a, err);
        fflush(stdout);
    }
    return st;
}

static void heading(const char *what)
{
    printf("%-28s %10s %10s %10s %13s %13s %11s\n", what, "messages", "hops", "CPU time", "hops", "events",
           "peak");
}

int main(int argc, char **argv)
{
    const char *upstream = NULL;
    dse_error err = DSE_ERROR_INIT;
    dse_status st = DSE_OK;
    dse_arena arena;
    int opt;

    while ((opt = getopt(argc, argv, "u:")) != -1) {
        if (opt != 'u') {
            fprintf(stderr, "usage: bench_links [-u PROGRAM] [WORD...]\n");
            return 2;
        }
        upstream = optarg;
    }
    words = argv + optind;
    n_words = argc - optind;
    dse_arena_init(&arena);
    heading("network alone");
    for (size_t i = 0; st == DSE_OK && i < sizeof traffic_cases / sizeof traffic_cases[0]; i++) {
        dse_arena_reset(&arena);
        if (is_wanted(traffic_cases[i].name))
            st = measure_traffic(traffic_cases[i].name, traffic_cases[i].network, traffic_cases[i].messages,
                                 &arena, &err);
        fflush(stdout);
    }
    printf("\n");
    heading("simulator");
    for (size_t i = 0; st == DSE_OK && i < sizeof coll_cases / sizeof coll_cases[0]; i++) {
        dse_arena_reset(&arena);
        if (is_wanted(coll_cases[i].name))
            st = measure_collective(&coll_cases[i], &arena, &err);
        fflush(stdout);
    }
    if (st == DSE_OK && upstream)
        st = compare_all(argv[0], upstream, &arena, &err);
    dse_arena_free(&arena);
    if (st != DSE_OK)
        fprintf(stderr, "bench_links: %s%s%s\n", err.where, *err.where ? ": " : "", err.text);
    return st == DSE_OK ? 0 : 1;
}
