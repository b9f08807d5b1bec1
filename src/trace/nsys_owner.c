/* Which rank a row belongs to; see nsys.c. */
#include "trace/nsys.h"

#include <inttypes.h>
#include <string.h>

#define MAX_DEVICES      64   /* of a machine; a thread's events are kept once for each device that it uses */
#define MAX_CUDA_DEVICES 4096 /* rows of all processes; further ones are ignored */
#define MAX_LANES        65536 /* of a device: threads and streams */

/* How processes number the physical GPUs. */
enum { CUDA_GPU, CUDA_ID, CUDA_PID, CUDA_SMS };
static const nsys_column cuda_columns[] = {
    {"gpuId", true}, {"cudaId", true}, {"pid", false}, {"numMultiprocessors", false}};
NSYS_TABLE(cuda_devices, "TARGET_INFO_CUDA_DEVICE", cuda_columns);

enum { GPU_ID, GPU_NAME, GPU_MEMORY, GPU_SMS, GPU_MAJOR, GPU_MINOR };
static const nsys_column gpu_columns[] = {
    {"id", true},       {"name", false},         {"totalMemory", false},
    {"smCount", false}, {"computeMajor", false}, {"computeMinor", false}};
NSYS_TABLE(gpus, "TARGET_INFO_GPU", gpu_columns);

enum { STRING_ID, STRING_TEXT };
static const nsys_column string_columns[] = {{"id", true}, {"value", true}};
NSYS_TABLE(strings, "StringIds", string_columns);

const trace_category nsys_category[NSYS_WORDS] = {TRACE_KERNEL,  TRACE_MEMCPY, TRACE_MEMSET,
                                                  TRACE_RUNTIME, TRACE_DRIVER, TRACE_ANNOTATION};
static const char *const words[NSYS_WORDS] = {"kernel",       "gpu_memcpy",  "gpu_memset",
                                              "cuda_runtime", "cuda_driver", "user_annotation"};

bool nsys_each_row(nsys_import *x, const nsys_table *t, nsys_row_fn *row, int word)
{
    nsys_rows r;
    bool ok = nsys_rows_open(&r, &x->db, t, x->err) == DSE_OK;
    int got = 0;

    x->n_left_out = 0;
    while (ok && (got = nsys_rows_next(&r, x->err)) > 0)
        ok = row(x, &r, word);
    nsys_rows_close(&r);
    if (x->n_left_out)
        trace_warn(x->out, x->path,
                   "table %s: %" PRIu64
                   " rows without numbers where the times and the device are to be, of a "
                   "negative duration, or more than 53 days from the first kernel, are left out; row %" PRIu64
                   " is the first of them",
                   t->name, x->n_left_out, x->first_left_out);
    return ok && got == 0;
}

/* ---- names ----------------------------------------------------------------------------------- */

static bool add_string(nsys_import *x, const nsys_rows *r, int word)
{
    const char *text;
    uint32_t *known;
    size_t n;
    bool is_new;

    (void)word;
    if (sqlite3_column_type(r->stmt, STRING_ID) != SQLITE_INTEGER)
        return true;
    known = trace_pairs_at(&x->strings, 0, nsys_int(r, STRING_ID), &is_new);
    if (is_new && !nsys_is_null(r, STRING_TEXT)) {
        text = nsys_text(r, STRING_TEXT, &n);
        *known = trace_names_add_bytes(&x->texts, text, n);
    }
    return true;
}

/* In the midst of another table, whose rows that were left out are counted on. */
static bool read_strings(nsys_import *x)
{
    const uint64_t n = x->n_left_out, first = x->first_left_out;
    bool has = false;

    if (nsys_has_table(&x->db, strings.name, &has, x->err) != DSE_OK)
        return false;
    if (!has) {
        dse_fail_at(x->err, DSE_E_SYNTAX, x->path,
                    "there is no table %s, which has the names of kernels: not what Nsight Systems exports",
                    strings.name);
        return false;
    }
    x->has_strings = nsys_each_row(x, &strings, add_string, 0);
    x->n_left_out = n;
    x->first_left_out = first;
    return x->has_strings;
}

bool nsys_name_of(nsys_import *x, const nsys_rows *r, int column, uint32_t rank, uint32_t *out)
{
    trace_names *names = &nsys_rank(x, rank)->names;
    const char *text;
    size_t n;

    *out = DSE_NONE;
    if (nsys_is_null(r, column))
        return true;
    if (sqlite3_column_type(r->stmt, column) == SQLITE_INTEGER) {
        uint32_t id;

        if (!x->has_strings && !read_strings(x))
            return false;
        id = trace_pairs_find(&x->strings, 0, nsys_int(r, column));
        if (id != DSE_NONE)
            *out = trace_names_add(names, x->texts.text[id], x->texts.length[id]);
        return true;
    }
    text = nsys_text(r, column, &n);
    *out = trace_names_add_bytes(names, text, n);
    return true;
}

/* ---- devices --------------------------------------------------------------------------------- */

static bool add_cuda_device(nsys_import *x, const nsys_rows *r, int word)
{
    nsys_cuda_device d = {nsys_int(r, CUDA_ID), nsys_is_null(r, CUDA_PID) ? -1 : nsys_int(r, CUDA_PID),
                          nsys_int(r, CUDA_GPU), (uint32_t)nsys_int(r, CUDA_SMS)};

    (void)word;
    if (x->n_cuda == MAX_CUDA_DEVICES)
        return true;
    for (size_t i = 0; i < x->n_cuda; i++)
        x->by_gpu = x->by_gpu || (x->cuda[i].cuda_id == d.cuda_id && x->cuda[i].gpu_id != d.gpu_id);
    DSE_GROW(x->cuda, x->cap_cuda, x->n_cuda + 1);
    x->cuda[x->n_cuda++] = d;
    return true;
}

bool nsys_read_cuda_devices(nsys_import *x) { return nsys_each_row(x, &cuda_devices, add_cuda_device, 0); }

/* The GPU that a process's device number stands for; NULL: unknown. */
static const nsys_cuda_device *find_cuda(const nsys_import *x, int64_t device, int64_t process)
{
    int64_t pid = nsys_pid_of(process);

    for (size_t i = 0; i < x->n_cuda; i++)
        if (x->cuda[i].cuda_id == device && (x->cuda[i].pid == pid || !x->by_gpu))
            return &x->cuda[i];
    return NULL;
}

static bool add_rank(nsys_import *x, int64_t id, const nsys_cuda_device *cuda, uint32_t *out)
{
    trace_rank *r;

    if (id < 0 || id > UINT32_MAX - 1 || x->n_rank_devices == MAX_DEVICES) {
        dse_fail_at(x->err, DSE_E_SYNTAX, x->path, "device %" PRId64 " is none, or one of more than %d", id,
                    MAX_DEVICES);
        return false;
    }
    DSE_GROW(x->rank_device, x->cap_rank_devices, x->n_rank_devices + 1);
    *out = x->out->n_ranks;
    x->rank_device[x->n_rank_devices++] =
        (nsys_rank_device){cuda ? cuda->gpu_id : id, cuda ? cuda->n_sms : 0};
    r = trace_record_add_file(x->out, TRACE_NSYS, x->path);
    r->rank = (uint32_t)id;
    r->base_ns = x->base_ns;
    for (int w = 0; w < NSYS_WORDS; w++)
        trace_add_word(r, trace_names_add(&r->names, words[w], strlen(words[w])));
    return true;
}

bool nsys_find_rank(nsys_import *x, int64_t device, int64_t process, uint32_t *out)
{
    const nsys_cuda_device *cuda;
    bool is_new;
    uint32_t *rank = trace_pairs_at(&x->devices, device, process, &is_new), at;
    int64_t id;

    *out = *rank;
    if (!is_new)
        return true;
    cuda = find_cuda(x, device, process);
    id = cuda && x->by_gpu ? cuda->gpu_id : device;
    for (at = x->first; at < x->out->n_ranks && nsys_rank(x, at)->rank != id;)
        at++;
    if (at == x->out->n_ranks && !add_rank(x, id, cuda, &at))
        return false;
    *rank = *out = at;
    return true;
}

static bool add_gpu(nsys_import *x, const nsys_rows *r, int word)
{
    (void)word;
    for (size_t i = 0; i < x->n_rank_devices; i++) {
        uint32_t at = x->first + (uint32_t)i;
        trace_rank *rank = nsys_rank(x, at);
        trace_device *d = rank->device;

        if (x->rank_device[i].id != nsys_int(r, GPU_ID))
            continue;
        if (!x->rank_device[i].n_sms)
            x->rank_device[i].n_sms = (uint32_t)nsys_int(r, GPU_SMS);
        if (!nsys_name_of(x, r, GPU_NAME, at, &d->name))
            return false;
        d->memory_bytes = nsys_int(r, GPU_MEMORY) < 0 ? 0 : (uint64_t)nsys_int(r, GPU_MEMORY);
        d->major = (uint32_t)nsys_int(r, GPU_MAJOR);
        d->minor = (uint32_t)nsys_int(r, GPU_MINOR);
    }
    return true;
}

bool nsys_describe_devices(nsys_import *x)
{
    for (uint32_t i = x->first; i < x->out->n_ranks; i++) {
        trace_rank *r = nsys_rank(x, i);

        DSE_GROW(r->device, r->cap_devices, 1);
        r->device[r->n_devices++] = (trace_device){.name = DSE_NONE};
    }
    if (!nsys_each_row(x, &gpus, add_gpu, 0))
        return false;
    for (uint32_t i = x->first; i < x->out->n_ranks; i++) {
        trace_rank *r = nsys_rank(x, i);

        r->device[0].n_sms = x->rank_device[i - x->first].n_sms;
        for (uint32_t a = 0; a < r->n_args && r->device[0].n_sms; a++)
            if (r->args[a].blocks != TRACE_UNKNOWN)
                r->args[a].blocks_per_sm = (double)r->args[a].blocks / r->device[0].n_sms;
        for (uint32_t l = 0; l < r->n_lanes; l++) /* streams alone, so far */
            r->lane[l].process_name = r->device[0].name;
    }
    return true;
}

/* ---- devices that a thread or a process uses ------------------------------------------------- */

void nsys_add_use(nsys_import *x, int64_t user, uint32_t rank)
{
    bool is_new;
    uint32_t *first = trace_pairs_at(&x->users, 0, user, &is_new);

    for (uint32_t u = *first; u != DSE_NONE; u = x->use[u].next)
        if (x->use[u].rank == rank)
            return;
    if (x->n_uses == DSE_NONE - 1)
        dse_out_of_memory();
    DSE_GROW(x->use, x->cap_uses, x->n_uses + 1);
    x->use[x->n_uses] = (nsys_use){rank, *first};
    *first = (uint32_t)x->n_uses++;
}

uint32_t nsys_first_use(const nsys_import *x, int64_t tid)
{
    const int64_t users[] = {tid, nsys_process_of(tid), NSYS_ANYONE};
    uint32_t first = DSE_NONE;

    for (size_t i = tid == NSYS_ANYONE ? 2 : 0; i < 3 && first == DSE_NONE; i++)
        first = trace_pairs_find(&x->users, 0, users[i]);
    return first;
}

/* ---- lanes ----------------------------------------------------------------------------------- */

bool nsys_find_lane(nsys_import *x, uint32_t rank, bool is_host, int64_t number, uint32_t *out)
{
    trace_rank *r = nsys_rank(x, rank);
    bool is_new;
    uint32_t *lane = trace_pairs_at(&x->lanes, 2 * (int64_t)rank + is_host, number, &is_new), pid, tid;

    *out = *lane;
    if (!is_new)
        return true;
    if (r->n_lanes == MAX_LANES) {
        dse_fail_at(x->err, DSE_E_RANGE, x->path, "device %" PRIu32 " has more than %d threads and streams",
                    r->rank, MAX_LANES);
        return false;
    }
    pid = trace_names_addf(&r->names, "%" PRId64, is_host ? nsys_pid_of(number) : r->rank);
    tid = is_host ? trace_names_addf(&r->names, "%" PRId64, number & 0xffffff)
                  : trace_names_addf(&r->names, "stream %" PRId64, number);
    *out = *lane = trace_add_lane(r, pid, tid);
    return true;
}
