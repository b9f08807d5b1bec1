#include "step/clock.h"

#include "base/hash.h"
#include "sim/collective_time.h"
#include "sim/kernel_time.h"
#include "sim/sim.h"

#include <string.h>

/* What the time of a collective depends on. Compared as bytes. */
typedef struct {
    uint64_t bytes;
    uint32_t type, size, to_next, n_axes; /* size: ranks of a group, which may be fewer than its axes have */
    uint32_t from, to;                    /* of a transfer: coordinates along its axis */
    uint32_t is_mirrored;                 /* pairs from both ends of the axis */
    uint32_t degree[6], stride[6];        /* of the axes above 1, in the mesh's order */
    uint32_t unused;                      /* else padding, which nobody sets */
} key;

typedef struct entry {
    key key;
    sim_alone time;
    struct entry *next;
} entry;

#define N_BUCKETS 1024

struct step_clock {
    const sim_settings *set;
    const net_network *net;
    sim_device device;
    dse_arena *arena;
    bool is_measured, is_free; /* free: the network takes no time */
    dse_time collective_overhead;
    step_clock *of_links, *without_network; /* NULL: not asked for yet */
    entry *bucket[N_BUCKETS];
};

step_clock *step_clock_new(const sim_settings *set, const net_network *net, dse_arena *a)
{
    step_clock *c = DSE_ARENA_NEW(a, step_clock, 1);

    c->set = set;
    c->net = net;
    c->device = sim_device_of(set);
    c->arena = a;
    c->is_measured = net->is_measured;
    c->collective_overhead = set->collective_overhead;
    return c;
}

step_clock *step_clock_of_links(step_clock *c)
{
    if (!c->is_measured && !c->collective_overhead)
        return c;
    if (!c->of_links) {
        c->of_links = step_clock_new(c->set, c->net, c->arena);
        c->of_links->is_measured = false;
        c->of_links->collective_overhead = 0;
    }
    return c->of_links;
}

step_clock *step_clock_without_network(step_clock *c)
{
    if (!c->without_network) {
        c->without_network = step_clock_new(c->set, c->net, c->arena);
        c->without_network->is_free = true;
    }
    return c->without_network;
}

static void add_experts(const step_options *o, dse_arena *a, step_ranks *r)
{
    enum { ETP, NEAR, FAR, SHARD, REPLICA, PP, N };
    static const char *const name[N] = {"etp", "ep_near", "ep_far", "expert_dp", "expert_replicas", "pp"};
    const uint32_t degree[N] = {[ETP] = step_group_size(o, STEP_GROUP_ETP),
                                [NEAR] = step_group_size(o, STEP_GROUP_EP_NEAR),
                                [FAR] = step_group_size(o, STEP_GROUP_EP_FAR),
                                [SHARD] = step_group_size(o, STEP_GROUP_EXPERT_SHARD),
                                [REPLICA] = step_group_size(o, STEP_GROUP_EXPERT_REPLICAS),
                                [PP] = o->pp};
    mesh_axis *axis = DSE_ARENA_NEW(a, mesh_axis, N);
    uint32_t stride = 1;

    for (uint32_t i = 0; i < N; i++) {
        axis[i] = (mesh_axis){name[i], degree[i], stride};
        stride *= degree[i];
    }
    r->experts = (mesh){N, axis};
    r->axes[STEP_GROUP_ETP] = mesh_only(ETP);
    r->axes[STEP_GROUP_EP_NEAR] = mesh_only(NEAR);
    r->axes[STEP_GROUP_EP_FAR] = mesh_only(FAR);
    r->axes[STEP_GROUP_EP] = mesh_only(NEAR) | mesh_only(FAR);
    r->axes[STEP_GROUP_EP_ETP] = mesh_only(ETP) | mesh_only(NEAR) | mesh_only(FAR);
    r->axes[STEP_GROUP_EXPERT_SHARD] = mesh_only(SHARD);
    r->axes[STEP_GROUP_EXPERT_REPLICAS] = mesh_only(REPLICA);
}

const mesh *step_ranks_mesh(const step_ranks *ranks, step_group group)
{
    return group >= STEP_GROUP_EXPERT_SHARD && group <= STEP_GROUP_EP_ETP ? &ranks->experts : &ranks->mesh;
}

step_ranks step_ranks_of(const step_options *o, dse_arena *a)
{
    enum { TP, CP, SHARD, REPLICA, PP, N };
    const uint32_t degree[N] = {o->tp, o->cp, o->dp / o->replicas, o->replicas, o->pp};
    static const char *const name[N] = {"tp", "cp", "dp", "replicas", "pp"};
    mesh_axis *axis = DSE_ARENA_NEW(a, mesh_axis, N);
    step_ranks r = {.mesh = {N, axis}, .pipeline = PP};
    uint32_t stride = 1;

    for (uint32_t i = 0; i < N; i++) {
        axis[i] = (mesh_axis){name[i], degree[i], stride};
        stride *= degree[i];
    }
    add_experts(o, a, &r);
    r.axes[STEP_GROUP_TP] = mesh_only(TP);
    r.axes[STEP_GROUP_CP] = mesh_only(CP);
    r.axes[STEP_GROUP_SHARD] = mesh_only(CP) | mesh_only(SHARD);
    r.axes[STEP_GROUP_REPLICAS] = mesh_only(REPLICA);
    r.axes[STEP_GROUP_PP] = mesh_only(PP);
    r.axes[STEP_GROUP_EMBEDDING] = mesh_only(PP); /* its first and its last rank */
    r.axes[STEP_GROUP_COPIES] = mesh_only(PP);    /* pairs from its ends to its middle */
    r.axes[STEP_GROUP_MODEL] = mesh_only(TP) | mesh_only(PP);
    r.axes[STEP_GROUP_WORLD] = mesh_all(&r.mesh);
    r.axes[STEP_GROUP_SHARD_NEAR] = r.axes[STEP_GROUP_SHARD];
    for (int g = 0; g < STEP_N_GROUPS; g++)
        r.size[g] = step_group_size(o, (step_group)g);
    return r;
}

dse_time step_clock_kernel(const step_clock *c, const wl_kernel *k)
{
    const sim_law *law = sim_settings_law(c->set, k->class);
    const sim_device device = sim_device_for(&c->device, law, k->element_bytes);
    dse_time ticks;

    if (!k->bytes)
        return 0;
    ticks = law->is_given ? sim_kernel_law(k, &device, law) : sim_kernel_time(k, &device).ticks;
    return step_clock_lags(c) ? dse_ticks((double)ticks * (1 + c->set->kernel_lag)) : ticks;
}

bool step_clock_lags(const step_clock *c) { return c->set->kernel_lag < 0 || c->set->kernel_lag > 0; }

dse_time step_clock_layer_floor(const step_clock *c) { return c->set->layer_floor; }

bool step_clock_has_laws(const step_clock *c)
{
    for (int i = 0; i < WL_N_KERNEL_CLASSES; i++)
        if (c->set->law[i].is_given)
            return true;
    return false;
}

dse_time step_clock_overhead(const step_clock *c) { return c->set->step_overhead; }

uint64_t step_clock_bytes(const step_collective *what)
{
    return what->type == WL_ALL_TO_ALL && what->out_bytes > what->in_bytes ? what->out_bytes : what->in_bytes;
}

static key key_of(const step_ranks *ranks, const step_collective *what)
{
    const mesh *m = step_ranks_mesh(ranks, what->group);
    key k;

    memset(&k, 0, sizeof k);
    k.bytes = step_clock_bytes(what);
    k.type = what->type;
    k.size = ranks->size[what->group];
    k.to_next = what->to_next;
    k.is_mirrored = what->group == STEP_GROUP_COPIES;
    for (uint32_t i = 0; i < m->n; i++) {
        if (!mesh_has(ranks->axes[what->group], i) || m->axis[i].degree == 1)
            continue;
        k.degree[k.n_axes] = m->axis[i].degree;
        k.stride[k.n_axes++] = m->axis[i].stride;
    }
    return k;
}

uint32_t step_ranks_members(const step_ranks *ranks, step_group group, dse_arena *a, uint32_t **out)
{
    const mesh *m = step_ranks_mesh(ranks, group);
    const mesh_axis *pp = &ranks->mesh.axis[ranks->pipeline];
    uint32_t n_ranks = (uint32_t)mesh_size(m, mesh_all(m)), n = ranks->size[group], at = 0;
    uint32_t step = group == STEP_GROUP_EMBEDDING ? pp->degree - 1 : 1; /* over those between the ends */
    /* Neighbours are pieces of the group that shards. */
    uint32_t n_line = group == STEP_GROUP_SHARD_NEAR ? ranks->size[STEP_GROUP_SHARD] : n;
    uint32_t *member = DSE_ARENA_RAW(a, uint32_t, n_ranks);

    for (uint32_t r = 0; r < n_ranks; r++) {
        if (mesh_first(m, ranks->axes[group], r) != r)
            continue;
        for (uint32_t i = 0; group == STEP_GROUP_COPIES && i < pp->degree / 2; i++) {
            member[at++] = mesh_member(m, ranks->axes[group], r, i);
            member[at++] = mesh_member(m, ranks->axes[group], r, pp->degree - 1 - i);
        }
        for (uint32_t i = 0; group != STEP_GROUP_COPIES && i < n_line; i++)
            member[at++] = mesh_member(m, ranks->axes[group], r, i * step);
    }
    *out = member;
    return at / n;
}

static dse_status measure(const step_clock *c, const step_ranks *ranks, const step_collective *what,
                          dse_arena *a, sim_alone *out, dse_error *err)
{
    sim_groups groups = {.n = ranks->size[what->group]};
    uint32_t *member;

    groups.n_groups = step_ranks_members(ranks, what->group, a, &member);
    groups.member = member;
    if (!c->is_measured)
        return sim_alone_groups(c->set, c->net, &groups, what->type, step_clock_bytes(what), a, out, err);
    *out = sim_collective_time(c->net, &groups, what->type, step_clock_bytes(what), a);
    return DSE_OK;
}

static sim_alone measure_messages(const step_clock *c, const sim_pairs *pairs, uint64_t bytes, dse_arena *a)
{
    return c->is_measured ? sim_message_time(c->net, pairs, bytes, a)
                          : sim_alone_messages(c->net, pairs, bytes);
}

/* The one axis along which neighbours send to each other. */
static uint32_t line_of(const step_ranks *ranks, step_group group)
{
    uint32_t axis = 0;

    while (!mesh_has(ranks->axes[group], axis))
        axis++;
    return axis;
}

/* The place in the chain of its bucket that ends it if the key is new. */
static entry **place_of(step_clock *c, const key *k)
{
    entry **e = &c->bucket[dse_hash_words(k, sizeof *k) % N_BUCKETS];

    while (*e && memcmp(&(*e)->key, k, sizeof *k))
        e = &(*e)->next;
    return e;
}

static void keep(step_clock *c, entry **place, const key *k, sim_alone time)
{
    *place = DSE_ARENA_RAW(c->arena, entry, 1);
    **place = (entry){*k, time, NULL};
}

bool step_clock_takes_time(const step_ranks *ranks, const step_collective *what)
{
    return ranks->size[what->group] > 1 && what->in_bytes;
}

dse_status step_clock_collective(step_clock *c, const step_ranks *ranks, const step_collective *what,
                                 dse_arena *scratch, sim_alone *out, dse_error *err)
{
    dse_status st = DSE_OK;
    entry **place;
    key k;

    *out = (sim_alone){.is_even = true};
    if (!step_clock_takes_time(ranks, what))
        return DSE_OK;
    if (c->is_free) {
        out->ticks = c->collective_overhead;
        return DSE_OK;
    }
    k = key_of(ranks, what);
    place = place_of(c, &k);
    if (*place) {
        *out = (*place)->time;
        return DSE_OK;
    }
    if (what->to_next) {
        const sim_pairs pairs = sim_pairs_to_next(&ranks->mesh, line_of(ranks, what->group), scratch);

        *out = measure_messages(c, &pairs, what->in_bytes, scratch);
    } else {
        st = measure(c, ranks, what, scratch, out, err);
    }
    out->ticks += c->collective_overhead;
    if (st == DSE_OK)
        keep(c, place, &k, *out);
    return st;
}

sim_alone step_clock_transfer(step_clock *c, const step_ranks *ranks, uint32_t from, uint32_t to,
                              uint64_t bytes, dse_arena *scratch)
{
    const step_collective what = {.type = STEP_SEND, .group = STEP_GROUP_PP, .in_bytes = bytes};
    entry **place;
    key k;

    if (c->is_free)
        return (sim_alone){.is_even = true};
    k = key_of(ranks, &what);
    k.from = from;
    k.to = to;
    place = place_of(c, &k);
    if (!*place) {
        const sim_pairs pairs = sim_pairs_between(&ranks->mesh, ranks->pipeline, from, to, scratch);

        keep(c, place, &k, measure_messages(c, &pairs, bytes, scratch));
    }
    return (*place)->time;
}

void step_time_by_ticks(sim_settings *set)
{
    set->peak_ops_per_s = STEP_OPERATIONS_PER_S;
    set->kernel_overhead_ns = 0;
}

dse_status step_clock_run(const step_clock *c, const wl_workload *w, dse_arena *a, dse_time *out,
                          dse_error *err)
{
    sim_settings set = *c->set;
    sim_result result;
    dse_status st;

    set.roofline = true;
    set.replay_only = set.track_memory = false;
    step_time_by_ticks(&set);
    set.step_overhead = 0;
    *out = 0;
    if ((st = sim_run(&set, c->net, w, SIM_ALL_SHORTCUTS, a, &result, NULL, err)) == DSE_OK)
        *out = sim_step_time(&result);
    return st;
}
