#include "shortcuts/compare.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#define MAX_LINES 12 /* of one kind */

#define DIFFERS(out, ...) (dse_strbuf_addf((out), "    " __VA_ARGS__), dse_strbuf_addc((out), '\n'))

static void compare_count(const char *what, uint64_t plain, uint64_t seen, dse_strbuf *out)
{
    if (plain != seen)
        DIFFERS(out, "%s: %" PRIu64 ", plain %" PRIu64, what, seen, plain);
}

/* ---- figures of a rank --------------------------------------------------------------------- */

typedef enum { FLAG, COUNT, REAL } field_type;

#define FIELD(type, name)                                                                                    \
    {                                                                                                        \
#name, type, offsetof(sim_rank_stats, name)                                                          \
    }
static const struct {
    const char *name;
    field_type type;
    size_t offset;
} fields[] = {
    FIELD(COUNT, wall),          FIELD(COUNT, gpu),
    FIELD(COUNT, comm),          FIELD(COUNT, cpu),
    FIELD(COUNT, remote_memory), FIELD(COUNT, invalid),
    FIELD(FLAG, has_gpu),        FIELD(FLAG, has_comm),
    FIELD(FLAG, has_cpu),        FIELD(FLAG, has_remote_memory),
    FIELD(FLAG, has_invalid),    FIELD(COUNT, finished),
    FIELD(COUNT, exposed_comm),  FIELD(FLAG, has_utilisation),
    FIELD(REAL, compute_bound),  FIELD(REAL, compute_util),
    FIELD(REAL, memory_util),    FIELD(REAL, op_intensity),
    FIELD(FLAG, has_memory),     FIELD(COUNT, peak_memory),
    FIELD(COUNT, peak_time),
};

/* As an integer; of a double its bits. */
static uint64_t bits_of(const void *p, field_type type)
{
    uint64_t v = 0;

    if (type == FLAG)
        return *(const bool *)p;
    memcpy(&v, p, sizeof v);
    return v;
}

static double real_of(uint64_t bits)
{
    double v;

    memcpy(&v, &bits, sizeof v);
    return v;
}

static void compare_ranks(const sim_result *plain, const sim_result *seen, dse_strbuf *out)
{
    int lines = 0;

    for (uint32_t r = 0; r < plain->n_ranks && lines < MAX_LINES; r++)
        for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
            uint64_t a = bits_of((const char *)&plain->rank[r] + fields[i].offset, fields[i].type);
            uint64_t b = bits_of((const char *)&seen->rank[r] + fields[i].offset, fields[i].type);

            if (a == b || lines++ >= MAX_LINES)
                continue;
            if (fields[i].type == REAL)
                DIFFERS(out, "rank %" PRIu32 ", %s: %.17g, plain %.17g", r, fields[i].name, real_of(b),
                        real_of(a));
            else
                DIFFERS(out, "rank %" PRIu32 ", %s: %" PRIu64 ", plain %" PRIu64, r, fields[i].name, b, a);
        }
}

/* ---- of the whole run ---------------------------------------------------------------------- */

/* Each rank once, and the tick of each place. */
static void compare_order(const sim_result *plain, const sim_result *seen, dse_strbuf *out)
{
    for (uint32_t i = 0; i < plain->n_ranks; i++) {
        uint32_t a = plain->finish_order[i], b = seen->finish_order[i], times = 0;

        for (uint32_t k = 0; k < plain->n_ranks; k++)
            times += seen->finish_order[k] == i;
        if (times != 1 || b >= plain->n_ranks || plain->rank[a].finished != seen->rank[b].finished) {
            DIFFERS(out,
                    "finish_order: rank %" PRIu32 " in place %" PRIu32 ", plain %" PRIu32 "; rank %" PRIu32
                    " stands %" PRIu32 " times",
                    b, i, a, i, times);
            return;
        }
    }
}

static void compare_steps(const sim_breakdown *plain, const sim_breakdown *seen, dse_strbuf *out)
{
    compare_count("rank of the breakdown", plain->rank, seen->rank, out);
    compare_count("parts of the breakdown", plain->n_parts, seen->n_parts, out);
    for (uint32_t i = 0; plain->n_parts == seen->n_parts && i < plain->n_parts; i++)
        if (plain->part[i] != seen->part[i])
            DIFFERS(out, "part %" PRIu32 " of the breakdown: %" PRIu64 ", plain %" PRIu64, i, seen->part[i],
                    plain->part[i]);
}

static void compare_peaks(const sim_peak *plain, const sim_peak *seen, dse_strbuf *out)
{
    compare_count("rank of the peak", plain->rank, seen->rank, out);
    if (plain->node != seen->node)
        DIFFERS(out, "node of the peak: %s, plain %s", seen->node ? seen->node->name : "none",
                plain->node ? plain->node->name : "none");
    for (uint32_t i = 0; i < WL_N_TENSOR_KINDS; i++)
        if (plain->held[i] != seen->held[i])
            DIFFERS(out, "held of kind %" PRIu32 ": %" PRIu64 ", plain %" PRIu64, i, seen->held[i],
                    plain->held[i]);
}

static void compare_loads(const net_load *plain, const net_load *seen, dse_strbuf *out)
{
    compare_count("has a load of links", plain != NULL, seen != NULL, out);
    if (!plain || !seen)
        return;
    compare_count("end of the load", plain->end, seen->end, out);
    compare_count("links used", plain->n_used, seen->n_used, out);
    compare_count("busiest link", plain->busiest, seen->busiest, out);
    for (uint32_t i = 0; i < plain->graph->n_slots; i++)
        if (memcmp(&plain->link[i], &seen->link[i], sizeof plain->link[i])) {
            DIFFERS(out, "link %" PRIu32 " carried something else", i);
            return;
        }
}

static void compare_records(const trace_ticks *plain, const trace_ticks *seen, dse_strbuf *out)
{
    int lines = 0;

    compare_count("lines of the record", plain->n, seen->n, out);
    compare_count("ranks of the record", plain->n_ranks, seen->n_ranks, out);
    for (uint64_t i = 0; i < plain->n && plain->n == seen->n && lines < MAX_LINES; i++) {
        if (plain->rank[i] == seen->rank[i] && plain->id[i] == seen->id[i] &&
            plain->start[i] == seen->start[i] && plain->end[i] == seen->end[i] &&
            plain->category[i] == seen->category[i] && plain->type[i] == seen->type[i] &&
            plain->bytes[i] == seen->bytes[i] && !strcmp(plain->name[i], seen->name[i]))
            continue;
        lines++;
        DIFFERS(out,
                "line %" PRIu64 " of the record: rank %" PRIu32 ", node %" PRIu64 " '%s', %" PRIu64
                " .. %" PRIu64 ", plain rank %" PRIu32 ", node %" PRIu64 " '%s', %" PRIu64 " .. %" PRIu64,
                i, seen->rank[i], seen->id[i], seen->name[i], seen->start[i], seen->end[i], plain->rank[i],
                plain->id[i], plain->name[i], plain->start[i], plain->end[i]);
    }
}

void compare_outcomes(const run_outcome *plain, const run_outcome *seen, dse_strbuf *out)
{
    const sim_result *a = &plain->result, *b = &seen->result;

    if (plain->status != seen->status || strcmp(plain->err.where, seen->err.where) ||
        strcmp(plain->err.text, seen->err.text)) {
        DIFFERS(out, "status %d: %s", (int)seen->status, seen->err.text);
        DIFFERS(out, "plain  %d: %s", (int)plain->status, plain->err.text);
        return;
    }
    if (plain->status != DSE_OK)
        return;
    compare_count("ranks", a->n_ranks, b->n_ranks, out);
    compare_count("nodes", a->n_nodes, b->n_nodes, out);
    compare_count("messages", a->n_messages, b->n_messages, out);
    compare_count("undercharged messages", a->n_undercharged, b->n_undercharged, out);
    compare_count("flat rings", a->n_flat_rings, b->n_flat_rings, out);
    if (a->n_ranks != b->n_ranks)
        return;
    compare_ranks(a, b, out);
    compare_order(a, b, out);
    compare_steps(&a->step, &b->step, out);
    compare_peaks(&a->peak, &b->peak, out);
    compare_loads(a->load, b->load, out);
    compare_records(&plain->record, &seen->record, out);
}
