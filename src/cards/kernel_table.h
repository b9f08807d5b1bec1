/* card_table -- a file of measured times of a class of kernels by shape (the CSV files of configs/devices).
 *
 *   # remarks
 *   class matmul_fp8          whose times they are: required
 *   peak_tflops 1979          of the device that was measured, in the elements' type; required
 *   bandwidth_gb_per_s 3350   of its memory; required if a term below needs it
 *   flop_factor 1.325         the law that the calls of the table follow, as in a device file: required
 *   byte_factor 0.46
 *   half_length 0
 *   overhead_us 13.5
 *   input_bytes 11.3          moved in each call besides, an element of m x k: the first operand's cast
 *   operand_bytes 1           of an element of m x k and k x n; results have 2
 *   m,n,k,time_us             the columns, then a row a shape
 *   128,512,512,14.2
 *
 * The columns are at most three of m, n, k and batch; without m it is n (attention of a whole sequence),
 * without another 1. A kernel has 2 batch m n k operations: of causal attention, with n keys, head size k and
 * as many heads as batch, that is its half. What is kept of a row is its time over that of the law: a device
 * with another clock keeps what the shape does. Lines may end in CR LF. */
#ifndef DSE_CARDS_KERNEL_TABLE_H
#define DSE_CARDS_KERNEL_TABLE_H

#include "base/alloc.h"
#include "base/strbuf.h"
#include "sim/kernel_table.h"

/* `path` is for messages. DSE_E_SYNTAX, DSE_E_CONFIG with the line. Everything in the arena. */
dse_status card_table_parse(const char *path, const char *text, dse_arena *a, sim_table **out,
                            dse_error *err);

#endif
