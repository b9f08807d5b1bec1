#include "metrics/classes.h"

#include <string.h>

metric_classes metric_classes_of(const trace_rank *r, metric_classify *classify, dse_arena *a)
{
    return (metric_classes){r, classify, DSE_ARENA_NEW(a, uint8_t, (size_t)r->names.n + 1)};
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
