#include "driver/custom.h"

#include "base/fs.h"
#include "base/hash.h"
#include "base/units.h"
#include "sim/collective.h"
#include "workload/chakra.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define MAX_FILE_BYTES ((size_t)256 << 20)

/* An algorithm, and for how many places of a group it is needed. */
typedef struct {
    sim_custom custom;
    uint32_t n_places;
} algorithm;

typedef struct {
    algorithm **item; /* they stay where they are */
    size_t n, cap;
    dse_arena *arena;
} algorithms;

static algorithm *find(algorithms *all, const char *prefix)
{
    for (size_t i = 0; i < all->n; i++)
        if (!strcmp(all->item[i]->custom.prefix, prefix))
            return all->item[i];
    DSE_ARENA_GROW(all->arena, all->item, all->cap, all->n + 1);
    all->item[all->n] = DSE_ARENA_NEW(all->arena, algorithm, 1);
    all->item[all->n]->custom.prefix = prefix;
    return all->item[all->n++];
}

/* The YAML file that maps ids of nodes to prefixes. */
static dse_status read_nodes(const char *path, algorithms *all, sim_customs *out, dse_error *err)
{
    cfg_doc doc;
    dse_status st = cfg_load(path, all->arena, &doc, err);

    if (st != DSE_OK)
        return st;
    if (doc.root->kind != CFG_MAP)
        return dse_fail_at(err, DSE_E_CONFIG, path,
                           "the file must map ids of nodes to prefixes of Chakra files");
    out->n_nodes = doc.root->n;
    out->node = DSE_ARENA_NEW(all->arena, struct sim_custom_node, doc.root->n);
    for (uint32_t i = 0; i < doc.root->n; i++) {
        const cfg_node *prefix = doc.root->item[i];
        int64_t id;

        if ((st = cfg_int(&doc, doc.root->key[i], "the id of a node", INT32_MIN, INT32_MAX, &id, err)) !=
            DSE_OK)
            return st;
        if (prefix->kind != CFG_SCALAR || !*prefix->text)
            return cfg_fail(err, &doc, prefix, "a prefix of Chakra files is expected here");
        out->node[i] = (struct sim_custom_node){(int32_t)id, &find(all, prefix->text)->custom};
    }
    return DSE_OK;
}

/* Counts the places of the algorithms that the rank's collectives run. */
static void count_places(const wl_workload *w, uint32_t rank, const sim_customs *c, algorithms *all)
{
    const wl_graph *g = wl_rank_graph(w, rank);

    for (uint32_t i = 0; i < g->n_nodes; i++) {
        const wl_node *n = &g->node[i];
        const uint32_t places = n->slot == DSE_NONE ? w->n_ranks : w->group[w->rank[rank].group[n->slot]].n;
        const sim_custom *custom;
        sim_collective coll;
        algorithm *a;

        if (n->type != WL_NODE_COLL || !sim_collective_of(n->coll, &coll) ||
            !(custom = sim_custom_choose(c, wl_node_id(w, rank, i), coll)))
            continue;
        a = find(all, custom->prefix);
        a->n_places = places > a->n_places ? places : a->n_places;
    }
}

/* ---- their contents -------------------------------------------------------------------------- */

/* Adds a file's text to a hash. */
static dse_status add_file(const char *path, uint64_t *hash, dse_arena *a, dse_error *err)
{
    dse_strbuf text = dse_strbuf_in(a);
    dse_status st = dse_read_file(path, MAX_FILE_BYTES, &text, err);

    if (st == DSE_OK)
        *hash = dse_hash_u64(*hash ^ dse_hash_bytes(text.data, text.len));
    return st;
}

/* Of all places, as a later workload may have groups of any size. */
static dse_status add_places(const char *prefix, uint64_t *hash, dse_arena *a, dse_error *err)
{
    uint32_t place = 0;

    for (;;) {
        const char *path = dse_arena_printf(a, "%s.%" PRIu32 ".et", prefix, place);
        dse_status st;

        if (!dse_is_file(path))
            break;
        if ((st = add_file(path, hash, a, err)) != DSE_OK)
            return st;
        place++;
    }
    *hash = dse_hash_u64(*hash ^ place);
    return DSE_OK;
}

dse_status drv_custom_settle(card_system *s, dse_error *err)
{
    const bool is_stored = cfg_is_given(&card_system_table, s, "collectives.custom_hash");
    cfg_name hash = "";
    uint64_t sum = 1;
    sim_customs customs = {0};
    algorithms all = {0};
    dse_arena a;
    dse_status st = DSE_OK;

    if (!card_system_has_custom(s) && !is_stored) {
        *s->custom_hash = '\0';
        return DSE_OK;
    }
    dse_arena_init(&a);
    all.arena = &a;
    for (int i = 0; i < SIM_N_COLLECTIVES; i++)
        if (*s->custom[i])
            find(&all, s->custom[i]);
    if (*s->custom_by_node && dse_is_file(s->custom_by_node) &&
        (st = read_nodes(s->custom_by_node, &all, &customs, err)) == DSE_OK)
        st = add_file(s->custom_by_node, &sum, &a, err);
    for (size_t i = 0; st == DSE_OK && i < all.n; i++)
        st = add_places(all.item[i]->custom.prefix, &sum, &a, err);
    dse_arena_free(&a);
    if (st != DSE_OK)
        return st;
    snprintf(hash, sizeof hash, "%016" PRIx64, sum);
    if (is_stored && strcmp(hash, s->custom_hash) != 0)
        return dse_fail(
            err, DSE_E_CONFIG,
            "the files of collectives as Chakra files have changed since the configuration was made");
    memcpy(s->custom_hash, hash, sizeof hash);
    return DSE_OK;
}

/* ---- reading --------------------------------------------------------------------------------- */

dse_status drv_custom_load(const card_system *s, const wl_workload *w, dse_arena *a, sim_settings *set,
                           dse_error *err)
{
    algorithms all = {.arena = a};
    sim_customs *customs = DSE_ARENA_NEW(a, sim_customs, 1);
    wl_reading how = {.numbered_groups = sim_settings_version(set)->numbered_groups};
    dse_status st = DSE_OK;

    for (int i = 0; i < SIM_N_COLLECTIVES; i++)
        if (*s->custom[i])
            customs->of[i] = &find(&all, s->custom[i])->custom;
    if (*s->custom_by_node)
        st = read_nodes(s->custom_by_node, &all, customs, err);
    for (uint32_t rank = 0; st == DSE_OK && all.n && rank < w->n_ranks; rank++)
        count_places(w, rank, customs, &all);
    for (size_t i = 0; st == DSE_OK && i < all.n; i++) {
        if (!all.item[i]->n_places)
            continue;
        set->customs = customs;
        st = wl_chakra_read(all.item[i]->custom.prefix, NULL, all.item[i]->n_places, &how, a,
                            &all.item[i]->custom.w, err);
    }
    return st;
}
