/* A network as text and JSON: what its dimensions are, what is asked of the whole, its devices and links. */
#include "cli/topology.h"
#include "network/facts.h"
#include "report/tree.h"

#include <inttypes.h>
#include <stdio.h>

#define MOST_LISTED 64 /* NPUs of a network whose devices and links are listed unasked */
#define MOST_NAMED  8  /* NPUs of a switch that are all named */

/* ---- names --------------------------------------------------------------------------------- */

/* Whether an NPU's place is more than its id. */
static bool has_places(const net_network *net) { return net->n_dims > 1 || net->dim[0].topology->n_axes; }

#define MAX_PLACES (NET_MAX_DIMS * NET_MAX_AXES)

/* The place of an NPU along each dimension, in a mesh or torus along each axis. Returns the number of
 * places. */
static uint32_t places_of(const net_network *net, uint32_t npu, uint32_t out[MAX_PLACES])
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < net->n_dims; i++) {
        const net_dimension *d = &net->dim[i];
        uint32_t place = net_place(d, npu), axes = d->topology->n_axes ? d->topology->n_axes : 1;

        for (uint32_t axis = 0; axis < axes; axis++) {
            out[n++] = place % d->shape.extent[axis];
            place /= d->shape.extent[axis];
        }
    }
    return n;
}

/* " at [3,0]"; nothing where that is the id. */
static void add_place(const net_network *net, uint32_t npu, dse_strbuf *out)
{
    uint32_t place[MAX_PLACES], n = has_places(net) ? places_of(net, npu, place) : 0;

    for (uint32_t i = 0; i < n; i++)
        dse_strbuf_addf(out, "%s%" PRIu32, i ? "," : " at [", place[i]);
    dse_strbuf_adds(out, n ? "]" : "");
}

static void add_what(const net_graph *g, uint32_t device, dse_strbuf *out)
{
    uint32_t first, n;

    if (device < g->net->n_npus) {
        dse_strbuf_adds(out, "NPU");
        add_place(g->net, device, out);
        return;
    }
    n = net_graph_ports(g, device, &first);
    dse_strbuf_addf(out, "switch of dimension %" PRIu32 ": NPUs ", net_graph_switch_dim(g, device));
    for (uint32_t i = 0; i < n; i++) {
        if (n > MOST_NAMED && i == 3) {
            dse_strbuf_adds(out, ", ...");
            i = n - 1;
        }
        dse_strbuf_addf(out, "%s%" PRIu32, i ? ", " : "", g->link[first + i].to);
    }
}

/* ---- lists --------------------------------------------------------------------------------- */

static report_node *list_dimensions(const net_network *net, report_node *to)
{
    report_node *list = report_lines(to, "dimensions");

    for (uint32_t i = 0; i < net->n_dims; i++) {
        const net_dimension *d = &net->dim[i];
        char name[NET_DIMENSION_NAME];
        report_node *row;

        net_dimension_name(d, name, sizeof name);
        row = report_row(list, V_AS("dimension", V_COUNT(NULL, i)), V_NOTE("topology", name),
                         V_AS("instances", V_COUNT(NULL, net->n_npus / d->shape.n)),
                         V_TEXT("topology", d->topology->name), V_COUNT("npus_count", d->shape.n));
        for (uint32_t axis = 0; axis < d->topology->n_axes; axis++)
            report_put(row, V_COUNT(net_axis_name(axis), d->shape.extent[axis]));
        report_put(row, V_AS("GiB/s\na link", V_REAL(NULL, d->gib_per_s)),
                   V_REAL("bandwidth_bytes_per_s", d->gib_per_s * GIB),
                   V_AS("latency\nns", V_REAL("latency_ns", d->latency_ns)),
                   V_AS("diameter\nlinks", V_COUNT("diameter", d->topology->diameter(&d->shape))),
                   V_AS("bisection\nlinks", V_COUNT("bisection_links", d->topology->bisection(&d->shape))));
    }
    return list;
}

/* Of a network whose collectives were measured: what they reach in each dimension (sim/collective_time.h). */
static report_node *list_reach(const net_network *net, report_node *to)
{
    report_node *list = report_lines(to, "collectives");

    for (uint32_t i = 0; i < net->n_dims; i++) {
        const net_reach *r = &net->dim[i].reach;
        const uint32_t rails = r->rails ? r->rails : net->dim[i].stride;
        const uint32_t group = r->rails_per_group ? r->rails_per_group : rails;
        char text[2][16];

        snprintf(text[0], sizeof text[0], "%" PRIu32, rails);
        snprintf(text[1], sizeof text[1], "%" PRIu32, group);

        report_row(list, V_AS("dimension", V_COUNT("dimension", i)),
                   V_AS("efficiency", V_REAL("efficiency", r->efficiency)),
                   V_AS("a collective\nns", V_REAL("latency_ns", r->latency_ns)),
                   V_AS("a step\nns", V_REAL("step_latency_ns", r->step_ns)),
                   V_NOTE("rails\na node", i ? text[0] : "-"), V_GIVEN(i > 0, V_COUNT("rails", rails)),
                   V_NOTE("rails\na group", i ? text[1] : "-"),
                   V_GIVEN(i > 0, V_COUNT("rails_per_group", group)),
                   V_AS("share of\ncompute", V_REAL("compute_share", r->compute_share)));
    }
    return list;
}

static report_node *list_table(const net_table *t, report_node *to)
{
    static const char *const kinds[NET_N_KINDS] = {"all_reduce", "all_gather", "reduce_scatter",
                                                   "all_to_all"};
    report_node *list = report_lines(to, "measured_collectives");

    for (uint32_t i = 0; i < t->n; i++) {
        report_node *row = report_row(list, V_AS("bytes", V_COUNT("bytes", (uint64_t)t->bytes[i])));

        for (int k = 0; k < NET_N_KINDS; k++)
            if (t->ns[k][0] > 0)
                report_put(row, V_AS(kinds[k], V_REAL(kinds[k], t->ns[k][i])));
    }
    return list;
}

static report_node *list_devices(const net_graph *g, report_node *to)
{
    report_node *list = report_lines(to, "devices");
    dse_strbuf what = dse_strbuf_in(list->arena);

    for (uint32_t device = 0; device < g->n_devices; device++) {
        const bool npu = device < g->net->n_npus;
        uint32_t first, n = net_graph_ports(g, device, &first), place[MAX_PLACES];
        report_node *row, *parts;

        dse_strbuf_clear(&what);
        add_what(g, device, &what);
        row = report_row(list, V_AS("device", V_COUNT("id", device)), V_TEXT("kind", npu ? "npu" : "switch"),
                         V_AS("degree", V_COUNT("degree", net_degree(g, device))), V_NOTE("what", what.data));
        if (npu)
            n = places_of(g->net, device, place);
        parts = report_list(row, npu ? "place" : "npus");
        for (uint32_t i = 0; i < n; i++)
            report_put(parts, V_COUNT(NULL, npu ? place[i] : g->link[first + i].to));
        if (!npu)
            report_put(row, V_COUNT("dimension", net_graph_switch_dim(g, device)));
    }
    return list;
}

static report_node *list_links(const net_graph *g, report_node *to)
{
    report_node *list = report_lines(to, "links");

    for (uint32_t slot = 0; slot < g->n_slots; slot++) {
        const net_link *l = &g->link[slot];
        const net_dimension *d = &g->net->dim[l->dim];

        if (l->to != DSE_NONE)
            report_row(list, V_AS("source", V_COUNT("source", l->from)),
                       V_AS("destination", V_COUNT("destination", l->to)),
                       V_AS("dimension", V_COUNT("dimension", l->dim)),
                       V_AS("GiB/s", V_REAL(NULL, d->gib_per_s)),
                       V_REAL("bandwidth_bytes_per_s", d->gib_per_s * GIB),
                       V_AS("latency ns", V_REAL("latency_ns", d->latency_ns)));
    }
    return list;
}

/* ---- text ---------------------------------------------------------------------------------- */

static void print_range(const char *what, net_range r, dse_strbuf *out)
{
    dse_strbuf_addf(out, "%-22s%" PRIu32, what, r.least);
    if (r.most != r.least)
        dse_strbuf_addf(out, " to %" PRIu32, r.most);
    dse_strbuf_adds(out, " links out\n");
}

static void print_bandwidth(const char *what, double gib_per_s, dse_strbuf *out)
{
    dse_strbuf_addf(out, "%-22s%.10g GiB/s = %.6g GB/s", what, gib_per_s, gib_per_s * GIB / 1e9);
}

static void print_facts(const net_graph *g, dse_strbuf *out)
{
    net_facts f;

    net_facts_of(g, &f);
    dse_strbuf_addf(out, "%-22s%" PRIu32 "\n%-22s%" PRIu32 "\n", "NPUs", g->net->n_npus, "switches",
                    f.n_switches);
    dse_strbuf_addf(out, "%-22s%" PRIu32 ", one way each\n", "links", g->n_links);
    print_range("degree of an NPU", f.npu_degree, out);
    if (f.n_switches)
        print_range("degree of a switch", f.switch_degree, out);
    dse_strbuf_addf(out, "%-22s%" PRIu32 " links\n", "diameter", f.diameter);
    print_bandwidth("bisection bandwidth", f.bisection_gib_per_s, out);
    dse_strbuf_addf(out, ", %" PRIu64 " link%s one way%s\n", f.bisection_links,
                    f.bisection_links == 1 ? "" : "s",
                    f.bisection_is_bound ? "; at most, as a dimension is odd" : "");
    print_bandwidth("all links", f.total_gib_per_s, out);
    dse_strbuf_addc(out, '\n');
}

static void print_reach(const net_network *net, report_node *root, dse_strbuf *out)
{
    if (!net->is_measured)
        return;
    dse_strbuf_adds(out, "What collectives of profile train reach\n");
    report_rows_table(list_reach(net, root), out);
    if (net->table.n) {
        dse_strbuf_addf(out,
                        "\nmeasured with %" PRIu32
                        " NPUs within dimension 0, ns (two NPUs: %.6g of the bandwidth)\n",
                        net->table.npus, net->table.pair);
        report_rows_table(list_table(&net->table, root), out);
    }
    dse_strbuf_addc(out, '\n');
}

void topology_show_text(const drv_network *n, const net_graph *g, bool all, dse_strbuf *out)
{
    report_tree t;
    report_node *root = report_tree_begin(&t);

    dse_strbuf_addf(out, "%s\n\n", n->name);
    report_rows_table(list_dimensions(g->net, root), out);
    dse_strbuf_addc(out, '\n');
    print_facts(g, out);
    dse_strbuf_adds(
        out, "(bisection: the fewest links from one half of the NPUs to the other; 1 GiB/s is 2^30 bytes "
             "a second,\n 1 GB/s is 10^9)\n\n");
    print_reach(g->net, root, out);
    if (g->net->n_npus > MOST_LISTED && !all) {
        dse_strbuf_addf(out, "--all lists the %" PRIu32 " devices and %" PRIu32 " links\n", g->n_devices,
                        g->n_links);
    } else {
        report_rows_table(list_devices(g, root), out);
        if (has_places(g->net))
            dse_strbuf_adds(
                out, "(at: the place along each dimension in turn, in a mesh or torus along each axis)\n");
        dse_strbuf_addc(out, '\n');
        report_rows_table(list_links(g, root), out);
    }
    report_tree_free(&t);
}

/* ---- JSON ---------------------------------------------------------------------------------- */

void topology_show_json(const drv_network *n, const net_graph *g, dse_strbuf *out)
{
    report_tree t;
    report_node *root = report_tree_begin(&t);
    net_facts f;

    net_facts_of(g, &f);
    report_put(root, V_TEXT("system", n->name), V_COUNT("n_npus", g->net->n_npus),
               V_COUNT("n_switches", f.n_switches), V_COUNT("n_links", g->n_links),
               V_COUNT("npu_degree_min", f.npu_degree.least), V_COUNT("npu_degree_max", f.npu_degree.most),
               V_GIVEN(f.n_switches, V_COUNT("switch_degree_min", f.switch_degree.least)),
               V_GIVEN(f.n_switches, V_COUNT("switch_degree_max", f.switch_degree.most)),
               V_COUNT("diameter", f.diameter), V_COUNT("bisection_links", f.bisection_links),
               V_REAL("bisection_bytes_per_s", f.bisection_gib_per_s * GIB),
               V_BOOL("bisection_is_bound", f.bisection_is_bound),
               V_REAL("total_bytes_per_s", f.total_gib_per_s * GIB));
    list_dimensions(g->net, root);
    if (g->net->is_measured)
        list_reach(g->net, root);
    if (g->net->table.n)
        list_table(&g->net->table, root);
    list_devices(g, root);
    list_links(g, root);
    report_tree_end(&t, out);
}
