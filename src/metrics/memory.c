/* Memory by a snapshot of PyTorch's caching allocator, and the peak memory of tensors, of a snapshot or of a
 * simulated run.
 *
 * A snapshot is the state at one moment, and the history that led there; the peak lies in the history. It
 * is walked backwards from the snapshot, undoing each entry. History sizes are requested sizes, so the
 * start is what the blocks requested: those that are allocated, for memory that tensors hold; all active
 * ones, for memory that is freed but still waits for a stream, too. Source: spec of the metrics, section
 * 5.3; PyTorch's CUDACachingAllocator for the meaning of the actions. Checked against the recordings of
 * the reference set. */
#include "metrics/metric.h"
#include "metrics/numbers.h"
#include "metrics/order.h"
#include "trace/allocator.h"

#include <stdlib.h>
#include <string.h>

/* ---- devices -------------------------------------------------------------------------------- */

/* The levels that are followed through time. */
enum { MEMORY_RESERVED, MEMORY_ALLOCATED, MEMORY_ACTIVE, MEMORY_LEVELS };

typedef struct {
    uint32_t device;
    uint64_t reserved, allocated, active, requested; /* sums over the segments at the snapshot */
    uint64_t n_segments, n_blocks;
    uint64_t allocated_requested, active_requested; /* of the blocks, by what they are */
    bool has_requested;
    bool has_history;
    int64_t peak[MEMORY_LEVELS], start[MEMORY_LEVELS]; /* start: before the oldest entry */
    uint64_t actions[TRACE_ACTIONS];
    uint64_t oom_bytes, oom_free; /* of the largest request that failed */
} memory_device;

typedef struct {
    size_t n;
    memory_device *device; /* ascending */
} memory_devices;

/* The change of each level by an entry; walking backwards subtracts it. */
static const int8_t adds[TRACE_ACTIONS][MEMORY_LEVELS] = {
    [TRACE_ALLOC] = {[MEMORY_ALLOCATED] = 1, [MEMORY_ACTIVE] = 1},
    [TRACE_FREE_REQUESTED] = {[MEMORY_ALLOCATED] = -1},
    [TRACE_FREE_COMPLETED] = {[MEMORY_ACTIVE] = -1},
    [TRACE_SEGMENT_ALLOC] = {[MEMORY_RESERVED] = 1},
    [TRACE_SEGMENT_MAP] = {[MEMORY_RESERVED] = 1},
    [TRACE_SEGMENT_FREE] = {[MEMORY_RESERVED] = -1},
    [TRACE_SEGMENT_UNMAP] = {[MEMORY_RESERVED] = -1}};

/* ---- one device ----------------------------------------------------------------------------- */

/* Adds what a segment holds. */
static void add_segment(memory_device *d, const trace_segment *s)
{
    d->reserved += s->total_size;
    d->allocated += s->allocated_size;
    d->active += s->active_size;
    d->requested += s->requested_size;
    d->n_segments++;
    d->n_blocks += s->n_other_blocks;
    for (int i = 0; i < TRACE_BLOCK_STATES; i++)
        d->n_blocks += s->n_blocks[i];
    d->allocated_requested += s->requested[TRACE_ACTIVE_ALLOCATED];
    d->active_requested += s->requested[TRACE_ACTIVE_ALLOCATED] + s->requested[TRACE_ACTIVE_PENDING_FREE];
    d->has_requested &= s->has_requested;
}

/* In unsigned arithmetic, which wraps where a made-up file overflows. */
static void replay(memory_device *d, const trace_history *h)
{
    uint64_t level[MEMORY_LEVELS] = {[MEMORY_RESERVED] = d->reserved,
                                     [MEMORY_ALLOCATED] = d->allocated_requested,
                                     [MEMORY_ACTIVE] = d->active_requested};

    d->has_history = h->n > 0;
    for (int i = 0; i < MEMORY_LEVELS; i++)
        d->peak[i] = (int64_t)level[i];
    for (size_t e = h->n; e-- > 0;) {
        const trace_allocation *a = &h->entry[e];

        d->actions[a->action]++;
        if (a->action == TRACE_OOM && a->size >= d->oom_bytes) {
            d->oom_bytes = a->size;
            d->oom_free = a->address;
        }
        for (int i = 0; i < MEMORY_LEVELS; i++) {
            level[i] -= (uint64_t)(int64_t)adds[a->action][i] * a->size;
            if ((int64_t)level[i] > d->peak[i])
                d->peak[i] = (int64_t)level[i];
        }
    }
    for (int i = 0; i < MEMORY_LEVELS; i++)
        d->start[i] = (int64_t)level[i];
}

/* Whether the history does not reach back to where nothing was held: the peak may lie before it. */
static bool is_lower_bound(const memory_device *d)
{
    return d->start[MEMORY_RESERVED] || (d->has_requested && d->start[MEMORY_ACTIVE]);
}

/* ---- the devices of a rank ------------------------------------------------------------------ */

METRIC_COMPARE(by_device, memory_device, {x->device, y->device})

static memory_device *find(const memory_devices *all, uint32_t number)
{
    const memory_device key = {.device = number};

    return bsearch(&key, all->device, all->n, sizeof key, by_device);
}

/* The devices with segments or a history, in the arena. */
static memory_devices devices_of(const trace_allocator *a, dse_arena *arena)
{
    memory_devices all = {0, DSE_ARENA_NEW(arena, memory_device, a->n_segments + a->n_histories + 1)};
    size_t n = 0;

    for (size_t i = 0; i < a->n_segments; i++)
        all.device[n++].device = a->segment[i].device;
    for (size_t i = 0; i < a->n_histories; i++)
        if (a->history[i].n)
            all.device[n++].device = a->history[i].device;
    qsort(all.device, n, sizeof *all.device, by_device);
    for (size_t i = 0; i < n; i++)
        if (!all.n || all.device[all.n - 1].device != all.device[i].device)
            all.device[all.n++] = (memory_device){.device = all.device[i].device, .has_requested = true};
    for (size_t i = 0; i < a->n_segments; i++)
        add_segment(find(&all, a->segment[i].device), &a->segment[i]);
    for (size_t i = 0; i < a->n_histories; i++)
        if (a->history[i].n)
            replay(find(&all, a->history[i].device), &a->history[i]);
    return all;
}

/* ---- the definition ------------------------------------------------------------------------- */

static const char no_history[] =
    "the snapshot has no history of this device; record one with torch.cuda.memory._record_memory_history()";
static const char no_requested[] = "this version of PyTorch does not say what its blocks requested";

/* The peaks of a device, or the largest of all devices. */
static void put_peak_bytes(metric_value *to, bool has_history, bool has_requested,
                           const int64_t peak[MEMORY_LEVELS])
{
    static const char *const keys[MEMORY_LEVELS] = {[MEMORY_RESERVED] = "peak_reserved_bytes",
                                                    [MEMORY_ALLOCATED] = "peak_requested_allocated_bytes",
                                                    [MEMORY_ACTIVE] = "peak_requested_active_bytes"};

    for (int i = 0; i < MEMORY_LEVELS; i++)
        if (!has_history)
            metric_put_absent(to, keys[i], no_history);
        else if (i != MEMORY_RESERVED && !has_requested)
            metric_put_absent(to, keys[i], no_requested);
        else
            metric_put_integer(to, keys[i], peak[i]);
}

static void put_peaks(metric_value *to, const memory_device *d)
{
    put_peak_bytes(to, d->has_history, d->has_requested, d->peak);
    if (!d->has_history)
        return;
    metric_put_integer(to, "at_history_start_reserved_bytes", d->start[MEMORY_RESERVED]);
    if (d->has_requested)
        metric_put_integer(to, "at_history_start_requested_active_bytes", d->start[MEMORY_ACTIVE]);
    metric_put_bool(to, "peak_is_lower_bound", is_lower_bound(d));
}

static void put_actions(metric_value *to, const memory_device *d)
{
    metric_value *actions = metric_put_object(to, "actions");

    for (int i = 0; i < TRACE_ACTIONS; i++)
        if (d->actions[i])
            metric_put_count(actions, trace_action_name((trace_action)i), d->actions[i]);
    if (!d->actions[TRACE_OOM])
        return;
    metric_put_count(to, "oom_requested_bytes", d->oom_bytes);
    metric_put_count(to, "oom_device_free_bytes", d->oom_free);
}

static void put_fractions(metric_value *to, const memory_device *d)
{
    metric_put_ratio(to, "external_fragmentation", (double)d->reserved - (double)d->allocated,
                     (double)d->reserved, "nothing is reserved");
    if (!d->has_requested) {
        metric_put_absent(to, "internal_fragmentation", no_requested);
        metric_put_absent(to, "memory_efficiency", no_requested);
        return;
    }
    /* Only allocated blocks count: a segment's requested_size includes blocks that wait to be freed. */
    metric_put_ratio(to, "internal_fragmentation", (double)d->allocated - (double)d->allocated_requested,
                     (double)d->allocated, "nothing is allocated");
    metric_put_ratio(to, "memory_efficiency", (double)d->requested, (double)d->reserved,
                     "nothing is reserved");
}

static void put_device(metric_value *to, const memory_device *d)
{
    metric_value *v = metric_put_numbered(to, d->device);

    metric_put_count(v, "final_reserved_bytes", d->reserved);
    metric_put_count(v, "final_allocated_bytes", d->allocated);
    metric_put_count(v, "final_active_bytes", d->active);
    if (d->has_requested) {
        metric_put_count(v, "final_requested_bytes", d->requested);
        metric_put_count(v, "final_allocated_requested_bytes", d->allocated_requested);
    }
    put_peaks(v, d);
    put_fractions(v, d);
    metric_put_count(v, "num_segments", d->n_segments);
    metric_put_count(v, "num_blocks", d->n_blocks);
    put_actions(v, d);
}

static void put_block_states(metric_value *to, const trace_allocator *a, bool all)
{
    metric_value *states = metric_put_object(to, "block_states");

    for (int s = 0; s < TRACE_BLOCK_STATES; s++) {
        uint64_t n = 0;

        for (size_t i = 0; i < a->n_segments; i++)
            n += a->segment[i].n_blocks[s];
        if (n || all)
            metric_put_count(states, trace_block_state_name((trace_block_state)s), n);
    }
}

/* The largest values over all devices of all ranks, since the fullest device decides whether a run fits. */
typedef struct {
    uint64_t n_ranks, n_devices, n_with_history, n_with_requested, n_lower_bounds, n_oom;
    uint64_t reserved, allocated, oom_bytes;
    int64_t peak[MEMORY_LEVELS];
    double efficiency;
    uint64_t n_efficiencies;
} totals;

static void add_to_totals(totals *t, const memory_device *d)
{
    t->n_devices++;
    t->reserved = d->reserved > t->reserved ? d->reserved : t->reserved;
    t->allocated = d->allocated > t->allocated ? d->allocated : t->allocated;
    t->n_oom += d->actions[TRACE_OOM];
    t->oom_bytes = d->oom_bytes > t->oom_bytes ? d->oom_bytes : t->oom_bytes;
    if (d->has_requested && d->reserved) {
        t->efficiency += (double)d->requested / (double)d->reserved;
        t->n_efficiencies++;
    }
    if (!d->has_history)
        return;
    t->n_with_history++;
    t->n_with_requested += d->has_requested;
    t->n_lower_bounds += is_lower_bound(d);
    for (int i = 0; i < MEMORY_LEVELS; i++)
        if (i == MEMORY_RESERVED || d->has_requested)
            t->peak[i] = d->peak[i] > t->peak[i] ? d->peak[i] : t->peak[i];
}

static void put_totals(metric_value *to, const totals *t)
{
    put_peak_bytes(to, t->n_with_history > 0, t->n_with_requested > 0, t->peak);
    if (t->n_with_history)
        metric_put_bool(to, "peak_is_lower_bound", t->n_lower_bounds > 0);
    metric_put_count(to, "final_reserved_bytes", t->reserved);
    metric_put_count(to, "final_allocated_bytes", t->allocated);
    metric_put_ratio(to, "avg_memory_efficiency", t->efficiency, (double)t->n_efficiencies,
                     "no device says what is requested of what is reserved");
    metric_put_count(to, "out_of_memory_events", t->n_oom);
    if (t->n_oom)
        metric_put_count(to, "oom_requested_bytes", t->oom_bytes);
    metric_put_count(to, "num_devices", t->n_devices);
    metric_put_count(to, "num_ranks", t->n_ranks);
}

/* A rank without a snapshot has no devices. */
static memory_devices *devices_of_all(const metric_context *x, totals *t)
{
    memory_devices *all = DSE_ARENA_NEW(x->arena, memory_devices, (size_t)x->record->n_ranks + 1);

    for (uint32_t i = 0; i < x->record->n_ranks; i++) {
        const trace_allocator *a = x->record->rank[i].allocator;

        if (!a)
            continue;
        all[i] = devices_of(a, x->arena);
        t->n_ranks++;
        for (size_t d = 0; d < all[i].n; d++)
            add_to_totals(t, &all[i].device[d]);
    }
    return all;
}

static dse_status memory(const metric_context *x, metric_value *out, dse_error *err)
{
    totals t = {0};
    const memory_devices *all = devices_of_all(x, &t);
    metric_value *ranks;

    if (!t.n_devices)
        return metric_absent(err, "no snapshot has a segment or a history: nothing was allocated on a GPU");
    put_totals(out, &t);
    ranks = metric_put_object(out, "per_rank");
    for (uint32_t i = 0; i < x->record->n_ranks; i++) {
        const trace_rank *r = &x->record->rank[i];
        metric_value *v = r->allocator ? metric_put_rank(ranks, r) : NULL;

        for (size_t d = 0; v && d < all[i].n; d++)
            put_device(v, &all[i].device[d]);
        if (v)
            put_block_states(v, r->allocator, false);
    }
    return DSE_OK;
}

#define GIB 1073741824.0

/* ---- the most that tensors take --------------------------------------------------------------- */

/* The quantity that simulator and allocator both know: the bytes that tensors asked for, at their peak. The
 * allocator's rounding and reserve are beyond both. */
typedef struct {
    bool known, lower_bound;
    uint64_t bytes;
    const char *why; /* it is not known */
} tensor_peak;

static const char no_simulated_peak[] = "the simulated run did not track memory (track-local-mem)";
static const char no_simulated_bytes[] =
    "the simulation counts elements, not bytes: its model card has no section 'precision'";

static tensor_peak peak_of_simulated(const trace_rank *r)
{
    return r->peak_memory == TRACE_UNKNOWN ? (tensor_peak){.why = no_simulated_peak}
           : r->in_elements                ? (tensor_peak){.why = no_simulated_bytes}
                                           : (tensor_peak){.known = true, .bytes = r->peak_memory};
}

/* The peak of the fullest device. A device without a history makes it unknown, since it could be the
 * fullest. */
static tensor_peak peak_of_devices(const memory_devices *all)
{
    tensor_peak p = {.known = true};

    if (!all->n)
        return (tensor_peak){.why = "the snapshot has no segment and no history"};
    for (size_t i = 0; i < all->n; i++) {
        const memory_device *d = &all->device[i];

        if (!d->has_history || !d->has_requested)
            return (tensor_peak){.why = d->has_history ? no_requested : no_history};
        if (d->peak[MEMORY_ALLOCATED] > (int64_t)p.bytes)
            p.bytes = (uint64_t)d->peak[MEMORY_ALLOCATED];
        p.lower_bound = p.lower_bound || is_lower_bound(d);
    }
    return p;
}

static void put_tensor_peak(metric_value *to, const tensor_peak *p)
{
    if (!p->known) {
        metric_put_absent(to, "peak_memory", p->why);
        return;
    }
    metric_put_count(to, "peak_memory", p->bytes);
    metric_put_number(to, "peak_memory_gib", (double)p->bytes / GIB);
    metric_put_bool(to, "peak_is_lower_bound", p->lower_bound);
}

static void tensor_peak_of(const trace_rank *r, dse_arena *a, tensor_peak *out)
{
    memory_devices devices;

    if (!r->allocator) {
        *out = peak_of_simulated(r);
        return;
    }
    devices = devices_of(r->allocator, a);
    *out = peak_of_devices(&devices);
}

/* The peak of the fullest rank, which decides whether a run fits; unknown if one rank's is unknown. */
static dse_status peak_memory(const metric_context *x, metric_value *out, dse_error *err)
{
    tensor_peak *of = DSE_ARENA_NEW(x->arena, tensor_peak, x->record->n_ranks), most = {.known = true};
    metric_value *ranks;

    for (uint32_t i = 0; i < x->record->n_ranks; i++) {
        tensor_peak_of(&x->record->rank[i], x->arena, &of[i]);
        if (!of[i].known)
            return metric_absent(err, "%s", of[i].why);
        most.bytes = of[i].bytes > most.bytes ? of[i].bytes : most.bytes;
        most.lower_bound = most.lower_bound || of[i].lower_bound;
    }
    put_tensor_peak(out, &most);
    ranks = metric_put_object(out, "per_rank");
    for (uint32_t i = 0; i < x->record->n_ranks; i++)
        put_tensor_peak(metric_put_rank(ranks, &x->record->rank[i]), &of[i]);
    return DSE_OK;
}

/* ---- as the original tool computes it ------------------------------------------------------- */

#define MIB 1048576.0

/* Figures of a rank, its devices added up: the largest rank's bytes count, and the mean of fractions,
 * which are rounded to four decimals before. */
enum { RESERVED, ALLOCATED, ACTIVE, EFFICIENCY, EXTERNAL, INTERNAL, FIGURES };

static const char *const figure_key[FIGURES] = {"peak_reserved_memory_gb",    "peak_allocated_memory_gb",
                                                "peak_active_memory_gb",      "avg_memory_efficiency",
                                                "avg_external_fragmentation", "avg_internal_fragmentation"};

typedef struct {
    const trace_rank *rank;
    memory_device sum;
    uint64_t largest, smallest;
    double of[FIGURES];
} upstream;

static double share_of(double part, double whole) { return whole > 0 ? metric_round(part / whole, 4) : 0; }

static upstream upstream_of(const trace_rank *r)
{
    const trace_allocator *a = r->allocator;
    upstream u = {.rank = r, .smallest = UINT64_MAX};
    memory_device *d = &u.sum;

    for (size_t i = 0; i < a->n_segments; i++) {
        uint64_t size = a->segment[i].total_size;

        add_segment(d, &a->segment[i]);
        u.largest = size > u.largest ? size : u.largest;
        u.smallest = size < u.smallest ? size : u.smallest;
    }
    u.of[RESERVED] = (double)d->reserved;
    u.of[ALLOCATED] = (double)d->allocated;
    u.of[ACTIVE] = (double)d->active;
    u.of[EFFICIENCY] = share_of((double)d->requested, (double)d->reserved);
    u.of[EXTERNAL] = share_of((double)d->reserved - (double)d->allocated, (double)d->reserved);
    u.of[INTERNAL] = share_of((double)d->allocated - (double)d->requested, (double)d->allocated);
    return u;
}

static void put_size(metric_value *to, const char *bytes, const char *gb, uint64_t n)
{
    metric_put_count(to, bytes, n);
    metric_put_number(to, gb, (double)n / GIB);
}

/* The tree of settings from entry `at` on, under its own key or as an item. */
static void put_setting(metric_value *to, const char *key, const trace_rank *r, uint32_t at)
{
    const trace_setting *t = &r->allocator->setting[at];
    metric_value *in;

    switch (t->kind) {
    case TRACE_SETTING_BOOL: metric_put_bool(to, key, t->integer != 0); return;
    case TRACE_SETTING_INTEGER: metric_put_integer(to, key, t->integer); return;
    case TRACE_SETTING_NUMBER: metric_put_number(to, key, t->number); return;
    case TRACE_SETTING_TEXT:
        metric_put_text(to, key, t->text == DSE_NONE ? "" : r->names.text[t->text]);
        return;
    case TRACE_SETTING_NONE: metric_put_absent(to, key, NULL); return;
    case TRACE_SETTING_LIST: in = metric_put_list(to, key); break;
    default: in = metric_put_object(to, key); break;
    }
    for (uint32_t i = t->first; i != DSE_NONE; i = r->allocator->setting[i].next) {
        uint32_t name = r->allocator->setting[i].key;

        put_setting(in, name == DSE_NONE ? NULL : r->names.text[name], r, i);
    }
}

/* "rank0" of ".../rank0_memory_snapshot.pickle". */
static void put_stem(metric_value *to, const trace_rank *r)
{
    static const char mark[] = "_memory_snapshot";
    const char *name = metric_file_name(r), *dot = strrchr(name, '.');
    size_t n = dot && dot > name ? (size_t)(dot - name) : strlen(name);
    char stem[256];
    char *cut;

    snprintf(stem, sizeof stem, "%.*s", (int)(n < 255 ? n : 255), name);
    while ((cut = strstr(stem, mark)))
        memmove(cut, cut + sizeof mark - 1, strlen(cut + sizeof mark - 1) + 1);
    metric_put_text(to, "rank", stem);
}

static void put_upstream(metric_value *to, const upstream *u)
{
    const trace_rank *r = u->rank;
    const memory_device *d = &u->sum;

    put_size(to, "total_reserved_bytes", "total_reserved_gb", d->reserved);
    put_size(to, "total_allocated_bytes", "total_allocated_gb", d->allocated);
    put_size(to, "total_active_bytes", "total_active_gb", d->active);
    put_size(to, "total_requested_bytes", "total_requested_gb", d->requested);
    metric_put_count(to, "num_segments", d->n_segments);
    metric_put_count(to, "num_blocks", d->n_blocks);
    put_block_states(to, r->allocator, true);
    metric_put_number(to, "avg_segment_size_mb", (double)d->reserved / (double)d->n_segments / MIB);
    metric_put_number(to, "max_segment_size_mb", (double)u->largest / MIB);
    metric_put_number(to, "min_segment_size_mb", (double)u->smallest / MIB);
    metric_put_number(to, "external_fragmentation_ratio", u->of[EXTERNAL]);
    metric_put_number(to, "internal_fragmentation_ratio", u->of[INTERNAL]);
    metric_put_number(to, "memory_efficiency", u->of[EFFICIENCY]);
    /* The history is a list per device; the original takes it for a list of entries and finds none. */
    metric_put_integer(to, "num_allocations", 0);
    metric_put_integer(to, "num_frees", 0);
    if (r->allocator->n_histories) {
        metric_put_integer(to, "avg_allocation_size_mb", 0);
        metric_put_integer(to, "max_allocation_size_mb", 0);
    }
    if (r->allocator->n_settings)
        put_setting(to, "allocator_settings", r, 0);
    else
        metric_put_object(to, "allocator_settings");
    put_stem(to, r);
}

/* The original sorts by file name: rank10_memory_snapshot.pickle stands before
 * rank1_memory_snapshot.pickle. */
static int by_path(const void *a, const void *b)
{
    return strcmp(((const upstream *)a)->rank->path, ((const upstream *)b)->rank->path);
}

static dse_status memory_compat(const metric_context *x, metric_value *out, dse_error *err)
{
    upstream *of = DSE_ARENA_NEW(x->arena, upstream, (size_t)x->record->n_ranks + 1);
    double all[FIGURES] = {0};
    uint64_t n_segments = 0, n_blocks = 0;
    uint32_t n = 0;
    metric_value *list;

    for (uint32_t i = 0; i < x->record->n_ranks; i++) {
        const trace_rank *r = &x->record->rank[i];

        if (!r->allocator)
            continue;
        if (!r->allocator->n_segments)
            return metric_absent(err, "the original tool fails on a snapshot without segments: %s", r->path);
        of[n] = upstream_of(r);
        for (int f = 0; f < FIGURES; f++)
            all[f] = f >= EFFICIENCY ? all[f] + of[n].of[f] : of[n].of[f] > all[f] ? of[n].of[f] : all[f];
        n_segments += of[n].sum.n_segments;
        n_blocks += of[n++].sum.n_blocks;
    }
    if (!n)
        return metric_absent(err, "there is no memory snapshot");
    qsort(of, n, sizeof *of, by_path);
    for (int f = 0; f < FIGURES; f++)
        metric_put_number(out, figure_key[f],
                          f >= EFFICIENCY ? metric_round(all[f] / n, 4) : metric_round(all[f] / GIB, 3));
    metric_put_count(out, "total_segments", n_segments);
    metric_put_count(out, "total_blocks", n_blocks);
    list = metric_put_list(out, "per_rank_stats");
    for (uint32_t i = 0; i < n; i++)
        put_upstream(metric_put_object(list, NULL), &of[i]);
    metric_put_count(out, "num_ranks", n);
    return DSE_OK;
}

static const metric rows[] = {
    {METRIC_ROW("memory", "guide", "", METRIC_ON(TRACE_SNAPSHOT), METRIC_NEEDS_SNAPSHOT,
                "peak of reserved, allocated and active GPU memory by replaying the allocator's history, "
                "state at the snapshot, fragmentation, failed requests; per rank and device"),
     .compute = memory, .compat = memory_compat},
    {METRIC_ROW("peak_memory", "guide", "bytes", METRIC_ON(TRACE_SNAPSHOT) | METRIC_ON(TRACE_SIMULATED), 0,
                "the most memory that tensors took at a time, as they asked for it: of the fullest rank, and "
                "of each"),
     .compute = peak_memory, METRIC_ENTRY("peak_memory", "bytes", METRIC_LOWER, METRIC_STEP_TOLERANCE),
     .headline = "peak_memory"},
};

METRIC_FAMILY(memory);
