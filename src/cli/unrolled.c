#include "cli/unrolled.h"

#include "base/units.h"

#include <inttypes.h>

static void time_line(const char *label, dse_time ticks, const char *more, dse_strbuf *out)
{
    char text[32];

    dse_format_seconds(text, sizeof text, (double)ticks * 1e-9);
    dse_strbuf_addf(out, "  %-22s %s  (%" PRIu64 " ns)%s\n", label, text, ticks, more);
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

void unrolled_json(const drv_unrolled *u, dse_json *j)
{
    dse_json_key_object(j, "unrolled");
    dse_json_key_bool(j, "plain_engine", is_plain(u));
    dse_json_key_bool(j, "even_groups", u->is_even);
    dse_json_key_uint(j, "simulated", u->wall);
    dse_json_key_uint(j, "added_up", u->composed);
    dse_json_key_uint(j, "nodes", u->result.n_nodes);
    dse_json_key_uint(j, "messages", u->result.n_messages);
    dse_json_end_object(j);
}
