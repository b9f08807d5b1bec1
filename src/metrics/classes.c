#include "metrics/classes.h"

#include <string.h>

metric_classes metric_classes_of(const trace_rank *r, metric_classify *classify, dse_arena *a)
{
    return (metric_classes){r, classify, DSE_ARENA_NEW(a, uint8_t, (size_t)r->names.n + 1)};
}

metric_events metric_named(const trace_rank *r, metric_classify *is, dse_arena *a)
{
    metric_classes names = metric_classes_of(r, is, a);
    metric_events found = {0};
    uint32_t n = 0;

    for (size_t i = 0; i < r->n_events; i++)
        n += metric_class_of(&names, &r->event[i]) != 0;
    metric_room(&found, n, a);
    for (size_t i = 0; found.n < n; i++)
        if (metric_class_of(&names, &r->event[i]))
            found.event[found.n++] = (uint32_t)i;
    return found;
}

metric_words metric_words_of(const trace_rank *r, const char *const *words, size_t n)
{
    metric_words w = {{false}};

    for (uint32_t i = 0; i < sizeof w.is; i++) {
        const char *word = i < r->n_words ? TRACE_NAME(r, r->word[i]) : NULL;

        for (size_t j = 0; j < n; j++)
            w.is[i] = w.is[i] || strcmp(word ? word : "", words[j]) == 0;
    }
    return w;
}
