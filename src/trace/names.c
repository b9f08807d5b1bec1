#include "trace/names.h"

#include "base/strbuf.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef struct {
    const char *text;
    size_t n;
} name_key;

static bool same_text(const void *records, uint32_t id, const void *key)
{
    const trace_names *t = records;
    const name_key *k = key;

    return t->length[id] == k->n && memcmp(t->text[id], k->text, k->n) == 0;
}

uint32_t trace_names_add(trace_names *t, const char *text, size_t n)
{
    uint32_t hash = (uint32_t)dse_hash_words(text, n);
    name_key key = {text, n};
    dse_idslot *slot;

    if (n >= UINT32_MAX)
        dse_out_of_memory();
    dse_idtable_reserve(&t->table);
    slot = dse_idtable_find(&t->table, hash, same_text, t, &key);
    if (slot->id != DSE_NONE)
        return slot->id;
    if (t->n == DSE_NONE - 1)
        dse_out_of_memory();
    DSE_GROW(t->text, t->cap, t->n + 1);
    DSE_GROW(t->length, t->cap_length, t->n + 1);
    t->text[t->n] = dse_arena_strndup(&t->texts, text, n);
    t->length[t->n] = (uint32_t)n;
    dse_idtable_put(&t->table, slot, hash, t->n);
    return t->n++;
}

uint32_t trace_names_addf(trace_names *t, const char *fmt, ...)
{
    char text[64];
    va_list ap;
    int n;

    va_start(ap, fmt);
    n = vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    return trace_names_add(t, text, (size_t)n);
}

uint32_t trace_names_add_bytes(trace_names *t, const void *bytes, size_t n)
{
    const char *text = bytes;
    dse_strbuf clean;
    uint32_t id;

    if (!n || !memchr(text, '\0', n))
        return trace_names_add(t, n ? text : "", n);
    dse_strbuf_init(&clean);
    for (size_t i = 0; i < n; i++)
        dse_strbuf_add(&clean, text[i] ? text + i : "\xef\xbf\xbd", text[i] ? 1 : 3);
    id = trace_names_add(t, clean.data, clean.len);
    dse_strbuf_free(&clean);
    return id;
}

uint32_t trace_names_find(const trace_names *t, const char *text)
{
    name_key key = {text, strlen(text)};

    return t->n ? dse_idtable_find(&t->table, (uint32_t)dse_hash_words(text, key.n), same_text, t, &key)->id
                : DSE_NONE;
}

void trace_names_free(trace_names *t)
{
    dse_free(t->text);
    dse_free(t->length);
    dse_idtable_free(&t->table);
    dse_arena_free(&t->texts);
    *t = (trace_names){0};
}
