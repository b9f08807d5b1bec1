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

static bool is_all_gather(const char *name) { return has_call(name, PREFIX "all_gather"); }

#define PICK(HOST)                                                                                           \
    METRIC_PICK(                                                                                             \
        0, {FSDP_ALL_GATHER, HOST, .is = is_all_gather},                                                     \
        {FSDP_REDUCE_SCATTER, HOST, .names = "=" PREFIX "reduce_scatter|=" PREFIX "post_backward_reduce"},   \
        {FSDP_RESHARD, HOST, .names = "=" PREFIX "*reshard"},                                                \
        {FSDP_PREFETCH, HOST, .names = "=" PREFIX "*prefetch"},                                              \
        {FSDP_COPY_IN, HOST, .names = "=fsdp::all_gather_copy_in|=" PREFIX "all_gather_copy_in"},            \
        {FSDP_COPY_OUT, HOST, .names = "=" PREFIX "all_gather_copy_out"},                                    \
        {FSDP_PRE_FORWARD, HOST, .names = "=" PREFIX "pre_forward"},                                         \
        {FSDP_POST_FORWARD, HOST, .names = "=" PREFIX "post_forward"},                                       \
        {FSDP_PRE_BACKWARD, HOST, .names = "=" PREFIX "pre_backward"},                                       \
        {FSDP_POST_BACKWARD, HOST, .names = "=" PREFIX "post_backward!_reduce!_reshard!_accumulate"},        \
        {FSDP_ACCUMULATE, HOST, .names = "=" PREFIX "post_backward_accumulate"},                             \
        {FSDP_OTHER, HOST, .names = "=" PREFIX "|=fsdp::"})

const metric_pick fsdp_ranges = PICK(.categories = 1 << TRACE_CPU_OP | 1 << TRACE_ANNOTATION),
                  fsdp_ranges_compat = PICK(.words = "user_annotation|cpu_op");

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
