/* drv_astra_log -- reads the statistics in the log of an ASTRA-sim run, in all their spellings.
 *
 * Lines like "[time] [I] <statistics>: sys[0], Wall time: 81920". Source: Statistics.cc and Workload.cc of
 * ASTRA-sim (branch stage, af2492b; main), and common wrappers around it. Text before "sys[" is ignored. ':'
 * or '=' separates name and number, with or without blanks; '%', '$' (sic) or nothing follows a percentage.
 * Peak memory is a number of bytes, or has a unit, B to TB or KiB to TiB; both are powers of 1024, as in
 * getPeakMemUsageFormatted (LocalMemUsageTracker.cc). A line without its newline is ignored, as its number
 * may be cut off. */
#ifndef DSE_DRIVER_ASTRA_LOG_H
#define DSE_DRIVER_ASTRA_LOG_H

#include "base/alloc.h"
#include "store/store.h"

typedef enum {
    DRV_LOG_EXPOSED_COMM,
    DRV_LOG_WALL_TIME,
    DRV_LOG_GPU_TIME,
    DRV_LOG_COMM_TIME,
    DRV_LOG_CPU_TIME,
    DRV_LOG_REMOTE_TIME,
    DRV_LOG_COMPUTE_BOUND,
    DRV_LOG_COMPUTE_UTIL,
    DRV_LOG_MEM_UTIL,
    DRV_LOG_OP_INTENSITY,
    DRV_LOG_PEAK_MEMORY,
    DRV_LOG_N
} drv_log_field;

typedef struct {
    bool present;
    uint64_t count;   /* ns; bytes, the nearest count if the log rounded */
    double real;      /* percent, operations per byte; memory in its unit */
    uint8_t decimals; /* as printed, unless it is a count */
    uint8_t unit;     /* memory: 0 bytes (exact), 1 KB, ... 4 TB (rounded) */
    char sign;        /* behind it: '%', '$', or none */
} drv_log_value;

typedef struct {
    uint32_t n_reporting; /* ranks; 0: the log has no statistics, and nothing else is set */
    drv_log_value rank0[DRV_LOG_N];
    drv_log_value longest_wall, largest_peak; /* of the ranks that report */
} drv_astra_log;

/* Which statistics a complete log has besides the wall time of each rank that reports. */
typedef struct {
    uint32_t n_ranks;
    bool utilisation; /* the roofline is enabled */
    bool memory;      /* the peak is reported (drv_reports_memory) */
} drv_log_wants;

/* Either rank 0 alone or every rank reports. DSE_E_SYNTAX, with name:line: a statistic has no number, has one
 * that is too large, or is there twice. DSE_E_CHILD: reports are missing or incomplete. `name` is the log's,
 * for messages. */
dse_status drv_astra_log_parse(const char *name, const char *text, size_t n, const drv_log_wants *wants,
                               dse_arena *scratch, drv_astra_log *out, dse_error *err);

/* The value of a column of the database; NULL if the log does not have it. A time without a line is 0 (there
 * were no such nodes) if later lines show that the report is complete. */
const drv_log_value *drv_astra_log_value(const drv_astra_log *log, const char *column);

void drv_astra_log_metrics(const drv_astra_log *log, store_metrics *out, bool *memory_rounded);

/* The value of a column as the log prints it, "85.661" or "18.33 GB"; and a stored value in the format of
 * `like`. */
#define DRV_LOG_TEXT 40
void drv_log_format(const drv_log_value *v, const store_column *c, char out[DRV_LOG_TEXT]);
void drv_log_format_stored(const store_metrics *m, const store_column *c, const drv_log_value *like,
                           char out[DRV_LOG_TEXT]);

#endif
