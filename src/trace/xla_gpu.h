/* XLA's traces of GPUs, from Chrome JSON or xplane.pb: each process /device:GPU:<k> becomes a rank of its
 * own. */
#ifndef DSE_TRACE_XLA_GPU_H
#define DSE_TRACE_XLA_GPU_H

#include "trace/record.h"

/* Replaces the only rank of a record, of kind TRACE_XLA, by one for each of its GPUs, of kind
 * TRACE_XLA_GPU; it stays as it is if it has none. What runs on the lines "Stream #..." of a GPU are its
 * kernels and copies; its other lines (XLA Modules, XLA Ops, Steps, name scopes) repeat them in other
 * words, and count as kernels only where there is no stream. The host's events go to every rank. */
void trace_xla_split_gpus(trace_record *r, const char *path);

#endif
