/* report_band -- the error band of a predicted step time, in words and as JSON. What is in it is not measured
 * of the prediction's own run: it is where the measured times of runs of its kind lay. */
#ifndef DSE_REPORT_BAND_H
#define DSE_REPORT_BAND_H

#include "compare/bands.h"
#include "report/tree.h"

/* "28.87 s .. 33.90 s: all 8 measured runs of this program on nvidia_a100 lay inside, as some 78 % of further
 * ones would: 8 of Megatron-LM"; of a model without measured runs "nine of ten runs of a new model would lie
 * inside, by the 141 measured runs of .., of 7 other models: 138 of llm-foundry, 3 of fms-fsdp"; appended.
 * The band is known. */
void report_band_say(const cmp_band *b, const char *device, double step_s, dse_strbuf *out);

/* An object "step_time_band" in seconds; null without evidence, or without a step time (NaN). */
void report_put_band(const cmp_band *b, double step_s, report_node *to);

#endif
