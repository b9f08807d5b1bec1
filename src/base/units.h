/* Numbers with units, as people write them in cards and on the command line.
 *
 * A size: "80GB" is 80 * 10^9 bytes, "80GiB" is 80 * 2^30. A rate is a size with "/s" ("100GB/s"), the same
 * in bits ("400Gb/s", "400Gbps", "400Gbit/s"), or a rate of operations ("450TFLOPS"). A time is "50ns",
 * "1.5us", "3ms", "2s" (also min, h). Prefixes k M G T P E, with "i" for powers of two (sizes and rates of
 * bytes and bits only). Any case of letters will do where it leaves no doubt: "80gb", "3US"; not "50gb/s",
 * which may be bits. The number is strtod's; no space is needed before the unit, one is allowed. */
#ifndef DSE_BASE_UNITS_H
#define DSE_BASE_UNITS_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

typedef enum {
    DSE_UNIT_NONE,        /* a plain number */
    DSE_UNIT_BYTES,       /* canonical: bytes */
    DSE_UNIT_BYTES_PER_S, /* canonical: bytes per second */
    DSE_UNIT_FLOPS,       /* canonical: operations per second */
    DSE_UNIT_NS,          /* canonical: nanoseconds */
    DSE_UNIT_WATTS        /* canonical: watts; 700W, 1.2kW */
} dse_unit;

/* Parses text as `unit`. *had_unit says whether a unit was written: without one *out is the bare
 * number, and what it counts is the caller's to say. DSE_E_CONFIG with the spellings that are known. */
dse_status dse_parse_quantity(const char *text, dse_unit unit, double *out, bool *had_unit, dse_error *err);

/* Strict numbers: the whole text, nothing else; DSE_E_CONFIG otherwise. */
dse_status dse_parse_int(const char *text, int64_t *out, dse_error *err);
dse_status dse_parse_u64(const char *text, uint64_t *out, dse_error *err); /* digits alone, no sign */
dse_status dse_parse_double(const char *text, double *out, dse_error *err);
/* true/false, yes/no, on/off, t/f, y/n, 1/0, in any case of letters. */
dse_status dse_parse_bool(const char *text, bool *out, dse_error *err);

/* For people: "67.0 GB" (10^9) with one decimal; "3.207 s", "16.58 ms" with four significant digits, whole
 * ns. */
void dse_format_bytes(char *out, size_t size, double bytes);
void dse_format_seconds(char *out, size_t size, double seconds);

#endif
