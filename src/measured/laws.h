/* msr_laws -- laws of kernels fitted directly to the kernels of traces, without simulation: the metric
 * kernel_shapes by least squares; and what all-reduces say of the network. A device file has the laws
 * (cards/device.h). */
#ifndef DSE_MEASURED_LAWS_H
#define DSE_MEASURED_LAWS_H

#include "cards/system.h"
#include "driver/recording.h"
#include "report/laws.h"

typedef struct {
    const char *system; /* a card by name or path: its peak and memory bandwidth are what factors are of */
    const cfg_settings *settings;
    size_t n_traces;
    const char *const *trace;
    drv_recording_options read;
    void (*warn)(const char *text); /* NULL */
} msr_laws_options;

/* A trace needs no workload card; without one its all-reduces say nothing. DSE_E_USAGE: no trace;
 * DSE_E_CONFIG: the system has no peak or memory bandwidth, or no kernel of any trace has a shape and 16-bit
 * elements. And as drv_system_load and drv_recording_load fail. All in the arena. */
dse_status msr_laws(const msr_laws_options *o, dse_arena *a, report_laws *out, dse_error *err);

/* As a device file, with how well each law fits; appended. */
void msr_laws_write(const report_laws *l, const char *const *trace, size_t n, dse_strbuf *out);

#endif
