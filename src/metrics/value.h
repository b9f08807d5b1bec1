/* metric_value -- what a metric says: a tree of numbers, texts, objects and lists, in an arena.
 *
 * Objects keep the order in which they are filled. A quantity that cannot be computed is not in the tree, or
 * absent with a reason; it is never 0 or NaN. */
#ifndef DSE_METRICS_VALUE_H
#define DSE_METRICS_VALUE_H

#include "base/alloc.h"
#include "base/json_writer.h"

typedef enum {
    METRIC_NUMBER,
    METRIC_INTEGER,
    METRIC_BOOL,
    METRIC_TEXT,
    METRIC_ABSENT, /* null in JSON; text is the reason, or NULL */
    METRIC_OBJECT,
    METRIC_LIST
} metric_value_kind;

typedef struct metric_value metric_value;
struct metric_value {
    metric_value_kind kind;
    const char *key; /* in an object */
    double number;
    int64_t integer; /* METRIC_INTEGER, METRIC_BOOL */
    const char *text;
    metric_value *first, *last, *next; /* of METRIC_OBJECT and METRIC_LIST; beside them */
    dse_arena *arena;
};

metric_value *metric_object_new(dse_arena *a);

/* Each adds an entry `key` at the end of an object (of a list: key NULL) and returns it. Keys and texts are
 * copied. A number that is NaN or infinite is absent. */
metric_value *metric_put_number(metric_value *to, const char *key, double v);
/* Absent with the reason if v is NaN or infinite. */
metric_value *metric_put_number_or(metric_value *to, const char *key, double v, const char *why);
metric_value *metric_put_integer(metric_value *to, const char *key, int64_t v);
metric_value *metric_put_count(metric_value *to, const char *key, uint64_t v);
metric_value *metric_put_bool(metric_value *to, const char *key, bool v);
metric_value *metric_put_text(metric_value *to, const char *key, const char *v);
metric_value *metric_put_absent(metric_value *to, const char *key, const char *why);
metric_value *metric_put_object(metric_value *to, const char *key);
metric_value *metric_put_list(metric_value *to, const char *key);

/* Makes a value absent after all; why may be NULL. */
void metric_make_absent(metric_value *v, const char *why);

/* Moves the entries of an object or list behind those of another of the same arena. */
void metric_take(metric_value *to, metric_value *from);

/* Picoseconds as milliseconds, microseconds, seconds. */
metric_value *metric_put_ms(metric_value *to, const char *key, int64_t ps);
metric_value *metric_put_us(metric_value *to, const char *key, int64_t ps);
metric_value *metric_put_s(metric_value *to, const char *key, int64_t ps);

/* The entry of an object; NULL. */
const metric_value *metric_get(const metric_value *v, const char *key);

/* A number, whole or not; NaN for anything else, and for NULL. */
double metric_number(const metric_value *v);

/* Writes JSON with an indent of two spaces and numbers as the shortest text that reads back. `depth` is that
 * of its first line. */
void metric_write_json(const metric_value *v, int depth, dse_strbuf *out);

/* The bare value: a number, a text; "nan" if absent. */
void metric_write_scalar(const metric_value *v, dse_strbuf *out);

#endif
