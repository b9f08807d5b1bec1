/* Within the reader of Chrome traces: what its files share. */
#ifndef DSE_TRACE_CHROME_H
#define DSE_TRACE_CHROME_H

#include "trace/json_guess.h"
#include "trace/record.h"

/* How often something was met that is left out or mended, and the byte of the first event. */
typedef struct {
    uint64_t n, first;
} chrome_count;

/* What metadata call a process: it holds for all of its lanes, wherever it stands. */
typedef struct {
    uint32_t pid, name;
} chrome_process;

/* A short text, and its name: the next event's is mostly the same. */
typedef struct {
    uint64_t begin, more; /* its first eight bytes, and the next */
    size_t n;
    uint32_t id; /* DSE_NONE: none yet */
} chrome_last;

typedef struct {
    trace_json json;
    trace_record *record;
    trace_rank *rank;
    bool has_base;
    int64_t base_us;
    bool is_xla, is_simulated;
    bool has_events;      /* traceEvents, or a list of events, was met */
    uint64_t n_read;      /* events of any kind */
    int64_t base_time_ns; /* what the times count from, if the file says so */
    uint32_t world_size;  /* of a simulated run; 0: unknown */
    bool in_bytes;        /* of one, its sizes; else elements */
    size_t n_peaks, cap_peaks;
    uint64_t *peak; /* of one, by rank; TRACE_UNKNOWN */
    chrome_count backwards, out_of_range, correlations, device_times;
    trace_json_guess event_keys, args_keys;
    trace_args args, no_args; /* of the event that is read; nothing given */
    chrome_last last_pid, last_tid, last_cat;
    uint8_t category[256]; /* by number of the rank's words */
    size_t n_processes, cap_processes;
    chrome_process *process;
    dse_idtable processes; /* by pid */
} chrome_reader;

/* Reads a trace; `path` is for messages. As trace_reader.read. */
dse_status trace_chrome_parse(trace_source *source, const char *path, trace_record *out, dse_error *err);

/* chrome_event.c: all events of the list that one is in. */
void chrome_events_init(chrome_reader *r);
void chrome_read_events(chrome_reader *r);
void chrome_name_lanes(chrome_reader *r); /* once all metadata are known */
void chrome_events_free(chrome_reader *r);

/* The text of a string, number, or list of those, as a name: "[0, 1]". DSE_NONE: it is none, and was skipped. */
uint32_t chrome_name_of(chrome_reader *r);

/* A number, or text of one: from 0 to max; UINT64_MAX. */
uint64_t chrome_whole_of(chrome_reader *r, uint64_t max);

/* chrome_split.c: a simulated run has a rank for each pid, which the file's only one becomes. */
void chrome_split_ranks(const chrome_reader *r, const char *path);

#endif
