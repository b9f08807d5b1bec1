/* Private to the reader of execution traces: one node. */
#ifndef DSE_TRACE_ET_NODE_H
#define DSE_TRACE_ET_NODE_H

#include "base/strbuf.h"
#include "trace/json_keys.h"
#include "trace/json_scan.h"
#include "trace/record.h"

/* Summary of the values of a node. */
typedef struct {
    uint64_t elements, bytes;   /* of all tensors */
    bool has_tensor, overflows; /* overflows: a sum exceeds 64 bits */
    uint32_t word;              /* the first text; a name */
    uint32_t group_name, group_desc;
    uint64_t before[4], after[4]; /* the first numbers before the word, the last ones after it */
    unsigned n_before, n_after;
} et_values;

typedef struct {
    uint32_t name, tid;
    et_values in, out;
    uint32_t dtype;
    trace_decimal ts, dur;
    bool has_ts, has_dur, wrong_time; /* wrong_time: present but not a usable number */
    /* Of attributes. */
    uint32_t collective, group_name, group_desc, attr_dtype;
    uint64_t in_elements, out_elements, group_size;
} et_node;

typedef struct {
    trace_json json;
    trace_rank *rank;
    dse_strbuf config; /* a text that declares process groups if the node's name says so */
    bool has_nodes, has_base;
    int64_t base_us;
    uint32_t pid;
    uint64_t n_out_of_range, first_out_of_range; /* byte of the first */
    trace_json_keys node_keys, attr_keys;
} et_reader;

/* Prepares the tables of keys. */
void et_nodes_init(et_reader *r);

/* Reads the object that the scanner is in. */
void et_read_node(et_reader *r, et_node *n);

/* The values of a record_param_comms as args of an event. */
uint32_t et_comm_args(et_reader *r, const et_node *n);

/* The text that the scanner read last, as a name. */
uint32_t et_text_of(et_reader *r);

#endif
