/* The operators of PyTorch's execution traces with all that Chakra's converter copies of them: trace/et.c
 * reads the same files for metrics, which need little of them. Private to compat_*.c.
 *
 * Read are the schemas that keep attributes in a list (1.0.2-chakra.0.0.4 and later, whose number after the
 * dash is 0.0.4), and 1.0.1, which has the same fields as members. */
#ifndef DSE_WHATIF_COMPAT_HOST_H
#define DSE_WHATIF_COMPAT_HOST_H

#include "base/alloc.h"
#include "base/status.h"

/* Numbers among a node's attributes, in the order in which Chakra's converter writes them. */
enum { HOST_RF_ID, HOST_FW_PARENT, HOST_SEQ_ID, HOST_SCOPE, HOST_TID, HOST_FW_TID, HOST_NUMBERS };
extern const char *const compat_host_number[HOST_NUMBERS];

/* values, shapes and types of the inputs, then of the outputs: as Python prints lists. */
#define HOST_SIDES 6

typedef struct {
    uint64_t id, parent;
    const char *name, *op_schema;
    const char *group; /* the attribute pg_name; NULL */
    const char *side[HOST_SIDES];
    int64_t number[HOST_NUMBERS];
    uint64_t tensor_bytes; /* of the inputs */
} compat_host_node;

typedef struct {
    const char *schema, *time;
    uint64_t pid, start_ts, finish_ts;
    uint32_t n;
    size_t cap;
    compat_host_node *node; /* by id, each once; the last of the file */
} compat_host;

/* Everything is in the arena. DSE_E_IO; DSE_E_SYNTAX: no JSON, or a node lacks what all have; DSE_E_ABSENT: a
 * schema that Chakra's converter does not read either. */
dse_status compat_read_host(const char *path, dse_arena *a, compat_host *out, dse_error *err);

/* The place of a node; DSE_NONE: there is none. */
uint32_t compat_host_find(const compat_host *h, uint64_t id);

#endif
