/* A network by itself: what it consists of, a picture, and messages on it. */
#include "base/units.h"
#include "cli/command.h"
#include "cli/exit.h"
#include "cli/sizing.h"
#include "cli/topology.h"
#include "draw/draw.h"
#include "driver/study.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

typedef struct {
    const char *mode, *system, *network, *bytes, *output;
    sizing_options sizing;
    option_list npus, set;
    bool all, json, dot, svg;
} topology_options;

#define FIELD(f) .offset = offsetof(topology_options, f)

static const char *const mode_names[] = {"show", "route", NULL};

static const option options[] = {
    {"MODE", OPT_STRING, NULL, NULL, "what to do", .choices = mode_names, FIELD(mode)},
    {"NPU", OPT_LIST, NULL, "", "from and to in pairs, for 'route'; all messages are sent together",
     FIELD(npus)},
    {"--system", OPT_STRING, "NAME", "",
     "system card: a name in configs/systems, a path, or a folder with ASTRA-sim's files", FIELD(system)},
    {"--network", OPT_STRING, "FILE", "", "a network.yml instead, which needs no system.json beside it",
     FIELD(network)},
    OPTION_GROUP(size_group, sizing),
    {"--set", OPT_LIST, "KEY=VALUE", "",
     "set a value over the card, for example network.bandwidth[1]=50GB/s; again for another", FIELD(set)},
    {"--bytes", OPT_STRING, "SIZE", "1MiB",
     "size of each message of 'route': 1MiB, 500kB, or a number of bytes", FIELD(bytes)},
    {"--all", OPT_FLAG, NULL, "false",
     "list every device and link, or each link of every route, however many", FIELD(all)},
    {"--json", OPT_FLAG, NULL, "false", "print JSON, with every device and link", FIELD(json)},
    {"--dot", OPT_FLAG, NULL, "false", "draw it for Graphviz: pipe it into 'neato -n -Tsvg'", FIELD(dot)},
    {"--svg", OPT_FLAG, NULL, "false", "draw it as SVG", FIELD(svg)},
    {"--output", OPT_STRING, "FILE", "", "write to a file instead of standard output", FIELD(output)},
};

/* ---- the two modes ------------------------------------------------------------------------- */

static dse_status show(const topology_options *o, const drv_network *n, const net_graph *g, command_run *r,
                       dse_error *err)
{
    if (o->svg && !o->dot)
        return draw_svg(g, n->name, r->arena, r->out, err);
    if (o->dot)
        draw_dot(g, n->name, r->arena, r->out);
    else if (o->json)
        topology_show_json(n, g, r->out);
    else
        topology_show_text(n, g, o->all, r->out);
    return DSE_OK;
}

static dse_status parse_bytes(const char *text, uint64_t *out, dse_error *err)
{
    const double most = 9007199254740992.0; /* 2^53: whole numbers up to here are exact */
    dse_error why = DSE_ERROR_INIT;
    bool had_unit;
    double v;

    if (dse_parse_quantity(text, DSE_UNIT_BYTES, &v, &had_unit, &why) != DSE_OK)
        return dse_fail(err, DSE_E_USAGE, "--bytes: %s", why.text);
    if (!(v >= 1 && v <= most) || v != floor(v))
        return dse_fail(err, DSE_E_USAGE, "--bytes takes a whole number of bytes from 1 to 2^53, not '%.40s'",
                        text);
    *out = (uint64_t)v;
    return DSE_OK;
}

static dse_status parse_pairs(const topology_options *o, const drv_network *n, dse_arena *a, uint32_t **out,
                              dse_error *err)
{
    const option_list *l = &o->npus;

    if (!l->n || l->n % 2)
        return dse_fail(err, DSE_E_USAGE,
                        "'topology route' takes pairs of NPUs, from and to: 1 7, or 1 7 5 14%s",
                        l->n ? "; the last one has no destination" : "");
    *out = DSE_ARENA_NEW(a, uint32_t, l->n);
    for (size_t i = 0; i < l->n; i++) {
        uint64_t npu;

        if (dse_parse_u64(l->item[i], &npu, NULL) != DSE_OK)
            return dse_fail(err, DSE_E_USAGE, "'%.40s' is not the number of an NPU", l->item[i]);
        if (npu >= n->net.n_npus)
            return dse_fail(err, DSE_E_CONFIG, "there is no NPU %" PRIu64 " in '%.80s'; it has 0 to %" PRIu32,
                            npu, n->name, n->net.n_npus - 1);
        (*out)[i] = (uint32_t)npu;
        if (i % 2 && (*out)[i] == (*out)[i - 1])
            return dse_fail(err, DSE_E_USAGE,
                            "a message from NPU %" PRIu64 " to itself takes no link; give two different NPUs",
                            npu);
    }
    return DSE_OK;
}

static dse_status route(const topology_options *o, const drv_network *n, const net_graph *g, command_run *r,
                        dse_error *err)
{
    net_routes routes;
    uint32_t *pair = NULL;
    uint64_t bytes;
    dse_status st;

    if (o->dot || o->svg)
        return dse_fail(err, DSE_E_USAGE,
                        "'topology route' draws nothing; 'topology show' takes --dot and --svg");
    if ((st = parse_bytes(o->bytes, &bytes, err)) != DSE_OK ||
        (st = parse_pairs(o, n, r->arena, &pair, err)) != DSE_OK ||
        (st = net_routes_send(g, pair, (uint32_t)(o->npus.n / 2), bytes, r->arena, &routes, err)) != DSE_OK)
        return st;
    if (o->json)
        topology_routes_json(n, g, &routes, r->out);
    else
        topology_routes_text(n, g, &routes, o->all, r->out);
    return DSE_OK;
}

/* Indexed as mode_names. */
static dse_status (*const modes[])(const topology_options *o, const drv_network *n, const net_graph *g,
                                   command_run *r, dse_error *err) = {show, route};

/* ---- the command --------------------------------------------------------------------------- */

static dse_status check_options(const topology_options *o, dse_error *err)
{
    if (!o->system == !o->network)
        return dse_fail(err, DSE_E_USAGE, "give either --system or --network%s",
                        o->system ? ", not both" : "; see 'ccldse topology --help'");
    if (o->network && (o->sizing.nodes || o->sizing.npus))
        return dse_fail(err, DSE_E_USAGE, "%s needs --system; --set npus_count sets a --network's",
                        o->sizing.nodes ? "--nodes" : "--npus");
    if (o->json + o->dot + o->svg > 1)
        return dse_fail(err, DSE_E_USAGE, "give one of --json, --dot and --svg, not several");
    if (!strcmp(o->mode, "show") && o->npus.n)
        return dse_fail(err, DSE_E_USAGE, "'topology show' takes no NPUs; did you mean 'topology route'?");
    return DSE_OK;
}

static dse_status run(const void *opts, command_run *r, dse_error *err)
{
    const topology_options *o = opts;
    cfg_settings settings;
    option_list set;
    drv_network *n;
    net_graph graph;
    dse_status st;

    if ((st = check_options(o, err)) != DSE_OK ||
        (st = sizing_settings(&o->sizing, &o->system, 1, &o->set, r->arena, &set, err)) != DSE_OK ||
        (st = drv_settings_parse(set.item, set.n, r->arena, &settings, err)) != DSE_OK)
        return st;
    n = DSE_ARENA_NEW(r->arena, drv_network, 1);
    if ((st = drv_network_load(o->system, o->network, &settings, r->arena, n, err)) != DSE_OK)
        return st;
    if (n->n_unknown_keys)
        report_unknown_keys(o->system, n->n_unknown_keys, n->unknown_key);
    if ((st = net_graph_init(&graph, &n->net, r->arena, err)) != DSE_OK)
        return st;
    st = modes[option_place(mode_names, o->mode)](o, n, &graph, r, err);
    return st == DSE_OK ? command_save(o->output, r, err) : st;
}

const command command_topology = {
    .name = "topology",
    .summary = "list the links of a network, draw it, or send messages over it",
    .details =
        "'show' lists devices and links, and says degree, diameter and bisection bandwidth; --dot and --svg "
        "draw them. 'route' prints the way of each message and the time that it takes: alone, and together "
        "with the others, all sent at once, where they queue for the links they share. Both are with "
        "congestion, whatever the card's backend is; what the model without congestion says is beside them.",
    .example = "ccldse topology route --system mesh_4x4 1 7 5 14 11 5 15 4",
    COMMAND_OPTIONS(options, topology_options),
    .run = run,
};
