#include "step/clock.h"

#include "base/hash.h"
#include "sim/alone.h"
#include "sim/kernel_time.h"

#include <string.h>

/* What the time of a collective depends on. Compared as bytes. */
typedef struct {
    uint64_t bytes;
    uint32_t type, group, to_next, n_axes;
    uint32_t degree[6], stride[6]; /* of the axes above 1, in the mesh's order */
} key;

typedef struct entry {
    key key;
    dse_time ticks;
    struct entry *next;
} entry;

#define N_BUCKETS 1024

struct step_clock {
    const sim_settings *set;
    const net_network *net;
    sim_device device;
    dse_arena *arena;
    entry *bucket[N_BUCKETS];
};

step_clock *step_clock_new(const sim_settings *set, const net_network *net, dse_arena *a)
{
    step_clock *c = DSE_ARENA_NEW(a, step_clock, 1);

    c->set = set;
    c->net = net;
    c->device = sim_device_of(set);
    c->arena = a;
    return c;
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
    r.axes[STEP_GROUP_TP] = mesh_only(TP);
    r.axes[STEP_GROUP_CP] = mesh_only(CP);
    r.axes[STEP_GROUP_SHARD] = mesh_only(CP) | mesh_only(SHARD);
    r.axes[STEP_GROUP_REPLICAS] = mesh_only(REPLICA);
    r.axes[STEP_GROUP_PP] = mesh_only(PP);
    r.axes[STEP_GROUP_EMBEDDING] = mesh_only(PP); /* its first and its last rank */
    r.axes[STEP_GROUP_MODEL] = mesh_only(TP) | mesh_only(PP);
    r.axes[STEP_GROUP_WORLD] = mesh_all(&r.mesh);
    for (int g = 0; g < STEP_N_GROUPS; g++)
        r.size[g] = (uint32_t)mesh_size(&r.mesh, r.axes[g]);
    r.size[STEP_GROUP_EMBEDDING] = o->pp > 1 ? 2 : 1;
    return r;
}

dse_time step_clock_kernel(const step_clock *c, const wl_kernel *k)
{
    wl_kernel moving = *k;

    if (!moving.operations) /* the roofline divides by them; a copy lasts as long as its bytes take */
        moving.operations = 1;
    return moving.bytes ? sim_kernel_time(&moving, &c->device).ticks : 0;
}

static key key_of(const step_ranks *ranks, const step_collective *what)
{
    key k;

    memset(&k, 0, sizeof k);
    k.bytes = what->in_bytes;
    k.type = what->type;
    k.group = what->group == STEP_GROUP_EMBEDDING; /* the ends of its axis alone */
    k.to_next = what->to_next;
    for (uint32_t i = 0; i < ranks->mesh.n; i++) {
        if (!mesh_has(ranks->axes[what->group], i) || ranks->mesh.axis[i].degree == 1)
            continue;
        k.degree[k.n_axes] = ranks->mesh.axis[i].degree;
        k.stride[k.n_axes++] = ranks->mesh.axis[i].stride;
    }
    return k;
}

/* The tied embeddings' sum: each rank of the first stage with that of the last. */
static dse_status sum_of_ends(const step_clock *c, const step_ranks *ranks, const step_collective *what, dse_arena *a,
                              dse_time *out, dse_error *err)
{
    const mesh_axis *pp = &ranks->mesh.axis[ranks->pipeline];
    uint64_t n_ranks = mesh_size(&ranks->mesh, mesh_all(&ranks->mesh));
    uint32_t n_groups = (uint32_t)(n_ranks / pp->degree), n = 0;
    uint32_t *member = DSE_ARENA_RAW(a, uint32_t, 2 * (size_t)n_groups);

    for (uint32_t r = 0; r < n_ranks; r++) {
        if (mesh_coordinate(&ranks->mesh, ranks->pipeline, r))
            continue;
        member[n++] = r;
        member[n++] = r + pp->stride * (pp->degree - 1);
    }
    return sim_alone_groups(c->set, c->net, &(sim_groups){n_groups, 2, member}, what->type, what->in_bytes, a, out, err);
}

static dse_status measure(const step_clock *c, const step_ranks *ranks, const step_collective *what, dse_arena *a,
                          dse_time *out, dse_error *err)
{
    if (what->group == STEP_GROUP_EMBEDDING)
        return sum_of_ends(c, ranks, what, a, out, err);
    return sim_alone_collective(c->set, c->net, &ranks->mesh, ranks->axes[what->group], what->type, what->in_bytes, a,
                                out, err);
}

/* The one axis along which neighbours send to each other. */
static uint32_t line_of(const step_ranks *ranks, step_group group)
{
    uint32_t axis = 0;

    while (!mesh_has(ranks->axes[group], axis))
        axis++;
    return axis;
}

dse_status step_clock_collective(step_clock *c, const step_ranks *ranks, const step_collective *what,
                                 dse_arena *scratch, dse_time *out, dse_error *err)
{
    entry **bucket, *e;
    dse_status st = DSE_OK;
    dse_time ticks;
    key k;

    *out = 0;
    if (ranks->size[what->group] == 1 || !what->in_bytes)
        return DSE_OK;
    k = key_of(ranks, what);
    bucket = &c->bucket[dse_hash_words(&k, sizeof k) % N_BUCKETS];
    for (e = *bucket; e; e = e->next) {
        if (memcmp(&e->key, &k, sizeof k))
            continue;
        *out = e->ticks;
        return DSE_OK;
    }
    if (what->to_next)
        ticks = sim_alone_message(c->net, &ranks->mesh, line_of(ranks, what->group), what->in_bytes);
    else
        st = measure(c, ranks, what, scratch, &ticks, err);
    if (st != DSE_OK)
        return st;
    e = DSE_ARENA_RAW(c->arena, entry, 1);
    *e = (entry){k, ticks, *bucket};
    *bucket = e;
    *out = ticks;
    return DSE_OK;
}
