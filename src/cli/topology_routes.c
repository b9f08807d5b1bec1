/* Messages on a network as text and JSON: their routes, their durations, and which message waited for
 * which. */
#include "cli/topology.h"
#include "driver/links.h"
#include "network/load.h"
#include "report/table.h"

#include <inttypes.h>

#define MOST_LISTED 64 /* links of all routes that are listed unasked */
#define MOST_SHARED 16 /* likewise links that several messages take */

/* "1, 2, 3, 7"; of several dimensions with the one of each link: "7 -0- 6 -1- switch 22 -1- 14". */
static void add_way(const net_graph *g, const net_routes *r, const net_route *route, dse_strbuf *out)
{
    char device[NET_DEVICE_NAME];

    dse_strbuf_addf(out, "%" PRIu32, route->src);
    for (uint32_t i = 0; i < route->n_hops; i++) {
        const net_link *l = &g->link[r->hop[route->first_hop + i].slot];

        if (g->net->n_dims > 1)
            dse_strbuf_addf(out, " -%" PRIu32 "- ", l->dim);
        else
            dse_strbuf_adds(out, ", ");
        net_device_name(g, l->to, device, sizeof device);
        dse_strbuf_adds(out, device);
    }
}

/* ---- text ---------------------------------------------------------------------------------- */

static void print_messages(const net_graph *g, const net_routes *r, dse_strbuf *out)
{
    dse_strbuf way;
    report_table t;

    dse_strbuf_init(&way);
    report_table_begin(&t, "rrrrr", "message", "from", "to", "links", "alone\nns");
    if (r->n > 1) {
        report_table_columns(&t, "rr", "together\nns", "of that\nwaiting ns");
    }
    report_table_columns(&t, "rl", "without\ncongestion ns", "route");
    for (uint32_t i = 0; i < r->n; i++) {
        const net_route *m = &r->route[i];

        dse_strbuf_clear(&way);
        add_way(g, r, m, &way);
        report_table_cell(&t, "%" PRIu32, i);
        report_table_cell(&t, "%" PRIu32, m->src);
        report_table_cell(&t, "%" PRIu32, m->dst);
        report_table_cell(&t, "%" PRIu32, m->n_hops);
        report_table_cell(&t, "%" PRIu64, m->alone);
        if (r->n > 1) {
            report_table_cell(&t, "%" PRIu64, m->together);
            report_table_cell(&t, "%" PRIu64, m->waited);
        }
        report_table_cell(&t, "%" PRIu64, m->unaware);
        report_table_cell(&t, "%s", way.data);
    }
    report_table_end(&t, out);
    dse_strbuf_free(&way);
}

static void print_shared(const net_graph *g, const net_routes *r, uint32_t n, dse_strbuf *out)
{
    char link[NET_LINK_NAME];
    report_table t;

    report_table_begin(&t, "lrrrr", "link", "dimension", "messages", "most waiting", "busy ns");
    for (uint32_t i = 0; i < n; i++) {
        const net_shared_link *s = &r->shared[i];

        net_link_name(g, s->slot, link, sizeof link);
        report_table_cell(&t, "%s", link);
        report_table_cell(&t, "%" PRIu32, g->link[s->slot].dim);
        report_table_cell(&t, "%" PRIu32, s->n_messages);
        report_table_cell(&t, "%" PRIu32, s->most_waiting);
        report_table_cell(&t, "%" PRIu64, s->busy);
    }
    report_table_end(&t, out);
}

/* All, or those at which a message waited. */
static void print_hops(const net_graph *g, const net_routes *r, bool all, dse_strbuf *out)
{
    char link[NET_LINK_NAME];
    report_table t;

    report_table_begin(&t, "rlrrrrrr", "message", "link", "dimension", "ready ns", "starts ns", "arrives ns",
                       "waited ns", "for message");
    for (uint32_t i = 0; i < r->n_hops; i++) {
        const net_route_hop *h = &r->hop[i];

        if (!all && h->behind == DSE_NONE)
            continue;
        net_link_name(g, h->slot, link, sizeof link);
        report_table_cell(&t, "%" PRIu32, h->message);
        report_table_cell(&t, "%s", link);
        report_table_cell(&t, "%" PRIu32, g->link[h->slot].dim);
        report_table_cell(&t, "%" PRIu64, h->asked);
        report_table_cell(&t, "%" PRIu64, h->taken);
        report_table_cell(&t, "%" PRIu64, h->there);
        report_table_cell(&t, "%" PRIu64, h->taken - h->asked);
        if (h->behind == DSE_NONE)
            report_table_cell(&t, "-");
        else
            report_table_cell(&t, "%" PRIu32, h->behind);
    }
    report_table_end(&t, out);
}

static void print_meetings(const net_graph *g, const net_routes *r, bool all, dse_strbuf *out)
{
    uint32_t n = all || r->n_shared <= MOST_SHARED ? r->n_shared : MOST_SHARED;

    if (!r->n_shared) {
        dse_strbuf_adds(out, "no two messages share a link\n\n");
        return;
    }
    dse_strbuf_adds(out, "links that several messages take, the busiest first\n\n");
    print_shared(g, r, n, out);
    if (n < r->n_shared)
        dse_strbuf_addf(out, "(and %" PRIu32 " more: --all)\n", r->n_shared - n);
    dse_strbuf_addc(out, '\n');
}

void topology_routes_text(const drv_network *n, const net_graph *g, const net_routes *r, bool all,
                          dse_strbuf *out)
{
    uint32_t waited = 0;

    for (uint32_t i = 0; i < r->n_hops; i++)
        waited += r->hop[i].behind != DSE_NONE;
    dse_strbuf_addf(out, "%s: %" PRIu32 " message%s of %" PRIu64 " byte%s, sent at 0 ns\n\n", n->name, r->n,
                    r->n == 1 ? "" : "s", r->bytes, r->bytes == 1 ? "" : "s");
    print_messages(g, r, out);
    dse_strbuf_adds(out, r->n == 1 ? "\n"
                                   : "\nalone: no other message is under way; together: all are sent at once "
                                     "and queue for links.\n");
    dse_strbuf_adds(out,
                    "A message goes on to the next link when it has arrived whole; without congestion it "
                    "has a fixed delay.\n");
    dse_strbuf_adds(out, g->net->n_dims > 1 ? "In a route, -1- is a link of dimension 1.\n\n" : "\n");
    if (r->n > 1)
        print_meetings(g, r, all, out);
    all |= r->n_hops <= MOST_LISTED;
    if (!all)
        dse_strbuf_addf(
            out, "a message waited at %" PRIu32 " of the %" PRIu32 " links of the routes; --all lists all\n",
            waited, r->n_hops);
    if (all || waited) {
        dse_strbuf_adds(out, all ? "" : "\n");
        print_hops(g, r, all, out);
    }
}

/* ---- JSON ---------------------------------------------------------------------------------- */

static void write_hop(const net_graph *g, const net_route_hop *h, dse_json *j)
{
    dse_json_begin_line(j);
    drv_link_json_keys(&g->link[h->slot], j);
    dse_json_key_uint(j, "ready_ns", h->asked);
    dse_json_key_uint(j, "start_ns", h->taken);
    dse_json_key_uint(j, "arrival_ns", h->there);
    dse_json_key(j, "waited_for");
    if (h->behind == DSE_NONE)
        dse_json_null(j);
    else
        dse_json_uint(j, h->behind);
    dse_json_end_object(j);
}

static void write_message(const net_graph *g, const net_routes *r, const net_route *m, dse_json *j)
{
    dse_json_begin_line(j);
    dse_json_key_uint(j, "source", m->src);
    dse_json_key_uint(j, "destination", m->dst);
    dse_json_key_uint(j, "alone_ns", m->alone);
    dse_json_key_uint(j, "together_ns", m->together);
    dse_json_key_uint(j, "waited_ns", m->waited);
    dse_json_key_uint(j, "congestion_unaware_ns", m->unaware);
    dse_json_key_array(j, "links");
    for (uint32_t i = 0; i < m->n_hops; i++)
        write_hop(g, &r->hop[m->first_hop + i], j);
    dse_json_end_array(j);
    dse_json_end_object(j);
}

static void write_shared(const net_graph *g, const net_shared_link *s, dse_json *j)
{
    dse_json_begin_line(j);
    drv_link_json_keys(&g->link[s->slot], j);
    dse_json_key_uint(j, "messages", s->n_messages);
    dse_json_key_uint(j, "most_waiting", s->most_waiting);
    dse_json_key_uint(j, "busy_ns", s->busy);
    dse_json_end_object(j);
}

void topology_routes_json(const drv_network *n, const net_graph *g, const net_routes *r, dse_strbuf *out)
{
    dse_json j;

    dse_json_open(&j, out);
    dse_json_key_string(&j, "system", n->name);
    dse_json_key_uint(&j, "bytes", r->bytes);
    dse_json_key_array(&j, "messages");
    for (uint32_t i = 0; i < r->n; i++)
        write_message(g, r, &r->route[i], &j);
    dse_json_end_array(&j);
    dse_json_key_array(&j, "shared_links");
    for (uint32_t i = 0; i < r->n_shared; i++)
        write_shared(g, &r->shared[i], &j);
    dse_json_end_array(&j);
    dse_json_close(&j);
}
