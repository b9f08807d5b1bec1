/* Classes of the names and category words of a rank, determined once per name: a trace has millions of
 * events, thousands of names and a dozen words. */
#ifndef DSE_METRICS_CLASSES_H
#define DSE_METRICS_CLASSES_H

#include "metrics/events.h"

/* The class of a name, below 255. */
typedef uint8_t metric_classify(const char *name);

/* A name is classified at its first event. */
typedef struct {
    const trace_rank *rank;
    metric_classify *classify;
    uint8_t *class_of; /* by name id, plus 1; 0: not asked */
} metric_classes;

metric_classes metric_classes_of(const trace_rank *r, metric_classify *classify, dse_arena *a);

/* That of "" if the event has no name. */
static inline uint8_t metric_class_of(metric_classes *c, const trace_event *e)
{
    if (e->name == DSE_NONE)
        return c->classify("");
    if (!c->class_of[e->name])
        c->class_of[e->name] = (uint8_t)(1 + c->classify(c->rank->names.text[e->name]));
    return (uint8_t)(c->class_of[e->name] - 1);
}

/* The events of a rank whose names are of a class above 0, in the order of the file. */
metric_events metric_named(const trace_rank *r, metric_classify *is, dse_arena *a);

/* Says by e->word which category words of the file are literally one of some words; "" is a missing word. The
 * original tools compare literally: they do not know the capitalised words of older profilers. */
typedef struct {
    bool is[256];
} metric_words;

metric_words metric_words_of(const trace_rank *r, const char *const *words, size_t n);
#define METRIC_WORDS(r, ...)                                                                                 \
    metric_words_of((r), (const char *const[]){__VA_ARGS__},                                                 \
                    sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

#endif
