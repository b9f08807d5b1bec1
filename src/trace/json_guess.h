/* trace_json_guess -- the next key of an object, guessed from the objects before it.
 *
 * Writers of traces repeat the same keys in the same order, between the same blanks, millions of times. A gap
 * is the text between two values (",\n    \"ts\": "); it is remembered together with the gaps that followed
 * it. If the text continues with one of these, its bytes are not scanned one by one. Otherwise the scanner
 * reads the key, and the gap is remembered. A guess never changes what is read.
 *
 *     for (trace_json_guess_begin(&g, 0); (row = trace_json_guess_key(&g, &s)) != TRACE_JSON_NO_KEY;)
 *         ... trace_json_value or trace_json_skip ... */
#ifndef DSE_TRACE_JSON_GUESS_H
#define DSE_TRACE_JSON_GUESS_H

#include "trace/json_keys.h"
#include "trace/json_scan.h"

#define TRACE_JSON_GAP_BYTES 48  /* longest gap that is remembered: fewer bytes than follow the window */
#define TRACE_JSON_GAPS      192 /* gaps in one table */
#define TRACE_JSON_KINDS     15  /* kinds of objects, each with a first gap of its own */
#define TRACE_JSON_GUESSES   4   /* gaps that are tried after one */
#define TRACE_JSON_NO_KEY    UINT8_MAX
#define TRACE_JSON_OTHER_KEY (UINT8_MAX - 1) /* none of the rows */

/* A cache line: reading a key is a chain of loads, each of which must be near. */
typedef struct {
    _Alignas(64) char text[TRACE_JSON_GAP_BYTES]; /* 0 beyond its end */
    uint8_t length;
    uint8_t row; /* of the keys' rows; TRACE_JSON_OTHER_KEY; TRACE_JSON_NO_KEY: the object ends */
    uint8_t next[TRACE_JSON_GUESSES]; /* gaps that followed it; 0: none */
    uint8_t oldest;                   /* of next: the first to be replaced */
} trace_json_gap;
_Static_assert(sizeof(trace_json_gap) == 64, "a gap is a cache line");

typedef struct {
    trace_json_keys keys;
    unsigned n, at;
    uint8_t slot[256]; /* by hash: of a gap; 0: none */
    /* The first TRACE_JSON_KINDS stand for the beginnings of objects, the next one for any gap that is not
     * remembered. */
    trace_json_gap gap[TRACE_JSON_GAPS];
} trace_json_guess;

/* For objects with the keys of these rows, fewer than 64. */
void trace_json_guess_init(trace_json_guess *g, const trace_json_key_row *row, size_t n);

/* The scanner has entered an object of a `kind` < TRACE_JSON_KINDS, whose objects mostly have the same
 * keys. */
static inline void trace_json_guess_begin(trace_json_guess *g, unsigned kind) { g->at = kind; }

uint8_t trace_json_guess_key_slow(trace_json_guess *g, trace_json *s);

/* Whether the text continues with this gap; TRACE_JSON_GAP_BYTES are read. */
static inline bool trace_json_gap_follows(const trace_json_gap *gap, const char *at)
{
#ifdef __SSE2__
    uint64_t same = 0; /* a bit for each byte */

    for (unsigned i = 0; i < TRACE_JSON_GAP_BYTES; i += 16) {
        __m128i text = _mm_loadu_si128((const __m128i *)(const void *)(at + i)),
                known = _mm_loadu_si128((const __m128i *)(const void *)(gap->text + i));

        same |= (uint64_t)(unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(text, known)) << i;
    }
    return !(~same << (64 - gap->length));
#else
    return memcmp(gap->text, at, gap->length) == 0;
#endif
}

/* Reads the next key: its row, or TRACE_JSON_OTHER_KEY, or TRACE_JSON_NO_KEY. */
static inline uint8_t trace_json_guess_key(trace_json_guess *g, trace_json *s)
{
    trace_json_gap *before = &g->gap[g->at];

    for (unsigned i = 0; i < TRACE_JSON_GUESSES; i++) {
        const trace_json_gap *gap = &g->gap[before->next[i]];

        if (before->next[i] && trace_json_gap_follows(gap, s->at)) {
            g->at = before->next[i];
            s->at += gap->length;
            s->fresh = false;
            return gap->row;
        }
    }
    return trace_json_guess_key_slow(g, s);
}

#endif
