/* A network as text and JSON: what its dimensions are, what is asked of the whole, its devices and links. */
#include "cli/topology.h"
#include "driver/links.h"
#include "network/facts.h"
#include "report/table.h"

#include <inttypes.h>

#define MOST_LISTED 64 /* NPUs of a network whose devices and links are listed unasked */
#define MOST_NAMED  8  /* NPUs of a switch that are all named */

/* ---- names --------------------------------------------------------------------------------- */

/* Whether an NPU's place is more than its id. */
static bool has_places(const net_network *net) { return net->n_dims > 1 || net->dim[0].topology->n_axes; }

#define MAX_PLACES (NET_MAX_DIMS * NET_MAX_AXES)

/* Where an NPU is along each dimension, in a mesh or torus along each axis; yields how many. */
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

/* ---- text ---------------------------------------------------------------------------------- */

static void print_dimensions(const net_network *net, dse_strbuf *out)
{
    report_table t;

    report_table_begin(&t, "rlrrrrr", "dimension", "topology", "instances", "GiB/s\na link", "latency\nns",
                       "diameter\nlinks", "bisection\nlinks");
    for (uint32_t i = 0; i < net->n_dims; i++) {
        const net_dimension *d = &net->dim[i];
        char name[NET_DIMENSION_NAME];

        net_dimension_name(d, name, sizeof name);
        report_table_cell(&t, "%" PRIu32, i);
        report_table_cell(&t, "%s", name);
        report_table_cell(&t, "%" PRIu32, net->n_npus / d->shape.n);
        report_table_cell(&t, "%.10g", d->gib_per_s);
        report_table_cell(&t, "%.10g", d->latency_ns);
        report_table_cell(&t, "%" PRIu32, d->topology->diameter(&d->shape));
        report_table_cell(&t, "%" PRIu64, d->topology->bisection(&d->shape));
    }
    report_table_end(&t, out);
}

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

static void print_devices(const net_graph *g, dse_strbuf *out)
{
    dse_strbuf what;
    report_table t;

    dse_strbuf_init(&what);
    report_table_begin(&t, "rrl", "device", "degree", "what");
    for (uint32_t device = 0; device < g->n_devices; device++) {
        dse_strbuf_clear(&what);
        add_what(g, device, &what);
        report_table_cell(&t, "%" PRIu32, device);
        report_table_cell(&t, "%" PRIu32, net_degree(g, device));
        report_table_cell(&t, "%s", what.data);
    }
    report_table_end(&t, out);
    dse_strbuf_free(&what);
}

static void print_links(const net_graph *g, dse_strbuf *out)
{
    report_table t;

    report_table_begin(&t, "rrrrr", "source", "destination", "dimension", "GiB/s", "latency ns");
    for (uint32_t slot = 0; slot < g->n_slots; slot++) {
        const net_link *l = &g->link[slot];

        if (l->to == DSE_NONE)
            continue;
        report_table_cell(&t, "%" PRIu32, l->from);
        report_table_cell(&t, "%" PRIu32, l->to);
        report_table_cell(&t, "%" PRIu32, l->dim);
        report_table_cell(&t, "%.10g", g->net->dim[l->dim].gib_per_s);
        report_table_cell(&t, "%.10g", g->net->dim[l->dim].latency_ns);
    }
    report_table_end(&t, out);
}

void topology_show_text(const drv_network *n, const net_graph *g, bool all, dse_strbuf *out)
{
    dse_strbuf_addf(out, "%s\n\n", n->name);
    print_dimensions(g->net, out);
    dse_strbuf_addc(out, '\n');
    print_facts(g, out);
    dse_strbuf_adds(
        out, "(bisection: the fewest links from one half of the NPUs to the other; 1 GiB/s is 2^30 bytes "
             "a second,\n 1 GB/s is 10^9)\n\n");
    if (g->net->n_npus > MOST_LISTED && !all) {
        dse_strbuf_addf(out, "--all lists the %" PRIu32 " devices and %" PRIu32 " links\n", g->n_devices,
                        g->n_links);
        return;
    }
    print_devices(g, out);
    if (has_places(g->net))
        dse_strbuf_adds(out,
                        "(at: the place along each dimension in turn, in a mesh or torus along each axis)\n");
    dse_strbuf_addc(out, '\n');
    print_links(g, out);
}

/* ---- JSON ---------------------------------------------------------------------------------- */

static void key_double(dse_json *j, const char *key, double v)
{
    dse_json_key(j, key);
    dse_json_double(j, v);
}

static void write_dimension(const net_dimension *d, dse_json *j)
{
    dse_json_begin_line(j);
    dse_json_key_string(j, "topology", d->topology->name);
    dse_json_key_uint(j, "npus_count", d->shape.n);
    for (uint32_t axis = 0; axis < d->topology->n_axes; axis++)
        dse_json_key_uint(j, net_axis_name(axis), d->shape.extent[axis]);
    key_double(j, "bandwidth_bytes_per_s", d->gib_per_s * GIB);
    key_double(j, "latency_ns", d->latency_ns);
    dse_json_key_uint(j, "diameter", d->topology->diameter(&d->shape));
    dse_json_key_uint(j, "bisection_links", d->topology->bisection(&d->shape));
    dse_json_end_object(j);
}

static void write_device(const net_graph *g, uint32_t device, dse_json *j)
{
    bool npu = device < g->net->n_npus;
    uint32_t first, n = net_graph_ports(g, device, &first), place[MAX_PLACES];

    dse_json_begin_line(j);
    dse_json_key_uint(j, "id", device);
    dse_json_key_string(j, "kind", npu ? "npu" : "switch");
    dse_json_key_uint(j, "degree", net_degree(g, device));
    if (npu)
        n = places_of(g->net, device, place);
    dse_json_key_array(j, npu ? "place" : "npus");
    for (uint32_t i = 0; i < n; i++)
        dse_json_uint(j, npu ? place[i] : g->link[first + i].to);
    dse_json_end_array(j);
    if (!npu)
        dse_json_key_uint(j, "dimension", net_graph_switch_dim(g, device));
    dse_json_end_object(j);
}

static void write_link(const net_graph *g, const net_link *l, dse_json *j)
{
    dse_json_begin_line(j);
    drv_link_json_keys(l, j);
    key_double(j, "bandwidth_bytes_per_s", g->net->dim[l->dim].gib_per_s * GIB);
    key_double(j, "latency_ns", g->net->dim[l->dim].latency_ns);
    dse_json_end_object(j);
}

static void write_facts(const net_graph *g, dse_json *j)
{
    net_facts f;

    net_facts_of(g, &f);
    dse_json_key_uint(j, "n_npus", g->net->n_npus);
    dse_json_key_uint(j, "n_switches", f.n_switches);
    dse_json_key_uint(j, "n_links", g->n_links);
    dse_json_key_uint(j, "npu_degree_min", f.npu_degree.least);
    dse_json_key_uint(j, "npu_degree_max", f.npu_degree.most);
    if (f.n_switches) {
        dse_json_key_uint(j, "switch_degree_min", f.switch_degree.least);
        dse_json_key_uint(j, "switch_degree_max", f.switch_degree.most);
    }
    dse_json_key_uint(j, "diameter", f.diameter);
    dse_json_key_uint(j, "bisection_links", f.bisection_links);
    key_double(j, "bisection_bytes_per_s", f.bisection_gib_per_s * GIB);
    dse_json_key_bool(j, "bisection_is_bound", f.bisection_is_bound);
    key_double(j, "total_bytes_per_s", f.total_gib_per_s * GIB);
}

void topology_show_json(const drv_network *n, const net_graph *g, dse_strbuf *out)
{
    dse_json j;

    dse_json_open(&j, out);
    dse_json_key_string(&j, "system", n->name);
    write_facts(g, &j);
    dse_json_key_array(&j, "dimensions");
    for (uint32_t i = 0; i < g->net->n_dims; i++)
        write_dimension(&g->net->dim[i], &j);
    dse_json_end_array(&j);
    dse_json_key_array(&j, "devices");
    for (uint32_t device = 0; device < g->n_devices; device++)
        write_device(g, device, &j);
    dse_json_end_array(&j);
    dse_json_key_array(&j, "links");
    for (uint32_t slot = 0; slot < g->n_slots; slot++)
        if (g->link[slot].to != DSE_NONE)
            write_link(g, &g->link[slot], &j);
    dse_json_end_array(&j);
    dse_json_close(&j);
}
