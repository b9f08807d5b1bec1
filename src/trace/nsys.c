/* Nsight Systems exports (nsys export --type sqlite): one device is one rank.
 *
 * Kernels, copies and sets of memory belong to the device they ran on. A call of the runtime belongs to the
 * device of the operation that it launched: same process, same correlation. Any other call, and an NVTX
 * range, belongs to each device on which its thread launched something; if the thread launched nothing, to
 * the devices of its process; events of a process without a device are dropped. A process is a globalPid: a
 * globalTid without its lower 24 bits.
 *
 * A kernel's name is its short name, as in the original tools; the demangled name, with template arguments,
 * is the long_name of its args. PyTorch's NVTX ranges lose the numbers that make every name unique (", seq =
 * 5, op_id = 17"). Tables and columns differ between versions: optional ones may be missing. Time 0 is the
 * second in which the first kernel began. */
#include "trace/nsys.h"
#include "base/array.h"
#include "trace/reader.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define NS_PER_S 1000000000
#define KERNEL   "CUPTI_ACTIVITY_KIND_KERNEL"

/* ---- tables ---------------------------------------------------------------------------------- */

/* The first columns of all tables of device activities. */
enum { START, END, DEVICE, STREAM, CORRELATION, PROCESS, FIRST_OWN };
#define ON_DEVICE                                                                                            \
    {"start", true}, {"end", true}, {"deviceId", true}, {"streamId", false}, {"correlationId", false},       \
    {                                                                                                        \
        "globalPid", false                                                                                   \
    }

enum { SHORT_NAME = FIRST_OWN, DEMANGLED_NAME, GRID_X, GRID_Y, GRID_Z };
static const nsys_column kernel_columns[] = {ON_DEVICE,        {"shortName", false}, {"demangledName", false},
                                             {"gridX", false}, {"gridY", false},     {"gridZ", false}};
NSYS_TABLE(kernels, KERNEL, kernel_columns);

enum { BYTES = FIRST_OWN, COPY_KIND };
static const nsys_column copy_columns[] = {ON_DEVICE, {"bytes", false}, {"copyKind", false}};
NSYS_TABLE(copies, "CUPTI_ACTIVITY_KIND_MEMCPY", copy_columns);
NSYS_TABLE(sets, "CUPTI_ACTIVITY_KIND_MEMSET", copy_columns);

enum { CALL_THREAD = END + 1, CALL_CORRELATION, CALL_NAME };
static const nsys_column call_columns[] = {
    {"start", true}, {"end", true}, {"globalTid", true}, {"correlationId", true}, {"nameId", true}};
NSYS_TABLE(runtime_calls, "CUPTI_ACTIVITY_KIND_RUNTIME", call_columns);
NSYS_TABLE(driver_calls, "CUPTI_ACTIVITY_KIND_DRIVER", call_columns);

enum { RANGE_THREAD = END + 1, RANGE_TEXT, RANGE_TEXT_ID };
static const nsys_column range_columns[] = {
    {"start", true}, {"end", true}, {"globalTid", false}, {"text", false}, {"textId", false}};
NSYS_TABLE(ranges, "NVTX_EVENTS", range_columns);

enum { NAMED_THREAD, THREAD_NAME };
static const nsys_column thread_columns[] = {{"globalTid", true}, {"nameId", true}};
NSYS_TABLE(thread_names, "ThreadNames", thread_columns);

enum { NAMED_PROCESS, PROCESS_NAME };
static const nsys_column process_columns[] = {{"globalPid", true}, {"name", true}};
NSYS_TABLE(process_names, "PROCESSES", process_columns);

/* ---- events ---------------------------------------------------------------------------------- */

static void leave_out(nsys_import *x, const nsys_rows *r)
{
    if (!x->n_left_out++)
        x->first_left_out = r->row;
}

static bool place(nsys_import *x, const nsys_rows *r, trace_event *e)
{
    int64_t start = nsys_int(r, START), dur, end;

    if (nsys_is_number(r, START) && nsys_is_number(r, END) &&
        !__builtin_sub_overflow(nsys_int(r, END), start, &dur) && dur >= 0 &&
        !__builtin_sub_overflow(start, x->base_ns, &start) &&
        !__builtin_mul_overflow(start, TRACE_PS_PER_NS, &e->start_ps) &&
        !__builtin_mul_overflow(dur, TRACE_PS_PER_NS, &e->dur_ps) &&
        !__builtin_add_overflow(e->start_ps, e->dur_ps, &end) && trace_is_near(e->start_ps) &&
        trace_is_near(end))
        return true;
    leave_out(x, r);
    return false;
}

/* The correlation in the record: those of several processes may share a number. */
static uint32_t add_launch(nsys_import *x, int64_t process, int64_t correlation, uint32_t rank)
{
    bool is_new;
    uint32_t *launch = trace_pairs_at(&x->launches, process, correlation, &is_new);

    if (is_new)
        *launch = rank;
    return trace_pairs_place(&x->launches, launch) + 1;
}

static uint64_t size_of(const nsys_rows *r, int column)
{
    return nsys_is_null(r, column) || nsys_int(r, column) < 0 ? TRACE_UNKNOWN : (uint64_t)nsys_int(r, column);
}

/* Name of a kind of copy: ENUM_CUDA_MEMCPY_OPER, in Kineto's spelling. */
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

    return names[kind > 0 && kind < (int64_t)DSE_COUNT(names) ? kind : 0];
}

static bool fill_kernel(nsys_import *x, const nsys_rows *r, uint32_t rank, trace_event *e, trace_args *a)
{
    uint64_t yz;

    if (!nsys_name_of(x, r, SHORT_NAME, rank, &e->name) ||
        !nsys_name_of(x, r, DEMANGLED_NAME, rank, &a->long_name))
        return false;
    if (e->name == DSE_NONE)
        e->name = a->long_name;
    if (e->name == DSE_NONE)
        e->name = trace_names_add(&nsys_rank(x, rank)->names, "Unknown", 7);
    if (size_of(r, GRID_X) == TRACE_UNKNOWN || size_of(r, GRID_Y) == TRACE_UNKNOWN ||
        size_of(r, GRID_Z) == TRACE_UNKNOWN ||
        __builtin_mul_overflow(size_of(r, GRID_Y), size_of(r, GRID_Z), &yz) ||
        __builtin_mul_overflow(size_of(r, GRID_X), yz, &a->blocks))
        a->blocks = TRACE_UNKNOWN;
    return true;
}

static void fill_copy(nsys_import *x, const nsys_rows *r, uint32_t rank, int word, trace_event *e,
                      trace_args *a)
{
    const char *name = word == NSYS_MEMSET ? "Memset" : copy_name(nsys_int(r, COPY_KIND));

    a->bytes = size_of(r, BYTES);
    e->name = trace_names_add(&nsys_rank(x, rank)->names, name, strlen(name));
}

/* A row of a device activity. */
static bool add_device_event(nsys_import *x, const nsys_rows *r, int word)
{
    int64_t process = nsys_is_null(r, PROCESS) ? NSYS_ANYONE : nsys_process_of(nsys_int(r, PROCESS));
    trace_event e = {.category = (uint8_t)nsys_category[word], .word = (uint8_t)word};
    trace_args a;
    uint32_t rank;

    if (!place(x, r, &e))
        return true;
    if (!nsys_is_number(r, DEVICE)) {
        leave_out(x, r);
        return true;
    }
    trace_args_clear(&a);
    a.device = (uint32_t)nsys_int(r, DEVICE);
    a.stream = nsys_is_null(r, STREAM) ? DSE_NONE : (uint32_t)nsys_int(r, STREAM);
    if (!nsys_find_rank(x, nsys_int(r, DEVICE), process, &rank) ||
        !nsys_find_lane(x, rank, false, nsys_int(r, STREAM), &e.lane))
        return false;
    nsys_add_use(x, process, rank);
    if (nsys_int(r, CORRELATION))
        e.correlation = add_launch(x, process, nsys_int(r, CORRELATION), rank);
    if (word != NSYS_KERNEL) {
        fill_copy(x, r, rank, word, &e, &a);
    } else {
        if (!fill_kernel(x, r, rank, &e, &a))
            return false;
        x->first_ps = e.start_ps < x->first_ps ? e.start_ps : x->first_ps;
        x->last_ps = e.start_ps + e.dur_ps > x->last_ps ? e.start_ps + e.dur_ps : x->last_ps;
    }
    e.args = trace_add_args(nsys_rank(x, rank), &a);
    trace_add_event(nsys_rank(x, rank), &e);
    return true;
}

/* Sets *out to the name of an event in the rank's names; DSE_NONE: it has no name and is dropped. */
typedef bool name_fn(nsys_import *x, const nsys_rows *r, uint32_t rank, uint32_t *out);

static bool add_host_event(nsys_import *x, const nsys_rows *r, uint32_t rank, int64_t tid, name_fn *name,
                           trace_event *e)
{
    if (!name(x, r, rank, &e->name))
        return false;
    if (e->name == DSE_NONE)
        return true;
    if (!nsys_find_lane(x, rank, true, tid == NSYS_ANYONE ? 0 : tid, &e->lane))
        return false;
    trace_add_event(nsys_rank(x, rank), e);
    return true;
}

/* Adds the event on each rank that its thread uses. */
static bool add_to_users(nsys_import *x, const nsys_rows *r, int64_t tid, name_fn *name, trace_event *e)
{
    for (uint32_t u = nsys_first_use(x, tid); u != DSE_NONE; u = x->use[u].next)
        if (!add_host_event(x, r, x->use[u].rank, tid, name, e))
            return false;
    return true;
}

/* ---- calls of the runtime -------------------------------------------------------------------- */

/* The correlation in the record of the operation that a call launched; 0: it is not in the file. */
static uint32_t find_launch(const nsys_import *x, const nsys_rows *r, uint32_t *rank)
{
    const int64_t processes[] = {nsys_process_of(nsys_int(r, CALL_THREAD)), NSYS_ANYONE};
    uint32_t place = DSE_NONE;

    for (int i = 0; i < 2 && place == DSE_NONE && nsys_int(r, CALL_CORRELATION); i++)
        place = trace_pairs_find_place(&x->launches, processes[i], nsys_int(r, CALL_CORRELATION));
    if (place == DSE_NONE)
        return 0;
    *rank = x->launches.entry[place].value;
    return place + 1;
}

static bool note_thread(nsys_import *x, const nsys_rows *r, int word)
{
    uint32_t rank;

    (void)word;
    if (find_launch(x, r, &rank))
        nsys_add_use(x, nsys_int(r, CALL_THREAD), rank);
    return true;
}

static bool call_name(nsys_import *x, const nsys_rows *r, uint32_t rank, uint32_t *out)
{
    return nsys_name_of(x, r, CALL_NAME, rank, out);
}

static bool add_call(nsys_import *x, const nsys_rows *r, int word)
{
    trace_event e = {.category = (uint8_t)nsys_category[word], .word = (uint8_t)word, .args = DSE_NONE};
    int64_t tid = nsys_int(r, CALL_THREAD);
    uint32_t rank;

    if (!place(x, r, &e))
        return true;
    e.correlation = find_launch(x, r, &rank);
    return e.correlation ? add_host_event(x, r, rank, tid, call_name, &e)
                         : add_to_users(x, r, tid, call_name, &e);
}

/* ---- NVTX ------------------------------------------------------------------------------------ */

/* Length without PyTorch's numbers at the end. */
static size_t plain_length(const char *text, size_t n)
{
    static const char *const ends[] = {", seq = ", ", op_id = "};

    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < 2 && text[i] == ','; k++)
            if (n - i > strlen(ends[k]) && memcmp(text + i, ends[k], strlen(ends[k])) == 0)
                return i;
    return n;
}

static bool range_name(nsys_import *x, const nsys_rows *r, uint32_t rank, uint32_t *out)
{
    trace_names *names = &nsys_rank(x, rank)->names;
    const char *text;
    size_t n, plain;

    if (nsys_is_null(r, RANGE_TEXT)) {
        if (!nsys_name_of(x, r, RANGE_TEXT_ID, rank, out))
            return false;
        if (*out == DSE_NONE)
            return true;
        text = names->text[*out];
        n = names->length[*out];
        if ((plain = plain_length(text, n)) == n)
            return true;
        *out = trace_names_add(names, text, plain);
    } else {
        text = nsys_text(r, RANGE_TEXT, &n);
        *out = trace_names_add_bytes(names, text, plain_length(text, n));
    }
    return true;
}

static bool add_range(nsys_import *x, const nsys_rows *r, int word)
{
    trace_event e = {.category = (uint8_t)nsys_category[word], .word = (uint8_t)word, .args = DSE_NONE};
    int64_t tid = nsys_is_null(r, RANGE_THREAD) ? NSYS_ANYONE : nsys_int(r, RANGE_THREAD);

    if (nsys_is_null(r, END))
        return true; /* a mark, the name of a thread or a domain, or a range without an end */
    return !place(x, r, &e) || add_to_users(x, r, tid, range_name, &e);
}

/* ---- names of threads and processes ---------------------------------------------------------- */

static bool add_thread_name(nsys_import *x, const nsys_rows *r, int word)
{
    (void)word;
    for (uint32_t i = x->first; i < x->out->n_ranks; i++) {
        uint32_t lane = trace_pairs_find(&x->lanes, 2 * (int64_t)i + 1, nsys_int(r, NAMED_THREAD));

        if (lane != DSE_NONE && !nsys_name_of(x, r, THREAD_NAME, i, &nsys_rank(x, i)->lane[lane].thread))
            return false;
    }
    return true;
}

static bool add_process_name(nsys_import *x, const nsys_rows *r, int word)
{
    int64_t process = nsys_int(r, NAMED_PROCESS);

    (void)word;
    for (uint32_t u = trace_pairs_find(&x->users, 0, process); u != DSE_NONE; u = x->use[u].next) {
        uint32_t name;
        bool is_new;
        uint32_t *known = trace_pairs_at(&x->processes, x->use[u].rank, process, &is_new);

        if (!nsys_name_of(x, r, PROCESS_NAME, x->use[u].rank, &name))
            return false;
        *known = name;
    }
    return true;
}

static bool name_processes(nsys_import *x)
{
    if (!nsys_each_row(x, &process_names, add_process_name, 0))
        return false;
    for (size_t i = 0; i < x->lanes.n; i++) {
        const trace_pair *p = &x->lanes.entry[i];

        if (p->a % 2) /* of the host */
            nsys_rank(x, (uint32_t)(p->a / 2))->lane[p->value].process_name =
                trace_pairs_find(&x->processes, p->a / 2, nsys_process_of(p->b));
    }
    return true;
}

/* ---- the file -------------------------------------------------------------------------------- */

/* Checks that there are kernels, and sets the base time from the first one. */
static bool find_base(nsys_import *x)
{
    bool has = false;
    int64_t ns, below;

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
    ns = trace_base_of(ns);
    below = ns % NS_PER_S + (ns % NS_PER_S < 0 ? NS_PER_S : 0);
    x->base_ns = trace_base_of(ns - below);
    return true;
}

static bool read_kernels(nsys_import *x)
{
    if (!nsys_each_row(x, &kernels, add_device_event, NSYS_KERNEL))
        return false;
    if (!x->n_rank_devices)
        dse_fail_at(x->err, DSE_E_SYNTAX, x->path,
                    "no row of table " KERNEL " has a start, an end and a device that can be used");
    return x->n_rank_devices > 0;
}

/* Kernels of CUDA graphs that were recorded as a whole are missing. */
static bool warn_of_graphs(nsys_import *x)
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

static bool read_all(nsys_import *x)
{
    if (!find_base(x) || !nsys_read_cuda_devices(x) || !read_kernels(x) ||
        !nsys_each_row(x, &copies, add_device_event, NSYS_MEMCPY) ||
        !nsys_each_row(x, &sets, add_device_event, NSYS_MEMSET) || !nsys_describe_devices(x) ||
        !nsys_each_row(x, &runtime_calls, note_thread, 0) ||
        !nsys_each_row(x, &driver_calls, note_thread, 0) ||
        !nsys_each_row(x, &runtime_calls, add_call, NSYS_RUNTIME) ||
        !nsys_each_row(x, &driver_calls, add_call, NSYS_DRIVER) ||
        !nsys_each_row(x, &ranges, add_range, NSYS_RANGE) ||
        !nsys_each_row(x, &thread_names, add_thread_name, 0) || !name_processes(x) || !warn_of_graphs(x))
        return false;
    for (uint32_t i = x->first; i < x->out->n_ranks; i++) {
        nsys_rank(x, i)->has_rank =
            x->n_rank_devices > 1; /* of a single device the file's name may give a better number */
        nsys_rank(x, i)->all_first_ps = x->first_ps;
        nsys_rank(x, i)->all_last_ps = x->last_ps;
    }
    return true;
}

static dse_status nsys_read(const char *path, trace_record *out, dse_error *err)
{
    dse_error first = DSE_ERROR_INIT;
    nsys_import x = {.path = path,
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
    trace_names_free(&x.texts);
    trace_pairs_free(&x.strings);
    trace_pairs_free(&x.lanes);
    trace_pairs_free(&x.launches);
    trace_pairs_free(&x.users);
    trace_pairs_free(&x.processes);
    return ok ? DSE_OK : dse_fail_at(err, first.status, first.where, "%s", first.text);
}

static bool is_sqlite(const char *head, size_t n)
{
    static const char magic[16] = "SQLite format 3";

    return n >= sizeof magic && memcmp(head, magic, sizeof magic) == 0;
}

extern const trace_reader trace_reader_nsys;
const trace_reader trace_reader_nsys = {"nsys", TRACE_FAMILY_EXPORTS, "Nsight Systems export (SQLite)",
                                        is_sqlite, .file = nsys_read};
