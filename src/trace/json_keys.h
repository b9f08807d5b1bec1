/* trace_json_keys -- a hash table of the keys that a reader knows. */
#ifndef DSE_TRACE_JSON_KEYS_H
#define DSE_TRACE_JSON_KEYS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define TRACE_JSON_KEY_SLOTS 128

/* A row of a reader's table: what to do with the value of a key. */
typedef struct {
    const char *key;
    uint8_t what;    /* an enumeration of the reader's */
    uint16_t offset; /* of the field that takes it */
} trace_json_key_row;

typedef struct {
    const trace_json_key_row *row;
    uint8_t slot[TRACE_JSON_KEY_SLOTS];   /* row + 1; 0: empty */
    uint64_t begin[TRACE_JSON_KEY_SLOTS]; /* the key's first eight bytes, padded with 0 */
    uint32_t length[TRACE_JSON_KEY_SLOTS];
} trace_json_keys;

/* The first eight bytes of a text of n, padded with 0. Always reads eight bytes. */
static inline uint64_t trace_json_begin(const char *text, size_t n)
{
    uint64_t word;

    memcpy(&word, text, sizeof word);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return n >= 8 ? word : word & (((uint64_t)1 << 8 * n) - 1);
}

static inline unsigned trace_json_key_slot(uint64_t begin, size_t n)
{
    return (unsigned)((begin + n) * 0x9e3779b97f4a7c15u >> 57);
}

/* At most 64 rows, with keys of at most 63 bytes. */
static inline void trace_json_keys_init(trace_json_keys *k, const trace_json_key_row *row, size_t n)
{
    *k = (trace_json_keys){.row = row};
    for (size_t i = 0; i < n; i++) {
        char text[64] = "";
        size_t length = strlen(row[i].key);
        unsigned at;

        memcpy(text, row[i].key, length);
        at = trace_json_key_slot(trace_json_begin(text, length), length);
        while (k->slot[at])
            at = (at + 1) & (TRACE_JSON_KEY_SLOTS - 1);
        k->slot[at] = (uint8_t)(i + 1);
        k->begin[at] = trace_json_begin(text, length);
        k->length[at] = (uint32_t)length;
    }
}

/* The row of a text, after which eight bytes can be read (as after the scanner's); NULL: unknown. */
static inline const trace_json_key_row *trace_json_keys_find(const trace_json_keys *k, const char *text,
                                                             size_t n)
{
    uint64_t begin = trace_json_begin(text, n);

    for (unsigned at = trace_json_key_slot(begin, n); k->slot[at];
         at = (at + 1) & (TRACE_JSON_KEY_SLOTS - 1)) {
        const trace_json_key_row *row = &k->row[k->slot[at] - 1];

        if (k->begin[at] == begin && k->length[at] == n &&
            (n <= 8 || memcmp(row->key + 8, text + 8, n - 8) == 0))
            return row;
    }
    return NULL;
}

#endif
