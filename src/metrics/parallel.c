#include "metrics/parallel.h"

#include "base/array.h"
#include "base/names.h"
#include "base/order.h"
#include "metrics/kinds.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MAX_RANKS (1u << 20) /* a list of more is no list of ranks */

const char *const metric_parallel_name[METRIC_PARALLELS] = {"dp", "tp", "pp", "ep", "cp", "unknown"};

/* ---- lists of ranks -------------------------------------------------------------------------- */

/* Numbers up to the closing bracket; *dots is the place of "..." among them, or DSE_NONE. 0: it is no
 * list. */
static uint32_t numbers_of(const char *text, uint32_t *rank, uint32_t *dots)
{
    uint32_t n = 0;

    *dots = DSE_NONE;
    text += *text == '[';
    while (*text && *text != ']') {
        if (strncmp(text, "...", 3) == 0 && *dots == DSE_NONE) {
            *dots = n;
            text += 3;
        } else if (isdigit((unsigned char)*text)) {
            char *end;
            unsigned long v = strtoul(text, &end, 10);

            if (v >= DSE_NONE || n == MAX_RANKS)
                return 0;
            rank[n++] = (uint32_t)v;
            text = end;
        } else if (*text == ' ' || *text == ',') {
            text++;
        } else {
            return 0;
        }
    }
    return n;
}

/* Fills in what an abbreviation leaves out: its stride is that of the numbers before the dots, or follows from the
 * size of the group. n is 0 if what it says is not regular. */
static metric_ranks expand(const uint32_t *rank, uint32_t n, uint32_t dots, uint32_t group_size, dse_arena *a)
{
    const uint32_t length = n ? rank[n - 1] - rank[0] : 0;
    metric_ranks all = {0, NULL};
    uint32_t stride = 0, total;

    if (dots == 0 || dots >= n || rank[n - 1] <= rank[0])
        return all;
    if (dots >= 2)
        stride = rank[1] > rank[0] ? rank[1] - rank[0] : 0;
    else if (group_size > 1 && length % (group_size - 1) == 0)
        stride = length / (group_size - 1);
    if (!stride || length % stride)
        return all;
    total = length / stride + 1;
    if (total > MAX_RANKS || total < n || (group_size && total != group_size))
        return all;
    for (uint32_t i = 0; i < n; i++)
        if (rank[i] != rank[0] + stride * (i < dots ? i : total - n + i))
            return all;
    all = (metric_ranks){total, DSE_ARENA_NEW(a, uint32_t, total)};
    for (uint32_t i = 0; i < total; i++)
        all.rank[i] = rank[0] + stride * i;
    return all;
}

metric_ranks metric_ranks_of(const char *text, uint32_t group_size, dse_arena *a)
{
    uint32_t *rank = DSE_ARENA_NEW(a, uint32_t, strlen(text) / 2 + 1), dots,
             n = numbers_of(text, rank, &dots);

    if (!n)
        return (metric_ranks){0, NULL};
    if (dots != DSE_NONE)
        return expand(rank, n, dots, group_size, a);
    qsort(rank, n, sizeof *rank, dse_by_u32);
    return (metric_ranks){n, rank};
}

bool metric_ranks_have(const metric_ranks *r, uint32_t rank)
{
    return r->n && bsearch(&rank, r->rank, r->n, sizeof rank, dse_by_u32);
}

/* ---- the card's degrees ----------------------------------------------------------------------- */

static const char *const dimension_names[] = {"tp", "cp", "dp_shard", "dp_replicate", "pp"};
enum { TP, CP, DP_SHARD, DP_REPLICATE, PP, DIMENSIONS };

static uint32_t degree_of(int64_t v) { return v > 0 && v < DSE_NONE ? (uint32_t)v : 1; }

static int dimension_of(const char *word, size_t n)
{
    for (int d = 0; d < DIMENSIONS; d++)
        if (strlen(dimension_names[d]) == n && strncasecmp(dimension_names[d], word, n) == 0)
            return d;
    return -1;
}

/* The order of the card, those that it does not name behind. */
static dse_status order_of(const trace_card *card, int order[DIMENSIONS], dse_error *err)
{
    const char *at = card->rank_order ? card->rank_order : "";
    bool named[DIMENSIONS] = {false};
    size_t n = 0;

    while (*at) {
        size_t length = strcspn(at, ", ");
        int d = dimension_of(at, length);

        if (length && (d < 0 || named[d]))
            return dse_fail_at(
                err, DSE_E_CONFIG, card->path,
                "rank_order has '%.*s'; it takes each of tp, cp, dp_shard, dp_replicate, pp once, "
                "innermost first",
                (int)length, at);
        if (length) {
            named[d] = true;
            order[n++] = d;
        }
        at += length;
        at += strspn(at, ", ");
    }
    for (int d = 0; d < DIMENSIONS; d++)
        if (!named[d])
            order[n++] = d;
    return DSE_OK;
}

dse_status metric_layout_of(const trace_card *card, metric_layout *out, dse_error *err)
{
    static const metric_parallel ways[DIMENSIONS] = {METRIC_TP, METRIC_CP, METRIC_DP, METRIC_DP, METRIC_PP};
    const uint32_t degree[DIMENSIONS] = {degree_of(card->tp), degree_of(card->cp), degree_of(card->dp_shard),
                                         degree_of(card->dp_replicate), degree_of(card->pp)};
    int order[DIMENSIONS];
    uint64_t stride = 1;
    dse_status st;

    *out = (metric_layout){0};
    if ((st = order_of(card, order, err)) != DSE_OK)
        return st;
    for (int i = 0; i < DIMENSIONS && stride < DSE_NONE; i++) {
        int d = order[i];

        if (d == DP_SHARD && card->ep > 1) {
            out->ep = degree_of(card->ep);
            out->ep_stride = (uint32_t)stride;
        }
        if (degree[d] > 1)
            out->dimension[out->n++] = (metric_dimension){ways[d], degree[d], (uint32_t)stride};
        stride *= degree[d];
    }
    return DSE_OK;
}

/* Whether `ranks` are one of the sets of `size` ranks, `stride` apart, into which the world falls. */
static bool is_set(const metric_ranks *ranks, uint64_t size, uint32_t stride)
{
    if (ranks->n != size || ranks->rank[0] / stride % size != 0)
        return false;
    for (uint32_t i = 1; i < ranks->n; i++)
        if (ranks->rank[i] - ranks->rank[i - 1] != stride)
            return false;
    return true;
}

metric_parallel metric_layout_class(const metric_layout *l, const metric_ranks *ranks, bool all_to_all)
{
    bool experts = l->ep && ranks->n && is_set(ranks, l->ep, l->ep_stride);

    if (!ranks->n || (experts && all_to_all))
        return experts ? METRIC_EP : METRIC_UNKNOWN;
    for (size_t i = 0; i < l->n; i++)
        if (is_set(ranks, l->dimension[i].degree, l->dimension[i].stride))
            return l->dimension[i].parallel;
    /* Gradients go over all of the data dimensions at a time, and over the ranks that share a sequence with
     * them. */
    for (size_t i = 0; i < l->n; i++) {
        uint64_t size = l->dimension[i].degree;
        bool data = l->dimension[i].parallel == METRIC_DP;

        for (size_t j = i + 1; j < l->n; j++) {
            metric_parallel before = l->dimension[j - 1].parallel, p = l->dimension[j].parallel;

            if ((before != METRIC_DP && before != METRIC_CP) || (p != METRIC_DP && p != METRIC_CP))
                break;
            data = data || p == METRIC_DP;
            size *= l->dimension[j].degree;
            if (data && is_set(ranks, size, l->dimension[i].stride))
                return METRIC_DP;
        }
    }
    return experts ? METRIC_EP : METRIC_UNKNOWN;
}

uint32_t metric_layout_stage(const metric_layout *l, uint32_t rank)
{
    for (size_t i = 0; i < l->n; i++)
        if (l->dimension[i].parallel == METRIC_PP)
            return rank / l->dimension[i].stride % l->dimension[i].degree;
    return DSE_NONE;
}

/* ---- descriptions ---------------------------------------------------------------------------- */

/* Words of torchtitan's meshes (mesh_dp_shard) and of Megatron's groups (TENSOR_MODEL_PARALLEL_GROUP). In
 * this order: the gradients of experts (EXPERT_DATA_PARALLEL_GROUP) are data parallel, and so are shards over
 * sequences (dp_shard_cp). The sp of our own timelines parts sequences among ranks, as context parallelism
 * does. */
static const struct {
    const char *word;
    metric_parallel parallel;
} words[] = {{"dp", METRIC_DP},       {"fsdp", METRIC_DP}, {"shard", METRIC_DP},  {"replicate", METRIC_DP},
             {"data", METRIC_DP},     {"tp", METRIC_TP},   {"tensor", METRIC_TP}, {"pp", METRIC_PP},
             {"pipeline", METRIC_PP}, {"ep", METRIC_EP},   {"expert", METRIC_EP}, {"cp", METRIC_CP},
             {"context", METRIC_CP},  {"sp", METRIC_CP}};

static bool separates(char c) { return !isalnum((unsigned char)c); }

metric_parallel metric_parallel_of_description(const char *text)
{
    for (size_t i = 0; i < DSE_COUNT(words); i++)
        if (metric_has_part(text, words[i].word, separates))
            return words[i].parallel;
    return METRIC_UNKNOWN;
}

/* ---- groups ---------------------------------------------------------------------------------- */

metric_group metric_group_of(const trace_rank *rank, const trace_args *args)
{
    metric_group g = {TRACE_NAME(rank, args->group_desc), TRACE_NAME(rank, args->group_ranks),
                      args->group_size};

    for (size_t i = 0; (!g.desc || !g.ranks) && args->group_name != DSE_NONE && i < rank->n_groups; i++) {
        const trace_group *declared = &rank->group[i];

        if (declared->name != args->group_name)
            continue;
        g.desc = g.desc ? g.desc : TRACE_NAME(rank, declared->desc);
        g.ranks = g.ranks ? g.ranks : TRACE_NAME(rank, declared->ranks);
        g.size = g.size ? g.size : declared->size;
        break;
    }
    return g;
}
