#include "driver/links.h"

#include "base/fs.h"

#include <inttypes.h>
#include <string.h>

enum { SHOWN = 20 };

dse_status drv_links_check(const card_system *s, const char *remedy, dse_error *err)
{
    return !strcmp(s->backend, "congestion_aware")
               ? DSE_OK
               : dse_fail(err, DSE_E_USAGE,
                          "without congestion there are no links: each message has a delay of its own; "
                          "%s",
                          remedy);
}

/* ---- the figures --------------------------------------------------------------------------- */

void drv_link_put(const net_graph *g, uint32_t slot, report_node *to)
{
    const net_link *l = &g->link[slot];
    char name[NET_LINK_NAME];

    net_link_name(g, slot, name, sizeof name);
    report_put(to, V_NOTE("link", name), V_COUNT("source", l->from), V_COUNT("destination", l->to),
               V_AS("dimension", V_COUNT("dimension", l->dim)));
}

static void put_link(const net_load *l, uint32_t slot, report_node *to)
{
    const net_link_state *state = &l->link[slot];
    const double util = net_load_util(l, slot) * 100;

    drv_link_put(l->graph, slot, to);
    report_put(to, V_AS("messages", V_COUNT("messages", state->n_messages)),
               V_AS("bytes", V_BYTES("bytes", state->bytes)), V_AS("busy", V_TIME("busy_ns", state->busy)),
               V_FIXED("utilisation_pct", util, 3), V_CELL("util", report_format("%.1f%%", util).text));
}

static report_node *list_dimensions(const net_load *l, report_node *to)
{
    report_node *list = report_list(to, "dimensions");

    for (uint32_t i = 0; i < l->graph->net->n_dims; i++) {
        const net_dim_load *d = &l->dim[i];
        const char *topology = l->graph->net->dim[i].topology->name;
        const double mean = d->mean_util * 100, most = d->max_util * 100;

        report_row(list, V_NOTE("dimension", report_format("%" PRIu32 ", %s", i, topology).text),
                   V_COUNT("dimension", i), V_TEXT("topology", topology),
                   V_AS("links", V_COUNT("links", d->n_links)), V_AS("used", V_COUNT("used", d->n_used)),
                   V_AS("messages", V_COUNT("messages", d->n_messages)),
                   V_AS("bytes", V_BYTES("bytes", d->bytes)), V_FIXED("mean_utilisation_pct", mean, 3),
                   V_CELL("mean\nutil", report_format("%.1f%%", mean).text),
                   V_FIXED("max_utilisation_pct", most, 3),
                   V_CELL("max\nutil", report_format("%.1f%%", most).text));
    }
    return list;
}

/* The n busiest. */
static report_node *list_links(const net_load *l, uint32_t n, dse_arena *a, report_node *to)
{
    report_node *list = report_list(to, "links");
    const uint32_t *slots = net_load_sort(l, a);

    for (uint32_t i = 0; i < n; i++)
        put_link(l, slots[i], report_object(list, NULL));
    return list;
}

void drv_links_put(const net_load *l, dse_arena *a, report_node *to)
{
    report_put(to, V_COUNT("run_time_ns", l->end), V_COUNT("total", l->graph->n_links),
               V_COUNT("used", l->n_used));
    list_dimensions(l, to);
    if (l->busiest == DSE_NONE)
        report_put(to, V_UNKNOWN("bottleneck"));
    else
        put_link(l, l->busiest, report_object(to, "bottleneck"));
    list_links(l, l->graph->n_links, a, to);
}

/* ---- text ---------------------------------------------------------------------------------- */

static void print_bottleneck(const net_load *l, dse_strbuf *out)
{
    if (l->busiest == DSE_NONE) {
        dse_strbuf_adds(out, "bottleneck: none, no message was sent\n");
        return;
    }
    dse_strbuf_addf(out, "bottleneck: link %s (dimension %" PRIu32 "), busy %.1f %% of the run, %s",
                    l->busiest_name, l->graph->link[l->busiest].dim, net_load_util(l, l->busiest) * 100,
                    report_bytes(l->link[l->busiest].bytes).text);
    if (l->n_as_busy)
        dse_strbuf_addf(out, "; %" PRIu32 " more as busy", l->n_as_busy);
    dse_strbuf_addc(out, '\n');
}

void drv_links_print(const net_load *l, dse_arena *a, dse_strbuf *out)
{
    uint32_t shown = l->n_used < SHOWN ? l->n_used : SHOWN, unused = l->graph->n_links - l->n_used;
    report_tree t;
    report_node *root = report_tree_begin(&t);

    dse_strbuf_addf(
        out, "links, each of one direction; shares are of the run's %s, until the last rank finished\n",
        report_time(l->end).text);
    report_rows_table(list_dimensions(l, root), out);
    print_bottleneck(l, out);
    report_rows_table(list_links(l, shown, a, root), out);
    if (l->n_used > shown)
        dse_strbuf_addf(out, "%" PRIu32 " more were used; --links-csv FILE writes all of them\n",
                        l->n_used - shown);
    if (unused)
        dse_strbuf_addf(out, "%" PRIu32 " of %" PRIu32 " links were never used\n", unused, l->graph->n_links);
    report_tree_free(&t);
}

dse_status drv_links_save_csv(const net_load *l, const char *path, dse_arena *a, dse_error *err)
{
    const uint32_t *slots = net_load_sort(l, a);
    report_tree t;
    report_node *link = report_tree_begin(&t);
    dse_strbuf text;
    dse_status st;

    dse_strbuf_init(&text);
    for (uint32_t i = 0; i < l->graph->n_links; i++) { /* one at a time: there may be millions */
        put_link(l, slots[i], link);
        if (i == 0)
            report_csv_line(link, true, &text);
        report_csv_line(link, false, &text);
        report_tree_clear(&t);
    }
    report_tree_free(&t);
    st = dse_write_text(path, &text, err);
    dse_strbuf_free(&text);
    return st;
}
