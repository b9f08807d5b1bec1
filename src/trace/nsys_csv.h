/* The reports of Nsight Systems as CSV: totals per kernel. */
#ifndef DSE_TRACE_NSYS_CSV_H
#define DSE_TRACE_NSYS_CSV_H

#include "trace/record.h"

/* Adds the rank of a report of n bytes, read from path. DSE_E_SYNTAX with the line. */
dse_status trace_nsys_csv_parse(const char *path, const void *bytes, size_t n, trace_record *out,
                                dse_error *err);

#endif
