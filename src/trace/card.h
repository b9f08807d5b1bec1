/* trace_card -- the workload card beside a trace: what ran, on what, how parallel. Source: CCL-Bench's
 * workload_card_template.yaml and its later states.
 *
 * Keys that nothing reads are checked and not kept. Values that the card does not give are TRACE_CARD_NONE,
 * NaN or NULL. Texts are in the arena. */
#ifndef DSE_TRACE_CARD_H
#define DSE_TRACE_CARD_H

#include "config/doc.h"
#include "trace/record.h"

#define TRACE_CARD_NONE INT64_MIN

typedef enum {
    TRACE_PHASE_UNKNOWN,
    TRACE_PHASE_TRAINING,
    TRACE_PHASE_INFERENCE
} trace_phase; /* serving is inference */

/* The phase of a word in upper or lower case; false for an unknown word. */
#define TRACE_PHASE_WORDS "training, inference or serving"
bool trace_phase_of(const char *word, trace_phase *out);

typedef struct {
    const char *path;
    int64_t version;
    /* workload.model */
    trace_phase phase;
    int64_t moe; /* 0, 1 */
    const char *granularity, *model_family, *precision;
    int64_t iteration;
    double num_params, num_params_embedding, num_params_active;
    int64_t num_layers, num_heads, head_dim;
    /* workload.data; batch_size counts sequences of a step over all ranks */
    int64_t batch_size, seq_len, input_len, output_len;
    bool batch_is_listed; /* as a list, even of one */
    /* workload.hardware */
    double bandwidth_gbps[2]; /* scale-out, scale-up; Gbit/s, > 0 */
    const char *xpu_model;
    int64_t total_count, count_per_node;
    /* Model-executor */
    const char *framework;
    int64_t dp_replicate, dp_shard, tp, pp, cp, ep, pp_mb;
    /* of the degrees, innermost first: "tp,cp,dp_shard,dp_replicate,pp"; NULL: that */
    const char *rank_order;
    /* metric_source */
    size_t n_traces;
    const char **trace; /* kinds of trace: "kineto_trace", "json", "nsys" */
} trace_card;

/* Reads and checks a card. Unknown keys, words that a key does not allow, and contradictions that need not
 * stop a metric (degrees whose product is not total_count, ...) become warnings in `notes`, with their place.
 * A value of the wrong type is DSE_E_CONFIG with file, line and column, a number out of range DSE_E_RANGE. An
 * empty value is absent, and so is "N/A", "TBD" or "unknown" for a number. Also DSE_E_IO, DSE_E_SYNTAX. */
dse_status trace_card_load(const char *path, dse_arena *a, trace_card *out, trace_record *notes,
                           dse_error *err);

/* The same for a parsed document, which is borrowed; the card's texts point into it. */
dse_status trace_card_read(const cfg_doc *doc, dse_arena *a, trace_card *out, trace_record *notes,
                           dse_error *err);

/* Whether a document looks like a card: a mapping with `workload` or another section of a card. */
bool trace_card_is(const cfg_doc *doc);

#endif
