/* trace_record -- a run, simulated or measured, in neutral terms: ranks, lanes, intervals with name,
 * category, sizes.
 *
 * Readers of profiler traces and simulated runs fill one, and metrics read it, so both are measured by the
 * same code.
 *
 * A rank has its own table of names and its own arrays, so ranks are read in parallel. Events are in the
 * order of the file. Ids are indexes; DSE_NONE is "not given". Everything is on the heap and belongs to the
 * record.
 *
 * Time: picoseconds since the rank's base_ns, because devices of a TPU count in them and doubles of
 * microseconds since 1970 resolve only a quarter of one. An int64_t holds 106 days. Readers accept events
 * within 53 days of the base, and bases within 146 years of 1970, so no difference of two times overflows. */
#ifndef DSE_TRACE_RECORD_H
#define DSE_TRACE_RECORD_H

#include "trace/allocator.h"
#include "trace/names.h"

#include <stdio.h>

#define TRACE_PS_PER_NS 1000
#define TRACE_PS_PER_US 1000000
#define TRACE_PS_PER_MS 1000000000
#define TRACE_PS_PER_S  1000000000000

#define TRACE_MAX_PS (((int64_t)1 << 62) - 1)
#define TRACE_MAX_NS TRACE_MAX_PS /* of base_ns */

#define TRACE_UNKNOWN UINT64_MAX /* of a size or a count that the trace does not give */

/* The kind of a file. */
typedef enum {
    TRACE_KINETO,    /* PyTorch's profiler, as Chrome JSON */
    TRACE_SIMULATED, /* simulated here: simulate --timeline, or simulated.h */
    TRACE_XLA,       /* XLA's or JAX's profiler: Chrome JSON, or xplane.pb */
    TRACE_XLA_GPU,   /* the same of GPUs, a rank each (xla_gpu.h) */
    TRACE_NSYS,      /* Nsight Systems, exported as SQLite */
    TRACE_NSYS_CSV,  /* one of its reports: totals, no intervals */
    TRACE_ET,        /* PyTorch's execution trace: operators without times */
    TRACE_SNAPSHOT,  /* PyTorch's memory snapshot */
    TRACE_KINDS
} trace_kind;

#define TRACE_ET_COLLECTIVE "record_param_comms" /* name of a collective's node in an execution trace */

/* "Kineto trace", "Nsight Systems export": for messages. */
const char *trace_kind_name(trace_kind k);

typedef enum {
    TRACE_KERNEL,
    TRACE_MEMCPY,
    TRACE_MEMSET,
    TRACE_CPU_OP,
    TRACE_ANNOTATION,     /* user_annotation, NVTX */
    TRACE_GPU_ANNOTATION, /* gpu_user_annotation */
    TRACE_RUNTIME,        /* cuda_runtime, hip's too */
    TRACE_DRIVER,         /* cuda_driver */
    TRACE_PYTHON,         /* python_function */
    TRACE_OTHER
} trace_category;

/* Also accepts the older, capitalised words: Kernel, Memcpy, Memset, Operator, Runtime. TRACE_OTHER if
 * unknown. */
trace_category trace_category_of(const char *word, size_t n);

typedef struct {
    int64_t start_ps, dur_ps; /* dur_ps 0 for an instant */
    uint32_t name;            /* in the rank's names */
    uint32_t lane;            /* of the rank's lanes */
    uint32_t args;            /* of the rank's args; DSE_NONE */
    uint32_t correlation;     /* joins a launch with what it launched; 0: none */
    uint8_t category;         /* trace_category */
    uint8_t word;             /* the category as written, in the rank's category words */
    bool instant;             /* ph i or I; else X */
    bool endless;             /* an X without a duration: dur_ps is 0 */
} trace_event;
_Static_assert(sizeof(trace_event) == 40, "a trace has millions: measure before growing the event");

/* The arguments of an event. Many events have the same, so each combination is stored once: they are
 * compared as bytes, and have no padding. */
typedef struct {
    /* A collective: Kineto's "Collective name", dtype, "Process Group Name", "... Description", "...
     * Ranks". */
    uint32_t collective, dtype, group_name, group_desc, group_ranks;
    uint32_t group_size;                /* 0: unknown */
    uint64_t in_elements, out_elements; /* TRACE_UNKNOWN */
    /* A kernel or a copy. */
    uint64_t bytes;                      /* TRACE_UNKNOWN */
    uint64_t blocks;                     /* of the launch; TRACE_UNKNOWN */
    double blocks_per_sm, occupancy_pct; /* "est. achieved occupancy %"; NaN: not given */
    uint64_t m, n, k, batch;             /* of a simulated one, its shape (ticks.h); TRACE_UNKNOWN */
    uint32_t kernel_class;               /* and its class: "matmul" */
    uint32_t stream, device;             /* DSE_NONE */
    /* An operator of the host: its inputs, "[[8192,4096],[4096,1536],[]]" and "[c10::Half, c10::Half,
     * Scalar]". */
    uint32_t input_dims, input_types;
    /* An operation of XLA; `long_name` is its HLO text. Of a kernel of Nsight Systems: its demangled name. */
    uint32_t hlo_category, long_name, shape;     /* shape_with_layout */
    uint64_t bytes_accessed, raw_bytes_accessed; /* TRACE_UNKNOWN */
    double model_flops;                          /* NaN */
} trace_args;
_Static_assert(sizeof(trace_args) == 14 * sizeof(uint32_t) + 10 * sizeof(uint64_t) + 3 * sizeof(double),
               "padding would be compared");

/* Where events happen: a process and a thread of the trace, or a stream of a GPU. */
typedef struct {
    uint32_t pid, tid;             /* as the file spells them, in names: numbers or words */
    uint32_t process_name, thread; /* of the metadata; DSE_NONE */
} trace_lane;

/* A TPU's own times of an event, beside the host's ts and dur. dur_ps -1: none; offset_ps -1: only the
 * duration. */
typedef struct {
    int64_t offset_ps, dur_ps;
} trace_device_time;

/* A process group that the file declares; texts are names. */
typedef struct {
    uint32_t name, desc, ranks;
    uint32_t size; /* 0: unknown */
} trace_group;

typedef struct {
    uint32_t name; /* in names; DSE_NONE */
    uint64_t memory_bytes;
    uint32_t n_sms, major, minor; /* 0: unknown */
} trace_device;

/* A change of the memory that tensors hold, as profile_memory=True records it: an instant "[memory]" of
 * Kineto's traces. -1: not given, as by older profilers. */
typedef struct {
    uint32_t event;
    int64_t bytes; /* below 0: freed */
    int64_t address;
    int64_t allocated, reserved; /* on the device, after it */
    int64_t device_type, device; /* type 0 is the host, whose number is -1 */
} trace_memory_change;

/* A total of an Nsight Systems report (TRACE_NSYS_CSV): a kernel's name, its launches, their total time. */
typedef struct {
    uint32_t name;
    uint64_t count;
    int64_t total_ns;
} trace_total;

typedef struct {
    uint32_t rank;
    bool has_rank; /* the file or its name says so */
    trace_kind kind;
    char *path;          /* of the file; NULL: simulated here, there is none */
    uint32_t world_size; /* 0: unknown */
    int64_t base_ns;     /* of the time 0 here, on the trace's own clock */
    trace_names names;
    size_t n_events, cap_events;
    trace_event *event;
    trace_device_time *device_time; /* NULL: no event has one; else n_events */
    size_t cap_device_time;
    uint32_t n_args;
    size_t cap_args;
    trace_args *args;
    dse_idtable args_table;
    uint32_t n_lanes;
    size_t cap_lanes;
    trace_lane *lane;
    dse_idtable lanes;  /* by pid and tid */
    uint32_t n_words;   /* category words, at most 256; further ones count as the last */
    uint32_t word[256]; /* in names */
    size_t n_groups, cap_groups;
    trace_group *group;
    size_t n_devices, cap_devices;
    trace_device *device;
    size_t n_totals, cap_totals;
    trace_total *total;
    size_t n_changes, cap_changes;
    trace_memory_change *change; /* in the order of the file */
    trace_allocator *allocator;  /* TRACE_SNAPSHOT: NULL for others */
    /* TRACE_SIMULATED: sizes of messages and memory are elements, as upstream counts, not bytes; peak of the
     * tensors. */
    bool in_elements;
    uint64_t peak_memory; /* TRACE_UNKNOWN */
    /* Over all events of the file with ts > 0, whatever their ph, and over all kernels of an export of Nsight
     * Systems: what the original tools call its length. all_first_ps > all_last_ps: none. */
    int64_t all_first_ps, all_last_ps;
    /* Over all events of a Chrome trace, also those with ts <= 0: the first start, the last start, the last
     * end. Starts of arrows between events count, though these are not kept. Empty as above. */
    int64_t any_first_ps, any_last_start_ps, any_last_ps;
} trace_rank;

/* A fault that a reader recovered from. */
typedef struct {
    char text[1024]; /* "rank0.json: byte 1234: ..." */
} trace_warning;

typedef struct {
    char *path; /* the directory or file that was asked for; NULL: simulated here */
    uint32_t n_ranks;
    size_t cap_ranks;
    trace_rank *rank; /* after reading: by kind, then number */
    size_t n_warnings, cap_warnings;
    trace_warning *warning;
} trace_record;

void trace_rank_free(trace_rank *r);     /* what belongs to it */
void trace_record_free(trace_record *r); /* accepts a record that was only zeroed */

/* One more rank at the end, empty; its number is its place. May move the others. */
trace_rank *trace_record_add_rank(trace_record *r);

/* The same, read from a file of this kind. */
trace_rank *trace_record_add_file(trace_record *r, trace_kind kind, const char *path);

/* The accelerator, other than a GPU, whose category words a rank has ("mtia_runtime"); NULL. */
typedef struct {
    const char *name;     /* "MTIA" */
    const char *activity; /* what records it: ProfilerActivity.<activity> */
} trace_accelerator;
const trace_accelerator *trace_accelerator_of(const trace_rank *r);

/* Adds a warning with its place (cut after 400 bytes; NULL: the text has it). After 100 one more says that
 * there are others. */
void trace_warn(trace_record *r, const char *where, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- for readers ----------------------------------------------------------------------------- */

void trace_add_event(trace_rank *r, const trace_event *e);
void trace_set_device_time(trace_rank *r, size_t event, trace_device_time t);
uint32_t trace_add_args(trace_rank *r, const trace_args *a);
uint32_t trace_add_lane(trace_rank *r, uint32_t pid, uint32_t tid); /* the same again for the same two */
uint32_t trace_add_word(trace_rank *r, uint32_t name);              /* of a category */

/* Makes what an accelerator other than a GPU writes of its work ("mtia_ccp_events") kernels, in a file
 * that has no category "kernel". */
void trace_adopt_device_events(trace_rank *r);

/* Sets all args to "not given". */
void trace_args_clear(trace_args *a);

/* Whether a time is within 53 days of the base. */
static inline bool trace_is_near(int64_t ps) { return ps <= TRACE_MAX_PS && ps >= -TRACE_MAX_PS; }

/* A base clamped to its range. */
static inline int64_t trace_base_of(int64_t ns)
{
    return ns > TRACE_MAX_NS ? TRACE_MAX_NS : ns < -TRACE_MAX_NS ? -TRACE_MAX_NS : ns;
}

/* Resets the extent of the events: all_first_ps to any_last_ps. */
void trace_clear_extent(trace_rank *r);

/* Extends the extent by an event, whether it is kept or not. */
static inline void trace_extend(trace_rank *r, int64_t start_ps, int64_t end_ps, bool is_positive)
{
    r->any_first_ps = start_ps < r->any_first_ps ? start_ps : r->any_first_ps;
    r->any_last_start_ps = start_ps > r->any_last_start_ps ? start_ps : r->any_last_start_ps;
    r->any_last_ps = end_ps > r->any_last_ps ? end_ps : r->any_last_ps;
    if (!is_positive)
        return;
    r->all_first_ps = start_ps < r->all_first_ps ? start_ps : r->all_first_ps;
    r->all_last_ps = end_ps > r->all_last_ps ? end_ps : r->all_last_ps;
}

/* The device time of an event; -1: it has none. */
static inline trace_device_time trace_device_time_of(const trace_rank *r, size_t event)
{
    return event < r->cap_device_time ? r->device_time[event] : (trace_device_time){-1, -1};
}

/* Moves all ranks and warnings of `from` behind those of r; `from` is empty then. */
void trace_record_take(trace_record *r, trace_record *from);

#define TRACE_NAME(r, id) ((id) == DSE_NONE ? NULL : (r)->names.text[id])

#endif
