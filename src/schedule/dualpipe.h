/* The order that DualPipe and DualPipeV share. */
#ifndef DSE_SCHEDULE_DUALPIPE_H
#define DSE_SCHEDULE_DUALPIPE_H

#include "schedule/parts.h"

/* Appends the actions of rank `rank` of p, with m micro-batches in each of the two chunks, m >= 2p. */
void sched_fill_dualpipe(uint32_t p, uint32_t rank, uint32_t m, sched_queue *q);

/* Micro-batches as ranks. */
bool sched_has_twice_as_many(const sched_options *o);

#endif
