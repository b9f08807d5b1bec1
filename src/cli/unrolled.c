#include "cli/unrolled.h"

#include <inttypes.h>

static void time_line(const char *label, dse_time ticks, const char *more, dse_strbuf *out)
{
    dse_strbuf_addf(out, "  %-22s %s  (%" PRIu64 " ns)%s\n", label, report_time(ticks).text, ticks, more);
}

static bool is_plain(const drv_unrolled *u) { return u->result.fallback != SIM_FALLBACK_NONE; }

void unrolled_text(const drv_unrolled *u, dse_strbuf *out)
{
    const char *result = u->wall == u->composed ? ", equal"
                         : u->is_even           ? ""
                                                : "; groups of a kind differ, and the slowest counts";

    dse_strbuf_adds(out, "The step unrolled, with one unit of a rank for all communication\n");
    dse_strbuf_addf(out, "  %-22s %s: %" PRIu32 " ranks, %" PRIu64 " nodes, %" PRIu64 " messages\n", "engine",
                    is_plain(u) ? "plain, message by message" : "fast", u->result.n_ranks, u->result.n_nodes,
                    u->result.n_messages);
    time_line("simulated", u->wall, "", out);
    time_line("added up", u->composed, result, out);
}

void unrolled_put(const drv_unrolled *u, report_node *to)
{
    report_put(to, V_BOOL("plain_engine", is_plain(u)), V_BOOL("even_groups", u->is_even),
               V_COUNT("simulated", u->wall), V_COUNT("added_up", u->composed), V_COUNT("nodes", u->result.n_nodes),
               V_COUNT("messages", u->result.n_messages));
}
