/* A directory of traces as a submission to CCL-Bench's public board.
 *
 *   OUT/NAME/workload_card.yaml  the card, as it is
 *   OUT/NAME/TRACE.json.gz       each trace, packed; what is no JSON as it is
 *   OUT/benchmark_config.json    {"pairs": [{"trace": NAME, "metrics": "auto", "required_update": true}]}
 *   OUT/benchmark_data.json      the row of the board: the card flattened, and its values, as the original
 *                                tools compute them, to six digits; null: they have none
 *
 * Source: CCL-Bench's website/ (generate_data.py, process_upload.py, upload_server.py), commit 1d257f0; spec
 * of the metrics, section 9.1. */
#ifndef DSE_MEASURED_SUBMISSION_H
#define DSE_MEASURED_SUBMISSION_H

#include "driver/recording.h"

/* What the board's server takes at once. */
#define MSR_UPLOAD_BYTES ((size_t)200 << 20)

typedef struct {
    const char *name;                    /* of the directory */
    size_t n_files, n_values, n_metrics; /* traces; metrics that have a value, of those for such traces */
    uint64_t bytes;                      /* of the card and the traces, packed */
} msr_submission;

/* `traces` is the path that was read. DSE_E_CONFIG: there is no card. DSE_E_IO. */
dse_status msr_submission_write(const drv_recording *r, const char *traces, const char *folder, dse_arena *a,
                                msr_submission *out, dse_error *err);

#endif
