/* tpu_ops -- what the devices of an XLA trace did: their leaf operations, each of which computes,
 * communicates or moves memory, and the unions of their times.
 *
 * A device is a process /device:TPU:<k>, its operations the events of its line "XLA Ops" that hold no other
 * event of the line, without while, call and conditional. A file that does not name its processes: events
 * that have a device duration, a device a process. Times are the device's own picoseconds, or those of the
 * file if an operation lacks the device's. What an operation is: its hlo_category, or the opcode in its
 * long_name; a name alone is the last resort, since JAX calls its all-reduces psum.<n>.
 *
 * x-start and x-done of a collective are one operation, from the begin of the start to the end of the done.
 * Everything is in the arena it was built in. */
#ifndef DSE_METRICS_TPU_OPS_H
#define DSE_METRICS_TPU_OPS_H

#include "metrics/kinds.h"
#include "metrics/spans.h"
#include "trace/record.h"

typedef enum {
    TPU_ALL_REDUCE,
    TPU_ALL_GATHER,
    TPU_REDUCE_SCATTER,
    TPU_ALL_TO_ALL,
    TPU_RAGGED_ALL_TO_ALL,
    TPU_COLLECTIVE_PERMUTE,
    TPU_COLLECTIVE_BROADCAST,
    TPU_SEND,
    TPU_RECV,
    TPU_COMMS
} tpu_comm;

/* "all-reduce" */
const char *tpu_comm_name(tpu_comm c);

/* What a GPU's library calls it. */
metric_comm_type tpu_comm_type(tpu_comm c);

typedef enum { TPU_COMPUTE, TPU_COMMUNICATION, TPU_MEMORY } tpu_work;

typedef struct {
    uint32_t event; /* of the rank; of a pair its start */
    metric_span span;
    uint64_t bytes;  /* of its shape, TRACE_UNKNOWN; of a reduce-scatter that is a member's share */
    uint32_t group;  /* members of its replica group; 0: unknown */
    uint8_t work;    /* tpu_work */
    uint8_t comm;    /* tpu_comm */
    uint16_t unions; /* within tpu_ops.c: of which it is part */
} tpu_op;

typedef struct {
    uint32_t number; /* of /device:TPU:<number>; without processes named so: its place */
    uint32_t pid;    /* a name */
    size_t n;
    tpu_op *op; /* by start */
    metric_span span;
    metric_spans busy, compute, comm, memory; /* unions; zero-length operations are in none */
    metric_spans of_comm[TPU_COMMS];
    metric_spans with_flops; /* of operations that have model_flops */
    double flops;
    uint64_t n_comm[TPU_COMMS];
    uint64_t n_comms;
} tpu_device;

typedef struct tpu_rank {
    uint32_t n;
    tpu_device *device; /* by number */
} tpu_rank;

/* What the process of a device is called before its number; the process of a lane, "" if it has no name. */
#define TPU_PLANE "/device:TPU:"
const char *tpu_process_of(const trace_rank *r, uint32_t lane);

/* The devices of a rank of any kind; none if it has no device events. */
void tpu_rank_init(const trace_rank *r, dse_arena *a, tpu_rank *out);

/* When any device worked, on the host's clock, so that the host's ranges can be asked what they waited
 * for. */
metric_spans tpu_host_time(const tpu_rank *t, const trace_rank *r, dse_arena *a);

#endif
