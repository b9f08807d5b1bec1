/* A pipeline schedule as text and JSON. */
#include "cli/command.h"
#include "cli/schedule.h"
#include "report/tree.h"

#include <inttypes.h>

#define MOST_LISTED 4096 /* actions of a plan that are all listed unasked */
#define MOST_STAGES 4    /* of a rank that are all named */

static const char *plural(uint64_t n) { return n == 1 ? "" : "s"; }

void schedule_title(const schedule_shown *s, dse_strbuf *out)
{
    const sched_plan *p = &s->plan;
    uint32_t micro_batches = p->n_directions * p->n_micro_batches;

    dse_strbuf_addf(out, "%s: %" PRIu32 " rank%s, %" PRIu32 " stage%s, %" PRIu32 " micro-batch%s%s, costs %s",
                    s->name, p->n_ranks, plural(p->n_ranks), p->n_stages, plural(p->n_stages), micro_batches,
                    micro_batches == 1 ? "" : "es", p->n_directions > 1 ? " in two directions" : "",
                    s->costs);
}

/* ---- actions ------------------------------------------------------------------------------- */

/* The cells of a rank in lines of at most `width` columns; if not `all`, as many as one line has room for,
 * and how many more there are. */
static void add_actions(const sched_plan *p, uint32_t rank, size_t indent, size_t width, bool all,
                        dse_strbuf *out)
{
    const size_t room_for_more = all ? 0 : sizeof ",... 16777216 more" - 1;
    uint32_t i = p->first[rank], end = p->first[rank + 1];
    size_t column = indent;
    dse_strbuf cell;

    dse_strbuf_init(&cell);
    while (i < end) {
        bool first = column == indent;
        size_t needed;

        dse_strbuf_clear(&cell);
        sched_add_cell(p, &p->action[i], &cell);
        needed = cell.len + 1; /* a comma before or behind it */
        if (!first && column + needed + room_for_more > width) {
            if (!all)
                break;
            dse_strbuf_addf(out, ",\n%*s", (int)indent, "");
            column = indent;
            first = true;
        }
        dse_strbuf_addf(out, "%s%s", first ? "" : ",", cell.data);
        column += needed;
        i += p->action[i].with_next ? 2 : 1;
    }
    if (i < end)
        dse_strbuf_addf(out, ",... %" PRIu32 " more", end - i);
    dse_strbuf_addc(out, '\n');
    dse_strbuf_free(&cell);
}

static void print_actions(const schedule_shown *s, bool all, dse_strbuf *out)
{
    const sched_plan *p = &s->plan;
    size_t width = command_help_width();

    for (uint32_t r = 0; r < p->n_ranks; r++) {
        size_t before = out->len;

        dse_strbuf_addf(out, "rank %" PRIu32 "  ", r);
        add_actions(p, r, out->len - before, width, all, out);
    }
    if (!all)
        dse_strbuf_adds(out, "(--all lists every action)\n");
    dse_strbuf_addc(out, '\n');
}

/* ---- ranks --------------------------------------------------------------------------------- */

/* The stages of a rank in the order in which they first run: "0,4", "0,4,...,28"; of two directions
 * "a0,b7". `seen` and `list` have a place for each stage; a stage is seen once, as it is on one rank. */
static void add_stages(const sched_plan *p, uint32_t rank, bool *seen, uint32_t *list, dse_strbuf *out)
{
    uint32_t n = 0;

    for (uint32_t i = p->first[rank]; i < p->first[rank + 1]; i++) {
        uint32_t stage = p->action[i].stage;

        if (!seen[stage])
            list[n++] = stage;
        seen[stage] = true;
    }
    for (uint32_t i = 0; i < n; i++) {
        if (n > MOST_STAGES && i == 2) {
            dse_strbuf_adds(out, ",...");
            i = n - 1;
        }
        dse_strbuf_adds(out, i ? "," : "");
        if (p->n_directions > 1)
            dse_strbuf_addc(out, list[i] < p->n_stages ? 'a' : 'b');
        dse_strbuf_addu(out, list[i] % p->n_stages);
    }
}

static double percent_of(uint64_t part, uint64_t whole)
{
    return whole ? 100.0 * (double)part / (double)whole : 0; /* nothing takes any time: nothing waits */
}

static void print_ranks(const schedule_shown *s, dse_strbuf *out)
{
    const sched_plan *p = &s->plan;
    size_t n_stages = (size_t)p->n_directions * p->n_stages;
    bool *seen = dse_calloc(n_stages, sizeof *seen);
    uint32_t *list = dse_calloc(n_stages, sizeof *list);
    report_tree t;
    report_node *root = report_tree_begin(&t);
    dse_strbuf stages = dse_strbuf_in(&t.arena);

    for (uint32_t r = 0; r < p->n_ranks; r++) {
        uint64_t idle = s->times.makespan - s->times.busy[r];

        dse_strbuf_clear(&stages);
        add_stages(p, r, seen, list, &stages);
        report_row(root, V_AS("rank", V_COUNT(NULL, r)), V_NOTE("stages", stages.data),
                   V_AS("actions", V_COUNT(NULL, p->first[r + 1] - p->first[r])),
                   V_AS("start", V_COUNT(NULL, s->times.first[r])),
                   V_AS("end", V_COUNT(NULL, s->times.last[r])),
                   V_AS("busy", V_COUNT(NULL, s->times.busy[r])), V_AS("idle", V_COUNT(NULL, idle)),
                   V_AS("idle\n%", V_FIXED(NULL, percent_of(idle, s->times.makespan), 1)),
                   V_AS("peak live\nuntil I", V_COUNT(NULL, s->peak_i[r])),
                   V_AS("peak live\nuntil W", V_COUNT(NULL, s->peak_w[r])));
    }
    report_table_end(&t, out);
    dse_free(seen);
    dse_free(list);
}

static void print_sums(const schedule_shown *s, dse_strbuf *out)
{
    const sched_plan *p = &s->plan;
    uint64_t busy = 0, whole = s->times.makespan * p->n_ranks;

    for (uint32_t r = 0; r < p->n_ranks; r++)
        busy += s->times.busy[r];
    dse_strbuf_addf(out, "\nmakespan  %" PRIu64 "\nbubble    %.1f%% of the makespan, %.1f%% of the work\n",
                    s->times.makespan, percent_of(whole - busy, whole), percent_of(whole - busy, busy));
    dse_strbuf_adds(
        out, "(peak live: how many micro-batches, counted in each chunk, are kept at most after their F:\n"
             " until their I or B, and until their W or B)\n");
    if (p->n_skipped)
        dse_strbuf_addf(out,
                        "(%" PRIu32
                        " cells of the file are transfers or gather parameters; times have transfers by "
                        "--costs)\n",
                        p->n_skipped);
}

void schedule_show_text(const schedule_shown *s, bool all, dse_strbuf *out)
{
    schedule_title(s, out);
    dse_strbuf_addf(out, "\n%s\n\n", s->summary);
    print_actions(s, all || sched_n_actions(&s->plan) <= MOST_LISTED, out);
    print_ranks(s, out);
    print_sums(s, out);
}

/* ---- JSON ---------------------------------------------------------------------------------- */

/* A figure of each rank: these, or those. */
static void put_figures(const char *key, const uint32_t *counts, const uint64_t *times, uint32_t n,
                        report_node *to)
{
    report_node *list = report_list(to, key);

    for (uint32_t r = 0; r < n; r++)
        report_add(list, V_COUNT(NULL, counts ? counts[r] : times[r]));
}

void schedule_show_json(const schedule_shown *s, dse_strbuf *out)
{
    const sched_plan *p = &s->plan;
    report_tree t;
    report_node *root = report_tree_begin(&t), *compute = report_lines(root, "compute");
    dse_strbuf row = dse_strbuf_in(&t.arena);

    for (uint32_t r = 0; r < p->n_ranks; r++) {
        dse_strbuf_clear(&row);
        sched_add_row(p, r, &row);
        report_add(compute, V_TEXT(NULL, row.data));
    }
    report_put(root, V_COUNT("makespan", s->times.makespan));
    put_figures("peak_live_I", s->peak_i, NULL, p->n_ranks, root);
    put_figures("peak_live_W", s->peak_w, NULL, p->n_ranks, root);
    put_figures("busy", NULL, s->times.busy, p->n_ranks, root);
    put_figures("first", NULL, s->times.first, p->n_ranks, root);
    put_figures("end", NULL, s->times.last, p->n_ranks, root);
    report_tree_end(&t, out);
}
