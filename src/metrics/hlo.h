/* Parses the text of an HLO instruction, as XLA's profiler writes it:
 *
 *     %all-reduce.1 = bf16[512,1024]{1,0:T(8,128)(2,1)} all-reduce(bf16[512,1024]{1,0} %p), replica_groups={{0,1,2,3}}
 *
 * Texts are borrowed; nothing is allocated. Any text is accepted: what cannot be read is not given. */
#ifndef DSE_METRICS_HLO_H
#define DSE_METRICS_HLO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HLO_UNKNOWN UINT64_MAX

/* A part of a text; n 0: not given. */
typedef struct {
    const char *at;
    size_t n;
} hlo_word;

typedef struct {
    hlo_word name;    /* "all-reduce.1", without % */
    hlo_word opcode;  /* "all-reduce" */
    hlo_word operand; /* the first one's name, "p" */
} hlo_instruction;

hlo_instruction hlo_parse(const char *text);

/* Bytes of a shape, "bf16[512,1024]{1,0}" or a tuple of shapes, whose elements are summed; layouts are
 * ignored. A type narrower than a byte is packed, and rounded up once an element. HLO_UNKNOWN if there is
 * none, or of an unknown type. */
uint64_t hlo_shape_bytes(const char *shape);

/* The original tools' reading: the text begins with one shape of a type that they know, and dimensions that
 * are no plain numbers do not count. HLO_UNKNOWN otherwise, for every tuple for instance. */
uint64_t hlo_first_shape_bytes(const char *shape);

/* Members of the first replica group, of {{0,1},{2,3}} or [groups,members]<=[...]; 0: not given. */
uint32_t hlo_group_size(const char *text);

#define HLO_START 1
#define HLO_DONE  2

/* The word without "-start" or "-done", and which of them it had: HLO_START, HLO_DONE, 0. */
hlo_word hlo_strip(hlo_word w, int *phase);

/* The name of an instruction without its number: "all-reduce-start.5" is "all-reduce-start". */
hlo_word hlo_base(hlo_word name);

hlo_word hlo_word_of(const char *text);

#endif
