/* What upstream printed, against what came out here. */
#include "reference/reference.h"

#include "base/units.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int64_t number(const cfg_node *n)
{
    int64_t v = 0;

    if (!n || dse_parse_int(n->text, &v, NULL) != DSE_OK) {
        fprintf(stderr, "a number is missing in the reference data\n");
        exit(70);
    }
    return v;
}

/* ---- figures ------------------------------------------------------------------------------- */

/* An integer as it is, a fraction as upstream's percentage, a ratio. */
typedef enum { INTEGER, PERCENT, RATIO } figure_type;

#define NO_FLAG     SIZE_MAX
#define UNLESS_0    (SIZE_MAX - 1)
#define AT(member)  offsetof(sim_rank_stats, member)
#define ALWAYS(m)   AT(m), NO_FLAG
#define IF(flag, m) AT(m), AT(flag)

/* What upstream prints of a rank, and where it is here. */
static const struct {
    const char *key;
    figure_type type;
    size_t value, flag; /* flag: that there is such a figure */
} figures[] = {
    {"wall_time", INTEGER, ALWAYS(wall)},
    {"gpu_time", INTEGER, ALWAYS(gpu)},
    {"comm_time", INTEGER, ALWAYS(comm)},
    {"exposed_comm", INTEGER, ALWAYS(exposed_comm)},
    {"finished_cycles", INTEGER, ALWAYS(finished)},
    {"cpu_time", INTEGER, IF(has_cpu, cpu)},
    {"remote_mem_time", INTEGER, IF(has_remote_memory, remote_memory)},
    {"invalid_time", INTEGER, IF(has_invalid, invalid)},
    {"comp_comm_overlap", INTEGER, AT(overlap), UNLESS_0},
    {"compute_bound_pct", PERCENT, IF(has_utilisation, compute_bound)},
    {"compute_util_pct", PERCENT, IF(has_utilisation, compute_util)},
    {"mem_util_pct", PERCENT, IF(has_utilisation, memory_util)},
    {"op_intensity", RATIO, IF(has_utilisation, op_intensity)},
    {"peak_memory_bytes", INTEGER, IF(has_memory, peak_memory)},
};
#define N_FIGURES (sizeof figures / sizeof figures[0])

static uint64_t integer_of(const sim_rank_stats *s, size_t i)
{
    return *(const uint64_t *)(const void *)((const char *)s + figures[i].value);
}

static bool is_present(const sim_rank_stats *s, size_t i)
{
    if (figures[i].flag == UNLESS_0)
        return integer_of(s, i) > 0;
    return figures[i].flag == NO_FLAG || *(const bool *)((const char *)s + figures[i].flag);
}

/* As upstream prints it. */
static void print_figure(const sim_rank_stats *s, size_t i, char *out, size_t size)
{
    if (figures[i].type == INTEGER) {
        snprintf(out, size, "%" PRIu64, integer_of(s, i));
    } else {
        double v = *(const double *)(const void *)((const char *)s + figures[i].value);

        snprintf(out, size, "%.3f", figures[i].type == PERCENT ? v * 100 : v);
    }
}

static void check_rank(run *r, const char *where, const cfg_node *expected, const sim_rank_stats *s)
{
    for (size_t i = 0; i < N_FIGURES; i++) {
        const cfg_node *n = at(expected, figures[i].key);
        char text[64];

        if (!n && !is_present(s, i))
            continue;
        print_figure(s, i, text, sizeof text);
        if (!n || strcmp(n->text, text))
            PROBLEM(r, "%s %s: %s, expected %s", where, figures[i].key, text, n ? n->text : "none");
    }
}

static size_t find_figure(const char *key)
{
    for (size_t i = 0; i < N_FIGURES; i++)
        if (!strcmp(figures[i].key, key) && figures[i].type == INTEGER)
            return i;
    fprintf(stderr, "unknown figure '%s' in the reference data\n", key);
    exit(70);
}

/* The smallest and the largest of all ranks. */
static void check_range(run *r, const char *how, const char *key, const cfg_node *expected,
                        const sim_result *result)
{
    uint64_t low = UINT64_MAX, high = 0;
    size_t i = find_figure(key);

    for (uint32_t k = 0; k < result->n_ranks; k++) {
        uint64_t v = integer_of(&result->rank[k], i);

        low = v < low ? v : low;
        high = v > high ? v : high;
    }
    if (low != (uint64_t)number(expected->item[0]) || high != (uint64_t)number(expected->item[1]))
        PROBLEM(r, "%s: %s over all ranks is %" PRIu64 " .. %" PRIu64 ", expected %s .. %s", how, key, low,
                high, expected->item[0]->text, expected->item[1]->text);
}

void check_result(run *r, const char *how, const sim_result *result)
{
    const cfg_node *expect = at(r->doc.root, "expect"), *sys = at(expect, "sys"),
                   *minmax = at(expect, "minmax");

    for (uint32_t i = 0; i < sys->n; i++) {
        char where[128];

        snprintf(where, sizeof where, "%s, rank %s:", how, sys->key[i]->text);
        check_rank(r, where, sys->item[i], &result->rank[number(sys->key[i])]);
    }
    for (uint32_t i = 0; minmax && i < minmax->n; i++)
        check_range(r, how, minmax->key[i]->text, minmax->item[i], result);
}

void check_ticks(run *r, const char *how, const trace_ticks *record)
{
    char path[512], line[512];
    uint64_t lines = 0;
    FILE *f;

    if (!r->trace_folder)
        return;
    snprintf(path, sizeof path, "%s/%s.csv", r->trace_folder, r->id);
    f = fopen(path, "r");
    if ((f != NULL) != (at(r->doc.root, "trace") != NULL))
        PROBLEM(r, "%s: %s", path, f ? "it is there, but the case has no 'trace'" : "missing");
    if (!f)
        return;
    r->ticks_compared = true;
    if (!fgets(line, sizeof line, f))
        PROBLEM(r, "%s is empty", path);
    while (fgets(line, sizeof line, f)) {
        unsigned long long rank, id, start, end;
        uint64_t i = 0;

        if (sscanf(line, "%llu,%llu,%llu,%llu", &rank, &id, &start, &end) != 4)
            continue;
        while (i < record->n && (record->rank[i] != rank || record->id[i] != id))
            i++;
        if (i == record->n || record->start[i] != start || record->end[i] != end) {
            PROBLEM(r,
                    "%s: rank %llu, node %llu: upstream issued it at %llu and ended it at %llu, here %lld "
                    "and %lld",
                    how, rank, id, start, end, i == record->n ? -1LL : (long long)record->start[i],
                    i == record->n ? -1LL : (long long)record->end[i]);
            break;
        }
        lines++;
    }
    if (!lines || lines != record->n)
        PROBLEM(r, "%s: %" PRIu64 " nodes with ticks, expected %" PRIu64, how, record->n, lines);
    fclose(f);
}

/* ---- failures ------------------------------------------------------------------------------ */

/* What upstream said when it refused its input; all else that went wrong there did so in the simulation, which
 * crashed, hung, or left ranks unfinished. */
static const struct {
    const char *said;
    dse_status kind;
} refusals[] = {
    {"Cannot interpret collective implementations", DSE_E_CONFIG},
    {"`collective_impl.size() <= dimension_size.size()' failed", DSE_E_CONFIG},
    {"not supported", DSE_E_CONFIG},
    {"should be larger than 1", DSE_E_RANGE},
    {"only support 1-dim topology", DSE_E_RANGE},
    {"`!connected(id)' failed", DSE_E_RANGE},                        /* a Ring of two NPUs */
    {"STAGE: AssertionError at convert_chakra.py:450", DSE_E_RANGE}, /* a pipeline stage without a layer */
    {"unordered_map::at", DSE_E_WORKLOAD},                           /* a rank that is not in its group */
    {"communicator group 1 not found", DSE_E_WORKLOAD},
    {"`id > 0' failed", DSE_E_CONFIG}, /* a group 0 */
    {"Cannot access et file", DSE_E_IO},
    {"`src != dest' failed", DSE_E_WORKLOAD}, /* a message to oneself */
    {"recordWrites", DSE_E_WORKLOAD},         /* a tensor that is written twice */
};

void check_failure(run *r, const char *upstream, const dse_error *err)
{
    const char *unfinished = strstr(upstream, "exit code 0 but ");
    dse_status kind = DSE_E_SIM;
    const cfg_node *finished = at(at(r->doc.root, "expect"), "finished_sys");
    uint32_t waiting, ranks, n, of;

    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++)
        if (strstr(upstream, refusals[i].said))
            kind = refusals[i].kind;
    if (!strcmp(upstream, "; exit code 1")) /* without a word: a node that needs a remote memory */
        kind = DSE_E_WORKLOAD;
    if (strstr(upstream, "what():  stoi")) /* of a group file, or of a node */
        kind = err->status == DSE_E_CONFIG ? DSE_E_CONFIG : DSE_E_WORKLOAD;
    if (strstr(upstream, "unreleased nodes") && finished &&
        sscanf(err->text, "deadlock at tick %*u: %" SCNu32 " of %" SCNu32, &waiting, &ranks) == 2 &&
        waiting + finished->n != ranks)
        PROBLEM(r, "%s\n    upstream: %" PRIu32 " ranks have finished", err->text, finished->n);
    if (err->status != kind)
        PROBLEM(r, "failed with status %d, expected %d: %s: %s\n    upstream: %.200s", (int)err->status,
                (int)kind, err->where, err->text, upstream);
    if (unfinished &&
        sscanf(err->text, "deadlock at tick %*u: %" SCNu32 " of %" SCNu32, &waiting, &ranks) == 2 &&
        (sscanf(unfinished, "exit code 0 but %" SCNu32 " of %" SCNu32, &n, &of) != 2 || waiting != n ||
         ranks != of))
        PROBLEM(r, "%s\n    upstream: %.300s", err->text, upstream);
}
