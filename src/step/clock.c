#include "step/clock.h"

#include "base/idtable.h"
#include "sim/alone.h"
#include "sim/kernel_time.h"

#include <string.h>

/* What the time of a collective depends on. Compared as bytes. */
typedef struct {
    uint64_t bytes;
    uint32_t type, group, to_next, n_axes;
    uint32_t degree[6], stride[6]; /* of the axes above 1, in the mesh's order */
} key;

typedef struct {
    key key;
    dse_time ticks;
} entry;

struct step_clock {
    const sim_settings *set;
    const net_network *net;
    sim_device device;
    dse_arena scratch;
    dse_idtable table;
    entry *entries;
    size_t n_entries, cap_entries;
};

step_clock *step_clock_new(const sim_settings *set, const net_network *net)
{
    step_clock *c = dse_calloc(1, sizeof *c);

    c->set = set;
    c->net = net;
    c->device = sim_device_of(set);
    dse_arena_init(&c->scratch);
    return c;
}

void step_clock_free(step_clock *c)
{
    if (!c)
        return;
    dse_arena_free(&c->scratch);
    dse_idtable_free(&c->table);
    dse_free(c->entries);
    dse_free(c);
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

static bool same_key(const void *records, uint32_t id, const void *k)
{
    return memcmp(&((const entry *)records)[id].key, k, sizeof(key)) == 0;
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
static dse_status sum_of_ends(step_clock *c, const step_ranks *ranks, const step_collective *what, dse_time *out,
                              dse_error *err)
{
    const mesh_axis *pp = &ranks->mesh.axis[ranks->pipeline];
    uint64_t n_ranks = mesh_size(&ranks->mesh, mesh_all(&ranks->mesh));
    uint32_t n_groups = (uint32_t)(n_ranks / pp->degree), n = 0;
    uint32_t *member = DSE_ARENA_RAW(&c->scratch, uint32_t, 2 * (size_t)n_groups);

    for (uint32_t r = 0; r < n_ranks; r++) {
        if (mesh_coordinate(&ranks->mesh, ranks->pipeline, r))
            continue;
        member[n++] = r;
        member[n++] = r + pp->stride * (pp->degree - 1);
    }
    return sim_alone_groups(c->set, c->net, &(sim_groups){n_groups, 2, member}, what->type, what->in_bytes, &c->scratch,
                            out, err);
}

static dse_status measure(step_clock *c, const step_ranks *ranks, const step_collective *what, dse_time *out,
                          dse_error *err)
{
    dse_arena_reset(&c->scratch);
    if (what->group == STEP_GROUP_EMBEDDING)
        return sum_of_ends(c, ranks, what, out, err);
    return sim_alone_collective(c->set, c->net, &ranks->mesh, ranks->axes[what->group], what->type, what->in_bytes,
                                &c->scratch, out, err);
}

/* The one axis along which neighbours send to each other. */
static uint32_t line_of(const step_ranks *ranks, step_group group)
{
    uint32_t axis = 0;

    while (!mesh_has(ranks->axes[group], axis))
        axis++;
    return axis;
}

dse_status step_clock_collective(step_clock *c, const step_ranks *ranks, const step_collective *what, dse_time *out,
                                 dse_error *err)
{
    dse_idslot *slot;
    uint32_t hash;
    entry e;

    *out = 0;
    if (ranks->size[what->group] == 1 || !what->in_bytes)
        return DSE_OK;
    e.key = key_of(ranks, what);
    hash = (uint32_t)dse_hash_words(&e.key, sizeof e.key);
    dse_idtable_reserve(&c->table);
    slot = dse_idtable_find(&c->table, hash, same_key, c->entries, &e.key);
    if (slot->id != DSE_NONE) {
        *out = c->entries[slot->id].ticks;
        return DSE_OK;
    }
    if (what->to_next) {
        e.ticks = sim_alone_message(c->net, &ranks->mesh, line_of(ranks, what->group), what->in_bytes);
    } else {
        dse_status st = measure(c, ranks, what, &e.ticks, err);

        if (st != DSE_OK)
            return st;
    }
    DSE_GROW(c->entries, c->cap_entries, c->n_entries + 1);
    c->entries[c->n_entries] = e;
    *slot = (dse_idslot){hash, (uint32_t)c->n_entries++};
    c->table.n_used++;
    *out = e.ticks;
    return DSE_OK;
}
