/* Private to the reader of Chrome traces: what chrome.c, chrome_event.c and chrome_split.c share. */
#ifndef DSE_TRACE_CHROME_H
#define DSE_TRACE_CHROME_H

#include "base/strbuf.h"
#include "trace/json_guess.h"
#include "trace/pairs.h"
#include "trace/record.h"

/* How many events had something that was left out, and the byte of the first one. */
typedef struct {
    uint64_t n, first;
} chrome_count;

/* A short value as it stands in the file, of a number with the byte behind it. The values of most events are
 * a few, so that a table by their first bytes has them. */
typedef struct {
    uint64_t word[3], mask[3]; /* its bytes, and 255 where they are */
    uint8_t length;            /* without the byte behind a number; 0: none yet */
    uint32_t id;
} chrome_value;

typedef struct {
    chrome_value value[64];
} chrome_values;

typedef struct {
    trace_json json;
    trace_record *record;
    trace_rank *rank;
    bool has_base;
    int64_t base_us;
    bool is_xla, is_simulated;
    bool is_step;         /* a simulated step of passes, without kernels (driver/training_timeline.h) */
    bool has_events;      /* the file has traceEvents, or is a list of events */
    uint64_t n_read;      /* events of any kind */
    int64_t base_time_ns; /* origin of the times, if the file gives one */
    uint32_t world_size;  /* simulated run: number of ranks; 0: unknown */
    bool in_bytes;        /* simulated run: sizes are bytes, else elements */
    size_t n_peaks, cap_peaks;
    uint64_t *peak; /* simulated run: peak memory by rank; TRACE_UNKNOWN */
    chrome_count backwards, open, out_of_range, correlations, device_times;
    trace_json_guess event_keys, args_keys;
    trace_args args, no_args; /* of the current event; args without any value */
    trace_memory_change change;
    chrome_values pids, tids, cats;
    dse_strbuf dims;       /* of the operator that is read */
    uint8_t category[256]; /* by index of the rank's category words */
    trace_pairs processes; /* 0, pid -> its name, for all its lanes, also for those before the metadata */
} chrome_reader;

/* chrome_event.c: reads the events of the list that the scanner has entered. */
void chrome_events_init(chrome_reader *r);
void chrome_read_events(chrome_reader *r);
void chrome_name_lanes(chrome_reader *r); /* once all metadata are known */
void chrome_events_free(chrome_reader *r);

/* chrome_split.c: splits the file's only rank into one rank for each pid of a simulated run. */
void chrome_split_ranks(const chrome_reader *r, const char *path);

#endif
