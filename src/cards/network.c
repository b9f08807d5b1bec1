/* The network of a system: its lists, one entry a dimension, as a network that can be simulated. */
#include "base/array.h"
#include "cards/system.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

cfg_place card_place(const card_places *in, const char *key)
{
    const cfg_param *p = cfg_param_find(&card_system_table, key);
    const cfg_doc *doc = !in ? NULL : card_system_in_network_file(p) ? in->network : in->system;
    const char *dot = strchr(key, '.');
    const cfg_node *node = NULL;
    char section[32];

    if (!doc)
        return (cfg_place){""};
    if (dot) {
        snprintf(section, sizeof section, "%.*s", (int)(dot - key), key);
        node = cfg_get(cfg_get(doc->root, section), dot + 1);
    } else {
        node = cfg_get(doc->root, key);
    }
    if (!node && p->astra_key)
        node = cfg_get(doc->root, p->astra_key);
    return cfg_at(doc, node);
}

/* The dimension that an extent or a routing of one entry is for: the only one that has the axis. DSE_NONE:
 * none, or several. */
static uint32_t only_dimension(const card_system *s, uint32_t axis)
{
    uint32_t only = DSE_NONE;

    for (uint32_t i = 0; i < s->topology.n; i++) {
        if (net_topology_find(s->topology.v[i])->n_axes <= axis)
            continue;
        if (only != DSE_NONE)
            return DSE_NONE;
        only = i;
    }
    return only;
}

/* Where the entry of a dimension stands in a list of n, or DSE_NONE. */
static uint32_t entry_of(const card_system *s, uint32_t n, uint32_t axis, uint32_t dim)
{
    if (!n || (n != s->topology.n && dim != only_dimension(s, axis)))
        return DSE_NONE;
    return n == s->topology.n ? dim : 0;
}

/* "; each dimension needs one of each"; and of one value for several dimensions, as a list is easily
 * forgotten, how it is written. */
static dse_status wrong_length(const char *where, const char *key, uint32_t n, uint32_t n_dims,
                               dse_error *err)
{
    const char *name = strchr(key, '.') + 1;
    char list[64] = "", write[192] = "";

    for (uint32_t i = 0; i < n_dims && i < 8; i++)
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%c", i ? ", " : "", (char)('A' + i));
    if (n == 1 && n_dims > 1)
        snprintf(write, sizeof write, ": write [%s]; or set %s[%" PRIu32 "] for one of them", list, key,
                 n_dims - 1);
    return dse_fail_at(err, DSE_E_CONFIG, where,
                       "%s has %" PRIu32 " entr%s, but topology has %" PRIu32
                       "; each dimension needs one of each%s",
                       name, n, n == 1 ? "y" : "ies", n_dims, write);
}

static dse_status check_lengths(const card_system *s, const card_places *in, dse_error *err)
{
#define REACHED(member) {"network." #member, s->member.n, true, false, 0},
    const struct {
        const char *key;
        uint32_t n;
        bool optional, one_is_enough;
        uint32_t axis;
    } lists[] = {{"network.npus_count", s->npus_count.n, true, false, 0},
                 {"network.bandwidth", s->bandwidth.n, false, false, 0},
                 {"network.latency", s->latency.n, false, false, 0},
                 {"network.width", s->width.n, true, true, 0},
                 {"network.height", s->height.n, true, true, 1},
                 {"network.depth", s->depth.n, true, true, 2},
                 {"network.routing", s->routing.n, true, true, 0},
                 CARD_REACHED(REACHED)};
#undef REACHED

    if (!s->topology.n)
        return dse_fail_at(err, DSE_E_CONFIG, card_place(in, "network.topology").text,
                           "the network has no dimensions: topology is empty");
    for (size_t i = 0; i < DSE_COUNT(lists); i++)
        if (lists[i].n != s->topology.n && !(lists[i].optional && !lists[i].n) &&
            !(lists[i].one_is_enough && lists[i].n == 1 && only_dimension(s, lists[i].axis) != DSE_NONE))
            return wrong_length(card_place(in, lists[i].key).text, lists[i].key, lists[i].n, s->topology.n,
                                err);
    return DSE_OK;
}

static uint32_t extent_of(const card_system *s, uint32_t axis, uint32_t dim)
{
    const cfg_int_list *lists[NET_MAX_AXES] = {&s->width, &s->height, &s->depth};
    uint32_t entry = entry_of(s, lists[axis]->n, axis, dim);

    return entry == DSE_NONE ? 0 : (uint32_t)lists[axis]->v[entry];
}

static const char *const extent_keys[NET_MAX_AXES] = {"network.width", "network.height", "network.depth"};

/* The key whose value is to blame for a wrong size. */
static const char *size_key(const net_shape *given)
{
    for (uint32_t axis = 0; axis < NET_MAX_AXES; axis++)
        if (given->extent[axis])
            return extent_keys[axis];
    return "network.npus_count";
}

static bool has_extent(const net_shape *given)
{
    return given->extent[0] || given->extent[1] || given->extent[2];
}

static dse_status build_dimension(const card_system *s, uint32_t dim, const card_places *in,
                                  net_dimension *out, dse_error *err)
{
    uint32_t routing = entry_of(s, s->routing.n, 0, dim);
    const char *key;
    dse_error why = DSE_ERROR_INIT;
    dse_status st;

    *out = (net_dimension){.topology = net_topology_find(s->topology.v[dim]),
                           .shape.n = s->npus_count.n ? (uint32_t)s->npus_count.v[dim] : 0,
                           .gib_per_s = s->bandwidth.v[dim],
                           .latency_ns = s->latency.v[dim]};
    for (uint32_t axis = 0; axis < NET_MAX_AXES; axis++) {
        out->shape.extent[axis] = extent_of(s, axis, dim);
        if (out->shape.extent[axis] && axis >= out->topology->n_axes)
            return dse_fail_at(err, DSE_E_CONFIG, card_place(in, extent_keys[axis]).text,
                               "dimension %" PRIu32 ": a %s has no %s", dim, out->topology->name,
                               net_axis_name(axis));
    }
    key = size_key(&out->shape);
    if (!out->shape.n && !has_extent(&out->shape)) {
        st = dse_fail(&why, DSE_E_CONFIG, "npus_count is missing%s%s", out->topology->n_axes ? ", or " : "",
                      net_axis_names(out->topology));
    } else if ((st = net_shape_finish(out->topology, &out->shape, &why)) == DSE_OK) {
        st = net_shape_route(out->topology, routing == DSE_NONE ? "" : s->routing.v[routing], &out->shape,
                             &why);
        key = "network.routing";
    }
    if (st == DSE_OK)
        return DSE_OK;
    return dse_fail_at(err, st, card_place(in, key).text, "dimension %" PRIu32 ": %s", dim, why.text);
}

/* ---- what collectives reach ------------------------------------------------------------------- */

static double entry(const cfg_double_list *list, uint32_t dim, double absent)
{
    return list->n ? list->v[dim] : absent;
}
static uint32_t count(const cfg_int_list *list, uint32_t dim) { return list->n ? (uint32_t)list->v[dim] : 0; }

static bool is_measured(const card_system *s)
{
#define OR_REACHED(member) || s->member.n
    return s->measured_sizes.n CARD_REACHED(OR_REACHED);
#undef OR_REACHED
}

/* Of a finished network. */
static dse_status build_reach(const card_system *s, uint32_t dim, const card_places *in, net_dimension *d,
                              dse_error *err)
{
    const double message = d->topology->hops(&d->shape, 0, 1) * d->latency_ns;
    net_reach *r = &d->reach;

    *r = (net_reach){.efficiency = entry(&s->efficiency, dim, 1),
                     .latency_ns = entry(&s->collective_latency, dim, 0),
                     .step_ns = entry(&s->step_latency, dim, message),
                     .rails = count(&s->rails, dim),
                     .rails_per_group = count(&s->rails_per_group, dim),
                     .compute_share = entry(&s->compute_share, dim, 0)};
    if (r->efficiency > 1 && strcmp(d->topology->name, "Ring") != 0)
        return dse_fail_at(err, DSE_E_CONFIG, card_place(in, "network.efficiency").text,
                           "dimension %" PRIu32
                           ": an efficiency of %g is for a Ring, whose collectives go both ways at "
                           "once; a %s has 1 at most",
                           dim, r->efficiency, d->topology->name);
    if (dim == 0 && (r->rails || r->rails_per_group))
        return dse_fail_at(err, DSE_E_CONFIG,
                           card_place(in, r->rails ? "network.rails" : "network.rails_per_group").text,
                           "dimension 0 joins NPUs, which have no rails; give null for it");
    if (r->rails_per_group > (r->rails ? r->rails : d->stride))
        return dse_fail_at(err, DSE_E_CONFIG, card_place(in, "network.rails_per_group").text,
                           "dimension %" PRIu32 ": %" PRIu32 " rails of a group are more than the %" PRIu32
                           " of a node",
                           dim, r->rails_per_group, r->rails ? r->rails : d->stride);
    return DSE_OK;
}

static const char *const measured_keys[NET_N_KINDS] = {
    [SIM_ALL_REDUCE] = "network.measured_all_reduce",
    [SIM_ALL_GATHER] = "network.measured_all_gather",
    [SIM_REDUCE_SCATTER] = "network.measured_reduce_scatter",
    [SIM_ALL_TO_ALL] = "network.measured_all_to_all",
};

static dse_status check_table(const card_system *s, const card_places *in, dse_error *err)
{
    const uint32_t n = s->measured_sizes.n;

    for (int k = 0; k < NET_N_KINDS; k++)
        if (s->measured[k].n && s->measured[k].n != n)
            return dse_fail_at(err, DSE_E_CONFIG, card_place(in, measured_keys[k]).text,
                               "%s and measured_sizes differ in length: %" PRIu32 " and %" PRIu32,
                               strchr(measured_keys[k], '.') + 1, s->measured[k].n, n);
    if ((n || s->measured_npus) && s->measured_npus < 2)
        return dse_fail_at(
            err, DSE_E_CONFIG,
            card_place(in, s->measured_npus ? "network.measured_npus" : "network.measured_sizes").text,
            "measured_npus must be how many NPUs the measured collectives have, 2 at least");
    for (uint32_t i = 1; i < n; i++)
        if (s->measured_sizes.v[i] <= s->measured_sizes.v[i - 1])
            return dse_fail_at(err, DSE_E_CONFIG, card_place(in, "network.measured_sizes").text,
                               "measured_sizes must ascend, but %.15g follows %.15g", s->measured_sizes.v[i],
                               s->measured_sizes.v[i - 1]);
    return DSE_OK;
}

static void build_table(const card_system *s, net_table *out)
{
    *out = (net_table){.npus = (uint32_t)s->measured_npus,
                       .n = s->measured_sizes.n,
                       .pair = isnan(s->measured_pair) ? 1 : s->measured_pair,
                       .gib_per_s = s->measured_bandwidth};
    for (uint32_t i = 0; i < out->n; i++) {
        out->bytes[i] = s->measured_sizes.v[i];
        for (int k = 0; k < NET_N_KINDS; k++)
            out->ns[k][i] = s->measured[k].n ? s->measured[k].v[i] : 0;
    }
}
_Static_assert(NET_MAX_SIZES == CFG_MAX_DIMS, "a list of a card has as many entries as a table has sizes");

static dse_status build_reached(const card_system *s, const card_places *in, net_network *net, dse_error *err)
{
    dse_status st = check_table(s, in, err);

    net->is_measured = is_measured(s);
    for (uint32_t i = 0; st == DSE_OK && net->is_measured && i < net->n_dims; i++)
        st = build_reach(s, i, in, &net->dim[i], err);
    if (st == DSE_OK && net->is_measured)
        build_table(s, &net->table);
    return st;
}

dse_status card_network_build(const card_system *s, const card_places *in, net_network *out, dse_error *err)
{
    dse_status st = check_lengths(s, in, err);

    *out = (net_network){.n_dims = s->topology.n,
                         .congestion = !strcmp(s->backend, "congestion_aware"),
                         .full_multi_hop = !strcmp(s->multi_hop, "full")};
    for (uint32_t i = 0; st == DSE_OK && i < out->n_dims; i++)
        st = build_dimension(s, i, in, &out->dim[i], err);
    if (st == DSE_OK)
        st = net_network_finish(out, err);
    return st == DSE_OK ? build_reached(s, in, out, err) : st;
}

uint64_t card_system_npus(const card_system *s)
{
    net_network net;

    return card_network_build(s, NULL, &net, NULL) == DSE_OK ? net.n_npus : 0;
}
