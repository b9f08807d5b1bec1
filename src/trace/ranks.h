/* Assigns rank numbers to files, and checks that files which lie together are of one job.
 *
 * A reader knows the rank only if the file has it (Kineto's distributedInfo). Otherwise the file's name gives
 * it, as in the original tools; a single file without either is rank 0. */
#ifndef DSE_TRACE_RANKS_H
#define DSE_TRACE_RANKS_H

#include "trace/record.h"

/* The rank that a file's name gives, DSE_NONE if none. In this order:
 *   the word rank and a number: rank3_trace.json, eg.rank_3.pt.trace.json, sampled_rank-3.json;
 *   of an XLA trace: the host as cloud machines are named, t1v-n-1234-w-3.trace.json;
 *   the last field between underscores that is a number: kineto_trace_3.json. Not of an XLA trace, whose
 *   names number runs, and of a memory snapshot the very last field alone. Unless the original tools name
 *   files so (kineto_trace_<k>), that is a rank only where the names of several files differ in it alone;
 *   the word worker and a number, as TensorBoard's handler is often told to write.
 * More than nine digits are a time, not a rank. */
uint32_t trace_rank_of_name(const char *path, trace_kind kind);

/* The rank that a Kineto trace gives in its first 64 KiB, or else its name; DSE_NONE: neither. */
uint32_t trace_peek_rank(const char *path);

/* Numbers all ranks of a record, sorts them by kind and number, and checks that they are of one job. Ranks
 * without a number in file or name get the lowest free numbers in the order of their names (trace2 before
 * trace10), with a warning if there are several files. DSE_E_CONFIG, each with the two files: two of one rank
 * and kind, other world sizes, other groups, kinds that one run does not have, names that differ in more than
 * a number where nothing else says the rank. */
dse_status trace_settle_ranks(trace_record *r, dse_error *err);

#endif
