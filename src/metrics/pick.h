/* metric_pick -- which events of a rank something is of, as rows: what the category, and what the name must
 * be; and what the picked events come to.
 *
 * The first row that an event meets decides, and gives it its class; an event that meets none is left out.
 * Names and category words are asked once each: a trace has millions of events, thousands of names and a
 * dozen words. */
#ifndef DSE_METRICS_PICK_H
#define DSE_METRICS_PICK_H

#include "metrics/events.h"
#include "metrics/kinds.h"

/* Conditions that are not given are met. `words` are categories as the file spells them, "kernel|cpu_op", ""
 * being a missing one: the original tools compare so, and do not know the words of older profilers. */
typedef struct {
    uint8_t class;
    const char *words;
    unsigned categories;          /* bits of trace_category, in whatever spelling */
    const char *names;            /* of metric_says; an event without a name has the name "" */
    bool (*is)(const char *name); /* what names cannot say */
} metric_pick_row;

#define METRIC_NOT_PICKED 0xff /* class of a row that leaves out what meets it */

/* A call of a collective by the name of an operator or annotation. */
#define METRIC_COMPAT_CALLS                                                                                  \
    "=^nccl:all_reduce|=^nccl:reduce_scatter|=^nccl:all_gather|=^nccl:broadcast|=^nccl:reduce|=^nccl:send|"  \
    "=^nccl:recv|=^nccl:coalesced|=^nccl:all_to_all|=^c10d::allreduce_|=^c10d::allgather_|"                  \
    "=^c10d::broadcast_|=^c10d::reduce_scatter_|=^c10d::reduce_|=^c10d::send|=^c10d::recv_|=^c10d::alltoall"

enum {
    METRIC_LASTING = 1 << 0, /* only events that take time */
    METRIC_TIMED = 1 << 1,   /* only those whose ts is above 0 in the file, as most original tools demand */
    METRIC_INSTANTS = 1 << 2 /* instants as well */
};

typedef struct {
    unsigned which;
    size_t n; /* at most 32 */
    const metric_pick_row *row;
} metric_pick;

#define METRIC_PICK(of_which, ...)                                                                           \
    {                                                                                                        \
        (of_which), sizeof((const metric_pick_row[]){__VA_ARGS__}) / sizeof(metric_pick_row),                \
            (const metric_pick_row[])                                                                        \
        {                                                                                                    \
            __VA_ARGS__                                                                                      \
        }                                                                                                    \
    }

/* Rows that a name was asked for, and those that it meets. */
typedef struct {
    uint32_t asked, met;
} metric_picker_name;

/* A pick that is asked of one rank's events. */
typedef struct {
    const metric_pick *pick;
    const trace_rank *rank;
    metric_picker_name *by_name; /* the last is of a missing name */
    uint32_t by_word[256];       /* rows that a category word meets */
    uint32_t by_category[TRACE_OTHER + 1];
} metric_picker;

metric_picker metric_picker_of(const trace_rank *r, const metric_pick *pick, dse_arena *a);

/* The rows, a bit each, whose words are in a name of the rank; DSE_NONE is the name "". */
uint32_t metric_picker_rows(metric_picker *p, uint32_t name);

/* The class of an event; METRIC_NOT_PICKED. */
uint8_t metric_picker_ask(metric_picker *p, const trace_event *e);

/* The picked events with their classes, in the order of the list that they come from. */
typedef struct {
    const trace_rank *rank;
    metric_events list;
    uint8_t *class;
} metric_picked;

/* Those of a list; of NULL, of all events in the order of the file. */
metric_picked metric_pick_of(const trace_rank *r, const metric_events *list, const metric_pick *pick,
                             dse_arena *a);

/* Puts them into the order of start; equal starts keep theirs. */
void metric_picked_sort(metric_picked *p, dse_arena *scratch);

static inline const trace_event *metric_picked_at(const metric_picked *p, uint32_t i)
{
    return &p->rank->event[p->list.event[i]];
}

/* The union of the times of those of a class (METRIC_ANY_CLASS: of all). */
#define METRIC_ANY_CLASS 0xff
metric_spans metric_picked_time(const metric_picked *p, uint8_t class, dse_arena *a);

/* What the durations of some events come to. */
typedef struct {
    int64_t n, sum_ps, least_ps, most_ps;
} metric_sums;

void metric_sums_add(metric_sums *s, int64_t dur_ps);

/* Adds the picked events to the sums of their classes. */
void metric_picked_sum(const metric_picked *p, metric_sums *by_class);

/* From the first start to the last end of all events that are picked. */
metric_span metric_pick_span(const trace_rank *r, const metric_pick *pick, dse_arena *scratch);

/* Adds all events that are picked to the sums of their classes. */
void metric_pick_sum(const trace_rank *r, const metric_pick *pick, dse_arena *scratch, metric_sums *by_class);

#endif
