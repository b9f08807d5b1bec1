/* trace_json_keys -- which of a table's keys a text is, without comparing it with each: by length, first and last byte. */
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
    uint8_t slot[TRACE_JSON_KEY_SLOTS]; /* number of the row, from 1; 0: empty */
} trace_json_keys;

static inline unsigned trace_json_key_slot(const char *text, size_t n)
{
    return n ? ((unsigned)n * 5 + (unsigned char)text[0] * 3 + (unsigned char)text[n - 1]) &
                   (TRACE_JSON_KEY_SLOTS - 1)
             : 0;
}

/* Of at most 64 rows. */
static inline void trace_json_keys_init(trace_json_keys *k, const trace_json_key_row *row, size_t n)
{
    *k = (trace_json_keys){.row = row};
    for (size_t i = 0; i < n; i++) {
        unsigned at = trace_json_key_slot(row[i].key, strlen(row[i].key));

        while (k->slot[at])
            at = (at + 1) & (TRACE_JSON_KEY_SLOTS - 1);
        k->slot[at] = (uint8_t)(i + 1);
    }
}

/* NULL: it is none of them. */
static inline const trace_json_key_row *trace_json_keys_find(const trace_json_keys *k, const char *text,
                                                             size_t n)
{
    for (unsigned at = trace_json_key_slot(text, n); k->slot[at];
         at = (at + 1) & (TRACE_JSON_KEY_SLOTS - 1)) {
        const trace_json_key_row *row = &k->row[k->slot[at] - 1];

        if (strncmp(row->key, text, n) == 0 && row->key[n] == '\0')
            return row;
    }
    return NULL;
}

#endif
