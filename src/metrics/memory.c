/* Memory by a snapshot of PyTorch's caching allocator, and the peak memory of tensors, of a snapshot or of a
 * simulated run.
 *
 * A snapshot is the state at one moment, and the history that led there; the peak lies in the history. It
 * is walked backwards from the snapshot, undoing each entry. History sizes are requested sizes, so the
 * start is what the blocks requested: those that are allocated, for memory that tensors hold; all active
 * ones, for memory that is freed but still waits for a stream, too. Source: spec of the metrics, section
 * 5.3; PyTorch's CUDACachingAllocator for the meaning of the actions. Checked against the recordings of
 * the reference set. */
#include "base/array.h"
#include "metrics/metric.h"
#include "metrics/numbers.h"
#include "metrics/order.h"
#include "trace/allocator.h"

#include <stdlib.h>
#include <string.h>

/* ---- devices -------------------------------------------------------------------------------- */

/* Figures of a device: of its segments at the snapshot, of the requests of its blocks; the levels that are
 * followed through time, at their peak and before the oldest entry of the history (signed: a made-up file may
 * end below 0); the largest request that failed, and what was free then. */
enum {
    RESERVED,
    ALLOCATED,
    ACTIVE,
    REQUESTED,
    ALLOCATED_REQUESTED,
    PEAK,
    START = PEAK + 3,
    ACTIVE_REQUESTED = START + 3,
    SEGMENTS,
    BLOCKS,
    OOM_BYTES,
    OOM_FREE,
    FIGURES
};

/* The levels: reserved, and what was requested of what is allocated and active. */
enum { LEVEL_RESERVED, LEVEL_ALLOCATED, LEVEL_ACTIVE, LEVELS };

/* What a figure takes. */
enum { HISTORY = 1 << 0, SIZES = 1 << 1 /* every block says what was requested */ };

typedef struct {
    uint32_t device;
    unsigned has; /* HISTORY, SIZES */
    uint64_t of[FIGURES];
    uint64_t actions[TRACE_ACTIONS];
} memory_device;

typedef struct {
    size_t n;
    memory_device *device; /* ascending */
} memory_devices;

/* The change of each level by an entry; walking backwards subtracts it. */
static const int8_t adds[TRACE_ACTIONS][LEVELS] = {
    [TRACE_ALLOC] = {[LEVEL_ALLOCATED] = 1, [LEVEL_ACTIVE] = 1},
    [TRACE_FREE_REQUESTED] = {[LEVEL_ALLOCATED] = -1},
    [TRACE_FREE_COMPLETED] = {[LEVEL_ACTIVE] = -1},
    [TRACE_SEGMENT_ALLOC] = {[LEVEL_RESERVED] = 1},
    [TRACE_SEGMENT_MAP] = {[LEVEL_RESERVED] = 1},
    [TRACE_SEGMENT_FREE] = {[LEVEL_RESERVED] = -1},
    [TRACE_SEGMENT_UNMAP] = {[LEVEL_RESERVED] = -1}};

/* ---- one device ----------------------------------------------------------------------------- */

static void raise_to(uint64_t *most, uint64_t v) { *most = (int64_t)v > (int64_t)*most ? v : *most; }

/* Adds what a segment holds. */
static void add_segment(memory_device *d, const trace_segment *s)
{
    d->of[RESERVED] += s->total_size;
    d->of[ALLOCATED] += s->allocated_size;
    d->of[ACTIVE] += s->active_size;
    d->of[REQUESTED] += s->requested_size;
    d->of[SEGMENTS]++;
    d->of[BLOCKS] += s->n_other_blocks;
    for (int i = 0; i < TRACE_BLOCK_STATES; i++)
        d->of[BLOCKS] += s->n_blocks[i];
    d->of[ALLOCATED_REQUESTED] += s->requested[TRACE_ACTIVE_ALLOCATED];
    d->of[ACTIVE_REQUESTED] += s->requested[TRACE_ACTIVE_ALLOCATED] + s->requested[TRACE_ACTIVE_PENDING_FREE];
    d->has &= s->has_requested ? ~0u : ~(unsigned)SIZES;
}

/* In unsigned arithmetic, which wraps where a made-up file overflows. */
static void replay(memory_device *d, const trace_history *h)
{
    uint64_t level[LEVELS] = {d->of[RESERVED], d->of[ALLOCATED_REQUESTED], d->of[ACTIVE_REQUESTED]};

    d->has |= h->n > 0 ? HISTORY : 0;
    memcpy(&d->of[PEAK], level, sizeof level);
    for (size_t e = h->n; e-- > 0;) {
        const trace_allocation *a = &h->entry[e];

        d->actions[a->action]++;
        if (a->action == TRACE_OOM && a->size >= d->of[OOM_BYTES]) {
            d->of[OOM_BYTES] = a->size;
            d->of[OOM_FREE] = a->address;
        }
        for (int i = 0; i < LEVELS; i++) {
            level[i] -= (uint64_t)(int64_t)adds[a->action][i] * a->size;
            raise_to(&d->of[PEAK + i], level[i]);
        }
    }
    memcpy(&d->of[START], level, sizeof level);
}

/* Whether the history does not reach back to where nothing was held: the peak may lie before it. */
static bool is_lower_bound(const memory_device *d)
{
    return d->of[START + LEVEL_RESERVED] || ((d->has & SIZES) && d->of[START + LEVEL_ACTIVE]);
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
            all.device[all.n++] = (memory_device){.device = all.device[i].device, .has = SIZES};
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

/* The figures that are bytes: what each takes, and whether it is left out where that is not there, or absent. */
static const struct {
    const char *key;
    unsigned takes;
    bool left_out;
} bytes[] = {[RESERVED] = {"final_reserved_bytes", 0, false},
             [ALLOCATED] = {"final_allocated_bytes", 0, false},
             [ACTIVE] = {"final_active_bytes", 0, false},
             [REQUESTED] = {"final_requested_bytes", SIZES, true},
             [ALLOCATED_REQUESTED] = {"final_allocated_requested_bytes", SIZES, true},
             [PEAK + LEVEL_RESERVED] = {"peak_reserved_bytes", HISTORY, false},
             [PEAK + LEVEL_ALLOCATED] = {"peak_requested_allocated_bytes", HISTORY | SIZES, false},
             [PEAK + LEVEL_ACTIVE] = {"peak_requested_active_bytes", HISTORY | SIZES, false},
             [START + LEVEL_RESERVED] = {"at_history_start_reserved_bytes", HISTORY, true},
             [START + LEVEL_ALLOCATED] = {NULL, 0, false},
             [START + LEVEL_ACTIVE] = {"at_history_start_requested_active_bytes", HISTORY | SIZES, true}};

static void put_bytes(metric_value *to, const memory_device *d, size_t from, size_t end)
{
    for (size_t i = from; i < end; i++) {
        const unsigned lacks = bytes[i].takes & ~d->has;

        if (!bytes[i].key || (lacks && bytes[i].left_out))
            continue;
        if (lacks)
            metric_put_absent(to, bytes[i].key, lacks & HISTORY ? no_history : no_requested);
        else if (i < PEAK)
            metric_put_count(to, bytes[i].key, d->of[i]);
        else
            metric_put_integer(to, bytes[i].key, (int64_t)d->of[i]);
    }
}

static void put_fractions(metric_value *to, const memory_device *d)
{
    const double reserved = (double)d->of[RESERVED], allocated = (double)d->of[ALLOCATED];

    metric_put_ratio(to, "external_fragmentation", reserved - allocated, reserved, "nothing is reserved");
    if (!(d->has & SIZES)) {
        metric_put_absent(to, "internal_fragmentation", no_requested);
        metric_put_absent(to, "memory_efficiency", no_requested);
        return;
    }
    /* Only allocated blocks count: a segment's requested_size includes blocks that wait to be freed. */
    metric_put_ratio(to, "internal_fragmentation", allocated - (double)d->of[ALLOCATED_REQUESTED], allocated,
                     "nothing is allocated");
    metric_put_ratio(to, "memory_efficiency", (double)d->of[REQUESTED], reserved, "nothing is reserved");
}

static void put_device(metric_value *ranks, const memory_device *d)
{
    metric_value *to = metric_put_numbered(ranks, d->device), *actions;

    put_bytes(to, d, 0, DSE_COUNT(bytes));
    if (d->has & HISTORY)
        metric_put_bool(to, "peak_is_lower_bound", is_lower_bound(d));
    put_fractions(to, d);
    metric_put_count(to, "num_segments", d->of[SEGMENTS]);
    metric_put_count(to, "num_blocks", d->of[BLOCKS]);
    actions = metric_put_object(to, "actions");
    for (int i = 0; i < TRACE_ACTIONS; i++)
        if (d->actions[i])
            metric_put_count(actions, trace_action_name((trace_action)i), d->actions[i]);
    if (d->actions[TRACE_OOM]) {
        metric_put_count(to, "oom_requested_bytes", d->of[OOM_BYTES]);
        metric_put_count(to, "oom_device_free_bytes", d->of[OOM_FREE]);
    }
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

/* The largest values over all devices of all ranks, since the fullest device decides whether a run fits; of the
 * peaks, over those whose peak is known. */
typedef struct {
    memory_device most;
    bool lower_bound;
    uint64_t n_ranks, n_devices, n_oom, n_efficiencies;
    double efficiency;
} totals;

static void add_to_totals(totals *t, const memory_device *d)
{
    t->n_devices++;
    t->n_oom += d->actions[TRACE_OOM];
    raise_to(&t->most.of[OOM_BYTES], d->of[OOM_BYTES]);
    for (size_t i = 0; i < START; i++)
        if (!(bytes[i].takes & ~d->has))
            raise_to(&t->most.of[i], d->of[i]);
    t->most.has |= d->has & HISTORY ? d->has : 0;
    t->lower_bound = t->lower_bound || ((d->has & HISTORY) && is_lower_bound(d));
    if ((d->has & SIZES) && d->of[RESERVED]) {
        t->efficiency += (double)d->of[REQUESTED] / (double)d->of[RESERVED];
        t->n_efficiencies++;
    }
}

static void put_totals(metric_value *to, const totals *t)
{
    put_bytes(to, &t->most, PEAK, START);
    if (t->most.has & HISTORY)
        metric_put_bool(to, "peak_is_lower_bound", t->lower_bound);
    put_bytes(to, &t->most, RESERVED, ACTIVE);
    metric_put_ratio(to, "avg_memory_efficiency", t->efficiency, (double)t->n_efficiencies,
                     "no device says what is requested of what is reserved");
    metric_put_count(to, "out_of_memory_events", t->n_oom);
    if (t->n_oom)
        metric_put_count(to, "oom_requested_bytes", t->most.of[OOM_BYTES]);
    metric_put_count(to, "num_devices", t->n_devices);
    metric_put_count(to, "num_ranks", t->n_ranks);
}

static dse_status memory(const metric_context *x, metric_value *out, dse_error *err)
{
    metric_value *ranks = metric_object_new(out->arena);
    totals t = {0};

    for (uint32_t i = 0; i < x->record->n_ranks; i++) {
        const trace_rank *r = &x->record->rank[i];
        memory_devices all;
        metric_value *to;

        if (!r->allocator)
            continue;
        t.n_ranks++;
        all = devices_of(r->allocator, x->arena);
        to = metric_put_rank(ranks, r);
        for (size_t d = 0; d < all.n; d++) {
            add_to_totals(&t, &all.device[d]);
            put_device(to, &all.device[d]);
        }
        put_block_states(to, r->allocator, false);
    }
    if (!t.n_devices)
        return metric_absent(err, "no snapshot has a segment or a history: nothing was allocated on a GPU");
    put_totals(out, &t);
    metric_take(metric_put_object(out, "per_rank"), ranks);
    return DSE_OK;
}

#define GIB 1073741824.0
#define MIB 1048576.0

/* ---- the most that tensors take --------------------------------------------------------------- */

static const char no_simulated_peak[] = "the simulated run did not track memory (track-local-mem)";
static const char no_simulated_bytes[] =
    "the simulation counts elements, not bytes: its model card has no section 'precision'";

/* The quantity that simulator and allocator both know: the bytes that tensors asked for, at their peak. The
 * allocator's rounding and reserve are beyond both. */
typedef struct {
    uint64_t bytes;
    bool lower_bound;
} tensor_peak;

/* Of the fullest device of a rank. Returns why it is not known: a device without a history makes it so, since it
 * could be the fullest. */
static const char *find_tensor_peak(const trace_rank *r, dse_arena *a, tensor_peak *p)
{
    memory_devices all;

    *p = (tensor_peak){r->peak_memory, false};
    if (!r->allocator)
        return r->peak_memory == TRACE_UNKNOWN ? no_simulated_peak
               : r->in_elements                ? no_simulated_bytes
                                               : NULL;
    p->bytes = 0;
    all = devices_of(r->allocator, a);
    for (const memory_device *d = all.device; d < all.device + all.n; d++) {
        if (d->has != (HISTORY | SIZES))
            return d->has & HISTORY ? no_requested : no_history;
        raise_to(&p->bytes, d->of[PEAK + LEVEL_ALLOCATED]);
        p->lower_bound = p->lower_bound || is_lower_bound(d);
    }
    return all.n ? NULL : "the snapshot has no segment and no history";
}

static void put_tensor_peak(metric_value *to, const tensor_peak *p)
{
    metric_put_count(to, "peak_memory", p->bytes);
    metric_put_number(to, "peak_memory_gib", (double)p->bytes / GIB);
    metric_put_bool(to, "peak_is_lower_bound", p->lower_bound);
}

/* The peak of the fullest rank, which decides whether a run fits; unknown if one rank's is unknown. */
static dse_status peak_memory(const metric_context *x, metric_value *out, dse_error *err)
{
    tensor_peak *of = DSE_ARENA_NEW(x->arena, tensor_peak, x->record->n_ranks), most = {0};
    metric_value *ranks;

    for (uint32_t i = 0; i < x->record->n_ranks; i++) {
        const char *why = find_tensor_peak(&x->record->rank[i], x->arena, &of[i]);

        if (why)
            return metric_absent(err, "%s", why);
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

static void put_share(metric_value *to, const char *key, double part, double whole)
{
    metric_put_number(to, key, whole > 0 ? metric_round(part / whole, 4) : 0);
}

static void put_size(metric_value *to, const char *key, const char *gb, uint64_t n)
{
    metric_put_count(to, key, n);
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

/* A rank, its devices added up. */
static void put_upstream(metric_value *to, const trace_rank *r)
{
    const trace_allocator *a = r->allocator;
    memory_device d = {0};
    uint64_t largest = 0, smallest = UINT64_MAX;

    for (const trace_segment *s = a->segment; s < a->segment + a->n_segments; s++) {
        add_segment(&d, s);
        largest = s->total_size > largest ? s->total_size : largest;
        smallest = s->total_size < smallest ? s->total_size : smallest;
    }
    put_size(to, "total_reserved_bytes", "total_reserved_gb", d.of[RESERVED]);
    put_size(to, "total_allocated_bytes", "total_allocated_gb", d.of[ALLOCATED]);
    put_size(to, "total_active_bytes", "total_active_gb", d.of[ACTIVE]);
    put_size(to, "total_requested_bytes", "total_requested_gb", d.of[REQUESTED]);
    metric_put_count(to, "num_segments", d.of[SEGMENTS]);
    metric_put_count(to, "num_blocks", d.of[BLOCKS]);
    put_block_states(to, a, true);
    metric_put_number(to, "avg_segment_size_mb", (double)d.of[RESERVED] / (double)d.of[SEGMENTS] / MIB);
    metric_put_number(to, "max_segment_size_mb", (double)largest / MIB);
    metric_put_number(to, "min_segment_size_mb", (double)smallest / MIB);
    put_share(to, "external_fragmentation_ratio", (double)d.of[RESERVED] - (double)d.of[ALLOCATED],
              (double)d.of[RESERVED]);
    put_share(to, "internal_fragmentation_ratio", (double)d.of[ALLOCATED] - (double)d.of[REQUESTED],
              (double)d.of[ALLOCATED]);
    put_share(to, "memory_efficiency", (double)d.of[REQUESTED], (double)d.of[RESERVED]);
    /* The history is a list per device; the original takes it for a list of entries and finds none. */
    metric_put_integer(to, "num_allocations", 0);
    metric_put_integer(to, "num_frees", 0);
    if (a->n_histories) {
        metric_put_integer(to, "avg_allocation_size_mb", 0);
        metric_put_integer(to, "max_allocation_size_mb", 0);
    }
    if (a->n_settings)
        put_setting(to, "allocator_settings", r, 0);
    else
        metric_put_object(to, "allocator_settings");
    put_stem(to, r);
}

/* Figures of ranks: of bytes the largest rank's count, in GiB; the mean of fractions, which are rounded before; the
 * sum of numbers. */
static const struct {
    const char *key, *of;
    enum { LARGEST, MEAN, SUM } fold;
} figures[] = {{"peak_reserved_memory_gb", "total_reserved_bytes", LARGEST},
               {"peak_allocated_memory_gb", "total_allocated_bytes", LARGEST},
               {"peak_active_memory_gb", "total_active_bytes", LARGEST},
               {"avg_memory_efficiency", "memory_efficiency", MEAN},
               {"avg_external_fragmentation", "external_fragmentation_ratio", MEAN},
               {"avg_internal_fragmentation", "internal_fragmentation_ratio", MEAN},
               {"total_segments", "num_segments", SUM},
               {"total_blocks", "num_blocks", SUM}};

static void put_figures(const metric_value *ranks, uint32_t n, metric_value *out)
{
    for (size_t f = 0; f < DSE_COUNT(figures); f++) {
        double sum = 0, most = 0;

        for (const metric_value *r = ranks->first; r; r = r->next) {
            const double v = metric_number(metric_get(r, figures[f].of));

            sum += v;
            most = v > most ? v : most;
        }
        switch (figures[f].fold) {
        case LARGEST: metric_put_number(out, figures[f].key, metric_round(most / GIB, 3)); break;
        case MEAN: metric_put_number(out, figures[f].key, metric_round(sum / n, 4)); break;
        case SUM: metric_put_count(out, figures[f].key, (uint64_t)sum); break;
        }
    }
}

/* The original sorts by file name: rank10_memory_snapshot.pickle stands before
 * rank1_memory_snapshot.pickle. */
static int by_path(const void *a, const void *b)
{
    return strcmp((*(const trace_rank *const *)a)->path, (*(const trace_rank *const *)b)->path);
}

static dse_status memory_compat(const metric_context *x, metric_value *out, dse_error *err)
{
    const trace_rank **of = DSE_ARENA_NEW(x->arena, const trace_rank *, (size_t)x->record->n_ranks + 1);
    metric_value *list = metric_object_new(out->arena);
    uint32_t n = 0;

    for (const trace_rank *r = x->record->rank; r < x->record->rank + x->record->n_ranks; r++) {
        if (!r->allocator)
            continue;
        if (!r->allocator->n_segments)
            return metric_absent(err, "the original tool fails on a snapshot without segments: %s", r->path);
        of[n++] = r;
    }
    if (!n)
        return metric_absent(err, "there is no memory snapshot");
    qsort(of, n, sizeof *of, by_path);
    for (uint32_t i = 0; i < n; i++)
        put_upstream(metric_put_object(list, NULL), of[i]);
    put_figures(list, n, out);
    metric_take(metric_put_list(out, "per_rank_stats"), list);
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
