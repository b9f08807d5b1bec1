#include "driver/links.h"

#include "base/fs.h"
#include "base/units.h"
#include "report/table.h"

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

/* ---- text ---------------------------------------------------------------------------------- */

static void bytes_cell(report_table *t, uint64_t bytes)
{
    char text[32];

    dse_format_bytes(text, sizeof text, (double)bytes);
    report_table_cell(t, "%s", text);
}

static void add_headings(report_table *t, const char *const *headings, size_t n, uint32_t n_left)
{
    report_table_init(t);
    for (size_t i = 0; i < n; i++)
        report_table_column(t, headings[i], i < n_left);
}

static void print_dimensions(const net_load *l, dse_strbuf *out)
{
    static const char *const headings[] = {"dimension", "links",      "used",     "messages",
                                           "bytes",     "mean\nutil", "max\nutil"};
    report_table t;

    add_headings(&t, headings, sizeof headings / sizeof headings[0], 1);
    for (uint32_t i = 0; i < l->graph->net->n_dims; i++) {
        const net_dim_load *d = &l->dim[i];

        report_table_cell(&t, "%" PRIu32 ", %s", i, l->graph->net->dim[i].topology->name);
        report_table_cell(&t, "%" PRIu32, d->n_links);
        report_table_cell(&t, "%" PRIu32, d->n_used);
        report_table_cell(&t, "%" PRIu64, d->n_messages);
        bytes_cell(&t, d->bytes);
        report_table_cell(&t, "%.1f%%", d->mean_util * 100);
        report_table_cell(&t, "%.1f%%", d->max_util * 100);
    }
    report_table_print(&t, out);
    report_table_free(&t);
}

static void print_links(const net_load *l, const uint32_t *slots, uint32_t n, dse_strbuf *out)
{
    static const char *const headings[] = {"link", "dimension", "messages", "bytes", "busy", "util"};
    report_table t;

    add_headings(&t, headings, sizeof headings / sizeof headings[0], 1);
    for (uint32_t i = 0; i < n; i++) {
        const net_link_state *link = &l->link[slots[i]];
        char text[NET_LINK_NAME];

        net_link_name(l->graph, slots[i], text, sizeof text);
        report_table_cell(&t, "%s", text);
        report_table_cell(&t, "%" PRIu32, l->graph->link[slots[i]].dim);
        report_table_cell(&t, "%" PRIu64, (uint64_t)link->n_messages);
        bytes_cell(&t, link->bytes);
        dse_format_seconds(text, sizeof text, (double)link->busy * 1e-9);
        report_table_cell(&t, "%s", text);
        report_table_cell(&t, "%.1f%%", net_load_util(l, slots[i]) * 100);
    }
    report_table_print(&t, out);
    report_table_free(&t);
}

static void print_bottleneck(const net_load *l, dse_strbuf *out)
{
    char bytes[32];

    if (l->busiest == DSE_NONE) {
        dse_strbuf_adds(out, "bottleneck: none, no message was sent\n");
        return;
    }
    dse_format_bytes(bytes, sizeof bytes, (double)l->link[l->busiest].bytes);
    dse_strbuf_addf(out, "bottleneck: link %s (dimension %" PRIu32 "), busy %.1f %% of the run, %s",
                    l->busiest_name, l->graph->link[l->busiest].dim, net_load_util(l, l->busiest) * 100,
                    bytes);
    if (l->n_as_busy)
        dse_strbuf_addf(out, "; %" PRIu32 " more as busy", l->n_as_busy);
    dse_strbuf_addc(out, '\n');
}

void drv_links_print(const net_load *l, dse_arena *a, dse_strbuf *out)
{
    uint32_t shown = l->n_used < SHOWN ? l->n_used : SHOWN, unused = l->graph->n_links - l->n_used;
    const uint32_t *slots = net_load_sort(l, a);
    char time[32];

    dse_format_seconds(time, sizeof time, (double)l->end * 1e-9);
    dse_strbuf_addf(
        out, "links, each of one direction; shares are of the run's %s, until the last rank finished\n",
        time);
    print_dimensions(l, out);
    print_bottleneck(l, out);
    if (shown)
        print_links(l, slots, shown, out);
    if (l->n_used > shown)
        dse_strbuf_addf(out, "%" PRIu32 " more were used; --links-csv FILE writes all of them\n",
                        l->n_used - shown);
    if (unused)
        dse_strbuf_addf(out, "%" PRIu32 " of %" PRIu32 " links were never used\n", unused, l->graph->n_links);
}

/* ---- JSON ---------------------------------------------------------------------------------- */

static void percent_json(const char *key, double fraction, dse_json *j)
{
    dse_json_key_fixed(j, key, fraction * 100, 3);
}

static void dimensions_json(const net_load *l, dse_json *j)
{
    dse_json_key_array(j, "dimensions");
    for (uint32_t i = 0; i < l->graph->net->n_dims; i++) {
        const net_dim_load *d = &l->dim[i];

        dse_json_begin_object(j);
        dse_json_key_uint(j, "dimension", i);
        dse_json_key_string(j, "topology", l->graph->net->dim[i].topology->name);
        dse_json_key_uint(j, "links", d->n_links);
        dse_json_key_uint(j, "used", d->n_used);
        dse_json_key_uint(j, "messages", d->n_messages);
        dse_json_key_uint(j, "bytes", d->bytes);
        percent_json("mean_utilisation_pct", d->mean_util, j);
        percent_json("max_utilisation_pct", d->max_util, j);
        dse_json_end_object(j);
    }
    dse_json_end_array(j);
}

void drv_link_json_keys(const net_link *l, dse_json *j)
{
    dse_json_key_uint(j, "source", l->from);
    dse_json_key_uint(j, "destination", l->to);
    dse_json_key_uint(j, "dimension", l->dim);
}

static void link_json(const net_load *l, uint32_t slot, dse_json *j)
{
    const net_link_state *state = &l->link[slot];

    dse_json_begin_object(j);
    drv_link_json_keys(&l->graph->link[slot], j);
    dse_json_key_uint(j, "messages", state->n_messages);
    dse_json_key_uint(j, "bytes", state->bytes);
    dse_json_key_uint(j, "busy_ns", state->busy);
    percent_json("utilisation_pct", net_load_util(l, slot), j);
    dse_json_end_object(j);
}

void drv_links_json(const net_load *l, dse_arena *a, dse_json *j)
{
    const uint32_t *slots = net_load_sort(l, a);

    dse_json_begin_object(j);
    dse_json_key_uint(j, "run_time_ns", l->end);
    dse_json_key_uint(j, "total", l->graph->n_links);
    dse_json_key_uint(j, "used", l->n_used);
    dimensions_json(l, j);
    dse_json_key(j, "bottleneck");
    if (l->busiest == DSE_NONE)
        dse_json_null(j);
    else
        link_json(l, l->busiest, j);
    dse_json_key_array(j, "links");
    for (uint32_t i = 0; i < l->graph->n_links; i++)
        link_json(l, slots[i], j);
    dse_json_end_array(j);
    dse_json_end_object(j);
}

/* ---- CSV ----------------------------------------------------------------------------------- */

dse_status drv_links_save_csv(const net_load *l, const char *path, dse_arena *a, dse_error *err)
{
    const uint32_t *slots = net_load_sort(l, a);
    dse_strbuf text;
    dse_status st;

    dse_strbuf_init(&text);
    dse_strbuf_adds(&text, "source,destination,dimension,messages,bytes,busy_ns,utilisation_pct\n");
    for (uint32_t i = 0; i < l->graph->n_links; i++) {
        const net_link_state *state = &l->link[slots[i]];
        const net_link *link = &l->graph->link[slots[i]];

        dse_strbuf_addf(&text,
                        "%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%.3f\n",
                        link->from, link->to, link->dim, (uint64_t)state->n_messages, state->bytes,
                        state->busy, net_load_util(l, slots[i]) * 100);
    }
    st = dse_write_text(path, &text, err);
    dse_strbuf_free(&text);
    return st;
}
