/* card_node -- a node of a cluster as its own tools describe it, and a system card made of it.
 *
 * Two descriptions are read: the matrix that `nvidia-smi topo -m` prints, and the XML that `lstopo node.xml`
 * writes (hwloc). Neither says everything. What is missing is given, or is a fact of the device: of its data
 * sheet (NVLink), or of the cards that ship for it, where these agree. Nothing else is assumed but latencies,
 * and the card says where each number is from. */
#ifndef DSE_CARDS_NODE_H
#define DSE_CARDS_NODE_H

#include "base/alloc.h"
#include "base/status.h"
#include "base/strbuf.h"

/* What a description says; 0 or "": nothing. */
typedef struct {
    const char *path, *tool; /* "nvidia-smi topo -m", "lstopo"; NULL: there is no description */
    char device[64];         /* nvidia_a100 */
    char link[16];           /* what joins the NPUs, as the tool calls it: NV12, PXB, SYS */
    uint32_t npus, nics;     /* of a node; nics: those beside some NPU, or else all */
    uint32_t all_nics;
    uint32_t nvlinks;        /* between two NPUs, the same for all pairs */
    bool is_switched;        /* a switch joins them */
    double pair_bytes_per_s; /* between two NPUs, one direction */
    double npu_bytes_per_s;  /* of all links of a NPU */
    double pcie_bytes_per_s; /* of a NPU */
    double memory_bytes;     /* of a NPU */
} card_node;

/* The description that `text` is, all of it; `path` is what messages call it, and lives as long as the node.
 * DSE_E_SYNTAX if it is another file, DSE_E_CONFIG if it describes no node that is simulated: without a GPU,
 * or of GPUs whose NVLinks differ. */
dse_status card_node_read_topo(const char *path, const char *text, card_node *out, dse_error *err);
dse_status card_node_read_lstopo(const char *path, const char *text, card_node *out, dse_error *err);

/* What is given over it; NULL or 0: nothing. Rates as "400Gb/s" or "50GB/s", each way. */
typedef struct {
    const char *device, *link, *nic, *memory_bandwidth; /* link: a rate, or "nvlink" */
    double memory;                                      /* bytes */
    double peak_tflops;                                 /* 16 bits, dense */
    uint32_t npus, nics, nodes;
} card_node_given;

/* The text of a system card, appended. DSE_E_CONFIG with the option that gives what nothing says, or the
 * options to choose among where cards differ; DSE_E_USAGE for a rate that is none. */
dse_status card_node_write(const card_node *node, const card_node_given *given, dse_arena *a, dse_strbuf *out,
                           dse_error *err);

#endif
