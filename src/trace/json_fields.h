/* trace_json_fields -- the values of an object, by a table of its keys, in the fields of a struct.
 *
 * A writer may put a number in quotes, so a number and a text with one are the same here. */
#ifndef DSE_TRACE_JSON_FIELDS_H
#define DSE_TRACE_JSON_FIELDS_H

#include "trace/json_keys.h"
#include "trace/json_scan.h"
#include "trace/record.h"

/* `what` of a row, and with it the type of the field. */
enum {
    TRACE_FIELD_NAME,  /* uint32_t, see trace_json_name */
    TRACE_FIELD_SMALL, /* uint32_t, see trace_json_small */
    TRACE_FIELD_WHOLE  /* uint64_t; 0: unknown */
};

/* Reads the rest of the object that the scanner is in; skips the keys that have no row. */
void trace_json_fields(trace_json *j, trace_names *names, const trace_json_key_row *row, size_t n, void *to);

/* The row of the key that was read last; NULL. For a few rows, without a table of hashes. */
const trace_json_key_row *trace_json_row(const trace_json *j, const trace_json_key_row *row, size_t n);

/* The text of a string, number, or list of those, as a name: "[0, 1]". DSE_NONE: it is none, and was
 * skipped. */
uint32_t trace_json_name(trace_json *j, trace_names *names);

/* A whole number from 0 to max; UINT64_MAX for anything else. */
uint64_t trace_json_whole(trace_json *j, uint64_t max);

/* A count; 0: unknown. */
uint32_t trace_json_small(trace_json *j);

/* Enters the next object of an array; skips other items. */
bool trace_json_next_object(trace_json *j);

/* Adds the process groups of the array that the scanner is in: [{"pg_name": "0", "pg_desc": "default_pg",
 * "pg_size": 2, "ranks": [0, 1]}]. */
void trace_json_groups(trace_json *j, trace_rank *rank);

#endif
