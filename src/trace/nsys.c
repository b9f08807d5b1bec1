/* Nsight Systems exports (nsys export --type sqlite): one device is one rank.
 *
 * Kernels, copies and sets of memory belong to the device they ran on. A call of the runtime belongs to the device of
 * what it launched: same process, same correlation. Any other call, and an NVTX range, belongs to each device that its
 * thread launched something on; of a thread that launched nothing, to those of its process; what a process without a
 * device says, to none. A process is a globalPid: a globalTid but for its lower 24 bits.
 *
 * A kernel's name is its short name, as the original tools have it; the demangled one, with template arguments, is the
 * long_name of its arguments. PyTorch's NVTX ranges lose the numbers that make each a name of its own
 * (", seq = 5, op_id = 17"). Tables and columns differ between versions: what a trace need not have may be missing.
 * Time 0 is the second in which the first kernel began. */
#include "trace/nsys_rows.h"
#include "trace/pairs.h"
#include "trace/reader.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define MAX_DEVICES 4096
#define MAX_LANES   65536 /* of a device: threads and streams */
#define NS_PER_S    1000000000
#define TID_MASK    ((int64_t)0xffffff) /* the thread in a globalTid; above it the process */
#define ANYONE      INT64_MIN           /* the process of whoever the file does not tell */
#define KERNEL      "CUPTI_ACTIVITY_KIND_KERNEL"

/* ---- tables -------------------------------------------------------------------------------- */

/* The first columns of all that a device does. */
enum { START, END, DEVICE, STREAM, CORRELATION, PROCESS, FIRST_OWN };
#define ON_DEVICE                                                                                            \
    {"start", true}, {"end", true}, {"deviceId", true}, {"streamId", false}, {"correlationId", false},       \
    {                                                                                                        \
        "globalPid", false                                                                                   \
    }

#define TABLE(variable, text, columns)                                                                       \
    static const nsys_table variable = {text, columns, sizeof(columns) / sizeof(columns)[0]}

enum { SHORT_NAME = FIRST_OWN, DEMANGLED_NAME, GRID_X, GRID_Y, GRID_Z };
static const nsys_column kernel_columns[] = {ON_DEVICE,        {"shortName", false}, {"demangledName", false},
                                             {"gridX", false}, {"gridY", false},     {"gridZ", false}};
TABLE(kernels, KERNEL, kernel_columns);

enum { BYTES = FIRST_OWN, COPY_KIND };
static const nsys_column copy_columns[] = {ON_DEVICE, {"bytes", false}, {"copyKind", false}};
TABLE(copies, "CUPTI_ACTIVITY_KIND_MEMCPY", copy_columns);
TABLE(sets, "CUPTI_ACTIVITY_KIND_MEMSET", copy_columns);

enum { CALL_THREAD = END + 1, CALL_CORRELATION, CALL_NAME };
static const nsys_column call_columns[] = {
    {"start", true}, {"end", true}, {"globalTid", true}, {"correlationId", true}, {"nameId", true}};
TABLE(runtime_calls, "CUPTI_ACTIVITY_KIND_RUNTIME", call_columns);
TABLE(driver_calls, "CUPTI_ACTIVITY_KIND_DRIVER", call_columns);

enum { RANGE_THREAD = END + 1, RANGE_TEXT, RANGE_TEXT_ID };
static const nsys_column range_columns[] = {
    {"start", true}, {"end", true}, {"globalTid", false}, {"text", false}, {"textId", false}};
TABLE(ranges, "NVTX_EVENTS", range_columns);

/* Which physical GPU a process means by a number. */
enum { CUDA_GPU, CUDA_ID, CUDA_PID, CUDA_SMS };
static const nsys_column cuda_columns[] = {
    {"gpuId", true}, {"cudaId", true}, {"pid", false}, {"numMultiprocessors", false}};
TABLE(cuda_devices, "TARGET_INFO_CUDA_DEVICE", cuda_columns);

enum { GPU_ID, GPU_NAME, GPU_MEMORY, GPU_SMS, GPU_MAJOR, GPU_MINOR };
static const nsys_column gpu_columns[] = {
    {"id", true},       {"name", false},         {"totalMemory", false},
    {"smCount", false}, {"computeMajor", false}, {"computeMinor", false}};
TABLE(gpus, "TARGET_INFO_GPU", gpu_columns);

enum { NAMED_THREAD, THREAD_NAME };
static const nsys_column thread_columns[] = {{"globalTid", true}, {"nameId", true}};
TABLE(thread_names, "ThreadNames", thread_columns);

enum { NAMED_PROCESS, PROCESS_NAME };
static const nsys_column process_columns[] = {{"globalPid", true}, {"name", true}};
TABLE(process_names, "PROCESSES", process_columns);

/* Each rank's first category words, in this order. */
enum { WORD_KERNEL, WORD_MEMCPY, WORD_MEMSET, WORD_RUNTIME, WORD_DRIVER, WORD_RANGE, WORDS };
static const struct {
    const char *text;
    trace_category category;
} words[WORDS] = {{"kernel", TRACE_KERNEL},      {"gpu_memcpy", TRACE_MEMCPY},
                  {"gpu_memset", TRACE_MEMSET},  {"cuda_runtime", TRACE_RUNTIME},
                  {"cuda_driver", TRACE_DRIVER}, {"user_annotation", TRACE_ANNOTATION}};

/* ---- the import under way ------------------------------------------------------------------ */

typedef struct {
    int64_t cuda_id, pid, gpu_id;
    uint32_t n_sms;
} cuda_device;

typedef struct {
    int64_t id;
    uint32_t n_sms;
} rank_device; /* beside each rank of the file */

/* A rank that a thread or a process uses; chained. */
typedef struct {
    uint32_t rank, next;
} use;

typedef struct {
    nsys_db db;
    const char *path;
    trace_record *out;
    dse_error *err;
    uint32_t first; /* of the file's ranks in the record */
    int64_t base_ns, first_ps, last_ps;
    uint64_t n_left_out, first_left_out; /* of the table under way */
    size_t n_cuda, cap_cuda, n_rank_devices, cap_rank_devices, n_uses, cap_uses;
    cuda_device *cuda;
    rank_device *rank_device;
    use *use;
    bool by_gpu;         /* two processes mean different GPUs by one number: ranks are physical GPUs */
    trace_pairs devices; /* device, process -> rank */
    trace_pairs strings; /* rank, number in StringIds -> name; DSE_NONE: there is no such string */
    trace_pairs lanes;   /* 2 * rank + (1 of the host), stream or thread -> lane */
    trace_pairs
        launches;      /* process, correlation -> rank; its place, from 1, is the correlation in the record */
    trace_pairs users; /* 0, thread or process -> first use */
} nsys;

static bool nomem(nsys *x)
{
    dse_fail_nomem(x->err);
    return false;
}

static trace_rank *rank_of(nsys *x, uint32_t rank) { return &x->out->rank[rank]; }
static int64_t process_of(int64_t tid) { return tid & ~TID_MASK; }

/* Calls row for each row of a table, while it returns true, and then says what was left out. */
typedef bool row_fn(nsys *x, const nsys_rows *r, int word);

static bool each_row(nsys *x, const nsys_table *t, row_fn *row, int word)
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
                   "table %s: %" PRIu64 " rows of a negative duration, or more than 106 days from the first "
                   "kernel, are left out; row %" PRIu64 " is the first of them",
                   t->name, x->n_left_out, x->first_left_out);
    return ok && got == 0;
}

/* ---- names --------------------------------------------------------------------------------- */

/* Of a column that holds a number of StringIds or, in some versions, the text. *out is DSE_NONE if it says nothing. */
static bool name_of(nsys *x, const nsys_rows *r, int column, uint32_t rank, uint32_t *out)
{
    trace_names *names = &rank_of(x, rank)->names;
    const char *text;
    uint32_t *known;
    size_t n;
    bool is_new;

    *out = DSE_NONE;
    if (nsys_is_null(r, column))
        return true;
    if (sqlite3_column_type(r->stmt, column) == SQLITE_INTEGER) {
        int64_t id = nsys_int(r, column);

        if (!(known = trace_pairs_at(&x->strings, rank, id, &is_new)))
            return nomem(x);
        if (is_new) {
            if (nsys_string(&x->db, id, &text, &n, x->err) != DSE_OK)
                return false;
            if (text && (*known = trace_names_add_bytes(names, text, n)) == DSE_NONE)
                return nomem(x);
        }
        *out = *known;
        return true;
    }
    if (!(text = nsys_text(r, column, &n)))
        return nomem(x);
    *out = trace_names_add_bytes(names, text, n);
    return *out != DSE_NONE || nomem(x);
}

static uint32_t add_number(trace_rank *r, const char *before, int64_t v)
{
    char text[48];
    int n = snprintf(text, sizeof text, "%s%" PRId64, before, v);

    return trace_names_add(&r->names, text, (size_t)n);
}

/* ---- devices ------------------------------------------------------------------------------- */

static bool add_cuda_device(nsys *x, const nsys_rows *r, int word)
{
    cuda_device d = {nsys_int(r, CUDA_ID), nsys_is_null(r, CUDA_PID) ? -1 : nsys_int(r, CUDA_PID),
                     nsys_int(r, CUDA_GPU), (uint32_t)nsys_int(r, CUDA_SMS)};

    (void)word;
    for (size_t i = 0; i < x->n_cuda; i++)
        x->by_gpu = x->by_gpu || (x->cuda[i].cuda_id == d.cuda_id && x->cuda[i].gpu_id != d.gpu_id);
    if (x->n_cuda == MAX_DEVICES) /* a few for each process: nothing real has as many */
        return true;
    if (!DSE_GROW(x->cuda, x->cap_cuda, x->n_cuda + 1))
        return nomem(x);
    x->cuda[x->n_cuda++] = d;
    return true;
}

/* What a process means by a device; NULL if the file does not say. */
static const cuda_device *find_cuda(const nsys *x, int64_t device, int64_t process)
{
    int64_t pid = process >> 24 & 0xffffff;

    for (size_t i = 0; i < x->n_cuda; i++)
        if (x->cuda[i].cuda_id == device && (x->cuda[i].pid == pid || !x->by_gpu))
            return &x->cuda[i];
    return NULL;
}

static bool add_rank(nsys *x, int64_t id, const cuda_device *cuda, uint32_t *out)
{
    trace_rank *r;

    if (id < 0 || id > UINT32_MAX - 1 || x->n_rank_devices == MAX_DEVICES) {
        dse_fail_at(x->err, DSE_E_SYNTAX, x->path, "device %" PRId64 ": there is no such, or more than %d",
                    id, MAX_DEVICES);
        return false;
    }
    if (!DSE_GROW(x->rank_device, x->cap_rank_devices, x->n_rank_devices + 1))
        return nomem(x);
    *out = x->out->n_ranks;
    x->rank_device[x->n_rank_devices++] = (rank_device){cuda ? cuda->gpu_id : id, cuda ? cuda->n_sms : 0};
    if (!(r = trace_record_add_rank(x->out)) || !(r->path = dse_realloc(NULL, strlen(x->path) + 1)))
        return nomem(x);
    strcpy(r->path, x->path);
    r->rank = (uint32_t)id;
    r->kind = TRACE_NSYS;
    r->base_ns = x->base_ns;
    for (int w = 0; w < WORDS; w++) {
        uint32_t name = trace_names_add(&r->names, words[w].text, strlen(words[w].text));

        if (name == DSE_NONE)
            return nomem(x);
        trace_add_word(r, name);
    }
    return true;
}

/* The rank of a device as a process numbers it. */
static bool find_rank(nsys *x, int64_t device, int64_t process, uint32_t *out)
{
    const cuda_device *cuda;
    bool is_new;
    uint32_t *rank = trace_pairs_at(&x->devices, device, process, &is_new), at;
    int64_t id;

    if (!rank)
        return nomem(x);
    *out = *rank;
    if (!is_new)
        return true;
    cuda = find_cuda(x, device, process);
    id = cuda && x->by_gpu ? cuda->gpu_id : device;
    for (at = x->first; at < x->out->n_ranks && rank_of(x, at)->rank != id;)
        at++;
    if (at == x->out->n_ranks && !add_rank(x, id, cuda, &at))
        return false;
    *rank = *out = at;
    return true;
}

static bool add_gpu(nsys *x, const nsys_rows *r, int word)
{
    (void)word;
    for (size_t i = 0; i < x->n_rank_devices; i++) {
        uint32_t at = x->first + (uint32_t)i;
        trace_rank *rank = rank_of(x, at);
        trace_device *d = rank->device;

        if (x->rank_device[i].id != nsys_int(r, GPU_ID))
            continue;
        if (!x->rank_device[i].n_sms)
            x->rank_device[i].n_sms = (uint32_t)nsys_int(r, GPU_SMS);
        if (!name_of(x, r, GPU_NAME, at, &d->name))
            return false;
        d->memory_bytes = nsys_int(r, GPU_MEMORY) < 0 ? 0 : (uint64_t)nsys_int(r, GPU_MEMORY);
        d->major = (uint32_t)nsys_int(r, GPU_MAJOR);
        d->minor = (uint32_t)nsys_int(r, GPU_MINOR);
    }
    return true;
}

static bool describe_devices(nsys *x)
{
    for (uint32_t i = x->first; i < x->out->n_ranks; i++) {
        trace_rank *r = rank_of(x, i);

        if (!DSE_GROW(r->device, r->cap_devices, 1))
            return nomem(x);
        r->device[r->n_devices++] = (trace_device){.name = DSE_NONE};
    }
    if (!each_row(x, &gpus, add_gpu, 0))
        return false;
    for (uint32_t i = x->first; i < x->out->n_ranks; i++) {
        trace_rank *r = rank_of(x, i);

        r->device[0].n_sms = x->rank_device[i - x->first].n_sms;
        for (uint32_t a = 0; a < r->n_args && r->device[0].n_sms; a++)
            if (r->args[a].blocks != TRACE_UNKNOWN)
                r->args[a].blocks_per_sm = (double)r->args[a].blocks / r->device[0].n_sms;
        for (uint32_t l = 0; l < r->n_lanes; l++) /* streams alone, so far */
            r->lane[l].process_name = r->device[0].name;
    }
    return true;
}

/* ---- who uses which device ----------------------------------------------------------------- */

static bool add_use(nsys *x, int64_t user, uint32_t rank)
{
    bool is_new;
    uint32_t *first = trace_pairs_at(&x->users, 0, user, &is_new);

    if (!first)
        return nomem(x);
    for (uint32_t u = *first; u != DSE_NONE; u = x->use[u].next)
        if (x->use[u].rank == rank)
            return true;
    if (x->n_uses == DSE_NONE - 1 || !DSE_GROW(x->use, x->cap_uses, x->n_uses + 1))
        return nomem(x);
    x->use[x->n_uses] = (use){rank, *first};
    *first = (uint32_t)x->n_uses++;
    return true;
}

/* Of a thread, or else of its process, or else, if kernels have no process, of anyone. */
static uint32_t first_use(const nsys *x, int64_t tid)
{
    const int64_t users[] = {tid, process_of(tid), ANYONE};
    uint32_t first = DSE_NONE;

    for (size_t i = tid == ANYONE ? 2 : 0; i < 3 && first == DSE_NONE; i++)
        first = trace_pairs_find(&x->users, 0, users[i]);
    return first;
}

/* ---- events -------------------------------------------------------------------------------- */

static bool place(nsys *x, const nsys_rows *r, trace_event *e)
{
    int64_t start = nsys_int(r, START), dur, end;

    if (!__builtin_sub_overflow(nsys_int(r, END), start, &dur) && dur >= 0 &&
        !__builtin_sub_overflow(start, x->base_ns, &start) &&
        !__builtin_mul_overflow(start, TRACE_PS_PER_NS, &e->start_ps) &&
        !__builtin_mul_overflow(dur, TRACE_PS_PER_NS, &e->dur_ps) &&
        !__builtin_add_overflow(e->start_ps, e->dur_ps, &end))
        return true;
    if (!x->n_left_out++)
        x->first_left_out = r->row;
    return false;
}

static bool find_lane(nsys *x, uint32_t rank, bool is_host, int64_t number, uint32_t *out)
{
    trace_rank *r = rank_of(x, rank);
    bool is_new;
    uint32_t *lane = trace_pairs_at(&x->lanes, 2 * (int64_t)rank + is_host, number, &is_new), pid, tid;

    if (!lane)
        return nomem(x);
    *out = *lane;
    if (!is_new)
        return true;
    if (r->n_lanes == MAX_LANES) {
        dse_fail_at(x->err, DSE_E_RANGE, x->path, "device %" PRIu32 " has more than %d threads and streams",
                    r->rank, MAX_LANES);
        return false;
    }
    pid = add_number(r, "", is_host ? process_of(number) >> 24 & 0xffffff : r->rank);
    tid = is_host ? add_number(r, "", number & TID_MASK) : add_number(r, "stream ", number);
    if (pid == DSE_NONE || tid == DSE_NONE || (*lane = trace_add_lane(r, pid, tid)) == DSE_NONE)
        return nomem(x);
    *out = *lane;
    return true;
}

/* The correlation in the record: those of several processes may share a number. */
static bool add_launch(nsys *x, int64_t process, int64_t correlation, uint32_t rank, uint32_t *out)
{
    bool is_new;
    uint32_t *launch = trace_pairs_at(&x->launches, process, correlation, &is_new);

    if (!launch)
        return nomem(x);
    if (is_new)
        *launch = rank;
    *out = trace_pairs_place(&x->launches, launch) + 1;
    return true;
}

static uint64_t size_of(const nsys_rows *r, int column)
{
    return nsys_is_null(r, column) || nsys_int(r, column) < 0 ? TRACE_UNKNOWN : (uint64_t)nsys_int(r, column);
}

/* How the runtime names a copy of this kind: ENUM_CUDA_MEMCPY_OPER, in Kineto's spelling. */
static const char *copy_name(int64_t kind)
{
    static const char *const names[] = {"Memcpy",
                                        "Memcpy HtoD",
                                        "Memcpy DtoH",
                                        "Memcpy HtoA",
                                        "Memcpy AtoH",
                                        "Memcpy AtoA",
                                        "Memcpy AtoD",
                                        "Memcpy DtoA",
                                        "Memcpy DtoD",
                                        "Memcpy HtoH",
                                        "Memcpy PtoP",
                                        "Memcpy HtoD (unified)",
                                        "Memcpy DtoH (unified)",
                                        "Memcpy DtoD (unified)"};

    return names[kind > 0 && kind < (int64_t)(sizeof names / sizeof names[0]) ? kind : 0];
}

static bool fill_kernel(nsys *x, const nsys_rows *r, uint32_t rank, trace_event *e, trace_args *a)
{
    uint64_t yz;

    if (!name_of(x, r, SHORT_NAME, rank, &e->name) || !name_of(x, r, DEMANGLED_NAME, rank, &a->long_name))
        return false;
    if (e->name == DSE_NONE)
        e->name = a->long_name;
    if (e->name == DSE_NONE &&
        (e->name = trace_names_add(&rank_of(x, rank)->names, "Unknown", 7)) == DSE_NONE)
        return nomem(x);
    if (size_of(r, GRID_X) == TRACE_UNKNOWN || size_of(r, GRID_Y) == TRACE_UNKNOWN ||
        size_of(r, GRID_Z) == TRACE_UNKNOWN ||
        __builtin_mul_overflow(size_of(r, GRID_Y), size_of(r, GRID_Z), &yz) ||
        __builtin_mul_overflow(size_of(r, GRID_X), yz, &a->blocks))
        a->blocks = TRACE_UNKNOWN;
    return true;
}

static bool fill_copy(nsys *x, const nsys_rows *r, uint32_t rank, int word, trace_event *e, trace_args *a)
{
    const char *name = word == WORD_MEMSET ? "Memset" : copy_name(nsys_int(r, COPY_KIND));

    a->bytes = size_of(r, BYTES);
    e->name = trace_names_add(&rank_of(x, rank)->names, name, strlen(name));
    return e->name != DSE_NONE || nomem(x);
}

/* A row of what a device did. */
static bool add_device_event(nsys *x, const nsys_rows *r, int word)
{
    int64_t process = nsys_is_null(r, PROCESS) ? ANYONE : process_of(nsys_int(r, PROCESS));
    trace_event e = {.category = (uint8_t)words[word].category, .word = (uint8_t)word};
    trace_args a;
    uint32_t rank;

    if (!place(x, r, &e))
        return true;
    trace_args_clear(&a);
    a.device = (uint32_t)nsys_int(r, DEVICE);
    a.stream = nsys_is_null(r, STREAM) ? DSE_NONE : (uint32_t)nsys_int(r, STREAM);
    if (!find_rank(x, nsys_int(r, DEVICE), process, &rank) || !add_use(x, process, rank) ||
        !find_lane(x, rank, false, nsys_int(r, STREAM), &e.lane))
        return false;
    if (nsys_int(r, CORRELATION) && !add_launch(x, process, nsys_int(r, CORRELATION), rank, &e.correlation))
        return false;
    if (!(word == WORD_KERNEL ? fill_kernel(x, r, rank, &e, &a) : fill_copy(x, r, rank, word, &e, &a)))
        return false;
    if (word == WORD_KERNEL) {
        x->first_ps = e.start_ps < x->first_ps ? e.start_ps : x->first_ps;
        x->last_ps = e.start_ps + e.dur_ps > x->last_ps ? e.start_ps + e.dur_ps : x->last_ps;
    }
    if ((e.args = trace_add_args(rank_of(x, rank), &a)) == DSE_NONE || !trace_add_event(rank_of(x, rank), &e))
        return nomem(x);
    return true;
}

/* Names an event in a rank's terms; DSE_NONE: it has no name and is left out. */
typedef bool name_fn(nsys *x, const nsys_rows *r, uint32_t rank, uint32_t *out);

static bool add_host_event(nsys *x, const nsys_rows *r, uint32_t rank, int64_t tid, name_fn *name,
                           trace_event *e)
{
    if (!name(x, r, rank, &e->name))
        return false;
    if (e->name == DSE_NONE)
        return true;
    return find_lane(x, rank, true, tid == ANYONE ? 0 : tid, &e->lane) &&
           (trace_add_event(rank_of(x, rank), e) || nomem(x));
}

/* Adds the event on each rank that its thread uses. */
static bool add_to_users(nsys *x, const nsys_rows *r, int64_t tid, name_fn *name, trace_event *e)
{
    for (uint32_t u = first_use(x, tid); u != DSE_NONE; u = x->use[u].next)
        if (!add_host_event(x, r, x->use[u].rank, tid, name, e))
            return false;
    return true;
}

/* ---- calls of the runtime ------------------------------------------------------------------ */

/* What a call launched: its correlation in the record; 0: nothing that is in the file. */
static uint32_t find_launch(const nsys *x, const nsys_rows *r, uint32_t *rank)
{
    const int64_t processes[] = {process_of(nsys_int(r, CALL_THREAD)), ANYONE};
    uint32_t place = DSE_NONE;

    for (int i = 0; i < 2 && place == DSE_NONE && nsys_int(r, CALL_CORRELATION); i++)
        place = trace_pairs_find_place(&x->launches, processes[i], nsys_int(r, CALL_CORRELATION));
    if (place == DSE_NONE)
        return 0;
    *rank = x->launches.entry[place].value;
    return place + 1;
}

static bool note_thread(nsys *x, const nsys_rows *r, int word)
{
    uint32_t rank;

    (void)word;
    return !find_launch(x, r, &rank) || add_use(x, nsys_int(r, CALL_THREAD), rank);
}

static bool call_name(nsys *x, const nsys_rows *r, uint32_t rank, uint32_t *out)
{
    return name_of(x, r, CALL_NAME, rank, out);
}

static bool add_call(nsys *x, const nsys_rows *r, int word)
{
    trace_event e = {.category = (uint8_t)words[word].category, .word = (uint8_t)word, .args = DSE_NONE};
    int64_t tid = nsys_int(r, CALL_THREAD);
    uint32_t rank;

    if (!place(x, r, &e))
        return true;
    e.correlation = find_launch(x, r, &rank);
    return e.correlation ? add_host_event(x, r, rank, tid, call_name, &e)
                         : add_to_users(x, r, tid, call_name, &e);
}

/* ---- NVTX ---------------------------------------------------------------------------------- */

/* Without PyTorch's numbers, which come last. */
static size_t plain_length(const char *text, size_t n)
{
    static const char *const ends[] = {", seq = ", ", op_id = "};

    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < 2 && text[i] == ','; k++)
            if (n - i > strlen(ends[k]) && memcmp(text + i, ends[k], strlen(ends[k])) == 0)
                return i;
    return n;
}

static bool range_name(nsys *x, const nsys_rows *r, uint32_t rank, uint32_t *out)
{
    trace_names *names = &rank_of(x, rank)->names;
    const char *text;
    size_t n, plain;

    if (nsys_is_null(r, RANGE_TEXT)) {
        if (!name_of(x, r, RANGE_TEXT_ID, rank, out))
            return false;
        if (*out == DSE_NONE)
            return true;
        text = names->text[*out];
        n = names->length[*out];
        if ((plain = plain_length(text, n)) == n)
            return true;
        *out = trace_names_add(names, text, plain);
    } else {
        if (!(text = nsys_text(r, RANGE_TEXT, &n)))
            return nomem(x);
        *out = trace_names_add_bytes(names, text, plain_length(text, n));
    }
    return *out != DSE_NONE || nomem(x);
}

static bool add_range(nsys *x, const nsys_rows *r, int word)
{
    trace_event e = {.category = (uint8_t)words[word].category, .word = (uint8_t)word, .args = DSE_NONE};
    int64_t tid = nsys_is_null(r, RANGE_THREAD) ? ANYONE : nsys_int(r, RANGE_THREAD);

    if (nsys_is_null(r, END))
        return true; /* a mark, the name of a thread or a domain; a range that was open when the recording ended */
    return !place(x, r, &e) || add_to_users(x, r, tid, range_name, &e);
}

/* ---- names of threads ---------------------------------------------------------------------- */

static bool add_thread_name(nsys *x, const nsys_rows *r, int word)
{
    (void)word;
    for (uint32_t i = x->first; i < x->out->n_ranks; i++) {
        uint32_t lane = trace_pairs_find(&x->lanes, 2 * (int64_t)i + 1, nsys_int(r, NAMED_THREAD));

        if (lane != DSE_NONE && !name_of(x, r, THREAD_NAME, i, &rank_of(x, i)->lane[lane].thread))
            return false;
    }
    return true;
}

static bool add_process_name(nsys *x, const nsys_rows *r, int word)
{
    (void)word;
    for (size_t i = 0; i < x->lanes.n; i++) {
        const trace_pair *p = &x->lanes.entry[i];
        uint32_t rank = (uint32_t)(p->a / 2);

        if (p->a % 2 && process_of(p->b) == nsys_int(r, NAMED_PROCESS) &&
            !name_of(x, r, PROCESS_NAME, rank, &rank_of(x, rank)->lane[p->value].process_name))
            return false;
    }
    return true;
}

/* ---- the file ------------------------------------------------------------------------------ */

/* That there are kernels, and when the first began. */
static bool find_base(nsys *x)
{
    bool has = false;
    int64_t ns;

    if (nsys_has_table(&x->db, KERNEL, &has, x->err) != DSE_OK)
        return false;
    if (!has) {
        dse_fail_at(x->err, DSE_E_SYNTAX, x->path,
                    "there is no table " KERNEL
                    ": this is no export of Nsight Systems, or of a recording without "
                    "CUDA kernels; record with nsys profile --trace=cuda,nvtx");
        return false;
    }
    if (nsys_number(&x->db, "SELECT MIN(start) FROM " KERNEL, &ns, &has, x->err) != DSE_OK)
        return false;
    if (!has) {
        dse_fail_at(x->err, DSE_E_SYNTAX, x->path,
                    "table " KERNEL " is empty: no CUDA kernel was recorded; record with nsys profile "
                    "--trace=cuda,nvtx");
        return false;
    }
    x->base_ns = (ns / NS_PER_S - (ns % NS_PER_S < 0)) * NS_PER_S;
    return true;
}

/* Launches of CUDA graphs that were recorded as a whole hide their kernels. */
static bool warn_of_graphs(nsys *x)
{
    static const char table[] = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE";
    bool has = false;
    int64_t n = 0;

    if (nsys_has_table(&x->db, table, &has, x->err) != DSE_OK ||
        (has && nsys_number(&x->db, "SELECT COUNT(*) FROM CUPTI_ACTIVITY_KIND_GRAPH_TRACE", &n, &has,
                            x->err) != DSE_OK))
        return false;
    if (n)
        trace_warn(x->out, x->path,
                   "table %s: %" PRId64
                   " launches of CUDA graphs were recorded as a whole, and their kernels "
                   "are missing; record with nsys profile --cuda-graph-trace=node",
                   table, n);
    return true;
}

static bool read_all(nsys *x)
{
    if (!find_base(x) || !each_row(x, &cuda_devices, add_cuda_device, 0) ||
        !each_row(x, &kernels, add_device_event, WORD_KERNEL) ||
        !each_row(x, &copies, add_device_event, WORD_MEMCPY) ||
        !each_row(x, &sets, add_device_event, WORD_MEMSET) || !describe_devices(x) ||
        !each_row(x, &runtime_calls, note_thread, 0) || !each_row(x, &driver_calls, note_thread, 0) ||
        !each_row(x, &runtime_calls, add_call, WORD_RUNTIME) ||
        !each_row(x, &driver_calls, add_call, WORD_DRIVER) || !each_row(x, &ranges, add_range, WORD_RANGE) ||
        !each_row(x, &thread_names, add_thread_name, 0) ||
        !each_row(x, &process_names, add_process_name, 0) || !warn_of_graphs(x))
        return false;
    for (uint32_t i = x->first; i < x->out->n_ranks; i++) {
        rank_of(x, i)->has_rank = x->n_rank_devices > 1; /* one alone: its file's name may say better */
        rank_of(x, i)->all_first_ps = x->first_ps;
        rank_of(x, i)->all_last_ps = x->last_ps;
    }
    return true;
}

static dse_status nsys_read(const char *path, trace_record *out, dse_error *err)
{
    dse_error first = DSE_ERROR_INIT;
    nsys x = {.path = path,
              .out = out,
              .err = &first,
              .first = out->n_ranks,
              .first_ps = INT64_MAX,
              .last_ps = INT64_MIN};
    bool ok = nsys_open(&x.db, path, &first) == DSE_OK && read_all(&x);

    nsys_close(&x.db);
    dse_free(x.cuda);
    dse_free(x.rank_device);
    dse_free(x.use);
    trace_pairs_free(&x.devices);
    trace_pairs_free(&x.strings);
    trace_pairs_free(&x.lanes);
    trace_pairs_free(&x.launches);
    trace_pairs_free(&x.users);
    return ok ? DSE_OK : dse_fail_at(err, first.status, first.where, "%s", first.text);
}

static bool is_sqlite(const char *head, size_t n)
{
    static const char magic[16] = "SQLite format 3";

    return n >= sizeof magic && memcmp(head, magic, sizeof magic) == 0;
}

extern const trace_reader trace_reader_nsys;
const trace_reader trace_reader_nsys = {"nsys", "Nsight Systems export (SQLite)", is_sqlite, nsys_read};
