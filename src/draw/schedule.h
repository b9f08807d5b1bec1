/* A pipeline schedule as a picture: a row for each rank, time to the right. */
#ifndef DSE_DRAW_SCHEDULE_H
#define DSE_DRAW_SCHEDULE_H

#include "schedule/compose.h"

/* An SVG for light and dark pages, with a box for each action; `title` is the first line of it. The same
 * plan and times have the same bytes. DSE_E_RANGE if there are more than 20,000 actions. */
dse_status draw_schedule_svg(const sched_plan *p, const sched_times *t, const char *title, dse_strbuf *out,
                             dse_error *err);

/* The same of a step whose times are ns; its axis has milliseconds. Of more than `most` actions only the
 * beginning is drawn; *until is where it ends, in ns, or the whole makespan. */
void draw_step_svg(const sched_plan *p, const sched_times *t, const char *title, uint32_t most,
                   dse_strbuf *out, uint64_t *until);

#endif
