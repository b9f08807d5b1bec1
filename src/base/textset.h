/* dse_textset -- texts, each once: "which of them come again?" */
#ifndef DSE_BASE_TEXTSET_H
#define DSE_BASE_TEXTSET_H

#include "base/idtable.h"

#include <string.h>

typedef struct {
    const char **text; /* n of them, borrowed, in the order in which they came */
    size_t n, cap;
    dse_idtable table;
} dse_textset; /* all zero: empty */

static inline bool dse_textset_is(const void *texts, uint32_t id, const void *text)
{
    return !strcmp(((const char *const *)texts)[id], text);
}

/* The number of a text, which is added if it is not there yet: then it is the last. */
static inline size_t dse_textset_add(dse_textset *s, const char *text)
{
    const uint32_t id = dse_idtable_intern(&s->table, (uint32_t)dse_hash_bytes(text, strlen(text)),
                                           dse_textset_is, s->text, text, (uint32_t)s->n);

    if (id == s->n) {
        DSE_GROW(s->text, s->cap, s->n + 1);
        s->text[s->n++] = text;
    }
    return id;
}

/* Whether it is new; then it is added. */
static inline bool dse_textset_takes(dse_textset *s, const char *text)
{
    const size_t before = s->n;

    return dse_textset_add(s, text) == before;
}

static inline void dse_textset_free(dse_textset *s)
{
    dse_idtable_free(&s->table);
    dse_free((void *)s->text);
    *s = (dse_textset){0};
}

#endif
