/* What `ccldse schedule` prints, as text and as JSON; cmd_schedule.c has the options. */
#ifndef DSE_CLI_SCHEDULE_H
#define DSE_CLI_SCHEDULE_H

#include "schedule/compose.h"

/* A plan with its times, and what the header of the output says of both. */
typedef struct {
    const char *name;    /* of the schedule, or of the file */
    const char *summary; /* of its rule, in a few words */
    const char *costs;   /* as they were given */
    sched_plan plan;
    sched_times times;
    uint32_t *peak_i, *peak_w; /* [n_ranks] */
} schedule_shown;

/* One line: name, sizes and costs. */
void schedule_title(const schedule_shown *s, dse_strbuf *out);

/* The actions of each rank, a table of the ranks, makespan and bubble; of many actions the first ones, unless
 * `all`. */
void schedule_show_text(const schedule_shown *s, bool all, dse_strbuf *out);
void schedule_show_json(const schedule_shown *s, dse_strbuf *out);

#endif
