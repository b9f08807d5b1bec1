#include "trace/record.h"

#include "base/array.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#define MAX_WARNINGS 100
#define MAX_PLACE    400 /* bytes of a place, so that a long path leaves room for what is wrong there */

const char *trace_kind_name(trace_kind k)
{
    static const char *const names[TRACE_KINDS] = {
        "Kineto trace",          "simulated run",         "XLA trace",       "GPU XLA trace",
        "Nsight Systems export", "Nsight Systems report", "execution trace", "memory snapshot"};

    return names[k];
}

trace_category trace_category_of(const char *word, size_t n)
{
    static const struct {
        const char *word;
        trace_category category;
    } words[] = {{"kernel", TRACE_KERNEL},
                 {"Kernel", TRACE_KERNEL},
                 {"gpu_memcpy", TRACE_MEMCPY},
                 {"Memcpy", TRACE_MEMCPY},
                 {"gpu_memset", TRACE_MEMSET},
                 {"Memset", TRACE_MEMSET},
                 {"cpu_op", TRACE_CPU_OP},
                 {"Operator", TRACE_CPU_OP},
                 {"user_annotation", TRACE_ANNOTATION},
                 {"gpu_user_annotation", TRACE_GPU_ANNOTATION},
                 {"cuda_runtime", TRACE_RUNTIME},
                 {"Runtime", TRACE_RUNTIME},
                 {"cuda_driver", TRACE_DRIVER},
                 {"mtia_runtime", TRACE_RUNTIME},
                 {"xpu_runtime", TRACE_RUNTIME},
                 {"xpu_driver", TRACE_DRIVER},
                 {"glow_runtime", TRACE_RUNTIME},
                 {"privateuse1_runtime", TRACE_RUNTIME},
                 {"privateuse1_driver", TRACE_DRIVER},
                 {"python_function", TRACE_PYTHON}};

    for (size_t i = 0; i < DSE_COUNT(words); i++)
        if (strlen(words[i].word) == n && memcmp(words[i].word, word, n) == 0)
            return words[i].category;
    return TRACE_OTHER;
}

/* Source: Kineto's list of activity types. */
static const struct {
    const char *prefix, *device; /* of category words */
    trace_accelerator is;
} accelerators[] = {{"mtia_", "mtia_ccp_events", {"MTIA", "MTIA"}},
                    {"hpu_", "hpu_op", {"Gaudi (HPU)", "HPU"}},
                    {"xpu_", NULL, {"XPU", "XPU"}},
                    {"privateuse1_", NULL, {"accelerator of PrivateUse1", "PrivateUse1"}}};

const trace_accelerator *trace_accelerator_of(const trace_rank *r)
{
    for (uint32_t w = 0; w < r->n_words; w++)
        for (size_t i = 0; i < DSE_COUNT(accelerators); i++)
            if (strncmp(r->names.text[r->word[w]], accelerators[i].prefix, strlen(accelerators[i].prefix)) ==
                0)
                return &accelerators[i].is;
    return NULL;
}

void trace_adopt_device_events(trace_rank *r)
{
    bool is_device[256] = {false}, any = false;

    for (uint32_t w = 0; w < r->n_words; w++) {
        const char *word = r->names.text[r->word[w]];

        if (trace_category_of(word, strlen(word)) == TRACE_KERNEL)
            return;
        for (size_t i = 0; i < DSE_COUNT(accelerators); i++)
            is_device[w] =
                is_device[w] || (accelerators[i].device && strcmp(word, accelerators[i].device) == 0);
        any = any || is_device[w];
    }
    for (size_t i = 0; any && i < r->n_events; i++)
        if (is_device[r->event[i].word])
            r->event[i].category = TRACE_KERNEL;
}

/* ---- the record ------------------------------------------------------------------------------ */

void trace_rank_free(trace_rank *r)
{
    dse_free(r->path);
    trace_names_free(&r->names);
    dse_free(r->event);
    dse_free(r->device_time);
    dse_free(r->args);
    dse_idtable_free(&r->args_table);
    dse_free(r->lane);
    dse_idtable_free(&r->lanes);
    dse_free(r->group);
    dse_free(r->device);
    dse_free(r->total);
    dse_free(r->change);
    trace_allocator_free(r->allocator);
}

void trace_record_free(trace_record *r)
{
    for (uint32_t i = 0; i < r->n_ranks; i++)
        trace_rank_free(&r->rank[i]);
    dse_free(r->rank);
    dse_free(r->path);
    dse_free(r->warning);
    *r = (trace_record){0};
}

trace_rank *trace_record_add_rank(trace_record *r)
{
    trace_rank *rank;

    DSE_GROW(r->rank, r->cap_ranks, (size_t)r->n_ranks + 1);
    rank = &r->rank[r->n_ranks];
    *rank = (trace_rank){.rank = r->n_ranks, .peak_memory = TRACE_UNKNOWN};
    trace_clear_extent(rank);
    r->n_ranks++;
    return rank;
}

trace_rank *trace_record_add_file(trace_record *r, trace_kind kind, const char *path)
{
    trace_rank *rank = trace_record_add_rank(r);
    size_t size = strlen(path) + 1;

    rank->kind = kind;
    rank->path = memcpy(dse_realloc(NULL, size), path, size);
    return rank;
}

void trace_clear_extent(trace_rank *r)
{
    r->all_first_ps = r->any_first_ps = INT64_MAX;
    r->all_last_ps = r->any_last_start_ps = r->any_last_ps = INT64_MIN;
}

void trace_warn(trace_record *r, const char *where, const char *fmt, ...)
{
    trace_warning *w;
    va_list ap;
    int n;

    if (r->n_warnings > MAX_WARNINGS)
        return;
    DSE_GROW(r->warning, r->cap_warnings, r->n_warnings + 1);
    w = &r->warning[r->n_warnings++];
    if (r->n_warnings > MAX_WARNINGS) {
        snprintf(w->text, sizeof w->text, "there are more warnings than these %d", MAX_WARNINGS);
        return;
    }
    n = where ? snprintf(w->text, sizeof w->text, "%.*s: ", MAX_PLACE, where) : 0;
    va_start(ap, fmt);
    vsnprintf(w->text + n, sizeof w->text - (size_t)n, fmt, ap);
    va_end(ap);
}

void trace_record_take(trace_record *r, trace_record *from)
{
    DSE_GROW(r->rank, r->cap_ranks, (size_t)r->n_ranks + from->n_ranks);
    if (from->n_ranks)
        memcpy(r->rank + r->n_ranks, from->rank, from->n_ranks * sizeof *r->rank);
    r->n_ranks += from->n_ranks;
    from->n_ranks = 0;
    for (size_t i = 0; i < from->n_warnings; i++)
        trace_warn(r, NULL, "%s", from->warning[i].text);
    trace_record_free(from);
}

/* ---- for readers ----------------------------------------------------------------------------- */

/* Grows by half: untouched pages cost no memory, and large arrays are moved without a copy. */
static void grow(void **v, size_t *cap, size_t need, size_t size)
{
    size_t want = *cap + *cap / 2 + 1024;

    if (need <= *cap)
        return;
    if (need >= DSE_NONE) /* not an index */
        dse_out_of_memory();
    *cap = want < need ? need : want;
    *v = dse_realloc(*v, *cap * size);
}

void trace_add_event(trace_rank *r, const trace_event *e)
{
    if (r->n_events == r->cap_events)
        grow((void **)&r->event, &r->cap_events, r->n_events + 1, sizeof *r->event);
    r->event[r->n_events++] = *e;
}

void trace_set_device_time(trace_rank *r, size_t event, trace_device_time t)
{
    size_t old = r->cap_device_time;

    if (event >= old) {
        grow((void **)&r->device_time, &r->cap_device_time, r->cap_events, sizeof *r->device_time);
        for (size_t i = old; i < r->cap_device_time; i++)
            r->device_time[i] = (trace_device_time){-1, -1};
    }
    r->device_time[event] = t;
}

static bool same_args(const void *records, uint32_t id, const void *key)
{
    /* NOLINTNEXTLINE(bugprone-suspicious-memory-comparison): no padding; a NaN is to equal itself */
    return memcmp((const trace_args *)records + id, key, sizeof(trace_args)) == 0;
}

/* Compares bytes: all args begin with trace_args_clear, which also clears the padding. */
uint32_t trace_add_args(trace_rank *r, const trace_args *a)
{
    uint32_t hash = (uint32_t)dse_hash_words(a, sizeof *a);
    dse_idslot *slot;

    dse_idtable_reserve(&r->args_table);
    slot = dse_idtable_find(&r->args_table, hash, same_args, r->args, a);
    if (slot->id != DSE_NONE)
        return slot->id;
    grow((void **)&r->args, &r->cap_args, (size_t)r->n_args + 1, sizeof *r->args);
    memcpy(&r->args[r->n_args], a, sizeof *a);
    dse_idtable_put(&r->args_table, slot, hash, r->n_args);
    return r->n_args++;
}

void trace_args_clear(trace_args *a)
{
    memset(a, 0, sizeof *a);
    a->collective = a->dtype = a->group_name = a->group_desc = a->group_ranks = DSE_NONE;
    a->in_elements = a->out_elements = a->bytes = a->blocks = TRACE_UNKNOWN;
    a->blocks_per_sm = a->occupancy_pct = a->model_flops = NAN;
    a->m = a->n = a->k = a->batch = TRACE_UNKNOWN;
    a->input_dims = a->input_types = DSE_NONE;
    a->kernel_class = a->stream = a->device = a->hlo_category = a->long_name = a->shape = DSE_NONE;
    a->bytes_accessed = a->raw_bytes_accessed = TRACE_UNKNOWN;
}

static bool same_lane(const void *records, uint32_t id, const void *key)
{
    const trace_lane *lane = (const trace_lane *)records + id, *k = key;

    return lane->pid == k->pid && lane->tid == k->tid;
}

uint32_t trace_add_lane(trace_rank *r, uint32_t pid, uint32_t tid)
{
    uint32_t hash = (uint32_t)dse_hash_u64((uint64_t)pid << 32 | tid);
    trace_lane key = {pid, tid, DSE_NONE, DSE_NONE};
    dse_idslot *slot;

    dse_idtable_reserve(&r->lanes);
    slot = dse_idtable_find(&r->lanes, hash, same_lane, r->lane, &key);
    if (slot->id != DSE_NONE)
        return slot->id;
    if (r->n_lanes == DSE_NONE - 1)
        dse_out_of_memory();
    DSE_GROW(r->lane, r->cap_lanes, (size_t)r->n_lanes + 1);
    r->lane[r->n_lanes] = key;
    dse_idtable_put(&r->lanes, slot, hash, r->n_lanes);
    return r->n_lanes++;
}

uint32_t trace_add_word(trace_rank *r, uint32_t name)
{
    for (uint32_t i = 0; i < r->n_words; i++)
        if (r->word[i] == name)
            return i;
    if (r->n_words == 256)
        return 255;
    r->word[r->n_words] = name;
    return r->n_words++;
}
