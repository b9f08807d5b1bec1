/* Random systems, as the text of a card and what only command lines can say. */
#include "shortcuts/draw.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* A byte per ns: 10^9 / 2^30 GiB/s has an exact double. */
#define BYTE_PER_NS "0.931322574615478515625"

#define ADD(c, ...) dse_strbuf_addf(&(c)->text, __VA_ARGS__)

typedef struct {
    const net_topology *topology;
    uint32_t n, extent[NET_MAX_AXES];
} drawn_dimension;

static bool is_power_of_two(uint32_t n) { return !(n & (n - 1)); }

/* ---- dimensions ---------------------------------------------------------------------------- */

static drawn_dimension draw_dimension(rng *r, uint32_t max)
{
    size_t n;
    const net_topology *all = net_topologies(&n);
    drawn_dimension d = {.topology = &all[rng_below(r, (uint32_t)n)], .n = 1};

    for (uint32_t i = 0; i < d.topology->n_axes; i++) {
        d.extent[i] = rng_range(r, 1, max / d.n < 4 ? max / d.n : 4);
        d.n *= d.extent[i];
    }
    if (d.topology->n_axes) {
        if (d.n == 1)
            d.n = d.extent[0] = 2;
        return d;
    }
    d.n = rng_percent(r, 60) ? 2u << rng_below(r, 3) : rng_range(r, 2, 9);
    while (d.n > max || (d.topology->power_of_two && !is_power_of_two(d.n)))
        d.n--;
    return d;
}

static uint32_t draw_dimensions(rng *r, const draw_limits *limits, drawn_dimension dim[4])
{
    uint32_t wanted = rng_range(r, 1, 4), n = 0, left = limits->max_npus;

    for (; n < wanted && left >= 2; n++) {
        dim[n] = draw_dimension(r, left);
        left /= dim[n].n;
    }
    if (limits->full_size) /* the rest as a last dimension */
        for (; left >= 2 && n < 4; left = 1)
            dim[n++] = (drawn_dimension){.topology = net_topology_find("Ring"), .n = left};
    return n;
}

static void write_extents(drawn_case *c, const char *key, const drawn_dimension *dim, uint32_t n,
                          uint32_t axis)
{
    bool any = false;

    for (uint32_t i = 0; i < n; i++)
        any |= axis < dim[i].topology->n_axes;
    if (!any)
        return;
    ADD(c, ", %s: [", key);
    for (uint32_t i = 0; i < n; i++) {
        const char *comma = i ? ", " : "";

        if (axis < dim[i].topology->n_axes)
            ADD(c, "%s%" PRIu32, comma, dim[i].extent[axis]);
        else
            ADD(c, "%snull", comma);
    }
    ADD(c, "]");
}

/* Often the numbers in which durations coincide: a byte per ns, latencies of tens of ns. */
static void write_links(rng *r, drawn_case *c, uint32_t n)
{
    static const char *const bandwidths[] = {"12.5", "50", "100", "37.7", "2000", BYTE_PER_NS};
    static const char *const latencies[] = {"0", "50", "500", "7.5", "20", "1000"};
    static const char *const whole[] = {"0", "10", "20", "100"};

    ADD(c, ", bandwidth: [");
    for (uint32_t i = 0; i < n; i++)
        ADD(c, "%s%s", i ? ", " : "", c->whole ? BYTE_PER_NS : RNG_PICK(r, bandwidths));
    ADD(c, "], latency: [");
    for (uint32_t i = 0; i < n; i++)
        ADD(c, "%s%s", i ? ", " : "", c->whole ? RNG_PICK(r, whole) : RNG_PICK(r, latencies));
    ADD(c, "]");
}

/* ---- collectives --------------------------------------------------------------------------- */

typedef enum { LIST_ALL_REDUCE, LIST_ALL_TO_ALL, LIST_OTHER, N_LISTS } list_kind;

/* What one dimension can do: in one out of twenty something that is refused. */
static const char *draw_implementation(rng *r, list_kind kind, const drawn_dimension *d, bool last)
{
    static const char *const any[] = {"ring", "ring", "direct", "direct1", "direct2", "direct3"};
    bool power = is_power_of_two(d->n), odd = rng_percent(r, 5);

    if (rng_percent(r, 20) && ((power && kind != LIST_ALL_TO_ALL) || odd))
        return "halvingDoubling";
    if (rng_percent(r, 15) && ((power && kind == LIST_ALL_REDUCE && last) || odd))
        return "doubleBinaryTree";
    return RNG_PICK(r, any);
}

static void write_implementations(rng *r, drawn_case *c, const drawn_dimension *dim, uint32_t n)
{
    static const char *const keys[] = {"all_reduce", "all_gather", "reduce_scatter", "all_to_all"};
    static const list_kind kinds[] = {LIST_ALL_REDUCE, LIST_OTHER, LIST_OTHER, LIST_ALL_TO_ALL};
    static const char *const ones[] = {"oneRing", "oneDirect", "oneDirect2", "oneHalvingDoubling"};

    ADD(c, "collectives: {");
    for (int k = 0; k < 4; k++) {
        ADD(c, "%s%s: [", k ? ", " : "", keys[k]);
        if (rng_percent(r, 12))
            ADD(c, "%s", ones[rng_below(r, kinds[k] == LIST_ALL_TO_ALL ? 3 : 4)]);
        else
            for (uint32_t i = 0; i < n; i++)
                ADD(c, "%s%s", i ? ", " : "", draw_implementation(r, kinds[k], &dim[i], i + 1 == n));
        ADD(c, "]");
    }
    ADD(c, "}\n");
}

/* ---- the rest ------------------------------------------------------------------------------ */

static const char *yes_no(rng *r, uint32_t percent) { return rng_percent(r, percent) ? "true" : "false"; }

static void write_rest(rng *r, drawn_case *c, const draw_limits *limits)
{
    static const uint32_t delays[] = {0, 10, 10, 10, 10, 1, 30, 77};
    static const uint32_t splits[] = {1, 1, 2, 3, 4, 6, 10};
    static const char *const peaks[] = {"450", "0.77"}, *const bandwidths[] = {"3000", "123.4"};
    static const char *const kernels[] = {"0", "10", "1000", "37.7"};
    static const char *const whole[] = {"1000", "1"}; /* 1: reducing a packet takes longer than sending it */

    /* 1 TFLOPS: an operation takes a thousandth of a ns; 1 GB/s: a byte takes one. */
    ADD(c, "compute: {peak_perf: %s}\n", c->whole ? "1" : RNG_PICK(r, peaks));
    ADD(c, "memory: {bandwidth: %s}\n", c->whole ? RNG_PICK(r, whole) : RNG_PICK(r, bandwidths));
    if (rng_percent(r, 30))
        ADD(c, "overheads: {per_kernel: %s, per_step: %" PRIu32 "}\n", RNG_PICK(r, kernels),
            rng_range(r, 0, 2) * 1000);
    if (!limits->full_size && rng_percent(r, 7))
        ADD(c, "memory_bus: {shared: true, L: %" PRIu32 ", o: 3, g: 2, G: 0.001}\n", rng_range(r, 0, 9));
    ADD(c, "scheduler: {endpoint_delay: %" PRIu32, RNG_PICK(r, delays));
    ADD(c, ", active_chunks_per_dimension: %" PRIu32, rng_range(r, 1, 5));
    ADD(c, ", preferred_dataset_splits: %" PRIu32, RNG_PICK(r, splits));
    ADD(c, ", collective_optimization: %s", rng_percent(r, 70) ? "localBWAware" : "baseline");
    ADD(c, ", track_local_mem: %s", yes_no(r, 70));
    ADD(c, ", roofline_enabled: %s", yes_no(r, 88));
    ADD(c, ", replay_only: %s}\n", yes_no(r, limits->full_size ? 0 : 3));
    ADD(c, "simulator: {version: %s}\n", rng_percent(r, 30) ? "master" : "stage");
}

/* What ASTRA-sim takes on its command line and in remote_memory.json. */
static void draw_arguments(rng *r, drawn_case *c, const draw_limits *limits)
{
    static const uint32_t queues[] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 3, 4};
    static const sim_remote_kind kinds[] = {SIM_REMOTE_NONE, SIM_REMOTE_PER_NPU, SIM_REMOTE_PER_NPU};
    static const sim_remote_kind shared[] = {SIM_REMOTE_PER_NODE, SIM_REMOTE_POOL};
    sim_remote_memory *m = &c->settings.remote;

    c->settings.queues_per_dim = RNG_PICK(r, queues);
    c->settings.rendezvous = !limits->full_size && rng_percent(r, 7);
    m->kind = rng_percent(r, 12) ? RNG_PICK(r, shared) : RNG_PICK(r, kinds);
    m->latency_ns = rng_range(r, 0, 100);
    m->bytes_per_ns = rng_range(r, 1, 64);
    m->npus_per_node = rng_range(r, 1, 4);
    ADD(c,
        "# queues per dimension %" PRIu32 "%s, remote memory %d (%" PRIu64 " ns, %" PRIu64 " B/ns, %" PRIu32
        " a node)\n",
        c->settings.queues_per_dim, c->settings.rendezvous ? ", rendezvous" : "", (int)m->kind, m->latency_ns,
        m->bytes_per_ns, m->npus_per_node);
}

dse_status draw_system(rng *r, const draw_limits *limits, dse_arena *a, drawn_case *c, dse_error *err)
{
    drawn_dimension dim[4];
    uint32_t n = draw_dimensions(r, limits, dim);
    cfg_doc doc;
    dse_status st;

    c->whole = rng_percent(r, 35);
    ADD(c, "network: {topology: [");
    for (uint32_t i = 0; i < n; i++)
        ADD(c, "%s%s", i ? ", " : "", dim[i].topology->name);
    ADD(c, "], npus_count: [");
    for (uint32_t i = 0; i < n; i++)
        ADD(c, "%s%" PRIu32, i ? ", " : "", dim[i].n);
    ADD(c, "]");
    for (uint32_t axis = 0; axis < NET_MAX_AXES; axis++)
        write_extents(c, net_axis_name(axis), dim, n, axis);
    write_links(r, c, n);
    if (!limits->full_size && rng_percent(r, 8))
        ADD(c, ", backend: congestion_aware");
    ADD(c, ", multi_hop: %s}\n", rng_percent(r, 15) ? "full" : "lowest");
    write_implementations(r, c, dim, n);
    write_rest(r, c, limits);
    st = cfg_parse_yaml("drawn", c->text.data, c->text.len, a, &doc, err);
    if (st == DSE_OK)
        st = card_system_read(&doc, NULL, &c->card, err);
    if (st == DSE_OK)
        st = card_system_build(&c->card, &c->net, &c->settings, err);
    if (st == DSE_OK)
        draw_arguments(r, c, limits);
    return st;
}
