/* Every schedule, in the order in which they are listed: a file and a word here. */
#ifndef DSE_SCHEDULE_SCHEDULE_LIST_H
#define DSE_SCHEDULE_SCHEDULE_LIST_H

#define SCHED_LIST(X)                                                                                        \
    X(gpipe) X(1f1b) X(interleaved) X(looped_bfs) X(zero_bubble) X(zbv) X(dualpipe) X(dualpipev)

#endif
