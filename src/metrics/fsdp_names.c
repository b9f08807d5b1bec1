#include "metrics/fsdp.h"

#include <stdlib.h>
#include <string.h>

#define PREFIX "FSDP::"

const char *const fsdp_class_name[FSDP_CLASSES] = {
    "all_gather",  "reduce_scatter", "reshard",      "prefetch",      "copy_in",    "copy_out",
    "pre_forward", "post_forward",   "pre_backward", "post_backward", "accumulate", "other_fsdp"};

/* `word` in parentheses behind it, and blanks at most between: FSDP::all_gather (layers.0). */
static bool has_call(const char *name, const char *word)
{
    for (name = strstr(name, word); name; name = strstr(name + 1, word)) {
        const char *at = name + strlen(word);

        at += strspn(at, " \t\n\r\f\v");
        if (*at == '(' && at[1] != ')' && strchr(at, ')'))
            return true;
    }
    return false;
}

/* FSDP::, and the word somewhere behind it. */
static bool has_after_prefix(const char *name, const char *word)
{
    const char *at = strstr(name, PREFIX);

    return at && strstr(at + strlen(PREFIX), word);
}

/* post_backward itself, not what it is made of. */
static bool is_post_backward(const char *name)
{
    static const char word[] = PREFIX "post_backward";
    static const char *const parts[] = {"_reduce", "_reshard", "_accumulate"};

    for (name = strstr(name, word); name; name = strstr(name + 1, word)) {
        const char *at = name + sizeof word - 1;
        bool part = false;

        for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
            part = part || strncmp(at, parts[i], strlen(parts[i])) == 0;
        if (!part)
            return true;
    }
    return false;
}

uint8_t fsdp_class_of(const char *name)
{
    static const struct {
        const char *word;
        fsdp_class class;
    } words[] = {{"fsdp::all_gather_copy_in", FSDP_COPY_IN},    {PREFIX "all_gather_copy_in", FSDP_COPY_IN},
                 {PREFIX "all_gather_copy_out", FSDP_COPY_OUT}, {PREFIX "pre_forward", FSDP_PRE_FORWARD},
                 {PREFIX "post_forward", FSDP_POST_FORWARD},    {PREFIX "pre_backward", FSDP_PRE_BACKWARD}};

    if (!strstr(name, PREFIX) && !strstr(name, "fsdp::"))
        return FSDP_CLASSES;
    if (has_call(name, PREFIX "all_gather"))
        return FSDP_ALL_GATHER;
    if (strstr(name, PREFIX "reduce_scatter") || strstr(name, PREFIX "post_backward_reduce"))
        return FSDP_REDUCE_SCATTER;
    if (has_after_prefix(name, "reshard"))
        return FSDP_RESHARD;
    if (has_after_prefix(name, "prefetch"))
        return FSDP_PREFETCH;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strstr(name, words[i].word))
            return (uint8_t)words[i].class;
    if (is_post_backward(name))
        return FSDP_POST_BACKWARD;
    return strstr(name, PREFIX "post_backward_accumulate") ? FSDP_ACCUMULATE : FSDP_OTHER;
}

/* ---- layers -------------------------------------------------------------------------------- */

/* The text in the first parentheses that hold any, without blanks around it; *n 0: there is none. */
static const char *layer_of(const char *name, size_t *n)
{
    static const char blanks[] = " \t\n\r\f\v";
    const char *open = strchr(name, '('), *end;

    *n = 0;
    while (open && open[1] == ')')
        open = strchr(open + 1, '(');
    if (!open || !(end = strchr(open, ')')))
        return NULL;
    open++;
    while (open < end && strchr(blanks, *open))
        open++;
    while (end > open && strchr(blanks, end[-1]))
        end--;
    *n = (size_t)(end - open);
    return open;
}

void fsdp_layers_free(fsdp_layers *l)
{
    dse_free(l->of);
    dse_free(l->layer);
    trace_names_free(&l->names);
}

static uint32_t layer_id(fsdp_layers *l, const char *text, size_t n)
{
    uint32_t known = l->names.n, id = trace_names_add(&l->names, text, n);

    DSE_GROW(l->layer, l->cap, (size_t)id + 1);
    if (id == known)
        l->layer[id] = (struct fsdp_layer){0, 0};
    return id;
}

void fsdp_layers_add(fsdp_layers *l, uint32_t name, int64_t time_ps)
{
    uint32_t id;

    if (!l->of)
        l->of = dse_calloc((size_t)l->rank->names.n + 1, sizeof *l->of);
    if (!l->of[name]) {
        size_t n;
        const char *text = layer_of(l->rank->names.text[name], &n);

        l->of[name] = n ? layer_id(l, text, n) + 2 : 1;
    }
    if (l->of[name] == 1)
        return;
    id = l->of[name] - 2;
    l->layer[id].n++;
    l->layer[id].time_ps += time_ps;
}

typedef struct {
    uint32_t id;
    bool numbered;
    unsigned long long number;
    const char *text;
} sort_key;

static int by_key(const void *a, const void *b)
{
    const sort_key *x = a, *y = b;

    if (x->numbered != y->numbered)
        return x->numbered ? -1 : 1;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    if (!x->numbered && strcmp(x->text, y->text) != 0)
        return strcmp(x->text, y->text);
    return (x->id > y->id) - (x->id < y->id);
}

static sort_key key_of(uint32_t id, const char *text)
{
    static const char word[] = "layers.";
    sort_key k = {.id = id, .text = text};

    for (const char *at = strstr(text, word); at && !k.numbered; at = strstr(at + 1, word))
        if (at[sizeof word - 1] >= '0' && at[sizeof word - 1] <= '9') {
            k.numbered = true;
            k.number = strtoull(at + sizeof word - 1, NULL, 10);
        }
    return k;
}

const uint32_t *fsdp_layers_sorted(const fsdp_layers *l, dse_arena *a)
{
    sort_key *key = DSE_ARENA_NEW(a, sort_key, (size_t)l->names.n + 1);
    uint32_t *id = DSE_ARENA_NEW(a, uint32_t, (size_t)l->names.n + 1);

    for (uint32_t i = 0; i < l->names.n; i++)
        key[i] = key_of(i, l->names.text[i]);
    qsort(key, l->names.n, sizeof *key, by_key);
    for (uint32_t i = 0; i < l->names.n; i++)
        id[i] = key[i].id;
    return id;
}
