/* Messages on a network as text and JSON: their routes, their durations, and which message waited for
 * which. */
#include "cli/topology.h"
#include "driver/links.h"
#include "network/load.h"

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

/* ---- lists --------------------------------------------------------------------------------- */

/* All links of the routes, or those at which a message waited. */
static void list_hops(const net_graph *g, const net_route_hop *hop, uint32_t n, bool all, report_node *list)
{
    for (uint32_t i = 0; i < n; i++) {
        const net_route_hop *h = &hop[i];
        const bool waited = h->behind != DSE_NONE;
        report_node *row;

        if (!all && !waited)
            continue;
        row = report_row(list, V_AS("message", V_COUNT(NULL, h->message)));
        drv_link_put(g, h->slot, row);
        report_put(row, V_AS("ready ns", V_COUNT("ready_ns", h->asked)),
                   V_AS("starts ns", V_COUNT("start_ns", h->taken)),
                   V_AS("arrives ns", V_COUNT("arrival_ns", h->there)),
                   V_AS("waited ns", V_COUNT(NULL, h->taken - h->asked)),
                   V_AS("for message", V_KNOWN(waited, "waited_for", V_COUNT("waited_for", h->behind))));
    }
}

static report_node *list_messages(const net_graph *g, const net_routes *r, report_node *to)
{
    report_node *list = report_lines(to, "messages");
    dse_strbuf way = dse_strbuf_in(list->arena);

    for (uint32_t i = 0; i < r->n; i++) {
        const net_route *m = &r->route[i];
        const char *several = r->n > 1 ? "together\nns" : NULL,
                   *waiting = r->n > 1 ? "of that\nwaiting ns" : NULL;
        report_node *row;

        dse_strbuf_clear(&way);
        add_way(g, r, m, &way);
        row = report_row(list, V_AS("message", V_COUNT(NULL, i)), V_AS("from", V_COUNT("source", m->src)),
                         V_AS("to", V_COUNT("destination", m->dst)), V_AS("links", V_COUNT(NULL, m->n_hops)),
                         V_AS("alone\nns", V_COUNT("alone_ns", m->alone)),
                         V_AS(several, V_COUNT("together_ns", m->together)),
                         V_AS(waiting, V_COUNT("waited_ns", m->waited)),
                         V_AS("without\ncongestion ns", V_COUNT("congestion_unaware_ns", m->unaware)),
                         V_NOTE("route", way.data));
        list_hops(g, &r->hop[m->first_hop], m->n_hops, true, report_lines(row, "links"));
    }
    return list;
}

/* The n busiest. */
static report_node *list_shared(const net_graph *g, const net_routes *r, uint32_t n, report_node *to)
{
    report_node *list = report_lines(to, "shared_links");

    for (uint32_t i = 0; i < n; i++) {
        const net_shared_link *s = &r->shared[i];
        report_node *row = report_object(list, NULL);

        drv_link_put(g, s->slot, row);
        report_put(row, V_AS("messages", V_COUNT("messages", s->n_messages)),
                   V_AS("most waiting", V_COUNT("most_waiting", s->most_waiting)),
                   V_AS("busy ns", V_COUNT("busy_ns", s->busy)));
    }
    return list;
}

/* ---- text ---------------------------------------------------------------------------------- */

static void print_meetings(const net_graph *g, const net_routes *r, bool all, report_node *root,
                           dse_strbuf *out)
{
    uint32_t n = all || r->n_shared <= MOST_SHARED ? r->n_shared : MOST_SHARED;

    if (!r->n_shared) {
        dse_strbuf_adds(out, "no two messages share a link\n\n");
        return;
    }
    dse_strbuf_adds(out, "links that several messages take, the busiest first\n\n");
    report_rows_table(list_shared(g, r, n, root), out);
    if (n < r->n_shared)
        dse_strbuf_addf(out, "(and %" PRIu32 " more: --all)\n", r->n_shared - n);
    dse_strbuf_addc(out, '\n');
}

void topology_routes_text(const drv_network *n, const net_graph *g, const net_routes *r, bool all,
                          dse_strbuf *out)
{
    report_tree t;
    report_node *root = report_tree_begin(&t), *hops = report_list(root, NULL);
    uint32_t waited = 0;

    for (uint32_t i = 0; i < r->n_hops; i++)
        waited += r->hop[i].behind != DSE_NONE;
    dse_strbuf_addf(out, "%s: %" PRIu32 " message%s of %" PRIu64 " byte%s, sent at 0 ns\n\n", n->name, r->n,
                    r->n == 1 ? "" : "s", r->bytes, r->bytes == 1 ? "" : "s");
    report_rows_table(list_messages(g, r, root), out);
    dse_strbuf_adds(out, r->n == 1 ? "\n"
                                   : "\nalone: no other message is under way; together: all are sent at once "
                                     "and queue for links.\n");
    dse_strbuf_adds(out,
                    "A message goes on to the next link when it has arrived whole; without congestion it "
                    "has a fixed delay.\n");
    dse_strbuf_adds(out, g->net->n_dims > 1 ? "In a route, -1- is a link of dimension 1.\n\n" : "\n");
    if (r->n > 1)
        print_meetings(g, r, all, root, out);
    all |= r->n_hops <= MOST_LISTED;
    if (!all)
        dse_strbuf_addf(
            out, "a message waited at %" PRIu32 " of the %" PRIu32 " links of the routes; --all lists all\n",
            waited, r->n_hops);
    if (all || waited) {
        dse_strbuf_adds(out, all ? "" : "\n");
        list_hops(g, r->hop, r->n_hops, all, hops);
        report_rows_table(hops, out);
    }
    report_tree_free(&t);
}

/* ---- JSON ---------------------------------------------------------------------------------- */

void topology_routes_json(const drv_network *n, const net_graph *g, const net_routes *r, dse_strbuf *out)
{
    report_tree t;
    report_node *root = report_tree_begin(&t);

    report_put(root, V_TEXT("system", n->name), V_COUNT("bytes", r->bytes));
    list_messages(g, r, root);
    list_shared(g, r, r->n_shared, root);
    report_tree_end(&t, out);
}
